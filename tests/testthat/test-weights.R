# Weights and offsets of records in every form of data: each form gives the results of a data frame, or a reason.

# Some records are not used, each for another reason.
weights_data <- function(n = 1100) {
  set.seed(1)
  d <- data.frame(a = runif(n, -1, 1), b = runif(n, -1, 1), w = round(runif(n), 3), o = runif(n, -1, 2))
  d$y <- rbinom(n, 1, stats::plogis(1 + d$a - d$b + d$o))
  d$z <- 3 * d$a + d$o + 0.1 * stats::rnorm(n)
  d$class <- factor(sample(c("u", "v", "x"), n, TRUE), c("u", "v", "x"))
  d$w[1:8] <- c(NA, NaN, Inf, -Inf, -0.5, 2, 1 + 1e-9, 0)
  d$o[9:12] <- c(NA, NaN, Inf, -Inf)
  d$o[13:14] <- c(-50, 50)
  d$a[15] <- NA
  d$y[16] <- NA
  d
}
d <- weights_data()
ends <- list(a = c(-1, 1), b = c(-1, 1))
shift <- list(o = c(-1, 1.5))
x <- as.matrix(d[c("a", "b")])
given <- list(weights = c(weights = TRUE, offset = FALSE), offset = c(weights = FALSE, offset = TRUE),
              both = c(weights = TRUE, offset = TRUE))

# A fit to data of this form, with weights, an offset or both.
weighted_fit <- function(has, data = d, method = "2opt-ls", response = "y", seed = 5, eps = 2,
                         loss = if (response == "y") "logistic", ...) {
  set.seed(seed)
  formula <- stats::as.formula(paste(response, if (has[["offset"]]) "~ a + b + offset(o)" else "~ a + b"),
                               globalenv())
  arguments <- list(formula, data, eps = eps, delta = 1e-5, method = method, loss = loss, noise = "reproducible",
                    bounds = c(ends, if (has[["offset"]]) shift), ...)
  if (has[["weights"]]) arguments$weights <- quote(w)
  do.call(quiet_fit, arguments)
}
matrix_fit <- function(has, rows = x, data = d, method = "2opt-ls", response = "y", seed = 5, eps = 2,
                       radius = sqrt(3), bounds = c(-1, 1), loss = if (response == "y") "logistic", ...) {
  set.seed(seed)
  quiet_fit(rows, data[[response]], eps = eps, delta = 1e-5, method = method, loss = loss, radius = radius,
            bounds = bounds, noise = "reproducible", weights = if (has[["weights"]]) data$w,
            offset = if (has[["offset"]]) data$o, offset_range = if (has[["offset"]]) shift$o, ...)
}
same_numbers <- function(fit, reference, exact = TRUE) {
  if (exact) expect_identical(unname(coef(fit)), unname(coef(reference)))
  else expect_equal(unname(coef(fit)), unname(coef(reference)), tolerance = 1e-4)
}

