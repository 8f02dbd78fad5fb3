# The level of counts, from which a run starts and below which its mean prediction does not fall.
events <- function(n = 4000, seed = 1) {
  set.seed(seed)
  d <- data.frame(a = runif(n, -1, 1), time = exp(runif(n, 0, 3)))
  d$y <- rpois(n, d$time * exp(-1 + d$a / 2))
  d
}
d <- events()
level <- function(data = d, formula = y ~ a + offset(log(time)), eps = 1e4, loss = "poisson", bounds = c(0, 3),
                  seed = 1, ..., ranges = list(a = c(-1, 1), `offset(log(time))` = bounds)) {
  set.seed(seed)
  quiet_fit(formula, data, method = "auto", eps = eps, delta = 1e-6, loss = loss, bounds = ranges,
            noise = "reproducible", ...)
}

test_that("the level is of the records with a response, and so is their exposure", {
  long <- d$time > 5
  for (data in list(transform(d, y = ifelse(long, NA, y)), transform(d, y = ifelse(long, Inf, y)))) {
    expect_equal(level(data)$level$start, log(sum(d$y[!long]) / sum(d$time[!long])), tolerance = 0.01)
  }
  part <- level(subset = time <= 5)
  expect_equal(part$level$start, log(sum(d$y[!long]) / sum(d$time[!long])), tolerance = 0.01)
  expect_equal(coef(part), coef(glm(y ~ a + offset(log(time)), poisson, d, subset = !long)), tolerance = 0.03)
})

test_that("several offsets add, and their bounds may be large", {
  start <- log(sum(d$y) / sum(d$time))
  two <- list(a = c(-1, 1), `offset(log(time)/2)` = c(0, 1.5), `offset(log(time)/3)` = c(0, 1),
              `offset(log(time)/6)` = c(0, 0.5))
  formula <- y ~ a + offset(log(time) / 2) + offset(log(time) / 3) + offset(log(time) / 6)
  expect_equal(level(formula = formula, ranges = two)$level$start, start, tolerance = 0.01)
  expect_true(all(is.finite(coef(level(bounds = c(0, 2000), eps = 1)))))
})

test_that("counts of at most two have a level", {
  for (max in c(1, 1.5, 2, 2.5, 4)) {
    fit <- level(transform(d, y = pmin(y, max)), y ~ a, loss = loss_poisson(max), ranges = list(a = c(-1, 1)))
    expect_equal(fit$level$start, log(mean(pmin(d$y, max))), tolerance = 0.02)
  }
})

test_that("little data give a small level, not a random octave", {
  few <- events(60)
  mean <- vapply(1:20, function(seed) {
    exp(level(few, y ~ a, eps = 0.1, seed = seed, ranges = list(a = c(-1, 1)))$level$start)
  }, 0)
  expect_lt(max(mean), 50)
})

rare_and_large <- function(n) {
  set.seed(3)
  data.frame(a = runif(n, -1, 1), y = rbinom(n, 1, 0.08) * rpois(n, 12))
}

test_that("where zeros alone seem to be there, the octaves are released again, at a larger part of the budget", {
  counted <- function(data, ...) {
    fit <- level(data, y ~ a, ranges = list(a = c(-1, 1)), ...)
    expect_lte(sum(dp_ledger(fit)$rho), fit$privacy$rho * (1 + 1e-9))
    sum(dp_ledger(fit)$what == "ranges")
  }
  zeros <- transform(d[1:2000, ], y = 0)
  expect_identical(counted(zeros, eps = 1), counted(d[1:2000, ], eps = 1) + 1L)
  fit <- level(zeros, y ~ a, ranges = list(a = c(-1, 1)), eps = 1)
  precise <- 2000 * sqrt(2 * fit$privacy$rho)
  first <- max((50 / precise)^2, 0.05)
  expect_equal(dp_ledger(fit)$rho[dp_ledger(fit)$what == "ranges"] / fit$privacy$rho,
               0.6 * c(first, min((300 / precise)^2, 0.5) - first), tolerance = 1e-6)
  # Where the level has enough at once, and where it has all, they are not.
  expect_identical(counted(zeros, eps = 200), counted(d[1:2000, ], eps = 200))
  expect_identical(counted(zeros, eps = 0.1), counted(d[1:2000, ], eps = 0.1))
})

test_that("two releases of octaves are one of less noise", {
  pooled <- dpsosp:::pooled_counts(list(counts = c(0.5, 0.1), sd = 0.1), list(counts = c(0.6, 0), sd = 0.05))
  expect_equal(pooled, list(counts = c(0.58, 0.02), sd = 1 / sqrt(1 / 0.1^2 + 1 / 0.05^2)))
})

test_that("a few large counts among zeros are most of the level, and are found", {
  data <- rare_and_large(2000)
  means <- vapply(1:12, function(seed) {
    exp(level(data, y ~ a, eps = 1, seed = seed, ranges = list(a = c(-1, 1)))$level$start)
  }, 0)
  # With one look at the octaves most of the levels are below a third of the mean.
  expect_lt(median(abs(log(means / mean(data$y)))), 0.25)
  expect_gte(sum(means > mean(data$y) / 3), 10)
})

test_that("the mean of skewed counts is not below their level", {
  set.seed(2)
  zeros <- data.frame(a = d$a, y = rbinom(4000, 1, 0.1) * rpois(4000, 20))
  for (eps in c(5, 50)) {
    fit <- level(zeros, y ~ a, eps = eps, ranges = list(a = c(-1, 1)))
    expect_gt(mean(predict(fit, zeros, type = "response")) / mean(zeros$y), 0.8)
  }
})

test_that("with few records for the budget the level is all that is found", {
  fit <- level(d[1:2000, ], y ~ a, eps = 0.15, ranges = list(a = c(-1, 1)))
  expect_equal(coef(fit)[["a"]], 0)
  expect_equal(fit$status, "noise")
  expect_false(coef(level(d, y ~ a, eps = 0.2, ranges = list(a = c(-1, 1))))[["a"]] == 0)
})
