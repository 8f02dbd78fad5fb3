# Persons of a table whose database computes the sums (proofs: push-down-persons). Rows are not fetched then, and no
# statement tells their number. A list of persons has
#   key   the id of a record's person, an expression; NULL where the record is of nobody, and not used
#   n     number of persons, public
#   most  of a fit: the largest number of a person's records that are used
#
# A record has a share of its person, a whole number of 2^-20, and one record of each person, which may be a null
# record, has a mark, so that persons can be counted. A whole number that a record adds to a sum is multiplied by the
# share and cut towards zero, so it is multiplied by no more than the share; what is exact with all digits is not cut.

# value: an expression of the id as chunks read it; known: its column in the schema.
new_push_persons <- function(push, id, value, known, call) {
  kind <- switch(column_kind(known), numeric = "number", character = , factor = "text")
  if (is.null(kind) || !is.null(time_of(known)) || !has_kind(push, id, kind)) {
    abort("argument", "With `push` the `id` must be a column of numbers or text, which \"", id, "\" is not there: ",
          push_advice, call = call)
  }
  type <- push$types[[id]]
  dialect <- push$dialect
  key <- if (kind == "number") finite(dialect, dialect$double(value, type))
         else text_key(push, if (is.na(type)) value else dialect$text(value, type), levels(known))
  list(key = key)
}

# Ids are the same if their bytes are, whatever the column's collation says.
text_key <- function(push, text, levels) {
  text <- push$dialect$bytes(text)
  if (is.null(levels)) return(text)
  known <- toString(DBI::dbQuoteString(push$connection, enc2utf8(levels)))
  sprintf("CASE WHEN %1$s IN (%2$s) THEN %1$s END", text, known)
}

count_ids <- function(push) {
  sql <- sprintf("SELECT COUNT(DISTINCT p.id) AS n FROM (SELECT %s AS id FROM %s AS t %s) AS p", push$persons$key,
                 push$from, push$dialect$fence)
  as.double(DBI::dbGetQuery(push$connection, sql)[[1]])
}

# Is this the number of persons with records? Others have none, and n counts them.
known_persons <- function(persons, marks) {
  if (is.null(persons)) marks
  else if (is.na(marks) || marks > persons$n) -1
  else persons$n
}

# Layers that end in the same rows with `share` and `mark`. Records beyond the limit become null records. Which ones
# these are follows from the rows of the person alone, as sums see them: so equal rows need no order, and another
# person's records do not matter. The order is one that favours no side of a column.
share_layers <- function(plan, layers, names) {
  if (is.null(plan$persons)) return(layers)
  rest <- c(names$z, names$k, names$record, names$length)
  order <- toString(c("CASE WHEN u IS NULL THEN 1 ELSE 0 END", mixed(plan, names), rest, "u"))
  layers <- layer(plan, layers, c(rest, "u", sprintf("ROW_NUMBER() OVER (PARTITION BY id ORDER BY %s) AS turn", order),
                                  "COUNT(u) OVER (PARTITION BY id) AS m"), "WHERE id IS NOT NULL")
  used <- sprintf("turn <= %.0f", plan$persons$most)
  m <- sprintf("CASE WHEN m > %1$.0f THEN %1$.0f WHEN m <= %1$.0f THEN m END", plan$persons$most)
  layer(plan, layers, c(rest, sprintf("CASE WHEN %s THEN u END AS u", used),
                        sprintf("CASE WHEN u IS NOT NULL AND %s THEN %s END AS share", used, share_of(plan$dialect, m)),
                        mark_first))
}

mark_first <- "CASE WHEN turn = 1 THEN 1 ELSE 0 END AS mark"

# Of one of m records, m > 0; zero if there are more than 2^20.
share_of <- function(dialect, m) sprintf("%.0f %s (%s)", max_records, dialect$quotient, m)

# A number that depends on all columns of the row and on its response.
mixed <- function(plan, names) {
  prime <- 65521
  numbers <- c(names$z, names$k, plan$dialect$int(clipped_response(plan)))
  sum <- add_up(sprintf("%s * %.0f", numbers, (40503 * seq_along(numbers)) %% prime))
  sprintf("CASE WHEN u IS NOT NULL THEN ((%1$s) %% %2$.0f + %2$.0f) %% %2$.0f END", sum, prime)
}

# ---- shares in sums ----

# Multipliers of rows of 2^20 units take a share with all digits, others are cut.
with_shares <- function(plan, weights) {
  if (is.null(plan$persons)) return(weights)
  weights$exact <- weights$form %in% c("vector", "vectors") && weights$units == unit
  if (weights$exact) weights$worth <- weights$worth / max_records
  weights
}

shared <- function(plan, weights) {
  whole <- paste0(weights$names, if (!is.null(weights$joint)) " * sound", " * share")
  named(if (weights$exact) whole else sprintf("(%s) %s %.0f", whole, plan$dialect$quotient, max_records), weights$names)
}
