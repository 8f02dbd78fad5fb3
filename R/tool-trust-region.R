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
