# Persons whose records come in chunks (proofs: persons): fits are those in memory. What the core computes is tested in
# dev/ctest/test-barrier-tally.c.

d <- with_gaps()
declared <- levels_of(d)

# The core's parts of a fit, and what is public.
expect_same_as_in_memory <- function(source, ...) {
  x <- persons_fit(source, ...)
  y <- persons_fit(d, ...)
  x$call <- y$call <- NULL
  expect_identical(unclass(x), unclass(y))
}

test_that("fits are those in memory, bit for bit, whatever the chunks, kept or not", {
  for (cache in c("auto", "none")) {
    for (chunk in long_values(c(97, 700, 1e5), nchar(cache))) {
      expect_same_as_in_memory(dp_source(in_chunks(d, chunk), id = "person", cache = cache))
    }
  }
  for (cache in long_values(c("memory", "none"), 1)) {
    source <- dp_source(in_chunks(d, 1000), id = "person", cache = cache)
    expect_same_as_in_memory(source, records = 3)
    expect_same_as_in_memory(source, records = 1)
    expect_same_as_in_memory(source, bounds = "private")
    expect_same_as_in_memory(source, records = 2, bounds = "private")
    expect_same_as_in_memory(source, method = "2opt-ls", control = control_opt(max_iterations = 3))
    expect_same_as_in_memory(source, method = "newton", inference = if (cache == "memory") "sandwich" else "model")
    expect_same_as_in_memory(source, formula = class ~ a + b)
    expect_same_as_in_memory(source, formula = count ~ a + b, loss = loss_poisson(20))
    expect_same_as_in_memory(source, formula = z ~ a + b, loss = "squared", neighbours = "zero-out")
  }
  weighed <- lapply(list(d, dp_source(in_chunks(d, 300), id = "person")), function(data) {
    set.seed(2)
    quiet_fit(y ~ a + offset(z), data, eps = 2, delta = 1e-5, id = person, weights = abs(b), subset = a > -0.5,
              bounds = list(a = c(-1, 1), z = c(-2, 2)), noise = "reproducible")
  })
  expect_same(weighed[[1]], weighed[[2]])
})

test_that("files and tables have an id, too", {
  for (make in list(source_csv, source_parquet)) expect_same_as_in_memory(make(d, 300, id = "person"))
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "d", d)
  source <- dp_source(connection, "d", levels = declared, chunk = 300, id = "person")
  expect_same_as_in_memory(source)
})

# A source of these chunks.
of_parts <- function(parts, ...) {
  dp_source(function() {
    at <- 0
    function() {
      at <<- at + 1
      if (at <= length(parts)) parts[[at]]
    }
  }, ...)
}

test_that("ids are read value by value, as the source declares them", {
  number <- transform(d, person = as.numeric(factor(person, unique(person))))
  second <- transform(number[-(1:1000), ], person = as.character(person))
  expect_same_as_in_memory(of_parts(list(number[1:1000, ], second), id = "person"))
  second$person[17] <- "nobody"
  number$person[1017] <- NA
  source <- of_parts(list(number[1:1000, ], second), id = "person")
  expect_identical(coef(persons_fit(source)), coef(persons_fit(number)))
})

test_that("n is the number of persons, counted or declared", {
  source <- dp_source(in_chunks(d, 500), id = "person")
  expect_identical(source$n, 201L)
  shown <- capture.output(print(source))
  expect_match(shown[1], "201 persons, by `person`", fixed = TRUE)
  expect_no_match(shown, as.character(nrow(d)))
  more <- persons_fit(dp_source(in_chunks(d, 500), id = "person", n = 400), method = "gd")
  expect_identical(nobs(more), 400L)
  # A person without records is one with a null record.
  none <- data.frame(person = paste0("n", 1:199), a = NA_real_, b = NA_real_, y = NA, z = NA, count = NA, class = NA)
  null <- persons_fit(rbind(d, none), method = "gd")
  expect_equal(coef(more), coef(null), tolerance = 1e-9)
  expect_equal(more$privacy$ledger, null$privacy$ledger, tolerance = 1e-12)
  expect_error(dp_source(in_chunks(d, 500), id = "person", n = 200), "more persons than `n`, 200",
               class = "dpsosp_error_source")
})

