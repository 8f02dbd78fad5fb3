rows <- function(method, ..., eps_g = 0.06, eps_h = 0.245, d = 54, eps = 0.6, delta = 1e-6) {
  required_rows(method, eps_g, eps_h, d, eps, delta, ...)
}

test_that("the papers' bounds, by hand", {
  # T = 0.5 / min(0.4 * 0.06^2, 2 (1/3 - 0.2) 0.245^3) = 348; gradient noise against min(0.1 * 0.06, 0.1 * 0.245^2)
  rho <- dp_convert(eps = 0.6, delta = 1e-6, to = "rho")
  expect_equal(rows("opt", gap = 0.5), ceiling(sqrt(108) * sqrt(348 / rho) * log(348 / 0.05) / 0.006))
  # With a large constant the noise of the Hessian decides.
  expect_equal(rows("opt", gap = 0.5, constant = 100),
               ceiling(100 * sqrt(54) * sqrt(348 / rho) * log(348 / 0.05) / 0.0245))
  expect_equal(rows("tr"), ceiling(54 * log(20) * sqrt(log(1e6)) / (0.06^1.75 * 0.6)))
})

test_that("a line search asks for more rows than short steps, and easier problems for fewer", {
  expect_gt(rows("opt-ls"), rows("opt"))
  expect_gt(rows("opt", d = 200), rows("opt"))
  for (method in c("opt", "opt-ls", "tr")) {
    base <- rows(method)
    expect_lt(rows(method, eps = 1), base)
    expect_lt(rows(method, delta = 1e-3), base)
    expect_lt(rows(method, eps_g = 0.2, eps_h = 0.4), base)
    expect_gte(rows(method, d = 200), base) # the term of the sparse vector in "opt-ls" does not depend on d
    expect_gt(rows(method, failure = 1e-6), base)
  }
})

test_that("wrong arguments are named", {
  expect_error(rows("gd"), class = "dpsosp_error_argument")
  expect_error(rows("opt", eps_h = NULL), "eps_h", class = "dpsosp_error_argument")
  expect_error(rows("tr", d = 0), "d", class = "dpsosp_error_argument")
  expect_error(rows("opt-ls", delta = 1), "delta", class = "dpsosp_error_argument")
})
