# Counts with a mean and a relative variance, as of a negative binomial distribution.

# Half of the deviance, over the mean, of counts with this mean and this mean square of relative residuals.
count_null <- function(mean, square) {
  y <- count_quantiles(mean, square, stats::ppoints(500))
  mean(ifelse(y > 0, y * log(pmax(y, 1) / mean), 0) - (y - mean)) / mean
}

count_quantiles <- function(mean, square, p) {
  spread <- mean^2 * square
  if (spread > 1.001 * mean) stats::qnbinom(p, mu = mean, size = mean^2 / (spread - mean)) else stats::qpois(p, mean)
}

# The same of what predictions leave whose logarithms have this variance about that of the mean, with the square of
# residuals that they leave, whose variance is in proportion to the prediction.
counts_left <- function(mean, square, variance) {
  at <- exp(sqrt(variance) * stats::qnorm(stats::ppoints(21)) - variance / 2)
  mean(vapply(at, function(at) at * count_null(mean * at, square / at), 0))
}

# The relative variance of counts with this mean, by noisy fractions of zero, one, two, three to four, five to eight and
# so on: that for which these are closest.
varies_by_octaves <- function(fractions, mean) {
  ends <- c(-1, 0, 2^(seq_len(length(fractions) - 1L) - 1))
  off <- function(log_size) {
    expected <- diff(stats::pnbinom(ends, mu = mean, size = exp(log_size)))
    sum((fractions - expected)^2)
  }
  1 / mean + exp(-stats::optimize(off, c(-5, 8))$minimum)
}
