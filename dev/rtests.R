# Runs the package's tests with the installed package, outside R CMD check, so that the tests on shared data run too.
#   Rscript dev/rtests.R LIBRARY [FILTER [first]]
# Ends with "N passed, N failed", counted in expectations; with "first", at the first that fails.

args <- commandArgs(TRUE)
.libPaths(c(normalizePath(args[1]), .libPaths()))
filter <- if (length(args) > 1) args[2]
if (Sys.getenv("NOT_CRAN") == "") Sys.setenv(NOT_CRAN = "true")
if (Sys.getenv("DPSOSP_SHARED") == "" && dir.exists("../shared")) {
  Sys.setenv(DPSOSP_SHARED = normalizePath("../shared"))
}

# Tests run in a copy, as a test that writes (a snapshot, for example) must not change the sources.
folder <- file.path(tempfile("tests"), "testthat")
dir.create(dirname(folder))
file.copy("tests/testthat", dirname(folder), recursive = TRUE)

library(testthat)
library(dpsosp)
# Ends the process with the first expectation that fails.
first_failure <- R6::R6Class(
  inherit = CheckReporter,
  public = list(add_result = function(context, test, result) {
    if (!inherits(result, c("expectation_failure", "expectation_error"))) return()
    cat("── Failure (", test, ") ──\n", conditionMessage(result), "\n", sep = "")
    quit(status = 1)
  })
)
results <- test_dir(
  folder, filter = filter, package = "dpsosp", load_package = "installed",
  reporter = if ("first" %in% args[-(1:2)]) first_failure$new() else check_reporter(), stop_on_failure = FALSE
)

expectations <- unlist(lapply(results, `[[`, "results"), recursive = FALSE)
is_kind <- function(kind) vapply(expectations, inherits, NA, paste0("expectation_", kind))
for (skip in expectations[is_kind("skip")]) cat("skipped: ", conditionMessage(skip), "\n", sep = "")
seconds <- with(as.data.frame(results), sort(tapply(user + system, file, sum), decreasing = TRUE))
slowest <- head(seconds, 40)
cat("slowest of ", round(sum(seconds)), " s: ", sep = "")
cat(paste(names(slowest), round(slowest, 1), collapse = ", "), "\n", sep = "")
failed <- sum(is_kind("failure") | is_kind("error"))
passed <- sum(is_kind("success"))
cat(passed, " passed, ", failed, " failed\n", sep = "")
quit(status = if (failed > 0 || passed == 0) 1 else 0)
