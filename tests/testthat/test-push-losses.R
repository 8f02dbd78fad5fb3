# A database computes the sums of every loss of the package.

cases <- list(
  squared = list(formula = y ~ a + b + f + offset(o), loss = loss_squared(c(20, 120)),
                 own = c("response", "moments", "weighted moments", "squares", "improvement"), words = residual_words),
  counts = list(formula = k ~ a + b + f + offset(o), loss = loss_poisson(30),
                own = c("response", "value", "gradient", "clipped gradient", "decreases"), words = residual_words),
  huber = list(formula = y ~ a + b + f, loss = loss_huber(c(20, 120), 4),
               own = c("value", "gradient", "clipped gradient", "improvement"), words = character()),
  margin = list(formula = z ~ a + b + f, loss = dpsosp:::loss_logistic(), own = "clipped gradient",
                words = c("weighted", "improvement")),
  classes = list(formula = f ~ a + b + z, loss = loss_multinomial(), own = c("value", "gradient", "clipped gradient"),
                 words = c("weighted", "class gradient", "improvement"))
)
weighed <- list(weights = quote(w), subset = quote(a > 11))

test_that("sums are those of the core, with and without weights, of usual and of hostile records", {
  connection <- sqlite_connection()
  turn <- 0
  for (rows in list(loss_frame(200), hostile_losses())) {
    source <- loss_source(connection, rows)
    for (case in cases) {
      turn <- turn + 1
      for (extras in long_values(list(NULL, weighed), turn)) {
        expect_loss_sums(loss_pair(source, case$formula, case$loss, extras), case$own, case$words)
      }
    }
  }
})

test_that("a response less its offset, and e to the offset, are coded as in memory", {
  source <- loss_source(sqlite_connection(), rbind(loss_frame(200), hostile_losses()))
  coded <- list(dpsosp:::less_offset, function(response) dpsosp:::as_exposure(response, 1),
                function(response) dpsosp:::with_range(response, 40, 60))
  for (response in coded) {
    expect_loss_sums(loss_pair(source, k ~ a + offset(o), loss_poisson(30), weighed, response = response),
                     "response", character())
  }
})

test_that("no record adds more than its bound, and no two differ by more than the sensitivity", {
  source <- loss_source(sqlite_connection(), hostile_losses())
  ids <- long_values(seq_len(source$n), 5)
  for (case in long_values(cases)) {
    expect_losses_bounded(loss_pair(source, case$formula, case$loss, list(weights = quote(w))), case$own[
      case$own %in% c("response", "weighted moments", "gradient", "clipped gradient")], case$words, ids)
  }
})

# Slopes and residuals that are far too large, and hats that are one everywhere.
with_losses <- function(change, frame = parent.frame()) {
  original <- list(sql_losses = dpsosp:::sql_losses, hat_side = dpsosp:::hat_side)
  put <- function(values) for (name in names(values)) utils::assignInNamespace(name, values[[name]], "dpsosp")
  withr::defer(put(original), frame)
  put(change(original))
}

test_that("wrong arithmetic of a database changes no bound", {
  source <- loss_source(sqlite_connection(), loss_frame(60))
  with_losses(function(known) {
    known$sql_losses$squared$residual <- "(9e0 * ({t} - y) + 1e0)"
    known$sql_losses$poisson[c("residual", "mean")] <- list("-9e0 * y - 5e0", "77e0")
    known$hat_side <- function(number, of, from, to) "0.9e0"
    known
  })
  ids <- 17:40
  for (case in long_values(cases[1:2])) {
    pair <- loss_pair(source, case$formula, case$loss)
    expect_losses_bounded(pair, character(), case$words, ids)
    hats <- record_sums(pair, pair$moved, loss_ask(pair, "residual counts", 1), ids)
    expect_true(all(rowSums(hats) <= 1)) # two hats of 0.9 are more than one
  }
})

test_that("a second move of a plan is an error", {
  pair <- loss_pair(loss_source(sqlite_connection(), loss_frame(40)), y ~ a + b, loss_squared(c(20, 120)))
  expect_error(dpsosp:::in_geometry(pair$moved, pair$geometry), "other coordinates already")
  again <- dpsosp:::follow_scale(pair$moved, 2 * pair$geometry$scale)
  wanted <- dpsosp:::in_geometry(pair$plan, utils::modifyList(pair$geometry, list(scale = 2 * pair$geometry$scale)))
  expect_equal(again[setdiff(names(again), c("id", "base"))], wanted[setdiff(names(wanted), c("id", "base"))])
  expect_identical(dpsosp:::follow_scale(pair$moved, pair$geometry$scale), pair$moved)
})

# ---- fits ----

