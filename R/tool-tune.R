#' Choose among settings, privately
#'
#' Fits several candidates, scores them on held-out records and returns the fit that does best, all for one budget.
#' Which candidate does best is information about the data, so the choice costs budget: each fit gets less than the
#' whole budget, and fewer records. We recommend the default of [dp_sosp()] (`method = "auto"`), which chooses by public
#' facts at no cost, unless there is reason to expect a candidate to be much better.
#'
#' # How it is paid for
#' Rows are held out by their number, every fifth by default (with `id` persons by their ids). A record is in one of the
#' two parts, so fits and scores do not add up: each part may spend the whole budget. With k candidates and `strategy`
#' * `"split"`: all are fitted, each with \eqn{1/\sqrt k} of the budget in the unit mu (noise \eqn{\sqrt k} times as
#'   large). The exponential mechanism chooses, with the whole of `eps`, by the mean scores of the h held-out records:
#'   with probability 0.95 the chosen score is within \eqn{2 B \log(k/0.05) / (h\,eps)}{2 B log(k / 0.05) / (h eps)} of
#'   the best one, B the width of the score's range (half of that under `"zero-out"`);
#' * `"poisson"`, `"geometric"`: candidates drawn at random are fitted and scored with noise, a random number of times,
#'   and the best run is released, with its score. The number of runs, their candidates and the results of the
#'   others stay secret, so the cost grows slowly with k (Papernot and Steinke 2022; `vignette("proofs")` has the
#'   bounds, which are exact where theirs are general). The Poisson number has the mean \eqn{k \log 10}, rounded up, and
#'   is never zero, the geometric one has the mean \eqn{9 (k - 1)}. Each candidate is then run with probability 0.9;
#'   these many fits take time.
#'
#' `"split"` makes its choice with the least noise, and does best for up to eight candidates
#' (`inst/experiments/evaluate.R`). For many more candidates the random strategies leave more budget to each fit.
#'
#' mu of a fit divided by that of the whole budget (eps = 1, n = 50,000, delta = 1/n^2); the noise is divided by it:
#'
#' | k | 2 | 3 | 5 | 10 | 20 | 50 |
#' |---|---|---|---|---|---|---|
#' | `"split"` | 0.71 | 0.58 | 0.45 | 0.32 | 0.22 | 0.14 |
#' | `"poisson"` | 0.73 | 0.67 | 0.56 | 0.41 | 0.28 | 0.18 |
#' | `"geometric"` | 0.59 | 0.55 | 0.52 | 0.49 | 0.46 | 0.44 |
#'
#' The running time of the random strategies is proportional to the number of runs and reveals it: where the recipients
#' of the result can measure the time, use `"split"`, the default.
#'
#' @param candidates A named list of two to 1000 candidates, each a list of arguments of [dp_sosp()] for formulas, such
#'   as `list(method = "newton", loss = loss_logistic(0.6))`; another `formula` is possible, too. `list()` is the
#'   default fit. Methods must release with Gaussian noise on the full data: methods on batches, `"objpert"`, and
#'   searches with a sparse vector or the exponential mechanism are refused.
#' @param formula,data As in [dp_sosp()]; `data` is a data frame.
#' @param eps,delta The privacy budget of everything together, `eps > 0`, `0 < delta < 0.1`; `delta = NULL` is 1/n^2,
#'   and a message says so.
#' @param score A metric of [dp_evaluate()] that all candidates have: `"log_loss"`, `"brier"`, `"accuracy"`,
#'   `"absolute_error"`, `"squared_error"` or, for counts, `"deviance"`. `NULL` is the first of log-loss, accuracy,
#'   deviance and squared error that all have.
#' @param holdout Fraction of the records that is held out, from 0.01 to 0.9.
#' @param strategy `"split"`, `"poisson"` or `"geometric"`.
#' @param clip,neighbours,noise As in [dp_evaluate()] and [dp_sosp()].
#' @param id,records As in [dp_sosp()]: persons are then fitted or held out, each with all their records, by the place
#'   of the id among all ids in their order, and a person's score is the mean of those of the person's records.
#' @param budget,label `NULL`, or a budget with a `store`, whose part `other` pays `eps` and `delta`, with a text that
#'   it keeps: [budget-stores].
#' @param x What `dp_tune()` returns.
#' @param digits Number of significant digits that are printed.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_tune`, a list with
#'   * `fit`: the chosen fit, whose `privacy` is that of everything together; its intervals, if any, do not account for
#'     the choice;
#'   * `chosen`: the candidate's name; `candidates`: all names;
#'   * `strategy`; for a random number of runs also `plan`: its distribution, mean, Renyi order, mu of a run;
#'   * `score`: `metric`, and, where runs are scored with noise, the chosen run's `estimate`, which is biased because it
#'     is the best of several, with the `se` of a single one; else `NA`;
#'   * `resolution`: in units of the score, by how much the chosen candidate may be worse than the best: with `"split"`
#'     the bound above, else two standard errors of a difference of scores;
#'   * `choice`: with `"split"` the ledger of the choice among held-out records, else `NULL`;
#'   * `cost`: mu of a fit divided by that of the whole budget; `n`: numbers of records, or persons, for training and
#'     held out; `privacy`: that of the fit.
#' @section Errors: `dpsosp_error_argument`, and other classes of [dp_sosp()], for the arguments of any candidate,
#'   before anything is charged; `dpsosp_error_tune` when a run fails afterwards, whichever run it was.
#' @references Papernot and Steinke (2022), Hyperparameter tuning with Renyi differential privacy, theorems 2 and 6.
#'
#'   McSherry and Talwar (2007), Mechanism design via differential privacy.
#'
#'   Liu and Talwar (2019), Private selection from private candidates: the first work on this problem.
#' @seealso `vignette("evaluation")`.
#' @examples
#' candidates <- list(default = list(), newton = list(method = "newton"))
#' tuned <- dp_tune(candidates, cover ~ elevation, covertype[1:6000, ], eps = 1, delta = 1e-6)
#' tuned
#' coef(tuned$fit)
#' @export
dp_tune <- function(candidates, formula, data, eps, delta = NULL, score = NULL, holdout = 0.2,
                    strategy = c("split", "poisson", "geometric"), clip = 0.01, neighbours = "replace-one",
                    noise = c("secure", "reproducible"), budget = NULL, label = NULL, id = NULL, records = 1000, ...) {
  call <- scrub_call(match.call(), quote(dp_tune))
  refuse_fit_arguments(...names(), call)
  check_dots(call)
  if (missing(candidates) || missing(formula) || missing(data) || missing(eps)) {
    abort("argument", "`candidates`, `formula`, `data` and `eps` are needed.", call = call)
  }
  check_data(data, "data", call)
  persons <- frame_persons(substitute(id), records, data, call)
  tune <- list(
    asked = check_promise(list(eps = eps, delta = delta, budget = check_tuned(budget, call), label = label), call),
    candidates = tune_candidates(candidates, formula, call),
    n = persons$n %||% nrow(data), persons = persons[c("name", "most")],
    strategy = check_choice(strategy, c("split", selection_laws), "strategy", call),
    clip = check_number(clip, "clip", 1e-6, 0.4, open = FALSE, call = call),
    neighbours = check_neighbours(neighbours, call), noise = check_noise(noise, call), call = call
  )
  holdout <- check_number(holdout, "holdout", 0.01, 0.9, open = FALSE, call = call)
  parts <- split_units(data, persons$name, function(n) {
    held_out_units(n, holdout, call, if (is.null(persons)) "rows" else "persons")
  }, call)
  tune[c("training", "held_out", "sizes")] <- list(parts$rest, parts$out, parts$n)
  tune$judges <- tune_persons(tune, tune$held_out)
  tune$metric <- tune_score(score, tune)
  tune <- told_delta(claim_delta(c(tune, eps = tune$asked$eps)))
  for (name in names(tune$candidates)) check_candidate(name, tune)
  tune$mu <- .Call(ffi_gdp_mu, tune$eps, tune$delta)
  tune$plan <- choose_plan(tune)
  tune$receipt <- if (!is.null(budget)) reserve_other(tune, as.character(call[[1]]))$receipt
  new_tune(tune, if (is.null(tune$plan)) tune_split(tune) else tune_random(tune))
}

