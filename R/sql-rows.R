# Rows as integers: what a statement computes of a record before it knows coefficients.
#
# A row is a vector of norm at most one: integers z1, ... for its columns and u times public numbers for its intercept
# and its factors. In the rows' own coordinates these are ones, and zeros for the indicators of other levels; in those
# of a geometry (R/job-geometry.R) they are the coordinates of the code. So one sum of u for each cell of the factors is
# enough for all of them. A weighted row is l times such a vector, and a multiplier of the row is one of the vector
# times l, clipped to its bounds in integers: nothing is assumed of l (proofs: push-down-coordinates).
#
# The layers end in the columns
#   z1, ..., u   integers, in units of one over the plan's unit; u is NULL where the record is null
#   k1, ...      codes of factors
#   y, p, o      response, and weight and offset where there are any
#   l, c, s      of weighted rows: the length, the slope of the loss, weight times length
#   share, mark  of records of persons
#
# Every WHEN states its condition, and no ELSE follows a comparison of data: what is computed from a NULL is NULL.

# The scale of a row's entries. That of a matrix's factors is such that products have 60 bits.
unit <- 2^20
fine_unit <- 2^22 # with a tilt, where rounding takes more room
fine <- 2^40 # scale of terms that are not products

matrix_unit <- function(plan) 2^60 / plan$unit^2

row_layers <- function(plan) {
  names <- row_names(plan)
  rows <- if (is.null(plan$geometry)) own_rows(plan, names) else moved_rows(plan, names)
  sound <- paste(c(rows$sound, paste(names$record, "IS NOT NULL")), collapse = " AND ")
  layers <- layer(plan, rows$layers, c(names$z, named(sprintf("CASE WHEN %s THEN u END", sound), "u"), names$kept,
                                       names$length))
  share_layers(plan, layers, names)
}

# Names of columns: of the mapped numbers, their integers and codes; of the record; of a weighted row; of a record of a
# person. kept: those that layers of rows carry.
row_names <- function(plan) {
  number <- function(letter, all) paste0(letter, seq_along(all), recycle0 = TRUE)
  record <- c("y", prior_weight(plan), if (!is.null(plan$offset)) "o")
  persons <- !is.null(plan$persons)
  list(v = number("v", plan$v), z = number("z", plan$v), x = number("x", plan$v), k = number("k", plan$k),
       record = record, length = if (is_weighted(plan)) c("l", if (has_own_slopes(plan)) "c", "s"),
       person = if (persons) c("share", "mark"), kept = c(number("k", plan$k), record, if (persons) "id"))
}

prior_weight <- function(plan) if (!is.null(plan$weight)) "p"

is_weighted <- function(plan) isTRUE(plan$geometry$weighted)

is_damped <- function(plan) isTRUE(plan$geometry$damped)

# Do weighted rows have slopes of their own?
has_own_slopes <- function(plan) has_slopes(plan$loss) && !is_damped(plan)

# The values of the intercept and of each factor's indicators, a row for each code from zero on.
own_ones <- function(indicators) lapply(indicators, function(size) rbind(0, diag(1, size)))

# ---- in the rows' own coordinates ----

# The integers' squares are integers: they are compared with the square of one.
own_rows <- function(plan, names) {
  kept <- names$kept
  layers <- first_layer(plan, c(named(plan$v, names$v), record_items(plan, names)))
  layers <- layer(plan, clip_layers(plan, layers, names, c(names$v, kept)), c(whole(plan, names$v, "c", names), kept))
  list(layers = layers, sound = sprintf("%s <= %.0f", squared_integers(plan, names), plan$unit^2))
}

squared_integers <- function(plan, names) {
  squares <- paste(names$z, "*", names$z, recycle0 = TRUE)
  add_up(c(if (plan$intercept) "u * u", has_indicator(names$k, "u * u"), squares))
}

record_items <- function(plan, names) {
  c(named(plan$k, names$k), named(plan$y, "y"), named(plan$weight, "p"), named(plan$offset, "o"),
    named(plan$persons$key, "id"))
}

first_layer <- function(plan, items) paste("SELECT", toString(items), "FROM", plan$from, plan$dialect$fence)

