# Another fit, whose cost adds to that of the first one.

#' @rdname dp_sosp-methods
#' @section Another fit: `update()` fits again, for another charge. A message (`dpsosp_message_update`) says what both
#'   fits cost the records or persons that are in both: the `mu` of Gaussian DP add as squares, other guarantees are
#'   added. Called by a function of another package it is an error, unless the call names `eps` or `budget`: no charge
#'   is made silently.
#' @param evaluate Fit again? Otherwise `update()` returns the call.
#' @importFrom stats update
#' @export
update.dp_sosp <- function(object, ..., evaluate = TRUE) {
  refuse_silent_fit(parent.frame(), ...names(), sys.call())
  check_change(..., call = sys.call())
  call <- match.call()
  call[[1]] <- quote(stats::update.default)
  call[c("object", "evaluate")] <- list(object, FALSE)
  call <- eval(call, parent.frame())
  if (!check_flag(evaluate, "evaluate")) return(call)
  lost <- vapply(as.list(call), function(part) any(vapply(lapply(all.names(part), as.name), is_kind_name, NA)), NA)
  if (any(lost)) {
    abort("argument", "The fit keeps names and single constants of its call, and ", quote_names(names(call)[lost]),
          " came as values: pass ", if (sum(lost) > 1L) "them" else "it", " to `update()`.", call = NULL)
  }
  again <- eval(call, parent.frame())
  units <- if (is.null(again$persons)) "records" else "persons"
  inform("update", update_text(again$privacy, fit_privacy(object), units))
  again
}

#' @rdname dp_network-methods
#' @param evaluate Fit again? Otherwise `update()` returns the call.
#' @export
update.dp_network <- update.dp_sosp

# What changes the formula: the first argument without a name, or `formula.`. It becomes part of a call that a fit keeps
# and errors show, so that it holds no values.
check_change <- function(formula., ..., call) {
  if (missing(formula.) || (inherits(formula., "formula") && is_quotable(formula.))) return()
  abort("argument", "What changes the formula must be a formula of names, calls and single constants, such as ",
        "`. ~ . - x`.", call = call)
}

# Functions of packages, such as tests that fit smaller models, call update() where nobody asked for another charge. A
# call that names a part of the budget is meant.
refuse_silent_fit <- function(frame, given, call) {
  caller <- topenv(frame)
  own <- identical(caller, globalenv()) || !isNamespace(caller) || isBaseNamespace(caller) ||
    getNamespaceName(caller) == "dpsosp"
  if (own || any(c("eps", "budget") %in% given)) return(invisible())
  absent(paste0("A function of the package ", getNamespaceName(caller), " would fit again by `update()`, for another ",
                "charge. Tests of terms and coefficients cost nothing: `anova()`, `lmtest::waldtest()` and ",
                "`car::linearHypothesis()`. To fit again, call `update()` yourself, or name `eps` in it."), call)
}

update_text <- function(privacy, before, units) {
  total <- composed(before, privacy)
  paste0(
    "This fit spends ", guarantee_text(privacy$eps, privacy$delta), " anew. ",
    if (is.null(total)) "The fit that it updates holds under another neighbour relation: no sum of both is known"
    else paste0("With the fit that it updates, the same ", units, " have ", guarantee_text(total$eps, total$delta),
                " in sum; a `dp_budget()` for all fits limits such sums")
  )
}
