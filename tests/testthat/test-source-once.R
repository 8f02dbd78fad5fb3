# SPIDER makes one pass over a source: only the order of its rows matters, and a source that can be read only once
# suffices.

set.seed(1)
saddle <- saddle_problem(6000, 4)
d <- data.frame(saddle$x, y = saddle$y)
columns <- paste0("X", 1:4)
ranges <- stats::setNames(rep(list(c(-1, 1)), 4), columns)
declared <- c(stats::setNames(rep("numeric", 4), columns), y = "numeric")

fit <- function(data, ..., method = "spider", bounds = ranges, seed = 4) {
  set.seed(seed)
  quiet_fit(y ~ . - 1, data, loss = "sigmoid", method = method, ..., bounds = bounds, radius = 1,
            noise = "reproducible")
}
# A function that raises an error when it is called again, and the number of calls.
once <- function(chunk = 500, each = function(at) NULL, data = d) {
  calls <- 0
  open <- in_chunks(data, chunk, each)
  list(calls = function() calls, open = function() {
    calls <<- calls + 1
    if (calls > 1) stop("what was read is gone")
    open()
  })
}
read_once <- function(...) dp_source(once(...)$open, n = 6000, types = declared, once = TRUE)
whole <- fit(dp_source(in_chunks(d, 1000)), eps = 1, delta = 1e-6)

# ---- one pass ----

test_that("every kind of source and any chunks give the same fit, whose certificate holds", {
  for (chunk in c(37, 6000)) expect_same_fit(fit(dp_source(in_chunks(d, chunk)), eps = 1, delta = 1e-6), whole)
  expect_same_fit(fit(source_csv(d, 999), eps = 1, delta = 1e-6), whole)
  connection <- if (requireNamespace("RSQLite", quietly = TRUE)) sqlite_connection()
  if (!is.null(connection)) {
    DBI::dbWriteTable(connection, "people", d)
    expect_same_fit(fit(dp_source(connection, "people", chunk = 999), eps = 1, delta = 1e-6), whole)
  }
  if (requireNamespace("nanoparquet", quietly = TRUE)) {
    expect_same_fit(fit(source_parquet(d, 999), eps = 1, delta = 1e-6), whole)
  }
  others <- saddle_problem(1e5, 4)
  p <- stats::plogis(others$x %*% coef(whole))
  gradient <- colMeans(as.vector(-others$y * p * (1 - p)) * others$x)
  expect_lte(sqrt(sum(gradient^2)), whole$certificate$gradient[["upper"]])
})

test_that("a source that can be read once only is opened once, in the fit, and gives the fit of any other", {
  reader <- once()
  source <- dp_source(reader$open, n = 6000, types = declared, once = TRUE)
  expect_identical(reader$calls(), 0)
  expect_identical(utils::capture.output(print(source))[1], "<dp_source> 6000 rows of 5 columns, from a function, once")
  # No other pass counts usable records or values of the loss, nor do they cost anything.
  local_value("usable_share", 0)
  local_value("values_share", function(job) 0)
  expect_same_fit(fit(source, eps = 1, delta = 1e-6), fit(dp_source(in_chunks(d, 1000)), eps = 1, delta = 1e-6))
  expect_identical(reader$calls(), 1)
})

test_that("levels declare columns, too, and undeclared ones are not there", {
  f <- transform(d, f = rep(c("u", "v"), 3000), y = ifelse(y > 0, "yes", "no"))
  source <- dp_source(once(data = f)$open, n = 6000, types = declared["X1"],
                      levels = list(f = c("u", "v"), y = c("no", "yes")), once = TRUE)
  expect_named(source$schema, c("f", "y", "X1"), ignore.order = TRUE)
  expect_error(quiet_fit(y ~ X2, source, eps = 1), class = "dpsosp_error_argument")
  end <- quiet_fit(y ~ X1 + f, source, eps = 1, delta = 1e-6, method = "spider", bounds = ranges["X1"])
  expect_named(coef(end), c("(Intercept)", "X1", "fv"))
})

