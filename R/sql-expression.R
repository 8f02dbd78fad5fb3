# Translates expressions of a formula into SQL, for push-down (proofs: push-down). This is an allow-list: an expression
# without a rule here is refused.
#
# Nodes are described in R/sql-node.R.

max_depth <- 20 # of nested calls: twice as many layers, or a few more

# schema: of the columns, as in a design. expressions: named by their text. Returns a list of
#   nodes     of the expressions, each held
#   layers    statements for WITH: the first reads the table, the last contains the held nodes and, of persons, `id`
#   widest    the largest number of items of a layer
define_expressions <- function(push, schema, expressions) {
  made <- list2env(list(push = push, schema = schema, items = list(), joins = character(), rules = sql_rules),
                   parent = emptyenv())
  nodes <- lapply(expressions, function(e) {
    if (depth(e) > max_depth) refuse_expression(e, "more than ", max_depth, " calls within each other")
    hold(made, translate(made, e))
  })
  if (!is.null(push$persons)) made$items$id <- list(sql = push$persons$key, refs = NULL, layer = 1)
  layers <- expression_layers(made, c(unlist(lapply(nodes, `[[`, "refs")), if (!is.null(push$persons)) "id"))
  list(nodes = nodes, layers = layers$sql, widest = layers$widest)
}

expression_layers <- function(made, wanted) {
  layer <- vapply(made$items, `[[`, 0, "layer")
  widest <- 0
  sql <- vapply(seq_len(max(layer)), function(k) {
    later <- c(wanted, unlist(lapply(made$items[layer > k], `[[`, "refs")))
    kept <- intersect(names(made$items)[layer < k], later)
    own <- made$items[layer == k]
    items <- c(kept, paste(vapply(own, `[[`, "", "sql"), "AS", names(own)))
    widest <<- max(widest, length(items))
    from <- if (k == 1) paste(c(made$push$from, "AS t", made$joins), collapse = " ") else expression_layer(k - 1)
    paste("SELECT", toString(items), "FROM", from, made$push$dialect$fence)
  }, "")
  names(sql) <- expression_layer(seq_along(sql))
  list(sql = sql, widest = widest)
}

expression_layer <- function(k) paste0("dpsospe", k)

depth <- function(e) if (is.call(e)) 1 + max(0, vapply(as.list(e)[-1], depth, 0)) else 0

# ---- rules ----

# Compares numbers, or positions among levels. R has already refused to order unordered factors.
comparison <- function(operator) {
  function(made, e, x, y) {
    x <- translate(made, x)
    y <- translate(made, y)
    if ("code" %in% c(x$kind, y$kind) || "text" %in% c(x$kind, y$kind)) {
      x <- if (is.null(x$constant)) as_code(made, x, e) else x
      y <- if (is.null(y$constant)) as_code(made, y, e) else y
      pair <- same_levels(x, y, operator, e)
    } else {
      pair <- list(as_number(made, x, e), as_number(made, y, e))
    }
    new_node("truth", sprintf("(%s %s %s)", pair[[1]]$sql, operator, pair[[2]]$sql), pair)
  }
}

# A constant operand becomes its position among the levels of the other operand; zero if it is none of them.
same_levels <- function(x, y, operator, e) {
  place <- function(node, levels) {
    if (is.null(node$constant)) return(node)
    at <- match(as_labels(node$constant), levels, nomatch = 0L)
    if (at == 0L && !operator %in% c("=", "<>")) refuse_expression(e, "the constant is no level")
    new_node("code", sprintf("%d", at))
  }
  if (is.null(x$constant) && is.null(y$constant) && !identical(x$levels, y$levels)) {
    refuse_expression(e, "the factors have other levels")
  }
  list(place(x, y$levels), place(y, x$levels))
}

logical_rule <- function(operator) {
  function(made, e, x, y) {
    x <- truth_of(made, x)
    y <- truth_of(made, y)
    new_node("truth", sprintf("(%s %s %s)", x$sql, operator, y$sql), list(x, y))
  }
}

# A missing value is in no set.
in_set <- function(made, e, x, y) {
  x <- as_proper(made, translate(made, x))
  set <- eval(y, row_wise)
  if (anyNA(set)) refuse_expression(e, "NA in the set")
  if (is.numeric(set) && !all(is.finite(set))) refuse_expression(e, "an infinite number in the set")
  if (x$kind == "number") {
    if (!is.numeric(set)) refuse_expression(e, "numbers are looked for among text")
    items <- made$push$dialect$number(set)
  } else {
    x <- as_code(made, x, e)
    items <- sprintf("%d", stats::na.omit(match(as_labels(set), x$levels)))
  }
  if (length(items) == 0L) return(new_node("truth", "(1 = 0)"))
  new_node("truth", sprintf("COALESCE(%s IN (%s), 1 = 0)", x$sql, toString(items)), list(x))
}

