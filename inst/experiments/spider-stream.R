# Memory and time of SPIDER on a source that can be read only once: records of saddle_problem() in 20 coordinates, which
# are made chunk by chunk while they are read and never stored. Each run is a process of its own, which first fits small
# data, so that memory which R and the package need once is not counted.
#   Rscript spider-stream.R [RESULTS.csv]     some minutes; needs /proc
# peak_mb      peak memory beyond that of the process before its fit, in 2^20 bytes
# share        peak_mb over the memory of the records as a matrix of doubles
# microseconds per record, of the fit; maker: the part for making the records
# relative_*   relative to the run with the fewest records
library(dpsosp)

dimensions <- 20
chunk <- 10000
sizes <- c(5e4, 5e5, 5e6)

# Runs in the process: fits n records and returns its memory and time.
run <- function(n) {
  fit_stream(chunk)
  invisible(gc())
  before <- peak()
  times <- fit_stream(n)
  cat("measured", peak() - before, times, "\n")
}

# Seconds of the fit, and of making the records.
fit_stream <- function(n) {
  names <- paste0("x", seq_len(dimensions))
  made <- 0
  left <- n
  reader <- function() {
    if (left == 0) return(NULL)
    begin <- proc.time()[["elapsed"]]
    left <<- left - chunk
    problem <- saddle_problem(chunk, dimensions)
    data <- data.frame(structure(problem$x, dimnames = list(NULL, names)), y = problem$y)
    made <<- made + proc.time()[["elapsed"]] - begin
    data
  }
  types <- stats::setNames(rep("numeric", dimensions + 1), c(names, "y"))
  source <- dp_source(function() reader, n = n, types = types, once = TRUE)
  ranges <- stats::setNames(rep(list(c(-1, 1)), dimensions), names)
  seconds <- system.time(suppressMessages(
    dp_sosp(y ~ . - 1, source, eps = 1, delta = 1e-8, method = "spider", loss = "sigmoid", bounds = ranges, radius = 1,
            start = c(1.984, numeric(dimensions - 1)), progress = FALSE)
  ))[["elapsed"]]
  c(seconds, made)
}

# In 2^20 bytes.
peak <- function() {
  line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

measured <- function(n) {
  this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  out <- system2(file.path(R.home("bin"), "Rscript"), c(this_file, "--run", format(n, scientific = FALSE)),
                 stdout = TRUE, env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
  found <- as.numeric(strsplit(grep("^measured", out, value = TRUE), " ")[[1]][2:4])
  data.frame(n = n, peak_mb = found[1], share = found[1] / (n * (dimensions + 1) * 8 / 2^20),
             microseconds = 1e6 * found[2] / n, maker = 1e6 * found[3] / n)
}

arguments <- commandArgs(TRUE)
if (identical(arguments[1], "--run")) {
  run(as.numeric(arguments[2]))
} else {
  results <- do.call(rbind, lapply(sizes, measured))
  results$relative_memory <- results$peak_mb / results$peak_mb[1]
  results$relative_time <- results$microseconds / results$microseconds[1]
  results[-1] <- signif(results[-1], 3)
  print(results)
  if (length(arguments) > 0) write.csv(results, arguments[1], row.names = FALSE, quote = FALSE)
}
