# The design: how a data frame becomes the matrix of the problem, and how the
# problem's solution becomes coefficients.
#
# A template is made from the formula and the public schema of the data alone:
# names, classes and declared factor levels. It holds no value of the data, so
# a fit may keep it, and predict() repeats with it exactly what the fit did.
#
# With an intercept a numeric column x of range [l, u] is clipped to it and
# mapped to (x - c) / h in [-1, 1], c = (l + u) / 2 and h = (u - l) / 2.
# Without one there is nothing to take up the shift: c = 0, h = max(|l|, |u|).
# A factor becomes indicators of its declared levels but the first (of all of
# them for the first factor of a formula without intercept). So a row with its
# intercept has norm at most sqrt(#numeric + #factors + 1), the default radius.

# frame: what the caller calls the data frame; NULL for a source.
design_template <- function(formula, data, bounds = "private", radius = NULL, call = sys.call(-1), frame = "data") {
  check_data(data, "data", call)
  terms <- design_terms(formula, data, call)
  variables <- term_expressions(terms, call)
  response <- attr(terms, "variables")[[2]]
  schema <- row_wise_schema(c(list(response), variables), data, call)
  if (is.call(response)) row_wise_empty(response, schema, call)
  empty <- lapply(variables, row_wise_empty, schema = schema, call = call)
  check_characters(response, empty, schema, frame, call)
  expanded <- expand_terms(terms, variables, design_levels(empty, call), call)
  levels <- expanded$levels
  intercept <- attr(terms, "intercept") == 1L
  columns <- design_columns(names(expanded$predictors), levels, names(variables), intercept)
  if (nrow(columns) + intercept == 0L) abort("argument", "`formula` leaves nothing to fit.", call = call)
  # A column that is only in products may have a declared range, too.
  numeric <- unique(c(columns$name[columns$kind == "numeric"], unlist(lapply(expanded$products, `[[`, "of"))))
  # Numeric columns and factors that have at least one column.
  blocks <- length(unique(columns$variable))
  radius <- if (is.null(radius)) sqrt(blocks + intercept) else check_number(radius, "radius", 0, call = call)
  fill_products(structure(class = "dp_design", list(
    terms = terms, response = deparse1(response), response_expression = response, predictors = expanded$predictors,
    schema = schema, columns = columns, levels = levels, products = expanded$products,
    ranges = check_bounds(bounds, numeric, names(levels), call), radius = radius, intercept = intercept
  )))
}

# All columns of text at once, with the code that declares their levels. It does not parse the data, and stops where it
# is not filled in: levels read from the data would be a release.
check_characters <- function(response, empty, schema, frame, call) {
  text <- vapply(schema, function(column) column$kind == "character", NA)
  response <- if (is.name(response)) as.character(response)
  columns <- intersect(c(response, names(empty)), names(schema)[text])
  if (length(columns) == 0L) return(invisible())
  one <- length(columns) == 1L
  abort("argument", quote_names(columns), if (one) " is a character column" else " are character columns",
        ", whose levels would be read from the data. Levels are public: write down all that there may be, without ",
        "looking at the data",
        if (any(columns == response)) "; of the response too, of two the second is modelled", "\n",
        paste(declare_levels(columns, frame), collapse = "\n"), call = call)
}

declare_levels <- function(columns, frame) {
  names <- vapply(columns, function(name) deparse1(as.name(name), backtick = TRUE), "")
  if (is.null(frame)) {
    return(paste0("  dp_source(..., levels = list(", paste0(names, " = c(...)", collapse = ", "), "))"))
  }
  paste0("  ", frame, "$", names, " <- factor(", frame, "$", names, ", levels = c(...))")
}

# Per predictor: NULL for a numeric one, the declared levels of a factor.
design_levels <- function(empty, call) {
  levels <- lapply(stats::setNames(nm = names(empty)), function(name) {
    kind <- column_kind(empty[[name]])
    if (kind == "character") {
      abort("argument", "`", name, "` in `formula` gives text, whose levels would be read from the data: make it a ",
            "column of the data, a factor with declared levels.", call = call)
    }
    switch(kind, factor = base::levels(empty[[name]]), logical = c("FALSE", "TRUE"), NULL)
  })
  levels[!vapply(levels, is.null, NA)]
}

# One row per column of the matrix, in the order of the formula. variables: what is in it once, whose levels do not say
# of what they are.
design_columns <- function(predictors, levels, variables, intercept) {
  # A factor with one level is constant: it has no column.
  mains <- intersect(names(levels)[lengths(levels) > 1L], variables)
  full <- if (intercept) character() else utils::head(mains, 1L)
  rows <- lapply(predictors, function(variable) {
    if (!variable %in% names(levels)) return(column_rows(variable, variable, "numeric", NA_character_))
    level <- levels[[variable]]
    if (!variable %in% full) level <- level[-1]
    prefix <- if (variable %in% variables) variable else ""
    column_rows(paste0(prefix, level, recycle0 = TRUE), variable, "indicator", level)
  })
  columns <- do.call(rbind, c(list(column_rows(character(), character(), character(), character())), rows))
  # Numeric columns keep the names of their predictors, by which ranges and expressions are found.
  first <- order(columns$kind != "numeric")
  columns$name[first] <- make.unique(columns$name[first])
  columns
}

