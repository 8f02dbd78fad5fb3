test_that("defaults follow the constants", {
  tight <- control_opt()
  expect_equal(tight$line_search, "gaussian")
  expect_true(is.na(tight$gap))
  published <- control_opt("published")
  expect_equal(published[c("line_search", "gap", "b_g", "b_H", "beta_g", "beta_H")],
               list(line_search = "svt", gap = 0.5, b_g = 20, b_H = 20, beta_g = 0.6, beta_H = 0.5),
               ignore_attr = TRUE)
  expect_equal(control_opt("published", gap = 2, line_search = "gaussian")$gap, 2)
})

test_that("wrong settings are refused by name", {
  expect_errors(
    control_opt("loose"),
    control_opt(line_search = "armijo"),
    control_opt(gap = 0),
    control_opt(confidence = 1),
    control_opt(max_iterations = 0),
    control_opt(max_iterations = 2.5),
    control_opt(search_share = 1),
    control_opt(b_g = 0.5),
    control_opt(beta_g = 1),
    control_opt(beta_g = 1 - 1e-12),
    control_opt(b_H = 1e6, beta_H = 0.999),
    sosp(),
    sosp(0.1),
    sosp(0.1, alpha = 1),
    sosp(-1, 1),
    penalty_ridge(-1),
    penalty_ridge("a")
  )
})

test_that("settings are obeyed", {
  p <- problem_matrix(300)
  fit <- function(..., method = "opt-ls") {
    quiet_fit(p$x, p$y, eps = 1e4, delta = 1e-6, radius = 2, method = method, target = sosp(1e-4, 0.5),
              control = control_opt(...))
  }
  expect_lte(fit(max_iterations = 7)$iterations[["done"]], 7)
  some <- fit(search_share = 0.1)
  search <- some$trace$query == "line search"
  expect_true(any(search))
  # A search costs at most its fraction of the total cost of the search and the gradients at its point.
  point <- cumsum(c(0, head(some$trace$step > 0, -1)))
  gradients <- tapply(some$trace$rho * !search, point, sum)
  searches <- tapply(some$trace$rho * search, point, sum)
  expect_lte(max(searches / (searches + gradients)), 0.1 + 1e-12)
  expect_equal(fit(confidence = 0.5)$certificate$confidence, 0.5)
  phase <- fit(method = "2opt", phase1_share = 0.4, max_iterations = 50)
  expect_equal(share_of_first(phase), 0.4, tolerance = 1e-6)
  # With a longer first candidate the search reaches further.
  far <- fit(b_g = 1e4)
  near <- fit(b_g = 1)
  expect_gt(max(far$trace$step), max(near$trace$step))
})

test_that("settings are printed", {
  expect_snapshot(control_opt())
  expect_snapshot(print(sosp(alpha = 0.1)))
  expect_snapshot(print(sosp(0.1, 0.2)))
  expect_snapshot(print(penalty_ridge(0.1)))
  expect_snapshot(print(penalty_none()))
  expect_snapshot(print(loss_logistic()))
})
