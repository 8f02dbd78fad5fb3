#' Data larger than memory
#'
#' A source yields a data frame in chunks, again for every pass. [dp_sosp()] takes it as `data`:
#' each query is one pass over the data, and memory holds one chunk and the mapped rows, if they are few enough (see the
#' section Time), or some 64000 of them at a time. Releases are those of the same rows in memory, up to the last digits,
#' and do not depend on the size of the chunks.
#'
#' # Time
#' A fit makes a pass for each query, so some hundred passes. The first one maps the columns to rows of numbers, and the
#' later ones need nothing else. With `cache = "memory"` a fit keeps the mapped rows, 8 bytes for each number and 4 for
#' each factor, until it ends. It then takes three passes (one more or two where ranges are found) and after that as
#' long as a fit in memory. `"auto"` does so where the rows take less than `options(dpsosp.cache = 2^30)` bytes,
#' which n and the model tell: 8 million rows of 10 numbers and 2 factors. `"none"` reads all rows in each pass and has
#' one chunk in memory. Where that takes long, a message of class `dpsosp_message_passes` says how long. Releases are
#' the same in all cases. Methods on batches, such as `"sgd"` and `"2opt-b"`, need rows that are kept, or a database
#' that computes the sums (not those of networks).
#'
#' `cache = "file"` is for more rows than memory is to hold, where reading them again takes long, as with CSV files. The
#' numbers and codes of the mapped rows then lie in a temporary file, which has no name, may be read by its owner alone,
#' and is freed with the fit, however that ends; 24 to 40 bytes a row stay in memory. The rows lie in it unencrypted
#' while the fit lasts, on the disk of `tempdir()`, and what was written there may be recovered from the disk
#' afterwards: so `"auto"` never takes it. It is not available on Windows.
#'
#' # One pass
#' `method = "spider"` makes one pass for all its queries, see [control_spider()]: each query reads the next rows. So it
#' is the method for data that take long to read and, with `once = TRUE`, for rows that can be read once only, such as
#' those of a socket, of a pipe or of a program that generates them. Such a source is not read before the fit: declare
#' `n`, and the `types` or `levels` of the columns that the fit uses, here, and their ranges in [dp_sosp()]. Anything
#' that needs another pass is refused before anything is charged.
#'
#' The query that reads a row then depends on the row's place. So the order of the rows must not depend on private
#' values: in data sorted by a private column, one person's value moves the rows of others. Sorting by a key that is
#' unrelated to the values is safe.
#'
#' # A function
#' `x()` begins a pass and returns a reader: a function without arguments that returns the next
#' chunk, a data frame, each time it is called, and `NULL` at the end. Chunks may have any number of
#' rows, columns in any order, and columns that the model does not use. A pass may stop
#' before its end; the next one begins with another `x()`.
#'
#' # Files
#' Parquet files (read by the package `nanoparquet`, version 0.5.2 or later) are one chunk each: write large data in
#' several files. CSV files need a header, as written by [utils::write.csv()], and are read `chunk` rows at a time. They
#' are read by [scan()], which is slow, and every pass reads them again: convert large ones to Parquet. After the header
#' each line is a record, also a blank line (its values are missing), except lines within quotes; fields beyond the
#' header's columns are ignored. A quote within a field without quotes, or one that is not closed, makes a CSV file
#' invalid, and so does a text with a zero byte a Parquet file: making the source is then an error. `NA` is missing, but
#' the level `"NA"` in columns whose `levels` have it, where missing values are empty fields. All files must have the
#' same columns; columns that the fit does not use are not read.
#'
#' A folder stands for all its CSV or all its Parquet files, a path with wildcards such as `"data/2026-*.csv"` for those
#' that match, in the order of their names. The list of files is public, and is taken when the source is made.
#'
#' # A database
#' `x` is a DBI connection (for example of RSQLite, RPostgres or duckdb), `query` the name of a table or an SQL query.
#' A pass is one query, fetched `chunk` rows at a time. Every pass must return the rows in the same order: if the
#' database does not guarantee this, give a query with `ORDER BY` a unique key.
#'
#' The number of rows of a query's result is public. So a query must not choose records by private values: query all
#' records, and give [dp_sosp()] the condition as `subset`. A message says so where the query has `WHERE`, `HAVING`,
#' `LIMIT`, `DISTINCT`, `GROUP` or `JOIN`.
#'
#' # Sums in the database
#' With `push = TRUE` the database computes the sums that it can: gradients, values, decreases of a line search, counts
#' of residuals and of values in cells, and matrices of few columns are one SELECT each, whose result is a few
#' kilobytes, whatever the number of rows, with and without a geometry. All losses are computed there, and so are ranges
#' that are found and smooth terms: `method = "auto"` fetches no rows where it takes `"newton-ridge"`. It is meant for
#' PostgreSQL (RPostgres) on another machine or with more processors. It also works with SQLite (RSQLite), where reading
#' is faster, and with DuckDB (duckdb), without methods on batches. A query may read Parquet files through DuckDB,
#' `"SELECT * FROM read_parquet('people/*.parquet')"`; its snapshot has tables but no files, so these must not change
#' during a fit.
#'
#' Predictors, response, `subset`, `weights` and `offset()` are columns of the table, or expressions of them that the
#' database computes:
#' interactions; `+ - * / ^` (powers 0.5 and whole numbers from -20 to 20), `log`, `log2`, `log10`, `log1p`, `exp`,
#' `sqrt`, `abs`, `sign`, `pmin`, `pmax`; comparisons, `& | !`, `xor`, `is.na`, `%in%`, `ifelse`; `cut`, `factor` with
#' their breaks and levels; `poly(raw = TRUE)`, and `bs` and `ns` with their knots, up to degree 5; contrasts. An error
#' names any other function; make a view of the table that has it as a column. In PostgreSQL columns may be
#' dates and times (`date`, `timestamptz`). What exceeds 1e150 in an operation counts as infinite, and what is below
#' 1e-150 as zero, which has no sign. Otherwise values are those of R up to rounding errors, infinite ones, too.
#'
#' The numbers of the mapped rows are rounded to multiples of 2^-20 of the radius, and so are a record's contributions
#' to a sum, so that sums are exact and no sensitivity grows: sums agree with those in memory to about six digits.
#' The noise is the same, too, but for methods without a geometry: in memory that of gradients, Hessians and decreases
#' is smaller near zero coefficients, in a database it is that of large ones.
#' Everything else is computed from rows that are fetched in chunks: matrices of many columns other than those of
#' `"newton-ridge"`, and most sums of `"objpert"`, `"outpert"`, `"agd"` and `"spider"`, of [dp_certify()] and
#' [dp_oracle()]. Then one message, of class
#' `dpsosp_message_rows`, says so, before the first charge or, where only the releases tell, at the end.
#' `vignette("what-works")` lists methods and options.
#'
#' What a statement computes of a record before it knows coefficients is the same for all statements. A fit keeps it in
#' a temporary table, `dpsosp_rows`, which no other connection can read and which is dropped at the end of the fit
#' (SQLite has it in memory or in a temporary file). Where the connection may not create temporary tables, or has one of
#' that name, each statement computes it again: the same sums in up to twice the time. A role needs `SELECT` on
#' the table, or on a view that has the columns that the model uses, and nothing else; `TEMP` on the database, for the
#' prepared rows, saves time. Names that statements use themselves, such as `dpsosp_rows`, are refused. PostgreSQL
#' cannot keep rows of more than some 990 numbers; of a model with so many columns none are prepared.
#'
#' Methods on batches have the prepared rows numbered. This process draws the numbers of a batch, as of rows in memory,
#' and sends them as a parameter of a statement, which sums these rows. They need the temporary table, at most 100
#' `candidates` of a line search and, where they ask for matrices, at most some 50 columns of numbers. The guarantee
#' of such a fit supposes that nobody else knows which records were in a batch, and a log of the database's statements
#' with their parameters (PostgreSQL: `log_statement`, `log_min_duration_statement`) shows it: who reads the log must
#' be trusted like this process.
#'
#' A fit is one read-only transaction, in which all rows are as they
#' were at its beginning; the connection must have none open. A model that cannot be pushed down is refused before
#' anything is charged. With RPostgres, the argument
#' `check_interrupts = TRUE` of `DBI::dbConnect()` lets an interrupt end a statement.
#'
#' # Types and levels
#' Names and types of columns, and levels of factors, are public, as those of a data frame are. Where `types` and
#' `levels` do not declare them, they are those of the first chunk; for CSV files, they follow from its values. Declare
#' them where one record might decide: where its value could be a word in a column of numbers, or the only one that is
#' not missing. Levels must not be read from the data: character columns and codes become factors with the declared
#' levels.
#'
#' Chunks are then read as the schema says, value by value. A value that does not have its column's type or levels is
#' missing, and makes its row a null record; it is not counted or reported anywhere. The rules are the same for all
#' sources, and for the statements of databases:
#'
#' * A number may also be a text that is a decimal number as a whole, such as `" 12.5 "`, `"1e-3"` or `"-Inf"`, or a
#'   truth value, which is 1 or 0.
#' * A truth value may also be the number 1 or 0, or one of the texts `TRUE`, `True`, `true`, `T` and their opposites.
#' * A level is matched with the text of a value, byte by byte with its white space; an empty text may be a level. Whole
#'   numbers have the text of their digits, whatever their type is. Blanks that fill a `char(n)` are left out. Where the
#'   levels are `"FALSE"` and `"TRUE"`, values are read as truth values.
#' * A date or time may also be a text of at most 1000 bytes such as 2026-05-31 or 2026-05-31T23:59:59Z, or a number of
#'   days or seconds since 1970; infinite ones are missing.
#'
#' A declared type that no value of a column can have is an error in Parquet files, PostgreSQL and DuckDB.
#' `vignette("what-works")` has a table.
#'
#' # Persons
#' With `id` the rows of a source belong to persons, who are protected with all of their rows (see the section Persons
#' of [dp_sosp()]). They may lie anywhere, in several chunks or files. A pass over this column alone, when the source is
#' made, finds the persons and counts their rows; its memory is proportional to the number of persons. `n` is then the
#' number of persons: `NULL` is that of the different ids, and a declared one may be larger, where some persons, or all,
#' may have no rows: they count as persons with null records. Fewer than there are ids is an error. (Where there may be
#' no row at all, declare the `types` or `levels` of all columns that a fit uses, too, as below.) The number of rows is
#' private: no message and no part of a fit tells it. Ids that are numbers are doubles, except in the statements of
#' PostgreSQL and DuckDB: two whole numbers of more than 15 digits may be taken for one person. Declare them as text,
#' `types = c(person = "character")`, or have the query cast them. Of a person with more rows than the fit's `records`,
#' those that come first are used. A fit then makes one pass more. With `cache = "auto"` the mapped rows are kept where
#' n times `records` rows would take less than `options(dpsosp.cache)` bytes, so a small `records` saves time. `once`
#' does not go with `id`.
#'
#' Whether memory, or with `cache = "file"` the disk, has room for the rows depends on their number, as time does. So
#' the error that it has none is for the operator of the machine only. Room for n times `records` rows always suffices,
#' and `cache = "none"` needs none. The guarantee assumes that no limit of time, memory or disk, of the system or of a
#' database, makes an error of the number of rows. So PostgreSQL's `statement_timeout`, `transaction_timeout` and
#' `temp_file_limit` must not be set: `dp_source()` refuses a connection that has one of them.
#'
#' With `push = TRUE` the database itself counts the persons and computes their sums, in SQLite, PostgreSQL and DuckDB.
#' Ids are finite numbers or text, which is compared byte by byte whatever the collation; other values are no ids. A fit
#' fetches no row: what the database does not compute, as `"outpert"`, `"agd"` and matrices of more than some 50
#' columns, is refused before anything is charged. Fits are those in memory, up to the rounding of sums, where no
#' person has more usable rows than `records`. Of a person with more, `records` are used that the mapped values of the
#' person's own rows choose, in an order that looks random, not the first ones: a table has no order. Counts for
#' ranges, and the class fraction of the start, are sums over all rows of a person. Later fits may find other rows of
#' these persons, but not more persons than `n`.
#'
#' # What is guaranteed
#' n is public and fixed. A pass with more or fewer rows, with other rows than in an earlier pass over this source,
#' or with the rows in another order, is an error and releases nothing;
#' its charge stays. (A source keeps a digest of 64 bits of each column; for other data make another
#' source.) Where one pass serves several releases, wrong or missing rows are noticed at its end only: earlier releases
#' of the pass are then already out. The result of the function, the files' readers or the database must be a function
#' of the data set: a record of the guarantee is a row that they yield, so each person's data must be in one row, the
#' same row in every pass, and a row must depend on one person only. Do not sample,
#' filter, rank or deduplicate by values there unless this holds. Messages and warnings of a reader
#' may quote data and are never shown. `dp_source()` shows its errors, which may quote data, too; a fit replaces them by
#' one that does not.
#'
#' @param x A function, the paths of files or folders, or a DBI connection.
#' @param query Name of a table or an SQL query.
#' @param n Number of rows; `NULL` counts them, for functions and CSV files in an extra pass. With `id` the number of
#'   persons, see the section Persons.
#' @param levels A named list of the levels of columns, such as `list(sex = c("f", "m"))`.
#' @param types A named vector such as `c(age = "numeric")`: columns that are `"numeric"`, `"logical"`, `"character"`,
#'   `"Date"` or `"POSIXct"` (text such as 2026-05-31, and 2026-05-31 23:59:59 in UTC) whatever the first chunk shows.
#' @param once Can the function be called once only? See the section One pass.
#' @param chunk Number of rows to read at a time, from CSV files and databases.
#' @param cache Are the rows kept during a fit, and where? See the section Time.
#' @param push Does the database compute the sums? See the section Sums in the database.
#' @param id Name of the column that says whose row it is, or `NULL`. See the section Persons.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_source`, for [dp_sosp()], [dp_inference()] and [dp_certify()] as `data` or
#'   [dp_oracle()] as `x`.
#'   It holds no data except a digest of each column, with `id` the ids and their numbers of rows, and what the function
#'   or the connection holds.
#' @section Errors: `dpsosp_error_argument` for wrong arguments; `dpsosp_error_source` for a source that
#'   fails, in a fit too; `dpsosp_error_file` in a fit where the disk has no room for all rows of `cache = "file"`.
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
dp_source.function <- function(x, n = NULL, levels = NULL, types = NULL, once = FALSE, cache = "auto", id = NULL,
                               ...) {
  call <- scrub_call(match.call(), quote(dp_source))
  check_dots(call)
  cache <- check_cache(cache, call)
  once <- check_flag(once, "once", call)
  open <- function(columns) {
    reader <- x()
    if (!is.function(reader)) {
      abort("source", "The source's function must return a function that reads, not ", describe(reader), ".",
            call = NULL)
    }
    list(read = reader, close = function() NULL)
  }
  source <- new_source(open, "a function", n, levels, types, once = once, cache = cache, id = id, call = call)
  with_persons(source, id, call)
}

