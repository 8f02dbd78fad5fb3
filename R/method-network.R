#' Settings of networks' methods
#'
#' For [dp_sosp()] with a `model`, see [networks]. `method = "sgd"` takes steps along the mean of the released
#' gradients, m = `momentum` m + (1 - `momentum`) g; `"adam"` uses Adam's rule with 0.9 and 0.999 for the means of
#' gradients and of their squares. Each step's gradient is computed on a fresh batch; its cost is amplified by the
#' sampling, and all steps share the budget evenly. The last iterate is the fit. The rules differ only in the
#' post-processing of released gradients, so neither is more private than the other. All settings are public: they must
#' not be chosen by looking at the data.
#'
#' @param epochs Number of passes over the data, on average; the number of steps is `epochs` n / `batch`, rounded.
#' @param batch Number of records in a batch, the expected one with Poisson sampling; `NULL`: n / 30.
#' @param clip The norm to which each record's gradient is clipped.
#' @param step Step size; for `"adam"` that of each coordinate. `NULL`: 8, for `"adam"` 0.01, the
#'   best of those tried on synthetic images (`inst/experiments/network-rule.R`).
#' @param momentum A number in \[0, 1).
#' @param seed A whole number, public, which determines the first weights; R's random number generator is not
#'   used for them.
#' @inheritParams control_opt
#' @return An object of class `dp_control_network`.
#' @section Errors: `dpsosp_error_argument` for a setting that is out of its range or unknown, and in [dp_sosp()] for
#'   one that its method does not take.
#' @references Abadi et al. (2016), Deep learning with differential privacy; Kingma and Ba (2015), Adam.
#' @examples
#' control_network(epochs = 10)
#' fit <- dp_sosp(cover ~ elevation + slope, covertype, model = model_mlp(8), eps = 3, delta = 1e-6,
#'                method = "adam", control = control_network(epochs = 10, batch = 500),
#'                bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' fit
#' mean(predict(fit, covertype, type = "class") == covertype$cover)
#' @export
control_network <- function(epochs = 20, batch = NULL, clip = 0.5, step = NULL, momentum = 0.9, sampling = NULL,
                            seed = 1, ...) {
  call <- sys.call()
  check_dots(call)
  structure(class = c("dp_control_network", "dp_control"), c(list(
    epochs = check_number(epochs, "epochs", 0, 1e4, call = call),
    clip = check_number(clip, "clip", 1e-6, 1e6, call = call),
    step = if (is.null(step)) NA_real_ else check_number(step, "step", 0, 1e6, call = call),
    momentum = check_momentum(momentum, call),
    seed = check_count(seed, "seed", call, lower = 0)
  ), utils::modifyList(batch_control(batch, sampling, 0.5, call), list(batch_share = 1), keep.null = TRUE)))
}

check_momentum <- function(x, call) {
  x <- check_number(x, "momentum", 0, 1, open = FALSE, call = call)
  if (x < 1) return(x)
  abort("argument", "`momentum` must be less than 1.", call = call)
}

family_network <- function() {
  new_family("network", function(method, loss) control_network(), network_options, core = function(control) "descent",
             complete = network_control, matrices = function(control) FALSE, steps = network_steps)
}

network_steps <- function(job) max(1, round(job$control$epochs * job$n / job$control$batch))

network_options <- function(job, rho) {
  control <- job$control
  default <- if (job$method$adam) 0.01 else 8
  c(list(adam = job$method$adam, momentum = control$momentum, clip = control$clip,
         step = if (is.na(control$step)) default else control$step, iterations = as.integer(job$batch$steps)),
    batch_options(job$batch))
}

# Sets what the control object leaves open; the whole budget is for steps.
network_control <- function(control, method, n) {
  open <- list(clip = 0.5, seed = 1L, batch = if (method$batch) max(1, round(n / 30)))
  full <- utils::modifyList(unclass(control), open[setdiff(names(open), names(Filter(length, control)))])
  full$batch_share <- 1
  structure(full, class = class(control))
}

# The start does not depend on the data.
network_start <- function(job) {
  refuse <- function(e) {
    abort("argument", "The layers of `model` do not fit images of ", paste(job$network$input[1:2], collapse = " x "),
          " pixels: a window is larger than what it is moved over.", call = job$call)
  }
  tryCatch(.Call(ffi_network_start, job$network, job$control$seed), dpsosp_error = refuse)
}

# Each value is clamped on its own; the norm of a row is not clipped.
network_radius <- 1e100

network_oracle <- function(job) {
  records <- job$records(job)
  if (!is.null(records$feed)) {
    return(new_oracle(records, job$loss, job$budget, network_radius, FALSE, job$neighbours, job$noise))
  }
  pointer <- .Call(ffi_network_oracle, job$network, records$x, length(records$y), network_radius, records$y,
                   job$loss$name, job$loss$parameter, job$budget$pointer, job$neighbours, job$noise == "reproducible")
  if (!is.null(records$weighing)) set_weights(pointer, records$weighing)
  if (!is.null(records$persons)) .Call(ffi_oracle_set_persons, pointer, records$persons)
  list(pointer = pointer, noise = job$noise)
}
