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
  persons <- read_source(count_persons(source, id), call)
  n <- length(persons$keys)
  if (n == 0L) abort("source", "There are no persons: `", id, "` is missing everywhere.", call = call)
  if (!is.null(source$n) && n > source$n) {
    abort("source", "The source has more persons than `n`, ", source$n, ".", call = call)
  }
  source$n <- source$n %||% n
  source$persons <- c(list(name = id), persons)
  source
}

count_persons <- function(source, id) {
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
  list(keys = keys, count = count)
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
