set.seed(1)
d <- data.frame(x = stats::runif(4000, -1, 1), o = stats::runif(4000))
d$k <- stats::rpois(4000, exp(0.5 + d$x + d$o))
ranges <- list(x = c(-1, 1), o = c(0, 1))
fit <- quiet_fit(k ~ x + offset(o), d, method = "auto", eps = 20, delta = 1e-6, bounds = ranges, loss = "poisson",
                 noise = "reproducible")
evaluate <- function(eps, ..., newdata = d) suppressMessages(dp_evaluate(fit, newdata, eps = eps, delta = 1e-6, ...))
of <- function(x, metric, column = "estimate") x$estimates[[column]][x$estimates$metric == metric]
deviances <- function(y, mean) 2 * (ifelse(y > 0, y * log(y / mean), 0) - y + mean)

test_that("the deviance is that of the held-out records, and the share explained that over the level", {
  found <- evaluate(1e8)
  expect_identical(found$estimates$metric, c("absolute_error", "deviance", "deviance_explained"))
  mean <- predict(fit, d, type = "response")
  level <- exp(fit$level$start + d$o)
  deviance <- mean(deviances(d$k, mean))
  expect_equal(of(found, "deviance"), deviance, tolerance = 1e-4)
  expect_equal(of(found, "deviance_explained"), 1 - deviance / mean(deviances(d$k, level)), tolerance = 1e-4)
})

test_that("the noise depends on the counts that the level takes account of, not on the largest one", {
  expect_lt(of(evaluate(1, metrics = "deviance"), "deviance", "se"), 0.1)
  expect_lt(fit$level$clip, fit$response$bounds[2] / 8)
})

test_that("records of any counts have a deviance in its bounds, and change no other's", {
  scores <- function(data) {
    records <- dpsosp:::held_out_records(fit, data, NULL, NULL)
    columns <- dpsosp:::score_columns(fit, records, c("deviance", "deviance_explained"), 0.01)
    vapply(columns, `[[`, numeric(nrow(data)), "values")
  }
  before <- scores(d[1:50, ])
  for (value in list(NA, Inf, 1e308, -5, 0, 0.5)) for (column in c("k", "x", "o")) {
    changed <- d[1:50, ]
    changed[[column]] <- as.double(changed[[column]])
    changed[[column]][7] <- value
    found <- scores(changed)
    expect_true(all(found >= 0 & found <= 1))
    expect_identical(found[-7, ], before[-7, ])
  }
})

test_that("a fit without a released level has a deviance, and no share of it explained", {
  other <- quiet_fit(k ~ x, d, method = "newton", eps = 20, delta = 1e-6, bounds = ranges["x"],
                     loss = loss_poisson(max = 30))
  found <- suppressMessages(dp_evaluate(other, d, eps = 50, delta = 1e-6))
  expect_identical(found$estimates$metric, c("absolute_error", "deviance"))
  expect_error(dp_evaluate(other, d, eps = 1, delta = 1e-6, metrics = "deviance_explained"),
               class = "dpsosp_error_argument")
})

test_that("counts of at most one have a deviance", {
  b <- transform(d, k = pmin(k, 1))
  one <- quiet_fit(k ~ x, b, method = "newton", eps = 20, delta = 1e-6, bounds = ranges["x"], loss = loss_poisson(1))
  found <- suppressMessages(dp_evaluate(one, b, eps = 1e8, delta = 1e-6, metrics = "deviance"))
  expect_equal(of(found, "deviance"), mean(deviances(b$k, predict(one, b, type = "response"))), tolerance = 1e-3)
})
