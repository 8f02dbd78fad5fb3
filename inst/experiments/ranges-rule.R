# How are ranges to be read off noisy counts? Columns of SYNTHETIC data, from which R/ranges.R has its constants:
# delta = 1 / n^2, replace-one, 5 % of the budget for the ranges of m columns of shapes drawn at random.
#   Rscript ranges-rule.R RESULTS.csv [SEEDS]
# Then: Rscript ranges-rule.R --summary RESULTS.csv
# And where intervals are wanted: Rscript ranges-rule.R --intervals RESULTS.csv [SEEDS], --summary as above.
# A row is one setting on one problem, a mean over columns and seeds: share of ranges found; of these, the share with at
# least 95 % and 90 % of the values inside; usefulness, the covariance of the clipped and mapped column with the column,
# over that with the range from the 1 % to the 99 % quantile (1 at most); and the share with a usefulness below 0.15,
# which are as good as lost.
#
# With intervals a row has instead: inside99, share with at least 99 % of the values inside; covered, how often a 95 %
# interval about the clipped column's coefficient would cover that of the column as it is (logistic, its log-odds with
# a standard deviation of one), by the width that dp_plan() expects; covered93 and covered90, share of the columns
# where that is at least 0.93 and 0.9; width, of the interval over that of the range of all values, geometric mean.
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
cutting <- function(...) list(ranges_cutting = utils::modifyList(dpsosp:::ranges_cutting, list(...)))
settings <- list(
  chosen = list(), "core 5 %" = list(ranges_error = 0.05), "reach 5 %" = cutting(reach = 0.05),
  "reach 20 %" = cutting(reach = 0.2), "tail 1 %" = cutting(tail = 0.01), "tail 2 %" = cutting(tail = 0.02),
  "tail 5 %" = cutting(tail = 0.05), "octave worth 10 %" = list(ranges_octave_worth = 0.1),
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

# ---- where intervals are wanted ----

# Shapes with tails that an octave may cut off, besides those above which have a standard deviation.
interval_shapes <- c(shapes[!names(shapes) %in% c("heavy", "constant")], list(
  weeks = function(n) rnorm(n, 27, 6), gamma = function(n) rgamma(n, 4, 0.1), waiting = function(n) rexp(n, 0.03),
  late = function(n) rnorm(n, 20, 4) * ifelse(runif(n) < 0.02, 3, 1),
  early = function(n) rnorm(n, 100, 10) * ifelse(runif(n) < 0.03, 0.3, 1),
  balance = function(n) ifelse(runif(n) < 0.03, -1, 1) * rlnorm(n, 4, 0.5)
))
keeping <- function(...) list(ranges_keeping = utils::modifyList(dpsosp:::ranges_keeping, list(...)))
interval_settings <- list(
  "as without intervals" = list(ranges_keeping = dpsosp:::ranges_cutting), chosen = list(),
  "tail 0.5 %" = keeping(tail = 0.005), "reach 5 %" = keeping(reach = 0.05), "reach 20 %" = keeping(reach = 0.2),
  "reach 50 %" = keeping(reach = 0.5), "outside 0" = keeping(outside = 0), "outside 5 %" = keeping(outside = 0.05),
  "not surely" = keeping(surely = FALSE)
)

# Of a shape: a function of a range that gives, of the clipped column, what an interval needs; from many records.
population <- function(shape) {
  set.seed(0)
  x <- as.double(interval_shapes[[shape]](5e4))
  scale <- stats::sd(x)
  y <- stats::runif(length(x)) < stats::plogis((x - mean(x)) / scale - 0.4)
  known <- new.env()
  function(range = base::range(x)) {
    name <- paste(signif(range, 3), collapse = " ")
    if (is.null(known[[name]])) {
      clipped <- pmin(pmax(x, range[1]), range[2])
      fit <- stats::glm(y ~ I((clipped - mean(clipped)) / scale), stats::binomial())
      known[[name]] <- list(
        variance = stats::var(clipped) / (diff(range) / 2)^2, inside = mean(clipped == x),
        slope = stats::coef(fit)[[2]],
        curvature = mean(fit$fitted.values * (1 - fit$fitted.values)),
        error = sqrt(stats::vcov(fit)[2, 2] * length(x))
      )
    }
    known[[name]]
  }
}
populations <- lapply(stats::setNames(nm = names(interval_shapes)), population)

# The plan has a least variance, as it must resolve the column.
width_of <- function(p, n, m, eps) {
  name <- paste(signif(p$variance, 3), signif(p$curvature, 3), n, m, eps)
  if (is.null(known_ratios[[name]])) {
    plan <- dp_plan(n, m, eps = eps, inference = TRUE, curvature = p$curvature,
                    variance = c(min(1, max(p$variance, 1e-4)), rep(0.1, m - 1)))
    known_ratios[[name]] <- plan$intervals$ratio[1]
  }
  known_ratios[[name]] * p$error / sqrt(n)
}
known_ratios <- new.env()

one_interval_run <- function(n, m, eps, seed) {
  set.seed(seed)
  chosen <- sample(names(interval_shapes), m)
  columns <- lapply(interval_shapes[chosen], function(shape) as.double(shape(n)))
  rho <- 0.05 * dp_convert(eps = eps, delta = 1 / n^2)$mu^2 / 2
  ranges <- dpsosp:::private_ranges(columns, dp_budget(eps = eps, delta = 1 / n^2), rho, "replace-one", TRUE, FALSE)
  do.call(rbind, lapply(chosen, function(shape) {
    if (!attr(ranges, "found")[[shape]]) return(data.frame(found = FALSE, inside = NA, covered = NA, width = NA))
    p <- populations[[shape]](ranges[shape, ])
    all <- populations[[shape]]()
    width <- width_of(p, n, m, eps)
    off <- (p$slope - all$slope) / width
    data.frame(found = TRUE, inside = p$inside, covered = diff(stats::pnorm(off + c(-1, 1) * stats::qnorm(0.975))),
               width = width / width_of(all, n, m, eps))
  }))
}

interval_measures <- function(runs) {
  seen <- runs[runs$found, ]
  c(found = mean(runs$found), inside99 = mean(seen$inside >= 0.99), covered = mean(seen$covered),
    covered93 = mean(seen$covered >= 0.93), covered90 = mean(seen$covered >= 0.9), width = exp(mean(log(seen$width))))
}

simulate_intervals <- function(path, seeds) {
  out <- results_file(path, c("setting", "n", "m", "eps"))
  problems <- expand.grid(eps = c(1, 4), m = c(3, 8), n = c(1000, 5000, 20000))
  for (setting in names(interval_settings)) for (i in seq_len(nrow(problems))) {
    at <- problems[i, ]
    row <- list(setting = setting, n = at$n, m = at$m, eps = at$eps)
    if (out$has(row)) next
    runs <- with_constants(interval_settings[[setting]], do.call(rbind, lapply(
      seq_len(ceiling(seeds * 24 / at$m)), function(seed) one_interval_run(at$n, at$m, at$eps, seed)
    )))
    out$add(c(row, as.list(signif(interval_measures(runs), 4))))
  }
}

# ---- where they are not ----

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
  measures <- setdiff(names(x), c("setting", "n", "m", "eps"))
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

switch(arguments[1],
  "--summary" = summarise(arguments[2]),
  "--intervals" = simulate_intervals(arguments[2], if (length(arguments) > 2L) as.integer(arguments[3]) else 1L),
  simulate(arguments[1], if (length(arguments) > 1L) as.integer(arguments[2]) else 2L)
)
