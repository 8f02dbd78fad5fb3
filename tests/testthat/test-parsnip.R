skip_if_not_installed("parsnip")
d <- problem_frame(300)
d$count <- stats::rpois(300, exp(d$b))
engine <- function(model, ...) {
  parsnip::set_engine(model, "dpsosp", eps = 5, delta = 1e-6, progress = FALSE, noise = "reproducible", ...)
}
trained <- function(spec, formula, fit = parsnip::fit) {
  set.seed(1)
  suppressMessages(fit(spec, formula, d))
}
direct <- function(formula, ...) {
  set.seed(1)
  suppressMessages(dp_sosp(formula, d, eps = 5, delta = 1e-6, progress = FALSE, noise = "reproducible", ...))
}

test_that("logistic_reg() fits and predicts as dp_sosp() does", {
  spec <- engine(parsnip::logistic_reg(), bounds = frame_bounds)
  fit <- trained(spec, y ~ a + b + f)
  same <- direct(y ~ a + b + f, bounds = frame_bounds)
  expect_identical(coef(parsnip::extract_fit_engine(fit)), coef(same))
  expect_identical(predict(fit, d)$.pred_class, predict(same, d, type = "class"))
  probabilities <- predict(fit, d, type = "prob")
  expect_named(probabilities, c(".pred_no", ".pred_yes"))
  expect_identical(probabilities$.pred_yes, predict(same, d, type = "response"))
  expect_identical(predict(fit, d, type = "raw"), predict(same, d))
  expect_identical(parsnip::tidy(fit), generics::tidy(same))
  expect_error(parsnip::fit(engine(parsnip::logistic_reg(), epsilon = 1), y ~ a, d), "Did you mean `eps`",
               class = "dpsosp_error_argument")
})

test_that("multinom_reg() has a probability for each class", {
  fit <- trained(engine(parsnip::multinom_reg(), bounds = frame_bounds["a"]), f ~ a)
  same <- direct(f ~ a, bounds = frame_bounds["a"])
  expect_equal(as.matrix(predict(fit, d, type = "prob")), predict(same, d, type = "response"), ignore_attr = TRUE)
  expect_named(predict(fit, d, type = "prob"), c(".pred_u", ".pred_v", ".pred_w"))
  expect_identical(predict(fit, d)$.pred_class, predict(same, d, type = "class"))
})

test_that("linear_reg() and poisson_reg() predict numbers, by squared error and of counts unless the call has a loss", {
  linear <- engine(parsnip::linear_reg(), bounds = frame_bounds["b"], loss = loss_huber(c(10, 30)))
  same <- direct(a ~ b, bounds = frame_bounds["b"], loss = loss_huber(c(10, 30)))
  expect_identical(predict(trained(linear, a ~ b), d)$.pred, predict(same, d))
  counts <- engine(parsnip::poisson_reg(), bounds = frame_bounds["b"], loss = loss_poisson(20))
  same <- direct(count ~ b, bounds = frame_bounds["b"], loss = loss_poisson(20))
  expect_identical(predict(trained(counts, count ~ b), d)$.pred, predict(same, d, type = "response"))
  linear <- engine(parsnip::linear_reg(), bounds = frame_bounds["b"])
  expect_identical(predict(trained(linear, a ~ b), d)$.pred,
                   predict(direct(a ~ b, bounds = frame_bounds["b"], loss = "squared"), d, type = "response"))
  counts <- engine(parsnip::poisson_reg(), bounds = frame_bounds["b"])
  expect_identical(predict(trained(counts, count ~ b), d)$.pred,
                   predict(direct(count ~ b, bounds = frame_bounds["b"], loss = "poisson"), d, type = "response"))
})

test_that("a workflow fits the same, and yardstick judges it", {
  skip_if_not_installed("workflows")
  skip_if_not_installed("yardstick")
  spec <- engine(parsnip::logistic_reg(), bounds = frame_bounds)
  flow <- workflows::workflow(y ~ a + b + f, spec)
  flow <- trained(flow, NULL, function(flow, formula, data) parsnip::fit(flow, data))
  same <- direct(y ~ a + b + f, bounds = frame_bounds)
  expect_equal(coef(workflows::extract_fit_engine(flow)), coef(same))
  predicted <- parsnip::augment(flow, d)
  accuracy <- yardstick::accuracy(predicted, "y", ".pred_class")$.estimate
  expect_equal(accuracy, mean(predict(same, d, type = "class") == d$y))
  loss <- yardstick::mn_log_loss(predicted, "y", ".pred_no")$.estimate
  expect_equal(loss, mean(log1p(exp(-ifelse(d$y == "yes", 1, -1) * predict(same, d)))))
})

