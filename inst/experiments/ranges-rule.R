# How are ranges to be read off noisy counts? Columns of SYNTHETIC data, from which R/ranges.R has its constants:
# delta = 1 / n^2, replace-one, 5 % of the budget for the ranges of m columns of shapes drawn at random.
#   Rscript ranges-rule.R RESULTS.csv [SEEDS]
# Then: Rscript ranges-rule.R --summary RESULTS.csv
# A row is one setting on one problem, a mean over columns and seeds: share of ranges found; of these, the share with at
# least 95 % and 90 % of the values inside; usefulness, the covariance of the clipped and mapped column with the column,
# over that with the range from the 1 % to the 99 % quantile (1 at most); and the share with a usefulness below 0.15,
# which are as good as lost.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

shapes <- list(
  uniform = function(n) runif(n, 0, 100), standard = function(n) rnorm(n), shifted = function(n) rnorm(n, 100, 15),
  positive = function(n) rnorm(n, 180, 54), lognormal = function(n) rlnorm(n, 3),
  income = function(n) rlnorm(n, 10.5, 0.8),
  heavy = function(n) 50 * rt(n, 2), small = function(n) 1e-3 * rexp(n), negative = function(n) -exp(rnorm(n, 3, 0.5)),
  year = function(n) sample(2000:2020, n, TRUE), latitude = function(n) runif(n, 47.1, 47.8),
  binary = function(n) rbinom(n, 1, 0.3), rare = function(n) rbinom(n, 1, 0.06),
  two = function(n) 1 + rbinom(n, 1, 0.8),
  three = function(n) sample(3, n, TRUE, c(0.24, 0.21, 0.55)), five = function(n) sample(5, n, TRUE, c(1, 2, 4, 6, 7)),
  ten = function(n) sample(0:9, n, TRUE), geometric = function(n) rgeom(n, 0.65), counts = function(n) rpois(n, 1.5),
  mode = function(n) ifelse(runif(n) < 0.9, 7, sample(12, n, TRUE)), constant = function(n) rep(42, n),
  inflated = function(n) ifelse(runif(n) < 0.7, 0, 1000 * rexp(n))
)

# Constants of R/ranges.R other than the package's.
settings <- list(
  chosen = list(), "core 5 %" = list(ranges_error = 0.05), "reach 5 %" = list(ranges_reach = 0.05),
  "reach 20 %" = list(ranges_reach = 0.2), "tail 1 %" = list(ranges_tail = 0.01), "tail 2 %" = list(ranges_tail = 0.02),
  "tail 5 %" = list(ranges_tail = 0.05), "octave worth 10 %" = list(ranges_octave_worth = 0.1),
  "doubt 1 sd" = list(ranges_doubt = 1), "octaves 60 %" = list(ranges_octaves_share = 0.6),
  "octaves 90 %" = list(ranges_octaves_share = 0.9)
)

usefulness <- function(x, range) {
  half <- (range[2] - range[1]) / 2
  if (!(half > 0) || min(x) == max(x)) return(NA)
  mapped <- (pmin(pmax(x, range[1]), range[2]) - mean(range)) / half
  stats::cov(mapped, x)
}

one_run <- function(n, m, eps, seed) {
  set.seed(seed)
  columns <- lapply(shapes[sample(names(shapes), m)], function(shape) as.double(shape(n)))
  rho <- 0.05 * dp_convert(eps = eps, delta = 1 / n^2)$mu^2 / 2
  ranges <- dpsosp:::private_ranges(columns, dp_budget(eps = eps, delta = 1 / n^2), rho, "replace-one", TRUE)
  do.call(rbind, lapply(names(columns), function(name) {
    x <- columns[[name]]
    best <- usefulness(x, stats::quantile(x, c(0.01, 0.99), names = FALSE))
    data.frame(found = attr(ranges, "found")[[name]], inside = mean(x >= ranges[name, 1] & x <= ranges[name, 2]),
               use = min(1, usefulness(x, ranges[name, ]) / best))
  }))
}

simulate <- function(path, seeds) {
  out <- results_file(path, c("setting", "n", "m", "eps"))
  problems <- expand.grid(eps = c(0.5, 1, 4), m = c(1, 6, 15), n = c(300, 1000, 5000, 20000))
  for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
    n <- problems$n[i]
    m <- problems$m[i]
    eps <- problems$eps[i]
    row <- list(setting = setting, n = n, m = m, eps = eps)
    if (out$has(row)) next
    runs <- with_constants(settings[[setting]], do.call(rbind, lapply(seq_len(ceiling(seeds * 15 / m)), function(seed) {
      one_run(n, m, eps, seed)
    })))
    seen <- runs[runs$found, ]
    measured <- c(found = mean(runs$found), inside95 = mean(seen$inside >= 0.95), inside90 = mean(seen$inside >= 0.9),
                  use = mean(seen$use, na.rm = TRUE), lost = mean(seen$use < 0.15, na.rm = TRUE))
    out$add(c(row, as.list(signif(measured, 4))))
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  measures <- c("found", "inside95", "inside90", "use", "lost")
  by_setting <- function(x) {
    weighted <- function(s) vapply(s[setdiff(measures, "found")], stats::weighted.mean, 0, s$found, na.rm = TRUE)
    round(t(vapply(split(x, factor(x$setting, unique(x$setting))), function(s) c(found = mean(s$found), weighted(s)),
                   numeric(length(measures)))), 3)
  }
  print(by_setting(x))
  for (n in unique(x$n)) {
    cat("\nn = ", n, "\n", sep = "")
    print(by_setting(x[x$n == n, ]))
  }
}

if (identical(arguments[1], "--summary")) summarise(arguments[2]) else {
  simulate(arguments[1], if (length(arguments) > 1L) as.integer(arguments[2]) else 2L)
}
