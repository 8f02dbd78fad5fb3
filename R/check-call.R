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
