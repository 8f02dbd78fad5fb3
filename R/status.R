# Refuses to load the package if the arithmetic of this build or process does not follow IEEE 754. fault: a description
# of the problem, or NULL.
check_arithmetic <- function(fault) {
  if (is.null(fault)) return(invisible())
  abort("arithmetic", "dpsosp needs IEEE 754 arithmetic, which its guarantees rest on; here ", fault, ". It was ",
        "compiled with flags such as -ffast-math (see ~/.R/Makevars), or a library that was loaded before it changed ",
        "how the processor computes.", call = NULL)
}

# Turns statuses of the core into classed conditions. Called from C, with a list of the name of a status and a message.

# The names are those of src/base/base.c.
status_advice <- c(
  memory = "",
  interrupt = "",
  entropy = " The operating system's generator could not be read; nothing was released.",
  argument = " Coefficients or steps are too large, or the cost is too small, for noise to be drawn.",
  budget = " Less is left than this release costs; nothing was released. See `dp_ledger()` for what was spent.",
  fork = " Create and use a budget in one process.",
  accountant = paste0(
    " This budget counts Gaussian releases only, by its unit or by what was charged to it first; sparse vector and",
    " exponential mechanism need `dp_budget(rho = )`, or `accountant = \"zcdp\"` from the start; batches a `plan`."
  ),
  numeric = "",
  source = "",
  rows = " The number of rows is public and fixed; nothing was released, and what was charged stays charged.",
  relation = " One budget holds under one relation, that of its first charge; nothing was released or charged.",
  step = "",
  records = ""
)

raise_status <- function(status) {
  what <- status$name
  says <- sentence(status$message)
  if (what == "interrupt") raise_interrupt()
  if (what == "source") raise_source(says)
  if (what == "rows") abort("source", says, status_advice[[what]], call = NULL)
  abort(what, says, status_advice[[what]], call = NULL,
        class = if (what == "budget") "dpsosp_budget_exhausted" else character())
}

raise_interrupt <- function() {
  condition <- structure(class = c("interrupt", "condition"), list(message = "", call = NULL))
  signalCondition(condition)
  invokeRestart("abort")
}

# The last failure of a feed, which raise_status() reports.
stream_failure <- new.env(parent = emptyenv())

note_failure <- function(message) stream_failure$condition <- message

# Called by raise_status(): reports the failure once.
raise_source <- function(default) {
  message <- stream_failure$condition %||% default
  stream_failure$condition <- NULL
  abort("source", message, call = NULL)
}

# For objects of our classes whose pointer was replaced by something else.
raise_foreign <- function(kind) {
  abort("argument", "This is no ", kind, " that `dp_", kind, "()` made.", call = NULL)
}

raise_restored <- function(kind) {
  abort("restored", "This ", kind, " was restored from a file or another session; it cannot be used again. ",
        "A privacy budget lives in one R session: create it anew and account for what was spent.", call = NULL)
}

sentence <- function(x) paste0(toupper(substr(x, 1, 1)), substring(x, 2), ".")
