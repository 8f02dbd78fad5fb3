# A function(done, total), or NULL. An error while showing progress must not end a run that was paid for, but an
# interrupt may.
progress_bar <- function(show, method) {
  if (!show) return(NULL)
  frame <- parent.frame()
  id <- NULL
  of <- 0L
  function(done, total) {
    tryCatch(error = function(e) NULL, {
      if (total != of) id <<- cli::cli_progress_bar(method, total = total, .envir = frame)
      of <<- total
      cli::cli_progress_update(set = done, id = id, .envir = frame)
    })
  }
}

# ---- threads ----

# Upper limit for the threads of the core: the option, and two under R CMD check. The core itself respects
# OMP_NUM_THREADS and OMP_THREAD_LIMIT. Called from C.
max_threads <- function(option) {
  most <- if (is.null(option)) .Machine$integer.max else check_count(option, "options(dpsosp.threads)", call = NULL)
  checked <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  if (checked %in% c("", "false")) most else min(most, 2L)
}
