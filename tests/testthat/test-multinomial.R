# A factor with more than two levels as the response: one predictor for each class.

classes_problem <- function(n, seed = 1) {
  set.seed(seed)
  x <- matrix(runif(2 * n, -1, 1), n, dimnames = list(NULL, c("a", "b")))
  true <- cbind(u = c(0.5, 2, 0), v = c(0, -1, 2), w = c(-0.5, -1, -2))
  at <- cbind(1, x) %*% true - log(-log(matrix(runif(3 * n), n)))
  y <- factor(colnames(true)[max.col(at)], levels = colnames(true))
  list(x = x, y = y, data = data.frame(y = y, x), true = true - rowMeans(true))
}
p <- classes_problem(3000)
ends <- list(a = c(-1, 1), b = c(-1, 1))
study <- function(..., data = p$data, formula = y ~ ., eps = 1, seed = 1, method = "auto") {
  set.seed(seed)
  quiet_fit(formula, data, eps = eps, method = method, delta = 1e-6, bounds = ends, noise = "reproducible", ...)
}

softmax <- function(t) exp(t) / rowSums(exp(t))
# The mapped rows are (1, a, b) / sqrt(3): gradients with respect to sqrt(3) times the coefficients.
true_gradient <- function(w, lambda = 0) {
  z <- cbind(1, p$x) / sqrt(3)
  w <- w * sqrt(3)
  crossprod(z, softmax(z %*% w) - outer(as.integer(p$y), 1:3, "==")) / nrow(z) + lambda * rbind(0, w[-1, ])
}
minimum <- function(lambda = 0) {
  value <- function(w) {
    t <- cbind(1, p$x) %*% matrix(w, 3)
    -mean(log(softmax(t)[cbind(seq_along(p$y), as.integer(p$y))])) + 3 * lambda / 2 * sum(matrix(w, 3)[-1, ]^2)
  }
  gradient <- function(w) sqrt(3) * as.vector(true_gradient(matrix(w, 3), lambda))
  found <- matrix(stats::optim(numeric(9), value, gradient, method = "BFGS", control = list(reltol = 1e-15))$par, 3)
  found - rowMeans(found)
}

test_that("with a large budget every method finds the minimum", {
  for (method in c("newton", "gd", "sgd")) {
    control <- switch(method, newton = control_newton("moment", clip = 2, iterations = 150),
                      control_gd(max_iterations = 600))
    target <- if (method == "gd") sosp(1e-3, 1)
    fit <- study(eps = 1e5, method = method, control = control, target = target)
    expect_equal(unname(coef(fit)), minimum(), tolerance = switch(method, sgd = 0.1, 0.02))
  }
  fit <- study(eps = 1e5, control = control_newton("moment", clip = 2), method = "newton",
               penalty = penalty_ridge(0.05))
  expect_equal(unname(coef(fit)), minimum(0.05), tolerance = 0.01)
})

test_that("the default fits, and its certificate holds", {
  for (seed in 1:3) {
    fit <- study(seed = seed, geometry = "none")
    expect_identical(fit$method, "newton")
    expect_identical(fit$control$curvature, "moment")
    expect_lt(sqrt(sum(true_gradient(coef(fit))^2)), fit$certificate$gradient[["upper"]])
    expect_identical(fit$certificate$eigenvalue[["lower"]], 0)
    expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
  }
  accuracy <- function(w) mean(max.col(cbind(1, p$x) %*% w) == as.integer(p$y))
  expect_gt(accuracy(coef(study(eps = 3))), accuracy(p$true) - 0.02)
})

