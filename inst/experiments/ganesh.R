# Figures 2 to 4 and table 1 of Ganesh et al. (2023): excess loss against eps, and time of DP-GD over that of the
# method, each at the number of iterations with the smallest loss, which is selected NON-PRIVATELY as in the paper.
# Zero-out neighbours (the paper's relation, with public n), delta = 1/n^2, logistic loss without penalty, DP-GD with
# steps of the inverse smoothness. DP-GD-oracle, which is not private, takes the best step along each noisy gradient.
# Seconds are processor time, on which other work on the machine has little effect.
#   Rscript ganesh.R FOLDER DATA RESULTS.csv [SEEDS [SET ...]]    runs
#   Rscript ganesh.R --summary RESULTS.csv [SUMMARY.csv]            means over the seeds, which the vignette shows
# FOLDER contains adult.rds (the binary coding, a9a) and covertype.rds as for utility.R, DATA contains a1a.csv.xz. All
# results are exact and NOT PRIVATE.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

load_set <- function(set, folder, data) {
  if (set == "synthetic") {
    set.seed(1)
    return(do.call(synthetic_problem, c(list(10000), synthetic_shapes$mixed, signal = 3, rare = 0.4)))
  }
  if (set != "a1a") return(readRDS(file.path(folder, paste0(set, ".rds")))[c("X", "y")])
  d <- utils::read.csv(file.path(data, "a1a.csv.xz"))
  if (!is.null(d$split)) d <- d[d$split == "train", ]
  x <- cbind(as.matrix(d[grep("^x", names(d))]), 1) / sqrt(15)
  list(X = unname(x / pmax(1, sqrt(rowSums(x^2)))), y = as.double(d$label))
}

# DP-GD in a few lines: the oracle is the privacy barrier. length: the step length along a gradient at w.
descent <- function(d, eps, steps, length = function(w, gradient) 4) {
  budget <- dp_budget(eps = eps, delta = 1 / nrow(d$X)^2)
  oracle <- dp_oracle(d$X, d$y, "logistic", budget, 1, FALSE, "zero-out", "reproducible")
  mu <- dp_convert(eps = eps, delta = 1 / nrow(d$X)^2, to = "mu") * (1 - 1e-9) / sqrt(steps)
  w <- numeric(ncol(d$X))
  for (i in seq_len(steps)) {
    gradient <- as.vector(dp_gradient(oracle, w, mu = mu))
    w <- w - length(w, gradient) * gradient
  }
  w
}

# NON-PRIVATE: the step with the smallest exact loss.
oracle_descent <- function(d, eps, steps) {
  descent(d, eps, steps, function(w, gradient) {
    margin <- d$y * as.vector(d$X %*% w)
    change <- d$y * as.vector(d$X %*% gradient)
    stats::optimize(function(length) mean(logistic_loss(margin - length * change)), c(0, 1000), tol = 0.01)$minimum
  })
}

fitted_by <- function(d, eps, method, control) {
  coef(suppressWarnings(suppressMessages(dp_sosp(
    d$X, d$y, eps = eps, loss = "logistic", radius = 1, intercept = FALSE, method = method, control = control,
    neighbours = "zero-out", noise = "reproducible", progress = FALSE
  ))))
}

newton <- function(curvature, modify) function(d, eps, steps) {
  fitted_by(d, eps, "newton", control_newton(curvature, modify, iterations = steps))
}

# On Poisson batches: rate 1/50 for first-order steps, as in the paper, 1/10 for second-order steps.
stochastic <- function(d, eps, steps) {
  fitted_by(d, eps, "sgd", control_gd(gap = 1e6, max_iterations = steps, batch = nrow(d$X) / 50, batch_share = 0.95))
}

on_batches <- function(curvature, modify = "add", rate = 1 / 10) function(d, eps, steps) {
  control <- control_newton(curvature, modify, iterations = steps, batch = nrow(d$X) * rate)
  fitted_by(d, eps, "newton-b", control)
}

