# A call runs on data, which leaves a tape, and on neighbours, with the tape's noisy answers in place of fresh ones.
#   1. what is public must be the same, bit by bit: the order of events, every number of an ask, charges, random
#      subsets, conditions, output, R's random state, the result;
#   2. a draw's exact numbers may move by what was charged for, in units of the noise that was used;
#   3. each draw is paid for between its ask and the draw, and no record is in two leaves;
#   4. the numbers that the engine reads of a record are this record's own.
# As the answers are the tape's, all candidates for one record have the same noise, and K runs give K (K - 1) / 2 pairs
# of neighbours. The largest distance of a pair over what was paid is the tightness of a query: at most one, and near
# what floors.csv says, as weak candidates find nothing.
# What this cannot see: the law of the noise, accounting, rounding errors of 1e-13, time and memory, and what no
# candidate shows. It is a test of given neighbours, no proof.

native <- function(name, ...) .Call(name, ..., PACKAGE = "dpsosp")
OFF <- 0L
RECORD <- 1L
REPLAY <- 2L

# The clock stands still, as hashes of a store's rows have the time in them.
stop_clock <- function() {
  base <- baseenv()
  unlockBinding("Sys.time", base)
  assign("Sys.time", function() structure(1.7e9, class = c("POSIXct", "POSIXt")), base)
}

# One run: the log, the result or the error, what was said and printed, and R's random state.
observe <- function(call, data, how) {
  said <- list()
  hear <- function(restart) function(condition) {
    said <<- c(said, list(list(class(condition), conditionMessage(condition))))
    invokeRestart(restart)
  }
  set.seed(4)
  native("replay_start", how, 1L)
  on.exit(native("replay_start", OFF, 0L))
  output <- utils::capture.output(result <- tryCatch(
    withCallingHandlers(call(data), message = hear("muffleMessage"), warning = hear("muffleWarning")),
    error = function(e) structure(list(class(e), conditionMessage(e)), class = "failed")
  ))
  random <- get(".Random.seed", globalenv())
  log <- native("replay_stop")
  names(log) <- c("kind", "name", "same", "exact", "scale", "answer")
  list(log = log, result = result, said = said, output = output, random = random)
}

# ---- rule 1 ----

# What differs, as text.
differences <- function(one, two) {
  c(event_that_differs(one$log, two$log), shared_rows(one$log, two$log), unpaid(two$log),
    if (!identical(one$said, two$said)) paste("other conditions:", text_apart(one$said, two$said)),
    if (!identical(one$output, two$output)) "other output",
    if (!identical(one$random, two$random)) "another random state",
    if (!same_result(one$result, two$result)) {
      paste("another result:", toString(utils::head(places_apart(one$result, two$result), 4)))
    })
}

event_that_differs <- function(a, b) {
  shared <- seq_len(min(length(a$kind), length(b$kind)))
  same <- vapply(shared, function(i) {
    a$kind[i] == b$kind[i] && a$name[i] == b$name[i] && identical(a$same[[i]], b$same[[i]])
  }, NA)
  i <- which(!same)[1]
  if (is.na(i)) {
    if (length(a$kind) == length(b$kind)) return(character())
    return(sprintf("%d events, then %d", length(a$kind), length(b$kind)))
  }
  x <- a$same[[i]]
  y <- b$same[[i]]
  at <- if (length(x) == length(y)) which(x != y | is.na(x) != is.na(y)) else NA
  sprintf("event %d: %s %s, then %s %s; number %s: %s, then %s", i, a$kind[i], a$name[i], b$kind[i], b$name[i],
          toString(utils::head(at, 3)), toString(utils::head(x[at], 3)), toString(utils::head(y[at], 3)))
}

text_apart <- function(x, y) {
  text <- lapply(list(x, y), function(said) vapply(said, `[[`, "", 2L))
  toString(utils::head(c(setdiff(text[[2]], text[[1]]), setdiff(text[[1]], text[[2]])), 2))
}

