#' The target: how near to a local minimum a fit should come
#'
#' A point is an (eps_g, eps_h) second-order stationary point when the norm of
#' the gradient is at most `eps_g` and no eigenvalue of the Hessian is below
#' `-eps_h`. Both refer to the mapped problem, whose rows have norm at most one.
#'
#' @param eps_g,eps_h Positive numbers.
#' @param alpha In place of both: `eps_g = alpha` and
#'   \eqn{eps_h = \sqrt{M \alpha}}{eps_h = sqrt(M alpha)}, with M the Lipschitz
#'   constant of the Hessian, as in the theory.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_target`.
#' @section Errors: `dpsosp_error_argument` for targets that are missing, not positive, or given in both forms.
#' @references Gao and Wright (2023), definition 1.
#' @examples
#' sosp(0.06, 0.245)
#' sosp(alpha = 0.05)
#' # The fit stops at the first point that is certified and spends no more.
#' fit <- dp_sosp(cover ~ elevation + slope, covertype, eps = 1, delta = 1e-6, method = "2opt-ls",
#'                target = sosp(0.02, 0.1), bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' fit$certificate$gradient
#' tail(dp_ledger(fit)[c("what", "rho")], 3)
#' @export
sosp <- function(eps_g = NULL, eps_h = NULL, alpha = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  if (!is.null(alpha)) {
    if (!is.null(eps_g) || !is.null(eps_h)) abort("argument", "Give `alpha`, or `eps_g` and `eps_h`.", call = call)
    return(structure(class = "dp_target", list(alpha = check_number(alpha, "alpha", 0, call = call))))
  }
  if (is.null(eps_g) || is.null(eps_h)) abort("argument", "Give `alpha`, or `eps_g` and `eps_h`.", call = call)
  structure(class = "dp_target", list(
    eps_g = check_number(eps_g, "eps_g", 0, call = call), eps_h = check_number(eps_h, "eps_h", 0, call = call)
  ))
}

check_target <- function(target, call = sys.call(-1)) {
  if (is.null(target)) return(NULL)
  if (inherits(target, "dp_target")) return(own(target, "dp_target", c("eps_g", "eps_h", "alpha")))
  abort("argument", "`target` must be NULL or come from `sosp()`, not ", describe(target), ".",
        if (is.numeric(target)) " Did you mean `sosp(alpha)`?", call = call)
}

# Adds eps_g and eps_h. third: the Lipschitz constant of the objective's Hessian. It is infinite for convex losses whose
# second derivative jumps. Their eigenvalues are known to be nonnegative, so eps_h is zero.
target_resolve <- function(target, third) {
  if (is.null(target$alpha)) return(target)
  eps_h <- if (is.finite(third)) sqrt(third * target$alpha) else 0
  structure(class = "dp_target", list(eps_g = target$alpha, eps_h = eps_h))
}

#' @export
print.dp_target <- function(x, digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  cat("<dp_target> ", if (is.null(x$alpha)) {
    paste0("eps_g = ", format(x$eps_g, digits = digits), ", eps_h = ", format(x$eps_h, digits = digits))
  } else {
    paste0("alpha = ", format(x$alpha, digits = digits))
  }, "\n", sep = "")
  invisible(x)
}
