# Constants of logistic intervals in a geometry (R/job-intervals.R): the length R from which on rows are damped, and the
# fractions of the budget. SYNTHETIC problems; the noise is simulated here, so that many rules share the records of a
# run. Ranges are declared and hold all values; moments of columns have the noise that a fit's would have.
#   Rscript interval-rule.R RESULTS.csv [RUNS]
# makes RUNS (6) runs of every design, n and eps with every rule. A row is the mean over runs and slopes of one of them:
#   ratio    median width over that of the non-private sandwich, with widened intervals of unresolved slopes
#   shown    fraction of the slopes that are resolved
#   covered  fraction of the intervals that cover the truth
# Then: Rscript interval-rule.R --summary RESULTS.csv
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

# ---- designs: mapped columns, numeric ones in [-1, 1] ----

mapped <- function(x, low, high) pmin(pmax(2 * (x - low) / (high - low) - 1, -1), 1)
indicators <- function(n, shares) {
  stats::model.matrix(~ factor(sample(length(shares), n, TRUE, shares), seq_along(shares)))[, -1, drop = FALSE]
}
designs <- list(
  skewed = function(n) cbind(mapped(stats::rlnorm(n, 0, 0.6), 0, 8), mapped(stats::rgamma(n, 2), 0, 16),
                             mapped(stats::rnorm(n, 50, 12), 0, 128), stats::rbinom(n, 1, 0.5),
                             stats::rbinom(n, 1, 0.15)),
  "heavy tails" = function(n) cbind(mapped(abs(stats::rt(n, 3)), 0, 32), mapped(stats::rlnorm(n), 0, 32),
                                    mapped(stats::rt(n, 4), -16, 16), mapped(stats::runif(n), 0, 1),
                                    stats::rbinom(n, 1, 0.4)),
  collinear = function(n) {
    z <- stats::rnorm(n)
    alike <- function() exp(0.4 * z + 0.3 * stats::rnorm(n))
    cbind(mapped(alike(), 0, 8), mapped(alike(), 0, 8), mapped(50 + 7.5 * stats::rgamma(n, 4), 0, 256),
          stats::rbinom(n, 1, 0.45), mapped(stats::rlnorm(n, 0, 0.3), 0, 4))
  },
  uniform = function(n) matrix(stats::runif(5 * n, -1, 1), n),
  factors = function(n) cbind(mapped(stats::rnorm(n, 40, 12), 1, 99), mapped(stats::rgamma(n, 6, 0.15), 17, 90),
                              mapped(stats::rlnorm(n, 0, 0.5), 0, 10), stats::rbinom(n, 1, 0.45),
                              indicators(n, c(0.4, 0.3, 0.2, 0.1)), indicators(n, c(0.3, 0.25, 0.2, 0.1, 0.1, 0.05))),
  normal = function(n) vapply(1:6, function(j) mapped(stats::rnorm(n), -3, 3), numeric(n))
)
# Of the columns and factors, a radius that clips no row.
radius <- sqrt(1 + c(skewed = 5, "heavy tails" = 5, collinear = 5, uniform = 5, factors = 6, normal = 6))

# Slopes of .3 to .6 per standard deviation of a column.
truth_of <- function(design) {
  set.seed(99)
  x <- designs[[design]](2e5)
  slopes <- rep_len(c(0.5, -0.4, 0.6, 0.3, -0.5), ncol(x)) / apply(x, 2, stats::sd)
  c(-1 - sum(colMeans(x) * slopes), slopes)
}

# ---- rules ----

