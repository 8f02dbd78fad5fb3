# Readers of a source that fail, are interrupted, jump, or have side effects in the middle of a fit.

d <- problem_frame(60)
d$a[5] <- NA
d$y[9] <- NA

# ---- errors, interrupts and jumps in the third pass ----

# Each pass of a fit serves one query.
in_pass <- function(k, act) {
  pass <- 0
  open <- in_chunks(d, 25, function(at) if (pass == k && at == 25) act())
  function() {
    pass <<- pass + 1
    open()
  }
}
run <- function(source, budget) {
  set.seed(4)
  quiet_fit(y ~ a + f, source, budget = budget, bounds = frame_bounds["a"], noise = "reproducible",
            start = numeric(4))
}
whole <- local({
  budget <- dp_budget(eps = 20, delta = 1e-6)
  list(fit = run(dp_source(in_chunks(d, 25), n = 60), budget), ledger = dp_ledger(budget))
})
# One pass of dp_source() itself, then three queries.
third <- 1 + 3

test_that("a reader that fails, is interrupted or jumps ends the run; what was charged stays charged, once", {
  interrupted <- structure(class = c("interrupt", "condition"), list(message = "", call = NULL))
  out <- NULL
  acts <- list(
    error = function() stop("the disk is full"),
    interrupt = function() {
      signalCondition(interrupted)
      invokeRestart("abort")
    },
    restart = function() invokeRestart("escape"),
    continuation = function() out(NULL)
  )
  for (name in names(acts)) {
    budget <- dp_budget(eps = 20, delta = 1e-6)
    source <- dp_source(in_pass(third, acts[[name]]), n = 60, cache = "none")
    utils::capture.output(type = "message", {
      end <- withRestarts(escape = function() "escaped", callCC(function(leave) {
        out <<- leave
        tryCatch(run(source, budget), interrupt = identity, error = identity)
      }))
    })
    # R finds no restart or continuation from inside the core, so these are errors there
    if (name == "interrupt") {
      expect_identical(end, interrupted)
    } else {
      expect_s3_class(end, "dpsosp_error_source")
      expect_match(conditionMessage(end), "in its pass 3")
    }
    ledger <- dp_ledger(budget)
    expect_identical(ledger, whole$ledger[1:3, ])
    expect_identical(dp_ledger(budget), ledger)
    # the remaining budget can be used, on the same source, and no more than that
    left <- dp_convert(eps = 20, delta = 1e-6, to = "mu")^2 / 2 - sum(ledger$rho)
    again <- quiet_fit(y ~ a + f, source, budget = budget, bounds = frame_bounds["a"])
    expect_equal(again$privacy$rho, left)
  }
})

test_that("a real interrupt in a reader ends the run", {
  skip_on_cran()
  skip_on_os("windows")
  out <- child(c(
    "set.seed(1)",
    "d <- data.frame(a = runif(300), y = rep(c(FALSE, TRUE), 150))",
    "pass <- 0",
    "for (wait in c(TRUE, FALSE)) {",
    "  pass <- 0",
    "  source <- dp_source(n = 300, cache = 'none', function() {",
    "    pass <<- pass + 1",
    "    at <- 0",
    "    function() {",
    "      if (pass == 4 && at == 100) {",
    "        tools::pskill(Sys.getpid(), tools::SIGINT)",
    "        if (wait) Sys.sleep(0.2)",
    "      }",
    "      if (at >= 300) return(NULL)",
    "      at <<- at + 100",
    "      d[at - 99:0, ]",
    "    }",
    "  })",
    "  budget <- dp_budget(eps = 1, delta = 1e-6)",
    "  end <- tryCatch({",
    "    dp_sosp(y ~ a, source, budget = budget, bounds = list(a = c(0, 1)), progress = FALSE)",
    "    'finished'",
    "  }, interrupt = function(e) 'interrupt')",
    "  cat('run', end, pass, nrow(dp_ledger(budget)), '\\n')",
    "}"
  ))
  expect_identical(trimws(grep("^run", out, value = TRUE)), rep("run interrupt 4 3", 2))
})

# ---- readers that do other things ----

test_that("a reader may collect garbage, draw random numbers, and fit another model", {
  collect <- in_chunks(d, 25, function(at) if (at == 25) gc(full = TRUE))
  expect_same_fit(run(dp_source(collect, n = 60), dp_budget(eps = 20, delta = 1e-6)), whole$fit)
  nested <- in_chunks(d, 25, function(at) {
    if (at != 25) return()
    seed <- .Random.seed
    quiet_fit(y ~ a, d[1:20, ], eps = 1, bounds = frame_bounds["a"])
    assign(".Random.seed", seed, globalenv())
  })
  expect_same_fit(run(dp_source(nested, n = 60), dp_budget(eps = 20, delta = 1e-6)), whole$fit)
  # Drawing in a reader advances the generator, so that no reader sees numbers that the noise is made of.
  drawing <- in_chunks(d, 25, function(at) runif(1))
  other <- run(dp_source(drawing, n = 60), dp_budget(eps = 20, delta = 1e-6))
  expect_false(identical(coef(other), coef(whole$fit)))
})

