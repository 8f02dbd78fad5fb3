# A copy of rows of the golden file, so that the package needs no other file.
golden <- data.frame(
  kind = rep(c("gaussian", "zcdp", "calibrate_gaussian"), each = 4),
  x = c(0.3471, 2.9565, 0.0841, 2.3024, 0.060239205000000004, 4.370446125, 0.0035364049999999994, 2.65052288,
        0.118, 0.453, 0.428, 1.165),
  delta = c(1e-12, 1e-11, 1e-12, 1e-4, 1e-12, 1e-11, 1e-12, 1e-4, 1e-6, 1e-5, 1e-8, 1e-7),
  value = c(2.3504665986522, 23.67592247005498, 0.5413198191360229, 10.62188363858173,
            2.4454367194881717, 24.550055015639966, 0.5644348308463971, 11.521834777425186,
            31.103693878918325, 7.69833413055599, 11.441382426055752, 4.05387103381208)
)

test_that("known answers", {
  found <- with(golden, ifelse(kind == "gaussian", dp_convert(mu = x, delta = delta, to = "eps"),
                        ifelse(kind == "zcdp", dp_convert(rho = x, delta = delta, to = "eps"),
                               1 / dp_convert(eps = x, delta = delta, to = "mu"))))
  expect_equal(found / golden$value, rep(1, nrow(golden)), tolerance = 1e-8)
})

test_that("known answers of the golden file", {
  rows <- utils::read.csv(shared_file("golden/accounting.csv"))
  field <- function(name, text) as.numeric(sub(paste0(".*\\b", name, "=([^;]*).*"), "\\1", text))
  gaussian <- rows[rows$kind == "gaussian", ]
  expect_equal(dp_convert(mu = field("mu", gaussian$params), delta = gaussian$delta, to = "eps") / gaussian$value,
               rep(1, nrow(gaussian)), tolerance = 1e-8)
  zcdp <- rows[rows$kind == "zcdp", ]
  eps <- dp_convert(rho = field("rho", zcdp$params), delta = zcdp$delta, to = "eps")
  cks <- zcdp$quantity == "epsilon_cks"
  expect_equal((eps / zcdp$value)[cks], rep(1, sum(cks)), tolerance = 1e-8)
  expect_true(all(eps[!cks] < zcdp$value[!cks]))
  calibrate <- rows[rows$kind == "calibrate_gaussian", ]
  sigma <- sqrt(field("T", calibrate$params)) /
    dp_convert(eps = field("eps", calibrate$params), delta = calibrate$delta, to = "mu")
  expect_equal(sigma / calibrate$value, rep(1, nrow(calibrate)), tolerance = 1e-6)
})

test_that("delta is the hockey-stick divergence of N(mu, 1) from N(0, 1)", {
  hockey_stick <- function(mu, eps) {
    excess <- function(x) pmax(dnorm(x, mu) - exp(eps) * dnorm(x), 0)
    integrate(excess, eps / mu + mu / 2, Inf, rel.tol = 1e-10, abs.tol = 0)$value
  }
  for (mu in c(0.1, 0.5, 1, 3)) for (eps in c(0, 0.1, 1, 3)) {
    expect_equal(dp_convert(mu = mu, eps = eps, to = "delta") / hockey_stick(mu, eps), 1, tolerance = 1e-8)
  }
})

test_that("delta of zCDP is the minimum over orders", {
  x <- exp(seq(-12, 10, length.out = 3e5)) # alpha - 1
  for (rho in c(1e-4, 0.01, 0.5, 5)) for (eps in c(0.01, 0.5, 4)) {
    bound <- min(x * ((x + 1) * rho - eps) - log(x) + (x + 1) * log(x / (x + 1)))
    expect_equal(dp_convert(rho = rho, eps = eps, to = "delta"), exp(bound), tolerance = 1e-6)
  }
})

