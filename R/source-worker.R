# The code of a worker: a process, possibly on another host, that reads shards itself and returns exact sums over them
# (R/source-shards.R sends the requests). It has no ledger and draws no noise, so it must be trusted as much as the
# process that asks.
#
# A request is a list of
#   step     a name of worker_steps
#   shard    a function that returns a data frame, or paths of files
#   n        its number of rows, or of persons, once that is known
#   key, id  of the shard, and of the opened rows: a sum is over the rows that this process opened, or it is an error
# and of what the step needs.

# The last opened rows of each key: their id, number and pointer or plan.
opened <- new.env(parent = emptyenv())

worker_steps <- list(
  # The public facts of a shard.
  look = function(request) {
    source <- shard_source(request$shard, request$levels, request$types, request$persons)
    if (!is.null(source$push)) assign(request$key, source, linked)
    list(n = source$n, schema = source$schema, version = worker_version(), linked = !is.null(source$push))
  },
  # schema, columns, map, loss, intercept, radius: define the rows of a fit, which are kept in memory. persons:
  # NULL, or the name of the id and the largest number of records of a person; n is then the number of persons, here and
  # below. digests: of the columns.
  open = function(request) {
    if (request$linked) return(open_linked(request))
    data <- shard_data(request)
    persons <- shard_persons(request, data)
    made <- map_records(request, persons_frame(data, persons))
    pointer <- create_shard(request, made)
    weighing <- made$weighing
    if (!is.null(weighing)) .Call(ffi_shard_set_weights, pointer, weighing$weight, weighing$offset, weighing$most)
    if (!is.null(persons)) .Call(ffi_shard_set_persons, pointer, persons_core(persons))
    n <- persons$n %||% nrow(data)
    keep_shard(request, list(id = request$id, n = n, pointer = pointer))
    list(n = n, schema = schema_digest(data),
         digests = lapply(data, function(column) .Call(ffi_column_digest, raw(8), column)))
  },
  # Before anything is charged: can a database compute these columns?
  check = function(request) list(n = request$n, refused = refused_linked(request)),
  # Counts the values in the cells of each column, or of the responses; a value in no cell is not counted.
  counts = function(request) {
    if (request$linked) return(count_linked(request))
    data <- shard_data(request)
    persons <- shard_persons(request, data)
    share <- if (is.null(persons)) rep(1, nrow(data)) else raw_shares(persons)
    counts <- Map(function(column, breaks) {
      cell_sums(findInterval(column, breaks, rightmost.closed = TRUE), share, length(breaks) - 1L)
    }, counted_columns(request, persons_frame(data, persons)), request$breaks)
    list(n = persons$n %||% nrow(data), sum = as.double(unlist(counts)))
  },
  move = function(request) {
    shard <- opened_shard(request)
    if (request$linked) move_linked(request, shard) else .Call(ffi_shard_move, shard$pointer, request$geometry)
    list(n = shard$n)
  },
  sum = function(request) {
    shard <- opened_shard(request)
    if (request$linked) return(sum_linked(request, shard))
    rows <- request$what$rows
    list(n = if (is.null(rows)) shard$n else length(rows), sum = .Call(ffi_shard_sum, shard$pointer, request$what))
  },
  close = function(request) {
    if (!is.null(opened[[request$key]])) rm(list = request$key, envir = opened)
    if (!is.null(snapshots[[request$key]])) end_snapshot(request$key)
    list()
  }
)

worker_answer <- function(request) {
  answer <- muted(worker_steps[[request$step]](request))
  c(answer, list(step = request$step, key = request$key, id = request$id))
}

worker_version <- function() as.character(utils::packageVersion("dpsosp"))

opened_shard <- function(request) {
  shard <- opened[[request$key]]
  if (identical(shard$id, request$id)) return(shard)
  abort("source", "The shard is not open.", call = NULL)
}

# In place of the one before.
keep_shard <- function(request, shard) assign(request$key, shard, opened)

# ---- shards that are tables of databases ----

# The sources of such shards, with their connections, and functions that end the snapshots of a fit; by key.
linked <- new.env(parent = emptyenv())
snapshots <- new.env(parent = emptyenv())

check_linked <- function(source) {
  if (!is.null(source$push)) return(source)
  abort("source", "A shard's function must return a data frame, or a source whose database computes the sums ",
        "(`dp_source(push = TRUE)`).", call = NULL)
}

refused_linked <- function(request) {
  push <- linked[[request$key]]$push
  tryCatch({
    check_pushed(push, request$design, request$response, NULL)
    if (!is.null(request$batches)) hold_sampled(request, push)
    NULL
  }, dpsosp_error_argument = conditionMessage)
}

hold_sampled <- function(request, push) {
  why <- refuse_sampled(push, request$design, request$batches)
  if (!is.null(why)) abort("argument", "The method draws batches, ", why, ".", call = NULL)
  hold_linked(request)
}

# The snapshot begins with the fit's first sum, or before that where rows need numbers, and ends with the fit.
hold_linked <- function(request) {
  if (!is.null(snapshots[[request$key]])) return(invisible())
  assign(request$key, hold_snapshot(linked[[request$key]]$push, request$design, request$batches), snapshots)
}

