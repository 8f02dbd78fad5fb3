#' Check a guarantee against its ledger
#'
#' Recomputes what a fit, an evaluation, a certificate or a tuned fit states about its privacy, from the charges that it
#' keeps. Somebody who receives the result can do so without the data. This finds mistakes and edits, but no result that
#' was forged as a whole: sensitivities are those that the ledger names.
#'
#' @param x A fit ([dp_sosp()], also of a network), an evaluation ([dp_evaluate()]), a certificate ([dp_certify()]) or
#'   the value of [dp_tune()].
#' @param budget `NULL`, or the durable budget that `x` was charged to: then its receipt must be that of a reservation
#'   there.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_verification`, a list of `agrees` (one value) and `checks`, a data frame with one row
#'   for each check and the columns `part` (`"result"`, `"intervals"` or `"population"`, the certificate of
#'   other records), `check`, `agrees` and `says`. `print()` shows one line for each. The checks are
#'   * `eps`: the sum of the charges, converted by the accountant of the result, is `eps` at its `delta`;
#'   * `total`: the charges sum to `rho` of the result; where it has a shared budget, they are at most that;
#'   * `rows`: each charge follows from the sensitivity, scale and number of values in its row, see Details;
#'   * `relation`: result and charges have the same neighbour relation;
#'   * `accountant`: it can count every mechanism in the ledger;
#'   * `minimiser`: only with the method `"objpert"`: its ridge, loss and part of the budget are what its accounting
#'     (`privacy$perturbed`) supposes;
#'   * `receipt`: only with `budget`.
#'
#' @details The cost of a row follows from q = `sensitivity` / `scale` and `values`:
#'
#'   | mechanism | rho |
#'   |---|---|
#'   | `"gaussian"`, `"objective perturbation"` | `values` q^2 / 2 |
#'   | `"sparse vector"` | 0.11 (4 q)^2, or (4 q)^2 / 2 for more than 20 values |
#'   | `"exponential"` | q^2 / 8, with 2^-30 added to q |
#'   | `"gaussian on a batch"` | the Renyi divergence over its order of `values` q^2 / 2 on a batch |
#'   | `"sparse vector on a batch"` | min(e^2 / 2, e / order), e = log(1 + rate (exp(4 q) - 1)) |
#'   | `"random runs"` | that of the best of a random number of runs, see [dp_tune()] |
#'   | `"none"` | what was left; it is checked by the total only |
#'
#'   A row that is missing shows in the total where the result had a budget of its own, which is always charged in full.
#'   `print()` of a result makes the first check alone, and says where a stated `eps` does not follow.
#' @section Errors: `dpsosp_error_argument` for an `x` without a ledger of its own, or a `budget` without a store.
#' @seealso [dp_ledger()], [dp_report()].
#' @examples
#' d <- covertype[1:3000, ]
#' fit <- dp_sosp(cover ~ elevation, d, eps = 1, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900)))
#' dp_verify(fit)
#' fit$privacy$eps <- 0.1
#' dp_verify(fit)
#' @export
dp_verify <- function(x, budget = NULL, ...) {
  call <- sys.call()
  check_dots(call)
  require_given()
  parts <- privacy_parts(x, call)
  if (!is.null(budget)) check_store(budget, call)
  checks <- do.call(rbind, Map(function(privacy, part) {
    # Other records than those of the fit may have another budget.
    of_store <- !is.null(budget) && part != "population"
    cbind(part = part, rbind(
      privacy_checks(privacy, row_facts(x, privacy)),
      if (of_store) receipt_check(privacy, receipt_row(privacy, budget))
    ))
  }, parts, names(parts)))
  rownames(checks) <- NULL
  structure(class = "dp_verification", list(agrees = all(checks$agrees), checks = checks))
}

# The guarantees of a result, by names.
privacy_parts <- function(x, call) {
  parts <- list()
  if (inherits(x, c("dp_sosp", "dp_network", "dp_evaluation", "dp_certificate", "dp_tune"))) {
    parts <- list(result = x$privacy)
  }
  if (inherits(x, "dp_sosp")) {
    parts <- c(parts, list(intervals = x$inference$privacy, population = x$population$privacy))
  }
  parts <- Filter(Negate(is.null), parts)
  if (length(parts) == 0L) {
    abort("argument", "`x` must be a fit, an evaluation, a certificate or a tuned fit, not ", describe(x), ".",
          call = call)
  }
  parts
}

#' @export
dp_ledger.list <- function(x, ...) {
  call <- sys.call(-1)
  if (length(x) == 0L) abort("argument", "`x` is an empty list: give fits, such as `list(first, second)`.", call = call)
  named <- names(x) %||% character(length(x))
  named[named == ""] <- seq_along(x)[named == ""]
  rows <- do.call(rbind, Map(function(one, name) {
    parts <- privacy_parts(one, call)
    do.call(rbind, lapply(parts[names(parts) != "population"], function(privacy) {
      about <- data.frame(fit = name, label = privacy$label %||% NA_character_,
                          receipt = privacy$receipt$number %||% NA_integer_)
      cbind(about[rep(1L, nrow(privacy$ledger)), ], privacy$ledger)
    }))
  }, x, named))
  rownames(rows) <- NULL
  rows
}

# Public facts that costs of rows depend on, see row_costs.
row_facts <- function(x, privacy) {
  list(rate = x$batch$rate, scheme = x$batch$scheme, neighbours = privacy$neighbours, order = privacy$order,
       tuning = privacy$tuning, n = x$n, loss = x$loss)
}

check_store <- function(budget, call) {
  if (is.null(check_budget(budget, call = call)$store)) {
    abort("argument", "`budget` must be a durable one: this one keeps no reservations.", call = call)
  }
}

# The row of the durable budget that a result names.
receipt_row <- function(privacy, budget) {
  if (!is.null(privacy$receipt)) store_row(budget, privacy$receipt$number)
}

#' @export
print.dp_verification <- function(x, ...) {
  check_dots()
  checks <- x$checks
  part <- if (any(checks$part != "result")) paste0(format(checks$part), " ")
  lines <- paste0(ifelse(checks$agrees, "agrees ", "FAILS  "), part, format(checks$check), " ", checks$says)
  cat("<dp_verification> ", if (x$agrees) "the guarantee follows from its ledger"
      else "the guarantee does not follow from its ledger", "\n", sep = "")
  cat(lines, sep = "\n")
  invisible(x)
}
