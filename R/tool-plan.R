#' What a budget will buy, before there are data
#'
#' Predicts from public numbers alone: the noise of a release, the expected excess loss, the target that can be
#' certified, how much wider intervals are than without privacy, and the smallest n or eps that reaches a goal. A plan
#' reads no data, so it costs nothing. Its numbers are typical for the columns that are described; they are not
#' bounds.
#'
#' @details The plan is for a logistic, multinomial, linear or log-linear regression with at most 1,000 coefficients
#' under `"replace-one"`, with declared ranges, taken as they are (private ones take 5 percent, 6 with intervals), and
#' defaults of [dp_sosp()]. Columns are taken to be independent: numeric ones mapped to \[-1, 1\] with mean 0 and
#' `variance`, factors to indicators of their levels but the first. Let a be a mapped row divided by the radius R,
#' \eqn{\Sigma = E\, a a'}{S = E aa'}, d the number of coefficients, \eqn{H = } `curvature` \eqn{\Sigma}{S} with
#' eigenvalues \eqn{e_j}, and mu the budget in Gaussian differential privacy ([dp_convert()]):
#' * **Noise**: one gradient that takes the whole budget has noise of \eqn{\nu = 2 / (n \mu)}{nu = 2 / (n mu)} in each
#'   coordinate. This and all other scales of noise include the bounds of rounding errors, as those of a fit do.
#' * **Excess loss**: of the mean logistic loss on new records over the least one, for two methods. For `"newton"`
#'   \deqn{\sum_j \frac{e_j}{2} \left((1 - f_j)^2 \omega_j^2 + \frac{f_j^2}{n e_j} + v_j\right),}{%
#'     sum_j (e_j / 2) ((1 - f_j)^2 w_j^2 + f_j^2 / (n e_j) + v_j),}
#'   along the eigenvectors of H. There the solution is \eqn{\omega_j}{w_j} away from the constant prediction, for
#'   slopes of the size `effect`. The terms are the signal that the steps do not reach, the sampling error where they
#'   do, and the noise. The fraction f_j of the way and the variance v_j follow the steps one by one, with the lambda0
#'   that is expected at each ([control_newton()]). For `"newton-ridge"` the terms are the signal that its ridge holds
#'   back, the noise and the bias of bounded slopes, in the coordinates of its geometry, with its weights and slopes,
#'   times 1.5; and d / (2 n). The factor 1.5 is fitted on synthetic problems (`inst/experiments/plan-rule.R`). On
#'   others, plans and mean excess losses of fits agree within 25 percent or within the standard error of those means
#'   (`inst/experiments/plan-check.R`).
#'
#'   For numbers and counts, half of the excess mean squared error in residual variances: along the eigenvectors of the
#'   covariance of the columns in the geometry, the signal that the posterior mean removes, the noise of clipped
#'   residuals and the sampling error. Counts are taken to vary as a Poisson distribution with the mean `level` does, so
#'   that this is their loss in nats per record; their formula has a factor of 1.3, fitted on synthetic problems, and
#'   the noise of their slopes' recalibration. On ten synthetic settings for each loss plans have 0.7 to 1.4 times the
#'   excess of fits for squared error, 0.6 to 1.4 for Huber's loss, and 0.6 to 1.7 for counts
#'   (`inst/experiments/plan-residual.R`). Plans are up to twice too large for counts with a mean below 0.01. For `n`
#'   of 100 to 200 they are 0.3 to 1.1 times the mean excess of fits, which a few fits with large errors raise.
#'   There is then no target. The excess loss of several classes depends on which classes the columns tell apart, and
#'   is not known: [dp_curve()] shows it for simulated data.
#' * **Target**: the default target of [dp_sosp()], for every method, from the function that a fit asks. The papers'
#'   bound ([required_rows()]), which is printed beside it, is for the worst case; typical problems need far fewer
#'   records.
#' * **Intervals** (`inference = TRUE`): with M the noise of the last step and \eqn{s_g}, \eqn{s_H} that of the released
#'   gradient and matrix, the variance
#'   \deqn{H^{-1} (H / n + s_g^2 I + s_H^2 (\mathrm{tr} M\, I + M) / 2) H^{-1}}{%
#'     H^-1 (H / n + s_g^2 I + s_H^2 (tr(M) I + M) / 2) H^-1}
#'   divided by that without privacy, \eqn{H^{-1} / n}{H^-1 / n}, in the coordinates of the fit's geometry for
#'   `"newton-ridge"`, of the mapped rows for `"newton"`; `ratio` is the square root. Target and excess loss are
#'   then those of such a fit, whose method has a quarter of the budget, and of its predictions
#'   ([dp_inference()]). The noise of H makes its inverse larger on average, which is accounted for. Up to six times the
#'   non-private width, plans and simulated fits agree within 25 percent (`inst/experiments/plan-check.R`); beyond that,
#'   the plan is too small, and its print says "at least". `resolved` is by the rules of [dp_inference()].
#'
#'   For numbers and counts the same with the second moments of the columns for H, in residual standard deviations, and
#'   for M the noise and the shrinkage of the fit. Residuals are clipped at what normal residuals or counts with a
#'   Poisson distribution reach. Up to six times the
#'   non-private width, plans are 0.8 to 1.3 times the median widths of fits on twenty synthetic settings for squared
#'   error and 0.8 to 1.4 times for Huber's loss; for counts 1 to 1.5 times (`inst/experiments/plan-residual.R`).
#'
#'   For K classes the widths are those of contrasts of two of them, for classes that are equally frequent: with
#'   `curvature` c the K - 1 directions of classes have the second derivative 4 c / K. On eight data sets with classes
#'   of similar size plans are 0.85 to 1.15 times the median widths of fits; with rare classes, effects that are not
#'   typical or few records fits are up to 2.3 times as wide (`inst/experiments/inference-classes.R`).
#'
#' @param n Number of records, a whole number of at least 2.
#' @param numeric Number of numeric columns.
#' @param levels Numbers of levels of the factors, whole numbers of at least 2, such as `c(2, 4, 6)`.
#' @param formula,schema Instead of `numeric` and `levels`: a formula, and a data frame of which only names, types and
#'   declared levels are used, no values; it may have no rows.
#' @param data Instead of `n` and `schema`: the data frame or source of a fit, of which its number of rows is used, too.
#'   As in [dp_sosp()], `dp_plan(formula, data, eps = 1)` names the formula and the data first. Where several rows are
#'   of one person, their number is private: give `n`, the number of persons, and `schema`.
#' @param eps Epsilon, positive.
#' @param delta In (0, 0.1); `NULL` is 1/n^2, with fewer than four records 1e-6, as in [dp_sosp()].
#' @param method A method of [dp_sosp()] but `"warm-ridge"`, or `"auto"`, which takes `"newton-ridge"`, but `"newton"`
#'   without columns. For methods other than these two the excess loss is not known, and there is no `inference`. For
#'   numbers and counts it is `"newton-ridge"`.
#' @param inference `TRUE` if intervals are paid for as well, as by `dp_sosp(inference = "sandwich")`.
#' @param variance Variance of the mapped numeric columns, from 1e-6 to 1: one number, or one per column. 1/3 is uniform
#'   on the range; `NULL` is 0.1, typical of ranges that hold all values.
#' @param curvature Mean of p (1 - p) over records, p the probability of the second class (of several classes of one of
#'   two that are alike), in (0, 0.25\]: 0.25 is a fair
#'   coin; `NULL` is 0.14, which is typical.
#' @param shares Fractions of the levels of each factor, a list of vectors that each sum to 1, in the order of the
#'   factors; `NULL`: all levels are equally frequent.
#' @param effect Root mean square of the slopes of mapped columns, from 1e-6 to 1e6; `NULL` is 0.7.
#' @param want A goal: `list(width = 2)`, the median ratio of the intervals' widths, above 1; or `list(target = 0.01)`,
#'   positive. `NULL`: none.
#' @param classes With `loss = "multinomial"` the number of classes, at least 3; with a formula that of the levels of
#'   the response.
#' @param loss `"logistic"`; `"multinomial"`; `"squared"` or `"huber"`, for [loss_squared()] and [loss_huber()] with
#'   declared bounds and `effect` in residual standard deviations; or `"poisson"`, for [loss_poisson()], with `effect`
#'   on the scale of the logarithm. For these three there is no `curvature` and no `want$target`.
#' @param level For counts their mean, from 1e-6 to 1e9.
#' @param missing As in [dp_sosp()]: the level for gaps of each factor and, with `"indicate"`, the indicators of numeric
#'   columns are columns of the plan, too. `shares` then have the level of gaps last, `variance` the indicators.
#' @param x A plan.
#' @param object A plan.
#' @param digits Number of significant digits.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_plan`, a list with
#'   * `n`, `eps`, `delta`, `mu`, `method`, `d` (number of coefficients, of one class), `classes`, `radius`;
#'   * `noise`: \eqn{\nu}{nu};
#'   * `excess`: the expected excess loss, or `NA`; `sampling`: the part of it that remains without privacy;
#'     `level_only`: is `excess` a lower bound, because a fit of so few numbers or counts uses no columns?
#'     `constant`: the excess loss of the best constant prediction, `curvature` / 2 times the variance of the log-odds.
#'     In nats per record, for squared error in residual variances;
#'   * `target`: a gradient norm, on the scale of the fit's certificate (of mapped rows, or of its geometry, see
#'     [geometry_public()]); `trivial`: does every point meet it, so that nothing can be certified? `bound`: the number
#'     of records that the worst-case bound `required_rows("opt-ls")` asks for it;
#'   * `intervals`: a data frame with `column`, `group`, `ratio` and `resolved` (is the coefficient expected to be
#'     shown?), or `NULL`;
#'   * `want`: the goal, with `n` and `eps`: the smallest n at the given eps, and the smallest eps at the given n (`NA`:
#'     none up to n = 1e12 or eps = 100); or `NULL`.
#'
#'   `plot()` and `autoplot()` show the excess loss (where it is not known, the target), and with intervals their
#'   median ratio, against eps. The dashed line is the value without privacy, the dotted line the loss of a constant
#'   prediction.
#' @section Errors: `dpsosp_error_argument` for an argument that is missing or out of its range.
#' @seealso [dp_curve()] for what fits to public or simulated data reach; [required_rows()], the papers' bound;
#'   `vignette("planning")`.
#' @examples
#' plan <- dp_plan(20000, numeric = 4, levels = c(2, 4, 6), eps = 1, inference = TRUE,
#'                 want = list(width = 2))
#' plan
#' plan$intervals
#' dp_plan(cover ~ elevation + slope + wilderness, covertype, eps = 1, want = list(target = 0.002))
#' plot(plan)
#' @export
dp_plan <- function(n, numeric = 0, levels = NULL, formula = NULL, schema = NULL, eps, delta = NULL, method = "auto",
                    inference = FALSE, variance = NULL, curvature = NULL, shares = NULL, effect = NULL, want = NULL,
                    loss = c("logistic", "squared", "huber", "poisson", "multinomial"), level = NULL, data = NULL,
                    missing = c("drop", "fill", "indicate"), classes = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  if (!base::missing(n) && inherits(n, "formula")) {
    formula <- n
    data <- if (base::missing(numeric)) data else numeric
    numeric <- 0
  }
  if (!is.null(formula) && (!is.null(data) || base::missing(n) || inherits(n, "formula"))) {
    about <- plan_data(data %||% schema, call)
    n <- about$n
    schema <- about$schema
    if (base::missing(loss)) loss <- default_plan_loss(formula, schema, call)
  }
  require_given()
  inference <- check_flag(inference, "inference", call)
  loss <- of_plan_classes(plan_loss(loss, call), classes, formula, schema, call)
  residual <- has_residuals(loss)
  if (residual) check_residual_plan(loss$name, method, want, curvature, call)
  level <- check_plan_level(level, loss, call)
  plan <- list(
    n = check_count(n, "n", 2, call = call), eps = check_number(eps, "eps", 0, 1e3, call = call),
    delta = if (!is.null(delta)) check_delta(delta, call), method = NULL, inference = inference,
    loss = loss, event = 1 / sqrt(level),
    curvature = if (residual) 1 else check_number(curvature %||% typical$curvature, "curvature", 0, call = call),
    effect = check_number(effect %||% typical$effect, "effect", 1e-6, 1e6, open = FALSE, call = call) * sqrt(level)
  )
  if (!residual && plan$curvature > 0.25) {
    abort("argument", "`curvature` must be at most 0.25, that of a fair coin.", call = call)
  }
  gaps <- check_missing(missing, call)
  design <- if (is.null(formula)) plan_counts(numeric, levels, gaps, call) else
    plan_formula(formula, schema, gaps, call)
  plan$frame <- plan_frame(design, check_shares(shares, design$levels, call),
                           check_variance(variance %||% usual_variance(design$columns), design$columns, call))
  plan$groups <- plan_groups(design$columns, design$levels, !is.null(formula))
  plan$method <- plan_method(method, plan, call)
  new_plan(plan, check_want(want, inference, call))
}

