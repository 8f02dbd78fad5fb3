#' Settings of the cubic-regularised Newton method
#'
#' For `method = "cubic"`, which minimises convex objectives. Each iteration minimises an upper bound of the objective:
#' the quadratic model at the iterate plus \eqn{M/6 \, |v|^3}{(M/6) |v|^3}, with M the Lipschitz constant of the
#' Hessian. All settings are public: they must not be chosen by looking at the data.
#'
#' * `solver = "direct"`: gradient and Hessian are released, the Hessian with symmetric Gaussian noise. The expected
#'   norm of that noise is added to the model, so that it remains an upper bound, and the model is minimised exactly.
#' * `solver = "inner"`: the published solver. The model's gradient is released at each of `inner_steps` points. At a
#'   distance |v| from the iterate its sensitivity is (2 L + b |v|) / n (`"zero-out"`: (L + b |v|) / n); the noise
#'   printed in the paper has the diameter for |v| and lacks the division by n. This solver needs strong convexity: a
#'   ridge penalty and no intercept.
#'
#' Iterates stay in a ball around zero of the given public diameter.
#'
#' @param solver `"direct"` or `"inner"`.
#' @param iterations Number of iterations, a whole number; `NULL`: 6, or 3 with `"inner"`.
#' @param inner_steps Number of points on each model, a whole number of at least 2; `"inner"` only.
#' @param diameter Diameter of the ball, positive, for rows of norm at most one; `"direct"` also takes `Inf`.
#' @param hessian_share Fraction of an iteration's budget for the Hessian, in (0, 1); `"direct"` only.
#' @param certificate_share Fraction of the whole budget for the gradient at the solution, in (0, 1).
#' @param confidence Confidence of the certificate, in (0, 1).
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_control_cubic`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Ganesh, Haghifam, Steinke and Thakurta (2023), Faster differentially private convex optimization via
#'   second-order methods, algorithms 1 and 2, with corrected noise; Nesterov and Polyak (2006), Cubic regularization of
#'   Newton method and its global performance.
#' @seealso [dp_sosp()], [control_newton()].
#' @examples
#' control_cubic(iterations = 4)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, method = "cubic",
#'         control = control_cubic(iterations = 4),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_cubic <- function(solver = c("direct", "inner"), iterations = NULL, inner_steps = 20, diameter = 100,
                          hessian_share = 0.3, certificate_share = 0.05, confidence = 0.95, ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  solver <- check_choice(solver, c("direct", "inner"), "solver", call)
  if (!identical(diameter, Inf) || solver == "inner") {
    diameter <- check_number(diameter, "diameter", 0, 1e50, call = call)
  }
  structure(class = c("dp_control_cubic", "dp_control"), list(
    solver = solver,
    iterations = check_iterations(iterations %||% if (solver == "inner") 3 else 6, "iterations", call = call),
    inner_steps = check_iterations(inner_steps, "inner_steps", 2, call = call), diameter = diameter,
    hessian_share = share(hessian_share, "hessian_share"),
    certificate_share = share(certificate_share, "certificate_share"), confidence = share(confidence, "confidence")
  ))
}

family_cubic <- function() {
  new_family("cubic", function(method, loss) control_cubic(), cubic_options, check_problem = check_strong,
             matrices = function(control) control$solver == "direct")
}

# The steps of the inner solver need strong convexity in every coefficient.
check_strong <- function(job) {
  if (job$control$solver != "inner" || is_strong(job$penalty, job$design$intercept)) return(invisible())
  abort("argument", "`solver = \"inner\"` needs strong convexity: take `penalty_ridge()` and no intercept, ",
        "`intercept = FALSE` or `- 1` in a formula.", call = job$call)
}

cubic_options <- function(job, rho) {
  settings <- c("iterations", "diameter", "confidence", "hessian_share", "certificate_share")
  control <- job$control
  c(list(inner = if (control$solver == "inner") control$inner_steps else 0L, spend_all = is.null(job$asked$target)),
    unclass(control)[settings])
}
