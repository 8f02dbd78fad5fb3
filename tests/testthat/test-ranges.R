ranges_of <- function(columns, rho = 1e-3, neighbours = "replace-one", budget = dp_budget(mu = 1)) {
  private_ranges(lapply(columns, as.double), budget, rho, neighbours, TRUE)
}

expect_covers <- function(found, x, column, most = 4) {
  expect_true(attr(found, "found")[[column]], info = column)
  q <- stats::quantile(x, c(0.01, 0.99), names = FALSE)
  ratio <- (found[column, "upper"] - found[column, "lower"]) / (q[2] - q[1])
  expect_gt(ratio, 1 / most)
  expect_lt(ratio, most)
  expect_gt(mean(x >= found[column, "lower"] & x <= found[column, "upper"]), 0.9)
}

test_that("ranges fit their columns at all scales and places", {
  set.seed(4)
  n <- 20000
  columns <- list(
    year = sample(2000:2020, n, TRUE), tiny = 1e-9 * rnorm(n), huge = 1e12 * runif(n),
    negative = -exp(rnorm(n, 3, 0.5)), inflated = ifelse(runif(n) < 0.7, 0, 1000 * rexp(n)),
    uniform = runif(n, -3, 1), far = -1e6 + 1e4 * runif(n)
  )
  found <- ranges_of(columns)
  expect_equal(dimnames(found), list(names(columns), c("lower", "upper")))
  for (name in names(columns)) expect_covers(found, columns[[name]], name)
})

test_that("columns without spread or without values get a usable range", {
  set.seed(3)
  n <- 20000
  found <- ranges_of(list(constant = rep(42, n), zero = rep(0, n), missing = rep(NA, n), infinite = rep(Inf, n)))
  expect_equal(attr(found, "found"), c(constant = TRUE, zero = TRUE, missing = FALSE, infinite = FALSE))
  expect_true(found["constant", "lower"] <= 42 && found["constant", "upper"] >= 42)
  for (name in c("zero", "missing", "infinite")) expect_equal(found[name, ], c(lower = -1, upper = 1))
})

test_that("too few rows give the public default", {
  expect_equal(c(ranges_of(list(a = 5))), c(-1, 1))
  expect_false(attr(ranges_of(list(a = rnorm(50))), "found"))
})

test_that("noise alone almost never passes for data", {
  set.seed(5)
  wrong <- replicate(100, any(attr(ranges_of(list(a = NA, b = NA, c = NA), budget = dp_budget(mu = 1)), "found")))
  # Each fails with probability at most 1 %: ten or more of 100 have probability below 1e-7.
  expect_lt(sum(wrong), 10)
})

test_that("what is charged is what was asked for, before the noise", {
  columns <- list(a = rnorm(5000, 200, 60), b = rnorm(5000))
  budget <- dp_budget(mu = 1)
  ranges_of(columns, 0.01, budget = budget)
  ledger <- budget_state(budget)
  expect_equal(ledger$what, c("ranges", "ranges"))
  expect_equal(ledger$mechanism, c("gaussian", "gaussian"))
  expect_equal(ledger$rho, c(0.0075, 0.0025))
  expect_equal(ledger$sensitivity[1], 2)
  expect_equal(ledger$scale, ledger$sensitivity / sqrt(2 * ledger$rho), tolerance = 1e-9)
  zero_out <- dp_budget(mu = 1)
  ranges_of(columns, 0.01, "zero-out", zero_out)
  expect_equal(budget_state(zero_out)$sensitivity[1], sqrt(2))
  expect_error(ranges_of(columns, 10), class = "dpsosp_budget_exhausted")
})

