# The table of the methods, which is also the source of a section of dp_sosp()'s help page.

#' @section Methods:
#' For all problems:
#' * `"2opt-ls"`, `"2opt"`, `"opt-ls"`, `"opt"`: short steps, or a private line search (`-ls`), in one phase or two
#'   (`2`); on batches `"opt-b"`, `"2opt-b"`. See [control_opt()].
#' * `"tr"`, on batches `"tr-b"`: trust region. See [control_tr()].
#' * `"spider"`: each record is used once, and the certificate is about the population. See [control_spider()].
#' * `"gd"`, on batches `"sgd"`: gradient descent, a baseline. See [control_gd()].
#'
#' For problems that are not convex, with a response of two values:
#' * `"warm-ridge"`: `"newton-ridge"` on the logistic loss, then on the problem itself from there. See
#'   [control_warm_ridge()].
#'
#' For convex problems:
#' * `"newton-ridge"`: Newton's method on centred and scaled columns, with a ridge penalty that it chooses itself; no
#'   other penalty. See [control_newton_ridge()].
#' * `"newton"`, `"damped-newton"`, on batches `"newton-b"`: Newton's method. See [control_newton()].
#' * `"objpert"`, `"outpert"`: perturbation of the objective or of its minimiser. See [control_perturbation()].
#' * `"cubic"`: cubic regularisation. See [control_cubic()].
#' * `"blgd"`, `"agd"`, on batches `"blsgd"`, `"blsgd-ac"`: gradient descent with private line searches. See
#'   [control_line_search()].
#' @rdname dp_sosp
#' @name dp_sosp
NULL

# A method is a family with settings: flags of the family, and
#   networks   is it for networks? Others are for linear models. A name may stand for one of each
#   batch      are its steps on batches?
#   fresh      is each record read once, in one pass over a source?
#   convex     does it need a convex problem?
#   nonconvex  does it need one that is not?
#   nonsmooth  does it support losses whose second derivative jumps?
#   multi_output  does it support losses with several outputs?
#   unbounded  does it support a loss whose slope has no bound (method-residual.R)?
#   scaled     are columns centred and scaled by default (method-geometry.R)?
#   open       function(job): the job with its budget, if it needs a special ledger; or NULL
method <- function(name, family, ..., networks = FALSE, batch = FALSE, fresh = FALSE, convex = FALSE, nonconvex = FALSE,
                   nonsmooth = FALSE, multi_output = FALSE, unbounded = FALSE, scaled = FALSE, open = NULL) {
  list(name = name, family = family, ..., networks = networks, batch = batch, fresh = fresh, convex = convex,
       nonconvex = nonconvex, nonsmooth = nonsmooth, multi_output = multi_output, unbounded = unbounded,
       scaled = scaled, open = open)
}

