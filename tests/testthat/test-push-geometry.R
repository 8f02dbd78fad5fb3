# A database computes sums in the coordinates of a geometry: those of the default method.

d <- problem_frame(300)
d$a[5] <- NA
d$y[9] <- NA
d$b[c(11, 12)] <- c(1e308, -1e308)
d$f[13] <- NA

test_that("SQLite takes the sums of weighted rows as the core does, with a tilt, clipping and an intercept or not", {
  connection <- sqlite_connection()
  for (tilt in c(0, 0.2, -0.1)) {
    expect_moved(moved_pair(connection, d, y ~ a + b + f, weighted = TRUE, tilt = tilt))
    expect_moved(moved_pair(connection, d, y ~ a + b + f, radius = 1.1, weighted = TRUE, tilt = tilt))
  }
  expect_moved(moved_pair(connection, d, y ~ a + b + f, weighted = TRUE, cap = 2.5))
  expect_moved(moved_pair(connection, d, y ~ a + b + f - 1, weighted = TRUE))
  expect_moved(moved_pair(connection, d, y ~ f, weighted = TRUE, tilt = 0.2))
  expect_moved(moved_pair(connection, d, y ~ a + b - 1, weighted = TRUE))
  expect_moved(moved_pair(connection, d, y ~ a + b + f, loss = "huber_svm", weighted = TRUE))
  expect_moved(moved_pair(connection, d, y ~ a + b + f, loss = loss_logistic(slope = 0.6), weighted = TRUE))
})

test_that("the same holds for clipped rows, and for weights and offsets", {
  connection <- sqlite_connection()
  for (radius in list(NULL, 1.1)) {
    expect_moved(moved_pair(connection, d, y ~ a + b + f, radius = radius, weighted = FALSE), sizes = c(0, 1, 20),
                 words = c("gradient", "hessian", "usable"))
  }
  expect_moved(moved_pair(connection, d, y ~ a + b, loss = "sigmoid", weighted = FALSE), sizes = 1,
               words = c("gradient", "hessian"))
  extras <- list(weights = quote(w), subset = quote(a < 25))
  for (tilt in c(0, 0.2)) {
    expect_moved(moved_pair(connection, weighed_frame(), y ~ a + b + f + offset(o), bounds = weighed_bounds,
                            weighted = TRUE, tilt = tilt, extras = extras))
  }
})

test_that("hostile values give sums as in the core, and no record adds more than its bound", {
  connection <- sqlite_connection()
  rows <- extreme_rows()
  for (tilt in c(0, 0.2, -0.3)) {
    for (radius in list(NULL, 0.8)) {
      expect_moved(moved_pair(connection, rows, y ~ a + b + f, radius = radius, weighted = TRUE, tilt = tilt))
      expect_moved_bounded(moved_pair(connection, rows, y ~ a + b + f, radius = radius, weighted = TRUE, tilt = tilt,
                                      longer = 3))
    }
  }
})

test_that("with a tilt a vector that violates the inequality of the proof adds nothing", {
  connection <- sqlite_connection()
  pair <- moved_pair(connection, extreme_rows(), y ~ a + b + f, weighted = TRUE, tilt = 0.3)
  original <- dpsosp:::tilted_length
  put <- function(value) utils::assignInNamespace("tilted_length", value, "dpsosp")
  withr::defer(put(original))
  put(function(plan) sub("CASE WHEN r = 1 THEN", "CASE WHEN r = 1 THEN 0.9e0 *", original(plan), fixed = TRUE))
  parts <- moved_parts(pair, 1e3 * cos(seq_len(pair$dim)))
  expect_lte(max(stats::dist(parts[order(-rowSums(parts^2))[1:400], ])), 2 * pair$geometry$bound)
})

# ---- fits ----

fit <- function(data, method = "auto", ..., formula = y ~ a + b + f, bounds = frame_bounds, eps = 5) {
  set.seed(4)
  quiet_fit(formula, data, method = method, eps = eps, delta = 1e-6, bounds = bounds, noise = "reproducible", ...)
}

test_that("the default fit asks for sums only, and is the fit in memory", {
  pair <- push_pair(sqlite_connection(), d)
  for (method in c("newton-ridge", "2opt-ls", "gd")) {
    for (eps in c(0.5, 20)) {
      statements <- watched(pushed <- fit(pair$push, method, eps = eps))
      sums <- "^(BEGIN|ROLLBACK|PRAGMA|(CREATE TEMP|DROP) TABLE|INSERT INTO temp.dpsosp_rows|WITH .* SELECT .*SUM\\()"
      rows <- grep(sums, statements, invert = TRUE, value = TRUE)
      expect_identical(rows, character(), info = method)
      expect_equal(coef(pushed), coef(fit(d, method, eps = eps)), tolerance = 2e-5, info = method)
    }
  }
})

test_that("rows are prepared once in a fit, and nothing is left of them", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  statements <- watched(fit(source))
  expect_length(grep("^INSERT", statements), 1)
  expect_gt(length(grep("FROM temp.dpsosp_rows", statements)), 50)
  expect_error(DBI::dbGetQuery(connection, "SELECT * FROM dpsosp_rows"), "no such table")
})

test_that("a table of that name is neither used nor dropped", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  few <- control_newton_ridge(iterations = 3)
  expected <- fit(source, "newton-ridge", control = few)
  DBI::dbExecute(connection, "CREATE TEMP TABLE dpsosp_rows (mine)")
  statements <- watched(again <- fit(source, "newton-ridge", control = few))
  expect_identical(coef(again), coef(expected))
  expect_length(grep("INSERT|DROP", statements), 0)
  expect_named(DBI::dbGetQuery(connection, "SELECT * FROM dpsosp_rows"), "mine")
})
