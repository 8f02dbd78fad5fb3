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

# The design of a matrix, whose columns are taken as they are. weighted, shift: see design-records.R.
matrix_design <- function(rows, intercept, radius, box, weighted, shift) {
  box <- pmin(pmax(box, -1), 1)
  structure(class = "dp_matrix_design", list(
    radius = radius, intercept = intercept, box = box, labels = c(if (intercept) "(Intercept)", column_labels(rows)),
    weighted = weighted, shift = shift
  ))
}
