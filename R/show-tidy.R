# A fit as data frames, for users of broom.

#' Fits as data frames
#'
#' Methods for `tidy()`, `glance()` and `augment()` of the package generics, which broom exports, too.
#'
#' @param x A fit of class `dp_sosp`, or for `glance()` and `augment()` a network, of class `dp_network`.
#' @param what Of `tidy()`: `"smooths"` for a table of the smooth terms ([smooth-terms]) at their knots.
#' @param conf.int Add intervals? The fit must have them ([dp_inference()]).
#' @param conf.level Confidence level of the intervals.
#' @param exponentiate Exponentiate the estimates and the ends of intervals? With the logistic loss they are then odds
#'   ratios, with the Poisson loss ratios of expected counts; where the predictor is no logarithm, as with Huber's loss,
#'   this gives a warning. Standard errors remain those of the coefficients.
#' @param reference Of several classes, for a fit with intervals: the class that the others are compared with; `NULL`
#'   is the first one.
#' @param newdata Records to predict for, as for `predict()`: a fit keeps none.
#' @param type.predict The type of prediction, see [dp_sosp-methods].
#' @param ... Not used; anything in it is an error.
#' @return `tidy()`: a data frame with a row for each coefficient, `term` and `estimate` (on the original scale; with
#'   `loss_multinomial()` also `y.level`, the class, and for a fit with intervals the estimates are contrasts of this
#'   class with `reference`); for a fit with intervals also `std.error`, `statistic` and
#'   `p.value`, and with `conf.int` the ends `conf.low` and `conf.high`. All of these numbers, also the estimate, are
#'   `NA` where the budget does not resolve a coefficient. `glance()`: a data frame with one row:
#'   `method`, `loss`, `penalty`, `status`, `nobs`, the guarantee
#'   (`eps`, `delta`, `neighbours`, `noise`; where [dp_inference()] was paid for later, the sum of both), its
#'   accounting (`accountant`; `order`, the Renyi order of a fit on batches, else `NA`), the certificate
#'   (`gradient.upper`, `eigenvalue.lower`; `NA` where nothing was measured) the number of releases, `releases`, and
#'   for fits by squared error or Huber's loss with `"newton-ridge"` `sigma`, the scale of the residuals (see `sigma()`
#'   in [dp_sosp-methods]), and `r.squared`, both from what the fit released, `NA` for others, and `deviance.explained`,
#'   about the share of the intercept-only model's deviance that the fit explains (R squared for squared error; see
#'   `explained` in the section Value of [dp_sosp()]), with its standard deviation `deviance.explained.sd`, `NA` where
#'   it was not measured; for a network without penalty, certificate and these four. `augment()`: `newdata` as a data
#'   frame with a column `.fitted`, or with a column for each class, such as `.fitted.yes`, if `predict()` returns
#'   several.
#' @section Errors: `dpsosp_error_argument`; `dpsosp_error_absent` for intervals that the fit does not have and for
#'   `augment()` without `newdata`.
#' @examplesIf requireNamespace("generics", quietly = TRUE)
#' fit <- dp_sosp(cover ~ elevation, covertype[1:2000, ], eps = 1, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900)))
#' generics::tidy(fit)
#' generics::glance(fit)
#' head(generics::augment(fit, covertype[2001:2100, ], type.predict = "response")$.fitted)
#' @name dp_sosp-tidy
NULL

#' @rdname dp_sosp-tidy
#' @exportS3Method generics::tidy
tidy.dp_sosp <- function(x, what = c("coefficients", "smooths"), conf.int = FALSE, conf.level = 0.95,
                         exponentiate = FALSE, reference = NULL, ...) {
  call <- sys.call()
  check_dots(call, also = c("vcov", "coef_rename")) # modelsummary passes these to all methods
  if (check_choice(what, c("coefficients", "smooths"), "what", call) == "smooths") return(tidy_smooths(x, call))
  scale <- if (check_flag(exponentiate, "exponentiate", call)) exp else identity
  inference <- if (check_flag(conf.int, "conf.int", call) || !is.null(reference)) inference_of(x, call, reference) else
    x$inference
  if (exponentiate && fit_link(x)$name == "identity") {
    warn("link", "`exponentiate`: the predictor of this fit is no logarithm, so exponentiated coefficients are no ",
         "ratios.", call = call)
  }
  out <- if (!is.matrix(x$coefficients)) {
    data.frame(term = names(x$coefficients), estimate = scale(unname(x$coefficients)))
  } else if (is.null(inference)) {
    tidy_classes(x$coefficients, scale)
  } else {
    tidy_classes(x$coefficients[, colnames(x$coefficients) != compared_with(inference, reference)], scale)
  }
  if (is.null(inference)) return(out)
  tests <- unname(coefficient_table(inference))
  out$estimate <- scale(tests[, 1])
  out <- cbind(out, std.error = tests[, 2], statistic = tests[, 3], p.value = tests[, 4])
  if (!conf.int) return(out)
  interval <- scale(unname(stats::confint(x, level = conf.level, reference = reference)))
  cbind(out, conf.low = interval[, 1], conf.high = interval[, 2])
}

