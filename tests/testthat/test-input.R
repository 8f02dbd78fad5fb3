d <- problem_frame(60)
d$text <- "u"
p <- problem_matrix(60)
b <- frame_bounds

# Every error here is raised before the barrier, so the budget is unchanged.
untouched <- function(budget) expect_equal(nrow(dp_ledger(budget)), 0)

test_that("errors about data and formula say what to do, and charge nothing", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  fit <- function(...) dp_sosp(..., budget = budget, progress = FALSE)
  three <- transform(d, y = factor(rep(1:3, 20)))
  expect_errors(
    dp_sosp(),
    fit(y ~ a),
    fit(y ~ a, as.list(d)),
    fit(y ~ a, d[0, ]),
    fit(d, y ~ a),
    fit("y ~ a", d),
    fit(~a, d),
    fit(y ~ z, d),
    fit(y ~ text, d),
    fit(text ~ a, d),
    fit(y ~ scale(a), d),
    fit(y ~ a + poly(b, 2), d),
    fit(y ~ a, three, loss = "logistic"),
    fit(factor(y) ~ b, d),
    fit(y ~ a, transform(d, a = I(cbind(a, a)))),
    fit(y ~ a + offset(b), d),
    fit(y ~ 0, d)
  )
  expect_errors(
    fit(y ~ a, d, bounds = list(a = c(30, 10))),
    fit(y ~ a, d, bounds = list(a = c(10, Inf))),
    fit(y ~ a, d, bounds = list(a = c(10, 10))),
    fit(y ~ a, d, bounds = list(z = c(-1, 1))),
    fit(y ~ f, d, bounds = list(f = c(0, 1))),
    fit(y ~ a, d, bounds = c(10, 30))
  )
  expect_errors(
    fit(p$x, p$y > 0),
    fit(p$x, radius = 2),
    fit(p$x, (p$y > 0)[1:5], radius = 2),
    fit(as.data.frame(p$x), p$y > 0, radius = 2),
    fit(p$x[, 1], p$y > 0, radius = 2),
    fit(p$x, as.matrix(p$y > 0), radius = 2),
    fit(p$x, p$y > 0, radius = Inf),
    fit(p$x, p$y > 0, radius = 1e-300),
    fit(p$x[0, ], (p$y > 0)[0], radius = 2),
    fit(p$x[, 0], p$y > 0, radius = 2, intercept = FALSE),
    fit(p$x, p$y > 0, radius = 2, bounds = list(x1 = c(-1, 1)))
  )
  untouched(budget)
})

test_that("errors about the run name the argument, and charge nothing", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  fit <- function(...) dp_sosp(y ~ a, d, ..., bounds = b["a"])
  expect_errors(
    fit(),
    fit(eps = 0),
    fit(eps = -1),
    fit(eps = Inf),
    fit(eps = "1"),
    fit(eps = c(1, 2)),
    fit(eps = 1, delta = 0),
    fit(eps = 1, delta = 1.5),
    fit(delta = 1e-6, budget = budget),
    fit(eps = 1, budget = 1),
    fit(budget = budget, method = "adam"),
    fit(budget = budget, metod = "opt"),
    fit(budget = budget, weights = rep(1, 60)),
    fit(budget = budget, subset = 1:10),
    fit(budget = budget, loss = "hinge"),
    fit(budget = budget, loss = loss_logistic),
    fit(budget = budget, penalty = 0.1),
    fit(budget = budget, target = 0.1),
    fit(budget = budget, control = list(gap = 1)),
    fit(budget = budget, neighbours = "add-remove"),
    fit(budget = budget, noise = "gaussian"),
    fit(budget = budget, start = 1),
    fit(budget = budget, start = c(0, 1e200)),
    fit(budget = budget, progress = "yes"),
    fit(0.1, 1e-6, "opt", "logistic", NULL, NULL, NULL, NULL, budget, "replace-one", NULL, "secure", FALSE, "double", 3)
  )
  untouched(budget)
})

test_that("an unknown argument is named though it cannot be evaluated", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(call, name) {
    expect_error(call, paste0("Unknown argument: ", name), fixed = TRUE, class = "dpsosp_error_argument")
  }
  refused(dp_sosp(p$x, p$y, budget = budget, radius = 2, subset = not_there), "`subset`")
  # Names that internal functions use for their own arguments.
  refused(dp_sosp(y ~ a, d, budget = budget, topic = 1), "`topic`")
  refused(dp_sosp(y ~ a, d, budget = budget, call = 1), "`call`")
  refused(dp_source(in_chunks(d, 30), chunk = not_there), "`chunk`")
  untouched(budget)
})

