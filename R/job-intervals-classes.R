# Intervals of several classes: of contrasts, the differences of two classes' coefficients, which are all that a fit
# knows. The estimates are those of one_step(), in the coordinates of the geometry, with these differences.
#
# A direction is a matrix of one coefficient for each column and class, whose sums over the classes are zero. With U an
# orthonormal basis of the classes' part of it, gradient, Hessian and products are mapped to U: noise that is equal in
# all directions stays so. A Hessian is a sum of products of a matrix of classes and one of columns, both symmetric. Its
# noise is projected on such sums, which leaves the variance sd^2 / 4 off both diagonals, in place of sd^2 / 2.
#
# A class with so few records that the noise hides its curvature would be a direction that noise turns towards all
# others: it is left out of the step, so that the contrasts of the others keep their intervals.
#
# All of it is post-processing. inst/experiments/inference-classes.R measures the coverage of the intervals.

# Why there are no intervals, or NULL. weighted: in a geometry with weighted rows? linked: do rows stay in databases?
class_refusal <- function(weighted, linked) {
  if (!weighted) {
    return(paste("Intervals of several classes need the geometry of the method \"newton-ridge\": take it, or leave out",
                 "`inference`."))
  }
  if (isTRUE(linked)) {
    paste("Intervals of several classes need sums that a database does not compute, and no rows of these are fetched:",
          "leave out `inference`.")
  }
}

class_most <- 1.5 # least curvature of a class, over the least eigenvalue that is resolved

# An orthonormal basis of the vectors over k classes whose sum is zero and that are zero for classes not kept.
class_basis <- function(kept) {
  basis <- matrix(0, length(kept), sum(kept) - 1L)
  basis[kept, ] <- stats::contr.helmert(sum(kept))
  t(t(basis) / sqrt(colSums(basis^2)))
}

# The mean of each block and its transpose, of a matrix of q x q blocks.
tidy_blocks <- function(x, q) {
  side <- nrow(x) / q
  blocks <- array(x, c(side, q, side, q))
  matrix((blocks + aperm(blocks, c(3, 2, 1, 4))) / 2, nrow(x))
}

# The matrix of all classes' coefficients, in the basis.
in_basis <- function(x, basis, side) {
  by <- kronecker(basis, diag(side))
  t(by) %*% matrix(x, nrow(by)) %*% by
}

# Covariance of E v for the noise E of such a matrix (v as a matrix with a column for each direction of classes).
block_noise <- function(v, sd) {
  side <- diag(nrow(v))
  classes <- diag(ncol(v))
  sd^2 / 4 * (sum(v^2) * kronecker(classes, side) + kronecker(crossprod(v), side) + kronecker(classes, tcrossprod(v)) +
                tcrossprod(as.vector(v)))
}

# The norm of its noise.
block_norm <- function(sd, side, q) sd * sqrt((side + 1) * (q + 1))

# Which classes have enough records? kept: classes by whose mean curvature over the slopes the least eigenvalue is
# exceeded; at least the two with the most of it.
kept_classes <- function(hessian, sd, classes, intercept) {
  side <- nrow(hessian) / classes
  slopes <- setdiff(seq_len(side), seq_len(intercept))
  own <- vapply(seq_len(classes), function(k) mean(diag(hessian)[(k - 1) * side + slopes]), 0)
  own > class_most * step_floor * block_norm(sd, side, classes - 1L) | rank(-own, ties.method = "first") <= 2
}

# The estimates (w, in the basis), their covariance and what is unresolved, as of one_step(). unit: the coefficient that
# is one for a column.
class_step <- function(released, design, classes, unit, constant, geometry) {
  side <- length(released$point) / classes
  sd <- attr(released$hessian, "sd")
  full <- matrix(released$hessian, nrow(released$hessian))
  kept <- kept_classes(full, sd, classes, design$intercept)
  basis <- class_basis(kept)
  q <- ncol(basis)
  released$hessian <- tidy_blocks(in_basis(full, basis, side), q)
  released$products <- if (!is.null(released$products)) in_basis(without_sd(released$products), basis, side)
  gradient <- as.vector(matrix(released$gradient, side) %*% basis)
  at <- matrix(released$point, side)
  unseen <- unseen_columns(released$hessian, sd, q, design, constant)
  open <- rep(unseen$without, q)
  step <- seen_step(list(point = as.vector(at %*% basis), gradient = gradient, hessian = released$hessian, sd = sd,
                         gradient_sd = attr(released$gradient, "sd"), products = released$products, n = released$n),
                    q, rep(unseen$unseen, q), open)
  step <- c(step, list(basis = basis, kept = kept, at = at, unseen = unseen$unseen, without = unseen$without,
                       prior = step_prior * unit / sqrt(2)))
  plain <- list(covariance = step$covariance, open = step$open)
  c(bent_classes(step, geometry), list(plain = plain))
}

