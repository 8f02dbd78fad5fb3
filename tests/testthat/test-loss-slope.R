# The logistic loss with a bounded slope.
p <- problem_matrix(4000, 3)
z <- unit_rows(p$x, 2)
study <- function(loss, ..., method = "newton", eps = 1) {
  set.seed(1)
  quiet_fit(p$x, p$y, eps = eps, delta = 1e-6, radius = 2, method = method, loss = loss, noise = "reproducible", ...)
}

# -l' as a function of the margin m, and l as its integral from the margin to infinity.
slope_at <- function(m, c) (c - (c - 0.5) * exp(-abs(m) / (4 * c - 2))) * exp(-pmax(m, 0))
value_at <- function(m, c) {
  vapply(m, function(from) stats::integrate(slope_at, from, 60, c = c, rel.tol = 1e-10, subdivisions = 1000)$value, 0)
}

test_that("a slope of 1 is the logistic loss, and others are taken from 0.51 on", {
  expect_identical(loss_logistic(1), loss_logistic())
  expect_identical(loss_logistic()$name, "logistic")
  expect_output(print(loss_logistic()), "<dp_loss> logistic: log(1 + exp(-y t))", fixed = TRUE)
  expect_output(print(loss_logistic(0.6)), "<dp_loss> logistic (slope = 0.6): ", fixed = TRUE)
  expect_output(print(loss_logistic(slope = 0.51)), "slope = 0.51", fixed = TRUE)
  for (slope in list(0.5, 0.5099, 1.01, NA, "a", c(0.6, 0.7))) {
    expect_error(loss_logistic(slope), class = "dpsosp_error_argument")
  }
  expect_error(dp_sosp(p$x, p$y, slope = 0.6), "`loss = loss_logistic(slope = )`", fixed = TRUE)
})

test_that("sums are those of the loss, and a gradient's sensitivity is that of its slope", {
  w <- c(-2, 3, 1, -4)
  m <- margin(z, p$y, w)
  for (slope in long_values(c(0.51, 0.6, 0.99), 1)) {
    oracle <- dp_oracle(p$x, p$y > 0, loss_logistic(slope), dp_budget(mu = 1e9), radius = 2, noise = "reproducible")
    expect_near(dp_value(oracle, w, mu = 1e7), mean(value_at(m, slope)))
    gradient <- dp_gradient(oracle, w, mu = 1e7)
    expect_near(gradient, -colMeans(z * p$y * slope_at(m, slope)))
    curvature <- (slope_at(m - 1e-5, slope) - slope_at(m + 1e-5, slope)) / 2e-5
    expect_equal(as.vector(dp_hessian(oracle, w, mu = 1e7)), as.vector(crossprod(z * curvature, z) / 4000),
                 tolerance = 1e-5)
    ledger <- dp_ledger(oracle$budget)
    expect_equal(ledger$sensitivity[ledger$what == "gradient"] * 4000, 2 * slope, tolerance = 1e-6)
  }
})

test_that("methods of all kinds come near the log-odds, which are those of the logistic loss", {
  truth <- drop(z %*% exact_minimum(z, p$y))
  for (method in long_values(dpsosp:::methods_without("nonconvex"))) {
    fit <- study(loss_logistic(0.6), method = method, eps = 300)
    link <- predict(fit, p$x)
    expect_gt(cor(link, truth), 0.98)
    expect_equal(predict(fit, p$x, type = "response"), plogis(link))
    expect_lte(sum(dp_ledger(fit)$rho), fit$privacy$rho * (1 + 1e-9))
  }
  expect_equal(unname(coef(study(loss_logistic(0.6), eps = 300))), unname(coef(study("logistic", eps = 300))),
               tolerance = 0.05)
})

test_that("a run starts at the constant prediction, of a fraction that no slope changes", {
  fit <- study(loss_logistic(0.6))
  expect_identical(dp_ledger(fit)$what[1], "class counts")
  expect_lt(abs(fit$checks$class$fraction - mean(p$y > 0)) / fit$checks$class$sd, 4.5)
})

test_that("a fit says which loss it has", {
  fit <- study(loss_logistic(0.6))
  expect_output(print(fit), "logistic (slope = 0.6) loss", fixed = TRUE)
  expect_output(print(summary(fit)), "logistic (slope = 0.6) loss", fixed = TRUE)
  skip_if_not_installed("generics")
  expect_identical(generics::glance(fit)$loss, "logistic")
  expect_equal(generics::tidy(fit, exponentiate = TRUE)$estimate, unname(exp(coef(fit))))
})