# Its fits and its choice have no common unit, so only the part `other` of a store can pay for both.
check_tuned <- function(budget, call) {
  if (is.null(budget) || is_stored(budget)) return(budget)
  abort("argument", "`budget` must be one with a `store`; otherwise give `eps` and `delta` alone.", call = call)
}

# The persons of a part of the data, or NULL.
tune_persons <- function(tune, data) {
  if (!is.null(tune$persons)) frame_persons(tune$persons$name, tune$persons$most, data, tune$call)
}

# Arguments of fits are those of the candidates.
refuse_fit_arguments <- function(names, call) {
  name <- intersect(names, names(formals(dp_sosp.formula)))
  if (length(name) == 0L) return(invisible())
  abort("argument", "`", name[1], "` is an argument of `dp_sosp()`: give it in each of `candidates`, as in ",
        "`list(a = list(", name[1], " = ...), b = ...)`.", call = call)
}

# ---- arguments ----

# Returns the lists of arguments, each with its formula.
tune_candidates <- function(candidates, formula, call) {
  names <- names(candidates)
  good <- is.list(candidates) && length(candidates) %in% 2:1000 && !is.null(names) && all(nzchar(names)) &&
    !anyNA(names) && !anyDuplicated(names)
  if (!good) {
    abort("argument", "`candidates` must be a list of 2 to 1000 candidates with different names, not ",
          describe(candidates), ".", call = call)
  }
  for (name in names) check_settings(candidates[[name]], name, call)
  candidates <- lapply(candidates, function(settings) {
    c(if (is.null(settings$formula)) list(formula = formula), settings)
  })
  good <- vapply(candidates, function(settings) inherits(settings$formula, "formula"), NA)
  if (!all(good)) {
    abort("argument", "`formula`, of all or of a candidate, must be a formula, not ",
          describe(candidates[[which(!good)[1]]]$formula), ".", call = call)
  }
  candidates
}

