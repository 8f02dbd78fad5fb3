# Records of shards that are used once each: spider by both escapes, and certificates.

escapes <- c("hessian", "drift")

# The saddle problem, with records that are null and some that are shortened.
fresh_frame <- function(n = 20000) {
  set.seed(1)
  p <- saddle_problem(n, 5)
  data <- data.frame(p$x, y = p$y)
  data$X2[3] <- NA
  data$X1[4] <- 1e3
  data
}
fresh_ranges <- stats::setNames(rep(list(c(-1, 1)), 5), paste0("X", 1:5))

fresh_fit <- function(data, escape, ..., seed = 4, control = control_spider(escape = escape)) {
  set.seed(seed)
  quiet_fit(y ~ . - 1, data, eps = 4, delta = 1e-6, method = "spider", loss = "sigmoid", bounds = fresh_ranges,
            radius = 1, start = c(1.984, 0, 0, 0, 0), noise = "reproducible", control = control, ...)
}

fresh_shards <- function(data, parts = 3, frame = parent.frame()) {
  file_shards(data, unique(c(1, round(seq(0.1, 1, length.out = parts) * nrow(data)))), frame)
}

test_that("fits to shards are those in memory, by both escapes", {
  shard_workers(c("one", "two"))
  d <- fresh_frame()
  shards <- dp_shards(fresh_shards(d), c("one", "two"))
  for (escape in long_values(escapes)) {
    fits <- lapply(list(shards, d), fresh_fit, escape)
    expect_gt(abs(coef(fits[[1]])[[2]]), 0.9)
    expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-8, info = escape)
    expect_equal(fits[[1]]$certificate, fits[[2]]$certificate, tolerance = 1e-8, info = escape)
    expect_equal(dp_ledger(fits[[1]]), dp_ledger(fits[[2]]), tolerance = 1e-9, info = escape) # an addition more a shard
    expect_equal(fits[[1]]$trace, fits[[2]]$trace, tolerance = 1e-6, info = escape)
  }
})

test_that("so are those under zero-out, with weights, in a geometry and of convex problems", {
  shard_workers(c("one", "two"))
  d <- fresh_frame(3000)
  d$w <- rep_len(c(1, 0.5, NA, 0.2), 3000)
  shards <- dp_shards(fresh_shards(d), c("one", "two"))
  same <- function(formula = y ~ . - 1 - w, ...) {
    fits <- lapply(list(shards, d), function(data) {
      set.seed(4)
      quiet_fit(formula, data, eps = 4, delta = 1e-6, method = "spider", bounds = fresh_ranges, noise = "reproducible",
                ...)
    })
    expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-8)
  }
  drift <- control_spider(escape = "drift")
  same(loss = "sigmoid", neighbours = "zero-out", control = drift)
  same(loss = "sigmoid", weights = w, control = drift)
  same(y ~ X1 + X2, loss = "sigmoid", geometry = "private", control = drift)
  same(y ~ X1 + X2, loss = "logistic", penalty = penalty_ridge(0.1))
})

test_that("no record is in two sums of a fit", {
  shard_workers("one")
  d <- fresh_frame(2000)
  shards <- dp_shards(fresh_shards(d, 1)[2], "one")
  mirai::call_mirai(mirai::everywhere(seen <<- list(), .compute = "one")[[1]])
  spoil_worker("one", quote({
    if (request$what$word != "usable") seen[[length(seen) + 1L]] <<- request$what$rows
    answer
  }))
  fresh_fit(shards, "drift")
  seen <- mirai::call_mirai(mirai::mirai(seen, .compute = "one"))$data
  expect_gt(length(seen), 5)
  expect_false(any(vapply(seen, is.null, NA)))
  rows <- unlist(seen)
  expect_identical(anyDuplicated(rows), 0L)
  expect_true(all(rows >= 1L & rows <= shards$n))
})

test_that("a sum that is too large for a leaf ends the fit, and the charge stays", {
  shard_workers("one")
  d <- fresh_frame(2000)
  shards <- dp_shards(fresh_shards(d, 1)[2], "one")
  for (word in c("gradient", "gradient difference")) {
    spoil_worker("one", bquote({
      if (request$what$word == .(word)) answer$sum <- answer$sum * 0 + 0.6 * length(request$what$rows)
      answer
    }))
    budget <- dp_budget(eps = 4, delta = 1e-6)
    set.seed(1)
    expect_error(quiet_fit(y ~ . - 1, shards, method = "spider", loss = "sigmoid", bounds = fresh_ranges, radius = 1,
                           start = c(1.984, 0, 0, 0, 0), budget = budget, control = control_spider(escape = "drift")),
                 "no such sum", class = "dpsosp_error_source")
    expect_equal(dp_ledger(budget)$what, c("usable records", "fresh records"))
  }
})

test_that("a certificate from shards is that in memory", {
  shard_workers(c("one", "two"))
  d <- fresh_frame(3000)
  fit <- fresh_fit(d, "drift")
  shards <- dp_shards(fresh_shards(d), c("one", "two"))
  certificates <- lapply(list(shards, d), function(data) {
    set.seed(5)
    dp_certify(fit, data, eps = 4, delta = 1e-6, noise = "reproducible")
  })
  expect_equal(certificates[[1]][c("gradient", "eigenvalue")], certificates[[2]][c("gradient", "eigenvalue")],
               tolerance = 1e-8)
})

test_that("tables of databases refuse both before a charge", {
  skip_unless_long()
  shard_workers(c("one", "two"))
  d <- problem_frame(400)
  shards <- dp_shards(sqlite_shards(d)$functions, c("one", "two"))
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(code) expect_error(code, "does not compute", class = "dpsosp_error_argument")
  for (escape in escapes) {
    refused(shard_fit(shards, method = "spider", budget = budget, control = control_spider(escape = escape)))
  }
  refused(dp_certify(shard_fit(shards), shards, budget = budget))
  expect_equal(nrow(dp_ledger(budget)), 0L)
})
