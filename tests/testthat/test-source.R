# A fit to a source equals the fit to its rows in memory; errors of sources quote no data.

d <- problem_frame(60)
d$a[5] <- NA
d$y[9] <- NA
d$logical <- d$b > 0
fit <- function(data, ..., formula = y ~ ., seed = 4) {
  set.seed(seed)
  quiet_fit(formula, data, ..., eps = 20, delta = 1e-6, noise = "reproducible")
}
in_memory <- fit(d)
same <- function(x, y = in_memory) expect_same_fit(x, y)

# ---- the same answers ----

test_that("a fit to a function's chunks of any size is the one in memory", {
  for (chunk in c(1, 7, 25, 1000)) {
    source <- dp_source(in_chunks(d, chunk))
    expect_identical(source$n, 60L)
    same(fit(source))
  }
  same(fit(dp_source(in_chunks(d, 7), n = 60)))
})

test_that("a fit to files is the one in memory", {
  for (chunk in c(7, 1000)) same(fit(source_csv(d, chunk)))
  for (chunk in c(7, 1000)) same(fit(source_parquet(d, chunk)))
})

test_that("a fit to a table or query of SQLite is the one in memory", {
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "people", transform(d, logical = as.integer(logical)))
  levels <- levels_of(d)
  # SQLite has no logical type, so a column of 0 and 1 is numeric.
  expected <- fit(transform(d, logical = as.integer(logical)))
  for (chunk in c(1, 7, 1000)) same(fit(dp_source(connection, "people", levels = levels, chunk = chunk)), expected)
  query <- "SELECT * FROM people WHERE b <= 0.5"
  expect_message(part <- dp_source(connection, query, levels = levels), "WHERE", class = "dpsosp_message_query")
  same(fit(part, formula = y ~ a + b + f), fit(d[d$b <= 0.5, ], formula = y ~ a + b + f))
  expect_length(DBI::dbListTables(connection), 1)
})

test_that("a fit to a table or query of PostgreSQL is the one in memory", {
  connection <- postgres_connection()
  DBI::dbWriteTable(connection, "people", d)
  levels <- levels_of(d)
  for (chunk in c(1, 7, 1000)) same(fit(dp_source(connection, "people", levels = levels, chunk = chunk)))
  sorted <- d[order(d$a, na.last = TRUE), ]
  same(fit(dp_source(connection, "SELECT * FROM people ORDER BY a", levels = levels)), fit(sorted))
  expect_error(dp_source(connection, "no_such_table"), "cannot be read", class = "dpsosp_error_source")
})

test_that("every method, with declared bounds or none, gives the fit in memory", {
  skip_on_cran() # it takes long
  source <- dp_source(in_chunks(d, 25))
  # records in memory that are used once are in random order
  for (method in setdiff(dpsosp:::methods_without("batch"), c(dpsosp:::methods_with("fresh"), "warm-ridge"))) {
    for (bounds in long_values(list("private", frame_bounds), nchar(method))) {
      same(fit(source, method = method, bounds = bounds), fit(d, method = method, bounds = bounds))
    }
  }
  same(fit(source, formula = y ~ 1), fit(d, formula = y ~ 1))
  same(fit(source, formula = logical ~ log(a) + f - 1), fit(d, formula = logical ~ log(a) + f - 1))
  same(fit(source, neighbours = "zero-out", loss = "sigmoid"), fit(d, neighbours = "zero-out", loss = "sigmoid"))
})

test_that("an oracle on a source answers as one on a matrix", {
  p <- problem_matrix(200)
  data <- data.frame(p$x, y = p$y)
  ask <- function(x, y) {
    set.seed(1)
    oracle <- dp_oracle(x, y, "sigmoid", dp_budget(rho = 10), 2, noise = "reproducible")
    list(dp_value(oracle, 1:3, rho = 1), dp_gradient(oracle, 1:3, rho = 1), dp_hessian(oracle, 1:3, rho = 1),
         dp_line_search(oracle, 1:3, -(1:3), 2:1, rho = 1))
  }
  expected <- ask(p$x, p$y)
  for (chunk in c(7, 1000)) expect_identical(ask(dp_source(in_chunks(data, chunk)), "y"), expected)
})

