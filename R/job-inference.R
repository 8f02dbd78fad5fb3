# The stage of a job that releases what intervals need: gradient, Hessian and second moments of the records' gradients,
# at the solution, in the coordinates of the job's geometry or, where it has none, of the mapped rows. It adds to the
# job
#   intervals  if they are requested:
#     type          "sandwich" or "model"
#     released      point, noisy releases, n and, in a geometry, longest, the length from which on rows weigh less
#                   (job-intervals.R, of fits by residuals job-intervals-residual.R)
#     coefficients, vcov, reason  (step_intervals())
#     predictor     coefficients for predictions

job_intervals <- function(job) {
  if (job$inference == "none") return(job)
  rho <- budget_state(job$budget)$left - job$end
  if (job$method$residuals) {
    facts <- residual_facts(job, known_level(job))
    return(add_entries(job, intervals = infer_residuals(job$oracle, facts, job$solution, rho, job$n)))
  }
  geometry <- damped_geometry(job$geometry, path_loss(job), job$n, rho)
  oracle <- if (is.null(geometry)) job$oracle else plain_oracle(job)
  add_entries(job, intervals = infer(oracle, job$design, geometry, job$solution, job$inference, rho, job$n))
}
