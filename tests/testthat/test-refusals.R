# What is refused with a reason, before anything is charged, where no other file of tests asks for it.
d <- problem_frame(60)
p <- problem_matrix(60)

expect_refused <- function(code, reason) {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(suppressMessages(code(budget)), reason, fixed = TRUE, class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
}
refused_formula <- function(reason, formula = y ~ a, data = d, ...) {
  expect_refused(function(budget) dp_sosp(formula, data, budget = budget, progress = FALSE, ...), reason)
}
refused_matrix <- function(reason, ..., x = p$x, y = factor(p$y)) {
  expect_refused(function(budget) dp_sosp(x, y, budget = budget, radius = 2, progress = FALSE, ...), reason)
}

test_that("formulas and arguments about records", {
  refused_formula("`na.action` must be left out", na.action = na.omit)
  refused_formula("`weights` must give one number per row", weights = f)
  refused_formula("`subset` must give one logical value per row", subset = a)
  refused_formula("must be of one column", y ~ a + offset(a, b))
  refused_formula("`offset()` in `formula`", offset = 1)
  refused_formula("is not one that terms() understands", y ~ a^b)
  unknown <- transform(d, f = addNA(f))
  unknown$f <- factor(unknown$f, levels = c("u", "v", NA), exclude = NULL)
  refused_formula("NA is a declared level of `f`", y ~ f:b, unknown)
})

test_that("numbers that no guarantee or no machine holds", {
  expect_error(dp_budget(eps = 1, delta = 0.2), "below 0.1", class = "dpsosp_error_argument")
  refused_matrix("must lie within", offset = p$x[, 1], offset_range = c(-1e200, 1))
  expect_error(saddle_problem(1000, 1), "at least 2", class = "dpsosp_error_argument")
  public <- geometry_public(mean = c(a = 20), sd = c(a = 5))
  expect_output(print(public), "of 1 column\n.*a +20 +5")
  expect_error(print(public, digits = 23), "between 1 and 22", class = "dpsosp_error_argument")
})

test_that("settings that contradict each other", {
  expect_error(control_spider("published", escape = "drift"), "leave out `escape`", class = "dpsosp_error_argument")
  refused_matrix("Did you mean `penalty_ridge()`?", penalty = "rigde")
  refused_matrix("and the method \"agd\" belong together", method = "agd",
                 control = control_line_search("svt", attempts = 5))
  refused_matrix("has no `geometry`: leave it out", method = "blsgd-ac", geometry = "private",
                 control = control_line_search("svt", attempts = 5))
})

test_that("responses and networks", {
  many <- factor(rep_len(1:60, 60), levels = 1:2000)
  refused_matrix("the multinomial loss takes from 2 to", y = many, loss = "multinomial")
  refused_formula("An offset() does not go with `model`", y ~ a + offset(b), model = model_mlp(2),
                  bounds = frame_bounds)
  images <- array(0, c(60, 4, 4))
  expect_error(dp_sosp(images, eps = 1, delta = 1e-6, model = model_mlp(2), bounds = c(0, 1)), "`y` is missing",
               class = "dpsosp_error_argument")
  expect_error(dp_sosp(images, factor(p$y), eps = 1, delta = 1e-6, model = model_mlp(2), bounds = c(0, 1e200)),
               "must lie within", class = "dpsosp_error_argument")
})

test_that("records that a fit cannot be evaluated on", {
  fit <- quiet_fit(y ~ a, d, eps = 1, delta = 1e-6, bounds = frame_bounds["a"], noise = "reproducible")
  budget <- dp_budget(eps = 1, delta = 1e-6)
  evaluate <- function(...) dp_evaluate(fit, ..., budget = budget)
  expect_error(evaluate(d[0, ]), "has no rows", class = "dpsosp_error_argument")
  expect_error(evaluate(d, y = d$y), "`y` is for a fit to a matrix", class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
  alone <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, noise = "reproducible")
  expect_error(predict(alone, p$x, type = "terms"), "needs a fit with a formula", class = "dpsosp_error_argument")
})

test_that("sources that cannot be read", {
  empty <- withr::local_tempdir()
  expect_error(dp_source(empty), "has no files that end in", class = "dpsosp_error_argument")
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  expect_error(dp_source(connection, 1), "must be the name of a table or an SQL query", class = "dpsosp_error_argument")
})
