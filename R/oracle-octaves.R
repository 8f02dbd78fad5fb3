# Ranges, and the cells of smooths, from noisy counts: post-processing.
#
# Reading the octaves. An empty cell must not be mistaken for data, as one error at 2^60 would make a column useless.
# The column's core is the strongest group of one to four neighbouring octaves, of one sign or of both, if its noisy sum
# exceeds the level that noise reaches in any group with probability 1 %. From there the range extends to the outermost
# octave whose count exceeds the noise level. Nearby, where an error costs a factor of two, weak evidence suffices; far
# away it must be strong: noise reaches an octave at distance d with probability 0.1 / d^3. Errors near zero are cheap:
# a range is extended to zero unless the counts show that hardly any values are there. On the other side of zero it is
# extended by a quarter if the counts exceed 2 standard deviations.
#
# For coefficients with intervals, no values that the counts show may be cut off: an octave is kept however few values
# it has, if it or the sum of up to four octaves that it is the fullest of exceeds the noise level; a range extends to
# zero unless the counts show nothing there, it has one octave more where the noise may hide values or the last octaves
# fall off slowly, so that few values beyond may decide a coefficient, and there are no cells. So the number of values
# cut off decreases with the noise, as the width of the intervals does. But with a range
# far beyond the values nothing of a column is resolved, so stronger evidence is required: 0.02 / d^3, and 3 standard
# deviations on the other side.
#
# Reading the cells. Of all intervals the one with the smallest cost is taken: log2(width) + (values outside) / (5 % of
# the values that are not in the fullest cell). At most 20 % of the latter may be outside, so that a column with few
# different values is not reduced to the most frequent one. 2 standard deviations are added to the number of values
# outside, which is the count of the cells outside or n minus the count of the cells inside, whichever is less. With
# little data the range of the octaves is kept.
#
# These rules were chosen on synthetic columns: inst/experiments/ranges-rule.R.

ranges_error <- 0.01    # probability that noise is mistaken for a column's core
# reach: probability that noise is mistaken for data in the next octave. across: standard deviations that are evidence
# for values on the other side of zero. tail: an octave with less than this fraction of n is omitted. outside: fraction
# of n that may lie between zero and a range that excludes it. surely: must the counts show, by ranges_doubt standard
# deviations, that there are no values? octaves: the part of the budget for ranges that counts them. groups: do sums of
# octaves show values, too? spare: with noise that could hide more than this fraction of n beyond an end, ranges have
# one octave more; NA: never. Fits with intervals keep values; ranges_bounding is for responses of other fits.
ranges_cutting <- list(octaves = 0.75, reach = 0.1, across = 2, tail = 0.03, outside = 0.05, worth = 0.05,
                       surely = FALSE, groups = FALSE, spare = NA)
ranges_bounding <- list(octaves = 1, reach = 0.02, across = 3, tail = 0, outside = 0.01, worth = 0.05, surely = TRUE,
                        groups = FALSE, spare = NA)
ranges_keeping <- utils::modifyList(ranges_bounding, list(octaves = 1.2, groups = TRUE, spare = 0.005))
ranges_share <- 0.05    # fraction of a job's budget for ranges
ranges_again <- 0.2     # most of the budget for another look at columns whose octaves show no range,
ranges_precise <- 14    # so that the noise of their counts is this part of n,
ranges_hopeless <- 4    # unless even all of that leaves it a larger part than this
ranges_max_lost <- 0.2  # fraction of the values outside the fullest cell that may be cut off
ranges_few <- 1000      # n mu from which on fits by residuals cut off less, in proportion to its inverse
ranges_others <- 0.02   # fraction of n that is assumed to be outside the fullest cell at least
ranges_doubt <- 2       # standard deviations added to the values outside
ranges_missing <- 3     # standard deviations that are evidence for missing values
ranges_narrow <- 0.8    # fraction of n in two octaves from which a column is considered narrow
ranges_slow <- 1 / 4    # values twice as large have as much of the variance if they are a quarter as many
ranges_cells <- 128L
ranges_windows <- 1:4

