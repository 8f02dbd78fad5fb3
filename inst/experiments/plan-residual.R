# dp_plan() for numbers and counts against fits to SYNTHETIC data: expected and mean excess error, in residual
# variances, of counts in nats per record; widths of intervals over those without privacy (medians over slopes and
# fits), and the fraction of the slopes that are resolved.
#   Rscript plan-residual.R RESULTS.csv [RUNS [LOSS ...]]
# RUNS (10) fits for each setting without intervals, and with them, for these and for settings with five times the
# records. Rare counts and few records are in settings of their own, which are not in the summary. Then:
#   Rscript plan-residual.R --summary RESULTS.csv [SUMMARY.csv]
# prints the ratio of the plan's numbers to those of fits by setting. SUMMARY.csv has the quantiles of these ratios, for
# plans of at most six times the non-private width, and the number within 25 % of one.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

# half: of the width of the response's bounds, in residual standard deviations.
usual <- data.frame(
  p = c(5, 5, 5, 15, 15, 2, 2, 30, 30, 10), variance = c(.15, .15, .15, .2, .2, .33, .33, .1, .1, .1),
  n = 1000 * c(2, 10, 10, 10, 50, 1, 5, 20, 5, 3), eps = c(1, .5, 2, 1, 1, 1, 1, 2, 2, .5),
  effect = c(1, 1, 1, .5, .5, 1, 1, .7, .7, .5), level = c(1, 4, .3, 1, .3, 4, 1, .3, 4, 1), half = 9:18,
  group = "usual"
)
more <- transform(usual, n = 5 * n, half = half + 0.5, group = "more records")
rare <- data.frame(p = c(5, 5, 2, 2, 5, 5), variance = 0.15, n = c(1e5, 1e5, 1e5, 4e5, 4e5, 4e5),
                   eps = c(1, 2, 2, 1, 2, 4), effect = 1, level = c(.008, .004, .002, .002, .004, .0005), half = 10,
                   group = "rare")
few <- data.frame(p = c(2, 1, 2, 1), variance = 0.33, n = c(100, 100, 200, 200), eps = c(4, 8, 4, 8), effect = 1,
                  level = c(1, 1, 4, 4), half = 10, group = "few records")
settings <- rbind(usual, more, rare, few)

# Slopes of counts have effects of about the same size in standard deviations of a count, so that these vary little.
setting <- function(i, loss) {
  at <- settings[i, ]
  if (loss == "poisson" && at$group %in% c("usual", "more records")) at$effect <- at$effect / 3
  at
}

losses <- list(squared = loss_squared, huber = loss_huber, poisson = function(response) loss_poisson())

fit_of <- function(at, loss, inference, seed) {
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
    y ~ ., data, eps = at$eps, delta = 1 / at$n^2, loss = losses[[loss]](5 + c(-1, 1) * at$half), bounds = bounds,
    inference = inference, noise = "reproducible", progress = FALSE
  )))
  list(fit = fit, x = cbind(1, x), truth = c(constant, slopes), mean = if (count) exp(constant + predictor),
       variance = at$variance)
}

excess <- function(found) {
  wrong <- coef(found$fit) - found$truth
  if (is.null(found$mean)) return((wrong[[1]]^2 + sum(wrong[-1]^2) * found$variance) / 2)
  off <- drop(found$x %*% wrong)
  mean(found$mean * (expm1(off) - off))
}

# The median over the slopes.
width <- function(found) {
  weight <- if (is.null(found$mean)) 1 else found$mean
  exact <- chol2inv(chol(crossprod(found$x * sqrt(weight))))
  stats::median(sqrt(diag(found$fit$inference$vcov) / diag(exact))[-1])
}

kinds_of <- function(at) switch(at$group, usual = c("excess", "intervals"), "more records" = "intervals", "excess")

run <- function(path, runs, losses) {
  out <- results_file(path, c("loss", "setting", "kind", "seed"))
  for (seed in seq_len(runs)) for (loss in losses) for (i in seq_len(nrow(settings))) {
    at <- setting(i, loss)
    if (at$group == "rare" && loss != "poisson") next
    for (kind in kinds_of(at)) {
      row <- list(loss = loss, setting = i, kind = kind, seed = seed)
      if (out$has(row)) next
      intervals <- kind == "intervals"
      found <- fit_of(at, loss, if (intervals) "sandwich" else "none", seed)
      out$add(c(row, lapply(list(
        excess = if (!intervals) excess(found) else NA, width = if (intervals) width(found) else NA,
        resolved = if (intervals) mean(is.na(found$fit$inference$reason[-1])) else NA
      ), signif, 4)))
    }
  }
}

plan_of <- function(at, loss, inference) {
  dp_plan(at$n, numeric = at$p, eps = at$eps, variance = at$variance, effect = at$effect, loss = loss,
          level = if (loss == "poisson") at$level, inference = inference)
}

summarise <- function(path, out) {
  x <- utils::read.csv(path)
  by <- x[c("setting", "loss", "kind")]
  seen <- cbind(stats::aggregate(x[c("excess", "resolved")], by, mean),
                width = stats::aggregate(x["width"], by, stats::median)$width)
  compared <- do.call(rbind, lapply(seq_len(nrow(seen)), function(i) {
    at <- setting(seen$setting[i], seen$loss[i])
    intervals <- seen$kind[i] == "intervals"
    plan <- plan_of(at, seen$loss[i], intervals)
    cbind(seen[i, c("loss", "kind", "setting")], at[c("group", "p", "n", "eps", "level")],
          fits = if (intervals) seen$width[i] else seen$excess[i],
          plan = if (intervals) stats::median(plan$intervals$ratio) else plan$excess, constant = plan$constant,
          resolved = seen$resolved[i], plan.resolved = if (intervals) mean(plan$intervals$resolved) else NA)
  }))
  compared$ratio <- compared$plan / compared$fits
  print(compared, digits = 3, row.names = FALSE)
  if (length(out) > 0) utils::write.csv(summary_table(compared), out, row.names = FALSE)
}

summary_table <- function(x) {
  x <- x[x$group %in% c("usual", "more records") & (x$kind == "excess" | x$plan <= 6), ]
  rows <- lapply(split(x, list(x$kind, x$loss), drop = TRUE), function(x) {
    data.frame(number = if (x$kind[1] == "excess") "excess loss" else "median width", loss = x$loss[1],
               settings = nrow(x), within = sum(abs(x$ratio - 1) <= 0.25), t(signif(stats::quantile(x$ratio), 3)),
               check.names = FALSE)
  })
  table <- do.call(rbind, rows)
  print(table, digits = 3, row.names = FALSE)
  table
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2], arguments[-(1:2)])
} else {
  run(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 10L,
      if (length(arguments) > 2) arguments[-(1:2)] else names(losses))
}
