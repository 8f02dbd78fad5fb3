# Linear regression by squared error.

frame <- function(n = 4000, seed = 1, noise = rnorm) {
  set.seed(seed)
  d <- data.frame(a = runif(n, 10, 30), b = rnorm(n), f = factor(sample(c("u", "v", "w"), n, TRUE)))
  d$y <- 50 + d$a - 3 * d$b + c(u = 0, v = 4, w = -2)[as.character(d$f)] + 4 * noise(n)
  d
}
ends <- list(a = c(10, 30), b = c(-5, 5))
d <- frame()
squared <- function(data = d, loss = loss_squared(c(20, 120)), eps = 1, bounds = ends, formula = y ~ a + b + f,
                    seed = 1, ...) {
  set.seed(seed)
  quiet_fit(formula, data, method = "auto", eps = eps, delta = 1e-6, loss = loss, bounds = bounds,
            noise = "reproducible", ...)
}
r2 <- function(fit, data) {
  1 - mean((data$y - predict(fit, data, type = "response"))^2) / mean((data$y - mean(data$y))^2)
}
held_out <- frame(seed = 100)
best <- r2(lm(y ~ a + b + f, d), held_out)

test_that("with a large budget a fit is that of lm()", {
  exact <- coef(lm(y ~ a + b + f, d))
  for (loss in list(loss_squared(c(20, 120)), "squared")) {
    fit <- squared(loss = loss, eps = 1e4)
    expect_equal(coef(fit), exact, tolerance = 2e-3)
  }
  x <- model.matrix(y ~ a + b + f, d)[, -1]
  x[, "a"] <- (x[, "a"] - 20) / 10
  set.seed(1)
  fit <- quiet_fit(x, d$y, method = "auto", eps = 1e4, delta = 1e-6, loss = loss_squared(c(20, 120)), radius = 5,
                   noise = "reproducible")
  expect_equal(unname(coef(fit)), unname(coef(lm(d$y ~ x))), tolerance = 2e-3)
})

test_that("a fit costs its budget, in Gaussian releases", {
  fit <- squared()
  expect_equal(fit$method, "newton-ridge")
  expect_true(fit$auto)
  expect_equal(fit$privacy$accountant, "gdp")
  ledger <- dp_ledger(fit)
  expect_equal(sum(ledger$rho), fit$privacy$rho, tolerance = 1e-9)
  spent <- tapply(ledger$rho, ledger$what, sum) / fit$privacy$rho
  expect_equal(spent[["response"]], 0.02, tolerance = 1e-9)
  expect_equal(spent[["moments"]], 0.09, tolerance = 1e-9)
  expect_equal(spent[["weighted matrix"]], 0.06, tolerance = 1e-6)
  expect_equal(spent[["residual counts"]], 0.06, tolerance = 1e-6)
  expect_equal(spent[["recalibration"]], 0.05, tolerance = 1e-6)
  expect_equal(fit$iterations[["done"]], 75)
  expect_equal(sum(ledger$what == "residual gradient"), 75)
  expect_output(print(summary(fit)), "75 gradients of clipped residuals, 4 counts of residuals", fixed = TRUE)
  expect_output(print(fit), "squared (response in [20, 120]) loss", fixed = TRUE)
})

test_that("zero-out has half the noise of gradients", {
  sds <- vapply(c("replace-one", "zero-out"), function(neighbours) {
    fit <- squared(neighbours = neighbours)
    first <- fit$trace[fit$trace$query == "residual gradient", ][1, ]
    first$sd / fit$trace$estimate[fit$trace$query == "residual counts"][1]
  }, 0)
  expect_equal(sds[[2]] / sds[[1]], 1 / 2, tolerance = 0.2)
})

test_that("predictions are near those of lm(), also with loose bounds or none", {
  of <- function(loss) mean(vapply(1:4, function(seed) r2(squared(loss = loss, seed = seed), held_out), 0))
  expect_gt(of(loss_squared(c(20, 120))), best - 0.01)
  expect_gt(of("squared"), best - 0.01)
  for (factor in c(10, 100)) expect_gt(of(loss_squared(70 + factor * c(-50, 50))), best - 0.03)
})

test_that("with much noise a fit is not worse than the level", {
  few <- frame(1000)
  scores <- vapply(1:6, function(seed) r2(squared(few, eps = 0.2, seed = seed), held_out), 0)
  expect_gt(mean(scores), 0)
})

test_that("records without a response or a predictor are as if they were not there", {
  broken <- frame(9000)
  broken$y[seq(1, 9000, 9)] <- c(NA, Inf, NaN, -Inf)
  broken$b[seq(2, 9000, 9)] <- NA
  kept <- broken[is.finite(broken$y) & !is.na(broken$b), ]
  fit <- squared(broken, eps = 1e4)
  expect_equal(coef(fit), coef(lm(y ~ a + b + f, kept)), tolerance = 5e-3)
})

test_that("a subset is that of lm(), although its columns have other means", {
  fit <- squared(eps = 1e4, subset = a > 20 & b < 1)
  expect_equal(coef(fit), coef(lm(y ~ a + b + f, d, subset = a > 20 & b < 1)), tolerance = 5e-3)
})

