# Threads: identical results to the last bit, the option and its check, no deadlock in a forked child.

threads <- function(n, expr) {
  old <- options(dpsosp.threads = n)
  on.exit(options(old))
  expr
}

# Enough rows for several blocks per group; one row is null.
many_rows <- function() {
  p <- problem_matrix(70 * 1024, 3)
  p$x[5000, 2] <- NA
  p
}

test_that("answers do not depend on the number of threads", {
  p <- many_rows()
  ask <- function() {
    set.seed(1)
    oracle <- dp_oracle(p$x, p$y, "sigmoid", dp_budget(mu = 5), radius = 2, noise = "reproducible")
    w <- c(0.5, 1, -1, 2)
    list(dp_value(oracle, w, mu = 1), dp_gradient(oracle, w, mu = 1), dp_hessian(oracle, w, mu = 1),
         dp_line_search(oracle, w, -w, 2^-(0:4), mu = 1))
  }
  one <- threads(1, ask())
  expect_identical(threads(2, ask()), one)
  expect_identical(threads(NULL, ask()), one)
  fit <- function() {
    set.seed(2)
    quiet_fit(p$x, p$y, radius = 2, eps = 1, noise = "reproducible")
  }
  expect_identical(threads(2, fit())$coefficients, threads(1, fit())$coefficients)
})

test_that("the option must be a count, and a wrong one costs nothing", {
  p <- problem_matrix(50)
  budget <- dp_budget(mu = 1)
  oracle <- dp_oracle(p$x, p$y, "logistic", budget, radius = 2)
  for (wrong in list("two", 0, 1.5, NA_real_, c(1, 2), -3)) {
    expect_error(threads(wrong, dp_gradient(oracle, c(0, 0, 0), mu = 0.1)), class = "dpsosp_error_argument")
    expect_error(threads(wrong, dp_oracle(p$x, p$y, "logistic", budget, radius = 2)), class = "dpsosp_error_argument")
  }
  expect_identical(nrow(dp_ledger(budget)), 0L)
})

test_that("R CMD check has two threads at most", {
  withr::with_envvar(c("_R_CHECK_LIMIT_CORES_" = "TRUE"), {
    expect_identical(max_threads(NULL), 2L)
    expect_identical(max_threads(8), 2L)
    expect_identical(max_threads(1), 1L)
  })
  withr::with_envvar(c("_R_CHECK_LIMIT_CORES_" = "false"), expect_identical(max_threads(8), 8L))
  withr::with_envvar(c("_R_CHECK_LIMIT_CORES_" = NA), {
    expect_identical(max_threads(NULL), .Machine$integer.max)
    expect_identical(max_threads(3), 3L)
  })
})

test_that("a forked child does not wait for its parent's threads", {
  skip_on_os("windows")
  skip_if_not_installed("parallel")
  p <- many_rows()
  fit <- function() {
    set.seed(1)
    quiet_fit(p$x, p$y, radius = 2, eps = 1, noise = "reproducible")$coefficients
  }
  here <- threads(2, fit()) # the parent has threads now
  job <- threads(2, parallel::mcparallel(fit(), mc.set.seed = FALSE, silent = TRUE))
  there <- parallel::mccollect(job, wait = FALSE, timeout = 60)
  tools::pskill(job$pid)
  expect_identical(there[[1]], here)
})