same_result <- function(x, y) {
  identical(x, y, ignore.environment = TRUE, ignore.srcref = TRUE, ignore.bytecode = TRUE) ||
    identical(serialize(x, NULL), serialize(y, NULL))
}

places_apart <- function(x, y, name = "") {
  if (identical(x, y, ignore.environment = TRUE)) return(character())
  if (!is.list(x) || !is.list(y) || length(x) != length(y) || is.null(names(x))) {
    return(paste0(name, if (inherits(y, "failed")) paste(" error:", y[[2]])))
  }
  unlist(lapply(names(x), function(k) places_apart(x[[k]], y[[k]], paste0(name, "$", k))))
}

# ---- rules 3 and 4 ----

unpaid <- function(log) {
  ask <- paid <- 0
  taken <- double()
  for (i in seq_along(log$kind)) {
    switch(log$kind[i],
      ask = ask <- i,
      epoch = ask <- -1, # paid for when its schedule was opened
      charge = ,
      pay = paid <- i,
      fresh = taken <- double(), # a new schedule
      take = taken <- c(taken, log$same[[i]][-1]),
      draw = if (paid < ask) return(paste("not paid for:", log$name[ask]))
    )
    if (anyDuplicated(taken)) return("a record is in two leaves")
  }
  character()
}

# A person may have another number of rows: then nothing is compared.
shared_rows <- function(a, b) {
  events <- which(a$kind == "rows")
  events <- events[events <= length(b$kind)]
  for (i in events[b$kind[events] == "rows"]) {
    rows <- lapply(list(a$exact[[i]], b$exact[[i]]), matrix, a$same[[i]][1])
    if (!identical(dim(rows[[1]]), dim(rows[[2]])) || !length(rows[[1]])) next
    moved <- which(colSums(rows[[1]] != rows[[2]] | is.na(rows[[1]]) != is.na(rows[[2]]), na.rm = TRUE) > 0)
    if (length(moved) > 1L) return(paste("rows that are not a record's own:", toString(utils::head(moved, 5))))
  }
  character()
}

# ---- rule 2 ----

# The draws of a log: which query each answers, what was paid for it, and the number of the schedule of fresh records
# that paid, which all its leaves share (else zero). The last step of a perturbed objective is paid for by its shift.
draws_of <- function(log) {
  ask <- ""
  paid <- NA
  charge <- ""
  pure <- FALSE
  schedule <- fresh <- 0
  out <- list()
  for (i in seq_along(log$kind)) {
    name <- log$name[i]
    switch(log$kind[i],
      ask = ask <- name,
      epoch = ask <- "epoch",
      charge = {
        charge <- name
        pure <- FALSE
        if (charge != "rounding") paid <- log$same[[i]][1]
        fresh <- if (name == "fresh records") schedule <- schedule + 1 else 0
      },
      pay = {
        paid <- log$same[[i]][1]
        pure <- TRUE
      },
      shift = ,
      draw = {
        own <- if (log$kind[i] == "shift") "perturbed objective" else if (charge == "rounding") NA else ask
        out <- c(out, list(data.frame(event = i, query = own, mechanism = name, paid = paid, pure = pure,
                                      fresh = fresh)))
      }
    )
  }
  do.call(rbind, out)
}

# For each query the largest distance over these pairs of logs, divided by what was paid. pairs: a matrix of two rows.
tightness <- function(logs, pairs) {
  draws <- draws_of(logs[[1]])
  draws <- draws[!is.na(draws$query), ]
  if (is.null(draws) || !nrow(draws)) return(double())
  of_draws <- vapply(seq_len(nrow(draws)), function(k) largest(logs, draws[k, ], pairs), 0)
  leaves <- split(seq_len(nrow(draws))[draws$fresh > 0], draws$fresh[draws$fresh > 0])
  of_schedules <- vapply(leaves, function(k) euclidean(do.call(cbind, lapply(k, function(one) {
    in_units(logs, draws[one, ])
  })), pairs), 0)
  queries <- c(ifelse(draws$fresh > 0, paste(draws$query, "of fresh records"), draws$query),
               rep("all of fresh records", length(leaves)))
  tapply(c(of_draws, of_schedules), queries, max)
}

