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
  check_one_output(model$loss, "Standard errors of predictions are", sys.call())
  if (is.null(model$inference)) absent(paste(no_intervals(model), "Or take `vcov = FALSE`, for estimates alone."))
  stats::vcov(model)
}

# ---- emmeans ----

#' @exportS3Method emmeans::recover_data
recover_data.dp_sosp <- function(object, data = NULL, ...) {
  if (is_matrix_design(object$design)) return("This fit was made from a matrix: it has no formula.")
  # emmeans turns a text into an error.
  if (is.null(data)) return(no_data)
  if (!is.data.frame(data)) return("`data` must be a data frame.")
  if (!is.null(object$design$smooth)) return("A fit with smooth terms has no intervals, which means on a grid need.")
  terms <- stats::delete.response(object$design$terms)
  # emmeans evaluates variables of the formula, which has no environment.
  attr(terms, ".Environment") <- formula_functions()
  emmeans::recover_data(object$call, terms, NULL, data = data, ...)
}

formula_functions <- function() list2env(list(bs = splines::bs, ns = splines::ns), parent = asNamespace("stats"))

# The linear predictor is linear in the coefficients, so each column is the predictor of one coefficient alone.
#' @exportS3Method emmeans::emm_basis
emm_basis.dp_sosp <- function(object, trms, xlev, grid, ...) {
  check_one_output(object$loss, "Means on a grid are", sys.call())
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
                   "`formula()` is its formula. `step()` would fit again, for another charge: `dp_tune()` chooses ",
                   "among models for one budget, and `anova()` tests terms.")
again_fits <- paste("Likelihoods of a private fit are not released, and each candidate would be another fit, for",
                    "another charge. `anova()` tests terms by Wald tests at no cost; `dp_tune()` chooses among models",
                    "for one budget.")
no_loss <- paste0("A private fit has no deviance or likelihood: its loss on the training data would be another ",
                  "release. `dp_value()` is the mean loss with noise, charged to a budget. Compare models so, or on ",
                  "public data.")
no_weight <- "The weights of a network say nothing one by one: `coef()` has them, a matrix for each layer."
no_choice <- "This is a choice among candidates, not the fit that it took, which is its `$fit`."
no_model <- "This is a certificate, not the fit that it is about: ask the fit, from `dp_sosp()`."

# The reason for each generic of stats.
no_public_answer <- c(
  fitted = no_rows, residuals = no_rows, simulate = no_rows, weights = no_rows, influence = no_rows,
  hatvalues = no_rows, cooks.distance = no_rows, rstandard = no_rows, rstudent = no_rows, effects = no_rows,
  terms = no_terms, model.frame = no_terms, model.matrix = no_terms, # step() asks for terms first
  deviance = no_loss, logLik = no_loss, extractAIC = no_loss, add1 = no_loss, drop1 = no_loss, anova = no_loss,
  profile = no_loss # AIC() and BIC() ask for logLik()
)
no_certificate <- c("coef", "nobs", "predict", "formula", "vcov", "confint", "plot", names(no_public_answer))

