#' Loss against epsilon
#'
#' Fits models over a grid of eps, methods and repetitions, and evaluates each on held-out records: what would another
#' eps have reached? On public or simulated data this is free; on private data every point is paid for.
#'
#' # Public data
#' With `public = TRUE` fits and evaluations cost nothing, because the data need no protection: they must be public, or
#' simulated. The numbers are exact; bands show the repetitions, whose noise differs. Lines show the best constant
#' prediction and, unless there are several classes, a fit without privacy: [stats::glm()] with the binomial family, for
#' numbers the Gaussian and for counts the Poisson family.
#'
#' # Private data
#' With `public = FALSE` everything is paid for out of `budget`. There is one fit per point and no line (the two lines
#' would be further releases). Bands are two standard errors of the evaluation ([dp_evaluate()]) to both sides: they
#' do not show the noise of the fit. Fits at eps_i cost \eqn{\mu^2 = \sum_i \mu_i^2}{mu^2 = sum mu_i^2} together, where
#' \eqn{\mu_i} belongs to eps_i and `delta` ([dp_convert()]). The evaluations use other records, so they compose with
#' the fits in parallel: each of m evaluations gets \eqn{\mu / \sqrt m}{mu / sqrt(m)}, and nothing is added. The total
#' is printed before anything is charged, and refused where `budget` has less. Choosing eps by such a curve is
#' post-processing. The price is high: four points from eps = 0.1 to 1 cost eps = 1.2, six points from 0.1 to 5 cost
#' 5.6; [dp_plan()] costs nothing.
#'
#' # Held-out records
#' The record in row i is held out where floor(i `holdout`) > floor((i - 1) `holdout`), by default every fifth one: the
#' row number, which is public, decides, never a value. With `id` the i-th of the sorted ids takes the row's place. With
#' `newdata` all of `data` are used for fitting.
#'
#' @param formula As in [dp_sosp()].
#' @param data A data frame.
#' @param eps Distinct positive numbers.
#' @param methods Names of methods, see [dp_sosp()]; on private data those with Gaussian releases on the full data. On
#'   public data also your own: a function, or a list of names and of functions with names, such as
#'   `list("auto", mine = f)`. A function takes an oracle ([dp_oracle()]) with the budget of its point and returns
#'   coefficients `w`. `bounds` must then declare all ranges; of the other arguments in `...` it sees `loss`, `radius`
#'   and `neighbours`.
#' @param reps Number of repetitions of each point, at least 1; on private data 1.
#' @param metric A metric of [dp_evaluate()] for the response and the loss, but not `"table"`. `NULL` is `"log_loss"`,
#'   of a loss without probabilities `"accuracy"`, of numbers `"squared_error"` and of counts `"deviance"`.
#' @param newdata Other records to evaluate on, instead of a part of `data`; in private use from other persons.
#' @param public Are the data public or simulated?
#' @param budget From [dp_budget()]: pays for private data.
#' @param id,records As in [dp_sosp()]: persons are then fitted or held out, each with all their records, by the place
#'   of the id among all ids in their order; a person's score is the mean of those of the person's records.
#' @param label For a `budget` with a `store`: a text that it keeps, see [budget-stores].
#' @param holdout Fraction of the rows that are held out, between 0 and 1.
#' @param cores Number of processes that fit at the same time. More than 1 needs the package mirai and public data.
#' @param delta Delta of each fit; `NULL`: that of `budget`, else 1/n^2, n the number of records that are fitted.
#' @param clip Public bound of probabilities in the log-loss, see [dp_evaluate()].
#' @param noise,progress,... As in [dp_sosp()]; in `...` for example `bounds`, `loss`, `penalty` or `neighbours`. With
#'   reproducible noise the points do not depend on `cores`.
#' @param x,object A curve.
#' @param digits Number of significant digits.
#' @param row.names,optional Not used.
#' @return An object of class `dp_curve`, a list with
#'   * `points`: a data frame with a row per fit: `method` as requested, `chosen` (the method that `"auto"` took),
#'     `eps`, `rep`, `value` of the metric, a mean over held-out records, and `se`, the standard error of a private
#'     evaluation (else `NA`);
#'   * `lines`: the metric of the constant prediction and of the non-private fit (public data only);
#'   * `metric`, `public`, `noise`, `n` and `tested` (numbers of records or, with `id`, of persons), `delta`;
#'   * `cost` (private data only): `mu`, `rho` and `eps` of everything together, and `evaluations`, the rho of the
#'     evaluations alone, on the held-out records.
#'
#'   `as.data.frame()` gives `points`. `plot()` and `autoplot()` show them against eps, on a logarithmic axis: medians
#'   and bands from the 10 to the 90 percent quantile of the repetitions, or two standard errors.
#' @section Errors: `dpsosp_error_argument`, before anything is charged; on private data also where the total exceeds
#'   what `budget` has left.
#' @references Dong, Roth and Su (2022), Gaussian differential privacy, for the composition; for fits and evaluations on
#'   different records see `vignette("proofs")`.
#' @seealso [dp_plan()], [dp_evaluate()], `vignette("planning")`.
#' @examples
#' \donttest{
#' # Covertype is public
#' ranges <- list(elevation = c(1850, 3900), slope = c(0, 66))
#' curve <- dp_curve(cover ~ elevation + slope, covertype[1:5000, ], eps = c(0.1, 0.5, 2), reps = 3,
#'                   bounds = ranges, public = TRUE)
#' curve
#' plot(curve)
#' }
#' # The same as if the data were private
#' dp_curve(cover ~ elevation, covertype[1:5000, ], eps = c(0.5, 1),
#'          bounds = list(elevation = c(1850, 3900)), budget = dp_budget(eps = 2, delta = 1e-8))
#' @export
dp_curve <- function(formula, data, eps = c(0.1, 0.2, 0.5, 1, 2, 5), methods = "auto", reps = 5, metric = NULL,
                     newdata = NULL, public = FALSE, budget = NULL, holdout = 0.2, cores = 1, delta = NULL,
                     clip = 0.01, noise = c("secure", "reproducible"), progress = interactive(), label = NULL,
                     id = NULL, records = 1000, ...) {
  require_given()
  call <- scrub_call(match.call(), quote(dp_curve))
  check_data(data, "data", call)
  if (!is.null(newdata)) check_data(newdata, "newdata", call)
  public <- check_flag(public, "public", call)
  of <- frame_persons(substitute(id), records, data, call)[c("name", "most")]
  parts <- split_units(data, of$name, function(n) {
    if (is.null(newdata)) held_out(n, check_share(holdout, "holdout", call)) else logical(n)
  }, call)
  curve <- list(
    formula = formula, train = parts$rest, test = newdata %||% parts$out, persons = of, n = parts$n[1],
    own = own_methods(methods, public, of, call),
    points = curve_grid(eps, methods, if (public) check_count(reps, "reps", call = call) else 1L, call),
    clip = check_number(clip, "clip", 1e-6, 0.4, open = FALSE, call = call), public = public, budget = budget,
    asked = list(label = check_label(label, call)),
    cores = check_count(cores, "cores", call = call), settings = curve_settings(list(...), call),
    noise = check_noise(noise, call), progress = check_flag(progress, "progress", call), call = call
  )
  curve$judges <- curve_persons(curve, curve$test)
  curve$tested <- curve$judges$n %||% nrow(curve$test)
  if (curve$n == 0L || curve$tested == 0L) {
    abort("argument", "There must be records to fit and records to evaluate on.", call = call)
  }
  if (!public && !missing(reps) && !identical(as.double(reps), 1)) {
    abort("argument", "On private data `reps` is 1: each repetition is paid for. Simulate, or leave it out.",
          call = call)
  }
  curve$delta <- if (is.null(delta)) budget$delta %||% (1 / curve$n^2) else check_delta(delta, call)
  curve$metric <- curve_metric(metric, curve)
  new_curve(if (public) public_points(curve) else private_points(curve))
}

