# How should "warm-ridge" divide its budget between the logistic and the sigmoid loss, and how far should the solution
# go from the first to the second? SYNTHETIC problems (synthetic.R), replace-one, delta = 1/n^2: the constants of
# R/method-ridge.R compared with others, and the logistic loss with "auto".
#   Rscript warm-rule.R RESULTS.csv [SEEDS]      2 by default
# Settings are paired: with the same seed they have the same data, and noise from the same state of the generator. Then:
#   Rscript warm-rule.R --summary RESULTS.csv
# rare: fraction of the second class. accuracy, auc: on 20,000 other records with clean labels. labels: of the records
# that are fitted; "clearest": a tenth of them, those with the largest absolute log-odds, have the other label. bend:
# what squares of two columns add to the log-odds, so that no linear model is correct.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

problems <- rbind(
  expand.grid(eps = c(0.2, 0.5, 1, 3), labels = c("clean", "clearest"), bend = c(0, 0.5), rare = 0.4,
              n = c(3000, 20000), shape = c("small", "numeric", "mixed"), stringsAsFactors = FALSE),
  expand.grid(eps = c(1, 3), labels = c("clean", "clearest"), bend = 0, rare = c(0.2, 0.1), n = 5000,
              shape = c("small", "numeric"), stringsAsFactors = FALSE)
)
settings <- list(
  logistic = NULL,
  "as they are" = list(),
  "weight 1" = list(warm_weight = 1),
  "weight .15" = list(warm_weight = 0.15),
  "weight .5" = list(warm_weight = 0.5),
  "share .7" = list(warm_share = 0.7),
  "share .3" = list(warm_share = 0.3),
  "four signals" = list(warm_signals = 4L),
  "nine signals" = list(warm_signals = 9L),
  "with any noise" = list(warm_noise = Inf),
  "noise .02" = list(warm_noise = 0.02)
)

# Of n records to fit and 20,000 others.
draw <- function(p) {
  problem <- do.call(synthetic_problem, c(list(p$n + 20000), synthetic_shapes[[p$shape]], signal = 2, rare = p$rare))
  x <- problem$X
  w <- synthetic_minimum(list(X = x, y = problem$y))$w
  eta <- as.vector(x %*% w)
  if (p$bend > 0) eta <- eta + 2 * p$bend * as.vector(scale(rowSums(scale(x[, 1:2])^2)))
  y <- ifelse(stats::runif(length(eta)) < stats::plogis(eta), 1, -1)
  fit <- seq_len(p$n)
  if (p$labels == "clearest") {
    flipped <- order(-abs(eta[fit]))[seq_len(p$n / 10)]
    y[flipped] <- -sign(eta[flipped])
  }
  list(train = list(X = x[fit, ], y = y[fit]), x = x[-fit, ], positive = y[-fit] > 0)
}

one <- function(problem, eps, setting) {
  loss <- if (is.null(settings[[setting]])) "logistic" else "sigmoid"
  with_constants(settings[[setting]], synthetic_fit(problem$train, eps, loss))
}

simulate <- function(path, seeds) {
  out <- results_file(path, c("setting", "shape", "n", "bend", "rare", "labels", "eps", "seed"))
  data <- split(problems, problems[c("labels", "bend", "rare", "n", "shape")], drop = TRUE)
  for (seed in seq_len(seeds)) for (at in data) {
    set.seed(seed)
    problem <- draw(at[1, ])
    for (eps in at$eps) for (setting in names(settings)) {
      row <- list(setting = setting, shape = at$shape[1], n = at$n[1], bend = at$bend[1], rare = at$rare[1],
                  labels = at$labels[1], eps = eps, seed = seed)
      if (out$has(row)) next
      set.seed(1000 + seed)
      found <- judge(as.vector(problem$x %*% one(problem, eps, setting)), problem$positive)
      mu <- .Call(dpsosp:::ffi_gdp_mu, eps, 1 / at$n[1]^2)
      out$add(c(row, list(noise = signif(ncol(problem$x) / (at$n[1] * mu), 3), accuracy = round(found$accuracy, 4),
                          auc = round(found$auc, 4))))
    }
  }
}

# Differences from the logistic loss, in points of accuracy and thousandths of AUC.
summarise <- function(path) {
  x <- utils::read.csv(path)
  key <- c("shape", "n", "bend", "rare", "labels", "eps", "seed")
  both <- merge(x[x$setting != "logistic", ], x[x$setting == "logistic", c(key, "accuracy", "auc")], key,
                suffixes = c("", ".logistic"))
  both$points <- 100 * (both$accuracy - both$accuracy.logistic)
  both$thousandths <- 1000 * (both$auc - both$auc.logistic)
  both$setting <- factor(both$setting, names(settings))
  both$noise <- cut(both$noise, c(0, 0.01, 0.02, 0.03, 0.05, 0.1, Inf))
  for (labels in unique(both$labels)) for (score in c("points", "thousandths")) {
    at <- both[both$labels == labels, ]
    cat("\n", labels, ", ", score, " by d / (n mu), balanced classes\n", sep = "")
    balanced <- at[at$rare == 0.4, ]
    print(round(tapply(balanced[[score]], list(balanced$setting, balanced$noise), mean), 2))
    cat("by fraction of the second class\n")
    print(round(tapply(at[[score]], list(at$setting, paste(at$rare, at$eps)), mean), 2))
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], if (is.na(arguments[2])) 2 else as.integer(arguments[2]))
}
