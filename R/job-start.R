# The stages of a job that decide where its run starts.

# ---- the level and the spread of a numeric response, for fits by residuals ----

# job_response() adds to the job
#   level  a list of start (the constant prediction, if there is an intercept), present (fraction of records that are
#          used, or the mean of their weights), noise (standard deviation of the start), spread (largest expected
#          standard deviation of the predictors), curvature (of the loss at the start), most (largest residual) and
#          event (smallest clip: the change of a residual by one event, of counts; Huber's c), for the mapped response;
#          missed (TRUE if no bounds were found, so that [-1, 1] was taken);
#          for counts also clip (at which the mean takes them)
# and completes response and loss with the bounds of the response, if none are declared. Bounds are found from noisy
# counts, like the ranges of columns (oracle-ranges.R). Loose ones cost little, because the noise of a gradient depends
# on the residuals: the level then has more noise, which the run corrects. With intervals they are only those of the
# level and of predictions, and responses may lie far outside. With an offset the level is that of the
# response less the offset. A fit without columns is its level, and a second one in a closer range corrects it. Without
# an intercept there is no level, only the mean square of the response.
#
# The mean of counts would have noise in proportion to the largest of them, which few records reach. So noisy counts of
# the response by octaves come first: the mean is that of counts clipped where the octaves show no more, and its noise
# is in proportion to this clip. With an offset o the level is the mean count over the mean of e^o.

# inst/experiments/response-rule.R compares these with others, as those of look_share() (method-residual.R).
response_again <- 0.6     # largest fraction, with what looked first, that looks again where none were found,
response_surely_precise <- 45 # with this n mu of its own
response_unseen <- 30     # n mu from which on noisy counts may show where in declared bounds the response is
response_reach <- 16      # with intervals, which are about all records, responses are clipped at this times the range
count_octaves_share <- 0.6 # fraction of the level's budget for the octaves,
count_offset_share <- 0.3  # and of the rest for the mean of e^o
count_reach <- 0.1         # probability that noise alone shows the next octave, see reached_by(),
count_far <- 4             # and number of octaves from which on it falls by eight with each
count_beyond <- 16         # counts are bounded by this times their clip
count_error <- 0.1         # probability that noise alone shows an octave,
count_unknown <- 2         # and the clip where none is shown
count_again <- 300         # n mu of the level, as far as the budget allows, where zeros alone seem to be there
level_first <- 0.2         # fractions of the budget of a fit that is its level for a first level,
level_range <- 0.1         # and for the range of the distances from it,
level_narrow <- 1e-6       # which is at least this part of the range of the response

job_response <- function(job) {
  if (!job$method$residuals) return(job)
  found <- if (is_count(job)) find_counts(job) else find_level(job)
  job <- add_entries(complete(job, loss = found$loss, response = found$response),
                     level = found$level[names(found$level) != "usable"], of_response = found$beyond)
  job <- add_entries(job, usable = if (!has_weight(job$design)) found$level$usable)
  # It is known better from moments, unless the fit ends here.
  if (says_nothing(job)) job else job[names(job) != "usable"]
}

# ---- squared error ----

find_level <- function(job) {
  found <- is.null(job$loss$response)
  if (found) job <- find_bounds(job)
  reach <- level_reach(job)
  within <- if (found) level_reach(job, job$response$ends) else
    if (is_worth_a_look(job)) narrow_reach(job, reach) else reach
  level <- if (!is_level_only(job)) {
    level_in(job, within, level_share(job) * job$rho, reach)
  } else if (is_unsure(job)) {
    level_in(job, within, spare(job))
  } else {
    refined_level(job, within, spare(job))
  }
  level$event <- (job$loss[["c"]] %||% 0) / job$response$half
  level$missed <- job$missed_response
  list(loss = job$loss, response = job$response, level = level, beyond = job$beyond_response)
}

# The range of the response less the offset; around zero without an intercept.
level_reach <- function(job, reach = job$response$bounds) {
  shift <- job$design$shift
  if (has_offset(job$design)) reach <- reach - c(sum(shift[, 2]), sum(shift[, 1]))
  if (job$design$intercept) reach else c(-1, 1) * max(abs(reach))
}

