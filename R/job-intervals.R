# What intervals need, of fits whose slopes are bounded, and the step from there that all fits take.

# Fractions of the cost of intervals. Type "model" needs no products, and only rows in a geometry have their sizes
# counted: the other fractions are then scaled up.
inference_shares <- c(gradient = 0.40, hessian = 0.30, products = 0.05, sizes = 0.03)
inference_types <- c("sandwich", "model")

inference_costs <- function(type, geometry, rho) {
  left_out <- c(if (type == "model") "products", if (is.null(geometry)) "sizes")
  shares <- inference_shares[setdiff(names(inference_shares), left_out)]
  shares / sum(shares) * rho * (1 - 1e-12)
}

# The coefficient of the core that is one for a column: in [-1, 1], or with a standard deviation of one.
coefficient_unit <- function(design, geometry = NULL) if (is.null(geometry)) design$radius else sqrt(design_dim(design))

# ---- in a geometry ----

# Columns of a small spread, which the noise would hide in the coordinates of the mapped rows, have one like others
# here. A record adds to the gradient its slope r times its row z, clipped to R L / |z|, so R L at most for slopes of up
# to L: hardly a record is clipped, as long rows with steep slopes are rare. Its row has the weight min(1, (R / |z|)^2)
# in the Hessian, which makes it smaller, and intervals a little wider. R is larger where there is less noise
# (inst/experiments/interval-rule.R). Noisy counts of |z| |r| tell how many records are clipped: with many, intervals
# are about another estimate than that of glm(), and summary() says so.

damped_least <- 1.25    # smallest R; rows have a norm of about one
damped_noise <- 0.006   # d / (n mu) below which R is larger, with mu the budget of the intervals,
damped_growth <- 1 / 4  # by this power
damped_ends <- 2^((-2:5) / 2) # of the counts of sizes, times R L
damped_doubt <- 2       # standard deviations by which the fraction of clipped records exceeds zero where it is told

# geometry: of the fit, or NULL.
damped_geometry <- function(geometry, loss, n, rho) {
  if (is.null(geometry)) return(NULL)
  d <- (length(geometry$scale) + geometry$intercept) * max(1, loss_outputs(loss) - 1)
  longest <- damped_least * max(1, (damped_noise * n * sqrt(2 * rho) / d)^damped_growth)
  untilted(geometry, weighted = TRUE, damped = TRUE, cap = longest, bound = longest * loss_bounds(loss)[["lipschitz"]])
}

# Noisy counts of what records would add to the gradient.
damped_sizes <- function(oracle, geometry, point, rho) {
  ends <- geometry$bound * damped_ends
  most <- loss_bounds(oracle$loss)[["lipschitz"]]
  longest <- max(ends) / most
  answer <- .Call(ffi_oracle_residual_counts, oracle$pointer, point, ends / longest, most, longest, rho,
                  oracle$noise == "reproducible")
  counts <- new_release(answer$counts, answer$sd)
  beyond <- damped_ends > 1
  list(counts = counts, ends = ends, beyond = sum(counts[beyond]), doubt = sqrt(sum(beyond)) * answer$sd)
}

# Of one output or of several.
hessian <- function(oracle, point, rho) {
  answer <- .Call(ffi_oracle_hessian, oracle$pointer, point, rho, oracle$noise == "reproducible")
  new_release(answer$hessian, answer$sd)
}

products <- function(oracle, point, rho) {
  answer <- .Call(ffi_oracle_products, oracle$pointer, point, rho, oracle$noise == "reproducible")
  new_release(answer$products, answer$sd)
}

# Does check_inferable() allow intervals, as far as loss and penalty tell?
has_intervals <- function(loss, penalty, residual = FALSE) {
  is_convex(loss, penalty_none()) && (residual || is_smooth(loss)) &&
    penalty$name == "none"
}

