# How do time and memory grow with the rows, and the Hessian's time with the columns? Synthetic rows.
source("dev/bench/common.R")
bench_open()
library(dpsosp)
options(dpsosp.threads = 1)

# Slope of log(y) against log(x) over the upper part of the range, where constant costs no longer count.
slope <- function(x, y) {
  large <- x >= stats::median(x)
  unname(stats::coef(stats::lm(log(y[large]) ~ log(x[large])))[2])
}

rows_of <- function(kind, n) {
  set.seed(1)
  switch(kind,
    dense = matrix(runif(10 * n, -1, 1), n),
    single = dpsosp:::matrix_rows(matrix(runif(10 * n, -1, 1), n), "single", "x")$core,
    codes = dpsosp:::columns_rows(matrix(runif(2 * n, -1, 1), n), matrix(sample(0:20, 2 * n, TRUE), n), c(20L, 20L)),
    sparse = structure(class = "dpsosp_compressed", list( # five entries a row, each in a tenth of the columns
      start = (0:50) * (n %/% 10L), row = as.vector(replicate(50, seq_len(n %/% 10L) * 10L - sample(10L, 1))),
      value = runif(50 * (n %/% 10L)), dim = c(n, 50L)
    ))
  )
}

resident <- function() {
  line <- grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) * 1024
}

sizes <- c(1e4L, 3e4L, 1e5L, 3e5L, 1e6L, 2e6L, 5e6L)
for (kind in c("dense", "single", "codes", "sparse")) {
  bench_head("Growth with the rows: ", kind)
  seconds <- held <- added <- numeric()
  for (n in sizes) {
    rows <- rows_of(kind, n)
    y <- rep_len(c(1, -1), n)
    invisible(gc())
    before <- resident()
    o <- dpsosp:::new_oracle(list(rows = rows, y = y), loss_logistic(), dp_budget(mu = 1e6), 2, TRUE, "replace-one",
                             "secure")
    added[length(added) + 1] <- resident() - before
    held[length(held) + 1] <- as.numeric(object.size(rows))
    w <- rep_len(c(0.5, -0.5), dpsosp:::oracle_facts(o)$dim)
    dp_gradient(o, w, mu = 1)
    t <- bench_times(7, gradient = dp_gradient(o, w, mu = 1))
    seconds[length(seconds) + 1] <- median(t$cpu)
    bench_say(sprintf("%d rows: gradient ms; rows and core's own MB", n),
              sprintf("%.2f; %.0f + %.0f", 1000 * median(t$cpu), utils::tail(held, 1) / 1e6,
                      max(utils::tail(added, 1), 0) / 1e6))
    rm(o, rows, y)
    invisible(gc())
  }
  bench_say("exponent of the time from 3e5 rows on", sprintf("%.2f", slope(sizes, seconds)), "1")
  bench_say("exponent of the memory from 3e5 rows on", sprintf("%.2f", slope(sizes, held + pmax(added, 0))), "1")
}

bench_head("Growth of the Hessian with the columns, 4096 dense rows")
widths <- c(125, 250, 500, 1000, 2000)
seconds <- vapply(widths, function(d) {
  x <- matrix(runif(4096 * d, -1, 1) / sqrt(d), 4096)
  o <- .Call("bench_open", x, rep_len(c(1, -1), 4096), "logistic")
  w <- rep_len(c(0.5, -0.5), d)
  t <- bench_times(3, hessian = .Call("bench_hessian", o, w))
  bench_say(paste(d, "columns: ms"), sprintf("%.1f (%.1f)", 1000 * median(t$cpu), 1000 * min(t$cpu)))
  min(t$cpu)
}, 0)
bench_say("exponent of the time from 500 columns on", sprintf("%.2f", slope(widths, seconds)), "2")
