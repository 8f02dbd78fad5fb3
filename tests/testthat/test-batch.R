# Methods on batches: plans, charges, messages and errors.

batch_methods <- c("opt-b", "2opt-b", "tr-b", "sgd", "newton-b")

test_that("steps on batches find a point that answers about all rows certify", {
  p <- problem_matrix(4000)
  z <- unit_rows(p$x, 2)
  for (method in batch_methods) {
    for (neighbours in long_values(c("replace-one", "zero-out"))) {
      fit <- quiet_fit(p$x, p$y > 0, eps = 4, delta = 1e-6, radius = 2, method = method, target = sosp(0.05, 0.1),
                       neighbours = neighbours, noise = "reproducible")
      expect_equal(fit$status, "sosp")
      expect_lte(sqrt(sum(exact_gradient(z, p$y, coef(fit) * 2)^2)), fit$certificate$gradient[["upper"]])
      expect_gt(sum(fit$trace$query == "batch gradient"), 0)
      expect_equal(utils::tail(fit$trace$query[fit$trace$query %in% c("gradient", "batch gradient")], 1), "gradient")
      expect_equal(fit$privacy$accountant, "renyi")
      expect_equal(fit$batch$scheme, if (neighbours == "zero-out") "poisson" else "wor")
      expect_equal(fit$batch$rate * 4000, fit$batch$size)
      ledger <- dp_ledger(fit)
      expect_equal(sum(ledger$rho), fit$privacy$rho, tolerance = 1e-9)
      on_batch <- startsWith(ledger$what, "batch")
      expect_lte(sum(ledger$rho[on_batch]), fit$batch$share * fit$privacy$rho * (1 + 1e-9))
      expect_true(all(is.na(ledger$mu[on_batch])))
    }
  }
})

test_that("what a step is charged is its amplified Renyi divergence at the order of the budget", {
  p <- problem_matrix(2000)
  for (scheme in c("wor", "poisson")) {
    plan <- event_repeat(event_subsample(event_gaussian(4), 0.05, scheme), 100)
    budget <- dp_budget(eps = 2, delta = 1e-6, plan = plan)
    fit <- quiet_fit(p$x, p$y, loss = "logistic", radius = 2, method = "sgd", budget = budget, target = sosp(0.05, 0.1),
                     control = control_gd(batch = 100, sampling = scheme), noise = "reproducible")
    step <- run_ledger(fit)[1, ]
    expect_equal(step$what, "batch gradient")
    event <- event_subsample(event_gaussian(step$scale / step$sensitivity), 0.05, scheme)
    expect_equal(dp_rdp(event, budget$order) / budget$order, step$rho, tolerance = 1e-6)
    expect_equal(step$sensitivity, 1 / 100, tolerance = 1e-7) # at w = 0
  }
})

test_that("who receives a fit on batches can compute its guarantee from it", {
  p <- problem_matrix(2000)
  for (neighbours in c("replace-one", "zero-out")) {
    fit <- quiet_fit(p$x, p$y > 0, eps = 2, delta = 1e-6, radius = 2, method = "sgd", neighbours = neighbours,
                     target = sosp(0.05, 0.1), control = control_gd(batch = 100))
    fit <- unserialize(serialize(fit, NULL)) # as it would be sent to others
    privacy <- fit$privacy
    ledger <- dp_ledger(fit)
    # Each row costs what an accountant computes from its noise, at the order that the fit names.
    events <- Map(function(what, sigma) {
      event <- event_gaussian(sigma, privacy$neighbours)
      if (startsWith(what, "batch")) event_subsample(event, fit$batch$rate, fit$batch$scheme) else event
    }, ledger$what, ledger$scale / ledger$sensitivity)[ledger$what != "unused"]
    spent <- vapply(events, dp_rdp, 0, order = privacy$order) / privacy$order
    expect_equal(unname(spent), ledger$rho[ledger$what != "unused"], tolerance = 1e-6)
    unused <- sum(ledger$rho[ledger$what == "unused"])
    expect_equal(dp_convert(rho = sum(spent) + unused, order = privacy$order, delta = privacy$delta, to = "eps"),
                 privacy$eps, tolerance = 1e-6)
    expect_output(print(fit), paste0("Renyi at order ", format(privacy$order, digits = 4)), fixed = TRUE)
    skip_if_not_installed("generics")
    expect_equal(generics::glance(fit)[c("accountant", "order")],
                 data.frame(accountant = "renyi", order = privacy$order))
  }
})

test_that("batches of the published method serve gradient and Hessian, for one charge", {
  p <- problem_matrix(4000)
  fit <- quiet_fit(p$x, p$y, eps = 8, delta = 1e-6, radius = 2, method = "opt-b", loss = "sigmoid",
                   target = sosp(0.1, 0.1), control = control_opt("published"), noise = "reproducible")
  expect_equal(fit$batch$size, 80)
  expect_equal(sum(dp_ledger(fit)$what == "batch step"), sum(fit$trace$query == "batch gradient"))
  expect_true(all(fit$trace$rho[fit$trace$query == "batch hessian"] == 0))
})