check_cache <- function(cache, call) {
  cache <- check_choice(cache, c("auto", "memory", "file", "none"), "cache", call)
  if (cache != "file" || has_unnamed_files()) return(cache)
  abort("argument", "`cache` must not be \"file\" on Windows, where a file that is in use keeps its name, by which ",
        "others may open it: take \"memory\" or \"none\".", call = call)
}

has_unnamed_files <- function() .Platform$OS.type != "windows"

#' @export
dp_source.default <- function(x, ...) {
  abort("argument", "`x` must be a function, paths of files or a DBI connection, not ", describe_column(x), ".",
        call = scrub_call(match.call(), quote(dp_source)))
}

# open(columns): begins a pass that needs these columns (NULL: all) and returns a list of read() and close(). count():
# the number of rows; by default found by a pass. shown(first): the first chunk, with types inferred from its values. A
# source that can be read only once has an environment `once`, which records whether it was read. With an id rows are
# not counted, and there may be none, as the last person with rows must not decide: with_persons() sets a missing n.
# typed: do the columns of chunks have types that no value decides, as those of Parquet files and of most databases?
new_source <- function(open, label, n, levels, types, count = NULL, shown = identity, once = FALSE, cache = "auto",
                       id = NULL, typed = FALSE, call = sys.call(-1)) {
  if (!is.null(n)) n <- check_count(n, "n", call = call)
  first <- if (once) declared_columns(n, levels, types, call) else read_source(first_chunk(open), call)
  if (is.null(id) && !once && NROW(first) == 0L) abort("source", "The source has no rows.", call = call)
  if (typed && !is.null(first)) check_stored(first, levels, types, call)
  if (is.null(first)) first <- empty_columns(c(names(levels), names(types), id))
  schema <- source_schema(shown(first), levels, types, call)
  counted <- function() if (is.null(count)) count_rows(open) else count()
  if (is.null(n) && is.null(id)) n <- as_rows(read_source(counted(), call), call)
  source_of(open, n, schema, label, once, cache)
}

