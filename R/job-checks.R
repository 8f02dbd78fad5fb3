# What released numbers tell about the data and the fit, computed after the run: post-processing, which costs nothing. A
# fit keeps a list `checks` of
#   usable  fraction of usable records and its standard deviation, see job-checks.R
#   class   the same of the records of the second class, where the start was released (job-start.R); a record without
#           a response counts as log1p(e) - log(2), about 0.62
#   ends    the end of the range, "lower" or "upper", of numeric columns whose values seem to lie there; named
#   explained  how much better the fit is than the intercept-only model, see job-explained.R
#   missed  numeric columns for which no range was found, so that [-1, 1] was taken
#   ranges  the private ranges of columns and response, with what noisy counts tell of values beyond (oracle-beyond.R),
#   clipped the ends of those, "lower" or "upper", that more than a negligible part of the values lies beyond; named
#   single  columns of which nearly all values seem to be one
#   part    are records left out on purpose (`subset`, `weights`)?
#   weights are there weights? Those outside (0, 1] drop their records.
#   persons are these persons, of whom usable are those with a usable record?
#   gaps    the argument missing; NULL where it can only be "drop"
# each NULL where nothing was released to see it by.
#
# An estimate u with standard deviation s shows that a fraction is above zero if u / s is at least z, which noise alone
# exceeds with probability 1e-3. That it is zero can be said only where s is so small that u / s would exceed z with
# about that probability if it were the smallest fraction that is expected.

checks_z <- stats::qnorm(0.999)
checks_seen <- 6.2 # fraction over s that is found with probability 0.999
checks_half <- 0.5 # smallest fraction of the records that missing values are expected to leave,
checks_least <- 0.1 # and `subset` or `weights`
checks_end <- 0.1 # a column's mean is expected to be at least this part of the range away from its ends

new_checks <- function(job) {
  ranges <- rbind(job$beyond, job$of_response)
  list(usable = job$usable, class = job$class, ends = job$ends, explained = job$explained, ranges = ranges,
       clipped = piled_up(ranges, job$inference == "none"), single = job$single, missed = job$missed,
       part = !is.null(job$design$subset) || has_weight(job$design),
       weights = has_weight(job$design), persons = !is.null(job$persons),
       gaps = if (!is.null(job$design)) job$design$gaps$missing %||% "drop")
}

# ---- verdicts ----

# "usable", "null" (nearly all records are null), "unclear" (the noise is too large to tell) or NA (not measured).
usable_verdict <- function(checks) {
  usable <- checks$usable
  if (is.null(usable)) return(NA_character_)
  if (usable$fraction >= checks_z * usable$sd) return("usable")
  least <- if (checks$part) checks_least else checks_half
  if (least >= checks_seen * usable$sd) "null" else "unclear"
}

# Is nothing worth releasing any more?
says_nothing <- function(job) is.null(job$answer) && identical(usable_verdict(new_checks(job)), "null")

# Numeric columns with a declared range whose mean is within its standard error of an end, where this error is small.
# names: of the columns; mean: of the mapped rows' columns; constant: that of the intercept's, at whose distance from
# zero both ends are, as null records count in neither (where few records are usable, means near the ends are no sign).
# Both have the standard deviation sd.
columns_at_ends <- function(design, names, private, mean, constant, sd) {
  error <- sqrt(2) * sd
  if (checks_seen * error >= checks_end * 2 * constant) return(NULL)
  at <- ifelse(constant + mean < checks_z * error, "lower", ifelse(constant - mean < checks_z * error, "upper", NA))
  names(at) <- names
  plain <- Filter(function(name) is_plain(design, name), setdiff(names, private))
  at[intersect(names[!is.na(at)], plain)]
}

# A column or expression of the formula with a range of its own: no indicator, product or column of a basis.
is_plain <- function(design, name) {
  e <- design$predictors[[name]]
  name %in% design$columns$name[design$columns$kind == "numeric"] && is.null(design$products[[name]]) &&
    !function_name(e) %in% c("spline_column", "contrast_column", "smooth_column") && !name %in% design$smooth$added
}

# ---- weights ----

dropping_weights <- paste("A record whose weight is not above 0 and at most 1 is not used: divide weights of another",
                          "scale, such as those of surveys, by a public bound")

# Before anything is charged.
tell_weights <- function(job) if (has_weight(job$design)) inform("weights", dropping_weights)

