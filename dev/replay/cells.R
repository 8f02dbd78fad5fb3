# Cells of dev/matrix.R: models, methods, forms of data and options that calls.R does not have, also those that are
# refused. A third of the rows of the table for each form in memory, of the others fewer; in the short form fewer still.

row_numbers_of <- function(form, rows) {
  every <- (if (form %in% c("push", "shards")) 30 else 3) * (if (long) 1 else 12)
  which((seq_len(rows) + match(form, names(cells$forms))) %% every == 0)
}
forms_audited <- c("frame", "codes", "dense", "single", "sparse", "chunks", "once",
                   if (exists("pushed")) "push", if (long && length(workers)) "shards")

audit_cells <- function() {
  rows <- rbind(cells$default_rows(), cells$option_rows(), cells$later_rows())
  for (form in forms_audited) {
    for (i in row_numbers_of(form, nrow(rows))) audit_cell(form, rows[i, ])
  }
}

# The table makes a call of records that it keeps, in its own environment.
audit_cell <- function(form, row) {
  name <- paste(c(row$model, row$method, row$option[row$option != ""], form), collapse = ", ")
  set_records(cell_data)
  expression <- tryCatch(cells$call_of(form, row$model, row$method, row$option), error = identity)
  if (inherits(expression, "error")) return()
  call <- function(data) {
    set_records(data)
    where <- new.env(parent = cells)
    id <- if (row$option == "persons") "person"
    where$data <- switch(form, push = pushed(data, id), shards = in_shards(data, id), cells$data_of(form, id))
    if (row$option == "budget") where$shared <- cells$shared_budget(row$method)
    eval(expression, where)
  }
  null <- if (row$option == "zero-out") "null"
  set <- if (row$option == "persons") cell_people else cell_neighbours
  if (form %in% c("push", "shards")) set <- set[c(1, 2, length(set))]
  check(name, note_audit(audit(call, cell_data, list(set), null, refused = TRUE))$found)
}

set_records <- function(data) {
  cells$records <- data
  cells$numbers <- as.matrix(data[c("a", "b")])
  cells$sparse_numbers <- sparse(cells$numbers)
}

high <- list(a = 1, b = 1, f = "u", o = 1, w = 1, y = "yes", z = 3, k = 8, m = "high")
low <- list(a = -1, b = -1, f = "w", o = -1, w = 1, y = "no", z = -3, k = 0, m = "low")
cell_data <- put(make_records(300), 20, list(a = NA))
cell_data <- put(put(cell_data, 77, list(b = NA)), audited, high)
cell_neighbours <- replaced(cell_data, audited, list(
  low = low, mixed = utils::modifyList(high, low[c("y", "z", "k", "m")]),
  odd = list(a = Inf, b = -1e300, f = 99L, o = 1e300, w = -1, z = 1e300, k = 1e300),
  null = list(a = NA, y = NA_integer_, m = NA_integer_, z = NA, k = NA)
))
cell_people <- of_person(cell_data)[c("one", "long", "odd", "null")]
