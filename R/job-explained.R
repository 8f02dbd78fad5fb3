# The stage of a job that tells how much better the fit is than the intercept-only model. It adds to the job
#   explained  a list of fraction (of the intercept-only model's deviance; R squared for squared error), sd (its
#              standard deviation) and better (is it surely above what fits to noise reach?), or NULL
#
# With w the solution, D = w - start, the mean loss decreases by -g'D + R from the start to w, where g is the gradient
# at w and R the remainder of the second order (remainder()). Runs of "newton-ridge" release what tells both: g, by the
# gradients of the steps and that of the certificate, and the second moments of the rows, by the matrix. Other methods
# release the values of the loss at the constant prediction and at w (proofs: sensitivity-value).
#
# A fit to d columns of noise decreases the loss by about d / (2 n), and on other records is as much worse: so d / n is
# subtracted, where d counts coefficients as far as they follow the records, and a fit is called better if the decrease
# exceeds 2 d / n by explained_z standard deviations.
# inst/experiments/verdict-rule.R compares these constants with others on synthetic problems.

explained_z <- 2
values_level <- 0.25 # fraction of the cost of the values for the level of the response, where it was not released
values_least <- 0.05 # least part of either value, over the other

job_explained <- function(job) {
  cost <- values_cost(job)
  gain <- if (!is.null(job$model) || columns_of(job) == 0L) NULL
          else if (job$method$residuals) residual_gain(job)
          else if (tells_explained(job)) released_gain(job)
          else if (cost > 0 && budget_state(job$budget)$left >= cost) values_gain(job, release_values(job, cost))
  add_entries(job, explained = if (!is.null(gain)) explained_by(job, gain))
}

# gain: a list of gain (decrease of the mean loss of the used records), sd (of its noise), null (the loss of the
# intercept-only model), unit (of the loss, over that of a likelihood) and overfit (the same, where d / n is to be
# subtracted, else zero).
explained_by <- function(job, gain) {
  if (!is.finite(gain$sd) || !(gain$null > 0)) return(NULL)
  effective <- job$answer$result$effective
  if (is.nan(effective)) effective <- columns_of(job) * max(1, job$outputs - 1)
  overfit <- gain$overfit * effective / used_records(job)
  sampling <- 2 * gain$unit * max(gain$gain, 0) / used_records(job)
  list(fraction = min((gain$gain - overfit) / gain$null, 1), sd = sqrt(gain$sd^2 + sampling) / gain$null,
       better = gain$gain - 2 * overfit > explained_z * gain$sd)
}

used_fraction <- function(job) {
  if (identical(usable_verdict(list(usable = job$usable, part = FALSE)), "usable")) min(job$usable$fraction, 1) else 1
}

used_records <- function(job) job$n * used_fraction(job)

# ---- by gradients and matrix ----

released_gain <- function(job) {
  gradient <- job$released$gradient
  if (is.null(gradient)) return(NULL)
  start <- run_start(job)
  moved <- gradient$at - start
  slope <- combined_slope(sum(gradient$value * moved), gradient$sd * sqrt(sum(moved^2)), job$answer$result)
  rest <- remainder(job, matrix(start, ncol = job$outputs), matrix(moved, ncol = job$outputs))
  used <- used_fraction(job)
  null <- if (job$outputs > 1L) rest$probability else c(rest$probability, 1 - rest$probability)
  list(gain = (rest$value - slope[["value"]] / rest$tilt) / used,
       sd = sqrt(rest$sd^2 + (slope[["sd"]] / rest$tilt)^2) / used, null = -sum(null * log(null)) * rest$weight,
       unit = 1, overfit = 1)
}

# Of the certificate, and of the steps where the core tells it.
combined_slope <- function(value, sd, result) {
  if (is.nan(result$slope_sd)) return(c(value = value, sd = sd))
  part <- sd^2 / (sd^2 + result$slope_sd^2)
  c(value = (1 - part) * value + part * result$slope, sd = sd * sqrt(1 - part))
}