# Arguments that are the same for all candidates cannot be settings of one.
common <- c("data", "eps", "delta", "budget", "neighbours", "noise", "progress", "model", "certificate", "id",
            "records", "label", "...")

check_settings <- function(settings, name, call) {
  known <- setdiff(names(formals(dp_sosp.formula)), common)
  if (!is.list(settings) || is.object(settings) || (length(settings) > 0L && is.null(names(settings)))) {
    abort("argument", "The candidate \"", name, "\" must be a list of named arguments of `dp_sosp()`, not ",
          describe(settings), ".", call = call)
  }
  wrong <- c(setdiff(names(settings), known), names(settings)[duplicated(names(settings))])
  if (length(wrong) > 0L) {
    abort("argument", "The candidate \"", name, "\" sets ", quote_all(wrong), ": a candidate may set each of these ",
          "once: ", quote_all(known), ".", call = call)
  }
  if (any(vapply(settings[names(settings) != "formula"], is.language, NA))) {
    abort("argument", "The candidate \"", name, "\" must have values as settings, not calls or names.", call = call)
  }
}

held_out_units <- function(n, holdout, call, what = "rows") {
  units <- held_out(n, holdout)
  if (any(units) && !all(units)) return(units)
  abort("argument", "`data` has too few ", what, ", ", n, ": none would be held out, or none would train.", call = call)
}