source_of <- function(open, n, schema, label, once = FALSE, cache = "none") {
  structure(class = "dp_source", list(open = open, n = n, persons = NULL, schema = schema, label = label,
                                      cache = if (once) "none" else cache, # no pass could use what is kept
                                      seen = new.env(parent = emptyenv()), held = new.env(parent = emptyenv()),
                                      once = if (once) list2env(list(read = FALSE), parent = emptyenv())))
}

# Takes the place of a first chunk, which is not read.
declared_columns <- function(n, levels, types, call) {
  columns <- c(names(levels), names(types))
  if (is.null(n) || is.null(columns)) {
    abort("argument", "With `once = TRUE` nothing is read before the fit: declare `n`, and `types` or `levels` of the ",
          "columns that it uses.", call = call)
  }
  empty_columns(columns)
}

empty_columns <- function(names) list2DF(lapply(stats::setNames(nm = unique(names)), function(name) logical()), 0L)

# The first chunk that has rows or, where there is none, the last one; NULL without any.
first_chunk <- function(open) {
  reader <- open(NULL)
  on.exit(close_reader(reader))
  last <- NULL
  repeat {
    if (is.null(chunk <- reader$read())) return(last)
    check_chunk(chunk)
    if (nrow(chunk) > 0L) return(chunk)
    last <- chunk
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
  good <- is.list(x) && is.function(x$open) && is.integer(x$n) && is.data.frame(x$schema) &&
    is.environment(x$seen)
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

# The columns on zero rows: names, types and levels.
source_schema <- function(first, levels, types, call) {
  check_data(first, "the first chunk", call)
  columns <- lapply(first[0L, , drop = FALSE], function(x) if (inherits(x, "integer64")) double() else unlabelled(x))
  check_types(types, names(columns), call)
  check_levels(levels, names(columns), call)
  columns[names(types)] <- lapply(types, function(type) {
    if (type %in% source_times) text_values(character(), type) else vector(type, 0L)
  })
  for (name in names(levels)) {
    columns[[name]] <- factor(character(), levels = as_labels(levels[[name]]), ordered = is.ordered(columns[[name]]))
  }
  list2DF(columns, 0L)
}

source_times <- c("Date", "POSIXct")
source_types <- c("numeric", "logical", "character", source_times)

check_types <- function(types, columns, call) {
  if (is.null(types)) return(invisible())
  known <- names(types)
  if (!is.character(types) || is.null(known) || anyNA(known) || anyDuplicated(known) > 0L) {
    abort("argument", "`types` must be a named vector such as c(age = \"numeric\"), each column once, not ",
          describe(types), ".", call = call)
  }
  check_choices(types, source_types, paste0("types[\"", known, "\"]"), call)
  check_known(known, columns, "types", "column of the source", call)
}

check_levels <- function(levels, columns, call) {
  if (is.null(levels)) return(invisible())
  known <- names(levels)
  if (!is.list(levels) || is.object(levels) || is.null(known) || anyNA(known) || anyDuplicated(known) > 0L) {
    abort("argument", "`levels` must be a list such as list(sex = c(\"f\", \"m\")), each column once, not ",
          describe(levels), ".", call = call)
  }
  check_known(known, columns, "levels", "column of the source", call)
  for (name in known) {
    x <- levels[[name]]
    if (!is.atomic(x) || length(x) == 0L || anyNA(as_labels(x)) || anyDuplicated(x) > 0L) {
      abort("argument", "`levels$", name, "` must be the levels, each once, not ", describe(x), ".", call = call)
    }
  }
}

#' @export
print.dp_source <- function(x, ...) {
  check_dots()
  columns <- length(x$schema)
  of <- if (is.null(x$persons)) "rows" else paste0("persons, by `", x$persons$name, "`, with rows")
  cat("<dp_source> ", x$n, " ", of, " of ", columns, if (columns == 1L) " column" else " columns", ", from ", x$label,
      if (!is.null(x$once)) ", once", "\n", sep = "")
  kinds <- vapply(x$schema, function(x) if (is.na(column_kind(x))) class(x)[1] else column_kind(x), "")
  for (kind in unique(kinds)) cat("  ", kind, ": ", toString(names(kinds)[kinds == kind], width = 80), "\n", sep = "")
  invisible(x)
}

# Finds the persons of a source, by the column of their ids, when it is made.

# A source with the persons of this column. source$n is the declared number of persons, or NULL.
with_persons <- function(source, id, call) {
  if (is.null(id)) return(source)
  if (!is.character(id) || length(id) != 1L || is.na(id)) {
    # Ids in its place have the length of the rows, whose number is private.
    abort("argument", "`id` must be the name of a column, such as \"person\", not ", describe_column(id), ".",
          call = call)
  }
  check_known(id, names(source$schema), "id", "column of the source", call)
  if (!is.null(source$once)) {
    abort("argument", "`id` needs a pass in which the records of each person are counted, so not `once = TRUE`.",
          call = call)
  }
  id_key(source$schema[[id]], call)
  if (!is.null(source$push)) {
    source$push$persons <- new_push_persons(source$push, id, source$schema[[id]], call)
  }
  found <- read_source(count_persons(source, id), call)
  if (is.null(source$n) && found$n == 0) {
    abort("source", "There are no persons: `", id, "` is missing everywhere. Where all of them may have no rows, ",
          "declare `n`.", call = call)
  }
  if (!is.null(source$n) && found$n > source$n) {
    abort("source", "The source has more persons than `n`, ", source$n, ".", call = call)
  }
  source$n <- source$n %||% as_rows(found$n, call)
  if (!is.null(source$push)) source$push$persons$n <- source$n
  found$n <- source$n
  source$persons <- c(list(name = id), found)
  source
}

# The number of different ids; of rows in chunks the ids and their numbers of rows, too.
count_persons <- function(source, id) {
  if (!is.null(source$push)) return(list(n = count_ids(source$push)))
  reader <- source$open(id)
  on.exit(close_reader(reader))
  keys <- NULL
  count <- numeric()
  digest <- raw(8)
  while (!is.null(chunk <- next_chunk(source, reader, id))) {
    digest <- .Call(ffi_column_digest, digest, chunk[[id]])
    key <- id_key(chunk[[id]], NULL)
    keys <- c(keys, setdiff(key[!is.na(key)], keys))
    count <- c(count, numeric(length(keys) - length(count))) +
      tabulate(match(key, keys, nomatch = 0L), length(keys))
  }
  check_same_rows(source, stats::setNames(list(digest), id))
  list(n = length(keys), keys = keys, count = count)
}

# The source for a fit. name: the argument `id` as the user wrote it, or NULL; it may be left out.
source_of_persons <- function(name, records, source, call) {
  if (!is.null(name)) {
    name <- id_name(name, call)
    known <- source$persons$name
    if (is.null(known)) {
      abort("argument", "The source does not say which records are of one person: make it with `id = \"", name, "\"`, ",
            "as `?dp_source` describes.", call = call, class = "dpsosp_error_persons")
    }
    if (name != known) {
      abort("argument", "`id` is \"", name, "\", and the source was made with `id = \"", known, "\"`.", call = call)
    }
  }
  limit_persons(source, records, call)
}
