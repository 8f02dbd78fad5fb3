# The engine "dpsosp" of parsnip's models, registered when parsnip is loaded.

#' Fits through parsnip
#'
#' With the package parsnip, `"dpsosp"` is an engine of `logistic_reg()`, `multinom_reg()`, `linear_reg()` and
#' `poisson_reg()`. Arguments of [dp_sosp()] are arguments of `set_engine()`, such as `eps`, `delta`, `bounds`, `method`
#' or `penalty` (from [penalty_ridge()]).
#'
#' * `logistic_reg()`: a response of two levels. `multinom_reg()`: a factor with more levels ([loss_multinomial()]).
#' * `linear_reg()` needs the public bounds of the response, `loss = loss_huber(response = c(lower, upper))`;
#'   `poisson_reg()` the largest count, `loss = loss_poisson(max)`.
#'
#' The arguments `penalty` and `mixture` of these models are not used, as with the engine `"glm"`.
#'
#' Types of prediction are `"class"` and `"prob"`, or `"numeric"`; `"raw"` is the linear predictor.
#' `extract_fit_engine()` gives the fit of class `dp_sosp`.
#'
#' # What is private
#' The engine's fit is private, as [dp_sosp()] says. Steps before it are not: steps of a recipe that learn from
#' the data (`step_normalize()`, `step_impute_mean()`, levels made from text), and a choice among fits by
#' `tune_grid()` or on resamples, use the data without paying for it. Declared ranges and levels make such steps
#' unnecessary; [dp_tune()] and [dp_evaluate()] pay for choices. To publish a fit, use `extract_fit_engine()`: the
#' objects of parsnip and workflows around it may hold environments, and so data.
#'
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

# default: the loss if none is given. Regression needs bounds, so it has no default.
engine_models <- list(
  logistic_reg = list(mode = "classification", default = list()),
  multinom_reg = list(mode = "classification", default = list()),
  linear_reg = list(mode = "regression", default = list(loss = "huber")),
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
    interface = "formula", protect = c("formula", "data"), func = c(pkg = "dpsosp", fun = "dp_sosp"), defaults = default
  ))
  # Columns are passed as they are: their levels and ranges are declared.
  parsnip::set_encoding(model, mode, "dpsosp", list(predictor_indicators = "none", compute_intercept = FALSE,
                                                    remove_intercept = FALSE, allow_sparse_x = FALSE))
  types <- if (mode == "regression") c(numeric = "response") else c(class = "class", prob = "response")
  types <- c(types, raw = "link")
  for (type in names(types)) {
    parsnip::set_pred(model, mode, "dpsosp", type, list(
      pre = NULL, post = if (type == "prob") engine_probabilities, func = c(fun = "predict"),
      args = list(object = quote(object$fit), newdata = quote(new_data), type = types[[type]])
    ))
  }
}

# A column for each class, in the order of the levels.
engine_probabilities <- function(result, object) {
  if (!is.matrix(result)) result <- cbind(1 - result, result)
  stats::setNames(as.data.frame(result), object$lvl)
}
