#' Settings of gradient descent with private line searches
#'
#' For the methods `"blsgd"`, `"blsgd-ac"`, `"blgd"` and `"agd"` of [dp_sosp()], which minimise convex objectives by
#' steps along noisy gradients. A private line search finds the length of each step. Each attempt releases a gradient
#' and searches along it; if the search finds no step, the run stays at its point and averages the gradients there. All
#' settings are public: they must not be chosen by looking at the data.
#'
#' * `"blsgd"`: each attempt uses fresh batches, by default of a tenth of the records. See [control_opt()] for batches.
#' * `"blsgd-ac"`: the same, and each record's gradient is clipped to a norm that falls during the run. See the section
#'   Adaptation.
#' * `"blgd"`: attempts use the full data.
#' * `"agd"`: attempts use the full data, and an exponential mechanism chooses among the steps and staying.
#'
#' @section Line search:
#' Let g be the gradient, f the objective at w, and G the largest curvature. The search goes through the steps
#' `first / G * ratio^i`, i = 0, 1, ..., and takes the first one for which
#' \deqn{f(w) - f(w - \eta g) \ge \mathrm{sufficient} \; \eta |g|^2}{f(w) - f(w - step g) >= sufficient step |g|^2}
#' holds by noisy comparisons. One record's loss decreases by at most \eqn{L \eta |g|}{L step |g|}, so no loss is
#' clipped. `line_search` is the kind of noise:
#' * `"svt"`: sparse vector on the condition divided by the step, which has the same sensitivity for all steps. On
#'   batches it has a batch of its own: with rate q an eps-private search costs
#'   \eqn{\log(1 + q (e^\epsilon - 1))}{log(1 + q (exp(eps) - 1))}, under either neighbour relation.
#' * `"gaussian"`: the decreases of all steps are released, with noise in proportion to each step's sensitivity, on the
#'   batch of the gradient. Gradient and decreases are amplified together, once.
#' * `"exponential"`: an exponential mechanism on the decreases, one of them that of staying; for `"agd"` only.
#'
#' `"svt"` and `"exponential"` need zCDP accounting of a run on the full data. A run on batches has a Renyi filter at
#' one order, which is fixed before it.
#'
#' @section Adaptation:
#' At first all attempts cost the same, an equal part of the budget. If a run stayed at its point, the angle between the
#' fresh gradient and the mean of the earlier ones shows why. If it is above 1.1 times the usual angle between gradients
#' of successive points, or above 90 degrees, the gradients are too noisy, and their cost is multiplied by 1.3 from then
#' on. If it is below half of the usual angle, the search is too noisy, and its cost is multiplied by 1.3. With `"agd"`
#' it is always the cost of gradients. After every tenth step the first candidate becomes 1.2 times the longest of these
#' ten steps, if this is shorter. Attempts continue until the next one cannot be paid for.
#'
#' With `"blsgd-ac"` no record adds more to a gradient than `clip` times the largest possible norm. When the cost of
#' gradients rises, this norm also falls by the fraction `clip_decay`, at most once before each step. The noise falls in
#' proportion, but records with long gradients also lose influence. Searches compare the objective itself, whose
#' decrease is bounded without a clip.
#'
#' @section Networks:
#' With a `model` (see [networks]) the methods are `"blsgd"`, `"blsgd-ac"` and `"blgd"`. A network has neither a largest
#' curvature nor a bound on the slope of its loss, so settings have another meaning: `first` is the first step of the
#' first search itself, and `clip` is the norm to which each record's gradient is clipped. Searches compare the losses
#' of records. Each record's decrease along a step is clipped to `clip` times the length of the step, the largest
#' decrease that gradients of this norm allow. Nothing is certified: attempts have the whole budget, and
#' `certificate_share` and `confidence` are ignored. The default is the best setting of a sparse vector among those
#' tried on synthetic images (`inst/experiments/network-rule.R`), `control_line_search(attempts = 600, candidates = 8,
#' first = 32, ratio = 0.5, sufficient = 0.001, gradient_share = 0.9, clip = 0.5)`, with batches of n / 30. Because
#' gradient and search have a batch each, an attempt takes about three times as long as a step of `"sgd"`, which was
#' more accurate there.
#'
#' The published networks have searches on the batch of the gradient, with a tenth of its cost:
#' `control_line_search("gaussian", batch = n / 200, clip = 3, ratio = 0.8, sufficient = 0.001, gradient_share = 0.9)`.
#' Networks do not take `constants = "published"`.
#'
#' @section Published settings:
#' With `constants = "published"` the first attempts cost what they cost in the paper's experiments. Before
#' amplification by sampling, a search is eps / 100-private and a gradient has \eqn{\rho = (\epsilon / 100)^2 / 2}{rho =
#' (eps / 100)^2 / 2}. The budget determines the number of attempts; on batches these are thousands with much noise,
#' until costs rise. These settings are for reproduction, at the stated eps.
#'
#' The published method charges gradient and search on one batch with a general lemma on amplification. By this lemma
#' 100 attempts at rate 0.1 cost eps = 0.24 to 1.9 even if nothing is released (delta = 1e-8, orders 512 to 64; see
#' `vignette("proofs")`). The published method also divides by the random size of the batch, adds half the noise that
#' the search needs, amplifies two releases on one batch separately, and stops when no Renyi order has budget left. None
#' of these gives the stated privacy, and this package does none of them.
#'
#' @param line_search `"svt"`, `"gaussian"` or, for `"agd"` only, `"exponential"`.
#' @param constants `"tight"` or `"published"`, see the section Published settings.
#' @param attempts Number of attempts if none costs more than the first, a whole number; `NULL`: 100, or with published
#'   constants what the budget allows, at most 1e6.
#' @param candidates Number of steps that a search tries, a whole number; `NULL`: 20, or 5 with `"gaussian"`.
#' @param first The first step of the first search times G, in (0, 1e6): 2 is twice the short step 1 / G.
#' @param ratio Ratio of successive steps, in (0, 1); `NULL`: 0.8, or 0.4 with `"gaussian"`.
#' @param sufficient Decrease that a step must reach, as a fraction of the one that the gradient predicts, in (0, 1).
#' @param gradient_share Fraction of an attempt's cost for its gradient, in (0, 1); `NULL`: 0.75, or 0.5 with published
#'   constants.
#' @param certificate_share Fraction of the whole budget for the gradient on the full data at the solution, in (0, 1).
#' @param confidence Confidence of the certificate, in (0, 1).
#' @param clip For `"blsgd-ac"`: first norm to which gradients are clipped, divided by the largest norm that the
#'   gradient of a record may have, from 1e-6 to 1; `NULL`: 1. For networks: the norm itself, from 1e-6 to 1e6; `NULL`:
#'   0.5.
#' @param clip_decay For `"blsgd-ac"`: the fraction by which this norm falls, in \[0, 0.5\]; `NULL`: 0.05, as in the
#'   paper.
#' @param seed For networks: a public whole number that determines the first weights of the network.
#' @inheritParams control_opt
#' @return An object of class `dp_control_line_search`, a list of these settings, for the argument `control` of
#'   [dp_sosp()]; its `batch_share` is the fraction of the budget that attempts have.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Chen and Lee (2020), Stochastic adaptive line search for differentially private optimization,
#'   algorithms 1 to 3 and the adaptation of clipping thresholds: the line search, the test of angles, the first step
#'   and the clip that falls, with other noise and accounting.
#'
#' Lee and Kifer (2018), Concentrated differentially private gradient descent with adaptive per-iteration privacy
#'   budget, algorithm 2: `"agd"`, with an exponential mechanism for its noisy minimum.
#' @seealso [dp_sosp()], [control_gd()], [control_network()].
#' @examples
#' control_line_search("gaussian", attempts = 50)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, method = "blsgd",
#'         control = control_line_search(attempts = 50),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_line_search <- function(line_search = c("svt", "gaussian", "exponential"), attempts = NULL, candidates = NULL,
                                first = 2, ratio = NULL, sufficient = 0.5, gradient_share = NULL,
                                certificate_share = 0.05, confidence = 0.95, clip = NULL, clip_decay = NULL,
                                batch = NULL, sampling = NULL, constants = c("tight", "published"), seed = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  line_search <- check_choice(line_search, c("svt", "gaussian", "exponential"), "line_search", call)
  gaussian <- line_search == "gaussian"
  constants <- check_choice(constants, c("tight", "published"), "constants", call)
  published <- constants == "published"
  certificate_share <- share(certificate_share, "certificate_share")
  control <- structure(class = c("dp_control_line_search", "dp_control"), c(list(
    constants = constants, line_search = line_search,
    attempts = if (!published || !is.null(attempts)) check_iterations(attempts %||% 100, "attempts", call = call),
    candidates = check_iterations(candidates %||% if (gaussian) 5 else 20, "candidates", call = call),
    first = check_number(first, "first", 0, 1e6, call = call),
    ratio = check_number(ratio %||% if (gaussian) 0.4 else 0.8, "ratio", 0, 1, call = call),
    sufficient = share(sufficient, "sufficient"),
    gradient_share = share(gradient_share %||% if (published) 0.5 else 0.75, "gradient_share"),
    certificate_share = certificate_share,
    confidence = share(confidence, "confidence"),
    clip = if (!is.null(clip)) check_number(clip, "clip", 1e-6, 1e6, open = FALSE, call = call),
    clip_decay = if (!is.null(clip_decay)) check_number(clip_decay, "clip_decay", 0, 0.5, open = FALSE, call = call),
    seed = if (!is.null(seed)) check_count(seed, "seed", call, lower = 0)
  ), batch_control(batch, sampling, 1 - certificate_share, call)))
  if (control$first * control$ratio^control$candidates < 1e-9) {
    abort("argument", "`first`, `ratio` and `candidates` lead to steps below 1e-9: take fewer candidates, or a larger ",
          "`ratio`.", call = call)
  }
  control
}

