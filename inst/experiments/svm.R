# Support vector machines, loss_huber_svm(): accuracy on other records and excess loss of "newton-ridge" and "newton",
# and the accuracy of a logistic fit by "newton-ridge", of the best constant prediction and of the exact minimiser,
# which are not private. Synthetic problems (synthetic.R) with public bounds, replace-one, delta = 1/n^2.
#   Rscript inst/experiments/svm.R RESULTS.csv VERSION [SEEDS]
#   Rscript inst/experiments/svm.R --summary RESULTS.csv
# VERSION is any word for the installed package. With the same seed, methods have the same data. Noise is reproducible:
# no result is for release.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

cells <- expand.grid(eps = c(0.5, 1, 3), shape = names(synthetic_shapes)[1:3], signal = c(1, 3), rare = c(0.5, 0.1),
                     n = c(1000, 4000, 20000), stringsAsFactors = FALSE)

svm_loss <- function(margin, h = 0.5) {
  s <- pmin(pmax((1 - margin + h) / (2 * h), 0), 1)
  h * s^2 + pmax(1 - margin - h, 0)
}

# The least mean loss, on these records.
svm_minimum <- function(problem) {
  value <- function(w) mean(svm_loss(problem$y * drop(problem$X %*% w)))
  slope <- function(w) {
    s <- pmin(pmax((1.5 - problem$y * drop(problem$X %*% w)), 0), 1)
    -drop(crossprod(problem$X, problem$y * s)) / nrow(problem$X)
  }
  stats::optim(numeric(ncol(problem$X)), value, slope, method = "BFGS", control = list(maxit = 500))$par
}

part <- function(problem, rows) list(X = problem$X[rows, , drop = FALSE], y = problem$y[rows])

fits <- list(
  "newton-ridge" = function(train, eps) synthetic_fit(train, eps, "huber_svm", method = "newton-ridge"),
  newton = function(train, eps) synthetic_fit(train, eps, "huber_svm", method = "newton"),
  logistic = function(train, eps) synthetic_fit(train, eps)
)

simulate <- function(out, version, seeds) {
  for (i in seq_len(nrow(cells))) for (seed in seq_len(seeds)) {
    cell <- as.list(cells[i, ])
    set.seed(seed)
    shape <- synthetic_shapes[[cell$shape]]
    whole <- synthetic_problem(cell$n + 5000, shape$numeric, shape$levels, cell$signal, cell$rare)
    train <- part(whole, seq_len(cell$n))
    test <- part(whole, cell$n + 1:5000)
    accuracy <- function(w) mean(test$y * drop(test$X %*% w) > 0)
    loss <- function(w) mean(svm_loss(train$y * drop(train$X %*% w)))
    exact <- NULL
    for (method in names(fits)) {
      row <- c(list(version = version, method = method), cell, list(seed = seed))
      if (out$has(row)) next
      exact <- exact %||% svm_minimum(train)
      set.seed(1000 + seed)
      w <- fits[[method]](train, cell$eps)
      out$add(c(row, list(accuracy = accuracy(w), excess = signif(loss(w) - loss(exact), 4),
                          exact = accuracy(exact), constant = max(mean(test$y > 0), mean(test$y < 0)))))
    }
  }
}

`%||%` <- function(x, y) if (is.null(x)) y else x

summarise <- function(path) {
  options(width = 140)
  x <- utils::read.csv(path)
  x$label <- paste(x$version, x$method)
  for (by in c("eps", "n", "rare", "signal")) {
    cat("\nAccuracy, by ", by, "\n", sep = "")
    print(round(tapply(x$accuracy, x[c("label", by)], mean), 4))
  }
  one <- x[x$label == x$label[1], ]
  cat("\nexact", round(mean(one$exact), 4), "constant", round(mean(one$constant), 4), "\n\nExcess loss, by eps and n\n")
  print(round(tapply(x$excess, x[c("label", "eps", "n")], mean), 4))
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  out <- results_file(arguments[1], c("version", "method", names(cells), "seed"))
  simulate(out, arguments[2], if (length(arguments) > 2) as.integer(arguments[3]) else 4L)
}
