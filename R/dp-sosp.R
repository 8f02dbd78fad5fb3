#' Differentially private second-order stationary points
#'
#' Fits a model by minimising its regularised mean loss under differential privacy,
#' and certifies how near to a local minimum (not a saddle point) the result is. What is certified is that the objective
#' is flat there, not that it is small.
#'
#' The data are seen by a noisy oracle only ([dp_oracle()]): each question is charged to
#' a budget that is fixed before the run, which is therefore private at exactly
#' that budget whatever the algorithm does.
#'
#' # Preprocessing
#' Numeric columns are clipped to their range and mapped to \[-1, 1\]; factors become
#' indicators of their *declared* levels; rows are clipped to norm `radius` (default
#' \eqn{\sqrt{p_n + p_f + 1}} for p_n numeric columns and p_f factors, which no row
#' exceeds) and divided by it. Ranges leak unless they are public or paid
#' for: `bounds = "private"` finds them with five percent of the budget, a named
#' list such as `list(age = c(17, 90))` declares public ones, which cost nothing;
#' columns not in the list are found privately. Ranges are read off noisy counts: one is wider where noise could
#' hide values beyond it, and about 5 percent of the values may be clipped at an end. A column of which no range
#' stands out of the noise gets \[-1, 1\], with a warning that prints the list to fill in.
#' Character columns are an error, which shows the code that declares their levels; levels are public, so
#' write them down without looking at the data. A row with a missing value
#' is replaced by a null record, so that n stays public. A value counts as missing when it is infinite, not among the
#' declared levels, no text in its encoding, or, in a numeric response of two classes, not 1, 0 or -1. Coefficients are
#' reported on the original scale.
#'
#' # What is guaranteed
#' Under the neighbour relation `neighbours`, the fit as an R object is
#' (eps, delta)-differentially private. Assumed public: n, the formula, names, types and
#' declared levels of the columns, the arguments of the call. Not covered: running time and
#' memory. With `noise = "reproducible"` the noise can be recomputed by whoever knows
#' the seed: such a fit is for study, not for release.
#'
#' @param formula A formula such as `y ~ .` or `y ~ a + log(b)`; main effects and
#'   row-wise transformations. A name in an expression that is no column, such as `k` in `I(a / k)`, is a constant of
#'   the formula's environment: one number, string or logical value, taken as public; the fit keeps its value. Or, for
#'   the matrix method, `x`.
#' @param x A numeric matrix or a sparse `dgCMatrix` of the package Matrix, one row per record, columns taken as
#'   they are.
#' @param y The response, one per row of `x`: a factor with two levels (the second is modelled), logical, numeric (1 is
#'   modelled, 0 and -1 are the other class, said in a message), or numbers for a regression loss. `NA` makes its row a
#'   null record, and so does a number that is none of the three: the type decides how a response is coded, no value
#'   does.
#' @param data A data frame, or a source of one in chunks, see [dp_source()].
#' @param eps,delta The privacy budget, `eps > 0`, `0 < delta < 0.1`; `delta = NULL` is
#'   1/n^2, said in a message. From 1/n on, `delta` brings a warning: publishing one of n records unprotected would keep
#'   such a promise. With `budget`, the part of it that this fit may spend
#'   (default: all that is left).
#' @param method `"auto"`, the default, takes `"2opt-ls"` where the problem is not convex, else `"newton"`; but
#'   `"objpert"` where a budget of its own leaves little noise, and with more than 1,000 coefficients a method that
#'   asks for gradients only. The rule knows n, the number of columns, budget, relation and loss, not the data
#'   (`vignette("convex")`). The fit's `method` and `print()` name what it took.
#'
#'   For all problems: `"2opt-ls"`, `"2opt"`, `"opt-ls"` or `"opt"`: short steps or private line search
#'   (`-ls`), one phase or two (`2`), see [control_opt()]; `"tr"`: trust region, see [control_tr()]; `"gd"`:
#'   gradient descent, a baseline, see [control_gd()]. On batches: `"opt-b"`, `"2opt-b"`, `"tr-b"` and `"sgd"`.
#'   For convex problems `"newton"`, `"damped-newton"` or, on batches, `"newton-b"`, see [control_newton()];
#'   `"objpert"` or `"outpert"`, see [control_perturbation()]; `"cubic"`, see [control_cubic()].
#' @param loss A loss or its name, see [losses].
#' @param penalty A penalty, see [penalties]; `NULL` is none.
#' @param bounds `"private"` or a named list of public ranges `c(lower, upper)`.
#' @param radius Public bound on the norm of the mapped rows, with the intercept; rows
#'   are clipped to it. Needed for a matrix.
#' @param target From [sosp()]: the run stops at the first certified point, and what is left of its
#'   budget is unused. `NULL`: the smallest target that the plan's noise can certify, chosen from
#'   n, the number of columns and the budget, never from the data; the run goes on from certified
#'   points until its budget is spent and returns the newest of them. The method `"gd"` always spends its budget.
#' @param control From [control_opt()], [control_tr()], [control_gd()] or [control_newton()], as the method needs;
#'   `NULL` is its defaults.
#' @param budget From [dp_budget()], to share one budget among several fits.
#' @param neighbours What is protected: `"replace-one"`, one record against any other, or `"zero-out"`, one record
#'   against a null record, for half the noise in a gradient. n is public under both.
#' @param start Starting coefficients on the original scale, chosen without looking at the data;
#'   `NULL` is zero (for a numeric response the middle of its bounds).
#' @param noise `"secure"` (default) or `"reproducible"`, see [dp_oracle()].
#' @param progress Show a progress bar?
#' @param intercept For a matrix: put a column of ones before the others?
#' @param storage `"single"` keeps the numbers in single precision, see [dp_oracle()].
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_sosp`, a list with
#'   * `coefficients` on the original scale;
#'   * `status`: `"sosp"` (certified stationary), `"budget"` or `"iterations"` (spent, or done, before that), or
#'     `"start"` (nothing better than the start was found; it is what is returned);
#'   * `certificate`: estimates and confidence bounds of gradient norm and smallest eigenvalue at
#'     the solution, `NA` if not measured there, on the scale of the mapped problem;
#'   * `decrease`: how far the objective there is below its value at the start, at least, with the certificate's
#'     confidence (for itself); `NA` where no released answer says so, as with methods that never pay for values;
#'   * `privacy`: eps, delta, rho, accountant, for batches its Renyi order, neighbours, noise and the ledger, from whose
#'     sum [dp_convert()] computes eps;
#'   * `trace`: one row per released answer;
#'   * `batch` of the methods on batches: size, scheme, rate, share of the budget, planned steps;
#'   * `target`, `method`, `auto` (did the rule choose it?), `loss`, `penalty`, `control`, `design`, `n`, `call`.
#'
#'   It holds no rows, residuals or environments, and depends on the data through the
#'   released answers only.
#' @section Errors: All have the class `dpsosp_error`; wrong arguments
#'   `dpsosp_error_argument`, raised before anything is charged, which follow from arguments, n, names, types and
#'   declared levels alone, never from a record's value; a non-convex problem, where a method needs
#'   a convex one, `dpsosp_error_nonconvex` as well; a method that needs a Hessian of more than 8192 coefficients
#'   (as certificates of problems that are not convex do, unless `eps_h` of the `target` allows their curvature)
#'   `dpsosp_error_size` as well; a loss whose second derivative jumps, where a
#'   method needs Hessians, `dpsosp_error_nonsmooth` as well; a spent budget `dpsosp_budget_exhausted`.
#' @references Gao and Wright (2023), Differentially private optimization for smooth non-convex
#'   ERM, algorithms 1 to 3 and section 3.4, with the corrections in
#'   `vignette("dpsosp")`; Wang and Xu (2021), Escaping saddle points of empirical risk privately and
#'   scalably via DP-trust region method, algorithm 1.
#' @seealso [control_opt()], [control_tr()], [control_gd()], [control_newton()], [sosp()], [dp_budget()], [dp_ledger()].
#' @examples
#' d <- covertype[1:3000, ]
#' fit <- dp_sosp(cover ~ elevation + slope, d, eps = 1, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' fit
#' coef(fit)
#' table(predict(fit, d, type = "class"), d$cover)
#' @export
dp_sosp <- function(x, ...) {
  if (nargs() == 0L) abort("argument", "Nothing to fit: give a formula and a data frame, or a matrix and a response.")
  # The method for formulas calls its first argument so; as in lm(), it may then come anywhere.
  if ("formula" %in% names(match.call())) UseMethod("dp_sosp", y ~ x)
  UseMethod("dp_sosp")
}

#' @rdname dp_sosp
#' @export
dp_sosp.formula <- function(formula, data, eps = NULL, delta = NULL, method = "auto", loss = "logistic",
                            penalty = NULL, bounds = "private", radius = NULL, target = NULL, control = NULL,
                            budget = NULL, neighbours = "replace-one", start = NULL,
                            noise = c("secure", "reproducible"), progress = interactive(),
                            storage = c("double", "single"), ...) {
  call <- scrub_call(match.call(), quote(dp_sosp))
  check_dots(call)
  if (missing(data)) abort("argument", "`data` is missing: give a data frame.", call = call)
  if (!is.null(radius)) radius <- check_radius(radius, call)
  streamed <- is_source(data, "data", call)
  known <- if (streamed) data$schema else data
  design <- design_template(formula, known, bounds, radius, call, frame = if (!streamed) deparse1(call$data))
  n <- if (streamed) data$n else nrow(data)
  if (n == 0L) abort("argument", "`data` has no rows.", call = call)
  raw <- design_response(design, known, call = call)
  loss <- scale_loss(check_loss(loss, "loss", call), design$intercept, call)
  response <- response_template(raw, design$response, call, loss)
  run <- check_run(eps, delta, method, loss, penalty, target, control, budget, neighbours, noise, progress,
                   n, call)
  start <- check_start(start, nrow(design$columns) + design$intercept, response, design$intercept, call)
  storage <- check_choice(storage, storage_known, "storage", call)
  if (streamed) check_streamed(run, storage, call)
  check_run_size(run, length(start), design$intercept, call)
  run$open(length(start))
  design <- find_ranges(design, data, run, call)
  oracle <- if (streamed) {
    stream_oracle(data, design, response, run, call)
  } else {
    new_oracle(design_rows(design, data, storage, call), response_code(response, raw), run$loss, run$budget,
               design$radius, design$intercept, run$neighbours, run$noise)
  }
  order <- design_order(design)
  result <- run_method(run, oracle, design_start(design, start)[order], design$intercept, call)
  coefficients <- design_coef(design, result$w[match(seq_along(order), order)])
  new_fit(run, result, response_coef(response, coefficients, design$intercept), design, response, call)
}

#' @rdname dp_sosp
#' @export
dp_sosp.default <- function(x, y, eps = NULL, delta = NULL, method = "auto", loss = "logistic", penalty = NULL,
                            radius = NULL, target = NULL, control = NULL, budget = NULL, neighbours = "replace-one",
                            start = NULL, noise = c("secure", "reproducible"), progress = interactive(),
                            intercept = TRUE, storage = c("double", "single"), ...) {
  call <- scrub_call(match.call(), quote(dp_sosp))
  check_dots(call)
  rows <- matrix_rows(x, storage, "x", call)
  if (missing(y)) abort("argument", "`y` is missing: give one response per row of `x`.", call = call)
  if (is.null(radius)) abort("argument", radius_advice, call = call)
  intercept <- check_flag(intercept, "intercept", call)
  loss <- scale_loss(check_loss(loss, "loss", call), intercept, call)
  response <- response_template(y, "y", call, loss)
  if (length(y) != rows$n) {
    abort("argument", "`y` must have one entry per row of `x`: ", rows$n, ", not ", length(y), ".", call = call)
  }
  radius <- check_radius(radius, call)
  run <- check_run(eps, delta, method, loss, penalty, target, control, budget, neighbours, noise, progress, rows$n,
                   call)
  labels <- c(if (intercept) "(Intercept)", column_labels(rows))
  if (length(labels) == 0L) abort("argument", "`x` has no columns and there is no intercept.", call = call)
  start <- check_start(start, length(labels), response, intercept, call)
  check_run_size(run, length(start), intercept, call)
  run$open(length(start))
  oracle <- new_oracle(rows$core, response_code(response, y), run$loss, run$budget, radius, intercept, run$neighbours,
                       run$noise)
  result <- run_method(run, oracle, start * radius, intercept, call)
  design <- structure(class = "dp_matrix_design", list(radius = radius, intercept = intercept, labels = labels))
  coefficients <- stats::setNames(result$w / radius, labels)
  new_fit(run, result, response_coef(response, coefficients, intercept), design, response, call)
}

# Share of a fit's budget for the ranges that are not declared.
ranges_share <- 0.05

# Of the problem with the mapped response.
check_start <- function(start, dim, response, intercept, call) {
  if (is.null(start)) return(numeric(dim))
  start <- check_vector(start, "start", dim, "one per coefficient (the intercept, if there is one, first)", call)
  response_start(response, start, intercept)
}

# Everything about a run that is decided without the data. open() is called when
# all arguments are known to be good: it creates or claims the budget.
check_run <- function(eps, delta, method, loss, penalty, target, control, budget, neighbours, noise, progress, n,
                      call) {
  run <- new.env(parent = emptyenv())
  run$n <- n
  run$loss <- check_loss(loss, "loss", call)
  run$penalty <- check_penalty(penalty, "penalty", call)
  run$auto <- identical(method, "auto")
  run$method <- check_method(method, run$loss, run$penalty, control, call)
  run$target <- check_target(target, call)
  run$control <- check_control(control, run$method, call)
  check_convex(run$loss, run$penalty, run$method, call)
  check_smooth(run$loss, run$penalty, run$method, run$control, call)
  run$neighbours <- check_neighbours(neighbours, call)
  run$noise <- check_noise(noise, call)
  run$progress <- check_flag(progress, "progress", call)
  if (!is.null(eps)) eps <- check_number(eps, "eps", 0, call = call)
  if (!is.null(delta)) delta <- check_delta(delta, call)
  if (!is.null(budget)) check_budget(budget, "budget", call)
  if (is.null(eps) && is.null(budget)) {
    abort("argument", "`eps` is missing: give the privacy budget, such as `eps = 1`.", call = call)
  }
  if (is.null(eps) && !is.null(delta)) {
    abort("argument", "`delta` belongs to `eps`: give both, or neither and the fit may spend what the budget has.",
          call = call)
  }
  run$eps <- eps
  run$delta <- delta
  run$owned <- is.null(budget)
  run$open <- function(dim) open_budget(run, budget, dim, call)
  run
}

# Before the budget is opened: is the problem too large for the matrices that the method asks for?
check_run_size <- function(run, dim, intercept, call) {
  if (run$auto) auto_wide(run, dim)
  run$method$family$check_problem(run, dim, intercept, call)
  if (dim <= most_matrix) return(invisible())
  if (run$method$family$matrices(run$control)) {
    published <- identical(run$control$constants, "published")
    check_matrix_size(dim, paste0("The method \"", run$method$name, "\"", if (published) " with published constants"),
                      call, gradient_advice())
  }
  least <- run_curvature(run)
  if (least[["curv_lower"]] == 0) return(invisible())
  eps_h <- if (is.null(run$target)) 0 else target_resolve(run$target, least[["third"]])$eps_h
  if (least[["curv_lower"]] > eps_h) {
    what <- paste0("A certificate of this problem, which is not convex, with an `eps_h` in `target` below ",
                   format(signif(least[["curv_lower"]] + 5e-4, 3)), ",")
    check_matrix_size(dim, what, call, gradient_advice())
  }
}

# Bounds of the objective's second derivatives from below and of its third ones.
run_curvature <- function(run) {
  loss_bounds(run$loss)[c("curv_lower", "third")] + penalty_bounds(core_penalty(run$penalty, FALSE))
}

# The accountant is decided here, before any release: see dp_budget().
open_budget <- function(run, budget, dim, call) {
  run$dim <- dim
  if (is.null(run$delta)) run$delta <- default_delta(run, budget)
  warn_delta(max(run$delta, budget$delta), run$n, call)
  if (run$auto) auto_quiet(run)
  wanted <- run$method$family$accountant(run)
  if (run$method$batch) {
    run$budget <- open_batches(run, budget, call)
  } else if (!is.null(run$method$open)) {
    run$budget <- run$method$open(run, call)
  } else if (run$owned) {
    run$budget <- dp_budget(eps = run$eps, delta = run$delta,
                            accountant = if (wanted == "auto") "gdp" else wanted)
  } else {
    run$budget <- budget
    check_relation(budget, run$neighbours, call)
    .Call(ffi_ledger_decide, budget$pointer, accountant_code(wanted))
  }
  state <- budget_state(run$budget)
  run$before <- length(state$what)
  run$accountant <- if (state$accountant == "auto") "gdp" else state$accountant
  if (!is.null(run$kappa)) run$accountant <- "perturbed"
  run$rho <- min(state$left, if (is.null(run$eps)) Inf else rho_of(run, run$eps))
  run$end <- state$left - run$rho
  if (run$rho <= 1e-9 * state$capacity) {
    raise_status(list(match("budget", status_classes), "the privacy budget is exhausted"))
  }
}

# The order of the filter follows from the planned steps.
open_batches <- function(run, budget, call) {
  if (run$owned) {
    rho <- .Call(ffi_gdp_mu, run$eps, run$delta)^2 / 2
    run$batch <- new_batch(run, run$dim, rho, call)
    plan <- batch_plan(run$batch, rho, run$eps, run$delta, run$neighbours)
    return(dp_budget(eps = run$eps, delta = run$delta, plan = plan))
  }
  check_relation(budget, run$neighbours, call)
  state <- budget_state(budget)
  if (state$accountant != "renyi") {
    abort("accountant", "The method \"", run$method$name, "\" needs a `budget` with a Renyi filter: give ",
          "`dp_budget()` a `plan`.", call = call)
  }
  run$batch <- new_batch(run, run$dim, state$left, call)
  budget
}

default_delta <- function(run, budget) {
  if (!is.null(budget$delta)) return(budget$delta)
  # That of two or three records would be no guarantee.
  delta <- if (run$n > 3) 1 / run$n^2 else 1e-6
  inform("delta", "delta = ", format(delta, digits = 3), if (run$n > 3) " (1/n^2)")
  delta
}

find_ranges <- function(design, data, run, call) {
  if (length(design_private_names(design)) == 0L) return(design)
  columns <- if (inherits(data, "dp_source")) {
    stream_columns(data, design, call)
  } else {
    design_private_columns(design, data, call)
  }
  inform("ranges", format_share(ranges_share), " of the budget finds the ranges of ", length(columns),
         if (length(columns) == 1L) " numeric column" else " numeric columns", "; `bounds` declares public ones")
  found <- private_ranges(columns, run$budget, ranges_share * run$rho, run$neighbours, run$noise == "reproducible")
  missed <- names(columns)[!attr(found, "found")]
  if (length(missed) > 0L) {
    warn("ranges", "No range stood out of the noise for ", quote_all(missed), ": [-1, 1] is taken, with which ",
         "a column that lies elsewhere carries no information. Declare what is known about it:\n  bounds = list(",
         paste0(vapply(missed, backquote, ""), " = c( , )", collapse = ", "), ")", call = call)
  }
  design_fill_ranges(design, found)
}

# As it is written in a call: log(b) in backticks, a as it is.
backquote <- function(name) deparse(as.name(name), backtick = TRUE)

run_method <- function(run, oracle, start, intercept, call) {
  penalty <- core_penalty(run$penalty, intercept)
  rho <- budget_state(run$budget)$left - run$end
  bar <- progress_bar(run$progress, run$method$name)
  core <- run$method$family$c
  target <- list(eps_g = 1, eps_h = 1) # of which the default one does not depend
  options <- c(run$method$family$options(run, rho), target)
  alpha <- function() .Call(ffi_method_alpha, core, oracle$pointer, penalty, options, rho, start)
  third <- oracle_facts(oracle)$third + penalty_bounds(penalty)[["third"]]
  options[names(target)] <- settle_target(run, oracle, alpha(), third, call)
  answer <- .Call(ffi_method_run, core, oracle$pointer, penalty, options, rho, start, bar, is_reproducible(oracle))
  .Call(ffi_ledger_close, run$budget$pointer, neighbour_code(run$neighbours), if (run$owned) 0 else Inf)
  answer
}

# A function (done, total), or NULL. An error in showing progress is no reason to
# end a run that was paid for; an interrupt is.
progress_bar <- function(show, method) {
  if (!show) return(NULL)
  frame <- parent.frame()
  id <- NULL
  of <- 0L
  function(done, total) {
    tryCatch(error = function(e) NULL, {
      if (total != of) id <<- cli::cli_progress_bar(method, total = total, .envir = frame)
      of <<- total
      cli::cli_progress_update(set = done, id = id, .envir = frame)
    })
  }
}
