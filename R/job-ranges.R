# The stage of a job that finds the ranges that are not declared. It is the first charge.

# Fraction of the job's budget.
ranges_share <- 0.05

job_ranges <- function(job) {
  columns <- job$columns(job)
  job <- add_entries(job, private = names(columns))
  if (length(columns) == 0L) return(job)
  inform("ranges", format_share(ranges_share), " of the budget finds the ranges of ", length(columns),
         if (length(columns) == 1L) " numeric column" else " numeric columns", "; `bounds` declares public ones")
  found <- private_ranges(columns, job$budget, ranges_share * job$rho, job$neighbours, job$noise == "reproducible",
                          cutting = job$inference == "none")
  warn_missed(names(columns)[!attr(found, "found")], job$call)
  complete(job, design = design_fill_ranges(job$design, found))
}

warn_missed <- function(missed, call) {
  if (length(missed) == 0L) return(invisible())
  some <- utils::head(missed, max_shown)
  warn("ranges", "No range exceeds the noise level for ", if (length(missed) > 1L) paste(length(missed), "columns") else
    "one column", ": [-1, 1] is taken, with which a column that lies elsewhere carries no information. Declare what ",
       "is known about it:\n  bounds = list(", paste0(vapply(some, backquote, ""), " = c( , )", collapse = ", "),
       if (length(missed) > length(some)) ", ...", ")", call = call)
}

# The name as code: log(b) in backticks, a without.
backquote <- function(name) deparse(as.name(name), backtick = TRUE)
