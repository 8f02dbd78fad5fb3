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
