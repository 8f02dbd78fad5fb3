numbers <- function(n, seed) {
  set.seed(seed)
  d <- data.frame(a = stats::runif(n, -1, 1))
  d$y <- 30 + 4 * d$a + stats::rnorm(n)
  d
}
d <- numbers(4000, 1)
fit <- quiet_fit(y ~ a, d, method = "auto", eps = 50, delta = 1e-6, bounds = list(a = c(-1, 1)),
                 loss = loss_squared(c(20, 40)))
new <- numbers(2000, 2)
evaluate <- function(eps, ..., newdata = new) {
  suppressMessages(dp_evaluate(fit, newdata, eps = eps, delta = 1e-6, ...))
}
of <- function(x, metric, column = "estimate") x$estimates[[column]][x$estimates$metric == metric]

test_that("the variance explained is that of the held-out records", {
  found <- evaluate(1e8)
  expect_identical(found$estimates$metric, c("absolute_error", "squared_error", "r_squared"))
  error <- mean((predict(fit, new) - new$y)^2)
  expect_equal(of(found, "squared_error"), error, tolerance = 1e-3)
  expect_equal(of(found, "r_squared"), 1 - error / mean((new$y - mean(new$y))^2), tolerance = 1e-3)
})

test_that("it costs two more means, and the squared error comes with it", {
  found <- evaluate(5, metrics = "r_squared")
  expect_identical(found$estimates$metric, c("squared_error", "r_squared"))
  expect_equal(found$privacy$ledger$sensitivity[1], sqrt(3), tolerance = 1e-6)
})

test_that("its standard error is that of repeated releases", {
  skip_unless_long()
  wrong <- transform(new, a = -a) # most of the error is that of the variance
  set.seed(3)
  runs <- replicate(400, {
    found <- evaluate(20, metrics = "r_squared", noise = "reproducible", newdata = wrong)
    c(of(found, "r_squared"), of(found, "r_squared", "se"))
  })
  ratio <- stats::sd(runs[1, ]) / mean(runs[2, ])
  expect_lt(abs(log(ratio)), 0.15) # four standard deviations of a standard deviation
})

test_that("a variance that does not exceed the noise level explains nothing", {
  expect_identical(of(evaluate(0.05, metrics = "r_squared"), "r_squared"), NA_real_)
  null <- data.frame(a = rep(NA_real_, 500), y = NA_real_)
  expect_identical(of(evaluate(5, newdata = null), "r_squared"), NA_real_)
})

test_that("a choice of candidates is by a mean of records", {
  candidates <- list(a = list(loss = loss_squared(c(20, 40))), b = list(loss = loss_huber(c(20, 40))))
  expect_error(dp_tune(candidates, y ~ a, d, eps = 1, delta = 1e-6, score = "r_squared"),
               "must be one of", class = "dpsosp_error_argument")
})
