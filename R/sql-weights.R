# What a record weighs: the factors of a record in a sum, called weights here, and the bounds of these.
#
# A list of
#   form      how they enter the sum: "each" by itself, "vector" and "matrix" times the row, "squares" times its square,
#             "vectors", each times the row, "moments" and "response" as these say
#   f         their expressions, in terms of the loss and of the columns l, c, s of a weighted row, of y,
#             and of a, the direction's predictor; lengths: which of these columns are needed
#   steps     where f are differences: what they are differences of
#   residual  do they use r and h, the residual and its size? slopes: q1, ..., the slopes of several classes, and r, the
#             square of their norm? square: q, that of the row's length? plain: neither loss nor point? classes: is a
#             weight bounded by its record's class?
#   untilted  TRUE for the loss at the predictors themselves
#   prior     the power of the record's own weight in them
#   low, high the bounds as integers; units: the larger one before rounding; scale: of one unit; joint: a condition on
#             all of a record's integers, or NULL; exact: has a share all digits?
#   constant  what is added to the sum of all records; worth: the size of one unit

sql_weights <- function(plan, what) with_shares(plan, weights_of_records(plan, what))

# Multipliers of rows of 2^20 units take a share with all digits, others are cut.
with_shares <- function(plan, weights) {
  if (is.null(plan$persons)) return(weights)
  weights$exact <- weights$form %in% c("vector", "vectors") && weights$units == unit
  if (weights$exact) weights$worth <- weights$worth / max_records
  weights
}

weights_of_records <- function(plan, what) {
  loss <- sql_losses[[plan$loss$name]]
  of_all <- weights_of_all(plan, what)
  if (!is.null(of_all)) return(of_all)
  if (what$word == "improvement") return(improvement_weights(plan, what, loss))
  if (has_outputs(plan)) return(weights_of_classes(plan, what, loss))
  if (is_weighted(plan)) return(weights_of_lengths(plan, what, loss))
  parameter <- plan$loss$parameter
  bounds <- loss_bounds(plan$loss)
  switch(what$word,
    value = value_weights(plan, what, loss$value, loss),
    decreases = decrease_weights(plan, what, loss$value, loss, bounds),
    gradient = new_weights("vector", loss$slope, c(-1, 1) * bounds[["lipschitz"]]),
    "clipped gradient" = clipped_slope(plan, loss, bounds[["lipschitz"]], what$clip),
    products = new_weights("matrix", sprintf("(%1$s) * (%1$s)", loss$slope), c(0, bounds[["lipschitz"]]^2), prior = 2),
    hessian = curvature_weights("matrix", "hessian", loss, bounds, plan),
    majorant = curvature_weights("matrix", "majorant", loss, bounds, plan),
    curvature = curvature_weights("matrix", what$curvature, loss, bounds, plan),
    trace = curvature_weights("squares", what$curvature, loss, bounds, plan)
  )
}

# The slope, with the record's weight, at most the clip over the length of the row. Its integers have 40 bits, as the
# clip may be small, and are checked with the squared length q (proofs: push-down-classes).
clipped_slope <- function(plan, loss, most, clip) {
  number <- plan$dialect$number
  slope <- sprintf("(%s)%s", loss$slope, strrep(" * p", length(prior_weight(plan))))
  limit <- sprintf("%s / SQRT(q)", number(plan$unit * inner_clip(clip, most, 1)))
  f <- sprintf("CASE WHEN q > 0 THEN (%s) WHEN q = 0 THEN %s END", clipped_to(slope, limit), number(0))
  within_clip(plan, new_weights("vector", f, c(-1, 1) * most, fine, prior = 0), most, clip)
}

# Below the clip and the bound of the slopes, so that rounding numbers of this many outputs exceeds no limit.
inner_clip <- function(clip, most, outputs) max(0, min(clip, most) - (sqrt(outputs) / 2 + 1) * most / fine)

within_clip <- function(plan, weights, most, clip) {
  squares <- add_up(sprintf("CAST(%1$s AS %2$s) * %1$s", weights$names, plan$dialect$float))
  limit <- (min(clip, most) / most * fine * plan$unit)^2 * (1 - 2^-40)
  weights$joint <- sprintf("(%s) * q <= %s", squares, plan$dialect$number(limit))
  weights$square <- TRUE
  weights
}

size_of <- function(x) sqrt(sum(x^2))

value_weights <- function(plan, what, value, loss) {
  range <- loss$range(plan$loss$parameter, size_of(what$at) + plan$shift)
  zero <- loss$zero(plan$loss$parameter)
  new_weights("each", sprintf("%s - %s", value, plan$dialect$number(zero)), range, fine,
              if (is.null(plan$persons)) plan$n * zero else 0) # see query_value.c
}

