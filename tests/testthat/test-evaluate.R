# Evaluations: what is released, its errors, and what it depends on.

# A fit to a matrix of one column whose log-odds are known.
known_fit <- function(loss = "logistic", w = c(-1, 1.6)) {
  x <- matrix(seq(-1, 1, length.out = 40), 40, 1)
  y <- factor(rep(c("no", "yes"), 20), levels = c("no", "yes"))
  fit <- quiet_fit(x, y, eps = 1, delta = 1e-6, radius = 50, loss = loss, method = "newton")
  fit$coefficients[] <- w
  fit
}

held_out <- function(n, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n), n, 1)
  p <- plogis(-1 + 1.6 * x[, 1])
  yes <- rbinom(n, 1, p) == 1
  list(x = x, p = p, yes = yes, y = factor(ifelse(yes, "yes", "no"), levels = c("no", "yes")))
}

exact_metrics <- function(d, clip = 0.01) {
  came <- ifelse(d$yes, d$p, 1 - d$p)
  ranks <- rank(d$p)
  n1 <- sum(d$yes)
  c(log_loss = mean(-log(pmin(pmax(came, clip), 1 - clip))), brier = mean((1 - came)^2), accuracy = mean(came > 0.5),
    auc = (sum(ranks[d$yes]) - n1 * (n1 + 1) / 2) / (n1 * sum(!d$yes)))
}

# With R's generator, whose seed the data determine.
evaluate <- function(..., eps = 1e8, delta = 1e-6) {
  suppressMessages(dp_evaluate(..., eps = eps, delta = delta, noise = "reproducible"))
}

test_that("with next to no noise the numbers are those of the records", {
  d <- held_out(4000)
  e <- evaluate(known_fit(), d$x, y = d$y, cells = 200)
  estimates <- as.data.frame(e)
  expect_equal(estimates$metric, c("log_loss", "brier", "accuracy", "auc"))
  expect_equal(stats::setNames(estimates$estimate, estimates$metric), exact_metrics(d), tolerance = 2e-3)
  expect_equal(c(e$confusion), c(table(d$yes, d$p > 0.5)), tolerance = 0.01)
  expect_equal(dimnames(e$confusion), list(response = c("no", "yes"), predicted = c("no", "yes")))
  cell <- findInterval(qlogis(d$p), qlogis(e$table$upper), left.open = TRUE) + 1
  counts <- tabulate(cell[d$yes], 200)
  expect_lt(max(abs(e$table$modelled - counts)), 8 * e$table_sd)
  expect_equal(sum(e$table$other + e$table$modelled), 4000, tolerance = 1e-3)
})

test_that("noise is what the budget says, and standard errors are honest", {
  d <- held_out(1000)
  fit <- known_fit()
  runs <- lapply(1:60, function(i) evaluate(fit, d$x, y = d$y, eps = 1, delta = 1e-6))
  estimates <- vapply(runs, function(e) e$estimates$estimate, numeric(4))
  se <- rowMeans(vapply(runs, function(e) e$estimates$se, numeric(4)))
  mu <- dp_convert(eps = 1, delta = 1e-6, to = "mu") * sqrt(1 / 2)
  expect_equal(se[1:3], c(log(99), 1, 1) * sqrt(3) / (1000 * mu), tolerance = 1e-4)
  expect_equal(runs[[1]]$table_sd, sqrt(2) / mu, tolerance = 1e-4)
  ratio <- apply((estimates - exact_metrics(d)) / se, 1, function(z) sqrt(mean(z^2)))
  # A chi-square variable of 60 degrees is outside these limits with probability below 1e-5; for auc, which is not
  # normal, slightly more often.
  expect_true(all(ratio > 0.6 & ratio < 1.5))
})

test_that("1,000 records at eps 0.5 give accuracy within two points", {
  d <- held_out(1000)
  e <- evaluate(known_fit(), d$x, y = d$y, eps = 0.5, delta = 1e-6)
  expect_lt(e$estimates$se[3], 0.02)
  alone <- evaluate(known_fit(), d$x, y = d$y, eps = 0.5, delta = 1e-6, metrics = "accuracy")
  expect_equal(alone$estimates$se, e$estimates$se[3] / sqrt(6), tolerance = 1e-6)
})

test_that("what is charged is the budget, half for the means and half for the table", {
  d <- held_out(200)
  e <- evaluate(known_fit(), d$x, y = d$y, eps = 1)
  ledger <- e$privacy$ledger
  expect_equal(ledger$what, c("scores", "table"))
  expect_equal(ledger$sensitivity, c(sqrt(3), sqrt(2)))
  expect_equal(ledger$rho[1], ledger$rho[2])
  expect_equal(sum(ledger$rho), dp_convert(eps = 1, delta = 1e-6, to = "mu")^2 / 2, tolerance = 1e-9)
  budget <- dp_budget(mu = 1)
  evaluate(known_fit(), d$x, y = d$y, eps = NULL, delta = NULL, budget = budget, metrics = "table",
           neighbours = "zero-out")
  expect_equal(dp_ledger(budget)[c("what", "rho", "sensitivity")],
               data.frame(what = "table", rho = 0.5, sensitivity = 1))
  expect_error(evaluate(known_fit(), d$x, y = d$y, eps = NULL, delta = NULL, budget = budget,
                        neighbours = "zero-out"), class = "dpsosp_budget_exhausted")
})

