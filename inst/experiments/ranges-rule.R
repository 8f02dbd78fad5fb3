# How should ranges be found from noisy counts? Columns of SYNTHETIC data, which determine the constants of
# R/oracle-octaves.R:
# delta = 1 / n^2, replace-one, 5 % of the budget for the ranges of m columns with randomly drawn shapes.
#   Rscript ranges-rule.R RESULTS.csv [SEEDS]
# Then: Rscript ranges-rule.R --summary RESULTS.csv
# For fits with intervals: Rscript ranges-rule.R --intervals RESULTS.csv [SEEDS], --summary as above. A row is one
# setting on one problem, a mean over columns and seeds. It has the fraction of ranges found; of these, the fraction
# with at least 95 % and 90 % of the values inside; usefulness, the covariance of the clipped and mapped column with the
# column, over that with the range from the 1 % to the 99 % quantile (at most 1); and the fraction with a usefulness
# below 0.15, where the column is practically lost.
#
# With intervals a row has instead: inside99, the fraction of ranges with at least 99 % of the values inside; and, for
# the intervals of slope and intercept of the original column (logistic, with a standard deviation of one of its
# log-odds): shown, the fraction of the slopes that are resolved; covered, the fraction of the shown intervals that
# cover; off, the fraction of those that miss by more than four standard errors; width, the geometric mean of the
# standard error of slopes over that without privacy and clipping. R/job-intervals.R computes the intervals from the
# expected matrices of the clipped column and m - 1 others, with drawn noise, sample and point.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

shapes <- list(
  uniform = function(n) runif(n, 0, 100), standard = function(n) rnorm(n), shifted = function(n) rnorm(n, 100, 15),
  positive = function(n) rnorm(n, 180, 54), lognormal = function(n) rlnorm(n, 3),
  income = function(n) rlnorm(n, 10.5, 0.8),
  heavy = function(n) 50 * rt(n, 2), small = function(n) 1e-3 * rexp(n), negative = function(n) -exp(rnorm(n, 3, 0.5)),
  year = function(n) sample(2000:2020, n, TRUE), latitude = function(n) runif(n, 47.1, 47.8),
  binary = function(n) rbinom(n, 1, 0.3), rare = function(n) rbinom(n, 1, 0.06),
  two = function(n) 1 + rbinom(n, 1, 0.8),
  three = function(n) sample(3, n, TRUE, c(0.24, 0.21, 0.55)), five = function(n) sample(5, n, TRUE, c(1, 2, 4, 6, 7)),
  ten = function(n) sample(0:9, n, TRUE), geometric = function(n) rgeom(n, 0.65), counts = function(n) rpois(n, 1.5),
  mode = function(n) ifelse(runif(n) < 0.9, 7, sample(12, n, TRUE)), constant = function(n) rep(42, n),
  inflated = function(n) ifelse(runif(n) < 0.7, 0, 1000 * rexp(n))
)

# Constants of R/oracle-octaves.R that replace those of the package.
cutting <- function(...) list(ranges_cutting = utils::modifyList(dpsosp:::ranges_cutting, list(...)))
settings <- list(
  chosen = list(), "core 5 %" = list(ranges_error = 0.05), "reach 5 %" = cutting(reach = 0.05),
  "reach 20 %" = cutting(reach = 0.2), "tail 1 %" = cutting(tail = 0.01), "tail 2 %" = cutting(tail = 0.02),
  "tail 5 %" = cutting(tail = 0.05), "octave worth 10 %" = cutting(worth = 0.1),
  "doubt 1 sd" = list(ranges_doubt = 1), "octaves 60 %" = cutting(octaves = 0.6),
  "octaves 90 %" = cutting(octaves = 0.9)
)

usefulness <- function(x, range) {
  half <- (range[2] - range[1]) / 2
  if (!(half > 0) || min(x) == max(x)) return(NA)
  mapped <- (pmin(pmax(x, range[1]), range[2]) - mean(range)) / half
  stats::cov(mapped, x)
}

