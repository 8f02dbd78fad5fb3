#' A privacy budget that several fits may share
#'
#' A budget is fixed before anything is released. Fits and oracles that are
#' given the same budget draw on it together: each release is charged before it
#' is made, and refused when it would exceed the budget. What is guaranteed is
#' the budget, not the amount spent so far.
#'
#' State it as one of
#' * `eps` and `delta`: (eps, delta)-differential privacy;
#' * `rho`: zero-concentrated differential privacy (zCDP);
#' * `mu`: Gaussian differential privacy (only Gaussian releases).
#'
#' A budget in (eps, delta) can be counted in two ways. While all releases are
#' Gaussian, their total is converted exactly (`accountant = "gdp"`); this buys
#' 15 to 30 percent less noise. With a sparse vector or an exponential mechanism
#' among them, zCDP is needed (`accountant = "zcdp"`). The choice must not
#' depend on what was released, so `"auto"` lets the first charge decide; after
#' that, a mechanism that does not fit is refused.
#'
#' The cost of a subsampled step of a mini-batch method is linear in neither
#' unit. The filter for such methods counts the Renyi divergence at one order, which is fixed
#' before the run from the planned schedule: give it as `plan`
#' ([dp_filter_order()] shows the order and the cost of the plan). The run may
#' depart from the plan in any way; only the order is taken from it.
#'
#' A budget holds under one neighbour relation: a release under `"zero-out"` costs up to four times as much `rho`
#' under `"replace-one"`. The first charge, or the plan, fixes the relation; a fit or an oracle under the other one is
#' refused before anything is charged.
#'
#' Assignment does not copy a budget: after `b <- budget`, `b` is the same budget. It cannot be saved
#' and restored, nor used in a forked process. A budget with a `store` lasts longer than a session and may be used in
#' many: see [budget-stores].
#'
#' @param eps,delta Privacy parameters, `eps > 0` and `0 < delta < 0.1`. A fit or an oracle of n records warns where
#'   `delta` is 1/n or more: publishing one of n records unprotected would satisfy such a guarantee.
#' @param rho zCDP parameter, positive.
#' @param mu Gaussian-DP parameter, positive.
#' @param accountant `"auto"`, `"gdp"`, `"zcdp"` or `"renyi"`; only for `eps`
#'   and `delta`. `"renyi"` needs a `plan`, and a `plan` implies it.
#' @param plan An event, see [events]: the public schedule from which the Renyi order
#'   is chosen. The budget then holds under the plan's neighbour relation only.
#' @param store `NULL`, the name of a file (SQLite), or a connection of RPostgres: where a budget that lasts is kept.
#'   With `eps` and `delta` it is created there, or opened if it is there and has the same arguments; without them it
#'   is opened.
#' @param study With a connection: the name of the study, as one database holds several.
#' @param other With a `store`: `c(eps = , delta = )`, the part of the budget for what its accountant does not count.
#' @param neighbours With a `store`: the relation under which it holds, `"replace-one"` (the default) or `"zero-out"`.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_budget`.
#' @seealso [dp_ledger()] for what was spent, [dp_convert()] between the units.
#' @section Errors: `dpsosp_error_argument` for a wrong argument. Later use raises
#'   `dpsosp_budget_exhausted` (too little is left), `dpsosp_error_accountant`, `dpsosp_error_relation`,
#'   `dpsosp_error_fork` or `dpsosp_error_restored`. With a `store` also `dpsosp_error_store`.
#' @references Smith and Thakurta (2022), Fully adaptive composition for
#'   Gaussian differential privacy; Rogers, Roth, Ullman and Vadhan (2016), Privacy
#'   odometers and filters; Feldman and Zrnic (2021), Individual privacy
#'   accounting via a Renyi filter; Canonne, Kamath and Steinke (2020), The discrete
#'   Gaussian for differential privacy.
#' @examples
#' budget <- dp_budget(eps = 1, delta = 1e-6)
#' budget
#' dp_ledger(budget)
#' batches <- event_repeat(event_subsample(event_gaussian(4), rate = 0.01), times = 2000)
#' dp_budget(eps = 1, delta = 1e-6, plan = batches)
#' @export
dp_budget <- function(eps = NULL, delta = NULL, rho = NULL, mu = NULL, accountant = c("auto", "gdp", "zcdp", "renyi"),
                      plan = NULL, store = NULL, study = NULL, other = NULL, neighbours = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  chosen <- if (!missing(accountant)) check_choice(accountant, accountant_names, "accountant", call)
  accountant <- chosen %||% "auto"
  lasting <- list(study = study, other = other, neighbours = neighbours)
  if (!is.null(store)) {
    if (!is.null(rho) || !is.null(mu)) {
      abort("argument", "A budget with a `store` is stated as `eps` and `delta`.", call = call)
    }
    if (!is.null(neighbours)) check_neighbours(neighbours, call)
    return(stored_budget(c(list(eps = eps, delta = delta, accountant = chosen, plan = plan, store = store), lasting),
                         call))
  }
  for (name in names(Filter(Negate(is.null), lasting))) {
    abort("argument", "`", name, "` is for a budget with a `store`.", call = call)
  }
  given <- c(eps = !is.null(eps), rho = !is.null(rho), mu = !is.null(mu))
  if (sum(given) != 1L) abort("argument", "Give exactly one of `eps` (with `delta`), `rho` and `mu`.", call = call)
  if (given["eps"]) {
    eps <- check_number(eps, "eps", 0, call = call)
    if (is.null(delta)) abort("argument", "`eps` needs `delta`, for example 1 / n^2.", call = call)
    delta <- check_delta(delta, call)
    if (!is.null(plan) || accountant == "renyi") return(renyi_budget(eps, delta, accountant, plan, call))
    return(new_budget(eps, delta, accountant))
  }
  if (!is.null(delta)) abort("argument", "`delta` belongs to `eps`; a budget in `rho` or `mu` has none.", call = call)
  if (accountant != "auto" || !is.null(plan)) {
    abort("argument", "`accountant` and `plan` are choices only for `eps` and `delta`.", call = call)
  }
  gdp <- if (given["mu"]) check_number(mu, "mu", 0, call = call)^2 / 2 else 0
  zcdp <- if (given["rho"]) check_number(rho, "rho", 0, call = call) else 0
  pointer <- .Call(ffi_ledger_create, gdp, zcdp, accountant)
  structure(class = "dp_budget", list(pointer = pointer, eps = NULL, delta = NULL, rho = rho, mu = mu))
}

