# How strong should the ridge of "newton-ridge" be, and how much may its iterates vary? SYNTHETIC problems with public
# bounds, replace-one, delta = 1/n^2: the constants of R/method-ridge.R and R/job-geometry.R compared with others.
#   Rscript ridge-rule.R RESULTS.csv VERSION [SEEDS [LARGE [QUIET [WIDE [FEW]]]]]
# runs SEEDS (8) seeds of the small problems, LARGE (2) of the large ones, QUIET (2) of those with little noise (where
# the length up to which rows have the loss itself matters) and with rare classes, WIDE (4) of the small ones with many
# columns, and FEW (20) of those with few records and much noise. VERSION is any word for the installed package.
# Settings are paired: with the same seed they have the same data, and noise from the same state of the generator.
# With --unchanged as the last argument only the constants as they are; with --steps only those with other numbers of
# steps, on problems of more than 10,000 records; with --usual only those with other probabilities of large signals.
# Then:
#   Rscript ridge-rule.R --summary RESULTS.csv
# results/ridge-steps.csv has those with --steps. With 80 steps the mean excess loss is 0.8 to 1.6 times that of 160
# where no class is rare (worse by more than two standard errors of the paired difference in 2 of 19 cells), and up to
# 9 times where one is and the signal is strong (17 of 30 cells); with 40 steps 0.8 to 3.7 times (5 cells) and up to 53
# times (24 cells).
# excess: mean loss minus the smallest mean loss; constant: the same for the best constant prediction, which is not
# private.
#
# In results/ridge-rule.csv the version "first gradient" released a gradient at the start, with 15 percent of the
# gradients' budget, to choose the size of the ridge, "larger ridge" used all gradients for that, and "posterior mean"
# takes the posterior mean of the minimiser for the solution. In these three the ridge is in proportion to a column's
# scale over the mean scale, its size is 16, and the matrix has 6 percent. "rare levels" has the ridge of the head of
# src/method/ridge.c, "correlations" also the shrinkage of posterior_matrix(); before, all entries off the diagonal
# were shrunk by the same factor. "longer steps" is for problems with little noise or rare classes; before, steps were
# longer for rare classes only ("rare 1": not for these either). "falling" has smaller probabilities of large signals
# (--usual), which were "all equal" before; "current" is the package before that. Other settings are of "rare levels",
# with 1 seed of small problems, and growths, curvatures and floors of "first gradient".
#
# The largest loss above the constant, on 12 seeds of the problems with few records at eps = .05, .1 (nats): all equal
# .118, as it is (2) .084, usual 1.4 .092, usual 1 .104 with labels that are balanced; means differ little.
#
# Two parts of a run by residuals (src/method/residual.c) were tried in src/method/ridge.c, on small problems (4 seeds;
# 1000 x 6, 1000 x 21, 2500 x 23, 5000 x 6, 5000 x 31, and the wide ones but 8000 x 61; the first two rows 2 seeds of
# four of them), the ratio of excess losses to those of the package as it is:
#   H by shrink_moments()                                        1.030 (1000 x 6: 1.094; 2500 x 23: .991)
#   and the steps, too                                           1.031 (1000 x 6: 1.141; 5000 x 31: .968)
#   columns rescaled by the trace, where there is no tilt         .977 (1000 x 6: .920; 5000 x 6: .904; others 1.00)
#   without a tilt, and so rescaled                              1.025 (not rescaled: 1.041)
#   means of the geometry's variances shrunk to each other        .995 (7 shapes, 3 seeds)
# None is adopted: rescaling would move rows that workers and databases hold (oracle_rescale() moves those of a run in
# memory or in chunks), and fits there must be those in memory.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

