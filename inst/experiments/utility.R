# Excess empirical loss of the methods for convex losses on common design matrices, delta = 1/n^2, replace-one, no
# tuning.
#   Rscript utility.R FOLDER RESULTS.csv [SEEDS [METHOD ...]]     runs
#   Rscript utility.R --summary RESULTS.csv                       mean over seeds
# FOLDER holds <set>.rds with X (rows of norm at most one, an intercept among the columns) and y in -1, 1, made with
# public constants. All settings are the package's defaults. What is written is exact and NOT PRIVATE.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

run <- function(folder, path, seeds, methods) {
  out <- results_file(path, c("set", "method", "eps", "seed"))
  for (set in c("ijcnn1", "adult", "covertype")) {
    d <- readRDS(file.path(folder, paste0(set, ".rds")))
    problem <- nonprivate_problem(d$X, d$y)
    best <- NULL
    for (eps in c(0.1, 0.2, 0.6, 1, 4)) for (seed in seq_len(seeds)) for (method in methods) {
      row <- list(set = set, method = method, eps = eps, seed = seed)
      if (out$has(row)) next
      if (is.null(best)) best <- problem$loss(synthetic_minimum(d)$w)
      set.seed(seed)
      elapsed <- system.time(fit <- suppressWarnings(suppressMessages(dp_sosp(
        d$X, d$y, eps = eps, radius = 1, intercept = FALSE, method = method, noise = "reproducible", progress = FALSE
      ))))[["elapsed"]]
      out$add(c(row, list(excess = signif(problem$loss(coef(fit)) - best, 5), chosen = fit$method,
                          bound = signif(fit$certificate$gradient[["upper"]], 4), seconds = elapsed)))
    }
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  print(signif(tapply(x$excess, list(paste(x$set, x$method), x$eps), mean), 3))
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  run(arguments[1], arguments[2], if (length(arguments) > 2) as.integer(arguments[3]) else 5L,
      if (length(arguments) > 3) arguments[-(1:3)] else c("auto", "objpert", "newton", "gd"))
}
