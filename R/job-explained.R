# The stage of a job that tells how much better the fit is than the intercept-only model. It adds to the job
#   explained  a list of fraction (of the intercept-only model's deviance; R squared for squared error), sd (its
#              standard deviation) and better (is it surely above what fits to noise reach?), or NULL
#
# It releases the decrease of the mean loss from the intercept-only model to the fit, whose records' decreases are
# clipped to an interval (proofs: sensitivity-improvement). The noise is in proportion to its width. What the fit's
# releases tell of the predictors gives the decreases that are expected of records, and with them the interval for which
# noise and expected clipping together are smallest. Where more is clipped than that, gains come out too small, as few
# records of a good fit have a much larger loss than before.
#
# A fit to d columns of noise decreases the loss by about d / (2 n), and on other records is as much worse: so d / n is
# subtracted, where d counts coefficients as far as they follow the records, and a fit is called better if the decrease
# exceeds 2 d / n by explained_z standard deviations.
# inst/experiments/verdict-rule.R compares these constants with others on synthetic problems.

explained_z <- 2
values_level <- 0.25 # fraction of the cost for the level of the response, where it was not released
values_null <- 0.25  # and for the loss of the intercept-only model, where this does not follow from the level
gains_doubt <- 2     # what is clipped may be so many times what is expected
gains_least <- 1e-6  # least end of an interval, over the largest decrease that is expected
gains_clip <- 8      # clip of residuals, in standard deviations of those of the intercept-only model

job_explained <- function(job) {
  if (!tells_explained(job)) return(job)
  cost <- min(values_cost(job), budget_state(job$budget)$left - job$end) * (1 - 1e-9)
  if (!(cost > 0)) return(job)
  null <- null_model(job, cost)
  at <- fitted_point(job)
  points <- list(start = start_point(job, null$start, at$geometry), own = at$w)
  moved <- expected_move(job, points$own - points$start, at$geometry)
  clip <- if (job$method$residuals) gains_clip * sqrt(null$variance + moved$covariance[1] + moved$mean[1]^2) else 0
  gain <- release_gain(job, at, points, expected_gains(job, null, moved), clip, cost - null$cost)
  add_entries(job, explained = explained_by(job, gain, null))
}

# ---- the intercept-only model ----

# By what is known, or by releases that cost no more than `cost`. Returns a list of
#   start   coefficients (for the mapped response), a column for each output
#   cost    of the releases
#   loss    the mean loss of the used records, with sd; NA where it is the decrease and what the fit leaves
#   unit    of the loss, over that of a likelihood
#   and what expected_gains() needs: fractions of the classes; variance, of residuals of the fit where it is by these,
#   else of the response; for counts mean, and that of the response over the squared mean.
null_model <- function(job, cost) {
  if (job$outputs > 1L) return(null_of_classes(job, values_level * cost))
  if (job$method$residuals) return(null_of_residuals(job))
  if (is_count(job)) return(null_of_counts(job, values_level * cost))
  if (job$response$kind == "bounded") null_of_numbers(job, cost) else null_of_two(job, values_level * cost)
}

null_of_classes <- function(job, cost) {
  given <- if (starts_at_fractions(job)) matrix(job$start, job$side)[1, ]
  free <- !is.null(given) || !job$design$intercept
  constant <- given %||% if (free) numeric(job$outputs) else {
    answer <- .Call(ffi_oracle_class_counts, bare_oracle(job, job$loss)$pointer, cost, job$noise == "reproducible")
    log(pmax(answer$counts, answer$sd / 2))
  }
  constant <- constant - mean(constant)
  fractions <- exp(constant) / sum(exp(constant))
  list(start = rbind(constant, matrix(0, job$side - 1, job$outputs)), cost = if (free) 0 else cost, fractions = fractions,
       loss = -sum(fractions * log(fractions)), sd = 0, unit = 1)
}

