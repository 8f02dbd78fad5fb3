# A sum over the rows of a table as one SELECT (proofs: push-down).
#
# The statement is a WITH of layers, dpsosp1, dpsosp2, ..., each a SELECT from the one before. The dialect's fence keeps
# the database from merging layers, which would compute values again for each sum that uses them. (Nested SELECTs would
# be too deep for SQLite.) As each column of a layer costs time, values that are used once are not columns.
# The first layers are those of R/sql-rows.R, or a temporary table has what they give. They end in a row as integers z,
# u, where u is NULL if the record is null, in its codes k, its response y, its weight p and its offset o. Then come
#   t         the predictors, t0 as a multiple of 2^-53; NULL for a null record
#   steps     of the loss; w, the factor of the record's row, in units of its bound
#   g         w rounded to an integer within its bound
# The terms of sums are products of the integers g, z and u; SUM ignores NULL. Rows are grouped by the codes of factors,
# so that sums over indicators follow from the sums of cells.
#
# A plan contains everything but the query: dialect, before (layers that compute expressions, or NULL:
# R/sql-expression.R), from (the table or the last of these layers, as t, and joined tables), v, k, y (expressions),
# weight and offset (expressions, or NULL), shift (the bound of the offsets), indicators (number for each k), intercept,
# radius, loss, n; persons (R/sql-persons.R) or NULL; unit, the scale of the rows' integers; first and ones, the numbers
# by which u is multiplied for the intercept and for each factor's indicators (a row for each code from zero on), and,
# of moved rows, geometry; table: the temporary table, if it has the rows. id differs between plans.

# what: list(word, curvature, at, along, steps, clip, most, cap, within) of r_remote.c. Returns the statement and
# read(), which computes the number of records and the sum from the rows of its result.
sql_sum <- function(plan, what) {
  if (length(what$at) == 0L) what$at <- numeric(side_of(plan) * outputs_of(plan))
  weights <- sql_weights(plan, what)
  list(sql = sum_text(plan, what, weights), read = function(rows) read_sum(plan, what, weights, as.matrix(rows)))
}

sum_text <- function(plan, what, weights) {
  codes <- paste0("k", seq_along(plan$k), recycle0 = TRUE)
  number <- if (is.null(plan$persons)) "COUNT(*)" else "COUNT(CASE WHEN mark = 1 THEN 1 END)" # of no rows zero
  items <- c(codes, sprintf("CAST(%s AS %s)", number, plan$dialect$float),
             vapply(summed_terms(plan, what, weights), plan$dialect$total, ""))
  layers <- named_layers(plan, sum_layers(plan, what, weights, if (is.null(plan$table)) row_layers(plan)))
  paste0(with_layers(layers), " SELECT ", toString(sprintf("%s AS r%d", items, seq_along(items))), " FROM ",
         names(layers)[length(layers)], if (length(codes) > 0L) " GROUP BY ", toString(codes))
}

# Coefficients of one output.
side_of <- function(plan) plan$intercept + length(plan$v) + sum(plan$indicators)

# Products of integers, of at most 61 bits.
summed_terms <- function(plan, what, weights) {
  base <- sql_base(plan)
  g <- if (is.null(weights$joint) || !is.null(plan$persons)) weights$names else paste(weights$names, "* sound")
  switch(weights$form, each = g, squares = "g * q", vector = paste("g *", base),
         vectors = as.vector(outer(base, g, function(base, g) paste(g, "*", base))),
         moments = c(paste("g *", base), clipped_squares(what$most)), response = c("g", "g * v", "g * v * v"),
         matrix = paste("g", "*", pairs(base)$left, "*", pairs(base)$right))
}

named_layers <- function(plan, layers) {
  names(layers) <- layer_name(seq_along(layers))
  c(if (is.null(plan$table)) plan$before, layers)
}

with_layers <- function(layers) paste0("WITH ", toString(sprintf("%s AS (%s)", names(layers), layers)))

