#' Settings of the warm ridge
#'
#' For `method = "warm-ridge"` of [dp_sosp()], which `method = "auto"` takes for problems that are not convex: the
#' sigmoid loss, and logistic losses with [penalty_nonconvex()]. All settings are public: they must not be chosen by
#' looking at the data.
#'
#' From the constant prediction a loss like the sigmoid is nearly flat, because its slope falls where a record is badly
#' wrong; early gradients say little for their noise. So a run has three parts.
#' 1. **Start.** `"newton-ridge"` fits the logistic loss, without the penalty, in a geometry, with the rest of the
#'    budget ([control_newton_ridge()]). A given `start` takes the place of this part.
#' 2. **Own loss.** With the fraction `own_share` the same method fits the loss itself, from there and in the same
#'    coordinates: moments and weighted matrix are not released again, the ridge penalty draws towards the start, and
#'    the quadratic model has the mean second derivative that the loss has for labels which follow the logistic fit. So
#'    what does not exceed the noise level stays as the logistic fit has it.
#' 3. **Certificate.** With the fraction `certificate_share` the method `"opt"` ([control_opt()]) begins at this point:
#'    it certifies a stationary point of second order, or leaves a saddle point along an eigenvector whose eigenvalue
#'    is surely negative, and goes on from there. The certificate refers to the loss of the mapped rows, without
#'    weights; with a penalty, which is in the coordinates of the geometry, to rows clipped there.
#'
#' All releases are Gaussian. `own_share` is by default 0.5, and less where there is much noise:
#' see `inst/experiments/warm-rule.R`, which compares the constants with others on synthetic problems.
#'
#' @inheritParams control_newton_ridge
#' @param iterations Number of steps of each of the first two parts, a whole number of at least 1; `NULL`: 70 for at
#'   most 10,000 records, else 160.
#' @param own_share Fraction of the budget of the first two parts for the second, from 0 to 1; `NULL`: by the noise.
#' @param matrix_share Fraction of the first part's budget for the matrix, in (0, 1); `NULL`: 0.06 for at most 10,000
#'   records, else 0.03.
#' @param certificate_share Fraction of the budget for the third part, in (0, 1).
#' @return An object of class `dp_control_warm_ridge`, a list of these settings, for the argument `control` of
#'   [dp_sosp()].
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take, for a convex problem, for `geometry = "none"` and for a model without columns.
#' @references Lowy, Ullman and Wright (2024), How to make the gradients small privately, for the warm start; Gao and
#'   Wright (2023) for the last part.
#' @seealso [dp_sosp()], [control_newton_ridge()], [control_opt()].
#' @examples
#' control_warm_ridge(own_share = 0.3)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, loss = "sigmoid",
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_warm_ridge <- function(iterations = NULL, own_share = NULL, matrix_share = NULL, certificate_share = 0.05,
                               confidence = 0.95, ...) {
  call <- sys.call()
  check_dots(call)
  ridge <- control_newton_ridge(iterations, matrix_share, certificate_share, confidence)
  own <- if (is.null(own_share)) NA_real_ else check_number(own_share, "own_share", 0, 1, open = FALSE, call = call)
  structure(class = c("dp_control_warm_ridge", "dp_control"), c(unclass(ridge), list(own_share = own)))
}

family_warm_ridge <- function() {
  new_family("warm_ridge", function(method, loss) control_warm_ridge(), ridge_options,
             check_problem = check_warm, constant = function(job) start_coarse,
             weighted = function(job) (1 - job$control$certificate_share) * (1 - ridge_control(job)$matrix_share))
}

is_warm <- function(method) method$family$name == "warm_ridge"

check_warm <- function(job) {
  if (columns_of(job) > 0L) return(invisible())
  abort("argument", "The method \"", job$method$name, "\" needs columns beside the intercept: take the method ",
        "\"2opt-ls\".", call = job$call)
}

# inst/experiments/warm-rule.R compares these with others on synthetic problems.
warm_share <- 0.5     # fraction of the budget of both runs for that on the own loss,
warm_noise <- 0.03    # if d / (n mu) is at most this, else none
warm_signals <- 6L    # number of standard deviations of the predictors that its solution is shrunk for
warm_weight <- 0.3    # part of the way from the first solution to the second
warm_looks <- 20      # most iterations of the run that certifies the solution
warm_variance <- 0.01 # smallest variance of the predictors for the mean curvature
