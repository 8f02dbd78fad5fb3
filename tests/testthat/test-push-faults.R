# Failures between a fit and its database: a clear error, an unchanged charge, and no release.

d <- push_frame
fit <- push_fit

test_that("a row more or less, or an emptied table, is no answer", {
  connection <- sqlite_connection()
  for (change in c("INSERT INTO people SELECT * FROM people LIMIT 1", "DELETE FROM people WHERE rowid = 3",
                   "DELETE FROM people")) {
    source <- push_pair(connection, d)$push
    DBI::dbExecute(connection, change)
    budget <- dp_budget(eps = 1, delta = 1e-6)
    expect_source_error(fit(source, budget))
    expect_equal(charged(budget), 1)
  }
})

test_that("a table that is gone and a connection that is closed are errors without their words", {
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  source <- push_pair(connection, d)$push
  DBI::dbExecute(connection, "DROP TABLE people")
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_source_error(fit(source, budget))
  expect_equal(charged(budget), 1)
  DBI::dbDisconnect(connection)
  expect_error(fit(source, budget), "no read-only snapshot", class = "dpsosp_error_source")
  expect_equal(charged(budget), 1)
})

test_that("a fit sees one snapshot of a table that others write, and writes nothing itself", {
  skip_if_not_installed("RSQLite")
  folder <- withr::local_tempdir()
  connect <- function() DBI::dbConnect(RSQLite::SQLite(), file.path(folder, "people.sqlite"))
  one <- connect()
  other <- connect()
  withr::defer({
    DBI::dbDisconnect(one)
    DBI::dbDisconnect(other)
  })
  DBI::dbGetQuery(one, "PRAGMA journal_mode = WAL")
  expect_snapshot_kept(one, other)
  expect_read_only(one)
  expect_transaction_kept(one)
})

test_that("an interrupt of a statement ends the fit as one", {
  source <- push_pair(sqlite_connection(), d)$push
  before_statement(function(at) {
    if (at == 2) signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  })
  budget <- dp_budget(eps = 1, delta = 1e-6)
  got <- tryCatch(fit(source, budget), interrupt = function(e) "interrupt")
  expect_identical(got, "interrupt")
  expect_equal(charged(budget), 2)
  expect_false(source$push$state$open)
})

test_that("an interrupt that comes while another ends the fit leaves no transaction", {
  skip_on_os("windows")
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  ending <- FALSE
  before_statement(function(at) {
    ending <<- at == 2
    if (ending) signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  })
  original <- dpsosp:::fails
  put <- function(value) utils::assignInNamespace("fails", value, "dpsosp")
  put(function(code) {
    if (ending) tools::pskill(Sys.getpid(), tools::SIGINT)
    original(code)
  })
  withr::defer(put(original))
  # The second interrupt does not reach the handler of the first.
  interrupted <- function(code) tryCatch(code, interrupt = function(e) "interrupt")
  interrupted({
    interrupted(fit(source, dp_budget(eps = 1, delta = 1e-6)))
    Sys.sleep(0.1)
  })
  expect_true(ending)
  expect_no_error(DBI::dbWithTransaction(connection, DBI::dbExecute(connection, "UPDATE people SET b = b")))
})

# ---- names and values ----

test_that("names and levels that are code or none at all are names and levels", {
  expect_quoted(sqlite_connection())
})

test_that("a column that is gone is an error, not its name as a text", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  DBI::dbExecute(connection, "ALTER TABLE people RENAME COLUMN a TO c")
  expect_source_error(fit(source, dp_budget(eps = 1, delta = 1e-6)))
})

test_that("many columns are one statement, and more than a database takes are refused", {
  connection <- sqlite_connection()
  n <- 4
  of <- function(columns) {
    data <- as.data.frame(matrix(rep(c(-1, 1), length.out = n * columns), n))
    data$y <- factor(rep(c("no", "yes"), n / 2))
    data
  }
  box <- function(columns) stats::setNames(rep(list(c(-1, 1)), columns), paste0("V", seq_len(columns)))
  many <- long_size(1590, 400)
  pair <- push_pair(connection, of(many))
  oracles <- lapply(pair, push_oracle, y ~ ., bounds = box(many))
  w <- cos(seq_len(many + 1)) / 10
  set.seed(1)
  pushed <- dp_gradient(oracles$push, w, mu = 1e6)
  set.seed(1)
  expect_equal(pushed, dp_gradient(oracles$chunks, w, mu = 1e6), tolerance = 1e-3)
  more <- long_size(1890, 100)
  source <- push_pair(connection, of(more))$push
  if (!long_form()) source$push$dialect$most <- more
  expect_error(push_oracle(source, y ~ ., bounds = box(more)), "too many", class = "dpsosp_error_argument")
})

test_that("a database without functions, numbers of rows or a snapshot that only reads is refused", {
  connection <- sqlite_connection()
  push <- push_pair(connection, push_frame)$push$push
  other <- function(...) {
    push$dialect <- utils::modifyList(push$dialect, list(...))
    push
  }
  expect_silent(check_functions(push, NULL))
  expect_error(check_functions(other(log = "NO_LOGARITHM"), NULL), "has no functions EXP, LOG and SQRT.*push = FALSE",
               class = "dpsosp_error_argument")
  expect_error(of_numbers(push, list(table = "people")), "The rows have no numbers", class = "dpsosp_error_source")
  expect_error(hold_snapshot(other(begin = c("BEGIN", "NO SUCH STATEMENT"))), "gives no read-only snapshot",
               class = "dpsosp_error_source")
  expect_false(push$state$open)
  end <- hold_snapshot(push) # the transaction that began was ended
  expect_true(push$state$open)
  end()
})
