# When is a fit called better than the intercept-only model, and how wide is the interval to which the decreases of
# records are clipped? For values of explained_z, gains_doubt, explained_counts and gains_skew (R/job-explained.R; with
# gains_skew = 0, columns are taken for symmetric) how often it is said on SYNTHETIC data: of fits to responses that
# follow no column, and of fits that gain on others; and how often the share that is said is within a factor of 1.5 of
# that on others.
#   Rscript verdict-rule.R RESULTS.csv [PROBLEMS]     runs, 60 by default
# Then: Rscript verdict-rule.R --summary RESULTS.csv
# share, sd, better: what is said; held: the share on other records.
# For explained_wald, what fits with intervals add (wald_any() in R/job-intervals.R), half of them without a signal:
#   Rscript verdict-rule.R --intervals RESULTS.csv [PROBLEMS]     1600 by default
#   Rscript verdict-rule.R --intervals-summary RESULTS.csv
# better: without intervals; all, each: the p values of the two tests; resolved: share of the coefficients.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

problems <- expand.grid(n = c(1000, 4000, 15000), p = c(5, 20, 60), signal = c(0, 0, 0.5, 1, 2), eps = c(0.3, 1, 3),
                        shape = c("normal", "binary", "skew", "correlated", "few"),
                        loss = c("logistic", "rare", "squared", "skewed", "counts"), stringsAsFactors = FALSE)
settings <- data.frame(doubt = c(1, 0.5, 2, 4, 1, 1, 1, 1), counts = c(1, 1, 1, 1, 0, 3, 1, 1) / 3,
                       skew = c(3, 3, 3, 3, 3, 3, 0, 6))

columns <- function(n, p, shape) {
  switch(shape, normal = matrix(rnorm(n * p), n), binary = matrix(rbinom(n * p, 1, 0.2) / 0.4, n),
         skew = matrix(rexp(n * p), n), few = matrix(rbinom(n * p, 1, 0.03) / 0.17, n),
         correlated = matrix(rnorm(n * p), n) * 0.6 + rnorm(n) * 0.8)
}

# A response of these predictors, of mean zero; "skewed": with residuals of which few are large; "counts" vary more than
# a Poisson distribution.
respond <- function(t, loss) {
  n <- length(t)
  switch(loss, logistic = factor(runif(n) < plogis(t)), rare = factor(runif(n) < plogis(t - 2.5)),
         squared = t + rnorm(n), skewed = t + exp(rnorm(n)),
         counts = rnbinom(n, mu = exp(t / 2 + 1), size = 0.7))
}

share_of <- function(loss, y, seen, predicted) {
  share <- function(f) 1 - mean(f(seen, predicted)) / mean(f(seen, mean(y)))
  if (loss %in% c("logistic", "rare")) {
    seen <- as.integer(seen) - 1
    y <- as.integer(y) - 1
    return(share(function(y, p) -log(pmax(ifelse(y == 1, p, 1 - p), 1e-12))))
  }
  if (loss == "counts") return(share(function(y, m) ifelse(y > 0, y * log(pmax(y, 1) / m), 0) - y + m))
  share(function(y, m) (y - m)^2)
}

moved_skewness <- dpsosp:::moved_skewness

one <- function(problem, setting, inference = FALSE) {
  beta <- rnorm(problem$p) * rbinom(problem$p, 1, 0.4)
  beta <- beta / max(sqrt(sum(beta^2)), 1e-9) * problem$signal
  x <- columns(problem$n, problem$p, problem$shape)
  other <- columns(10000, problem$p, problem$shape)
  middle <- mean(x %*% beta)
  y <- respond(drop(x %*% beta) - middle, problem$loss)
  seen <- respond(drop(other %*% beta) - middle, problem$loss)
  if (problem$signal == 0) y <- sample(y)
  utils::assignInNamespace("gains_doubt", setting$doubt, "dpsosp")
  utils::assignInNamespace("explained_counts", setting$counts, "dpsosp")
  utils::assignInNamespace("gains_skew", setting$skew, "dpsosp")
  if (setting$skew == 0) utils::assignInNamespace("moved_skewness", function(...) 0, "dpsosp") else
    utils::assignInNamespace("moved_skewness", moved_skewness, "dpsosp")
  loss <- c(logistic = "logistic", rare = "logistic", squared = "squared", skewed = "squared", counts = "poisson")
  fit <- suppressWarnings(suppressMessages(
    dp_sosp(y ~ ., data.frame(y = y, x), eps = problem$eps, bounds = lapply(data.frame(x), range), progress = FALSE,
            loss = loss[[problem$loss]], noise = "reproducible", inference = inference)
  ))
  predicted <- predict(fit, data.frame(other), type = "response")
  said <- fit$checks$explained
  c(list(share = said$fraction, sd = said$sd, better = said$better, held = share_of(problem$loss, y, seen, predicted)),
    if (inference) tests_of(fit))
}

