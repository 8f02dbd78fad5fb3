# dp_plan(loss = "squared") against fits to SYNTHETIC data: expected and mean excess error, in residual variances.
#   Rscript plan-squared.R [RUNS]
# With 10 runs the ratio of fits to plans is between .76 and 1.27 in all ten settings.
library(dpsosp)

settings <- data.frame(
  p = c(5, 5, 5, 15, 15, 2, 2, 30, 30, 10), variance = c(.15, .15, .15, .2, .2, .33, .33, .1, .1, .1),
  n = 1000 * c(2, 10, 10, 10, 50, 1, 5, 20, 5, 3), eps = c(1, .5, 2, 1, 1, 1, 1, 2, 2, .5),
  effect = c(1, 1, 1, .5, .5, 1, 1, .7, .7, .5)
)

excess <- function(at, seed) {
  set.seed(seed)
  x <- matrix(runif(at$n * at$p, -1, 1) * sqrt(3 * at$variance), at$n)
  slopes <- rnorm(at$p)
  slopes <- at$effect * slopes / sqrt(mean(slopes^2))
  data <- data.frame(x, y = 5 + drop(x %*% slopes) + rnorm(at$n))
  bounds <- stats::setNames(rep(list(c(-1, 1)), at$p), names(data)[seq_len(at$p)])
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., data, eps = at$eps, delta = 1 / at$n^2, loss = loss_squared(c(-5, 15)), bounds = bounds,
    noise = "reproducible", progress = FALSE
  )))
  wrong <- coef(fit) - c(5, slopes)
  (wrong[[1]]^2 + sum(wrong[-1]^2) * at$variance) / 2
}

main <- function(runs) {
  for (i in seq_len(nrow(settings))) {
    at <- settings[i, ]
    plan <- dp_plan(at$n, numeric = at$p, eps = at$eps, variance = at$variance, effect = at$effect, loss = "squared")
    seen <- mean(vapply(seq_len(runs), function(seed) excess(at, seed), 0))
    cat(sprintf("p %2d  n %5d  eps %.1f  plan %.5f  constant %.3f  fits %.5f  ratio %.2f\n", at$p, at$n, at$eps,
                plan$excess, plan$constant, seen, seen / plan$excess))
  }
}

arguments <- commandArgs(TRUE)
main(if (length(arguments) > 0) as.integer(arguments[1]) else 10L)
