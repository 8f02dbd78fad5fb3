# What dp_plan() expects of columns and fits that nobody has seen: the excess loss of the methods that have a formula
# for it, and the widths of intervals. A *frame* describes the columns (plan_frame()), a *setting* (plan_setting()) is a
# fit of them. The formulas are for the logistic loss, and one for losses with residuals. The scales of noise are the
# core's (planned_sd()).

# ---- columns ----

# What is taken where nothing else is known: variances of columns on [-1, 1], the mean curvature of the logistic loss,
# the change of the predictor over half of the range of a column.
typical <- list(variance = 0.1, curvature = 0.14, effect = 0.7)

# design: columns, as from design_columns(), predictors, if there are expressions, intercept and radius; shares: by
# factor, the fractions of all its levels; variance: of the mapped numeric columns. second: E aa' for a mapped row a
# divided by the radius. Columns are independent except for indicators of the same factor.
plan_frame <- function(design, shares, variance) {
  columns <- design$columns
  radius <- design$radius
  numeric <- columns$kind == "numeric"
  mean <- rep(0, nrow(columns))
  for (j in which(!numeric)) mean[j] <- shares[[columns$variable[j]]][[columns$level[j]]]
  covariance <- diag(mean, nrow(columns)) - tcrossprod(mean) * outer(columns$variable, columns$variable, "==")
  diag(covariance)[numeric] <- variance
  mean <- mean / radius
  covariance <- covariance / radius^2
  second <- covariance + tcrossprod(mean)
  if (design$intercept) second <- rbind(c(1 / radius^2, mean / radius), cbind(mean / radius, second))
  list(columns = columns, degree = column_degrees(design), intercept = design$intercept, radius = radius,
       longest = design$longest,
       dim = nrow(second), mean = mean, covariance = covariance, second = second)
}

# Expected excess loss of the fit; NA for a method without a formula.
plan_excess <- function(s) {
  if (s$outputs > 1L) return(NA_real_)
  if (s$inference != "none" && is.null(s$geometry)) return(one_step_excess(s))
  if (s$method$residuals) return(residual_excess(s))
  formula <- list(newton = newton_excess, "newton-ridge" = ridge_excess)[[s$method$name]]
  if (is.null(formula)) NA_real_ else formula(s)
}

# ---- method "newton" ----

# Excess loss of the mean of the last iterates. Along each eigenvector of the Hessian, which is also one of the
# majorant, it is the sum of the signal not yet reached, the sampling error and the noise.
newton_excess <- function(s) {
  e <- eigen(s$curvature * s$frame$second, symmetric = TRUE)
  value <- pmax(e$values, 1e-12 * e$values[1])
  signal <- colSums(e$vectors * (squared_distance(s) %*% e$vectors))
  path <- newton_path(newton_run(s), value, value / s$curvature / 4, signal + 1 / (s$n * value))
  sum(value * ((1 - path$reached)^2 * signal + path$variance) + path$reached^2 / s$n) / 2
}

# The mean outer square of the distance of the solution from the constant prediction, whose intercept moves with the
# slopes.
squared_distance <- function(s) {
  from <- diag(s$dim)
  if (s$frame$intercept) from[1, ] <- c(0, -s$frame$radius * s$frame$mean)
  (s$effect * s$frame$radius)^2 * tcrossprod(from)
}

# sd: of the noise in a step's gradient; lambda0 and its lower bound follow from it and from the noise of the matrix
# (control_newton()).
newton_run <- function(s) {
  o <- s$control
  rho <- s$run_rho * (1 - o$certificate_share)
  sd <- planned_sd(s, "gradient", rho * (1 - o$curvature_share) / o$iterations)
  least <- sqrt(2 * s$dim) * planned_sd(s, "majorant", rho * o$curvature_share)
  list(iterations = o$iterations, tail = o$tail, sd = sd, least = least,
       lambda0 = max(o$lambda_scale * sqrt(o$iterations * s$dim) * sd, least))
}

