# Passes over a source, as the core asks for them (src/r_source.c).
#
# A feed is a function of the core's request: "open" begins a pass, "read" returns the next chunk as a list of rows
# (design-rows.R) and their responses y, "close" ends the pass. It returns TRUE when it is done (also if there is no
# further chunk), FALSE if it failed and NA if it was interrupted. It never raises an error.
#
# Only messages of the package are passed on: warnings and messages of a reader may quote the data.

# columns: the columns that the chunks need; map: from a chunk's data frame to the list of rows and y. No rows are
# fetched of persons whose database computes the sums.
# clock: an environment that gets the seconds of the last pass.
stream_feed <- function(source, columns, map, clock = NULL) {
  if (!is.null(source$push$persons)) return(function(what) FALSE)
  columns <- union(columns, source$persons$name)
  reader <- NULL
  began <- NULL
  taken <- NULL
  pass <- 0L
  digests <- NULL
  steps <- list(
    open = function() {
      began <<- proc.time()[["elapsed"]]
      note_fetched(source$push)
      claim_pass(source)
      pass <<- pass + 1L
      digests <<- lapply(stats::setNames(nm = columns), function(name) raw(8))
      reader <<- source$open(columns)
      taken <<- if (!is.null(source$persons)) person_taker(source$persons)
      TRUE
    },
    read = function() {
      repeat {
        chunk <- next_chunk(source, reader, columns)
        if (is.null(chunk)) return(check_same_rows(source, digests))
        digests <<- Map(function(digest, column) .Call(ffi_column_digest, digest, column), digests, chunk)
        if (is.null(taken)) return(map(chunk))
        some <- taken(chunk)
        if (length(some$person) > 0L) return(c(map(some$data), some["person"]))
      }
    },
    close = function() {
      clock$seconds <- proc.time()[["elapsed"]] - began
      close_reader(reader)
      reader <<- NULL
      TRUE
    }
  )
  function(what) {
    tryCatch(
      muted(steps[[what]]()),
      error = function(e) {
        note_failure(reader_failure(e, pass))
        FALSE
      },
      interrupt = function(e) NA
    )
  }
}

# Errors of a reader are shown when a source is made, and nowhere else.
read_source <- function(code, call) {
  tryCatch(muted(code), error = function(e) {
    text <- if (inherits(e, "dpsosp_error")) "" else "The source cannot be read: "
    abort("source", text, conditionMessage(e), call = call)
  })
}

# A source that can be read only once has a single pass.
claim_pass <- function(source) {
  if (is.null(source$once)) return(invisible())
  if (source$once$read) abort("source", "The source can be read once only, and was.", call = NULL)
  source$once$read <- TRUE
}

# For functions that may need several passes.
refuse_once <- function(call) {
  abort("argument", "The source can be read once only: it is for `dp_sosp()` with `method = \"spider\"`, and for ",
        "`dp_certify()`.", call = call)
}

# The next nonempty chunk, with these columns as the source declares them; NULL at the end.
next_chunk <- function(source, reader, columns) {
  repeat {
    chunk <- reader$read()
    if (is.null(chunk)) return(NULL)
    check_chunk(chunk)
    if (nrow(chunk) > 0L) return(conform_chunk(chunk, source$schema, columns))
  }
}

check_chunk <- function(chunk) {
  if (!is.data.frame(chunk)) {
    abort("source", "A reader of the source must return a data frame, or NULL at the end, not ", describe_column(chunk),
          ".", call = NULL)
  }
}

# Called at the end of a pass: each column must be as in an earlier pass. The digest of a column is that of its values
# in their order, however they were split into chunks (src/r_digest.c). There is one digest per column, as a pass reads
# some columns only.
check_same_rows <- function(source, digests) {
  known <- mget(names(digests), source$seen, ifnotfound = list(NULL))
  same <- mapply(function(now, before) is.null(before) || identical(now, before), digests, known)
  if (!all(same)) {
    abort("source", "The source gave other rows than in an earlier pass, or in another order. What was charged stays ",
          "charged.", call = NULL)
  }
  list2env(digests, source$seen)
  TRUE
}

conform_chunk <- function(chunk, schema, columns) {
  missing <- setdiff(columns, names(chunk))
  if (length(missing) > 0L) abort("source", "A chunk of the source has no column `", missing[1], "`.", call = NULL)
  data <- lapply(stats::setNames(nm = columns), function(name) {
    conform_column(chunk[[name]], schema[[name]], nrow(chunk))
  })
  list2DF(data, nrow(chunk))
}