absent_methods <- list(
  dp_sosp = replace(no_public_answer[names(no_public_answer) != "anova"], c("add1", "drop1"), again_fits),
  dp_network = c(no_public_answer, vcov = no_minimiser, confint = no_minimiser),
  dp_certificate = stats::setNames(rep(no_model, length(no_certificate)), no_certificate),
  dp_tune = stats::setNames(rep(no_choice, length(no_certificate)), no_certificate)
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

# The engine "dpsosp" of parsnip's models, registered when parsnip is loaded.

#' Fits through parsnip
#'
#' With the package parsnip, `"dpsosp"` is an engine of `logistic_reg()`, `multinom_reg()`, `linear_reg()` and
#' `poisson_reg()`. Arguments of [dp_sosp()] are arguments of `set_engine()`, such as `eps`, `delta`, `bounds`, `method`
#' or `control`.
#'
#' * `logistic_reg()`: a response of two levels. `multinom_reg()`: a factor with more levels ([loss_multinomial()]).
#' * `linear_reg()`: squared error; `loss = loss_squared(response = c(lower, upper))` declares the bounds of the
#'   response, which are found otherwise. `poisson_reg()` takes the largest count, `loss = loss_poisson(max)`, or finds
#'   it.
#'
#' The argument `penalty` of these models, a number, is the lambda of [penalty_ridge()] (0: no penalty), whose scale is
#' not that of the engine `"glmnet"`. A fit by squared error, the default of `linear_reg()`, chooses its ridge itself
#' and refuses a `penalty` above 0; so do other methods and losses that take none. A `mixture` other than 0 is refused,
#' as there is no lasso. Both are left out by default.
#'
#' Types of prediction are `"class"` and `"prob"`, or `"numeric"`; `"raw"` is the linear predictor. `"conf_int"` and,
#' with squared error and Huber's loss, `"pred_int"` need a fit with intervals (`inference = "sandwich"`); of two
#' classes they are intervals of the probabilities. `std_error = TRUE` adds the standard errors of the means or
#' probabilities (`predict(se.fit = TRUE)` of the fit). `extract_fit_engine()` gives the fit of class `dp_sosp`.
#'
#' # What is private
#' The engine's fit is private, as [dp_sosp()] says. What comes before and after it is not.
#'
#' **A step of a recipe that learns from the records breaks the guarantee.** `step_normalize()`, `step_range()` and
#' `step_impute_mean()` keep exact means or ends of the training records, and predict with them; text that becomes a
#' factor keeps all its values as levels. Leave such steps out: declare `bounds` and levels, and dpsosp scales the
#' columns itself, at no cost. The engine warns (`dpsosp_warning_recipe`) where the recipe of a workflow has a step
#' that is not known to work row by row; a recipe that you `prep()` and `bake()` yourself is not seen.
#'
#' **`bounds` are those of the columns that the engine gets**: after a step that shifts or scales a column, its bounds
#' on the original scale are wrong, and the fit is poor or says nothing. `bounds = "private"` finds the right ones
#' whatever the steps are.
#'
#' **Each fit spends its budget anew.** `fit_resamples()`, `tune_grid()` and every further `fit()` to the same records
#' add up: k fits of one budget with Gaussian releases cost as much as one of \eqn{\sqrt k}{sqrt(k)} times the `mu`
#' ([dp_convert()]). A message says so once in a session (`dpsosp_message_parsnip`). The metrics that they compute are
#' exact, which no budget pays for. [dp_tune()] chooses among settings for one budget, [dp_evaluate()] releases
#' metrics.
#'
#' # A workflow holds the training records
#' **Never publish or share a workflow as it is.** The engine's fit holds no record, but the workflow around it keeps
#' all of them (`flow$pre$mold`, `recipe$template`), and so may environments of formulas, steps and arguments.
#'
#' `workflows::extract_fit_engine(flow)` is the fit alone, without records. It may be published if no step before it
#' learned from them, and predicts from columns as they come out of the preprocessor.
#'
#' A workflow that predicts without its records is made by the package butcher and two lines more, for the arguments of
#' the engine, whose environments butcher leaves (`bundle::bundle()` removes nothing):
#' ```
#' published <- butcher::butcher(flow)
#' published$fit$actions$model$spec <- NULL
#' published$fit$fit$spec[["eng_args"]] <- published$fit$fit$spec$method$fit["args"] <- NULL
#' ```
#' What a recipe learned stays in it, such as means of `step_normalize()` and values of text columns.
#'
#' @param formula,data,... As in [dp_sosp()].
#' @param penalty A number, the lambda of [penalty_ridge()], or a penalty.
#' @param mixture `NULL` or 0. `fit()` calls `dp_sosp_engine()`, which no one else needs.
#' @return `dp_sosp_engine()`: what [dp_sosp()] returns.
#' @section Errors: Those of [dp_sosp()], raised by `fit()`.
#'
#' @examplesIf requireNamespace("workflows", quietly = TRUE) && requireNamespace("yardstick", quietly = TRUE)
#' library(parsnip)
#' held_out <- seq(5, nrow(covertype), by = 5)
#' spec <- logistic_reg() |>
#'   set_engine("dpsosp", eps = 1, delta = 1e-6, bounds = list(elevation = c(1850, 3900)))
#' flow <- workflows::workflow(cover ~ elevation + wilderness, spec) |>
#'   fit(covertype[-held_out, ])
#' predicted <- augment(flow, covertype[held_out, ])
#' # These metrics are exact, so not private; covertype is public.
#' # For private records use dp_evaluate().
#' yardstick::accuracy(predicted, cover, .pred_class)
#' yardstick::mn_log_loss(predicted, cover, names(predicted)[2])
#' workflows::extract_fit_engine(flow)
#' @seealso [dp_evaluate()], [dp_tune()]
#' @name dp_sosp-parsnip
NULL

# default: the loss if none is given.
engine_models <- list(
  logistic_reg = list(mode = "classification", default = list()),
  multinom_reg = list(mode = "classification", default = list()),
  linear_reg = list(mode = "regression", default = list(loss = "squared")),
  poisson_reg = list(mode = "regression", default = list(loss = "poisson"))
)

register_engines <- function() {
  for (model in names(engine_models)) {
    if ("dpsosp" %in% parsnip::get_from_env(model)$engine) next
    register_engine(model, engine_models[[model]]$mode, engine_models[[model]]$default)
  }
}

register_engine <- function(model, mode, default) {
  parsnip::set_model_engine(model, mode, "dpsosp")
  parsnip::set_dependency(model, "dpsosp", "dpsosp", mode)
  parsnip::set_fit(model, mode, "dpsosp", list(
    interface = "formula", protect = c("formula", "data"), func = c(pkg = "dpsosp", fun = "dp_sosp_engine"),
    defaults = default
  ))
  # Columns are passed as they are: their levels and ranges are declared.
  parsnip::set_encoding(model, mode, "dpsosp", list(predictor_indicators = "none", compute_intercept = FALSE,
                                                    remove_intercept = FALSE, allow_sparse_x = FALSE))
  for (argument in c("penalty", "mixture")) {
    parsnip::set_model_arg(model, "dpsosp", argument, argument, list(pkg = "dials", fun = argument), FALSE)
  }
  types <- if (mode == "regression") c(numeric = "response") else c(class = "class", prob = "response")
  types <- c(types, raw = "link")
  for (type in names(types)) {
    parsnip::set_pred(model, mode, "dpsosp", type, list(
      pre = NULL, post = if (type == "prob") engine_probabilities, func = c(fun = "predict"),
      args = list(object = quote(object$fit), newdata = quote(new_data), type = types[[type]])
    ))
  }
  for (interval in if (mode == "regression") c("confidence", "prediction") else "confidence") {
    type <- c(confidence = "conf_int", prediction = "pred_int")[[interval]]
    parsnip::set_pred(model, mode, "dpsosp", type, list(
      pre = NULL, post = engine_interval(type), func = c(fun = "predict"),
      args = list(object = quote(object$fit), newdata = quote(new_data), type = "response", interval = interval,
                  level = quote(level), se.fit = TRUE)
    ))
  }
}

# The ends of intervals, with standard errors where they are asked for. Those of the first of two classes follow from
# those of the second.
engine_interval <- function(type) {
  force(type)
  function(result, object) {
    ends <- as.data.frame(result$fit[, c("lwr", "upr"), drop = FALSE])
    names <- c(".pred_lower", ".pred_upper")
    if (!is.null(object$lvl)) {
      ends <- cbind(1 - ends[[2]], 1 - ends[[1]], ends)
      names <- paste0(names, "_", rep(object$lvl, each = 2))
    }
    ends <- stats::setNames(ends, names)
    if (isTRUE(object$spec$method$pred[[type]]$extras$std_error)) ends$.std_error <- unname(result$se.fit)
    ends
  }
}

# A column for each class, in the order of the levels.
engine_probabilities <- function(result, object) {
  if (!is.matrix(result)) result <- cbind(1 - result, result)
  stats::setNames(as.data.frame(result), object$lvl)
}

# ---- what the engine calls ----

#' @rdname dp_sosp-parsnip
#' @export
dp_sosp_engine <- function(formula, data, penalty = NULL, mixture = NULL, ...) {
  warn_recipe(current_recipe())
  call <- match.call(expand.dots = FALSE)
  call <- as.call(c(quote(dpsosp::dp_sosp), as.list(call)[intersect(names(call), c("formula", "data"))], call$...))
  call$penalty <- engine_penalty(penalty, mixture)
  fit <- eval(call, parent.frame())
  inform_engine(fit$privacy)
  fit
}

# A penalty, or NULL: none was asked for.
engine_penalty <- function(penalty, mixture) {
  if (!is.null(mixture) && !identical(as.double(mixture), 0)) {
    abort("argument", "`mixture` must be 0, which is a ridge: there is no lasso.", call = NULL)
  }
  if (is.null(penalty) || inherits(penalty, "dp_penalty")) return(penalty)
  penalty <- check_number(penalty, "penalty", 0, open = FALSE, call = NULL)
  if (penalty > 0) penalty_ridge(penalty) else penalty_none()
}

# parsnip passes names and data only, so the recipe is that of the workflow whose fit() is running, or NULL.
current_recipe <- function() {
  for (k in seq_len(sys.nframe())) {
    if (environmentName(topenv(environment(sys.function(k)))) != "workflows") next
    flow <- sys.frame(k)$workflow
    if (inherits(flow, "workflow")) return(flow$pre$actions$recipe$recipe)
  }
}

# Steps that compute each row from this row and constants.
row_steps <- paste0("step_", c(
  "bin2factor", "date", "dummy", "factor2string", "hyperbolic", "intercept", "inverse", "invlogit", "log", "logit",
  "mutate", "novel", "num2factor", "ordinalscore", "ratio", "regex", "relevel", "rename", "rm", "select", "sqrt",
  "time", "unknown", "unorder"
))

# Classes of steps are public.
warn_recipe <- function(recipe) {
  learning <- setdiff(vapply(recipe$steps, function(step) class(step)[1], ""), row_steps)
  if (length(learning) == 0L) return(invisible())
  warn("recipe", "The recipe has steps that may learn from the records, which no budget pays for: ",
       first_of(learning), ". The guarantee of the fit does not hold for the workflow. And `bounds` must be those of ",
       "the columns after these steps. Leave the steps out: dpsosp scales columns itself, see ",
       "`?\"dp_sosp-parsnip\"`.", call = NULL)
}

told <- new.env(parent = emptyenv())

inform_engine <- function(privacy, fits = 10) {
  if (isTRUE(told$engine) || !is.null(privacy$shared)) return(invisible())
  told$engine <- TRUE
  gaussian <- privacy$accountant == "gdp"
  eps <- if (gaussian) eps_of(privacy, fits * privacy$rho) else fits * privacy$eps
  inform("parsnip", "Each fit spends its budget anew, also for resamples and in a grid: ", fits, " fits to the same ",
         "records as this one have ", guarantee_text(eps, if (gaussian) privacy$delta else fits * privacy$delta),
         " in sum. `dp_tune()` chooses among settings for one budget. (This is said once in a session.)")
}
