# Powers and products of columns are fitted as polynomials about the middles of the ranges, and mapped back.

set.seed(11)
n <- 3000
d <- data.frame(x = runif(n, 21, 64), z = runif(n, -3, 10), f = factor(sample(letters[1:3], n, TRUE)),
                g = factor(sample(c("u", "v"), n, TRUE)))
d$y <- 1 + d$x / 20 - (d$x - 40)^2 / 400 + d$z / 10 + (d$f == "b") * d$z / 20 + rnorm(n) / 3
d$c <- factor(ifelse(runif(n) < plogis(d$y - 2), "yes", "no"), levels = c("no", "yes"))
ends <- list(x = c(21, 64), z = c(-3, 10))
centred <- function(design) dpsosp:::centre_powers(design)
template <- function(formula, bounds = ends) dpsosp:::design_template(formula, d, bounds)
own_units <- function(design) {
  scale <- dpsosp:::design_scale(design)
  t(t(dpsosp:::design_matrix(design, d)) * scale[, "half"] + scale[, "centre"])
}

formulas <- list(
  y ~ x + I(x^2), y ~ x + I(x^2) + I(x^3), y ~ poly(x, 4, raw = TRUE), y ~ x * z, y ~ x + x:z, y ~ x * f, y ~ f + f:x,
  y ~ x * f * g, y ~ f:g + f:g:x, y ~ (x + z)^2 + I(x^2) + I(z^2), y ~ I(x / 10) + I((x / 10)^2),
  y ~ 0 + f + x + I(x^2),
  y ~ log(x) + I(log(x)^2), y ~ x * z * f, y ~ x * ordered
)
d$ordered <- factor(sample(1:3, n, TRUE), ordered = TRUE)

test_that("the polynomials span the columns of the formula, are within their ranges, and map back exactly", {
  for (formula in formulas) {
    plain <- template(formula)
    design <- centred(plain)
    expect_true(length(design$powers) > 0, label = deparse1(formula))
    expect_lte(max(abs(dpsosp:::design_matrix(design, d))), 1 + 1e-12)
    names <- c(if (plain$intercept) "(Intercept)", plain$columns$name)
    inner <- stats::setNames(sin(seq_along(names)), names)
    one <- if (plain$intercept) 1
    written <- dpsosp:::written_coef(design, inner)
    expect_equal(drop(cbind(one, own_units(plain)) %*% written), drop(cbind(one, own_units(design)) %*% inner),
                 tolerance = 1e-9)
    expect_equal(dpsosp:::centred_coef(design, written), inner, tolerance = 1e-6)
    w <- dpsosp:::core_start(design, written)
    expect_equal(dpsosp:::core_coef(design, w), written, tolerance = 1e-9)
    expect_equal(dpsosp:::as_written(design)[c("predictors", "ranges")], plain[c("predictors", "ranges")])
  }
})

test_that("columns stay as they are without the lower ones, with a range of their own, and alone", {
  for (formula in list(y ~ x:z, y ~ I(x^2), y ~ f:x, y ~ 0 + x + I(x^2), y ~ x + z)) {
    expect_null(centred(template(formula))$powers)
  }
  expect_null(centred(template(y ~ x + I(x^2), c(ends, list("I(x^2)" = c(400, 5000)))))$powers)
  expect_identical(centred(template(y ~ x * z))$predictors[["x:z"]], call("*", quote(x - 42.5), quote(z - 3.5)))
})

test_that("the default radius clips no row, whatever the columns are", {
  for (formula in c(formulas, y ~ splines::bs(x, knots = 40, Boundary.knots = c(21, 64)))) {
    design <- template(formula)
    rows <- cbind(if (design$intercept) 1, dpsosp:::design_matrix(design, d))
    expect_lte(max(rowSums(rows^2)), design$radius^2 + 1e-9)
    expect_false(dpsosp:::may_clip(design))
  }
})

