# From which noise of counts on should fits look within declared ranges, and with how much of the budget? Constants of
# R/job-ranges.R and R/oracle-octaves.R compared with others on SYNTHETIC problems (raw-problems.R) with limits of three
# widths: of the 1 % and the 99 % quantile (1), of the least and largest value (2), and ten times as wide as these (10).
#   Rscript limits-rule.R RESULTS.csv [SEEDS]
# gain: of the loss that the truth has below the constant prediction's, the fraction that a fit has on 5,000 other
# records, at least -1, the mean of SEEDS (3) seeds; least: over the seeds. Noise is reproducible: no result is for
# release.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))
source(file.path(dirname(this_file), "raw-problems.R"))

looking <- function(worth = 15, precise = 100, doubt = 1, saving = 4, others = 0.2) {
  list(limits_worth = worth, limits_precise = precise, limits_doubt = doubt, limits_saving = saving,
       limits_others = others)
}
settings <- list("no limits" = list(), "as declared" = looking(Inf), chosen = looking(),
                 "others 0.02" = looking(others = 0.02), "others 1" = looking(others = 1), "from n / 30" = looking(30),
                 "from n / 10" = looking(10), "n / 300" = looking(precise = 300), "2 sd" = looking(doubt = 2),
                 "saves 8" = looking(saving = 8), "octaves alone" = looking(saving = 0),
                 "cells alone" = looking(saving = Inf))
problems <- expand.grid(n = c(5000, 30000), eps = c(0.1, 1), p = 14, loss = c("logistic", "squared"),
                        limits = c(1, 2, 10), scale = "raw", stringsAsFactors = FALSE)

limits_of <- function(x, limits) {
  ends <- if (limits == 1) stats::quantile(x, c(0.01, 0.99), names = FALSE) else range(x)
  if (limits == 10) ends <- mean(ends) + 5 * c(-1, 1) * diff(ends)
  if (ends[1] < ends[2]) ends else range(x) + c(0, 1)
}

table <- compare_gains(arguments, 3L, settings, problems, function(row, setting, seed) {
  p <- problem(row, seed)
  bounds <- if (setting == "no limits") "private" else
    lapply(p$train[setdiff(names(p$train), "y")], limits_of, row$limits)
  max(gain(p, row, seed, bounds), -1)
})
print(round(tapply(table$gain, table[c("setting", "limits", "n")], mean), 3))
print(round(tapply(table$gain, table[c("setting", "limits", "eps", "loss")], mean), 3))