# Checks a problem. residual: is it fitted by residuals?
# shortened: does the method shorten long rows, as all but those with weighted rows do in a geometry? Its solution is
# the minimiser for other rows, and how far one Newton step from there misses does not vanish with n.
check_inferable <- function(loss, penalty, design, call, residual = FALSE, type = "sandwich", shortened = FALSE) {
  refuse <- function(...) abort("argument", "Intervals ", ..., call = call, class = "dpsosp_error_inference")
  if (!is_convex(loss, penalty_none())) {
    refuse("are for convex losses: a step from a point of the ", loss$name, " loss leads to no minimiser of it.")
  }
  if (residual && type != "sandwich") {
    refuse("of fits by residuals are of the type \"sandwich\": \"model\" would take the variance of the response for ",
           "known, and would hardly be narrower.")
  }
  if (residual && columns_of(list(design = design)) == 0L) {
    refuse("of fits by residuals need columns beside the intercept, by whose geometry residuals are clipped.")
  }
  if (!residual && !is_smooth(loss)) {
    refuse("need Hessians, and the second derivative of the ", loss$name, " loss jumps: none is released.")
  }
  if (penalty$name != "none") {
    refuse("are about the minimiser without a penalty: leave out `penalty`.")
  }
  if (!is.null(design$smooth)) {
    refuse("do not go with smooth terms: they are about the minimiser without a prior, which smooths need.")
  }
  if (shortened && columns_of(list(design = design)) > 0L) {
    refuse("of a fit in a geometry need the method \"newton-ridge\", as others shorten long rows there: take it, or ",
           "`geometry = \"none\"`.")
  }
  check_matrix_size(design_dim(design) * loss_outputs(loss), "A covariance", call)
}

# ---- estimates and their covariance ----

# Estimates and their covariance from the releases at one point: the gradient g, the Hessian H and the second moments J
# of the gradients of records or persons, all with noise.
#
# Let E be the noise of H, z the noise of g, and w the point, with w - minimiser = d. One Newton step is theta = w - v
# with v = H^-1 g. For a quadratic loss
#   theta - minimiser = H^-1 (E d - z)
# holds exactly, where H is the noisy matrix. So z is multiplied by the released matrix itself: this part of the
# covariance
#   V = H^-1 (J / n + sd_g^2 I + Cov(E v)) H^-1
# is right even if H is inaccurate, and a small eigenvalue of H makes V large. v is an estimate of d.
#
# Directions of H with an eigenvalue below a fraction of the noise level are unresolved. The fraction replaces the
# eigenvalue, and V gains, along these directions, the prior variance of a coefficient of moderate size.
#
# A column without records, or without a spread, is no such direction: noise would turn it towards all others, which
# would lose their intervals with it. So a column whose own curvature does not exceed the noise level is left out of
# the step. The coefficient of a level is then zero, that of another column stays that of w, and it is not shown: it may
# have any size if its range is much too wide, and the intercept is not shown either. But if the column seems to be
# constant, its coefficient is zero and the intercept that of the model without it, as lm() does.
#
# All of it is post-processing. inst/experiments/inference.R measures the coverage of the intervals.

step_floor <- 1 / 4 # times the norm of H's noise, sd_H sqrt(2 p): eigenvalues below are unresolved
step_prior <- 1.5   # prior standard deviation of the coefficient of a column (coefficient_unit())
step_most <- 1 / 4  # largest fraction of a variance that may come from the prior
step_evident <- 3   # least curvature of a column, in standard deviations of its noise
step_constant <- 0.1 # half ranges: a column whose standard deviation is less seems to be constant
step_pair <- 0.5    # a column is part of an unresolved direction if its coordinate there is larger
raised_most <- 2    # standard deviations of the noise of the products by which their diagonal is raised at most

# released: point, n, and gradient, hessian and products, each a release with its sd; products is NULL for type "model".
# The deviations of gradient and products may differ by coordinate. known: entries of the matrices, see below; prior:
# standard deviation of a coefficient of the core; residual: that of the residuals, whose square times H the diagonal of
# the products is raised to as far as their noise allows; allow: by how much clips may have moved each coordinate of g;
# constant: see constant_curvature().
one_step <- function(released, design, known = known_entries(design), prior = step_prior * coefficient_unit(design),
                     residual = 0, allow = 0, constant = 0) {
  p <- length(released$point)
  sd <- attr(released$hessian, "sd")
  hessian <- tidy_matrix(released$hessian, known)
  beyond <- own_curvature(hessian, sd, design)
  unseen <- beyond$least < 0
  without <- unseen & (column_groups(design) > 0L | beyond$most < constant * hessian[1, 1])
  seen <- which(!unseen)
  q <- length(seen)
  curvature <- eigen(hessian[seen, seen, drop = FALSE], symmetric = TRUE)
  vectors <- curvature$vectors
  least <- step_floor * sd * sqrt(2 * q)
  open <- curvature$values < least
  values <- pmax(curvature$values, least)
  inverse <- recompose(vectors, 1 / values)
  # Levels without records and constants move to zero, and the gradient with them.
  step <- ifelse(without, released$point, 0)
  step[seen] <- drop(inverse %*% (released$gradient - hessian %*% step)[seen])
  spread <- if (is.null(released$products)) recompose(vectors, values) else
    positive_part(tidy_matrix(released$products, known)[seen, seen, drop = FALSE])
  products_sd <- attr(released$products, "sd")
  if (length(products_sd) > 1L) products_sd <- products_sd[seen]
  diag(spread) <- raised(diag(spread), residual^2 * diag(recompose(vectors, values)), products_sd)
  meat <- gradient_covariance(released, spread, step, known, seen, allow)
  place <- diag(p)[, seen, drop = FALSE]
  inverse <- place %*% inverse %*% t(place)
  list(w = released$point - step, covariance = inverse %*% place %*% meat %*% t(place) %*% inverse, inverse = inverse,
       open = cbind(place %*% vectors[, open, drop = FALSE], diag(p)[, unseen, drop = FALSE]), prior = prior,
       unseen = unseen, without = without)
}

