# What a run is to reach, and the iterations that this is expected to take.

# With eps_g and eps_h. alpha(): the default target, where there is none. third: as for target_resolve().
settle_target <- function(target, oracle, alpha, third, call) {
  if (!is.null(target)) return(target_resolve(target, third))
  alpha <- alpha()
  if (alpha >= oracle_facts(oracle)$lipschitz) {
    warn("target", "The budget is too small to certify anything: every point meets the target.", call = call)
  }
  target_resolve(sosp(alpha = alpha), third)
}

#' Iterations that the papers plan for
#'
#' How many iterations take a method from a point whose objective is `gap` above its infimum to a second-order
#' stationary point, in the worst case and with noise small enough.
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
#' @return A whole number.
#' @references Gao and Wright (2023), equations (6) and (10); Wang and Xu (2021), theorem 2.
#' @examples
#' planned_iterations("tr", eps_g = 0.06, gap = log(2), third = 0.1)
#' @export
planned_iterations <- function(method = c("opt", "tr", "gd"), eps_g, eps_h = NULL, gap, smooth = 1, third = 1) {
  require_given()
  call <- sys.call()
  method <- check_choice(method, c("opt", "tr", "gd"), "method", call)
  eps_g <- check_number(eps_g, "eps_g", 0, call = call)
  gap <- check_number(gap, "gap", 0, call = call)
  smooth <- check_number(smooth, "smooth", 0, call = call)
  third <- check_number(third, "third", 0, call = call)
  by_gradient <- (1 - 2 * 0.1) * eps_g^2 / (2 * smooth)
  ceiling(switch(method,
    opt = gap / min(by_gradient, 2 * (1 / 3 - 0.2) * check_number(eps_h, "eps_h", 0, call = call)^3 / third^2),
    tr = 6 * sqrt(third) * gap / eps_g^1.5,
    gd = gap / by_gradient
  ))
}
