# Ten data frames as a new user would try them: accuracy, area under the ROC curve and log-loss (mean logistic loss) of
# glm(), of method = "auto", of "auto" with smooth = TRUE ("curves") and of "2opt-ls" at three eps. Only eps is set;
# replace-one, delta = 1/n^2, private ranges.
# All results are exact and NOT PRIVATE. There are 30 seeds of "auto" and "curves" for titanic_train, Default and
# lending_club, where three leave open which of these two is ahead.
#   Rscript newcomer.R RESULTS.csv FOLDER [SEEDS [SET ...]]   runs that are not in the file yet; 3 seeds, all sets
#   Rscript newcomer.R --summary RESULTS.csv             means over the seeds, and the cells that miss a goal
# FOLDER as in raw.R. Each fit predicts for a fifth of the rows; only rows for which glm() predicts, too, are used.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "frames.R")) source(file.path(dirname(this_file), file))

run <- function(path, folder, seeds, chosen) {
  grid <- expand.grid(seed = seq_len(seeds), eps = c(0.5, 1, 3), method = c("auto", "curves", "2opt-ls"),
                      stringsAsFactors = FALSE)
  run_sets(results_file(path, c("set", "method", "eps", "seed")), chosen, folder, grid, function(name, set, run) {
    c(list(set = name, n = nrow(set$train)), run[c("method", "eps", "seed")])
  })
}

# Goals: at eps = 1 and from 5,000 rows on, the accuracy is within 2 points of that of glm(), for Adult and Bank within
# 1; the mean log-loss never exceeds that of the constant prediction.
summarise <- function(path) {
  x <- utils::read.csv(path)
  measures <- c("accuracy", "auc", "loss")
  x$method <- factor(x$method, unique(x$method))
  means <- stats::aggregate(x[c(measures, paste0("glm.", measures), "constant.loss")],
                            x[c("eps", "method", "set", "n")], mean)
  print(means, digits = 4)
  allowed <- ifelse(means$set %in% c("adult", "bank"), 0.01, ifelse(means$n / 0.8 >= 5000, 0.02, Inf))
  means$accuracy.gap <- means$glm.accuracy - means$accuracy
  means$loss.gap <- means$loss - means$constant.loss
  missed <- (means$eps == 1 & means$accuracy.gap > allowed) | means$loss.gap > 0
  cat("\nMissed:", sum(missed), "of", nrow(means), "cells\n")
  print(means[missed, c("set", "method", "eps", "accuracy.gap", "loss.gap")], digits = 3, row.names = FALSE)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  seeds <- if (length(arguments) > 2) as.integer(arguments[3]) else 3L
  run(arguments[1], arguments[2], seeds, if (length(arguments) > 3) arguments[-(1:3)] else names(sets))
}
