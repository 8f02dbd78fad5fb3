# Fits by clipped residuals to records with weights and offsets, without columns and without an intercept.

frame <- function(n = 4000, seed = 1) {
  set.seed(seed)
  d <- data.frame(a = runif(n, 10, 30), b = rnorm(n), f = factor(sample(c("u", "v", "w"), n, TRUE)),
                  o = runif(n, 0, 40))
  d$w <- runif(n) * d$a / 30 # so that weighted columns have other moments
  d$y <- 50 + d$a - 3 * d$b + 0.1 * (d$a - 20)^2 + c(u = 0, v = 4, w = -2)[as.character(d$f)] + 4 * rnorm(n)
  d$z <- d$y + d$o
  d$k <- rpois(n, exp(-1 + d$a / 15 - 0.4 * d$b))
  d$events <- rpois(n, (1 + d$o / 10) * exp(-1 + d$a / 20 - 0.4 * d$b))
  d
}
d <- frame()
ends <- list(a = c(10, 30), b = c(-5, 5))
with_o <- c(ends, list(o = c(0, 40)))
fitted_by <- function(formula, loss = "squared", data = d, eps = 1e4, bounds = ends, seed = 1, ...) {
  set.seed(seed)
  quiet_fit(formula, data, method = "auto", eps = eps, delta = 1e-6, loss = loss, bounds = bounds,
            noise = "reproducible", ...)
}
matrix_by <- function(x, y, ..., eps = 1e4) {
  set.seed(1)
  quiet_fit(x, y, method = "auto", eps = eps, delta = 1e-6, radius = 5, noise = "reproducible", ...)
}

test_that("with a large budget weights and offsets are those of lm()", {
  near <- function(fit, exact) expect_equal(coef(fit), coef(exact), tolerance = 5e-3)
  whole <- lm(y ~ a + b + f, d)
  weighted <- lm(y ~ a + b + f, d, weights = w)
  expect_gt(max(abs(coef(whole) - coef(weighted))), 0.1)
  for (loss in list(loss_squared(c(20, 160)), "squared")) near(fitted_by(y ~ a + b + f, loss, weights = w), weighted)
  formula <- z ~ a + b + f + offset(o)
  for (loss in list(loss_squared(c(20, 200)), "squared")) {
    near(fitted_by(formula, loss, bounds = with_o), whole)
    near(fitted_by(formula, loss, bounds = with_o, weights = w, subset = o > 5),
         lm(formula, d, weights = w, subset = o > 5))
  }
  fit <- fitted_by(formula, bounds = with_o)
  rows <- model.matrix(~ a + b + f, d)[1:3, ]
  expect_equal(predict(fit, d[1:3, ]), drop(rows %*% coef(fit)) + d$o[1:3], ignore_attr = TRUE)
  x <- cbind(d$b, d$a / 10 - 2)
  fit <- matrix_by(x, d$z, loss = "squared", offset = d$o, offset_range = c(0, 40), weights = d$w)
  expect_equal(unname(coef(fit)), unname(coef(lm(d$y ~ x, weights = d$w))), tolerance = 5e-3)
})

test_that("with a large budget weights are those of glm()", {
  near <- function(fit, exact) expect_equal(coef(fit), coef(exact), tolerance = 0.03)
  near(fitted_by(k ~ a + b + f, "poisson", weights = w), glm(k ~ a + b + f, poisson, d, weights = w))
  ranges <- c(ends, list(`offset(log(1 + o/10))` = log(c(1, 5))))
  formula <- events ~ a + b + f + offset(log(1 + o / 10))
  other <- transform(d, events = events * (1 + (a > 25))) # so that the weighted rate differs
  fit <- fitted_by(formula, "poisson", other, bounds = ranges, weights = w)
  near(fit, glm(formula, poisson, other, weights = w))
  rate <- function(v) sum(v * other$events) / sum(v * (1 + d$o / 10))
  expect_equal(exp(fit$level$start), rate(d$w), tolerance = 2e-3)
  expect_gt(rate(d$w) / rate(1), 1.02)
})

