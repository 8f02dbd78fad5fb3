# The rows of a budget that lasts: one for the study, and one for each reservation, in a chain of hashes. Where they are
# kept is a matter of privacy-engines.R; here is what SQLite and PostgreSQL have in common.
#
# All fields are text, but for the number of a reservation; numbers are written by "%a", which is exact. A row's hash is
# the SHA-256 of its fields, each with its length in bytes before it, and the last of them is the hash of the row before
# (the study's, for the first reservation). So a row fixes all rows before it. What is left follows from the rows alone.

store_format <- "1"

study_fields <- c("format", "id", "created", "version", "eps", "delta", "other_eps", "other_delta", "accountant",
                  "renyi_order", "capacity", "relation")
row_fields <- c("number", "time", "user", "host", "process", "nonce", "version", "label", "call", "n", "relation",
                "unit", "method", "accountant", "rho", "other_eps", "other_delta", "previous")

# The exact text of a number, and back.
exact <- function(x) {
  text <- sprintf("%a", x)
  if (!identical(as.numeric(text), as.double(x))) abort("store", "This R does not write numbers exactly.", call = NULL)
  text
}

utc_time <- function() format(Sys.time(), "%Y-%m-%dT%H:%M:%SZ", tz = "UTC")

package_version_text <- function() getNamespaceVersion("dpsosp")[[1]]

# fields: columns of text. One hash for each row.
hash_fields <- function(fields) {
  parts <- lapply(fields, function(x) {
    x <- enc2utf8(as.character(x))
    paste0(nchar(x, "bytes"), ":", x)
  })
  .Call(ffi_sha256, do.call(paste0, unname(parts)))
}

row_hash <- function(rows) hash_fields(rows[row_fields])

# a + b, at least: the rounding error of the sum (Knuth's two-sum) must not be in favour of who spends.
add_above <- function(a, b) {
  sum <- a + b
  part <- sum - a
  if ((a - (sum - part)) + (b - part) > 0) sum * (1 + .Machine$double.eps) else sum
}

sum_above <- function(texts) Reduce(add_above, as.numeric(texts), 0)

# ---- a new study ----

# facts: eps, delta, other (c(eps, delta)), accountant, order (0: none), capacity, relation.
new_study <- function(facts) {
  study <- list(
    format = store_format, id = .Call(ffi_random_id), created = utc_time(), version = package_version_text(),
    eps = exact(facts$eps), delta = exact(facts$delta), other_eps = exact(facts$other[["eps"]]),
    other_delta = exact(facts$other[["delta"]]), accountant = facts$accountant, renyi_order = exact(facts$order),
    capacity = exact(facts$capacity), relation = facts$relation
  )
  c(study, hash = hash_fields(study))
}

# ---- what a store holds ----

# What is in a store, checked: the study, its rows, and what was used. study: a list; read_rows: a function that gives a
# data frame, in order.
store_state <- function(study, read_rows, name) {
  refuse <- function(...) abort("store", "The store ", name, " ", ..., call = NULL)
  if (length(study$format) != 1L) refuse("holds no study of that name.")
  if (!identical(study$format, store_format)) {
    refuse("has format ", substr(study$format, 1, 20), ", and this version of dpsosp knows format ", store_format,
           ": install the version that made it, or a newer one.")
  }
  rows <- read_rows()
  previous <- c(study$hash, rows$hash)
  whole <- identical(hash_fields(study[study_fields]), study$hash) &&
    identical(as.integer(rows$number), seq_len(nrow(rows))) &&
    identical(rows$previous, utils::head(previous, -1L)) &&
    (nrow(rows) == 0L || identical(row_hash(rows), rows$hash))
  if (!whole) refuse("was changed or is damaged: its rows do not follow from each other. Nothing was released.")
  list(study = study, rows = rows, used = c(rho = sum_above(rows$rho), eps = sum_above(rows$other_eps),
                                            delta = sum_above(rows$other_delta)))
}

# What may be used. The sums of `other` may exceed what was asked for by rounding only, for which the capacity of the
# main part was computed (store_capacity()).
store_room <- function(study) {
  c(rho = as.numeric(study$capacity), eps = as.numeric(study$other_eps) * other_slack,
    delta = as.numeric(study$other_delta) * other_slack)
}

other_slack <- 1 + 1e-9

store_left <- function(state) pmax(store_room(state$study) - state$used, 0)

# ---- a reservation ----

# A reservation that has no number, hash and predecessor yet. costs: rho, other_eps and other_delta. All facts are
# public, and none is computed from data.
#   unit  what the relation is about: "record" or "person"
new_reservation <- function(costs, label, call, n, relation, unit, method, accountant) {
  known <- function(x) if (is.null(x) || length(x) == 0L) "" else substr(enc2utf8(as.character(x)), 1, 1000)
  who <- Sys.info()
  list(
    time = utc_time(), user = known(who[["user"]]), host = known(who[["nodename"]]), process = known(Sys.getpid()),
    nonce = .Call(ffi_random_id), # no two reservations have one hash, even if one of them was set back
    version = package_version_text(), label = known(label),
    call = known(paste(trimws(deparse(call, 500L)), collapse = " ")), n = known(if (!is.null(n)) sprintf("%.0f", n)),
    relation = relation, unit = unit, method = known(method), accountant = accountant, rho = exact(costs[["rho"]]),
    other_eps = exact(costs[["eps"]]), other_delta = exact(costs[["delta"]])
  )
}

