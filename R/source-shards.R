#' Data on several machines
#'
#' Rows may lie in parts, called *shards*, for example in files on several machines. `dp_shards()` makes a source of
#' them, which [dp_sosp()] takes as `data`. Workers, which are processes of the package mirai on this or other hosts,
#' read the shards themselves and keep the rows in memory. Each query is sent to all workers, and each returns the sum
#' over its rows, a few kilobytes. Rows do not leave their worker. Budget, ledger and noise stay in this process.
#'
#' # Workers
#' A worker is a daemon of mirai, one for each compute profile. Shard i belongs to the profile `compute[i]` or, where
#' there are fewer profiles, `compute[(i - 1) %% length(compute) + 1]`, in every fit. For processes on this machine:
#' ```
#' for (worker in c("a", "b")) mirai::daemons(1, .compute = worker)
#' ```
#' For another host, on which R is started by ssh and from which sums come back through its tunnel:
#' ```
#' mirai::daemons(1, url = mirai::local_url(tcp = TRUE), .compute = "c",
#'                remote = mirai::ssh_config("ssh://host", tunnel = TRUE))
#' ```
#' or, without a tunnel, encrypted: `url = mirai::host_url(tls = TRUE)`. It takes a moment to connect: wait until
#' `mirai::status(.compute = "c")$connections` is 1. The same version of dpsosp must be installed there. A worker uses
#' as many threads as its own `options(dpsosp.threads)` and `OMP_NUM_THREADS` allow; set the latter to one where
#' several workers share the processors of a machine.
#'
#' Sums are exact and not private, and anyone who can talk to a worker can read its data: hosts and network must be
#' trusted like this process.
#'
#' # Tables of databases
#' A shard's function may return a source whose database computes the sums, `dp_source(push = TRUE)`: several PostgreSQL
#' servers, the workers of a Citus cluster, or one SQLite file for each shard. The worker opens the connection, so its
#' password goes nowhere else, and sends the statements of the section Sums in the database of [dp_source()]; no rows
#' leave a database, not to the worker either. All shards must then be such tables.
#' ```
#' shards <- dp_shards(list(
#'   function() {
#'     node <- DBI::dbConnect(RPostgres::Postgres(), host = "node1", user = "reader", dbname = "study")
#'     dpsosp::dp_source(node, "people", levels = list(y = c("no", "yes")), push = TRUE)
#'   },
#'   ...
#' ), compute = c("a", "b"))
#' ```
#' Each database has a snapshot of its own, from the fit's first query to its end, in which the records of every sum are
#' counted. No record may move between databases while the snapshots begin: one that is in two or in none of them
#' changes their numbers, which ends the fit, unless another moves the other way at the same time. Methods that ask for
#' other sums are refused before anything is charged.
#'
#' # What is checked
#' The numbers of rows and the types of columns of all shards are determined when the source is made. All shards must
#' have the columns of the first one, whose types and levels hold for all, see [dp_source()]. In a fit each worker reads
#' its shard again, value by value according to these types, and reports the number of rows, a digest of names, types
#' and levels, and a digest of the values of each column. These must agree with the source and with earlier fits. Each
#' sum comes with the number of rows, and must be finite, of the right length and no larger than so many rows can give.
#'
#' If a worker ends, does not answer within `timeout` seconds (without `id`), or gives an answer that fails a check, the
#' fit ends with an error, and the work of the other workers is cancelled. Nothing is released of the sum, and the
#' charge stays. No fit continues with fewer rows.
#'
#' Shards are added in their order, so a fit does not depend on which worker has which shard. Its releases are those of
#' all rows in memory up to the rounding of sums, which the sensitivities include.
#'
#' The numbers of rows of shards are public: the shard of a record must not depend on its private values. As
#' [dp_source()] says of readers, one row must be one person's data.
#'
#' # Batches, networks
#' For methods on batches this process draws the numbers of a batch's rows as in memory, counted through all shards, and
#' sends each worker those of its shard. A worker draws nothing; it returns the sum over these rows, and their number is
#' checked. With the same seed a fit is that of all rows in memory. Tables of databases number their prepared rows, and
#' logs of their statements show the sample, see [dp_source()].
#'
#' [model_mlp()] with a formula is fitted to shards that are data frames or files, by all methods for [networks]. A
#' database computes sums of linear models only.
#'
#' For `"spider"` and [dp_certify()], which use each record once, this process puts the numbers of all rows in a random
#' order and sends each worker those of a query. Tables of databases refuse them, as these lack the sums that they ask
#' for; after a fit with `id` dp_certify() asks for others, which they have. [dp_oracle()] takes no shards.
#'
#' # Persons
#' With `id` the rows belong to persons, who are protected with all of their rows (see the section Persons of
#' [dp_sosp()]). Each worker counts the rows of its own persons, and the numbers of persons of the shards are public,
#' not those of rows. All rows of a person must be in one shard. Workers do not compare their ids: who has rows in two
#' shards counts as two persons, and is protected as two persons together are ([dp_convert()], `group`). The source of
#' a table of a database is made with the same `id`.
#'
#' How long a worker takes, and how much memory, depends on the number of rows, which is private. So there is no
#' `timeout`: a fit waits until each worker has answered or has ended. That nothing else, such as a queue's limit of
#' time or memory, ends a worker or this process because of its rows is an assumption of the guarantee.
#'
#' @param x The shards: a list of functions without arguments, each of which returns a data frame (or a source, see the
#'   section Tables of databases) and is run by the worker (it is sent there with its environment, so it should read the
#'   data, not hold them); or paths of CSV or Parquet files on the workers' hosts: a vector with one path for each
#'   shard, or a list with one or more for each.
#' @param compute Names of mirai's compute profiles, see the section Workers.
#' @param levels,types Levels and types of columns, as in [dp_source()].
#' @param timeout Largest number of seconds for an answer, or for reading a shard; `NULL` is 600. Not with `id`, see the
#'   section Persons.
#' @param id Name of the column that says whose row it is, or `NULL`.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_source`, for [dp_sosp()], [dp_inference()] and [dp_certify()] as `data`.
#' @section Errors: `dpsosp_error_argument` for wrong arguments; `dpsosp_error_source` for a worker or a shard that
#'   fails.
#' @seealso [dp_source()].
#' @examplesIf requireNamespace("mirai", quietly = TRUE)
#' \donttest{
#' for (worker in c("a", "b")) mirai::daemons(1, .compute = worker)
#' shards <- dp_shards(list(
#'   function() dpsosp::covertype[1:1500, ],
#'   function() dpsosp::covertype[1501:3000, ]
#' ), compute = c("a", "b"))
#' shards
#' dp_sosp(cover ~ elevation + slope, shards, eps = 1, delta = 1e-6,
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' for (worker in c("a", "b")) mirai::daemons(0, .compute = worker)
#' }
#' @export
dp_shards <- function(x, compute = "default", levels = NULL, types = NULL, timeout = NULL, id = NULL, ...) {
  call <- scrub_call(match.call(), quote(dp_shards))
  check_dots(call)
  require_given()
  if (!requireNamespace("mirai", quietly = TRUE)) {
    abort("argument", "Workers are processes of the package mirai: install it.", call = call)
  }
  x <- check_shards(x, call)
  check_workers(compute, call)
  shards <- list(where = x, compute = rep_len(compute, length(x)), key = new_key(), id = NULL,
                 timeout = shard_timeout(timeout, id, call))
  seen <- read_source(ask_workers(shards, "look", list(levels = levels, types = types, persons = id)), call)
  check_alike(seen, call)
  source <- source_of(rows_stay, as_rows(sum(shard_rows(seen)), call), seen[[1]]$schema,
                      paste(length(x), if (length(x) == 1L) "shard" else "shards"))
  source$shards <- c(shards, list(n = shard_rows(seen), linked = seen[[1]]$linked))
  if (!is.null(id)) source$persons <- list(name = id)
  source
}