# Of the package parameters, whose own method knows other classes only.
#' @exportS3Method parameters::model_parameters
model_parameters.dp_sosp <- function(model, ci = 0.95, exponentiate = FALSE, ...) {
  shown <- !is.null(model$inference)
  out <- tidy.dp_sosp(model, conf.int = shown, conf.level = ci, exponentiate = exponentiate)
  names <- c(y.level = "Response", term = "Parameter", estimate = "Coefficient", std.error = "SE", conf.low = "CI_low",
             conf.high = "CI_high", statistic = "z", p.value = "p")
  names(out) <- names[names(out)]
  if (shown) out$CI <- ci
  out[intersect(c("Parameter", "Coefficient", "SE", "CI", "CI_low", "CI_high", "z", "p", "Response"), names(out))]
}

#' @rdname dp_sosp-tidy
#' @exportS3Method generics::glance
glance.dp_sosp <- function(x, ...) {
  check_dots(also = "gof_map") # modelsummary passes it
  cbind(
    data.frame(method = x$method, loss = loss_name(x$loss), penalty = penalty_name(x), status = x$status, nobs = x$n),
    glance_privacy(fit_privacy(x)),
    data.frame(gradient.upper = x$certificate$gradient[["upper"]],
               eigenvalue.lower = x$certificate$eigenvalue[["lower"]], releases = count_releases(x),
               sigma = if (has_scale(x)) stats::sigma(x) else NA_real_, r.squared = explained_share(x),
               deviance.explained = x$checks$explained$fraction %||% NA_real_,
               deviance.explained.sd = x$checks$explained$sd %||% NA_real_)
  )
}

penalty_name <- function(x) if (is.na(x$ridge)) x$penalty$name else "automatic ridge"

#' @rdname dp_sosp-tidy
#' @exportS3Method generics::glance
glance.dp_network <- function(x, ...) {
  check_dots()
  cbind(data.frame(method = x$method, loss = loss_name(x$loss), status = x$status, nobs = x$n),
        glance_privacy(x$privacy), releases = count_releases(x))
}

count_releases <- function(fit) sum(is_release(dp_ledger(fit)))

glance_privacy <- function(privacy) {
  data.frame(eps = privacy$eps, delta = privacy$delta, neighbours = privacy$neighbours, noise = privacy$noise,
             accountant = privacy$accountant, order = privacy$order %||% NA_real_)
}

#' @rdname dp_sosp-tidy
#' @exportS3Method generics::augment
augment.dp_sosp <- function(x, newdata = NULL, type.predict = c("link", "response", "class"), ...) {
  check_dots()
  augment_fit(x, newdata, type.predict)
}

#' @rdname dp_sosp-tidy
#' @exportS3Method generics::augment
augment.dp_network <- function(x, newdata = NULL, type.predict = c("link", "response", "class"), ...) {
  check_dots()
  augment_fit(x, newdata, type.predict)
}

augment_fit <- function(fit, newdata, type, call = sys.call(-1)) {
  type <- check_choice(type, c("link", "response", "class"), "type.predict", call)
  if (is.null(newdata)) {
    absent(paste("A private fit keeps no training data, which it could add columns to: give `newdata`. Fitted values",
                 "of training data would be another release."), call)
  }
  fitted <- stats::predict(fit, newdata, type = type)
  out <- if (is.data.frame(newdata)) newdata else as.data.frame(as.matrix(newdata))
  if (is.matrix(fitted)) {
    return(cbind(out, stats::setNames(as.data.frame(fitted), paste0(".fitted.", colnames(fitted)))))
  }
  out$.fitted <- fitted
  out
}

# The smooths at their knots, with the mass up to the next knot.
tidy_smooths <- function(fit, call) {
  check_has_smooths(fit, call)
  parts <- lapply(names(fit$design$smooth$terms), function(label) {
    term <- fit$design$smooth$terms[[label]]
    value <- smooth_values(fit, label)
    out <- data.frame(term = label, knot = rep(term$knots, ncol(value)), value = as.vector(value),
                      mass = rep(smooth_mass(term), ncol(value)))
    if (is.null(colnames(value))) out else cbind(y.level = rep(colnames(value), each = nrow(value)), out)
  })
  do.call(rbind, parts)
}

compared_with <- function(inference, reference) reference %||% colnames(inference$solution)[1]

tidy_classes <- function(coefficients, scale) {
  data.frame(y.level = rep(colnames(coefficients), each = nrow(coefficients)),
             term = rep(rownames(coefficients), ncol(coefficients)), estimate = scale(as.vector(coefficients)))
}
