# Methods on batches of shards: the rows' numbers are drawn as in memory, and each worker gets its own.

d <- batch_frame()

test_that("fits on batches are those in memory, however the rows are split", {
  shard_workers(c("one", "two"))
  expect_batch_fits(dp_shards(file_shards(d, c(100, 101, 600)), c("one", "two")), d, 1e-10)
  expect_batch_fits(dp_shards(file_shards(d, 600), "one"), d, 1e-10, batch_methods["tr-b"])
})

test_that("so are those with weights, with Poisson sampling, and of batches without rows in some shards", {
  skip_unless_long()
  shard_workers(c("one", "two"))
  shards <- dp_shards(file_shards(d, c(100, 101, 600)), c("one", "two"))
  same <- function(...) {
    fits <- lapply(list(shards, d), batch_fit, ...)
    expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-10)
    expect_equal(dp_ledger(fits[[1]]), dp_ledger(fits[[2]]), tolerance = 1e-9)
  }
  same("opt-b", weights = w, control = batch_methods[["opt-b"]])
  few <- control_gd(batch = 2, max_iterations = 10)
  same("sgd", control = few)
  for (relation in c("replace-one", "zero-out")) {
    same("sgd", neighbours = relation, control = utils::modifyList(few, list(sampling = "poisson")))
  }
})

test_that("rows are split by the shards' ends", {
  shards <- list(n = c(100, 1, 499))
  rows_of <- function(rows) dpsosp:::of_rows(shards, rows)$rows
  expect_null(rows_of(NULL))
  expect_identical(rows_of(c(1L, 100L, 101L, 102L, 600L)), list(c(1L, 100L), 1L, c(1L, 499L)))
  expect_identical(rows_of(integer()), list(integer(), integer(), integer()))
  expect_identical(rows_of(101L), list(integer(), 1L, integer()))
})

test_that("a worker sums rows of its shard only, each once", {
  x <- matrix(cos(1:40), 20)
  shard <- .Call(dpsosp:::ffi_shard_create, x, TRUE, 2, rep(c(-1, 1), 10), "logistic", 0)
  ask <- moved_ask("gradient", c(0.1, 0.2, 0.3))
  sum <- function(rows) .Call(dpsosp:::ffi_shard_sum, shard, c(ask, list(rows = rows)))
  expect_equal(sum(1:20), sum(NULL), tolerance = 1e-14)
  expect_equal(sum(c(3L, 7L)), sum(3L) + sum(7L), tolerance = 1e-14)
  expect_identical(sum(integer()), numeric(3))
  for (rows in list(0L, 21L, NA_integer_, c(3L, 3L), c(4L, 3L), -1L, 2)) expect_error(sum(rows), "internal")
})

test_that("a worker that says it summed other rows, or gives a sum that is too large for them, ends the fit", {
  shard_workers(c("one", "two"))
  shards <- dp_shards(file_shards(d, c(250, 600)), c("one", "two"))
  lost <- function(text, code, at = 2) {
    spoil_worker("two", code, at = at)
    budget <- dp_budget(eps = 5, delta = 1e-6, plan = event_repeat(event_subsample(event_gaussian(1), 0.1), 20))
    expect_error(quiet_fit(y ~ a + b, shards, method = "sgd", bounds = frame_bounds[c("a", "b")], budget = budget,
                           control = batch_methods$sgd), text, class = "dpsosp_error_source")
    expect_equal(nrow(dp_ledger(budget)), at)
  }
  lost("another number of rows", quote(replace(answer, "n", answer$n + 1)))
  lost("another number of rows", quote(replace(answer, "n", answer$n - 1)))
  lost("another number of rows", quote(replace(answer, "n", 350)))
  # A little more than so many rows can add, and less than all of its rows.
  lost("no such sum", quote(replace(answer, "sum", list(answer$sum * 0 + 1.01 * length(request$what$rows)))))
  lost("its worker failed", quote(stop("secret")))
  spoil_worker("two", quote(answer))
  mirai::daemons(0, .compute = "two")
  budget <- dp_budget(eps = 5, delta = 1e-6, plan = event_repeat(event_subsample(event_gaussian(1), 0.1), 20))
  expect_error(quiet_fit(y ~ a + b, shards, method = "sgd", bounds = frame_bounds[c("a", "b")], budget = budget,
                         control = batch_methods$sgd), "worker has ended", class = "dpsosp_error_source")
})

test_that("tables of databases have batches, too, and refuse before a charge where rows get no numbers", {
  shard_workers(c("one", "two"))
  made <- sqlite_shards(d)
  shards <- dp_shards(made$functions, c("one", "two"))
  expect_batch_fits(shards, d, methods = batch_methods[c("sgd", "opt-b", "blsgd")], database = TRUE)
  budget <- dp_budget(eps = 5, delta = 1e-6, plan = event_repeat(event_subsample(event_gaussian(1), 0.1), 20))
  refused <- function(text, ...) {
    expect_error(quiet_fit(y ~ a + b, shards, bounds = frame_bounds[c("a", "b")], budget = budget, ...), text,
                 class = "dpsosp_error_argument")
    expect_equal(nrow(dp_ledger(budget)), 0L)
  }
  refused("at most 100 candidates", method = "blsgd",
          control = control_line_search(candidates = 101, ratio = 0.9, attempts = 5))
  change_worker("two")
  mirai::call_mirai(mirai::everywhere({
    for (source in as.list(dpsosp:::linked)) DBI::dbExecute(source$push$connection, "CREATE TEMP TABLE dpsosp_rows (a)")
  }, .compute = "two")[[1]])
  refused("could not be created", method = "sgd")
  # The other worker's snapshot has ended.
  open <- mirai::mirai(length(ls(dpsosp:::snapshots)), .compute = "one")
  expect_identical(mirai::call_mirai(open)$data, 0L)
})

test_that("networks on shards are those in memory, on batches and on the full data", {
  shard_workers(c("one", "two"))
  shards <- dp_shards(file_shards(d, c(100, 101, 600)), c("one", "two"))
  search <- control_line_search(attempts = 10, candidates = 8, first = 32, ratio = 0.5, sufficient = 0.001)
  controls <- list(sgd = control_network(epochs = 2), adam = control_network(epochs = 2, sampling = "poisson"),
                   blsgd = search, blgd = search)
  fit <- function(data, method, ...) {
    set.seed(4)
    quiet_fit(y ~ a + b + f, data, model = model_mlp(3), method = method, bounds = frame_bounds, eps = 5, delta = 1e-6,
              noise = "reproducible", control = controls[[method]], ...)
  }
  for (method in long_values(names(controls))) {
    fits <- lapply(list(shards, d), fit, method)
    expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-10, info = method)
    expect_equal(dp_ledger(fits[[1]]), dp_ledger(fits[[2]]), tolerance = 1e-9, info = method)
  }
  weighed <- lapply(list(shards, d), fit, "sgd", weights = w)
  expect_equal(coef(weighed[[1]]), coef(weighed[[2]]), tolerance = 1e-10)
  expect_false(identical(coef(weighed[[1]]), coef(fit(d, "sgd"))))
  spoil_worker("two", quote(replace(answer, "sum", list(answer$sum + 100))), at = 2)
  expect_error(fit(shards, "sgd"), "no such sum", class = "dpsosp_error_source")
  linked <- dp_shards(sqlite_shards(d)$functions, c("one", "two"))
  refused <- function(data, text) expect_error(fit(data, "sgd"), text, class = "dpsosp_error_argument")
  refused(linked, "linear models only")
  refused(push_pair(sqlite_connection(), d)$push, "linear models only")
})
