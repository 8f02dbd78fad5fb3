# Tables of records with weights and offsets, whose database computes sums.

# Some records have a small weight, are not used, or have an offset outside its range; w and o are columns.
weighed_frame <- function(n = 200) {
  set.seed(7)
  d <- transform(problem_frame(n), id = seq_len(n), w = runif(n), o = runif(n, -1, 2))
  d$w[1:12] <- c(NA, NaN, Inf, -Inf, -0.5, 2, 1 + 1e-9, 0, 1, 1e-9, 1e-320, 1e308)
  d$o[13:20] <- c(NA, NaN, Inf, -Inf, 50, -50, 1e-320, 1e308)
  d$a[21] <- NA
  d$y[22] <- NA
  d$f[23] <- NA
  d
}
weighed_bounds <- c(frame_bounds, list(o = c(-1, 1.5)))

# Sums and their sensitivities are equal to those of chunks.
expect_weighed <- function(connection) {
  pair <- push_pair(connection, weighed_frame())
  for (loss in list("logistic", "sigmoid", loss_logistic(slope = 0.6))) {
    expect_pushed(pair, y ~ a + b + f + offset(o), loss, weighed_bounds, weights = quote(w))
  }
  expect_pushed(pair, y ~ a + b + f, bounds = frame_bounds, weights = quote(w), radius = 1.1)
  expect_pushed(pair, y ~ a + b + offset(o), bounds = weighed_bounds, subset = quote(a > 12))
  expect_pushed(pair, y ~ a + offset(o) + offset(b / 2), "huber_svm", weighed_bounds, weights = quote(w^2),
                curved = FALSE, neighbours = "zero-out")
  expect_pushed(pair, a ~ b + f + offset(o * 3), loss_huber(c(0, 25), 3), list(b = c(-1, 1), o = c(-1, 2)),
                weights = quote(w * 0.5), curved = FALSE)
}

hostile_weights <- function(n) {
  d <- hostile_rows(n, seed = 11)
  values <- c(hostile, 0.3, 1e-300, 5e-324, 2^-53, 1 + 2^-52)
  d$w <- sample(values, n, TRUE)
  d$o <- sample(values, n, TRUE)
  d$w[seq_len(n) %% 2 == 0] <- 1e-160
  d
}

# With any weight and offset, a record contributes no more than without them.
expect_weighed_bounded <- function(connection, n) {
  DBI::dbWriteTable(connection, "people", hostile_weights(n), overwrite = TRUE)
  levels <- list(f = c("u", "v", "w"), y = c("no", "yes"))
  source <- dp_source(connection, "people", levels = levels, push = TRUE)
  bounds <- c(frame_bounds, list(o = c(-2, 3)))
  expect_bounded(source, list(dpsosp:::loss_logistic()), sizes = long_values(c(0, 1, 1e30)), bounds = bounds, shift = 3,
                 formula = y ~ a + b + f + offset(o), weights = quote(w))
  expect_bounded(source, list(dpsosp:::loss_logistic(slope = 0.7)), sizes = 1, shift = 6,
                 bounds = c(frame_bounds, list("offset(o^2)" = c(-2, 3), "offset(1/o)" = c(0, 3))),
                 formula = y ~ a + b + f + offset(o^2) + offset(1 / o), weights = quote(exp(-w) / w))
}

# Coefficients and offsets so near zero that their squares underflow.
expect_small_predictors <- function(connection) {
  d <- data.frame(a = 1e-6, b = -1e-6, o = rep(c(0, 1e-320, 1e-200, 1e-110), 5), y = factor(rep(c("no", "yes"), 10)))
  source <- push_pair(connection, d)$push
  what <- asks(2)$trace
  what$at <- c(1, 1 + 2^-52) * 1.1e-144
  bounds <- list(a = c(-1, 1), b = c(-1, 1))
  testthat::expect_gt(push_sum(source, y ~ a + b - 1, what, bounds = bounds)[2], 0)
  bounds$o <- c(-1e-100, 1e-100)
  testthat::expect_gt(push_sum(source, y ~ a + b + offset(o) - 1, what, bounds = bounds)[2], 0)
}