column_rows <- function(name, variable, kind, level) {
  k <- length(name)
  data.frame(name = name, variable = rep_len(variable, k), kind = rep_len(kind, k), level = level)
}

# ---- private ranges ----

# The numeric columns without a declared range.
design_private_names <- function(design) {
  names <- intersect(rownames(design$ranges)[is.na(design$ranges[, "lower"])], names(design$predictors))
  names[!vapply(names, follows_from, NA, design = design)]
}

# They, evaluated, as doubles.
design_private_columns <- function(design, data, call = sys.call(-1)) {
  lapply(stats::setNames(nm = design_private_names(design)), design_private_column, design = design, data = data,
         call = call)
}

design_private_column <- function(design, name, data, call) {
  as.double(row_wise_evaluate(design$predictors[[name]], data, design$schema, "data", call))
}

# ranges: lower and upper, rows named by the columns that they belong to.
design_fill_ranges <- function(design, ranges) {
  design$ranges[rownames(ranges), ] <- ranges[, c("lower", "upper")]
  fill_products(design)
}

# ---- matrix ----

# n x p without the intercept. A missing or infinite value, and a level that
# was not declared, is NA: such a row is a null record of a fit and has no
# prediction. Filled in place, so that one matrix is all the memory it needs.
design_matrix <- function(design, data, arg = "data", call = sys.call(-1)) {
  check_data(data, arg, call)
  columns <- design$columns
  scale <- design_scale(design)
  # A vector filled by matrix() is shared with nobody: it may be written to.
  x <- matrix(0, nrow(data), nrow(columns), dimnames = list(NULL, columns$name))
  for (variable in unique(columns$variable)) {
    value <- row_wise_evaluate(design$predictors[[variable]], data, design$schema, arg, call)
    codes <- level_codes(value, design$levels[[variable]])
    for (j in which(columns$variable == variable)) {
      if (is.null(codes)) {
        .Call(ffi_design_numeric, x, j, value, design$ranges[variable, ], scale[[j, "centre"]], scale[[j, "half"]])
      } else {
        .Call(ffi_design_indicator, x, j, codes, match(columns$level[j], design$levels[[variable]]))
      }
    }
  }
  x
}

# NULL for a numeric predictor.
level_codes <- function(value, levels) {
  if (is.null(levels)) return(NULL)
  if (is.factor(value)) match(base::levels(value), levels)[as.integer(value)] else as.integer(value) + 1L
}

# Centre and half width of every column: the map is (x - centre) / half.
design_scale <- function(design) {
  columns <- design$columns
  numeric <- columns$kind == "numeric"
  range <- design$ranges[columns$name[numeric], , drop = FALSE]
  scale <- cbind(centre = rep(0, nrow(columns)), half = rep(1, nrow(columns)))
  if (design$intercept) {
    # Halved before the sum: the ends may be near the largest double.
    scale[numeric, "centre"] <- range[, "lower"] / 2 + range[, "upper"] / 2
    scale[numeric, "half"] <- range[, "upper"] / 2 - range[, "lower"] / 2
  } else {
    scale[numeric, "half"] <- pmax(abs(range[, "lower"]), abs(range[, "upper"]))
  }
  scale
}

# ---- coefficients ----

# w solves the problem in (1, mapped columns) / radius; the coefficients give
# the same linear predictor from the columns as they are. A column without
# width was mapped to zero: its coefficient is zero.
design_coef <- function(design, w) {
  scale <- design_scale(design)
  w <- w / design$radius
  slope <- if (design$intercept) w[-1] else w
  slope <- ifelse(scale[, "half"] > 0, slope / scale[, "half"], 0)
  names(slope) <- design$columns$name
  if (!design$intercept) return(slope)
  c("(Intercept)" = w[[1]] - sum(slope * scale[, "centre"]), slope)
}

# The inverse: w from coefficients on the original scale.
design_start <- function(design, coefficients) {
  scale <- design_scale(design)
  slope <- if (design$intercept) coefficients[-1] else coefficients
  w <- slope * scale[, "half"]
  if (design$intercept) w <- c(coefficients[[1]] + sum(slope * scale[, "centre"]), w)
  as.vector(w) * design$radius
}

# ---- response ----

design_response <- function(design, data, arg = "data", call = sys.call(-1)) {
  check_data(data, arg, call)
  row_wise_evaluate(design$response_expression, data, design$schema, arg, call)
}

check_data <- function(data, arg, call) {
  if (!is.data.frame(data)) {
    abort("argument", "`", arg, "` must be a data frame, not ", describe_column(data), ".", call = call)
  }
  repeated <- unique(names(data)[duplicated(names(data))])
  if (length(repeated) > 0L) {
    abort("argument", "`", arg, "` has more than one column named ", quote_all(repeated), ".", call = call)
  }
}
