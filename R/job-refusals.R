# What cannot be combined, said in one table for all models, methods and losses. A row is a function(job) that returns
# the text of the error, or NULL where the job is not refused, and the second class of the error, if it has one. The
# first row that refuses decides. What a family of methods needs beyond this is in its check_problem (method-family.R).

new_refusal <- function(text, class = NULL) list(text = text, class = class)

refuse <- function(job, table) {
  for (row in table) {
    text <- row$text(job)
    if (!is.null(text)) abort("argument", text, call = job$call, class = row$class)
  }
}

# ---- before the arguments are checked: what a model does not take ----

# Arguments for linear models only.
linear_arguments <- c("penalty", "radius", "target", "start", "intercept", "storage", "geometry", "inference",
                      "certificate", "offset", "offset_range", "smooth")

argument_refusals <- list(
  new_refusal(function(job) {
    given <- intersect(names(job$call), linear_arguments)
    if (!is.null(job$model) && length(given) > 0L) {
      paste0(quote_names(given), if (length(given) == 1L) " does" else " do", " not go with `model`, only with the ",
             "linear model.")
    }
  })
)

method_refusals <- list(
  new_refusal(class = "dpsosp_error_network", function(job) {
    name <- job$asked$method
    if (is.null(job$model) || !is.character(name) || length(name) != 1L) return(NULL)
    if (name %in% setdiff(method_names(), method_names(networks = TRUE))) {
      paste0("The method \"", name, "\" does not take a network: it rests on Lipschitz constants, second derivatives ",
             "or convexity, which a network has no public bounds of. The methods ",
             quote_all(method_names(networks = TRUE)), ", which clip records' gradients, take it.")
    }
  })
)

check_model_takes <- function(model, asked, call) {
  refuse(list(model = model, call = call), argument_refusals)
  asked
}

# ---- once method and control are decided ----

# If every record's curvature is nonnegative, Newton directions have bounded sensitivity and are descent directions, and
# a perturbed minimiser is private.
refuse_nonconvex <- function(job) {
  if (!job$method$convex || is_convex(job$loss, job$penalty)) return(NULL)
  by_penalty <- is_convex(job$loss, penalty_none())
  what <- if (by_penalty) "penalty" else "loss"
  paste0("The method \"", job$method$name, "\" needs a convex ", what, ": the ", job[[what]]$name, " ", what,
         " has negative curvature", job$method$family$because, ". The methods ", quote_all(methods_without("convex")),
         " take it.")
}

refuse_convex <- function(job) {
  if (!job$method$nonconvex || !is_convex(job$loss, job$penalty)) return(NULL)
  paste0("The method \"", job$method$name, "\" is for problems that are not convex, and the ", job$loss$name, " loss ",
         if (job$penalty$name != "none") "with this penalty ", "is: give a `loss` such ",
         "as \"sigmoid\", or take \"newton-ridge\" or \"newton\".")
}

# Where l'' jumps there is no Hessian, nor a Lipschitz constant of one.
refuse_nonsmooth <- function(job) {
  if (!is.null(job$model) || is_smooth(job$loss)) return(NULL)
  name <- job$loss$name
  jumps <- paste0("the second derivative of the ", name, " loss jumps")
  if (!is_convex_penalty(job$penalty)) {
    return(paste0("The ", name, " loss goes with convex penalties only: as its second derivative jumps, no Hessian is ",
                  "released that could certify a point."))
  }
  if (!job$method$nonsmooth) {
    return(paste0("The method \"", job$method$name, "\" needs a loss with a Lipschitz second derivative, and ", jumps,
                  ". The methods ", quote_all(methods_with("nonsmooth")), " take it, and \"auto\" finds one."))
  }
  hessians <- job$method$family$hessians(job$control)
  if (!is.null(hessians)) paste0(hessians$setting, " asks for Hessians, and ", jumps, ": take ", hessians$instead, ".")
}