tests_of <- function(fit) {
  table <- summary(fit)$coefficients
  p <- table[-1, 4]
  all <- dpsosp:::wald_test(fit$inference, seq_along(coef(fit)) > 1)$p
  list(all = all, each = if (all(is.na(p))) NA else min(1, sum(!is.na(p)) * min(p, na.rm = TRUE)),
       resolved = mean(!is.na(p)))
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  none <- x$signal == 0
  gain <- x$held > 0.05
  near <- abs(log(pmax(x$share, 1e-9) / pmax(x$held, 1e-9))) <= log(1.5)
  rows <- function(by) {
    do.call(rbind, lapply(split(seq_len(nrow(x)), x[by], drop = TRUE), function(i) {
      at <- function(which) i[which[i]]
      data.frame(x[i[1], by, drop = FALSE], none = sum(none[i]), false = round(mean(x$better[at(none)]), 3),
                 gains = sum(gain[i]), seen = round(mean(x$better[at(gain)]), 3),
                 factor = round(mean(near[at(gain & x$better)]), 3))
    }))
  }
  print(rows(c("doubt", "counts", "skew")), row.names = FALSE)
  print(rows(c("doubt", "counts", "skew", "loss")), row.names = FALSE)
  for (z in c(1.28, 1.645, 2, 2.33)) {
    used <- x$doubt == 1 & x$counts > 0 & x$counts < 1 & x$skew == 3
    called <- x$share > z * x$sd & used
    cat("share above", z, "sd: false", round(mean(called[none & used]), 3), ", seen",
        round(mean(called[gain & used]), 3), "\n")
  }
}

# Fits that show whether the number alone would do: explained_wald is zero.
run_intervals <- function(path, runs) {
  out <- results_file(path, "run")
  utils::assignInNamespace("explained_wald", -1, "dpsosp")
  set.seed(2)
  half <- function(problems) problems[sample(nrow(problems), runs / 2, TRUE), ]
  chosen <- rbind(half(unique(problems[problems$signal == 0, ])), half(problems[problems$signal > 0, ]))
  chosen <- chosen[as.vector(rbind(seq_len(runs / 2), runs / 2 + seq_len(runs / 2))), ] # in turn
  for (run in seq_len(runs)) {
    row <- c(list(run = run), as.list(chosen[run, ]))
    if (out$has(row)) next
    set.seed(run)
    out$add(c(row, lapply(one(as.list(chosen[run, ]), settings[1, ], TRUE), as.numeric)))
  }
}

summarise_intervals <- function(path) {
  x <- utils::read.csv(path)
  none <- x$signal == 0
  gain <- !none & x$held > 0.05
  p <- pmin(1, 2 * pmin(x$all, x$each))
  called <- function(p, level) !is.na(p) & p <= level
  line <- function(name, called) {
    cat(sprintf("%-28s false %5.3f  seen %5.3f  seen where half are resolved %5.3f\n", name, mean(called[none]),
                mean(called[gain]), mean(called[gain & x$resolved >= 0.5])))
  }
  cat(sum(none), "without a signal,", sum(gain), "with a gain above 0.05,", sum(gain & x$resolved >= 0.5),
      "of them with half of the coefficients resolved\n")
  line("number", x$better > 0)
  for (level in c(0.05, 0.02, 0.01, 0.005, 0.002)) {
    for (test in c("all", "each")) line(paste(test, level), called(x[[test]], level))
    line(paste("both", level), called(p, level))
    line(paste("number or both", level), x$better > 0 | called(p, level) & x$share > -2 * x$sd)
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else if (identical(arguments[1], "--intervals-summary")) {
  summarise_intervals(arguments[2])
} else if (identical(arguments[1], "--intervals")) {
  run_intervals(arguments[2], if (length(arguments) > 2L) as.integer(arguments[3]) else 1600L)
} else {
  out <- results_file(arguments[1], c("run", "doubt", "counts", "skew"))
  set.seed(1)
  chosen <- problems[sample(nrow(problems)), ]
  for (run in seq_len(if (length(arguments) > 1L) as.integer(arguments[2]) else 60L)) {
    for (i in seq_len(nrow(settings))) {
      row <- c(list(run = run), as.list(chosen[run, ]), as.list(settings[i, ]))
      if (out$has(row)) next
      set.seed(run)
      out$add(c(row, lapply(one(as.list(chosen[run, ]), settings[i, ]), as.numeric)))
    }
  }
}
