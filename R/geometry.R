#' Centres and scales of columns
#'
#' Where columns differ in spread, or lie far from zero, most of the noise of a private fit goes where the data say
#' little. In a geometry of their own columns are centred and divided by about their standard deviation, so that a row
#' has a norm of about one. It changes how the noise is spread, not the model: coefficients come out on the original
#' scale.
#'
#' The argument `geometry` of [dp_sosp()] says where centres and scales come from:
#' * `"private"`: means and variances of the mapped rows' columns are released with 9 percent of the budget (an
#'   indicator needs its mean only). What the noise may hide is not blown up: twice the standard deviation of a
#'   variance's noise is added to it.
#' * `geometry_public(mean, sd)`: from public numbers, such as those of a census. They cost nothing.
#' * `"none"`: rows as they were mapped.
#' * `NULL`, the default: `"private"` for the method `"newton-ridge"` and where `method = "auto"` meets a problem that
#'   is not convex, else `"none"`.
#'
#' A row that is long in these coordinates is handled in one of two ways. With `"newton-ridge"` it keeps its length:
#' its loss is given a smaller slope, and if need be a smaller weight, which are functions of the row and of released
#' numbers alone. All those losses have the true log-odds as their minimiser, so a correct model stays correctly
#' estimated. With the other methods it is clipped to norm one.
#'
#' Gradients, certificates and targets are then those of the problem in these coordinates, and a penalty is one on its
#' coefficients. The fit's `geometry` has what is needed to compute the coordinates.
#'
#' @param mean,sd Public means and standard deviations of the columns, numbers with the names of the coefficients (but
#'   for the intercept), or one per column in their order; in the units of the data, chosen without looking at them. An
#'   indicator with a share p of ones has mean p and standard deviation sqrt(p (1 - p)).
#' @return An object of class `dp_geometry`.
#' @section Errors: `dpsosp_error_argument` for what are no such numbers.
#' @seealso [dp_sosp()], [control_newton_ridge()]; for the proofs `vignette("proofs")`.
#' @examples
#' geometry_public(mean = c(age = 40, income = 30000), sd = c(age = 12, income = 15000))
#' @export
geometry_public <- function(mean, sd) {
  require_given()
  call <- sys.call()
  mean <- check_moments(mean, "mean", call)
  sd <- check_moments(sd, "sd", call)
  if (!identical(names(mean), names(sd)) || length(mean) != length(sd)) {
    abort("argument", "`mean` and `sd` must be of the same columns, in the same order.", call = call)
  }
  if (any(sd < 0)) abort("argument", "`sd` must not be negative.", call = call)
  structure(class = "dp_geometry", list(mean = mean, sd = sd))
}

check_moments <- function(x, arg, call) {
  if (!is.numeric(x) || length(x) == 0L || !all(is.finite(x))) {
    abort("argument", "`", arg, "` must be finite numbers, one per column, not ", describe(x), ".", call = call)
  }
  stats::setNames(as.double(x), names(x))
}

#' @export
print.dp_geometry <- function(x, digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  cat("<dp_geometry> public means and standard deviations of ", length(x$mean), " columns\n", sep = "")
  print(cbind(mean = x$mean, sd = x$sd), digits = digits %||% getOption("digits"))
  invisible(x)
}

# What the job is to do: "private", "none" or a dp_geometry.
check_geometry <- function(geometry, method, auto, call) {
  weighted <- !is.null(method$family$weighted)
  if (is.null(geometry)) return(if (weighted || auto && !method$convex) "private" else "none")
  if (inherits(geometry, "dp_geometry")) return(geometry)
  if (!is.character(geometry) || length(geometry) != 1L || !geometry %in% c("private", "none")) {
    abort("argument", "`geometry` must be NULL, \"private\", \"none\" or come from `geometry_public()`, not ",
          describe(geometry), ".", call = call)
  }
  if (weighted && geometry == "none") {
    abort("argument", "The method \"", method$name, "\" needs a geometry: `geometry` must not be \"none\".", call = call)
  }
  geometry
}
