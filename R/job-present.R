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

# The weights of the records of each class, over n, and the standard deviation of their noise (proofs:
# sensitivity-classes).
release_classes <- function(oracle, cost) {
  .Call(ffi_oracle_class_counts, oracle$pointer, cost, oracle$noise == "reproducible")
}

present_of_classes <- function(answer) present_of(sum(answer$counts), sqrt(length(answer$counts)) * answer$sd)
