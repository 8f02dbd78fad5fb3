#' Centres and scales of columns
#'
#' Noise is the same in all directions, so a column that varies little, or lies far from zero, is lost in it. In a
#' geometry columns are centred and divided by about their standard deviation, and then by one number, so that a row
#' has a norm of about one. It changes how the noise is spread, not the model: coefficients are on the original scale.
#'
#' The argument `geometry` of [dp_sosp()] says where centres and scales come from:
#' * `"private"`: means and second moments of the mapped columns are released together, with 9 percent of the budget
#'   (an indicator needs its mean only). Twice the standard deviation of the noise in a variance is added to it, so that
#'   a column whose variance is hidden by noise is not scaled up.
#' * `geometry_public(mean, sd)`: from public numbers, such as those of a census. They cost nothing.
#' * `"none"`: rows as they were mapped. The method `"newton-ridge"` refuses it.
#' * `NULL`, the default: `"private"` for the method `"newton-ridge"`, and for `"2opt-ls"`, `"2opt"`, `"opt-ls"`,
#'   `"opt"`, `"tr"`, their variants on batches and `"gd"`, which on synthetic problems with 20,000 records have about
#'   half the excess loss with it (`inst/experiments/geometry-rule.R`); else `"none"`.
#'
#' With these methods but `"newton-ridge"` the default is `"none"`, too, where a `penalty`, a `target` or published
#' constants state a problem in the coordinates of the mapped rows, unless `"auto"` takes the method; with `inference`,
#' whose intervals would be wider; with [loss_multinomial()]; and where d / (n mu) exceeds 0.1, for d coefficients and a
#' budget of mu in Gaussian differential privacy ([dp_convert()]), as noise would hide what it brings. The rule looks at
#' no record.
#'
#' A row that is long in these coordinates is handled in one of two ways. With `"newton-ridge"` it keeps its length:
#' its loss is given a smaller slope, and if need be a smaller weight, which are functions of the row and of released
#' numbers alone. With the logistic loss all of them have the true log-odds as their minimiser, so a correct model stays
#' correctly estimated. With the other methods the row is clipped to norm one, which biases where rows are long:
#' coefficients are then too far from zero, and with next to no noise `"none"` comes nearer to the least loss.
#'
#' Gradients, certificates and targets are then those of the problem in these coordinates, and a penalty is one on its
#' coefficients. With a row mapped and divided by `radius`, as [dp_sosp()] says, and its column r_j, the coordinate is
#' `scale` (r_j - `centre`), and that of the intercept is `constant`: these are entries of the fit's `geometry`. Without
#' an intercept nothing is centred.
#'
#' @param mean,sd Public means and standard deviations of the columns: finite numbers, `sd` not negative, one per
#'   coefficient but the intercept, in the order of the coefficients and with their names or without names; in the units
#'   of the data (of transformed columns such as `log(income)`, of their values) and chosen without looking at the data.
#'   An indicator with a fraction p of ones has mean p and standard deviation sqrt(p (1 - p)). Numbers that are wrong
#'   cost accuracy, not privacy.
#' @return An object of class `dp_geometry`, for the argument `geometry`.
#' @section Errors: `dpsosp_error_argument` for a missing or infinite number, a negative standard deviation, or `mean`
#'   and `sd` of different columns; from [dp_sosp()] where the columns are not those of the fit, before anything is
#'   charged.
#' @seealso [dp_sosp()], [control_newton_ridge()]; for the proofs `vignette("proofs")`.
#' @examples
#' public <- geometry_public(mean = c(elevation = 2900, slope = 15),
#'                           sd = c(elevation = 300, slope = 8))
#' public
#' d <- covertype[1:3000, ]
#' dp_sosp(cover ~ elevation + slope, d, eps = 1, delta = 1e-6, geometry = public,
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
geometry_public <- function(mean, sd) {
  require_given()
  call <- sys.call()
  mean <- check_moments(mean, "mean", call)
  sd <- check_moments(sd, "sd", call)
  if (!identical(names(mean), names(sd)) || length(mean) != length(sd)) {
    abort("argument", "`mean` and `sd` must be of the same columns, in the same order.", call = call)
  }
  if (any(sd <= 0)) {
    abort("argument", "`sd` must be positive; of a column that is constant any number will do.", call = call)
  }
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
  columns <- length(x$mean)
  cat("<dp_geometry> public means and standard deviations of ", columns, if (columns == 1L) " column" else " columns",
      "\n", sep = "")
  print(cbind(mean = x$mean, sd = x$sd), digits = digits %||% getOption("digits"))
  invisible(x)
}

# What is asked for: "private", "none", a dp_geometry or, where nothing is, NULL.
check_geometry <- function(geometry, method, call) {
  if (is.null(geometry) || inherits(geometry, "dp_geometry")) return(geometry)
  if (!is.character(geometry) || length(geometry) != 1L || !geometry %in% c("private", "none")) {
    abort("argument", "`geometry` must be NULL, \"private\", \"none\" or come from `geometry_public()`, not ",
          describe(geometry), ".", text_hint(geometry, c("private", "none")), call = call)
  }
  if (!is.null(method$family$weighted) && geometry == "none") {
    abort("argument", "The method \"", method$name, "\" needs a geometry: `geometry` must not be \"none\".",
          call = call)
  }
  geometry
}

# Where nothing is. A penalty, a target and published constants say what the problem in the coordinates of the mapped
# rows is to be, which a default must not change; the rule "auto" has no such problem in mind.
default_geometry <- function(job) {
  if (!is.null(job$method$family$weighted)) return("private")
  stated <- job$penalty$name != "none" || !is.null(job$target) || identical(job$control$constants, "published")
  mapped <- loss_outputs(job$loss) > 1L || job$inference != "none" || (stated && !job$auto)
  if (job$method$scaled && !mapped) "private" else "none"
}

# Coefficients over n mu, mu the budget in Gaussian DP: more noise than that, and a private geometry brings no more than
# its cost, on the synthetic problems of inst/experiments/geometry-rule.R.
geometry_most <- 0.1

is_noisy <- function(job) job$dim / (job$n * sqrt(2 * job$rho)) > geometry_most