test_that("a formula may come by its name in any place, as in lm()", {
  fit <- function(...) {
    set.seed(1)
    quiet_fit(..., eps = 5, delta = 1e-6, bounds = b["a"], noise = "reproducible")
  }
  expected <- coef(fit(y ~ a, d))
  expect_identical(coef(fit(data = d, formula = y ~ a)), expected)
  expect_identical(coef(fit(d, formula = y ~ a)), expected)
  expect_identical(coef(fit(formula = y ~ a, data = d)), expected)
  set.seed(1)
  again <- dp_sosp(data = d, eps = 5, delta = 1e-6, formula = y ~ a, bounds = b["a"], noise = "reproducible",
                   method = "2opt-ls")
  expect_identical(coef(again), expected)
  expect_identical(names(coef(update(again, . ~ . + b, bounds = b))), c("(Intercept)", "a", "b"))
  expect_error(fit(data = d, formula = "y ~ a"), "`formula` must have a response", class = "dpsosp_error_argument")
})

test_that("a formula in quotes, or none, is not taken for a misspelt argument", {
  expect_error(dp_sosp("y ~ a", data = d, eps = 1), "`data` goes with a formula", class = "dpsosp_error_argument")
  expect_error(dp_sosp(data = d, eps = 1), "`data` goes with a formula", class = "dpsosp_error_argument")
})

test_that("sparse matrices of another class are refused with advice that helps", {
  skip_if_not_installed("Matrix")
  good <- as_sparse(matrix(c(0, 0, 1, 0), 2))
  others <- list(Matrix::Matrix(c(0, 0, 1, 0), 2, sparse = TRUE), methods::as(good, "TsparseMatrix"), good > 0,
                 methods::as(good > 0, "nMatrix"), Matrix::crossprod(good), Matrix::Diagonal(2))
  for (x in others) {
    refused <- expect_error(dp_sosp(x, c(0, 1), eps = 1, radius = 1), class = "dpsosp_error_argument")
    advice <- sub(".*`(as.*)` makes one.*", "\\1", conditionMessage(refused))
    expect_s4_class(eval(str2lang(advice), list(x = x, as = methods::as)), "dgCMatrix")
  }
})

test_that("errors say what an argument is", {
  expect_equal(describe(array(1, 3)), "a numeric array (3)")
  expect_equal(describe(array("a", c(1, 2, 3))), "a character array (1 x 2 x 3)")
  expect_equal(describe(I(matrix(1, 2, 1))), "a numeric matrix (2 x 1)")
  expect_equal(describe(data.frame(a = 1:3)), "a data frame (3 x 1)")
  expect_equal(describe(I(list(1, 2))), "a list of length 2")
  expect_equal(describe_column(NULL), "NULL")
})

test_that("what an error says of a column of one record does not depend on its value", {
  message <- function(y, ...) conditionMessage(expect_error(quiet_fit(y ~ a, data.frame(y = y, a = 1), eps = 1, ...)))
  expect_identical(message(as.Date(NA)), message(as.Date("2020-01-01")))
  expect_identical(message(NA_character_), message("yes"))
  expect_identical(message(NA, loss = loss_huber(c(0, 1)), method = "gd"),
                   message(TRUE, loss = loss_huber(c(0, 1)), method = "gd"))
  one <- function(y) conditionMessage(expect_error(quiet_fit(matrix(1), y, eps = 1, radius = 1)))
  expect_identical(one(as.Date(NA)), one(as.Date("2020-01-01")))
})

