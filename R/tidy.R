# A fit as data frames, for those who work with broom.

#' Fits as data frames
#'
#' Methods of `tidy()` and `glance()` of the package generics, which broom has, too.
#'
#' @param x A fit of class `dp_sosp`.
#' @param conf.int Must be `FALSE`: there are no standard errors.
#' @param exponentiate Exponentiate the estimates? They are odds ratios then, with the logistic loss.
#' @param ... Not used; anything in it is an error.
#' @return `tidy()`: a data frame with a row for each coefficient, `term` and `estimate` (on the original scale).
#'   There are no standard errors: they would be another release. `glance()`: a data frame with one row, of `method`,
#'   `loss`, `penalty`, `status`, `nobs`, the guarantee (`eps`, `delta`, `neighbours`, `noise`) and how it was counted
#'   (`accountant`; `order`, the Renyi order of a fit on batches, else `NA`), the certificate (`gradient.upper`,
#'   `eigenvalue.lower`; `NA` where nothing was measured) and the number of released `answers`.
#' @examplesIf requireNamespace("generics", quietly = TRUE)
#' fit <- dp_sosp(cover ~ elevation, covertype[1:2000, ], eps = 1, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900)))
#' generics::tidy(fit)
#' generics::glance(fit)
#' @name dp_sosp-tidy
NULL

#' @rdname dp_sosp-tidy
#' @exportS3Method generics::tidy
tidy.dp_sosp <- function(x, conf.int = FALSE, exponentiate = FALSE, ...) {
  check_dots()
  refuse_errors(conf.int, "conf.int")
  estimate <- unname(x$coefficients)
  if (check_flag(exponentiate, "exponentiate")) estimate <- exp(estimate)
  data.frame(term = names(x$coefficients), estimate = estimate)
}

#' @rdname dp_sosp-tidy
#' @exportS3Method generics::glance
glance.dp_sosp <- function(x, ...) {
  check_dots()
  data.frame(method = x$method, loss = loss_name(x$loss), penalty = x$penalty$name, status = x$status, nobs = x$n,
             eps = x$privacy$eps, delta = x$privacy$delta, neighbours = x$privacy$neighbours, noise = x$privacy$noise,
             accountant = x$privacy$accountant, order = x$privacy$order %||% NA_real_,
             gradient.upper = x$certificate$gradient[["upper"]], eigenvalue.lower = x$certificate$eigenvalue[["lower"]],
             answers = nrow(x$privacy$ledger))
}
