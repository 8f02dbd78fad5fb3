# What does a Hessian cost in one pass, against dsyrk without weights, and crossprod(x * weight, x) of R, with OpenBLAS
# and with the reference BLAS? All with one thread; a child process has the other BLAS.
source("dev/bench/common.R")
bench_open()
d <- bench_data()
x <- d$x / pmax(1, sqrt(rowSums(d$x^2)))
w <- rep(c(0.5, -0.5), length.out = ncol(x))
plain <- function() {
  s <- stats::plogis(as.vector(x %*% w))
  crossprod(x * (s * (1 - s)), x) / nrow(x)
}
weight <- rep(0.2, nrow(x))
oracle <- .Call("bench_open", x, d$y, "logistic")
stopifnot(all.equal(.Call("bench_hessian", oracle, w), plain(), tolerance = 1e-10))

child <- nzchar(Sys.getenv("BENCH_CHILD"))
blas <- basename(dirname(extSoftVersion()[["BLAS"]]))
invisible(bench_threads(1))
bench_head("Hessian, ", nrow(x), " x ", ncol(x), ", one thread; BLAS: ", blas)
t <- bench_times(if (child) 3 else 11, hessian = .Call("bench_hessian", oracle, w), dsyrk = .Call("bench_dsyrk", x),
                 crossprod = crossprod(x * weight, x), plain = plain())
for (name in c("hessian", "dsyrk")) bench_milliseconds(t, name)
bench_ratio("Hessian: share of the speed of dsyrk", t, "dsyrk", "hessian", if (!child) ">= 0.60")
bench_ratio("crossprod(x * weight, x) takes so many times as long", t, "crossprod", "hessian",
            if (child) ">= 5" else ">= 1.5")
bench_ratio("the same with its weights", t, "plain", "hessian")

if (!child && bench_threads(2)) {
  t <- bench_times(31, one = {
    bench_threads(1)
    .Call("bench_hessian", oracle, w)
  }, two = {
    bench_threads(2)
    .Call("bench_hessian", oracle, w)
  })
  bench_ratio("one thread takes so many times as long as two (wall)", t, "one", "two", clock = "wall")
}

reference <- Sys.glob("/usr/lib/*-linux-gnu/blas")
if (!child && length(reference) == 1) {
  system2(file.path(R.home("bin"), "Rscript"), "dev/bench/hessian.R",
          env = c("BENCH_CHILD=1", paste0("LD_PRELOAD=", reference, "/libblas.so.3")))
}