exact_of <- function(logs, draw) do.call(rbind, lapply(logs, function(log) log$exact[[draw$event]]))
in_units <- function(logs, draw) {
  t(t(exact_of(logs, draw)) / logs[[1]]$scale[[draw$event]]) / sqrt(2 * draw$paid)
}

apart <- function(x, pairs) x[pairs[1, ], , drop = FALSE] - x[pairs[2, ], , drop = FALSE]
euclidean <- function(x, pairs) sqrt(max(rowSums(apart(x, pairs)^2)))

# Costs of the two mechanisms that choose: proofs, sparse-vector-cost and exponential-mechanism.
largest <- function(logs, draw, pairs) {
  if (!draw$mechanism %in% c("sparse vector", "exponential")) return(euclidean(in_units(logs, draw), pairs))
  moved <- apart(exact_of(logs, draw), pairs)
  scale <- logs[[1]]$scale[[draw$event]]
  if (draw$mechanism == "exponential") {
    return(max(apply(moved, 1, max) - apply(moved, 1, min)) / scale / sqrt(8 * draw$paid))
  }
  eps <- logs[[1]]$same[[draw$event]][2]
  allowed <- if (draw$pure) draw$paid else sqrt(draw$paid / (if (ncol(moved) <= 20) 0.11 else 0.5))
  max(abs(moved)) / scale * eps / allowed
}

# ---- an audit ----

# Audits a call on data and on sets of neighbours that differ in the same record. null: the name of the neighbour with a
# null record where only pairs with it are neighbours (zero-out). refused: may the call end in an error before a
# release? Returns what was found, the tightness of queries, and the numbers of runs and of pairs that were compared.
audit <- function(call, data, sets, null = NULL, refused = FALSE) {
  began <- proc.time()[[1]]
  observe(call, data, RECORD) # packages that are loaded may say so
  first <- observe(call, data, RECORD)
  found <- c(if (!refused && !length(first$log$kind)) paste("no release:", first$result[[2]]),
             same_again(first, call, data), unpaid(first$log))
  tight <- double()
  compared <- 0
  if (is.function(sets)) sets <- sets(first$log)
  for (set in sets) {
    seen <- lapply(set, function(neighbour) observe(call, neighbour, REPLAY))
    others <- lapply(seen, function(run) differences(first, run))
    found <- c(found, named(others))
    if (length(unlist(others))) next
    all <- c(if (is.null(null)) list(base = first), seen)
    pairs <- pairs_of(names(all), null)
    if (!ncol(pairs)) next # without a null record
    compared <- compared + ncol(pairs)
    of_set <- tightness(lapply(all, `[[`, "log"), pairs)
    for (query in names(of_set)) {
      tight[query] <- max(of_set[[query]], if (query %in% names(tight)) tight[[query]])
    }
  }
  over <- tight[tight > 1]
  if (length(over)) found <- c(found, sprintf("a pair moves %s by %.5g of what is paid", names(over), over))
  if (anyNA(tight)) found <- c(found, paste("no number:", names(tight)[is.na(tight)]))
  list(found = found, tight = tight, runs = 3 + sum(lengths(sets)), pairs = compared,
       seconds = proc.time()[[1]] - began)
}

named <- function(found) unlist(lapply(names(found), function(k) if (length(found[[k]])) paste0(k, ": ", found[[k]])))

# A call that is not the same on the same data cannot be audited.
same_again <- function(first, call, data) {
  others <- differences(first, observe(call, data, REPLAY))
  if (length(others)) paste("not the same on the same data:", others[1])
}

pairs_of <- function(names, null) {
  pairs <- utils::combn(length(names), 2L)
  if (is.null(null)) return(pairs)
  pairs[, names[pairs[1, ]] == null | names[pairs[2, ]] == null, drop = FALSE]
}