# The best constant of a loss that is not that of a likelihood may be far away.
null_of_two <- function(job, cost) {
  free <- !job$design$intercept || !is.null(job$class)
  p <- 0.5
  constant <- 0
  if (job$design$intercept) {
    class <- job$class %||% release_class(job, cost)
    constant <- log_odds(class$fraction, class$sd)
    p <- stats::plogis(constant)
    if (!has_probabilities(job$loss) || !is_logistic(job$loss)) {
      constant <- stats::optimize(function(b) loss_of_two(job$loss, p, b), c(-8, 8))$minimum
    }
  }
  list(start = constant_start(job, constant), cost = if (free) 0 else cost, fractions = p,
       loss = loss_of_two(job$loss, p, constant), sd = 0, unit = 1)
}

loss_of_two <- function(loss, p, b) p * loss_value(loss, 1, b) + (1 - p) * loss_value(loss, -1, b)

constant_start <- function(job, constant) c(if (job$design$intercept) constant, numeric(columns_of(job)))

# Few residuals of counts decide their mean square, which their noisy counts hardly tell: the octaves of the response
# tell more.
null_of_residuals <- function(job) {
  square <- job$answer$result$square
  if (!is_count(job)) return(list(start = job$start, cost = 0, loss = NA, sd = 0, variance = square, unit = square))
  mean <- job$level$curvature * job$loss$half
  null_of_mean(job, mean, job$level$varies, job$level$exposed, job$start)
}

null_of_numbers <- function(job, cost) {
  level <- release_level(job, values_level * cost)
  start <- constant_start(job, if (job$design$intercept) level$mean else 0)
  oracle <- plain_oracle(job, loss = job$loss)
  null <- .Call(ffi_oracle_value, oracle$pointer, core_start(job$design, start), values_null * cost,
                oracle$noise == "reproducible")
  used <- used_fraction(job)
  loss <- (null$value - (1 - used) * loss_value(job$loss, 0, 0)) / used
  list(start = start, cost = (values_level + values_null) * cost, variance = level$variance, loss = loss,
       sd = null$sd / used, unit = 2 * loss)
}

null_of_counts <- function(job, cost) {
  share <- if (has_offset(job$design)) count_offset_share else 0
  half <- job$loss$half
  coded <- utils::modifyList(job$response, list(bounds = c(0, half), centre = half / 2, half = half / 2))
  level <- release_level(complete(job, response = coded), (1 - share) * cost)
  exposure <- if (share > 0) release_exposure(job, share * cost) else list(log = 0, exposed = 0)
  mean <- half / 2 * max(1 + level$mean, level$noise / 2)
  null_of_mean(job, mean, (half / 2 / mean)^2 * level$variance, exposure$exposed,
               constant_start(job, log(mean) - exposure$log), cost)
}

# Of counts with this mean and relative variance, of which the exposure explains a part.
null_of_mean <- function(job, mean, varies, exposed, start, cost = 0) {
  square <- max(varies - expm1(exposed), 1 / mean)
  unit <- mean / job$loss$half
  list(start = start, cost = cost, mean = mean, variance = square, loss = counts_left(mean, square, exposed) * unit,
       sd = 0, unit = square * unit)
}

# ---- what the fit's releases tell of predictors ----

# A list of the oracle and, in its coordinates, which are those of the geometry, the coefficients w of the fit's
# predictions.
fitted_point <- function(job) {
  w <- job$answer$w
  geometry <- job$geometry
  if (is_warm(job$method)) return(list(w = from_geometry(geometry, w), oracle = plain_oracle(job, loss = job$loss)))
  if (job$method$residuals) {
    columns <- if (job$design$intercept) -1 else seq_along(w)
    w[columns] <- w[columns] / job$answer$result$factor
    return(list(w = w, geometry = residual_facts(job, known_level(job))$geometry, oracle = job$oracle))
  }
  if (is.null(geometry) && !is.null(job$intervals)) w <- core_start(job$design, job$intervals$predictor)
  # Workers keep the rows that they opened last.
  lost <- !is.null(job$oracle$move) && (is_numeric_response(job$response) || !is.null(job$intervals))
  oracle <- if (lost) plain_oracle(job, loss = job$loss) else job$oracle
  if (lost && !is.null(geometry)) move_oracle(oracle, geometry)
  list(w = w, geometry = geometry, oracle = oracle)
}

