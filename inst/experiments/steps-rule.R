# How many steps should methods for convex losses take that plan them before they start? Defaults of control_newton()
# and control_cubic() (R/method-newton.R) compared with fewer and more, on SYNTHETIC problems (synthetic.R),
# replace-one, delta = 1/n^2, in the rows' own coordinates.
#   Rscript steps-rule.R RESULTS.csv [SEEDS]      2 by default
# Then: Rscript steps-rule.R --summary RESULTS.csv
# excess: mean logistic loss minus the smallest one; mean over the seeds, which are the same for all numbers of steps.
# Noise is reproducible: no result is for release. results/steps-rule.csv has two seeds of 12 problems and three eps.
# With 12 instead of 6 steps the excess is .82 (cubic), .85 (newton, "direct") and .97 (damped-newton) times as large,
# in the geometric mean, with standard errors of .02 to .03, and larger in none, 2 and 15 of 36 cells; with 24 and 48
# cubic has .89 and .73 of that for two and four times the passes, newton 1.05 with 24. 480 instead of 240 steps of
# newton ("lazy") have .91 +- .04, and more in 15 of 36. With "hessian" 5 steps are better than 10 with much noise (.14
# at eps = .3) and worse with little (1.39 at eps = 4).
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

n <- 5000
newton <- function(curvature) function(k) control_newton(curvature, iterations = k)
methods <- list( # steps: the first number is the one that others are compared with
  list(method = "newton", curvature = "lazy", control = newton("lazy"), steps = c(240, 120, 480)),
  list(method = "newton", curvature = "direct", control = newton("direct"), steps = c(6, 3, 12, 24, 48)),
  list(method = "newton", curvature = "hessian", control = newton("hessian"), steps = c(10, 5, 20)),
  list(method = "damped-newton", curvature = "direct", control = newton("direct"), steps = c(6, 3, 12, 24, 48)),
  list(method = "cubic", curvature = "direct", control = function(k) control_cubic(iterations = k),
       steps = c(6, 3, 12, 24, 48))
)

simulate <- function(path, seeds) {
  out <- results_file(path, c("shape", "signal", "rare", "eps", "method", "curvature", "steps"))
  for (shape in c("small", "numeric", "mixed")) for (signal in c(1, 3)) for (rare in c(0.4, 0.1)) {
    problems <- lapply(seq_len(seeds), function(seed) {
      set.seed(seed)
      do.call(synthetic_problem, c(list(n), synthetic_shapes[[shape]], signal = signal, rare = rare))
    })
    best <- lapply(problems, synthetic_minimum)
    for (eps in c(0.3, 1, 4)) for (m in methods) for (steps in m$steps) {
      row <- list(shape = shape, signal = signal, rare = rare, eps = eps, method = m$method, curvature = m$curvature,
                  steps = steps)
      if (out$has(row)) next
      excess <- vapply(seq_len(seeds), function(seed) {
        set.seed(seed)
        fit <- suppressWarnings(suppressMessages(dp_sosp(
          problems[[seed]]$X, problems[[seed]]$y, eps = eps, loss = "logistic", radius = 1, intercept = FALSE,
          method = m$method, control = m$control(steps), geometry = "none", noise = "reproducible", progress = FALSE
        )))
        best[[seed]]$excess(coef(fit))
      }, 0)
      out$add(c(row, list(excess = signif(mean(excess), 4), seeds = seeds)))
    }
  }
}

# The geometric mean over problems of the excess over that of the first number, its standard error as a factor, and in
# how many problems it is worse.
summarise <- function(path) {
  x <- utils::read.csv(path)
  x$problem <- paste(x$shape, x$signal, x$rare)
  for (part in split(x, list(x$method, x$curvature), drop = TRUE)) {
    first <- part$steps[1]
    for (eps in c(unique(part$eps), NA)) {
      some <- if (is.na(eps)) part else part[part$eps == eps, ]
      wide <- tapply(log(some$excess), list(paste(some$problem, some$eps), some$steps), mean)
      over <- wide - wide[, as.character(first)]
      cat(part$method[1], part$curvature[1], "eps", if (is.na(eps)) "all" else eps, "\n")
      print(round(rbind(ratio = exp(colMeans(over)), error = exp(apply(over, 2, stats::sd) / sqrt(nrow(over))),
                        worse = colMeans(over > 0)), 3))
    }
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], as.numeric(c(arguments[-1], 2)[1]))
}
