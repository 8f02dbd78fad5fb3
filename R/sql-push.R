# Sums computed by a database: dp_source(push = TRUE). sql-sum.R has the statements, this file sends them.

# The state of a source with push-down: connection, from (the quoted table), dialect, types of the columns, persons
# (R/sql-persons.R), and for the fit that is running: is a snapshot open, were rows fetched, and did a message say so?
new_push <- function(connection, from, dialect) {
  push <- list(connection = connection, from = from, dialect = dialect,
               state = list2env(list(open = FALSE, fetched = FALSE, told = FALSE, numbered = FALSE),
                                parent = emptyenv()))
  push$types <- push_types(push)
  push
}

push_dialect <- function(connection, call) {
  known <- known_dialect(connection)
  if (!is.null(known)) return(known)
  abort("argument", "`push = TRUE` is for connections of RPostgres, RSQLite and duckdb, not ", describe(connection),
        ": ", push_advice, call = call)
}

# Names of a statement's layers, and of the table of prepared rows, would hide a table of the user.
check_own_names <- function(from, call) {
  found <- regmatches(from, regexpr("(?i)\\bdpsosp([ec]?[0-9]+|_rows)\\b", from, perl = TRUE))
  if (length(found) == 0L) return(invisible())
  abort("argument", "`query` has the name `", found, "`, which statements use themselves: make a view with another ",
        "name, or ", push_advice, call = call)
}

push_advice <- "`push = FALSE` reads the rows in chunks."

# Column types by name; NA where columns have no types, "other" where the driver does not know one, such as enums.
push_types <- function(push) {
  result <- DBI::dbSendQuery(push$connection, paste("SELECT * FROM", push$from, "AS t LIMIT 0"))
  on.exit(DBI::dbClearResult(result))
  columns <- DBI::dbColumnInfo(result)
  types <- columns$.typname %||% columns$type
  types <- if (push$dialect$untyped) NA_character_ else replace(types, is.na(types), "other")
  stats::setNames(rep_len(types, nrow(columns)), columns$name)
}

# SQLite may be compiled without these functions.
check_functions <- function(push, call) {
  functions <- c("EXP", push$dialect$log, "SQRT")
  sql <- paste("SELECT", toString(paste0(functions, "(", push$dialect$number(1), ")")))
  tryCatch(DBI::dbGetQuery(push$connection, sql), error = function(e) {
    abort("argument", "The database has no functions EXP, LOG and SQRT (for SQLite, `RSQLite::initExtension(x, ",
          "\"math\")` may load them): ", push_advice, call = call)
  })
}

# ---- snapshots ----

# Begins a snapshot unless the source has one, and returns a function that ends it. design: of a fit, which will ask for
# many sums over its rows; or NULL. batches: see refuse_sampled().
hold_snapshot <- function(push, design = NULL, batches = NULL) {
  if (is.null(push) || push$state$open) return(function() NULL)
  run <- function(statements) for (sql in statements) DBI::dbExecute(push$connection, sql)
  begin <- push$dialect$begin
  if (has_transaction(push)) refuse_snapshot()
  table <- if (!is.null(design)) create_table(push, design, !is.null(batches))
  if (!is.null(batches) && is.null(table)) abort("argument", no_numbers, call = NULL)
  drop <- function() if (!is.null(table)) fails(run(paste("DROP TABLE", table)))
  if (fails(run(begin[1]))) {
    drop()
    refuse_snapshot()
  }
  push$state$open <- TRUE
  push$state$fetched <- push$state$told <- FALSE
  push$state$table <- table
  push$state$numbered <- !is.null(batches)
  # A second interrupt must not leave the transaction open.
  end <- function() {
    suspendInterrupts({
      push$state$open <- FALSE
      push$state$table <- push$state$holds <- NULL
      fails(run(push$dialect$end))
      drop()
    })
  }
  if (fails(run(begin[-1]))) {
    end()
    refuse_snapshot()
  }
  function() {
    end()
    if (push$state$fetched) tell_fetched(push, fetched_why)
  }
}

fails <- function(code) tryCatch({
  muted(code)
  FALSE
}, error = function(e) TRUE)

