# Sums in PostgreSQL at scale: how time and R's memory grow with the rows, what a batch costs beside a gradient of all
# rows, and what each of two nodes computes of what one would.
#   Rscript dev/bench/push-scale.R LIBRARY [ROWS]       the largest table, 5e6 rows by default
# Starts servers of its own. Times of a query are differences of fits with more and with fewer of them; ratios count.
args <- commandArgs(TRUE)
most <- if (length(args) > 1) as.numeric(args[2]) else 5e6
.libPaths(c(normalizePath(args[1]), .libPaths())) # of the workers, too
Sys.setenv(NOT_CRAN = "true") # for the helpers of the tests
library(dpsosp)
for (file in list.files("tests/testthat", "^helper.*[.]R$", full.names = TRUE)) source(file)

columns <- paste0("x", 1:10)
levels <- list(f = letters[1:5], g = letters[1:4], y = c("no", "yes"))
bounds <- stats::setNames(rep(list(c(-1, 1)), 10), columns)

# The server makes the rows.
make_table <- function(connection, n) {
  number <- paste0("2 * random() - 1 AS ", columns, collapse = ", ")
  letter <- function(name, k) sprintf("chr(97 + floor(%d * random())::int) AS %s", k, name)
  DBI::dbExecute(connection, "DROP TABLE IF EXISTS people")
  DBI::dbExecute(connection, sprintf(
    paste("CREATE UNLOGGED TABLE people AS SELECT *, CASE WHEN x1 - x2 + random() > 0.5 THEN 'yes' ELSE 'no' END AS y",
          "FROM (SELECT %s, %s, %s FROM generate_series(1, %.0f)) AS t"),
    number, letter("f", 5), letter("g", 4), n
  ))
  DBI::dbExecute(connection, "ANALYZE people")
}
table_of <- function(connection) dp_source(connection, "people", levels = levels, push = TRUE)

seconds <- function(data, ...) {
  system.time(quiet_fit(y ~ ., data, eps = 1, delta = 1e-9, bounds = bounds, noise = "reproducible", ...))[["elapsed"]]
}
# Of one query of a fit that may ask few or many.
each <- function(data, control, few, many, ...) {
  (seconds(data, control = control(many), ...) - seconds(data, control = control(few), ...)) / (many - few)
}
gradient <- function(data) each(data, function(k) control_newton_ridge(iterations = k), 2, 6, method = "newton-ridge")

growth <- function(connection) {
  for (n in most * c(0.1, 0.2, 1)) {
    make_table(connection, n)
    source <- table_of(connection)
    gc(reset = TRUE)
    step <- gradient(source)
    cat(sprintf("%9.0f rows: a gradient of newton-ridge %.2f s, %.2f us a row; R uses at most %.0f MiB\n", n, step,
                1e6 * step / n, sum(gc()[, 6])))
  }
}

batches <- function(connection, n = 250000) {
  make_table(connection, n)
  source <- table_of(connection)
  steps <- function(batch) function(k) control_gd(max_iterations = k, batch = batch)
  whole <- stats::median(replicate(3, each(source, steps(NULL), 4, 12, method = "gd")))
  batch <- stats::median(replicate(3, each(source, steps(1000), 40, 240, method = "sgd")))
  cat(sprintf("a gradient of %.0f prepared rows %.3f s, of a batch of 1,000 %.4f s: 1/%.0f (wanted: 1/20)\n", n, whole,
              batch, whole / batch))
}

# Processor time of a server's processes for clients, but for this one.
server_seconds <- function(connection) {
  pids <- DBI::dbGetQuery(connection, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND
                                       pid <> pg_backend_pid()")$pid
  sum(vapply(pids, function(pid) {
    field <- strsplit(sub(".*\\) ", "", readLines(file.path("/proc", pid, "stat"))), " ")[[1]]
    sum(as.numeric(field[12:13])) / 100
  }, 0))
}

nodes <- function(n = most / 10) {
  servers <- list(postgres_connection(environment()), postgres_connection(environment()))
  hosts <- vapply(servers, function(server) DBI::dbGetInfo(server)$host, "")
  shard_workers(c("one", "two"), frame = environment())
  open <- function(host) {
    eval(bquote(function() {
      connection <- DBI::dbConnect(RPostgres::Postgres(), host = .(host), user = "postgres", dbname = "postgres")
      dpsosp::dp_source(connection, "people", levels = .(levels), push = TRUE)
    }), globalenv())
  }
  sent <- c()
  original <- dpsosp:::check_answer
  local_value("check_answer", function(answer, ...) {
    sent <<- c(sent, length(serialize(answer, NULL)))
    original(answer, ...)
  }, environment())
  fit <- function(data) seconds(data, method = "newton-ridge", control = control_newton_ridge(iterations = 20))
  used <- function(shards, fit) {
    before <- vapply(servers, server_seconds, 0)
    fit(shards)
    vapply(servers, server_seconds, 0) - before
  }
  make_table(servers[[1]], n)
  one <- used(dp_shards(list(open(hosts[1])), "one"), fit)[1]
  for (server in servers) make_table(server, n / 2)
  sent <- c()
  two <- used(dp_shards(lapply(hosts, open), c("one", "two")), fit)
  cat(sprintf("%.0f rows: processor time of one node %.1f s; of each of two %.1f and %.1f s, %.2f and %.2f of it %s\n",
              n, one, two[1], two[2], two[1] / one, two[2] / one, "(wanted: 0.6)"))
  cat(sprintf("largest answer of a node %.1f kB (wanted: 30)\n", max(sent) / 1000))
}

run <- function() {
  connection <- postgres_connection(environment())
  batches(connection)
  growth(connection)
  nodes()
}
run()