test_that("the same fit comes from data in memory, of any kind, and in chunks", {
  sources <- list(chunks = dp_source(in_chunks(d, 333), levels = levels_of(d)), csv = source_csv(d, 700))
  if (requireNamespace("nanoparquet", quietly = TRUE)) sources$parquet <- source_parquet(d, 999)
  if (requireNamespace("RSQLite", quietly = TRUE)) {
    connection <- sqlite_connection()
    DBI::dbWriteTable(connection, "people", d)
    sources$database <- dp_source(connection, "people", chunk = 400, levels = levels_of(d))
  }
  numbers <- stats::setNames(rep("numeric", 6), setdiff(names(d), "class"))
  for (has in long_values(given)) {
    for (method in long_size(c("2opt-ls", "newton-ridge", "objpert"), "2opt-ls")) {
      reference <- weighted_fit(has, method = method)
      # A fit without them would be another problem.
      expect_false(identical(coef(weighted_fit(c(weights = FALSE, offset = FALSE), method = method)), coef(reference)))
      same_numbers(matrix_fit(has, method = method), reference)
      for (source in sources[if (method == "2opt-ls") names(sources) else "chunks"]) {
        same_numbers(weighted_fit(has, source, method = method), reference)
      }
    }
    spider <- function(...) weighted_fit(..., method = "spider", eps = 50)
    once <- dp_source(in_chunks(d, 100), n = nrow(d), types = numbers, levels = levels_of(d), once = TRUE)
    expect_false(identical(coef(spider(c(weights = FALSE, offset = FALSE), sources$chunks)),
                           coef(spider(has, sources$chunks))))
    same_numbers(spider(has, once), spider(has, sources$chunks))
    for (method in long_size(c("sgd", "2opt-b", "spider"), "sgd")) {
      same_numbers(matrix_fit(has, method = method, eps = 20), weighted_fit(has, method = method, eps = 20))
    }
    regression <- function(fit, ...) fit(has, ..., response = "z", loss = loss_huber(c(-6, 8), 1), method = "objpert")
    same_numbers(regression(matrix_fit), regression(weighted_fit))
    same_numbers(regression(weighted_fit, sources$chunks), regression(weighted_fit))
  }
})

test_that("sparse matrices and those in single precision have them, too", {
  skip_if_not_installed("Matrix")
  sound <- d[-15, ]
  for (has in given) {
    plain <- matrix_fit(has, x[-15, ], sound)
    same_numbers(matrix_fit(has, methods::as(x[-15, ], "CsparseMatrix"), sound), plain, exact = FALSE)
    same_numbers(matrix_fit(has, x[-15, ], sound, storage = "single"), plain, exact = FALSE)
  }
})

test_that("a record without a weight or an offset is a null record, whatever the data come as", {
  out <- 1:120
  none <- transform(d, y = replace(y, out, NA), w = replace(w, out, 1), o = replace(o, out, 0))
  bad <- transform(d, w = replace(w, out, rep(c(NA, NaN, Inf, -Inf, -1, 2), 20)))
  lost <- transform(d, o = replace(o, out, rep(c(NA, NaN, Inf, -Inf), 30)))
  far <- transform(d, o = replace(o, out, rep(c(-1e9, 1e300), 60)))
  near <- transform(d, o = replace(o, out, rep(shift$o, 60)))
  chunks <- function(has, data) weighted_fit(has, dp_source(in_chunks(data, 90), levels = levels_of(data)))
  for (fit in list(chunks, weighted_fit, function(has, data) matrix_fit(has, x, data))) {
    same_numbers(fit(given$weights, bad), fit(given$weights, none))
    same_numbers(fit(given$offset, lost), fit(given$offset, none))
    same_numbers(fit(given$offset, far), fit(given$offset, near))
  }
})

test_that("coefficients of a matrix are those of glm() where noise is small, and predictions have the offset", {
  sound <- d[-(1:16), ]
  fit <- matrix_fit(given$both, x[-(1:16), ], sound, method = "newton", eps = 1e4)
  exact <- suppressWarnings(stats::glm(y ~ a + b + offset(pmin(o, 1.5)), "binomial", sound, weights = w))
  expect_equal(unname(coef(fit)), unname(coef(exact)), tolerance = 0.02)
  at <- data.frame(a = 0.1, b = -0.2, o = c(0, 1, 9, NA, Inf))
  rows <- as.matrix(at[c("a", "b")])
  link <- predict(fit, rows, offset = at$o)
  expect_equal(link, c(link[1] + c(0, 1, 1.5), NA, NA))
  expect_equal(link, predict(weighted_fit(given$both, sound, method = "newton", eps = 1e4), at))
  expect_error(predict(fit, rows), "The fit had `offset`", class = "dpsosp_error_argument")
  expect_error(predict(fit, rows, offset = 1), "one per row of `newdata`: 5", class = "dpsosp_error_argument")
  expect_error(predict(matrix_fit(given$weights), rows, offset = at$o), "had no `offset`",
               class = "dpsosp_error_argument")
  expect_error(predict(weighted_fit(given$offset), at, offset = at$o), "leave out", class = "dpsosp_error_argument")
  expect_s3_class(dp_evaluate(fit, x, eps = 1, delta = 1e-5, y = d$y, offset = d$o), "dp_evaluation")
  regression <- matrix_fit(given$offset, x, d, response = "z", loss = loss_huber(c(-6, 8), 1), method = "objpert")
  expect_equal(diff(predict(regression, rows[1:2, ], offset = c(0, 1))), 1)
})

