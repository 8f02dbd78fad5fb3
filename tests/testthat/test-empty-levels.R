# Declared levels without records and columns without a spread: they cost no other coefficient its interval, and levels
# have no coefficient of noise.

set.seed(4)
n <- 4000
d <- data.frame(a = runif(n, -2, 2), b = pmin(pmax(rnorm(n), -4), 4),
                g = factor(sample(c("p", "q", "r"), n, TRUE), levels = c("p", "q", "r", "never")), one = 7)
d$z <- 3 + 2 * d$a - d$b + (d$g == "r") + rnorm(n)
d$k <- rpois(n, exp(0.5 + 0.3 * d$a))
d$y <- factor(ifelse(runif(n) < plogis(d$a), "yes", "no"), levels = c("no", "yes"))
ends <- list(a = c(-2, 2), b = c(-4, 4))
fitted <- function(seed, formula, data = d, ..., eps = 20, bounds = ends) {
  set.seed(seed)
  quiet_fit(formula, data, eps = eps, delta = 1e-6, method = "auto", noise = "reproducible", bounds = bounds, ...)
}
hidden <- function(...) names(coef(fit <- fitted(..., inference = "sandwich")))[!is.na(fit$inference$reason)]

test_that("an empty level alone has no interval, with every loss", {
  for (seed in 1:long_size(8, 2)) {
    expect_identical(hidden(seed, z ~ a + b + g, loss = "squared"), "gnever")
    expect_identical(hidden(seed, k ~ a + g, loss = "poisson"), "gnever")
    expect_identical(hidden(seed, y ~ a + g), "gnever")
    expect_identical(hidden(seed, z ~ a + b + g, loss = "huber"), "gnever")
  }
  fit <- fitted(1, z ~ a + b + g, loss = "squared", inference = "sandwich")
  expect_identical(fit$inference$reason[[6]], "no records seen")
  expect_identical(coef(fit)[["gnever"]], 0)
  without <- fitted(1, z ~ a + b + g, droplevels(d), loss = "squared", inference = "sandwich")
  width <- function(fit) (confint(fit)[, 2] - confint(fit)[, 1])[2:5]
  expect_true(all(abs(log(width(fit) / width(without))) < log(1.5)))
  expect_equal(coef(fit)[2:5], coef(stats::lm(z ~ a + b + g, d))[2:5], tolerance = 0.1)
})

test_that("its coefficient is near those of the other levels, at any eps", {
  size <- function(...) {
    level <- function(seed) coef(fitted(seed, ..., bounds = ends["a"]))[["gnever"]]
    max(abs(vapply(1:long_size(10, 4), level, 0)))
  }
  for (eps in c(1, 1000)) {
    expect_lt(size(z ~ a + g, eps = eps, loss = "squared"), 1)
    expect_lt(size(y ~ a + g, eps = eps), 1)
    expect_lt(size(k ~ a + g, eps = eps, loss = "poisson"), 1)
  }
})

test_that("many empty levels are none to the others, and rare ones are kept", {
  d$h <- factor(sample(1:5, n, TRUE, c(4, 3, 2, 1, 0.3)), levels = 1:25)
  fit <- fitted(1, z ~ a + b + h, d, loss = "squared", inference = "sandwich")
  expect_identical(names(coef(fit))[is.na(fit$inference$reason)], c("(Intercept)", "a", "b", paste0("h", 2:5)))
  expect_true(all(coef(fit)[-(1:7)] == 0))
})

test_that("a constant column has no interval, and costs no other coefficient its own, as in lm()", {
  exact <- coef(stats::lm(z ~ a + b, d))
  declared <- c(ends, list(one = c(0, 10)))
  for (bounds in list(ends, declared)) {
    fit <- fitted(1, z ~ a + b + one, loss = "squared", inference = "sandwich", bounds = bounds)
    expect_identical(unname(fit$inference$reason), c(NA, NA, NA, "no spread seen"))
    expect_lt(max(abs(coef(fit)[1:3] - exact) / sqrt(diag(vcov(fit)))[1:3]), 3)
    expect_identical(coef(fit)[["one"]], 0)
    bounds$b <- NULL
    expect_identical(hidden(2, y ~ a + one, bounds = bounds), "one")
    expect_identical(hidden(2, k ~ a + one, loss = "poisson", bounds = bounds), "one")
  }
  set.seed(1)
  fit <- quiet_fit(y ~ a + one, d, eps = 20, delta = 1e-6, method = "newton", inference = "sandwich",
                   noise = "reproducible", bounds = declared[-2])
  expect_identical(unname(fit$inference$reason), c(NA, NA, "no spread seen"))
  later <- dp_inference(fitted(1, z ~ a + b + one, loss = "squared", bounds = declared), d, eps = 20, delta = 1e-6,
                        noise = "reproducible")
  expect_identical(unname(later$inference$reason), c(NA, NA, NA, "no spread seen"))
  set.seed(1)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    cbind(a = d$a, b = d$b, zero = 0), d$z, eps = 20, delta = 1e-6, loss = loss_squared(c(-10, 15)), radius = 6,
    inference = "sandwich", noise = "reproducible")))
  expect_identical(unname(fit$inference$reason), c(NA, NA, NA, "no spread seen"))
})

test_that("a column whose spread the noise may hide hides the intercept, which is about its zero", {
  set.seed(2)
  d$year <- pmin(pmax(rnorm(n, 2000, 100), 1000), 3000)
  reasons <- vapply(1:4, function(seed) {
    fit <- fitted(seed, z ~ a + year, d, eps = 0.12, loss = "squared", inference = "sandwich",
                  bounds = c(ends["a"], list(year = c(1000, 3000))))
    as.character(fit$inference$reason)
  }, character(3))
  lost <- reasons[3, ] %in% "no spread seen"
  expect_true(any(lost))
  expect_false(anyNA(reasons[1, lost]))
})

test_that("two columns that are the same are named", {
  d$same <- d$a
  fit <- fitted(1, z ~ a + same + b, d, eps = 3, loss = "squared", inference = "sandwich",
                bounds = c(ends, list(same = c(-2, 2))))
  expect_identical(fit$inference$reason[2:3], c("nearly collinear with `same`", "nearly collinear with `a`"),
                   ignore_attr = TRUE)
  expect_match(capture.output(print(summary(fit))), "leave out one", all = FALSE)
})
