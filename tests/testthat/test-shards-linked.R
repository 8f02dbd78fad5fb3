# Shards whose databases compute the sums: each worker has a connection, and no row leaves a database.

d <- problem_frame(400)
d$a[5] <- NA
d$y[9] <- NA
d$f[13] <- NA

test_that("fits of tables on two nodes are those in memory", {
  shard_workers(c("one", "two"))
  shards <- dp_shards(sqlite_shards(d)$functions, c("one", "two"))
  expect_equal(shards$n, 400)
  for (method in long_size(c("newton", "gd", "newton-ridge"), "newton-ridge")) {
    fits <- lapply(list(shards, d), function(data) {
      eps <- if (method == "newton-ridge") 5 else hardly_any
      shard_fit(data, method = method, budget = dp_budget(eps = eps, delta = 1e-6))
    })
    expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 2e-5, info = method)
    # A sum of two shards is one addition more.
    expect_same_ledger(fits[[1]], fits[[2]], method == "newton-ridge")
  }
  again <- lapply(list(shards, d), function(data) {
    set.seed(5)
    suppressMessages(dp_inference(fits[[1]], data, eps = 5, delta = 1e-6, noise = "reproducible"))
  })
  expect_equal(confint(again[[1]]), confint(again[[2]]), tolerance = 1e-4)
})

test_that("weights, offsets, a subset and expressions are those in memory", {
  skip_unless_long()
  shard_workers(c("one", "two"))
  d <- weighed_frame(300)
  shards <- dp_shards(sqlite_shards(d)$functions, c("one", "two"))
  fits <- lapply(list(shards, d), function(data) {
    set.seed(4)
    quiet_fit(y ~ log(a) * b + f + offset(o), data, eps = 5, delta = 1e-6, noise = "reproducible", weights = w,
              subset = a < 28, bounds = list(a = c(10, 30), b = c(-1, 1), o = c(-1, 1.5)), method = "newton-ridge")
  })
  expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 2e-5)
})

test_that("numbers, counts, classes, smooths and ranges that are found are those in memory", {
  shard_workers(c("one", "two"))
  d <- transform(loss_frame(900), f = factor(f), z = factor(z))
  d <- d[stats::complete.cases(d), ] # RSQLite takes the types of columns from their first rows
  shards <- dp_shards(sqlite_shards(d)$functions, c("one", "two"))
  fit <- function(formula, data, ...) {
    force(data)
    set.seed(4)
    suppressMessages(suppressWarnings(dp_sosp(formula, data, ..., eps = 1e5, delta = 1e-6, noise = "reproducible")))
  }
  of <- list(function(data) fit(y ~ a + b + f, data, loss = "squared", bounds = "private"),
             function(data) fit(k ~ a + b, data, loss = "poisson", bounds = loss_bounds_of[c("a", "b")]),
             function(data) fit(f ~ a + z, data, bounds = loss_bounds_of["a"]),
             function(data) fit(z ~ s(a), data, bounds = loss_bounds_of["a"]))
  for (fit_of in long_values(of)) expect_equal(coef(fit_of(shards)), coef(fit_of(d)), tolerance = 2e-5)
})

test_that("two oracles of shards have coordinates of their own", {
  skip_unless_long()
  shard_workers(c("one", "two"))
  shards <- dp_shards(sqlite_shards(d)$functions, c("one", "two"))
  problem <- suppressMessages(dpsosp:::problem_source(y ~ a + b, shards, "logistic", frame_bounds[c("a", "b")], NULL,
                                                      NULL, NULL))
  records <- problem$records(problem)
  make <- function() dpsosp:::new_oracle(records, problem$loss, dp_budget(mu = 1e6), problem$design$radius, TRUE,
                                         "replace-one", "reproducible")
  moved <- make()
  dpsosp:::move_oracle(moved, some_geometry(problem$design, FALSE))
  plain <- make()
  expect_equal(as.double(dp_value(plain, c(0, 0, 0), mu = 1e3)), log(2), tolerance = 0.1)
  expect_error(dp_value(moved, c(0, 0, 0), mu = 1e3), class = "dpsosp_error_source") # its rows are not open any more
})

