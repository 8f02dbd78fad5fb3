# Failures between a fit and its workers: a clear error, an unchanged charge, no release, and no process left running.

n <- 200

expect_lost <- function(shards, at, text, ...) {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  error <- expect_error(shard_fit(shards, budget = budget, ...), text, class = "dpsosp_error_source")
  expect_match(conditionMessage(error), "charged stays charged")
  expect_no_match(conditionMessage(error), "secret")
  expect_equal(charged(budget), at)
  as.data.frame(dp_ledger(budget))
}

test_that("answers that are none, or another query's, end the fit; each query is charged once", {
  shard_workers(c("one", "two"))
  shards <- dp_shards(frame_shards(n, 2), c("one", "two"))
  full <- as.data.frame(dp_ledger(shard_fit(shards, budget = dp_budget(eps = 1, delta = 1e-6))))
  spoiled <- list(
    "failed" = quote(stop("secret 42")),
    "another query" = quote("secret"),
    "another query" = quote(replace(answer, "id", "other")),
    "another query" = quote(replace(answer, "step", "look")),
    "another number of rows" = quote(replace(answer, "n", answer$n - 1)),
    "another number of rows" = quote(replace(answer, "n", NaN)),
    "no such sum" = quote(replace(answer, "sum", list(answer$sum[-1]))),
    "no such sum" = quote(replace(answer, "sum", list(answer$sum * NaN))),
    "no such sum" = quote(replace(answer, "sum", list(answer$sum + 1e3))),
    "no such sum" = quote(replace(answer, "sum", list("secret")))
  )
  for (i in long_values(seq_along(spoiled))) {
    at <- 1 + i %% 3
    spoil_worker("two", spoiled[[i]], at)
    ledger <- expect_lost(shards, at, paste("Shard 2 of 2 gave no sum:.*", names(spoiled)[i]))
    expect_identical(ledger, full[seq_len(at), ])
  }
  # Together the shards have n rows.
  spoil_worker("one", quote(replace(answer, "n", answer$n + 1)))
  spoil_worker("two", quote(replace(answer, "n", answer$n - 1)))
  expect_lost(shards, 1, "another number of rows")
  for (worker in c("one", "two")) spoil_worker(worker, quote(answer))
  expect_identical(as.data.frame(dp_ledger(shard_fit(shards, budget = dp_budget(eps = 1, delta = 1e-6)))), full)
})

test_that("a worker that ends at any query ends the fit at once, and later fits before a sum", {
  few <- control_gd(max_iterations = 3)
  queries <- length(dp_ledger(shard_fit(problem_frame(n), control = few))$what)
  expect_gt(queries, 2)
  for (at in long_values(seq_len(queries))) {
    shard_workers("one")
    shards <- dp_shards(frame_shards(n, 2), "one")
    spoil_worker("one", quote(tools::pskill(Sys.getpid(), tools::SIGKILL)), 2 * at)
    seconds <- system.time(expect_lost(shards, at, "its worker has ended", control = few))[["elapsed"]]
    expect_lt(seconds, 5)
    expect_error(shard_fit(shards), "its worker has ended", class = "dpsosp_error_source")
    mirai::daemons(0, .compute = "one")
  }
})

test_that("a slow worker ends the fit when its time is over, and goes on with nothing", {
  skip_unless_long()
  shard_workers(c("one", "two"))
  shards <- dp_shards(frame_shards(n, 2), c("one", "two"), timeout = 1)
  spoil_worker("one", quote(Sys.sleep(60)), 2)
  seconds <- system.time(expect_lost(shards, 2, "Shard 1 of 2 gave no sum: no answer within 1 seconds"))[["elapsed"]]
  expect_lt(seconds, 5)
  later <- mirai::mirai(1, .timeout = 3000, .compute = "one")
  expect_identical(mirai::call_mirai(later)$data, 1)
})

test_that("an interrupt ends the fit as one, and what the workers do", {
  shard_workers("one")
  shards <- dp_shards(frame_shards(n, 1), "one")
  spoil_worker("one", quote(Sys.sleep(60)), 2)
  original <- dpsosp:::check_answer
  put <- function(value) utils::assignInNamespace("check_answer", value, "dpsosp")
  sums <- 0
  put(function(answer, shards, i, step) {
    sums <<- sums + (step == "sum")
    original(answer, shards, i, step)
    if (sums == 1) signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    answer
  })
  withr::defer(put(original))
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_identical(tryCatch(shard_fit(shards, budget = budget), interrupt = function(e) "interrupt"), "interrupt")
  expect_equal(charged(budget), 1)
})

test_that("a shard that changed is another one", {
  shard_workers("one")
  folder <- withr::local_tempdir()
  file <- file.path(folder, "1.csv")
  d <- problem_frame(n)
  write <- function(d) write.csv(d, file, row.names = FALSE)
  write(d)
  shards <- dp_shards(file, "one", levels = levels_of(d))
  fit <- shard_fit(shards)
  fails <- function(text) expect_error(shard_fit(shards), text, class = "dpsosp_error_source")
  write(d[-1, ])
  fails("another number of rows")
  write(d[n:1, ])
  fails("other rows than in an earlier pass")
  write(d[c("a", "b", "y")])
  fails("its worker failed")
  write(d)
  expect_identical(coef(shard_fit(shards)), coef(fit))
})

test_that("workers of another version, of another kind of shard, or that hold nothing are refused", {
  usual <- list(version = worker_version(), linked = FALSE, schema = list(a = 1))
  seen <- function(...) {
    other <- list(...)
    replace(usual, names(other), other)
  }
  refused <- function(code, reason) expect_error(code, reason, class = "dpsosp_error_source")
  refused(check_alike(list(seen(), seen(version = "0.0.1")), NULL), "shard 2 has version 0.0.1 of dpsosp")
  refused(check_alike(list(seen(), seen(linked = TRUE)), NULL), "Shard 2 and the first shard are not both tables")
  refused(check_alike(list(seen(), seen(schema = list(b = 1))), NULL), "Shard 2 has no column `a`")
  expect_null(check_alike(list(seen(), seen()), NULL))
  refused(worker_answer(list(step = "sum", key = "a key that nobody opened", id = "1")), "The shard is not open")
  refused(check_linked(dp_source(in_chunks(push_frame, 100))), "must return a data frame, or a source whose database")
  expect_match(worker_failure(simpleError("secret")), "could not be reached.*charged stays charged")
})
