# The fit that a plan is about, as a job without data (job-stages.R). Its costs and coordinates are those of a fit, from
# the same functions; scales of noise and default target are the core's, which answers for rows that there are not yet
# (src/engine/planned.c).

# A job for n records and this eps, with
#   frame, curvature, effect  of the plan
#   oracle   in the coordinates of the fit, which holds no data and releases nothing
#   left     the budget that the start and the geometry leave
#   run_rho  the method's part of it
plan_setting <- function(plan, n = plan$n, eps = plan$eps) {
  method <- find_method(plan$method)
  loss <- loss_logistic()
  frame <- plan$frame
  s <- claim_delta(list(
    frame = frame, design = frame, dim = frame$dim, side = frame$dim, n = n, curvature = plan$curvature,
    effect = plan$effect, asked = list(eps = eps, delta = plan$delta), inference = if (plan$inference) "sandwich" else
      "none", loss = loss, penalty = penalty_none(), method = method, control = method$family$control(method, loss),
    neighbours = "replace-one", auto = FALSE, call = quote(dp_plan())
  ))
  s <- claim_part(open_budget(add_entries(s, moments = default_moments(s))))
  left <- s$rho
  if (has_constant(s)) {
    s <- add_entries(s, class_fraction = plan_share(s))
    left <- left - constant_cost(n, s$rho, method$family$constant(s))
  }
  s <- add_entries(s, oracle = planned_oracle(s))
  if (uses_geometry(s)) {
    s <- plan_geometry(s)
    left <- left - geometry_share * s$rho
  }
  add_entries(s, left = left, run_rho = left * if (plan$inference) inference_path else 1)
}

planned_oracle <- function(job) {
  columns <- job$design$columns
  factors <- unique(columns$variable[columns$kind == "indicator"])
  indicators <- as.vector(table(columns$variable)[factors])
  .Call(ffi_oracle_planned, as.double(job$n), sum(columns$kind == "numeric"), indicators, job$design$intercept,
        job$design$radius, job$loss$name, job$loss$parameter, job$budget$pointer, job$neighbours)
}

# ---- what is expected of the records ----

# Correct to second order in the log-odds.
constant_excess <- function(s) s$curvature / 2 * (s$effect * s$frame$radius)^2 * sum(diag(s$frame$covariance))

# The fraction of the rarer class: to second order in the log-odds, p (1 - p) at the mean probability exceeds the mean
# of p (1 - p) by the variance of p.
plan_share <- function(s) {
  balance <- min(0.25, s$curvature + 2 * s$curvature * constant_excess(s))
  (1 - sqrt(1 - 4 * balance)) / 2
}

# ---- coordinates ----

# Classes have equal weights, which changes no scale of noise.
plan_geometry <- function(s) {
  moments <- plan_moments(s)
  if (!s$design$intercept) moments <- moments_about_zero(moments)
  weighted <- !is.null(s$method$family$weighted)
  geometry <- c(new_geometry(moments, s$frame$degree, s),
                if (weighted) row_bounds(s) else list(weighted = FALSE, cap = 1, bound = 1),
                list(tilt = 0, shortest = geometry_shortest, end = rep(NaN, columns_of(s))))
  .Call(ffi_oracle_move, s$oracle, geometry)
  add_entries(s, geometry = geometry)
}

# The moments that release_moments() in R/job-geometry.R would find without noise.
plan_moments <- function(s) {
  sd <- planned_sd(s, "moments", geometry_share * s$rho)
  most <- 1 / s$frame$radius
  numeric <- s$frame$columns$kind == "numeric"
  list(mean = s$frame$mean, variance = diag(s$frame$covariance),
       sd = sd * ifelse(numeric, 2 * most, abs(most - 2 * s$frame$mean)))
}

# ---- answers of the core ----

# Standard deviation of the noise of a release at this cost, at the point zero. query: a name of the core's, see
# ffi_oracle_sd().
planned_sd <- function(s, query, rho, oracle = s$oracle) {
  .Call(ffi_oracle_sd, oracle, query, numeric(s$dim), rho)
}

plan_target <- function(s) {
  options <- c(s$method$family$options(s, s$run_rho), eps_g = 1, eps_h = 1) # it does not depend on these two
  penalty <- core_penalty(s$penalty, s$design$intercept, s$side)
  .Call(ffi_method_alpha, s$method$family$core(s$control), s$oracle, penalty, options, s$run_rho, numeric(s$dim))
}
