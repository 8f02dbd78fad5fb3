# The design: how a data frame becomes the matrix of the problem, and how the solution becomes coefficients.
#
# A template is made from the formula and the public schema of the data only: names, classes and declared factor levels.
# It contains no value of the data, so a fit may keep it, and predict() repeats exactly what the fit did.
#
# With an intercept a numeric column x of range [l, u] is clipped to it and mapped to (x - c) / h in [-1, 1], with
# c = (l + u) / 2 and h = (u - l) / 2. Without an intercept nothing could absorb the shift, so c = 0 and h = max(|l|,
# |u|). A factor becomes indicators of its declared levels but the first (of all of them for the first factor of a
# formula without intercept). So a row with its intercept has norm at most sqrt(#numeric + #factors + 1), the default
# radius.

# frame: the name of the data frame in the caller's code; NULL for a source.
design_template <- function(formula, data, bounds = "private", radius = NULL, call = sys.call(-1), frame = "data",
                            extras = list()) {
  check_data(data, "data", call)
  terms <- design_terms(formula, data, call)
  expressions <- term_expressions(terms, call)
  bases <- Map(function(e, name) if (is.call(e)) declared_basis(e, name, call), expressions, names(expressions))
  # For a basis, its argument is evaluated.
  arguments <- Map(function(e, basis) if (is.null(basis)) e else basis$x, expressions, bases)
  response <- attr(terms, "variables")[[2]]
  offset <- offset_expressions(terms, call)
  given <- Filter(Negate(is.null), extras[c("subset", "weights")])
  given <- Map(function(e, arg) record_expression(e, arg, formula, data, call), given, names(given))
  of_records <- c(given, offset)
  schema <- row_wise_schema(c(list(response), arguments, of_records), data, call)
  tell_labelled(data[names(schema)])
  if (is.call(response)) row_wise_empty(response, schema, call)
  name <- if (is.name(response)) as.character(response) else ""
  if (!is.null(schema[[name]]$time)) refuse_time(data[[name]], name, call)
  empty <- lapply(arguments, row_wise_empty, schema = schema, call = call)
  check_characters(response, empty, schema, frame, call)
  for (name in names(of_records)) {
    check_record_values(row_wise_empty(of_records[[name]], schema, call), name,
                        if (name == "subset") is.logical else is.numeric, call)
  }
  variables <- design_variables(expressions, bases, empty, extras, schema, data, call)
  expanded <- expand_terms(terms, variables, call)
  intercept <- attr(terms, "intercept") == 1L
  columns <- design_columns(names(expanded$predictors), expanded$levels, names(expressions), expanded$full)
  if (nrow(columns) + intercept == 0L) abort("argument", "`formula` leaves nothing to fit.", call = call)
  smooth <- design_smooth(terms, bases, names(expanded$predictors), !is.null(radius), call)
  refuse_repeated(names(expanded$predictors), call)
  design <- structure(class = "dp_design", list(
    terms = terms, response = deparse1(response), response_expression = response, predictors = expanded$predictors,
    term = expanded$term, schema = schema, columns = columns, levels = expanded$levels, products = expanded$products,
    ranges = NULL, radius = NULL, intercept = intercept, subset = given$subset, weights = given$weights,
    offset = offset
  ))
  design$smooth <- smooth
  design <- design_gaps(design, extras$missing)
  # Each numeric column, factor with at least one column, and basis block has norm at most one.
  blocks <- length(unique(design_blocks(design$columns$variable, expanded$blocks)))
  design$longest <- sqrt(blocks + intercept)
  design$radius <- if (is.null(radius)) design$longest else check_number(radius, "radius", 0, call = call)
  design$products <- c(design$products, powers_of(design, expanded$products))
  design <- declare_ranges(design, bounds, names(expressions), names(expanded$blocks), data, call)
  check_gap_values(design, call)
  design
}

design_blocks <- function(variables, blocks) {
  ifelse(variables %in% names(blocks), blocks[variables], variables)
}

