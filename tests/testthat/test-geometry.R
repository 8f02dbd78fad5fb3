# Centres and scales of columns, private and public, and the methods that use them.
p <- problem_matrix(4000, 3)
q <- data.frame(a = 50 + 10 * p$x[, 1], b = p$x[, 2] / 1000, f = factor(ifelse(p$x[, 3] > 0, "u", "v")), y = p$y > 0)
any_fit <- function(..., method = "newton-ridge") quiet_fit(..., method = method)
fit_of <- function(..., eps = 4) {
  any_fit(y ~ ., q, eps = eps, delta = 1e-6, ..., bounds = list(a = c(0, 100), b = c(-1, 1)))
}

test_that("coefficients are those of the columns, whatever the geometry", {
  truth <- coef(stats::glm(y ~ ., stats::binomial(), q))
  for (method in c("newton-ridge", "2opt-ls", "gd", "objpert")) {
    fit <- any_fit(y ~ ., q, eps = 500, delta = 1e-6, method = method, geometry = "private",
                     bounds = list(a = c(0, 100), b = c(-0.01, 0.01)))
    expect_equal(names(coef(fit)), names(truth))
    link <- predict(fit, q)
    expect_gt(cor(link, stats::model.matrix(~ a + b + f, q) %*% truth), 0.99)
  }
})

test_that("points go there and back", {
  set.seed(1)
  geometry <- list(scale = exp(stats::rnorm(4)), centre = stats::rnorm(4) / 10, constant = 0.7, radius = 3,
                   intercept = TRUE)
  v <- stats::rnorm(5)
  expect_equal(dpsosp:::from_geometry(geometry, dpsosp:::to_geometry(geometry, v)), v)
  geometry$intercept <- FALSE
  expect_equal(dpsosp:::from_geometry(geometry, dpsosp:::to_geometry(geometry, v[-1])), v[-1])
  expect_identical(dpsosp:::to_geometry(NULL, v), v)
})

test_that("a private geometry is charged, a public one and none are not", {
  what <- function(...) unique(dp_ledger(fit_of(...))$what)
  expect_equal(what(method = "newton-ridge"), c("usable records", "class counts", "moments", "weighted matrix",
                                                 "gradient", "improvement"))
  public <- geometry_public(mean = c(50, 0, 0.5), sd = c(10, 0.001, 0.5))
  expect_setequal(what(method = "newton-ridge", geometry = public),
                  c("usable records", "class counts", "weighted matrix", "gradient", "improvement"))
  expect_false("moments" %in% what(method = "newton"))
  expect_true("moments" %in% what(method = "newton", geometry = "private"))
  for (geometry in list("private", public)) {
    fit <- fit_of(geometry = geometry)
    expect_lte(sum(dp_ledger(fit)$rho), fit$privacy$rho * (1 + 1e-9))
    expect_output(print(summary(fit)), "centred and scaled rows, with their weights and the ridge")
  }
})

test_that("with few records the ridge's run is shorter and has more for its matrix, unless the caller says otherwise", {
  settings <- function(n, ...) {
    dpsosp:::ridge_control(list(n = n, control = control_newton_ridge(...)))[c("iterations", "matrix_share")]
  }
  expect_equal(settings(10000), list(iterations = 70L, matrix_share = 0.06))
  expect_equal(settings(10001), list(iterations = 160L, matrix_share = 0.03))
  expect_equal(settings(10001, iterations = 5, matrix_share = 0.5), list(iterations = 5L, matrix_share = 0.5))
  expect_lte(nrow(dp_ledger(any_fit(y ~ ., q, eps = 4, delta = 1e-6))), 80) # passes, with private ranges
  ledger <- run_ledger(fit_of(method = "newton-ridge"))
  steps <- sum(ledger$rho[ledger$what == "gradient"]) - utils::tail(ledger$rho, 1)
  matrix <- ledger$rho[ledger$what == "weighted matrix"]
  expect_equal(matrix / (matrix + steps), 0.06, tolerance = 1e-6)
})

