#' How good a fit is on held-out data, privately
#'
#' Releases the mean loss, the accuracy and a table of predictions against responses on held-out data, with
#' noise, and computes calibration, confusion counts and the area under the ROC curve from the table. Every number has
#' a standard error.
#'
#' # What is released
#' Two noisy releases, each with half of the budget (or one with all of it, where only one is asked for):
#' * the means of the requested metrics, scaled to \[0, 1\], in one Gaussian release. One of n records moves each mean
#'   of k by at most 1/n, so the sensitivity is \eqn{\sqrt{k}/n};
#' * `"table"`: how many records are in each of `cells` cells of the predicted log-odds, for each of the two responses.
#'   A replaced record leaves one count and enters another: sensitivity \eqn{\sqrt 2} (1 under `"zero-out"`).
#'
#' Let \eqn{\mu} be the Gaussian parameter of eps and delta. The standard error of accuracy is then
#' \eqn{\sqrt{k}/(n \mu \sqrt{1/2})}{sqrt(k) / (n mu sqrt(1/2))}, k = 3 by default, and that of log-loss
#' \eqn{\log((1-clip)/clip)} times as much, 4.6 for `clip = 0.01`. So request only what you need:
#' `metrics = "accuracy"` has 0.41 times the standard error of the default.
#'
#' # Metrics
#' For responses with two values, with p the predicted probability of the modelled one and q that of the observed one:
#' * `"log_loss"`: the mean of \eqn{-\log q}, q clipped to \[clip, 1 - clip\], which bounds it;
#' * `"brier"`: the mean of \eqn{(1 - q)^2}, not clipped;
#' * `"accuracy"`: the fraction of records whose class is predicted correctly, as `predict(type = "class")` does;
#' * `"table"`, or `"auc"`, which adds `auc` to the estimates; pairs in one cell count one half.
#'
#' Fits with `loss_huber_svm()`, which have no probabilities, have accuracy only; fits with
#' `loss_multinomial()` have no table.
#'
#' For numeric responses, in their units, with predictions clipped to the bounds of the response, declared or found:
#' `"absolute_error"` and `"squared_error"`, both means; and `"r_squared"`, one minus the mean squared error over the
#' variance of the response, for which two more means are released, of the response and of its square. It is `NA` where
#' the variance does not exceed the noise level.
#'
#' For counts ([loss_poisson()]) also `"deviance"`, the mean of \eqn{2 (y \log(y / m) - y + m)}{2 (y log(y / m) - y +
#' m)} with m the predicted mean, each at most that of the largest count of which the fit's own release of the level
#' takes account (4 or 4 times the level, if that is more); and `"deviance_explained"`, one minus its ratio to that of
#' the fit's level, which is one more mean. It needs a fit by `"newton-ridge"`, which releases a level, and is `NA`
#' where the deviance of the level does not exceed the noise level.
#'
#' # Records that cannot be predicted
#' A record with a missing value, an undeclared level or no response is a null record. Because n is public, it still
#' counts in the means: as a record whose predicted probability is one half (log-loss log 2, Brier score 1/4, accuracy
#' 1/2), for a numeric response as an error of half the width of the bounds, or as half the largest deviance. In the
#' table it is not counted. Where many values are missing, impute them beforehand, row by row.
#'
#' # Which records, which budget
#' `newdata` should be other records than those of the fit: the loss on training records is too small. A replaced
#' record is then in one of the two parts, so the parts compose in parallel: a fit at (eps, delta) and
#' an evaluation at (eps, delta) are together (eps, delta)-private, if the choice of held-out records does not depend on
#' their values (use row numbers, or a random draw). Therefore the evaluation has its own `eps`. Every further
#' evaluation on the same held-out records adds to their cost, so let them share one `budget`. If `newdata` contains
#' training rows, the budgets of fit and evaluation add up, too: give both the same `budget`.
#'
#' @param fit A fit of class `dp_sosp`.
#' @param newdata The held-out records: a data frame with the response, for a fit to a formula; a matrix, for a fit to a
#'   matrix. At least one row. After a fit with `id` these are records of other persons, with that column: a person's
#'   score is the mean over the person's records, and n is the number of persons.
#' @param eps,delta The privacy budget, `eps > 0`, `0 < delta < 0.1`; `delta = NULL` is 1/n^2 (a message says so), n the
#'   number of rows of `newdata`. With `budget`, the part of it that may be spent (default, and where
#'   less is left: all that is left).
#' @param budget From [dp_budget()], shared with other releases about the same records.
#' @param metrics Names from the section Metrics; `NULL` is all that the fit's response and loss have, but for counts
#'   the absolute error and those of the deviance.
#' @param clip Public number from 1e-6 to 0.4 that bounds the log-loss.
#' @param cells Number of cells of the table, even, from 2 to 200. They have equal width in the log-odds from -4 to 4;
#'   the first and the last cell are open. One edge is at zero, where the predicted class changes. 2 cells give the
#'   confusion counts with the least noise.
#' @param y For a matrix: the response, one per row, coded as in the fit.
#' @param neighbours The neighbour relation, see [dp_sosp()]; `NULL` is the fit's.
#' @param noise `"secure"` or `"reproducible"`, see [dp_oracle()].
#' @param offset For a fit to a matrix with an `offset`: that of the rows of `newdata`. There are no weights: in an
#'   evaluation all records count alike, even if they did not in the fit.
#' @param x An evaluation.
#' @param digits Number of significant digits that are printed.
#' @param row.names,optional Not used.
#' @param label For a `budget` with a `store`: a text that it keeps, of at most 200 characters, see [budget-stores].
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_evaluation`, a list with
#'   * `estimates`: a data frame with a row for each metric, and `auc` with a table: `metric`, `estimate`, `se` (the
#'     standard error from the noise of this release) and `sampling` (the standard error as a sample of a larger
#'     population, computed from released numbers; `NA` where they do not suffice). Estimates other than `auc` are
#'     unbiased, so with much noise they may lie outside their range; `auc` is `NA` where a class does not exceed the
#'     noise level;
#'   * `table`: `lower` and `upper` ends of the cells as probabilities, noisy counts `other` and
#'     `modelled` of the two responses, and `fraction`, that of the modelled one, with its standard error `se`,
#'     both `NA` where the cell's count is below four standard deviations;
#'   * `table_sd`: the standard deviation of each count;
#'   * `confusion`: a matrix of noisy counts, responses in rows, predicted classes in columns; `confusion_se`;
#'   * `mean_sd`: the standard deviation of the noise of a mean whose scores have a range of 1; above
#'   0.25 `print()` says that the means say nothing;
#'   * `n`, `clip`, `labels`, and `privacy` as in a fit.
#'
#'   `as.data.frame()` gives `estimates`. `plot()` shows calibration: observed fractions against predicted
#'   probabilities, with two standard errors of the noise.
#' @section Errors: `dpsosp_error_argument` for wrong arguments, before anything is charged;
#'   `dpsosp_budget_exhausted` when `budget` has nothing left.
#' @references Dong, Roth and Su (2022), Gaussian differential privacy, for the accounting.
#'
#' Hanley and McNeil (1982), The meaning and use of the area under a receiver operating characteristic curve: its
#'   sampling error.
#' @seealso `vignette("evaluation")`, [dp_tune()].
#' @examples
#' d <- covertype
#' held_out <- seq(5, nrow(d), by = 5)
#' fit <- dp_sosp(cover ~ elevation, d[-held_out, ], eps = 1, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900)))
#' e <- dp_evaluate(fit, d[held_out, ], eps = 1, delta = 1e-6)
#' e
#' as.data.frame(e)
#' plot(e)
#' @export
dp_evaluate <- function(fit, newdata, eps = NULL, delta = NULL, budget = NULL, metrics = NULL, clip = 0.01, cells = 20,
                        y = NULL, neighbours = NULL, noise = c("secure", "reproducible"), offset = NULL,
                        label = NULL, ...) {
  call <- scrub_call(match.call(), quote(dp_evaluate))
  check_dots(call)
  if (missing(fit) || missing(newdata)) {
    abort("argument", "`fit` and `newdata` are needed: a fit and held-out records.", call = call)
  }
  check_fit(fit, call)
  metrics <- check_metrics(metrics, fit, call)
  clip <- check_number(clip, "clip", 1e-6, 0.4, open = FALSE, call = call)
  cells <- check_cells(cells, call)
  claim <- list(
    asked = check_promise(list(eps = eps, delta = delta, budget = budget, label = label), call),
    neighbours = check_neighbours(neighbours %||% fit$privacy$neighbours, call), noise = check_noise(noise, call),
    call = call
  )
  if (is_source(newdata, "newdata", call)) {
    abort("argument", "`newdata` must be in memory, a data frame or a matrix: records of a source cannot be evaluated.",
          call = call)
  }
  persons <- again_persons(fit, newdata, call, "newdata")
  records <- held_out_records(fit, persons_frame(newdata, persons), y, call, offset)
  claim <- open_claim(c(claim, n = persons$n %||% length(records$y), list(persons = persons)))
  new_evaluation(release_evaluation(claim, fit, records, metrics, clip, cells))
}

check_metrics <- function(metrics, fit, call) {
  known <- fit_metrics(fit$loss, by_residuals(fit))
  if (is.null(metrics)) return(if (has_counts(fit$loss)) setdiff(known, large_errors) else known)
  if (!is.character(metrics) || length(metrics) == 0L || anyNA(metrics) || anyDuplicated(metrics)) {
    abort("argument", "`metrics` must be different names, not ", describe(metrics), ".", call = call)
  }
  # It is computed from the table.
  if ("table" %in% known) metrics <- unique(replace(metrics, metrics == "auc", "table"))
  check_choices(metrics, known, "metrics", call)
  intersect(known, metrics)
}

# Of counts these are of the size of the largest one, and so is their noise.
large_errors <- c("squared_error", "r_squared")

# released: does the fit have a released level?
fit_metrics <- function(loss, released = TRUE) {
  if (!is.null(loss$response_kind)) {
    return(c("absolute_error", large_errors,
             if (has_counts(loss)) c("deviance", if (released) "deviance_explained")))
  }
  if (!has_probabilities(loss)) return("accuracy")
  c("log_loss", "brier", "accuracy", if (!has_classes(loss)) "table")
}

check_cells <- function(cells, call) {
  cells <- check_count(cells, "cells", 2, call, 200)
  if (cells %% 2L != 0L) {
    abort("argument", "`cells` must be even, as one edge is where the predicted class changes; it is ", cells, ".",
          call = call)
  }
  cells
}

# ---- records ----

# The predictor (link) and the response (y) of every record, NA where missing. A numeric response has its own units.
# Otherwise link is the log-odds and y is 1 or -1; for several classes link is a row of predictors and y the number of
# the class. Each value is a function of its own row, bit by bit (proofs: own-row): a score may jump at a predictor of
# zero.
held_out_records <- function(fit, newdata, y, call, offset = NULL) {
  raw <- if (is_matrix_design(fit$design)) check_y(y, fit, newdata, call) else formula_y(y, fit, newdata, call)
  link <- predicted_link(fit, newdata, call, offset)
  n <- NROW(link)
  if (n == 0L) abort("argument", "`newdata` has no rows.", call = call)
  if (length(raw) != n) {
    abort("argument", "`y` must have one entry per row of `newdata`: ", n, ", not ", length(raw), ".",
          call = call)
  }
  records <- scored_records(fit$response, link, raw)
  if (by_residuals(fit)) {
    records$level <- response_mean(fit$response, predicted_link(level_of(fit), newdata, call, offset))
  }
  records
}

scored_records <- function(response, link, raw) {
  response <- within_ends(response)
  code <- response_code(response, raw)
  if (is.matrix(link)) return(list(link = link, y = round(code * ncol(link))))
  if (!is_numeric_response(response)) return(list(link = link, y = code))
  list(link = response_mean(response, link), y = response$centre + response$half * code)
}

# The fit whose slopes are zero.
level_of <- function(fit) {
  fit$predictor <- NULL
  fit$coefficients <- response_coef(fit$response, c(fit$level$start, 0 * fit$coefficients[-1]), TRUE)
  fit
}

check_y <- function(y, fit, newdata, call) {
  if (is.null(y)) abort("argument", "`y` is missing: the responses of the rows of `newdata`.", call = call)
  wanted <- switch(fit$response$kind, bounded = , count = "numeric", classes = "factor", fit$response$kind)
  kind <- column_kind(y)
  # A response with only NA is logical, whatever its type was.
  if (!kind %in% c(wanted, "logical")) {
    abort("argument", "`y` must be coded as in the fit, ", wanted, ", not ", describe_column(y), ".", call = call)
  }
  y
}

formula_y <- function(y, fit, newdata, call) {
  if (!is.null(y)) abort("argument", "`y` is for a fit to a matrix; a formula's is a column of `newdata`.", call = call)
  design_answers(fit$design, newdata, "newdata", call)
}

# ---- release ----

# For each mean that the metrics need, a value in [0, 1] per record; the mean is lower + width times that of these.
score_columns <- function(fit, records, metrics, clip) {
  means <- unique(unlist(lapply(setdiff(metrics, "table"), function(metric) means_of[[metric]] %||% metric)))
  stats::setNames(lapply(means, function(metric) scores[[metric]](records, fit, clip)), means)
}

scores <- list(
  log_loss = function(records, fit, clip) {
    probability <- pmin(pmax(came(records), clip), 1 - clip)
    new_score(-log(probability), -log1p(-clip), -log(clip), log(2))
  },
  brier = function(records, fit, clip) new_score((1 - came(records))^2, 0, 1, 1 / 4),
  # As in predict(type = "class"): log-odds of zero give the first class.
  accuracy = function(records, fit, clip) new_score(predicted_class(records) == came_class(records), 0, 1, 1 / 2),
  absolute_error = function(records, fit, clip) {
    width <- diff(within_ends(fit$response)$bounds)
    new_score(abs(bounded_error(records, fit)), 0, width, width / 2)
  },
  squared_error = function(records, fit, clip) {
    width <- diff(within_ends(fit$response)$bounds)
    new_score(bounded_error(records, fit)^2, 0, width^2, width^2 / 4)
  },
  # Above the lower bound.
  response = function(records, fit, clip) {
    width <- diff(within_ends(fit$response)$bounds)
    new_score(records$y - within_ends(fit$response)$bounds[1], 0, width, width / 2)
  },
  response_square = function(records, fit, clip) {
    width <- diff(within_ends(fit$response)$bounds)
    new_score((records$y - within_ends(fit$response)$bounds[1])^2, 0, width^2, width^2 / 4)
  },
  deviance = function(records, fit, clip) deviance_score(records$y, records$link, fit),
  level_deviance = function(records, fit, clip) deviance_score(records$y, records$level, fit)
)

deviance_score <- function(y, mean, fit) {
  most <- largest_deviance(fit)
  new_score(deviance_of(y, mean), 0, most, most / 2)
}

deviance_of <- function(y, mean) 2 * (ifelse(y > 0, y * log(y / mean), 0) - y + mean)

# That of the largest count that the mean of the level counts (find_counts() in R/job-start.R); without a level, of the
# largest one where one event is expected.
largest_deviance <- function(fit) {
  if (!by_residuals(fit)) return(deviance_of(max(fit$response$bounds[2], 4), 1))
  mean <- fit$level$curvature * fit$response$half
  deviance_of(max(fit$level$clip, 4 * mean, 4), mean)
}

# The predicted probability of the observed response.
came <- function(records) {
  if (!is.matrix(records$link)) return(stats::plogis(records$link * records$y))
  class_probabilities(records$link)[cbind(seq_along(records$y), records$y)]
}

# TRUE and FALSE for two classes, else the number of the class; missing where the predictor is missing.
predicted_class <- function(records) {
  if (!is.matrix(records$link)) return(records$link > 0)
  replace(largest(records$link), is.na(records$link[, 1]), NA)
}
came_class <- function(records) if (is.matrix(records$link)) records$y else records$y > 0

bounded_error <- function(records, fit) {
  bounds <- within_ends(fit$response)$bounds
  pmin(pmax(records$link, bounds[1]), bounds[2]) - records$y
}

# value: numbers in the public bounds lower and upper; null: the value of a null record. The result is in [0, 1] for any
# value.
new_score <- function(value, lower, upper, null) {
  value[!is.finite(value)] <- null
  list(lower = lower, width = upper - lower, values = pmin(pmax((value - lower) / (upper - lower), 0), 1))
}

# A person's score is the mean of those of all records of the person, in [0, 1] like each of them.
person_means <- function(values, persons) {
  if (is.null(persons)) return(values)
  as.vector(rowsum(values, persons$code, reorder = TRUE)) / tabulate(persons$code, persons$n)
}

# The claim with the released means and table (proofs: sensitivity-scores, persons).
release_evaluation <- function(claim, fit, records, metrics, clip, cells) {
  columns <- score_columns(fit, records, metrics, clip)
  parts <- (length(columns) > 0L) + ("table" %in% metrics)
  rho <- claim$rho / parts
  reproducible <- claim$noise == "reproducible"
  means <- NULL
  mean_sd <- NULL # of scores in [0, 1]
  table <- NULL
  if (length(columns) > 0L) {
    values <- lapply(unname(columns), function(score) person_means(score$values, claim$persons))
    answer <- .Call(ffi_scores_release, claim$budget$pointer, values, rho,
                    claim$neighbours, reproducible)
    lower <- vapply(columns, `[[`, 0, "lower")
    width <- vapply(columns, `[[`, 0, "width")
    mean_sd <- answer$sd / claim$n
    means <- data.frame(metric = names(columns), estimate = lower + width * answer$value / claim$n,
                        se = width * mean_sd, row.names = NULL)
  }
  if ("table" %in% metrics) {
    answer <- .Call(ffi_table_release, claim$budget$pointer, table_codes(records, cells), 2L * cells,
                    persons_core(claim$persons), rho, claim$neighbours, reproducible)
    table <- list(other = answer$value[seq_len(cells)], modelled = answer$value[cells + seq_len(cells)],
                  sd = answer$sd)
  }
  close_claim(claim)
  add_entries(claim, means = means, mean_sd = mean_sd, table = table, clip = clip, cells = cells,
              labels = fit$response$labels)
}

# ---- show ----

#' @rdname dp_evaluate
#' @export
print.dp_evaluation <- function(x, digits = 3, ...) {
  check_dots()
  digits <- check_digits(digits)
  cat("<dp_evaluation> of ", if (is.null(x$persons)) paste(x$n, "records") else persons_text(x$n, x$persons), "\n",
      sep = "")
  cat(privacy_text(checked_privacy(x$privacy)), sep = "\n")
  cat("\n")
  print.data.frame(show_estimates(x$estimates, digits), row.names = FALSE)
  if (isTRUE(x$mean_sd > largest_mean_sd)) {
    cat("These means say nothing: their noise is as large as their range. More records\nor a larger eps would do.\n")
  }
  cat("se: of this release's noise; sampling: of the", if (is.null(x$persons)) "records" else "persons",
      "as a sample\n")
  cat(strwrap(unpredicted_text(x), 80), sep = "\n")
  if (!is.null(x$table)) print_table(x, digits)
  invisible(x)
}

# An interval of two standard deviations of the noise is as wide as the range of the scores. Public: n and eps decide.
largest_mean_sd <- 0.25

# What the scores of null records are (scores).
unpredicted_text <- function(x) {
  of_classes <- intersect(x$estimates$metric, c("log_loss", "brier", "accuracy"))
  scored <- if (length(of_classes) > 0L) "count as half right (as if the predicted probability were 1/2)"
            else if (any(x$estimates$metric != "auc")) "count as an error of half the largest one"
  paste("Records without a prediction or a response",
        paste(c(scored, if (!is.null(x$table)) "are not in the table"), collapse = " and "))
}

# A number is shown to the digits of its error.
show_estimates <- function(estimates, digits = 3) {
  digits <- digits %||% 3
  for (column in c("se", "sampling")) estimates[[column]] <- signif(estimates[[column]], max(digits - 1, 1))
  estimates$estimate <- signif(estimates$estimate, digits)
  estimates
}

print_table <- function(x, digits) {
  cat("\nResponses (rows) and predicted classes, se ", signif(x$confusion_se, 2), " each:\n", sep = "")
  print(round(x$confusion))
  shown <- x$table[!is.na(x$table$fraction), c("lower", "upper", "fraction", "se")]
  cat("\nCalibration: ", nrow(shown), " of ", nrow(x$table), " cells exceed the noise level\n", sep = "")
  if (nrow(shown) > 0L) print(signif(shown, digits %||% 3), row.names = FALSE)
}

#' @rdname dp_evaluate
#' @export
as.data.frame.dp_evaluation <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots()
  x$estimates
}

#' @rdname dp_evaluate
#' @importFrom graphics plot
#' @export
plot.dp_evaluation <- function(x, ...) {
  check_dots()
  if (is.null(x$table)) {
    abort("argument", "This evaluation has no table, and so no calibration to plot: ask for `metrics` with \"table\".",
          call = sys.call(-1))
  }
  shown <- x$table[!is.na(x$table$fraction), ]
  at <- cell_predictions(nrow(x$table))[!is.na(x$table$fraction)]
  graphics::plot(c(0, 1), c(0, 1), type = "l", lty = 2, col = "grey60", xlab = "predicted probability",
                 ylab = paste("fraction of", x$labels[2]), main = "Calibration")
  graphics::segments(at, pmax(shown$fraction - 2 * shown$se, 0), at, pmin(shown$fraction + 2 * shown$se, 1))
  graphics::points(at, shown$fraction, pch = 19)
  invisible(x)
}
