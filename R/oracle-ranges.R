# Ranges of numeric columns from noisy counts.
#
# The first release counts, in every column, the values in each octave (2^k, 2^(k+1)] of either sign, |k| <= 64, and the
# values near zero. The second release counts values in 128 equal cells of the range so far, for the columns that can
# gain from it. Further ones look for narrow columns far from zero (oracle-locate.R). All are Gaussian
# (src/barrier/query_counts.c). What follows from them (oracle-octaves.R) uses noisy counts, public constants and n
# only, so it costs nothing.

# columns: a named list of doubles, or stream_columns(). Returns a matrix of lower and upper with a row per column. Its
# attribute "found" is FALSE where no group of counts exceeded the noise level; the range is then [-1, 1]. "beyond" is a
# matrix of the ranges with what seems to lie beyond (oracle-beyond.R), "medians" are those of the columns that are seen
# (oracle-medians.R), and "single" names columns that seem to have one value. Draws rho from the budget (for intervals
# 1.2 rho), and more where columns are narrow (look_around()).
# present: the fraction of the records that are used, as far as it is known. cutting: may ranges cut off a few values?
# This would bias coefficients.
# tails: n mu of a fit that is to cut off as little as the noise allows, or NULL. again: rho for another look at columns
# of which nothing is seen.
# known: a matrix of lower and upper with a row for each column that is a smooth's, NA where its range is to be found;
# the attribute "cells" then has breaks and mass for each whose range is known or found.
# limits: such a matrix of columns whose values are moved into these ranges, in which theirs are found, or else stay.
# closer: may narrow columns be looked at more closely?
private_ranges <- function(columns, budget, rho, neighbours, reproducible, cutting = TRUE, known = no_ranges,
                           present = 1, tails = NULL, again = 0, limits = no_ranges, closer = TRUE) {
  n <- present * (if (is.null(attr(columns, "rows"))) length(columns[[1]]) else attr(columns, "rows"))
  rule <- if (cutting) ranges_cutting else ranges_keeping
  if (!is.null(tails)) rule <- cutting_less(rule, tails)
  look <- new_look(n, rho, rule, neighbours, limits = limits, release = function(names, breaks, rho) {
    release_counts(columns, breaks, budget, rho, neighbours, reproducible, names)
  })
  declared <- rownames(known)[!is.na(known[, "lower"])]
  seen <- see_again(look, see_octaves(look, setdiff(names(columns), declared)), again)
  found <- !vapply(seen, function(s) is.null(s$range), NA)
  smooths <- c(declared, intersect(rownames(known), names(seen)[found]))
  if (closer) {
    seen <- look_around(look, seen, narrow_windows(if (cutting) seen[intersect(names(seen), smooths)] else seen))
  }
  cells <- if (cutting) see_cells(look, seen, smooths, known, length(columns))
  if (cutting) seen <- if (closer) look_around(look, cells$seen, cells$windows, surely = TRUE) else cells$seen
  ranges <- cbind(lower = ifelse(found, 0, -1), upper = ifelse(found, 0, 1))
  for (name in names(seen)[found]) ranges[name, ] <- c(seen[[name]]$range$lower, seen[[name]]$range$upper)
  structure(ranges, found = found, cells = cells$masses, beyond = beyond_all(seen[found], octave_breaks),
            medians = c(masses_medians(cells$masses), counts_medians(seen[found])),
            single = names(Filter(function(s) isTRUE(s$single), seen)))
}

# With little noise the part of a column's effect that is cut off costs more than a wider range.
cutting_less <- function(rule, precision) {
  less <- min(1, ranges_few / precision)
  utils::modifyList(rule, list(tail = less * rule$tail, worth = less * rule$worth))
}

# What releases of counts need: release is a function(names, breaks, rho) that returns counts and their sd. limits: of
# columns whose range lies within them.
new_look <- function(n, rho, rule, neighbours, release = NULL, limits = no_ranges) {
  list(n = n, rho = rho, rule = rule, terms = changes_of(neighbours), release = release, limits = limits)
}

