# Problems: what a fit minimises, from the data in any of three forms. A problem is a list of
#   n, loss, response  number of records or, where they belong to persons, of persons, loss, how the response is coded
#               (loss-response.R)
#   outputs     number of predictors per row
#   persons     with an id the name of its column, and the largest number of records of a person (design-rows.R)
#   model       a network (model-network.R), or NULL: a linear model
#   design      how columns become rows and the solution coefficients: for a formula (design-columns.R) or a matrix
#               (below)
#   streamed    do the rows come in chunks?
#   once        for a source that can be read only once: see new_source()
#   hold        function(batches = NULL): prepares a source for a fit, on batches of batch_needs() or on none, and
#               returns a function that ends this
#   push        of a source whose database computes sums (sql-push.R), or NULL
#   shards      does it have shards?
#   linked      are these tables of databases, which compute all sums?
#   cache       of a source: are its mapped rows kept? See keeps_rows()
#   columns     function(job): the columns whose ranges are to be found, for private_ranges()
#   records     function(job): the mapped records, for new_oracle()
#   counted     function(job): the coded responses as a column, for private_ranges() and release_counts()
#   split       function(out): the problem of the other rows (rest) and the arguments of dp_certify() about the rows for
#               which out is TRUE (out); NULL for a source, whose rows cannot be split
#   call        of the user, for errors
# The argument of the functions is the job made from the problem (job-stages.R), whose design may have more ranges. Only
# these functions hold the data.

# implied, bounded: see check_loss().
problem_formula <- function(formula, data, loss, bounds, radius, extras, call, implied = FALSE, persons = NULL,
                            bounded = FALSE) {
  data <- persons_frame(data, persons)
  design <- design_template(formula, data, bounds, radius, call, frame = deparse1(call$data), extras)
  check_rows(nrow(data), call)
  y <- design_response(design, data, call = call)
  loss <- check_loss(loss, design$intercept, call, y, design$response, implied, bounded)
  loss <- with_declared_response(loss, bounds, design, call)
  check_offset(loss, length(design$offset) > 0L, call)
  response <- response_template(y, design$response, call, loss)
  of_rows <- function(data, y) {
    problem <- new_problem(
      nrow(data), loss, response, design, call,
      columns = function(job) design_private_columns(job$design, data, call),
      records = function(job) {
        list(rows = design_rows(job$design, data, job$storage, call),
             y = coded_response(job$design, job$response, data, call, y),
             weighing = design_weighing(job$design, job$response, data, call))
      },
      counted = function(job) named_response(job, coded_response(job$design, job$response, data, call, y))
    )
    c(problem, split = function(out) {
      list(rest = of_rows(data[!out, , drop = FALSE], y[!out]), out = list(data = data[out, , drop = FALSE]))
    })
  }
  of_persons(of_rows(data, y), persons)
}

problem_source <- function(formula, source, loss, bounds, radius, extras, call, implied = FALSE, bounded = FALSE) {
  design <- design_template(formula, predictor_schema(source), bounds, radius, call, frame = NULL, extras)
  check_rows(source$n, call)
  y <- design_response(design, source$schema, call = call)
  loss <- check_loss(loss, design$intercept, call, y, design$response, implied, bounded)
  loss <- with_declared_response(loss, bounds, design, call)
  check_offset(loss, length(design$offset) > 0L, call)
  response <- response_template(y, design$response, call, loss)
  if (!is.null(source$push)) check_pushed(source$push, design, response, call)
  problem <- new_problem(
    source$n, loss, response, design, call, streamed = TRUE,
    columns = function(job) source_columns(source, job$design, call),
    records = function(job) source_records(source, job$design, job$response, call),
    counted = function(job) source_counted(source, job$design, job$response, call), once = source$once,
    hold = source_hold(source, design, response), push = source$push, shards = !is.null(source$shards),
    linked = is_linked(source), cache = source$cache
  )
  of_source_persons(problem, source)
}

# Do databases compute all sums, so that no rows are fetched?
is_linked <- function(source) isTRUE(source$shards$linked) || !is.null(source$push$persons)

# A range of the response in `bounds` is that of the loss, or is refused: it would be ignored.
with_declared_response <- function(loss, bounds, design, call) {
  if (identical(bounds, "private")) return(loss)
  range <- declared_response(bounds, design, call)
  name <- paste0("`", design$response, "`")
  if (is.null(range)) return(loss)
  if (is.null(loss$response_kind)) {
    if (all(range %in% c(-1, 0, 1))) return(loss)
    abort("argument", "`bounds` has a range for the response ", name, ", which the ", loss$name, " loss codes as two ",
          "classes: leave it out, or use `loss_squared()`, `loss_huber()` or `loss_poisson()`.", call = call)
  }
  if (!is.null(loss$response) && !identical(as.double(loss$response), range)) {
    abort("argument", "`bounds` has a range for the response ", name, ", and `loss_", loss$name, "()` another: leave ",
          "out one.", call = call)
  }
  if (has_counts(loss)) return(bound_counts(loss, min(check_number(range[2], "bounds", 0, call = call), max_count)))
  check_huber_c(scale_loss(utils::modifyList(loss, list(response = range)), design$intercept), design$intercept, call)
}

