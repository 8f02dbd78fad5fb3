# With this budget the noise is far below the differences that matter.
plenty <- function() dp_budget(mu = 1e9)
tiny <- 1e7
responses <- function(y) {
  list(signs = y, bits = (y + 1) / 2, logical = y > 0, factor = factor(ifelse(y > 0, "b", "a"), levels = c("a", "b")),
       integer = as.integer(y))
}

test_that("answers are those of the clipped mean loss", {
  p <- problem_matrix(200, 3)
  w <- c(0.3, -1, 2, 0.5)
  v <- c(1, 0.2, -0.3, 1)
  steps <- c(2, 0.5, 0.1)
  p$x[1:150, 2] <- 0
  tried <- expand.grid(storage = storages, loss = c("logistic", "sigmoid"), intercept = c(TRUE, FALSE),
                       radius = c(0.8, 1.4, 5), stringsAsFactors = FALSE) # all rows clipped, some, none
  for (i in seq_len(nrow(tried))) {
    with(tried[i, ], {
      z <- unit_rows(rounded(storage, p$x), radius, intercept)
      at <- if (intercept) w else w[-1]
      along <- if (intercept) v else v[-1]
      o <- stored_oracle(storage, p$x, p$y, loss, plenty(), radius, intercept)
      expect_near(dp_value(o, at, mu = tiny), exact_value(z, p$y, at, loss))
      expect_near(dp_gradient(o, at, mu = tiny), exact_gradient(z, p$y, at, loss))
      expect_near(dp_hessian(o, at, mu = tiny), exact_hessian(z, p$y, at, loss))
      here <- exact_value(z, p$y, at, loss)
      decrease <- vapply(steps, function(s) here - exact_value(z, p$y, at + s * along, loss), 0)
      searched <- dp_line_search(o, at, along, steps, mu = tiny)
      expect_near(searched$decrease, decrease, searched$sd)
    })
  }
})

test_that("every coding of the response means the same", {
  p <- problem_matrix(100)
  w <- c(0.1, 1, -1)
  expected <- exact_gradient(unit_rows(p$x, 2), p$y, w)
  for (y in responses(p$y)) {
    o <- dp_oracle(p$x, y, "logistic", plenty(), 2)
    expect_near(dp_gradient(o, w, mu = tiny), expected)
  }
})

test_that("a row with a missing or infinite value is a null record", {
  p <- problem_matrix(200)
  w <- c(0.1, 1, -1)
  x <- p$x
  y <- p$y
  x[3, 1] <- NA
  x[50, 2] <- Inf
  x[51, 2] <- -Inf
  x[60, 1] <- NaN
  x[61, ] <- 1e200 # its squared norm is not finite
  y[c(3, 4)] <- NA
  known <- y
  known[c(50, 51, 60, 61)] <- NA
  for (storage in storages) {
    o <- stored_oracle(storage, x, y, "logistic", plenty(), 2)
    z <- unit_rows(rounded(storage, p$x), 2)
    expect_near(dp_gradient(o, w, mu = tiny), exact_gradient(z, known, w))
    expect_near(dp_value(o, w, mu = tiny), exact_value(z, known, w))
    expect_near(dp_hessian(o, w, mu = tiny), exact_hessian(z, known, w))
  }
  nothing <- dp_oracle(p$x, rep(NA, 200), "logistic", plenty(), 2)
  expect_near(dp_gradient(nothing, w, mu = tiny), numeric(3))
})

test_that("sensitivities are those of the theory, and half of them (but for the value) under zero-out", {
  n <- 100
  p <- problem_matrix(n)
  w <- c(0.1, 1, -1)
  # Largest |l'|; range [-a, b] of l''.
  bend <- 1 / (6 * sqrt(3))
  known <- list(logistic = list(l = 1, a = 0, b = 1 / 4), sigmoid = list(l = 1 / 4, a = bend, b = bend))
  for (loss in names(known)) {
    k <- known[[loss]]
    hessian <- c(`replace-one` = max(k$a + k$b, sqrt(2) * max(k$a, k$b)), `zero-out` = max(k$a, k$b))
    m <- sqrt(sum(w^2))
    range <- exact[[loss]]$value(-m) - exact[[loss]]$value(m)
    from_zero <- exact[[loss]]$value(-m) - exact[[loss]]$value(0)
    for (relation in c("replace-one", "zero-out")) {
      slope <- if (loss == "logistic") logistic_change(m, relation) else if (relation == "replace-one") 2 / 4 else 1 / 4
      budget <- dp_budget(mu = 10)
      o <- dp_oracle(p$x, p$y, loss, budget, 2, neighbours = relation)
      g <- dp_gradient(o, w, mu = 0.5)
      h <- dp_hessian(o, w, mu = 0.5)
      v <- dp_value(o, w, mu = 0.5)
      expect_equal(attr(g, "sd"), slope / n / 0.5, tolerance = 1e-6)
      expect_equal(attr(h, "sd"), hessian[[relation]] / n / 0.5, tolerance = 1e-6)
      expect_equal(dp_ledger(budget)$sensitivity[1:2], c(slope, hessian[[relation]]) / n, tolerance = 1e-6)
      # At least the change by one record, at most the range or the Lipschitz bound.
      changes <- if (relation == "replace-one") range else from_zero
      expect_gte(attr(v, "sd") * 0.5 * n, changes * (1 - 1e-9))
      expect_lte(attr(v, "sd") * 0.5 * n, max(range, k$l * m) * (1 + 1e-6))
    }
  }
})

