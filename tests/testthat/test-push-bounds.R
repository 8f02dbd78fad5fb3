# The contribution of a record to a sum in the database is within the sensitivities for any values.

test_that("in SQLite no record adds more than its bound, also where columns have no type", {
  connection <- sqlite_connection()
  rows <- hostile_rows(14)
  rows[c("f", "y")] <- lapply(rows[c("f", "y")], as.character)
  DBI::dbExecute(connection, "CREATE TABLE people (id INTEGER, a, b, f, y)")
  DBI::dbAppendTable(connection, "people", rows)
  DBI::dbExecute(connection, "UPDATE people SET a = 'twelve' WHERE id = 3")
  DBI::dbExecute(connection, "UPDATE people SET b = x'00ff' WHERE id = 4")
  DBI::dbExecute(connection, "UPDATE people SET a = '5e300', b = 1 WHERE id = 5")
  DBI::dbExecute(connection, "UPDATE people SET a = 9223372036854775807, b = 0.5 WHERE id = 6")
  source <- suppressWarnings(dp_source(connection, "people", levels = list(f = c("u", "v", "w"), y = c("no", "yes")),
                                       types = c(a = "numeric", b = "numeric"), push = TRUE))
  expect_bounded(source, list(dpsosp:::loss_logistic()), sizes = c(1, 1e30))
})

test_that("rows as long as the radius are not lost, and one that is longer after rounding is a null record", {
  connection <- sqlite_connection()
  set.seed(1)
  angle <- runif(300, 0, 2 * pi)
  d <- data.frame(a = cos(angle), b = sin(angle), y = factor(rep(c("no", "yes"), 150)))
  source <- push_pair(connection, d)$push
  bounds <- list(a = c(-1, 1), b = c(-1, 1))
  for (radius in c(0.5, 1, 1.2, 2)) {
    squares <- push_sum(source, y ~ a + b - 1, asks(2)$squares, bounds = bounds, radius = radius)[-1]
    total <- sum(diag(matrix(squares, 2)))
    expect_equal(total, 300 / max(1, radius)^2, tolerance = 1e-5)
  }
  # If the database rounds wrongly, the check of the squared integers still holds.
  long <- function(plan) {
    plan$v[1] <- "CAST(1 AS REAL)"
    plan$v[2] <- sprintf("CASE WHEN ABS(t.a - (%.17g)) < 1e-12 THEN 1e-3 ELSE 0e0 END", d$a[1])
    plan$radius <- sqrt(2)
    plan$intercept <- FALSE
    plan
  }
  wrong <- function(plan) {
    plan <- long(plan)
    plan$dialect$int <- function(e) sprintf("CAST(ROUND(1.5e0 * (%s)) AS INTEGER)", e)
    plan
  }
  expect_gt(push_sum(source, y ~ a + b - 1, asks(2)$squares, bounds = bounds, plan = long)[2], 149)
  expect_identical(push_sum(source, y ~ a + b - 1, asks(2)$squares, bounds = bounds, plan = wrong)[-1], numeric(4))
})
