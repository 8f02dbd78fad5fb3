# Each row is a function of its record alone, bit by bit: whatever another record holds, wherever it is, in memory, in
# chunks of any size and on workers. And no value raises a condition, nor changes the length of a result.

latin1 <- c("\xe9t\xe9", "1\xe9", "caf\xe9")
Encoding(latin1) <- "latin1"
bytes <- "\xff\xfe"
Encoding(bytes) <- "bytes"
long <- strrep("7", 5000)

n <- 23
own_data <- function() {
  set.seed(1)
  data.frame(
    y = rep_len(c(TRUE, FALSE, TRUE), n), z = rep_len(c(7.2348425539860832, 1, pi, 0.1, -2 / 3, 1e3 + 1 / 7), n),
    a = runif(n, -2, 3), w = runif(n, 0.1, 9), k = rep_len(c(3L, 1L, -7L, 12L), n), l = rep_len(c(TRUE, FALSE), n),
    text = rep_len(c("1.5", "u", " 12 ", "0x1A", "1e5"), n), f = factor(rep_len(c("u", "v", "w"), n)),
    o = factor(rep_len(c("lo", "mid", "hi", "top"), n), c("lo", "mid", "hi", "top"), ordered = TRUE),
    day = as.Date("2024-01-01") + 1:n, time = as.POSIXct("2024-01-01", tz = "UTC") + 3600 * 1:n
  )
}
numbers <- c(NA, NaN, Inf, -Inf, 0, 1e-320, 1e300, -5, 1 / 3)
values <- list(
  z = numbers, a = numbers, w = numbers, k = c(NA, .Machine$integer.max, -1L, 0L), l = NA,
  text = c(NA, "", latin1, bytes, "\xe9", "1\xe9", long, "NA", "Inf", "TRUE", "7"),
  day = structure(c(NA, 1e9), class = "Date"), time = structure(c(NA, -1e12), class = c("POSIXct", "POSIXt"))
)
codes <- c(NA, 0L, -1L, 99L, .Machine$integer.max, 2L)

# The data with another value of one record.
changed <- function(data, column, i, value) {
  if (is.factor(data[[column]])) {
    data[[column]] <- structure(replace(as.integer(data[[column]]), i, value), levels = levels(data[[column]]),
                                class = class(data[[column]]))
  } else {
    data[[column]][i] <- value
  }
  data
}
values_of <- function(data, column) {
  found <- if (is.factor(data[[column]])) codes else values[[column]]
  lapply(seq_along(found), function(i) found[i])
}

# f: from a data frame to a vector or a matrix with a row for each record. On data in which one record differs it must
# give the same other rows, without a condition; on some of the rows it must give theirs.
expect_own_rows <- function(f, data, columns, at = c(1, 12), label = "rows") {
  rows <- as.matrix(f(data))
  expect_identical(nrow(rows), nrow(data), label = label)
  turn <- nchar(label)
  for (column in columns) {
    turn <- turn + 1
    for (value in long_values(values_of(data, column), turn)) {
      for (i in at) {
        got <- tryCatch(as.matrix(f(changed(data, column, i, value))), condition = identity)
        same <- !inherits(got, "condition") && identical(got[-i, ], rows[-i, ])
        if (!same) fail(paste0(label, ": ", column, "[", i, "] = ", encodeString(as.character(value))))
      }
    }
  }
  for (size in long_values(c(1, 2, 5, 16), turn)) {
    parts <- lapply(split(data, (seq_len(nrow(data)) - 1) %/% size), function(part) as.matrix(f(part)))
    expect_identical(unname(do.call(rbind, unname(parts))), unname(rows), label = paste(label, "in chunks of", size))
  }
}

plain <- function(x) if (is.factor(x)) unclass(x)[seq_along(x)] else x
evaluator <- function(e, data) {
  schema <- dpsosp:::row_wise_schema(list(e), data, NULL)
  dpsosp:::row_wise_empty(e, schema, NULL)
  function(data) plain(dpsosp:::row_wise_evaluate(e, data, schema, "data", NULL))
}