test_that("odd data give a fit", {
  sane <- function(fit) {
    expect_s3_class(fit, "dp_sosp")
    expect_true(all(is.finite(coef(fit))))
    expect_output(print(fit), "dp_sosp")
    fit
  }
  run <- function(formula, data = d, ...) sane(quiet_fit(formula, data, eps = 1, ...))
  run(y ~ a, transform(d, a = 20), bounds = b["a"]) # a constant column
  run(y ~ a, transform(d, a = 20))
  run(y ~ a, transform(d, a = 0))
  run(y ~ a, transform(d, a = NA_real_))
  run(y ~ a, transform(d, a = c(Inf, -Inf, NaN, NA, a[-(1:4)])))
  run(y ~ a, transform(d, a = a * 1e300))
  run(y ~ a, transform(d, a = a * 1e-310))
  run(y ~ a, transform(d, y = y[NA]), bounds = b["a"])
  run(y ~ a, transform(d, y = y[1]), bounds = b["a"]) # one class only
  run(y ~ a, d[1, ])
  run(y ~ a + b, d[1:2, ])
  run(y ~ 1)
  run(y ~ f - 1)
  empty <- transform(d, f = factor(f, levels = c("u", "v", "w", "never")))
  expect_true("fnever" %in% names(coef(run(y ~ f, empty))))
  run(y ~ a, transform(d, a = as.integer(a)))
  run(y ~ b > 0)
  run(y ~ a, cbind(d, list = I(as.list(1:60))))
  run(y ~ `odd name`, stats::setNames(d, sub("^a$", "odd name", names(d))))
  run(I(y == "yes") ~ a, d)
  run(y ~ a, structure(d, class = c("data.table", "data.frame")))
  set.seed(3)
  wide <- matrix(runif(5 * 20, -1, 1), 5) # more columns than rows
  sane(quiet_fit(wide, c(FALSE, TRUE, FALSE, TRUE, TRUE), eps = 1, radius = 3))
  sane(quiet_fit(wide[, 1, drop = FALSE], c(FALSE, TRUE, FALSE, TRUE, NA), eps = 1, radius = 3))
  sane(quiet_fit(wide[1, , drop = FALSE], 1, eps = 1, radius = 3))
  sane(quiet_fit(wide[, 0], c(FALSE, TRUE, FALSE, TRUE, TRUE), eps = 1, radius = 3))
  for (radius in c(1e-40, 1e40)) sane(quiet_fit(wide, c(FALSE, TRUE, FALSE, TRUE, TRUE), eps = 1, radius = radius))
  for (method in c("newton", "newton-b", "damped-newton")) {
    sane(quiet_fit(wide, c(FALSE, TRUE, FALSE, TRUE, TRUE), eps = 1, radius = 3, method = method))
    sane(quiet_fit(wide[, 0], c(FALSE, TRUE, FALSE, TRUE, TRUE), eps = 1, radius = 3, method = method))
  }
  wide[] <- NA
  expect_equal(nobs(sane(quiet_fit(wide, c(FALSE, TRUE, FALSE, TRUE, TRUE), eps = 1, radius = 3))), 5)
})

test_that("extreme budgets give a fit or a clear error", {
  for (eps in c(1e-6, 1e-12, 1e-300, 1e6, 1e300)) {
    for (bounds in list(b["a"], "private")) {
      fit <- tryCatch(quiet_fit(y ~ a, d, eps = eps, delta = 1e-6, bounds = bounds), dpsosp_error = identity)
      if (inherits(fit, "dpsosp_error")) {
        expect_match(conditionMessage(fit), "too small")
      } else {
        expect_true(all(is.finite(coef(fit))))
        expect_equal(sum(dp_ledger(fit)$rho) / fit$privacy$rho, 1, tolerance = 1e-9)
      }
    }
  }
  for (delta in c(1e-300, 1e-15, 0.0999)) {
    expect_s3_class(quiet_fit(y ~ a, d, eps = 1, delta = delta, bounds = b["a"]), "dp_sosp")
  }
})

# ---- malformed values for every argument of every exported function ----

malformed <- list(
  NULL, NA, NA_real_, NaN, Inf, -1, 0, 0.5, 1:2, c(1, NA), numeric(), "", "zzz", NA_character_, c("a", "b"),
  character(),
  TRUE, c(TRUE, NA), list(), list(1, 2), list(a = 1), quote(x), quote(f(x)), y ~ x, 1i, as.raw(1), new.env(), mean, sum,
  matrix(1, 2, 2), matrix("a", 1, 1), data.frame(x = 1), factor("a"), Sys.Date(), structure(list(), class = "zzz"),
  array(1, c(1, 1, 1))
)

csv_file <- withr::local_tempfile(fileext = ".csv", .local_envir = teardown_env())
utils::write.csv(d, csv_file, row.names = FALSE)

matrix_fit <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-5, radius = 2)
frame_fit <- quiet_fit(y ~ a, d, eps = 1, delta = 1e-5, bounds = b["a"])

