#' Losses
#'
#' The loss of one record, as a function of the linear predictor t and the response y. Each loss has public bounds,
#' from which the sensitivities, and so the noise, are computed.
#'
#' For a response with two values, y is -1 or 1:
#' * `loss_logistic()`: log(1 + exp(-y t)), convex; \eqn{|l'| \le 1},
#'   \eqn{0 \le l'' \le 1/4}. A `slope` below 1 gives another loss for the same log-odds, see the section Bounded slope.
#' * `loss_sigmoid()`: 1 / (1 + exp(y t)), bounded and non-convex;
#'   \eqn{|l'| \le 1/4}, \eqn{|l''| \le 1/(6\sqrt{3})}{|l''| <= 1/(6 sqrt 3)}.
#' * `loss_huber_svm(h)`: the hinge loss of a support vector machine with its corner rounded off, convex. With
#'   z = y t: 0 for \eqn{z \ge 1 + h}, \eqn{(1 + h - z)^2 / (4 h)} for \eqn{|1 - z| < h}, 1 - z below;
#'   \eqn{|l'| \le 1}, \eqn{0 \le l'' \le 1 / (2h)}. Such a fit has margins but no probabilities.
#'
#' For a factor with any number of declared levels, the classes:
#' * `loss_multinomial()`: one predictor \eqn{t_k}{t_k} for each class, \eqn{l = \log \sum_k e^{t_k} - t_y}{l = log
#'   sum_k exp(t_k) - t_y}, convex; its gradient in t is no longer than \eqn{\sqrt 2}{sqrt(2)}, and its Hessian's
#'   eigenvalues lie in \[0, 1/2\]. The default for a factor with three levels or more. Coefficients are a matrix with a
#'   column for each class, whose rows sum to zero: a constant that is added to a row changes no probability. Available
#'   are the methods `"newton-ridge"` (the default but with much noise, see [control_newton_ridge()]), `"newton"` (see
#'   [control_newton()]), `"gd"` and `"sgd"`, the last three without a penalty or with `penalty_ridge()`, but no
#'   intervals.
#'
#' For a numeric response, linear regression:
#' * `loss_squared(response)`: \eqn{u^2 / 2} with the residual u, the loss of [lm()]. The slope has no bound, so the
#'   only method is `"newton-ridge"`, which clips residuals at a multiple of their scale ([control_newton_ridge()]). So
#'   the noise depends on the residuals, hardly on the bounds of the response, and bounds ten times too wide cost
#'   little. Without bounds they are found privately, with 3 percent of the budget, or up to 25 with much noise, and
#'   where the noise hides them a second time, up to 60 percent in all; with much noise the same finds where in declared
#'   bounds the responses are. Responses are clipped to the bounds, before an `offset()` is subtracted. There is no
#'   `penalty`, `start` or `target`. A fit can have intervals ([dp_inference()]), also of predictions, and it has
#'   `sigma()` ([dp_sosp-methods]).
#'
#' For a numeric response, a robust linear regression:
#' * `loss_huber(response, c, k)`: with the residual u, \eqn{u^2 / 2} for \eqn{|u| \le c}, \eqn{c |u| - c^2 / 2} beyond,
#'   convex. A fit estimates a location, which is the mean where residuals are symmetric, and is below it where they are
#'   skewed to the right. Responses are clipped to `response`.
#'
#'   The method `"newton-ridge"`, which `"auto"` takes where it can, fits it like `loss_squared()`, with the same
#'   requirements, and finds `response` privately if it is `NULL`. c is `k` times the scale of the residuals, which is
#'   released, so that the noise depends on the residuals and not on the bounds. The default k = 1.345, that of
#'   `MASS::rlm()`, has 95 percent of the efficiency of least squares where residuals are normal. `c` in place of `k` is
#'   in units of the response. The noise grows with either. The fit's loss has the c that was used. Such a fit, too, can
#'   have intervals, also of predictions, and has `sigma()`.
#'
#'   The other methods release no scale: they need `response`, take no `k`, and the default of `c` is a tenth of the
#'   width of these bounds. The response is mapped to \[-1, 1\], like the columns: the middle of the bounds is
#'   subtracted, and the result is divided by half their width, s (without an intercept nothing is subtracted, and s is
#'   the larger absolute value of the two bounds). The loss is that of the mapped response, with c / s for c:
#'   \eqn{|l'| \le c / s}, \eqn{0 \le l'' \le 1}. So the noise grows with `c`, and with the width of the bounds.
#'   Coefficients and predictions are on the original scale of the response, certificates and targets on the mapped
#'   scale. Without `start` a run begins at the middle of the bounds.
#'
#' For counts, a log-linear regression:
#' * `loss_poisson(max)`: counts are clipped to \[0, `max`\], and the negative log-likelihood of a Poisson distribution
#'   with mean \eqn{e^t}{exp(t)} is divided by `max`, \eqn{(e^t - y t) / \code{max}}{(exp(t) - y t) / max}, convex.
#'   Where \eqn{e^t}{exp(t)} exceeds `max` the loss continues as a straight line; no expected count is that large.
#'   \eqn{|l'| \le 1}, \eqn{0 \le l'' \le 1}. The model is linear in the logarithm of the expected count; `predict(type
#'   = "response")` is the expected count, at most `max`. An `offset()` such as the logarithm of an exposure makes it a
#'   model of rates. The method `"newton-ridge"`, which `"auto"` takes without a penalty, clips residuals at a multiple
#'   of their scale ([control_newton_ridge()]): `max` only bounds counts, the noise depends on the residuals, and
#'   without `max` the bound is found privately. That needs an intercept, and has no `penalty`, `start` or `target`; it
#'   can have intervals ([dp_inference()]). Where the noise is too large for anything else, the fit predicts the mean.
#'   With an offset the noise of the mean is in proportion to \eqn{e^u}{exp(u)}, u the upper end of the declared range
#'   of the offset, so declare no more than there is. Other methods need `max`, and one record can weigh as much as
#'   `max` events there, so it should not be a count that few records reach.
#'
#' The second derivatives of `loss_huber_svm()`, `loss_huber()` and `loss_poisson()` jump. The rounding error of a
#' summed Hessian is then unbounded, so no Hessian is released, and methods that need one, or its Lipschitz constant,
#' refuse the loss (`dpsosp_error_nonsmooth`). Available are the methods `"newton-ridge"`, `"newton"` and `"newton-b"`
#' with `curvature` `"lazy"` or `"qu"`, `"objpert"`, `"outpert"`, `"gd"`, `"sgd"`, `"blsgd"`, `"blsgd-ac"`, `"blgd"`,
#' `"agd"`, `"spider"` and `"auto"`; penalties must be convex. With `sosp(alpha)` the target's `eps_h` is 0, which
#' convexity guarantees.
#'
#' @section Bounded slope:
#' `loss_logistic(slope = c)` with c < 1 is convex. Its slope is \eqn{-y s(y t)},
#' \deqn{s(m) = (c - (c - 1/2) e^{-k |m|}) e^{-\max(m, 0)}, \quad k = 1 / (4 c - 2),}{%
#'   s(m) = (c - (c - 1/2) e^(-k |m|)) e^-max(m, 0), k = 1 / (4 c - 2),}
#' and at t = 0 it has the slope and the curvature of the logistic loss. \eqn{|l'| \le c}; \eqn{0 \le l'' \le b < 1/2},
#' \deqn{b = \frac{c k}{1 + k} \left(\frac{c}{c + k / 4}\right)^{1/k},}{%
#'   b = c k / (1 + k) (c / (c + k / 4))^(1 / k),}
#' 0.44 for c = 0.51 and 0.26 for c = 0.99; \eqn{|l'''| \le k / 4}. Because \eqn{s(m) = e^{-m} s(-m)}, the true log-odds
#' have the least expected loss: coefficients and probabilities estimate the same numbers as with the logistic loss, and
#' have the same interpretation.
#'
#' One record changes a gradient by at most 2 c / n instead of 2 / n, so the noise is c times that of the logistic loss,
#' slightly more than half at the least. Noise of Hessians is proportional to b, so it is larger. The price without any
#' noise is efficiency: records with a large loss count less than in the likelihood. On four public data sets
#' the exact minimiser's mean logistic loss was above the least one by 0.00007 to 0.0006 for c = 0.51, by 0.00006 to
#' 0.0005 for c = 0.55 and by less than 0.00013 from c = 0.75 on (`inst/experiments/slope.R`).
#'
#' @param slope The largest slope, a number from 0.51 to 1; 1 is the logistic loss itself.
#' @param h Half the width of the rounded corner, a number from 0.01 to 1.
#' @param response Public bounds of the response, `c(lower, upper)`, in its units; chosen without looking at the data.
#'   `loss_squared()`, and `loss_huber()` with the method `"newton-ridge"`, find them privately if they are `NULL`.
#' @param c Residual from which on the loss is linear, in units of the response; with `response` from 1/1000 of s to
#'   2 s. `NULL`: see above.
#' @param k The same in units of the scale of the residuals, a number from 0.1 to 10; with the method `"newton-ridge"`
#'   only. The scale is the 68 percent quantile of absolute residuals, the standard deviation of normal ones, of a t
#'   distribution that is fitted to noisy counts; gross errors hardly change it. `NULL`: 1.345, unless `c` is given.
#' @param max The largest count, a number from 1 to 1e6; chosen without looking at the data. `NULL`: it is found
#'   privately, by the method `"newton-ridge"` only.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_loss`. Where a loss is an argument, its name,
#'   such as `"logistic"` or `"huber"`, may stand for the object.
#' @section Errors: `dpsosp_error_argument` for a parameter out of its range.
#' @references Gao and Wright (2023), section 4 and appendix E.
#'
#' Chaudhuri, Monteleoni and Sarwate (2011), Differentially private empirical risk minimization: the Huberised hinge
#'   loss, and its objective perturbation.
#'
#' Huber (1964), Robust estimation of a location parameter.
#'
#' Holland and Welsch (1977), Robust regression using iteratively reweighted least-squares: the k of Huber's loss.
#'
#' Reid and Williamson (2010), Composite binary losses: the losses whose minimisers are the true probabilities.
#'   The loss of bounded slope is one of them; its bounds are proved in `vignette("proofs")`.
#' @examples
#' loss_logistic()
#' loss_logistic(slope = 0.6)
#' loss_huber_svm(h = 0.1)
#' set.seed(1)
#' d <- data.frame(x = runif(3000, 0, 10))
#' d$y <- 20 + 3 * d$x + rnorm(3000)
#' dp_sosp(y ~ x, d, eps = 1, delta = 1e-6, bounds = list(x = c(0, 10)),
#'         loss = loss_squared(c(0, 100)))
#' dp_sosp(y ~ x, d, eps = 1, delta = 1e-6, bounds = list(x = c(0, 10)),
#'         loss = loss_huber(response = c(0, 100)))
#' dp_sosp(y ~ x, d, eps = 1, delta = 1e-6, method = "newton", bounds = list(x = c(0, 10)),
#'         loss = loss_huber(response = c(0, 100), c = 5))
#' d$events <- rpois(3000, exp(1 + d$x / 10))
#' dp_sosp(events ~ x, d, eps = 1, delta = 1e-6, bounds = list(x = c(0, 10)), loss = "poisson")
#' @name losses
NULL

