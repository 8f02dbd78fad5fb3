# How far may the first step of intervals of counts go, and what error does a long step have? inference_first_far and
# inference_bend of R/job-intervals-residual.R, with the values of the package, others, and none of both ("plain"), on
# SYNTHETIC counts: columns with a normal distribution, an exponential one beside a rare level, and columns that are
# mostly zero, with a positive and a negative coefficient. Ranges are private, delta = 1e-7.
#   Rscript counts-step-rule.R RESULTS.csv [SEEDS]
# covered: fraction of the 95 % intervals of SEEDS (20) runs that cover the coefficient of glm() on the same records;
# least: of the coefficient for which it is least; shown: fraction that is shown; width: median of half the width over
# 1.96 standard errors of glm() by the sandwich. Noise is reproducible: no result is for release.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

settings <- list(
  chosen = list(), plain = list(inference_bend = 0, inference_first_far = Inf), "bend 0" = list(inference_bend = 0),
  "bend 0.5" = list(inference_bend = 0.5), "far Inf" = list(inference_first_far = Inf),
  "far 1" = list(inference_first_far = 1)
)

counts <- function(x, predictor) data.frame(k = stats::rpois(nrow(x), exp(predictor)), x)
sets <- list(
  normal = function(n) {
    x <- as.data.frame(matrix(stats::rnorm(8 * n), n))
    counts(x, 0.2 + drop(as.matrix(x) %*% c(0.5, -0.3, 0.2, 0.2, 0, 0, 0, 0)))
  },
  exponential = function(n) {
    x <- data.frame(u = stats::rexp(n), v = stats::rnorm(n), g = factor(sample(c("a", "b", "c"), n, TRUE, c(6, 3, 1))))
    counts(x, -0.5 + 0.4 * x$u - 0.3 * x$v + 0.5 * (x$g == "c"))
  },
  "mostly zero, up" = function(n) {
    x <- data.frame(u = ifelse(stats::runif(n) < 0.14, sample(1:14, n, TRUE, prob = 1 / (1:14)), 0),
                    v = stats::runif(n))
    counts(x, -1.3 + 0.1 * x$u + 0.3 * x$v)
  },
  "mostly zero, down" = function(n) {
    x <- data.frame(u = ifelse(stats::runif(n) < 0.1, 3 * stats::rexp(n), 0), v = stats::runif(n))
    counts(x, 0.7 - 0.25 * x$u + 0.5 * x$v)
  }
)

one_run <- function(data, eps, seed, truth) {
  set.seed(seed)
  fit <- suppressWarnings(suppressMessages(dp_sosp(k ~ ., data, eps = eps, delta = 1e-7, loss = "poisson",
                                                   inference = "sandwich", noise = "reproducible", progress = FALSE)))
  ends <- confint(fit)
  cbind(covered = ends[, 1] <= truth & truth <= ends[, 2], half = (ends[, 2] - ends[, 1]) / 2)
}

out <- results_file(arguments[1], c("setting", "set", "n", "eps"))
seeds <- seq_len(if (length(arguments) > 1L) as.integer(arguments[2]) else 20L)
problems <- expand.grid(set = names(sets), n = c(4000, 12000), eps = c(1, 3), stringsAsFactors = FALSE)
for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
  row <- c(list(setting = setting), as.list(problems[i, ]))
  if (out$has(row)) next
  set.seed(100 + i)
  data <- sets[[row$set]](row$n)
  exact <- stats::glm(k ~ ., stats::poisson(), data)
  runs <- with_constants(settings[[setting]], lapply(seeds, one_run, data = data, eps = row$eps,
                                                     truth = stats::coef(exact)))
  runs <- simplify2array(runs)
  covered <- apply(runs[, "covered", ], 1, mean, na.rm = TRUE)
  half <- apply(runs[, "half", ], 1, stats::median, na.rm = TRUE)
  measured <- c(covered = mean(runs[, "covered", ], na.rm = TRUE), least = min(covered, na.rm = TRUE),
                shown = mean(!is.na(runs[, "covered", ])),
                width = stats::median(half / (1.96 * sandwich_errors(exact)), na.rm = TRUE))
  out$add(c(row, as.list(round(measured, 3))))
}
table <- utils::read.csv(arguments[1])
for (measure in c("covered", "least", "shown", "width")) {
  cat("\n", measure, "\n", sep = "")
  print(round(tapply(table[[measure]], table[c("setting", "eps")], mean), 3))
}
