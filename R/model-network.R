# Problems of networks, from an array or from a formula and a data frame. They are lists as in model-problem.R, except
# for
#   design      NULL for an array
#   input       height, width and channels of a record; for a row of a matrix 1, 1 and its number of columns
#   range       of all input values
#   records     function(job): x (given or mapped), y and weighing, as those of new_oracle(); of a source as
#               stream_records()

network_array <- function(x, y, model, loss, bounds, weights, id, missing, call) {
  model <- check_model(model, call)
  if (fills_gaps(missing)) {
    abort("argument", "`missing` goes with `model` for a formula only: which number stands for a missing pixel or ",
          "input of an array is known to you, and `x` may have it before the fit.", call = call)
  }
  if (!is.null(id)) {
    abort("argument", "`id` goes with `model` for a formula only, whose data have a column that says which records ",
          "are of one person.", call = call, class = "dpsosp_error_persons")
  }
  if (missing(y)) abort("argument", "`y` is missing: give one response per record of `x`.", call = call)
  loss <- check_loss(loss, TRUE, call, y, bounded = TRUE)
  check_bounded_slope(loss, "A network needs", call, FALSE)
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
network_formula <- function(formula, data, model, loss, bounds, extras, call, persons = NULL) {
  model <- check_model(model, call)
  sourced <- is_source(data, "data", call)
  if (sourced) check_network_source(data, call)
  if (model$name != "mlp") {
    abort("argument", "`model_", model$name, "()` takes images: give them as an array, records x height x width, and ",
          "their response, `dp_sosp(x, y, model = )`, in place of a formula.", call = call)
  }
  data <- persons_frame(data, persons)
  make <- if (sourced) problem_source else problem_formula
  problem <- make(formula, data, loss, bounds, NULL, extras, call, bounded = TRUE)
  check_bounded_slope(problem$loss, "A network needs", call, FALSE)
  if (length(problem$design$offset) > 0L) {
    abort("argument", "An offset() does not go with `model`, only with the linear model: give its column as an input.",
          call = call)
  }
  columns <- nrow(problem$design$columns)
  if (columns == 0L) abort("argument", "`formula` leaves a `model` no inputs.", call = call)
  problem$records <- function(job) {
    if (sourced) return(sourced_records(data, job, call))
    list(x = design_matrix(job$design, data, call = call), y = problem$counted(job)[[1]],
         weighing = design_weighing(job$design, job$response, data, call))
  }
  of_persons(c(problem, list(model = model, input = c(1L, 1L, columns), range = c(-1, 1))), persons)
}

sourced_records <- function(source, job, call) {
  if (!is.null(source$shards)) {
    return(shard_records(source, job$design, job$response, network = job$network, dim = job$dim))
  }
  c(stream_records(source, job$design, job$response, call, rows = design_matrix), list(network = job$network))
}

# A record's gradient is clipped as a whole, of all layers.
check_network_source <- function(source, call) {
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

#' Networks
#'
#' Networks for [dp_sosp()], in place of its linear model: `model_mlp()` with dense layers, `model_cnn()` with
#' convolutions, pooling and dense layers for images. The last dense layer has an output for each class (one for a
#' response with two values or a number). The loss may be any but [loss_squared()]; [loss_huber()] and [loss_poisson()]
#' need public bounds of the response. A model describes the sequence of layers; it holds no weights and no data.
#'
#' # What is private
#' Each step releases the mean, over a random batch, of the records' gradients, each clipped to the norm `clip` of
#' [control_network()]. One record changes a sum by at most `clip` (`neighbours = "zero-out"`) or twice as
#' much (`"replace-one"`), whatever the network is. Gradients of single records are not kept in memory: their norms are
#' computed from the inputs of a layer and the derivatives with respect to its outputs. There is no batch normalisation,
#' which would mix records. First weights are random numbers that follow from the `seed` of [control_network()], with
#' variance one over the number of inputs of a unit.
#'
#' Line searches ([control_line_search()]) compare records' losses, whose decreases along a step are clipped as well. A
#' record's weight, one of `weights` of [dp_sosp()], multiplies its clipped gradient and its clipped decreases.
#'
#' A network has no Lipschitz constants, no bounds of second derivatives and no convexity. Therefore everything else is
#' refused: methods that need these, values, Hessians, certificates, perturbed objectives and intervals.
#'
#' With a formula `id` protects persons with all of their records, by `method = "blgd"`, which uses all of them: a
#' person's clipped gradients are weighted to a mean, which is no longer than one of them. Methods on batches draw
#' records, so that several of a person would come together.
#'
#' # Inputs
#' `x` is a matrix with a row per record or, for `model_cnn()`, an array of images, records x height x width or
#' records x height x width x channels; `dim(x) <- c(nrow(x), height, width)` makes images of a matrix. The argument
#' `bounds` of [dp_sosp()] declares a public range of all numbers, `c(lower, upper)`, such as `c(0, 255)` for bytes:
#' they are clipped to it and mapped to \[-1/2, 1/2\]. A record with a missing or infinite number, or a missing
#' response, is replaced by a null record, which adds nothing.
#'
#' `model_mlp()` also takes a formula and a data frame, a [dp_source()] in chunks, whose rows a fit keeps to draw
#' batches from them (`"blgd"`, without batches, may also read them again), or shards of data frames or files
#' ([dp_shards()]). The inputs are then the columns as [dp_sosp()] maps them for its linear model: numeric ones from
#' their range, found privately or declared in `bounds`, and an indicator for each declared level of a factor except the
#' first.
#'
#' @param hidden Numbers of units of the hidden dense layers; `integer()` for no hidden layer.
#' @param activation Activation of all hidden layers: `"tanh"` or `"relu"`.
#' @param channels Number of outputs of each convolution.
#' @param kernel,stride,padding For each convolution: the side of its square window, the step between windows, and the
#'   width in pixels of the border of zeros around the image, less than `kernel`. One number for all or one for each.
#' @param pool,pool_stride For the pooling after each convolution, which takes the maximum of each window: side of the
#'   window (1: no pooling) and step between windows.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_model`.
#' @section Errors: `dpsosp_error_argument` for an argument out of its range.
#' @references Abadi et al. (2016), Deep learning with differential privacy; Papernot et al. (2021), Tempered sigmoid
#'   activations for deep learning with differential privacy: the convolutions that are the default, and `"tanh"`;
#'   Goodfellow (2015), Efficient per-example gradient computations: norms of gradients that are not formed.
#' @seealso [control_network()], [dp_network-methods].
#' @examples
#' model_mlp(hidden = c(64, 32))
#' model_cnn()
#' set.seed(1)
#' x <- matrix(runif(3000 * 4), 3000)
#' y <- factor(ifelse(x[, 1] > x[, 2], "a", ifelse(x[, 3] > 0.5, "b", "c")), levels = c("a", "b", "c"))
#' fit <- dp_sosp(x, y, model = model_mlp(16), eps = 3, delta = 1e-6, bounds = c(0, 1))
#' fit
#' mean(predict(fit, x, type = "class") == y)
#' d <- covertype[1:3000, ]
#' dp_sosp(cover ~ elevation + slope, d, model = model_mlp(8), eps = 3, delta = 1e-6,
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @name networks
NULL

#' @rdname networks
#' @export
model_mlp <- function(hidden = 256, activation = c("tanh", "relu"), ...) {
  call <- sys.call()
  check_dots(call)
  new_model("mlp", dense_layers(check_counts(hidden, "hidden", call, least = 0L),
                                check_choice(activation, activations, "activation", call)))
}

#' @rdname networks
#' @export
model_cnn <- function(channels = c(16, 32), kernel = c(8, 4), stride = 2, padding = c(3, 0), pool = 2, pool_stride = 1,
                      hidden = 32, activation = c("tanh", "relu"), ...) {
  call <- sys.call()
  check_dots(call)
  activation <- check_choice(activation, activations, "activation", call)
  channels <- check_counts(channels, "channels", call)
  of_each <- function(x, arg, lower = 1) check_each(x, arg, length(channels), lower, call)
  convolutions <- data.frame(type = "convolution", outputs = channels, size = of_each(kernel, "kernel"),
                             stride = of_each(stride, "stride"), padding = of_each(padding, "padding", 0),
                             activation = activation)
  if (any(convolutions$padding >= convolutions$size)) {
    abort("argument", "`padding` must be less than `kernel`.", call = call)
  }
  pools <- data.frame(type = "pool", outputs = 0L, size = of_each(pool, "pool"),
                      stride = of_each(pool_stride, "pool_stride"), padding = 0L, activation = "none")
  each <- rbind(convolutions, pools)[order(rep(seq_along(channels), 2)), ]
  new_model("cnn", rbind(each[each$type != "pool" | each$size > 1L, ],
                         dense_layers(check_counts(hidden, "hidden", call, least = 0L), activation)))
}

activations <- c("tanh", "relu")

dense_layers <- function(units, activation) {
  none <- rep(0L, length(units))
  data.frame(type = rep("dense", length(units)), outputs = units, size = none, stride = none, padding = none,
             activation = rep(activation, length(units)))
}

# layers: a data frame with a row for each layer but the last.
new_model <- function(name, layers) {
  rownames(layers) <- NULL
  structure(class = "dp_model", list(name = name, layers = layers))
}

max_units <- 1e5
max_layers <- 20L

# Whole numbers, one for each layer.
check_counts <- function(x, arg, call, least = 1L) {
  if (!is.numeric(x) || length(x) < least || length(x) > max_layers || anyNA(x)) {
    abort("argument", "`", arg, "` must be ", least, " to ", max_layers, " whole numbers, not ", describe(x), ".",
          call = call)
  }
  each_count(x, arg, 1, call)
}

# Several numbers are not quoted.
each_count <- function(x, arg, lower, call) {
  if (length(x) == 1L) return(check_count(x, arg, lower, call, max_units))
  if (!all(x >= lower & x <= max_units & x == round(x))) {
    abort("argument", "`", arg, "` must be whole numbers ", range_text(lower, max_units, FALSE), ".", call = call)
  }
  as.integer(x)
}

check_each <- function(x, arg, count, lower, call) {
  if (!is.numeric(x) || !length(x) %in% c(1L, count)) {
    abort("argument", "`", arg, "` must be one number or ", count, ", one for each convolution, not ", describe(x), ".",
          call = call)
  }
  if (anyNA(x)) abort("argument", "`", arg, "` must be numbers, none missing.", call = call)
  rep_len(each_count(x, arg, lower, call), count)
}

check_model <- function(model, call) {
  if (inherits(model, "dp_model")) return(new_model(as.vector(model$name), list2DF(lapply(model$layers, as.vector))))
  abort("argument", "`model` must come from `model_mlp()` or `model_cnn()`, not ", describe(model), ".", call = call)
}

# A network in the form of the core. input: height, width and channels of a record; for a matrix 1, 1 and its number of
# columns.
core_network <- function(model, input, bounds, classes) {
  c(list(input = input, bounds = bounds, classes = classes), model$layers)
}

model_text <- function(model) {
  layers <- model$layers
  shown <- ifelse(layers$type == "dense", layers$outputs, ifelse(
    layers$type == "pool", sprintf("max %d x %d", layers$size, layers$size),
    sprintf("%d of %d x %d", layers$outputs, layers$size, layers$size)
  ))
  hidden <- setdiff(layers$activation, "none")
  paste0(model$name, if (nrow(layers) > 0L) paste0(" (", paste(shown, collapse = ", "), "; ", hidden[1], ")"))
}

#' @export
print.dp_model <- function(x, ...) {
  check_dots()
  cat("<dp_model> ", model_text(x), "\n", sep = "")
  invisible(x)
}
