# Plans of intervals of fits by residuals, and the scales of noise that they ask for.

test_that("widths of fits by residuals agree with fits, and hidden slopes are told", {
  slopes <- c(0.7, -0.7, 0.7, 0.7)
  losses <- list(squared = loss_squared(c(-7, 17)), huber = loss_huber(c(-7, 17)), poisson = loss_poisson())
  for (loss in long_values(names(losses))) {
    count <- loss == "poisson"
    plan <- function(n, eps = 2, effect = 0.7, ...) {
      dp_plan(n, numeric = 4, eps = eps, variance = 1 / 3, effect = effect / if (count) 2 else 1, loss = loss,
              level = if (count) 3, inference = TRUE, ...)
    }
    seen <- vapply(1:5, function(seed) {
      set.seed(seed)
      x <- matrix(runif(40000, -1, 1), 10000)
      f <- drop(x %*% slopes) / if (count) 2 else 1
      weight <- if (count) 3 * exp(f) else rep(1, 10000)
      y <- if (count) rpois(10000, weight) else 5 + f + rnorm(10000)
      fit <- quiet_fit(y ~ ., data.frame(x, y), eps = 2, delta = 1e-8, loss = losses[[loss]], method = "auto",
                       bounds = stats::setNames(rep(list(c(-1, 1)), 4), paste0("X", 1:4)), inference = "sandwich",
                       noise = "reproducible")
      exact <- solve(crossprod(cbind(1, x) * sqrt(weight)))
      stats::median(sqrt(diag(fit$inference$vcov) / diag(exact))[-1])
    }, 0)
    expect_equal(stats::median(plan(10000)$intervals$ratio), stats::median(seen), tolerance = 0.25)
    expect_true(all(plan(10000)$intervals$resolved))
    hidden <- plan(300, eps = 0.5)
    expect_false(any(hidden$intervals$resolved))
    expect_output(print(hidden), "0 of 4\\s+slopes\\s+are\\s+expected to be resolved")
    n <- plan(5000, want = list(width = 2))$want$n # widths have a step where the first step of counts begins
    expect_lte(median(plan(n)$intervals$ratio), 2.02)
    expect_gt(median(plan(round(0.97 * n))$intervals$ratio), 1.98)
    expect_equal(median(plan(1e8)$intervals$ratio), 1, tolerance = 0.02)
    expect_gt(plan(10000)$excess, dp_plan(10000, numeric = 4, eps = 2, variance = 1 / 3, loss = loss,
                                          effect = if (count) 0.35 else 0.7, level = if (count) 3)$excess)
  }
})

test_that("a scale of noise that these coordinates do not have is an error of its class", {
  plan <- dp_plan(5000, numeric = 2, eps = 1, loss = "squared")
  s <- plan_setting(plan$setting)
  for (query in c("residual gradient", "residual hessian", "residual counts", "recalibration")) {
    expect_error(planned_sd(s, query, 0.1, planned_oracle(s), clip = 1), class = "dpsosp_error_argument")
    expect_gt(planned_sd(s, query, 0.1, clip = 1), 0)
  }
  expect_error(planned_sd(s, "gradient", 0.1, clip = 1), NA)
  expect_error(planned_sd(s, "residual gradient", 0.1, clip = 0), class = "dpsosp_error_argument")
})

test_that("a plan for counts asks for their mean", {
  expect_error(dp_plan(1000, numeric = 4, eps = 1, loss = loss_squared()), "Did you mean \"squared\"?",
               fixed = TRUE, class = "dpsosp_error_argument")
  expect_error(dp_plan(1000, numeric = 4, eps = 1, loss = "poisson"), "`level` is missing",
               class = "dpsosp_error_argument")
})
