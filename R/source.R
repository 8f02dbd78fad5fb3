#' Data larger than memory
#'
#' A source yields a data frame in chunks, anew for every pass. [dp_sosp()] takes it for `data`:
#' each question to the data is one pass, and memory holds one chunk and some 64000 rows of the
#' design at a time. The answers are those of the same rows in memory, to the last digits, and do
#' not depend on the size of the chunks.
#'
#' # A function
#' `x()` begins a pass and returns a reader: a function without arguments that returns the next
#' chunk, a data frame, each time it is called, and `NULL` at the end. Chunks may have any number of
#' rows, columns in any order, and columns that the model does not use. A pass may be given up
#' before its end; the next one begins with another `x()`.
#'
#' # Files
#' Parquet files (read by the package `nanoparquet`), one chunk each: write large data in several
#' files. CSV files with a header, `chunk` rows at a time; they are read by [utils::read.csv()],
#' which is slow, and every pass reads them anew: convert large ones to Parquet. All files have
#' the same columns, of which the unused ones are not read.
#'
#' # A database
#' `x` is a DBI connection (for example of RSQLite, or RPostgres with `bigint = "numeric"`), `query`
#' the name of a table or an SQL query. A pass is one query, fetched `chunk` rows at a time; the
#' order of the rows does not matter.
#'
#' # Types and levels
#' Types of columns, and levels of factors, are taken as public, as those of a data frame are. Types
#' are those of the first chunk. Levels must not be read from the data: a factor has the same
#' levels in every chunk, or `levels` declares them; character columns and codes become factors with
#' the levels declared, and a value that is none of them makes its row a null record. A response
#' in numbers is 0 and 1 or -1 and 1; any other value makes its row a null record (in the first
#' chunk it is an error, as in a data frame).
#'
#' # What is guaranteed
#' n is public and fixed. A pass in which more or fewer rows come is an error and releases nothing;
#' what it was charged stays charged. The function, the files' readers and the database are trusted:
#' a record of the guarantee is a row that they yield, so each person's data must be in one row, the
#' same row in every pass, and a row must depend on one person alone. Do not sample,
#' filter, rank or deduplicate by values there unless this holds. Error messages and warnings of a
#' reader may quote data: `dp_source()` shows them, a fit replaces them by a message that does not.
#'
#' @param x A function, the paths of files, or a DBI connection.
#' @param query Name of a table or an SQL query.
#' @param n Number of rows; `NULL` counts them, in a pass over functions and CSV files.
#' @param levels A named list of the levels of columns, such as `list(sex = c("f", "m"))`.
#' @param types For CSV files: a named vector of `"numeric"`, `"logical"` or `"character"`, for columns
#'   whose type the first chunk does not show.
#' @param chunk Rows to read at a time, from CSV files and databases.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_source`, to be given to [dp_sosp()] as `data` or to [dp_oracle()] as `x`.
#'   It holds no data, but what the function or the connection holds.
#' @section Errors: `dpsosp_error_argument` for wrong arguments; `dpsosp_error_source` for a source that
#'   fails, in a fit too.
#' @seealso [dp_sosp()], [dp_oracle()].
#' @examples
#' rows <- split(covertype[1:3000, ], rep(1:6, each = 500))
#' source <- dp_source(function() {
#'   at <- 0
#'   function() {
#'     at <<- at + 1
#'     if (at <= length(rows)) rows[[at]]
#'   }
#' })
#' source
#' dp_sosp(cover ~ elevation + slope, source, eps = 1, delta = 1e-6,
#'         bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' @export
dp_source <- function(x, ...) {
  if (nargs() == 0L) abort("argument", "`x` is missing: give a function, paths of files or a DBI connection.")
  UseMethod("dp_source")
}

#' @rdname dp_source
#' @export
dp_source.function <- function(x, n = NULL, levels = NULL, ...) {
  call <- sys.call(-1)
  check_dots(substitute(list(...)), call = call, topic = "dp_source")
  open <- function(columns) {
    reader <- x()
    if (!is.function(reader)) {
      abort("source", "The source's function must return a function that reads, not ", describe(reader), ".",
            call = NULL)
    }
    list(read = reader, close = function() NULL)
  }
  new_source(open, "a function", n, levels, call = call)
}

