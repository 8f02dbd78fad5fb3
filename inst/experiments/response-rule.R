# How much of the budget should look for the range of a numeric response, how much should a scale of residuals say of
# the next one, and how likely are large signals? Constants of R/job-start.R and R/method-residual.R compared with
# others on SYNTHETIC problems with few records or much noise: normal columns of which every second one is correlated
# with the others, and a response of variance one whose bounds are 1, 10 or 100 times (-4, 4), or not declared ("none").
#   Rscript response-rule.R RESULTS.csv [SEEDS]
# gain: the part of the response's variance that predictions explain, less what they add to it, the mean of SEEDS (8)
# seeds; most: what the truth explains; least: over the seeds. Noise is reproducible: no result is for release.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

doubt <- function(first, phase) list(residual_doubt = c(first = first, phase = phase))
look <- function(share, precise, again, surely) {
  list(response_share = c(0.03, share), response_precise = precise, response_again = again,
       response_surely_precise = surely)
}
settings <- list(
  current = list(), "all signals" = list(residual_usual = Inf), "usual 0.35" = list(residual_usual = 0.35),
  "nothing expected" = doubt(1e6, 1e6), "doubt 3, 1.5" = doubt(3, 1.5), "doubt 1.5, 0.7" = doubt(1.5, 0.7),
  "doubt 0.7, 0.7" = doubt(0.7, 0.7), "doubt 6, 0.7" = doubt(6, 0.7),
  "look .03, again .4" = look(0.03, 30, 0.4, 45), "look .15, again .4" = look(0.15, 30, 0.4, 45),
  "look .15, again .6" = look(0.15, 30, 0.6, 45), "look .25, again .3" = look(0.25, 30, 0.3, 45),
  "look from 0 on" = list(response_unseen = 0), "look from 60 on" = list(response_unseen = 60),
  "look .4, again .6" = look(0.4, 45, 0.6, 45), "look .25 for 20" = look(0.25, 20, 0.6, 45)
)
problems <- merge(data.frame(n = c(500, 500, 500, 1000, 1000, 1000, 2000), d = c(5, 5, 5, 5, 5, 10, 20),
                             eps = c(0.15, 0.5, 1, 0.15, 0.3, 0.3, 0.3)),
                  expand.grid(most = c(0, 0.1, 0.7), wide = c("1", "10", "100", "none"),
                              stringsAsFactors = FALSE), by = NULL)

problem <- function(n, d, most, seed) {
  set.seed(seed)
  x <- matrix(stats::rnorm(n * d), n)
  half <- seq_len(d %/% 2)
  x[, half] <- x[, half] + 0.7 * stats::rnorm(n)
  x <- pmin(pmax(x, -3.5), 3.5)
  truth <- drop(x %*% stats::rnorm(d))
  truth <- truth / stats::sd(truth) * sqrt(most)
  list(data = data.frame(x, y = truth + stats::rnorm(n) * sqrt(1 - most)), truth = truth)
}

gain <- function(p, row, seed) {
  columns <- setdiff(names(p$data), "y")
  set.seed(seed + 1000)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., p$data, eps = row$eps, delta = 1 / row$n^2, noise = "reproducible", progress = FALSE,
    bounds = stats::setNames(rep(list(c(-3.5, 3.5)), length(columns)), columns),
    loss = if (row$wide == "none") loss_squared() else loss_squared(c(-4, 4) * as.numeric(row$wide))
  )))
  mean((p$truth - mean(p$truth))^2) - mean((stats::predict(fit, p$data) - p$truth)^2)
}

table <- compare_gains(arguments, 8L, settings, problems, function(row, setting, seed) {
  gain(problem(row$n, row$d, row$most, seed), row, seed)
})
table$gain <- pmax(table$gain, -1) # one failure is not to hide the others
print(round(tapply(table$gain, table[c("setting", "wide")], mean), 3))