test_that("what needs another pass is refused before it is opened or charged", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(...) {
    reader <- once()
    source <- dp_source(reader$open, n = 6000, types = declared, once = TRUE)
    error <- tryCatch(fit(source, ..., budget = budget), error = identity)
    expect_s3_class(error, "dpsosp_error_argument")
    expect_identical(reader$calls(), 0)
    expect_identical(nrow(dp_ledger(budget)), 0L)
    conditionMessage(error)
  }
  expect_match(refused(method = "opt"), "`method` must be \"spider\"")
  expect_match(refused(method = "auto"), "`method` must be \"spider\"")
  expect_match(refused(bounds = ranges[-2]), "declare `bounds` of \"X2\"", fixed = TRUE)
  expect_match(refused(geometry = "private"), "`geometry`")
  expect_errors(
    dp_source(in_chunks(d, 500), n = 6000, once = TRUE),
    dp_source(in_chunks(d, 500), types = declared, once = TRUE),
    dp_source(in_chunks(d, 500), n = 6000, types = declared, once = NA),
    dp_oracle(read_once(), "y", "logistic", budget, 2),
    dp_inference(quiet_fit(y ~ X1, d, eps = 1, bounds = ranges["X1"], geometry = "none"), read_once(), eps = 1)
  )
  source <- read_once()
  fit(source, eps = 1, delta = 1e-6)
  expect_error(fit(source, budget = budget), "once only, and was", class = "dpsosp_error_argument")
  expect_identical(nrow(dp_ledger(budget)), 0L)
})

# ---- readers that fail ----

test_that("a reader that fails midway ends the run with one charge and closes what it opened", {
  interrupted <- structure(class = c("interrupt", "condition"), list(message = "", call = NULL))
  acts <- list(
    "failed in its pass" = function() stop("the line is dead"),
    interrupt = function() {
      signalCondition(interrupted)
      invokeRestart("abort")
    }
  )
  for (name in names(acts)) {
    for (from in c(0, 3000, 5500)) {
      budget <- dp_budget(eps = 1, delta = 1e-6)
      source <- read_once(each = function(at) if (at == from) acts[[name]]())
      utils::capture.output(type = "message", {
        end <- tryCatch(fit(source, budget = budget), interrupt = identity, error = identity)
      })
      if (name == "interrupt") {
        expect_identical(end, interrupted)
      } else {
        expect_s3_class(end, "dpsosp_error_source")
        expect_match(conditionMessage(end), name)
      }
      expect_identical(dp_ledger(budget)$what, "fresh records")
    }
  }
})

test_that("wrong columns, too few rows and too many are errors of the source", {
  with_rows <- function(data) read_once(data = data)
  wrong <- list(
    "no column `X2`" = dp_source(once = TRUE, types = declared, local({
      open <- in_chunks(d, 500)
      function() {
        reader <- open()
        chunks <- 0
        function() {
          chunks <<- chunks + 1
          if (chunks < 7) reader() else reader()[-2]
        }
      }
    }), n = 6000),
    "more, fewer or other records" = with_rows(d[1:5999, ]),
    "more, fewer or other records" = with_rows(d[c(1:6000, 1), ]),
    "more, fewer or other records" = with_rows(d[1:100, ])
  )
  for (i in seq_along(wrong)) {
    budget <- dp_budget(eps = 1, delta = 1e-6)
    error <- tryCatch(fit(wrong[[i]], budget = budget), error = identity)
    expect_s3_class(error, "dpsosp_error_source")
    expect_match(conditionMessage(error), names(wrong)[i], fixed = TRUE)
    expect_identical(dp_ledger(budget)$what, "fresh records")
  }
})

test_that("connections and queries are closed after a run, and after one that failed", {
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(d, file, row.names = FALSE)
  before <- nrow(showConnections())
  expect_error(fit(dp_source(file, chunk = 700, n = 5000), eps = 1), class = "dpsosp_error_source")
  expect_identical(nrow(showConnections()), before)
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "people", d)
  fit(dp_source(connection, "people", chunk = 700), eps = 1)
  expect_silent(DBI::dbClearResult(DBI::dbSendQuery(connection, "SELECT 1"))) # a pending result would give a warning
  expect_error(fit(dp_source(connection, "people", chunk = 700, n = 7000), eps = 1), class = "dpsosp_error_source")
  expect_silent(DBI::dbClearResult(DBI::dbSendQuery(connection, "SELECT 1")))
})

test_that("rows are compared with those of other passes when all have been read", {
  pass <- 0
  source <- dp_source(n = 6000, function() {
    pass <<- pass + 1
    in_chunks(if (pass == 6) d[6000:1, ] else d, 500)() # a fit makes three passes, the second by the method
  })
  expect_same_fit(fit(source, eps = 1, delta = 1e-6), whole)
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(fit(source, budget = budget), "gave other rows", class = "dpsosp_error_source")
  expect_identical(dp_ledger(budget)$what, c("usable records", "fresh records"))
  expect_same_fit(fit(source, eps = 1, delta = 1e-6), whole)
})

test_that("intervals need passes of their own, and a second pass is refused", {
  source <- read_once()
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(fit(source, budget = budget, inference = "sandwich"), "and `inference` needs passes of its own",
               class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
  expect_false(source$once$read)
  dpsosp:::claim_pass(source)
  expect_true(source$once$read)
  expect_error(dpsosp:::claim_pass(source), "can be read once only, and was", class = "dpsosp_error_source")
})
