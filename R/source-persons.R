# Persons of a source: dp_source(id = ). A pass over the ids alone, when the source is made, finds the persons and their
# numbers of rows (source-ids.R). Memory is proportional to the number of persons; the number of rows is private and
# decides nothing but time (proofs: persons). A list of persons has
#   name   of the column of the id
#   keys   the ids; the number of a person is the place of its id
#   count  each one's number of rows, as doubles
# (keys and count: of shards their workers alone know them), and of a fit, which limits them (limit_persons()),
#   most   the largest number of rows of a person that are used
#   used   each one's number of rows that are used
#   n      the number of persons, public

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
