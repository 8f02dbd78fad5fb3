# dp_plan() on 20 settings that were not used to choose its constants: SYNTHETIC problems, whose variance, fractions,
# effect and curvature are given to the plan.
#   Rscript plan-check.R RESULTS.csv [SEEDS]
# SEEDS (36; the results have ten with intervals) populations and data sets for each setting, and for each of these a
# fit by "newton", one by "newton-ridge" and one by the latter with intervals ("sandwich"): excess loss, target and, for
# intervals, the median width of the
# slopes' intervals over the non-private width for that population. Then:
#   Rscript plan-check.R --summary RESULTS.csv [SUMMARY.csv]
# prints the ratio of the plan's numbers to the means of fits, by setting. SUMMARY.csv has the quantiles of these
# ratios, the number within 25 % of one, and the median standard error of the means.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

designs <- list(
  "2 uniform" = list(numeric = 2, shares = list(), variance = 1 / 3),
  "5 numeric" = list(numeric = 5, shares = list(), variance = 0.15),
  "9 numeric" = list(numeric = 9, shares = list(), variance = 0.2),
  "3 numeric, 2 and 4 levels" = list(numeric = 3, shares = even_shares(c(2, 4)), variance = 0.2),
  "3, 3 and 5 levels" = list(numeric = 0, shares = even_shares(c(3, 3, 5)), variance = 0.1),
  "6 numeric, levels of 10 %" = list(numeric = 6, shares = list(c(.6, .3, .1), c(.5, .2, .2, .1)), variance = 0.12)
)
settings <- data.frame(
  design = names(designs)[c(1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 6)],
  n = 1000 * c(2, 2, 10, 5, 5, 20, 50, 5, 20, 50, 5, 10, 20, 50, 10, 20, 50, 10, 50, 100),
  eps = c(1, 4, .5, 1, 4, 1, .2, 4, 1, .5, 4, 1, .5, 1, 1, 2, 1, 4, 1, 1),
  effect = rep(c(0.5, 1), 10), rare = rep(c(0.5, 0.2, 0.35, 0.5), 5)
)

method_of <- function(kind) if (kind == "intervals") "newton-ridge" else kind

run <- function(path, seeds) {
  out <- results_file(path, c("setting", "kind", "seed"))
  kinds <- c("newton", "newton-ridge", "intervals")
  for (seed in seq_len(seeds)) for (i in seq_len(nrow(settings))) for (kind in kinds) {
    at <- settings[i, ]
    row <- list(setting = i, kind = kind, seed = seed)
    if (out$has(row)) next
    set.seed(100 * i + seed)
    population <- do.call(plan_population, c(designs[[at$design]], effect = at$effect, rare = at$rare))
    with_intervals <- kind == "intervals"
    fit <- suppressWarnings(suppressMessages(dp_sosp(
      y ~ ., population$draw(at$n), eps = at$eps, method = method_of(kind), progress = FALSE,
      inference = if (with_intervals) "sandwich" else "none", noise = "reproducible",
      bounds = if (designs[[at$design]]$numeric > 0) plan_bounds(designs[[at$design]]$numeric) else "private"
    )))
    out$add(c(row, lapply(list(
      curvature = population$curvature, excess = population$excess(predict(fit, population$judges)),
      target = fit$target$eps_g, width = if (with_intervals) stats::median(widths(fit, population, at$n)) else NA
    ), signif, 5)))
  }
}

# Widths for the slopes, over the non-private ones.
widths <- function(fit, population, n) {
  x <- stats::model.matrix(~ ., population$judges)
  p <- stats::plogis(as.vector(x %*% population$coefficients))
  exact <- chol2inv(chol(crossprod(x * sqrt(p * (1 - p))) / nrow(x))) / n
  sqrt(diag(fit$inference$vcov) / diag(exact))[-1]
}

plan_of <- function(at) {
  design <- designs[[at$design]]
  dp_plan(at$n, design$numeric, if (length(design$shares) > 0) lengths(design$shares), eps = at$eps,
          method = method_of(at$kind), inference = at$kind == "intervals",
          variance = design$variance, shares = design$shares, curvature = at$curvature, effect = at$effect)
}

summarise <- function(path, out) {
  x <- utils::read.csv(path)
  by_setting <- function(columns, f) stats::aggregate(x[columns], x[c("setting", "kind")], f)
  error <- by_setting(c("excess", "target", "width"), function(v) stats::sd(v) / sqrt(length(v)) / mean(v))
  x <- by_setting(c("curvature", "excess", "target", "width"), mean)
  x <- cbind(x, error = error[-(1:2)], settings[x$setting, ])
  plans <- lapply(split(x, seq_len(nrow(x))), plan_of)
  take <- function(what) vapply(plans, `[[`, 0, what) / x[[what]]
  x$excess.ratio <- take("excess")
  x$target.ratio <- take("target")
  x$width.plan <- vapply(plans, function(p) if (is.null(p$intervals)) NA else stats::median(p$intervals$ratio), 0)
  x$width.ratio <- x$width.plan / x$width
  print(x[c("design", "n", "eps", "effect", "rare", "kind", "excess", "error.excess", "excess.ratio", "target.ratio",
            "width", "width.ratio")], digits = 3, row.names = FALSE)
  by_kind <- lapply(c("newton", "newton-ridge", "intervals"), function(kind) {
    at <- x[x$kind == kind, ]
    rbind(row_of("excess loss", kind, at$excess.ratio, at$error.excess),
          row_of("target", kind, at$target.ratio, at$error.target))
  })
  within <- x[x$kind == "intervals" & x$width <= 6, ]
  rows <- do.call(rbind, c(by_kind, list(row_of("median width", "intervals", within$width.ratio, within$error.width))))
  print(rows, digits = 3, row.names = FALSE)
  if (length(out) > 0) utils::write.csv(rows, out, row.names = FALSE)
}

row_of <- function(number, kind, ratio, error) {
  data.frame(number, kind, settings = length(ratio), within = sum(abs(ratio - 1) <= 0.25),
             t(signif(stats::quantile(ratio), 3)), error = signif(stats::median(error), 2), check.names = FALSE)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2], arguments[-(1:2)])
} else {
  run(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 36L)
}
