# The stage of a job that finds the ranges that are not declared, what part of the declared ones is in use, and the
# masses of the cells that give smooths their knots and columns.

ranges_start <- 0.6   # most of the budget for the start and another look at ranges
# inst/experiments/limits-rule.R compares these with others, as those of R/oracle-octaves.R for limits.
limits_worth <- 15    # n over the noise of counts from which on fits look within declared ranges,
limits_precise <- 100 # and that for which a smaller part of the budget is enough,
limits_exact <- 500   # or this with intervals, where the noise is to hide few values

# The fraction of the budget that counts values in octaves and cells, for so many columns without a declared range and
# within so many declared ranges. The noise depends on how many columns share it.
counting_share <- function(job, open, limited) {
  if (open > 0) return(ranges_share)
  if (limited == 0) return(0)
  min(ranges_share, share_for_counts(job, limited, if (job$inference == "none") limits_precise else limits_exact))
}

# What leaves counts of so many columns a noise of one of n / precise.
share_for_counts <- function(job, columns, precise) {
  rho <- changes_of(job$neighbours) * columns / 2 * (precise / (job$n * present_records(job)))^2
  rho / (job$rho * ranges_cutting$octaves)
}

is_worth_limits <- function(job, open, limited) {
  limited > 0 && share_for_counts(job, open + limited, limits_worth) <= ranges_share
}

with_intervals_share <- function(job, share) share * if (job$inference == "none") 1 else ranges_keeping$octaves

# The same with another look where the first one shows nothing, for plans; design: before any range is known.
planned_ranges_share <- function(job, open, limited) {
  if (is_level(job)) return(0)
  if (!is_worth_limits(job, open, limited)) limited <- 0
  with_intervals_share(job, counting_share(job, open, limited)) + max_again(job, open, again_for_ranges(job) * job$rho)
}

# Of columns that are narrow, for a closer look. Smooths have one of their own.
narrow_ranges_share <- function(share, smooths) {
  (1 + (length(smooths) > 0L)) * share * (zoom_most * zoom_share + around_share)
}

job_ranges <- function(job) {
  job <- open_limits(job)
  sized <- if (is.null(job$design$smooth)) job else
    complete(job, design = size_smooths(job$design, records_for_smooths(job)))
  columns <- sized$columns(sized)
  open <- names(columns)[is.na(job$design$ranges[names(columns), "lower"])]
  found <- missed <- NULL
  if (length(columns) > 0L && is_level(job)) {
    job <- complete(job, design = with_any_ranges(job$design))
  } else if (length(columns) > 0L) {
    smooths <- counted_smooths(sized$design)
    limits <- job$design$limits
    hidden <- setdiff(open, rownames(limits))
    share <- counting_share(job, length(union(hidden, smooths)), NROW(limits))
    again <- again_for_ranges(job) * job$rho
    # A perturbed minimiser counts on what is left (perturbed_share).
    closer <- is.null(job$perturbed) || !identical(job$moments, "private")
    narrow <- if (closer && length(open) > 0L) narrow_ranges_share(share, intersect(open, smooths)) else 0
    inform("ranges", ranges_message(job, share, columns, open, smooths, narrow, max_again(job, length(hidden), again)))
    found <- private_ranges(columns, job$budget, share * job$rho, job$neighbours,
                            job$noise == "reproducible", present = present_records(job),
                            cutting = job$inference == "none", known = job$design$ranges[smooths, , drop = FALSE],
                            tails = if (job$method$residuals) job$n * present_records(job) * sqrt(2 * job$rho),
                            again = again, limits = limits, closer = closer)
    missed <- hidden[!attr(found, "found")[hidden]]
    warn_missed(missed, job$call)
    job <- complete(job, design = design_fill_ranges(job$design, found[open, , drop = FALSE]))
  }
  if (!is.null(job$design$gaps)) {
    job <- complete(job, design = settle_gaps(job$design, attr(found, "medians")))
  }
  if (takes_powers(job)) job <- complete(job, design = centre_powers(job$design))
  job <- add_entries(job, private = open, missed = if (length(missed) > 0L) missed, cells = attr(found, "cells"),
                     beyond = attr(found, "beyond"), single = attr(found, "single"), wishes = class_wishes(job))
  if (is.null(job$wishes)) add_columns(job) else job
}

# ---- declared ranges ----