new_budget <- function(eps, delta, accountant) {
  pointer <- .Call(ffi_ledger_create, .Call(ffi_gdp_mu, eps, delta)^2 / 2, .Call(ffi_zcdp_rho, eps, delta), accountant)
  structure(class = "dp_budget", list(pointer = pointer, eps = eps, delta = delta, rho = NULL, mu = NULL))
}

# The order depends on the public plan alone; a rule "some order still has budget" would not be valid (Chen & Lee).
renyi_budget <- function(eps, delta, accountant, plan, call) {
  if (is.null(plan)) abort("argument", "`accountant = \"renyi\"` needs a `plan`: an event, see `?events`.", call = call)
  if (!accountant %in% c("auto", "renyi")) {
    abort("argument", "A `plan` fixes the order of a Renyi filter and does not go with `accountant = \"", accountant,
          "\"`.", call = call)
  }
  check_event(plan, call, "`plan`")
  planned_budget(event_plan(plan), plan$neighbours, eps, delta, call)
}

# plan: of event_plan().
planned_budget <- function(plan, neighbours, eps, delta, call) {
  filter <- filter_order(plan, eps, delta)
  if (filter$budget <= 0) {
    abort("argument", "At the order of this plan, ", format(filter$order, digits = 4), ", (eps, delta) allows ",
          "nothing: the plan is far from the budget.", call = call)
  }
  structure(class = "dp_budget", list(
    pointer = .Call(ffi_ledger_create_renyi, filter$order, filter$budget / filter$order),
    eps = eps, delta = delta, rho = NULL, mu = NULL, order = filter$order, neighbours = neighbours
  ))
}

# The neighbour relation of a budget, from its plan or its first charge; NA while it is not yet decided.
budget_relation <- function(budget, state = budget_state(budget)) budget$neighbours %||% state$neighbours

# The ledger checks this at each charge, too; the error here comes earlier and says more.
check_relation <- function(budget, neighbours, call = sys.call(-1)) {
  relation <- budget_relation(budget)
  if (is.na(relation) || relation == neighbours) return(invisible())
  abort("relation", "`budget` was ", if (is.null(budget$neighbours)) "charged" else "planned", " under \"", relation,
        "\" and cannot pay for releases under \"", neighbours, "\": one budget holds under one relation.", call = call)
}

accountant_names <- c("auto", "gdp", "zcdp", "renyi")

check_budget <- function(budget, arg = "budget", call = sys.call(-1)) {
  if (!inherits(budget, "dp_budget") || !is.list(budget)) {
    abort("argument", "`", arg, "` must come from `dp_budget()`, not ", describe(budget), ".", call = call)
  }
  budget
}

budget_state <- function(budget) {
  if (inherits(budget, "dp_budget_store")) stored_totals(budget) else .Call(ffi_ledger_state, budget$pointer)
}

