#' Settings of Newton's method
#'
#' For the methods `"newton"`, `"newton-b"` and `"damped-newton"`, which minimise convex objectives. All settings are
#' public: they must not be chosen by looking at the data.
#'
#' Each of `iterations` steps releases a gradient and moves along a direction that
#' second-order information, `curvature`, has rescaled:
#' * `"hessian"`, `"qu"`: double noise. The released direction is computed from the noisy gradient and the exact Hessian
#'   (or, with `"qu"`, the matrix of a quadratic upper bound of the loss at the iterate, with which Newton's method
#'   cannot overshoot), and has noise of its own, whose sensitivity follows from `lambda0`.
#' * `"lazy"`: the matrix of the quadratic upper bound at zero is released once, with symmetric Gaussian noise,
#'   and serves all steps. It is the most accurate of the four in our experiments. It starts at the constant prediction,
#'   see `start` of [dp_sosp()].
#' * `"direct"`: each step releases the Hessian with symmetric Gaussian noise.
#' * `"moment"`, for `loss_multinomial()`, where this method has no other: see the section Several classes.
#'
#' `modify` says how small eigenvalues e are raised: to e + `lambda0` (`"add"`) or to max(e, `lambda0`) (`"clip"`; with
#' double noise to slightly more, at most 8/7 of it, which is computed in a time that does not depend on the data). By
#' default `lambda0` follows from releases:
#' * with double noise it is \eqn{(s \, \mathrm{tr} \, (b/n)^2 / \rho)^{1/3}}{(s tr (b/n)^2 / rho)^(1/3)} and at least
#'   1/n, with tr a noisy trace of the curvature, rho the cost of the direction, b the largest curvature of the loss and
#'   s = `lambda_scale`; it is also large enough that the direction's noise does not undo its progress;
#' * with `"direct"` it is \eqn{s \sqrt{2 d}}{s sqrt(2 d)} times the standard deviation of the matrix's noise;
#' * with `"lazy"` it is \eqn{s T \sqrt{d}}{s T sqrt(d)} times the standard deviation of the noise of a
#'   single gradient that takes the budget of all T steps, and at least \eqn{\sqrt{2 d}}{sqrt(2 d)} times that of the
#'   matrix's noise. 1/s is the expected norm of the solution (rows have norm at most one). More iterations then cost
#'   time, not accuracy.
#'
#' With `adaptive = TRUE` the latter is halved, at most twelve times in a run, while the released gradients in damped
#' directions exceed the noise level: a run starts cautiously, and reaches further only if there is more to be found.
#' This uses releases only and costs nothing.
#'
#' `"damped-newton"` uses `curvature = "direct"` and chooses the length of each step, among 1, 1/2, ..., 1/32 of the
#' direction, by noisy decreases of the objective.
#'
#' `"newton-b"` takes its steps on fresh batches, see the section Batches.
#'
#' A ridge penalty is added to the curvature as it is: it depends on no record and can only
#' raise the smallest eigenvalue, so the direction needs less noise.
#'
#' Sensitivity of the direction A^-1 g for n records, with c = b / n and m a lower bound of the smallest eigenvalue of
#' A: for `"add"` c / (m (m + c)) |g| under both neighbour relations; for `"clip"` \eqn{\sqrt{2}}{sqrt(2)} k c |g| under
#' `"replace-one"`, where the published bound does not hold, and k c |g| under `"zero-out"`, with k the smaller of
#' \eqn{0.47 / \lambda_0^2}{0.47 / lambda0^2} and one over the square of the ridge penalty's curvature. With
#' `"direct"` and `"lazy"` the matrix has sensitivity \eqn{\sqrt{2}}{sqrt(2)} c (`"zero-out"`: c) in the Frobenius norm.
#' All releases are Gaussian.
#'
#' @section Several classes:
#' With `loss_multinomial()` and d coefficients for each of K classes, a Hessian would have (d K)^2 numbers. At every
#' point it is at most \eqn{\frac12 (I - \frac1K 11') \otimes S}{(I - 11'/K) / 2 (x) S}, with S the matrix of the rows'
#' second moments. `curvature = "moment"` releases S once: d x d numbers of sensitivity \eqn{\sqrt 2 / n}{sqrt(2)
#' / n} (`"zero-out"`: 1 / n) whatever K is, with the fraction `curvature_share` of the budget of all steps. Each step,
#' of 60 by default, then releases a gradient to which no record adds more than the norm `clip` / n, so that its
#' sensitivity is 2 `clip` / n (`clip` / n), and moves along (S / 2 + r)^-1 times it, with a column for each class. r
#' follows from releases: the noise that all steps leave in a predictor shall have a standard deviation of 2. Clipped
#' gradients certify nothing, so all steps are taken; the gradient at the last iterate, which is the solution, is not
#' clipped. With a small `clip` the steps may lead to a point other than the minimum. This method uses the settings
#' `iterations`, `curvature_share`, `certificate_share`, `clip` and `confidence`.
#'
#' @section Batches:
#' The method `"newton-b"` takes each step on a fresh random batch, drawn without replacement (`sampling = "wor"`,
#' the default under `"replace-one"`) or with each record drawn independently (`"poisson"`, the default and the only
#' scheme under `"zero-out"`, and the paper's). Gradient, trace and direction, or gradient and Hessian, use the same
#' batch. Before the batch is drawn, the step is charged for all of them together: the Renyi divergence of their
#' composition, amplified by the sampling. Sums are divided by the batch's public size m, so sensitivities are those
#' above with c = b / m. With `"lazy"` only gradients use batches: the matrix is released once, on the full data. So is
#' the last gradient, with the fraction `certificate_share` of the budget. No other gradient certifies a point, so all
#' planned steps are taken, with a target or without. The rest of the budget is for steps.
#'
#' The default size makes a step's sampling error about as large as the noise of its gradient, see [control_opt()];
#' it lies between n / 200 and n / 20, or n / 5 where steps have curvature of their own, of which there are few. Batches
#' save time, not privacy: a step has about the same noise as on the full data, and a sampling error besides.
#'
#' @param curvature `"lazy"`, `"hessian"`, `"qu"`, `"direct"` or `"moment"`.
#' @param modify `"add"` or `"clip"`.
#' @param iterations Number of steps, a whole number; `NULL`: a default of the `curvature`.
#' @param lambda0 A public number of at least 1e-6, and at least 2.5e-13 d (d + 1) where directions of d coefficients
#'   are released, because of rounding errors; or `NULL`: adaptive.
#' @param lambda_scale Factor of an adaptive `lambda0`, at least 1e-6; `NULL`: a default of the `curvature`.
#' @param adaptive Should `lambda0` fall during the run? `"lazy"` only, and only where `lambda0` is `NULL`.
#' @param curvature_share Fraction of an iteration's budget (with `"lazy"` of the whole budget) for second-order
#'   information, in (0, 1); `NULL`: a default of the `curvature`.
#' @param trace_share Fraction of `curvature_share` for the trace, in (0, 1); with double noise and an adaptive
#'   `lambda0` only.
#' @param search_share Fraction of an iteration's budget for the length of its step, in (0, 1);
#'   `"damped-newton"` only.
#' @param certificate_share Fraction of the budget for the gradient at the solution, which certifies it, in (0, 1).
#' @param tail The solution is the mean of this fraction of the last iterates, in \[0, 1\]; 0: the last iterate.
#' @param clip With `"moment"`: the norm to which each record's gradient is clipped, from 1e-6 to 1e6; from
#'   \eqn{\sqrt 2}{sqrt(2)} on, no gradient is clipped.
#' @param confidence Confidence of the certificate, in (0, 1).
#' @param batch For `"newton-b"`: size of a batch (its expected size for `"poisson"`), less than n; `NULL`: see the
#'   section Batches.
#' @param sampling `"wor"` or `"poisson"`; `NULL`: by the neighbour relation, see the section Batches.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_control_newton`; its `batch_share` is the fraction of the budget that steps have.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references
#' Ganesh, Haghifam, Steinke and Thakurta (2023), Faster differentially private convex optimization via
#'   second-order methods, algorithm 3, lemma 5.1, sections 5.2 and 6.4; the sensitivity of `"clip"` is corrected.
#'
#' Avella-Medina, Bradshaw and Loh (2023), Differentially private inference via noisy optimization, section 4; there
#'   the step length is chosen without privacy.
#' @seealso [dp_sosp()].
#' @examples
#' control_newton(curvature = "qu", iterations = 5)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, method = "newton",
#'         control = control_newton(curvature = "qu", iterations = 5),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_newton <- function(curvature = "lazy", modify = c("add", "clip"),
                           iterations = NULL, lambda0 = NULL, lambda_scale = NULL, curvature_share = NULL,
                           adaptive = TRUE, trace_share = 0.2, search_share = 0.3, certificate_share = 0.05,
                           tail = NULL, clip = 0.5, confidence = 0.95, batch = NULL, sampling = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  curvature <- check_choice(curvature, newton_curvatures, "curvature", call)
  defaults <- newton_defaults[[curvature]]
  share <- function(x, arg) check_share(x, arg, call)
  curvature_share <- share(curvature_share %||% defaults$curvature_share, "curvature_share")
  certificate_share <- share(certificate_share, "certificate_share")
  of_steps <- (1 - certificate_share) * (1 - if (curvature == "lazy") curvature_share else 0)
  structure(class = c("dp_control_newton", "dp_control"), c(list(
    curvature = curvature, modify = check_choice(modify, newton_modifies, "modify", call),
    iterations = check_iterations(iterations %||% defaults$iterations, "iterations", call = call),
    lambda0 = if (is.null(lambda0)) NA_real_ else
      check_number(lambda0, "lambda0", 1e-6, 1e6, open = FALSE, call = call),
    lambda_scale = check_number(lambda_scale %||% defaults$lambda_scale, "lambda_scale", 1e-6, 1e6,
                                open = FALSE, call = call),
    adaptive = check_flag(adaptive, "adaptive", call),
    curvature_share = curvature_share,
    trace_share = share(trace_share, "trace_share"), search_share = share(search_share, "search_share"),
    certificate_share = certificate_share,
    tail = check_number(tail %||% defaults$tail, "tail", 0, 1, open = FALSE, call = call),
    clip = check_number(clip, "clip", 1e-6, 1e6, open = FALSE, call = call),
    confidence = share(confidence, "confidence")
  ), batch_control(batch, sampling, of_steps, call)))
}

