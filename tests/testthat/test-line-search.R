# Gradient descent with private line searches: results, charges and errors.

p <- problem_matrix(4000, 3)
z <- unit_rows(p$x, 2)
study <- function(method, ..., control = NULL, eps = 4) {
  set.seed(1)
  quiet_fit(p$x, p$y > 0, eps = eps, delta = if (!is.null(eps)) 1e-6, radius = 2, method = method, control = control,
            noise = "reproducible", ...)
}
ways <- list(list("blsgd", "svt"), list("blsgd", "gaussian"), list("blsgd-ac", "svt"), list("blgd", "svt"),
             list("blgd", "gaussian"), list("agd", "exponential"))
on_batches <- function(way) startsWith(way[[1]], "blsgd")

test_that("searches lead to a point that the gradient of all records certifies", {
  for (way in ways) for (neighbours in c("replace-one", "zero-out")) {
    fit <- study(way[[1]], control = control_line_search(way[[2]]), neighbours = neighbours, target = sosp(0.05, 0.1))
    expect_equal(fit$status, "sosp", info = paste(way, collapse = " "))
    norm <- sqrt(sum(exact_gradient(z, p$y, coef(fit) * 2)^2))
    expect_lte(norm, fit$certificate$gradient[["upper"]])
    expect_lt(norm, 0.05)
    ledger <- dp_ledger(fit)
    expect_equal(sum(ledger$rho), fit$privacy$rho, tolerance = 1e-9)
    expect_equal(fit$privacy$accountant,
                 if (on_batches(way)) "renyi" else if (way[[2]] == "gaussian") "gdp" else "zcdp")
    expect_equal(utils::tail(fit$trace$query, 1), "gradient")
    expect_gte(utils::tail(fit$trace$rho, 1), 0.05 * (1 - 0.002 - 0.03) * fit$privacy$rho * (1 - 1e-9))
  }
})

test_that("with much budget the minimum is found, on batches to within their sampling error", {
  for (way in ways) {
    fit <- study(way[[1]], control = control_line_search(way[[2]]), eps = 3000, penalty = penalty_ridge(0.05))
    expect_lt(sqrt(sum((coef(fit) * 2 - exact_minimum(z, p$y, 0.05))^2)), if (on_batches(way)) 0.3 else 0.01)
  }
})

test_that("who receives a fit can compute what its batches cost, each for itself", {
  for (neighbours in c("replace-one", "zero-out")) {
    fit <- study("blsgd", neighbours = neighbours)
    ledger <- dp_ledger(fit)
    rate <- fit$batch$rate
    expect_equal(rate, 0.1)
    order <- fit$privacy$order
    gradient <- ledger[ledger$what == "batch gradient", ]
    event <- event_subsample(event_gaussian(gradient$scale[1] / gradient$sensitivity[1], neighbours), rate,
                             fit$batch$scheme)
    expect_equal(dp_rdp(event, order) / order, gradient$rho[1], tolerance = 1e-6)
    search <- ledger[ledger$what == "batch line search", ]
    expect_equal(search$mechanism[1], "sparse vector on a batch")
    eps <- 4 * search$sensitivity / search$scale
    amplified <- log1p(rate * expm1(eps))
    expect_equal(pmin(amplified^2 / 2, amplified / order), search$rho, tolerance = 1e-6)
    expect_equal(nrow(gradient), nrow(search))
    expect_true(all(is.na(search$mu)))
    # Three to one at first.
    expect_equal(gradient$rho[1] / search$rho[1], 3)
    # As an event it costs no more.
    event <- event_subsample(event_pure(eps[1], neighbours), rate, fit$batch$scheme)
    expect_lte(dp_rdp(event, order), order * search$rho[1])
  }
})

