# Tables 1 to 12 of Gao & Wright (2023), and further settings.
#
# Rscript gao-wright.R [--data FOLDER] [--out FOLDER] [--part tight|published|beyond|batches|ijcnn] [--shard I/K]
#
# FOLDER holds covertype.rds (n = 495,141 after the choice of classes 1 and 2) and ijcnn1.csv.xz; without it the
# package's sample of 25,000 rows is used. Covertype comes with the logistic loss and a non-convex penalty (tables 1 and
# 2) and with the sigmoid loss and a ridge (tables 5 to 8). Parts tight and published write gao-wright.csv, with the
# full-batch methods of the paper; batches gao-wright-batches.csv, with the trust region, gradient descent and the
# methods on batches; ijcnn gao-wright-ijcnn.csv, with all methods on 4,999 records of IJCNN and either loss (tables 3,
# 4 and 9 to 12); beyond gao-wright-beyond.csv. A row a run; what an earlier run wrote is not run again, and a shard
# does every K-th run. On one core: tight and beyond take minutes, batches half an hour, published hours, as its plans
# have thousands of steps. The package has these files compressed by gzip -9 -n, which read.csv() reads.
#
# Every run is private at its eps (delta = 1/n) under replace-one. "loss", "gradient" and "eigenvalue" in the tables are
# exact and so NOT private: they are computed outside the fits to judge them.

library(dpsosp)
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
source(file.path(if (length(script)) dirname(script) else ".", "common.R"))
folder <- option("data")
out <- option("out", ".")
part <- option("part", "tight")
shard <- as.integer(strsplit(option("shard", "1/1"), "/")[[1]])

methods <- c("opt", "opt-ls", "2opt", "2opt-ls")
targets <- list(loose = c(0.060, 0.245), tight = c(0.030, 0.173))
targets_sigmoid <- list(loose = c(0.040, 0.200), tight = c(0.020, 0.141))
lambda <- 1e-3
ijcnn_records <- 4999 # as many as the paper has

control_of <- function(method, constants) {
  if (startsWith(method, "tr")) return(control_tr(constants))
  if (method %in% c("gd", "sgd")) return(control_gd())
  control_opt(constants)
}

# One fit from the public start w0 ~ N(0, I), with its exact quantities.
run_one <- function(problem, exact, row) {
  set.seed(row$seed)
  start <- stats::rnorm(ncol(problem$x))
  seconds <- system.time(
    fit <- dp_sosp(problem$x, problem$y, eps = row$eps, delta = 1 / nrow(problem$x), method = row$method,
                   loss = problem$loss, penalty = problem$penalty, radius = 1, intercept = FALSE, start = start,
                   target = sosp(row$eps_g, row$eps_h), control = control_of(row$method, row$constants),
                   noise = "reproducible")
  )[["elapsed"]]
  queries <- c("gradient", "hessian", "line search", "batch gradient", "batch hessian")
  asked <- table(factor(fit$trace$query, queries))
  w <- coef(fit)
  result <- data.frame(
    row, n = nrow(problem$x), status = fit$status, gradients = asked[[1]], hessians = asked[[2]],
    line_searches = asked[[3]], planned = fit$iterations[["planned"]], loss_start = exact$loss(start),
    loss = exact$loss(w), gradient = exact$gradient_norm(w), eigenvalue = exact$eigen_min(w),
    gradient_upper = fit$certificate$gradient[["upper"]], eigenvalue_lower = fit$certificate$eigenvalue[["lower"]],
    ledger_error = abs(sum(dp_ledger(fit)$rho) - fit$privacy$rho) / fit$privacy$rho, seconds = round(seconds, 3)
  )
  if (!part %in% c("batches", "ijcnn")) return(result)
  data.frame(result, batch = if (is.null(fit$batch)) NA else fit$batch$size, batch_gradients = asked[[4]],
             batch_hessians = asked[[5]])
}

