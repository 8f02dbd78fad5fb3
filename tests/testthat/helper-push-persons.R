# Persons of a table whose database computes the sums (proofs: push-down-persons).

# Records of loss_frame() and hostile ones, of persons with 1 to 20 records each, and some of nobody.
person_records <- function() {
  usual <- transform(loss_frame(220), person = rep(1:20, 1:20)[seq_len(220)])
  usual$person[is.na(usual$person)] <- 20L
  hostile <- transform(hostile_losses(), person = 21L + (id %% 11L)^2L %/% 8L)
  nobody <- transform(loss_frame(20)[17:20, ], person = NA)
  rows <- rbind(usual, hostile, nobody)
  transform(rows, id = seq_len(nrow(rows)))
}

person_cases <- list(
  squared = list(formula = y ~ a + b + f + offset(o), loss = loss_squared(c(20, 120)),
                 own = c("response", "moments", "weighted moments", "squares", "usable"), words = residual_words),
  counts = list(formula = k ~ a + b + f + offset(o), loss = loss_poisson(30),
                own = c("response", "value", "gradient", "clipped gradient", "decreases"), words = residual_words),
  margin = list(formula = z ~ a + b + f, loss = dpsosp:::loss_logistic(),
                own = c("value", "gradient", "clipped gradient", "hessian", "majorant", "trace", "products",
                        "decreases"), words = c("weighted", "improvement")),
  classes = list(formula = f ~ a + b + z, loss = loss_multinomial(),
                 own = c("value", "gradient", "clipped gradient", "class counts"),
                 words = c("weighted", "class gradient", "improvement"))
)

person_pair <- function(source, case, extras = NULL, most = 1000) {
  loss_pair(dpsosp:::limit_persons(source, most, NULL), case$formula, case$loss, extras)
}

# Sums are those of the core, with a limit by which it does not sum products person by person. What a record adds is
# cut by up to 2^-20 of its bound, of all sums but gradients.
expect_person_sums <- function(connection, cases = person_cases) {
  source <- loss_source(connection, person_records(), id = "person")
  turn <- 0
  for (case in cases) {
    turn <- turn + 1
    for (extras in long_values(list(NULL, list(weights = quote(w), subset = quote(a > 11))), turn)) {
      pair <- person_pair(source, case, extras, most = 2000)
      expect_loss_sums(pair, case$own, case$words, tolerance = 6e-6)
      pair <- person_pair(source, case, extras)
      expect_loss_sums(pair, intersect(case$own, c("gradient", "clipped gradient", "value", "decreases", "usable")),
                       intersect(case$words, "class gradient"), sizes = 0.5, tolerance = 6e-7)
    }
  }
}

# Lists of records: one usual record, the same record 20 times, one after the other of the extreme and the hostile ones
# by themselves, 20 times and all together, with and without null records, and more than the limit of records.
adversarial_lists <- function() {
  all <- hostile_losses()
  usual <- loss_frame(40)[17:40, ]
  extreme <- function(row, a, b, y, k) utils::modifyList(row, list(a = a, b = b, y = y, k = k))
  ends <- expand.grid(a = c(10, 30), b = c(-5, 5), y = c(-1e6, 1e6))
  corners <- lapply(seq_len(nrow(ends)), function(i) {
    row <- usual[1 + i %% 3, ]
    row[c("a", "b", "y", "k", "w", "z")] <- list(ends$a[i], ends$b[i], ends$y[i], if (ends$y[i] > 0) 1e4 else 0, 1,
                                                 if (ends$y[i] > 0) "yes" else "no")
    row
  })
  again <- function(rows, times) rows[rep(seq_len(nrow(rows)), times), ]
  lists <- c(corners, lapply(corners, again, 20), list(again(corners[[1]], 1500)),
             list(do.call(rbind, corners), rbind(corners[[8]], all), all, again(all, 5), rbind(all, usual)),
             lapply(seq(1, nrow(all), by = 9), function(i) again(all[i, ], 3)), list(usual[1, ], again(usual[2, ], 20)))
  rows <- do.call(rbind, Map(function(rows, person) transform(rows, person = person), lists, seq_along(lists)))
  transform(rows, id = seq_len(nrow(rows)))
}

# No person's sum is longer than one record's may be, and no two persons' differ by more. by: of how many persons is one
# taken?
expect_persons_bounded <- function(connection, cases = person_cases, sizes = long_size(c(1, 1e30), 30),
                                   by = long_size(1, 3)) {
  source <- loss_source(connection, adversarial_lists(), id = "person")
  turn <- 0
  for (case in cases) {
    pair <- person_pair(source, case, list(weights = quote(w)))
    own <- intersect(case$own, c("response", "weighted moments", "gradient", "clipped gradient", "class counts"))
    turn <- turn + 1
    # The 17th has more records than the limit.
    persons <- union(17, seq(1, source$n, by = by))
    persons <- union(persons[persons < 20], long_values(persons[persons >= 20], turn))
    expect_losses_bounded(pair, own, case$words, persons, sizes, by = "person")
  }
}

# The same with a tilt, where the difference of two records has a bound of its own.
expect_tilted_persons_bounded <- function(connection) {
  rows <- extreme_rows()
  set.seed(1)
  rows$person <- c(seq_len(300), sample(301:340, nrow(rows) - 300, TRUE))
  pair <- moved_pair(connection, rows, y ~ a + b + f, weighted = TRUE, tilt = 0.2, longer = 3, id = "person")
  for (size in long_values(c(-1e3, -1, 1, 1e3), 2)) {
    asked <- moved_ask("gradient", size * cos(seq_len(pair$dim)))
    parts <- record_sums(pair, pair$moved, asked, 201:340, by = "person")
    testthat::expect_lte(max(sqrt(rowSums(parts^2))), pair$geometry$bound * 1.2 * (1 + 1e-12))
    testthat::expect_lte(max(stats::dist(parts)), 2 * pair$geometry$bound * (1 + 1e-12))
  }
  testthat::expect_gt(max(stats::dist(parts)), pair$geometry$bound)
}

