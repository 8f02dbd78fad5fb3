# The methods of a curve: names, and functions of the caller.

as_methods <- function(methods) if (is.function(methods)) list(own = methods) else as.list(methods)

method_labels <- function(methods, call) {
  methods <- as_methods(methods)
  own <- vapply(methods, is.function, NA)
  labels <- names(methods) %||% character(length(methods))
  named <- vapply(methods[!own], function(method) if (is_label(method)) method else NA_character_, "")
  labels[!own] <- named
  if (length(labels) == 0L || anyNA(labels) || !all(nzchar(labels)) || anyDuplicated(labels) > 0L) {
    abort("argument", "`methods` must be different names, or a list of names and of functions with names, not ",
          describe(methods), ".", call = call)
  }
  for (method in named) check_choice(method, c("auto", method_names()), "methods", call)
  if (any(labels[own] %in% c("auto", method_names()))) {
    abort("argument", "A function in `methods` must have a name that no method has.", call = call)
  }
  labels
}

is_label <- function(x) is.character(x) && length(x) == 1L

own_methods <- function(methods, public, persons, call) {
  own <- Filter(is.function, as_methods(methods))
  if (length(own) > 0L && !is.null(persons)) {
    abort("argument", "Functions in `methods` do not go with `id`: `dp_oracle()` has no persons.", call = call)
  }
  if (length(own) == 0L || public) return(own)
  abort("argument", "Functions in `methods` are for public data: on private data give your algorithm an oracle, ",
        "`dp_oracle()`, once.", call = call)
}

# What an evaluation needs of the fit by a function of the caller.
own_fit <- function(curve, method, eps) {
  given <- curve$settings
  oracle <- dp_oracle(curve$formula, curve$train, given$loss, dp_budget(eps = eps, delta = curve$delta), given$radius,
                      neighbours = given$neighbours %||% "replace-one", noise = curve$noise, bounds = given$bounds)
  w <- tryCatch(curve$own[[method]](oracle), error = function(e) {
    if (inherits(e, "dpsosp_error")) stop(e)
    abort("argument", "The function \"", method, "\" in `methods` failed: ", conditionMessage(e), call = curve$call)
  })
  structure(class = "dp_sosp", list(
    coefficients = stats::coef(oracle, w), design = oracle$problem$design, response = oracle$problem$response,
    loss = oracle$loss, method = method
  ))
}