test_that("nothing released costs nothing, which the published lemma does not say", {
  lemma <- function(order, rate, rdp) { # Chen & Lee 2020, lemma 4, for a curve of Renyi divergences
    l <- 3:order
    terms <- c((order - 1) * log1p(-rate) + log(order * rate - rate + 1),
               lchoose(order, 2) + 2 * log(rate) + (order - 2) * log1p(-rate) + rdp(2),
               log(3) + lchoose(order, l) + l * log(rate) + (order - l) * log1p(-rate) + (l - 1) * rdp(l))
    (max(terms) + log(sum(exp(terms - max(terms))))) / (order - 1)
  }
  to_eps <- function(rdp, order) rdp + log1p(-1 / order) - (log(1e-8) + log(order)) / (order - 1)
  orders <- c(64, 128, 256, 512)
  nothing <- vapply(orders, function(order) lemma(order, 0.1, function(l) 0 * l), 0)
  expect_equal(nothing, log1p(2 * pbinom(2, orders, 0.1, lower.tail = FALSE)) / (orders - 1), tolerance = 1e-9)
  claimed <- to_eps(100 * nothing, orders)
  expect_true(all(claimed > c(1.9, 0.96, 0.47, 0.23)))
  # The charge of a hundred attempts tends to zero as the noise grows, so it is far below.
  attempts <- function(scale) {
    step <- event_compose(event_subsample(event_gaussian(scale), 0.1), event_subsample(event_pure(1 / scale), 0.1))
    epsilon(dp_account(event_repeat(step, 100), "rdp"), 1e-8)
  }
  expect_lt(attempts(1e4), 0.01)
  expect_lt(attempts(1e6), attempts(1e4) / 50)
})

test_that("the order of the filter is that of the plan, and all is in one report", {
  fit <- study("blsgd", eps = 1)
  expect_match(capture.output(summary(fit)), "line searches on batches", all = FALSE)
  expect_match(capture.output(summary(fit)), "^batch line search", all = FALSE)
  expect_output(print(control_line_search()), "line_search: svt")
  budget <- dp_budget(eps = 1, delta = 1e-6, plan = event_repeat(event_subsample(event_gaussian(4), 0.1), 100))
  shared <- study("blsgd", eps = NULL, budget = budget)
  expect_equal(shared$privacy$order, budget$order)
})

test_that("settings go where they are meant", {
  control <- control_line_search(attempts = 20, gradient_share = 0.5, certificate_share = 0.2, batch = 100)
  ledger <- run_ledger(study("blsgd", control = control, neighbours = "zero-out"))
  expect_equal(ledger$rho[1:2] / sum(ledger$rho), c(0.02, 0.02), tolerance = 1e-9)
  expect_equal(ledger$sensitivity[1], 0.5 / 100, tolerance = 1e-6) # at w = 0
  # With one candidate the step length is known: G is 1/4.
  one <- study("blgd", control = control_line_search(candidates = 1, first = 0.5), eps = 100)
  moved <- one$trace[one$trace$query == "line search" & one$trace$step > 0, ]
  expect_gt(nrow(moved), 5)
  expect_equal(moved$step[1] / one$trace$estimate[1], 2, tolerance = 1e-9)
})

test_that("a clip that falls takes its share of the noise, and no more than clip_decay says", {
  control <- control_line_search(clip = 0.5, clip_decay = 0.1, candidates = 1, sufficient = 0.9)
  ledger <- dp_ledger(study("blsgd-ac", control = control, eps = 0.1, neighbours = "zero-out"))
  gradient <- ledger[ledger$what == "batch gradient", ]
  clips <- gradient$sensitivity * 400
  expect_equal(clips[1], 0.5, tolerance = 1e-6)
  falls <- log(clips / 0.5) / log(0.9)
  expect_equal(falls, round(falls), tolerance = 1e-5)
  expect_gt(max(falls), 1)
  # Where the clip decreases, the cost rises.
  expect_true(all(diff(gradient$rho)[diff(clips) < -1e-3] > 0))
  constant <- dp_ledger(study("blsgd-ac", control = control_line_search(clip = 0.5, clip_decay = 0), eps = 0.05))
  expect_equal(range(constant$sensitivity[constant$what == "batch gradient"]), rep(2 * 0.5 / 400, 2), tolerance = 1e-6)
})