test_that("the sensitivity of a gradient is reached", {
  # Two badly classified records on opposite sides of w have slopes of almost 1 in opposite directions.
  n <- 10
  w <- c(-1e6, 0)
  record <- function(side) rbind(c(0.01, side * sqrt(1 - 0.01^2)), matrix(0, n - 1, 2))
  answer <- function(x) dp_gradient(dp_oracle(x, rep(1, n), "logistic", plenty(), 1, FALSE), w, mu = tiny)
  change <- sqrt(sum((answer(record(1)) - answer(record(-1)))^2))
  expect_lte(change, 2 / n * (1 + 1e-6))
  expect_gt(change, 2 / n * 0.9999)
})

test_that("noise has the standard deviation that is stated", {
  p <- problem_matrix(50)
  w <- c(0, 1, -1)
  times <- 400
  within <- function(x, sd) {
    # Sum of squares over sd^2 is chi-square; limits with probability 1e-6 on either side.
    s <- sum(x^2) / sd^2
    expect_gt(s, qchisq(1e-6, length(x)))
    expect_lt(s, qchisq(1e-6, length(x), lower.tail = FALSE))
  }
  set.seed(4)
  for (noise in c("secure", "reproducible")) {
    budget <- dp_budget(mu = 100)
    o <- dp_oracle(p$x, p$y, "logistic", budget, 2, noise = noise)
    z <- unit_rows(p$x, 2)
    g <- replicate(times, dp_gradient(o, w, mu = 0.1) - exact_gradient(z, p$y, w))
    within(g, attr(dp_gradient(o, w, mu = 0.1), "sd"))
    h <- replicate(times, dp_hessian(o, w, mu = 0.1) - exact_hessian(z, p$y, w))
    sd <- attr(dp_hessian(o, w, mu = 0.1), "sd")
    diagonal <- diag(3) == 1
    within(apply(h, 3, `[`, diagonal), sd)
    within(apply(h, 3, `[`, lower.tri(diagonal)), sd / sqrt(2))
    one <- dp_hessian(o, w, mu = 0.1)
    expect_identical(one, structure(t(one), sd = attr(one, "sd")))
    steps <- c(4, 1)
    d <- replicate(times, dp_line_search(o, w, c(1, 0, 0), steps, mu = 0.1)$decrease)
    true <- vapply(steps, function(s) exact_value(z, p$y, w) - exact_value(z, p$y, w + c(s, 0, 0)), 0)
    sd <- dp_line_search(o, w, c(1, 0, 0), steps, mu = 0.1)$sd
    within(d[1, ] - true[1], sd[1])
    within(d[2, ] - true[2], sd[2])
    rise <- function(length) log1p(exp(norm + length)) - log1p(exp(norm - length))
    norm <- sqrt(sum(w^2))
    expect_equal(sd[1] / sd[2], rise(4) / rise(1), tolerance = 1e-6)
  }
})

test_that("sparse vector and exponential mechanism choose well when the cost is large", {
  p <- problem_matrix(500)
  z <- unit_rows(p$x, 2)
  w <- c(0, 0, 0)
  along <- -exact_gradient(z, p$y, w)
  steps <- 2^(10:0)
  gain <- vapply(steps, function(s) exact_value(z, p$y, w) - exact_value(z, p$y, w + s * along), 0)
  o <- dp_oracle(p$x, p$y, "logistic", dp_budget(rho = 1e7), 2)
  choose <- function(...) dp_line_search(o, w, along, steps, rho = 1e5, ...)
  expect_equal(choose(mechanism = "exponential"), steps[which.max(gain)])
  expect_equal(choose(mechanism = "svt"), steps[which(gain >= 0)[1]])
  enough <- gain[8] / steps[8] * 0.999
  expect_equal(choose(mechanism = "svt", sufficient = enough), steps[which(gain >= enough * steps)[1]])
  expect_identical(choose(mechanism = "svt", sufficient = 10), NA_real_)
  expect_equal(choose()$step, steps)
})