plan_losses <- list(logistic = function() loss_logistic(), squared = function() loss_squared(c(-1, 1)),
                    huber = function() loss_huber(c(-1, 1)), poisson = function() loss_poisson(),
                    multinomial = function() loss_multinomial())

plan_loss <- function(loss, call) {
  plan_losses[[check_choice(loss, names(plan_losses), "loss", call)]]()
}

# By the declared levels of the response, or by their number.
of_plan_classes <- function(loss, classes, formula, schema, call) {
  if (!has_classes(loss)) {
    if (!is.null(classes)) abort("argument", "`classes` is for `loss = \"multinomial\"`.", call = call)
    return(loss)
  }
  levels <- if (length(formula) == 3L && is.name(formula[[2]])) levels(schema[[as.character(formula[[2]])]])
  classes <- if (is.null(levels)) check_count(classes, "classes", 3, call = call) else length(levels)
  loss_of(loss, list(kind = "classes", labels = seq_len(classes)))
}

# The mean count, whose square root is the standard deviation of a count: residuals are in units of this one.
check_plan_level <- function(level, loss, call) {
  counts <- has_counts(loss)
  if (is.null(level) && !counts) return(1)
  if (counts && !is.null(level)) return(check_number(level, "level", 1e-6, 1e9, open = FALSE, call = call))
  abort("argument", "`level` is ", if (counts) "missing: give the mean count, such as 2."
        else "the mean of counts, for `loss = \"poisson\"` only.", call = call)
}

