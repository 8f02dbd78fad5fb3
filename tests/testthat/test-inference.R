# Intervals: their formulas, their coverage, and what is shown.

problem <- problem_frame(2000)
with_intervals <- function(eps, data = problem, ..., inference = "sandwich") {
  set.seed(3)
  quiet_fit(y ~ a + b + f, data, eps = eps, delta = 1e-7, bounds = frame_bounds, inference = inference,
            method = "newton", noise = "reproducible", ...)
}
later <- function(fit, ...) {
  set.seed(4)
  suppressMessages(dp_inference(fit, ..., noise = "reproducible"))
}
steps <- control_newton(iterations = 8)
fit <- with_intervals(4)

# ---- against the formulas without noise ----

test_that("with next to no noise they are glm's estimate and the sandwich", {
  exact <- stats::glm(y ~ a + b + f, stats::binomial(), problem)
  x <- stats::model.matrix(exact)
  residual <- exact$y - exact$fitted.values
  bread <- stats::vcov(exact)
  sandwich <- bread %*% crossprod(x * residual) %*% bread
  quiet <- with_intervals(1e6)
  expect_equal(coef(quiet), stats::coef(exact), tolerance = 1e-3)
  expect_equal(vcov(quiet), sandwich, tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(vcov(with_intervals(1e6, inference = "model")), bread, tolerance = 1e-3)
  expect_equal(unname(confint(quiet, level = 0.9)[, 2]), unname(coef(quiet) + 1.644854 * sqrt(diag(sandwich))),
               tolerance = 1e-3)
})

test_that("the covariance of what a matrix's noise does to a vector is that of draws", {
  set.seed(5)
  known <- dpsosp:::known_entries(fit$design)
  expect_identical(known$tied, 4:5)
  expect_identical(which(known$zero, arr.ind = TRUE)[, "row"], c(5L, 4L))
  v <- c(1, -2, 0.5, 1.5, -1)
  draws <- replicate(20000, {
    e <- matrix(stats::rnorm(25), 5)
    drop(dpsosp:::tidy_matrix((e + t(e)) / 2, known) %*% v)
  })
  expect_equal(dpsosp:::noise_covariance(v, 1, known), stats::cov(t(draws)), tolerance = 0.03)
})

test_that("what a matrix cannot resolve has the variance of a coefficient of which nothing is known", {
  released <- list(point = numeric(5), gradient = structure(numeric(5), sd = 1e-9),
                   hessian = structure(diag(c(1, 1, 1, 1, 0)), sd = 0.01), products = matrix(0, 5, 5), n = 1000)
  step <- dpsosp:::step_intervals(dpsosp:::one_step(released, fit$design), fit$design)
  expect_equal(sqrt(diag(step$vcov))[["fw"]], 1.5, tolerance = 1e-3)
  expect_identical(unname(is.na(step$reason)), c(TRUE, TRUE, TRUE, TRUE, FALSE))
})

# ---- coverage ----

# A quadratic loss, for which the error of the step is exact: its minimiser is 0, and w has this distance from it.
coverage <- function(distance) {
  set.seed(6)
  p <- 5
  levels <- cbind(c(0, 1, 0), c(0, 0, 1))
  rows <- cbind(1, matrix(stats::runif(600, -1, 1), 300), levels[rep(1:3, 100), ])
  hessian <- crossprod(rows) / 1000
  noise <- function(sd) {
    e <- matrix(stats::rnorm(p * p), p)
    sd * (e + t(e)) / 2
  }
  w <- distance * c(1, -1, 1, -1, 1)
  inside <- replicate(500, {
    released <- list(
      point = w, gradient = structure(drop(hessian %*% w) + 0.002 * stats::rnorm(p), sd = 0.002),
      hessian = structure(hessian + noise(0.002), sd = 0.002), products = structure(hessian + noise(0.01), sd = 0.01),
      n = 1e6
    )
    step <- dpsosp:::step_intervals(dpsosp:::one_step(released, fit$design), fit$design)
    abs(step$coefficients) <= stats::qnorm(0.975) * sqrt(diag(step$vcov))
  })
  mean(inside)
}

test_that("intervals cover where the gradient's noise counts, and where the Hessian's does", {
  near <- coverage(0)
  far <- coverage(3)
  expect_gt(min(near, far), 0.925)
  expect_lt(max(near, far), 0.975)
})

test_that("intervals of fits cover coefficients of the columns as they are", {
  truth <- c(-3, 0.15, 0.5)
  inside <- vapply(seq_len(long_size(60, 30)), function(seed) {
    set.seed(seed)
    d <- data.frame(a = runif(1000, 10, 30), b = runif(1000, -1, 1))
    d$y <- runif(1000) < stats::plogis(truth[1] + truth[2] * d$a + truth[3] * d$b)
    interval <- confint(quiet_fit(y ~ ., d, eps = 2, delta = 1e-6, bounds = frame_bounds, method = "newton",
                                  control = steps, inference = "sandwich", noise = "reproducible"))
    interval[, 1] <= truth & truth <= interval[, 2]
  }, logical(3))
  expect_gt(mean(inside), 0.9)
  expect_lt(mean(inside), 0.995)
})

# ---- charges ----

test_that("three answers are paid for, in their proportions, out of three quarters of what there is", {
  ledger <- utils::tail(run_ledger(fit), 3)
  expect_identical(ledger$what, c("gradient", "hessian", "gradient products"))
  expect_equal(ledger$rho / sum(ledger$rho), c(40, 30, 5) / 75)
  # Products tell the largest slope at the solution, and so its norm.
  norm <- stats::qlogis(sqrt(ledger$sensitivity[3] * 2000 / sqrt(2)))
  expect_gt(norm, 0)
  expect_equal(ledger$sensitivity[1:2], c(logistic_change(norm), sqrt(2) / 4) / 2000, tolerance = 1e-4)
  expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
  expect_equal(sum(ledger$rho) / sum(run_ledger(fit)$rho), 0.75, tolerance = 1e-6)
  model <- utils::tail(run_ledger(with_intervals(4, inference = "model")), 2)
  expect_identical(model$what, c("gradient", "hessian"))
})

test_that("intervals that come later are charged apart, and counted with the fit", {
  first <- with_intervals(1, inference = "none")
  second <- later(first, problem, eps = 2, delta = 1e-7)
  expect_identical(second$privacy, first$privacy)
  expect_identical(second$inference$privacy$eps, 2)
  expect_equal(sum(second$inference$privacy$ledger$rho), second$inference$privacy$rho, tolerance = 1e-9)
  expect_identical(nrow(dp_ledger(second)), nrow(dp_ledger(first)) + 3L)
  expect_identical(predict(second, problem), predict(first, problem))
  expect_false(identical(coef(second), coef(first)))
  mu <- sqrt(dp_convert(eps = 1, delta = 1e-7, to = "mu")^2 + dp_convert(eps = 2, delta = 1e-7, to = "mu")^2)
  sum <- dp_convert(mu = mu, delta = 1e-7, to = "eps")
  shown <- capture.output(print(second))
  expect_match(shown[2], paste0("Private: eps = ", format(sum, digits = 4), ", delta = 1e-07 (replace-one"),
               fixed = TRUE)
  expect_match(paste(shown, collapse = ""),
               "the sum of the fit, eps = 1, delta = 1e-07, and its intervals, eps = 2, *delta = 1e-07")
  skip_if_not_installed("generics")
  expect_equal(generics::glance(second)[, c("eps", "delta")], data.frame(eps = sum, delta = 1e-7))
  expect_equal(generics::glance(first)[, c("eps", "delta")], data.frame(eps = 1, delta = 1e-7))
})

test_that("costs of intervals and of a fit that is not Gaussian DP are added", {
  set.seed(3)
  first <- quiet_fit(y ~ b, problem, eps = 1, delta = 1e-7, bounds = frame_bounds["b"], method = "objpert",
                     noise = "secure")
  second <- later(first, problem, eps = 2, delta = 1e-7)
  shown <- capture.output(print(second))
  expect_match(shown[2], "Private: eps = 3, delta = 2e-07 (replace-one, eps and delta added)", fixed = TRUE)
  expect_match(shown, "FOR STUDY", all = FALSE) # the intervals' noise
})

test_that("a shared budget pays for fit and intervals", {
  budget <- dp_budget(eps = 3, delta = 1e-7)
  set.seed(3)
  first <- quiet_fit(y ~ b, problem, eps = 1, budget = budget, bounds = frame_bounds["b"], method = "newton",
                     noise = "reproducible")
  second <- later(first, problem, budget = budget)
  expect_error(later(first, problem, budget = budget), class = "dpsosp_budget_exhausted")
  expect_equal(sum(dp_ledger(budget)$rho), sum(dp_ledger(second)$rho))
})

# ---- any storage, any method ----

test_that("a source and a sparse matrix give the intervals of their rows", {
  first <- with_intervals(2, inference = "none")
  source <- dp_source(in_chunks(problem, 300))
  expect_equal(later(first, source, eps = 2, delta = 1e-7)$inference$vcov,
               later(first, problem, eps = 2, delta = 1e-7)$inference$vcov)
  skip_if_not_installed("Matrix")
  x <- as.matrix(problem[c("a", "b")]) / 20
  first <- quiet_fit(x, problem$y, eps = 2, delta = 1e-7, radius = 2, method = "newton", noise = "reproducible")
  dense <- later(first, x, eps = 2, delta = 1e-7, y = problem$y)
  sparse <- later(first, as_sparse(x), eps = 2, delta = 1e-7, y = problem$y)
  expect_equal(confint(sparse), confint(dense))
})

test_that("the point may come from any method, in a geometry too", {
  for (method in c("newton-ridge", "gd", "2opt-ls")) {
    other <- quiet_fit(y ~ a + b + f, problem, eps = 1e6, delta = 1e-7, bounds = frame_bounds, method = method,
                       inference = "sandwich", noise = "reproducible")
    expect_equal(coef(other), coef(with_intervals(1e6)), tolerance = 0.02)
    expect_equal(confint(other), confint(with_intervals(1e6)), tolerance = 0.05)
  }
})

# ---- in a geometry ----

# Columns of which most values lie in a small part of the range.
skewed_frame <- function(n) {
  d <- data.frame(a = stats::rlnorm(n, 0, 0.5), b = stats::rnorm(n, 50, 8),
                  f = factor(sample(c("u", "v", "w"), n, TRUE)))
  d$y <- factor(stats::runif(n) < stats::plogis(skewed_truth[1] + as.vector(stats::model.matrix(~ ., d)[, -1] %*%
                                                                              skewed_truth[-1])))
  d
}
skewed_truth <- c(-2, 0.6, 0.02, 0.5, -0.5)
skewed_bounds <- list(a = c(0, 16), b = c(0, 128))
skewed_fit <- function(d, eps, method = "auto", ...) {
  quiet_fit(y ~ ., d, method = method, eps = eps, delta = 1e-7, bounds = skewed_bounds, noise = "reproducible",
            inference = "sandwich", ...)
}

plain_numbers <- function(x) as.vector(unclass(x))
to_point <- function(fit) dpsosp:::to_geometry(fit$geometry, dpsosp:::core_start(fit$design, fit$coefficients))

test_that("by default the answers are those of damped rows in the geometry of the fit", {
  set.seed(1)
  d <- skewed_frame(2000)
  auto <- skewed_fit(d, 100)
  expect_identical(auto$method, "newton-ridge")
  ledger <- utils::tail(run_ledger(auto), 4)
  expect_identical(ledger$what, c("gradient", "hessian", "gradient products", "residual counts"))
  longest <- auto$inference$released$longest
  expect_gt(longest, 1.25)
  expect_equal(ledger$sensitivity, c(2 * longest, sqrt(2) / 4 * longest^2, sqrt(2) * longest^2, sqrt(2)) / 2000,
               tolerance = 1e-6)
  # The sums of a plain loop, with hardly any noise; nothing would then be clipped unless rows were very long.
  local_value("damped_noise", 0)
  local_value("damped_least", 0.7)
  loud <- skewed_fit(d, 1e12)
  g <- loud$geometry
  released <- loud$inference$released
  mapped <- cbind(2 * d$a / 16 - 1, (d$b - 64) / 64, d$f == "v", d$f == "w") / g$radius
  z <- cbind(g$constant, t(g$scale * (t(mapped) - g$centre)))
  weight <- pmin(1, released$longest^2 / rowSums(z^2))
  expect_gt(mean(weight < 0.9), 0.05)
  p <- stats::plogis(drop(z %*% released$point))
  size <- abs(p - (d$y == "TRUE")) * sqrt(rowSums(z^2))
  slope <- (p - (d$y == "TRUE")) * pmin(1, released$longest / size)
  expect_gt(mean(size > released$longest), 0.05)
  expect_equal(plain_numbers(released$gradient), colMeans(z * slope), tolerance = 1e-4)
  expect_equal(plain_numbers(released$hessian), c(crossprod(z, z * weight * p * (1 - p)) / 2000), tolerance = 1e-4)
  expect_equal(plain_numbers(released$products), c(crossprod(z * slope) / 2000), tolerance = 1e-4)
  expect_equal(sum(released$sizes$counts), 1, tolerance = 1e-4)
  ends <- released$sizes$ends
  expect_equal(sum(released$sizes$counts * ends), mean(pmin(pmax(size, ends[1]), max(ends))), tolerance = 1e-4)
  expect_match(dpsosp:::estimand_text(loud), "as of `glm\\(\\)`, in which about [0-9.]+ % .* count less")
})

test_that("in a geometry intervals cover, also where rows weigh less, and are far narrower", {
  d <- skewed_frame(2000)
  seen <- lapply(1:50, function(seed) {
    set.seed(seed)
    fit <- skewed_fit(skewed_frame(2000), 3)
    interval <- confint(fit, unresolved = "wide")
    list(inside = interval[, 1] <= skewed_truth & skewed_truth <= interval[, 2], width = interval[, 2] - interval[, 1])
  })
  inside <- mean(vapply(seen, function(x) mean(x$inside), 0))
  expect_gt(inside, 0.9)
  expect_lt(inside, 0.995)
  plain <- skewed_fit(d, 3, "newton")
  expect_true(is.na(confint(plain)[2, 1]))
  expect_false(is.na(confint(skewed_fit(d, 3))[2, 1]))
})

test_that("intervals that come later are in the geometry of the fit", {
  set.seed(1)
  d <- skewed_frame(2000)
  first <- quiet_fit(y ~ ., d, eps = 3, delta = 1e-7, bounds = skewed_bounds, method = "newton-ridge",
                     noise = "reproducible")
  second <- later(first, d, eps = 1e6, delta = 1e-7)
  expect_gt(second$inference$released$longest, 1.25)
  expect_equal(second$inference$released$point, to_point(first), tolerance = 1e-12)
  exact <- stats::glm(y ~ ., stats::binomial(), d)
  expect_equal(coef(second), stats::coef(exact), tolerance = 0.1)
  expect_equal(sqrt(diag(vcov(second))), sqrt(diag(stats::vcov(exact))), tolerance = 0.15)
})

test_that("a sum of two accountants has no order", {
  first <- quiet_fit(y ~ a + b + f, problem, eps = 1, delta = 1e-7, bounds = frame_bounds, method = "sgd")
  second <- later(first, problem, eps = 2, delta = 1e-7)
  private <- grep("^Private", capture.output(print(second)), value = TRUE)
  expect_match(private, "eps and delta added)", fixed = TRUE)
})