expressions <- expression(
  z, k, l, f, o, text == "u", day, (z), -z, z + k, k + k, k - 3L, z * a, z / k, z^2, z^3, z^-1, z^0.5, w^a, k^2L,
  a %% w, k %% 3L, a %/% w, k %/% 5L, z == 1, z != k, z < a, k > 2, text <= "v", o >= "mid", f == "u", f != "v",
  f == text, !l,
  l & z > 1, l | a > 0, xor(l, z > 1), f %in% c("u", "w"), z %in% c(1, NA, 12), text %in% c("u", "1.5"),
  k %in% "3", abs(k), sign(a), sqrt(w), sqrt(a), exp(z), expm1(a), log(w), log(a), log1p(a), log2(w), log10(w),
  log(w, 3), floor(z), ceiling(z), trunc(a), round(z, 2), round(a), round(k), signif(z, 3), signif(z), sin(z), cos(z),
  tan(z), asin(a), acos(a), atan(z), sinh(z), cosh(z), tanh(z), pmin(z, a, 2), pmax(k, z), pmin(text, "t"), is.na(z),
  is.na(text), is.na(f), as.numeric(text), as.integer(text), as.numeric(f), as.integer(a), as.numeric(l), I(z * 2),
  ifelse(z > 1, a, k), ifelse(f == "u", "yes", text), ifelse(l, z, NA), cut(z, c(0, 1, 3.2)),
  cut(k, c(-9, 0, 5), FALSE),
  factor(text, c("u", "1.5")), factor(k, c(1, 3)), factor(f, c("w", "u")), factor(o, c("lo", "top"), c("A", "B"), TRUE),
  day - 5, time / 60, as.numeric(text) * z, as.numeric(text) %in% c(12, 26)
)

test_that("every function of a formula gives a row that depends on its record alone", {
  d <- own_data()
  for (e in long_values(expressions)) {
    columns <- all.vars(e)
    expect_own_rows(evaluator(e, d), d, columns, label = deparse1(e))
  }
  used <- unlist(lapply(expressions, all.names))
  expect_setequal(setdiff(used, c(names(d), "c")), c(dpsosp:::row_wise_names, "I", "ifelse", "cut", "factor"))
})

# An expression of these columns, at random.
random_expression <- function(depth) {
  if (depth == 0 || runif(1) < 0.2) {
    return(sample(list(quote(z), quote(k), quote(l), quote(f), quote(o), quote(text), 2, "u", NA, -1L), 1)[[1]])
  }
  name <- sample(c(dpsosp:::row_wise_names, "I", "ifelse", "cut", "factor"), 1)
  one <- function() random_expression(depth - 1)
  two <- c("+", "-", "*", "/", "^", "%%", "%/%", "==", "!=", "<", ">", "<=", ">=", "&", "|", "xor", "pmin", "pmax")
  arguments <- if (name == "ifelse") {
    list(one(), one(), one())
  } else if (name %in% two) {
    list(one(), one())
  } else if (name == "%in%") {
    list(one(), sample(list("u", 1, quote(c("v", NA)), quote(c(0, Inf))), 1)[[1]])
  } else if (name == "cut") {
    list(one(), quote(c(-1, 0, 3)))
  } else if (name == "factor") {
    list(one(), sample(list(quote(c("u", "1")), quote(c(1, 3))), 1)[[1]])
  } else {
    list(one())
  }
  as.call(c(as.name(name), arguments))
}

test_that("an expression that can be computed without rows can be computed for all values", {
  d <- own_data()
  columns <- c("z", "k", "l", "f", "o", "text")
  set.seed(as.integer(Sys.getenv("DPSOSP_FUZZ_SEED", "7")))
  times <- long_size(10, 4) * as.integer(Sys.getenv("DPSOSP_FUZZ", "40"))
  computed <- 0
  for (i in seq_len(times)) {
    e <- random_expression(3)
    row <- tryCatch(evaluator(e, d), dpsosp_error_argument = function(e) NULL)
    if (is.null(row)) next
    computed <- computed + 1
    changes <- Map(function(column) sample(values_of(d, column), 1)[[1]], columns)
    at <- sample(n, 1)
    other <- d
    for (column in columns) other <- changed(other, column, at, changes[[column]])
    got <- tryCatch(row(other), condition = conditionMessage)
    expect_identical(got[-at], row(d)[-at], label = deparse1(e))
    expect_length(got, n)
  }
  expect_gt(computed, times / 10)
})

formulas <- list(
  y ~ ns(z, knots = c(2, 5), Boundary.knots = c(0, 10)) + bs(a, knots = c(0, 1), Boundary.knots = c(-2, 3)) * f,
  y ~ 0 + ns(z, knots = 2, Boundary.knots = c(0, 10), intercept = TRUE) * o + w,
  y ~ bs(log(w), knots = 1, degree = 1, Boundary.knots = c(0, 2)) : a + bs(z, knots = 2, degree = 7,
                                                                           Boundary.knots = c(-1, 9)),
  y ~ poly(a, 4, raw = TRUE) * f + o:f + as.numeric(text), y ~ (z + a + w)^2 + o * f + l + k, y ~ day * o + time
)
bounds <- list(z = c(-1, 10), a = c(-2, 3), w = c(0, 9), k = c(-9, 12), day = as.Date(c("2024-01-01", "2024-02-01")),
               time = as.POSIXct(c("2024-01-01", "2024-01-03"), tz = "UTC"), "as.numeric(text)" = c(0, 30))
