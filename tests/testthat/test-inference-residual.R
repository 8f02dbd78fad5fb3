# Intervals of fits by residuals: squared error and counts; intervals of predictions of any fit; the scale of residuals.

frame <- function(n = 4000, seed = 1) {
  set.seed(seed)
  d <- data.frame(a = runif(n, 10, 30), b = runif(n, -3, 3), f = factor(sample(c("u", "v", "w"), n, TRUE)))
  f <- c(u = 0, v = 4, w = -2)[as.character(d$f)]
  d$y <- 50 + d$a - 3 * d$b + f + (1 + abs(d$b)) * rnorm(n)
  d$k <- rpois(n, exp(0.5 + d$a / 20 - 0.2 * d$b + f / 10))
  d
}
ends <- list(a = c(10, 30), b = c(-3, 3))
d <- frame()
response <- loss_squared(c(20, 120))
fitted <- function(data = d, eps = 1e8, formula = y ~ a + b + f, loss = response, inference = "sandwich", seed = 1,
                   bounds = ends, ...) {
  set.seed(seed)
  quiet_fit(formula, data, method = "auto", eps = eps, delta = 1e-6, loss = loss, bounds = bounds,
            inference = inference, noise = "reproducible", ...)
}
later <- function(fit, ..., eps = 1e8) {
  set.seed(2)
  suppressMessages(dp_inference(fit, ..., eps = eps, delta = 1e-6, noise = "reproducible"))
}
sandwich <- function(exact) {
  x <- model.matrix(exact)
  inverse <- solve(crossprod(x * sqrt(exact$family$mu.eta(exact$linear.predictors))))
  inverse %*% crossprod(x * residuals(exact, "response")) %*% inverse
}
exact <- glm(y ~ a + b + f, gaussian, d)
quiet <- fitted()

# ---- against the formulas without noise ----

test_that("with next to no noise they are lm()'s estimates and the sandwich", {
  added <- later(fitted(eps = 1, inference = "none"), d)
  for (fit in list(quiet, added, fitted(neighbours = "zero-out"))) {
    expect_equal(coef(fit), coef(exact), tolerance = 1e-4)
    expect_equal(vcov(fit), sandwich(exact), tolerance = 1e-2)
  }
  half <- qnorm(0.95) * sqrt(diag(sandwich(exact)))
  expect_equal(confint(quiet, level = 0.9)[, 2], coef(exact) + half, tolerance = 1e-3)
  x <- cbind(a = d$a / 10 - 2, b = d$b)
  set.seed(1)
  fit <- quiet_fit(x, d$y, method = "auto", eps = 1e8, delta = 1e-6, loss = response, radius = 5,
                   inference = "sandwich", noise = "reproducible")
  exact <- glm(d$y ~ x)
  expect_equal(unname(coef(fit)), unname(coef(exact)), tolerance = 1e-4)
  expect_equal(vcov(fit), sandwich(exact), tolerance = 1e-2, ignore_attr = TRUE)
  fit$inference <- NULL
  expect_equal(coef(later(fit, x, y = d$y)), coef(fit), tolerance = 1e-4)
})

test_that("rare levels and columns that are mostly zero have intervals that cover, as long rows weigh less", {
  z <- vapply(seq_len(long_size(40, 6)), function(seed) {
    set.seed(seed)
    n <- 15000
    d <- data.frame(a = rnorm(n), k = rbinom(n, 1, 0.03), m = rbinom(n, 1, 0.3),
                    f = factor(sample(c("u", "v", "w"), n, TRUE, c(0.5, 0.47, 0.03))))
    d$y <- 50 + d$a + 3 * d$k + 3 * (d$f == "w") + rnorm(n)
    fit <- fitted(d, eps = 1, formula = y ~ ., loss = "squared", bounds = list(k = 0:1, m = 0:1), seed = seed)
    (coef(fit) - coef(lm(y ~ ., d)))[c("k", "fw")] / sqrt(diag(vcov(fit)))[c("k", "fw")]
  }, numeric(2))
  expect_lt(mean(z^2, na.rm = TRUE), 1.6)
  expect_lt(max(abs(z), na.rm = TRUE), 3.5)
  expect_gt(mean(!is.na(z)), 0.5)
})