# ---- status ----

# The status of the core's run, unless what it certifies says nothing. moved: did it leave its start? residual: was it
# by residuals, without a certificate?
checked_status <- function(status, checks, target = NULL, decrease = NULL, moved = TRUE, residual = FALSE) {
  if (identical(usable_verdict(checks), "null")) return("null")
  better <- checks$explained$better
  unfit <- length(checks$ends) + length(checks$clipped) > 0L
  if (residual) return(if (isFALSE(better)) "noise" else if (unfit) "ranges" else status)
  if (status != "sosp") return(status)
  if (!moved) return("start")
  if (isFALSE(better) || (is.null(better) && (isTRUE(target$trivial) || isTRUE(decrease <= 0)))) return("noise")
  if (isTRUE(target$trivial)) "budget" else if (unfit) "ranges" else status
}

# ---- warnings and texts ----

warn_checks <- function(checks, design, n, call) {
  for (text in c(null_text(checks, n), ends_text(checks$ends, design))) warn("checks", text, call = call)
  for (text in c(clipped_text(checks), single_text(checks$single))) warn("ranges", text, call = call)
}

inform_unmeasured <- function(loss, checks) {
  if (!is.null(checks$explained) || !is_risky(loss)) return(invisible())
  inform("constant", "No release compares this fit with the constant prediction, and with the ", loss$name, " loss it ",
         "can be worse where the noise is large: `dp_evaluate()` on other records tells")
}

# What is wrong with the records, in the first lines of print(); NULL if nothing is.
null_text <- function(checks, n) {
  usable <- checks$usable
  most <- function() two_digits(max(0, usable$fraction + checks_z * usable$sd))
  what <- "declared levels, types of columns, the coding of the response"
  verdict <- usable_verdict(checks)
  if (identical(verdict, "null")) {
    of <- paste0(format(n, big.mark = ","), if (isTRUE(checks$persons)) " persons' records" else " records")
    return(paste0("The released numbers look as if (nearly) all of the ", of, " were ",
                  "null: at most ", most(), " seem to be used. Check ", what, if (checks$part) ", `subset`, `weights`",
                  ".", gaps_advice(checks), if (isTRUE(checks$weights)) paste0(" ", dropping_weights, ".")))
  }
  if (identical(verdict, "usable") && isTRUE(checks$weights) && usable$fraction + checks_z * usable$sd < checks_half) {
    return(paste0("Only about ", fraction_text(usable), " of the ", if (isTRUE(checks$persons)) "persons" else
      "records", " are used. ", dropping_weights, "."))
  }
  # Are records missing that are not left out on purpose?
  missing <- identical(verdict, "usable") && !checks$part && usable$fraction + checks_z * usable$sd < 0.9
  if (!missing) return(NULL)
  of <- if (isTRUE(checks$persons)) " of the persons have a record that is used; the others have "
        else " of the records are used; the others have "
  paste0("Only about ", fraction_text(usable), of, "a missing value, or a level or code that is not declared. Check ",
         what, ".", gaps_advice(checks))
}

gaps_advice <- function(checks) {
  if (identical(checks$gaps, "drop")) " `missing = \"fill\"` uses records with gaps in their predictors."
}

missed_text <- function(missed) {
  if (length(missed) == 0L) return(NULL)
  paste0("No range was found for ", first_of(quote_names_each(missed)), ", and [-1, 1] was taken: declare ",
         if (length(missed) > 1L) "what is known about them." else "what is known about it.")
}

clipped_text <- function(checks) {
  if (length(checks$clipped) == 0L) return(NULL)
  some <- sorted_by_clipped(checks$ranges[names(checks$clipped), , drop = FALSE])
  paste0("Values beyond a private range are moved to its end, which changes coefficients: of ",
         first_of(paste0("`", rownames(some), "` ", beyond_text(some))), ". Declare what is known in `bounds`.")
}

# Those of which most values seem to be clipped come first.
sorted_by_clipped <- function(ranges) {
  surely <- function(end) ranges[, end] - ranges[, paste0(end, "_sd")]
  ranges[order(-pmax(surely("below"), surely("above"))), , drop = FALSE]
}

