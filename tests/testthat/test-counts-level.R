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