# Numbers of columns and of the levels of each factor, whose first level has no indicator; shift: log-odds of the mean
# row; skewed: every second column is skewed, and coefficients per standard deviation are similar; fall: the k-th level
# of a factor has k^-fall times the frequency of the first one; bend: what squares of two columns add to the log-odds,
# so that no linear model is correct.
shapes <- list(
  "1000 x 6" = list(n = 1000, numeric = 5, factors = 0),
  "1000 x 21" = list(n = 1000, numeric = 8, factors = 3, levels = 5),
  "2500 x 23" = list(n = 2500, numeric = 10, factors = 3, levels = 5),
  "5000 x 6" = list(n = 5000, numeric = 5, factors = 0),
  "5000 x 31" = list(n = 5000, numeric = 10, factors = 5, levels = 5),
  "20000 x 45, indicators" = list(n = 20000, numeric = 8, factors = 4, levels = 10),
  "20000 x 61, six factors" = list(n = 20000, numeric = 6, factors = 6, levels = 10, shift = -1.5),
  "20000 x 115, ten factors" = list(n = 20000, numeric = 4, factors = 10, levels = 12),
  "20000 x 21, skewed, rare class" = list(n = 20000, numeric = 20, factors = 0, shift = -3, skewed = TRUE),
  "200000 x 45, indicators" = list(n = 2e5, numeric = 8, factors = 4, levels = 10),
  "200000 x 49, rare levels" = list(n = 2e5, numeric = 10, factors = 2, levels = 20, shift = 0),
  "200000 x 21, skewed" = list(n = 2e5, numeric = 20, factors = 0, shift = -2, skewed = TRUE),
  "200000 x 50, very rare levels" = list(n = 2e5, numeric = 10, factors = 1, levels = 40, shift = 0, fall = 2.5),
  "200000 x 50, bent" = list(n = 2e5, numeric = 10, factors = 1, levels = 40, shift = 0, fall = 2.5, bend = 0.7),
  "20000 x 21, one percent" = list(n = 20000, numeric = 20, factors = 0, shift = -5.5),
  "50000 x 21, skewed, rare class" = list(n = 50000, numeric = 20, factors = 0, shift = -3, skewed = TRUE),
  "200000 x 31, rare class" = list(n = 2e5, numeric = 10, factors = 5, levels = 5, shift = -3),
  "1200 x 61" = list(n = 1200, numeric = 20, factors = 8, levels = 6, shift = -1.8),
  "4000 x 71, two factors" = list(n = 4000, numeric = 14, factors = 2, levels = 29, shift = -2),
  "4700 x 86, skewed, rare class" = list(n = 4700, numeric = 85, factors = 0, shift = -3, skewed = TRUE),
  "8000 x 61, rare class" = list(n = 8000, numeric = 15, factors = 5, levels = 10, shift = -3.2),
  "1000 x 6, few" = list(n = 1000, numeric = 5, factors = 0, shift = -0.4),
  "1000 x 6, few, rare class" = list(n = 1000, numeric = 5, factors = 0, shift = -2.4)
)
small <- expand.grid(eps = c(0.5, 1, 3), signal = c(0, 0.3, 0.8, 1.5), shape = names(shapes)[1:5],
                     stringsAsFactors = FALSE)
wide <- expand.grid(eps = c(0.5, 1, 3), signal = c(0.3, 0.8, 1.5), shape = names(shapes)[18:21],
                    stringsAsFactors = FALSE)
rare <- expand.grid(eps = c(0.3, 1, 4), signal = c(0.5, 2, 4), shape = names(shapes)[15:17], stringsAsFactors = FALSE)
quiet <- expand.grid(eps = c(1, 4), signal = 2, shape = names(shapes)[10:14], stringsAsFactors = FALSE)
few <- expand.grid(eps = c(0.05, 0.1, 0.3), signal = c(0, 0.8, 2), shape = names(shapes)[22:23],
                   stringsAsFactors = FALSE)
large <- merge(data.frame(shape = names(shapes)[6:9], signal = c(1.5, 2, 2, 2)), data.frame(eps = c(0.1, 0.2, 0.6)))

# Values that replace the package's constants; newton: the other method.
constants <- list("as they are" = list(), "constant 1" = list(geometry_constant = 1, ridge_intercept = 0.1),
                  "constant 3" = list(geometry_constant = 3, ridge_intercept = 1))
