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
  if (!"study" %in% DBI::dbListTables(con)) abort("store", "The file ", path, " holds no budget.", call = NULL)
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

# A store in PostgreSQL, for analysts who are not trusted: they may call one function, which locks the study's row,
# adds up the reservations, refuses or inserts one, and may read the tables. It has the rights of the role that made it.

postgres_schema <- function() {
  text <- function(fields) paste0('"', fields, '"', " text NOT NULL", collapse = ", ")
  quoted <- function(fields) paste0('"', fields, '"', collapse = ", ")
  given <- setdiff(row_fields, c("number", "time", "user", "relation", "previous"))
  # The fields of a row in their order, as the function knows them.
  value <- c(number = "v_number::text", time = "v_time", user = "session_user::text", relation = "v_study.relation",
             previous = "v_previous")
  values <- ifelse(row_fields %in% names(value), value[row_fields], paste0("p_", row_fields))
  netstring <- paste0("octet_length(convert_to(", values, ", 'UTF8'))::text || ':' || ", values, collapse = " || ")
  c(
    "CREATE SCHEMA dpsosp",
    sprintf("CREATE TABLE dpsosp.study (name text PRIMARY KEY, %s)", text(c(study_fields, "hash"))),
    sprintf(paste("CREATE TABLE dpsosp.reservation (name text NOT NULL REFERENCES dpsosp.study,",
                  "number integer NOT NULL, %s,",
                  "PRIMARY KEY (name, number), UNIQUE (name, previous))"), text(c(row_fields[-1], "hash"))),
    "CREATE FUNCTION dpsosp.add_above(a float8, b float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
     DECLARE total float8 := a + b; part float8 := total - a;
     BEGIN
       IF (a - (total - part)) + (b - part) > 0 THEN RETURN total * (1 + 2.220446049250313e-16::float8); END IF;
       RETURN total;
     END $$",
    sprintf("CREATE FUNCTION dpsosp.reserve(p_name text, %s)
     RETURNS TABLE (\"number\" integer, \"time\" text, \"user\" text, \"previous\" text, \"hash\" text)
     LANGUAGE plpgsql SECURITY DEFINER SET search_path = dpsosp, pg_temp AS $$
     #variable_conflict use_column
     DECLARE
       v_study dpsosp.study; v_row record; v_number integer := 1; v_time text; v_previous text; v_hash text;
       v_rho float8 := 0; v_eps float8 := 0; v_delta float8 := 0;
     BEGIN
       IF current_setting('synchronous_commit') = 'off' THEN
         RAISE EXCEPTION 'synchronous_commit is off: a commit could be lost';
       END IF;
       SELECT * INTO v_study FROM dpsosp.study s WHERE s.name = p_name FOR UPDATE;
       IF NOT FOUND THEN RAISE EXCEPTION 'no such study'; END IF;
       v_previous := v_study.hash;
       FOR v_row IN SELECT * FROM dpsosp.reservation r WHERE r.name = p_name ORDER BY r.number LOOP
         v_number := v_row.number + 1;
         v_previous := v_row.hash;
         v_rho := dpsosp.add_above(v_rho, v_row.rho::float8);
         v_eps := dpsosp.add_above(v_eps, v_row.other_eps::float8);
         v_delta := dpsosp.add_above(v_delta, v_row.other_delta::float8);
       END LOOP;
       IF NOT (p_rho::float8 >= 0 AND p_other_eps::float8 >= 0 AND p_other_delta::float8 >= 0
               AND (p_rho::float8 > 0 OR p_other_eps::float8 > 0)) THEN
         RAISE EXCEPTION 'no cost to reserve';
       END IF;
       IF NOT (dpsosp.add_above(v_rho, p_rho::float8) <= v_study.capacity::float8
               AND dpsosp.add_above(v_eps, p_other_eps::float8) <= v_study.other_eps::float8 * %s
               AND dpsosp.add_above(v_delta, p_other_delta::float8) <= v_study.other_delta::float8 * %s) THEN
         RAISE EXCEPTION 'budget_exhausted';
       END IF;
       v_time := to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"');
       v_hash := encode(sha256(convert_to(%s, 'UTF8')), 'hex');
       INSERT INTO dpsosp.reservation (name, %s, hash) VALUES (p_name, %s, v_hash);
       RETURN QUERY SELECT v_number, v_time, session_user::text, v_previous, v_hash;
     END $$", paste0("p_", given, " text", collapse = ", "), sprintf("%.17g", other_slack),
     sprintf("%.17g", other_slack), netstring, quoted(row_fields), paste(sub("::text$", "", values), collapse = ", ")),
    "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA dpsosp FROM PUBLIC",
    "REVOKE ALL ON FUNCTION dpsosp.reserve FROM PUBLIC"
  )
}

# By the role that will own the store.
postgres_create <- function(con, name, study) {
  postgres_use(con, name, function() {
    DBI::dbExecute(con, "BEGIN")
    on.exit(DBI::dbExecute(con, "ROLLBACK")) # after COMMIT it does nothing
    exact <- DBI::dbGetQuery(con, "SELECT '0x1.999999999999ap-4'::float8 = 0.1::float8 AS same,
                                          current_setting('server_encoding') = 'UTF8' AS text")
    if (!exact$same || !exact$text) {
      abort("store", "This PostgreSQL does not read exact numbers, or its encoding is not UTF8.", call = NULL)
    }
    schema <- DBI::dbGetQuery(con, "SELECT 1 FROM pg_namespace WHERE nspname = 'dpsosp'")
    if (nrow(schema) == 0L) for (statement in postgres_schema()) DBI::dbExecute(con, statement)
    row <- c(list(name = name), study)
    DBI::dbExecute(con, sprintf("INSERT INTO dpsosp.study (%s) VALUES (%s)", paste(names(row), collapse = ", "),
                                paste0("$", seq_along(row), collapse = ", ")), params = unname(row))
    on.exit()
    DBI::dbExecute(con, "COMMIT")
  })
  invisible(study)
}

# Is there a study of that name?
postgres_has <- function(con, name) {
  postgres_use(con, name, function() {
    there <- DBI::dbGetQuery(con, "SELECT to_regclass('dpsosp.study') IS NOT NULL AS there")$there
    there && nrow(DBI::dbGetQuery(con, "SELECT 1 FROM dpsosp.study WHERE name = $1", params = list(name))) == 1L
  })
}

postgres_read <- function(con, name) postgres_use(con, name, function() postgres_state(con, name))

postgres_state <- function(con, name) {
  study <- as.list(DBI::dbGetQuery(con, "SELECT * FROM dpsosp.study WHERE name = $1", params = list(name)))
  rows <- function() {
    DBI::dbGetQuery(con, "SELECT * FROM dpsosp.reservation WHERE name = $1 ORDER BY number", params = list(name))
  }
  store_state(study, rows, postgres_name(name))
}

postgres_name <- function(name) paste0("study \"", name, "\"")

# As sqlite_charge(). The server adds up, refuses, and says time and user.
postgres_charge <- function(con, name, reservation, check) {
  postgres_use(con, name, function() {
    state <- postgres_state(con, name)
    check(state)
    next_row(state, reservation, postgres_name(name)) # for its error, which says what is left
    given <- reservation[intersect(row_fields, setdiff(names(reservation), c("time", "user", "relation")))]
    arguments <- paste0("$", seq_len(1L + length(given)), collapse = ", ")
    written <- DBI::dbGetQuery(con, sprintf("SELECT * FROM dpsosp.reserve(%s)", arguments),
                               params = unname(c(list(name), given)))
    # In a transaction of the caller the row could still be taken back.
    if (!DBI::dbGetQuery(con, "SELECT txid_current_if_assigned() IS NULL AS done")$done) {
      abort("store", "The connection is in a transaction, so the reservation is not committed. Nothing was released. ",
            "End the transaction first.", call = NULL)
    }
    row <- c(as.list(written), reservation[setdiff(names(reservation), names(written))])
    if (!identical(row_hash(row), row$hash)) {
      abort("store", "The server wrote another row than it was given. Nothing was released.", call = NULL)
    }
    row
  })
}

postgres_use <- function(con, name, code) {
  need_packages(c("DBI", "RPostgres"))
  if (!DBI::dbIsValid(con)) {
    abort("store", "The connection to ", postgres_name(name), " is closed: open the budget with a new one.",
          call = NULL)
  }
  # After an error RPostgres warns at the next statement.
  tryCatch(muted(code()), error = function(e) {
    if (inherits(e, "dpsosp_error")) stop(e)
    spent <- grepl("budget_exhausted", conditionMessage(e), fixed = TRUE)
    abort(if (spent) "budget" else "store", "The ", postgres_name(name), " could not be used: ",
          if (spent) "too little is left" else sub("\n.*", "", conditionMessage(e)), ". Nothing was released.",
          call = NULL, class = if (spent) "dpsosp_budget_exhausted" else character())
  })
}
