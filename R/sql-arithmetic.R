# Rules for computations with numbers in SQL (R/sql-expression.R).
#
# No value makes a statement fail. Each rule guards its function by a CASE, as databases only guarantee the order of
# evaluation of CASE. Constants are computed in R, as a database might compute them before the CASE. Operands have an
# absolute value between 1e-150 and 1e150, or they are zero, infinite or missing. So a sum, product or quotient of two
# finite ones does not overflow, and is not zero unless a factor is zero: both are errors in PostgreSQL. What is larger
# counts as infinite, and what is smaller as zero. Sums and products of infinite numbers may be NaN, which databases
# order above all numbers: as_proper() makes it missing.

# An operand of a computation: a number within the limits.
operand <- function(made, e, most = 1e150) {
  node <- translate(made, e)
  if (node$kind != "number") node <- as_number(made, node, e)
  if (node$within) return(node)
  node <- hold(made, node)
  number <- made$push$dialect$number
  guarded <- sprintf(paste(
    "CASE WHEN ABS(%1$s) <= %2$s THEN CASE WHEN ABS(%1$s) >= %3$s THEN %1$s ELSE %4$s END",
    "WHEN %1$s > %2$s AND %1$s <= %5$s THEN %5$s WHEN %1$s < -%2$s AND %1$s >= -%5$s THEN -%5$s END"
  ), node$sql, number(most), number(1 / most), number(0), made$push$dialect$infinite)
  new_node("number", guarded, list(node), within = TRUE)
}

# A function of a number within the limits, guarded by its own rule. In sql, %1$s is this number.
of_number <- function(sql) {
  function(made, e, x) {
    x <- hold(made, operand(made, x))
    new_node("number", sprintf(fill_functions(sql, made$push$dialect), x$sql), list(x))
  }
}

fill_functions <- function(sql, dialect) {
  gsub("{log}", dialect$log, gsub("{infinite}", dialect$infinite, sql, fixed = TRUE), fixed = TRUE)
}

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
  new_node("number", sprintf("(%s %s %s)", x$sql, operator, y$sql), list(x, y), proper = FALSE)
}

# By zero, which has no sign here, and by infinite numbers as in R.
divide <- function(made, e, x, y) {
  x <- hold(made, operand(made, x))
  y <- hold(made, operand(made, y))
  dialect <- made$push$dialect
  new_node("number", sprintf(paste(
    "CASE WHEN %2$s <> %3$s AND ABS(%2$s) < %4$s THEN %1$s / %2$s WHEN %2$s <> %3$s AND ABS(%1$s) < %4$s THEN %3$s",
    "WHEN %2$s = %3$s AND %1$s > 0 THEN %4$s WHEN %2$s = %3$s AND %1$s < 0 THEN -%4$s END"
  ), x$sql, y$sql, dialect$number(0), dialect$infinite), list(x, y))
}

# Whole exponents use products, and one half the square root, as power functions differ between databases.
power <- function(made, e, x, y) {
  k <- translate(made, y)$constant
  if (!is.numeric(k) || !k %in% c(0.5, setdiff(-20:20, 0))) {
    refuse_expression(e, "powers in a database are constants, 0.5 or whole numbers from -20 to 20 but zero")
  }
  if (k == 0.5) return(made$rules$sqrt(made, e, x))
  x <- hold(made, operand(made, x, 10^(300 / max(abs(k), 2))))
  product <- sprintf("(%s)", paste(rep(x$sql, abs(k)), collapse = " * "))
  number <- made$push$dialect$number
  infinite <- made$push$dialect$infinite
  if (k < 0) {
    product <- sprintf(paste("CASE WHEN ABS(%1$s) = %2$s THEN %3$s WHEN %1$s <> %3$s THEN %4$s / %5$s",
                             "WHEN %1$s = %3$s THEN %2$s END"), x$sql, infinite, number(0), number(1), product)
  }
  new_node("number", product, list(x))
}

logarithm <- function(made, e, x, base) {
  x <- hold(made, operand(made, x))
  base <- if (missing(base)) exp(1) else translate(made, base)$constant
  if (!is.numeric(base) || base <= 0 || base == 1) refuse_expression(e, "the base must be a positive constant but one")
  sql <- paste("CASE WHEN %1$s = {infinite} THEN %3$s%1$s WHEN %1$s > 0 THEN {log}(%1$s) / {log}(%2$s)",
               "WHEN %1$s = 0 THEN %4$s{infinite} END")
  sign <- c("", "-")[1 + (base < 1)]
  new_node("number", sprintf(fill_functions(sql, made$push$dialect), x$sql, made$push$dialect$number(base), sign,
                             setdiff(c("", "-"), sign)), list(x))
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
  within <- hold(made, new_node("number", finite(made$push$dialect, within$sql), list(within)))
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
