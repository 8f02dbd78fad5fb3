# Shared by the benchmarks of the kernels. Each prints ratios of times that were measured in turn, in one run: of
# medians, and of the least times in brackets. Times are processor time of all threads, so that others at work on the
# machine do less harm; run them with OMP_WAIT_POLICY=passive (as make bench does), or waiting threads count as working.

# The exact sums of the core, callable from R, compiled as R compiles the package.
bench_open <- function() {
  folder <- "build/bench"
  dir.create(folder, FALSE, TRUE)
  object <- file.path(folder, "bench.so")
  config <- function(what) trimws(system2("R", c("CMD", "config", what), stdout = TRUE))
  compiler <- strsplit(config("CC"), " +")[[1]] # it may be a command with arguments, such as ccache gcc
  # Debian keeps R's reference BLAS and OpenBLAS behind one name, so the library path chooses
  status <- system2(compiler[1], c(
    compiler[-1], "-std=gnu99", config("CFLAGS"), "-fvisibility=hidden", "-fopenmp -fPIC -shared",
    "-DUSE_FC_LEN_T -DSTRICT_R_HEADERS -Isrc", config("--cppflags"), Sys.glob("src/*/*.c"),
    "dev/bench/bench.c dev/bench/networks.c", "-o", object,
    config("BLAS_LIBS"), config("LAPACK_LIBS"), config("--ldflags")
  ))
  if (status != 0) stop("the benchmarks do not compile")
  dyn.load(object)
}

# Covertype, classes 1 and 2, where DPSOSP_SHARED has it; else numbers of the same shape.
bench_data <- function() {
  folder <- file.path(Sys.getenv("DPSOSP_SHARED", "shared"), "data")
  if (file.exists(file.path(folder, "covertype.rds"))) {
    source("inst/experiments/common.R", local = TRUE)
    return(covertype_matrix(folder))
  }
  set.seed(1)
  list(x = matrix(rnorm(495141 * 54) / 8, 495141), y = rep(c(-1, 1), length.out = 495141))
}

# Times of expressions, taken in turn: a matrix, one row a repetition, for each clock.
bench_times <- function(repetitions, ...) {
  calls <- as.list(substitute(list(...)))[-1]
  frame <- parent.frame()
  times <- lapply(c(wall = 1, cpu = 2), function(i) {
    matrix(NA_real_, repetitions, length(calls), dimnames = list(NULL, names(calls)))
  })
  for (r in seq_len(repetitions)) {
    for (name in names(calls)) {
      start <- .Call("bench_clock")
      eval(calls[[name]], frame)
      used <- .Call("bench_clock") - start
      times$wall[r, name] <- used[1]
      times$cpu[r, name] <- used[2]
    }
  }
  times
}

bench_say <- function(what, text, target = NULL) {
  cat(sprintf("  %-56s %16s%s\n", what, text, if (is.null(target)) "" else paste0("   target ", target)))
}

bench_milliseconds <- function(times, name) {
  cpu <- times$cpu[, name] * 1000
  bench_say(paste0(name, ", ms"), sprintf("%.1f (%.1f)", stats::median(cpu), min(cpu)))
}

# Time of one over time of the other, by the processor's clock and on request by the wall's.
bench_ratio <- function(what, times, over, under, target = NULL, clock = "cpu") {
  ratio <- function(f) f(times[[clock]][, over]) / f(times[[clock]][, under])
  bench_say(what, sprintf("%.2f (%.2f)", ratio(stats::median), ratio(min)), target)
}

bench_head <- function(...) {
  cat(..., "; load ", sub(" .*", "", readLines("/proc/loadavg")), "\n", sep = "")
}

bench_threads <- function(threads) .Call("bench_threads", as.integer(threads)) == threads
