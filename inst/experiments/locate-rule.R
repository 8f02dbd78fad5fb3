# How closely should counts look at narrow columns far from zero? Constants of R/oracle-locate.R, for SYNTHETIC columns
# c + s x: x is normal, uniform, exponential, mostly zero or one value, s = 1, and c the offset. delta = 1 / n^2, 5 % of
# the budget for the ranges of 4 such columns.
#   Rscript locate-rule.R RESULTS.csv [SEEDS]
# A row is the mean over SEEDS (5) draws of the noise and the columns: inside, the fraction of the values inside the
# range; narrow, the fraction of the ranges at most 64 standard deviations wide; width, their median width in standard
# deviations; single, the fraction of columns with one value that are told, and false, that of others; spent, the cost
# over 5 % of the budget. results/locate-rule.csv has 5 seeds. With the constants of the package .94 and all of the
# ranges are narrow for 10,000 records and eps 1 and 3, about .2 for 1000 records, at 1.1 to 1.7 times the cost.
# zoom_evident = 3 or zoom_share = .12 would find .7 for 1000 records and eps 3, but say of 7 % of the columns with a
# spread that they have one value.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

settings <- list(
  chosen = list(), "cells 128" = list(zoom_cells = 128L), "cells 2048" = list(zoom_cells = 2048L),
  "two looks" = list(zoom_most = 2L), "held .4" = list(zoom_held = 0.4), "held .8" = list(zoom_held = 0.8),
  "few 2" = list(zoom_few = 2L), "few 6" = list(zoom_few = 6L), "near 8" = list(zoom_near = 8L),
  "near 128" = list(zoom_near = 128L), "share .03" = list(zoom_share = 0.03), "share .12" = list(zoom_share = 0.12),
  "around .2" = list(around_share = 0.2), "around .6" = list(around_share = 0.6),
  "evident 3" = list(zoom_evident = 3), "evident 12" = list(zoom_evident = 12), "apart 3" = list(zoom_apart = 3L),
  "apart 16" = list(zoom_apart = 16L)
)
shapes <- list(
  normal = function(n) stats::rnorm(n), uniform = function(n) stats::runif(n, -1.7, 1.7),
  exponential = function(n) stats::rexp(n) - 1, mode = function(n) ifelse(stats::runif(n) < 0.7, 0, stats::rexp(n)),
  constant = function(n) numeric(n)
)

one_run <- function(at, cutting, seed) {
  set.seed(seed)
  chosen <- c("constant", sample(names(shapes)[-5], 3))
  columns <- lapply(shapes[chosen], function(shape) at$offset + shape(at$n))
  whole <- dp_convert(eps = at$eps, delta = 1 / at$n^2)$mu^2 / 2
  budget <- dp_budget(eps = at$eps, delta = 1 / at$n^2)
  ranges <- dpsosp:::private_ranges(columns, budget, 0.05 * whole, "replace-one", TRUE, cutting)
  single <- chosen %in% attr(ranges, "single")
  varied <- chosen != "constant"
  sd <- vapply(columns, stats::sd, 0)
  width <- ((ranges[, 2] - ranges[, 1]) / sd)[varied]
  inside <- mapply(function(x, i) mean(x >= ranges[i, 1] & x <= ranges[i, 2]), columns, seq_along(columns))
  c(inside = mean(inside[varied]), narrow = mean(width <= 64), width = stats::median(width),
    single = mean(single[!varied]), false = mean(single[varied]),
    spent = sum(dp_ledger(budget)$rho) / (0.05 * whole))
}

out <- results_file(arguments[1], c("setting", "n", "eps", "offset", "intervals"))
seeds <- seq_len(if (length(arguments) > 1L) as.integer(arguments[2]) else 5L)
problems <- expand.grid(n = c(1000, 10000), eps = c(1, 3), offset = c(20, 2000, 1e6), intervals = c(FALSE, TRUE))
for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
  at <- as.list(problems[i, ])
  row <- c(list(setting = setting), at)
  if (out$has(row)) next
  runs <- with_constants(settings[[setting]], vapply(seeds, one_run, numeric(6), at = at, cutting = !at$intervals))
  out$add(c(row, as.list(signif(rowMeans(runs), 3))))
}
table <- utils::read.csv(arguments[1])
for (measure in c("inside", "narrow", "single", "false", "spent")) {
  cat("\n", measure, "\n", sep = "")
  print(round(tapply(table[[measure]], table[c("setting", "n", "eps")], mean), 3))
}