# Sources of these rows, of every kind, with as many persons and types as declared.
declared_sources <- function(rows, frame = parent.frame()) {
  known <- list(types = c(person = "character", a = "numeric", b = "numeric"), levels = declared["y"], id = "person",
                n = 300)
  make <- function(...) do.call(dp_source, c(list(...), known))
  csv <- withr::local_tempfile(fileext = ".csv", .local_envir = frame)
  utils::write.csv(rows, csv, row.names = FALSE)
  connection <- sqlite_connection(frame)
  DBI::dbWriteTable(connection, "d", rows)
  made <- list(chunks = make(in_chunks(rows, 10)), kept = make(in_chunks(rows, 10), cache = "memory"),
               again = make(in_chunks(rows, 10), cache = "none"), empty = make(function() function() NULL),
               csv = make(csv), table = make(connection, "d"), pushed = make(connection, "d", push = TRUE))
  if (requireNamespace("nanoparquet", quietly = TRUE)) {
    parquet <- withr::local_tempfile(fileext = ".parquet", .local_envir = frame)
    nanoparquet::write_parquet(rows, parquet)
    made$parquet <- make(parquet)
  }
  if (nrow(rows) > 0L) made$empty <- NULL
  made
}

test_that("with a declared n the last person with rows decides about numbers only", {
  local_value("says_nothing", function(job) FALSE) # such a fit stops, but what it would do is the same, too
  fits <- long_values(list(list(), list(bounds = "private", inference = "sandwich")))
  nobody <- list(none = d[0, ], without_id = transform(d[1:5, ], person = NA_character_))
  one <- list(null = transform(d[1, ], person = "p3", y = y[NA], a = NA_real_), usual = d[d$person %in% "p3", ])
  for (arguments in fits) {
    see <- function(source) {
      fit <- force(source)
      set.seed(1)
      said <- what_is_said(fit <- do.call(dp_sosp, utils::modifyList(
        list(formula = y ~ a + b, data = source, eps = 2, delta = 1e-5, bounds = list(a = c(-1, 1), b = c(-1, 1)),
             noise = "reproducible", progress = FALSE), arguments
      )))
      list(coef = coef(fit), ledger = dp_ledger(fit)$scale, n = nobs(fit), said = gsub("[0-9]", "", said))
    }
    null <- see(declared_sources(one$null)$chunks)
    for (rows in c(nobody, one["null"])) {
      for (source in declared_sources(rows)) expect_equal(see(source), null, tolerance = 1e-9)
    }
    usual <- lapply(declared_sources(one$usual), see)
    for (name in names(usual)) {
      expect_identical(usual[[!!name]]$n, 300L)
      expect_gt(max(abs(usual[[!!name]]$coef - null$coef)), 1e-4)
      expect_identical(usual[[!!name]]$said, null$said)
      expect_length(usual[[!!name]]$ledger, length(null$ledger))
    }
  }
  more <- rbind(one$usual, transform(one$usual, person = "p4"))
  expect_error(dp_source(in_chunks(more, 10), id = "person", n = 1), "more persons than `n`, 1",
               class = "dpsosp_error_source")
})

test_that("without a declared n, which is then that of the ids, there must be some; records without rows are none", {
  for (rows in list(d[0, ], transform(d[1:5, ], person = NA_character_))) {
    expect_error(dp_source(in_chunks(rows, 10), id = "person"), "There are no persons", class = "dpsosp_error_source")
    expect_error(source_csv(rows, 10, id = "person"), "There are no persons", class = "dpsosp_error_source")
  }
  for (n in list(NULL, 5)) {
    expect_error(dp_source(in_chunks(d[0, ], 10), n = n), "has no rows", class = "dpsosp_error_source")
    expect_error(source_csv(d[0, ], 10, n = n), "has no rows", class = "dpsosp_error_source")
    connection <- sqlite_connection()
    DBI::dbWriteTable(connection, "d", d[0, ])
    expect_error(dp_source(connection, "d", n = n), "has no rows", class = "dpsosp_error_source")
  }
})

test_that("the number of rows is in no part of a fit, and no message", {
  rows <- nrow(d)
  used <- sum(!is.na(d$person))
  for (cache in long_values(c("memory", "none"))) {
    expect_rows_untold(function() dp_source(in_chunks(d, 1000), id = "person", cache = cache), c(rows, used))
  }
})

test_that("whether rows are kept follows from n and the limit of records, not from the number of rows", {
  withr::local_options(dpsosp.cache = 150000) # 56 bytes a row
  opened <- 0
  source <- dp_source(function() {
    opened <<- opened + 1
    in_chunks(d, 1000)()
  }, id = "person")
  passes <- function(records) {
    opened <<- 0
    persons_fit(source, method = "gd", records = records)
    opened
  }
  expect_lt(56 * nrow(d), 150000)
  expect_gt(passes(20), 6) # 20 * 201 rows would take more
  expect_lt(passes(10), 5)
})

