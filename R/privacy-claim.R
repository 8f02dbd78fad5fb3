# A claim is what a release may spend, of a budget of its own or of a shared one: a list of
#   n, neighbours, noise, call
#   asked       eps, delta, budget and label, each as the call gives it or NULL
# to which these functions add
#   delta       in force
#   budget      that it draws on
#   accountant  for rho_of() and eps_of(); it is fixed before any release: see dp_budget()
#   rho, end    what the claim may spend, and what must be left of the budget afterwards
#   before      the number of ledger entries so far
# A job (job-stages.R) is a claim with a problem and a method. No entry of a claim is replaced.

# Adds entries; those that are NULL are left out.
add_entries <- function(x, ...) {
  new <- Filter(Negate(is.null), list(...))
  stopifnot(!names(new) %in% names(x))
  c(x, new)
}

# The parts of `asked` that are about the budget.
check_promise <- function(asked, call) {
  if (!is.null(asked$eps)) asked$eps <- check_number(asked$eps, "eps", 0, call = call)
  if (!is.null(asked$delta)) asked$delta <- check_delta(asked$delta, call)
  if (!is.null(asked$budget)) check_budget(asked$budget, "budget", call)
  asked$label <- check_label(asked$label, call)
  if (is_stored(asked$budget) && is.null(asked$eps)) require_eps(asked$budget, call)
  if (is.null(asked$eps) && is.null(asked$budget)) {
    abort("argument", "`eps` is missing: give the privacy budget, such as `eps = 1`.", call = call)
  }
  if (is.null(asked$eps) && !is.null(asked$delta)) {
    abort("argument", "`delta` belongs to `eps`: give both, or neither and the fit may spend what the budget has.",
          call = call)
  }
  asked
}

# Opens a claim of Gaussian releases on the full data.
open_claim <- function(claim) claim_part(open_filter(told_delta(claim_delta(claim)), "auto"))

claim_delta <- function(claim) {
  add_entries(claim, delta = claim$asked$delta %||% claim$asked$budget$delta %||% default_delta(claim$n))
}

# With n <= 3, 1/n^2 would be no guarantee.
default_delta <- function(n) if (n > 3) 1 / n^2 else 1e-6

told_delta <- function(claim) {
  if (is.null(claim$asked$delta) && is.null(claim$asked$budget)) {
    inform("delta", "delta = ", format(claim$delta, digits = 3), if (claim$n > 3) " (1/n^2)")
  }
  warn_delta(max(claim$delta, claim$asked$budget$delta), claim$n, claim$call)
  claim
}

# wanted: "auto", or the accountant that the releases need.
open_filter <- function(claim, wanted) {
  asked <- claim$asked
  if (owns_budget(claim)) {
    accountant <- if (wanted == "auto") "gdp" else wanted
    own <- function() dp_budget(eps = asked$eps, delta = claim$delta, accountant = accountant)
    return(add_entries(claim, budget = own_budget(claim, wanted, own)))
  }
  check_relation(asked$budget, claim$neighbours, claim$call)
  .Call(ffi_ledger_decide, asked$budget$pointer, wanted)
  add_entries(claim, budget = asked$budget)
}

# The part of its budget that the claim may spend.
claim_part <- function(claim) {
  state <- budget_state(claim$budget)
  gaussian <- if (state$accountant == "auto") "gdp" else state$accountant
  claim <- add_entries(claim, before = length(state$what),
                       accountant = if (is.null(claim$perturbed)) gaussian else "perturbed")
  eps <- claim$asked$eps
  rho <- min(state$left, if (is.null(eps)) Inf else rho_of(claim, eps))
  if (rho <= 1e-9 * state$capacity) {
    raise_status(list(name = "budget", message = "the privacy budget is exhausted"))
  }
  if (is.null(eps)) {
    inform("budget", "Without `eps` this takes all that is left of `budget`: ",
           guarantee_text(eps_of(claim, rho), claim$delta))
  }
  add_entries(claim, rho = rho, end = state$left - rho)
}

# A budget of its own takes no further charges afterwards. What was reserved in a store is its own.
close_claim <- function(claim) {
  .Call(ffi_ledger_close, claim$budget$pointer, claim$neighbours, if (owns_budget(claim)) 0 else Inf)
}

owns_budget <- function(claim) is.null(claim$asked$budget) || is_stored(claim$asked$budget)

# own: opens a budget of the claim's eps and delta for what it will release. With a store, after or by a reservation.
own_budget <- function(claim, wanted, own) {
  if (is.null(claim$asked$budget)) own() else reserve_claim(claim, wanted, own)
}

# The entry `privacy` of a result.
new_privacy <- function(claim) {
  ledger <- dp_ledger(claim$budget)
  ledger <- ledger[seq_len(nrow(ledger)) > claim$before, ]
  rownames(ledger) <- NULL
  # The claim costs less than asked for if the shared budget had less left.
  eps <- claim$asked$eps
  whole <- !is.null(eps) && claim$rho == rho_of(claim, eps)
  c(receipt_entries(claim, claim$budget$receipt), list(
    eps = if (whole) eps else eps_of(claim, claim$rho), delta = claim$delta, rho = claim$rho,
    mu = if (claim$accountant == "gdp") sqrt(2 * claim$rho) else NA_real_, # of all releases together
    accountant = claim$accountant, order = claim$budget$order, perturbed = claim$perturbed,
    lambda = claim$lambda,
    neighbours = claim$neighbours,
    noise = claim$noise, shared = if (!is.null(claim$asked$budget)) budget_text(claim$asked$budget), ledger = ledger
  ))
}

# What tells that a store paid, if one did.
receipt_entries <- function(claim, receipt) {
  Filter(Negate(is.null), list(label = claim$asked$label, receipt = receipt))
}
