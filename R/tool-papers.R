# Iteration counts and sample sizes of the papers, by method; the formulas are in method-papers.R.

#' Iterations that the papers plan for
#'
#' The number of iterations that take a method from a point whose objective is `gap` above its infimum to a
#' second-order stationary point, in the worst case and with sufficiently small noise.
#'
#' * `"opt"`: \eqn{\Delta / \min((1 - 2 c_1) \epsilon_g^2 / (2 G), 2 (1/3 - c_2 - c) \epsilon_H^3 / M^2)},
#'   with c, c1 and c2 equal to 0.1;
#' * `"tr"`: \eqn{6 \sqrt{M} \Delta / \epsilon_g^{1.5}};
#' * `"gd"`: the first term of `"opt"`, for a point with a small gradient only.
#'
#' @param method `"opt"`, `"tr"` or `"gd"`.
#' @param eps_g,eps_h The target, positive; `eps_g` is the papers' alpha for `"tr"`. Only `"opt"` takes `eps_h`.
#' @param gap The initial gap, positive.
#' @param smooth,third G and M: Lipschitz constants of the gradient and of the Hessian, positive.
#' @param ... Not used; anything in it is an error.
#' @return A whole number.
#' @section Errors: `dpsosp_error_argument` for a number that is out of its range.
#' @references Gao and Wright (2023), equations (6) and (10); Wang and Xu (2021), theorem 2.
#' @examples
#' planned_iterations("tr", eps_g = 0.06, gap = log(2), third = 0.1)
#' @export
planned_iterations <- function(method = c("opt", "tr", "gd"), eps_g, eps_h = NULL, gap, smooth = 1, third = 1, ...) {
  check_dots()
  require_given()
  call <- sys.call()
  method <- check_choice(method, c("opt", "tr", "gd"), "method", call)
  positive <- function(x, arg) check_number(x, arg, 0, call = call)
  a <- list(eps_g = positive(eps_g, "eps_g"), gap = positive(gap, "gap"), smooth = positive(smooth, "smooth"),
            third = positive(third, "third"))
  find_method(method)$family$planned(a, positive(eps_h, "eps_h"))
}

#' Rows that the papers ask for
#'
#' The number of records from which on the papers guarantee a second-order stationary point, in the worst case.
#' `constants = "tight"` needs far fewer records for its certificate: a fit tells what it can certify before anything is
#' released (its default target).
#'
#' With \eqn{T} the iterations of [planned_iterations()] (for `"opt-ls"` with the smaller decrease of a line search) and
#' the papers' constants (\eqn{c = c_1 = 0.1}, \eqn{c_2 = 0.1} or 1/12 with line search, \eqn{c_g = 0.6},
#' \eqn{c_H = 0.25}, \eqn{b = 20}, \eqn{\beta_g = 0.6}, \eqn{\beta_H = 0.5}):
#'
#' * `"opt"`: the larger of
#'   \eqn{\sqrt{2 d} B_g \sigma \log(T / \zeta) / \min(c_1 \epsilon_g, c_2 \epsilon_H^2 / M)} and
#'   \eqn{C \sqrt{d} B_H \sigma \log(T / \zeta) / (c\, \epsilon_H)}{C sqrt(d) B_H sigma log(T / zeta) / (c eps_H)},
#'   \eqn{\sigma = \sqrt{T / \rho}};
#' * `"opt-ls"`: the same with \eqn{\sigma = \sqrt{3 T / (2 \rho)}}, or the number that the sparse vector of the line
#'   search requires (their equation 16), if that is larger;
#' * `"tr"`: \eqn{C\, d \log(1 / \zeta) \sqrt{\log(1 / \delta)} / (\epsilon_g^{1.75} \epsilon)}{C d log(1 / zeta)
#'   sqrt(log(1 / delta)) / (eps_g^1.75 eps)}.
#'
#' @param method `"opt"`, `"opt-ls"` or `"tr"`.
#' @param eps_g,eps_h The target; `"tr"` takes `eps_g` alone, its alpha.
#' @param d Number of coefficients.
#' @param eps,delta The privacy budget; the first two methods convert it to zCDP ([dp_convert()]).
#' @param gap,smooth,third As in [planned_iterations()]; `"tr"` leaves them out.
#' @param gradient,hessian \eqn{B_g} and \eqn{B_H}: bounds on the norms of one record's gradient and Hessian.
#' @param failure \eqn{\zeta}, the error probability.
#' @param constant \eqn{C}, which the papers do not give.
#' @param ... Not used; anything in it is an error.
#' @return A whole number of rows.
#' @section Errors: `dpsosp_error_argument` for a number that is out of its range.
#' @references Gao and Wright (2023), theorems 4 and 8; Wang and Xu (2021), equation (5).
#' @seealso [planned_iterations()], [sufficient_batch()].
#' @examples
#' required_rows("opt", eps_g = 0.06, eps_h = 0.245, d = 54, eps = 0.6, delta = 1e-6, gap = 0.5)
#' required_rows("tr", eps_g = 0.06, d = 54, eps = 0.6, delta = 1e-6)
#' @export
required_rows <- function(method = c("opt", "opt-ls", "tr"), eps_g, eps_h = NULL, d, eps, delta, gap = 1, smooth = 1,
                          third = 1, gradient = 1, hessian = 1, failure = 0.05, constant = 1, ...) {
  check_dots()
  require_given()
  call <- sys.call()
  method <- check_choice(method, c("opt", "opt-ls", "tr"), "method", call)
  positive <- function(x, arg) check_number(x, arg, 0, call = call)
  a <- list(
    eps_g = positive(eps_g, "eps_g"), d = check_count(d, "d", call = call), eps = positive(eps, "eps"),
    delta = check_delta(delta, call), gap = positive(gap, "gap"),
    smooth = positive(smooth, "smooth"), third = positive(third, "third"),
    gradient = positive(gradient, "gradient"), hessian = positive(hessian, "hessian"),
    failure = check_number(failure, "failure", 0, 1, call = call), constant = positive(constant, "constant")
  )
  row <- find_method(method)
  ceiling(row$family$needed(row, a, positive(eps_h, "eps_h")))
}
