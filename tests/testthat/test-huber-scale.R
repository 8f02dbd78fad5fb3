# Huber's loss by residuals: "newton-ridge" clips them at a multiple of their released scale.

set.seed(1)
n <- 4000
d <- data.frame(a = runif(n, 10, 30), b = rnorm(n))
wild <- runif(n) < 0.1
d$y <- 50 + d$a - 3 * d$b + 4 * rnorm(n) + 40 * wild
ends <- list(a = c(10, 30), b = c(-5, 5))
robust <- function(loss = loss_huber(c(20, 140)), eps = 1, seed = 1, data = d, ...) {
  set.seed(seed)
  quiet_fit(y ~ a + b, data, method = "auto", eps = eps, delta = 1e-6, loss = loss, bounds = ends,
            noise = "reproducible", ...)
}
# The least mean Huber loss for this c, by iterated weights.
exact <- function(c, x = model.matrix(~ a + b, d), y = d$y) {
  w <- qr.coef(qr(x), y)
  for (i in 1:200) {
    weight <- pmin(1, c / abs(y - drop(x %*% w)))
    w <- drop(solve(crossprod(x, weight * x), crossprod(x, weight * y)))
  }
  w
}

test_that("with a large budget a fit is Huber's estimate at its c, not the mean", {
  losses <- list(loss_huber(c(20, 140)), "huber", loss_huber(k = 0.7), loss_huber(c = 4), loss_huber(c(20, 140), 12))
  for (loss in losses) {
    fit <- robust(loss, eps = 1e4)
    expect_equal(fit$method, "newton-ridge")
    expect_equal(coef(fit), exact(fit$loss$c), tolerance = 5e-3)
  }
  # Errors have the mean 4.
  expect_lt(abs(sum(coef(robust(eps = 1e4)) * c(1, 20, 0)) - 70), 1.5)
})

test_that("the mean, where the run starts, does not hold the level", {
  level <- function(w) sum(w * c(1, 20, 0))
  beyond <- vapply(1:4, function(seed) {
    fit <- robust(eps = 10, seed = seed)
    level(coef(fit)) - level(exact(fit$loss$c))
  }, 0)
  expect_lt(abs(mean(beyond)), 0.06)
})

test_that("c is k times the released scale, or as given", {
  scale <- function(fit) utils::tail(fit$trace$estimate[fit$trace$query == "residual counts"], 1) * fit$loss$half
  for (k in c(0.5, 3)) {
    fit <- robust(loss_huber(c(20, 140), k = k))
    expect_equal(fit$loss$c, k * scale(fit), tolerance = 1e-3)
    # that of the other residuals
    expect_equal(scale(fit), 4, tolerance = 0.1)
    expect_null(fit$loss$k)
  }
  expect_equal(robust()$loss$c / robust(loss_huber(c(20, 140), k = 1))$loss$c, 1.345, tolerance = 0.05)
  fit <- robust(loss_huber(c(20, 140), 6))
  expect_equal(fit$loss$c, 6)
  expect_output(print(fit), "huber (c = 6, response in [20, 140]) loss", fixed = TRUE)
})

test_that("gradients and the last correction have the noise of c", {
  for (loss in list(loss_huber(c(20, 140)), loss_huber(c(20, 140), 6), loss_huber(c(20, 140), k = 4))) {
    fit <- robust(loss)
    ledger <- dp_ledger(fit)
    last <- utils::tail(which(ledger$what == "residual gradient"), 1)
    c <- fit$loss$c / fit$loss$half
    expect_equal(ledger$sensitivity[last] * n / (2 * c * fit$geometry$cap), 1, tolerance = 1e-3)
    expect_equal(ledger$sensitivity[ledger$what == "recalibration"] * n / (2 * c), 1, tolerance = 1e-3)
    expect_equal(sum(ledger$rho), fit$privacy$rho, tolerance = 1e-9)
  }
})

test_that("predictions are near the location, also with loose bounds or none", {
  tame <- d[!wild, ]
  error <- function(loss) {
    mean(vapply(1:4, function(seed) {
      mean((predict(robust(loss, seed = seed), tame) - (50 + tame$a - 3 * tame$b))^2)
    }, 0))
  }
  # The mean is off by 4.
  for (loss in list(loss_huber(c(20, 140)), loss_huber(c(-520, 680)), loss_huber())) expect_lt(error(loss), 2)
})

