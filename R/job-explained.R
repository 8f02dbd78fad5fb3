# The stage of a job that tells how much better the fit is than the intercept-only model. It adds to the job
#   explained  a list of fraction (of the intercept-only model's deviance; R squared for squared error), sd (its
#              standard deviation), better (is it surely above what fits to noise reach, or do intervals show so?)
#              and, with intervals, wald (the p value of wald_any()), or NULL
#
# It releases the decrease of the mean loss from the intercept-only model to the fit, whose records' decreases are
# clipped to an interval (proofs: sensitivity-improvement). The noise is in proportion to its width. What the fit's
# releases tell of the predictors gives the decreases that are expected of records, and with them the interval for which
# noise and expected clipping together are smallest. Where more is clipped than that, gains come out too small, as few
# records of a good fit have a much larger loss than before.
#
# A fit to d columns of noise decreases the loss by a chi-squared variable over 2 n, and on other records is as much
# worse: so d / n is subtracted, where d counts coefficients as far as they follow the records, and a fit is called
# better if the decrease exceeds that, and what chi-squared reaches, by explained_z standard deviations.
# A fit with intervals has few of its budget left for this release, but its intervals tell, too, whether the response
# follows the predictors, without a cost, as they are released (see wald_any()). Then the fit is called better unless
# the decrease is surely negative.
# inst/experiments/verdict-rule.R compares these constants with others on synthetic problems.

explained_z <- 2
explained_surely <- 0.99 # probability that chi-squared does not reach it
explained_wald <- 0.002  # largest p value by which intervals show that the response follows the predictors
explained_left <- 0.3 # relative standard deviation of what counts of residuals say of their variance
explained_counts <- 1 / 3 # the standard deviation by the noise of these counts, over that of the decrease
values_level <- 0.25 # fraction of the cost for the level of the response, where it was not released
values_null <- 0.25  # and for the loss of the intercept-only model, where this does not follow from the level
gains_doubt <- 1     # what is clipped may be so many times what is expected
gains_least <- 1e-6  # least end of an interval, over the largest decrease that is expected
gains_largest <- 1e6   # of a decrease below zero: predictors of columns without a spread may be anywhere
gains_skew <- 3      # skewness that a numeric column may have,
gains_far <- 2       # and of residuals: that of the exponential distribution
gains_clip <- 8      # clip of residuals, in standard deviations of those of the intercept-only model

job_explained <- function(job) {
  if (is_level(job) && columns_of(job) > 0L) return(add_entries(job, explained = as_start))
  if (!tells_explained(job)) return(job)
  cost <- values_cost(job) * (1 - 1e-12)
  # Another fit may have spent what is left of a shared budget.
  if (!(cost > 0) || budget_state(job$budget)$left - job$end < cost * (1 - 1e-9)) return(job)
  null <- null_model(job, cost)
  at <- fitted_point(job)
  points <- list(start = start_point(job, null$start, at$geometry), own = at$w)
  # Where residuals are skewed, clipping would take another level for a better one.
  if (job$method$residuals && !is_count(job) && job$design$intercept) points$start[1] <- points$own[1]
  if (all(points$own == points$start)) return(add_entries(job, explained = as_start))
  moved <- expected_move(job, points$own - points$start, at$geometry)
  clip <- if (job$method$residuals) gains_clip * sqrt(null$variance + moved$covariance[1]) else 0
  gain <- release_gain(job, at, points, expected_gains(job, null, moved), clip, cost - null$cost)
  add_entries(job, explained = told_by_intervals(explained_by(job, gain, null), job$intervals, job$design))
}

# explained: an entry of a job or of checks; intervals: see job-inference.R. Either may be NULL.
told_by_intervals <- function(explained, intervals, design) {
  if (is.null(explained) || is.null(intervals)) return(explained)
  explained$wald <- wald_any(intervals, design$intercept)
  shown <- isTRUE(explained$wald <= explained_wald)
  explained$better <- explained$better || shown && explained$fraction > -explained_z * explained$sd
  explained
}