has_transaction <- function(push) {
  probe <- push$dialect$probe
  !is.null(probe) && probe(push$connection, fails)
}

refuse_snapshot <- function() {
  abort("source", "The database gives no read-only snapshot: is the connection in a transaction, or closed?",
        call = NULL)
}

# ---- prepared rows ----

# What a statement computes of a record before it knows coefficients (R/sql-rows.R) is the same for all sums of a run: a
# temporary table keeps it, which only this connection can read. A transaction that only reads may fill it, but not
# create it. Where it cannot be created, without the right, beside a table of its name or with too many columns, each
# statement computes rows.
# For batches its rows have numbers.
create_table <- function(push, design, numbered) {
  columns <- table_columns(push, design, numbered)
  if (!fits_page(push, length(columns))) return(NULL)
  if (fails(DBI::dbExecute(push$connection, sprintf("CREATE TEMP TABLE dpsosp_rows (%s)", toString(columns))))) NULL
  else paste0(push$dialect$temp, ".dpsosp_rows")
}

# A row with more would be an error in PostgreSQL, and whether one has more depends on which of its numbers are missing.
# Each has at most 8 bytes, a bit says whether it is missing, and row and page have headers of less than 40 bytes each.
fits_page <- function(push, columns) {
  if (is.null(push$dialect$page)) return(TRUE)
  page <- tryCatch(as.double(DBI::dbGetQuery(push$connection, push$dialect$page)[[1]]), error = function(e) 0)
  8 * columns + columns / 8 + 80 <= page
}

table_columns <- function(push, design, numbered) {
  kinds <- design$columns$kind
  factors <- unique(design$columns$variable[kinds == "indicator"])
  numbers <- max_columns(design) - sum(kinds == "indicator") # with those that smooths may get
  c(if (numbered) "id integer PRIMARY KEY",
    paste(c(paste0("z", seq_len(numbers), recycle0 = TRUE), "u"), "bigint"),
    paste0("k", seq_along(factors), " integer", recycle0 = TRUE),
    paste(c("y", "p", "o", "l", "c", "s"), push$dialect$float),
    if (!is.null(push$persons)) c("share integer", "mark integer"))
}

# The plan of a statement that reads the prepared rows, which are written before the first sum that others follow. The
# table holds those of one plan in a fit.
prepared <- function(push, plan, what) {
  state <- push$state
  once <- is.null(what$rows) && is_asked_once(plan, what$word)
  if (is.null(state$table) || (is.null(state$holds) && once)) return(plan)
  if (is.null(state$holds)) fill_table(push, plan)
  if (identical(state$holds, plan$id)) plan$table <- state$table
  plan
}

# The plan of a sum over a batch: of the prepared rows whose numbers are a parameter of the statement. Any numbering is
# as good as another, as a uniform subset of numbers is one of records (proofs: remote-batches).
of_numbers <- function(push, plan) {
  if (is.null(plan$table) || !push$state$numbered) abort("source", "The rows have no numbers.", call = NULL)
  plan$table <- push$dialect$sampled$from(plan$table)
  plan
}

# A run by residuals has other coordinates after the matrix.
is_asked_once <- function(plan, word) {
  word %in% c("moments", "weighted moments", "usable", "response", "value", "class counts") ||
    (word == "weighted" && has_residuals(plan$loss))
}

fill_table <- function(push, plan) {
  layers <- named_layers(plan, row_layers(plan))
  columns <- toString(unlist(row_names(plan)[c("z", "k", "record", "length", "person")], use.names = FALSE))
  run <- function(statements) for (sql in statements) DBI::dbExecute(push$connection, sql)
  on.exit(run(push$dialect$write$end))
  run(push$dialect$write$begin)
  id <- if (push$state$numbered) c("id, ", "row_number() OVER (), ") else c("", "")
  insert <- sprintf("INSERT INTO %s (%s%s, u) %s SELECT %s%s, u FROM %s", push$state$table, id[1], columns,
                    with_layers(layers), id[2], columns, names(layers)[length(layers)])
  # A batch says nothing of numbers beyond the last one that is drawn. The number of persons' records is private.
  if (DBI::dbExecute(push$connection, insert) != plan$n && is.null(plan$persons)) {
    abort("source", "The table has another number of rows than the source. What was charged stays charged.",
          call = NULL)
  }
  push$state$holds <- plan$id
}