#' @rdname losses
#' @export
loss_logistic <- function(slope = 1, ...) {
  check_dots()
  slope <- check_number(slope, "slope", 0.51, 1, open = FALSE, call = sys.call())
  if (slope == 1) return(logistic_loss)
  new_loss("bounded_logistic", "the same log-odds, |l'| <= slope", slope, slope = slope)
}

#' @rdname losses
#' @export
loss_sigmoid <- function(...) {
  check_dots()
  new_loss("sigmoid", "1 / (1 + exp(y t))")
}

#' @rdname losses
#' @export
loss_huber_svm <- function(h = 0.5, ...) {
  check_dots()
  h <- check_number(h, "h", 0.01, 1, open = FALSE, call = sys.call())
  new_loss("huber_svm", "1 - y t, its corner rounded off within h", h, h = h)
}

#' @rdname losses
#' @export
loss_huber <- function(response = NULL, c = NULL, k = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  if (!is.null(response)) response <- check_response_bounds(response, call)
  largest <- if (is.null(response)) vector_limit else response[2] - response[1]
  least <- if (is.null(response)) 1 / vector_limit else largest / 2000
  if (!is.null(c)) c <- check_number(c, "c", least, largest, open = FALSE, call = call)
  if (!is.null(k)) k <- check_number(k, "k", 0.1, 10, open = FALSE, call = call)
  if (!is.null(c) && !is.null(k)) {
    abort("argument", "Give `c`, in units of the response, or `k`, in units of the residuals' scale.", call = call)
  }
  loss <- new_loss("huber", "(t - y)^2 / 2, linear beyond c", 2 * huber_width, response = response,
                   response_kind = "bounded")
  loss$c <- c
  loss$k <- k
  scale_loss(loss, TRUE)
}

