# Do the exact sums cost what they cost at another commit? Both are compiled and measured in turn, in one run.
#   Rscript dev/bench/against.R BASE
source("dev/bench/common.R")
base <- commandArgs(TRUE)[1]

# The routines of the tree that lies in this folder.
routines <- function(folder) {
  owd <- setwd(folder)
  on.exit(setwd(owd))
  bench_open()
  dlls <- getLoadedDLLs()
  dll <- dlls[[length(dlls)]]
  names <- c("bench_open", "bench_value", "bench_value_gradient", "bench_hessian", "bench_decreases")
  lapply(stats::setNames(nm = names), function(name) getNativeSymbolInfo(name, dll))
}

other <- file.path(tempdir(), "base")
dir.create(other)
stopifnot(system(paste("git archive", shQuote(base), "| tar -x -C", shQuote(other))) == 0)
before <- routines(other)
# The names of .Call("bench_clock") are found in the library that was loaded last.
now <- routines(".")

d <- bench_data()
w <- rep(c(0.5, -0.5), length.out = ncol(d$x))
steps <- 2^-(0:13)
old <- .Call(before$bench_open, d$x, d$y, "logistic")
new <- .Call(now$bench_open, d$x, d$y, "logistic")
stopifnot(identical(.Call(before$bench_value_gradient, old, w), .Call(now$bench_value_gradient, new, w)))
invisible(bench_threads(1))
bench_head("New over ", base, ", ", nrow(d$x), " x ", ncol(d$x), ", one thread")
t <- bench_times(101, old = .Call(before$bench_value_gradient, old, w), new = .Call(now$bench_value_gradient, new, w))
bench_ratio("value and gradient", t, "new", "old", "<= 1.02")
t <- bench_times(31, old = .Call(before$bench_decreases, old, w, w, steps),
                 new = .Call(now$bench_decreases, new, w, w, steps))
bench_ratio("line search", t, "new", "old", "<= 1.02")
t <- bench_times(31, old = .Call(before$bench_hessian, old, w), new = .Call(now$bench_hessian, new, w))
bench_ratio("Hessian", t, "new", "old", "<= 1.02")