# The squares of the columns that have a bound (proofs: sensitivity-moments), as integers.
clipped_squares <- function(most) {
  has <- which(most > 0)
  sprintf("g * (CASE WHEN ABS(z%1$d) > %2$.0f THEN %3$.0f WHEN ABS(z%1$d) <= %2$.0f THEN z%1$d * z%1$d END)", has,
          floor(most[has] * unit), floor(most[has] * unit)^2)
}

# ---- layers ----

# rows: the layers that end in the rows, or NULL if a table has them.
sum_layers <- function(plan, what, weights, rows) {
  names <- row_names(plan)
  record <- c(setdiff(names$record, "o"), intersect(names$length, weights$lengths))
  layers <- layer(plan, rows, c(names$z, "u", names$k, names$person, record, predictors(plan, what, weights, names)))
  summed <- c(if (!weights$form %in% c("each", "squares", "response")) c(names$z, "u"), names$k,
              if (needs_square(weights)) "q", names$person)
  layers <- weight_layers(plan, layers, what, weights, summed, record)
  response <- if (weights$form == "response") "v"
  integers <- plan$dialect$int(c(bounded(plan, weights), if (!is.null(response)) clipped_response(plan)))
  layers <- layer(plan, layers, c(summed, named(integers, c(weights$names, response))))
  if (!is.null(weights$joint)) {
    layers <- layer(plan, layers, c(summed, weights$names, sprintf("CASE WHEN %s THEN 1 END AS sound", weights$joint)))
  }
  if (is.null(plan$persons)) layers else layer(plan, layers, c(summed, response, shared(plan, weights)))
}

shared <- function(plan, weights) {
  whole <- paste0(weights$names, if (!is.null(weights$joint)) " * sound", " * share")
  named(if (weights$exact) whole else sprintf("(%s) %s %.0f", whole, plan$dialect$quotient, max_records), weights$names)
}

# The factor within its bounds, which a NULL is not.
bounded <- function(plan, weights) {
  w <- sub("g", "w", weights$names)
  between <- function(low, high) {
    sprintf("CASE WHEN %1$s > %2$s THEN %2$s WHEN %1$s < %3$s THEN %3$s WHEN %1$s >= %3$s THEN %1$s END", w,
            plan$dialect$number(high), plan$dialect$number(low))
  }
  if (is.null(weights$classes)) return(between(weights$low, weights$high))
  sprintf("CASE WHEN y > 0 THEN (%s) WHEN y < 0 THEN (%s) END", between(-weights$classes[1], 0),
          between(0, weights$classes[2]))
}

# t0, of several classes t0_1, ...; the direction's predictor a or a_1, ..., if there is one; for a trace the squares q.
predictors <- function(plan, what, weights, names) {
  outputs <- if (isTRUE(weights$plain)) 0L else outputs_of(plan)
  if (outputs == 0L) return(named(sprintf("CASE WHEN u IS NOT NULL THEN %s END", plan$dialect$number(0)), "t0"))
  of <- function(w, k) {
    at <- predictor(plan, w[(k - 1L) * side_of(plan) + seq_len(side_of(plan))], names)
    if (is_weighted(plan)) paste("l *", at) else at
  }
  tilted <- has_tilt(plan) && !isTRUE(weights$untilted)
  tilt <- if (tilted) plan$dialect$number(log1p(plan$geometry$tilt) - log1p(-plan$geometry$tilt))
  k <- seq_len(outputs)
  t0 <- vapply(k, function(k) {
    at <- add_up(c(of(what$at, k), tilt, if (!is.null(plan$offset)) "o"))
    sprintf("CASE WHEN u IS NOT NULL THEN (%1$s + %2$s) - %2$s END", at, plan$dialect$number(1))
  }, "")
  a <- if (has_direction(what)) vapply(k, of, "", w = what$along)
  q <- if (needs_square(weights)) squared_integers(plan, names)
  c(named(t0, of_outputs("t0", outputs)), named(a, of_outputs("a", outputs)), named(q, "q"))
}

needs_square <- function(weights) weights$form == "squares" || isTRUE(weights$square)

