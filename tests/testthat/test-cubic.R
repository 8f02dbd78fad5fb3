p <- problem_matrix(4000, 3)
z <- unit_rows(p$x, 2)
study <- function(..., control = control_cubic(), eps = 300, seed = 1) {
  set.seed(seed)
  quiet_fit(p$x, p$y, eps = eps, delta = 1e-6, radius = 2, method = "cubic", control = control, noise = "reproducible",
            ...)
}

test_that("the direct solver comes near the minimum and certifies it", {
  minimum <- exact_minimum(z, p$y)
  fit <- study(control = control_cubic(iterations = 10))
  expect_lt(exact_value(z, p$y, coef(fit) * 2) - exact_value(z, p$y, minimum), 2e-3)
  norm <- sqrt(sum(exact_gradient(z, p$y, coef(fit) * 2)^2))
  expect_lte(norm, fit$certificate$gradient[["upper"]])
  expect_equal(fit$status == "sosp", fit$certificate$gradient[["upper"]] <= fit$target$eps_g)
  expect_equal(sum(fit$privacy$ledger$rho), fit$privacy$rho)
  expect_equal(run_ledger(fit)$what, c(rep(c("gradient", "hessian"), 10), "gradient"))
  ridge <- study(penalty = penalty_ridge(0.05))
  expect_lt(sqrt(sum((coef(ridge) * 2 - exact_minimum(z, p$y, 0.05))^2)), 0.05)
})

test_that("a small ball holds the solution", {
  expect_lte(sqrt(sum((coef(study(control = control_cubic(diameter = 1))) * 2)^2)), 0.5 * (1 + 1e-12))
  expect_gt(sqrt(sum((coef(study(control = control_cubic(diameter = Inf))) * 2)^2)), 1)
})

test_that("with a target the direct solver ends at the first point that meets it, and the rest is not spent", {
  fit <- study(control = control_cubic(iterations = 10), target = sosp(0.05, 0.5))
  expect_equal(fit$status, "sosp")
  expect_lte(fit$certificate$gradient[["upper"]], 0.05)
  steps <- sum(fit$privacy$ledger$what == "hessian")
  expect_lt(steps, 10)
  expect_equal(run_ledger(fit)$what, c(rep(c("gradient", "hessian"), steps), "gradient", "unused"))
})

test_that("inner steps solve the strongly convex problem, with the noise of each point", {
  control <- control_cubic("inner", iterations = 3, inner_steps = 200, diameter = 20)
  fit <- study(control = control, penalty = penalty_ridge(0.05), intercept = FALSE)
  free <- unit_rows(p$x, 2, FALSE)
  expect_lt(sqrt(sum((coef(fit) * 2 - exact_minimum(free, p$y, 0.05, free = integer()))^2)), 0.3)
  few <- function(neighbours) {
    run_ledger(study(control = control_cubic("inner", 2, 3, diameter = 20), penalty = penalty_ridge(0.05),
                     intercept = FALSE, eps = 1, neighbours = neighbours))
  }
  ledger <- few("replace-one")
  expect_equal(ledger$what, c(rep("model gradient", 4), "gradient"))
  # At the iterate itself the model's gradient is the gradient, at w = 0 first. The next point lies in the ball of
  # radius 10.
  expect_equal(ledger$sensitivity[1], 1 / 4000, tolerance = 1e-6)
  expect_gt(ledger$sensitivity[2] * 4000, 1)
  expect_lte(ledger$sensitivity[2] * 4000, (1 + 0.25 * 10) * (1 + 1e-6))
  expect_equal(few("zero-out")$sensitivity[1], 0.5 / 4000, tolerance = 1e-6)
})

test_that("what the method cannot do is refused", {
  expect_error(study(loss = "sigmoid"), class = "dpsosp_error_nonconvex")
  expect_error(study(control = control_cubic("inner")), "ridge", class = "dpsosp_error_argument")
  expect_error(study(control = control_cubic("inner"), penalty = penalty_ridge(0.1)), "intercept",
               class = "dpsosp_error_argument")
  # Also before ranges are found.
  budget <- dp_budget(rho = 1)
  expect_error(quiet_fit(y ~ a, problem_frame(50), budget = budget, method = "cubic", control = control_cubic("inner"),
                         penalty = penalty_ridge(0.1)), "`- 1` in a formula", class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
  expect_error(study(control = control_gd()), class = "dpsosp_error_argument")
  expect_error(control_cubic("inner", diameter = Inf), class = "dpsosp_error_argument")
  expect_error(control_cubic(inner_steps = 1), class = "dpsosp_error_argument")
})
