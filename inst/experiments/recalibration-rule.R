# What the recalibration of squared error (src/method/recalibrate.c) should expect of a correction: excess error of fits
# on SYNTHETIC problems, half of the mean square of what is wrong with the predictions, in residual variances times
# 1000.
#   Rscript recalibration-rule.R [RUNS]
# residual_corrections (R/method-residual.R) is the standard deviation of the corrections of level and slopes where
# residuals are not symmetric. Residuals are normal, skewed, or skewed with a variance that grows with the mean. The
# last column is the mean logarithm over problems, relative to that of the constants in use. With 8 runs and relative to
# .3 and .15: .06 for a level of .15, -.01 for .6, -.06 for a slope of .07, .09 for .3. With 12 runs, what was in use
# before, estimates times the positive part of 1 - variance / estimate^2, was .25 above, for normal residuals .6.
#   Rscript recalibration-rule.R far [RUNS]
# is about what noisy counts of residuals tell of large ones, on SYNTHETIC residuals with a scale of about one, by the
# standard deviation of the counts' noise; n is 30 over that, which is eps = 1.
#   far       LIKELY and EVIDENT in src/method/scale.c. width: of the interval of a mean whose residuals are clipped as
#             those of a fit are, over that with the clip by exact counts, the .95 quantile; covered: the least over
#             bounds of 10 and 30
#   quantile  residual_misfit in R/fit-predict.R. covered: by prediction intervals; width: over that of the quantile

library(dpsosp)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))

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

main <- function(runs) {
  table <- vapply(rules, function(rule) {
    as.vector(with_constants(list(residual_corrections = rule), vapply(names(residuals), function(kind) {
      vapply(problems, function(problem) mean(vapply(seq_len(runs), excess, 0, problem = problem, kind = kind)), 0)
    }, numeric(length(problems)))))
  }, numeric(length(problems) * length(residuals)))
  shown <- cbind(t(round(1000 * table, 1)), "mean log" = round(colMeans(log(table / table[, 1])), 2))
  colnames(shown)[seq_len(nrow(table))] <- rep(names(residuals), each = length(problems))
  print(shown)
}

# ---- how far residuals reach ----

shapes <- list(normal = function(n) rnorm(n), "t, 3 df" = function(n) rt(n, 3), exponential = function(n) rexp(n) - 1,
               growing = function(n) residuals$growing(rnorm(n)),
               "2 % outliers" = function(n) rnorm(n) + 8 * (runif(n) < 0.02) - 0.16)
noises <- c(0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.0005)
doubts <- list("no LIKELY" = c(Inf, 3), "4, 3" = c(4, 3), "5, 3" = c(5, 3), "6, 2.5" = c(6, 2.5), "6, 3" = c(6, 3),
               "6, 3.5" = c(6, 3.5), "8, 3" = c(8, 3))
misfits <- c("noise alone" = Inf, "0" = 0, ".01" = 0.01, ".02" = 0.02, ".04" = 0.04, ".08" = 0.08)

fractions <- function(size, ends) {
  j <- findInterval(size, ends, all.inside = TRUE)
  part <- pmin(1, pmax(0, (size - ends[j]) / (ends[j + 1] - ends[j])))
  as.vector(tapply(c(1 - part, part), factor(c(j, j + 1), seq_along(ends)), sum, default = 0)) / length(size)
}

far_of <- function(count, ends, sd, doubt, scale) {
  k <- length(ends)
  middle <- rev((ends[-1] + ends[-k]) / 2)
  noise <- sd * sqrt(seq_len(k - 1))
  few <- 0.004 + 1.5 * noise
  most <- ifelse(middle > doubt[1] * scale, pmax(few, doubt[2] * noise), few)
  c(ends[k], middle)[which(c(cumsum(rev(count[-1])) >= most, TRUE))[1]]
}

quantile_of <- function(count, ends, sd, misfit, scale, level) {
  released <- list(counts = structure(count, sd = sd), ends = ends, scale = scale)
  fit <- list(inference = list(released = released), level = list(present = 1), response = list(half = 1))
  if (is.infinite(misfit)) { # what was in use before
    k <- length(ends)
    beyond <- pmax(rev(cumsum(rev(count[-1]))), sd * sqrt(rev(seq_len(k - 1))))
    return(dpsosp:::log_crossing((ends[-1] + ends[-k]) / 2, beyond, 1 - level, ends[k]))
  }
  with_constants(list(residual_misfit = misfit), dpsosp:::residual_quantile(fit, level))
}

# Two matrices of numbers by rule, of residuals r whose absolute values are at most the last end.
reach <- function(r, top, noise, runs, level) {
  ends <- top * 2^((1:25 - 25) / 2)
  n <- 30 / noise
  r <- pmin(pmax(r, -top), top)
  r <- r - mean(r)
  size <- sort(pmin(abs(r), top))
  exact <- fractions(size, ends)
  scale_of <- function(count, sd) .Call(dpsosp:::ffi_residual_scale, ends, count, sd, 1)
  intervals_clip <- c(3.5, 1.5) # of the intervals that these constants were chosen with: times the scale, and how far
  clip_of <- function(far, scale) min(max(intervals_clip * c(scale, far)), top)
  half <- function(clip) sqrt(mean(pmin(size, clip)^2) / n + (0.447 * clip * noise)^2)
  best <- scale_of(exact, 1e-6)[["sd"]]
  best <- half(clip_of(far_of(exact, ends, 0, doubts[[1]], best), best))
  one <- function() {
    count <- as.vector(rmultinom(1, n, exact)) / n + rnorm(25, 0, noise)
    scale <- scale_of(count, noise)
    clips <- vapply(doubts, function(d) clip_of(far_of(count, ends, noise, d, scale[["sd"]]), scale[["sd"]]), 0)
    halves <- vapply(clips, half, 0)
    off <- vapply(clips, function(clip) mean(pmin(pmax(r, -clip), clip)), 0) / halves
    q <- vapply(misfits, quantile_of, 0, count = count, ends = ends, sd = noise, scale = scale, level = level)
    list(width = halves / best, covered = pnorm(1.96 - off) - pnorm(-1.96 - off),
         quantile = q / quantile(size, level), within = findInterval(q, size) / length(size))
  }
  found <- lapply(seq_len(runs), function(i) one())
  of <- function(name, f) apply(vapply(found, `[[`, found[[1]][[name]], name), 1, f)
  list(width = of("width", function(x) quantile(x, 0.95)), covered = of("covered", mean),
       quantile = of("quantile", mean), within = of("within", mean))
}

far_rule <- function(runs, level = 0.95) {
  for (shape in names(shapes)) {
    set.seed(1)
    r <- shapes[[shape]](1e5)
    found <- lapply(noises, function(noise) lapply(c(10, 30), function(top) reach(r, top, noise, runs, level)))
    joined <- function(name, f) {
      table <- vapply(found, function(two) f(two[[1]][[name]], two[[2]][[name]]), found[[1]][[1]][[name]])
      colnames(table) <- noises
      round(table, 3)
    }
    for (name in c("width", "covered", "quantile", "within")) {
      cat("\n", shape, ": ", name, "\n", sep = "")
      print(joined(name, if (name == "covered") pmin else function(a, b) (a + b) / 2))
    }
  }
}

arguments <- commandArgs(TRUE)
if (identical(arguments[1], "far")) {
  far_rule(if (length(arguments) > 1) as.integer(arguments[2]) else 100L)
} else {
  main(if (length(arguments) > 0) as.integer(arguments[1]) else 12L)
}