#' Charges to a budget
#'
#' One row for every release, in the order in which they were made. The guarantee is the whole budget, also when part
#' of it is unused: the amounts only show how it was spent.
#'
#' @param x A budget, an oracle or a fit; or a list of fits and other results with a ledger, such as
#'   `list(main = first, second)`.
#' @param ... Not used; anything in it is an error.
#' @return A data frame with the columns `what` (the query), `mechanism`,
#'   `rho` (its cost; under a Renyi filter the divergence over its order), `mu` (the same as `sqrt(2 rho)` for Gaussian
#'   releases, else `NA`), `sensitivity` (of the released quantity, rounding
#'   included), `scale` (of the noise: standard deviation, Laplace scale or
#'   temperature), `values` (how many values the charge covers, each with this sensitivity and scale, such as the
#'   candidates of a line search; 1 where the sensitivity is that of all released numbers together; [dp_verify()] has
#'   the formulas) and `neighbours` (the relation that these are for, one in a ledger). The row `unused` closes the
#'   budget of a fit that owned it.
#'
#'   Of a budget with a `store`: a row for each reservation, with `number`, `time`, `user`, `host`, `label`, `call`, `n`
#'   (records or persons; `NA` where it is not known), `relation` (such as `"replace-one"`, or
#'   `"replace-one of persons"` for a fit with an `id`), `method`, `accountant` (`"other"`: paid by the part `other`),
#'   `rho`, `other_eps`, `other_delta` and `hash`.
#'
#'   For a list the columns `fit` (its name or number in the list), `label` and `receipt` (the number of its
#'   reservation in a durable budget) come first, `NA` where a fit has none.
#' @section Errors: `dpsosp_error_argument` for an `x` of any other class; `dpsosp_error_restored` for an oracle that
#'   was saved.
#' @examples
#' budget <- dp_budget(mu = 0.5)
#' x <- matrix(runif(200, -1, 1), 100)
#' oracle <- dp_oracle(x, rep(c(-1, 1), 50), "logistic", budget, radius = 1.5)
#' g <- dp_gradient(oracle, c(0, 0, 0), mu = 0.1)
#' dp_ledger(budget)
#' @export
dp_ledger <- function(x, ...) {
  check_dots()
  require_given()
  UseMethod("dp_ledger")
}

#' @export
dp_ledger.default <- function(x, ...) {
  abort("argument", "`x` must be a budget, an oracle or a fit, not ", describe(x), ".", fit_hint(x),
        call = sys.call(-1))
}

#' @export
dp_ledger.dp_budget <- function(x, ...) ledger_rows(budget_state(x))

ledger_rows <- function(state) {
  gaussian <- state$mechanism == "gaussian" | (state$mechanism == "none" & state$accountant == "gdp")
  data.frame(
    what = state$what, mechanism = state$mechanism, rho = state$rho,
    mu = ifelse(gaussian, sqrt(2 * state$rho), NA_real_),
    sensitivity = state$sensitivity, scale = state$scale, values = state$values,
    neighbours = rep(state$neighbours, length(state$what))
  )
}

#' @export
print.dp_budget <- function(x, digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  cat("<dp_budget> ", budget_text(x), "\n", sep = "")
  if (identical(class(try(budget_state(x), silent = TRUE)), "try-error")) {
    cat("Restored from a file or another session: it cannot be used.\n")
    return(invisible(x))
  }
  state <- budget_state(x)
  relation <- budget_relation(x, state)
  order <- format(x$order, digits = digits %||% 4)
  cat("Accountant: ", c(auto = "not decided yet", gdp = "Gaussian DP, exact", zcdp = "zCDP",
                        renyi = paste("Renyi at order", order))[[state$accountant]], "\n",
      "Neighbours: ", if (is.na(relation)) "not decided yet" else relation, "\n",
      "Spent: ", format_share(state$spent / state$capacity, digits %||% 3), " in ", length(state$what),
      if (length(state$what) == 1L) " release\n" else " releases\n", sep = "")
  invisible(x)
}

# The row that closes a ledger is no release.
is_release <- function(ledger) ledger$what != "unused"

# What two releases with the guarantees `first` and `later`, each as in a fit, cost records that are in both: the
# entries of a guarantee that differ from those of `first`. Gaussian DP composes exactly (proofs: gdp-filter); others
# add. NULL under different relations.
composed <- function(first, later) {
  if (first$neighbours != later$neighbours) return(NULL)
  if (first$accountant == "gdp" && later$accountant == "gdp") {
    sum <- list(rho = first$rho + later$rho, delta = max(first$delta, later$delta), accountant = "gdp")
    return(c(sum, eps = eps_of(sum, sum$rho), mu = sqrt(2 * sum$rho)))
  }
  list(eps = first$eps + later$eps, delta = first$delta + later$delta, mu = NA_real_, accountant = "added")
}
