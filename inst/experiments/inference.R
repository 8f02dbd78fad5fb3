# How often do intervals cover their estimands? SYNTHETIC problems, 95 % intervals, replace-one, delta = 1/n^2.
#   Rscript inference.R RESULTS.csv [RUNS [METHODS]]
# makes RUNS (1000) runs of every problem, with each of METHODS ("newton-ridge,newton") for the path to the point;
# results/inference.csv has 1000 runs with "newton" and 60 with "newton-ridge". A row is one coefficient of one
# problem:
#   covered, covered_shown  fraction of the runs whose interval covers the truth: among all runs, with widened intervals
#                           for unresolved coefficients, and among those that are shown
#   shown                   fraction of the runs in which the interval is shown
#   ratio, ratio_shown      median width over that of the non-private interval (normal, for n records)
# Then: Rscript inference.R --summary RESULTS.csv
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

# ---- problems: draw(n) gives a data frame with a response y; formula y ~ . ----

uniform <- function(beta) {
  function(n) {
    x <- matrix(stats::runif(n * (length(beta) - 1), -1, 1), n)
    d <- as.data.frame(x)
    d$y <- stats::runif(n) < stats::plogis(beta[1] + as.vector(x %*% beta[-1]))
    d
  }
}

# Three numeric columns, two factors whose rarest levels have 10 %; hours has a tail that its range may cut off.
frame_columns <- function(n) {
  data.frame(age = pmin(pmax(round(stats::rgamma(n, 6, 0.15)), 17), 90),
             hours = pmin(pmax(round(stats::rnorm(n, 40, 12)), 1), 99), score = stats::runif(n),
             sex = factor(sample(c("f", "m"), n, TRUE, c(0.45, 0.55))),
             region = factor(sample(c("n", "e", "s", "w"), n, TRUE, c(0.4, 0.3, 0.2, 0.1)), c("n", "e", "s", "w")))
}
frame_ranges <- list(age = c(17, 90), hours = c(1, 99), score = c(0, 1))

frame_coefficients <- c(-1.6, age = 0.025, hours = 0.015, score = -1, sexm = 0.6, e = 0.4, s = -0.5, w = 0.3)
frame <- function(n) {
  d <- frame_columns(n)
  d$y <- stats::runif(n) < stats::plogis(as.vector(stats::model.matrix(~ ., d) %*% frame_coefficients))
  d
}

# Far from a logistic model: events are frequent at both ends of one column, but less so in one level.
misspecified_chance <- function(d) {
  ends <- stats::plogis(25 * (abs(2 * d$score - 1) - 0.85))
  0.03 + 0.9 * ends * ifelse(d$sex == "m", 0.4, 1) + 0.05 * (d$region == "e")
}
misspecified <- function(n) {
  d <- frame_columns(n)
  d$y <- stats::runif(n) < misspecified_chance(d)
  d
}
# The logistic model with the smallest expected loss, from a fine grid of the columns on which events depend. The other
# two columns are independent of these, so their coefficients are zero.
misspecified_coefficients <- function() {
  d <- expand.grid(score = (seq_len(5000) - 0.5) / 5000, sex = factor(c("f", "m")),
                   region = factor(c("n", "e", "s", "w"), c("n", "e", "s", "w")))
  weight <- c(f = 0.45, m = 0.55)[as.character(d$sex)] *
    c(n = 0.4, e = 0.3, s = 0.2, w = 0.1)[as.character(d$region)]
  fit <- stats::glm.fit(stats::model.matrix(~ ., d), misspecified_chance(d), weight,
                        family = stats::quasibinomial(), control = list(epsilon = 1e-12))
  append(unname(fit$coefficients), c(0, 0), 1)
}

