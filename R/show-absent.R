# Generics that other fits support and a private fit cannot: each method says why, and what to use instead.

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
