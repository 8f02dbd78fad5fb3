# Conditions that no arguments can cause.

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

test_that("a word that the core does not know is an error", {
  expect_error(.Call(ffi_ledger_create, 1, 1, "rdp"), "'rdp' is no choice")
  plan <- event_plan(event_gaussian(1))
  expect_error(.Call(ffi_leaf_zcdp, plan["steps"]), "'leaves' is missing")
  plan$leaves$kind <- "cauchy"
  expect_error(.Call(ffi_leaf_zcdp, plan), "'cauchy' is no choice")
})
