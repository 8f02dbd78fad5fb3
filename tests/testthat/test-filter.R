# A budget that is a Renyi filter, at the order of a public plan.

test_that("a budget with a plan is a filter at the plan's order", {
  plan <- event_repeat(event_subsample(event_gaussian(2), 0.02), 300)
  filter <- dp_filter_order(plan, eps = 1, delta = 1e-6)
  expect_equal(filter$cost, dp_rdp(plan, filter$order))
  expect_identical(filter$fits, filter$cost <= filter$budget)
  eps <- filter$budget + log1p(-1 / filter$order) - (log(1e-6) + log(filter$order)) / (filter$order - 1)
  expect_equal(eps, 1, tolerance = 1e-9)
  near <- filter$order * c(0.8, 1.25)
  planned <- function(order) dp_rdp(plan, order) + log1p(-1 / order) - (log(1e-6) + log(order)) / (order - 1)
  expect_true(all(planned(filter$order) <= planned(near))) # the order is right for the plan

  budget <- dp_budget(eps = 1, delta = 1e-6, plan = plan)
  expect_output(print(budget), "Renyi at order")
  x <- matrix(0.5, 50, 1)
  oracle <- dp_oracle(x, rep(0:1, 25), "logistic", budget, radius = 2)
  rho <- filter$budget / filter$order # a Gaussian release of rho costs order * rho
  dp_gradient(oracle, c(0, 0), rho = 0.75 * rho)
  dp_line_search(oracle, c(0, 0), c(1, 0), steps = c(1, 0.5), rho = 0.2 * rho, mechanism = "svt") # any mechanism
  expect_error(dp_gradient(oracle, c(0, 0), rho = 0.06 * rho), class = "dpsosp_budget_exhausted")
  dp_gradient(oracle, c(0, 0), rho = 0.049 * rho)
  expect_equal(sum(dp_ledger(budget)$rho), 0.999 * rho)

  expect_error(dp_oracle(x, rep(0:1, 25), "logistic", budget, radius = 2, neighbours = "zero-out"),
               class = "dpsosp_error_relation")
  expect_error(dp_budget(eps = 1, delta = 1e-6, accountant = "renyi"), class = "dpsosp_error_argument")
  expect_error(dp_budget(eps = 1, delta = 1e-6, accountant = "gdp", plan = plan), class = "dpsosp_error_argument")
  expect_error(dp_budget(mu = 1, plan = plan), class = "dpsosp_error_argument")
  far <- dp_budget(eps = 1e-3, delta = 1e-12, plan = event_repeat(event_gaussian(0.5), 1000)) |>
    tryCatch(dpsosp_error_argument = identity)
  expect_s3_class(far, "dpsosp_error_argument")
})

test_that("a fit on a Renyi budget spends it and states eps at its order", {
  plan <- event_repeat(event_gaussian(20), 10)
  set.seed(3)
  x <- matrix(stats::runif(2000, -0.5, 0.5), 1000)
  y <- as.integer(x[, 1] + stats::rnorm(1000, 0, 0.2) > 0)
  budget <- dp_budget(eps = 2, delta = 1e-6, plan = plan)
  fit <- dp_sosp(x, y, budget = budget, radius = 1.3, method = "2opt-ls")
  expect_lte(fit$privacy$eps, 2 * (1 + 1e-9))
  expect_identical(fit$privacy$accountant, "renyi")
  expect_lte(sum(dp_ledger(budget)$rho), dp_filter_order(plan, 2, 1e-6)$budget / dp_filter_order(plan, 2, 1e-6)$order)
  expect_output(print(fit), "Renyi")
})
