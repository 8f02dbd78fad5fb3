# Tests of hypotheses about coefficients, from the covariance that a fit with intervals released: they cost nothing.
# Functions that would fit again are refused here, and by update().

#' Tests of terms
#'
#' Wald tests of the coefficients of a fit with intervals ([dp_inference()]), from `coef()` and `vcov()`: they take the
#' noise into account and cost no budget. Nothing is fitted again.
#'
#' `anova()` tests each term of the formula (of a matrix each column), given all other terms: the hypothesis is that all
#' of its coefficients are zero. Coefficients that the budget does not resolve are left out of the tests, and `Df` says
#' how many are left; a term without any has `NA`. A small p value is right all the same.
#'
#' From the packages lmtest and car, `waldtest()` tests all terms, those that `...` names (names of terms, numbers, or a
#' formula such as `. ~ . - x`), or those that a larger fit has beside a smaller one; `coeftest()` tests coefficients;
#' `linearHypothesis()` tests linear combinations of coefficients that are resolved; and `Anova()` is `anova()`, where
#' no term is part of another one.
#'
#' `lrtest()`, `add1()`, `drop1()`, `step()`, `AIC()` and functions of packages that would call [update()] are errors of
#' class `dpsosp_error_absent`: a likelihood would be another release, and another fit another charge.
#'
#' @param object,mod A fit with intervals.
#' @param ... For `waldtest()` what the fit is compared with; otherwise nothing.
#' @return A data frame of class `anova` with the degrees of freedom (`Df`), the statistic (`Chisq`), which has about a
#'   chi-squared distribution under the hypothesis, and the p value.
#' @section Errors: `dpsosp_error_absent` for a fit without intervals; `dpsosp_error_argument`.
#' @examples
#' fit <- dp_sosp(cover ~ elevation + slope + wilderness, covertype, eps = 1, delta = 1e-8,
#'                bounds = list(elevation = c(1850, 3900), slope = c(0, 66)), inference = "sandwich")
#' anova(fit)
#' @name dp_sosp-tests
NULL

#' @rdname dp_sosp-tests
#' @importFrom stats anova
#' @export
anova.dp_sosp <- function(object, ...) {
  call <- sys.call()
  if (...length() > 0L) {
    absent(paste("Fits are not compared by their deviances, which are not released: `anova(fit)` tests the terms of",
                 "one fit, and `lmtest::waldtest(larger, smaller)` what a larger one has beside a smaller one."), call)
  }
  inference <- inference_of(object, call)
  terms <- fit_terms(object)
  rows <- lapply(unique(terms[terms != ""]), function(term) wald_test(inference, terms == term))
  table <- do.call(rbind, c(list(data.frame(Df = integer(), Chisq = numeric(), p = numeric())), rows))
  rownames(table) <- unique(terms[terms != ""])
  wald_table(table, c("Wald tests of terms, each given the others\n", paste0("Response: ", object$response$name)))
}

# The term that each coefficient belongs to, "" for the intercept. In a matrix each column is a term.
fit_terms <- function(fit) {
  design <- fit$design
  classes <- ncol(as.matrix(fit$coefficients))
  if (classes > 1L) {
    fit$coefficients <- fit$coefficients[, 1]
    return(rep(fit_terms(fit), classes - 1L))
  }
  names <- names(fit$coefficients)
  of <- if (is_matrix_design(design)) utils::tail(names, columns_of(fit)) else
    unname(design$term[design$columns$variable])
  c(if (design$intercept) "", of)
}

wald_table <- function(table, heading) {
  names(table)[names(table) == "p"] <- "Pr(>Chisq)"
  structure(table, heading = heading, class = c("anova", "data.frame"))
}

#' @rdname dp_sosp-tests
#' @exportS3Method lmtest::waldtest
waldtest.dp_sosp <- function(object, ...) {
  call <- sys.call()
  what <- list(...)
  what$test <- NULL # it is chi-squared in any case
  if (length(what) > 1L || any(names(what) != "")) {
    abort("argument", "Give a fit and at most one thing to compare it with, names of terms, a formula or a smaller ",
          "fit: the covariance is that of `vcov()`.", call = call)
  }
  inference <- inference_of(object, call)
  terms <- fit_terms(object)
  dropped <- if (length(what) == 0L) setdiff(terms, "") else dropped_terms(what[[1]], object, setdiff(terms, ""), call)
  test <- wald_test(inference, terms %in% dropped)
  table <- data.frame(Res.Df = object$n - length(terms) + c(0, test$Df), Df = c(NA, -test$Df),
                      Chisq = c(NA, test$Chisq), p = c(NA, test$p))
  open <- sum(terms %in% dropped) - test$Df
  wald_table(table, c("Wald test\n", paste0("Model 1: all terms\nModel 2: without ", paste(dropped, collapse = ", "),
                                            if (open > 0) paste0("\nNot tested, as they are not resolved: ", open,
                                                                 " of their coefficients"))))
}

