# Regression of counts by clipped residuals.

count_frame <- function(n = 6000, seed = 1, size = 2) {
  set.seed(seed)
  d <- data.frame(a = runif(n, 10, 30), b = rnorm(n), f = factor(sample(c("u", "v", "w"), n, TRUE)),
                  time = runif(n, 0.5, 8))
  d$rate <- exp(-1 + d$a / 20 - 0.4 * d$b + c(u = 0, v = 0.5, w = -0.3)[as.character(d$f)])
  d$y <- rnbinom(n, size = size, mu = 2 * d$rate)
  d$events <- rpois(n, d$time * d$rate)
  d
}
with_time <- list(a = c(10, 30), b = c(-5, 5), `offset(log(time))` = log(c(0.5, 8)))
ends <- list(a = c(10, 30), b = c(-5, 5))
d <- count_frame()
held_out <- count_frame(seed = 100)
counted <- function(data = d, loss = loss_poisson(100), eps = 1, formula = y ~ a + b + f, seed = 1, bounds = ends,
                    ...) {
  set.seed(seed)
  quiet_fit(formula, data, method = "auto", eps = eps, delta = 1e-6, loss = loss, bounds = bounds,
            noise = "reproducible", ...)
}
deviance_of <- function(y, mean) mean(2 * (ifelse(y > 0, y * log(y / mean), 0) - y + mean))
# Fraction of the deviance from the mean that is explained.
explained <- function(fit, data = held_out) {
  1 - deviance_of(data$y, predict(fit, data, type = "response")) / deviance_of(data$y, mean(data$y))
}
exact <- glm(y ~ a + b + f, poisson, d)
best <- explained(exact)

test_that("with a large budget a fit is near that of glm()", {
  few <- count_frame(size = 1e6)
  for (loss in list(loss_poisson(100), "poisson", loss_poisson(1e6))) {
    expect_equal(coef(counted(few, loss, 1e4)), coef(glm(y ~ a + b + f, poisson, few)), tolerance = 0.02)
    expect_gt(explained(counted(loss = loss, eps = 1e4)), best - 0.005)
  }
  x <- model.matrix(y ~ a + b + f, few)[, -1]
  x[, "a"] <- (x[, "a"] - 20) / 10
  set.seed(1)
  fit <- quiet_fit(x, few$y, method = "auto", eps = 1e4, delta = 1e-6, loss = "poisson", radius = 5,
                   noise = "reproducible")
  expect_equal(unname(coef(fit)), unname(coef(glm(few$y ~ x, poisson))), tolerance = 0.03)
})

test_that("offsets and subsets are those of glm()", {
  formula <- events ~ a + b + f + offset(log(time))
  for (eps in c(1e4, 3)) {
    fit <- counted(eps = eps, formula = formula, bounds = with_time)
    expect_equal(coef(fit), coef(glm(formula, poisson, d)), tolerance = 0.1)
  }
  fit <- counted(eps = 1e4, formula = formula, bounds = with_time)
  expect_equal(predict(fit, d[1:5, ], type = "response"), exp(predict(fit, d[1:5, ])))
  other <- transform(d, events = events * (1 + (time > 3)))
  part <- glm(events ~ a + b + f, poisson, other, subset = time > 3)
  fit <- counted(other, eps = 1e4, formula = events ~ a + b + f, subset = time > 3)
  expect_equal(coef(fit), coef(part), tolerance = 0.03)
  expect_equal(fit$level$present, mean(other$time > 3), tolerance = 0.01)
  x <- cbind(d$b, d$a / 10 - 2)
  set.seed(1)
  fit <- quiet_fit(x, d$events, method = "auto", eps = 1e4, delta = 1e-6, loss = "poisson", radius = 5,
                   offset = log(d$time), offset_range = log(c(0.5, 8)), noise = "reproducible")
  expect_equal(unname(coef(fit)), unname(coef(glm(d$events ~ x + offset(log(d$time)), poisson))), tolerance = 0.03)
})

test_that("the level of rates is that of the events over the time", {
  few <- count_frame(800)
  wrong <- vapply(1:8, function(seed) {
    fit <- counted(few, eps = 0.2, formula = events ~ a + b + f + offset(log(time)), bounds = with_time, seed = seed)
    coef(fit)[[1]] - log(sum(few$events) / sum(few$time))
  }, 0)
  expect_lt(abs(mean(wrong)), 0.6) # without the time it is 1.4
})