methods <- list(
  "DP-GD" = list(steps = c(10, 30, 100, 300), run = descent),
  "DP-GD-oracle" = list(steps = c(3, 6, 12, 30), run = oracle_descent),
  "Hess-add" = list(steps = c(3, 6, 12), run = newton("hessian", "add")),
  "Hess-clip" = list(steps = c(3, 6, 12), run = newton("hessian", "clip")),
  "QU-add" = list(steps = c(3, 6, 12), run = newton("qu", "add")),
  "QU-clip" = list(steps = c(3, 6, 12), run = newton("qu", "clip")),
  "damped" = list(steps = c(3, 6), run = function(d, eps, steps) {
    fitted_by(d, eps, "damped-newton", control_newton("direct", iterations = steps))
  }),
  "cubic" = list(steps = c(3, 6), run = function(d, eps, steps) {
    fitted_by(d, eps, "cubic", control_cubic(iterations = steps))
  }),
  "lazy" = list(steps = c(20, 60, 240), run = newton("lazy", "add")),
  "DP-SGD" = list(steps = c(30, 100, 300), run = stochastic),
  "batch Hess-add" = list(steps = c(3, 6, 12), run = on_batches("hessian", "add")),
  "batch Hess-clip" = list(steps = c(3, 6, 12), run = on_batches("hessian", "clip")),
  "batch lazy" = list(steps = c(60, 240), run = on_batches("lazy", rate = 1 / 50)),
  "objpert" = list(steps = 1, run = function(d, eps, steps) fitted_by(d, eps, "objpert", NULL))
)

# Completes one seed before the next.
run <- function(folder, data, path, seeds, sets) {
  out <- results_file(path, c("set", "eps", "method", "steps", "seed"))
  problems <- lapply(stats::setNames(sets, sets), function(set) load_set(set, folder, data))
  minima <- lapply(problems, synthetic_minimum)
  for (seed in seq_len(seeds)) for (set in sets) for (eps in c(0.01, 0.1, 1, 10)) for (method in names(methods)) {
    for (steps in methods[[method]]$steps) {
      d <- problems[[set]]
      row <- list(set = set, n = nrow(d$X), d = ncol(d$X), eps = eps, method = method, steps = steps, seed = seed)
      if (out$has(row)) next
      set.seed(seed)
      used <- system.time(w <- methods[[method]]$run(d, eps, steps))[c("user.self", "sys.self")]
      out$add(c(row, list(excess = signif(minima[[set]]$excess(w), 5), seconds = sum(used))))
    }
  }
}

summarise <- function(path, table) {
  x <- stats::aggregate(cbind(excess, seconds) ~ set + eps + method + steps, utils::read.csv(path), mean)
  x[c("excess", "seconds")] <- signif(x[c("excess", "seconds")], 5)
  if (length(table) > 0) utils::write.csv(x, table, row.names = FALSE)
  best <- do.call(rbind, lapply(split(x, list(x$set, x$eps, x$method)), function(z) z[which.min(z$excess), ]))
  cat("Excess loss\n")
  print(signif(tapply(best$excess, list(paste(best$set, best$method), best$eps), mean), 3))
  of_descent <- best[best$method == "DP-GD", ]
  same <- match(paste(best$set, best$eps), paste(of_descent$set, of_descent$eps))
  best$ratio <- of_descent$seconds[same] / best$seconds
  cat("\nSeconds of DP-GD over those of the method\n")
  print(round(tapply(best$ratio, list(paste(best$set, best$method), best$eps), mean), 2))
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2], arguments[-(1:2)])
} else {
  run(arguments[1], arguments[2], arguments[3], if (length(arguments) > 3) as.integer(arguments[4]) else 3L,
      if (length(arguments) > 4) arguments[-(1:4)] else c("synthetic", "a1a", "adult", "covertype"))
}
