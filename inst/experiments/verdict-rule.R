# When is a fit called better than the intercept-only model? For values of explained_z (R/job-explained.R) how often it
# is said on SYNTHETIC data: of fits to labels that follow no column, and of fits that gain on others.
#   Rscript verdict-rule.R RESULTS.csv [RUNS]     runs, 60 by default
# Then: Rscript verdict-rule.R --summary RESULTS.csv
# gain, sd: what a fit's releases tell of the decrease of the mean loss; follows: number of coefficients that follow the
# records, over n; null: the loss of the intercept-only model; held: the decrease on other records.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

problems <- expand.grid(n = c(1000, 4000, 15000), p = c(5, 20, 60), signal = c(0, 0, 0.5, 1, 2), eps = c(0.1, 0.3, 1),
                        shape = c("normal", "binary", "skew", "correlated"), rare = c(0, -2.5),
                        stringsAsFactors = FALSE)

columns <- function(n, p, shape) {
  switch(shape, normal = matrix(rnorm(n * p), n), binary = matrix(rbinom(n * p, 1, 0.2) / 0.4, n),
         skew = matrix(rexp(n * p), n), correlated = matrix(rnorm(n * p), n) * 0.6 + rnorm(n) * 0.8)
}

# What explained_by() is called with is noted.
noted <- NULL
note_gains <- function() {
  core <- asNamespace("dpsosp")
  plain <- core$explained_by
  utils::assignInNamespace("explained_by", function(job, gain) {
    noted <<- list(gain = gain$gain, sd = gain$sd, null = gain$null,
                   follows = job$answer$result$effective / core$used_records(job))
    plain(job, gain)
  }, "dpsosp")
}

one <- function(problem) {
  beta <- rnorm(problem$p) * rbinom(problem$p, 1, 0.4)
  beta <- beta / max(sqrt(sum(beta^2)), 1e-9) * problem$signal
  x <- columns(problem$n, problem$p, problem$shape)
  other <- columns(10000, problem$p, problem$shape)
  middle <- mean(x %*% beta)
  labels <- function(x) runif(nrow(x)) < plogis(drop(x %*% beta) - middle + problem$rare)
  y <- labels(x)
  fit <- suppressWarnings(suppressMessages(
    dp_sosp(y ~ ., data.frame(y = y, x), eps = problem$eps, bounds = lapply(data.frame(x), range), progress = FALSE)
  ))
  seen <- labels(other)
  constant <- mean(logistic_loss(ifelse(seen, 1, -1) * stats::qlogis(mean(y))))
  held <- constant - judge(predict(fit, data.frame(other)), seen)$loss
  lapply(c(noted, held = held), signif, 4)
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  z <- (x$gain - 2 * x$follows) / x$sd
  none <- x$signal == 0
  gain <- x$held > 0.05 * x$null
  for (at in c(1.28, 1.645, 2, 2.33, 3)) {
    cat("explained_z", at, ": false", mean(z[none] > at), "of", sum(none), ", seen", mean(z[gain] > at), "of",
        sum(gain), "\n")
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  note_gains()
  out <- results_file(arguments[1], "run")
  set.seed(1)
  chosen <- problems[sample(nrow(problems)), ]
  for (run in seq_len(if (length(arguments) > 1L) as.integer(arguments[2]) else 60L)) {
    if (out$has(list(run = run))) next
    set.seed(run)
    out$add(c(list(run = run), as.list(chosen[run, ]), one(as.list(chosen[run, ]))))
  }
}