one_run <- function(n, m, eps, seed) {
  set.seed(seed)
  columns <- lapply(shapes[sample(names(shapes), m)], function(shape) as.double(shape(n)))
  rho <- 0.05 * dp_convert(eps = eps, delta = 1 / n^2)$mu^2 / 2
  ranges <- dpsosp:::private_ranges(columns, dp_budget(eps = eps, delta = 1 / n^2), rho, "replace-one", TRUE)
  do.call(rbind, lapply(names(columns), function(name) {
    x <- columns[[name]]
    best <- usefulness(x, stats::quantile(x, c(0.01, 0.99), names = FALSE))
    data.frame(found = attr(ranges, "found")[[name]], inside = mean(x >= ranges[name, 1] & x <= ranges[name, 2]),
               use = min(1, usefulness(x, ranges[name, ]) / best))
  }))
}

# ---- where intervals are wanted ----

# Shapes with tails that an octave may cut off, and those of the above that have a standard deviation.
interval_shapes <- c(shapes[!names(shapes) %in% c("heavy", "constant")], list(
  weeks = function(n) rnorm(n, 27, 6), gamma = function(n) rgamma(n, 4, 0.1), waiting = function(n) rexp(n, 0.03),
  late = function(n) rnorm(n, 20, 4) * ifelse(runif(n) < 0.02, 3, 1),
  early = function(n) rnorm(n, 100, 10) * ifelse(runif(n) < 0.03, 0.3, 1),
  balance = function(n) ifelse(runif(n) < 0.03, -1, 1) * rlnorm(n, 4, 0.5)
))
keeping <- function(...) list(ranges_keeping = utils::modifyList(dpsosp:::ranges_keeping, list(...)))
interval_settings <- list(
  "as without intervals" = list(ranges_keeping = dpsosp:::ranges_cutting), chosen = list(),
  "reach 10 %, across 2" = keeping(reach = 0.1, across = 2), "reach 5 %" = keeping(reach = 0.05),
  "reach 2 %, across 2" = keeping(across = 2), "reach 1 %" = keeping(reach = 0.01)
)

# For a shape: a function of a range that returns the logistic regression on the clipped column, from many records.
# point and matrices are for the rows (1, mapped column).
population <- function(shape) {
  set.seed(0)
  x <- as.double(interval_shapes[[shape]](5e4))
  y <- stats::runif(length(x)) < stats::plogis((x - mean(x)) / stats::sd(x) - 0.4)
  known <- new.env()
  function(range = base::range(x)) {
    name <- paste(signif(range, 6), collapse = " ")
    if (is.null(known[[name]])) known[[name]] <- regression(x, y, range)
    known[[name]]
  }
}

regression <- function(x, y, range) {
  half <- diff(range) / 2
  clipped <- pmin(pmax(x, range[1]), range[2])
  centre <- mean(clipped)
  scale <- stats::sd(clipped)
  standard <- cbind(1, (clipped - centre) / scale)
  fit <- stats::glm.fit(standard, y, family = stats::binomial())
  slope <- fit$coefficients[[2]] / scale
  rows <- cbind(1, (clipped - mean(range)) / half)
  bread <- solve(crossprod(standard * sqrt(fit$fitted.values * (1 - fit$fitted.values))) / length(x))
  list(inside = mean(clipped == x), share = mean(y), error = sqrt(bread[2, 2]) / scale,
       raw = c(fit$coefficients[[1]] - slope * centre, slope),
       point = c(fit$coefficients[[1]] + slope * (mean(range) - centre), slope * half),
       hessian = crossprod(rows * sqrt(fit$fitted.values * (1 - fit$fitted.values))) / length(x),
       products = crossprod(rows * (y - fit$fitted.values)) / length(x))
}
populations <- lapply(stats::setNames(nm = names(interval_shapes)), population)

other_variance <- 0.1
other_slope <- 0.7

