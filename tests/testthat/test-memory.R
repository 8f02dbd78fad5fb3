# Peak memory of a fit at the size of Covertype, in processes of their own, as a multiple of the n x p matrix of
# doubles: without what R, the package and one small fit use, and including the data.

# Run in a process: its peak memory so far, in bytes.
measure <- c(
  "line <- function() grep('^VmHWM', readLines('/proc/self/status'), value = TRUE)",
  "peak <- function() as.numeric(gsub('[^0-9]', '', line())) * 1024"
)

peak <- function(data, fit, asked) {
  out <- child(c(
    measure,
    "quiet <- function(...) suppressMessages(dp_sosp(..., eps = 1, method = '2opt-ls',",
    "  control = control_opt(max_iterations = 10), progress = FALSE))",
    "warm <- quiet(matrix(0.5, 200, 2), rep(0:1, 100), radius = 2, loss = 'sigmoid', target = sosp(0.1, 0.05))",
    "invisible(gc())",
    "start <- peak()",
    "n <- 495141L",
    "p <- 54L",
    data, fit,
    paste0("stopifnot('", asked, "' %in% dp_ledger(fit)$what)"),
    "cat('peak', (peak() - start) / (8 * n * p), '\\n')"
  ))
  line <- grep("^peak", out, value = TRUE)
  if (length(line) != 1L) stop(paste(out, collapse = "\n"))
  as.numeric(sub("^peak ", "", line))
}

# The address sanitizer delays the release of memory, so its peak includes all earlier allocations.
skip_sanitized <- function() {
  skip_if(grepl("libasan", Sys.getenv("LD_PRELOAD")), "address sanitizer: freed memory is kept")
}

skip_without_proc <- function() {
  skip_on_cran()
  if (!file.exists("/proc/self/status")) skip("no /proc/self/status")
}

test_that("a fit to a matrix needs little more than the matrix", {
  skip_without_proc()
  peak <- peak(
    c("x <- matrix(0.5, n, p)", "y <- rep(0:1, length.out = n)"),
    "fit <- quiet(x, y, radius = 8, loss = 'sigmoid', target = sosp(0.05, 0.05))",
    "hessian"
  )
  expect_gt(peak, 1)
  expect_lt(peak, 1.3)
})

test_that("a fit of a formula needs less than its dense matrix, as factors stay codes", {
  skip_without_proc()
  skip_sanitized()
  peak <- peak(
    c(
      "d <- data.frame(y = rep(0:1, length.out = n))",
      "for (j in 1:10) d[[paste0('a', j)]] <- rep_len(c(1L, 5L, 9L, 2L, j), n)",
      "d$f <- factor(rep_len(1:4, n))",
      "d$g <- factor(rep_len(1:41, n))"
    ),
    c("fit <- quiet(y ~ ., d, start = c(2, numeric(p - 1L)), target = sosp(1e-4, 0.05))",
      "stopifnot(length(coef(fit)) == p)"),
    "line search"
  )
  expect_gt(peak, 0.2)
  expect_lt(peak, 0.7)
})

test_that("a fit to a source needs the memory of a few chunks, not of all rows", {
  skip_unless_long()
  skip_without_proc()
  skip_sanitized()
  peak <- peak(
    c(
      "rows <- as.data.frame(matrix(0.5, 10000L, p))",
      "rows$y <- rep(0:1, 5000L)",
      "source <- dp_source(n = 490000L, cache = 'none', function() {",
      "  left <- 49L",
      "  function() if (left > 0L) {",
      "    left <<- left - 1L",
      "    rows",
      "  }",
      "})"
    ),
    "fit <- quiet(y ~ ., source, bounds = lapply(rows[-(p + 1L)], function(x) c(-1, 1)), target = sosp(0.05, 0.05))",
    "gradient"
  )
  expect_lt(peak, 0.5)
})

test_that("a run that reads a source once needs no more memory for more records", {
  skip_without_proc()
  skip_sanitized()
  out <- child(c(
    measure,
    "set.seed(1)",
    "chunk <- as.data.frame(saddle_problem(5000, 5)[c('x', 'y')])",
    "types <- vapply(chunk, function(column) 'numeric', '')",
    "ranges <- lapply(chunk[-6], function(column) c(-1, 1))",
    "fit <- function(n) {",
    "  at <- 0",
    "  reader <- function() if ((at <<- at + 5000) <= n) chunk",
    "  source <- dp_source(function() reader, n = n, types = types, once = TRUE)",
    "  suppressMessages(dp_sosp(y ~ . - 1, source, eps = 1, method = 'spider', loss = 'sigmoid', bounds = ranges,",
    "                           radius = 1, progress = FALSE))",
    "  peak()",
    "}",
    "few <- fit(2e5)",
    "cat('peak', (fit(1e6) - few) / (8 * 6 * 1e6), '\\n')"
  ))
  line <- grep("^peak", out, value = TRUE)
  if (length(line) != 1L) stop(paste(out, collapse = "\n"))
  expect_lt(as.numeric(sub("^peak ", "", line)), 0.25)
})
