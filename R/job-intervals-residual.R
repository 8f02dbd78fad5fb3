# Intervals of fits by residuals (method-residual.R), which are about the coefficients of lm(), of Huber's loss or of
# glm(). They are in the coordinates of the fit's last steps, whose rows z have a norm of about one. With the residual r
# a record adds at most what few of the products of |z| and |r| exceed:
#   lengths   noisy counts of |z| tell the length R_H from which on rows weigh less in the Hessian. Smaller weights
#             there make the step too long for the others, so that R_H is as large as its noise allows
#   sizes     noisy counts of |r| min(|z|, longest) at the solution w tell the clip L, see read_tail()
#   residuals noisy counts of |r|, for the scale of residuals and intervals of predictions; not of counts
#   hessian   at w, of rows up to R_H
#   first     a gradient at w, and a Newton step from there, as what R_H does is in proportion to the distance from the
#             minimiser; of counts only where its noise hardly moves the predictors, and at most so far that these move
#             by a half, as second derivatives are other ones there
#   gradient  at the new point: the mean of z clip(r, L / |z|)
#   products  the second moments of its terms
# The rest is one_step(). The gradient has a bias of at most b(L), the mean of what is cut off, whose direction nobody
# knows: half of it counts as an error of each coordinate.
#
# For counts second derivatives are means, of which few exceed exp(inference_reach) times the level, with the standard
# deviation of the predictors as its unit: there they are clipped, which makes intervals wider. Residuals of Huber's
# loss are clipped to its c first, and their second derivatives end there.
#
# The second derivatives of counts grow with the predictor, so that a long Newton step v ends beside the minimiser: by
# about v |z'v| / 2, if rows z have most of the weight that v moves by z'v. The distance in the direction of v has a
# standard error of inference_bend |v| R_H |v| for this.
#
# Predictions are those of the solution, which has less noise than its steps.

inference_residuals <- list(
  bounded = c(lengths = 0.03, sizes = 0.10, counts = 0.03, first = 0.08, gradient = 0.44, hessian = 0.26,
              products = 0.06),
  count = c(lengths = 0.03, sizes = 0.10, first = 0.12, gradient = 0.43, hessian = 0.26, products = 0.06)
)
inference_reach <- 2
inference_ends <- 25L       # of the counts of residuals, from the largest one on by a factor of sqrt(2) downwards
inference_size_ends <- 31L  # the same of sizes
inference_length_ends <- 17L # of lengths, by a factor of 2^(1/4)
inference_long <- c(fraction = 0.003, doubt = 2) # rows beyond R_H: this, and standard deviations of its noise
inference_kappa <- 0.25     # largest norm of the noise of the Hessian, over its usual eigenvalues, times p
inference_first_most <- 0.05    # largest variance of the predictors of counts by the noise of the first step
inference_first_far <- 0.5      # how far it moves predictors of counts at most, of rows with the length R_H
inference_bend <- 0.25          # see above (inst/experiments/counts-step-rule.R)

# What a fit by residuals knows of the mapped response: job$level and, from the core, the factor by which the run
# rescaled the columns and the variance of the predictors over the records.
known_level <- function(job) {
  if (!is.null(job$level)) c(job$level, job$answer$result[c("factor", "variance")])
}

# job: or a claim. geometry: in the coordinates of the run's last steps.
residual_facts <- function(job, level, geometry = job$geometry, checks = NULL) {
  geometry[c("scale", "spread")] <- lapply(geometry[c("scale", "spread")], `*`, level$factor)
  list(design = job$design, response = job$response, geometry = geometry, level = level, loss = job$loss,
       checks = checks)
}

# Huber's c for the mapped response, by the scale of residuals where the run found none; zero for other losses.
huber_width_of <- function(facts, scale) {
  if (!is_huber(facts$loss)) return(0)
  c <- if (is.null(facts$loss[["c"]])) (facts$loss[["k"]] %||% huber_k) * scale[["sd"]] else
    facts$loss[["c"]] / facts$response$half
  min(c, facts$level$most)
}

# oracle: in the coordinates of facts$geometry; solution: coefficients of the columns, for the mapped response.
infer_residuals <- function(oracle, facts, solution, rho, n) {
  released <- release_residuals(oracle, facts, to_geometry(facts$geometry, core_start(facts$design, solution)), rho, n)
  p <- length(released$point)
  longer <- longer_columns(facts, released$longest)
  short <- shorter_columns(released, facts$geometry, longer)
  step <- one_step(short$released, facts$design, nothing_known(p), sqrt(p) * facts$level$spread,
                   usual_residual(released, facts), inference_allowed * released$tail$bias / longer,
                   constant_curvature(facts$design, short$geometry, facts$checks))
  step <- with_rare(step, short$released, rarely_known(facts, released$longest))
  found <- step_intervals(with_bend(step, short$released, facts), facts$design, short$geometry, step)
  found$predictor <- solution
  c(list(type = "sandwich", released = released), in_units(found, facts$response))
}

