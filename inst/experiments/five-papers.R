# Methods of all five papers at the same epsilon on the same records: Covertype (public), untuned, each in one call with
# geometry = "private".
#   Rscript five-papers.R --part sample|all [--folder FOLDER] [--reps REPS] RESULTS.csv
# "sample": the 25,000 records in the package, eps from 0.1 to 5; "all": every record of the two classes, from
# covertype.rds in FOLDER. Every fifth record is held out for log_loss (logistic loss only) and accuracy. gradient,
# eigenvalue: the bounds of the certificate; passes: releases on the full data, where one on a batch counts as the
# fraction of its records; seconds: processor time; glm: that of glm() on the same records.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

convex <- c("auto", "damped-newton", "cubic", "blsgd", "2opt-ls", "tr", "spider")
plan <- rbind(data.frame(loss = "logistic", method = convex),
              data.frame(loss = "sigmoid", method = c("warm-ridge", "2opt-ls", "tr", "spider")))

read_all <- function(folder) {
  data <- readRDS(file.path(folder, "covertype.rds"))
  data <- data[data$cover_type <= 2, ]
  names(data)[names(data) == "cover_type"] <- "cover"
  data$cover <- factor(data$cover, 2:1, c("lodgepole pine", "spruce/fir"))
  data
}

one_fit <- function(run, eps, train, test) {
  used <- system.time(fit <- suppressWarnings(suppressMessages(
    dp_sosp(cover ~ ., train, eps = eps, method = run$method, loss = run$loss, geometry = "private",
            noise = "reproducible", progress = FALSE)
  )))
  log_loss <- judge(predict(fit, test), test$cover == levels(test$cover)[2])$loss
  list(chosen = fit$method, status = fit$status, log_loss = if (run$loss == "logistic") signif(log_loss, 5) else NA,
       accuracy = signif(mean(predict(fit, test, type = "class") == test$cover), 5),
       gradient = signif(fit$certificate$gradient[["upper"]], 3),
       eigenvalue = signif(fit$certificate$eigenvalue[["lower"]], 3), passes = signif(passes(fit), 4),
       seconds = signif(processor_seconds(used), 3))
}

main <- function(path, part, folder, reps) {
  data <- if (part == "all") read_all(folder) else covertype
  held <- seq_len(nrow(data)) %% 5 == 0
  train <- data[!held, ]
  test <- data[held, ]
  out <- results_file(path, c("data", "loss", "method", "eps", "rep"))
  positive <- test$cover == levels(test$cover)[2]
  used <- system.time(exact <- suppressWarnings(stats::glm(cover ~ ., stats::binomial, train)))
  best <- judge(suppressWarnings(stats::predict(exact, test)), positive)
  for (eps in if (part == "all") c(0.2, 1) else c(0.1, 0.2, 0.5, 1, 2, 5)) {
    for (rep in seq_len(reps)) for (i in seq_len(nrow(plan))) {
      row <- list(data = part, loss = plan$loss[i], method = plan$method[i], eps = eps, rep = rep)
      if (out$has(row)) next
      set.seed(rep)
      out$add(c(row, one_fit(plan[i, ], eps, train, test), list(
        n = nrow(train), constant = signif(constant_loss(mean(positive)), 5),
        majority = signif(max(mean(positive), mean(!positive)), 5), nonprivate = signif(best$loss, 5),
        nonprivate_accuracy = signif(best$accuracy, 5), glm = signif(processor_seconds(used), 3)
      )))
    }
  }
}

main(utils::tail(arguments, 1), option("part", "sample"), option("folder"), as.integer(option("reps", "10")))