# Simulates the steps along eigenvectors, where the Hessian has the eigenvalues e and the majorant m. Returns the
# fraction of the distance to the sample's minimiser that the mean of the last iterates has covered, and the variance of
# its noise. distance: the mean square of the distance.
newton_path <- function(run, e, m, distance) {
  lambda0 <- run$lambda0
  steps <- ceiling(run$iterations / newton_windows)
  averaged <- ceiling(run$tail * run$iterations)
  reached <- variance <- seen <- total <- total_variance <- covariance <- numeric(length(e))
  for (i in seq_len(run$iterations)) {
    seen <- seen + e * (1 - reached)
    inverse <- 1 / (m + lambda0)
    kept <- 1 - e * inverse
    reached <- 1 - kept * (1 - reached)
    variance <- kept^2 * variance + (run$sd * inverse)^2
    if (i > run$iterations - averaged) {
      total <- total + reached
      total_variance <- total_variance + 2 * kept * covariance + variance
      covariance <- kept * covariance + variance
    }
    if (i %% steps == 0) {
      along <- seen^2 * distance + (steps * e)^2 * variance
      lambda0 <- newton_adapted(run, lambda0, (lambda0 * inverse)^2, steps * run$sd^2, along)
      seen <- 0 * seen
    }
  }
  list(reached = total / averaged, variance = total_variance / averaged^2)
}

# lambda0 is halved if a sum of squares with these weights exceeds the noise level; here on average over normal signals.
# along: the mean squares without the noise.
newton_windows <- 12
newton_level <- 2

newton_adapted <- function(run, lambda0, weight, noise, along) {
  spread <- function(square) sqrt(2 * sum((weight * square)^2))
  above <- sum(weight * along) - newton_level * spread(noise)
  max(lambda0 * 2^-stats::pnorm(above / spread(noise + along)), min(lambda0, run$least))
}

# ---- method "newton-ridge" ----

# The scales of noise of the steps' gradients together and of the matrix.
ridge_run <- function(s) {
  steps <- s$run_rho * (1 - s$control$certificate_share)
  options <- s$method$family$options(s, s$run_rho)
  list(options = options, steps_sd = planned_sd(s, "gradient", steps * (1 - options$matrix_share)),
       matrix_sd = planned_sd(s, "weighted", steps * options$matrix_share))
}

# The sum of the signal that the posterior mean removes, the noise, and the bias of bounded slopes while the iterates
# vary, in the coordinates of the geometry. A row longer than the cap has a smaller weight and, as its slope is bounded,
# less curvature: with a slope of one half about plan_ridge_bent of that of the logistic loss. plan_ridge_factor is
# fitted on synthetic problems (inst/experiments/plan-rule.R).
plan_ridge_factor <- 1.5
plan_ridge_bent <- 0.75

ridge_excess <- function(s) {
  run <- ridge_run(s)
  geometry <- s$geometry
  d <- s$dim
  intercept <- s$frame$intercept
  second <- geometry_second(s$frame, geometry)
  length <- sqrt(sum(diag(second)))
  weight <- min(1, geometry$cap / length)
  slope <- min(1, max(0.5, geometry$cap / (2 * length)))
  hessian <- s$curvature * second
  seen <- weight * (plan_ridge_bent + (1 - plan_ridge_bent) * (2 * slope - 1)) * hessian
  kappa <- ridge_kappa(run, geometry, d, intercept)
  size <- c(if (intercept) 0, s$effect * s$frame$radius / geometry$scale)
  prior <- sum(diag(second) * size^2) / (kappa * ridge_total(weight * second, kappa, intercept))
  kept <- solve(seen %*% seen + diag(run$steps_sd^2 / prior, d), seen)
  held <- t(t(diag(d) - kept %*% seen) * size)
  variance <- function() ridge_variance_of_iterates(run, weight^2 * second, kappa) / weight^2
  bias <- if (weight < 1) s$curvature * variance()^2 / 4 else 0
  noise <- run$steps_sd^2 * trace_of(crossprod(kept, hessian), kept)
  plan_ridge_factor * (trace_of(crossprod(held, hessian), held) + noise + bias) / 2 + sampling_excess(s)
}

