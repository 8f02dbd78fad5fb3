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
# radius, loss, n; unit, the scale of the rows' integers; first and ones, the numbers by which u is multiplied for the
# intercept and for each factor's indicators (a row for each code from zero on), and, of moved rows, geometry; table:
# the temporary table, if it has the rows. id differs between plans.

fine <- 2^40 # scale of terms that are not products

# what: list(word, curvature, at, along, steps) of r_remote.c. Returns the statement and read(), which computes the
# number of records and the sum from the rows of its result.
sql_sum <- function(plan, what) {
  if (length(what$at) == 0L) what$at <- numeric(plan$intercept + length(plan$v) + sum(plan$indicators))
  weights <- sql_weights(plan, what)
  base <- sql_base(plan)
  sums <- switch(weights$form, each = weights$names, squares = "g * q", vector = paste("g *", base),
                 moments = c(paste("g *", base), clipped_squares(what$most)),
                 matrix = paste("g", "*", pairs(base)$left, "*", pairs(base)$right))
  codes <- paste0("k", seq_along(plan$k), recycle0 = TRUE)
  items <- c(codes, sprintf("CAST(COUNT(*) AS %s)", plan$dialect$float), vapply(sums, plan$dialect$total, ""))
  layers <- named_layers(plan, sum_layers(plan, what, weights, if (is.null(plan$table)) row_layers(plan)))
  sql <- paste0(with_layers(layers), " SELECT ", toString(sprintf("%s AS r%d", items, seq_along(items))), " FROM ",
                names(layers)[length(layers)], if (length(codes) > 0L) " GROUP BY ", toString(codes))
  list(sql = sql, read = function(rows) read_sum(plan, what, weights, as.matrix(rows)))
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

# ---- what a record weighs ----

# The factors of a record from its loss, called weights here. form: how weights enter the sum; f: their expressions;
# prior: the power of the record's own weight in them; low, high: bounds; scale: of one unit; constant: to be added to
# the sum of all records.
sql_weights <- function(plan, what) {
  if (is_weighted(plan)) return(weights_of_lengths(plan, what))
  loss <- sql_losses[[plan$loss$name]]
  parameter <- plan$loss$parameter
  bounds <- loss_bounds(plan$loss)
  length_of <- function(x) sqrt(sum(x^2))
  switch(what$word,
    value = {
      range <- loss$range(parameter, length_of(what$at) + plan$shift)
      zero <- loss$zero(parameter)
      new_weights("each", sprintf("%s - %s", loss$value, plan$dialect$number(zero)), range, fine, plan$n * zero)
    },
    decreases = {
      length <- what$steps * length_of(what$along)
      range <- vapply(length_of(what$at) + plan$shift + length, function(reach) diff(loss$range(parameter, reach)), 0)
      most <- pmin(bounds[["lipschitz"]] * length, range)
      new_weights("each", sprintf("f%d - f%d", 0, seq_along(what$steps)), rbind(-most, most), fine, steps = loss$value)
    },
    gradient = new_weights("vector", loss$slope, c(-1, 1) * bounds[["lipschitz"]]),
    products = new_weights("matrix", sprintf("(%1$s) * (%1$s)", loss$slope), c(0, bounds[["lipschitz"]]^2), prior = 2),
    moments = new_weights("moments", plan$dialect$number(1), c(0, 1), prior = 0),
    usable = new_weights("each", plan$dialect$number(1), c(0, 1), prior = 0),
    squares = new_weights("matrix", plan$dialect$number(1), c(0, 1), prior = 0),
    hessian = curvature_weights("matrix", "hessian", loss, bounds, plan),
    majorant = curvature_weights("matrix", "majorant", loss, bounds, plan),
    curvature = curvature_weights("matrix", what$curvature, loss, bounds, plan),
    trace = curvature_weights("squares", what$curvature, loss, bounds, plan)
  )
}

curvature_weights <- function(form, curvature, loss, bounds, plan) {
  upper <- bounds[["curv_upper"]]
  if (curvature == "hessian") return(new_weights(form, loss$curvature, c(-bounds[["curv_lower"]], upper)))
  new_weights(form, loss$majorant %||% plan$dialect$number(upper), c(0, upper))
}

# range: lower and upper for each weight, in columns. A weight with a tiny bound is zero.
new_weights <- function(form, f, range, units = unit, constant = 0, steps = NULL, prior = 1) {
  range <- matrix(range, 2L)
  size <- pmax(-range[1, ], range[2, ])
  scale <- ifelse(size > 1e-200, units / size, 0)
  list(form = form, f = f, names = paste0("g", if (form == "each") seq_along(f)), steps = steps, constant = constant,
       prior = prior, low = -floor(-range[1, ] * scale), high = floor(range[2, ] * scale), scale = scale,
       worth = ifelse(scale > 0, size / units, 0))
}

# Of weighted rows, which are l times a vector: the multipliers of this vector. The weight of a row's class is known by
# its sign, and so is the sign of its slope (proofs: tilt).
weights_of_lengths <- function(plan, what) {
  number <- plan$dialect$number
  g <- plan$geometry
  switch(what$word,
    gradient = {
      slope <- sql_losses[[plan$loss$name]]$own_slope %||% sql_losses[[plan$loss$name]]$slope
      most <- g$bound * (1 + abs(g$tilt))
      if (g$tilt == 0) return(new_weights("vector", sprintf("(%s) * s", slope), c(-1, 1) * most))
      class <- sprintf("CASE WHEN y > 0 THEN %s WHEN y < 0 THEN %s END", number(1 + g$tilt), number(1 - g$tilt))
      weights <- new_weights("vector", sprintf("(%s) * s * %s", slope, class), c(-1, 1) * most)
      weights$classes <- floor(unit * c(1 + g$tilt, 1 - g$tilt) / (1 + abs(g$tilt)))
      weights
    },
    weighted = new_weights("matrix", "s * l", c(0, g$cap^2), matrix_unit(plan), prior = 0),
    usable = new_weights("each", number(1), c(0, 1), prior = 0)
  )
}

# ---- layers ----

# rows: the layers that end in the rows, or NULL if a table has them.
sum_layers <- function(plan, what, weights, rows) {
  names <- row_names(plan)
  kept <- c(names$k, names$record[names$record != "o"], if (is_weighted(plan)) setdiff(names$length, "l"),
            if (is_weighted(plan) && what$word == "weighted") "l")
  layers <- layer(plan, rows, c(names$z, "u", kept, predictors(plan, what, weights, names)))
  summed <- c(if (!weights$form %in% c("each", "squares")) c(names$z, "u"), names$k,
              if (weights$form == "squares") "q")
  layers <- loss_layers(plan, layers, what, weights, summed, setdiff(kept, names$k))
  layer(plan, layers, c(summed, named(plan$dialect$int(bounded(plan, weights)), weights$names)))
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

# t0; for a search also the direction's predictor a, for a trace the squares q.
predictors <- function(plan, what, weights, names) {
  at <- predictor(plan, what$at, names)
  if (is_weighted(plan)) at <- paste("l *", at)
  if (has_tilt(plan)) at <- c(at, plan$dialect$number(log1p(plan$geometry$tilt) - log1p(-plan$geometry$tilt)))
  at <- add_up(c(at, if (!is.null(plan$offset)) "o"))
  t0 <- sprintf("CASE WHEN u IS NOT NULL THEN (%1$s + %2$s) - %2$s END", at, plan$dialect$number(1))
  q <- if (weights$form == "squares") squared_integers(plan, names)
  c(named(t0, "t0"), if (what$word == "decreases") named(predictor(plan, what$along, names), "a"), named(q, "q"))
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
loss_layers <- function(plan, layers, what, weights, kept, record) {
  loss <- sql_losses[[plan$loss$name]]
  number <- plan$dialect$number
  steps <- what$steps[what$word == "decreases" & seq_along(what$steps) > 0L]
  steps[steps < 1e-100] <- 0
  at <- 0:length(steps)
  have <- paste0("t", at)
  needed <- c(kept, setdiff(record, "y"))
  if (length(steps) > 0L) {
    layers <- layer(plan, layers, c(needed, "y", "t0", named(paste("t0 +", number(steps), "* a"), have[-1])))
  }
  fill <- function(e) vapply(at, function(i) fill_in(e, loss, plan, i), "")
  all <- if (is_weighted(plan)) loss$own_steps %||% loss$steps else loss$steps
  columns <- unlist(lapply(names(all), function(step) named(fill(all[[step]]), paste0(step, at))))
  layers <- layer(plan, layers, c(needed, "y", have, columns))
  f <- weights$f
  if (!is.null(weights$steps)) {
    layers <- layer(plan, layers, c(needed, named(fill(weights$steps), paste0("f", at))))
  } else {
    f <- fill_in(f, loss, plan, 0)
  }
  # A weight that does not depend on the predictor must still be missing where the predictor is.
  there <- sprintf("CASE WHEN %s IS NOT NULL THEN (%s)%s * %s END", if (is.null(weights$steps)) "t0" else "f0", f,
                   strrep(" * p", length(prior_weight(plan)) * weights$prior), number(weights$scale))
  layer(plan, layers, c(kept, if (!is.null(weights$classes)) "y", named(there, sub("g", "w", weights$names))))
}

fill_in <- function(e, loss, plan, i) {
  numbers <- loss$parameters(plan$loss$parameter)
  for (name in rev(names(loss$short))) e <- gsub(sprintf("{%s}", name), loss$short[[name]], e, fixed = TRUE)
  e <- gsub("{log}", plan$dialect$log, e, fixed = TRUE)
  for (name in names(numbers)) e <- gsub(sprintf("{%s}", name), plan$dialect$number(numbers[[name]]), e, fixed = TRUE)
  for (name in c("t", names(loss$own_steps %||% loss$steps))) {
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

# rows: one per cell, with codes, number of records and sums, in any order. Returns the number of all records and their
# sum.
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
    moments = sum_moments(plan, sums, ones, what$most) * weights$worth / plan$unit,
    matrix = sum_matrix(plan, sums, ones) * weights$worth / plan$unit^2
  )
  c(sum(rows[, length(factors) + 1L]), total)
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
