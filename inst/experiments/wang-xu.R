# Wang & Xu (2021), section 5: accuracy, optimality gap and gradient norm against eps, and the gap against time.
#
# Rscript wang-xu.R [--data FOLDER] [--out FOLDER] [--runs 10] [--sets ijcnn1,covertype] [--eps 0.2,0.4,...]
# Then: Rscript wang-xu.R --summary RESULTS.csv SUMMARY.csv writes the means over runs and, for the plots of the
# vignette, the 10 and 90 percent quantiles.
#
# FOLDER contains covertype.rds (classes 1 and 2) and ijcnn1.csv.xz, of which 35,000 random rows are used; without it
# the package's sample of Covertype is used. Rows as in gao-wright.R. Writes wang-xu.csv, one row per run, and continues
# where an earlier run stopped. On one core ijcnn1 takes ten minutes, and Covertype some hours, as runs of gd that spend
# a large budget have thousands of steps: --eps 1 first gives what the text needs.
#
# Every run is private at its eps (delta = 1/n) under replace-one. Runs either stop at the paper's target alpha = 0.1 or
# spend their whole budget; those with limited iterations, at eps = 1, are for the gap against time. "gap", "gradient"
# and "accuracy" are exact and so NOT private.

library(dpsosp)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
source(file.path(if (length(script)) dirname(script) else ".", "common.R"))
folder <- option("data")
runs <- as.integer(option("runs", "10"))
results <- results_file(file.path(option("out", "."), "wang-xu.csv"),
                        c("data", "n", "loss", "method", "stop", "iterations", "eps", "seed"))
epsilons <- as.numeric(strsplit(option("eps", "0.2,0.4,0.6,0.8,1,1.5,2"), ",")[[1]])
lambda <- 1e-3

controls <- list(tr = control_tr, gd = control_gd)

main <- function() {
  problems <- list(covertype = covertype_matrix(folder))
  if (!is.null(folder)) problems$ijcnn1 <- ijcnn1_matrix(folder, 35000)
  problems <- problems[intersect(strsplit(option("sets", "ijcnn1,covertype"), ",")[[1]], names(problems))]
  judges <- new.env()
  # Completes one seed before the next, so that the results of an interrupted script are balanced.
  for (seed in seq_len(runs)) for (set in names(problems)) for (loss in c("logistic", "sigmoid")) {
    run_seed(set, problems[[set]], loss, seed, judges)
  }
}

run_seed <- function(set, problem, loss, seed, judges) {
  against_eps <- expand.grid(eps = epsilons, iterations = 100000L,
                             stop = c("target", "budget"), method = names(controls), stringsAsFactors = FALSE)
  against_time <- expand.grid(eps = 1, iterations = c(1L, 2L, 4L, 8L, 16L, 32L, 64L), stop = "budget",
                              method = names(controls), stringsAsFactors = FALSE)
  grid <- data.frame(data = set, n = nrow(problem$x), loss = loss, seed = seed, rbind(against_eps, against_time))
  for (i in seq_len(nrow(grid))) {
    if (!results$has(grid[i, ])) results$add(run_one(problem, judge_of(set, problem, loss, judges), grid[i, ]))
  }
}

# Exact quantities and the minimum, found once for each problem.
judge_of <- function(set, problem, loss, judges) {
  name <- paste(set, loss)
  if (is.null(judges[[name]])) {
    exact <- nonprivate_problem(problem$x, problem$y, lambda, loss)
    judges[[name]] <- c(exact, list(best = nonprivate_minimum(exact, starts_of(ncol(problem$x)))))
  }
  judges[[name]]
}

starts_of <- function(d) list(numeric(d), start_of(1, d), start_of(2, d))
start_of <- function(seed, d) {
  set.seed(seed)
  stats::rnorm(d)
}

run_one <- function(problem, exact, row) {
  start <- start_of(row$seed, ncol(problem$x))
  penalty <- if (row$loss == "logistic") penalty_nonconvex(lambda) else penalty_ridge(lambda)
  seconds <- system.time(fit <- suppressWarnings(suppressMessages(dp_sosp(
    problem$x, problem$y, eps = row$eps, delta = 1 / nrow(problem$x), method = row$method, loss = row$loss,
    penalty = penalty, radius = 1, intercept = FALSE, start = start, noise = "reproducible", progress = FALSE,
    target = if (row$stop == "target") sosp(alpha = 0.1),
    control = controls[[row$method]](max_iterations = row$iterations)
  ))))[["elapsed"]]
  w <- coef(fit)
  data.frame(row, status = fit$status, steps = sum(fit$trace$query == "gradient"),
             gap = exact$loss(w) - exact$best$value, gradient = exact$gradient_norm(w), accuracy = exact$accuracy(w),
             best_accuracy = exact$accuracy(exact$best$w), seconds = round(seconds, 4))
}

summarise <- function(path, table) {
  x <- utils::read.csv(path)
  x$runs <- 1
  x$certified <- x$status == "sosp"
  cells <- x[c("data", "n", "loss", "method", "stop", "iterations", "eps")]
  measures <- c("certified", "steps", "gap", "gradient", "accuracy", "best_accuracy", "seconds")
  means <- stats::aggregate(x[measures], cells, mean)
  drawn <- c("gap", "gradient", "accuracy")
  ends <- lapply(c(low = 0.1, high = 0.9), function(q) {
    stats::aggregate(x[drawn], cells, stats::quantile, q, names = FALSE)[drawn]
  })
  means <- data.frame(stats::aggregate(x["runs"], cells, sum), lapply(c(means[-seq_along(cells)], ends), signif, 5))
  utils::write.csv(means, table, row.names = FALSE)
}

if (is.null(option("summary"))) main() else summarise(option("summary"), utils::tail(commandArgs(TRUE), 1))
