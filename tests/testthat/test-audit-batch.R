# Black-box attacks on methods with batches (helper-audit.R). With noise in proportion to 1 / n instead of 1 / batch,
# the noise would be twenty times too small; 30 runs that all are told apart have a bound of 1.6.

audit_batches <- function(method, ...) {
  dp_audit(batch_release(method, 1, 1e-5, 3, ...), list(NA, 1), 1, 1e-5, runs = long_size(60, 30), conf = 0.99,
           progress = FALSE)
}

test_that("the true eps of steps on batches is not seen to exceed the claim", {
  skip_on_cran()
  for (method in long_values(setdiff(names(batch_controls), "blsgd"))) expect_lte(audit_batches(method)$bound, 1)
})

test_that("nor is that of line searches that have batches of their own", {
  skip_unless_long()
  skip_on_cran()
  control <- control_line_search(attempts = 50, batch = 4, gradient_share = 0.01, certificate_share = 1e-6)
  expect_lte(audit_batches("blsgd", loss = "logistic")$bound, 1)
  expect_lte(audit_batches("blsgd", control, "logistic", "batch line search", column = "step")$bound, 1)
})

test_that("nor is that of the traces that Newton's method releases with its directions", {
  skip_on_cran()
  # The penalty keeps w near zero, where the curvature is largest.
  control <- control_newton("hessian", iterations = 50, batch = 4, curvature_share = 0.9, trace_share = 0.9,
                            certificate_share = 1e-6)
  expect_lte(audit_batches("newton-b", control, "logistic", "batch trace", penalty_ridge(100))$bound, 1)
})