# Of g: the sampling of the records, the noise of g, and that of H times the step. spread: J, of the coefficients `of`.
gradient_covariance <- function(released, spread, step, known, of = seq_along(step), allow = 0) {
  errors <- rep_len(attr(released$gradient, "sd")^2 + allow^2, length(step))
  spread / released$n + diag(errors[of], length(of)) +
    noise_covariance(step, attr(released$hessian, "sd"), known)[of, of, drop = FALSE]
}

# The curvature of each coefficient of the core, and how far that of its column exceeds the noise level at least, and is
# above zero at most. It is that in the direction (-r, 1), so that the intercept is accounted for; its noise has
# standard deviation sd (1 + r^2). The intercept, or else the column with the most of it, always takes part.
own_curvature <- function(hessian, sd, design) {
  r <- if (design$intercept) hessian[1, ] / hessian[1, 1] else 0
  doubt <- step_evident * sd * (1 + r^2)
  own <- diag(hessian) - r * hessian[1, ]
  least <- own - doubt
  least[if (design$intercept) 1L else which.max(least)] <- Inf
  list(least = least, most = pmax(own, 0) + doubt)
}

# The curvature below which a column seems to be constant, over that of the intercept, for each coefficient of the core.
# Of a declared range the standard deviation is compared with the range, of a matrix with the radius. A private range
# may be much too wide for its values, so that only `single` tells it. checks: of a job or a fit, see new_checks().
constant_curvature <- function(design, geometry, checks) {
  p <- design_dim(design)
  if (!design$intercept) return(numeric(p))
  map <- core_map(design, geometry)
  constant <- if (is.null(geometry)) 1 / design$radius else geometry$constant
  order <- if (is_matrix_design(design)) seq_len(p) else design_order(design)
  names <- rownames(map)[order]
  ranges <- design$ranges[match(names, rownames(design$ranges)), , drop = FALSE]
  half <- if (is_matrix_design(design)) rep(design$radius, p) else unname(ranges[, "upper"] - ranges[, "lower"]) / 2
  private <- names %in% c(rownames(checks$ranges), checks$missed)
  least <- ifelse(private | is.na(half), 0, step_constant * half)
  least[names %in% checks$single] <- Inf
  (least * abs(map[cbind(order, seq_len(p))]) / constant)^2
}

raised <- function(x, least, sd) if (is.null(sd)) x else pmax(x, pmin(least, x + raised_most * sd))

recompose <- function(vectors, values) vectors %*% (t(vectors) * values)

positive_part <- function(x) {
  parts <- eigen(x, symmetric = TRUE)
  recompose(parts$vectors, pmax(parts$values, 0))
}

# ---- what is known of every matrix of weighted second moments of a design's rows ----

# zero: two indicators of the same factor are never both one. tied: an indicator times the intercept's column equals its
# own square, so two entries are equal.
known_entries <- function(design) {
  group <- column_groups(design)
  zero <- outer(group, group, function(a, b) a == b & a > 0L)
  diag(zero) <- FALSE
  list(zero = zero, tied = if (design$intercept) which(group > 0L) else integer())
}

# For each coefficient of the core: the number of its factor, zero for other columns.
column_groups <- function(design) {
  if (is_matrix_design(design)) return(integer(design_dim(design)))
  columns <- design$columns
  group <- ifelse(columns$kind == "indicator", match(columns$variable, unique(columns$variable)), 0L)
  c(if (design$intercept) 0L, group)[design_order(design)]
}

# In other coordinates of the rows nothing is known.
nothing_known <- function(p) list(zero = matrix(FALSE, p, p), tied = integer())

# The mean of two tied entries, weighted by precision: a diagonal entry has twice the variance of the other.
tidy_matrix <- function(x, known) {
  x <- matrix(x, nrow(x))
  x[known$zero] <- 0
  for (j in known$tied) x[1, j] <- x[j, 1] <- x[j, j] <- (2 * x[1, j] + x[j, j]) / 3
  x
}

