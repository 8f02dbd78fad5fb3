# Budgets that last: dp_budget(store = ). The object holds where the store is and the study's public facts, as a label:
# what is left is read from the store at each use, and a reservation is checked against the store's own row of facts.

#' Budgets that last: stores
#'
#' A study makes many fits, in many sessions, over months, by several people. `dp_budget(store = )` keeps its budget in
#' a file or a database, so that all of them together stay within one guarantee.
#'
#' # Use
#' ```r
#' b <- dp_budget(eps = 2, delta = 1e-9, store = "study.dpledger",
#'                other = c(eps = 0.25, delta = 2e-10))       # creates
#' b <- dp_budget(store = "study.dpledger")                   # opens
#' b <- dp_budget(store = con, study = "cohort-7")            # PostgreSQL
#' fit <- dp_sosp(y ~ x, d, eps = 0.4, budget = b, label = "main model, wave 2")
#' part <- dp_reserve(b, eps = 0.1, label = "own algorithm")
#' dp_ledger(b)
#' ```
#' Each fit, evaluation, choice or curve names its part by `eps`, and without `delta` has that of the budget. Before it
#' reads any data, and after its arguments were checked, it writes *one* reservation, waits until this is on the disk,
#' and runs on a budget of that size. What it does not use is lost: a refund that is written twice, or
#' from an old copy, would give budget back. So an error or a lost process costs budget and never gives any.
#' `fit$privacy$receipt` names the reservation.
#'
#' Reservations add up in the unit of the accountant, not in `eps`: of a total of eps = 1, ten equal fits may have 0.29
#' each. `print()` says what one more fit may take.
#'
#' # The accountant
#' It is fixed when the budget is made; without `accountant` and `plan` it is `"gdp"`.
#'
#' | fit | `"gdp"` | `"zcdp"` | `"renyi"` (by a `plan`) |
#' |---|---|---|---|
#' | Gaussian releases on all records | main | main | main |
#' | [dp_curve()] | main | refused | refused |
#' | `"spider"` (one charge for all fresh records) | main | main | main |
#' | sparse vector, exponential mechanism (`"blgd"`, `"agd"`) | other | main | main |
#' | mini-batches | other | other | main |
#' | `"objpert"`, [dp_tune()] | other | other | other |
#'
#' `other` is a part of the budget that is only added up, in eps and delta. A fit that it pays for must name a `delta`
#' of it. The rest is what the other fits have: with `other = c(eps = e, delta = d)`, together as much as
#' (eps - e, delta - d) allows (`vignette("proofs")`).
#'
#' # What is written
#' For each reservation: number, time, user, host, process, a random number, version, label, call, number of records (or
#' persons), relation, whether it is for records or persons, method, accountant, costs, and a hash (SHA-256) of all this
#' and of the row before. Nothing is computed from the data; that two fits are to the same data is what users say by
#' using the same budget. A hash of private data would be an unprotected release. Numbers are exact, and what is left is
#' added up from the rows at each use.
#'
#' A fit with an `id` protects persons, others records. Where a store pays for both, the sum holds for single records
#' only, each replaced by another one of the same person; `print()` and [dp_report()] say so.
#'
#' # Whom it stops
#' A store stops mistakes and shows changes. Each use checks the file, its tables and the chain of hashes. Each
#' user has an *anchor* in `tools::R_user_dir("dpsosp", "config")`, with the last row that this user wrote: a file that
#' was set back or replaced is refused. (The folder is written when a budget with a store is made or used.) A fit's
#' receipt shows the same later. But whoever may write to the file may copy it before a fit and use both copies, or make
#' a new one: that is found when rows of both meet, and not before. **Where analysts are not trusted use PostgreSQL**:
#' there they may call one function, which adds up, refuses or inserts, and read the tables.
#' ```sql
#' GRANT USAGE ON SCHEMA dpsosp TO analyst;
#' GRANT SELECT ON dpsosp.study, dpsosp.reservation TO analyst;
#' GRANT EXECUTE ON FUNCTION dpsosp.reserve TO analyst;
#' ```
#' The role that makes the first study owns schema, tables and function; it is trusted. The function refuses where
#' `synchronous_commit` is off. No store keeps someone from the data who can read them.
#'
#' Keep a file on a local disk: locks of network drives may not work. `SECURITY.md` of the sources has the faults that
#' were tried.
#' @name budget-stores
#' @seealso [dp_budget()], [dp_reserve()], [dp_ledger()], `vignette("year")`.
NULL

is_stored <- function(budget) inherits(budget, "dp_budget_store")

