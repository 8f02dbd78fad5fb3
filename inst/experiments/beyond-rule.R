# When do noisy counts say that a private range clips its column? Constants of R/oracle-beyond.R, and ranges_slow of
# R/oracle-octaves.R, for the ranges that counts find of SYNTHETIC columns: normal, exponential, lognormal, products of
# exponential ones, mostly zero with a tail, or with a few far values. delta = 1 / n^2, 5 % of the budget for the ranges
# of 7 columns.
#   Rscript beyond-rule.R RESULTS.csv [SEEDS]
# A row is the mean over SEEDS (20) draws of columns and noise: kept, the squared correlation of a column with the
# clipped one, and width, that of the range over the largest value; told, the fraction of the columns that are told;
# false, the fraction of those of which less than the least fraction (beyond_kept, beyond_cut) is beyond an end, and
# seen, of those of which more than twice this is; error, the root of the mean square of the estimated fractions less
# the true ones, and claimed, that of their standard deviations. results/beyond-rule.csv has 20 seeds. The constants of
# the package say nothing false there, and errors are about what is claimed (.0118 and .0098 without intervals, .0077
# and .0072 with them); beyond_reach = 4 would claim .0073 for .0106. With 10,000 records the noise hides what these
# ranges clip: with beyond_chance = .1, too, hardly any would be told. With intervals .900 of the variance is kept, at a
# width of .61; without the octave more (ranges_slow = Inf) .890 and .57, with ranges_slow = 1/8 .902 and .69.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

settings <- list(
  chosen = list(), "reach 4" = list(beyond_reach = 4), "reach 64" = list(beyond_reach = 64),
  "chance .001" = list(beyond_chance = 0.001), "chance .1" = list(beyond_chance = 0.1),
  "kept 0" = list(beyond_kept = 0), "kept .02" = list(beyond_kept = 0.02), "cut .02" = list(beyond_cut = 0.02),
  "others 1" = list(beyond_others = 1), "slow 1/8" = list(ranges_slow = 1 / 8), "slow never" = list(ranges_slow = Inf)
)
shapes <- list(
  normal = function(n) stats::rnorm(n, 3), exponential = function(n) stats::rexp(n),
  lognormal = function(n) stats::rlnorm(n, 2), heavy = function(n) stats::rlnorm(n, 2, 2),
  mostly = function(n) ifelse(stats::runif(n) < 0.86, 0, sample(1:14, n, TRUE, 1 / (1:14))),
  far = function(n) ifelse(stats::runif(n) < 0.02, 40, 1) * stats::runif(n),
  delay = function(n) 20 * stats::rexp(n) * stats::rexp(n)
)

one_run <- function(at, seed) {
  set.seed(seed)
  columns <- lapply(shapes, function(shape) shape(at$n))
  rho <- 0.05 * dp_convert(eps = at$eps, delta = 1 / at$n^2)$mu^2 / 2
  budget <- dp_budget(eps = at$eps, delta = 1 / at$n^2)
  ranges <- dpsosp:::private_ranges(columns, budget, rho, "replace-one", TRUE, !at$intervals)
  beyond <- attr(ranges, "beyond")
  told <- rownames(beyond) %in% names(dpsosp:::piled_up(beyond, !at$intervals))
  columns <- columns[rownames(beyond)]
  above <- mapply(function(x, end) mean(x > end), columns, beyond[, "upper"])
  below <- mapply(function(x, end) mean(x < end), columns, beyond[, "lower"])
  others <- vapply(columns, function(x) mean(x != 0), 0)
  least <- if (at$intervals) 0.005 else pmin(0.05, 0.25 * others)
  most <- pmax(above, below)
  clipped <- Map(function(x, a, b) pmin(pmax(x, a), b), columns, beyond[, "lower"], beyond[, "upper"])
  c(kept = mean(mapply(stats::cor, columns, clipped)^2),
    width = exp(mean(log((beyond[, "upper"] - beyond[, "lower"]) / vapply(columns, function(x) max(abs(x)), 0)))),
    told = mean(told), false = mean(told[most < least]), seen = mean(told[most > 2 * least]),
    error = mean((beyond[, c("below", "above")] - cbind(below, above))^2),
    claimed = mean(beyond[, c("below_sd", "above_sd")]^2))
}

out <- results_file(arguments[1], c("setting", "n", "eps", "intervals"))
seeds <- seq_len(if (length(arguments) > 1L) as.integer(arguments[2]) else 20L)
problems <- expand.grid(n = c(10000, 100000), eps = c(1, 3), intervals = c(FALSE, TRUE))
for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
  at <- as.list(problems[i, ])
  row <- c(list(setting = setting), at)
  if (out$has(row)) next
  runs <- with_constants(settings[[setting]], vapply(seeds, one_run, numeric(7), at = at))
  measured <- rowMeans(runs, na.rm = TRUE)
  measured[c("error", "claimed")] <- sqrt(measured[c("error", "claimed")])
  out$add(c(row, as.list(signif(measured, 3))))
}
table <- utils::read.csv(arguments[1])
for (measure in c("kept", "width", "told", "false", "seen", "error", "claimed")) {
  cat("\n", measure, "\n", sep = "")
  print(round(tapply(table[[measure]], table[c("setting", "intervals")], mean, na.rm = TRUE), 4))
}
