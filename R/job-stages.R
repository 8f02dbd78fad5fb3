# A job is a problem with the settings of its fit: a list to which each stage adds entries and which it returns. No
# entry is replaced, except that job_ranges() and job_response() complete `design`, `loss` and `response`. The entries
# are those of the problem (model-problem.R) and, by the stage that adds them,
#   new_job()     asked (the arguments of the call, checked one by one), penalty, inference (type of the intervals, or
#                 "none"), storage, neighbours, noise, progress
#     job_size()    side, dim (number of coefficients of one output, and of all)
#     job_decide()  delta, auto (does the rule choose the method?), method (a row of methods()), control, moments (of
#                 the columns: "private", "none", or public ones)
#     job_given()   network (in the form of the core), given (start that is given, for the mapped response)
#   job_open()    budget and the part of it that the job may spend (privacy-claim.R), and what follows from it
#   job_present()  present (job-present.R)
#   job_ranges()  private (names of the columns whose ranges are found), missed (of those whose ranges were not), beyond
#                 (what the counts tell of values beyond ranges), single (columns that seem to have one value), cells
#                 (of smooths), wishes (how precisely the fraction of the second class is released before the run, if it
#                 is); completes design (job-ranges.R)
#   job_response()  level, of_response (as beyond); completes loss and response, for squared error (job-start.R)
#   job_begin()   start, class, class_fraction; completes design by the columns of smooths, unless job_ranges() did, and
#                 with it side and dim (job-start.R)
#   job_oracle()  oracle
#   job_usable()  usable (job-null.R), where job_response() and job_geometry() do not release it
#   job_geometry()  geometry in use, ends, usable (job-geometry.R)
#   job_run()     target in use, answer (of ffi_method_run), released (of ffi_oracle_kept)
#   job_solution()  solution (coefficients of the columns)
#   job_intervals()  intervals (job-inference.R)
#   job_explained()  explained (job-explained.R)
# A job whose `usable` says that no record is used has no further stage (job-null.R).
# Nothing is charged before job_present(), and no argument is refused after job_open().

# asked: the arguments of the call by their names, those of asked_arguments.
new_job <- function(problem, asked) {
  job <- job_asked(problem, asked)
  job <- job_size(job)
  job <- job_decide(job)
  refuse(job, refusals)
  job <- job_given(job)
  check_requirements(job)
  job
}

# ---- stages before the first charge ----

asked_arguments <- c("eps", "delta", "budget", "method", "control", "penalty", "target", "geometry", "start",
                     "inference", "certificate", "neighbours", "noise", "storage", "progress", "label")

# Checks what can be checked of each argument alone.
job_asked <- function(problem, asked) {
  call <- problem$call
  asked <- check_promise(asked, call)
  asked$target <- check_target(asked$target, call)
  asked["geometry"] <- list(check_geometry(asked$geometry, call))
  refuse(c(problem, list(asked = asked)), method_refusals)
  check_choice(asked$method, c(method_names(!is.null(problem$model)), "auto"), "method", call)
  add_entries(
    problem, asked = asked, penalty = check_penalty(asked$penalty, "penalty", call),
    inference = check_inference(asked$inference, call),
    storage = check_choice(asked$storage, storage_known, "storage", call),
    neighbours = check_neighbours(asked$neighbours, call), noise = check_noise(asked$noise, call),
    progress = check_flag(asked$progress, "progress", call)
  )
}

# TRUE, as in dp_plan(), is the type that needs no model.
check_inference <- function(inference, call) {
  if (is.logical(inference) && length(inference) == 1L && !is.na(inference)) {
    return(if (inference) inference_types[1] else "none")
  }
  check_choice(inference, c("none", inference_types), "inference", call)
}

# A network has as many coefficients as its start (job_given()).
job_size <- function(job) {
  if (!is.null(job$model)) return(job)
  sizes <- job_sizes(job)
  if (sizes$side == 0L) abort("argument", "`x` has no columns and there is no intercept.", call = job$call)
  add_entries(job, side = sizes$side, dim = sizes$dim)
}