newton_curvatures <- c("hessian", "qu", "lazy", "direct", "moment")
newton_modifies <- c("add", "clip")

# inst/experiments/steps-rule.R compares numbers of steps.
newton_defaults <- list(
  hessian = list(iterations = 10, lambda_scale = 1, curvature_share = 0.5, tail = 0),
  qu = list(iterations = 10, lambda_scale = 1, curvature_share = 0.5, tail = 0),
  lazy = list(iterations = 240, lambda_scale = 1 / 10, curvature_share = 0.1, tail = 0.75),
  direct = list(iterations = 12, lambda_scale = 1, curvature_share = 0.3, tail = 0),
  moment = list(iterations = 60, lambda_scale = 1, curvature_share = 0.1, tail = 0)
)

family_newton <- function() {
  new_family(
    "newton", newton_control, newton_options, core = function(control) if (is_moment(control)) "moment" else "newton",
    check = check_damped, check_problem = check_rounding, hessians = newton_hessians,
    steps = function(job) job$control$iterations,
    # With its own curvature, the method takes few steps.
    min_batches = function(control) if (control$curvature == "lazy") 20 else 5,
    constant = function(job) if (job$control$curvature == "lazy") start_coarse,
    because = ", where Newton's method may increase the objective and the noise of its directions is unbounded"
  )
}