shares <- c(gradient = 0.40, hessian = 0.30, products = 0.05)
damped <- function(longest, weight = "square", shares_of = shares) {
  list(geometry = TRUE, longest = longest, weight = weight, shares = shares_of)
}
growing <- function(least, at, power) function(noise) least * max(1, (at / noise)^power)
rules <- list(
  "mapped rows" = list(geometry = FALSE, shares = shares),
  "R 1.1" = damped(1.1), "R 1.25" = damped(1.25), "R 1.5" = damped(1.5), "R 2" = damped(2), "R 3" = damped(3),
  chosen = damped(growing(1.25, 0.0025, 1 / 4)), "R grows early" = damped(growing(1.25, 0.005, 1 / 4)),
  "gradient by R / |z|" = damped(1.25, "root"), # the Hessian by (1.3 R / |z|)^2: then it is not the derivative
  "more Hessian" = damped(growing(1.25, 0.0025, 1 / 4), shares_of = c(0.35, 0.35, 0.05)),
  "more gradient" = damped(growing(1.25, 0.0025, 1 / 4), shares_of = c(0.5, 0.22, 0.05))
)

# ---- one fit ----

symmetric <- function(p, sd) {
  e <- matrix(stats::rnorm(p^2, sd = sd), p)
  (e + t(e)) / 2 # sd on the diagonal, sd / sqrt(2) off it
}
recompose <- function(e, values) e$vectors %*% (t(e$vectors) * values)

# z = A (1, x) with A from noisy moments (release_moments(), new_geometry()), or (1, x) over the radius.
coordinates <- function(x, geometry, radius, n_mu) {
  p <- ncol(x) + 1
  if (!geometry) return(list(rows = cbind(1, x) / radius, map = diag(p) / radius, prior = 1.5 * radius))
  sd <- 2 / (n_mu * sqrt(0.09))
  centre <- pmin(pmax(colMeans(x) + radius * stats::rnorm(p - 1, sd = sd), -1), 1)
  binary <- apply(x, 2, function(v) all(v %in% 0:1))
  variance <- (colMeans(x^2) - centre^2) / radius^2 + stats::rnorm(p - 1, sd = 2 / radius * sd)
  variance[binary] <- (pmax(centre, 1e-4) * (1 - pmax(centre, 1e-4)))[binary] / radius^2
  slack <- 2 * sd * ifelse(binary, abs(1 - 2 * centre), 2) / radius
  variance <- pmin(pmax(variance, 0), 1 / radius^2)
  scale <- 1 / sqrt(pmax(variance + slack, 1e-6 * max(variance + slack)) + 1e-12)
  scale <- scale / sqrt(max(sum(scale^2 * variance), 0.02 * p)) / radius
  constant <- 1.5 / sqrt(p)
  list(rows = cbind(constant, t(scale * (t(x) - centre))),
       map = rbind(c(constant, -centre * scale), cbind(0, diag(scale, p - 1))), prior = 1.5 * sqrt(p))
}

