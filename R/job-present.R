# The stage of a job that releases how many records are used, or the sum of their weights, before rules need their
# number: how much of the budget finds ranges, a level or fractions of classes, and what is worth trying at all. It adds
# to the job
#   present   of all records, the fraction that are used, and the mean of the weights that these have
job_present <- function(job) {
  if (!needs_present(job)) return(job)
  cost <- present_share(job) * job$rho / releases_of_present(job)
  present <- released_by(in_any_ranges(job), function(oracle) {
    answer <- .Call(ffi_oracle_usable, oracle$pointer, cost, oracle$noise == "reproducible")
    records <- present_of(answer$usable, answer$sd)
    weight <- if (has_weight(job$design)) present_of_classes(release_classes(oracle, cost)) else records
    c(records = records, weight = min(weight, records))
  })
  add_entries(job, present = present)
}

# Which records are null depends on no range, and where no bounds are declared any do.
in_any_ranges <- function(job) {
  if (!is_matrix_design(job$design)) job <- complete(job, design = settle_gaps(with_any_ranges(job$design)))
  if (!is_numeric_response(job$response) || !is.null(job$loss$response)) return(job)
  wide <- utils::modifyList(job$loss, list(response = widest_bounds * c(-1, 1)))
  loss <- if (is_count(job)) bound_counts(job$loss, max_count) else scale_loss(wide, job$design$intercept)
  complete(job, loss = loss, response = with_bounds(job$response, loss))
}

with_any_ranges <- function(design) {
  open <- rownames(design$ranges)[is.na(design$ranges[, "lower"])]
  any <- cbind(lower = rep(-1, length(open)), upper = rep(1, length(open)))
  rownames(any) <- open
  design_fill_ranges(design, any)
}

widest_bounds <- 1e150 # whose squares are numbers, also in databases

# The weights of the records of each class, over n, and the standard deviation of their noise (proofs:
# sensitivity-classes).
release_classes <- function(oracle, cost) {
  .Call(ffi_oracle_class_counts, oracle$pointer, cost, oracle$noise == "reproducible")
}

present_of_classes <- function(answer) present_of(sum(answer$counts), sqrt(length(answer$counts)) * answer$sd)
