# Powers and products of numeric columns are nearly combinations of lower ones where values are far from zero: a noisy
# matrix does not tell x from x^2, nor x:z from x and z. So the rows hold public polynomials of the same span instead,
# about the middles c of the ranges [c - h, c + h]: x:z is (x - c)(z - c'), x within a level is so about c, and x^k is
# h^k P_k((x - c) / h), where P_k = t P_(k-1) - b_(k-1) P_(k-2), b_k = k (k + 2) / ((2 k + 1) (2 k + 3)), are the monic
# polynomials that are orthogonal for the density 1 - t^2 (inst/experiments/powers-rule.R). Each is the column as it was
# written plus a public combination of lower ones, so the model is the same, and coefficients and covariances are mapped
# back exactly. Where a lower column is not in the model the column is shifted in other variables only, or stays.
#
# design$powers then has for each such column, by name, what it has more than the column as it was written: multiples of
# other columns and of "(Intercept)". design$written has their predictors and ranges as they were.

powers_most <- 6L # degrees beyond, and more variables in a product, stay as they are

# Once all ranges are known.
centre_powers <- function(design) {
  columns <- design$columns
  numeric <- which(columns$kind == "numeric" & !columns$variable %in% design$smooth$added)
  parts <- lapply(design$predictors[columns$variable[numeric]], monomial)
  high <- vapply(parts, function(m) sum(m$power) %in% 2:powers_most, NA)
  if (!any(high)) return(design)
  known <- known_ranges(design)
  terms <- design_monomials(design)
  found <- lapply(parts[high], centred_power, terms = terms, known = known)
  names(found) <- columns$name[numeric][high]
  own <- vapply(names(found), function(name) range_follows(design, name), NA)
  found <- Filter(Negate(is.null), found[own])
  if (length(found) == 0L) return(design)
  names <- names(found)
  design$written <- list(predictors = design$predictors[names], ranges = design$ranges[names, , drop = FALSE])
  design$predictors[names] <- lapply(found, `[[`, "expression")
  design$ranges[names, ] <- t(vapply(found, `[[`, c(0, 0), "range"))
  degree <- vapply(parts[high], function(m) sum(m$power), 0)[match(names, columns$name[numeric][high])]
  design$powers <- lapply(found, `[[`, "lower")[order(-degree)]
  design
}

# Is the range of this column the one that follows from those of others?
range_follows <- function(design, name) {
  others <- design
  others$ranges[name, ] <- NA
  others$predictors[[name]] <- NULL
  follows <- interval(design$predictors[[name]], known_ranges(others))
  !anyNA(follows) && isTRUE(all.equal(follows, unname(design$ranges[name, ])))
}

# The design as the formula has it, for pictures and the parts of predictions.
as_written <- function(design) {
  if (is.null(design$powers)) return(design)
  names <- names(design$written$predictors)
  design$predictors[names] <- design$written$predictors
  design$ranges[names, ] <- design$written$ranges
  design$powers <- design$written <- NULL
  design
}

# Coefficients, by name, of the columns as they were written, from those of the polynomials.
written_coef <- function(design, coefficients) {
  for (name in rev(names(design$powers))) {
    lower <- design$powers[[name]]
    coefficients[names(lower)] <- coefficients[names(lower)] + coefficients[[name]] * lower
  }
  coefficients
}

# The inverse; higher degrees come first, which no other column changes.
centred_coef <- function(design, coefficients) {
  if (is.null(design$powers)) return(coefficients)
  names(coefficients) <- c(if (design$intercept) "(Intercept)", design$columns$name)
  for (name in names(design$powers)) {
    lower <- design$powers[[name]]
    coefficients[names(lower)] <- coefficients[names(lower)] - coefficients[[name]] * lower
  }
  coefficients
}

# ---- columns as products of powers ----

# A factor, the variables, as expressions named by their text, and their powers; NULL if there are none.
monomial <- function(e) {
  if (is.numeric(e)) return(list(factor = as.double(e), variable = list(), power = numeric()))
  rule <- if (is.call(e)) monomial_rules[[function_name(e) %||% ""]]
  found <- if (!is.null(rule)) do.call(rule, as.list(e)[-1], quote = TRUE)
  found %||% list(factor = 1, variable = stats::setNames(list(e), expression_text(e)),
                  power = stats::setNames(1, expression_text(e)))
}

is_power <- function(k) is.numeric(k) && length(k) == 1L && k %in% seq_len(powers_most)

monomial_rules <- list(
  "(" = function(x) monomial(x),
  I = function(x) monomial(x),
  "*" = function(x, y) multiplied(monomial(x), monomial(y)),
  "/" = function(x, y) if (is.numeric(y) && isTRUE(is.finite(1 / y))) multiplied(monomial(x), monomial(1 / y)),
  "^" = function(x, k) if (is_power(k)) Reduce(multiplied, rep(list(monomial(x)), k))
)

