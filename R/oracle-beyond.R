# What noisy counts tell about values beyond the ends of a private range, which are moved to them: post-processing.
#
# Beyond an end count the octaves of magnitudes up to beyond_reach times the largest number of the range, and down to
# this over beyond_reach; the part of an octave that the range ends in is counted by its cells. Farther values would
# have to be many to be there without any between. All are relative to the number of values that are there.
# Constants: inst/experiments/beyond-rule.R.

beyond_reach <- 16
beyond_chance <- 0.01 # probability that noise alone says of any column that values lie beyond its range
beyond_kept <- 0.005  # the fractions that are told where ranges are to cut off no values,
beyond_cut <- 0.05    # and where they may,
beyond_others <- 0.25 # but of the values that are not zero at most this

beyond_names <- c("lower", "upper", "below", "above", "below_sd", "above_sd", "others")

# A matrix with a row for each column that is seen, as in see_octaves().
beyond_all <- function(seen, breaks) {
  out <- vapply(seen, values_beyond, stats::setNames(numeric(length(beyond_names)), beyond_names), breaks)
  if (length(seen) > 0L) t(out)
}

# The ends, the fractions below and above, standard deviations of their noise, and the fraction of values that are not
# zero. breaks: of the octaves, which are the same on both sides of zero.
values_beyond <- function(seen, breaks) {
  range <- c(seen$range$lower, seen$range$upper)
  mirrored <- seen
  mirrored[c("counts", "origin")] <- list(rev(seen$counts), -seen$origin)
  if (!is.null(seen$cells)) {
    mirrored$cells[c("breaks", "counts")] <- list(-rev(seen$cells$breaks), rev(seen$cells$counts))
  }
  above <- above_end(range, seen, breaks)
  below <- above_end(-rev(range), mirrored, breaks)
  c(lower = range[1], upper = range[2], below = below[[1]], above = above[[1]], below_sd = below[[2]],
    above_sd = above[[2]], others = 1 - min(max(seen$counts[length(breaks) / 2] / seen$there, 0), 1))
}

above_end <- function(range, seen, breaks) {
  near <- 1e-9 * max(abs(range - seen$origin))
  end <- range[2] - seen$origin
  size <- max(abs(range - seen$origin))
  lower <- breaks[-length(breaks)]
  upper <- breaks[-1]
  across <- lower < 0 & upper > 0
  far <- pmax(abs(lower), abs(upper)) <= beyond_reach * size + near &
    (pmin(abs(lower), abs(upper)) >= size / beyond_reach - near | across)
  counted <- far & lower >= end - near & !(across & end >= -near)
  inner <- which(lower < end - near & upper > end + near)
  part <- if (length(inner) == 1L && !is.null(seen$cells)) {
    at <- seen$cells$breaks
    at[-length(at)] >= range[2] - near & at[-1] <= upper[inner] + seen$origin + near
  }
  sum <- sum(seen$counts[counted]) + sum(seen$cells$counts[part])
  c(sum, sqrt(sum(counted) * seen$sd^2 + sum(part) * (seen$cells$sd %||% 0)^2)) / seen$there
}

# In standard deviations of the noise.
beyond_surely <- function(columns) stats::qnorm(beyond_chance / max(2 * columns, 1), lower.tail = FALSE)

# The ends, "lower" or "upper", at which values of columns pile up; named. beyond: as of beyond_all(), or NULL; cutting:
# may ranges cut off a few values?
piled_up <- function(beyond, cutting) {
  if (is.null(beyond)) return(NULL)
  surely <- beyond_surely(nrow(beyond))
  least <- if (cutting) pmin(beyond_cut, beyond_others * beyond[, "others"]) else beyond_kept
  excess <- function(end) beyond[, end] - surely * beyond[, paste0(end, "_sd")] - least
  below <- excess("below")
  above <- excess("above")
  ends <- ifelse(pmax(below, above) <= 0, NA, ifelse(above >= below, "upper", "lower"))
  names(ends) <- rownames(beyond)
  ends[!is.na(ends)]
}
