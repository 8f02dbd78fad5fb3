# The Poisson loss and methods that bound its slope: agreement with glm(), counts of any size, predictions and errors.

counts <- function(n, seed = 1) {
  set.seed(seed)
  d <- data.frame(a = runif(n, -1, 1), b = runif(n, 0, 10), f = factor(sample(c("u", "v"), n, TRUE)))
  d$count <- rpois(n, exp(0.5 + 0.8 * d$a - 0.1 * d$b + 0.4 * (d$f == "v")))
  d
}
declared <- list(a = c(-1, 1), b = c(0, 10))
poisson_fit <- function(d, eps = 2, max = 10, method = "newton", ...) {
  set.seed(2)
  quiet_fit(count ~ ., d, eps = eps, delta = 1e-6, bounds = declared, loss = loss_poisson(max), method = method,
            noise = "reproducible", ...)
}

test_that("with much budget the coefficients are those of glm()", {
  d <- counts(3000)
  expected <- coef(glm(count ~ ., poisson, d))
  expect_equal(coef(poisson_fit(d, 1e6, 20))[names(expected)], expected, tolerance = 0.005)
  # The perturbed minimiser has a small ridge.
  expect_equal(coef(poisson_fit(d, 1e6, 20, "objpert"))[names(expected)], expected, tolerance = 0.03)
  # Counts above the largest one are clipped to it.
  expect_identical(coef(poisson_fit(transform(d, count = ifelse(count == max(count), 1e5, count)), max = max(d$count))),
                   coef(poisson_fit(d, max = max(d$count))))
})

test_that("all methods take it that need no Hessian, and the others say why", {
  d <- counts(400)
  methods <- c("newton", "newton-b", "objpert", "outpert", "gd", "sgd", "blsgd", "blsgd-ac", "blgd", "agd",
               "newton-ridge", "auto")
  for (method in long_values(methods)) {
    fit <- poisson_fit(d, method = method)
    expect_true(all(is.finite(coef(fit))), info = method)
  }
  for (method in c("2opt-ls", "tr", "cubic")) {
    expect_error(poisson_fit(d, method = method), class = "dpsosp_error_nonsmooth")
  }
})

test_that("the noise is that of a slope of one, whatever the largest count is", {
  x <- matrix(runif(600, -0.5, 0.5), 300)
  for (max in c(1, 50)) {
    oracle <- dp_oracle(x, rpois(300, 3), loss_poisson(max), dp_budget(mu = 1), 2)
    gradient <- dp_gradient(oracle, numeric(3), mu = 0.5)
    expect_equal(dp_ledger(oracle$budget)$sensitivity, 2 / 300, tolerance = 1e-6)
  }
})

test_that("a gradient is the mean of clipped counts' slopes", {
  set.seed(3)
  x <- matrix(runif(600, -0.5, 0.5), 300)
  y <- c(NA, -3, Inf, 100, rpois(296, 3))
  w <- c(0.4, -1, 2)
  oracle <- dp_oracle(x, y, loss_poisson(5), dp_budget(mu = 1e9), 2)
  z <- cbind(1, x) / 2
  z[c(1, 3), ] <- 0
  slope <- pmin(exp(z %*% w) / 5, 1) - pmin(pmax(ifelse(is.finite(y), y, 0), 0), 5) / 5
  expect_equal(as.vector(dp_gradient(oracle, w, mu = 1e8)), drop(crossprod(z, slope)) / 300, tolerance = 1e-5,
               ignore_attr = TRUE)
})

test_that("predictions are logarithms and expected counts, whose errors are evaluated", {
  d <- counts(3000)
  fit <- poisson_fit(d, 100)
  new <- counts(500, 9)
  link <- predict(fit, new)
  expect_identical(predict(fit, new, "response"), exp(link))
  expect_error(predict(fit, new, "class"), class = "dpsosp_error_argument")
  expect_equal(unname(link[1]), sum(coef(fit) * c(1, new$a[1], new$b[1], new$f[1] == "v")), tolerance = 1e-9)
  found <- suppressMessages(dp_evaluate(fit, new, eps = 1e5, delta = 1e-6))
  exact <- mean(abs(pmin(exp(link), 10) - pmin(new$count, 10)))
  expect_equal(found$estimates$estimate[found$estimates$metric == "absolute_error"], exact, tolerance = 1e-3)
})

test_that("the largest count is asked for, and types are", {
  d <- counts(50)
  expect_errors(
    loss_poisson(0.5),
    loss_poisson(1e7),
    quiet_fit(count ~ a, d, eps = 1, delta = 1e-6, bounds = declared["a"], loss = "poisson", method = "newton"),
    quiet_fit(f ~ a, d, eps = 1, delta = 1e-6, bounds = declared["a"], loss = loss_poisson(5))
  )
  expect_output(print(loss_poisson(5)), "poisson (response in [0, 5])", fixed = TRUE)
})

test_that("little noise does not let the iterates of rare counts run away", {
  set.seed(1)
  d <- data.frame(a = runif(4e5, -0.7, 0.7), b = runif(4e5, -0.7, 0.7))
  d$y <- rpois(4e5, 5e-4 * exp(d$a - d$b))
  fit <- quiet_fit(y ~ a + b, d, eps = 4, delta = 1e-10, loss = loss_poisson(), method = "auto",
                   bounds = list(a = c(-1, 1), b = c(-1, 1)), noise = "reproducible")
  expect_lt(max(abs(coef(fit) - c(log(5e-4), 1, -1))), 1)
})
