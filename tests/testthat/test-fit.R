d <- problem_frame(300)
# The noise of these fits is reproducible, so that their printed output is constant.
study <- function(...) {
  set.seed(1)
  quiet_fit(..., noise = "reproducible")
}
fit <- study(y ~ a + b + f, d, eps = 5, delta = 1e-6, bounds = frame_bounds)

linear <- function(x, w, radius) {
  z <- cbind(1, x)
  drop(z %*% w) * pmin(1, radius / sqrt(rowSums(z^2)))
}

test_that("predictions are those of the mapped and clipped rows", {
  x <- as.matrix(data.frame(a = (d$a - 20) / 10, b = d$b, v = d$f == "v", w = d$f == "w"))
  w <- coef(fit)
  mapped <- c(w[[1]] + 20 * w[[2]], w[[2]] * 10, w[-(1:2)])
  expect_equal(predict(fit, d), linear(x, mapped, 2), tolerance = 1e-12)
  # No row is longer than the default radius, so the prediction is the linear predictor of the original columns.
  expect_equal(predict(fit, d), unname(drop(model.matrix(~ a + b + f, d) %*% w)), tolerance = 1e-12)
  short <- study(y ~ a + b + f, d, eps = 5, delta = 1e-6, bounds = frame_bounds, radius = 1.2)
  w <- coef(short)
  mapped <- c(w[[1]] + 20 * w[[2]], w[[2]] * 10, w[-(1:2)])
  expect_equal(predict(short, d), linear(x, mapped, 1.2), tolerance = 1e-12)
  outside <- data.frame(a = c(30, 300, -5, 10), b = 0, f = "u")
  expect_equal(predict(fit, outside)[c(1, 4)], predict(fit, outside)[c(2, 3)])
})

test_that("types of prediction fit together", {
  link <- predict(fit, d)
  expect_identical(predict(fit, d, type = "link"), link)
  expect_equal(predict(fit, d, type = "response"), plogis(link))
  class <- predict(fit, d, type = "class")
  expect_identical(class, factor(ifelse(link > 0, "yes", "no"), levels = c("no", "yes")))
  expect_gt(mean(class == d$y), 0.5)
  labels <- function(y) {
    coded <- study(y ~ a, data.frame(a = d$a, y = y), eps = 5, delta = 1e-6, bounds = frame_bounds["a"])
    predict(coded, d, type = "class")
  }
  expect_true(all(labels(d$y == "yes") %in% c(TRUE, FALSE)))
  expect_true(all(labels(as.numeric(d$y == "yes")) %in% 0:1))
  # Whether the low class was coded -1 or 0 would be a fact about the data.
  expect_true(all(labels(ifelse(d$y == "yes", 1, -1)) %in% 0:1))
})

test_that("new data need the predictors, and nothing else", {
  new <- d[1:6, c("f", "a", "b")]
  expect_equal(predict(fit, new), predict(fit, d)[1:6])
  expect_equal(predict(fit, new[4, ]), predict(fit, d)[4])
  expect_equal(predict(fit, new[0, ]), numeric())
  new$f <- factor(c("u", "v", "other", NA, "w", "u"))
  new$a[6] <- NA
  new$b[5] <- Inf
  missing <- function(...) {
    suppressWarnings(is.na(predict(fit, new, ...)), "dpsosp_warning_levels")
  }
  expect_equal(missing(), c(FALSE, FALSE, TRUE, TRUE, TRUE, TRUE))
  expect_equal(missing(type = "class"), c(FALSE, FALSE, TRUE, TRUE, TRUE, TRUE))
  as_text <- transform(d[1:6, ], f = as.character(f))
  expect_equal(predict(fit, as_text), predict(fit, d)[1:6])
  expect_errors(
    predict(fit),
    predict(fit, d["a"]),
    predict(fit, as.matrix(d["a"])),
    predict(fit, transform(d, a = as.character(a))),
    predict(fit, d, type = "probability")
  )
})

