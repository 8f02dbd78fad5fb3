#' A noisy oracle for your own algorithm
#'
#' An oracle holds data, loss and budget and answers queries about the mean
#' loss with noise. Every query is charged to the budget before it is
#' answered, and is refused when the budget does not suffice. So whatever an algorithm does
#' with the releases, the run is private at the budget.
#'
#' Rows are clipped to norm `radius` (with the intercept, if there is one) and divided
#' by it, so an oracle's coefficients are those of the problem times `radius`. A record
#' with a missing or infinite value, or with a response that is not coded as `y` says, is replaced by a null record,
#' which adds nothing to any gradient.
#'
#' Sensitivities for n records under `"replace-one"`, with \eqn{|l'| \le L} and
#' \eqn{l'' \in [-a, b]}: the gradient has 2 L / n, the
#' Hessian \eqn{\max(a + b, \sqrt{2} \max(a, b)) / n} in the Frobenius norm, and the
#' value the range of the loss over linear predictors up to the norm of `w`, divided by n. Under `"zero-out"`
#' the gradient has L / n, the Hessian \eqn{\max(a, b) / n}, and the value the smaller of that range and L |w|, divided
#' by n (for regression losses L |w| plus the spread of the loss at t = 0). A
#' Gaussian release with cost mu has standard deviation sensitivity / mu.
#'
#' With a formula and a data frame the oracle maps the columns as [dp_sosp()] does, from ranges that `bounds` declares
#' for all of them, and `coef(oracle, w)` has the coefficients `w` on the original scale.
#'
#' Every release is about all records. Batches, on which releases cost less, are drawn by methods of [dp_sosp()] alone.
#'
#' @param x A formula, whose columns `y` then has. Or a numeric matrix, one row per record; it is not copied. Or a
#'   sparse `dgCMatrix` of the package Matrix, whose entries are copied; time and memory are then proportional to their
#'   number. Or a source from [dp_source()], all of whose columns except `y` are then those of the matrix.
#' @param y With a formula: a data frame. Otherwise the response, one per row, coded as in [dp_sosp()]: a factor,
#'   logical, numeric with 1 for one class and 0 or -1 for the other; or numbers for a regression loss, which are mapped
#'   as [losses] says. For a source the name of its column.
#' @param loss A loss or its name, see [losses]. `NULL` is that of [dp_sosp()] for a factor or a logical response;
#'   numbers need one.
#' @param budget A budget from [dp_budget()].
#' @param radius Public bound on the norm of a row, with its intercept. With a formula `NULL` is that of [dp_sosp()].
#' @param intercept `TRUE` puts a column of ones before the others; a formula says so itself.
#' @param bounds With a formula: a list of the public ranges of all numeric columns, as in [dp_sosp()].
#' @param neighbours `"replace-one"`: one record is replaced by any other; `"zero-out"`: by a null record, which adds
#'   nothing. n is public under both.
#' @param noise `"secure"`: exact sampling with the operating system's generator.
#'   `"reproducible"`: R's generator, for study and not for release.
#' @param storage `"single"` keeps a copy of a matrix in single precision, half as large: numbers are
#'   rounded to 24 bits before rows are clipped, all sums are computed in double precision, and sensitivities
#'   stay the same. A number above 3.4e38 becomes infinite. A sparse matrix takes `"double"` only.
#' @param ... Not used; anything in it is an error.
#' @param oracle An oracle.
#' @param w Coefficients, one per column (the intercept first); with `loss_multinomial()` those of the first class, then
#'   those of the second, and so on.
#' @param mu,rho Cost of the release: one of the two, `rho = mu^2 / 2`.
#' @param direction Direction of the search, of the length of `w`.
#' @param steps Candidate steps, positive, at most 1000. `"svt"` takes the first one that passes, so give them in
#'   decreasing order.
#' @param mechanism `"gaussian"` releases all decreases; `"svt"` (sparse
#'   vector) and `"exponential"` release a step only, and need zCDP
#'   accounting.
#' @param sufficient Required decrease per unit of step (only `"svt"`).
#' @param object An oracle.
#' @return `dp_oracle()`: an object of class `dp_oracle`. `coef()`: coefficients `w` on the original scale of the
#'   columns, for a matrix `w` divided by `radius`. `dp_value()`: a number; `dp_gradient()`: a vector; `dp_hessian()`: a
#'   symmetric matrix; each with the attribute `"sd"`, the standard deviation of the noise (for the Hessian on the
#'   diagonal; off it, `sd / sqrt(2)`), and of class `dp_release`: arithmetic gives plain numbers without this
#'   attribute, as their noise is another one. Functions that know S4 classes only, such as products with matrices of
#'   the package Matrix, need `unclass()` of them. `dp_line_search()`: with `"gaussian"` a data frame of `step`,
#'   `decrease` and `sd`, otherwise the chosen step, or `NA` when none passes.
#' @section Errors: `dpsosp_error_argument` before anything is charged (a Hessian of more than 8192
#'   coefficients is `dpsosp_error_size` as well, that of a loss whose second derivative jumps
#'   `dpsosp_error_nonsmooth`); `dpsosp_budget_exhausted` when the budget does not suffice.
#' @references The design of barrier and filters: Smith and Thakurta (2022). Line
#'   searches: Gao and Wright (2023), algorithm 2; Chen and Lee (2020).
#' @examples
#' set.seed(1)
#' x <- matrix(runif(2000, -1, 1), 1000)
#' y <- x[, 1] + rnorm(1000) > 0
#' budget <- dp_budget(eps = 1, delta = 1e-6)
#' oracle <- dp_oracle(x, y, "logistic", budget, radius = sqrt(3))
#' w <- c(0, 0, 0)
#' for (i in 1:5) w <- w - 4 * dp_gradient(oracle, w, mu = 0.08)
#' w / sqrt(3)
#' budget
#'
#' budget <- dp_budget(eps = 1, delta = 1e-8)
#' oracle <- dp_oracle(cover ~ elevation, covertype[1:5000, ], budget = budget,
#'                     bounds = list(elevation = c(1850, 3900)))
#' w <- c(0, 0)
#' for (i in 1:5) w <- w - 4 * dp_gradient(oracle, w, mu = 0.08)
#' coef(oracle, w)
#' @export
dp_oracle <- function(x, y, loss = NULL, budget, radius, intercept = TRUE, neighbours = "replace-one",
                      noise = c("secure", "reproducible"), storage = c("double", "single"), bounds = NULL, ...) {
  call <- scrub_call(match.call(), quote(dp_oracle))
  if ("data" %in% names(call)) {
    abort("argument", "There is no `data`: with a formula the data frame is `y`.", call = call)
  }
  check_dots(call)
  if (missing(x) || missing(y)) {
    abort("argument", "`x` and `y` are needed: a matrix and its response, or a formula and its data.", call = call)
  }
  if (inherits(x, "formula")) {
    if (!missing(intercept)) abort("argument", "`intercept` is for a matrix: a formula says so itself.", call = call)
    return(oracle_formula(x, y, loss, if (!missing(budget)) budget, if (!missing(radius)) radius, bounds, neighbours,
                          noise, storage, call))
  }
  if (!is.null(bounds)) abort("argument", "`bounds` is for a formula: a matrix is taken as it is.", call = call)
  streamed <- is_source(x, "x", call)
  rows <- if (streamed) source_rows(x, y, storage, call) else matrix_rows(x, storage, "x", call)
  intercept <- check_flag(intercept, "intercept", call)
  response <- if (streamed) x$schema[[y]] else y
  name <- if (streamed) y else "y"
  loss <- check_loss(loss, intercept, call, response, name, bounded = TRUE)
  check_bounded_slope(loss, "An oracle needs", call, FALSE)
  neighbours <- check_oracle_budget(if (!missing(budget)) budget, neighbours, call)
  if (missing(radius)) abort("argument", radius_advice, call = call)
  template <- response_template(response, name, call, loss)
  loss <- with_c(loss_of(loss, template))
  if (!streamed && length(y) != rows$n) {
    abort("argument", "`y` must have one entry per row of `x`: ", rows$n, ", not ", length(y), ".", call = call)
  }
  radius <- check_radius(radius, call)
  noise <- check_noise(noise, call)
  warn_delta(budget$delta, rows$n, call)
  records <- if (streamed) rows$records(template) else list(rows = rows$core, y = response_code(template, y))
  oracle <- new_oracle(records, loss, budget, radius, intercept, neighbours, noise)
  oracle$problem <- list(response = template, intercept = intercept)
  oracle
}

