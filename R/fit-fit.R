# The fit contains releases and public facts only.

# job: after its last stage. No other part of it is kept.
new_linear_fit <- function(job) {
  result <- job$answer$result
  trace <- as.data.frame(job$answer$trace)
  checks <- new_checks(job)
  known <- released(c(decrease = result$decrease, ridge = result$ridge))
  warn_checks(checks, job$design, job$n, job$call)
  residual <- job$method$residuals
  if (!residual && result$status != "null") inform_unmeasured(job$loss, checks)
  structure(class = "dp_sosp", list(
    coefficients = told_coefficients(job$intervals) %||%
      response_coef(job$response, job$solution, job$design$intercept),
    predictor = job$intervals$predictor, inference = job$intervals,
    status = checked_status(result$status, checks, job$target, known[["decrease"]],
                            !identical(job$answer$w, as.double(run_start(job))), residual),
    checks = checks,
    certificate = new_certificate(result, job$method$family$certifies, job$control$confidence),
    decrease = known[["decrease"]], ridge = known[["ridge"]],
    privacy = new_privacy(job),
    level = known_level(job),
    released = job$released,
    geometry = job$geometry,
    trace = trace,
    iterations = c(done = iterations_done(trace), planned = if (result$planned > 0) result$planned else NA),
    target = job$target, method = job$method$name, auto = job$auto, loss = job$loss, penalty = job$penalty,
    control = job$control, batch = job$batch,
    design = job$design, response = job$response, n = job$n, persons = job$persons, call = job$call
  ))
}

# What intervals tell of how good the fit is. A status that was "noise" was that of a finished run.
judged_again <- function(fit) {
  fit$checks$explained <- told_by_intervals(fit$checks$explained, fit$inference, fit$design)
  if (fit$status == "noise" && isTRUE(fit$checks$explained$better)) {
    residual <- by_residuals(fit)
    fit$status <- checked_status(if (residual) "iterations" else "sosp", fit$checks, fit$target, residual = residual)
  }
  fit
}

# The number of iterations in the trace. Steps on fresh records are numbered. Where gradients are clipped all of these
# count, as the certificate uses another query; otherwise the gradients of the last phase count.
iterations_done <- function(trace) {
  if ("fresh records" %in% trace$query) return(max(trace$iteration))
  clipped <- sum(trace$query %in% c("clipped gradient", "class gradient", "residual gradient"))
  if (clipped > 0L) clipped else sum(trace$query == "gradient" & trace$phase == max(trace$phase, 0))
}

# The core returns NaN for what the releases do not determine.
released <- function(x) replace(x, is.nan(x), NA_real_)

# of: "sample" or "population".
new_certificate <- function(result, of, confidence) {
  list(
    gradient = released(c(estimate = result$gradient_norm, upper = result$gradient_upper)),
    eigenvalue = released(c(estimate = result$eigen_min, lower = result$eigen_lower)),
    eigenvalue_known = result$eigen_known,
    of = of, confidence = confidence
  )
}

# Was the fit made by residuals (method-residual.R)?
by_residuals <- function(fit) !is.null(fit$level)

# As no record was used (job-null.R)?
lacks_coefficients <- function(fit) all(is.na(fit$weights %||% fit$coefficients))

no_coefficients <- "This fit has no coefficients, as no record seems to be used: see `print()`."

check_fit <- function(fit, call) {
  if (inherits(fit, "dp_sosp")) {
    if (lacks_coefficients(fit)) abort("argument", no_coefficients, call = call, class = "dpsosp_error_absent")
    return(invisible())
  }
  abort("argument", "`fit` must be a fit of a linear model by `dp_sosp()`, not ", describe(fit), ".", fit_hint(fit),
        call = call)
}

