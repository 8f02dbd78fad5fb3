#' A problem with a strict saddle point
#'
#' Synthetic data on which a method that follows gradients stays at its start. The loss is
#' [loss_sigmoid()], without penalty and intercept, and rows have norm at most one:
#'
#' * 38.4 percent of the records are (0.9, 0) with response 1,
#' * the others (0.3, 0.95) and (0.3, -0.95), in equal numbers, with response -1.
#'
#' At `start` = (2, 0) the first and the second group nearly balance along the first coordinate (the norm of the
#' gradient is 0.0002), and along the second coordinate the gradient vanishes by symmetry. The eigenvalues of the
#' Hessian there are 0.023 and -0.037: a strict saddle point. The objective decreases in both directions of the second
#' coordinate; the smallest eigenvalue exceeds -0.02 from about 0.9 on, and is positive from about 1.8 on.
#'
#' Under noise, gradient descent with step size 1/G multiplies a deviation by 1 + 0.037 / 0.096 in each step. So it
#' leaves the saddle point eventually, but after more steps than are planned for a target of, say, `sosp(0.1, 0.02)`.
#' For second-order methods one released negative eigenvalue is enough.
#'
#' With more than two coordinates the records are drawn at random: 38.4 percent are (0.9, 0, 0) with response 1, the
#' others (0.3, 0.85, 0.4 u) and (0.3, -0.85, 0.4 u) with response -1, where u is uniform on the unit sphere in the
#' other coordinates. At `start` = (1.984, 0, 0) the expected gradient vanishes, and the smallest eigenvalue of the
#' expected Hessian is -0.0295.
#'
#' @param n Number of records; where `d` is 2, a multiple of 1000.
#' @param d Number of coordinates, at least 2.
#' @param ... Not used; anything in it is an error.
#' @return A list of `x` (n x d matrix), `y` (-1 and 1) and `start`.
#' @references The problem is this package's own; the numbers above are checked by its tests. [control_spider()] and
#'   `vignette("spider")` use it.
#' @section Errors: `dpsosp_error_argument` for an `n` or a `d` out of its range.
#' @examples
#' problem <- saddle_problem()
#' fit <- function(method, control) {
#'   dp_sosp(problem$x, problem$y, eps = 1, delta = 1e-6, method = method, loss = "sigmoid",
#'           radius = 1, intercept = FALSE, start = problem$start, target = sosp(0.1, 0.02),
#'           control = control)
#' }
#' rbind(gd = coef(fit("gd", control_gd(gap = 0.46))), opt = coef(fit("opt", control_opt(gap = 0.46))))
#' @export
saddle_problem <- function(n = 10000, d = 2, ...) {
  check_dots()
  n <- check_count(n, "n", call = sys.call())
  d <- check_count(d, "d", call = sys.call())
  if (d > 2L) return(random_saddle(n, d))
  if (d < 2L) abort("argument", "`d` must be at least 2.")
  if (n %% 1000L != 0L) abort("argument", "`n` must be a multiple of 1000 where `d` is 2; it is ", n, ".")
  i <- seq_len(n) - 1L
  first <- i %% 1000L < 384L
  x <- cbind(ifelse(first, 0.9, 0.3), ifelse(first, 0, ifelse(i %% 2L == 1L, 0.95, -0.95)))
  list(x = x, y = ifelse(first, 1, -1), start = c(2, 0))
}

random_saddle <- function(n, d) {
  first <- stats::runif(n) < 0.384
  u <- matrix(stats::rnorm(n * (d - 2)), n)
  x <- cbind(0.3, sample(c(-0.85, 0.85), n, TRUE), 0.4 * u / sqrt(rowSums(u^2)))
  x[first, ] <- rep(c(0.9, numeric(d - 1)), each = sum(first))
  list(x = x, y = ifelse(first, 1, -1), start = c(1.984, numeric(d - 1)))
}
