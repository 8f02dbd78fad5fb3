# Methods for generics of insight, marginaleffects and emmeans, which are optional packages. They use no data of the
# fit, only data that the caller gives.

#' Fits in other packages
#'
#' Methods for packages that work on fits: insight, marginaleffects, emmeans and, through [dp_sosp-tidy], modelsummary.
#' A fit keeps no data, so the data that these packages would look up in a fit must be given.
#'
#' * **marginaleffects**: `predictions()`, `slopes()`, `comparisons()` and `hypotheses()`, with a data frame as
#'   `newdata`. Standard errors need a fit with intervals ([dp_inference()]); for other fits use `vcov = FALSE`.
#'   Predictions are those of `coef()`, to which the standard errors refer; `predict()` of a fit with intervals shrinks
#'   them.
#' * **emmeans**: `emmeans()` and `ref_grid()` for a fit with intervals and a formula. They need a data frame as `data`,
#'   whose levels and means make the grid.
#' * **insight**: `find_formula()` and similar functions, `get_parameters()`, `get_varcov()`, `model_info()`,
#'   `link_function()`, `link_inverse()`, `n_obs()`. Functions that need data, such as `get_data()`, are an error.
#' * **modelsummary**: `modelsummary()`, with `statistic = NULL` and `conf_level = NULL` for fits without intervals.
#'
#' Give new data that are public, such as a grid that you write down. A number that is computed from the training data,
#' such as an average of predictions for them, is a further release that nobody has paid for.
#' @section Errors: `dpsosp_error_absent` where data or standard errors are needed that a fit does not have.
#' @examplesIf requireNamespace("emmeans", quietly = TRUE)
#' fit <- dp_sosp(cover ~ elevation + wilderness, covertype, eps = 2, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900)), inference = "sandwich")
#' grid <- expand.grid(elevation = c(2500, 3000), wilderness = levels(covertype$wilderness))
#' emmeans::emmeans(fit, ~ elevation, data = grid, at = list(elevation = c(2500, 3000)))
#' @name dp_sosp-ecosystem
NULL

no_data <- paste("A private fit keeps no training data, and what is computed from them would be another release: give",
                 "`newdata` or `data`, best a grid that is written down.")

#' @exportS3Method generics::required_pkgs
required_pkgs.dp_sosp <- function(x, ...) {
  check_dots(also = "infra") # parsnip's own methods take it
  "dpsosp"
}

#' @exportS3Method generics::required_pkgs
required_pkgs.dp_network <- required_pkgs.dp_sosp

# ---- insight ----

#' @exportS3Method insight::get_data
get_data.dp_sosp <- function(x, ...) absent(no_data)

#' @exportS3Method insight::get_parameters
get_parameters.dp_sosp <- function(x, ...) {
  tidied <- tidy.dp_sosp(x)
  out <- data.frame(Parameter = tidied$term, Estimate = tidied$estimate)
  out$Response <- tidied$y.level
  out
}

#' @exportS3Method insight::find_parameters
find_parameters.dp_sosp <- function(x, flatten = FALSE, ...) {
  names <- unique(get_parameters.dp_sosp(x)$Parameter)
  if (flatten) names else list(conditional = names)
}

#' @exportS3Method insight::get_varcov
get_varcov.dp_sosp <- function(x, ...) stats::vcov(x)

#' @exportS3Method insight::link_function
link_function.dp_sosp <- function(x, ...) fit_link(x)$linkfun

#' @exportS3Method insight::link_inverse
link_inverse.dp_sosp <- function(x, ...) fit_link(x)$linkinv

#' @exportS3Method insight::model_info
model_info.dp_sosp <- function(x, ...) {
  kind <- x$response$kind
  two <- !is_numeric_response(x$response) && kind != "classes"
  family <- c(bounded = "gaussian", count = "poisson", classes = "multinomial")[kind]
  list(
    family = if (two) "binomial" else family[[1]], link_function = fit_link(x)$name, n_obs = x$n,
    is_binomial = two, is_bernoulli = two, is_logit = fit_link(x)$name == "logit", is_linear = kind == "bounded",
    is_count = kind == "count", is_poisson = kind == "count", is_multinomial = kind == "classes",
    is_bayesian = FALSE, is_mixed = FALSE, is_multivariate = FALSE, is_zero_inflated = FALSE, is_ordinal = FALSE
  )
}

# ---- marginaleffects ----

# marginaleffects asks for the classes that it may take.
register_class <- function() {
  options(marginaleffects_model_classes = union(getOption("marginaleffects_model_classes"), "dp_sosp"))
}

#' @exportS3Method marginaleffects::get_predict
get_predict.dp_sosp <- function(model, newdata, type = "response", ...) {
  model$predictor <- NULL
  newdata <- as.data.frame(newdata)
  predicted <- stats::predict(model, newdata, type = type %||% "response")
  row <- newdata$rowid %||% seq_len(nrow(newdata))
  if (!is.matrix(predicted)) return(data.frame(rowid = row, estimate = predicted))
  data.frame(rowid = row, group = rep(colnames(predicted), each = nrow(predicted)), estimate = as.vector(predicted))
}

#' @exportS3Method marginaleffects::get_vcov
get_vcov.dp_sosp <- function(model, vcov = TRUE, ...) {
  if (isFALSE(vcov)) return(NULL)
  if (is.matrix(vcov)) return(vcov)
  if (!is.null(vcov) && !isTRUE(vcov)) {
    abort("argument", "`vcov` must be TRUE, FALSE or a matrix: a fit has one covariance, which was released.")
  }
  if (is.null(model$inference)) absent(paste(no_intervals(model), "Or take `vcov = FALSE`, for estimates alone."))
  stats::vcov(model)
}

# ---- emmeans ----

#' @exportS3Method emmeans::recover_data
recover_data.dp_sosp <- function(object, data = NULL, ...) {
  if (is_matrix_design(object$design)) return("This fit was made from a matrix: it has no formula.")
  # emmeans turns a text into an error.
  if (is.null(data)) return(no_data)
  if (has_smooths(object$design)) return("A fit with smooth terms has no intervals, which means on a grid need.")
  emmeans::recover_data(object$call, stats::delete.response(object$design$terms), NULL, data = data, ...)
}

# The linear predictor is linear in the coefficients, so each column is the predictor of one coefficient alone.
#' @exportS3Method emmeans::emm_basis
emm_basis.dp_sosp <- function(object, trms, xlev, grid, ...) {
  inference <- inference_of(object)
  d <- length(object$coefficients)
  misc <- list(logit = list(tran = "logit", inv.lbl = "prob"), log = list(tran = "log", inv.lbl = "rate"))
  list(X = design_link(object$design, diag(d), grid, sys.call()), bhat = unname(inference$coefficients),
       nbasis = matrix(NA), V = shown_vcov(inference), dffun = function(k, dfargs) Inf, dfargs = list(),
       misc = misc[[fit_link(object)$name]] %||% list())
}