test_that("intervals, certificates and records kept out have them, too", {
  other <- function(ask, has, data) {
    set.seed(2)
    ask(weighted_fit(has, method = "newton-ridge"), data, eps = 2, delta = 1e-5, noise = "reproducible")
  }
  other_matrix <- function(ask, has) {
    set.seed(2)
    ask(matrix_fit(has, method = "newton-ridge"), x, eps = 2, delta = 1e-5, noise = "reproducible", y = d$y,
        weights = if (has[["weights"]]) d$w, offset = if (has[["offset"]]) d$o)
  }
  for (has in given) {
    inference <- suppressMessages(other(dp_inference, has, d))
    expect_identical(unname(suppressMessages(other_matrix(dp_inference, has))$inference$vcov),
                     unname(inference$inference$vcov))
    source <- dp_source(in_chunks(d, 100), levels = levels_of(d))
    expect_identical(suppressMessages(other(dp_inference, has, source))$inference$vcov, inference$inference$vcov)
    certificate <- suppressMessages(other(dp_certify, has, d))
    expect_identical(suppressMessages(other_matrix(dp_certify, has))$gradient, certificate$gradient)
    # Records in memory are used in random order, those of a source in their own order.
    streamed <- suppressMessages(other(dp_certify, has, source))
    expect_equal(streamed$gradient, certificate$gradient, tolerance = 0.3)
    kept_out <- matrix_fit(has, certificate = "population")
    same_numbers(kept_out, weighted_fit(has, certificate = "population"))
  }
  expect_error(dp_inference(matrix_fit(given$weights, method = "newton"), x, eps = 1, y = d$y), "had `weights`",
               class = "dpsosp_error_argument")
  expect_error(dp_certify(weighted_fit(given$weights), d, eps = 1, delta = 1e-5, weights = d$w), "leave out",
               class = "dpsosp_error_argument")
})

test_that("a fit to a matrix is fitted again with them, and holds none of them", {
  w <- d$w / 2
  o <- d$o
  set.seed(1)
  fit <- suppressMessages(dp_sosp(x, d$y, eps = 1, delta = 1e-5, loss = "logistic", radius = sqrt(3), weights = w,
                                  offset = o, offset_range = c(-1, 1.5), noise = "reproducible"))
  set.seed(1)
  again <- suppressMessages(stats::update(fit, y = d$y))
  same_numbers(again, fit)
  expect_identical(as.list(fit$call)[c("weights", "offset")], list(weights = quote(w), offset = quote(o)))
  written <- quiet_fit(x[1:2, ], c(0, 1), eps = 1, radius = sqrt(3), weights = c(0.25, 0.5))
  expect_identical(written$call$weights, quote(weights))
  literal <- do.call(quiet_fit, list(x, d$y, eps = 1, radius = sqrt(3), weights = d$w))
  expect_identical(literal$call$weights, quote(weights))
  expect_identical(unserialize(serialize(literal, NULL))$n, nrow(d))
  expect_lt(length(serialize(literal$design, NULL)), 3000)
})

