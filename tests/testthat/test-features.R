# Public features of images: comparison with the formulas in plain R, independence of images, invalid pixels, a fit.

mirror <- function(at, side) {
  at <- abs(at) %% (2 * (side - 1))
  ifelse(at > side - 1, 2 * (side - 1) - at, at)
}

# Modulus of the convolution of a plane with the wavelet of scale j and direction k, at every stride-th pixel.
wave <- function(plane, j, k, stride) {
  reach <- floor(6.4 * 2^j)
  at <- expand.grid(x = -reach:reach, y = -reach:reach)
  at <- at[at$x^2 + at$y^2 <= (6.4 * 2^j)^2, ]
  angle <- pi * (k - 1) / 8
  along <- at$x * cos(angle) + at$y * sin(angle)
  across <- at$y * cos(angle) - at$x * sin(angle)
  sd <- 0.8 * 2^j
  envelope <- exp(-(along^2 + across^2 / 4) / (2 * sd^2))
  carrier <- exp(1i * 0.75 * pi / 2^j * along)
  filter <- (carrier - sum(envelope * carrier) / sum(envelope)) * envelope / (4 * pi * sd^2)
  rows <- seq(0, nrow(plane) - 1, stride)
  columns <- seq(0, ncol(plane) - 1, stride)
  one <- function(row, column) {
    Mod(sum(filter * plane[cbind(mirror(row - at$y, nrow(plane)), mirror(column - at$x, ncol(plane))) + 1]))
  }
  outer(rows, columns, Vectorize(one))
}

windows <- function(side, stride) {
  at <- seq(0, side - 1, stride)
  centres <- (side %% 4) / 2 + 1.5 + 4 * (seq_len(side %/% 4) - 1)
  weight <- exp(-outer(centres, at, "-")^2 / (2 * 1.6^2))
  weight / rowSums(weight)
}

# All averages of one image.
reference <- function(image) {
  pool <- function(plane, stride) t(windows(nrow(image), stride) %*% plane %*% t(windows(ncol(image), stride)))
  fine <- lapply(1:8, function(k) wave(image, 0, k, 1))
  coarse <- function(plane) lapply(1:8, function(k) pool(wave(plane, 1, k, 2), 2))
  unlist(list(pool(image, 1), lapply(fine, pool, stride = 1), coarse(image), lapply(fine, coarse)))
}

# The kinds of the channels: low, fine, coarse, and pairs by the angle between their directions.
kinds <- function() {
  turn <- outer(1:8, 1:8, function(coarse, fine) pmin((coarse - fine) %% 8, (fine - coarse) %% 8))
  c(1, rep(2:3, each = 8), 4 + turn)
}

test_that("features are those of the formulas", {
  set.seed(1)
  for (size in list(c(12L, 9L), c(6L, 10L))) {
    x <- array(runif(2 * prod(size)), c(2, size))
    expected <- sqrt(t(apply(x, 1, reference)))
    plain <- list(centre = numeric(8), scale = rep(1, 8), norm = 0)
    expect_equal(dpsosp:::scattering(x, size, c(0, 1), "full", plain), expected, tolerance = 1e-13)
    constants <- dpsosp:::scattering_constants
    kind <- rep(kinds(), each = prod(size %/% 4))
    mapped <- sweep(sweep(expected, 2, constants$centre[kind]), 2, constants$scale[kind], "/")
    mapped <- 3 * mapped / sqrt(rowSums(mapped^2))
    expect_equal(unname(features_scattering(x, c(0, 1), "full")), mapped, tolerance = 1e-12)
  }
})

test_that("each row is a function of its image alone, whatever the threads", {
  set.seed(2)
  x <- matrix(runif(100 * 64), 100)
  all <- features_scattering(x, c(0, 1))
  expect_identical(features_scattering(x[37, , drop = FALSE], c(0, 1)), all[37, , drop = FALSE])
  other <- x
  other[-37, ] <- sample(c(-1e308, 0, 1, NA, Inf), 99 * 64, TRUE)
  expect_identical(features_scattering(other, c(0, 1))[37, ], all[37, ])
  old <- options(dpsosp.threads = 1)
  on.exit(options(old))
  expect_identical(features_scattering(x, c(0, 1)), all)
  options(dpsosp.threads = 2)
  expect_identical(features_scattering(x, c(0, 1)), all)
})