magnitudes <- 128L      # octaves of either sign: the o-th is (2^(o - 65), 2^(o - 64)]
magnitude_of_one <- 64L # its upper end is 1
octave_end <- function(o) 2^(o - magnitude_of_one)
# A value at the end of an octave belongs to it, so the range of a column with values 0 and 1 ends at 1.
octave_breaks <- local({
  positive <- octave_end(0:magnitudes) * (1 + .Machine$double.eps)
  positive[magnitudes + 1L] <- .Machine$double.xmax
  c(-rev(positive), positive)
})

# ---- octaves ----

# The number of values: n, unless the counts show that it is another one.
values_there <- function(counts, sd, n, doubt = ranges_missing) {
  total <- sum(counts)
  doubt <- doubt * sd * sqrt(length(counts))
  if (abs(n - total) > doubt) max(total, doubt) else n
}

# NULL, or lower and upper; narrow: do most of the values seem to lie in two octaves of one sign? alone: do no others
# seem to be there?
read_octaves <- function(counts, sd, n, rule = ranges_cutting) {
  zeros <- counts[magnitudes + 1L]
  # A column that is mostly zero has the range of its other values.
  if (zeros - ranges_missing * sd > n / 2) rule$tail <- rule$tail * max(n - zeros, 0) / n
  positive <- counts[magnitudes + 1L + seq_len(magnitudes)]
  negative <- counts[magnitudes + 1L - seq_len(magnitudes)]
  sides <- list(positive = find_core(positive, sd), negative = find_core(negative, sd),
                both = find_core(positive + negative, sqrt(2) * sd))
  scores <- vapply(sides, function(core) core$score, 0)
  side <- if (max(scores) >= core_threshold) names(which.max(scores)) else "zeros"
  core <- sides[[side]]$octave
  range <- switch(side,
    positive = one_sided(positive, negative, core, sd, n, rule),
    negative = {
      range <- one_sided(negative, positive, core, sd, n, rule)
      range[c("lower", "upper")] <- list(-range$upper, -range$lower)
      range
    },
    both = two_sided(rep(octave_reached(positive + negative, core, sqrt(2) * sd, n, rule), 2L)),
    # If values other than zero are rare, at least their sign is found.
    zeros = if (zeros >= core_threshold * sd) {
      two_sided(c(octave_reached(negative, magnitude_of_one, sd, n, rule),
                  octave_reached(positive, magnitude_of_one, sd, n, rule)))
    }
  )
  if (is.null(range) || is.na(rule$spare)) return(range)
  # Sums over four octaves beyond have twice the noise of one.
  if (2 * ranges_doubt * sd > rule$spare * n) return(one_octave_more(range))
  if (range$alone) return(range)
  one_octave_more(range, falls_slowly(negative, -range$lower), falls_slowly(positive, range$upper))
}

one_octave_more <- function(range, below = TRUE, above = TRUE) {
  if (below) range$lower <- range$lower * if (range$lower < 0) 2 else 0.5
  if (above) range$upper <- range$upper * if (range$upper > 0) 2 else 0.5
  range
}

# Do the outermost octaves, up to this end, fall off so slowly that those beyond, which the noise hides, may hold more
# of the variance (inst/experiments/beyond-rule.R)?
falls_slowly <- function(counts, end) {
  if (end <= octave_end(2L)) return(FALSE)
  n <- counts[magnitude_of_one + round(log2(end)) - 0:2]
  n[1] > ranges_slow * n[2] && n[1] < n[2] && n[2] < n[3]
}

# Of the score of a core, by the number of groups.
core_threshold <- stats::qnorm(ranges_error / (3 * magnitudes * length(ranges_windows)), lower.tail = FALSE)

# The group of octaves that exceeds the noise level most, its score in standard deviations, and its fullest octave.
find_core <- function(counts, sd) {
  total <- c(0, cumsum(counts))
  best <- list(score = -Inf)
  for (width in ranges_windows[ranges_windows <= length(counts)]) {
    start <- seq_len(length(counts) - width + 1L)
    score <- (total[start + width] - total[start]) / (sd * sqrt(width))
    i <- which.max(score)
    if (score[i] > best$score) {
      best <- list(score = score[i], octave = i - 1L + which.max(counts[i + seq_len(width) - 1L]))
    }
  }
  best
}

