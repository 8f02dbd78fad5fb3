# Medians of columns from the noisy counts that found their ranges: post-processing. They fill gaps (R/design-gaps.R).

# seen: as of see_octaves(), of columns with a range. Cells are finer than octaves, where there are some.
counts_medians <- function(seen) {
  vapply(seen, function(s) {
    breaks <- s$cells$breaks %||% (s$origin + octave_breaks)
    counts <- s$cells$counts %||% s$counts
    ends <- pmin(pmax(breaks, s$range$lower), s$range$upper)
    inside <- diff(ends) > 0
    median_of(ends[c(inside, FALSE)], ends[c(FALSE, inside)], on_simplex(counts[inside] / s$there))
  }, 0)
}

# masses: of smooths.
masses_medians <- function(masses) {
  vapply(masses, function(m) median_of(m$breaks[-length(m$breaks)], m$breaks[-1], m$mass), 0)
}

# Of masses that are even between these ends, to three digits of the range.
median_of <- function(lower, upper, mass) {
  range <- c(lower[1], upper[length(upper)])
  below <- cumsum(mass) / sum(mass)
  i <- which(below >= 0.5)[1]
  part <- (0.5 - (below[i] - mass[i] / sum(mass))) / (mass[i] / sum(mass))
  unit <- 10^floor(log10(diff(range) / 1000))
  x <- unit * round((lower[i] + part * (upper[i] - lower[i])) / unit)
  min(max(x, range[1]), range[2])
}