method_rows <- function() {
  list(
    method("2opt-ls", family_opt(), two_phase = TRUE, search = TRUE, scaled = TRUE),
    method("2opt", family_opt(), two_phase = TRUE, search = FALSE, scaled = TRUE),
    method("opt-ls", family_opt(), two_phase = FALSE, search = TRUE, scaled = TRUE),
    method("opt", family_opt(), two_phase = FALSE, search = FALSE, scaled = TRUE),
    method("tr", family_tr(), scaled = TRUE),
    method("gd", family_gd(), nonsmooth = TRUE, multi_output = TRUE, scaled = TRUE),
    method("opt-b", family_opt(), two_phase = FALSE, search = FALSE, batch = TRUE, scaled = TRUE),
    method("2opt-b", family_opt(), two_phase = TRUE, search = FALSE, batch = TRUE, scaled = TRUE),
    method("tr-b", family_tr(), batch = TRUE, scaled = TRUE),
    method("sgd", family_gd(), batch = TRUE, nonsmooth = TRUE, multi_output = TRUE),
    method("newton", family_newton(), damped = FALSE, convex = TRUE, nonsmooth = TRUE, multi_output = TRUE),
    method("newton-b", family_newton(), damped = FALSE, batch = TRUE, convex = TRUE, nonsmooth = TRUE),
    method("damped-newton", family_newton(), damped = TRUE, convex = TRUE),
    method("newton-ridge", family_newton_ridge(), convex = TRUE, nonsmooth = TRUE, multi_output = TRUE,
           unbounded = TRUE),
    method("warm-ridge", family_warm_ridge(), nonconvex = TRUE),
    method("objpert", family_perturbation(), output = FALSE, convex = TRUE, nonsmooth = TRUE, open = open_perturbed),
    method("outpert", family_perturbation(), output = TRUE, convex = TRUE, nonsmooth = TRUE),
    method("cubic", family_cubic(), convex = TRUE),
    method("blsgd", family_line_search(), search = "svt", clips = FALSE, batch = TRUE, convex = TRUE, nonsmooth = TRUE),
    method("blsgd-ac", family_line_search(), search = "svt", clips = TRUE, batch = TRUE, convex = TRUE,
           nonsmooth = TRUE),
    method("blgd", family_line_search(), search = "svt", clips = FALSE, convex = TRUE, nonsmooth = TRUE),
    method("agd", family_line_search(), search = "exponential", clips = FALSE, convex = TRUE, nonsmooth = TRUE),
    method("spider", family_spider(), fresh = TRUE, nonsmooth = TRUE),
    method("sgd", family_network(), networks = TRUE, adam = FALSE, batch = TRUE),
    method("adam", family_network(), networks = TRUE, adam = TRUE, batch = TRUE),
    method("blsgd", family_network_search(), networks = TRUE, search = "svt", clips = TRUE, falls = FALSE,
           batch = TRUE),
    method("blsgd-ac", family_network_search(), networks = TRUE, search = "svt", clips = TRUE, falls = TRUE,
           batch = TRUE),
    method("blgd", family_network_search(), networks = TRUE, search = "svt", clips = TRUE, falls = FALSE)
  )
}

# The rows by their names, each with `default`, the control object where none is given. They are made once, when the
# package is loaded, as families are defined in files that come after this one.
methods <- local({
  table <- NULL
  function(networks = FALSE) {
    if (is.null(table)) {
      rows <- lapply(method_rows(), function(row) c(row, list(default = row$family$control(row))))
      table <<- split(stats::setNames(rows, vapply(rows, `[[`, "", "name")), vapply(rows, `[[`, NA, "networks"))
    }
    table[[as.character(networks)]]
  }
})

find_method <- function(name, networks = FALSE) methods(networks)[[name]]
method_names <- function(networks = FALSE) names(methods(networks))
# Names of the methods that have a flag, and of those that do not.
methods_with <- function(flag, networks = FALSE) {
  names(Filter(function(method) method[[flag]], methods(networks)))
}
methods_without <- function(flag, networks = FALSE) setdiff(method_names(networks), methods_with(flag, networks))

# Of a numeric response, such a method knows the codes of two classes only. A name that is no method's is refused later.
implies_loss <- function(method) {
  is.character(method) && !any(method %in% c("auto", methods_with("nonsmooth")))
}

gradient_advice <- function() {
  gradients <- Filter(function(method) !method$convex && !method$family$matrices(method$default),
                      methods())
  paste0(" For a convex problem the methods ", quote_all(names(gradients)), " ask for gradients only.")
}

check_control <- function(control, method, job) {
  family <- method$family
  constructor <- paste0("control_", family$name)
  if (is.null(control)) control <- method$default
  if (!inherits(control, paste0("dp_", constructor))) {
    abort("argument", "`control` of the method \"", method$name, "\" must be NULL or come from `", constructor,
          "()`, not ", describe(control), ".", call = job$call)
  }
  control <- own(control, class(method$default), union(names(method$default), names(formals(constructor))))
  family$check(control, method, job$call)
  if (!method$batch && !is.null(c(control$batch, control$sampling))) {
    abort("argument", "`batch` and `sampling` belong to the methods ", quote_all(methods_with("batch")), ", not to \"",
          method$name, "\".", call = job$call)
  }
  family$complete(control, method, job$n)
}

#' @export
print.dp_control <- function(x, digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  cat("<", class(x)[1], ">\n", sep = "")
  for (name in names(x)) cat("  ", name, ": ", format(x[[name]], digits = digits), "\n", sep = "")
  invisible(x)
}
