# method = "auto", the default, chooses the method from public facts: loss, penalty, geometry, n, d, budget and
# relation.
#
# For squared error there is one method, which counts take, too, where they can (residual_fault()). For the logistic
# loss without a penalty it takes Newton's method with an automatic ridge, in a geometry (inst/experiments/utility.R
# compares it with the other methods). Other convex problems have no geometry by default. For these Newton's method with
# one noisy curvature matrix has less excess loss than objective perturbation, on average over weak and strong signals,
# on the synthetic problems of inst/experiments/convex-rule.R, and it can use a shared budget. Objective perturbation is
# better where the noise is very small, and much faster. With very many columns the eigenvalues of a matrix take
# minutes, a gradient step about a second.

auto_noise <- 10^-3.75
auto_columns <- 1000L
auto_several <- 4000L # higher, as one matrix serves all outputs

check_method <- function(method, loss, penalty, control, geometry, inference, call) {
  method <- check_choice(method, c(method_names(), "auto"), "method", call)
  if (method == "auto" && !is.null(control)) {
    abort("argument", "`control` belongs to a method: name one, such as `method = \"2opt-ls\"`, instead of \"auto\".",
          call = call)
  }
  if (method == "auto") method <- auto_method(loss, penalty, geometry, inference)
  for_loss(methods()[[method]], loss, call)
}

# The automatic ridge is for problems without a penalty. Intervals use no geometry, which would make them wider
# (inst/experiments/inference.R).
auto_method <- function(loss, penalty, geometry, inference) {
  if (loss$name == "multinomial") return("newton")
  if (has_unbounded_slope(loss)) return("newton-ridge")
  if (!is_convex(loss, penalty)) return("2opt-ls")
  ridge <- (is_logistic(loss) || has_residuals(loss)) && penalty$name == "none" && !identical(geometry, "none") &&
    inference == "none"
  if (ridge) "newton-ridge" else "newton"
}

# The part of the rule that needs the number of columns. It runs before the size of the problem is checked.
auto_wide <- function(job) {
  if (has_unbounded_slope(job$loss)) return(job)
  if (takes_residuals(job$method) && !is.null(residual_fault(job))) job <- take_instead(job, "newton")
  if (job$method$name == "newton-ridge" && columns_of(job) == 0L) return(take_instead(job, "newton"))
  if (loss_outputs(job$loss) > 1L) return(auto_wide_several(job))
  if (!job$method$name %in% c("newton", "newton-ridge") || job$dim <= auto_columns) return(job)
  take_instead(job, if (is_smooth(job$loss)) "2opt-ls" else "gd")
}

auto_wide_several <- function(job) {
  if (job$side <= auto_several) job else take_instead(job, "gd")
}

# The part of the rule that needs delta.
auto_quiet <- function(job) {
  if (job$method$name != "newton" || loss_outputs(job$loss) > 1L || !job$owned || job$inference != "none") return(job)
  if (gradient_noise(job, job$eps) >= auto_noise) return(job)
  take_instead(job, "objpert")
}

take_instead <- function(job, name) {
  job$method <- methods()[[name]]
  job$control <- job$method$family$control(job$method, job$loss)
  if (job$default_geometry) job$geometry <- default_geometry(job)
  job
}