#' Methods for fits
#'
#' @param x,object A fit of class `dp_sosp`.
#' @param newdata New data: a data frame (or a matrix with columns in the same order, for a fit to a matrix). The
#'   training data are not kept, so there is no default.
#' @param type `"link"`: linear predictor; `"response"`: probability of the modelled level
#'   under the logistic model, \eqn{1 / (1 + e^{-t})}, an error for `loss_huber_svm()`; `"class"`: the likelier
#'   label (for a numeric response 1 or 0, where 0 also stands for -1). With
#'   `loss_multinomial()` links and probabilities have a column for each class, and `"class"` is the first of the
#'   likeliest labels. For a numeric response in bounds, `"link"` and `"response"` are the predicted response in its
#'   units (with `"newton-ridge"`, `"response"` is clipped to the bounds): the mean or, with `loss_huber()`, the
#'   location. With `loss_poisson()` they are the logarithm of the expected count and this count (with `"newton-ridge"`
#'   at most the largest one); `"class"` is an error. `"terms"`: a matrix with the part of each term in the linear
#'   predictor, without offsets, of a fit with a formula and a loss of one predictor. Smooths ([smooth-terms]) are
#'   centred, other terms are not; the attribute `constant` is
#'   what their sum lacks, where the radius clips no row.
#' @param offset For a fit to a matrix with an `offset`: that of the rows of `newdata`. A formula finds it in the data.
#' @param digits Number of significant digits that are printed; the guarantee is always printed in full.
#' @param se.fit Add standard errors? See the section Intervals of predictions.
#' @param interval,level `"confidence"` or `"prediction"`: intervals of this level, see the section Intervals of
#'   predictions.
#' @param ... Not used; anything in it is an error.
#' @return `predict()`: a vector with one entry for each row of `newdata` (or a matrix with a row for each), `NA` where
#'   a predictor is missing or a level was not declared (of such levels a warning names the columns); with `interval` a
#'   matrix with the columns `fit`, `lwr` and `upr`, with `se.fit` a list of `fit` and `se.fit`. `sigma()`: a number.
#'   `coef()`: named
#'   numbers on the original scale; with `loss_multinomial()` a matrix with a column for each class, whose
#'   rows have the sum zero. `family()`: the
#'   family of [glm()] with the same mean, such as `binomial()`. `variable.names()`:
#'   the names of the coefficients. `nobs()`: n, with `id` the number of persons.
#'   `formula()`: the formula, without its environment. `print()` and `plot()` return their argument invisibly;
#'   `summary()` returns an object to print, `autoplot()` a plot of ggplot2.
#' @details Rows to predict are clipped and mapped like those of the fit.
#'
#'   Generics that need the data, or would be a further release, are an error of class `dpsosp_error_absent`: `terms()`,
#'   `model.frame()`, `model.matrix()`, `fitted()`, `residuals()`, `weights()`, `simulate()`, `influence()` and similar
#'   ones, `deviance()`, `logLik()` and with it `AIC()` and `BIC()`, `step()`, `add1()`, `drop1()` and
#'   `profile()`; also `vcov()` and `confint()` of a fit without intervals ([dp_inference()]), intervals of predictions
#'   that the fit does not have, `sigma()` of fits without a released scale of residuals, and `family()` of losses that
#'   [glm()] does not have.
#'
#' @section Pictures: All are made of what was released, and of public facts, so they may be published with the fit.
#'
#' * `"coefficients"`: on a common scale, with 95 percent intervals where the fit has them ([dp_inference()]). Of a
#'   numeric column the coefficient is multiplied by half of its range, so it is the change of the linear predictor from
#'   the middle of the range to its end; of a level it is the change from the first level. A matrix has no ranges, so
#'   its coefficients are as in `coef()`. With many coefficients the 30 largest are shown. Those that the budget does
#'   not resolve have no point. Smooths are left out.
#' * `"terms"`: for each predictor the change of the linear predictor over its range, from the middle, or from the first
#'   level to the others, with 95 percent bands where the fit has intervals. Columns that take part in an interaction
#'   with it are held at the middle of their ranges or at their first level. Smooths ([smooth-terms]) are centred in the
#'   masses. All panels have one scale; as many are shown as can be read, those with the largest effects. `plot()` adds
#'   an image for each product of smooths.
#' * `"run"`: two panels. The left panel shows the norms of released gradients, with their upper confidence bounds and
#'   the target: a run may stop where a bound is below the target. Open circles are gradients on batches or differences
#'   of gradients. The gradients are noisy, so their norms do not fall below that of the noise. Where there are many
#'   gradients, running medians of norms and bounds are shown, and the bound of the last one. A released minimiser has a
#'   bound only. The right panel shows which fraction of the budget was spent after each release, and on what.
#'   `"gradients"` and `"budget"` are one of the two panels, also with `autoplot()`.
#' @section Intervals of predictions: Standard errors and `"confidence"` intervals are about the linear predictor, or
#' with `type = "response"` the mean. They need a fit with intervals ([dp_inference()]) and are about the coefficients
#' that `coef()` shows, so `fit` is their prediction, too, and not the shrunk one of a plain `predict()`. They are `NA`
#' where a coefficient takes part that the budget does not resolve.
#'
#' A `"prediction"` interval is for the response of one more record. It is for fits by squared error ([loss_squared()])
#' or by [loss_huber()] with `"newton-ridge"`, with intervals, which have released noisy counts of absolute residuals by
#' their size. Its half width is
#' \eqn{\sqrt{q^2 + z^2 s^2}}{sqrt(q^2 + z^2 s^2)}: q is the size that the fraction `level` of the residuals does not
#' exceed, s the standard error of the prediction, and z the quantile of the normal distribution. So residuals need not
#' be normal, but their spread is taken to be the same for all records. Where the noise hides how many residuals are
#' larger, q is the width of the bounds of the response. Its `fit` is that of a plain `predict()`.
#'
#' `sigma()` is the scale of the residuals of such a fit, with or without intervals, from the last noisy counts (a fit
#' that is its level alone has none): of the t distribution that is fitted to them 68 percent of the absolute residuals
#' are smaller, as of a normal distribution with this standard deviation. Gross errors hardly change it. It costs
#' nothing. With heavy tails it is below the root of the mean square.
#' @section Errors: `dpsosp_error_argument` for wrong arguments, and for `newdata` that lacks a column of the formula or
#'   has it with another type; `dpsosp_error_absent` as above. A warning has the class `dpsosp_warning_levels`:
#'   `newdata` has levels that the fit did not declare.
#' @seealso [dp_inference()] for `vcov()` and `confint()`, [dp_sosp-tidy], [dp_evaluate()].
#' @examples
#' d <- covertype[1:2000, ]
#' fit <- dp_sosp(cover ~ elevation, d, eps = 1, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900)))
#' summary(fit)
#' head(predict(fit, d, type = "response"))
#' plot(fit)
#' @name dp_sosp-methods
NULL