# NULL if `bounds` says nothing of it. An expression may be declared itself, or follow from its columns.
declared_response <- function(bounds, design, call) {
  of <- intersect(names(bounds), c(design$response, all.vars(design$response_expression)))
  if (length(of) == 0L) return(NULL)
  ranges <- do.call(rbind, lapply(bounds[of], function(range) as.double(as_plain(range))))
  known <- list2env(lapply(split(ranges, rownames(ranges)), as.vector), parent = emptyenv())
  range <- known[[design$response]] %||% interval(design$response_expression, known)
  if (!anyNA(range) && range[1] < range[2]) return(range)
  elsewhere <- unlist(lapply(design$predictors, all.vars))
  if (all(of %in% elsewhere)) return(NULL)
  abort("argument", "`bounds` names `", setdiff(of, elsewhere)[1], "`, from whose range none follows for the ",
        "response: declare that of `", design$response, "`.", call = call)
}

# From chunks or from shards.
source_columns <- function(source, design, call) {
  if (is.null(source$shards)) stream_columns(source, design, call) else shard_columns(source, design)
}
source_records <- function(source, design, response, call) {
  if (is.null(source$shards)) stream_records(source, design, response, call)
  else shard_records(source, design, response)
}
source_counted <- function(source, design, response, call) {
  if (is.null(source$shards)) stream_counted(source, design, response, call)
  else shard_counted(source, design, response)
}
source_hold <- function(source, design, response) {
  if (!is.null(source$shards)) return(function(batches = NULL) hold_shards(source$shards, design, response, batches))
  function(batches = NULL) {
    end <- hold_snapshot(source$push, design, batches)
    free <- hold_oracles(source$held)
    function() {
      free()
      end()
    }
  }
}

problem_matrix <- function(x, y, loss, storage, intercept, radius, bounds, weights, offset, offset_range, call,
                           implied = FALSE, id = NULL, records = 1L, missing = "drop") {
  rows <- matrix_rows(x, storage, "x", call)
  if (missing(y)) abort("argument", "`y` is missing: give one response per row of `x`.", call = call)
  persons <- matrix_persons(id, records, rows$n, list(y = y, weights = weights, offset = offset), call)
  if (!is.null(persons)) {
    x <- x[persons$rows, , drop = FALSE]
    rows <- matrix_rows(x, storage, "x", call)
    y <- y[persons$rows]
    weights <- weights[persons$rows]
    offset <- offset[persons$rows]
  }
  if (is.null(radius)) abort("argument", radius_advice, call = call)
  intercept <- check_flag(intercept, "intercept", call)
  vectors <- matrix_vectors(weights, offset, rows$n, "x", call)
  loss <- check_loss(loss, intercept, call, y, implied = implied)
  response <- response_template(y, "y", call, loss)
  check_length(y, rows$n, call)
  radius <- check_radius(radius, call)
  check_offset(loss, !is.null(vectors$offset), call)
  shift <- check_shift(offset_range, vectors$offset, call)
  box <- check_box(bounds, rows$columns, call)
  check_constants(rows, box, intercept, call)
  gaps <- matrix_gaps(missing, column_labels(rows), box)
  filled_rows <- function(x) matrix_rows(fill_matrix(x, gaps), storage, "x", call)
  if (!is.null(gaps)) rows <- filled_rows(x)
  design <- matrix_design(rows, intercept, radius, with_indicators(box, gaps) / radius, !is.null(vectors$weights),
                          shift, gaps)
  of_rows <- function(rows, x, y, vectors) {
    problem <- new_problem(rows$n, loss, response, design, call, columns = function(job) list(),
                           records = function(job) matrix_records(rows$core, y, vectors, shift, job$response),
                           counted = function(job) named_response(job, coded_vector(job$response, y, vectors, shift)))
    c(problem, split = function(out) {
      part <- function(rows) c(list(data = x[rows, , drop = FALSE], y = y[rows]), lapply(vectors, `[`, rows))
      rest <- part(!out)
      list(rest = of_rows(filled_rows(rest$data), rest$data, rest$y, rest[names(vectors)]),
           out = part(out))
    })
  }
  of_persons(of_rows(rows, x, y, vectors), persons)
}

radius_advice <- paste0(
  "`radius` is missing: give a public bound on the norm of a row (with its intercept); longer rows are clipped to it."
)