test_that("a reader that asks its own oracle is refused, and its pass goes on", {
  p <- problem_matrix(60)
  budget <- dp_budget(rho = 1)
  oracle <- NULL
  seen <- NULL
  open <- in_chunks(data.frame(p$x, y = p$y), 20, function(at) {
    if (!is.null(oracle) && at == 20) seen <<- tryCatch(dp_value(oracle, c(0, 0, 0), rho = 0.1), error = class)
  })
  oracle <- dp_oracle(dp_source(open), "y", "logistic", budget, 2)
  expect_near(dp_value(oracle, c(0, 0, 0), rho = 0.1), log(2))
  expect_true("dpsosp_error_source" %in% seen)
  expect_equal(dp_ledger(budget)$rho, c(0.1, 0.1))
})

# ---- folders, patterns and queries ----

test_that("a folder is its CSV or its Parquet files, a pattern those that match, in the order of names", {
  folder <- withr::local_tempdir()
  for (i in 1:3) utils::write.csv(d[20 * i - 19:0, ], file.path(folder, paste0("part", i, ".csv")), row.names = FALSE)
  writeLines("no data", file.path(folder, "_SUCCESS"))
  levels <- list(f = c("u", "v", "w"), y = c("no", "yes"))
  named <- dp_source(folder, levels = levels)
  matched <- dp_source(file.path(folder, "part[12].csv"), levels = levels)
  expect_output(print(named), "60 rows of .*, from CSV files")
  expect_output(print(matched), "40 rows of .*, from CSV files")
  fit <- function(data) run(data, dp_budget(eps = 20, delta = 1e-6))
  expect_same_fit(fit(named), whole$fit)
  expect_same_fit(fit(matched), fit(d[1:40, ]))
  empty <- withr::local_tempdir()
  expect_error(dp_source(empty), "has no files that end in", class = "dpsosp_error_argument")
  expect_error(dp_source(file.path(folder, "part*.parquet")), "part*.parquet", fixed = TRUE,
               class = "dpsosp_error_argument")
  expect_error(dp_source(c(folder, "none.csv")), "there is no file `x\\[2\\]`", class = "dpsosp_error_argument")
  file.create(file.path(folder, "part.parquet"))
  expect_error(dp_source(folder), "\"part1.csv\" does not", class = "dpsosp_error_argument")
})

test_that("a query with a condition says that n is public, without other queries saying it", {
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "people", d)
  said <- function(query) {
    tryCatch({
      dp_source(connection, query)
      "nothing"
    }, dpsosp_message_query = conditionMessage)
  }
  expect_match(said("select * from people where a > 12"), "has WHERE: .*`subset`")
  expect_match(said("SELECT DISTINCT a, y FROM people\nLIMIT 9"), "has LIMIT and DISTINCT")
  expect_match(said("SELECT a, count(*) AS y FROM people GROUP BY a HAVING a > 2"), "has HAVING and GROUP")
  expect_match(said("SELECT p.* FROM people p JOIN people q ON p.a = q.a"), "has JOIN")
  quiet <- c("people", "SELECT a, y FROM people ORDER BY a",
             "SELECT a, 'where limit' AS \"group\", b AS [join], y AS `having` FROM people -- where\n/* distinct\n*/")
  for (query in quiet) expect_identical(said(query), "nothing")
})

test_that("an empty file is refused in words", {
  path <- withr::local_tempfile(fileext = ".csv")
  file.create(path)
  expect_error(dp_source(path), "no line with names of columns", class = "dpsosp_error_source")
})

# ---- does a reader read what was written? ----

local_read_parquet <- function(f, frame = parent.frame()) {
  before <- nanoparquet::read_parquet
  withr::defer(utils::assignInNamespace("read_parquet", before, "nanoparquet"), frame)
  utils::assignInNamespace("read_parquet", f, "nanoparquet")
  before
}

test_that("columns of a Parquet file are asked for in its order, and a wrong reader is refused", {
  skip_if_not_installed("nanoparquet", "0.5.2")
  file <- withr::local_tempfile(fileext = ".parquet")
  x <- data.frame(a = 1:8 + 0, b = c(101, NA, 103:108), z = 0)
  nanoparquet::write_parquet(x, file)
  asked <- list()
  read <- local_read_parquet(function(file, col_select = NULL, ...) {
    asked <<- c(asked, list(col_select))
    read(file, col_select = col_select, ...)
  })
  reader <- dp_source(file, n = 8)$open(c("z", "b", "a"))
  expect_identical(as.list(reader$read()[c("z", "a", "b")]), as.list(x[c("z", "a", "b")]))
  expect_identical(asked[[length(asked)]], c("a", "b", "z"))

  # As version 0.5.1 does: values after a missing one move.
  local_read_parquet(function(file, col_select = NULL, ...) {
    found <- read(file, col_select = col_select, ...)
    found[] <- lapply(found, function(x) c(x[!is.na(x)], x[is.na(x)]))
    found
  })
  expect_error(dp_source(file), "did not read a few rows", class = "dpsosp_error_source")
  local_value("min_nanoparquet", "99.0")
  expect_error(dp_source(file), "from version 99.0 on", class = "dpsosp_error_argument")
})

test_that("a driver that reads values into other rows is refused", {
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "people", d[c("a", "b")])
  expect_s3_class(dp_source(connection, "people"), "dp_source")
  opener <- dpsosp:::query_opener
  local_value("query_opener", function(connection, from, ...) {
    opener(connection, sub("ORDER BY place", "ORDER BY a", from), ...)
  })
  expect_error(dp_source(connection, "people"), "driver did not read", class = "dpsosp_error_source")
})
