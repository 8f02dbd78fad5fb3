# How much better a fit is than the intercept-only model, against exact shares, and under permuted labels.

frame <- function(n, seed = 1, p = 4) {
  set.seed(seed)
  x <- matrix(runif(n * p, -1, 1), n, dimnames = list(NULL, paste0("x", seq_len(p))))
  t <- drop(x[, 1:4] %*% c(2, -1, 0.5, 0)) - 0.5
  d <- data.frame(x, z = t + rnorm(n), k = rpois(n, exp(t)))
  d$y <- factor(ifelse(t + rlogis(n) > 0, "yes", "no"))
  d$g <- factor(max.col(cbind(2 * t, -t, 0) - log(-log(matrix(runif(3 * n), n)))))
  d
}
bounds <- stats::setNames(rep(list(I(c(-1, 1))), 4), paste0("x", 1:4))
fit_of <- function(d, response = "y", eps = 3, ...) {
  formula <- stats::reformulate(paste0("x", 1:4), response)
  suppressWarnings(suppressMessages(dp_sosp(formula, d, eps = eps, bounds = bounds, noise = "reproducible",
                                            progress = FALSE, ...)))
}
explained <- function(fit) fit$checks$explained

# Of predictions on the scale of the response.
shares <- list(
  y = function(y, p) {
    entropy <- function(p) -mean(log(ifelse(y == "yes", p, 1 - p)))
    1 - entropy(p) / entropy(mean(y == "yes"))
  },
  z = function(z, m) 1 - mean((z - m)^2) / mean((z - mean(z))^2),
  k = function(k, m) {
    deviance <- function(m) mean(ifelse(k > 0, k * log(pmax(k, 1) / m), 0) - k + m)
    1 - deviance(m) / deviance(mean(k))
  },
  g = function(g, p) {
    q <- table(g) / length(g)
    1 - mean(log(p[cbind(seq_along(g), as.integer(g))])) / sum(q * log(q))
  }
)
exact <- function(fit, d, response = "y") shares[[response]](d[[response]], predict(fit, d, type = "response"))

test_that("each method says about which share of the deviance its fit explains", {
  d <- frame(8000)
  several <- c("newton-ridge", long_values(c("2opt-ls", "opt", "tr", "gd", "sgd", "newton", "damped-newton", "objpert",
                                             "outpert", "cubic", "blgd", "agd", "blsgd", "opt-b", "tr-b"), 1))
  for (method in several) {
    fit <- fit_of(d, method = method)
    off <- explained(fit)$fraction - exact(fit, d)
    expect_lt(abs(off), 4.5 * explained(fit)$sd + 0.02, label = method)
    expect_true(explained(fit)$better, label = method)
    expect_false(fit$status %in% c("noise", "start"), label = method)
    expect_lte(sum(dp_ledger(fit)$rho), fit$privacy$rho * (1 + 1e-9))
  }
  expect_equal(generics::glance(fit)$deviance.explained, explained(fit)$fraction)
  expect_equal(generics::glance(fit)$deviance.explained.sd, explained(fit)$sd)
})

test_that("and so does each loss, with weights, offsets and starts", {
  d <- frame(8000)
  runs <- list(list("z", loss = loss_squared(c(-8, 8))), list("z", loss = loss_huber(c(-8, 8))),
               list("z", loss = loss_huber(c(-8, 8), c = 4), method = "newton"), list("k", loss = "poisson"),
               list("k", loss = loss_poisson(20), method = "newton", eps = 30), list("g"), list("g", method = "newton"),
               list("y", start = c(-0.5, 1, 0, 0, 0), method = "newton-ridge"))
  for (run in runs) {
    fit <- do.call(fit_of, c(list(d), run))
    off <- explained(fit)$fraction - exact(fit, d, run[[1]])
    expect_lt(abs(off), 4.5 * explained(fit)$sd + 0.04, label = paste(run[[1]], fit$method, fit$loss$name))
    expect_true(explained(fit)$better)
  }
  half <- transform(d, w = 0.5 + 0.5 * (x4 > 0))
  expect_equal(explained(fit_of(half, method = "opt", weights = w))$fraction, 0.22, tolerance = 0.3)
})

test_that("a loss without a likelihood, and a response of two values, have the share of their own loss", {
  d <- frame(8000)
  fit <- fit_of(d, loss = "sigmoid")
  wrong <- function(t) mean(plogis(ifelse(d$y == "yes", -t, t)))
  own <- 1 - wrong(predict(fit, d)) / min(mean(d$y == "yes"), mean(d$y == "no"))
  expect_lt(abs(explained(fit)$fraction - own), 4.5 * explained(fit)$sd + 0.02)
  expect_match(paste(capture.output(print(fit)), collapse = " "), "of the mean loss")
})