# The standard deviation that residuals have at least, where their size and the row have nothing to do with each other:
# of counts that of a Poisson distribution, whose variance is the mean.
usual_residual <- function(released, facts) {
  if (facts$response$kind == "count") return(sqrt(facts$level$event))
  if (released$within > 0) min(released$scale[["sd"]], released$within) else released$scale[["sd"]]
}

release_residuals <- function(oracle, facts, point, rho, n) {
  shares <- inference_residuals[[facts$response$kind]]
  cost <- shares / sum(shares) * rho * (1 - 1e-12)
  o <- oracle$pointer
  reproducible <- oracle$noise == "reproducible"
  level <- facts$level
  longest <- longest_row(facts$design, facts$geometry)
  counted <- function(ends, answer) c(new_counts(answer), list(ends = ends))

  ends <- longest * 2^((seq_len(inference_length_ends) - inference_length_ends) / 4)
  lengths <- counted(ends, .Call(ffi_oracle_row_lengths, o, ends, cost[["lengths"]], reproducible))
  residuals <- if (facts$response$kind == "bounded") released_scale(o, point, level, cost[["counts"]], reproducible)
  within <- huber_width_of(facts, residuals$scale)
  most <- if (within > 0) within else level$most
  ends <- most * 2^((seq_len(inference_size_ends) - inference_size_ends) / 2)
  sizes <- counted(ends, .Call(ffi_oracle_residual_counts, o, point, ends, most, longest, cost[["sizes"]],
                               reproducible))

  tail <- read_tail(sizes, tail_fraction(facts) / (n * sqrt(2 * cost[["gradient"]])), tail_powers(facts), level$present)
  tail[c("clip", "bias")] <- lapply(tail[c("clip", "bias")], `*`, longest)
  clip <- max(tail$clip, if (facts$response$kind == "count") level$event)
  cap <- clip / most

  curvature <- largest_curvature(facts$response, level)
  rows <- hessian_length(lengths, facts, longest, n, cost[["hessian"]], curvature)
  hessian <- .Call(ffi_oracle_residual_hessian, o, point, curvature, rows / hessian_longer, within,
                   cost[["hessian"]], reproducible)
  gradient_at <- function(point, rho) .Call(ffi_oracle_residual_gradient, o, point, most, cap, rho, reproducible)
  to_first <- first_step(hessian, facts, clip, n, cost[["first"]], longer_columns(facts, rows))
  if (is.null(to_first)) cost[["gradient"]] <- cost[["gradient"]] + cost[["first"]]
  else point <- point - not_far(drop(to_first %*% gradient_at(point, cost[["first"]])$gradient), facts, rows)

  gradient <- gradient_at(point, cost[["gradient"]])
  products <- .Call(ffi_oracle_residual_products, o, point, most, cap, cost[["products"]], reproducible)
  c(list(point = point, lengths = lengths, sizes = sizes, tail = tail, clip = clip, longest = rows,
         within = within), residuals,
    list(gradient = new_release(gradient$gradient, gradient$sd), hessian = new_release(hessian$hessian, hessian$sd),
         products = new_release(products$products, products$sd), n = n))
}

new_counts <- function(answer) list(counts = new_release(answer$counts, answer$sd))

released_scale <- function(o, point, level, rho, reproducible) {
  ends <- level$most * 2^((seq_len(inference_ends) - inference_ends) / 2)
  answer <- .Call(ffi_oracle_residual_counts, o, point, ends, 0, 0, rho, reproducible)
  scale <- .Call(ffi_residual_scale, ends, answer$counts, answer$sd, level$present)
  c(new_counts(answer), list(ends = ends, scale = scale))
}

# The length of the longest row that the ranges allow.
longest_row <- function(design, geometry) {
  box <- mapped_columns(design)$box
  far <- geometry$scale * pmax(abs(box[, 1] - geometry$centre), abs(box[, 2] - geometry$centre))
  sqrt((if (design$intercept) geometry$constant^2 else 0) + sum(far^2))
}

# R_H: the length that few rows exceed, where the noise of the Hessian allows it.
hessian_length <- function(lengths, facts, longest, n, rho, curvature) {
  k <- inference_length_ends
  beyond <- rev(cumsum(rev(as.vector(lengths$counts))))
  enough <- inference_long[["fraction"]] + inference_long[["doubt"]] * attr(lengths$counts, "sd") * sqrt(k:1)
  reach <- lengths$ends[min(max(which(beyond >= enough), 1) + 1, k)]
  p <- design_dim(facts$design)
  usual <- if (facts$response$kind == "count") facts$level$curvature else 1
  noise <- sqrt(2) * curvature / (n * sqrt(2 * rho))
  max(facts$geometry$cap, min(reach, longest, sqrt(inference_kappa * usual / (p * sqrt(2 * p) * noise))))
}

