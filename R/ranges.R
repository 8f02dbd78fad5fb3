# Ranges of numeric columns from noisy counts.
#
# First release: in every column, how many values lie in each octave
# [2^k, 2^(k+1)) of either sign, |k| <= 64, and how many are (almost) zero. Second
# release: the columns that it helps, in 128 equal cells of their range so far.
# Both are Gaussian (src/barrier/ranges.c); all that follows is done with noisy
# counts, public constants and n, so it costs nothing.
#
# Reading the octaves. An empty cell must not pass for data, as one error at
# 2^60 would make a column useless: a group of one to four neighbouring octaves
# counts as data when its noisy sum exceeds what noise reaches in any group of
# any column with probability 1 %, and 1 % of n. The range ends, on
# either side, with the outermost octave from which such a group goes outwards.
# Errors near zero are cheap in width, so there evidence may be weak: a range
# down to an eighth of its upper end is continued to zero without any, and a
# quarter to the other side at 2 standard deviations.
#
# Reading the cells. Of all intervals the one of least cost is taken:
# log2(width) + (values outside) / (5 % of n), an octave of width being worth 5 %
# of the values. Values outside are estimated with 2 standard deviations
# on top, from the cells outside or as the total less the cells inside, whichever
# are fewer. So with little data the range stays as the octaves gave it. The
# octave in which the data end is never left.
#
# These rules were chosen by measurement: inst/experiments/ranges.R.

ranges_octaves_share <- 0.75
ranges_error <- 0.01    # probability that noise passes for data anywhere
ranges_tail <- 0.01     # share of n that may be cut off at each end
ranges_octave_worth <- 0.05
ranges_doubt <- 2       # standard deviations added to the values outside, and asked of a weak sign
ranges_cells <- 128L
ranges_windows <- 1:4

octave_edges <- c(-rev(2^(-64:64)), 2^(-64:64))
octave_zero <- 129L     # the cell that holds zero

# columns: a named list of doubles, or stream_columns(). A matrix of lower and upper, a row per
# column; attribute "found" is FALSE where no group of values stood out, and
# the range is then [-1, 1]. Draws at most rho from the budget.
private_ranges <- function(columns, budget, rho, neighbours, reproducible) {
  n <- attr(columns, "rows") %||% length(columns[[1]])
  release <- function(names, breaks, rho) {
    if (inherits(columns, "dp_stream_columns")) {
      return(stream_counts(columns, names, breaks, budget, rho, neighbours, reproducible))
    }
    release_counts(columns[names], breaks, budget, rho, neighbours, reproducible)
  }
  breaks <- octave_edges
  breaks[c(1L, length(breaks))] <- c(-1, 1) * .Machine$double.xmax
  octaves <- release(names(columns), rep(list(breaks), length(columns)), ranges_octaves_share * rho)
  threshold <- octave_threshold(length(columns))
  read <- lapply(octaves$counts, read_octaves, sd = octaves$sd, n = n, threshold = threshold)
  rest <- (1 - ranges_octaves_share) * rho
  refine <- names(read)[vapply(read, is_worth_refining, NA, precise = is_precise(length(columns), n, rest, neighbours))]
  if (length(refine) > 0L) {
    breaks <- lapply(read[refine], function(r) seq(r$lower, r$upper, length.out = ranges_cells + 1L))
    cells <- release(refine, breaks, rest)
    read[refine] <- Map(read_cells, cells$counts, read[refine], sd = cells$sd, n = n)
  }
  found <- !vapply(read, is.null, NA)
  ranges <- cbind(lower = ifelse(found, 0, -1), upper = ifelse(found, 0, 1))
  for (name in names(read)[found]) ranges[name, ] <- c(read[[name]]$lower, read[[name]]$upper)
  structure(ranges, found = found)
}

release_counts <- function(columns, breaks, budget, rho, neighbours, reproducible) {
  out <- .Call(ffi_ranges_release, budget$pointer, unname(columns), unname(breaks), rho,
               match(neighbours, neighbour_codes) - 1L, reproducible)
  split_counts(out, names(columns), breaks)
}

stream_counts <- function(columns, names, breaks, budget, rho, neighbours, reproducible) {
  out <- .Call(ffi_ranges_release_stream, budget$pointer, attr(columns, "feed")(names), attr(columns, "rows"),
               unname(breaks), rho, match(neighbours, neighbour_codes) - 1L, reproducible)
  split_counts(out, names, breaks)
}