# good_call() evaluates one at a time, with an oracle and a budget of its own.
good_calls <- expression(
  dp_source = list(x = in_chunks(d, 30), n = 60, levels = list(text = "u")),
  dp_source = list(x = csv_file, n = 60, levels = list(text = "u"), types = c(a = "numeric"), chunk = 30),
  dp_sosp = list(formula = y ~ a, data = dp_source(in_chunks(d, 30), n = 60), eps = 0.01, delta = 1e-6,
                 method = "opt", bounds = b["a"], budget = budget, progress = FALSE),
  dp_sosp = list(formula = y ~ a, data = d, eps = 0.01, delta = 1e-6, method = "opt", loss = "logistic",
                 penalty = NULL, bounds = b["a"], radius = NULL, target = NULL, control = NULL, budget = budget,
                 neighbours = "replace-one", start = NULL, noise = "secure", progress = FALSE, storage = "single",
                 inference = "model"),
  dp_sosp = list(x = p$x, y = p$y, eps = 0.01, delta = 1e-6, method = "opt", radius = 2, intercept = TRUE,
                 target = NULL, control = NULL, budget = budget, start = NULL, progress = FALSE, storage = "double"),
  dp_sosp = list(x = p$x, y = 3 * p$x[, 1], eps = 0.01, delta = 1e-6, method = "newton", loss = loss_huber(c(-3, 3)),
                 radius = 2, intercept = TRUE, start = c(0, 1, 0), control = control_newton(iterations = 3),
                 budget = budget, progress = FALSE),
  dp_budget = list(eps = 1, delta = 1e-6, rho = NULL, mu = NULL, accountant = "auto", plan = NULL),
  dp_ledger = list(x = budget),
  dp_verify = list(x = frame_fit, budget = NULL),
  dp_report = list(x = frame_fit, file = NULL, format = "markdown"),
  dp_oracle = list(x = p$x, y = p$y, loss = "logistic", budget = budget, radius = 2, intercept = TRUE,
                   neighbours = "replace-one", noise = "secure", storage = "single"),
  dp_value = list(oracle = oracle, w = c(0, 0, 1), mu = 0.001, rho = NULL),
  dp_gradient = list(oracle = oracle, w = c(0, 0, 1), mu = 0.001, rho = NULL),
  dp_hessian = list(oracle = oracle, w = c(0, 0, 1), mu = 0.001, rho = NULL),
  dp_line_search = list(oracle = oracle, w = c(0, 0, 1), direction = c(0, 0, 1), steps = 1, mu = 0.001, rho = NULL,
                        mechanism = "gaussian", sufficient = 0),
  dp_convert = list(eps = 1, delta = 1e-6, rho = NULL, mu = NULL, to = "mu", order = NULL,
                    group = NULL),
  control_opt = list(constants = "tight", line_search = "svt", gap = 1, confidence = 0.9, max_iterations = 10,
                     gap_share = 0.1, phase1_share = 0.5, search_share = 0.5, hessian_share = 0.5, b_g = 2, b_H = 2,
                     beta_g = 0.5, beta_H = 0.5, batch = 10, sampling = "wor", batch_share = 0.5),
  control_tr = list(constants = "tight", stop = "dual", gap = 1, confidence = 0.9, max_iterations = 10,
                    gap_share = 0.1, batch = 10, sampling = "wor", batch_share = 0.5),
  control_gd = list(gap = 1, confidence = 0.9, max_iterations = 10, gap_share = 0.1, hessian_share = 0.5, batch = 10,
                    sampling = "poisson", batch_share = 0.5),
  features_scattering = list(x = matrix(0.5, 3, 24), bounds = c(0, 1), order = "first", size = c(4, 6)),
  trust_region_step = list(gradient = c(1, 2), hessian = diag(2), radius = 1),
  planned_iterations = list(method = "opt", eps_g = 0.1, eps_h = 0.1, gap = 1, smooth = 1, third = 1),
  required_rows = list(method = "opt-ls", eps_g = 0.1, eps_h = 0.1, d = 5, eps = 1, delta = 1e-6, gap = 1, smooth = 1,
                       third = 1, gradient = 1, hessian = 1, failure = 0.1, constant = 1),
  dp_curve = list(formula = y ~ a, data = d, eps = 0.001, methods = "newton", reps = 1, metric = "log_loss",
                  newdata = NULL, public = TRUE, budget = NULL, holdout = 0.5, cores = 1, delta = 1e-6, clip = 0.1,
                  noise = "secure", progress = FALSE, bounds = b["a"]),
  dp_plan = list(n = 2000, numeric = 2, levels = c(2, 3), eps = 1, delta = 1e-6, method = "newton", inference = TRUE,
                 variance = 0.1, curvature = 0.14, shares = NULL, effect = 0.7, want = list(width = 2)),
  dp_plan = list(n = 2000, formula = y ~ a, schema = d, eps = 1, delta = 1e-6, want = list(target = 0.1)),
  sufficient_batch = list(eps_g = 0.1, eps_h = 0.1, d = 5, iterations = 10, failure = 0.1, gradient = 1, hessian = 1,
                          third = 1, c = 0.1, c1 = 0.1, c2 = 0.1),
  saddle_problem = list(n = 1000, d = 2),
  control_spider = list(leaves = 8, noise = "tree", gap = 1, confidence = 0.9, hessian_share = 0.2,
                        certificate_share = 0.2, value_share = 0.1, escape = "drift"),
  control_newton = list(curvature = "qu", modify = "add", iterations = 3, lambda0 = 0.1, lambda_scale = 1,
                        curvature_share = 0.5, adaptive = TRUE, trace_share = 0.1, search_share = 0.1,
                        certificate_share = 0.1, tail = 0.5, confidence = 0.9, batch = 10, sampling = "poisson"),
  control_line_search = list(line_search = "svt", attempts = 10, candidates = 5, first = 1, ratio = 0.5,
                             sufficient = 0.3, gradient_share = 0.5, certificate_share = 0.1, confidence = 0.9,
                             batch = 10, sampling = "poisson"),
  control_network = list(epochs = 2, batch = 20, clip = 1, step = 1, momentum = 0.5, sampling = "wor"),
  model_mlp = list(hidden = c(3, 2), activation = "relu"),
  model_cnn = list(channels = c(2, 3), kernel = 3, stride = 1, padding = 1, pool = 2, pool_stride = 2, hidden = 4,
                   activation = "tanh"),
  dp_sosp = list(x = p$x, y = p$y, eps = 0.01, delta = 1e-6, model = model_mlp(2), bounds = c(-1, 1), method = "adam",
                 control = control_network(epochs = 1), neighbours = "replace-one", noise = "secure", progress = FALSE),
  control_cubic = list(solver = "direct", iterations = 3, inner_steps = 5, diameter = 10, hessian_share = 0.3,
                       certificate_share = 0.1, confidence = 0.9),
  control_perturbation = list(lambda = 0.1, size = 2, kappa_share = 0.1, output_share = 0.1, confidence = 0.9),
  dp_audit = list(x = function(bit) bit + stats::rnorm(1), pair = list(0, 1), eps = 4, delta = 1e-5, method = "pairs",
                  runs = 20, statistic = identity, tradeoff = "gdp", conf = 0.9, progress = FALSE),
  dp_audit = list(x = function(signs) signs + 0.1, eps = 4, delta = 1e-5, method = "one-run", canaries = 20,
                  guesses = 4, conf = 0.9),
  dp_audit = list(x = quiet_fit(p$x, p$y, eps = 1, delta = 1e-5, radius = 2), method = "one-run", runs = 10,
                  canaries = 3, guesses = 2, conf = 0.9, progress = FALSE),
  dp_evaluate = list(fit = matrix_fit, newdata = p$x, eps = 0.01, delta = 1e-6, budget = budget, metrics = "table",
                     clip = 0.01, cells = 4, y = p$y, neighbours = "replace-one", noise = "secure"),
  dp_evaluate = list(fit = frame_fit, newdata = d, eps = 0.01, delta = 1e-6, budget = budget),
  dp_inference = list(fit = matrix_fit, data = p$x, eps = 0.01, delta = 1e-6, type = "model", budget = budget, y = p$y,
                      noise = "secure"),
  dp_inference = list(fit = frame_fit, data = d, eps = 0.01, delta = 1e-6, budget = budget),
  dp_certify = list(fit = matrix_fit, data = p$x, eps = 0.01, delta = 1e-6, budget = budget, y = p$y, confidence = 0.9,
                    noise = "secure"),
  dp_certify = list(fit = frame_fit, data = d, eps = 0.01, delta = 1e-6, budget = budget),
  dp_tune = list(candidates = list(a = list(method = "newton"), b = list(method = "gd")), formula = y ~ 1, data = d,
                 eps = 1, delta = 1e-6, score = "log_loss", holdout = 0.2, strategy = "split", clip = 0.01,
                 neighbours = "replace-one", noise = "secure"),
  event_gaussian = list(sigma = 2, neighbours = "zero-out"),
  event_laplace = list(scale = 2, neighbours = "zero-out"),
  event_pure = list(eps = 2, neighbours = "zero-out"),
  event_exponential = list(range = 2, neighbours = "zero-out"),
  event_svt = list(eps = 2, k = 3, neighbours = "zero-out"),
  event_svt_gaussian = list(threshold = 2, query = 2, k = 3, neighbours = "zero-out"),
  event_tree = list(sigma = 2, leaves = 5, factorisation = "sqrt", neighbours = "zero-out"),
  event_subsample = list(event = event_gaussian(2), rate = 0.1, scheme = "wor"),
  event_compose = list(event_gaussian(2)),
  event_repeat = list(event = event_gaussian(2), times = 3),
  dp_account = list(event = event_gaussian(2), accountant = "rdp", neighbours = "replace-one"),
  epsilon = list(p = dp_account(event_gaussian(2)), delta = 1e-6, bound = "optimistic"),
  delta = list(p = dp_account(event_gaussian(2)), eps = 1, bound = "optimistic"),
  dp_rdp = list(event = event_gaussian(2), order = 3),
  dp_filter_order = list(event = event_gaussian(2), eps = 1, delta = 1e-6),
  dp_calibrate = list(family = event_gaussian, eps = 1, delta = 1e-6, range = c(1, 10), accountant = "gdp",
                      tolerance = 0.1),
  sosp = list(eps_g = 0.1, eps_h = 0.1),
  loss_logistic = list(slope = 0.6),
  geometry_public = list(mean = c(a = 0, b = 2), sd = c(a = 1, b = 1)),
  control_newton_ridge = list(iterations = 20, matrix_share = 0.1, certificate_share = 0.1,
                              confidence = 0.9),
  control_warm_ridge = list(iterations = 20, own_share = 0.4, matrix_share = 0.1, certificate_share = 0.1,
                            confidence = 0.9),
  loss_huber_svm = list(h = 0.5),
  loss_squared = list(response = c(-3, 3)),
  loss_huber = list(response = c(0, 10), c = 1),
  loss_poisson = list(max = 20),
  sosp = list(alpha = 0.1),
  penalty_ridge = list(lambda = 1),
  penalty_nonconvex = list(lambda = 1)
)

