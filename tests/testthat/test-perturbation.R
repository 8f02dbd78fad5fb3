p <- problem_matrix(3000, 3)
# What the capacity of such a fit follows from: log(1 + s (1 - s) / n_lambda) <= top + tilt (1 - s), s the slope of the
# logistic loss, and the deltas of Gaussian DP of src/acct/perturbed.c.
delta_of <- function(mu, eps, how) {
  gaussian <- function(part, shift) dp_convert(mu = mu * sqrt(part), eps = eps - shift, to = "delta")
  flat <- how[["top"]] + how[["tilt"]]
  share <- how[["share"]]
  gaussian(1, how[["top"]]) + gaussian(1 - 0.75 * share, how[["top"]]) + gaussian(1 - 0.75 * share, flat) +
    gaussian(1 - share, flat)
}
excess_at <- function(n_lambda, how) {
  s <- seq(0, 1, 1e-4)
  how[["top"]] + how[["tilt"]] * (1 - s) - log1p(s * (1 - s) / n_lambda)
}
z <- unit_rows(p$x, 2)
study <- function(method = "objpert", eps = 200, ..., seed = 1) {
  set.seed(seed)
  quiet_fit(p$x, p$y > 0, eps = eps, delta = 1e-6, radius = 2, method = method, noise = "reproducible", ...)
}

test_that("with a large budget the solution is the minimiser of the regularised objective", {
  for (method in c("objpert", "outpert")) {
    for (penalty in list(NULL, penalty_ridge(0.03))) {
      fit <- study(method, eps = 1e5, penalty = penalty, control = control_perturbation(lambda = 0.01))
      w <- coef(fit) * 2
      gradient <- exact_gradient(z, p$y, w) + 0.01 * w + c(0, w[-1]) * if (is.null(penalty)) 0 else 0.03
      expect_lt(sqrt(sum(gradient^2)), 2e-4)
    }
  }
})

test_that("the free certificate holds, and is no idle one", {
  for (method in c("objpert", "outpert")) {
    for (eps in c(0.5, 4)) {
      for (seed in 1:5) {
        fit <- study(method, eps, seed = seed)
        norm <- sqrt(sum(exact_gradient(z, p$y, coef(fit) * 2)^2))
        expect_lte(norm, fit$certificate$gradient[["upper"]])
        # "noise", if the fit is not measured to be better than a constant.
        expect_equal(fit$status %in% c("sosp", "noise") || isTRUE(fit$target$trivial),
                     fit$certificate$gradient[["upper"]] <= fit$target$eps_g)
        expect_true(is.na(fit$certificate$gradient[["estimate"]]) && fit$certificate$eigenvalue_known)
      }
    }
  }
  expect_lt(study("objpert", 4)$certificate$gradient[["upper"]], 0.05)
})

test_that("the noise in the gradient is that of the ledger: s / n, half under zero-out", {
  for (neighbours in long_values(c("replace-one", "zero-out"))) {
    noise <- vapply(1:40, function(seed) {
      fit <- study(eps = 1, control = control_perturbation(lambda = 0.05), neighbours = neighbours, seed = seed)
      w <- coef(fit) * 2
      c(exact_gradient(z, p$y, w) + 0.05 * w, run_ledger(fit)$scale[1])
    }, numeric(5))
    s <- if (neighbours == "replace-one") 2 else 1
    fit <- study(eps = 1, control = control_perturbation(lambda = 0.05), neighbours = neighbours)
    expect_equal(unique(noise[5, ]), s / sqrt(2 * 0.999 * (1 - 0.002 - 0.03) * fit$privacy$rho), tolerance = 1e-6)
    # 160 normal numbers: their root mean square differs from one by more than 0.28 with probability below 1e-6
    expect_equal(sqrt(mean((noise[1:4, ] * 3000 / noise[5, 1])^2)), 1, tolerance = 0.28)
  }
})

