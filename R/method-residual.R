# Linear regression by squared error, and regression of counts, with the method "newton-ridge" (src/method/residual.c).
# The noise of a gradient is proportional to the residual at which a record is clipped, so residuals are clipped at a
# multiple of their own scale, which decreases from phase to phase. Fractions of the budget and constants for squared
# error were chosen on synthetic problems and on three data sets: inst/experiments/squared.R. Those for counts were
# chosen on synthetic problems: inst/experiments/poisson.R. Huber's loss is squared error whose residuals are clipped at
# its own c in the end.

residual_matrix <- 0.06        # fraction of the budget for the weighted matrix
residual_matrix_most <- 0.6    # largest such fraction that can be asked for
residual_counts <- 0.015       # for the counts of residuals of each of the phases
residual_phases <- 4L          # as in the core
residual_steps <- 75L          # of all phases
residual_level <- c(0.02, 0.2) # least and largest fraction for the level of the response,
residual_precise <- 6          # which is this over n mu in between
count_level <- c(0.05, 0.5)    # the same for counts, whose level has this n mu of its own in between
count_precise <- 50
count_hopeless <- 0.08         # d / (n mu) from which on only the level of counts is found
count_few <- 100               # n mu below which it is, too
residual_hopeless <- 0.25      # as count_hopeless, for squared error
residual_enough <- 400         # from this n mu on the slopes are recalibrated, too
residual_recalibration <- c(level = 0.08, slopes = 0.05, robust = 0.02) # fraction for the recalibration
residual_clip <- c(least = 0.6, most = 4, at = 0.7, noise = 0.02, power = 0.4) # see clip_over_scale()
count_clip <- 1.5              # least clip of counts, which are skewed, over the scale of residuals
residual_first <- 1.5          # least clip of the first phase, over the scale of residuals
residual_reach <- 8            # time constants of the slowest direction, over those that the noise of one step allows
residual_least <- 1.2          # least term added to the matrix, over the norm of its noise
residual_iterate_sd <- 0.7     # standard deviation of the predictors caused by the noise of iterates, over the scale
count_iterate_sd <- 0.3        # the same for counts, where steps are not those of a quadratic
residual_tail <- 0.85          # fraction of the iterates of a phase whose mean is taken
residual_signal <- 2^-6        # smallest standard deviation of the predictors, over that of the response
residual_signals <- 8L         # number of such values, each twice the one before
residual_usual <- 0.7          # larger ones are less likely (inst/experiments/response-rule.R)
# standard deviations of the corrections of the recalibration, where there are any, over the scale of residuals and over
# the slopes (inst/experiments/recalibration-rule.R)
residual_corrections <- c(level = 0.3, slope = 0.1)
# standard deviations, in octaves, of the scale of residuals before the first counts and of its change from phase to
# phase (inst/experiments/response-rule.R)
residual_doubt <- c(first = 3, phase = 0.7)
# inst/experiments/response-rule.R compares the next four with others.
response_share <- c(0.03, 0.25) # least and largest fraction for the bounds of the response, if none are declared,
response_alone <- 0.3          # and the largest where only the level is found; in between they have
response_precise <- 30         # this n mu of their own
response_unsure <- 400         # n mu below which the level is that of a response in narrower bounds than declared ones
residual_constant <- 1         # the intercept's coordinate, times sqrt(d)
residual_spread <- 1e-3        # smallest standard deviation that a coordinate is expected to have, over its scale

# The family of a method for this loss. Its flag `residuals`: does it run by residuals?
for_loss <- function(method, job) {
  method$residuals <- has_residuals(job$loss) && method$unbounded
  if (method$residuals) {
    method$family <- family_residual()
    method$loss <- residual_loss(job$loss)
    return(method)
  }
  if (is_warm(method)) method$loss <- logistic_loss
  # That a method takes no loss whose second derivative jumps, whatever its bound, is said by a row of `refusals`.
  if (method$nonsmooth || is_smooth(job$loss)) {
    check_bounded_slope(job$loss, paste0("The method \"", method$name, "\" needs"), job$call)
  }
  for_classes(method, job)
}

# With the c of Huber's loss, if it follows from no scale of residuals.
loss_for <- function(method, loss) if (method$residuals) loss else with_c(loss)

family_residual <- function() {
  new_family("newton_ridge", function(method, loss) control_newton_ridge(), residual_options,
             core = function(control) "residual", check_problem = check_residual,
             weighted = function(job) residual_shares(job)$gradients / (1 - geometry_share))
}

# Refuses what there is not, before anything is charged.
check_residual <- function(job) {
  if (isTRUE(job$control$matrix_share > residual_matrix_most)) {
    abort("argument", "With the ", job$loss$name, " loss `matrix_share` must be at most ", residual_matrix_most,
          ", as other releases need the rest.", call = job$call)
  }
  fault <- residual_fault(job)
  if (is.null(fault)) return(invisible())
  instead <- if (has_unbounded_slope(job$loss)) "`loss_huber()`" else "the method \"newton\""
  abort("argument", "With the ", job$loss$name, " loss and the method \"", job$method$name, "\" ", fault, ", or take ",
        instead, ".", call = job$call)
}

# What there is not, and what to do about it, or NULL.
residual_fault <- function(job) {
  if (!job$design$intercept && is_count(job)) {
    return("a fit needs an intercept, which holds the level of the counts, where a run starts: add one")
  }
  if (job$penalty$name != "none") return("a ridge is chosen by the method: leave out `penalty`")
  if (!is.null(job$asked$start)) {
    return("a run starts at the level of the response, which it releases: leave out `start`")
  }
  if (!is.null(job$asked$target)) return("a fit has no certificate: leave out `target`")
}

