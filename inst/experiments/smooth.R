# Curves against straight lines on the data frames of newcomer.R: each numeric column with more than two documented
# values becomes s(). Private ranges, replace-one, delta = 1/n^2; binary columns have the bounds 0 and 1. At most 75,000
# rows of a set are used. All results are exact and NOT PRIVATE.
#   Rscript smooth.R RESULTS.csv FOLDER [SEEDS [SET ...]]  runs that are not in the file yet (3 seeds, all sets)
#   Rscript smooth.R --summary RESULTS.csv [SUMMARY.csv]   means over the seeds, and gains with standard errors
# FOLDER as in raw.R. Each fit predicts for a fifth of the rows; only rows for which glm() predicts, too, are used.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "frames.R")) source(file.path(dirname(this_file), file))

most_rows <- 75000L
# The set with the formulas of lines and curves. Columns with one value in all rows are left out.
with_curves <- function(name, folder) {
  set <- split_set(name, folder, most_rows)
  if (is.null(set)) return(NULL)
  columns <- attr(stats::terms(set$formula, data = set$train), "term.labels")
  columns <- columns[vapply(set$train[columns], function(x) length(unique(x)) > 1L, NA)]
  numeric <- columns[vapply(set$train[columns], function(x) is.numeric(x) && length(unique(x)) > 2L, NA)]
  two <- setdiff(columns[vapply(set$train[columns], is.numeric, NA)], numeric)
  set$bounds <- stats::setNames(rep(list(c(0, 1)), length(two)), two)
  response <- all.vars(set$formula)[1]
  set$line <- stats::reformulate(columns, response)
  set$curve <- stats::reformulate(ifelse(columns %in% numeric, sprintf("s(%s)", columns), columns), response)
  set
}

one <- function(set, model, eps, seed) {
  set$formula <- set[[model]]
  run <- timed_fit(set, eps, seed, bounds = set$bounds)
  link <- stats::predict(run$fit, set$test)
  both <- !is.na(link) & !is.na(set$exact$glm)
  c(quality_of(link, both, set), list(d = length(stats::coef(run$fit)), seconds = run$seconds),
    glm = quality_of(set$exact$glm, both, set)[c("auc", "loss")])
}

run <- function(path, folder, seeds, chosen) {
  out <- results_file(path, c("set", "model", "eps", "seed"))
  for (name in chosen) {
    set <- with_curves(name, folder)
    if (is.null(set)) next
    for (seed in seq_len(seeds)) for (eps in c(0.1, 0.5, 1, 3)) for (model in c("line", "curve")) {
      row <- list(set = name, n = nrow(set$train), model = model, eps = eps, seed = seed)
      if (!out$has(row)) out$add(c(row, one(set, model, eps, seed)))
    }
  }
}

summarise <- function(path, summary) {
  x <- utils::read.csv(path)
  key <- c("set", "n", "eps", "seed")
  x <- merge(x[x$model == "line", ], x[x$model == "curve", ], key, suffixes = c("", ".curve"))
  x$gain.auc <- x$auc.curve - x$auc
  x$gain.loss <- x$loss - x$loss.curve
  by <- x[c("eps", "set", "n")]
  means <- stats::aggregate(x[c("auc", "auc.curve", "glm.auc", "loss", "loss.curve", "glm.loss", "d", "d.curve",
                                "seconds", "seconds.curve")], by, mean)
  error <- function(x) stats::sd(x) / sqrt(length(x))
  gains <- stats::aggregate(x[c("gain.auc", "gain.loss")], by, mean)
  errors <- stats::aggregate(x[c("gain.auc", "gain.loss")], by, error)
  print(format(means[order(means$set), ], digits = 3), row.names = FALSE)
  if (!is.na(summary)) {
    kept <- setdiff(names(means), c("seconds", "seconds.curve"))
    means[sapply(means, is.double)] <- lapply(means[sapply(means, is.double)], signif, 4)
    utils::write.csv(means[kept], summary, row.names = FALSE, quote = FALSE)
  }
  print(format(merge(gains, errors, names(by), suffixes = c("", ".se")), digits = 1), row.names = FALSE)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2], arguments[3])
} else {
  seeds <- if (length(arguments) > 2) as.integer(arguments[3]) else 3L
  run(arguments[1], arguments[2], seeds, if (length(arguments) > 3) arguments[-(1:3)] else names(sets))
}
