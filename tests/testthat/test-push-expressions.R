# Expressions of a formula in a database: the same values as in R, and a null record where R finds no number.

test_that("SQLite maps rows as R does, whatever the values", {
  expect_expressions(sqlite_connection())
})

test_that("a column without a type is one of numbers where it has them", {
  connection <- sqlite_connection()
  DBI::dbExecute(connection, "CREATE TABLE people (id INTEGER, a, b, y)")
  DBI::dbAppendTable(connection, "people", data.frame(id = 1:8, a = c(1, 2, 3, 4, 5, 6, 7, 8), b = 2, y = "no"))
  levels <- list(y = c("no", "yes"))
  for (value in c("'twelve'", "x'00ff'", "'5e300'", "9223372036854775807", "-9007199254740993", "NULL", "1e999")) {
    DBI::dbExecute(connection, sprintf("UPDATE people SET a = %s WHERE id = 3", value))
    # RSQLite warns about the types of values.
    rows <- suppressWarnings({
      source <- dp_source(connection, "people", levels = levels, types = c(a = "numeric"), push = TRUE)
      mapped_rows(source, y ~ I(a / 2) + log(a), list("I(a/2)" = c(0, 4), "log(a)" = c(0, 3)))
    })
    expect_identical(is.na(rows$sql[, 1]), 1:8 == 3 & !grepl("^-?9", value))
    expect_equal(rows$sql[-3, ], rows$r[-3, ], tolerance = 1e-9)
  }
})

test_that("what a fit is asked comes from expressions as it does from chunks, with the same sensitivities", {
  d <- frame_with_odd_values()
  d$id <- seq_len(200)
  pair <- push_pair(sqlite_connection(), d)
  bounds <- list(a = c(10, 30), b = c(-1, 1), "log(a)" = c(2, 4))
  expect_pushed(pair, y ~ log(a) + a * b + f, bounds = bounds)
  expect_pushed(pair, y ~ a:f + I(b^2), bounds = c(frame_bounds, list("I(b^2)" = c(0, 1))), radius = 1.1)
  expect_pushed(pair, y ~ f * cut(a, c(10, 15, 20, 30)) - 1, bounds = list())
  expect_pushed(pair, y ~ a + b, subset = quote(a > 15 & f != "u"), bounds = frame_bounds)
  expect_pushed(pair, I(2 * a) ~ b, loss_huber(c(0, 50), 3), bounds = list(b = c(-1, 1)), curved = FALSE,
                subset = quote(b < 0))
  d$b[c(11, 12)] <- 0
  pair <- push_pair(DBI::dbConnect(RSQLite::SQLite(), ":memory:"), d)
  withr::defer(DBI::dbDisconnect(pair$push$push$connection))
  fits <- lapply(list(pair$push, d), function(data) {
    set.seed(4)
    quiet_fit(y ~ poly(a / 10, 2, raw = TRUE) + b * f, data, method = "newton", eps = hardly_any, delta = 1e-6,
              bounds = frame_bounds, subset = b > -0.5 | f %in% c("u", "v"), noise = "reproducible")
  })
  expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-4)
  expect_same_ledger(fits[[1]], fits[[2]])
})

test_that("a record that does not count adds nothing to any sum", {
  d <- problem_frame(40)
  pair <- push_pair(sqlite_connection(), d)
  none <- quote(a > 100)
  for (word in c("gradient", "hessian", "trace", "products", "squares")) {
    what <- asks(3)[[word]]
    sum <- push_sum(pair$push, y ~ a + b, what, subset = none)
    expect_identical(sum, c(40, numeric(length(sum) - 1L)))
    expect_false(all(push_sum(pair$push, y ~ a + b, what, subset = quote(a < 100))[-1] == 0))
  }
  for (word in c("value", "decreases")) {
    what <- asks(3)[[word]]
    null <- if (word == "value") 40 * log(2) else c(0, 0)
    expect_equal(push_sum(pair$push, y ~ a + b, what, subset = none)[-1], null, tolerance = 1e-12)
    expect_false(isTRUE(all.equal(push_sum(pair$push, y ~ a + b, what)[-1], null, tolerance = 1e-3)))
  }
})

test_that("no record adds more than its bound, whatever it makes of expressions", {
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "people", hostile_rows(12))
  source <- dp_source(connection, "people", levels = list(f = c("u", "v", "w"), y = c("no", "yes")), push = TRUE)
  bounds <- c(frame_bounds, list("exp(b)" = c(0, 2), "I(b/a)" = c(-1, 1)))
  expect_bounded(source, list(dpsosp:::loss_logistic()), sizes = c(1, 1e30), bounds = bounds,
                 formula = y ~ exp(b) + a:b + I(b / a) + f, dim = 6, subset = quote(log(a) < 5 | is.na(b)))
})

