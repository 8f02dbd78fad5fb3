# Persons of a table whose database computes the sums (proofs: push-down-persons). Rows are not fetched then, and no
# statement tells their number; R/sql-rows.R has their shares. A list of persons has
#   id    the column of the id
#   key   the id of a record's person, an expression; NULL where the record is of nobody, and not used
#   n     number of persons, public
#   most  of a fit: the largest number of a person's records that are used

# known: the column of the id in the schema.
new_push_persons <- function(push, id, known, call) {
  kind <- switch(column_kind(known), numeric = "number", character = , factor = "text")
  if (is.null(kind) || !is.null(time_of(known)) || !has_kind(push, id, kind)) {
    abort("argument", "With `push` the `id` must be a column of numbers or text, which \"", id, "\" is not there: ",
          push_advice, call = call)
  }
  value <- push_column(push, as.name(id))
  type <- push$types[[id]]
  key <- if (kind == "number") number_key(push$dialect, value, type)
         else text_key(push, push$dialect$text(value, type), levels(known))
  list(id = id, key = key)
}

# As it is: doubles would take large whole numbers for one.
number_key <- function(dialect, value, type) {
  sprintf("CASE WHEN %1$s >= -%2$s AND %1$s <= %2$s THEN %3$s END", dialect$double(value, type),
          dialect$number(.Machine$double.xmax), value)
}

# Ids are the same if their bytes are, whatever the column's collation says.
text_key <- function(push, text, levels) {
  text <- push$dialect$bytes(text)
  if (is.null(levels)) return(text)
  known <- toString(DBI::dbQuoteString(push$connection, enc2utf8(levels)))
  sprintf("CASE WHEN %1$s IN (%2$s) THEN %1$s END", text, known)
}

# With persons the number of rows is private, and such a limit would make an error of it.
check_limits <- function(connection, call) {
  ask <- Filter(function(dialect) !is.null(dialect$class) && inherits(connection, dialect$class), dialects)
  sql <- if (length(ask) == 1L) ask[[1]]$limits
  set <- if (!is.null(sql)) DBI::dbGetQuery(connection, sql)[[1]]
  if (length(set) == 0L) return(invisible())
  abort("source", "The database has the limit ", quote_names(set), ". With `id` the number of rows is private, and a ",
        "limit of time or disk would have it decide between a result and an error: lift it for this connection, such ",
        "as by `DBI::dbExecute(x, \"SET ", set[1], " = ", if (set[1] == "temp_file_limit") -1 else 0, "\")`.",
        call = call)
}

count_ids <- function(push) {
  sql <- sprintf("SELECT COUNT(DISTINCT p.id) AS n FROM (SELECT %s AS id FROM %s AS t %s) AS p", push$persons$key,
                 formed_table(push, push$persons$id), push$dialect$fence)
  as.double(DBI::dbGetQuery(push$connection, sql)[[1]])
}
