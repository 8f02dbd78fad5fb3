#' Settings of OPT, OPT-LS, 2OPT, 2OPT-LS, OPT-B and 2OPT-B
#'
#' For the methods `"opt"`, `"opt-ls"`, `"2opt"`, `"2opt-ls"`, `"opt-b"` and `"2opt-b"` of [dp_sosp()], which also leave
#' saddle points. All settings are public: they must not be chosen by looking at the data.
#'
#' Each iteration releases a gradient. If it is short enough, the iteration also releases a Hessian. The method then
#' steps along the negative gradient, or along a direction of negative curvature, or stops because the point is
#' certified. `"opt"` has one phase of
#' \deqn{T = \lceil \Delta / \delta \rceil}{T = ceiling(Delta / decrease)}
#' iterations, with \eqn{\Delta}{Delta} the gap between the objective at the start and its infimum, and
#' \eqn{\delta}{decrease} the least decrease of a step (equation (10) of the paper). The two-phase methods (`"2opt"`)
#' first take \eqn{\sqrt T}{sqrt(T)} iterations with the fraction `phase1_share` of the budget, then up to T iterations
#' with the rest. Steps have the length of the analysis (*short steps*) or, with `-ls`, a length that a private line
#' search chooses.
#'
#' With `constants = "tight"` the smoothness constants follow from the loss, the penalty and the radius, and the tests
#' take account of their own noise: a point is certified when confidence bounds, not the noisy quantities, meet the
#' target, and a step is taken only where the gradient exceeds the noise level. Where the loss and the penalty exclude
#' eigenvalues below `-eps_h`, no Hessian is released. With `"published"` the runs follow the paper's experiments (G = M
#' = 1, tests on the noisy quantities, sparse vector line search, start at zero), made private at the stated budget.
#' They are for reproduction.
#'
#' @section End of a run:
#' Without a `target` a run spends all its budget. If it started at a released constant prediction (see `start` of
#' [dp_sosp()]) and has a geometry (see [geometry_public()]), no penalty and no batches, it does not end at the last
#' point where it measured gradients, but at the posterior mean of the solution given these gradients. This uses
#' releases only, so it costs no privacy. With v the mean of the gradients, negative and without the intercept, the
#' model is
#' \deqn{v = h a + \mathrm{noise}, \quad h = p (1 - p) / \sqrt d,}{v = h a + noise,  h = p (1 - p) / sqrt(d),}
#' for the distance a from this point to the solution, d coefficients and p the released fraction of the second class.
#' The prior distribution of a is normal, with the standard deviation t in each coordinate. t = 0.05, 0.1, 0.2, 0.4 have
#' equal prior probabilities, and v decides by their likelihoods. So gradients that say little move the solution little.
#'
#' A certified point moves no farther than its certificate allows: over a distance r the gradient changes by at most G r
#' and the Hessian by at most M r, with the Lipschitz constants of the objective. The certificate is that of the point
#' to which it moved; it has bounds, but no estimates. Without a certificate the status is `"budget"`, and there is no
#' bound on the gradient at the solution.
#'
#' Where no gradient exceeds the noise level, a run takes no step, and all its gradients are of the start. Without what
#' the posterior mean needs such a run returns its start, with the status `"start"`.
#'
#' @section Line search:
#' The line search tries the steps `b * beta^i` times the short step, i = 0, 1, ..., down to the short step:
#' * `"gaussian"` releases the decreases of the objective for all of them, with noise in proportion to each step's own
#'   sensitivity. It takes the step with the largest lower confidence bound, or none if all bounds are negative.
#' * `"svt"` is a sparse vector on the sufficient-decrease condition divided by the step, which has the same sensitivity
#'   for every step.
#' * `"exponential"` is an exponential mechanism on the decreases.
#'
#' The last two need zCDP accounting for the whole run. If the search takes no step, the method takes the short one.
#'
#' With tight constants a step is left out in advance if its noise, or the decrease that the gradient predicts for it,
#' exceeds the largest possible gain (the gap, which is public or was released), or if the point to which it leads is
#' farther than `gap * sqrt(n) / L` from the start, with L the largest slope of the loss. The step that is taken
#' decreases the objective with probability 0.8, by bounds that hold for all candidates at once.
#'
#' @section Batches:
#' The methods `"opt-b"` and `"2opt-b"` take short steps, each on a fresh random batch, drawn without replacement
#' (`sampling = "wor"`, the default under `"replace-one"`) or with each record drawn independently (`"poisson"`, the
#' default and the only scheme under `"zero-out"`). Before the batch is drawn, a step is charged for everything that it
#' may release about it, at the Renyi divergence that remains after amplification by sampling. Sums over a batch are
#' divided by its public size. Steps on batches may take the fraction `batch_share` of the budget. A point that passes
#' the tests there is a candidate: releases on the full data, of the gradient and, where it is needed, of the Hessian,
#' certify it with the rest of the budget, or the run continues from it. So no certificate rests on a sampling error.
#'
#' The default size makes the sampling error about as large as the noise of a step,
#' \deqn{m = 2 n^2 \rho / (s^2 d T),}{m = 2 n^2 rho / (s^2 d T),}
#' with \eqn{\rho}{rho} the budget of the steps, T their planned number, d coefficients and s = 2 under `"replace-one"`,
#' 1 under `"zero-out"`. It lies between n / 200 and n / 20, and is n / 50 with published constants.
#' [sufficient_batch()] computes the size that the analysis of the worst case needs.
#'
#' The time of a step hardly depends on n. After a quarter of the records have been drawn, dense columns in double
#' precision are copied by rows, which makes it several times faster to read batches. The copy needs 8 bytes for each
#' number until the fit ends. No copy is made if it would exceed 1 GiB, nor of sparse columns, of factors or with
#' `storage = "single"`. Releases are the same with and without it.
#'
#' @param constants `"tight"` or `"published"`.
#' @param line_search `"gaussian"` (default with tight constants), `"svt"` (default with published constants, and the
#'   one that the paper uses) or `"exponential"`; for the methods `"opt-ls"` and `"2opt-ls"`.
#' @param gap A public upper bound on the objective at the start minus its infimum, positive, in the units of the loss.
#'   `NULL`: for a start of zero the bound is known without looking at the data; for another start, such as the constant
#'   prediction (see `start` of [dp_sosp()]), it is estimated with the fraction `gap_share` of the budget. Published
#'   constants take 0.5. A bound that was computed for a start of zero needs this start: `start = numeric(p)`.
#' @param confidence Confidence of the certificate, in (0, 1): the probability with which all confidence bounds of a run
#'   hold together.
#' @param max_iterations Upper bound on the planned number of iterations, a whole number; `NULL`: 1,000, or 100,000 with
#'   published constants.
#' @param gap_share,phase1_share Fractions of the budget, in (0, 1). `gap_share` is for a noisy initial gap; a run with
#'   line searches and without a target spends this fraction once more, at its end, to measure by how much the objective
#'   decreased (`decrease` of the fit), and returns its start if the final point is surely worse. `phase1_share` is for
#'   the first phase of two-phase methods.
#' @param search_share Largest fraction of an iteration's budget for its line search, in (0, 1). A search takes only
#'   what its precision needs.
#' @param hessian_share Fraction of the remaining budget that is kept for one Hessian, in (0.01, 1): a smaller one would
#'   allow very many Hessians.
#' @param b_g,b_H First candidate of the line search divided by the short step, for steps along the gradient and along
#'   negative curvature, from 1 to 1e6; `NULL`: 1024 and 8, or 20 and 20 with published constants.
#' @param beta_g,beta_H Ratio of successive candidates, in (0, 1); for `beta_g`, `NULL` is 0.25, or 0.6 with published
#'   constants. A search has at most 1,000 candidates.
#' @param batch For methods on batches: number of records in a batch (its expected number for `"poisson"`), less than n;
#'   `NULL`: see the section Batches of [control_opt()].
#' @param sampling `"wor"` or `"poisson"`; `NULL`: by the neighbour relation, see the section Batches of
#'   [control_opt()].
#' @param batch_share Largest fraction of the budget for steps on batches, in (0, 1).
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_control_opt`, a list of these settings, for the argument `control` of [dp_sosp()].
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Gao and Wright (2023), Differentially private optimization for smooth non-convex ERM, algorithms 1 to 3,
#'   equations (7), (10), (14) to (17), section 3.4.
#' @seealso [dp_sosp()], [planned_iterations()], [control_tr()]; the article *Gao and Wright's experiments, made
#'   private* of the site.
#' @examples
#' control_opt(line_search = "svt")
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, method = "2opt-ls",
#'         loss = "sigmoid", control = control_opt(max_iterations = 200),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_opt <- function(constants = c("tight", "published"), line_search = NULL, gap = NULL, confidence = 0.95,
                        max_iterations = NULL, gap_share = 0.02, phase1_share = 0.75, search_share = 0.5,
                        hessian_share = 0.25, b_g = NULL, b_H = NULL, beta_g = NULL, beta_H = 0.5, batch = NULL,
                        sampling = NULL, batch_share = 0.5, ...) {
  call <- sys.call()
  check_dots(call)
  constants <- check_choice(constants, c("tight", "published"), "constants", call)
  published <- constants == "published"
  line_search <- check_choice(line_search %||% if (published) "svt" else "gaussian",
                              c("gaussian", "svt", "exponential"), "line_search", call)
  if (is.null(gap) && published) gap <- 0.5
  share <- function(x, arg) check_share(x, arg, call)
  control <- structure(class = c("dp_control_opt", "dp_control"), c(list(
    constants = constants, line_search = line_search,
    gap = if (is.null(gap)) NA_real_ else check_number(gap, "gap", 0, call = call),
    confidence = share(confidence, "confidence"),
    max_iterations = check_iterations(max_iterations %||% if (published) 1e5 else 1000, "max_iterations", call = call),
    gap_share = share(gap_share, "gap_share"), phase1_share = share(phase1_share, "phase1_share"),
    search_share = share(search_share, "search_share"),
    hessian_share = check_number(hessian_share, "hessian_share", 0.01, 1, call = call),
    b_g = check_number(b_g %||% if (published) 20 else 1024, "b_g", 1, 1e6, open = FALSE, call = call),
    b_H = check_number(b_H %||% if (published) 20 else 8, "b_H", 1, 1e6, open = FALSE, call = call),
    beta_g = check_number(beta_g %||% if (published) 0.6 else 0.25, "beta_g", 0, 1, call = call),
    beta_H = check_number(beta_H, "beta_H", 0, 1, call = call)
  ), batch_control(batch, sampling, batch_share, call)))
  check_candidates(control$b_g, control$beta_g, "g", call)
  check_candidates(control$b_H, control$beta_H, "H", call)
  control
}

# The candidates are b, b beta, b beta^2, ..., down to 1.
check_candidates <- function(b, beta, kind, call) {
  if (log(b) / -log(beta) <= 1000) return(invisible())
  abort("argument", "`b_", kind, "` and `beta_", kind, "` give more than 1000 candidate steps: take a smaller `beta_",
        kind, "`.", call = call)
}