# The relation, checked with the budget.
check_oracle_budget <- function(budget, neighbours, call) {
  if (is.null(budget)) abort("argument", "`budget` is missing: create one with `dp_budget()`.", call = call)
  check_budget(budget, "budget", call)
  if (is_stored(budget)) {
    abort("argument", "An oracle draws on a part of a budget with a `store`: `dp_reserve()` makes one.", call = call)
  }
  neighbours <- check_neighbours(neighbours, call)
  check_relation(budget, neighbours, call)
  neighbours
}

# As problem_formula() and plain_oracle(), with ranges that are declared, as nothing is released here.
oracle_formula <- function(formula, data, loss, budget, radius, bounds, neighbours, noise, storage, call) {
  if (!is.data.frame(data)) {
    abort("argument", "With a formula `y` must be a data frame, not ", describe_column(data), ".",
          if (is_source(data, "y", call)) " A source takes the place of a matrix: it is `x`, its response's name `y`.",
          call = call)
  }
  check_data(data, "y", call)
  design <- refuse_smooths(design_template(formula, data, bounds %||% list(), radius, call, frame = deparse1(call$y)),
                           "An oracle", call)
  open <- rownames(design$ranges)[is.na(design$ranges[, "lower"])]
  if (length(open) > 0L) {
    abort("argument", "`bounds` must declare the ranges of all numeric columns: an oracle releases only what it is ",
          "asked for. Missing: ", quote_names(open), ".", call = call)
  }
  check_rows(nrow(data), call)
  y <- design_response(design, data, call = call)
  loss <- check_loss(loss, design$intercept, call, y, design$response, bounded = TRUE)
  check_offset(loss, length(design$offset) > 0L, call)
  check_bounded_slope(loss, "An oracle needs", call, FALSE)
  neighbours <- check_oracle_budget(budget, neighbours, call)
  response <- response_template(y, design$response, call, loss)
  storage <- check_choice(storage, storage_known, "storage", call)
  noise <- check_noise(noise, call)
  warn_delta(budget$delta, nrow(data), call)
  records <- list(rows = design_rows(design, data, storage, call), y = coded_response(design, response, data, call, y),
                  weighing = design_weighing(design, response, data, call))
  oracle <- new_oracle(records, with_c(loss_of(loss, response)), budget, design$radius, design$intercept, neighbours,
                       noise)
  oracle$problem <- list(design = design, response = response, intercept = design$intercept)
  oracle
}