test_that("the counts have the right means and spread", {
  set.seed(6)
  x <- c(rep(-3, 1000), rep(0.5, 2000), rep(7, 3000), 4, NA, Inf, NaN, -99, 99)
  breaks <- list(c(-4, 0, 1, 4, 7))
  out <- lapply(1:400, function(i) release_counts(list(a = x), breaks, dp_budget(mu = 1), 0.02, "replace-one", TRUE))
  counts <- vapply(out, function(o) o$counts$a, numeric(4))
  sd <- sqrt(2) / sqrt(0.04)
  expect_equal(out[[1]]$sd, sd, tolerance = 1e-9)
  expect_lt(max(abs(rowMeans(counts) - c(1000, 2000, 0, 3001))), 5 * sd / 20)
  # 1600 draws: the standard error of their sd is sd / sqrt(3200).
  expect_lt(abs(stats::sd(counts - c(1000, 2000, 0, 3001)) / sd - 1), 5 / sqrt(3200))
})

test_that("ranges of neighbours differ by their noise alone", {
  # One record changes a count by one; seeds fix the noise.
  x <- rnorm(3000)
  counts <- function(x) {
    set.seed(7)
    release_counts(list(a = x), list(octave_breaks), dp_budget(mu = 1), 0.02, "replace-one", TRUE)$counts$a
  }
  y <- x
  y[1] <- 1e6
  change <- counts(y) - counts(x)
  expect_equal(sort(change[abs(change) > 0.5]), c(-1, 1), tolerance = 1e-6)
  expect_equal(sum(abs(change) > 0.5), 2)
})

octaves_of <- function(x, sd = 0) {
  counts <- tabulate(findInterval(x, octave_breaks), length(octave_breaks) - 1)
  counts + stats::rnorm(length(counts), sd = sd)
}

test_that("mirrored counts give mirrored ranges", {
  set.seed(8)
  for (x in list(rnorm(1e4, 5, 3), rexp(1e4), 2000 + runif(1e4))) {
    counts <- octaves_of(x)
    right <- read_octaves(counts, 1, 1e4)
    left <- read_octaves(rev(counts), 1, 1e4)
    expect_equal(c(left$lower, left$upper), -c(right$upper, right$lower))
  }
})

test_that("a value at the end of an octave belongs to it, on either side of zero", {
  expect_equal(which(octaves_of(1) == 1), magnitudes + 1L + magnitude_of_one)
  expect_equal(which(octaves_of(1 + 1e-9) == 1), magnitudes + 2L + magnitude_of_one)
  expect_equal(which(octaves_of(-1) == 1), magnitudes + 1L - magnitude_of_one)
  expect_equal(which(octaves_of(0) == 1), magnitudes + 1L)
})

test_that("reading without noise keeps all but the tails", {
  for (x in list(qnorm(ppoints(1e5)), qexp(ppoints(1e5)), qunif(ppoints(1e5), 1000, 1100), -qlnorm(ppoints(1e5)))) {
    range <- read_octaves(octaves_of(x), 1e-9, 1e5)
    expect_gte(mean(x >= range$lower & x <= range$upper), 0.93)
    edges <- seq(range$lower, range$upper, length.out = ranges_cells + 1L)
    cells <- tabulate(findInterval(x[x >= range$lower & x < range$upper], edges), ranges_cells)
    fine <- read_cells(cells, range, 1e-9, 1e5)
    expect_gte(fine$lower, range$lower)
    expect_lte(fine$upper, range$upper)
    expect_gte(mean(x >= fine$lower & x <= fine$upper), 0.9)
  }
})

test_that("what may lie beyond a range is in it while the noise could hide it", {
  # Three quarters in (128, 256], 15 % below, 9 % above, like the minutes of a day: noise of 2 % of n must not hide
  # them.
  x <- qnorm(ppoints(4000), 180, 54)
  set.seed(10)
  inside <- replicate(200, {
    range <- read_octaves(octaves_of(x, 80), 80, 4000)
    mean(x >= range$lower & x <= range$upper)
  })
  expect_gt(mean(inside > 0.95), 0.9)
})