test_that("an oracle keeps the data that it was given", {
  p <- problem_matrix(100)
  w <- c(0, 1, 1)
  expected <- exact_gradient(unit_rows(p$x, 2), p$y, w)
  x <- p$x
  y <- p$y
  o <- dp_oracle(x, y, "logistic", plenty(), 2)
  x[] <- 100
  y[] <- 1
  expect_near(dp_gradient(o, w, mu = tiny), expected)
  rm(x, y)
  gc()
  junk <- replicate(100, runif(200), simplify = FALSE)
  expect_near(dp_gradient(o, w, mu = tiny), expected)
  whole <- matrix(c(1L, 0L, 2L, -1L), 2)
  o <- dp_oracle(whole, c(1, -1), "logistic", plenty(), 2)
  expect_near(dp_gradient(o, w, mu = tiny), exact_gradient(unit_rows(whole, 2), c(1, -1), w))
})

test_that("secure noise leaves R's generator alone; reproducible noise follows set.seed()", {
  p <- problem_matrix(100)
  draw <- function(noise) {
    o <- dp_oracle(p$x, p$y, "logistic", dp_budget(rho = 10), 2, noise = noise)
    list(dp_value(o, c(1, 0, 0), mu = 0.1), dp_gradient(o, c(1, 0, 0), mu = 0.1), dp_hessian(o, c(1, 0, 0), mu = 0.1),
         dp_line_search(o, c(1, 0, 0), c(1, 0, 0), 2:1, mu = 0.1))
  }
  set.seed(1)
  before <- .Random.seed
  first <- draw("secure")
  expect_identical(.Random.seed, before)
  set.seed(1)
  second <- draw("secure")
  for (i in seq_along(first)) expect_false(identical(first[[i]], second[[i]]))
  set.seed(1)
  third <- draw("reproducible")
  expect_false(identical(.Random.seed, before))
  set.seed(1)
  expect_identical(draw("reproducible"), third)
  expect_false(identical(draw("reproducible"), third))
})

