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
    codings <- Map(function(variable, name, code) new_coding(variable, name, code, interaction, call), variables[names],
                   names, codes)
    out <- if (!all(vapply(codings, is_levels, NA))) {
      add_products(out, term, codings)
    } else if (length(names) == 1L) {
      add_factor(out, names, variables[[names]])
    } else {
      add_pairs(out, variables[names], codings)
    }
  }
  repeated <- anyDuplicated(names(out$predictors))
  if (repeated > 0L) {
    abort("argument", "`formula` has a column and an interaction that are both called `",
          names(out$predictors)[repeated], "`: rename the column.", call = call)
  }
  out
}

# The first main effect that is a factor. A factor with one level is constant and is skipped.
first_factor <- function(terms, variables) {
  factors <- attr(terms, "factors")
  mains <- which(attr(terms, "order") == 1L)
  several <- vapply(variables, function(variable) length(variable$levels) > 1L, NA)
  of_mains <- vapply(mains, function(term) match(which(factors[, term] > 0L), rows_used(factors)), 1L)
  utils::head(names(variables)[of_mains][several[of_mains]], 1L)
}

# The coding of a variable in a term, by levels or by parts. code: 1 for all levels but the first, 2 for all;
# interaction: the name of the interaction, if the term is one.
new_coding <- function(variable, name, code, interaction, call) {
  if (!is.null(variable$parts) && (is.null(variable$levels) || code == 1L)) return(variable)
  levels <- variable$levels
  if (!is.null(interaction) && anyNA(levels)) {
    abort("argument", "`formula` has the interaction `", interaction, "`, and NA is a declared level of `", name,
          "`: give it a name.", call = call)
  }
  kept <- if (code == 1L) levels[-1] else levels
  list(kept = kept, parts = stats::setNames(lapply(kept, function(level) call("==", variable$expression, level)),
                                            paste0(name, kept, recycle0 = TRUE)))
}

is_levels <- function(coding) !is.null(coding$kept)

add_factor <- function(out, name, variable) {
  out$predictors[[name]] <- variable$expression
  out$levels[[name]] <- variable$levels
  out
}

add_pairs <- function(out, variables, codings) {
  pairs <- expand.grid(lapply(codings, function(coding) names(coding$parts)), stringsAsFactors = FALSE)
  labels <- do.call(paste, c(unname(as.list(pairs)), sep = ":"))
  name <- paste(names(variables), collapse = ":")
  kept <- lapply(codings, `[[`, "kept")
  expressions <- lapply(variables, `[[`, "expression")
  out$predictors[[name]] <- as.call(c(quote(crossed), list(labels), unname(rbind(expressions, kept))))
  out$levels[[name]] <- c("", labels)
  out
}

# A term of one variable adds the parts themselves.
add_products <- function(out, term, codings) {
  parts <- lapply(codings, `[[`, "parts")
  of <- unlist(lapply(codings, `[[`, "of"))
  together <- vapply(codings, function(coding) isTRUE(coding$together), NA)
  cells <- expand.grid(lapply(parts, seq_along), KEEP.OUT.ATTRS = FALSE)
  for (i in seq_len(nrow(cells))) {
    cell <- unlist(cells[i, ])
    labels <- mapply(function(part, k) names(part)[k], parts, cell)
    name <- paste(labels, collapse = ":")
    out$predictors[[name]] <- Reduce(function(a, b) call("*", a, b), Map(`[[`, parts, cell))
    if (!identical(unname(of), name)) out$products[[name]] <- unname(of)
    apart <- labels[!together & !vapply(codings, is_levels, NA)]
    if (any(together)) out$blocks[[name]] <- paste(c(term, apart), collapse = " ")
  }
  out
}
