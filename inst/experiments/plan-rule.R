# Chooses the factor in dp_plan()'s formula of excess loss for "newton-ridge" (R/job-plan.R), on SYNTHETIC
# problems whose variance, fractions, effect and curvature are given to the plan. The formula for "newton" has no factor
# and is shown for comparison.
#   Rscript plan-rule.R RESULTS.csv [SEEDS]
# draws SEEDS (12) populations and data sets for each setting and fits them. Then: Rscript plan-rule.R --summary
# RESULTS.csv prints the ratio of the plan's numbers to the means of fits, by setting, and quantiles of this ratio for
# excess loss; the factor should make its median one. constant: excess loss of the best constant prediction.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

designs <- list(
  "4 numeric, rare levels" = list(
    numeric = 4, shares = list(c(.45, .55), c(.4, .3, .2, .1), c(.3, .25, .2, .12, .08, .05)), variance = 0.1
  ),
  "3 numeric" = list(numeric = 3, shares = list(), variance = 1 / 3),
  "10 numeric, narrow" = list(numeric = 10, shares = list(), variance = 0.05),
  "6 numeric, 3 and 10 levels" = list(numeric = 6, shares = even_shares(c(3, 10)), variance = 0.1),
  "15 numeric, 5, 5 and 20 levels" = list(numeric = 15, shares = even_shares(c(5, 5, 20)), variance = 0.1)
)
cells <- data.frame(design = names(designs)[c(1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5)],
                    n = 1000 * c(5, 5, 20, 20, 20, 50, 1, 5, 2, 10, 5, 20, 10, 40),
                    eps = c(.5, 4, .5, 1, 4, 1, 1, .5, 1, 1, 1, 1, 1, 1))
settings <- merge(merge(cells, data.frame(effect = c(0.35, 0.7, 1.2))),
                  data.frame(method = c("newton", "newton-ridge")))

run <- function(path, seeds) {
  out <- results_file(path, c("method", "design", "n", "eps", "effect", "seed"))
  for (seed in seq_len(seeds)) for (i in seq_len(nrow(settings))) {
    at <- settings[i, ]
    row <- list(method = at$method, design = at$design, n = at$n, eps = at$eps, effect = at$effect, seed = seed)
    if (out$has(row)) next
    set.seed(seed)
    population <- do.call(plan_population, c(designs[[at$design]], effect = at$effect, rare = 0.35))
    fit <- suppressWarnings(suppressMessages(dp_sosp(
      y ~ ., population$draw(at$n), eps = at$eps, method = at$method, noise = "reproducible", progress = FALSE,
      bounds = plan_bounds(designs[[at$design]]$numeric)
    )))
    out$add(c(row, lapply(list(curvature = population$curvature, constant = population$constant,
                               excess = population$excess(predict(fit, population$judges)),
                               target = fit$target$eps_g), signif, 5)))
  }
}

plan_of <- function(at) {
  design <- designs[[at$design]]
  dp_plan(at$n, design$numeric, lengths(design$shares), eps = at$eps, method = at$method, variance = design$variance,
          shares = design$shares, curvature = at$curvature, effect = at$effect)
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  x <- stats::aggregate(cbind(curvature, constant, excess, target) ~ design + n + eps + effect + method, x, mean)
  plans <- lapply(split(x, seq_len(nrow(x))), plan_of)
  take <- function(what) vapply(plans, `[[`, 0, what)
  x$plan <- take("excess")
  x$plan.over.fits <- x$plan / x$excess
  x$plan.target.over.fits <- take("target") / x$target
  x$plan.constant.over.fits <- take("constant") / x$constant
  print(x[c("method", "design", "n", "eps", "effect", "excess", "plan", "plan.over.fits", "plan.target.over.fits",
            "plan.constant.over.fits")], digits = 3, row.names = FALSE)
  for (method in unique(x$method)) {
    cat(method, ": plan over fits, quantiles\n", sep = "")
    print(stats::quantile(x$plan.over.fits[x$method == method], c(0, 0.1, 0.5, 0.9, 1)), digits = 3)
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  run(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 12L)
}