bounds_for <- function(formula) {
  bounds[names(bounds) %in% c(all.vars(formula), if ("text" %in% all.vars(formula)) "as.numeric(text)")]
}
new_design <- function(formula, data, missing = "drop") {
  dpsosp:::settle_gaps(dpsosp:::design_template(formula, data, bounds_for(formula), NULL,
                                                extras = list(missing = missing)))
}
# The numbers and the codes of the core's rows.
of_rows <- function(rows) if (is.matrix(rows)) unname(rows) else cbind(rows$x, rows$codes)

# The rows that the core gets from a source in chunks.
in_feed <- function(data, design, response, size) {
  source <- dp_source(in_chunks(data[names(design$schema)], size), n = nrow(data))
  feed <- dpsosp:::stream_records(source, design, response, NULL)$feed
  parts <- list()
  expect_true(feed("open"))
  while (!isTRUE(part <- feed("read"))) parts[[length(parts) + 1L]] <- of_rows(part$rows)
  feed("close")
  do.call(rbind, parts)
}

test_that("mapped rows depend on their record alone, in memory, in chunks and on workers", {
  d <- own_data()
  d$f[3] <- d$o[7] <- d$l[2] <- d$z[5] <- d$w[6] <- NA
  of_gaps <- c(formulas[1:3], y ~ (z + a + w)^2 + o * f + l, y ~ cut(a, c(-1, 0, 3)) * f + is.na(z) + (w > 1) + z)
  for (i in seq_along(c(formulas, of_gaps))) {
    formula <- c(formulas, of_gaps)[[i]]
    design <- new_design(formula, d, if (i <= length(formulas)) "drop" else "indicate")
    used <- setdiff(all.vars(formula), "y")
    expect_own_rows(function(data) dpsosp:::design_matrix(design, data), d, used, 12, deparse1(formula))
    whole <- dpsosp:::design_rows(design, d, "double")
    response <- dpsosp:::response_template(d$y, "y", NULL)
    request <- list(response = response, design = design, bare = FALSE)
    for (column in long_values(used, nchar(deparse1(formula)))) {
      for (value in utils::head(values_of(d, column), 2)) {
        other <- changed(d, column, 4, value)
        mapped <- suppressWarnings(dpsosp:::map_records(request, other))$rows
        expect_identical(of_rows(mapped)[-4, ], of_rows(whole)[-4, ])
        if (!is.factor(d[[column]]) && column != "text") {
          expect_identical(in_feed(other, design, response, 5)[-4, ], of_rows(whole)[-4, ])
        }
      }
    }
    for (size in long_values(c(1, 3, 22), length(used))) {
      expect_identical(in_feed(d, design, response, size), of_rows(whole))
    }
  }
})

test_that("the columns of splines are those of splines::bs() and ns(), and one missing value changes no other row", {
  set.seed(3)
  for (i in 1:60) {
    ends <- sort(rnorm(2, sd = 10))
    knots <- sort(runif(sample(0:6, 1), ends[1], ends[2]))
    degree <- sample(9, 1)
    intercept <- i %% 2 == 0
    x <- c(runif(40, ends[1], ends[2]), ends, knots)
    for (kind in c("bs", "ns")) {
      expected <- if (kind == "bs") splines::bs(x, NULL, knots, degree, intercept, ends)
      else splines::ns(x, NULL, knots, intercept, ends)
      got <- vapply(seq_len(ncol(expected)), function(j) {
        dpsosp:::spline_column(x, j, kind, knots, ends, if (kind == "bs") degree else 3L, intercept)
      }, x)
      expect_lt(max(abs(got - expected)), 1e-14)
    }
  }
  # Values for which a BLAS may give equal rows different last bits, by their places.
  z <- c(5, rep(c(7.2348425539860832, 1), 10000))
  d <- data.frame(z, y = TRUE)
  design <- dpsosp:::design_template(y ~ ns(z, knots = c(2, 5), Boundary.knots = c(0, 10)), d)
  x <- dpsosp:::design_matrix(design, d)
  for (value in c(NA, Inf, 1)) {
    expect_identical(dpsosp:::design_matrix(design, replace(d, "z", replace(z, 1, value)))[-1, ], x[-1, ])
  }
  expect_identical(nrow(unique(x)), 3L)
})

