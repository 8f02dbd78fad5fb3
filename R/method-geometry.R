#' Centres and scales of columns
#'
#' The noise of a gradient is equal in all directions. So it hides the effect of a column that varies little, or whose
#' values lie far from zero. In a *geometry* the mapped columns are centred, divided by about their standard deviation
#' and then by one common number, so that a typical row has a norm of about one. This changes how the noise is
#' distributed over the coefficients, not the model: coefficients are reported on the original scale.
#'
#' `geometry_public()` declares centres and scales that are public. The argument `geometry` of [dp_sosp()] takes
#' * `"private"`: means and variances of the mapped columns are released, with 9 percent of the budget, in one Gaussian
#'   release. It holds the mean of every column and, unless the column is an indicator, the mean of its square. The
#'   variance of an indicator follows from its mean. Where the noise may hide a variance, its column is not scaled up:
#'   twice the standard deviation of the noise is added to it. Fits with [loss_squared()], [loss_huber()] and
#'   [loss_poisson()] take the expected variance instead: variances relative to the squares of the columns' bounds are
#'   log-normal around a value that all columns have in common, so that a column of which the noise shows nothing is
#'   expected to be like the others (`inst/experiments/variance-rule.R`).
#' * the value of `geometry_public(mean, sd)`: public numbers, such as those of a census, which cost no budget.
#' * `"none"`: rows are used as they were mapped. The method `"newton-ridge"` refuses this value.
#' * `NULL`, the default: `"private"` or `"none"`, see the section The default.
#'
#' @section The default:
#' `"private"` is the default of the method `"newton-ridge"`, always. It is also the default of the methods `"2opt-ls"`,
#' `"2opt"`, `"opt-ls"`, `"opt"`, `"opt-b"`, `"2opt-b"`, `"tr"`, `"tr-b"` and `"gd"`, unless
#' * a method that the call names has a `penalty`, a `target` or published constants, which define a problem in the
#'   coordinates of the mapped rows;
#' * the fit has intervals (`inference`), for which `"newton-ridge"` is better;
#' * the loss is [loss_multinomial()], for which only `"newton-ridge"` has a geometry; or
#' * d / (n mu) exceeds 0.1, for d coefficients, n records and a budget of mu in Gaussian differential privacy (see
#'   [dp_convert()]): the noise would then hide the gain. This condition does not apply to `"2opt-ls"`, `"2opt"`,
#'   `"opt-ls"` and `"opt"` with an intercept, the logistic loss and no `start`, because these runs use even gradients
#'   that do not exceed the noise level (see [control_opt()]).
#'
#' In all other cases the default is `"none"`. The rule uses no record.
#'
#' On synthetic problems with 20,000 records the mean excess loss of these methods with a private geometry is 0.43 to
#' 0.64 times the one without for the logistic loss, and 0.8 to 1.1 times for the sigmoid loss
#' (`inst/experiments/geometry-rule.R`, all but `"opt"`).
#'
#' @section Long rows:
#' A row whose norm in the geometry exceeds one is handled in one of two ways. With `"newton-ridge"` it keeps its
#' length. Its loss has a smaller slope and, if necessary, a smaller weight, both functions of the row and of released
#' numbers only. With the logistic loss, the minimiser of each of these losses is the true log-odds, so a correct model
#' is estimated without bias. With the other methods the row is clipped to norm one. This causes a bias if many rows are
#' long: coefficients are then too far from zero, and with very little noise `"none"` comes nearer to the minimum.
#'
#' @section Coordinates:
#' Gradients, certificates and targets refer to the problem in the coordinates of the geometry, and a penalty applies to
#' the coefficients in them. Let r be a row that was mapped and divided by `radius` (see [dp_sosp()]), and
#' \eqn{r_j}{r_j} its column j. The coordinate of this column is
#' \deqn{z_j = \mathrm{scale}_j (r_j - \mathrm{centre}_j),}{z_j = scale_j (r_j - centre_j),}
#' and that of the intercept is the number `constant`. For a polynomial of degree k of an ordered factor, the scale is
#' divided by \deqn{\sqrt{1 + 25 (d / (n \mu))^2 (k^{1.5} - 1)}.}{sqrt(1 + 25 (d / (n mu))^2 (k^1.5 - 1)).}
#' Effects of ordered levels are mostly smooth, so where there is much noise, more of the budget is for low degrees. The
#' entry `geometry` of the fit has these numbers. Without an intercept the columns are not centred, and their mean
#' squares take the place of variances.
#'
#' @param mean,sd Public means and standard deviations of the columns, chosen without looking at the data: finite
#'   numbers, `sd` positive, one for each coefficient except the intercept. They are in the order of the coefficients,
#'   and either both have their names or neither has names. The units are those of the data; for an expression such as
#'   `log(income)` they are those of its values. An indicator with a fraction p of ones has the mean p and the standard
#'   deviation sqrt(p (1 - p)). A standard deviation below a thousandth of the largest one (both of mapped columns) is
#'   replaced by this thousandth. Wrong numbers cost accuracy, not privacy.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_geometry`, a list of `mean` and `sd`, for the argument `geometry` of [dp_sosp()].
#' @section Errors: `dpsosp_error_argument` for a missing or infinite number, a standard deviation that is not positive,
#'   or `mean` and `sd` of different columns; and in [dp_sosp()], before anything is charged, if the columns are not
#'   those of the fit.
#' @references The section "Other coordinates" of `vignette("proofs")` proves the sensitivities, and "Column moments"
#'   that of the private means and variances. Centres, scales and the rule are this package's.
#' @seealso [dp_sosp()], [control_newton_ridge()].
#' @examples
#' public <- geometry_public(mean = c(elevation = 2900, slope = 15),
#'                           sd = c(elevation = 300, slope = 8))
#' public
#' d <- covertype[1:3000, ]
#' dp_sosp(cover ~ elevation + slope, d, eps = 1, delta = 1e-6, geometry = public,
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
geometry_public <- function(mean, sd, ...) {
  check_dots()
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

# As the caller gave it: "private", "none", a dp_geometry or NULL.
check_geometry <- function(geometry, call) {
  if (is.null(geometry)) return(NULL)
  if (inherits(geometry, "dp_geometry")) return(own(geometry, "dp_geometry", c("mean", "sd")))
  if (!is.character(geometry) || length(geometry) != 1L || !geometry %in% c("private", "none")) {
    abort("argument", "`geometry` must be NULL, \"private\", \"none\" or come from `geometry_public()`, not ",
          describe(geometry), ".", text_hint(geometry, c("private", "none")), call = call)
  }
  as.vector(geometry)
}

# The default. A penalty, a target and published constants define a problem in the coordinates of the mapped rows,
# which a default must not change; the rule "auto" has no such problem in mind. job_geometry() skips a default geometry
# that noise makes useless (is_noisy()).
default_moments <- function(job) {
  if (!is.null(job$model)) return("none")
  if (!is.null(job$method$family$weighted)) return("private")
  mapped <- job$outputs > 1L || job$inference != "none" || (states_problem(job) && !job$auto)
  if (job$method$scaled && !mapped) "private" else "none"
}

states_problem <- function(job) {
  job$penalty$name != "none" || !is.null(job$asked$target) || identical(job$control$constants, "published")
}

geometry_share <- 0.09 # fraction of the budget for the moments of a private geometry (job-geometry.R)

# d / (n mu), with mu of a part of the budget and d the coefficients of one output.
relative_noise <- function(job, rho) job$side / (used_number(job) * sqrt(2 * rho))

# It times the budget in Gaussian differential privacy.
records_by_budget <- function(job) used_number(job) * sqrt(2 * job$rho)

# The same for smooths; fraction: of the second class. The curvature of the logistic loss is in proportion to the
# variance of the classes, and under zero-out a gradient has half the noise.
records_for_smooths <- function(job, fraction = 0.5) {
  fraction <- min(max(fraction, 0), 1)
  4 * fraction * (1 - fraction) * records_by_budget(job) * if (job$neighbours == "replace-one") 1 else 2
}

# For each coordinate of the core the number of the smooth or product whose columns beyond straight lines it is of, or
# zero; NULL without such columns.
curved_parts <- function(design) {
  added <- design$smooth$added
  if (length(added) == 0L) return(NULL)
  term <- design$term[design$columns$variable]
  number <- match(term, unique(design$term[added]))
  number[!design$columns$name %in% added] <- 0L
  as.double(c(if (design$intercept) 0L, number)[design_order(design)])
}

between <- function(x, limits) min(limits[2], max(limits[1], x))

# The fraction of the budget that leaves a release this n mu of its own, within limits.
precise_share <- function(job, precise, limits) between((precise / records_by_budget(job))^2, limits)

# Largest d / (n mu) for a default geometry, with mu the budget in Gaussian DP. With more noise a private geometry gains
# less than it costs on the synthetic problems of inst/experiments/geometry-rule.R.
geometry_most <- 0.1

is_noisy <- function(job) relative_noise(job, job$rho) > geometry_most
