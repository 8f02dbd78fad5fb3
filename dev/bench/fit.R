# What does a whole fit of Covertype cost, in passes for value and gradient? By 2opt-ls, and by auto beside newton, of
# which the answers that take a pass each are counted, too.
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
  if (!bench_threads(threads)) next
  bench_head("A fit of Covertype from a matrix, ", threads, " thread(s), in passes for value and gradient")
  t <- bench_times(21, both = .Call("bench_value_gradient", oracle, w), loose = fit(loose), strict = fit(strict),
                   oracle = dp_oracle(d$x, d$y, budget = dp_budget(mu = 1), radius = 1, intercept = FALSE))
  for (clock in c("cpu", "wall")) {
    bench_ratio(paste0("target (0.060, 0.245), ", clock), t, "loose", "both", "<= 12", clock)
    bench_ratio(paste0("target (0.030, 0.173), ", clock), t, "strict", "both", clock = clock)
    bench_ratio(paste0("of these, checks, row norms and the oracle, ", clock), t, "oracle", "both", clock = clock)
  }
}
for (target in list(loose, strict)) print(table(dp_ledger(fit(target))$what))

convex <- function(method, x = d$x, y = d$y) {
  dp_sosp(x, y > 0, eps = 0.6, delta = 1 / nrow(x)^2, method = method, radius = 1, noise = "reproducible",
          progress = FALSE)
}
asked_of <- function(fit, text, target = NULL) {
  asked <- table(dp_ledger(fit)$what)
  bench_say(paste0(text, ": ", paste(asked, names(asked), collapse = ", ")), sum(asked), target)
}
options(dpsosp.threads = 1)
invisible(bench_threads(1))
bench_head("The same by auto and newton, 1 thread, in passes for value and gradient")
asked_of(convex("auto"), "auto", "<= 170")
asked_of(convex("auto", d$x[1:10000, ], d$y[1:10000]), "auto, 10,000 records", "<= 80")
asked_of(convex("newton"), "newton")
t <- bench_times(5, both = .Call("bench_value_gradient", oracle, w), auto = convex("auto"), newton = convex("newton"))
for (clock in c("cpu", "wall")) {
  bench_ratio(paste0("auto, ", clock), t, "auto", "both", clock = clock)
  bench_ratio(paste0("newton, ", clock), t, "newton", "both", clock = clock)
}
