# method = "auto", the default: which method, from what is public: loss, penalty, n, d, budget and relation.
#
# On the synthetic problems of inst/experiments/convex-rule.R Newton's method with one noisy curvature matrix comes
# nearer to the least loss than objective perturbation does, on average over weak and strong signals, and may share a
# budget; but not where there is so little noise that the minimum itself is near, and objective perturbation is much
# faster. With very many columns its eigenvalues take minutes, and steps along gradients a second.

auto_noise <- 10^-3.75
auto_columns <- 1000L

check_method <- function(method, loss, penalty, control, call) {
  method <- check_choice(method, c(methods_known, "auto"), "method", call)
  if (method == "auto" && !is.null(control)) {
    abort("argument", "`control` belongs to a method: name one, such as `method = \"2opt-ls\"`, instead of \"auto\".",
          call = call)
  }
  if (method != "auto") return(method)
  if (is_convex(loss, penalty)) "newton" else "2opt-ls"
}

# The rest of the rule, when the number of columns is known: before the size of a problem is checked, ...
auto_wide <- function(run, dim) {
  if (run$method != "newton" || dim <= auto_columns) return()
  run$method <- if (is_smooth(run$loss)) "2opt-ls" else "gd"
  run$control <- check_control(NULL, run$method)
}

# ... and when delta is.
auto_quiet <- function(run) {
  if (run$method != "newton" || !run$owned || gradient_noise(run, run$eps) >= auto_noise) return()
  run$method <- "objpert"
  run$control <- control_perturbation()
}