test_that("coefficients have names and rows that sum to zero", {
  fit <- study()
  expect_identical(dimnames(coef(fit)), list(c("(Intercept)", "a", "b"), c("u", "v", "w")))
  expect_lt(max(abs(rowSums(coef(fit)))), 1e-12)
  constant <- quiet_fit(y ~ 1, p$data, eps = 1, delta = 1e-6, method = "auto")
  expect_identical(dimnames(coef(constant)), list("(Intercept)", c("u", "v", "w")))
  tidied <- tidy.dp_sosp(fit)
  expect_identical(names(tidied), c("y.level", "term", "estimate"))
  expect_identical(tidied$estimate[tidied$y.level == "v" & tidied$term == "a"], coef(fit)["a", "v"])
  expect_identical(nrow(glance.dp_sosp(fit)), 1L)
  expect_output(print(summary(fit)), "multinomial \\(classes = 3\\).*Coefficients.*weighted matrix")
  expect_output(print(summary(fit)), "20 gradients of clipped slopes")
  newton <- summary(study(method = "newton"))
  expect_output(print(newton), "Coefficients.*second moments")
  expect_output(print(newton), "60 clipped gradients")
})

test_that("predictions are those of the coefficients, each of its own row", {
  fit <- study()
  new <- data.frame(a = c(0.2, NA, -1, 0, Inf), b = c(-0.3, 0, 1, 0, 0))
  good <- c(1, 3, 4)
  link <- cbind(1, as.matrix(new[good, ])) %*% coef(fit)
  expect_equal(predict(fit, new)[good, ], unname(link), ignore_attr = TRUE)
  expect_equal(predict(fit, new, "response")[good, ], softmax(link), ignore_attr = TRUE)
  expect_identical(colnames(predict(fit, new, "response")), levels(p$y))
  expect_true(all(is.na(predict(fit, new, "response")[-good, ])))
  expect_identical(as.integer(predict(fit, new, "class")), replace(rep(NA, 5), good, max.col(link)))
  expect_identical(levels(predict(fit, new, "class")), levels(p$y))
  for (i in 1:5) expect_identical(predict(fit, new[i, ]), predict(fit, new)[i, , drop = FALSE])
  matrix_fit <- quiet_fit(p$x, p$y, eps = 1, delta = 1e-6, radius = 1.2, method = "auto")
  rows <- p$x[1:5, ]
  clip <- pmin(1, 1.2 / sqrt(1 + rowSums(rows^2)))
  expect_equal(predict(matrix_fit, rows), unname(clip * cbind(1, rows) %*% coef(matrix_fit)), ignore_attr = TRUE)
  extreme <- fit
  extreme$coefficients <- coef(fit) * 1e6
  expect_false(anyNA(predict(extreme, new, "response")[good, ]))
})

test_that("storages and sources give the same fit", {
  source <- dp_source(function() {
    at <- 0
    function() {
      at <<- at + 1
      if (at <= 3) p$data[1000 * (at - 1) + 1:1000, ]
    }
  })
  of_matrix <- function(x, method, ...) {
    set.seed(1)
    coef(quiet_fit(x, p$y, eps = 1, delta = 1e-6, radius = sqrt(3), method = method, noise = "reproducible", ...))
  }
  for (method in c("newton", "newton-ridge")) {
    fit <- study(method = method)
    expect_identical(coef(study(data = source, method = method)), coef(fit))
    dense <- of_matrix(p$x, method, bounds = matrix(c(-1, 1), 2, 2))
    expect_equal(dense, coef(fit), tolerance = 1e-9)
    skip_if_not_installed("Matrix")
    expect_equal(of_matrix(Matrix::Matrix(p$x, sparse = TRUE), method), of_matrix(p$x, method), tolerance = 1e-9)
  }
})

test_that("a missing or undeclared class, or value, makes a null record", {
  gradient <- function(x, y) {
    oracle <- dp_oracle(x, y, loss_multinomial(), dp_budget(mu = 1e6), 2)
    as.vector(dp_gradient(oracle, c(1, 0, 0, 0, 2, 0, 0, 0, -1), mu = 1e5))
  }
  x <- p$x[1:8, ]
  y <- p$y[1:8]
  broken <- list(list(x, replace(y, 3, NA)), list(replace(x, 3, NaN), y), list(replace(x, 3, Inf), y))
  # The gradient without the invalid record, for n = 8.
  without <- gradient(x[-3, ], y[-3]) * 7 / 8
  for (case in broken) expect_equal(gradient(case[[1]], case[[2]]), without, tolerance = 1e-3)
  fit <- study(data = transform(p$data, y = factor(as.character(y), levels = c("u", "v", "w", "x"))))
  expect_identical(colnames(coef(fit)), c("u", "v", "w", "x"))
  all_null <- transform(p$data, y = factor(rep(NA, 3000), levels = c("u", "v", "w")))
  expect_silent(study(data = all_null))
})

