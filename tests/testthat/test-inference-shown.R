# Intervals: which are shown, which are unresolved, and which requests are refused.

problem <- problem_frame(1000)
bought <- function(eps, ..., formula = y ~ a + b + f, bounds = frame_bounds) {
  set.seed(3)
  quiet_fit(formula, problem, eps = eps, delta = 1e-7, bounds = bounds, method = "newton", inference = "sandwich",
            noise = "reproducible", ...)
}
fit <- bought(20)
poor <- bought(0.2)
plain <- bought(20)
plain$inference <- NULL

test_that("vcov, confint, summary and tidy agree", {
  error <- sqrt(diag(vcov(fit)))
  expect_identical(names(error), names(coef(fit)))
  expect_equal(unname(confint(fit)), unname(cbind(coef(fit) - 1.959964 * error, coef(fit) + 1.959964 * error)),
               tolerance = 1e-6)
  table <- coef(summary(fit))
  expect_equal(table[, "Estimate"], coef(fit))
  expect_equal(table[, "Std. Error"], error)
  expect_equal(table[, "Pr(>|z|)"], 2 * stats::pnorm(-abs(coef(fit) / error)))
  expect_identical(confint(fit, "b"), confint(fit)["b", , drop = FALSE])
  expect_identical(confint(fit, 2:3), confint(fit)[2:3, ])
  expect_identical(colnames(confint(fit, level = 0.9)), c("5 %", "95 %"))
  skip_if_not_installed("generics")
  tidied <- generics::tidy(fit, conf.int = TRUE, conf.level = 0.9)
  expect_equal(tidied$conf.high, unname(confint(fit, level = 0.9)[, 2]))
  expect_equal(tidied$std.error, unname(error))
  ratios <- generics::tidy(fit, conf.int = TRUE, conf.level = 0.9, exponentiate = TRUE)
  expect_equal(ratios[c("estimate", "conf.low", "conf.high")], exp(tidied[c("estimate", "conf.low", "conf.high")]))
  expect_identical(ratios$std.error, tidied$std.error)
  expect_identical(names(generics::tidy(fit)), c("term", "estimate", "std.error", "statistic", "p.value"))
})

test_that("what the budget does not resolve is NA with a reason, and wide where it is wished for", {
  hidden <- !is.na(poor$inference$reason)
  expect_true(all(hidden[2:3]))
  expect_true(all(is.na(confint(poor)[hidden, ])) && all(is.na(vcov(poor)[hidden, ])))
  expect_identical(dim(vcov(poor, complete = FALSE)), rep(sum(!hidden), 2L))
  wide <- confint(poor, unresolved = "wide")
  expect_false(anyNA(wide))
  expect_equal(rowMeans(wide), coef(poor))
  shown <- capture.output(print(summary(poor)))
  expect_match(shown, "NA +NA +NA +NA +no spread seen", all = FALSE)
  expect_match(shown, "What is not resolved takes more records", all = FALSE)
  expect_match(shown, "sandwich intervals for [0-4] of 5", all = FALSE)
  printed <- capture.output(print(poor))
  expect_match(printed, paste0("Coefficients, of which ", sum(hidden), " of 5 are not resolved"), all = FALSE)
  expect_lte(max(nchar(printed)), 80)
  expect_identical(sum(grepl("not resolved$", printed)), sum(hidden))
  skip_if_not_installed("generics")
  expect_identical(is.na(generics::tidy(poor)$estimate), unname(hidden))
})

# A direction without data has an eigenvalue of zero.
test_that("a level without records is never resolved, whatever the budget", {
  problem$f <- factor(problem$f, c("u", "v", "w", "never"))
  set.seed(1)
  empty <- quiet_fit(y ~ b + f, problem, eps = 1e4, delta = 1e-7, bounds = frame_bounds["b"], method = "newton",
                     inference = "sandwich", noise = "reproducible")
  expect_identical(empty$inference$reason[[5]], "no records seen")
  expect_identical(unname(is.na(empty$inference$reason)), c(TRUE, TRUE, TRUE, TRUE, FALSE))
  expect_identical(coef(empty)[["fnever"]], 0)
  expect_lt(confint(empty, "fnever", unresolved = "wide")[1], -2)
})