newton_control <- function(method, loss = NULL) {
  several <- has_classes(loss) && !method$damped && !method$batch
  control_newton(if (method$damped) "direct" else if (several) "moment" else "lazy")
}

is_moment <- function(control) control$curvature == "moment"

check_damped <- function(control, method, call) {
  if (!method$damped || control$curvature == "direct") return(invisible())
  abort("argument", "The method \"", method$name, "\" needs `control_newton(curvature = \"direct\")`.", call = call)
}

newton_hessians <- function(control) {
  if (control$curvature %in% c("lazy", "qu", "moment")) return(NULL)
  list(setting = paste0("`curvature` \"", control$curvature, "\""), instead = "\"lazy\" or \"qu\"")
}

# Twice the value that rounding requires, for the largest curvature of a loss: see sensitivity_newton() in the core.
check_rounding <- function(job) {
  control <- job$control
  if (control$curvature %in% c("hessian", "qu") && is.na(control$lambda0) && !identical(job$moments, "none")) {
    abort("argument", "With a `geometry` no trace is released: take `lambda0` as a number in `control_newton()`, or ",
          "`curvature` \"lazy\" or \"direct\".", call = job$call)
  }
  least <- 2.5e-13 * job$dim * (job$dim + 1)
  if (!control$curvature %in% c("hessian", "qu") || !isTRUE(control$lambda0 < least)) return(invisible())
  abort("argument", "`lambda0` must be at least ", format(signif(least, 3)), " for ", job$dim, " coefficients: below ",
        "it what rounding does to a direction has no bound.", call = job$call)
}

