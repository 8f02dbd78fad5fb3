# Is a fit ever worse than no fit? Small public data sets, all methods for convex problems with their defaults, but
# geometry = "none" unless the method is "auto"; bounds = "private", delta = 1/n^2, replace-one. All results are exact
# and NOT PRIVATE.
#   Rscript small-data.R RESULTS.csv [SEEDS [METHOD ...]]     runs, 60 seeds by default
#   Rscript small-data.R --summary RESULTS.csv                fractions and means over the seeds
# loss: mean logistic loss of a fit's predictions for its own training rows (without those with a missing value). It is
# compared with log 2, the loss of a start at zero, and with constant, the loss of predicting the fractions of the
# response's levels in those rows.
# A data set whose package is not installed is skipped with a message.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

sets <- list(
  attrition = list(package = "modeldata", formula = Attrition ~ ., eps = 1),
  Caravan = list(package = "ISLR", formula = Purchase ~ ., eps = 0.5),
  mlc_churn = list(package = "modeldata", formula = churn ~ ., eps = 0.5),
  lending_club = list(package = "modeldata", formula = Class ~ ., eps = 1),
  Default = list(package = "ISLR", formula = default ~ ., eps = 10),
  covertype = list(package = "dpsosp", formula = cover ~ ., eps = c(0.5, 1))
)

searches <- function(line_search) list(method = "2opt-ls", control = control_opt(line_search = line_search))
known <- c("auto", "opt-ls", "2opt", "opt", "tr", "newton", "damped-newton", "cubic", "objpert", "outpert", "gd")
methods <- c(
  lapply(stats::setNames(known, known), function(method) list(method = method, control = NULL)),
  "2opt-ls" = list(searches("gaussian")), "2opt-ls-svt" = list(searches("svt")),
  "2opt-ls-exponential" = list(searches("exponential"))
)

run <- function(path, seeds, chosen) {
  out <- results_file(path, c("set", "eps", "method", "seed"))
  for (name in names(sets)) {
    set <- sets[[name]]
    data <- package_data(name, set$package)
    if (is.null(data)) next
    seen <- data[[all.vars(set$formula)[1]]]
    share <- mean(seen[stats::complete.cases(data)] == levels(seen)[2])
    constant <- constant_loss(share)
    for (eps in set$eps) for (seed in seq_len(seeds)) for (method in chosen) {
      row <- list(set = name, eps = eps, method = method, seed = seed)
      if (out$has(row)) next
      set.seed(seed)
      fit <- suppressWarnings(suppressMessages(dp_sosp(
        set$formula, data, eps = eps, method = methods[[method]]$method, control = methods[[method]]$control,
        geometry = if (method != "auto") "none", noise = "reproducible", progress = FALSE
      )))
      result <- judge(predict(fit, data), seen == levels(seen)[2])
      out$add(c(row, list(took = fit$method, status = fit$status, loss = signif(result$loss, 5),
                          constant = signif(constant, 5), accuracy = signif(result$accuracy, 4))))
    }
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  x$cell <- paste(x$set, x$eps)
  show <- function(title, value, digits) {
    cat("\n", title, "\n", sep = "")
    print(round(tapply(value, list(x$method, factor(x$cell, unique(x$cell))), mean), digits))
  }
  show("per cent of runs with a loss above log 2", 100 * (x$loss > log(2)), 1)
  show("mean loss less that of a constant prediction", x$loss - x$constant, 4)
  show("mean accuracy", x$accuracy, 3)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  run(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 60L,
      if (length(arguments) > 2) arguments[-(1:2)] else names(methods))
}
