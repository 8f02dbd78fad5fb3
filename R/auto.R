# method = "auto": which method, from what is public. Objective perturbation is the most accurate for convex problems, or
# close to it, at every n, d and eps that inst/experiments/convex-rule.R looks at; where the budget is shared it cannot
# be used, and Newton's method with one noisy curvature matrix comes next.

auto_method <- function(loss, penalty, shared) {
  if (!is_convex(loss, penalty)) return("2opt-ls")
  if (shared) "newton" else "objpert"
}

check_method <- function(method, loss, penalty, control, shared, call) {
  method <- check_choice(method, c(methods_known, "auto"), "method", call)
  if (method != "auto") return(method)
  if (!is.null(control)) {
    abort("argument", "`control` belongs to a method: name one instead of \"auto\".", call = call)
  }
  method <- auto_method(loss, penalty, shared)
  inform("method", "method = \"", method, "\"")
  method
}