test_that("empty chunks, other columns and other orders of columns change nothing", {
  pieces <- list(d[0, ], d[1:50, 5:1], d[0, ], d[0, ], cbind(d[51:60, ], unused = "x"), d[0, ])
  source <- dp_source(function() {
    k <- 0
    function() {
      k <<- k + 1
      if (k <= length(pieces)) pieces[[k]]
    }
  })
  expect_identical(source$n, 60L)
  same(fit(source, formula = y ~ a + f), fit(d, formula = y ~ a + f))
})

test_that("declared levels make factors of text, codes and other factors; other values are null records", {
  coded <- transform(d, f = as.integer(f), y = as.character(y))
  source <- dp_source(in_chunks(coded, 25), levels = list(f = 1:3, y = c("no", "yes")))
  expect_equal(unname(coef(fit(source))), unname(coef(in_memory)))
  few <- transform(d, f = factor(ifelse(f == "w", NA, as.character(f)), levels = c("u", "v")))
  source <- dp_source(in_chunks(d, 25), levels = list(f = c("u", "v")))
  same(fit(source, formula = y ~ a + f), fit(few, formula = y ~ a + f))
  numbers <- transform(d, y = as.integer(y) - 1L)
  same(fit(dp_source(in_chunks(numbers, 25))), fit(numbers))
  numbers$y[59] <- 7L
  same(fit(dp_source(in_chunks(numbers, 25))), fit(transform(numbers, y = replace(y, 59, NA))))
})

test_that("threads change no bit of a fit to a source", {
  large <- problem_frame(20000)
  source <- dp_source(in_chunks(large, 3000))
  one <- withr::with_options(list(dpsosp.threads = 1), fit(source))
  two <- withr::with_options(list(dpsosp.threads = 2), fit(source))
  expect_identical(one, two)
})

test_that("a source prints its size and its types", {
  printed <- c("<dp_source> 60 rows of 5 columns, from a function", "  numeric: a, b", "  factor: f, y",
               "  logical: logical")
  expect_identical(utils::capture.output(print(dp_source(in_chunks(d, 7)))), printed)
})

# ---- what a source may not do ----

test_that("wrong arguments are errors that name them", {
  folder <- withr::local_tempdir()
  path <- function(name, lines = "a") {
    file <- file.path(folder, name)
    writeLines(lines, file)
    file
  }
  csv <- path("x.csv", c("a,y", "1,0"))
  expect_errors(
    dp_source(),
    dp_source(1),
    dp_source(d),
    dp_source(function() 1),
    dp_source(function() function() 1),
    dp_source(function() function() NULL),
    dp_source(function() stop("no file")),
    dp_source(in_chunks(d, 7), n = 0),
    dp_source(in_chunks(d, 7), m = 3),
    dp_source(in_chunks(d, 7), levels = c("a", "b")),
    dp_source(in_chunks(d, 7), levels = list(g = 1:2)),
    dp_source(in_chunks(d, 7), levels = list(f = c("u", "u"))),
    dp_source("no such file.csv"),
    dp_source(path("x.txt")),
    dp_source(c(csv, path("x.parquet"))),
    dp_source(character()),
    dp_source(csv, types = c(a = "date")),
    dp_source(csv, types = c(b = "numeric")),
    dp_source(csv, chunk = 0.5),
    fit(structure(list(), class = "dp_source")),
    fit(dp_source(in_chunks(transform(d, f = as.character(f)), 7)), formula = y ~ f),
    fit(dp_source(in_chunks(transform(d, y = as.character(y)), 7)), formula = y ~ a),
    dp_source(in_chunks(d, 7), types = c(f = "factor")),
    dp_source(in_chunks(d, 7), types = c(g = "logical")),
    fit(dp_source(in_chunks(d, 7)), formula = y ~ z),
    fit(dp_source(in_chunks(d, 7), cache = "none"), method = "sgd"),
    fit(dp_source(in_chunks(d, 7)), storage = "single"),
    dp_oracle(dp_source(in_chunks(d, 7)), "y", "logistic", dp_budget(mu = 1), 2, storage = "single"),
    dp_oracle(dp_source(in_chunks(d, 7)), "y", "logistic", dp_budget(mu = 1), 2),
    dp_oracle(dp_source(in_chunks(d, 7)), d$y, "logistic", dp_budget(mu = 1), 2)
  )
})

