# From which mean on, in standard deviations of its noise, has an indicator records? geometry_seen (R/job-geometry.R)
# compared with others, also without such a rule (0), in plain fits of SYNTHETIC problems: two columns and a factor of
# which half of the levels are rare ("rare" is the share of each one) or, with the share 0, have no records. Effects of
# levels are normal, with the standard deviation 1/2, of counts 1/4; responses are of two values ("logistic"),
# numbers ("squared"), or counts with a mean of about one ("poisson").
#   Rscript levels-rule.R RESULTS.csv [SEEDS]
# gain: minus the excess loss of predictions (over the true predictor), the mean of SEEDS (12) seeds, on 20,000 other
# records, in units of d / (2 n), the sampling error; least: of the worst seed. Noise is reproducible: no result is for
# release. results/levels-rule.csv has 12 seeds. With levels without records the mean gain is -.84, -.97 and -1.55
# (logistic, squared, poisson) for 2, 3 and 4, and -.85, -1.00 and -1.85 without a rule. With rare levels it is -1.82,
# -2.62 and -3.36 for 3, where that of squared error is -2.51 for 2 and -2.45 without.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

thresholds <- c(0, 2, 3, 4)
settings <- lapply(stats::setNames(thresholds, paste("seen", thresholds)), function(x) list(geometry_seen = x))
problems <- expand.grid(rare = c(0, 0.01, 0.02, 0.03, 0.05), loss = c("logistic", "squared", "poisson"), eps = c(1, 3),
                        levels = c(6, 20), n = 4000, stringsAsFactors = FALSE)
problems <- problems[problems$rare * problems$levels / 2 < 0.6, ]

records <- function(row, n, effect) {
  k <- row$levels
  rare <- seq_len(k) > k / 2
  share <- ifelse(rare, row$rare, (1 - sum(rare) * row$rare) / sum(!rare))
  f <- factor(sample(k, n, TRUE, share), seq_len(k))
  a <- stats::runif(n, -1, 1)
  b <- pmin(pmax(stats::rnorm(n), -4), 4)
  data.frame(a, b, f, truth = size(row) * (a - b / 2) + effect[f])
}

# Of effects: those on the logarithm of a mean are smaller.
size <- function(row) if (row$loss == "poisson") 1 / 2 else 1

gain <- function(row, setting, seed) {
  set.seed(seed)
  effect <- stats::rnorm(row$levels) / 2 * size(row)
  d <- records(row, row$n, effect)
  d$y <- switch(row$loss, logistic = factor(stats::runif(row$n) < stats::plogis(d$truth)),
                squared = d$truth + stats::rnorm(row$n), poisson = stats::rpois(row$n, exp(d$truth)))
  loss <- switch(row$loss, logistic = loss_logistic(), squared = loss_squared(c(-6, 6)), poisson = loss_poisson())
  set.seed(seed + 1000)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ a + b + f, d, eps = row$eps, delta = 1e-6, noise = "reproducible", progress = FALSE, loss = loss,
    bounds = list(a = c(-1, 1), b = c(-4, 4))
  )))
  new <- records(row, 20000, effect)
  truth <- new$truth
  link <- stats::predict(fit, new)
  excess <- switch(row$loss,
    logistic = mean(stats::plogis(truth) * log1p(exp(-link)) + stats::plogis(-truth) * log1p(exp(link))) -
      mean(stats::plogis(truth) * log1p(exp(-truth)) + stats::plogis(-truth) * log1p(exp(truth))),
    squared = mean((link - truth)^2) / 2,
    poisson = mean(exp(link) - exp(truth) * link) - mean(exp(truth) - exp(truth) * truth)
  )
  -excess / ((row$levels + 2) / (2 * row$n))
}

table <- compare_gains(arguments, 12L, settings, problems, gain)
print(round(tapply(table$gain, table[c("setting", "loss", "rare")], mean), 2))
print(round(tapply(table$gain, table[c("setting", "loss", "eps")], mean), 2))
