# Sources that are files.

#' @rdname dp_source
#' @export
dp_source.character <- function(x, n = NULL, levels = NULL, types = NULL, chunk = 1e5, cache = "auto", id = NULL,
                                ...) {
  call <- scrub_call(match.call(), quote(dp_source))
  check_dots(call)
  cache <- check_cache(cache, call)
  chunk <- check_count(chunk, "chunk", call = call)
  x <- find_files(x, call)
  kind <- file_kind(x, call)
  label <- paste(if (kind == "csv") "CSV" else "Parquet", "files") # their number may follow from that of the rows
  x <- normalizePath(x)
  if (kind == "csv") {
    for (file in x) check_quotes(file, call)
    types <- with_text(types, setdiff(id, names(levels)))
    source <- new_source(csv_opener(x, chunk, levels), label, n, levels, types, shown = csv_shown, cache = cache,
                         id = id, call = call)
    return(with_persons(source, id, call))
  }
  count <- function() sum(vapply(x, function(file) as.double(nanoparquet::read_parquet_info(file)$num_rows), 0))
  source <- new_source(parquet_opener(x), label, n, levels, types, count, cache = cache, id = id, typed = TRUE,
                       call = call)
  with_persons(source, id, call)
}

# The type of an id in a CSV file does not depend on which ids its first rows have.
with_text <- function(types, id) {
  id <- setdiff(id, names(types))
  if (length(id) == 0L) types else c(types, stats::setNames(rep("character", length(id)), id))
}

# The files of folders and patterns are taken once, in the order of their names.
find_files <- function(x, call) {
  if (length(x) == 0L || anyNA(x)) abort("argument", "`x` must be paths of files, not ", describe(x), ".", call = call)
  unlist(lapply(seq_along(x), function(i) {
    path <- x[[i]]
    folder <- dir.exists(path)
    files <- if (folder) list.files(path, "[.](csv|parquet)$", full.names = TRUE, ignore.case = TRUE)
             else if (file.exists(path)) path
             else Sys.glob(path)
    if (length(files) > 0L) return(files)
    shown <- element_text(x, i, "x")
    if (folder) abort("argument", "`x`: the folder ", shown, " has no files that end in .csv or .parquet.", call = call)
    abort("argument", "`x`: there is no file ", shown, ".", call = call)
  }))
}

file_kind <- function(x, call) {
  kinds <- tolower(tools::file_ext(x))
  other <- which(!kinds %in% c("csv", "parquet") | kinds != kinds[1] | dir.exists(x))
  if (length(other) > 0L) {
    abort("argument", "`x` must be files that all end in .csv, or all in .parquet: ",
          encodeString(basename(x[other[1]]), quote = "\""), " does not.", call = call)
  }
  kind <- kinds[1]
  if (kind == "parquet") check_parquet(call)
  kind
}

# ---- does a reader read what was written? ----

# A value that a driver reads into another row would be that of another record. So a few rows with gaps are read when a
# source is made, as a fit will read them: in chunks, and in another order of the columns.
sample_rows <- list2DF(list(
  a = c(1:7, NA, 9:12) + 0.5, b = c(NA, "x", NA, NA, "", "y", rep("z", 6)), c = c(1L, NA, 3:9, NA, NA, 12L)
))

# open: what begins a pass.
check_reader <- function(what, call, open) {
  if (identical(read_source(read_sample(open), call), sample_rows[c("c", "a", "b")])) return(invisible())
  abort("source", what, " did not read a few rows as they were written: install another version.", call = call)
}

read_sample <- function(open) {
  reader <- open(c("c", "a", "b"))
  on.exit(close_reader(reader))
  chunks <- list()
  while (!is.null(chunk <- reader$read())) chunks[[length(chunks) + 1L]] <- chunk[c("c", "a", "b")]
  found <- do.call(rbind, chunks)
  list2DF(list(c = as.integer(found$c), a = as.double(found$a), b = as.character(found$b)))
}

# ---- Parquet ----

# Older versions move values to other rows, where columns have missing values and are asked for in another order.
min_nanoparquet <- "0.5.2"

check_parquet <- function(call) {
  if (!requireNamespace("nanoparquet", quietly = TRUE)) {
    abort("argument", "Parquet files are read by the package nanoparquet: install it.", call = call)
  }
  if (utils::packageVersion("nanoparquet") < min_nanoparquet) {
    abort("argument", "Parquet files are read by the package nanoparquet from version ", min_nanoparquet, " on, and ",
          "this is ", as.character(utils::packageVersion("nanoparquet")), ", which may read values into other rows: ",
          "install a newer one.", call = call)
  }
  file <- tempfile(fileext = ".parquet")
  on.exit(unlink(file))
  check_reader("The package nanoparquet", call, {
    nanoparquet::write_parquet(sample_rows, file)
    parquet_opener(file)
  })
}

