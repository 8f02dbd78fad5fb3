uniform_plan <- function(p, n, eps, curvature) {
  dp_plan(n, numeric = p - 1, eps = eps, variance = 1 / 3, curvature = curvature, inference = TRUE,
          method = "newton")
}

frame_shares <- list(c(0.45, 0.55), c(0.4, 0.3, 0.2, 0.1), c(0.3, 0.25, 0.2, 0.12, 0.08, 0.05))
frame_plan <- function(n, eps, ...) {
  dp_plan(n, numeric = 4, levels = c(2, 4, 6), shares = frame_shares, eps = eps, ...)
}

test_that("the width of one column's interval, by hand", {
  # Without correlation all matrices are diagonal. Fractions of mu^2: gradient .40, path .20, matrix .30.
  n <- 5000
  # Of the budget .01 tells how good the fit is, .01 or mu = 1 / (.01 n) the level. Simulated fits below had .04 more.
  all <- dp_convert(eps = 1, delta = 1 / n^2, to = "mu")
  mu <- all * sqrt(0.99 - max(1 / (0.01 * n * all)^2, 0.01))
  h <- 0.2 * c(1, 0.15) / 2
  nu <- 2 / (n * mu)
  matrix_variance <- 2 / 16 / (n * mu)^2 / 0.3
  seen <- noisy_inverse(diag(h), sqrt(matrix_variance))
  step <- nu^2 / 0.4 * seen(diag(2)) + nu^2 * 2 / 0.2 * diag(1 / h^2)
  noise <- diag(nu^2 / 0.4, 2) + matrix_variance / 2 * (diag(sum(diag(step)), 2) + step)
  plan <- dp_plan(n, numeric = 1, eps = 1, variance = 0.15, curvature = 0.2, inference = TRUE, method = "newton")
  expect_equal(plan$intervals$ratio, sqrt(seen(diag(h) / n + noise)[2, 2] * n * h[2]))
  # With little noise the squared ratio is 1 + 4 R^2 / (.4 n mu^2 curvature variance).
  plan <- dp_plan(1e6, numeric = 3, eps = 8, variance = 0.15, curvature = 0.2, inference = TRUE, method = "newton")
  expect_equal((plan$intervals$ratio^2 - 1) * 4e5 * plan$mu^2 * 0.2 * 0.15 / 16, rep(1 / 0.98, 3), tolerance = 1e-3)
  # An indicator of a fraction p has variance p (1 - p); with two factors each one has its own curvature.
  plan <- dp_plan(1e7, levels = c(2, 2), shares = list(c(0.9, 0.1), c(0.5, 0.5)), eps = 8, curvature = 0.2,
                  inference = TRUE, method = "newton")
  expect_equal((plan$intervals$ratio^2 - 1) * 0.4 * 1e7 * plan$mu^2 * 0.2 * c(0.09, 0.25) / (4 * 3), c(1, 1),
               tolerance = 0.3)
})

test_that("the inverse of a noisy matrix is that of simulated ones", {
  set.seed(1)
  for (d in c(3, 30)) {
    h <- diag(seq(1, 2, length.out = d))
    a <- diag(seq(2, 1, length.out = d))
    sd <- 0.5 / sqrt(2 * d)
    simulated <- replicate(400, {
      e <- matrix(rnorm(d^2, sd = sd), d)
      inverse <- solve(h + (e + t(e)) / 2)
      diag(inverse %*% a %*% inverse)
    })
    expect_equal(diag(noisy_inverse(h, sd)(a)), rowMeans(simulated), tolerance = 0.05)
    # Without that the mean would be too small.
    expect_lt(mean(diag(a) / diag(h)^2), 0.93 * mean(simulated))
    expect_equal(noisy_inverse(h, 1e-9)(a), solve(h, a) %*% solve(h))
    expect_true(all(is.finite(noisy_inverse(h, 100)(a))))
  }
})

