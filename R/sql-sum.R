# A sum over the rows of a table as one SELECT (proofs: push-down).
#
# The statement is a WITH of layers, dpsosp1, dpsosp2, ..., each a SELECT from the one before. The dialect's fence keeps
# the database from merging layers, which would compute values again for each sum that uses them. (Nested SELECTs would
# be too deep for SQLite.) As each column of a layer costs time, values that are used once are not columns.
#   v, k, y   columns mapped to [-1, 1], codes of factors, the response; NULL where missing
#   p, o      weight and offset of the record, if there are any
#   c         the clipping factor, if rows may be longer than the radius
#   z, u      integers: the clipped row times 2^20; u is the entry for an intercept or an indicator that is one
#   t         the predictors, t0 as a multiple of 2^-53; NULL (a null record) if the squared integers sum to more than
#             2^40
#   steps     of the loss; w, the factor of the record's row, in units of its bound
#   g         w rounded to an integer within its bound
# The terms of sums are products of the integers g, z and u; SUM ignores NULL. Rows are grouped by the codes of factors,
# so that sums over indicators follow from the sums of cells.
#
# A plan contains everything but the query: dialect, before (layers that compute expressions, or NULL:
# R/sql-expression.R), from (the table or the last of these layers, as t, and joined tables), v, k, y (expressions),
# weight and offset (expressions, or NULL), shift (the bound of the offsets), indicators (number for each k), intercept,
# radius, loss, n.

unit <- 2^20 # scale of a row's entries and of their factors
fine <- 2^40 # scale of terms that are not products

# what: list(word, curvature, at, along, steps) of r_remote.c. Returns the statement and read(), which computes the
# number of records and the sum from the rows of its result.
sql_sum <- function(plan, what) {
  if (what$word == "usable") what$at <- numeric(plan$intercept + length(plan$v) + sum(plan$indicators))
  weights <- sql_weights(plan, what)
  base <- sql_base(plan)
  sums <- switch(weights$form, each = weights$names, squares = "g * q", vector = paste("g *", base),
                 matrix = paste("g", "*", pairs(base)$left, "*", pairs(base)$right))
  codes <- paste0("k", seq_along(plan$k), recycle0 = TRUE)
  items <- c(codes, sprintf("CAST(COUNT(*) AS %s)", plan$dialect$float), vapply(sums, plan$dialect$total, ""))
  layers <- sql_layers(plan, what, weights)
  names(layers) <- layer_name(seq_along(layers))
  layers <- c(plan$before, layers)
  sql <- paste0("WITH ", toString(sprintf("%s AS (%s)", names(layers), layers)), " SELECT ",
                toString(sprintf("%s AS r%d", items, seq_along(items))), " FROM ", names(layers)[length(layers)],
                if (length(codes) > 0L) " GROUP BY ", toString(codes))
  list(sql = sql, read = function(rows) read_sum(plan, weights, as.matrix(rows)))
}

# ---- what a record weighs ----

