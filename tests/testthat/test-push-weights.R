# Weights and offsets in a database: fits agree with those from chunks.

test_that("SQLite weighs and shifts the records of every sum as chunks do", {
  expect_weighed(sqlite_connection())
})

test_that("fits, certificates and intervals are those in chunks, with the same ledger", {
  pair <- push_pair(sqlite_connection(), weighed_frame())
  fit <- function(data, method, formula = y ~ a + b + f + offset(o), bounds = weighed_bounds) {
    set.seed(4)
    quiet_fit(formula, data, method = method, delta = 1e-6, bounds = bounds, noise = "reproducible",
              eps = if (method == "newton-ridge") 100 else hardly_any,
              weights = w)
  }
  for (method in long_size(c("newton", "newton-ridge"), "newton-ridge")) {
    fits <- lapply(pair, fit, method)
    expect_equal(coef(fits$push), coef(fits$chunks), tolerance = 1e-4)
    expect_same_ledger(fits$push, fits$chunks, method == "newton-ridge")
  }
  logs <- lapply(pair, fit, "newton", y ~ a + b + f + offset(log(a)), frame_bounds)
  expect_equal(coef(logs$push), coef(logs$chunks), tolerance = 1e-4)
  expect_gt(max(abs(coef(logs$push) - coef(fit(pair$push, "newton", y ~ a + b + f, frame_bounds)))), 0.1)
  again <- function(what, data) {
    set.seed(3)
    suppressMessages(what(fits$chunks, data, eps = hardly_any, delta = 1e-6, noise = "reproducible"))
  }
  expect_equal(again(dp_certify, pair$push)$gradient, again(dp_certify, pair$chunks)$gradient, tolerance = 1e-4)
  intervals <- lapply(pair, again, what = dp_inference)
  expect_equal(vcov(intervals$push), vcov(intervals$chunks), tolerance = 1e-2) # both have other noise
})

test_that("a record without a weight or an offset adds nothing to any sum, and a far offset is the end of its range", {
  connection <- sqlite_connection()
  d <- weighed_frame(24)
  d$y <- factor(rep(c("no", "yes"), 12))
  d[c("a", "b")] <- list(20, 0.5)
  of <- function(w, o, word) {
    d[c("w", "o")] <- list(w, o)
    source <- push_pair(connection, d)$push
    push_sum(source, y ~ a + b + offset(o), asks(3)[[word]], bounds = weighed_bounds, weights = quote(w))
  }
  turn <- 0
  for (word in long_values(names(asks(3)), 1)) {
    turn <- turn + 1
    whole <- of(1, 0.5, word)
    null <- if (word == "value") 24 * log(2) else numeric(length(whole) - 1L)
    expect_gt(max(abs(whole[-1] - null)), 0.1)
    for (w in long_values(c(NA, NaN, Inf, -Inf, -1, 0, 1.5), turn)) {
      expect_equal(of(w, 0.5, word), c(24, null), tolerance = 1e-12)
    }
    for (o in long_values(c(NA, NaN, Inf, -Inf), turn)) expect_equal(of(1, o, word), c(24, null), tolerance = 1e-12)
    expect_identical(of(1, 1e300, word), of(1, 1.5, word))
    expect_identical(of(1, -1e300, word), of(1, -1, word))
    share <- switch(word, products = 1 / 16, squares = 1, 1 / 4)
    # The factor of a record's row is rounded to a multiple of 2^-20 of its bound.
    expect_lte(max(abs(of(0.25, 0.5, word)[-1] - null - share * (whole[-1] - null))), 24 * 2^-20)
  }
})

test_that("no record adds more than its bound, whatever its weight and offset", {
  expect_weighed_bounded(sqlite_connection(), 16)
})

test_that("columns without a type are weights and offsets where they have numbers", {
  connection <- sqlite_connection()
  DBI::dbExecute(connection, "CREATE TABLE people (id INTEGER, a, w, o, y)")
  rows <- data.frame(id = 1:8, a = c(1, 2, 3, 4, 5, 6, 7, 8), w = 0.5, o = 1, y = c("no", "yes"))
  DBI::dbAppendTable(connection, "people", rows)
  sum_of <- function() {
    source <- suppressWarnings(dp_source(connection, "people", levels = list(y = c("no", "yes")), push = TRUE,
                                         types = c(a = "numeric", w = "numeric", o = "numeric")))
    push_sum(only_row(source, 3), y ~ a + offset(o), asks(2)$gradient, bounds = list(a = c(0, 10), o = c(-2, 2)),
             weights = quote(w))
  }
  expect_gt(max(abs(sum_of()[-1])), 0.1)
  for (column in c("w", "o")) {
    for (value in c("'twelve'", "x'00ff'", "'0.5 kg'", "NULL", "1e999", if (column == "w") "9223372036854775807")) {
      DBI::dbExecute(connection, sprintf("UPDATE people SET %s = %s WHERE id = 3", column, value))
      expect_identical(sum_of(), c(1, 0, 0), info = value)
    }
    of_value <- function(value) {
      DBI::dbExecute(connection, sprintf("UPDATE people SET %s = %s WHERE id = 3", column, value))
      sum_of()
    }
    expect_identical(of_value("'0.5'"), of_value("0.5"))
    of_value("1")
  }
  expect_gt(max(abs(sum_of()[-1])), 0.1)
})

test_that("predictors that all but cancel, and the smallest offsets, are squared without an error", {
  expect_small_predictors(sqlite_connection())
})

test_that("offsets of an absurd size, and expressions that it has no rule for, are refused", {
  source <- push_pair(sqlite_connection(), weighed_frame(40))$push
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(text, ...) {
    expect_error(quiet_fit(..., data = source, budget = budget, method = "gd"), text, class = "dpsosp_error_argument")
  }
  refused("must lie within 1e\\+30", y ~ a + offset(o), bounds = list(a = c(10, 30), o = c(0, 1e120)))
  refused("sin\\(\\) is not computed", y ~ a + offset(sin(o)),
          bounds = list(a = c(10, 30), "offset(sin(o))" = c(-1, 1)))
  refused("round\\(\\) is not computed", y ~ a, bounds = frame_bounds["a"], weights = round(w))
  expect_equal(nrow(dp_ledger(budget)), 0L)
})