#' @rdname dp_oracle
#' @export
coef.dp_oracle <- function(object, w, ...) {
  check_dots()
  require_given()
  call <- sys.call()
  w <- check_point(w, object, "w", call)
  problem <- object$problem
  outputs <- loss_outputs(object$loss)
  found <- by_output(w, outputs, if (is.null(problem$design)) function(w) w / object$radius else
    function(w) core_coef(problem$design, w))
  if (outputs > 1L) return(centred(found, problem$response$labels))
  response_coef(problem$response, found, problem$intercept)
}

# records: rows (see design-rows.R), y and, with weights or offsets, weighing (design-records.R), with an id persons
# (design-rows.R). For rows that come in chunks or have workers: a feed and n (source-stream.R), and the rows of an
# empty chunk; cache, held and clock (source-stream.R); a network.
new_oracle <- function(records, loss, budget, radius, intercept, neighbours, noise) {
  create <- if (is.null(records$feed)) create_of_rows else create_of_feed
  if (!is.null(records$push)) records$remote <- records$push(loss, intercept, radius)
  pointer <- create(records, loss, budget, radius, intercept, neighbours, noise == "reproducible")
  if (!is.null(records$held)) note_oracle(records$held, pointer)
  if (!is.null(records$weighing)) set_weights(pointer, records$weighing)
  if (!is.null(records$persons)) .Call(ffi_oracle_set_persons, pointer, records$persons)
  structure(class = "dp_oracle", list(pointer = pointer, budget = budget, loss = loss, radius = radius,
                                      neighbours = neighbours, noise = noise, move = records$remote$move,
                                      again = if (!is.null(records$clock)) read_again(records)))
}

# Of a job or a claim, in the coordinates of the mapped rows.
plain_oracle <- function(job, records = job$records(job), loss = path_loss(job)) {
  new_oracle(records, loss, job$budget, job$design$radius, job$design$intercept, job$neighbours, job$noise)
}

# What a function of a plain oracle releases. Its rows are freed at once.
released_by <- function(job, release) {
  records <- job$records(job)
  records$held <- NULL
  oracle <- plain_oracle(job, records)
  on.exit(.Call(ffi_oracle_close, oracle$pointer))
  release(oracle)
}

# A method may begin with another loss than its job's (method-residual.R, method-ridge.R).
path_loss <- function(job) if (is.null(job$method$loss)) job$loss else job$method$loss

# weighing: see design-records.R.
set_weights <- function(pointer, weighing) {
  .Call(ffi_oracle_set_weights, pointer, weighing$weight, weighing$offset, weighing$most)
}