multiplied <- function(a, b) {
  variable <- c(a$variable, b$variable[setdiff(names(b$variable), names(a$variable))])
  power <- stats::setNames(numeric(length(variable)), names(variable))
  power[names(a$power)] <- a$power
  power[names(b$power)] <- power[names(b$power)] + b$power
  list(factor = a$factor * b$factor, variable = variable, power = power)
}

# A text for a product of powers.
key_of <- function(power) {
  power <- power[power > 0]
  if (length(power) == 0L) return("1")
  order <- order(names(power))
  paste(names(power)[order], power[order], sep = " ^ ", collapse = " * ")
}

# Of all columns of the design, with indicators as comparisons: by key, the name and the factor of the column.
design_monomials <- function(design) {
  columns <- design$columns
  all <- lapply(seq_len(nrow(columns)), function(j) {
    e <- design$predictors[[columns$variable[j]]]
    if (columns$kind[j] == "numeric") monomial(e) else indicator_monomial(e, columns$level[j])
  })
  column <- Map(function(m, name) list(name = name, factor = m$factor), all, columns$name)
  names(column) <- vapply(all, function(m) key_of(m$power), "")
  if (design$intercept) column[[key_of(numeric())]] <- list(name = "(Intercept)", factor = 1)
  levels <- lapply(names(design$levels), function(name) {
    list(e = design$predictors[[name]], levels = design$levels[[name]])
  })
  list(column = as.environment(column[!duplicated(names(column))]), levels = levels)
}

# That of an indicator; of one of an interaction, the product of its factors' (add_pairs()).
indicator_monomial <- function(e, level) {
  if (function_name(e) != "crossed") return(monomial(call("==", e, level)))
  factors <- as.list(e)[-(1:2)]
  odd <- seq(1L, length(factors), 2L)
  cells <- expand.grid(lapply(factors[odd + 1L], as.character), stringsAsFactors = FALSE)
  cell <- cells[match(level, unlist(e[[2]])), ]
  Reduce(multiplied, Map(function(f, k) monomial(call("==", f, k)), factors[odd], as.list(cell)))
}

# The product of these powers as multiples of columns, or NULL if the model does not have it. That of the first level of
# a factor is what the others leave.
of_columns <- function(power, variable, terms) {
  found <- get0(key_of(power), terms$column, inherits = FALSE)
  if (!is.null(found)) return(stats::setNames(1 / found$factor, found$name))
  if (all(power == 0)) return(constant_of(terms))
  for (name in names(power)[power > 0]) {
    e <- variable[[name]]
    if (!is.call(e) || !identical(e[[1]], quote(`==`))) next
    of <- Find(function(factor) identical(factor$e, e[[2]]), terms$levels)
    if (is.null(of) || !identical(of$levels[1], e[[3]])) next
    rest <- power[names(power) != name]
    others <- lapply(of$levels[-1], function(level) {
      one <- multiplied(list(factor = 1, variable = variable, power = rest), monomial(call("==", e[[2]], level)))
      get0(key_of(one$power), terms$column, inherits = FALSE)
    })
    whole <- of_columns(rest, variable, terms)
    if (is.null(whole) || any(vapply(others, is.null, NA))) next
    return(summed(c(list(whole), lapply(others, function(one) stats::setNames(-1 / one$factor, one$name)))))
  }
  NULL
}

# Without an intercept: the sum of all levels of a factor.
constant_of <- function(terms) {
  for (factor in terms$levels) {
    all <- lapply(factor$levels, function(level) {
      get0(key_of(monomial(call("==", factor$e, level))$power), terms$column, inherits = FALSE)
    })
    if (length(all) > 0L && !any(vapply(all, is.null, NA))) {
      return(vapply(stats::setNames(all, vapply(all, `[[`, "", "name")), function(one) 1 / one$factor, 0))
    }
  }
  NULL
}

summed <- function(multiples) {
  all <- unlist(unname(multiples))
  sums <- rowsum(all, names(all))
  stats::setNames(as.vector(sums), rownames(sums))
}

# Powers of predictors of the model, such as I(x^2), and products written by hand: their ranges follow from those of
# the predictors, by name. known: those that are products already.
powers_of <- function(design, known) {
  numeric <- design$columns$variable[design$columns$kind == "numeric"]
  text <- vapply(design$predictors[numeric], expression_text, "")
  open <- setdiff(numeric, c(names(known), design$smooth$added))
  of <- lapply(stats::setNames(nm = open), function(name) {
    m <- monomial(design$predictors[[name]])
    at <- match(names(m$power), text)
    if (sum(m$power) > 1 && !anyNA(at)) numeric[at]
  })
  Filter(Negate(is.null), of)
}