start_point <- function(job, start, geometry) {
  as.vector(by_output(start, job$outputs, function(start) to_geometry(geometry, core_start(job$design, start))))
}

# Mean and covariance, over the records, of what is added to their predictors. In a geometry columns are centred. Runs
# that release the second moments of rows know the covariance up to noise; else columns are uncorrelated, and have the
# spread that their coordinates expect of them.
expected_move <- function(job, moved, geometry) {
  moved <- matrix(moved, ncol = job$outputs)
  mean <- if (job$design$intercept && !is.null(geometry)) geometry$constant * moved[1, ] else numeric(job$outputs)
  list(mean = mean, covariance = if (job$method$residuals) matrix(job$answer$result$variance)
                                 else moved_covariance(job, moved, geometry))
}

moved_covariance <- function(job, moved, geometry) {
  slopes <- if (job$design$intercept) moved[-1, , drop = FALSE] else moved
  columns <- seq_len(nrow(moved))[if (job$design$intercept) -1 else TRUE]
  kept <- if (!is.null(job$method$family$weighted) && !is.null(geometry)) job$released$matrix
  if (!is.null(kept)) {
    covariance <- crossprod(slopes, kept$value[columns, columns, drop = FALSE] %*% slopes) / used_fraction(job)
    return(positive_part(covariance) + diag(kept$sd * colSums(slopes^2), job$outputs))
  }
  variance <- if (!is.null(geometry)) geometry$spread^2 / sum(geometry$spread^2) else {
    box <- mapped_columns(job$design)$box
    geometry_common * pmax(abs(box[, 1]), abs(box[, 2]))^2
  }
  crossprod(slopes * sqrt(variance))
}

# The decreases of the loss that are expected of records, for predictors that move like this, normally, from the
# constant prediction, and responses that follow them: a list of gain and weight.
expected_gains <- function(job, null, moved) {
  if (!is.null(null$fractions)) return(gains_of_classes(job$loss, null, moved$covariance))
  grid <- stats::ppoints(41)
  variance <- moved$covariance[1]
  z <- sqrt(variance) * stats::qnorm(grid)
  gain <- if (is_count(job)) gains_of_counts(job, null, variance, z, moved$mean, grid) else {
    left <- if (job$method$residuals) null$variance else max(null$variance - variance, null$variance / 10)
    value <- function(r) if (job$method$residuals) r^2 / 2 else loss_value(job$loss, 0, r)
    # Residuals have longer tails than the normal distribution. Those of the right level are r.
    r <- sqrt(left / 2) * stats::qt(grid, 4)
    value(outer(z, r, function(z, r) r - z)) - value(outer(z, r, function(z, r) r + moved$mean))
  }
  list(gain = as.vector(gain), weight = rep(1 / length(gain), length(gain)))
}

# The predictions are right on average, but for the mean move.
gains_of_counts <- function(job, null, variance, z, mean, grid) {
  square <- max(null$variance - expm1(variance), null$variance / 10, 1 / null$mean)
  if (mean == 0) mean <- -variance / 2
  at <- exp(z - variance / 2)
  y <- t(vapply(at, function(at) count_quantiles(null$mean * at, square / at, grid), grid))
  (null$mean - null$mean * exp(z + mean) + y * (z + mean)) / job$loss$half
}