huber_k <- 1.345 # 95 percent of the efficiency of the mean with normal residuals

is_huber <- function(loss) loss$name == "huber"

# Where no scale of residuals is released, the default c is this part of the bounds' width.
huber_width <- 1 / 10

with_c <- function(loss) {
  if (is_huber(loss) && is.null(loss[["c"]])) loss$c <- huber_width * (loss$response[2] - loss$response[1])
  loss
}

#' @rdname losses
#' @export
loss_squared <- function(response = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  if (!is.null(response)) response <- check_response_bounds(response, call)
  scale_loss(new_loss("squared", "(t - y)^2 / 2", response = response, response_kind = "bounded"), TRUE)
}

#' @rdname losses
#' @export
loss_poisson <- function(max = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  if (!is.null(max)) max <- check_number(max, "max", 1, max_count, open = FALSE, call = call)
  loss <- new_loss("poisson", "(exp(t) - y t) / max, linear where exp(t) > max", max_count, response = NULL,
                   response_kind = "count")
  if (is.null(max)) loss else bound_counts(loss, max)
}

max_count <- 1e6 # as in the core (src/loss/poisson.c)

# The loss for counts up to `max`.
bound_counts <- function(loss, max) {
  loss[c("parameter", "response", "centre", "half")] <- list(max, c(0, max), 0, max)
  loss
}

