# What does a source cost: time of a pass against plain reading, and memory as the rows grow tenfold and a hundredfold?
#   Rscript dev/bench/source.R [ROWS]       20 columns; 2e6 rows by default, 5e7 need 8 GB of disk
# Raw doubles in files of 100,000 rows, written to a temporary folder: no reader of a format is in the way.
library(dpsosp)

chunk <- 1e5
p <- 20
args <- commandArgs(TRUE)
most <- if (length(args) > 0) as.numeric(args[1]) else 2e6

# In one process for each number of rows, whose peak is then its own.
measure <- function(n, folder) {
  files <- file.path(folder, seq_len(n / chunk))
  names <- c(paste0("x", seq_len(p)), "y")
  read <- function(file) {
    con <- file(file, "rb")
    on.exit(close(con))
    data <- lapply(names, function(name) readBin(con, "double", chunk))
    list2DF(stats::setNames(data, names))
  }
  source <- dp_source(n = n, cache = "none", function() {
    at <- 0
    function() {
      at <<- at + 1
      if (at <= length(files)) read(files[at])
    }
  })
  bounds <- stats::setNames(rep(list(c(-1, 1)), p), names[-21])
  # Wall clock, and processor time of all threads.
  seconds <- function(code) {
    time <- system.time(code)
    sprintf("%.1f s (%.1f)", time[["elapsed"]], time[["user.self"]] + time[["sys.self"]])
  }
  plain <- seconds(for (file in files) read(file))
  oracle <- dp_oracle(source, "y", "logistic", dp_budget(mu = 1), sqrt(p + 1))
  gradient <- seconds(dp_gradient(oracle, numeric(p + 1), mu = 0.1))
  hessian <- seconds(dp_hessian(oracle, numeric(p + 1), mu = 0.1))
  whole <- seconds({
    fit <- suppressMessages(dp_sosp(y ~ ., source, eps = 1, bounds = bounds, target = sosp(alpha = 0.05)))
  })
  passes <- sum(dp_ledger(fit)$what != "unused")
  peak <- as.numeric(gsub("[^0-9]", "", grep("^VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
  cat(sprintf("%10.0f rows, %.2f GB: reading %s, gradient %s, Hessian %s, fit of %d question(s) %s; peak %.0f MiB\n", n,
              8e-9 * n * (p + 1), plain, gradient, hessian, passes, whole, peak))
}

write_files <- function(n, folder) {
  set.seed(1)
  w <- rep(c(1, -1), p / 2)
  for (k in seq_len(n / chunk)) {
    x <- matrix(runif(chunk * p, -1, 1), chunk)
    y <- drop(x %*% w) + rlogis(chunk) > 0
    writeBin(c(x, y), file.path(folder, k))
  }
}

if (length(args) == 3) {
  measure(most, args[2])
} else {
  folder <- tempfile(tmpdir = Sys.getenv("TMPDIR", "/tmp"))
  dir.create(folder)
  write_files(most, folder)
  for (n in unique(pmax(most / c(100, 10, 1), chunk))) {
    child <- c("dev/bench/source.R", format(n, scientific = FALSE), folder, "child")
    cat(system2(file.path(R.home("bin"), "Rscript"), child, stdout = TRUE), sep = "\n")
  }
  unlink(folder, recursive = TRUE)
}
