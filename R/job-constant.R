# The stage of a job that chooses a start if none was given. The start is the level of the response (job-response.R), or
# zero or, for methods that ask for it (constant
# in family.R), the best constant prediction if there is an intercept and the loss is logistic, of any slope: the
# log-odds of the second class's fraction p.
#
# p is a release of its own, as this is more accurate. Rows have norm at most one, and the intercept is one coordinate,
# 1 / radius, so in a gradient of all coefficients it has 2 radius times the noise that p needs. The problem without
# columns has the mean logistic loss log(1 + e) - p at the intercept 1, which one record changes by at most 1 / n
# (proofs: constant-prediction). A null record counts there as .62 of a record of the second class.

job_begin <- function(job) {
  if (!is.null(job$given)) return(add_entries(job, start = job$given))
  slopes <- numeric(job$dim - 1)
  if (!is.null(job$level)) return(add_entries(job, start = c(job$level$mean, slopes)))
  if (!has_constant(job)) return(add_entries(job, start = c(0, slopes)))
  class <- constant_prediction(job)
  constant <- log_odds(class$fraction, class$sd)
  add_entries(job, start = c(constant, slopes), class = class, share = stats::plogis(constant))
}

has_constant <- function(job) {
  job$design$intercept && is_logistic(job$loss) && !is.null(job$method$family$constant(job))
}

# The cost in rho, of the most expensive wish. wishes: for the accuracy of p, as start_coarse in family.R.
constant_cost <- function(n, rho, wishes) {
  max(vapply(wishes, function(wish) min(wish[["share"]] * rho, 1 / (2 * (n * wish[["sd"]])^2)), 0))
}

constant_prediction <- function(job) {
  oracle <- new_oracle(job$responses(job), loss_logistic(), job$budget, 1, TRUE, job$neighbours, job$noise)
  value <- dp_value(oracle, 1, rho = constant_cost(job$n, job$rho, job$method$family$constant(job)))
  list(fraction = log1p(exp(1)) - as.double(value), sd = attr(value, "sd"))
}

# The log-odds of a fraction that is known with standard deviation sd; it is kept at least sd away from 0 and 1.
log_odds <- function(share, sd) stats::qlogis(min(max(share, min(sd, 0.5)), 1 - min(sd, 0.5)))
