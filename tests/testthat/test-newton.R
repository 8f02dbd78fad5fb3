p <- problem_matrix(4000, 3)
z <- unit_rows(p$x, 2)
minimum <- exact_minimum(z, p$y)
study <- function(..., control = control_newton("hessian"), method = "newton", eps = 200) {
  set.seed(1)
  quiet_fit(p$x, p$y > 0, eps = eps, delta = 1e-6, radius = 2, method = method, control = control,
            noise = "reproducible", ...)
}
gradient_at <- function(fit, lambda = 0) {
  w <- coef(fit) * 2
  sqrt(sum((exact_gradient(z, p$y, w) + lambda * c(0, w[-1]))^2))
}

test_that("every kind of curvature comes near the minimum and certifies it", {
  for (curvature in c("hessian", "qu", "lazy", "direct")) {
    for (modify in c("add", "clip")) {
      fit <- study(control = control_newton(curvature, modify, iterations = 30))
      expect_lt(exact_value(z, p$y, coef(fit) * 2) - exact_value(z, p$y, minimum), 2e-3)
      expect_lte(gradient_at(fit), fit$certificate$gradient[["upper"]])
      expect_lt(fit$certificate$gradient[["upper"]], 0.03)
      expect_equal(fit$status == "sosp", fit$certificate$gradient[["upper"]] <= fit$target$eps_g)
      expect_equal(fit$certificate$eigenvalue[["lower"]], 0)
      expect_true(fit$certificate$eigenvalue_known)
      expect_equal(sum(fit$privacy$ledger$rho), fit$privacy$rho)
      expect_equal(fit$privacy$accountant, "gdp")
      expect_equal(fit$iterations[["planned"]], 30)
    }
  }
})

test_that("damped Newton chooses its steps privately and leaves a far start", {
  far <- c(4, -4, 4, -4)
  damped <- study(method = "damped-newton", control = control_newton("direct", iterations = 10), start = far)
  expect_equal(sum(damped$trace$query == "line search"), damped$iterations[["planned"]])
  excess <- function(w) exact_value(z, p$y, w * 2) - exact_value(z, p$y, minimum)
  expect_lt(excess(coef(damped)), excess(far) / 10)
})

test_that("a ridge penalty is part of the objective and quiets directions", {
  ridge <- study(penalty = penalty_ridge(0.05), control = control_newton("hessian", iterations = 15))
  expect_lt(gradient_at(ridge, 0.05), 0.01)
  noise <- function(fit) {
    rows <- fit$trace[fit$trace$query == "direction", ]
    at <- fit$trace$estimate[fit$trace$query == "gradient"][seq_len(nrow(rows))]
    rows$sd / at
  }
  q <- problem_matrix(500, 2, seed = 3)
  free <- function(...) {
    set.seed(1)
    quiet_fit(q$x, q$y > 0, eps = 1, delta = 1e-6, radius = 2, intercept = FALSE, method = "newton",
              control = control_newton("hessian", lambda0 = 0.02), noise = "reproducible", ...)
  }
  # Smallest eigenvalue lambda0 + 0.08 instead of lambda0: c / (m (m + c)) with c = 1 / 2000.
  ratio <- noise(free())[1] / noise(free(penalty = penalty_ridge(0.08)))[1]
  expect_equal(ratio, 0.1 * 0.1005 / (0.02 * 0.0205), tolerance = 1e-6)
})

