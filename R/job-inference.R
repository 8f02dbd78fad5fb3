# The stage of a job that releases what intervals need: gradient, Hessian and second moments of the records' gradients,
# at the solution, in the coordinates of the mapped rows. It adds to the job
#   intervals  if they are requested:
#     type          "sandwich" or "model"
#     released      point and noisy releases (one-step.R), n
#     coefficients, vcov, reason, predictor  (step_intervals())

# Fractions of the cost of intervals. Type "model" needs no products, so the other fractions are scaled up.
inference_shares <- c(gradient = 0.40, hessian = 0.30, products = 0.05)
# Fraction for the method, of the budget that a fit with intervals has left when its method begins.
inference_path <- 0.25

inference_types <- c("sandwich", "model")

job_intervals <- function(job) {
  if (job$inference == "none") return(job)
  oracle <- if (is.null(job$geometry)) job$oracle else plain_oracle(job)
  rho <- budget_state(job$budget)$left - job$end
  point <- core_start(job$design, job$solution)
  add_entries(job, intervals = infer(oracle, job$design, point, job$inference, rho, job$n))
}

infer <- function(oracle, design, point, type, rho, n) {
  shares <- inference_shares[if (type == "sandwich") names(inference_shares) else c("gradient", "hessian")]
  cost <- shares / sum(shares) * rho * (1 - 1e-12)
  released <- list(
    point = point, gradient = dp_gradient(oracle, point, rho = cost[["gradient"]]),
    hessian = dp_hessian(oracle, point, rho = cost[["hessian"]]),
    products = if (type == "sandwich") products(oracle, point, cost[["products"]]), n = n
  )
  c(list(type = type, released = released), step_intervals(one_step(released, design), design))
}

products <- function(oracle, point, rho) {
  answer <- .Call(ffi_oracle_products, oracle$pointer, point, rho, is_reproducible(oracle))
  new_release(answer$products, answer$sd)
}

# Do check_inferable() and the number of outputs allow intervals?
has_intervals <- function(loss, penalty) {
  loss_outputs(loss) == 1L && is_convex(loss, penalty_none()) && is_smooth(loss) && penalty$name == "none"
}

# Checks a problem.
check_inferable <- function(loss, penalty, dim, call) {
  refuse <- function(...) abort("argument", "Intervals ", ..., call = call, class = "dpsosp_error_inference")
  if (!is_convex(loss, penalty_none())) {
    refuse("are for convex losses: a step from a point of the ", loss$name, " loss leads to no minimiser of it.")
  }
  if (!is_smooth(loss)) {
    refuse("need Hessians, and the second derivative of the ", loss$name, " loss jumps: none is released.")
  }
  if (penalty$name != "none") {
    refuse("are about the minimiser without a penalty: leave out `penalty`.")
  }
  check_matrix_size(dim, "A covariance", call)
}
