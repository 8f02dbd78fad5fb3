# Losses whose slope has kinks: numeric responses with bounds, and support vector machines.

p <- problem_matrix(2000, 2)
set.seed(2)
y <- drop(30 + p$x %*% c(6, -4)) + 2 * rt(2000, 3) # in bounds c(10, 50): middle 30, half width 20
ends <- c(10, 50)
robust <- loss_huber(ends, c = 4)
z <- unit_rows(p$x, 2)
mapped <- (pmin(pmax(y, 10), 50) - 30) / 20

# l and l' of the mapped response (c = 4 / 20), and of labels.
huber_loss <- list(
  huber = list(value = function(t, y) ifelse(abs(t - y) <= 0.2, (t - y)^2 / 2, 0.2 * abs(t - y) - 0.02),
               slope = function(t, y) pmin(pmax(t - y, -0.2), 0.2)),
  huber_svm = list(value = function(t, y) ifelse(y * t <= 0.5, 1 - y * t, pmax(1.5 - y * t, 0)^2 / 2),
                   slope = function(t, y) -y * pmin(pmax(1.5 - y * t, 0), 1))
)
true_value <- function(kind, w, y, rows = z) mean(huber_loss[[kind]]$value(drop(rows %*% w), y))
true_gradient <- function(kind, w, y, rows = z) colMeans(rows * huber_loss[[kind]]$slope(drop(rows %*% w), y))
minimum <- function(kind, y, lambda = 0) {
  value <- function(w) true_value(kind, w, y) + lambda / 2 * sum(w^2)
  gradient <- function(w) true_gradient(kind, w, y) + lambda * w
  stats::optim(numeric(3), value, gradient, method = "BFGS", control = list(reltol = 1e-15, maxit = 1000))$par
}
# Coefficients of the mapped problem.
unit_coef <- function(fit) {
  if (fit$loss$name == "huber_svm") return(unname(coef(fit)) * 2)
  unname(coef(fit) - c(30, 0, 0)) / 20 * 2
}
study <- function(loss, response = y, eps = 1, method = "newton", ..., x = p$x, seed = 1,
                  control = if (method == "newton") control_newton(iterations = 30)) {
  set.seed(seed)
  quiet_fit(x, response, eps = eps, delta = 1e-6, radius = 2, method = method, loss = loss, noise = "reproducible",
            control = control, ...)
}

test_that("with a large budget every method finds the minimum", {
  cases <- list(
    list("newton", control_newton(iterations = 60), 1e-3),
    list("newton", control_newton("qu", iterations = 50), 0.02),
    list("objpert", control_perturbation(lambda = 0.01), 1e-4),
    list("outpert", control_perturbation(lambda = 0.01), 1e-3),
    list("gd", control_gd(max_iterations = 200), 0.02), list("sgd", control_gd(max_iterations = 200), 0.05)
  )
  for (case in cases) {
    lambda <- if (case[[1]] %in% c("objpert", "outpert")) 0.01 else 0
    target <- if (case[[1]] == "gd") sosp(1e-3, 1)
    numeric <- study(robust, eps = 1e5, method = case[[1]], control = case[[2]], target = target)
    expect_equal(unit_coef(numeric), minimum("huber", mapped, lambda), tolerance = case[[3]])
    labels <- study("huber_svm", p$y, eps = 1e5, method = case[[1]], control = case[[2]], target = target)
    least <- true_value("huber_svm", minimum("huber_svm", p$y, lambda), p$y)
    expect_lt(true_value("huber_svm", unit_coef(labels), p$y) - least, case[[3]])
  }
})

test_that("certificates hold, and the eigenvalue is known", {
  for (method in c("newton", "objpert", "outpert", "gd")) {
    for (seed in 1:3) {
      fit <- study(robust, method = method, seed = seed)
      gradient <- true_gradient("huber", unit_coef(fit), mapped)
      expect_lte(sqrt(sum(gradient^2)), fit$certificate$gradient[["upper"]])
      expect_true(fit$certificate$eigenvalue_known)
      expect_equal(c(fit$certificate$eigenvalue[["lower"]], fit$target$eps_h), c(0, 0))
    }
  }
  expect_equal(study(robust, target = sosp(alpha = 0.01))$target$eps_g, 0.01)
})

