# The stage of a job that opens its budget, or claims its part of a shared one, once all arguments are known to be
# valid. It adds to the job
#   delta       if none was given
#   budget      that it draws on
#   accountant  for rho_of() and eps_of(); it is fixed here, before any release: see dp_budget()
#   rho, end    what the job may spend, and what must be left of the budget afterwards
#   before      the number of ledger entries so far
#   batch       for a method on batches (batch.R); lambda, kappa: see open_perturbed()
# and may replace the method if method = "auto" (auto.R).

job_open <- function(job) {
  job <- job_delta(job)
  if (job$auto) job <- auto_quiet(job)
  job <- job_claim(open_budget(job))
  tell_reading(job)
  job
}

# Says before the first charge that a database's rows are fetched, where public facts tell it: ranges are found from
# rows, and the database knows no coordinates but those of the mapped rows. What remains, such as matrices of many
# columns, is told at the end.
tell_reading <- function(job) {
  if (is.null(job$push)) return(invisible())
  if (uses_geometry(job)) {
    tell_fetched(job$push, ", because its sums are in the coordinates of a geometry", geometry_advice(job))
  } else if (length(job$columns(job)) > 0L) {
    tell_fetched(job$push, " to find ranges; `bounds` declares public ones")
  } else if (!job$method$family$pushed(job$control)) {
    tell_fetched(job$push, ", because the method \"", job$method$name,
                 "\" asks for other sums than a database computes")
  }
}

# What the call may say instead of a default geometry; a geometry that it asks for needs no advice.
geometry_advice <- function(job) {
  if (!job$default_geometry) return(NULL)
  instead <- c(if (job$auto || !is.null(job$method$family$weighted)) "`method = \"newton\"`",
               if (job$auto || is.null(job$method$family$weighted)) "`geometry = \"none\"`")
  paste0("; with ", paste(instead, collapse = " or "), " the database sums")
}

job_delta <- function(job) {
  if (is.null(job$delta)) job$delta <- default_delta(job)
  warn_delta(max(job$delta, job$budget$delta), job$n, job$call)
  job
}

# The part of its budget that the job may spend.
job_claim <- function(job) {
  state <- budget_state(job$budget)
  job$before <- length(state$what)
  job$accountant <- if (state$accountant == "auto") "gdp" else state$accountant
  if (!is.null(job$kappa)) job$accountant <- "perturbed"
  job$rho <- min(state$left, if (is.null(job$eps)) Inf else rho_of(job, job$eps))
  job$end <- state$left - job$rho
  if (job$rho <= 1e-9 * state$capacity) {
    raise_status(list(name = "budget", message = "the privacy budget is exhausted"))
  }
  if (is.null(job$eps)) {
    inform("budget", "Without `eps` this takes all that is left of `budget`: ",
           guarantee_text(eps_of(job, job$rho), job$delta))
  }
  job
}

# A job's own budget takes no further charges afterwards.
job_close <- function(job) {
  .Call(ffi_ledger_close, job$budget$pointer, job$neighbours, if (job$owned) 0 else Inf)
}

default_delta <- function(job) {
  if (!is.null(job$budget$delta)) return(job$budget$delta)
  # With n <= 3, 1/n^2 would be no guarantee.
  delta <- if (job$n > 3) 1 / job$n^2 else 1e-6
  inform("delta", "delta = ", format(delta, digits = 3), if (job$n > 3) " (1/n^2)")
  delta
}

open_budget <- function(job) {
  if (job$method$batch) return(open_batches(job))
  if (!is.null(job$method$open)) return(job$method$open(job))
  open_filter(job, job$method$family$accountant(job))
}

# wanted: "auto", or the accountant that the releases need.
open_filter <- function(job, wanted) {
  if (job$owned) {
    job$budget <- dp_budget(eps = job$eps, delta = job$delta, accountant = if (wanted == "auto") "gdp" else wanted)
  } else {
    check_relation(job$budget, job$neighbours, job$call)
    .Call(ffi_ledger_decide, job$budget$pointer, wanted)
  }
  job
}

# The planned steps determine the order of the filter.
open_batches <- function(job) {
  if (job$owned) {
    rho <- .Call(ffi_gdp_mu, job$eps, job$delta)^2 / 2
    job$batch <- new_batch(job, rho)
    event <- batch_event(job$batch, rho, job$eps, job$delta, job$neighbours)
    job$budget <- dp_budget(eps = job$eps, delta = job$delta, plan = event)
    return(job)
  }
  check_relation(job$budget, job$neighbours, job$call)
  state <- budget_state(job$budget)
  if (state$accountant != "renyi") {
    abort("accountant", "The method \"", job$method$name, "\" needs a `budget` with a Renyi filter: give ",
          "`dp_budget()` a `plan`.", call = job$call)
  }
  job$batch <- new_batch(job, state$left)
  job
}
