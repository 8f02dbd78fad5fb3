# Checks of arguments: check_<what>(x, arg, call) returns its argument in the
# form that the rest of the package uses, or raises dpsosp_error_argument.

check_number <- function(x, arg, lower = -Inf, upper = Inf, open = TRUE, call = sys.call(-1)) {
  if (!is.numeric(x) || length(x) != 1L || is.na(x)) {
    abort("argument", "`", arg, "` must be one number, not ", describe(x), ".", call = call)
  }
  inside <- if (open) x > lower && x < upper else x >= lower && x <= upper
  if (!inside) {
    abort("argument", "`", arg, "` must be ", range_text(lower, upper, open), "; it is ", format(x), ".", call = call)
  }
  as.double(x)
}

check_count <- function(x, arg, lower = 1, call = sys.call(-1)) {
  x <- check_number(x, arg, lower, .Machine$integer.max, open = FALSE, call = call)
  if (x != round(x)) abort("argument", "`", arg, "` must be a whole number; it is ", format(x), ".", call = call)
  as.integer(x)
}

check_flag <- function(x, arg, call = sys.call(-1)) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    abort("argument", "`", arg, "` must be TRUE or FALSE, not ", describe(x), ".", call = call)
  }
  x
}

check_choice <- function(x, choices, arg, call = sys.call(-1)) {
  if (identical(x, choices)) return(choices[1])
  if (!is.character(x) || length(x) != 1L || is.na(x) || !x %in% choices) {
    got <- if (is.character(x) && length(x) == 1L && !is.na(x)) paste0("\"", x, "\"") else describe(x)
    abort("argument", "`", arg, "` must be one of ", quote_all(choices), ", not ", got, ".", call = call)
  }
  x
}

quote_all <- function(x) paste0("\"", x, "\"", collapse = ", ")

describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (length(x) == 1L && is.atomic(x) && is.na(x)) return("NA")
  paste0(if (is.object(x)) paste0("a ", class(x)[1]) else paste0("of type ", typeof(x)), ", length ", length(x))
}

range_text <- function(lower, upper, open) {
  if (is.finite(lower) && is.finite(upper)) {
    if (open) return(paste0("between ", lower, " and ", upper, " (exclusive)"))
    return(paste0("between ", lower, " and ", upper))
  }
  if (is.finite(lower)) return(paste0(if (open) "greater than " else "at least ", lower, " and finite"))
  if (is.finite(upper)) return(paste0(if (open) "less than " else "at most ", upper, " and finite"))
  "finite"
}
