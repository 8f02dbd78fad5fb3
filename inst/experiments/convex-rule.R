# Which method and settings are best for a convex loss, as a function of n, d and eps? Excess losses on SYNTHETIC
# problems (synthetic.R), replace-one, delta = 1/n^2. They determine the constants of R/method-auto.R and of the control
# objects.
#   Rscript convex-rule.R RESULTS.csv [N ...]
# Then: Rscript convex-rule.R --summary RESULTS.csv SUMMARY.csv
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

settings <- c(
  lapply(c(0.5, 0.6, 0.75, 0.9), function(tail) {
    list(method = "newton", size = if (tail == 0.5) "adaptive" else paste("adaptive, tail", tail), kappa_share = NA,
         control = control_newton(tail = tail))
  }),
  lapply(c(10, 20, 40, 80), function(size) {
    list(method = "newton", size = size, kappa_share = NA,
         control = control_newton(lambda_scale = 1 / size, adaptive = FALSE, iterations = 60))
  }),
  unlist(recursive = FALSE, lapply(c(5, 10, 20, 40, 160), function(size) lapply(c(0.1, 0.3, 0.5), function(share) {
    list(method = "objpert", size = size, kappa_share = share,
         control = control_perturbation(size = size, kappa_share = share))
  })))
)

simulate <- function(path, sizes) {
  out <- results_file(path, c("shape", "n", "signal", "rare", "eps", "method", "size", "kappa_share"))
  for (n in sizes) for (shape in names(synthetic_shapes)) for (signal in c(1, 3)) for (rare in c(0.4, 0.1)) {
    set.seed(n + signal)
    problem <- do.call(synthetic_problem, c(list(n), synthetic_shapes[[shape]], signal = signal, rare = rare))
    best <- synthetic_minimum(problem)
    for (eps in c(0.1, 0.6, 4)) for (s in settings) {
      row <- list(shape = shape, n = n, d = ncol(problem$X), signal = signal, rare = rare, eps = eps,
                  norm = signif(sqrt(sum(best$w^2)), 4), method = s$method, size = s$size, kappa_share = s$kappa_share)
      if (out$has(row)) next
      set.seed(1)
      fit <- suppressWarnings(suppressMessages(dp_sosp(
        problem$X, problem$y, eps = eps, loss = "logistic", radius = 1, intercept = FALSE, method = s$method,
        control = s$control, noise = "reproducible", progress = FALSE
      )))
      out$add(c(row, list(excess = signif(best$excess(coef(fit)), 5))))
    }
  }
}

# Geometric mean, over problems, of the ratio of the excess loss to the smallest one of all settings; by eps and n into
# a file.
summarise <- function(path, table) {
  x <- utils::read.csv(path)
  x$problem <- paste(x$shape, x$n, x$signal, x$rare, x$eps)
  x$ratio <- x$excess / stats::ave(x$excess, x$problem, FUN = min)
  x$setting <- paste(x$method, x$size, ifelse(is.na(x$kappa_share), "", x$kappa_share))
  for (by in c("eps", "n", "shape", "signal")) {
    cat("\nby ", by, "\n", sep = "")
    print(round(exp(tapply(log(x$ratio), list(x$setting, x[[by]]), mean)), 2))
  }
  kappa <- ifelse(is.na(x$kappa_share), "", paste(", kappa / eps", x$kappa_share))
  setting <- paste0(x$method, ", size ", x$size, kappa)
  cells <- list(setting = setting, paste0("eps = ", x$eps, ", n = ", x$n))
  utils::write.csv(round(exp(tapply(log(x$ratio), cells, mean)), 2), table)
  cat("\nby n and eps: setting with the least mean\n")
  means <- stats::aggregate(log(ratio) ~ setting + n + eps, x, mean)
  for (part in split(means, list(means$n, means$eps))) {
    part <- part[order(part[[4]]), ][1:3, ]
    cat(part$n[1], part$eps[1], paste0(part$setting, " (", round(exp(part[[4]]), 2), ")"), sep = "  ")
    cat("\n")
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2], arguments[3])
} else {
  simulate(arguments[1], as.numeric(arguments[-1]))
}