test_that("with a private range, too, where noise hides how long the rows of a rare value are", {
  z <- vapply(seq_len(long_size(40, 12)), function(seed) {
    set.seed(seed)
    n <- 15000
    d <- data.frame(a = rnorm(n), b = rnorm(n, 50, 8), f = factor(sample(letters[1:4], n, TRUE)))
    d$r <- as.numeric(runif(n) < 0.03)
    d$y <- 5 + 0.5 * d$a + d$r + rnorm(n)
    set.seed(seed + 1000)
    fit <- quiet_fit(y ~ ., d, method = "auto", eps = 1, delta = 1e-9, loss = "squared", inference = "sandwich",
                     bounds = "private", noise = "reproducible")
    (coef(fit)[["r"]] - coef(lm(y ~ ., d))[["r"]]) / sqrt(vcov(fit)["r", "r"])
  }, 0)
  expect_lt(mean(z^2, na.rm = TRUE), 1.25)
  expect_gt(mean(!is.na(z)), 0.7)
})

test_that("those of counts are near glm()'s", {
  exact <- glm(k ~ a + b + f, poisson, d)
  for (loss in list(loss_poisson(100), "poisson")) {
    fit <- fitted(formula = k ~ a + b + f, loss = loss)
    expect_lt(max(abs(coef(fit) - coef(exact)) / sqrt(diag(sandwich(exact)))), 0.3)
    expect_equal(sqrt(diag(vcov(fit))), sqrt(diag(sandwich(exact))), tolerance = 0.1)
    expect_equal(vcov(later(fitted(eps = 3, formula = k ~ a + b + f, loss = loss, inference = "none"), d)), vcov(fit),
                 tolerance = 0.2)
  }
  rate <- glm(k ~ a + b + f + offset(b / 2), poisson, d)
  fit <- fitted(formula = k ~ a + b + f + offset(b / 2), loss = loss_poisson(100),
                bounds = c(ends, list(`offset(b/2)` = c(-1.5, 1.5))))
  expect_lt(max(abs(coef(fit) - coef(rate)) / sqrt(diag(sandwich(rate)))), 0.5)
})

test_that("half of a prediction interval is the quantile of the absolute residuals, and the error of the mean", {
  fit <- quiet
  fit$inference$vcov[] <- 0
  residual <- abs(d$y - predict(fit, d))
  for (level in c(0.5, 0.8, 0.95)) {
    half <- predict(fit, d[1, ], interval = "prediction", level = level)[, "upr"] - predict(fit, d[1, ])
    expect_equal(half, quantile(residual, level), tolerance = 0.03, ignore_attr = TRUE)
  }
  noisy <- fitted(eps = 3)
  noisy$inference$vcov[] <- 0
  whole <- predict(noisy, d[1, ], interval = "prediction", level = 1 - 1e-6)
  expect_equal(whole[, "upr"] - whole[, "fit"], 100, ignore_attr = TRUE)
  whole <- predict(noisy, d[1, ], "response", interval = "prediction", level = 1 - 1e-6)
  expect_equal(whole[, 2:3], c(lwr = 20, upr = 120))
  z <- qnorm(0.9)
  both <- predict(quiet, d[1:5, ], interval = "prediction", level = 0.8, se.fit = TRUE)
  without <- predict(fit, d[1:5, ], interval = "prediction", level = 0.8)
  expect_equal((both$fit[, "upr"] - both$fit[, "fit"])^2, (without[, "upr"] - without[, "fit"])^2 + (z * both$se.fit)^2)
  expect_equal(both$fit[, "fit"], predict(quiet, d[1:5, ]))
})

test_that("where noise hides large residuals, prediction intervals are those of a t distribution", {
  fit <- quiet
  released <- function(last, sd, error = 0) {
    counts <- structure(c(1 - last, numeric(23), last), sd = sd)
    fit$inference$released <<- list(counts = counts, ends = 2^(-24:0 / 2), scale = c(sd = 0.1, error = error))
    fit$level$present <<- 1
    fit$response$half <<- 1
  }
  quantile_of <- function(level, scale = 0.1) scale / qt(0.84, 5) * qt((1 + level) / 2, 5)
  released(0, 0.5)
  for (level in c(0.8, 0.95, 0.99)) {
    expect_equal(dpsosp:::residual_quantile(fit, level), quantile_of(level), tolerance = 0.02)
  }
  released(0.1, 0.1) # noise, as large as the fraction that is asked for
  expect_lt(dpsosp:::residual_quantile(fit, 0.95), 0.4)
  released(-0.2, 0.04) # as is less than nothing
  expect_equal(dpsosp:::residual_quantile(fit, 0.95), quantile_of(0.95), tolerance = 0.02)
  released(0.1, 0.01)
  expect_equal(dpsosp:::residual_quantile(fit, 0.95), 1)
  released(0, 0.5, error = 0.4)
  beyond <- function(x) mean(2 * pt(-qt(0.84, 5) * x / (0.1 * exp(0.4 * qnorm(ppoints(1e4)))), 5))
  expect_equal(beyond(dpsosp:::residual_quantile(fit, 0.95)), 0.05, tolerance = 0.1)
  expect_gt(dpsosp:::residual_quantile(fit, 0.95), 1.1 * quantile_of(0.95))
})