test_that("the engine is there whichever package is loaded first, once", {
  skip_unless_long()
  listed <- 'x <- parsnip::show_engines("logistic_reg"); cat(sum(x$engine == "dpsosp"))'
  expect_identical(tail(child(c("loadNamespace('parsnip')", listed)), 1), "1")
  expect_identical(tail(child(c("unloadNamespace('dpsosp'); library(parsnip); library(dpsosp)", listed)), 1), "1")
})

test_that("penalty is a ridge or refused, mixture is refused, and neither is ignored", {
  named <- function(penalty = NULL, mixture = NULL, ...) {
    trained(engine(parsnip::logistic_reg(penalty = penalty, mixture = mixture), bounds = frame_bounds,
                   method = "newton", ...), y ~ a + b)
  }
  same <- direct(y ~ a + b, bounds = frame_bounds, method = "newton", penalty = penalty_ridge(0.1))
  expect_identical(coef(parsnip::extract_fit_engine(named(0.1))), coef(same))
  expect_identical(coef(parsnip::extract_fit_engine(named(0.1, 0))), coef(same))
  plain <- direct(y ~ a + b, bounds = frame_bounds, method = "newton")
  expect_identical(coef(parsnip::extract_fit_engine(named(0))), coef(plain))
  expect_error(named(0.1, 1), "no lasso", class = "dpsosp_error_argument")
  expect_error(engine_penalty(-1, NULL), "`penalty`", class = "dpsosp_error_argument")
  squared <- engine(parsnip::linear_reg(penalty = 0.1), bounds = frame_bounds["b"])
  expect_error(trained(squared, a ~ b), "penalty", class = "dpsosp_error_argument")
})

test_that("intervals of predictions are those of predict()", {
  spec <- engine(parsnip::logistic_reg(), bounds = frame_bounds, inference = "sandwich")
  fit <- trained(spec, y ~ a + b)
  fit$fit$inference$reason[] <- NA # of so few records none is shown
  same <- predict(fit$fit, d, type = "response", interval = "confidence", level = 0.9)
  found <- predict(fit, d, type = "conf_int", level = 0.9)
  expect_named(found, c(".pred_lower_no", ".pred_upper_no", ".pred_lower_yes", ".pred_upper_yes"))
  expect_equal(found$.pred_lower_yes, same[, "lwr"])
  expect_equal(found$.pred_lower_no, 1 - same[, "upr"])
  linear <- trained(engine(parsnip::linear_reg(), bounds = frame_bounds, inference = "sandwich"), a ~ b)
  linear$fit$inference$reason[] <- NA
  errors <- predict(linear, d, type = "conf_int", std_error = TRUE)
  expect_named(errors, c(".pred_lower", ".pred_upper", ".std_error"))
  expect_equal(errors$.std_error, predict(linear$fit, d, se.fit = TRUE)$se.fit)
  expect_equal(predict(fit, d, type = "conf_int", std_error = TRUE)$.std_error,
               predict(fit$fit, d, type = "response", se.fit = TRUE)$se.fit)
  expect_equal(predict(linear, d, type = "pred_int", std_error = TRUE)$.std_error, errors$.std_error)
  same <- predict(linear$fit, d, type = "response", interval = "prediction")
  expect_equal(predict(linear, d, type = "pred_int")$.pred_upper, same[, "upr"])
  plain <- trained(engine(parsnip::linear_reg(), bounds = frame_bounds), a ~ b)
  expect_error(predict(plain, d, type = "conf_int"), "no intervals", class = "dpsosp_error_absent")
})

test_that("engines that are there are not registered again", {
  engines <- function() parsnip::get_from_env("logistic_reg")
  before <- engines()
  expect_true("dpsosp" %in% before$engine)
  expect_silent(dpsosp:::register_engines())
  expect_identical(engines(), before)
})