family_opt <- function() {
  new_family("opt", function(method, loss) control_opt(), opt_options, accountant = opt_accountant,
             matrices = function(control) control$constants == "published",
             pushed = function(control, method) !method$search || control$line_search != "exponential",
             min_batches = opt_min_batches, max_batches = opt_max_batches, constant = opt_constant,
             any_noise = opt_leaves_start,
             planned = iterations_short_step,
             needed = function(method, a, eps_h) (if (method$search) rows_line_search else rows_short_step)(a, eps_h))
}

# Published runs start at zero, as in the paper.
opt_constant <- function(job) {
  if (job$control$constants == "published") return(NULL)
  if (!is_noisy(job) || !is.null(job$asked$target)) return(start_fine)
  if (opt_uses_all(job)) start_shared else start_alone
}

# The last gradients of a run say where it should end (src/method/opt_tight.c; inst/experiments/end-rule.R). This needs
# coordinates in which columns have similar variances, and an objective that is the loss alone.
opt_uses_all <- function(job) {
  is.null(job$asked$target) && !job$method$batch && job$penalty$name == "none" && columns_of(job) > 0L &&
    !identical(job$moments, "none")
}

# As opt_uses_all() where the constant prediction was released.
opt_leaves_start <- function(job) !is.null(job$class_fraction) && opt_uses_all(job)

