# Wang & Xu (2021), section 5: accuracy, optimality gap and gradient norm against eps, and the gap against time.
#
# Rscript wang-xu.R [--data FOLDER] [--out FOLDER] [--runs 10]
#
# FOLDER holds covertype.rds (classes 1 and 2) and ijcnn1.csv.xz, of which 35,000 random rows are taken; without it the
# package's sample of Covertype is used. Rows as in gao-wright.R. Writes wang-xu.csv, a row per run, and goes on where an
# earlier run stopped; an hour on one core.
#
# Every run is private at its eps (delta = 1/n) under replace-one. Runs either stop at the paper's target alpha = 0.1 or
# spend their whole budget; those with a limit on their iterations, at eps = 1, are for the gap against time. "gap",
# "gradient" and "accuracy" are exact and so NOT private.

library(dpsosp)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
source(file.path(if (length(script)) dirname(script) else ".", "common.R"))
folder <- option("data")
runs <- as.integer(option("runs", "10"))
results <- results_file(file.path(option("out", "."), "wang-xu.csv"),
                        c("data", "loss", "method", "stop", "iterations", "eps", "seed"))
lambda <- 1e-3

controls <- list(tr = control_tr, gd = control_gd)

main <- function() {
  if (!is.null(folder)) run_data("ijcnn1", ijcnn1_matrix())
  run_data("covertype", covertype_matrix(folder))
}

ijcnn1_matrix <- function() {
  d <- utils::read.csv(file.path(folder, "ijcnn1.csv.xz"))
  d <- d[d$split == "train", ]
  set.seed(98)
  d <- d[sample(nrow(d), 35000), ]
  list(x = unname(as.matrix(d[, -(1:2)])) / 3, y = d$label)
}

run_data <- function(name, problem) {
  against_eps <- expand.grid(eps = c(0.2, 0.4, 0.6, 0.8, 1, 1.5, 2), iterations = 100000L,
                             stop = c("target", "budget"), method = names(controls), seed = seq_len(runs),
                             stringsAsFactors = FALSE)
  against_time <- expand.grid(eps = 1, iterations = c(1L, 2L, 4L, 8L, 16L, 32L, 64L),
                              stop = "budget", method = names(controls), seed = seq_len(runs),
                              stringsAsFactors = FALSE)
  for (loss in c("logistic", "sigmoid")) {
    grid <- data.frame(data = name, loss = loss, rbind(against_eps, against_time))
    grid <- grid[order(grid$seed), ] # all of one seed first: what is there when a run is stopped is balanced
    exact <- nonprivate_problem(problem$x, problem$y, lambda, loss)
    best <- NULL
    for (i in seq_len(nrow(grid))) {
      if (results$has(grid[i, ])) next
      if (is.null(best)) best <- nonprivate_minimum(exact, starts_of(ncol(problem$x)))
      results$add(run_one(problem, exact, best, grid[i, ]))
    }
  }
}

starts_of <- function(d) c(list(numeric(d)), lapply(1:4, start_of, d = d))
start_of <- function(seed, d) {
  set.seed(seed)
  stats::rnorm(d)
}

run_one <- function(problem, exact, best, row) {
  start <- start_of(row$seed, ncol(problem$x))
  penalty <- if (row$loss == "logistic") penalty_nonconvex(lambda) else penalty_ridge(lambda)
  seconds <- system.time(fit <- suppressWarnings(suppressMessages(dp_sosp(
    problem$x, problem$y, eps = row$eps, delta = 1 / nrow(problem$x), method = row$method, loss = row$loss,
    penalty = penalty, radius = 1, intercept = FALSE, start = start, noise = "reproducible", progress = FALSE,
    target = if (row$stop == "target") sosp(alpha = 0.1), control = controls[[row$method]](max_iterations = row$iterations)
  ))))[["elapsed"]]
  w <- coef(fit)
  data.frame(row, status = fit$status, steps = sum(fit$trace$query == "gradient"), gap = exact$loss(w) - best$value,
             gradient = exact$gradient_norm(w), accuracy = exact$accuracy(w), best_accuracy = exact$accuracy(best$w),
             seconds = round(seconds, 4))
}

main()
