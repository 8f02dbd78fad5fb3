# Losses in SQL, as functions of a predictor {t} and a response y.
#
# steps: columns that are computed first. short: expressions that are inserted in the text; each may use those before
# it. In all expressions a name in braces stands for the column of a step, a short expression or an entry of
# parameters(), and {log} for a logarithm of any base. value, slope, curvature, majorant: expressions; without a
# majorant, the constant bound of the curvature is used. zero: l(0, 0). range(p, reach): the smallest and the largest
# value minus l(0, 0), for predictors of size at most reach. own_steps, own_slope: where each record has a slope c of
# its own (src/loss/bounded_logistic.c).
# residual: the slope where it is a mean minus the response, on the lattice of the predictors; mean: this mean, as the
# curvature of counts. A loss without a value has residuals only. columns: those of a loss of several predictors, which
# class_layers() computes.
#
# No expression raises an error on any data. Arguments of EXP lie in [-300, 0], so that products of two of its values
# are at least 1e-261. Differences that may be near zero are rounded to multiples of 2^-52, so that their squares do not
# underflow.

exponent <- function(size) sprintf("EXP(-CASE WHEN %1$s > 3e2 THEN 3e2 ELSE %1$s END)", size)
above <- "CASE WHEN {m} < 0e0 THEN 1e0 ELSE {e} END"
margin <- list(m = "(y * {t})", s = "ABS({m})")

sql_losses <- list(
  logistic = list(
    short = margin, steps = list(e = exponent("{s}")), parameters = function(c) NULL,
    value = "{log}(1e0 + {e}) / {log}(2.718281828459045e0) + CASE WHEN {m} < 0e0 THEN {s} ELSE 0e0 END",
    slope = sprintf("-y * (%s) / (1e0 + {e})", above),
    own_steps = list(
      e = exponent("{s}"),
      g = sprintf("CASE WHEN c < 1e0 THEN %s WHEN c >= 1e0 THEN 0e0 END", exponent("({s} / (4e0 * (c - 5e-1)))"))
    ),
    own_slope = sprintf(paste("-y * (%s) * (CASE WHEN c < 1e0 THEN c - (c - 5e-1) * {g}",
                              "WHEN c >= 1e0 THEN 1e0 / (1e0 + {e}) END)"), above),
    curvature = "{e} / ((1e0 + {e}) * (1e0 + {e}))",
    majorant = "CASE WHEN {s} < 1e-4 THEN 0.25e0 - {s} * {s} / 48e0 ELSE (1e0 - {e}) / ((1e0 + {e}) * 2e0 * {s}) END",
    zero = function(c) log(2),
    range = function(c, reach) c(log1p(exp(-reach)), reach + log1p(exp(-reach))) - log(2)
  ),
  sigmoid = list(
    short = margin, steps = list(e = exponent("{s}")), parameters = function(c) NULL,
    value = sprintf("(%s) / (1e0 + {e})", above),
    slope = "-y * {e} / ((1e0 + {e}) * (1e0 + {e}))",
    curvature = paste("CASE WHEN {m} < 0e0 THEN -1e0 ELSE 1e0 END * {e} * (1e0 - {e}) /",
                      "((1e0 + {e}) * (1e0 + {e}) * (1e0 + {e}))"),
    zero = function(c) 1 / 2,
    range = function(c, reach) c(-1, 1) * tanh(reach / 2) / 2
  ),
  bounded_logistic = list(
    short = margin, steps = list(e = exponent("{s}"), g = exponent("{k} * {s}")),
    parameters = function(c) bounded_numbers(c),
    value = paste("CASE WHEN {m} < 0e0 THEN {c} - {q} + {c} * {s} - {r} * (1e0 - {g})",
                  "ELSE {e} * ({c} - {q} * {g}) END"),
    slope = sprintf("-y * (%s) * ({c} - {h} * {g})", above),
    curvature = "CASE WHEN {m} < 0e0 THEN {g} / 4e0 ELSE {e} * ({c} - ({c} - 0.25e0) * {g}) END",
    zero = function(c) c - bounded_numbers(c)$q,
    range = function(c, reach) {
      n <- bounded_numbers(c)
      low <- exp(-reach) * (c - n$q * exp(-n$k * reach))
      c(low - (c - n$q), c * reach - n$r * (1 - exp(-n$k * reach)))
    }
  ),
  huber = list(
    short = list(u = "({t} - y)", s = "((ABS({u}) + 1e0) - 1e0)"),
    steps = list(d = "CASE WHEN {s} < {c} THEN {s} ELSE {c} END"),
    parameters = function(c) list(c = c),
    value = "{d} * ({s} - {d} / 2e0)",
    slope = "CASE WHEN {u} < 0e0 THEN -{d} ELSE {d} END",
    zero = function(c) 0,
    range = function(c, reach) c(0, huber_at(c, 1 + reach))
  ),
  huber_svm = list(
    short = list(v = "(1e0 - y * {t})", r = "CASE WHEN {v} > {h} THEN {h} WHEN {v} < -{h} THEN -{h} ELSE {v} END"),
    steps = list(s = "(({r} + {h}) / (2e0 * {h}) + 1e0) - 1e0"),
    parameters = function(c) list(h = c),
    value = "{h} * {s} * {s} + CASE WHEN {v} > {h} THEN {v} - {h} ELSE 0e0 END",
    slope = "-y * {s}",
    zero = function(c) 1,
    range = function(c, reach) svm_at(c, 1 + c(-1, 1) * reach) - 1
  ),
  squared = list(residual = "(({t} - y) + 1e0) - 1e0"),
  poisson = list(
    short = list(v = "CASE WHEN y > 0e0 THEN y WHEN y <= 0e0 THEN 0e0 END", a = "({top} - {t})"),
    steps = list(e = sprintf("CASE WHEN {a} > 0e0 THEN %s WHEN {a} <= 0e0 THEN 1e0 END", exponent("{a}"))),
    parameters = function(c) list(top = log(c)),
    value = "{e} + CASE WHEN {a} < 0e0 THEN -{a} WHEN {a} >= 0e0 THEN 0e0 END - ({v}) * {t}",
    slope = "(({e} - ({v})) + 1e0) - 1e0", residual = "(({e} - ({v})) + 1e0) - 1e0", mean = "{e}",
    zero = function(c) 1 / c,
    range = function(c, reach) poisson_range(log(c), reach) - 1 / c
  ),
  multinomial = list(
    columns = c("d", "m", "v"),
    zero = function(c) log(c),
    range = function(c, reach) c(-min(sqrt(2) * reach, log(c)), sqrt(2) * reach)
  )
)

# As in src/loss/bounded_logistic.c, where r is h / k.
bounded_numbers <- function(c) {
  h <- c - 1 / 2
  k <- 1 / (4 * h)
  list(c = c, h = h, k = k, q = h / (1 + k), r = h / k)
}

# As in src/loss/poisson.c: the loss is linear in the response.
poisson_range <- function(top, reach) {
  at <- function(y, t) exp(-pmax(top - t, 0)) + pmax(t - top, 0) - y * t
  c(min(at(0, -reach), at(1, min(reach, top))), max(at(0, reach), at(1, -reach)))
}

huber_at <- function(c, size) ifelse(size <= c, size^2 / 2, c * (size - c / 2))
svm_at <- function(h, v) h * pmin(pmax((v + h) / (2 * h), 0), 1)^2 + pmax(v - h, 0)
