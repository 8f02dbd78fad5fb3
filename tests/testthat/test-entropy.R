# The source of the noise, and the messages about it.

# A shared object whose getrandom() always fails, loaded before the C library.
broken_getrandom <- function() {
  folder <- withr::local_tempdir(.local_envir = parent.frame())
  source <- file.path(folder, "broken.c")
  object <- file.path(folder, "broken.so")
  writeLines(c(
    "#include <errno.h>", "#include <sys/types.h>",
    "ssize_t getrandom(void *p, size_t n, unsigned flags) { errno = EIO; return -1; }"
  ), source)
  made <- system2("gcc", c("-shared", "-fPIC", "-o", object, source), stdout = TRUE, stderr = TRUE)
  if (!file.exists(object)) skip("no compiler")
  object
}

test_that("without the system's generator nothing is released, and nothing refunded", {
  skip_on_cran()
  skip_on_os(c("windows", "mac", "solaris"))
  preload <- paste(c(Sys.getenv("LD_PRELOAD"), broken_getrandom()), collapse = " ")
  out <- child(env = paste0("LD_PRELOAD=", shQuote(trimws(preload))), c(
    "set.seed(1)",
    "x <- matrix(runif(200, -1, 1), 100)",
    "y <- rep(0:1, 50)",
    "kind <- function(expr) class(tryCatch(expr, error = function(e) e))[1]",
    "budget <- dp_budget(rho = 1)",
    "oracle <- dp_oracle(x, y, 'logistic', budget, 2)",
    "w <- c(1, 0, 0)",
    "cat(kind(dp_gradient(oracle, w, rho = 0.1)), '\\n')",
    "cat(kind(dp_value(oracle, w, rho = 0.1)), '\\n')",
    "cat(kind(dp_hessian(oracle, w, rho = 0.1)), '\\n')",
    "for (m in c('gaussian', 'svt', 'exponential'))",
    "  cat(kind(dp_line_search(oracle, w, w, 2:1, rho = 0.1, mechanism = m)), '\\n')",
    "cat(nrow(dp_ledger(budget)), 'charged\\n')",
    "fit <- function(...) dp_sosp(x, y > 0, eps = 1, delta = 1e-6, radius = 2, ...)",
    "cat(kind(fit()), '\\n')",
    "cat(kind(dp_sosp(y ~ a, data.frame(a = x[, 1], y = y > 0), eps = 1, delta = 1e-6)), '\\n')",
    "cat(kind(fit(noise = 'reproducible')), '\\n')"
  ))
  expect_equal(trimws(grep("^(dp|[0-9]+ charged)", out, value = TRUE)), c(
    rep("dpsosp_error_entropy", 6), "6 charged", rep("dpsosp_error_entropy", 2), "dp_sosp"
  ))
})

test_that("secure noise differs in every forked process", {
  skip_on_os("windows")
  p <- problem_matrix(50)
  set.seed(1)
  draw <- function(i) dp_gradient(dp_oracle(p$x, p$y, "logistic", dp_budget(mu = 1), 2), c(0, 0, 0), mu = 0.1)
  drawn <- c(parallel::mclapply(1:6, draw, mc.cores = 2, mc.set.seed = FALSE), list(draw()))
  expect_true(all(lengths(drawn) == 3))
  expect_false(anyDuplicated(drawn) > 0)
})

test_that("reproducible noise is marked in the object and wherever it is printed", {
  p <- problem_matrix(50)
  mark <- "FOR STUDY, NOT FOR RELEASE"
  for (noise in c("secure", "reproducible")) {
    fit <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, noise = noise)
    oracle <- dp_oracle(p$x, p$y, "logistic", dp_budget(mu = 1), 2, noise = noise)
    expect_identical(fit$privacy$noise, noise)
    expect_identical(oracle$noise, noise)
    for (object in list(fit, summary(fit), oracle)) {
      expect_equal(sum(grepl(mark, capture.output(print(object)), fixed = TRUE)), as.integer(noise == "reproducible"))
    }
  }
})
