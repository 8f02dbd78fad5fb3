# Counts the lines that tests reach; run by dev/coverage.sh.
#   Rscript dev/coverage.R FOLDER [FILTER of R test files]
arguments <- commandArgs(TRUE)
work <- arguments[1]
filter <- arguments[-1]
goal <- 0.95

# R CMD BATCH runs this text in the instrumented package; quit() would hide the counts of a run with a failed test.
run <- sprintf(
  'setwd("%s"); commandArgs <- function(...) c("%s", %s); quit <- function(...) NULL; source("dev/rtests.R")',
  getwd(), file.path(work, "lib"), if (length(filter) > 0) deparse(filter) else "NULL"
)
options(covr.flags = c(CFLAGS = "-O1 -g --coverage -fprofile-update=atomic", LDFLAGS = "--coverage"))
reached <- covr::package_coverage(
  file.path(work, "source", "dpsosp"), type = "none", code = run, install_path = file.path(work, "lib"),
  clean = FALSE, quiet = FALSE
)
saveRDS(reached, file.path(work, "reached.rds"))
