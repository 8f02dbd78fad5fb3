# Declared ranges are limits, within which fits look for the range in use.

limited_data <- function(n, seed = 1) {
  set.seed(seed)
  d <- data.frame(income = rlnorm(n, 10, 0.7), age = runif(n, 18, 90), score = rnorm(n))
  d$y <- runif(n) < plogis(0.7 * as.vector(scale(log(d$income))) + as.vector(scale(d$age)) + 0.5 * d$score)
  d
}
wide <- list(income = c(0, 1e8), age = c(0, 1000), score = c(-500, 500))
ranges_of <- function(...) {
  fit <- suppressWarnings(suppressMessages(dp_sosp(..., noise = "reproducible", progress = FALSE)))
  fit$design$ranges
}

test_that("limits much wider than the values cost next to nothing, for all losses", {
  n <- 20000
  d <- limited_data(n)
  d$number <- 3 * log(d$income) + d$age / 20 + rnorm(n)
  d$count <- rpois(n, exp(d$score / 2))
  d$class <- factor(ifelse(d$y, "a", ifelse(d$age > 50, "b", "c")))
  test <- seq_len(n) > n - 4000
  error <- function(response, bounds, seed) {
    set.seed(seed)
    formula <- reformulate(c("income", "age", "score"), response)
    loss <- switch(response, count = "poisson", number = "squared")
    fit <- suppressWarnings(suppressMessages(
      dp_sosp(formula, d[!test, ], eps = 0.5, delta = 1e-6, bounds = bounds, loss = loss, noise = "reproducible")
    ))
    p <- predict(fit, d[test, ], type = "response")
    y <- d[[response]][test]
    switch(response, y = -mean(log(ifelse(y, p, 1 - p))), class = -mean(log(p[cbind(seq_along(y), as.integer(y))])),
           count = mean(p - y * log(p)), mean((p - y)^2) / var(y))
  }
  for (response in c("y", "number", "count", "class")) {
    seeds <- seq_len(long_size(2, 6))
    of <- function(bounds) mean(vapply(seeds, function(seed) error(response, bounds, seed), 0))
    expect_lt(of(wide), of("private") + 0.01)
  }
})

test_that("a range that is found lies within its limits, and values beyond them are moved", {
  d <- limited_data(5000)
  for (seed in 1:3) {
    set.seed(seed)
    limits <- list(income = c(15000, 40000), age = c(0, 1000), score = c(-0.5, 0.25))
    for (inference in c("none", "sandwich")) {
      found <- ranges_of(y ~ ., d, eps = 2, bounds = limits, inference = inference)
      for (name in names(limits)) {
        expect_true(all(found[name, ] >= limits[[name]][1] & found[name, ] <= limits[[name]][2]))
      }
      expect_lt(found["age", "upper"], 300)
    }
  }
  expect_equal(ranges_of(y ~ age, d, eps = 3, bounds = list(age = c(100, 1000)))[["age", "lower"]], 100)
})

test_that("a closer look at a narrow column stays within its limits, and leaves a perturbed minimiser its budget", {
  set.seed(1)
  n <- 20000
  d <- data.frame(t = runif(n, 2^20 - 100, 2^20 - 10), year = 1e6 + runif(n, -4, 4))
  d$y <- runif(n) < plogis((d$t - mean(d$t)) / 20)
  found <- ranges_of(y ~ t, d, eps = 3, bounds = list(t = c(5e5, 2^20)))
  expect_lte(found["t", "upper"], 2^20)
  expect_lt(diff(found["t", ]), 1000)
  for (bounds in list("private", list(t = c(1, 2e6), year = c(1, 2e6)))) {
    fit <- suppressWarnings(suppressMessages(dp_sosp(y ~ t + year, d, eps = 1, delta = 1e-6, method = "objpert",
                                                     geometry = "private", bounds = bounds, progress = FALSE)))
    expect_identical(fit$privacy$eps, 1)
  }
})

