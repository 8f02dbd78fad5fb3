# What dp_plan() expects of fits by residuals (job-plan.R).

# ---- the excess loss ----

# In residual variances. All phases together have about the noise of one mean of clipped residuals, divided by the
# fraction p of residuals within the clip; the solution is the posterior mean, along each eigenvector of the matrix of
# the rows (src/method/residual.c). Residuals of counts are skewed, and their variance is not the same for all records:
# plan_count_factor is fitted on synthetic problems (inst/experiments/plan-residual.R).
plan_count_factor <- 1.3

residual_excess <- function(s) {
  if (is_level_only(s)) return(constant_excess(s) + 1 / (2 * s$n)) # and the noise of the level, in its unknown range
  at <- residual_path(s)
  level <- if (s$frame$intercept) at$noise / s$geometry$constant^2 + 1 / s$n else 0
  factor <- if (is_count(s)) plan_count_factor else 1
  factor * (sum(at$value * (at$held + at$kept^2 * at$unsure / at$value^2)) + level) / 2 + recalibrated(s, at$clip)
}

# The run in its coordinates. noise: variance of the mean of all gradients, over the squared curvature; along the
# eigenvectors of the rows, without the intercept, with the eigenvalues value: the fraction kept of an estimate with the
# variance unsure / value^2, and held, the mean square of the signal that is removed.
residual_path <- function(s) {
  gradients <- residual_shares(s)$gradients * s$rho
  clip <- clip_over_scale(s, relative_noise(s, gradients))
  if (is_count(s)) clip <- max(clip, s$event)
  within <- 2 * stats::pnorm(clip) - 1
  noise <- planned_sd(s, "residual gradient", gradients, clip = clip)^2 / residual_tail / within^2
  slopes <- seq_len(s$dim) > s$frame$intercept
  e <- eigen(geometry_second(s$frame, s$geometry)[slopes, slopes, drop = FALSE], symmetric = TRUE)
  value <- pmax(e$values, 1e-12 * e$values[1])
  signal <- drop(t(e$vectors^2) %*% ((s$effect * s$frame$radius) / s$geometry$scale)^2)
  unsure <- noise + value / s$n / within
  kept <- if (is_level_only(s)) 0 * value else signal * value^2 / (signal * value^2 + unsure)
  list(clip = clip, noise = noise, vectors = e$vectors, value = value, kept = kept, unsure = unsure,
       held = (1 - kept)^2 * signal)
}

# What the noise of the factor of all slopes adds, for counts, whose factor is expected to be `plan_count_slopes` from
# one (EXPECTED in src/method/recalibrate.c). That of numbers is near one unless there is evidence against it.
plan_count_slopes <- 0.2

recalibrated <- function(s, clip) {
  shares <- residual_shares(s)
  if (!is_count(s) || !shares$slopes) return(0)
  sd <- planned_sd(s, "recalibration", path_share(s) * shares$recalibration * s$rho, clip = 2 * clip)
  size <- 2 * constant_excess(s)
  variance <- 4 * sd^2 / size
  kept <- plan_count_slopes^2 / (plan_count_slopes^2 + variance)
  kept^2 * variance * size / 2
}

# ---- intervals ----

# As newton_releases(), in residual standard deviations. Counts have a variance of one there, and a mean whose
# logarithm varies by `spread`, as do their second derivatives. Of Huber's loss the part `within` of the normal
# residuals has a curvature, and `products` is the variance of clipped ones. The path ends with the first step of the
# intervals or, where counts have none, is that of the run, which is shrunk (residual_path()).
residual_releases <- function(s) {
  shares <- inference_residuals[[if (is_count(s)) "count" else "bounded"]]
  rho <- (1 - inference_path) * s$left * shares / sum(shares)
  explained <- 2 * constant_excess(s)
  spread <- if (is_count(s)) sqrt(explained) * s$event else 0
  k <- if (is_huber(s$loss)) clip_over_scale(s) else Inf
  within <- 2 * stats::pnorm(k) - 1
  products <- if (is.finite(k)) within - 2 * k * stats::dnorm(k) + k^2 * (1 - within) else 1
  second <- geometry_second(s$frame, s$geometry)
  hessian <- within * second
  clip <- planned_clip(s, spread, rho, k)
  noise <- function(rho) planned_sd(s, "residual gradient", rho, clip = clip / s$geometry$cap)
  path <- noise(rho[["first"]])^2 * inverse_of(hessian) %*% inverse_of(hessian)
  if (is_count(s) && sum(diag(hessian %*% path)) * s$event^2 > inference_first_most) {
    rho[["gradient"]] <- rho[["gradient"]] + rho[["first"]]
    path <- run_path(s)
  }
  list(hessian = hessian, inverse = inverse_of(second) * products / within^2, products = products * second,
       sd = noise(rho[["gradient"]]), path = path,
       hessian_sd = planned_sd(s, "residual hessian", rho[["hessian"]],
                               clip = exp(inference_reach * spread) * planned_rows(s)^2),
       prior = sqrt(s$dim) * if (is_count(s)) 1 / s$event else sqrt(1 + explained))
}

# The mean square of the distance of the run's solution from the minimiser.
run_path <- function(s) {
  run <- residual_path(s)
  slopes <- run$vectors %*% ((run$held + run$kept^2 * run$noise / run$value^2) * t(run$vectors))
  if (s$frame$intercept) bordered(run$noise / s$geometry$constant^4, slopes) else slopes
}

# The length of rows in the Hessian where few are long, over that of its query.
plan_rows <- 2

planned_rows <- function(s) {
  max(s$geometry$cap, min(plan_rows, longest_row(s$design, s$geometry))) / hessian_longer / s$geometry$cap
}

# L of read_tail() for the expected counts of sizes, in rows of the length plan_length: of normal residuals, up to k, or
# of counts with a Poisson distribution, whose mean is larger for some.
plan_length <- 1.2

planned_clip <- function(s, spread, rho, k) {
  places <- if (is.finite(k)) 0 else seq(0, 0.5, length.out = 65)[-65] # where the ends are, relative to the residuals
  exp(mean(log(vapply(places, function(place) clip_of_ends(s, spread, rho, k, 2^-place * min(k, 64)), 0))))
}

clip_of_ends <- function(s, spread, rho, k, top) {
  ends <- plan_length * top * 2^((seq_len(inference_size_ends) - inference_size_ends) / 2)
  beyond <- if (is_count(s)) {
    function(x) stats::ppois(exp(spread) / s$event^2 + x / s$event, exp(spread) / s$event^2, lower.tail = FALSE)
  } else function(x) ifelse(x < k, 2 * stats::pnorm(-x), 0)
  middle <- c(ends[1], sqrt(ends[-1] * ends[-length(ends)]))
  fractions <- c(1, beyond(middle[-1] / plan_length), 0)
  counts <- new_release(-diff(fractions), planned_sd(s, "residual counts", rho[["sizes"]]))
  facts <- list(response = list(kind = if (is_count(s)) "count" else "bounded"))
  tail <- read_tail(list(counts = counts, ends = ends), tail_fraction(facts) / (s$n * sqrt(2 * rho[["gradient"]])),
                    tail_powers(facts))
  max(tail$clip, if (is_count(s)) s$event)
}
