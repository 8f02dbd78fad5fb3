# The stage of a job that finds the ranges that are not declared, and the masses of the cells that give smooths their
# knots and columns. It is the first charge.

# Fraction of the job's budget.
ranges_share <- 0.05

job_ranges <- function(job) {
  sized <- complete(job, design = size_smooths(job$design, records_for_smooths(job)))
  columns <- sized$columns(sized)
  open <- design_private_names(job$design)
  job <- add_entries(job, private = open)
  if (length(columns) > 0L) {
    smooths <- counted_smooths(sized$design)
    inform("ranges", format_share(ranges_share), " of the budget finds the ", ranges_text(open, smooths), " of ",
           length(columns), if (length(columns) == 1L) " numeric column" else " numeric columns",
           "; `bounds` declares public ", if (length(open) == 0L) "ranges" else "ones")
    found <- private_ranges(columns, job$budget, ranges_share * job$rho, job$neighbours, job$noise == "reproducible",
                            cutting = job$inference == "none", known = job$design$ranges[smooths, , drop = FALSE])
    warn_missed(open[!attr(found, "found")[open]], job$call)
    job <- complete(job, design = design_fill_ranges(job$design, found[open, , drop = FALSE]))
    job <- add_entries(job, cells = attr(found, "cells"))
  }
  if (tells_class(job)) job else add_columns(job)
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
