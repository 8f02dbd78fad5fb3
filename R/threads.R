# Upper limit for the threads of the core: the option, and two under R CMD check. The core itself respects
# OMP_NUM_THREADS and OMP_THREAD_LIMIT. Called from C.
most_threads <- function(option) {
  most <- if (is.null(option)) .Machine$integer.max else check_count(option, "options(dpsosp.threads)", call = NULL)
  checked <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  if (checked %in% c("", "false")) most else min(most, 2L)
}