# The coding of responses less their offsets with the ends of this range as -1 and 1.
coded_in <- function(job, range) {
  with_range(if (has_offset(job$design)) less_offset(job$response) else job$response, range[1], range[2])
}

# Noisy counts of the response in this coding between breaks.
count_response <- function(job, coding, breaks, rho) {
  found <- release_counts(job$counted(complete(job, response = coding)), list(breaks), job$budget, rho,
                          job$neighbours, job$noise == "reproducible")
  list(counts = found$counts[[1]], sd = found$sd)
}

# By octaves, and the range that these tell.
response_octaves <- function(job, coding, rho) count_response(job, coding, octave_breaks, rho)

read_response <- function(job, octaves) {
  seen <- see(octaves$counts, octaves$sd, response_look(job))
  structure(seen_range(seen), found = !is.null(seen$range), seen = seen)
}

seen_range <- function(seen) if (is.null(seen$range)) c(-1, 1) else c(seen$range$lower, seen$range$upper)

response_look <- function(job, coding = job$response) {
  rule <- if (job$inference == "none") ranges_bounding else ranges_keeping
  new_look(job$n * present_records(job), bounds_share(job) * job$rho, rule, job$neighbours,
           function(names, breaks, rho) {
             counts <- count_response(job, coding, breaks[[1]], rho)
             list(counts = stats::setNames(list(counts$counts), names), sd = counts$sd)
           })
}

# A response far from zero for its spread.
look_around_response <- function(job, coding, range) {
  if (!attr(range, "found")) return(range)
  seen <- list(response = attr(range, "seen"))
  seen <- look_around(response_look(job, coding), seen, narrow_windows(seen))$response
  structure(seen_range(seen), found = TRUE, seen = seen)
}

# The level for the mapped response, where responses less their offsets are clipped to the range `within`; reach: the
# range of them all.
level_in <- function(job, within, rho, reach = within) {
  map <- job$response
  near <- coded_in(job, within)
  found <- release_level(complete(job, response = near), rho)
  unit <- near$half / map$half
  square <- found$variance + if (job$design$intercept) 0 else found$mean^2
  list(start = if (job$design$intercept) (near$centre - map$centre) / map$half + unit * found$mean,
       present = found$present, noise = unit * found$noise, spread = unit * min(sqrt(square + found$noise), 1),
       variance = unit^2 * c(value = square, sd = 2 * found$noise),
       curvature = 1, most = (reach[2] - reach[1]) / map$half, usable = found$usable)
}

# The noise of a level is in proportion to its range, so that of a fit that is nothing else is as narrow as noisy counts
# of the distances from a first level allow.
refined_level <- function(job, reach, rho) {
  first <- level_in(job, reach, level_first * rho)
  centre <- job$response$centre + job$response$half * first$start
  around <- utils::modifyList(job$response, list(centre = centre, half = 1))
  if (has_offset(job$design)) around <- less_offset(around)
  found <- read_response(job, response_octaves(job, around, level_range * rho))
  size <- max(abs(found), level_narrow * (reach[2] - reach[1]))
  near <- if (attr(found, "found")) pmin(pmax(centre + c(-size, size), reach[1]), reach[2]) else reach
  level_in(job, near, (1 - level_first - level_range) * rho)
}

# Without a range a fit says nothing, so that a larger part of the budget looks for it again.
bounds_again <- function(job) {
  precise_share(job, response_surely_precise, c(bounds_share(job), response_again)) - bounds_share(job)
}

# The private range of the response in this coding, by one look or two. what, why: they find, for the message.
look_for_range <- function(job, coding, what, why) {
  again <- bounds_again(job)
  inform("response", format_share(bounds_share(job)), " of the budget finds ", what,
         if (again > 0) paste0(", and ", format_share(again), " more where the noise hides it"), why)
  octaves <- response_octaves(job, coding, bounds_share(job) * job$rho)
  range <- read_response(job, octaves)
  if (again == 0 || attr(range, "found")) return(range)
  read_response(job, pooled_counts(octaves, response_octaves(job, coding, again * job$rho)))
}