# The records, or persons, of all its sums are counted, in the snapshot.
open_linked <- function(request) {
  source <- linked[[request$key]]
  hold_linked(request)
  push <- source$push
  if (!is.null(push$persons)) push$persons$most <- request$persons$most
  plan <- push_plan(push, request$design, request$response, request$n, request$loss, request$intercept,
               request$radius)
  if (side_of(plan) > plan$intercept && !"weighted" %in% moved_words(plan)) {
    return(list(n = request$n, refused = "A matrix of these columns is too large for a statement."))
  }
  n <- push_sum(push, plan, list(word = "usable", at = numeric()))[1]
  keep_shard(request, list(id = request$id, n = n, plan = plan))
  list(n = n, schema = schema_digest(source$schema[request$columns]), digests = list())
}

move_linked <- function(request, shard) {
  shard$plan <- in_geometry(shard$plan, request$geometry)
  keep_shard(request, shard)
}

# The number of records is that of the sum's own statement.
sum_linked <- function(request, shard) {
  shard$plan <- follow_scale(shard$plan, request$what$scale)
  keep_shard(request, shard)
  sum <- push_sum(linked[[request$key]]$push, shard$plan, request$what)
  list(n = sum[1], sum = sum[-1])
}

# In the fit's snapshot, which this may begin.
count_linked <- function(request) {
  push <- linked[[request$key]]$push
  hold_linked(request)
  sum <- count_in_cells(push, request$design, request$response, request$names, request$breaks)
  list(n = sum[1], sum = sum[-1])
}

end_snapshot <- function(key) {
  snapshots[[key]]()
  rm(list = key, envir = snapshots)
}

# ---- reading ----

shard_source <- function(shard, levels = NULL, types = NULL, id = NULL) {
  if (!is.function(shard)) return(dp_source(shard, levels = levels, types = types, id = id))
  value <- shard()
  if (!inherits(value, "dp_source")) return(dp_source(one_chunk(value), levels = levels, types = types, id = id))
  if (identical(id, value$persons$name)) return(check_linked(value))
  abort("source", "A source of a shard must be made with the `id` of `dp_shards()`, or both without one.", call = NULL)
}

shard_persons <- function(request, data) {
  id <- request$persons
  if (!is.null(id)) new_persons(data[[id$name]], id$most, NULL)
}

one_chunk <- function(data) {
  function() {
    there <- TRUE
    function() {
      if (!there) return(NULL)
      there <<- FALSE
      data
    }
  }
}

# The columns of a shard in the types of the schema (source-stream.R).
shard_data <- function(request) {
  open <- if (is.function(request$shard)) shard_opener(request$shard)
          else dp_source(request$shard, n = request$n, levels = Filter(length, lapply(request$schema, levels)))$open
  reader <- open(request$columns)
  on.exit(close_reader(reader))
  source <- list(schema = request$schema)
  chunks <- list()
  while (!is.null(chunk <- next_chunk(source, reader, request$columns))) chunks[[length(chunks) + 1L]] <- chunk
  bind_chunks(c(list(request$schema[request$columns]), chunks))
}

# rbind() would take a code without a level for a missing value (conform_factor()).
bind_chunks <- function(chunks) {
  data <- lapply(stats::setNames(nm = names(chunks[[1]])), function(name) {
    parts <- lapply(chunks, `[[`, name)
    if (!is.factor(parts[[1]])) return(do.call(c, parts))
    structure(unlist(lapply(parts, unclass)), levels = levels(parts[[1]]), class = class(parts[[1]]))
  })
  list2DF(data, sum(vapply(chunks, nrow, 0L)))
}

shard_opener <- function(shard) {
  function(columns) list(read = one_chunk(shard())(), close = function() NULL)
}

# The sums of the shares in each cell, which are exact; cells beyond the first and the last one do not count.
cell_sums <- function(cell, share, cells) {
  there <- which(cell >= 1L & cell <= cells)
  found <- rowsum(share[there], cell[there])
  sums <- numeric(cells)
  sums[as.integer(rownames(found))] <- found
  sums
}

counted_columns <- function(request, data) {
  if (is.null(request$response)) return(design_private_columns(request$design, data, NULL, request$names))
  list(coded_response(request$design, request$response, data, NULL))
}

create_shard <- function(request, made) {
  loss <- request$loss
  if (!is.null(request$network)) {
    return(.Call(ffi_shard_create_network, request$network, made$rows, request$radius, made$y, loss$name,
                 loss$parameter))
  }
  .Call(ffi_shard_create, made$rows, request$intercept, request$radius, made$y, loss$name, loss$parameter)
}

# A network takes a matrix.
rows_of_shard <- function(design, data, network) {
  if (is.null(network)) design_rows(design, data, "double", NULL) else design_matrix(design, data, call = NULL)
}

map_records <- function(request, data) {
  y <- coded_response(request$design, request$response, data, NULL)
  rows <- rows_of_shard(request$design, data, request$network)
  list(rows = rows, y = y, weighing = design_weighing(request$design, request$response, data, NULL))
}

# A digest of names, kinds and levels.
schema_digest <- function(schema) {
  kinds <- vapply(schema, function(x) as.character(column_kind(x)), "")
  .Call(ffi_column_digest, raw(8), c(names(schema), kinds, unlist(lapply(schema, levels), use.names = FALSE)))
}
