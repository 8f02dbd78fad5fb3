# Line searches of networks. Sensitivities and the charges of batches are tested in C.

checkers <- function(n = 2000) {
  set.seed(3)
  x <- matrix(runif(2 * n), n)
  list(x = x, y = (x[, 1] > 0.5) == (x[, 2] > 0.5))
}

search_network <- function(d, method, ..., eps = 3, neighbours = "zero-out") {
  set.seed(1)
  suppressMessages(dp_sosp(d$x, d$y, model = model_mlp(12), method = method, eps = eps, delta = 1e-6, bounds = c(0, 1),
                           neighbours = neighbours, noise = "reproducible", ...))
}

test_that("searches find the length of steps for what no linear model can learn", {
  d <- checkers(3000)
  for (search in c("svt", "gaussian")) {
    control <- control_line_search(search, attempts = 200, candidates = 8, first = 32, ratio = 0.5, sufficient = 0.001,
                                   gradient_share = 0.9)
    fit <- search_network(d, "blsgd", control = control, eps = 8)
    expect_gt(mean(predict(fit, d$x, type = "class") == d$y), 0.8)
    expect_true(all(is.finite(fit$weights)))
  }
})

test_that("the ledger has gradients and searches with the sensitivities of the clip", {
  d <- checkers(900)
  for (neighbours in c("replace-one", "zero-out")) {
    terms <- if (neighbours == "zero-out") 1 else 2
    control <- control_line_search(attempts = 20, batch = 60, clip = 0.7)
    fit <- search_network(d, "blsgd", control = control, neighbours = neighbours)
    ledger <- dp_ledger(fit)
    gradients <- ledger[ledger$what == "batch gradient", ]
    searches <- ledger[ledger$what == "batch line search", ]
    expect_equal(gradients$sensitivity, rep(terms * 0.7 / 60, nrow(gradients)), tolerance = 1e-9)
    # A decrease divided by its step has this sensitivity times the length of the direction: it is that of gradients at
    # one point.
    first <- fit$trace$estimate[fit$trace$query == "batch gradient"][1]
    expect_equal(searches$sensitivity[1], terms * 0.7 * first / 60, tolerance = 1e-6)
    expect_identical(nrow(gradients), nrow(searches))
    expect_equal(sum(ledger$rho), fit$privacy$rho)
    # No budget is kept for a certificate.
    expect_gt(sum(gradients$rho) + sum(searches$rho), 0.9 * fit$privacy$rho)
  }
  all <- search_network(d, "blgd", control = control_line_search(attempts = 5))
  expect_setequal(setdiff(dp_ledger(all)$what, "unused"), c("clipped gradient", "line search", "usable records"))
  expect_output(print(all), "clipped to 0.5")
})

test_that("blsgd-ac lowers the clip of a network where gradients are raised, the others keep it", {
  d <- checkers(900)
  clips <- function(method) {
    control <- control_line_search(attempts = 40, sufficient = 0.9, gradient_share = 0.1)
    fit <- search_network(d, method, control = control)
    ledger <- dp_ledger(fit)
    ledger$sensitivity[ledger$what == "batch gradient"] * fit$batch$size
  }
  expect_equal(unique(signif(clips("blsgd"), 6)), 0.5)
  falling <- unique(signif(clips("blsgd-ac"), 6))
  expect_gt(length(falling), 1)
  expect_equal(falling, 0.5 * 0.95^(seq_along(falling) - 1), tolerance = 1e-5)
})

test_that("first weights follow from the seed", {
  d <- checkers(300)
  weights <- function(...) search_network(d, "blgd", control = control_line_search(attempts = 1, ...))$weights
  expect_identical(weights(), weights(seed = 1))
  expect_false(identical(weights(), weights(seed = 2)))
})

test_that("what belongs to linear models, or to networks, is refused for the others", {
  d <- checkers(60)
  fit <- function(method, ...) search_network(d, method, control = control_line_search(...))
  expect_error(fit("agd", "exponential"), "does not take a network", class = "dpsosp_error_network")
  expect_errors(fit("blsgd", constants = "published"), fit("blsgd", clip_decay = 0.1), fit("blsgd", "exponential"),
                fit("blgd", batch = 10), search_network(d, "blsgd", control = control_network()))
  linear <- function(...) {
    dp_sosp(d$x, d$y, eps = 1, delta = 1e-6, method = "blsgd-ac", radius = 2, control = control_line_search(...))
  }
  expect_errors(linear(clip = 2), linear(seed = 1))
})