one <- function(x, y, exact, rule, radius, mu, truth) {
  n <- nrow(x)
  p <- ncol(x) + 1
  left <- if (rule$geometry) 0.86 else 0.95
  at <- coordinates(x, rule$geometry, radius, n * mu)
  z <- at$rows
  own <- mu * sqrt(left * 0.75)
  longest <- if (is.function(rule$longest)) rule$longest(p / (n * own)) else rule$longest
  length <- sqrt(rowSums(z^2))
  of <- list(gradient = rep(1, n), hessian = rep(1, n), r = 1, r2 = 1)
  if (rule$geometry) {
    square <- pmin(1, longest / length)^2
    of <- list(gradient = square, hessian = square, r = longest, r2 = longest^2)
    if (rule$weight == "root") {
      of[c("gradient", "hessian", "r2")] <- list(sqrt(square), pmin(1, 1.3 * longest / length)^2, (1.3 * longest)^2)
    }
  }
  share <- rule$shares / sum(rule$shares)
  sd <- c(2 * of$r, sqrt(2) / 4 * of$r2, sqrt(2) * of$r^2) / (n * own * sqrt(share))
  hessian_at <- function(w) {
    q <- stats::plogis(drop(z %*% w))
    crossprod(z, z * (q * (1 - q) * of$hessian)) / n
  }
  # The point: the minimiser and the noise of gradients with a fifth of the budget, shrunk.
  best <- solve(at$map, exact$coefficients)
  path_sd <- 2 * of$r / (n * mu * sqrt(left * 0.2))
  h <- hessian_at(best)
  ridge <- (path_sd / at$prior)^2
  w <- best + solve(h %*% h + diag(ridge, p), h %*% stats::rnorm(p, sd = path_sd) - ridge * best)
  score <- z * (of$gradient * (stats::plogis(drop(z %*% w)) - y))
  e <- eigen(hessian_at(w) + symmetric(p, sd[2]), symmetric = TRUE)
  least <- sd[2] * sqrt(2 * p) / 4
  inverse <- recompose(e, 1 / pmax(e$values, least))
  v <- drop(inverse %*% (colMeans(score) + stats::rnorm(p, sd = sd[1])))
  j <- eigen(crossprod(score) / n + symmetric(p, sd[3]), symmetric = TRUE)
  meat <- recompose(j, pmax(j$values, 0)) / n + diag(sd[1]^2, p) + sd[2]^2 / 2 * (diag(sum(v^2), p) + tcrossprod(v))
  open <- at$prior^2 * tcrossprod(at$map %*% e$vectors[, e$values < least, drop = FALSE])
  covariance <- at$map %*% inverse %*% meat %*% inverse %*% t(at$map) + open
  error <- sqrt(diag(covariance))
  hidden <- diag(open) > diag(covariance) / 4 | error > at$prior * sqrt(rowSums(at$map^2))
  inside <- abs(drop(at$map %*% (w - v)) - truth) <= stats::qnorm(0.975) * error
  c(ratio = stats::median((error / exact$error)[-1]), shown = mean(!hidden[-1]), covered = mean(inside[-1]))
}

run <- function(design, n, eps, truth) {
  x <- designs[[design]](n)
  y <- as.numeric(stats::runif(n) < stats::plogis(truth[1] + drop(x %*% truth[-1])))
  rows <- cbind(1, x)
  exact <- suppressWarnings(stats::glm.fit(rows, y, family = stats::binomial()))
  bread <- solve(crossprod(rows, rows * exact$fitted.values * (1 - exact$fitted.values)))
  exact$error <- sqrt(diag(bread %*% crossprod(rows * (y - exact$fitted.values)) %*% bread))
  mu <- dp_convert(eps = eps, delta = 1 / n^2)$mu
  vapply(rules, function(rule) one(x, y, exact, rule, radius[[design]], mu, truth), numeric(3))
}

simulate <- function(out, runs) {
  for (design in names(designs)) {
    truth <- truth_of(design)
    for (n in c(1000, 2000, 8000, 50000)) for (eps in c(0.5, 1, 3)) {
      if (out$has(list(design = design, n = n, eps = eps))) next
      set.seed(5)
      seen <- simplify2array(lapply(seq_len(runs), function(i) run(design, n, eps, truth)))
      for (rule in names(rules)) {
        mean <- round(rowMeans(seen[, rule, ]), 3)
        out$add(c(list(design = design, n = n, eps = eps, rule = rule, runs = runs), as.list(mean)))
      }
    }
  }
}

# Geometric means of ratios, relative to those of the chosen rule, by n and eps; coverage and fractions shown.
summary_table <- function(x) {
  chosen <- x[x$rule == "chosen", ]
  x$relative <- log(x$ratio / chosen$ratio[match(paste(x$design, x$n, x$eps), paste(chosen$design, chosen$n,
                                                                                    chosen$eps))])
  rule <- factor(x$rule, unique(x$rule))
  cell <- interaction(x$eps, x$n)
  list(relative = round(exp(tapply(x$relative, list(rule, cell), mean)), 2),
       shown = round(tapply(x$shown, list(rule, cell), mean), 2),
       covered = round(tapply(x$covered, list(rule, x$eps), mean), 3))
}

if (identical(arguments[1], "--summary")) {
  print(summary_table(utils::read.csv(arguments[2])))
} else {
  simulate(results_file(arguments[1], c("design", "n", "eps")),
           if (length(arguments) > 1L) as.integer(arguments[2]) else 6L)
}
