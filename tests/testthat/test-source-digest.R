# A reader must return the same rows in every pass. One that does not is detected; one that does never is.

d <- problem_frame(50)
d$s <- rep_len(c("p", "q", NA), 50)
bounds <- frame_bounds["a"]

# passes: the data of each pass, the last one for all later passes; the first pass is that of dp_source().
giving <- function(passes, chunk = 20) {
  pass <- 0
  dp_source(n = 50, cache = "none", function() {
    pass <<- pass + 1
    in_chunks(passes[[min(pass, length(passes))]], chunk)()
  })
}
# With a given start, so that all passes are those of the method.
outcome <- function(passes, ..., formula = y ~ a + f + (s == "p"), start = numeric(5)) {
  budget <- dp_budget(eps = 20, delta = 1e-6)
  end <- tryCatch(quiet_fit(formula, giving(passes), budget = budget, start = start, ...), error = identity)
  list(end = end, charged = nrow(dp_ledger(budget)))
}
refused <- function(passes, charged, ...) {
  result <- outcome(passes, ...)
  expect_s3_class(result$end, "dpsosp_error_source")
  expect_match(conditionMessage(result$end), "gave other rows than in an earlier pass")
  expect_identical(result$charged, charged)
  conditionMessage(result$end)
}

test_that("a pass with another row, value or order fails after its charge, with words that do not depend on data", {
  odd <- list(
    order = d[50:1, ],
    two = d[c(1:10, 12, 11, 13:50), ],
    row = d[c(1:49, 1), ],
    number = transform(d, a = replace(a, 37, a[37] * (1 + 2^-52))),
    missing = transform(d, a = replace(a, 1, NA)),
    level = transform(d, f = replace(f, 50, setdiff(levels(f), f[50])[1])),
    text = transform(d, s = replace(s, 2, "r")),
    response = transform(d, y = replace(y, 5, setdiff(levels(y), y[5])))
  )
  messages <- vapply(odd, function(other) refused(list(d, d, other), 2L, bounds = bounds), "")
  expect_length(unique(messages), 1)
  refused(list(d, d, d, d, odd$two), 4L, bounds = bounds)
})

test_that("the rows that ranges were found of must be those of the fit", {
  other <- transform(d, a = replace(a, 3, 11))
  refused(list(d, d, other), 2L, formula = y ~ a, start = numeric(2))
  refused(list(d, d, d, other), 3L, formula = y ~ a, start = numeric(2))
  # there is no digest yet of a column that the ranges do not read
  expect_s3_class(outcome(list(d, d, transform(d, y = rev(y))), formula = y ~ a, start = numeric(2))$end, "dp_sosp")
})

test_that("what a source gave to one fit it must give to the next, and to an oracle", {
  data <- data.frame(problem_matrix(50)$x, y = problem_matrix(50)$y)
  source <- giving(list(data, data, data[50:1, ]))
  oracle <- suppressMessages(dp_oracle(source, "y", "logistic", dp_budget(mu = 1), 2))
  expect_length(dp_gradient(oracle, c(0, 0, 0), mu = 0.1), 3)
  expect_error(dp_gradient(oracle, c(0, 0, 0), mu = 0.1), "other rows", class = "dpsosp_error_source")
  expect_identical(nrow(dp_ledger(oracle)), 2L)
  expect_error(quiet_fit(y ~ x1, source, eps = 1), "other rows", class = "dpsosp_error_source")
})

test_that("a query that gives its rows in another order is found out", {
  connection <- sqlite_connection()
  DBI::dbWriteTable(connection, "people", d)
  source <- dp_source(connection, "SELECT * FROM people ORDER BY random()", levels = levels_of(d))
  expect_error(quiet_fit(y ~ a, source, eps = 1), "in another order", class = "dpsosp_error_source")
})

test_that("chunks, types that stand for the same values, and passes that were given up are no change", {
  pass <- 0
  sizes <- c(20, 1, 7, 50, 13)
  as_integer <- transform(d, a = as.integer(a))
  as_text <- transform(d, a = as.character(as.integer(a)), f = factor(f, levels = c("w", "u", "v")))
  as_double <- transform(d, a = as.double(as.integer(a)), unused = rnorm(50))
  varied <- list(as_integer, as_text, as_double[c("a", "unused", "y", "s", "f")])
  source <- dp_source(n = 50, cache = "none", function() {
    pass <<- pass + 1
    reader <- in_chunks(varied[[(pass - 1) %% 3 + 1]], sizes[(pass - 1) %% 5 + 1])()
    asked <- 0
    function() {
      asked <<- asked + 1
      if (pass == 3 && asked == 3) stop("given up")
      reader()
    }
  })
  run <- function() {
    quiet_fit(y ~ a + f + (s == "p"), source, eps = 20, delta = 1e-6, bounds = bounds, start = numeric(5))
  }
  expect_error(run(), "in its pass 2", class = "dpsosp_error_source")
  expect_s3_class(run(), "dp_sosp")
  expect_gt(pass, 8)
})

test_that("a digest depends on the values in their order alone", {
  digest <- function(...) Reduce(function(state, x) .Call(dpsosp:::ffi_column_digest, state, x), list(...), raw(8))
  set.seed(1)
  columns <- list(rnorm(100), sample(100), rnorm(100) > 0, sample(letters, 100, TRUE), c(NA, 0, NaN, Inf),
                  c("", NA, "NA"))
  for (x in columns) {
    half <- seq_along(x) <= length(x) / 2
    expect_identical(digest(x[half], x[!half]), digest(x))
    expect_false(identical(digest(rev(x)), digest(x)))
    one_changed <- lapply(seq_along(x), function(i) digest(replace(x, i, x[1 + i %% length(x)])))
    differ <- vapply(seq_along(x), function(i) !identical(x[i], x[1 + i %% length(x)]), NA)
    if (!is.character(x) || length(x) > 3) differ <- differ & !(is.na(x) & is.na(x[1 + seq_along(x) %% length(x)]))
    expect_identical(!vapply(one_changed, identical, NA, digest(x)), differ)
  }
  expect_identical(digest(1:3), digest(c(1, 2, 3)))
  expect_identical(digest(NA_integer_), digest(NaN))
  # rows of zeros are counted, and small differences in low or high bits are detected
  zeros <- lapply(0:50, function(k) digest(numeric(k)))
  expect_identical(anyDuplicated(zeros), 0L)
  expect_identical(anyDuplicated(lapply(2^(-1000:1000), digest)), 0L)
  set.seed(2)
  pairs <- replicate(20000, digest(sample(c(0, 1, 2, 1 + 2^-52), 30, TRUE)), simplify = FALSE)
  expect_identical(anyDuplicated(pairs), 0L)
})
