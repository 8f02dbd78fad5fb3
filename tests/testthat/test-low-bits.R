# Attacks on the low-order bits of noisy numbers. Each one distinguishes neighbours by a property of released doubles
# that real numbers do not have. The attacks succeed on samplers written here in plain floating point, and must fail on
# the package's releases. That Laplace noise lies on its lattice, too, is tested in C.

# Neighbours under "zero-out": the exact values are 0 and `shift`, the noise has standard deviation `sd`. With n = 20
# records the gradient of the sigmoid loss at zero has 400 such entries if all entries of the record are equal.
columns <- 400
shift <- -1 / 1600
sd <- 1 / 1600 # sensitivity 1 / 80, mu = 20
released <- function(label, calls = 20) {
  x <- matrix(1 / 20, 20, columns)
  as.vector(replicate(calls, {
    oracle <- dp_oracle(x, c(label, rep(NA, 19)), "sigmoid", dp_budget(mu = 21), 1, FALSE, "zero-out")
    as.vector(dp_gradient(oracle, numeric(columns), mu = 20))
  }))
}
pair <- list(absent = NA, present = 1)

# R's generator returns multiples of 2^-32, and so do many others.
uniform <- function(n) 2^-32 * (floor(2^32 * runif(n)) + 0.5)
naive_laplace <- function(n, at) at + sd * ifelse(runif(n) < 0.5, -1, 1) * log(uniform(n))
naive_gaussian <- function(n, at) at + sd * qnorm(uniform(n))

# Mironov (2012), section 4: which doubles equal `at` + noise for one of the generator's numbers? The nearest number and
# its neighbours are tried.
reachable <- function(y, at, cdf, quantile) {
  k <- floor(2^32 * cdf((y - at) / sd))
  found <- logical(length(y))
  for (near in -2:2) found <- found | at + sd * quantile(2^-32 * (k + near + 0.5)) == y
  found
}
reachable_laplace <- function(y, at) {
  reachable(y, at, function(z) exp(-abs(z)), log) | reachable(2 * at - y, at, function(z) exp(-abs(z)), log)
}
reachable_gaussian <- function(y, at) reachable(y, at, pnorm, qnorm)

# Haney, Desfontaines, Hartman, Shrestha and Hay (2022), section 3: near zero, a sum that started away from zero has
# fewer bits than one that started at zero. Is y a multiple of the spacing of doubles at `shift`?
near_zero <- function(y) y[abs(y) < abs(shift) / 8]
coarse <- function(y) {
  unit <- 2^(floor(log2(abs(shift))) - 52)
  y %% unit == 0
}

# The lattice of the package's releases: the power of two in (sd / 2^31, sd / 2^30].
lattice <- 2^floor(log2(sd / 2^30))

test_that("Laplace noise by inversion in floating point tells where it started", {
  set.seed(1)
  for (at in c(0, shift)) {
    y <- naive_laplace(2000, at)
    expect_gt(mean(reachable_laplace(y, at)), 0.9)
    expect_lt(mean(reachable_laplace(y, shift - at)), 0.01)
  }
})

test_that("Gaussian noise by inversion in floating point tells where it started", {
  set.seed(2)
  for (at in c(0, shift)) {
    y <- naive_gaussian(2000, at)
    expect_gt(mean(reachable_gaussian(y, at)), 0.9)
    expect_lt(mean(reachable_gaussian(y, shift - at)), 0.01)
  }
})

test_that("the precision of Gaussian noise in floating point tells where it started, whatever the sampler", {
  set.seed(3)
  for (sampler in list(naive_gaussian, function(n, at) at + sd * rnorm(n))) {
    absent <- near_zero(sampler(8000, 0))
    present <- near_zero(sampler(8000, shift))
    expect_gt(min(length(absent), length(present)), 300)
    expect_true(all(coarse(present)))
    expect_lt(mean(coarse(absent)), 0.2)
  }
})

test_that("released answers have the same support and the same precision on both neighbours", {
  answers <- lapply(pair, released)
  # These are the same queries as for the naive samplers. A false alarm, here and below, has probability below 1e-6.
  for (i in 1:2) {
    expect_lt(abs(mean(answers[[i]]) - c(0, shift)[i]), 5 * sd / sqrt(length(answers[[i]])))
    expect_lt(abs(stats::sd(answers[[i]]) / sd - 1), 5 / sqrt(2 * length(answers[[i]])))
  }
  for (y in answers) {
    expect_true(all(y %% lattice == 0))
    for (at in c(0, shift)) {
      expect_lt(mean(reachable_gaussian(y, at)), 0.01)
      expect_lt(mean(reachable_laplace(y, at)), 0.01)
    }
    expect_gt(length(near_zero(y)), 300)
    expect_true(all(coarse(near_zero(y))))
  }
})

test_that("the last bits of released answers are uniform on both neighbours", {
  # -1 / 1600 is not a multiple of the lattice spacing, and its last bits are not even.
  expect_false(shift %% lattice == 0)
  answers <- lapply(pair, released)
  low <- lapply(answers, function(y) tabulate(1 + (y / lattice) %% 64, 64))
  for (counts in low) expect_gt(chisq.test(counts)$p.value, 1e-7)
  expect_gt(chisq.test(do.call(rbind, low))$p.value, 1e-7)
  # The position of the last bit that is set has a geometric distribution, near zero and everywhere, for both.
  depth <- function(y) vapply(y / lattice, function(k) if (k == 0) 8 else min(8, sum(k %% 2^(1:8) == 0)), 0)
  for (part in list(identity, near_zero)) {
    counts <- t(vapply(answers, function(y) tabulate(1 + pmin(4, depth(part(y))), 5), numeric(5)))
    expect_gt(chisq.test(counts)$p.value, 1e-7)
    for (i in 1:2) expect_gt(chisq.test(counts[i, ], p = 2^-c(1:4, 4))$p.value, 1e-7)
  }
})
