# The stage of a job that opens its budget, or claims its part of a shared one, once all arguments are known to be
# valid. It adds to the job what privacy-claim.R says and
#   batch          for a method on batches (method-batch.R)
#   lambda, perturbed  see open_perturbed()

job_open <- function(job) {
  job <- claim_part(open_budget(told_delta(job)))
  tell_reading(job)
  job
}

# Says before the first charge that a database's rows are fetched, where public facts tell it. What remains, such as
# matrices of many columns, is told at the end.
tell_reading <- function(job) {
  if (is.null(job$push)) return(invisible())
  if (!job$method$family$pushed(job$control)) {
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
    event <- batch_event(job$batch, rho, asked$eps, job$delta, job$neighbours)
    own <- function() dp_budget(eps = asked$eps, delta = job$delta, plan = event)
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
