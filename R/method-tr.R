#' Settings of the trust-region method
#'
#' `method = "tr"` of [dp_sosp()] releases a gradient and a Hessian at each point, minimises their
#' quadratic model exactly within a radius, and moves there. All settings are public: they must
#' not be chosen by looking at the data.
#'
#' @section What stops a run:
#' * `"dual"`: the dual variable \eqn{\lambda} of the subproblem, as in the paper. At the point to which a step s
#'   leads, the norm of the gradient is at most \eqn{\lambda |s| + M |s|^2 / 2}, and no eigenvalue is smaller than the
#'   smallest one of the model minus \eqn{M |s|}, each up to the noise. The run ends when these bounds, with the noise
#'   included, meet the target; \eqn{\lambda \le \sqrt{\alpha M}} is sufficient.
#' * `"explicit"`: bounds on gradient and smallest eigenvalue at the point itself, as for the method
#'   `"opt"` (Gao and Wright's modification).
#'
#' @section Constants:
#' The radius is \eqn{\sqrt{\alpha / M}} and the number of steps \eqn{T = 6 \sqrt{M} \Delta / \alpha^{1.5}} for
#' an initial gap \eqn{\Delta} (see [planned_iterations()]); each step may cost a fraction 1 / T of the budget.
#' With `constants = "tight"` M follows from the loss and the penalty, and \eqn{\alpha} is the largest value for which
#' the final bounds, noise included, meet the target. The budget of a step is divided between
#' gradient and Hessian so that the error of the model is least. Where the gradient does not exceed its noise level,
#' the run stays and averages measurements. Without a target it continues from the first certified point
#' with the rest of the budget: half of it for further steps until one ends inside the radius, the other half for three
#' precise steps. With `"published"` \eqn{\alpha} = `eps_g`, M = 1, gradient and Hessian cost the same, the Hessian's
#' noise has the published spectral norm, and the tests use the noisy quantities; this is for reproduction.
#'
#' @section Batches:
#' The method `"tr-b"` takes such steps with gradient and Hessian from two independent fresh batches, with at most the
#' fraction `batch_share` of the budget, until the bounds meet the target as if the sampling error were noise. From
#' there 20 iterations on the full data, with the rest of the budget, certify the point or one near it. See
#' [control_opt()] for batches.
#'
#' @param constants `"tight"` or `"published"`.
#' @param stop `"dual"` or `"explicit"`, see the section What stops a run.
#' @param gap_share Fraction of the budget, in (0, 1), for a noisy initial gap, where one is released.
#' @inheritParams control_opt
#' @return An object of class `dp_control_tr`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Wang and Xu (2021), Escaping saddle points of empirical risk privately and scalably via
#'   DP-trust region method, algorithm 1 and theorem 2; Gao and Wright (2023), section 4.
#' @seealso [trust_region_step()] for the subproblem.
#' @examples
#' control_tr(stop = "explicit")
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6,
#'         method = "tr", loss = "sigmoid", control = control_tr(stop = "explicit"),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_tr <- function(constants = c("tight", "published"), stop = c("dual", "explicit"), gap = NULL,
                       confidence = 0.95, max_iterations = NULL, gap_share = 0.02, batch = NULL, sampling = NULL,
                       batch_share = 0.5, ...) {
  call <- sys.call()
  check_dots(call)
  constants <- check_choice(constants, c("tight", "published"), "constants", call)
  published <- constants == "published"
  if (is.null(gap) && published) gap <- 0.5
  structure(class = c("dp_control_tr", "dp_control"), c(list(
    constants = constants, stop = check_choice(stop, c("dual", "explicit"), "stop", call),
    gap = if (is.null(gap)) NA_real_ else check_number(gap, "gap", 0, call = call),
    confidence = check_share(confidence, "confidence", call),
    max_iterations = check_iterations(max_iterations %||% if (published) 1e5 else 1000, "max_iterations", call = call),
    gap_share = check_share(gap_share, "gap_share", call)
  ), batch_control(batch, sampling, batch_share, call)))
}

family_tr <- function() {
  new_family("tr", function(method, loss) control_tr(), tr_options, matrices = function(control) TRUE,
             min_batches = opt_min_batches, max_batches = opt_max_batches,
             planned = iterations_trust_region, needed = function(method, a, eps_h) rows_trust_region(a))
}

tr_options <- function(job, rho) {
  control <- job$control
  c(list(
    published = control$constants == "published", explicit_test = control$stop == "explicit",
    spend_all = is.null(job$asked$target), confidence = control$confidence, gap = control$gap,
    gap_share = control$gap_share, max_iterations = control$max_iterations
  ), batch_options(job$batch))
}

# ---- one step ----

#' The trust-region subproblem
#'
#' The global minimum of \eqn{g's + s'Hs/2} over \eqn{|s| \le r}, for any symmetric H: exact, by an eigen-decomposition
#' and the secular equation, including the hard case; by Lanczos for more than 500 columns. Use it in your own
#' algorithms with [dp_gradient()] and [dp_hessian()]: computing with released numbers costs nothing.
#'
#' @param gradient d numbers, finite.
#' @param hessian A symmetric d x d matrix, finite.
#' @param radius Positive.
#' @param ... Not used; anything in it is an error.
#' @return A list: `step` (d numbers, no longer than `radius`), `dual` (the dual variable, not negative:
#'   \eqn{(H + \lambda I) s = -g}{(H + lambda I) s = -g} with \eqn{H + \lambda I}{H + lambda I} positive
#'   semidefinite, and zero where the step is shorter than `radius`) and `eigenvalue` (the smallest one of `hessian`).
#' @section Errors: `dpsosp_error_argument` for a Hessian that is not symmetric or not of the gradient's size, and
#'   for a radius that is not positive.
#' @references Conn, Gould and Toint (2000), Trust-region methods, chapter 7; Gould, Lucidi, Roma and Toint
#'   (1999), Solving the trust-region subproblem using the Lanczos method.
#' @examples
#' # A step from a released gradient and a released Hessian.
#' problem <- saddle_problem()
#' budget <- dp_budget(eps = 1, delta = 1e-6)
#' oracle <- dp_oracle(problem$x, problem$y > 0, loss_sigmoid(), budget, radius = 1, intercept = FALSE)
#' g <- dp_gradient(oracle, problem$start, mu = 0.1)
#' h <- dp_hessian(oracle, problem$start, mu = 0.1)
#' trust_region_step(g, h, radius = 1)
#' trust_region_step(c(0, 1), diag(c(-1, 2)), radius = 2) # the hard case
#' @export
trust_region_step <- function(gradient, hessian, radius, ...) {
  check_dots()
  require_given()
  call <- sys.call()
  d <- length(gradient)
  labels <- names(gradient)
  if (d == 0L) abort("argument", "`gradient` must be at least one number.", call = call)
  gradient <- check_vector(gradient, "gradient", d, "one per coefficient", call)
  if (!is.matrix(hessian) || !identical(dim(hessian), c(d, d))) {
    abort("argument", "`hessian` must be a matrix of ", d, " rows and columns, as `gradient` has ", d,
          if (d == 1L) " entry" else " entries", ", not ", describe(hessian), ".", call = call)
  }
  entries <- check_vector(as.vector(hessian), "hessian", d * d, "a matrix", call)
  if (!isSymmetric(unname(hessian))) abort("argument", "`hessian` must be symmetric.", call = call)
  radius <- check_radius(radius, call)
  result <- .Call(ffi_trust_region, gradient, entries, radius)
  names(result$step) <- labels
  result
}
