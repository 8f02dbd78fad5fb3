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
  # Each with probability at most 1 %: ten or more of 100 has probability below 1e-7.
  expect_lt(sum(wrong), 10)
})

test_that("what is charged is what was asked for, before the noise", {
  columns <- list(a = rnorm(5000, 2000, 3), b = rnorm(5000))
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
  # One record's count moves by one; seeds fix the noise.
  x <- rnorm(3000)
  counts <- function(x) {
    set.seed(7)
    release_counts(list(a = x), list(octave_edges), dp_budget(mu = 1), 0.02, "replace-one", TRUE)$counts$a
  }
  y <- x
  y[1] <- 1e6
  change <- counts(y) - counts(x)
  expect_equal(sort(change[abs(change) > 0.5]), c(-1, 1), tolerance = 1e-6)
  expect_equal(sum(abs(change) > 0.5), 2)
})

test_that("mirrored counts give mirrored ranges", {
  set.seed(8)
  counts <- tabulate(findInterval(rnorm(1e4, 5, 3), octave_edges), length(octave_edges) - 1)
  right <- read_octaves(counts, 1, 1e4, 5)
  left <- read_octaves(rev(counts), 1, 1e4, 5)
  expect_equal(c(left$lower, left$upper), -c(right$upper, right$lower))
  expect_equal(left$inner, -rev(right$inner))
})

test_that("reading without noise keeps all but the tails", {
  for (x in list(qnorm(ppoints(1e5)), qexp(ppoints(1e5)), qunif(ppoints(1e5), 1000, 1100), -qlnorm(ppoints(1e5)))) {
    counts <- tabulate(findInterval(x, octave_edges), length(octave_edges) - 1)
    range <- read_octaves(counts, 1e-9, 1e5, 5)
    expect_gte(mean(x >= range$lower & x <= range$upper), 0.97)
    edges <- seq(range$lower, range$upper, length.out = ranges_cells + 1L)
    cells <- tabulate(findInterval(x[x >= range$lower & x < range$upper], edges), ranges_cells)
    fine <- read_cells(cells, range, 1e-9, 1e5)
    expect_gte(fine$lower, range$lower)
    expect_lte(fine$upper, range$upper)
    expect_gte(mean(x >= fine$lower & x <= fine$upper), 0.95)
  }
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