# On synthetic problems (inst/experiments/leave-rule.R): power 1 is better with weak signals and worse with strong ones,
# and larger values of the signal do harm where there is nothing but noise.
opt_power <- 0.5    # see opt_start_curvature()
opt_signal <- 0.05  # smallest standard deviation of a coefficient that the solution is shrunk for
opt_signals <- 4L   # number of such values, each twice the one before

# Of the loss at the start, along a gradient. The curvature along a direction is that of the loss divided by dim, on
# average over all directions, and at most that of the loss, for rows of norm one. With opt_power = 1/2 the geometric
# mean of the two is taken.
opt_start_curvature <- function(job) {
  if (!opt_leaves_start(job)) return(0)
  start_curvature(job, loss_bounds(job$loss)[["curv_upper"]]) / job$dim^opt_power
}

opt_min_batches <- function(control) if (control$constants == "published") 50 else 20
opt_max_batches <- function(control) if (control$constants == "published") 50 else 200

opt_options <- function(job, rho) {
  c(opt_settings(job$control, job$method, is.null(job$asked$target), opt_start_curvature(job)),
    batch_options(job$batch))
}

# method: with the settings two_phase and search
opt_settings <- function(control, method, spend_all, start_curvature) {
  list(
    published = control$constants == "published", two_phase = method$two_phase, spend_all = spend_all,
    search = if (method$search) control$line_search else "none",
    confidence = control$confidence, gap = control$gap, gap_share = control$gap_share,
    phase1_share = control$phase1_share, search_share = control$search_share, hessian_share = control$hessian_share,
    max_iterations = control$max_iterations,
    mult_g = control$b_g, mult_h = control$b_H, back_g = control$beta_g, back_h = control$beta_H,
    start_curvature = start_curvature, signal = opt_signal, signals = opt_signals
  )
}

# One search that is not Gaussian decides the accountant of the whole run.
opt_accountant <- function(job) {
  if (job$method$search && job$control$line_search %in% c("svt", "exponential")) "zcdp" else "auto"
}