# The predictors are shifted so that the fractions of the classes are right.
gains_of_classes <- function(loss, null, covariance) {
  e <- eigen(covariance, symmetric = TRUE)
  k <- nrow(covariance)
  points <- normal_points(k)
  add <- points %*% (sqrt(pmax(e$values, 0)) * t(e$vectors))
  if (k == 1L) {
    p <- null$fractions
    mean_at <- function(b) mean(stats::plogis(b + add)) - p
    t <- drop(add) + stats::uniroot(mean_at, stats::qlogis(p) + c(-1, 1) * (20 + 10 * max(abs(add))))$root
    gain <- c(loss_value(loss, 1, null$start[1]) - loss_value(loss, 1, t),
              loss_value(loss, -1, null$start[1]) - loss_value(loss, -1, t))
    return(list(gain = gain, weight = c(stats::plogis(t), stats::plogis(-t)) / length(t)))
  }
  shift <- log(null$fractions)
  for (i in 1:20) shift <- shift + log(null$fractions / colMeans(class_probabilities(sweep(add, 2, shift, `+`))))
  p <- class_probabilities(sweep(add, 2, shift, `+`))
  list(gain = as.vector(log(p) - rep(log(null$fractions), each = nrow(p))), weight = as.vector(p) / nrow(p))
}

class_probabilities <- function(t) {
  e <- exp(t - do.call(pmax, as.data.frame(t)))
  e / rowSums(e)
}

# About normal in k dimensions: quantiles, or an additive recurrence.
normal_points <- function(k) {
  if (k == 1L) return(matrix(stats::qnorm(stats::ppoints(201))))
  root <- stats::uniroot(function(x) x^(k + 1) - x - 1, c(1, 2), tol = 1e-12)$root
  stats::qnorm((0.5 + outer(seq_len(500), root^-seq_len(k))) %% 1)
}

# ---- the release ----

# Returns a list of gain (decrease of the mean loss), sd (of its noise, with what is expected to be clipped) and spread
# (standard deviation of the records' decreases).
release_gain <- function(job, at, points, expected, clip, cost) {
  along <- points$own - points$start
  if (all(along == 0)) return(list(gain = 0, sd = 0, spread = 0))
  found <- gain_interval(expected, 1 / (job$n * sqrt(2 * cost)))
  answer <- .Call(ffi_oracle_improvement, at$oracle$pointer, points$start, along, found$ends, clip, cost,
                  at$oracle$noise == "reproducible")
  list(gain = answer$value, sd = sqrt(answer$sd^2 + sum(found$clipped^2)), spread = found$spread)
}

# The interval [-a, b]. noise: of a release, over a + b.
gain_interval <- function(expected, noise) {
  least <- gains_least * max(abs(expected$gain), 1e-6)
  side <- function(gain) {
    ends <- pmax(unique(stats::quantile(pmax(gain, 0), 1 - c(0, 2^-(1:24 / 2)), names = FALSE)), least)
    list(ends = ends, clipped = vapply(ends, function(end) sum(expected$weight * pmax(gain - end, 0)), 0))
  }
  low <- side(-expected$gain)
  high <- side(expected$gain)
  error <- outer(low$ends, high$ends, `+`)^2 * noise^2 +
    gains_doubt^2 * outer(low$clipped^2, high$clipped^2, `+`)
  best <- arrayInd(which.min(error), dim(error))
  ends <- c(low$ends[best[1]], high$ends[best[2]])
  clipped <- pmin(pmax(expected$gain, -ends[1]), ends[2])
  list(ends = ends, clipped = c(low$clipped[best[1]], high$clipped[best[2]]),
       spread = sqrt(sum(expected$weight * clipped^2)))
}

explained_by <- function(job, gain, null) {
  records <- used_records(job)
  used <- used_fraction(job)
  value <- gain$gain / used
  loss <- if (is.na(null$loss)) max(value, 0) + null$variance / 2 else null$loss
  if (!(loss > 0)) return(NULL)
  effective <- job$answer$result$effective
  if (is.nan(effective)) effective <- columns_of(job) * max(1, job$outputs - 1)
  overfit <- null$unit * effective / records
  sd <- sqrt((gain$sd / used)^2 + gain$spread^2 / records)
  fraction <- (value - overfit) / loss
  list(fraction = min(fraction, 1), sd = sqrt(sd^2 + (fraction * null$sd)^2) / loss,
       better = value - 2 * overfit > explained_z * sd)
}

used_fraction <- function(job) {
  if (identical(usable_verdict(list(usable = job$usable, part = FALSE)), "usable")) min(job$usable$fraction, 1) else 1
}

used_records <- function(job) job$n * used_fraction(job)