# The row that continues the chain, or an error where too little is left.
next_row <- function(state, reservation, name) {
  cost <- as.numeric(c(reservation$rho, reservation$other_eps, reservation$other_delta))
  if (!all(is.finite(cost)) || any(cost < 0) || !any(cost > 0)) abort("store", "No cost to reserve.", call = NULL)
  after <- mapply(add_above, state$used, cost)
  if (!all(after <= store_room(state$study))) refuse_reservation(state, name)
  row <- c(list(number = nrow(state$rows) + 1L), reservation, list(
    previous = if (nrow(state$rows) > 0L) state$rows$hash[nrow(state$rows)] else state$study$hash
  ))
  c(row, hash = row_hash(row))
}

refuse_reservation <- function(state, name) {
  abort("budget", "Too little is left in ", name, ": ", left_text(state), ". Nothing was reserved or released.",
        call = NULL, class = "dpsosp_budget_exhausted")
}

# Numbers are rounded down, so that what is printed can be reserved.
left_text <- function(state) {
  study <- state$study
  text <- paste0("eps = ", round_down(main_eps(study, store_left(state)[["rho"]])), " for one more fit")
  if (as.numeric(study$other_eps) == 0) return(text)
  paste0(text, "; other: ", other_text("eps", study$other_eps, state$used), ", ",
         other_text("delta", study$other_delta, state$used))
}

other_text <- function(name, whole, used) {
  whole <- as.numeric(whole)
  left <- whole - used[[name]]
  paste(name, if (left < 1e-9 * whole) 0 else round_down(left), "of", format(whole, digits = 3))
}

# To three digits, but for rounding errors of sums.
round_down <- function(x) {
  if (!(x > 0)) return("0")
  unit <- 10^(floor(log10(x)) - 2)
  format(floor(x / unit * (1 + 1e-9)) * unit, digits = 3)
}

# The eps of a cost in the main part, at the study's delta.
main_eps <- function(study, rho) {
  if (!(rho > 0)) return(0)
  order <- as.numeric(study$renyi_order)
  eps_of(list(accountant = study$accountant, delta = as.numeric(study$delta), order = order), rho)
}

# A chain in one file cannot know its own past: a copy of an older file is a good chain, with budget regained. So each
# user keeps an anchor for each store elsewhere: number and hash of the last row that this user wrote, and where the
# store was. It is checked at each reservation.

anchor_folder <- function() tools::R_user_dir("dpsosp", "config")

anchor_file <- function(id) file.path(anchor_folder(), paste0(id, ".anchor"))

# number, hash and place, or NULL.
read_anchor <- function(id) {
  file <- anchor_file(id)
  if (!file.exists(file)) return(NULL)
  lines <- readLines(file, warn = FALSE, encoding = "UTF-8")
  if (length(lines) != 3L || !grepl("^[0-9]+$", lines[1])) {
    abort("store", "The anchor ", file, " is damaged: compare the store with the receipts of fits, then delete it.",
          call = NULL)
  }
  list(number = as.integer(lines[1]), hash = lines[2], place = lines[3])
}

# Is the row of the anchor still there? The anchor must be read before the state, or another process could have written
# both in between.
check_anchor <- function(state, name, anchor) {
  if (is.null(anchor)) return(invisible())
  hashes <- c(state$study$hash, state$rows$hash)
  if (identical(hashes[anchor$number + 1L], anchor$hash)) return(invisible())
  abort("store", "The store ", name, " lacks row ", anchor$number, ", which ", anchor_file(state$study$id),
        " remembers: the store was set back to an older state, or replaced. Nothing was reserved or released. Find ",
        "the newest copy.", call = NULL)
}

# A script that makes a budget, run again after its file was lost, would begin a second budget for the same data.
check_no_anchor <- function(place) {
  for (file in Sys.glob(file.path(anchor_folder(), "*.anchor"))) {
    if (identical(read_anchor(sub("[.]anchor$", "", basename(file)))$place, place)) {
      abort("store", "There was another budget at ", place, ", which ", file, " remembers, and a new one would not ",
            "count what it spent. Find its file; or delete that one, if the old budget protected other data.",
            call = NULL)
    }
  }
}

# After the row is committed, so that a failure in between leaves an anchor that is true. A later row of another process
# stays.
write_anchor <- function(id, row, place) {
  failed <- function(e) {
    warn("store", "No anchor could be written to ", anchor_folder(), ": a store that is set back to an older state ",
         "would not be noticed.", call = NULL)
  }
  tryCatch({
    before <- read_anchor(id)
    if (!is.null(before) && before$number >= row$number) return(invisible())
    dir.create(anchor_folder(), recursive = TRUE, showWarnings = FALSE)
    new <- paste0(anchor_file(id), ".", Sys.getpid())
    writeLines(enc2utf8(c(as.character(row$number), row$hash, place)), new, useBytes = TRUE)
    if (!file.rename(new, anchor_file(id))) stop("not renamed")
  }, error = failed, warning = failed)
  invisible()
}