# The columns that each variable of the formula becomes. As in glm(), a factor may have contrasts as an attribute.
design_variables <- function(expressions, bases, empty, extras, schema, data, call) {
  declared <- design_levels(empty, call)
  check_contrasts(extras$contrasts, names(declared), call)
  lapply(stats::setNames(nm = names(expressions)), function(name) {
    e <- expressions[[name]]
    if (!is.null(bases[[name]])) return(basis_variable(e, name, bases[[name]], empty[[name]], call))
    levels <- declared[[name]]
    if (is.null(levels)) return(list(expression = e, parts = expressions[name], of = name, together = FALSE))
    contrast <- extras$contrasts[[name]] %||% if (is.name(e)) attr(data[[name]], "contrasts")
    with <- if (fills_gaps(extras$missing)) gaps_as_level(e, name, levels, schema, call)
    factor_variable(with$expression %||% e, name, with$levels %||% levels, levels, is.ordered(empty[[name]]), contrast,
                    call)
  })
}

# A column that occurs in products or expressions only may have a declared range, too. A part of a basis of known size
# may not, as boundary knots take the place of the range of its column. Ranges of columns that the model does not use
# are checked and not kept, so that one list serves several models of the same data.
declare_ranges <- function(design, bounds, variables, known, data, call) {
  predictors <- design$columns$name[design$columns$kind == "numeric"]
  of <- intersect(unlist(design$products), c(predictors, variables))
  used <- intersect(unlist(lapply(design$predictors[predictors], all.vars)), names(design$schema))
  used <- used[vapply(design$schema[used], function(column) column$kind == "numeric", NA)]
  shifting <- intersect(unlist(lapply(design$offset, all.vars)), names(design$schema))
  open <- setdiff(unique(c(predictors, of, used, shifting, names(design$offset))), known)
  ranges <- if (identical(bounds, "private")) no_ranges else {
    numbers <- names(Filter(function(x) identical(column_kind(x), "numeric"), data))
    unused <- setdiff(numbers, c(open, names(design$levels)))
    check_bounds(bounds, c(open, unused, design$response), names(design$levels), call, lapply(data, time_of))
  }
  declared <- intersect(open, rownames(ranges))
  design$exact <- names(Filter(function(range) inherits(range, "AsIs"), if (is.list(bounds)) bounds))
  rows <- unique(c(predictors, of, intersect(declared, used)))
  design$ranges <- matrix(NA_real_, length(rows), 2L, dimnames = list(rows, c("lower", "upper")))
  there <- intersect(declared, rows)
  design$ranges[there, ] <- ranges[there, ]
  design <- declare_smooth_ranges(fill_ranges(design), call)
  for (name in setdiff(declared, c(predictors, of, shifting, names(design$offset)))) {
    check_used(design, name, predictors, call)
  }
  design$shift <- offset_ranges(design$offset, known_ranges(list(ranges = ranges)), call)
  design
}

# Refuses a declared range that determines nothing, as it would be ignored.
check_used <- function(design, name, predictors, call) {
  if (name %in% names(design$gaps$at)) return(invisible()) # it fills gaps
  of_it <- predictors[vapply(design$predictors[predictors], function(e) name %in% all.vars(e), NA)]
  if (length(of_it) > 0L && all(of_it %in% names_with_knots(design))) {
    abort("argument", "`bounds` has a range for `", name, "`, and `knots` in `formula` has another: leave out one.",
          call = call)
  }
  if (!all(is.na(design$ranges[of_it, "lower"]))) return(invisible())
  abort("argument", "`bounds` names `", name, "`, from whose range none follows for ", quote_names(of_it),
        ": declare that one instead, or the ranges of all columns in it.", call = call)
}

# Names all columns of text at once, with code that declares their levels. The code leaves the levels to the user and
# does not parse until they are filled in: levels read from the data would be a release.
check_characters <- function(response, empty, schema, frame, call) {
  text <- vapply(schema, function(column) column$kind == "character", NA)
  response <- if (is.name(response)) as.character(response)
  columns <- intersect(c(response, names(empty)), names(schema)[text])
  if (length(columns) == 0L) return(invisible())
  one <- length(columns) == 1L
  abort("argument", quote_names(columns), if (one) " is a character column" else " are character columns",
        ", whose levels would be read from the data. Levels are public: write down all that there may be, without ",
        "looking at the data",
        if (any(columns == response)) "; also of the response, of whose levels the second is modelled", "\n",
        paste(declare_levels(columns, frame), collapse = "\n"), call = call)
}