# The outermost octave that seems to contain data, searched from one that does.
octave_reached <- function(counts, from, sd, n, rule) {
  if (rule$groups) return(group_reached(counts, from, sd, rule$reach))
  octaves <- seq_along(counts)
  distance <- pmax(octaves - from, 1)
  enough <- pmax(rule$tail * n, sd * stats::qnorm(rule$reach / distance^3, lower.tail = FALSE))
  max(from, octaves[octaves > from & counts >= enough])
}

# The same by the sums of one to four octaves: the fullest one of a group that exceeds the noise level. So a long tail
# is seen of which no octave is.
group_reached <- function(counts, from, sd, reach) {
  total <- cumsum(c(0, counts))
  max(from, unlist(lapply(ranges_windows, function(width) {
    start <- seq_len(length(counts) - width + 1L)
    start <- start[start > from]
    enough <- sd * sqrt(width) * stats::qnorm(reach / (length(ranges_windows) * (start - from)^3), lower.tail = FALSE)
    start <- start[total[start + width] - total[start] >= enough]
    vapply(start, function(i) i - 1 + which.max(counts[i - 1 + seq_len(width)]), 0)
  })))
}

two_sided <- function(octaves) {
  ends <- octave_end(octaves)
  list(lower = -ends[1], upper = ends[2], narrow = FALSE, alone = FALSE)
}

# The range if the core is on this side of zero.
one_sided <- function(this, other, core, sd, n, rule) {
  top <- octave_reached(this, core, sd, n, rule)
  across <- other_side(other, core, top, sd, n, rule)
  if (across > 0L) return(two_sided(c(across, top)))
  low <- max(1L, top - 1L)
  # The sum over fewer octaves has less noise, and the range is narrower.
  unsure <- if (rule$surely) ranges_doubt * sd * sqrt(top - core + 1) else 0
  few <- n - sum(this[core:top]) <= min(rule$outside * n - unsure, if (rule$surely) unsure)
  ends <- octave_end(c(core - 1L, top))
  narrow <- sum(this[low:top]) >= ranges_narrow * n
  list(lower = if (few && core >= low) ends[1] else 0, upper = ends[2], narrow = narrow,
       alone = narrow && n - sum(this[low:top]) <= ranges_missing * sd * sqrt(2))
}

# The end of the range on the other side of zero: 0, or the end of an octave that is at least a quarter of the upper
# end.
other_side <- function(counts, core, top, sd, n, rule) {
  quarter <- max(1L, top - 2L)
  near <- max(1L, core - 2L)
  end <- octave_reached(counts, near, sd, n, rule)
  if (end > near) return(max(end, quarter))
  octaves <- max(1L, near - 5L):near
  enough <- max(rule$across * sd * sqrt(length(octaves)), rule$tail * n)
  if (sum(counts[octaves]) >= enough) quarter else 0L
}

# ---- cells ----

read_cells <- function(counts, range, sd, n, worth = ranges_cutting$worth) {
  edges <- seq(range$lower, range$upper, length.out = length(counts) + 1L)
  best <- cheapest_interval(edges, counts, 1, sd, n, worth, ranges_doubt, ranges_others)
  list(lower = best[1], upper = best[2])
}

# The interval with the least cost: the log2 of its width, and the values outside, with the doubt about them, relative
# to those outside the fullest cell, at least the fraction `others`. number: of counts of this standard deviation that
# each is the sum of; with no doubt about the whole if `doubtless`.
cheapest_interval <- function(edges, counts, number, sd, n, worth, doubt, others, doubtless = FALSE) {
  k <- length(counts)
  pairs <- expand.grid(first = seq_len(k), last = seq_len(k))
  pairs <- pairs[pairs$last >= pairs$first, ]
  sums <- function(x) {
    total <- c(0, cumsum(rep_len(x, k)))
    list(inside = total[pairs$last + 1L] - total[pairs$first], all = total[k + 1L])
  }
  values <- sums(counts)
  cells <- sums(number)
  at_most <- function(count, cells) pmax(count, 0) + doubt * sd * sqrt(cells)
  lost <- pmin(at_most(values$all - values$inside, cells$all - cells$inside), at_most(n - values$inside, cells$inside))
  if (doubtless) lost[cells$inside == cells$all] <- 0
  others <- max(n - max(counts), others * n)
  width <- edges[pairs$last + 1L] - edges[pairs$first]
  best <- which.min(ifelse(lost > ranges_max_lost * others, Inf, log2(width) + lost / (worth * others)))
  edges[c(pairs$first[best], pairs$last[best] + 1L)]
}