# From private ranges.
find_bounds <- function(job) {
  raw <- raw_bounds(job$response)
  found <- look_around_response(job, raw, look_for_range(
    job, raw, "the range of the response", "; `bounds` declares a public one"
  ))
  if (!attr(found, "found")) {
    warn("ranges", "No range of the response exceeds the noise level: [-1, 1] is taken. Declare what is known about ",
         "it: `bounds = list(", backquote(job$response$name), " = c(lower, upper))`.", call = job$call)
  }
  loss <- utils::modifyList(job$loss, list(response = as.vector(found)))
  loss <- scale_loss(loss, job$design$intercept)
  response <- with_bounds(job$response, loss)
  if (job$inference != "none") response <- reaching(response, response_reach)
  add_entries(complete(job, loss = loss, response = response),
              missed_response = if (!attr(found, "found")) TRUE,
              beyond_response = if (attr(found, "found")) response_beyond(job, attr(found, "seen"), response$bounds))
}

# What the counts tell of responses beyond their bounds, as of columns beyond their ranges.
response_beyond <- function(job, seen, bounds) {
  seen$range <- list(lower = bounds[1], upper = bounds[2])
  beyond_all(stats::setNames(list(seen), job$response$name), octave_breaks)
}

# With still fewer records the noise would hide where in declared bounds the response is.
is_worth_a_look <- function(job) is_unsure(job) && records_by_budget(job) >= response_unseen

# The part of the range that private ranges show. One that ends in the middle may have lost its other side.
narrow_reach <- function(job, reach) {
  found <- look_for_range(job, coded_in(job, reach), "where in its bounds the response is", ", as there is much noise")
  ends <- pmin(pmax(as.vector(found), -1), 1)
  if (0 %in% ends || !job$design$intercept) ends <- max(abs(ends)) * c(-1, 1)
  if (!attr(found, "found") || ends[2] - ends[1] < level_narrow) reach else mean(reach) + diff(reach) / 2 * ends
}

# Fraction of records that are used, or mean weight, and mean and variance of their mapped response (proofs:
# sensitivity-response). All columns are mapped, because a record without a predictor is not used.
release_level <- function(job, rho) {
  answer <- released_by(job, function(oracle) {
    .Call(ffi_oracle_response, oracle$pointer, rho, oracle$noise == "reproducible")
  })
  present <- present_of(answer$moments[1], answer$sd)
  mean <- min(max(answer$moments[2] / present, -1), 1)
  variance <- min(max(2 * answer$moments[3] / present - mean^2, 0), 1)
  list(present = present, mean = mean, noise = answer$sd / present, variance = variance,
       usable = list(fraction = answer$moments[1], sd = answer$sd))
}

# ---- counts ----

find_counts <- function(job) {
  rho <- if (is_level_only(job)) spare(job) else level_share(job) * job$rho
  top <- if (is.null(job$loss$response)) max_count else job$loss$response[2]
  octaves <- release_octaves(job, top, count_octaves_share * rho)
  more <- if (count_reached(octaves) <= 1) again_share(job) * job$rho else 0
  if (more > 0) octaves <- pooled_counts(octaves, release_octaves(job, top, count_octaves_share * more))
  clip <- count_clip_at(octaves, top)
  rho <- (1 - count_octaves_share) * (rho + more)
  share <- if (has_offset(job$design)) count_offset_share else 0
  counts <- release_mean(job, clip, (1 - share) * rho)
  exposure <- if (share > 0) release_exposure(job, share * rho) else list(log = 0, noise = 0, exposed = 0)
  loss <- bound_counts(job$loss, min(top, count_beyond * clip))
  half <- loss$half
  list(loss = loss, response = with_bounds(job$response, loss), beyond = counts_beyond(job, octaves, loss$response[2]),
       level = list(start = log(counts$mean) - exposure$log, present = counts$present,
                    noise = min(sqrt(counts$noise^2 + exposure$noise^2), 1), spread = 1, curvature = counts$mean / half,
                    most = 1, event = 1 / half, clip = clip,
                    varies = count_varies(octaves, clip, counts), exposed = exposure$exposed, usable = counts$usable))
}

# Where zeros alone seem to be there, events are rare or the noise hides a few large counts, which may be most of the
# level: it then gets more of the budget, as slopes around a level that is far off are worth nothing.
again_share <- function(job) {
  if (is_level_only(job)) return(0)
  precise_share(job, count_again, c(level_share(job), count_level[2])) - level_share(job)
}