#' @rdname losses
#' @export
loss_multinomial <- function(...) {
  check_dots()
  new_loss("multinomial", "log(sum(exp(t))) - t_y, a t for each class", 2)
}

# parameter: for the core. A loss for numeric responses also has their bounds, their kind (loss-response.R), and the map
# (y - centre) / half to [-1, 1].
new_loss <- function(name, formula, parameter = 0, ...) {
  structure(class = "dp_loss", list(name = name, formula = formula, parameter = parameter, ...))
}

loss_fields <- c("name", "formula", "parameter", "slope", "h", "response", "response_kind", "c", "k", "centre", "half",
                 "classes")

logistic_loss <- new_loss("logistic", "log(1 + exp(-y t))")

check_response_bounds <- function(x, call) {
  x <- check_interval(x, "response", call)
  if (max(abs(x)) > vector_limit || x[2] - x[1] < 1 / vector_limit) {
    abort("argument", "`response` must lie within ", vector_limit, " of zero, and its bounds at least ",
          1 / vector_limit, " apart.", call = call)
  }
  x
}

# Adds the map of the response to [-1, 1]. As in design_scale(), it has no shift without an intercept to absorb it.
scale_loss <- function(loss, intercept) {
  if (!has_bounded_response(loss)) return(loss)
  ends <- loss$response
  if (is.null(ends)) return(loss) # to be found
  loss$centre <- if (intercept) ends[1] / 2 + ends[2] / 2 else 0
  loss$half <- if (intercept) ends[2] / 2 - ends[1] / 2 else max(abs(ends))
  if (!is_huber(loss)) return(loss)
  loss$parameter <- min(max(with_c(loss)$c / loss$half, 0.001), 2)
  loss
}

