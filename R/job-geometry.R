# The stage of a job that gives rows coordinates in which all columns have a similar spread and little correlation with
# the intercept: z_j = scale_j (r_j - centre_j), where r is a mapped row. Then a row's norm is about one, and no budget
# is wasted on columns that hardly vary. Centres and scales follow from released moments (proofs: sensitivity-moments)
# or from public ones. The oracle has these coordinates from then on. It adds to the job
#   ends, usable  what the moments tell of the ends of ranges and the fraction of usable records (job-checks.R)
#   geometry  a list of centre, scale, spread, prior, constant, radius, intercept, weighted, damped, cap, bound, tilt,
#             shortest, end and, if levels may have no records, few: which coordinates of the core they are

# Other values of floor, constant and growth are compared on synthetic problems in inst/experiments/ridge-rule.R.
geometry_floor <- 2      # standard deviations of its noise that are added to a variance, but in fits by residuals
# inst/experiments/variance-rule.R compares the next three with others.
geometry_common <- 0.1   # median of what variances over the squares of largest values have in common,
geometry_doubt <- 1.5    # standard deviation of its logarithm,
geometry_differ <- 1     # and of the logarithms of the columns' own
geometry_grid <- 0.1     # step of a grid of logarithms; no variance is known better than this, relative to itself
geometry_surely <- 2     # a second moment must be below that of an indicator by this many standard deviations
geometry_least <- 0.001  # smallest standard deviation of a mapped column, over the largest
geometry_seen <- 3       # an indicator is centred if its mean exceeds its noise by this many standard deviations
geometry_constant <- 1.5 # the intercept's coordinate, times sqrt(d); the start already has a good intercept
geometry_power <- 1.5    # prior variances are in inverse proportion to this power of the scale
geometry_degree <- 0.75  # prior standard deviations, to this power of the degree in the levels of an ordered factor
geometry_hidden <- 25    # squared noise over prior standard deviation of a coefficient where d / (n mu) is one
geometry_noise <- 0.005  # rows longer than one are allowed where d / (n mu) is smaller than this
geometry_growth <- 1 / 3 # the allowed length grows with this power of n mu / d
geometry_shortest <- 0.75 # with a tilt, shorter rows count as this long (tilt-rule.R: a parabola's minimum)

job_geometry <- function(job) {
  if (!uses_geometry(job)) return(job)
  if (identical(job$moments, "private")) {
    inform("geometry", format_share(geometry_share), " of the budget finds centres and scales of columns; ",
           "`geometry_public()` declares public ones")
  }
  columns <- mapped_columns(job$design)
  moments <- if (inherits(job$moments, "dp_geometry")) public_moments(job$moments, columns, job$design) else
    release_moments(job, columns)
  few <- few_records(moments, columns)
  moments <- expected_moments(moments, columns$box, job)
  moments$mean[few] <- 0
  geometry <- c(new_geometry(moments, columns$degree, job), row_bounds(job))
  if (any(few)) geometry$few <- as.double(c(if (geometry$intercept) FALSE, few))
  geometry <- c(geometry, class_weights(job, geometry, moments$variance, columns$box))
  if (job$method$residuals) geometry <- residual_geometry(geometry, moments, job, columns$box)
  move_oracle(job$oracle, geometry)
  add_entries(job, usable = moments$usable, ends = moments$ends, geometry = geometry)
}

# Once the job's budget is open and before job_geometry(): will it be in a geometry?
uses_geometry <- function(job) {
  if (identical(job$moments, "none") || columns_of(job) == 0L) return(FALSE)
  !is.null(job$asked$geometry) || !is_noisy(job) || job$method$family$any_noise(job)
}

# Will released moments tell the fraction of usable records? The intercept's coordinate does if no row is clipped, but
# not weighted moments.
moments_tell <- function(job) {
  uses_geometry(job) && identical(job$moments, "private") && is_whole(job$design) && !has_weighted_moments(job)
}

is_whole <- function(design) design$intercept && !may_clip(design)

has_weighted_moments <- function(job) job$method$residuals && has_weight(job$design)

# ---- moments of the mapped rows' columns, in the order of the core ----

