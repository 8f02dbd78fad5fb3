# The method that is chosen if none is named.
p <- problem_matrix(3000, 3)
fit_auto <- function(..., loss = "logistic") {
  suppressMessages(suppressWarnings(dp_sosp(..., loss = loss, progress = FALSE), "dpsosp_warning"))
}
chosen <- function(eps, ...) fit_auto(p$x, p$y, eps = eps, delta = 1e-6, radius = 2, ...)
budget_of <- function(mu) dp_convert(mu = mu, delta = 1e-6, to = "eps")

test_that("a fit without a method is one of \"auto\", in data frames and matrices", {
  expect_equal(formals(dpsosp:::dp_sosp.formula)$method, "auto")
  expect_equal(formals(dpsosp:::dp_sosp.default)$method, "auto")
  fit <- chosen(1)
  expect_true(fit$auto)
  expect_equal(fit$method, "newton-ridge")
  expect_equal(chosen(1, method = "auto")$method, "newton-ridge")
  expect_output(print(fit), "logistic loss, method newton-ridge (taken by auto)", fixed = TRUE)
  named <- chosen(1, method = "newton")
  expect_false(named$auto)
  expect_output(print(named), "logistic loss, method newton\n", fixed = TRUE)
})

test_that("what \"auto\" takes follows from public facts", {
  expect_equal(chosen(100)$method, "newton-ridge")
  ridge <- function(...) chosen(..., penalty = penalty_ridge(0))$method
  # 2 sqrt(4) / (3000 mu) < 10^-3.75 from mu = 7.5 on
  expect_equal(ridge(budget_of(7.6)), "objpert")
  expect_equal(ridge(budget_of(7.4)), "newton")
  expect_equal(ridge(budget_of(7.4), neighbours = "zero-out"), "objpert")
  expect_equal(chosen(1, geometry = "none")$method, "newton")
  expect_equal(chosen(1, loss = "huber_svm")$method, "newton-ridge")
  expect_equal(chosen(1, loss = "sigmoid")$method, "warm-ridge")
  expect_equal(chosen(1, penalty = penalty_nonconvex(0.1))$method, "warm-ridge")
  shared <- fit_auto(p$x, p$y, eps = budget_of(7.6), penalty = penalty_ridge(0), radius = 2,
                     budget = dp_budget(eps = 100, delta = 1e-6))
  expect_equal(shared$method, "newton")
  expect_equal(names(which(vapply(shared, is.null, NA))),
               c("predictor", "inference", "level", "geometry", "batch", "persons"))
})

test_that("with very many columns nothing asks for matrices", {
  x <- matrix(0, 40, 3000)
  y <- rep(c(-1, 1), 20)
  wide <- function(...) fit_auto(x, y, eps = 1, delta = 1e-6, radius = 2, ...)$method
  expect_equal(wide(), "2opt-ls") # 3000 and the intercept
  expect_equal(wide(loss = "huber_svm"), "gd")
  # With another method the geometry is still that of the call.
  geometry <- function(...) is.null(fit_auto(x, y, eps = 1e5, delta = 1e-6, radius = 2, ...)$geometry)
  expect_false(geometry())
  expect_true(geometry(geometry = "none"))
  # More rows than a matrix may have.
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_equal(fit_auto(matrix(0, 20, 9000), rep(c(-1, 1), 10), budget = budget, radius = 2)$method, "2opt-ls")
  method <- function(dim, geometry) {
    job <- list(asked = list(geometry = geometry, budget = budget), design = list(intercept = TRUE, columns = iris),
                penalty = penalty_none(), inference = "none", loss = loss_logistic(), dim = dim,
                outputs = 1)
    dpsosp:::auto_method(job)
  }
  expect_identical(c(method(1000, "none"), method(1001, "none")), c("newton", "2opt-ls"))
  expect_identical(c(method(3000, NULL), method(3001, NULL)), c("newton-ridge", "2opt-ls"))
})

test_that("a control object needs the name of its method", {
  expect_error(chosen(1, control = control_newton()), "name one", class = "dpsosp_error_argument")
  expect_error(chosen(1, control = control_opt()), "name one", class = "dpsosp_error_argument")
  expect_equal(chosen(1, method = "opt", control = control_opt())$method, "opt")
})
