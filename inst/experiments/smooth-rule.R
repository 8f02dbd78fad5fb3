# How many columns should smooths have, and what should their knots, priors and steps be? The constants of
# R/design-smooth.R, R/design-basis.R, R/method-ridge.R and R/oracle-ranges.R compared with others on SYNTHETIC
# problems: ten numeric columns of five shapes (even, normal, exponential, counts, amounts with many zeros) and a factor
# of five levels, private ranges, replace-one, delta = 1/n^2. The log-odds are linear, additive (of each shape two
# curves), or half and half; or linear but for a large effect of the 1.5 percent of amounts above 128 (tail), or with
# two large effects where few records are of the second class (rare strong).
#   Rscript smooth-rule.R RESULTS.csv [SEEDS]
#   Rscript smooth-rule.R --summary RESULTS.csv
# excess: mean loss on new records over that of the true log-odds, the mean of SEEDS (2) seeds, which are the same for
# all settings. rare: the second class has about 8 percent of the records, else about 40.
#
# A posterior mean that knows the sampling error of the gradients, of covariance H / n beside that of the noise, was
# tried, alone and with the factors of smoothness.c, from the same releases (4 to 6 seeds, excess times 1000: as without
# both, sampling, factors, both; eps 3):
#   linear truth    4000 12.11, 12.09, 11.39, 10.61;  40000 3.00, 2.94, 2.94, 2.85
#   additive truth  4000 30.99, 34.97, 29.05, 31.73;  40000 11.53, 11.83, 11.47, 11.58
# Factors alone are never worse in any cell, so the sampling error is not adopted. Factors for terms that are no curves
# (each column of a straight line, each factor) make the problems of ridge-rule.R 3 to 10 percent worse.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

ranges <- function(...) list(ranges_cutting = utils::modifyList(dpsosp:::ranges_cutting, list(...)))
degree <- function(of) {
  list(smooth_part = function(x, knots, values, column) call("smooth_column", x, knots, values, of(column)))
}
settings <- list(
  line = NULL, current = list(),
  "one size" = list(curved_parts = function(design) NULL), # for all columns
  "norm 1" = list(smooth_size = 0), # as without curves
  "norm 0.1" = list(smooth_size = 0.1), "norm 0.24" = list(smooth_size = 0.24),
  "70 steps" = list(ridge_control = local({ # where lines have as many, and the same variance as without this setting
    ridge_control <- dpsosp:::ridge_control
    function(job) {
      if (job$n <= 10000 && is.na(job$control$iterations)) job$control$iterations <- 70L
      ridge_control(job)
    }
  })),
  "noise 0.04" = list(smooth_noise = 0.04), "noise 0.08" = list(smooth_noise = 0.08),
  "all columns" = list(smooth_noise = Inf), "tail 0.01" = ranges(tail = 0.01),
  "degree j" = degree(function(j) j), "degree j^2" = degree(function(j) j^2), "knots 8" = list(smooth_knots = 8L),
  "octaves 0.5" = list(ranges_cutting = utils::modifyList(dpsosp:::ranges_cutting, list(octaves = 0.5))),
  # as if no class were rare; and with the curvature of the constant prediction, as linear models
  "any class" = list(add_columns = local({
    add_columns <- dpsosp:::add_columns
    function(job, fraction) add_columns(job, 0.5)
  })),
  "start's curvature" = list(start_curvature = function(job, most) {
    min(most, job$class_fraction * (1 - job$class_fraction))
  })
)

problems <- rbind(
  expand.grid(n = 4000, eps = c(0.5, 1, 3), truth = c("linear", "mixed", "additive")),
  expand.grid(n = 20000, eps = c(0.5, 3), truth = c("linear", "mixed", "additive", "tail")),
  expand.grid(n = 40000, eps = c(0.5, 3), truth = c("linear", "mixed", "additive")),
  expand.grid(n = c(5000, 20000), eps = c(0.5, 3), truth = c("rare linear", "rare additive")),
  expand.grid(n = 8000, eps = c(1, 3), truth = "rare strong")
)
key <- names(problems)