# What intervals, the geometry and the count of usable records leave of the budget.
spare <- function(job) {
  geometry <- if (uses_geometry(job) && identical(job$moments, "private")) geometry_share else 0
  path_share(job) * (budget_state(job$budget)$left - job$end - geometry * job$rho - usable_cost(job) * (1 + 1e-9))
}

# Noisy fractions of records without an event, with one, and with those of each further octave up to `top`.
release_octaves <- function(job, top, rho) {
  ends <- 2^(0:ceiling(log2(top)))
  breaks <- c(-.Machine$double.xmax, 0.5, ends[-length(ends)] * (1 + .Machine$double.eps), .Machine$double.xmax)
  lapply(count_response(job, raw_bounds(job$response), breaks, rho), `/`, job$n)
}

# The end of the outermost octave that seems to contain counts. Where none exceeds the noise level, a small number, as
# the noise of the mean is in proportion to it.
count_clip_at <- function(octaves, top) {
  reached <- count_reached(octaves)
  min(if (reached > 0) 2^max(reached - 2, 0) else count_unknown, top)
}

# The outermost octave that seems to contain counts, or zero: the fullest one of a group that exceeds the noise level.
# Noise that is taken for counts makes the squared error of the mean four times larger with each octave, so in far
# octaves it is to be less likely by more than that (inst/experiments/octaves-rule.R).
count_reached <- function(octaves) {
  core <- find_core(octaves$counts, octaves$sd)
  groups <- length(octaves$counts) * length(ranges_windows)
  if (core$score < stats::qnorm(count_error / groups, lower.tail = FALSE)) return(0)
  max(vapply(ranges_windows, reached_by, 0, octaves, core$octave))
}

# The same by groups of so many octaves beyond the core's, which it is where none exceeds the noise level.
reached_by <- function(width, octaves, core) {
  total <- cumsum(c(0, octaves$counts))
  start <- seq_along(octaves$counts)
  start <- start[start > core & start + width <= length(total)]
  distance <- start - core
  unlikely <- pmax(distance^3, 8^(distance - count_far)) * length(ranges_windows)
  enough <- octaves$sd * sqrt(width) * stats::qnorm(count_reach / unlikely, lower.tail = FALSE)
  start <- start[total[start + width] - total[start] >= enough]
  max(core, vapply(start, function(i) i - 1 + which.max(octaves$counts[i - 1 + seq_len(width)]), 0))
}

# The next octaves, as for columns (oracle-beyond.R).
counts_beyond <- function(job, octaves, most) {
  if (!is.null(job$loss$response)) return(NULL)
  next_ones <- utils::head(which(c(-1, 0, 2^(seq_len(length(octaves$counts) - 2L) - 1)) >= most), log2(beyond_reach))
  row <- c(0, most, 0, sum(octaves$counts[next_ones]), 0, octaves$sd * sqrt(length(next_ones)), 1)
  matrix(row, 1L, dimnames = list(job$response$name, beyond_names))
}

# The octaves beyond the clip show nothing.
count_varies <- function(octaves, clip, counts) {
  shown <- octaves$counts[seq_len(min(ceiling(log2(max(clip, 1))) + 2L, length(octaves$counts)))]
  varies_by_octaves(shown / counts$present, counts$mean)
}

# The mean of counts clipped to [0, clip], and its relative noise.
release_mean <- function(job, clip, rho) {
  clipped <- utils::modifyList(job$response, list(bounds = c(0, clip), centre = clip / 2, half = clip / 2))
  level <- release_level(complete(job, response = clipped), rho)
  noise <- clip / 2 * level$noise
  mean <- max(clip / 2 * (1 + level$mean), noise / 2)
  list(present = level$present, mean = mean, noise = noise / mean, usable = level$usable)
}

# The logarithm of the mean of e^o, for the offsets o of the records that have a response, its noise, and the variance
# of o, if it is normal.
release_exposure <- function(job, rho) {
  most <- sum(job$design$shift[, 2])
  level <- release_level(complete(job, response = as_exposure(job$response, most)), rho)
  mean <- max((1 + level$mean) / 2, level$noise / 4)
  list(log = most + log(mean), noise = level$noise / 2 / mean, exposed = log1p(level$variance / 4 / mean^2))
}

# ---- the constant prediction ----

