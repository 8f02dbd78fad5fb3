# What does auto cost on the full Covertype, in passes for value and gradient? Answers that take a pass each are
# counted; time is beside that of method = "newton" and of such passes, in turn.
source("dev/bench/common.R")
bench_open()
library(dpsosp)
d <- bench_data()
oracle <- .Call("bench_open", d$x, d$y, "logistic")
w <- rep(c(0.5, -0.5), length.out = ncol(d$x))
fit <- function(method) {
  dp_sosp(d$x, d$y > 0, eps = 0.6, delta = 1 / nrow(d$x)^2, method = method, radius = 1, noise = "reproducible",
          progress = FALSE)
}
set.seed(1)
options(dpsosp.threads = 1)
invisible(bench_threads(1))
bench_head("Fits of Covertype from a matrix, one thread, in passes for value and gradient")
for (method in c("auto", "newton")) {
  asked <- table(dp_ledger(fit(method))$what)
  text <- paste0(method, ": ", paste(asked, names(asked), collapse = ", "))
  bench_say(text, sum(asked), if (method == "auto") "<= 170")
}
t <- bench_times(5, both = .Call("bench_value_gradient", oracle, w), auto = fit("auto"), newton = fit("newton"))
for (clock in c("cpu", "wall")) {
  bench_ratio(paste0("auto, ", clock), t, "auto", "both", clock = clock)
  bench_ratio(paste0("newton, ", clock), t, "newton", "both", clock = clock)
}
