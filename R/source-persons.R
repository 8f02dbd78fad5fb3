# Persons of a source: dp_source(id = ). A pass over the ids alone, when the source is made, finds the persons and their
# numbers of rows. Memory is proportional to the number of persons; the number of rows is private and decides nothing
# but time (proofs: persons). A list of persons has
#   name   of the column of the id
#   keys   the ids; the number of a person is the place of its id
#   count  each one's number of rows, as doubles
# (keys and count: of shards their workers alone know them), and of a fit, which limits them (limit_persons()),
#   most   the largest number of rows of a person that are used
#   used   each one's number of rows that are used
#   n      the number of persons, public

# A source with the persons of this column. source$n is the declared number of persons, or NULL.
with_persons <- function(source, id, call) {
  if (is.null(id)) return(source)
  if (!is.character(id) || length(id) != 1L || is.na(id)) {
    abort("argument", "`id` must be the name of a column, such as \"person\", not ", describe(id), ".", call = call)
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

# The source for a fit, of which at most so many records of each person are used.
limit_persons <- function(source, records, call) {
  most <- check_record_limit(records, call)
  if (is.null(source$persons)) return(source)
  source$persons[c("most", "n")] <- list(most, source$n)
  if (is.null(source$shards)) source$persons$used <- as.integer(pmin(source$persons$count, most))
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
  list(n = sum(as.double(source$persons$used)),
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
