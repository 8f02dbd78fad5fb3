# Methods on batches of a table whose database computes the sums.

d <- batch_frame()

test_that("fits on batches of a table in SQLite ask for what those in memory ask for, and no row is fetched", {
  source <- push_pair(sqlite_connection(), d)$push
  source$open <- function(columns) stop("rows are fetched")
  expect_batch_fits(source, d, database = TRUE)
  of <- list(sgd = list(control = control_gd(batch = 2, max_iterations = 10)),
             sgd = list(neighbours = "zero-out", # some batches are empty
                        control = control_gd(batch = 2, max_iterations = 10, sampling = "poisson")))
  for (k in seq_along(of)) expect_true(all(is.finite(coef(do.call(batch_fit, c(list(source, names(of)[k]), of[[k]]))))))
})

test_that("sums over a batch are those in memory, and no record adds more than its bound", {
  pair <- expect_batch_sums(sqlite_connection())
  # Each statement selects its own rows: nothing is left of the batch before.
  what <- batch_ask(pair$dim, "gradient", NULL)
  expect_identical(pair$sum(pair$plan, what)[1], 300)
  for (moved in c(FALSE, TRUE)) expect_batch_bounded(sqlite_connection(), moved)
})

test_that("in other coordinates a batch is that of the rows in these", {
  pair <- numbered_pair(sqlite_connection(), batch_frame(300))
  .Call(dpsosp:::ffi_shard_move, pair$shard, pair$geometry)
  rows <- c(2L, 5L, 9L, 13:60)
  for (word in c("gradient", "hessian")) {
    what <- batch_ask(pair$dim, word, rows)
    sum <- pair$sum(pair$moved, what)
    what$at <- dpsosp:::from_geometry(pair$geometry, what$at)
    memory <- .Call(dpsosp:::ffi_shard_sum, pair$shard, what)
    memory <- if (word == "gradient") to_coordinates(pair$geometry, memory)
              else as.vector(matrix_to_coordinates(pair$geometry, memory, pair$dim))
    expect_identical(sum[1], as.double(length(rows)))
    expect_lt(max(abs(sum[-1] - memory)), 5e-6 * length(rows))
  }
})

test_that("a statement that gives another number of rows ends the fit after its charge", {
  source <- push_pair(sqlite_connection(), d)$push
  original <- source$push$dialect$sampled$text
  changed <- list(function(rows) rows[-1], function(rows) c(rows, setdiff(1:600, rows)[1]),
                  function(rows) c(rows, rows[1]), function(rows) c(rows[-1], 601))
  for (change in changed) {
    source$push$dialect$sampled$text <- function(rows) original(change(rows))
    budget <- dp_budget(eps = 5, delta = 1e-6, plan = event_repeat(event_subsample(event_gaussian(1), 0.1), 20))
    error <- expect_error(
      quiet_fit(y ~ a + b, source, method = "sgd", bounds = frame_bounds, budget = budget, control = batch_methods$sgd),
      class = "dpsosp_error_source"
    )
    expect_no_match(conditionMessage(error), "people|SELECT")
    expect_equal(nrow(run_ledger(budget)), 1L)
  }
})

test_that("a table with more rows than the source ends the fit before the first release", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  DBI::dbExecute(connection, "INSERT INTO people SELECT * FROM people LIMIT 3")
  budget <- dp_budget(eps = 5, delta = 1e-6, plan = event_repeat(event_subsample(event_gaussian(1), 0.1), 20))
  expect_error(
    quiet_fit(y ~ a + b, source, method = "sgd", bounds = frame_bounds, budget = budget, control = batch_methods$sgd),
    "more, fewer or other records", class = "dpsosp_error_source"
  )
  expect_equal(nrow(dp_ledger(budget)), 1L)
  expect_false(source$push$state$open)
})

