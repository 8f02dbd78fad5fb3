# How a database reads values: each by itself, by the type that its column has in the source's schema, and by the rules
# for chunks (conform_column(), R/source-stream.R). Statements of sums and those that fetch rows read a column through
# the same expression, its form, so both have the same records. push$forms has templates by the names of the columns,
# push$types the types of their values.

# The dialect of a connection; NULL for other databases.
known_dialect <- function(connection) {
  Find(function(dialect) !is.null(dialect$class) && inherits(connection, dialect$class), dialects)
}

with_forms <- function(push, schema) {
  forms <- Map(function(name, type) {
    known <- schema[[name]]
    if (is.na(type)) untyped_form(push$dialect, known) else typed_form(push$dialect, type, known)
  }, names(push$types), push$types)
  push$forms <- vapply(forms, `[[`, "", "sql")
  push$types <- vapply(forms, `[[`, "", "type")
  push
}

# The table, in which these columns are read through their forms.
formed_table <- function(push, columns) {
  columns <- intersect(columns, names(push$forms))
  forms <- push$forms[columns]
  if (length(columns) == 0L || all(forms == as_it_is)) return(push$from)
  names <- as.character(DBI::dbQuoteIdentifier(push$connection, enc2utf8(columns)))
  items <- named(mapply(sprintf, forms, paste0("t.", names)), names)
  sprintf("(SELECT %s FROM %s AS t %s)", toString(items), push$from, push$dialect$fence)
}

as_it_is <- "%1$s"

new_form <- function(dialect, kind, sql) list(sql = sql, type = dialect$known[[kind]][1])

# Of columns with types of their own.
typed_form <- function(dialect, type, known) {
  to <- time_of(known) %||% column_kind(known)
  is <- function(kind) type %in% dialect$known[[kind]]
  if (type %in% dialect$times) return(list(sql = "CASE WHEN isfinite(%1$s) THEN %1$s END", type = type))
  if (to %in% "numeric" && type %in% names(dialect$casts)) {
    cast <- dialect$casts[[type]]
    known_as <- if (cast %in% dialect$known$number) cast else dialect$known$number[1]
    return(list(sql = sprintf("CAST(%s AS %s)", as_it_is, cast), type = known_as))
  }
  if (to %in% "numeric" && is("truth")) {
    return(new_form(dialect, "number", truth_as("%1$s", dialect$number(1), dialect$number(0))))
  }
  if (to %in% "logical" && is("number")) return(new_form(dialect, "truth", number_as_truth(dialect, type)))
  if (to %in% c("logical", "factor") && is("text") && !is("number") && (to == "logical" || of_truth(levels(known)))) {
    truth <- text_as_truth(dialect$text(as_it_is, type))
    return(if (to == "logical") new_form(dialect, "truth", truth)
           else new_form(dialect, "text", truth_as(truth, "'TRUE'", "'FALSE'")))
  }
  if (to %in% "factor" && is("number") && of_truth(levels(known))) {
    return(new_form(dialect, "text", truth_as(number_as_truth(dialect, type), "'TRUE'", "'FALSE'")))
  }
  if (to %in% c("character", "factor")) {
    if (is("truth")) return(new_form(dialect, "text", truth_as("%1$s", "'TRUE'", "'FALSE'")))
    if (type %in% names(dialect$casts) && is("text")) {
      return(new_form(dialect, "text", dialect$text(as_it_is, type)))
    }
    if (is("number") && !is("text")) return(new_form(dialect, "text", number_as_text(dialect, type)))
    if (!is("text") && !type %in% dialect$times) return(new_form(dialect, "text", dialect$text("%1$s", type)))
  }
  list(sql = as_it_is, type = type)
}

quoted <- function(words) toString(paste0("'", words, "'"))

text_as_truth <- function(x) {
  sprintf("CASE WHEN %1$s IN (%2$s, '1', '1.0') THEN (1 = 1) WHEN %1$s IN (%3$s, '0', '0.0') THEN (1 = 0) END", x,
          quoted(true_texts), quoted(false_texts))
}

truth_as <- function(x, yes, no) sprintf("CASE WHEN %1$s THEN %2$s WHEN NOT %1$s THEN %3$s END", x, yes, no)

number_as_truth <- function(dialect, type) {
  sprintf("CASE WHEN (%1$s) = %2$s THEN (1 = 1) WHEN (%1$s) = %3$s THEN (1 = 0) END", dialect$double(as_it_is, type),
          dialect$number(1), dialect$number(0))
}

# As as_labels() writes them: whole numbers without a point or an exponent.
number_as_text <- function(dialect, type) {
  x <- dialect$double(as_it_is, type)
  number <- dialect$number
  sprintf(paste("CASE WHEN (%1$s) >= -%2$s AND (%1$s) <= %2$s THEN CASE WHEN (%1$s) = FLOOR(%1$s) THEN %3$s",
                "ELSE %4$s END ELSE %5$s END"), x, number(1e15), dialect$text(dialect$int(x), "int8"),
          dialect$text(x, "float8"), dialect$text(as_it_is, type))
}

# Of SQLite, which has types of values only.
untyped_form <- function(dialect, known) {
  time <- time_of(known)
  if (!is.null(time)) return(list(sql = sqlite_forms[[time]], type = NA_character_))
  kind <- switch(paste(column_kind(known)), numeric = "number", logical = "truth", "text")
  if (kind == "text" && of_truth(levels(known))) {
    return(new_form(dialect, kind, truth_as(sqlite_forms$truth, "'TRUE'", "'FALSE'")))
  }
  new_form(dialect, kind, sqlite_forms[[kind]])
}

# Each gives a number, zero or one, or a text.
sqlite_forms <- list(
  # A text equals its number only if it is one as a whole.
  number = sprintf(paste(
    "CASE WHEN typeof(%%1$s) IN ('integer', 'real') THEN CAST(%%1$s AS REAL) WHEN typeof(%%1$s) = 'text' THEN CASE",
    "WHEN %%1$s = CAST(%%1$s AS REAL) THEN CAST(%%1$s AS REAL) WHEN %%1$s COLLATE BINARY IN (%s) THEN 1e0",
    "WHEN %%1$s COLLATE BINARY IN (%s) THEN 0e0 WHEN LOWER(TRIM(%%1$s)) IN ('inf', '+inf', 'infinity', '+infinity')",
    "THEN 9e999 WHEN LOWER(TRIM(%%1$s)) IN ('-inf', '-infinity') THEN -9e999 END END"
  ), quoted(true_texts), quoted(false_texts)),
  # Whole numbers have the same text as integers and as doubles.
  text = paste("CASE WHEN typeof(%1$s) = 'real' AND %1$s = CAST(%1$s AS INTEGER) THEN CAST(CAST(%1$s AS INTEGER)",
               "AS TEXT) WHEN typeof(%1$s) <> 'blob' THEN CAST(%1$s AS TEXT) END"),
  Date = paste("CASE WHEN typeof(%1$s) IN ('integer', 'real') THEN date(%1$s * 86400.0, 'unixepoch')",
               "WHEN typeof(%1$s) = 'text' THEN %1$s END"),
  POSIXct = paste("CASE WHEN typeof(%1$s) IN ('integer', 'real') THEN strftime('%%Y-%%m-%%d %%H:%%M:%%f', %1$s,",
                  "'unixepoch') WHEN typeof(%1$s) = 'text' THEN %1$s END")
)
sqlite_forms$truth <- sprintf("CASE %s WHEN 1e0 THEN 1 WHEN 0e0 THEN 0 END", sqlite_forms$number)