# Variance of the predictors under a prior with the variances 1 / kappa_j.
ridge_total <- function(second, kappa, intercept) {
  slopes <- if (intercept) -1L else seq_along(kappa)
  sum((diag(second) / kappa)[slopes])
}

# The ridge (control_newton_ridge()).
ridge_kappa <- function(run, geometry, d, intercept) {
  o <- run$options
  run$steps_sd * sqrt(d) / o$size * c(if (intercept) o$intercept, 1 / geometry$prior^2)
}

# Variance of the predictors while the iterates vary (head of src/method/ridge.c).
ridge_variance_of_iterates <- function(run, matrix, kappa) {
  o <- run$options
  added <- pmax(o$iterations * kappa / o$reach, o$curvature * o$least * sqrt(2 * nrow(matrix)) * run$matrix_sd) + kappa
  e <- eigen(o$curvature * matrix / sqrt(outer(added, added)), symmetric = TRUE)
  value <- pmax(e$values, 0)
  spread <- colSums(e$vectors^2 / added)
  variance <- -sum(spread / (2 + value) * expm1(-2 * o$iterations * log1p(value)))
  min(variance * run$steps_sd^2 * o$iterations / o$curvature, o$iterate_variance)
}

# ---- intervals ----

# The methods whose intervals have a formula.
plan_intervals_of <- c("newton-ridge", "newton")

# The coordinates of the releases (damped_geometry()): the oracle in them, E zz' for a row z, and the coefficient that
# is one for a column.
plan_coordinates <- function(s) {
  unit <- coefficient_unit(s$design, s$geometry)
  damped <- damped_geometry(s$geometry, s$loss, s$n, (1 - inference_path) * s$left)
  if (is.null(damped)) return(list(oracle = s$oracle, second = s$frame$second, unit = unit))
  oracle <- planned_oracle(s)
  .Call(ffi_oracle_move, oracle, damped)
  list(oracle = oracle, second = geometry_second(s$frame, damped), unit = unit)
}

# Variance of the estimates of a fit with intervals: V = H^-1 (H / n + s_g^2 I + Cov(E v)) H^-1 (R/job-intervals.R),
# with Cov(E v) = s_H^2 / 2 (|v|^2 I + vv'). For vv' its mean is used, which follows from the noise of the path and of g
# in the step v = H^-1 g. Returns it with H, s_H, the variance without privacy, and the prior standard deviation of a
# coefficient.
one_step_variance <- function(s) {
  at <- if (s$method$residuals) residual_releases(s) else newton_releases(s)
  seen <- noisy_inverse(at$hessian, at$hessian_sd)
  step <- at$path + at$sd^2 * seen(diag(s$dim))
  noise <- diag(at$sd^2, s$dim) + at$hessian_sd^2 / 2 * (diag(sum(diag(step)), s$dim) + step)
  list(hessian = at$hessian, hessian_sd = at$hessian_sd, exact = at$inverse / s$n, prior = at$prior,
       variance = seen((at$products %||% at$hessian) / s$n + noise))
}

# The mean of (H + E)^-1 A (H + E)^-1 as a function of A, for the noise E of H, whose eigenvalues are spread over a
# semicircle. With r = (d + 1) s_H^2 / 2 the mean of (H + E)^-1 is about K = (H - x)^-1, x = r tr(K) / d, and that of
# the product KAK + t K^2, t = r tr(KAK) / (d - r tr(K^2)). Where the noise hides an eigenvalue there is no such x: one
# is taken at which r tr(K^2) / d is plan_hidden, or none.
plan_hidden <- 0.75

noisy_inverse <- function(hessian, sd) {
  e <- eigen(hessian, symmetric = TRUE)
  d <- nrow(hessian)
  r <- (d + 1) * sd^2 / 2
  hidden <- function(x) r * mean(1 / (e$values - x)^2) - plan_hidden
  least <- min(e$values)
  most <- if (hidden(0) < 0) stats::uniroot(hidden, c(0, least - sqrt(r / d)))$root else 0
  x <- 0
  for (i in 1:50) x <- min(r * mean(1 / (e$values - x)), most)
  k <- e$vectors %*% (t(e$vectors) / (e$values - x))
  more <- r / d / (1 - min(plan_hidden, r * mean(1 / (e$values - x)^2)))
  function(a) {
    kak <- k %*% a %*% k
    kak + more * sum(diag(kak)) * k %*% k
  }
}