test_that("ranges for intervals keep what the counts show, on both sides", {
  outside <- function(x, rule, sd) {
    range <- read_octaves(octaves_of(x, sd), sd, length(x), rule)
    mean(x < range$lower | x > range$upper)
  }
  # 2 % above 32; 3 % below 16; both.
  columns <- list(qnorm(ppoints(2e4), 26.5, 2.7), qnorm(ppoints(2e4), 22, 3.2), qnorm(ppoints(2e4), 24, 4.1))
  set.seed(12)
  for (x in columns) {
    expect_gt(outside(x, ranges_cutting, 1e-9), 0.015)
    expect_equal(outside(x, ranges_keeping, 1e-9), 0)
    # 2 % of n are four standard deviations; 2.5 % in two octaves are more than three.
    expect_lt(mean(replicate(200, outside(x, ranges_keeping, 100)) > 0.01), 0.1)
    expect_equal(outside(-x, ranges_keeping, 1e-9), 0)
  }
})

test_that("ranges for intervals seldom reach where noise alone is", {
  set.seed(15)
  rule <- utils::modifyList(ranges_keeping, list(spare = NA))
  reached <- replicate(400, {
    range <- read_octaves(octaves_of(qunif(ppoints(1e4), 10, 100), 20), 20, 1e4, rule)
    range$lower < 0 || range$upper > 128
  })
  # 2 % of all sums 1 / d^3 on either side, 0.1 % across: 5 %. Above 9 %: 3e-4.
  expect_lt(mean(reached), 0.09)
})

test_that("what ranges for intervals cut off falls with the noise", {
  set.seed(13)
  x <- exp(qnorm(ppoints(1e5), 4, 0.6))
  rule <- utils::modifyList(ranges_keeping, list(spare = NA))
  cut <- vapply(c(1000, 200, 20), function(sd) {
    mean(replicate(40, {
      range <- read_octaves(octaves_of(x, sd), sd, 1e5, rule)
      mean(x < range$lower | x > range$upper)
    }))
  }, 0)
  expect_lt(max(diff(cut)), 0)
  expect_lt(cut[3], 1e-3)
})

test_that("a fit with intervals has the wider ranges", {
  n <- 20000
  d <- data.frame(x = qnorm(ppoints(n), 26.5, 2.7), y = rep(c(FALSE, TRUE), n / 2))
  upper <- function(inference) {
    fit <- suppressMessages(dp_sosp(y ~ x, d, eps = 20, method = "newton", inference = inference,
                                    noise = "reproducible"))
    fit$design$ranges["x", "upper"]
  }
  set.seed(14)
  expect_gte(upper("sandwich"), 64)
  expect_lt(upper("none"), 40)
})

test_that("a column with few different values is not cut down to its most frequent one", {
  classes <- list(
    three = rep(1:3, c(216, 184, 491)), two = rep(c(1, 2), c(100, 791)), mode = rep(c(1:12, 7), c(rep(7, 12), 807)),
    binary = rep(0:1, c(600, 291))
  )
  for (eps in c(1, 4)) {
    rho <- 0.05 * dp_convert(eps = eps, delta = 1 / 891^2)$mu^2 / 2
    # The fraction of the values that a range excludes, if it was found; without the most frequent value.
    left_out <- lapply(1:40, function(seed) {
      set.seed(seed)
      found <- ranges_of(classes, rho)
      out <- vapply(names(classes), function(name) {
        x <- classes[[name]]
        x <- x[x != as.numeric(names(which.max(table(x))))]
        mean(x < found[name, "lower"] | x > found[name, "upper"])
      }, 0)
      out[attr(found, "found")]
    })
    left_out <- unlist(left_out)
    expect_lt(mean(left_out == 1), 0.02)
    expect_lt(max(left_out[names(left_out) == "three"]), 1)
    expect_equal(unique(left_out[names(left_out) == "binary"]), 0)
  }
})

