# Combinations of method and problem that a job refuses.

# If every record's curvature is nonnegative, Newton directions have bounded sensitivity and are descent directions, and
# a perturbed minimiser is private.
check_convex <- function(loss, penalty, method, call) {
  if (!method$convex || is_convex(loss, penalty)) return(invisible())
  loss_is <- is_convex(loss, penalty_none())
  what <- if (loss_is) "penalty" else "loss"
  abort("argument", "The method \"", method$name, "\" needs a convex ", what, ": the ",
        if (loss_is) penalty$name else loss$name, " ", what, " has negative curvature", method$family$because,
        ". The methods ", quote_all(methods_without("convex")), " take it.", call = call,
        class = "dpsosp_error_nonconvex")
}

# Where l'' jumps there is no Hessian, nor a Lipschitz constant of one.
check_smooth <- function(loss, penalty, method, control, call) {
  if (is_smooth(loss)) return(invisible())
  what <- paste0("the second derivative of the ", loss$name, " loss jumps")
  refuse <- function(...) abort("argument", ..., call = call, class = "dpsosp_error_nonsmooth")
  if (penalty$name == "nonconvex") {
    refuse("The ", loss$name, " loss goes with convex penalties only: as its second derivative jumps, no Hessian is ",
           "released that could certify a point.")
  }
  if (!method$nonsmooth) {
    refuse("The method \"", method$name, "\" needs a loss with a Lipschitz second derivative, and ", what,
           ". The methods ", quote_all(methods_with("nonsmooth")), " take it, and \"auto\" finds one.")
  }
  hessians <- method$family$hessians(control)
  if (!is.null(hessians)) {
    refuse(hessians$setting, " asks for Hessians, and ", what, ": take ", hessians$instead, ".")
  }
}

# These parts are proven and implemented only for losses with one predictor per row.
check_several <- function(loss, penalty, method, control, geometry, inference, call) {
  moment <- identical(control$curvature, "moment")
  if (loss$name != "multinomial") {
    if (moment) abort("argument", "`curvature` \"moment\" is for `loss_multinomial()`: take \"lazy\".", call = call)
    return(invisible())
  }
  refuse <- function(...) abort("argument", ..., call = call, class = "dpsosp_error_several")
  if (!method$several) {
    refuse("The method \"", method$name, "\" is for losses of one predictor, and the multinomial loss has one for ",
           "each class: what it releases, second derivatives or minimisers, has no bound that is proven there. The ",
           "methods ", quote_all(methods_with("several")), " take it, and \"auto\" finds one.")
  }
  if (method$name == "newton" && !moment) {
    refuse("With the multinomial loss the method \"newton\" needs `control_newton(curvature = \"moment\")`.")
  }
  if (penalty$name == "nonconvex") refuse("The multinomial loss goes with `penalty_ridge()` or no penalty.")
  if (!is.null(geometry) && !identical(geometry, "none")) {
    refuse("The multinomial loss has no `geometry`: leave it out.")
  }
  if (inference != "none") refuse("There are no intervals for the multinomial loss: leave out `inference`.")
}

# Refuses what is not possible with rows that come in chunks.
check_streamed <- function(job) {
  check_stream_storage(job$storage, job$call)
  if (job$method$batch) {
    abort("argument", "`method` \"", job$method$name, "\" draws batches, which needs rows by their numbers; a source ",
          "yields them in order. Methods without batches are ", quote_all(methods_without("batch")), ".",
          call = job$call)
  }
  if (!is.null(job$once)) check_one_pass(job)
  if (job$shards && job$method$fresh) {
    abort("argument", "`method` \"", job$method$name, "\" reads the rows in one order; shards are summed each by its ",
          "worker. Other methods are ", quote_all(setdiff(methods_without("batch"), job$method$name)), ".",
          call = job$call)
  }
}

# Refuses everything that needs another pass.
check_one_pass <- function(job) {
  refuse <- function(...) abort("argument", "The source can be read once only", ..., call = job$call)
  if (job$once$read) refuse(", and was.")
  if (!job$method$fresh) {
    refuse(": `method` must be ", quote_all(methods_with("fresh")), ", which makes one pass, not \"", job$method$name,
           "\".")
  }
  columns <- names(job$columns(job))
  if (length(columns) > 0L) {
    refuse(": declare `bounds` of ", quote_all(columns), ", whose ranges would be found in a pass of their own.")
  }
  if (identical(job$geometry, "private")) refuse(": moments for `geometry` would be found in a pass of their own.")
  if (job$inference != "none") refuse(", and `inference` needs passes of its own.")
}

# Is the problem too large for the matrices that the method asks for?
check_size <- function(job) {
  job$method$family$check_problem(job)
  if (job$side <= most_matrix) return(invisible())
  if (job$method$family$matrices(job$control)) {
    published <- identical(job$control$constants, "published")
    check_matrix_size(job$side, paste0("The method \"", job$method$name, "\"",
                                      if (published) " with published constants"), job$call, gradient_advice())
  }
  least <- least_curvature(job)
  if (least[["curv_lower"]] == 0) return(invisible())
  eps_h <- if (is.null(job$target)) 0 else target_resolve(job$target, least[["third"]])$eps_h
  if (least[["curv_lower"]] > eps_h) {
    what <- paste0("A certificate of this problem, which is not convex, with an `eps_h` in `target` below ",
                   format(signif(least[["curv_lower"]] + 5e-4, 3)), ",")
    check_matrix_size(job$side, what, job$call, gradient_advice())
  }
}

# Lower bound of the objective's curvature (as curv_lower) and bound of its third derivatives.
least_curvature <- function(job) {
  loss_bounds(job$loss)[c("curv_lower", "third")] + penalty_bounds(core_penalty(job$penalty, FALSE))
}
