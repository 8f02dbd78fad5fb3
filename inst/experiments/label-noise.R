# When is the sigmoid loss better than the logistic one? Real data frames; the labels to fit are right or wrong in three
# ways, and other records (20 %) have their own labels. Ranges are private, replace-one, delta = 1/n^2.
#   Rscript label-noise.R RESULTS.csv [SEEDS]      10 by default, of "2opt-ls" and "tr" at most 3
# labels: "clean"; "random": a tenth of all have the other label; "clearest": the tenth with the largest absolute
# log-odds by glm(); "one class": a fifth of those of the second class. slope: of a logistic regression of the test
# labels on the predictions, 1 for calibrated ones. Then:
#   Rscript label-noise.R --summary RESULTS.csv SUMMARY.csv
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "frames.R")) source(file.path(dirname(this_file), file))

sets <- list(covertype = list(package = "dpsosp", formula = cover ~ .),
             mlc_churn = list(package = "modeldata", formula = churn ~ .),
             Hdma = list(package = "Ecdat", formula = deny ~ .))
declared <- list()
fits <- list(logistic = list(loss = "logistic"), sigmoid = list(loss = "sigmoid"),
             "2opt-ls" = list(loss = "sigmoid", method = "2opt-ls"), tr = list(loss = "sigmoid", method = "tr"))

wrong_labels <- function(set, labels) {
  name <- all.vars(set$formula)[1]
  y <- set$train[[name]]
  n <- length(y)
  set.seed(1)
  flipped <- switch(labels, clean = integer(), random = sample.int(n, n / 10), "one class" = {
    second <- which(y == levels(y)[2])
    sample(second, length(second) / 5)
  }, clearest = {
    link <- stats::predict(suppressWarnings(stats::glm(set$formula, stats::binomial(), set$train)), set$train)
    order(-abs(link))[seq_len(n / 10)]
  })
  y[flipped] <- levels(y)[3 - as.integer(y[flipped])]
  set$train[[name]] <- y
  set
}

simulate <- function(path, seeds) {
  out <- results_file(path, c("data", "labels", "eps", "fit", "seed"))
  for (name in names(sets)) {
    set <- split_set(name, "")
    if (is.null(set)) next
    for (labels in c("clean", "random", "clearest", "one class")) {
      noisy <- wrong_labels(set, labels)
      for (eps in c(0.2, 0.5, 1, 3)) for (fit in names(fits)) {
        for (seed in seq_len(if (is.null(fits[[fit]]$method)) seeds else min(seeds, 3))) {
          row <- list(data = name, labels = labels, eps = eps, fit = fit, seed = seed)
          if (out$has(row)) next
          run <- do.call(timed_fit, c(list(noisy, eps, seed), fits[[fit]]))
          link <- predict(run$fit, set$test)
          slope <- stats::coef(suppressWarnings(stats::glm(set$positive ~ link, stats::binomial())))[[2]]
          out$add(c(row, list(method = run$fit$method), quality_of(link, !is.na(link), set),
                    list(slope = signif(slope, 3), status = run$fit$status, seconds = run$seconds)))
        }
      }
    }
  }
}

# Means over the seeds, and the difference of the sigmoid from the logistic loss with its standard error.
summarise <- function(path, to) {
  x <- utils::read.csv(path)
  both <- merge(x[x$fit == "sigmoid", ], x[x$fit == "logistic", ], c("data", "labels", "eps", "seed"))
  by <- both[c("eps", "labels", "data")]
  se <- function(v) stats::sd(v) / sqrt(length(v))
  both$points <- 100 * (both$accuracy.x - both$accuracy.y)
  both$auc <- both$auc.x - both$auc.y
  table <- stats::aggregate(both[c("points", "auc")], by, mean)
  table$points.se <- stats::aggregate(both["points"], by, se)$points
  table$auc.se <- stats::aggregate(both["auc"], by, se)$auc
  means <- function(fit, what) {
    at <- x[x$fit == fit, ]
    found <- stats::aggregate(at[what], at[c("eps", "labels", "data")], mean)
    found[[what]][match(do.call(paste, table[1:3]), do.call(paste, found[1:3]))]
  }
  for (what in c("accuracy", "auc", "slope")) for (fit in names(fits)) table[[paste(fit, what)]] <- means(fit, what)
  utils::write.csv(cbind(table[1:3], round(table[-(1:3)], 4)), to, row.names = FALSE)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2], arguments[3])
} else {
  simulate(arguments[1], if (is.na(arguments[2])) 10 else as.integer(arguments[2]))
}
