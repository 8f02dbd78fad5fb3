# subset, weights, offset() and na.action for records, as in glm(), with public n.

records_data <- function(n = 800) {
  set.seed(1)
  d <- data.frame(a = runif(n, -1, 1), b = runif(n, 0, 2), time = runif(n, 1, 4), w = round(runif(n), 2),
                  f = factor(sample(c("u", "v"), n, TRUE), c("u", "v")))
  d$y <- rbinom(n, 1, stats::plogis(1 + d$a - d$b + log(d$time))) > 0
  d
}
records_bounds <- list(a = c(-1, 1), b = c(0, 2), time = c(1, 4))
exactly <- function(formula, d, ..., bounds = records_bounds[intersect(all.vars(formula), names(records_bounds))],
                    method = "newton") {
  call <- substitute(quiet_fit(formula, d, eps = 1e4, delta = 1e-4, bounds = bounds, method = method, ...))
  eval(call)
}
agrees <- function(fit, exact, tolerance = 0.02) {
  expect_equal(coef(fit)[names(coef(exact))], coef(exact), tolerance = tolerance)
}

# glm()'s fit with our coefficients: it predicts an offset plus a linear predictor.
with_coef <- function(exact, fit) {
  exact$coefficients[] <- coef(fit)[names(coef(exact))]
  exact
}

test_that("coefficients are those of glm() where noise is small", {
  d <- records_data()
  agrees(exactly(y ~ a + b, d, weights = w), suppressWarnings(stats::glm(y ~ a + b, "binomial", d, weights = w)))
  agrees(exactly(y ~ a + b, d, weights = w / 2, method = "newton-ridge"),
         suppressWarnings(stats::glm(y ~ a + b, "binomial", d, weights = w / 2)), 0.05)
  agrees(exactly(y ~ a + b, d, subset = f == "u" & time > 1.5),
         stats::glm(y ~ a + b, "binomial", d, subset = f == "u" & time > 1.5))
  formula <- y ~ a + b + offset(log(time)) + offset(b / 2)
  exact <- stats::glm(formula, "binomial", d)
  for (method in c("newton", "newton-ridge", "objpert", "2opt-ls")) {
    # In a geometry "2opt-ls" clips rows.
    fit <- exactly(formula, d, method = method, geometry = if (method == "2opt-ls") "none")
    agrees(fit, exact, 0.05)
    expect_equal(predict(fit, d[1:9, ]), unname(stats::predict(with_coef(exact, fit), d[1:9, ])), tolerance = 1e-6)
  }
})

test_that("offsets of a regression are in the units of the response", {
  d <- records_data()
  d$z <- 3 * d$a + d$time + 0.1 * stats::rnorm(nrow(d))
  fit <- exactly(z ~ a + offset(time), d, loss = loss_huber(c(-4, 10), 1))
  expect_equal(unname(coef(fit)), c(0, 3), tolerance = 0.03)
  expect_equal(predict(fit, d[1:5, ]), unname(coef(fit)[1] + coef(fit)[2] * d$a[1:5] + d$time[1:5]))
  d$count <- stats::rpois(nrow(d), exp(0.5 + d$a / 2) * d$time)
  rate <- exactly(count ~ a + offset(log(time)), d, loss = loss_poisson(60), method = "newton")
  expect_equal(unname(coef(rate)), unname(coef(stats::glm(count ~ a + offset(log(time)), "poisson", d))),
               tolerance = 0.1)
})

test_that("records that do not count are null records: no value of theirs matters", {
  d <- records_data(300)
  ours <- function(data, ..., method = "newton") {
    set.seed(3)
    coef(quiet_fit(y ~ a, data, eps = 1, bounds = list(a = c(-1, 1), time = c(1, 4))["a"], method = method,
                   noise = "reproducible", ...))
  }
  out <- d$time > 3
  changed <- d
  changed[out, c("a", "y")] <- list(1, NA)
  for (method in long_values(c("newton", "2opt-ls", "sgd"))) {
    expect_equal(ours(d, subset = time <= 3, method = method), ours(changed, method = method))
    expect_equal(ours(transform(d, w = as.numeric(!out)), weights = w, method = method), ours(changed, method = method))
  }
  # A tiny weight acts like none, on batches too. The fraction behind a start and the moments of a geometry count
  # records, whatever their weights.
  small <- transform(d, w = ifelse(out, 1e-9, 1))
  for (method in c("2opt-ls", "sgd")) {
    expect_equal(ours(small, weights = w, method = method, start = c(0, 0), geometry = "none"),
                 ours(changed, method = method, start = c(0, 0), geometry = "none"), tolerance = 1e-5)
  }
  # An invalid weight is no error and does not affect other rows.
  wrong <- transform(d, w = ifelse(out, c(NA, Inf, -1, 2, 1 + 1e-9, NaN), 1))
  expect_equal(ours(wrong, weights = w), ours(changed), tolerance = 1e-6)
  expect_equal(ours(transform(d, time = ifelse(out, NA, time)), subset = time > 0), ours(changed))
  expect_identical(nobs(quiet_fit(y ~ a, d, eps = 1, subset = time > 3)), 300L)
})

