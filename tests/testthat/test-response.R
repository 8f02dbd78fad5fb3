test_that("two values become -1 and 1", {
  code <- function(y) response_code(response_template(y, "y"), y)
  f <- factor(c("no", "yes", NA, "no"), levels = c("yes", "no"))
  expect_equal(code(f), c(1, -1, NA, 1))
  expect_equal(code(c(TRUE, NA, FALSE)), c(1, NA, -1))
  expect_equal(code(c(0, 1, NA, NaN)), c(-1, 1, NA, NA))
  expect_equal(code(c(0L, 1L)), c(-1, 1))
  expect_equal(code(c(-1, 1, 1)), c(-1, 1, 1))
  expect_equal(code(c(1, 1)), c(1, 1))
  expect_equal(code(c(-1, -1)), c(-1, -1))
  expect_equal(code(NA_real_), NA_real_)
  expect_equal(code(factor(c("b", "a"), levels = c("a", "b"), ordered = TRUE)), c(1, -1))
})

test_that("the template holds no value of the response", {
  f <- factor(c("a", "b", "a"))
  expect_identical(response_template(f, "y"), response_template(rev(f)[0], "y"))
  expect_identical(response_template(c(0, 1), "y"), response_template(c(0, 0, NA), "y"))
  expect_identical(response_template(c(TRUE, NA), "y"), response_template(FALSE, "y"))
  expect_identical(response_template(c(1, 1), "y"), response_template(c(1, -1), "y"))
})

test_that("codes go by label, and decode undoes them", {
  template <- response_template(factor(c("no", "yes")), "y")
  expect_equal(response_code(template, factor(c("yes", "no", "other"))), c(1, -1, NA))
  expect_equal(response_code(template, c("yes", NA)), c(1, NA))
  for (y in list(factor(c("u", "v", NA)), c(TRUE, NA, FALSE), c(0, 1, NA))) {
    template <- response_template(y, "y")
    expect_equal(response_decode(template, response_code(template, y)), y)
  }
  expect_equal(response_decode(response_template(c(-1, 1), "y"), c(-1, 1)), c(0, 1))
})

test_that("other responses are errors without values", {
  refused <- list(
    factor(c("a", "b", "c")), factor(c("a", "a")), c("a", "b"), c(0, 1, 271828), c(-1, 0, 1), c(1, Inf), 1:2 + 0.5,
    Sys.Date(), matrix(0:1), list(0, 1), 1i
  )
  messages <- vapply(refused, function(y) {
    conditionMessage(expect_error(response_template(y, "income"), class = "dpsosp_error_argument"))
  }, "")
  expect_false(any(grepl("271828", messages)))
  expect_snapshot_output(writeLines(messages))
})
