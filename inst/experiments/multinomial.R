# Several classes: test log-loss of dp_sosp() with loss_multinomial(), delta = 1 / n^2, replace-one, in excess of
# nnet::multinom(), which is not private.
#   Rscript multinomial.R RESULTS.csv [SEEDS [COVERTYPE]]
# compares the methods on synthetic problems and on data of the package modeldata, with SEEDS (2) seeds, and with
# COVERTYPE, the file covertype.rds of the whole data set, on 20,000 records of its seven classes.
# A row that is already in the results is not computed again. constant: excess of the fractions of the classes. one
# against rest: a logistic fit for each class, in its default method, whose budgets together have the same mu.
suppressMessages(library(dpsosp))

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

held_out <- 5000L

# Normal columns with two common factors, and a factor with so many levels. fall: the frequencies of the classes fall
# with about this power of their number, so that the last are rare; signal: standard deviation of a class's predictors.
shapes <- list(
  "4000 x 8, 3 classes" = list(n = 4000, numeric = 4, levels = 4, classes = 3, signal = 1.5, fall = 0.5),
  "20000 x 14, 7 classes" = list(n = 20000, numeric = 10, levels = 4, classes = 7, signal = 2, fall = 2),
  "20000 x 14, 7 classes, rare" = list(n = 20000, numeric = 10, levels = 4, classes = 7, signal = 4, fall = 3.5),
  "20000 x 14, 7 classes, weak" = list(n = 20000, numeric = 10, levels = 4, classes = 7, signal = 0.7, fall = 1),
  "5000 x 37, 6 classes" = list(n = 5000, numeric = 36, levels = 0, classes = 6, signal = 3, fall = 0.5),
  "20000 x 60, 5 classes" = list(n = 20000, numeric = 21, levels = 39, classes = 5, signal = 1.5, fall = 1),
  "100000 x 20, 10 classes" = list(n = 1e5, numeric = 10, levels = 10, classes = 10, signal = 3, fall = 1)
)

synthetic <- function(shape) {
  set.seed(20)
  n <- shape$n + held_out
  x <- matrix(rnorm(n * shape$numeric), n) + matrix(rnorm(n * 2), n) %*% matrix(rnorm(2 * shape$numeric, sd = 0.7), 2)
  x <- scale(x)
  at <- x %*% matrix(rnorm(shape$numeric * shape$classes), shape$numeric)
  data <- as.data.frame(matrix(pmin(pmax(x, -4), 4), n))
  if (shape$levels > 0) {
    level <- sample(shape$levels, n, TRUE, prob = 1 / seq_len(shape$levels))
    at <- at + matrix(rnorm(shape$levels * shape$classes), shape$levels)[level, ] * sqrt(shape$numeric / 2)
    data$f <- factor(level, levels = seq_len(shape$levels))
  }
  at <- shape$signal * at / sd(at) + rep(-shape$fall * log(seq_len(shape$classes)), each = n)
  data$y <- factor(max.col(at - log(-log(matrix(runif(length(at)), n)))), levels = seq_len(shape$classes))
  list(data = data, bounds = rep(list(c(-4, 4)), shape$numeric), train = seq_len(shape$n))
}

# The ends of a column as an analyst would declare them.
round_range <- function(x) range(pretty(range(x), 4))

real <- function(data, n) {
  set.seed(1)
  data <- data[sample(nrow(data), n + held_out), ]
  numeric <- vapply(data, is.numeric, NA)
  list(data = data, bounds = lapply(data[numeric], round_range), train = seq_len(n))
}

covertype <- function(file) {
  data <- readRDS(file)
  area <- factor(max.col(as.matrix(data[paste0("wilderness_area_", 1:4)])), levels = 1:4)
  real(cbind(data[1:10], area = area, y = factor(data$cover_type, levels = 1:7)), 20000)
}

# The mean of -log of the probability of the class that a record has.
log_loss <- function(p, y) -mean(log(pmax(p[cbind(seq_along(y), as.integer(y))], 1e-6)))

fit_of <- function(problem, eps, seed, ...) {
  set.seed(seed)
  n <- length(problem$train)
  data <- problem$data[problem$train, ]
  bounds <- stats::setNames(problem$bounds, names(data)[vapply(data, is.numeric, NA)])
  fit <- function(data, eps, ...) {
    suppressWarnings(suppressMessages(dp_sosp(y ~ ., data, eps = eps, delta = 1 / n^2, bounds = bounds,
                                              noise = "reproducible", progress = FALSE, ...)))
  }
  list(fit = fit, data = data, test = problem$data[-problem$train, ], n = n, eps = eps)
}

methods <- list(
  "newton-ridge" = function(at) {
    predict(at$fit(at$data, at$eps, loss = "multinomial", method = "newton-ridge"), at$test, "response")
  },
  newton = function(at) {
    predict(at$fit(at$data, at$eps, loss = "multinomial", method = "newton"), at$test, "response")
  },
  "one against rest" = function(at) {
    classes <- levels(at$data$y)
    delta <- 1 / at$n^2
    mu <- dp_convert(eps = at$eps, delta = delta)$mu / sqrt(length(classes))
    eps <- dp_convert(mu = mu, delta = delta)$eps
    p <- vapply(classes, function(class) {
      as.vector(predict(at$fit(transform(at$data, y = factor(y == class)), eps), at$test, "response"))
    }, numeric(nrow(at$test)))
    p / rowSums(p)
  }
)

result <- function(problem, method, eps, seed) {
  at <- fit_of(problem, eps, seed)
  round(log_loss(methods[[method]](at), at$test$y), 4)
}

best <- function(problem) {
  train <- problem$data[problem$train, ]
  test <- problem$data[-problem$train, ]
  number <- vapply(train, is.numeric, NA)
  train[number] <- scale(train[number])
  test[number] <- scale(test[number], vapply(problem$data[problem$train, number], mean, 0),
                        vapply(problem$data[problem$train, number], sd, 0))
  fit <- nnet::multinom(y ~ ., train, trace = FALSE, maxit = 300, MaxNWts = 1e5)
  p <- predict(fit, test, type = "probs")
  fractions <- matrix(tabulate(train$y, nlevels(train$y)) / nrow(train), nrow(test), nlevels(train$y), byrow = TRUE)
  round(c(multinom = log_loss(p, test$y), constant = log_loss(fractions, test$y)), 4)
}

problems <- function(file = NULL) {
  of_shapes <- lapply(shapes, function(shape) function() synthetic(shape))
  c(of_shapes, if (!is.null(file)) list(covertype = function() covertype(file)))
}

run <- function(path, seeds, methods, problems) {
  out <- results_file(path, c("problem", "eps", "method", "seed"))
  for (name in names(problems)) {
    rows <- expand.grid(problem = name, eps = c(0.5, 1, 3), method = methods, seed = seq_len(seeds),
                        stringsAsFactors = FALSE)
    rows <- Filter(function(row) !out$has(row), lapply(seq_len(nrow(rows)), function(i) as.list(rows[i, ])))
    if (length(rows) == 0L) next
    problem <- problems[[name]]()
    against <- best(problem)
    for (row in rows) {
      loss <- result(problem, row$method, row$eps, row$seed)
      out$add(c(row, lapply(list(excess = loss, constant = against[["constant"]]), function(x) {
        round(x - against[["multinom"]], 4)
      })))
    }
  }
}

whole <- function(i, default) if (length(arguments) >= i) as.integer(arguments[i]) else default
run(arguments[1], whole(2, 2L), names(methods), problems(if (length(arguments) > 2) arguments[3]))