test_that("widths agree with simulated ones up to six times the non-private", {
  # Median widths of 200 to 500 simulated runs each: columns, n, eps, ratio.
  seen <- rbind(c(3, 500, 4, 1.43), c(3, 1000, 1, 3.46), c(3, 1000, 4, 1.22), c(3, 2000, 0.5, 4.80),
                c(3, 2000, 1, 2.28), c(3, 2000, 4, 1.12), c(6, 5000, 0.5, 5.51), c(6, 20000, 0.5, 2.47),
                c(6, 1e5, 0.1, 5.39), c(6, 1e5, 0.5, 1.48))
  for (i in seq_len(nrow(seen))) {
    at <- seen[i, ]
    plan <- uniform_plan(at[1], at[2], at[3], if (at[1] == 3) 0.217 else 0.203)
    expect_equal(stats::median(plan$intervals$ratio), at[4], tolerance = 0.25)
  }
  beyond <- uniform_plan(6, 20000, 0.1, 0.203)
  expect_gt(stats::median(beyond$intervals$ratio), 6)
  expect_lt(stats::median(beyond$intervals$ratio), 17.62) # the result of simulated runs
  expect_output(print(beyond), "at least")
})

test_that("excess loss and target of newton agree with 40 simulated fits each", {
  seen <- rbind(c(5000, 0.5, 0.02992, 0.0764), c(5000, 1, 0.01554, 0.0397), c(5000, 4, 0.00330, 0.0109),
                c(20000, 0.5, 0.00622, 0.0212), c(20000, 1, 0.00214, 0.0109), c(20000, 4, 0.00055, 0.0030),
                c(50000, 1, 0.00050, 0.0046))
  for (i in seq_len(nrow(seen))) {
    plan <- frame_plan(seen[i, 1], seen[i, 2], method = "newton")
    expect_equal(plan$excess, seen[i, 3], tolerance = 0.25)
    expect_equal(plan$target, seen[i, 4] / sqrt(0.96), tolerance = 0.02)
  }
})

test_that("the path of newton has the mean and the variance of simulated ones", {
  # Steps on a quadratic from zero to one with noise; lambda0 is constant or, where the signal is strong, decreases.
  run <- list(iterations = 48, tail = 0.75, sd = 0.02, least = 0.3, lambda0 = 0.3)
  e <- c(0.04, 0.15)
  m <- c(0.06, 0.25)
  set.seed(1)
  simulated <- replicate(4000, {
    w <- c(0, 0)
    mean <- 0
    for (i in 1:48) {
      w <- w - (e * (w - 1) + rnorm(2, sd = run$sd)) / (m + run$lambda0)
      if (i > 12) mean <- mean + w / 36
    }
    mean
  })
  path <- newton_path(run, e, m, c(1, 1))
  expect_equal(path$reached, rowMeans(simulated), tolerance = 0.01)
  expect_equal(path$variance, apply(simulated, 1, stats::var), tolerance = 0.1)
  weak <- newton_path(utils::modifyList(run, list(least = 0.1, sd = 100)), e, m, c(1, 1))
  strong <- newton_path(utils::modifyList(run, list(least = 0.1, sd = 1e-6)), e, m, c(1, 1))
  expect_true(all(weak$reached < strong$reached))
  adapted <- function(along, least) newton_adapted(list(least = least), 0.3, rep(1, 50), 1, rep(along, 50))
  expect_equal(adapted(1e6, 0.1), 0.15, tolerance = 1e-3)
  expect_equal(adapted(1e6, 0.2), 0.2)
  # Noise alone exceeds the level with the probability that a normal number exceeds two.
  expect_equal(adapted(0, 0.1), 0.3 * 2^-stats::pnorm(-2))
})

test_that("excess loss and target agree with fits by both methods", {
  skip_on_cran() # it takes long
  beta <- c(0.7, -0.7, 0.7, 0.7, -0.7)
  n <- 3000
  set.seed(1)
  draw <- function(n) {
    x <- matrix(stats::runif(5 * n, -1, 1), n, dimnames = list(NULL, letters[1:5]))
    data.frame(x, y = stats::runif(n) < stats::plogis(x %*% beta - 0.5))
  }
  new <- draw(20000)
  truth <- stats::plogis(as.matrix(new[1:5]) %*% beta - 0.5)
  loss <- function(p) -mean(truth * log(p) + (1 - truth) * log(1 - p))
  for (method in c("newton", "newton-ridge")) {
    fits <- lapply(1:10, function(i) {
      suppressMessages(dp_sosp(y ~ ., draw(n), eps = 1, delta = 1 / n^2, method = method, noise = "reproducible",
                               bounds = stats::setNames(rep(list(I(c(-1, 1))), 5), letters[1:5])))
    })
    excess <- vapply(fits, function(fit) loss(predict(fit, new, type = "response")), 0) - loss(truth)
    plan <- dp_plan(n, numeric = 5, eps = 1, method = method, variance = 1 / 3, curvature = mean(truth * (1 - truth)))
    # The mean of 10 has a standard error of about 15 percent.
    expect_equal(plan$excess, mean(excess), tolerance = 0.4)
    expect_equal(plan$target, fits[[1]]$target$eps_g, tolerance = 0.02)
    expect_equal(plan$constant, loss(rep(mean(truth), 20000)) - loss(truth), tolerance = 0.1)
  }
})