test_that("what has no proof for several predictors is refused, and says what to take", {
  refused <- function(...) expect_error(study(...), class = "dpsosp_error_several")
  for (method in setdiff(method_names(), c("gd", "sgd", "newton", "newton-ridge"))) refused(method = method)
  refused(method = "newton", control = control_newton("lazy"))
  refused(penalty = penalty_nonconvex(0.1))
  refused(method = "newton", geometry = "private")
  refused(method = "newton", inference = "sandwich")
  fit <- study(method = "newton")
  expect_error(dp_inference(fit, p$data, eps = 1), class = "dpsosp_error_several")
  expect_error(confint(fit), "can have none.*newton-ridge", class = "dpsosp_error_absent")
  oracle <- dp_oracle(p$x, p$y, loss_multinomial(), dp_budget(mu = 1), 2)
  w <- numeric(9)
  expect_error(dp_hessian(oracle, w, mu = 0.1), class = "dpsosp_error_several")
  expect_error(dp_line_search(oracle, w, w + 1, 1, mu = 0.1), class = "dpsosp_error_several")
  expect_identical(nrow(dp_ledger(oracle)), 0L)
  expect_error(study(method = "objpert"), "\"newton\"")
  two <- transform(p$data, y = y == "u")
  expect_error(quiet_fit(y ~ ., two, eps = 1, loss = "multinomial"), "must be a factor")
  expect_error(study(data = two, method = "newton", control = control_newton("moment")), "loss_multinomial")
  expect_error(study(loss = "logistic"), "loss_multinomial")
  expect_error(study(start = numeric(9)), "3 x 3")
  expect_error(study(data = transform(p$data, y = as.character(y))), "Levels are public")
})

test_that("two levels may have two predictors, a start is a matrix, and many columns find a method", {
  two <- transform(p$data, y = factor(y == "u"))
  fit <- study(data = two, loss = "multinomial")
  expect_equal(unname(coef(fit)[, 1]), unname(-coef(fit)[, 2]))
  start <- matrix(c(1, 0, 0, 0, 1, 0, -1, -1, 0), 3)
  still <- study(method = "gd", start = start, control = control_gd(max_iterations = 1), eps = 1e4)
  expect_equal(unname(coef(still)), start, tolerance = 1e-9)
  set.seed(2)
  wide <- quiet_fit(matrix(rnorm(50 * 4200), 50), factor(rep(letters[1:3], length.out = 50)), eps = 1, radius = 70,
                    method = "auto")
  expect_identical(wide$method, "gd")
})

test_that("held-out records are evaluated, and candidates compared", {
  test <- classes_problem(5000, 2)$data
  fit <- study()
  table <- dp_evaluate(fit, test, eps = 100, delta = 1e-6)$estimates
  right <- predict(fit, test, "response")[cbind(seq_len(5000), as.integer(test$y))]
  expect_equal(table$estimate, c(mean(-log(right)), mean((1 - right)^2), mean(predict(fit, test, "class") == test$y)),
               tolerance = 0.01)
  expect_error(dp_evaluate(fit, test, eps = 1, metrics = "table"), class = "dpsosp_error_argument")
  broken <- transform(test, a = replace(a, 1:2500, NA))
  expect_equal(dp_evaluate(fit, broken, eps = 100, delta = 1e-6, metrics = "accuracy")$estimates$estimate,
               (0.5 + mean(predict(fit, test[2501:5000, ], "class") == test$y[2501:5000])) / 2, tolerance = 0.01)
})

test_that("a fit is saved and read without data", {
  fit <- study()
  file <- withr::local_tempfile()
  saveRDS(fit, file)
  expect_lt(file.size(file), 2e4)
  expect_identical(predict(readRDS(file), p$data[1:5, ]), predict(fit, p$data[1:5, ]))
})

