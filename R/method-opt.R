#' Settings of OPT, OPT-LS, 2OPT, 2OPT-LS, OPT-B and 2OPT-B
#'
#' All of them are public: they must not be chosen by looking at the data.
#'
#' With `constants = "tight"` the smoothness constants follow from the loss, the
#' penalty and the radius; the tests know their own noise: a point is certified
#' when confidence bounds, not the noisy quantities, meet the target, and a step
#' is taken only where the gradient exceeds the noise level. Where the loss and
#' the penalty themselves exclude eigenvalues below `-eps_h`, no Hessian is
#' asked for. With `"published"` the runs follow the paper's experiments
#' (G = M = 1, tests on the noisy quantities, sparse vector line search), made
#' private at the stated budget and starting at zero; they are for reproduction.
#'
#' The line search tries the steps `b * beta^i` times the short step, i = 0, 1,
#' ..., down to the short step:
#' * `"gaussian"`: releases all the decreases with noise in proportion to each
#'   step's own sensitivity and takes the step with the best lower bound, none if
#'   all bounds are negative;
#' * `"svt"`: sparse vector on the sufficient-decrease condition divided by the
#'   step, which has the same sensitivity for every step;
#' * `"exponential"`: exponential mechanism on the decreases.
#'
#' The last two need zCDP accounting for the whole run. With tight constants a step is left out before anything is asked
#' where its noise, or what the gradient promises for it, exceeds what there is to gain at all (the gap, which is
#' public or was released), and where the point that it leads to is longer than `gap * sqrt(n) / L` from the start, L
#' the largest slope of the loss; and the step taken decreases the objective with probability 0.8, by bounds that hold
#' for all candidates at once. Where no step is taken by a search, the short one is.
#'
#' @section Batches:
#' The methods `"opt-b"` and `"2opt-b"` take short steps, each on a fresh random batch, drawn without replacement
#' (`sampling = "wor"`, the default under `"replace-one"`) or each record by itself (`"poisson"`, the default and the
#' only one under `"zero-out"`). A step is charged for everything it may ask on its batch before the batch is
#' drawn, at the Renyi divergence that sampling leaves of it; sums over a batch are divided by its public size.
#' Steps on batches may take `batch_share` of the budget. A point that passes the tests there is
#' a candidate: gradient (and Hessian, where it is needed) of all records, with what is left of the budget, certify it
#' or go on from it. So no certificate rests on a sampling error. The default size makes the sampling error about as
#' large as the noise of a step,
#' \deqn{m = 2 n^2 \rho / (s^2 d T),}{m = 2 n^2 rho / (s^2 d T),}
#' with \eqn{\rho}{rho} the budget of the steps, T their planned number, d coefficients and s = 2 under `"replace-one"`,
#' 1 under `"zero-out"`; it lies between n / 200 and n / 20 and is n / 50 with published constants. What
#' the analysis of the worst case would ask for: [sufficient_batch()].
#'
#' A step's time hardly depends on n. Once a quarter of the records were drawn, dense columns in double precision are
#' copied by rows, from which batches are read several times faster: 8 bytes a number more until the fit ends, no more
#' than 1 GiB, or no copy is made; none of sparse columns and factors, nor with `storage = "single"`. Answers are the
#' same with and without it.
#'
#' @param constants `"tight"` or `"published"`.
#' @param line_search `"gaussian"` (default with tight constants), `"svt"`
#'   (default, and the only one meant, with published ones) or `"exponential"`; used by
#'   the methods `"opt-ls"` and `"2opt-ls"`.
#' @param gap A public upper bound on the objective at the start minus its
#'   infimum, positive. `NULL`: at a start of zero it is known without looking at the
#'   data; for another start, such as the constant prediction (see `start` of [dp_sosp()]), it is estimated with the
#'   fraction `gap_share` of the budget (published constants take 0.5). One that was found for a start of zero needs
#'   that start: `start = numeric(p)`.
#' @param confidence Of the certificate, in (0, 1): all confidence bounds of a run
#'   hold together with this probability.
#' @param max_iterations Upper bound of the planned number of iterations.
#' @param gap_share,phase1_share Shares of the budget, in (0, 1): of a noisy initial value, and of the decrease that a
#'   run with line searches and without a target of its own measures at its end (`decrease` of the fit; a point that
#'   is surely worse than the start is given up for it); and of phase 1 in two-phase methods.
#' @param search_share Largest fraction of an iteration's budget that its line search
#'   may take, in (0, 1); it takes only what its precision needs.
#' @param hessian_share Share of what is left that is kept for one Hessian, in
#'   (0.01, 1): a smaller one would ask for very many Hessians.
#' @param b_g,b_H First candidate over the short step, for gradient and
#'   negative-curvature steps, at least 1.
#' @param beta_g,beta_H Ratio of successive candidates, in (0, 1).
#' @param batch For methods on batches: size of a batch (its expected size for `"poisson"`), less than n; `NULL`: see
#'   below.
#' @param sampling `"wor"` or `"poisson"`; `NULL`: by the neighbour relation, see below.
#' @param batch_share Largest fraction of the budget for steps on batches, in (0, 1).
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_control_opt`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Gao and Wright (2023), algorithms 1 to 3, equations (7), (10), (14)
#'   to (17), section 3.4.
#' @examples
#' control_opt(line_search = "svt")
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

# A search over b, b beta, b beta^2, ... down to 1.
check_candidates <- function(b, beta, kind, call) {
  if (log(b) / -log(beta) <= 1000) return(invisible())
  abort("argument", "`b_", kind, "` and `beta_", kind, "` give more than 1000 candidate steps: take a smaller `beta_",
        kind, "`.", call = call)
}

family_opt <- function() {
  new_family("opt", function(method, loss) control_opt(), opt_options, accountant = opt_accountant,
             matrices = function(control) control$constants == "published", least_batches = opt_least_batches,
             most_batches = opt_most_batches, constant = opt_constant, planned = iterations_short_step,
             needed = function(method, a, eps_h) (if (method$search) rows_line_search else rows_short_step)(a, eps_h))
}

# Published runs start at zero, as the paper's do.
opt_constant <- function(job) {
  if (job$control$constants == "published") return(NULL)
  if (is_noisy(job) && is.null(job$target)) start_alone else start_fine
}

opt_least_batches <- function(control) if (control$constants == "published") 50 else 20
opt_most_batches <- function(control) if (control$constants == "published") 50 else 200

opt_options <- function(job, rho) {
  control <- job$control
  c(list(
    published = control$constants == "published", two_phase = job$method$two_phase, spend_all = is.null(job$target),
    search = if (job$method$search) control$line_search else "none",
    confidence = control$confidence, gap = control$gap, gap_share = control$gap_share,
    phase1_share = control$phase1_share, search_share = control$search_share, hessian_share = control$hessian_share,
    max_iterations = control$max_iterations,
    mult_g = control$b_g, mult_h = control$b_H, back_g = control$beta_g, back_h = control$beta_H
  ), batch_options(job$batch))
}

# A search that is not Gaussian decides for the whole run.
opt_accountant <- function(job) {
  if (job$method$search && job$control$line_search %in% c("svt", "exponential")) "zcdp" else "auto"
}