settings <- c(constants, list(
  "signals from .2" = list(ridge_signal = 0.2, ridge_signals = 7L),
  "signals to 3.2" = list(ridge_signals = 7L), "one signal" = list(ridge_signal = 0.8, ridge_signals = 1L),
  "size 12" = list(ridge_size = 12), "size 48" = list(ridge_size = 48), "power 1" = list(geometry_power = 1),
  "power 2" = list(geometry_power = 2), "matrix 1.5 %" = list(ridge_matrix = 0.015),
  "matrix 6 %" = list(ridge_matrix = 0.06), "wander .01" = list(ridge_iterate_variance = 0.01),
  "wander .03" = list(ridge_iterate_variance = 0.03), "few none" = list(ridge_few = 0),
  "few all" = list(ridge_few = 1e6),
  newton = list()
))
# Numbers of steps in place of 160.
steps <- c("40 steps" = 40, "80 steps" = 80)
growths <- list("growth 1/4" = list(geometry_growth = 1 / 4), "growth 1/2" = list(geometry_growth = 1 / 2),
                "no growth" = list(geometry_noise = 1e-9))
curvatures <- c(constants[1], list("factor 1" = list(ridge_curvature_factor = 1),
                                   "factor .3" = list(ridge_curvature_factor = 0.3)))
if ("--usual" %in% arguments) {
  settings <- curvatures <- c(constants[1], lapply(c("usual 1" = 1, "usual 1.4" = 1.4, "all equal" = Inf),
                                                   function(size) list(ridge_usual = size)))
  growths <- list()
}
if ("--unchanged" %in% arguments) {
  settings <- curvatures <- constants[1]
  growths <- list()
}
if ("--steps" %in% arguments) {
  settings <- curvatures <- c(constants[1], as.list(steps))
  growths <- list()
}


# Numeric columns in [-1, 1] with different spreads and little correlation, factors with rare levels. signal: standard
# deviation of the log-odds. box: public bounds of the columns without the intercept; X has the intercept last and is
# divided by radius, as synthetic_minimum() expects.
rule_problem <- function(n, numeric, factors, levels = 0, shift = -1, skewed = FALSE, fall = 1.5, bend = 0,
                         signal) {
  z <- matrix(stats::rnorm(n * numeric), n) %*% (diag(numeric) + 0.3 * matrix(stats::rnorm(numeric^2), numeric))
  odd <- seq(1, numeric, 2)
  if (skewed) z[, odd] <- exp(0.7 * scale(z[, odd]))
  z <- sweep(scale(z), 2, stats::runif(numeric, 0.1, 0.5), "*")
  hot <- lapply(seq_len(factors), function(j) {
    outer(sample.int(levels, n, TRUE, seq_len(levels)^-fall), 2:levels, "==") * 1
  })
  x <- cbind(pmin(pmax(z, -1), 1), do.call(cbind, hot))
  w <- stats::rnorm(ncol(x)) / if (skewed) apply(x, 2, stats::sd) else 1
  eta <- x %*% w
  if (bend > 0) eta <- scale(eta) + bend * rowSums(scale(z[, 1:2]^2))
  y <- ifelse(stats::runif(n) < stats::plogis(signal * as.vector(scale(eta)) + shift), 1, -1)
  radius <- sqrt(numeric + factors + 1)
  list(x = x, y = y, radius = radius, X = cbind(x, 1) / radius,
       box = rbind(rep(c(-1, 0), c(numeric, ncol(x) - numeric)), 1))
}

fit <- function(problem, eps, setting) {
  few <- setting %in% names(steps)
  changed <- if (few) list() else c(settings, growths, curvatures)[[setting]]
  with_constants(changed, suppressWarnings(suppressMessages(dp_sosp(
    problem$x, problem$y, eps = eps, loss = "logistic", radius = problem$radius, bounds = problem$box,
    method = if (setting == "newton") "newton" else "newton-ridge", noise = "reproducible", progress = FALSE,
    control = if (few) control_newton_ridge(iterations = steps[[setting]])
  ))))
}