test_that("fits to matrices predict as well", {
  p <- problem_matrix(200)
  for (radius in c(1, 2)) {
    for (intercept in c(TRUE, FALSE)) {
      fit <- study(p$x, p$y, eps = 5, delta = 1e-6, radius = radius, intercept = intercept)
      expected <- radius * drop(unit_rows(p$x, radius, intercept) %*% coef(fit))
      expect_equal(predict(fit, p$x), expected, tolerance = 1e-12)
    }
  }
  expect_equal(predict(fit, matrix(c(1, NA, 0, 0), 2)), c(coef(fit)[["x1"]], NA))
  expect_error(predict(fit, p$x[, 2:1]), "in another order", class = "dpsosp_error_argument")
  expect_equal(predict(fit, unname(p$x)), predict(fit, p$x))
  expect_equal(predict(fit, stats::setNames(as.data.frame(p$x), c("u", "v")) |> as.matrix()), predict(fit, p$x))
  expect_errors(predict(fit, p$x[, 1]), predict(fit, p$x[, c(1, 1, 2)]), formula(fit))
})

test_that("a single column and a single row keep their shape", {
  one <- study(y ~ b, d, eps = 5, delta = 1e-6, bounds = frame_bounds["b"])
  expect_equal(predict(one, d[7, ]), coef(one)[[1]] + coef(one)[[2]] * d$b[7])
  none <- study(y ~ 1, d, eps = 5, delta = 1e-6)
  expect_equal(predict(none, d[1:3, ]), rep(coef(none)[[1]], 3))
})

test_that("columns of a matrix without a name are named by their number", {
  p <- problem_matrix(20)
  labels <- function(names) names(coef(quiet_fit(`colnames<-`(p$x, names), p$y, eps = 1, radius = 2)))[-1]
  expect_equal(labels(NULL), c("x1", "x2"))
  expect_equal(labels(c("a", "")), c("a", "x2"))
  expect_equal(labels(c(NA, "b c")), c("x1", "b c"))
})

test_that("accessors", {
  expect_equal(nobs(fit), 300)
  expect_identical(variable.names(fit), names(coef(fit)))
  expect_equal(names(coef(fit)), c("(Intercept)", "a", "b", "fv", "fw"))
  expect_equal(deparse(formula(fit)), "y ~ a + b + f")
  expect_equal(all.vars(formula(study(y ~ ., d, eps = 5))), c("y", "a", "b", "f"))
  expect_s3_class(dp_ledger(fit), "data.frame")
  expect_named(dp_ledger(fit), c("what", "mechanism", "rho", "mu", "sensitivity", "scale", "values", "neighbours"))
  expect_named(fit$certificate, c("gradient", "eigenvalue", "eigenvalue_known", "of", "confidence"))
  expect_named(fit$certificate$gradient, c("estimate", "upper"))
  expect_named(fit$certificate$eigenvalue, c("estimate", "lower"))
})

test_that("tidy() and glance() are the fit as data frames", {
  skip_if_not_installed("generics")
  tidied <- generics::tidy(fit)
  expect_identical(stats::setNames(tidied$estimate, tidied$term), coef(fit))
  glanced <- generics::glance(fit)
  expect_identical(dim(glanced), c(1L, 18L))
  made <- sum(dp_ledger(fit)$mechanism != "none")
  expect_equal(glanced[c("nobs", "eps", "status", "releases")],
               data.frame(nobs = 300, eps = fit$privacy$eps, status = fit$status, releases = made))
  expect_equal(glanced$gradient.upper, fit$certificate$gradient[["upper"]])
})

test_that("augment() adds predictions to new data, and refuses to do without", {
  skip_if_not_installed("generics")
  added <- generics::augment(fit, d[1:5, ], type.predict = "response")
  expect_identical(added, cbind(d[1:5, ], .fitted = predict(fit, d[1:5, ], type = "response")))
  expect_identical(generics::augment(fit, d)$.fitted, predict(fit, d))
  expect_error(generics::augment(fit), "give `newdata`", class = "dpsosp_error_absent")
  expect_error(generics::augment(fit, data = d), "Unknown argument: `data`", class = "dpsosp_error_argument")
  classes <- quiet_fit(f ~ a, d, eps = 5, delta = 1e-6, bounds = frame_bounds["a"], method = "newton")
  several <- generics::augment(classes, d[1:3, ], type.predict = "response")
  expect_equal(as.matrix(several[paste0(".fitted.", levels(d$f))]), predict(classes, d[1:3, ], type = "response"),
               ignore_attr = TRUE)
  p <- problem_matrix(100)
  of_matrix <- quiet_fit(p$x, p$y, eps = 5, radius = 2)
  expect_equal(generics::augment(of_matrix, p$x), data.frame(p$x, .fitted = predict(of_matrix, p$x)))
})