test_that("a signal in a few of many columns is seen", {
  set.seed(1)
  n <- 2e4
  x <- matrix(rnorm(n * 100), n)
  d <- data.frame(y = factor(runif(n) < plogis(x %*% c(rnorm(10), rep(0, 90)) / 3)), x)
  fit <- suppressMessages(dp_sosp(y ~ ., d, eps = 1, noise = "reproducible"))
  expect_true(explained(fit)$better)
  expect_match(paste(capture.output(print(fit)), collapse = " "), "How good: explains about [0-9]+ % of the deviance")
})

test_that("permuted labels are rarely explained", {
  called <- function(response, ...) {
    sum(vapply(seq_len(long_size(40, 5)), function(seed) {
      d <- frame(1500, seed)
      d[[response]] <- sample(d[[response]])
      isTRUE(explained(fit_of(d, response, eps = 1, ...))$better)
    }, NA))
  }
  most <- stats::qbinom(1 - 1e-5, long_size(40, 5), 0.02)
  expect_lte(called("y"), most)
  expect_lte(called("y", method = "newton"), most)
  expect_lte(called("z", loss = loss_squared(c(-8, 8))), most)
})

test_that("a fit that did not leave its start has not converged", {
  fit <- suppressWarnings(suppressMessages(dp_sosp(cover ~ elevation + slope, covertype[1:4000, ], eps = 1,
                                                   method = "spider", noise = "reproducible")))
  expect_true(all(coef(fit) == 0))
  expect_identical(fit$status, "start")
  expect_no_match(paste(capture.output(print(fit)), collapse = " "), "converged|certified")
})

test_that("the fraction of a rare class is as precise as the budget allows, and not doubted beside a gain", {
  set.seed(1)
  n <- 2e4
  d <- data.frame(x = rnorm(n))
  d$y <- factor(runif(n) < plogis(-5 + 1.5 * d$x), labels = c("ok", "fraud"))
  fits <- lapply(c(1, 10), function(eps) {
    suppressMessages(dp_sosp(y ~ x, d, eps = eps, bounds = list(x = c(-4, 4)), noise = "reproducible"))
  })
  sd <- vapply(fits, function(fit) fit$checks$class$sd, 0)
  expect_lt(sd[2], sd[1] / 4)
  for (fit in fits) expect_lt(abs(fit$checks$class$fraction - mean(d$y == "fraud")), 4.5 * fit$checks$class$sd)
  said <- dpsosp:::class_text
  usable <- list(fraction = 1, sd = 0.01)
  checks <- list(class = list(fraction = 0.005, sd = 0.01), usable = usable, part = FALSE)
  expect_match(said(checks, list(labels = c("a", "b"))), "may be of one class only")
  expect_null(said(c(checks, list(explained = list(better = TRUE))), list(labels = c("a", "b"))))
})

test_that("intervals of decreases hold what is expected, and the deviance of counts has its exact value", {
  interval <- function(gain, noise) {
    dpsosp:::gain_interval(list(list(gain = gain, weight = rep(1 / length(gain), length(gain)))), noise)
  }
  gain <- c(-1, seq(-0.1, 0.2, length.out = 998), 3)
  expect_equal(interval(gain, 1e-6)$ends, c(1, 3))
  close <- interval(gain, 0.01)
  expect_true(all(close$ends < 0.3))
  expect_equal(close$clipped, c(1 - close$ends[1], 3 - close$ends[2]) / 1000, tolerance = 0.2)
  y <- 0:60
  deviance <- sum(dpois(y, 3) * (ifelse(y > 0, y * log(y / 3), 0) - y + 3))
  expect_equal(dpsosp:::count_null(3, 1 / 3), deviance / 3, tolerance = 0.02)
})

test_that("the variance of counts is found from octaves, also with large ones that these hide", {
  ends <- c(-1, 0, 2^(0:16))
  for (size in c(0.4, 2, 50)) {
    fractions <- diff(pnbinom(ends, mu = 40, size = size)) + 0.002 * rep(c(-1, 1), 9)
    expect_equal(dpsosp:::varies_by_octaves(fractions, 40), 1 / 40 + 1 / size, tolerance = 0.25)
  }
})

test_that("counts with an offset have the deviance of the model with the offset alone", {
  d <- frame(8000)
  d$o <- rnorm(8000)
  d$k <- rpois(8000, exp(0.6 * d$x1 + d$o))
  null <- glm(k ~ offset(o), poisson, d)
  exact <- 1 - glm(k ~ x1 + x2 + offset(o), poisson, d)$deviance / null$deviance
  for (method in c("newton-ridge", "newton")) {
    fit <- suppressWarnings(suppressMessages(
      dp_sosp(k ~ x1 + x2 + offset(o), d, eps = 10, loss = loss_poisson(200), method = method, progress = FALSE,
              bounds = c(bounds, list(o = c(-4, 4))), noise = "reproducible")
    ))
    expect_equal(explained(fit)$fraction, exact, tolerance = 0.35, label = method)
  }
})

