# The stage of a job that runs the method, with what the run needs besides the method's options: its start in the
# coordinates of the oracle, the penalty in the form of the core, and the accuracy that it aims at. The method
# "warm-ridge" makes several runs.

job_run <- function(job) {
  rho <- path_share(job) * (budget_state(job$budget)$left - job$end - usable_cost(job) - left_for_values(job))
  if (is_warm(job$method)) return(run_warm(job, rho))
  run <- c(list(core = job$method$family$core(job$control), oracle = job$oracle, penalty = job_penalty(job),
                start = run_start(job)), planned_part(job, job$method$family$options(job, rho), rho))
  linear <- is.null(job$model)
  target <- if (linear) run_target(job, run)
  if (linear) run$options <- c(run$options, target_options(target))
  add_entries(job, target = target, answer = run_core(job, run), released = .Call(ffi_oracle_kept, job$oracle$pointer))
}

# The method's options and its part of rho, without what tells how much better the fit is than the intercept-only model
# (job-checks.R) where the certificate pays for it: gradients and matrix have the same budget with it.
planned_part <- function(job, options, rho) {
  if (!tells_explained(job) || !pays_by_certificate(job)) return(list(options = options, rho = rho))
  last <- options$certificate_share * rho
  values <- values_of_certificate * last
  options$certificate_share <- (last - values) / (rho - values)
  list(options = options, rho = rho - values)
}

# The penalty in the form of the core.
job_penalty <- function(job) core_penalty(job$penalty, isTRUE(job$design$intercept), job$side)

# run: a list of core (a name in the core's table), oracle, penalty, options, rho and start
run_core <- function(job, run) {
  tell_passes(run)
  bar <- progress_bar(job$progress, job$method$name)
  .Call(ffi_method_run, run$core, run$oracle$pointer, run$penalty, run$options, run$rho, run$start, bar,
        run$oracle$noise == "reproducible")
}

# Says how long a run will take that reads a source in each pass, where an earlier query had one: it depends on the
# clock and on public numbers only.
tell_passes <- function(run) {
  again <- run$oracle$again
  seconds <- again$clock$seconds
  planned <- run$options$iterations
  if (is.null(seconds) || is.null(planned) || seconds * planned <= passes_long) return(invisible())
  inform("passes", passes_text(seconds, planned, again$bytes))
}

passes_long <- 30 # seconds

passes_text <- function(seconds, planned, bytes) {
  large <- bytes >= 1e9
  paste0("One pass over the source takes ", signif(seconds, 2), " s, about ", planned, " are planned: about ",
         span_text(seconds * planned), ". `cache = \"memory\"` needs ", signif(bytes / (if (large) 1e9 else 1e6), 2),
         if (large) " GB" else " MB")
}

span_text <- function(seconds) {
  unit <- if (seconds < 100) c(s = 1) else if (seconds < 6000) c(min = 60) else c(h = 3600)
  paste(format(round(seconds / unit), big.mark = ","), names(unit))
}

# The default target does not depend on the target in the options.
run_target <- function(job, run) {
  alpha <- function() {
    .Call(ffi_method_alpha, run$core, run$oracle$pointer, run$penalty, c(run$options, target_options(NULL)), run$rho,
          run$start)
  }
  facts <- oracle_facts(run$oracle)
  third <- facts$third + penalty_bounds(run$penalty)[["third"]]
  settle_target(job$asked$target, alpha, third, facts$lipschitz, job$call)
}

target_options <- function(target) {
  if (is.null(target)) list(eps_g = 1, eps_h = 1) else list(eps_g = target$eps_g, eps_h = target$eps_h)
}

# The start in the coordinates of the oracle.
run_start <- function(job) {
  if (!is.null(job$model)) return(job$start)
  map <- function(start) to_geometry(job$geometry, core_start(job$design, start))
  as.vector(by_output(job$start, job$outputs, map))
}

# ---- the accuracy that a run aims at ----

# Returns the target with eps_g and eps_h, and with trivial = TRUE where every point meets it. alpha(): computes the
# default target; third: as for target_resolve(); lipschitz: every point has a smaller gradient.
settle_target <- function(target, alpha, third, lipschitz, call) {
  if (!is.null(target)) return(target_resolve(target, third))
  alpha <- alpha()
  if (is.nan(alpha)) return(NULL) # there is no certificate
  target <- target_resolve(list(alpha = alpha), third)
  if (alpha < lipschitz) return(target)
  warn("target", "The budget is too small to certify anything: every point meets the target.", call = call)
  target$trivial <- TRUE
  target
}

# ---- the method "warm-ridge" ----

# The run of the method "warm-ridge" (method-ridge.R): two runs of "ridge" in the same coordinates, on the convex loss
# and on the job's own, and a run of "opt" that certifies their solution. Each has an oracle of its own, as the losses
# and the bounds of the rows differ; all charge the job's budget (proofs: warm-ridge).

run_warm <- function(job, rho) {
  end <- job$control$certificate_share * rho
  own <- if (is.null(job$given)) own_share(job) else 1
  first <- if (own < 1) convex_run(job, (1 - own) * (rho - end))
  second <- if (own > 0) own_run(job, own * (rho - end), first$w %||% run_start(job))
  last <- certified_run(job, end, between_runs(first, second))
  runs <- Filter(Negate(is.null), list(first, second, last$answer))
  add_entries(job, target = last$target, answer = joined_answer(runs, last), released = last$released)
}