test_that("matrix, array and integers are the same images; orders are parts of each other", {
  set.seed(3)
  x <- array(sample(0:255, 5 * 8 * 12, TRUE), c(5, 8, 12))
  by_rows <- matrix(aperm(x, c(1, 3, 2)), 5)
  all <- features_scattering(x, c(0, 255), "full")
  expect_type(x, "integer")
  expect_identical(features_scattering(x + 0, c(0, 255), "full"), all)
  expect_identical(features_scattering(by_rows, c(0, 255), "full", size = c(8, 12)), all)
  expect_identical(features_scattering(x / 255, c(0, 1), "full", size = c(8, 12))[, 1], all[, 1])
  expect_identical(dim(all), c(5L, 81L * 6L))
  expect_identical(colnames(all)[c(1, 5, 486)], c("low[1,1]", "low[2,2]", "fine8coarse8[2,3]"))
  for (order in c("first", "mid")) {
    some <- features_scattering(x, c(0, 255), order)
    ratio <- some / all[, colnames(some)]
    expect_equal(ratio, ratio[, rep(1, ncol(some))], ignore_attr = TRUE) # each order has length 3
    expect_equal(rowSums(some^2), rep(9, 5))
  }
  expect_identical(dim(some), c(5L, 41L * 6L))
  expect_identical(dim(features_scattering(x[0, , ], c(0, 255))), c(0L, 41L * 6L))
})

test_that("a shift by the distance of two windows shifts the features", {
  set.seed(4)
  size <- c(64L, 64L)
  x <- array(0, c(2, size))
  x[1, 31:34, 27:34] <- x[2, 35:38, 31:38] <- runif(32)
  plain <- list(centre = numeric(8), scale = rep(1, 8), norm = 0)
  all <- array(dpsosp:::scattering(x, size, c(0, 1), "mid", plain), c(2, 16, 16, 41)) # the window varies fastest
  apart <- max(abs(all[1, 1:15, 1:15, ] - all[2, 2:16, 2:16, ]))
  expect_lt(apart, 1e-6 * max(all)) # tails of the windows at the borders
})

test_that("a broken pixel makes its row a null record; values outside of the bounds are clipped", {
  set.seed(5)
  x <- matrix(runif(40 * 64), 40)
  wild <- x
  wild[2, 3] <- 1e308
  wild[3, 4] <- -5
  x[2, 3] <- 1
  x[3, 4] <- 0
  expect_identical(features_scattering(wild, c(0, 1)), features_scattering(x, c(0, 1)))
  for (value in c(NA, NaN, Inf, -Inf)) {
    wild[4, 5] <- value
    z <- features_scattering(wild, c(0, 1), "first")
    expect_true(all(is.nan(z[4, ])))
    expect_identical(z[-4, ], features_scattering(x, c(0, 1), "first")[-4, ])
  }
  whole <- matrix(1:64, 2, 64)
  whole[1, 1] <- NA
  expect_identical(is.na(features_scattering(whole, c(0, 64))[, 1]), c(TRUE, FALSE))
  y <- rep(c(TRUE, FALSE), 20)
  gradient <- function(z) {
    oracle <- dp_oracle(z, y, "logistic", dp_budget(mu = 1e12), radius = sqrt(10), noise = "reproducible")
    set.seed(1)
    dp_gradient(oracle, numeric(ncol(z) + 1), mu = 1e9)
  }
  z[4, ] <- NA
  expect_identical(gradient(features_scattering(wild, c(0, 1), "first")), gradient(z))
})

test_that("rows are not clipped by a fit's radius", {
  set.seed(6)
  z <- features_scattering(matrix(runif(10 * 64), 10), c(0, 1), "first")
  oracle <- dp_oracle(z, rep(TRUE, 10), "logistic", dp_budget(mu = 1e12), radius = sqrt(10), noise = "reproducible")
  expect_equal(dp_gradient(oracle, numeric(ncol(z) + 1), mu = 1e10)[1:18], # the slope at zero is -1/2
               -colMeans(cbind(1, z))[1:18] / sqrt(10) / 2, tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("errors name what is wrong and no pixel", {
  x <- matrix(0.5, 3, 64)
  expect_errors(
    features_scattering(),
    features_scattering(x),
    features_scattering(x, 255),
    features_scattering(x, c(1, 1)),
    features_scattering(as.data.frame(x), c(0, 1)),
    features_scattering(x > 0, c(0, 1)),
    features_scattering(1:64, c(0, 1)),
    features_scattering(x, c(0, 1), "second"),
    features_scattering(x, c(0, 1), size = c(8, 9)),
    features_scattering(x, c(0, 1), size = 8),
    features_scattering(x, c(0, 1), size = c(2, 32)),
    features_scattering(matrix(0, 2, 65), c(0, 1)),
    features_scattering(matrix(0, 2, 0), c(0, 1)),
    features_scattering(array(0, c(2, 4, 8)), c(0, 1), size = c(8, 4))
  )
})
