# Methods for generics of other packages, and for those that a fit does not support. insight, marginaleffects and
# emmeans are optional. They use no data of the fit, only data that the caller gives.

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

# ---- generics that other fits support and a private fit cannot: each method says why, and what to use instead ----

no_rows <- "A private fit keeps no training data: use `predict()` with `newdata`."
no_terms <- paste0("A private fit keeps no model frame, and no terms with an environment, which may hold the data: ",
                   "`formula()` is its formula.")
no_loss <- paste0("A private fit has no deviance or likelihood: its loss on the training data would be another ",
                  "release. `dp_value()` is the mean loss with noise, charged to a budget. Compare models so, or on ",
                  "public data.")
no_weight <- "The weights of a network say nothing one by one: `coef()` has them, a matrix for each layer."
no_model <- "This is a certificate, not the fit that it is about: ask the fit, from `dp_sosp()`."

# The reason for each generic of stats.
no_public_answer <- c(
  fitted = no_rows, residuals = no_rows, simulate = no_rows, weights = no_rows, influence = no_rows,
  hatvalues = no_rows, cooks.distance = no_rows, rstandard = no_rows, rstudent = no_rows,
  terms = no_terms, model.frame = no_terms, model.matrix = no_terms, # step() asks for terms first
  deviance = no_loss, logLik = no_loss, extractAIC = no_loss, add1 = no_loss, drop1 = no_loss, anova = no_loss,
  profile = no_loss # AIC() and BIC() ask for logLik()
)
no_certificate <- c("coef", "nobs", "predict", "formula", "vcov", "confint", "plot", names(no_public_answer))

absent_methods <- list(
  dp_sosp = no_public_answer, dp_network = c(no_public_answer, vcov = no_minimiser, confint = no_minimiser),
  dp_certificate = stats::setNames(rep(no_model, length(no_certificate)), no_certificate)
)

register_absent <- function() {
  for (class in names(absent_methods)) {
    why <- absent_methods[[class]]
    for (generic in names(why)) registerS3method(generic, class, refusal_of(why[[generic]]), asNamespace("stats"))
  }
}

refusal_of <- function(why) {
  force(why)
  function(...) absent(why, sys.call())
}

#' @exportS3Method generics::tidy
tidy.dp_network <- function(x, ...) absent(no_weight)