of_outputs <- function(name, outputs) if (outputs == 1L) name else paste0(name, "_", seq_len(outputs))

has_direction <- function(what) {
  what$word %in% c("decreases", "improvement") || (what$word == "recalibration" && length(what$along) > 0L)
}

# Coefficients in the order of the core: the intercept, the columns and the indicators of each factor.
predictor <- function(plan, w, names) {
  number <- plan$dialect$number
  w <- w / plan$unit
  w[abs(w) < 1e-150] <- 0
  if (all(w == 0)) return(number(0))
  first <- w[seq_len(plan$intercept)]
  w <- w[plan$intercept + seq_len(length(w) - plan$intercept)]
  of_ones <- of_indicators(plan, w)
  tame <- function(x) ifelse(abs(x) < 1e-150, 0, x)
  ones <- of_codes(plan, names, function(values, indicators) tame(drop(values %*% of_ones[indicators])))
  add_up(c(paste("u *", number(tame(first * plan$first)), recycle0 = TRUE),
           paste(names$z, "*", number(w[seq_along(plan$v)]), recycle0 = TRUE), paste("u *", ones, recycle0 = TRUE)))
}

# For a search the predictors t1, ...; then the steps of the loss for each; then w, the weights in units.
weight_layers <- function(plan, layers, what, weights, kept, record) {
  loss <- sql_losses[[plan$loss$name]]
  steps <- if (what$word == "improvement") 1 else what$steps[what$word == "decreases" & seq_along(what$steps) > 0L]
  steps[steps < 1e-100] <- 0
  at <- 0:length(steps)
  carried <- c(kept, record, if (what$word == "recalibration" && has_direction(what)) "a")
  known <- "t0"
  if (!isTRUE(weights$plain)) {
    layers <- step_layers(plan, layers, steps, carried)
    if (has_outputs(plan)) known <- "m0"
    layers <- if (has_outputs(plan)) class_layers(plan, layers, weights, at, carried)
              else predictor_layers(plan, layers, loss, weights, at, carried)
  }
  f <- weights$f
  if (!is.null(weights$steps)) {
    each <- vapply(at, function(i) fill_in(weights$steps, loss, plan, i), "")
    layers <- layer(plan, layers, c(carried, named(each, paste0("f", at))))
    known <- "f0"
  } else if (!isTRUE(weights$plain)) {
    f <- fill_in(f, loss, plan, 0)
  }
  # A weight that does not depend on the predictor must still be missing where the predictor is.
  there <- sprintf("CASE WHEN %s IS NOT NULL THEN (%s)%s * %s END", known, f,
                   strrep(" * p", length(prior_weight(plan)) * weights$prior), plan$dialect$number(weights$scale))
  with_y <- !is.null(weights$classes) || weights$form == "response"
  layer(plan, layers, c(kept, if (with_y) "y", named(there, sub("g", "w", weights$names))))
}

step_layers <- function(plan, layers, steps, carried) {
  if (length(steps) == 0L) return(layers)
  have <- function(i) of_outputs(paste0("t", i), outputs_of(plan))
  a <- of_outputs("a", outputs_of(plan))
  moved <- unlist(lapply(seq_along(steps), function(i) {
    named(paste(have(0), "+", plan$dialect$number(steps[i]), "*", a), have(i))
  }))
  layer(plan, layers, c(carried, have(0), moved))
}

# The steps of a loss of one predictor, and the residual.
predictor_layers <- function(plan, layers, loss, weights, at, carried) {
  own <- is_weighted(plan) && !is_damped(plan) && !isTRUE(weights$untilted)
  all <- if (own) loss$own_steps %||% loss$steps else loss$steps
  columns <- unlist(lapply(names(all), function(step) {
    named(vapply(at, function(i) fill_in(all[[step]], loss, plan, i), ""), paste0(step, at))
  }))
  layers <- layer(plan, layers, c(carried, paste0("t", at), columns))
  if (!weights$residual) return(layers)
  layers <- layer(plan, layers, c(carried, "t0", paste0(names(all), 0, recycle0 = TRUE),
                                  named(fill_in(residual_of(loss), loss, plan, 0), "r")))
  layer(plan, layers, c(carried, "t0", paste0(names(all), 0, recycle0 = TRUE), "r",
                        paste(weights$size %||% "ABS(r)", "AS h")))
}

