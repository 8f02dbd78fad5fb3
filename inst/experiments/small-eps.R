# Logistic regression on Adult at very small eps, beside the published AUC of boosted trees (S-BDT, Peinemann et al.
# 2024, arXiv:2309.12041).
#   Rscript small-eps.R FOLDER RESULTS.csv [SEEDS]     runs; 10 seeds by default
#   Rscript small-eps.R --summary RESULTS.csv          means over the seeds
# FOLDER contains adult.csv.xz. A fifth of the records, drawn at random, is held out (frames.R). S-BDT protects against
# the addition or removal of a record; "zero-out" has the same noise here, but takes n to be public. Metrics are exact
# and NOT PRIVATE.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "frames.R")) source(file.path(dirname(this_file), file))

run <- function(folder, path, seeds) {
  out <- results_file(path, c("neighbours", "eps", "seed"))
  set <- split_set("adult", folder)
  for (neighbours in c("zero-out", "replace-one")) for (eps in c(0.02, 0.05, 0.1)) for (seed in seq_len(seeds)) {
    row <- list(neighbours = neighbours, eps = eps, seed = seed)
    if (out$has(row)) next
    fit <- timed_fit(set, eps, seed, neighbours = neighbours)$fit
    link <- predict(fit, set$test)
    used <- !is.na(link)
    out$add(c(row, list(n = nobs(fit), auc = signif(judge(link[used], set$positive[used])$auc, 5))))
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  cell <- function(f) stats::aggregate(auc ~ eps + neighbours, x, f)
  means <- cell(mean)
  means$se <- cell(function(a) stats::sd(a) / sqrt(length(a)))$auc
  print(means, digits = 3, row.names = FALSE)
}

if (arguments[1] == "--summary") {
  summarise(arguments[2])
} else {
  run(arguments[1], arguments[2], if (length(arguments) > 2) as.integer(arguments[3]) else 10L)
}
