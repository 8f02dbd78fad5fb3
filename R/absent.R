# What other fits have and a private one has not: the methods say why, and what to use.

# Class dpsosp_error_absent, whatever the arguments.
absent <- function(why, call = sys.call(-1)) abort("argument", why, call = call, class = "dpsosp_error_absent")

no_rows <- "A private fit keeps no training data: use `predict()` with `newdata`."
no_terms <- paste0("A private fit keeps no model frame, and no terms with an environment, which may hold the data: ",
                   "`formula()` is its formula.")
no_loss <- paste0("A private fit has no deviance or likelihood: its loss on the training data would be another ",
                  "release. `dp_value()` is the mean loss with noise, charged to a budget. Compare models so, or on ",
                  "public data.")
no_minimiser <- paste0("A network has no standard errors: its loss is not convex in the weights, so there is no one ",
                       "minimiser that they could be about.")

#' @importFrom stats fitted
#' @export
fitted.dp_sosp <- function(object, ...) absent(no_rows)

#' @importFrom stats residuals
#' @export
residuals.dp_sosp <- function(object, ...) absent(no_rows)

#' @importFrom stats model.frame
#' @export
model.frame.dp_sosp <- function(formula, ...) absent(no_terms)

#' @importFrom stats model.matrix
#' @export
model.matrix.dp_sosp <- function(object, ...) absent(no_terms)

# step() asks for these first.
#' @importFrom stats terms
#' @export
terms.dp_sosp <- function(x, ...) absent(no_terms)

#' @importFrom stats deviance
#' @export
deviance.dp_sosp <- function(object, ...) absent(no_loss)

# AIC() and BIC() ask for it.
#' @importFrom stats logLik
#' @export
logLik.dp_sosp <- function(object, ...) absent(no_loss)

#' @importFrom stats extractAIC
#' @export
extractAIC.dp_sosp <- function(fit, scale, k, ...) absent(no_loss)

#' @importFrom stats add1
#' @export
add1.dp_sosp <- function(object, scope, ...) absent(no_loss)

#' @importFrom stats drop1
#' @export
drop1.dp_sosp <- function(object, scope, ...) absent(no_loss)

#' @importFrom stats anova
#' @export
anova.dp_sosp <- function(object, ...) absent(no_loss)

#' @export
confint.dp_network <- function(object, parm, level = 0.95, ...) absent(no_minimiser)

#' @export
vcov.dp_network <- function(object, ...) absent(no_minimiser)
