# What should 2OPT-LS do with the gradients at its start if none of them exceeds the noise level? Compares runs that end
# at their start with runs that leave it by a posterior mean (src/method/opt_tight.c), on SYNTHETIC problems
# (synthetic.R) without signal and with weak and stronger ones, replace-one, delta = 1/n^2. The results determine
# start_shared (R/method-family.R), opt_power and opt_signals (R/method-opt.R).
#   Rscript leave-rule.R RESULTS.csv [SEEDS]      3 by default
# Then: Rscript leave-rule.R --summary RESULTS.csv
# over: mean loss minus that of the constant prediction, both of the complete records, in 1e-4; mean over the seeds and
# two fractions of the second class, with its standard error. missing: are values missing, in every tenth record of one
# class and every third of the other?
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

shapes <- c(list(few = list(numeric = 3, levels = 2)), synthetic_shapes[c("small", "mixed", "factors")])
problems <- rbind(
  expand.grid(eps = c(0.5, 1, 3), n = c(500, 1500, 5000), signal = c(0, 0.3, 0.8, 2), missing = FALSE,
              shape = names(shapes), stringsAsFactors = FALSE),
  expand.grid(eps = 0.1, n = 500, signal = c(0, 0.3, 0.8), missing = FALSE, shape = names(shapes),
              stringsAsFactors = FALSE),
  expand.grid(eps = c(0.5, 1, 3), n = 1000, signal = c(0, 0.8), missing = TRUE, shape = c("few", "small", "mixed"),
              stringsAsFactors = FALSE)
)
rare <- c(0.4, 0.1)

never <- function(job) FALSE
settings <- list(
  "ends at the start" = list(opt_uses_all = never),
  "chosen" = NULL,
  "power 1" = list(opt_power = 1),
  "power 0" = list(opt_power = 0),
  "nine signals" = list(opt_signals = 9L),
  "30 % for the fraction" = list(start_shared = list(c(sd = 0.002, share = 0.3), c(sd = 0.02, share = 0.8))),
  "80 % for the fraction" = list(start_shared = list(c(sd = 0.002, share = 0.8)))
)

draw <- function(p, rare) {
  problem <- do.call(synthetic_problem, c(list(p$n), shapes[[p$shape]], signal = max(p$signal, 1e-9), rare = rare))
  if (p$missing) problem$X[stats::runif(p$n) < ifelse(problem$y > 0, 1 / 3, 1 / 10), 1] <- NA
  problem
}

one <- function(p, rare, seed, setting) {
  set.seed(1000 * seed + p$n)
  problem <- draw(p, rare)
  w <- with_constants(settings[[setting]], synthetic_fit(problem, p$eps, method = "2opt-ls"))
  complete <- !is.na(problem$X[, 1])
  y <- problem$y[complete]
  loss <- mean(logistic_loss(y * as.vector(problem$X[complete, ] %*% w)))
  1e4 * (loss - constant_loss(mean(y > 0)))
}

simulate <- function(path, seeds) {
  out <- results_file(path, c("setting", "n", "shape", "signal", "eps", "missing"))
  for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
    p <- problems[i, ]
    row <- c(list(setting = setting), as.list(p[c("n", "shape", "signal", "eps", "missing")]))
    if (out$has(row)) next
    runs <- expand.grid(seed = seq_len(seeds), rare = rare)
    over <- mapply(function(seed, rare) one(p, rare, seed, setting), runs$seed, runs$rare)
    out$add(c(row, list(over = signif(mean(over), 3), error = signif(stats::sd(over) / sqrt(nrow(runs)), 2))))
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  x$setting <- factor(x$setting, names(settings))
  show <- function(x, by) {
    error <- function(e) sqrt(sum(e^2)) / length(e)
    cat("\nmean over, 1e-4, by signal and ", by, "\n", sep = "")
    print(round(tapply(x$over, list(x$setting, paste(x$signal, x[[by]])), mean), 1))
    print(round(tapply(x$error, list("standard error" = x$setting, paste(x$signal, x[[by]])), error), 1))
  }
  for (by in c("missing", "eps", "n", "shape")) show(if (by == "missing") x else x[!x$missing, ], by)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 3L)
}