test_that("round trips over the whole range never give more than was asked for", {
  set.seed(1)
  eps <- 10^runif(500, -6, 2)
  delta <- c(10^runif(250, -300, -0.5), 10^runif(250, -12, -0.5))
  bought <- dp_convert(eps = eps, delta = delta)
  expect_true(all(bought$mu > 0 & bought$rho > 0 & bought$rho < bought$mu^2 / 2))
  back <- list(mu = dp_convert(mu = bought$mu, eps = eps), rho = dp_convert(rho = bought$rho, eps = eps))
  for (x in back) {
    expect_true(all(x$delta <= delta))
    expect_true(all(x$delta > delta * (1 - 1e-9)))
  }
  apart <- delta < 0.5 * dp_convert(mu = bought$mu, eps = 0, to = "delta") # otherwise eps is ill-conditioned
  expect_equal(dp_convert(mu = bought$mu, delta = delta, to = "eps")[apart] / eps[apart], rep(1, sum(apart)),
               tolerance = 1e-10)
})

test_that("monotone in every argument", {
  grid <- 10^seq(-4, 1.5, length.out = 200)
  for (eps in c(0, 0.01, 1, 20)) {
    expect_true(all(diff(dp_convert(mu = grid, eps = eps, to = "delta")) >= 0))
    expect_true(all(diff(dp_convert(rho = grid, eps = eps, to = "delta")) >= 0))
  }
  for (delta in c(1e-300, 1e-6, 0.4)) {
    expect_true(all(diff(dp_convert(mu = grid, delta = delta, to = "eps")) >= 0))
    expect_true(all(diff(dp_convert(rho = grid, delta = delta, to = "eps")) >= 0))
    bought <- dp_convert(eps = grid, delta = delta)
    expect_true(all(diff(bought$mu) > 0 & diff(bought$rho) > 0))
  }
})

test_that("a divergence at one order is converted by proposition 12 of Canonne, Kamath & Steinke", {
  for (order in c(1.01, 2, 12.5, 400)) for (rho in c(1e-4, 0.1, 3)) for (delta in c(1e-12, 1e-5, 0.1)) {
    eps <- dp_convert(rho = rho, order = order, delta = delta, to = "eps")
    log_delta <- (order - 1) * (order * rho - eps) - log(order - 1) + order * log1p(-1 / order)
    if (eps > 0) expect_equal(log_delta, log(delta), tolerance = 1e-9)
    if (eps == 0) expect_lte(log_delta, log(delta))
  }
  # If the divergence of a release is linear in the order, the best order gives the result of zCDP.
  orders <- 1 + 10^seq(-2, 4, length.out = 2000)
  one <- dp_convert(rho = 0.05, order = orders, delta = 1e-6, to = "eps")
  expect_equal(min(one), dp_convert(rho = 0.05, delta = 1e-6, to = "eps"), tolerance = 1e-4)
  expect_true(all(one >= dp_convert(rho = 0.05, delta = 1e-6, to = "eps") * (1 - 1e-12)))
  expect_named(dp_convert(rho = 0.05, order = 2, delta = 1e-6), c("eps", "delta", "rho", "mu", "order"))
})

test_that("extremes are sensible limits", {
  expect_identical(dp_convert(mu = 0, delta = 0, to = "eps"), 0)
  expect_identical(dp_convert(mu = 1, delta = 0, to = "eps"), Inf)
  expect_identical(dp_convert(mu = Inf, eps = 1, to = "delta"), 1)
  expect_identical(dp_convert(rho = 0, eps = 1, to = "delta"), 0)
  expect_identical(dp_convert(eps = 1, delta = 1, to = "rho"), Inf)
  expect_identical(dp_convert(eps = 1, delta = 0, to = "mu"), 0)
  expect_equal(dp_convert(mu = 1e-4, eps = 0, to = "delta"), 2 * pnorm(5e-5) - 1, tolerance = 1e-12)
})