# In seconds; NULL is none. The time that persons' rows take depends on their number, which is private.
shard_timeout <- function(timeout, id, call) {
  if (is.null(timeout)) return(if (is.null(id)) 600)
  if (is.null(id)) return(check_number(timeout, "timeout", 0, call = call))
  abort("argument", "`timeout` is for shards without `id`: how long a worker takes depends on the number of rows, ",
        "which is private and must not decide between a result and an error. A fit waits until each worker has ",
        "answered or has ended.", call = call)
}

check_shards <- function(x, call) {
  x <- if (is.function(x)) list(x) else as.list(x)
  is_shard <- function(one) is.function(one) || (is.character(one) && length(one) > 0L)
  if (length(x) == 0L || !all(vapply(x, is_shard, NA))) {
    abort("argument", "`x` must be a list of functions or of paths of files, one or more for each shard, not ",
          describe(x), ".", call = call)
  }
  unname(x)
}

check_workers <- function(compute, call) {
  if (!is.character(compute) || length(compute) == 0L || anyNA(compute)) {
    abort("argument", "`compute` must be names of mirai's compute profiles, not ", describe(compute), ".", call = call)
  }
  for (name in compute) {
    if (!mirai::daemons_set(name)) {
      shown <- element_text(compute, match(name, compute), "compute")
      abort("argument", "There is no worker of the compute profile ", shown, ": start one with `mirai::daemons(1, ",
            ".compute = ", shown, ")`.", call = call)
    }
  }
}