# The solution of both runs: part of the way from the first to the second.
between_runs <- function(first, second) {
  if (is.null(first) || is.null(second)) return((first %||% second)$w)
  first$w + warm_weight * (second$w - first$w)
}

# By public facts, if it is not asked for. Where there is much noise the logistic fit is better than what it hides.
own_share <- function(job) {
  asked <- job$control$own_share
  if (!is.na(asked)) asked else if (relative_noise(job, job$rho) <= warm_noise) warm_share else 0
}

convex_run <- function(job, rho) {
  ridge_phase(job, rho, job$oracle, path_loss(job), core_penalty(penalty_none(), job$design$intercept, job$side),
            run_start(job))
}

own_run <- function(job, rho, start) {
  oracle <- plain_oracle(job, loss = job$loss)
  move_oracle(oracle, own_geometry(job$geometry, job$loss))
  matrix <- .Call(ffi_oracle_kept, job$oracle$pointer)$matrix
  ridge_phase(job, rho, oracle, job$loss, job_penalty(job), start,
            start_curvature = warm_curvature(job, start, matrix$value), signals = warm_signals,
            matrix = as.vector(matrix$value), matrix_sd = matrix$sd %||% 0)
}

# ...: options that are not those of "newton-ridge". The certificate is that of the last run.
ridge_phase <- function(job, rho, oracle, loss, penalty, start, ...) {
  options <- utils::modifyList(ridge_options(job, rho, loss), list(certificate_share = 0, ...), keep.null = TRUE)
  run_core(job, list(core = "ridge", oracle = oracle, penalty = penalty, options = c(options, target_options(NULL)),
                     rho = rho, start = start))
}

# The weights of the classes suit the slopes of the logistic loss.
own_geometry <- function(geometry, loss) {
  if (has_slopes(loss)) geometry else untilted(geometry, bound = geometry$cap * row_slope(loss))
}

untilted <- function(geometry, ...) {
  utils::modifyList(geometry, list(tilt = 0, end = rep(NaN, length(geometry$end)), ...))
}

# Mean second derivative of the loss for labels that follow the logistic model with these coefficients, and normal
# predictors. matrix: of the second moments of rows, if it was released; else rows have a norm of about one.
warm_curvature <- function(job, w, matrix) {
  slopes <- if (job$design$intercept) w[-1] else w
  centred <- c(if (job$design$intercept) 0, slopes)
  variance <- if (is.null(matrix)) sum(slopes^2) / job$side else sum(centred * (matrix %*% centred))
  mean <- if (job$design$intercept) w[1] * job$geometry$constant else 0
  t <- mean + sqrt(max(variance, warm_variance)) * stats::qnorm(stats::ppoints(199))
  p <- stats::plogis(t)
  max(mean(p * loss_curvature(job$loss, 1, t) + (1 - p) * loss_curvature(job$loss, -1, t)), 0)
}

# By "opt", on the mapped rows, or where there is a penalty, which is in the coordinates of the geometry, on rows that
# are clipped there. Returns answer, with w in the coordinates of the geometry, target and released.
certified_run <- function(job, rho, w) {
  oracle <- plain_oracle(job, loss = job$loss)
  mapped <- job$penalty$name == "none"
  if (!mapped) move_oracle(oracle, untilted(job$geometry, weighted = FALSE, cap = 1, bound = 1))
  control <- control_opt(max_iterations = warm_looks, confidence = job$control$confidence)
  options <- c(opt_settings(control, list(two_phase = FALSE, search = TRUE), is.null(job$asked$target), 0),
               batch_options(NULL))
  run <- list(core = "opt", oracle = oracle, penalty = job_penalty(job), options = options, rho = rho * (1 - 1e-9),
              start = if (mapped) from_geometry(job$geometry, w) else w)
  target <- run_target(job, run)
  run$options <- c(run$options, target_options(target))
  answer <- run_core(job, run)
  if (mapped) answer$w <- to_geometry(job$geometry, answer$w)
  list(answer = answer, target = target, released = .Call(ffi_oracle_kept, oracle$pointer))
}

# One answer of all runs, whose parts of the trace are phases. What is known of the solution is known from the last.
joined_answer <- function(runs, last) {
  traces <- lapply(seq_along(runs), function(k) {
    trace <- as.data.frame(runs[[k]]$trace)
    trace$phase <- rep(k, nrow(trace))
    trace
  })
  result <- last$answer$result
  ridges <- utils::head(runs, -1)
  result$ridge <- ridges[[length(ridges)]]$result$ridge
  result$decrease <- NaN # that of the last run is not from the start
  result$status <- if (is_certified(result, last$target)) "sosp" else "budget"
  list(w = last$answer$w, result = result, trace = do.call(rbind, traces))
}

is_certified <- function(result, target) {
  isTRUE(result$gradient_upper <= target$eps_g) && isTRUE(result$eigen_lower >= -target$eps_h)
}
