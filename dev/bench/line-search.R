# What does a line search over 14 candidates cost, in passes for one value?
source("dev/bench/common.R")
bench_open()
d <- bench_data()
w <- rep(c(0.5, -0.5), length.out = ncol(d$x))
steps <- 2^-(0:13)

for (loss in c("logistic", "sigmoid")) {
  oracle <- .Call("bench_open", d$x, d$y, loss)
  for (threads in 1:2) {
    if (!bench_threads(threads)) next
    bench_head("Line search over 14 candidates, ", loss, " loss, ", threads, " thread(s)")
    t <- bench_times(51, value = .Call("bench_value", oracle, w), both = .Call("bench_value_gradient", oracle, w),
                     search = .Call("bench_decreases", oracle, w, -w, steps))
    bench_milliseconds(t, "search")
    bench_ratio("in passes for a value", t, "search", "value", "<= 1.6")
    bench_ratio("in passes for value and gradient", t, "search", "both")
  }
}