test_that("ranges stay as they are declared where a call says so, or a look is not worth its cost", {
  d <- limited_data(5000)
  exactly <- function(found) expect_equal(unname(found["age", ]), c(0, 1000))
  exactly(ranges_of(y ~ age, d, eps = 2, bounds = list(age = I(c(0, 1000)))))
  exactly(ranges_of(y ~ age, d, eps = 2, bounds = list(age = c(0, 1000)), method = "newton",
                    penalty = penalty_ridge(0.01)))
  exactly(ranges_of(y ~ age, d, eps = 2, bounds = list(age = c(0, 1000)), radius = 1))
  exactly(ranges_of(y ~ age, d, eps = 2, bounds = list(age = c(0, 1000)),
                    geometry = geometry_public(mean = c(age = 54), sd = c(age = 20))))
  exactly(ranges_of(y ~ age, d[1:200, ], eps = 0.2, bounds = list(age = c(0, 1000))))
})

test_that("products and expressions follow the range that is found", {
  d <- limited_data(20000)
  found <- ranges_of(y ~ log(income) * age, d, eps = 2, bounds = list(income = c(1e-9, 1e18), age = c(0, 1000)))
  expect_true(found[["log(income)", "lower"]] > 6 && found[["log(income)", "upper"]] < 18)
  half <- diff(found["log(income)", ]) / 2 * diff(found["age", ]) / 2
  expect_equal(unname(found["log(income):age", ]), c(-1, 1) * unname(half))
})

test_that("the look has a small part of the same budget, is told before it is charged, and planned", {
  d <- limited_data(20000)
  text <- capture_messages(fit <- dp_sosp(y ~ ., d, eps = 1, bounds = wide, progress = FALSE))
  expect_match(text, "finds the ranges of 3 numeric columns within the declared limits", all = FALSE)
  share <- function(fit) {
    ledger <- dp_ledger(fit)
    sum(ledger$rho[ledger$what == "ranges"]) / sum(ledger$rho)
  }
  expect_lt(share(fit), 0.01)
  half <- list(income = c(0, 1e8), age = c(0, 1000))
  text <- capture_messages(fit <- dp_sosp(y ~ ., d, eps = 1, bounds = half, progress = FALSE))
  expect_match(text, "3 numeric columns, 2 of them within declared limits", all = FALSE)
  taken <- function(n) {
    job <- list(n = n, rho = 0.02, neighbours = "replace-one", inference = "none", method = list(residuals = FALSE))
    dpsosp:::planned_ranges_share(job, 0L, 3L)
  }
  expect_equal(taken(500), 0)
  expect_equal(taken(10000) / taken(20000), 4)
})

test_that("octaves within limits without noise keep all that is worth its width", {
  counts <- dpsosp:::octave_breaks[-1] * 0
  put <- function(value, number) {
    at <- findInterval(value, dpsosp:::octave_breaks, left.open = TRUE)
    replace(counts, at, number)
  }
  read <- function(counts, limits) dpsosp:::read_limits(counts, limits, 0, 1000, 0.05)
  expect_equal(read(put(3, 1000), c(0, 100)), c(2, 4))
  expect_equal(read(put(-3, 1000), c(-100, 5)), c(-4, -2))
  expect_equal(read(put(3, 495) + put(6, 495) + put(60, 10), c(0, 64)), c(2, 8))
  expect_equal(read(put(3, 800) + put(60, 200), c(0, 64)), c(2, 64))
  expect_equal(read(put(90, 1000), c(85, 100)), c(85, 100))
})

test_that("sources look within limits as memory does, and those that are read once do not", {
  d <- limited_data(4000)
  limits <- list(income = c(0, 1e8), age = c(0, 1000), score = c(-50, 50))
  of <- function(data) {
    set.seed(1)
    ranges_of(y ~ ., data, eps = 3, bounds = limits, loss = "logistic")
  }
  chunks <- function() {
    i <- 0
    function() if ((i <<- i + 1) <= 4) d[(i - 1) * 1000 + 1:1000, ]
  }
  expect_equal(of(dp_source(chunks, n = 4000)), of(d))
})