# A column with values in [0.898, 0.902] of its range, and a solution with a large slope for it: an interval for the
# slope or for the intercept would be far from the truth. In half of the runs noise gives the column some curvature.
test_that("a column that is short in its range is not shown, nor an intercept that rests on it", {
  set.seed(7)
  rows <- cbind(1, 0.9 + 0.002 * stats::runif(600, -1, 1), stats::runif(600, -1, 1), diag(3)[rep(1:3, 200), 2:3])
  hessian <- crossprod(rows) / 2000
  gradient <- drop(hessian %*% c(360, -400, 0, 0, 0))
  shown <- replicate(300, {
    e <- matrix(stats::rnorm(25, sd = 0.001), 5)
    released <- list(point = numeric(5), gradient = structure(gradient + 0.002 * stats::rnorm(5), sd = 0.002),
                     hessian = structure(hessian + (e + t(e)) / 2, sd = 0.001), products = hessian, n = 1e6)
    is.na(dpsosp:::step_intervals(dpsosp:::one_step(released, fit$design), fit$design)$reason)
  })
  expect_lt(max(rowMeans(shown)[1:2]), 0.02)
  expect_gt(min(rowMeans(shown)[3:5]), 0.5)
})

test_that("an intercept rests on slopes of columns whose range has its centre elsewhere", {
  hidden <- function(without) {
    released <- list(point = numeric(5), gradient = structure(numeric(5), sd = 1e-9), products = matrix(0, 5, 5),
                     hessian = structure(diag(as.double(seq_len(5) != without)), sd = 0.01), n = 1000)
    step <- dpsosp:::step_intervals(dpsosp:::one_step(released, fit$design), fit$design)
    names(which(!is.na(stats::setNames(step$reason, names(coef(fit))))))
  }
  expect_identical(hidden(2), c("(Intercept)", "a"))
  expect_identical(hidden(3), "b")
  expect_identical(hidden(5), "fw")
})

test_that("the summary says what the numbers are about", {
  about <- function(fit) paste(capture.output(print(summary(fit))), collapse = "\n")
  expect_match(about(fit), paste0("About the coefficients of logistic regression, as of `glm\\(\\)`, of numeric ",
                                  "columns\nclipped to their ranges\n"))
  expect_match(about(bought(20, radius = 1)), "of rows clipped to norm 1")
  expect_match(about(bought(20, loss = loss_logistic(0.6))), "slope")
  expect_false(grepl("clipped", about(bought(20, formula = y ~ f, bounds = list()))))
})

test_that("what intervals rest on stays in the fit, and no data do", {
  released <- fit$inference$released
  expect_named(released, c("point", "gradient", "hessian", "products", "n"))
  expect_identical(released$hessian, t(released$hessian), ignore_attr = TRUE)
  scales <- utils::tail(run_ledger(fit)$scale, 3)
  expect_equal(vapply(released[2:4], attr, 0, "sd"), scales, ignore_attr = TRUE)
  expect_lt(utils::object.size(fit), 2e5)
})

test_that("predictions are shrunk, towards what is known without data", {
  expect_false(identical(predict(poor, problem), predict(plain, problem)))
  expect_lt(sum(predict(poor, problem)^2), sum((poor$coefficients[1] + poor$coefficients["a"] * problem$a)^2))
  rich <- bought(1e6)
  shrunk <- predict(rich, problem)
  rich$predictor <- NULL
  expect_lt(sum(shrunk^2), sum(predict(rich, problem)^2))
  expect_gt(sum(shrunk^2), 0.9 * sum(predict(rich, problem)^2))
})

