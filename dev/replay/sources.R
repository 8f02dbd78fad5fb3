# Calls on sources: chunks, files that are read once, databases that return rows or compute sums, shards.

levels_of <- lapply(Filter(is.factor, d), levels)
types_of <- sapply(c("a", "b", "o", "w", "z", "k", "person"), function(column) "numeric")

in_chunks <- function(data, size = 170) function() {
  at <- 0
  function() {
    rows <- seq_len(nrow(data))
    rows <- rows[rows > at & rows <= at + size]
    at <<- at + size
    if (length(rows)) data[rows, ]
  }
}
# What makes a source of data; persons have no public number of rows.
chunks <- function(data, id = NULL, ...) {
  dp_source(in_chunks(data), levels = levels_of, types = types_of, n = if (is.null(id)) nrow(data), id = id, ...)
}
once <- function(data) chunks(data, once = TRUE)

# A database holds texts in place of factors, and in SQLite anything in a column without a type.
sqlite <- NULL
in_sqlite <- function(data, push, id = NULL) {
  if (!is.null(sqlite)) DBI::dbDisconnect(sqlite)
  sqlite <<- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  rows <- texts(data)
  DBI::dbExecute(sqlite, sprintf("create table records (%s)", toString(names(rows))))
  DBI::dbAppendTable(sqlite, "records", rows[seq_len(nrow(rows)), ])
  for (update in attr(data, "update")) DBI::dbExecute(sqlite, update)
  dp_source(sqlite, "records", push = push, levels = levels_of, types = types_of, id = id)
}
rows <- function(data) in_sqlite(data, push = FALSE)
pushed <- function(data, id = NULL) in_sqlite(data, push = TRUE, id = id)

# A connection is made, and workers are started, when they are first needed.
in_database <- function(connect) {
  connection <- NULL
  function(data) {
    if (is.null(connection)) connection <<- connect()
    DBI::dbWriteTable(connection, "records", texts(data), overwrite = TRUE)
    dp_source(connection, "records", push = TRUE, levels = levels_of)
  }
}

workers <- if (requireNamespace("mirai", quietly = TRUE)) c("one", "two")
start_workers <- function() {
  if (mirai::status(.compute = workers[1])$connections > 0) return()
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), OMP_NUM_THREADS = "1")
  for (name in workers) mirai::daemons(1, .compute = name)
}
in_shards <- function(data, id = NULL) {
  start_workers()
  part <- function(rows) {
    mine <- data[rows, ]
    eval(bquote(function() .(mine)), globalenv())
  }
  rows <- if (is.null(id)) list(1:120, 121:nrow(data)) else split(seq_len(nrow(data)), data[[id]] %% 2)
  dp_shards(lapply(unname(rows), part), compute = workers, levels = levels_of, id = id)
}

# The call of this name on a source of the data.
of_source <- function(call, source, ...) function(data) call(source(data, ...))
logistic <- fit(y ~ a + b + f, method = "newton-ridge")
squared <- fit(z ~ a + b + f, method = "newton-ridge", loss = loss_squared(c(-3, 3)))
poisson <- fit(k ~ a + b + f, method = "newton-ridge", loss = loss_poisson(8))
sigmoid <- fit(y ~ a + b + f, method = "2opt-ls", loss = "sigmoid")
batches <- fit(y ~ a + b + f, method = "sgd")
leaves <- fit(y ~ a + b, method = "spider", eps = 20, control = control_spider(leaves = 4))

on("chunks", of_source(logistic, chunks), "y", few = TRUE)
on("chunks-squared", of_source(squared, chunks), "z", few = TRUE, quick = FALSE)
on("chunks-inference", of_source(fit(y ~ a + b + f, inference = "sandwich", eps = 20), chunks), "y", quick = FALSE)
on("chunks-weights", of_source(fit(y ~ a + b + f, weights = w, method = "newton-ridge"), chunks), "y", weights,
   few = TRUE, quick = FALSE)
# A column may come as text, where any text that is no number of its kind is a missing value.
as_texts <- transform(texts(d), a = as.character(a), day = as.character(as.Date("2020-01-01") + seq_len(300) %% 100))
odd_texts <- list("\xe9", "no value", strrep("2020-01-01 10:00:00 ", 100), strrep("1", 2000), "Inf", "", "\u00fc",
                  "1e999", "99999-99-99", "-", NA, `Encoding<-`("\xff\xfe", "bytes"), `Encoding<-`("5\xe9", "latin1"))
