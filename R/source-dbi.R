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
  from <- if (table) DBI::dbQuoteIdentifier(x, query) else paste0("(", query, ")")
  count <- function() DBI::dbGetQuery(x, paste("SELECT COUNT(*) FROM", from, "AS t"))[[1]]
  source <- new_source(query_opener(x, from, chunk), if (table) "a table" else "a query", n, levels, types, count,
                       call = call)
  if (push) source$push <- open_push(x, from, call)
  source
}

open_push <- function(connection, from, call) {
  dialect <- push_dialect(connection, call)
  push <- read_source(new_push(connection, from, dialect), call)
  check_functions(push, call)
  push
}

query_opener <- function(connection, from, chunk) {
  function(columns) {
    what <- if (is.null(columns)) "*" else paste(DBI::dbQuoteIdentifier(connection, columns), collapse = ", ")
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