job_decide <- function(job) {
  job <- claim_delta(job)
  method <- chosen_method(job)
  job <- add_entries(complete(job, loss = loss_for(method, job$loss)), auto = identical(job$asked$method, "auto"),
                     method = method, control = check_control(job$asked$control, method, job))
  add_entries(job, moments = if (is.null(job$asked$geometry)) default_moments(job) else job$asked$geometry)
}

job_given <- function(job) {
  if (is.null(job$model)) return(add_entries(job, given = check_start(job$asked$start, job)))
  job <- add_entries(job, network = core_network(job$model, job$input, job$range, job$outputs))
  given <- network_start(job)
  add_entries(job, given = given, side = length(given), dim = length(given))
}

# The start for the mapped response. Fits by residuals, whose bounds may have to be found, take none: residual_fault().
check_start <- function(start, job) {
  if (is.null(start) || job$method$residuals) return(NULL)
  if (job$outputs > 1L) return(check_start_outputs(start, job))
  start <- check_vector(start, "start", job$dim, "one per coefficient (the intercept, if there is one, first)",
                        job$call)
  response_start(job$response, start, job$design$intercept)
}

check_start_outputs <- function(start, job) {
  classes <- length(job$response$labels)
  if (!is.matrix(start) || !identical(dim(start), c(as.integer(job$side), classes))) {
    abort("argument", "`start` must be a matrix of ", job$side, " x ", classes, " numbers, a column for each class, ",
          "not ", describe(start), ".", call = job$call)
  }
  check_vector(as.vector(start), "start", job$dim, "a column for each class", job$call)
}

# ---- the oracle and the solution ----

job_oracle <- function(job) {
  add_entries(job, oracle = if (is.null(job$model)) plain_oracle(job) else network_oracle(job))
}

job_solution <- function(job) {
  if (!is.null(job$model)) return(add_entries(job, solution = job$answer$w))
  map <- function(w) core_coef(job$design, from_geometry(job$geometry, w))
  solution <- by_output(job$answer$w, job$outputs, map)
  if (job$method$residuals) job <- complete(job, loss = reported_loss(job))
  add_entries(job, solution = if (job$outputs > 1L) centred(solution, job$response$labels) else solution)
}

# The stage of a job that opens its budget, or claims its part of a shared one, once all arguments are known to be
# valid. It adds to the job what privacy-claim.R says and
#   batch          for a method on batches (method-batch.R)
#   lambda, perturbed  see open_perturbed()

job_open <- function(job) {
  job <- claim_part(open_budget(told_delta(job)))
  if (!is.null(job$push)) tell_reading(job)
  job
}

# Says before the first charge that a database's rows are fetched, where public facts tell it. What remains, such as
# matrices of many columns, is told at the end.
tell_reading <- function(job) {
  if (!job$method$family$pushed(job$control, job$method)) {
    tell_fetched(job$push, ", because the method \"", job$method$name,
                 "\" asks for other sums than a database computes")
  }
}

open_budget <- function(job) {
  if (job$method$batch) return(open_batches(job))
  if (!is.null(job$method$open)) return(job$method$open(job))
  open_filter(job, job$method$family$accountant(job))
}

# The planned steps determine the order of the filter.
open_batches <- function(job) {
  asked <- job$asked
  if (is.null(asked$budget) || in_other(asked$budget, "batches")) {
    rho <- .Call(ffi_gdp_mu, asked$eps, job$delta)^2 / 2
    job <- add_entries(job, batch = new_batch(job, rho))
    plan <- batch_plan(job$batch, rho, asked$eps, job$delta, job$neighbours)
    own <- function() planned_budget(plan, job$neighbours, asked$eps, job$delta, job$call)
    return(add_entries(job, budget = own_budget(job, "batches", own)))
  }
  if (is_stored(asked$budget)) {
    job <- add_entries(job, batch = new_batch(job, stored_rho(asked$budget, asked$eps, job$delta)))
    return(add_entries(job, budget = reserve_claim(job, "batches")))
  }
  check_relation(asked$budget, job$neighbours, job$call)
  state <- budget_state(asked$budget)
  if (state$accountant != "renyi") {
    abort("accountant", "The method \"", job$method$name, "\" needs a `budget` with a Renyi filter: give ",
          "`dp_budget()` a `plan`.", call = job$call)
  }
  add_entries(job, budget = asked$budget, batch = new_batch(job, state$left))
}