box <- function(p) stats::setNames(rep(list(c(-1, 1)), p - 1), paste0("V", seq_len(p - 1)))
ten <- c(-0.3, 0.8, -0.6, 0.5, 0.3, -0.8, 0.4, -0.5, 0.6, 0.2, -0.3)
five <- c(0.2, 0.8, -0.5, 0.4, -0.7, 0.3)
two <- c(0.2, 0.8, -0.5)
exactly <- function(n, eps, beta) {
  list(n = n, eps = eps, draw = uniform(beta), coefficients = beta, bounds = box(length(beta)))
}
framed <- function(eps, bounds, draw = frame, coefficients = frame_coefficients) {
  list(n = 20000, eps = eps, draw = draw, coefficients = coefficients, bounds = bounds)
}
problems <- list(
  "20,000 x 10, eps 0.5" = exactly(20000, 0.5, ten),
  "20,000 x 10, eps 1" = exactly(20000, 1, ten),
  "5,000 x 5, eps 1" = exactly(5000, 1, five),
  "frame, declared ranges, eps 1" = framed(1, frame_ranges),
  "frame, private ranges, eps 1" = framed(1, "private"),
  "frame, private ranges, eps 4" = framed(4, "private"),
  "wrong model, eps 4" = framed(4, frame_ranges, misspecified, misspecified_coefficients()),
  "1,000 x 2, eps 0.3" = exactly(1000, 0.3, two)
)

# Standard deviation of the non-private estimate, times the root of the number of records, from many records.
standard_error <- function(draw) {
  set.seed(0)
  d <- draw(1e6)
  sandwich_errors(stats::glm(y ~ ., stats::binomial(), d)) * sqrt(nrow(d))
}

one_run <- function(problem, method, seed, error) {
  set.seed(seed)
  d <- problem$draw(problem$n)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., d, eps = problem$eps, delta = 1 / problem$n^2, method = method, bounds = problem$bounds,
    inference = "sandwich", noise = "reproducible", progress = FALSE
  )))
  wide <- confint(fit, unresolved = "wide")
  cbind(covered = wide[, 1] <= problem$coefficients & problem$coefficients <= wide[, 2],
        shown = !is.na(confint(fit)[, 1]),
        ratio = (wide[, 2] - wide[, 1]) / (2 * stats::qnorm(0.975) * error / sqrt(problem$n)))
}

simulate <- function(out, runs, methods) {
  for (name in names(problems)) {
    problem <- problems[[name]]
    if (all(vapply(methods, function(method) out$has(list(problem = name, method = method)), NA))) next
    error <- standard_error(problem$draw)
    for (method in methods) {
      if (out$has(list(problem = name, method = method))) next
      all <- simplify2array(lapply(seq_len(runs), one_run, problem = problem, method = method, error = error))
      for (coefficient in dimnames(all)[[1]]) {
        got <- as.data.frame(t(all[coefficient, , ]))
        shown <- got$shown == 1
        out$add(list(problem = name, method = method, coefficient = coefficient, runs = runs,
                     covered = mean(got$covered), covered_shown = mean(got$covered[shown]), shown = mean(shown),
                     ratio = round(stats::median(got$ratio), 3),
                     ratio_shown = round(stats::median(got$ratio[shown]), 3)))
      }
    }
  }
}

# Pooled over the coefficients; least: among the coefficients that are shown in at least half of the runs.
summary_table <- function(x) {
  label <- paste(x$problem, x$method, sep = ": ")
  rows <- lapply(split(x, factor(label, unique(label))), function(x) {
    often <- x$shown >= 0.5
    c(covered = mean(x$covered), shown = mean(x$shown),
      covered_shown = sum(x$covered_shown * x$shown, na.rm = TRUE) / sum(x$shown),
      least = if (any(often)) min(x$covered_shown[often]) else NA,
      most = if (any(often)) max(x$covered_shown[often]) else NA,
      ratio = stats::median(x$ratio_shown, na.rm = TRUE))
  })
  round(do.call(rbind, rows), 3)
}

if (identical(arguments[1], "--summary")) {
  print(summary_table(utils::read.csv(arguments[2])))
} else {
  runs <- if (length(arguments) > 1L) as.integer(arguments[2]) else 1000L
  methods <- if (length(arguments) > 2L) strsplit(arguments[3], ",")[[1]] else c("newton-ridge", "newton")
  simulate(results_file(arguments[1], c("problem", "method")), runs, methods)
}
