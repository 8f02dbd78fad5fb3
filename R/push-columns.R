# Columns of a table that takes sums, in SQL.

# Quoted, and of the table: SQLite takes an unknown name in quotes for a text.
push_column <- function(push, e) paste0("t.", DBI::dbQuoteIdentifier(push$connection, enc2utf8(as.character(e))))

# The place of its values among levels; and, where the dialect says so, what is joined for it, as this.
column_code <- function(push, column, type, levels, as) {
  if (is_truth(push, type)) return(list(code = truth_code(column)))
  push$dialect$code(push$dialect$text(column, type), DBI::dbQuoteString(push$connection, enc2utf8(levels)), as)
}

is_truth <- function(push, type) !is.na(type) && type == push$dialect$known$truth

truth_code <- function(x) sprintf("CASE WHEN %1$s THEN 2 WHEN NOT %1$s THEN 1 END", x)
