# A database computes the sums of persons with several records (proofs: push-down-persons).

test_that("sums are those of the core, of usual and of hostile records", {
  expect_person_sums(sqlite_connection())
})

test_that("a person moves no sum by more than a record may, whatever the list", {
  connection <- sqlite_connection()
  expect_persons_bounded(connection)
  expect_tilted_persons_bounded(connection)
})

test_that("fits are those in memory, with the same ledger, and no row is fetched", {
  expect_person_fits(sqlite_connection())
})

d <- with_gaps()
declared <- levels_of(d)
bounds_ab <- list(a = c(-1, 1), b = c(-1, 1))

person_table <- function(data = d, connection = sqlite_connection(parent.frame()), ...) {
  force(connection)
  DBI::dbWriteTable(connection, "people", data, overwrite = TRUE)
  dp_source(connection, "people", levels = declared, push = TRUE, id = "person", ...)
}

sums_of <- function(data, connection, most, formula = y ~ a + b + class) {
  source <- limit_persons(person_table(data, connection), most, NULL)
  problem <- problem_source(formula, source, NULL, bounds_ab, NULL, list(), quote(dp_sosp()), TRUE)
  plan <- push_plan(source$push, problem$design, problem$response, source$n, problem$loss, TRUE, problem$design$radius)
  geometry <- some_geometry(problem$design, TRUE, tilt = 0.1)
  dim <- nrow(problem$design$columns) + 1
  c(lapply(asks(dim), ask_database, connection = connection, plan = plan),
    moved = list(ask_database(connection, in_geometry(plan, geometry), asks(dim)$gradient)),
    moments = list(ask_database(connection, plan, moved_ask("moments", most = c(0.3, 0.2, 0, 0)))))
}

test_that("sums do not depend on the order of the rows, also of persons with more records than are used", {
  connection <- sqlite_connection()
  d <- rbind(d, d[1:40, ])
  for (most in long_values(c(1, 4, 1000), 2)) {
    sums <- lapply(list(d, d[rev(seq_len(nrow(d))), ], d[order(d$z), ]), sums_of, connection, most)
    expect_identical(sums[[2]], sums[[1]])
    expect_identical(sums[[3]], sums[[1]])
  }
  expect_gt(max(abs(unlist(sums[[1]]) - unlist(sums_of(d, connection, 4)))), 0.1)
})

test_that("a person's part of a sum follows from the person's own records", {
  connection <- sqlite_connection()
  known <- d[!is.na(d$person), ]
  mine <- known$person %in% c("p1", "p2", "p3")
  for (most in long_values(c(2, 1000))) {
    parts <- lapply(list(known, known[mine, ], known[!mine, ]), function(data) {
      lapply(sums_of(data, connection, most), `[`, -1) # without the numbers of persons
    })
    for (word in names(parts[[1]])) {
      expect_equal(parts[[1]][[word]], parts[[2]][[word]] + parts[[3]][[word]], tolerance = 1e-9, info = word)
    }
  }
})

test_that("a limit of records chooses some of them for every sum, and no side of a column", {
  connection <- sqlite_connection()
  set.seed(1)
  n <- 60
  many <- data.frame(person = rep(seq_len(n), each = 40), a = runif(40 * n, -1, 1), b = runif(40 * n, -1, 1))
  many$y <- factor(ifelse(many$a + rlogis(nrow(many)) > 0, "yes", "no"))
  many[c("z", "count", "class")] <- list(0, 0L, factor("u", levels(d$class)))
  sums <- lapply(c(5, 1000), function(most) sums_of(many, connection, most, y ~ a + b))
  expect_equal(sums[[1]]$squares[2], sums[[2]]$squares[2], tolerance = 1e-4) # of the intercept: all shares
  for (j in 2:3) expect_lt(abs(sums[[1]]$moments[j] - sums[[2]]$moments[j]) / n, 4 * 0.6 / sqrt(5 * n))
  fits <- lapply(c(5, 1000), function(most) persons_fit(person_table(many, connection), y ~ a + b, records = most))
  expect_gt(max(abs(coef(fits[[1]]) - coef(fits[[2]]))), 1e-3)
  expect_identical(fits[[1]]$persons$most, 5L)
})

test_that("counts of values are sums of shares, of all persons with a record", {
  source <- limit_persons(person_table(), 1000, NULL)
  problem <- problem_source(y ~ a + b, source, NULL, "private", NULL, list(), quote(dp_sosp()), TRUE)
  breaks <- list(a = c(-1, -0.5, 0.2, 0.9), b = c(-1, 0, 1))
  counts <- count_in_cells(source$push, problem$design, NULL, c("a", "b"), breaks)
  known <- d[!is.na(d$person), ]
  share <- floor(2^20 / table(known$person)[known$person]) / 2^20
  of <- function(x, breaks) as.vector(tapply(share, cut(x, breaks, include.lowest = TRUE, right = FALSE), sum))
  expect_equal(counts, c(201, of(known$a, breaks$a), of(known$b, breaks$b)), tolerance = 1e-12)
  one <- data.frame(person = 1, a = rep(c(0.1, 0.1, NA), 500), b = 2, y = "no", z = 0, count = 0L, class = "u")
  counts <- function(data) {
    source <- limit_persons(person_table(data), 1000, NULL)
    count_in_cells(source$push, problem$design, NULL, c("a", "b"), breaks)
  }
  expect_equal(counts(one), c(1, 0, 1000 * floor(2^20 / 1500) / 2^20, 0, 0, 0))
})