# sd: of the noise of g; path: mean square of the distance of the run's solution from the minimiser, which is noise. The
# path of "newton" is the mean of half of the steps, which use a fifth of the budget; that of "newton-ridge" has about
# the noise of one gradient that uses a fifth.
newton_releases <- function(s) {
  if (s$outputs > 1L) return(class_releases(s))
  cost <- inference_costs("sandwich", s$geometry, (1 - inference_path) * s$left)
  at <- plan_coordinates(s)
  sd <- function(rho) planned_sd(s, "gradient", rho, at$oracle)
  hessian <- s$curvature * at$second
  inverse <- inverse_of(hessian)
  list(hessian = hessian, inverse = inverse, sd = sd(cost[["gradient"]]),
       path = (if (is.null(s$geometry)) 2 else 1) / 0.2 * sd(s$left)^2 * inverse %*% inverse,
       hessian_sd = planned_sd(s, "hessian", cost[["hessian"]], at$oracle), prior = step_prior * at$unit)
}

# Of several classes, in one of the K - 1 directions of classes, which are all alike. The noise of a Hessian of q such
# directions makes (q + 1) / 2 times the variance of that of one (block_noise()).
class_releases <- function(s) {
  cost <- inference_costs("sandwich", s$geometry, (1 - inference_path) * s$left)
  at <- plan_coordinates(s)
  sd <- function(rho) planned_sd(s, "gradient", rho, at$oracle)
  hessian <- 4 * s$curvature / s$outputs * at$second
  inverse <- inverse_of(hessian)
  list(hessian = hessian, inverse = inverse, sd = sd(cost[["gradient"]]),
       path = 1 / 0.2 * sd(s$left)^2 * inverse %*% inverse,
       hessian_sd = planned_sd(s, "class hessian", cost[["hessian"]], at$oracle) * sqrt(s$outputs / 2),
       prior = step_prior * at$unit / sqrt(2))
}

# The ratio of the widths of the private and the non-private interval, by column.
interval_ratios <- function(s) {
  v <- one_step_variance(s)
  ratio <- sqrt(diag(v$variance) / diag(v$exact))
  if (s$frame$intercept) ratio[-1] else ratio
}

# Excess loss of the predictor, shrunk by S as in shrink() in R/job-intervals.R, in the coordinates of the mapped rows.
one_step_excess <- function(s) {
  v <- one_step_variance(s)
  kept <- v$prior^2 * inverse_of(v$variance + diag(v$prior^2, s$dim))
  lost <- diag(s$dim) - kept
  noise <- trace_of(kept %*% v$variance, kept %*% v$hessian)
  (noise + (s$effect * s$frame$radius)^2 * trace_of(crossprod(lost, v$hessian), lost)) / 2
}

# ---- the fit that a plan is about ----

# A setting is a job without data (job-stages.R). Its costs and coordinates are those of a fit, from the same functions;
# scales of noise and default target are the core's, which answers for rows that there are not yet
# (src/engine/planned.c).

