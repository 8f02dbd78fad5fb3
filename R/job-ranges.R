# The stage of a job that finds the ranges that are not declared, and the masses of the cells that give smooths their
# knots and columns.

usual_ranges_share <- function(job) ranges_share * if (job$inference == "none") 1 else ranges_keeping$octaves

ranges_start <- 0.6 # most of the budget for the start and another look at ranges

# Of columns that are narrow, for a closer look. Smooths have one of their own.
narrow_ranges_share <- function(smooths) {
  (1 + (length(smooths) > 0L)) * ranges_share * (zoom_most * zoom_share + around_share)
}

job_ranges <- function(job) {
  sized <- if (is.null(job$design$smooth)) job else
    complete(job, design = size_smooths(job$design, records_for_smooths(job)))
  columns <- sized$columns(sized)
  open <- names(columns)[is.na(job$design$ranges[names(columns), "lower"])]
  found <- missed <- NULL
  if (length(columns) > 0L && is_level(job)) {
    job <- complete(job, design = with_any_ranges(job$design))
  } else if (length(columns) > 0L) {
    smooths <- counted_smooths(sized$design)
    again <- again_for_ranges(job) * job$rho
    more <- max_again(job, open, again)
    inform("ranges", format_share(usual_ranges_share(job)), " of the budget finds the ", ranges_text(open, smooths),
           " of ", length(columns), if (length(columns) == 1L) " numeric column" else " numeric columns",
           if (length(open) > 0L) paste0(", and up to ", format_share(narrow_ranges_share(intersect(open, smooths)), 2),
                                           " more where they are narrow"),
           if (more > 0) paste0(", up to ", format_share(more), " more for those that the noise hides"),
           "; `bounds` declares public ", if (length(open) == 0L) "ranges" else "ones")
    found <- private_ranges(columns, job$budget, ranges_share * job$rho, job$neighbours, job$noise == "reproducible",
                            present = present_records(job),
                            cutting = job$inference == "none", known = job$design$ranges[smooths, , drop = FALSE],
                            tails = job$method$residuals, again = again)
    missed <- open[!attr(found, "found")[open]]
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

# The fraction of the budget for another look, if the first one shows nothing of these columns; again: at most this rho.
max_again <- function(job, open, again) {
  if (length(open) == 0L) return(0)
  look <- new_look(job$n * present_records(job), ranges_share * job$rho, ranges_cutting, job$neighbours)
  sd <- counts_sd(look, length(open), look$rule$octaves * look$rho)
  again_cost(look, sd, length(open), again) / job$rho
}

# Powers and products are centred (R/design-powers.R), unless the call states the problem for the columns as they are
# written: with a penalty, moments, or a radius that clips rows.
takes_powers <- function(job) {
  is.null(job$model) && !is_matrix_design(job$design) && job$penalty$name == "none" &&
    !inherits(job$moments, "dp_geometry") && !may_clip(job$design)
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
