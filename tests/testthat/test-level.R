# Where there is much noise: the level of a numeric response in narrower bounds, and the level alone.

frame <- function(n, columns = 30) {
  set.seed(1)
  x <- matrix(runif(n * columns, -1, 1), n)
  data.frame(x, y = 0.3 * x[, 1] + rnorm(n))
}
fit_of <- function(data, eps, seed = 1, loss = loss_squared(c(-10, 10)), ...) {
  set.seed(seed)
  names <- setdiff(names(data), "y")
  quiet_fit(y ~ ., data, method = "auto", eps = eps, delta = 1e-6, loss = loss,
            bounds = stats::setNames(rep(list(c(-1, 1)), length(names)), names), noise = "reproducible", ...)
}

# The fractions of the budget that look for the range of the response, and what leaves a release an n mu of `own`.
looks_of <- function(fit) dp_ledger(fit)$rho[dp_ledger(fit)$what == "ranges"] / fit$privacy$rho
precise <- function(fit, own) own^2 / (fit$n^2 * 2 * fit$privacy$rho)

test_that("the level does not depend on the width of the bounds where most responses are far from them", {
  d <- frame(2000)
  seeds <- seq_len(long_size(20, 10))
  errors <- function(loss) vapply(seeds, function(seed) fit_of(d, 0.2, seed, loss)$level$noise * loss$half, 0)
  near <- errors(loss_squared(c(-10, 10)))
  expect_lt(stats::median(errors(loss_squared(c(-160, 160)))), 2 * stats::median(near))
  expect_lt(stats::median(errors(loss_huber(c(-160, 160)))), 2 * stats::median(near))
  fit <- fit_of(d, 0.2)
  expect_equal(fit$response$bounds, c(-10, 10))
  expect_equal(looks_of(fit), precise(fit, 30), tolerance = 1e-6)
  expect_equal(looks_of(fit_of(d, 0.6)), 0.03, tolerance = 1e-9)
  expect_length(looks_of(fit_of(d, 5)), 0L)
})

test_that("where no bounds of the response are found, a larger part of the budget looks for them again", {
  d <- frame(1000, 3)
  d$y <- d$y + 15
  half <- transform(d, y = ifelse(seq_len(1000) %% 2 == 0, NA, y))
  fits <- lapply(1:10, function(seed) suppressWarnings(fit_of(half, 0.1, seed, "squared")))
  looks <- lengths(lapply(fits, looks_of))
  for (fit in fits) expect_lte(sum(dp_ledger(fit)$rho), fit$privacy$rho * (1 + 1e-9))
  expect_gte(sum(looks == 2L), 4)
  missed <- vapply(fits, function(fit) isTRUE(fit$level$missed), NA)
  expect_lte(sum(missed), 1)
  expect_true(all(looks[missed] == 2L))
  twice <- fits[[which(looks == 2L)[1]]]
  expect_equal(looks_of(twice), c(0.25, min(0.6, precise(twice, 45)) - 0.25), tolerance = 1e-6)
  # Looks around the values, which are far from zero, are small.
  expect_lte(sum(looks_of(fit_of(d, 3, loss = "squared"))[-1]), 0.04)
  never <- suppressWarnings(fit_of(transform(d, y = NA_real_), 20, loss = "huber"))
  expect_lte(sum(looks_of(never)), 0.6 + 1e-9)
})

test_that("a range in the bounds that is next to nothing is not taken", {
  d <- frame(500, 3)
  local_value("look_for_range", function(...) structure(c(0, 2^-55), found = TRUE))
  for (loss in list(loss_squared(c(10, 110)), loss_huber(c(10, 110)))) {
    fit <- fit_of(transform(d, y = y + 60), 0.5, loss = loss)
    expect_true(all(is.finite(coef(fit))))
    expect_gt(fit$level$noise, 0.001)
  }
})

test_that("the level is in the units of the response, wherever in the bounds it is", {
  d <- frame(1500)
  for (middle in long_values(c(-80, -30, 0, 5, 60), 2)) {
    starts <- vapply(1:10, function(seed) {
      fit <- fit_of(transform(d, y = y + middle), 0.5, seed, loss_squared(c(-100, 100)))
      100 * fit$level$start
    }, 0)
    expect_equal(mean(starts), middle + mean(d$y), tolerance = 2 / max(abs(middle), 1))
  }
})

test_that("a range that ends in the middle of the bounds has its other side, too", {
  d <- frame(2000)
  noise <- function(y) {
    d$y <- y
    stats::median(vapply(1:9, function(seed) fit_of(d, 0.2, seed)$level$noise, 0))
  }
  size <- runif(2000, 0, 2.5)
  expect_equal(noise(size) / noise(size * c(-1, 1)), 1, tolerance = 0.01)
})

test_that("with too much noise a fit is the level alone, and says so", {
  d <- frame(2000)
  for (loss in list(loss_squared(c(-10, 10)), loss_huber(c(-10, 10)))) {
    fit <- fit_of(d, 0.2, loss = loss)
    expect_equal(unname(coef(fit)[-1]), numeric(30))
    expect_equal(fit$status, "noise")
    expect_output(print(fit), "constant prediction, as the noise is too large")
    expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
    expect_false("residual gradient" %in% dp_ledger(fit)$what)
    expect_true("residual gradient" %in% dp_ledger(fit_of(d, 0.6, loss = loss))$what)
  }
})

test_that("a fit that is its level alone has no scale of residuals, and says so", {
  d <- frame(2000, 3)
  for (fit in list(fit_of(d, 0.02), quiet_fit(y ~ 1, d, method = "auto", eps = 1, loss = loss_squared(c(-10, 10))))) {
    expect_error(sigma(fit), "level alone", class = "dpsosp_error_absent")
    shown <- utils::capture.output(print(summary(fit)))
    expect_match(shown, "No certificate: the fit is its level alone", all = FALSE)
    expect_no_match(shown, "sigma")
    expect_true(all(is.na(unlist(generics::glance(fit)[c("sigma", "r.squared")]))))
  }
})