# Of declared bounds alone: those that are found must decide no error.
check_huber_c <- function(loss, intercept, call) {
  if (intercept || !is_huber(loss) || is.null(loss$response)) return(loss)
  if (with_c(loss)$c / loss$half < 0.001 * (1 - 1e-9)) {
    abort("argument", "`c` of the huber loss must be at least ", signif(loss$half / 1000, 3), ", a thousandth of the ",
          "largest response: there is no intercept.", call = call)
  }
  loss
}

has_bounded_response <- function(loss) identical(loss$response_kind, "bounded")
has_counts <- function(loss) identical(loss$response_kind, "count")

# loss: a loss, its name, or NULL for the default loss of the response y, called name; intercept: does the problem have
# one? implied: may a numeric response imply the logistic loss? bounded: must its slope be (check_bounded_slope())?
check_loss <- function(loss, intercept, call = sys.call(-1), y = NULL, name = "y", implied = FALSE, bounded = FALSE) {
  if (is.null(loss)) return(default_loss(y, name, implied, bounded, call))
  if (inherits(loss, "dp_loss")) {
    return(check_huber_c(scale_loss(own(loss, "dp_loss", loss_fields), intercept), intercept, call))
  }
  named <- losses()
  family <- if (!is.character(loss) || !all(loss %in% names(named))) loss_instead(loss)
  if (!is.null(family)) {
    abort("argument", "`loss` must be one of ", quote_all(names(named)), ". Did you mean \"", family, "\"?",
          call = call)
  }
  named[[check_choice(loss, names(named), "loss", call)]]()
}

# The loss that takes the place of a family, given as glm() takes it, or of a loss of other packages; or NULL.
loss_instead <- function(loss) {
  families <- c(binomial = "logistic", quasibinomial = "logistic", gaussian = "squared", poisson = "poisson",
                quasipoisson = "poisson")
  others <- c(hinge = "huber_svm", mse = "squared", squared_error = "squared", softmax = "multinomial",
              log_loss = "logistic")
  name <- if (is.function(loss)) Find(function(f) identical(loss, get(f, asNamespace("stats"))), names(families))
          else if (inherits(loss, "family")) loss$family else loss
  if (is.character(name) && length(name) == 1L) as.list(c(families, others))[[name]]
}

# The default depends on the type and the declared levels only. Which kind of numbers a numeric response has, its values
# alone would tell.
default_loss <- function(y, name, implied, bounded, call) {
  if (is.factor(y)) return(if (nlevels(y) > 2L) loss_multinomial() else logistic_loss)
  if (identical(column_kind(y), "numeric") && !implied) abort("argument", numeric_advice(name, bounded), call = call)
  logistic_loss
}

numeric_advice <- function(name, bounded) {
  losses <- if (bounded) c("loss_huber(c(lower, upper))", "loss_poisson(max)") else c("\"squared\"", "\"poisson\"")
  means <- paste0("`", name, "` is ", c("1 for one class and 0 (or -1) for the other", "a quantity", "a count"))
  lines <- paste0("  loss = ", formatC(c("\"logistic\"", losses), width = -28), "# ", means)
  paste(c(paste0("`", name, "` is numeric, and its values are private: say what they are by `loss`, one of"), lines),
        collapse = "\n")
}

# Losses without required arguments, which may be given by name.
losses <- function() {
  list(logistic = loss_logistic, multinomial = loss_multinomial, sigmoid = loss_sigmoid, huber_svm = loss_huber_svm,
       squared = loss_squared, huber = loss_huber, poisson = loss_poisson)
}

# The multinomial loss takes its number of classes from the response.
loss_of <- function(loss, response) {
  if (response$kind != "classes") return(loss)
  loss$classes <- length(response$labels)
  loss$parameter <- as.double(loss$classes)
  loss
}

has_classes <- function(loss) identical(loss$name, "multinomial")

# The number of predictors per row.
loss_outputs <- function(loss) if (is.null(loss$classes)) 1L else loss$classes

# Refuses losses with several predictors per row.
check_one_output <- function(loss, what, call) {
  if (loss_outputs(loss) == 1L) return(invisible())
  abort("argument", what, " for losses of one predictor; the multinomial loss has one for each class.", call = call,
        class = "dpsosp_error_several")
}