# A file is one chunk. Its columns are asked for in its order. If it lacks one, a later check finds that. An error of
# the package may quote a value, for example a text with a zero byte.
parquet_opener <- function(files) {
  function(columns) {
    at <- 0L
    read <- function() {
      at <<- at + 1L
      if (at > length(files)) return(NULL)
      tryCatch({
        there <- if (!is.null(columns)) intersect(nanoparquet::read_parquet_schema(files[at])$name, columns)
        nanoparquet::read_parquet(files[at], col_select = there)
      }, error = function(e) {
        abort("source", "The file ", encodeString(files[at], quote = "\""), " cannot be read: ",
              "`nanoparquet::read_parquet()` shows why.", call = NULL)
      })
    }
    list(read = read, close = function() NULL)
  }
}

# ---- CSV ----

# All columns are read as text; source-stream.R converts them to the types of the schema. NA is missing, but not in
# columns whose declared levels have it, as "NA" is a country and a continent.
csv_opener <- function(files, chunk, levels) {
  with_na <- names(Filter(function(known) "NA" %in% as_labels(known), levels))
  function(columns) {
    at <- 0L
    connection <- NULL
    fields <- NULL
    close <- function() {
      if (!is.null(connection)) base::close(connection)
      connection <<- NULL
    }
    open_next <- function() {
      at <<- at + 1L
      if (at > length(files)) return(FALSE)
      connection <<- file(files[at], "rt")
      fields <<- csv_fields(connection, columns)
      TRUE
    }
    # Each file ends with a chunk without rows, so that one without any shows its columns.
    read <- function() {
      if (is.null(connection) && !open_next()) return(NULL)
      data <- csv_rows(connection, fields, chunk, with_na)
      if (nrow(data) == 0L) close()
      data
    }
    list(read = read, close = close)
  }
}

# The argument `what` of scan(), from the names in a file's header; other columns are skipped.
csv_fields <- function(connection, columns) {
  header <- scan(connection, "", sep = ",", quote = "\"", nlines = 1L, quiet = TRUE)
  if (length(header) == 0L) stop("a file has no line with names of columns", call. = FALSE)
  fields <- stats::setNames(rep(list(""), length(header)), header)
  if (!is.null(columns)) fields[!header %in% columns] <- list(NULL)
  fields
}

# One line is one record, with any number of fields: no value may add or remove a record.
csv_rows <- function(connection, fields, chunk, with_na) {
  data <- scan(connection, fields, nmax = chunk, sep = ",", quote = "\"", fill = TRUE, flush = TRUE,
               multi.line = FALSE, blank.lines.skip = FALSE, quiet = TRUE, na.strings = character())
  data <- data[!vapply(fields, is.null, NA)]
  without <- !names(data) %in% with_na
  data[without] <- lapply(data[without], function(text) replace(text, text %in% "NA", NA))
  list2DF(data)
}

# A quote opens at the beginning of a field, closes at its end, and is double within one. Any other one, such as that of
# 12" pipe, would take the following lines into its field: the file is refused before a row of it is read.
check_quotes <- function(file, call) {
  connection <- gzfile(file, "rb")
  on.exit(close(connection))
  read <- function(size) readBin(connection, "raw", size)
  ends <- charToRaw(",\n\r\"")
  before <- charToRaw("\n")
  open <- FALSE
  sound <- TRUE
  first <- read(1L)
  if (identical(first, as.raw(0xef))) { # the mark of UTF-8 has three bytes
    read(2L)
    first <- read(1L)
  }
  while (sound && length(first) > 0L) {
    block <- c(first, read(2^20))
    first <- read(1L)
    at <- which(block == charToRaw("\""))
    opens <- xor(seq_along(at) %% 2L == 0L, !open)
    sound <- all(c(before, block)[at[opens]] %in% ends, c(block, first, ends[2])[at[!opens] + 1L] %in% ends)
    if (length(at) > 0L) open <- opens[length(at)]
    before <- block[length(block)]
  }
  if (sound && !open) return(invisible())
  abort("source", "The file ", encodeString(file, quote = "\""), " has a quote within a field, or one that is not ",
        "closed, which would hide the records that follow. Write such fields as `write.csv()` does: the field in ",
        "quotes, and each quote within it twice.", call = call)
}

# A column is shown as numeric or logical if all its values that are valid text are: type.convert() raises an error that
# quotes others.
csv_shown <- function(first) {
  list2DF(lapply(first, function(text) {
    column <- utils::type.convert(as_labels(text), as.is = TRUE)
    if (is.numeric(column) || is.logical(column)) column else text
  }), nrow(first))
}

# Sources that are queries of a database.

