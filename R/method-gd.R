#' Settings of gradient descent
#'
#' `method = "gd"` of [dp_sosp()], the baseline: a planned number of steps along noisy gradients with step size 1/G (G
#' is the Lipschitz constant of the gradient); then the iterate is returned whose gradient is shortest, by the released
#' ones without the expected part of their noise, `estimate^2 - d * sd^2` in the trace, with d coefficients. The method
#' does not leave saddle points. At the end one Hessian, paid for with a reserved part of the budget, tells whether the
#' returned point is certified. Where the loss and the penalty exclude eigenvalues below `-eps_h`, no Hessian is
#' released. All settings are public: they must not be chosen by looking at the data.
#'
#' `method = "sgd"`, DP-SGD, takes each step on a fresh batch, with the fraction `batch_share` of the budget, and
#' returns the last iterate; the rest of the budget tells whether it is certified. See [control_opt()] for batches.
#'
#' @param hessian_share Fraction of the budget that is kept for the Hessian, in (0, 1).
#' @param gap_share Fraction of the budget, in (0, 1), for a noisy initial gap, where one is released.
#' @param max_iterations Upper bound on the planned number of iterations, a whole number.
#' @inheritParams control_opt
#' @return An object of class `dp_control_gd`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Wang, Chen and Xu (2019), Differentially private empirical risk minimization with non-convex
#'   loss functions; Wang and Xu (2021), section 5; Abadi et al. (2016), Deep learning with differential
#'   privacy.
#' @examples
#' control_gd(max_iterations = 100)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, method = "gd",
#'         control = control_gd(max_iterations = 100),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_gd <- function(gap = NULL, confidence = 0.95, max_iterations = 1000, gap_share = 0.02, hessian_share = 0.25,
                       batch = NULL, sampling = NULL, batch_share = 0.5, ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  structure(class = c("dp_control_gd", "dp_control"), c(list(
    gap = if (is.null(gap)) NA_real_ else check_number(gap, "gap", 0, call = call),
    confidence = share(confidence, "confidence"),
    max_iterations = check_iterations(max_iterations, "max_iterations", call = call),
    gap_share = share(gap_share, "gap_share"), hessian_share = share(hessian_share, "hessian_share")
  ), batch_control(batch, sampling, batch_share, call)))
}

family_gd <- function() {
  new_family("gd", function(method, loss) control_gd(), gd_options, matrices = function(control) FALSE,
             planned = iterations_gradient)
}

gd_options <- function(job, rho) {
  settings <- c("confidence", "gap", "gap_share", "hessian_share", "max_iterations")
  c(unclass(job$control)[settings], batch_options(job$batch))
}