# Draws of estimates and standard errors of intercept and slope, if the first of m columns has this range.
interval_draws <- function(p, range, n, m, eps, draws = 10) {
  columns <- paste0("x", seq_len(m))
  design <- dpsosp:::design_template(y ~ ., as.data.frame(matrix(0, 1, m + 1, dimnames = list(NULL, c(columns, "y")))))
  design <- dpsosp:::design_fill_ranges(design, matrix(
    c(range, rep(c(-1, 1), m - 1)), m, byrow = TRUE, dimnames = list(columns, c("lower", "upper"))
  ))
  radius <- design$radius
  block <- function(x, other) {
    whole <- diag(other, m + 1)
    whole[1:2, 1:2] <- x
    whole / radius^2
  }
  curvature <- p$hessian[1, 1]
  hessian <- block(p$hessian, curvature * other_variance)
  products <- block(p$products, curvature * other_variance)
  rho <- (1 - dpsosp:::ranges_share) * dp_convert(eps = eps, delta = 1 / n^2)$mu^2 / 2
  sd <- function(sensitivity, what) {
    sensitivity / n / sqrt(2 * (1 - dpsosp:::inference_path) * rho * dpsosp:::inference_shares[[what]] /
                             sum(dpsosp:::inference_shares))
  }
  solution <- radius * c(p$point, rep(other_slope, m - 1))
  path <- path_of(hessian, curvature, solution - c(radius * stats::qlogis(p$share), numeric(m)), n, m, rho)
  symmetric <- function(sd) {
    e <- matrix(stats::rnorm((m + 1)^2, sd = sd), m + 1)
    (e + t(e)) / 2 + diag(diag(e) * (sqrt(2) - 1) / sqrt(2), m + 1)
  }
  noisy <- function(x, sd, noise) structure(x + noise, sd = sd)
  root <- t(chol(products / n))
  vapply(seq_len(draws), function(draw) {
    away <- drop(path$vectors %*% (path$bias + sqrt(path$variance) * stats::rnorm(m + 1)))
    sample <- drop(solve(hessian, root %*% stats::rnorm(m + 1)))
    sds <- c(gradient = sd(2, "gradient"), hessian = sd(sqrt(2) / 4, "hessian"), products = sd(sqrt(2), "products"))
    step <- dpsosp:::step_intervals(dpsosp:::one_step(list(
      point = solution + sample + away, n = n,
      gradient = noisy(drop(hessian %*% away), sds[["gradient"]], stats::rnorm(m + 1, sd = sds[["gradient"]])),
      hessian = noisy(hessian, sds[["hessian"]], symmetric(sds[["hessian"]])),
      products = noisy(products, sds[["products"]], symmetric(sds[["products"]]))
    ), design), design)
    c(step$coefficients[1:2], sqrt(diag(step$vcov)[1:2]), is.na(step$reason[1:2]))
  }, numeric(6))
}

# What newton_path() needs of a run of the method "newton" with its defaults, as newton_run() has it of a plan.
newton_setting <- function(n, dim, rho) {
  o <- control_newton()
  rho <- rho * (1 - o$certificate_share)
  sd <- function(sensitivity, rho) sensitivity / n / sqrt(2 * rho)
  step <- sd(2, rho * (1 - o$curvature_share) / o$iterations)
  least <- sqrt(2 * dim) * sd(sqrt(2) / 4, rho * o$curvature_share)
  list(iterations = o$iterations, tail = o$tail, sd = step, least = least,
       lambda0 = max(o$lambda_scale * sqrt(o$iterations * dim) * step, least))
}

# The end of a path from the constant prediction, relative to the solution, along the eigenvectors of the Hessian.
path_of <- function(hessian, curvature, way, n, m, rho) {
  e <- eigen(hessian, symmetric = TRUE)
  value <- pmax(e$values, 1e-12 * e$values[1])
  along <- drop(crossprod(e$vectors, way))
  path <- dpsosp:::newton_path(newton_setting(n, m + 1, dpsosp:::inference_path * rho), value, value / curvature / 4,
                               along^2)
  list(vectors = e$vectors, bias = -(1 - path$reached) * along, variance = path$variance)
}

