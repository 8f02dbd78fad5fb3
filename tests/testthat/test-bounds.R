test_that("private means unknown, declared bounds are kept", {
  expect_equal(check_bounds("private", c("a", "b"), "f"),
               matrix(NA_real_, 2, 2, dimnames = list(c("a", "b"), c("lower", "upper"))))
  expect_equal(check_bounds(list(), "a", "f"), check_bounds("private", "a", "f"))
  expect_equal(check_bounds(list(b = 1:2), c("a", "b"), "f"), cbind(lower = c(a = NA, b = 1), upper = c(NA, 2)))
  expect_equal(dim(check_bounds("private", character(), character())), c(0L, 2L))
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
