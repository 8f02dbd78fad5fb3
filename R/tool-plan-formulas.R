# The formulas of dp_plan(), functions of public numbers only. A *frame* describes the expected columns (plan_frame()),
# a *setting* (plan_setting()) adds the other assumptions. All formulas are for the logistic loss under "replace-one",
# where a record changes a mean gradient by at most 2 / n, and the noise with the whole budget is nu = 2 / (n mu).

# ---- columns ----

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
       dim = nrow(second), mean = mean, covariance = covariance, second = second)
}

# The budget that the start at the constant prediction leaves (R/job-start.R), and the method's part of it.
after_start <- function(s) if (s$frame$intercept) s$rho - constant_cost(s$n, s$rho, start_coarse) else s$rho
method_rho <- function(s) after_start(s) * if (s$inference) inference_path else 1

# The inverse of a positive definite matrix, whose diagonal may span many orders of magnitude.
inverse_of <- function(x) {
  scale <- 1 / sqrt(diag(x))
  scale * t(scale * solve(scale * t(scale * x)))
}

# The trace of a b.
trace_of <- function(a, b) sum(a * t(b))

# ---- method "newton" ----

# Excess loss of the mean of the last iterates of src/method/newton.c. Along each eigenvector of the Hessian, which is
# also one of the majorant, it is the sum of the signal not yet reached, the sampling error and the noise.
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
  from <- diag(s$frame$dim)
  if (s$frame$intercept) from[1, ] <- c(0, -s$frame$radius * s$frame$mean)
  (s$effect * s$frame$radius)^2 * tcrossprod(from)
}