default_scores <- c("log_loss", "accuracy", "deviance", "squared_error")

tune_score <- function(score, tune) {
  of_all <- lapply(tune$candidates, function(settings) {
    setdiff(fit_metrics(check_loss(settings$loss %||% "logistic", TRUE, tune$call)), c("table", names(means_of)))
  })
  if (is.null(score)) score <- intersect(default_scores, Reduce(intersect, of_all))[1]
  check_choice(score, unique(unlist(of_all)), "score", tune$call)
  without <- names(of_all)[!vapply(of_all, function(metrics) score %in% metrics, NA)]
  if (length(without) == 0L) return(score)
  abort("argument", "`score` = \"", score, "\" is no metric of the candidates ", quote_all(without), ".",
        call = tune$call)
}

# dp_sosp() finds every argument that it refuses before it finds that this budget is spent.
check_candidate <- function(name, tune) {
  budget <- dp_budget(mu = 1)
  .Call(ffi_ledger_close, budget$pointer, tune$neighbours, 0)
  refuse <- function(e) {
    abort("argument", "The candidate \"", name, "\": ", conditionMessage(e), call = tune$call, class = class(e))
  }
  tryCatch(fit_candidate(tune$candidates[[name]], tune, budget), dpsosp_budget_exhausted = function(e) NULL,
           dpsosp_error = refuse)
}

# NULL for the strategy "split".
choose_plan <- function(tune) {
  if (tune$strategy == "split") return(NULL)
  plan <- selection_plan(tune$strategy, k = length(tune$candidates), eps = tune$eps, delta = tune$delta)
  if (plan$mu > 0) return(plan)
  abort("argument", "`eps` and `delta` are too small for a random number of runs: take `strategy = \"split\"`.",
        call = tune$call)
}

# ---- runs ----

# All messages of a run are suppressed, as one about a run that is not chosen would be a release.
fit_candidate <- function(settings, tune, budget) {
  suppressWarnings(suppressMessages(do.call(dp_sosp, c(settings, list(
    data = tune$training, budget = budget, neighbours = tune$neighbours, noise = tune$noise, progress = FALSE,
    id = tune$persons$name, records = tune$persons$most %||% 1
  )))))
}

# The fit of a candidate, mu-GDP for the training records, and its score on each held-out record, or of each held-out
# person the mean of them, as new_score() has it.
run_candidate <- function(i, mu, tune) {
  fit <- fit_candidate(tune$candidates[[i]], tune, dp_budget(mu = mu))
  records <- held_out_records(fit, persons_frame(tune$held_out, tune$judges), NULL, tune$call)
  score <- score_columns(fit, records, tune$metric, tune$clip)[[1]]
  score$values <- person_means(score$values, tune$judges)
  list(name = names(tune$candidates)[i], fit = fit, score = score)
}

# Are larger scores better?
is_merit <- function(tune) tune$metric == "accuracy"

# From 0 to 1, 1 the best, on one scale for all runs: the bounds of a score may follow from what its fit released.
merits <- function(runs, tune) {
  of <- function(what) vapply(runs, function(run) run$score[[what]], 0)
  lower <- min(of("lower"))
  width <- max(of("lower") + of("width")) - lower
  list(width = width, values = lapply(runs, function(run) {
    value <- (run$score$lower - lower + run$score$width * run$score$values) / width
    if (is_merit(tune)) value else pmax(1 - value, 0)
  }))
}

# The error does not say which run failed.
safely <- function(code, tune) {
  tryCatch(code, error = function(e) abort("tune", "A run failed after the budget was charged.", call = tune$call))
}

