# From which n mu on should ranges of fits by residuals cut off less? The constant ranges_few of R/oracle-octaves.R
# compared with others on SYNTHETIC problems: one column of a shape with an effect that is linear, logarithmic or, for
# outliers, linear up to the others' largest value, and two normal ones; squared error, delta = 1e-6, private ranges.
#   Rscript cut-rule.R RESULTS.csv [SEEDS]
# gain: of what lm() explains on 10,000 other records, the fraction that a fit does, at least -1, the mean of SEEDS (4)
# seeds; least: over the seeds. Noise is reproducible: no result is for release.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

settings <- c(list(current = list()), lapply(c("as ever" = Inf, "4000" = 4000, "2000" = 2000, "500" = 500, "250" = 250),
                                             function(few) list(ranges_few = few)))
shapes <- list(
  lognormal = function(n) rlnorm(n, 3, 1.2),
  delay = function(n) ifelse(runif(n) < 0.7, rnorm(n, -5, 8), rexp(n, 1 / 40)),
  t3 = function(n) 10 * rt(n, 3), log = function(n) rlnorm(n, 3, 1.2),
  zeros = function(n) ifelse(runif(n) < 0.9, 0, rexp(n, 1 / 100)), normal = function(n) rnorm(n, 50, 10),
  outlier = function(n) ifelse(runif(n) < 0.002, 1e4, rnorm(n, 50, 10)), pareto = function(n) runif(n)^(-1 / 2.5)
)
problems <- expand.grid(shape = names(shapes), n = c(3000, 50000), eps = c(0.3, 1, 3), stringsAsFactors = FALSE)

problem <- function(row, seed) {
  set.seed(seed)
  n <- row$n + 10000
  x <- shapes[[row$shape]](n)
  effect <- switch(row$shape, log = log(x), outlier = pmin(x, 90), x)
  d <- data.frame(x = x, a = rnorm(n), b = rnorm(n, 100, 15))
  d$y <- 30 + 10 * (effect - mean(effect)) / sd(effect) + 3 * d$a + 0.2 * d$b + rnorm(n, 0, 8)
  test <- seq_len(n) > row$n
  list(train = d[!test, ], test = d[test, ])
}

gain <- function(p, row, seed) {
  set.seed(seed + 1000)
  fit <- suppressWarnings(suppressMessages(dp_sosp(y ~ ., p$train, eps = row$eps, delta = 1e-6, loss = "squared",
                                                   noise = "reproducible", progress = FALSE)))
  y <- p$test$y
  explains <- function(fit) stats::var(y) - mean((y - predict(fit, p$test))^2)
  max(explains(fit) / explains(stats::lm(y ~ ., p$train)), -1)
}

table <- compare_gains(arguments, 4L, settings, problems, function(row, setting, seed) {
  gain(problem(row, seed), row, seed)
})
print(round(tapply(table$gain, table[c("setting", "shape", "n")], mean), 3))