# ---- rows that are fetched ----

# Once in a fit, as a user who has the database sum should know that its rows are fetched. ...: why, by public facts.
tell_fetched <- function(push, ...) {
  if (is.null(push) || push$state$told) return(invisible())
  push$state$told <- TRUE
  inform("rows", "The database does not compute all sums: rows are fetched in chunks", ...)
}

fetched_why <- "; the section \"Sums in the database\" of `?dp_source` says for what"

# A pass over the rows is noted. Messages cannot leave the core, so one that nothing has announced is told at the end.
note_fetched <- function(push) if (!is.null(push)) push$state$fetched <- TRUE

# ---- what cannot be pushed ----

# Checks public facts before anything is charged.
check_pushed <- function(push, design, response, call) {
  refuse <- function(...) abort("argument", ..., ": ", push_advice, call = call)
  kinds <- pushed_kinds(design)
  for (name in names(kinds)) {
    if (!has_kind(push, name, kinds[[name]])) refuse(refused_kind(name, push$types[[name]], kinds[[name]]))
  }
  for (name in rownames(design$ranges)) {
    if (!is_wide(design$ranges[name, ])) refuse("The bounds of `", name, "` are too large or too close for a database")
  }
  items <- max(length(pushed_expressions(design)) + max_columns(design) - nrow(design$columns),
               check_expressions(push, design, refuse))
  if (items + 6L > push$dialect$most) {
    refuse("A statement may have ", push$dialect$most, " items; ", items, " columns are too many")
  }
  if (pushed_cells(design) > max_cells) {
    refuse("The factors have ", pushed_cells(design), " combinations of levels; the most are ", max_cells)
  }
  outputs <- if (response$kind == "classes") length(response$labels) else 1
  if (!is.null(push$persons) && (too_wide(push, design, TRUE) || too_wide(push, design, FALSE, outputs))) {
    refuse("With `id` no rows are fetched, and a statement of this database has fewer numbers than a matrix of these ",
           "columns, or a gradient of these columns and classes")
  }
}

# Has a sum more numbers than a SELECT?
too_wide <- function(push, design, matrix, outputs = 1) {
  side <- 1 + max_columns(design) - sum(design$columns$kind == "indicator")
  (if (matrix) side * (side + 1) / 2 else outputs * side) + 50 > push$dialect$most
}

# The kind as which each column is read.
pushed_kinds <- function(design) {
  used <- intersect(unlist(lapply(pushed_expressions(design), all.vars)), names(design$schema))
  lapply(design$schema[used], function(column) column$time %||% kind_of_schema[[column$kind]])
}

kind_of_schema <- list(numeric = "number", factor = "text", logical = "truth", character = "text")

# The number of items of the widest statement that computes expressions.
check_expressions <- function(push, design, refuse) {
  tryCatch(with_expressions(push, design)$widest, dpsosp_untranslated = function(e) {
    refuse(conditionMessage(e), " (a view of the table may have it as a column)")
  })
}

has_kind <- function(push, name, kind) push$types[[name]] %in% push$dialect$known[[kind]]

refused_kind <- function(name, type, kind) {
  if (!is.na(type)) return(paste0("`", name, "` has the type ", type, ", which is not read as ", kind, " there"))
  paste0("`", name, "` is declared as ", kind, ", which this database does not compute with")
}

# Is the range wide enough that a mapped column exceeds one by rounding only, and nothing overflows or underflows?
is_wide <- function(range) {
  if (anyNA(range)) return(TRUE)
  size <- max(abs(range))
  size <= 1e100 && (range[2] == range[1] || (range[2] - range[1] >= 1e-100 && range[2] - range[1] >= size * 2^-35))
}

# Limit for the groups of a statement: the sensitivities account for this many additions.
max_cells <- 1000
pushed_cells <- function(design) {
  factors <- unique(design$columns$variable[design$columns$kind == "indicator"])
  sizes <- unlist(lapply(factors, function(name) factor_sizes(design$predictors[[name]], design$levels[[name]])))
  if (length(sizes) == 0L) return(1)
  prod(tapply(sizes, names(sizes), max))
}

