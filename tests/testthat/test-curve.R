box <- list(a = I(c(-1, 1)), b = I(c(-1, 1)))
curve_data <- function(n) {
  d <- data.frame(a = stats::runif(n, -1, 1), b = stats::runif(n, -1, 1))
  d$y <- stats::runif(n) < stats::plogis(2 * d$a - d$b)
  d
}
set.seed(1)
d <- curve_data(2000)
quiet <- function(...) suppressMessages(dp_curve(...))

test_that("every fifth row is held out, whatever it holds", {
  expect_identical(which(held_out(20, 0.2)), c(5L, 10L, 15L, 20L))
  for (holdout in c(0.07, 0.3, 0.5, 0.9)) expect_equal(mean(held_out(1000, holdout)), holdout, tolerance = 0.01)
})

test_that("a point is the metric of a fit to the other rows", {
  loss <- function(p) -mean(log(pmin(pmax(p, 0.01), 0.99)))
  test <- seq(5, 2000, 5)
  set.seed(2)
  curve <- quiet(y ~ ., d, eps = 1, reps = 1, bounds = box, public = TRUE, noise = "reproducible")
  set.seed(2)
  set.seed(sample.int(.Machine$integer.max, 1))
  fit <- suppressMessages(dp_sosp(y ~ ., d[-test, ], eps = 1, delta = 1 / 1600^2, bounds = box, noise = "reproducible"))
  p <- predict(fit, d[test, ], type = "response")
  expect_equal(curve$points$value, loss(ifelse(d$y[test], p, 1 - p)))
  expect_identical(curve$points$chosen, fit$method)
  exact <- stats::glm(y ~ ., stats::binomial(), d[-test, ])
  p <- stats::predict(exact, d[test, ], type = "response")
  expect_equal(curve$lines[["non-private"]], loss(ifelse(d$y[test], p, 1 - p)))
  share <- mean(d$y[-test])
  expect_equal(curve$lines[["constant"]], loss(ifelse(d$y[test], share, 1 - share)))
})

test_that("on simulated data loss falls with eps, from about the constant prediction to about the non-private fit", {
  set.seed(3)
  curve <- quiet(y ~ ., curve_data(4000), eps = c(5, 0.05, 0.5), reps = 6, bounds = box, public = TRUE,
                 noise = "reproducible", newdata = curve_data(5000))
  value <- tapply(curve$points$value, curve$points$eps, median)
  expect_true(all(diff(value) < 0))
  expect_gt(value[["0.05"]], curve$lines[["non-private"]] + 0.01)
  expect_lt(value[["5"]], curve$lines[["non-private"]] + 0.003)
  expect_lt(curve$lines[["non-private"]], curve$lines[["constant"]] - 0.1)
  bands <- curve_bands(curve)
  expect_identical(bands$eps, c(0.05, 0.5, 5))
  at <- curve$points$value[curve$points$eps == 0.5]
  expect_equal(unlist(bands[2, 3:5], use.names = FALSE), c(median(at), quantile(at, c(0.1, 0.9))), ignore_attr = TRUE)
  expect_identical(as.data.frame(curve), curve$points)
  accuracy <- quiet(y ~ ., d, eps = 5, reps = 1, bounds = box, public = TRUE, metric = "accuracy")
  expect_gt(accuracy$points$value, accuracy$lines[["constant"]])
})

test_that("the points do not depend on the number of processes", {
  skip_if_not_installed("mirai")
  skip_on_cran()
  one <- function(cores) {
    set.seed(4)
    quiet(y ~ ., d, eps = c(0.5, 1), reps = 2, methods = c("newton", "gd"), bounds = box, public = TRUE,
          noise = "reproducible", cores = cores)
  }
  expect_identical(one(2), one(1))
  # A function that fails in the other processes only.
  here <- Sys.getpid()
  own <- eval(bquote(function(oracle) if (Sys.getpid() == .(here)) numeric(3) else stop("it is another process")))
  expect_error(quiet(y ~ ., d, eps = 1, reps = 2, methods = list(own = own), bounds = box, public = TRUE, cores = 2),
               "\"own\" in `methods` failed: it is another process", class = "dpsosp_error_argument")
})