# Runs all candidates, which together use the whole mu for the training records. The exponential mechanism then chooses
# one with eps for the held-out records; its range over temperature is eps (proofs: best-score, split-tuning).
tune_split <- function(tune) {
  k <- length(tune$candidates)
  runs <- safely(lapply(seq_len(k), run_candidate, mu = tune$mu / sqrt(k), tune = tune), tune)
  budget <- dp_budget(rho = min(tune$eps, 1e100)^2 / 8)
  merit <- merits(runs, tune)
  index <- .Call(ffi_scores_choose, budget$pointer, merit$values, tune$eps^2 / 8, tune$neighbours, is_for_study(tune))
  chosen <- runs[[index]]
  choice <- dp_ledger(budget)
  temperature <- merit$width * choice$scale / tune$sizes[2] # of means, in units of the metric
  # All releases of a fit together have this sensitivity, in units of their noise.
  each <- tune$mu / sqrt(k)
  ledger <- data.frame(what = rep("fit", k), mechanism = "gaussian", rho = each^2 / 2, mu = each, sensitivity = each,
                       scale = 1, values = 1, neighbours = tune$neighbours)
  list(run = chosen, strategy = "split", mu = each, estimate = NA_real_, se = NA_real_,
       resolution = temperature * log(k / 0.05), rho = tune$mu^2 / 2, ledger = ledger, choice = choice,
       tuning = list(choice = choice))
}

# The best of the runs. Each is mu-GDP, as a record is either for training or held out (proofs: best-of-runs, held-out).
tune_random <- function(tune) {
  plan <- tune$plan
  budget <- selection_budget(plan, tune$eps, tune$delta)
  best <- NULL
  better <- if (is_merit(tune)) `>` else `<`
  for (i in selection_draw(plan, budget, tune$neighbours, is_for_study(tune))) {
    run <- safely(score_run(run_candidate(i, plan$mu, tune), plan$mu, tune), tune)
    if (is.null(best) || better(run$estimate, best$estimate)) best <- run
  }
  .Call(ffi_ledger_close, budget$pointer, tune$neighbours, 0)
  se <- best$se
  list(run = best, strategy = plan$law, mu = plan$mu, estimate = best$estimate, se = se,
       resolution = 2 * sqrt(2) * se, rho = budget_state(budget)$capacity, ledger = dp_ledger(budget),
       tuning = plan[c("law", "mean", "mu", "order")])
}

score_run <- function(run, mu, tune) {
  score <- run$score
  answer <- .Call(ffi_scores_release, dp_budget(mu = mu)$pointer, list(score$values), mu^2 / 2, tune$neighbours,
                  is_for_study(tune))
  n <- length(score$values)
  c(run, list(estimate = score$lower + score$width * answer$value / n, se = score$width * answer$sd / n))
}

is_for_study <- function(tune) tune$noise == "reproducible"

# ---- result ----

# Keeps the releases of the chosen run and public facts, and nothing of the other runs.
new_tune <- function(tune, result) {
  fit <- result$run$fit
  fit$privacy <- c(receipt_entries(tune, tune$receipt), list(
    eps = tune$eps, delta = tune$delta, rho = result$rho, mu = NA_real_, accountant = "tuned", tuning = result$tuning,
    neighbours = tune$neighbours, noise = tune$noise,
    shared = if (!is.null(tune$asked$budget)) budget_text(tune$asked$budget), ledger = result$ledger
  ))
  structure(class = "dp_tune", list(
    fit = fit, chosen = result$run$name, candidates = names(tune$candidates), strategy = result$strategy,
    plan = tune$plan, score = list(metric = tune$metric, estimate = result$estimate, se = result$se),
    resolution = result$resolution, choice = result$choice, cost = result$mu / tune$mu,
    n = stats::setNames(tune$sizes, c("training", "held_out")), persons = tune$persons["most"], privacy = fit$privacy
  ))
}