test_that("widths, target and excess loss of fits with intervals agree with fits", {
  n <- 5000
  set.seed(2)
  draw <- function(n) {
    x <- matrix(stats::runif(3 * n, -1, 1), n, dimnames = list(NULL, letters[1:3]))
    data.frame(x, y = stats::runif(n) < stats::plogis(x %*% c(0.7, -0.7, 0.7)))
  }
  new <- draw(20000)
  p <- stats::plogis(as.matrix(new[1:3]) %*% c(0.7, -0.7, 0.7))
  exact <- sqrt(diag(solve(crossprod(cbind(1, as.matrix(new[1:3])) * sqrt(c(p * (1 - p)))) / 20000)) / n)[-1]
  fits <- lapply(1:5, function(i) {
    suppressMessages(dp_sosp(y ~ ., draw(n), eps = 1, inference = "sandwich", noise = "reproducible",
                             bounds = stats::setNames(rep(list(I(c(-1, 1))), 3), letters[1:3])))
  })
  width <- vapply(fits, function(fit) stats::median(sqrt(diag(fit$inference$vcov))[-1] / exact), 0)
  plan <- dp_plan(n, numeric = 3, eps = 1, inference = TRUE, variance = 1 / 3, curvature = mean(p * (1 - p)))
  expect_equal(plan$method, fits[[1]]$method)
  expect_equal(stats::median(plan$intervals$ratio), mean(width), tolerance = 0.25)
  expect_equal(plan$target, fits[[1]]$target$eps_g, tolerance = 0.02)
})

test_that("the target of every method is that of a fit", {
  data <- problem_frame(400)
  for (method in long_values(dpsosp:::methods_without("nonconvex"))) {
    for (eps in long_values(c(1, 8), nchar(method))) {
      fit <- suppressWarnings(quiet_fit(y ~ ., data, eps = eps, delta = 1e-6, method = method, bounds = frame_bounds))
      plan <- dp_plan(400, formula = y ~ ., schema = data, eps = eps, delta = 1e-6, method = method)
      # A fit may keep 0.2 percent of its budget for the fraction of usable records.
      expect_equal(plan$target, fit$target$eps_g, tolerance = 0.002, label = method)
      expect_identical(plan$trivial, isTRUE(fit$target$trivial), label = method)
      expect_identical(is.na(plan$excess), !method %in% c("newton", "newton-ridge"))
    }
  }
})

test_that("the excess of squared error agrees with fits, and falls in n and eps", {
  plan <- function(n, eps, ...) dp_plan(n, numeric = 5, eps = eps, variance = 0.15, effect = 1, loss = "squared", ...)
  seen <- mean(vapply(1:10, function(seed) {
    set.seed(seed)
    x <- matrix(runif(50000, -1, 1) * sqrt(0.45), 10000)
    slopes <- rnorm(5)
    slopes <- slopes / sqrt(mean(slopes^2))
    fit <- quiet_fit(y ~ ., data.frame(x, y = 5 + drop(x %*% slopes) + rnorm(10000)), eps = 2, method = "auto",
                     bounds = stats::setNames(rep(list(c(-1, 1)), 5), paste0("X", 1:5)), loss = loss_squared(c(-5, 15)),
                     delta = 1 / 10000^2, noise = "reproducible")
    wrong <- coef(fit) - c(5, slopes)
    (wrong[[1]]^2 + sum(wrong[-1]^2) * 0.15) / 2
  }, 0))
  expect_lt(abs(log(plan(10000, 2)$excess / seen)), 0.3)
  expect_gt(plan(5000, 1)$excess, plan(10000, 1)$excess)
  expect_gt(plan(5000, 1)$excess, plan(5000, 2)$excess)
  expect_equal(plan(5000, 1)$constant, 5 * 0.15 / 2)
  expect_equal(plan(200, 0.1)$excess, plan(200, 0.1)$constant + 1 / 400) # the level alone
  expect_equal(plan(1e9, 10)$excess, 6 / 2e9, tolerance = 0.1)
  expect_output(print(plan(5000, 1)), "excess loss")
  wrong <- list(list(method = "newton"), list(want = list(target = 1)), list(curvature = 0.2))
  for (wrong in wrong) {
    expect_error(do.call(plan, c(list(5000, 1), wrong)), "squared", class = "dpsosp_error_argument")
  }
})

