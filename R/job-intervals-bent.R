# The step of logistic intervals where it is long. Newton's step assumes that the Hessian is the same from the point w
# to the minimiser. But the solution of a fit is shrunk, so that with few records or a strong signal its predictors are
# much nearer to zero than those of the minimiser, whose second derivatives are then smaller: the step would be too
# short, and its intervals too narrow, by a factor of five in some data.
#
# So the released Hessian H is multiplied by how second derivatives change for rows z with a normal distribution, with
# the moments of the coordinates: with B(u) = E l''(z'u) zz' it becomes at u
#   H(u) = C H C',   C = B(u)^(1/2) B(w)^(-1/2),
# which is H at w. The step solves v = H(u)^-1 g, with the mean of B(u) over the way, and the covariance is that of the
# end. What H does not resolve remains so. A step that noise explains says less of the way: with q = g' V^-1 g, V the
# covariance of g, which has the mean p where the minimiser is w, the way is q / (q + p) v. All of it is post-processing
# (inst/experiments/bent-rule.R).

bent_nodes <- list(at = seq(-5, 5, by = 0.25), weight = stats::dnorm(seq(-5, 5, by = 0.25)) * 0.25)
bent_way <- list(at = c(0.0469, 0.2308, 0.5, 0.7692, 0.9531), weight = c(0.1185, 0.2393, 0.2844, 0.2393, 0.1185))
bent_rounds <- 20L # halfway each
bent_most <- 3 # times the length of Newton's step: how far second derivatives are followed

bent_part <- function(q, p) q / (q + p)

# step: the value of one_step() for these releases.
bent_step <- function(step, released, geometry) {
  p <- length(released$point)
  sd <- attr(released$hessian, "sd")
  hessian <- matrix(released$hessian, p)
  spread <- positive_part(matrix(if (is.null(released$products)) hessian else released$products, p))
  noise <- function(v) noise_covariance(v, sd, nothing_known(p))
  v <- released$point - step$w
  covariance <- gradient_covariance(released, spread, v, nothing_known(p))
  bend(step, released$point, as.vector(released$gradient), step$unseen, covariance, covariance - noise(v), noise,
       function(u) normal_curvature(u, geometry))
}

# The step from this point with the gradient there. covariance: of the gradient's error and the Hessian's along Newton's
# step; own: of the first alone; noise: a function of a step, the covariance of the second; curvature: B of a point.
bend <- function(step, point, gradient, unseen, covariance, own, noise, curvature) {
  v <- point - step$w
  kept <- bent_part(sum(gradient * solve(covariance, gradient)), length(point))
  length <- sqrt(sum(v^2))
  moments <- function(part, v) curvature(point - part * kept * min(1, bent_most * length / sqrt(sum(v^2))) * v)
  to <- power_of(moments(0, v), 1 / 2)
  turned <- function(moments) to %*% power_of(moments, -1 / 2) # the inverse of C
  for (k in seq_len(bent_rounds)) {
    way <- Map(function(part, weight) weight * moments(part, v), bent_way$at, bent_way$weight)
    c <- turned(Reduce(`+`, way))
    v <- (v + drop(t(c) %*% step$inverse %*% c %*% gradient)) / 2
  }
  c <- turned(moments(1, v))
  direct <- drop(step$inverse %*% c %*% gradient)
  meat <- c %*% own %*% t(c) + noise(direct)
  step$w <- ifelse(unseen, step$w, point - v)
  step$covariance <- t(c) %*% step$inverse %*% meat %*% step$inverse %*% c
  step$open <- t(c) %*% step$open
  step
}

# B(u): a row is (constant, x), or x alone, with independent x_j of which the squared lengths have the mean one.
normal_curvature <- function(u, geometry) {
  slopes <- seq_along(u) > geometry$intercept
  mean <- ifelse(slopes, 0, geometry$constant)
  variance <- replace(numeric(length(u)), slopes, geometry$spread^2 / sum(geometry$spread^2))
  size <- sqrt(sum(variance * u^2))
  t <- sum(mean * u) + size * bent_nodes$at
  curvature <- stats::plogis(t) * stats::plogis(-t) * bent_nodes$weight
  e <- c(sum(curvature), sum(curvature * bent_nodes$at), sum(curvature * bent_nodes$at^2))
  along <- if (size > 0) variance * u / size else numeric(length(u))
  e[1] * (diag(variance, length(u)) + tcrossprod(mean)) + e[2] * (outer(mean, along) + outer(along, mean)) +
    (e[3] - e[1]) * tcrossprod(along)
}

power_of <- function(x, power) {
  e <- eigen(x, symmetric = TRUE)
  recompose(e$vectors, pmax(e$values, 1e-12 * e$values[1])^power)
}
