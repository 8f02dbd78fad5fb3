# dp_plan() for numbers and counts against fits to SYNTHETIC data: expected and mean excess error, in residual
# variances, of counts in nats per record.
#   Rscript plan-residual.R [RUNS [LOSS ...]]
# With 10 runs the ratio of fits to plans is between .76 and 1.27 for squared error, .73 and 1.54 for huber, .60 and
# 1.72 for poisson.
library(dpsosp)

settings <- data.frame(
  p = c(5, 5, 5, 15, 15, 2, 2, 30, 30, 10), variance = c(.15, .15, .15, .2, .2, .33, .33, .1, .1, .1),
  n = 1000 * c(2, 10, 10, 10, 50, 1, 5, 20, 5, 3), eps = c(1, .5, 2, 1, 1, 1, 1, 2, 2, .5),
  effect = c(1, 1, 1, .5, .5, 1, 1, .7, .7, .5), level = c(1, 4, .3, 1, .3, 4, 1, .3, 4, 1)
)

# Slopes of counts have effects of about the same size in standard deviations of a count, so that these vary little.
setting <- function(i, loss) {
  at <- settings[i, ]
  if (loss == "poisson") at$effect <- at$effect / 3
  at
}

losses <- list(squared = function() loss_squared(c(-5, 15)), huber = function() loss_huber(c(-5, 15)),
               poisson = function() loss_poisson())

excess <- function(at, loss, seed) {
  set.seed(seed)
  x <- matrix(runif(at$n * at$p, -1, 1) * sqrt(3 * at$variance), at$n)
  slopes <- rnorm(at$p)
  slopes <- at$effect * slopes / sqrt(mean(slopes^2))
  predictor <- drop(x %*% slopes)
  count <- loss == "poisson"
  constant <- if (count) log(at$level) else 5
  data <- data.frame(x, y = if (count) rpois(at$n, exp(constant + predictor)) else constant + predictor + rnorm(at$n))
  bounds <- stats::setNames(rep(list(c(-1, 1)), at$p), names(data)[seq_len(at$p)])
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., data, eps = at$eps, delta = 1 / at$n^2, loss = losses[[loss]](), bounds = bounds, noise = "reproducible",
    progress = FALSE
  )))
  wrong <- coef(fit) - c(constant, slopes)
  if (!count) return((wrong[[1]]^2 + sum(wrong[-1]^2) * at$variance) / 2)
  off <- drop(cbind(1, x) %*% wrong)
  mean(exp(constant + predictor) * (expm1(off) - off))
}

main <- function(runs, losses) {
  for (loss in losses) {
    for (i in seq_len(nrow(settings))) {
      at <- setting(i, loss)
      plan <- dp_plan(at$n, numeric = at$p, eps = at$eps, variance = at$variance, effect = at$effect, loss = loss,
                      level = if (loss == "poisson") at$level)
      seen <- mean(vapply(seq_len(runs), function(seed) excess(at, loss, seed), 0))
      cat(sprintf("%-8s p %2d  n %5d  eps %.1f  plan %.5f  constant %.3f  fits %.5f  ratio %.2f\n", loss, at$p, at$n,
                  at$eps, plan$excess, plan$constant, seen, seen / plan$excess))
    }
  }
}

arguments <- commandArgs(TRUE)
main(if (length(arguments) > 0) as.integer(arguments[1]) else 10L,
     if (length(arguments) > 1) arguments[-1] else names(losses))