# The matrix of the first step, or NULL. longer: see longer_columns().
first_step <- function(hessian, facts, clip, n, rho, longer) {
  p <- nrow(hessian$hessian)
  e <- eigen(hessian$hessian, symmetric = TRUE)
  values <- pmax(e$values, 2 * step_floor * hessian$sd * sqrt(2 * p))
  if (facts$response$kind == "count") {
    moved <- (2 * clip / n)^2 / (2 * rho) * sum(1 / values) / facts$level$curvature
    if (moved > inference_first_most) return(NULL)
  }
  recompose(e$vectors, 1 / values) / outer(longer, longer)
}

not_far <- function(step, facts, rows) {
  if (facts$response$kind != "count") return(step)
  step * min(1, inference_first_far / (rows * sqrt(sum(step^2))))
}

# Adds the error of a long step of counts to its covariance.
with_bend <- function(step, released, facts) {
  if (facts$response$kind != "count") return(step)
  v <- released$point - step$w
  step$covariance <- step$covariance + inference_bend^2 * released$longest^2 * sum(v^2) * tcrossprod(v)
  step
}

largest_curvature <- function(response, level) {
  if (response$kind != "count") return(1)
  min(level$curvature * exp(inference_reach * sqrt(level$variance)), 1)
}

# ---- rare values ----

longer_doubt <- 1 # standard deviations of noise that are added to the distance m, and to the fraction q
longer_error <- 1 # relative, of the curvature of a column whose range is private
longer_rare <- 0.5 # where its rare values have a coordinate of more than this, over R_H

# A row with a rare level, or with a rare value of a column, is long by its own coordinate, and weighs less in the
# Hessian, by a factor of (R_H / |z|)^2. The coefficient's curvature would be too small by this factor, and steps go far
# beyond the minimiser and back. But how long such rows are is known: see own_length(); other coordinates are as rows
# have them on average. So the released Hessian is taken for that of columns that are shorter by the root of this
# factor, and the other releases are brought to their coordinates.
#
# Returns the length of such rows over R_H, at least one, for each coefficient.
longer_columns <- function(facts, longest) {
  geometry <- facts$geometry
  usual <- usual_square(facts)
  constant <- if (geometry$intercept) geometry$constant else 0
  own <- own_length(facts, usual)
  c(if (geometry$intercept) 1, pmax(1, sqrt(own^2 + sum(usual) - usual + constant^2) / longest))
}

# Mean squares of the coordinates of columns.
usual_square <- function(facts) facts$level$factor^2 * facts$geometry$spread^2 / sum(facts$geometry$spread^2)

# The length of rows with the rare value of a column is known as well as the column's variance and the fraction of these
# rows. In a private range, which may be several times as wide as the values, noise hides both: the curvature, and with
# it the part of the distance to the minimiser that the step goes, may be wrong by longer_error.
with_rare <- function(step, released, rare) {
  v <- released$point - step$w
  diag(step$covariance) <- diag(step$covariance) + (longer_error * rare * v)^2
  step
}

rarely_known <- function(facts, longest) {
  if (!facts$geometry$intercept) return(FALSE)
  columns <- names_in_order(facts$design) %in% rownames(facts$checks$ranges)
  if (!any(columns)) return(FALSE)
  c(FALSE, columns & own_length(facts, usual_square(facts)) > longer_rare * longest)
}

# The coordinate of rows with the level of an indicator, or with the rare value of a column that has one value but for
# few: if its variance is v, and the distance of its mean from this value m, v / m. This value is an end of the range,
# or zero, where noisy counts tell the fraction q of other values: v (1 - q) / q is the square then. For other columns
# this is about their spread, or less.
own_length <- function(facts, usual) {
  geometry <- facts$geometry
  ends <- geometry$scale * abs(mapped_columns(facts$design)$box - geometry$centre)
  most <- pmax(ends[, 1], ends[, 2])
  if (!geometry$intercept) return(most)
  mean <- pmin(ends[, 1], ends[, 2]) + longer_doubt * geometry$scale * (geometry$centre_sd %||% 0)
  own <- usual / mean
  ranges <- facts$checks$ranges
  at <- match(names_in_order(facts$design), rownames(ranges))
  if (!is.null(ranges)) {
    q <- pmax(ranges[at, "others"], 0) + longer_doubt * pmin(ranges[at, "below_sd"], ranges[at, "above_sd"])
    own <- pmax(own, sqrt(usual * pmax(1 - q, 0) / q), na.rm = TRUE)
  }
  ifelse(column_groups(facts$design)[-1] > 0L, most, pmin(own, most))
}

