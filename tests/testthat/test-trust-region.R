# ---- the subproblem ----

model <- function(g, h, s) sum(g * s) + sum(s * (h %*% s)) / 2

random_symmetric <- function(d, shift = 0) {
  m <- matrix(rnorm(d^2), d)
  (m + t(m)) / 2 + diag(shift, d)
}

expect_global <- function(g, h, radius) {
  answer <- trust_region_step(g, h, radius)
  size <- max(abs(h)) * radius * length(g) + sqrt(sum(g^2))
  expect_lt(max(abs(h %*% answer$step + answer$dual * answer$step + g)), 1e-10 * size)
  expect_lte(sqrt(sum(answer$step^2)), radius * (1 + 1e-12))
  expect_gte(answer$dual, 0)
  expect_lt(answer$dual * (radius - sqrt(sum(answer$step^2))), 1e-9 * size)
  lowest <- min(eigen(h, TRUE, TRUE)$values)
  expect_equal(answer$eigenvalue, lowest, tolerance = 1e-8)
  expect_gte(answer$dual + lowest, -1e-9 * size)
  answer
}

test_that("a trust-region step meets the conditions of a global minimum", {
  set.seed(31)
  for (d in c(1, 2, 5, 40)) {
    for (shift in c(-5, 0, 5, 20)) {
      for (radius in c(0.01, 1, 100)) expect_global(rnorm(d), random_symmetric(d, shift), radius)
    }
  }
  hard <- expect_global(c(0, 1), diag(c(-1, 2)), 2)
  expect_equal(hard$dual, 1)
  expect_equal(abs(hard$step), c(sqrt(4 - 1 / 9), 1 / 3))
  expect_global(rep(1, 501), random_symmetric(501), 3) # by Lanczos
  expect_named(trust_region_step(c(a = 1, b = 2), diag(2), 1)$step, c("a", "b"))
})

test_that("a generic solver from many starts finds no lower point, and the same one", {
  skip_if_not_installed("nloptr")
  slsqp <- getExportedValue("nloptr", "nloptr")
  set.seed(32)
  for (k in 1:12) {
    d <- 2 + k %% 4
    radius <- c(0.3, 1, 3)[1 + k %% 3]
    h <- random_symmetric(d, if (k %% 4 == 0) 4 else 0)
    g <- rnorm(d)
    if (k > 9) { # hard: g across the first eigenvector
      v <- eigen(h, TRUE)$vectors[, d]
      g <- g / 10 - v * sum(v * g / 10)
    }
    mine <- model(g, h, expect_global(g, h, radius)$step)
    values <- replicate(20, slsqp(
      x0 = rnorm(d) * radius / 2 / sqrt(d),
      eval_f = function(s) model(g, h, s), eval_grad_f = function(s) drop(g + h %*% s),
      eval_g_ineq = function(s) (sum(s^2) - radius^2) / radius^2, eval_jac_g_ineq = function(s) 2 * s / radius^2,
      opts = list(algorithm = "NLOPT_LD_SLSQP", xtol_rel = 1e-12, maxeval = 1000)
    )$objective)
    expect_gte(min(values), mine - 1e-6) # its constraint holds up to 1e-8
    expect_lte(min(values), mine + 1e-7)
  }
})

test_that("wrong arguments of a step are refused by name", {
  expect_errors(
    trust_region_step(numeric(), matrix(0, 0, 0), 1),
    trust_region_step("a", diag(1), 1),
    trust_region_step(c(1, NA), diag(2), 1),
    trust_region_step(c(1, 2), diag(3), 1),
    trust_region_step(c(1, 2), matrix(1:4, 2), 1),
    trust_region_step(c(1, 2), diag(c(1, Inf)), 1),
    trust_region_step(c(1, 2), diag(2), 0),
    trust_region_step(c(1, 2), diag(2), Inf)
  )
})

# ---- controls and plans ----

