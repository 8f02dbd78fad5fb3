# Functions of other packages with fits. Grids are public; no function may look for the training data.
d <- problem_frame(4000)
study <- function(...) {
  set.seed(1)
  suppressMessages(dp_sosp(..., eps = 5, delta = 1e-6, noise = "reproducible", progress = FALSE))
}
fit <- study(y ~ a + b + f, d, bounds = frame_bounds, inference = "sandwich")
plain <- study(y ~ a + b + f, d, bounds = frame_bounds)
classes <- study(f ~ a, d, bounds = frame_bounds["a"])
bounded <- study(a ~ b, d, bounds = frame_bounds["b"], loss = loss_huber(c(10, 30)))
p <- problem_matrix(300)
of_matrix <- study(p$x, p$y > 0, radius = 2)
grid <- expand.grid(a = c(15, 25), b = c(0, 0.5), f = c("u", "v", "w"))
basis <- model.matrix(~ a + b + f, grid)
refused <- function(call, reason) expect_error(call, reason, class = "dpsosp_error_absent")

test_that("emmeans: means of the linear predictor over a grid, with their covariance", {
  skip_if_not_installed("emmeans")
  means <- summary(emmeans::emmeans(fit, ~ f, data = grid))
  average <- rowsum(basis, grid$f) / 4
  expect_equal(means$emmean, as.vector(average %*% coef(fit)))
  expect_equal(means$SE, unname(sqrt(diag(average %*% vcov(fit) %*% t(average)))))
  expect_equal(summary(emmeans::emmeans(fit, ~ f, data = grid), type = "response")$prob, plogis(means$emmean))
  expect_error(emmeans::emmeans(fit, ~ f), "keeps no training data")
  expect_error(emmeans::emmeans(of_matrix, ~ x1, data = as.data.frame(p$x)), "made from a matrix")
  refused(emmeans::emmeans(plain, ~ f, data = grid), "has no intervals")
})

test_that("emmeans: offsets, polynomials and splines in the formula", {
  skip_if_not_installed("emmeans")
  set.seed(2)
  n <- 3000
  d <- data.frame(a = runif(n, -2, 2), t = runif(n, 1, 10), g = factor(sample(c("p", "q"), n, TRUE)))
  d$k <- rpois(n, d$t * exp(-1 + 0.4 * d$a))
  d$z <- d$a^2 + rnorm(n)
  at <- list(a = 1, t = 2)
  agree <- function(formula, loss, reference, bounds) {
    fit <- suppressMessages(dp_sosp(formula, d, eps = 1e3, delta = 1e-6, loss = loss, bounds = bounds,
                                    inference = TRUE))
    of <- function(fit, ...) as.data.frame(emmeans::emmeans(fit, "g", at = at, ...))
    found <- of(fit, data = d)
    known <- of(reference)
    expect_lt(max(abs(found$emmean - known$emmean) / known$SE), 1)
  }
  bounds <- list(a = c(-2, 2), t = c(1, 10))
  agree(k ~ a + g + offset(log(t)), "poisson", glm(k ~ a + g + offset(log(t)), poisson, d), bounds)
  agree(z ~ poly(a, 2, raw = TRUE) + g, "squared", lm(z ~ poly(a, 2, raw = TRUE) + g, d), bounds["a"])
  curved <- z ~ splines::ns(a, knots = c(-1, 1), Boundary.knots = c(-2, 2)) + g
  agree(curved, "squared", lm(curved, d), list())
})

