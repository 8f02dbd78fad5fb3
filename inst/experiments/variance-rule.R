# What should a fit by residuals expect of the variance of a column when the noise hides it? Constants of
# expected_variances() (R/job-geometry.R) compared with others, with noisy variances to which the noise level is added,
# and with public moments, on SYNTHETIC problems: correlated normal columns, a third of them indicators, and a response
# of variance one in (-4, 4), or a count of mean one. The bounds of columns are 5 standard deviations from zero
# ("five"), or 3 to 40 ("loose"), in which zero then also is to one side ("aside").
#   Rscript variance-rule.R RESULTS.csv [SEEDS]
# gain: the part of the variance of the response (of counts: of the logarithm of its mean) that predictions explain,
# less what they add to it, the mean of SEEDS (8) seeds; most: what the truth explains. Noise is reproducible: no result
# is for release.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "columns.R")) source(file.path(dirname(this_file), file))

noisy_variances <- function(moments, box, job) {
  moments$variance <- pmax(moments$variance, 0)
  moments
}
settings <- list(
  current = list(), "noise level added" = list(expected_moments = noisy_variances), public = list(),
  "common .03" = list(geometry_common = 0.03), "common .3" = list(geometry_common = 0.3),
  "doubt .7" = list(geometry_doubt = 0.7), "doubt 3" = list(geometry_doubt = 3),
  "differ .5" = list(geometry_differ = 0.5), "differ 1.5" = list(geometry_differ = 1.5)
)
problems <- merge(data.frame(n = c(500, 1000, 2000, 4000, 3000), d = c(5, 10, 20, 40, 8)),
                  expand.grid(eps = c(0.5, 1), loss = c("squared", "poisson"), most = c(0.1, 0.5),
                              bounds = c("five", "loose", "aside"), stringsAsFactors = FALSE), by = NULL)

ends <- function(bounds) {
  if (bounds == "five") return(c(-5, 5))
  far <- exp(stats::runif(1, log(3), log(40)))
  far * c(-1, 1) + if (bounds == "aside") stats::runif(1, -0.7, 0.7) * max(far - 5, 0) else 0
}

problem <- function(row, seed) {
  set.seed(seed)
  made <- mixed_columns(row$n, row$d - 1)
  truth <- made$predictor * sqrt(row$most)
  y <- if (row$loss == "poisson") stats::rpois(row$n, exp(truth)) else truth + sqrt(1 - row$most) * stats::rnorm(row$n)
  numeric <- names(made$data)[vapply(made$data, is.numeric, NA)]
  x <- stats::model.matrix(~ ., made$data)[, -1]
  bounds <- lapply(stats::setNames(nm = numeric), function(name) ends(row$bounds))
  list(data = cbind(made$data, y = y), truth = truth, bounds = bounds,
       public = geometry_public(unname(colMeans(x)), unname(apply(x, 2, stats::sd))))
}

gain <- function(p, row, seed, geometry) {
  set.seed(seed + 1000)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., p$data, eps = row$eps, delta = 1 / row$n^2, noise = "reproducible", progress = FALSE, bounds = p$bounds,
    loss = if (row$loss == "poisson") loss_poisson() else loss_squared(c(-4, 4)), geometry = geometry
  )))
  error <- stats::predict(fit, p$data) - p$truth
  if (row$loss == "poisson") error <- error - mean(error)
  mean((p$truth - mean(p$truth))^2) - mean(error^2)
}

table <- compare_gains(arguments, 8L, settings, problems, function(row, setting, seed) {
  p <- problem(row, seed)
  gain(p, row, seed, if (setting == "public") p$public)
})
print(round(tapply(table$gain, table[c("setting", "loss", "eps", "bounds")], mean), 3))