run_all <- function(problem, grid, path) {
  keys <- c("data", "constants", "method", "target", "eps", "seed")
  results <- results_file(path, keys)
  exact <- nonprivate_problem(problem$x, problem$y, lambda, problem$loss)
  for (i in seq_len(nrow(grid))) {
    row <- grid[i, ]
    if (i %% shard[2] != shard[1] %% shard[2] || results$has(row)) next
    results$add(run_one(problem, exact, row))
  }
}

logistic <- function(x, y) {
  list(x = x, y = y, loss = "logistic", penalty = penalty_nonconvex(lambda))
}
sigmoid <- function(x, y) {
  list(x = x, y = y, loss = "sigmoid", penalty = penalty_ridge(lambda))
}

grid_of <- function(data, constants, methods, targets, eps, seeds = 1:5) {
  grid <- expand.grid(seed = seeds, eps = eps, method = methods, target = names(targets), stringsAsFactors = FALSE)
  aims <- do.call(rbind, targets)[grid$target, , drop = FALSE]
  grid <- grid[c("method", "target", "eps", "seed")]
  data.frame(data = data, constants = constants, grid, eps_g = aims[, 1], eps_h = aims[, 2], row.names = NULL)
}

shard_path <- function(name) {
  file.path(out, if (shard[2] > 1) paste0(name, "-", shard[1], ".csv") else paste0(name, ".csv"))
}

# Both problems, their targets, and the rows of results for a grid of methods.
problems <- function(name = "covertype", d = covertype_matrix(folder), first = targets) {
  stats::setNames(list(c(do.call(logistic, d), list(targets = first)),
                       c(do.call(sigmoid, d), list(targets = targets_sigmoid))), paste0(name, c("", "-sigmoid")))
}
run_both <- function(problems, constants, methods, seeds, path) {
  for (data in names(problems)) {
    p <- problems[[data]]
    run_all(p, grid_of(data, constants, methods, p$targets, c(0.2, 0.6, 1), seeds), path)
  }
}

started <- proc.time()[["elapsed"]]
if (part %in% c("tight", "published")) {
  # Fast methods and targets come first, and a run of every cell before a second one: an interrupted script has most of
  # the table.
  both <- problems()
  for (seed in 1:5) run_both(both, part, rev(methods), seed, shard_path("gao-wright"))
} else if (part == "batches") {
  both <- problems()
  path <- shard_path("gao-wright-batches")
  on_batches <- c("opt-b", "2opt-b", "tr-b")
  for (seed in 1:5) {
    for (methods in list(on_batches, c("tr", "sgd", "gd"))) run_both(both, "tight", methods, seed, path)
    run_all(both$covertype, grid_of("covertype", "published", on_batches, targets["loose"], c(0.2, 0.6, 1), seed), path)
  }
} else if (part == "ijcnn") {
  both <- problems("ijcnn1", ijcnn1_matrix(folder, ijcnn_records), targets_sigmoid)
  for (constants in c("tight", "published")) {
    for (seed in 1:5) {
      run_both(both, constants, c(rev(methods), "opt-b", "2opt-b", "tr", "tr-b"), seed, shard_path("gao-wright-ijcnn"))
    }
  }
} else {
  problem <- covertype_matrix(folder)
  set.seed(99)
  rows <- sample(nrow(problem$x), nrow(problem$x) %/% 10)
  problem <- logistic(problem$x[rows, ], problem$y[rows])
  tenth <- grid_of("covertype-tenth", "tight", methods, targets["tight"], 0.2)
  published <- grid_of("covertype-tenth", "published", "2opt-ls", targets["tight"], 0.2)
  run_all(problem, rbind(tenth, published), shard_path("gao-wright-beyond"))
  if (!is.null(folder)) {
    problem <- do.call(logistic, ijcnn1_matrix(folder, ijcnn_records))
    grid <- rbind(grid_of("ijcnn1", "tight", methods, list(loose = c(0.040, 0.200)), 0.2),
                  grid_of("ijcnn1", "published", methods, list(loose = c(0.040, 0.200)), 0.2))
    run_all(problem, grid, shard_path("gao-wright-beyond"))
  }
}
cat(sprintf("%s: %.0f s\n", part, proc.time()[["elapsed"]] - started))