# Names and versions are public.
check_alike <- function(seen, call) {
  here <- worker_version()
  for (i in seq_along(seen)) {
    if (!identical(seen[[i]]$version, here)) {
      abort("source", "The worker of shard ", i, " has version ", seen[[i]]$version, " of dpsosp, this process ", here,
            ".", call = call)
    }
    if (!identical(seen[[i]]$linked, seen[[1]]$linked)) {
      abort("source", "Shard ", i, " and the first shard are not both tables of databases.", call = call)
    }
    missing <- setdiff(names(seen[[1]]$schema), names(seen[[i]]$schema))
    if (length(missing) > 0L) {
      abort("source", "Shard ", i, " has no column `", missing[1], "`, which the first shard has.", call = call)
    }
  }
}

shard_rows <- function(answers) vapply(answers, function(answer) as.double(answer$n), 0)

rows_stay <- function(columns) {
  abort("source", "Rows of shards stay with their workers; only `dp_sosp()` and `dp_inference()` take sums over ",
        "them.", call = NULL)
}

# ---- asking ----

# Keys differ from those of other processes and of earlier requests.
keys <- new.env(parent = emptyenv())
new_key <- function() {
  keys$last <- (keys$last %||% 0) + 1
  paste(Sys.info()[["nodename"]], Sys.getpid(), format(as.double(Sys.time()), digits = 17), keys$last)
}

# The answers of all shards in their order, or an error if one is missing. No request is left running.
ask_workers <- function(shards, step, request) {
  tasks <- send_workers(shards, step, request)
  on.exit(suspendInterrupts(lapply(tasks, mirai::stop_mirai)))
  lapply(seq_along(tasks), function(i) check_answer(mirai::call_mirai(tasks[[i]])$data, shards, i, step))
}

send_workers <- function(shards, step, request = list()) {
  for (i in seq_along(shards$where)) {
    if (!has_worker(shards$compute[i])) abort_shard(shards, i, "its worker has ended")
  }
  lapply(seq_along(shards$where), function(i) {
    if (!is.null(shards$rows)) request$what$rows <- shards$rows[[i]]
    request <- c(request, list(step = step, shard = shards$where[[i]], n = shards$n[i], key = paste(shards$key, i),
                               id = shards$id, linked = isTRUE(shards$linked)))
    mirai::mirai(getNamespace("dpsosp")$worker_answer(request), request = request,
                 .timeout = if (!is.null(shards$timeout)) 1000 * shards$timeout, .compute = shards$compute[i])
  })
}

# A profile without daemons would start a process for each request.
has_worker <- function(compute) mirai::daemons_set(compute) && mirai::status(compute)$connections > 0L

check_answer <- function(answer, shards, i, step) {
  if (mirai::is_mirai_error(answer)) {
    # The message may quote data, so only dp_shards() shows it.
    if (step == "look") abort("source", "shard ", i, ": ", attr(answer, "message"), call = NULL)
    abort_shard(shards, i, "its worker failed")
  }
  if (mirai::is_error_value(answer)) {
    abort_shard(shards, i, if (answer == 5L) paste("no answer within", shards$timeout, "seconds")
                           else "its worker has ended")
  }
  known <- c(list(step = step, key = paste(shards$key, i)), if (!is.null(shards$id)) list(id = shards$id))
  if (!is.list(answer) || !identical(answer[names(known)], known)) {
    abort_shard(shards, i, "an answer to another query")
  }
  if (!is.null(shards$n) && !identical(as.double(answer$n), summed_rows(shards, i))) {
    abort_shard(shards, i, "another number of rows or persons")
  }
  answer
}

# The number of rows that a request is about.
summed_rows <- function(shards, i) if (is.null(shards$rows)) shards$n[i] else as.double(length(shards$rows[[i]]))

# The shards for a sum over these rows of all, or over all rows: each has the numbers of its own.
of_rows <- function(shards, rows) {
  if (is.null(rows)) return(shards)
  ends <- cumsum(shards$n)
  shards$rows <- unname(split(rows, factor(findInterval(rows, ends, left.open = TRUE) + 1L, seq_along(ends))))
  shards$rows <- Map(function(rows, before) rows - as.integer(before), shards$rows, ends - shards$n)
  shards
}