test_that("what a record adds is cut towards zero", {
  connection <- sqlite_connection()
  plan <- list(dialect = dialects$sqlite, persons = list())
  weights <- list(names = "g", exact = FALSE)
  cut <- function(g, share) {
    sql <- sprintf("SELECT %s FROM (SELECT %.0f AS g, %.0f AS share)", shared(plan, weights), g, share)
    as.double(DBI::dbGetQuery(connection, sql)[[1]])
  }
  for (g in c(1, 3, 1000, 2^40 - 1)) {
    for (share in floor(2^20 / c(1, 2, 3, 1000))) {
      exact <- sign(g) * (g %/% 2^20 * share + (g %% 2^20 * share) %/% 2^20)
      expect_identical(cut(g, share), exact)
      expect_identical(cut(-g, share), -exact)
    }
  }
})

test_that("ids are the same if they are the same number or the same text", {
  connection <- sqlite_connection()
  DBI::dbExecute(connection, "CREATE TABLE people (person TEXT COLLATE NOCASE, a REAL)")
  DBI::dbExecute(connection, "INSERT INTO people VALUES ('A', 1), ('a', 1), ('a', 2), ('', 1), (NULL, 2), (x'41', 1)")
  of <- function(...) suppressWarnings(dp_source(connection, "people", push = TRUE, id = "person", ...))
  expect_identical(of()$n, 3L)
  expect_identical(of(levels = list(person = c("a", "b")))$n, 1L)
  DBI::dbExecute(connection, "DROP TABLE people")
  DBI::dbExecute(connection, "CREATE TABLE people (person, a REAL)")
  DBI::dbExecute(connection, paste("INSERT INTO people VALUES (1, 1), (1.0, 1), ('1', 2), (2.5, 1), ('2.5', 2),",
                                   "('x', 1), (1e999, 3), (NULL, 3), (x'01', 4)"))
  for (type in c("numeric", "character")) {
    chunks <- suppressWarnings(dp_source(connection, "people", id = "person", types = c(person = type)))
    expect_lte(abs(of(types = c(person = type))$n - chunks$n), 1) # an infinite number is no id
  }
  expect_identical(of(types = c(person = "numeric"))$n, 2L)
  expect_identical(of(types = c(person = "character"))$n, 4L)
  refused <- function(text, ...) expect_error(of(...), text, class = "dpsosp_error_argument")
  refused("numbers or text", types = c(person = "Date"))
  refused("numbers or text", types = c(person = "logical"))
})

test_that("n is the number of persons, counted or declared", {
  source <- person_table()
  expect_identical(source$n, 201L)
  expect_match(capture.output(print(source))[1], "201 persons, by `person`", fixed = TRUE)
  expect_identical(nobs(persons_fit(source, id = NULL)), 201L)
  more <- persons_fit(person_table(n = 400), method = "gd", eps = hardly_any)
  chunks <- persons_fit(dp_source(in_chunks(d, 500), id = "person", n = 400), method = "gd", eps = hardly_any)
  expect_equal(coef(more), coef(chunks), tolerance = 1e-4) # of the noise that is left
  expect_error(person_table(n = 200), "more persons than `n`, 200", class = "dpsosp_error_source")
  expect_error(person_table(transform(d, person = NA_character_)), "missing everywhere", class = "dpsosp_error_source")
})

test_that("the number of rows is in no part of a fit, and no message", {
  expect_rows_untold(person_table, c(nrow(d), sum(!is.na(d$person))))
})

test_that("other persons than were counted end a fit, other records do not", {
  connection <- sqlite_connection()
  source <- person_table(connection = connection)
  DBI::dbExecute(connection, "INSERT INTO people SELECT * FROM people WHERE person = 'p3'")
  DBI::dbExecute(connection, "DELETE FROM people WHERE person = 'p4'")
  expect_s3_class(persons_fit(source), "dp_sosp")
  for (id in c("new", "newer")) {
    DBI::dbExecute(connection, sprintf("INSERT INTO people SELECT '%s', a, b, y, z, count, class FROM people LIMIT 1",
                                       id))
  }
  for (bounds in list(bounds_ab, "private")) {
    budget <- dp_budget(eps = 1, delta = 1e-5)
    e <- expect_error(dp_sosp(y ~ a + b, source, budget = budget, bounds = bounds, progress = FALSE),
                      "more, fewer or other records or persons than it is known to have", class = "dpsosp_error_source")
    expect_equal(charged(budget), 1)
    for (number in c(nrow(d), DBI::dbGetQuery(connection, "SELECT COUNT(*) FROM people")[[1]])) {
      expect_no_match(conditionMessage(e), as.character(number))
    }
  }
})