declare_levels <- function(columns, frame) {
  names <- vapply(columns, function(name) deparse1(as.name(name), backtick = TRUE), "")
  if (is.null(frame)) {
    return(paste0("  dp_source(..., levels = list(", paste0(names, " = c(...)", collapse = ", "), "))"))
  }
  paste0("  ", frame, "$", names, " <- factor(", frame, "$", names, ", levels = c(...))")
}

# For each predictor: NULL if it is numeric, else the declared levels of the factor.
design_levels <- function(empty, call) {
  levels <- lapply(stats::setNames(nm = names(empty)), function(name) {
    if (is.numeric(empty[[name]])) return(NULL)
    kind <- column_kind(empty[[name]])
    if (kind == "character") {
      abort("argument", "`", name, "` in `formula` gives text, whose levels would be read from the data: make it a ",
            "column of the data, a factor with declared levels.", call = call)
    }
    switch(kind, factor = base::levels(empty[[name]]), logical = c("FALSE", "TRUE"), NULL)
  })
  levels[!vapply(levels, is.null, NA)]
}

# One row per column of the matrix, in the order of the formula. variables: predictors that are variables of the
# formula, whose names precede their levels (levels of interactions name their variables themselves); full: the factor
# that also has an indicator of its first level.
design_columns <- function(predictors, levels, variables, full) {
  kept <- lapply(predictors, function(variable) {
    level <- levels[[variable]]
    # A factor with one level is constant and has no column.
    if (is.null(level)) NA_character_ else if (variable %in% full) level else level[-1]
  })
  level <- as.character(unlist(kept))
  variable <- rep(predictors, lengths(kept))
  numeric <- !variable %in% names(levels)
  name <- ifelse(numeric, variable, paste0(ifelse(variable %in% variables, variable, ""), level, recycle0 = TRUE))
  columns <- column_rows(as.character(name), variable, ifelse(numeric, "numeric", "indicator"), level)
  # Numeric columns keep the names of their predictors, which find ranges and expressions.
  first <- order(columns$kind != "numeric")
  columns$name[first] <- make.unique(columns$name[first])
  columns
}

# ---- terms ----

# Terms become predictors, whose value in a row depends on that row alone, as privacy requires. A variable of several
# columns (R/design-basis.R) contributes each of its columns. An interaction
#
#   a:b, both numeric     is a * b
#   f:a, one a factor     is (f == level) * a for each level of f that is kept
#   f:g, both factors     is one factor, whose levels are the pairs of kept levels, after "none of them"
#
# and likewise for more variables. terms() decides whether all levels are kept or all but the first, so names and
# coefficients are those of glm(). The range of a product follows from the ranges of its columns at no cost.

# variables: a named list, see R/design-basis.R. The value is a list of
#   predictors  expressions
#   levels      of the predictors that are factors
#   full        the factor that has an indicator of its first level, too
#   products    for predictors whose range follows from columns: the names of these columns
#   term        of the formula that each predictor belongs to
#   blocks      predictors with the same block name form a vector of norm at most one in each row
expand_terms <- function(terms, variables, call) {
  factors <- attr(terms, "factors")
  of_variables <- rows_used(factors)
  out <- list(predictors = list(), levels = list(), products = list(), blocks = character(),
              full = if (!attr(terms, "intercept")) first_factor(terms, variables))
  for (term in colnames(factors)) {
    used <- which(factors[, term] > 0L)
    names <- names(variables)[match(used, of_variables)]
    codes <- factors[used, term]
    if (identical(names, out$full)) codes <- 2L
    interaction <- if (length(names) > 1L) term
    codings <- Map(function(variable, name, code) {
      plain <- !is.null(variable$parts) && (is.null(variable$levels) || code == 1L)
      if (plain) variable else level_coding(variable, name, code, interaction, call)
    }, variables[names], names, codes)
    by_parts <- vapply(codings, function(coding) is.null(coding$kept), NA)
    before <- names(out$predictors)
    out <- if (any(by_parts)) {
      add_products(out, term, codings, by_parts)
    } else if (length(names) == 1L) {
      add_factor(out, names, variables[[names]])
    } else {
      add_pairs(out, variables[names], codings)
    }
    out$term[setdiff(names(out$predictors), before)] <- term
  }
  out
}

# After the checks of smooths, whose own message says more of two terms of one column.
refuse_repeated <- function(predictors, call) {
  repeated <- anyDuplicated(predictors)
  if (repeated == 0L) return(invisible())
  abort("argument", "`formula` has a column and an interaction that are both called `", predictors[repeated],
        "`: rename the column.", call = call)
}