test_that("a rescaled response rescales the coefficients and nothing else", {
  for (method in c("newton", "objpert", "sgd", "newton-b")) {
    curvature <- if (method == "newton") "lazy" else "qu"
    control <- if (startsWith(method, "newton")) control_newton(curvature, iterations = 8)
    one <- study(robust, method = method, control = control, start = if (method != "objpert") c(28, 1, 2))
    two <- study(loss_huber(1000 * ends + 7, c = 4000), 1000 * y + 7, method = method, control = control,
                 start = if (method != "objpert") c(28007, 1000, 2000))
    expect_equal(coef(two), 1000 * coef(one) + c(7, 0, 0), tolerance = 1e-8)
    expect_equal(two$trace, one$trace, tolerance = 1e-8)
  }
})

test_that("responses outside the bounds are clipped, missing and infinite ones are null records", {
  far <- y
  far[1:40] <- rep(c(-1e300, 1e6), 20)
  near <- replace(far, 1:40, rep(ends, 20))
  expect_identical(coef(study(robust, far)), coef(study(robust, near)))
  gone <- replace(far, 1:40, rep(c(NA, Inf), 20))
  budget <- dp_budget(mu = 1e9)
  at <- c(0.3, -0.1, 0.2)
  oracle <- dp_oracle(p$x, gone, robust, budget, 2)
  rows <- z
  rows[1:40, ] <- 0
  expect_near(dp_gradient(oracle, at, mu = 1e7), true_gradient("huber", at, replace(mapped, 1:40, 0), rows))
  expect_near(dp_value(oracle, at, mu = 1e7), true_value("huber", at, replace(mapped, 1:40, 0), rows))
  template <- response_template(y, "y", loss = robust)
  expect_equal(response_code(template, c(10, 30, 50, -9, 1e300, NA, -Inf, 35L)), c(-1, 0, 1, -1, 1, NA, NA, 0.25))
  expect_false(any(unlist(template[c("bounds", "centre", "half")]) %in% y))
})

test_that("noise follows from the bounds of the loss", {
  at <- c(0.3, -0.1, 0.2)
  norm <- sqrt(sum(at^2))
  for (relation in c("replace-one", "zero-out")) {
    budget <- dp_budget(mu = 10)
    change <- if (relation == "replace-one") 2 else 1
    oracle <- dp_oracle(p$x, y, robust, budget, 2, neighbours = relation)
    expect_equal(attr(dp_gradient(oracle, at, mu = 1), "sd"), change * 0.2 / 2000, tolerance = 1e-6)
    # between a response at one end and the null record, whose loss is zero
    expect_equal(attr(dp_value(oracle, at, mu = 1), "sd"), (0.2 * (1 + norm) - 0.02) / 2000, tolerance = 1e-6)
    svm <- dp_oracle(p$x, p$y, "huber_svm", budget, 2, neighbours = relation)
    expect_equal(attr(dp_gradient(svm, at, mu = 1), "sd"), change / 2000, tolerance = 1e-6)
    expect_equal(attr(dp_value(svm, at, mu = 1), "sd"), change * norm / 2000, tolerance = 1e-6)
    expect_equal(attr(dp_line_search(svm, at, at, 1, mu = 1), "class"), "data.frame")
  }
  expect_near(dp_gradient(svm, at, mu = 1), true_gradient("huber_svm", at, p$y))
  majorant <- study(loss_huber_svm(0.1), p$y)$privacy$ledger
  expect_equal(majorant$sensitivity[majorant$what == "majorant"], sqrt(2) * 5 / 2000, tolerance = 1e-6)
})