as_start <- list(fraction = 0, sd = 0, better = FALSE)

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
    answer <- release_classes(fitted_point(job)$oracle, cost)
    log(pmax(answer$counts, answer$sd / 2))
  }
  constant <- constant - mean(constant)
  fractions <- exp(constant) / sum(exp(constant))
  list(start = rbind(constant, matrix(0, job$side - 1, job$outputs)), cost = if (free) 0 else cost,
       fractions = fractions, loss = -sum(fractions * log(fractions)), sd = 0, unit = 1)
}

# The best constant of a loss that is not that of a likelihood may be far away.
null_of_two <- function(job, cost) {
  free <- !job$design$intercept || !is.null(job$class)
  p <- 0.5
  constant <- 0
  if (job$design$intercept) {
    class <- job$class %||% release_class(fitted_point(job)$oracle, cost)
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
  if (!is_count(job)) {
    return(list(start = job$start, cost = 0, loss = job$level$variance[["value"]] / 2,
                sd = job$level$variance[["sd"]] / 2, variance = square, unit = square))
  }
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

# Mean and covariance, over the records, of what is added to their predictors. In a geometry columns are centred; else
# the mean is not known, as is said by NA, and expected to be right. Runs
# that release the second moments of rows know the covariance up to noise; else columns are uncorrelated, and have the
# spread that their coordinates expect of them.
expected_move <- function(job, moved, geometry) {
  moved <- matrix(moved, ncol = job$outputs)
  mean <- if (job$design$intercept && !is.null(geometry)) geometry$constant * moved[1, ] else rep(NA, job$outputs)
  if (!job$method$residuals) return(list(mean = mean, covariance = moved_covariance(job, moved, geometry), skew = 0))
  list(mean = mean, covariance = matrix(job$answer$result$variance),
       skew = moved_skewness(slopes_of(job, moved), geometry, mapped_columns(job$design)))
}

slopes_of <- function(job, moved) if (job$design$intercept) moved[-1, , drop = FALSE] else moved

# At most, of columns that are independent of each other. An indicator's follows from its mean. A column in a range of a
# below and b above its mean, in its standard deviations, has at most that of an indicator at the ends, b - a, and a
# gamma distribution with one of these ends has 2 / a; but what is beyond most values may be anything.
moved_skewness <- function(slopes, geometry, columns) {
  sd <- geometry$spread / geometry$scale
  below <- (geometry$centre - columns$box[, 1]) / sd
  above <- (columns$box[, 2] - geometry$centre) / sd
  skew <- pmin(abs(above - below), 2 / pmax(pmin(above, below), 0.1))
  skew <- ifelse(columns$indicator, skew, pmax(skew, gains_skew))
  size <- abs(slopes * geometry$spread)
  if (any(size > 0)) sum(size^3 * skew) / sum(size^2)^1.5 else 0
}

moved_covariance <- function(job, moved, geometry) {
  slopes <- slopes_of(job, moved)
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

# The decreases of the loss that are expected of records whose predictors move like this from the constant prediction: a
# list of two, for responses that follow the predictors and for others. Each is a list of gain and weight. Predictors
# and residuals have longer tails than the normal distribution. Numbers and counts have a third: a response that follows
# nothing, but has a long tail, and predictors with one on the other side, as those of rare values may be. Most
# residuals are then on one side of their mean, and clipping, which hides the few far ones, makes a decrease of none.
expected_gains <- function(job, null, moved) {
  if (job$outputs > 1L) return(gains_of_classes(null, moved))
  z <- sqrt(moved$covariance[1]) * long_tailed
  gains <- if (!is.null(null$fractions)) gains_of_two(job$loss, null, z, moved$mean)
           else if (is_count(job)) gains_of_counts(job, null, z, moved$mean, moved$skew)
           else gains_of_numbers(job, null, z, moved$mean, moved$skew)
  lapply(gains, function(gains) {
    weight <- rep_len(as.vector(gains$weight), length(gains$gain))
    list(gain = as.vector(gains$gain), weight = weight / sum(weight))
  })
}

long_tailed <- stats::qt(stats::ppoints(101), 4) / sqrt(2) # of variance one

# The predictors that are followed are shifted so that the fractions of the classes are right.
gains_of_two <- function(loss, null, z, mean) {
  p <- null$fractions
  off <- function(b) mean(stats::plogis(b + z)) - p
  follow <- z + stats::uniroot(off, stats::qlogis(p) + c(-1, 1) * (20 + 10 * max(abs(z))))$root
  gain <- function(t) {
    cbind(loss_value(loss, 1, null$start[1]) - loss_value(loss, 1, t),
          loss_value(loss, -1, null$start[1]) - loss_value(loss, -1, t))
  }
  other <- z + if (is.na(mean)) stats::qlogis(p) else null$start[1] + mean
  list(list(gain = gain(follow), weight = cbind(stats::plogis(follow), stats::plogis(-follow))),
       list(gain = gain(other), weight = cbind(rep(p, length(z)), 1 - p)))
}

gains_of_classes <- function(null, moved) {
  # The symmetric root: eigenvectors have no sign, and so would follow the last digits of releases.
  add <- spread_points(nrow(moved$covariance)) %*% power_of(moved$covariance, 1 / 2)
  q <- null$fractions
  moved_to <- function(shift) class_probabilities(sweep(add, 2, shift, `+`))
  shift <- log(q)
  for (i in 1:20) shift <- shift + log(q / colMeans(moved_to(shift)))
  follow <- moved_to(shift)
  other <- moved_to(log(q) + ifelse(is.na(moved$mean), 0, moved$mean))
  every <- rep(q, each = nrow(add))
  lapply(list(list(follow, follow), list(other, every)), function(x) {
    list(gain = as.vector(log(x[[1]] / every)), weight = as.vector(x[[2]]) / nrow(add))
  })
}

# In k dimensions, by an additive recurrence.
spread_points <- function(k) {
  root <- stats::uniroot(function(x) x^(k + 1) - x - 1, c(1, 2), tol = 1e-12)$root
  stats::qt((0.5 + outer(seq_len(500), root^-seq_len(k))) %% 1, 4) / sqrt(2)
}

# Of residuals r about what is followed, and about the level.
gains_of_numbers <- function(job, null, z, mean, skew) {
  by_residuals <- job$method$residuals
  if (is.na(mean)) mean <- 0
  variance <- stats::var(z)
  left <- if (by_residuals) null$variance else max(null$variance - variance, null$variance / 10)
  value <- function(r) if (by_residuals) r^2 / 2 else loss_value(job$loss, 0, r)
  r <- sqrt(left) * long_tailed
  level <- sqrt(left + if (by_residuals) variance else null$variance - left) * long_tailed
  far <- sqrt(max(stats::var(level), if (by_residuals) 2 * null$loss)) * long_skewed(gains_far)
  list(list(gain = value(outer(z, r, `+`)) - value(outer(0 * z, r + mean, `+`)), weight = 1),
       list(gain = value(outer(0 * z, level, `+`)) - value(outer(z, level + mean, `+`)), weight = 1),
       list(gain = value(outer(0 * z, far, `+`)) - value(outer(sqrt(variance) * long_skewed(skew), far, `+`)),
            weight = 1))
}

# Quantiles of a distribution of mean zero and variance one: of a gamma distribution with this skewness.
long_skewed <- function(skew) {
  if (skew < 0.1) return(long_tailed)
  z <- stats::qgamma(stats::ppoints(101), 4 / skew^2)
  (z - mean(z)) / stats::sd(z)
}

# Counts whose mean the predictors are right about, but for the mean move; and others.
gains_of_counts <- function(job, null, z, mean, skew) {
  variance <- stats::var(z)
  square <- max(null$variance - expm1(variance), null$variance / 10, 1 / null$mean)
  if (is.na(mean)) mean <- -variance / 2
  grid <- stats::ppoints(101)
  at <- exp(z - variance / 2)
  follow <- t(vapply(at, function(at) count_quantiles(null$mean * at, square / at, grid), grid))
  other <- matrix(count_quantiles(null$mean, null$variance, grid), length(z), length(grid), byrow = TRUE)
  skewed <- -sqrt(variance) * long_skewed(skew)
  skewed <- skewed - log(mean(exp(skewed)))
  lapply(list(list(follow, z + mean), list(other, z + mean), list(other, skewed)), function(x) {
    list(gain = (null$mean * (1 - exp(x[[2]])) + x[[1]] * x[[2]]) / job$loss$half, weight = 1)
  })
}

# ---- the release ----

# Returns a list of gain (decrease of the mean loss), sd (of its noise, with what is expected to be clipped) and spread
# (standard deviation of the records' decreases).
release_gain <- function(job, at, points, expected, clip, cost) {
  along <- points$own - points$start
  found <- gain_interval(expected, 1 / (job$n * sqrt(2 * cost)))
  answer <- .Call(ffi_oracle_improvement, at$oracle$pointer, points$start, along, found$ends, clip, cost,
                  at$oracle$noise == "reproducible")
  list(gain = answer$value, sd = sqrt(answer$sd^2 + sum(found$clipped^2) + found$bias^2),
       spread = found$spread)
}

# The interval [-a, b] and, of responses that follow the predictors, what it is expected to clip and the spread of
# decreases; of those with long tails, by how much clipping makes the mean too large (bias). noise: of a release, over
# a + b.
gain_interval <- function(expected, noise) {
  expected <- lapply(expected, function(gains) replace(gains, "gain", list(pmax(gains$gain, -gains_largest))))
  all <- unlist(lapply(expected, `[[`, "gain"))
  least <- gains_least * max(abs(all), 1e-3)
  ends_of <- function(gain) unique(pmax(stats::quantile(pmax(gain, 0), 1 - c(0, 2^-(1:28 / 2)), names = FALSE), least))
  clipped <- function(ends, gains, sign) {
    vapply(ends, function(end) sum(gains$weight * pmax(sign * gains$gain - end, 0)), 0)
  }
  low <- ends_of(-all)
  high <- ends_of(all)
  error <- outer(low, high, `+`)^2 * noise^2
  for (gains in expected) {
    error <- error + gains_doubt^2 * outer(clipped(low, gains, -1)^2, clipped(high, gains, 1)^2, `+`)
  }
  best <- arrayInd(which.min(error), dim(error))
  ends <- c(low[best[1]], high[best[2]])
  gains <- expected[[1]]
  bias <- max(vapply(expected[-(1:2)], function(gains) clipped(ends[1], gains, -1) - clipped(ends[2], gains, 1), 0), 0)
  list(ends = ends, clipped = c(clipped(ends[1], gains, -1), clipped(ends[2], gains, 1)), bias = bias,
       spread = sqrt(sum(gains$weight * pmin(pmax(gains$gain, -ends[1]), ends[2])^2)))
}

explained_by <- function(job, gain, null) {
  records <- used_records(job)
  used <- used_fraction(job)
  value <- gain$gain / used
  sd <- sqrt((gain$sd / used)^2 + gain$spread^2 / records)
  effective <- job$answer$result$effective
  if (is.nan(effective)) effective <- columns_of(job) * max(1, job$outputs - 1)
  overfit <- null$unit / records * c(effective, max(effective, stats::qchisq(explained_surely, effective) / 2))
  parts <- list(value = value, loss = null$loss, covariance = diag(c(sd, null$sd)^2))
  if (job$method$residuals && !is_count(job)) parts <- balanced(parts, null$variance / 2)
  if (!(parts$loss > 0)) return(NULL)
  fraction <- (parts$value - overfit[1]) / parts$loss
  along <- c(1, -fraction)
  # Of one class the intercept alone, which is known up to noise, may be better.
  surely <- if (!is.null(job$class) && one_class(job$class)) checks_z else explained_z
  list(fraction = min(fraction, 1), sd = sqrt(drop(along %*% parts$covariance %*% along)) / parts$loss,
       better = value - overfit[2] > surely * sd)
}

# What residuals leave, by noisy counts that hide large ones, and the decrease are the response's variance, which is
# released, too: by generalised least squares. Where they are farther off than noise explains, large residuals are
# hidden, and this has the less weight.
balanced <- function(parts, left) {
  signs <- c(1, -1)
  variance <- diag(parts$covariance)
  off <- parts$value + left - parts$loss
  every <- sum(variance) + (explained_left * left)^2 + explained_counts^2 * variance[1]
  every <- max(every, off^2)
  share <- signs * variance / every
  list(value = parts$value - share[1] * off, loss = parts$loss - share[2] * off,
       covariance = parts$covariance - tcrossprod(share) * every)
}

used_fraction <- function(job) {
  if (identical(usable_verdict(list(usable = job$usable, part = FALSE)), "usable")) min(job$usable$fraction, 1) else 1
}

used_records <- function(job) job$n * used_fraction(job)