# "3 % (+- 1 %) above" for each range, with about two standard deviations; "" where it may be the noise of the most
# extreme one of so many columns.
beyond_text <- function(ranges, columns = nrow(ranges)) {
  part <- function(end) {
    x <- list(fraction = ranges[, end], sd = ranges[, paste0(end, "_sd")])
    text <- vapply(seq_len(nrow(ranges)), function(i) fraction_text(lapply(x, `[[`, i)), "")
    ifelse(x$fraction > beyond_surely(columns) * x$sd & x$fraction > 0.0005, paste(text, end), "")
  }
  parts <- cbind(part("below"), part("above"))
  apply(parts, 1L, function(p) paste(p[nzchar(p)], collapse = " and "))
}

single_text <- function(names) {
  if (length(names) == 0L) return(NULL)
  paste0("Nearly all values of ", first_of(quote_names_each(names)), " seem to be one value, or are closer together ",
         "than the counts show: in this case declare `bounds`.")
}

ends_text <- function(ends, design) {
  vapply(names(ends), function(name) {
    range <- format(design$ranges[name, ], trim = TRUE)
    paste0("Nearly all values of `", name, "` are at the ", ends[[name]], " end of c(", range[1], ", ", range[2],
           "), or beyond: check its unit and its range in `bounds`.")
  }, "")
}

# May the records be of one class, as far as the released fraction of the second one tells?
one_class <- function(class) class$fraction < checks_z * class$sd || class$fraction > 1 - checks_z * class$sd

# For the second class of a response with two, where the noise is small enough to tell it from half of the records.
class_text <- function(checks, response) {
  class <- checks$class
  if (is.null(class) || !usable_verdict(checks) %in% c("usable", NA) || checks_seen * class$sd > 0.5) return(NULL)
  if (isTRUE(checks$explained$better)) return(NULL) # with one class there is nothing to explain
  if (one_class(class)) {
    paste0("The released fraction of `", response$labels[2], "` is ", fraction_text(class), ": the records may be of ",
           "one class only")
  }
}

usable_text <- function(checks) {
  if (is.null(checks$usable)) return(paste0("How many of them are used was not measured", gaps_text(checks)))
  switch(usable_verdict(checks),
    usable = paste0("Usable: ", fraction_text(checks$usable), gaps_text(checks)),
    unclear = "The noise is too large to tell whether any of them was used"
  )
}

gaps_text <- function(checks) {
  if (is.null(checks$gaps)) NULL else if (checks$gaps == "drop") ", complete records" else ", gaps filled"
}

# An estimate with about two standard deviations.
fraction_text <- function(x) {
  paste0(two_digits(min(max(x$fraction, 0), 1)), " (+- ", two_digits(2 * x$sd), ")")
}

two_digits <- function(x) format_share(signif(x, 2), 2)

# ---- the fraction of usable records ----

usable_share <- 0.002 # fraction of the budget

# What its release of its own costs, as long as it is not known (job-null.R).
usable_cost <- function(job) {
  free <- !is.null(job$usable) || !is.null(job$once) || identical(job$control$constants, "published")
  if (free) 0 else usable_share * job$rho
}

# What tells how much better the fit is than the intercept-only model (job-explained.R). A certificate in a geometry
# pays for it, as more people need it than a bound on a gradient; else the run leaves this.
values_of_certificate <- 0.75 # of the certificate's part

values_cost <- function(job) {
  if (!tells_explained(job)) 0
  else if (pays_by_certificate(job)) max(budget_state(job$budget)$left - job$end, 0)
  else values_share(job) * job$rho
}

# With published constants runs have the releases of their paper only, a source that is read once has no more passes,
# and counts without an intercept have no mean to start from.
tells_explained <- function(job) {
  is.null(job$model) && is.null(job$once) && !identical(job$control$constants, "published") &&
    columns_of(job) > 0L && (job$design$intercept || job$response$kind != "count") && !is_level(job)
}

is_level <- function(job) job$method$residuals && is_level_only(job)

pays_by_certificate <- function(job) {
  !is.null(job$method$family$weighted) && !job$method$residuals && !is_warm(job$method) && job$inference == "none"
}

# What a run must leave, which is known before it.
left_for_values <- function(job) if (pays_by_certificate(job)) 0 else values_cost(job)

# moment: the mean of the intercept's coordinate, without noise at most 1 / radius.
usable_moment <- function(design, moment, sd) list(fraction = design$radius * moment, sd = design$radius * sd)