# The logistic loss with or without a bound of its slope.
is_logistic <- function(loss) loss$name %in% c("logistic", "bounded_logistic")

# The name that users know, where the core has another one.
loss_name <- function(loss) if (is_logistic(loss)) "logistic" else loss$name

# A convex loss of the margin y t.
has_margin <- function(loss) is_logistic(loss) || loss$name == "huber_svm"

# For a response with two values: does 1 / (1 + exp(-t)) estimate the probability of y = 1?
has_probabilities <- function(loss) loss$name != "huber_svm"

# Can the slope be bounded for each row separately?
has_slopes <- function(loss) loss$name == "logistic"

# The least slope that a record's loss can be given (loss_min_slope() in src/loss/loss.c).
min_slope <- function(loss) if (has_slopes(loss)) 0.51 else loss_bounds(loss)[["lipschitz"]]

# Have steps so much noise that a fit may end at a worse point than it began?
is_risky <- function(loss) loss$name %in% c("poisson", "multinomial")

# Is the slope a mean minus the response, a residual, or this clipped?
has_residuals <- function(loss) loss$name %in% c("squared", "huber", "poisson")

# The loss whose residuals are clipped, where it is not the loss itself.
residual_loss <- function(loss) if (is_huber(loss)) loss_squared()

# Squared error: a slope without a bound, so that residuals must be clipped.
has_unbounded_slope <- function(loss) loss$name == "squared"

# Refuses it, and counts without a bound, by which their slope is divided.
check_bounded_slope <- function(loss, what, call, else_method = TRUE) {
  if (has_unbounded_slope(loss)) {
    abort("argument", what, " a loss whose slope is bounded, and that of the ", loss$name, " loss is not: take ",
          "`loss_huber()`", if (else_method) ", or the method \"newton-ridge\"", ".", call = call)
  }
  if (loss$name == "poisson" && is.null(loss$response)) {
    abort("argument", what, " a public bound of the counts: take `loss_poisson(max)`",
          if (else_method) ", or the method \"newton-ridge\", which finds one", ".", call = call)
  }
  if (is_huber(loss)) check_fixed_c(loss, what, call)
}

check_fixed_c <- function(loss, what, call) {
  if (is.null(loss$response)) {
    abort("argument", what, " public bounds of the response: take `loss_huber(response = c(lower, upper))`.",
          call = call)
  }
  if (!is.null(loss[["k"]])) {
    abort("argument", what, " `c` of the huber loss in units of the response, as no scale of residuals is released ",
          "for `k`: take `loss_huber(response, c)`.", call = call)
  }
}

loss_bounds <- function(loss) .Call(ffi_loss_bounds, loss$name, loss$parameter)

# Values and second derivatives at the predictors t, for the response y, one number.
loss_value <- function(loss, y, t) .Call(ffi_loss_at, loss$name, loss$parameter, y, t, FALSE)
loss_curvature <- function(loss, y, t) .Call(ffi_loss_at, loss$name, loss$parameter, y, t, TRUE)

is_convex <- function(loss, penalty) loss_bounds(loss)[["curv_lower"]] == 0 && is_convex_penalty(penalty)

is_smooth <- function(loss) is.finite(loss_bounds(loss)[["third"]])

# The name with parameters, as printed at the head of a fit.
loss_text <- function(loss, digits = NULL) {
  ends <- paste(format(loss$response, trim = TRUE, digits = digits), collapse = ", ")
  parameters <- intersect(c("slope", "h", "c", "k", "classes"), names(loss))
  shown <- c(sprintf("%s = %s", parameters, vapply(loss[parameters], format, "", digits = digits)),
             if (!is.null(loss$response)) paste0("response in [", ends, "]"))
  paste0(loss_name(loss), if (length(shown) > 0L) paste0(" (", paste(shown, collapse = ", "), ")"))
}

#' @export
print.dp_loss <- function(x, digits = NULL, ...) {
  check_dots()
  cat("<dp_loss> ", loss_text(x, check_digits(digits)), ": ", x$formula, "\n", sep = "")
  invisible(x)
}