# The factors of a record from its loss, called weights here. form: how weights enter the sum; f: their expressions;
# prior: the power of the record's own weight in them; low, high: bounds; scale: of one unit; constant: to be added to
# the sum of all records.
sql_weights <- function(plan, what) {
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

# ---- layers ----

sql_layers <- function(plan, what, weights) {
  number <- function(letter, all) paste0(letter, seq_along(all), recycle0 = TRUE)
  names <- list(v = number("v", plan$v), k = number("k", plan$k), z = number("z", plan$v))
  rest <- c(named(plan$k, names$k), named(plan$y, "y"), named(plan$weight, "p"), named(plan$offset, "o"))
  kept <- c(names$k, "y", prior_weight(plan), if (!is.null(plan$offset)) "o")
  if (is_clipped(plan)) {
    layers <- clip_layers(plan, first_layer(plan, c(named(plan$v, names$v), rest)), names, c(names$v, kept))
    layers <- layer(plan, layers, c(whole(plan, names$v, "c", names), kept))
  } else {
    clip <- plan$dialect$number(reach(plan) / plan$radius)
    layers <- first_layer(plan, c(whole(plan, plan$v, clip, names), rest))
  }
  layers <- layer(plan, layers, c(names$z, "u", setdiff(kept, "o"), predictors(plan, what, weights, names)))
  kept <- c(if (!weights$form %in% c("each", "squares")) c(names$z, "u"), names$k,
            if (weights$form == "squares") "q")
  layers <- loss_layers(plan, layers, what, weights, kept)
  bounded <- sprintf("CASE WHEN %1$s > %2$s THEN %2$s WHEN %1$s < %3$s THEN %3$s ELSE %1$s END",
                     sub("g", "w", weights$names), plan$dialect$number(weights$high), plan$dialect$number(weights$low))
  layer(plan, layers, c(kept, named(plan$dialect$int(bounded), weights$names)))
}

prior_weight <- function(plan) if (!is.null(plan$weight)) "p"

first_layer <- function(plan, items) paste("SELECT", toString(items), "FROM", plan$from, plan$dialect$fence)

whole <- function(plan, v, clip, names) {
  c(named(plan$dialect$int(paste0("(", v, ") * ", clip, recycle0 = TRUE)), names$z), named(plan$dialect$int(clip), "u"))
}

layer <- function(plan, layers, items) {
  c(layers, paste("SELECT", toString(items), "FROM", layer_name(length(layers)), plan$dialect$fence))
}

layer_name <- function(number) paste0("dpsosp", number)

named <- function(e, name) paste(e, "AS", name, recycle0 = TRUE)

# The sum as a balanced tree, as databases limit the depth of an expression.
add_up <- function(terms) {
  if (length(terms) == 1L) return(terms)
  half <- length(terms) %/% 2L
  paste0("(", add_up(terms[seq_len(half)]), " + ", add_up(terms[-seq_len(half)]), ")")
}

# May a row be longer than the radius? Each mapped column is at most one in size, and so is each factor's indicator.
is_clipped <- function(plan) length(plan$v) + length(plan$k) + plan$intercept > plan$radius^2 * (1 + 1e-12)

# The length of a clipped row in units, below 2^20 so that rounding its entries cannot exceed 2^20.
reach <- function(plan) unit - sqrt(length(plan$v) + length(plan$k) + plan$intercept) / 2 - 1 / 4

has_indicator <- function(k, yes) sprintf("CASE WHEN %1$s > 0 THEN %2$s WHEN %1$s = 0 THEN 0 * %2$s END", k, yes)

clip_layers <- function(plan, layers, names, kept) {
  number <- plan$dialect$number
  squares <- c(if (plan$intercept) number(1), paste(names$v, "*", names$v, recycle0 = TRUE),
               has_indicator(names$k, number(1)))
  layers <- layer(plan, layers, c(kept, named(add_up(squares), "c")))
  clip <- sprintf("CASE WHEN c > %s THEN %s / SQRT(c) WHEN c <= %s THEN %s END", number(plan$radius^2),
                  number(reach(plan)), number(plan$radius^2), number(reach(plan) / plan$radius))
  layer(plan, layers, c(kept, named(clip, "c")))
}

# t0; for a search also the direction's predictor a, for a trace the squares q.
predictors <- function(plan, what, weights, names) {
  ones <- c(if (plan$intercept) "u * u", has_indicator(names$k, "u * u"))
  q <- add_up(c(ones, paste(names$z, "*", names$z, recycle0 = TRUE)))
  at <- add_up(c(predictor(plan, what$at, names), if (!is.null(plan$offset)) "o"))
  sound <- sprintf("CASE WHEN %1$s <= %2$.0f AND y IS NOT NULL%3$s THEN (%4$s + %5$s) - %5$s END", q, unit^2,
                   if (is.null(plan$weight)) "" else " AND p IS NOT NULL", at, plan$dialect$number(1))
  c(named(sound, "t0"), if (what$word == "decreases") named(predictor(plan, what$along, names), "a"),
    if (weights$form == "squares") named(q, "q"))
}

# Coefficients in the order of the core: the intercept, the columns and the indicators of each factor.
predictor <- function(plan, w, names) {
  w <- w / unit
  w[abs(w) < 1e-150] <- 0
  number <- plan$dialect$number
  first <- seq_len(plan$intercept)
  columns <- plan$intercept + seq_along(plan$v)
  ends <- plan$intercept + length(plan$v) + cumsum(plan$indicators)
  ones <- vapply(seq_along(plan$k), function(i) {
    own <- w[ends[i] - plan$indicators[i] + seq_len(plan$indicators[i])]
    sprintf("u * %s", plan$dialect$at(names$k[i], number(c(0, own))))
  }, "")
  add_up(c(paste("u *", number(w[first]), recycle0 = TRUE), paste(names$z, "*", number(w[columns]), recycle0 = TRUE),
           ones))
}

# For a search the predictors t1, ...; then the steps of the loss for each; then w, the weights in units.
loss_layers <- function(plan, layers, what, weights, kept) {
  loss <- sql_losses[[plan$loss$name]]
  number <- plan$dialect$number
  steps <- what$steps[what$word == "decreases" & seq_along(what$steps) > 0L]
  steps[steps < 1e-100] <- 0
  at <- 0:length(steps)
  have <- paste0("t", at)
  needed <- c(kept, prior_weight(plan))
  if (length(steps) > 0L) {
    layers <- layer(plan, layers, c(needed, "y", "t0", named(paste("t0 +", number(steps), "* a"), have[-1])))
  }
  fill <- function(e) vapply(at, function(i) fill_in(e, loss, plan, i), "")
  columns <- unlist(lapply(names(loss$steps), function(step) named(fill(loss$steps[[step]]), paste0(step, at))))
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
  layer(plan, layers, c(kept, named(there, sub("g", "w", weights$names))))
}

fill_in <- function(e, loss, plan, i) {
  numbers <- loss$parameters(plan$loss$parameter)
  for (name in rev(names(loss$short))) e <- gsub(sprintf("{%s}", name), loss$short[[name]], e, fixed = TRUE)
  e <- gsub("{log}", plan$dialect$log, e, fixed = TRUE)
  for (name in names(numbers)) e <- gsub(sprintf("{%s}", name), plan$dialect$number(numbers[[name]]), e, fixed = TRUE)
  for (name in c("t", names(loss$steps))) e <- gsub(sprintf("{%s}", name), paste0(name, i), e, fixed = TRUE)
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
read_sum <- function(plan, weights, rows) {
  rows <- unname(rows)
  storage.mode(rows) <- "double"
  factors <- seq_along(plan$k)
  rows <- rows[do.call(order, c(lapply(factors, function(i) rows[, i]), list(seq_len(nrow(rows))))), , drop = FALSE]
  sums <- rows[, -seq_len(length(factors) + 1L), drop = FALSE]
  sums[is.na(sums)] <- 0 # for cells with null records only
  ones <- cell_ones(plan, rows[, factors, drop = FALSE])
  total <- switch(weights$form,
    each = weights$constant + colSums(sums) * weights$worth,
    squares = sum(sums) * weights$worth / unit^2,
    vector = sum_vector(plan, sums, ones) * weights$worth / unit,
    matrix = sum_matrix(plan, sums, ones) * weights$worth / unit^2
  )
  c(sum(rows[, length(factors) + 1L]), total)
}

# For each cell the intercept and the indicators; the cell's codes say which of them are one.
cell_ones <- function(plan, codes) {
  indicators <- lapply(seq_along(plan$k), function(i) outer(codes[, i], seq_len(plan$indicators[i]), `==`))
  ones <- do.call(cbind, c(list(matrix(1, nrow(codes), plan$intercept)), indicators))
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