test_that("settings of tr and gd are checked, obeyed and printed", {
  expect_errors(
    control_tr("loose"),
    control_tr(stop = "never"),
    control_tr(gap = -1),
    control_tr(max_iterations = 0.5),
    control_gd(hessian_share = 1),
    control_gd(confidence = 0),
    planned_iterations("tr", eps_g = 0, gap = 1),
    planned_iterations("opt", eps_g = 0.1, gap = 1),
    planned_iterations("adam", eps_g = 0.1, gap = 1),
    saddle_problem(1500)
  )
  expect_snapshot(control_tr())
  expect_snapshot(control_gd())
  p <- problem_matrix(200)
  refused <- function(method, control) {
    expect_error(quiet_fit(p$x, p$y > 0, eps = 1, radius = 2, method = method, control = control),
                 class = "dpsosp_error_argument", regexp = paste0("control_", method))
  }
  refused("tr", control_opt())
  refused("gd", control_tr())
  refused("opt", control_gd())
  few <- quiet_fit(p$x, p$y > 0, eps = 1, radius = 2, method = "gd", control = control_gd(max_iterations = 4))
  expect_equal(sum(few$trace$query == "gradient"), 4)
})

test_that("planned iterations are those of the papers", {
  expect_equal(planned_iterations("tr", eps_g = 0.06, gap = 0.5), ceiling(3 / 0.06^1.5)) # Wang and Xu, theorem 2
  expect_equal(planned_iterations("opt", eps_g = 0.06, eps_h = 0.245, gap = 0.5), # Gao and Wright (10)
               ceiling(0.5 / min(0.4 * 0.06^2, 4 / 15 * 0.245^3)))
  expect_equal(planned_iterations("gd", eps_g = 0.1, gap = 1, smooth = 0.25), ceiling(1 / (1.6 * 0.01)))
  # and those of runs
  p <- problem_matrix(500)
  fit <- quiet_fit(p$x, p$y, eps = 1, radius = 2, method = "tr", target = sosp(0.1, 0.5),
                   control = control_tr("published"))
  expect_equal(fit$iterations[["planned"]], planned_iterations("tr", eps_g = 0.1, gap = 0.5))
  fit <- quiet_fit(p$x, p$y > 0, eps = 1, radius = 2, method = "gd", target = sosp(0.1, 0.5))
  expect_equal(fit$iterations[["planned"]], planned_iterations("gd", eps_g = 0.1, gap = log(2), smooth = 0.25))
})

# ---- runs ----

test_that("every way of tr and gd runs, accounts for itself and is Gaussian", {
  p <- problem_matrix(300)
  ways <- list(list("tr", control_tr()), list("tr", control_tr(stop = "explicit")), list("tr", control_tr("published")),
               list("tr", control_tr("published", "explicit")), list("gd", control_gd()))
  for (way in ways) {
    for (target in list(NULL, sosp(0.1, 0.05), sosp(1e-5, 1e-5))) {
      way[[2]]$max_iterations <- 100L
      set.seed(6)
      fit <- quiet_fit(p$x, p$y, eps = 2, delta = 1e-6, radius = 2, method = way[[1]], loss = "sigmoid",
                       noise = "reproducible", control = way[[2]], target = target)
      ledger <- dp_ledger(fit)
      expect_equal(fit$privacy$accountant, "gdp")
      expect_equal(unique(ledger$mechanism[ledger$what != "unused"]), "gaussian")
      of_run <- without_values(ledger[ledger$what != "moments", ])
      expect_equal(fit$trace$query, of_run$what)
      expect_equal(fit$trace$rho, of_run$rho)
      # mu^2 = sum of mu_t^2 is that of (eps, delta)
      expect_equal(sum(ledger$mu^2), dp_convert(eps = 2, delta = 1e-6)$mu^2, tolerance = 1e-9)
      if (fit$status == "budget") expect_lt(sum(ledger$rho[ledger$what == "unused"]) / sum(ledger$rho), 1e-6)
      expect_true(all(is.finite(coef(fit))))
      expect_output(print(fit), way[[1]])
      if (fit$status == "sosp" && !identical(way[[2]]$constants, "published")) {
        expect_lte(fit$certificate$gradient[["upper"]], fit$target$eps_g)
        expect_gte(fit$certificate$eigenvalue[["lower"]], -fit$target$eps_h)
      }
    }
  }
})

test_that("with a huge budget tr finds the minimum", {
  p <- problem_matrix(1000, 3)
  w <- exact_minimum(unit_rows(p$x, 2), p$y)
  fit <- function(...) {
    quiet_fit(p$x, p$y, eps = 1e6, delta = 1e-6, radius = 2, method = "tr", geometry = "none", ...)
  }
  expect_lt(max(abs(unname(coef(fit())) * 2 - w)), 0.02)
  explicit <- fit(target = sosp(5e-4, 0.5), control = control_tr(stop = "explicit"))
  expect_equal(explicit$status, "sosp")
  expect_lt(max(abs(unname(coef(explicit)) * 2 - w)), 0.1)
})

