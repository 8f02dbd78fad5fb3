# Sums computed where the rows are, compared with reading the rows: seconds, bytes and memory of a gradient computed by
# PostgreSQL and of one from the same table in chunks; seconds of gradients and Hessians of shards with workers.
#   Rscript larger.R COVERTYPE.rds RESULTS.csv     some minutes; needs /proc
# COVERTYPE.rds: a data frame of 54 numeric columns and cover_type, as for data-raw/; classes 1 and 2 are used. PGHOST,
# PGUSER and PGDATABASE name the PostgreSQL server, where tables larger_* are made. To start a separate server:
#   initdb -D DIR/data -A trust -U me; pg_ctl -D DIR/data -o "-k DIR -h ''" start
#   PGHOST=DIR PGUSER=me PGDATABASE=postgres Rscript ...
# Tables: wide has 54 numbers per row, raw ten numbers and two factors. Each measurement runs in a process of its own.
# bytes      of the fields' texts in the protocol
# memory_mb  peak memory of the process that sends the queries, beyond that before its first query, in 2^20 bytes
# Workers have one thread each.
library(dpsosp)

arguments <- commandArgs(TRUE)
repeats <- 3
budget <- function() dp_budget(mu = 1e9)

records <- function(file) {
  d <- readRDS(file)
  d <- d[d$cover_type <= 2, ]
  x <- d[setdiff(names(d), "cover_type")]
  names(x) <- paste0("x", seq_along(x))
  x[] <- lapply(x, as.double)
  x$y <- factor(ifelse(d$cover_type == 1, "spruce", "lodgepole"), c("lodgepole", "spruce"))
  x
}

with_factors <- function(d) {
  code <- function(columns) factor(max.col(d[columns], "first"), seq_along(columns))
  data.frame(d[1:10], wild = code(11:14), soil = code(15:54), y = d$y)
}

ranges <- function(d) lapply(Filter(is.numeric, d), function(x) range(x) + c(0, max(x) == min(x)))
levels_of <- function(d) lapply(Filter(is.factor, d), levels)

# All queries of a fit, with almost no noise.
oracle_of <- function(source, bounds) {
  problem <- dpsosp:::problem_source(y ~ ., source, "logistic", bounds, NULL, NULL, NULL)
  dpsosp:::new_oracle(problem$records(problem), problem$loss, budget(), problem$design$radius, TRUE, "replace-one",
                      "reproducible")
}
ask <- list(gradient = function(oracle, w) dp_gradient(oracle, w, mu = 1e5),
            hessian = function(oracle, w) dp_hessian(oracle, w, mu = 1e5))
seconds <- function(query, oracle) {
  w <- cos(seq_len(dpsosp:::oracle_facts(oracle)$dim))
  min(replicate(repeats, system.time(ask[[query]](oracle, w))[["elapsed"]]))
}

# ---- PostgreSQL ----

# The 4,951,410 rows are ten copies of the same rows.
make_tables <- function(connection, d) {
  tables <- list(wide = d, raw = with_factors(d))
  for (name in names(tables)) {
    full <- paste0("larger_", name, "_", nrow(d))
    DBI::dbWriteTable(connection, full, tables[[name]], overwrite = TRUE)
    copy <- function(rows, from) {
      new <- paste0("larger_", name, "_", rows)
      DBI::dbExecute(connection, paste("DROP TABLE IF EXISTS", new))
      DBI::dbExecute(connection, paste("CREATE TABLE", new, "AS SELECT t.* FROM", full, "AS t", from))
    }
    copy(nrow(d) %/% 10, paste("LIMIT", nrow(d) %/% 10))
    if (name == "raw") copy(10 * nrow(d), "CROSS JOIN generate_series(1, 10)")
  }
  DBI::dbExecute(connection, "VACUUM ANALYZE")
}

measure_table <- function(table, rows, engine, public) {
  connection <- DBI::dbConnect(RPostgres::Postgres())
  name <- paste0("larger_", table, "_", rows)
  source <- dp_source(connection, name, n = rows, levels = public$levels, push = engine == "push")
  oracle <- oracle_of(source, public$bounds)
  before <- peak()
  time <- seconds("gradient", oracle)
  memory <- peak() - before
  bytes <- if (engine == "push") pushed_bytes(source, public) else chunk_bytes(connection, name)
  data.frame(part = "database", table = table, engine = engine, rows = rows, workers = NA, query = "gradient",
             seconds = time, bytes = bytes, memory_mb = memory)
}

