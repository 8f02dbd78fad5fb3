# The arguments id and records: several records of a person, who is protected with all of them (proofs: persons). A list
# of persons has
#   name   of the column of the id; NULL for a matrix
#   rows   the numbers of the rows that are used: those with an id, of each person the first `most`
#   code   of each of these rows the number of its person, from one on
#   n      the number of persons, public
#   most   the largest number of rows of a person that are used, public
# The number of rows is private, so that no message and no entry of a fit may tell it. The rows are always copied, even
# if all of them are used: time then tells no more than their number.

# name: of the column, as the user wrote it. Returns NULL without an id.
frame_persons <- function(name, records, data, call) {
  if (is.null(name)) return(no_persons(records, call))
  name <- id_name(name, call)
  check_data(data, "data", call)
  check_name(name, names(data), call, "id")
  c(list(name = name), new_persons(data[[name]], records, call))
}

id_name <- function(name, call) {
  if (is.symbol(name)) name <- as.character(name)
  if (is.character(name) && length(name) == 1L) return(name)
  abort("argument", "`id` must be a column of the data, such as `id = person`, not an expression or values of its ",
        "own.", call = call)
}

# The data frame without the id, which is no predictor, and without rows that are not used.
persons_frame <- function(data, persons) {
  if (is.null(persons)) return(data)
  data[persons$rows, setdiff(names(data), persons$name), drop = FALSE]
}

# n: number of rows of `x`; beside: the response, weights and offset.
matrix_persons <- function(id, records, n, beside, call) {
  if (is.null(id)) return(no_persons(records, call))
  beside <- Filter(Negate(is.null), beside)
  plain <- vapply(beside[names(beside) != "y"], function(x) is.numeric(x) && !is.object(x) && is.null(dim(x)), NA)
  if (length(id) != n || any(lengths(beside) != n) || !all(plain)) {
    abort("argument", "`id`, ", quote_names(names(beside)), " must be vectors with one entry per row of `x`",
          if (length(plain) > 0L) ", weights and offsets numbers", ". The number of rows is private, and not shown.",
          call = call)
  }
  new_persons(id, records, call)
}

no_persons <- function(records, call) {
  check_record_limit(records, call)
  NULL
}

new_persons <- function(id, records, call) {
  most <- check_record_limit(records, call)
  key <- id_key(id, call)
  keys <- unique(key[!is.na(key)])
  code <- match(key, keys)
  known <- which(!is.na(code))
  rows <- known[turns(code[known], tabulate(code[known], length(keys))) <= most]
  if (length(keys) == 0L) abort("argument", "There are no persons: `id` is missing everywhere.", call = call)
  list(rows = rows, code = code[rows], n = length(keys), most = most)
}

# Numbers the rows of each person; count: how many each one has.
turns <- function(code, count) {
  turn <- integer(length(code))
  turn[order(code)] <- sequence(count)
  turn
}

# Values that can be matched, NA where there is no valid one.
id_key <- function(id, call) {
  kind <- column_kind(id)
  switch(if (is.na(kind)) "none" else kind,
    factor = sound_codes(id), character = as_labels(id), numeric = , logical = as_plain(id),
    abort("argument", "`id` must be numbers, text or a factor, not of class \"", class(id)[1], "\".", call = call)
  )
}

# Shares of a person are rounded to multiples of 2^-20.
max_records <- 2^20
check_record_limit <- function(records, call) check_count(records, "records", 1, call, max_records)

# The shares of rows of which none is null yet, as in data_shares() (src/data/data.h).
raw_shares <- function(persons) floor(max_records / tabulate(persons$code, persons$n))[persons$code] / max_records

# What the core takes (src/r_data.h); NULL without persons.
persons_core <- function(persons) persons[c("code", "n", "most")]

# The problem of persons, whose rows are those of the list.
of_persons <- function(problem, persons) {
  if (is.null(persons)) return(problem)
  core <- persons_core(persons)
  of <- list(records = function(x) c(x, list(persons = core)), responses = function(x) c(x, list(persons = core)),
             columns = function(x) structure(x, persons = core, rows = core$n),
             counted = function(x) structure(x, persons = core, rows = core$n))
  for (name in names(of)) problem[[name]] <- composed_with(of[[name]], problem[[name]])
  problem$n <- persons$n
  problem$split <- NULL
  c(problem, list(persons = persons[intersect(c("name", "most"), names(persons))]))
}

composed_with <- function(after, f) {
  force(after)
  force(f)
  if (is.null(f)) NULL else function(job) after(f(job))
}

# What a fit keeps: public facts.
persons_text <- function(n, persons) {
  paste0(format(n, big.mark = ","), " persons, at most ", format(persons$most, big.mark = ","), " records each")
}