# Converts a chunk's column to the type that the schema declares. A single record may have changed the type, for example
# a word in a column that read.csv() reads. So values are converted one by one, as text, and a value that is not of the
# declared type is missing. It must not affect the other values. The rules are those of all sources: databases follow
# them by with_forms() (R/sql-read.R).
conform_column <- function(x, known, rows) {
  kind <- column_kind(known)
  x <- unlabelled(x)
  if (kind == "numeric" && is.null(time_of(known)) && is.list(x) && length(x) == rows) x <- list_numbers(x)
  time <- time_of(known)
  if (!is.null(time) && length(x) == rows && is_plain_number(x)) x <- since_1970(x, time)
  if (length(x) != rows || !identical(column_kind(x), kind) || !identical(time_of(x), time)) {
    x <- rep_len(as_text(x, rows), rows)
  }
  switch(kind,
    numeric = if (is.character(x)) text_values(x, time) else x,
    logical = if (is.character(x)) text_truth(x) else as.logical(x),
    character = as_labels(x),
    factor = conform_factor(if (of_truth(levels(known))) as_truth_labels(x) else x, known)
  )
}

# Text that is no level gets a code without one: it is not missing, as a gap is (R/design-gaps.R), and nothing can be
# computed from it either.
conform_factor <- function(x, known) {
  out <- as_declared(x, levels(known), is.ordered(known))
  codes <- unclass(out)
  codes[is.na(codes) & !is.na(x) & !as_labels(x) %in% gap_texts(levels(known))] <- length(levels(known)) + 1L
  structure(codes, levels = levels(known), class = class(out))
}

is_plain_number <- function(x) is.numeric(x) && !is.object(x) && is.null(dim(x))

# The numbers of a list, each as it is: as text it would be rounded. Other elements are read as text.
list_numbers <- function(x) {
  number <- function(value) {
    if (is.numeric(value) && !is.object(value) && length(value) == 1L) as.double(value)
    else text_numbers(if (is.list(value)) NA_character_ else as_text(value, 1L))
  }
  vapply(unclass(x), number, 0, USE.NAMES = FALSE)
}

# Converts text to numbers, dates or times, each value by itself.
text_values <- function(x, time) if (is.null(time)) text_numbers(x) else text_times(x, time)

# Decimal and infinite numbers in ASCII, and truth values: as.double() also takes hexadecimal numbers and "1e", and
# raises an error that quotes text which is not valid.
text_numbers <- function(x) {
  x <- as_ascii(x)
  number <- as.double(replace(x, !grepl(number_pattern, x, perl = TRUE), NA))
  number[x %in% true_texts] <- 1
  number[x %in% false_texts] <- 0
  number
}

number_pattern <- "(?i)^[ \\t-\\r]*[+-]?(([0-9]+([.][0-9]*)?|[.][0-9]+)(e[+-]?[0-9]+)?|inf(inity)?)[ \\t-\\r]*$"

# The numbers 1 and 0 are truth values, and others are none.
text_truth <- function(x) c(FALSE, TRUE)[match(text_numbers(x), 0:1)]

# The labels of truth values.
as_truth_labels <- function(x) as.character(text_truth(as_labels(x)))

# Dates and times are in the format of ISO 8601, in UTC, where a date is its first second, or numbers of days or seconds
# since 1970. strptime() raises an error for text of more than 1000 bytes, and does not look at what follows a date.
text_times <- function(x, time) {
  x <- as_ascii(x)
  number <- text_numbers(replace(x, x %in% c(true_texts, false_texts), NA))
  x[!grepl(time_pattern, x, perl = TRUE) | nchar(x, "bytes") > 1000L] <- NA
  day <- sub(time_pattern, "\\1", x, perl = TRUE)
  clock <- sub(time_pattern, "\\3", x, perl = TRUE)
  clock[clock %in% ""] <- "00:00:00"
  since <- if (time == "Date") as.Date(strptime(day, "%Y-%m-%d", tz = "UTC"))
           else as.POSIXct(strptime(paste(day, clock), "%Y-%m-%d %H:%M:%OS", tz = "UTC"))
  since_1970(ifelse(is.na(since), number, unclass(since)), time)
}

# Numbers of days or seconds since 1970.
since_1970 <- function(since, time) {
  since[!is.finite(since)] <- NA
  if (time == "Date") structure(as.double(since), class = "Date") else .POSIXct(as.double(since), "UTC")
}

time_pattern <- "^ *([0-9]{4}-[0-9]{1,2}-[0-9]{1,2})([ T]([0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}([.][0-9]*)?)Z?)? *$"

# The text of each value by itself: as.character() of other classes than these may look at all values. It is missing for
# other types, and in every row of a column without one value per row.
as_text <- function(x, rows) {
  if (is.list(x)) x <- unclass(x)
  if (length(x) != rows || !is.null(dim(x))) return(NA_character_)
  if (is.list(x)) return(vapply(x, function(value) if (is.list(value)) NA_character_ else as_text(value, 1L), ""))
  if (!typeof(x) %in% c("logical", "integer", "double", "character")) return(NA_character_)
  if (!is.null(time_of(x)) && is.numeric(unclass(x))) return(time_text(x))
  # Its method belongs to the package that made the column.
  if (inherits(x, "integer64")) return(if (isNamespaceLoaded("bit64")) as.character(x) else NA_character_)
  as_labels(if (is.factor(x)) x else unclass(x))
}

