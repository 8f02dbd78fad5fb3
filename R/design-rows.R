# Rows: how the columns of a problem are stored. The core takes
#   - a matrix of doubles;
#   - dpsosp_columns: dense columns (a matrix of doubles, or of integers whose bits are those of single-precision
#   numbers), codes of factors (k if the k-th indicator is one, 0 if none is) and the number of indicators of each;
#   - dpsosp_compressed: the slots of a dgCMatrix.

storage_known <- c("double", "single")

# The rows of a matrix argument for the core, with public facts about them.
matrix_rows <- function(x, storage, arg, call) {
  storage <- check_choice(storage, storage_known, "storage", call)
  if (inherits(x, "dgCMatrix")) return(sparse_rows(check_sparse(x, arg, call), storage, call))
  x <- check_matrix(x, arg, call)
  list(n = nrow(x), columns = ncol(x), names = colnames(x),
       core = if (storage == "single") columns_rows(.Call(ffi_single_create, x)) else x)
}

check_matrix <- function(x, arg, call = sys.call(-1)) {
  if (!is.matrix(x) || !is.numeric(x)) {
    advice <- if (is.data.frame(x)) {
      "; for a data frame give a formula, or make it one with `as.matrix()`"
    } else if (is.character(x)) {
      "; a formula has no quotes, as in `y ~ x`"
    } else if (isS4(x) && length(dim(x)) == 2L) {
      paste0("; of the package Matrix only a dgCMatrix is, ",
             "`as(as(as(x, \"dMatrix\"), \"generalMatrix\"), \"CsparseMatrix\")` makes one")
    }
    abort("argument", "`", arg, "` must be a numeric matrix, not ", describe_column(x), advice, ".", call = call)
  }
  if (nrow(x) == 0L) abort("argument", "`", arg, "` has no rows.", call = call)
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

# Names of columns for coefficients; a column without a name gets its number, as in cbind(a = 1:2, 3:4).
column_labels <- function(rows) {
  numbered <- paste0("x", seq_len(rows$columns), recycle0 = TRUE)
  if (is.null(rows$names)) return(numbered)
  ifelse(is.na(rows$names) | !nzchar(rows$names), numbered, rows$names)
}

columns_rows <- function(x, codes = matrix(0L, nrow(x), 0L), indicators = integer()) {
  structure(class = "dpsosp_columns", list(x = x, codes = codes, indicators = indicators))
}

sparse_rows <- function(x, storage, call) {
  if (storage == "single") {
    abort("argument", "`storage` must be \"double\" for a sparse matrix: its entries are kept as they are.",
          call = call)
  }
  size <- attr(x, "Dim")
  list(n = size[1], columns = size[2], names = sparse_names(x), core = structure(
    class = "dpsosp_compressed", list(start = attr(x, "p"), row = attr(x, "i"), value = attr(x, "x"), dim = size)
  ))
}

# The names of the columns; NULL if the slot does not contain them.
sparse_names <- function(x) {
  names <- attr(x, "Dimnames")
  if (is.list(names) && length(names) == 2L && is.character(names[[2]]) && length(names[[2]]) == attr(x, "Dim")[2]) {
    names[[2]]
  }
}

# Slots may contain anything, so they are checked before the core follows their indices.
check_sparse <- function(x, arg, call = sys.call(-1)) {
  size <- attr(x, "Dim")
  sizes <- is.integer(size) && length(size) == 2L && !anyNA(size) && all(size >= 0L)
  types <- is.integer(attr(x, "p")) && is.integer(attr(x, "i")) && is.double(attr(x, "x"))
  fault <- if (sizes && types) .Call(ffi_sparse_check, attr(x, "p"), attr(x, "i"), attr(x, "x"), size) else "types"
  if (!is.null(fault)) {
    abort("argument", "`", arg, "` is not a sound dgCMatrix: ", sparse_faults[[fault]], ".", call = call)
  }
  if (size[1] == 0L) abort("argument", "`", arg, "` has no rows.", call = call)
  x
}

# All names but the first are from ffi_sparse_check().
sparse_faults <- c(
  types = "`Dim`, `p` and `i` must be integers and `x` numbers",
  lengths = "`p` must have one entry more than there are columns, and `i` as many as `x`",
  starts = "`p` must begin with 0, never fall, and end with the length of `i`",
  range = "`i` must lie between 0 and the number of rows less 1",
  order = "`i` must rise within each column, without repetition"
)

# Sums over the rows of a dgCMatrix, of one value per entry.
sparse_sums <- function(x, value) {
  sums <- numeric(attr(x, "Dim")[1])
  if (length(value) == 0L) return(sums)
  found <- rowsum(value, attr(x, "i"))
  sums[as.integer(rownames(found)) + 1L] <- found
  sums
}

# ---- designs ----

# As design_matrix(), with factors as codes. Numeric columns come first, see design_order().
design_rows <- function(design, data, storage = "double", call = sys.call(-1)) {
  factors <- unique(design$columns$variable[design$columns$kind == "indicator"])
  if (length(factors) == 0L && storage == "double") return(design_matrix(design, data, call = call))
  columns <- design$columns[design$columns$kind == "numeric", ]
  scale <- design_scale(design)[design$columns$kind == "numeric", , drop = FALSE]
  # No other variable shares a vector that matrix() has filled, so it may be modified in place.
  x <- matrix(if (storage == "single") 0L else 0, nrow(data), nrow(columns))
  for (j in seq_len(nrow(columns))) {
    variable <- columns$variable[j]
    value <- row_wise_evaluate(design$predictors[[variable]], data, design$schema, "data", call)
    .Call(ffi_design_numeric, x, j, value, design$ranges[variable, ], scale[[j, "centre"]], scale[[j, "half"]])
  }
  codes <- matrix(0L, nrow(data), length(factors))
  for (k in seq_along(factors)) codes[, k] <- factor_codes(design, factors[k], data, call)
  columns_rows(x, codes, as.vector(table(design$columns$variable)[factors]))
}

# 0 for a level without an indicator; only the first can have none.
factor_codes <- function(design, variable, data, call) {
  levels <- design$levels[[variable]]
  value <- row_wise_evaluate(design$predictors[[variable]], data, design$schema, "data", call)
  level_codes(value, levels) - (length(levels) - sum(design$columns$variable == variable))
}

# Coefficients of the design in the order of design_rows().
design_order <- function(design) {
  numeric <- design$columns$kind == "numeric"
  columns <- c(which(numeric), which(!numeric)) + design$intercept
  c(if (design$intercept) 1L, columns)
}

# ---- matrices of second derivatives ----

# ORACLE_MOST_DIM in the core.
max_matrix <- 8192L

# advice: from the caller, which knows the alternatives.
check_matrix_size <- function(dim, what, call, advice = NULL) {
  if (dim <= max_matrix) return(invisible())
  abort("argument", what, " needs matrices of ", dim, " x ", dim, " numbers, ", round(8 * dim^2 / 2^20),
        " MiB each, several at a time; the most are ", max_matrix, " rows.", advice, call = call,
        class = "dpsosp_error_size")
}

# The design of a matrix, whose columns are taken as they are. weighted, shift: see design-records.R; gaps: see
# matrix_gaps().
matrix_design <- function(rows, intercept, radius, box, weighted, shift, gaps = NULL) {
  box <- pmin(pmax(box, -1), 1)
  structure(class = "dp_matrix_design", list(
    radius = radius, intercept = intercept, box = box, labels = c(if (intercept) "(Intercept)", column_labels(rows)),
    weighted = weighted, shift = shift, gaps = gaps
  ))
}

# The arguments id and records: several records of a person, who is protected with all of them (proofs: persons). A list
# of persons has
#   name   of the column of the id; NULL for a matrix
#   rows   the numbers of the rows that are used: those with an id, of each person the first `most`
#   code   of each of these rows the number of its person, from one on
#   n      the number of persons, public
#   most   the largest number of rows of a person that are used, public
# The number of rows is private, so that no message and no entry of a fit may tell it. The rows are always copied, even
# if all of them are used: time then tells no more than their number.

# name: of the column, as the user wrote it. Returns NULL without an id.
frame_persons <- function(name, records, data, call, arg = "data") {
  if (is.null(name)) return(no_persons(records, call))
  name <- id_name(name, call)
  check_data(data, arg, call)
  check_name(name, names(data), call, "id")
  c(list(name = name), new_persons(data[[name]], records, call))
}

id_name <- function(name, call) {
  if (is.symbol(name)) name <- as.character(name)
  if (is.character(name) && length(name) == 1L) return(as.vector(name))
  abort("argument", "`id` must be a column of the data, such as `id = person`, not an expression or values of its ",
        "own.", call = call)
}

# The data frame without the id, which is no predictor, and without rows that are not used.
persons_frame <- function(data, persons) {
  if (is.null(persons)) return(data)
  data[persons$rows, setdiff(names(data), persons$name), drop = FALSE]
}

# n: number of rows of `x`; beside: the response, weights and offset.
matrix_persons <- function(id, records, n, beside, call) {
  if (is.null(id)) return(no_persons(records, call))
  beside <- Filter(Negate(is.null), beside)
  plain <- vapply(beside[names(beside) != "y"], function(x) is.numeric(x) && !is.object(x) && is.null(dim(x)), NA)
  if (length(id) != n || any(lengths(beside) != n) || !all(plain)) {
    abort("argument", "`id`, ", quote_names(names(beside)), " must be vectors with one entry per row of `x`",
          if (length(plain) > 0L) ", weights and offsets numbers", ". The number of rows is private, and not shown.",
          call = call)
  }
  new_persons(id, records, call)
}

no_persons <- function(records, call) {
  check_record_limit(records, call)
  NULL
}

new_persons <- function(id, records, call) {
  most <- check_record_limit(records, call)
  key <- id_key(id, call)
  keys <- unique(key[!is.na(key)])
  code <- match(key, keys)
  known <- which(!is.na(code))
  rows <- known[turns(code[known], tabulate(code[known], length(keys))) <= most]
  if (length(keys) == 0L) abort("argument", "There are no persons: `id` is missing everywhere.", call = call)
  list(rows = rows, code = code[rows], n = length(keys), most = most)
}

# Numbers the rows of each person; count: how many each one has.
turns <- function(code, count) {
  turn <- integer(length(code))
  turn[order(code)] <- sequence(count)
  turn
}

# Values that can be matched, NA where there is no valid one.
id_key <- function(id, call) {
  kind <- column_kind(id)
  switch(if (is.na(kind)) "none" else kind,
    factor = sound_codes(id), character = as_labels(id), numeric = , logical = as_plain(id),
    abort("argument", "`id` must be numbers, text or a factor, not of class \"", class(id)[1], "\".", call = call)
  )
}

# Shares of a person are rounded to multiples of 2^-20.
max_records <- 2^20
check_record_limit <- function(records, call) check_count(records, "records", 1, call, max_records)

# The shares of rows of which none is null yet (data_shares() in src/data/data.h).
raw_shares <- function(persons) .Call(ffi_person_shares, persons_core(persons))

# What the core takes (src/r_data.h); NULL without persons.
persons_core <- function(persons) persons[c("code", "n", "most")]

# The problem of persons, whose rows are those of the list.
of_persons <- function(problem, persons) {
  if (is.null(persons)) return(problem)
  core <- persons_core(persons)
  of <- list(records = function(x) c(x, list(persons = core)),
             columns = function(x) structure(x, persons = core, rows = core$n),
             counted = function(x) structure(x, persons = core, rows = core$n))
  for (name in names(of)) problem[[name]] <- composed_with(of[[name]], problem[[name]])
  problem$n <- persons$n
  problem$split <- NULL
  c(problem, list(persons = persons[intersect(c("name", "most"), names(persons))]))
}

composed_with <- function(after, f) {
  force(after)
  force(f)
  if (is.null(f)) NULL else function(job) after(f(job))
}

# What a fit keeps: public facts.
persons_text <- function(n, persons) {
  paste0(format(n, big.mark = ","), if (n == 1) " person" else " persons", ", at most ",
         format(persons$most, big.mark = ","), " records each")
}