curve_metric <- function(metric, curve) {
  design <- curve_design(curve)
  y <- design_response(design, curve$train, call = curve$call)
  loss <- check_loss(curve$settings$loss, design$intercept, curve$call, y, design$response)
  known <- setdiff(fit_metrics(loss), "table")
  if (is.null(metric)) {
    metric <- if (has_counts(loss)) "deviance" else if (has_bounded_response(loss)) "squared_error" else known[1]
  }
  check_choice(metric, known, "metric", curve$call)
}

curve_design <- function(curve) {
  train <- curve$train[setdiff(names(curve$train), curve$persons$name)]
  design <- design_template(curve$formula, train, curve$settings$bounds %||% "private", call = curve$call)
  refuse_smooths(design, "A curve", curve$call)
}

curve_grid <- function(eps, methods, reps, call) {
  if (!is.numeric(eps) || length(eps) == 0L || !all(is.finite(eps)) || any(eps <= 0) || anyDuplicated(eps) > 0L) {
    abort("argument", "`eps` must be different positive numbers, not ", describe(eps), ".", call = call)
  }
  grid <- expand.grid(rep = seq_len(reps), eps = as.double(sort(eps)), method = method_labels(methods, call),
                      stringsAsFactors = FALSE)
  grid[c("method", "eps", "rep")]
}

