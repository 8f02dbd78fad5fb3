# Sums computed by a database: fits agree with those from rows.

d <- problem_frame(200)
d$a[5] <- NA
d$y[9] <- NA
d$b[c(11, 12)] <- c(1e308, -1e308)
d$f[13] <- NA
d$zero <- rep(c(0, 1, -1, 2), 50)
wide_bounds <- c(frame_bounds, list(zero = c(-1, 2)))

test_that("SQLite takes the sums of every loss, with factors, an intercept and clipping or without", {
  pair <- push_pair(sqlite_connection(), d)
  for (radius in list(NULL, 1.1)) {
    for (formula in list(y ~ a + b + f, y ~ a + b + f - 1)) {
      for (loss in long_values(list("logistic", "sigmoid", loss_logistic(slope = 0.6)))) {
        expect_pushed(pair, formula, loss, radius = radius)
      }
      expect_pushed(pair, formula, "huber_svm", radius = radius, curved = FALSE)
    }
  }
  expect_pushed(pair, zero ~ a + b, "logistic")
  expect_pushed(pair, y ~ f, "logistic", list(), neighbours = "zero-out")
  expect_pushed(pair, a ~ b + f, loss_huber(c(0, 25), 3), list(b = c(-1, 1)), curved = FALSE)
  expect_pushed(pair, y ~ a + b + f, "logistic", size = 1e4)
})

test_that("fits are those in memory up to the rounding of rows, with the same ledger", {
  expect_same_fits(push_pair(sqlite_connection(), d)$push, d)
})

# Only the clip is trusted in a database: its sums have the bounds of all points (proofs: sensitivity-gradient).
test_that("gradients of a database are as sensitive everywhere as they may be anywhere", {
  pair <- push_pair(sqlite_connection(), d)
  for (neighbours in c("replace-one", "zero-out")) {
    changes <- lapply(list(pair$push, d), function(data) {
      fit <- quiet_fit(y ~ a + b, data, method = "gd", eps = 20, delta = 1e-6, bounds = frame_bounds,
                       neighbours = neighbours, noise = "reproducible")
      with(dp_ledger(fit), nrow(d) * sensitivity[what == "gradient"])
    })
    most <- if (neighbours == "zero-out") 1 else 2
    expect_equal(changes[[1]], rep(most, length(changes[[1]])), tolerance = 1e-4)
    expect_equal(changes[[2]][1], most / 2, tolerance = 1e-4)
  }
})

test_that("what the database is not asked for is read in chunks, inside of the same fit", {
  pair <- push_pair(sqlite_connection(), d)
  for (method in c("objpert", "outpert", "spider")) {
    fits <- lapply(pair, function(data) {
      set.seed(4)
      quiet_fit(y ~ a + b + f, data, method = method, eps = hardly_any, delta = 1e-6, noise = "reproducible")
    })
    expect_equal(coef(fits$push), coef(fits$chunks), tolerance = 1e-4)
    expect_same_ledger(fits$push, fits$chunks)
  }
})

test_that("what a database cannot do is refused before anything is charged", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  budget <- dp_budget(eps = 1, delta = 1e-6)
  fit <- function(formula, ..., data = source) {
    dp_sosp(formula, data, budget = budget, method = "gd", ..., progress = FALSE)
  }
  expect_error(fit(y ~ sin(a) + b), "sin\\(\\) is not computed in a database.* view .*chunks",
               class = "dpsosp_error_argument")
  for (range in list(c(0, 1e120), c(1e6, 1e6 + 1e-6))) {
    expect_error(dp_sosp(y ~ a, source, budget = budget, method = "gd", bounds = list(a = range)), "too large or too",
                 class = "dpsosp_error_argument")
  }
  levels <- list(a = sprintf("l%d", 1:40), b = sprintf("l%d", 1:40), y = c("no", "yes"))
  many <- dp_source(connection, "people", levels = levels, push = TRUE)
  expect_error(dp_sosp(y ~ a + b, many, budget = budget, method = "gd"), "1600 combinations",
               class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0L)
  expect_error(dp_source(connection, "people", push = NA), "push", class = "dpsosp_error_argument")
  expect_error(dpsosp:::push_dialect(structure(list(), class = "Other"), NULL), "chunks",
               class = "dpsosp_error_argument")
})

