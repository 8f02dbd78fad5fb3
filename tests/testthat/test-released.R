# A fit keeps what it paid for: the last gradient and the last matrix on the full data.

set.seed(1)
n <- 500
d <- data.frame(a = runif(n, -1, 1), b = runif(n, -1, 1))
d$y <- factor(ifelse(d$a + stats::rlogis(n) > 0, "yes", "no"))
fit_of <- function(method, ..., eps = 1e4) {
  set.seed(2)
  quiet_fit(y ~ a + b, d, eps = eps, method = method, bounds = list(a = c(-1, 1), b = c(-1, 1)),
            noise = "reproducible", ...)
}

# Gradient and Hessian of the mean logistic loss, by the formulas.
rows <- function() {
  x <- cbind(1, d$a, d$b) / sqrt(3)
  x / pmax(1, sqrt(rowSums(x^2)))
}
logistic <- function(w) {
  z <- rows()
  sign <- ifelse(d$y == "yes", 1, -1)
  p <- plogis(-sign * drop(z %*% w))
  list(gradient = -colMeans(z * sign * p), hessian = crossprod(z, z * (p * (1 - p))) / n)
}

test_that("the last gradient and Hessian are there, with the point and the noise that they had", {
  fit <- fit_of("2opt", geometry = "none")
  exact <- logistic(fit$released$gradient$at)
  expect_identical(fit$released$gradient$query, "gradient")
  expect_equal(fit$released$gradient$value, exact$gradient, tolerance = 10 * fit$released$gradient$sd)
  expect_true(fit$released$gradient$sd %in% fit$privacy$ledger$scale)
})

test_that("a matrix is kept with its name", {
  fit <- fit_of("newton", control = control_newton(curvature = "hessian"))
  lazy <- fit_of("newton")
  expect_identical(lazy$released$matrix$query, "majorant")
  expect_identical(lazy$released$matrix$value, t(lazy$released$matrix$value))
  expect_true(lazy$released$matrix$sd %in% lazy$privacy$ledger$scale)
  expect_null(fit$released$matrix)
})

test_that("what was not paid for is not there", {
  fit <- fit_of("outpert", loss = "logistic", penalty = penalty_ridge(0.1))
  expect_null(fit$released$matrix)
})

test_that("it is the noisy answer that is kept", {
  fit <- fit_of("newton", eps = 2)
  last <- utils::tail(fit$trace[fit$trace$query == "gradient", ], 1)
  expect_equal(sqrt(sum(fit$released$gradient$value^2)), last$estimate)
  expect_gt(max(abs(fit$released$gradient$value - logistic(fit$released$gradient$at)$gradient)),
            fit$released$gradient$sd / 100)
})

test_that("the matrix of several classes is that of the coefficients of one, all of it released", {
  set.seed(1)
  x <- matrix(runif(1200, -1, 1), 400, dimnames = list(NULL, c("a", "b", "c")))
  fit <- quiet_fit(x, factor(sample(c("u", "v", "w"), 400, TRUE)), eps = 5, delta = 1e-6, radius = 2,
                   method = "newton-ridge", bounds = c(-1, 1))
  matrix <- fit$released$matrix
  expect_identical(matrix$query, "weighted matrix")
  expect_identical(dim(matrix$value), c(4L, 4L))
  expect_identical(matrix$value, t(matrix$value))
  expect_true(all(abs(matrix$value) > 1e-12))
  expect_length(matrix$at, 12L)
})
