# The argument missing: records with gaps, missing values of predictors, can be used. A gap is filled by public and
# released numbers alone, so that a row stays a function of its own record (proofs: own-row, filled-rows). The response,
# weights, offsets and the id are never filled.
#
# Expressions of predictors are rewritten, and with them all that reads records: fits, predictions, chunks, databases,
# workers. In an expression of numbers each numeric column x becomes filled(x, value), which has value in place of a
# gap, before anything is computed from it. In is.na() it stays as it is. An expression that gives a factor, or truth
# values, is computed from the columns as they are and becomes with_gaps(expression, gap): where it is missing because a
# column is, it has the level "(missing)". With "indicate" there is a column gap_column(x), one for a gap and zero for
# others, for each numeric column that is filled. The functions are in R/design-row-wise.R.
#
# The values come with the ranges (settle_gaps()): until then they are NA, so values are counted without those that are
# filled in. design$gaps has the values by column; NULL: records with gaps are not used.

#' Missing values
#'
#' What becomes of records with gaps, missing values of their predictors, in fits of [dp_sosp()] and in all that reads
#' records by a fit: [predict()][predict.dp_sosp], [dp_evaluate()], [dp_tune()], [dp_inference()], [dp_certify()],
#' sources, databases and shards.
#'
#' @section Filled records:
#' With `missing = "drop"` only complete records are used, as by [glm()]. With few gaps in each of many columns they are
#' few: of records with a gap in a tenth of the values of each of ten columns 35 percent are complete. `"fill"` uses
#' records with gaps in their predictors, and needs no more of the budget. A row stays a function of its own record,
#' public and released numbers:
#' * A number that is missing (`NA` or `NaN`) becomes the same one in all records: the median of the noisy counts that
#'   found the range of the column, or the middle of a declared range. Of a column that the formula has in an expression
#'   alone, such as `log(x)`, it is the number at which the expression has its median or middle. `summary()` shows these
#'   numbers. Gaps are filled in columns, before anything is computed: `log(x)`, `x:z`, `I(x^2)` and `s(x)` are those of
#'   the filled x. But `is.na(x)` is as in the data.
#' * Factors, and logical columns, get the level `(missing)`, which is public and costs next to nothing where it is
#'   empty. So do expressions that give a factor or truth values, such as `cut(x, breaks)` and `x > 3`, which are
#'   computed from the columns as they are. It has an indicator beside other contrasts. An empty text is missing where
#'   it is no declared level. A factor in an expression of numbers, such as `as.numeric(f)`, is not filled.
#' * `"indicate"` also adds a column `x(missing)`, 1 for a gap and 0 otherwise, for each column of numbers that is
#'   filled. This is better where it matters that a value is missing, and costs the noise of more coefficients.
#'
#' New records are filled in the same way. The response, weights, offsets, `subset` and `id` are never filled. Infinite
#' numbers, and levels that are not declared, make null records as before.
#'
#' @section What coefficients are about:
#' Coefficients and intervals are those of the records as they are filled, as of [lm()] or [glm()] for the same filled
#' columns. They are those without gaps (nearly, for losses other than squared error) only where gaps come at random,
#' the column is not correlated with others, and `"indicate"` has its indicator. Otherwise other columns take over a
#' part of its effect: where coefficients matter more than predictions, and gaps do not depend on the response, `"drop"`
#' is right.
#'
#' @section Matrices and networks:
#' For a matrix a gap (`NaN` or `NA`, also one that a sparse matrix stores) becomes the middle of the column's range in
#' `bounds`, or without a finite one the number in it that is next to zero. Indicators count in the norm that `radius`
#' bounds. Networks ([networks]) take `missing` with a formula.
#' @seealso [dp_sosp()].
#' @examples
#' d <- covertype[1:3000, c("cover", "elevation", "slope", "wilderness")]
#' set.seed(1)
#' d$slope[runif(3000) < 0.2] <- NA
#' d$wilderness[runif(3000) < 0.2] <- NA
#' ranges <- list(elevation = c(1850, 3900), slope = c(0, 66))
#' fit <- dp_sosp(cover ~ ., d, eps = 1, delta = 1e-6, bounds = ranges, missing = "indicate")
#' summary(fit)
#' anyNA(predict(fit, d))
#' @name missing-values
NULL

missing_known <- c("drop", "fill", "indicate")

check_missing <- function(missing, call) check_choice(missing, missing_known, "missing", call)

fills_gaps <- function(missing) !is.null(missing) && missing != "drop"

indicator_name <- function(column) paste0(column, gap_label, recycle0 = TRUE)