# Public facts: names, if there are any, bounds of the entries (those of a formula's columns, those declared for a
# matrix; other columns are bounded by the norm of a row), indicators of factors, which are not known for a matrix, and
# of gaps, and degrees of polynomials of ordered factors. order: their places in the design.
mapped_columns <- function(design) {
  if (is_matrix_design(design)) {
    p <- nrow(design$box)
    return(list(order = seq_len(p), box = design$box, indicator = of_gaps(design), degree = rep(1, p)))
  }
  order <- design_order(design)
  if (design$intercept) order <- order[-1] - 1L
  indicator <- (design$columns$kind != "numeric" | of_gaps(design))[order]
  most <- min(1, 1 / design$radius)
  list(order = order, name = design$columns$name[order], box = cbind(ifelse(indicator, 0, -most), most),
       indicator = indicator, degree = column_degrees(design)[order])
}

# Which columns are indicators of gaps?
of_gaps <- function(design) {
  if (is_matrix_design(design)) return(seq_len(nrow(design$box)) > length(design$gaps$at %||% design$box[, 1]))
  design$columns$name %in% indicator_name(names(design$gaps$at))
}

# Moments of the mapped rows, from public moments of the columns. A tiny standard deviation is enlarged, as in
# new_geometry().
public_moments <- function(geometry, columns, design) {
  scale <- column_scale(design)
  mean <- ((geometry$mean - scale[, 1]) / scale[, 2] / design$radius)[columns$order]
  sd <- pmin((geometry$sd / scale[, 2] / design$radius)[columns$order], 1)
  sd <- pmax(sd, geometry_least * max(sd))
  list(mean = unname(pmin(pmax(mean, -1), 1)), variance = unname(sd)^2, sd = 0, centre_sd = 0)
}

# Centre and unit of every column.
column_scale <- function(design) {
  if (is_matrix_design(design)) return(cbind(rep(0, nrow(design$box)), 1))
  scale <- design_scale(design)
  cbind(scale[, "centre"], ifelse(scale[, "half"] > 0, scale[, "half"], 1))
}

# Checks public facts before anything is charged.
check_geometry_columns <- function(job) {
  geometry <- job$moments
  if (!inherits(geometry, "dp_geometry")) return(invisible())
  design <- job$design
  columns <- if (is_matrix_design(design)) utils::tail(design$labels, columns_of(job)) else design$columns$name
  named <- names(geometry$mean)
  if (length(geometry$mean) != length(columns) || (!is.null(named) && !identical(named, columns))) {
    unknown <- setdiff(named, columns)
    abort("argument", "`geometry` must have one mean and one sd per column, ",
          first_of(paste0("\"", columns, "\"")), ", in this order.",
          if (length(unknown) > 0L) did_you_mean(unknown[1], columns, quote_all), call = job$call)
  }
}

# Means, noisy variances and the standard deviation of their noise; before a run by residuals, for which the mean weight
# was released, those by the records' weights. A column in [l, h] with mean m has variance at most (h - m)(m - l), with
# equality for an indicator. This bound is used unless the second moment is clearly smaller. Columns with negative
# values use the second moment.
release_moments <- function(job, columns) {
  box <- columns$box
  most <- pmax(abs(box[, 1]), abs(box[, 2]))
  indicator <- columns$indicator
  weighted <- has_weighted_moments(job)
  answer <- .Call(ffi_oracle_moments, job$oracle$pointer, ifelse(indicator, 0, most), weighted,
                  geometry_share * job$rho, job$oracle$noise == "reproducible")
  whole <- is_whole(job$design)
  p <- nrow(box)
  constant <- answer$moments[2 * p + 1]
  released <- answer$moments[seq_len(p)]
  mean <- pmin(pmax(released, box[, 1]), box[, 2])
  square <- 2 * most * answer$moments[p + seq_len(p)] - mean^2
  bound <- (box[, 2] - mean) * (mean - box[, 1])
  squared <- box[, 1] < 0 | (!indicator & square + geometry_surely * 2 * most * answer$sd < bound)
  variance <- ifelse(squared, square, bound)
  sd <- answer$sd * ifelse(squared, 2 * most, abs(box[, 2] + box[, 1] - 2 * mean))
  usable <- if (moments_tell(job)) usable_moment(job$design, constant, answer$sd)
  moments <- list(mean = mean, variance = pmin(variance, most^2), sd = sd, centre_sd = answer$sd, usable = usable,
                  ends = if (whole) columns_at_ends(job$design, columns$name, job$private, released, constant,
                                                    answer$sd))
  of_used(moments, if (job$method$residuals) job$level$present else present_by(usable %||% job$usable))
}

present_by <- function(usable) if (is.null(usable)) 1 else present_of(usable$fraction, usable$sd)

