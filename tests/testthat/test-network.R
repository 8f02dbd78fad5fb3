# Fits of networks: learning, predictions, contents and errors. Gradients, clipping and sensitivities are tested in C.

classes <- function(n, seed = 1) {
  set.seed(seed)
  x <- matrix(runif(n * 4), n)
  y <- ifelse(x[, 1] > x[, 2], "a", ifelse(x[, 3] > 0.5, "b", "c"))
  list(x = x, y = factor(y, levels = c("a", "b", "c")))
}

images <- function(n, side = 7, channels = 2, seed = 2) {
  set.seed(seed)
  x <- array(runif(n * side^2 * channels), c(n, side, side, channels))
  bright <- apply(x[, 1:3, , 1], 1, mean) > apply(x[, 5:7, , 1], 1, mean)
  list(x = x, y = bright)
}

quiet_network <- function(..., eps = 3, delta = 1e-6, bounds = c(0, 1), noise = "reproducible") {
  suppressMessages(dp_sosp(..., eps = eps, delta = delta, bounds = bounds, noise = noise))
}

# A few steps with a given noise level, so that no noise is planned for a budget of its own.
brief_network <- function(...) {
  plan <- event_repeat(event_subsample(event_gaussian(2, "replace-one"), 0.05, "wor"), 60)
  quiet_network(..., eps = NULL, delta = NULL, budget = dp_budget(eps = 3, delta = 1e-6, plan = plan),
                control = control_network(epochs = 2))
}

small_cnn <- function(...) {
  model_cnn(channels = c(3, 2), kernel = c(3, 2), stride = c(2, 1), padding = c(1, 0), pool = c(2, 1), hidden = 4, ...)
}

test_that("networks learn what no linear model can", {
  set.seed(3)
  x <- matrix(runif(8000), 4000)
  y <- (x[, 1] > 0.5) == (x[, 2] > 0.5)
  for (method in c("sgd", "adam")) {
    fit <- quiet_network(x, y, model = model_mlp(16), method = method, neighbours = "zero-out",
                         control = control_network(epochs = 20))
    expect_gt(mean(predict(fit, x, type = "class") == y), 0.9)
  }
  d <- classes(4000)
  fit <- quiet_network(d$x, d$y, model = model_mlp(8, "relu"))
  expect_gt(mean(predict(fit, d$x) == d$y), 0.85)
  d <- images(3000)
  fit <- quiet_network(d$x, d$y, model = small_cnn(), neighbours = "zero-out")
  expect_gt(mean(predict(fit, d$x, type = "class") == d$y), 0.75)
})

test_that("predictions are those of the weights: dense layers", {
  d <- classes(600)
  fit <- brief_network(d$x, d$y, model = model_mlp(c(6, 5)), bounds = c(-1, 1))
  w <- coef(fit)
  expect_identical(unname(lapply(w, dim)), list(c(6L, 5L), c(5L, 7L), c(3L, 6L)))
  expect_length(unlist(w), length(fit$weights))
  hidden <- tanh(cbind(tanh(cbind(d$x / 2, 1) %*% t(w[[1]])), 1) %*% t(w[[2]]))
  link <- cbind(hidden, 1) %*% t(w[[3]])
  expect_equal(unname(predict(fit, d$x, type = "link")), link, tolerance = 1e-12)
  shares <- exp(link) / rowSums(exp(link))
  expect_equal(unname(predict(fit, d$x, type = "response")), shares, tolerance = 1e-12)
  expect_identical(predict(fit, d$x), factor(c("a", "b", "c")[max.col(link)], levels = c("a", "b", "c")))
})

# A textbook implementation for one image of height x width x channels. The weights of an output are (width, height,
# channel).
convolve_image <- function(x, w, size, stride, padding) {
  height <- dim(x)[1] + 2 * padding
  padded <- array(0, c(height, dim(x)[2] + 2 * padding, dim(x)[3]))
  padded[padding + seq_len(dim(x)[1]), padding + seq_len(dim(x)[2]), ] <- x
  at <- seq(1, height - size + 1, stride)
  out <- array(0, c(length(at), length(at), nrow(w)))
  for (o in seq_len(nrow(w))) for (i in seq_along(at)) for (j in seq_along(at)) {
    window <- padded[at[i] + seq_len(size) - 1, at[j] + seq_len(size) - 1, , drop = FALSE]
    out[i, j, o] <- sum(window * w[o, -ncol(w)]) + w[o, ncol(w)]
  }
  out
}

