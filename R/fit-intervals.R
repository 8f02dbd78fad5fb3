# Standard errors, tests and intervals of a fit with released inference.

no_errors <- paste("This fit has no intervals: `inference = \"sandwich\"` adds them when fitting, `dp_inference()`",
                   "later.")

has_shortened <- function(fit) !is.null(fit$geometry) && !fit$geometry$weighted

# What to do about a fit without intervals, or why it can have none.
no_intervals <- function(fit) {
  if (lacks_coefficients(fit)) return(no_coefficients)
  refusal <- tryCatch({
    check_class_inferable(fit, FALSE, NULL)
    check_inferable(fit$loss, fit$penalty, fit$design, NULL, by_residuals(fit), shortened = has_shortened(fit))
    NULL
  }, dpsosp_error = conditionMessage)
  if (is.null(refusal)) no_errors else paste("This fit has no intervals, and can have none.", refusal)
}

# Of several classes only contrasts have intervals.
check_class_inferable <- function(fit, linked, call) {
  refusal <- if (loss_outputs(fit$loss) > 1L) class_refusal(isTRUE(fit$geometry$weighted), linked)
  if (!is.null(refusal)) abort("argument", refusal, call = call, class = "dpsosp_error_several")
}

# The inference of the fit, or an error. reference: of several classes, the one that the others are compared with.
inference_of <- function(fit, call = sys.call(-1), reference = NULL) {
  if (is.null(fit$inference)) abort("argument", no_intervals(fit), call = call, class = "dpsosp_error_absent")
  inference <- fit$inference
  if (is.null(reference)) return(inference)
  labels <- colnames(inference$solution)
  if (is.null(labels)) {
    abort("argument", "`reference` is for several classes: this fit has one predictor.", call = call)
  }
  reference <- check_choice(reference, labels, "reference", call)
  inference[c("coefficients", "vcov", "reason")] <- contrasts_with(inference, reference)
  inference
}

# The covariance with NA for the coefficients whose estimates are not shown.
shown_vcov <- function(inference) {
  hidden <- !is.na(inference$reason)
  covariance <- inference$vcov
  covariance[hidden, ] <- NA
  covariance[, hidden] <- NA
  covariance
}

coefficient_table <- function(inference, unresolved = "NA") {
  error <- sqrt(diag(if (unresolved == "NA") shown_vcov(inference) else inference$vcov))
  estimate <- ifelse(is.na(error), NA, inference$coefficients)
  z <- estimate / error
  cbind(Estimate = estimate, "Std. Error" = error, "z value" = z, "Pr(>|z|)" = 2 * stats::pnorm(-abs(z)))
}

# Lines of a summary: the table, with the reason in place of numbers that are not shown.
coefficient_lines <- function(fit, digits) {
  table <- coefficient_table(fit$inference)
  p <- table[, 4]
  stars <- c("***", "**", "*", ".", "")[findInterval(p, c(0, 0.001, 0.01, 0.05, 0.1))]
  each <- function(x) vapply(x, format, "", digits = digits)
  columns <- list(
    each(table[, 1]), each(table[, 2]), format(round(table[, 3], 2)), format.pval(p, digits = 2, eps = 2e-16),
    format(ifelse(is.na(fit$inference$reason), stars, fit$inference$reason))
  )
  names(columns) <- c(colnames(table), "")
  table_lines(rownames(table), columns)
}

unresolved_text <- function(fit) {
  if (all(is.na(fit$inference$reason))) return(NULL)
  c("What is not resolved takes more records, a larger eps, narrower ranges or fewer levels: see `?dp_inference`",
    if (any(grepl("collinear", fit$inference$reason))) "Of two columns that are nearly collinear leave out one")
}