# In 2^20 bytes.
peak <- function() {
  line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

# In the protocol, a row has a header of seven bytes and a field one of four.
pushed_bytes <- function(source, public) {
  problem <- dpsosp:::problem_source(y ~ ., source, "logistic", public$bounds, NULL, NULL, NULL)
  plan <- dpsosp:::push_plan(source$push, problem$design, problem$response, source$n, problem$loss, TRUE,
                             problem$design$radius)
  w <- cos(seq_len(length(plan$v) + sum(plan$indicators) + 1))
  asked <- list(word = "gradient", curvature = "hessian", at = w, along = numeric(), steps = numeric())
  sums <- DBI::dbGetQuery(source$push$connection, dpsosp:::sql_sum(plan, asked)$sql)
  sum(nchar(format(unlist(sums), digits = 17, trim = TRUE)) + 4) + 7 * nrow(sums)
}

# In a row as text, fields are separated by commas.
chunk_bytes <- function(connection, name) {
  columns <- length(DBI::dbListFields(connection, name))
  sent <- DBI::dbGetQuery(connection, paste("SELECT SUM(octet_length(CAST(t AS text))) AS s, COUNT(*) AS n FROM", name,
                                            "AS t"))
  as.double(sent$s) + as.double(sent$n) * (7 + 3 * columns)
}

# ---- workers ----

# Shards are files that the workers read.
measure_workers <- function(folder, d, workers, rows, what) {
  names <- paste0("w", seq_len(workers))
  for (name in names) mirai::daemons(1, .compute = name)
  on.exit(for (name in names) mirai::daemons(0, .compute = name))
  ends <- round(seq(0, rows, length.out = workers + 1))
  files <- file.path(folder, paste0("shard-", workers, "-", seq_len(workers), ".rds"))
  for (i in seq_len(workers)) saveRDS(d[seq(ends[i] + 1, ends[i + 1]), ], files[i], compress = FALSE)
  shards <- lapply(files, function(file) eval(bquote(function() readRDS(.(file))), globalenv()))
  oracle <- oracle_of(dp_shards(shards, names), ranges(d))
  do.call(rbind, lapply(c("gradient", "hessian"), function(query) {
    data.frame(part = what, table = "wide", engine = "workers", rows = rows, workers = workers, query = query,
               seconds = seconds(query, oracle), bytes = NA, memory_mb = NA)
  }))
}

# ---- all ----

in_process <- function(...) {
  this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  out <- tempfile(fileext = ".rds")
  system2(file.path(R.home("bin"), "Rscript"), c(this_file, "--run", out, ...),
          env = c(paste0("R_LIBS=", paste(.libPaths(), collapse = ":")), "OMP_NUM_THREADS=1"))
  readRDS(out)
}

if (identical(arguments[1], "--run")) {
  task <- arguments[-(1:2)]
  result <- if (task[1] == "table") {
    measure_table(task[2], as.numeric(task[3]), task[4], readRDS(task[5])[[task[2]]])
  } else {
    d <- readRDS(task[2])
    measure_workers(dirname(task[2]), d, as.numeric(task[3]), as.numeric(task[4]), task[1])
  }
  saveRDS(result, arguments[2])
} else {
  d <- records(arguments[1])
  folder <- tempfile("larger")
  dir.create(folder)
  public <- lapply(list(wide = d, raw = with_factors(d)), function(d) list(bounds = ranges(d), levels = levels_of(d)))
  saveRDS(public, file.path(folder, "public.rds"))
  saveRDS(d, file.path(folder, "d.rds"), compress = FALSE)
  connection <- DBI::dbConnect(RPostgres::Postgres())
  make_tables(connection, d)
  plain <- function(x) format(x, scientific = FALSE)
  sizes <- c(nrow(d) %/% 10, nrow(d), 10 * nrow(d))
  cases <- expand.grid(engine = c("push", "chunks"), rows = sizes, table = c("wide", "raw"), stringsAsFactors = FALSE)
  cases <- cases[cases$rows <= nrow(d) | (cases$table == "raw" & cases$engine == "push"), ]
  results <- c(
    Map(function(table, rows, engine) in_process("table", table, plain(rows), engine, file.path(folder, "public.rds")),
        cases$table, cases$rows, cases$engine),
    lapply(c(1, 2, 4), function(k) in_process("workers", file.path(folder, "d.rds"), k, nrow(d))),
    lapply(c(1, 2, 4), function(k) in_process("growth", file.path(folder, "d.rds"), k, k * (nrow(d) %/% 4)))
  )
  results <- do.call(rbind, unname(results))
  results$seconds <- signif(results$seconds, 3)
  results$memory_mb <- round(results$memory_mb, 1)
  utils::write.csv(results, if (length(arguments) > 1) arguments[2] else stdout(), row.names = FALSE)
  unlink(folder, recursive = TRUE)
}