test_that("cells are not cut on a guess", {
  # 70 % in one cell and the rest spread over the others: cut without noise, kept with large noise.
  counts <- c(rep(3, 100), 700, rep(3, 27))
  counts <- counts * 1000 / sum(counts)
  range <- list(lower = 0, upper = 128)
  exact <- read_cells(counts, range, 1e-9, 1000)
  expect_lte(exact$lower, 25)
  expect_equal(read_cells(counts, range, 200, 1000), list(lower = 0, upper = 128))
  set.seed(11)
  widths <- replicate(100, {
    read <- read_cells(counts + rnorm(128, sd = 100), range, 100, 1000)
    read$upper - read$lower
  })
  expect_gt(min(widths), 16)
})

test_that("columns without a range are named, with the line that declares theirs", {
  d <- data.frame(y = rep(c(FALSE, TRUE), 50), a = 1:100, b = 101:200, c = 1)
  set.seed(1)
  said <- testthat::capture_warnings(suppressMessages(
    dp_sosp(y ~ a + log(b) + c, d, eps = 0.01, delta = 1e-6, bounds = list(c = c(0, 1)), noise = "reproducible")
  ))
  expect_match(said, "no information", fixed = TRUE, all = FALSE)
  expect_match(said, "\n  bounds = list(a = c( , ), `log(b)` = c( , ))", fixed = TRUE, all = FALSE)
})

test_that("real columns get ranges within a factor 4 of their span", {
  skip_on_cran()
  d <- utils::read.csv(shared_file("data/bank.csv.xz"), stringsAsFactors = TRUE)
  columns <- d[vapply(d, is.numeric, NA)]
  n <- nrow(d)
  rho <- 0.05 * .Call(ffi_gdp_mu, 0.6, 1 / n^2)^2 / 2
  set.seed(9)
  found <- ranges_of(columns, rho)
  for (name in names(columns)) expect_covers(found, columns[[name]], name)
})

test_that("a warning of many columns without a range shows some of them, once", {
  d <- as.data.frame(matrix(0, 20, 300))
  d$y <- factor(rep(c("no", "yes"), 10))
  text <- ""
  set.seed(1)
  withCallingHandlers(
    suppressMessages(dp_sosp(y ~ ., d, eps = 0.1, delta = 1e-3, progress = FALSE, method = "gd",
                             noise = "reproducible")),
    warning = function(w) {
      if (inherits(w, "dpsosp_warning_ranges")) text <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    }
  )
  expect_match(text, "for [0-9]+ columns.*bounds = list\\(V1 = c\\( , \\), .*V8 = c\\( , \\), \\.\\.\\.\\)$")
  expect_length(gregexpr("V1 ", text, fixed = TRUE)[[1]], 1L)
  expect_lt(nchar(text), 500)
})

test_that("with intervals a range has one octave more where the last ones fall off slowly", {
  rule <- dpsosp:::ranges_keeping
  read <- function(above, below = numeric(16)) {
    counts <- numeric(2 * dpsosp:::magnitudes + 1L)
    one <- dpsosp:::magnitudes + 1L + dpsosp:::magnitude_of_one
    counts[one + seq_along(above)] <- above
    counts[dpsosp:::magnitudes + 1L - dpsosp:::magnitude_of_one - seq_along(below)] <- below
    counts[dpsosp:::magnitudes + 1L] <- 1e5 - sum(counts)
    range <- dpsosp:::read_octaves(counts, 10, 1e5, rule)
    c(range$lower, range$upper)
  }
  expect_identical(read(c(4000, 8000, 5000, 1700)), c(0, 32))
  expect_identical(read(c(4000, 8000, 5000, 1000)), c(0, 16))
  expect_identical(read(c(4000, 4500, 5000, 1700)), c(0, 16)) # the values of a uniform column rise to the last octave
  expect_identical(read(c(8000, 5000, 2000), c(8000, 5000, 500)), c(-8, 16))
  rule <- dpsosp:::ranges_bounding
  expect_identical(read(c(4000, 8000, 5000, 1700)), c(0, 16))
})