test_that("a fit costs its budget, in Gaussian releases", {
  fit <- counted()
  expect_equal(fit$method, "newton-ridge")
  expect_equal(fit$privacy$accountant, "gdp")
  ledger <- dp_ledger(fit)
  expect_equal(sum(ledger$rho), fit$privacy$rho, tolerance = 1e-9)
  spent <- tapply(ledger$rho, ledger$what, sum) / fit$privacy$rho
  level <- min(0.5, max(0.05, (50 / (nrow(d) * sqrt(2 * fit$privacy$rho)))^2))
  expect_equal(spent[["ranges"]], 0.6 * level, tolerance = 1e-9)
  expect_equal(spent[["response"]], 0.4 * level, tolerance = 1e-9)
  expect_equal(spent[["moments"]], 0.09, tolerance = 1e-9)
  expect_equal(spent[["recalibration"]], 0.05, tolerance = 1e-6)
  expect_equal(sum(ledger$what == "residual gradient"), 75)
  rate <- dp_ledger(counted(formula = events ~ a + b + f + offset(log(time)), bounds = with_time))
  expect_equal(sum(rate$what == "response"), 2)
  expect_equal(sum(rate$rho), fit$privacy$rho, tolerance = 1e-9)
})

test_that("the largest count hardly matters", {
  of <- function(max) mean(vapply(1:4, function(seed) explained(counted(loss = loss_poisson(max), seed = seed)), 0))
  found <- vapply(c(50, 1e3, 1e6), of, 0)
  expect_lt(diff(range(found)), 0.02)
  expect_gt(min(found), best - 0.03)
})

test_that("with much noise a fit is the level, about as good as the mean, and says so", {
  few <- count_frame(800)
  fits <- lapply(1:8, function(seed) counted(few, eps = 0.2, seed = seed))
  expect_gt(mean(vapply(fits, explained, 0)), -0.1)
  for (fit in fits) {
    expect_identical(fit$status, "noise")
    expect_true(all(coef(fit)[-1] == 0))
    expect_false("residual gradient" %in% fit$privacy$ledger$what)
    expect_equal(sum(fit$privacy$ledger$rho), fit$privacy$rho, tolerance = 1e-9)
  }
  said <- paste(capture.output(print(fit)), collapse = " ")
  expect_match(said, "it is the constant prediction, as the noise is too large for anything")
  said <- paste(capture.output(print(counted())), collapse = " ")
  expect_match(said, "explains about [0-9]+ % of the deviance")
})

test_that("print() says where counts were cut to find their level", {
  said <- function(counts, ...) {
    set.seed(1)
    d <- data.frame(a = runif(2000), n = counts)
    fit <- quiet_fit(n ~ a, d, eps = 1, delta = 1e-6, bounds = list(a = 0:1), loss = loss_poisson(...),
                     method = "auto", noise = "reproducible")
    gsub(" +", " ", paste(capture.output(print(fit)), collapse = " "))
  }
  rare <- rep(c(rep(0, 99), 30), 20)
  expect_match(said(rare), "its level is the mean of counts cut at 1, as no +larger ones +exceed")
  expect_match(said(rare, max = 40), "cut at 1,")
  expect_no_match(said(rep(0:8, length.out = 2000), max = 8), "cut at")
})

test_that("where columns say nothing a fit is rarely called better", {
  status <- vapply(1:20, function(seed) {
    none <- count_frame(3000, seed)
    none$y <- rpois(3000, 3)
    counted(none, seed = seed)$status
  }, "")
  expect_lte(sum(status != "noise"), 5) # of 20 with probability 0.05 each: once in 3,000 tests
})

test_that("records without a count or a predictor are as if they were not there", {
  broken <- count_frame(9000)
  broken$y[seq(1, 9000, 9)] <- c(NA, Inf, NaN, -Inf)
  broken$b[seq(2, 9000, 9)] <- NA
  kept <- broken[is.finite(broken$y) & !is.na(broken$b), ]
  fit <- counted(broken, eps = 1e4)
  expect_equal(fit$level$present, nrow(kept) / 9000, tolerance = 1e-2)
  expect_equal(coef(fit), coef(glm(y ~ a + b + f, poisson, kept)), tolerance = 0.05)
})

test_that("no data set causes an error or another message", {
  n <- 300
  said <- function(y, x = runif(n), eps = 1, loss = loss_poisson(20)) {
    data <- data.frame(x = x, z = rnorm(n), y = y)
    said_by({
      fit <- dp_sosp(y ~ x + z, data, eps = eps, delta = 1e-6, loss = loss, bounds = list(x = c(0, 1), z = c(-3, 3)),
                     geometry = geometry_public(c(0.5, 0), c(0.3, 1)), noise = "reproducible", progress = FALSE)
      expect_coefficients(fit, !any(is.finite(x + y)))
    })
  }
  cases <- list(none = rep(0, n), one = rep(1, n), two = rep(c(0, 20), n / 2), outside = rep(700, n),
                negative = rep(-5, n), missing = rep(NA_real_, n), huge = rep(c(-1e308, 1e308), n / 2),
                null = rep(Inf, n), fractions = runif(n))
  for (loss in list(loss_poisson(20), "poisson")) for (eps in long_values(c(0.05, 3, 1e4))) {
    usual <- said(rpois(n, 3), eps = eps, loss = loss)
    for (y in cases) expect_identical(said(y, eps = eps, loss = loss), usual)
  }
  for (x in c(0.5, NA)) expect_identical(said(rpois(n, 3), x = rep(x, n)), said(rpois(n, 3)))
  twice <- data.frame(a = d$a, b = d$a / 10, y = d$y)
  expect_true(all(is.finite(coef(counted(twice, formula = y ~ a + b)))))
})

