# How many threads the core may take, at most: the option, and two under R CMD check. What OMP_NUM_THREADS and
# OMP_THREAD_LIMIT say is the core's. Called from C.
most_threads <- function(option) {
  most <- if (is.null(option)) .Machine$integer.max else check_count(option, "options(dpsosp.threads)", call = NULL)
  checked <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  if (checked %in% c("", "false")) most else min(most, 2L)
}