test_that("what a database cannot sum over batches is refused before a charge", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(text, formula = y ~ a + b, data = source, bounds = frame_bounds[c("a", "b")], ...) {
    expect_error(quiet_fit(formula, data, budget = budget, bounds = bounds, ...), text,
                 class = "dpsosp_error_argument")
    expect_equal(nrow(dp_ledger(budget)), 0L)
    expect_false(source$push$state$open)
  }
  many <- control_line_search(candidates = 101, ratio = 0.9, attempts = 5)
  refused("at most 100 candidates", method = "blsgd", control = many)
  unable <- source
  unable$push$dialect$sampled <- NULL
  refused("does not select rows", data = unable, method = "sgd")
  narrow <- source
  narrow$push$dialect$page <- "SELECT 160"
  refused("rows of so many columns", data = narrow, method = "sgd")
  wide <- cbind(d["y"], matrix(cos(1:36000), 600, dimnames = list(NULL, paste0("x", 1:60))))
  wide_source <- push_pair(connection, wide, "wide")$push
  wide_bounds <- stats::setNames(rep(list(c(-1, 1)), 60), names(wide)[-1])
  refused("matrix of these columns", y ~ ., wide_source, wide_bounds, method = "newton-b")
  classes <- push_pair(connection, transform(wide, y = factor(rep_len(1:40, 600))), "classes")$push
  refused("gradient of these columns and classes", y ~ ., classes, "private", method = "sgd")
  wide_fit <- quiet_fit(y ~ ., wide_source, method = "sgd", eps = 5, delta = 1e-6, bounds = wide_bounds,
                        control = batch_methods$sgd)
  expect_true(all(is.finite(coef(wide_fit))))
  DBI::dbExecute(connection, "CREATE TEMP TABLE dpsosp_rows (a)")
  refused("could not be created", method = "sgd")
})

test_that("PostgreSQL numbers its rows as they lie, and the log shows the sample", {
  skip_unless_long()
  connection <- postgres_connection()
  source <- push_pair(connection, d)$push
  source$open <- function(columns) stop("rows are fetched")
  DBI::dbExecute(connection, "ALTER SYSTEM SET log_statement = 'all'")
  DBI::dbGetQuery(connection, "SELECT pg_reload_conf()")
  expect_batch_fits(source, d, turn = 1, database = TRUE)
  log <- system2("cat", file.path(DBI::dbGetInfo(connection)$host, "log"), stdout = TRUE)
  expect_gt(length(grep("parameters: \\$1 = '\\{[0-9,]+\\}'", log)), 10)
  DBI::dbExecute(connection, "ALTER SYSTEM SET log_statement = 'none'")
  DBI::dbGetQuery(connection, "SELECT pg_reload_conf()")
  expect_batch_sums(connection)
  expect_batch_bounded(connection, moved = TRUE)
  DBI::dbWriteTable(connection, "people", d, overwrite = TRUE)
  for (sql in c("CREATE ROLE reader", "GRANT SELECT ON people TO reader",
                "REVOKE TEMP ON DATABASE postgres FROM PUBLIC", "SET ROLE reader")) {
    DBI::dbExecute(connection, sql)
  }
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(quiet_fit(y ~ a + b, source, method = "sgd", bounds = frame_bounds[c("a", "b")], budget = budget),
               "could not be created", class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0L)
})

test_that("a loss without values in SQL has no sums over batches", {
  source <- push_pair(sqlite_connection(), d)$push
  words <- function(formula, loss, bounds) {
    problem <- suppressMessages(dpsosp:::problem_source(formula, source, loss, bounds, NULL, NULL, NULL))
    design <- problem$design
    dpsosp:::sampled_words(dpsosp:::push_plan(source$push, design, problem$response, source$n, problem$loss, TRUE,
                                              design$radius))
  }
  expect_identical(words(a ~ b, loss_squared(c(10, 30)), frame_bounds["b"]), character())
  expect_true(all(c("gradient", "decreases", "hessian") %in% words(y ~ a, "logistic", frame_bounds["a"])))
})
