# What the parts of a plan have in common (job-plan.R): sums over expected rows, and scales of noise.

# The inverse of a positive definite matrix, whose diagonal may span many orders of magnitude.
inverse_of <- function(x) {
  scale <- 1 / sqrt(diag(x))
  scale * t(scale * solve(scale * t(scale * x)))
}

# The trace of a b.
trace_of <- function(a, b) sum(a * t(b))

sampling_excess <- function(s) s$dim / (2 * s$n)

# E zz' for a row z in the coordinates of a geometry.
geometry_second <- function(frame, geometry) {
  second <- if (frame$intercept) frame$covariance else frame$second
  second <- geometry$scale * t(geometry$scale * second)
  if (frame$intercept) bordered(geometry$constant^2, second) else second
}

# A matrix with the number x in front of the diagonal of a.
bordered <- function(x, a) rbind(c(x, numeric(nrow(a))), cbind(0, a))

# Correct to second order in the log-odds.
constant_excess <- function(s) s$curvature / 2 * (s$effect * s$frame$radius)^2 * sum(diag(s$frame$covariance))

# Standard deviation of the noise of a release at this cost, at a point that is not known yet. query: a name of the
# core's, see ffi_oracle_sd().
planned_sd <- function(s, query, rho, oracle = s$oracle, clip = 0) {
  .Call(ffi_oracle_sd, oracle, query, NULL, clip, rho)
}