dropped_terms <- function(what, fit, terms, call) {
  if (inherits(what, "dp_sosp")) {
    inner <- setdiff(fit_terms(what), "")
    if (!all(inner %in% terms)) {
      abort("argument", "The larger of two fits comes first, and has all terms of the smaller one.", call = call)
    }
    return(setdiff(terms, inner))
  }
  if (inherits(what, "formula")) {
    smaller <- stats::update(stats::formula(fit), what)
    # With a column its indicator of gaps is left out, which is no term of the formula.
    return(setdiff(terms, c(attr(stats::terms(smaller), "term.labels"), indicator_name(all.vars(smaller)))))
  }
  if (is.numeric(what) && all(what %in% seq_along(terms))) return(terms[what])
  if (is.character(what) && all(what %in% terms)) return(what)
  abort("argument", "Terms to leave out must be among ", first_of(quote_names_each(terms)), ".", call = call)
}

# What is not resolved has no estimate here either, as in summary(): lmtest's own method would take it from coef().
#' @exportS3Method lmtest::coeftest
coeftest.dp_sosp <- function(x, ...) {
  inference <- inference_of(x, sys.call())
  if (is.matrix(inference$solution)) {
    return(structure(coefficient_table(inference), class = "coeftest", method = "z test of coefficients"))
  }
  table <- NextMethod()
  table[is.na(table[, 2]), 1] <- NA
  table
}

# car's own method takes a covariance without NA: those of coefficients that take no part are zero.
#' @exportS3Method car::linearHypothesis
linearHypothesis.dp_sosp <- function(model, hypothesis.matrix, rhs = NULL, ...) {
  inference <- inference_of(model, sys.call())
  if (missing(hypothesis.matrix)) abort("argument", "`hypothesis.matrix` is missing: give it as `car` describes it.")
  names <- names(inference$coefficients)
  weights <- hypothesis_weights(hypothesis.matrix, names, rhs, sys.call())
  hidden <- !is.na(inference$reason)
  if (any(weights[, hidden] != 0)) {
    taken <- names[hidden][colSums(weights[, hidden, drop = FALSE] != 0) > 0]
    absent(paste0("The budget does not resolve ", first_of(quote_names_each(taken)), ", so nothing is tested about ",
                  if (length(taken) > 1L) "them." else "it."), sys.call())
  }
  covariance <- inference$vcov
  covariance[hidden, ] <- 0
  covariance[, hidden] <- 0
  coefficients <- ifelse(hidden, 0, inference$coefficients)
  NextMethod(vcov. = covariance, coef. = stats::setNames(coefficients, names), suppress.vcov.msg = TRUE)
}

# A matrix with a row of weights for each hypothesis, given as text or numbers. Errors of car quote what it was given.
hypothesis_weights <- function(given, names, rhs, call) {
  if (is.character(given)) {
    given <- tryCatch(muted(car::makeHypothesis(names, given, rhs)), error = function(e) NULL)
    if (!is.null(given)) given <- rbind(given)[, seq_along(names), drop = FALSE]
  }
  if (is.numeric(given) && is.null(dim(given))) given <- rbind(given)
  if (is.numeric(given) && is.matrix(given) && ncol(given) == length(names) && all(is.finite(given))) return(given)
  abort("argument", "`hypothesis.matrix` must have hypotheses about ", first_of(quote_names_each(names)),
        ", such as \"", names[length(names)], " = 0\", or ", length(names), " weights for each hypothesis.",
        call = call)
}

#' @rdname dp_sosp-tests
#' @exportS3Method car::Anova
Anova.dp_sosp <- function(mod, ...) {
  labels <- if (!is_matrix_design(mod$design)) attr(mod$design$terms, "order")
  if (any(labels > 1L)) {
    absent(paste("`Anova()` leaves out interactions to test the terms that are part of them, which needs other fits:",
                 "`anova()` tests each term given all others."), sys.call())
  }
  anova.dp_sosp(mod)
}

# ---- what would need another fit, or the records ----

no_scores <- paste("A covariance of records or clusters needs each record's gradient, which a private fit does not",
                   "keep: its covariance was released with it. `vcov()` and `confint()` have it where the fit has",
                   "intervals (`inference = TRUE`); with `id` in `dp_sosp()` they hold for clusters, the records of",
                   "each person.")

#' @exportS3Method lmtest::lrtest
lrtest.dp_sosp <- function(object, ...) absent(again_fits, sys.call())

#' @exportS3Method sandwich::estfun
estfun.dp_sosp <- function(x, ...) absent(no_scores, sys.call())

#' @exportS3Method sandwich::bread
bread.dp_sosp <- estfun.dp_sosp

#' @exportS3Method sandwich::vcovHC
vcovHC.dp_sosp <- estfun.dp_sosp