newton_options <- function(job, rho) {
  settings <- c("curvature", "modify", "adaptive", "iterations", "confidence", "curvature_share", "trace_share",
                "search_share", "certificate_share", "lambda0", "lambda_scale", "tail", "clip")
  c(list(damped = job$method$damped, spend_all = is.null(job$asked$target)), unclass(job$control)[settings],
    batch_options(job$batch))
}

#' Settings of the cubic-regularised Newton method
#'
#' For `method = "cubic"`, which minimises convex objectives. Each iteration minimises an upper bound of the objective:
#' the quadratic model at the iterate plus \eqn{M/6 \, |v|^3}{(M/6) |v|^3}, with M the Lipschitz constant of the
#' Hessian. All settings are public: they must not be chosen by looking at the data.
#'
#' * `solver = "direct"`: gradient and Hessian are released, the Hessian with symmetric Gaussian noise. The expected
#'   norm of that noise is added to the model, so that it remains an upper bound, and the model is minimised exactly.
#' * `solver = "inner"`: the published solver. The model's gradient is released at each of `inner_steps` points. At a
#'   distance |v| from the iterate its sensitivity is (2 L + b |v|) / n (`"zero-out"`: (L + b |v|) / n); the noise
#'   printed in the paper has the diameter for |v| and lacks the division by n. This solver needs strong convexity: a
#'   ridge penalty and no intercept.
#'
#' Iterates stay in a ball around zero of the given public diameter.
#'
#' @param solver `"direct"` or `"inner"`.
#' @param iterations Number of iterations, a whole number; `NULL`: 12, or 3 with `"inner"`.
#' @param inner_steps Number of points on each model, a whole number of at least 2; `"inner"` only.
#' @param diameter Diameter of the ball, positive, for rows of norm at most one; `"direct"` also takes `Inf`.
#' @param hessian_share Fraction of an iteration's budget for the Hessian, in (0, 1); `"direct"` only.
#' @param certificate_share Fraction of the whole budget for the gradient at the solution, in (0, 1).
#' @param confidence Confidence of the certificate, in (0, 1).
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_control_cubic`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Ganesh, Haghifam, Steinke and Thakurta (2023), Faster differentially private convex optimization via
#'   second-order methods, algorithms 1 and 2, with corrected noise; Nesterov and Polyak (2006), Cubic regularization of
#'   Newton method and its global performance.
#' @seealso [dp_sosp()], [control_newton()].
#' @examples
#' control_cubic(iterations = 4)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, method = "cubic",
#'         control = control_cubic(iterations = 4),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_cubic <- function(solver = c("direct", "inner"), iterations = NULL, inner_steps = 20, diameter = 100,
                          hessian_share = 0.3, certificate_share = 0.05, confidence = 0.95, ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  solver <- check_choice(solver, c("direct", "inner"), "solver", call)
  if (!identical(diameter, Inf) || solver == "inner") {
    diameter <- check_number(diameter, "diameter", 0, 1e50, call = call)
  }
  structure(class = c("dp_control_cubic", "dp_control"), list(
    solver = solver,
    iterations = check_iterations(iterations %||% if (solver == "inner") 3 else 12, "iterations", call = call),
    inner_steps = check_iterations(inner_steps, "inner_steps", 2, call = call), diameter = diameter,
    hessian_share = share(hessian_share, "hessian_share"),
    certificate_share = share(certificate_share, "certificate_share"), confidence = share(confidence, "confidence")
  ))
}

family_cubic <- function() {
  new_family("cubic", function(method, loss) control_cubic(), cubic_options, check_problem = check_strong,
             matrices = function(control) control$solver == "direct")
}

# The steps of the inner solver need strong convexity in every coefficient.
check_strong <- function(job) {
  if (job$control$solver != "inner" || is_strong(job$penalty, job$design$intercept)) return(invisible())
  abort("argument", "`solver = \"inner\"` needs strong convexity: take `penalty_ridge()` and no intercept, ",
        "`intercept = FALSE` or `- 1` in a formula.", call = job$call)
}

cubic_options <- function(job, rho) {
  settings <- c("iterations", "diameter", "confidence", "hessian_share", "certificate_share")
  control <- job$control
  c(list(inner = if (control$solver == "inner") control$inner_steps else 0L, spend_all = is.null(job$asked$target)),
    unclass(control)[settings])
}
