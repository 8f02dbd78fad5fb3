# Several classes: the constants of the rounds of "newton-ridge" (R/method-ridge.R, src/method/rounds.c) compared with
# others, on SYNTHETIC problems: 2 to 20 classes, rare ones, weak and strong signals, correlated and nearly collinear
# columns, one strong and many weak columns, factors, indicators only, 500 to 50,000 records.
#   Rscript rounds-rule.R RESULTS.csv [SEEDS]
# loss: log-loss on 5,000 other records, the mean of SEEDS (2) seeds; noise: d / (n mu). A row that is already in the
# results is not computed again. Noise is reproducible: no result is for release.
# All settings but one have budgets that grow by 1.3 from round to round, which the results say is too much: growth 1.1
# has a log-loss lower by .005 on average, and higher by .005 at most. A clip that is the same whatever the noise is
# would do as well here, but without noise the solution would not be the minimum. Steps of at most
# half a standard deviation are as good as those of .35 here; two of them, or any, can lose .19.
suppressMessages(library(dpsosp))

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

held_out <- 5000L

# numeric: normal columns with two common factors, whose loadings have the standard deviation `common`; levels: of a
# factor; indicators: that are independent, each with a frequency from .05 to .5; fall: the frequencies of the classes
# fall with about this power of their number; signal: standard deviation of a class's predictors; strong: part of their
# variance that is the first column's.
shape <- function(n, classes, numeric, levels = 0, indicators = 0, signal = 2, fall = 0.5, common = 0.7, strong = NA) {
  list(n = n, classes = classes, numeric = numeric, levels = levels, indicators = indicators, signal = signal,
       fall = fall, common = common, strong = strong)
}
shapes <- list(
  "500 x 6, 3 classes" = shape(500, 3, 6, signal = 2),
  "700 x 18, 4 classes, correlated" = shape(700, 4, 18, signal = 4, fall = 0, common = 2),
  "1500 x 12, 2 classes" = shape(1500, 2, 12, signal = 1.5),
  "3000 x 150, 3 classes, indicators" = shape(3000, 3, 0, indicators = 150, signal = 3),
  "3500 x 24, 4 classes, levels" = shape(3500, 4, 5, levels = 20, fall = 0.8),
  "4000 x 7, 3 classes" = shape(4000, 3, 4, levels = 4, signal = 1.5),
  "5000 x 36, 6 classes" = shape(5000, 6, 36, signal = 3),
  "5000 x 36, 6 classes, collinear" = shape(5000, 6, 36, signal = 5, common = 4),
  "6000 x 16, 10 classes" = shape(6000, 10, 16, signal = 5, fall = 0),
  "8000 x 16, 20 classes" = shape(8000, 20, 16, signal = 4, fall = 0.3),
  "10000 x 13, 7 classes, rare" = shape(10000, 7, 10, levels = 4, signal = 4, fall = 3.5),
  "10000 x 13, 7 classes, weak" = shape(10000, 7, 10, levels = 4, signal = 0.7, fall = 1),
  "10000 x 30, 4 classes, one strong" = shape(10000, 4, 30, signal = 2, strong = 0.8),
  "20000 x 13, 7 classes" = shape(20000, 7, 10, levels = 4, fall = 2),
  "20000 x 60, 5 classes" = shape(20000, 5, 21, levels = 39, signal = 1.5, fall = 1),
  "50000 x 19, 10 classes" = shape(50000, 10, 10, levels = 10, signal = 3, fall = 1)
)

factor_of <- function(level, levels) factor(level, levels = seq_len(levels))