test_that("what can have no intervals is refused before it is charged", {
  refused <- function(...) {
    budget <- dp_budget(eps = 1, delta = 1e-7)
    expect_error(quiet_fit(y ~ b, problem, budget = budget, bounds = frame_bounds["b"], inference = "sandwich", ...),
                 class = "dpsosp_error_inference")
    expect_identical(nrow(dp_ledger(budget)), 0L)
  }
  refused(loss = "sigmoid")
  refused(loss = loss_huber_svm(), method = "gd")
  refused(penalty = penalty_ridge(0.1), method = "newton")
  refused(method = "opt-b", loss = "logistic")
  expect_error(dp_sosp(y ~ b, problem, eps = 1, method = "objpert", penalty = NULL, inference = "model"),
               class = "dpsosp_error_inference")
  expect_error(dp_inference(fit, problem, eps = 1), "has intervals", class = "dpsosp_error_inference")
})

test_that("a fit that can have no intervals says so in place of how to add them", {
  advice <- function(...) {
    fit <- quiet_fit(..., eps = 1, delta = 1e-6)
    tryCatch(confint(fit), dpsosp_error_absent = conditionMessage)
  }
  bounds <- frame_bounds["b"]
  expect_match(advice(y ~ b, problem, bounds = bounds, method = "newton-ridge"), "`inference = \"sandwich\"` adds them")
  for (text in c(
    advice(a ~ b, problem, bounds = bounds, loss = loss_huber(c(10, 30)), method = "gd"),
    advice(y ~ b, problem, bounds = bounds, loss = "huber_svm", method = "gd"),
    advice(y ~ b, problem, bounds = bounds, loss = "sigmoid"),
    advice(y ~ b, problem, bounds = bounds, penalty = penalty_ridge(0.1)),
    advice(y ~ b, problem, bounds = bounds)
  )) {
    expect_match(text, "no intervals, and can have none\\. Intervals (are for|need|are about|of a fit in) ")
    expect_no_match(text, "dp_inference|sandwich")
  }
})

test_that("networks have no intervals, and say why", {
  network <- structure(list(), class = "dp_network")
  expect_error(dp_inference(network, problem, eps = 1), "not convex", class = "dpsosp_error_inference")
  expect_error(confint(network), "not convex", class = "dpsosp_error_absent")
  expect_error(vcov(network), "not convex", class = "dpsosp_error_absent")
})

test_that("arguments are checked", {
  bare <- bought(1)
  bare[c("inference", "predictor")] <- NULL
  expect_errors(
    dp_inference(), dp_inference(bare), dp_inference(1, problem, eps = 1), dp_inference(bare, problem),
    dp_inference(bare, problem, eps = 1, y = 1), dp_inference(bare, 1, eps = 1),
    dp_inference(bare, problem[0, ], eps = 1),
    dp_inference(bare, problem, eps = 1, type = "robust"), dp_inference(bare, problem["a"], eps = 1),
    dp_inference(bare, problem, eps = 1, epsilon = 2), dp_inference(bare, problem, delta = 1e-6),
    confint(fit, "z"), confint(fit, 9), confint(fit, level = 2), confint(fit, unresolved = "yes"),
    vcov(fit, complete = 3),
    dp_sosp(y ~ b, problem, eps = 1, inference = "both")
  )
  x <- as.matrix(problem["b"])
  matrix_fit <- quiet_fit(x, problem$y, eps = 1, delta = 1e-7, radius = 2, method = "newton")
  expect_errors(dp_inference(matrix_fit, x, eps = 1), dp_inference(matrix_fit, cbind(x, x), eps = 1, y = problem$y),
                dp_inference(matrix_fit, x, eps = 1, y = problem$y[-1]),
                dp_inference(matrix_fit, x, eps = 1, y = problem$f))
})

test_that("an audit of a fit runs the intervals, too", {
  fit <- bought(3, formula = y ~ b, bounds = frame_bounds["b"])
  refit <- dpsosp:::audit_refit(fit, list(x = as.matrix(problem["b"]), y = problem$y))
  expect_identical(utils::tail(run_ledger(refit)$what, 3), c("gradient", "hessian", "gradient products"))
})
