# The stage of a job that finds a start where none was given. It is zero or, for methods that want it (constant in
# family.R), the constant prediction where there are an intercept and the logistic loss, of any slope: the log-odds of
# the second class's fraction p.
#
# It is worth a release of its own. Rows have norm at most one, and the intercept is one coordinate 1 / radius
# of them: in a gradient of all coefficients it has 2 radius times the noise that p needs. The problem without columns
# has the mean logistic loss log(1 + e) - p at the intercept 1, which one record changes by 1 / n at most
# (proofs: constant-prediction). A null record counts there as .62 of one of the second class.

job_constant <- function(job) {
  if (!is.null(job$start)) return(job)
  job$start <- numeric(job$dim)
  if (has_constant(job)) {
    job$start[1] <- constant_prediction(job)
    job$share <- stats::plogis(job$start[1])
  }
  job
}

has_constant <- function(job) {
  job$design$intercept && is_logistic(job$loss) && !is.null(job$method$family$constant(job))
}

# Of rho. known: how well, such as start_coarse (family.R).
constant_cost <- function(n, rho, known) min(known[["share"]] * rho, 1 / (2 * (n * known[["sd"]])^2))

constant_prediction <- function(job) {
  oracle <- new_oracle(job$responses(job), loss_logistic(), job$budget, 1, TRUE, job$neighbours, job$noise)
  value <- dp_value(oracle, 1, rho = constant_cost(job$n, job$rho, job$method$family$constant(job)))
  log_odds(log1p(exp(1)) - value, attr(value, "sd"))
}

# Of a fraction that is known to within sd: not nearer than that to 0 and 1.
log_odds <- function(share, sd) stats::qlogis(min(max(share, min(sd, 0.5)), 1 - min(sd, 0.5)))