test_that("what a database does not compute is refused before a charge, as are mixed shards", {
  shard_workers(c("one", "two"))
  made <- sqlite_shards(d)
  shards <- dp_shards(made$functions, c("one", "two"))
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(text, ...) {
    expect_error(quiet_fit(data = shards, budget = budget, ...), text, class = "dpsosp_error_argument")
  }
  refused("does not compute", y ~ a + b, bounds = frame_bounds[c("a", "b")], method = "objpert")
  refused("sin\\(\\) is not computed", y ~ sin(a), bounds = list("sin(a)" = c(-1, 1)), method = "newton")
  expect_equal(nrow(dp_ledger(budget)), 0L)
  expect_error(dp_shards(list(made$functions[[1]], frame_shards(400, 2)[[2]]), c("one", "two")), "not both tables",
               class = "dpsosp_error_source")
})

test_that("a lost worker, a forged sum and another number of rows end the fit after one charge", {
  shard_workers(c("one", "two"))
  made <- sqlite_shards(d)
  shards <- dp_shards(made$functions, c("one", "two"))
  lost <- function(text, at) {
    budget <- dp_budget(eps = 5, delta = 1e-6)
    error <- expect_error(shard_fit(shards, method = "newton-ridge", budget = budget), text,
                          class = "dpsosp_error_source")
    expect_no_match(conditionMessage(error), "people|SELECT|sqlite")
    expect_equal(charged(budget), at)
  }
  spoil_worker("two", quote(replace(answer, "sum", list(answer$sum + 1e3))), at = 4)
  lost("no such sum", 4)
  spoil_worker("two", quote(replace(answer, "n", answer$n + 1)), at = 2)
  lost("another number of rows", 2)
  spoil_worker("two", quote(answer))
  # A fit that ends without a word to the workers leaves their snapshots; the next fit has snapshots of its own.
  connection <- DBI::dbConnect(RSQLite::SQLite(), made$files[2])
  DBI::dbGetQuery(connection, "PRAGMA journal_mode = WAL")
  original <- dpsosp:::hold_shards
  put <- function(value) utils::assignInNamespace("hold_shards", value, "dpsosp")
  withr::defer(put(original))
  put(function(shards, ...) {
    original(shards, ...)
    function() NULL
  })
  expect_s3_class(shard_fit(shards, method = "gd"), "dp_sosp")
  put(original)
  DBI::dbExecute(connection, "DELETE FROM people WHERE rowid = 3")
  lost("another number of rows", 0)
  DBI::dbDisconnect(connection)
  mirai::daemons(0, .compute = "two")
  lost("its worker has ended", 0)
})

test_that("a node that answers late ends the fit at its time limit, after one charge more", {
  skip_unless_long()
  shard_workers(c("one", "two"))
  shards <- dp_shards(sqlite_shards(d)$functions, c("one", "two"), timeout = 6)
  spoil_worker("two", quote({
    Sys.sleep(9)
    answer
  }), at = 3)
  budget <- dp_budget(eps = 5, delta = 1e-6)
  expect_error(shard_fit(shards, method = "newton-ridge", budget = budget), "no answer within 6 seconds",
               class = "dpsosp_error_source")
  expect_equal(charged(budget), 3)
})

