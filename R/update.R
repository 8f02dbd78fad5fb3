# update() of a fit makes another fit, whose cost adds to that of the first one.

#' @rdname dp_sosp-methods
#' @section Another fit: `update()` fits again, for another charge. A message (`dpsosp_message_update`) says what both
#'   fits cost the records that are in both: the `mu` of Gaussian DP add as squares, other guarantees are added.
#' @param evaluate Fit again? Otherwise `update()` returns the call.
#' @importFrom stats update
#' @export
update.dp_sosp <- function(object, ..., evaluate = TRUE) {
  call <- match.call()
  call[[1]] <- quote(stats::update.default)
  call[c("object", "evaluate")] <- list(object, FALSE)
  call <- eval(call, parent.frame())
  if (!check_flag(evaluate, "evaluate")) return(call)
  again <- eval(call, parent.frame())
  inform("update", update_text(again$privacy, fit_privacy(object)))
  again
}

#' @rdname dp_network-methods
#' @param evaluate Fit again? Otherwise `update()` returns the call.
#' @export
update.dp_network <- update.dp_sosp

update_text <- function(privacy, before) {
  total <- composed(before, privacy)
  paste0(
    "This fit spends ", guarantee_text(privacy$eps, privacy$delta), " anew. ",
    if (is.null(total)) "The fit that it updates holds under another neighbour relation: no sum of both is known"
    else paste0("With the fit that it updates, the same records have ", guarantee_text(total$eps, total$delta),
                " in sum; a `dp_budget()` for all fits limits such sums")
  )
}