test_that("persons who all have no records are null records, as some are", {
  connection <- sqlite_connection()
  source <- person_table(connection = connection, n = 250)
  DBI::dbExecute(connection, "DELETE FROM people")
  for (formula in long_values(list(y ~ a, y ~ a + class))) {
    for (bounds in list(bounds_ab["a"], "private")) {
      expect_identical(nobs(persons_fit(source, formula, bounds = bounds, id = NULL)), 250L)
    }
  }
})

test_that("what a database does not compute is refused before a charge, as no rows are fetched", {
  source <- person_table()
  budget <- dp_budget(eps = 1, delta = 1e-5)
  refused <- function(text, ..., class = "dpsosp_error_argument") {
    expect_error(suppressMessages(dp_sosp(data = source, budget = budget, progress = FALSE, ...)), text, class = class)
  }
  refused("no rows of persons are fetched", y ~ a, bounds = bounds_ab["a"], method = "outpert")
  refused("no rows of persons are fetched", y ~ a, bounds = bounds_ab["a"], method = "agd")
  refused("with this search asks for sums", y ~ a, bounds = bounds_ab["a"], method = "2opt-ls", loss = "sigmoid",
          control = control_opt(line_search = "exponential"))
  refused("draws batches", y ~ a, bounds = bounds_ab["a"], method = "sgd", class = "dpsosp_error_persons")
  for (data in list(source, d, dp_source(in_chunks(d, 500), id = "person"))) {
    e <- expect_error(persons_fit(data, method = "objpert"), "the rank of", class = "dpsosp_error_persons")
    named <- function(method) grepl(paste0("\"", method, "\""), conditionMessage(e), fixed = TRUE)
    expect_true(named("newton-ridge") && named("blgd"))
    expect_identical(named("outpert") && named("agd"), !identical(data, source))
    expect_identical(named("outpert") || named("agd"), !identical(data, source))
    expect_false(named("sgd") || named("spider"))
  }
  refused("in a random order", y ~ a, bounds = bounds_ab["a"], method = "spider", class = "dpsosp_error_persons")
  refused("a database computes sums of linear models only", y ~ a, model = model_mlp(3))
  wide <- as.data.frame(matrix(0.5, 10, 62))
  wide[c("person", "y")] <- list(1:10, rep(c("no", "yes"), 5))
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "wide", wide)
  source <- dp_source(connection, "wide", levels = declared["y"], push = TRUE, id = "person")
  refused("fewer numbers than a matrix", y ~ ., bounds = stats::setNames(rep(list(c(-1, 1)), 62), paste0("V", 1:62)))
  expect_equal(charged(budget), 0)
  expect_false(stream_feed(source, "V1", identity)("open"))
})

test_that("a search of more steps than a statement has room for takes several", {
  source <- person_table()
  fine <- list("2opt-ls" = control_opt(max_iterations = 2, b_g = 1e4, beta_g = 0.99),
               blgd = control_line_search("gaussian", attempts = 2, candidates = 950, ratio = 0.99))
  for (method in long_values(names(fine), 1)) {
    fit <- function(data) {
      persons_fit(data, method = method, loss = if (method == "2opt-ls") "sigmoid", control = fine[[method]],
                  eps = hardly_any)
    }
    statements <- watched(pushed <- fit(source))
    expect_gte(length(grep(" AS t100\\b", statements)), if (method == "blgd") 9 else 2)
    expect_length(grep(" AS t101\\b", statements), 0)
    expect_true(all(is.finite(coef(pushed))))
  }
})

test_that("intervals are those of the records in memory, and prepared rows have their shares", {
  source <- person_table()
  fit <- persons_fit(d, records = 2000) # more than memory sums person by person
  later <- function(data) {
    set.seed(2)
    suppressMessages(dp_inference(fit, data, eps = 5, delta = 1e-5, noise = "reproducible"))
  }
  expect_equal(vcov(later(source)), vcov(later(d)), tolerance = 1e-4)
  plain <- persons_fit(d, id = NULL)
  expect_error(dp_inference(plain, source, eps = 1), "protects records", class = "dpsosp_error_persons")
  statements <- watched(persons_fit(source, records = 2))
  insert <- grep("^INSERT", statements, value = TRUE)
  prepared <- sub("^INSERT INTO [^ ]+ \\([^)]*\\) ", "", insert)
  expect_lte(nrow(DBI::dbGetQuery(source$push$connection, prepared)), 2 * source$n) # not as many as there are
  expect_length(grep("OVER (PARTITION", statements, fixed = TRUE), 4) # usable records, classes, moments, the table
  expect_gt(length(grep("^WITH", statements)), 20)
  DBI::dbExecute(source$push$connection, "CREATE TEMP TABLE dpsosp_rows (a)")
  fits <- lapply(list(source, d), persons_fit, method = "gd", eps = hardly_any)
  expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 2e-5)
})