test_that("the excess of counts agrees with fits, in nats per record, and huber's is near that of squares", {
  plan <- function(n, eps, level = 2, ...) {
    dp_plan(n, numeric = 5, eps = eps, variance = 0.15, effect = 0.4, loss = "poisson", level = level, ...)
  }
  seen <- mean(vapply(1:10, function(seed) {
    set.seed(seed)
    x <- matrix(runif(50000, -1, 1) * sqrt(0.45), 10000)
    slopes <- rnorm(5)
    slopes <- 0.4 * slopes / sqrt(mean(slopes^2))
    mean <- 2 * exp(drop(x %*% slopes))
    fit <- quiet_fit(y ~ ., data.frame(x, y = rpois(10000, mean)), eps = 1, method = "auto", loss = loss_poisson(),
                     bounds = stats::setNames(rep(list(c(-1, 1)), 5), paste0("X", 1:5)), delta = 1 / 10000^2,
                     noise = "reproducible")
    off <- drop(cbind(1, x) %*% (coef(fit) - c(log(2), slopes)))
    mean(mean * (expm1(off) - off))
  }, 0))
  expect_lt(abs(log(plan(10000, 1)$excess / seen)), 0.5)
  expect_equal(plan(5000, 1)$constant, 2 * 0.4^2 * 5 * 0.15 / 2)
  expect_gt(plan(5000, 1)$excess, plan(10000, 1)$excess)
  expect_equal(plan(1000, 0.1)$excess, plan(1000, 0.1)$constant + 1 / 2000) # the level alone
  numbers <- function(loss) dp_plan(20000, numeric = 5, eps = 1, effect = 1, loss = loss)$excess
  expect_lt(abs(log(numbers("huber") / numbers("squared"))), 0.3)
  expect_error(dp_plan(5000, numeric = 5, eps = 1, loss = "poisson"), "`level`", class = "dpsosp_error_argument")
  expect_error(dp_plan(5000, numeric = 5, eps = 1, level = 2), "counts", class = "dpsosp_error_argument")
})

test_that("an oracle without rows answers nothing and charges nothing", {
  plan <- frame_plan(5000, 1)
  budget <- dp_budget(mu = 1)
  oracle <- planned_oracle(list(n = 5000, design = plan$setting$frame, loss = loss_logistic(), budget = budget,
                                neighbours = "replace-one"))
  w <- numeric(14)
  refused <- function(entry, ...) expect_error(.Call(entry, oracle, ...), class = "dpsosp_error_argument")
  for (entry in list(ffi_oracle_value, ffi_oracle_gradient, ffi_oracle_hessian, ffi_oracle_products)) {
    refused(entry, w, 0.1, FALSE)
  }
  refused(ffi_oracle_moments, rep(1, 13), FALSE, 0.1, FALSE)
  refused(ffi_oracle_usable, 0.1, FALSE)
  refused(ffi_oracle_response, 0.1, FALSE)
  refused(ffi_oracle_decreases, w, w + 1, c(1, 2), 0.1, FALSE)
  for (first in c(TRUE, FALSE)) refused(ffi_oracle_choose, w, w + 1, c(1, 2), c(0, 0), first, 0.1, FALSE)
  options <- c(gd_options(list(control = control_gd()), 1), eps_g = 1, eps_h = 1)
  run <- function() {
    .Call(ffi_method_run, "gd", oracle, core_penalty(penalty_none(), TRUE, 14), options, 0.1, w, NULL, FALSE)
  }
  expect_error(run(), class = "dpsosp_error_argument")
  expect_identical(nrow(dp_ledger(budget)), 0L)
  expect_null(.Call(ffi_oracle_kept, oracle)$gradient)
})