test_that("a fit keeps nothing of the connection, and a fit or an error leaves no transaction", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  fit <- quiet_fit(y ~ a + b, source, eps = 2, delta = 1e-6, bounds = frame_bounds, noise = "reproducible")
  bytes <- serialize(fit, NULL)
  expect_lt(length(bytes), 2e5)
  expect_false(any(grepl("people|SQLite|SELECT|dbname", c(rawToChar(bytes[bytes != 0]), capture.output(print(fit))))))
  expect_no_error(DBI::dbWithTransaction(connection, DBI::dbExecute(connection, "UPDATE people SET b = b")))
})

test_that("certificates and intervals of a fit come from a table, too", {
  pair <- push_pair(sqlite_connection(), d)
  fit <- quiet_fit(y ~ a + b + f, d, method = "newton", eps = 50, delta = 1e-6, bounds = frame_bounds,
                   noise = "reproducible")
  again <- function(what, data) {
    set.seed(3)
    suppressMessages(what(fit, data, eps = hardly_any, delta = 1e-6, noise = "reproducible"))
  }
  certificates <- lapply(pair, again, what = dp_certify)
  expect_equal(certificates$push$gradient, certificates$chunks$gradient, tolerance = 1e-4)
  intervals <- lapply(list(pair$push, d), again, what = dp_inference)
  expect_equal(confint(intervals[[1]]), confint(intervals[[2]]), tolerance = 1e-4)
  expect_same_ledger(intervals[[1]], intervals[[2]])
  expect_false(pair$push$push$state$open)
})

# ---- text of the dialects ----

test_that("every dialect writes one SELECT, balanced, with its own casts and fences", {
  source <- push_pair(sqlite_connection(), d)$push
  problem <- suppressMessages(dpsosp:::problem_source(y ~ a + b + f, source, "logistic", frame_bounds, 1, NULL, NULL))
  what <- asks(5)$gradient
  what$at[4] <- 1e-200
  for (name in names(dpsosp:::dialects)) {
    push <- source$push
    push$dialect <- dpsosp:::dialects[[name]]
    known <- push$dialect$known
    push$types[c("a", "b", "f", "y")] <- if (is.null(known)) NA else c(known$number[c(1, 1)], known$text[c(1, 1)])
    plan <- dpsosp:::push_plan(push, problem$design, problem$response, 200, problem$loss, TRUE, 1)
    sql <- dpsosp:::sql_sum(plan, what)$sql
    count <- function(x) lengths(regmatches(sql, gregexpr(x, sql, fixed = TRUE)))
    expect_identical(count("("), count(")"))
    expect_identical(count("COLLATE C WHEN"), if (name == "duckdb") 2L else 0L)
    expect_identical(count(";"), 0L)
    expect_identical(grepl("GREATEST|LEAST|1.0000000000000000e-200", sql), FALSE)
    fence <- push$dialect$fence
    if (nzchar(fence)) expect_identical(count(fence), count("SELECT") - 1L)
  }
})

test_that("rows are prepared only where any row fits into a page, whose size is asked for", {
  source <- push_pair(sqlite_connection(), push_frame)$push
  prepares <- function(page) {
    source$push$dialect$page <- page
    set.seed(1)
    statements <- watched(fit <- push_fit(source, dp_budget(eps = 1, delta = 1e-6)))
    list(any(grepl("INSERT INTO", statements)), coef(fit))
  }
  expect_true(prepares(NULL)[[1]])
  expect_true(prepares("SELECT 500")[[1]])
  expect_false(prepares("SELECT 150")[[1]])
  expect_false(prepares("SELECT no_such_setting()")[[1]])
})