test_that("what the fit may spend is the largest mu whose tails leave delta at eps", {
  fit <- study(eps = 0.7, control = control_perturbation(lambda = 0.004))
  how <- fit$privacy$perturbed
  expect_equal(how[["one_sign"]], 1)
  expect_equal(how[["share"]], dpsosp:::perturbed_share * 0.999)
  expect_gte(min(excess_at(3000 * 0.004, how)), 0)
  expect_lt(min(excess_at(3000 * 0.004, how)), 1e-5)
  mu <- sqrt(2 * fit$privacy$rho)
  expect_equal(delta_of(mu, 0.7, how), 1e-6, tolerance = 1e-6)
  # All but 2 percent of a Gaussian release, where the classical bound leaves 80 percent.
  expect_gt(mu, 0.98 * dp_convert(eps = 0.7, delta = 1e-6, to = "mu"))
  kappa <- log1p(0.25 / (3000 * 0.004))
  expect_gt(mu, dp_convert(eps = 0.7 - kappa, delta = 1e-6 / 4, to = "mu"))
  expect_equal(fit$privacy[c("eps", "delta", "accountant")], list(eps = 0.7, delta = 1e-6, accountant = "perturbed"))
  expect_equal(sum(fit$privacy$ledger$rho), fit$privacy$rho)
  expect_equal(run_ledger(fit)$what[1:2], c("perturbed minimiser", "rounding"))
  expect_equal(run_ledger(fit)$rho[2] / fit$privacy$rho, 0.001 * (1 - 0.002 - 0.03), tolerance = 1e-6)
  expect_equal(run_ledger(fit)$sensitivity[1], 2)
})

# How far two records' gradients are apart where the objective may have its minimum: |w| <= sqrt(2 log(2) / lambda).
output_change <- function(lambda) {
  distance <- function(a) 2 * stats::plogis(sqrt(2 * log(2) / lambda) * a) * sqrt(1 - a^2)
  stats::optimize(distance, c(0, 1), maximum = TRUE, tol = 1e-10)$objective
}

test_that("output perturbation is Gaussian, with the sensitivity of a gradient in the ball of minimisers over lambda", {
  fit <- study("outpert", 1, control = control_perturbation(lambda = 0.02))
  expect_equal(fit$privacy$accountant, "gdp")
  expect_equal(run_ledger(fit)$what[1], "minimiser")
  expect_equal(run_ledger(fit)$sensitivity[1], output_change(0.02) / (3000 * 0.02), tolerance = 1e-6)
  expect_equal(sum(fit$privacy$ledger$rho), fit$privacy$rho)
  budget <- dp_budget(eps = 2, delta = 1e-6)
  shared <- quiet_fit(p$x, p$y > 0, eps = 1, radius = 2, method = "outpert", budget = budget)
  expect_equal(sum(dp_ledger(budget)$rho), shared$privacy$rho, tolerance = 1e-9)
  # The penalty alone makes the objective strongly convex if it applies to every coefficient.
  by_penalty <- study("outpert", 1, control = control_perturbation(lambda = 0), penalty = penalty_ridge(0.05),
                      intercept = FALSE)
  expect_equal(run_ledger(by_penalty)$sensitivity[1], output_change(0.05) / (3000 * 0.05), tolerance = 1e-6)
  expect_error(study("outpert", 1, control = control_perturbation(lambda = 0), penalty = penalty_ridge(0.05)),
               class = "dpsosp_error_argument")
})

test_that("the default lambda is the public rule's", {
  fit <- study(eps = 2, control = control_perturbation(size = 5, kappa_share = 0.2))
  noise <- 2 / dp_convert(eps = 2, delta = 1e-6, to = "mu") / 3000
  lambda <- max(noise * 2 / 5, 0.25 / (3000 * (exp(0.2 * 2) - 1)))
  noise_only <- 2 / sqrt(2 * 0.999 * (1 - 0.002 - 0.03) * fit$privacy$rho)
  expect_equal(run_ledger(fit)$scale[1], noise_only, tolerance = 1e-6)
  expect_lt(abs(min(excess_at(3000 * lambda, fit$privacy$perturbed))), 1e-4)
  # With a very large size the share of kappa decides.
  small <- study(eps = 0.1, control = control_perturbation(size = 1e5))
  expect_lt(abs(min(excess_at(0.25 / expm1(0.3 * 0.1), small$privacy$perturbed))), 1e-4)
})