check_residual_plan <- function(loss, method, want, curvature, call) {
  refuse <- function(...) abort("argument", "With `loss = \"", loss, "\"` ", ..., call = call)
  if (!isTRUE(method %in% c("auto", methods_with("unbounded")))) {
    refuse("`method` must be \"auto\" or ", quote_all(methods_with("unbounded")), ".")
  }
  if (!is.null(want$target)) refuse("there is no target: leave out `want$target`.")
  if (!is.null(curvature)) refuse("the curvature is one: leave out `curvature`.")
}

# ---- columns ----

plan_counts <- function(numeric, levels, missing, call) {
  numeric <- check_count(numeric, "numeric", 0, call = call)
  if (!is.null(levels) && (!is.numeric(levels) || !all(levels %in% 2:1e4))) {
    abort("argument", "`levels` must be whole numbers between 2 and 10,000, one per factor.", call = call)
  }
  names <- paste0("factor", seq_along(levels), recycle0 = TRUE)
  levels <- stats::setNames(lapply(levels, function(k) {
    c(paste0(".", seq_len(k)), if (fills_gaps(missing)) gap_label)
  }), names)
  numbers <- paste0("numeric", seq_len(numeric), recycle0 = TRUE)
  variables <- c(numbers, if (missing == "indicate") indicator_name(numbers), names)
  columns <- design_columns(variables, levels, variables, character())
  list(columns = columns, levels = levels, intercept = TRUE, radius = sqrt(length(variables) + 1))
}

