# What the recalibration of squared error (src/method/recalibrate.c) should expect of a correction: excess error of fits
# on SYNTHETIC problems, half of the mean square of what is wrong with the predictions, in residual variances times
# 1000.
#   Rscript recalibration-rule.R [RUNS]
# residual_corrections (R/method-residual.R) is the standard deviation of the corrections of level and slopes where
# residuals are not symmetric. Residuals are normal, skewed, or skewed with a variance that grows with the mean. The
# last column is the mean logarithm over problems, relative to that of the constants in use. With 8 runs and relative to
# .3 and .15: .06 for a level of .15, -.01 for .6, -.06 for a slope of .07, .09 for .3. With 12 runs, what was in use
# before, estimates times the positive part of 1 - variance / estimate^2, was .25 above, for normal residuals .6.

library(dpsosp)

problems <- list(
  c(p = 5, variance = 0.15, n = 2000, eps = 1, size = 1), c(p = 5, variance = 0.15, n = 10000, eps = 0.5, size = 1),
  c(p = 2, variance = 0.33, n = 2000, eps = 1, size = 1), c(p = 10, variance = 0.1, n = 4000, eps = 1, size = 0.4)
)
residuals <- list(
  normal = function(f) rnorm(length(f)),
  skewed = function(f) rexp(length(f)) - 1,
  growing = function(f) (rexp(length(f)) - 1) * exp(0.5 * f / sd(f)) / sqrt(exp(0.5))
)
rules <- list("in use" = c(level = 0.3, slope = 0.1), "level .15" = c(level = 0.15, slope = 0.1),
              "level .6" = c(level = 0.6, slope = 0.1), "slope .05" = c(level = 0.3, slope = 0.05),
              "slope .2" = c(level = 0.3, slope = 0.2))

excess <- function(problem, kind, seed) {
  set.seed(seed)
  p <- problem[["p"]]
  n <- problem[["n"]]
  x <- matrix(runif(n * p, -1, 1) * sqrt(3 * problem[["variance"]]), n)
  slopes <- rnorm(p)
  slopes <- problem[["size"]] * slopes / sqrt(mean(slopes^2))
  f <- drop(x %*% slopes)
  data <- data.frame(x, y = 5 + f + residuals[[kind]](f))
  bounds <- stats::setNames(rep(list(c(-1, 1)), p), names(data)[seq_len(p)])
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., data, eps = problem[["eps"]], delta = 1 / n^2, loss = loss_squared(c(-5, 15)), bounds = bounds,
    noise = "reproducible", progress = FALSE
  )))
  wrong <- coef(fit) - c(5, slopes)
  (wrong[[1]]^2 + sum(wrong[-1]^2) * problem[["variance"]]) / 2
}

use <- function(rule) {
  room <- asNamespace("dpsosp")
  unlockBinding("residual_corrections", room)
  assign("residual_corrections", rule, room)
}

main <- function(runs) {
  table <- vapply(rules, function(rule) {
    use(rule)
    as.vector(vapply(names(residuals), function(kind) {
      vapply(problems, function(problem) mean(vapply(seq_len(runs), excess, 0, problem = problem, kind = kind)), 0)
    }, numeric(length(problems))))
  }, numeric(length(problems) * length(residuals)))
  shown <- cbind(t(round(1000 * table, 1)), "mean log" = round(colMeans(log(table / table[, 1])), 2))
  colnames(shown)[seq_len(nrow(table))] <- rep(names(residuals), each = length(problems))
  print(shown)
}

arguments <- commandArgs(TRUE)
main(if (length(arguments) > 0) as.integer(arguments[1]) else 12L)
