# Passes over a source, as the core asks for them (src/r_source.c).
#
# A feed is a function of what the core wants: 0 opens a pass, 1 yields the
# next chunk as a list of a matrix and its responses, 2 ends the pass. It
# answers TRUE when it is done (also when no chunk is left), FALSE when it
# failed and NA when it was interrupted; nothing jumps out of it.
#
# Only messages of the package are passed on: those of a reader, and warnings,
# may quote the data.

# columns: those that the chunks need; map: from a chunk's data frame to the list of matrix and responses.
stream_feed <- function(source, columns, map) {
  reader <- NULL
  pass <- 0L
  steps <- list(
    function() {
      pass <<- pass + 1L
      reader <<- source$open(columns)
      TRUE
    },
    function() {
      chunk <- next_chunk(source, reader, columns)
      if (is.null(chunk)) TRUE else map(chunk)
    },
    function() {
      close_reader(reader)
      reader <<- NULL
      TRUE
    }
  )
  function(what) {
    tryCatch(
      suppressWarnings(steps[[what + 1L]]()),
      error = function(e) {
        stream_failure$condition <- reader_failure(e, pass)
        FALSE
      },
      interrupt = function(e) NA
    )
  }
}

# The next chunk that has rows, with these columns as the source declares them; NULL at the end.
next_chunk <- function(source, reader, columns) {
  repeat {
    chunk <- reader$read()
    if (is.null(chunk)) return(NULL)
    check_chunk(chunk)
    if (nrow(chunk) > 0L) return(conform_chunk(chunk, source, columns))
  }
}

check_chunk <- function(chunk) {
  if (!is.data.frame(chunk)) {
    abort("source", "A reader of the source must return a data frame, or NULL at the end, not ", describe(chunk), ".",
          call = NULL)
  }
}

conform_chunk <- function(chunk, source, columns) {
  missing <- setdiff(columns, names(chunk))
  if (length(missing) > 0L) abort("source", "A chunk of the source has no column `", missing[1], "`.", call = NULL)
  data <- lapply(stats::setNames(nm = columns), function(name) {
    conform_column(chunk[[name]], name, source$schema[[name]], name %in% source$declared)
  })
  list2DF(data, nrow(chunk))
}

# Levels that were declared are matched by label; others must be the first chunk's, or they were read from the data.
conform_column <- function(x, name, known, declared) {
  if (!is.factor(known)) return(x)
  if (declared) return(factor(as_labels(x), levels = levels(known), ordered = is.ordered(known)))
  if (is.factor(x) && identical(levels(x), levels(known))) return(x)
  abort("source", "`", name, "` is a factor whose levels differ from chunk to chunk: declare them with ",
        "`dp_source(levels = )`.", call = NULL)
}

# Codes that are whole numbers have the same labels whether they came as integers or as doubles.
as_labels <- function(x) {
  labels <- as.character(x)
  if (!is.double(x)) return(labels)
  whole <- !is.na(x) & x == round(x) & abs(x) <= .Machine$integer.max
  labels[whole] <- as.character(as.integer(x[whole]))
  labels
}

close_reader <- function(reader) if (!is.null(reader)) reader$close()

reader_failure <- function(e, pass) {
  if (inherits(e, "dpsosp_error")) return(conditionMessage(e))
  paste0("The source failed in its pass ", pass, ". The message may quote data and is not shown: read the source ",
         "outside the fit to see it. What was charged stays charged.")
}

# The first chunk that has rows, to learn how the response is coded.
source_first <- function(source, columns, call) {
  feed <- stream_feed(source, columns, identity)
  on.exit(feed(2L))
  if (!isTRUE(feed(0L))) raise_first(call)
  first <- feed(1L)
  if (is.data.frame(first)) first else raise_first(call)
}

raise_first <- function(call) {
  message <- stream_failure$condition
  stream_failure$condition <- NULL
  if (is.null(message)) raise_interrupt()
  abort("source", message, call = call)
}

# ---- rows ----

# A source in the place of a matrix: all columns but y, as matrix_rows().
source_rows <- function(source, y, storage, call) {
  check_stream_storage(check_choice(storage, storage_known, "storage", call), call)
  if (!is.character(y) || length(y) != 1L || !y %in% names(source$schema)) {
    abort("argument", "`y` must be the name of the source's column that is the response, not ", describe(y), ".",
          call = call)
  }
  columns <- setdiff(names(source$schema), y)
  for (name in columns) {
    if (!column_kind(source$schema[[name]]) %in% c("numeric", "logical")) {
      abort("argument", "`", name, "` of the source must be numeric.", call = call)
    }
  }
  known <- column_schema(source$schema[[y]], y, call)
  feed <- function(response) {
    stream_feed(source, c(columns, y), function(data) {
      list(columns_matrix(data, columns), response_code(response, read_column(data, y, known, "x", NULL)))
    })
  }
  list(n = source$n, core = matrix(0, 0L, length(columns)), feed = feed)
}

check_stream_storage <- function(storage, call) {
  if (storage != "single") return(invisible())
  abort("argument", "`storage` must be \"double\" for a source: its rows are not kept.", call = call)
}

columns_matrix <- function(data, columns) {
  for (name in columns) {
    if (!column_kind(data[[name]]) %in% c("numeric", "logical")) {
      abort("source", "`", name, "` is not numeric in all chunks of the source.", call = NULL)
    }
  }
  x <- as.double(unlist(data[columns], use.names = FALSE))
  dim(x) <- c(nrow(data), length(columns))
  x
}

# ---- ranges ----

# Stands for a list of columns in private_ranges(): their names, and what yields some of them.
stream_columns <- function(source, design, call) {
  names <- design_private_names(design)
  feed <- function(some) {
    map <- function(data) {
      columns <- lapply(some, function(name) design_private_column(design, name, data, call))
      list(do.call(cbind, columns), NULL)
    }
    used <- unique(unlist(lapply(design$predictors[some], all.vars)))
    stream_feed(source, intersect(used, names(design$schema)), map)
  }
  structure(stats::setNames(vector("list", length(names)), names), class = "dp_stream_columns", rows = source$n,
            feed = feed)
}
