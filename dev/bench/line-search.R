# What does a line search over 14 candidates cost, in passes for one value?
source("dev/bench/common.R")
bench_open()
d <- bench_data()
oracle <- .Call("bench_open", d$x, d$y, "logistic")
w <- rep(c(0.5, -0.5), length.out = ncol(d$x))
steps <- 2^-(0:13)

for (loss in c("logistic", "sigmoid")) {
  oracle <- .Call("bench_open", d$x, d$y, loss)
  for (threads in 1:2) {
    if (.Call("bench_threads", threads) < threads) next
    t <- bench_summary(bench_times(
      if (threads == 1) 21 else 61,
      value = .Call("bench_value", oracle, w), both = .Call("bench_value_gradient", oracle, w),
      search = .Call("bench_decreases", oracle, w, -w, steps)
    ), threads)
    cat("Line search over 14 candidates,", loss, "loss,", threads, "thread(s)\n")
    milliseconds("line search", t[["search"]])
    bench_say("  in passes for a value", t[["search"]] / t[["value"]], "<= 1.6")
    bench_say("  in passes for value and gradient", t[["search"]] / t[["both"]])
  }
}