# Of the columns, in the order of the geometry.
names_in_order <- function(design) if (!is_matrix_design(design)) design$columns$name[design_order(design)[-1] - 1L]

# The releases and the geometry in coordinates that are shorter by `longer`.
shorter_columns <- function(released, geometry, longer) {
  slopes <- if (geometry$intercept) longer[-1] else longer
  geometry[c("scale", "spread")] <- lapply(geometry[c("scale", "spread")], `/`, slopes)
  released$point <- released$point * longer
  divided <- function(x, by, sd) new_release(as.vector(x) / as.vector(by), attr(x, "sd") / sd)
  released$gradient <- divided(released$gradient, longer, longer)
  p <- length(longer)
  products <- divided(released$products, outer(longer, longer), longer^2)
  released$products <- structure(matrix(products, p), sd = attr(products, "sd"))
  list(released = released, geometry = geometry)
}

# ---- the clip of the gradient ----

# The noise of a gradient clipped to L has a standard deviation of 2 L / (n mu) in each coordinate, and its bias is at
# most b(L), the mean of (s - L)+ for the sizes s. If a fraction S(x) of the records has sizes beyond x and falls like
# x^-a from L on, b(L) = S(L) L / (a - 1), and both are equal at S(L) = 2 (a - 1) / (n mu): so L is where a fraction of
# q / (n mu) is beyond. Noise hides such a fraction. The last end that noisy counts show, x, and the power of the
# fraction before it tell L. The power is uncertain, so that its logarithm is averaged with one that is expected
# (inst/experiments/tail-rule.R).

tail_window <- 6L                 # ends whose counts are taken for the fraction beyond the first: the rest is noise
tail_sure <- 3                    # standard deviations of its noise by which the fraction beyond x exceeds zero
tail_ratio <- 5                   # times this fraction is beyond the end from which on the power is measured
tail_usual <- c(power = 2.5, doubt = 0.35, misfit = 0.3) # power that is expected, errors of its logarithm
tail_q <- c(bounded = 3, count = 4)
tail_least <- c(bounded = 1.5, count = 2.2) # range of the power: a wider one covers more, with wider intervals
tail_most <- 6
tail_far <- 0.02                 # fraction beyond x from which on a small power is not that of the usual records
inference_allowed <- 0.5          # of b(L) in each coordinate

tail_fraction <- function(facts) tail_q[[facts$response$kind]]
tail_powers <- function(facts) c(tail_least[[facts$response$kind]], tail_most)

# sizes: counts and ends; fraction: that is to be beyond L; present: fraction of records that are used. Returns clip,
# bias, power, beyond, the fraction beyond clip, and heavy: is the power of few records less than the least one?
read_tail <- function(sizes, fraction, powers, present = 1) {
  ends <- sizes$ends
  k <- length(ends)
  middle <- c(ends[1], sqrt(ends[-1] * ends[-k]))
  up_to <- pmin(seq_len(k) + tail_window, k + 1L)
  total <- c(0, cumsum(as.vector(sizes$counts)))
  beyond <- total[up_to] - total[seq_len(k)]
  noise <- attr(sizes$counts, "sd") * sqrt(up_to - seq_len(k))
  last <- max(which(beyond >= tail_sure * noise), 2)
  seen <- max(beyond[last], noise[last])
  first <- max(which(beyond[seq_len(last - 1)] >= min(tail_ratio * seen, 0.6 * present)), 1)
  run <- log(middle[last] / middle[first])
  measured <- log(max(beyond[first] / seen, 1.2)) / run
  doubt <- (noise[last] / seen / run / measured)^2 + tail_usual[["misfit"]]^2
  expected <- tail_usual[["doubt"]]^2
  power <- exp((log(measured) / doubt + log(tail_usual[["power"]]) / expected) / (1 / doubt + 1 / expected))
  heavy <- power < powers[1] && seen < tail_far * present
  power <- min(max(power, powers[1]), powers[2])
  clip <- min(middle[last] * max(seen / fraction, 1)^(1 / power), ends[k])
  few <- if (clip >= ends[k]) 0 else seen * (middle[last] / clip)^power
  list(clip = clip, bias = few * clip / (power - 1), power = power, beyond = few, heavy = heavy)
}

# Estimates and covariance in the units of the response.
in_units <- function(found, response) {
  unit <- if (response$kind == "bounded") response$half else 1
  found[c("coefficients", "predictor")] <- lapply(found[c("coefficients", "predictor")], response_coef,
                                                  template = response, intercept = TRUE)
  found$vcov <- unit^2 * found$vcov
  found
}
