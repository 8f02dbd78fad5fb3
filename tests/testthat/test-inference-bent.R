# Logistic intervals from a point whose predictors are much too small, as a shrunk solution's are.

# Releases with little noise at a part of the way to the minimiser, of normal rows in the coordinates of a geometry.
at_part <- function(part, sd = 1e-4) {
  set.seed(4)
  n <- 20000
  z <- cbind(0.75, matrix(stats::rnorm(3 * n, sd = sqrt(1 / 3)), n))
  y <- stats::rbinom(n, 1, stats::plogis(drop(z %*% c(-4, 4, 2, -1))))
  best <- unname(stats::glm.fit(z, y, family = stats::binomial())$coefficients)
  w <- part * best
  p <- stats::plogis(drop(z %*% w))
  moments <- function(weight) crossprod(z * weight, z) / n
  list(best = best, exact = moments(stats::plogis(drop(z %*% best)) * stats::plogis(-drop(z %*% best))),
       released = list(point = w, gradient = structure(colMeans(z * (p - y)), sd = sd),
                       hessian = structure(moments(p * (1 - p)), sd = sd), products = moments((p - y)^2), n = n))
}
normal_geometry <- list(intercept = TRUE, constant = 0.75, spread = rep(2, 3))

step_of <- function(released) {
  list(inverse = solve(matrix(released$hessian, 4)), open = matrix(0, 4, 0), unseen = logical(4),
       w = released$point - drop(solve(matrix(released$hessian, 4), as.vector(released$gradient))))
}

test_that("a long step reaches the minimiser, and its covariance is the one there", {
  for (part in c(0.4, 0.7)) {
    x <- at_part(part)
    newton <- step_of(x$released)
    bent <- dpsosp:::bent_step(newton, x$released, normal_geometry)
    expect_lt(max(abs(bent$w - x$best)), 0.15 * max(abs(newton$w - x$best)))
    here <- x$released$products / 20000 + diag(1e-8, 4)
    want <- solve(x$exact) %*% here %*% solve(x$exact)
    expect_lt(max(abs(sqrt(diag(bent$covariance) / diag(want)) - 1)), 0.15)
    expect_gt(max(abs(x$released$hessian / x$exact)), 1.2)
  }
})

test_that("a step that noise explains bends little", {
  x <- at_part(0.4, sd = 10)
  newton <- step_of(x$released)
  expect_equal(dpsosp:::bent_step(newton, x$released, normal_geometry)$w, newton$w, tolerance = 1e-3)
})

test_that("the curvature of normal rows is that of many of them", {
  set.seed(2)
  geometry <- list(intercept = TRUE, constant = 0.5, spread = c(1, 3))
  u <- c(-3, 2, 1)
  z <- cbind(0.5, matrix(stats::rnorm(4e5), ncol = 2) %*% diag(c(1, 3) / sqrt(10)))
  t <- drop(z %*% u)
  expect_equal(dpsosp:::normal_curvature(u, geometry),
               crossprod(z, z * stats::plogis(t) * stats::plogis(-t)) / nrow(z), tolerance = 0.02)
  geometry$intercept <- FALSE
  expect_equal(dpsosp:::normal_curvature(c(0, 0), geometry), diag(c(0.025, 0.225)), tolerance = 1e-5)
})

# Few records have the second class, and one column tells them: the fit's solution is far from that of glm(), and the
# Hessian there would make intervals several times too narrow.
test_that("intervals of a rare class with a strong column cover, also at a small eps", {
  set.seed(1)
  n <- 10000
  d <- data.frame(a = stats::rnorm(n), b = stats::rnorm(n))
  d$y <- stats::runif(n) < stats::plogis(-6.2 + 2.7 * d$a + 0.5 * d$b)
  exact <- stats::coef(stats::glm(y ~ a + b, stats::binomial(), d))
  covered <- vapply(seq_len(120), function(seed) {
    set.seed(seed)
    fit <- quiet_fit(y ~ a + b, d, eps = 1, delta = 1e-8, method = "newton-ridge",
                     bounds = list(a = c(-5, 5), b = c(-5, 5)), inference = "sandwich", noise = "reproducible")
    ends <- confint(fit)
    ends[, 1] <= exact & exact <= ends[, 2]
  }, logical(3))
  expect_gt(mean(covered, na.rm = TRUE), 0.9)
  expect_gt(mean(!is.na(covered)), 0.5)
})
