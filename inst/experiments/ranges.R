# How good private ranges are: Rscript ranges.R DATA_FOLDER [SEEDS]
#
# eps = 0.6, delta = 1 / n^2, 5 % of the budget for the ranges of all numeric columns. Prints, per column, the smallest
# and the largest width found divided by the width from the 1 % to the 99 % quantile, and the smallest fraction of
# values inside. NOT PRIVATE: the true quantiles are computed from the data. Five seconds.
library(dpsosp)

argument <- commandArgs(TRUE)
folder <- if (length(argument) > 0L) argument[1] else file.path("..", "shared", "data")
seeds <- seq_len(if (length(argument) > 1L) as.integer(argument[2]) else 10L)

numeric_columns <- function(d) lapply(d[vapply(d, is.numeric, NA)], as.double)

covertype <- subset(readRDS(file.path(folder, "covertype.rds")), cover_type <= 2)[1:10]
adult <- read.csv(file.path(folder, "adult.csv.xz"), na.strings = "?", stringsAsFactors = TRUE)
adult <- numeric_columns(adult[adult$split == "train", ])
bank <- numeric_columns(read.csv(file.path(folder, "bank.csv.xz"), stringsAsFactors = TRUE))
synthetic <- function(n) list(
  year = sample(2000:2020, n, TRUE), born = sample(1920:2010, n, TRUE), time = 1.6e9 + 3e7 * runif(n),
  tiny = 1e-9 * rnorm(n), huge = 1e12 * runif(n), negative = -exp(rnorm(n, 3)),
  zero_inflated = ifelse(runif(n) < 0.8, 0, 1000 * rexp(n)), constant = rep(42, n), zero = rep(0, n),
  half_missing = ifelse(runif(n) < 0.5, NA, rnorm(n, 100, 15)), missing = rep(NA_real_, n)
)
sets <- list(
  covertype_25000 = function() numeric_columns(covertype[sample(nrow(covertype), 25000), ]),
  covertype_all = function() numeric_columns(covertype),
  adult = function() adult, bank = function() bank,
  synthetic_25000 = function() lapply(synthetic(25000), as.double)
)

one_run <- function(name, seed) {
  set.seed(seed)
  columns <- sets[[name]]()
  n <- length(columns[[1]])
  budget <- dp_budget(eps = 0.6, delta = 1 / n^2)
  rho <- 0.05 * dp_convert(eps = 0.6, delta = 1 / n^2)$mu^2 / 2
  found <- dpsosp:::private_ranges(columns, budget, rho, "replace-one", TRUE)
  do.call(rbind, lapply(names(columns), function(v) {
    x <- columns[[v]][is.finite(columns[[v]])]
    true <- if (length(x) > 0L) diff(quantile(x, c(0.01, 0.99), names = FALSE)) else 0
    data.frame(set = name, column = v, seed = seed, found = attr(found, "found")[[v]],
               ratio = if (true > 0) (found[v, "upper"] - found[v, "lower"]) / true else NA,
               inside = if (length(x) > 0L) mean(x >= found[v, "lower"] & x <= found[v, "upper"]) else NA)
  }))
}

runs <- do.call(rbind, lapply(names(sets), function(s) do.call(rbind, lapply(seeds, function(i) one_run(s, i)))))
cat(sprintf("%-16s %-36s %9s %9s %8s %6s\n", "data", "column", "min ratio", "max ratio", "inside", "found"))
for (part in split(runs, factor(paste(runs$set, runs$column), unique(paste(runs$set, runs$column))))) {
  cat(sprintf("%-16s %-36s %9.3f %9.3f %8.3f %6.2f\n", part$set[1], part$column[1], min(part$ratio), max(part$ratio),
              min(part$inside), mean(part$found)))
}
for (s in names(sets)) {
  part <- runs[runs$set == s, ]
  bad <- with(part, (!is.na(ratio) & (ratio < 1 / 4 | ratio > 4)))
  thin <- !is.na(part$inside) & part$inside < 0.9
  cat(sprintf("%-16s ranges %d, span off by more than 4: %d, less than 90 %% inside: %d\n", s, nrow(part), sum(bad),
              sum(thin)))
}