# asked: eps, delta, accountant, plan, other, neighbours, as given or NULL; store and study. Opens what is there;
# creates where `eps` is given and nothing is.
stored_budget <- function(asked, call) {
  place <- store_place(asked$store, asked$study, call)
  if (!is.null(place$con)) {
    there <- postgres_has(place$con, place$name)
  } else {
    there <- file.exists(place$path)
  }
  if (!there && is.null(asked$eps)) {
    abort("store", "There is no budget at ", place$text, ": give `eps` and `delta` to create one.", call = call)
  }
  if (!there) create_store(place, check_study(asked, call))
  budget <- as_stored(place, read_store(place)$study)
  if (there && !is.null(asked$eps)) compare_study(budget, check_study(asked, call), call)
  if (there) compare_given(budget, asked, call)
  anchor <- read_anchor(budget$id)
  check_anchor(read_store(place), place$text, anchor)
  budget
}

# path, or con and name; text: for messages and anchors.
store_place <- function(store, study, call) {
  if (is.character(store)) {
    if (!is.null(study)) abort("argument", "`study` names a study in PostgreSQL; a file holds one.", call = call)
    path <- check_text(store, "store", call)
    folder <- dirname(path)
    if (!dir.exists(folder)) abort("store", "There is no folder ", folder, ".", call = call)
    path <- file.path(normalizePath(folder, "/"), basename(path))
    return(list(path = path, text = path))
  }
  if (!inherits(store, "PqConnection")) {
    abort("argument", "`store` must be the name of a file or a connection of RPostgres, not ", describe(store), ".",
          call = call)
  }
  if (is.null(study)) abort("argument", "`study` is missing: the study's name in the database.", call = call)
  name <- check_text(study, "study", call)
  list(con = store, name = name, text = postgres_name(name), process = Sys.getpid())
}

check_text <- function(x, arg, call, most = 200L) {
  good <- is.character(x) && length(x) == 1L && !is.na(x) && nzchar(x) && validUTF8(enc2utf8(x)) &&
    nchar(x, "bytes") <= 10L * most && nchar(enc2utf8(x)) <= most && !grepl("[[:cntrl:]]", x)
  if (!good) {
    abort("argument", "`", arg, "` must be one text of 1 to ", most, " characters without line breaks, not ",
          describe(x), ".", call = call)
  }
  enc2utf8(as.vector(x))
}

# ---- the facts of a study ----

# Complete facts, for new_study().
check_study <- function(asked, call) {
  eps <- check_number(asked$eps, "eps", 0, call = call)
  if (is.null(asked$delta)) abort("argument", "`eps` needs `delta`, for example 1 / n^2.", call = call)
  delta <- check_delta(asked$delta, call)
  other <- check_other(asked$other, eps, delta, call)
  main <- c(eps = eps, delta = delta) - other * if (other[["eps"]] > 0) other_slack else 1
  facts <- list(eps = eps, delta = delta, other = other)
  if (is.null(asked$plan)) {
    if (identical(asked$accountant, "renyi")) {
      abort("argument", "`accountant = \"renyi\"` needs a `plan`: an event, see `?events`.", call = call)
    }
    accountant <- setdiff(asked$accountant, "auto")
    facts$accountant <- if (length(accountant) == 0L) "gdp" else accountant
    facts$order <- 0
    facts$relation <- asked$neighbours %||% "replace-one"
    facts$capacity <- rho_of(list(accountant = facts$accountant, delta = main[["delta"]]), main[["eps"]])
  } else {
    facts <- c(facts, planned_study(asked, main, call))
  }
  if (!(facts$capacity > 0)) abort("argument", "`other` leaves nothing for other fits.", call = call)
  facts
}

planned_study <- function(asked, main, call) {
  check_event(asked$plan, call, "`plan`")
  relation <- asked$plan$neighbours
  if (!setdiff(c(asked$accountant, "renyi"), "auto")[1] == "renyi" || (asked$neighbours %||% relation) != relation) {
    abort("argument", "A `plan` implies `accountant = \"renyi\"` and its own `neighbours`.", call = call)
  }
  filter <- dp_filter_order(asked$plan, main[["eps"]], main[["delta"]])
  list(accountant = "renyi", order = filter$order, relation = relation, capacity = max(filter$budget, 0) / filter$order)
}

# The part for what has no place in the main account; zeros: none.
check_other <- function(other, eps, delta, call) {
  if (is.null(other)) return(c(eps = 0, delta = 0))
  good <- is.numeric(other) && length(other) == 2L && setequal(names(other), c("eps", "delta")) &&
    all(is.finite(other)) && all(other > 0)
  if (!good) abort("argument", "`other` must be like c(eps = 0.2, delta = 1e-10).", call = call)
  other <- c(eps = other[["eps"]], delta = other[["delta"]])
  if (any(other >= 0.99 * c(eps, delta))) {
    abort("argument", "`other` must be smaller than `eps` and `delta`, which it is a part of.", call = call)
  }
  other
}

