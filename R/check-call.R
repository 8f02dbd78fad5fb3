# The call that a fit and the errors of a run show.

# A call may contain the data itself (do.call, literals) and environments (formulas). Arguments that could hold records
# are replaced by names; of other computed arguments only names and single values are kept. Arguments that were given as
# values are public settings. The errors of a run show the same call, so they quote no data either.
scrub_call <- function(call, name) {
  for (argument in intersect(names(call), c("data", "newdata", "x", "y", "weights", "offset", "budget"))) {
    given <- call[[argument]]
    # Together with a formula these are expressions of columns, which are needed to fit again.
    if (argument %in% c("weights", "offset") && "formula" %in% names(call) && is.call(given)) next
    if (!is.symbol(given) || is_dots(given)) call[[argument]] <- as.name(argument)
  }
  call[[1]] <- name
  parts <- as.list(call)
  language <- vapply(parts, is.language, NA)
  parts[language] <- lapply(parts[language], scrub)
  as.call(parts)
}

# Is it ..1, ..2, and so on? These refer to the arguments of a calling function and mean nothing outside it.
is_dots <- function(x) grepl("^[.][.][0-9]+$", as.character(x))

# Is it the empty argument of a call, as before the comma in m[, 1], or a formal argument without default?
is_empty <- function(x) identical(x, quote(expr = )) # nolint

scrub <- function(x) {
  if (is.call(x)) {
    parts <- as.list(x)
    empty <- vapply(parts, is_empty, NA)
    parts[!empty] <- lapply(parts[!empty], scrub)
    return(as.call(parts))
  }
  if (is.symbol(x)) return(x)
  if (is.atomic(x) && length(x) == 1L) as.vector(x) else quote(...)
}

# ---- progress ----

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