test_that("by default methods have a private geometry that gain from it, unless rows as they were mapped are meant", {
  moments <- function(..., data = q[1:800, ], eps = 4) {
    fit <- any_fit(y ~ ., data, eps = eps, delta = 1e-6, bounds = list(a = c(0, 100), b = c(-1, 1)), ...)
    "moments" %in% dp_ledger(fit)$what
  }
  scaled <- c("2opt-ls", "2opt", "opt-ls", "opt", "opt-b", "2opt-b", "tr", "tr-b", "gd", "newton-ridge")
  for (method in scaled) expect_true(moments(method = method), label = method)
  others <- setdiff(dpsosp:::methods_without("nonconvex"), scaled)
  for (method in others) expect_false(moments(method = method), label = method)
  for (method in c("2opt-ls", "warm-ridge")) expect_true(moments(method = method, loss = "sigmoid"), label = method)
  expect_false(moments(method = "2opt-ls", geometry = "none"))
  expect_false(moments(method = "2opt-ls", target = sosp(0.1, 0.1)))
  expect_false(moments(method = "2opt-ls", penalty = penalty_ridge(0.1)))
  expect_false(moments(method = "opt", control = control_opt("published", max_iterations = 5)))
  expect_false(moments(method = "2opt-ls", inference = "sandwich"))
  expect_true(moments(method = "auto", penalty = penalty_nonconvex(0.1)))
  expect_true(moments(method = "auto", loss = "sigmoid", target = sosp(0.1, 0.1)))
  # 4 coefficients, n mu: the rule is for the default geometry only, and for runs that do not use every gradient.
  few <- q[1:40, ]
  at <- function(limit) dp_convert(mu = 4 / 40 / limit, delta = 1e-6, to = "eps")
  for (method in c("opt-b", "tr", "gd")) expect_false(moments(method = method, data = few, eps = at(0.1001)))
  expect_false(moments(method = "2opt-ls", data = few, eps = at(0.1001), loss = "sigmoid"))
  expect_false(moments(method = "2opt-ls", data = few, eps = at(0.1001), start = numeric(4)))
  expect_true(moments(method = "tr", data = few, eps = at(0.0999)))
  expect_true(moments(method = "tr", data = few, eps = at(0.2), geometry = "private"))
  expect_true(moments(method = "2opt-ls", data = few, eps = at(0.2)))
  expect_true(moments(method = "newton-ridge", data = few, eps = at(0.2)))
})

test_that("a column that hardly varies in its range is no longer lost in the noise", {
  link <- function(...) predict(fit_of(..., noise = "reproducible"), q)
  truth <- stats::model.matrix(~ a + b + f, q) %*% coef(stats::glm(y ~ ., stats::binomial(), q))
  set.seed(1)
  with <- replicate(4, cor(link(), truth))
  without <- replicate(4, cor(link(method = "newton"), truth))
  expect_gt(mean(with), mean(without))
})

test_that("released moments are about those of the mapped rows", {
  set.seed(1)
  fit <- fit_of(eps = 200, noise = "reproducible")
  radius <- 2
  rows <- cbind((q$a - 50) / 50, q$b, q$f == "v") / radius
  sd <- dp_ledger(fit)$scale[dp_ledger(fit)$what == "moments"]
  expect_true(all(abs(fit$geometry$centre - colMeans(rows)) < 5 * sd))
  floor <- 2 * sd * c(1, 1, 0.5 - 2 * mean(rows[, 3])) # for a second moment, and for m (1 / 2 - m)
  spread <- sqrt(colMeans(rows^2) - colMeans(rows)^2 + abs(floor))
  expect_equal(fit$geometry$scale[3] / fit$geometry$scale[1], spread[1] / spread[3], tolerance = 0.02)
})

test_that("a source gives the bits that the data frame gives", {
  source <- dp_source(in_chunks(q, 700), levels = levels_of(q))
  for (method in c("newton-ridge", "2opt-ls")) {
    fit <- function(data) {
      set.seed(3)
      any_fit(y ~ ., data, eps = 2, delta = 1e-6, method = method, noise = "reproducible",
                bounds = list(a = c(0, 100), b = c(-1, 1)))
    }
    expect_identical(coef(fit(source)), coef(fit(q)))
  }
})