whole <- function(plan, v, clip, names) {
  c(named(plan$dialect$int(paste0("(", v, ") * ", clip, recycle0 = TRUE)), names$z), named(plan$dialect$int(clip), "u"))
}

# From the layer before, or the table that has the rows; where: a condition.
layer <- function(plan, layers, items, where = NULL) {
  from <- if (length(layers) > 0L) layer_name(length(layers)) else plan$table
  c(layers, paste(c("SELECT", toString(items), "FROM", from, where, plan$dialect$fence), collapse = " "))
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

# The length of the longest row in units, below the unit so that rounding its entries cannot exceed it.
reach <- function(plan) plan$unit - sqrt(length(plan$v) + length(plan$k) + plan$intercept) / 2 - 1 / 4

has_indicator <- function(k, yes) sprintf("CASE WHEN %1$s > 0 THEN %2$s WHEN %1$s = 0 THEN 0 * %2$s END", k, yes)

# The square of the mapped row.
mapped_square <- function(plan, v, k) {
  number <- plan$dialect$number
  add_up(c(if (plan$intercept) number(1), sprintf("(%1$s) * (%1$s)", v), has_indicator(k, number(1))))
}

# Rows that would be longer are shortened. The others have the same whole factor, so that intercept and indicators are
# exact and centres of columns, which are relative to the intercept, have no bias.
clip_layers <- function(plan, layers, names, kept) {
  number <- plan$dialect$number
  layers <- layer(plan, layers, c(kept, named(mapped_square(plan, names$v, names$k), "c")))
  clip <- sprintf("CASE WHEN c > %1$s THEN %2$s / SQRT(c) WHEN c <= %1$s THEN %3$s END",
                  number((plan$radius * reach(plan) / plan$unit)^2), number(reach(plan)),
                  number(floor(plan$unit / plan$radius)))
  layer(plan, layers, c(kept, named(clip, "c")))
}

# Terms of the squared public numbers of the codes, of some of the indicators only.
square_of_ones <- function(plan, names, first, some) {
  c(plan$dialect$number(sum(first^2)),
    of_codes(plan, names, function(values, columns) drop(values^2 %*% some[columns])))
}

of_indicators <- function(plan, x) x[length(plan$v) + seq_len(sum(plan$indicators))]

# A number for each code of each factor; compute(values, columns): of its ones and their places among the indicators.
of_codes <- function(plan, names, compute) {
  ends <- cumsum(plan$indicators)
  vapply(seq_along(plan$k), function(i) {
    columns <- ends[i] - plan$indicators[i] + seq_len(plan$indicators[i])
    plan$dialect$at(names$k[i], plan$dialect$number(compute(plan$ones[[i]], columns)))
  }, "")
}

# ---- persons ----

# A record has a share of its person, a whole number of 2^-20, and one record of each person, which may be a null
# record, has a mark, so that persons can be counted. A whole number that a record adds to a sum is multiplied by the
# share and cut towards zero, so it is multiplied by no more than the share; what is exact with all digits is not cut.

# Layers that end in the same rows with `share` and `mark`. Records beyond the limit are left out. Which ones these are
# follows from the rows of the person alone, as sums see them: so equal rows need no order, and another person's records
# do not matter. The order is one that favours no side of a column.
share_layers <- function(plan, layers, names) {
  if (is.null(plan$persons)) return(layers)
  rest <- c(names$z, names$k, names$record, names$length)
  order <- toString(c("CASE WHEN u IS NULL THEN 1 ELSE 0 END", mixed(plan, names), rest, "u"))
  layers <- layer(plan, layers, c(rest, "u", sprintf("ROW_NUMBER() OVER (PARTITION BY id ORDER BY %s) AS turn", order),
                                  "COUNT(u) OVER (PARTITION BY id) AS m"), "WHERE id IS NOT NULL")
  m <- sprintf("CASE WHEN m > %1$.0f THEN %1$.0f WHEN m <= %1$.0f THEN m END", plan$persons$most)
  layer(plan, layers, c(rest, "u", sprintf("CASE WHEN u IS NOT NULL THEN %s END AS share", share_of(plan$dialect, m)),
                        mark_first), sprintf("WHERE turn <= %.0f", plan$persons$most))
}

mark_first <- "CASE WHEN turn = 1 THEN 1 ELSE 0 END AS mark"

# Of one of m records, m > 0; zero if there are more than 2^20.
share_of <- function(dialect, m) sprintf("%.0f %s (%s)", max_records, dialect$quotient, m)

# A number that depends on all columns of the row and on its response.
mixed <- function(plan, names) {
  prime <- 65521
  numbers <- c(names$z, names$k, plan$dialect$int(clipped_response(plan)))
  sum <- add_up(sprintf("%s * %.0f", numbers, (40503 * seq_along(numbers)) %% prime))
  sprintf("CASE WHEN u IS NOT NULL THEN ((%1$s) %% %2$.0f + %2$.0f) %% %2$.0f END", sum, prime)
}

clipped_response <- function(plan) {
  number <- plan$dialect$number
  sprintf("CASE WHEN y > 1 THEN %1$s WHEN y < -1 THEN -%1$s WHEN y >= -1 THEN y * %1$s END", number(unit))
}

# ---- in the coordinates of a geometry ----

# The plan for rows in these coordinates, with their public numbers.
in_geometry <- function(plan, geometry) {
  if (!is.null(plan$geometry)) stop("internal: these rows are in other coordinates already")
  base <- plan
  geometry[c("centre", "end")] <- lapply(geometry[c("centre", "end")], without_dust)
  numbers <- length(plan$v)
  plan$id <- new.env()
  plan$geometry <- geometry
  plan$unit <- if (has_tilt(plan)) fine_unit else unit
  plan$first <- if (plan$intercept) geometry$constant else numeric()
  ends <- numbers + cumsum(plan$indicators)
  plan$ones <- lapply(seq_along(plan$k), function(i) {
    j <- ends[i] - plan$indicators[i] + seq_len(plan$indicators[i])
    t(geometry$scale[j] * (t(plan$ones[[i]]) / plan$radius - geometry$centre[j]))
  })
  plan$base <- base
  plan
}

# A run may have rescaled its coordinates (oracle_rescale()): then those of the plan become the same.
follow_scale <- function(plan, scale) {
  if (is.null(plan$geometry) || length(scale) == 0L || identical(scale, plan$geometry$scale)) return(plan)
  geometry <- plan$geometry
  geometry$scale <- scale
  in_geometry(plan$base, geometry)
}

# Mapped numbers are on a lattice, public ones this small are not: their squares could underflow, which is an error in
# PostgreSQL, and whether a record meets one depends on its value.
without_dust <- function(x) replace(x, which(abs(x) < 2^-60), 0)

# Weighted rows are divided by their lengths, others by theirs where these exceed one. x: the row in the coordinates;
# h: the factor by which the mapped row is clipped; l: the length. The public numbers of the codes are doubles: the
# comparison allows for their rounding.
moved_rows <- function(plan, names) {
  number <- plan$dialect$number
  kept <- c(names$x, names$kept)
  layers <- length_layers(plan, moved_first(plan, names), names, kept)
  kept <- c(kept, if (has_tilt(plan)) "r")
  layers <- layer(plan, layers, c(kept, "l", named(paste("h *", number(plan$unit / room(plan)), "/ l"), "i")))
  integers <- named(plan$dialect$int(c(paste(names$x, "* i", recycle0 = TRUE), "i")), c(names$z, "u"))
  layers <- layer(plan, layers, c(integers, setdiff(kept, names$x), weighted_items(plan, names)))
  norm <- squared_vector(plan, names)
  list(layers = layers, sound = c(sprintf("%s <= %s", norm, number(plan$unit^2 - 1)),
                                  if (has_tilt(plan)) tilted_sound(plan, names, norm)))
}

# In doubles, as the public numbers are. first, some: of these numbers and columns.
squared_vector <- function(plan, names, first = plan$first, some = rep(TRUE, length(plan$v) + sum(plan$indicators))) {
  numbers <- seq_along(plan$v)
  squares <- sprintf("%1$s * %1$s", names$z[some[numbers]])
  add_up(c(squares, sprintf("u * (u * %s)", add_up(square_of_ones(plan, names, first, of_indicators(plan, some))))))
}

moved_first <- function(plan, names) {
  number <- plan$dialect$number
  columns <- seq_along(plan$v)
  factor <- plan$geometry$scale[columns] / plan$radius
  at <- function(v) sprintf("((%s) - %s) * %s", v, number(plan$geometry$centre[columns] * plan$radius), number(factor))
  rest <- record_items(plan, names)
  if (!is_clipped(plan)) return(first_layer(plan, c(named(at(plan$v), names$x), rest, named(number(1), "h"))))
  layers <- first_layer(plan, c(named(plan$v, names$v), rest))
  kept <- names$kept
  layers <- layer(plan, layers, c(names$v, kept, named(mapped_square(plan, names$v, names$k), "h")))
  clip <- sprintf("CASE WHEN h > %1$s THEN %2$s / SQRT(h) WHEN h <= %1$s THEN %3$s END", number(plan$radius^2),
                  number(plan$radius), number(1))
  layer(plan, layers, c(named(at(names$v), names$x), kept, named(clip, "h")))
}

# No row is shorter; with an intercept none is anyway, unless it is clipped.
shortest_row <- 1e-4

# q: the squared length of the row that is not clipped. With a tilt also r, is the row regular, and t, its length by the
# inequality of the proof, as src/data/coordinates.c computes it.
length_layers <- function(plan, layers, names, kept) {
  all <- squared_row(plan, names, plan$first)
  if (!has_tilt(plan)) {
    layers <- layer(plan, layers, c(kept, "h", named(all, "q")))
    l <- larger("h * SQRT(q)", plan$dialect$number(if (is_weighted(plan)) shortest_row else 1))
    return(layer(plan, layers, c(kept, "h", named(l, "l"))))
  }
  parts <- c(all, squared_row(plan, names, NULL, plan_ends(plan)$free), excess(plan, names), regular(plan, names))
  layers <- layer(plan, layers, c(kept, "h", named(parts, c("q", "f", "e", "r"))))
  layers <- layer(plan, layers, c(kept, "h", "r", named(c("h * SQRT(q)", tilted_length(plan)), c("q", "t"))))
  shortest <- plan$dialect$number(plan$geometry$shortest)
  l <- sprintf("CASE WHEN t > q THEN %s WHEN t <= q THEN %s END", larger("t", shortest), larger("q", shortest))
  layer(plan, layers, c(kept, "h", "r", named(l, "l")))
}

larger <- function(x, least) sprintf("(CASE WHEN %1$s > %2$s THEN %1$s WHEN %1$s <= %2$s THEN %2$s END)", x, least)

squared_row <- function(plan, names, first, some = rep(TRUE, length(plan$v) + sum(plan$indicators))) {
  numbers <- seq_along(plan$v)
  add_up(c(sprintf("%1$s * %1$s", names$x[some[numbers]]),
           square_of_ones(plan, names, first, of_indicators(plan, some))))
}

# Of the columns with an end, the squared distances from it less those from the centre, as a multiple of 2^-53: its
# square does not underflow.
excess <- function(plan, names) {
  number <- plan$dialect$number
  apart <- plan_ends(plan)$apart
  mine <- apart[seq_along(plan$v)]
  of_ones <- of_codes(plan, names, function(values, columns) {
    theirs <- of_indicators(plan, apart)[columns]
    drop(values %*% (2 * theirs)) + sum(theirs^2)
  })
  all <- add_up(c(number(sum(mine^2)), paste(names$x, "*", number(2 * mine), recycle0 = TRUE), of_ones))
  sprintf("(%1$s + %2$s) - %2$s", all, number(1))
}

# Is the row not clipped, and no number beyond its end?
regular <- function(plan, names) {
  ends <- plan_ends(plan)
  apart <- ends$apart[seq_along(plan$v)]
  low <- ends$low[seq_along(plan$v)]
  edge <- plan$dialect$number(-apart + ifelse(low, -1, 1) * 1e-14 * (1 + abs(apart)))
  inner <- paste(names$x, ifelse(low, ">=", "<="), edge, recycle0 = TRUE)[!ends$free[seq_along(plan$v)]]
  sprintf("CASE WHEN %s THEN 1 ELSE 0 END", paste(c(paste("h =", plan$dialect$number(1)), inner), collapse = " AND "))
}

tilted_length <- function(plan) {
  number <- plan$dialect$number
  b <- (1 + abs(plan$geometry$tilt)) / 2
  part <- sprintf("%s * %s", number(b^2 / plan$geometry$shortest), larger("e", number(0)))
  sprintf("CASE WHEN r = 1 THEN %1$s + SQRT((%1$s) * (%1$s) + %2$s * (q + f)) WHEN r = 0 THEN %3$s * (h * SQRT(q)) END",
          part, number(2 * b^2), number(b / (1 - b)))
}

# Do the integers satisfy the inequality that the length is made for, with what their rounding may add to a product?
tilted_sound <- function(plan, names, norm) {
  number <- plan$dialect$number
  b <- (1 + abs(plan$geometry$tilt)) / 2
  ends <- plan_ends(plan)
  of_ones <- of_codes(plan, names, function(values, columns) {
    drop(values %*% (2 * of_indicators(plan, ends$apart)[columns]))
  })
  linear <- add_up(c(paste(names$z, "*", number(2 * ends$apart[seq_along(plan$v)]), recycle0 = TRUE),
                     paste("u *", of_ones, recycle0 = TRUE), sprintf("%s / l", number(plan$unit * sum(ends$apart^2)))))
  both <- sprintf("%s + %s + %s * %s", norm, squared_vector(plan, names, NULL, ends$free),
                  number(plan$unit / plan$geometry$shortest), larger(linear, number(0)))
  sprintf("(CASE WHEN r = 1 THEN %s WHEN r = 0 THEN %s * (%s) END) <= %s", both,
          number((b / (1 - b))^2 / (2 * b^2)), norm, number(plan$unit^2 / (2 * b^2) * (1 - 2 * ends$spare / plan$unit)))
}

has_tilt <- function(plan) is_weighted(plan) && plan$geometry$tilt != 0

# free: has the column no end? apart: the distance of its centre from its end in these coordinates, zero without one;
# low: does the end lie below? wide: the largest number by which u is multiplied for the column, at least one.
plan_ends <- function(plan) {
  g <- plan$geometry
  free <- is.na(g$end)
  apart <- ifelse(free, 0, g$scale * (g$centre - g$end))
  wide <- c(rep(1, length(plan$v)), pmax(1, unlist(lapply(plan$ones, function(x) apply(abs(x), 2L, max)))))
  list(free = free, apart = apart, low = g$end < g$centre | (g$end == g$centre & g$end <= 0),
       spare = sqrt(1 + sum(wide^2)) + sum(wide * abs(apart)) / g$shortest)
}

# Unit vectors are shortened by this factor, so that rounding their integers cannot make them longer than one or, with a
# tilt, violate what the proof needs.
room <- function(plan) {
  if (has_tilt(plan)) return(1 + 8 * plan_ends(plan)$spare / plan$unit)
  most <- sum(plan$first^2) + sum(vapply(plan$ones, function(x) max(rowSums(x^2)), 0))
  1 / (1 - min(1 / 2, (sqrt(length(plan$v)) + sqrt(most) + 1) / 2 / plan$unit))
}

# The length that the vector is multiplied by; the slope of the row's loss; weight times length, at most bound / slope
# or, of damped rows and where a slope has no bound, the cap.
weighted_items <- function(plan, names) {
  if (!is_weighted(plan)) return(NULL)
  number <- plan$dialect$number
  bound <- number(plan$geometry$bound)
  least <- min_slope(plan$loss)
  longest <- if (is.finite(least) && !is_damped(plan)) plan$geometry$bound / least else plan$geometry$cap
  far <- number(longest)
  slope <- sprintf("CASE WHEN l <= %1$s THEN %2$s WHEN l >= %3$s THEN %4$s WHEN l > %1$s THEN %1$s / l END", bound,
                   number(1), far, number(least))
  size <- sprintf("%s * CASE WHEN l > %2$s THEN %2$s WHEN l <= %2$s THEN l END", number(room(plan)), far)
  named(c(paste("l *", number(room(plan))), if (has_own_slopes(plan)) slope, size), names$length)
}