test_that("two PostgreSQL clusters give the fit in memory, and see sums and the preparation of rows only", {
  skip_unless_long()
  nodes <- list(postgres_connection(), postgres_connection())
  shard_workers(c("one", "two"))
  hosts <- vapply(nodes, function(node) DBI::dbGetInfo(node)$host, "")
  half <- seq_len(nrow(d)) <= 150
  for (i in 1:2) DBI::dbWriteTable(nodes[[i]], "people", d[half == (i == 1), ])
  shards <- dp_shards(lapply(hosts, function(host) {
    eval(bquote(function() {
      connection <- DBI::dbConnect(RPostgres::Postgres(), host = .(host), user = "postgres", dbname = "postgres")
      dpsosp::dp_source(connection, "people", levels = .(levels_of(d)), push = TRUE)
    }), globalenv())
  }), c("one", "two"))
  for (node in nodes) DBI::dbExecute(node, "ALTER SYSTEM SET log_statement = 'all'")
  for (node in nodes) DBI::dbGetQuery(node, "SELECT pg_reload_conf()")
  Sys.sleep(0.5)
  fits <- lapply(list(shards, d), function(data) {
    shard_fit(data, method = "newton-ridge", budget = dp_budget(eps = 5, delta = 1e-6))
  })
  expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 2e-5)
  for (host in hosts) {
    log <- system2("cat", file.path(host, "log"), stdout = TRUE)
    said <- sub(".*(statement|execute [^:]*): *", "", grep("LOG: +(statement|execute)", log, value = TRUE))
    known <- paste0("^(BEGIN|SET LOCAL|ROLLBACK|SAVEPOINT|(CREATE TEMP|DROP) TABLE|INSERT INTO pg_temp.dpsosp_rows|",
                    "WITH .*(SUM|COUNT)\\()|block_size")
    expect_gt(length(grep("^WITH .*SUM\\(", said)), 50)
    expect_identical(grep(known, said, invert = TRUE, value = TRUE), character())
  }
  # A node that ends in the middle of a fit.
  spoil_worker("two", quote({
    source <- get("linked", asNamespace("dpsosp"))[[request$key]]
    DBI::dbGetQuery(source$push$connection, "SELECT pg_terminate_backend(pg_backend_pid())")
    answer
  }), at = 3)
  budget <- dp_budget(eps = 5, delta = 1e-6)
  error <- expect_error(shard_fit(shards, method = "newton-ridge", budget = budget), "its worker failed",
                        class = "dpsosp_error_source")
  expect_equal(charged(budget), 3)
})

test_that("a worker counts in its database, and says before a sum that a matrix is too large", {
  connection <- sqlite_connection()
  force(connection)
  d <- problem_frame(60)
  DBI::dbWriteTable(connection, "people", d)
  ask <- function(step, ...) {
    dpsosp:::worker_answer(list(step = step, key = "a worker of its own", id = "1", n = 60, linked = TRUE, ...))
  }
  shard <- function() dp_source(connection, "people", levels = levels_of(d), push = TRUE)
  seen <- ask("look", shard = shard)
  expect_identical(seen[c("n", "linked")], list(n = 60L, linked = TRUE))
  problem <- suppressMessages(dpsosp:::problem_source(y ~ a + b, shard(), "logistic", frame_bounds[c("a", "b")], NULL,
                                                      NULL, NULL))
  breaks <- c(-1, 0, 0.5, 1)
  counted <- ask("counts", design = problem$design, response = NULL, names = "b", breaks = list(breaks))
  expect_identical(counted$n, 60)
  expect_equal(counted$sum, as.vector(table(cut(d$b, breaks))))
  open <- function() {
    ask("open", schema = seen$schema, columns = c("a", "b", "y"), design = problem$design, response = problem$response,
        bare = FALSE, loss = problem$loss, intercept = TRUE, radius = problem$design$radius)
  }
  expect_null(open()$refused)
  held <- dpsosp:::linked[["a worker of its own"]]
  held$push$dialect$characters <- 100
  assign("a worker of its own", held, dpsosp:::linked)
  expect_identical(open()$refused, "A matrix of these columns is too large for a statement.")
  ask("close")
  expect_null(dpsosp:::snapshots[["a worker of its own"]])
  rm(list = "a worker of its own", envir = dpsosp:::linked)
})