# One person with 1 record, or with many, which lie in other chunks and fill some of them.
neighbour <- function(m) {
  base <- d[!is.na(d$person), ]
  mine <- base$person == "p3"
  own <- base[which(mine)[1], ]
  rest <- base[!mine, ]
  many <- own[rep(1, m), ]
  many$a <- seq(-1, 1, length.out = m)
  rbind(rest[1:100, ], many, rest[-(1:100), ], own)
}

test_that("no list of a person decides between a result and an error, or what is said and charged", {
  see <- function(m, ...) {
    fit <- NULL
    said <- what_is_said({
      set.seed(3)
      fit <- tryCatch(dp_sosp(y ~ a + b, dp_source(in_chunks(neighbour(m), 50), id = "person", ...), eps = 1,
                              method = "newton", bounds = list(a = c(-1, 1), b = c(-1, 1)), progress = FALSE),
                      error = conditionMessage)
    })
    expect_s3_class(fit, "dp_sosp")
    list(said = grep("^[A-Z][^:]*: ", said, value = TRUE), ledger = dp_ledger(fit)$scale[1:3], n = fit$n)
  }
  for (cache in long_values(c("none", "memory"))) {
    few <- see(0, cache = cache)
    expect_equal(see(1500, cache = cache), few, tolerance = 1e-12)
    expect_identical(few$n, 201L)
  }
})

test_that("one person moves the sums by what one record may, wherever the records lie", {
  exact <- function(m, formula = y ~ a + b) {
    source <- dp_source(in_chunks(neighbour(m), 64), id = "person", cache = "none")
    problem <- problem_source(formula, limit_persons(source, 1000, NULL), NULL, list(a = c(-1, 1), b = c(-1, 1)), NULL,
                              list(), quote(dp_sosp()), TRUE)
    job <- c(problem, list(budget = dp_budget(mu = 1e9), neighbours = "replace-one", noise = "reproducible"))
    oracle <- plain_oracle(job, job$records(job), loss_logistic())
    w <- c(1, -2, 1)
    n <- source$n
    list(value = n * dp_value(oracle, w, mu = 1e6)[1], gradient = n * as.vector(dp_gradient(oracle, w, mu = 1e6)),
         hessian = n * as.vector(unclass(dp_hessian(oracle, w, mu = 1e6))))
  }
  one <- exact(0)
  many <- exact(900)
  size <- function(what) sqrt(sum((one[[what]] - many[[what]])^2))
  expect_gt(size("gradient"), 0.01)
  expect_lt(size("gradient"), 2)
  expect_lt(size("hessian"), sqrt(2) / 4)
  expect_lt(size("value"), log1p(exp(sqrt(6))))
})

test_that("rows that change between passes are noticed, without their number", {
  pass <- 0
  changing <- function(change) {
    pass <<- 0
    dp_source(function() {
      pass <<- pass + 1
      in_chunks(if (pass > 3) change(d) else d, 500)()
    }, id = "person", cache = "none")
  }
  changes <- list(function(x) x[-5, ], function(x) rbind(x, x[5, ]), function(x) x[rev(seq_len(nrow(x))), ],
                  function(x) transform(x, person = replace(person, 5, "new")))
  for (change in changes) {
    e <- expect_error(persons_fit(changing(change)), class = "dpsosp_error_source")
    expect_match(conditionMessage(e), "more, fewer or other records or persons|other rows than in an earlier pass")
    expect_no_match(conditionMessage(e), "fewer rows|more rows")
    for (number in c(nrow(d), sum(!is.na(d$person)))) expect_no_match(conditionMessage(e), as.character(number))
  }
})

test_that("an id of a CSV file is text, whatever its first rows are", {
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("who,a", rep("12,1", 60), "A7,2"), file)
  source <- dp_source(file, chunk = 50, id = "who")
  expect_identical(source$n, 2L)
  expect_identical(dp_source(file, chunk = 50, id = "who", types = c(a = "numeric", who = "character"))$n, 2L)
})

