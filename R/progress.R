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
