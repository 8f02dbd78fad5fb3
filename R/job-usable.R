# The stage of a job that releases the fraction of usable records, by which a reader sees whether the fit says anything:
# a fit of null records only has a gradient of zero, which looks like a perfect fit. It adds to the job
#   usable   a list of fraction and sd, or NULL
#
# Where the job releases moments, the fraction is one of them, at no cost: the mean of the intercept's coordinate, which
# is 1 / radius for each usable record as long as no row is clipped (proofs: sensitivity-moments). Otherwise it is a
# release of its own (proofs: sensitivity-usable), but for runs with published constants, whose releases are those of
# their paper, and for sources that are read once. It comes after the run, which may refuse a setting.

usable_share <- 0.002 # fraction of the budget

job_usable <- function(job) {
  cost <- usable_cost(job)
  # Another fit may have spent what is left of a shared budget.
  if (cost == 0 || budget_state(job$budget)$left < cost) return(job)
  answer <- .Call(ffi_oracle_usable, job$oracle$pointer, cost, is_reproducible(job$oracle))
  add_entries(job, usable = list(fraction = answer$usable, sd = answer$sd))
}

# What a run must leave for it.
usable_cost <- function(job) {
  free <- !is.null(job$usable) || !is.null(job$once) || identical(job$control$constants, "published")
  if (free) 0 else usable_share * job$rho
}

# moment: the mean of the intercept's coordinate, without noise at most 1 / radius.
usable_moment <- function(design, moment, sd) {
  if (!design$intercept || may_clip(design)) return(NULL)
  list(fraction = design$radius * moment, sd = design$radius * sd)
}