choice <- function(made, e, test, yes, no) {
  test <- hold(made, truth_of(made, test))
  values <- lapply(list(yes, no), function(value) translate(made, value))
  both <- all(vapply(values, `[[`, "", "kind") == "truth")
  if (!both) values <- lapply(values, as_number, made = made, e = e)
  new_node(if (both) "truth" else "number", sprintf("CASE WHEN %1$s THEN %2$s WHEN NOT %1$s THEN %3$s END", test$sql,
                                                    values[[1]]$sql, values[[2]]$sql), c(list(test), values))
}

extreme <- function(operator) {
  function(made, e, ...) {
    nodes <- lapply(list(...), held_number, made = made)
    Reduce(function(x, y) {
      x <- hold(made, x)
      sql <- "CASE WHEN %1$s %3$s %2$s THEN %1$s WHEN NOT %1$s %3$s %2$s THEN %2$s END"
      new_node("number", sprintf(sql, x$sql, y$sql, operator), list(x, y))
    }, nodes)
  }
}

# ---- factors ----

# The value is constant between breaks and at each break, so R computes it for one number of each part.
cut_rule <- function(made, e, ...) {
  given <- match.call(row_wise$cut, e)
  x <- held_number(made, given$x)
  given$x <- quote(x)
  breaks <- sort(unique(as.double(eval(given$breaks, row_wise))))
  breaks <- breaks[is.finite(breaks)]
  if (any(abs(breaks) > 1e150)) refuse_expression(e, "breaks are too large")
  ends <- if (length(breaks) == 0L) 0 else range(breaks) + c(-1, 1) * (1 + abs(range(breaks)))
  inner <- utils::head(breaks, -1) / 2 + breaks[-1] / 2
  codes <- function(at) eval(given, list(x = at), row_wise)
  number <- made$push$dialect$number
  of <- function(at, test) {
    code <- as.integer(codes(at))
    paste("WHEN", x$sql, test, "THEN", ifelse(is.na(code), "NULL", code))
  }
  infinite <- paste("=", paste0(c("-", ""), made$push$dialect$infinite))
  cases <- c(of(c(-Inf, Inf), infinite), if (length(breaks) == 0L) of(0, "IS NOT NULL") else {
    c(rbind(of(c(ends[1], inner), paste("<", number(breaks))), of(breaks, paste("=", number(breaks)))),
      of(ends[2], paste(">", number(max(breaks)))))
  })
  code_node(made, paste("CASE", paste(cases, collapse = " "), "END"), list(x), codes(numeric()))
}

# value: the value in R on zero rows, a factor or integers.
code_node <- function(made, sql, of, value) {
  if (is.factor(value)) return(new_node("code", sql, of, levels(value)))
  new_node("number", sprintf("CAST(%s AS %s)", sql, made$push$dialect$float), of)
}

factor_rule <- function(made, e, ...) {
  given <- match.call(row_wise$factor, e)
  x <- translate(made, given$x)
  given$x <- quote(x)
  codes <- function(at) eval(given, list(x = at), row_wise)
  if (x$kind == "number") {
    values <- eval(given$levels, row_wise)
    if (!is.numeric(values) || !all(values == round(values))) {
      refuse_expression(e, "the levels of a number must be whole numbers")
    }
    from <- made$push$dialect$number(values)
  } else {
    x <- as_code(made, x, e)
    values <- x$levels
    from <- sprintf("%d", seq_along(values))
  }
  to <- as.integer(codes(values))
  there <- !is.na(to)
  if (!any(there)) refuse_expression(e, "no level is one of the column's")
  code_node(made, paste("CASE", x$sql, paste("WHEN", from[there], "THEN", to[there], collapse = " "), "END"), list(x),
            codes(values[0]))
}

# Codes for combinations of kept levels, which are all levels or all but the first.
crossed_rule <- function(made, e, labels, ...) {
  parts <- list(...)
  odd <- seq(1L, length(parts), 2L)
  nodes <- lapply(parts[odd], function(x) hold(made, as_code(made, translate(made, x), x)))
  sizes <- lengths(parts[odd + 1L])
  places <- sprintf("(%s - %d)", vapply(nodes, `[[`, "", "sql"), lengths(lapply(nodes, `[[`, "levels")) - sizes)
  steps <- c(1, cumprod(sizes))[seq_along(sizes)]
  index <- paste(sprintf("(%s - 1) * %.0f", places, steps), collapse = " + ")
  sql <- sprintf("CASE WHEN %s THEN 2 + %s WHEN %s THEN 1 END", paste(places, "> 0", collapse = " AND "), index,
                 paste(places, "IS NOT NULL", collapse = " AND "))
  new_node("code", sql, nodes, c("", labels))
}