simulate <- function(out, version, problems, seeds, settings) {
  for (seed in seq_len(seeds)) for (at in split(problems, problems[c("shape", "signal")], drop = TRUE)) {
    set.seed(seed)
    problem <- do.call(rule_problem, c(shapes[[at$shape[1]]], signal = at$signal[1]))
    least <- synthetic_minimum(problem)$value
    share <- mean(problem$y > 0)
    constant <- constant_loss(share)
    for (eps in at$eps) for (setting in names(settings)) {
      row <- list(version = version, setting = setting, shape = at$shape[1], signal = at$signal[1], eps = eps,
                  seed = seed)
      if (out$has(row)) next
      set.seed(1000 + seed)
      link <- predict(fit(problem, eps, setting), problem$x)
      loss <- mean(logistic_loss(problem$y * link))
      out$add(c(row, list(excess = signif(loss - least, 4), constant = signif(constant - least, 4))))
    }
  }
}

# Pairs rows with those of the unchanged first version on the same data, the first one that was run on this problem.
paired <- function(x) {
  base <- x[x$setting == "as they are", ]
  version <- match(base$version, unique(x$version))
  base <- base[version == stats::ave(version, base$shape, FUN = min), ]
  key <- c("shape", "signal", "eps", "seed")
  both <- merge(x, base[c(key, "excess")], key, suffixes = c("", ".base"))
  both$label <- paste(both$version, both$setting, sep = ": ")
  both
}

cell_means <- function(x) {
  stats::aggregate(cbind(excess, excess.base, constant) ~ label + shape + signal + eps, x, mean)
}

# Geometric means of the ratios of mean excess losses, by a column.
ratios <- function(cells, by) {
  print(round(exp(tapply(log(cells$excess / cells$excess.base), cells[c("label", by)], mean)), 3))
}

summarise_small <- function(x, title) {
  cells <- cell_means(x)
  cat("\n", title, ": the ratio to the first version as it was, by signal\n", sep = "")
  ratios(cells, "signal")
  cat("\nMean over the cells with signals of at most .3 of what the mean excess is over that of the best constant",
      "\nprediction, where positive\n")
  weak <- cells[cells$signal <= 0.3, ]
  above <- function(excess) round(tapply(pmax(excess - weak$constant, 0), weak$label, mean), 4)
  print(cbind(above = above(weak$excess), "first version, same seeds" = above(weak$excess.base)))
}

summarise_large <- function(x, title) {
  cells <- cell_means(x)
  cat("\n", title, ": the ratio to the first version as it was, by eps and by problem\n", sep = "")
  ratios(cells, "eps")
  ratios(cells, "shape")
}

# The largest excess matters as well as the mean.
summarise_few <- function(x) {
  above <- x$excess - x$constant
  cat("\nFew records and much noise: the excess over that of the best constant prediction, mean and largest, by eps\n")
  for (what in c("mean", "max")) print(round(tapply(above, list(x$label, x$eps, x$shape), match.fun(what)), 3))
}

if (identical(arguments[1], "--summary")) {
  options(width = 140)
  x <- paired(utils::read.csv(arguments[2]))
  summarise_small(x[x$shape %in% small$shape, ], "Small problems")
  summarise_small(x[x$shape %in% wide$shape, ], "Small problems with many columns")
  summarise_large(x[x$shape %in% large$shape, ], "Large problems")
  summarise_large(x[x$shape %in% quiet$shape, ], "Little noise")
  summarise_large(x[x$shape %in% rare$shape, ], "Rare classes")
  summarise_few(x[x$shape %in% few$shape, ])
} else {
  seeds <- if ("--steps" %in% arguments) c(0, 4, 1, 0, 0) else c(8, 2, 2, 4, 20)
  given <- as.integer(grep("^--", arguments[-(1:2)], value = TRUE, invert = TRUE))
  seeds[seq_along(given)] <- given
  out <- results_file(arguments[1], c("version", "setting", "shape", "signal", "eps", "seed"))
  simulate(out, arguments[2], small, seeds[1], settings)
  simulate(out, arguments[2], wide, seeds[4], settings)
  simulate(out, arguments[2], large, seeds[2], settings)
  simulate(out, arguments[2], quiet, seeds[3], c(curvatures, growths))
  simulate(out, arguments[2], rare, seeds[3], curvatures)
  simulate(out, arguments[2], few, seeds[5], settings)
}
