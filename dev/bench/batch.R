# Does a step on a batch cost the same whatever n is? Time of runs with many steps less that of runs with few, over the
# difference, at one batch size: what a run does once (reading the data, a copy by rows when a quarter of them was
# drawn, certifying on all rows) drops out. Both have drawn more than that.
source("dev/bench/common.R")
bench_open()
arguments <- commandArgs(TRUE)
library(dpsosp, lib.loc = if (length(arguments) > 0) arguments[1])

batch <- 2000
few <- 100
many <- 500
d <- bench_data()
plan <- event_repeat(event_subsample(event_gaussian(3), 0.01, "wor"), many)

# A problem of n rows, drawn again and again from the data.
rows <- function(n) {
  set.seed(1)
  at <- if (n <= nrow(d$x)) sample(nrow(d$x), n) else sample(nrow(d$x), n, TRUE)
  list(x = d$x[at, ], y = d$y[at])
}

run <- function(p, method, steps) {
  budget <- dp_budget(eps = 1, delta = 1e-6, plan = plan)
  control <- if (method == "sgd") control_gd(gap = 1, max_iterations = steps, batch = batch) else
    control_tr("published", gap = 10, max_iterations = steps, batch = batch)
  dp_sosp(p$x, p$y > 0, method = method, control = control, budget = budget, radius = 1, intercept = FALSE,
          target = sosp(1e-6, 0.1), progress = FALSE)
}

problems <- list(small = rows(5e4), large = rows(5e5))
for (method in c("sgd", "tr-b")) {
  bench_head("A step of ", method, ", batches of ", batch, " x ", ncol(d$x))
  t <- bench_times(5, small_few = run(problems$small, method, few), small_many = run(problems$small, method, many),
                   large_few = run(problems$large, method, few), large_many = run(problems$large, method, many))
  step <- lapply(t, function(m) cbind(small = m[, "small_many"] - m[, "small_few"],
                                      large = m[, "large_many"] - m[, "large_few"]) / (many - few))
  for (name in c("small", "large")) bench_milliseconds(step, name)
  bench_ratio("n = 500,000 over n = 50,000", step, "large", "small")
}
# What is left of a difference is the memory's: a step reads as many numbers, but those of a smaller problem are still
# in a cache from the steps before.