add("chunks-texts", function(data) {
  source <- dp_source(in_chunks(data), levels = levels_of, types = c(types_of, day = "Date"), n = nrow(data))
  dp_sosp(y ~ a + f + day, source, eps = 2, delta = 1e-6, bounds = list(a = c(-1, 1), day = c(18262, 18362)),
          progress = FALSE, method = "newton-ridge")
}, data = as_texts, sets = lapply(if (long) c(1, 170, 171) else 171, function(row) {
  unlist(recursive = FALSE, lapply(c("a", "f", "y", "day"), function(column) {
    records <- lapply(odd_texts, function(text) stats::setNames(list(text), column))
    replaced(as_texts, row, stats::setNames(records, paste0(column, seq_along(records))))
  }))
}))
of_leaves("chunks-spider", of_source(leaves, chunks), quick = FALSE)
of_leaves("once", of_source(leaves, once))
add("chunks-persons", of_source(logistic, chunks, id = "person"), list(people))
add("chunks-persons-squared", of_source(squared, chunks, id = "person"), list(people), quick = FALSE)

if (requireNamespace("RSQLite", quietly = TRUE)) {
  # Corners and the odd cells of these columns, all of the same record.
  on_table <- function(name, call, response, columns, quick = FALSE, source = pushed) {
    records <- corners(response, ends[[response]], all = FALSE)
    cells <- odd_cells(d, columns)
    cells <- cells[seq_along(cells) %% (if (long) 3 else 9) == 0]
    add(name, of_source(call, source), quick = quick,
        sets = list(c(replaced(d, audited, records[c(1, 8, 13, 20, length(records))]), cells)))
  }
  on_table("rows", logistic, "y", c("a", "f", "y"), source = rows)
  on_table("push", logistic, "y", c("a", "f", "y"), quick = TRUE)
  on_table("push-squared", squared, "z", c("a", "z"))
  on_table("push-poisson", poisson, "k", c("a", "k"))
  on_table("push-weights", fit(y ~ a + b + f, weights = w, method = "newton-ridge"), "y", "w")
  on_table("push-offset", fit(y ~ a + b + offset(o), method = "newton-ridge", bounds = c(ab, list(o = c(-1, 1)))), "y",
           "o")
  on_table("push-ranges", fit(y ~ a + b, bounds = "private", eps = 10), "y", "a")
  on_table("push-expressions", fit(y ~ log(abs(a) + 1) + I(a * b) + f, method = "newton-ridge", bounds = "private",
                                   eps = 20), "y", "b")
  on_table("push-subset", fit(y ~ a + b + f, method = "newton-ridge", subset = a > -0.5), "y", "a")
  on_table("push-sgd", batches, "y", "a")
  on_table("push-sigmoid", sigmoid, "y", "a")
  on_table("push-inference", fit(y ~ a + b + f, inference = "sandwich", eps = 20), "y", "a")
  on_table("push-smooth", fit(y ~ s(a) + b, method = "newton-ridge", eps = 20), "y", "a")
  add("push-persons", of_source(logistic, pushed, id = "person"), list(people))
  add("push-persons-squared", of_source(squared, pushed, id = "person"), list(people), quick = FALSE)
}

if (long && length(workers)) {
  on("shards", of_source(logistic, in_shards), "y", few = TRUE)
  on("shards-squared", of_source(squared, in_shards), "z", few = TRUE)
  on("shards-sgd", of_source(batches, in_shards), "y", few = TRUE)
  of_leaves("shards-spider", of_source(leaves, in_shards))
  add("shards-persons", of_source(logistic, in_shards, id = "person"), list(people))
}

# Servers, the first by the tests' helper; "skipped" where one is not installed
servers <- list(
  postgres = if (requireNamespace("RPostgres", quietly = TRUE) && length(Sys.glob("/usr/lib/postgresql/*/bin"))) {
    function() {
      helper <- new.env(parent = globalenv())
      sys.source("tests/testthat/helper-source.R", helper)
      Sys.setenv(NOT_CRAN = "true")
      helper$postgres_connection(until_end)
    }
  },
  duckdb = if (requireNamespace("duckdb", quietly = TRUE)) {
    function() DBI::dbConnect(getExportedValue("duckdb", "duckdb")())
  }
)
servers <- Filter(is.function, servers)
if (long) {
  for (name in setdiff(c("postgres", "duckdb"), names(servers))) cat("skipped: ", name, ", not installed\n", sep = "")
  for (name in names(servers)) on(name, of_source(logistic, in_database(servers[[name]])), "y", few = TRUE)
}