family_line_search <- function() {
  new_family(
    "line_search", function(method, loss) control_line_search(method$search), line_search_options,
    core = function(control) "backtracking",
    check = check_line_search, check_problem = check_clipped, matrices = function(control) FALSE,
    accountant = function(job) if (job$control$line_search == "gaussian") "auto" else "zcdp",
    steps = line_search_attempts, pushed = function(control, method) control$line_search != "exponential",
    min_batches = function(control) 10, max_batches = function(control) 10,
    chosen = function(control) if (control$line_search == "svt") 1 - control$gradient_share else 0,
    because = ", and it certifies gradients only"
  )
}

check_line_search <- function(control, method, call) {
  if (!method$clips && !is.null(c(control$clip, control$clip_decay))) {
    abort("argument", "`clip` and `clip_decay` belong to the method \"blsgd-ac\", not to \"", method$name, "\".",
          call = call)
  }
  if (!is.null(control$seed)) {
    abort("argument", "`seed` belongs to networks: the linear model has a `start`.", call = call)
  }
  if (!is.null(control$clip) && control$clip > 1) {
    abort("argument", "`clip` must be at most 1 for a linear model: it is relative to the largest norm of a gradient.",
          call = call)
  }
  if ((control$line_search == "exponential") == (method$search == "exponential")) return(invisible())
  abort("argument", "`line_search = \"exponential\"` and the method \"agd\" belong together.", call = call)
}