test_that("extreme budgets and odd data give a fit or a clear error", {
  p <- problem_matrix(50)
  for (method in c("tr", "gd")) {
    for (eps in c(1e-300, 1e-6, 1e6, 1e300)) {
      for (radius in c(1e-40, 2, 1e40)) {
        fit <- tryCatch(quiet_fit(p$x, p$y > 0, eps = eps, delta = 1e-6, radius = radius, method = method),
                        dpsosp_error = identity)
        if (inherits(fit, "dpsosp_error")) {
          expect_match(conditionMessage(fit), "too small")
        } else {
          expect_true(all(is.finite(coef(fit))))
          expect_equal(sum(dp_ledger(fit)$rho) / fit$privacy$rho, 1, tolerance = 1e-9)
        }
      }
    }
    for (n in 1:2) {
      few <- quiet_fit(p$x[seq_len(n), , drop = FALSE], p$y[seq_len(n)] > 0, eps = 1, radius = 2, method = method)
      expect_s3_class(few, "dp_sosp")
    }
    expect_s3_class(quiet_fit(p$x[, 0], p$y > 0, eps = 1, radius = 2, method = method), "dp_sosp")
    expect_s3_class(quiet_fit(p$x * NA, p$y, eps = 1, radius = 2, method = method, loss = "sigmoid"), "dp_sosp")
  }
})

test_that("certificates of tr and gd hold with their confidence", {
  skip_on_cran()
  p <- problem_matrix(1000)
  z <- unit_rows(p$x, 2)
  set.seed(33)
  ways <- list(list("tr", control_tr(max_iterations = 60)), list("gd", control_gd(max_iterations = 60)),
               list("tr", control_tr(stop = "explicit", max_iterations = 60)))
  for (way in long_values(ways)) {
    holds <- certified <- logical(60)
    for (i in seq_along(holds)) {
      fit <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, loss = "sigmoid", method = way[[1]],
                       control = way[[2]], noise = "reproducible")
      w <- coef(fit) * 2
      certified[i] <- fit$certificate$gradient[["upper"]] <= fit$target$eps_g # which may be met by every point
      smallest <- min(eigen(exact_hessian(z, p$y, w, "sigmoid"), TRUE, TRUE)$values)
      holds[i] <- sqrt(sum(exact_gradient(z, p$y, w, "sigmoid")^2)) <= fit$certificate$gradient[["upper"]] &&
        smallest >= fit$certificate$eigenvalue[["lower"]]
    }
    expect_gt(mean(certified), 0.5)
    expect_gte(sum(holds[certified]), qbinom(1e-4, sum(certified), 0.95))
  }
})

test_that("at the budget at which gradient descent stays near a strict saddle, opt and tr leave it", {
  skip_on_cran()
  problem <- saddle_problem()
  h <- exact_hessian(problem$x, problem$y, problem$start, "sigmoid")
  expect_lt(sqrt(sum(exact_gradient(problem$x, problem$y, problem$start, "sigmoid")^2)), 0.001)
  expect_lt(min(eigen(h, TRUE, TRUE)$values), -0.03)
  distance <- function(method, control, runs) {
    vapply(seq_len(runs), function(seed) {
      set.seed(seed)
      fit <- quiet_fit(problem$x, problem$y, eps = 1, delta = 1e-6, method = method, loss = "sigmoid", radius = 1,
                       intercept = FALSE, start = problem$start, target = sosp(0.1, 0.02), control = control,
                       noise = "reproducible")
      sqrt(sum((coef(fit) - problem$start)^2))
    }, 0)
  }
  runs <- long_size(100, 40)
  expect_gte(sum(distance("gd", control_gd(gap = 0.46), runs) < 0.5), 0.95 * runs)
  expect_gte(sum(distance("opt", control_opt(gap = 0.46), runs) > 0.5), 0.95 * runs)
  expect_gte(sum(distance("tr", control_tr(gap = 0.46, stop = "explicit"), runs) > 0.5), 0.95 * runs)
  expect_gte(sum(distance("tr", control_tr(gap = 0.46, max_iterations = 30), runs) > 0.5), 0.95 * runs)
})