test_that("records of weight zero, or without a valid one, are as if they were not there, and small weights count", {
  odd <- frame(9000)
  odd$w[seq(1, 9000, 7)] <- rep_len(c(0, NA, -1, 2, Inf), length(seq(1, 9000, 7)))
  odd$y[seq(1, 9000, 7)] <- 1e6
  kept <- odd[-seq(1, 9000, 7), ]
  fit <- fitted_by(y ~ a + b, data = odd, weights = w)
  expect_equal(coef(fit), coef(lm(y ~ a + b, kept, weights = w)), tolerance = 5e-3)
  expect_equal(fit$level$present, sum(kept$w) / 9000, tolerance = 1e-3)
  expect_equal(fit$checks$usable$fraction, nrow(kept) / 9000, tolerance = 1e-3)
  small <- transform(kept, w = w / 40) # less than 0.01 of a record each
  fit <- fitted_by(y ~ a + b, data = small, eps = 1e7, weights = w)
  expect_equal(fit$level$present / mean(small$w), 1, tolerance = 1e-2)
  expect_equal(coef(fit), coef(lm(y ~ a + b, small, weights = w)), tolerance = 0.05)
})

test_that("half weights have the noise that half of the records would have", {
  x <- lapply(c(1, 0.5), function(weight) fitted_by(y ~ a + b, eps = 2, data = transform(d, w = weight), weights = w))
  # The level has the part of the budget that half of the records would give it.
  share <- vapply(x, function(fit) dp_ledger(fit)$rho[dp_ledger(fit)$what == "response"] / fit$privacy$rho, 0)
  relative <- vapply(x, function(fit) fit$level$noise * fit$level$present, 0) * sqrt(share)
  expect_equal(relative[2], relative[1], tolerance = 1e-6)
  expect_equal(x[[2]]$level$present, 0.5, tolerance = 0.05)
  expect_identical(dp_ledger(x[[1]])$what, dp_ledger(x[[2]])$what)
})

test_that("a fit without columns is its level, for all of the budget", {
  for (eps in c(1e4, 2)) {
    near <- function(fit, exact, tolerance) {
      expect_equal(unname(coef(fit)), exact, tolerance = tolerance)
      expect_equal(sum(fit$privacy$ledger$rho), fit$privacy$rho, tolerance = 1e-9)
      expect_false("unused" %in% fit$privacy$ledger$what)
    }
    some <- if (eps > 100) 1e-3 else 0.01
    for (loss in list(loss_squared(c(20, 160)), loss_squared(c(-1e4, 1e4)), "squared")) {
      near(fitted_by(y ~ 1, loss, eps = eps, bounds = list()), mean(d$y), some)
    }
    near(fitted_by(y ~ 1, eps = eps, bounds = list(), weights = w), weighted.mean(d$y, d$w), some)
    near(fitted_by(z ~ 1 + offset(o), eps = eps, bounds = with_o["o"]), mean(d$y), some)
    near(fitted_by(k ~ 1, "poisson", eps = eps, bounds = list()), log(mean(d$k)), 0.05)
  }
  said <- paste(capture.output(print(fitted_by(y ~ 1, bounds = list()))), collapse = " ")
  expect_match(said, "it is the constant prediction, as there are no columns")
  expect_coefficients(fitted_by(y ~ 1, bounds = list(), data = transform(d, y = NA_real_)))
  expect_true(is.finite(coef(fitted_by(y ~ 1, loss_squared(c(7, 9)), data = transform(d, y = 9), bounds = list()))))
})