test_that("losses with slopes of two signs have twice the tails, and a part of the determinants for each slope", {
  fit <- quiet_fit(p$x, tanh(p$x[, 1]), eps = 1, delta = 1e-6, radius = 2, method = "objpert",
                   loss = loss_huber(c(-1, 1)), control = control_perturbation(lambda = 0.01))
  how <- fit$privacy$perturbed
  kappa <- log1p(1 / (3000 * 0.01))
  expect_equal(unname(how), c(0, kappa, 0, dpsosp:::perturbed_share * 0.999), tolerance = 1e-9)
  mu <- sqrt(2 * fit$privacy$rho)
  gaussian <- function(part) dp_convert(mu = mu * sqrt(part), eps = 1 - kappa, to = "delta")
  expect_equal(2 * gaussian(1) + 2 * gaussian(1 - how[["share"]] / 2), 1e-6, tolerance = 1e-6)
  svm <- study(eps = 1, loss = loss_huber_svm(), control = control_perturbation(lambda = 0.01))
  expect_equal(unname(svm$privacy$perturbed), c(1, kappa, 0, dpsosp:::perturbed_share * 0.999), tolerance = 1e-9)
  expect_gt(svm$privacy$rho, fit$privacy$rho)
})

test_that("formulas, private ranges, printing and update() work as with the other methods", {
  d <- problem_frame(500)
  fit <- suppressMessages(dp_sosp(y ~ a + b, d, eps = 3, delta = 1e-6, bounds = frame_bounds["a"], method = "objpert"))
  expect_equal(names(coef(fit)), c("(Intercept)", "a", "b"))
  expect_true("perturbed minimiser" %in% fit$privacy$ledger$what && fit$privacy$ledger$what[1] != "perturbed minimiser")
  expect_equal(sum(fit$privacy$ledger$rho), fit$privacy$rho)
  shown <- capture.output(print(fit))
  expect_true(all(nchar(shown) <= 80))
  expect_match(shown, "objective perturbation", all = FALSE)
  expect_match(capture.output(summary(fit)), "1 minimiser", all = FALSE)
  expect_warning(other <- update(fit, method = "outpert"), "too small to certify")
  expect_equal(other$method, "outpert")
  expect_equal(length(predict(fit, d)), 500)
})

test_that("what objective perturbation cannot do is refused with the reason, before anything is charged", {
  budget <- dp_budget(eps = 2, delta = 1e-6)
  expect_error(dp_sosp(p$x, p$y > 0, eps = 1, budget = budget, radius = 2, method = "objpert"), "budget of its own",
               class = "dpsosp_error_argument")
  for (method in c("objpert", "outpert")) {
    expect_error(dp_sosp(p$x, p$y > 0, budget = budget, radius = 2, method = method, loss = "sigmoid"),
                 class = "dpsosp_error_nonconvex")
    expect_error(dp_sosp(p$x, p$y > 0, budget = budget, radius = 2, method = method, penalty = penalty_nonconvex(0.1)),
                 class = "dpsosp_error_nonconvex")
  }
  expect_equal(nrow(dp_ledger(budget)), 0)
  expect_error(study(eps = 0.1, control = control_perturbation(lambda = 1e-6)), "too small",
               class = "dpsosp_error_argument")
  expect_error(study(control = control_newton()), class = "dpsosp_error_argument")
  expect_error(control_perturbation(lambda = -1), class = "dpsosp_error_argument")
  expect_error(control_perturbation(size = 0), class = "dpsosp_error_argument")
  expect_error(control_perturbation(kappa_share = 1), class = "dpsosp_error_argument")
})

test_that("less noise means a larger solution to aim at, and more budget less of a penalty", {
  size <- function(noise) dpsosp:::perturbation_size(noise, loss_logistic())
  expect_equal(size(0.01), 20)
  expect_gt(size(0.001), size(0.01))
  job <- list(n = 3000, dim = 4, delta = 1e-6, neighbours = "replace-one", loss = loss_logistic(),
              method = list(output = FALSE), control = control_perturbation())
  expect_lt(dpsosp:::perturbation_lambda(job, 4), dpsosp:::perturbation_lambda(job, 0.2) / 4)
})

test_that("ranges and a geometry leave the minimiser what its accounting needs", {
  d <- problem_frame(3000)
  fit <- quiet_fit(y ~ a + b, d, eps = 1, delta = 1e-6, method = "objpert", geometry = "private")
  expect_true(all(c("ranges", "moments", "perturbed minimiser") %in% dp_ledger(fit)$what))
})
