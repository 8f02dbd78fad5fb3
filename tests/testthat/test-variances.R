# What a fit by residuals expects of the variances of columns, given noisy ones.
expected <- function(...) dpsosp:::expected_variances(...)

test_that("variances that the noise does not hide are those that were released", {
  sizes <- c(1e-7, 1e-3, 0.2, 0.9)
  expect_equal(expected(sizes, rep(1e-12, 4), rep(1, 4)), sizes, tolerance = 0.1)
  expect_equal(expected(0.01 * sizes, rep(1e-12, 4), rep(0.1, 4)), 0.01 * sizes, tolerance = 0.1)
})

test_that("variances that the noise hides are expected to be like those of other columns", {
  known <- c(0.02, 0.02, 0.02, 0.02)
  hidden <- expected(c(known, 0.5, -0.5), c(rep(1e-3, 4), 1, 1), rep(1, 6))
  expect_equal(hidden[1:4], known, tolerance = 0.05)
  expect_true(all(hidden[5:6] > 0.02 / 3 & hidden[5:6] < 0.02 * 3))
  larger <- expected(c(10 * known, 0.5, -0.5), c(rep(1e-3, 4), 1, 1), rep(1, 6))
  expect_true(all(larger[5:6] > 3 * hidden[5:6]))
  expect_true(all(diff(expected(seq(-0.1, 0.5, by = 0.1), rep(0.05, 7), rep(1, 7))) > 0))
})

test_that("the expectation is the posterior mean, by simulation", {
  set.seed(1)
  below_one <- function(n, mean, sd) { # of logarithms
    found <- numeric()
    while (length(found) < n) found <- c(found, Filter(function(at) at < 0, mean + sd * rnorm(n)))
    found[seq_len(n)]
  }
  draws <- replicate(400, {
    common <- below_one(1, log(dpsosp:::geometry_common), dpsosp:::geometry_doubt)
    variance <- exp(below_one(5, common, dpsosp:::geometry_differ))
    noisy <- variance + 0.1 * rnorm(5)
    found <- expected(noisy, rep(0.1, 5), rep(1, 5))
    c(error = mean(found - variance), square = mean((found - variance)^2), noise = mean((noisy - variance)^2))
  })
  error <- draws["error", ]
  expect_lt(abs(mean(error)), 4 * sd(error) / 20)
  expect_lt(mean(draws["square", ]), 0.6 * mean(draws["noise", ]))
})

test_that("extreme numbers give positive, finite variances within bounds", {
  wild <- expected(c(-1e6, 1e6, 0, 1e-300, 0.1), c(1e-9, 1e9, 1e-300, 1e-3, 0), c(1, 1, 1, 1e-8, 0))
  expect_true(all(is.finite(wild) & wild >= 0 & wild <= 1 + 1e-9))
  expect_length(expected(0.1, 0.2, 1), 1L)
})

test_that("public moments are used as they are, and other losses add the noise level", {
  job <- list(design = list(intercept = TRUE), method = list(residuals = TRUE))
  box <- cbind(c(-1, 0), 1)
  moments <- list(mean = c(0, 0.5), variance = c(0.3, 0.25), sd = 0)
  of <- function(...) dpsosp:::expected_moments(utils::modifyList(moments, list(...)), box, job)
  expect_identical(of()$variance, moments$variance)
  noisy <- of(sd = c(0.5, 0.5))
  expect_identical(noisy$variance, expected(moments$variance, c(0.5, 0.5), c(1, 1)))
  expect_identical(noisy$sd, c(0, 0))
  job$method$residuals <- FALSE
  expect_identical(of(sd = c(0.5, 0.5))[c("variance", "sd")], list(variance = moments$variance, sd = c(0.5, 0.5)))
  job$design$intercept <- FALSE
  expect_equal(of(sd = c(0.5, 0.5))$variance, c(0.3, 0.5))
})

test_that("fits whose columns take a small part of their bounds are near those with public moments", {
  set.seed(2)
  x <- matrix(rnorm(2000 * 10), 2000, dimnames = list(NULL, paste0("x", 1:10)))
  data <- data.frame(x, y = drop(x %*% rep(0.3, 10)) + rnorm(2000, 0, 0.5))
  loss <- function(seed, ...) {
    set.seed(seed)
    fit <- quiet_fit(y ~ ., data, eps = 0.6, delta = 1e-6, loss = loss_squared(c(-5, 5)), method = "newton-ridge",
                     noise = "reproducible",
                     bounds = stats::setNames(rep(list(c(-5, 5)), 10), colnames(x)), ...)
    mean((predict(fit, data) - data$y)^2) - 0.25
  }
  private <- mean(vapply(1:12, loss, 0))
  public <- mean(vapply(1:12, loss, 0, geometry = geometry_public(rep(0, 10), rep(1, 10))))
  expect_lt(private, 4 * public)
  old <- local({
    local_value("expected_variances", function(noisy, sd, most) pmax(noisy, 0) + 2 * sd)
    mean(vapply(1:12, loss, 0))
  })
  expect_lt(private, old / 1.3)
})
