# Black-box attacks on methods with batches, for dp_audit(). One record is present or null (label NA), all others are
# null; releases on a batch are larger if it contains the record. A batch has four of the eighty records. Almost no
# budget is left for releases on the full data. dev/audit.R uses this file, too.

batch_settings <- list("published", gap = 1, max_iterations = 50, batch = 4, batch_share = 1 - 1e-6)
batch_controls <- list("tr-b" = do.call(control_tr, c(batch_settings, stop = "explicit")),
                       "opt-b" = do.call(control_opt, batch_settings),
                       blsgd = control_line_search(attempts = 50, batch = 4, certificate_share = 1e-6))

# A function of the label that returns the sum of squares of a column of the trace, over a run's releases for query;
# sigma: of the planned steps.
batch_release <- function(method, eps, delta, sigma, control = batch_controls[[method]], loss = "sigmoid",
                          query = "batch gradient", penalty = NULL, column = "estimate") {
  n <- 80
  plan <- event_repeat(event_subsample(event_gaussian(sigma, "zero-out"), 4 / n), 50)
  x <- matrix(c(1, rep(0, n - 1)), n)
  function(label) {
    fit <- quiet_fit(x, c(label, rep(NA, n - 1)), method = method, loss = loss, penalty = penalty, radius = 1,
                     intercept = FALSE, target = sosp(1e-7, 0.2), control = control,
                     budget = dp_budget(eps = eps, delta = delta, plan = plan), neighbours = "zero-out")
    sum(fit$trace[fit$trace$query == query, column]^2)
  }
}
