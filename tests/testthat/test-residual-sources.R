# Fits by clipped residuals to sources are those to the same rows in memory.

records <- function(n) {
  RNGkind("Mersenne-Twister") # a daemon has another generator
  set.seed(1)
  d <- data.frame(a = runif(n, 10, 30), b = rnorm(n), f = factor(sample(c("u", "v", "w"), n, TRUE)), o = runif(n, 0, 4))
  d$y <- 50 + d$a - 3 * d$b + c(u = 0, v = 4, w = -2)[as.character(d$f)] + 4 * rnorm(n)
  d$w <- runif(n) * d$a / 30
  d$k <- rpois(n, exp(d$a / 20 - 0.3 * d$b + d$o / 4))
  d$b[5] <- NA
  d$y[7:8] <- c(NA, Inf)
  d$b[6] <- -1e300
  d$w[9:12] <- c(0, 2, NA, 1)
  d$o[13:14] <- c(NA, 1e9)
  d$k[15:16] <- c(NA, -1)
  d
}
n <- 1200
d <- records(n)
ends <- list(a = c(10, 30), b = c(-5, 5))
with_o <- c(ends, list(o = c(0, 4)))
cases <- list(
  squared = function(data) of(y ~ a + b + f, data, loss = loss_squared(c(20, 120)), bounds = ends),
  "squared, found" = function(data) of(y ~ a + b + f + offset(o), data, loss = "squared", bounds = with_o, weights = w),
  "squared, all found" = function(data) of(y ~ a + b, data, loss = "squared", bounds = "private", subset = o > 1),
  "squared, its level" = function(data) {
    of(y ~ 1 + offset(o), data, loss = "squared", bounds = with_o["o"], weights = w)
  },
  "squared, through the origin" = function(data) of(y ~ 0 + a + f, data, loss = "squared", bounds = ends["a"]),
  counts = function(data) of(k ~ a + b + f, data, loss = loss_poisson(100), bounds = ends, weights = w),
  rates = function(data) of(k ~ a + b + f + offset(o / 4), data, loss = "poisson", bounds = with_o, weights = w),
  "counts, their level" = function(data) of(k ~ 1, data, loss = "poisson", bounds = list())
)
of <- function(formula, data, ...) {
  set.seed(2)
  quiet_fit(formula, data, method = "newton-ridge", control = control_newton_ridge(iterations = 8), eps = 3,
            delta = 1e-6, noise = "reproducible", ...)
}
in_memory <- lapply(cases, function(case) case(d))

# exact: do the releases have the same bits?
expect_as_in_memory <- function(source, exact = TRUE) {
  for (name in names(cases)) {
    fit <- cases[[name]](source)
    expect_equal(coef(fit), coef(in_memory[[name]]), tolerance = if (exact) 0 else 1e-8, info = name)
    if (exact) expect_identical(dp_ledger(fit), dp_ledger(in_memory[[name]]), info = name)
    expect_equal(as.data.frame(dp_ledger(fit)), as.data.frame(dp_ledger(in_memory[[name]])), tolerance = 1e-9)
  }
}

test_that("in chunks of any size, from a function or files", {
  for (chunk in long_values(c(1700, 700, 250), 2)) expect_as_in_memory(dp_source(in_chunks(d, chunk)))
  expect_as_in_memory(source_csv(d, 400))
})

test_that("from Parquet files", {
  expect_as_in_memory(source_parquet(d, 400))
})

test_that("from a database in chunks, and by its sums", {
  connection <- sqlite_connection()
  types <- c(y = "numeric", k = "numeric", w = "numeric", o = "numeric", a = "numeric", b = "numeric")
  pair <- push_pair(connection, d, types = types)
  expect_as_in_memory(pair$chunks)
  # test-push-losses.R compares them.
  for (name in long_values(names(cases))) expect_s3_class(cases[[name]](pair$push), "dp_sosp")
})

test_that("from shards", {
  skip_unless_long()
  shard_workers(c("one", "two"))
  make <- records
  environment(make) <- globalenv()
  part <- function(first, last) eval(bquote(function() .(make)(.(n))[.(first):.(last), ]), globalenv())
  expect_as_in_memory(dp_shards(list(part(1, 400), part(401, 1100), part(1101, n)), c("one", "two")), exact = FALSE)
})

test_that("a worker's sums are no larger than its rows allow", {
  most <- dpsosp:::max_of_sum(dpsosp:::loss_squared(c(-1, 1)), 3, TRUE, 0)
  at <- c(0, 0, 0, 1)
  expect_equal(most(list(word = "residual gradient", at = at, clip = 0.3)), list(length = 4, size = 0.3))
  expect_equal(most(list(word = "recalibration", at = at, along = numeric(), clip = 0.3)), list(length = 1, size = 0.3))
  expect_equal(most(list(word = "recalibration", at = at, along = at, clip = 0.3)), list(length = 2, size = 0.3))
  expect_equal(most(list(word = "residual counts", at = at, steps = 1:25)), list(length = 25, size = 1))
  expect_equal(most(list(word = "response")), list(length = 3, size = 1))
  expect_equal(most(list(word = "weighted moments")), list(length = 7, size = 2))
})