#' @rdname dp_tune
#' @export
print.dp_tune <- function(x, digits = 3, ...) {
  check_dots()
  digits <- check_digits(digits)
  show <- function(value) format(value, digits = digits %||% 3)
  cat("<dp_tune> \"", x$chosen, "\" of ", length(x$candidates), " candidates: ", quote_all(x$candidates), "\n",
      sep = "")
  cat(privacy_text(checked_privacy(x$privacy)), sep = "\n")
  cat("Strategy: ", strategy_text(x), "\n", sep = "")
  cat("Cost: the fit's noise is ", show(1 / x$cost), " times that of a fit with the whole budget, and it has ",
      x$n[["training"]], " of ", sum(x$n), if (is.null(x$persons)) " records" else " persons", "\n", sep = "")
  cat("Gain: ", gain_text(x, show), "\n", sep = "")
  cat("Without reason to expect more than that, `dp_sosp()` with its default method costs less.\n")
  invisible(x)
}

strategy_text <- function(x) {
  if (x$strategy == "split") return("all are fitted, the exponential mechanism chooses")
  paste0("the best of a random number of runs (", x$strategy, ", mean ", x$plan$mean, "), which stays secret")
}

gain_text <- function(x, show) {
  metric <- x$score$metric
  if (x$strategy == "split") {
    return(paste0("its held-out ", metric, " is at most ", show(x$resolution),
                  " from the best candidate's with probability 0.95"))
  }
  paste0("held-out ", metric, " ", show(x$score$estimate), ", se ", show(x$score$se),
         " (too good, as that of the best of several); candidates less than ", show(x$resolution),
         " apart are not told apart")
}

# ---- random numbers of runs ----

# The best of a random number of runs: distributions of this number, and the privacy cost of a run.
#
# k candidates are drawn with replacement. The mean number is such that each candidate is run with probability at least
# 0.9 (Poisson) or about 0.9 (geometric).

selection_laws <- c("poisson", "geometric")

selection_mean <- function(law, k) {
  switch(law, poisson = as.integer(ceiling(k * log(10))), geometric = 9L * (k - 1L))
}

# The largest mu of each run for which releasing the best one is (eps, delta)-private, and the Renyi order that allows
# it. All arguments are public.
selection_plan <- function(law, k, eps, delta) {
  mean <- selection_mean(law, k)
  mu_at <- function(x) selection_mu(law, mean, 1 + exp(x), eps, delta)
  grid <- seq(log(0.02), log(3000), length.out = 60)
  found <- vapply(grid, mu_at, 0)
  near <- grid[pmin(pmax(which.max(found) + c(-1, 1), 1), length(grid))]
  order <- 1 + exp(stats::optimize(mu_at, near, maximum = TRUE, tol = 1e-6)$maximum)
  list(law = law, mean = mean, candidates = k, order = order, mu = selection_mu(law, mean, order, eps, delta))
}

# The largest mu that this order allows, approximated from below; zero if there is none.
selection_mu <- function(law, mean, order, eps, delta) {
  allowed <- .Call(ffi_rdp_budget, order, eps, delta) / order
  fits <- function(x) .Call(ffi_selection_cost, law, mean, exp(x), order) <= allowed
  low <- log(1e-6)
  if (!fits(low)) return(0)
  high <- log(1e3)
  for (i in 1:60) {
    middle <- (low + high) / 2
    if (fits(middle)) low <- middle else high <- middle
  }
  exp(low)
}

# A budget for one such release and nothing else.
selection_budget <- function(plan, eps, delta) {
  capacity <- .Call(ffi_rdp_budget, plan$order, eps, delta) / plan$order
  structure(class = "dp_budget", list(pointer = .Call(ffi_ledger_create_renyi, plan$order, capacity), eps = eps,
                                      delta = delta, rho = NULL, mu = NULL, order = plan$order))
}

# The candidate of each run. The candidates and the number of runs are secret.
selection_draw <- function(plan, budget, neighbours, reproducible) {
  .Call(ffi_selection_draw, budget$pointer, plan$law, plan$mean, plan$candidates, plan$mu, neighbours, reproducible)
}
