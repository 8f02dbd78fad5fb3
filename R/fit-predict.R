# Predictions, their standard errors and intervals, and the scale of the residuals.

#' @rdname dp_sosp-methods
#' @importFrom stats predict
#' @export
predict.dp_sosp <- function(object, newdata, type = c("link", "response", "class", "terms"), se.fit = FALSE,
                            offset = NULL, interval = c("none", "confidence", "prediction"), level = 0.95, ...) {
  call <- sys.call()
  check_dots(call)
  se.fit <- check_flag(se.fit, "se.fit", call)
  interval <- check_choice(interval, c("none", "confidence", "prediction"), "interval", call)
  level <- check_share(level, "level", call)
  type <- check_choice(type, c("link", "response", "class", "terms"), "type", call)
  if (missing(newdata)) abort("argument", "`newdata` is missing: a private fit keeps no training data.", call = call)
  check_type(type, object, call)
  if (type == "terms") return(predicted_terms(object, newdata, se.fit || interval != "none", call))
  if (se.fit || interval != "none") {
    return(predict_uncertain(object, newdata, type, se.fit, interval, level, offset, call))
  }
  link <- predicted_link(object, newdata, call, offset)
  warn_undeclared(object$design, newdata, call)
  predicted(object, link, type)
}

# From the linear predictor to a type.
predicted <- function(fit, link, type) {
  if (type == "link") return(link)
  if (is_numeric_response(fit$response)) return(response_mean(fit$response, link))
  classes <- fit$response$kind == "classes"
  switch(type,
    response = if (classes) class_probabilities(link) else stats::plogis(link),
    class = if (classes) class_labels(link, fit$response$labels) else
      response_decode(fit$response, ifelse(link > 0, 1, -1))
  )
}

check_type <- function(type, fit, call) {
  if (type == "class" && is_numeric_response(fit$response)) {
    abort("argument", "`type` = \"class\" is for responses with two values; this fit's is numeric: take \"response\".",
          call = call)
  }
  if (type == "response" && !has_probabilities(fit$loss)) {
    abort("argument", "A fit with the ", fit$loss$name, " loss has no probabilities: take `type` = \"link\" or ",
          "\"class\".", call = call)
  }
}

#' @rdname dp_sosp-methods
#' @importFrom stats family
#' @export
family.dp_sosp <- function(object, ...) {
  check_dots()
  loss <- object$loss
  if (is_logistic(loss)) return(stats::binomial())
  if (has_counts(loss)) return(stats::poisson())
  if (has_unbounded_slope(loss)) return(stats::gaussian())
  absent(paste("The", loss_name(loss), "loss belongs to no family of `glm()`."), sys.call())
}

#' @rdname dp_network-methods
#' @export
family.dp_network <- family.dp_sosp

# ---- terms ----

# The parts of the linear predictor: a matrix with a column for each term. Smooths are centred in the released masses.
predicted_terms <- function(fit, newdata, uncertain, call) {
  design <- as_written(fit$design)
  coefficients <- prediction_coef(fit)
  refuse <- function(...) abort("argument", "`type` = \"terms\" ", ..., call = call)
  if (is_matrix_design(design)) refuse("needs a fit with a formula.")
  if (is.matrix(coefficients)) refuse("is for losses of one predictor.")
  if (uncertain) refuse("goes without intervals and standard errors.")
  scale <- design_scale(design)
  slope <- if (design$intercept) coefficients[-1] else coefficients
  parts <- t(t(design_matrix(design, newdata, "newdata", call)) * scale[, "half"] + scale[, "centre"])
  parts <- t(t(parts) * slope)
  warn_undeclared(design, newdata, call)
  term <- unname(design$term[design$columns$variable])
  out <- vapply(unique(term), function(one) row_products(parts, as.double(term == one)), numeric(nrow(newdata)))
  out <- matrix(out, nrow(newdata), length(unique(term)), dimnames = list(NULL, unique(term)))
  centres <- smooth_centres(design, slope)
  out[, names(centres)] <- t(t(out[, names(centres), drop = FALSE]) - centres)
  structure(out, constant = (if (design$intercept) coefficients[[1]] else 0) + sum(centres))
}

# The mean of each smooth, by its term: W_2, ... have the mean zero.
smooth_centres <- function(design, slope) {
  centres <- vapply(names(design$smooth$terms), function(label) {
    design$smooth$terms[[label]]$mean * slope[[label]]
  }, 0)
  stats::setNames(centres, design$term[names(centres)])
}

# A smooth at its knots, centred, a column for each class, or for the predictor.
smooth_values <- function(fit, label) {
  term <- fit$design$smooth$terms[[label]]
  columns <- cbind(term$knots - term$mean, term$values)
  columns %*% smooth_coef(fit, label)
}

# The coefficients of a smooth, x first, with a column for each class.
smooth_coef <- function(fit, label) {
  coefficients <- as.matrix(prediction_coef(fit))
  of_term <- fit$design$columns$name[fit$design$term[fit$design$columns$variable] == fit$design$term[[label]]]
  coefficients[of_term, , drop = FALSE]
}

# The mass between each knot and the next one; zero from the last one on.
smooth_mass <- function(term) {
  below <- stats::approx(term$breaks, c(0, cumsum(term$mass)), term$knots, rule = 2)$y
  c(diff(below), 0)
}

check_has_smooths <- function(fit, call) {
  if (!is.null(fit$design$smooth)) return(invisible())
  abort("argument", "This fit has no smooth terms, s(x).", call = call)
}

# ---- with intervals and standard errors ----