synthetic <- function(s) {
  set.seed(21)
  n <- s$n + held_out
  data <- data.frame(row.names = seq_len(n))
  at <- matrix(0, n, s$classes)
  if (s$numeric > 0) {
    x <- matrix(rnorm(n * s$numeric), n) + matrix(rnorm(n * 2), n) %*% matrix(rnorm(2 * s$numeric, sd = s$common), 2)
    x <- scale(x)
    effect <- matrix(rnorm(s$numeric * s$classes), s$numeric)
    if (!is.na(s$strong)) {
      effect[1, ] <- effect[1, ] * sqrt(s$strong * s$numeric)
      effect[-1, ] <- effect[-1, ] * sqrt(1 - s$strong)
    }
    at <- x %*% effect
    data <- as.data.frame(matrix(pmin(pmax(x, -4), 4), n))
  }
  for (j in seq_len(s$indicators)) {
    one <- stats::rbinom(n, 1, stats::runif(1, 0.05, 0.5))
    at <- at + outer(one, rnorm(s$classes))
    data[[paste0("i", j)]] <- factor_of(one + 1, 2)
  }
  if (s$levels > 0) {
    level <- sample(s$levels, n, TRUE, prob = 1 / seq_len(s$levels))
    at <- at + matrix(rnorm(s$levels * s$classes), s$levels)[level, ] * sqrt(s$numeric / 2)
    data$f <- factor_of(level, s$levels)
  }
  at <- s$signal * at / sd(at) + rep(-s$fall * log(seq_len(s$classes)), each = n)
  data$y <- factor_of(max.col(at - log(-log(matrix(runif(length(at)), n)))), s$classes)
  data
}

base <- list(classes_growth = 1.3)
settings <- list(
  "growth 1.3" = list(),
  "one plan" = list(classes_quiet = utils::modifyList(dpsosp:::classes_quiet, list(noise = 0))),
  "quiet plan for all" = list(classes_quiet = utils::modifyList(dpsosp:::classes_quiet, list(noise = Inf))),
  "7 rounds" = list(classes_rounds = 7L, classes_growth = 1.45),
  "15 rounds" = list(classes_rounds = 15L, classes_growth = 1.2),
  "growth 1.1" = list(classes_growth = 1.1), "growth 1.6" = list(classes_growth = 1.6),
  "kept .8" = list(classes_kept = 0.8), "kept .9" = list(classes_kept = 0.9),
  "longer 1" = list(classes_longer = 1), "longer 2" = list(classes_longer = 2),
  "clip .7" = list(classes_clip = 0.7), "clip 1" = list(classes_clip = 1),
  "clip alike" = list(classes_clip_growth = 0),
  "reach .5" = list(classes_reach = 0.5), "reach 2" = list(classes_reach = 2), "any reach" = list(classes_reach = Inf),
  "matrix .03" = list(classes_matrix = 0.03), "matrix .1" = list(classes_matrix = 0.1),
  "signals from 1/32" = list(classes_signal = 2^-5, classes_signals = 9L)
)

log_loss <- function(p, y) -mean(log(pmax(p[cbind(seq_along(y), as.integer(y))], 1e-6)))

fit_loss <- function(data, n, eps, seed) {
  set.seed(seed)
  train <- data[seq_len(n), ]
  numeric <- vapply(train, is.numeric, NA)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., train, eps = eps, delta = 1 / n^2, loss = "multinomial", method = "newton-ridge", noise = "reproducible",
    bounds = lapply(train[numeric], function(x) c(-4, 4)), progress = FALSE
  )))
  test <- data[-seq_len(n), ]
  c(loss = log_loss(predict(fit, test, "response"), test$y),
    noise = nrow(coef(fit)) / (n * fit$privacy$mu))
}

main <- function(path, seeds, settings) {
  out <- results_file(path, c("problem", "eps", "setting"))
  for (name in names(shapes)) {
    rows <- expand.grid(problem = name, eps = c(0.3, 0.5, 1, 3), setting = names(settings), stringsAsFactors = FALSE)
    rows <- Filter(function(row) !out$has(row), lapply(seq_len(nrow(rows)), function(i) as.list(rows[i, ])))
    if (length(rows) == 0L) next
    data <- synthetic(shapes[[name]])
    for (row in rows) {
      found <- vapply(seq_len(seeds), function(seed) {
        constants <- utils::modifyList(base, settings[[row$setting]])
        with_constants(constants, fit_loss(data, shapes[[name]]$n, row$eps, seed))
      }, c(0, 0))
      out$add(c(row, list(loss = round(mean(found["loss", ]), 4), noise = signif(found["noise", 1], 3))))
    }
  }
  table <- utils::read.csv(path)
  base <- table[table$setting == "growth 1.3", ]
  table$more <- table$loss - base$loss[match(paste(table$problem, table$eps), paste(base$problem, base$eps))]
  shown <- stats::aggregate(more ~ setting, table, function(x) {
    round(c(mean = mean(x), least = min(x), most = max(x)), 4)
  })
  print(shown[order(shown$more[, "mean"]), ], row.names = FALSE)
}
if (sys.nframe() == 0L) main(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 2L, settings)