frame <- loss_frame(1500)
frame[c("f", "z")] <- list(factor(frame$f, loss_levels$f), factor(frame$z, loss_levels$z))
ends <- loss_bounds_of[c("a", "b")]
fits <- list(
  squared = function(data) of(y ~ a + b + f, data, loss = loss_squared(c(20, 120)), bounds = ends),
  found = function(data) of(y ~ a + b + f + offset(o), data, loss = "squared", bounds = loss_bounds_of["o"],
                            weights = w, subset = a > 12),
  level = function(data) of(y ~ 1 + offset(o), data, loss = "squared", bounds = loss_bounds_of["o"], weights = w),
  origin = function(data) of(y ~ 0 + a + f, data, loss = "squared", bounds = ends["a"]),
  huber = function(data) of(y ~ a + b + f, data, loss = "huber", bounds = ends),
  counts = function(data) of(k ~ a + b + f, data, loss = loss_poisson(100), bounds = ends),
  rates = function(data) of(k ~ a + offset(o / 4), data, loss = "poisson", bounds = loss_bounds_of[c("a", "o")],
                            weights = w),
  classes = function(data) of(f ~ a + b + z, data, bounds = ends, weights = w, eps = 1e4),
  moment = function(data) of(f ~ a + b + z, data, bounds = ends, method = "newton"),
  gd = function(data) of(f ~ a + b, data, bounds = ends, method = "gd", eps = 1e8,
                         control = control_gd(max_iterations = 5)),
  smooth = function(data) of(z ~ s(a) + s(b) + f, data, bounds = ends),
  surface = function(data) of(y ~ s(a) + s(b, k = 3) + ti(a, b, k = 2), data, bounds = "private"),
  intervals = function(data) of(y ~ a + b, data, loss = loss_squared(c(20, 120)), bounds = ends,
                                inference = "sandwich")
)
of <- function(formula, data, ..., method = "auto", eps = 1e6, loss = NULL) {
  set.seed(2)
  if (is.null(loss) && identical(formula[[2]], quote(y))) loss <- "squared"
  eval.parent(substitute(quiet_fit(formula, data, ..., method = method, eps = eps, loss = loss, delta = 1e-6,
                                   noise = "reproducible")))
}
sums_only <- paste0("^(BEGIN|SET LOCAL|SAVEPOINT|ROLLBACK|PRAGMA|(CREATE TEMP|DROP) TABLE|",
                    "INSERT INTO (temp|pg_temp).dpsosp_rows|WITH .* SELECT .*(SUM|COUNT)\\()|block_size")

# How many random numbers a draw of noise takes depends on the last digits of a sum, so agreement is tested where there
# is almost no noise.
expect_family_fits <- function(connection, which) {
  source <- loss_source(connection, transform(frame, f = as.character(f), z = as.character(z)))
  for (name in which) {
    statements <- watched(pushed <- fits[[name]](source))
    expect_identical(grep(sums_only, statements, invert = TRUE, value = TRUE), character(), info = name)
    memory <- fits[[name]](frame)
    expect_equal(coef(pushed), coef(memory), tolerance = 2e-5, info = name)
    expect_identical(dp_ledger(pushed)$what, dp_ledger(memory)$what, info = name)
    expect_equal(dp_ledger(pushed)$mu, dp_ledger(memory)$mu, tolerance = 1e-3, info = name)
    if (!name %in% c("gd", "moment")) expect_equal(dp_ledger(pushed), dp_ledger(memory), tolerance = 1e-3, info = name)
  }
}

test_that("no family's fit by SQLite fetches a row, and each is that in memory", {
  expect_family_fits(sqlite_connection(), long_values(names(fits)))
})

test_that("the same holds for PostgreSQL, also in the server's log", {
  skip_unless_long()
  connection <- postgres_connection()
  host <- DBI::dbGetInfo(connection)$host
  DBI::dbExecute(connection, "ALTER SYSTEM SET log_statement = 'all'")
  DBI::dbGetQuery(connection, "SELECT pg_reload_conf()")
  Sys.sleep(0.5)
  expect_family_fits(connection, long_values(names(fits), 1))
  log <- system2("cat", file.path(host, "log"), stdout = TRUE)
  said <- sub(".*(statement|execute [^:]*): *", "", grep("LOG: +(statement|execute)", log, value = TRUE))
  fetched <- grep("^SELECT \\* FROM|^SELECT t[.]", grep("AS place", said, invert = TRUE, value = TRUE), value = TRUE)
  expect_length(grep("LIMIT 0$", fetched, invert = TRUE), 1) # the first chunk, of dp_source()
  expect_gt(length(grep("^WITH .*SUM\\(", said)), 100)

  source <- loss_source(connection, hostile_losses())
  for (case in long_values(cases, 1)) {
    pair <- loss_pair(source, case$formula, case$loss, list(weights = quote(w)))
    expect_loss_sums(pair, case$own, case$words)
    pair <- loss_pair(source, case$formula, case$loss, list(weights = quote(w)))
    expect_losses_bounded(pair, intersect(case$own, "response"), case$words, long_values(seq_len(source$n), 6), 1e30)
  }
})

test_that("SQLite's text that is no number in columns of numbers, and blobs with zero bytes, are null records", {
  connection <- sqlite_connection()
  rows <- loss_frame(60)
  DBI::dbExecute(connection, "CREATE TABLE people (id INTEGER, a, b, f, o, y, w, k, z)")
  DBI::dbAppendTable(connection, "people", rows)
  for (set in c("a = 'twelve' WHERE id = 21", "y = x'00ff' WHERE id = 22", "k = '0x5' WHERE id = 23",
                "w = 'a' WHERE id = 24", "o = x'00' WHERE id = 25", "f = x'7500' WHERE id = 26")) {
    DBI::dbExecute(connection, paste("UPDATE people SET", set))
  }
  source <- suppressWarnings(dp_source(connection, "people", levels = loss_levels, types = loss_types, push = TRUE))
  sum_of <- function(case, ids) {
    pair <- suppressWarnings(loss_pair(source, case$formula, case$loss, list(weights = quote(w))))
    asked <- loss_ask(pair, if (pair$outputs > 1L) "class gradient" else "residual gradient", 1)
    record_sums(pair, pair$moved, asked, ids)
  }
  expect_true(all(sum_of(cases$squared, c(21, 22, 24, 25, 26)) == 0))
  expect_true(all(sum_of(cases$counts, c(21, 23, 24, 25, 26)) == 0))
  expect_true(all(sum_of(cases$classes, c(21, 24, 26)) == 0))
  expect_true(all(rowSums(sum_of(cases$squared, 30:33)^2) > 0))
})