# The number of levels, by factor. An interaction is replaced by its factors, which determine its level.
factor_sizes <- function(e, levels) {
  if (!is.call(e) || !identical(e[[1]], quote(crossed))) return(stats::setNames(length(levels), expression_text(e)))
  of <- seq(3L, length(e), 2L)
  stats::setNames(lengths(as.list(e)[of + 1L]) + 1, vapply(as.list(e)[of], expression_text, ""))
}

# Why the database cannot sum over batches, as the end of a sentence; or NULL. batches: list(matrices, candidates,
# outputs): does the method ask for matrices, and for how many candidates of a search? How many outputs has the loss? A
# batch has no chunks that these could be computed from.
refuse_sampled <- function(push, design, batches) {
  if (is.null(push$dialect$sampled)) return("and this database does not select rows by their numbers")
  if (!fits_page(push, length(table_columns(push, design, TRUE)))) {
    return("and this database cannot keep rows of so many columns")
  }
  if (batches$matrices && too_wide(push, design, TRUE)) {
    return("and a matrix of these columns has more numbers than a statement of this database")
  }
  if (too_wide(push, design, FALSE, batches$outputs)) {
    return("and a gradient of these columns and classes has more numbers than a statement of this database")
  }
  if (batches$candidates > max_candidates) {
    paste("and a database compares at most", max_candidates, "candidates of a search on a batch")
  }
}

max_candidates <- 100 # REMOTE_STEPS of src/engine/engine.h

no_numbers <- paste("Batches from a database are drawn from prepared rows, in a temporary table `dpsosp_rows`, which",
                    "could not be created: has the role the right TEMP, and is there no such table?")

# ---- plans ----

# The list of src/r_remote.c for an oracle on the rows of the design. NULL if a database cannot use a range that was
# found, or if the statements are too long. Of persons all sums are the database's.
push_sums <- function(push, design, response, n, loss, intercept, radius) {
  if (!all(apply(design$ranges, 1L, is_wide))) return(no_sums(push))
  plan <- push_plan(push, design, response, n, loss, intercept, radius)
  all <- !is.null(plan$persons)
  words <- if (!all) fitting_words(plan, push_words(plan))
  if (!all && length(words) == 0L) return(NULL)
  sums <- list2env(list(plan = plan), parent = emptyenv())
  ask <- function(what) {
    sums$plan <- follow_scale(sums$plan, what$scale)
    push_answer(push, sums$plan, what)
  }
  list(ask = ask, words = as.character(words), moved = if (all) "all" else moved_words(plan), shards = as.integer(all),
       sampled = if (push$state$numbered) sampled_words(plan) else character(),
       move = function(geometry) sums$plan <- in_geometry(sums$plan, geometry))
}

no_sums <- function(push) {
  if (is.null(push$persons)) return(NULL)
  abort("source", "A range that was found is too large or too close for a database, and with `id` no rows are ",
        "fetched. What was charged stays charged.", call = NULL)
}

# Sums in the rows' own coordinates. Matrices are computed where they are few, as each is a column of a pass.
push_words <- function(plan) {
  items <- matrix_items(plan)
  rows <- length(plan$v) + length(plan$k) > 0L
  narrow <- items <= 8 * (length(plan$v) + length(plan$k) + 1)
  loss <- sql_losses[[plan$loss$name]]
  several <- has_outputs(plan)
  c("usable", "class counts", if (!several) "response", if (rows) c("moments", "weighted moments", "improvement"),
    if (narrow) "squares", if (several) c("value", "gradient", "clipped gradient"),
    if (!several && !is.null(loss$value)) {
      c("value", "gradient", "clipped gradient", "decreases", "trace",
        if (narrow) c("majorant", "curvature", "products", if (!is.null(loss$curvature)) "hessian"))
    })
}