# Arguments of dp_sosp() that are the same for all points.
curve_settings <- function(dots, call) {
  taken <- c("loss", "penalty", "bounds", "radius", "target", "neighbours", "start", "storage", "geometry", "control",
             "missing")
  given <- if (is.null(names(dots))) character(length(dots)) else names(dots)
  unknown <- setdiff(given, taken)
  if (length(unknown) > 0L) {
    hint <- argument_hint(unknown[1], c(names(formals(dp_curve)), taken))
    if (!nzchar(hint)) hint <- paste0(" Of `dp_sosp()`'s there are ", quote_names(taken), ".")
    abort("argument", "Unknown argument: `", unknown[1], "`.", hint, call = call)
  }
  dots
}

# ---- points ----

# The messages and warnings of a fit would be repeated for each point.
curve_fit <- function(curve, method, eps, budget = NULL) {
  if (method %in% names(curve$own)) {
    return(suppressWarnings(suppressMessages(own_fit(curve, method, eps)), "dpsosp_warning"))
  }
  suppressWarnings(suppressMessages(do.call(curve_fitter(curve), c(
    list(curve$formula, curve$train, eps = eps, delta = curve$delta, method = method, budget = budget,
         noise = curve$noise, progress = FALSE), curve$settings
  ), quote = TRUE)), "dpsosp_warning")
}

# dp_sosp() takes the name of an id as it is written, which do.call() would quote.
curve_fitter <- function(curve) {
  of <- curve$persons
  if (is.null(of)) return(dp_sosp.formula)
  function(...) eval(bquote(dp_sosp.formula(..., id = .(of$name), records = .(of$most))))
}

# The persons of a part of the data, or NULL.
curve_persons <- function(curve, data) {
  if (!is.null(curve$persons) && nrow(data) > 0L) {
    frame_persons(curve$persons$name, curve$persons$most, data, curve$call)
  }
}

public_points <- function(curve) {
  if (!is.null(curve$budget)) {
    abort("argument", "`budget` is for private data: public data cost nothing.", call = curve$call)
  }
  seeds <- if (curve$noise == "reproducible") sample.int(.Machine$integer.max, nrow(curve$points))
  found <- if (curve$cores == 1L) in_turn(curve, seeds) else in_parallel(curve, seeds)
  curve$points$chosen <- vapply(found, `[[`, "", "chosen")
  curve$points$value <- vapply(found, `[[`, 0, "value")
  curve$points$se <- NA_real_
  curve$lines <- curve_lines(curve, found[[1]]$fit, found[[1]]$level)
  curve
}

# seeds: for reproducible noise, or NULL. Other processes may use another random number generator.
public_point <- function(i, curve, seeds) {
  kind <- RNGkind()
  on.exit(do.call(RNGkind, as.list(kind)))
  if (!is.null(seeds)) set.seed(seeds[i], "Mersenne-Twister", "Inversion", "Rejection")
  fit <- curve_fit(curve, curve$points$method[i], curve$points$eps[i])
  records <- held_out_records(fit, judged(curve), NULL, curve$call)
  list(chosen = fit$method, value = exact_metric(curve, records, fit), fit = fit[c("response", "level", "loss")],
       level = records$level)
}

# The held-out records whose scores count.
judged <- function(curve) persons_frame(curve$test, curve$judges)

# The metric as an evaluation would compute it without noise.
exact_metric <- function(curve, records, fit) {
  columns <- score_columns(fit, records, curve$metric, curve$clip)
  means <- vapply(columns, function(score) {
    score$lower + score$width * mean(person_means(score$values, curve$judges))
  }, 0)
  estimates <- with_explained(data.frame(metric = names(columns), estimate = means, se = 0, sampling = NA_real_))
  estimates$estimate[estimates$metric == curve$metric]
}

in_turn <- function(curve, seeds) {
  bar <- progress_bar(curve$progress, "dp_curve")
  lapply(seq_len(nrow(curve$points)), function(i) {
    point <- public_point(i, curve, seeds)
    if (!is.null(bar)) bar(i, nrow(curve$points))
    point
  })
}