# R is the mean of A(s) - A(t) + A'(t)'(t - s), A the logarithm of the sum of exponentials, over the predictors s at the
# start, which are constant, and t at w. These are taken to be normal with the covariance that the matrix tells. In a
# geometry with a tilt k a record's loss has the weight 1 + k or 1 - k, and so has R; tilt is the ratio of both, by
# which slopes are divided. weight: mean weight of long rows.
remainder <- function(job, start, moved) {
  geometry <- job$geometry
  constant <- if (job$design$intercept) geometry$constant else 0
  from <- constant * start[1, ]
  mean <- constant * moved[1, ]
  columns <- if (job$design$intercept) -1 else seq_len(nrow(moved))
  slopes <- moved[columns, , drop = FALSE]
  probability <- link_mean(matrix(from, 1))[1, ]
  curvature <- if (job$outputs > 1L) diag(probability) - tcrossprod(probability) else probability * (1 - probability)
  out <- list(probability = probability, tilt = 1, weight = 1, sd = 0, value = 0)
  kept <- job$released$matrix
  if (is.null(kept)) return(out) # too large to be kept: R is at least zero
  used <- used_fraction(job)
  covariance <- crossprod(slopes, kept$value[columns, columns, drop = FALSE] %*% slopes) / used
  quadratic <- sum(curvature * covariance) / 2
  noise <- kept$sd * sqrt(sum((slopes %*% curvature %*% t(slopes))^2)) / 2
  of <- function(covariance, tilt = 0) mean_remainder(from, mean, covariance, tilt)
  positive <- positive_part(covariance)
  value <- of(positive)
  grows <- if (quadratic > 0) (of(1.1 * positive) - value) / (0.1 * sum(curvature * positive) / 2) else 1
  tilt <- geometry$tilt
  out$tilt <- if (tilt == 0) 1 else {
    wide <- positive + 0.01 * curvature
    of(wide, tilt) / of(wide)
  }
  out$value <- used * (value + quadratic - sum(curvature * positive) / 2)
  out$sd <- noise * max(grows, 0)
  if (constant > 0) out$weight <- mean_weight(kept$value[1, 1] / constant^2 / used, kept$sd / constant^2 / used)
  out
}

# Of a weight in (0, 1], by a noisy mean; one where the noise hides it.
mean_weight <- function(mean, sd) {
  weight <- min(max(mean, 0.3), 1)
  1 - (1 - weight) * weight_spread^2 / (weight_spread^2 + sd^2)
}

weight_spread <- 0.2 # standard deviation of a mean weight that is expected

mean_remainder <- function(from, mean, covariance, tilt) {
  e <- eigen(covariance, symmetric = TRUE)
  points <- normal_points(length(from))
  change <- rep(mean, each = nrow(points)) + points %*% (sqrt(pmax(e$values, 0)) * t(e$vectors))
  shift <- log1p(tilt) - log1p(-tilt)
  at <- change + rep(from, each = nrow(points))
  part <- link_sum(matrix(from + shift, 1)) - link_sum(at + shift) + rowSums(link_mean(at + shift) * change)
  weight <- if (tilt == 0) 1 else 1 + tilt * (2 * stats::plogis(at[, 1]) - 1)
  mean(weight * part)
}

# A and its derivatives, for a row of predictors of each record: one, whose other is zero, or one for each class.
link_sum <- function(t) {
  if (ncol(t) == 1L) return(pmax(t[, 1], 0) + log1p(exp(-abs(t[, 1]))))
  most <- do.call(pmax, as.data.frame(t))
  most + log(rowSums(exp(t - most)))
}

link_mean <- function(t) if (ncol(t) == 1L) stats::plogis(t) else exp(t - link_sum(t))

# About normal in k dimensions: quantiles, or an additive recurrence.
normal_points <- function(k) {
  if (k == 1L) return(matrix(stats::qnorm(stats::ppoints(101))))
  root <- stats::uniroot(function(x) x^(k + 1) - x - 1, c(1, 2), tol = 1e-12)$root
  stats::qnorm((0.5 + outer(seq_len(500), root^-seq_len(k))) %% 1)
}

# ---- by residuals ----

# Half of the mean square, for which the scale of residuals stands, and of relative ones for counts.
residual_gain <- function(job) {
  result <- job$answer$result
  if (result$slope_sd == 0) return(list(gain = 0, sd = 0, null = 1, unit = 1, overfit = 0))
  present <- job$level$present
  gain <- result$variance / 2 - result$slope / present
  left <- if (is_count(job)) counts_left(job$level$curvature * job$loss$half, result$square, 2 * max(gain, 0)) else
    result$square / 2
  null <- max(gain, 0) + left
  list(gain = gain, sd = result$slope_sd / present, null = null, unit = result$square, overfit = 0)
}

# Half of the deviance, over the mean, of counts with this mean and this mean square of relative residuals, as of a
# negative binomial distribution.
count_null <- function(mean, square) {
  spread <- mean^2 * square
  law <- if (spread > 1.001 * mean) {
    function(p) stats::qnbinom(p, mu = mean, size = mean^2 / (spread - mean))
  } else {
    function(p) stats::qpois(p, mean)
  }
  y <- law(stats::ppoints(500))
  mean(ifelse(y > 0, y * log(pmax(y, 1) / mean), 0) - (y - mean)) / mean
}

