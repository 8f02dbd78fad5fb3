# What is said before a fit with intervals is charged, by public numbers.

told <- function(code) {
  messages <- character()
  suppressWarnings(withCallingHandlers(code, dpsosp_message = function(m) {
    if (inherits(m, "dpsosp_message_resolve")) messages <<- c(messages, conditionMessage(m))
    invokeRestart("muffleMessage")
  }))
  messages
}
d <- problem_frame(1000)
fit <- function(data = d, eps = 0.3, ..., formula = y ~ a + b + f) {
  dp_sosp(formula, data, eps = eps, delta = 1e-6, bounds = frame_bounds, inference = "sandwich", progress = FALSE, ...)
}

test_that("too small a budget is told before anything is charged, with what would do", {
  said <- told(fit())
  expect_length(said, 1)
  expect_match(said, "intervals for 0 of 4 coefficients, with n = 1,000 and eps = 0.3; for half of them with eps = ")
  found <- regmatches(said, regexec("with eps = ([0-9.]+) or n = ([0-9,]+)", said))[[1]]
  numbers <- as.numeric(gsub(",", "", found[2:3]))
  expect_length(told(fit(eps = numbers[1])), 0)
  expect_length(told(fit(eps = numbers[1] * 0.8)), 1)
  expect_length(told(fit(problem_frame(numbers[2]))), 0)
  expect_length(told(fit(problem_frame(0.8 * numbers[2]))), 1)
  budget <- dp_budget(eps = 0.3, delta = 1e-6)
  expect_error(withCallingHandlers(suppressWarnings(fit(eps = NULL, delta = NULL, budget = budget)),
                                   dpsosp_message_resolve = function(m) stop("stopped by the caller")))
  expect_error(suppressWarnings(withCallingHandlers(
    dp_sosp(y ~ a + b + f, d, budget = budget, bounds = frame_bounds, inference = "sandwich", progress = FALSE),
    dpsosp_message_resolve = function(m) stop("stopped by the caller"))), "stopped by the caller")
  expect_identical(nrow(dp_ledger(budget)), 0L)
})

test_that("it does not depend on a value", {
  same <- told(fit())
  other <- d
  other[] <- lapply(other, rev)
  other$a <- NA_real_
  expect_identical(told(fit(other)), same)
  other$y[] <- "no"
  expect_identical(told(fit(other)), same)
})

test_that("intervals that come later are told of, too, before they are charged", {
  first <- quiet_fit(y ~ a + b + f, d, eps = 1, delta = 1e-6, bounds = frame_bounds, method = "newton-ridge")
  later <- function(eps, fit = first) told(dp_inference(fit, d, eps = eps, delta = 1e-6))
  said <- later(0.1)
  expect_length(said, 1)
  expect_match(said, "intervals for 0 of 4 coefficients, with n = 1,000 and eps = 0.1; for half of them with eps = ")
  eps <- as.numeric(sub(".* with eps = ([0-9.]+) or .*", "\\1", said))
  expect_length(later(eps), 0)
  expect_length(later(eps * 0.8), 1)
  # Nothing is paid for a geometry or a path.
  expect_lt(eps, as.numeric(sub(".* with eps = ([0-9.]+) or .*", "\\1", told(fit(eps = 0.1)))))
  plain <- quiet_fit(y ~ a + b + f, d, eps = 1, delta = 1e-6, bounds = frame_bounds, method = "newton",
                     geometry = "none")
  expect_gt(as.numeric(sub(".* with eps = ([0-9.]+) or .*", "\\1", later(0.1, plain))), eps)
  budget <- dp_budget(eps = 0.1, delta = 1e-6)
  expect_error(suppressWarnings(withCallingHandlers(
    dp_inference(first, d, budget = budget),
    dpsosp_message_resolve = function(m) stop("stopped by the caller"))), "stopped by the caller")
  expect_identical(nrow(dp_ledger(budget)), 0L)
})

test_that("where plans know nothing, nothing is said", {
  expect_length(told(fit(eps = 30)), 0)
  d$id <- rep(1:500, 2)
  expect_length(told(dp_sosp(y ~ a + b + f, d, eps = 0.3, delta = 1e-6, bounds = frame_bounds, id = id,
                             inference = "sandwich", progress = FALSE)), 0)
  d$count <- 1
  expect_length(told(fit(d, formula = count ~ a + b, loss = "poisson")), 0)
  expect_length(told(fit(formula = a ~ b, loss = loss_squared(c(10, 30)))), 0)
  p <- problem_matrix(200)
  expect_length(told(dp_sosp(p$x, p$y > 0, eps = 0.1, delta = 1e-6, radius = 2, inference = "model")), 0)
  expect_length(told(dp_sosp(y ~ a, d, eps = 0.1, delta = 1e-6, bounds = frame_bounds["a"], progress = FALSE)), 0)
})

test_that("with enough of what it names, a fit resolves half of its coefficients", {
  set.seed(2)
  seen <- replicate(5, {
    x <- suppressMessages(fit(problem_frame(20000), eps = 1, noise = "reproducible"))
    mean(is.na(x$inference$reason[-1]))
  })
  expect_length(told(fit(problem_frame(20000), eps = 1)), 0)
  expect_gte(mean(seen), 0.5)
})

test_that("where no budget and no number of records would do, the sentence says so", {
  expect_match(told(fit(formula = y ~ a + b + f, radius = 1e6)), "for half of them with fewer columns or levels")
})
