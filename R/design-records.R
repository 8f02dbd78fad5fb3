# The arguments subset, weights and offset, as in glm(). Each is a function of its own record alone. A design has
#   subset   expression, TRUE for the records that are used; or NULL
#   weights  expression of numbers in [0, 1]; or NULL
#   offset   expressions, named by the text of their terms; empty if there are none
#   shift    the ranges of the offsets, rows of lower and upper
# A record outside the subset, or without a valid weight or offset, becomes a null record, so that n stays the same.

# Arguments of dp_sosp() that concern the data frame; their expressions are kept as the user wrote them.
frame_arguments <- function(contrasts, subset, weights, na.action, missing, call) {
  if (!is.null(na.action)) {
    abort("argument", "`na.action` must be left out: na.omit() would let one record's missing value change n, which ",
          "is public, and na.fail() would tell of it. A record with a missing value is a null record, which adds ",
          "nothing, or `missing = \"fill\"` fills its gaps.", call = call)
  }
  list(contrasts = contrasts, subset = subset, weights = weights, missing = check_missing(missing, call))
}

# Replaces constants by their values in the formula's environment. A vector of values is refused, as it is not a
# function of a record.
record_expression <- function(e, arg, formula, data, call) {
  if (length(all.vars(e)) == 0L) {
    abort("argument", "`", arg, "` must be a column of the data or an expression of columns, not values of its own.",
          call = call)
  }
  e <- check_plain(e, arg, call)
  if (!is.name(e)) e <- put_environment(e, names(data), environment(formula), call, arg = arg)
  for (name in all.vars(e)) check_name(name, names(data), call, arg)
  e
}

# The expressions of offset() terms.
offset_expressions <- function(terms, call) {
  variables <- as.list(attr(terms, "variables"))[-1][attr(terms, "offset")]
  for (e in variables) {
    if (length(e) != 2L) abort("argument", "`", deparse1(e), "` in `formula` must be of one column.", call = call)
  }
  stats::setNames(lapply(variables, `[[`, 2L), vapply(variables, deparse1, ""))
}

# empty: the value of row_wise_empty().
check_record_values <- function(empty, arg, wanted, call) {
  if (wanted(empty)) return(invisible())
  abort("argument", "`", arg, "` must give one ", if (identical(wanted, is.logical)) "logical value" else "number",
        " per row, not ", describe_column(empty), ".", call = call)
}

# known: ranges, named by the text of expressions.
offset_ranges <- function(offset, known, call) {
  ranges <- matrix(NA_real_, length(offset), 2L, dimnames = list(names(offset), c("lower", "upper")))
  for (name in names(offset)) {
    declared <- known[[name]]
    ranges[name, ] <- if (is.null(declared)) interval(offset[[name]], known) else declared
    if (anyNA(ranges[name, ])) {
      abort("argument", "`", name, "` in `formula` needs a public range: declare that of its columns, or ",
            "`bounds = list(`", name, "` = c(lower, upper))`.", call = call)
    }
    if (max(abs(ranges[name, ])) > vector_limit) {
      abort("argument", "The range of `", name, "` in `formula` must lie within ", vector_limit, " of zero.",
            call = call)
    }
  }
  ranges
}

# ---- values ----

# Is the record used? Never NA.
design_kept <- function(design, data, arg, call) {
  kept <- rep(TRUE, nrow(data))
  if (!is.null(design$subset)) kept <- row_wise_evaluate(design$subset, data, design$schema, arg, call) %in% TRUE
  if (!is.null(design$weights)) {
    weight <- design_weight(design, data, arg, call)
    kept <- kept & counts_as_weight(weight)
  }
  if (length(design$offset) > 0L) kept <- kept & !is.na(design_offset(design, data, arg, call))
  kept
}

design_weight <- function(design, data, arg, call) {
  as.double(row_wise_evaluate(design$weights, data, design$schema, arg, call))
}

# The sum of the offsets, each clipped to its range.
design_offset <- function(design, data, arg, call) {
  sum <- numeric(nrow(data))
  for (name in names(design$offset)) {
    value <- as.double(row_wise_evaluate(design$offset[[name]], data, design$schema, arg, call))
    sum <- sum + clipped_offset(value, design$shift[name, ])
  }
  sum
}

counts_as_weight <- function(weight) !is.na(weight) & weight > 0 & weight <= 1

# A value that is not a finite number is missing.
clipped_offset <- function(value, range) {
  value[!is.finite(value)] <- NA
  pmin(pmax(value, range[1]), range[2])
}

has_weighing <- function(design) !is.null(design$weights) || length(design$offset) > 0L

# The weighing for ffi_oracle_set_weights(), or NULL. For a data frame without rows it is a template for rows that come
# later.
design_weighing <- function(design, response, data, call) {
  if (!has_weighing(design)) return(NULL)
  offset <- if (length(design$offset) > 0L) design_offset(design, data, "data", call)
  weighing_of(if (!is.null(design$weights)) design_weight(design, data, "data", call), offset, design$shift, response)
}

# shift: the ranges of the offset terms. If the response has bounds, offsets are divided by the half width of its map.
weighing_of <- function(weight, offset, shift, response) {
  unit <- response_unit(response)
  list(weight = weight, offset = if (!is.null(offset)) offset / unit, most = max_offset(shift) / unit)
}

response_unit <- function(response) if (response$kind == "bounded") response$half else 1

# The bound is zero where there is no offset.
max_offset <- function(shift) if (is.null(shift)) 0 else sum(apply(abs(shift), 1L, max))

check_offset <- function(loss, offset, call) {
  if (!offset || !has_classes(loss)) return(invisible())
  abort("argument", "An offset does not go with the multinomial loss, which has a predictor for each class: the same ",
        "for all of them changes nothing. Take a response of two classes, or the offset's column as a predictor.",
        call = call)
}

# ---- of a matrix ----

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

# As coded_response(); y: the response of all records.
coded_vector <- function(response, y, vectors, shift) {
  response_code(response, kept_response(y, vectors), if (uses_offset(response)) clipped_offset(vectors$offset, shift))
}

# The list for new_oracle(); y: the response before coding.
matrix_records <- function(rows, y, vectors, shift, response) {
  list(rows = rows, y = coded_vector(response, y, vectors, shift),
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
