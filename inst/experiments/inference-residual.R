# How often do intervals of fits by residuals cover? 95 % intervals, replace-one, delta = 1/n^2, n 20,000.
#   Rscript inference-residual.R RESULTS.csv [RUNS [EPS]]
# makes RUNS (200) runs of every problem with each eps (1,4). A row is one coefficient, or the prediction intervals, of
# one problem:
#   covered, covered_shown, shown, ratio  as in inference.R; ratio is to the width of lm()'s or glm()'s intervals by the
#                                         sandwich in the same runs
#   sandwich                              fraction of the runs whose interval by lm() or glm() covers the truth
# The problem "wages" needs the package AER, or a folder AER_DATA with its .rda files. Noise is reproducible: no result
# is for release.
# Then: Rscript inference-residual.R --summary RESULTS.csv SUMMARY.csv
# which is results/inference-residual-summary.csv, of 200 runs. It is pooled over the coefficients; least is the
# smallest covered_shown of those that are shown in at least half of the runs.
suppressMessages(library(dpsosp))

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

n <- 20000

# ---- problems: draw() gives a data frame with a response y; truth: the coefficients of lm() or glm() ----

# Four numeric columns, three factors whose first levels have 5 %, normal errors.
frame_columns <- function(n) {
  d <- as.data.frame(matrix(stats::runif(4 * n, -1, 1), n, dimnames = list(NULL, paste0("x", 1:4))))
  for (levels in c(2, 4, 6)) {
    share <- c(0.05, rep(0.95 / (levels - 1), levels - 1))
    d[[paste0("f", levels)]] <- factor(sample(levels, n, TRUE, share), seq_len(levels))
  }
  d
}
frame_truth <- c(0, 1, -0.5, 0.3, 0, 0.4, rep(c(0.3, -0.3, 0), length.out = 8))
frame_link <- function(d) drop(stats::model.matrix(~ ., d) %*% frame_truth)
frame_bounds <- stats::setNames(rep(list(c(-1, 1)), 4), paste0("x", 1:4))

normal <- function() {
  list(draw = function() {
    d <- frame_columns(n)
    cbind(d, y = frame_link(d) + stats::rnorm(n))
  }, truth = frame_truth, bounds = frame_bounds, loss = loss_squared(c(-8, 8)))
}

# Counts with the mean e^(1 + half of the same link); without overdispersion where size is infinite.
counts <- function(size) {
  list(draw = function() {
    d <- frame_columns(n)
    mean <- exp(1 + frame_link(d) / 2)
    cbind(d, y = if (is.finite(size)) stats::rnbinom(n, size = size, mu = mean) else stats::rpois(n, mean))
  }, truth = c(1, 0 * frame_truth[-1]) + frame_truth / 2, bounds = frame_bounds, loss = loss_poisson())
}

# Records of a large population, whose truth is that of lm(). Responses lie within their bounds, as intervals are about
# responses that are clipped to them.
resampled <- function(population, bounds, response) {
  population$y <- pmin(pmax(population$y, response[1]), response[2])
  list(draw = function() population[sample(nrow(population), n, TRUE), ],
       truth = unname(stats::coef(stats::lm(y ~ ., population))), bounds = bounds, loss = loss_squared(response))
}

wages <- function() {
  file <- file.path(Sys.getenv("AER_DATA"), "CPS1988.rda")
  room <- new.env()
  if (file.exists(file)) load(file, room) else room$CPS1988 <- package_data("CPS1988", "AER")
  if (is.null(room$CPS1988)) return(NULL)
  d <- room$CPS1988
  columns <- c("education", "experience", "ethnicity", "smsa", "region", "parttime")
  population <- cbind(d[columns], square = d$experience^2, y = log(d$wage))
  resampled(population, list(education = c(0, 20), experience = c(-10, 70), square = c(0, 4000)), c(3, 10))
}

# Correlated columns, exponential errors that are larger where the mean is, R^2 of 0.3.
skewed <- function() {
  set.seed(7)
  rows <- 300000
  own <- matrix(stats::rnorm(rows * 7), rows)
  shared <- matrix(stats::rnorm(rows * 2), rows)
  x <- own + 0.5 * shared %*% matrix(stats::rnorm(14), 2)
  for (j in c(3, 6)) x[, j] <- x[, j] > stats::quantile(x[, j], stats::runif(1, 0.5, 0.95))
  f <- drop(scale(x %*% (stats::rnorm(7) / apply(x, 2, stats::sd)))) * sqrt(0.3)
  error <- (stats::rexp(rows) - 1) * exp(0.5 * f / sqrt(0.3)) / sqrt(exp(0.5))
  d <- as.data.frame(pmin(pmax(x, -5), 5))
  d[c(3, 6)] <- lapply(d[c(3, 6)], factor)
  d$y <- f + sqrt(0.7) * error
  bounds <- stats::setNames(rep(list(c(-5, 5)), 5), paste0("V", c(1, 2, 4, 5, 7)))
  resampled(d, bounds, c(-5, 15))
}

