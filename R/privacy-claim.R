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
  given <- claim$asked$delta
  add_entries(claim, delta = if (is.null(given)) claim$asked$budget$delta %||% default_delta(claim$n) else given)
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
    own <- function() new_budget(asked$eps, claim$delta, accountant)
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
  wanted <- if (is.null(eps)) Inf else rho_of(claim, eps)
  rho <- min(state$left, wanted)
  if (rho <= 1e-9 * state$capacity) {
    raise_status(list(name = "budget", message = "the privacy budget is exhausted"))
  }
  if (is.null(eps)) {
    inform("budget", "Without `eps` this takes all that is left of `budget`: ",
           guarantee_text(eps_of(claim, rho), claim$delta))
  } else if (rho < (1 - 1e-9) * wanted) {
    inform("budget", "`budget` has less left than `eps` = ", format(eps, digits = 4), ": this takes all of it, ",
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
  ledger <- ledger_rows(budget_state(claim$budget))
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

# Reservations. A fit on a budget that lasts commits one row with its whole cost, before it reads any data, and then
# draws on an in-memory ledger of this capacity, which nobody else has (proofs: nested-filters). Nothing is refunded.

# Which accountants of a store count which releases: Gaussian ones on the full data ("auto"), others on the full data
# ("zcdp"), steps on batches. What none counts is paid for by the other part (proofs: other-part).
counted_by <- list(auto = c("gdp", "zcdp", "renyi"), zcdp = c("zcdp", "renyi"), batches = "renyi", none = character())

# Does the other part of a store pay for them?
in_other <- function(budget, wanted) is_stored(budget) && !budget$accountant %in% counted_by[[wanted]]

# The budget of a claim on a store. In the other part it is the claim's own budget, which own() opens.
reserve_claim <- function(claim, wanted, own) {
  stored <- claim$asked$budget
  what <- claim$method$name %||% as.character(claim$call[[1]])
  if (in_other(stored, wanted)) return(reserve_other(claim, what, own))
  check_relation(stored, claim$neighbours, claim$call)
  reserve_part(stored, stored_rho(stored, claim$asked$eps, claim$delta), claim, what)
}

# The other part pays eps and delta for all that the claim releases, in whatever units. own() opens the claim's budget,
# if it has one, and refuses arguments before anything is reserved. Returns it with the receipt.
reserve_other <- function(claim, what, own = list) {
  stored <- claim$asked$budget
  check_relation(stored, claim$neighbours, claim$call)
  check_other_left(stored, claim, what)
  budget <- own()
  budget$receipt <- reserve(stored, c(rho = 0, eps = claim$asked$eps, delta = claim$delta), claim, what)
  budget
}

# An in-memory budget of rho of the main part.
reserve_part <- function(stored, rho, claim, what) {
  receipt <- reserve(stored, c(rho = rho, eps = 0, delta = 0), claim, what)
  structure(class = "dp_budget", list(
    pointer = part_ledger(stored, rho), eps = claim$asked$eps, delta = claim$delta, rho = NULL,
    mu = if (is.null(claim$asked$eps)) sqrt(2 * rho), order = stored$order, neighbours = stored$neighbours,
    receipt = receipt
  ))
}

part_ledger <- function(stored, rho) {
  switch(stored$accountant, gdp = .Call(ffi_ledger_create, rho, 0, "gdp"),
         zcdp = .Call(ffi_ledger_create, 0, rho, "zcdp"), renyi = .Call(ffi_ledger_create_renyi, stored$order, rho))
}

stored_rho <- function(stored, eps, delta) {
  rho <- rho_of(list(accountant = stored$accountant, delta = delta, budget = stored), eps)
  if (rho > 0) return(rho)
  abort("argument", "`eps` is too small: at the Renyi order of this budget, ", format(stored$order, digits = 4),
        ", no cost is that small.", call = NULL)
}

reserve <- function(stored, costs, claim, what) {
  accountant <- if (costs[["eps"]] > 0) "other" else stored$accountant
  unit <- if (is.null(claim$persons)) "record" else "person"
  reservation <- new_reservation(costs, claim$asked$label, claim$call, claim[["n"]], claim$neighbours, unit, what,
                                 accountant)
  charge_store(stored, reservation)
}

# Before anything is reserved; the store checks it again.
check_other_left <- function(stored, claim, what) {
  refuse <- function(...) {
    abort("accountant", "The accountant of this budget, \"", stored$accountant, "\", does not count the releases of ",
          what, ". ", ..., call = claim$call)
  }
  if (stored$other[["eps"]] == 0) refuse("A part `other` of the budget would pay for them, and it has none.")
  if (!is.null(claim$asked$delta)) return(invisible())
  share <- claim$asked$eps / stored$other[["eps"]] * stored$other[["delta"]]
  refuse("Its part `other` pays for them: give a `delta` of this part, such as ", signif(share, 3), ".")
}

# A fit names what it may spend: a whole study's budget would be lost by one call.
require_eps <- function(budget, call) {
  abort("argument", "`eps` is missing: a budget with a `store` pays for many fits, and each says how much it takes. ",
        "Left: ", left_text(stored_state(budget)), ".", call = call)
}

#' A part of a budget that lasts
#'
#' Reserves a part of a [budget with a store][budget-stores] and returns it as an ordinary budget, which lives in this
#' session: for [dp_oracle()] and algorithms of one's own, and for several fits that shall share one reservation.
#'
#' The reservation is written before the part is returned, and never taken back, whether the part is used or not.
#'
#' @param budget From `dp_budget(store = )`.
#' @param eps,delta Size of the part: what all its releases together are allowed. `delta = NULL` is that of the budget.
#' @param label A text of at most 200 characters that the store keeps, or `NULL`. It is public: it must not say anything
#'   that was learned from the data other than through releases.
#' @param ... Not used; anything in it is an error.
#' @return A `dp_budget` of that size, with the accountant and the neighbour relation of the store.
#' @section Errors: `dpsosp_budget_exhausted` where less is left; `dpsosp_error_argument`; `dpsosp_error_store` where
#'   the store cannot be read or written, or was changed.
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE)
#' old <- Sys.getenv("R_USER_CONFIG_DIR", NA)
#' Sys.setenv(R_USER_CONFIG_DIR = tempfile()) # the example leaves no trace
#' study <- dp_budget(eps = 2, delta = 1e-8, store = tempfile(fileext = ".dpledger"))
#' part <- dp_reserve(study, eps = 0.5, label = "own algorithm")
#' x <- matrix(runif(200, -1, 1), 100)
#' oracle <- dp_oracle(x, rep(c(-1, 1), 50), "logistic", part, radius = 1.5)
#' dp_gradient(oracle, c(0, 0, 0), mu = 0.05)
#' study
#' if (is.na(old)) Sys.unsetenv("R_USER_CONFIG_DIR") else Sys.setenv(R_USER_CONFIG_DIR = old)
#' @export
dp_reserve <- function(budget, eps, delta = NULL, label = NULL, ...) {
  call <- scrub_call(match.call(), quote(dp_reserve))
  check_dots(call)
  if (missing(budget)) {
    abort("argument", "`budget` is missing: give what `dp_budget(store = )` returned.", call = call)
  }
  if (!is_stored(budget)) {
    abort("argument", "`budget` must come from `dp_budget(store = )`: of another budget no part is reserved.",
          call = call)
  }
  if (missing(eps)) require_eps(budget, call)
  eps <- check_number(eps, "eps", 0, call = call)
  delta <- if (is.null(delta)) budget$delta else check_delta(delta, call)
  claim <- list(asked = list(eps = eps, label = check_label(label, call)), delta = delta, call = call,
                neighbours = budget$neighbours)
  reserve_part(budget, stored_rho(budget, eps, delta), claim, "dp_reserve")
}

check_label <- function(label, call) if (is.null(label)) NULL else check_text(label, "label", call)

#' @export
dp_ledger.dp_budget_store <- function(x, ...) reservations(stored_state(x)$rows)

reservations <- function(rows) {
  data.frame(
    number = rows$number, time = as.POSIXct(rows$time, tz = "UTC", format = "%Y-%m-%dT%H:%M:%SZ"), user = rows$user,
    host = rows$host, label = rows$label, call = rows$call, n = as.numeric(ifelse(nzchar(rows$n), rows$n, NA)),
    relation = paste0(rows$relation, ifelse(rows$unit == "person", person_mark, ""), recycle0 = TRUE),
    method = rows$method, accountant = rows$accountant, rho = as.numeric(rows$rho),
    other_eps = as.numeric(rows$other_eps), other_delta = as.numeric(rows$other_delta), hash = rows$hash
  )
}

person_mark <- " of persons"

# Whom the reservations so far protect, by their column relation; NULL where all protect records. What protects a person
# protects each record of it, where another one of the same person is put in its place.
protected_text <- function(relation) {
  persons <- sum(grepl(person_mark, relation, fixed = TRUE))
  if (persons == 0L) return(NULL)
  if (persons == length(relation)) return("Each reservation so far protects persons, with all of their records")
  paste(persons, "of", length(relation), "reservations protect persons, with all of their records: in sum all of them",
        "hold for single records only, each in place of another one of the same person")
}

#' @export
print.dp_budget_store <- function(x, digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  state <- stored_state(x)
  used <- state$used[["rho"]] / as.numeric(state$study$capacity)
  count <- function(number, one, more) paste(number, if (number == 1L) one else more)
  cat("<dp_budget> ", budget_text(x), "; ", accountant_texts[[x$accountant]],
      if (!is.null(x$order)) paste(" at order", format(x$order, digits = 4)), "; ", x$neighbours, "\n", sep = "")
  cat("Reserved: ", format_share(used, digits %||% 3), " in ",
      count(nrow(state$rows), "reservation", "reservations"), " by ",
      count(length(unique(state$rows$user)), "person", "people"), "; left: ", left_text(state), "\n", sep = "")
  protected <- protected_text(reservations(state$rows)$relation)
  if (!is.null(protected)) cat(strwrap(paste0(protected, "."), exdent = 2), sep = "\n")
  invisible(x)
}