test_that("the default batch follows from n, d and the budget alone", {
  p <- problem_matrix(4000)
  fit <- function(..., eps = 4) {
    quiet_fit(p$x, p$y, eps = eps, delta = 1e-6, radius = 2, method = "opt-b", target = sosp(0.05, 0.1), ...)
  }
  expect_equal(fit()$batch$size, 200) # n / 20: the noise is small
  expect_equal(fit(eps = 0.01)$batch$size, 20) # n / 200
  between <- fit(eps = 0.6)
  rho <- dp_convert(eps = 0.6, delta = 1e-6, to = "rho")
  expect_lte(between$batch$size, 200)
  expect_gte(between$batch$size, 20)
  expect_equal(fit(control = control_opt(batch = 37))$batch$size, 37)
})

test_that("wrong settings of batches are refused by name, before anything is charged", {
  p <- problem_matrix(300)
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(class = "dpsosp_error_argument", ...) {
    expect_error(quiet_fit(p$x, p$y > 0, radius = 2, ...), class = class)
  }
  refused(eps = 1, method = "opt-b", control = control_opt(batch = 300))
  refused(eps = 1, method = "opt-b", control = control_opt(batch = 10.5))
  refused(eps = 1, method = "opt", control = control_opt(batch = 10))
  refused(eps = 1, method = "tr", control = control_tr(sampling = "poisson"))
  refused(eps = 1, method = "newton", control = control_newton(batch = 10))
  refused(eps = 1, method = "damped-newton", control = control_newton("direct", sampling = "poisson"))
  refused(eps = 1, method = "newton-b", control = control_newton(batch = 300))
  refused(eps = 1, method = "newton-b", control = control_gd(batch = 10))
  refused("dpsosp_error_nonconvex", eps = 1, method = "newton-b", loss = "sigmoid")
  refused("dpsosp_error_unsupported", eps = 1, method = "newton-b", neighbours = "zero-out",
          control = control_newton(sampling = "wor"))
  refused("dpsosp_error_unsupported", eps = 1, method = "sgd", neighbours = "zero-out",
          control = control_gd(sampling = "wor"))
  refused("dpsosp_error_accountant", budget = budget, method = "opt-b")
  refused("dpsosp_error_accountant", budget = budget, method = "newton-b")
  other <- dp_budget(eps = 1, delta = 1e-6, plan = event_gaussian(9, "zero-out"))
  refused("dpsosp_error_relation", budget = other, method = "opt-b")
  expect_equal(nrow(dp_ledger(budget)) + nrow(dp_ledger(other)), 0)
  expect_errors(
    control_opt(batch = 0),
    control_opt(batch = "all"),
    control_tr(sampling = "bernoulli"),
    control_gd(batch_share = 1),
    control_newton(batch = -1),
    control_newton(sampling = "all")
  )
  expect_equal(quiet_fit(p$x, p$y, loss = "logistic", eps = 1, radius = 2, method = "sgd",
                         control = control_gd(batch = 10.5, sampling = "poisson"))$batch$size, 10.5)
})

test_that("without a target, and by a formula with private ranges, the whole budget is spent", {
  d <- problem_frame(2000)
  for (method in batch_methods) {
    fit <- suppressWarnings(quiet_fit(y ~ a + b + f, d, eps = 2, delta = 1e-6, method = method))
    expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
    expect_true(all(is.finite(coef(fit))))
  }
})

test_that("print and summary say the batch", {
  expect_match(batch_text(list(size = 1, scheme = "wor", rate = 0.1)), "batches of 1 record, without")
  expect_match(batch_text(list(size = 1, scheme = "poisson", rate = 0.1)), "batches of 1 record expected, Poisson")
  p <- problem_matrix(1000)
  fit <- quiet_fit(p$x, p$y, eps = 4, delta = 1e-6, radius = 2, method = "opt-b", target = sosp(0.2, 0.1),
                   control = control_opt(batch = 50), noise = "reproducible")
  text <- capture.output(print(summary(fit)))
  expect_true(any(text == "Steps on batches of 50 records, without replacement (rate 5 %)"))
  expect_match(text, "Run: [0-9]+ gradients? on (a batch|batches), 1 gradient", all = FALSE)
  expect_match(capture.output(summary(fit)), "^batch gradient", all = FALSE)
})

# ---- condition (24) ----

test_that("the sufficient batch is condition (24)", {
  expect_equal(sufficient_batch(0.06, 0.245, 54, 421, 0.05),
               ceiling(max(64 * (log(2 * 54 * 421 / 0.05) + 1 / 4) * max(0.1^-2 * 0.06^-2, 0.1^-2 * 0.245^-4),
                           32 * log(2 * 54 * 421 / 0.05) * 0.1^-2 * 0.245^-2)))
  expect_equal(sufficient_batch(1e3, 0.1, 2, 10, 0.1, gradient = 1e-9, c = 0.5),
               ceiling(32 * log(400) / 0.05^2))
  expect_equal(sufficient_batch(1, 0.1, 2, 10, 0.1, third = 3, c2 = 0.2, hessian = 1e-3),
               ceiling(64 * (log(400) + 1 / 4) * 9 / 0.2^2 / 0.1^4))
  expect_errors(
    sufficient_batch(0, 1, 2, 10),
    sufficient_batch(1, 1, 2.5, 10),
    sufficient_batch(1, 1, 2, 10, failure = 1),
    sufficient_batch(1, 1, 2, 10, c = 0)
  )
})
