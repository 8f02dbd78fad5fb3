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

# The stage of a job that releases how many records are used, or the sum of their weights, before rules need their
# number: how much of the budget finds ranges, a level or fractions of classes, and what is worth trying at all. It adds
# to the job
#   present   of all records, the fraction that are used, and the mean of the weights that these have
job_present <- function(job) {
  if (!needs_present(job)) return(job)
  cost <- present_share(job) * job$rho / releases_of_present(job)
  oracle <- plain_oracle(in_any_ranges(job))
  answer <- .Call(ffi_oracle_usable, oracle$pointer, cost, oracle$noise == "reproducible")
  records <- present_of(answer$usable, answer$sd)
  weight <- if (has_weight(job$design)) present_of_classes(release_classes(oracle, cost)) else records
  add_entries(job, present = c(records = records, weight = min(weight, records)))
}

needs_present <- function(job) job$method$residuals || !is.null(job$method$family$weighted)

# Which records are null depends on no range, and where no bounds are declared every number is a response.
in_any_ranges <- function(job) {
  if (!is_matrix_design(job$design)) {
    open <- rownames(job$design$ranges)[is.na(job$design$ranges[, "lower"])]
    any <- cbind(lower = rep(-1, length(open)), upper = rep(1, length(open)))
    rownames(any) <- open
    job <- complete(job, design = design_fill_ranges(job$design, any))
  }
  open <- is_numeric_response(job$response) && is.null(job$loss$response)
  if (open) complete(job, response = raw_bounds(job$response)) else job
}

present_sd <- 0.05        # of its noise
present_most <- 0.01      # most of the budget
present_surely <- 2.5     # standard deviations by which the fraction of used records must be below one,
present_least <- 1e-6     # and its least value, which small weights may come near

present_share <- function(job) {
  if (!needs_present(job)) return(0)
  releases_of_present(job) * min(present_most, 1 / (present_sd * job$n * sqrt(2 * job$rho))^2)
}

releases_of_present <- function(job) if (has_weight(job$design)) 2 else 1

# What a noisy fraction tells: all are used, unless surely fewer are.
present_of <- function(fraction, sd) {
  doubt <- present_surely * sd
  if (fraction > 1 - doubt) 1 else max(fraction, doubt, present_least)
}

# The weights of the records of each class, over n, and the standard deviation of their noise (proofs:
# sensitivity-classes).
release_classes <- function(oracle, cost) {
  .Call(ffi_oracle_class_counts, oracle$pointer, cost, oracle$noise == "reproducible")
}

present_of_classes <- function(answer) present_of(sum(answer$counts), sqrt(length(answer$counts)) * answer$sd)

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
