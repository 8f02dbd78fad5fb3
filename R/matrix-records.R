# Weights and offsets of the records of a matrix are vectors. Errors may mention their length and type, but not their
# values. They are kept in a list of weights and offset, or NULL. The design stores whether there are weights (weighted)
# and the range of the offset (shift, see design-records.R), as later calls with new records must give the same ones.

matrix_vectors <- function(weights, offset, n, arg, call) {
  list(weights = check_one_each(weights, "weights", n, arg, call),
       offset = check_one_each(offset, "offset", n, arg, call))
}

# arg: the name of the matrix argument.
check_one_each <- function(x, name, n, arg, call) {
  if (is.null(x)) return(NULL)
  if (!is.numeric(x) || is.object(x) || !is.null(dim(x)) || length(x) != n) {
    abort("argument", "`", name, "` of a matrix must be numbers, one per row of `", arg, "`: ", n, ", not ",
          describe_column(x), if (is.null(dim(x))) paste(" of length", length(x)), ".", call = call)
  }
  as.double(x)
}

# The range as a matrix with one row; NULL if there is no offset.
check_shift <- function(range, offset, call) {
  if (is.null(offset)) {
    if (is.null(range)) return(NULL)
    abort("argument", "`offset_range` is the range of an `offset`, and there is none.", call = call)
  }
  if (is.null(range)) {
    abort("argument", "`offset` needs a public range, to which its numbers are clipped: `offset_range = c(lower, ",
          "upper)`, chosen without looking at the data.", call = call)
  }
  range <- check_interval(range, "offset_range", call)
  if (max(abs(range)) > vector_limit) {
    abort("argument", "`offset_range` must lie within ", vector_limit, " of zero.", call = call)
  }
  matrix(range, 1L)
}

# The vectors for other records than those of the fit, or for the same ones once more: as many as the fit had.
again_vectors <- function(design, given, n, arg, call) {
  vectors <- matrix_vectors(given$weights, given$offset, n, arg, call)
  check_again(design$weighted, vectors$weights, "weights", arg, call)
  check_again(!is.null(design$shift), vectors$offset, "offset", arg, call)
  vectors
}

check_again <- function(had, x, name, arg, call) {
  if (had == !is.null(x)) return(invisible())
  abort("argument", if (had) "The fit had `" else "The fit had no `", name, "`",
        if (had) paste0(": give that of the rows of `", arg, "`, a number each"), ".", call = call)
}

# A fit of a formula takes none.
refuse_vectors <- function(given, call) {
  given <- intersect(names(Filter(Negate(is.null), given)), c("weights", "offset"))
  if (length(given) == 0L) return(invisible())
  abort("argument", quote_names(given), " of a fit of a formula ", if (length(given) > 1L) "are" else "is",
        " found by it in the columns of the data: leave out the argument.", call = call)
}

# ---- values ----

# Is the record used? As design_kept().
vectors_kept <- function(vectors) {
  kept <- if (is.null(vectors$weights)) TRUE else counts_as_weight(vectors$weights)
  if (is.null(vectors$offset)) kept else kept & is.finite(vectors$offset)
}

# The response, missing where the record is not used.
kept_response <- function(y, vectors) {
  y[!vectors_kept(vectors)] <- NA
  y
}

# The list for new_oracle(); y: the response before coding.
matrix_records <- function(rows, y, vectors, shift, response) {
  list(rows = rows, y = response_code(response, kept_response(y, vectors)),
       weighing = vectors_weighing(vectors, shift, response))
}

# The offset of the rows to predict, in the units of predictions.
predicted_offset <- function(design, offset, n, call) {
  offset <- check_one_each(offset, "offset", n, "newdata", call)
  check_again(!is.null(design$shift), offset, "offset", "newdata", call)
  if (is.null(offset)) 0 else clipped_offset(offset, design$shift)
}

vectors_weighing <- function(vectors, shift, response) {
  if (is.null(vectors$weights) && is.null(vectors$offset)) return(NULL)
  offset <- if (!is.null(vectors$offset)) clipped_offset(vectors$offset, shift)
  weighing_of(vectors$weights, offset, shift, response)
}