decrease_weights <- function(plan, what, value, loss, bounds) {
  length <- what$steps * size_of(what$along)
  reach <- size_of(what$at) + plan$shift + length
  range <- vapply(reach, function(reach) diff(loss$range(plan$loss$parameter, reach)), 0)
  most <- pmin(bounds[["lipschitz"]] * length, range)
  new_weights("each", sprintf("f%d - f%d", 0, seq_along(what$steps)), rbind(-most, most), fine, steps = value)
}

# The loss itself, without the slopes and weights of long rows (src/barrier/query_improvement.c).
improvement_weights <- function(plan, what, loss) {
  number <- plan$dialect$number
  value <- if (has_outputs(plan)) class_value else loss$value %||% {
    r <- clipped_to(loss$residual, number(what$clip))
    sprintf("(%1$s) * (%1$s) / 2e0", r)
  }
  f <- sprintf("CASE WHEN %1$s > %2$s THEN %2$s WHEN %1$s < -(%3$s) THEN -(%3$s) WHEN %1$s >= -(%3$s) THEN %1$s END",
               "(f0 - f1)", number(what$steps[2]), number(what$steps[1]))
  weights <- new_weights("each", f, c(-1, 1) * what$steps[1:2], fine, steps = value)
  weights$untilted <- TRUE
  weights
}

curvature_weights <- function(form, curvature, loss, bounds, plan) {
  upper <- bounds[["curv_upper"]]
  if (curvature == "hessian") return(new_weights(form, loss$curvature, c(-bounds[["curv_lower"]], upper)))
  new_weights(form, loss$majorant %||% plan$dialect$number(upper), c(0, upper))
}

# range: lower and upper for each weight, in columns. A weight with a tiny bound is zero.
new_weights <- function(form, f, range, units = unit, constant = 0, steps = NULL, prior = 1, lengths = character(),
                        residual = FALSE) {
  range <- matrix(range, 2L)
  size <- pmax(-range[1, ], range[2, ])
  scale <- ifelse(size > 1e-200, units / size, 0)
  list(form = form, f = f, names = paste0("g", if (form %in% c("each", "vectors")) seq_along(f)), steps = steps,
       constant = constant, prior = prior, low = -floor(-range[1, ] * scale), high = floor(range[2, ] * scale),
       units = units, scale = scale, worth = ifelse(scale > 0, size / units, 0), lengths = lengths, residual = residual)
}

# Sums that no loss and no point decides: of rows, responses and usable records.
weights_of_all <- function(plan, what) {
  one <- plan$dialect$number(1)
  weights <- switch(what$word,
    usable = new_weights("each", one, c(0, 1), prior = 0),
    moments = new_weights("moments", one, c(0, 1), prior = 0),
    "weighted moments" = new_weights("moments", one, c(0, 1)),
    response = new_weights("response", one, c(0, 1)),
    squares = if (!is_weighted(plan)) new_weights("matrix", one, c(0, 1), prior = 0),
    weighted = weighted_matrix(plan),
    "class counts" = counts_of_classes(plan),
    "row lengths" = hat_weights(plan, what$steps, "l", lengths = "l")
  )
  if (!is.null(weights)) weights$plain <- TRUE
  weights
}

# A record's weight multiplies what is cut at the cap, as in model_row_weights().
weighted_matrix <- function(plan) {
  residuals <- has_residuals(plan$loss)
  new_weights("matrix", if (residuals) "s * s" else "s * l", c(0, plan$geometry$cap^2), matrix_unit(plan),
              prior = as.numeric(residuals), lengths = c("l", "s"))
}

# Of weighted rows, which are l times a vector: the multipliers of this vector. The weight of a row's class is known by
# its sign, and so is the sign of its slope (proofs: tilt).
weights_of_lengths <- function(plan, what, loss) {
  if (has_residuals(plan$loss)) return(weights_of_residuals(plan, what))
  if (is_damped(plan)) return(weights_of_damped(plan, what, loss))
  number <- plan$dialect$number
  g <- plan$geometry
  slope <- loss$own_slope %||% loss$slope
  lengths <- c("c", "s")
  most <- g$bound * (1 + abs(g$tilt))
  if (g$tilt == 0) return(new_weights("vector", sprintf("(%s) * s", slope), c(-1, 1) * most, lengths = lengths))
  class <- sprintf("CASE WHEN y > 0 THEN %s WHEN y < 0 THEN %s END", number(1 + g$tilt), number(1 - g$tilt))
  weights <- new_weights("vector", sprintf("(%s) * s * %s", slope, class), c(-1, 1) * most, lengths = lengths)
  weights$classes <- floor(unit * c(1 + g$tilt, 1 - g$tilt) / (1 + abs(g$tilt)))
  weights
}

