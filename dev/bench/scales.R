# What would it cost to see in every pass that no row has left the ball? A trace's pass takes the norms of the rows
# anew, tile by tile, and is else that of a value: the difference is what such a check would add.
source("dev/bench/common.R")
bench_open()
d <- bench_data()
w <- rep(c(0.5, -0.5), length.out = ncol(d$x))
oracle <- .Call("bench_open", d$x, d$y, "logistic")
invisible(bench_threads(1))
t <- bench_times(31, read = .Call("bench_read", d$x), value = .Call("bench_value", oracle, w),
                 both = .Call("bench_value_gradient", oracle, w), trace = .Call("bench_trace", oracle, w))
for (name in colnames(t$cpu)) bench_milliseconds(t, name)
t <- lapply(t, function(x) cbind(x, checked = x[, "both"] + x[, "trace"] - x[, "value"]))
bench_ratio("value and gradient: share of the read bandwidth", t, "read", "both")
bench_ratio("the same with norms taken anew", t, "read", "checked")
bench_ratio("value and gradient with norms taken anew, over without", t, "checked", "both")