# Of the records that are used, as their fraction, or their mean weight, tells: the others have zeros.
of_used <- function(moments, present) {
  if (present == 1) return(moments)
  square <- (moments$variance + moments$mean^2) / present
  moments[c("mean", "sd", "centre_sd")] <- lapply(moments[c("mean", "sd", "centre_sd")], `/`, present)
  moments$mean <- pmin(pmax(moments$mean, -1), 1)
  moments$variance <- square - moments$mean^2
  moments
}

# Indicators of which the noise may hide that they have no record at all, as a declared level may have none. They are
# not centred: about its noisy mean one without records would be a second intercept, with a coefficient of noise. The
# core shrinks their coefficients as far as the noise of its matrix hides their records, too (posterior_seen()).
few_records <- function(moments, columns) {
  columns$indicator & moments$centre_sd > 0 & moments$mean < geometry_seen * moments$centre_sd
}

# Without an intercept nothing could absorb a shift: columns are not centred, and their mean squares take the place of
# variances. So a constant column has a coordinate of about one, like any other. Fits by residuals take the expected
# variances; others add the noise level later, which for the logistic loss is as good.
expected_moments <- function(moments, box, job) {
  if (!job$design$intercept) {
    moments$variance <- moments$variance + moments$mean^2
    moments$mean <- 0 * moments$mean
  }
  if (job$method$residuals && any(moments$sd > 0)) {
    moments$variance <- expected_variances(moments$variance, moments$sd, pmax(abs(box[, 1]), abs(box[, 2])))
    moments$sd <- 0 * moments$sd
  }
  moments$variance <- pmax(moments$variance, 0)
  moments
}

# Expected variances of columns given noisy ones, which may be negative, with these standard deviations of their noise;
# most: the largest absolute values. Relative to the squares of these, variances are log-normal around a common value,
# which all columns tell: one that the noise hides is expected to be like the others. Integrals are sums over a grid.
expected_variances <- function(noisy, sd, most) {
  unit <- pmax(most, geometry_least * max(most))^2
  noise <- pmax(sd / unit, geometry_grid * abs(noisy) / unit, 1e-12)
  own <- seq(log(min(1e-4, noise) / 10), 0, by = geometry_grid)
  size <- exp(own)
  likelihood <- mapply(function(at, noise) {
    log_density <- -((at - size) / noise)^2 / 2
    exp(log_density - max(log_density))
  }, noisy / unit, noise)
  prior <- exp(-(outer(own, own, `-`) / geometry_differ)^2 / 2)
  prior <- t(t(prior) / colSums(prior))
  by_common <- crossprod(prior, likelihood) # a row for each common value, a column for each column
  log_weight <- rowSums(log(by_common)) - ((own - log(geometry_common)) / geometry_doubt)^2 / 2
  weight <- exp(log_weight - max(log_weight))
  posterior <- likelihood * (prior %*% (weight / by_common))
  unit * colSums(posterior * size) / colSums(posterior)
}

# The degrees of a design's polynomials of ordered factors, in the order of its columns; one for other columns.
column_degrees <- function(design) {
  ifelse(design$columns$kind == "numeric",
         vapply(design$columns$variable, function(name) degree_of(design$predictors[[name]]), 0), 1)
}

# ---- coordinates ----

# The added noise level keeps columns from being scaled up whose variance the noise may hide. The least variance does so
# for columns that their bounds leave almost none: the barrier adds noise for the rounding errors of rows as long as the
# scales could make them (proofs: coordinates). Columns of which little is
# expected are shorter, so that others are longer: if coordinate j has the squared length x_j and its coefficient the
# prior variance t_j, the sum of posterior variances t_j / (1 + x_j t_j / N) for a given sum of the x_j is smallest for
# x_j = c - N / t_j, where positive; x_j = 1 / (1 + N (1 / t_j - 1)) is the same to first order in N and positive. Rows
# then have a norm of about one. spread: standard deviations that the coordinates are expected to have, relative to
# others. moments, degree: in the same order of the columns.
new_geometry <- function(moments, degree, job) {
  variance <- moments$variance + geometry_floor * moments$sd
  scale <- 1 / sqrt(pmax(variance, geometry_least^2 * max(variance)) + 1e-12)
  shorter <- 1 / sqrt(1 + geometry_hidden * relative_noise(job, job$rho)^2 * (degree^(2 * geometry_degree) - 1))
  prior <- column_prior(scale, degree) / shorter
  scale <- scale * shorter
  scale <- scale / sqrt(max(sum(scale^2 * moments$variance), 0.02 * job$side))
  list(scale = as.double(scale), centre = as.double(moments$mean),
       prior = as.double(prior), spread = as.double(shorter), constant = geometry_constant / sqrt(job$side),
       radius = job$design$radius, intercept = job$design$intercept)
}