test_that("counts are clipped to the bound, and predictions too", {
  fit <- counted(loss = loss_poisson(5), eps = 100)
  link <- predict(fit, held_out)
  expect_equal(predict(fit, held_out, type = "response"), pmin(exp(link), 5))
  expect_gt(max(exp(link)), 5)
  expect_identical(fit$loss$response, c(0, 5))
  expect_equal(coef(fit), coef(counted(transform(d, y = pmin(y, 5)), loss = loss_poisson(5), eps = 100)))
  expect_error(predict(fit, held_out, type = "class"), class = "dpsosp_error_argument")
})

test_that("what there is not is refused before anything is charged, and \"auto\" takes another method", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(..., text, formula = y ~ a + b + f, data = d, method = "newton-ridge", loss = "poisson") {
    expect_error(suppressMessages(dp_sosp(formula, data, budget = budget, loss = loss, bounds = ends, method = method,
                                          ...)), text, class = "dpsosp_error_argument")
    expect_equal(nrow(dp_ledger(budget)), 0)
  }
  source <- dp_source(in_chunks(d, 700), n = nrow(d))
  refused(penalty = penalty_ridge(0.1), text = "penalty")
  refused(formula = y ~ a + b - 1, text = "intercept")
  refused(start = numeric(5), text = "start")
  refused(target = sosp(alpha = 0.1), text = "target")
  refused(geometry = "none", text = "geometry")
  for (method in c("newton", "gd", "objpert")) refused(method = method, text = "loss_poisson\\(max\\)")
  refused(method = "auto", start = numeric(5), text = "loss_poisson\\(max\\)")
  expect_error(dp_oracle(as.matrix(d$b), d$y, "poisson", budget, 2), "loss_poisson", class = "dpsosp_error_argument")
  taken <- function(..., formula = y ~ a + b + f, data = d) {
    quiet_fit(formula, data, eps = 1, delta = 1e-6, loss = loss_poisson(50), bounds = ends, method = "auto", ...)$method
  }
  expect_identical(taken(), "newton-ridge")
  expect_identical(taken(data = source), "newton-ridge")
  expect_identical(taken(inference = "sandwich"), "newton-ridge")
  expect_identical(taken(weights = a / 30), "newton-ridge")
  expect_identical(taken(formula = y ~ 1), "newton-ridge")
  expect_identical(taken(formula = y ~ 0 + a), "newton")
  expect_identical(taken(start = numeric(5)), "newton")
  expect_identical(taken(penalty = penalty_ridge(0.1)), "newton")
  expect_identical(taken(geometry = "none"), "newton")
})

test_that("the clip of the level is where noisy octaves end", {
  clip <- function(counts, sd = 1e-3, top = 1000) dpsosp:::count_clip_at(list(counts = counts, sd = sd), top)
  none <- numeric(8)
  expect_identical(clip(c(0.9, 0.1, 0, none)), 1)
  expect_identical(clip(c(0.3, 0.2, 0.3, 0.2, none)), 4)
  expect_identical(clip(c(0.3, 0.2, 0.3, 0.1, 0.1, 0, 0), top = 7), 7)
  expect_identical(clip(c(1, 0, 0, none)), 1)
  expect_identical(clip(c(0.5, 0, 0, 0, 0, 0.5, none)), 16)
  # What one octave more needs is more, the farther it is.
  expect_identical(clip(c(0, 0, 1, 0.0021, none)), 4)
  expect_identical(clip(c(0, 0, 1, 0, 0.0021, none)), 2)
  expect_identical(clip(c(0.5, 0.5, none, none, 0.0045)), 1)
  expect_identical(clip(c(0.5, 0.5, none, none, 0.01), top = 1e6), 2^17)
  # Several octaves together may exceed the noise level where none does; the fullest one counts.
  expect_identical(clip(c(1, 0, 0, 0.0021, 0.0026, 0.0022, none)), 8)
  expect_identical(clip(c(1, 0, 0, 0, 0.0026, 0, none)), 1)
  expect_identical(clip(c(1, 0, 0, 0.0008, 0.0013, 0.0009, none)), 1)
})