# The fits of a table and of the same rows in memory.
expect_person_fits <- function(connection, which = long_size(names(person_fits), c("newton", "classes", "squared")),
                               data = with_gaps()) {
  force(connection)
  DBI::dbWriteTable(connection, "people", data, overwrite = TRUE)
  source <- dp_source(connection, "people", levels = levels_of(data), push = TRUE, id = "person")
  for (name in which) {
    statements <- watched(pushed <- person_fits[[name]](source))
    memory <- person_fits[[name]](data)
    testthat::expect_identical(grep(person_sums_only, statements, invert = TRUE, value = TRUE), character())
    testthat::expect_equal(coef(pushed), coef(memory), tolerance = 2e-5, info = name)
    testthat::expect_identical(dp_ledger(pushed)$what, dp_ledger(memory)$what, info = name)
    if (!name %in% c("newton", "gd", "weighed")) {
      testthat::expect_equal(dp_ledger(pushed)$scale, dp_ledger(memory)$scale, tolerance = 1e-5, info = name)
    }
    testthat::expect_identical(pushed[c("n", "persons")], memory[c("n", "persons")], info = name)
    if (inherits(memory, "dp_inference")) testthat::expect_equal(vcov(pushed), vcov(memory), tolerance = 1e-4)
    testthat::expect_false(tells_number(pushed, nrow(data)), info = name)
  }
  source
}

person_sums_only <- paste0("^(BEGIN|SET LOCAL|SAVEPOINT|ROLLBACK|PRAGMA|(CREATE TEMP|DROP) TABLE|",
                           "INSERT INTO (temp|pg_temp).dpsosp_rows|WITH .* SELECT .*SUM\\()|txid_current|block_size")

person_fits <- list(
  ridge = function(data) persons_fit(data, eps = 50),
  found = function(data) persons_fit(data, eps = 50, bounds = "private"),
  newton = function(data) persons_fit(data, eps = hardly_any, method = "newton", inference = "sandwich"),
  gd = function(data) persons_fit(data, eps = hardly_any, y ~ a + I(b^2) + a:class, method = "newton",
                                  bounds = list(a = c(-1, 1), "I(b^2)" = c(0, 1))),
  classes = function(data) persons_fit(data, class ~ a + b, eps = 1e4),
  counts = function(data) persons_fit(data, count ~ a + b, loss = loss_poisson(20), eps = 50),
  squared = function(data) persons_fit(data, z ~ a + b + class, loss = "squared", neighbours = "zero-out", eps = 50,
                                       inference = "sandwich"),
  level = function(data) persons_fit(data, z ~ 1, loss = "squared", bounds = "private", eps = 50),
  smooth = function(data) persons_fit(data, y ~ s(a) + b, eps = 50),
  weighed = function(data) {
    set.seed(2)
    quiet_fit(y ~ a + offset(z), data, eps = hardly_any, delta = 1e-5, id = person, weights = abs(b), subset = a > -0.5,
              method = "newton",
              bounds = list(a = c(-1, 1), z = c(-2, 2)), noise = "reproducible")
  }
)

# PostgreSQL's types of ids: text is the same if its bytes are, and what is no finite number is no id.
expect_person_ids <- function(connection) {
  run <- function(...) DBI::dbExecute(connection, sprintf(...))
  persons <- function() dp_source(connection, "people", push = TRUE, id = "person")$n
  run("DROP TABLE people")
  run("CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
  run("CREATE TABLE people (person text COLLATE blind, a float8)")
  run("INSERT INTO people VALUES ('A', 1), ('a', 1), ('a', 2), ('', 3), (NULL, 4)")
  testthat::expect_identical(persons(), 3L)
  for (type in c("float8", "numeric", "int8")) {
    run("DROP TABLE people")
    run("CREATE TABLE people (person %s, a float8)", type)
    run("INSERT INTO people VALUES (1, 1), (1.0, 2), (2, 1), (NULL, 2)")
    if (type != "int8") run("INSERT INTO people VALUES ('NaN', 1)")
    testthat::expect_identical(persons(), 2L)
    if (type == "float8") next
    run("INSERT INTO people VALUES (9007199254740992, 1), (9007199254740993, 1)")
    testthat::expect_identical(persons(), 4L)
  }
  testthat::expect_identical(dp_source(connection, "people", id = "person")$n, 3L)
  text <- c(person = "character")
  testthat::expect_identical(dp_source(connection, "people", id = "person", types = text)$n, 4L)
  testthat::expect_identical(dp_source(connection, "people", id = "person", types = text, push = TRUE)$n, 4L)
  fit <- dp_sosp(a ~ 1, dp_source(connection, "people", push = TRUE, id = "person"), eps = 1, loss = "squared",
                 bounds = list(a = c(0, 2)), progress = FALSE)
  testthat::expect_identical(fit$n, 4L)
  run("DROP TABLE people")
  run("CREATE TABLE people (person bool, a float8)")
  run("INSERT INTO people VALUES (true, 1)")
  testthat::expect_error(persons(), "numbers or text", class = "dpsosp_error_argument")
  run("DROP TABLE people")
}