# job_begin() chooses a start if none was given: the level of the response; or, for methods that ask for it (constant in
# method-family.R), the best constant prediction if there is an intercept and the loss is logistic, of any slope, the
# log-odds of the second class's fraction p; or zero. It adds to the job
#   start, class (the released fraction and its standard deviation), class_fraction (of the second class at the start)
# and completes design by the columns of smooths, of which fewer are worth their noise where a class is rare.
#
# The weights of the classes' records are a release of their own (proofs: sensitivity-classes), as this is more
# accurate. Rows have norm at most one, and the intercept is one coordinate, 1 / radius, so in a gradient of all
# coefficients it has 2 radius times the noise that p needs. Where all records are used p follows from the difference of
# the two weights, with the noise of a single release of p.

job_begin <- function(job) {
  if (!is.null(job$given)) return(add_entries(job, start = job$given))
  if (!is.null(job$wishes)) return(begin_at_constant(job))
  if (!is.null(job$level)) return(add_entries(job, start = c(job$level$start, numeric(columns_of(job)))))
  if (starts_at_fractions(job)) return(begin_at_fractions(job))
  add_entries(job, start = numeric(job$dim))
}

# How precisely the fraction of the second class is to be released before the run; NULL: it is not.
class_wishes <- function(job) {
  if (is.null(job$given) && !job$method$residuals && !starts_at_fractions(job)) constant_wishes(job)
}

add_columns <- function(job, fraction = 0.5) {
  if (is.null(job$design$smooth)) return(job)
  sized <- size_smooths(job$design, records_for_smooths(job, fraction))
  complete(job, design = complete_smooths(sized, job$cells))
}

constant_wishes <- function(job) {
  if (job$design$intercept && is_logistic(path_loss(job))) job$method$family$constant(job)
}

# The cost in rho, of the most expensive wish. wishes: for the accuracy of p, as start_coarse in method-family.R.
constant_cost <- function(n, rho, wishes) {
  max(vapply(wishes, function(wish) min(wish[["fraction"]] * rho, 1 / (2 * (n * wish[["sd"]])^2)), 0))
}

begin_at_constant <- function(job) {
  class <- released_by(job, function(oracle) release_class(oracle, constant_cost(job$n, job$rho, job$wishes)))
  constant <- log_odds(class$fraction, class$sd)
  job <- add_columns(job, class$fraction)
  add_entries(job, start = c(constant, numeric(job$dim - 1)), class = class, class_fraction = stats::plogis(constant))
}

release_class <- function(oracle, cost) fraction_of_second(release_classes(oracle, cost))

# The fraction of the second class and its standard deviation, from the weights of both.
fraction_of_second <- function(answer) {
  counts <- answer$counts
  present <- present_of_classes(answer)
  if (present == 1) return(list(fraction = (1 + counts[2] - counts[1]) / 2, sd = answer$sd / sqrt(2)))
  p <- between(counts[2] / present, c(0, 1))
  list(fraction = p, sd = answer$sd * sqrt(p^2 + (1 - p)^2) / present)
}

log_odds_least <- 1e-12

# The log-odds of the expected fraction, if one that is known with this standard deviation may be any: that of a normal
# distribution within [0, 1], which has the smallest expected loss.
log_odds <- function(fraction, sd) {
  sd <- min(sd, 100) # which says nothing
  fraction <- between(fraction, c(-3 * sd, 1 + 3 * sd)) # noise alone
  ends <- (c(0, 1) - fraction) / sd
  expected <- fraction - sd * diff(stats::dnorm(ends)) / diff(stats::pnorm(ends))
  stats::qlogis(between(expected, c(0, 1) + c(1, -1) * log_odds_least)) # rounding may lead to an end
}

# ---- the fractions of several classes ----

# For a method in a geometry job_begin() takes the constant prediction of the fractions of the classes, which are
# released (proofs: sensitivity-classes).

starts_at_fractions <- function(job) job$outputs > 1L && !is.null(job$method$family$weighted)

begin_at_fractions <- function(job) {
  answer <- released_by(job, function(oracle) release_classes(oracle, classes_share(job) * job$rho))
  constant <- log(pmax(answer$counts, answer$sd / 2))
  add_entries(job, start = as.vector(rbind(constant - mean(constant), matrix(0, job$side - 1, length(constant)))))
}