# The number of records, and the columns without rows.
plan_data <- function(data, call) {
  if (is_source(data, "data", call)) return(list(n = data$n, schema = predictor_schema(data)))
  check_data(data, "data", call)
  list(n = nrow(data), schema = data[0L, , drop = FALSE])
}

# That of dp_sosp(), which asks for the loss of a numeric response.
default_plan_loss <- function(formula, schema, call) {
  y <- if (length(formula) == 3L && is.name(formula[[2]])) schema[[as.character(formula[[2]])]]
  if (is.null(y)) "logistic" else default_loss(unlabelled(y), deparse1(formula[[2]]), FALSE, FALSE, call)$name
}

plan_formula <- function(formula, schema, missing, call) {
  if (!is.data.frame(schema)) {
    abort("argument", "`formula` needs a `schema`: a data frame with the columns and their declared levels, not ",
          describe_column(schema), ".", call = call)
  }
  design <- design_template(formula, schema[0L, , drop = FALSE], call = call, frame = "data",
                            extras = list(missing = missing))
  refuse_smooths(design, "A plan", call)
}

# Lower limit for variances and fractions. Smaller ones would be lost in rounding, and such columns in any noise.
plan_least <- 1e-6

check_shares <- function(shares, levels, call) {
  if (is.null(shares)) shares <- lapply(levels, even_shares)
  good <- is.list(shares) && identical(lengths(shares, use.names = FALSE), lengths(levels, use.names = FALSE)) &&
    all(vapply(shares, function(s) is.numeric(s) && all(is.finite(s)) && all(s >= plan_least) &&
      abs(sum(s) - 1) < 1e-6, NA))
  if (!good) {
    abort("argument", "`shares` must be a list of one vector per factor, with a fraction of at least ", plan_least,
          " for each of its levels, which sum to 1.", call = call)
  }
  stats::setNames(Map(stats::setNames, shares, levels), names(levels))
}

