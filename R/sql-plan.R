# What a statement needs to know of a design: expressions for the columns, the response and the record's weight.

push_plan <- function(push, design, response, n, loss, intercept, radius) {
  push <- with_expressions(push, design)
  columns <- design$columns
  scale <- design_scale(design)
  numeric <- which(columns$kind == "numeric")
  factors <- unique(columns$variable[columns$kind == "indicator"])
  v <- vapply(numeric, function(j) {
    variable <- columns$variable[j]
    map_number(push, design$predictors[[variable]], design$ranges[variable, ], scale[[j, "centre"]], scale[[j, "half"]])
  }, "")
  indicators <- vapply(factors, function(variable) sum(columns$variable == variable), 0L)
  k <- lapply(seq_along(factors), function(i) {
    levels <- design$levels[[factors[i]]]
    map_codes(push, design$predictors[[factors[i]]], levels, length(levels) - indicators[[i]], paste0("code", i))
  })
  y <- map_response(push, design, response)
  joins <- unlist(lapply(c(k, list(y)), `[[`, "join"))
  list(id = new.env(), dialect = push$dialect, before = push$before,
       from = paste(c(push$from, "AS t", joins), collapse = " "), v = v, k = vapply(k, `[[`, "", "code"),
       indicators = unname(indicators), unit = unit, first = if (intercept) 1 else numeric(),
       ones = own_ones(unname(indicators)), y = of_subset(push, design, y$code),
       weight = map_weight(push, design$weights), offset = map_offset(push, design, response_unit(response)),
       shift = max_offset(design$shift) / response_unit(response), n = n, persons = push$persons, loss = loss,
       intercept = intercept, radius = radius)
}

# The expressions of predictors, response and records, named by their text.
pushed_expressions <- function(design) {
  e <- c(design$predictors[unique(design$columns$variable)], design$response_expression, design$subset, design$weights,
         design$offset)
  e <- stats::setNames(e, vapply(e, expression_text, ""))
  e[!duplicated(names(e))]
}

# Columns are read through their forms. If there are expressions that are not columns, everything needed from the table
# is computed first. before: layers;
# from: the last of them; defined: the nodes of the expressions.
with_expressions <- function(push, design) {
  e <- pushed_expressions(design)
  push$from <- formed_table(push, c(unlist(lapply(e, all.vars)), push$persons$id))
  if (all(vapply(e, is.name, NA))) return(push)
  made <- define_expressions(push, design$schema, e)
  push[c("defined", "before", "widest")] <- made[c("nodes", "layers", "widest")]
  push$from <- names(made$layers)[length(made$layers)]
  if (!is.null(push$persons)) push$persons$key <- "t.id"
  push
}

# A column of the table, or a computed expression, as a number: the column and its value.
push_number <- function(push, e) {
  node <- push$defined[[expression_text(e)]]
  if (!is.null(node)) return(list(column = paste0("t.", node$sql), x = paste0("t.", node$sql)))
  column <- push_column(push, e)
  list(column = column, x = push$dialect$double(column, push$types[[as.character(e)]]))
}

# The response, missing if the record is not in the subset.
of_subset <- function(push, design, y) {
  if (is.null(design$subset)) return(y)
  kept <- push$defined[[expression_text(design$subset)]]$sql %||% push_column(push, design$subset)
  sprintf("CASE WHEN %s THEN %s END", kept, y)
}

# (x clipped to the range - centre) / half; 0 if half = 0.
map_number <- function(push, e, range, centre, half) {
  factor <- if (half > 0) 1 / half else 0
  clip_number(push, e, range, centre, factor, pmin(pmax((range - centre) * factor, -1), 1))
}

# (x clipped to the range - centre) * factor, with the given values at the ends; NULL if x is missing or not finite. A
# value outside the range is only compared, never computed with. First a number is added that rounds x to a lattice: the
# difference is then zero or not tiny. So products do not underflow, which would be an error caused by a record.
clip_number <- function(push, e, range, centre, factor, ends) {
  number <- push$dialect$number
  value <- push_number(push, e)
  far <- 3 * max(abs(range), 1e-100)
  largest <- number(.Machine$double.xmax)
  push$dialect$guard(value$column, sprintf(
    paste("CASE WHEN %1$s > %3$s THEN CASE WHEN %1$s <= %8$s THEN %5$s END",
          "WHEN %1$s < %2$s THEN CASE WHEN %1$s >= -%8$s THEN %4$s END ELSE ((%1$s + %6$s) - %7$s) * %9$s END"),
    value$x, number(range[1]), number(range[2]), number(ends[1]), number(ends[2]), number(far), number(far + centre),
    largest, number(factor)
  ))
}

