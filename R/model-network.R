# Problems of networks, from an array or from a formula and a data frame. They are lists as in model-problem.R, except
# for
#   design      NULL for an array
#   input       height, width and channels of a record; for a row of a matrix 1, 1 and its number of columns
#   range       of all input values
#   records     function(job): x (given or mapped), y and weighing, as those of new_oracle(); of a source as
#               stream_records()

network_array <- function(x, y, model, loss, bounds, weights, call) {
  check_model(model, call)
  if (missing(y)) abort("argument", "`y` is missing: give one response per record of `x`.", call = call)
  loss <- check_loss(loss, TRUE, call, y)
  check_bounded_slope(loss, "A network needs", call)
  inputs <- network_inputs(x, model, bounds, call)
  response <- response_template(y, "y", call, loss)
  if (length(y) != inputs$n) {
    abort("argument", "`y` must have one entry per record of `x`: ", inputs$n, ", not ", length(y), ".", call = call)
  }
  vectors <- matrix_vectors(weights, NULL, inputs$n, "x", call)
  records <- function(job) {
    list(x = inputs$x, y = response_code(job$response, kept_response(y, vectors)),
         weighing = vectors_weighing(vectors, NULL, job$response))
  }
  problem <- new_problem(inputs$n, loss, response, design = NULL, call, columns = function(job) list(), records)
  c(problem, list(model = model, input = inputs$input, range = inputs$bounds))
}

# The inputs are the columns of the design's matrix.
network_formula <- function(formula, data, model, loss, bounds, extras, call) {
  check_model(model, call)
  sourced <- is_source(data, "data", call)
  if (sourced) check_network_source(data, call)
  if (model$name != "mlp") {
    abort("argument", "`model_", model$name, "()` takes images: give them as an array, records x height x width, and ",
          "their response, `dp_sosp(x, y, model = )`, in place of a formula.", call = call)
  }
  make <- if (sourced) problem_source else problem_formula
  problem <- make(formula, data, loss, bounds, NULL, extras, call)
  check_bounded_slope(problem$loss, "A network needs", call)
  if (length(problem$design$offset) > 0L) {
    abort("argument", "An offset() does not go with `model`, only with the linear model: give its column as an input.",
          call = call)
  }
  columns <- nrow(problem$design$columns)
  if (columns == 0L) abort("argument", "`formula` leaves a `model` no inputs.", call = call)
  problem$records <- function(job) {
    if (sourced) return(sourced_records(data, job, call))
    list(x = design_matrix(job$design, data, call = call), y = problem$responses(job)$y,
         weighing = design_weighing(job$design, job$response, data, call))
  }
  c(problem, list(model = model, input = c(1L, 1L, columns), range = c(-1, 1)))
}

sourced_records <- function(source, job, call) {
  if (!is.null(source$shards)) {
    return(shard_records(source, job$design, job$response, network = job$network, dim = job$dim))
  }
  c(stream_records(source, job$design, job$response, call, rows = design_matrix), list(network = job$network))
}

# A record's gradient is clipped as a whole, of all layers.
check_network_source <- function(source, call) {
  if (!is.null(source$persons)) {
    abort("argument", "The source's records belong to persons, by `id`, which does not go with `model`: make a source ",
          "without `id` that has one record of each person.", call = call, class = "dpsosp_error_persons")
  }
  if (is.null(source$push) && !isTRUE(source$shards$linked)) return(invisible())
  abort("argument", "A `model` takes a data frame, a source in chunks, or shards of data frames or files ",
        "(`dp_shards()`), not this source: a database computes sums of linear models only.", call = call)
}

# x: the given values as doubles, for n records; input: height, width and channels of a record.
network_inputs <- function(x, model, bounds, call) {
  images <- model$name == "cnn"
  if (!is.numeric(x) || is.object(x) || !length(dim(x)) %in% (if (images) 3:4 else 2:4)) {
    abort("argument", "`x` must be ", if (images) "an array of images, records x height x width (x channels)" else
      "a numeric matrix or an array of images", " for `model_", model$name, "()`, not ",
      describe_column(x, sizes = TRUE), ".", call = call)
  }
  size <- dim(x)
  if (any(size == 0L)) abort("argument", "`x` has no records, or none of their numbers.", call = call)
  if (is.null(bounds)) {
    abort("argument", "`bounds` is missing: give public bounds of all numbers of `x`, such as c(0, 255) for bytes.",
          call = call)
  }
  bounds <- check_interval(bounds, "bounds", call)
  if (max(abs(bounds)) > vector_limit) {
    abort("argument", "`bounds` must lie within ", vector_limit, " of zero.", call = call)
  }
  if (!is.double(x)) storage.mode(x) <- "double"
  input <- if (length(size) == 2L) c(1L, 1L, size[2]) else c(size[-1], 1L)[1:3]
  list(x = x, n = size[1], input = input, bounds = bounds)
}