# Columns that public facts, their bounds or their name, show to be the intercept.
check_constants <- function(rows, box, intercept, call) {
  labels <- column_labels(rows)
  found <- which(box[, 1] == box[, 2] & box[, 1] != 0 | labels == "(Intercept)")
  if (length(found) == 0L) return(invisible())
  without <- paste0("`x[, -", found[1], "]`")
  what <- paste0(quote_names(labels[found]), " of `x` is constant, by `bounds` or by its name")
  if (intercept) {
    abort("argument", what, ", and the fit has an intercept: leave it out, ", without, ", or give `intercept = FALSE`.",
          call = call)
  }
  inform("constant", what, ": ", without, " with `intercept = TRUE` is more accurate")
}

check_length <- function(y, n, call) {
  if (length(y) == n) return(invisible())
  abort("argument", "`y` must have one entry per row of `x`: ", n, ", not ", length(y), ".", call = call)
}

new_problem <- function(n, loss, response, design, call, columns, records, counted = NULL,
                        streamed = FALSE, once = NULL, hold = hold_nothing, push = NULL,
                        shards = FALSE, linked = FALSE, cache = NULL) {
  loss <- loss_of(loss, response)
  list(n = n, loss = loss, outputs = loss_outputs(loss), response = response, design = design, call = call,
       columns = columns, records = records, counted = counted, streamed = streamed, once = once,
       hold = hold, push = push, shards = shards, linked = linked, cache = cache)
}

# Of data in memory.
named_response <- function(job, y) stats::setNames(list(y), job$response$name)

hold_nothing <- function(batches) function() NULL

# Completes what a problem declares by what a job finds. The columns of smooths change the size of the job.
complete <- function(job, ...) {
  known <- list(...)
  stopifnot(names(known) %in% c("design", "loss", "response"))
  job[names(known)] <- known
  if (!is.null(job$side) && !is.null(known$design$smooth)) job[c("side", "dim")] <- job_sizes(job)
  job
}

# Of the coefficients of one output, and of all.
job_sizes <- function(job) {
  side <- design_dim(job$design)
  list(side = side, dim = side * job$outputs)
}

check_rows <- function(n, call) if (n == 0L) abort("argument", "`data` has no rows.", call = call)

# ---- coefficients ----

has_weight <- function(design) if (is_matrix_design(design)) isTRUE(design$weighted) else !is.null(design$weights)

has_offset <- function(design) if (is_matrix_design(design)) !is.null(design$shift) else length(design$offset) > 0L

# Number of coefficients.
design_dim <- function(design) {
  if (is_matrix_design(design)) length(design$labels) else nrow(design$columns) + design$intercept
}

# For a job or a fit: the number of coefficients of one output without the intercept.
columns_of <- function(x) (if (is.null(x$side)) design_dim(x$design) else x$side) - x$design$intercept

# With several outputs, coefficients are a matrix with one column each; in the core they follow one another.
by_output <- function(x, outputs, map) {
  if (outputs == 1L) return(map(x))
  side <- length(x) / outputs
  columns <- lapply(seq_len(outputs), function(k) map(x[(k - 1) * side + seq_len(side)]))
  matrix(unlist(columns), ncol = outputs, dimnames = list(names(columns[[1]]), NULL))
}

# Maps coefficients of the original columns to those of the core's rows.
core_start <- function(design, coefficients) {
  if (is_matrix_design(design)) return(coefficients * design$radius)
  design_start(design, coefficients)[design_order(design)]
}

# The inverse of core_start().
core_coef <- function(design, w) {
  if (is_matrix_design(design)) return(stats::setNames(w / design$radius, design$labels))
  order <- design_order(design)
  design_coef(design, w[match(seq_along(order), order)])
}

# Of all solutions with the same probabilities, the one whose rows sum to zero: it has the smallest penalty.
centred <- function(coefficients, labels) {
  out <- coefficients - rowMeans(coefficients)
  colnames(out) <- labels
  out
}

# Selects this fraction of n rows, evenly spread, by row numbers, which are public. TRUE for held-out rows.
held_out <- function(n, holdout) floor(seq_len(n) * holdout) > floor((seq_len(n) - 1) * holdout)

# A data frame in two parts, where `out` selects units: rows or, with the name of an id, persons with all their rows. A
# person's number is the place of the id among all ids, sorted: no value, and no place of a row, decides who else is in
# a part (proofs: disjoint-rows). Records without an id are in no part. n: numbers of units.
split_units <- function(data, name, select, call) {
  unit <- seq_len(nrow(data))
  if (!is.null(name)) {
    key <- id_key(data[[name]], call)
    unit <- match(key, sort(unique(key[!is.na(key)]), method = "radix"))
  }
  out <- select(max(0L, unit, na.rm = TRUE))
  list(rest = data[which(!out[unit]), , drop = FALSE], out = data[which(out[unit]), , drop = FALSE],
       n = c(sum(!out), sum(out)))
}