# That of gaps is small (R/design-gaps.R).
plan_gaps <- 0.05
even_shares <- function(levels) {
  gaps <- levels %in% gap_label
  if (!any(gaps)) return(rep(1 / length(levels), length(levels)))
  ifelse(gaps, plan_gaps, (1 - plan_gaps) / sum(!gaps))
}

usual_variance <- function(columns) {
  gaps <- grepl(gap_label, columns$name[columns$kind == "numeric"], fixed = TRUE)
  if (any(gaps)) ifelse(gaps, plan_gaps * (1 - plan_gaps), typical$variance) else typical$variance
}

check_variance <- function(variance, columns, call) {
  p <- sum(columns$kind == "numeric")
  good <- is.numeric(variance) && length(variance) %in% c(1L, p) && all(is.finite(variance)) &&
    all(variance >= plan_least & variance <= 1)
  if (!good) {
    abort("argument", "`variance` must be one number from ", plan_least, " to 1, or one per numeric column.",
          call = call)
  }
  rep_len(as.double(variance), p)
}

# The groups for which print() shows one number each: numeric columns, and the levels of each factor.
plan_groups <- function(columns, levels, named) {
  size <- lengths(levels)[columns$variable]
  unname(ifelse(is.na(size), "numeric", paste0(if (named) columns$variable else "levels", " (of ", size, ")")))
}

