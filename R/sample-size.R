#' Rows that the papers ask for
#'
#' The number of records from which on the papers guarantee a second-order stationary point, in the worst case. What
#' `constants = "tight"` certifies takes far fewer: a fit says what it can certify before anything is released (its
#' default target).
#'
#' With \eqn{T} the iterations of [planned_iterations()] (for `"opt-ls"` with the smaller decrease of a line search) and
#' the papers' constants (\eqn{c = c_1 = 0.1}, \eqn{c_2 = 0.1} or 1/12 with line search, \eqn{c_g = 0.6},
#' \eqn{c_H = 0.25}, \eqn{b = 20}, \eqn{\beta_g = 0.6}, \eqn{\beta_H = 0.5}):
#'
#' * `"opt"`: the larger of
#'   \eqn{\sqrt{2 d} B_g \sigma \log(T / \zeta) / \min(c_1 \epsilon_g, c_2 \epsilon_H^2 / M)} and
#'   \eqn{C \sqrt{d} B_H \sigma \log(T / \zeta) / (c\, \epsilon_H)}{C sqrt(d) B_H sigma log(T / zeta) / (c eps_H)},
#'   \eqn{\sigma = \sqrt{T / \rho}};
#' * `"opt-ls"`: the same with \eqn{\sigma = \sqrt{3 T / (2 \rho)}}, or what the sparse vector of the line search asks
#'   for (their equation 16), if that is more;
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
#' @return A whole number of rows.
#' @section Errors: `dpsosp_error_argument`.
#' @references Gao and Wright (2023), theorems 4 and 8; Wang and Xu (2021), equation (5).
#' @seealso [planned_iterations()], [sufficient_batch()].
#' @examples
#' required_rows("opt", eps_g = 0.06, eps_h = 0.245, d = 54, eps = 0.6, delta = 1e-6, gap = 0.5)
#' required_rows("tr", eps_g = 0.06, d = 54, eps = 0.6, delta = 1e-6)
#' @export
required_rows <- function(method = c("opt", "opt-ls", "tr"), eps_g, eps_h = NULL, d, eps, delta, gap = 1, smooth = 1,
                          third = 1, gradient = 1, hessian = 1, failure = 0.05, constant = 1) {
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
  if (method != "tr") a$eps_h <- positive(eps_h, "eps_h")
  ceiling(switch(method, opt = rows_short_step(a), "opt-ls" = rows_line_search(a), tr = rows_trust_region(a)))
}

rows_short_step <- function(a) {
  iterations <- planned_iterations("opt", a$eps_g, a$eps_h, a$gap, a$smooth, a$third)
  rows_noise(a, iterations, sqrt(iterations / rho_of_target(a)), 0.1)
}

# Gao & Wright, (14) to (18).
rows_line_search <- function(a) {
  rest <- 1 - 0.1 - 0.25
  t2 <- 1.5 * rest - 3 * sqrt(rest^2 / 4 - 2 / 3 / 12)
  decrease <- min((1 - 0.1 - 0.6) * 0.6 / a$smooth * a$eps_g^2, 0.25 / 4 * t2^2 * a$eps_h^3 / a$third^2)
  iterations <- ceiling(a$gap / decrease)
  scale <- sqrt(3 * iterations / (2 * rho_of_target(a))) # sigma of the answers and lambda of the sparse vector
  candidates <- floor(max(log(20) / -log(0.6), log(20) / -log(0.5))) + 1
  search <- 16 * scale * (log(candidates) + log(iterations / a$failure)) * a$gradient *
    max(2 * 20 / (0.6 * a$eps_g), 4 * 20 * a$third / (t2 * 0.25 * a$eps_h^2))
  max(rows_noise(a, iterations, scale, 1 / 12), search)
}

# Noise small enough for (9): theorem 4.
rows_noise <- function(a, iterations, sigma, c2) {
  likely <- sigma * log(iterations / a$failure)
  max(sqrt(2 * a$d) * a$gradient * likely / min(0.1 * a$eps_g, c2 * a$eps_h^2 / a$third),
      a$constant * sqrt(a$d) * a$hessian * likely / (0.1 * a$eps_h))
}

rho_of_target <- function(a) .Call(ffi_zcdp_rho, a$eps, a$delta)

rows_trust_region <- function(a) {
  a$constant * a$d * log(1 / a$failure) * sqrt(log(1 / a$delta)) / (a$eps_g^1.75 * a$eps)
}