good_call <- function(i) {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  delayedAssign("oracle", dp_oracle(p$x, p$y, "logistic", budget, 2))
  eval(good_calls[[i]])
}

test_that("every exported function is among those tried with malformed values", {
  exported <- getNamespaceExports("dpsosp")
  without_arguments <- c("loss_sigmoid", "loss_multinomial", "penalty_none")
  elsewhere <- c("dp_shards", "dp_reserve", "dp_sosp_engine") # test-shards.R, test-store.R; the last calls dp_sosp()
  expect_setequal(exported, c(names(good_calls), without_arguments, elsewhere))
})

complain <- function(name, call) {
  budget <- if (is.list(call$oracle)) call$oracle$budget else call$budget
  run <- function() suppressWarnings(suppressMessages(do.call(name, call, quote = TRUE)), "dpsosp_warning")
  outcome <- tryCatch(run(), error = identity)
  if (inherits(outcome, "dp_sosp") && !all(is.finite(coef(outcome)))) return("coefficients are not finite")
  if (!inherits(outcome, "error")) return()
  if (!inherits(outcome, "dpsosp_error")) return(paste("raised", conditionMessage(outcome)))
  if (inherits(budget, "dp_budget") && nrow(dp_ledger(budget)) > 0L) return("was charged for")
}

test_that("malformed values give errors of the package before anything is charged, or something sane", {
  wrong <- character()
  tried <- 0
  turn <- 0
  for (i in seq_along(good_calls)) {
    for (argument in names(good_call(i))) {
      turn <- turn + 1
      for (value in long_values(long_values(malformed, turn), turn)) {
        # A new budget each time, so that any charge can be seen.
        call <- good_call(i)
        call[argument] <- list(value)
        tried <- tried + 1
        complaint <- complain(names(good_calls)[i], call)
        if (length(complaint) == 0L) next
        what <- paste0(names(good_calls)[i], "(", argument, " = ", paste(deparse(value), collapse = " "), ")")
        wrong <- c(wrong, paste(what, complaint))
      }
    }
  }
  expect_identical(wrong, character())
  expect_gt(tried, long_size(2000, 600))
})