# For each column what is seen of it: its range (NULL if none is found), and the counts of x - origin by octaves.
see_octaves <- function(look, names) {
  if (length(names) == 0L) return(list())
  octaves <- look$release(names, rep(list(octave_breaks), length(names)), look$rule$octaves * look$rho)
  seen <- lapply(octaves$counts, see, octaves$sd, look)
  limited <- intersect(names, rownames(look$limits))
  for (name in limited) seen[[name]] <- within_limits(seen[[name]], look$limits[name, ], look$rule)
  seen
}

# The range of a column whose values are moved into limits, which stay where none is found. Octaves show less than cells
# how much lies beyond them, so they decide only where they save much.
within_limits <- function(s, limits, rule) {
  range <- s$range %||% list(narrow = FALSE, alone = FALSE)
  ends <- cut_off(s$range, limits) %||% unname(limits)
  kept <- if (!rule$surely) read_limits(s$counts, limits, s$sd, s$there, rule$worth)
  if (!is.null(kept) && kept[2] - kept[1] < limits_saving * (ends[2] - ends[1])) ends <- kept
  s$range <- list(lower = ends[1], upper = ends[2], narrow = range$narrow, alone = range$alone)
  s
}

# The ends of the part of a range that lies within limits, or NULL.
cut_off <- function(range, limits) {
  ends <- pmin(pmax(c(range$lower, range$upper), limits[[1]]), limits[[2]])
  if (length(ends) == 2L && ends[1] < ends[2]) ends
}

# Columns without a range say nothing, so a larger part of the budget looks for theirs again, as far as it can be hoped
# that it will find them. The looks are pooled.
see_again <- function(look, seen, most) {
  missed <- names(Filter(function(s) is.null(s$range), seen))
  rho <- if (length(missed) > 0L) again_cost(look, seen[[missed[1]]]$sd, length(missed), most) else 0
  if (rho == 0) return(seen)
  again <- look$release(missed, rep(list(octave_breaks), length(missed)), rho)
  for (name in missed) {
    pooled <- pooled_counts(seen[[name]], list(counts = again$counts[[name]], sd = again$sd))
    seen[[name]] <- see(pooled$counts, pooled$sd, look)
  }
  seen
}

# What leaves counts of this standard deviation, with those of so many columns, one of n / ranges_precise; at most
# `most`.
again_cost <- function(look, sd, columns, most) {
  wanted <- (ranges_precise / look$n)^2 - 1 / sd^2
  rho <- min(most, max(0, look$terms * columns / 2 * wanted))
  if (rho == most && 1 / sd^2 + 2 * rho / (look$terms * columns) < (ranges_hopeless / look$n)^2) 0 else rho
}

pooled_counts <- function(a, b) {
  weight <- b$sd^2 / (a$sd^2 + b$sd^2)
  list(counts = weight * a$counts + (1 - weight) * b$counts, sd = a$sd * sqrt(weight))
}

see <- function(counts, sd, look, origin = 0) {
  there <- values_there(counts, sd, look$n)
  range <- read_octaves(counts, sd, there, look$rule)
  if (!is.null(range)) range[c("lower", "upper")] <- list(origin + range$lower, origin + range$upper)
  list(range = range, counts = counts, sd = sd, there = there, origin = origin)
}

counts_sd <- function(look, columns, rho) sqrt(look$terms * columns / (2 * rho))

# Counts in equal cells of ranges, and in those of smooths, which take all of the rest. Adds the range that they show to
# what is seen; windows: of columns that need a closer look; masses: of smooths.
see_cells <- function(look, seen, smooths, known, columns) {
  rest <- (1 - if (length(seen) == 0L) 0 else look$rule$octaves) * look$rho
  # A range may be much too wide for its values (years: one octave is 1024 of them). Other ranges are right to about an
  # octave, so that a second release helps only if the counts are accurate to 0.2 % of n.
  precise <- counts_sd(look, columns, rest) <= 0.002 * look$n
  worth <- vapply(seen, function(s) !is.null(s$range) && (precise || s$range$narrow), NA)
  refine <- setdiff(names(seen)[worth], smooths)
  breaks <- c(lapply(seen[refine], function(s) seq(s$range$lower, s$range$upper, length.out = ranges_cells + 1L)),
              lapply(stats::setNames(nm = smooths), function(name) {
                if (is.null(seen[[name]])) equal_cells(known[name, ], smooth_cells)
                else smooth_breaks(seen[[name]], look$n)
              }))
  if (length(breaks) == 0L) return(list(seen = seen))
  cells <- look$release(names(breaks), breaks, rest)
  seen[refine] <- Map(see_closer, seen[refine], breaks[refine], cells$counts[refine], cells$sd, look$rule$worth)
  list(seen = seen, windows = lapply(Filter(function(s) s$close, seen[refine]), `[[`, "window"),
       masses = lapply(stats::setNames(nm = smooths), function(name) {
         list(breaks = breaks[[name]], mass = cell_masses(cells$counts[[name]], cells$sd, look$n))
       }))
}