test_that("the noise of a plan is that of an oracle with as many rows", {
  for (neighbours in c("replace-one", "zero-out")) {
    budget <- dp_budget(mu = 1)
    real <- dp_oracle(matrix(stats::runif(9000), 3000), rep(c(TRUE, FALSE), 1500), budget = budget, radius = 2,
                      neighbours = neighbours)
    columns <- data.frame(variable = letters[1:3], kind = "numeric")
    planned <- planned_oracle(list(n = 3000, design = list(columns = columns, intercept = TRUE, radius = 2),
                                   loss = loss_logistic(), budget = budget, neighbours = neighbours))
    w <- c(1, -2, 0.5, 3)
    for (query in c("gradient", "hessian", "majorant", "weighted", "moments")) {
      expect_identical(.Call(ffi_oracle_sd, planned, query, w, 0, 0.3),
                       .Call(ffi_oracle_sd, real$pointer, query, w, 0, 0.3))
    }
    expect_identical(attr(dp_gradient(real, w, rho = 0.2), "sd"), .Call(ffi_oracle_sd, planned, "gradient", w, 0, 0.2))
    expect_identical(attr(dp_hessian(real, w, rho = 0.2), "sd"), .Call(ffi_oracle_sd, planned, "hessian", w, 0, 0.2))
  }
})

test_that("a wish is met from the smallest n and eps on", {
  for (want in list(list(width = 2), list(target = 0.02))) {
    plan <- frame_plan(20000, 1, inference = TRUE, want = want)
    miss <- function(plan) if (is.null(want$target)) stats::median(plan$intervals$ratio) - 2 else plan$target - 0.02
    expect_lt(abs(miss(frame_plan(plan$want$n, 1, inference = TRUE))), 0.01)
    expect_gt(miss(frame_plan(floor(0.95 * plan$want$n), 1, inference = TRUE)), 0)
    expect_lt(miss(frame_plan(20000, 1.05 * plan$want$eps, inference = TRUE)), 0)
    expect_gt(miss(frame_plan(20000, 0.95 * plan$want$eps, inference = TRUE)), 0)
  }
  expect_identical(dp_plan(500, numeric = 2, eps = 0.1, want = list(target = 1e-4))$want$eps, NA_real_)
})

test_that("a plan falls in n and eps, and its parts are what they say", {
  for (method in c("newton", "newton-ridge")) {
    plan <- frame_plan(20000, 1, method = method)
    expect_gt(plan$excess, plan$sampling)
    expect_identical(plan$sampling, 14 / 40000)
    expect_equal(plan$noise, 2 / (20000 * plan$mu))
    for (more in list(frame_plan(40000, 1, method = method), frame_plan(20000, 2, method = method))) {
      expect_lt(more$excess, plan$excess)
      expect_lt(more$target, plan$target)
    }
    # As n grows without bound only the sampling error is left.
    expect_equal(frame_plan(2e9, 1, method = method)$excess, 14 / 4e9, tolerance = 0.01)
  }
  second <- sqrt(plan$target * 0.0962)
  expect_equal(plan$bound, required_rows("opt-ls", plan$target, second, 14, 1, plan$delta), tolerance = 0.01)
  expect_gt(plan$bound, 1e9)
})

test_that("auto is the method that a fit would take", {
  expect_identical(frame_plan(5000, 1)$method, "newton-ridge")
  expect_identical(frame_plan(5000, 1, inference = TRUE)$method, "newton-ridge")
  expect_identical(dp_plan(5000, eps = 1)$method, "newton")
})

test_that("a formula and a schema are the same as numbers of columns, and no value is read", {
  schema <- data.frame(y = factor(character(), c("a", "b")), x = double(), z = double(), f = factor(character(), 1:3))
  by_formula <- function(schema) {
    dp_plan(5000, formula = y ~ ., schema = schema, eps = 1, inference = TRUE)[c("excess", "target", "intervals")]
  }
  counted <- dp_plan(5000, numeric = 2, levels = 3, eps = 1, inference = TRUE)
  expect_equal(by_formula(schema)$excess, counted$excess)
  expect_equal(by_formula(schema)$intervals$ratio, counted$intervals$ratio)
  expect_identical(by_formula(schema)$intervals$column, c("x", "z", "f2", "f3"))
  full <- data.frame(y = factor(c("a", NA), c("a", "b")), x = c(Inf, NA), z = c(1e300, 2), f = factor(c(1, 1), 1:3))
  expect_identical(by_formula(full), by_formula(schema))
  # Without an intercept the first factor has an indicator of each level.
  bare <- dp_plan(5000, formula = y ~ f + x - 1, schema = schema, eps = 1, inference = TRUE)
  expect_identical(bare$d, 4L)
  expect_equal(bare$radius, sqrt(2))
})

