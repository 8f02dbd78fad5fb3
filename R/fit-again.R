# The problem of a fit with other data, or with its own once more, for releases that come later.

# The fit's problem with the given data, which may differ from the training data. beside: y, weights and offset of a
# matrix.
again_claim <- function(fit, data, beside, noise, asked, call) {
  again <- if (is_matrix_design(fit$design)) again_matrix else again_formula
  problem <- again(fit, data, beside, call)
  c(problem, list(asked = check_promise(asked, call), design = fit$design, response = fit$response, loss = fit$loss,
                  noise = noise, call = call, neighbours = fit$privacy$neighbours))
}

again_formula <- function(fit, data, beside, call) {
  if (!is.null(beside$y)) {
    abort("argument", "`y` is for fits to a matrix: this one's response is in `data`.", call = call)
  }
  refuse_vectors(beside, call)
  if (is_source(data, "data", call)) {
    data <- again_source(fit, data, call)
    if (!is.null(data$push)) check_pushed(data$push, fit$design, fit$response, call)
    check_columns(fit, data$schema, call)
    claim <- list(n = data$n, linked = is_linked(data), once = data$once,
                  hold = source_hold(data, fit$design, fit$response),
                  records = function(claim) source_records(data, claim$design, claim$response, call))
    return(of_source_persons(claim, data))
  }
  persons <- again_persons(fit, data, call)
  data <- persons_frame(data, persons)
  response <- response_code(fit$response, design_response(fit$design, data, call = call))
  check_rows(nrow(data), call)
  check_columns(fit, data[0L, , drop = FALSE], call)
  of_persons(list(n = nrow(data), hold = hold_nothing, records = function(claim) {
    list(rows = design_rows(claim$design, data, "double", call), y = response,
         weighing = design_weighing(claim$design, claim$response, data, call))
  }), persons)
}

# Columns that are missing or of another type are found before anything is charged. empty: the data without rows.
check_columns <- function(fit, empty, call) {
  response_code(fit$response, design_response(fit$design, empty, call = call))
  design_rows(fit$design, empty, "double", call)
  design_weighing(fit$design, fit$response, empty, call)
  invisible()
}

# The source as one of persons if the fit protects persons, and only then.
again_source <- function(fit, source, call) {
  if (identical(fit$persons$name, source$persons$name)) return(limit_persons(source, fit$persons$most %||% 1, call))
  says <- function(name) if (is.null(name)) "records" else paste0("persons, by the column `", name, "`")
  abort("argument", "The fit protects ", says(fit$persons$name), ", and the source is of ", says(source$persons$name),
        ": `id` of `dp_source()` says which records are of one person.", call = call, class = "dpsosp_error_persons")
}

# The persons of other records, for a fit that protects persons; else NULL.
again_persons <- function(fit, data, call, arg = "data") {
  if (is.null(fit$persons)) return(NULL)
  if (is.null(fit$persons$name)) {
    abort("argument", "The fit protects persons, by `id`: that is possible here for a formula only, whose data have ",
          "a column that says which records are of one person.", call = call, class = "dpsosp_error_persons")
  }
  frame_persons(fit$persons$name, fit$persons$most, data, call, arg)
}

again_matrix <- function(fit, data, beside, call) {
  again_persons(fit, data, call)
  y <- beside$y
  rows <- matrix_rows(matrix_newdata(fit$design, data, call, "data"), "double", "data", call)
  template <- response_template(y, "y", call, fit$loss)
  if (!identical(template$labels, fit$response$labels) || length(y) != rows$n) {
    abort("argument", "`y` must be the response as the fit had it, with one entry per row of `data`, ", rows$n, ".",
          call = call)
  }
  vectors <- again_vectors(fit$design, beside, rows$n, "data", call)
  list(n = rows$n, hold = hold_nothing,
       records = function(claim) matrix_records(rows$core, y, vectors, fit$design$shift, template))
}