# The weight in (0, 1], as a multiple of 2^-52; missing if the record is not used. NULL without weights.
map_weight <- function(push, e) {
  if (is.null(e)) return(NULL)
  value <- push_number(push, e)
  push$dialect$guard(value$column, sprintf("CASE WHEN %1$s > 0 AND %1$s <= 1 THEN (%1$s + %2$s) - %2$s END", value$x,
                                           push$dialect$number(1)))
}

# The sum of the offsets, each clipped to its range; unit: see weighing_of(). NULL without offsets.
map_offset <- function(push, design, unit) {
  terms <- vapply(names(design$offset), function(name) {
    range <- design$shift[name, ]
    clip_number(push, design$offset[[name]], range, 0, 1 / unit, range / unit)
  }, "")
  if (length(terms) > 0L) add_up(terms)
}

# The position among the levels minus `less`, the number of levels before the first indicator; missing for other values.
# as: the alias of a table that may have to be joined.
map_codes <- function(push, e, levels, less, as) {
  node <- push$defined[[expression_text(e)]]
  found <- if (is.null(node)) {
    column_code(push, push_column(push, e), push$types[[as.character(e)]], levels, as)
  } else {
    list(code = if (node$kind == "truth") truth_code(paste0("t.", node$sql)) else paste0("t.", node$sql))
  }
  found$code <- sprintf("%s - %d", found$code, less)
  found
}

map_response <- function(push, design, response) {
  e <- design$response_expression
  number <- push$dialect$number
  if (uses_offset(response)) return(list(code = map_with_offset(push, design, response)))
  if (is_numeric_response(response)) {
    return(list(code = map_number(push, e, response$bounds, response$centre, response$half)))
  }
  if (response$kind == "classes") {
    found <- map_codes(push, e, response$labels, 0L, "codey")
    found$code <- sprintf("%s * (%s)", number(1), found$code)
    return(found)
  }
  if (response$kind != "numeric") {
    found <- map_codes(push, e, as.character(response$labels), 1L, "codey")
    found$code <- sprintf("2 * (%s) - %s", found$code, number(1))
    return(found)
  }
  value <- push_number(push, e)
  sided <- sprintf("CASE WHEN %1$s = 1 THEN %2$s WHEN %1$s = 0 OR %1$s = -1 THEN %3$s END", value$x, number(1),
                   number(-1))
  list(code = push$dialect$guard(value$column, sided))
}

# As exposure_code() and bounded_code() of R/loss-response.R: of e to the offset, or of a response less its offset.
map_with_offset <- function(push, design, response) {
  offset <- map_offset(push, design, 1)
  if (is.null(response$exposure)) return(coded_number(push, design, response, sprintf("- (%s)", offset)))
  number <- push$dialect$number
  below <- sprintf("((%s) - %s)", offset, number(response$exposure))
  e <- sprintf("CASE WHEN %1$s < -3e2 THEN 0e0 WHEN %1$s > 0e0 THEN 1e0 WHEN %1$s <= 0e0 THEN EXP(%1$s) END", below)
  sprintf("CASE WHEN (%s) IS NOT NULL THEN %s * (%s) - %s END", plain_number(push, design$response_expression),
          number(2), e, number(1))
}

# less: a term to be added. The code is not clipped to [-1, 1].
coded_number <- function(push, design, response, less = "") {
  number <- push$dialect$number
  bounds <- response$bounds
  e <- design$response_expression
  value <- if (all(is.finite(bounds))) clip_number(push, e, bounds, 0, 1, bounds) else plain_number(push, e)
  sprintf("((%s) %s - %s) * %s", value, less, number(response$centre), number(1 / response$half))
}

# The number itself; NULL if it is missing or not finite.
plain_number <- function(push, e) {
  value <- push_number(push, e)
  push$dialect$guard(value$column, finite(push$dialect, value$x))
}
