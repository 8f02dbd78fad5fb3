# PostgreSQL computes sums as SQLite does. One server serves all tests.

test_that("PostgreSQL takes the sums of every fit, of columns of any type, in a snapshot of its own", {
  connection <- postgres_connection()
  second <- DBI::dbConnect(RPostgres::Postgres(), host = DBI::dbGetInfo(connection)$host, user = "postgres",
                           dbname = "postgres")
  withr::defer(DBI::dbDisconnect(second), priority = "first")
  d <- frame_with_odd_values()
  expect_same_fits(push_pair(connection, d)$push, d)
  for (tilt in c(0, 0.2)) {
    for (radius in long_values(list(NULL, 0.8), 5 * tilt)) {
      pair <- moved_pair(connection, extreme_rows(), y ~ a + b + f, radius = radius, weighted = TRUE, tilt = tilt)
      expect_moved(pair)
      expect_moved_bounded(moved_pair(connection, extreme_rows(), y ~ a + b + f, radius = radius, weighted = TRUE,
                                      tilt = tilt, longer = 3))
    }
  }
  expect_moved(moved_pair(connection, d, y ~ a + b + f, weighted = FALSE), sizes = c(0, 1),
               words = c("gradient", "hessian", "usable"))
  expect_prepared_or_not(connection, second, d)
  expect_least_rights(connection, second, d)

  d$whole <- rep(c(-3L, NA, 4L, 7L), 50)
  d$truth <- d$f == "u"
  pair <- push_pair(connection, d)
  bounds <- c(frame_bounds, list(whole = c(-3, 5)))
  for (type in long_values(c("numeric", "int8", "float4", "int2"))) {
    column <- if (type %in% c("int8", "int2")) "whole" else "a"
    DBI::dbExecute(connection, sprintf("ALTER TABLE people ALTER COLUMN %s TYPE %s", column, type))
    again <- function(push) {
      dp_source(connection, "people", levels = levels_of(d), types = c(whole = "numeric"), push = push)
    }
    pair <- list(push = again(TRUE), chunks = again(FALSE))
    expect_pushed(pair, truth ~ a + b + f + whole, bounds = bounds, radius = if (type == "int8") 1.1)
  }
  for (loss in list("sigmoid", loss_logistic(slope = 0.6))) expect_pushed(pair, y ~ a + b + f, loss)
  expect_pushed(pair, y ~ a + truth - 1, "huber_svm", list(a = c(10, 30)), curved = FALSE)

  expect_snapshot_kept(connection, second)
  expect_read_only(connection)
  expect_transaction_kept(connection)
  expect_quoted(connection)
  expect_expression_types(connection)
  batches <- batch_frame(300)
  fit <- batch_fit(push_pair(connection, batches)$push, "sgd", control = batch_methods$sgd)
  expect_true(all(is.finite(coef(fit))))

  # A server process that ends in the middle of a run ends the run.
  source <- push_pair(connection, push_frame)$push
  process <- DBI::dbGetQuery(connection, "SELECT pg_backend_pid()")[[1]]
  before_statement(function(at) {
    if (at == 2) DBI::dbGetQuery(second, sprintf("SELECT pg_terminate_backend(%d)", process))
  })
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_source_error(push_fit(source, budget))
  expect_equal(charged(budget), 2)
})

test_that("PostgreSQL takes the sums of persons, too", {
  connection <- postgres_connection()
  expect_person_sums(connection, person_cases["margin"])
  expect_persons_bounded(connection, person_cases["margin"], sizes = 1)
  expect_tilted_persons_bounded(connection)
  expect_person_fits(connection, long_size(names(person_fits), c("ridge", "found", "weighed")))
  expect_person_ids(connection)
})