# The parameter that the intervals are for.
estimand_text <- function(fit) {
  design <- fit$design
  paste0("About ", if (by_residuals(fit)) estimand_of_residuals(fit) else
    paste0(likelihood_estimand(fit), clipped_of_many(fit$inference$released$sizes)),
         if (any(design$columns$kind == "numeric")) ", of numeric columns clipped to their ranges",
         if (may_clip(design)) paste0(", of rows clipped to norm ", format(design$radius, digits = 3)),
         if (!is.null(design$gaps)) ", of records with their gaps filled in",
         if (fit$inference$type == "model") "; standard errors take the model for true")
}

likelihood_estimand <- function(fit) {
  if (is.matrix(fit$inference$solution)) {
    return(paste0("the coefficients of multinomial logistic regression, as of `nnet::multinom()`: log-odds of each ",
                  "class against `", colnames(fit$inference$solution)[1], "`"))
  }
  if (has_slopes(fit$loss)) return("the coefficients of logistic regression, as of `glm()`")
  paste0("the least expected ", loss_text(fit$loss), " loss")
}

# sizes: see damped_sizes(), or NULL.
clipped_of_many <- function(sizes) {
  if (is.null(sizes$beyond) || sizes$beyond < damped_doubt * sizes$doubt) return(NULL)
  percent <- function(x) format(100 * x, digits = 2)
  paste0(", in which about ", percent(sizes$beyond), " % (+- ", percent(damped_doubt * sizes$doubt),
         " %) of the records, with the most influence, count less")
}

# In the words of those who know lm(), rlm() and glm(). Where few records decide the coefficients, clips change what
# intervals are about.
estimand_of_residuals <- function(fit) {
  released <- fit$inference$released
  about <- if (fit$response$kind == "count") "the coefficients of Poisson regression, as of `glm()`" else
    if (is_huber(fit$loss)) paste0("the coefficients with the least Huber loss, c = ",
                                   signif(released$within * fit$response$half, 4)) else
    "the coefficients of least squares, as of `lm()`"
  if (!is_decided_by_few(fit)) return(about)
  paste0(about, ", in which the ", format(100 * released$tail$beyond, digits = 2),
         " % of the records with the most influence count less")
}

is_decided_by_few <- function(fit) {
  tail <- fit$inference$released$tail
  !is.null(tail) && tail$heavy && tail$beyond > 0
}

few_text <- function(fit) {
  if (is_decided_by_few(fit)) "few records decide the coefficients, and intervals may miss those of all records."
}

# The guarantee of the fit and of intervals that were released later, for the same records: entries as in the fit's own,
# and parts, a text that says what is added.
fit_privacy <- function(fit) {
  privacy <- checked_privacy(fit$privacy)
  if (is.null(fit$inference$privacy)) return(privacy)
  later <- checked_privacy(fit$inference$privacy)
  parts <- paste0("That is the sum of the fit, ", guarantee_text(privacy$eps, privacy$delta), ", and its intervals, ",
                  guarantee_text(later$eps, later$delta))
  if ("reproducible" %in% later$noise) privacy$noise <- later$noise
  privacy$stated <- privacy$stated %||% later$stated
  total <- composed(privacy, later)
  privacy[names(total)] <- total
  if (privacy$accountant == "added") privacy$order <- NULL # that of the fit alone
  c(privacy, list(parts = parts))
}

intervals_text <- function(fit) {
  inference <- fit$inference
  if (is.null(inference)) return(NULL)
  privacy <- inference$privacy
  c(paste0("Coefficients one Newton step from there, with ", inference$type, " intervals for ",
           sum(is.na(inference$reason)), " of ", length(inference$reason)),
    if (!is.null(privacy$shared)) paste0("They are paid for by a shared budget of ", privacy$shared))
}

#' @rdname dp_inference
#' @importFrom stats vcov
#' @export
vcov.dp_sosp <- function(object, complete = TRUE, reference = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  inference <- inference_of(object, call, reference)
  if (check_flag(complete, "complete", call)) return(shown_vcov(inference))
  shown <- is.na(inference$reason)
  inference$vcov[shown, shown, drop = FALSE]
}

