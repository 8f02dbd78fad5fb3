# Methods on batches, attacked from outside: one record is there or is a null record, all others are null, and the
# gradients released on batches are longer when it is among their rows, in five of a hundred. Noise in proportion to
# 1 / n instead of 1 / batch would be twenty times too small. Next to nothing is left for answers about all rows.

audit_batches <- function(method, control, runs, loss = "sigmoid", query = "batch gradient",
                          penalty = NULL) {
  n <- 80
  plan <- event_repeat(event_subsample(event_gaussian(3, "zero-out"), 0.05), 50)
  x <- matrix(c(1, rep(0, n - 1)), n)
  release <- function(label) {
    budget <- dp_budget(eps = 1, delta = 1e-5, plan = plan)
    fit <- quiet_fit(x, c(label, rep(NA, n - 1)), method = method, loss = loss, penalty = penalty, radius = 1,
                     intercept = FALSE, target = sosp(1e-7, 0.2), control = control, budget = budget,
                     neighbours = "zero-out")
    sum(fit$trace$estimate[fit$trace$query == query]^2)
  }
  dp_audit(release, list(NA, 1), 1, 1e-5, runs = runs, conf = 0.99, progress = FALSE)
}

test_that("the true eps of steps on batches is not seen to exceed the claim", {
  skip_on_cran()
  settings <- list("published", gap = 1, max_iterations = 50, batch = 4, batch_share = 1 - 1e-6)
  expect_lte(audit_batches("tr-b", do.call(control_tr, c(settings, stop = "explicit")), 60)$bound, 1)
  expect_lte(audit_batches("opt-b", do.call(control_opt, settings), 60)$bound, 1)
})

test_that("nor is that of the traces that Newton's method releases with its directions", {
  skip_on_cran()
  # The penalty keeps w near zero, where curvature is largest.
  control <- control_newton("hessian", iterations = 50, batch = 4, curvature_share = 0.9, trace_share = 0.9,
                            certificate_share = 1e-6)
  expect_lte(audit_batches("newton-b", control, 60, "logistic", "batch trace", penalty_ridge(100))$bound, 1)
})
