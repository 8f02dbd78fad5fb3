# make nodes: starts two PostgreSQL clusters, fits over both as one data set, and looks into their logs.
# Rscript dev/nodes.R LIBRARY. For each fit it prints by how much the coefficients differ from those in memory, and for
# each node its statements by kind. It fails if a node was asked for anything but sums, counts and their preparation.

args <- commandArgs(TRUE)
.libPaths(c(args[1], .libPaths())) # of the workers, too
Sys.setenv(NOT_CRAN = "true") # for the helpers of the tests
library(dpsosp)
for (file in list.files("tests/testthat", "^helper.*[.]R$", full.names = TRUE)) source(file)

known <- c(
  snapshot = "^(BEGIN|SET LOCAL|SAVEPOINT|ROLLBACK)",
  "table of prepared rows" = "^(CREATE TEMP TABLE|DROP TABLE|INSERT INTO pg_temp)",
  sum = "^WITH .*SUM\\(", count = "^WITH .*COUNT\\("
)

run <- function() {
  nodes <- list(postgres_connection(environment()), postgres_connection(environment()))
  hosts <- vapply(nodes, function(node) DBI::dbGetInfo(node)$host, "")
  shard_workers(c("one", "two"), frame = environment())
  d <- transform(loss_frame(4000), f = factor(f), z = factor(z))
  d <- d[stats::complete.cases(d), ]
  half <- seq_len(nrow(d)) <= 1500
  for (i in 1:2) DBI::dbWriteTable(nodes[[i]], "people", d[half == (i == 1), ])
  shards <- dp_shards(lapply(hosts, function(host) {
    eval(bquote(function() {
      connection <- DBI::dbConnect(RPostgres::Postgres(), host = .(host), user = "postgres", dbname = "postgres")
      dpsosp::dp_source(connection, "people", levels = .(loss_levels), types = .(loss_types), push = TRUE)
    }), globalenv())
  }), c("one", "two"))
  for (node in nodes) DBI::dbExecute(node, "ALTER SYSTEM SET log_statement = 'all'")
  for (node in nodes) DBI::dbGetQuery(node, "SELECT pg_reload_conf()")
  Sys.sleep(1)
  bounds <- loss_bounds_of[c("a", "b")]
  fits <- list(
    "two classes" = function(data) list(z ~ a + b + f, data, bounds = bounds),
    "two classes, ranges found" = function(data) list(z ~ a + b + f, data),
    numbers = function(data) list(y ~ a + b + f, data, loss = "squared", bounds = bounds),
    counts = function(data) list(k ~ a + b, data, loss = "poisson", bounds = bounds),
    "several classes" = function(data) list(f ~ a + b + z, data, bounds = bounds),
    smooth = function(data) list(z ~ s(a) + s(b), data, bounds = bounds)
  )
  for (name in names(fits)) {
    both <- lapply(list(shards, d), function(data) {
      set.seed(1)
      do.call(quiet_fit, c(fits[[name]](data), method = "auto", eps = 1e4, delta = 1e-6, noise = "reproducible"))
    })
    apart <- max(abs(coef(both[[1]]) - coef(both[[2]]))) / max(abs(coef(both[[2]])))
    cat(sprintf("%-28s coefficients differ by %.1e of the largest\n", name, apart))
    if (apart > 2e-5) stop("fits over nodes and in memory differ")
  }
  for (i in seq_along(hosts)) report(i, readLines(file.path(hosts[i], "log")))
}

report <- function(i, log) {
  said <- sub(".*(statement|execute [^:]*): *", "", grep("LOG: +(statement|execute)", log, value = TRUE))
  said <- said[!grepl("pg_reload_conf", said)]
  found <- vapply(known, function(pattern) sum(grepl(pattern, said)), 0L)
  cat("node", i, ":", paste(found, names(found), collapse = ", "), "\n")
  other <- said[!Reduce(`|`, lapply(known, grepl, said))]
  if (length(other) > 0L) stop("a node was asked for something else: ", substr(other[1], 1, 200))
}

run()