frame <- function(n) {
  zeros <- function(share) ifelse(stats::runif(n) < share, 0, stats::rexp(n, 1 / 50))
  data.frame(u1 = stats::runif(n, 0, 10), u2 = stats::runif(n, 1950, 2020), n1 = stats::rnorm(n, 50, 10),
             n2 = stats::rnorm(n), e1 = stats::rexp(n, 1 / 1000), e2 = exp(stats::rnorm(n, 3, 1)),
             c1 = stats::rpois(n, 3), c2 = stats::rpois(n, 40), z1 = zeros(0.8), z2 = zeros(0.3),
             f = factor(sample.int(5, n, TRUE, c(0.4, 0.3, 0.2, 0.07, 0.03)), 1:5))
}

curves <- list(
  u1 = sin, u2 = function(x) abs(x - 1990), n1 = function(x) (x - 50)^2, n2 = function(x) x > 1,
  e1 = log1p, e2 = function(x) pmin(x, 30), c1 = function(x) x == 0, c2 = function(x) abs(x - 40),
  z1 = function(x) x > 0, z2 = function(x) sqrt(x)
)
scaled <- function(x) (x - mean(x)) / stats::sd(x)

# The log-odds of the second class; effects are drawn with the seed.
log_odds <- function(data, truth, effects) {
  if (truth == "rare strong") return(2.5 * scaled(data$n1) + scaled(data$z2) - 5.5)
  rare <- startsWith(truth, "rare ")
  truth <- sub("rare ", "", truth)
  parts <- vapply(names(curves), function(name) {
    x <- data[[name]]
    curved <- truth == "additive" || (truth == "mixed" && effects$curved[[name]])
    scaled(if (curved) curves[[name]](x) else x)
  }, numeric(nrow(data)))
  drop(parts %*% effects$slope) + effects$level[data$f] - (if (rare) 3.2 else 0.7) +
    if (truth == "tail") 4 * (data$z1 > 128) else 0
}

one <- function(p, seed, setting) {
  set.seed(seed)
  effects <- list(slope = stats::rnorm(10, 0, 0.45), level = c(0, stats::rnorm(4, 0, 0.4)),
                  curved = stats::setNames(sample(rep(c(TRUE, FALSE), 5)), names(curves)))
  data <- frame(p$n + 10000)
  truth <- log_odds(data, p$truth, effects)
  second <- stats::plogis(truth)
  data$y <- stats::runif(nrow(data)) < second
  held <- seq_len(nrow(data)) > p$n
  fit <- with_constants(as.list(setting), suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., data[!held, ], eps = p$eps, delta = 1 / p$n^2, noise = "reproducible", progress = FALSE,
    smooth = !is.null(setting)
  ))))
  second <- second[held]
  loss <- function(t) mean(second * logistic_loss(t) + (1 - second) * logistic_loss(-t))
  loss(stats::predict(fit, data[held, ])) - loss(truth[held])
}

simulate <- function(path, seeds) {
  out <- results_file(path, c("setting", key))
  for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
    p <- problems[i, ]
    p$truth <- as.character(p$truth)
    row <- c(list(setting = setting), as.list(p))
    if (out$has(row)) next
    seen <- vapply(seq_len(seeds), function(seed) one(p, 100 * i + seed, settings[[setting]]), 0)
    out$add(c(row, list(excess = signif(mean(seen), 4), se = signif(stats::sd(seen) / sqrt(seeds), 2))))
  }
}

# Mean excess, and over that of the constants as they are.
summarise <- function(x) {
  x$setting <- factor(x$setting, names(settings))
  x$problem <- paste(x$truth, x$n)
  cat("excess of the line and of smooths, times 1000\n")
  print(round(1000 * stats::xtabs(excess ~ paste(truth, n, eps) + setting, x[x$setting %in% c("line", "current"), ],
                                  drop.unused.levels = TRUE), 2))
  base <- x[x$setting == "current", ]
  x$more <- 1000 * (x$excess - base$excess[match(paste(x$problem, x$eps), paste(base$problem, base$eps))])
  for (by in c("truth", "n", "eps")) {
    cat("\nexcess less that of the constants as they are, times 1000, by ", by, "\n", sep = "")
    print(round(tapply(x$more, list(x$setting, x[[by]]), mean), 2))
  }
  cat("\nall:\n")
  print(round(tapply(x$more, x$setting, mean), 2))
}

if (identical(arguments[1], "--summary")) {
  summarise(utils::read.csv(arguments[2]))
} else {
  simulate(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 2L)
}