abort_shard <- function(shards, i, why) {
  abort("source", "Shard ", i, " of ", length(shards$where), " gave no sum: ", why, ". Nothing was released; what ",
        "was charged stays charged.", call = NULL)
}

# The function that gives the core a sum: numbers of all shards, the first one the number of rows; FALSE if it failed,
# NA if it was interrupted. most(what): the length of the sum, and the largest entry that one record can contribute.
shard_answer <- function(shards, step, request, most) {
  function(what) {
    tryCatch({
      limit <- most(what)
      shards <- of_rows(shards, what$rows)
      answers <- ask_workers(shards, step, c(request, list(what = what)))
      for (i in seq_along(answers)) check_sum(answers[[i]]$sum, limit, shards, i)
      c(sum(shard_rows(answers)), Reduce(`+`, lapply(answers, `[[`, "sum")))
    }, error = function(e) {
      note_failure(worker_failure(e))
      FALSE
    }, interrupt = function(e) NA)
  }
}

# A correct sum of n rows cannot be larger, whatever the rows are.
check_sum <- function(sum, limit, shards, i) {
  good <- is.double(sum) && length(sum) == limit$length && all(is.finite(sum))
  if (!good || max(abs(sum)) > summed_rows(shards, i) * limit$size * (1 + 1e-6)) abort_shard(shards, i, "no such sum")
}

worker_failure <- function(e) {
  if (inherits(e, "dpsosp_error")) return(conditionMessage(e))
  "A worker could not be reached. Nothing was released; what was charged stays charged."
}

# Rows have norm at most one, and offsets are at most shift in size (src/barrier/words.c defines the words).
# geometry(): of sums in its coordinates, where rows have norm at most one or add at most its bounds; else NULL.
max_of_sum <- function(loss, columns, intercept, shift, geometry = function() NULL) {
  bounds <- loss_bounds(loss)
  slope <- bounds[["lipschitz"]]
  curvature <- max(bounds[c("curv_lower", "curv_upper")])
  side <- columns + intercept
  dim <- side * loss_outputs(loss)
  function(what) {
    size <- function(x) sqrt(sum(x^2))
    value <- bounds[["at_zero"]] + slope * (size(what$at) + shift)
    decreases <- function() {
      length <- max(what$steps) * size(what$along)
      list(length = length(what$steps), size = slope * length + 1e-6 * (value + slope * length)) # plus rounding
    }
    matrix <- function(size) list(length = side^2, size = size)
    # Of weighted rows: how long is the longest that counts fully?
    weighted <- if (isTRUE(geometry()$weighted)) geometry()
    cap <- if (is.null(weighted)) 1 else if (isTRUE(what$cap > 0)) what$cap else weighted$cap
    if (!is.null(weighted) && what$word == "gradient") {
      return(list(length = dim, size = (1 + abs(weighted$tilt)) * weighted$bound))
    }
    if (isTRUE(weighted$damped)) { # of the others these two are asked for
      slope <- weighted$bound
      curvature <- curvature * cap^2
    }
    switch(what$word,
      value = list(length = 1, size = value),
      "value and gradient" = list(length = dim + 1, size = value + slope),
      gradient = list(length = dim, size = slope),
      "gradient difference" = list(length = dim, size = 2 * slope),
      "gradient and hessian" = list(length = dim * (1 + dim), size = max(slope, curvature)),
      "class gradient" = list(length = dim, size = slope * cap),
      "class counts" = list(length = max(loss_outputs(loss), 2), size = 1),
      "clipped gradient" = list(length = dim, size = what$clip),
      "model gradient" = list(length = dim, size = slope + curvature * size(what$along)),
      decreases = , "exact decreases" = decreases(),
      trace = list(length = 1, size = curvature),
      hessian = , majorant = , curvature = matrix(curvature),
      products = matrix(slope^2),
      "class hessian" = list(length = dim^2, size = curvature),
      "class products" = list(length = dim^2, size = slope^2),
      weighted = matrix(cap^2),
      squares = matrix(1),
      moments = , "weighted moments" = list(length = 2 * columns + intercept, size = 2),
      response = list(length = 3, size = 1),
      "residual gradient" = list(length = dim, size = what$clip * cap),
      "residual products" = matrix((what$clip * cap)^2),
      "residual hessian" = matrix(what$clip * (if (is.null(weighted)) 1 else hessian_longer * cap)^2),
      recalibration = list(length = 1 + (length(what$along) > 0L), size = what$clip),
      "residual counts" = , "row lengths" = list(length = length(what$steps), size = 1),
      usable = list(length = 1, size = 1),
      improvement = list(length = 1, size = max(what$steps))
    )
  }
}

