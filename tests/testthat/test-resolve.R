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

many_none <- function(data, formula, loss) {
  quiet_fit(formula, data, eps = 4, delta = 1e-6, loss = loss, method = "auto",
            bounds = stats::setNames(rep(list(c(-1, 1)), 4), paste0("X", 1:4)))
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
  # Plans know the accountant of Gaussian releases only.
  expect_length(told(fit(budget = dp_budget(mu = 0.1))), 1)
  expect_length(told(fit(budget = dp_budget(rho = 0.1^2 / 2))), 0)
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
  d$class <- factor(rep(c("u", "v", "w", "z"), 250))
  expect_length(told(dp_sosp(class ~ a + b, d, eps = 0.3, delta = 1e-6, bounds = frame_bounds, progress = FALSE)), 0)
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

test_that("fits by residuals are told of, too, and as many intervals as are told are shown", {
  set.seed(3)
  d <- data.frame(matrix(runif(12000, -1, 1) / 1.8, 3000))
  d$y <- 5 + d$X1 - d$X2 + rnorm(3000)
  d$count <- rpois(3000, exp(0.7 * (d$X1 - d$X2 + d$X3)))
  fit <- function(n, eps, formula, loss) {
    dp_sosp(formula, d[seq_len(n), ], eps = eps, delta = 1e-6, loss = loss, inference = "sandwich", progress = FALSE,
            bounds = stats::setNames(rep(list(c(-1, 1)), 4), paste0("X", 1:4)))
  }
  losses <- list(loss_squared(c(-5, 15)), loss_squared(), loss_huber(), loss_huber(c = 2), loss_poisson())
  for (loss in long_values(losses, 1)) {
    formula <- if (loss$name == "poisson") count ~ X1 + X2 + X3 + X4 else y ~ X1 + X2 + X3 + X4
    said <- told(few <- fit(300, 0.5, formula, loss))
    expect_match(said, "intervals for 0 of 4 coefficients, with n = 300 and eps = 0.5")
    expect_true(mean(is.na(few$inference$reason[-1])) < 0.5)
    expect_length(told(many <- fit(3000, 4, formula, loss)), 0)
    expect_true(mean(is.na(many$inference$reason[-1])) >= 0.5)
    expect_match(told(dp_inference(many_none(d, formula, loss), d, eps = 0.02, delta = 1e-6)), "0 of 4 coefficients")
  }
})
