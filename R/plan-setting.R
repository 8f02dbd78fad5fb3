# The fit that a plan is about, as a job without data (job.R): its costs, coordinates, scales of noise and default target
# are those of a fit, from the same functions and, for the last two, from the core, which answers for rows that there
# are not yet (src/engine/planned.c).

# A job for n records and this eps, with
#   frame, curvature, effect  of the plan
#   left     the budget that the start and the geometry leave
#   run_rho  the method's part of it
#   oracle   in the coordinates of the fit, which holds no data and releases nothing
plan_setting <- function(plan, n = plan$n, eps = plan$eps) {
  method <- methods()[[plan$method]]
  loss <- loss_logistic()
  frame <- plan$frame
  s <- list(frame = frame, design = frame, dim = frame$dim, side = frame$dim, n = n, eps = eps,
            delta = plan$delta %||% (if (n > 3) 1 / n^2 else 1e-6), curvature = plan$curvature, effect = plan$effect,
            inference = if (plan$inference) "sandwich" else "none", loss = loss, penalty = penalty_none(),
            method = method, control = method$family$control(method, loss), neighbours = "replace-one", auto = FALSE,
            owned = TRUE, default_geometry = TRUE, call = quote(dp_plan()))
  s$geometry <- default_geometry(s)
  s <- job_claim(open_budget(s))
  s$left <- s$rho
  if (has_constant(s)) {
    s$share <- plan_share(s)
    s$left <- s$left - constant_cost(n, s$rho, method$family$constant(s))
  }
  s$oracle <- planned_oracle(s)
  if (uses_geometry(s)) s <- plan_geometry(s) else s["geometry"] <- list(NULL)
  s$run_rho <- s$left * if (plan$inference) inference_path else 1
  s
}

planned_oracle <- function(job) {
  columns <- job$design$columns
  factors <- unique(columns$variable[columns$kind == "indicator"])
  .Call(ffi_oracle_planned, as.double(job$n), sum(columns$kind == "numeric"), as.vector(table(columns$variable)[factors]),
        job$design$intercept, job$design$radius, job$loss$name, job$loss$parameter, job$budget$pointer, job$neighbours)
}

# Classes have equal weights, which changes no scale of noise.
plan_geometry <- function(s) {
  moments <- plan_moments(s)
  if (!s$design$intercept) moments <- moments_about_zero(moments)
  weighted <- !is.null(s$method$family$weighted)
  s$geometry <- c(new_geometry(moments, s$frame$degree, s),
                  if (weighted) row_bounds(s) else list(weighted = FALSE, cap = 1, bound = 1),
                  list(tilt = 0, shortest = geometry_shortest, end = rep(NaN, columns_of(s))))
  s$left <- s$left - geometry_share * s$rho
  .Call(ffi_oracle_move, s$oracle, s$geometry)
  s
}

# Standard deviation of the noise of a release at this cost, at the point zero. query: a name of the core's, see
# ffi_oracle_sd().
planned_sd <- function(s, query, rho, oracle = s$oracle) {
  .Call(ffi_oracle_sd, oracle, query, numeric(s$dim), rho)
}

plan_target <- function(s) {
  options <- c(s$method$family$options(s, s$run_rho), eps_g = 1, eps_h = 1) # it does not depend on these two
  .Call(ffi_method_alpha, s$method$family$core(s$control), s$oracle, core_penalty(s$penalty, s$design$intercept, s$side),
        options, s$run_rho, numeric(s$dim))
}
