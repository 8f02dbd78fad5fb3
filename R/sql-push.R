# Sums computed by a database: dp_source(push = TRUE). sql-sum.R has the statements, this file sends them.

# The state of a source with push-down: connection, from (the quoted table), dialect, types of the columns, and for the
# fit that is running: is a snapshot open, were rows fetched, and did a message say so?
new_push <- function(connection, from, dialect) {
  push <- list(connection = connection, from = from, dialect = dialect,
               state = list2env(list(open = FALSE, fetched = FALSE, told = FALSE), parent = emptyenv()))
  push$types <- push_types(push)
  push
}

push_dialect <- function(connection, call) {
  known <- Filter(function(dialect) !is.null(dialect$class) && inherits(connection, dialect$class), dialects)
  if (length(known) == 1L) return(known[[1]])
  abort("argument", "`push = TRUE` is for connections of RPostgres and RSQLite, not ", describe(connection),
        ": ", push_advice, call = call)
}

push_advice <- "`push = FALSE` reads the rows in chunks."

# Column types by name; NA where columns have no types.
push_types <- function(push) {
  result <- DBI::dbSendQuery(push$connection, paste("SELECT * FROM", push$from, "AS t LIMIT 0"))
  on.exit(DBI::dbClearResult(result))
  columns <- DBI::dbColumnInfo(result)
  types <- if (is.null(push$dialect$known)) NA_character_ else columns$.typname %||% columns$type
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
# many sums over its rows; or NULL.
hold_snapshot <- function(push, design = NULL) {
  if (is.null(push) || push$state$open) return(function() NULL)
  run <- function(statements) for (sql in statements) DBI::dbExecute(push$connection, sql)
  begin <- push$dialect$begin
  if (has_transaction(push)) refuse_snapshot()
  table <- if (!is.null(design)) create_table(push, design)
  drop <- function() if (!is.null(table)) fails(run(paste("DROP TABLE", table)))
  if (fails(run(begin[1]))) {
    drop()
    refuse_snapshot()
  }
  push$state$open <- TRUE
  push$state$fetched <- push$state$told <- FALSE
  push$state$table <- table
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

# Has the user begun a transaction? Needed where a second BEGIN is no error; a savepoint works in a transaction only.
has_transaction <- function(push) {
  probe <- push$dialect$probe
  !is.null(probe) && !fails(DBI::dbExecute(push$connection, probe))
}

refuse_snapshot <- function() {
  abort("source", "The database gives no read-only snapshot: is the connection in a transaction, or closed?",
        call = NULL)
}

# ---- prepared rows ----

# What a statement computes of a record before it knows coefficients (R/sql-rows.R) is the same for all sums of a run: a
# temporary table keeps it, which only this connection can read. A transaction that only reads may fill it, but not
# create it. Where it cannot be created, without the right or beside a table of its name, each statement computes rows.
create_table <- function(push, design) {
  kinds <- design$columns$kind
  factors <- unique(design$columns$variable[kinds == "indicator"])
  columns <- c(paste(c(paste0("z", seq_len(sum(kinds == "numeric")), recycle0 = TRUE), "u"), "bigint"),
               paste0("k", seq_along(factors), " integer", recycle0 = TRUE),
               paste(c("y", "p", "o", "l", "c", "s"), push$dialect$float))
  if (fails(DBI::dbExecute(push$connection, sprintf("CREATE TEMP TABLE dpsosp_rows (%s)", toString(columns))))) NULL
  else paste0(push$dialect$temp, ".dpsosp_rows")
}

# The plan of a statement that reads the prepared rows, which are written before the first sum that others follow. The
# table holds those of one plan in a fit.
prepared <- function(push, plan, what) {
  state <- push$state
  if (is.null(state$table) || (is.null(state$holds) && what$word %in% c("moments", "usable", "value"))) return(plan)
  if (is.null(state$holds)) fill_table(push, plan)
  if (identical(state$holds, plan$id)) plan$table <- state$table
  plan
}

fill_table <- function(push, plan) {
  layers <- named_layers(plan, row_layers(plan))
  columns <- toString(unlist(row_names(plan)[c("z", "k", "record", "length")], use.names = FALSE))
  run <- function(statements) for (sql in statements) DBI::dbExecute(push$connection, sql)
  on.exit(run(push$dialect$write$end))
  run(push$dialect$write$begin)
  DBI::dbExecute(push$connection, sprintf("INSERT INTO %s (%s, u) %s SELECT %s, u FROM %s", push$state$table, columns,
                                          with_layers(layers), columns, names(layers)[length(layers)]))
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

# Can a database compute sums of this loss?
has_sql <- function(loss) !is.null(sql_losses[[loss$name]])

no_sql_text <- function(loss) paste0("The ", loss$name, " loss cannot be computed in a database: ", push_advice)

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
  items <- max(length(pushed_expressions(design)), check_expressions(push, design, refuse))
  if (items + 6L > push$dialect$most) {
    refuse("A statement may have ", push$dialect$most, " items; ", items, " columns are too many")
  }
  if (pushed_cells(design) > max_cells) {
    refuse("The factors have ", pushed_cells(design), " combinations of levels; the most are ", max_cells)
  }
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

has_kind <- function(push, name, kind) {
  known <- push$dialect$known
  if (is.null(known)) kind %in% c("number", "text") else push$types[[name]] %in% known[[kind]]
}

refused_kind <- function(name, type, kind) {
  if (!is.na(type)) return(paste0("`", name, "` has the type ", type, ", which is not read as ", kind, " there"))
  paste0("`", name, "` is declared as ", kind, ", and this database has no types of columns: it reads numbers and text")
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

# ---- plans ----

# The list of src/r_remote.c for an oracle on the rows of the design, or, if it is bare, on the same records without
# columns. NULL if a database has not this loss or cannot use a range that was found, or if the statements are too long;
# and with smooth terms, whose sums are in the coordinates of a geometry.
push_sums <- function(push, design, response, n, loss, intercept, radius, bare = FALSE) {
  if (!has_sql(loss) || (!bare && (has_smooths(design) || !all(apply(design$ranges, 1L, is_wide))))) return(NULL)
  plan <- (if (bare) bare_plan else push_plan)(push, design, response, n, loss, intercept, radius)
  longest <- list(word = "gradient", at = rep(-1 / 3, length(plan$v) + sum(plan$indicators) + plan$intercept))
  if (nchar(sql_sum(plan, longest)$sql) > push$dialect$characters) return(NULL)
  sums <- list2env(list(plan = plan), parent = emptyenv())
  words <- push_words(plan)
  list(ask = function(what) push_answer(push, sums$plan, what), words = words, moved = moved_words(plan, words),
       shards = 0L, move = function(geometry) sums$plan <- in_geometry(plan, geometry))
}

# The sums that a statement computes: matrices where they are few, as each is a column.
push_words <- function(plan) {
  items <- matrix_items(plan)
  narrow <- items <= 8 * (length(plan$v) + length(plan$k) + 1)
  words <- c("value", "gradient", "decreases", "trace", "usable", if (length(plan$v) + length(plan$k) > 0L) "moments",
             if (narrow) c("majorant", "curvature", "squares", "products", "hessian"))
  if (is.null(sql_losses[[plan$loss$name]]$curvature)) setdiff(words, "hessian") else words
}

matrix_items <- function(plan) {
  base <- length(sql_base(plan))
  base * (base + 1) / 2
}

# In the coordinates of a geometry. The matrix of weighted rows is asked for once: it may have many columns.
moved_words <- function(plan, words) {
  if (length(plan$v) + length(plan$k) == 0L) return(character())
  side <- length(plan$v) + sum(plan$indicators)
  third <- rep(1 / 3, side)
  moved <- in_geometry(plan, list(scale = third, centre = third * plan$intercept, end = 0 * third, constant = 1 / 3,
                                  weighted = TRUE, cap = 1, bound = 1 / 3, tilt = 1 / 3, shortest = 1 / 3))
  at <- rep(-1 / 3, side + plan$intercept)
  wide <- matrix_items(plan) + length(plan$k) + 1 <= plan$dialect$most
  long <- vapply(c("gradient", if (wide) "weighted"), function(word) {
    nchar(sql_sum(moved, list(word = word, at = at))$sql)
  }, 0L)
  c(if (max(long) <= plan$dialect$characters) c(words, if (wide) "weighted"))
}

push_plan <- function(push, design, response, n, loss, intercept, radius) {
  push <- with_expressions(push, design)
  columns <- design$columns
  scale <- design_scale(design)
  numeric <- which(columns$kind == "numeric")
  factors <- unique(columns$variable[columns$kind == "indicator"])
  v <- vapply(numeric, function(j) {
    variable <- columns$variable[j]
    map_number(push, design$predictors[[variable]], design$ranges[variable, ], scale[[j, "centre"]], scale[[j, "half"]])
  }, "")
  indicators <- vapply(factors, function(variable) sum(columns$variable == variable), 0L)
  k <- lapply(seq_along(factors), function(i) {
    levels <- design$levels[[factors[i]]]
    map_codes(push, design$predictors[[factors[i]]], levels, length(levels) - indicators[[i]], paste0("code", i))
  })
  y <- map_response(push, design$response_expression, response)
  joins <- unlist(lapply(c(k, list(y)), `[[`, "join"))
  list(id = new.env(), dialect = push$dialect, before = push$before,
       from = paste(c(push$from, "AS t", joins), collapse = " "), v = v, k = vapply(k, `[[`, "", "code"),
       indicators = unname(indicators), unit = unit, first = if (intercept) 1 else numeric(),
       ones = own_ones(unname(indicators)), y = of_subset(push, design, y$code),
       weight = map_weight(push, design$weights), offset = map_offset(push, design, response_unit(response)),
       shift = max_offset(design$shift) / response_unit(response), n = n, loss = loss, intercept = intercept,
       radius = radius)
}

# Only the responses: a record counts fully if its weight and its offset can be used.
bare_plan <- function(push, design, response, n, loss, intercept, radius) {
  design$columns <- design$columns[0L, ]
  plan <- push_plan(push, design, response, n, loss, intercept, radius)
  for (needed in c(plan$weight, plan$offset)) {
    plan$y <- sprintf("CASE WHEN (%s) IS NOT NULL THEN %s END", needed, plan$y)
  }
  plan[c("weight", "offset")] <- list(NULL)
  plan$shift <- 0
  plan
}

# The expressions of predictors, response and records, named by their text.
pushed_expressions <- function(design) {
  e <- c(design$predictors[unique(design$columns$variable)], design$response_expression, design$subset, design$weights,
         design$offset)
  e <- stats::setNames(e, vapply(e, expression_text, ""))
  e[!duplicated(names(e))]
}

# If there are expressions that are not columns, everything needed from the table is computed first. before: layers;
# from: the last of them; defined: the nodes of the expressions.
with_expressions <- function(push, design) {
  e <- pushed_expressions(design)
  if (all(vapply(e, is.name, NA))) return(push)
  made <- define_expressions(push, design$schema, e)
  push[c("defined", "before", "widest")] <- made[c("nodes", "layers", "widest")]
  push$from <- names(made$layers)[length(made$layers)]
  push
}

# A column of the table, or a computed expression, as a number: the column and its value.
push_number <- function(push, e) {
  node <- push$defined[[expression_text(e)]]
  if (!is.null(node)) return(list(column = paste0("t.", node$sql), x = paste0("t.", node$sql)))
  column <- push_column(push, e)
  list(column = column, x = push$dialect$double(column, push$types[[as.character(e)]]))
}

# The response, missing if the record is not in the subset.
of_subset <- function(push, design, y) {
  if (is.null(design$subset)) return(y)
  kept <- push$defined[[expression_text(design$subset)]]$sql %||% push_column(push, design$subset)
  sprintf("CASE WHEN %s THEN %s END", kept, y)
}

# (x clipped to the range - centre) / half; 0 if half = 0.
map_number <- function(push, e, range, centre, half) {
  factor <- if (half > 0) 1 / half else 0
  clip_number(push, e, range, centre, factor, pmin(pmax((range - centre) * factor, -1), 1))
}

# (x clipped to the range - centre) * factor, with the given values at the ends; NULL if x is missing or not finite. A
# value outside the range is only compared, never computed with. First a number is added that rounds x to a lattice: the
# difference is then zero or not tiny. So products do not underflow, which would be an error caused by a record.
clip_number <- function(push, e, range, centre, factor, ends) {
  number <- push$dialect$number
  value <- push_number(push, e)
  far <- 3 * max(abs(range), 1e-100)
  largest <- number(.Machine$double.xmax)
  push$dialect$guard(value$column, sprintf(
    paste("CASE WHEN %1$s > %3$s THEN CASE WHEN %1$s <= %8$s THEN %5$s END",
          "WHEN %1$s < %2$s THEN CASE WHEN %1$s >= -%8$s THEN %4$s END ELSE ((%1$s + %6$s) - %7$s) * %9$s END"),
    value$x, number(range[1]), number(range[2]), number(ends[1]), number(ends[2]), number(far), number(far + centre),
    largest, number(factor)
  ))
}

# The weight in (0, 1], as a multiple of 2^-52; missing if the record is not used. NULL without weights.
map_weight <- function(push, e) {
  if (is.null(e)) return(NULL)
  value <- push_number(push, e)
  push$dialect$guard(value$column, sprintf("CASE WHEN %1$s > 0 AND %1$s <= 1 THEN (%1$s + %2$s) - %2$s END", value$x,
                                           push$dialect$number(1)))
}

# The sum of the offsets, each clipped to its range; unit: see weighing_of(). NULL without offsets.
map_offset <- function(push, design, unit) {
  terms <- vapply(names(design$offset), function(name) {
    range <- design$shift[name, ]
    clip_number(push, design$offset[[name]], range, 0, 1 / unit, range / unit)
  }, "")
  if (length(terms) > 0L) add_up(terms)
}

# The position among the levels minus `less`, the number of levels before the first indicator; missing for other values.
# as: the alias of a table that may have to be joined.
map_codes <- function(push, e, levels, less, as) {
  node <- push$defined[[expression_text(e)]]
  found <- if (is.null(node)) {
    column_code(push, push_column(push, e), push$types[[as.character(e)]], levels, as)
  } else {
    list(code = if (node$kind == "truth") truth_code(paste0("t.", node$sql)) else paste0("t.", node$sql))
  }
  found$code <- sprintf("%s - %d", found$code, less)
  found
}

map_response <- function(push, e, response) {
  number <- push$dialect$number
  if (response$kind == "bounded") {
    return(list(code = map_number(push, e, response$bounds, response$centre, response$half)))
  }
  if (response$kind != "numeric") {
    found <- map_codes(push, e, as.character(response$labels), 1L, "codey")
    found$code <- sprintf("2 * (%s) - %s", found$code, number(1))
    return(found)
  }
  value <- push_number(push, e)
  sided <- sprintf("CASE WHEN %1$s = 1 THEN %2$s WHEN %1$s = 0 OR %1$s = -1 THEN %3$s END", value$x, number(1),
                   number(-1))
  list(code = push$dialect$guard(value$column, sided))
}

# ---- asking ----

# Raises no error: returns a sum, FALSE if it failed, NA if it was interrupted. Messages of the database may quote data.
push_answer <- function(push, plan, what) {
  tryCatch(
    muted({
      end <- hold_snapshot(push)
      on.exit(end())
      push_sum(push, plan, what)
    }),
    error = function(e) {
      note_failure(push_failure(e))
      FALSE
    },
    interrupt = function(e) NA
  )
}

# The number of rows and the sum.
push_sum <- function(push, plan, what) {
  query <- sql_sum(prepared(push, plan, what), what)
  query$read(DBI::dbGetQuery(push$connection, query$sql))
}

push_failure <- function(e) {
  if (inherits(e, "dpsosp_error")) return(conditionMessage(e))
  paste("The database did not answer. Its message may quote data and is not shown. What was charged stays charged;",
        "nothing was released.")
}
