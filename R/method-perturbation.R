#' Settings of objective and output perturbation
#'
#' For the methods `"objpert"` and `"outpert"`, which release one minimiser of a convex objective and nothing else. All
#' settings are public: they must not be chosen by looking at the data.
#'
#' Both minimise the loss plus the penalty plus \eqn{\lambda |w|^2 / 2}{lambda |w|^2 / 2}, to machine precision and
#' inside the privacy barrier. The minimisation itself costs no budget.
#' * `"objpert"` adds a random linear function \eqn{v'w / n} with \eqn{v \sim N(0, s^2 I)}{v ~ N(0, s^2 I)} to the
#'   objective. Its privacy loss has two parts: a determinant, at most \eqn{\kappa = \log(1 + b / (n \lambda))}{kappa =
#'   log(1 + b / (n lambda))} with b the largest curvature of the loss, and that of a Gaussian release with \eqn{\mu =
#'   2 L / s}{mu = 2 L / s}, L the largest slope. Both are bounded together, as the curvature of the logistic loss is
#'   small where its slope is near L: with kappa at most a tenth of eps the minimiser costs hardly more than a Gaussian
#'   release, and for the other losses with slopes of one sign it costs that at eps - kappa. Other Gaussian releases
#'   (private ranges, and a little noise on the solution, which covers its rounding error) are included. The budget must
#'   be the fit's own, in `eps` and `delta`.
#' * `"outpert"` adds noise to the minimiser, which one record moves by at most
#'   \eqn{2 L / (n \lambda)}{2 L / (n lambda)}; of the logistic loss by less, as gradients at short vectors, such as all
#'   minimisers with a large lambda, differ by less. It has Gaussian accounting, as the other methods have.
#'
#' By default lambda balances bias and noise for a solution with norm about `size`. With nu =
#' \eqn{2 L \sqrt{d} / (n \mu)}{2 L sqrt(d) / (n mu)} the length of the noise in the gradient, lambda is nu / `size`,
#' and large enough that kappa is at most `kappa_share` times eps; for `"outpert"` it is
#' \eqn{(2 b \nu^2 / (d \, size^2))^{1/3}}{(2 b nu^2 / (d size^2))^(1/3)}. The defaults were chosen by
#' `inst/experiments/convex-rule.R` and `inst/experiments/perturbation-rule.R` on synthetic problems.
#'
#' The certificate costs nothing: at the solution the gradient of the objective is minus the random linear part and
#' minus lambda w, and its norm has a bound that follows from s and the coefficients.
#'
#' @param lambda Zero or a number of at least 1e-12, for rows of norm at most one, or `NULL`: by the rule above.
#'   `"objpert"` needs one for which something of eps is left for the noise; `"outpert"` takes 0 where a ridge penalty
#'   applies to every coefficient.
#' @param size Expected norm of the solution, for rows of norm at most one, positive; `NULL`:
#'   \eqn{20 (100 \nu)^{-0.3}}{20 (100 nu)^-0.3}, larger where there is less noise, and 2 for `loss_huber()`, whose
#'   predictor stays in \[-1, 1\].
#' @param kappa_share Largest fraction of eps that kappa may take by that rule, in (0, 1); `"objpert"` only.
#' @param output_share Fraction of the budget for the noise on the solution of `"objpert"`, in (0, 1).
#' @param confidence Confidence of the certificate, in (0, 1).
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_control_perturbation`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references
#' Kifer, Smith and Thakurta (2012), Private convex empirical risk minimization and high-dimensional regression.
#'
#' Iyengar, Near, Song, Thakkar, Thakurta and Wang (2019), Towards practical differentially private convex optimization.
#'
#' Redberg, Koskela and Wang (2023), Improving the privacy and practicality of objective perturbation for differentially
#'   private linear learners; the bound used here, under `"replace-one"` too, is proved in `vignette("proofs")`.
#' @seealso [dp_sosp()].
#' @examples
#' control_perturbation(size = 10)
#' dp_sosp(cover ~ elevation + slope, covertype[1:3000, ], eps = 1, delta = 1e-6, method = "objpert",
#'         control = control_perturbation(size = 10),
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
control_perturbation <- function(lambda = NULL, size = NULL, kappa_share = 0.3, output_share = 0.001,
                                 confidence = 0.95, ...) {
  call <- sys.call()
  check_dots(call)
  share <- function(x, arg) check_share(x, arg, call)
  structure(class = c("dp_control_perturbation", "dp_control"), list(
    lambda = if (is.null(lambda)) NA_real_ else if (identical(lambda, 0)) 0 else
      check_number(lambda, "lambda", perturbation_least, 1e6, open = FALSE, call = call),
    size = if (is.null(size)) NA_real_ else
      check_number(size, "size", perturbation_least, 1e6, open = FALSE, call = call),
    kappa_share = share(kappa_share, "kappa_share"), output_share = share(output_share, "output_share"),
    confidence = share(confidence, "confidence")
  ))
}

perturbation_least <- 1e-12 # so that noise can be drawn

family_perturbation <- function() {
  new_family("perturbation", function(method, loss) control_perturbation(), perturbation_options,
             core = function(control) "perturbed", check_problem = check_unpenalised,
             pushed = function(control, method) FALSE,
             because = ", where the guarantee of a perturbed minimiser does not hold")
}

check_unpenalised <- function(job) {
  if (!identical(job$control$lambda, 0) || is_strong(job$penalty, job$design$intercept)) return(invisible())
  abort("argument", "With `lambda = 0` the objective must be strongly convex: take `penalty_ridge()` and ",
        "`intercept = FALSE`.", call = job$call)
}

# lambda depends only on n, dim, budget, relation and loss.
perturbation_lambda <- function(job, eps) {
  control <- job$control
  if (!is.na(control$lambda)) return(control$lambda)
  bounds <- loss_bounds(job$loss)
  noise <- gradient_noise(job, eps)
  size <- if (is.na(control$size)) perturbation_size(noise, job$loss) else control$size
  if (job$method$output) return((2 * bounds[["curv_upper"]] * noise^2 / (job$dim * size^2))^(1 / 3))
  max(noise / size, bounds[["curv_upper"]] / (job$n * expm1(control$kappa_share * eps)))
}

# The expected norm of the noise in a gradient that uses the whole budget.
gradient_noise <- function(job, eps) {
  change <- changes_of(job$neighbours)
  change * loss_bounds(job$loss)[["lipschitz"]] * sqrt(job$dim) / (job$n * .Call(ffi_gdp_mu, eps, job$delta))
}

# Fitted to the best sizes on the synthetic problems of inst/experiments/convex-rule.R: 10 at a noise of 0.05, 20 at
# 0.01, 40 at 0.001. If the response has bounds, the predictor should stay in [-1, 1], even with little noise.
perturbation_size <- function(noise, loss) if (has_bounded_response(loss)) 2 else 20 * (100 * noise)^-0.3

# The least fraction of the budget that is the minimiser's own: private ranges (5 percent, with closer looks 8.2), a
# private geometry (geometry_share; then there are no closer looks), the count of usable records and values
# (job-explained.R) take less than the rest.
perturbed_share <- 0.82

# The accounting of a perturbed minimiser: the numbers of struct acct_perturbed (src/acct/acct.h), with the tilt that
# allows the most noise-free mu. It depends on public numbers only. At a tilt of 4 b / (n lambda) nothing of the
# determinant is left where the slope of the logistic loss is largest; for other losses it is best at zero.
perturbed_accounting <- function(job, lambda, eps) {
  strong <- job$n * lambda
  full <- 4 * loss_bounds(job$loss)[["curv_upper"]] / strong
  share <- perturbed_share * (1 - job$control$output_share)
  candidates <- lapply((0:64) / 64 * full, function(tilt) {
    found <- .Call(ffi_loss_determinant, job$loss$name, job$loss$parameter, strong, tilt)
    c(found["one_sign"], top = found[["top"]] + 1e-12 * full, tilt = tilt, share = share)
  })
  mu <- vapply(candidates, function(how) .Call(ffi_perturbed_mu, eps, job$delta, how), 0)
  if (max(mu) > 0) candidates[[which.max(mu)]]
}

# Adds lambda, the accounting and a ledger for one perturbed minimiser.
open_perturbed <- function(job) {
  if (!owns_budget(job)) {
    abort("argument", "The method \"", job$method$name, "\" needs a budget of its own, `eps` and `delta` without ",
          "`budget`: its privacy loss is not that of a Gaussian release, and a shared budget would have to account ",
          "for it from the start, as the part `other` of a budget with a `store` does.", call = job$call)
  }
  eps <- job$asked$eps
  lambda <- perturbation_lambda(job, eps)
  how <- perturbed_accounting(job, lambda, eps)
  if (is.null(how)) {
    abort("argument", "`lambda` is too small for this `eps`: with b / (n lambda) = ",
          signif(loss_bounds(job$loss)[["curv_upper"]] / (job$n * lambda), 3), " nothing of eps is left for the noise.",
          call = job$call)
  }
  own <- function() {
    structure(class = "dp_budget", list(
      pointer = .Call(ffi_ledger_create_perturbed, eps, job$delta, how), eps = eps, delta = job$delta, rho = NULL,
      mu = NULL
    ))
  }
  add_entries(job, lambda = lambda, perturbed = how, budget = own_budget(job, "none", own))
}

perturbation_options <- function(job, rho) {
  lambda <- job$lambda %||% perturbation_lambda(job, eps_of(job, rho))
  list(output = job$method$output, confidence = job$control$confidence, lambda = lambda,
       output_share = job$control$output_share)
}
