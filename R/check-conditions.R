# Conditions: every error of the package has the class dpsosp_error_<what>. It names the argument, what was given and
# what to do. Warnings and messages have corresponding classes. None quotes a data value.

abort <- function(what, ..., call = sys.call(-1), class = character()) {
  message <- paste0(...)
  stop(structure(
    class = c(class, paste0("dpsosp_error_", what), "dpsosp_error", "error", "condition"),
    list(message = message, call = call)
  ))
}

# Warnings and messages of readers and databases may quote data, or show by being there that a value is.
muted <- function(code) suppressMessages(suppressWarnings(code))

inform <- function(what, ...) {
  message(structure(
    class = c(paste0("dpsosp_message_", what), "dpsosp_message", "message", "condition"),
    list(message = paste0(..., "\n"), call = NULL)
  ))
}

warn <- function(what, ..., call = sys.call(-1)) {
  warning(structure(
    class = c(paste0("dpsosp_warning_", what), "dpsosp_warning", "warning", "condition"),
    list(message = paste0(...), call = call)
  ))
}

# ---- arguments that must be given ----

# Exported functions call this first: an argument without a default must be given.
require_given <- function() {
  frame <- parent.frame()
  arguments <- formals(sys.function(-1L))
  for (name in setdiff(names(arguments)[are_empty(arguments)], "...")) {
    if (!eval(call("missing", as.name(name)), frame)) next
    abort("argument", "`", name, "` is missing: give ", what_to_give[[name]], ".", call = sys.call(-1L))
  }
}

what_to_give <- c(
  d = "the number of coefficients", data = "the data", delta = "a number between 0 and 1, such as 1 / n^2",
  direction = "one number per coefficient",
  eps = "a privacy parameter, such as 1", eps_g = "a positive number, the gradient's target",
  eps_h = "a positive number, the smallest eigenvalue's target", event = "an event, such as `event_gaussian(10)`",
  fit = "a fit from `dp_sosp()`",
  family = "a function that gives an event", formula = "a formula, such as `y ~ x`",
  gap = "a positive number, the initial gap",
  gradient = "one number per coefficient", hessian = "a symmetric matrix", iterations = "a whole number",
  k = "a whole number", lambda = "a number of at least 0", leaves = "a whole number",
  mean = "public means, one per column", n = "the number of records",
  oracle = "an oracle from `dp_oracle()`", order = "numbers above 1", p = "what `dp_account()` gives",
  query = "a positive number, the noise of a query", radius = "a positive number, the bound on the norm of rows",
  range = "a positive number", rate = "a number between 0 and 1", scale = "a positive number",
  sd = "public standard deviations, one per column", sigma = "a positive number",
  steps = "positive numbers", threshold = "a positive number, the noise of the threshold", times = "a whole number",
  w = "one number per coefficient", x = "the object to work on"
)

# ---- statuses of the core ----

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
  rows = " Each pass must give the same rows; nothing was released, and what was charged stays charged.",
  relation = " One budget holds under one relation, that of its first charge; nothing was released or charged.",
  step = "",
  records = "",
  file = paste0(
    " It needs room for all mapped rows on the disk of `tempdir()`, a folder that the environment variable TMPDIR",
    " chooses when R starts. What was charged stays charged."
  )
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

# For an oracle of a source, whose rows are freed with the fit that made it.
raise_closed <- function(kind) {
  abort("closed", "This ", kind, " belonged to a fit that has ended, and its rows were freed.", call = NULL)
}

sentence <- function(x) paste0(toupper(substr(x, 1, 1)), substring(x, 2), ".")

`%||%` <- function(x, y) if (is.null(x)) y else x

# Raises dpsosp_error_absent whatever the arguments are.
absent <- function(why, call = sys.call(-1)) abort("argument", why, call = call, class = "dpsosp_error_absent")

# ---- the call that a fit and the errors of a run show ----

# A call may contain the data itself (do.call, literals) and environments (formulas). Arguments that could hold records
# are replaced by names; of other computed arguments only names and single values are kept. Arguments that were given as
# values are public settings, but for data in the place of another argument. The errors of a run show the same call, so
# they quote no data either.
scrub_call <- function(call, name) {
  for (argument in intersect(names(call), scrubbed_arguments)) {
    given <- call[[argument]]
    # Together with a formula these are expressions of columns, which are needed to fit again.
    if (argument %in% c("weights", "offset", "subset") && "formula" %in% names(call) && is.call(given)) next
    if (argument == "id" && "formula" %in% names(call)) next
    if (!is.symbol(given) || is_dots(given)) call[[argument]] <- as.name(argument)
  }
  call[[1]] <- name
  as.call(lapply(as.list(call), function(x) {
    if (is.symbol(x) || is.atomic(x)) return(x)
    if (is.language(x)) scrub(x) else if (holds_records(x)) quote(...) else x
  }))
}

scrubbed_arguments <- c("data", "newdata", "x", "y", "weights", "offset", "subset", "id", "budget", "fit")

# Is the value of an argument a data frame or a source, whose place is elsewhere, or a list with one?
holds_records <- function(x) {
  is.data.frame(x) || inherits(x, "dp_source") || (is.list(x) && any(vapply(unclass(x), holds_records, NA)))
}

# Is it ..1, ..2, and so on? These refer to the arguments of a calling function and mean nothing outside it.
is_dots <- function(x) grepl("^[.][.][0-9]+$", as.character(x))

# Which are empty arguments of a call, as before the comma in m[, 1], or formal arguments without default?
are_empty <- function(parts) vapply(parts, identical, NA, quote(expr = )) # nolint

scrub <- function(x) {
  if (is.atomic(x) && length(x) == 1L) return(as.vector(x))
  if (!is.call(x) && !is.pairlist(x)) return(quote(...))
  parts <- as.list(x)
  # Behind the arguments and the body of a function there may be its source text.
  if (is.call(x) && identical(x[[1]], quote(`function`))) parts <- parts[1:3]
  deep <- !vapply(parts, is.symbol, NA)
  parts[deep] <- lapply(parts[deep], scrub)
  if (is.call(x)) as.call(parts) else as.pairlist(parts)
}
