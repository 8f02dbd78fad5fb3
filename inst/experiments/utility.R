# How good is method = "auto" on common design matrices? Excess empirical loss with delta = 1/n^2, replace-one and no
# tuning, compared with the best of other replace-one methods and packages.
#   Rscript utility.R FOLDER RESULTS.csv VERSION [SEEDS [METHOD ...]]     runs; 5 seeds of "auto" by default
#   Rscript utility.R --summary RESULTS.csv                               means over the seeds, by version
#   Rscript utility.R --limits FOLDER LIMITS.csv [SEEDS]                  where "auto" misses the goal: what limits it
# FOLDER contains <set>.rds with X and Xtest (rows of norm at most one, the last column a constant 1/R), y and ytest in
# -1, 1, R and the columns' bounds, made with public constants. The exact minimum is stored there as <set>-optimum.rds;
# remove it when the matrices change. VERSION is any word for the installed package, so that versions can be compared in
# one file of results. All settings are the package's defaults. All results are exact and NOT PRIVATE.
#
# results/utility-auto.csv was made by this script (its version "before" used no public bounds of columns, as dp_sosp()
# had none), results/utility.csv by one that passed the constant column as a column instead of an intercept.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

# The smallest excess loss of other replace-one methods: DP-SGD, DP-GD with and without averaging, objective
# perturbation and diffprivlib, each with the best settings of a grid in each cell, selected non-privately.
peers <- rbind(
  adult = c(0.0548, 0.0364, 0.0157, 0.0089, 0.00275),
  ijcnn1 = c(0.114, 0.0762, 0.0190, 0.0124, 0.00197),
  covertype = c(0.0091, 0.0042, 0.00149, 0.00085, 0.00018)
)
colnames(peers) <- c(0.1, 0.2, 0.6, 1, 4)
goal <- 0.7 # of a peer's excess loss

private_fit <- function(d, eps, method, ...) {
  suppressWarnings(suppressMessages(dp_sosp(
    columns(d$X, d$R), d$y, eps = eps, loss = "logistic", radius = d$R, intercept = TRUE, method = method,
    noise = "reproducible", progress = FALSE, bounds = columns(d$bounds, d$R), ...
  )))
}

# Without the constant column and the division by the radius, which dp_sosp() does itself.
columns <- function(x, radius) x[, -ncol(x)] * radius

# The smallest loss and where it is.
optimum <- function(folder, set, d) {
  path <- file.path(folder, paste0(set, "-optimum.rds"))
  if (!file.exists(path)) saveRDS(synthetic_minimum(d)[c("w", "value")], path)
  readRDS(path)
}

run <- function(folder, path, version, seeds, methods) {
  out <- results_file(path, c("version", "set", "method", "eps", "seed"))
  for (set in rownames(peers)) {
    d <- readRDS(file.path(folder, paste0(set, ".rds")))
    best <- optimum(folder, set, d)$value
    for (eps in as.numeric(colnames(peers))) for (seed in seq_len(seeds)) for (method in methods) {
      row <- list(version = version, set = set, method = method, eps = eps, seed = seed)
      if (out$has(row)) next
      set.seed(seed)
      elapsed <- system.time(fit <- private_fit(d, eps, method))[["elapsed"]]
      seen <- judge(predict(fit, columns(d$X, d$R)), d$y > 0)
      test <- judge(predict(fit, columns(d$Xtest, d$R)), d$ytest > 0)
      out$add(c(row, list(chosen = fit$method, excess = signif(seen$loss - best, 5),
                          test_accuracy = signif(test$accuracy, 5),
                          test_loss = signif(test$loss, 5), seconds = round(elapsed, 1))))
    }
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  cells <- stats::aggregate(cbind(excess, test_accuracy, test_loss) ~ eps + set + method + version, x, mean)
  cells$peer <- peers[cbind(cells$set, cells$eps)]
  cells$ratio <- cells$excess / cells$peer
  cells$goal <- cells$ratio <= goal
  options(width = 120)
  numbers <- c("excess", "test_accuracy", "test_loss", "ratio")
  cells[numbers] <- signif(cells[numbers], 3)
  print(cells[c("version", "set", "method", "eps", "test_accuracy", "test_loss", "excess", "peer", "ratio", "goal")],
        row.names = FALSE)
}

# Excess losses over the best peer's: of fits; of the mean of their coefficients, from which most of the noise is gone;
# and both if moments and certificate cost nothing, so that nearly the whole budget is for gradients.
limits <- function(folder, path, seeds) {
  out <- results_file(path, c("set", "eps"))
  missed <- data.frame(set = "adult", eps = c(0.1, 0.2))
  for (i in seq_len(nrow(missed))) {
    row <- as.list(missed[i, ])
    if (out$has(row)) next
    d <- readRDS(file.path(folder, paste0(row$set, ".rds")))
    x <- columns(d$X, d$R)
    best <- optimum(folder, row$set, d)
    loss <- function(w) mean(logistic_loss(d$y * (w[1] + as.vector(x %*% w[-1]))))
    ratio <- function(w) (loss(w) - best$value) / peers[row$set, as.character(row$eps)]
    solutions <- function(...) {
      vapply(seq_len(seeds), function(seed) {
        set.seed(seed)
        stats::coef(private_fit(d, row$eps, "newton-ridge", ...))
      }, numeric(1 + ncol(x)))
    }
    own <- solutions()
    known <- solutions(geometry = geometry_public(colMeans(x), pmax(apply(x, 2, stats::sd), 1e-6)),
                       control = control_newton_ridge(certificate_share = 0.001))
    numbers <- list(ratio = mean(apply(own, 2, ratio)), bias = ratio(rowMeans(own)),
                    known_ratio = mean(apply(known, 2, ratio)), known_bias = ratio(rowMeans(known)))
    out$add(c(row, list(seeds = seeds), lapply(numbers, signif, 3)))
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else if (identical(arguments[1], "--limits")) {
  limits(arguments[2], arguments[3], if (length(arguments) > 3) as.integer(arguments[4]) else 10L)
} else {
  run(arguments[1], arguments[2], arguments[3], if (length(arguments) > 3) as.integer(arguments[4]) else 5L,
      if (length(arguments) > 4) arguments[-(1:4)] else "auto")
}
