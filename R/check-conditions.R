# Conditions: every error of the package has the class dpsosp_error_<what>. It names the argument, what was given and
# what to do. Warnings and messages have corresponding classes. None quotes a data value: no element of a vector stands
# in a text, and no vector in a call, whichever call it is (plain_call()).

abort <- function(what, ..., call = sys.call(-1), class = character()) {
  message <- paste0(...)
  stop(structure(
    class = c(class, paste0("dpsosp_error_", what), "dpsosp_error", "error", "condition"),
    list(message = message, call = plain_call(call))
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
    list(message = paste0(...), call = plain_call(call))
  ))
}

# ---- arguments that must be given ----

# Exported functions call this first: an argument without a default must be given.
require_given <- function() {
  frame <- parent.frame()
  arguments <- formals(sys.function(-1L))
  for (name in setdiff(names(arguments)[are_empty(arguments)], "...")) {
    if (!eval(as.call(list(quote(base::missing), as.name(name))), frame)) next # an argument may have this name
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

# ---- calls that leave the package ----

# A call may contain the data itself (do.call, literals), functions, whose environments may hold them, and environments
# (formulas). What may stay is listed, not what must go: names, calls of names, and single values. Anything else is
# replaced by a name that says what kind of object it was.

# The call of a condition; NULL for none.
plain_call <- function(call) {
  if (!is.call(call)) return(NULL)
  if (is.function(call[[1]])) call[[1]] <- exported_name(call[[1]])
  plain(call)
}

plain <- function(x) {
  if (is_single(x)) return(as.vector(x))
  if (is.null(x)) return(NULL)
  if (!is.call(x)) return(kind_name(x))
  parts <- call_parts(x)
  deep <- !vapply(parts, is.symbol, NA)
  parts[deep] <- lapply(parts[deep], plain)
  if (is_function_call(x)) as_function_call(parts) else as.call(parts)
}

# Is there nothing to replace?
is_quotable <- function(x) {
  if (is.symbol(x) || is.null(x)) return(TRUE)
  if (!is.call(x)) return(is_single(x) && is.null(attributes(x)))
  parts <- call_parts(x)
  all(vapply(parts[!are_empty(parts)], is_quotable, NA))
}

is_function_call <- function(x) length(x) > 2L && identical(x[[1]], quote(`function`))

# Only in a call of `function` is a pairlist, that of the arguments, no list of values. Behind it and the body there may
# be source text.
call_parts <- function(x) {
  parts <- as.list(x)
  if (is_function_call(x)) return(c(parts[1], parts[3], as.list(parts[[2]])))
  attributes(parts) <- NULL
  stats::setNames(parts, names(x))
}

as_function_call <- function(parts) as.call(c(parts[1], list(as.pairlist(parts[-(1:2)])), parts[2]))

is_single <- function(x) is.atomic(x) && length(x) == 1L && !is.object(x)

# Not the class, whose name is the user's, nor a length, as the number of records may be private.
kind_name <- function(x) {
  kind <- if (is.data.frame(x)) "data frame"
    else if (is.factor(x)) "factor"
    else if (is.function(x)) "function"
    else if (is.object(x) || !(is.atomic(x) || is.list(x))) "object"
    else if (length(dim(x)) > 0L) "matrix"
    else if (is.list(x)) "list" else if (is.numeric(x)) "numbers" else if (is.character(x)) "text" else "vector"
  as.name(paste0("<", kind, ">"))
}

# Were there other objects in the place of an argument?
is_kind_name <- function(x) is.symbol(x) && grepl("^<[a-z ]+>$", as.character(x))

# The name of a function of the package that a call holds as a value.
exported_name <- function(f) {
  exported <- getNamespaceExports("dpsosp")
  same <- vapply(exported, function(name) identical(get(name, asNamespace("dpsosp")), f), NA)
  if (any(same)) as.name(exported[same][1]) else kind_name(f)
}

# The call of a function that takes data, which a fit keeps and the errors of a run show. Arguments that could hold
# records are replaced by their names, so that update() finds them, or says that it does not.
scrub_call <- function(call, name) {
  for (argument in intersect(names(call), scrubbed_arguments)) {
    given <- call[[argument]]
    # Together with a formula these are expressions of columns, which are needed to fit again.
    if (argument %in% c("weights", "offset", "subset") && "formula" %in% names(call) && is.call(given)) next
    if (argument == "id" && "formula" %in% names(call)) next
    if (!is.symbol(given) || is_dots(given)) call[[argument]] <- as.name(argument)
  }
  call[[1]] <- name
  plain(call)
}

scrubbed_arguments <- c("data", "newdata", "x", "y", "weights", "offset", "subset", "id", "budget", "fit")

# Is it ..1, ..2, and so on? These refer to the arguments of a calling function and mean nothing outside it.
is_dots <- function(x) grepl("^[.][.][0-9]+$", as.character(x))

# Which are empty arguments of a call, as before the comma in m[, 1], or formal arguments without default?
are_empty <- function(parts) vapply(parts, identical, NA, quote(expr = )) # nolint