# Of damped rows it is the slope, on the lattice of the predictors.
residual_of <- function(loss) loss$residual %||% sprintf("((%s) + 1e0) - 1e0", loss$slope)

# Of several classes: m, the largest predictor; d, the sum of the exponentials of all less m; and v, the one of the
# record's class, or q1, ..., the slopes, and r, the square of their norm.
class_layers <- function(plan, layers, weights, at, carried) {
  k <- seq_len(outputs_of(plan))
  of <- function(i) of_outputs(paste0("t", i), length(k))
  largest <- vapply(at, function(i) sprintf("%s(%s)", plan$dialect$greatest, toString(of(i))), "")
  layers <- layer(plan, layers, c(carried, unlist(lapply(at, of)), named(largest, paste0("m", at))))
  powers <- function(i) vapply(of(i), function(t) exponent(sprintf("(m%d - %s)", i, t)), "")
  if (!isTRUE(weights$slopes)) {
    d <- vapply(at, function(i) add_up(powers(i)), "")
    v <- vapply(at, function(i) paste("CASE", paste("WHEN y =", k, "THEN", of(i), collapse = " "), "END"), "")
    return(layer(plan, layers, c(carried, paste0("m", at), named(d, paste0("d", at)), named(v, paste0("v", at)))))
  }
  e <- paste0("e", k)
  layers <- layer(plan, layers, c(carried, "m0", named(powers(0), e)))
  layers <- layer(plan, layers, c(carried, "m0", e, named(add_up(e), "d0")))
  slopes <- sprintf("%s / d0 - CASE WHEN y = %2$d THEN 1e0 WHEN y <> %2$d THEN 0e0 END", e, k)
  q <- paste0("q", k)
  layers <- layer(plan, layers, c(carried, "m0", named(slopes, q)))
  layer(plan, layers, c(carried, "m0", q, named(add_up(paste(q, "*", q)), "r")))
}

fill_in <- function(e, loss, plan, i) {
  numbers <- if (!is.null(loss$parameters)) loss$parameters(plan$loss$parameter)
  for (name in rev(names(loss$short))) e <- gsub(sprintf("{%s}", name), loss$short[[name]], e, fixed = TRUE)
  e <- gsub("{log}", plan$dialect$log, e, fixed = TRUE)
  for (name in names(numbers)) e <- gsub(sprintf("{%s}", name), plan$dialect$number(numbers[[name]]), e, fixed = TRUE)
  for (name in c("t", names(loss$own_steps %||% loss$steps), loss$columns)) {
    e <- gsub(sprintf("{%s}", name), paste0(name, i), e, fixed = TRUE)
  }
  e
}

# ---- from cells to sums ----

# The factors of the weights: u first, if there are ones.
sql_base <- function(plan) {
  c(if (plan$intercept || length(plan$k) > 0L) "u", paste0("z", seq_along(plan$v), recycle0 = TRUE))
}

pairs <- function(base) {
  at <- which(upper.tri(diag(length(base)), diag = TRUE), arr.ind = TRUE)
  list(left = base[at[, 1]], right = base[at[, 2]], at = at)
}

