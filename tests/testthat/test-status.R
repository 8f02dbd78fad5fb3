# Conditions that no argument leads to.

test_that("arithmetic that is not IEEE 754's is refused when the package is loaded", {
  expect_silent(.onLoad("library", "dpsosp"))
  expect_silent(check_arithmetic(NULL))
  fault <- "what is not a number compares as one"
  expect_error(check_arithmetic(fault), paste0(fault, ".*-ffast-math"), class = "dpsosp_error_arithmetic")
})

test_that("every status of the core has a class", {
  for (class in setdiff(names(status_advice), c("interrupt", "source"))) {
    status <- list(name = class, message = "what happened")
    raised <- if (class == "rows") "source" else class
    expect_error(raise_status(status), "^What happened[.]", class = paste0("dpsosp_error_", raised))
  }
})