# In the coordinates of a geometry, of clipped or of weighted rows. The matrix of weighted rows, and those of residuals,
# are asked for once: they may have many columns.
moved_words <- function(plan) {
  if (length(plan$v) + length(plan$k) == 0L) return(character())
  side <- length(plan$v) + sum(plan$indicators)
  third <- rep(1 / 3, side)
  residuals <- has_residuals(plan$loss)
  tilt <- if (has_slopes(plan$loss)) 1 / 3 else 0
  in_it <- function(...) {
    in_geometry(plan, list(scale = third, centre = third * plan$intercept, end = 0 * third, constant = 1 / 3,
                           weighted = TRUE, cap = 1, bound = 1 / 3, shortest = 1 / 3, ...))
  }
  moved <- in_it(tilt = tilt)
  weighted <- fitting_words(moved, c(
    "usable", "weighted", "improvement", if (has_outputs(plan)) "class gradient" else if (!residuals) "gradient",
    if (residuals) c("residual gradient", "residual counts", "recalibration", "residual products", "residual hessian",
                     "row lengths")
  ))
  own <- setdiff(push_words(plan), c("moments", "weighted moments", "response", "clipped gradient", "improvement"))
  damped <- if (!residuals && !has_outputs(plan)) fitting_words(in_it(tilt = 0, damped = TRUE), "residual counts")
  union(union(weighted, damped), fitting_words(plan, own))
}

# Over batches. There matrices of many columns are computed, too, as batches are small.
sampled_words <- function(plan) {
  loss <- sql_losses[[plan$loss$name]]
  gradients <- c("gradient", "clipped gradient")
  if (has_outputs(plan)) return(fitting_words(plan, gradients))
  if (is.null(loss$value)) return(character())
  fitting_words(plan, c(gradients, "decreases", "trace", "majorant", "curvature",
                        if (!is.null(loss$curvature)) "hessian"))
}

matrix_items <- function(plan) {
  base <- length(sql_base(plan))
  base * (base + 1) / 2
}

# Those whose statements are not too long. Coefficients of a third have the most digits.
fitting_words <- function(plan, words) {
  at <- rep(-1 / 3, side_of(plan) * outputs_of(plan))
  what <- list(curvature = "majorant", at = at, along = at, steps = seq_len(32) / 33, clip = 1 / 3, cap = 1 / 3,
               within = 1 / 3, most = rep(1 / 3, side_of(plan) - plan$intercept))
  Filter(function(word) {
    what$word <- word
    if (word == "decreases") what$steps <- 1 / 3
    weights <- sql_weights(plan, what)
    items <- length(summed_terms(plan, what, weights)) + length(plan$k) + 1
    items <= plan$dialect$most && nchar(sum_text(plan, what, weights)) <= plan$dialect$characters
  }, words)
}

# ---- asking ----

push_answer <- function(push, plan, what) ask_snapshot(push, push_sum(push, plan, what))

# Raises no error: returns the value of code, FALSE if it failed, NA if it was interrupted. Messages of the database may
# quote data.
ask_snapshot <- function(push, code) {
  tryCatch(
    muted({
      end <- hold_snapshot(push)
      on.exit(end())
      code
    }),
    error = function(e) {
      note_failure(push_failure(e))
      FALSE
    },
    interrupt = function(e) NA
  )
}

# The number of rows and the sum. Decreases of many steps take several statements, each with its number of rows.
push_sum <- function(push, plan, what) {
  plan <- prepared(push, plan, what)
  steps <- if (what$word == "decreases") what$steps
  if (length(steps) <= max_candidates) return(ask_statement(push, plan, what))
  parts <- lapply(unname(split(steps, (seq_along(steps) - 1L) %/% max_candidates)), function(some) {
    ask_statement(push, plan, replace(what, "steps", list(some)))
  })
  rows <- unique(vapply(parts, `[[`, 0, 1L))
  c(if (length(rows) == 1L) rows else -1, unlist(lapply(parts, `[`, -1L)))
}

ask_statement <- function(push, plan, what) {
  sampled <- !is.null(what$rows)
  query <- sql_sum(if (sampled) of_numbers(push, plan) else plan, what)
  numbers <- if (sampled) list(push$dialect$sampled$text(what$rows))
  query$read(DBI::dbGetQuery(push$connection, query$sql, params = numbers))
}

push_failure <- function(e) {
  if (inherits(e, "dpsosp_error")) return(conditionMessage(e))
  paste("The database did not answer. Its message may quote data and is not shown. What was charged stays charged;",
        "nothing was released.")
}
