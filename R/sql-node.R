# Parts of expressions in SQL (R/sql-expression.R).
#
# An expression is a node:
#   kind      "number", "truth" or "code", the position among `levels`, counted from one; "text" for a constant
#   sql       of the value; NULL where R has NA or NaN
#   refs      names of the held columns in it; layer: the highest of their layers, zero if there are none
#   constant  the value in R, if it has no columns
#   within    is it always a number within the limits of R/sql-arithmetic.R, or infinite?
#   proper    is it never a NaN, which databases have in place of NULL and compare?
#
# hold() makes a node a column of a SELECT, which later ones can use by name. Whatever a rule uses more than once is
# held, so that the length of a statement is proportional to that of the formula. Held columns are in layers, and each
# layer is a SELECT from the one before.
#
# Numbers may be infinite, as in R: comparisons, choices and cut() read them. R/sql-arithmetic.R has the rules of
# computations with numbers, which no value makes fail.

refuse_expression <- function(e, ...) {
  stop(structure(class = c("dpsosp_untranslated", "error", "condition"),
                 list(message = paste0("`", deparse1(e), "`: ", ...), call = NULL)))
}

new_node <- function(kind, sql, of = list(), levels = NULL, constant = NULL, within = !is.null(constant),
                     proper = TRUE) {
  list(kind = kind, sql = sql, refs = unique(unlist(lapply(of, `[[`, "refs"))),
       layer = max(0, vapply(of, `[[`, 0, "layer")), levels = levels, constant = constant, within = within,
       proper = proper)
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
  rule <- if (is.name(e[[1]])) made$rules[[as.character(e[[1]])]]
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
    numeric = new_node("number", dialect$guard(column, proper(dialect, dialect$double(column, type)))),
    logical = new_node("truth", column),
    factor = {
      found <- column_code(made$push, column, type, schema$levels, paste0("codee", match(name, names(made$schema))))
      made$joins <- unique(c(made$joins, found$join))
      new_node("code", found$code, levels = schema$levels)
    },
    refuse_expression(as.name(name), "text needs declared levels, `dp_source(levels = )`")
  ))
}

# ---- what nodes are taken for ----

as_number <- function(made, node, e) {
  if (!is.null(node$constant) && node$kind == "truth") return(constant_node(made, as.double(node$constant)))
  switch(node$kind,
    number = as_proper(made, node),
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

finite <- function(dialect, x) {
  largest <- dialect$number(.Machine$double.xmax)
  sprintf("CASE WHEN %1$s >= -%2$s AND %1$s <= %2$s THEN CAST(%1$s AS %3$s) END", x, largest, dialect$float)
}

proper <- function(dialect, x) {
  sprintf("CASE WHEN %1$s >= -%2$s AND %1$s <= %2$s THEN CAST(%1$s AS %3$s) END", x, dialect$infinite, dialect$float)
}

as_proper <- function(made, node) {
  if (node$proper) return(node)
  node <- hold(made, node)
  new_node("number", proper(made$push$dialect, node$sql), list(node))
}