compare_study <- function(budget, facts, call) {
  same <- c(eps = facts$eps == budget$eps, delta = facts$delta == budget$delta,
            other = all(facts$other == budget$other), accountant = facts$accountant == budget$accountant,
            plan = facts$order == (budget$order %||% 0))
  refuse_other_study(names(same)[!same], call)
}

# Arguments that are given without `eps`.
compare_given <- function(budget, asked, call) {
  different <- function(name, known) !is.null(asked[[name]]) && !identical(asked[[name]], known)
  wrong <- c(delta = different("delta", budget$delta), neighbours = different("neighbours", budget$neighbours),
             accountant = different("accountant", budget$accountant) && !identical(asked$accountant, "auto"),
             other = !is.null(asked$other) && !identical(unname(asked$other[c("eps", "delta")]), unname(budget$other)))
  refuse_other_study(names(wrong)[wrong], call)
}

refuse_other_study <- function(wrong, call) {
  if (length(wrong) == 0L) return(invisible())
  abort("argument", "The budget in the store has another `", wrong[1], "`: to open it leave all but `store` out, or ",
        "give what it was made with.", call = call)
}

as_stored <- function(place, study) {
  number <- function(name) as.numeric(study[[name]])
  order <- number("renyi_order")
  structure(class = c("dp_budget_store", "dp_budget"), list(
    store = place, id = study$id, eps = number("eps"), delta = number("delta"), rho = NULL, mu = NULL,
    order = if (order > 0) order, accountant = study$accountant,
    other = c(eps = number("other_eps"), delta = number("other_delta")), neighbours = study$relation
  ))
}

# ---- the store of a place ----

create_store <- function(place, facts) {
  check_no_anchor(place$text)
  study <- new_study(facts)
  if (is.null(place$con)) sqlite_create(place$path, study) else postgres_create(place$con, place$name, study)
  write_anchor(study$id, list(number = 0L, hash = study$hash), place$text)
  inform("store", "Made a budget of ", budget_text(facts), " in ", place$text,
         ". It is for one data set: a second budget for the same records adds to it.")
}

read_store <- function(place) {
  check_place(place)
  if (is.null(place$con)) sqlite_read(place$path) else postgres_read(place$con, place$name)
}

# A connection belongs to one process; a file is opened anew.
check_place <- function(place) {
  if (is.null(place$con) || identical(place$process, Sys.getpid())) return(invisible())
  abort("fork", "A connection to PostgreSQL cannot be used in another process: open the budget there.", call = NULL)
}

# The state of the budget's own study.
stored_state <- function(budget) {
  state <- read_store(budget$store)
  check_same_study(state, budget)
  state
}

check_same_study <- function(state, budget) {
  refuse <- function(...) abort("store", ..., " Nothing was released.", call = NULL)
  if (!identical(state$study$id, budget$id)) refuse("The store ", budget$store$text, " holds another study now.")
  # With another accountant or order than the store's the same eps would have another cost.
  if (!identical(as_stored(budget$store, state$study), budget)) refuse("`budget` was changed: open it again.")
}

# Commits one reservation, and returns its receipt.
charge_store <- function(budget, reservation) {
  check_place(budget$store)
  anchor <- read_anchor(budget$id)
  check <- function(state) {
    check_same_study(state, budget)
    check_anchor(state, budget$store$text, anchor)
    if (!identical(state$study$relation, reservation$relation)) {
      abort("relation", "The store holds under \"", state$study$relation, "\".", call = NULL)
    }
  }
  place <- budget$store
  row <- if (is.null(place$con)) {
    sqlite_charge(place$path, reservation, check)
  } else {
    postgres_charge(place$con, place$name, reservation, check)
  }
  write_anchor(budget$id, row, place$text)
  list(study = budget$id, number = as.integer(row$number), hash = row$hash)
}

# The fields of a reservation, or NULL. Numbers are numbers; there is no rho where the other part paid.
store_row <- function(budget, number) {
  rows <- stored_state(budget)$rows
  row <- as.list(rows[rows$number %in% number, c(row_fields, "hash")])
  if (length(row$number) != 1L) return(NULL)
  for (name in c("rho", "other_eps", "other_delta")) row[[name]] <- as.numeric(row[[name]])
  if (row$rho == 0) row$rho <- NULL
  c(row, study = budget$id)
}

# As budget_state() has them for a budget in memory, of the main part.
stored_totals <- function(budget) {
  state <- stored_state(budget)
  list(accountant = state$study$accountant, capacity = as.numeric(state$study$capacity), spent = state$used[["rho"]],
       left = store_left(state)[["rho"]], neighbours = state$study$relation)
}
