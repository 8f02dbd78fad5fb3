# Many columns: processor time and accuracy on new records of "newton-ridge", against "2opt-ls", which needs gradients
# only. The result determines the limits in R/method-auto.R.
#   R_LIBS=build/lib Rscript dev/bench/wide.R [number of columns ...]
# One thread, 5,000 synthetic records, eps 3.

library(dpsosp)
options(dpsosp.threads = 1)
arguments <- as.integer(commandArgs(TRUE))
wide <- if (length(arguments) > 0L) arguments else c(500, 1000, 2000, 3000)

auc <- function(score, y) (sum(rank(score)[y]) - sum(y) * (sum(y) + 1) / 2) / (sum(y) * sum(!y))

for (d in wide) {
  set.seed(1)
  x <- matrix(pmin(pmax(stats::rnorm(1e4 * d), -3), 3), 1e4)
  y <- as.vector(stats::runif(1e4) < stats::plogis(x %*% (2 * stats::rnorm(d) / sqrt(d))))
  train <- 1:5000
  for (method in c("newton-ridge", "2opt-ls")) {
    time <- system.time(fit <- suppressMessages(suppressWarnings(
      dp_sosp(x[train, ], y[train], eps = 3, radius = 3 * sqrt(d), bounds = c(-3, 3), method = method)
    )))
    cat(sprintf("%5d columns  %-12s  %6.1f s  AUC %.3f\n", d, method, time[["user.self"]],
                auc(predict(fit, x[-train, ]), y[-train])))
  }
}
