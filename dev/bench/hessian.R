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
cat("Hessian,", nrow(x), "x", ncol(x), "with one thread; BLAS:", blas, "\n")
invisible(.Call("bench_threads", 1L))
t <- bench_summary(bench_times(
  if (child) 3 else 11,
  hessian = .Call("bench_hessian", oracle, w), dsyrk = .Call("bench_dsyrk", x), crossprod = crossprod(x * weight, x),
  plain = plain()
))
milliseconds("Hessian", t[["hessian"]])
milliseconds("dsyrk", t[["dsyrk"]])
bench_say("  Hessian: share of the speed of dsyrk", t[["dsyrk"]] / t[["hessian"]], if (!child) ">= 0.60, OpenBLAS")
bench_say("  crossprod(x * weight, x) takes so many times as long", t[["crossprod"]] / t[["hessian"]],
          if (child) ">= 5, reference BLAS" else ">= 1.5, OpenBLAS")
bench_say("  the same with its weights", t[["plain"]] / t[["hessian"]])

if (!child && .Call("bench_threads", 2L) == 2) {
  two <- bench_summary(bench_times(31, hessian = .Call("bench_hessian", oracle, w)), 2)
  invisible(.Call("bench_threads", 1L))
  one <- bench_summary(bench_times(31, hessian = .Call("bench_hessian", oracle, w)), 2)
  bench_say("  two threads are so many times as fast as one", one[["hessian"]] / two[["hessian"]])
}

reference <- Sys.glob("/usr/lib/*-linux-gnu/blas")
if (!child && length(reference) == 1) {
  system2(file.path(R.home("bin"), "Rscript"), "dev/bench/hessian.R",
          env = c("BENCH_CHILD=1", paste0("LD_PRELOAD=", reference, "/libblas.so.3")))
}