# These parts are proven and implemented only for losses with one predictor per row.
refuse_outputs <- function(job) {
  if (!is.null(job$model) || job$outputs == 1L) return(NULL)
  if (!job$method$multi_output) {
    return(paste0("The method \"", job$method$name, "\" is for losses of one predictor, and the multinomial loss has ",
                  "one for each class: what it releases, second derivatives or minimisers, has no bound that is ",
                  "proven there. The methods ", quote_all(methods_with("multi_output")), " take it, and \"auto\" ",
                  "finds one."))
  }
  if (!is.null(job$control$curvature) && !is_moment(job$control)) {
    return(paste0("With the multinomial loss the method \"", job$method$name, "\" needs `control_newton(curvature = ",
                  "\"moment\")`."))
  }
  if (!is_convex_penalty(job$penalty)) return("The multinomial loss goes with `penalty_ridge()` or no penalty.")
  if (!is.null(job$asked$geometry) && !identical(job$moments, "none") && is.null(job$method$family$weighted)) {
    return(paste0("With the multinomial loss the method \"", job$method$name, "\" has no `geometry`: leave it out, or ",
                  "take the method \"newton-ridge\"."))
  }
  if (job$inference != "none") class_refusal(!is.null(job$method$family$weighted), job$linked)
}

# What is proven for records only.
refuse_records <- function(job) {
  if (is.null(job$persons)) return(NULL)
  method <- job$method
  why <- if (method$batch) {
    "draws batches of records, where one person may have several"
  } else if (method$fresh) {
    "reads each record once, in a random order, so that a person's would count several times"
  } else if (!is.null(method$open)) {
    "rests on the rank of a record's second derivative, which is one; a person's may have any"
  }
  if (is.null(why)) return(NULL)
  known <- Filter(function(other) !other$batch && !other$fresh && is.null(other$open) && !needs_rows(job, other),
                  methods(!is.null(job$model)))
  paste0("With `id` persons are protected, and the method \"", method$name, "\" is for records: it ", why, ". The ",
         if (length(known) == 1L) "method " else "methods ", quote_all(names(known)), if (length(known) == 1L) " takes"
         else " take", " an `id`, and \"auto\" finds one.")
}

# Does the other method's usual control need rows that are not fetched?
needs_rows <- function(job, other) {
  isTRUE(job$linked) && !other$family$pushed(other$family$control(other, job$loss), other)
}

# Rows that come in chunks, in order.
refuse_streamed <- function(job) {
  if (!job$streamed) return(NULL)
  method <- job$method
  if (job$linked) {
    why <- refuse_linked(job)
    if (!is.null(why)) return(why)
  }
  if (method$batch) {
    why <- refuse_batches(job)
    if (!is.null(why)) {
      return(paste0("`method` \"", method$name, "\" draws batches, ", why, ". Methods without batches are ",
                    quote_all(methods_without("batch", !is.null(job$model))), "."))
    }
  }
}

# Batches are rows by their numbers: workers and prepared rows of a database have them, too.
refuse_batches <- function(job) {
  if (job$shards) return(NULL)
  if (!is.null(job$push)) return(refuse_sampled(job$push, job$design, batch_needs(job)))
  if (!has_row_numbers(job)) {
    paste0("which needs rows by their numbers: those of a source have some where a fit keeps them ",
           "(`dp_source(cache = \"memory\")` or \"file\")")
  }
}

# What a method on batches asks a database for, see refuse_sampled(); NULL for other methods.
batch_needs <- function(job) {
  if (!job$method$batch) return(NULL)
  list(matrices = job$method$family$matrices(job$control), candidates = job$control$candidates %||% 0,
       outputs = job$outputs)
}

# By the public size of the mapped rows, as new_oracle() decides it.
has_row_numbers <- function(job) {
  if (is.null(job$cache)) return(FALSE)
  if (!is.null(job$model)) return(keeps_rows(job$cache, job$n, nrow(job$design$columns), 0))
  numeric <- job$design$columns$kind == "numeric"
  keeps_rows(job$cache, max_rows(job), sum(numeric), length(unique(job$design$columns$variable[!numeric])))
}

# No rows can be fetched of shards whose databases compute the sums.
refuse_linked <- function(job) {
  if (job$method$family$pushed(job$control, job$method)) return(NULL)
  search <- if (identical(job$control$line_search, "exponential")) " with this search"
  paste0("The method \"", job$method$name, "\"", search, " asks for sums that a database does not compute, and no ",
         "rows of ", if (job$shards) "these shards" else "persons", " are fetched.")
}

# Whatever needs another pass.
refuse_passes <- function(job) {
  if (is.null(job$once)) return(NULL)
  columns <- names(job$columns(job))
  why <- if (job$once$read) {
    ", and was."
  } else if (!job$method$fresh) {
    paste0(": `method` must be ", quote_all(methods_with("fresh")), ", which makes one pass, not \"", job$method$name,
           "\".")
  } else if (length(columns) > 0L) {
    paste0(": declare `bounds` of ", quote_all(columns), ", whose ranges would be found in a pass of their own.")
  } else if (identical(job$moments, "private")) {
    ": moments for `geometry` would be found in a pass of their own."
  } else if (job$inference != "none") {
    ", and `inference` needs passes of its own."
  }
  if (!is.null(why)) paste0("The source can be read once only", why)
}

