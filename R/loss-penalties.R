#' Penalties
#'
#' A penalty is added to the mean loss. It depends on no record, so it costs no
#' budget. It applies to the coefficients of the mapped problem (columns in
#' \[-1, 1\], rows divided by the radius), not to the intercept.
#'
#' * `penalty_ridge(lambda)`: \eqn{\lambda/2 \sum w_j^2}.
#' * `penalty_nonconvex(lambda)`: \eqn{\lambda \sum w_j^2 / (1 + w_j^2)}, which
#'   levels off for large coefficients.
#' * `penalty_none()`.
#'
#' @param lambda Strength of the penalty, a number of at least 0.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_penalty`.
#' @section Errors: `dpsosp_error_argument` for a `lambda` that is not a number of at least 0.
#' @references Gao and Wright (2023), section 4.
#' @examples
#' penalty_ridge(1e-3)
#' d <- covertype[1:3000, ]
#' dp_sosp(cover ~ elevation, d, eps = 1, delta = 1e-6, penalty = penalty_ridge(1e-3),
#'         bounds = list(elevation = c(1850, 3900)))
#' @name penalties
NULL

#' @rdname penalties
#' @export
penalty_ridge <- function(lambda, ...) {
  check_dots()
  require_given()
  new_penalty("ridge", check_lambda(lambda, sys.call()))
}

#' @rdname penalties
#' @export
penalty_nonconvex <- function(lambda, ...) {
  check_dots()
  require_given()
  new_penalty("nonconvex", check_lambda(lambda, sys.call()))
}

#' @rdname penalties
#' @export
penalty_none <- function(...) {
  check_dots()
  new_penalty("none", 0)
}

check_lambda <- function(x, call) check_number(x, "lambda", 0, 1e6, open = FALSE, call = call)
new_penalty <- function(name, lambda) structure(class = "dp_penalty", list(name = name, lambda = lambda))

check_penalty <- function(penalty, arg = "penalty", call = sys.call(-1)) {
  if (is.null(penalty)) return(penalty_none())
  if (inherits(penalty, "dp_penalty")) return(own(penalty, "dp_penalty", c("name", "lambda")))
  abort("argument", "`", arg, "` must be NULL or come from `penalty_ridge()`, `penalty_nonconvex()` or ",
        "`penalty_none()`, not ", describe(penalty), ".", penalty_hint(penalty), call = call)
}

# The hint for a name or a number given instead of a penalty.
penalty_hint <- function(penalty) {
  if (is.numeric(penalty)) return(" Did you mean `penalty_ridge(lambda)`?")
  if (is.character(penalty) && length(penalty) == 1L && !is.na(penalty)) {
    did_you_mean(penalty, penalty_names, function(name) paste0("`penalty_", name, "()`"))
  }
}

penalty_names <- c("none", "ridge", "nonconvex")

#' @export
print.dp_penalty <- function(x, digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  lambda <- if (x$name != "none") paste0(", lambda = ", format(x$lambda, digits = digits))
  cat("<dp_penalty> ", x$name, lambda, "\n", sep = "")
  invisible(x)
}

is_convex_penalty <- function(penalty) penalty$name != "nonconvex"

# Is it strongly convex in every coefficient?
is_strong <- function(penalty, intercept) penalty$name == "ridge" && penalty$lambda > 0 && !intercept

# The penalty in the form of the core. Intercepts are not penalised; each is the first of the `side` coefficients of its
# output.
core_penalty <- function(penalty, intercept, side = 0) {
  list(kind = penalty$name, lambda = penalty$lambda, skip = as.integer(intercept), side = as.integer(side))
}

# As loss_bounds(), for a penalty in the form of the core: second derivatives are at least -curv_lower, third ones at
# most third.
penalty_bounds <- function(core) .Call(ffi_penalty_bounds, core)