test_that("an offset counts up to its range, and as missing where it is none", {
  d <- records_data(300)
  ours <- function(data) {
    set.seed(3)
    coef(quiet_fit(y ~ a + offset(time), data, eps = 1, bounds = records_bounds[c("a", "time")], method = "newton",
                   noise = "reproducible"))
  }
  late <- d$time > 3
  expect_equal(ours(transform(d, time = ifelse(late, 1e6, time))), ours(transform(d, time = ifelse(late, 4, time))))
  expect_equal(ours(transform(d, time = ifelse(late, NaN, time))), ours(transform(d, y = ifelse(late, NA, y))))
})

test_that("sources take subsets", {
  d <- records_data(300)
  source <- dp_source(in_chunks(d, 100))
  ours <- function(data) {
    set.seed(2)
    coef(quiet_fit(y ~ a, data, eps = 1, subset = f == "u" & b > 0.5, noise = "reproducible", method = "newton"))
  }
  expect_equal(ours(source), ours(d))
})

test_that("wrong arguments are refused before anything is charged", {
  d <- records_data(60)
  budget <- dp_budget(eps = 1, delta = 1e-4)
  refused <- function(..., text) {
    expect_error(suppressMessages(dp_sosp(..., budget = budget)), text, class = "dpsosp_error_argument")
  }
  refused(y ~ a, d, subset = f, text = "logical value")
  refused(y ~ a, d, subset = mean(a) > 0, text = "row by row")
  refused(y ~ a, d, subset = 1:10, text = "expression of columns")
  refused(y ~ a, d, subset = not_there > 1, text = "not a column")
  refused(y ~ a, d, weights = ww, text = "not a column of the data, and must be made one")
  refused(y ~ a, d, weights = d$w, text = "`d` in `weights` is not a column")
  refused(y ~ a, d, weights = f, text = "number")
  refused(y ~ a, d, weights = w / max(w), text = "row by row")
  refused(y ~ a + offset(log(time)), d, text = "needs a public range")
  refused(y ~ a + offset(f), d, bounds = list(a = c(0, 1)), text = "number")
  refused(y ~ a, d, na.action = stats::na.fail, text = "must be left out")
  refused(y ~ a, d, na.action = stats::na.omit, text = "na.omit")
  refused(f ~ a + offset(time), d, loss = loss_multinomial(), bounds = list(time = c(1, 4)), text = "multinomial")
  refused(y ~ a + offset(time), d, model = model_mlp(3), bounds = list(time = c(1, 4)), text = "does not go with")
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("a fit keeps the expressions alone, and intervals, certificates and updates take them", {
  d <- records_data()
  fit <- quiet_fit(y ~ a + offset(b), d, eps = 20, delta = 1e-4, bounds = records_bounds[c("a", "b")], weights = w,
                   subset = time > 1.2, inference = "sandwich", method = "newton")
  expect_named(coef(fit), c("(Intercept)", "a"))
  expect_false(grepl("0.37", rawToChar(serialize(fit$design$weights, NULL, ascii = TRUE)), fixed = TRUE))
  exact <- suppressWarnings(stats::glm(y ~ a + offset(b), "binomial", d, weights = w, subset = time > 1.2))
  expect_equal(coef(fit), coef(exact), tolerance = 0.3)
  expect_s3_class(suppressMessages(dp_certify(fit, d, eps = 5, delta = 1e-4)), "dp_certificate")
  expect_equal(formula(fit), y ~ a + offset(b), ignore_formula_env = TRUE)
})