#' @rdname dp_sosp-methods
#' @export
coef.dp_sosp <- function(object, ...) {
  check_dots()
  object$coefficients
}

#' @rdname dp_sosp-methods
#' @importFrom stats nobs
#' @export
nobs.dp_sosp <- function(object, ...) {
  check_dots()
  object$n
}

#' @rdname dp_sosp-methods
#' @importFrom stats variable.names
#' @export
variable.names.dp_sosp <- function(object, ...) {
  check_dots()
  if (is.matrix(object$coefficients)) rownames(object$coefficients) else names(object$coefficients)
}

#' @rdname dp_sosp-methods
#' @importFrom stats formula
#' @export
formula.dp_sosp <- function(x, ...) {
  check_dots()
  design_formula(x$design)
}

# A network without a formula has no design.
design_formula <- function(design, call = sys.call(-1)) {
  if (is.null(design) || is_matrix_design(design)) {
    abort("argument", "This fit was made from a matrix: it has no formula.", call = call)
  }
  stats::formula(design$terms)
}

# A network of an array has no design.
warn_undeclared <- function(design, newdata, call) {
  if (is.null(design) || is_matrix_design(design)) return(invisible())
  columns <- undeclared_levels(design, newdata)
  if (length(columns) == 0L) return(invisible())
  warn("levels", "`newdata` has levels of ", quote_names(columns), " that the fit did not declare: predictions for ",
       "them are NA.", call = call)
}

# The linear predictor; for a numeric response in its units. Predictions use shrunk estimates, as they have a smaller
# error than the unbiased estimates of the intervals. offset: for the rows of a matrix.
predicted_link <- function(fit, newdata, call, offset = NULL) {
  coefficients <- response_start(fit$response, prediction_coef(fit), fit$design$intercept)
  link <- response_link(fit$response, design_link(fit$design, coefficients, newdata, call))
  if (is_matrix_design(fit$design)) return(link + predicted_offset(fit$design, offset, NROW(link), call))
  refuse_vectors(list(offset = offset), call)
  if (length(fit$design$offset) > 0L) link <- link + design_offset(fit$design, newdata, "newdata", call)
  link
}

prediction_coef <- function(fit) fit$predictor %||% fit$coefficients

# The linear predictor, with one column per output, for rows clipped as in the fit. A row's value depends on this row
# alone, even in its last bit (proofs: own-row): classes and scores jump at a predictor of zero.
design_link <- function(design, coefficients, newdata, call) {
  x <- if (is_matrix_design(design)) {
    matrix_newdata(design, newdata, call)
  } else {
    design_matrix(design, newdata, "newdata", call)
  }
  rows <- if (inherits(x, "dgCMatrix")) sparse_products(x) else dense_products(x)
  clip <- pmin(1, design$radius / sqrt(rows$square + design$intercept))
  one <- function(coefficients) {
    w <- if (is_matrix_design(design)) coefficients else design_start(design, coefficients) / design$radius
    constant <- if (design$intercept) w[1] else 0
    slope <- if (design$intercept) w[-1] else w
    unname((rows$product(slope) + constant) * clip)
  }
  if (!is.matrix(coefficients)) return(one(coefficients))
  link <- lapply(seq_len(ncol(coefficients)), function(k) one(coefficients[, k]))
  matrix(unlist(link), ncol = ncol(coefficients), dimnames = list(NULL, colnames(coefficients)))
}

