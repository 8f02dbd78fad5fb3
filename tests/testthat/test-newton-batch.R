# Newton's method on batches: results, the charge of a step, and what follows from public numbers.

p <- problem_matrix(4000, 3)
z <- unit_rows(p$x, 2)
least <- exact_value(z, p$y, exact_minimum(z, p$y))
study <- function(curvature = "lazy", ..., eps = 4, seed = 1, neighbours = "replace-one") {
  set.seed(seed)
  quiet_fit(p$x, p$y > 0, eps = eps, delta = 1e-6, radius = 2, method = "newton-b", neighbours = neighbours,
            control = control_newton(curvature, ...), noise = "reproducible")
}

test_that("with a large budget every kind of curvature comes near the minimum, and its certificate holds", {
  for (curvature in c("lazy", "hessian", "qu", "direct")) {
    for (neighbours in long_values(c("replace-one", "zero-out"), nchar(curvature))) {
      fit <- study(curvature, eps = 100, batch = 1000, neighbours = neighbours)
      expect_lt(exact_value(z, p$y, coef(fit) * 2) - least, 5e-3)
      expect_lte(sqrt(sum(exact_gradient(z, p$y, coef(fit) * 2)^2)), fit$certificate$gradient[["upper"]])
      expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
      expect_equal(fit$privacy$accountant, "renyi")
      expect_true(fit$certificate$eigenvalue_known)
    }
  }
})

test_that("a step is charged once, for all that it asks of its batch", {
  for (neighbours in c("replace-one", "zero-out")) {
    plan <- event_repeat(event_subsample(event_gaussian(1, neighbours), 0.05, "poisson"), 4)
    budget <- dp_budget(eps = 4, delta = 1e-6, plan = plan)
    fit <- quiet_fit(p$x, p$y > 0, budget = budget, radius = 2, method = "newton-b", neighbours = neighbours,
                     control = control_newton("hessian", iterations = 4, curvature_share = 0.4, batch = 200))
    ledger <- run_ledger(fit)
    expect_equal(ledger$what[1:5], c(rep("batch step", 4), "gradient"))
    expect_equal(head(fit$trace$query, 3), c("batch gradient", "batch trace", "batch direction"))
    step <- ledger[1, ]
    # The gradient uses 60 percent of the base mechanism's mu^2.
    mu <- step$sensitivity / step$scale / sqrt(0.6)
    event <- event_subsample(event_gaussian(1 / mu, neighbours), 0.05, fit$batch$scheme)
    expect_equal(dp_rdp(event, budget$order) / budget$order, step$rho, tolerance = 1e-6)
    expect_equal(step$sensitivity, logistic_change(0, neighbours) / 200, tolerance = 1e-7)
  }
})

test_that("lazy curvature is of all rows, once; gradients are on batches", {
  fit <- study("lazy", iterations = 20)
  expect_equal(run_ledger(fit)$what, c("majorant", rep("batch gradient", 20), "gradient"))
  expect_equal(fit$batch$share, 0.95 * 0.9)
  expect_equal(fit$iterations[["planned"]], 20)
})

test_that("the default batch is larger where steps are few, and follows from public numbers", {
  expect_equal(study("lazy")$batch$size, 200) # n / 20
  expect_equal(study("direct")$batch$size, 800) # n / 5
  expect_equal(study("direct", eps = 0.001)$batch$size, 20) # n / 200
  expect_equal(study("direct", batch = 37)$batch$size, 37)
})

test_that("noise and batches are reproduced by their seed", {
  expect_identical(coef(study("qu", iterations = 3)), coef(study("qu", iterations = 3)))
  expect_false(identical(coef(study("qu", iterations = 3)), coef(study("qu", iterations = 3, seed = 2))))
})

test_that("print says what was asked on batches", {
  text <- capture.output(summary(study("qu", iterations = 3, batch = 50)))
  expect_true(any(text == "Steps on batches of 50 records, without replacement (rate 1.25 %)"))
  expect_match(text, "Run: 3 gradients on batches, 3 traces on batches, 3 directions on batches, 1", all = FALSE)
})
