# Fits of networks. They keep the weights and public facts only.

new_network_fit <- function(job) {
  checks <- new_checks(job)
  warn_checks(checks, job$design, job$n, job$call)
  structure(class = "dp_network", list(
    weights = job$solution, status = checked_status(job$answer$result$status, checks), checks = checks,
    privacy = new_privacy(job), trace = as.data.frame(job$answer$trace),
    batch = job$batch, method = job$method$name, control = job$control, model = job$model, network = job$network,
    loss = job$loss, response = job$response, design = job$design, n = job$n, persons = job$persons, call = job$call
  ))
}

#' Methods for fits of networks
#'
#' [dp_sosp()] with a `model`, see [networks], returns an object of class `dp_network`. It holds the weights,
#' which are functions of released gradients, and public facts, but no data. It can be saved by `saveRDS()` and predicts
#' the same when it is read back.
#'
#' @param x,object A fit of class `dp_network`.
#' @param newdata A matrix or an array with as many numbers per record as the data had; for a fit with a formula a data
#'   frame.
#' @param type `"class"`: the likeliest label; `"response"`: probabilities, a column for each class (for a response
#'   with two values those of the second one); `"link"`: the outputs of the network. For a numeric response in bounds,
#'   `"link"` and `"response"` are the predicted response.
#' @param digits Number of significant digits that are printed.
#' @param ... Not used; anything in it is an error.
#' @return `predict()`: one entry, or row, per record, `NA` where a number is missing. `coef()`: a list with a matrix
#'   for each layer that has weights: a row for each output, a column for each input, the constant in the last column.
#'   `nobs()`: n, with `id` the number of persons. `formula()`: the formula, without its environment. `print()`,
#'   `summary()` and `plot()` return their argument invisibly, `autoplot()` a plot of ggplot2: see [dp_sosp-methods].
#' @section Errors: `dpsosp_error_argument` for wrong arguments; `dpsosp_error_absent` for generics that need data,
#'   standard errors or a likelihood. The warning `dpsosp_warning_levels` is that of [dp_sosp-methods].
#' @examples
#' x <- as.matrix(iris[1:4])
#' fit <- dp_sosp(x, iris$Species, eps = 5, delta = 1e-3, model = model_mlp(4), bounds = c(0, 8))
#' lapply(coef(fit), dim)
#' head(predict(fit, x, type = "response"), 3)
#' @name dp_network-methods
NULL

#' @rdname dp_network-methods
#' @export
print.dp_network <- function(x, digits = 3, ...) {
  check_dots()
  digits <- check_digits(digits)
  cat("<dp_network> ", x$method, ", ", model_text(x$model), ", ", format(length(x$weights), big.mark = ","),
      " weights, ", loss_text(x$loss), " loss, ",
      if (is.null(x$persons)) paste("n =", x$n) else persons_text(x$n, x$persons), "\n", sep = "")
  cat(null_text(x$checks, x$n) %||% usable_text(x$checks), privacy_text(checked_privacy(x$privacy)),
      batch_text(x$batch), sep = "\n")
  cat(sum(grepl("gradient", x$trace$query)), " gradients, each record's part clipped to ",
      format(x$control$clip, digits = digits), "\nNothing is certified: networks have no bounds for it\n", sep = "")
  invisible(x)
}

#' @rdname dp_network-methods
#' @export
summary.dp_network <- function(object, ...) {
  check_dots()
  print(object)
  layers <- vapply(stats::coef(object), function(w) paste(dim(w), collapse = " x "), "")
  cat("\nWeights:", paste0("  ", names(layers), ": ", layers), sep = "\n")
  invisible(object)
}

#' @rdname dp_network-methods
#' @export
coef.dp_network <- function(object, ...) {
  check_dots()
  outputs <- c(object$model$layers$outputs, object$network$classes)
  constants <- which(.Call(ffi_network_fans, object$network) == 0)
  # A layer's weights end with its biases, one for each output.
  weighted <- outputs[outputs > 0L]
  ends <- constants[cumsum(weighted)]
  starts <- c(0L, ends[-length(ends)])
  out <- Map(function(start, end, rows) matrix(object$weights[(start + 1L):end], rows), starts, ends, weighted)
  stats::setNames(out, paste("layer", which(outputs > 0L)))
}

#' @rdname dp_network-methods
#' @export
nobs.dp_network <- function(object, ...) {
  check_dots()
  object$n
}

#' @rdname dp_network-methods
#' @export
formula.dp_network <- function(x, ...) {
  check_dots()
  design_formula(x$design)
}

#' @export
dp_ledger.dp_network <- function(x, ...) x$privacy$ledger

#' @rdname dp_network-methods
#' @export
predict.dp_network <- function(object, newdata, type = c("class", "response", "link"), ...) {
  call <- sys.call()
  check_dots(call)
  response <- object$response
  numeric <- is_numeric_response(response)
  type <- if (missing(type) && numeric) "link" else check_choice(type, c("class", "response", "link"), "type", call)
  if (missing(newdata)) abort("argument", "`newdata` is missing: a private fit keeps no training data.", call = call)
  check_type(type, object, call)
  link <- network_link(object, newdata, call)
  warn_undeclared(object$design, newdata, call)
  classes <- response$kind == "classes"
  if (classes) colnames(link) <- response$labels
  if (!classes) link <- response_link(response, as.vector(link))
  if (type == "link") return(link)
  if (numeric) return(response_mean(response, link))
  if (type == "response") return(if (classes) class_probabilities(link) else stats::plogis(link))
  if (classes) class_labels(link, response$labels) else response_decode(response, ifelse(link > 0, 1, -1))
}

# The outputs of a row depend on this row alone, even in the last bit.
network_link <- function(fit, newdata, call) {
  x <- if (is.null(fit$design)) network_records(fit, newdata, call) else
    design_matrix(fit$design, newdata, "newdata", call)
  n <- nrow(x)
  missing <- !is.finite(x)
  x[missing] <- 0
  link <- matrix(NA_real_, n, fit$network$classes)
  if (n > 0L && !lacks_coefficients(fit)) link[] <- .Call(ffi_network_predict, fit$network, x, n, fit$weights)
  dim(missing) <- c(n, length(missing) / max(n, 1L))
  link[rowSums(missing) > 0, ] <- NA
  link
}

network_records <- function(fit, newdata, call) {
  inputs <- network_inputs(newdata, fit$model, fit$network$bounds, call)
  if (!identical(as.integer(inputs$input), as.integer(fit$network$input))) {
    abort("argument", "`newdata` must have records of ", paste(fit$network$input, collapse = " x "), " numbers, not ",
          paste(inputs$input, collapse = " x "), ".", call = call)
  }
  inputs$x
}
