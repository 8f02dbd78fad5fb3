# Should a run of the OPT family that took steps end at its last point, or move from there by the posterior mean given
# its last gradients, as far as its certificate allows (src/method/opt_tight.c)? Each run is made twice with the same
# noise, on SYNTHETIC problems (synthetic.R), replace-one, delta = 1/n^2.
#   Rscript end-rule.R RESULTS.csv [SEEDS]      3 by default
# Then: Rscript end-rule.R --summary RESULTS.csv
# stays, moves: excess loss over the smallest, in 1e-4, at the two ends; status: of the second run.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

problems <- expand.grid(eps = c(0.5, 1, 3), n = c(2000, 10000), signal = c(0.3, 0.8, 2), rare = c(0.4, 0.1),
                        shape = c("small", "mixed", "numeric"), method = c("2opt-ls", "opt"), stringsAsFactors = FALSE)

one <- function(p, seed, constants) {
  set.seed(1000 * seed + p$n)
  problem <- do.call(synthetic_problem, c(list(p$n), synthetic_shapes[[p$shape]], signal = p$signal, rare = p$rare))
  run <- with_constants(constants, synthetic_run(problem, p$eps, method = p$method))
  list(fit = run$fit, excess = 1e4 * synthetic_minimum(problem)$excess(run$w))
}

simulate <- function(path, seeds) {
  out <- results_file(path, c("method", "n", "shape", "signal", "rare", "eps", "seed"))
  for (i in seq_len(nrow(problems))) for (seed in seq_len(seeds)) {
    p <- problems[i, ]
    row <- c(as.list(p[c("method", "n", "shape", "signal", "rare", "eps")]), seed = seed)
    if (out$has(row)) next
    stays <- one(p, seed, list(opt_start_curvature = function(job) 0))
    if (!any(stays$fit$trace$step > 0)) next # such runs are those of leave-rule.R
    moves <- one(p, seed, list())
    out$add(c(row, list(stays = signif(stays$excess, 4), moves = signif(moves$excess, 4), status = moves$fit$status)))
  }
}

# Geometric mean of the ratio of the excess losses, and fractions of runs that are worse by more than 5 %.
summarise <- function(path) {
  x <- utils::read.csv(path)
  ratio <- x$moves / x$stays
  for (by in c("method", "eps", "n", "signal", "rare", "shape", "status")) {
    cat("\nmoves over stays, by ", by, "\n", sep = "")
    print(round(rbind(ratio = tapply(log(ratio), x[[by]], function(v) exp(mean(v))),
                      worse = tapply(ratio > 1.05, x[[by]], mean), runs = table(x[[by]])), 3))
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 3L)
}