# The columns of smooths are not known before the fit, and are many: their prior keeps them from being noise.
refuse_smooth <- function(job) {
  if (is.null(job$design$smooth)) return(NULL)
  if (!is.null(job$model)) return("A network takes no smooth terms: it finds shapes itself.")
  name <- job$method$name
  if (is.null(job$method$family$weighted)) {
    return(paste0("The method \"", name, "\" takes no smooth terms, as it has no prior that keeps their columns ",
                  "smooth. The method \"newton-ridge\" does, and \"auto\" finds it."))
  }
  given <- c(start = !is.null(job$asked$start), geometry = inherits(job$asked$geometry, "dp_geometry"))
  if (any(given)) {
    paste0("`", names(given)[given][1], "` does not go with smooth terms, whose columns are found by the fit.")
  }
}

refusals <- list(
  new_refusal(class = "dpsosp_error_smooth", refuse_smooth),
  new_refusal(function(job) {
    if (!is.null(job$method$family$weighted) && identical(job$asked$geometry, "none")) {
      paste0("The method \"", job$method$name, "\" needs a geometry: `geometry` must not be \"none\".")
    }
  }),
  new_refusal(function(job) {
    if (job$outputs == 1L && !is.null(job$control$curvature) && is_moment(job$control)) {
      "`curvature` \"moment\" is for `loss_multinomial()`: take \"lazy\"."
    }
  }),
  new_refusal(class = "dpsosp_error_several", refuse_outputs),
  new_refusal(class = "dpsosp_error_nonconvex", refuse_nonconvex),
  new_refusal(class = "dpsosp_error_nonsmooth", refuse_nonsmooth),
  new_refusal(class = "dpsosp_error_convex", refuse_convex),
  new_refusal(class = "dpsosp_error_persons", refuse_records),
  new_refusal(refuse_streamed),
  new_refusal(refuse_passes),
  new_refusal(class = "dpsosp_error_inference", function(job) {
    if (job$inference != "none" && (job$method$batch || !is.null(job$method$open))) {
      paste0("The method \"", job$method$name, "\" has an accountant of its own, which pays for no intervals: take ",
             "another one, or `dp_inference()` afterwards.")
    }
  })
)

# ---- what depends on numbers ----

check_requirements <- function(job) {
  if (!is.null(job$model)) return(invisible())
  if (job$streamed) check_stream_storage(job$storage, job$call)
  check_geometry_columns(job)
  job$method$family$check_problem(job)
  check_matrices(job)
  if (job$inference != "none") {
    check_inferable(job$loss, job$penalty, job$design, job$call, job$method$residuals, job$inference,
                    !identical(job$moments, "none") && is.null(job$method$family$weighted))
  }
}

# Is the problem too large for the matrices that the method asks for?
check_matrices <- function(job) {
  if (!is.null(job$design$smooth)) {
    check_matrix_size(max_columns(job$design) + 1, "A matrix of all columns of smooth terms", job$call)
  }
  if (job$side <= max_matrix) return(invisible())
  if (job$method$family$matrices(job$control)) {
    published <- identical(job$control$constants, "published")
    check_matrix_size(job$side, paste0("The method \"", job$method$name, "\"",
                                      if (published) " with published constants"), job$call, gradient_advice())
  }
  least <- min_curvature(job)
  if (least[["curv_lower"]] == 0) return(invisible())
  target <- job$asked$target
  eps_h <- if (is.null(target)) 0 else target_resolve(target, least[["third"]])$eps_h
  if (least[["curv_lower"]] > eps_h) {
    what <- paste0("A certificate of this problem, which is not convex, with an `eps_h` in `target` below ",
                   format(signif(least[["curv_lower"]] + 5e-4, 3)), ",")
    check_matrix_size(job$side, what, job$call, gradient_advice())
  }
}

# Lower bound of the objective's curvature (as curv_lower) and bound of its third derivatives.
min_curvature <- function(job) {
  loss_bounds(job$loss)[c("curv_lower", "third")] + penalty_bounds(core_penalty(job$penalty, FALSE))
}