test_that("sigma is where 68 % of the residuals are, and R-squared about that of lm()", {
  d <- transform(d, y = 50 + a - 3 * b + 4 * rnorm(4000))
  for (inference in c("none", "sandwich")) {
    fit <- fitted(d, eps = 100, formula = y ~ a + b, inference = inference)
    expect_equal(sigma(fit), 4, tolerance = 0.03)
    expect_equal(dpsosp:::explained_share(fit), summary(lm(y ~ a + b, d))$r.squared, tolerance = 0.03)
    expect_output(print(summary(fit)), "68 % are below sigma = [34]\\.[0-9]+\n")
    skip_if_not_installed("generics")
    expect_equal(generics::glance(fit)[c("sigma", "r.squared")],
                 data.frame(sigma = sigma(fit), r.squared = dpsosp:::explained_share(fit)))
  }
})

# ---- coverage ----

test_that("intervals cover, and those of predictions too", {
  truth <- c(50, 1, -3, 4, -2)
  other <- frame(seed = 99)
  # What clips may have moved counts as an error, so that intervals cover more often; how wide they are has a limit.
  inside <- vapply(1:40, function(seed) {
    d <- frame(5000, seed)
    fit <- fitted(d, eps = 3, seed = seed)
    error <- sqrt(diag(sandwich(glm(y ~ a + b + f, gaussian, d))))
    interval <- confint(fit, unresolved = "wide")
    range <- predict(fit, other, interval = "prediction", level = 0.9)
    c(interval[, 1] <= truth & truth <= interval[, 2], mean(range[, 2] <= other$y & other$y <= range[, 3]),
      stats::median(sqrt(diag(fit$inference$vcov)) / error))
  }, numeric(7))
  expect_gt(mean(inside[1:5, ]), 0.9)
  expect_lt(mean(inside[7, ]), 2.3)
  expect_equal(mean(inside[6, ]), 0.9, tolerance = 0.02)
})

# ---- charges ----

test_that("seven releases are paid for, in their proportions, out of three quarters of what there is", {
  fit <- fitted(eps = 2)
  ledger <- utils::head(utils::tail(dp_ledger(fit), 8), 7)
  expect_identical(ledger$what, c("row lengths", paste("residual", c("counts", "counts", "hessian", "gradient",
                                                                    "gradient", "products"))))
  expect_equal(ledger$rho, c(3, 3, 10, 26, 8, 44, 6) / 100 * sum(ledger$rho))
  expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
  run <- utils::head(dp_ledger(fit)[-(1:3), ], -1) # without the decrease from the level
  expect_equal(sum(ledger$rho) / sum(run$rho), 0.75, tolerance = 1e-6)
  reach <- fit$inference$released$clip
  hessian <- fit$inference$released$longest^2
  expect_equal(ledger$sensitivity, sqrt(2) * c(1, 1, 1, hessian, sqrt(2) * reach, sqrt(2) * reach, reach^2) / 4000,
               tolerance = 1e-5) # ends that are close together add to the rounding of counts
  first <- fitted(eps = 1, inference = "none")
  second <- later(first, d, eps = 2)
  expect_identical(nrow(dp_ledger(second)), nrow(dp_ledger(first)) + 7L)
  expect_equal(sum(second$inference$privacy$ledger$rho), second$inference$privacy$rho, tolerance = 1e-9)
  expect_identical(predict(second, d), predict(first, d))
})

