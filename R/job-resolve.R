# What a fit with intervals, or intervals that come later, may expect, said before anything is charged. It follows from
# public numbers alone: n, columns and declared levels, eps and loss, with the typical columns of dp_plan(). So it does
# not depend on a record.

resolve_least <- 0.5  # a smaller fraction of the coefficients is told
resolve_most <- 200L  # coefficients; plans of more take too long

# later: are these the intervals of a fit that there is already, of which job is a claim (fit-intervals.R)?
tell_unresolved <- function(job, later = FALSE) {
  plan <- resolve_plan(job, later)
  if (is.null(plan)) return(invisible())
  share <- resolved_share(plan_setting(plan))
  if (share >= resolve_least) return(invisible())
  # Never zero, at which the search for a root would stop, as the share has steps.
  missed <- function(n = plan$n, eps = plan$eps) {
    resolve_least - 1e-9 - resolved_share(plan_setting(plan, n = n, eps = eps))
  }
  eps <- smallest(function(eps) missed(eps = eps), 1e-3, 100, 1e-3)
  n <- smallest(function(n) missed(n = n), 10, 1e12, 1e-3)
  slopes <- plan$frame$dim - plan$frame$intercept
  inform("resolve", "By public numbers and typical columns, as in `dp_plan()`, this fit is expected to have ",
         "intervals for ", round(share * slopes), " of ", slopes, " coefficients, with n = ",
         format(plan$n, big.mark = ",", scientific = FALSE), " and eps = ", format(plan$eps, digits = 3),
         "; for half of them with ", needed_text(eps, n), "fewer columns or levels")
}

needed_text <- function(eps, n) {
  up <- function(x) ceiling(x / 10^(floor(log10(x)) - 1)) * 10^(floor(log10(x)) - 1) # to two digits
  numbers <- c(if (!is.na(eps)) paste("eps =", format(up(eps))),
               if (!is.na(n)) paste("n =", format(up(n), big.mark = ",", scientific = FALSE)))
  if (length(numbers) > 0L) paste0(paste(numbers, collapse = " or "), ", or with ")
}

# The plan of this fit, or NULL where plans know nothing: without intervals, of persons, matrices, networks and other
# losses. Counts have a mean of one. For Huber's loss it is the plan of squared error, whose intervals it has, as its c
# says nothing without the scale of residuals.
resolve_plan <- function(job, later) {
  known <- has_slopes(job$loss) || has_residuals(job$loss)
  if (job$inference == "none" || is_matrix_design(job$design) || !is.null(job$persons) || !known ||
        columns_of(job) == 0L || job$dim > resolve_most) return(NULL)
  eps <- resolve_eps(job)
  if (is.null(eps)) return(NULL)
  design <- job$design
  shares <- lapply(design$levels, function(levels) {
    stats::setNames(rep(1 / length(levels), length(levels)), levels)
  })
  variance <- rep(typical$variance, sum(design$columns$kind == "numeric"))
  plain <- is.null(if (later) job$geometry else job$method$family$weighted)
  curvature <- if (has_residuals(job$loss)) 1 else typical$curvature
  list(n = job$n, eps = eps, delta = job$asked$delta %||% job$asked$budget$delta,
       method = if (plain) "newton" else "newton-ridge", inference = TRUE, later = later,
       loss = residual_loss(job$loss) %||% job$loss, neighbours = job$neighbours, curvature = curvature,
       open = if (later) 0L else length(design_counted_names(design)),
       limited = if (later) 0L else length(limited_columns(job)),
       effect = typical$effect, event = 1, frame = plan_frame(design, shares, variance))
}

# The eps that the fit will spend, or NULL for a budget of another accountant than the plan's.
resolve_eps <- function(job) {
  asked <- job$asked
  if (is.null(asked$budget) || is_stored(asked$budget)) return(asked$eps)
  state <- budget_state(asked$budget)
  if (!state$accountant %in% c("auto", "gdp") || state$left <= 0) return(NULL)
  min(asked$eps, .Call(ffi_gdp_epsilon, sqrt(2 * state$left), job$delta))
}

resolved_share <- function(s) mean(expected_resolved(s))

# Which slopes are expected to be shown, by the rules of one_step() and step_intervals() for the expected matrices?
# open: the probability that noise moves an eigenvalue below the least one, a fraction of the norm of the noise.
expected_resolved <- function(s) {
  v <- one_step_variance(s)
  curvature <- eigen(v$hessian, symmetric = TRUE)
  open <- semicircle(step_floor - curvature$values / (v$hessian_sd * sqrt(2 * s$dim)))
  lost <- v$prior^2 * drop(curvature$vectors^2 %*% open)
  total <- diag(v$variance) + lost
  r <- if (s$frame$intercept) v$hessian[1, ] / v$hessian[1, 1] else 0
  short <- diag(v$hessian) - r * v$hessian[1, ] < step_evident * v$hessian_sd * (1 + r^2)
  slopes <- seq_len(s$dim) > s$frame$intercept
  numeric <- c(if (s$frame$intercept) FALSE, s$frame$columns$kind == "numeric")
  !(lost > step_most * total | total > v$prior^2 | (short & numeric))[slopes]
}

# The distribution function of the eigenvalues of noise with the norm one.
semicircle <- function(x) {
  x <- pmin(pmax(x, -1), 1)
  1 / 2 + (x * sqrt(1 - x^2) + asin(x)) / pi
}

# The first root of a function that decreases at first: the lower end if the function is negative there, NA if it is
# positive at all powers of ten times it. (With very many records the bounds of rounding errors exceed the noise.)
# tol: relative.
smallest <- function(f, lower, upper, tol = 1e-6) {
  if (f(lower) <= 0) return(lower)
  end <- Find(function(x) f(x) <= 0, lower * 10^seq_len(round(log10(upper / lower))))
  if (is.null(end)) return(NA_real_)
  exp(stats::uniroot(function(x) f(exp(x)), log(c(end / 10, end)), tol = tol)$root)
}