see_closer <- function(s, breaks, counts, sd, worth) {
  range <- read_cells(counts, s$range, sd, s$there, worth)
  run <- fullest_run(counts, zoom_few)
  few <- range$upper - range$lower < (zoom_few - 0.5) * (breaks[2] - breaks[1])
  alone <- s$range$alone && s$there - run$sum <= ranges_missing * sd * sqrt(zoom_few)
  s[c("range", "cells", "close", "window")] <-
    list(range, list(breaks = breaks, counts = counts, sd = sd), run$sum >= zoom_held * s$there && (few || alone),
         breaks[run$first + c(0L, zoom_few)])
  s
}

narrow_windows <- function(seen) {
  lapply(Filter(function(s) !is.null(s$range) && s$range$alone, seen), function(s) c(s$range$lower, s$range$upper))
}

# The ranges of columns that seem to be narrow, by octaves around their values, unless the noise may hide where they
# are. surely: are these windows that hold most of the values in few cells?
look_around <- function(look, seen, windows, surely = FALSE) {
  least <- zoom_evident * counts_sd(look, length(windows), zoom_share * look$rho) * sqrt(zoom_few)
  there <- lapply(seen, `[[`, "there")
  at <- locate(windows[unlist(there[names(windows)]) * zoom_held >= least], look$release, look$rho, there, surely)
  if (length(at) == 0L) return(seen)
  breaks <- lapply(at, function(place) around(octave_breaks, place$centre))
  octaves <- look$release(names(at), lapply(breaks, `[[`, "breaks"), around_share * look$rho)
  for (name in names(at)) {
    counts <- replace(0 * octave_breaks[-1], breaks[[name]]$place, octaves$counts[[name]])
    near <- see(counts, octaves$sd, look, at[[name]]$centre)
    if (name %in% rownames(look$limits)) {
      ends <- cut_off(near$range, look$limits[name, ])
      near["range"] <- list(if (!is.null(ends)) utils::modifyList(near$range, list(lower = ends[1], upper = ends[2])))
    }
    seen[[name]] <- narrower(seen[[name]], near, at[[name]]$within)
  }
  seen
}

# Which of two looks at a column counts. If nothing is seen outside a window whose cells did not tell its values apart,
# they may be one.
narrower <- function(far, near, within) {
  width <- if (is.null(near$range)) 0 else near$range$upper - near$range$lower
  far$single <- width <= zoom_apart * within
  if (width > 0 && !far$single && width < (far$range$upper - far$range$lower) / 2) near else far
}

# Noisy counts of the values of columns, those of these names, in the cells of their breaks.
release_counts <- function(columns, breaks, budget, rho, neighbours, reproducible, names = base::names(columns)) {
  ask <- attr(columns, "ask")
  used <- attr(columns, "used")
  out <- if (!inherits(columns, "dp_stream_columns")) {
    .Call(ffi_ranges_release, budget$pointer, unname(columns[names]), unname(breaks), attr(columns, "persons"), rho,
          neighbours, reproducible)
  } else if (is.null(ask)) {
    .Call(ffi_ranges_release_stream, budget$pointer, attr(columns, "feed")(names),
          as.double(if (is.null(used)) attr(columns, "rows") else sum(as.double(used))), used, unname(breaks), rho,
          neighbours, reproducible)
  } else {
    .Call(ffi_ranges_release_remote, budget$pointer, ask(names, breaks), attr(columns, "rows"), unname(breaks), rho,
          neighbours, reproducible)
  }
  cells <- lengths(breaks) - 1L
  counts <- unname(split(out$value, rep(seq_along(cells), cells)))
  list(counts = stats::setNames(counts, names), sd = out$sd)
}