# From now on coefficients and releases are in other coordinates, also on workers.
move_oracle <- function(oracle, geometry) {
  if (!is.null(oracle$move)) oracle$move(geometry)
  .Call(ffi_oracle_move, oracle$pointer, geometry)
}

create_of_rows <- function(records, loss, budget, radius, intercept, neighbours, reproducible) {
  .Call(ffi_oracle_create, records$rows, intercept, radius, records$y, loss$name, loss$parameter, budget$pointer,
        neighbours, reproducible)
}

create_of_feed <- function(records, loss, budget, radius, intercept, neighbours, reproducible) {
  size <- rows_size(records$rows)
  .Call(ffi_oracle_create_stream, records$feed, records$remote, as.double(records$n), size$dense, size$indicators,
        intercept, radius, loss$name, loss$parameter, budget$pointer, neighbours, reproducible, keeps_records(records),
        cache_folder(records$cache), records$network)
}

# A public bound on the number of rows.
max_rows <- function(x) {
  if (is.null(x$persons)) x$n else as.double(x$persons$n %||% x$n) * x$persons$most
}

# Numbers of dense columns and of each factor's indicators.
rows_size <- function(rows) {
  if (is.list(rows)) list(dense = ncol(rows$x), indicators = rows$indicators)
  else list(dense = ncol(rows), indicators = integer())
}

keeps_records <- function(records) {
  size <- rows_size(records$rows)
  keeps_rows(records$cache, max_rows(records), size$dense, length(size$indicators))
}

# Of rows that come again in each pass: the clock (source-stream.R), and the bytes that they would need in memory. The
# time of a pass tells the number of rows, which persons have private.
read_again <- function(records) {
  if (!is.null(records$persons) || keeps_records(records)) return(NULL)
  size <- rows_size(records$rows)
  list(clock = records$clock, bytes = rows_bytes(records$n, size$dense, length(size$indicators)))
}

# Are a source's mapped rows kept after the first pass? By the public size of the rows.
keeps_rows <- function(cache, n, dense, factors) {
  if (!identical(cache, "auto")) return(isTRUE(cache %in% c("memory", "file")))
  most <- check_number(getOption("dpsosp.cache", 2^30), "options(dpsosp.cache)", 0, open = FALSE, call = NULL)
  rows_bytes(n, dense, factors) <= most
}

# In memory, with response, weight, offset, clip and length.
rows_bytes <- function(n, dense, factors) n * (8 * (dense + 5) + 4 * factors)

# Of the file that holds the rows; NULL: memory does.
cache_folder <- function(cache) if (identical(cache, "file")) enc2native(tempdir())

check_noise <- function(noise, call = sys.call(-1)) check_choice(noise, c("secure", "reproducible"), "noise", call)

oracle_facts <- function(oracle) .Call(ffi_oracle_facts, oracle$pointer)

check_point <- function(w, oracle, arg, call = sys.call(-1)) {
  check_vector(w, arg, oracle_facts(oracle)$dim, "one per coefficient (the intercept, if there is one, first)", call)
}

check_cost <- function(mu, rho, call = sys.call(-1)) {
  if (is.null(mu) == is.null(rho)) {
    abort("argument", "Give one of `mu` and `rho`, the cost of the release.", call = call)
  }
  if (is.null(mu)) return(check_number(rho, "rho", 0, call = call))
  # Larger values would overflow, and no budget could pay for them.
  min(check_number(mu, "mu", 0, call = call), 1e100)^2 / 2
}

check_oracle <- function(oracle, call = sys.call(-1)) {
  if (!inherits(oracle, "dp_oracle") || !is.list(oracle)) {
    abort("argument", "`oracle` must come from `dp_oracle()`, not ", describe(oracle), ".", call = call)
  }
  oracle
}

#' @rdname dp_oracle
#' @export
dp_value <- function(oracle, w, mu = NULL, rho = NULL, ...) {
  check_dots()
  require_given()
  ask <- question(oracle, w, mu, rho)
  answer <- .Call(ffi_oracle_value, ask$pointer, ask$w, ask$rho, ask$reproducible)
  new_release(answer$value, answer$sd)
}

#' @rdname dp_oracle
#' @export
dp_gradient <- function(oracle, w, mu = NULL, rho = NULL, ...) {
  check_dots()
  require_given()
  ask <- question(oracle, w, mu, rho)
  answer <- .Call(ffi_oracle_gradient, ask$pointer, ask$w, ask$rho, ask$reproducible)
  new_release(answer$gradient, answer$sd)
}

