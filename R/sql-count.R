# Numbers of values in cells, counted by a database: for ranges, and for the masses of smooth terms.
#
# A statement has one column. Each record is in one cell of it or in none, and counts once (src/barrier/query_counts.c;
# proofs: private-ranges): which cell follows from the record's value and public breaks alone. Statements group records
# by their cell, so the number of all records comes with each.

# The list of src/r_remote.c that counts the columns of these names, or the coded responses, in cells.
push_counts <- function(push, design, response, names, breaks) {
  list(ask = function(what) ask_snapshot(push, count_in_cells(push, design, response, names, breaks)),
       words = character(), moved = character(), sampled = character(), shards = 0L)
}

# The number of records, or of persons, and the counts; names: of columns; or, with a response, its code.
count_in_cells <- function(push, design, response, names, breaks) {
  push <- with_expressions(push, design)
  values <- if (!is.null(response)) counted_response(push, design, response)
            else vapply(names, function(name) counted_number(push, design, design$predictors[[name]]), "")
  parts <- Map(function(value, breaks) {
    read_cells_of(push, DBI::dbGetQuery(push$connection, count_statement(push, value, breaks)), length(breaks) - 1L)
  }, values, breaks)
  rows <- unique(vapply(parts, `[[`, 0, "rows"))
  c(if (length(rows) == 1L) rows else -1, unlist(lapply(parts, `[[`, "counts"), use.names = FALSE))
}

counted_response <- function(push, design, response) {
  y <- if (uses_offset(response)) map_with_offset(push, design, response) else coded_number(push, design, response)
  of_records(push, design, y)
}

# A value counts if the record is used.
counted_number <- function(push, design, e) {
  value <- plain_number(push, e)
  if (is.null(design$subset)) value else of_records(push, design, value)
}

of_records <- function(push, design, x) {
  of_subset(push, design, where_known(x, c(map_weight(push, design$weights), map_offset(push, design, 1))))
}

# Of persons, a record in a cell counts as its share among all records of its person: which of them are null is not
# known yet, and the value alone may not choose some.
count_statement <- function(push, x, breaks) {
  persons <- !is.null(push$persons)
  id <- if (persons) "id"
  layers <- c(push$before,
              dpsospc1 = count_layer(push, c(named(x, "x"), named(push$persons$key, id)), paste(push$from, "AS t")),
              dpsospc2 = count_layer(push, c(named(cell_of("x", push$dialect$number(breaks)), "cell"), id), "dpsospc1"))
  if (persons) layers <- c(layers, share_layers_of_cells(push))
  sums <- sprintf("CAST(%s AS %s) AS r%d", if (persons) c("SUM(mark)", "SUM(share)") else "COUNT(*)",
                  push$dialect$float, if (persons) 2:3 else 2L)
  paste(with_layers(layers), "SELECT cell AS r1,", toString(sums), "FROM", names(layers)[length(layers)],
        "GROUP BY cell")
}

count_layer <- function(push, items, from) paste("SELECT", toString(items), "FROM", from, push$dialect$fence)

share_layers_of_cells <- function(push) {
  windows <- c("ROW_NUMBER() OVER (PARTITION BY id) AS turn", "COUNT(*) OVER (PARTITION BY id) AS m")
  c(dpsospc3 = count_layer(push, c("cell", windows), "dpsospc2 WHERE id IS NOT NULL"),
    dpsospc4 = count_layer(push, c("cell", named(share_of(push$dialect, "m"), "share"), mark_first), "dpsospc3"))
}

# The cell, from one on, by halving, as SQL has no array to look it up in; the last one is closed. NULL outside.
cell_of <- function(x, breaks) {
  k <- length(breaks)
  halve <- function(first, last) {
    if (first == last) return(sprintf("%d", first))
    middle <- (first + last) %/% 2L
    sprintf("CASE WHEN %1$s < %2$s THEN %3$s WHEN %1$s >= %2$s THEN %4$s END", x, breaks[middle + 1L],
            halve(first, middle), halve(middle + 1L, last))
  }
  sprintf("CASE WHEN %1$s >= %2$s AND %1$s <= %3$s THEN %4$s END", x, breaks[1], breaks[k], halve(1L, k - 1L))
}

read_cells_of <- function(push, rows, cells) {
  counts <- numeric(cells)
  there <- !is.na(rows$r1)
  counts[as.integer(rows$r1[there])] <- if (is.null(push$persons)) as.double(rows$r2[there])
                                        else as.double(rows$r3[there]) / max_records
  list(rows = known_persons(push$persons, sum(as.double(rows$r2))), counts = counts)
}

# NULL where one of what is needed is.
where_known <- function(x, needed) {
  for (one in needed) x <- sprintf("CASE WHEN (%s) IS NOT NULL THEN %s END", one, x)
  x
}