test_that("a fit with a formula is fitted again with an expression of columns as weights", {
  ask <- function(expr) {
    set.seed(1)
    suppressMessages(expr)
  }
  fit <- ask(dp_sosp(y ~ a + b, d, eps = 1, delta = 1e-5, loss = "logistic", bounds = ends, weights = w / 2,
                     noise = "reproducible"))
  expect_identical(fit$call$weights, quote(w / 2))
  same_numbers(ask(stats::update(fit, data = d)), fit)
})

# A column for each argument: TRUE if it works, else the text of the error.
test_that("each kind of data takes weights and offsets, or says why not", {
  source <- dp_source(in_chunks(d, 333), levels = levels_of(d))
  numbers <- stats::setNames(rep("numeric", 6), setdiff(names(d), "class"))
  once <- function() dp_source(in_chunks(d, 100), n = nrow(d), types = numbers, levels = levels_of(d), once = TRUE)
  steps <- control_network(epochs = 1, batch = 300)
  network <- function(has, ...) weighted_fit(has, ..., model = model_mlp(3), control = steps, method = "sgd", eps = 20)
  of_matrix <- function(has) {
    set.seed(5)
    arguments <- list(x, d$y, model = model_mlp(3), bounds = c(-1, 1), eps = 20, delta = 1e-5, method = "sgd",
                      loss = "logistic", control = steps, noise = "reproducible")
    if (has[["weights"]]) arguments$weights <- d$w
    if (has[["offset"]]) arguments[c("offset", "offset_range")] <- list(d$o, shift$o)
    do.call(quiet_fit, arguments)
  }
  class_fit <- function(fit, has, ...) fit(has, ..., response = "class", method = "gd", eps = 20)
  several <- "predictor for each class"
  linear <- "go with `model`"
  kinds <- list(
    "a data frame" = list(function(has) weighted_fit(has), TRUE, TRUE),
    "a matrix" = list(function(has) matrix_fit(has), TRUE, TRUE),
    "single precision" = list(function(has) matrix_fit(has, storage = "single"), TRUE, TRUE),
    "chunks" = list(function(has) weighted_fit(has, source), TRUE, TRUE),
    "rows that are read once" = list(function(has) weighted_fit(has, once(), "spider", eps = 50), TRUE, TRUE),
    "several classes" = list(function(has) class_fit(weighted_fit, has), TRUE, several),
    "several classes of a matrix" = list(function(has) class_fit(matrix_fit, has), TRUE, several),
    "several classes in chunks" = list(function(has) class_fit(weighted_fit, has, source), TRUE, several),
    "a network" = list(function(has) network(has), TRUE, linear),
    "a network of a matrix" = list(of_matrix, TRUE, linear),
    "a network of chunks" = list(function(has) network(has, source), TRUE, linear)
  )
  if (requireNamespace("Matrix", quietly = TRUE)) {
    sparse <- methods::as(x[-15, ], "CsparseMatrix")
    kinds[["a sparse matrix"]] <- list(function(has) matrix_fit(has, sparse, d[-15, ]), TRUE, TRUE)
  }
  if (requireNamespace("RSQLite", quietly = TRUE)) {
    pushed <- push_pair(sqlite_connection(), d)$push
    kinds[["sums in a database"]] <- list(function(has) weighted_fit(has, pushed), TRUE, TRUE)
  }
  if (requireNamespace("mirai", quietly = TRUE)) {
    shard_workers(c("one", "two"))
    files <- file.path(withr::local_tempdir(), c("1.csv", "2.csv"))
    utils::write.csv(d[1:400, ], files[1], row.names = FALSE)
    utils::write.csv(d[401:1100, ], files[2], row.names = FALSE)
    shards <- dp_shards(files, c("one", "two"), levels = levels_of(d))
    kinds[["shards"]] <- list(function(has) weighted_fit(has, shards), TRUE, TRUE)
  }
  fitted <- function(fit) if (inherits(fit, "dp_network")) fit$weights else coef(fit)
  for (kind in long_values(names(kinds), 2)) {
    fit <- kinds[[kind]][[1]]
    for (given in list(c(weights = TRUE, offset = FALSE), c(weights = FALSE, offset = TRUE))) {
      expected <- kinds[[kind]][[if (given[["weights"]]) 2L else 3L]]
      if (isTRUE(expected)) {
        expect_false(identical(fitted(fit(given)), fitted(fit(c(weights = FALSE, offset = FALSE)))), info = kind)
      } else {
        expect_error(fit(given), expected, class = "dpsosp_error_argument", info = kind)
      }
    }
  }
})

