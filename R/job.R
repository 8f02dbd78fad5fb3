# A job is a problem with the settings of its fit: a list that each stage extends and returns. Its entries are those of
# the problem (problem.R) and, by the stage that adds them,
#   new_job()     inference (its type, or "none"), penalty, auto (does the rule choose the method?), method (a row of
#                 methods()), target, control, geometry (as requested), default_geometry (was none given?), neighbours,
#                 noise, progress, eps, delta, budget (a shared one or NULL), owned (is there no shared one?)
#   job_start()   side, dim (number of coefficients of one output, and of all), start (for the mapped response; NULL if
#                 none is given), storage
#   job_open()    budget, the part of it that the job may spend, and what follows from it (job-open.R)
#   job_ranges()  private (names of the columns whose ranges are found), design with all ranges (job-ranges.R)
#   job_response()  start, and level and bounds of the response, for residuals (job-response.R)
#   job_constant()  start if none was given, class (job-constant.R)
#   fit_job()     oracle
#   job_geometry()  geometry in use, or NULL; ends (checks.R) (job-geometry.R)
#   job_run()     target in use, answer (of ffi_method_run), solution (coefficients of the columns), released (of
#                 ffi_oracle_kept)
#   job_usable()  usable (job-usable.R)
#   job_inference()  released inference, or NULL (job-inference.R)
# Nothing is charged before job_ranges(), and no argument is refused after job_open().

# Runs the stages after new_job().
fit_job <- function(job, start, storage) {
  end <- job$hold()
  on.exit(end())
  job <- job_constant(job_response(job_ranges(job_open(job_start(job, start, storage)))))
  job$oracle <- new_oracle(job$records(job), job$loss, job$budget, job$design$radius, job$design$intercept,
                           job$neighbours, job$noise)
  job <- job_inference(job_usable(job_run(job_geometry(job))))
  job_close(job)
  new_fit(job)
}

# Decides everything that does not need the number of coefficients.
new_job <- function(problem, eps, delta, method, penalty, target, control, geometry, budget, neighbours, noise,
                    progress, inference) {
  call <- problem$call
  inference <- check_choice(inference, c("none", inference_types), "inference", call)
  penalty <- check_penalty(penalty, "penalty", call)
  auto <- identical(method, "auto")
  method <- check_method(method, problem$loss, penalty, control, geometry, inference, call)
  target <- check_target(target, call)
  control <- check_control(control, method, problem$loss, call)
  check_several(problem$loss, penalty, method, control, geometry, inference, call)
  check_convex(problem$loss, penalty, method, call)
  check_smooth(problem$loss, penalty, method, control, call)
  job <- c(problem, list(
    inference = inference, penalty = penalty, auto = auto, method = method, target = target, control = control,
    geometry = check_geometry(geometry, method, call), default_geometry = is.null(geometry),
    neighbours = check_neighbours(neighbours, call), noise = check_noise(noise, call),
    progress = check_flag(progress, "progress", call)
  ), check_promise(eps, delta, budget, call))
  if (job$default_geometry) job$geometry <- default_geometry(job)
  job
}

# Checks the budget of the fit: its own or a shared one.
check_promise <- function(eps, delta, budget, call) {
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
  list(eps = eps, delta = delta, budget = budget, owned = is.null(budget))
}

# The last checks of arguments.
job_start <- function(job, start, storage) {
  job$side <- design_dim(job$design)
  job$dim <- job$side * loss_outputs(job$loss)
  if (job$dim == 0L) abort("argument", "`x` has no columns and there is no intercept.", call = job$call)
  job$start <- check_start(start, job)
  job$storage <- check_choice(storage, storage_known, "storage", job$call)
  if (job$streamed) check_streamed(job)
  if (job$auto) job <- auto_wide(job)
  if (!takes_residuals(job$method)) {
    check_bounded_slope(job$loss, paste0("The method \"", job$method$name, "\" needs"), job$call)
  }
  check_geometry_columns(job)
  check_size(job)
  if (job$inference != "none") check_inference(job)
  job
}

# The start for the mapped response.
check_start <- function(start, job) {
  if (is.null(start)) return(NULL)
  if (loss_outputs(job$loss) > 1L) return(check_start_several(start, job))
  start <- check_vector(start, "start", job$dim, "one per coefficient (the intercept, if there is one, first)",
                        job$call)
  response_start(job$response, start, job$design$intercept)
}

check_start_several <- function(start, job) {
  classes <- length(job$response$labels)
  if (!is.matrix(start) || !identical(dim(start), c(as.integer(job$side), classes))) {
    abort("argument", "`start` must be a matrix of ", job$side, " x ", classes, " numbers, a column for each class, ",
          "not ", describe(start), ".", call = job$call)
  }
  check_vector(as.vector(start), "start", job$dim, "a column for each class", job$call)
}

job_run <- function(job) {
  oracle <- job$oracle
  outputs <- loss_outputs(job$loss)
  start <- as.vector(by_output(job$start, outputs, function(start) core_start(job$design, start)))
  start <- to_geometry(job$geometry, start)
  penalty <- core_penalty(job$penalty, job$design$intercept, job$side)
  share <- if (job$inference == "none") 1 else inference_path
  rho <- share * (budget_state(job$budget)$left - job$end - usable_cost(job))
  bar <- progress_bar(job$progress, job$method$name)
  core <- job$method$family$core(job$control)
  target <- list(eps_g = 1, eps_h = 1) # the default target does not depend on these
  options <- c(job$method$family$options(job, rho), target)
  alpha <- function() .Call(ffi_method_alpha, core, oracle$pointer, penalty, options, rho, start)
  third <- oracle_facts(oracle)$third + penalty_bounds(penalty)[["third"]]
  job$target <- settle_target(job$target, oracle, alpha, third, job$call)
  options[names(target)] <- job$target[names(target)]
  job$answer <- .Call(ffi_method_run, core, oracle$pointer, penalty, options, rho, start, bar, is_reproducible(oracle))
  w <- from_geometry(job$geometry, job$answer$w)
  job$solution <- by_output(w, outputs, function(w) core_coef(job$design, w))
  if (outputs > 1L) job$solution <- centred(job$solution, job$response$labels)
  job$released <- .Call(ffi_oracle_kept, oracle$pointer)
  job
}

# Of all solutions with the same probabilities, the one whose rows sum to zero: it has the smallest penalty.
centred <- function(coefficients, labels) {
  out <- coefficients - rowMeans(coefficients)
  colnames(out) <- labels
  out
}
