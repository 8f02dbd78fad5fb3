# The stage of a job that finds the level and the spread of a numeric response, for squared error. It adds to the job
#   level  a list of mean, noise (its standard deviation), variance and spread (of the response about it) and present
#          (fraction of records with a response), for the mapped response
# and completes response and loss with the bounds of the response, if none are declared.
#
# Bounds are found from noisy counts, like the ranges of columns (ranges.R). Loose ones cost little, because the noise
# of a gradient depends on the residuals: the level then has more noise, which the run corrects.

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