test_that("rows may come in every form", {
  frame <- problem_frame(600)
  frame$y <- 3 * frame$a - frame$b + 2 * (frame$f == "v") + rnorm(600)
  loss <- loss_huber(c(0, 120), c = 3)
  fit <- function(data, ...) {
    set.seed(3)
    quiet_fit(y ~ a + b + f, data, eps = 3, delta = 1e-6, method = "newton", loss = loss, bounds = frame_bounds,
              noise = "reproducible", control = control_newton(iterations = 20), ...)
  }
  whole <- fit(frame)
  expect_equal(whole$response$kind, "bounded")
  expect_equal(coef(fit(dp_source(in_chunks(frame, 70), n = 600))), coef(whole), tolerance = 1e-10)
  expect_equal(coef(fit(frame, storage = "single")), coef(whole), tolerance = 1e-4)
  expect_equal(coef(whole)[["a"]], 3, tolerance = 0.5)
  expect_equal(formula(whole), y ~ a + b + f, ignore_attr = TRUE)
  skip_if_not_installed("Matrix")
  expect_equal(coef(study(robust, x = as_sparse(p$x))), coef(study(robust)), ignore_attr = TRUE, tolerance = 1e-8)
})

test_that("text in a later chunk of a numeric response that is no number is a null record", {
  d <- data.frame(x = runif(60), y = runif(60))
  answer <- function(later) {
    chunks <- list(d[1:30, ], later)
    source <- dp_source(function() {
      at <- 0
      function() if ((at <<- at + 1) <= 2) chunks[[at]]
    }, n = 60)
    set.seed(1)
    oracle <- dp_oracle(source, "y", loss_huber(0:1), dp_budget(eps = 1, delta = 1e-6), 2, noise = "reproducible")
    dp_gradient(oracle, c(0, 0), mu = 0.01)
  }
  later <- d[31:60, ]
  expect_identical(answer(transform(later, y = as.character(y))), answer(later))
  expect_identical(answer(transform(later, y = "none")), answer(transform(later, y = NA_real_)))
})

test_that("predictions are in units of the response, rows clipped as in the fit", {
  fit <- study(robust, eps = 1e4)
  expect_equal(predict(fit, p$x), drop(cbind(1, p$x) %*% coef(fit)), tolerance = 1e-10)
  expect_identical(predict(fit, p$x, "response"), predict(fit, p$x))
  far <- matrix(c(3, 4), 1)
  # the mapped prediction shrinks towards the centre of the bounds as the row is clipped
  expect_equal(predict(fit, far), 30 + (sum(c(1, far) * coef(fit)) - 30) * 2 / sqrt(26))
  expect_error(predict(fit, p$x, "class"), "numeric", class = "dpsosp_error_argument")
  svm <- study("huber_svm", p$y, method = "objpert")
  expect_true(all(predict(svm, p$x, "class") == (predict(svm, p$x) > 0)))
  expect_error(predict(svm, p$x, "response"), "probabilities", class = "dpsosp_error_argument")
})

test_that("exponentiated coefficients are no ratios, of which a warning tells", {
  skip_if_not_installed("generics")
  d <- data.frame(y = 1:60, x = rep(c(0, 1), 30))
  fit <- quiet_fit(y ~ x, d, eps = 1, loss = loss_huber(c(0, 60)), method = "newton")
  expect_warning(generics::tidy(fit, exponentiate = TRUE), "no ratios", class = "dpsosp_warning_link")
  expect_no_warning(generics::tidy(fit))
})

test_that("without an intercept the response is scaled but not shifted", {
  x <- (p$x + 1) / 2
  set.seed(5)
  positive <- pmin(pmax(drop(x %*% c(4, 2)) + rnorm(2000), 0), 8)
  loss <- loss_huber(c(0, 8), c = 1)
  fit <- study(loss, positive, eps = 1e5, intercept = FALSE, x = x)
  value <- function(b) {
    u <- abs(drop(x %*% b) - positive)
    mean(ifelse(u <= 1, u^2 / 2, u - 0.5))
  }
  expect_equal(unname(coef(fit)), stats::optim(c(0, 0), value, control = list(reltol = 1e-12))$par, tolerance = 1e-3)
  expect_equal(fit$loss$parameter, 1 / 8)
  template <- response_template(positive, "y", loss = fit$loss)
  expect_equal(response_code(template, c(-3, 0, 4, 9)), c(0, 0, 0.5, 1))
  expect_error(study(loss_huber(c(1000, 1001), c = 0.1), positive, intercept = FALSE), "thousandth",
               class = "dpsosp_error_argument")
})