#' @rdname dp_source
#' @export
dp_source.DBIConnection <- function(x, query, n = NULL, levels = NULL, types = NULL, chunk = 1e5, push = FALSE,
                                   cache = "auto", id = NULL, ...) {
  call <- scrub_call(match.call(), quote(dp_source))
  check_dots(call)
  cache <- check_cache(cache, call)
  push <- check_flag(push, "push", call)
  chunk <- check_count(chunk, "chunk", call = call)
  if (missing(query) || !is.character(query) || length(query) != 1L || is.na(query)) {
    abort("argument", "`query` must be the name of a table or an SQL query.", call = call)
  }
  if (!is.null(id)) read_source(check_limits(x, call), call)
  check_driver(x, call)
  dialect <- if (push) push_dialect(x, call) else known_dialect(x)
  is_table <- read_source(DBI::dbExistsTable(x, query), call)
  if (!is_table) inform_query(query)
  from <- if (is_table) DBI::dbQuoteIdentifier(x, query) else paste0("(", query, ")")
  count <- function() DBI::dbGetQuery(x, paste("SELECT COUNT(*) FROM", from, "AS t"))[[1]]
  source <- new_source(query_opener(x, from, chunk), if (is_table) "a table" else "a query", n, levels, types,
                       count, cache = cache, id = id, typed = !is.null(dialect) && !dialect$untyped, call = call)
  # A value must be read by itself, whatever the others are: RSQLite coerces all values of a chunk to the type of the
  # first one, and RPostgres reads an infinite date beyond its end.
  if (!is.null(dialect)) {
    table <- with_forms(read_source(new_push(x, from, dialect), call), source$schema)
    source$open <- query_opener(x, from, chunk, table$forms)
  }
  if (push) source$push <- open_push(table, call)
  with_persons(source, id, call)
}

# In the drivers whose statements are known.
check_driver <- function(connection, call) {
  if (!inherits(connection, unlist(lapply(dialects, `[[`, "class")))) return(invisible())
  values <- lapply(sample_rows, function(x) ifelse(is.na(x), "NULL", if (is.character(x)) sprintf("'%s'", x) else x))
  first <- sprintf("CAST(%s AS %s) AS %s", vapply(values, `[`, "", 1L), c("double precision", "text", "integer"),
                   names(values))
  rows <- paste("SELECT", do.call(paste, c(unname(values), list(seq_len(nrow(sample_rows))), sep = ", ")))
  rows[1] <- paste("SELECT", toString(first), ", 1 AS place")
  from <- sprintf("(SELECT * FROM (%s) AS s ORDER BY place)", paste(rows, collapse = " UNION ALL "))
  forms <- if (inherits(connection, "SQLiteConnection")) {
    vapply(sample_rows, function(known) untyped_form(dialects$sqlite, known)$sql, "")
  }
  check_reader("The database's driver", call, query_opener(connection, from, 5, forms))
}

open_push <- function(push, call) {
  check_own_names(push$from, call)
  check_functions(push, call)
  push
}

# forms: templates of expressions that read columns, by their names; NULL: columns as they are.
query_opener <- function(connection, from, chunk, forms = NULL) {
  function(columns) {
    what <- if (is.null(columns)) "*" else {
      names <- DBI::dbQuoteIdentifier(connection, columns)
      values <- paste0("t.", names)
      if (!is.null(forms)) values <- mapply(sprintf, forms[columns], values)
      toString(paste(values, "AS", names))
    }
    result <- DBI::dbSendQuery(connection, paste("SELECT", what, "FROM", from, "AS t"))
    ended <- FALSE
    list(
      read = function() {
        if (ended) return(NULL)
        data <- DBI::dbFetch(result, n = chunk)
        ended <<- nrow(data) == 0L
        data
      },
      close = function() DBI::dbClearResult(result)
    )
  }
}

# The text of a query is public, and these words in it tell how many rows come, or from how many persons one is.
counting_words <- c("WHERE", "HAVING", "LIMIT", "DISTINCT", "GROUP", "JOIN")

inform_query <- function(query) {
  quoted <- "(?s)'[^']*'|\"[^\"]*\"|`[^`]*`|\\[[^]]*\\]|--[^\n]*|/\\*.*?\\*/"
  found <- Filter(function(word) grepl(paste0("\\b", word, "\\b"), gsub(quoted, " ", query, perl = TRUE),
                                       ignore.case = TRUE), counting_words)
  if (length(found) == 0L) return(invisible())
  inform("query", "`query` has ", paste(found, collapse = " and "), ": the number of rows that it returns, n, is ",
         "public, and a row must depend on one person only. Where a condition on private values decides which records ",
         "are used, query all records and give the condition to `dp_sosp()` as `subset`.")
}
