# What intervals of fits by residuals are about: the coefficients of lm(), of Huber's estimate and of glm() on the same
# records, also where the model is wrong and a few long rows have large residuals.

inferred <- function(formula, data, loss = "squared", eps = 1, seed = 1, ...) {
  set.seed(seed)
  quiet_fit(formula, data, eps = eps, delta = 1e-6, loss = loss, method = "auto", inference = "sandwich",
            noise = "reproducible", ...)
}

# Long rows have another slope, and residuals in proportion to their length.
curved <- function(n) {
  set.seed(4)
  d <- data.frame(carat = pmin(rgamma(n, 2.6, 3.3), 5), depth = rnorm(n, 62, 1.4))
  d$price <- 8000 * d$carat^1.6 * exp(rnorm(n, 0, 0.25)) / 2
  d
}

test_that("intervals cover the coefficients of lm() where long rows have another slope", {
  d <- curved(20000)
  exact <- coef(lm(price ~ carat + depth, d))
  covered <- vapply(seq_len(long_size(20, 8)), function(seed) {
    fit <- inferred(price ~ carat + depth, d, bounds = list(carat = c(0, 5), depth = c(40, 80)), seed = seed)
    interval <- confint(fit)
    interval[, 1] <= exact & exact <= interval[, 2]
  }, logical(3))
  expect_gte(mean(covered, na.rm = TRUE), 0.85) # of intervals whose clips ignore the tail 0.7, and 0.05 of carat
  expect_gte(mean(covered["carat", ]), 0.6)
})

test_that("without noise they are the estimates of lm(), of Huber's loss and of glm() of a wrong model", {
  d <- curved(4000)
  d$y <- d$price / 1000
  d$k <- rpois(4000, 1 + d$carat)
  ends <- list(carat = c(0, 5), depth = c(50, 75))
  fit <- inferred(y ~ carat + depth, d, loss_squared(c(0, 200)), eps = 1e8, bounds = ends)
  expect_equal(coef(fit), coef(lm(y ~ carat + depth, d)), tolerance = 1e-3)
  fit <- inferred(y ~ carat + depth, d, loss_huber(c(0, 200), c = 2), eps = 1e8, bounds = ends)
  x <- cbind(1, d$carat, d$depth)
  w <- coef(lm(y ~ carat + depth, d))
  for (i in 1:50) {
    weight <- pmin(1, 2 / abs(d$y - drop(x %*% w)))
    w <- solve(crossprod(x * weight, x), crossprod(x * weight, d$y))
  }
  error <- sqrt(diag(vcov(fit)))
  expect_lt(max(abs(coef(fit) - drop(w)) / error), 0.3)
  inside <- abs(d$y - drop(x %*% w)) < 2
  psi <- pmax(pmin(d$y - drop(x %*% w), 2), -2)
  bread <- solve(crossprod(x * inside, x))
  expect_equal(unname(error), sqrt(diag(bread %*% crossprod(x * psi) %*% bread)), tolerance = 0.15)
  fit <- inferred(k ~ carat + depth, d, loss_poisson(100), eps = 1e8, bounds = ends)
  exact <- glm(k ~ carat + depth, poisson, d)
  expect_lt(max(abs(coef(fit) - coef(exact)) / sqrt(diag(vcov(fit)))), 0.5)
})

test_that("intervals cover the coefficients of glm() where few rows are long and the step is", {
  set.seed(3)
  d <- data.frame(reduced = ifelse(runif(5000) < 0.14, sample(1:14, 5000, TRUE, prob = 1 / (1:14)), 0), a = runif(5000))
  d$k <- rpois(5000, exp(-1.3 + 0.1 * d$reduced + 0.3 * d$a))
  exact <- coef(glm(k ~ a + reduced, poisson, d))
  covered <- vapply(seq_len(long_size(40, 14)), function(seed) {
    interval <- confint(inferred(k ~ a + reduced, d, "poisson", seed = seed))
    interval[, 1] <= exact & exact <= interval[, 2]
  }, logical(3))
  expect_gte(mean(covered["reduced", ], na.rm = TRUE), 0.9) # without the error of a long step 0.75, with 14 runs 0.58
})

test_that("a private range of the response that is too narrow for some moves no interval", {
  set.seed(1)
  d <- data.frame(x = runif(8000, -1, 1))
  d$y <- 1 + d$x + ifelse(runif(8000) < 0.004, 40 * (1 + d$x), rnorm(8000))
  fit <- inferred(y ~ x, d, eps = 1e4, bounds = list(x = c(-1, 1)))
  narrow <- fit$response$ends
  expect_equal(fit$response$bounds, mean(narrow) + 16 * (narrow - mean(narrow)))
  expect_lt(max(abs(coef(fit) - coef(lm(y ~ x, d))) / sqrt(diag(vcov(fit)))), 0.5)
  far <- predict(fit, data.frame(x = c(-1e6, 1e6)), "response")
  expect_true(all(narrow[1] <= far & far <= narrow[2]))
})

test_that("the tail that counts show tells the clip", {
  read <- function(beyond, fraction, sd = 4e-5) {
    ends <- 100 * 2^((1:31 - 31) / 2)
    middle <- c(0, sqrt(ends[-1] * ends[-31]))
    counts <- structure(-diff(c(1, beyond(middle[-1]), 0)), sd = sd)
    dpsosp:::read_tail(list(counts = counts, ends = ends), fraction, c(1.8, 6))
  }
  for (power in 2:3) {
    pareto <- function(x) pmin(1, (x / 0.1)^-power)
    found <- read(pareto, 1e-4)
    expect_equal(found$clip, 0.1 * 1e4^(1 / power), tolerance = 0.3)
    expect_equal(found$bias, found$beyond * found$clip / (found$power - 1))
    expect_equal(read(pareto, 1e-4, 1e-3)$clip, 0.1 * 1e4^(1 / power), tolerance = 0.6)
  }
  expect_false(read(function(x) pmin(1, (x / 0.1)^-4), 1e-4)$heavy)
  expect_true(read(function(x) pmin(1, (x / 0.1)^-1.2), 1e-4, 1e-3)$heavy)
  none <- read(function(x) 0 * x, 1e-2, 1)
  expect_true(is.finite(none$clip) && is.finite(none$bias))
})

test_that("summary says before the numbers what intervals are about, and where few records decide", {
  d <- curved(3000)
  said <- function(fit) capture.output(print(summary(fit)))
  of <- function(loss) inferred(price ~ carat, d, loss, eps = 10, bounds = list(carat = c(0, 5)))
  fit <- of("squared")
  lines <- said(fit)
  about <- grep("About the coefficients of least squares, as of `lm()`", lines, fixed = TRUE)
  expect_length(about, 1)
  expect_lt(about, grep("Std. Error", lines, fixed = TRUE))
  expect_match(paste(said(of("huber")), collapse = " "), "About the coefficients with the least Huber loss, c = ")
  fit$inference$released$tail[c("heavy", "beyond")] <- list(TRUE, 0.004)
  expect_match(paste(said(fit), collapse = " "), "the 0.4 % of\\s+the records with the most influence count less")
  expect_match(paste(capture.output(print(fit)), collapse = " "), "few records decide the coefficients")
})