# All scores of a record, and its cell, from the functions that the release uses.
record_scores <- function(fit, x, y, clip = 0.01) {
  records <- held_out_records(fit, x, y, quote(dp_evaluate()))
  columns <- score_columns(fit, records, fit_metrics(fit$loss), clip)
  cbind(vapply(columns, `[[`, records$link, "values"), code = table_codes(records, 20))
}

test_that("a record changes its own scores alone, to the last bit", {
  d <- held_out(50)
  fit <- known_fit()
  before <- record_scores(fit, d$x, d$y)
  expect_true(all(before[, 1:3] >= 0 & before[, 1:3] <= 1))
  for (value in c(NA, Inf, -Inf, NaN, 1e308, -1e308, 0)) {
    x <- d$x
    x[7] <- value
    y <- d$y
    y[7] <- NA
    expect_identical(record_scores(fit, x, d$y)[-7, ], before[-7, ])
    expect_identical(record_scores(fit, x, y)[-7, ], before[-7, ])
    expect_true(all(record_scores(fit, x, y)[7, 1:3] >= 0 & record_scores(fit, x, y)[7, 1:3] <= 1))
  }
})

test_that("predictions do not change when another row has a missing value", {
  set.seed(3)
  x <- matrix(rnorm(400 * 7), 400)
  fit <- quiet_fit(x, rep(c(TRUE, FALSE), 200), eps = 5, delta = 1e-6, radius = 20, method = "newton")
  whole <- predict(fit, x)
  x[5, 3] <- NA
  expect_identical(predict(fit, x)[-5], whole[-5])
  expect_true(is.na(predict(fit, x)[5]))
})

test_that("a prediction that is certain and wrong costs what the clip says, and no more", {
  fit <- known_fit(w = c(0, 1000))
  scores <- record_scores(fit, matrix(c(1, -1, 1, -1)), factor(c("yes", "no", "no", "yes")))
  expect_equal(unname(scores[, "log_loss"]), c(0, 0, 1, 1), tolerance = 1e-12)
  expect_equal(evaluate(fit, matrix(1), y = factor("no", levels = c("no", "yes")))$estimates$estimate[1], -log(0.01),
               tolerance = 0.02)
})

test_that("a null record counts as one predicted one half", {
  d <- held_out(6)
  fit <- known_fit()
  x <- d$x
  x[] <- NA
  e <- evaluate(fit, x, y = d$y)
  expect_equal(e$estimates$estimate[1:3], c(log(2), 0.25, 0.5), tolerance = 1e-2)
  expect_lt(max(abs(c(e$table$other, e$table$modelled))), 8 * e$table_sd)
  d$y[] <- NA
  expect_equal(evaluate(fit, d$x, y = d$y)$estimates$estimate[1:3], c(log(2), 0.25, 0.5), tolerance = 1e-2)
})

test_that("log-odds of zero are the class that predict() says", {
  fit <- known_fit(w = c(0, 0))
  d <- held_out(300)
  e <- evaluate(fit, d$x, y = d$y)
  expect_equal(e$estimates$estimate[3], mean(!d$yes), tolerance = 1e-2)
  expect_equal(sum(e$confusion[, "no"]), 300, tolerance = 1e-2)
})

test_that("formulas, other losses and numeric responses", {
  d <- problem_frame(300)
  fit <- quiet_fit(y ~ ., d, eps = 2, delta = 1e-6, bounds = frame_bounds)
  d$f[3] <- NA
  e <- evaluate(fit, d)
  p <- predict(fit, d, "response")
  right <- ifelse(is.na(p), 0.5, (p > 0.5) == (d$y == "yes"))
  expect_equal(e$estimates$estimate[3], mean(right), tolerance = 1e-2)
  svm <- evaluate(known_fit("huber_svm"), held_out(100)$x, y = held_out(100)$y)
  expect_equal(svm$estimates$metric, "accuracy")
  expect_null(svm$table)
  d$z <- 10 * d$b + d$a + 3 * sin(seq_len(300))
  robust <- quiet_fit(z ~ a + b, d, eps = 5, delta = 1e-6, bounds = frame_bounds, method = "newton",
                      loss = loss_huber(response = c(0, 40)))
  errors <- pmin(pmax(predict(robust, d), 0), 40) - pmin(pmax(d$z, 0), 40)
  e <- evaluate(robust, d)
  expect_near(e$estimates$estimate[1:2], c(mean(abs(errors)), mean(errors^2)), e$estimates$se[1:2])
  expect_equal(e$estimates$sampling[1]^2 * 300, stats::var(abs(errors)), tolerance = 0.3)
  expect_identical(e$estimates$sampling[2], NA_real_)
})

