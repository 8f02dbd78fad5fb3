# Estimates and their covariance from what was released at one point: the gradient g, the Hessian H and the second
# moments J of the records' gradients, all with noise.
#
# With E the noise of H and z that of g, one Newton step theta = w - v, v = H^-1 g, from a point w at the distance d
# from the minimiser leads, for a quadratic loss exactly, to
#   theta - minimiser = H^-1 (E d - z),
# H with its noise. So z passes through the released matrix: however wrong that is, this part of the covariance
#   V = H^-1 (J / n + sd_g^2 I + Cov(E v)) H^-1
# is right, and a small eigenvalue of H makes V large. v stands for d.
#
# Directions of H whose eigenvalue is below a fraction of what noise alone has there are unresolved: the fraction takes
# the eigenvalue's place, and V gains, along them, the variance of a coefficient that is known to be moderate only. That
# is not known of a column that is short because its range reaches much too far: its coefficient may be of any size, and
# noise that passes for its curvature gives a wrong estimate with a small error. So a column's own curvature must stand
# out of the noise, or its slope is not shown.
# All of it is post-processing. inst/experiments/inference.R counts how often intervals cover.

step_floor <- 1 / 4 # of the norm of H's noise, sd_H sqrt(2 p)
step_prior <- 1.5   # standard deviation of the coefficient of a column in [-1, 1]
step_most <- 1 / 4  # of a variance may come from that
step_evident <- 3   # standard deviations of the noise: the least curvature of a column

# released: point, gradient, hessian, products (NULL: the model's variance), each answer with its sd; n.
one_step <- function(released, design) {
  p <- length(released$point)
  known <- known_entries(design)
  sd <- attr(released$hessian, "sd")
  hessian <- tidy_matrix(released$hessian, known)
  curvature <- eigen(hessian, symmetric = TRUE)
  vectors <- curvature$vectors
  least <- step_floor * sd * sqrt(2 * p)
  open <- curvature$values < least
  values <- pmax(curvature$values, least)
  inverse <- recompose(vectors, 1 / values)
  step <- drop(inverse %*% released$gradient)
  spread <- if (is.null(released$products)) recompose(vectors, values) else
    positive_part(tidy_matrix(released$products, known))
  meat <- spread / released$n + diag(attr(released$gradient, "sd")^2, p) + noise_covariance(step, sd, known)
  list(w = released$point - step, covariance = inverse %*% meat %*% inverse,
       open = vectors[, open, drop = FALSE], prior = step_prior * design$radius,
       short = short_columns(hessian, sd, design))
}

# Which coefficients of the core belong to columns, other than indicators, whose curvature beside a constant is not
# evident? It is that of the direction (-r, 1), of which the noise has the standard deviation sd (1 + r^2).
short_columns <- function(hessian, sd, design) {
  r <- if (design$intercept) hessian[1, ] / hessian[1, 1] else 0
  short <- diag(hessian) - r * hessian[1, ] < step_evident * sd * (1 + r^2)
  short & column_groups(design) == 0L & !(design$intercept & seq_along(short) == 1L)
}

recompose <- function(vectors, values) vectors %*% (t(vectors) * values)

positive_part <- function(x) {
  parts <- eigen(x, symmetric = TRUE)
  recompose(parts$vectors, pmax(parts$values, 0))
}

# ---- what is known of every matrix of weighted second moments of a design's rows ----

# Two indicators of one factor are never one together (zero); an indicator times the intercept's column is its own
# square (tied: its places).
known_entries <- function(design) {
  group <- column_groups(design)
  zero <- outer(group, group, function(a, b) a == b & a > 0L)
  diag(zero) <- FALSE
  list(zero = zero, tied = if (design$intercept) which(group > 0L) else integer())
}

# By coefficient of the core: the number of the factor, zero for other columns.
column_groups <- function(design) {
  if (is_matrix_design(design)) return(integer(design_dim(design)))
  columns <- design$columns
  group <- ifelse(columns$kind == "indicator", match(columns$variable, unique(columns$variable)), 0L)
  c(if (design$intercept) 0L, group)[design_order(design)]
}

# The mean of the two entries that are tied, by their precisions: a diagonal one has twice the variance of the other.
tidy_matrix <- function(x, known) {
  x <- matrix(x, nrow(x))
  x[known$zero] <- 0
  for (j in known$tied) x[1, j] <- x[j, 1] <- x[j, j] <- (2 * x[1, j] + x[j, j]) / 3
  x
}

# Covariance of E v, E the noise of a tidied matrix: a sum over its free entries.
noise_covariance <- function(v, sd, known) {
  p <- length(v)
  variance <- matrix(sd^2 / 2, p, p)
  diag(variance) <- sd^2
  variance[known$zero] <- 0
  for (j in known$tied) variance[1, j] <- variance[j, 1] <- variance[j, j] <- 0
  total <- variance * outer(v, v)
  diag(total) <- drop(variance %*% v^2)
  for (j in known$tied) {
    moved <- numeric(p)
    moved[c(1, j)] <- c(v[j], v[1] + v[j])
    total <- total + sd^2 / 3 * outer(moved, moved)
  }
  total
}

# ---- on the scale of the columns as they are ----

# step: of one_step(). The estimates are not shown of which too much is not resolved, nor those that a short column
# moves: its slope, and the intercept where its range has its centre elsewhere than at zero.
step_intervals <- function(step, design) {
  map <- core_map(design)
  open <- step$prior^2 * tcrossprod(map %*% step$open)
  covariance <- map %*% step$covariance %*% t(map) + open
  dimnames(covariance) <- list(rownames(map), rownames(map))
  variance <- diag(covariance)
  moderate <- step$prior^2 * rowSums(map^2)
  short <- drop((map != 0) %*% step$short) > 0
  hidden <- variance == 0 | diag(open) > step_most * variance | variance > moderate | short
  reason <- ifelse(hidden, "not resolved by this budget", NA)
  list(coefficients = core_coef(design, step$w), vcov = covariance, reason = reason,
       predictor = core_coef(design, shrink(step)))
}

# Column j: what the core's j-th coefficient adds to those of the columns.
core_map <- function(design) {
  p <- design_dim(design)
  map <- vapply(seq_len(p), function(j) core_coef(design, as.double(seq_len(p) == j)), numeric(p))
  matrix(map, p, dimnames = list(names(core_coef(design, numeric(p))), NULL))
}

# For predictions: the posterior mean under the prior that says that coefficients are moderate.
shrink <- function(step) {
  p <- length(step$w)
  prior <- diag(step$prior^2, p)
  drop(prior %*% solve(step$covariance + step$prior^2 * tcrossprod(step$open) + prior, step$w))
}
