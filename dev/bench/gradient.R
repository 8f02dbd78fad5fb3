# What does value and gradient in one pass cost, against reading the matrix, idiomatic R, and NumPy?
source("dev/bench/common.R")
bench_open()
d <- bench_data()
x <- d$x / pmax(1, sqrt(rowSums(d$x^2))) # clipped, as plain R is given it
w <- rep(c(0.5, -0.5), length.out = ncol(x))
y <- d$y
plain <- function() {
  margin <- y * as.vector(x %*% w)
  c(mean(log1p(exp(-abs(margin))) + pmax(-margin, 0)), crossprod(x, -y * stats::plogis(-margin)) / nrow(x))
}
oracle <- .Call("bench_open", x, y, "logistic")
stopifnot(all.equal(.Call("bench_value_gradient", oracle, w), plain(), tolerance = 1e-10))

for (threads in 1:2) {
  if (!bench_threads(threads)) next
  bench_head("Value and gradient, ", nrow(x), " x ", ncol(x), ", ", threads, " thread(s)")
  t <- bench_times(101, read = .Call("bench_read", x), value = .Call("bench_value", oracle, w),
                   both = .Call("bench_value_gradient", oracle, w))
  for (name in c("read", "value", "both")) bench_milliseconds(t, name)
  bench_ratio("value and gradient: share of the read bandwidth", t, "read", "both", ">= 0.70")
  bench_ratio("value alone: share of the read bandwidth", t, "read", "value")
  if (threads > 1) bench_ratio("value and gradient: share by the wall's clock", t, "read", "both", clock = "wall")
}

invisible(bench_threads(1))
t <- bench_times(9, both = .Call("bench_value_gradient", oracle, w), plain = plain())
bench_ratio("idiomatic R takes so many times as long, one thread", t, "plain", "both", ">= 5")

numpy <- "import numpy, sys, time
n, p, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
x = numpy.fromfile(path).reshape((p, n)).T
y = numpy.where(numpy.arange(n) % 2 == 0, 1.0, -1.0)
w = numpy.where(numpy.arange(p) % 2 == 0, 0.5, -0.5)
def both():
    margin = y * (x @ w)
    e = numpy.exp(-numpy.abs(margin))
    value = (numpy.log1p(e) + numpy.maximum(-margin, 0)).mean()
    slope = -y * numpy.where(margin < 0, 1, e) / (1 + e)
    return value, x.T @ slope / n
times = []
for i in range(15):
    start = time.process_time(); both(); times.append(time.process_time() - start)
print(sorted(times)[7])
"
python <- Sys.which("/usr/bin/python3")
if (nzchar(python) && system2(python, c("-c", shQuote("import numpy")), stderr = FALSE) == 0) {
  path <- tempfile()
  writeBin(as.vector(x), path)
  ask <- function() {
    out <- system2(python, c("-c", shQuote(numpy), nrow(x), ncol(x), path), stdout = TRUE,
                   env = "OPENBLAS_NUM_THREADS=1")
    as.numeric(out)
  }
  ours <- function() stats::median(bench_times(15, both = .Call("bench_value_gradient", oracle, w))$cpu)
  ratios <- replicate(5, ask() / ours())
  bench_say("NumPy with BLAS takes so many times as long, one thread", sprintf("%.2f", stats::median(ratios)), ">= 2")
}