time_text <- function(x) {
  if (time_of(x) == "Date") format(x, "%Y-%m-%d") else format(x, "%Y-%m-%d %H:%M:%S", tz = "UTC")
}

# Can a column have any value of the type that is declared? Its own type is public.
check_stored <- function(first, levels, types, call) {
  refuse <- function(name, is, ...) abort("argument", "`", name, "` has ", is, " in the source: ", ..., call = call)
  for (name in intersect(names(types), names(first))) {
    x <- first[[name]]
    if (!is.null(time_of(x)) && types[[name]] %in% c("numeric", "logical")) {
      refuse(name, "dates or times", "declare it as \"", time_of(x), "\", not as \"", types[[name]], "\".")
    }
    if (is.logical(x) && types[[name]] %in% times) {
      refuse(name, "truth values", "declare it as \"logical\", not as \"", types[[name]], "\".")
    }
  }
  for (name in intersect(names(levels), names(first))) {
    if (is.logical(first[[name]]) && !any(as_labels(levels[[name]]) %in% c("FALSE", "TRUE"))) {
      refuse(name, "truth values", "their levels are \"FALSE\" and \"TRUE\".")
    }
  }
}

close_reader <- function(reader) if (!is.null(reader)) reader$close()

reader_failure <- function(e, pass) {
  if (inherits(e, "dpsosp_error")) return(conditionMessage(e))
  paste0("The source failed in its pass ", pass, ". The message may quote data and is not shown: read the source ",
         "outside the fit to see it. What was charged stays charged.")
}

# ---- rows ----

# The records of a source under a design, for new_oracle() or, with rows = design_matrix, for network_oracle(). held:
# see note_oracle(); clock: see stream_feed().
stream_records <- function(source, design, response, call, rows = design_rows) {
  map <- function(data) {
    c(list(rows = rows(design, data, call = call), y = coded_response(design, response, data, call)),
      design_weighing(design, response, data, call)[c("weight", "offset")])
  }
  clock <- new.env(parent = emptyenv())
  c(list(feed = stream_feed(source, names(design$schema), map, clock), cache = source$cache,
         rows = rows(design, source$schema, call = call), push = stream_push(source, design, response),
         weighing = design_weighing(design, response, source$schema, call), held = source$held, clock = clock),
    stream_persons(source))
}

# Oracles of a fit free their rows with it, and not when R collects them. held: an environment in which a source notes
# them; without oracles where no fit holds the source.
note_oracle <- function(held, pointer) if (!is.null(held$oracles)) held$oracles <- c(held$oracles, pointer)

# Runs around a fit; returns a function that ends this, also where a stage failed.
hold_oracles <- function(held) {
  before <- held$oracles
  held$oracles <- list()
  function() {
    for (pointer in held$oracles) .Call(ffi_oracle_close, pointer)
    held$oracles <- before
  }
}

# For a source whose database computes sums: function(loss, intercept, radius), which returns what the core needs.
stream_push <- function(source, design, response) {
  if (is.null(source$push)) return(NULL)
  function(loss, intercept, radius) {
    push_sums(source$push, design, response, source$n, loss, intercept, radius)
  }
}

# The columns of the data that the responses of the used records need.
response_used <- function(design) columns_used(design, list(design$response_expression))

# A source used as a matrix: all columns but y, as matrix_rows(), and records(), its records for new_oracle().
source_rows <- function(source, y, storage, call) {
  check_stream_storage(check_choice(storage, storage_known, "storage", call), call)
  if (!is.null(source$once)) refuse_once(call)
  if (!is.null(source$shards)) abort("argument", "Shards are for `dp_sosp()` with a formula.", call = call)
  if (!is.null(source$persons)) {
    abort("argument", "The source's records belong to persons, by `id`, and an oracle protects records: make a source ",
          "without `id` that has one record of each person.", call = call, class = "dpsosp_error_persons")
  }
  if (!is.character(y) || length(y) != 1L || !y %in% names(source$schema)) {
    abort("argument", "`y` must be the name of the source's column that is the response, not ", describe_column(y), ".",
          call = call)
  }
  tell_fetched(source$push, ": an oracle of a source asks the database for no sums")
  columns <- setdiff(names(source$schema), y)
  for (name in columns) {
    if (!column_kind(source$schema[[name]]) %in% c("numeric", "logical")) {
      abort("argument", "`", name, "` of the source must be numeric.", call = call)
    }
  }
  records <- function(response) {
    map <- function(data) list(rows = columns_matrix(data, columns), y = response_code(response, data[[y]]))
    list(feed = stream_feed(source, c(columns, y), map), n = source$n, cache = source$cache,
         rows = matrix(0, 0L, length(columns)))
  }
  list(n = source$n, records = records)
}

