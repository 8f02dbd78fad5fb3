# Synthetic classification problems that resemble tables of data, for rules that must not be chosen on real data:
# correlated numeric columns, indicators of factors with rare levels, an intercept, rows divided by a public radius,
# weak and strong signals, balanced and rare classes. A problem depends on the arguments and R's generator only.

# Number of numeric columns, factors (their numbers of levels), sd of the linear predictor, fraction of the second
# class.
synthetic_problem <- function(n, numeric, levels, signal, rare) {
  x <- cbind(synthetic_numeric(n, numeric), do.call(cbind, lapply(levels, synthetic_factor, n = n)))
  w <- stats::rnorm(ncol(x)) * stats::rgamma(ncol(x), 0.5) # few columns matter much
  eta <- as.vector(x %*% w)
  eta <- signal * (eta - mean(eta)) / stats::sd(eta)
  shift <- stats::uniroot(function(a) mean(stats::plogis(eta + a)) - rare, c(-30, 30))$root
  y <- ifelse(stats::runif(n) < stats::plogis(eta + shift), 1, -1)
  x <- cbind(x, 1) / sqrt(numeric + length(levels) + 1)
  list(X = x / pmax(1, sqrt(rowSums(x^2))), y = y)
}

# Columns in [-1, 1] with two common factors, skewed margins, and different means and spreads.
synthetic_numeric <- function(n, p) {
  if (p == 0) return(NULL)
  common <- matrix(stats::rnorm(2 * n), n)
  vapply(seq_len(p), function(j) {
    z <- as.vector(common %*% stats::rnorm(2)) + stats::rnorm(n)
    if (stats::runif(1) < 0.5) z <- exp(z / 2)
    pmin(1, pmax(-1, (z - mean(z)) / stats::sd(z) * stats::runif(1, 0.05, 0.4) + stats::runif(1, -0.6, 0.6)))
  }, numeric(n))
}

synthetic_factor <- function(k, n) {
  level <- sample.int(k, n, TRUE, stats::rgamma(k, 0.7) + 1e-3)
  outer(level, seq_len(k), "==") * 1
}

synthetic_shapes <- list(
  numeric = list(numeric = 20, levels = integer()),
  small = list(numeric = 6, levels = c(2, 3)),
  mixed = list(numeric = 10, levels = c(4, 30)),
  factors = list(numeric = 0, levels = c(5, 8, 16, 7, 14, 6, 5, 2, 5, 5, 5, 41))
)

# The smallest loss, to judge runs from outside.
synthetic_minimum <- function(problem) {
  w <- numeric(ncol(problem$X))
  value <- function(w) mean(logistic_loss(problem$y * as.vector(problem$X %*% w)))
  for (i in 1:40) {
    p <- stats::plogis(as.vector(problem$X %*% w))
    gradient <- as.vector(crossprod(problem$X, p - (problem$y > 0))) / nrow(problem$X)
    hessian <- crossprod(problem$X * sqrt(p * (1 - p))) / nrow(problem$X) + diag(1e-9, length(w))
    step <- solve(hessian, gradient)
    length <- 1
    while (value(w - length * step) > value(w) && length > 1e-3) length <- length / 2
    w <- w - length * step
    if (sqrt(sum(gradient^2)) < 1e-9) break
  }
  list(w = w, value = value(w), excess = function(v) value(v) - value(w))
}

# Coefficients of a fit to a problem, in the order of its columns; the intercept is the last one.
synthetic_fit <- function(...) synthetic_run(...)$w

# The fit, and w, its coefficients in this order.
synthetic_run <- function(problem, eps, loss = "logistic", ...) {
  last <- ncol(problem$X)
  radius <- 1 / max(problem$X[, last])
  fit <- suppressWarnings(suppressMessages(dpsosp::dp_sosp(
    problem$X[, -last] * radius, problem$y, eps = eps, loss = loss, radius = radius, noise = "reproducible",
    progress = FALSE, ...
  )))
  w <- unname(stats::coef(fit))
  list(fit = fit, w = radius * c(w[-1], w[1]))
}

even_shares <- function(levels) lapply(levels, function(k) rep(1 / k, k))

# The population that dp_plan() describes, as a function that draws n records: independent numeric columns with a given
# variance (beta distributions on [-1, 1]), factors with given fractions of their levels, random slopes with root mean
# square `effect`, and an intercept for which a fraction `rare` of the records is of the second class.
plan_population <- function(numeric, shares, variance, effect, rare) {
  names <- c(sprintf("x%d", seq_len(numeric)), sprintf("f%d", seq_along(shares)))
  draw <- function(n) {
    a <- (1 / variance - 1) / 2
    x <- lapply(seq_len(numeric), function(j) 2 * stats::rbeta(n, a, a) - 1)
    f <- lapply(shares, function(s) factor(sample.int(length(s), n, TRUE, s), seq_along(s)))
    as.data.frame(stats::setNames(c(x, f), names))
  }
  slopes <- stats::rnorm(numeric + sum(lengths(shares) - 1))
  slopes <- slopes * effect / sqrt(mean(slopes^2))
  link <- function(data, intercept = 0) {
    intercept + as.vector(stats::model.matrix(~ ., data)[, -1, drop = FALSE] %*% slopes)
  }
  eta <- link(draw(20000))
  intercept <- stats::uniroot(function(a) mean(stats::plogis(eta + a)) - rare, c(-30, 30))$root
  # Excess mean loss, over records and responses, of predictions on the link's scale, to judge runs.
  judges <- draw(20000)
  truth <- link(judges, intercept)
  p <- stats::plogis(truth)
  loss <- function(t) mean(p * logistic_loss(t) + (1 - p) * logistic_loss(-t))
  list(judges = judges, curvature = mean(p * (1 - p)), coefficients = c(intercept, slopes),
       excess = function(t) loss(t) - loss(truth), constant = loss(stats::qlogis(mean(p))) - loss(truth),
       draw = function(n) {
         data <- draw(n)
         data$y <- stats::runif(n) < stats::plogis(link(data, intercept))
         data
       })
}

# Public ranges of the numeric columns.
plan_bounds <- function(numeric) stats::setNames(rep(list(c(-1, 1)), numeric), sprintf("x%d", seq_len(numeric)))
