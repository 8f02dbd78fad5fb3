# Standard errors, tests and intervals of a fit with released inference.

no_errors <- paste("This fit has no intervals: `inference = \"sandwich\"` adds them when fitting, `dp_inference()`",
                   "later.")

# What to do about a fit without intervals, or why it can have none.
no_intervals <- function(fit) {
  refusal <- tryCatch({
    check_one_output(fit$loss, "Intervals are", NULL)
    check_inferable(fit$loss, fit$penalty, design_dim(fit$design), NULL)
    NULL
  }, dpsosp_error = conditionMessage)
  if (is.null(refusal)) no_errors else paste("This fit has no intervals, and can have none.", refusal)
}

# The inference of the fit, or an error.
inference_of <- function(fit, call = sys.call(-1)) {
  check_one_output(fit$loss, "Intervals are", call)
  if (is.null(fit$inference)) abort("argument", no_intervals(fit), call = call, class = "dpsosp_error_absent")
  fit$inference
}

# The covariance with NA for the coefficients whose estimates are not shown.
shown_vcov <- function(inference) {
  hidden <- !is.na(inference$reason)
  covariance <- inference$vcov
  covariance[hidden, ] <- NA
  covariance[, hidden] <- NA
  covariance
}

coefficient_table <- function(fit, unresolved = "NA") {
  inference <- fit$inference
  error <- sqrt(diag(if (unresolved == "NA") shown_vcov(inference) else inference$vcov))
  estimate <- ifelse(is.na(error), NA, inference$coefficients)
  z <- estimate / error
  cbind(Estimate = estimate, "Std. Error" = error, "z value" = z, "Pr(>|z|)" = 2 * stats::pnorm(-abs(z)))
}

# Lines of a summary: the table, with the reason in place of numbers that are not shown.
coefficient_lines <- function(fit, digits) {
  table <- coefficient_table(fit)
  p <- table[, 4]
  stars <- c("***", "**", "*", ".", "")[findInterval(p, c(0, 0.001, 0.01, 0.05, 0.1))]
  each <- function(x) vapply(x, format, "", digits = digits)
  columns <- list(
    each(table[, 1]), each(table[, 2]), format(round(table[, 3], 2)), format.pval(p, digits = 2, eps = 2e-16),
    format(ifelse(is.na(fit$inference$reason), stars, fit$inference$reason))
  )
  names(columns) <- c(colnames(table), "")
  table_lines(rownames(table), columns)
}

unresolved_text <- function(fit) {
  if (all(is.na(fit$inference$reason))) return(NULL)
  "What is not resolved takes more records, a larger eps, narrower ranges or fewer levels: see `?dp_inference`"
}

# The parameter that the intervals are for.
estimand_text <- function(fit) {
  design <- fit$design
  paste0("About the least expected ", loss_text(fit$loss), " loss",
         if (any(design$columns$kind == "numeric")) ", of numeric columns clipped to their ranges",
         if (may_clip(design)) paste0(", of rows clipped to norm ", format(design$radius, digits = 3)),
         if (fit$inference$type == "model") "; standard errors take the model for true")
}

# The guarantee of the fit and of intervals that were released later, for the same records: entries as in the fit's own,
# and parts, a text that says what is added.
fit_privacy <- function(fit) {
  privacy <- fit$privacy
  later <- fit$inference$privacy
  if (is.null(later)) return(privacy)
  parts <- paste0("That is the sum of the fit, ", guarantee_text(privacy$eps, privacy$delta), ", and its intervals, ",
                  guarantee_text(later$eps, later$delta))
  if ("reproducible" %in% later$noise) privacy$noise <- later$noise
  total <- composed(privacy, later)
  privacy[names(total)] <- total
  if (privacy$accountant == "added") privacy$order <- NULL # that of the fit alone
  c(privacy, list(parts = parts))
}

intervals_text <- function(fit) {
  inference <- fit$inference
  if (is.null(inference)) return(NULL)
  privacy <- inference$privacy
  c(paste0("Coefficients one Newton step from there, with ", inference$type, " intervals for ",
           sum(is.na(inference$reason)), " of ", length(inference$reason)),
    if (!is.null(privacy$shared)) paste0("They are paid for by a shared budget of ", privacy$shared))
}

#' @rdname dp_inference
#' @importFrom stats vcov
#' @export
vcov.dp_sosp <- function(object, complete = TRUE, ...) {
  call <- sys.call()
  check_dots(call)
  inference <- inference_of(object, call)
  if (check_flag(complete, "complete", call)) return(shown_vcov(inference))
  shown <- is.na(inference$reason)
  inference$vcov[shown, shown, drop = FALSE]
}

#' @rdname dp_inference
#' @importFrom stats confint
#' @export
confint.dp_sosp <- function(object, parm, level = 0.95, unresolved = c("NA", "wide"), ...) {
  call <- sys.call()
  check_dots(call)
  inference_of(object, call)
  level <- check_share(level, "level", call)
  unresolved <- check_choice(unresolved, c("NA", "wide"), "unresolved", call)
  table <- coefficient_table(object, unresolved)
  table <- table[chosen_coefficients(parm, rownames(table), call), , drop = FALSE]
  ends <- c((1 - level) / 2, (1 + level) / 2)
  interval <- table[, "Estimate"] + outer(table[, "Std. Error"], stats::qnorm(ends))
  dimnames(interval) <- list(rownames(table), paste(format(100 * ends, trim = TRUE, digits = 3), "%"))
  interval
}

# Selects coefficients by name or by number; all if parm is missing.
chosen_coefficients <- function(parm, names, call) {
  if (missing(parm)) return(names)
  if (is.numeric(parm) && all(parm %in% seq_along(names))) return(names[parm])
  if (is.character(parm) && all(parm %in% names)) return(parm)
  abort("argument", "`parm` must be names or numbers of coefficients.", call = call)
}