# Gradients are clipped by the norm of the row as it is stored, not as it is in a geometry.
check_clipped <- function(job) {
  if (!job$method$clips || identical(job$moments, "none")) return(invisible())
  abort("argument", "The method \"", job$method$name, "\" has no `geometry`: leave it out.", call = job$call)
}

# With published constants: the number that the budget would pay for if amplified costs were in proportion to the square
# of the rate. They are where they are small.
line_search_attempts <- function(job) {
  control <- job$control
  if (!is.null(control$attempts)) return(control$attempts)
  if (is.null(job$asked$eps)) {
    abort("argument", "Published constants of a line search follow from `eps`: give `eps` instead of a `budget`, or ",
          "`attempts`.", call = job$call)
  }
  rate <- if (job$method$batch) (control$batch %||% (job$n / 10)) / job$n else 1
  each <- (rate * job$asked$eps / 100)^2 # half of it for the gradient
  rho <- .Call(ffi_gdp_mu, job$asked$eps, job$delta)^2 / 2
  as.integer(max(1, min((1 - control$certificate_share) * rho / each, 1e6)))
}

line_search_options <- function(job, rho) {
  control <- job$control
  clips <- job$method$clips
  settings <- c("candidates", "first", "ratio", "sufficient", "confidence", "gradient_share", "certificate_share")
  c(list(search = control$line_search, attempts = line_search_attempts(job),
         clip = if (clips) control$clip %||% 1 else 0, clip_decay = if (clips) control$clip_decay %||% 0.05 else 0),
    unclass(control)[settings], batch_options(job$batch))
}

# For networks (fit-network.R), whose gradients and decreases have no bounds: every method clips, and none certifies.
family_network_search <- function() {
  utils::modifyList(family_line_search(), list(
    control = function(method, loss) {
      control_line_search(attempts = 600, candidates = 8, first = 32, ratio = 0.5, sufficient = 0.001,
                          gradient_share = 0.9)
    },
    options = network_search_options, check = check_network_search, complete = network_control
  ))
}

check_network_search <- function(control, method, call) {
  if (control$constants == "published") {
    abort("argument", "`constants = \"published\"` is for linear models: networks have settings, see ",
          "`?control_line_search`.", call = call)
  }
  if (!method$falls && !is.null(control$clip_decay)) {
    abort("argument", "`clip_decay` belongs to the method \"blsgd-ac\", not to \"", method$name, "\".", call = call)
  }
  if (control$line_search != "exponential") return(invisible())
  abort("argument", "`line_search = \"exponential\"` belongs to the method \"agd\", which does not take a network.",
        call = call)
}

network_search_options <- function(job, rho) {
  options <- line_search_options(job, rho)
  decay <- if (job$method$falls) job$control$clip_decay %||% 0.05 else 0
  utils::modifyList(options, list(clip = job$control$clip, clip_decay = decay, certificate_share = 0, eps_g = 1))
}