test_that("predictions are those of the weights: images", {
  d <- images(60)
  fit <- brief_network(d$x, d$y, model = small_cnn())
  w <- coef(fit)
  one <- function(x) {
    a <- tanh(convolve_image(x - 0.5, w[[1]], 3, 2, 1)) # 4 x 4 x 3
    pooled <- array(0, c(3, 3, 3))
    for (i in 1:3) for (j in 1:3) pooled[i, j, ] <- apply(a[i + 0:1, j + 0:1, ], 3, max)
    a <- tanh(convolve_image(pooled, w[[2]], 2, 1, 0))
    drop(w[[4]] %*% c(tanh(w[[3]] %*% c(a, 1)), 1))
  }
  link <- vapply(1:60, function(i) one(d$x[i, , , ]), 0)
  expect_equal(predict(fit, d$x, type = "link"), link, tolerance = 1e-12)
  expect_identical(predict(fit, d$x), link > 0)
  # A grey image has one channel, stated or not.
  grey <- brief_network(d$x[, , , 1], d$y, model = small_cnn())
  expect_identical(predict(grey, d$x[, , , 1]), predict(grey, d$x[, , , 1, drop = FALSE]))
})

test_that("a row's prediction depends on this row alone, and one with a missing value has none", {
  d <- classes(100)
  fit <- brief_network(d$x, d$y, model = model_mlp(5))
  all <- predict(fit, d$x, type = "link")
  x <- d$x
  x[3, 2] <- NA
  x[4, ] <- c(NaN, Inf, -Inf, 1)
  x[5, 1] <- 1e300 # it is clamped
  link <- predict(fit, x, type = "link")
  expect_identical(link[-(3:5), ], all[-(3:5), ])
  expect_true(all(is.na(link[3:4, ])) && !anyNA(link[5, ]))
  expect_identical(is.na(predict(fit, x)), seq_len(100) %in% 3:4)
  for (i in c(1, 50, 100)) expect_identical(predict(fit, d$x[i, , drop = FALSE], type = "link"), all[i, , drop = FALSE])
})

test_that("a record that cannot be used is a null record, whatever is wrong with it", {
  d <- classes(300)
  fit <- function(x, y) {
    set.seed(9)
    brief_network(x, y, model = model_mlp(5))$weights
  }
  missing <- d$y
  missing[7] <- NA
  null <- fit(d$x, missing)
  for (value in c(NA, NaN, Inf, -Inf, 1e300)) {
    x <- d$x
    x[7, 2] <- value
    expect_identical(fit(x, d$y), null)
  }
  expect_false(identical(fit(d$x, d$y), null))
  # A value outside the bounds is clamped on its own.
  x <- d$x
  x[7, 2] <- 1
  beyond <- x
  beyond[7, 2] <- 1e30
  expect_equal(fit(beyond, d$y), fit(x, d$y), tolerance = 1e-9)
})

test_that("the ledger has the noise of the clip, and the budget is spent", {
  d <- classes(900)
  for (neighbours in c("replace-one", "zero-out")) {
    fit <- quiet_network(d$x, d$y, model = model_mlp(3), neighbours = neighbours,
                         control = control_network(epochs = 4, batch = 60, clip = 0.7))
    ledger <- dp_ledger(fit)
    steps <- ledger[ledger$what == "batch gradient", ]
    expect_identical(nrow(steps), 60L)
    expect_equal(steps$sensitivity, rep((if (neighbours == "zero-out") 0.7 else 1.4) / 60, 60), tolerance = 1e-9)
    expect_equal(sum(ledger$rho), fit$privacy$rho)
    expect_gt(sum(steps$rho), 0.998 * 0.999999 * fit$privacy$rho)
    expect_identical(c(fit$privacy$eps, fit$privacy$delta, fit$privacy$neighbours), c("3", "1e-06", neighbours))
    # The same steps as an event cost no more.
    sigma <- steps$scale[1] / steps$sensitivity[1]
    step <- event_subsample(event_gaussian(sigma, neighbours), 60 / 900, fit$batch$scheme)
    eps <- epsilon(dp_account(event_repeat(step, 60), "rdp"), 1e-6)
    expect_lt(as.numeric(eps), 3.0001)
    expect_gt(as.numeric(eps), 2.8)
  }
})

