# Interactions. Each becomes predictors whose value in a row depends on that row alone, as a fit needs it:
#
#   a:b, both numeric     a * b
#   f:a, one a factor     (f == level) * a for each level of f that is kept
#   f:g, both factors     one factor, whose levels are the pairs of kept levels, after "none of them"
#
# and likewise for more of them. Which levels are kept, all or all but the first, is what terms() says; so names and
# coefficients are those of glm(). A product has the range of products of its columns' ranges, which costs nothing.

# variables: expressions by name; levels: of those that are factors. Value: expressions of predictors; the levels of
# those that are factors; products: of which numeric columns a predictor is the product, and whether it is zero in some
# rows.
expand_terms <- function(terms, variables, levels, call) {
  factors <- attr(terms, "factors")
  of_variables <- rows_used(factors)
  out <- list(predictors = list(), levels = list(), products = list())
  for (term in colnames(factors)) {
    used <- which(factors[, term] > 0L)
    names <- names(variables)[match(used, of_variables)]
    if (length(names) == 1L) {
      out$predictors[names] <- variables[names]
      out$levels[[names]] <- levels[[names]] # NULL adds none
    } else {
      kept <- Map(function(name, code) kept_levels(name, levels[[name]], code, term, call), names, factors[used, term])
      out <- add_interaction(out, variables[names], kept)
    }
  }
  repeated <- anyDuplicated(names(out$predictors))
  if (repeated > 0L) {
    abort("argument", "`formula` has a column and an interaction that are both called `",
          names(out$predictors)[repeated], "`: rename the column.", call = call)
  }
  out
}

# code: 1 for all levels but the first, 2 for all. NULL for a numeric column.
kept_levels <- function(name, levels, code, term, call) {
  if (anyNA(levels)) {
    abort("argument", "`formula` has the interaction `", term, "`, and NA is a declared level of `", name,
          "`: give it a name.", call = call)
  }
  if (code == 1L) levels[-1] else levels
}

add_interaction <- function(out, variables, kept) {
  factor <- !vapply(kept, is.null, NA)
  pairs <- expand.grid(kept[factor], KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
  name_of <- function(pair) {
    paste0(names(variables), ifelse(factor, unlist(pair)[names(variables)], ""), collapse = ":")
  }
  if (all(factor)) {
    labels <- vapply(seq_len(nrow(pairs)), function(i) name_of(pairs[i, , drop = FALSE]), "")
    name <- paste(names(variables), collapse = ":")
    out$predictors[[name]] <- as.call(c(quote(crossed), list(labels), unname(rbind(variables, kept))))
    out$levels[[name]] <- c("", labels)
    return(out)
  }
  for (i in seq_len(max(nrow(pairs), !any(factor)))) {
    is_level <- Map(function(f, level) call("==", f, level), variables[factor], pairs[i, ])
    name <- name_of(pairs[i, , drop = FALSE])
    out$predictors[[name]] <- Reduce(function(a, b) call("*", a, b), c(is_level, variables[!factor]))
    out$products[[name]] <- list(of = names(variables)[!factor], zero = any(factor))
  }
  out
}

# ---- ranges of products ----

# Products of columns whose ranges are declared, or found for predictors of their own, need none.
follows_from <- function(design, name) {
  of <- design$products[[name]]$of
  !is.null(of) && all(of %in% names(design$predictors) | !is.na(design$ranges[of, "lower"]))
}

fill_products <- function(design) {
  for (name in names(design$products)) {
    if (!is.na(design$ranges[name, "lower"])) next
    product <- design$products[[name]]
    design$ranges[name, ] <- product_range(design$ranges[product$of, , drop = FALSE], product$zero)
  }
  design
}

# NA where one of them is.
product_range <- function(ranges, zero) {
  range <- c(1, 1)
  for (i in seq_len(nrow(ranges))) range <- range(outer(range, ranges[i, ]))
  range <- pmin(pmax(range, -.Machine$double.xmax), .Machine$double.xmax)
  if (zero && !anyNA(range)) range(0, range) else range
}
