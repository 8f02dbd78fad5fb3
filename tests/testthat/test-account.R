poisson <- function(q, sigma, times) event_repeat(event_subsample(event_gaussian(sigma, "zero-out"), q), times)

test_that("golden rows of subsampled Gaussians and mixtures lie in the bracket", {
  rows <- utils::read.csv(shared_file("golden/accounting.csv"))
  field <- function(name, text) as.numeric(sub(paste0(".*\\b", name, "=([^;]*).*"), "\\1", text))
  for (params in unique(rows$params[rows$kind == "poisson_gaussian"])) {
    x <- rows[rows$kind == "poisson_gaussian" & rows$params == params, ]
    value <- setNames(x$value, x$quantity)
    event <- poisson(field("q", params), field("sigma", params), field("T", params))
    eps <- as.numeric(epsilon(dp_account(event, "pld"), x$delta[1]))
    expect_gte(eps, value[["epsilon_pld_low"]] * (1 - 1e-12))
    expect_lte(eps, value[["epsilon_pld_high"]] * (1 + 2e-3))
    rdp <- as.numeric(epsilon(dp_account(event, "rdp"), x$delta[1]))
    expect_lte(rdp, value[["epsilon_rdp"]] * (1 + 1e-6))
    expect_lte(epsilon(dp_account(event, "pld"), x$delta[1], "optimistic"), eps)
  }
  mixed <- rows[rows$kind == "gaussian_laplace", ]
  for (i in seq_len(nrow(mixed))) {
    p <- mixed$params[i]
    event <- event_compose(event_repeat(event_gaussian(field("sigma", p)), field("k_gauss", p)),
                           event_repeat(event_laplace(field("b", p)), field("k_lap", p)))
    profile <- dp_account(event, "pld")
    expect_lte(abs(epsilon(profile, mixed$delta[i]) / mixed$value[i] - 1), 2e-3)
    expect_lte(epsilon(profile, mixed$delta[i], "optimistic"), mixed$value[i])
  }
})

test_that("known answers", {
  expect_equal(as.numeric(epsilon(dp_account(event_repeat(event_gaussian(10), 100)), 1e-5)), 4.377178, tolerance = 1e-6)
  gaussian <- event_repeat(event_gaussian(10), 100)
  expect_gte(epsilon(dp_account(gaussian, "pld"), 1e-5), 4.377178 * (1 - 1e-6))
  expect_lte(epsilon(dp_account(gaussian, "pld"), 1e-5, "optimistic"), 4.377178)
  expect_equal(as.numeric(epsilon(dp_account(poisson(0.01, 1, 1000), "pld"), 1e-5)), 1.82824, tolerance = 2e-3)
  replace_one <- event_repeat(event_subsample(event_gaussian(20), 0.1), 1000)
  expect_equal(as.numeric(epsilon(dp_account(replace_one, "rdp"), 1e-6)), 0.716, tolerance = 5e-3)
  expect_lte(epsilon(dp_account(replace_one), 1e-6), 0.72)
})

test_that("order of composition and repetition do not matter", {
  a <- event_compose(event_gaussian(3), event_laplace(2), event_gaussian(5))
  b <- event_compose(event_gaussian(5), event_gaussian(3), event_laplace(2))
  expect_identical(epsilon(dp_account(a), 1e-6), epsilon(dp_account(b), 1e-6))
  expect_identical(epsilon(dp_account(event_compose(a, b)), 1e-6), epsilon(dp_account(event_repeat(a, 2)), 1e-6))
})

test_that("sparse vector: RDP at most 0.11 eps^2 alpha for k <= 20, and Gaussian noise is not linear in long runs", {
  for (eps in c(0.02, 0.1, 0.5, 1, 2)) {
    order <- 1 + exp(seq(log(0.1), log(60 / eps), length.out = 15))
    expect_true(all(dp_rdp(event_svt(eps, 20), order) <= 0.11 * eps^2 * order))
    expect_true(all(dp_rdp(event_svt(eps, 20), order) <= eps))
  }
  # Exact divergences of the stopping index at order 1.5, over order * rho, rho = 1e-3: 1.322 at k = 1000.
  rho <- 1e-3
  long <- dp_rdp(event_svt_gaussian(sqrt(1.5 / rho), sqrt(3 / rho), 1000), 1.5) / (1.5 * rho)
  expect_gte(long, 1.321905)
})

test_that("relations and refusals", {
  expect_error(event_compose(event_gaussian(1), event_gaussian(1, "zero-out")), class = "dpsosp_error_relation")
  expect_error(dp_account(event_gaussian(1), neighbours = "zero-out"), class = "dpsosp_error_relation")
  expect_error(event_subsample(event_gaussian(1, "zero-out"), 0.1, "wor"), class = "dpsosp_error_unsupported")
  expect_error(dp_account(event_laplace(1), "gdp"), class = "dpsosp_error_unsupported")
  expect_error(dp_account(poisson(0.1, 1, 1), "zcdp"), class = "dpsosp_error_unsupported")
})