test_that("published settings have the noise of the paper's experiments, within the budget", {
  for (method in c("blsgd", "blgd")) {
    eps <- 0.5
    control <- control_line_search(constants = "published", candidates = 3)
    fit <- study(method, eps = eps, control = control, neighbours = "zero-out")
    ledger <- dp_ledger(fit)
    expect_lte(sum(ledger$rho), fit$privacy$rho * (1 + 1e-9))
    expect_equal(ledger$sensitivity[1] / ledger$scale[1], eps / 100, tolerance = 0.15)
    # A search on the full data has more budget, see above.
    if (method == "blsgd") expect_equal(4 * ledger$sensitivity[2] / ledger$scale[2], eps / 100, tolerance = 0.15)
  }
  expect_equal(control_line_search(constants = "published", attempts = 7)$attempts, 7)
})

test_that("what the methods cannot do is refused, before anything is charged", {
  budget <- dp_budget(rho = 1)
  refused <- function(method, class = "dpsosp_error_argument", ...) {
    expect_error(quiet_fit(p$x, p$y > 0, radius = 2, budget = budget, method = method, ...), class = class)
  }
  for (method in c("blsgd", "blgd", "agd")) {
    refused(method, "dpsosp_error_nonconvex", loss = "sigmoid")
    refused(method, "dpsosp_error_nonconvex", penalty = penalty_nonconvex(0.1))
    refused(method, control = control_gd())
  }
  refused("agd", control = control_line_search("svt"))
  for (method in c("blsgd", "blgd")) refused(method, control = control_line_search(clip = 0.5))
  refused("blsgd", control = control_line_search(clip_decay = 0.05))
  refused("blsgd-ac", geometry = "private")
  refused("blgd", control = control_line_search(constants = "published"))
  refused("blgd", control = control_line_search("exponential"))
  refused("blgd", control = control_line_search(batch = 10))
  refused("blsgd", "dpsosp_error_accountant")
  tiny <- dp_budget(rho = 1e-9)
  expect_error(quiet_fit(p$x, p$y > 0, radius = 2, budget = tiny, method = "blgd",
                         control = control_line_search(attempts = 1e5)), class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
  expect_true(all(dp_ledger(tiny)$what == "usable records")) # the run sees that the cost is too small
  expect_errors(
    control_line_search("laplace"),
    control_line_search(attempts = 0),
    control_line_search(ratio = 1),
    control_line_search(ratio = 0.01, candidates = 30),
    control_line_search(sufficient = 1),
    control_line_search(clip = 0),
    control_line_search(clip_decay = 0.6),
    control_line_search(constants = "paper"),
    control_line_search(batch = -1)
  )
})

test_that("losses with corners, regression and sources are taken", {
  for (method in c("blsgd", "blgd", "agd")) {
    fit <- study(method, loss = "huber_svm", target = sosp(alpha = 0.1))
    expect_lt(mean(sign(cbind(1, p$x) %*% coef(fit)) != p$y), 0.4)
  }
  d <- problem_frame(2000)
  fit <- quiet_fit(y ~ a + b + f, d, eps = 2, delta = 1e-6, method = "blsgd")
  expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
  expect_error(quiet_fit(y ~ a, dp_source(function() function() NULL, n = 10), eps = 1, method = "blsgd"),
               class = "dpsosp_error")
})

# Near zero gradients have less noise, so that released ones are shorter there than where the loss is small.
test_that("gradient descent returns the point whose gradient is shortest without the part of its noise", {
  wide <- problem_matrix(2000, 30)
  for (eps in c(1, 4)) {
    set.seed(1)
    fit <- quiet_fit(wide$x, wide$y > 0, eps = eps, delta = 1e-6, radius = 4, method = "gd", noise = "reproducible")
    gradients <- fit$trace[fit$trace$query == "gradient", ]
    square <- gradients$estimate^2 - length(coef(fit)) * gradients$sd^2
    expect_gt(which.min(square), which.min(gradients$estimate))
    expect_equal(fit$certificate$gradient[["estimate"]], gradients$estimate[which.min(square)])
  }
})
