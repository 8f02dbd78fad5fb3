# Rows of a source that a fit keeps after its first pass.

d <- problem_frame(3000)
d$a[5] <- NA
d$f[7] <- NA

# A source of chunks that counts its passes.
counted_source <- function(data, ..., chunk = 700) {
  passes <- 0
  open <- in_chunks(data, chunk)
  source <- dp_source(function() {
    passes <<- passes + 1
    open()
  }, levels = levels_of(data), n = nrow(data), ...)
  passes <- 0
  list(source = source, passes = function() passes)
}

fit <- function(data, method = "newton-ridge", ..., formula = y ~ a + b + f) {
  set.seed(4)
  quiet_fit(formula, data, method = method, eps = 5, delta = 1e-6, noise = "reproducible", ...)
}

test_that("a fit reads a source a few times, and has the bits of one that reads it in each pass", {
  for (method in c("newton-ridge", "gd", "objpert")) {
    kept <- counted_source(d)
    read <- counted_source(d, cache = "none")
    fits <- lapply(list(kept$source, read$source, d), fit, method, bounds = frame_bounds)
    expect_lte(kept$passes(), 2)
    expect_gt(read$passes(), 5)
    expect_identical(coef(fits[[1]]), coef(fits[[2]]))
    expect_equal(coef(fits[[1]]), coef(fits[[3]]), tolerance = 1e-12)
    expect_identical(dp_ledger(fits[[1]]), dp_ledger(fits[[2]]))
  }
  found <- counted_source(d)
  fit(found$source, bounds = "private")
  expect_lte(found$passes(), 4)
})

test_that("the public size of the rows decides, and an option changes the limit", {
  few <- control_newton_ridge(iterations = 5)
  passes <- function(cache, limit) {
    withr::local_options(dpsosp.cache = limit)
    counter <- counted_source(d, cache = cache)
    fit(counter$source, bounds = frame_bounds, control = few)
    counter$passes()
  }
  bytes <- 3000 * (8 * 7 + 4)
  expect_lte(passes("auto", bytes), 2)
  expect_gt(passes("auto", bytes - 1), 5)
  expect_lte(passes("memory", 0), 2)
  expect_gt(passes("none", Inf), 5)
  withr::local_options(dpsosp.cache = "much")
  expect_error(fit(d_source <- counted_source(d)$source, bounds = frame_bounds), "dpsosp.cache",
               class = "dpsosp_error_argument")
  expect_error(dp_source(in_chunks(d, 10), cache = "disk"), "cache", class = "dpsosp_error_argument")
})

test_that("rows that change between fits, or come too many, are an error, and nothing of a failed pass is used", {
  changing <- d
  source <- dp_source(function() in_chunks(changing, 700)(), levels = levels_of(d))
  expected <- coef(fit(source, bounds = frame_bounds))
  changing$b <- rev(changing$b)
  expect_error(fit(source, bounds = frame_bounds), "other rows", class = "dpsosp_error_source")
  changing <- rbind(d, d[1, ])
  expect_error(fit(source, bounds = frame_bounds), class = "dpsosp_error_source")
  changing <- d
  expect_identical(coef(fit(source, bounds = frame_bounds)), expected)
})

test_that("weights, offsets and a later certificate or interval are those of rows that are read again", {
  d <- weighed_frame(2500)
  run <- function(cache) {
    source <- counted_source(d, cache = cache)$source
    first <- fit(source, "newton", formula = y ~ a + b + f + offset(o), bounds = weighed_bounds, weights = w)
    set.seed(5)
    again <- function(what) suppressMessages(what(first, source, eps = 5, delta = 1e-6, noise = "reproducible"))
    list(coef(first), vcov(again(dp_inference)), again(dp_certify)$gradient)
  }
  expect_identical(run("memory"), run("none"))
})

test_that("rows of a database are fetched once where it does not compute a sum", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  statements <- watched(fit(source, "objpert", bounds = frame_bounds))
  expect_length(grep("^SELECT.*FROM `people`", statements), 1)
})

test_that("a fit keeps nothing of the rows", {
  first <- fit(counted_source(d)$source, bounds = frame_bounds)
  expect_lt(length(serialize(first, NULL)), 2e5)
})