# Columns whose curvature, as the mean over the directions of classes, the noise hides: see one_step().
unseen_columns <- function(hessian, sd, q, design, constant) {
  side <- nrow(hessian) / q
  of_columns <- Reduce(`+`, lapply(seq_len(q) - 1L, function(k) {
    hessian[k * side + seq_len(side), k * side + seq_len(side), drop = FALSE]
  })) / q
  beyond <- own_curvature(of_columns, sd / sqrt(q), design)
  unseen <- beyond$least < 0
  list(unseen = unseen, without = unseen & (column_groups(design) > 0L | beyond$most < constant * of_columns[1, 1]))
}

# at: point, releases and n, all in the basis.
seen_step <- function(at, q, unseen, without) {
  p <- length(at$point)
  side <- p / q
  seen <- which(!unseen)
  curvature <- eigen(at$hessian[seen, seen, drop = FALSE], symmetric = TRUE)
  least <- step_floor * block_norm(at$sd, length(seen) / q, q)
  open <- curvature$values < least
  values <- pmax(curvature$values, least)
  place <- diag(p)[, seen, drop = FALSE]
  inverse <- place %*% recompose(curvature$vectors, 1 / values) %*% t(place)
  step <- ifelse(without, at$point, 0)
  step <- step + drop(inverse %*% (at$gradient - at$hessian %*% step))
  spread <- positive_part(if (is.null(at$products)) at$hessian else at$products)
  meat <- spread / at$n + diag(at$gradient_sd^2, p) + block_noise(matrix(step, side), at$sd)
  list(w = at$point - step, point = at$point, gradient = at$gradient, inverse = inverse, spread = spread / at$n,
       meat = meat, hessian_sd = at$sd, gradient_sd = at$gradient_sd, q = q,
       covariance = inverse %*% meat %*% inverse,
       open = cbind(place %*% curvature$vectors[, open, drop = FALSE], diag(p)[, unseen, drop = FALSE]))
}

# ---- where the step is long (see job-intervals-bent.R) ----

bent_draws <- 200L # pairs of opposite normal predictors

bent_classes <- function(step, geometry) {
  p <- length(step$gradient)
  side <- p / step$q
  draws <- normal_draws(step$q)
  # Of all classes, as those that are left out have probabilities, too.
  fixed <- step$at - matrix(step$point, side) %*% t(step$basis)
  bend(step, step$point, step$gradient, rep(step$unseen, step$q), step$meat,
       step$spread + diag(step$gradient_sd^2, p), function(v) block_noise(matrix(v, side), step$hessian_sd),
       function(u) class_curvature(fixed + matrix(u, side) %*% t(step$basis), step$basis, geometry, draws))
}

# B(u), in the basis, for independent columns as in normal_curvature(); u has a column for each class. Given the
# predictors a row is normal, so that the mean over the predictors alone is taken over draws.
class_curvature <- function(u, basis, geometry, draws) {
  slopes <- seq_len(nrow(u)) > geometry$intercept
  variance <- replace(numeric(nrow(u)), slopes, geometry$spread^2 / sum(geometry$spread^2))
  mean <- ifelse(slopes, 0, geometry$constant)
  coefficients <- u %*% basis
  of <- eigen(crossprod(coefficients, variance * coefficients), symmetric = TRUE)
  size <- sqrt(pmax(of$values, 0))
  along <- (variance * coefficients) %*% of$vectors %*% diag(ifelse(size > 1e-6, 1 / size, 0), length(size))
  at <- draws %*% (size * t(of$vectors))
  p <- softmax_rows(t(t(at %*% t(basis)) + drop(mean %*% u)))
  rows <- t(t(draws %*% t(along)) + mean)
  rest <- diag(variance, nrow(u)) - tcrossprod(along)
  means <- p %*% basis
  q <- ncol(basis)
  blocks <- array(0, c(nrow(u), q, nrow(u), q))
  for (k in seq_len(q)) {
    for (l in seq_len(k)) {
      c <- drop(p %*% (basis[, k] * basis[, l])) - means[, k] * means[, l]
      blocks[, k, , l] <- blocks[, l, , k] <- crossprod(rows, c * rows) / nrow(rows) + mean(c) * rest
    }
  }
  matrix(blocks, nrow(u) * q)
}

softmax_rows <- function(t) {
  e <- exp(t - do.call(pmax, as.data.frame(t)))
  e / rowSums(e)
}