# Each process receives its own copy of the data.
in_parallel <- function(curve, seeds) {
  if (!requireNamespace("mirai", quietly = TRUE)) {
    abort("argument", "`cores` above 1 needs the package mirai: install it, or leave `cores` out.", call = curve$call)
  }
  bar <- progress_bar(curve$progress, "dp_curve")
  first <- public_point(1L, curve, seeds) # computed here, so that wrong arguments raise their own error
  start_processes(curve$cores)
  on.exit(mirai::daemons(0, .compute = "dpsosp"))
  tasks <- mirai::mirai_map(seq_len(nrow(curve$points))[-1], public_point, .args = list(curve = curve, seeds = seeds),
                            .compute = "dpsosp")
  others <- lapply(seq_along(tasks), function(i) {
    point <- mirai::call_mirai(tasks[[i]])$data
    if (mirai::is_error_value(point)) abort("argument", as.character(point), call = curve$call)
    if (!is.null(bar)) bar(i, length(tasks))
    point
  })
  c(list(first), others)
}

# The processes must find packages where this one does.
start_processes <- function(cores) {
  old <- Sys.getenv("R_LIBS", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("R_LIBS") else Sys.setenv(R_LIBS = old))
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  mirai::daemons(cores, .compute = "dpsosp")
}

# The metric of the best constant prediction, and of a fit without privacy to the same records. fit, level: what scores
# need of a private fit.
curve_lines <- function(curve, fit, level) {
  design <- curve_design(curve)
  learners <- curve_persons(curve, curve$train)
  curve$share <- if (!is.null(learners)) 1 / tabulate(learners$code)[learners$code]
  curve$train <- persons_frame(curve$train, learners)
  curve$test <- judged(curve)
  answers <- function(data) design_response(design, data, call = curve$call)
  metric <- function(link) {
    exact_metric(curve, c(scored_records(fit$response, link, answers(curve$test)), list(level = level)), fit)
  }
  train <- response_code(fit$response, answers(curve$train))
  if (has_classes(fit$loss)) {
    k <- length(fit$response$labels)
    share <- curve$share %||% rep(1, length(train))
    counts <- vapply(seq_len(k), function(i) sum(share[which(round(train * k) == i)]), 0)
    return(c(constant = metric(matrix(log(counts / sum(counts)), nrow(curve$test), length(counts), byrow = TRUE))))
  }
  exact <- exact_family(fit, train)
  of_terms <- function(terms) metric(exact_link(curve, c(terms, sprintf("offset(%s)", names(design$offset))), exact))
  of_columns <- c(as.integer(design$intercept), attr(design$terms, "term.labels"))
  c(constant = of_terms("1"), "non-private" = of_terms(of_columns))
}

# The response of a fit without privacy, and its family.
exact_family <- function(fit, code) {
  if (!is_numeric_response(fit$response)) return(list(y = code > 0, family = stats::binomial()))
  y <- fit$response$centre + fit$response$half * code
  list(y = y, family = if (has_counts(fit$loss)) stats::poisson() else stats::gaussian())
}

# Its linear predictors of the held-out records.
exact_link <- function(curve, terms, exact) {
  name <- ".dp_curve_response"
  curve$train[[name]] <- exact$y
  formula <- stats::formula(paste(name, "~", paste(terms, collapse = " + ")), env = asNamespace("stats"))
  fit <- suppressWarnings(do.call(stats::glm, list(formula, exact$family, curve$train, weights = curve$share)))
  test <- curve$test
  for (v in intersect(names(fit$xlevels), names(test))) test[[v]] <- factor(test[[v]], fit$xlevels[[v]])
  suppressWarnings(stats::predict(fit, test))
}

# ---- private points ----

# Fits first, then evaluates. Evaluations are charged to a ledger of their own, with as much as the fits were charged: a
# record is either fitted or held out, so fits and evaluations together cost as much as the fits (proofs:
# disjoint-rows).
private_points <- function(curve) {
  check_private(curve)
  points <- curve$points
  m <- nrow(points)
  curve$cost <- curve_cost(sum(.Call(ffi_gdp_mu, points$eps, rep(curve$delta, m))^2) / 2, curve$delta)
  refuse_cost(curve)
  rehearse(curve)
  warn_delta(max(curve$delta, curve$budget$delta), curve$n, curve$call)
  inform("curve", "Fits and evaluations of ", m, if (m == 1L) " point cost " else " points cost ",
         amount_text(curve$cost), " together")
  if (is_stored(curve$budget)) curve$budget <- reserve_curve(curve)
  bar <- progress_bar(curve$progress, "dp_curve") %||% function(done, total) NULL
  left <- budget_state(curve$budget)$left
  fits <- lapply(seq_len(m), function(i) {
    bar(i - 1L, 2L * m)
    curve_fit(curve, points$method[i], points$eps[i], curve$budget)
  })
  held <- dp_budget(mu = sqrt(2 * (left - budget_state(curve$budget)$left)) * (1 - 1e-9)) # rounded down
  found <- lapply(seq_len(m), function(i) {
    bar(m + i, 2L * m)
    curve_evaluation(curve, fits[[i]], curve$test, held, m)
  })
  curve$cost$evaluations <- sum(dp_ledger(held)$rho)
  curve$points$chosen <- vapply(fits, `[[`, "", "method")
  curve$points$value <- vapply(found, `[[`, 0, "estimate")
  curve$points$se <- vapply(found, `[[`, 0, "se")
  curve
}

