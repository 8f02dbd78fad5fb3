# Excess empirical loss of Newton's method and of "2opt-ls" on common design matrices, delta = 1/n^2, replace-one.
#   Rscript newton.R FOLDER RESULTS.csv [SEEDS [SET ...]]
# FOLDER holds <set>.rds with X (rows of norm at most one, an intercept among the columns) and y in -1, 1, made with
# public constants. All settings are the package's defaults, one for all sets; the default lambda_scale of "lazy" was
# chosen having seen these sets. What is written is exact and NOT PRIVATE.
library(dpsosp)

arguments <- commandArgs(TRUE)
seeds <- if (length(arguments) > 2) as.integer(arguments[3]) else 5L
sets <- if (length(arguments) > 3) arguments[-(1:3)] else c("ijcnn1", "adult", "covertype")
methods <- list(
  "newton lazy" = list("newton", control_newton()),
  "newton hessian" = list("newton", control_newton("hessian")),
  "2opt-ls" = list("2opt-ls", NULL)
)

this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))
out <- results_file(arguments[2], c("set", "method", "eps", "seed"))

minimum <- function(problem, d) {
  w <- numeric(ncol(d$X))
  for (i in 1:60) {
    p <- stats::plogis(as.vector(d$X %*% w))
    gradient <- crossprod(d$X, p - (d$y > 0)) / nrow(d$X)
    hessian <- crossprod(d$X * sqrt(p * (1 - p))) / nrow(d$X) + diag(1e-10, ncol(d$X))
    w <- w - as.vector(solve(hessian, gradient))
  }
  problem$loss(w)
}

for (set in sets) {
  d <- readRDS(file.path(arguments[1], paste0(set, ".rds")))
  problem <- nonprivate_problem(d$X, d$y)
  best <- NULL
  for (eps in c(0.1, 0.2, 0.6, 1, 4)) for (seed in seq_len(seeds)) for (method in names(methods)) {
    row <- list(set = set, method = method, eps = eps, seed = seed)
    if (out$has(row)) next
    if (is.null(best)) best <- minimum(problem, d)
    set.seed(seed)
    elapsed <- system.time(fit <- suppressWarnings(suppressMessages(dp_sosp(
      d$X, d$y, eps = eps, radius = 1, intercept = FALSE, method = methods[[method]][[1]],
      control = methods[[method]][[2]], noise = "reproducible", progress = FALSE
    ))))[["elapsed"]]
    out$add(c(row, list(excess = problem$loss(coef(fit)) - best, status = fit$status,
                        bound = fit$certificate$gradient[["upper"]], seconds = elapsed)))
  }
}