test_that("the number is that of the coefficients that predictions use", {
  d <- frame(8000)
  for (method in c("newton-ridge", "newton")) {
    fit <- fit_of(d, method = method, inference = "sandwich")
    expect_lt(abs(explained(fit)$fraction - exact(fit, d)), 4.5 * explained(fit)$sd + 0.02, label = method)
  }
})

test_that("permuted counts that vary much more than a Poisson distribution are not explained", {
  set.seed(1)
  called <- vapply(seq_len(long_size(20, 6)), function(seed) {
    d <- data.frame(x = runif(3000, -1, 1), z = rexp(3000), k = rnbinom(3000, mu = 300, size = 0.2))
    fit <- suppressMessages(suppressWarnings(dp_sosp(k ~ ., d, eps = 1, loss = "poisson", progress = FALSE)))
    explained(fit)$better
  }, NA)
  expect_lte(sum(called), 1)
})

test_that("intervals, also later ones, show what the number alone has too much noise for", {
  d <- frame(6000)
  d$z <- d$z / 4 + rnorm(6000)
  set.seed(5)
  response <- loss_squared(c(-60, 60))
  before <- fit_of(d, "z", eps = 0.4, loss = response)
  expect_identical(before$status, "noise")
  after <- suppressMessages(dp_inference(before, d, eps = 2, noise = "reproducible"))
  for (fit in list(after, fit_of(d, "z", eps = 1, loss = response, inference = TRUE))) {
    expect_lt(explained(fit)$fraction, 2 * explained(fit)$sd)
    expect_lt(explained(fit)$wald, 1e-3)
    expect_true(explained(fit)$better)
    expect_identical(fit$status, "iterations")
    text <- gsub(" +", " ", paste(capture.output(print(fit)), collapse = " "))
    expect_match(text, "follows the predictors \\(Wald test, p [<=] [0-9e-]+\\); explains about [0-9.]+ % of the var")
  }
})

test_that("the p value is that of a Wald test of all coefficients, or of the clearest one", {
  inference <- list(coefficients = c(9, 1e-9, 1, 2e6), vcov = diag(c(1, 1e-18, 0.25, 1e12)),
                    reason = c(NA, NA, "no", NA))
  p <- dpsosp:::wald_any(inference, TRUE)
  expect_equal(p, 2 * min(pchisq(5, 2, lower.tail = FALSE), 2 * 2 * pnorm(-2)))
  inference$reason[] <- "no"
  expect_identical(dpsosp:::wald_any(inference, TRUE), NA_real_)
  told <- function(fraction, p) {
    inference <- list(coefficients = qnorm(p / 4), vcov = matrix(1), reason = NA)
    dpsosp:::told_by_intervals(list(fraction = fraction, sd = 0.1, better = FALSE), inference, list(intercept = FALSE))
  }
  expect_true(told(0.1, 1e-4)$better)
  expect_false(told(0.1, 0.05)$better)
  expect_false(told(-0.25, 1e-4)$better) # surely worse
})

# Shares of fits that are called better than the intercept-only model, whose response follows no column.
called <- function(respond, predictors, loss, seeds, ...) {
  better <- vapply(seq_len(seeds), function(seed) {
    set.seed(seed)
    d <- data.frame(predictors(15000))
    bounds <- lapply(d, range)
    d$z <- respond(15000)
    fit <- suppressWarnings(suppressMessages(dp_sosp(z ~ ., d, eps = 1, loss = loss, bounds = bounds, progress = FALSE,
                                                     noise = "reproducible", ...)))
    explained(fit)$better
  }, NA)
  sum(better)
}
rare <- function(n) matrix(rbinom(n * 5, 1, 0.03), n)

test_that("permuted responses are rarely followed, also by columns that are mostly zero", {
  expect_lte(called(stats::rnorm, rare, "squared", long_size(40, 8), inference = TRUE), 1)
})

test_that("and where few residuals are large", {
  responses <- list(exponential = stats::rexp, lognormal = function(n) exp(rnorm(n)))
  zeros <- function(n) matrix(rbinom(n * 4, 1, 0.1) * rexp(n * 4), n)
  for (name in names(responses)) {
    for (loss in c("squared", "huber")) {
      expect_lte(called(responses[[name]], rare, loss, long_size(40, 12)), long_size(2, 1), label = paste(name, loss))
    }
  }
  expect_lte(called(responses$lognormal, zeros, "squared", long_size(40, 8)), 1)
  expect_lte(called(function(n) rpois(n, exp(rnorm(n, 0, 1.3))), rare, "poisson", long_size(40, 8)), 2)
})

test_that("the share is not too high where few residuals are large", {
  off <- vapply(seq_len(long_size(12, 4)), function(seed) {
    d <- frame(15000, seed)
    d$z <- 2 * d$x1 - d$x2 + exp(rnorm(15000))
    fit <- fit_of(d, "z", eps = 1, loss = "squared")
    explained(fit)$fraction - exact(fit, d, "z")
  }, 0)
  expect_lt(mean(off), 0.1)
})