test_that("what was asked of each question is in the ledger", {
  fit <- study(eps = 1, control = control_newton("hessian", iterations = 4))
  expect_equal(run_ledger(fit)$what, c(rep(c("gradient", "trace", "direction"), 4), "gradient"))
  lazy <- study(eps = 1, control = control_newton("lazy", iterations = 4, curvature_share = 0.2,
                                                  certificate_share = 0.1))
  expect_equal(run_ledger(lazy)$what, c("majorant", rep("gradient", 5)))
  rho <- run_ledger(lazy)$rho
  expect_equal(rho / sum(rho), c(0.18, rep(0.18, 4), 0.1), tolerance = 1e-9)
  direct <- study(eps = 1, control = control_newton("direct", iterations = 2))
  expect_equal(run_ledger(direct)$what, c("gradient", "hessian", "gradient", "hessian", "gradient"))
  # Sensitivities of the gradient, 1 / n at w = 0, and of the Hessian, sqrt(2) / 4 / n.
  expect_equal(run_ledger(direct)$sensitivity[1:2] * 4000, c(1, sqrt(2) / 4), tolerance = 1e-6)
  half <- study(eps = 1, control = control_newton("direct", iterations = 2), neighbours = "zero-out")
  expect_equal(run_ledger(half)$sensitivity[1:2] * 4000, c(1 / 2, 1 / 4), tolerance = 1e-6)
})

test_that("a target that is met ends the run, and the rest is not used", {
  fit <- study(target = sosp(0.05, 0.1))
  expect_equal(fit$status, "sosp")
  expect_equal(tail(fit$privacy$ledger$what, 1), "unused")
  expect_lte(fit$certificate$gradient[["upper"]], 0.05)
  expect_equal(study(eps = 0.5, target = sosp(1e-6, 0.1))$status, "iterations")
})

test_that("formulas, shared budgets and update() work as with the other methods", {
  d <- problem_frame(500)
  budget <- dp_budget(eps = 2, delta = 1e-6)
  fit <- dp_sosp(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = frame_bounds[c("a", "b")], method = "newton",
                 budget = budget)
  expect_equal(names(coef(fit)), c("(Intercept)", "a", "b"))
  expect_equal(sum(dp_ledger(budget)$rho), fit$privacy$rho)
  damped <- update(fit, method = "damped-newton", budget = NULL)
  expect_equal(damped$method, "damped-newton")
  expect_equal(damped$control$curvature, "direct")
  expect_true(all(nchar(capture.output(print(fit))) <= 80))
  expect_match(capture.output(summary(fit)), "1 majorant", all = FALSE)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  expect_s3_class(plot(fit), "dp_sosp")
})

test_that("problems that are not convex are refused with the reason, before anything is charged", {
  budget <- dp_budget(rho = 1)
  refused <- function(...) {
    expect_error(dp_sosp(p$x, p$y > 0, budget = budget, radius = 2, ...), class = "dpsosp_error_nonconvex")
  }
  for (method in c("newton", "damped-newton")) {
    refused(method = method, loss = "sigmoid")
    refused(method = method, penalty = penalty_nonconvex(0.1))
  }
  expect_equal(nrow(dp_ledger(budget)), 0)
  # Other methods have other reasons.
  for (method in c("objpert", "outpert", "cubic")) {
    refused <- expect_error(dp_sosp(p$x, p$y > 0, eps = 1, radius = 2, method = method, loss = "sigmoid"),
                            "convex", class = "dpsosp_error_nonconvex")
    expect_false(grepl("Newton", conditionMessage(refused)))
  }
  expect_error(dp_sosp(p$x, p$y > 0, eps = 1, radius = 2, method = "newton", loss = "sigmoid"),
               class = "dpsosp_error_argument")
})

test_that("wrong settings are refused by name", {
  expect_errors(
    control_newton("bfgs"),
    control_newton(modify = "shift"),
    control_newton(iterations = 0),
    control_newton(lambda0 = 0),
    control_newton(lambda_scale = -1),
    control_newton(curvature_share = 1),
    control_newton(tail = 1.5),
    dp_sosp(p$x, p$y > 0, eps = 1, radius = 2, method = "newton", control = control_opt()),
    dp_sosp(p$x, p$y > 0, eps = 1, radius = 2, control = control_newton()),
    dp_sosp(p$x, p$y > 0, eps = 1, radius = 2, method = "damped-newton", control = control_newton("qu")),
    dp_sosp(p$x, p$y > 0, eps = 1, radius = 2, method = "newton", loss = "sigmoid"),
    dp_sosp(p$x, p$y > 0, eps = 1, radius = 2, method = "newton", penalty = penalty_nonconvex(0.1))
  )
  expect_snapshot(control_newton("lazy"))
})