test_that("held-out factors have the levels of the fit without privacy", {
  d$f <- factor(ifelse(d$a > 0, "v", "u"), levels = c("u", "v", "none"))
  test <- seq(5, 2000, 5)
  curve <- quiet(y ~ b + f, d, eps = 1, reps = 1, bounds = box["b"], public = TRUE, metric = "brier")
  p <- stats::predict(stats::glm(y ~ b + f, stats::binomial(), d[-test, ]), d[test, ], type = "response")
  expect_equal(curve$lines[["non-private"]], mean((d$y[test] - p)^2))
})

test_that("private points cost what is said before, and evaluations of other records nothing more", {
  budget <- dp_budget(eps = 3, delta = 1e-8)
  eps <- c(0.5, 1)
  mu2 <- sum(dp_convert(eps = eps, delta = 1e-8, to = "mu")^2)
  expect_message(curve <- dp_curve(y ~ ., d, eps = eps, methods = c("newton", "gd"), bounds = box, budget = budget),
                 paste0("4 points cost mu = ", format(sqrt(2 * mu2), digits = 3)), class = "dpsosp_message_curve")
  expect_equal(curve$cost$rho, mu2)
  expect_equal(curve$cost$mu, sqrt(2 * mu2))
  expect_equal(curve$cost$eps, dp_convert(mu = sqrt(2 * mu2), delta = 1e-8, to = "eps"))
  expect_equal(sum(dp_ledger(budget)$rho), mu2, tolerance = 1e-6)
  expect_false("scores" %in% dp_ledger(budget)$what)
  expect_equal(curve$cost$evaluations, mu2, tolerance = 1e-6)
  expect_lte(curve$cost$evaluations, sum(dp_ledger(budget)$rho))
  # One bounded mean of 400 records, at mu / sqrt(4)
  expect_equal(curve$points$se, rep(log(99) / (400 * sqrt(mu2 / 2)), 4), tolerance = 0.01)
  expect_null(curve$lines)
  expect_identical(curve$points$rep, rep(1L, 4))
  bands <- curve_bands(curve)
  expect_equal(bands$upper - bands$value, 2 * curve$points$se)
})

test_that("evaluations get no more than the fits were charged", {
  # A target that is reached at once leaves most of the budget for later releases.
  budget <- dp_budget(eps = 3, delta = 1e-8)
  curve <- quiet(y ~ ., d, eps = 1, methods = "newton", bounds = box, budget = budget, target = sosp(alpha = 10))
  spent <- sum(dp_ledger(budget)$rho)
  expect_lt(spent, curve$cost$rho / 2)
  expect_lte(curve$cost$evaluations, spent)
})

test_that("nothing is charged where a curve is refused", {
  refused <- function(pattern, ..., budget = dp_budget(eps = 1, delta = 1e-8), class = "dpsosp_error_argument") {
    expect_error(quiet(y ~ ., d, bounds = box, ..., budget = budget), pattern, class = class)
    if (!is.null(budget)) expect_identical(nrow(dp_ledger(budget)), 0L)
  }
  refused("cost mu = .* `budget` has mu = .*eps = 1 ", eps = c(0.5, 1))
  refused("cost", eps = 1.001)
  refused("budget", budget = NULL)
  refused("Gaussian", budget = dp_budget(rho = 1), eps = 0.1)
  refused("budget of its own", methods = "objpert", eps = 0.1)
  refused("budget of its own", methods = c("newton", "sgd"), eps = 0.1)
  refused("cores", cores = 2, eps = 0.1)
  refused("reps", reps = 2, eps = 0.1)
  # An argument that a later method refuses is found before the first fit is charged.
  refused("ridge", methods = c("newton", "newton-ridge"), penalty = penalty_ridge(0.1), eps = 0.1)
  refused("newdata", newdata = d["y"], eps = 0.1)
  refused("metric", metric = "log_loss", loss = "huber_svm", eps = 0.1)
  svt <- control_opt(line_search = "svt")
  refused("", methods = "opt-ls", control = svt, eps = 0.1, class = "dpsosp_error_accountant")
})

test_that("a delta that protects nobody is warned of once", {
  seen <- 0
  withCallingHandlers(quiet(y ~ ., d, eps = 0.1, methods = c("newton", "gd"), bounds = box, delta = 1e-3,
                            budget = dp_budget(mu = 1)),
                      dpsosp_warning_delta = function(w) {
                        seen <<- seen + 1
                        invokeRestart("muffleWarning")
                      })
  expect_identical(seen, 1)
})