test_that("update() runs again with what is changed, in the frame of the caller", {
  inside <- function() {
    mine <- d[1:200, ]
    first <- dp_sosp(y ~ a, mine, eps = 20, delta = 1e-6, bounds = frame_bounds["a"])
    list(update(first, eps = 30), update(first, . ~ . + b, bounds = frame_bounds), update(first, method = "opt"))
  }
  fits <- inside()
  expect_equal(fits[[1]]$privacy$eps, 30)
  expect_equal(names(coef(fits[[2]])), c("(Intercept)", "a", "b"))
  expect_equal(fits[[3]]$method, "opt")
  p <- problem_matrix(100)
  first <- dp_sosp(p$x, p$y > 0, eps = 20, delta = 1e-6, radius = 2)
  x <- p$x
  y <- p$y > 0
  expect_equal(update(first, eps = 30)$privacy$eps, 30)
})

test_that("what is printed fits a terminal and says what is guaranteed", {
  without_numbers <- function(lines) gsub("[-0-9.]*[0-9](e-[0-9]+)?", "#", gsub(" +", " ", lines))
  expect_snapshot(print(fit), transform = without_numbers)
  expect_snapshot(summary(fit), transform = without_numbers)
  set.seed(2)
  wide <- study(y ~ a, d, eps = 0.5, delta = 1e-6, bounds = frame_bounds["a"], budget = dp_budget(rho = 0.01),
                loss = "sigmoid", penalty = penalty_ridge(0.01), target = sosp(1e-6, 0.01))
  expect_snapshot(print(wide), transform = without_numbers)
  expect_true(all(nchar(c(capture.output(print(fit)), capture.output(summary(wide)))) <= 80))
  capture.output(expect_false(withVisible(print(fit))$visible))
})

test_that("what is printed does not let a stationary point pass for a good one", {
  printed <- function(...) {
    changed <- utils::modifyList(fit, list(...))
    paste(c(capture.output(print(changed)), capture.output(print(summary(changed)))), collapse = " ")
  }
  says <- function(text, what) expect_match(gsub(" +", " ", text), what, fixed = TRUE)
  certificate <- list(gradient = c(estimate = 0.01, upper = 0.0234))
  certified <- printed(status = "sosp", checks = list(explained = NULL), decrease = 0.0912, certificate = certificate)
  says(certified, "better than the constant prediction, objective at least 0.0912")
  says(certified, "; converged (gradient norm at most 0.023)")
  of <- function(better) printed(checks = list(explained = list(fraction = 0.342, sd = 0.0151, better = better)))
  says(of(TRUE), "explains about 34 % of the deviance (+- 3 %)")
  says(of(FALSE), "not surely better than the intercept-only model, as far as this budget can tell (explains 34 %")
  says(printed(target = list(trivial = TRUE)), ", met by every point)")
  says(printed(), "They say how flat the objective is there, not how small it is")
  says(printed(status = "sosp", checks = list(explained = NULL), decrease = NA_real_), "not measured, as no release")
  says(printed(status = "budget", decrease = NA_real_), "not certified, as the budget is spent")
  start <- printed(status = "start", decrease = 0)
  says(start, "it is the constant prediction, as nothing better exceeded the noise")
  expect_false(grepl("ertified", start))
})

test_that("a decrease is reported by methods that pay for values, and by no others", {
  expect_identical(study(y ~ a, d, eps = 5, bounds = frame_bounds["a"], method = "newton")$decrease, NA_real_)
  expect_identical(study(y ~ a, d, eps = 5, bounds = frame_bounds["a"], method = "objpert")$decrease, NA_real_)
})

test_that("plot() draws every fit, and puts the device back", {
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  before <- graphics::par("mfrow")
  p <- problem_matrix(100)
  expect_identical(withVisible(plot(fit))$visible, FALSE)
  for (constants in c("tight", "published")) {
    for (loss in c("logistic", "sigmoid")) {
      run <- study(p$x, p$y, eps = 1, delta = 1e-6, radius = 2, loss = loss, target = sosp(0.3, 0.05),
                   control = control_opt(constants, max_iterations = 20))
      expect_s3_class(plot(run, "run"), "dp_sosp")
    }
  }
  expect_s3_class(plot(study(y ~ a, d[1, ], eps = 1)), "dp_sosp")
  expect_equal(graphics::par("mfrow"), before)
})
