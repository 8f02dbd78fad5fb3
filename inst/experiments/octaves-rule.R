# Where the mean of counts is clipped, by noisy counts of octaves (count_clip_at() in R/job-start.R): error of the
# released mean for counts of SYNTHETIC distributions. One octave too many doubles the mean's noise, one too few loses
# what is beyond the clip.
#   Rscript octaves-rule.R [RUNS]
# For each rule, by distribution and n mu of the level as a whole (columns): the root of the mean square of the
# logarithm of released over true mean. count_reach and count_far are the constants that are compared.
# With 2000 runs and n mu = 1000 it is .06 for Poisson counts with mean .05 and .22 with count_far = Inf; with 400 it is
# .60 where few counts are large, .63 with count_far = 2, and .59 with 6, which has .029, not .007, for Poisson counts
# with mean 30 at 1000. Where most counts are zero it is 1.28 and .34 at 100 and 200; it was 1.81 and .53 when octaves
# had to exceed the noise level one by one. With count_reach = .03 it is 1.55 and .37 there, with .3 1.05 and .32, but
# up to twice as large for Poisson counts.

library(dpsosp)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "common.R"))

distributions <- list(
  "Poisson, .05" = function(n) rpois(n, 0.05), "Poisson, 1" = function(n) rpois(n, 1),
  "Poisson, 30" = function(n) rpois(n, 30), "dispersed, 1" = function(n) rnbinom(n, mu = 1, size = 0.5),
  "dispersed, 30" = function(n) rnbinom(n, mu = 30, size = 0.5),
  "few large" = function(n) rpois(n, 1) + (runif(n) < 0.01) * rpois(n, 100),
  "mostly zero" = function(n) (runif(n) < 0.1) * (1 + rnbinom(n, mu = 8, size = 1))
)
rules <- list("in use" = list(), "far 2" = list(count_far = 2), "far 3" = list(count_far = 3),
              "far 6" = list(count_far = 6), "far Inf" = list(count_far = Inf), "reach .03" = list(count_reach = 0.03),
              "reach .3" = list(count_reach = 0.3))
precisions <- c(50, 100, 200, 400, 1000, 3000)
top <- 2^20

# The noise of the mean is in proportion to the clip.
log_errors <- function(counts, precision, runs) {
  ends <- 2^(0:ceiling(log2(top)))
  breaks <- c(-Inf, 0.5, ends[-length(ends)] * (1 + .Machine$double.eps), Inf)
  octaves <- as.vector(table(cut(counts, breaks))) / length(counts)
  sd <- 1 / precision / sqrt(c(dpsosp:::count_octaves_share, 1 - dpsosp:::count_octaves_share))
  means <- vapply(0:20, function(k) mean(pmin(counts, 2^k)), 0)
  vapply(seq_len(runs), function(i) {
    noisy <- list(counts = octaves + rnorm(length(octaves), 0, sd[1]), sd = sd[1])
    clip <- dpsosp:::count_clip_at(noisy, top)
    noise <- clip * sd[2]
    log(max(means[log2(clip) + 1] + rnorm(1, 0, noise), noise / 2) / mean(counts))
  }, 0)
}

runs <- if (length(commandArgs(TRUE)) > 0) as.integer(commandArgs(TRUE)[1]) else 2000L
for (rule in names(rules)) {
  set.seed(1)
  errors <- with_constants(rules[[rule]], lapply(distributions, function(draw) {
    counts <- draw(1e5)
    vapply(precisions, function(precision) log_errors(counts, precision, runs), numeric(runs))
  }))
  rows <- t(vapply(errors, function(e) sqrt(colMeans(e^2)), 0 * precisions))
  colnames(rows) <- precisions
  cat("\n", rule, "\n", sep = "")
  print(round(rows, 3))
}
