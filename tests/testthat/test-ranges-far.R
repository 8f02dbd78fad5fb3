# Ranges of columns that octaves of x do not show, and what is said of values beyond a range.

release_of <- function(columns, budget = dp_budget(mu = 1), rho = 1e-3, cutting = TRUE, known = no_ranges) {
  private_ranges(lapply(columns, as.double), budget, rho, "replace-one", TRUE, cutting, known)
}

far_problem <- function(n = 4000) {
  set.seed(4)
  d <- data.frame(a = runif(n, -2, 2), b = rnorm(n))
  d$z <- 3 + 2 * d$a - d$b + rnorm(n)
  d
}

said_fit <- function(..., eps = 1) {
  warned <- character()
  set.seed(1)
  fit <- withCallingHandlers(
    suppressMessages(dp_sosp(..., eps = eps, delta = 1e-6, noise = "reproducible")),
    dpsosp_warning_ranges = function(w) {
      warned <<- c(warned, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  )
  list(fit = fit, warned = warned)
}

test_that("slopes of columns and responses far from zero are right, or a warning names `bounds`", {
  d <- far_problem()
  for (o in c(2000, 1e5, -1e6, 1e9)) {
    d$x <- d$a + o
    d$w <- d$z + o
    x <- said_fit(z ~ x + b, d, loss = "squared")
    w <- said_fit(w ~ a + b, d, loss = "squared")
    expect_lt(abs(coef(x$fit)[["x"]] - 2), 0.2)
    expect_lt(abs(coef(w$fit)[["a"]] - 2), 0.2)
    expect_lt(diff(x$fit$design$ranges["x", ]), 64)
    expect_lt(diff(w$fit$loss$response), 1024)
  }
  h <- said_fit(w ~ a + b, transform(d, w = z + 1e5), loss = "huber")
  expect_lt(abs(coef(h$fit)[["a"]] - 2), 0.3)
})

test_that("numbers that no cells tell apart are told", {
  n <- 20000
  x <- 1e15 + sample(c(0, 0.125, 0.25), n, TRUE)
  found <- release_of(list(x = x, constant = rep(42, n), b = rnorm(n)))
  expect_setequal(attr(found, "single"), c("x", "constant"))
  expect_true(found["constant", "lower"] <= 42 && found["constant", "upper"] >= 42)
  d <- data.frame(x = rep(42, 3000), b = rnorm(3000))
  out <- said_fit(b ~ x, d, loss = "squared")
  expect_match(out$warned, "`x` seem to be one value.*`bounds`", all = FALSE)
})

test_that("a closer look costs what is said, of the same budget, and only where columns are narrow", {
  n <- 20000
  set.seed(2)
  columns <- list(a = rnorm(n), b = rbinom(n, 1, 0.3), c = rexp(n), d = sample(3, n, TRUE))
  budget <- dp_budget(mu = 1)
  release_of(columns, budget, 0.02)
  expect_equal(budget_state(budget)$rho, c(0.015, 0.005))
  budget <- dp_budget(mu = 1)
  release_of(c(columns, list(e = 1e7 + rnorm(n))), budget, 0.02)
  ledger <- budget_state(budget)
  expect_gt(length(ledger$rho), 3L)
  expect_equal(ledger$rho[-(1:2)], c(rep(zoom_share, length(ledger$rho) - 3L), around_share) * 0.02)
  expect_equal(ledger$sensitivity[1], sqrt(10))
  expect_equal(ledger$sensitivity[-(1:2)], rep(sqrt(2), length(ledger$rho) - 2L))
  expect_lte(sum(ledger$rho), 0.02 * (1 + zoom_most * zoom_share + around_share))
  expect_equal(ledger$scale, ledger$sensitivity / sqrt(2 * ledger$rho), tolerance = 1e-9)
  budget <- dp_budget(mu = 1)
  release_of(columns, budget, 0.02, cutting = FALSE)
  expect_equal(budget_state(budget)$rho, ranges_keeping$octaves * 0.02)
})

test_that("a record moves one count of each release by one, also of closer ones", {
  x <- 1e5 + rnorm(3000)
  at <- around(octave_breaks, 1e5)
  counts <- function(x, breaks) {
    set.seed(7)
    release_counts(list(a = x), list(breaks), dp_budget(mu = 1), 0.02, "replace-one", TRUE)$counts$a
  }
  for (breaks in list(at$breaks, equal_cells(c(99990, 100010), zoom_cells))) {
    for (new in c(-1e300, 100009, 99991.5, NA)) {
      change <- counts(replace(x, 1, new), breaks) - counts(x, breaks)
      expect_lte(sum(abs(change) > 0.5), 2)
      expect_lt(max(abs(change)), 1 + 1e-6)
    }
  }
  expect_false(is.unsorted(at$breaks, strictly = TRUE))
  expect_true(all(1e5 + octave_breaks[at$place] < 1e5 + octave_breaks[at$place + 1L]))
})

test_that("a column that is mostly zero has the range of the others", {
  set.seed(3)
  n <- 5000
  x <- ifelse(runif(n) < 0.14, sample(1:14, n, TRUE, prob = 1 / (1:14)), 0)
  rho <- 0.05 * dp_convert(eps = 1, delta = 1 / n^2)$mu^2 / 2
  upper <- function(cutting, rho) {
    replicate(long_size(100, 40), release_of(list(x = x, a = runif(n)), rho = rho, cutting = cutting)["x", "upper"])
  }
  expect_gte(mean(upper(FALSE, rho) >= 8), 0.9)
  expect_lt(mean(upper(FALSE, rho) > 64), 0.1)
  # Without intervals, and with little noise: 3 % of all are a fifth of the others.
  expect_gte(mean(upper(TRUE, 100 * rho) >= 10), 0.9)
})

test_that("the fractions of values beyond a range are those of the data", {
  set.seed(5)
  n <- 1e5
  columns <- list(heavy = rlnorm(n, 0, 4), minus = -rlnorm(n, 0, 4), both = 50 * rt(n, 2), even = runif(n, 0, 50))
  found <- release_of(columns, rho = 1e-2)
  told <- attr(found, "beyond")
  expect_equal(told[, c("lower", "upper")], found[, c("lower", "upper")], ignore_attr = TRUE)
  for (name in names(columns)) {
    x <- columns[[name]]
    range <- found[name, ]
    # As far as they count, to 16 times the range.
    near <- abs(x) <= beyond_reach * max(abs(range))
    expect_lt(abs(told[name, "above"] - mean(x > range[2] & near)), 4 * told[name, "above_sd"] + 1e-3)
    expect_lt(abs(told[name, "below"] - mean(x < range[1] & near)), 4 * told[name, "below_sd"] + 1e-3)
  }
  expect_equal(piled_up(told, TRUE)[c("heavy", "minus")], c(heavy = "upper", minus = "lower"))
  expect_false("even" %in% names(piled_up(told, FALSE)))
})

test_that("values that pile up at an end are told, and have a status", {
  set.seed(6)
  n <- 20000
  d <- data.frame(x = rlnorm(n, 0, 3), a = runif(n))
  d$y <- rnorm(n) + d$a + pmin(d$x, 5)
  d$z <- factor(d$y > 3)
  out <- said_fit(z ~ x + a, d, eps = 10)
  expect_match(out$warned, "changes coefficients: of `x` [0-9.]+ % \\(\\+- [0-9.]+ %\\) above.*`bounds`", all = FALSE)
  expect_equal(out$fit$checks$clipped[["x"]], "upper")
  expect_equal(out$fit$status, "ranges")
  shown <- paste(capture.output(print(out$fit)), collapse = " ")
  expect_match(shown, "Ranges (private): x [0, ", fixed = TRUE)
  declared <- said_fit(y ~ x + a, d, loss = "squared", bounds = list(x = I(c(0, 1e4)), a = I(0:1), y = c(-10, 20)))
  expect_null(declared$fit$checks$ranges)
  expect_false(any(grepl("Ranges", capture.output(print(declared$fit)))))
})

test_that("noise alone seldom says that values lie beyond", {
  set.seed(8)
  n <- 5000
  columns <- lapply(1:5, function(i) runif(n, 10, 100))
  names(columns) <- letters[1:5]
  told <- replicate(long_size(200, 60), length(piled_up(attr(release_of(columns, cutting = FALSE), "beyond"), FALSE)))
  expect_lt(mean(told > 0), 0.06)
})

test_that("print() shows few ranges, and summary() all", {
  set.seed(9)
  d <- as.data.frame(matrix(runif(4000 * 6, 0, 10), 4000))
  d$y <- factor(sample(c("no", "yes"), 4000, TRUE))
  fit <- suppressMessages(dp_sosp(y ~ ., d, eps = 2, delta = 1e-6, noise = "reproducible"))
  text <- function(x) gsub(" +", " ", paste(capture.output(print(x)), collapse = " "))
  expect_match(text(fit), "and 3 more (`summary()`)", fixed = TRUE)
  for (name in paste0("V", 1:6)) expect_match(text(summary(fit)), paste0(name, " [0, "), fixed = TRUE)
  ranges <- rbind(c(lower = 99997.25, upper = 100002), c(0, 8192))
  expect_equal(interval_text(ranges), c("[99997.25, 100002]", "[0, 8190]"))
})

test_that("a range of the response in `bounds` is that of the loss, or refused", {
  d <- far_problem(500)
  d$e <- exp(d$z / 4)
  d$k <- rpois(500, exp(d$a))
  d$g <- factor(d$z > 3)
  fit <- function(...) suppressWarnings(suppressMessages(dp_sosp(..., data = d, eps = 1, delta = 1e-6)))
  refused <- function(text, ...) expect_error(fit(...), text, class = "dpsosp_error_argument")
  expect_equal(fit(z ~ a, loss = "squared", bounds = list(z = c(-10, 15)))$loss$response, c(-10, 15))
  expect_equal(fit(log(e) ~ a, loss = "huber", bounds = list(e = c(1, 40)))$loss$response, log(c(1, 40)))
  expect_equal(fit(log(e) ~ a, loss = "huber", bounds = list(`log(e)` = c(-3, 3)))$loss$response, c(-3, 3))
  expect_equal(fit(k ~ a, loss = "poisson", bounds = list(k = c(0, 30)))$loss$response, c(0, 30))
  refused("another", z ~ a, loss = loss_squared(c(-9, 15)), bounds = list(z = c(-10, 15)))
  refused("none follows", log(e) ~ a, loss = "huber", bounds = list(e = c(-1, 40)))
  refused("two classes", g ~ a, bounds = list(g = c(0, 3)))
})

test_that("sources and persons find columns far from zero as memory does", {
  d <- far_problem(3000)
  d$x <- d$a + 1e5
  d$w <- d$z + 1e5
  memory <- said_fit(w ~ x + b, d, loss = "squared")$fit
  path <- withr::local_tempfile(fileext = ".csv")
  write.csv(format(d, digits = 17, trim = TRUE), path, row.names = FALSE, quote = FALSE)
  d[] <- utils::read.csv(path)
  source <- suppressMessages(dp_source(path))
  expect_equal(said_fit(w ~ x + b, source, loss = "squared")$fit$design$ranges, memory$design$ranges)
  d$who <- rep(1:1500, 2)
  set.seed(1)
  persons <- suppressMessages(dp_sosp(w ~ x + b, d, loss = "squared", eps = 2, delta = 1e-6, id = who,
                                      noise = "reproducible"))
  expect_lt(diff(persons$design$ranges["x", ]), 64)
  expect_lt(diff(persons$loss$response), 1024)
})

test_that("a smooth of a column far from zero has its knots where the values are", {
  set.seed(3)
  n <- 20000
  known <- rbind(x = c(lower = NA_real_, upper = NA_real_))
  found <- release_of(list(x = 1e6 + runif(n, -3, 3), a = rnorm(n)), known = known)
  cells <- attr(found, "cells")$x
  expect_lt(diff(found["x", ]), 64)
  expect_gt(sum(cells$mass > 0.01), 8)
})