plan_method <- function(method, plan, call) {
  method <- check_choice(method, c("auto", method_names()), "method", call)
  columns <- nrow(plan$frame$columns)
  if (has_classes(plan$loss)) return(plan_of_classes(method, plan, call))
  if (plan$frame$dim > auto_columns) {
    abort("argument", "Plans are for at most ", auto_columns, " coefficients, not ", plan$frame$dim, ".", call = call)
  }
  if (columns == 0L && has_residuals(plan$loss)) {
    abort("argument", "Without columns a fit by the ", plan$loss$name, " loss is a level alone, which has no plan.",
          call = call)
  }
  if (method == "auto") return(if (columns == 0L) "newton" else "newton-ridge")
  if (plan$inference && !method %in% plan_intervals_of) {
    abort("argument", "Plans of intervals are for the methods ", quote_all(plan_intervals_of), ": leave out `method`, ",
          "or `inference`.", call = call)
  }
  if (find_method(method)$nonconvex) {
    abort("argument", "The method \"", method, "\" is for problems that are not convex, which have no plan: leave out ",
          "`method`.", call = call)
  }
  if (columns == 0L && !is.null(find_method(method)$family$weighted)) {
    abort("argument", "The method \"", method, "\" needs columns beside the intercept.", call = call)
  }
  method
}

# That of which intervals are known.
plan_of_classes <- function(method, plan, call) {
  refuse <- function(...) abort("argument", "Plans for several classes ", ..., call = call)
  known <- methods_of_classes()
  if (!method %in% c("auto", known)) refuse("are for the method ", quote_all(known), ".")
  if (nrow(plan$frame$columns) == 0L) refuse("need columns beside the intercept.")
  d <- plan$frame$dim * loss_outputs(plan$loss)
  if (d > auto_columns) refuse("are for at most ", auto_columns, " coefficients of all classes, not ", d, ".")
  known
}

methods_of_classes <- function() {
  names(Filter(function(method) method$multi_output && !is.null(method$family$weighted), methods(FALSE)))
}

check_want <- function(want, inference, call) {
  if (is.null(want)) return(NULL)
  if (!is.list(want) || length(want) != 1L || !isTRUE(names(want) %in% c("width", "target"))) {
    abort("argument", "`want` must be `list(width = )` or `list(target = )`.", call = call)
  }
  if (!is.null(want$target)) return(list(target = check_number(want$target, "want$target", 0, call = call)))
  if (!inference) abort("argument", "`want = list(width = )` needs `inference = TRUE`.", call = call)
  list(width = check_number(want$width, "want$width", 1, call = call))
}

# ---- numbers ----

new_plan <- function(plan, want) {
  s <- plan_setting(plan)
  mu <- .Call(ffi_gdp_mu, s$asked$eps, s$delta)
  alpha <- plan_target(s)
  residual <- s$method$residuals
  second <- if (!residual) target_resolve(sosp(alpha = alpha), loss_bounds(s$loss)[["third"]])
  plan$want <- if (!is.null(want)) c(want, n = smallest_n(plan, want), eps = smallest_eps(plan, want))
  structure(class = "dp_plan", c(plan[c("n", "eps")], list(
    delta = s$delta, mu = mu, method = plan$method, d = s$dim, classes = s$outputs, radius = plan$frame$radius,
    noise = if (residual) planned_sd(s, "residual gradient", mu^2 / 2, clip = 1) else
      planned_sd(s, "gradient", mu^2 / 2, planned_oracle(s)), excess = plan_excess(s),
    sampling = sampling_excess(s) * max(1, s$outputs - 1),
    constant = if (s$outputs > 1L) NA_real_ else constant_excess(s), level_only = residual && is_level_only(s),
    target = alpha,
    trivial = alpha >= .Call(ffi_oracle_facts, s$oracle)$lipschitz,
    bound = if (residual || s$outputs > 1L) NA_real_ else
      required_rows("opt-ls", second$eps_g, second$eps_h, s$dim, s$asked$eps, s$delta),
    intervals = if (plan$inference) {
      data.frame(column = plan$frame$columns$name, group = plan$groups, ratio = interval_ratios(s),
                 resolved = expected_resolved(s))
    },
    want = plan$want, setting = plan
  )))
}

