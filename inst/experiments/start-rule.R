# Where is Newton's method with one curvature matrix to start: at zero, or at the constant prediction, and how much of
# the budget may that take? SYNTHETIC problems (synthetic.R), replace-one, delta = 1/n^2, from which R/job-constant.R
# has its constants.
#   Rscript start-rule.R RESULTS.csv [N ...]
# Then: Rscript start-rule.R --summary RESULTS.csv
# excess: of the mean loss over the least one; over: the same less that of the constant prediction, so what is positive
# is worse than doing nothing.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

shapes <- c(synthetic_shapes, list(wide = list(numeric = 80, levels = integer())))
problems <- expand.grid(eps = c(0.5, 2), rare = c(0.4, 0.06), signal = c(0.3, 1, 3), shape = names(shapes),
                        stringsAsFactors = FALSE)

# Constants of R/job-constant.R; none: the start is zero.
settings <- list(
  zero = NULL, "sd .01, at most 5 %" = list(constant_sd = 0.01, constant_share = 0.05),
  "sd .01, at most 10 %" = list(constant_sd = 0.01, constant_share = 0.1),
  "sd .01, at most 20 %" = list(constant_sd = 0.01, constant_share = 0.2),
  "sd .005, at most 10 %" = list(constant_sd = 0.005, constant_share = 0.1)
)

fit <- function(problem, eps, setting) {
  start <- if (setting == "zero") numeric(ncol(problem$X))
  with_constants(settings[[setting]], synthetic_fit(problem, eps, method = "newton", start = start))
}

simulate <- function(path, sizes) {
  out <- results_file(path, c("setting", "n", "shape", "signal", "rare", "eps"))
  for (n in sizes) for (i in seq_len(nrow(problems))) {
    p <- problems[i, ]
    set.seed(n + i)
    problem <- do.call(synthetic_problem, c(list(n), shapes[[p$shape]], signal = p$signal, rare = p$rare))
    least <- synthetic_minimum(problem)$value
    share <- mean(problem$y > 0)
    constant <- constant_loss(share)
    for (setting in names(settings)) {
      row <- list(setting = setting, n = n, shape = p$shape, signal = p$signal, rare = p$rare, eps = p$eps)
      if (out$has(row)) next
      set.seed(n + i)
      w <- fit(problem, p$eps, setting)
      loss <- mean(logistic_loss(problem$y * as.vector(problem$X %*% w)))
      out$add(c(row, list(excess = signif(loss - least, 4), over = signif(loss - constant, 4))))
    }
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  x$setting <- factor(x$setting, names(settings))
  show <- function(title, value, by) {
    cat("\n", title, "\n", sep = "")
    print(round(tapply(value, list(x$setting, by), mean), 4))
  }
  print(round(rbind("mean excess" = tapply(x$excess, x$setting, mean), "mean over" = tapply(x$over, x$setting, mean),
                    "share worse than the constant by .002" = tapply(x$over > 0.002, x$setting, mean)), 4))
  for (by in c("n", "eps", "shape", "signal", "rare")) show(paste("mean excess by", by), x$excess, x[[by]])
  show("mean of what is over the constant, by n", pmax(x$over, 0), x$n)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], if (length(arguments) > 1) as.numeric(arguments[-1]) else c(500, 2000, 6000))
}