test_that("what goes with such a source, and what does not", {
  source <- dp_source(in_chunks(d, 500), id = "person")
  expect_identical(persons_fit(source, id = NULL)$call$id, quote(person))
  expect_identical(coef(persons_fit(source, id = NULL)), coef(persons_fit(source)))
  expect_identical(coef(persons_fit(source, y ~ .  - z - count - class, bounds = "private")),
                   coef(persons_fit(source, bounds = "private")))
  records <- dp_source(in_chunks(d, 500))
  wrong <- list(
    "make it with `id" = function() persons_fit(records),
    "was made with `id" = function() persons_fit(source, id = "a"),
    "must be a column" = function() dp_sosp(y ~ a, source, eps = 1, id = person + 1),
    "`records`" = function() persons_fit(source, records = 0),
    "`person` in `formula`" = function() persons_fit(source, y ~ person),
    "draws batches" = function() persons_fit(source, method = "sgd"),
    "in a random order" = function() persons_fit(source, method = "spider"),
    "no persons are kept out" = function() persons_fit(source, certificate = "population"),
    "The method \"blgd\" takes" = function() dp_sosp(y ~ a, source, eps = 1, model = model_mlp(3), method = "sgd"),
    "one record of each" = function() dp_oracle(source, "z", "huber", dp_budget(mu = 1), radius = 2),
    "no column of the source" = function() dp_source(in_chunks(d, 500), id = "persn"),
    "must be the name" = function() dp_source(in_chunks(d, 500), id = c("a", "b")),
    "once = TRUE" = function() {
      dp_source(in_chunks(d, 500), once = TRUE, n = 5, types = c(person = "character"), id = "person")
    },
    "missing everywhere" = function() dp_source(in_chunks(transform(d, person = NA), 500), id = "person")
  )
  for (name in names(wrong)) expect_error(wrong[[name]](), name, fixed = TRUE, class = "dpsosp_error")
})

test_that("an error shows neither ids nor how many rows there are, wherever they were given", {
  source <- dp_source(in_chunks(d, 500), id = "person")
  shown <- function(expr) {
    error <- tryCatch(expr, dpsosp_error = identity)
    expect_s3_class(error, "dpsosp_error")
    text <- paste(c(conditionMessage(error), deparse(conditionCall(error))), collapse = "")
    expect_no_match(text, paste0("count = |\\bp7\\b|\\b", nrow(d), "\\b"))
  }
  shown(do.call(dp_sosp, list(y ~ a, data = source, eps = 1, start = source)))
  shown(do.call(dp_sosp, list(y ~ a, data = source, eps = 1, control = list(source))))
  shown(do.call(dp_curve, list(y ~ a, data = d, eps = 1, metric = source)))
  shown(dp_source(in_chunks(d, 500), id = d$person))
  shown(dp_source(d, id = "person"))
  shown(dp_oracle(source, d$a, budget = dp_budget(mu = 1), radius = 2))
  shown(do.call(dp_source, list(in_chunks(d, 500), id = d$person)))
})

test_that("a source of persons prints nothing that follows from the number of their rows", {
  files <- file.path(withr::local_tempdir(), paste0(1:3, ".csv"))
  parts <- split(d, rep(1:3, length.out = nrow(d)))
  for (i in 1:3) utils::write.csv(parts[[i]], files[i], row.names = FALSE)
  whole <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(d, whole, row.names = FALSE)
  printed <- lapply(list(files, whole), function(x) capture.output(print(dp_source(x, id = "person"))))
  expect_identical(printed[[1]], printed[[2]])
})

test_that("the call in an error of a source or of shards holds no data", {
  holds_none <- function(expr) {
    error <- tryCatch(expr, dpsosp_error = identity)
    expect_s3_class(error, "dpsosp_error")
    expect_lt(nchar(paste(deparse(conditionCall(error)), collapse = "")), 60)
  }
  for (name in c("id", "levels", "types", "n", "other")) {
    wrong <- stats::setNames(list(d), name)
    holds_none(do.call(dp_source, c(list(in_chunks(d, 500)), wrong)))
    holds_none(do.call(dp_shards, c(list(function() d), wrong)))
  }
  holds_none(do.call(dp_source, list(d)))
})

test_that("intervals of a source's persons are those in memory, wider where rows are not kept", {
  source <- dp_source(in_chunks(d, 500), id = "person")
  fit <- persons_fit(d)
  later <- function(data) {
    set.seed(2)
    suppressMessages(dp_inference(fit, data, eps = 5, delta = 1e-5, noise = "reproducible"))
  }
  expect_identical(vcov(later(source)), vcov(later(d)))
  passing <- later(dp_source(in_chunks(d, 500), id = "person", cache = "none"))$inference$released
  kept <- later(d)$inference$released
  expect_identical(passing[c("point", "gradient", "hessian")], kept[c("point", "gradient", "hessian")])
  expect_true(all(diag(passing$products - kept$products) > 0)) # the same noise, and second moments of records
  expect_identical(later(source)$inference$released$n, 201L)
  expect_error(later(dp_source(in_chunks(d, 500))), "is of records", class = "dpsosp_error_persons")
  plain <- persons_fit(d, id = NULL)
  for (f in list(dp_inference, dp_certify)) {
    expect_error(f(plain, source, eps = 1), "protects records", class = "dpsosp_error_persons")
  }
})
