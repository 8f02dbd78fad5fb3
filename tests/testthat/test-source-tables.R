# Odd values in tables of databases are missing, as in test-source-neighbours.R. In SQLite each value has a type of its
# own.

d <- neighbour_frame
types <- neighbour_types
levels <- neighbour_levels
typed <- neighbour_typed
columns <- names(d)

rows_of <- function(source) {
  reader <- source$open(names(source$schema))
  on.exit(reader$close())
  dpsosp:::next_chunk(source, reader, names(source$schema))
}

sqlite_with <- function(connection, column, row, value, declared) {
  DBI::dbExecute(connection, "DROP TABLE IF EXISTS people")
  DBI::dbExecute(connection, paste0("CREATE TABLE people (id INTEGER PRIMARY KEY, ",
                                    toString(paste(columns, declared)), ")"))
  DBI::dbAppendTable(connection, "people", transform(d, id = seq_len(40)))
  DBI::dbExecute(connection, sprintf("UPDATE people SET %s = %s WHERE id = %d", column, value, row))
}
odd_sql <- c("'no value'", "x'00ff'", "CAST(x'610062' AS TEXT)", "CAST(x'e9' AS TEXT)", "9e999", "''",
             sprintf("'%s'", strrep("2020-01-01 10:00:00 ", 100)))

test_that("in a table of SQLite a value of any type is a missing value, also where RSQLite would coerce others", {
  connection <- sqlite_connection()
  make <- function(declared) function(column, row, value) function() {
    sqlite_with(connection, column, row, value, declared)
    dp_source(connection, "people", chunk = 15, types = types, levels = levels)
  }
  expect_as_missing(odd_sql, "NULL", make(""))
  expect_as_missing(odd_sql[1:3], "NULL", make(c("REAL", "TEXT", "TEXT", "TEXT", "TEXT", "INTEGER")))
})

test_that("a number beyond all bounds changes no other row of a table of SQLite", {
  connection <- sqlite_connection()
  expect_as_missing(c("5000000000", "9223372036854775807", "1e300"), "30", of = "a", function(column, row, value) {
    function() {
      sqlite_with(connection, column, row, value, "")
      dp_source(connection, "people", chunk = 15, types = types, levels = levels)
    }
  })
})

test_that("making a source shows no warning and no message of a reader", {
  connection <- sqlite_connection()
  DBI::dbExecute(connection, "CREATE TABLE odd (a, b)")
  DBI::dbExecute(connection, "INSERT INTO odd VALUES (1, 'x'), ('word', x'00'), (2.5, CAST(x'610062' AS TEXT))")
  expect_silent(source <- dp_source(connection, "odd"))
  expect_identical(rows_of(source), data.frame(a = c(1, NA, 2.5), b = c("x", NA, "a")))
  loud <- in_chunks(d, 15, function(at) {
    warning("a is ", d$a[1])
    message("a is ", d$a[1])
  })
  expect_silent(dp_source(loud))
})

test_that("dates and times of SQLite may be numbers or texts, and numbers texts", {
  connection <- sqlite_connection()
  expected <- outcome_of(function() dp_source(in_chunks(typed(d), 15)))
  stored <- list(typed(d), d, transform(d, a = as.character(a), y01 = as.character(y01)))
  for (data in stored) {
    data$logical <- as.character(data$logical)
    DBI::dbWriteTable(connection, "people", data, overwrite = TRUE)
    got <- outcome_of(function() dp_source(connection, "people", types = types, levels = levels))
    expect_equal(got, expected, tolerance = 1e-12)
  }
})

test_that("with sums in the database an odd value is a missing value, too", {
  connection <- sqlite_connection()
  make <- function(column, row, value) function() {
    sqlite_with(connection, column, row, value, c("REAL", "TEXT", "TEXT", "TEXT", "TEXT", "INTEGER"))
    dp_source(connection, "people", chunk = 15, types = types[c("a", "y01")], levels = levels, push = TRUE)
  }
  for (method in long_size(c("gd", "newton-ridge"), "gd")) {
    outcome <- function(make) outcome_of(make, method, y01 ~ a + f + I(a * 2))
    values <- if (method == "gd") odd_sql else odd_sql[1:2]
    expect_as_missing(values, "NULL", make, outcome = outcome, of = c("a", "f", "y01"))
  }
})

