# A database computes sums in the coordinates of a geometry: those of the default method.

d <- frame_with_odd_values(300)

test_that("SQLite takes the sums of weighted rows as the core does, with a tilt, clipping and an intercept or not", {
  connection <- sqlite_connection()
  for (tilt in long_values(c(0, 0.2, -0.1))) {
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
  for (tilt in long_values(c(0, 0.2, -0.3), 1)) {
    for (radius in list(NULL, 0.8)) {
      expect_moved(moved_pair(connection, rows, y ~ a + b + f, radius = radius, weighted = TRUE, tilt = tilt))
      expect_moved_bounded(moved_pair(connection, rows, y ~ a + b + f, radius = radius, weighted = TRUE, tilt = tilt,
                                      longer = 3))
    }
  }
})

test_that("SQLite takes gradients, Hessians, products and counts of damped rows as the core does", {
  connection <- sqlite_connection()
  words <- c("gradient", "hessian", "products", "residual counts", "usable")
  damped <- function(rows, formula, ...) moved_pair(connection, rows, formula, ..., weighted = TRUE, damped = TRUE)
  for (longer in c(1, 3)) {
    expect_moved(damped(d, y ~ a + b + f, cap = 1.3, longer = longer), words = words)
    expect_moved(damped(d, y ~ a + b + f, radius = 1.1, cap = 1.3, longer = longer), words = words)
  }
  expect_moved(damped(d, y ~ a + b + f - 1, cap = 0.7), words = words)
  expect_moved(damped(d, y ~ a + b + f, loss = loss_logistic(slope = 0.6), cap = 1.3), words = words, sizes = 1)
  expect_moved(damped(weighed_frame(), y ~ a + b + f + offset(o), bounds = weighed_bounds, cap = 1.3,
                      extras = list(weights = quote(w))), words = words)
  expect_moved(damped(extreme_rows(), y ~ a + b + f, cap = 1.3, longer = 3), words = words)
})

test_that("no record of damped rows adds more than its bound, whatever slope and curvature are", {
  pair <- moved_pair(sqlite_connection(), extreme_rows(), y ~ a + b + f, weighted = TRUE, damped = TRUE, cap = 1.3,
                     longer = 3)
  losses <- dpsosp:::sql_losses
  withr::defer(utils::assignInNamespace("sql_losses", losses, "dpsosp"))
  steep <- losses
  steep$logistic[c("slope", "curvature")] <- c("(-9e0 * y)", "7e0")
  utils::assignInNamespace("sql_losses", steep, "dpsosp")
  most <- c(gradient = 0.8 * 1.3, hessian = 1.3^2 / 4, products = (0.8 * 1.3)^2)
  for (word in names(most)) {
    what <- moved_ask(word, numeric(pair$dim))
    weights <- dpsosp:::sql_weights(pair$moved, what)
    layers <- dpsosp:::named_layers(pair$moved, dpsosp:::sum_layers(pair$moved, what, weights,
                                                                    dpsosp:::row_layers(pair$moved)))
    rows <- DBI::dbGetQuery(pair$connection, paste(dpsosp:::with_layers(layers), "SELECT * FROM",
                                                   names(layers)[length(layers)]))
    found <- max(abs(as.double(rows$g)), na.rm = TRUE) * weights$worth
    expect_lte(found, most[[word]])
    expect_gt(found, 0.99 * most[[word]])
  }
})

# The parts of records with slopes that are far too steep, and with rows that are divided by too small a length.
with_lengths <- function(factor, ...) {
  pair <- moved_pair(sqlite_connection(), extreme_rows(), y ~ b - 1, weighted = TRUE, longer = 3,
                     bounds = frame_bounds["b"], ...)
  original <- list(room = dpsosp:::room, sql_losses = dpsosp:::sql_losses)
  put <- function(values) for (name in names(values)) utils::assignInNamespace(name, values[[name]], "dpsosp")
  withr::defer(put(original))
  steep <- original
  steep$sql_losses$logistic$own_slope <- "(-9e0 * y)"
  steep$room <- function(plan) factor * original$room(plan)
  put(steep)
  list(parts = moved_parts(pair, numeric(pair$dim)), bound = pair$geometry$bound, class = extreme_rows()$y)
}

test_that("a vector longer than one adds nothing", {
  expect_gt(max(abs(with_lengths(1)$parts)), 0.4)
  expect_identical(max(abs(with_lengths(0.9)$parts)), 0)
})

test_that("with a tilt a vector that violates the inequality of the proof adds nothing", {
  right <- with_lengths(1, tilt = 0.3)
  expect_gt(max(stats::dist(unique(right$parts))), 1.999 * right$bound)
  expect_lte(max(stats::dist(unique(right$parts))), 2 * right$bound)
  expect_identical(max(abs(with_lengths(0.85, tilt = 0.3)$parts)), 0)
})

test_that("a slope that is too steep is clipped at the bound of its class", {
  of <- with_lengths(1, tilt = 0.3)
  lengths <- sqrt(rowSums(of$parts^2))
  # Rows without ends are divided by 1.3 times their length.
  expect_equal(tapply(lengths, of$class, max)[c("no", "yes")] / of$bound, c(no = 0.7, yes = 1.3) / 1.3,
               tolerance = 1e-5, ignore_attr = TRUE)
})

# ---- fits ----

fit <- function(data, method = "auto", ..., formula = y ~ a + b + f, bounds = frame_bounds, eps = 5) {
  set.seed(4)
  quiet_fit(formula, data, method = method, eps = eps, delta = 1e-6, bounds = bounds, noise = "reproducible", ...)
}

test_that("the default fit asks for sums only, and is the fit in memory", {
  pair <- push_pair(sqlite_connection(), d)
  for (method in long_values(c("newton-ridge", "gd"))) {
    for (eps in if (method == "gd") hardly_any else c(0.5, 20)) {
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
  squared <- function() fit(source, formula = a ~ b, loss = "squared", bounds = frame_bounds["b"], eps = 50)
  for (run in list(function() fit(source), squared)) {
    statements <- watched(run())
    expect_length(grep("^INSERT", statements), 1)
    expect_gt(length(grep("FROM temp.dpsosp_rows", statements)), 50)
  }
  expect_error(DBI::dbGetQuery(connection, "SELECT * FROM dpsosp_rows"), "no such table")
})

test_that("a table with a name of ours is refused before a fit", {
  connection <- sqlite_connection()
  for (name in c("dpsosp_rows", "DPSOSP1", "dpsospe2")) {
    expect_error(push_pair(connection, d, name), "statements use themselves", class = "dpsosp_error_argument")
  }
  DBI::dbWriteTable(connection, "my_dpsosp_rows2", d)
  expect_s3_class(dp_source(connection, "my_dpsosp_rows2", push = TRUE), "dp_source")
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
