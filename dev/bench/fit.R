# What does a whole fit of Covertype cost, in passes for value and gradient?
source("dev/bench/common.R")
bench_open()
library(dpsosp)
d <- bench_data()
oracle <- .Call("bench_open", d$x, d$y, "logistic")
w <- rep(c(0.5, -0.5), length.out = ncol(d$x))
fit <- function(target) {
  dp_sosp(d$x, d$y, eps = 0.6, delta = 1 / nrow(d$x)^2, method = "2opt-ls", radius = 1, intercept = FALSE,
          penalty = penalty_nonconvex(1e-3), target = target, noise = "reproducible", progress = FALSE)
}
loose <- sosp(0.060, 0.245)
strict <- sosp(0.030, 0.173)
set.seed(1)
for (threads in 1:2) {
  options(dpsosp.threads = threads)
  if (.Call("bench_threads", threads) < threads) next
  t <- bench_summary(bench_times(
    if (threads == 1) 11 else 41,
    both = .Call("bench_value_gradient", oracle, w), loose = fit(loose), strict = fit(strict),
    oracle = dp_oracle(d$x, d$y, budget = dp_budget(mu = 1), radius = 1, intercept = FALSE)
  ), threads)
  cat("A fit of Covertype from a matrix,", threads, "thread(s), in passes for value and gradient\n")
  bench_say("  target (0.060, 0.245)", t[["loose"]] / t[["both"]], "<= 12")
  bench_say("  target (0.030, 0.173)", t[["strict"]] / t[["both"]])
  bench_say("  of these, checks, row norms and the oracle", t[["oracle"]] / t[["both"]])
}
print(fit(loose)$trace)
print(fit(strict)$trace)