test_that("predictions, classes and scores of a record depend on this record alone", {
  d <- own_data()
  d$class <- factor(rep_len(c("p", "q", "r", "q"), n))
  fits <- lapply(formulas[c(1, 3, 4, 5)], function(formula) {
    quiet_fit(formula, d, eps = 5, delta = 1e-6, bounds = bounds_for(formula))
  })
  fits$several <- quiet_fit(class ~ z + a * f, d, eps = 5, delta = 1e-6, bounds = bounds[c("z", "a")],
                            loss = "multinomial", method = "gd")
  for (fit in fits) {
    used <- setdiff(all.vars(formula(fit)), c("y", "class"))
    for (type in long_values(c("link", "response", "class"), length(used))) {
      expect_own_rows(function(data) plain(predict(fit, data, type = type)), d, used, 12, type)
    }
    score <- function(data) {
      records <- dpsosp:::held_out_records(fit, data, NULL, NULL)
      columns <- dpsosp:::score_columns(fit, records, c("log_loss", "brier", "accuracy"), 0.01)
      values <- unname(unlist(lapply(columns, `[[`, "values")))
      matrix(c(values, if (!is.matrix(records$link)) dpsosp:::table_codes(records, 20)), nrow(data))
    }
    expect_own_rows(score, d, used, 1, "scores")
  }
})

test_that("predictions of a matrix's rows depend on the row alone, dense and sparse", {
  skip_if_not_installed("Matrix")
  set.seed(5)
  p <- 37
  rows <- 61
  x <- matrix(rnorm(rows * p), rows, p)
  x[, 30:37] <- x[, 30:37] * (runif(8 * rows) < 0.3)
  fit <- quiet_fit(x, x[, 1] > 0, eps = 5, delta = 1e-6, radius = 6, method = "gd")
  for (as in list(identity, as_sparse)) {
    link <- predict(fit, as(x), type = "link")
    for (value in long_values(numbers)) {
      for (i in c(1, 2, 31, rows)) {
        for (j in c(1, p)) {
          other <- predict(fit, as(replace(x, cbind(i, j), value)), type = "link")
          expect_identical(other[-i], link[-i])
          expect_identical(is.na(other[i]), !is.finite(value))
        }
      }
    }
    alone <- vapply(seq_len(rows), function(i) predict(fit, as(x[i, , drop = FALSE]), type = "link"), 0)
    expect_identical(alone, link)
  }
})

test_that("rows and predictions have these bits with a BLAS whose sums depend on a row's place", {
  skip_on_cran()
  # OpenBLAS has such sums for these processors, here on any other; another BLAS ignores the variable.
  told <- child(c(
    "set.seed(1)",
    "z <- c(5, runif(3999, 0, 10))",
    "column <- function(z, j) dpsosp:::spline_column(z, j, 'ns', c(2, 5), c(0, 10), 3L, FALSE)",
    "missing <- replace(z, 1, NA)",
    "for (j in 1:3) cat(identical(column(z, j)[-1], column(missing, j)[-1]), '')",
    "x <- matrix(rnorm(4000 * 9), 4000)",
    "fit <- suppressMessages(dp_sosp(x, x[, 1] > 0, eps = 1, delta = 1e-6, radius = 4, method = 'gd'))",
    "cat(identical(predict(fit, x[-1, ]), predict(fit, x)[-1]))"
  ), "OPENBLAS_CORETYPE=Prescott")
  expect_identical(told[length(told)], "TRUE TRUE TRUE TRUE")
})

test_that("features of an image depend on its pixels alone", {
  set.seed(6)
  images <- matrix(runif(7 * 64), 7)
  features <- function(x) features_scattering(x, c(0, 1), "mid")
  for (value in c(NA, Inf, 0, 1e300)) {
    for (i in c(1, 4, 7)) expect_identical(features(replace(images, cbind(i, 5), value))[-i, ], features(images)[-i, ])
  }
  expect_identical(do.call(rbind, lapply(1:7, function(i) features(images[i, , drop = FALSE]))), features(images))
})

test_that("one number that is not whole makes no other whole number a double", {
  d <- data.frame(k = rep_len(c(50000L, 10L), 12), y = rep_len(c(TRUE, FALSE, FALSE), 12))
  design <- dpsosp:::design_template(y ~ I(k * k), d, list("I(k * k)" = c(0, 2.5e9)), NULL, frame = "d")
  rows <- dpsosp:::design_matrix(design, d, "d", NULL)
  expect_false(anyNA(rows))
  last <- transform(d, k = replace(as.double(k), 12, 10.5)) # as read.csv() reads a chunk
  expect_identical(dpsosp:::design_matrix(design, last, "d", NULL)[-12, ], rows[-12, ])
})
