# Which candidates are best for a private line search? Excess losses on SYNTHETIC problems (synthetic.R), replace-one,
# delta = 1/n^2. They determine the defaults of b_g and beta_g in control_opt(): the first candidate over the short
# step, and the ratio of successive candidates.
#   Rscript search-rule.R RESULTS.csv [N ...]
# Then: Rscript search-rule.R --summary RESULTS.csv
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

settings <- data.frame(b_g = c(16, 64, 64, 256, 256, 1024), beta_g = c(0.25, 0.5, 0.25, 0.5, 0.25, 0.25))

simulate <- function(path, sizes) {
  out <- results_file(path, c("shape", "n", "signal", "rare", "eps", "method", "b_g", "beta_g", "seed"))
  for (n in sizes) for (shape in names(synthetic_shapes)) for (signal in c(1, 3)) for (rare in c(0.4, 0.1)) {
    set.seed(n + signal)
    problem <- do.call(synthetic_problem, c(list(n), synthetic_shapes[[shape]], signal = signal, rare = rare))
    best <- synthetic_minimum(problem)
    for (eps in c(0.5, 2, 8)) for (method in c("opt-ls", "2opt-ls")) for (i in 1:(2 * nrow(settings))) {
      s <- (i + 1) %/% 2
      seed <- 2 - i %% 2
      row <- list(shape = shape, n = n, d = ncol(problem$X), signal = signal, rare = rare, eps = eps, method = method,
                  b_g = settings$b_g[s], beta_g = settings$beta_g[s], seed = seed)
      if (out$has(row)) next
      set.seed(seed)
      fit <- suppressWarnings(suppressMessages(dp_sosp(
        problem$X, problem$y, eps = eps, loss = "logistic", radius = 1, intercept = FALSE, method = method,
        geometry = "none", control = control_opt(b_g = settings$b_g[s], beta_g = settings$beta_g[s]),
        noise = "reproducible", progress = FALSE
      )))
      start <- best$excess(0 * coef(fit))
      out$add(c(row, list(excess = signif(best$excess(coef(fit)), 5), start = signif(start, 5))))
    }
  }
}

# Geometric mean, over problems, of the ratio of the excess loss to the smallest one of all settings; fraction of runs
# that end worse than their start.
summarise <- function(path) {
  x <- utils::read.csv(path)
  x$problem <- paste(x$shape, x$n, x$signal, x$rare, x$eps, x$method, x$seed)
  x$ratio <- x$excess / stats::ave(x$excess, x$problem, FUN = min)
  x$setting <- paste(x$b_g, x$beta_g)
  for (by in c("eps", "n", "shape", "method")) {
    cat("\nby ", by, "\n", sep = "")
    print(round(exp(tapply(log(x$ratio), list(x$setting, x[[by]]), mean)), 2))
  }
  cat("\nworse than the start\n")
  print(round(tapply(x$excess > x$start + 1e-9, list(x$setting, x$n), mean), 4))
}

if (arguments[1] == "--summary") {
  summarise(arguments[2])
} else {
  simulate(arguments[1], if (length(arguments) > 1) as.numeric(arguments[-1]) else c(500, 2000, 10000))
}
