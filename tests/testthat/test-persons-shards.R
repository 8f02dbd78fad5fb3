# Persons in shards (proofs: persons): fits are those in memory, of persons whose rows are in one shard each.

# Three shards with all rows of their persons, as functions that make them on the worker.
person_shards <- function(n = 300, parts = 3) {
  make <- persons_data
  environment(make) <- globalenv()
  lapply(seq_len(parts), function(i) {
    eval(bquote(function() {
      RNGkind("Mersenne-Twister", "Inversion", "Rejection") # a daemon has another generator
      d <- .(make)(.(n))
      d$a[5:9] <- NA
      d$y[d$person == "p7"] <- NA
      d$person[20:22] <- NA
      d[!is.na(d$person) & as.integer(substring(d$person, 2)) %% .(parts) == .(i - 1), ]
    }), globalenv())
  })
}

# records: are the second moments of the shards those of records, not of persons' sums?
expect_same_certificate <- function(fit, shards, data, tolerance, records = FALSE) {
  force(fit)
  see <- function(data) {
    set.seed(1)
    x <- dp_certify(fit, data, eps = 5, delta = 1e-5, noise = "reproducible")
    list(x$gradient, x$eigenvalue, dp_ledger(x)$scale, x$n, x$persons)
  }
  there <- see(shards)
  here <- see(data)
  if (records) {
    expect_gt(there[[1]][2], here[[1]][2])
    there[[1]][2] <- here[[1]][2]
  }
  expect_equal(there, here, tolerance = tolerance)
}

rows_of <- function(shards) do.call(rbind, lapply(shards, function(shard) shard()))

test_that("fits of shards are those in memory, with the same ledger", {
  shard_workers(c("one", "two"))
  functions <- person_shards()
  d <- rows_of(functions)
  shards <- dp_shards(functions, c("one", "two"), id = "person")
  expect_identical(shards$n, 300L)
  expect_null(shards$shards$timeout) # no time decides by the number of rows
  expect_error(dp_shards(functions, c("one", "two"), id = "person", timeout = 60), "without `id`",
               class = "dpsosp_error_argument")
  said <- what_is_said(print(shards))
  expect_match(said, "300 persons", all = FALSE)
  expect_no_match(said, as.character(nrow(d)))
  expect_no_match(said, as.character(nrow(functions[[1]]())))
  fits <- list(list(method = "newton", inference = "sandwich"), list(method = "2opt-ls"), list(records = 2),
               list(bounds = "private"), list(formula = class ~ a, method = "newton-ridge"),
               list(formula = z ~ a + b, loss = "squared", neighbours = "zero-out"))
  for (arguments in long_values(fits)) {
    fits <- lapply(list(shards, d), function(data) do.call(persons_fit, c(list(data), arguments)))
    expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-7)
    expect_equal(as.data.frame(dp_ledger(fits[[1]])), as.data.frame(dp_ledger(fits[[2]])), tolerance = 1e-9)
    expect_identical(fits[[1]]$persons, fits[[2]]$persons)
    expect_identical(nobs(fits[[1]]), 300L)
    expect_false(tells_number(fits[[1]], nrow(d)))
  }
  fit <- fits[[2]]
  later <- lapply(list(shards, d), function(data) {
    set.seed(1)
    suppressMessages(dp_inference(fit, data, eps = 5, delta = 1e-5, noise = "reproducible"))
  })
  expect_equal(vcov(later[[1]]), vcov(later[[2]]), tolerance = 1e-7)
  expect_same_certificate(persons_fit(d, loss = "sigmoid", method = "gd"), shards, d, 1e-7)
})

test_that("networks of persons in shards are those in memory", {
  skip_unless_long()
  shard_workers(c("one", "two"))
  functions <- person_shards()
  search <- control_line_search(attempts = 8, candidates = 8, first = 32, ratio = 0.5, sufficient = 0.001)
  fits <- lapply(list(dp_shards(functions, c("one", "two"), id = "person"), rows_of(functions)), persons_fit,
                 model = model_mlp(3), control = search, eps = 50)
  expect_equal(fits[[1]]$weights, fits[[2]]$weights, tolerance = 1e-7)
  expect_identical(fits[[1]][c("n", "persons")], fits[[2]][c("n", "persons")])
})

# The same shards as tables of SQLite, whose databases compute the sums.
person_tables <- function(functions, id = "person") {
  lapply(functions, function(shard) {
    eval(bquote(function() {
      connection <- DBI::dbConnect(RSQLite::SQLite(), "")
      DBI::dbWriteTable(connection, "d", .(shard)())
      dpsosp::dp_source(connection, "d", levels = .(levels_of(shard())), push = TRUE, id = .(id))
    }), globalenv())
  })
}

