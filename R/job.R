# What a fit refuses of its method and problem together, and the oracle of a fit to a source.

# Newton directions are private, and lead downhill, only where every record's curvature is positive, as does the
# guarantee of a perturbed minimiser.
check_convex <- function(loss, penalty, method, call) {
  if (!method$convex || is_convex(loss, penalty)) return(invisible())
  loss_is <- is_convex(loss, penalty_none())
  what <- if (loss_is) "penalty" else "loss"
  abort("argument", "The method \"", method$name, "\" needs a convex ", what, ": the ",
        if (loss_is) penalty$name else loss$name, " ", what, " has negative curvature", method$family$because,
        ". The methods ", quote_all(methods_without("convex")), " take it.", call = call,
        class = "dpsosp_error_nonconvex")
}

# No Hessian, nor anything that rests on its Lipschitz constant, where l'' jumps.
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

# What a run cannot do with rows that come in chunks.
check_streamed <- function(run, storage, call) {
  check_stream_storage(storage, call)
  if (run$method$batch) {
    abort("argument", "`method` \"", run$method$name, "\" draws batches, which needs rows by their numbers; a source ",
          "yields them in order. Methods without batches are ", quote_all(methods_without("batch")), ".", call = call)
  }
}

stream_oracle <- function(source, design, response, run, call) {
  map <- function(data) {
    list(design_rows(design, data, "double", call), response_code(response, design_response(design, data, call = call)))
  }
  new_stream_oracle(stream_feed(source, names(design$schema), map), source$n,
                    design_rows(design, source$schema, "double", call), run$loss, run$budget, design$radius,
                    design$intercept, run$neighbours, run$noise)
}