# Positive if the wish is not met; decreases with n and eps.
missed <- function(plan, want, s) {
  if (is.null(want$width)) return(log(plan_target(s) / want$target))
  log(stats::median(interval_ratios(s)) / want$width)
}

smallest_n <- function(plan, want) {
  ceiling(signif(smallest(function(n) missed(plan, want, plan_setting(plan, n = n)), 10, 1e12), 3))
}

smallest_eps <- function(plan, want) {
  signif(smallest(function(eps) missed(plan, want, plan_setting(plan, eps = eps)), 1e-3, 100), 3)
}

# ---- what is shown ----

# Plans are too optimistic above this multiple of the non-private width (inst/experiments/plan-check.R).
plan_most <- 6

#' @rdname dp_plan
#' @export
print.dp_plan <- function(x, digits = 2, ...) {
  check_dots()
  digits <- check_digits(digits)
  number <- function(value) format(value, digits = digits)
  cat(strwrap(paste0(
    "<dp_plan> ", x$method, ": n = ", count_text(x$n), ", eps = ", format(x$eps), ", delta = ",
    format(x$delta, digits = 3), " (mu ", format(x$mu, digits = 3), "), ", x$d,
    if (x$d == 1L) " coefficient" else " coefficients", if (x$classes > 1L) paste(" for each of", x$classes, "classes"),
    ", radius ", format(x$radius, digits = 3)
  ), 78, exdent = 2), sep = "\n")
  line <- function(name, ...) {
    text <- strwrap(paste0(...), width = 63)
    cat(paste0(formatC(c(name, character(length(text) - 1L)), width = -14), text), sep = "\n")
  }
  line("noise", number(x$noise), " in each coordinate of a gradient that takes the whole budget",
       if (is.na(x$target)) ", with residuals clipped at one standard deviation")
  if (!is.na(x$excess)) {
    line("excess loss", if (x$level_only) "at least " else "about ", number(x$excess), " (sampling alone ",
         number(x$sampling), ", a constant prediction ", number(x$constant), ")")
  }
  if (!is.na(x$target)) line("target", if (x$trivial) "nothing can be certified: every point meets ", number(x$target),
       if (!x$trivial) " can be certified",
       if (!is.na(x$bound)) paste0("; the worst-case bound of the papers is n = ", format(x$bound, digits = 2)))
  if (!is.null(x$intervals)) {
    line("intervals", ratio_text(x$intervals, digits), " times the non-private width", resolved_text(x$intervals))
  }
  if (!is.null(x$want)) line("goal", want_text(x))
  cat("Typical of such columns, not a bound; no data were used\n")
  invisible(x)
}

count_text <- function(n) format(n, big.mark = ",", scientific = FALSE)

# The median ratio of each group of columns.
ratio_text <- function(intervals, digits) {
  ratio <- vapply(split(intervals$ratio, factor(intervals$group, unique(intervals$group))), stats::median, 0)
  paste0(names(ratio), " ", ifelse(ratio > plan_most, "at least ", ""), format_each(ratio, digits), collapse = ", ")
}

resolved_text <- function(intervals) {
  shown <- sum(intervals$resolved)
  if (shown < nrow(intervals)) paste0("; ", shown, " of ", nrow(intervals), " slopes are expected to be resolved")
}

format_each <- function(x, digits) vapply(signif(x, digits), format, "")

want_text <- function(x) {
  wish <- if (is.null(x$want$width)) "target " else "median width "
  paste0(wish, format(x$want$width %||% x$want$target), " from ",
         if (is.na(x$want$n)) "no n up to 1e12" else paste("n =", count_text(x$want$n)), ", or at this n from ",
         if (is.na(x$want$eps)) "no eps up to 100" else paste("eps =", format(x$want$eps)))
}
