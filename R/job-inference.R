# The stage of a job that releases what intervals need: gradient, Hessian and second moments of the records' gradients,
# at the solution, in the coordinates of the job's geometry or, where it has none, of the mapped rows. It adds to the
# job
#   intervals  if they are requested:
#     type          "sandwich" or "model"
#     released      point, noisy releases, n and, in a geometry, longest, the length from which on rows weigh less
#                   (job-intervals.R, of fits by residuals job-intervals-residual.R)
#     coefficients, vcov, reason  (step_intervals()); of several classes these are contrasts with the first one
#                   (job-intervals-classes.R), and solution, all and reasons are added
#     predictor     coefficients for predictions

job_intervals <- function(job) {
  if (job$inference == "none") return(job)
  rho <- budget_state(job$budget)$left - job$end - left_for_values(job)
  if (job$method$residuals) {
    facts <- residual_facts(job, known_level(job), checks = new_checks(job))
    return(add_entries(job, intervals = infer_residuals(job$oracle, facts, job$solution, rho, job$n)))
  }
  geometry <- damped_geometry(job$geometry, path_loss(job), job$n, rho)
  oracle <- if (is.null(geometry)) job$oracle else plain_oracle(job)
  add_entries(job, intervals = infer(oracle, job$design, geometry, job$solution, job$inference, rho, job$n,
                                     new_checks(job)))
}

# oracle: in the coordinates of the mapped rows; solution: coefficients of the columns; checks: see new_checks().
infer <- function(oracle, design, geometry, solution, type, rho, n, checks) {
  if (!is.null(geometry)) move_oracle(oracle, geometry)
  outputs <- loss_outputs(oracle$loss)
  point <- as.vector(by_output(solution, outputs, function(one) to_geometry(geometry, core_start(design, one))))
  cost <- inference_costs(type, geometry, rho)
  released <- list(
    point = point, gradient = dp_gradient(oracle, point, rho = cost[["gradient"]]),
    hessian = hessian(oracle, point, cost[["hessian"]]),
    products = if (type == "sandwich") products(oracle, point, cost[["products"]]), n = n
  )
  if (!is.null(geometry)) {
    released[c("longest", "sizes")] <- list(geometry$cap, damped_sizes(oracle, geometry, point, cost[["sizes"]]))
  }
  if (outputs > 1L) {
    step <- class_step(released, design, outputs, coefficient_unit(design, geometry),
                       constant_curvature(design, geometry, checks), geometry)
    return(c(list(type = type, released = released), class_intervals(step, design, geometry, colnames(solution)),
             list(predictor = solution)))
  }
  known <- if (is.null(geometry)) known_entries(design) else nothing_known(length(point))
  plain <- one_step(released, design, known, step_prior * coefficient_unit(design, geometry),
                    constant = constant_curvature(design, geometry, checks))
  step <- if (is.null(geometry)) plain else bent_step(plain, released, geometry)
  # The posterior mean of a path in the geometry predicts better than a Newton step.
  c(list(type = type, released = released), step_intervals(step, design, geometry, plain),
    list(predictor = if (is.null(geometry)) mapped_coef(design, NULL, shrink(step)) else solution))
}