test_that("what is not given is typical, in a plan as in the message of a fit", {
  of <- function(...) dp_plan(5000, numeric = 2, levels = 3, eps = 1, ...)[c("excess", "target", "constant")]
  expect_identical(of(variance = 0.1, curvature = 0.14, effect = 0.7), of())
  expect_false(identical(of(effect = 1), of()))
})

test_that("there is a plan for the least variances and fractions of levels", {
  for (eps in c(1e-3, 100)) {
    plan <- dp_plan(1e9, numeric = 3, levels = c(2, 3), shares = list(c(1e-6, 1 - 1e-6), c(1 - 2e-6, 1e-6, 1e-6)),
                    eps = eps, variance = c(1e-6, 1, 1e-6), inference = TRUE)
    expect_true(all(is.finite(plan$intervals$ratio) & plan$intervals$ratio >= 1) && plan$excess > 0)
  }
})

test_that("wrong arguments are named", {
  wrong <- function(pattern, ...) expect_error(dp_plan(100, ..., eps = 1), pattern, class = "dpsosp_error_argument")
  expect_error(dp_plan(100), "eps", class = "dpsosp_error_argument")
  expect_error(dp_plan(1, eps = 1), "`n`", class = "dpsosp_error_argument")
  wrong("levels", levels = 1)
  wrong("levels", levels = "a")
  wrong("numeric", numeric = 1.5)
  wrong("variance", numeric = 1, variance = 2)
  wrong("variance", numeric = 1, variance = 1e-12, inference = TRUE)
  wrong("variance", numeric = 2, variance = c(0.1, 0.1, 0.1))
  wrong("curvature", curvature = 0.3)
  wrong("effect", effect = 0)
  wrong("shares", levels = c(2, 3), shares = list(c(0.5, 0.5)))
  wrong("shares", levels = 2, shares = list(c(0.5, 0.6)))
  wrong("shares", levels = 2, shares = list(c(0, 1)))
  wrong("schema", formula = y ~ x)
  wrong("method", numeric = 1, method = "newton-rigde")
  wrong("intervals", numeric = 1, method = "opt", inference = TRUE)
  wrong("columns", method = "newton-ridge")
  wrong("want", numeric = 1, want = list(1))
  wrong("inference", numeric = 1, want = list(width = 2))
  wrong("width", numeric = 1, inference = TRUE, want = list(width = 1))
  wrong("at most 1000", numeric = 2000)
  wrong("Unknown", numeric = 1, ep = 2)
})

test_that("a plan is printed and drawn", {
  expect_snapshot({
    frame_plan(20000, 1, inference = TRUE, want = list(width = 2))
    dp_plan(5000, formula = cover ~ elevation + wilderness, schema = covertype[0, ], eps = 0.5,
            want = list(target = 1e-3))
  })
  plan <- frame_plan(20000, 1, inference = TRUE)
  file <- withr::local_tempfile(fileext = ".pdf")
  withr::with_pdf(file, expect_invisible(plot(plan)))
  expect_gt(file.size(file), 2000)
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(plan)
  expect_s3_class(picture, "ggplot")
  expect_identical(unique(picture$data$what), c("excess loss", "median width, times the non-private"))
})

test_that("a plan of too few records for columns says that it does not know the noise of the level", {
  for (loss in c("squared", "huber", "poisson")) {
    level <- if (loss == "poisson") 2
    wrong <- function(pattern, ...) {
      expect_error(dp_plan(1000, ..., eps = 1, loss = loss, level = level), pattern, class = "dpsosp_error_argument")
    }
    few <- dp_plan(10, numeric = 1, eps = 1, loss = loss, level = level)
    expect_equal(few$excess, few$constant + 1 / 20)
    expect_output(print(few), "at least")
    wrong("Without columns")
    wrong("`method` must be", numeric = 1, method = NULL)
    wrong("`effect`", numeric = 1, effect = 1e300)
  }
})

test_that("the picture of a plan has a panel for its excess loss, and one for its intervals if it has any", {
  for (intervals in c(FALSE, TRUE)) {
    grid <- plan_grid(dp_plan(1e4, numeric = 3, eps = 1, inference = intervals))
    expect_length(unique(grid$what), 1 + intervals)
    expect_equal(range(grid$eps), c(0.1, 10))
    here <- abs(grid$eps - 1) < 1e-12
    expect_equal(grid$value[here], grid$here[here])
    expect_identical(vapply(split(grid$value, grid$what), function(x) max(diff(x)) < 0, NA, USE.NAMES = FALSE),
                     rep(TRUE, 1 + intervals))
  }
})