test_that("the result says what was given", {
  x <- dp_convert(mu = c(0.5, 1), delta = 1e-6)
  expect_s3_class(x, c("dpsosp_conversion", "data.frame"), exact = TRUE)
  expect_identical(x$rho, c(0.5, 1)^2 / 2)
  expect_identical(dp_convert(rho = 0.125)$mu, 0.5)
  expect_identical(dp_convert(rho = 1, delta = 1e-6)$mu, NA_real_)
  expect_output(print(x), "from delta and mu")
  expect_output(print(dp_convert(eps = 1, delta = 1e-6)), "Gaussian releases only")
  expect_output(print(x[1, ]), "mu")
})

test_that("bad arguments are named", {
  refused <- list(
    quote(dp_convert(rho = 1, delta = 1e-6, order = 1)), quote(dp_convert(rho = 1, order = 2)),
    quote(dp_convert(mu = 1, delta = 1e-6, order = 2)),
    quote(dp_convert()), quote(dp_convert(eps = 1)), quote(dp_convert(mu = 1, rho = 1)),
    quote(dp_convert(eps = 1, delta = 1e-6, mu = 1)), quote(dp_convert(eps = -1, delta = 1e-6)),
    quote(dp_convert(eps = 1, delta = 2)), quote(dp_convert(mu = NA, delta = 0.1)), quote(dp_convert(mu = "a")),
    quote(dp_convert(mu = numeric())), quote(dp_convert(mu = 1:2, eps = 1:3)),
    quote(dp_convert(mu = 1, to = "eps")), quote(dp_convert(mu = 1, eps = 1, to = "sigma"))
  )
  for (call in refused) expect_error(eval(call), class = "dpsosp_error_argument")
  expect_error(dp_convert(mu = 1, to = "eps"), "does not follow from `mu`")
})

test_that("a group of records has mu times k, rho times k^2, and the rule of (eps, delta)", {
  mu <- dp_convert(eps = 1, delta = 1e-6, to = "mu")
  expect_equal(dp_convert(mu = mu, group = 3, to = "mu"), 3 * mu)
  expect_equal(dp_convert(rho = 0.02, group = 3, to = "rho"), 0.18)
  expect_equal(dp_convert(rho = 0.02, delta = 1e-6, group = 3, to = "eps"),
               dp_convert(rho = 0.18, delta = 1e-6, to = "eps"))
  # The design of a release for persons: eps 1 for k records needs the eps of mu / k for one.
  of_one <- dp_convert(mu = mu / c(2, 5, 10, 20), delta = 1e-6, to = "eps")
  expect_equal(of_one, c(0.48, 0.18, 0.085, 0.040), tolerance = 0.02)
  expect_equal(dp_convert(mu = mu / c(2, 5), delta = 1e-6, group = c(2, 5), to = "eps"), c(1, 1), tolerance = 1e-9)
  pair <- dp_convert(eps = 0.5, delta = 1e-6, group = c(2, 3))
  expect_equal(pair$eps, c(1, 1.5))
  expect_equal(pair$delta / 1e-6, c(1 + exp(0.5), 1 + exp(0.5) + exp(1)))
  expect_true(all(is.na(pair$mu)) && all(is.na(pair$rho)))
  expect_equal(dp_convert(eps = 0, delta = 1e-6, group = 4, to = "delta"), 4e-6)
  expect_equal(dp_convert(eps = 400, delta = c(0, 1e-6), group = 4, to = "delta"), c(0, 1))
  expect_identical(dp_convert(eps = 1, delta = 1e-6, group = 1), dp_convert(eps = 1, delta = 1e-6))
  # What is known of Gaussian releases is never less than the rule of (eps, delta).
  by_rule <- dp_convert(eps = 1, delta = 1e-6, group = 2)
  expect_lt(dp_convert(mu = mu, delta = by_rule$delta, group = 2, to = "eps"), by_rule$eps)
  expect_error(dp_convert(rho = 1, order = 3, delta = 1e-6, group = 2), "no rule", class = "dpsosp_error_argument")
  for (k in list(0, 1.5, NA, "2")) {
    expect_error(dp_convert(mu = 1, group = k), "`group` must be", class = "dpsosp_error_argument")
  }
})