test_that("a seed of its own decides where a fit starts, and R's is left alone", {
  d <- classes(60)
  start <- function(...) dpsosp:::network_start(list(network = dpsosp:::core_network(model_mlp(300), c(1L, 1L, 400L),
                                                     c(0, 1), 3L), control = control_network(...)))
  set.seed(5)
  before <- .Random.seed
  fit <- brief_network(d$x, d$y, model = model_mlp(2), noise = "secure")
  one <- start()
  expect_identical(.Random.seed, before)
  expect_identical(start(seed = 1), one)
  expect_false(any(start(seed = 2)[one != 0] == one[one != 0]))
  # 300 units with 400 inputs and their biases, 3 outputs with 300 inputs and their biases.
  first <- one[seq_len(300 * 400)] * sqrt(400)
  second <- one[300 * 401 + seq_len(900)] * sqrt(300)
  expect_equal(which(one == 0), c(300 * 400 + seq_len(300), 300 * 401 + 900 + 1:3))
  expect_gt(stats::ks.test(unique(first), "pnorm")$p.value, 1e-4)
  expect_gt(stats::ks.test(second, "pnorm")$p.value, 1e-4)
  expect_lt(abs(stats::cor(first[-1], first[-length(first)])), 0.015)
  noise <- function(seed) {
    set.seed(seed)
    brief_network(d$x, d$y, model = model_mlp(2))$weights
  }
  expect_identical(noise(1), noise(1))
  expect_false(identical(noise(1), noise(2)))
})

test_that("a formula's columns are inputs, in declared ranges or private ones", {
  d <- classes(1500)
  frame <- data.frame(class = d$y, a = 10 * d$x[, 1], b = 10 * d$x[, 2], c = factor(d$x[, 3] > 0.5))
  ranges <- list(a = I(c(0, 10)), b = I(c(0, 10)))
  fit <- function(data = frame, ..., formula = class ~ ., bounds = ranges) {
    set.seed(1)
    brief_network(formula, data, model = model_mlp(8), bounds = bounds, ...)
  }
  # The matrix of the mapped columns is the same problem.
  declared <- fit()
  mapped <- cbind(frame$a / 5 - 1, frame$b / 5 - 1, frame$c == "TRUE")
  same <- fit(d$y, formula = mapped, bounds = c(-1, 1))
  expect_equal(declared$weights, same$weights, tolerance = 1e-12)
  expect_equal(predict(declared, frame, type = "link"), predict(same, mapped, type = "link"), tolerance = 1e-12)
  expect_lt(length(serialize(declared, NULL)), 60000)
  # A missing value makes a null record, and has no prediction.
  missing <- frame
  missing$a[3] <- NA
  missing$c[4] <- NA
  null <- fit(missing)
  expect_identical(which(is.na(predict(null, missing))), 3:4)
  missing$class[3:4] <- NA
  expect_identical(fit(missing)$weights, null$weights)
  expect_false(identical(declared$weights, null$weights))
  found <- quiet_network(class ~ ., frame, model = model_mlp(8), eps = 8, bounds = "private")
  expect_gt(mean(predict(found, frame) == d$y), 0.8)
  ledger <- dp_ledger(found)
  for_ranges <- sum(ledger$rho[ledger$what != "batch gradient"]) / found$privacy$rho
  expect_true(for_ranges > 0.03 && for_ranges < 0.05 * (1 + 1e-6))
  expect_lte(sum(ledger$rho), found$privacy$rho * (1 + 1e-9))
  expect_errors(
    fit(formula = class ~ 1, bounds = "private"), fit(bounds = c(0, 1)), fit(radius = 1),
    dp_sosp(class ~ ., frame, model = model_cnn(), eps = 1, delta = 1e-6), predict(declared, mapped)
  )
})

test_that("a record's weight multiplies what it adds, and one without a weight is a null record", {
  d <- classes(400)
  frame <- data.frame(class = d$y, d$x)
  ends <- stats::setNames(rep(list(I(c(0, 1))), 4), names(frame)[-1])
  fit <- function(weights, method = "sgd", x = d$x, y = d$y, ...) {
    set.seed(3)
    quiet_network(x, y, model = model_mlp(3), method = method, weights = weights, eps = 20, ...)$weights
  }
  w <- round(runif(400), 3)
  w[1:6] <- c(NA, NaN, Inf, -1, 1.5, 0)
  missing <- replace(d$y, 1:6, NA)
  for (method in long_size(c("sgd", "adam", "blsgd", "blsgd-ac", "blgd"), c("sgd", "blgd"))) {
    plain <- fit(NULL, method)
    expect_identical(fit(rep(1, 400), method), plain)
    weighted <- fit(w, method)
    expect_false(identical(weighted, plain))
    expect_identical(fit(replace(w, 1:6, 1), method, y = missing), weighted)
  }
  # One step with the same noise: with a quarter of the weight, records contribute a quarter.
  control <- control_network(epochs = 1, batch = 399, step = 1, momentum = 0)
  step <- function(weight) fit(rep(weight, 400), control = control)
  expect_equal(step(0.25) - step(1e-9), (step(1) - step(1e-9)) / 4, tolerance = 1e-6)
  expect_gt(max(abs(step(1) - step(1e-9))), 0.01)
  frame$w <- w
  set.seed(3)
  mapped <- quiet_network(2 * d$x - 1, d$y, model = model_mlp(3), method = "sgd", bounds = c(-1, 1), eps = 20,
                          weights = w)$weights
  set.seed(3)
  formula <- quiet_network(class ~ X1 + X2 + X3 + X4, frame, model = model_mlp(3), method = "sgd", bounds = ends,
                           eps = 20, weights = w)$weights
  expect_equal(formula, mapped, tolerance = 1e-9)
})

