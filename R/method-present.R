# How many records are used: what job_present() releases (job-present.R), and what rules take in the place of n.

# The number of records, or the sum of their weights, as far as releases have told that some are not used: null records
# are to make no difference.
used_number <- function(job) job$n * present_weight(job)

present_records <- function(job) job$present[["records"]] %||% 1
present_weight <- function(job) job$present[["weight"]] %||% 1

needs_present <- function(job) job$method$residuals || !is.null(job$method$family$weighted)

present_sd <- 0.05        # of its noise
present_limits <- c(1e-4, 0.01) # fractions of the budget
present_surely <- 2.5     # standard deviations by which the fraction of used records must be below one,
present_least <- 1e-6     # and its least value, which small weights may come near

present_share <- function(job) {
  if (!needs_present(job)) return(0)
  share <- 1 / (present_sd * job$n * sqrt(2 * job$rho))^2
  releases_of_present(job) * min(max(share, present_limits[1]), present_limits[2])
}

releases_of_present <- function(job) if (has_weight(job$design)) 2 else 1

# What a noisy fraction tells: all are used, unless surely fewer are.
present_of <- function(fraction, sd) {
  doubt <- present_surely * sd
  if (fraction > 1 - doubt) 1 else max(fraction, doubt, present_least)
}
