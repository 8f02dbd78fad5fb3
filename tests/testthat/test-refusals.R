# What is refused with a reason, before anything is charged, where no other file of tests asks for it.
d <- problem_frame(60)
p <- problem_matrix(60)

expect_refused <- function(code, reason) {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(suppressMessages(code(budget)), reason, fixed = TRUE, class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
}
refused_formula <- function(reason, formula = y ~ a, data = d, ...) {
  expect_refused(function(budget) dp_sosp(formula, data, budget = budget, progress = FALSE, ...), reason)
}
refused_matrix <- function(reason, ..., x = p$x, y = factor(p$y)) {
  expect_refused(function(budget) dp_sosp(x, y, budget = budget, radius = 2, progress = FALSE, ...), reason)
}

test_that("formulas and arguments about records", {
  refused_formula("`na.action` must be left out", na.action = na.omit)
  refused_formula("`weights` must give one number per row", weights = f)
  refused_formula("`subset` must give one logical value per row", subset = a)
  refused_formula("must be of one column", y ~ a + offset(a, b))
  refused_formula("`offset()` in `formula`", offset = 1)
  refused_formula("is not one that terms() understands", y ~ a^b)
  unknown <- transform(d, f = addNA(f))
  unknown$f <- factor(unknown$f, levels = c("u", "v", NA), exclude = NULL)
  refused_formula("NA is a declared level of `f`", y ~ f:b, unknown)
  refused_formula("`I(2)` in `formula` must have one value per row", y ~ a + I(2))
  schema <- dpsosp:::design_template(y ~ a, d)$schema
  expect_error(dpsosp:::row_wise_evaluate(quote(I(2)), d, schema, "data", NULL), "`I(2)` in `formula` must have one",
               fixed = TRUE, class = "dpsosp_error_argument")
  refused_formula("from whose range none follows for `I(a^b)`", y ~ I(a^b), bounds = frame_bounds)
  expect_true(dpsosp:::is_constant(quote(-1)))
  expect_false(dpsosp:::is_constant(quote(-a)))
  refused_formula("has its response among the predictors", a ~ a)
})

test_that("numbers that no guarantee or no machine holds", {
  expect_error(dp_budget(eps = 1, delta = 0.2), "below 0.1", class = "dpsosp_error_argument")
  refused_matrix("must lie within", offset = p$x[, 1], offset_range = c(-1e200, 1))
  expect_error(saddle_problem(1000, 1), "at least 2", class = "dpsosp_error_argument")
  public <- geometry_public(mean = c(a = 20), sd = c(a = 5))
  expect_output(print(public), "of 1 column\n.*a +20 +5")
  expect_error(print(public, digits = 23), "between 1 and 22", class = "dpsosp_error_argument")
  expect_error(dpsosp:::check_number(1, "x", upper = 1), "`x` must be less than 1 and finite; it is 1",
               class = "dpsosp_error_argument")
  expect_error(dpsosp:::check_number(2, "x", upper = 1, open = FALSE), "`x` must be at most 1 and finite",
               class = "dpsosp_error_argument")
  expect_error(dpsosp:::check_number(Inf, "x"), "`x` must be finite; it is Inf", class = "dpsosp_error_argument")
})

test_that("settings that contradict each other", {
  expect_error(control_spider("published", escape = "drift"), "leave out `escape`", class = "dpsosp_error_argument")
  refused_matrix("Did you mean `penalty_ridge()`?", penalty = "rigde")
  refused_matrix("and the method \"agd\" belong together", method = "agd",
                 control = control_line_search("svt", attempts = 5))
  refused_matrix("has no `geometry`: leave it out", method = "blsgd-ac", geometry = "private",
                 control = control_line_search("svt", attempts = 5))
})

test_that("responses and networks", {
  many <- factor(rep_len(1:60, 60), levels = 1:2000)
  refused_matrix("the multinomial loss takes from 2 to", y = many, loss = "multinomial")
  refused_formula("An offset() does not go with `model`", y ~ a + offset(b), model = model_mlp(2),
                  bounds = frame_bounds)
  images <- array(0, c(60, 4, 4))
  expect_error(dp_sosp(images, eps = 1, delta = 1e-6, model = model_mlp(2), bounds = c(0, 1)), "`y` is missing",
               class = "dpsosp_error_argument")
  expect_error(dp_sosp(images, factor(p$y), eps = 1, delta = 1e-6, model = model_mlp(2), bounds = c(0, 1e200)),
               "must lie within", class = "dpsosp_error_argument")
})

test_that("records that a fit cannot be evaluated on", {
  fit <- quiet_fit(y ~ a, d, eps = 1, delta = 1e-6, bounds = frame_bounds["a"], noise = "reproducible")
  budget <- dp_budget(eps = 1, delta = 1e-6)
  evaluate <- function(...) dp_evaluate(fit, ..., budget = budget)
  expect_error(evaluate(d[0, ]), "has no rows", class = "dpsosp_error_argument")
  expect_error(evaluate(d, y = d$y), "`y` is for a fit to a matrix", class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
  alone <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, noise = "reproducible")
  expect_error(predict(alone, p$x, type = "terms"), "needs a fit with a formula", class = "dpsosp_error_argument")
  expect_error(predict(fit, transform(d, a = I(as.list(a)))), "`a` is a list: columns must be numeric",
               class = "dpsosp_error_argument")
  skip_if_not_installed("Matrix")
  none <- as_sparse(p$x)[0, ]
  expect_error(predict(alone, none), "has no rows", class = "dpsosp_error_argument")
  refused_matrix("`x` has no rows", x = none, y = factor(p$y)[0])
})

test_that("sources that cannot be read", {
  empty <- withr::local_tempdir()
  expect_error(dp_source(empty), "has no files that end in", class = "dpsosp_error_argument")
  expect_identical(dpsosp:::as_rows(3, NULL), 3L)
  for (n in c(0, 2^31)) {
    expect_error(dpsosp:::as_rows(n, NULL), "between 1 and 2147483647 rows", class = "dpsosp_error_source")
  }
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  expect_error(dp_source(connection, 1), "must be the name of a table or an SQL query", class = "dpsosp_error_argument")
})

test_that("bases and smooths that have no public columns", {
  refused_formula("there is no column", y ~ poly(degree = 2))
  refused_formula("`intercept` must be TRUE or FALSE",
                  y ~ bs(a, knots = 20, Boundary.knots = c(10, 30), intercept = "x"))
  refused_formula("each factor once", y ~ a + f, contrasts = list("contr.sum"))
  refused_formula("there is no `by`", y ~ s(a, by = f))
  refused_formula("there is no `bs`", y ~ s(a, bs = "cr"))
  refused_formula("`k` and `knots` must be constants", y ~ s(a, k = n))
  refused_formula("two or more different numbers", y ~ s(a, knots = 5))
  refused_formula("ti() needs two columns", y ~ s(a) + ti(a))
  refused_formula("The method \"newton\" takes no smooth terms", y ~ s(a), method = "newton")
  refused_formula("`start` does not go with smooth terms", y ~ s(a), method = "newton-ridge", start = c(1, 2))
  refused_formula("A network takes no smooth terms", y ~ s(a), model = model_mlp(2), bounds = frame_bounds)
})

test_that("methods that a problem does not have", {
  bounded <- function(reason, formula = y ~ a, data = d, ...) {
    refused_formula(reason, formula, data, bounds = frame_bounds, ...)
  }
  refused_matrix("needs a convex loss: the sigmoid loss has negative curvature", method = "newton-ridge",
                 loss = "sigmoid")
  refused_matrix("is for problems that are not convex", method = "warm-ridge")
  refused_matrix("needs a loss with a Lipschitz second derivative", method = "opt", loss = "huber_svm")
  refused_matrix("goes with convex penalties only", method = "gd", loss = "huber_svm",
                 penalty = penalty_nonconvex(0.1))
  refused_matrix("asks for Hessians", method = "spider", loss = "huber_svm", control = control_spider("published"))
  several <- function(reason, ...) bounded(reason, f ~ a, loss = "multinomial", ...)
  several("is for losses of one predictor", method = "opt")
  several("need the geometry of the method \"newton-ridge\"", method = "newton", inference = "model")
  several("goes with `penalty_ridge()` or no penalty", penalty = penalty_nonconvex(0.1))
  several("needs `control_newton(curvature = \"moment\")`", method = "newton", control = control_newton("lazy"))
  several("has no `geometry`", method = "gd", geometry = "private")
  refused_formula("needs columns beside the intercept", f ~ 1, method = "newton-ridge")
  person <- transform(d, person = seq_len(60))
  of_persons <- function(reason, method) bounded(reason, data = person, id = "person", method = method)
  of_persons("draws batches of records", "sgd")
  of_persons("reads each record once", "spider")
  of_persons("rests on the rank of a record's second derivative", "objpert")
  bounded("does not take a network", model = model_mlp(2), method = "opt")
  bounded("`penalty` does not go with `model`", model = model_mlp(2), penalty = penalty_ridge(1))
  bounded("which pays for no intervals", method = "objpert", inference = "model")
  bounded("`curvature` \"moment\" is for `loss_multinomial()`", method = "newton",
          control = control_newton("moment"))
})

test_that("settings that are taken have their effect", {
  share <- function(part) {
    fit <- quiet_fit(f ~ a, d, eps = 5, delta = 1e-6, bounds = frame_bounds["a"], method = "newton-ridge",
                     noise = "reproducible", control = control_newton_ridge(matrix_share = part))
    ledger <- dp_ledger(fit)
    sum(ledger$rho[ledger$what == "weighted matrix"])
  }
  expect_equal(share(0.6), 2 * share(0.3))
  fit <- function(...) {
    set.seed(1)
    quiet_fit(..., eps = 1, delta = 1e-6, model = model_mlp(2), method = "auto", noise = "reproducible")
  }
  images <- array(1:240 %% 5L, c(60, 2, 2))
  expect_identical(fit(images, factor(p$y), bounds = c(0, 5))$weights,
                   fit(images + 0, factor(p$y), bounds = c(0, 5))$weights)
  counts <- fit(k ~ b, transform(d, k = stats::rpois(60, 2)), loss = loss_poisson(10), bounds = frame_bounds["b"])
  expect_equal(predict(counts, d, type = "response"), exp(predict(counts, d, type = "link")))
  numbers <- fit(a ~ b, d, loss = loss_huber(c(10, 30)), bounds = frame_bounds["b"])
  expect_identical(predict(numbers, d, type = "response"), predict(numbers, d))
  oracle <- dp_oracle(p$x, d$f, "multinomial", dp_budget(mu = 1), radius = 2)
  w <- cos(1:9)
  apart <- matrix(w, 3) / 2 # the rows were divided by the radius
  expect_equal(coef(oracle, w), apart - rowMeans(apart), ignore_attr = TRUE)
  expect_identical(colnames(coef(oracle, w)), levels(d$f))
})

test_that("certificates of networks, and what a curve or a choice has not", {
  network <- quiet_fit(p$x, p$y > 0, eps = 1, delta = 1e-6, model = model_mlp(2), bounds = c(-1, 1), method = "auto",
                       noise = "reproducible")
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(dp_certify(network, p$x, budget = budget, y = p$y > 0), "A network cannot be certified",
               class = "dpsosp_error_network")
  curve <- function(...) dp_curve(y ~ a, d, eps = 0.1, ..., bounds = frame_bounds["a"], budget = budget)
  expect_error(curve(zzzzzzzz = 1), "`zzzzzzzz`. Of `dp_sosp()`'s there are `loss`", fixed = TRUE,
               class = "dpsosp_error_argument")
  of_persons <- transform(d, person = seq_len(60))
  expect_error(dp_curve(y ~ a, of_persons, eps = 0.1, methods = list(own = function(...) NULL), public = TRUE,
                        id = person, bounds = frame_bounds["a"]), "do not go with `id`",
               class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
  candidates <- list(newton = list(method = "newton"), gd = list(method = "gd"))
  expect_error(suppressMessages(dp_tune(candidates, y ~ a, d, eps = 1e-4, delta = 1e-300, strategy = "poisson")),
               "too small for a random number of runs", class = "dpsosp_error_argument")
})

test_that("an infinite eps leaves no delta", {
  expect_equal(dp_convert(mu = 1, eps = Inf, to = "delta"), 0)
})

test_that("columns of a database that are not read as they are declared, and ranges that it cannot use", {
  connection <- sqlite_connection()
  source <- push_pair(connection, transform(d, day = 1L), types = c(day = "Date"))$push
  refused_formula("`day` is declared as Date, which this database does not compute with", y ~ day, source)
  source <- push_pair(connection, d)$push
  problem <- suppressMessages(dpsosp:::problem_source(y ~ b, source, "logistic", frame_bounds["b"], NULL, NULL, NULL))
  push <- source$push
  push$dialect <- dpsosp:::dialects$postgres
  push$types[] <- "json"
  expect_error(dpsosp:::check_pushed(push, problem$design, problem$response, NULL),
               "`b` has the type json, which is not read as number there.*push = FALSE",
               class = "dpsosp_error_argument")
  sums <- function(push, design = problem$design) {
    dpsosp:::push_sums(push, design, problem$response, 60, problem$loss, TRUE, design$radius)
  }
  expect_true("gradient" %in% sums(source$push)$words)
  short <- source$push
  short$dialect$characters <- 100
  expect_null(sums(short)) # no statement is that short
  far <- problem$design
  far$ranges["b", ] <- c(-1e200, 1e200)
  expect_null(sums(source$push, far))
  push <- source$push
  push$persons <- list(key = "t.a")
  expect_error(sums(push, far), "too large or too close.*charged stays charged", class = "dpsosp_error_source")
  expect_null(dpsosp:::known_dialect(structure(list(), class = "AnotherConnection")))
})

test_that("certificates of shards in databases", {
  source <- push_pair(sqlite_connection(), d)$push
  fit <- quiet_fit(y ~ a, d, eps = 1, delta = 1e-6, bounds = frame_bounds["a"], noise = "reproducible")
  shards <- dpsosp:::source_of(dpsosp:::rows_stay, source$n, source$schema, "2 shards")
  shards$shards <- list(where = list(1, 2), n = c(30, 30), linked = TRUE)
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(dp_certify(fit, shards, budget = budget), "sums that a database does not compute, and no rows",
               class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("formulas whose columns would have one name, or without a response", {
  d[["fv:a"]] <- d$a / 30
  expect_error(quiet_fit(y ~ f * a + `fv:a`, d, eps = 1), "column and an interaction that are both called `fv:a`",
               class = "dpsosp_error_argument")
  expect_error(quiet_fit(NULL ~ a, d, eps = 1), "not a single constant", class = "dpsosp_error_argument")
})