test_that("a budget that is used already counts", {
  budget <- dp_budget(eps = 1, delta = 1e-8)
  curve <- quiet(y ~ ., d, eps = 0.8, bounds = box, budget = budget)
  before <- dp_ledger(budget)
  expect_error(quiet(y ~ ., d, eps = 0.8, bounds = box, budget = budget), "cost", class = "dpsosp_error_argument")
  expect_identical(dp_ledger(budget), before)
})

test_that("no point depends on the held-out rows but by its evaluation", {
  # Fits use the same rows; held-out rows of the other class change only the metric.
  other <- d
  other$y[held_out(2000, 0.2)] <- !d$y[held_out(2000, 0.2)]
  one <- function(data) {
    set.seed(5)
    quiet(y ~ ., data, eps = 1, reps = 1, metric = "accuracy", bounds = box, public = TRUE, noise = "reproducible")
  }
  expect_equal(one(d)$points$value + one(other)$points$value, 1)
})

test_that("wrong arguments are named", {
  wrong <- function(pattern, ..., public = TRUE) {
    expect_error(quiet(y ~ ., d, ..., bounds = box, public = public), pattern, class = "dpsosp_error_argument")
  }
  expect_error(dp_curve(y ~ .), "data", class = "dpsosp_error_argument")
  wrong("eps", eps = c(1, 0))
  wrong("eps", eps = c(1, 1))
  wrong("methods", methods = "best")
  wrong("methods", methods = c("gd", "gd"))
  wrong("reps", reps = 0)
  wrong("metric", metric = "auc")
  wrong("holdout", holdout = 1)
  wrong("newdata", newdata = 1)
  wrong("public", public = NA)
  wrong("budget", budget = dp_budget(mu = 1))
  wrong("Unknown", bound = 1)
  wrong("delta", delta = 0)
  expect_error(quiet(y ~ ., d[1:3, ], public = TRUE), "records", class = "dpsosp_error_argument")
})

test_that("a curve is printed and drawn, and holds no data", {
  set.seed(6)
  public <- quiet(y ~ ., d, eps = c(0.5, 1), methods = c("auto", "gd"), reps = 2, bounds = box, public = TRUE,
                  noise = "reproducible")
  private <- quiet(y ~ ., d, eps = c(0.5, 1), bounds = box, budget = dp_budget(eps = 2, delta = 1e-8),
                   noise = "reproducible")
  expect_snapshot({
    public
    private
  })
  expect_lt(length(serialize(public, NULL)), 5000)
  for (curve in list(public, private)) {
    file <- withr::local_tempfile(fileext = ".pdf")
    withr::with_pdf(file, expect_invisible(plot(curve)))
    expect_gt(file.size(file), 2000)
  }
  lightness <- colSums(grDevices::col2rgb(curve_colours(5)) * c(0.3, 0.59, 0.11))
  expect_true(all(diff(lightness) > 20))
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(public)
  expect_s3_class(picture, "ggplot")
  expect_identical(picture$data$value, curve_bands(public)$value)
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(private)))
})

test_that("numbers, counts and several classes have curves of their own metrics, with lines", {
  set.seed(5)
  data <- data.frame(x = runif(2000, -1, 1), o = runif(2000))
  data$y <- 3 + 2 * data$x + rnorm(2000)
  data$k <- rpois(2000, exp(data$x + data$o))
  data$f <- cut(data$x + rnorm(2000), c(-Inf, -0.5, 0.5, Inf), labels = c("a", "b", "c"))
  of <- function(formula, loss, ...) {
    quiet(formula, data, eps = 20, reps = 1, bounds = list(x = c(-1, 1), o = c(0, 1)), public = TRUE, loss = loss, ...)
  }
  test <- data[held_out(2000, 0.2), ]
  train <- data[!held_out(2000, 0.2), ]
  numbers <- of(y ~ x, loss_squared(c(-5, 10)))
  expect_identical(numbers$metric, "squared_error")
  exact <- stats::lm(y ~ x, train)
  expect_equal(numbers$lines[["non-private"]], mean((predict(exact, test) - test$y)^2))
  expect_equal(numbers$lines[["constant"]], mean((mean(train$y) - test$y)^2))
  expect_equal(numbers$points$value, numbers$lines[["non-private"]], tolerance = 0.05)
  counts <- of(k ~ x + offset(o), "poisson")
  expect_identical(counts$metric, "deviance")
  exact <- stats::glm(k ~ x + offset(o), stats::poisson(), train)
  mean <- predict(exact, test, type = "response")
  deviances <- 2 * (ifelse(test$k > 0, test$k * log(test$k / mean), 0) - test$k + mean)
  expect_equal(counts$lines[["non-private"]], mean(deviances), tolerance = 1e-3)
  expect_gt(counts$lines[["constant"]], 1.1 * counts$lines[["non-private"]])
  explained <- of(k ~ x + offset(o), "poisson", metric = "deviance_explained")
  expect_gt(explained$points$value, 0.2)
  expect_lt(abs(explained$lines[["constant"]]), 0.02)
  classes <- of(f ~ x, "multinomial")
  expect_identical(names(classes$lines), "constant")
  expect_lt(classes$points$value, classes$lines[["constant"]])
  expect_output(print(classes), "Constant prediction")
})

