# Arguments that must be given.

# Exported functions call this first: an argument without a default must be given.
require_given <- function() {
  frame <- parent.frame()
  needed <- names(Filter(is_empty, formals(sys.function(-1L))))
  for (name in setdiff(needed, "...")) {
    if (!eval(call("missing", as.name(name)), frame)) next
    abort("argument", "`", name, "` is missing: give ", what_to_give[[name]], ".", call = sys.call(-1L))
  }
}

what_to_give <- c(
  d = "the number of coefficients", data = "the data", delta = "a number between 0 and 1, such as 1 / n^2",
  direction = "one number per coefficient",
  eps = "a privacy parameter, such as 1", eps_g = "a positive number, the gradient's target",
  eps_h = "a positive number, the smallest eigenvalue's target", event = "an event, such as `event_gaussian(10)`",
  fit = "a fit from `dp_sosp()`",
  family = "a function that gives an event", formula = "a formula, such as `y ~ x`",
  gap = "a positive number, the initial gap",
  gradient = "one number per coefficient", hessian = "a symmetric matrix", iterations = "a whole number",
  k = "a whole number", lambda = "a number of at least 0", leaves = "a whole number",
  mean = "public means, one per column", n = "the number of records",
  oracle = "an oracle from `dp_oracle()`", order = "numbers above 1", p = "what `dp_account()` gives",
  query = "a positive number, the noise of a query", radius = "a positive number, the bound on the norm of rows",
  range = "a positive number", rate = "a number between 0 and 1", scale = "a positive number",
  sd = "public standard deviations, one per column", sigma = "a positive number",
  steps = "positive numbers", threshold = "a positive number, the noise of the threshold", times = "a whole number",
  w = "one number per coefficient", x = "the object to work on"
)