test_that("shards that are tables have persons, too", {
  skip_if_not_installed("RSQLite")
  shard_workers(c("one", "two"))
  functions <- person_shards()
  d <- rows_of(functions)
  shards <- dp_shards(person_tables(functions), c("one", "two"), id = "person")
  expect_identical(shards$n, 300L)
  fits <- list(list(), list(method = "newton", inference = "sandwich"), list(bounds = "private"),
               list(formula = z ~ a + b + class, loss = "squared", neighbours = "zero-out"))
  for (arguments in long_values(fits, 1)) {
    # Without a geometry databases have other noise (proofs: sensitivity-gradient).
    moved <- !identical(arguments$method, "newton")
    fits <- lapply(list(shards, d), function(data) {
      do.call(persons_fit, c(list(data, eps = if (moved) 50 else 1e9), arguments))
    })
    expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 2e-5)
    if (moved) expect_equal(dp_ledger(fits[[1]])$scale, dp_ledger(fits[[2]])$scale, tolerance = 1e-5)
    expect_identical(fits[[1]]$persons, fits[[2]]$persons)
    expect_false(tells_number(fits[[1]], nrow(d)))
  }
  expect_same_certificate(persons_fit(d, loss = "sigmoid", method = "gd", records = 20), shards, d, 1e-4,
                          records = TRUE)
  all <- persons_fit(shards, eps = 50)
  some <- persons_fit(shards, records = 2, eps = 50)
  expect_identical(some$persons$most, 2L)
  expect_gt(max(abs(coef(some) - coef(all))), 1e-3)
  expect_error(persons_fit(shards, method = "outpert"), "does not compute", class = "dpsosp_error_argument")
})

test_that("a shard's database may have no row of the persons that it declares", {
  skip_unless_long()
  skip_if_not_installed("RSQLite")
  shard_workers("one")
  d <- person_shards(parts = 1)[[1]]()
  of <- function(rows) {
    eval(bquote(function() {
      connection <- DBI::dbConnect(RSQLite::SQLite(), "")
      DBI::dbWriteTable(connection, "d", .(rows))
      dpsosp::dp_source(connection, "d", levels = list(y = c("no", "yes")), types = c(a = "numeric", b = "numeric"),
                        push = TRUE, id = "person", n = 300)
    }), globalenv())
  }
  fit <- function(rows) persons_fit(dp_shards(list(of(d), of(rows)), "one", id = "person"))
  empty <- fit(d[0, ])
  expect_identical(nobs(empty), 600L)
  null <- fit(transform(d[1, ], person = "p1", y = NA_character_))
  expect_equal(coef(empty), coef(null), tolerance = 1e-9)
})

test_that("a person in two shards counts as two", {
  shard_workers("one")
  functions <- person_shards(parts = 2)
  split <- function(half) {
    eval(bquote(function() {
      d <- .(functions[[1]])()
      d[seq_len(nrow(d)) %% 2 == .(half), ]
    }), globalenv())
  }
  shards <- dp_shards(list(split(0), split(1)), "one", id = "person")
  d <- rbind(transform(split(0)(), person = paste0("0", person)), transform(split(1)(), person = paste0("1", person)))
  expect_identical(shards$n, length(unique(d$person)))
  expect_equal(coef(persons_fit(shards)), coef(persons_fit(d)), tolerance = 1e-7)
})

test_that("what does not go is refused, and says nothing about rows", {
  shard_workers("one")
  functions <- person_shards(parts = 2)
  expect_error(dp_shards(functions, "one", id = "persn"), "no column of the source", class = "dpsosp_error_source")
  expect_error(persons_fit(dp_shards(functions, "one")), "make it with `id", class = "dpsosp_error_persons")
  skip_if_not_installed("RSQLite")
  expect_error(dp_shards(person_tables(functions, NULL), "one", id = "person"), "made with the `id`",
               class = "dpsosp_error_source")
  expect_error(dp_shards(person_tables(functions), "one"), "made with the `id`", class = "dpsosp_error_source")
})

test_that("a worker counts copies of a person's record once", {
  d <- persons_data(40)
  one <- d[!duplicated(d$person), ]
  source <- limit_persons(dp_source(in_chunks(d, 100), id = "person", levels = levels_of(d)), 1000, NULL)
  problem <- problem_source(y ~ a + b, source, NULL, list(a = c(-1, 1), b = c(-1, 1)), NULL, list(), quote(dp_sosp()),
                            TRUE)
  gradient <- function(rows) {
    ask <- function(step, ...) {
      worker_answer(list(step = step, key = "a worker of its own", id = "1", linked = FALSE, ...))
    }
    opened <- ask("open", shard = function() rows, schema = source$schema, design = problem$design,
                  columns = c("a", "b", "y", "person"), response = problem$response, bare = FALSE, loss = problem$loss,
                  intercept = TRUE, radius = problem$design$radius, persons = source$persons)
    on.exit(ask("close"))
    expect_identical(opened$n, 40L)
    sum <- ask("sum", what = moved_ask("gradient", c(0.1, 0.2, -0.3)))
    expect_identical(sum$n, 40L)
    sum$sum
  }
  expect_equal(gradient(one[rep(1:40, 1:40 %% 3 + 1), ]), gradient(one), tolerance = 1e-6)
  expect_false(isTRUE(all.equal(gradient(d), gradient(one), tolerance = 1e-3)))
})