# A job for n records and this eps, with
#   frame, curvature, effect  of the plan
#   oracle   in the coordinates of the fit, which holds no data and releases nothing
#   left     the budget that the start and the geometry leave
#   run_rho  the method's part of it
# plan$open, plan$limited: how many columns without and with declared ranges are counted. plan$later: intervals of a fit
# that is paid for, with its point and geometry.
plan_setting <- function(plan, n = plan$n, eps = plan$eps) {
  loss <- plan$loss
  response <- list(kind = loss$response_kind %||% if (has_classes(loss)) "classes" else "factor")
  method <- for_loss(find_method(plan$method), list(loss = loss, call = quote(dp_plan())))
  frame <- plan$frame
  s <- claim_delta(list(
    frame = frame, design = frame, dim = frame$dim, side = frame$dim, outputs = loss_outputs(loss), n = n,
    curvature = plan$curvature,
    effect = plan$effect, event = plan$event, asked = list(eps = eps, delta = plan$delta),
    inference = if (plan$inference) "sandwich" else "none", loss = loss, response = response,
    penalty = penalty_none(), method = method, control = method$default,
    neighbours = plan$neighbours %||% "replace-one", auto = FALSE, call = quote(dp_plan())
  ))
  s <- claim_part(open_budget(add_entries(s, moments = default_moments(s))))
  left <- s$rho * (1 - present_share(s) - planned_ranges_share(s, plan$open %||% 0L, plan$limited %||% 0L))
  wishes <- constant_wishes(s)
  if (!is.null(wishes)) {
    s <- add_entries(s, class_fraction = plan_share(s))
    left <- left - constant_cost(n, s$rho, wishes)
  }
  if (s$outputs > 1L) left <- left - classes_share(s) * s$rho
  s <- add_entries(s, oracle = planned_oracle(s))
  if (uses_geometry(s)) {
    s <- plan_geometry(s)
    left <- left - geometry_share * s$rho
  }
  if (method$residuals) left <- left - (level_share(s) + look_share(s)) * s$rho
  left <- left - left_for_values(s)
  if (isTRUE(plan$later)) left <- s$rho / (1 - inference_path)
  add_entries(s, left = left, run_rho = left * if (plan$inference) inference_path else 1)
}

planned_oracle <- function(job) {
  columns <- job$design$columns
  factors <- unique(columns$variable[columns$kind == "indicator"])
  indicators <- as.vector(table(columns$variable)[factors])
  loss <- path_loss(job)
  .Call(ffi_oracle_planned, as.double(job$n), sum(columns$kind == "numeric"), indicators, job$design$intercept,
        job$design$radius, loss$name, loss$parameter, job$budget$pointer, job$neighbours)
}

# ---- what is expected of the records ----

# The fraction of the rarer class: to second order in the log-odds, p (1 - p) at the mean probability exceeds the mean
# of p (1 - p) by the variance of p.
plan_share <- function(s) {
  balance <- min(0.25, s$curvature + 2 * s$curvature * constant_excess(s))
  (1 - sqrt(1 - 4 * balance)) / 2
}

# ---- coordinates ----

# Classes have equal weights, which changes no scale of noise.
plan_geometry <- function(s) {
  box <- mapped_columns(s$design)$box
  moments <- expected_moments(plan_moments(s), box, s)
  geometry <- c(new_geometry(moments, s$frame$degree, s), row_bounds(s),
                list(tilt = 0, shortest = geometry_shortest, end = rep(NaN, columns_of(s))))
  if (s$method$residuals) geometry <- residual_geometry(geometry, moments, s, box)
  .Call(ffi_oracle_move, s$oracle, geometry)
  add_entries(s, geometry = geometry)
}

# The moments that release_moments() in R/job-geometry.R would find without noise.
plan_moments <- function(s) {
  sd <- planned_sd(s, "moments", geometry_share * s$rho)
  most <- 1 / s$frame$radius
  numeric <- s$frame$columns$kind == "numeric"
  list(mean = s$frame$mean, variance = diag(s$frame$covariance), centre_sd = sd,
       sd = sd * ifelse(numeric, 2 * most, abs(most - 2 * s$frame$mean)))
}

# ---- answers of the core ----

# NA where there is no certificate.
plan_target <- function(s) {
  if (s$method$residuals) return(NA_real_)
  run <- planned_part(s, s$method$family$options(s, s$run_rho), s$run_rho)
  options <- c(run$options, eps_g = 1, eps_h = 1) # it does not depend on these two
  penalty <- core_penalty(s$penalty, s$design$intercept, s$side)
  .Call(ffi_method_alpha, s$method$family$core(s$control), s$oracle, penalty, options, run$rho,
        numeric(s$dim * s$outputs))
}
