# method = "auto", the default: which method, from what is public: loss, penalty, geometry, n, d, budget and relation.
#
# For the logistic loss without a penalty it is Newton's method with a ridge that finds itself, in a geometry
# (inst/experiments/utility.R compares it with others). Other convex problems have no geometry by default. There, on the
# synthetic problems of inst/experiments/convex-rule.R, Newton's method with one noisy curvature matrix comes nearer
# to the least loss than objective perturbation does, on average over weak and strong signals, and may share a budget;
# but not where there is so little noise that the minimum itself is near, and objective perturbation is much faster.
# With very many columns the eigenvalues of a matrix take minutes, and steps along gradients a second.

auto_noise <- 10^-3.75
auto_columns <- 1000L
auto_several <- 4000L # there one matrix serves all outputs

check_method <- function(method, loss, penalty, control, geometry, inference, call) {
  method <- check_choice(method, c(method_names(), "auto"), "method", call)
  if (method == "auto" && !is.null(control)) {
    abort("argument", "`control` belongs to a method: name one, such as `method = \"2opt-ls\"`, instead of \"auto\".",
          call = call)
  }
  if (method == "auto") method <- auto_method(loss, penalty, geometry, inference)
  methods()[[method]]
}

# A ridge that finds itself is for problems without a penalty; intervals need no geometry, which would cost them width
# (inst/experiments/inference.R).
auto_method <- function(loss, penalty, geometry, inference) {
  if (loss$name == "multinomial") return("newton")
  if (!is_convex(loss, penalty)) return("2opt-ls")
  ridge <- is_logistic(loss) && penalty$name == "none" && !identical(geometry, "none") && inference == "none"
  if (ridge) "newton-ridge" else "newton"
}

# The rest of the rule, when the number of columns is known: before the size of a problem is checked, ...
auto_wide <- function(job) {
  if (job$method$name == "newton-ridge" && columns_of(job) == 0L) return(take_instead(job, "newton"))
  if (loss_outputs(job$loss) > 1L) return(auto_wide_several(job))
  if (!job$method$name %in% c("newton", "newton-ridge") || job$dim <= auto_columns) return(job)
  take_instead(job, if (is_smooth(job$loss)) "2opt-ls" else "gd")
}

auto_wide_several <- function(job) {
  if (job$side <= auto_several) job else take_instead(job, "gd")
}

# ... and when delta is.
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
