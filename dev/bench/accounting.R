# How fast are the accountants? Processor times of one run, as ratios to those of Google's dp_accounting on one core
# (PLD of 200 different Gaussians 6.2 s, Poisson sampling with q = 0.001 and T = 10,000 0.9 s), which are known from
# another run on the same kind of machine.
#   Rscript dev/bench/accounting.R [LIBRARY]

library(dpsosp, lib.loc = if (length(commandArgs(TRUE))) commandArgs(TRUE)[1])

seconds <- function(expression, times = 7) {
  call <- substitute(expression)
  frame <- parent.frame()
  stats::median(vapply(seq_len(times), function(i) sum(system.time(eval(call, frame))[1:2]), 0))
}
report <- function(what, seconds, reference, wanted) {
  ratio <- reference / seconds
  cat(sprintf("%-58s %8.4f s  %8.1f times faster (wanted: %g)\n", what, seconds, ratio, wanted))
}

# Gaussians are merged before they are discretised; Laplace noise keeps the steps apart, which is harder.
gaussians <- do.call(event_compose, lapply(1:200, function(i) event_gaussian(20 + i / 10)))
apart <- do.call(event_compose, lapply(1:200, function(i) {
  event_subsample(event_gaussian(20 + i / 10, "zero-out"), 0.999)
}))
poisson <- event_repeat(event_subsample(event_gaussian(1, "zero-out"), 0.001), 10000)
laplace <- do.call(event_compose, lapply(1:200, function(i) event_laplace(100 + i)))

report("PLD of 200 different Gaussians", seconds(epsilon(dp_account(gaussians, "pld"), 1e-5)), 6.2, 5)
report("  the same with no two merged (rate 0.999)", seconds(epsilon(dp_account(apart, "pld"), 1e-5), 3), 6.2, 5)
report("  200 different Laplace releases", seconds(epsilon(dp_account(laplace, "pld"), 1e-5), 3), 6.2, 5)
report("Poisson sampling, q = 0.001, T = 10,000: PLD", seconds(epsilon(dp_account(poisson, "pld"), 1e-5)), 0.9, 3)
report("  tightest of all accountants", seconds(epsilon(dp_account(poisson), 1e-5)), 0.9, 3)

orders <- 1 + exp(seq(log(0.01), log(1000), length.out = 200))
curve <- function(event) seconds(for (i in 1:20) dp_rdp(event, orders)) / 20
cat(sprintf("Renyi curve over 200 orders: %.2f ms zero-out, %.2f ms replace-one (wanted: 5)\n",
            1000 * curve(poisson), 1000 * curve(event_subsample(event_gaussian(2), 0.1))))
