# Which polynomials take the place of powers (R/design-powers.R)? Those that are orthogonal for the density
# (1 - t^2)^a on the range [-1, 1] compared with others and with the powers themselves, on SYNTHETIC columns: the
# smallest eigenvalue of the correlations of the polynomials of degrees one to k, which noise must not hide.
#   Rscript powers-rule.R
set.seed(1)
n <- 1e5
columns <- list(
  uniform = stats::runif(n, -1, 1), normal = stats::rnorm(n, 0, 1 / 3), narrow = stats::rnorm(n, 0, 1 / 5),
  beside = stats::rnorm(n, 0.3, 1 / 4),
  skewed = stats::rbeta(n, 1.5, 4) * 2 - 1, ends = stats::rbeta(n, 0.5, 0.5) * 2 - 1
)
columns <- lapply(columns, function(t) pmin(pmax(t, -1), 1))

# Values of degrees one to k, by the recurrence of monic Gegenbauer polynomials of the order a + 1/2.
polynomials <- function(t, k, a) {
  order <- a + 0.5
  out <- cbind(1, t)
  for (j in seq_len(k - 1)) {
    b <- if (order == 0) c(1 / 2, rep(1 / 4, k))[j] else j * (j + 2 * order - 1) / (4 * (j + order) * (j + order - 1))
    out <- cbind(out, t * out[, j + 1] - b * out[, j])
  }
  out[, -1]
}

settings <- c(list(raw = NA), lapply(stats::setNames(nm = c(-0.5, 0, 1, 2, 3)), identity))
smallest <- function(t, k, a) {
  # Raw powers are those of a column with the range [1, 3].
  x <- if (is.na(a)) outer(t + 2, seq_len(k), `^`) else polynomials(t, k, a)
  min(eigen(stats::cor(x), symmetric = TRUE)$values)
}
for (k in 2:4) {
  cat("degree", k, "\n")
  print(signif(sapply(columns, function(t) sapply(settings, smallest, t = t, k = k)), 2))
}