# Of a network, whose records' gradients and decreases are clipped.
max_of_network <- function(dim) {
  function(what) {
    switch(what$word,
      "clipped gradient" = list(length = dim, size = what$clip),
      decreases = list(length = length(what$steps), size = what$clip * max(what$steps) * sqrt(sum(what$along^2))),
      usable = list(length = 1, size = 1)
    )
  }
}

# ---- a fit ----

# The list for new_oracle(). As stream_records(), but workers open their shards and compute all sums. Each oracle opens
# them again, with coordinates of its own; the one before can then no longer ask. network, dim: a network in the form of
# the core, and its number of weights.
shard_records <- function(source, design, response, network = NULL, dim = NULL) {
  rows <- rows_of_shard(design, source$schema, network)
  weighing <- design_weighing(design, response, source$schema, NULL)
  columns <- if (is.list(rows)) ncol(rows$x) + sum(rows$indicators) else ncol(rows)
  open <- function(loss, intercept, radius) {
    used <- union(names(design$schema), source$persons$name)
    open_shards(source, used, columns, weighing$most %||% 0, list(
      schema = source$schema, columns = used, design = design, response = response, loss = loss,
      intercept = intercept, radius = radius, network = network, persons = source$persons
    ), dim)
  }
  list(feed = function(what) FALSE, n = source$n, rows = rows, push = open, weighing = weighing, network = network,
       persons = remote_persons(source))
}

# The list of src/r_remote.c.
open_shards <- function(source, used, columns, shift, request, dim) {
  shards <- source$shards
  shards$id <- new_key()
  answers <- ask_workers(shards, "open", request)
  refuse_shards(answers)
  check_opened(answers, source, used)
  geometry <- NULL
  limit <- if (!is.null(request$network)) max_of_network(dim)
           else max_of_sum(request$loss, columns, request$intercept, shift, function() if (shards$linked) geometry)
  move <- function(to) {
    ask_workers(shards, "move", list(geometry = to))
    geometry <<- to
  }
  list(ask = shard_answer(shards, "sum", list(), limit), words = character(),
       moved = if (shards$linked) "all" else character(), sampled = character(), shards = length(shards$where),
       move = move)
}

check_opened <- function(answers, source, columns) {
  digest <- schema_digest(source$schema[columns])
  for (i in seq_along(answers)) {
    if (!identical(answers[[i]]$schema, digest)) abort_shard(source$shards, i, "other columns, types or levels")
    digests <- answers[[i]]$digests
    if (length(digests) > 0L) check_same_rows(source, stats::setNames(digests, paste(i, names(digests))))
  }
}

# Frees the workers' memory at the end of a fit, if they can be reached; does not wait for them.
close_shards <- function(shards) function() suspendInterrupts(try(send_workers(shards, "close"), silent = TRUE))

# A fit that was lost may have left a snapshot. Databases say before the first charge what they do not compute.
hold_shards <- function(shards, design, response, batches) {
  end <- close_shards(shards)
  if (!shards$linked) return(end)
  end()
  held <- FALSE
  on.exit(if (!held) end())
  refuse_shards(ask_workers(shards, "check", list(design = design, response = response, batches = batches)))
  held <- TRUE
  end
}

refuse_shards <- function(answers) {
  for (answer in answers) if (!is.null(answer$refused)) abort("argument", answer$refused, call = NULL)
}

# Takes the place of a list of columns in private_ranges(), as stream_columns().
shard_columns <- function(source, design) shard_counted(source, design, names = design_counted_names(design))

# The coded responses, as stream_counted(); or columns of these names, where there is no response.
shard_counted <- function(source, design, response = NULL, names = response$name) {
  ask <- function(some, breaks) {
    request <- list(schema = source$schema, columns = union(names(design$schema), source$persons$name),
                    design = design, response = response, names = some, breaks = unname(breaks),
                    persons = source$persons)
    shards <- source$shards
    shards$id <- new_key()
    limit <- list(length = sum(lengths(breaks) - 1L), size = sqrt(length(some)))
    list(ask = shard_answer(shards, "counts", request, function(what) limit), words = character(),
         moved = character(), sampled = character(), shards = length(shards$where))
  }
  new_stream_columns(names, source$n, ask = ask)
}