# The first main effect that is a factor. A factor with one level is constant and is skipped.
first_factor <- function(terms, variables) {
  factors <- attr(terms, "factors")
  mains <- which(attr(terms, "order") == 1L)
  several <- vapply(variables, function(variable) length(variable$levels) > 1L, NA)
  of_mains <- vapply(mains, function(term) match(which(factors[, term] > 0L), rows_used(factors)), 1L)
  utils::head(names(variables)[of_mains][several[of_mains]], 1L)
}

# The coding by levels of a variable in a term; others are coded by their parts. code: 1 for all levels but the first, 2
# for all; interaction: the name of the interaction, if the term is one.
level_coding <- function(variable, name, code, interaction, call) {
  levels <- variable$levels
  if (!is.null(interaction) && anyNA(levels)) {
    abort("argument", "`formula` has the interaction `", interaction, "`, and NA is a declared level of `", name,
          "`: give it a name.", call = call)
  }
  kept <- if (code == 1L) levels[-1] else levels
  list(kept = kept, parts = stats::setNames(lapply(kept, function(level) call("==", variable$expression, level)),
                                            paste0(name, kept, recycle0 = TRUE)))
}

# The same name twice is refused in the end.
add_predictor <- function(out, name, expression) {
  out$predictors <- c(out$predictors, stats::setNames(list(expression), name))
  out
}

add_factor <- function(out, name, variable) {
  out <- add_predictor(out, name, variable$expression)
  out$levels[[name]] <- variable$levels
  out
}

add_pairs <- function(out, variables, codings) {
  pairs <- expand.grid(lapply(codings, function(coding) names(coding$parts)), stringsAsFactors = FALSE)
  labels <- do.call(paste, c(unname(as.list(pairs)), sep = ":"))
  name <- paste(names(variables), collapse = ":")
  kept <- lapply(codings, `[[`, "kept")
  expressions <- lapply(variables, `[[`, "expression")
  out <- add_predictor(out, name, as.call(c(quote(crossed), list(labels), unname(rbind(expressions, kept)))))
  out$levels[[name]] <- c("", labels)
  out
}

# A term of one variable adds the parts themselves. by_parts: which codings are not by levels?
add_products <- function(out, term, codings, by_parts) {
  parts <- lapply(codings, `[[`, "parts")
  of <- unlist(lapply(codings, `[[`, "of"))
  together <- vapply(codings, function(coding) isTRUE(coding$together), NA)
  cells <- expand.grid(lapply(parts, seq_along), KEEP.OUT.ATTRS = FALSE)
  for (i in seq_len(nrow(cells))) {
    cell <- unlist(cells[i, ])
    labels <- mapply(function(part, k) names(part)[k], parts, cell)
    name <- paste(labels, collapse = ":")
    out <- add_predictor(out, name, Reduce(function(a, b) call("*", a, b), Map(`[[`, parts, cell)))
    if (!identical(unname(of), name)) out$products[[name]] <- unname(of)
    apart <- labels[!together & by_parts]
    if (any(together)) out$blocks[[name]] <- paste(c(term, apart), collapse = " ")
  }
  out
}

# ---- private ranges ----

# The columns whose values are counted: numeric ones without a declared range, and those of smooths, for their knots.
design_counted_names <- function(design) {
  open <- intersect(rownames(design$ranges)[is.na(design$ranges[, "lower"])], names(design$predictors))
  union(open[!follow_from(design, open)], counted_smooths(design))
}

# The values of these columns as doubles.
design_private_columns <- function(design, data, call = sys.call(-1), names = design_counted_names(design)) {
  left_out <- if (!is.null(design$subset)) !design_kept(design, data, "data", call)
  lapply(stats::setNames(nm = names), function(name) {
    column <- as.double(row_wise_evaluate(design$predictors[[name]], data, design$schema, "data", call))
    column[left_out] <- NA
    column
  })
}

# The columns of the data that the expressions use, and those that decide which records are used and how.
columns_used <- function(design, expressions) {
  of_records <- c(design$subset, design$weights, design$offset)
  intersect(unlist(lapply(c(expressions, of_records), all.vars)), names(design$schema))
}