# Standard deviations that are expected of the coefficients in these coordinates, relative to others: a compromise
# between equal coefficients per standard deviation (power 0 of the scale) and equal ones per unit (power 2). The mean
# is of inverse powers, so that columns that hardly vary do not change the others. Effects of ordered levels are mostly
# smooth: if those of successive levels differ by independent variables of equal variance, the coefficient of the
# polynomial of degree k has a standard deviation of about k^(-3/4) to k^(-1), relative to that of degree one.
column_prior <- function(scale, degree) {
  usual <- sqrt(mean(scale^(-2 * geometry_power)))
  degree^-geometry_degree / sqrt(usual * scale^geometry_power)
}

# From public facts: with little noise, rows may be longer before their slopes and weights are bounded. Only those of
# intervals are damped (damped_geometry()).
row_bounds <- function(job) {
  if (is.null(job$method$family$weighted)) return(list(weighted = FALSE, damped = FALSE, cap = 1, bound = 1))
  share <- (1 - geometry_share) * job$method$family$weighted(job)
  cap <- max(1, (geometry_noise / relative_noise(job, share * job$rho))^geometry_growth)
  list(weighted = TRUE, damped = FALSE, cap = cap, bound = cap * row_slope(path_loss(job)))
}

# The slope that a row of the length cap may have.
row_slope <- function(loss) loss_bounds(loss)[["lipschitz"]] / if (has_slopes(loss)) 2 else 1

# The loss of a record of the rarer class has the weight 1 + k, that of the other class the weight 1 - k, so that near
# the constant prediction the slopes of the rows give more information about the coefficients at the same sensitivity
# (proofs: tilt). That holds for rows of different classes, which are at most opposite, if rows of the rarer class are
# at most orthogonal. Columns are if no number lies on the other side of an end of their range; others count twice. So
# (1 + k)^2 / 2 times the mean of this squared length must be at most one. Where there is less noise, so that rows may
# be longer than one, there is no tilt: short rows would lose their steep slopes.
class_weights <- function(job, geometry, variance, box) {
  end <- column_ends(geometry$centre, variance, box)
  tilt <- if (takes_tilt(job, geometry)) class_tilt(job, geometry, variance, end) else 0
  list(tilt = tilt, shortest = geometry_shortest, end = end)
}

takes_tilt <- function(job, geometry) {
  !is.null(job$class_fraction) && geometry$weighted && geometry$cap == 1 && has_slopes(path_loss(job)) &&
    job$neighbours == "replace-one"
}

class_tilt <- function(job, geometry, variance, end) {
  squared <- 1 + sum(geometry$scale^2 * ifelse(is.na(end), variance, (geometry$centre - end)^2))
  rarer <- max(0, min(sqrt(2 / squared), 2 * max(job$class_fraction, 1 - job$class_fraction)) - 1)
  if (job$class_fraction < 0.5) rarer else -rarer
}

# The end of its range that a column is closer to, if its squared distance is below the variance, so that the column
# counts less there than twice. Zero must be in the range, as a sparse matrix does not hold it, and so must the centre,
# which says on which side the rows are. A record beyond the end has a smaller weight.
column_ends <- function(centre, variance, box) {
  low <- centre - box[, 1] <= box[, 2] - centre
  end <- ifelse(low, box[, 1], box[, 2])
  outside <- box[, 1] > pmin(0, centre) | box[, 2] < pmax(0, centre) | (!low & end == 0 & centre == 0)
  as.double(ifelse(outside | (centre - end)^2 > variance, NaN, end))
}

# ---- points ----

# Maps points from the coordinates of the mapped rows to those of the geometry, and back.
to_geometry <- function(geometry, v) {
  if (is.null(geometry)) return(v)
  if (!geometry$intercept) return(v / geometry$scale)
  c((v[1] / geometry$radius + sum(geometry$centre * v[-1])) / geometry$constant, v[-1] / geometry$scale)
}

from_geometry <- function(geometry, w) {
  if (is.null(geometry)) return(w)
  if (!geometry$intercept) return(w * geometry$scale)
  slope <- w[-1] * geometry$scale
  c(geometry$radius * (geometry$constant * w[1] - sum(geometry$centre * slope)), slope)
}