# Public numbers: pairs of opposite points of an additive sequence, made exactly uncorrelated.
normal_draws <- function(q) {
  n <- max(bent_draws, 4L * q)
  step <- sqrt(2 + seq_len(q) * (seq_len(q) + 3)) %% 1
  z <- stats::qnorm((outer(seq_len(n), step) + 0.5) %% 1 * (1 - 2e-9) + 1e-9)
  z <- z %*% power_of(crossprod(z) / n, -1 / 2)
  rbind(z, -z)
}

# ---- on the scale of the columns as they are ----

# Returns a list of
#   solution      coefficients of all classes, whose sums are zero
#   coefficients, vcov, reason   of the contrasts with the first class
#   all           covariance of the solution, class by class, widened by the prior
#   reasons       a list for each class of the reasons of its contrasts with all
class_intervals <- function(step, design, geometry, labels) {
  map <- core_map(design, geometry)
  if (design$intercept) map[1, step$without] <- 0
  side <- nrow(map)
  terms <- rownames(map)
  w <- step$at + (matrix(step$w - step$point, side)) %*% t(step$basis)
  moderate <- step_prior_squares(step, map)
  lost <- kronecker(diag(as.numeric(!step$kept), length(labels)), 2 * step$prior^2 * tcrossprod(map))
  all <- of_classes(step$covariance, step, map) + step$prior^2 * of_classes(tcrossprod(step$open), step, map) + lost
  parts <- list(all = all, open = step$prior^2 * of_classes(tcrossprod(step$open), step, map),
                plain = of_classes(step$plain$covariance + step$prior^2 * tcrossprod(step$plain$open), step, map))
  unseen <- drop((map != 0) %*% step$unseen) > 0
  dimnames(parts$all) <- rep(list(term_names(labels, terms)), 2)
  reasons <- lapply(seq_along(labels), function(of) {
    unlist(lapply(seq_along(labels), function(k) {
      pair_reasons(parts, pair_weights(k, of, length(labels)), moderate, unseen, step$kept[c(k, of)], step, design)
    }))
  })
  solution <- matrix(vapply(seq_along(labels), function(k) mapped_coef(design, geometry, w[, k]), numeric(side)), side,
                     dimnames = list(terms, labels))
  intervals <- list(solution = centred(solution, labels), all = parts$all,
                    reasons = stats::setNames(reasons, labels))
  c(contrasts_with(intervals, labels[1]), intervals)
}

term_names <- function(labels, terms) paste(rep(labels, each = length(terms)), terms, sep = ":")

step_prior_squares <- function(step, map) 2 * step$prior^2 * rowSums(map^2)

# From the basis to all classes' coefficients of the columns.
of_classes <- function(covariance, step, map) {
  by <- kronecker(step$basis, map)
  by %*% covariance %*% t(by)
}

pair_weights <- function(k, of, classes) (seq_len(classes) == k) - (seq_len(classes) == of)

# Why each contrast of a pair of classes is not shown, or NA: the rules of step_intervals().
pair_reasons <- function(parts, weights, moderate, unseen, kept, step, design) {
  side <- length(moderate)
  if (all(weights == 0)) return(rep(NA_character_, side))
  variance <- lapply(parts, contrast_variance, weights = weights)
  hidden <- variance$all == 0 | variance$open > step_most * variance$all | variance$plain > moderate | unseen
  reason <- ifelse(hidden, "not resolved by this budget", NA)
  order <- if (is_matrix_design(design)) seq_len(side) else design_order(design)
  reason[order[step$unseen]] <- ifelse(column_groups(design)[step$unseen] > 0L, "no records seen", "no spread seen")
  if (all(kept)) reason else rep("too few records of the class", side)
}

# Of the weighted sums over the classes, term by term.
contrast_variance <- function(covariance, weights) {
  by <- kronecker(t(weights), diag(nrow(covariance) / length(weights)))
  rowSums((by %*% covariance) * by)
}

# The coefficients of a fit, of all classes where there are several; NULL without intervals.
told_coefficients <- function(intervals) intervals$solution %||% intervals$coefficients

# Coefficients, covariance and reasons of the contrasts of all other classes with this one.
contrasts_with <- function(intervals, reference) {
  solution <- intervals$solution
  labels <- colnames(solution)
  of <- match(reference, labels)
  side <- nrow(solution)
  by <- diag(length(labels))[-of, , drop = FALSE]
  by[, of] <- -1
  by <- kronecker(by, diag(side))
  names <- term_names(labels[-of], rownames(solution))
  list(coefficients = stats::setNames(as.vector(solution[, -of] - solution[, of]), names),
       vcov = matrix(by %*% intervals$all %*% t(by), length(names), dimnames = list(names, names)),
       reason = intervals$reasons[[of]][rep(seq_along(labels) != of, each = side)])
}
