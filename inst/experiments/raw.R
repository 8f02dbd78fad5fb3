# How good is method = "auto" on data frames as a new user would pass them: numeric columns with private ranges, missing
# values, declared levels, only eps set; replace-one, delta = 1/n^2? For comparison, on the same split into 80 % to fit
# and 20 % to test: glm() and the constant prediction. All results are exact and NOT PRIVATE.
#   Rscript raw.R RESULTS.csv VERSION FOLDER [SEEDS [SET ...]]     runs; 5 seeds and all sets by default
#   Rscript raw.R --summary RESULTS.csv [SUMMARY.csv]              means over the seeds, by version
# VERSION is any word for the installed package, so that versions can be compared in one file of results. FOLDER
# contains adult.csv.xz and bank.csv.xz (the columns of the UCI repository with a header, adult with the column split
# before them) and covertype.rds (integers, indicators as 0 and 1). A data set that is not available, or whose package
# is not installed, is skipped with a message.
# auc, accuracy and loss (mean logistic loss) are for the test rows for which both dpsosp and glm() predict.
#
# results/raw.csv has 20 seeds of the sets of at most 10,000 rows and 5 of the others. In its version "before", as in
# that of results/utility-auto.csv, a row is only mapped by the ranges of its columns and divided by the radius.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "frames.R")) source(file.path(dirname(this_file), file))

eps_values <- c(0.5, 1, 3)

run <- function(path, version, folder, seeds, chosen) {
  grid <- expand.grid(seed = seq_len(seeds), eps = eps_values, method = "auto", stringsAsFactors = FALSE)
  run_sets(results_file(path, c("version", "set", "eps", "seed")), chosen, folder, grid, function(name, set, run) {
    list(version = version, set = name, eps = run$eps, seed = run$seed)
  })
}

# By version, in the order of the file; ratio: of the last one to the first one.
summarise <- function(path, out) {
  x <- utils::read.csv(path)
  if (length(out) > 0) utils::write.csv(means_of(x), out, row.names = FALSE)
  x$cell <- factor(paste(x$set, x$eps), unique(paste(x$set, x$eps)))
  x$version <- factor(x$version, unique(x$version))
  versions <- function(value) tapply(value, list(x$cell, x$version), mean)
  others <- function(names) vapply(x[names], function(value) tapply(value, x$cell, mean), numeric(nlevels(x$cell)))
  show <- function(title, table) {
    cat("\n", title, "\n", sep = "")
    print(round(table, 4))
  }
  with_ratio <- function(table) if (ncol(table) > 1) cbind(table, ratio = table[, ncol(table)] / table[, 1]) else table
  show("runs", table(x$cell, x$version))
  show("AUC", cbind(versions(x$auc), others("glm.auc")))
  show("AUC of glm() less AUC", with_ratio(versions(x$glm.auc - x$auc)))
  show("accuracy", cbind(versions(x$accuracy), others(c("glm.accuracy", "constant.accuracy"))))
  show("loss less that of the constant prediction",
       cbind(versions(x$loss - x$constant.loss), glm = others("glm.loss")[, 1] - others("constant.loss")[, 1]))
}

means_of <- function(x) {
  x$gap <- x$glm.auc - x$auc
  means <- stats::aggregate(x[c("gap", "auc", "loss", "constant.loss")], x[c("version", "set", "eps")], mean)
  data.frame(means[1:3], signif(means[-(1:3)], 5))
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2], arguments[-(1:2)])
} else {
  run(arguments[1], arguments[2], arguments[3], if (length(arguments) > 3) as.integer(arguments[4]) else 5L,
      if (length(arguments) > 4) arguments[-(1:4)] else names(sets))
}
