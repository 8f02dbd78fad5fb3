# A store in one SQLite file. Every call opens a connection of its own and closes it, so that none crosses a fork, and
# opens without the flag that creates files: a mistyped name is an error and not a new budget.
#
# With journal_mode = DELETE and synchronous = EXTRA a file that was committed is on the disk, with its folder, and is
# the only file. With WAL the last rows would be in another file, and a copy of the main one would be an older budget.

sqlite_schema <- function() {
  text <- function(fields) paste(fields, "TEXT NOT NULL", collapse = ", ")
  grows <- function(table, verb) {
    sprintf("CREATE TRIGGER no_%s_%s BEFORE %s ON %s BEGIN SELECT RAISE(ABORT, 'a store only grows'); END",
            tolower(verb), table, verb, table)
  }
  c(
    sprintf("CREATE TABLE study (one INTEGER PRIMARY KEY CHECK (one = 1), %s)", text(c(study_fields, "hash"))),
    sprintf(paste("CREATE TABLE reservation (number INTEGER PRIMARY KEY CHECK (number > 0), %s,",
                  "UNIQUE (previous))"), text(c(row_fields[-1], "hash"))),
    grows("study", "UPDATE"), grows("study", "DELETE"), grows("reservation", "UPDATE"), grows("reservation", "DELETE")
  )
}

sqlite_create <- function(path, study) {
  if (file.exists(path)) abort("store", "The file ", path, " exists already.", call = NULL)
  sqlite_use(path, create = TRUE, function(con) {
    DBI::dbExecute(con, "BEGIN EXCLUSIVE")
    for (statement in sqlite_schema()) DBI::dbExecute(con, statement)
    sqlite_insert(con, "study", c(list(one = 1L), study))
    DBI::dbExecute(con, "COMMIT")
  })
  invisible(study)
}

sqlite_read <- function(path) {
  sqlite_use(path, function(con) {
    DBI::dbExecute(con, "BEGIN")
    sqlite_state(con, path)
  })
}

# Writes one reservation and returns its row, once it is on the disk. check: a function of the state, which may refuse.
sqlite_charge <- function(path, reservation, check) {
  sqlite_use(path, function(con) {
    DBI::dbExecute(con, "BEGIN IMMEDIATE")
    state <- sqlite_state(con, path)
    check(state)
    row <- next_row(state, reservation, path)
    sqlite_insert(con, "reservation", row)
    DBI::dbExecute(con, "COMMIT")
    row
  })
}

sqlite_insert <- function(con, table, row) {
  DBI::dbExecute(con, sprintf("INSERT INTO %s (%s) VALUES (%s)", table, paste(names(row), collapse = ", "),
                              paste(rep("?", length(row)), collapse = ", ")), params = unname(row))
}

sqlite_state <- function(con, path) {
  sound <- DBI::dbGetQuery(con, "PRAGMA integrity_check")[[1]]
  if (!identical(sound, "ok")) abort("store", "The file ", path, " is damaged. Nothing was released.", call = NULL)
  study <- as.list(DBI::dbGetQuery(con, "SELECT * FROM study"))
  schema <- DBI::dbGetQuery(con, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")[[1]]
  if (identical(study$format, store_format) && !setequal(schema, sqlite_schema())) {
    abort("store", "The tables of ", path, " were changed. Nothing was released.", call = NULL)
  }
  store_state(study, function() DBI::dbGetQuery(con, "SELECT * FROM reservation ORDER BY number"), path)
}

# Errors of the driver, such as those of a full disk, become errors of the package. A transaction that is open ends with
# the connection and leaves nothing.
sqlite_use <- function(path, code, create = FALSE) {
  need_packages(c("DBI", "RSQLite"))
  if (!create && !file.exists(path)) {
    abort("store", "There is no file ", path, ". To create a budget there, give `eps` and `delta`.", call = NULL)
  }
  tryCatch({
    con <- sqlite_open(path, create)
    on.exit(DBI::dbDisconnect(con))
    muted(code(con)) # of a damaged file the driver may warn, before the check finds it
  }, error = function(e) {
    if (inherits(e, "dpsosp_error")) stop(e)
    abort("store", "The store ", path, " could not be ", if (create) "created" else "used", ": ", conditionMessage(e),
          ". Nothing was released.", call = NULL)
  })
}

sqlite_open <- function(path, create) {
  flags <- if (create) RSQLite::SQLITE_RWC else RSQLite::SQLITE_RW
  con <- DBI::dbConnect(RSQLite::SQLite(), path, flags = flags, synchronous = NULL)
  kept <- NULL
  on.exit(if (!identical(kept, safe)) DBI::dbDisconnect(con))
  safe <- c("delete", "3")
  settings <- c("busy_timeout = 30000", "trusted_schema = OFF", "cell_size_check = ON", "synchronous = EXTRA",
                "fullfsync = ON")
  for (setting in settings) DBI::dbExecute(con, paste("PRAGMA", setting))
  # Other values would mean that a commit may be lost.
  kept <- c(DBI::dbGetQuery(con, "PRAGMA journal_mode = DELETE")[[1]], DBI::dbGetQuery(con, "PRAGMA synchronous")[[1]])
  if (!identical(kept, safe)) abort("store", "SQLite does not take the settings of a store.", call = NULL)
  con
}

need_packages <- function(packages) {
  missing <- packages[!vapply(packages, requireNamespace, NA, quietly = TRUE)]
  if (length(missing) == 0L) return(invisible())
  abort("store", "A budget with a `store` needs the package", if (length(missing) > 1L) "s", " ",
        paste(missing, collapse = " and "), ": install.packages(\"", missing[1], "\").", call = NULL)
}