# sd: of the noise in a step's gradient; lambda0 and its lower bound: as min_eigenvalue() and invert() in
# src/method/newton_step.c.
newton_run <- function(s) {
  o <- control_newton()
  rho <- method_rho(s) * (1 - o$certificate_share)
  sd <- 2 / (s$n * sqrt(2 * rho * (1 - o$curvature_share) / o$iterations))
  least <- sqrt(2 * s$frame$dim) * sqrt(2) / 4 / (s$n * sqrt(2 * rho * o$curvature_share))
  list(iterations = o$iterations, tail = o$tail, sd = sd, least = least,
       lambda0 = max(o$lambda_scale * sqrt(o$iterations * s$frame$dim) * sd, least))
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

# As adapt() in src/method/newton_step.c, which halves lambda0 if a sum of squares with these weights exceeds the noise
# level; here on average over normal signals. along: the mean squares without the noise.
newton_windows <- 12
newton_level <- 2

newton_adapted <- function(run, lambda0, weight, noise, along) {
  spread <- function(square) sqrt(2 * sum((weight * square)^2))
  above <- sum(weight * along) - newton_level * spread(noise)
  max(lambda0 * 2^-stats::pnorm(above / spread(noise + along)), min(lambda0, run$least))
}

sampling_excess <- function(s) s$frame$dim / (2 * s$n)

# Correct to second order in the log-odds.
constant_excess <- function(s) s$curvature / 2 * (s$effect * s$frame$radius)^2 * sum(diag(s$frame$covariance))

# As newton_default_alpha() in src/method/newton.c.
newton_target <- function(s) {
  control <- control_newton()
  rho <- method_rho(s)
  last <- control$certificate_share * rho
  sd <- 2 / (s$n * sqrt(2 * last))
  steps <- (rho - last) * (1 - control$curvature_share)
  left <- 2 / (s$n * sqrt(2 * steps)) * sqrt(s$frame$dim / control$tail)
  above <- function(alpha) {
    seen <- sqrt(max(left, alpha / 2)^2 + s$frame$dim * sd^2)
    norm_bound(seen, sd, s$frame$dim, 1 - control$confidence) - alpha
  }
  stats::uniroot(above, sd * c(1e-3, 10 * sqrt(s$frame$dim) + 100), tol = 1e-9 * sd)$root
}

# As confidence_norm() in src/method/confidence.c: the upper bound of a norm that is released with noise; it fails with
# probability beta.
norm_bound <- function(seen, sd, dim, beta) {
  square <- max((seen / sd)^2, dim)
  below <- function(length) stats::pchisq(square, dim, length^2) - beta
  sd * stats::uniroot(below, c(0, 2 * sqrt(square) + 10), tol = 1e-9)$root
}

# ---- method "newton-ridge" ----

# The costs of a run before its steps, and the coordinates of its rows, from the stages of a job.
ridge_run <- function(s) {
  method <- methods()[["newton-ridge"]]
  frame <- s$frame
  job <- list(loss = loss_logistic(), method = method, control = method$family$control(method), n = s$n, rho = s$rho,
              dim = frame$dim, design = frame, class_fraction = if (frame$intercept) plan_share(s))
  bounds <- row_bounds(job)
  job$geometry <- c(new_geometry(plan_moments(s), s$frame$degree, job), bounds)
  rho <- after_start(s) - geometry_share * s$rho
  last <- job$control$certificate_share * rho
  matrix <- ridge_control(job)$matrix_share * (rho - last)
  gradient <- function(rho) 2 * bounds$bound / (s$n * sqrt(2 * rho))
  list(geometry = job$geometry, options = ridge_options(job, rho), steps_sd = gradient(rho - last - matrix),
       last_sd = gradient(last), matrix_sd = sqrt(2) * bounds$cap^2 / (s$n * sqrt(2 * matrix)))
}

# The fraction of the rarer class: to second order in the log-odds, p (1 - p) at the mean probability exceeds the mean
# of p (1 - p) by the variance of p.
plan_share <- function(s) {
  balance <- min(0.25, s$curvature + 2 * s$curvature * constant_excess(s))
  (1 - sqrt(1 - 4 * balance)) / 2
}

# The moments that release_moments() in R/job-geometry.R would find without noise.
plan_moments <- function(s) {
  sd <- 2 / (s$n * sqrt(2 * geometry_share * s$rho))
  most <- 1 / s$frame$radius
  numeric <- s$frame$columns$kind == "numeric"
  list(mean = s$frame$mean, variance = diag(s$frame$covariance),
       sd = sd * ifelse(numeric, 2 * most, abs(most - 2 * s$frame$mean)))
}

# The sum of the signal that the posterior mean removes, the noise, and the bias of bounded slopes while the iterates
# vary, in the coordinates of the geometry. A row longer than the cap has a smaller weight and, as its slope is bounded,
# less curvature: with a slope of one half about plan_ridge_bent of that of the logistic loss. plan_ridge_factor is
# fitted on synthetic problems (inst/experiments/plan-rule.R).
plan_ridge_factor <- 1.5
plan_ridge_bent <- 0.75

ridge_excess <- function(s) {
  run <- ridge_run(s)
  geometry <- run$geometry
  d <- s$frame$dim
  intercept <- s$frame$intercept
  second <- if (intercept) s$frame$covariance else s$frame$second
  second <- geometry$scale * t(geometry$scale * second)
  if (intercept) second <- rbind(c(geometry$constant^2, numeric(d - 1)), cbind(0, second))
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

# As in finish() of src/method/ridge.c.
ridge_total <- function(second, kappa, intercept) {
  slopes <- if (intercept) -1L else seq_along(kappa)
  sum((diag(second) / kappa)[slopes])
}

# As size_ridge() in src/method/ridge.c.
ridge_kappa <- function(run, geometry, d, intercept) {
  o <- run$options
  run$steps_sd * sqrt(d) / o$size * c(if (intercept) o$intercept, 1 / geometry$prior^2)
}

# Variance of the predictors while the iterates vary, as in damping() in src/method/ridge.c.
ridge_variance_of_iterates <- function(run, matrix, kappa) {
  o <- run$options
  added <- pmax(o$iterations * kappa / o$reach, o$curvature * o$least * sqrt(2 * nrow(matrix)) * run$matrix_sd) + kappa
  e <- eigen(o$curvature * matrix / sqrt(outer(added, added)), symmetric = TRUE)
  value <- pmax(e$values, 0)
  spread <- colSums(e$vectors^2 / added)
  variance <- -sum(spread / (2 + value) * expm1(-2 * o$iterations * log1p(value)))
  min(variance * run$steps_sd^2 * o$iterations / o$curvature, o$iterate_variance)
}

# As ridge_default_alpha() in src/method/ridge.c.
ridge_target <- function(s) {
  run <- ridge_run(s)
  2 * norm_bound(sqrt(s$frame$dim) * run$last_sd, run$last_sd, s$frame$dim, 1 - run$options$confidence)
}

# ---- intervals ----

# Variance of the estimates of a fit with intervals: V = H^-1 (H / n + s_g^2 I + Cov(E v)) H^-1 (R/job-intervals.R),
# with Cov(E v) = s_H^2 / 2 (|v|^2 I + vv'). For vv' its mean is used, which follows from the noise of the path and of g
# in the step v = H^-1 g. The path is the mean of half of the steps, which use a fifth of the budget.
one_step_variance <- function(s) {
  share <- inference_shares
  nu <- 2 / (s$n * sqrt(2 * after_start(s)))
  hessian <- s$curvature * s$frame$second
  inverse <- inverse_of(hessian)
  step <- nu^2 * (1 / share[["gradient"]] + 2 / 0.2) * inverse %*% inverse
  matrix_sd <- sqrt(2) / 4 / (s$n * sqrt(2 * after_start(s) * share[["hessian"]]))
  noise <- diag(nu^2 / share[["gradient"]], s$frame$dim) +
    matrix_sd^2 / 2 * (diag(sum(diag(step)), s$frame$dim) + step)
  list(hessian = hessian, exact = inverse / s$n, variance = inverse / s$n + inverse %*% noise %*% inverse)
}

# The ratio of the widths of the private and the non-private interval, by column.
interval_ratios <- function(s) {
  v <- one_step_variance(s)
  ratio <- sqrt(diag(v$variance) / diag(v$exact))
  if (s$frame$intercept) ratio[-1] else ratio
}

# Excess loss of the predictor, shrunk by S as in shrink() in R/job-intervals.R.
one_step_excess <- function(s) {
  v <- one_step_variance(s)
  prior <- (step_prior * s$frame$radius)^2
  kept <- prior * inverse_of(v$variance + diag(prior, s$frame$dim))
  lost <- diag(s$frame$dim) - kept
  noise <- trace_of(kept %*% v$variance, kept %*% v$hessian)
  (noise + (s$effect * s$frame$radius)^2 * trace_of(lost %*% v$hessian, lost)) / 2
}
