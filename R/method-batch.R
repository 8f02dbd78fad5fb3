# Mini-batches: what is decided about them before a run sees any data.
#
# Everything here is a function of n, the number of coefficients, the budget and the call. The plan fixes the order of
# the Renyi filter and, where `batch` is NULL, the batch size; the run itself may differ from the plan.

batch_schemes <- c("wor", "poisson")

# The settings of a control object that concern batches.
batch_control <- function(batch, sampling, batch_share, call) {
  list(
    batch = if (!is.null(batch)) check_number(batch, "batch", 0, call = call),
    sampling = if (!is.null(sampling)) check_choice(sampling, batch_schemes, "sampling", call),
    batch_share = check_share(batch_share, "batch_share", call)
  )
}

# rho: the budget in zCDP if all releases were Gaussian and on the full data.
new_batch <- function(job, rho) {
  control <- job$control
  zero_out <- job$neighbours == "zero-out"
  scheme <- control$sampling %||% if (zero_out) "poisson" else "wor"
  if (scheme == "wor" && zero_out) {
    abort("unsupported", "Batches without replacement are accounted for under \"replace-one\" only: with a null ",
          "record in the batch another record is missing from it. Take `sampling = \"poisson\"`.", call = job$call)
  }
  steps <- job$method$family$steps(job)
  size <- control$batch %||% default_batch(job, rho, steps)
  if (!(size < job$n)) {
    abort("argument", "`batch` must be less than the number of records, ", job$n, ".", call = job$call)
  }
  if (scheme == "wor" && size != round(size)) {
    abort("argument", "`batch` must be a whole number where batches are drawn without replacement; it is ",
          format(size), ".", call = job$call)
  }
  list(size = size, scheme = scheme, rate = size / job$n, share = control$batch_share, steps = steps,
       chosen = job$method$family$chosen(control))
}

# Number of steps of length 1/G in the worst case. It need not be exact, as a run may differ from the plan.
gradient_steps <- function(job) {
  published <- identical(job$control$constants, "published")
  eps_g <- job$asked$target$eps_g %||% job$asked$target$alpha
  if (is.null(eps_g)) return(min(job$control$max_iterations, 200))
  gap <- if (is.na(job$control$gap)) 1 else job$control$gap
  smooth <- max(0.25, loss_bounds(job$loss)[["curv_upper"]])
  min(job$control$max_iterations,
      iterations_gradient(list(eps_g = eps_g, gap = gap, smooth = if (published) 1 else smooth)))
}

# The batch size at which the sampling error, at most L / sqrt(batch), equals the noise of a step, sqrt(d) times its
# standard deviation. Smaller batches would increase the error, larger ones the time. The lower limit is n / 200, as
# very small rates are amplified less than in proportion; it is n / 50 with the constants of Gao & Wright. The upper
# limit is n / 20, or n / 5 for Newton's method with few steps and its own curvature. Line searches use n / 10, as the
# values that they compare have a large sampling error.
default_batch <- function(job, rho, steps) {
  sensitivity <- changes_of(job$neighbours) # times L / n
  wanted <- 2 * job$n^2 * job$control$batch_share * rho / (sensitivity^2 * job$dim * steps)
  family <- job$method$family
  max(1, floor(min(max(wanted, job$n / family$max_batches(job$control)), job$n / family$min_batches(job$control))))
}

# The planned run, as event_plan() has it: first the steps on batches (Gaussian, or in part a sparse vector on a batch
# of its own, which is accounted for by its eps), then the Gaussian releases on the full data. Amplification makes a
# step cheaper by the square of the rate at best, so the noise is scaled until (eps, delta) allows the plan.
batch_plan <- function(batch, rho, eps, delta, neighbours) {
  on_batch <- function(event) event_repeat(event_subsample(event, batch$rate, batch$scheme), batch$steps)
  sigma <- function(rho) 1 / sqrt(2 * rho)
  step <- batch$share * rho / batch$steps / batch$rate^2
  releases <- list(on_batch(event_gaussian(sigma((1 - batch$chosen) * step), neighbours)),
                   if (batch$chosen > 0) on_batch(event_pure(1 / sigma(batch$chosen * step), neighbours)),
                   if (batch$share < 1) event_gaussian(sigma((1 - batch$share) * rho), neighbours))
  plan <- event_plan(do.call(event_compose, Filter(Negate(is.null), releases)))
  # The numbers of Gaussian and of pure leaves are in inverse proportion to the noise.
  scaled <- function(scale) {
    plan$leaves$a <- plan$leaves$a / scale
    plan
  }
  scaled(min_noise(function(scale) epsilon_by(scaled(scale), "rdp", delta), eps, c(0.5, 1e3), 0.05))
}