# ---- designs ----

# For a variable that gives a factor: the expression with the level of gaps, and all levels; NULL where NA is a level,
# and where a missing value gives a level that is declared, as in is.na().
gaps_as_level <- function(e, name, levels, schema, call) {
  if (length(levels) == 0L) {
    abort("argument", "`", name, "` has no declared level, so that all of its values are missing: declare its levels, ",
          "or leave it out.", call = call)
  }
  columns <- intersect(all.vars(e), names(schema))
  of_missing <- row_wise_evaluate(e, list2DF(lapply(schema[columns], function(column) NA), 1L), schema, "data", call)
  if (anyNA(levels) || (length(columns) == 1L && !is.na(of_missing))) return(NULL)
  gaps <- lapply(columns, function(column) call("gap", as.name(column)))
  list(expression = call("with_gaps", e, Reduce(function(a, b) call("|", a, b), gaps)),
       levels = union(levels, gap_label))
}

# Rewrites the expressions of numbers, and adds the indicators.
design_gaps <- function(design, missing) {
  if (!fills_gaps(missing)) return(design)
  numeric <- names(Filter(function(column) column$kind == "numeric", design$schema))
  text <- names(Filter(function(column) column$kind %in% c("factor", "character"), design$schema))
  design$schema[text] <- lapply(design$schema[text], c, list(gaps = TRUE))
  design <- map_expressions(design, fill_columns, numeric)
  columns <- intersect(numeric, unlist(lapply(design$predictors, filled_columns)))
  design$gaps <- list(missing = missing, at = stats::setNames(rep(NA_real_, length(columns)), columns))
  if (missing == "fill" || length(columns) == 0L) return(design)
  names <- indicator_name(columns)
  design$predictors[names] <- lapply(columns, function(name) call("gap_column", as.name(name)))
  design$columns <- rbind(design$columns, column_rows(names, names, "numeric", NA_character_))
  design$term[names] <- names
  design
}

# All expressions of predictors, also those of the columns that smooths will get.
map_expressions <- function(design, map, ...) {
  design$predictors <- lapply(design$predictors, map, ...)
  for (label in names(design$smooth$terms)) {
    design$smooth$terms[[label]]$x <- map(design$smooth$terms[[label]]$x, ...)
  }
  design
}

fill_columns <- function(e, numeric) {
  if (is.name(e) && as.character(e) %in% numeric) return(call("filled", e, NA_real_))
  if (!is.call(e) || function_name(e) %in% c("with_gaps", "is.na")) return(e)
  e[-1] <- lapply(as.list(e)[-1], fill_columns, numeric)
  e
}

filled_columns <- function(e) {
  if (is_filled(e)) return(as.character(e[[2]]))
  if (is.call(e)) unlist(lapply(as.list(e)[-1], filled_columns))
}

# The expression as the formula has it.
without_gaps <- function(e) {
  if (is_filled(e) || is_with_gaps(e)) return(e[[2]])
  if (is.call(e)) e[-1] <- lapply(as.list(e)[-1], without_gaps)
  e
}

put_value <- function(e, at) {
  if (is_filled(e)) return(call("filled", e[[2]], at[[as.character(e[[2]])]]))
  if (is.call(e)) e[-1] <- lapply(as.list(e)[-1], put_value, at)
  e
}

# ---- the values ----

# Once all ranges are known. medians: of what was counted, by predictor; the middle of a range takes the place of one
# that was not.
settle_gaps <- function(design, medians = NULL) {
  if (length(design$gaps$at) == 0L) return(design)
  known <- known_ranges(design)
  typical <- function(name) {
    found <- medians[name]
    if (!is.null(found) && !is.na(found)) found[[1]] else middle(design$ranges[name, ])
  }
  for (column in names(design$gaps$at)) {
    from <- value_from(design, column)
    design$gaps$at[[column]] <- switch(from$kind,
      predictor = typical(from$name), range = middle(known[[column]]), knots = middle(from$range),
      expression = solve_for(without_gaps(design$predictors[[from$name]]), column, typical(from$name))
    )
  }
  map_expressions(design, put_value, design$gaps$at)
}

middle <- function(range) range[[1]] / 2 + range[[2]] / 2