# square: squared norms of the rows; product(): the product with coefficients.
sparse_products <- function(x) {
  value <- attr(x, "x")
  value[!is.finite(value)] <- NA
  list(square = sparse_sums(x, value^2),
       product = function(slope) sparse_sums(x, value * rep(unname(slope), diff(attr(x, "p")))))
}

dense_products <- function(x) {
  broken <- !is.finite(x)
  x[broken] <- 0
  missing <- rowSums(broken) > 0
  list(square = rowSums(x^2), product = function(slope) {
    product <- row_products(x, slope)
    product[missing] <- NA
    product
  })
}

matrix_newdata <- function(design, newdata, call, arg = "newdata") {
  sparse <- inherits(newdata, "dgCMatrix")
  newdata <- if (sparse) check_sparse(newdata, arg, call) else check_matrix(newdata, arg, call)
  width <- if (is.null(design$gaps)) length(design$labels) - design$intercept else length(design$gaps$at)
  got <- if (sparse) attr(newdata, "Dim")[2] else ncol(newdata)
  if (got != width) {
    abort("argument", "`", arg, "` must have ", width, " columns, not ", got, ".", call = call)
  }
  known <- utils::head(if (design$intercept) design$labels[-1] else design$labels, width)
  names <- if (sparse) sparse_names(newdata) else colnames(newdata)
  if (!is.null(names) && !identical(names, known) && setequal(names, known)) {
    abort("argument", "`", arg, "` has the columns of the fit in another order: those of a matrix are taken by ",
          "position.", call = call)
  }
  fill_matrix(newdata, design$gaps)
}

#' @export
dp_ledger.dp_sosp <- function(x, ...) rbind(x$privacy$ledger, x$inference$privacy$ledger)

# The map between the types "response" and "link" of predict().
fit_link <- function(fit) {
  kind <- fit$response$kind
  plain <- kind == "bounded" || !has_probabilities(fit$loss)
  stats::make.link(if (kind == "count") "log" else if (plain) "identity" else "logit")
}

# ---- as text ----

# One line per coefficient, with a column for each class where there are several classes. reason: why a coefficient is
# not resolved, NA for others; NULL without intervals.
estimate_lines <- function(coefficients, digits, reason = NULL) {
  if (!is.matrix(coefficients)) coefficients <- cbind(Estimate = coefficients)
  columns <- lapply(seq_len(ncol(coefficients)), function(k) format(coefficients[, k], digits = digits))
  names(columns) <- colnames(coefficients)
  mark <- if (any(!is.na(reason))) stats::setNames(list(format(ifelse(is.na(reason), "", "not resolved"))), "")
  table_lines(rownames(coefficients), c(columns, mark))
}

# A table of text with row names; only the first rows are shown.
table_lines <- function(rows, columns) {
  padded <- Map(function(name, column) formatC(c(name, column), width = max(nchar(c(name, column)))), names(columns),
                columns)
  lines <- do.call(paste, c(list(format(c("", rows))), padded))
  more <- length(rows) - max_coefficients
  c(utils::head(lines, max_coefficients + 1L), if (more > 0L) paste("and", more, "more: see `coef()`"))
}

max_coefficients <- 30L # that are printed

privacy_text <- function(privacy) {
  c(
    paste0("Private: ", guarantee_text(privacy$eps, privacy$delta), " (",
           privacy$neighbours, ", ", accountant_texts[[privacy$accountant]],
           if (!is.null(privacy$order)) paste(" at order", format(privacy$order, digits = 4)), ")"),
    doubt_text(privacy),
    privacy$parts,
    if (!is.null(privacy$shared)) paste0("From a shared budget of ", privacy$shared),
    if (privacy$noise == "reproducible") study_text
  )
}

certificate_lines <- function(certificate, scale, target = NULL) {
  bound <- function(value, symbol) if (is.na(value)) "not measured at the solution" else paste(symbol, signif(value, 3))
  wanted <- function(value, more = NULL) if (!is.null(target)) paste0(" (target ", signif(value, 3), more, ")")
  c(
    paste0("Gradient norm ", bound(certificate$gradient[["upper"]], "<="),
           wanted(target$eps_g, if (isTRUE(target$trivial)) ", met by every point")),
    paste0("Smallest eigenvalue ", bound(certificate$eigenvalue[["lower"]], ">="), wanted(-target$eps_h),
           if (isTRUE(certificate$eigenvalue_known)) ", known from the loss"),
    paste0("Both with confidence ", format(certificate$confidence), "; ", scale),
    paste0("They say how flat the ", if (certificate$of == "population") "population's ", "objective is there, ",
           "not how small it is")
  )
}