test_that("the scale is that of the residuals without gross errors, and prediction intervals cover", {
  fit <- robust(eps = 2, inference = "sandwich")
  expect_gt(sigma(fit), 3.4)
  expect_lt(sigma(fit), 4.7)
  # The standard error of a fraction is 0.008; the noise of the counts is larger.
  for (level in c(0.5, 0.95)) {
    interval <- predict(fit, d, interval = "prediction", level = level)
    expect_lt(abs(mean(interval[, "lwr"] <= d$y & d$y <= interval[, "upr"]) - level), 0.07)
  }
})

test_that("a fit can be certified by its c, and evaluated", {
  fit <- robust(data = d[1:3000, ])
  certified <- suppressMessages(dp_certify(fit, d[3001:4000, ], eps = 5, delta = 1e-6))
  expect_true(is.finite(certified$gradient[["upper"]]))
  expect_true("r_squared" %in% dp_evaluate(fit, d[3001:4000, ], eps = 5, delta = 1e-6)$estimates$metric)
})

test_that("no data set causes an error or a warning", {
  fit <- function(y, loss) {
    data <- data.frame(a = runif(300, 10, 30), b = rnorm(300), y = y)
    robust(loss, data = data, eps = 0.1, geometry = geometry_public(c(20, 0), c(6, 1)))
  }
  cases <- list(rep(0.3, 300), rep(c(20, 140), 150), rep(7, 300), rep(NA_real_, 300), rep(c(-1e308, 1e308), 150))
  for (y in cases) {
    for (loss in list(loss_huber(c(20, 140)), loss_huber(c = 1e-9), loss_huber(c = 1e9))) {
      expect_true(all(is.finite(coef(fit(y, loss)))))
    }
  }
})

test_that("what follows from no released scale is refused before anything is charged", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(text, loss, ..., formula = y ~ a + b) {
    expect_error(suppressMessages(dp_sosp(formula, d, budget = budget, loss = loss, bounds = ends, ...)), text,
                 class = "dpsosp_error_argument")
    expect_equal(nrow(dp_ledger(budget)), 0)
  }
  for (method in c("newton", "gd", "objpert")) {
    refused("public bounds", loss_huber(), method = method)
    refused("scale of residuals", loss_huber(c(20, 140), k = 1), method = method)
  }
  refused("public bounds", "huber", penalty = penalty_ridge(0.1))
  refused("penalty", "huber", penalty = penalty_ridge(0.1), method = "newton-ridge")
  expect_error(dp_oracle(as.matrix(d[1:2]) / 100, d$y, "huber", budget, 2), "public bounds",
               class = "dpsosp_error_argument")
  given <- quiet_fit(y ~ a + b, d, method = "auto", eps = 1, loss = loss_huber(c(20, 140)), bounds = ends,
                     penalty = penalty_ridge(0.1))
  expect_equal(given$method, "newton")
  expect_equal(given$loss$c, 12)
})

test_that("a c that is too small for bounds that are found is no error after a charge", {
  set.seed(1)
  d <- data.frame(x = runif(3000), y = 1e6 * runif(3000))
  fit <- quiet_fit(y ~ 0 + x, d, method = "newton-ridge", eps = 1, delta = 1e-6, loss = loss_huber(c = 1),
                   bounds = list(x = c(0, 1)))
  expect_true(is.finite(coef(fit)))
  budget <- dp_budget(eps = 1, delta = 1e-6)
  declared <- loss_huber(c(0, 1e6), c = 500)
  expect_error(dp_sosp(y ~ 0 + x, d, budget = budget, loss = declared, bounds = list(x = c(0, 1))), "thousandth",
               class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("the loss of a fit through the origin has the map of its response", {
  set.seed(1)
  d <- data.frame(x = runif(3000), y = 90 + runif(3000, 0, 10))
  fit <- quiet_fit(y ~ 0 + x, d, method = "newton-ridge", eps = 5, delta = 1e-6, loss = loss_huber(c(90, 100)),
                   bounds = list(x = c(0, 1)))
  expect_equal(fit$loss[c("centre", "half")], fit$response[c("centre", "half")])
  expect_equal(fit$loss$parameter, fit$loss$c / 100)
})

test_that("a fit can have intervals later", {
  set.seed(1)
  d <- data.frame(x = runif(5000))
  d$y <- d$x + rnorm(5000)
  fit <- function(...) {
    quiet_fit(y ~ x, d, method = "auto", eps = 1e4, delta = 1e-6, loss = loss_huber(c(-5, 5)),
              bounds = list(x = c(0, 1)), ...)
  }
  later <- suppressMessages(dp_inference(fit(), d, eps = 1e4, delta = 1e-6))
  expect_equal(sqrt(diag(vcov(later))), sqrt(diag(vcov(fit(inference = "sandwich")))), tolerance = 0.05)
})