test_that("a function of the caller is a method: it gets an oracle and returns coefficients", {
  d <- problem_frame(600)
  newton <- function(oracle) {
    w <- c(0, 0, 0)
    for (i in 1:4) w <- w - 4 * 3 * dp_gradient(oracle, w, mu = 2)
    w
  }
  curve <- dp_curve(y ~ a + b, d, eps = c(50, 90), methods = list("newton", mine = newton), reps = 2, public = TRUE,
                    bounds = frame_bounds, delta = 1e-5, noise = "reproducible", progress = FALSE)
  expect_identical(unique(curve$points$method), c("newton", "mine"))
  mine <- curve$points[curve$points$method == "mine", ]
  expect_true(all(mine$value < curve$lines[["constant"]] & mine$value > 0))
  expect_identical(unique(mine$chosen), "mine")
  constant <- dp_curve(y ~ a + b, d, eps = 1, methods = function(oracle) c(0, 0, 0), reps = 1, public = TRUE,
                       bounds = frame_bounds, delta = 1e-5, progress = FALSE)
  expect_equal(constant$points$value, log(2))
  expect_identical(constant$points$method, "own")
  asked <- function(...) dp_curve(y ~ a + b, d, eps = 1, reps = 1, delta = 1e-5, progress = FALSE, ...)
  expect_error(asked(methods = newton, budget = dp_budget(eps = 2, delta = 1e-5), bounds = frame_bounds),
               "for public data", class = "dpsosp_error_argument")
  expect_error(asked(methods = list(auto = newton), public = TRUE), "no method has", class = "dpsosp_error_argument")
  expect_error(asked(methods = list(newton), public = TRUE), "different names", class = "dpsosp_error_argument")
  expect_error(asked(methods = sum, public = TRUE, bounds = frame_bounds), "\"own\" in `methods` failed",
               class = "dpsosp_error_argument")
  expect_error(asked(methods = newton, public = TRUE), "must declare the ranges", class = "dpsosp_error_argument")
  greedy <- function(oracle) dp_gradient(oracle, c(0, 0, 0), mu = 1e3)
  wrong <- list(newton = NULL, greedy = greedy, short = function(oracle) 1)
  said <- c("must declare the ranges", "is exhausted", "`w` must be 3 numbers")
  for (i in 1:3) {
    error <- expect_error(asked(methods = list(mine = wrong[[i]] %||% newton), public = TRUE,
                                bounds = if (i > 1) frame_bounds), said[i])
    expect_identical(conditionCall(error)[[1]], quote(dp_curve))
  }
  expect_error(asked(methods = greedy, public = TRUE, bounds = frame_bounds), class = "dpsosp_budget_exhausted")
  # A function that is written in the call can be printed with it, without its source.
  error <- expect_error(asked(methods = function(oracle, k = 3) stop("no"), public = TRUE, bounds = frame_bounds))
  expect_output(print(error), "failed: no")
  call <- scrub_call(quote(f(g = function(a, b = c(1.5, 2), ...) a + NULL)), quote(f))
  expect_identical(deparse(call), "f(g = function(a, b = c(1.5, 2), ...) a + NULL)")
  call <- parse(text = "f(g = function(a) a + 1)", keep.source = TRUE)[[1]]
  expect_length(scrub_call(call, quote(f))$g, 3L)
})
