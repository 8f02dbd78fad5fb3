#' Settings of Newton's method with a ridge that finds itself
#'
#' For the method `"newton-ridge"`, which `method = "auto"` takes for the logistic loss. All settings are public: they
#' must not be chosen by looking at the data.
#'
#' The method works in a geometry of its own, see [geometry_public()], where columns have like spreads, and keeps long
#' rows: with B the bound of a row's gradient, the row z has the loss of [loss_logistic()] with a slope of at most B/|z|
#' (between 0.51 and 1) and a weight of at most B/(0.51 |z|), so no row adds more than B to a gradient, and a correct
#' model stays correctly estimated. Where there is little noise B is large, and most rows have the logistic loss itself.
#'
#' 1. The matrix of second moments of the weighted rows is released with `matrix_share` of the budget; times c, about
#'    the curvature of the loss, it is M. c = 0.3, or, where a class is rare and there is little noise, less:
#'    1.2 p (1 - p) with the released fraction p of the second class, but at least 0.15 and 0.3 / cap^2, where cap is B
#'    over its least value.
#' 2. `iterations` gradients share the rest. The steps start at the constant prediction (see `start` of [dp_sosp()]) and
#'    minimise the mean loss plus a ridge around it, with kappa_j in proportion to the noise of a gradient and to the
#'    scale of the column: a prior between equal coefficients per unit and equal ones per standard deviation; the
#'    intercept's is a quarter of their mean. The matrix of the steps is M plus a diagonal that makes them as long as
#'    the ridge needs and short enough for the noise of a step. More steps cost time, not accuracy. The solution is the
#'    mean of the last 85 percent of the iterates.
#' 3. All gradients together estimate the gradient at the start. Where it does not exceed its noise level, the ridge
#'    is made up to 15 times as large, and the solution is moved to that of the larger ridge in the quadratic model.
#'    This takes no data and no budget.
#' 4. A last gradient, with `certificate_share` of the budget, certifies the solution: of the weighted loss and the
#'    ridge, in the coordinates of the geometry.
#'
#' All releases are Gaussian. `inst/experiments/ridge-rule.R` compares the constants with others on synthetic problems.
#' The method takes convex losses, without a penalty; of a loss whose slope cannot be chosen long rows have smaller
#' weights.
#'
#' @param iterations Number of steps, a whole number; `NULL`: 80 for at most 5,000 records, else 160.
#' @param matrix_share Share of the budget for the matrix, in (0, 1); as `certificate_share` of what the moments of the
#'   geometry leave.
#' @param certificate_share Share of the budget for the gradient at the solution, in (0, 1).
#' @param confidence Of the certificate, in (0, 1).
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_control_newton_ridge`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Ganesh, Haghifam, Steinke and Thakurta (2023), Faster differentially private convex optimization via
#'   second-order methods: the quadratic upper bound. Slopes, weights, geometry and ridge are this package's.
#' @seealso [dp_sosp()], [geometry_public()].
#' @examples
#' control_newton_ridge(iterations = 80)
#' @export
control_newton_ridge <- function(iterations = NULL, matrix_share = 0.06, certificate_share = 0.05, confidence = 0.95,
                                 ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  structure(class = c("dp_control_newton_ridge", "dp_control"), list(
    iterations = if (is.null(iterations)) NA_integer_ else check_iterations(iterations, "iterations", call = call),
    matrix_share = share(matrix_share, "matrix_share"),
    certificate_share = share(certificate_share, "certificate_share"), confidence = share(confidence, "confidence")
  ))
}

family_newton_ridge <- function() {
  new_family("newton_ridge", function(method, loss) control_newton_ridge(), ridge_options,
             core = function(control) "ridge", check_problem = check_ridge, constant = function(job) start_coarse,
             weighted = function(control) (1 - control$certificate_share) * (1 - control$matrix_share),
             because = ", where Newton's method may increase the objective")
}

check_ridge <- function(job) {
  if (columns_of(job) == 0L) {
    abort("argument", "The method \"", job$method$name, "\" needs columns beside the intercept: take the method ",
          "\"newton\".", call = job$call)
  }
  if (job$penalty$name == "none") return(invisible())
  abort("argument", "The method \"", job$method$name, "\" chooses a ridge of its own: leave out `penalty`, or take ",
        "the method \"newton\".", call = job$call)
}

# inst/experiments/ridge-rule.R compares size, intercept, guard, sure and wander with others on synthetic problems.
ridge_curvature <- 0.3  # of the logistic loss and those with smaller slopes, on average, where classes are balanced
ridge_rare <- 0.5       # of a rare class it is lower by this factor at most
ridge_size <- 16        # norm of the solution that the ridge is for, of rows with a norm of one
ridge_intercept <- 0.25 # of the intercept, over the others' mean; its coordinate is short
ridge_guard <- 15
ridge_sure <- 0.6       # by which eigenvalues of the matrix are lowered for the guard, over the norm of its noise
ridge_reach <- 2        # time constants that the slowest direction has
ridge_wander <- 0.03    # variance of the predictors while the iterates wander, over sqrt(d)
ridge_floor <- 0.4      # of what is added to the matrix, over the norm of its noise
ridge_tail <- 0.85
ridge_few <- 5000       # records up to which half of the steps cost no accuracy

ridge_options <- function(job, rho) {
  control <- unclass(job$control)
  if (is.na(control$iterations)) control$iterations <- if (job$n <= ridge_few) 80L else 160L
  curved <- if (has_slopes(job$loss)) ridge_curvature * rare(job) else loss_bounds(job$loss)[["curv_upper"]]
  c(list(curvature = curved, size = ridge_size * job$geometry$cap, intercept = ridge_intercept, guard = ridge_guard,
         sure = ridge_sure, reach = ridge_reach, wander = ridge_wander * sqrt(job$dim), least = ridge_floor,
         tail = ridge_tail), control)
}

# The curvature of the logistic loss at the constant prediction, over its largest. With much noise steps stay short;
# of a start that was given nothing is known.
rare <- function(job) {
  if (is.null(job$share)) 1 else max(4 * job$share * (1 - job$share), ridge_rare, job$geometry$cap^-2)
}