test_that("what has no rule is refused with its reason, before anything is charged", {
  connection <- sqlite_connection()
  d <- problem_frame(40)
  d$word <- "x"
  source <- push_pair(connection, d)$push
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(formula, reason, subset = NULL) {
    extras <- list(subset = subset)
    expect_error(dpsosp:::problem_source(formula, source, "logistic", "private", NULL, extras, NULL), reason,
                 class = "dpsosp_error_argument")
  }
  refused(y ~ sin(a), "sin\\(\\) is not computed in a database.*view.*chunks")
  refused(y ~ a + b, "round\\(\\) is not computed", quote(round(a) == 3))
  refused(y ~ I(a^b), "powers in a database are constants")
  refused(y ~ I(a^2.5), "powers in a database are constants")
  refused(y ~ I(a * 1e200), "too large")
  refused(y ~ log(a, b), "base must be a positive constant")
  refused(y ~ a, "text needs declared levels", quote(word == "x"))
  refused(y ~ a, "compared with text", quote(a == "x"))
  refused(y ~ a, "NA in the set", quote(a %in% c(1, NA)))
  refused(y ~ a, "infinite number in the set", quote(a %in% c(1, Inf)))
  refused(y ~ factor(a, levels = c(0.5, 1)), "whole numbers")
  refused(y ~ a, "numbers are looked for among text", quote(a %in% "x"))
  refused(y ~ cut(a, c(0, 20, 1e160)), "breaks are too large")
  refused(y ~ splines::bs(a, knots = c(15, 15), Boundary.knots = c(10, 30)), "such splines")
  deep <- Reduce(function(e, i) call("*", call("+", e, 1), quote(b)), 1:40, quote(a))
  refused(eval(call("~", quote(y), call("I", deep))), "more than 20 calls")
  wide <- stats::reformulate(sprintf("cut(a, c(10, 20, 30, %d))", 31:37), "y")
  refused(wide, "combinations of levels")
})

test_that("a rule refuses by itself what R has refused before it, and finds no level that is none", {
  d <- transform(problem_frame(20), g = factor(rep(c("p", "q"), 10)))
  source <- push_pair(sqlite_connection(), d)$push
  schema <- dpsosp:::row_wise_schema(list(quote(a + f + g)), source$schema, NULL)
  rule <- function(e) {
    made <- list2env(list(push = source$push, schema = schema, items = list(), joins = character(),
                          rules = dpsosp:::sql_rules))
    dpsosp:::translate(made, e)
  }
  refused <- function(e, reason) expect_error(rule(e), reason, class = "dpsosp_untranslated")
  refused(quote(f + 1), "a factor or text is no number")
  refused(quote("x" + a), "a factor or text is no number")
  refused(quote(f < "zz"), "the constant is no level")
  refused(quote(f == g), "the factors have other levels")
  refused(quote(factor(f, levels = c("k", "l"))), "no level is one of the column's")
  expect_identical(rule(quote(f %in% "zz"))$sql, "(1 = 0)")
  expect_match(rule(quote(f == "zz"))$sql, "= 0)", fixed = TRUE)
})

test_that("random expressions make no statement fail, and are as in R where numbers are tame", {
  connection <- sqlite_connection()
  expect_random_expressions(connection, long_values(1:60))
})

test_that("every dialect writes expressions without the functions that another lacks, and constants as its own", {
  source <- push_pair(sqlite_connection(), transform(problem_frame(20), id = 1:20))$push
  for (name in names(dpsosp:::dialects)) {
    push <- source$push
    push$dialect <- dpsosp:::dialects[[name]]
    known <- push$dialect$known
    push$types[c("a", "b", "f", "y")] <- if (is.null(known)) NA else c(known$number[c(1, 1)], known$text[c(1, 1)])
    expressions <- list(quote(exp(a) / log(b) + a^3), quote(ifelse(f == "u", a, -b)))
    schema <- dpsosp:::row_wise_schema(expressions, source$schema, NULL)
    made <- dpsosp:::define_expressions(push, schema, expressions)
    sql <- toString(made$layers)
    count <- function(x) lengths(regmatches(sql, gregexpr(x, sql, fixed = TRUE)))
    expect_identical(count("("), count(")"))
    expect_false(grepl("POWER|GREATEST|LEAST|%|\\{", sql))
    expect_identical(grepl(" LN(", sql, fixed = TRUE), name != "sqlite")
  }
})
