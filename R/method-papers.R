# Worst-case iteration counts and sample sizes of the papers. A family (method-family.R) names the functions of its
# methods.
#
# a: a list of positive numbers: eps_g, gap, smooth, third and, for sample sizes, the other arguments of
# required_rows(). eps_h is a promise that is evaluated, and so checked, only by methods whose target has it.

# ---- iterations ----

# Decrease of the objective by a short step where the gradient norm exceeds eps_g.
gradient_decrease <- function(a) (1 - 2 * 0.1) * a$eps_g^2 / (2 * a$smooth)

# Gao & Wright, (10).
iterations_short_step <- function(a, eps_h) {
  ceiling(a$gap / min(gradient_decrease(a), 2 * (1 / 3 - 0.2) * eps_h^3 / a$third^2))
}

iterations_gradient <- function(a, eps_h) ceiling(a$gap / gradient_decrease(a))

# Wang & Xu, theorem 2.
iterations_trust_region <- function(a, eps_h) ceiling(6 * sqrt(a$third) * a$gap / a$eps_g^1.5)

# ---- rows ----

rows_short_step <- function(a, eps_h) {
  iterations <- iterations_short_step(a, eps_h)
  rows_noise(a, eps_h, iterations, sqrt(iterations / rho_of_target(a)), 0.1)
}

# Gao & Wright, (14) to (18).
rows_line_search <- function(a, eps_h) {
  rest <- 1 - 0.1 - 0.25
  t2 <- 1.5 * rest - 3 * sqrt(rest^2 / 4 - 2 / 3 / 12)
  decrease <- min((1 - 0.1 - 0.6) * 0.6 / a$smooth * a$eps_g^2, 0.25 / 4 * t2^2 * eps_h^3 / a$third^2)
  iterations <- ceiling(a$gap / decrease)
  scale <- sqrt(3 * iterations / (2 * rho_of_target(a))) # sigma of the releases and lambda of the sparse vector
  candidates <- floor(max(log(20) / -log(0.6), log(20) / -log(0.5))) + 1
  search <- 16 * scale * (log(candidates) + log(iterations / a$failure)) * a$gradient *
    max(2 * 20 / (0.6 * a$eps_g), 4 * 20 * a$third / (t2 * 0.25 * eps_h^2))
  max(rows_noise(a, eps_h, iterations, scale, 1 / 12), search)
}

# The number of rows that makes the noise small enough for (9), by theorem 4.
rows_noise <- function(a, eps_h, iterations, sigma, c2) {
  likely <- sigma * log(iterations / a$failure)
  max(sqrt(2 * a$d) * a$gradient * likely / min(0.1 * a$eps_g, c2 * eps_h^2 / a$third),
      a$constant * sqrt(a$d) * a$hessian * likely / (0.1 * eps_h))
}

rho_of_target <- function(a) .Call(ffi_zcdp_rho, a$eps, a$delta)

rows_trust_region <- function(a) {
  a$constant * a$d * log(1 / a$failure) * sqrt(log(1 / a$delta)) / (a$eps_g^1.75 * a$eps)
}