#' @rdname dp_oracle
#' @export
dp_hessian <- function(oracle, w, mu = NULL, rho = NULL, ...) {
  check_dots()
  require_given()
  ask <- question(oracle, w, mu, rho)
  check_matrix_size(length(ask$w), "A Hessian", sys.call())
  check_curved(oracle, sys.call())
  answer <- .Call(ffi_oracle_hessian, ask$pointer, ask$w, ask$rho, ask$reproducible)
  new_release(answer$hessian, answer$sd)
}

# Numbers with noise of standard deviation sd. What is computed from them has another one, so arithmetic drops it.
new_release <- function(x, sd) {
  structure(x, sd = sd, class = c("dp_release", if (is.matrix(x)) "matrix" else "numeric"))
}

without_sd <- function(x) {
  if (!inherits(x, "dp_release")) return(x)
  attr(x, "sd") <- NULL
  unclass(x)
}

#' @export
Ops.dp_release <- function(e1, e2) {
  operator <- get(.Generic, mode = "function")
  if (missing(e2)) operator(without_sd(e1)) else operator(without_sd(e1), without_sd(e2))
}

#' @export
Math.dp_release <- function(x, ...) get(.Generic, mode = "function")(without_sd(x), ...)

#' @export
print.dp_release <- function(x, digits = NULL, ...) {
  print(unclass(x), digits = check_digits(digits))
  invisible(x)
}

check_curved <- function(oracle, call) {
  check_one_output(oracle$loss, "Hessians are", call)
  if (is.finite(oracle_facts(oracle)$third)) return(invisible())
  abort("argument", "The second derivative of the ", oracle$loss$name, " loss jumps: what rounding does to its ",
        "Hessian has no bound, and none is released.", call = call, class = "dpsosp_error_nonsmooth")
}

question <- function(oracle, w, mu, rho, call = sys.call(-1)) {
  check_oracle(oracle, call)
  list(pointer = oracle$pointer, w = check_point(w, oracle, "w", call), rho = check_cost(mu, rho, call),
       reproducible = oracle$noise == "reproducible")
}

#' @rdname dp_oracle
#' @export
dp_line_search <- function(oracle, w, direction, steps, mu = NULL, rho = NULL,
                           mechanism = c("gaussian", "svt", "exponential"), sufficient = 0, ...) {
  check_dots()
  require_given()
  call <- sys.call()
  check_oracle(oracle, call)
  w <- check_point(w, oracle, "w", call)
  direction <- check_point(direction, oracle, "direction", call)
  check_one_output(oracle$loss, "Line searches are", call)
  steps <- check_steps(steps, call)
  cost <- check_cost(mu, rho, call)
  mechanism <- check_choice(mechanism, c("gaussian", "svt", "exponential"), "mechanism", call)
  sufficient <- check_number(sufficient, "sufficient", 0, open = FALSE, call = call)
  if (mechanism == "gaussian") {
    answer <- .Call(ffi_oracle_decreases, oracle$pointer, w, direction, steps, cost, oracle$noise == "reproducible")
    return(data.frame(step = steps, decrease = answer$decrease, sd = answer$sd))
  }
  offset <- if (mechanism == "svt") -sufficient * steps else 0 * steps
  steps[.Call(ffi_oracle_choose, oracle$pointer, w, direction, steps, offset, mechanism == "svt", cost,
              oracle$noise == "reproducible")]
}

check_steps <- function(steps, call = sys.call(-1)) {
  if (!is.numeric(steps) || length(steps) < 1L || length(steps) > 1000L) {
    abort("argument", "`steps` must be 1 to 1000 positive numbers, not ", describe(steps), ".", call = call)
  }
  steps <- check_vector(steps, "steps", length(steps), "one per candidate", call)
  if (any(steps <= 0)) abort("argument", "`steps` must be positive.", call = call)
  steps
}

#' @export
dp_ledger.dp_oracle <- function(x, ...) dp_ledger(check_oracle(x, sys.call(-1))$budget)

#' @export
print.dp_oracle <- function(x, digits = NULL, ...) {
  check_dots()
  digits <- check_digits(digits)
  cat("<dp_oracle> ", loss_text(x$loss, digits), " loss, radius ", format(x$radius, digits = digits), ", ",
      x$neighbours, ", ", x$noise, " noise\n", sep = "")
  if (x$noise == "reproducible") cat(study_text, "\n", sep = "")
  print(x$budget, digits = digits)
  invisible(x)
}

study_text <- "Noise from R's generator: FOR STUDY, NOT FOR RELEASE"