batch_options <- function(batch) {
  if (is.null(batch)) return(list(batch_size = 0, batch_scheme = batch_schemes[1], batch_share = 1))
  list(batch_size = batch$size, batch_scheme = batch$scheme, batch_share = batch$share)
}

batch_text <- function(batch) {
  if (is.null(batch)) return(NULL)
  paste0("Steps on batches of ", format(batch$size, digits = 6, big.mark = ","),
         if (batch$size == 1) " record" else " records",
         if (batch$scheme == "wor") ", without replacement" else " expected, Poisson",
         " (rate ", format_share(batch$rate), ")")
}

#' How large batches must be
#'
#' The least batch size for which, by vector and matrix Bernstein bounds, the sampling errors of gradient and
#' Hessian are at most half of the error that the analysis of the short-step method allows their noise, in all planned
#' iterations together. It is a worst-case bound, often larger than the number of records. Runs of [dp_sosp()] do not
#' rely on it, since releases on the full data certify what the batches found.
#'
#' \deqn{m \ge \max\{64 B_g^2 (\log(2 d T / \eta) + 1/4) \max(c_1^{-2} \epsilon_g^{-2}, M^2 c_2^{-2} \epsilon_H^{-4}),
#'   32 B_H^2 \log(2 d T / \eta) c^{-2} \epsilon_H^{-2}\}}{m >= max(64 B_g^2 (log(2 d T / eta) + 1/4)
#'   max(1 / (c1 eps_g)^2, M^2 / (c2 eps_h^2)^2), 32 B_H^2 log(2 d T / eta) / (c eps_h)^2)}
#'
#' @param eps_g,eps_h The target, positive.
#' @param d Number of coefficients.
#' @param iterations T, a whole number; see [planned_iterations()].
#' @param failure Error probability \eqn{\eta}{eta} of all iterations together, in (0, 1).
#' @param gradient,hessian Bounds B_g and B_H on the norms of one record's gradient and Hessian.
#' @param third M, the Lipschitz constant of the Hessian.
#' @param c,c1,c2 The fractions that noise may take, positive.
#' @param ... Not used; anything in it is an error.
#' @return A whole number.
#' @section Errors: `dpsosp_error_argument` for an argument out of its range.
#' @references Gao and Wright (2023), condition (24), on lemmas of Kohler and Lucchi (2017).
#' @examples
#' iterations <- planned_iterations("opt", eps_g = 0.06, eps_h = 0.245, gap = log(2))
#' sufficient_batch(eps_g = 0.06, eps_h = 0.245, d = 54, iterations = iterations)
#' @export
sufficient_batch <- function(eps_g, eps_h, d, iterations, failure = 0.05, gradient = 1, hessian = 1, third = 1,
                             c = 0.1, c1 = 0.1, c2 = 0.1, ...) {
  check_dots()
  require_given()
  call <- sys.call()
  positive <- function(x, arg) check_number(x, arg, 0, call = call)
  eps_g <- positive(eps_g, "eps_g")
  eps_h <- positive(eps_h, "eps_h")
  d <- check_count(d, "d", call = call)
  iterations <- check_count(iterations, "iterations", call = call)
  failure <- check_number(failure, "failure", 0, 1, call = call)
  log_term <- log(2 * d * iterations / failure)
  by_gradient <- max(1 / (positive(c1, "c1") * eps_g)^2, positive(third, "third")^2 / (positive(c2, "c2") * eps_h^2)^2)
  ceiling(max(64 * positive(gradient, "gradient")^2 * (log_term + 0.25) * by_gradient,
              32 * positive(hessian, "hessian")^2 * log_term / (positive(c, "c") * eps_h)^2))
}
