# DuckDB computes sums as SQLite and PostgreSQL do. `make duckdb` compiles its package and runs this file.

duckdb_connection <- function(path = ":memory:", frame = parent.frame()) {
  testthat::skip_if_not_installed("duckdb")
  driver <- getExportedValue("duckdb", "duckdb") # no dependency, not even a suggested one: it takes an hour to compile
  connection <- DBI::dbConnect(driver(shared_home = FALSE), path)
  withr::defer(DBI::dbDisconnect(connection, shutdown = TRUE), frame)
  connection
}
duckdb_levels <- list(f = c("u", "v", "w"), y = c("no", "yes"))

test_that("DuckDB takes the sums of fits, and rows in chunks", {
  connection <- duckdb_connection()
  d <- frame_with_odd_values()
  expect_same_fits(push_pair(connection, d)$push, d)
  for (tilt in c(0, 0.2)) {
    moved <- function(...) {
      moved_pair(connection, extreme_rows(), y ~ a + b + f, weighted = TRUE, tilt = tilt, ...)
    }
    expect_moved(moved())
    expect_moved_bounded(moved(longer = 3))
  }
  expect_moved(moved_pair(connection, d, y ~ a + b + f, weighted = FALSE), sizes = c(0, 1),
               words = c("gradient", "hessian", "usable"))
  pair <- push_pair(connection, d)
  for (loss in list("sigmoid", loss_logistic(slope = 0.6))) expect_pushed(pair, y ~ a + b + f, loss)
  expect_error(push_fit(pair$push, dp_budget(eps = 1, delta = 1e-6), method = "sgd"), "by their numbers",
               class = "dpsosp_error_argument")
})

test_that("DuckDB's types, expressions and weights are those of R", {
  connection <- duckdb_connection()
  d <- problem_frame(40)
  d$whole <- rep(c(-3L, NA, 4L, 7L), 10)
  d$truth <- d$f == "u"
  push_pair(connection, d)
  bounds <- c(frame_bounds, list(whole = c(-3, 5)))
  for (type in c("DECIMAL(18, 3)", "BIGINT", "FLOAT", "SMALLINT", "DOUBLE")) {
    DBI::dbExecute(connection, sprintf("ALTER TABLE people ALTER COLUMN %s TYPE %s",
                                       if (type %in% c("BIGINT", "SMALLINT")) "whole" else "a", type))
    again <- function(push) {
      dp_source(connection, "people", levels = levels_of(d), types = c(whole = "numeric"), push = push)
    }
    expect_pushed(list(push = again(TRUE), chunks = again(FALSE)), truth ~ a + b + f + whole, bounds = bounds)
  }
  expect_expressions(connection)
  expect_gap_expressions(connection, 2)
  expect_random_expressions(connection, long_values(1:60, 1))
  expect_quoted(connection)
  expect_weighed(connection)
  expect_small_predictors(connection)
})

test_that("no value makes a statement of DuckDB fail, or adds more than its bound", {
  connection <- duckdb_connection()
  DBI::dbWriteTable(connection, "people", hostile_rows(9))
  source <- dp_source(connection, "people", levels = duckdb_levels, push = TRUE)
  expect_bounded(source, list(dpsosp:::loss_logistic()), sizes = c(1, 1e30))
  expect_bounded(source, list(dpsosp:::loss_logistic()), sizes = 1, formula = y ~ exp(b) + a:b + I(b / a) + f, dim = 6,
                 bounds = c(frame_bounds, list("exp(b)" = c(0, 2), "I(b/a)" = c(-1, 1))), subset = quote(log(a) < 5))
  expect_weighed_bounded(connection, 16)
  losses <- list(list(y ~ a + b + f + offset(o), loss_squared(c(20, 120)), c("response", "weighted moments")),
                 list(k ~ a + b + f, loss_poisson(30), c("response", "gradient")))
  for (rows in list(loss_frame(60), hostile_losses())) {
    source <- loss_source(connection, rows)
    for (case in losses) {
      pair <- loss_pair(source, case[[1]], case[[2]], list(weights = quote(w)))
      expect_loss_sums(pair, case[[3]], residual_words)
      expect_losses_bounded(pair, case[[3]], residual_words, long_values(seq_len(source$n), 5))
    }
  }
})

test_that("a fit in DuckDB is one snapshot, which only reads, and leaves the user's transaction alone", {
  path <- withr::local_tempfile(fileext = ".duckdb")
  connection <- duckdb_connection(path)
  second <- DBI::dbConnect(connection@driver)
  withr::defer(DBI::dbDisconnect(second), priority = "first")
  expect_snapshot_kept(connection, second)
  expect_read_only(connection)
  expect_transaction_kept(connection)
})

test_that("no collation of DuckDB makes two levels equal", {
  connection <- duckdb_connection()
  d <- transform(problem_frame(300), f = replace(as.character(f), 1:100, "U"), y = as.character(y))
  DBI::dbWriteTable(connection, "people", d)
  usual <- function() {
    set.seed(1)
    source <- dp_source(connection, "people", levels = duckdb_levels, push = TRUE)
    coef(quiet_fit(y ~ a + f, source, eps = 1e4, delta = 1e-6, bounds = frame_bounds["a"], method = "newton-ridge",
                   noise = "reproducible"))
  }
  before <- usual()
  DBI::dbExecute(connection, "SET default_collation = 'NOCASE'")
  expect_identical(usual(), before)
  DBI::dbExecute(connection, "RESET default_collation")
  DBI::dbExecute(connection, "ALTER TABLE people ALTER COLUMN f TYPE VARCHAR COLLATE NOCASE")
  expect_identical(usual(), before)
})

test_that("DuckDB sums over Parquet files", {
  connection <- duckdb_connection()
  d <- problem_frame(400)
  DBI::dbWriteTable(connection, "people", transform(d, f = as.character(f), y = as.character(y)))
  file <- withr::local_tempfile(fileext = ".parquet")
  DBI::dbExecute(connection, sprintf("COPY people TO '%s'", file))
  of <- sprintf("SELECT * FROM read_parquet('%s')", file)
  fit <- function(data) {
    set.seed(1)
    quiet_fit(y ~ a + b + f, data, eps = 1e4, delta = 1e-6, bounds = frame_bounds, method = "newton-ridge",
              noise = "reproducible")
  }
  source <- dp_source(connection, of, levels = duckdb_levels, push = TRUE)
  statements <- watched(pushed <- fit(source))
  expect_gt(length(grep("SUM\\(", statements)), 10)
  expect_length(grep("^SELECT \\* FROM", statements), 0)
  expect_equal(coef(pushed), coef(fit(d)), tolerance = 2e-5)
})

test_that("DuckDB takes the sums of persons", {
  connection <- duckdb_connection()
  expect_person_sums(connection, person_cases["margin"])
  expect_persons_bounded(connection, person_cases["margin"], sizes = 1, by = 3)
  expect_tilted_persons_bounded(connection)
  expect_person_fits(connection, long_size(names(person_fits), c("ridge", "found", "weighed")))
  cut <- DBI::dbGetQuery(connection, "SELECT (-7) // 2 AS a, 7 // 2 AS b")
  expect_equal(unlist(cut, use.names = FALSE), c(-3, 3))
})