test_that("sums in SQLite read values as chunks do: numbers that are text, codes that are doubles, 0 and 1", {
  connection <- sqlite_connection()
  data <- transform(d, a = as.character(a), k = rep(c(1, 2, 3), length.out = 40), g = rep(c("u", "v "), 20))
  data$a[1:6] <- c("Inf", "1e", "0x1A", " 12 ", "TRUE", "2e1")
  data$flag <- as.integer(d$logical == "TRUE")
  expected <- transform(data, a = as.double(d$a), k = factor(k), g = factor(g, c("u", "v ")), flag = flag == 1)
  expected$a[1:6] <- c(Inf, NA, NA, 12, 1, 20)
  levels <- list(k = 1:3, g = c("u", "v "))
  for (column in c("", "TEXT", "NUMERIC")) {
    DBI::dbWriteTable(connection, "people", data, overwrite = TRUE, field.types = if (column != "") c(a = column))
    pair <- lapply(c(push = TRUE, chunks = FALSE), function(push) {
      dp_source(connection, "people", types = c(a = "numeric", flag = "logical"), levels = levels, push = push)
    })
    expect_identical(rows_of(pair$chunks)[c("a", "k", "g", "flag")], expected[c("a", "k", "g", "flag")])
    expect_mapped(pair$push, y01 ~ a + k + g + flag, list(a = c(10, 30)))
    expect_mapped(pair$push, flag ~ I(a > 15) + cut(a, c(0, 10, Inf)) + I(k == "2"), list())
  }
  # TRUE and FALSE as levels of what SQLite stores as 1 and 0
  coded <- dp_source(connection, "people", levels = list(flag = c("FALSE", "TRUE")), push = TRUE)
  expect_identical(rows_of(coded)$flag, factor(expected$flag))
  expect_mapped(coded, flag ~ k, list(k = c(1, 3)))
})

# ---- PostgreSQL ----

test_that("in a table of PostgreSQL an infinite date or number, or a value of any type, is a missing value", {
  connection <- postgres_connection()
  DBI::dbWriteTable(connection, "people", cbind(id = 1:40, typed(d)))
  run <- function(...) DBI::dbExecute(connection, sprintf(...))
  run("ALTER TABLE people ALTER COLUMN a TYPE numeric")
  run("CREATE TABLE odd AS SELECT * FROM people")
  odd <- list(a = c("'NaN'", "1e4000", "'Infinity'"), day = c("'infinity'", "'-infinity'"),
              time = c("'infinity'", "'-infinity'"), f = c("'x'", "''"))
  for (column in names(odd)) {
    make <- function(column, row, value) function() {
      run("TRUNCATE odd")
      run("INSERT INTO odd SELECT * FROM people")
      run("UPDATE odd SET %s = %s WHERE id = %d", column, value, row)
      dp_source(connection, "SELECT * FROM odd ORDER BY id", chunk = 15, levels = levels)
    }
    expect_as_missing(odd[[column]], "NULL", make, of = column)
  }
  run("ALTER TABLE people ADD COLUMN big int8")
  run("UPDATE people SET big = id * CAST(1000000000 AS int8)")
  source <- dp_source(connection, "people", levels = levels)
  expect_identical(source$schema$big, double())
  expect_identical(rows_of(source)$big, seq_len(40) * 1e9)
})

test_that("PostgreSQL's enums, domains, char(n), truth values and money are read for what they are", {
  connection <- postgres_connection()
  DBI::dbWriteTable(connection, "people", data.frame(a = rep(c(1.25, 2.1, 3), 20), g = rep(c("p", "q", "r", "q"), 15),
                                                     flag = rep(c(TRUE, NA, FALSE), 20), y = rep(0:1, 30)))
  run <- function(...) DBI::dbExecute(connection, sprintf(...))
  run("CREATE TYPE kind AS ENUM ('p', 'q', 'r')")
  run("CREATE DOMAIN word AS text")
  run(paste("CREATE TABLE t AS SELECT *, g::kind AS e, g::word AS w, g::char(4) AS h, g::varchar(4) AS v,",
            "flag::int AS f, a::numeric::money AS m, a::float4 AS s, a::numeric(8, 2) AS u FROM people"))
  known <- c("p", "q", "r")
  pair <- lapply(c(push = TRUE, chunks = FALSE), function(push) {
    dp_source(connection, "t", levels = list(e = known, w = known, h = known, v = known, u = c("1.25", "2.1", "3")),
              types = c(f = "logical", flag = "numeric", m = "numeric"), push = push)
  })
  read <- rows_of(pair$chunks)
  for (column in c("e", "w", "h", "v")) expect_identical(read[[column]], factor(read$g))
  expect_identical(as.double(read$u), rep(c(1, 2, 3), 20))
  expect_identical(read$f, as.logical(read$flag))
  expect_identical(read$m, rep(c(1.25, 2.1, 3), 20))
  expect_equal(read$s, read$a, tolerance = 1e-7)
  expect_mapped(pair$push, y ~ e + w, list())
  expect_mapped(pair$push, y ~ h + v + u, list())
  expect_mapped(pair$push, f ~ flag + m + s, list(flag = 0:1, m = c(0, 4), s = c(0, 4)))
  expect_error(dp_source(connection, "t", levels = list(flag = c("0", "1"))), "levels are",
               class = "dpsosp_error_argument")
})
