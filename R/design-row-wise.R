# The functions that expressions of a formula may use. The expressions are evaluated with these only, so a fit keeps no
# environment. The value of each function in a row depends on that row alone, bit by bit (proofs: own-row): they work
# element by element, no product is left to BLAS, and no row is left out on the way. No value raises a condition or
# changes the length of a result.

row_wise_names <- c(
  "(", "+", "-", "*", "/", "^", "%%", "%/%", "==", "!=", "<", ">", "<=", ">=", "!", "&", "|", "%in%", "xor",
  "abs", "sign", "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "floor", "ceiling", "trunc", "round",
  "signif", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "pmin", "pmax", "is.na", "as.numeric",
  "as.integer"
)

# The product of a matrix and a vector. With `%*%`, which is left to BLAS, the last bits of a row may depend on where it
# is and on which other rows are missing.
row_products <- function(x, weights) {
  sum <- numeric(nrow(x))
  for (j in seq_along(weights)) sum <- sum + x[, j] * weights[[j]]
  sum
}

# Interactions of factors (R/design-interactions.R). The arguments are a factor, its kept levels, the next factor, its
# kept levels, and so on. The value in a row is the label of its combination of levels, or "" if a level is not kept.
crossed <- function(labels, ...) {
  parts <- list(...)
  index <- 1L
  size <- 1L
  for (i in seq(1L, length(parts), 2L)) {
    kept <- parts[[i + 1L]]
    at <- match(as_labels(parts[[i]]), kept)
    at[is.na(at) & !is.na(parts[[i]])] <- -Inf
    index <- index + (at - 1) * size
    size <- size * length(kept)
  }
  factor(ifelse(index < 1, "", labels[pmax(index, 1)]), levels = c("", labels))
}

# The contrast of each value of a factor with these levels.
contrast_column <- function(x, levels, values, size) values[level_codes(x, levels)]

# The j-th column of splines::bs() or ns(), at x moved to the boundary knots. A boundary knot takes the place of a
# missing value while the others are computed: splineDesign() computes each row by itself.
spline_column <- function(x, j, kind, knots, boundary, degree, intercept) {
  x <- as.double(x)
  if (length(x) == 0L) return(x)
  missing <- !is.finite(x)
  x[missing] <- boundary[1]
  order <- degree + 1L
  knots <- sort(c(rep(boundary, order), knots))
  basis <- splines::splineDesign(knots, pmin(pmax(x, boundary[1]), boundary[2]), order)
  if (!intercept) basis <- basis[, -1, drop = FALSE]
  column <- if (kind == "bs") basis[, j] else row_products(basis, natural_map(knots, boundary, intercept)[j, ])
  column[missing] <- NA
  column
}

# The value at x, moved between the knots, of the function that is linear between them and has these values at them.
# degree: see degree_of().
smooth_column <- function(x, knots, values, degree) {
  x <- as.double(x)
  x[!is.finite(x)] <- NA
  x <- pmin(pmax(x, knots[1]), knots[length(knots)])
  i <- findInterval(x, knots, all.inside = TRUE)
  u <- (x - knots[i]) / (knots[i + 1L] - knots[i])
  (1 - u) * values[i] + u * values[i + 1L]
}

# ---- gaps (R/design-gaps.R) ----

gap_label <- "(missing)"

# Is the value of a column missing? Of text the mark tells it (read_column()), as a level that is not declared is none.
gap <- function(x) attr(x, "gap") %||% is.na(x)

gap_column <- function(x) as.double(gap(x))

# A value that is not missing but infinite, or of which a function gives none, stays.
filled <- function(x, value) {
  x[is.na(x)] <- value
  x
}

with_gaps <- function(x, gap) {
  levels <- union(if (is.factor(x)) base::levels(x) else c("FALSE", "TRUE"), gap_label)
  codes <- level_codes(x, levels)
  codes[is.na(codes) & gap] <- match(gap_label, levels)
  structure(codes, levels = levels, class = "factor")
}

is_filled <- function(e) is.call(e) && identical(e[[1]], quote(filled))
is_with_gaps <- function(e) is.call(e) && identical(e[[1]], quote(with_gaps))

