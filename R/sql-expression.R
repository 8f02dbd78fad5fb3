# Translates expressions of a formula into SQL, for push-down (proofs: push-down). This is an allow-list: an expression
# without a rule here is refused.
#
# An expression is a node:
#   kind      "number", "truth" or "code", the position among `levels`, counted from one; "text" for a constant
#   sql       of the value; NULL where R has NA or a number that is not finite
#   refs      names of the held columns in it; layer: the highest of their layers, zero if there are none
#   constant  the value in R, if it has no columns
#   within    is it always a number within the limits below?
#
# hold() makes a node a column of a SELECT, which later ones can use by name. Whatever a rule uses more than once is
# held, so that the length of a statement is proportional to that of the formula. Held columns are in layers, and each
# layer is a SELECT from the one before.
#
# No value makes a statement fail. Each rule guards its function by a CASE, as databases only guarantee the order of
# evaluation of CASE. Constants are computed in R, as a database might compute them before the CASE. Numbers in
# computations have an absolute value between 1e-150 and 1e150, or they are zero or missing. So a sum, product or
# quotient of two of them does not overflow, and is not zero unless a factor is zero: both are errors in PostgreSQL.

max_depth <- 20 # of nested calls: twice as many layers, or a few more

# schema: of the columns, as in a design. expressions: named by their text. Returns a list of
#   nodes     of the expressions, each held
#   layers    statements for WITH: the first reads the table, the last contains the held nodes and, of persons, `id`
#   widest    the largest number of items of a layer
define_expressions <- function(push, schema, expressions) {
  made <- list2env(list(push = push, schema = schema, items = list(), joins = character()), parent = emptyenv())
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

refuse_expression <- function(e, ...) {
  stop(structure(class = c("dpsosp_untranslated", "error", "condition"),
                 list(message = paste0("`", deparse1(e), "`: ", ...), call = NULL)))
}

# ---- nodes ----

new_node <- function(kind, sql, of = list(), levels = NULL, constant = NULL, within = !is.null(constant)) {
  list(kind = kind, sql = sql, refs = unique(unlist(lapply(of, `[[`, "refs"))),
       layer = max(0, vapply(of, `[[`, 0, "layer")), levels = levels, constant = constant, within = within)
}

# Nodes with the same text share a column.
hold <- function(made, node) {
  if (identical(node$refs, node$sql)) return(node)
  known <- vapply(made$items, `[[`, "", "sql") == node$sql
  if (!any(known)) {
    name <- paste0("e", length(made$items) + 1L)
    made$items[[name]] <- list(sql = node$sql, refs = node$refs, layer = node$layer + 1)
  } else {
    name <- names(made$items)[known][1]
  }
  node[c("sql", "refs", "layer")] <- list(name, name, made$items[[name]]$layer)
  node
}

translate <- function(made, e) {
  if (all(all.vars(e) == "pi") && !"pi" %in% names(made$schema)) return(constant_node(made, e))
  if (is.name(e)) return(column_node(made, as.character(e)))
  rule <- if (is.name(e[[1]])) sql_rules[[as.character(e[[1]])]]
  if (is.null(rule)) refuse_expression(e, deparse1(e[[1]]), "() is not computed in a database")
  do.call(rule, c(list(made, e), as.list(e)[-1]), quote = TRUE)
}

constant_node <- function(made, e) {
  value <- suppressWarnings(eval(e, row_wise))
  if (length(value) != 1L || is.na(value)) refuse_expression(e, "a missing or longer constant")
  if (is.character(value)) return(new_node("text", NA_character_, constant = value))
  if (is.logical(value)) return(new_node("truth", if (value) "(1 = 1)" else "(1 = 0)", constant = value))
  if (value != 0 && (abs(value) > 1e150 || abs(value) < 1e-150)) refuse_expression(e, "too large or too near zero")
  new_node("number", made$push$dialect$number(value), constant = as.double(value))
}

column_node <- function(made, name) {
  dialect <- made$push$dialect
  schema <- made$schema[[name]]
  column <- push_column(made$push, as.name(name))
  type <- made$push$types[[name]]
  hold(made, switch(schema$kind,
    numeric = new_node("number", dialect$guard(column, finite(dialect, dialect$double(column, type)))),
    logical = new_node("truth", column),
    factor = {
      found <- column_code(made$push, column, type, schema$levels, paste0("codee", match(name, names(made$schema))))
      made$joins <- unique(c(made$joins, found$join))
      new_node("code", found$code, levels = schema$levels)
    },
    refuse_expression(as.name(name), "text needs declared levels, `dp_source(levels = )`")
  ))
}

finite <- function(dialect, x) {
  largest <- dialect$number(.Machine$double.xmax)
  sprintf("CASE WHEN %1$s >= -%2$s AND %1$s <= %2$s THEN CAST(%1$s AS %3$s) END", x, largest, dialect$float)
}

# ---- what nodes are taken for ----

as_number <- function(made, node, e) {
  if (!is.null(node$constant) && node$kind == "truth") return(constant_node(made, as.double(node$constant)))
  switch(node$kind,
    number = node,
    truth = {
      node <- hold(made, node)
      number <- made$push$dialect$number
      sql <- "CASE WHEN %1$s THEN %2$s WHEN NOT %1$s THEN %3$s END"
      new_node("number", sprintf(sql, node$sql, number(1), number(0)), list(node), within = TRUE)
    },
    refuse_expression(e, "a factor or text is no number")
  )
}

as_truth <- function(made, node, e) {
  if (node$kind == "truth") return(node)
  node <- as_number(made, node, e)
  new_node("truth", sprintf("(%s <> %s)", node$sql, made$push$dialect$number(0)), list(node))
}

as_code <- function(made, node, e) {
  if (node$kind == "code") return(node)
  if (node$kind != "truth") refuse_expression(e, "it is compared with text, and has no levels")
  node <- hold(made, node)
  new_node("code", truth_code(node$sql), list(node), c("FALSE", "TRUE"))
}

number_of <- function(made, e) as_number(made, translate(made, e), e)
truth_of <- function(made, e) as_truth(made, translate(made, e), e)
held_number <- function(made, e) hold(made, number_of(made, e))

# An operand of a computation: a number within the limits.
operand <- function(made, e, most = 1e150) {
  node <- number_of(made, e)
  if (node$within) return(node)
  node <- hold(made, node)
  number <- made$push$dialect$number
  guarded <- sprintf("CASE WHEN ABS(%1$s) <= %2$s THEN CASE WHEN ABS(%1$s) >= %3$s THEN %1$s ELSE %4$s END END",
                     node$sql, number(most), number(1 / most), number(0))
  new_node("number", guarded, list(node), within = TRUE)
}

# ---- rules ----

# A function of a number within the limits, guarded by its own rule. In sql, %1$s is this number.
of_number <- function(sql) {
  function(made, e, x) {
    x <- hold(made, operand(made, x))
    new_node("number", sprintf(fill_functions(sql, made$push$dialect), x$sql), list(x))
  }
}

fill_functions <- function(sql, dialect) gsub("{log}", dialect$log, sql, fixed = TRUE)

identity_rule <- function(made, e, x) translate(made, x)

plus_minus <- function(operator) {
  function(made, e, x, y) {
    if (missing(y)) {
      x <- number_of(made, x)
      return(new_node("number", sprintf("(%s%s)", operator, x$sql), list(x)))
    }
    arithmetic(made, operator, x, y)
  }
}

arithmetic <- function(made, operator, x, y) {
  x <- operand(made, x)
  y <- operand(made, y)
  new_node("number", sprintf("(%s %s %s)", x$sql, operator, y$sql), list(x, y))
}

divide <- function(made, e, x, y) {
  x <- operand(made, x)
  y <- hold(made, operand(made, y))
  new_node("number", sprintf("CASE WHEN %2$s <> %3$s THEN %1$s / %2$s END", x$sql, y$sql, made$push$dialect$number(0)),
           list(x, y))
}

# Whole exponents use products, and one half the square root, as power functions differ between databases.
power <- function(made, e, x, y) {
  k <- translate(made, y)$constant
  if (!is.numeric(k) || !k %in% c(0.5, setdiff(-20:20, 0))) {
    refuse_expression(e, "powers in a database are constants, 0.5 or whole numbers from -20 to 20 but zero")
  }
  if (k == 0.5) return(sql_rules$sqrt(made, e, x))
  x <- hold(made, operand(made, x, 10^(300 / max(abs(k), 2))))
  product <- sprintf("(%s)", paste(rep(x$sql, abs(k)), collapse = " * "))
  number <- made$push$dialect$number
  if (k < 0) product <- sprintf("CASE WHEN %s <> %s THEN %s / %s END", x$sql, number(0), number(1), product)
  new_node("number", product, list(x))
}

logarithm <- function(made, e, x, base) {
  x <- hold(made, operand(made, x))
  base <- if (missing(base)) exp(1) else translate(made, base)$constant
  if (!is.numeric(base) || base <= 0 || base == 1) refuse_expression(e, "the base must be a positive constant but one")
  new_node("number", sprintf(fill_functions("CASE WHEN %1$s > 0 THEN {log}(%1$s) / {log}(%2$s) END", made$push$dialect),
                             x$sql, made$push$dialect$number(base)), list(x))
}

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
  x <- translate(made, x)
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
  cases <- if (length(breaks) == 0L) of(0, "IS NOT NULL") else {
    c(rbind(of(c(ends[1], inner), paste("<", number(breaks))), of(breaks, paste("=", number(breaks)))),
      of(ends[2], paste(">", number(max(breaks)))))
  }
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

# ---- splines ----

spline_rule <- function(made, e, x, j, kind, knots, boundary, degree, intercept) {
  at <- on_lattice(c(boundary[1], knots, boundary[2]))
  if (max(abs(at)) > 1e100 || anyDuplicated(at) > 0L || min(diff(at)) < 1e-100 || degree > 5) {
    refuse_expression(x, "such splines (equal or far knots, a degree above five) are not computed in a database")
  }
  u <- (seq_len(degree + 1L) - 0.5) / (degree + 1)
  piecewise(made, x, at, lapply(seq_len(length(at) - 1L), function(i) {
    y <- spline_column(at[i] + u * (at[i + 1L] - at[i]), j, kind, knots, boundary, degree, intercept)
    solve(outer(u, 0:degree, `^`), y)
  }))
}

smooth_rule <- function(made, e, x, knots, values, degree) {
  piecewise(made, x, on_lattice(knots), Map(c, values[-length(values)], diff(values)))
}

# Multiples of the spacing of numbers that are larger than all of these.
on_lattice <- function(at) (at + 3 * max(abs(at))) - 3 * max(abs(at))

# polynomials: coefficients for each part between two knots, of the relative position in it, which is a multiple of
# 2^-32. x is on the knots' lattice, so that no difference, product or power underflows.
piecewise <- function(made, x, at, polynomials) {
  number <- made$push$dialect$number
  within <- held_number(made, x) # only compared where it is beyond the knots
  sql <- "CASE WHEN %1$s < %2$s THEN %2$s WHEN %1$s > %3$s THEN %3$s WHEN %1$s >= %2$s THEN (%1$s + %4$s) - %4$s END"
  within <- hold(made, new_node("number", sprintf(sql, within$sql, number(at[1]), number(at[length(at)]),
                                                  number(3 * max(abs(at)))), list(within)))
  pieces <- function(sql) {
    paste("CASE", paste("WHEN", within$sql, "<=", number(at[-1]), "THEN", sql, collapse = " "), "END")
  }
  places <- sprintf("((%1$s - %2$s) * %3$s + %4$s) - %4$s", within$sql, number(at[-length(at)]), number(1 / diff(at)),
                    number(2^20))
  place <- hold(made, new_node("number", pieces(places), list(within)))
  parts <- vapply(polynomials, horner, "", u = place$sql, number = number)
  new_node("number", pieces(parts), list(within, place))
}

horner <- function(a, u, number) {
  a[abs(a) < 1e-13] <- 0
  Reduce(function(sum, next_a) sprintf("(%s * %s + %s)", sum, u, number(next_a)), rev(a)[-1], number(a[length(a)]))
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
    x <- translate(made, x)
    new_node("truth", sprintf("(%s IS NULL)", x$sql), list(x))
  },
  "%in%" = in_set, ifelse = choice, pmin = extreme("<"), pmax = extreme(">"),
  abs = of_number("ABS(%1$s)"), sign = of_number("CASE WHEN %1$s <> 0 THEN %1$s / ABS(%1$s) ELSE %1$s END"),
  sqrt = of_number("CASE WHEN %1$s >= 0 THEN SQRT(%1$s) END"),
  exp = of_number("CASE WHEN %1$s < -69e1 THEN 0e0 WHEN %1$s <= 69e1 THEN EXP(%1$s) END"),
  log = logarithm, log2 = function(made, e, x) logarithm(made, e, x, 2),
  log10 = function(made, e, x) logarithm(made, e, x, 10),
  # Division by the rounded difference cancels the rounding error of 1 + x.
  log1p = of_number(paste("CASE WHEN 1e0 + %1$s = 1e0 THEN %1$s WHEN %1$s > -1e0 THEN {log}(1e0 + %1$s) /",
                          "{log}(2.718281828459045e0) * %1$s / ((1e0 + %1$s) - 1e0) END")),
  cut = cut_rule, factor = factor_rule, crossed = crossed_rule, contrast_column = contrast_rule,
  spline_column = spline_rule, smooth_column = smooth_rule
)
