# The stages of a job that decide where its run starts.

# ---- the level and the spread of a numeric response, for squared error ----

# job_response() adds to the job
#   level  a list of mean, noise (its standard deviation), variance and spread (of the response about it) and present
#          (fraction of records with a response), for the mapped response
# and completes response and loss with the bounds of the response, if none are declared.
#
# Bounds are found from noisy counts, like the ranges of columns (oracle-ranges.R). Loose ones cost little, because the
# noise of a gradient depends on the residuals: the level then has more noise, which the run corrects.

response_share <- 0.03    # fraction of the budget for the bounds, if none are declared
response_surely <- 2.5    # standard deviations by which the fraction of records with a response must be below one

job_response <- function(job) {
  if (!has_residuals(job$loss)) return(job)
  if (is.null(job$loss$response)) job <- find_bounds(job)
  add_entries(job, level = release_level(job))
}

# From private ranges.
find_bounds <- function(job) {
  inform("response", format_share(response_share), " of the budget finds the bounds of the response; `loss_squared(",
         "response = )` declares public ones")
  found <- private_ranges(raw_response(job), job$budget, response_share * job$rho, job$neighbours,
                          job$noise == "reproducible", cutting = FALSE)
  if (!attr(found, "found")) {
    warn("ranges", "No range of the response exceeds the noise level: [-1, 1] is taken. Declare what is known about ",
         "it: `loss_squared(response = c(lower, upper))`.", call = job$call)
  }
  loss <- scale_loss(utils::modifyList(job$loss, list(response = as.vector(found))), TRUE, job$call)
  complete(job, loss = loss, response = with_bounds(job$response, loss))
}

# The response in its own units, as a list of one column; NA for a missing value.
raw_response <- function(job) {
  job <- complete(job, response = raw_bounds(job$response))
  stats::setNames(list(job$responses(job)$y), job$response$name)
}

# Mean and variance of the mapped response over the records that have one (proofs: sensitivity-response). The variance
# includes the noise level in the spread, not in the variance.
release_level <- function(job) {
  oracle <- new_oracle(job$responses(job), job$loss, job$budget, 1, TRUE, job$neighbours, job$noise)
  answer <- .Call(ffi_oracle_response, oracle$pointer, level_share(job) * job$rho, is_reproducible(oracle))
  present <- answer$moments[1]
  present <- if (present > 1 - response_surely * answer$sd) 1 else max(present, response_surely * answer$sd, 0.01)
  noise <- answer$sd / present
  mean <- min(max(answer$moments[2] / present, -1), 1)
  variance <- min(max(2 * answer$moments[3] / present - mean^2, 0), 1)
  list(present = present, mean = mean, noise = noise, variance = variance, spread = min(sqrt(variance + noise), 1))
}

# ---- the constant prediction ----

# job_begin() chooses a start if none was given: the level of the response; or, for methods that ask for it (constant in
# method-family.R), the best constant prediction if there is an intercept and the loss is logistic, of any slope, the
# log-odds of the second class's fraction p; or zero. It adds to the job
#   start, class (the released fraction and its standard deviation), class_fraction (of the second class at the start)
#
# p is a release of its own, as this is more accurate. Rows have norm at most one, and the intercept is one coordinate,
# 1 / radius, so in a gradient of all coefficients it has 2 radius times the noise that p needs. The problem without
# columns has the mean logistic loss log(1 + e) - p at the intercept 1, which one record changes by at most 1 / n
# (proofs: constant-prediction). A null record counts there as .62 of a record of the second class.

job_begin <- function(job) {
  if (!is.null(job$given)) return(add_entries(job, start = job$given))
  slopes <- numeric(job$dim - 1)
  if (!is.null(job$level)) return(add_entries(job, start = c(job$level$mean, slopes)))
  if (starts_at_fractions(job)) return(begin_at_fractions(job))
  if (!has_constant(job)) return(add_entries(job, start = c(0, slopes)))
  class <- constant_prediction(job)
  constant <- log_odds(class$fraction, class$sd)
  add_entries(job, start = c(constant, slopes), class = class, class_fraction = stats::plogis(constant))
}

has_constant <- function(job) {
  job$design$intercept && is_logistic(job$loss) && !is.null(job$method$family$constant(job))
}

# The cost in rho, of the most expensive wish. wishes: for the accuracy of p, as start_coarse in method-family.R.
constant_cost <- function(n, rho, wishes) {
  max(vapply(wishes, function(wish) min(wish[["fraction"]] * rho, 1 / (2 * (n * wish[["sd"]])^2)), 0))
}

constant_prediction <- function(job) {
  oracle <- new_oracle(job$responses(job), loss_logistic(), job$budget, 1, TRUE, job$neighbours, job$noise)
  value <- dp_value(oracle, 1, rho = constant_cost(job$n, job$rho, job$method$family$constant(job)))
  list(fraction = log1p(exp(1)) - as.double(value), sd = attr(value, "sd"))
}

# The log-odds of a fraction that is known with standard deviation sd; it is kept at least sd away from 0 and 1.
log_odds <- function(fraction, sd) stats::qlogis(min(max(fraction, min(sd, 0.5)), 1 - min(sd, 0.5)))
