# A database counts values in cells as the core does.

source_of_values <- function(connection, values) {
  force(connection) # loads its methods
  n <- length(values)
  DBI::dbWriteTable(connection, "people", data.frame(a = values, b = rep_len(c(-1, 1), n), y = rep_len(0:1, n)),
                    overwrite = TRUE)
  dp_source(connection, "people", types = c(a = "numeric", b = "numeric", y = "numeric"), push = TRUE)
}

# The counts of both, almost without noise.
counted_both <- function(source, formula, breaks, extras = NULL, change = identity) {
  problem <- suppressMessages(dpsosp:::problem_source(formula, source, "logistic", "private", NULL, extras, NULL))
  columns <- problem$columns(problem)
  release <- function(columns) {
    set.seed(1)
    breaks <- rep(list(breaks), length(columns))
    unlist(dpsosp:::release_counts(columns, breaks, dp_budget(mu = 1e9), 1e15, "replace-one", TRUE)$counts)
  }
  memory <- dpsosp:::design_private_columns(problem$design, read_rows(source))
  list(database = unname(round(release(change(columns)), 3)), memory = unname(round(release(memory), 3)))
}

ends <- c(-1e300, -4, -1, -1e-5, 0, 1e-5, 1, 2, 4, 1e300)
values <- c(hostile, ends, ends * (1 + 1e-15), 3, -2, 1e301, 5e-324)

expect_counted <- function(connection) {
  source <- source_of_values(connection, values)
  for (breaks in list(ends, dpsosp:::octave_breaks, c(0, 1), seq(-4, 4, length.out = 129))) {
    counts <- counted_both(source, y ~ a + b, breaks)
    expect_identical(counts$database, counts$memory)
    expect_gt(sum(counts$memory), 10)
  }
  counts <- counted_both(source, y ~ a + b, ends, list(subset = quote(b > 0), weights = quote(b / 2)))
  expect_identical(counts$database, counts$memory)
}

test_that("SQLite counts hostile values and those at breaks as the core does", {
  expect_counted(sqlite_connection())
})

test_that("so does PostgreSQL", {
  expect_counted(postgres_connection())
})

test_that("another number of records than declared is an error, and no counts are released", {
  connection <- sqlite_connection()
  source <- source_of_values(connection, values)
  DBI::dbExecute(connection, "DELETE FROM people WHERE rowid = 1")
  expect_error(counted_both(source, y ~ a + b, ends), class = "dpsosp_error_source")
})