test_that("the level is that of the records with a response, however few they are", {
  few <- frame(9000)
  few$y[-seq(1, 9000, 5)] <- NA
  for (seed in 1:2) expect_gt(r2(squared(few, loss_squared(c(20, 300)), seed = seed), held_out), best - 0.05)
})

test_that("no data set causes an error, a warning or another message", {
  n <- 300
  said <- function(y, x = runif(n), eps = 1, loss = loss_squared(c(-1, 1))) {
    data <- data.frame(x = x, z = rnorm(n), y = y)
    said_by({
      fit <- dp_sosp(y ~ x + z, data, eps = eps, delta = 1e-6, loss = loss, bounds = list(x = c(0, 1), z = c(-3, 3)),
                     geometry = geometry_public(c(0.5, 0), c(0.3, 1)), noise = "reproducible", progress = FALSE)
      expect_coefficients(fit, !any(is.finite(x + y)))
    })
  }
  cases <- list(constant = rep(0.3, n), two = rep(c(-1, 1), n / 2), outside = rep(7, n), missing = rep(NA_real_, n),
                whole = rep(c(-1, 0, 1), n / 3), huge = rep(c(-1e308, 1e308), n / 2), null = rep(Inf, n))
  for (loss in list(loss_squared(c(-1, 1)), "squared")) for (eps in c(0.05, 1e4)) {
    usual <- said(rnorm(n), eps = eps, loss = loss)
    for (y in cases) expect_identical(said(y, eps = eps, loss = loss), usual)
  }
  expect_identical(said(rnorm(n), x = rep(0.5, n)), said(rnorm(n)))
  few <- data.frame(matrix(runif(20 * 40), 20), y = rnorm(20))
  columns <- stats::setNames(rep(list(0:1), 40), names(few)[1:40])
  expect_true(all(is.finite(coef(squared(few, loss_squared(c(-3, 3)), 0.1, columns, y ~ .)))))
  twice <- data.frame(x = d$a, z = d$a, y = d$y)
  expect_true(all(is.finite(coef(squared(twice, bounds = list(x = ends$a, z = ends$a), formula = y ~ x + z)))))
})

test_that("responses are clipped to the bounds, and predictions too", {
  fit <- squared(loss = loss_squared(c(60, 80)))
  link <- predict(fit, held_out)
  response <- predict(fit, held_out, type = "response")
  expect_equal(response, pmin(pmax(link, 60), 80))
  expect_gt(max(link), 80)
  expect_error(predict(fit, held_out, type = "class"), class = "dpsosp_error_argument")
})

test_that("what it does not have is refused before anything is charged", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(..., text = NULL, formula = y ~ a + b + f, data = d, loss = loss_squared(c(20, 120))) {
    expect_error(suppressMessages(dp_sosp(formula, data, budget = budget, loss = loss, bounds = ends, ...)), text,
                 class = "dpsosp_error_argument")
    expect_equal(nrow(dp_ledger(budget)), 0)
  }
  for (method in c("newton", "gd", "sgd", "objpert", "2opt-ls", "spider")) refused(method = method, text = "slope")
  refused(penalty = penalty_ridge(0.1), text = "penalty")
  refused(start = numeric(5), text = "leave out `start`")
  for (loss in c("squared", "huber")) {
    refused(start = numeric(5), loss = loss, method = "newton-ridge", text = "leave out `start`")
  }
  refused(target = sosp(alpha = 0.1), text = "target")
  refused(geometry = "none", text = "geometry")
  refused(loss = loss_squared(c(20, 120)), formula = f ~ a)
  expect_error(loss_squared(c(2, 1)), class = "dpsosp_error_argument")
  expect_error(dp_oracle(as.matrix(d$b), d$y, "squared", budget, 2), "slope", class = "dpsosp_error_argument")
  expect_error(squared(certificate = "population"), "slope", class = "dpsosp_error_argument")
  fit <- squared()
  expect_error(dp_certify(fit, d, eps = 1, delta = 1e-6), "take `loss_huber\\(\\)`\\.$",
               class = "dpsosp_error_argument")
})

test_that("the recalibration does not make slopes of symmetric residuals larger", {
  # They have no correction: its noise alone would change all slopes of a fit by a tenth to a half.
  factors <- vapply(1:16, function(seed) {
    set.seed(seed)
    x <- matrix(runif(10000, -0.67, 0.67), 2000)
    slopes <- rnorm(5)
    slopes <- slopes / sqrt(mean(slopes^2))
    data <- data.frame(x, y = drop(x %*% slopes) + rnorm(2000))
    fit <- quiet_fit(y ~ ., data, eps = 1, delta = 1 / 2000^2, method = "auto", loss = loss_squared(c(-10, 10)),
                     bounds = stats::setNames(rep(list(c(-1, 1)), 5), names(data)[1:5]), noise = "reproducible")
    sum(coef(fit)[-1] * slopes) / sum(slopes^2)
  }, 0)
  expect_lt(sqrt(mean((factors - 1)^2)), 0.1)
})
