# Columns that are constant, as one of model.matrix() is, beside an intercept or in its place.

p <- problem_matrix(4000, 4)
y <- p$y > 0
ones <- cbind(one = 1, p$x)
box <- rbind(c(1, rep(-1, 4)), 1)
loss_of_fit <- function(fit, x) mean(log1p(exp(-p$y * predict(fit, x))))
mean_loss <- function(x, ..., radius = 2.5) {
  mean(vapply(1:3, function(seed) {
    set.seed(seed)
    fit <- quiet_fit(x, y, eps = 2, delta = 1e-6, radius = radius, method = "auto", noise = "reproducible", ...)
    loss_of_fit(fit, x)
  }, 0))
}
without <- mean_loss(p$x, radius = sqrt(5))

test_that("a column that is constant by its bounds or name is refused beside the intercept, before charges", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(x, ...) {
    expect_error(quiet_fit(x, y, budget = budget, radius = 3, ...), "has an intercept: leave it out, `x[, -1]`",
                 fixed = TRUE, class = "dpsosp_error_argument")
  }
  for (method in c("auto", "newton", "2opt-ls")) refused(ones, bounds = box, method = method)
  refused(stats::model.matrix(~ p$x))
  expect_equal(nrow(dp_ledger(budget)), 0)
  expect_s3_class(quiet_fit(cbind(zero = 0, p$x), y, eps = 1, radius = 3, bounds = cbind(0, box[, -1])), "dp_sosp")
})

test_that("without an intercept it takes its place, and a message tells what is more accurate", {
  run <- function() {
    dp_sosp(ones, y, eps = 2, delta = 1e-6, radius = 2.5, intercept = FALSE, bounds = box, progress = FALSE)
  }
  expect_message(fit <- run(), "`x[, -1]` with `intercept = TRUE`", fixed = TRUE, class = "dpsosp_message_constant")
  expect_true(all(is.finite(predict(fit, ones))))
  expect_lt(mean_loss(ones, intercept = FALSE, bounds = box), without + 0.01)
})

test_that("one that nothing public shows to be constant does not spoil the rest", {
  expect_lt(mean_loss(ones), without + 0.01)
  expect_lt(mean_loss(ones, bounds = rbind(c(0, rep(-1, 4)), 1)), without + 0.01)
  expect_lt(mean_loss(ones, intercept = FALSE), without + 0.01)
  skip_if_not_installed("Matrix")
  expect_lt(mean_loss(as_sparse(ones), intercept = FALSE), without + 0.01)
})

test_that("bounds that leave a column almost no variance bring no noise", {
  noise <- function(width) {
    set.seed(1)
    bounds <- box
    bounds[1, 1] <- 1 - width
    fit <- quiet_fit(ones, y, eps = 2, delta = 1e-6, radius = 2.5, method = "auto", bounds = bounds,
                     noise = "reproducible")
    c(fit$released$gradient$sd, fit$released$matrix$sd)
  }
  expect_equal(noise(1e-9), noise(1), tolerance = 0.05)
})

test_that("without an intercept the coordinates of all columns have a mean square of 1 / d", {
  set.seed(2)
  x <- cbind(one = 1, far = 0.9 + p$x[, 1] / 100, p$x[, 2:4])
  fit <- quiet_fit(x, y, eps = 50, delta = 1e-6, radius = 3, method = "auto", intercept = FALSE, noise = "reproducible")
  z <- sweep(x / 3, 2, fit$geometry$scale, "*")
  expect_equal(unname(colMeans(z^2)), rep(1 / 5, 5), tolerance = 0.05)
  public <- geometry_public(mean = c(1, 0.9, 0, 0, 0), sd = c(0.01, 0.01, 1, 1, 1) / sqrt(3))
  fit <- quiet_fit(x, y, eps = 1, delta = 1e-6, radius = 3, method = "auto", intercept = FALSE, geometry = public)
  z <- sweep(x / 3, 2, fit$geometry$scale, "*")
  expect_equal(unname(colMeans(z^2)), rep(1 / 5, 5), tolerance = 0.05)
})

test_that("a formula's constant columns say nothing beside the intercept, and take its place without one", {
  d <- data.frame(p$x, y = y)
  ranges <- stats::setNames(rep(list(c(-1, 1)), 4), names(d)[1:4])
  run <- function(formula) {
    set.seed(1)
    quiet_fit(formula, d, eps = 2, delta = 1e-6, bounds = ranges, method = "auto", noise = "reproducible")
  }
  fit <- run(y ~ . + I(x1 * 0 + 1))
  expect_identical(coef(fit)[["I(x1 * 0 + 1)"]], 0)
  expect_lt(loss_of_fit(fit, d), without + 0.01)
  expect_lt(loss_of_fit(run(y ~ . + I(x1 * 0 + 1) - 1), d), without + 0.01)
})