# Covariance of E v, where E is the noise of a tidied matrix: a sum over its free entries.
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

# step: the value of one_step(), in the coordinates of this geometry or, if it is NULL, of the mapped rows. Not shown
# are estimates with too large an unresolved part, and those that a column that was left out affects: its slope and,
# unless it is a level or a constant, the intercept, if the column's centre is not zero. plain: the step without
# bent_step() or with_bend(), whose standard errors tell whether anything is resolved: those of a bent one are large
# where its estimates are.
step_intervals <- function(step, design, geometry = NULL, plain = step) {
  map <- core_map(design, geometry)
  if (design$intercept) map[1, step$without] <- 0
  open <- step$prior^2 * tcrossprod(map %*% step$open)
  covariance <- map %*% step$covariance %*% t(map) + open
  dimnames(covariance) <- list(rownames(map), rownames(map))
  variance <- diag(covariance)
  moderate <- step$prior^2 * rowSums(map^2)
  resolved <- diag(map %*% (plain$covariance + plain$prior^2 * tcrossprod(plain$open)) %*% t(map)) <= moderate
  unseen <- drop((map != 0) %*% step$unseen) > 0
  hidden <- variance == 0 | diag(open) > step_most * variance | !resolved | unseen
  reason <- ifelse(hidden, hidden_reasons(step, design, rownames(map)), NA)
  list(coefficients = mapped_coef(design, geometry, step$w), vcov = covariance, reason = reason)
}

# Why each coefficient would not be resolved, in the order of the columns. names: theirs.
hidden_reasons <- function(step, design, names) {
  order <- if (is_matrix_design(design)) seq_along(names) else design_order(design)
  reason <- rep("not resolved by this budget", length(names))
  for (k in seq_len(ncol(step$open))) {
    of <- order[abs(step$open[, k]) > step_pair]
    if (length(of) != 2L) next
    reason[of] <- paste0("nearly collinear with `", rev(names[of]), "`")
  }
  reason[order[step$unseen]] <- ifelse(column_groups(design)[step$unseen] > 0L, "no records seen", "no spread seen")
  reason
}

mapped_coef <- function(design, geometry, w) core_coef(design, from_geometry(geometry, w))

# Column j is the contribution of the core's j-th coefficient to the coefficients of the columns.
core_map <- function(design, geometry = NULL) {
  p <- design_dim(design)
  map <- vapply(seq_len(p), function(j) mapped_coef(design, geometry, as.double(seq_len(p) == j)), numeric(p))
  matrix(map, p, dimnames = list(names(core_coef(design, numeric(p))), NULL))
}

# For predictions: the posterior mean under the prior that coefficients are of moderate size, zero for columns that were
# left out.
shrink <- function(step) {
  p <- length(step$w)
  prior <- diag(step$prior^2, p)
  w <- ifelse(step$unseen, 0, step$w)
  drop(prior %*% solve(step$covariance + step$prior^2 * tcrossprod(step$open) + prior, w))
}

# ---- Wald tests ----

wald_least <- 1e-9 # of the eigenvalues of correlations

# That the chosen coefficients are zero, as far as they are resolved. By correlations, as units of columns may differ by
# many orders of magnitude; where rounding decides, the statistic is too small.
wald_test <- function(inference, chosen) {
  used <- chosen & is.na(inference$reason)
  covariance <- inference$vcov[used, used, drop = FALSE]
  z <- inference$coefficients[used] / sqrt(diag(covariance))
  e <- if (any(used)) eigen(stats::cov2cor(covariance), symmetric = TRUE)
  statistic <- if (any(used)) sum(crossprod(e$vectors, z)^2 / pmax(e$values, wald_least)) else NA_real_
  data.frame(Df = sum(used), Chisq = statistic, p = stats::pchisq(statistic, sum(used), lower.tail = FALSE))
}

# A p value for the hypothesis that all coefficients but the intercept are zero. A test of all at once hardly sees one
# that is clear among many, and tests of each do not see many small ones: twice the smaller p value, where that of the
# clearest coefficient is multiplied by their number (Bonferroni's inequality). NA if none is resolved.
wald_any <- function(inference, intercept) {
  side <- nrow(inference$solution) %||% length(inference$coefficients) # of each contrast of several classes
  slopes <- rep_len(seq_len(side) > intercept, length(inference$coefficients))
  used <- slopes & is.na(inference$reason)
  if (!any(used)) return(NA_real_)
  z <- inference$coefficients[used] / sqrt(diag(inference$vcov)[used])
  each <- sum(used) * 2 * stats::pnorm(-max(abs(z)))
  min(1, 2 * each, 2 * wald_test(inference, slopes)$p)
}
