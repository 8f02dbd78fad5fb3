# Private least squares by others, for comparison: sufficient statistics with an adaptive ridge (Wang, 2018,
# AdaSSP), the same repeated on residuals (Tang et al., 2024, boosted AdaSSP) and iterative Hessian mixing, a fresh
# Gaussian sketch for each step (Lev et al., 2025). All are mu-GDP for records that are replaced.
#
# They get more than they may know: exact means and standard deviations of columns, for rows of norm about one, the
# exact mean and standard deviation of the response, and of several settings the best one on the test data.

# Rows with a short intercept, as the package has them: from training data, which peers do not pay for.
peer_rows <- function(x, train) {
  mean <- colMeans(x[train, , drop = FALSE])
  sd <- apply(x[train, , drop = FALSE], 2, stats::sd)
  sd[sd == 0] <- 1
  d <- ncol(x) + 1
  cbind(1.5, t((t(x) - mean) / sd)) / sqrt(d)
}

clip_rows <- function(x, limit) x * pmin(1, limit / sqrt(rowSums(x^2)))
clip_numbers <- function(y, limit) pmin(pmax(y, -limit), limit)

# Symmetric, with standard deviation one on the diagonal and of 1 / sqrt(2) off it.
noise_matrix <- function(d) {
  e <- matrix(stats::rnorm(d * d), d)
  (e + t(e)) / 2
}

# The noisy matrix of rows of norm at most `limit`, at mu / sqrt(3), with the ridge that AdaSSP adds by another release
# of the smallest eigenvalue.
ridged_matrix <- function(x, mu, limit) {
  d <- ncol(x)
  cross <- crossprod(x)
  sd <- sqrt(2) * limit^2 / mu
  least <- min(eigen(cross, TRUE, TRUE)$values) + stats::rnorm(1, 0, limit^2 / mu) - 1.64 * limit^2 / mu
  list(matrix = cross + noise_matrix(d) * sd + max(0, sqrt(2 * d) * sd - max(least, 0)) * diag(d), sd = sd)
}

noisy_products <- function(x, r, mu, limit, clip) {
  drop(crossprod(x, clip_numbers(r, clip))) + stats::rnorm(ncol(x), 0, 2 * limit * clip / mu)
}

adassp <- function(x, y, mu, limit, clip) {
  x <- clip_rows(x, limit)
  part <- mu / sqrt(3)
  solve(ridged_matrix(x, part, limit)$matrix, noisy_products(x, y, part, limit, clip))
}

boosted_adassp <- function(x, y, mu, limit, clip, rounds) {
  x <- clip_rows(x, limit)
  part <- mu / sqrt(3)
  ridged <- ridged_matrix(x, part, limit)
  e <- eigen(ridged$matrix, TRUE)
  w <- numeric(ncol(x))
  for (i in seq_len(rounds)) {
    g <- noisy_products(x, y - drop(x %*% w), part / sqrt(rounds), limit, clip)
    w <- w + drop(e$vectors %*% (crossprod(e$vectors, g) / pmax(e$values, ridged$sd / 4)))
  }
  w
}

# A sketch with k rows of x and of `added` I: mu^2 = k limit^4 / added^2 to second order, which favours it.
hessian_mixing <- function(x, y, mu, limit, clip, rounds, k = 6 * ncol(x)) {
  x <- clip_rows(x, limit)
  part <- mu / sqrt(2 * rounds)
  root <- chol(crossprod(x) + sqrt(k) / part * limit^2 * diag(ncol(x)))
  w <- numeric(ncol(x))
  for (i in seq_len(rounds)) {
    sketch <- matrix(stats::rnorm(k * ncol(x)), k) %*% root
    w <- w + solve(crossprod(sketch) / k, noisy_products(x, y - drop(x %*% w), part, limit, clip))
  }
  w
}

# The settings that are tried: limits of rows, clips over the standard deviation of the response (NULL: the bounds) and
# rounds.
peers <- list(
  adassp = list(fit = adassp, limits = c(1, 1.5, 2.5), clips = c(2, 4, NA), rounds = NULL),
  boosted = list(fit = boosted_adassp, limits = c(1, 1.5), clips = c(0.3, 1, 2.5), rounds = c(5, 30)),
  mixing = list(fit = hessian_mixing, limits = c(1, 1.5), clips = c(0.3, 1, 2.5), rounds = c(3, 8))
)

# The best mean of score(predictions) of one peer. x: from peer_rows(); y: the response; ends: its bounds.
best_peer <- function(peer, x, y, train, ends, mu, runs, score) {
  settings <- expand.grid(limit = peer$limits, clip = peer$clips, rounds = c(peer$rounds, if (is.null(peer$rounds)) NA))
  sd <- stats::sd(y[train])
  found <- apply(settings, 1, function(s) {
    bounds <- is.na(s[["clip"]])
    centre <- if (bounds) mean(ends) else mean(y[train])
    clip <- if (bounds) diff(ends) / 2 else s[["clip"]] * sd
    arguments <- list(x[train, ], y[train] - centre, mu, s[["limit"]], clip)
    if (!is.na(s[["rounds"]])) arguments$rounds <- s[["rounds"]]
    mean(vapply(seq_len(runs), function(seed) {
      set.seed(1000 + seed)
      w <- do.call(peer$fit, arguments)
      score(pmin(pmax(centre + drop(x[-train, ] %*% w), ends[1]), ends[2]))
    }, 0))
  })
  max(found)
}
