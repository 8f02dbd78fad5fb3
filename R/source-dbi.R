# Sources that are queries of a database.

#' @rdname dp_source
#' @export
dp_source.DBIConnection <- function(x, query, n = NULL, levels = NULL, types = NULL, chunk = 1e5, ...) {
  call <- sys.call(-1)
  check_dots(call)
  chunk <- check_count(chunk, "chunk", call = call)
  if (missing(query) || !is.character(query) || length(query) != 1L || is.na(query)) {
    abort("argument", "`query` must be the name of a table or an SQL query.", call = call)
  }
  table <- read_source(DBI::dbExistsTable(x, query), call)
  from <- if (table) DBI::dbQuoteIdentifier(x, query) else paste0("(", query, ") AS dp_rows")
  count <- function() DBI::dbGetQuery(x, paste("SELECT COUNT(*) FROM", from))[[1]]
  new_source(query_opener(x, from, chunk), if (table) "a table" else "a query", n, levels, types, count,
             call = call)
}

query_opener <- function(connection, from, chunk) {
  function(columns) {
    what <- if (is.null(columns)) "*" else paste(DBI::dbQuoteIdentifier(connection, columns), collapse = ", ")
    result <- DBI::dbSendQuery(connection, paste("SELECT", what, "FROM", from))
    list(
      read = function() {
        data <- DBI::dbFetch(result, n = chunk)
        if (nrow(data) > 0L) data
      },
      close = function() DBI::dbClearResult(result)
    )
  }
}