one_interval_run <- function(n, m, eps, seed) {
  set.seed(seed)
  chosen <- sample(names(interval_shapes), m)
  columns <- lapply(interval_shapes[chosen], function(shape) as.double(shape(n)))
  rho <- dpsosp:::ranges_share * dp_convert(eps = eps, delta = 1 / n^2)$mu^2 / 2
  ranges <- dpsosp:::private_ranges(columns, dp_budget(eps = eps, delta = 1 / n^2), rho, "replace-one", TRUE, FALSE)
  do.call(rbind, lapply(chosen, function(shape) {
    if (!attr(ranges, "found")[[shape]]) return(NULL)
    p <- populations[[shape]](ranges[shape, ])
    all <- populations[[shape]]()
    draws <- interval_draws(p, ranges[shape, ], n, m, eps)
    off <- (abs(draws[1:2, ] - all$raw) / draws[3:4, ])[draws[5:6, ] == 1]
    data.frame(inside = p$inside, shown = mean(draws[6, ]), intervals = length(off),
               covered = sum(off <= stats::qnorm(0.975)), off = sum(off > 4),
               width = mean(log(draws[4, ] / all$error * sqrt(n))))
  }))
}

interval_measures <- function(runs, columns) {
  c(found = nrow(runs) / columns, inside99 = mean(runs$inside >= 0.99), shown = mean(runs$shown),
    covered = sum(runs$covered) / sum(runs$intervals), off = sum(runs$off) / sum(runs$intervals),
    width = exp(mean(runs$width)))
}

simulate_intervals <- function(path, seeds) {
  out <- results_file(path, c("setting", "n", "m", "eps"))
  problems <- expand.grid(eps = c(1, 4), m = c(3, 8), n = c(1000, 5000, 20000))
  for (setting in names(interval_settings)) for (i in seq_len(nrow(problems))) {
    at <- problems[i, ]
    row <- list(setting = setting, n = at$n, m = at$m, eps = at$eps)
    if (out$has(row)) next
    times <- ceiling(seeds * 24 / at$m)
    runs <- with_constants(interval_settings[[setting]], do.call(rbind, lapply(
      seq_len(times), function(seed) one_interval_run(at$n, at$m, at$eps, seed)
    )))
    out$add(c(row, as.list(signif(interval_measures(runs, times * at$m), 4))))
  }
}

# ---- where they are not ----

simulate <- function(path, seeds) {
  out <- results_file(path, c("setting", "n", "m", "eps"))
  problems <- expand.grid(eps = c(0.5, 1, 4), m = c(1, 6, 15), n = c(300, 1000, 5000, 20000))
  for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
    n <- problems$n[i]
    m <- problems$m[i]
    eps <- problems$eps[i]
    row <- list(setting = setting, n = n, m = m, eps = eps)
    if (out$has(row)) next
    runs <- with_constants(settings[[setting]], do.call(rbind, lapply(seq_len(ceiling(seeds * 15 / m)), function(seed) {
      one_run(n, m, eps, seed)
    })))
    seen <- runs[runs$found, ]
    measured <- c(found = mean(runs$found), inside95 = mean(seen$inside >= 0.95), inside90 = mean(seen$inside >= 0.9),
                  use = mean(seen$use, na.rm = TRUE), lost = mean(seen$use < 0.15, na.rm = TRUE))
    out$add(c(row, as.list(signif(measured, 4))))
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  measures <- setdiff(names(x), c("setting", "n", "m", "eps"))
  by_setting <- function(x) {
    weighted <- function(s) vapply(s[setdiff(measures, "found")], stats::weighted.mean, 0, s$found, na.rm = TRUE)
    round(t(vapply(split(x, factor(x$setting, unique(x$setting))), function(s) c(found = mean(s$found), weighted(s)),
                   numeric(length(measures)))), 3)
  }
  print(by_setting(x))
  for (n in unique(x$n)) {
    cat("\nn = ", n, "\n", sep = "")
    print(by_setting(x[x$n == n, ]))
  }
}

switch(arguments[1],
  "--summary" = summarise(arguments[2]),
  "--intervals" = simulate_intervals(arguments[2], if (length(arguments) > 2L) as.integer(arguments[3]) else 1L),
  simulate(arguments[1], if (length(arguments) > 1L) as.integer(arguments[2]) else 2L)
)