test_that("methods that need Hessians refuse, before anything is charged", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(...) {
    expect_error(dp_sosp(p$x, p$y, budget = budget, radius = 2, loss = "huber_svm", ...),
                 class = "dpsosp_error_nonsmooth")
  }
  for (method in c("2opt-ls", "2opt", "opt-ls", "opt", "tr", "opt-b", "2opt-b", "tr-b", "cubic", "damped-newton")) {
    refused(method = method, penalty = if (method == "cubic") penalty_ridge(0.1))
  }
  for (curvature in c("hessian", "direct")) refused(method = "newton", control = control_newton(curvature))
  refused(method = "newton-b", control = control_newton("hessian"))
  for (method in c("gd", "sgd", "auto")) refused(method = method, penalty = penalty_nonconvex(0.1))
  oracle <- dp_oracle(p$x, p$y, "huber_svm", budget, 2)
  expect_error(dp_hessian(oracle, c(0, 0, 0), mu = 0.1), class = "dpsosp_error_nonsmooth")
  expect_equal(nrow(dp_ledger(budget)), 0)
  auto <- function(...) quiet_fit(p$x, p$y, eps = 1, radius = 2, method = "auto", loss = "huber_svm", ...)$method
  expect_equal(auto(), "newton-ridge")
  expect_equal(auto(penalty = penalty_ridge(0.1)), "newton")
})

test_that("parameters and responses are checked", {
  wrong <- function(...) expect_error(..., class = "dpsosp_error_argument")
  for (h in list(0, 0.001, 1.5, NA, "a", c(0.1, 0.2))) wrong(loss_huber_svm(h))
  for (b in list(1, c(1, 1), c(2, 1), c(0, NA), c(0, Inf), "a", c(0, 1e31), c(0, 1e-31))) wrong(loss_huber(b))
  expect_error(loss_huber(c(2, 1)), "`response` must be two finite numbers, the lower below the upper.",
               fixed = TRUE)
  for (c in list(0, -1, 1e-5, 1.1, NA, "a")) wrong(loss_huber(c(0, 1), c))
  for (c in list(0, -1, NA, "a")) wrong(loss_huber(c = c))
  for (k in list(0, 0.01, 11, NA, "a")) wrong(loss_huber(k = k))
  expect_error(loss_huber(c = 1, k = 1), "`c`, .* or `k`", class = "dpsosp_error_argument")
  for (response in list(p$y > 0, factor(p$y), as.character(p$y))) {
    wrong(dp_sosp(p$x, response, eps = 1, radius = 2, method = "newton", loss = robust))
  }
  expect_output(print(loss_huber(c(0, 20), 2)), "huber (c = 2, response in [0, 20])", fixed = TRUE)
  expect_output(print(loss_huber(k = 2)), "huber (k = 2)", fixed = TRUE)
  expect_equal(dp_oracle(p$x, y, loss_huber(c(-2, 6)), dp_budget(mu = 1), 2)$loss$c, 0.8)
  expect_output(print(loss_huber_svm()), "huber_svm (h = 0.5)", fixed = TRUE)
  fit <- study(robust, method = "objpert")
  expect_output(print(fit), "huber (c = 4, response in [10, 50]) loss", fixed = TRUE)
  expect_output(print(summary(fit)), "mapped rows and response", fixed = TRUE)
})

test_that("the default size of a solution is that of a predictor in [-1, 1]", {
  expect_equal(dpsosp:::perturbation_size(1e-4, robust), 2)
  expect_equal(dpsosp:::perturbation_size(0.01, loss_huber_svm()), 20)
  fit <- study(robust, eps = 4, method = "outpert")
  start <- true_value("huber", numeric(3), mapped)
  least <- true_value("huber", minimum("huber", mapped), mapped)
  expect_lt(true_value("huber", unit_coef(fit), mapped) - least, (start - least) / 4)
})

test_that("an audit of such a fit does not exceed its claim", {
  for (relation in long_values(c("replace-one", "zero-out"))) {
    fit <- study(robust, x = p$x[1:100, ], response = y[1:100], eps = 20, method = "outpert", neighbours = relation,
                 control = control_perturbation(lambda = 0.1))
    set.seed(4)
    audit <- dp_audit(fit, runs = 60, progress = FALSE)
    expect_gt(audit$bound, 0)
    expect_false(audit$exceeds)
  }
})