# The error of a fit to d and the ledger after it, where change() alters rows 26 to 50, or those from another one on.
# The first pass is that of dp_source().
failure <- function(change, ..., from = 25) {
  budget <- dp_budget(eps = 20, delta = 1e-6)
  pass <- 0
  source <- dp_source(n = 60, function() {
    at <- 0
    pass <<- pass + 1
    function() {
      if (at >= 60) return(NULL)
      rows <- (at + 1):min(at + 25, 60)
      changed <- at == from && pass > 1
      at <<- max(rows)
      if (changed) change(d[rows, ]) else d[rows, ]
    }
  })
  error <- tryCatch(quiet_fit(y ~ a + f, source, ..., budget = budget, start = numeric(4)), error = identity)
  list(error = error, ledger = dp_ledger(budget))
}

test_that("chunks that do not fit together are errors; what was asked is charged", {
  changes <- list(
    "no column `a`" = function(x) x[-1],
    "no column `y`" = function(x) x[names(x) != "y"],
    "must return a data frame" = function(x) as.list(x),
    "more, fewer or other records" = function(x) x[-1, ],
    "more, fewer or other records" = function(x) x[0, ],
    "more, fewer or other records" = function(x) rbind(x, x)
  )
  for (i in seq_along(changes)) {
    for (bounds in list("private", frame_bounds["a"])) {
      result <- failure(changes[[i]], bounds = bounds)
      expect_s3_class(result$error, "dpsosp_error_source")
      expect_match(conditionMessage(result$error), names(changes)[i], fixed = TRUE)
      # ranges are found in one or two passes, which do not read the response
      expect_true(nrow(result$ledger) <= if (is.list(bounds)) 1 else 3)
      expect_true(tail(result$ledger$what, 1) %in% c("ranges", "moments"))
    }
  }
})

test_that("what a reader says is not shown, nor its warnings", {
  loud <- function(x) {
    warning("a is ", x$a[1])
    message("a is ", x$a[1])
    stop("a is ", x$a[1], " and it does not please")
  }
  expect_silent(result <- failure(loud, bounds = frame_bounds["a"]))
  expect_s3_class(result$error, "dpsosp_error_source")
  expect_match(conditionMessage(result$error), "in its pass 1")
  expect_no_match(conditionMessage(result$error), "a is")
  expect_no_match(paste(deparse(conditionCall(result$error)), collapse = ""), "a is")
  result <- failure(loud, from = 0)
  expect_no_match(conditionMessage(result$error), "a is")
  expect_identical(result$ledger$what, "ranges")
  chatty <- dp_source(in_chunks(d, 25, function(at) message("a is ", d$a[1])))
  # no handler outside of the core sees a message of a reader: it is printed
  said <- utils::capture.output(type = "message", {
    dp_sosp(y ~ a, chatty, eps = 1, delta = 1e-6, bounds = frame_bounds["a"], method = "gd", progress = FALSE)
  })
  expect_false(any(grepl("a is", said)))
  # a failure is reported once and then forgotten
  expect_null(dpsosp:::stream_failure$condition)
})

test_that("connections and queries that a failed pass leaves are closed", {
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(d, file, row.names = FALSE)
  before <- nrow(showConnections())
  source <- dp_source(file, chunk = 20, levels = levels_of(d), n = 50)
  expect_error(fit(source), "more, fewer or other records", class = "dpsosp_error_source")
  expect_identical(nrow(showConnections()), before)
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "people", d)
  source <- dp_source(connection, "people", levels = levels_of(d), n = 50, chunk = 20)
  expect_error(fit(source), "more, fewer or other records", class = "dpsosp_error_source")
  expect_silent(DBI::dbClearResult(DBI::dbSendQuery(connection, "SELECT 1"))) # a pending result would give a warning
})
