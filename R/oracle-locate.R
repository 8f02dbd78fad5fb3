# Where a narrow column is, from noisy counts: years, prices around a level, times in seconds.
#
# Octaves of x say nothing of a column with values from 99,998 to 100,002 but that they lie in (65536, 131072]. Where
# most of a column seems to lie in two octaves of one sign and nothing elsewhere, its values are counted in equal cells
# of these, then in cells of the fullest ones, as long as three neighbours hold most of the values. Then octaves of
# x - c, where c is the middle of the values, find the range as those of x do for other columns. Values that the cells
# do not hold are counted there, too, so a column that is mostly one value gets the range of the others. All of it is
# in noisy counts, with breaks that follow from earlier ones (proofs: private-ranges).
# Constants: inst/experiments/locate-rule.R.

zoom_cells <- 512L
zoom_most <- 4L      # of these releases: the spread may be 1e-9 of the distance from zero
zoom_held <- 0.6     # fraction of the values in
zoom_few <- 3L       # so many neighbouring cells: these are looked at more closely,
zoom_near <- 32L     # or in so many: octaves around them are worth their cost
zoom_share <- 0.06   # of the budget for ranges, of each release,
around_share <- 0.4  # and of the octaves around
zoom_evident <- 6    # fewer cells must hold as many standard deviations of their noise
zoom_apart <- 4L     # so many times wider must a range be than a window whose cells did not tell values apart
zoom_least <- 1e-12  # narrowest window, relative to its ends

# windows: a named list of c(lower, upper). release: function(names, breaks, rho) of noisy counts. there: the number of
# values. surely: are they known to be close together? Returns a list for each column whose values are, of their centre
# and of `within`, the width of a window that still seems to hold most values in a few cells, or zero.
locate <- function(windows, release, rho, there, surely) {
  found <- list()
  for (i in seq_len(zoom_most)) {
    wide <- vapply(windows, function(w) w[2] - w[1] > zoom_least * max(abs(w)), NA)
    if (!any(wide)) break
    windows <- windows[wide]
    breaks <- lapply(windows, equal_cells, zoom_cells)
    cells <- release(names(windows), breaks, zoom_share * rho)
    for (name in names(windows)) {
      look <- look_closer(breaks[[name]], cells$counts[[name]], zoom_held * there[[name]], surely || i > 1L)
      windows[[name]] <- look$window
      found[[name]] <- look[c("centre", "within")]
    }
  }
  found[lengths(found) > 0L]
}

# The window of the few cells that hold so many values, or NULL; and the centre of these or of more that do. surely: are
# the values close together, whatever these cells show?
look_closer <- function(breaks, counts, enough, surely) {
  run <- fullest_run(counts, zoom_few)
  if (run$sum >= enough) {
    window <- breaks[c(run$first, run$first + zoom_few)]
    return(list(window = window, centre = mean(window), within = window[2] - window[1]))
  }
  width <- if (surely) zoom_cells else zoom_near
  run <- fullest_run(counts, width)
  if (run$sum < enough && !surely) return(NULL)
  at <- run$first - 1L + seq_len(width)
  median <- at[which.max(cumsum(counts[at]) >= run$sum / 2)]
  list(centre = mean(breaks[median + 0:1]), within = 0)
}

fullest_run <- function(counts, width) {
  total <- cumsum(c(0, counts))
  sums <- total[-seq_len(width)] - total[seq_len(length(counts) - width + 1L)]
  list(first = which.max(sums), sum = max(sums))
}

equal_cells <- function(range, cells) {
  part <- seq(0, 1, length.out = cells + 1L)
  (1 - part) * range[[1]] + part * range[[2]]
}

# Breaks around a centre, without those that numbers cannot tell apart, and the places of their cells among all.
around <- function(breaks, centre) {
  at <- centre + breaks
  keep <- c(TRUE, diff(at) > 0)
  list(breaks = at[keep], place = which(keep)[-1] - 1L)
}