split_counts <- function(out, names, breaks) {
  cells <- lengths(breaks) - 1L
  counts <- unname(split(out$counts, rep(seq_along(cells), cells)))
  list(counts = stats::setNames(counts, names), sd = out$sd)
}

# ---- octaves ----

octave_threshold <- function(m) {
  groups <- m * (length(octave_edges) - 1) * length(ranges_windows)
  stats::qnorm(ranges_error / groups, lower.tail = FALSE)
}

# NULL, or lower and upper, the values inside (at most so many), and the inner
# edges of the outermost octaves.
read_octaves <- function(counts, sd, n, threshold) {
  first <- length(counts) + 1L - suppressWarnings(max(which(begins_group(rev(counts), sd, n, threshold))))
  last <- suppressWarnings(max(which(begins_group(counts, sd, n, threshold))))
  if (!is.finite(first)) return(NULL)
  cells <- sort(c(first, last))
  mirrored <- octave_zero - cells[1] > cells[2] - octave_zero
  if (mirrored) {
    counts <- rev(counts)
    cells <- length(counts) + 1L - rev(cells)
  }
  range <- octaves_range(counts, cells, sd, n)
  if (!mirrored) return(range)
  list(lower = -range$upper, upper = -range$lower, most = range$most, inner = -rev(range$inner))
}

# TRUE for the cells at which a group of data begins, towards larger indices.
begins_group <- function(counts, sd, n, threshold) {
  k <- length(counts)
  total <- c(0, cumsum(counts))
  begins <- logical(k)
  for (width in ranges_windows) {
    start <- seq_len(k - width + 1L)
    sum <- total[start + width] - total[start]
    begins[start] <- begins[start] | sum >= max(threshold * sd * sqrt(width), ranges_tail * n)
  }
  begins
}

# For data that reach further on the positive side.
octaves_range <- function(counts, cells, sd, n) {
  top <- cells[2] - octave_zero
  if (top == 0L) return(list(lower = -1, upper = 1, most = n, inner = c(-1, 1))) # zeros: of what is rare, the sign
  near <- cells[1] - octave_zero
  if (near <= top - 2L) cells[1] <- other_side(counts, near, top, sd, n)
  inside <- cells[1]:cells[2]
  most <- min(n, sum(counts[inside]) + sd * sqrt(length(inside)))
  lower <- if (cells[1] == octave_zero || (near > 0L && near <= top - 2L && cells[1] == near + octave_zero)) 0 else
    octave_edges[cells[1]]
  inner <- if (cells[1] == octave_zero) 0 else octave_edges[cells[1] + 1L]
  list(lower = lower, upper = octave_edges[cells[2] + 1L], most = most, inner = c(inner, octave_edges[cells[2]]))
}

# The first cell, after a look at the octaves between 1/256 and 1/4 of the
# upper end on the negative side.
other_side <- function(counts, near, top, sd, n) {
  from <- max(1L, 1L - near, top - 7L)
  offsets <- if (from <= top - 2L) from:(top - 2L)
  enough <- max(ranges_doubt * sd * sqrt(length(offsets)), ranges_tail * n)
  if (is.null(offsets) || sum(counts[octave_zero - offsets]) < enough) return(octave_zero + near)
  octave_zero - (top - 2L)
}

# ---- cells ----

# A range off zero may be much too wide for what it holds (years: an octave
# is 1024 of them). The others are right to about an octave, and worth it only
# when the counts are good to 0.2 % of n.
is_worth_refining <- function(range, precise) !is.null(range) && (precise || range$lower > 0 || range$upper < 0)

is_precise <- function(m, n, rho, neighbours) {
  sd <- sqrt((if (neighbours == "replace-one") 2 else 1) * m / (2 * rho))
  sd <= 0.002 * n
}

read_cells <- function(counts, range, sd, n) {
  k <- length(counts)
  edges <- seq(range$lower, range$upper, length.out = k + 1L)
  pairs <- expand.grid(first = which(edges[-(k + 1L)] <= range$inner[1]), last = which(edges[-1] >= range$inner[2]))
  pairs <- pairs[pairs$last >= pairs$first, ]
  width <- pairs$last - pairs$first + 1L
  total <- c(0, cumsum(counts))
  inside <- total[pairs$last + 1L] - total[pairs$first]
  outside <- ifelse(k - width < width, total[k + 1L], range$most) - inside
  lost <- pmax(outside, 0) + ranges_doubt * sd * sqrt(pmin(width, k - width))
  cost <- log2(width) + lost / (ranges_octave_worth * n)
  best <- which.min(cost)
  list(lower = edges[pairs$first[best]], upper = edges[pairs$last[best] + 1L])
}