test_that("no data set causes an error, a warning or another message", {
  n <- 200
  said <- function(y, eps, loss) {
    data <- data.frame(x = runif(n), z = rnorm(n), y = y)
    said_by({
      fit <- dp_sosp(y ~ x + z, data, eps = eps, delta = 1e-6, loss = loss, bounds = list(x = c(0, 1), z = c(-3, 3)),
                     geometry = geometry_public(c(0.5, 0), c(0.3, 1)), inference = "sandwich", noise = "reproducible",
                     progress = FALSE)
      expect_coefficients(fit, !any(is.finite(y)))
      expect_true(all(is.finite(fit$inference$vcov)))
      if (loss$name == "squared" && fit$status != "null") {
        expect_true(all(is.finite(predict(fit, data, interval = "prediction"))))
      }
    })
  }
  cases <- list(constant = rep(0.3, n), outside = rep(7, n), missing = rep(NA_real_, n),
                huge = rep(c(-1e308, 1e308), n / 2), null = rep(Inf, n))
  losses <- list(loss_squared(c(-1, 1)), loss_poisson(20), loss_poisson())
  for (eps in c(0.05, 3, 1e4)) for (loss in long_values(losses)) {
    usual <- said(rpois(n, 3), eps, loss)
    for (y in cases) expect_identical(said(y, eps, loss), usual)
  }
})

# ---- predictions of fits by other losses ----

test_that("confidence intervals and standard errors are about the coefficients that are shown", {
  set.seed(1)
  d$s <- runif(4000) < plogis(-1 + d$a / 20 + d$b / 2)
  fit <- quiet_fit(s ~ a + b, d, eps = 10, delta = 1e-6, bounds = ends, inference = "sandwich", noise = "reproducible")
  new <- d[1:5, ]
  x <- cbind(1, new$a, new$b)
  link <- drop(x %*% coef(fit))
  error <- sqrt(rowSums((x %*% vcov(fit)) * x))
  got <- predict(fit, new, interval = "confidence", level = 0.9, se.fit = TRUE)
  expect_identical(colnames(got$fit), c("fit", "lwr", "upr"))
  expect_equal(unname(got$fit), cbind(link, link - qnorm(0.95) * error, link + qnorm(0.95) * error), ignore_attr = TRUE)
  expect_equal(got$se.fit, error)
  chance <- predict(fit, new, "response", se.fit = TRUE, interval = "confidence", level = 0.9)
  expect_equal(chance$fit, plogis(got$fit))
  expect_equal(chance$se.fit, dlogis(link) * error)
  expect_equal(predict(fit, new, se.fit = TRUE)$fit, link)
  rate <- fitted(eps = 10, formula = k ~ a + b, loss = "poisson")
  got <- predict(rate, new, se.fit = TRUE, interval = "confidence")
  expect_equal(predict(rate, new, "response", se.fit = TRUE)$se.fit, exp(got$fit[, "fit"]) * got$se.fit,
               ignore_attr = TRUE)
  hidden <- fit
  hidden$inference$reason[["b"]] <- "not resolved"
  new$b[1] <- 0
  expect_identical(is.na(predict(hidden, new, se.fit = TRUE)$se.fit), c(FALSE, TRUE, TRUE, TRUE, TRUE))
  expect_true(is.na(predict(fit, transform(new, b = NA_real_), se.fit = TRUE)$se.fit[2]))
})

# ---- refusals ----

test_that("what there is not is refused, with the reason", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(code, text, class) {
    expect_error(suppressMessages(code), text, class = paste0("dpsosp_error_", class))
  }
  for (loss in list(response, loss_poisson(20))) {
    refused(dp_sosp(y ~ a, d, budget = budget, loss = loss, bounds = ends, inference = "model"),
            "would take the variance of the response for known", "inference")
    expect_equal(nrow(dp_ledger(budget)), 0)
  }
  fit <- fitted(eps = 1, inference = "none")
  refused(dp_inference(fit, d, eps = 1, delta = 1e-6, type = "model"), "variance of the response", "inference")
  refused(dp_sosp(y ~ 1, d, budget = budget, loss = response, inference = "sandwich"), "need columns", "inference")
  expect_equal(nrow(dp_ledger(budget)), 0)
  refused(predict(fit, d, interval = "prediction"), "dp_inference", "absent")
  refused(predict(fit, d, interval = "confidence"), "dp_inference", "absent")
  refused(predict(fit, d, se.fit = TRUE), "dp_inference", "absent")
  refused(predict(quiet, d, interval = "both"), "interval", "argument")
  refused(predict(quiet, d, interval = "prediction", level = 1), "level", "argument")
  rate <- fitted(eps = 1, formula = k ~ a, loss = "poisson")
  refused(predict(rate, d, interval = "prediction"), "by `loss_squared\\(\\)`", "absent")
  refused(sigma(rate), "by `loss_squared\\(\\)`|`loss_squared\\(\\)` do", "absent")
  set.seed(1)
  two <- quiet_fit(b > 0 ~ a, d, eps = 1, delta = 1e-6, bounds = ends, inference = "sandwich")
  refused(predict(two, d, type = "class", se.fit = TRUE), "\"link\" or \"response\"", "argument")
  refused(predict(two, d, interval = "prediction"), "logistic", "absent")
  refused(sigma(two), "logistic", "absent")
  flowers <- quiet_fit(Species ~ Sepal.Length, iris, method = "gd", eps = 1, delta = 1e-4,
                       bounds = list(Sepal.Length = c(4, 8)))
  refused(predict(flowers, iris, se.fit = TRUE), "one predictor", "several")
})

