# With few records: how much of the budget should look again for ranges that the noise hid, and from which noise on is
# the level nearly all of a fit? Constants of R/oracle-octaves.R and R/method-ridge.R compared with others on SYNTHETIC
# problems: columns of 16 shapes, years, incomes, counts and others (`raw`), or of a scale near one (`standard`), whose
# effects are linear between the 1 % and the 99 % quantile; delta = 1e-6, private ranges.
#   Rscript again-rule.R RESULTS.csv [SEEDS]
# gain: of the loss that the truth has below the constant prediction's, the fraction that a fit has on 5,000 other
# records, at least -1, the mean of SEEDS (10) seeds; least: over the seeds. Noise is reproducible: no result is for
# release.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))
source(file.path(dirname(this_file), "raw-problems.R"))

again <- function(most, precise, hopeless) {
  list(ranges_again = most, ranges_precise = precise, ranges_hopeless = hopeless)
}
settings <- list(
  current = list(), "no other look" = list(ranges_again = 0), "n / 10" = again(0.2, 10, 4),
  "n / 20" = again(0.2, 20, 4),
  "from n / 6" = again(0.2, 14, 6), "30 %" = again(0.3, 14, 4), "level as ever" = list(ridge_hopeless = Inf),
  "level from 0.1" = list(ridge_hopeless = 0.1), "level from 0.4" = list(ridge_hopeless = 0.4)
)
problems <- expand.grid(n = c(300, 800, 3000), eps = c(0.1, 0.3, 1), p = c(4, 14), loss = c("logistic", "squared"),
                        scale = c("raw", "standard"), stringsAsFactors = FALSE)
problems <- problems[problems$scale == "raw" | problems$p == 14, ]

table <- compare_gains(arguments, 10L, settings, problems, function(row, setting, seed) {
  max(gain(problem(row, seed), row, seed), -1)
})
table$noise <- cut((table$p + 1) / (table$n * sapply(table$eps, function(eps) dp_convert(eps = eps, delta = 1e-6)$mu)),
                   c(0, 0.05, 0.1, 0.2, 0.5, Inf))
print(round(tapply(table$gain, table[c("setting", "noise", "loss")], mean), 3))