# What tells the value of a column: a predictor that is the column itself, or an expression of it alone, its declared
# range, or the knots of a spline of it; NULL for none. Public facts decide.
value_from <- function(design, column) {
  predictors <- lapply(design$predictors[setdiff(names(design$predictors), design$smooth$added)], without_gaps)
  numeric <- names(predictors) %in% rownames(design$ranges)
  itself <- names(predictors)[numeric & vapply(predictors, identical, NA, as.name(column))]
  if (length(itself) > 0L) return(list(kind = "predictor", name = itself[1]))
  of_it <- vapply(predictors, function(e) identical(all.vars(e), column), NA)
  is_of <- function(name) vapply(predictors, function(e) function_name(e) == name, NA)
  alone <- names(predictors)[numeric & of_it & !is_of("gap_column") & !is_of("spline_column")]
  if (length(alone) > 0L) return(list(kind = "expression", name = alone[1]))
  if (column %in% rownames(design$ranges) && !anyNA(design$ranges[column, ])) return(list(kind = "range"))
  spline <- which(of_it & is_of("spline_column"))
  if (length(spline) > 0L) list(kind = "knots", range = predictors[[spline[1]]][[6]])
}

# Before anything is charged.
check_gap_values <- function(design, call) {
  columns <- names(design$gaps$at)
  open <- columns[vapply(columns, function(column) is.null(value_from(design, column)), NA)]
  if (length(open) == 0L) return(invisible())
  abort("argument", "`missing`: nothing tells a number for the gaps of ", quote_names(open), ", which the formula ",
        "uses together with other columns only. Declare what is known:\n  bounds = list(",
        paste0(vapply(open, backquote, ""), " = c( , )", collapse = ", "), ")", call = call)
}

# A number at which a function of one column has about this value: post-processing. e: the function, as an expression.
# Where it has the value at several numbers a positive one near zero is taken, where at none the number that comes
# nearest.
solve_for <- function(e, column, value) {
  f <- function(x) suppressWarnings(as.double(eval(e, stats::setNames(list(x), column), row_wise))) - value
  size <- 2^seq(-64, 64, 0.25)
  sides <- list(c(0, size), rev(-c(0, size)))
  for (x in sides) {
    y <- f(x)
    at <- which(y[-1] * y[-length(y)] <= 0)
    if (length(at) > 0L) return(bisected(f, x[at[1] + 0:1]))
  }
  x <- unlist(sides)
  x[which.min(ifelse(is.finite(f(x)), abs(f(x)), Inf))]
}

bisected <- function(f, ends) {
  sign <- sign(f(ends[2]))
  for (i in 1:60) {
    middle <- mean(ends)
    if (sign(f(middle)) == sign) ends[2] <- middle else ends[1] <- middle
  }
  signif(ends[2], 6)
}

# ---- matrices ----

# A list of missing, at (the value of each column: the middle of its declared range, or the number within it that is
# next to zero) and names, of all columns with the indicators; NULL if gaps are not filled. box: of the declared ranges.
matrix_gaps <- function(missing, labels, box) {
  if (!fills_gaps(missing)) return(NULL)
  middle <- box[, 1] / 2 + box[, 2] / 2
  list(missing = missing, at = ifelse(is.finite(middle), middle, pmin(pmax(0, box[, 1]), box[, 2])),
       names = c(labels, if (missing == "indicate") indicator_name(labels)))
}

# Ranges of all columns.
with_indicators <- function(box, gaps) {
  indicators <- length(gaps$names) - length(gaps$at)
  rbind(box, cbind(rep(0, indicators), rep(1, indicators)))
}

# x: numbers or a dgCMatrix, of which the entries that are stored may be missing.
fill_matrix <- function(x, gaps) {
  if (is.null(gaps)) return(x)
  fill <- if (inherits(x, "dgCMatrix")) fill_sparse else fill_dense
  fill(x, gaps, length(gaps$names) > length(gaps$at))
}

fill_dense <- function(x, gaps, indicate) {
  gap <- is.na(x)
  x[gap] <- gaps$at[col(x)[gap]]
  if (indicate) x <- cbind(x, gap)
  colnames(x) <- gaps$names
  x
}

fill_sparse <- function(x, gaps, indicate) {
  column <- rep(seq_along(gaps$at), diff(attr(x, "p")))
  gap <- is.na(attr(x, "x"))
  attr(x, "x")[gap] <- gaps$at[column[gap]]
  size <- c(attr(x, "Dim")[1], length(gaps$names))
  attr(x, "Dimnames") <- list(NULL, gaps$names)
  if (!indicate) return(x)
  attr(x, "p") <- c(attr(x, "p"), length(column) + cumsum(tabulate(column[gap], length(gaps$at))))
  attr(x, "i") <- c(attr(x, "i"), attr(x, "i")[gap])
  attr(x, "x") <- c(attr(x, "x"), rep(1, sum(gap)))
  attr(x, "Dim") <- size
  x
}