is_count <- function(job) job$response$kind == "count"

# Where the noise is too large for anything but the level, and where there are no columns, a fit is the level.
is_level_only <- function(job) {
  if (columns_of(job) == 0L || !job$design$intercept) return(columns_of(job) == 0L)
  few <- is_count(job) && records_by_budget(job) < count_few
  few || relative_noise(job, path_share(job) * job$rho) > if (is_count(job)) count_hopeless else residual_hopeless
}

# Fraction of a job's budget for how much better the fit is than the intercept-only model (job-explained.R).
values_share <- function(job) if (job$inference == "none") 0.03 else 0.01

# Fractions of a job's budget, of which `left` is what the run has, and whether the recalibration includes the slopes.
residual_shares <- function(job) {
  robust <- is_huber(job$loss)
  slopes <- records_by_budget(job) >= residual_enough && !robust
  level <- level_share(job)
  recalibration <- residual_recalibration[[if (robust) "robust" else if (slopes) "slopes" else "level"]]
  if (!slopes && !job$design$intercept) recalibration <- 0
  left <- 1 - present_share(job) - look_share(job) - level - geometry_share - values_share(job)
  parts <- residual_counts * residual_phases + residual_matrix + recalibration
  list(slopes = slopes, left = left, recalibration = recalibration, gradients = path_share(job) * (left - parts))
}

# For counts, which have to be found first, as much as leaves it n mu of its own.
level_share <- function(job) {
  if (is_count(job)) return(precise_share(job, count_precise, count_level))
  between(residual_precise / records_by_budget(job), residual_level)
}

# What finds the range of the response where there is much noise, of the budget that a plan of the run counts on.
look_share <- function(job) if (!is_count(job) && is_unsure(job)) bounds_share(job) else 0

bounds_share <- function(job) {
  precise_share(job, response_precise, if (is_level_only(job)) c(response_share[1], response_alone) else response_share)
}

# Is the noise of the level, in proportion to the width of the bounds, so large that narrower ones are worth their cost?
is_unsure <- function(job) records_by_budget(job) < response_unsure

# With much noise small clips are better, although they hardly estimate means. Huber's estimate has its own.
clip_over_scale <- function(job, noise) {
  if (is_huber(job$loss)) return(if (is.null(job$loss[["c"]])) job$loss[["k"]] %||% huber_k else 0)
  wanted <- residual_clip[["at"]] * (residual_clip[["noise"]] / noise)^residual_clip[["power"]]
  min(residual_clip[["most"]], max(if (is_count(job)) count_clip else residual_clip[["least"]], wanted))
}

# The scale of residuals that the last noisy counts of a run gave, if there are any.
last_scale <- function(trace) utils::tail(trace$estimate[trace$query == "residual counts"], 1)

# Huber's loss with the c of the last phase.
reported_loss <- function(job) {
  scale <- last_scale(job$answer$trace)
  loss <- job$loss
  if (!is_huber(loss) || !is.null(loss[["c"]]) || length(scale) == 0L) return(loss)
  loss$c <- signif(min(clip_over_scale(job) * scale, job$level$most) * job$response$half, 4)
  loss$k <- NULL
  scale_loss(loss, job$design$intercept)
}

residual_options <- function(job, rho) {
  shares <- residual_shares(job)
  left <- shares$left
  iterations <- if (is_level_only(job)) 0L else job$control$iterations
  matrix <- job$control$matrix_share
  list(iterations = if (is.na(iterations)) residual_steps else iterations,
       matrix_share = if (is.na(matrix)) residual_matrix / left else matrix,
       counts_share = residual_counts / left, recalibration_share = shares$recalibration / left,
       slopes = shares$slopes, present = job$level$present, curvature = job$level$curvature, most = job$level$most,
       event = job$level$event, exponential = is_count(job), robust = is_huber(job$loss), whole = !may_clip(job$design),
       level = job$level$noise, spread = job$level$spread,
       centre = job$geometry$centre_sd %||% 0,
       clip = clip_over_scale(job, relative_noise(job, shares$gradients * job$rho)),
       first = residual_first, reach = residual_reach, least = residual_least,
       iterate_sd = if (is_count(job)) count_iterate_sd else residual_iterate_sd, tail = residual_tail,
       signal = residual_signal, signals = residual_signals, usual = residual_usual,
       level_correction = residual_corrections[["level"]], slope_correction = residual_corrections[["slope"]],
       first_doubt = residual_doubt[["first"]], phase_doubt = residual_doubt[["phase"]],
       smooth = curved_parts(job$design), few = job$geometry$few)
}

# The geometry of a job for squared error: rows have a norm of about one with the intercept, which is shorter, and the
# spreads are those that the moments tell. centre_sd: standard deviation of the noise of the centres.
# box: public bounds of the entries of a row, which bound its length and so the useful caps.
residual_geometry <- function(geometry, moments, job, box) {
  whole <- 1 / sqrt(1 + residual_constant^2 / job$dim)
  geometry$scale <- whole * geometry$scale
  geometry$constant <- whole * residual_constant / sqrt(job$dim)
  geometry$spread <- as.double(geometry$scale * pmax(sqrt(moments$variance), residual_spread))
  far <- geometry$scale * pmax(abs(box[, 1] - geometry$centre), abs(box[, 2] - geometry$centre))
  geometry$cap <- geometry$bound <- min(geometry$cap, sqrt(geometry$constant^2 + sum(far^2)))
  geometry$centre_sd <- moments$centre_sd
  geometry
}
