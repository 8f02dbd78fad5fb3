# Methods on batches, attacked from outside. One record is not null; its label is 1 or -1. With published constants each
# step goes along the noisy gradient, so the solution is the sum of what the batches said. Noise in proportion to 1 / n
# instead of 1 / batch would be twenty times too small, and the record seen in five of a hundred batches.

audit_batches <- function(method, control, runs) {
  n <- 80
  plan <- event_repeat(event_subsample(event_gaussian(3), 0.05), 100)
  x <- matrix(c(1, rep(0, n - 1)), n)
  release <- function(label) {
    budget <- dp_budget(eps = 1, delta = 1e-5, plan = plan)
    fit <- quiet_fit(x, c(label, rep(NA, n - 1)), method = method, loss = "sigmoid", radius = 1, intercept = FALSE,
                     target = sosp(1e-4, 0.2), control = control, budget = budget)
    coef(fit)[[1]]
  }
  dp_audit(release, list(-1, 1), 1, 1e-5, runs = runs, conf = 0.99, progress = FALSE)
}

test_that("the true eps of steps on batches is not seen to exceed the claim", {
  skip_on_cran()
  settings <- list("published", gap = 1, max_iterations = 100, batch = 4, batch_share = 0.95)
  expect_lte(audit_batches("opt-b", do.call(control_opt, settings), 50)$bound, 1)
  expect_lte(audit_batches("tr-b", do.call(control_tr, settings), 60)$bound, 1)
})