test_that("a fit has no data, and comes back from a file", {
  d <- classes(2000)
  fit <- quiet_network(d$x, d$y, model = model_mlp(5), control = control_network(epochs = 1))
  path <- tempfile(fileext = ".rds")
  on.exit(unlink(path))
  saveRDS(fit, path)
  again <- readRDS(path)
  expect_identical(predict(again, d$x), predict(fit, d$x))
  expect_lt(length(serialize(fit, NULL)), 30000)
  expect_identical(nobs(fit), 2000L)
  expect_output(print(again), "sgd, mlp \\(5; tanh\\), 43 weights")
  expect_output(summary(again), "layer 2: 3 x 6")
  expect_output(print(small_cnn()), "3 of 3 x 3, max 2 x 2, 2 of 2 x 2, 4; tanh")
})

test_that("what has no bound is refused with the reason", {
  d <- classes(50)
  fit <- function(..., x = d$x, y = d$y, model = model_mlp(4), bounds = c(0, 1)) {
    dp_sosp(x, y, model = model, bounds = bounds, eps = 1, delta = 1e-6, ...)
  }
  for (method in setdiff(dpsosp:::method_names(), dpsosp:::method_names(networks = TRUE))) {
    expect_error(fit(method = method), "rests on Lipschitz constants", class = "dpsosp_error_network")
  }
  expect_errors(
    fit(method = "none"), fit(target = sosp(alpha = 0.1)), fit(penalty = "ridge"), fit(inference = "sandwich"),
    fit(geometry = "none"), fit(radius = 1), fit(start = 1), fit(storage = "single"), fit(intercept = TRUE),
    fit(bounds = NULL), fit(bounds = c(1, 0)), fit(bounds = "private"), fit(model = "mlp"), fit(y = d$y[-1]),
    fit(x = as.data.frame(d$x)), fit(x = d$x[, 0]), fit(model = model_cnn()),
    fit(model = model_cnn(), x = array(0, c(50, 3, 3))), fit(control = control_gd()),
    fit(control = control_network(batch = 50)),
    fit(control = control_network(sampling = "wor"), neighbours = "zero-out"),
    model_mlp(0), model_mlp(1.5), model_mlp(NA), model_mlp("a"), model_mlp(activation = "sigmoid"),
    model_cnn(channels = integer()), model_cnn(kernel = 1:3), model_cnn(padding = 8), model_cnn(stride = 0),
    control_network(seed = 0.5), control_network(momentum = 1), control_network(epochs = 0), control_network(clip = 0),
    control_network(step = -1)
  )
  network <- suppressMessages(fit(control = control_network(epochs = 1, batch = 10)))
  expect_errors(predict(network), predict(network, d$x[, -1]), predict(network, d$x, type = "prob"))
})

test_that("sparse rows are refused", {
  skip_if_not_installed("Matrix")
  x <- Matrix::Matrix(diag(4), sparse = TRUE)
  expect_error(dp_sosp(x, c(TRUE, FALSE, TRUE, TRUE), model = model_mlp(4), bounds = c(0, 1), eps = 1, delta = 1e-6),
               "must be a numeric matrix", class = "dpsosp_error_argument")
})

test_that("a network has the family of its loss, and an audit says why there is none", {
  d <- classes(200)
  of <- function(y, ...) quiet_network(d$x, y, model = model_mlp(2), control = control_network(epochs = 1), ...)
  two <- of(d$y == "a")
  expect_identical(family(two)$family, "binomial")
  expect_identical(family(of(as.integer(d$y), loss = loss_poisson(5)))$family, "poisson")
  expect_error(family(of(d$y)), "multinomial loss belongs to no family", class = "dpsosp_error_absent")
  expect_error(dp_audit(two), "fit of a network.*Audit a function", class = "dpsosp_error_argument")
})