# An in-memory budget of what the points cost. They are charged one by one, and their sum may be rounded up.
reserve_curve <- function(curve) {
  neighbours <- curve$settings$neighbours %||% "replace-one"
  check_relation(curve$budget, neighbours, curve$call)
  claim <- c(curve[c("asked", "delta", "call")], list(n = curve$n, neighbours = neighbours),
             list(persons = curve$persons))
  reserve_part(curve$budget, curve$cost$rho * (1 + 1e-12), claim, "dp_curve")
}

# One of m evaluations, which share the budget equally.
curve_evaluation <- function(curve, fit, records, budget, m) {
  if (lacks_coefficients(fit)) return(data.frame(metric = curve$metric, estimate = NA_real_, se = NA_real_))
  eps <- .Call(ffi_gdp_epsilon, budget$mu / sqrt(m), curve$delta)
  found <- dp_evaluate(fit, records, eps = eps, delta = curve$delta, budget = budget, metrics = curve$metric,
                       clip = curve$clip, noise = curve$noise)$estimates
  found[found$metric == curve$metric, ]
}

# Runs each method once on null records, so that arguments that a method refuses are found before anything is charged.
rehearse <- function(curve) {
  nobody <- function(data) {
    data <- data[rep(NA_integer_, 20), , drop = FALSE]
    if (!is.null(curve$persons)) data[[curve$persons$name]] <- seq_len(20)
    data
  }
  test <- nobody(curve$test)
  curve$train <- nobody(curve$train)
  curve$noise <- "secure"
  for (method in unique(curve$points$method)) {
    budget <- dp_budget(mu = 1)
    curve_evaluation(curve, curve_fit(curve, method, 0.5, budget), test, dp_budget(mu = 1), 1)
  }
}

check_private <- function(curve) {
  if (is.null(curve$budget)) {
    abort("argument", "`budget` is missing: private data are paid for. Give one from `dp_budget()`; or, where the ",
          "data are public or simulated, `public = TRUE`.", call = curve$call)
  }
  check_budget(curve$budget, "budget", curve$call)
  if (curve$cores > 1L) {
    abort("argument", "`cores` is 1 on private data: a budget cannot be used in other processes.", call = curve$call)
  }
  for (method in setdiff(unique(curve$points$method), "auto")) check_gaussian(find_method(method), curve$call)
}

check_gaussian <- function(method, call) {
  family <- method$family
  wanted <- family$accountant(list(method = method, control = method$default))
  if (!method$batch && is.null(method$open) && wanted == "auto") return(invisible())
  abort("argument", "The method \"", method$name, "\" needs a budget of its own: on private data `methods` must ",
        "make Gaussian releases on the full data.", call = call)
}

curve_cost <- function(rho, delta) {
  list(rho = rho, mu = sqrt(2 * rho), eps = .Call(ffi_gdp_epsilon, sqrt(2 * rho), delta), delta = delta)
}

# The error depends on public facts only: the grid, and what was charged before.
refuse_cost <- function(curve) {
  state <- budget_state(curve$budget)
  if (!state$accountant %in% c("auto", "gdp")) {
    abort("argument", "`budget` must count Gaussian differential privacy: give `eps` and `delta`, or `mu`, to ",
          "`dp_budget()`.", call = curve$call)
  }
  left <- state$left
  if (curve$cost$rho <= left * (1 + 1e-9)) return(invisible())
  abort("argument", "The ", nrow(curve$points), " points cost ", amount_text(curve$cost), " together; `budget` has ",
        amount_text(curve_cost(left, curve$delta)), " left. Take fewer or smaller `eps`; `dp_plan()` costs nothing.",
        call = curve$call)
}

amount_text <- function(cost) {
  paste0("mu = ", format(cost$mu, digits = 3), " (eps = ", format(cost$eps, digits = 3), " at delta = ",
         format(cost$delta, digits = 3), ")")
}

new_curve <- function(curve) {
  points <- curve$points[c("method", "chosen", "eps", "rep", "value", "se")]
  structure(class = "dp_curve", list(
    points = points, lines = curve$lines, metric = curve$metric, public = curve$public, n = curve$n,
    tested = curve$tested, persons = curve$persons["most"], delta = curve$delta, cost = curve$cost, noise = curve$noise
  ))
}