#' @export
dp_source.default <- function(x, ...) {
  abort("argument", "`x` must be a function, paths of files or a DBI connection, not ", describe(x), ".",
        call = sys.call(-1))
}

# open(columns): begins a pass that needs these columns (NULL: all) and returns a list of read() and close().
# count(): the number of rows; by default in a pass.
new_source <- function(open, label, n, levels, count = NULL, call = sys.call(-1)) {
  if (!is.null(n)) n <- check_count(n, "n", call = call)
  first <- read_source(first_chunk(open), call)
  if (is.null(first)) abort("source", "The source has no rows.", call = call)
  schema <- source_schema(first, levels, call)
  if (is.null(n)) n <- as_rows(read_source(if (is.null(count)) count_rows(open) else count(), call), call)
  structure(class = "dp_source", list(open = open, n = n, schema = schema, declared = names(levels), label = label))
}

# What a reader says is shown where a source is made, and nowhere else (R/stream.R).
read_source <- function(code, call) {
  tryCatch(code, error = function(e) {
    text <- if (inherits(e, "dpsosp_error")) "" else "The source cannot be read: "
    abort("source", text, conditionMessage(e), call = call)
  })
}

first_chunk <- function(open) {
  reader <- open(NULL)
  on.exit(close_reader(reader))
  repeat {
    chunk <- reader$read()
    if (is.null(chunk)) return(NULL)
    check_chunk(chunk)
    if (nrow(chunk) > 0L) return(chunk)
  }
}

count_rows <- function(open) {
  reader <- open(NULL)
  on.exit(close_reader(reader))
  n <- 0
  while (!is.null(chunk <- reader$read())) {
    check_chunk(chunk)
    n <- n + nrow(chunk)
  }
  n
}

is_source <- function(x, arg, call) {
  if (!inherits(x, "dp_source")) return(FALSE)
  good <- is.list(x) && is.function(x$open) && is.integer(x$n) && is.data.frame(x$schema)
  if (!good) abort("argument", "`", arg, "` is no source that `dp_source()` made.", call = call)
  TRUE
}

as_rows <- function(n, call) {
  n <- as.double(n)
  if (n < 1 || n > .Machine$integer.max) {
    abort("source", "The source must have between 1 and ", .Machine$integer.max, " rows.", call = call)
  }
  as.integer(n)
}

# The columns without rows: names, types and levels.
source_schema <- function(first, levels, call) {
  check_data(first, "the first chunk", call)
  columns <- lapply(stats::setNames(nm = names(first)), function(name) first[[name]][0L])
  check_levels(levels, names(columns), call)
  for (name in names(levels)) {
    columns[[name]] <- factor(character(), levels = as_labels(levels[[name]]), ordered = is.ordered(columns[[name]]))
  }
  list2DF(columns, 0L)
}

check_levels <- function(levels, columns, call) {
  if (is.null(levels)) return(invisible())
  known <- names(levels)
  if (!is.list(levels) || is.object(levels) || is.null(known) || anyNA(known) || anyDuplicated(known) > 0L) {
    abort("argument", "`levels` must be a list such as list(sex = c(\"f\", \"m\")), each column once, not ",
          describe(levels), ".", call = call)
  }
  unknown <- setdiff(known, columns)
  if (length(unknown) > 0L) {
    abort("argument", "`levels` names `", unknown[1], "`, which is no column of the source.", call = call)
  }
  for (name in known) {
    x <- levels[[name]]
    if (!is.atomic(x) || length(x) == 0L || anyNA(x) || anyDuplicated(x) > 0L) {
      abort("argument", "`levels$", name, "` must be the levels, each once, not ", describe(x), ".", call = call)
    }
  }
}

#' @export
print.dp_source <- function(x, ...) {
  columns <- length(x$schema)
  cat("<dp_source> ", x$n, " rows of ", columns, if (columns == 1L) " column" else " columns", ", from ", x$label, "\n",
      sep = "")
  invisible(x)
}