test_that("marginaleffects: predictions and slopes on new data, by the delta method", {
  skip_if_not_installed("marginaleffects")
  # marginaleffects 1.0.0 uses this function of R 4.4, though it installs on R 3.6; it then fails for glm(), too
  if (!exists("%||%", baseenv())) {
    withr::local_environment(list2env(list(`%||%` = function(x, y) if (is.null(x)) y else x)))
  }
  predicted <- marginaleffects::predictions(fit, newdata = grid)
  link <- as.vector(basis %*% coef(fit))
  expect_equal(predicted$estimate, plogis(link), tolerance = 1e-6)
  jacobian <- basis * plogis(link) * plogis(-link)
  expect_equal(predicted$std.error, unname(sqrt(diag(jacobian %*% vcov(fit) %*% t(jacobian)))), tolerance = 1e-3)
  slope <- marginaleffects::avg_slopes(fit, newdata = grid, variables = "a")
  expect_equal(slope$estimate, mean(coef(fit)[["a"]] * plogis(link) * plogis(-link)), tolerance = 1e-3)
  expect_error(marginaleffects::predictions(fit), "newdata")
  refused(marginaleffects::predictions(plain, newdata = grid), "has no intervals.*vcov = FALSE")
  robust <- expression(marginaleffects::predictions(fit, newdata = grid, vcov = "HC3"))
  expect_error(eval(robust), "`vcov`", class = "dpsosp_error_argument")
  wide <- marginaleffects::predictions(fit, newdata = grid, vcov = 4 * vcov(fit))
  expect_equal(wide$std.error, 2 * predicted$std.error)
  expect_null(dpsosp:::get_vcov.dp_sosp(plain, vcov = FALSE))
  expect_identical(dpsosp:::get_vcov.dp_sosp(plain, vcov = diag(2)), diag(2))
  alone <- marginaleffects::predictions(plain, newdata = grid, vcov = FALSE)
  expect_equal(alone$estimate, predict(plain, grid, type = "response"))
  several <- marginaleffects::predictions(classes, newdata = grid, vcov = FALSE)
  expected <- predict(classes, grid, type = "response")
  expect_equal(several$estimate, expected[cbind(several$rowid, match(several$group, colnames(expected)))])
  expect_equal(marginaleffects::predictions(bounded, newdata = grid, vcov = FALSE)$estimate, predict(bounded, grid))
})

test_that("insight: what needs no data; the data are not looked for", {
  skip_if_not_installed("insight")
  expect_identical(insight::find_predictors(fit), list(conditional = c("a", "b", "f")))
  expect_identical(insight::find_response(fit), "y")
  expect_identical(insight::n_obs(fit), 4000L)
  expect_equal(insight::get_parameters(fit)$Estimate, unname(coef(fit)))
  expect_identical(insight::get_parameters(classes)$Response, rep(levels(d$f), each = 2))
  expect_identical(insight::find_parameters(classes, flatten = TRUE), rownames(coef(classes)))
  expect_identical(insight::find_parameters(fit), list(conditional = names(coef(fit))))
  expect_identical(insight::get_varcov(fit), vcov(fit))
  expect_equal(insight::link_inverse(fit)(1), plogis(1))
  expect_equal(insight::link_function(bounded)(1), 1)
  kinds <- vapply(list(fit, classes, bounded), function(fit) insight::model_info(fit)$family, "")
  expect_identical(kinds, c("binomial", "multinomial", "gaussian"))
  refused(insight::get_data(fit), "keeps no training data")
  refused(insight::get_response(fit), "keeps no training data")
})

test_that("modelsummary: a table of estimates, with standard errors where they were bought", {
  skip_if_not_installed("modelsummary")
  skip_if_not_installed("broom") # modelsummary needs it for every model
  table <- function(...) suppressWarnings(modelsummary::modelsummary(..., output = "data.frame", fmt = 6))
  with <- table(fit)
  expect_equal(as.numeric(with[with$statistic == "estimate", ncol(with)]), unname(coef(fit)), tolerance = 1e-5)
  expect_true("std.error" %in% with$statistic)
  expect_true("Num.Obs." %in% with$term)
  without <- table(plain, statistic = NULL, conf_level = NULL)
  expect_equal(as.numeric(without[without$part == "estimates", ncol(without)]), unname(coef(plain)), tolerance = 1e-5)
})