# Declared ranges are limits, which may be much wider than the values are: where it is worth its cost, fits look which
# part of them is in use. design$limits then has them, and their ranges are open.
open_limits <- function(job) {
  names <- limited_columns(job)
  open <- design_counted_names(job$design)
  if (!is_worth_limits(job, length(open), length(names)) || is_level(job)) return(job)
  design <- job$design
  design$limits <- design$ranges[names, , drop = FALSE]
  of_them <- vapply(design$products[rownames(design$ranges)], function(of) any(of %in% names), NA)
  follow <- Filter(function(name) range_follows(design, name), rownames(design$ranges)[of_them])
  design$ranges[c(names, follow), ] <- NA
  complete(job, design = design)
}

# Not those of a call that states its problem for the ranges as they are, nor where a look would be a second pass.
limited_columns <- function(job) {
  design <- job$design
  if (is.null(design) || !is.null(job$once) || states_problem(job) || states_columns(job)) return(NULL)
  ranges <- design$ranges
  wide <- rownames(ranges)[which(ranges[, "lower"] < ranges[, "upper"])]
  names <- setdiff(intersect(wide, names(design$predictors)), c(names(design$smooth$terms), design$smooth$added))
  names <- names[!follow_from(design, names)]
  exact <- function(name) any(c(name, all.vars(design$predictors[[name]])) %in% design$exact)
  Filter(function(name) !exact(name) && !has_known_size(design$predictors[[name]]), names)
}

ranges_message <- function(job, share, columns, open, smooths, narrow, more) {
  limits <- rownames(job$design$limits)
  paste0(
    format_share(with_intervals_share(job, share)), " of the budget finds the ", ranges_text(open, smooths),
    " of ", length(columns), if (length(columns) == 1L) " numeric column" else " numeric columns",
    if (length(limits) == length(open) && length(limits) > 0L) " within the declared limits"
    else if (length(limits) > 0L) paste0(", ", length(limits), " of them within declared limits"),
    if (narrow > 0) paste0(", and up to ", format_share(narrow, 2), " more where they are narrow"),
    if (more > 0) paste0(", up to ", format_share(more), " more for those that the noise hides"),
    if (length(limits) > 0L) "; `bounds = list(x = I(c(lower, upper)))` takes a range as it is"
    else paste("; `bounds` declares public", if (length(open) == 0L) "ranges" else "ones")
  )
}

# The fraction of the budget for another look, if the first one shows nothing of so many columns; again: at most this
# rho.
max_again <- function(job, open, again) {
  if (open == 0) return(0)
  look <- new_look(job$n * present_records(job), ranges_share * job$rho, ranges_cutting, job$neighbours)
  again_cost(look, counts_sd(look, open, look$rule$octaves * look$rho), open, again) / job$rho
}

# Powers and products are centred (R/design-powers.R).
takes_powers <- function(job) is.null(job$model) && !states_columns(job)

# Does the call state the problem for the columns as they are written: with a penalty, moments, or a radius that clips
# rows?
states_columns <- function(job) {
  is_matrix_design(job$design) || job$penalty$name != "none" || inherits(job$moments, "dp_geometry") ||
    may_clip(job$design)
}

# Not what the start may need. Where that is most of the budget columns matter little.
again_for_ranges <- function(job) {
  if (!is.null(job$perturbed)) return(0) # the minimiser counts on what is left
  wishes <- class_wishes(job)
  start <- if (!is.null(wishes)) constant_cost(job$n, job$rho, wishes) / job$rho
           else if (starts_at_fractions(job)) classes_share(job)
           else if (job$method$residuals) level_share(job) + look_share(job) + bounds_again(job)
           else 0
  between(ranges_start - start, c(0, ranges_again))
}

ranges_text <- function(open, smooths) {
  paste(c(if (length(open) > 0L) "ranges", if (length(smooths) > 0L) "knots"), collapse = " and ")
}

warn_missed <- function(missed, call) {
  if (length(missed) == 0L) return(invisible())
  some <- utils::head(missed, max_shown)
  warn("ranges", "No range exceeds the noise level for ", if (length(missed) > 1L) paste(length(missed), "columns") else
    "one column", ": [-1, 1] is taken, with which a column that lies elsewhere carries no information. Declare what ",
       "is known about it:\n  bounds = list(", paste0(vapply(some, backquote, ""), " = c( , )", collapse = ", "),
       if (length(missed) > length(some)) ", ...", ")", call = call)
}