test_that("what cannot be is refused with the reason, before anything is charged", {
  budget <- dp_budget(eps = 1, delta = 1e-5)
  refused <- function(..., text) {
    expect_error(quiet_fit(..., budget = budget), text, class = "dpsosp_error_argument")
  }
  refused(x, d$y, radius = 2, weights = d$w[-1], text = "one per row of `x`: 1100")
  refused(x, d$y, radius = 2, weights = "w", text = "must be numbers")
  refused(x, d$y, radius = 2, offset = d$o, text = "needs a public range")
  refused(x, d$y, radius = 2, offset = d$o, offset_range = c(1, 0), text = "offset_range")
  refused(x, d$y, radius = 2, offset_range = c(0, 1), text = "there is none")
  refused(x, d$class, radius = 2, offset = d$o, offset_range = c(0, 1), text = "predictor for each class")
  refused(class ~ a + offset(o), d, bounds = c(ends["a"], shift), text = "predictor for each class")
  source <- dp_source(in_chunks(d, 300), levels = levels_of(d))
  refused(class ~ a + offset(o), source, bounds = c(ends["a"], shift), text = "predictor for each class")
  refused(x, d$y == 1, model = model_mlp(3), bounds = c(-1, 1), weights = d$w[-1], text = "one per row of `x`: 1100")
  refused(x, d$y, model = model_mlp(3), bounds = c(-1, 1), offset = d$o, text = "`offset` does not go with `model`")
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("several classes have weights", {
  skip_if_not_installed("nnet")
  set.seed(8)
  classes <- transform(d[-(1:16), ], class = factor(c("u", "v", "x")[1 + (a > 0) + (b > runif(1084, -1, 1))]))
  ask <- function(data, ...) {
    set.seed(3)
    quiet_fit(class ~ a + b, data, eps = 1e4, delta = 1e-5, bounds = ends, noise = "reproducible", method = "newton",
              control = control_newton("moment", clip = 2, iterations = 100), weights = w)
  }
  fit <- ask(classes)
  exact <- t(stats::coef(nnet::multinom(class ~ a + b, classes, weights = w, trace = FALSE, reltol = 1e-12)))
  expect_equal(unname(coef(fit)[, -1] - coef(fit)[, 1]), unname(exact), tolerance = 0.05)
  same_numbers(ask(dp_source(in_chunks(classes, 300), levels = levels_of(classes))), fit)
})

test_that("workers have those of their shards", {
  shard_workers(c("one", "two"))
  folder <- withr::local_tempdir()
  files <- file.path(folder, c("1.csv", "2.csv"))
  utils::write.csv(d[1:400, ], files[1], row.names = FALSE)
  utils::write.csv(d[401:1100, ], files[2], row.names = FALSE)
  shards <- dp_shards(files, c("one", "two"), levels = levels_of(d))
  for (has in long_values(given, 1)) {
    for (method in long_values(c("2opt-ls", "newton-ridge", "objpert"), 1)) {
      plain <- weighted_fit(has, method = method)
      same_numbers(weighted_fit(has, shards, method = method), plain, exact = FALSE)
    }
  }
  expect_equal(vcov(weighted_fit(given$both, shards, method = "newton-ridge", inference = "sandwich", eps = 20)),
               vcov(weighted_fit(given$both, method = "newton-ridge", inference = "sandwich", eps = 20)),
               tolerance = 1e-6)
})