# The slope times the length is clipped to the bound; s is the shorter of length and cap (proofs: damped-rows).
weights_of_damped <- function(plan, what, loss) {
  g <- plan$geometry
  slope <- clipped_to(sprintf("(%s) * l", loss$slope), plan$dialect$number(g$bound))
  most <- g$cap^2 * loss_bounds(plan$loss)[c("curv_lower", "curv_upper")] * c(-1, 1)
  switch(what$word,
    gradient = new_weights("vector", slope, c(-1, 1) * g$bound, lengths = "l"),
    products = new_weights("matrix", sprintf("(%1$s) * (%1$s)", slope), c(0, g$bound^2), matrix_unit(plan), prior = 2,
                           lengths = "l"),
    "residual counts" = counts_of_sizes(plan, what),
    hessian = new_weights("matrix", sprintf("(%s) * s * s", loss$curvature), most, matrix_unit(plan), lengths = "s")
  )
}

# ---- residuals (src/barrier/query_residual.c; proofs: push-down-residuals) ----

# s is the shorter of length and cap, so that a residual clipped to the row's limit, times the length, is the product
# clipped to the clip times s. The cap may be the query's.
weights_of_residuals <- function(plan, what) {
  number <- plan$dialect$number
  clip <- what$clip
  own <- isTRUE(what$cap > 0)
  cap <- if (own) what$cap else plan$geometry$cap
  within <- clipped_to("r * l", paste0(number(clip), " * ", if (own) shorter(plan, cap) else "s"))
  of_residual <- function(...) new_weights(..., residual = TRUE)
  switch(what$word,
    "residual gradient" = of_residual("vector", within, c(-1, 1) * clip * cap, lengths = c("l", "s")),
    "residual products" = of_residual("matrix", sprintf("(%1$s) * (%1$s)", within), c(0, (clip * cap)^2),
                                      matrix_unit(plan), prior = 2, lengths = c("l", "s")),
    "residual hessian" = {
      one <- if (isTRUE(what$within > 0)) ramp_weight(number, what$within) else number(1)
      curvature <- clipped_to(sql_losses[[plan$loss$name]]$mean %||% one, number(clip))
      length <- shorter(plan, hessian_longer * cap)
      of_residual("matrix", sprintf("(%1$s) * (%2$s) * (%2$s)", curvature, length),
                  c(0, clip * (hessian_longer * cap)^2), matrix_unit(plan), lengths = "l")
    },
    "residual counts" = counts_of_sizes(plan, what),
    recalibration = {
      r <- clipped_to("r", number(clip))
      product <- sprintf("(%s) * (%s) / 2e0", r, clipped_to("a", number(2)))
      both <- c(r, if (length(what$along) > 0L) product)
      of_residual("each", both, rep(c(-1, 1) * clip, length(both)), fine)
    }
  )
}

hessian_longer <- 1.3 # LONGER in src/barrier/query_residual.c
hessian_ramp <- 0.25  # RAMP there

# The length of a row, up to a number.
shorter <- function(plan, most) {
  sprintf("CASE WHEN l > %1$s THEN %1$s WHEN l <= %1$s THEN l END", plan$dialect$number(most * room(plan)))
}

ramp_weight <- function(number, within) {
  low <- number((1 - hessian_ramp) * within)
  high <- number((1 + hessian_ramp) * within)
  sprintf("CASE WHEN h <= %1$s THEN 1e0 WHEN h >= %2$s THEN 0e0 WHEN h > %1$s THEN (%2$s - h) * %3$s END", low, high,
          number(1 / (2 * hessian_ramp * within)))
}

counts_of_sizes <- function(plan, what) {
  lengths <- if (isTRUE(what$cap > 0)) "l" else character()
  c(hat_weights(plan, what$steps, residual = TRUE, lengths = lengths), list(size = size_text(plan, what)))
}

# What is counted in place of h, the size of the residual r.
size_text <- function(plan, what) {
  number <- plan$dialect$number
  size <- "ABS(r)"
  if (isTRUE(what$clip > 0)) {
    size <- sprintf("CASE WHEN %1$s > %2$s THEN %2$s WHEN %1$s <= %2$s THEN %1$s END", size, number(what$clip))
  }
  if (!isTRUE(what$cap > 0)) return(size)
  cap <- number(what$cap)
  sprintf("(%1$s) * CASE WHEN l > %2$s THEN 1e0 WHEN l <= %2$s THEN l * %3$s END", size, cap, number(1 / what$cap))
}

# NULL where x is.
clipped_to <- function(x, limit) {
  sprintf("CASE WHEN %1$s > %2$s THEN %2$s WHEN %1$s < -(%2$s) THEN -(%2$s) WHEN %1$s >= -(%2$s) THEN %1$s END",
          x, limit)
}