is_smooth_part <- function(e) is.call(e) && identical(e[[1]], quote(smooth_column))

# The rows give the columns of ns() from cubic B-splines: they are an orthonormal basis of the coefficients whose
# function has second derivatives of zero at both boundary knots. As in ns(), reflections of the space turn the linear
# forms that are these derivatives to the first two axes. It is a function of the knots alone.
natural_map <- function(knots, boundary, intercept) {
  form <- t(splines::splineDesign(knots, boundary, 4L, derivs = c(2L, 2L)))
  if (!intercept) form <- form[-1, , drop = FALSE]
  map <- diag(nrow(form))
  for (k in 1:2) {
    axis <- form[, k] * (seq_len(nrow(form)) >= k)
    axis <- axis / sqrt(sum(axis^2)) * (if (axis[k] < 0) -1 else 1)
    axis[k] <- axis[k] + 1
    reflect <- function(y) y - axis * (sum(axis * y) / axis[k])
    form <- apply(form, 2L, reflect)
    map <- apply(map, 2L, reflect)
  }
  map[-(1:2), , drop = FALSE]
}

row_wise <- list2env(
  c(mget(setdiff(row_wise_names, c("as.numeric", "as.integer")), envir = baseenv()), list(
    as.numeric = function(x) base::as.numeric(as_ascii(x)),
    as.integer = function(x) base::as.integer(as_ascii(x)),
    pi = pi,
    c = c,
    seq = seq,
    ":" = `:`,
    crossed = crossed,
    spline_column = spline_column,
    smooth_column = smooth_column,
    contrast_column = contrast_column,
    gap = gap,
    gap_column = gap_column,
    filled = filled,
    with_gaps = with_gaps,
    cut = function(x, breaks, labels = NULL, include.lowest = FALSE, right = TRUE, ordered_result = FALSE) {
      if (!is.numeric(x)) stop("cut() takes numbers")
      base::cut(as.double(x), breaks, labels, include.lowest, right, ordered_result = ordered_result)
    },
    factor = function(x, levels, labels = levels, ordered = FALSE) {
      base::factor(as_labels(x), as_labels(levels), labels, ordered = ordered)
    },
    I = function(x) x,
    # base::ifelse uses the length of test alone: ifelse(TRUE, x, 0) would be the first row's x in every row.
    ifelse = function(test, yes, no) {
      sizes <- c(length(test), length(yes), length(no))
      n <- if (min(sizes) == 0L) 0L else max(sizes)
      out <- c(as.vector(yes)[0L], as.vector(no)[0L])
      length(out) <- n
      test <- rep_len(as.logical(test), n)
      out[which(test)] <- rep_len(as.vector(yes), n)[which(test)]
      out[which(!test)] <- rep_len(as.vector(no), n)[which(!test)]
      out
    }
  )),
  envir = new.env(parent = emptyenv())
)

# NULL for a numeric predictor.
level_codes <- function(value, levels) {
  if (is.null(levels)) return(NULL)
  if (is.factor(value)) match(base::levels(value), levels)[as.integer(value)] else as.integer(value) + 1L
}

# ---- dates and times: numbers of days, and of seconds ----

# ---- expressions ----

# The name of the function that is called, also if the call names a package of R, as in splines::bs().
function_name <- function(e) {
  if (!is.call(e)) return("")
  head <- e[[1]]
  if (is.call(head) && identical(head[[1]], quote(`::`)) && as.character(head[[2]]) %in% c("stats", "splines")) {
    head <- head[[3]]
  }
  if (is.name(head)) as.character(head) else ""
}

# Vectors of constants, and expressions of constants only, such as log(c(1, 10)) and seq(0, 100, 10).
is_constants <- function(e) {
  if (!is.call(e)) return(is_constant(e))
  function_name(e) %in% c(row_wise_names, "c", "seq", ":") && all(vapply(as.list(e)[-1], is_constants, NA))
}

is_constant <- function(e) {
  if (is.call(e) && identical(e[[1]], quote(`-`)) && length(e) == 2L) e <- e[[2]]
  is.atomic(e) && length(e) == 1L && is.null(attributes(e))
}
