# Sources that are queries of a database.

#' @rdname dp_source
#' @export
dp_source.DBIConnection <- function(x, query, n = NULL, levels = NULL, types = NULL, chunk = 1e5, push = FALSE, ...) {
  call <- sys.call(-1)
  check_dots(call)
  push <- check_flag(push, "push", call)
  chunk <- check_count(chunk, "chunk", call = call)
  if (missing(query) || !is.character(query) || length(query) != 1L || is.na(query)) {
    abort("argument", "`query` must be the name of a table or an SQL query.", call = call)
  }
  table <- read_source(DBI::dbExistsTable(x, query), call)
  if (!table) inform_query(query)
  from <- if (table) DBI::dbQuoteIdentifier(x, query) else paste0("(", query, ")")
  count <- function() DBI::dbGetQuery(x, paste("SELECT COUNT(*) FROM", from, "AS t"))[[1]]
  source <- new_source(query_opener(x, from, chunk), if (table) "a table" else "a query", n, levels, types, count,
                       call = call)
  source$open <- query_opener(x, from, chunk, read_source(value_forms(x, from, source$schema), call))
  if (push) source$push <- open_push(x, from, call)
  source
}

open_push <- function(connection, from, call) {
  dialect <- push_dialect(connection, call)
  push <- read_source(new_push(connection, from, dialect), call)
  check_functions(push, call)
  push
}

# forms: templates of expressions that read columns, by their names; NULL: columns as they are.
query_opener <- function(connection, from, chunk, forms = NULL) {
  function(columns) {
    what <- if (is.null(columns)) "*" else {
      names <- DBI::dbQuoteIdentifier(connection, columns)
      values <- paste0("t.", names)
      if (!is.null(forms)) values <- mapply(sprintf, forms[columns], values)
      toString(paste(values, "AS", names))
    }
    result <- DBI::dbSendQuery(connection, paste("SELECT", what, "FROM", from, "AS t"))
    list(
      read = function() {
        data <- DBI::dbFetch(result, n = chunk)
        if (nrow(data) > 0L) data
      },
      close = function() DBI::dbClearResult(result)
    )
  }
}

# A value must be read by itself, whatever the others are. SQLite has types of values only, and RSQLite coerces all
# values of a chunk to the type of the first one. RPostgres reads an infinite date beyond its end.
value_forms <- function(connection, from, schema) {
  if (inherits(connection, "SQLiteConnection")) return(vapply(schema, sqlite_form, ""))
  if (!inherits(connection, "PqConnection")) return(NULL)
  types <- new_push(connection, from, dialects$postgres)$types
  forms <- c("%s", "CASE WHEN isfinite(%1$s) THEN %1$s END")[types %in% c("date", "timestamp", "timestamptz") + 1L]
  stats::setNames(forms, names(types))
}

sqlite_form <- function(known) {
  if (!is.null(time_of(known))) return(sqlite_forms[[time_of(known)]])
  if (identical(column_kind(known), "numeric")) sqlite_forms$number else sqlite_forms$text
}

# Each gives a number, or a text.
sqlite_forms <- list(
  # A text equals its number only if it is one as a whole.
  number = paste("CASE WHEN typeof(%1$s) IN ('integer', 'real') OR (typeof(%1$s) = 'text' AND %1$s =",
                 "CAST(%1$s AS REAL)) THEN CAST(%1$s AS REAL) END"),
  # Whole numbers have the same text as integers and as doubles.
  text = paste("CASE WHEN typeof(%1$s) = 'real' AND %1$s = CAST(%1$s AS INTEGER) THEN CAST(CAST(%1$s AS INTEGER)",
               "AS TEXT) WHEN typeof(%1$s) <> 'blob' THEN CAST(%1$s AS TEXT) END"),
  Date = paste("CASE WHEN typeof(%1$s) IN ('integer', 'real') THEN date(%1$s * 86400.0, 'unixepoch')",
               "WHEN typeof(%1$s) = 'text' THEN %1$s END"),
  POSIXct = paste("CASE WHEN typeof(%1$s) IN ('integer', 'real') THEN strftime('%%Y-%%m-%%d %%H:%%M:%%f', %1$s,",
                  "'unixepoch') WHEN typeof(%1$s) = 'text' THEN %1$s END")
)

# The text of a query is public, and these words in it tell how many rows come, or from how many persons one is.
counting_words <- c("WHERE", "HAVING", "LIMIT", "DISTINCT", "GROUP", "JOIN")

inform_query <- function(query) {
  quoted <- "(?s)'[^']*'|\"[^\"]*\"|`[^`]*`|\\[[^]]*\\]|--[^\n]*|/\\*.*?\\*/"
  found <- Filter(function(word) grepl(paste0("\\b", word, "\\b"), gsub(quoted, " ", query, perl = TRUE),
                                       ignore.case = TRUE), counting_words)
  if (length(found) == 0L) return(invisible())
  inform("query", "`query` has ", paste(found, collapse = " and "), ": the number of rows that it returns, n, is ",
         "public, and a row must depend on one person only. Where a condition on private values decides which records ",
         "are used, query all records and give the condition to `dp_sosp()` as `subset`.")
}