# The same of what predictions leave whose logarithms have this variance about that of the mean, with the square of
# residuals that they leave, whose variance is in proportion to the prediction.
counts_left <- function(mean, square, variance) {
  at <- exp(sqrt(variance) * stats::qnorm(stats::ppoints(21)) - variance / 2)
  mean(vapply(at, function(at) at * count_null(mean * at, square / at), 0))
}

# ---- by values ----

# Releases the values of the loss, without the penalty, at the constant prediction and at the solution (proofs:
# sensitivity-value). Returns a list of null and own (the values), sd (of their difference), and for counts mean and
# square as for count_null().
release_values <- function(job, cost) {
  level <- constant_level(job, values_level * cost)
  inside <- !is_warm(job$method) && is.null(job$method$family$weighted)
  # Workers keep the rows that they opened last: those of the level, where it needs columns.
  lost <- !is.null(job$oracle$move) && is_numeric_response(job$response)
  oracle <- if (inside && !lost) job$oracle else plain_oracle(job, loss = job$loss)
  geometry <- if (inside) job$geometry
  if (!is.null(geometry) && lost) move_oracle(oracle, geometry)
  constant <- function(start) to_geometry(geometry, core_start(job$design, start))
  constant <- as.vector(by_output(level$start, job$outputs, constant))
  own <- if (inside) job$answer$w else from_geometry(job$geometry, job$answer$w)
  length <- sqrt(c(sum(constant^2), sum(own^2)))
  part <- length + values_least * max(length, 1)
  value <- function(at, cost) .Call(ffi_oracle_value, oracle$pointer, at, cost, oracle$noise == "reproducible")
  left <- (cost - level$cost) * (1 - 1e-12)
  null <- value(constant, left * part[1] / sum(part))
  own <- value(own, left * part[2] / sum(part))
  list(null = null$value, own = own$value, sd = sqrt(null$sd^2 + own$sd^2),
       mean = level$mean, square = level$square)
}

# The best constant prediction, by what is known or a release at this cost: a list of start (for the mapped response),
# cost, and of counts mean and square as for count_null().
constant_level <- function(job, cost) {
  at <- function(constant) c(constant, numeric(job$side - 1))
  if (!job$design$intercept) return(list(start = zero_start(job), cost = 0))
  if (job$outputs > 1L) {
    answer <- .Call(ffi_oracle_class_counts, bare_oracle(job, job$loss)$pointer, cost, job$noise == "reproducible")
    constant <- log(pmax(answer$counts, answer$sd / 2))
    return(list(start = vapply(constant - mean(constant), at, numeric(job$side)), cost = cost))
  }
  if (job$response$kind == "bounded") return(list(start = at(release_level(job, cost)$mean), cost = cost))
  if (is_count(job)) {
    half <- job$loss$response[2] / 2
    coded <- utils::modifyList(job$response, list(bounds = c(0, 2 * half), centre = half, half = half))
    level <- release_level(complete(job, response = coded), cost)
    mean <- half * max(1 + level$mean, level$noise / 2)
    return(list(start = at(log(mean)), cost = cost, mean = mean, square = (half / mean)^2 * level$variance))
  }
  class <- job$class
  known <- !is.null(class)
  if (!known) class <- release_class(job, cost)
  list(start = at(best_constant(job$loss, class)), cost = if (known) 0 else cost)
}

zero_start <- function(job) if (job$outputs > 1L) matrix(0, job$side, job$outputs) else numeric(job$side)

# For a loss that is not that of a likelihood it may be far away.
best_constant <- function(loss, class) {
  constant <- log_odds(class$fraction, class$sd)
  if (has_probabilities(loss) && is_logistic(loss)) return(constant)
  p <- stats::plogis(constant)
  stats::optimize(function(b) p * loss_value(loss, 1, b) + (1 - p) * loss_value(loss, -1, b), c(-8, 8))$minimum
}

values_gain <- function(job, values) {
  used <- used_fraction(job)
  gain <- (values$null - values$own) / used
  sd <- values$sd / used
  if (!is.null(values$mean)) {
    unit <- job$loss$half / values$mean
    return(list(gain = gain * unit, sd = sd * unit, null = count_null(values$mean, values$square),
                unit = 1 / values$mean, overfit = 1 / values$mean))
  }
  empty <- if (job$outputs > 1L) log(job$outputs) else loss_value(job$loss, 0, 0)
  null <- (values$null - (1 - used) * empty) / used
  unit <- if (job$response$kind == "bounded") 2 * max(null - max(gain, 0), 0) else 1
  list(gain = gain, sd = sd, null = null, unit = unit, overfit = unit)
}