test_that("no record in PostgreSQL adds more than its bound, also where a function of it is wrong", {
  skip_unless_long()
  connection <- postgres_connection()
  DBI::dbWriteTable(connection, "people", hostile_rows(9), overwrite = TRUE)
  DBI::dbExecute(connection, "ALTER TABLE people ALTER COLUMN b TYPE numeric")
  DBI::dbExecute(connection, "UPDATE people SET b = '1e4000' WHERE id = 3")
  DBI::dbExecute(connection, "UPDATE people SET b = '1e-4000' WHERE id = 4")
  DBI::dbExecute(connection, "UPDATE people SET b = '-Infinity' WHERE id = 5")
  levels <- list(f = c("u", "v", "w"), y = c("no", "yes"))
  source <- dp_source(connection, "people", levels = levels, push = TRUE)
  expect_bounded(source, list(dpsosp:::loss_logistic()), sizes = c(1, 1e30))

  expect_expressions(connection)
  expect_random_expressions(connection, long_values(1:60, 1))
  DBI::dbWriteTable(connection, "people", hostile_rows(6), overwrite = TRUE)
  source <- dp_source(connection, "people", levels = levels, push = TRUE)
  expect_bounded(source, list(dpsosp:::loss_logistic()), sizes = 1, formula = y ~ exp(b) + a:b + I(b / a) + f, dim = 6,
                 bounds = c(frame_bounds, list("exp(b)" = c(0, 2), "I(b/a)" = c(-1, 1))), subset = quote(log(a) < 5))

  expect_weighed(connection)
  expect_weighed_bounded(connection, 16)
  expect_small_predictors(connection)
  for (type in long_values(c("numeric", "float4", "int2"), 2)) {
    DBI::dbExecute(connection, "DROP TABLE people")
    DBI::dbWriteTable(connection, "people", transform(weighed_frame(40), w = rep(c(1, NA, 0, 2), 10), o = 1:40))
    for (column in c("w", "o")) {
      DBI::dbExecute(connection, sprintf("ALTER TABLE people ALTER COLUMN %s TYPE %s", column, type))
    }
    if (type == "numeric") {
      DBI::dbExecute(connection, "UPDATE people SET w = '1e-4000', o = '1e-4000' WHERE id = 1")
      DBI::dbExecute(connection, "UPDATE people SET w = '1e4000', o = '1e4000' WHERE id = 3")
    }
    source <- dp_source(connection, "people", levels = levels, types = c(w = "numeric", o = "numeric"), push = TRUE)
    expect_bounded(source, list(dpsosp:::loss_logistic()), sizes = 1, bounds = c(frame_bounds, list(o = c(2, 9))),
                   shift = 9, formula = y ~ a + b + f + offset(o), weights = quote(w))
  }

  # A database with a wrong EXP returns wrong sums, but not larger ones: all slopes are at their bound.
  DBI::dbExecute(connection, "CREATE SCHEMA wrong")
  DBI::dbExecute(connection, paste("CREATE FUNCTION wrong.exp(double precision) RETURNS double precision AS",
                                   "'SELECT -0.999 + 0 * $1' LANGUAGE SQL"))
  DBI::dbExecute(connection, "SET search_path = wrong, pg_catalog, public")
  source <- push_pair(connection, transform(problem_frame(4), id = 1:4))$push
  expect_bounded(source, list(dpsosp:::loss_logistic(slope = 0.7)), sizes = 1)
  slopes <- push_sum(source, y ~ a + b + f, asks(5)$gradient, radius = 1000)[2] * 1000
  expect_equal(slopes, round(slopes), tolerance = 1e-2)
  DBI::dbExecute(connection, "RESET search_path")
})

test_that("a record of 1,100 numbers is no error in PostgreSQL, with and without gaps: its row would not fit a page", {
  connection <- postgres_connection()
  run <- function(...) DBI::dbExecute(connection, paste0(...))
  columns <- paste0("x", 1:1100)
  bounds <- stats::setNames(rep(list(c(0, 1)), length(columns)), columns)
  run("CREATE TABLE wide (y boolean,", paste(columns, "real", collapse = ","), ")")
  insert <- function(i, some) {
    run("INSERT INTO wide (y, ", toString(columns[some]), ") VALUES (", i %% 2 == 0, ",",
        toString(rep(1, sum(some))), ")")
  }
  gaps <- !seq_along(columns) %in% 100:250
  for (i in 1:3) insert(i, gaps)
  ask <- function() {
    source <- dp_source(connection, "wide", push = TRUE)
    problem <- suppressMessages(dpsosp:::problem_source(y ~ ., source, "logistic", bounds, NULL, list(), NULL))
    end <- dpsosp:::hold_snapshot(source$push, problem$design)
    withr::defer(end())
    plan <- dpsosp:::push_plan(source$push, problem$design, problem$response, source$n, problem$loss, TRUE,
                               problem$design$radius)
    sum <- dpsosp:::ask_snapshot(source$push, dpsosp:::push_sum(source$push, plan, list(
      word = "gradient", at = numeric(1101)
    )))
    list(sum, source$push$state$table)
  }
  some <- ask()
  expect_identical(some[[1]], c(3, numeric(1101))) # null records
  expect_null(some[[2]])
  insert(4, gaps | TRUE)
  all <- ask()
  expect_identical(all[[1]][1], 4)
  expect_gt(sum(all[[1]] != 0), 1000)
  expect_null(all[[2]])
  # Of 980 columns rows are prepared, and the longest ones fit.
  design <- list(columns = data.frame(kind = rep("numeric", 980), variable = columns[1:980]))
  push <- dp_source(connection, "wide", push = TRUE)$push
  made <- dpsosp:::table_columns(push, design, TRUE)
  expect_true(dpsosp:::fits_page(push, length(made)))
  table <- dpsosp:::create_table(push, design, TRUE)
  run("INSERT INTO ", table, " VALUES (", toString(rep(1, length(made))), ")")
  run("INSERT INTO ", table, " VALUES (", toString(c(2, rep(1, length(made) - 2), "NULL")), ")")
})

test_that("with persons a connection whose limits of time or disk could decide by their rows is refused", {
  connection <- postgres_connection()
  DBI::dbWriteTable(connection, "visits", data.frame(person = c("a", "a", "b"), x = 1:3))
  for (limit in c("statement_timeout = '1min'", "temp_file_limit = '1GB'")) {
    DBI::dbExecute(connection, paste("SET", limit))
    for (push in c(FALSE, TRUE)) {
      expect_error(dp_source(connection, "visits", id = "person", push = push), sub(" .*", "", limit),
                   class = "dpsosp_error_source")
      expect_s3_class(dp_source(connection, "visits", push = push), "dp_source")
    }
    DBI::dbExecute(connection, paste("RESET", sub(" .*", "", limit)))
  }
  expect_identical(dp_source(connection, "visits", id = "person", push = TRUE)$n, 2L)
})
