# Sources that are files.

#' @rdname dp_source
#' @export
dp_source.character <- function(x, n = NULL, levels = NULL, types = NULL, chunk = 1e5, ...) {
  call <- sys.call(-1)
  check_dots(substitute(list(...)), call = call, topic = "dp_source")
  chunk <- check_count(chunk, "chunk", call = call)
  kind <- file_kind(x, call)
  label <- paste(length(x), if (kind == "csv") "CSV" else "Parquet", if (length(x) == 1L) "file" else "files")
  x <- normalizePath(x)
  if (kind == "csv") {
    types <- csv_types(x, check_types(types, call), names(levels), chunk, call)
    return(new_source(csv_opener(x, types, chunk), label, n, levels, call = call))
  }
  if (!is.null(types)) abort("argument", "`types` is for CSV files; Parquet files have them.", call = call)
  count <- function() sum(vapply(x, function(file) as.double(nanoparquet::read_parquet_info(file)$num_rows), 0))
  new_source(parquet_opener(x), label, n, levels, count, call)
}

file_kind <- function(x, call) {
  if (length(x) == 0L || anyNA(x)) abort("argument", "`x` must be paths of files, not ", describe(x), ".", call = call)
  if (!all(file.exists(x) & !dir.exists(x))) abort("argument", "`x` names a file that does not exist.", call = call)
  kind <- unique(tolower(tools::file_ext(x)))
  if (!identical(kind, "csv") && !identical(kind, "parquet")) {
    abort("argument", "`x` must be files that all end in .csv, or all in .parquet.", call = call)
  }
  if (kind == "parquet" && !requireNamespace("nanoparquet", quietly = TRUE)) {
    abort("argument", "Parquet files are read by the package nanoparquet: install it.", call = call)
  }
  kind
}

# ---- Parquet ----

# A file is one chunk. A column that it does not have is left to be missed later.
parquet_opener <- function(files) {
  function(columns) {
    at <- 0L
    read <- function() {
      at <<- at + 1L
      if (at > length(files)) return(NULL)
      there <- if (!is.null(columns)) intersect(columns, nanoparquet::read_parquet_schema(files[at])$name)
      nanoparquet::read_parquet(files[at], col_select = there)
    }
    list(read = read, close = function() NULL)
  }
}

# ---- CSV ----

csv_opener <- function(files, types, chunk) {
  function(columns) {
    at <- 0L
    connection <- NULL
    classes <- NULL
    close <- function() {
      if (!is.null(connection)) base::close(connection)
      connection <<- NULL
    }
    open_next <- function() {
      close()
      at <<- at + 1L
      if (at > length(files)) return(FALSE)
      connection <<- file(files[at], "rt")
      classes <<- csv_classes(csv_header(connection), types, columns)
      TRUE
    }
    read <- function() {
      repeat {
        data <- if (!is.null(connection)) csv_rows(connection, classes, chunk)
        if (!is.null(data)) return(csv_numbers(data, types))
        if (!open_next()) return(NULL)
      }
    }
    list(read = read, close = close)
  }
}

csv_header <- function(connection) {
  scan(connection, "", sep = ",", quote = "\"", nlines = 1L, quiet = TRUE)
}

# For read.csv(), by the names of a file's header; those that are not needed are skipped. Numbers are converted after
# reading, as scan() knows none in quotes.
csv_classes <- function(header, types, columns) {
  classes <- ifelse(types[header] == "character", "character", NA)
  classes[!header %in% names(types) | (!is.null(columns) & !header %in% columns)] <- "NULL"
  stats::setNames(classes, header)
}

csv_rows <- function(connection, classes, chunk) {
  line <- readLines(connection, 1L)
  if (length(line) == 0L) return(NULL)
  pushBack(line, connection)
  utils::read.csv(connection, header = FALSE, nrows = chunk, col.names = names(classes), colClasses = unname(classes),
                  check.names = FALSE, comment.char = "")
}

# A chunk's column that is missing throughout was read as logical.
csv_numbers <- function(data, types) {
  for (name in names(data)) {
    if (types[[name]] == "numeric" && is.logical(data[[name]])) data[[name]] <- as.double(data[[name]])
  }
  data
}

# Types of the first file's columns, as its first rows show them. Codes that levels are declared for are text.
csv_types <- function(files, types, coded, chunk, call) {
  first <- read_source(utils::read.csv(files[1], nrows = chunk, check.names = FALSE, comment.char = ""), call)
  shown <- vapply(first, function(column) {
    if (is.numeric(column)) "numeric" else if (is.logical(column)) "logical" else "character"
  }, "")
  unknown <- setdiff(names(types), names(shown))
  if (length(unknown) > 0L) {
    abort("argument", "`types` names `", unknown[1], "`, which is no column of the file.", call = call)
  }
  shown[intersect(coded, names(shown))] <- "character"
  shown[names(types)] <- types
  shown
}

check_types <- function(types, call) {
  if (is.null(types)) return(NULL)
  known <- names(types)
  if (!is.character(types) || is.null(known) || anyDuplicated(known) > 0L ||
        !all(types %in% c("numeric", "logical", "character"))) {
    abort("argument", "`types` must name columns, each once, as \"numeric\", \"logical\" or \"character\", not ",
          describe(types), ".", call = call)
  }
  types
}