# ranges: lower and upper, with rows named by column.
design_fill_ranges <- function(design, ranges) {
  design$ranges[rownames(ranges), ] <- ranges[, c("lower", "upper")]
  fill_ranges(design)
}

# ---- matrix ----

# An n x p matrix without the intercept. A value that is missing or infinite, or a level that was not declared, is NA:
# such a row is a null record of a fit and has no prediction. The matrix is filled in place to save memory.
design_matrix <- function(design, data, arg = "data", call = sys.call(-1)) {
  check_data(data, arg, call)
  columns <- design$columns
  scale <- design_scale(design)
  # No other variable shares a vector that matrix() has filled, so it may be modified in place.
  x <- matrix(0, nrow(data), nrow(columns), dimnames = list(NULL, columns$name))
  for (variable in unique(columns$variable)) {
    value <- row_wise_evaluate(design$predictors[[variable]], data, design$schema, arg, call)
    levels <- design$levels[[variable]]
    codes <- if (!is.null(levels)) level_codes(value, levels)
    for (j in which(columns$variable == variable)) {
      if (is.null(codes)) {
        .Call(ffi_design_numeric, x, j, value, design$ranges[variable, ], scale[[j, "centre"]], scale[[j, "half"]])
      } else {
        .Call(ffi_design_indicator, x, j, codes, match(columns$level[j], levels))
      }
    }
  }
  x
}

# Centre and half width of each column: it is mapped to (x - centre) / half.
design_scale <- function(design) {
  columns <- design$columns
  numeric <- columns$kind == "numeric"
  range <- design$ranges[columns$name[numeric], , drop = FALSE]
  scale <- cbind(centre = rep(0, nrow(columns)), half = rep(1, nrow(columns)))
  if (design$intercept) {
    # The ends are halved before they are added, as they may be near the largest double.
    scale[numeric, "centre"] <- range[, "lower"] / 2 + range[, "upper"] / 2
    scale[numeric, "half"] <- range[, "upper"] / 2 - range[, "lower"] / 2
  } else {
    scale[numeric, "half"] <- pmax(abs(range[, "lower"]), abs(range[, "upper"]))
  }
  scale
}

# ---- coefficients ----

# w solves the problem in the rows (1, mapped columns) / radius; the coefficients give the same linear predictor from
# the columns in their own units. A column of width zero was mapped to zero, so its coefficient is zero.
design_coef <- function(design, w) {
  scale <- design_scale(design)
  w <- w / design$radius
  slope <- if (design$intercept) w[-1] else w
  slope <- ifelse(scale[, "half"] > 0, slope / scale[, "half"], 0)
  names(slope) <- design$columns$name
  if (design$intercept) slope <- c("(Intercept)" = w[[1]] - sum(slope * scale[, "centre"]), slope)
  written_coef(design, slope)
}

# The inverse of design_coef().
design_start <- function(design, coefficients) {
  scale <- design_scale(design)
  coefficients <- centred_coef(design, coefficients)
  slope <- if (design$intercept) coefficients[-1] else coefficients
  w <- slope * scale[, "half"]
  if (design$intercept) w <- c(coefficients[[1]] + sum(slope * scale[, "centre"]), w)
  as.vector(w) * design$radius
}

# ---- response ----

# The response is missing where the record is not used.
design_response <- function(design, data, arg = "data", call = sys.call(-1)) {
  y <- design_answers(design, data, arg, call)
  if (!is.null(design$subset) || has_weighing(design)) y[!design_kept(design, data, arg, call)] <- NA
  y
}

# The code of the response under a template; y: the response, missing where the record is not used.
coded_response <- function(design, response, data, call, y = design_response(design, data, call = call)) {
  response_code(response, y, if (uses_offset(response)) design_offset(design, data, "data", call))
}

# The response of all records.
design_answers <- function(design, data, arg = "data", call = sys.call(-1)) {
  check_data(data, arg, call)
  row_wise_evaluate(design$response_expression, data, design$schema, arg, call)
}

is_matrix_design <- function(design) inherits(design, "dp_matrix_design")

# Can the radius clip rows whose numbers lie in their ranges?
may_clip <- function(design) {
  if (is_matrix_design(design)) {
    return(sum(apply(design$box^2, 1L, max), design$intercept / design$radius^2) > 1 + 1e-12)
  }
  design$radius < sqrt(design$longest^2 + sum(design$smooth$square))
}