check_stream_storage <- function(storage, call) {
  if (storage != "single") return(invisible())
  abort("argument", "`storage` must be \"double\" for a source: its rows are not kept.", call = call)
}

columns_matrix <- function(data, columns) {
  x <- as.double(unlist(data[columns], use.names = FALSE))
  dim(x) <- c(nrow(data), length(columns))
  x
}

# ---- ranges ----

# Takes the place of a list of columns in private_ranges(): their names, and a feed that reads some of them.
stream_columns <- function(source, design, call) {
  names <- design_counted_names(design)
  push <- source$push
  if (!is.null(push)) {
    return(new_stream_columns(names, source$n, ask = function(some, breaks) {
      push_counts(push, design, NULL, some, breaks)
    }))
  }
  feed <- function(some) {
    map <- function(data) {
      list(rows = do.call(cbind, unname(design_private_columns(design, data, call, some))))
    }
    stream_feed(source, columns_used(design, design$predictors[some]), map)
  }
  new_stream_columns(names, source$n, feed = feed, used = source$persons$used)
}

# The coded responses, as such a list of one column.
stream_counted <- function(source, design, response, call) {
  push <- source$push
  if (!is.null(push)) {
    return(new_stream_columns(response$name, source$n, ask = function(some, breaks) {
      push_counts(push, design, response, some, breaks)
    }))
  }
  feed <- function(some) {
    map <- function(data) list(rows = cbind(coded_response(design, response, data, call)))
    stream_feed(source, response_used(design), map)
  }
  new_stream_columns(response$name, source$n, feed = feed, used = source$persons$used)
}

# n: of records or persons; feed: function(names); or, of a database and of shards, ask: function(names, breaks). used:
# where records belong to persons the number of rows of each one, which a pass yields.
new_stream_columns <- function(names, n, feed = NULL, ask = NULL, used = NULL) {
  structure(stats::setNames(vector("list", length(names)), names), class = "dp_stream_columns", rows = n,
            feed = feed, ask = ask, used = used)
}

# Persons of a source: dp_source(id = ). A pass over the ids alone, when the source is made, finds the persons and their
# numbers of rows (source-create.R). Memory is proportional to the number of persons; the number of rows is private and
# decides nothing but time (proofs: persons). A list of persons has
#   name   of the column of the id
#   keys   the ids; the number of a person is the place of its id
#   count  each one's number of rows, as doubles
# (keys and count: shards' workers and databases alone know them), and of a fit, which limits them (limit_persons()),
#   most   the largest number of rows of a person that are used
#   used   each one's number of rows that are used
#   n      the number of persons, public

# The source for a fit, of which at most so many records of each person are used.
limit_persons <- function(source, records, call) {
  most <- check_record_limit(records, call)
  if (is.null(source$persons)) return(source)
  source$persons[c("most", "n")] <- list(most, source$n)
  if (!is.null(source$push)) source$push$persons$most <- most
  else if (is.null(source$shards)) source$persons$used <- as.integer(pmin(source$persons$count, most))
  source
}

# The columns that a design may use.
predictor_schema <- function(source) source$schema[setdiff(names(source$schema), source$persons$name)]

# For one pass: a function of the next chunk that returns it with `person`, the number of the person of each row, and
# without the rows that are not used. Rows beyond the first ones of a person are left out in the order of the source.
person_taker <- function(persons) {
  seen <- numeric(length(persons$keys))
  function(chunk) {
    code <- match(id_key(chunk[[persons$name]], NULL), persons$keys)
    known <- which(!is.na(code))
    count <- tabulate(code[known], length(seen))
    turn <- turns(code[known], count) + seen[code[known]]
    seen <<- seen + count
    rows <- known[turn <= persons$most]
    list(data = chunk[rows, , drop = FALSE], person = code[rows])
  }
}

# What the core takes of rows in chunks: persons come with them, and the number of rows apart.
stream_persons <- function(source) {
  if (is.null(source$persons)) return(list(n = source$n))
  list(n = if (is.null(source$push)) sum(as.double(source$persons$used)) else source$n,
       persons = remote_persons(source))
}

# Persons whose numbers are with their rows.
remote_persons <- function(source) {
  if (!is.null(source$persons)) c(list(code = integer()), source$persons[c("n", "most")])
}

# The problem or claim of a source's persons.
of_source_persons <- function(problem, source) {
  if (is.null(source$persons)) return(problem)
  c(problem, list(persons = source$persons[c("name", "most")]))
}