test_that("without an intercept a fit is that of lm() through the origin", {
  d$v <- 2 * d$a - 3 * d$b + 4 * rnorm(nrow(d))
  exact <- function(formula) coef(lm(formula, d))
  for (loss in list(loss_squared(c(-20, 90)), "squared")) {
    expect_equal(coef(fitted_by(v ~ 0 + a + b, loss, d)), exact(v ~ 0 + a + b), tolerance = 5e-3)
    expect_equal(coef(fitted_by(v ~ 0 + a + b, loss, d, eps = 1)), exact(v ~ 0 + a + b), tolerance = 0.05)
  }
  expect_equal(coef(fitted_by(y ~ 0 + a + b + f, data = d)), exact(y ~ 0 + a + b + f), tolerance = 0.01)
  d$v <- d$v + d$o
  expect_equal(coef(fitted_by(v ~ 0 + a + b + offset(o), data = d, bounds = with_o, weights = w)),
               coef(lm(v ~ 0 + a + b + offset(o), d, weights = w)), tolerance = 0.01)
  few <- fitted_by(y ~ 0 + a + b + f, data = frame(500), eps = 0.5)
  expect_false("recalibration" %in% dp_ledger(few)$what)
  expect_equal(sum(few$privacy$ledger$rho), few$privacy$rho, tolerance = 1e-9)
  expect_false(any(grepl("constant prediction", capture.output(print(few)))))
})

test_that("no records cause an error, a warning or another message", {
  n <- 300
  said <- function(formula, loss, eps, y = rnorm(n), w = runif(n), o = runif(n)) {
    data <- data.frame(x = runif(n), y = y, w = w, o = o)
    said <- said_by({
      fit <- dp_sosp(formula, data, eps = eps, delta = 1e-6, loss = loss, weights = w,
                     bounds = list(x = c(0, 1), o = c(-1, 1)), noise = "reproducible", progress = FALSE)
      used <- is.finite(y + w + o) & w >= 0 & w <= 1
      expect_coefficients(fit, sum(w[used]) < 1e-9)
    })
    list(said = said, ended = fit$status == "null")
  }
  odd <- list(zero = numeric(n), one = rep(1, n), tiny = rep(1e-300, n), missing = rep(NA_real_, n),
              outside = rep(c(-1, 2, Inf, 0.5), n / 4))
  losses <- list(loss_squared(c(-1, 1)), "squared", "poisson")
  for (loss in losses) for (eps in c(0.05, 1e4)) {
    bounds_of <- if (is.list(loss)) y ~ x + offset(o) else y ~ x
    usual <- list(w = said(bounds_of, loss, eps), o = said(y ~ x + offset(o), loss, eps),
                  y = said(y ~ 1 + offset(o), loss, eps))
    for (values in long_values(odd, length(odd))) {
      expect_said(said(bounds_of, loss, eps, w = values), usual$w)
      expect_said(said(y ~ x + offset(o), loss, eps, o = values * 10), usual$o)
      expect_said(said(y ~ 1 + offset(o), loss, eps, y = 1e3 * values), usual$y)
    }
    if (!identical(loss, "poisson")) {
      expect_said(said(y ~ 0 + x, loss, eps, y = odd$missing), said(y ~ 0 + x, loss, eps))
    }
  }
})

test_that("what there is not is refused before anything is charged", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(formula, text, ..., method = "newton-ridge") {
    expect_error(suppressMessages(dp_sosp(formula, d, budget = budget, method = method, bounds = ends, ...)), text,
                 class = "dpsosp_error_argument")
    expect_equal(nrow(dp_ledger(budget)), 0)
  }
  share <- control_newton_ridge(matrix_share = 0.61)
  for (loss in c("squared", "poisson")) refused(k ~ a, "at most 0.6", loss = loss, control = share)
  refused(k ~ 0 + a, "intercept", loss = "poisson")
  refused(y ~ a, "second derivative", loss = "poisson", method = "2opt-ls")
  refused(y ~ a, "newton-ridge", loss = "poisson", method = "newton")
  most <- control_newton_ridge(matrix_share = 0.6)
  for (n in c(40, 4000)) for (loss in c("squared", "poisson")) {
    fit <- quiet_fit(k ~ a, d[1:n, ], eps = 1, delta = 1e-6, loss = loss, control = most, method = "newton-ridge",
                     bounds = ends["a"])
    expect_true(all(is.finite(coef(fit))))
  }
})