contrast_rule <- function(made, e, x, levels, values, size) {
  x <- as_code(made, translate(made, x), e)
  dialect <- made$push$dialect
  new_node("number", dialect$at(sprintf("(%s - 1)", x$sql), dialect$number(values)), list(x))
}

# ---- gaps ----

# Is the value of a column missing, as mark_gaps() (R/design-terms.R) says? x: its name.
gap_rule <- function(made, e, x) {
  known <- made$schema[[as.character(x)]]
  node <- translate(made, x)
  if (known$kind != "factor") return(new_node("truth", sprintf("(%s IS NULL)", node$sql), list(node)))
  push <- made$push
  column <- push_column(push, x)
  type <- push$types[[as.character(x)]]
  if (is_truth(push, type)) return(hold(made, new_node("truth", sprintf("(%s IS NULL)", column))))
  text <- push$dialect$text(column, type)
  words <- gap_texts(known$levels)
  empty <- if (length(words) > 0L) sprintf("WHEN %s IN (%s) THEN 1 = 1", push$dialect$bytes(text), quoted(words))
  hold(made, new_node("truth", sprintf("(CASE WHEN %s IS NULL THEN 1 = 1 %s ELSE 1 = 0 END)", column, empty %||% "")))
}

filled_rule <- function(made, e, x, value) {
  x <- held_number(made, x)
  if (is.na(value)) return(x)
  new_node("number", sprintf("COALESCE(%s, %s)", x$sql, made$push$dialect$number(value)), list(x))
}

# Rules by the name of the function. made: see define_expressions(); e: the call, for errors; then the arguments of the
# call.
sql_rules <- list(
  "(" = identity_rule, I = identity_rule, as.numeric = function(made, e, x) {
    x <- translate(made, x)
    if (x$kind == "code") new_node("number", sprintf("CAST(%s AS %s)", x$sql, made$push$dialect$float), list(x))
    else as_number(made, x, e)
  },
  "+" = plus_minus("+"), "-" = plus_minus("-"), "*" = function(made, e, x, y) arithmetic(made, "*", x, y),
  "/" = divide, "^" = power,
  "==" = comparison("="), "!=" = comparison("<>"), "<" = comparison("<"), ">" = comparison(">"),
  "<=" = comparison("<="), ">=" = comparison(">="),
  "&" = logical_rule("AND"), "|" = logical_rule("OR"), xor = logical_rule("<>"),
  "!" = function(made, e, x) {
    x <- truth_of(made, x)
    new_node("truth", sprintf("(NOT %s)", x$sql), list(x))
  },
  is.na = function(made, e, x) {
    x <- as_proper(made, translate(made, x))
    new_node("truth", sprintf("(%s IS NULL)", x$sql), list(x))
  },
  "%in%" = in_set, ifelse = choice, pmin = extreme("<"), pmax = extreme(">"),
  abs = of_number("ABS(%1$s)"), sign = of_number("CASE WHEN %1$s > 0 THEN 1e0 WHEN %1$s < 0 THEN -1e0 ELSE %1$s END"),
  sqrt = of_number("CASE WHEN %1$s >= 0 THEN SQRT(%1$s) END"),
  exp = of_number(paste("CASE WHEN %1$s < -69e1 THEN 0e0 WHEN %1$s <= 69e1 THEN EXP(%1$s)",
                        "WHEN %1$s > 69e1 THEN {infinite} END")),
  log = logarithm, log2 = function(made, e, x) logarithm(made, e, x, 2),
  log10 = function(made, e, x) logarithm(made, e, x, 10),
  # Division by the rounded difference cancels the rounding error of 1 + x.
  log1p = of_number(paste("CASE WHEN %1$s = {infinite} THEN %1$s WHEN %1$s = -1e0 THEN -{infinite}",
                          "WHEN 1e0 + %1$s = 1e0 THEN %1$s WHEN %1$s > -1e0 THEN {log}(1e0 + %1$s) /",
                          "{log}(2.718281828459045e0) * %1$s / ((1e0 + %1$s) - 1e0) END")),
  gap = gap_rule, gap_column = function(made, e, x) as_number(made, gap_rule(made, e, x), e), filled = filled_rule,
  with_gaps = function(made, e, x, gap) {
    x <- hold(made, as_code(made, translate(made, x), x))
    gap <- hold(made, translate(made, gap))
    levels <- union(x$levels, gap_label)
    new_node("code", sprintf("CASE WHEN %1$s IS NOT NULL THEN %1$s WHEN %2$s THEN %3$d END", x$sql, gap$sql,
                             match(gap_label, levels)), list(x, gap), levels)
  },
  cut = cut_rule, factor = factor_rule, crossed = crossed_rule, contrast_column = contrast_rule,
  spline_column = spline_rule, smooth_column = smooth_rule
)
