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
dp_ledger.dp_budget_store <- function(x) reservations(stored_state(x)$rows)

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