#' @rdname dp_inference
#' @importFrom stats confint
#' @export
confint.dp_sosp <- function(object, parm, level = 0.95, unresolved = c("NA", "wide"), reference = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  inference <- inference_of(object, call, reference)
  level <- check_share(level, "level", call)
  unresolved <- check_choice(unresolved, c("NA", "wide"), "unresolved", call)
  table <- coefficient_table(inference, unresolved)
  table <- table[chosen_coefficients(parm, rownames(table), call), , drop = FALSE]
  ends <- c((1 - level) / 2, (1 + level) / 2)
  interval <- table[, "Estimate"] + outer(table[, "Std. Error"], stats::qnorm(ends))
  dimnames(interval) <- list(rownames(table), paste(format(100 * ends, trim = TRUE, digits = 3), "%"))
  interval
}

# Selects coefficients by name or by number; all if parm is missing.
chosen_coefficients <- function(parm, names, call) {
  if (missing(parm)) return(names)
  if (is.numeric(parm) && all(parm %in% seq_along(names))) return(names[parm])
  if (is.character(parm) && all(parm %in% names)) return(parm)
  abort("argument", "`parm` must be names or numbers of coefficients.", call = call)
}

# ---- for an existing fit, as a further charge ----

#' Standard errors, tests and intervals
#'
#' Standard errors and intervals of the coefficients, which include both the noise of the mechanism and the sampling of
#' the records. They need a release of their own: `dp_sosp(inference = "sandwich")` pays for it with a part of the fit's
#' budget, `dp_inference()` makes it later, for another charge. Then [summary()][dp_sosp-methods] shows standard errors,
#' z and p values, `confint()` intervals, and `vcov()` the covariance of the coefficients.
#'
#' # What is released
#' Three Gaussian releases at the fit's solution w: the mean gradient g, the mean Hessian H and, for `"sandwich"`, the
#' mean J of the second moments of the records' gradients. Their costs have the proportions 40 : 30 : 5. In `dp_sosp()`
#' the method that finds w has a quarter of the budget.
#'
#' Of a fit in a geometry, as with `"auto"`, they are in its coordinates (see [geometry_public()]), in which all
#' columns vary alike and rows z have a norm of about one. With \eqn{|l'| \le L} the slope l' of a record is clipped
#' to L R / |z| in g and J, and in H a record has the weight \eqn{\min(1, (R/|z|)^2)}{min(1, (R/|z|)^2)}. With d
#' coefficients and mu the budget of the intervals in Gaussian differential privacy, R is \eqn{1.25 \max(1,
#' 0.006\,n\mu/d)^{1/4}}{1.25 max(1, 0.006 n mu / d)^(1/4)}: few rows are that long and have a steep slope, too. A
#' fourth release, 3 of 78 parts, tells how many: noisy counts of |l'| |z|. With \eqn{0 \le l'' \le b} the
#' sensitivities are 2 L R / n, \eqn{\sqrt2 b R^2 / n}{sqrt(2) b R^2 / n}, \eqn{\sqrt2 L^2 R^2 / n}{sqrt(2) L^2 R^2 /
#' n} and \eqn{\sqrt2 / n}{sqrt(2) / n} (under `"zero-out"` L R / n, b R^2 / n, L^2 R^2 / n and 1 / n).
#'
#' Of other fits, such as those by `"newton"`, they are in the coordinates of the mapped rows, |z| <= 1, without
#' weights, and R is one in the sensitivities. Known zeros and equal entries of H and J (two indicators of one factor
#' are never both one; the square of an indicator is the indicator) then reduce the noise at no cost. Where values lie
#' in a small part of their range the noise hides them, and intervals are much wider.
#'
#' Of a fit by residuals (squared error, and Huber's loss and counts with `"newton-ridge"`) the releases are in the
#' coordinates of the last steps, whose rows z have a norm of about one (see [control_newton_ridge()]). What a record
#' adds is bounded by what few records exceed. Noisy counts of the lengths |z| tell the length R from which on rows
#' weigh less in the Hessian: few are longer, as far as its noise allows. Noisy counts of \eqn{|r| |z|}{|r| |z|}, r
#' the residual at w, tell by a power law the size L that a fraction of about \eqn{3/(n\mu)}{3 / (n mu)} of the
#' records exceeds (of counts 4), with mu the cost of the gradient in Gaussian differential privacy; for counts L is
#' at least one event. Noisy counts of |r| (not of counts) tell the scale of residuals. Then come the Hessian, a first
#' gradient at w, whose Newton step leads to a point near the minimiser (of counts only where its noise is small, and at
#' most so far that predictors of rows with the length R move by 1/2), and there the mean gradient, in which residuals
#' are clipped to \eqn{L / |z|}{L / |z|}, and the second moments of its terms. Rows with a rare level, or a rare value
#' of a column, are longer than R, which makes the Hessian too small for this coefficient: as the geometry tells about
#' how long they are, it is taken for that of a column that is shorter by this. Half of the mean of what is cut off,
#' by the power law, is added to the error of each coordinate of the gradient. For counts
#' the second derivatives, which are means, are clipped to b, \eqn{e^{2 s}}{exp(2 s)} times the level, s the standard
#' deviation of the predictors by the noisy matrix of the fit; for others b = 1, for Huber's loss only where |r| is
#' less than about c, to which residuals are clipped. Sensitivities are \eqn{\sqrt2 / n}{sqrt(2) / n} of all counts,
#' \eqn{\sqrt2 b R^2 / n}{sqrt(2) b R^2 / n}, 2 L / n and \eqn{\sqrt2 L^2 / n}{sqrt(2) L^2 / n}, costs have the
#' proportions 3 : 10 : 3 : 26 : 8 : 44 : 6, of counts 3 : 10 : 0 : 26 : 12 : 43 : 6. Under `"zero-out"` sensitivities
#' are those divided by \eqn{\sqrt2}{sqrt(2)}, of the gradients by 2.
#'
#' # Estimates and covariance
#' The coefficients become \eqn{w - v}, \eqn{v = H^{-1} g}{v = H^-1 g}: one Newton step. Their covariance is
#' \deqn{H^{-1} \left(J / n + s_g^2 I + \mathrm{Cov}(E v)\right) H^{-1}}{H^-1 (J / n + s_g^2 I + Cov(E v)) H^-1}
#' where s_g is the standard deviation of the noise of g, and E is the noise of H. With `"model"`, H replaces J, which
#' is right only if the model is. Everything is mapped to the original scale of the columns. The neglected error is of
#' second order in the distance from w to the minimiser. For the logistic loss in a geometry, where this distance is
#' long because w is shrunk, H becomes what it would be on the way and at its end if the rows had a normal distribution,
#' as far as the noise of g and H does not explain the step.
#'
#' Eigenvalues of H below a quarter of the norm of its noise cannot be distinguished from zero: in these directions the
#' budget resolves nothing. `summary()`, `vcov()` and `confint()` show `NA` for a coefficient
#' * if more than a quarter of its variance comes from such directions;
#' * if its standard error exceeds the prior standard deviation, in a geometry 1.5 for a column with a standard
#'   deviation of one by the fit's moments, else 1.5 for a column in \[-1, 1\] (the columns of a matrix are used as they
#'   are);
#' * if it belongs to a column whose own curvature does not exceed the noise level of H by three standard deviations:
#'   "no records seen" of a level, "no spread seen" of a number, because it is constant, its range is much too wide for
#'   its values, or the budget is too small. Such a column is left out of the step, so that others keep their intervals,
#'   and the coefficient of such a level is zero, as of the first one. Because of a number the intercept is `NA` too,
#'   unless the range has its centre at zero, as the intercept refers to the value zero of the column.
#'
#' Two columns that the budget does not tell apart are named ("nearly collinear with"). A column and its powers, and
#' products of columns, would often be: inside the fit they are polynomials about the middles of the ranges
#' ([dp_sosp()]), and coefficients and covariance are mapped back exactly.
#'
#' For a fit by residuals the prior standard deviation is that which lets one column explain all of the variance of the
#' response, whatever its range is; of counts, a variance of one of the logarithm of the mean.
#'
#' `unresolved = "wide"` shows such an interval all the same, widened by the prior standard deviation; it relies on the
#' prior. A column that is not resolved is almost as if it were left out: the other coefficients are nearly those of the
#' model without it.
#'
#' # Several classes
#' With [loss_multinomial()] what a fit knows are *contrasts*, differences of the coefficients of two classes. Rows are
#' those of this name, `"a:x"`: the coefficient of `x` in the log-odds of class `a` against the first class, or against
#' `reference`, as in `nnet::multinom()`, about whose coefficients on the same records intervals are. `coef()` has
#' coefficients whose sums over the classes are zero, and its differences are the estimates. The method must be
#' `"newton-ridge"`. With p a record's probabilities, \eqn{p - e_y} is the slope, of norm \eqn{|p - e_y|} (so \eqn{L =
#' \sqrt2}{L = sqrt(2)}), and the second derivative \eqn{\mathrm{diag}(p) - p p'}{diag(p) - pp'} (of Frobenius norm at
#' most \eqn{b = 1/2}); with d coefficients of each of K classes the gradient has K d and the matrices have
#' \eqn{(K d)^2}{(K d)^2} numbers, with the sensitivities and the costs above, R with (K - 1) d in the place of d. What
#' noise cannot be part of such a sum is removed at no cost. The prior standard deviation is that of a contrast. A class
#' with too few records for any slope is left out of the step, so that only its contrasts are `NA`. `anova()` tests a
#' column for all classes together. There are no intervals of predictions, and none where databases compute the sums of
#' shards or persons. In `inst/experiments/inference-classes.R` 95 % intervals cover in at least 96 % of the cases, also
#' on real data frames, and with n = 20,000 and eps = 1 they are 1.4 to 2.5 times as wide as without privacy.
#'
#' # Before it is spent
#' Where [dp_plan()] expects less than half of the coefficients of a `dp_sosp()` with `inference`, or of a
#' `dp_inference()`, to be resolved, a message (`dpsosp_message_resolve`) says so before the first charge, with the eps
#' and the n from which half of them would be. It follows from n, columns, declared levels, eps and loss alone, for a
#' formula and records, with the logistic loss or by residuals: about persons and matrices it says nothing. It takes
#' columns to be typical, and counts to have a mean of one: values that are spread over the whole of their range resolve
#' more.
#'
#' # What intervals are about
#' The intervals are for the coefficients with the least expected loss of rows as the fit maps them: numeric columns
#' clipped to their ranges, and rows to norm at most `radius`, which by default clips none for a formula. So declare
#' wide ranges. Private ranges of a fit with `inference` cut off only values that the noise hides. Those of a fit
#' without `inference` may cut off some percent of the values, because this improves predictions; intervals that
#' `dp_inference()` adds to such a fit refer to the clipped columns. With a slope below one ([loss_logistic()]) the
#' loss is another one, with the same minimiser if the model is right. Responses with
#' declared bounds are clipped to them. Without, they are clipped only where they are 16 times as far from the middle as
#' the ends of the range that was found, in which predictions stay; `print()` shows these wider ends.
#'
#' Those of a logistic fit are about the coefficients that `glm()` has on the same records, also where the model is
#' wrong, unless many records are clipped: `summary()` then says before the numbers how many count less.
#'
#' Those of a fit by residuals are about the coefficients that `lm()`, `glm()` or, for the c that the fit shows,
#' Huber's estimate have on the same records, also where the model is wrong. Where the counts show that few records
#' decide the coefficients (their influence falls off more slowly than the power 1.5, for counts 2.2), intervals may
#' miss these, and `summary()` says so before the numbers.
#'
#' Intervals need a large n: they use a normal approximation, and the remainder of the Newton step must be small. In
#' `inst/experiments/inference.R` their coverage is as stated, or higher with few records and a small budget
#' (`vignette("intervals")`). Levels with few records make small eigenvalues and `NA`: merge them first.
#'
#' # Predictions
#' Unbiased coefficients are not the best for prediction. `predict()` uses those of the fit's method, in a geometry and
#' for fits by residuals and after `dp_inference()`; else, where the fit itself paid for its intervals, coefficients
#' that are shrunk by their covariance, at no cost. [predict()][dp_sosp-methods] has intervals, too.
#'
#' @param fit A fit from [dp_sosp()] with a convex loss whose second derivative does not jump and without a penalty, or
#'   a fit by residuals (squared error, and Huber's loss and counts with `"newton-ridge"`). In a geometry it must be by
#'   `"newton-ridge"`: other methods shorten long rows there, and one Newton step from their solution does not reach the
#'   minimiser for the rows as they are. Its solution is public; the releases at the solution are charged anew.
#' @param data The data of the fit, or other records with the same columns: a data frame, a source ([dp_source()],
#'   [dp_shards()]) that can be read more than once, or for a fit to a matrix the matrix.
#' @param eps,delta,budget The privacy budget of the intervals, as in [dp_sosp()]. It adds to that of the fit if the
#'   records are the same; one [dp_budget()] for both counts them together.
#' @param type `"sandwich"`: valid whether the model is right or not; `"model"`: narrower by up to 4 percent, valid only
#'   if it is right, and not for fits by residuals.
#' @param y,weights,offset For a fit to a matrix: the response and, if the fit had them, weights and offset of the
#'   rows. A fit with a formula finds them in the data.
#' @param noise `"secure"` or `"reproducible"`, see [dp_oracle()].
#' @param object A fit with intervals.
#' @param complete Should coefficients that are not resolved have rows of `NA`? Otherwise they are left out.
#' @param parm Names or numbers of coefficients; default: all.
#' @param level Confidence level of the intervals, in (0, 1).
#' @param unresolved `"NA"` or `"wide"`, see the section on estimates and covariance.
#' @param reference Of several classes: the class that the others are compared with; `NULL` is the first one.
#' @param label For a `budget` with a `store`: a text that it keeps, of at most 200 characters, see [budget-stores].
#' @param ... Not used; anything in it is an error.
#' @return `dp_inference()`: the fit, with the new coefficients and a list `inference` of `type`, `released`
#'   (`point`, `gradient`, `hessian`, `products`, with their `sd`, off a matrix' diagonal \eqn{sd / \sqrt2}{sd /
#'   sqrt(2)}, and `n`; in a geometry `longest`, which is R, and `sizes`, with noisy `counts` at `ends`, the fraction
#'   `beyond` the clip and the standard deviation of its noise, `doubt`; in its coordinates or those of the mapped
#'   rows, factors last; of a fit by residuals in those of its last steps, with noisy `counts` of `lengths` and
#'   `sizes` at their `ends`, and of residuals at `ends`, with `scale`, and with `clip`, which is L, and `tail`, for
#'   the mapped response), `vcov` (widened, without `NA`), `reason` (why a coefficient is not shown, or `NA`) and
#'   `privacy`, as in a fit; of several classes `coefficients`, `vcov` and `reason` are those of the contrasts with the
#'   first class, `solution` has the coefficients of all, `all` their covariance, and `reasons`, by class, why contrasts
#'   with this class are not shown. `vcov()`: a matrix. `confint()`: a matrix with the ends of the intervals.
#' @section Errors: Of class `dpsosp_error_inference`, before anything is charged: a loss that is not convex or whose
#'   second derivative jumps (other than of fits by residuals), type `"model"` of a fit by residuals and one without
#'   columns, a penalty, smooth terms, a fit by another method than `"newton-ridge"` in a geometry, a fit that already
#'   has intervals, a network; in `dp_sosp()` also methods on batches and `"objpert"`, whose accountants
#'   cannot pay for other releases. `dpsosp_error_several`: several classes with another method than `"newton-ridge"`,
#'   or where databases compute the sums of shards or persons. `dpsosp_error_absent`: `confint()`
#'   and `vcov()` of a fit without intervals.
#' @references White (1982), Maximum likelihood estimation of misspecified models: the sandwich covariance. Its terms
#'   for the noise are this package's, see `vignette("intervals")`.
#' @seealso [dp_sosp()], [tidy()][dp_sosp-tidy].
#' @examples
#' d <- covertype[1:10000, ]
#' fit <- dp_sosp(cover ~ elevation + slope, d, eps = 2, delta = 1e-8, inference = "sandwich",
#'                bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' summary(fit)
#' confint(fit, "elevation")
#'
#' fit <- dp_sosp(cover ~ elevation + slope, d, eps = 1, delta = 1e-8,
#'                bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' confint(dp_inference(fit, d, eps = 1, delta = 1e-8))
#' @export
dp_inference <- function(fit, data, eps = NULL, delta = NULL, type = c("sandwich", "model"), budget = NULL, y = NULL,
                         noise = c("secure", "reproducible"), weights = NULL, offset = NULL, label = NULL, ...) {
  call <- scrub_call(match.call(), quote(dp_inference))
  check_dots(call)
  require_given()
  if (inherits(fit, "dp_network")) abort("argument", no_minimiser, call = call, class = "dpsosp_error_inference")
  check_fit(fit, call)
  if (!is.null(fit$inference)) {
    abort("argument", "This fit has intervals: `confint()` shows them.", call = call, class = "dpsosp_error_inference")
  }
  check_class_inferable(fit, FALSE, call)
  type <- check_choice(type, inference_types, "type", call)
  check_inferable(fit$loss, fit$penalty, fit$design, call, by_residuals(fit), type, has_shortened(fit))
  claim <- again_claim(fit, data, list(y = y, weights = weights, offset = offset), check_noise(noise, call),
                       list(eps = eps, delta = delta, budget = budget, label = label), call)
  if (!is.null(claim$once)) refuse_once(call)
  check_class_inferable(fit, claim$linked, call)
  tell_unresolved(claim_delta(add_entries(claim, inference = type, dim = design_dim(fit$design),
                                          geometry = fit$geometry)), later = TRUE)
  end <- claim$hold()
  on.exit(end())
  claim <- open_claim(claim)
  inference <- infer_later(claim, fit, type)
  close_claim(claim)
  fit$predictor <- prediction_coef(fit)
  fit$coefficients <- told_coefficients(inference)
  fit$inference <- c(inference[names(inference) != "predictor"], list(privacy = new_privacy(claim)))
  judged_again(fit)
}

infer_later <- function(claim, fit, type) {
  oracle <- plain_oracle(add_entries(claim, method = if (by_residuals(fit)) list(loss = residual_loss(fit$loss))))
  if (!by_residuals(fit)) {
    geometry <- damped_geometry(fit$geometry, fit$loss, claim$n, claim$rho)
    return(infer(oracle, claim$design, geometry, fit$coefficients, type, claim$rho, claim$n, fit$checks))
  }
  facts <- residual_facts(claim, fit$level, fit$geometry, fit$checks)
  move_oracle(oracle, facts$geometry)
  solution <- response_start(claim$response, fit$coefficients, TRUE)
  infer_residuals(oracle, facts, solution, claim$rho, claim$n)
}

no_minimiser <- paste0("A network has no standard errors: its loss is not convex in the weights, so there is no one ",
                       "minimiser that they could be about.")
