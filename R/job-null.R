# The fraction of usable records, and the end of a fit that has none.

# The stage of a job that releases the fraction of usable records, by which a reader sees whether the fit says anything:
# a fit of null records only has a gradient of zero, which looks like a perfect fit. It adds to the job
#   usable   a list of fraction and sd, or NULL
#
# Where the job will release moments, the fraction is one of them, at no cost: the mean of the intercept's coordinate,
# which is 1 / radius for each usable record as long as no row is clipped (proofs: sensitivity-moments); job_response()
# may have it before that. Otherwise it is a release of its own (proofs: sensitivity-usable), but for runs with
# published constants, whose releases are those of their paper, and for sources that are read once. It comes before the
# run, whose releases cost most.

job_usable <- function(job) {
  cost <- usable_cost(job)
  # Another fit may have spent what is left of a shared budget.
  if (cost == 0 || moments_tell(job) || budget_state(job$budget)$left < cost) return(job)
  answer <- .Call(ffi_oracle_usable, job$oracle$pointer, cost, job$oracle$noise == "reproducible")
  add_entries(job, usable = list(fraction = answer$usable, sd = answer$sd))
}

# The stages after new_job(). A fit whose released fraction says that (nearly) all records are null asks for nothing
# more: what it would release is noise. Whether it stops follows from a release, so the rest of the budget can pay for
# other releases (proofs: gdp-filter).
run_stages <- function(job, stops = TRUE) {
  for (stage in job_stages()) {
    job <- stage(job)
    if (stops && says_nothing(job)) return(end_without_records(job))
  }
  job
}

# In their order.
job_stages <- function() {
  list(job_open, job_present, job_ranges, job_response, job_begin, job_oracle, job_usable, job_geometry, job_run,
       job_solution, job_intervals, job_explained)
}

end_without_records <- function(job) {
  inform("null", "No record seems to be used, so nothing more is released: ", rest_text(job))
  job_solution(add_entries(job, answer = list(w = rep(NA_real_, job$dim), result = no_result, trace = no_trace)))
}

rest_text <- function(job) {
  state <- budget_state(job$budget)
  rest <- two_digits(max(0, state$left - job$end) / job$rho)
  if (is.null(job$asked$budget)) return(paste(rest, "of the budget is not spent"))
  if (is_stored(job$asked$budget)) return(paste(rest, "of what was reserved is not spent, and stays reserved"))
  paste(rest, "of what the fit may spend stays in `budget`")
}

# As if from ffi_method_run().
no_result <- list(status = "null", gradient_norm = NaN, gradient_upper = NaN, eigen_min = NaN, eigen_lower = NaN,
                  eigen_known = FALSE, decrease = NaN, ridge = NaN, planned = 0, factor = NaN, variance = NaN)
no_trace <- list(phase = integer(), iteration = integer(), query = character(), estimate = numeric(),
                 bound = numeric(), sd = numeric(), rho = numeric(), step = numeric())