test_that("sampling errors are near those of the records", {
  d <- held_out(5000)
  e <- evaluate(known_fit(), d$x, y = d$y)
  came <- ifelse(d$yes, d$p, 1 - d$p)
  loss <- -log(pmin(pmax(came, 0.01), 0.99))
  spread <- c(stats::sd(loss), stats::sd((1 - came)^2), stats::sd(came > 0.5)) / sqrt(5000)
  expect_equal(e$estimates$sampling[1:3], spread, tolerance = 0.05)
  # The area's error in a binormal model, which approximates this one.
  expect_equal(e$estimates$sampling[4], 0.0067, tolerance = 0.1)
})

test_that("an evaluation prints and plots, and holds no record", {
  d <- held_out(2000)
  e <- evaluate(known_fit(), d$x, y = d$y, eps = 1)
  expect_output(print(e), "dp_evaluation.* of 2000 records.*eps = 1, .*accuracy.*Calibration")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(e), e)
  expect_error(plot(evaluate(known_fit(), d$x, y = d$y, metrics = "brier")), class = "dpsosp_error_argument")
  expect_lt(length(serialize(e, NULL)), 8000)
})

test_that("means whose noise is as large as their range are said to say nothing", {
  d <- held_out(100)
  nothing <- "These means say nothing"
  of <- function(n, metrics, eps) {
    evaluate(known_fit(), d$x[seq_len(n), , drop = FALSE], y = d$y[seq_len(n)], metrics = metrics, eps = eps)
  }
  few <- of(5, c("accuracy", "log_loss"), 1)
  expect_equal(few$mean_sd * c(log(99), 1), few$estimates$se)
  expect_output(print(few), nothing)
  expect_false(any(grepl(nothing, capture.output(print(of(100, "accuracy", 5)), print(of(5, "table", 1))))))
})

test_that("what is printed says how records count that cannot be predicted", {
  says <- function(e) gsub(" +", " ", paste(capture.output(print(e)), collapse = " "))
  d <- held_out(200)
  whole <- says(evaluate(known_fit(), d$x, y = d$y))
  expect_match(whole, "count as half right (as if the predicted probability were 1/2) and are not in the table",
               fixed = TRUE)
  expect_match(says(evaluate(known_fit(), d$x, y = d$y, metrics = "accuracy")), "half right [(].*were 1/2[)]$")
  expect_match(says(evaluate(known_fit(), d$x, y = d$y, metrics = "table")), "or a response are not in the table")
  frame <- problem_frame(300)
  number <- quiet_fit(a ~ b, frame, method = "auto", eps = 1, delta = 1e-6, loss = loss_squared(c(10, 30)),
                      bounds = frame_bounds["b"])
  expect_match(says(evaluate(number, frame)), "or a response count as an error of half the largest one$")
})

test_that("errors name the argument", {
  fit <- known_fit()
  d <- held_out(20)
  expect_errors(
    dp_evaluate(fit),
    dp_evaluate(1, d$x, 1),
    dp_evaluate(fit, d$x, y = d$y),
    dp_evaluate(fit, d$x, 1),
    dp_evaluate(fit, d$x, 1, 1e-6, y = d$y[-1]),
    dp_evaluate(fit, d$x, 1, 1e-6, y = 1:20),
    dp_evaluate(fit, d$x, 1, 1e-6, y = d$y, metrics = "loss"),
    dp_evaluate(fit, d$x, 1, 1e-6, y = d$y, metrics = character()),
    dp_evaluate(fit, d$x, 1, 1e-6, y = d$y, cells = 7),
    dp_evaluate(fit, d$x, 1, 1e-6, y = d$y, clip = 0.5),
    dp_evaluate(fit, d$x, 1, 1e-6, y = d$y, neighbours = "add-remove"),
    dp_evaluate(fit, cbind(d$x, 1), 1, 1e-6, y = d$y),
    dp_evaluate(known_fit("huber_svm"), d$x, 1, 1e-6, y = d$y, metrics = "table"),
    dp_evaluate(fit, d$x, 1, 1e-6, y = d$y, method = "gd")
  )
})

test_that("\"auc\" takes the table that it is computed from", {
  d <- problem_frame(100)
  fit <- quiet_fit(y ~ a, d, eps = 1, delta = 1e-5, bounds = frame_bounds["a"])
  found <- suppressMessages(dp_evaluate(fit, d, eps = 100, delta = 1e-5, metrics = c("brier", "auc", "table")))
  expect_identical(found$estimates$metric, c("brier", "auc"))
  expect_false(is.null(found$table))
  margins <- quiet_fit(y ~ a, d, eps = 1, delta = 1e-5, bounds = frame_bounds["a"], loss = "huber_svm", method = "gd")
  expect_error(dp_evaluate(margins, d, eps = 1, metrics = "auc"), "one of \"accuracy\", not \"auc\"",
               class = "dpsosp_error_argument")
})

test_that("an accuracy that the noise puts above one has no sampling error", {
  noisy <- function(value) {
    dpsosp:::sampling_error("accuracy", data.frame(metric = "accuracy", estimate = value), NULL, 0, 5)
  }
  expect_identical(noisy(1.1), NA_real_)
  expect_equal(noisy(0.8), sqrt(0.8 * 0.2 / 5))
})
