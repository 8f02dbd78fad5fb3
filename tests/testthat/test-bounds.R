test_that("each declared range has a row, with private ones there is none", {
  expect_identical(check_bounds(list(), "a", "f"), dpsosp:::no_ranges)
  expect_equal(check_bounds(list(b = 1:2), c("a", "b"), "f"), cbind(lower = c(b = 1), upper = 2))
  d <- data.frame(y = gl(2, 3), a = 1:6, b = 1:6)
  unknown <- matrix(NA_real_, 2, 2, dimnames = list(c("a", "b"), c("lower", "upper")))
  expect_equal(dpsosp:::design_template(y ~ a + b, d)$ranges, unknown)
  unknown["b", ] <- c(0, 9)
  expect_equal(dpsosp:::design_template(y ~ a + b, d, list(b = c(0, 9)))$ranges, unknown)
})

test_that("bad bounds are errors that name the column", {
  refused <- list(
    "public", c(a = 1, 2), NULL, list(c(0, 1)), list(a = c(0, 1), a = c(0, 2)), list(z = c(0, 1)), list(f = c(0, 1)),
    list(a = 1), list(a = c("0", "1")), list(a = c(0, 1, 2)), list(a = c(1, 0)), list(a = c(1, 1)),
    list(a = c(0, Inf)), list(a = c(NA, 1)), list(a = NULL, b = c(0, 1)), data.frame(a = c(0, 1))
  )
  messages <- vapply(refused, function(b) {
    conditionMessage(expect_error(check_bounds(b, c("a", "b"), "f"), class = "dpsosp_error_argument"))
  }, "")
  expect_snapshot_output(writeLines(messages))
})
