# method = "auto", the default, chooses the method from public facts: loss, penalty, geometry, n, d, budget and
# relation.
#
# For squared error there is one method, which Huber's loss and counts take, too, where they can (residual_fault()). For
# the logistic loss and the support vector machine, without a penalty, it takes Newton's method with an automatic ridge,
# in a geometry (inst/experiments/utility.R and svm.R compare it with the other methods). Other convex problems have no
# geometry by default. For these Newton's method with one noisy curvature matrix has less excess loss than objective
# perturbation, on average over weak and strong signals, on the synthetic problems of inst/experiments/convex-rule.R,
# and it can use a shared budget. Objective perturbation is better where the noise is very small, and much faster. With
# very many columns the eigenvalues of a matrix take minutes, a gradient step about a second (dev/bench/wide.R).

auto_noise <- 10^-3.75
auto_columns <- 1000L
auto_ridge_columns <- 3000L # whose matrix has a faster decomposition (la_eigen_released()): about a minute for a fit
auto_matrix_columns <- 4000L # higher, as one matrix serves all outputs

# The row of the table for the method that the call asks for.
chosen_method <- function(job) {
  name <- job$asked$method
  if (name == "auto" && !is.null(job$asked$control) && is.null(job$model)) {
    abort("argument", "`control` belongs to a method: name one, such as `method = \"2opt-ls\"`, instead of \"auto\".",
          call = job$call)
  }
  for_loss(find_method(if (name == "auto") auto_method(job) else name, !is.null(job$model)), job)
}

# The automatic ridge is for problems without a penalty. Intervals are narrower in its geometry
# (inst/experiments/interval-rule.R). Smooths need a prior.
auto_method <- function(job) {
  if (!is.null(job$model)) return(if (is.null(job$persons)) "sgd" else "blgd") # a batch is of records
  if (!is.null(job$design$smooth)) return("newton-ridge")
  if (job$outputs > 1L) return(auto_classes(job))
  if (has_unbounded_slope(job$loss)) return("newton-ridge")
  if (!is_convex(job$loss, job$penalty)) return(auto_nonconvex(job))
  if (takes_ridge(job) && job$dim <= auto_ridge_columns) return("newton-ridge")
  if (job$dim > auto_columns) return(if (is_smooth(job$loss)) "2opt-ls" else "gd")
  if (is_quiet(job)) "objpert" else "newton"
}

# With a target a run ends where it is met, and no more is spent.
auto_nonconvex <- function(job) {
  warm <- is_smooth(job$loss) && columns_of(job) > 0L && is.null(job$asked$target) && job$inference == "none" &&
    job$dim <= auto_ridge_columns && !identical(job$asked$geometry, "none")
  if (warm) "warm-ridge" else "2opt-ls"
}

# "newton-ridge" is the better one with much noise, too (inst/experiments/classes-rule.R).
auto_classes <- function(job) {
  if (job$side > auto_matrix_columns) return("gd")
  ridge <- job$penalty$name == "none" && !identical(job$asked$geometry, "none") && is.null(job$asked$start) &&
    job$design$intercept && columns_of(job) > 0L
  if (ridge) "newton-ridge" else "newton"
}

takes_ridge <- function(job) {
  can <- has_margin(job$loss) || (has_residuals(job$loss) && is.null(residual_fault(job)))
  can && job$penalty$name == "none" && !identical(job$asked$geometry, "none") &&
    (has_residuals(job$loss) || columns_of(job) > 0L)
}

# Is there little noise, and a budget that objective perturbation can have?
is_quiet <- function(job) {
  is.null(job$asked$budget) && is.null(job$persons) && job$inference == "none" &&
    gradient_noise(job, job$asked$eps) < auto_noise
}