# A residual between two ends counts at both. The integers of a record are not negative, and their sum, which rounding
# would make one unit longer, is at most the unit.
hat_weights <- function(plan, ends, of = "h", ...) {
  number <- plan$dialect$number
  k <- length(ends)
  hats <- vapply(seq_len(k), function(j) {
    rise <- if (j > 1L) hat_side(number, of, ends[j - 1L], ends[j])
    fall <- if (j < k) hat_side(number, of, ends[j + 1L], ends[j])
    outside <- c(if (j > 1L) sprintf("WHEN %s <= %s THEN 0e0", of, number(ends[j - 1L])),
                 if (j < k) sprintf("WHEN %s >= %s THEN 0e0", of, number(ends[j + 1L])))
    peak <- sprintf("WHEN %4$s >= %1$s THEN %2$s WHEN %4$s < %1$s THEN %3$s", number(ends[j]), fall %||% "1e0",
                    rise %||% "1e0", of)
    paste("CASE", paste(c(outside, peak), collapse = " "), "END")
  }, "")
  weights <- new_weights("each", hats, rep(c(0, 1), k), fine, ...)
  weights$scale <- weights$scale - 1
  weights$joint <- sprintf("%s <= %.0f", add_up(weights$names), fine)
  weights
}

# The line that is zero at `from` and one at `to`.
hat_side <- function(number, of, from, to) sprintf("(%s - %s) * %s", of, number(from), number(1 / (to - from)))

# ---- several classes (src/barrier/query_classes.c; proofs: push-down-classes) ----

weights_of_classes <- function(plan, what, loss) {
  bounds <- loss_bounds(plan$loss)
  slope <- bounds[["lipschitz"]]
  # The gradient of weighted rows is that of clipped slopes, with a clip that no slope exceeds.
  clipped <- what$word == "class gradient" || what$word == "gradient" && is_weighted(plan)
  clip <- if (what$word == "gradient") slope else min(what$clip, slope)
  own <- isTRUE(what$cap > 0)
  length <- if (own) shorter(plan, what$cap) else "s"
  longest <- (if (own) what$cap else plan$geometry$cap) * room(plan)
  if (clipped) return(slope_vectors(plan, clip / room(plan), longest, paste(length, "* "), if (own) "l" else "s"))
  switch(what$word,
    value = value_weights(plan, what, class_value, loss),
    gradient = slope_vectors(plan, slope, 1, ""),
    "clipped gradient" = clipped_slopes(plan, seq_len(outputs_of(plan)), slope, what$clip)
  )
}

# Slopes that are clipped, times a length of at most `longest`. The integers of a record are a vector no longer than
# one, which is checked: roundings may make it longer by sqrt(K) / 2.
slope_vectors <- function(plan, clip, longest, length, lengths = character()) {
  k <- seq_len(outputs_of(plan))
  limit <- plan$dialect$number(clip * (1 - (sqrt(length(k)) / 2 + 1) / unit))
  factor <- sprintf("CASE WHEN r > %1$s * %1$s THEN %1$s / SQRT(r) WHEN r <= %1$s * %1$s THEN 1e0 END", limit)
  weights <- new_weights("vectors", paste0("q", k, " * ", length, factor), rep(c(-1, 1) * clip * longest, length(k)),
                         lengths = lengths)
  weights$joint <- sprintf("%s <= %.0f", add_up(paste(weights$names, "*", weights$names)), unit^2)
  weights$slopes <- TRUE
  weights
}

clipped_slopes <- function(plan, classes, most, clip) {
  number <- plan$dialect$number
  p <- if (is.null(plan$weight)) "" else "p * "
  size <- sprintf("(%1$s%1$sr * q)", p)
  limit <- plan$unit * inner_clip(clip, most, length(classes))
  factor <- sprintf("%1$sCASE WHEN %2$s > %3$s THEN %4$s / SQRT(%2$s) WHEN %2$s <= %3$s THEN 1e0 END", p, size,
                    number(limit^2), number(limit))
  weights <- new_weights("vectors", paste0("q", classes, " * ", factor), rep(c(-1, 1) * most, length(classes)), fine,
                         prior = 0)
  weights$slopes <- TRUE
  within_clip(plan, weights, most, clip)
}

counts_of_classes <- function(plan) {
  class <- if (has_outputs(plan)) paste("y =", seq_len(outputs_of(plan))) else c("y <= 0", "y > 0")
  weights <- new_weights("each", sprintf("CASE WHEN %s THEN 1e0 WHEN NOT (%1$s) THEN 0e0 END", class),
                         rep(c(0, 1), length(class)), fine)
  weights$joint <- sprintf("%s <= %.0f", add_up(weights$names), fine)
  weights
}

class_value <- "{log}({d}) / {log}(2.718281828459045e0) + ({m} - {v})"

outputs_of <- function(plan) loss_outputs(plan$loss)
has_outputs <- function(plan) outputs_of(plan) > 1L

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
