# SQL for the columns of a table whose database computes sums.

# The quoted name with the table's alias, as SQLite would take an unknown quoted name for a text.
push_column <- function(push, e) paste0("t.", DBI::dbQuoteIdentifier(push$connection, enc2utf8(as.character(e))))

# The position of a column's values among the levels, with the table to be joined as `as` if the dialect needs one.
column_code <- function(push, column, type, levels, as) {
  if (is_truth(push, type)) return(list(code = truth_code(column)))
  push$dialect$code(push$dialect$text(column, type), DBI::dbQuoteString(push$connection, enc2utf8(levels)), as)
}

is_truth <- function(push, type) !is.na(type) && type == push$dialect$known$truth

truth_code <- function(x) sprintf("CASE WHEN %1$s THEN 2 WHEN NOT %1$s THEN 1 END", x)