# rows: one per cell, with codes, number of records and sums, in any order. Returns the number of all records, or of
# persons, and the sum.
read_sum <- function(plan, what, weights, rows) {
  rows <- unname(rows)
  storage.mode(rows) <- "double"
  factors <- seq_along(plan$k)
  rows <- rows[do.call(order, c(lapply(factors, function(i) rows[, i]), list(seq_len(nrow(rows))))), , drop = FALSE]
  sums <- rows[, -seq_len(length(factors) + 1L), drop = FALSE]
  sums[is.na(sums)] <- 0 # for cells with null records only
  ones <- cell_ones(plan, rows[, factors, drop = FALSE])
  total <- switch(weights$form,
    each = weights$constant + colSums(sums) * weights$worth,
    squares = sum(sums) * weights$worth / plan$unit^2,
    vector = sum_vector(plan, sums, ones) * weights$worth / plan$unit,
    vectors = sum_vectors(plan, sums, ones) * rep(weights$worth, each = side_of(plan)) / plan$unit,
    response = colSums(sums) * weights$worth / c(1, unit, 2 * unit^2),
    moments = sum_moments(plan, sums, ones, what$most) * weights$worth / plan$unit,
    matrix = sum_matrix(plan, sums, ones) * weights$worth / plan$unit^2
  )
  c(known_persons(plan$persons, sum(rows[, length(factors) + 1L])), total)
}

# Is this the number of persons with records? Others have none, and n counts them.
known_persons <- function(persons, marks) {
  if (is.null(persons)) marks
  else if (marks > persons$n) -1
  else persons$n
}

# For each cell the numbers of the intercept and of the indicators, which follow from its codes; zeros where a code is
# missing, as the cell has null records only.
cell_ones <- function(plan, codes) {
  indicators <- lapply(seq_along(plan$k), function(i) plan$ones[[i]][codes[, i] + 1, , drop = FALSE])
  first <- matrix(rep(plan$first, each = nrow(codes)), nrow(codes), plan$intercept)
  ones <- do.call(cbind, c(list(first), indicators))
  ones[is.na(ones)] <- 0
  ones
}

# The order of the core: intercept, columns, indicators.
core_order <- function(plan) {
  ones <- plan$intercept + sum(plan$indicators)
  columns <- ones + seq_along(plan$v)
  c(seq_len(plan$intercept), columns, plan$intercept + seq_len(sum(plan$indicators)))
}

sum_vector <- function(plan, sums, ones) {
  of_ones <- if (ncol(ones) > 0L) crossprod(ones, sums[, 1])
  c(of_ones, colSums(sums[, setdiff(seq_len(ncol(sums)), if (ncol(ones) > 0L) 1L), drop = FALSE]))[core_order(plan)]
}

# One output after the other.
sum_vectors <- function(plan, sums, ones) {
  width <- length(sql_base(plan))
  as.vector(vapply(seq_len(outputs_of(plan)), function(k) {
    sum_vector(plan, sums[, (k - 1L) * width + seq_len(width), drop = FALSE], ones)
  }, numeric(side_of(plan))))
}

# Means of columns and indicators, in the order of the core; their clipped squares over twice the bound; the intercept.
sum_moments <- function(plan, sums, ones, most) {
  base <- seq_along(sql_base(plan))
  means <- sum_vector(plan, sums[, base, drop = FALSE], ones)
  squares <- numeric(length(most))
  has <- which(most > 0)
  squares[has] <- colSums(sums[, -base, drop = FALSE]) / (2 * most[has]) / plan$unit
  first <- seq_len(plan$intercept)
  c(if (plan$intercept) means[-1] else means, squares, means[first])
}

sum_matrix <- function(plan, sums, ones) {
  base <- sql_base(plan)
  at <- pairs(base)$at
  total <- matrix(0, ncol(ones) + length(plan$v), ncol(ones) + length(plan$v))
  for (i in seq_len(nrow(sums))) {
    square <- matrix(0, length(base), length(base))
    square[at] <- sums[i, ]
    square[at[, 2:1, drop = FALSE]] <- sums[i, ]
    spread <- spread_ones(ones[i, ], length(plan$v))
    total <- total + spread %*% square %*% t(spread)
  }
  total[core_order(plan), core_order(plan)]
}

# The matrix that maps (u, columns) to the ones of a cell and the columns.
spread_ones <- function(ones, columns) {
  if (length(ones) == 0L) return(diag(1, columns))
  rbind(cbind(ones, matrix(0, length(ones), columns)), cbind(matrix(0, columns, 1L), diag(1, columns)))
}