test_that("newton-ridge finds the minimum with a large budget, and what it cannot take goes to newton", {
  fit <- study(eps = 1e5, method = "newton-ridge")
  expect_equal(unname(coef(fit)), minimum(), tolerance = 0.1) # slopes are clipped to one
  expect_identical(study()$method, "newton-ridge")
  expect_identical(dp_ledger(study())$what, c("usable records", "class counts", "moments",
                                             "weighted matrix", rep("class gradient", 20),
                                              "gradient", "improvement"))
  expect_identical(sum(dp_ledger(study(eps = 0.1))$what == "class gradient"), 10L) # with more noise
  expect_equal(sum(dp_ledger(fit)$rho), fit$privacy$rho, tolerance = 1e-9)
  expect_identical(study(geometry = geometry_public(c(a = 0, b = 0), c(a = 0.6, b = 0.6)))$method, "newton-ridge")
  no_charge <- function(...) {
    budget <- dp_budget(eps = 1, delta = 1e-6)
    expect_error(study(..., budget = budget, method = "newton-ridge"), class = "dpsosp_error_argument")
    expect_identical(nrow(dp_ledger(budget)), 0L)
  }
  no_charge(penalty = penalty_ridge(0.1))
  no_charge(start = matrix(0, 3, 3))
  no_charge(formula = y ~ a + b - 1)
  no_charge(geometry = "none")
  for (fit in list(study(penalty = penalty_ridge(0.1)), study(start = matrix(0, 3, 3)),
                   study(formula = y ~ a + b - 1), study(geometry = "none"))) {
    expect_identical(fit$method, "newton")
  }
})

test_that("with much noise the fractions of the classes have a larger part of the budget, and a fit is about as good", {
  share <- function(fit) dp_ledger(fit)$rho[dp_ledger(fit)$what == "class counts"] / fit$privacy$rho
  expect_equal(share(study(eps = 1)), 0.03, tolerance = 1e-9)
  fit <- study(eps = 0.1)
  expect_identical(fit$method, "newton-ridge")
  expect_equal(share(fit), 30^2 / (nrow(p$data)^2 * 2 * fit$privacy$rho), tolerance = 1e-9)
  expect_equal(share(study(eps = 0.01)), 0.5, tolerance = 1e-9)
  set.seed(1)
  none <- data.frame(matrix(runif(8000, -1, 1), 1000), y = factor(sample(3, 1000, TRUE, c(1, 3, 6))))
  none_ends <- lapply(none[1:8], function(x) c(-1, 1))
  loss <- function(seed) {
    set.seed(seed)
    fit <- quiet_fit(y ~ ., none, eps = 0.3, delta = 1e-6, method = "auto", bounds = none_ends, noise = "reproducible")
    -mean(log(predict(fit, none, "response")[cbind(1:1000, as.integer(none$y))]))
  }
  constant <- -sum(table(none$y) / 1000 * log(table(none$y) / 1000))
  expect_lt(mean(vapply(1:10, loss, 0)), 1.07 * constant)
})

test_that("the start of newton-ridge is that of the classes' fractions, and null records do not count", {
  flat <- transform(p$data, a = 0, b = 0)
  flat$y[1:1000] <- NA
  share <- tabulate(p$y[-(1:1000)]) / 2000
  for (iterations in c(1, 20)) {
    fit <- study(eps = 1e5, data = flat, method = "newton-ridge", control = control_newton_ridge(iterations))
    expect_equal(unname(softmax(coef(fit)["(Intercept)", , drop = FALSE])[1, ]), share, tolerance = 1e-3)
  }
})

test_that("weights of records are those of repeated records", {
  twice <- rbind(p$data, p$data[1:1000, ])
  p$data$w <- rep(c(1, 0.5), c(1000, 2000))
  weighted <- study(eps = 1e5, method = "newton-ridge", data = p$data, formula = y ~ a + b, weights = w)
  repeated <- study(eps = 1e5, method = "newton-ridge", data = twice, formula = y ~ a + b)
  expect_equal(coef(weighted), coef(repeated), tolerance = 0.03) # the matrix has no weights
})