problems <- list(normal = normal, wages = wages, skewed = skewed, poisson = function() counts(Inf),
                 overdispersed = function() counts(2))

# ---- runs ----

# Estimates of lm() or glm() and their standard errors by the sandwich.
sandwich <- function(d, loss) {
  family <- if (loss$name == "poisson") stats::poisson() else stats::gaussian()
  fit <- stats::glm(y ~ ., family, d)
  list(estimate = stats::coef(fit), error = sandwich_errors(fit))
}

# A matrix with a row for each coefficient and, for squared error, one for prediction intervals, judged by other
# records.
one_run <- function(problem, eps, seed) {
  set.seed(seed)
  d <- problem$draw()
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., d, eps = eps, delta = 1 / n^2, bounds = problem$bounds, loss = problem$loss, inference = "sandwich",
    noise = "reproducible", progress = FALSE
  )))
  wide <- confint(fit, unresolved = "wide")
  exact <- sandwich(d, problem$loss)
  inside <- function(low, high) low <= problem$truth & problem$truth <= high
  half <- stats::qnorm(0.975) * exact$error
  out <- cbind(covered = inside(wide[, 1], wide[, 2]), shown = !is.na(confint(fit)[, 1]),
               ratio = (wide[, 2] - wide[, 1]) / (2 * half),
               sandwich = inside(exact$estimate - half, exact$estimate + half))
  if (problem$loss$name == "poisson") return(out)
  other <- problem$draw()
  range <- predict(fit, other, interval = "prediction")
  rbind(out, prediction = c(mean(range[, 2] <= other$y & other$y <= range[, 3]), 1, NA, NA))
}

simulate <- function(out, runs, eps) {
  for (name in names(problems)) {
    key <- function(e) list(problem = name, eps = e)
    open <- Filter(function(e) !out$has(key(e)), eps)
    problem <- if (length(open) > 0L) problems[[name]]()
    if (is.null(problem)) next
    for (e in open) {
      all <- simplify2array(lapply(seq_len(runs), one_run, problem = problem, eps = e))
      for (coefficient in dimnames(all)[[1]]) {
        got <- as.data.frame(t(all[coefficient, , ]))
        shown <- got$shown == 1
        out$add(c(key(e), list(coefficient = coefficient, runs = runs, covered = mean(got$covered),
                               covered_shown = mean(got$covered[shown]), shown = mean(shown),
                               ratio = round(stats::median(got$ratio[shown]), 3), sandwich = mean(got$sandwich))))
      }
    }
  }
}

summary_table <- function(x) {
  label <- paste(x$problem, x$eps)
  rows <- lapply(split(x, factor(label, unique(label))), function(x) {
    prediction <- x$covered[x$coefficient == "prediction"]
    x <- x[x$coefficient != "prediction", ]
    often <- x$shown >= 0.5
    numbers <- c(covered = mean(x$covered), shown = mean(x$shown),
                 covered_shown = sum(x$covered_shown * x$shown, na.rm = TRUE) / sum(x$shown),
                 least = if (any(often)) min(x$covered_shown[often]) else NA,
                 ratio = stats::median(x$ratio, na.rm = TRUE), sandwich = mean(x$sandwich),
                 prediction = if (length(prediction) > 0L) prediction else NA)
    cbind(x[1, c("problem", "eps", "runs")], as.list(round(numbers, 3)))
  })
  do.call(rbind, rows)
}

if (identical(arguments[1], "--summary")) {
  table <- summary_table(utils::read.csv(arguments[2]))
  utils::write.csv(table, arguments[3], row.names = FALSE, quote = FALSE, na = "")
} else {
  runs <- if (length(arguments) > 1L) as.integer(arguments[2]) else 200L
  eps <- if (length(arguments) > 2L) as.numeric(strsplit(arguments[3], ",")[[1]]) else c(1, 4)
  simulate(results_file(arguments[1], c("problem", "eps")), runs, eps)
}