test_that("wrong questions are refused and charge nothing", {
  p <- problem_matrix(20)
  budget <- dp_budget(mu = 1)
  o <- dp_oracle(p$x, p$y, "logistic", budget, 2)
  expect_errors(
    dp_oracle(p$x, p$y),
    dp_oracle(p$x, p$y > 0),
    dp_oracle(p$x, p$y > 0, budget = 1, radius = 1),
    dp_oracle(p$x, p$y > 0, budget = budget),
    dp_oracle(p$x, p$y > 0, budget = budget, radius = 0),
    dp_oracle(p$x, p$y[-1] > 0, budget = budget, radius = 1),
    dp_oracle(as.data.frame(p$x), p$y > 0, budget = budget, radius = 1),
    dp_oracle(p$x, p$y, "hinge", budget, 1),
    dp_gradient("o", 1, mu = 1),
    dp_gradient(o, c(0, 0), mu = 1),
    dp_gradient(o, c(0, 0, NA), mu = 1),
    dp_gradient(o, c(0, 0, 1e200), mu = 1),
    dp_gradient(o, c(0, 0, 0)),
    dp_gradient(o, c(0, 0, 0), mu = 1, rho = 1),
    dp_gradient(o, c(0, 0, 0), mu = 0),
    dp_gradient(o, c(0, 0, 0), mu = 1e-200),
    dp_gradient(o, c(0, 0, 0), mu = 2),
    dp_line_search(o, c(0, 0, 0), c(0, 0, 1), numeric(), mu = 0.1),
    dp_line_search(o, c(0, 0, 0), c(0, 0, 1), c(1, 0), mu = 0.1),
    dp_line_search(o, c(0, 0, 0), c(0, 0, 1), 1, mu = 0.1, mechanism = "armijo"),
    dp_line_search(o, c(0, 0, 0), c(0, 0, 1), 1, mu = 0.1, mechanism = "svt")
  )
  for (mu in c(2, 1e160, 1e300)) {
    expect_error(dp_gradient(o, c(0, 0, 0), mu = mu), class = "dpsosp_budget_exhausted")
  }
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("an oracle says what it is", {
  p <- problem_matrix(20)
  expect_snapshot(print(dp_oracle(p$x, p$y, "sigmoid", dp_budget(mu = 1), 2)))
})

test_that("what is computed from a release is plain numbers: the noise of it is another one", {
  p <- problem_matrix(50)
  o <- dp_oracle(p$x, p$y, "logistic", dp_budget(mu = 1), 2)
  w <- c(0, 0, 0)
  g <- dp_gradient(o, w, mu = 0.1)
  h <- dp_hessian(o, w, mu = 0.1)
  v <- dp_value(o, w, mu = 0.1)
  for (x in list(g * 2, 2 * g, g + g, -g, abs(g), round(g, 3), cumsum(g), g[2], sum(g), h %*% g, h / 2, v - 1, log(v^2),
                 h[1, ], g > 0, solve(h, g))) {
    expect_null(attr(x, "sd"))
    expect_null(oldClass(x))
  }
  expect_identical(g * 2, 2 * as.vector(g))
  expect_identical(h + 1, 1 + h[, ])
  expect_identical(dim(h / 2), c(3L, 3L))
  expect_true(is.numeric(g) && is.matrix(h) && is.numeric(attr(g, "sd")))
  expect_identical(capture.output(g), capture.output(unclass(g)))
  expect_identical(dim(as.data.frame(h)), c(3L, 3L))
})

test_that("an oracle of a formula is that of its mapped rows, and coef() maps back", {
  d <- problem_frame(200)
  set.seed(3)
  budget <- dp_budget(mu = 10)
  oracle <- dp_oracle(y ~ a + b + f, d, budget = budget, bounds = frame_bounds, noise = "reproducible")
  x <- cbind((d$a - 20) / 10, d$b, d$f == "v", d$f == "w")
  plain <- dp_oracle(x, d$y, "logistic", dp_budget(mu = 10), radius = 2, noise = "reproducible")
  w <- c(0.3, -1, 2, 0.5, 0)
  set.seed(4)
  one <- dp_gradient(oracle, w, mu = 1)
  set.seed(4)
  expect_equal(one, dp_gradient(plain, w, mu = 1))
  found <- coef(oracle, w)
  expect_named(found, c("(Intercept)", "a", "b", "fv", "fw"))
  expect_equal(unname(found), c((0.3 + 1 * 20 / 10) / 2, -1 / 20, 1, 0.25, 0))
  expect_equal(coef(plain, w), w / 2)
  expect_equal(drop(cbind(1, d$a, d$b, d$f == "v", d$f == "w") %*% found), drop(cbind(1, x) %*% w) / 2,
               ignore_attr = TRUE)
})

test_that("an oracle of a formula needs declared ranges and says what is for matrices", {
  d <- problem_frame(50)
  wrong <- function(text, ...) {
    expect_error(dp_oracle(y ~ a + b, d, budget = dp_budget(mu = 1), ...), text, class = "dpsosp_error_argument")
  }
  wrong("`bounds` must declare the ranges.*Missing: `a`, `b`")
  wrong("Missing: `b`", bounds = frame_bounds["a"])
  wrong("`intercept` is for a matrix", bounds = frame_bounds, intercept = FALSE)
  expect_error(dp_oracle(y ~ s(a), d, budget = dp_budget(mu = 1), bounds = frame_bounds["a"]), "smooth")
  expect_error(dp_oracle(as.matrix(d$a), d$y, budget = dp_budget(mu = 1), radius = 2, bounds = list()),
               "`bounds` is for a formula", class = "dpsosp_error_argument")
  expect_error(dp_oracle(y ~ a, d, bounds = frame_bounds["a"]), "`budget` is missing")
})

test_that("what an oracle of a formula is given in place of a data frame is named, and what it takes", {
  d <- problem_frame(50)
  given <- function(y, ...) dp_oracle(y ~ a, y, budget = dp_budget(mu = 1), bounds = frame_bounds["a"], ...)
  expect_error(given(as.matrix(d$a)), "With a formula `y` must be a data frame, not a numeric matrix",
               class = "dpsosp_error_argument")
  source <- dp_source(function() {
    left <- list(d)
    function() {
      chunk <- left[1][[1]]
      left <<- left[-1]
      chunk
    }
  }, levels = levels_of(d))
  expect_error(given(source), "not a dp_source. A source takes the place of a matrix", class = "dpsosp_error_argument")
  expect_error(dp_oracle(y ~ a, data = d, budget = dp_budget(mu = 1)), "the data frame is `y`", class = "dpsosp_error")
  # Losses without a bound of the slope are not offered.
  d$k <- 1
  error <- expect_error(dp_oracle(k ~ a, d, budget = dp_budget(mu = 1), bounds = frame_bounds["a"]), "loss_huber")
  expect_no_match(conditionMessage(error), "squared")
  error <- expect_error(dp_oracle(k ~ a, d, "squared", dp_budget(mu = 1), bounds = frame_bounds["a"]), "loss_huber")
  expect_no_match(conditionMessage(error), "method")
})

test_that("an oracle whose rows were freed does not say that it was restored", {
  p <- problem_matrix(50)
  oracle <- dp_oracle(p$x, p$y, "logistic", dp_budget(mu = 1), radius = 2)
  .Call(ffi_oracle_close, oracle$pointer)
  closed <- "belonged to a fit that has ended"
  for (one in list(oracle, unserialize(serialize(oracle, NULL)))) {
    expect_error(dp_gradient(one, numeric(3), mu = 0.1), closed, class = "dpsosp_error_closed")
  }
})