test_that("neighbouring columns are no longer nearly collinear", {
  worst <- function(design) min(eigen(stats::cor(dpsosp:::design_matrix(design, d)))$values)
  for (formula in list(y ~ x + I(x^2), y ~ x * z, y ~ x * f, y ~ x + I(x^2) + I(x^3))) {
    plain <- template(formula)
    expect_gt(worst(centred(plain)), 3 * worst(plain))
  }
  expect_lt(abs(stats::cor(dpsosp:::design_matrix(centred(template(y ~ x + I(x^2))), d))[1, 2]), 0.1)
})

test_that("without noise coefficients, covariances and predictions are those of lm() and glm()", {
  frame <- d[c("x", "z", "f", "y", "c")]
  fit <- function(formula, data = frame, ...) {
    quiet_fit(formula, data, eps = 1e7, delta = 1e-6, bounds = ends, method = "auto", inference = "sandwich", ...)
  }
  formula <- y ~ x + I(x^2) + z * f
  exact <- stats::lm(formula, frame)
  number <- fit(formula, loss = loss_squared(c(-20, 20)))
  expect_true(length(number$design$powers) == 3L)
  expect_equal(coef(number), coef(exact), tolerance = 1e-3)
  x <- stats::model.matrix(exact)
  bread <- solve(crossprod(x))
  robust <- bread %*% crossprod(x * stats::residuals(exact)) %*% bread
  expect_equal(sqrt(diag(vcov(number))), sqrt(diag(robust)), tolerance = 0.03)
  expect_equal(predict(number, frame), unname(stats::fitted(exact)), tolerance = 1e-3)
  parts <- predict(number, frame, type = "terms")
  expect_equal(rowSums(parts) + attr(parts, "constant"), predict(number, frame), tolerance = 1e-9)
  two <- fit(c ~ x * z + I(x^2), dp_source(in_chunks(frame, 900), n = nrow(frame)))
  expect_equal(coef(two), coef(stats::glm(c ~ x * z + I(x^2), stats::binomial(), frame)), tolerance = 1e-2)
  first <- quiet_fit(c ~ x * z, frame, eps = 1e7, delta = 1e-6, bounds = ends, method = "newton-ridge")
  later <- suppressMessages(dp_inference(first, frame, eps = 1e7, delta = 1e-6))
  expect_equal(coef(later), coef(stats::glm(c ~ x * z, stats::binomial(), frame)), tolerance = 1e-2)
})

test_that("a penalty, moments and a radius that clips are for the columns as they are written", {
  powers <- function(..., method = "auto") {
    quiet_fit(c ~ x + I(x^2), d, eps = 1, delta = 1e-6, bounds = ends, method = method, ...)$design$powers
  }
  expect_null(powers(penalty = penalty_ridge(0.01), method = "gd"))
  expect_null(powers(radius = 1))
  expect_null(powers(geometry = geometry_public(c(42, 2000), c(12, 1000)), method = "newton-ridge"))
  expect_false(is.null(powers()))
})

test_that("a column and its square, cube and products are all resolved, run for run", {
  set.seed(5)
  n <- 20000
  age <- sample(21:64, n, TRUE)
  e <- sample(6:20, n, TRUE)
  d <- data.frame(age, e, z = 1 + .09 * e + .05 * age - .0005 * age^2 + stats::rnorm(n, 0, .45))
  for (seed in 1:long_size(8, 3)) {
    set.seed(seed)
    fit <- quiet_fit(z ~ e * age + I(age^2), d, eps = 3, delta = 1e-6, loss = "squared", method = "auto",
                     inference = "sandwich", noise = "reproducible", bounds = list(age = c(21, 64), e = c(6, 20)))
    expect_true(all(is.na(fit$inference$reason)))
    exact <- coef(stats::lm(z ~ e * age + I(age^2), d))
    expect_lt(max(abs(coef(fit) - exact) / sqrt(diag(vcov(fit)))), 4)
  }
})