test_that("matrices of any storage have a geometry, and bounds help it", {
  x <- as.matrix(cbind(p$x, rare = as.numeric(seq_len(4000) %% 50 == 0)))
  skip_if_not_installed("Matrix")
  sparse <- as_sparse(x)
  fit <- function(x, ...) {
    set.seed(4)
    any_fit(x, p$y > 0, eps = 1, delta = 1e-6, radius = 2.5, noise = "reproducible", ...)
  }
  dense <- fit(x)
  expect_equal(coef(fit(sparse)), coef(dense), tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(coef(fit(x, storage = "single")), coef(dense), tolerance = 1e-3)
  box <- rbind(c(-1, -1, -1, 0), 1)
  expect_gt(fit(x, bounds = box)$geometry$scale[4], dense$geometry$scale[4])
  expect_error(fit(x, bounds = rbind(1, c(1, 1, 1, 0))), "lower end above", class = "dpsosp_error_argument")
  expect_error(fit(x, bounds = 1:3), "two rows and 4 columns", class = "dpsosp_error_argument")
})

test_that("a matrix column that varies less than an indicator of its bounds has its own variance", {
  set.seed(6)
  x <- cbind(tight = 0.5 + stats::runif(40000, -0.1, 0.1), hot = rep(0:1, 20000))
  fit <- any_fit(x, x[, 2] + x[, 1] + stats::rnorm(40000) > 1, eps = 200, delta = 1e-6, radius = 2, bounds = c(0, 1),
                 noise = "reproducible")
  floor <- 2 * dp_ledger(fit)$scale[dp_ledger(fit)$what == "moments"]
  expected <- sqrt((0.2^2 / 12 / 4 + floor) / (1 / 16))
  expect_equal(fit$geometry$scale[2] / fit$geometry$scale[1], expected, tolerance = 0.02)
})

test_that("steps are longer where there is little noise, and the model of the solution does not change with them", {
  options <- function(share, cap) {
    job <- list(class_fraction = share, geometry = list(cap = cap), loss = loss_logistic(), n = 1e5, dim = 4,
                control = control_newton_ridge())
    unlist(dpsosp:::ridge_options(job, 1)[c("curvature", "start_curvature")], use.names = FALSE)
  }
  expect_equal(options(0.5, 1), c(0.3, 0.25))
  expect_equal(options(0.5, 1.2), c(0.3 / 1.44, 0.25))
  expect_equal(options(0.5, 3), c(0.15, 0.25))
  expect_equal(options(0.1, 3), c(0.15, 0.09))
  expect_equal(options(NULL, 3), c(0.15, 0.3))
})

test_that("with few records and much noise no fit to labels of chance is much worse than the constant", {
  excess <- vapply(25:54, function(seed) {
    set.seed(seed)
    x <- matrix(runif(5000, -1, 1), 1000)
    y <- runif(1000) < 0.4
    fit <- quiet_fit(x, y, eps = 0.05, delta = 1e-6, loss = "logistic", radius = sqrt(6), bounds = c(-1, 1),
                     noise = "reproducible")
    share <- mean(y)
    mean(log1p(exp((1 - 2 * y) * predict(fit, x)))) / -(share * log(share) + (1 - share) * log(1 - share)) - 1
  }, 0)
  expect_lt(max(excess), 0.5) # .98 if large signals are as likely as others, else .33
})

test_that("coefficients are expected to be smaller where columns hardly vary and for higher degrees", {
  prior <- dpsosp:::column_prior(c(1, 2, 4), c(1, 1, 1))
  expect_equal(prior[1:2] / prior[2:3], rep(2^0.75, 2))
  expect_equal(mean(prior^4), 1) # inverse squared ridges
  expect_equal(dpsosp:::column_prior(c(1, 2, 4), c(1, 2, 3)), prior * (1:3)^-0.75)
})

test_that("polynomials of a higher degree are shorter where the noise may hide them, and less is expected of them", {
  set.seed(3)
  data <- data.frame(u = factor(sample(0:1, 400, TRUE)), o = factor(sample(1:4, 400, TRUE), ordered = TRUE))
  data$y <- stats::rnorm(400) > 0
  ratios <- function(eps) {
    fit <- any_fit(y ~ u + o, data, eps = eps, delta = 1e-6, # the core has indicators last
                   geometry = geometry_public(numeric(4), rep(0.5, 4)))
    list(scale = fit$geometry$scale / fit$geometry$scale[1], prior = fit$geometry$prior / fit$geometry$prior[1],
         spread = fit$geometry$spread, noise = 5 / (400 * sqrt(2 * fit$privacy$rho)))
  }
  same <- ratios(200)$scale
  for (eps in c(200, 0.1)) {
    now <- ratios(eps)
    shorter <- 1 / sqrt(1 + 25 * now$noise^2 * (c(1, 2, 3, 1)^1.5 - 1))
    expect_equal(now$scale, (same * shorter) / shorter[1], tolerance = 1e-3)
    expect_equal(now$spread, shorter)
    expect_equal(now$prior * now$scale / same^0.25, c(1, 2, 3, 1)^-0.75, tolerance = 1e-3)
  }
  expect_lt(ratios(0.1)$scale[3] / same[3], 0.3)
})

# Factors with levels of different frequencies, and one numeric column; the second class's fraction is about `rare`.
uneven <- function(n, rare) {
  set.seed(4)
  data <- data.frame(f = factor(sample(letters[1:6], n, TRUE, c(6, 5, 4, 3, 2, 1))), g = factor(sample(0:1, n, TRUE)),
                     x = stats::runif(n, -1, 1))
  data$y <- stats::runif(n) < stats::plogis(stats::qlogis(rare) + (data$f == "b") - 1.5 * (data$f == "f") + data$x)
  data
}
uneven_fit <- function(data, eps, ...) any_fit(y ~ ., data, eps = eps, delta = 1e-6, bounds = list(x = c(-1, 1)), ...)

test_that("the rarer class weighs more as far as its rows are not opposite", {
  tilt <- function(data = uneven(3000, 0.1), eps = 1, ...) uneven_fit(data, eps, ...)$geometry$tilt
  public <- geometry_public(c(5:1 / 21, 0.5, 0), sqrt(c((5:1 / 21) * (1 - 5:1 / 21), 0.25, 1 / 3)))
  data <- uneven(3000, 0.1)
  p <- uneven_fit(data, 1, geometry = public)$geometry
  squared <- 1 + (p$scale[1] / p$radius)^2 / 3 + sum((p$scale[-1] * pmin(p$centre[-1], 1 / p$radius - p$centre[-1]))^2)
  expect_equal(p$tilt, sqrt(2 / squared) - 1)
  expect_gt(p$tilt, 0.05)
  expect_gt(tilt(), 0)
  flipped <- transform(data, y = !y)
  expect_equal(uneven_fit(flipped, 1, geometry = public)$geometry$tilt, -p$tilt)
  set.seed(2)
  expect_lt(abs(tilt(uneven(3000, 0.5), eps = 3, noise = "reproducible")), 0.15) # at most the classes' imbalance
  expect_identical(tilt(neighbours = "zero-out"), 0)
  expect_identical(tilt(eps = 300), 0) # rows have the logistic loss itself
  expect_identical(tilt(start = numeric(8)), 0) # the classes' fractions are unknown
  x <- stats::model.matrix(~ f + g, data)[, -1]
  of_matrix <- function(...) {
    quiet_fit(x, data$y, eps = 1, delta = 1e-6, radius = 2, method = "newton-ridge", ...)$geometry
  }
  expect_gt(of_matrix(bounds = c(0, 1))$tilt, 0.1)
  expect_identical(of_matrix()$tilt, 0) # any column may have both signs
})

test_that("a column's end is that of its range where it counts less than twice", {
  box <- rbind(c(0, 0.5), c(0, 0.5), c(-0.5, 0.5), c(-0.5, 0.5), c(0.1, 0.5), c(0, 0.5), c(-1, 1), c(-1, 0), c(0, 0.5),
               c(-0.5, 0.5))
  centre <- c(0.1, 0.45, 0, -0.45, 0.15, 0, 0.9, 0, -0.1, 0.6)
  variance <- c(0.04, 0.02, 0.01, 0.003, 0.04, 0, 0.02, 0.1, 0.1, 0.1)
  expect_identical(dpsosp:::column_ends(centre, variance, box), c(0, 0.5, NaN, -0.5, NaN, 0, 1, NaN, NaN, NaN))
})

test_that("public means outside the range of their columns are no errors", {
  x <- cbind(stats::runif(400), stats::runif(400) < 0.3)
  fit <- function(mean) {
    quiet_fit(x, rep(c(FALSE, TRUE, FALSE, FALSE), 100), eps = 1, delta = 1e-6, radius = 2, bounds = c(0, 1),
              method = "newton-ridge", geometry = geometry_public(mean, c(0.3, 0.4)))
  }
  for (mean in list(c(1.2, 0.3), c(-0.1, 0.3), c(1, 1), c(0, 0))) expect_true(all(is.finite(coef(fit(mean)))))
})

test_that("a correct model is estimated without bias where the classes have different weights", {
  data <- uneven(15000, 0.06)
  truth <- stats::coef(stats::glm(y ~ ., stats::binomial(), data))
  set.seed(5)
  fits <- replicate(8, {
    fit <- uneven_fit(data, 0.4, noise = "reproducible")
    expect_gt(fit$geometry$tilt, 0.1)
    stats::coef(fit)
  })
  error <- abs(rowMeans(fits) - truth) / (apply(fits, 1, stats::sd) / sqrt(8) + 0.05)
  expect_lt(max(error), 4)
})

test_that("chunks give rows with a tilt the bits that the data frame gives", {
  data <- uneven(3000, 0.1)
  fit <- function(data) {
    set.seed(3)
    uneven_fit(data, 2, noise = "reproducible")
  }
  whole <- fit(data)
  expect_gt(whole$geometry$tilt, 0)
  expect_identical(coef(fit(dp_source(in_chunks(data, 700), levels = levels_of(data)))), coef(whole))
})

test_that("public moments of a matrix are those of its columns", {
  set.seed(5)
  public <- geometry_public(mean = c(1, 0, -1) / 2, sd = c(2, 1, 1) / 4)
  fit <- any_fit(p$x, p$y > 0, eps = 1, delta = 1e-6, radius = 2, geometry = public)
  expect_equal(fit$geometry$centre, c(1, 0, -1) / 4)
  expect_equal(fit$geometry$scale[2:3] / fit$geometry$scale[1], c(2, 2))
  expect_false("moments" %in% dp_ledger(fit)$what)
})

test_that("a tiny public standard deviation is a thousandth of the largest, and does not increase the noise", {
  fit <- function(sd) {
    any_fit(p$x, p$y > 0, eps = 1, delta = 1e-6, radius = 2, geometry = geometry_public(rep(0, 3), c(2, 1, sd) / 4))
  }
  expect_equal(fit(1e-9)$geometry, fit(0.002)$geometry)
  expect_equal(fit(1e-9)$trace$sd, fit(1)$trace$sd, tolerance = 0.1)
  expect_false(identical(fit(0.004)$geometry, fit(0.002)$geometry))
})

test_that("without an intercept nothing is centred", {
  fit <- any_fit(p$x, p$y > 0, eps = 1, delta = 1e-6, radius = 2, intercept = FALSE)
  expect_equal(fit$geometry$centre, rep(0, ncol(p$x)))
  expect_length(coef(fit), ncol(p$x))
})

test_that("null records, constant columns and lost ranges do not stop a fit", {
  d <- q
  d$a[1:3000] <- NA
  d$constant <- 7
  d$far <- 1e200
  fit <- suppressWarnings(any_fit(y ~ ., d, eps = 1, delta = 1e-6))
  expect_true(all(is.finite(coef(fit))))
  d$a <- NA_real_
  expect_equal(suppressWarnings(any_fit(y ~ ., d, eps = 1, delta = 1e-6))$status, "null")
})

test_that("what cannot be asked for is refused before anything is charged", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  fit <- function(...) any_fit(p$x, p$y > 0, budget = budget, radius = 2, ...)
  refused <- function(text, ...) expect_error(fit(...), text, class = "dpsosp_error_argument")
  refused("`geometry` must be NULL", geometry = "public")
  refused("must not be \"none\"", method = "newton-ridge", geometry = "none")
  refused("one mean and one sd per column", geometry = geometry_public(c(0, 0), c(1, 1)))
  refused("one mean and one sd per column", geometry = geometry_public(c(u = 0, v = 0, w = 0), c(u = 1, v = 1, w = 1)))
  wide <- matrix(0, 10, 300, dimnames = list(NULL, paste0("column", 1:300)))
  text <- tryCatch(dp_sosp(wide, rep(c(TRUE, FALSE), 5), budget = budget, radius = 2, geometry = geometry_public(0, 1)),
                   dpsosp_error_argument = conditionMessage)
  expect_match(text, "\"column8\" and 292 more, in this order")
  refused("chooses a ridge of its own", method = "newton-ridge", penalty = penalty_ridge(1))
  refused("take `lambda0`", method = "newton", geometry = "private", control = control_newton("qu"))
  expect_error(geometry_public(1, 0), "must be positive", class = "dpsosp_error_argument")
  expect_error(geometry_public(c(a = 1), c(b = 1)), "same columns", class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("a small radius and public numbers out of all proportion are no errors", {
  for (method in c("newton-ridge", "newton")) {
    expect_true(all(is.finite(coef(fit_of(method = method, geometry = "private", radius = 0.3)))))
  }
  wild <- geometry_public(mean = c(-1e300, 0, 1e9), sd = c(1e200, 1e-200, 1))
  expect_true(all(is.finite(coef(fit_of(geometry = wild)))))
})

test_that("without columns there is no geometry", {
  expect_length(coef(any_fit(y ~ 1, q, eps = 4, delta = 1e-6, method = "auto")), 1)
  expect_length(coef(any_fit(y ~ 1, q, eps = 4, delta = 1e-6, method = "2opt-ls", geometry = "private")), 1)
  expect_error(any_fit(y ~ 1, q, eps = 4, delta = 1e-6), "needs columns beside the intercept",
               class = "dpsosp_error_argument")
})
