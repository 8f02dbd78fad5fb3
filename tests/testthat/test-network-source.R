# Networks fitted to the rows of a source: batches are drawn from rows that the fit keeps.

frame <- problem_frame(600)
frame$w <- rep(c(1, 0.5, 0.25), 200)

fit <- function(data, method = "sgd", ...) {
  set.seed(7)
  quiet_fit(y ~ a + b + f, data, model = model_mlp(4), eps = 8, delta = 1e-5, bounds = frame_bounds, method = method,
            noise = "reproducible", ...)
}
source_of_frame <- function(cache, data = frame, chunk = 130) {
  dp_source(in_chunks(data, chunk), n = nrow(data), levels = levels_of(data), cache = cache)
}

test_that("weights are those of the rows in memory, to the bit, on batches and on all rows", {
  for (method in long_values(c("sgd", "adam", "blsgd", "blgd"), 2)) {
    expected <- fit(frame, method)
    for (cache in long_values(c("memory", "file", if (method == "blgd") "none"), 1)) {
      found <- fit(source_of_frame(cache), method)
      expect_identical(coef(found), coef(expected))
      expect_identical(dp_ledger(found), dp_ledger(expected))
    }
  }
  weighted <- fit(frame, weights = w)
  expect_identical(coef(fit(source_of_frame("auto"), weights = w)), coef(weighted))
  expect_false(identical(coef(weighted), coef(fit(frame))))
})

test_that("one pass serves a fit, and ranges are found", {
  passes <- 0
  source <- dp_source(function() {
    passes <<- passes + 1
    in_chunks(frame, 100)()
  }, n = nrow(frame), levels = levels_of(frame))
  passes <- 0
  fit(source)
  expect_identical(passes, 1)
  found <- function(data) {
    set.seed(7)
    quiet_fit(y ~ a + f, data, model = model_mlp(4), eps = 8, delta = 1e-5, method = "sgd", noise = "reproducible")
  }
  expect_identical(coef(found(source)), coef(found(frame)))
})

test_that("batches of rows that are not kept, databases that compute sums, and sources of one pass are refused", {
  expect_error(fit(source_of_frame("none")), "batches are \"blgd\"", class = "dpsosp_error_argument")
  withr::local_options(dpsosp.cache = 600 * 8 * (3 + 5) - 1)
  expect_error(fit(source_of_frame("auto")), "batches", class = "dpsosp_error_argument")
  withr::local_options(dpsosp.cache = 600 * 8 * (4 + 5))
  expect_no_error(fit(source_of_frame("auto")))
  once <- dp_source(in_chunks(frame, 100), n = 600, once = TRUE, types = c(a = "numeric", b = "numeric"),
                    levels = levels_of(frame))
  expect_error(fit(once), class = "dpsosp_error_argument")
  pushed <- push_pair(sqlite_connection(), frame)$push
  expect_error(fit(pushed), "source in chunks", class = "dpsosp_error_argument")
})

test_that("records with unusable values are null records, and rows that change are an error", {
  broken <- frame
  broken$a[c(3, 500)] <- c(NA, Inf)
  broken$f[9] <- NA
  expect_identical(coef(fit(source_of_frame("auto", broken))), coef(fit(broken)))
  fewer <- dp_source(in_chunks(frame[-1, ], 100), n = 600, levels = levels_of(frame))
  expect_error(fit(fewer), class = "dpsosp_error_source")
})