# ---- polynomials about the middles ----

# m: a monomial. Returns expression, range and lower, or NULL if no shift leads to columns of the model.
centred_power <- function(m, terms, known) {
  middle <- lapply(m$variable, function(e) if (can_shift(e)) known[[expression_text(e)]])
  shifted <- names(Filter(function(range) !is.null(range) && all(is.finite(range)), middle))
  for (size in rev(seq_along(shifted))) {
    for (chosen in utils::combn(shifted, size, simplify = FALSE)) {
      found <- shifted_power(m, middle[chosen], terms, known)
      if (!is.null(found)) return(found)
    }
  }
  NULL
}

can_shift <- function(e) {
  !is.call(e) || !function_name(e) %in% c("==", "contrast_column", "spline_column", "smooth_column", "crossed")
}

shifted_power <- function(m, ranges, terms, known) {
  polynomials <- Map(function(power, name) {
    if (is.null(ranges[[name]])) c(rep(0, power), 1) else about(ranges[[name]], power)
  }, m$power, names(m$power))
  cells <- expand.grid(lapply(m$power, function(power) 0:power))
  value <- m$factor * apply(mapply(function(p, k) p[k + 1L], polynomials, cells), 1L, prod)
  value <- if (nrow(cells) == 1L) m$factor else value
  used <- which(value != 0)
  lower <- lapply(setdiff(used, nrow(cells)), function(i) {
    of <- of_columns(unlist(cells[i, , drop = FALSE]), m$variable, terms)
    if (!is.null(of)) value[i] * of
  })
  if (any(vapply(lower, is.null, NA)) || !all(is.finite(value))) return(NULL)
  parts <- Map(function(e, name, power) {
    if (is.null(ranges[[name]])) return(plain_part(e, power, known))
    shifted_part(e, ranges[[name]], power)
  }, m$variable, names(m$variable), m$power)
  ends <- lapply(parts, `[[`, "range")
  range <- Reduce(function(a, b) range(outer(a, b)), ends) * m$factor
  if (!all(is.finite(range))) return(NULL)
  expression <- Reduce(function(a, b) call("*", a, b), lapply(parts, `[[`, "expression"))
  if (m$factor != 1) expression <- call("*", expression, m$factor)
  lower <- if (length(lower) > 0L) summed(lower)
  list(expression = expression, range = sort(range), lower = lower)
}

plain_part <- function(e, power, known) {
  if (power > 1) e <- call("^", e, power)
  list(expression = e, range = interval(e, known))
}

# Coefficients of the polynomial of degree k in t, of rising powers.
orthogonal <- function(k) {
  before <- 0
  p <- 1
  for (j in seq_len(k)) {
    b <- (j - 1) * (j + 1) / ((2 * j - 1) * (2 * j + 1))
    following <- c(0, p)
    following[seq_along(before)] <- following[seq_along(before)] - b * before
    before <- p
    p <- following
  }
  p
}

# The same of h^k P_k((x - c) / h) in x.
about <- function(range, k) {
  c <- mean(range)
  h <- diff(range) / 2
  in_d <- orthogonal(k) * h^(k - 0:k)
  out <- numeric(k + 1L)
  for (j in 0:k) out[1 + 0:j] <- out[1 + 0:j] + in_d[j + 1L] * choose(j, 0:j) * (-c)^(j - 0:j)
  out[k + 1L] <- 1
  out
}

# As an expression, by Horner's rule in the square, and its range.
shifted_part <- function(e, range, k) {
  c <- mean(range)
  h <- diff(range) / 2
  d <- plus(e, -c)
  p <- orthogonal(k) * h^(k - 0:k)
  p <- rev(p[seq(k %% 2, k, 2) + 1L])
  out <- if (length(p) > 1L) plus(call("^", d, 2), p[2]) else d
  for (b in p[-(1:2)]) out <- plus(call("*", out, call("^", d, 2)), b)
  if (k %% 2 == 1 && k > 1) out <- call("*", d, out)
  list(expression = out, range = h^k * polynomial_range(orthogonal(k)))
}

plus <- function(e, x) if (x == 0) e else if (x > 0) call("+", e, x) else call("-", e, -x)

# Its largest value on [-1, 1] is at the end, as of all Gegenbauer polynomials of a positive order.
polynomial_range <- function(p) {
  k <- length(p) - 1L
  most <- sum(p)
  if (k %% 2 == 1) return(c(-most, most))
  at <- Re(polyroot(p[-1] * seq_len(k)))
  c(min(vapply(c(0, at[abs(at) <= 1]), function(t) sum(p * t^(0:k)), 0)), most)
}