# The value of predict() with intervals or standard errors. Both are about the estimates that coef() shows, except that
# prediction intervals are about the predictions of predict(), whose residuals were counted.
predict_uncertain <- function(fit, newdata, type, se.fit, interval, level, offset, call) {
  if (type == "class") {
    abort("argument", "`type` must be \"link\" or \"response\" for intervals and standard errors.", call = call)
  }
  if (interval == "prediction") check_predictable(fit, call)
  check_one_output(fit$loss, "Intervals and standard errors of predictions are", call)
  inference_of(fit, call)
  about <- fit
  if (interval != "prediction") about$predictor <- NULL
  link <- predicted_link(about, newdata, call, offset)
  warn_undeclared(fit$design, newdata, call)
  errors <- link_errors(fit, newdata, call)
  out <- predicted(fit, link, type)
  if (interval != "none") {
    z <- stats::qnorm((1 + level) / 2)
    half <- if (interval == "confidence") z * errors$shown else
      sqrt(residual_quantile(fit, level)^2 + (z * errors$wide)^2)
    out <- cbind(fit = out, lwr = predicted(fit, link - half, type), upr = predicted(fit, link + half, type))
  }
  if (!se.fit) return(out)
  list(fit = out, se.fit = errors$shown * if (type == "link") 1 else fit_link(fit)$mu.eta(link))
}

# Standard errors of the linear predictor: shown, NA where a coefficient takes part that is not, and wide.
link_errors <- function(fit, newdata, call) {
  inference <- fit$inference
  x <- design_link(fit$design, diag(length(fit$coefficients)), newdata, call)
  wide <- sqrt(pmax(rowSums((x %*% inference$vcov) * x), 0))
  hidden <- rowSums(x[, !is.na(inference$reason), drop = FALSE] != 0) > 0
  list(wide = wide, shown = ifelse(hidden, NA, wide))
}

check_predictable <- function(fit, call) {
  if (has_scale(fit)) return(invisible())
  absent(paste0("`interval = \"prediction\"` needs the sizes of residuals, of which fits by `loss_squared()`, and by ",
                "`loss_huber()` with the method \"newton-ridge\", release noisy counts: this one has the ",
                loss_name(fit$loss), " loss. `interval = \"confidence\"` is about the mean."), call)
}

# ---- the scale of residuals ----

# Is the fit by squared error or by Huber's loss? So its noisy counts of residuals tell their scale. For counts
# residuals have other scales where the mean is another one, and a fit that is its level alone has none.
has_scale <- function(fit) {
  by_residuals(fit) && !lacks_coefficients(fit) && fit$response$kind == "bounded" && length(mapped_sigma(fit)) > 0L
}

#' @rdname dp_sosp-methods
#' @importFrom stats sigma
#' @export
sigma.dp_sosp <- function(object, ...) {
  check_dots()
  if (has_scale(object)) return(object$response$half * mapped_sigma(object))
  if (lacks_coefficients(object)) absent(no_coefficients, sys.call())
  absent(paste0("A fit ", if (by_residuals(object) && nrow(object$trace) == 0L) "that is its level alone" else
    paste("with the", loss_name(object$loss), "loss"), " releases no scale of residuals: fits by `loss_squared()`, ",
    "and by `loss_huber()` with the method \"newton-ridge\", do, unless the noise is too large or there are no ",
    "columns."), sys.call())
}

# For the mapped response.
mapped_sigma <- function(fit) fit$inference$released$scale[["sd"]] %||% last_scale(fit$trace)

# R squared (job-explained.R).
explained_share <- function(fit) {
  if (has_scale(fit)) fit$checks$explained$fraction %||% NA_real_ else NA_real_
}

residual_misfit <- 0.04 # standard deviation of what fractions of residuals differ by from those of t, see scale.c

# The size that this fraction of the absolute residuals does not exceed, in the units of the response. As counts are
# interpolated between ends (proofs: residual-counts), those from an end on are about the fraction beyond the middle of
# the interval before it. Where the noise hides the fraction it is expected to be that of the t distribution, whose
# scale is known up to an error (inst/experiments/recalibration-rule.R). It is taken to be at least as large as the
# noise, or as that expected.
residual_quantile <- function(fit, level) {
  released <- fit$inference$released
  ends <- released$ends
  k <- length(ends)
  middle <- (ends[-1] + ends[-k]) / 2
  present <- fit$level$present
  noise <- attr(released$counts, "sd") * sqrt(rev(seq_len(k - 1))) / present
  counted <- rev(cumsum(rev(as.vector(released$counts)[-1]))) / present
  expected <- t_beyond(middle, released$scale)
  beyond <- expected + (counted - expected) * residual_misfit^2 / (residual_misfit^2 + noise^2)
  fit$response$half * log_crossing(middle, pmax(beyond, pmin(noise, expected)), 1 - level, ends[k])
}

# The expected fraction beyond x of a t distribution with 5 degrees of freedom, by Gauss' rule with three nodes for the
# normal error of the logarithm of its scale.
t_beyond <- function(x, scale) {
  of <- function(z) 2 * stats::pt(-t_quantile * x / (scale[["sd"]] * exp(z * scale[["error"]])), 5)
  (of(-sqrt(3)) + 4 * of(0) + of(sqrt(3))) / 6
}

t_quantile <- stats::qt(0.84, 5) # of the t distribution, so that 68 % are below it times the scale

# Where y falls below a, by interpolation of its logarithm; `most` where it does not.
log_crossing <- function(x, y, a, most) {
  i <- which(y < a)[1]
  if (is.na(i)) return(most)
  if (i == 1L) return(x[1])
  x[i - 1] + (x[i] - x[i - 1]) * log(y[i - 1] / a) / log(y[i - 1] / y[i])
}