# ---- other data ----

# The sandwich of glm(), with weights, which multiply the records' gradients.
robust <- function(fit) {
  x <- stats::model.matrix(fit)
  v <- stats::weights(fit, "working")
  bread <- solve(crossprod(x * sqrt(v)))
  sqrt(diag(bread %*% crossprod(x * v * stats::residuals(fit, "working")) %*% bread))
}

test_that("weights, offsets, fits through the origin and sources have the intervals of glm()'s sandwich", {
  set.seed(8)
  data <- data.frame(x = runif(4000, -1, 1), o = runif(4000), w = runif(4000))
  data$y <- 3 * data$x + data$o + rnorm(4000) * ifelse(data$w > 0.5, 1, 3)
  loss <- loss_squared(c(-20, 20))
  agree <- function(formula, data, v = 1, source = data, ...) {
    data$v <- v
    exact <- stats::glm(formula, stats::gaussian(), data, weights = v)
    fit <- do.call(quiet_fit, list(formula, source, eps = 1e6, delta = 1e-6, loss = loss, method = "auto",
                                   bounds = list(x = c(-1, 1), o = c(0, 1)), inference = "sandwich", ...))
    expect_equal(coef(fit), coef(exact), tolerance = 2e-3)
    expect_equal(sqrt(diag(vcov(fit))), robust(exact), tolerance = 2e-2)
    fit
  }
  agree(y ~ x, data, data$w, weights = quote(w))
  agree(y ~ x + offset(o), data)
  agree(y ~ 0 + x + o, data)
  source <- dp_source(in_chunks(data, 900), n = nrow(data))
  fit <- agree(y ~ x, data, source = source)
  without <- quiet_fit(y ~ x, data, eps = 1e6, delta = 1e-6, loss = loss, method = "auto", bounds = list(x = c(-1, 1)))
  later <- suppressMessages(dp_inference(without, source, eps = 1e6, delta = 1e-6))
  expect_equal(sqrt(diag(vcov(later))), sqrt(diag(vcov(fit))), tolerance = 1e-2)
})

test_that("coefficients that are a Newton step from the constant prediction are not called it", {
  few <- frame(300)
  says <- function(fit) gsub(" +", " ", paste(capture.output(print(fit)), collapse = " "))
  fit <- fitted(few, eps = 0.02, inference = "none")
  expect_match(says(fit), "it is the constant prediction, as the noise is too large")
  constant <- coef(fit)[[1]]
  fit <- fitted(few, eps = 0.02)
  expect_false(coef(fit)[[1]] == constant)
  expect_no_match(says(fit), "it is the constant prediction")
  expect_match(says(fit), "the run ended at the constant prediction, as the noise is too large for anything else; the")
  fit$status <- "start"
  expect_match(says(fit), "as nothing better exceeded the noise; the coefficients are one Newton step from there")
})

test_that("rare counts, of which the counts of residuals see none, have estimates and intervals of the right size", {
  set.seed(5)
  x <- runif(2e5, -1, 1)
  rare <- data.frame(x, y = rpois(2e5, 0.002 * exp(0.8 * x)))
  for (eps in c(4, 1e3)) {
    fit <- quiet_fit(y ~ x, rare, eps = eps, delta = 1e-10, loss = loss_poisson(), method = "auto",
                     bounds = list(x = c(-1, 1)), inference = "sandwich", noise = "reproducible")
    expect_gte(fit$inference$released$clip, fit$level$event)
    expect_lt(max(abs(coef(fit) - c(log(0.002), 0.8)) / sqrt(diag(vcov(fit)))), 3.5)
    expect_lt(max(abs(prediction_coef(fit) - c(log(0.002), 0.8))), 0.5)
  }
})