# ---- octaves within declared limits ----

limits_doubt <- 1       # standard deviations added to the values outside
limits_others <- 0.2    # as ranges_others, as one octave may hold all values
limits_saving <- 4      # octaves decide as without limits where the range is so many times narrower
limits_finest <- 2^20   # ends nearer to zero than the larger limit over this are none

# What of the limits is worth keeping, by the octaves within them.
read_limits <- function(counts, limits, sd, n, worth) {
  breaks <- pmin(pmax(octave_breaks, limits[[1]]), limits[[2]])
  inside <- which(diff(breaks) > 0)
  edges <- breaks[c(inside, inside[length(inside)] + 1L)]
  apart <- abs(edges) >= max(abs(limits)) / limits_finest
  apart[c(1L, length(edges))] <- TRUE
  cell <- cumsum(apart)[seq_along(inside)]
  cheapest_interval(edges[apart], as.vector(rowsum(counts[inside], cell)), tabulate(cell), sd, n, worth, limits_doubt,
                    limits_others, doubtless = TRUE)
}

# ---- cells of smooths ----

smooth_cells <- 48L      # cells of a column
smooth_zeros <- 0.02     # fraction of n from which zero is a cell of its own, if it exceeds the noise, too
smooth_zero_width <- 1e-12 # of the cell of zeros, over the largest number of the range

# The quantiles of half the even distribution on the range, half the one that the octaves show, even within an octave.
# So both years and balances are resolved.
smooth_breaks <- function(seen, n) {
  counts <- seen$counts
  range <- lapply(seen$range[c("lower", "upper")], `-`, seen$origin)
  clipped <- pmin(pmax(octave_breaks, range$lower), range$upper)
  ends <- unique(clipped)
  inside <- diff(clipped) > 0
  weight <- pmax(counts[inside] - ranges_doubt * seen$sd, 0)
  if (sum(weight) == 0) weight[] <- 1
  below <- (c(0, cumsum(weight)) / sum(weight) + (ends - range$lower) / (range$upper - range$lower)) / 2
  at <- stats::approx(below, ends, seq(0, 1, length.out = smooth_cells + 1L), ties = "ordered")$y
  zeros <- seen$origin == 0 && counts[magnitudes + 1L] > max(smooth_zeros * n, 3 * seen$sd)
  at <- seen$origin + apart_from_zero(at, range, zeros)
  at <- at[c(TRUE, diff(at) > 0)]
  replace(at, c(1L, length(at)), c(seen$range$lower, seen$range$upper))
}

# Sorted breaks with the ends of the range. zeros: is zero a cell of its own?
apart_from_zero <- function(at, range, zeros) {
  width <- smooth_zero_width * max(abs(c(range$lower, range$upper)))
  if (zeros && range$lower <= 0 && range$upper >= 0) at <- c(at[abs(at) > 10 * width], -width, width)
  at <- sort(pmin(pmax(at, range$lower), range$upper))
  at <- c(range$lower, at[at > range$lower & at < range$upper], range$upper)
  at[c(TRUE, diff(at) > 0.1 * width)]
}

# The masses: nonnegative, with the sum one. If the counts show that values are missing, those that are there count.
cell_masses <- function(counts, sd, n) on_simplex(counts / values_there(counts, sd, n, ranges_doubt))

# The nearest point with nonnegative entries of sum one.
on_simplex <- function(y) {
  falling <- sort(y, decreasing = TRUE)
  shift <- (cumsum(falling) - 1) / seq_along(y)
  pmax(y - shift[max(which(falling > shift))], 0)
}
