# Values that R's own functions raise errors for: whatever one record holds, each entry answers as it does on the
# neighbour where the value is missing, with the same conditions. The noise is reproducible, so that answers are equal.

latin1 <- c("\xe9t\xe9", "1\xe9", "caf\xe9")
Encoding(latin1) <- "latin1"
bytes <- "\xff\xfe"
Encoding(bytes) <- "bytes"
no_numbers <- c(latin1, bytes, "\xe9", "1\xe9", "", " ", "word", "0x", "1,5", strrep("w", 2e5), "\u00b2")

people <- function(n = 60) {
  d <- problem_frame(n)
  d$text <- format(round(d$a), width = 4)
  d$w <- rep_len(c("0.5", "1"), n)
  d$l <- d$b > 0
  d
}
d <- people()
text_bounds <- list("as.numeric(text)" = c(10, 30), "as.integer(text)" = c(10, 30))
quiet <- function(code) suppressWarnings(suppressMessages(code), "dpsosp_warning")

entries <- list(
  formula = function(d) {
    dp_sosp(y ~ as.numeric(text) + f, d, eps = 2, delta = 1e-6, bounds = text_bounds[1], method = "2opt-ls",
            noise = "reproducible")
  },
  integer = function(d) {
    dp_sosp(y ~ as.integer(text), d, eps = 2, delta = 1e-6, bounds = text_bounds[2], method = "2opt-ls",
            noise = "reproducible")
  },
  ranges = function(d) {
    dp_sosp(y ~ as.numeric(text), d, eps = 20, delta = 1e-6, method = "2opt-ls", noise = "reproducible")
  },
  subset = function(d) {
    dp_sosp(y ~ b, d, eps = 2, delta = 1e-6, bounds = frame_bounds["b"], subset = as.numeric(text) > 15,
            method = "2opt-ls", noise = "reproducible")
  },
  weights = function(d) {
    dp_sosp(y ~ b, d, eps = 2, delta = 1e-6, bounds = frame_bounds["b"], weights = as.numeric(text) / 30,
            method = "2opt-ls", noise = "reproducible")
  },
  evaluate = function(d) dp_evaluate(fit, d, eps = 2, delta = 1e-6, noise = "reproducible"),
  inference = function(d) dp_inference(ridge, d, eps = 20, delta = 1e-6, noise = "reproducible"),
  predict = function(d) predict(fit, d),
  curve = function(d) {
    dp_curve(y ~ as.numeric(text), d, eps = 1, methods = "2opt-ls", bounds = text_bounds[1],
             budget = dp_budget(eps = 50, delta = 1e-5), noise = "reproducible")
  },
  tune = function(d) {
    one <- list(method = "2opt-ls", bounds = text_bounds[1])
    dp_tune(list(a = one, b = replace(one, "method", "gd")), y ~ as.numeric(text), d, eps = 4, delta = 1e-6,
            noise = "reproducible")
  }
)
fit <- quiet(entries$formula(d))
ridge <- quiet(dp_sosp(y ~ as.numeric(text) + f, d, eps = 2, delta = 1e-6, bounds = text_bounds[1],
                       method = "newton-ridge", noise = "reproducible"))

# The answer, without what names the data and without pointers, and the conditions on the way.
heard <- function(entry, data) {
  told <- character()
  note <- function(condition) {
    told <<- c(told, class(condition)[1], conditionMessage(condition))
    if (inherits(condition, "message")) invokeRestart("muffleMessage")
    if (inherits(condition, "warning")) invokeRestart("muffleWarning")
  }
  set.seed(4)
  answer <- tryCatch(withCallingHandlers(entry(data), message = note, warning = note, error = note),
                     error = function(e) NULL)
  shown <- if (is.numeric(answer)) answer else utils::capture.output(print(answer))
  list(told = told, answer = shown, failed = is.null(answer))
}

expect_neighbours <- function(data, neighbour, which = names(entries), label = "") {
  for (name in which) {
    expected <- heard(entries[[name]], neighbour)
    expect_false(expected$failed, label = name)
    expect_identical(heard(entries[[name]], data), expected, label = paste(name, label))
  }
}
with_value <- function(column, at, value) {
  d[[column]][at] <- value
  d
}

test_that("text that is no number in ASCII is missing, in every entry", {
  expect_neighbours(with_value("text", 7, latin1[1]), with_value("text", 7, NA))
  few <- c("formula", "subset", "predict")
  for (value in no_numbers[-1]) {
    for (at in long_values(c(1, 60), nchar(value, "bytes"))) {
      label <- encodeString(substr(iconv(value, "", "ASCII", sub = "byte"), 1, 20))
      expect_neighbours(with_value("text", at, value), with_value("text", at, NA), few, label)
    }
  }
})

test_that("text that is a number for R in ASCII is one", {
  given <- c("0x1A", "1e1", " 12 ", "\t15\n", "NA", "+20", "22.", "1e400", "-Inf", strrep("1", 400), "1L", "TRUE", ".5")
  expected <- suppressWarnings(as.numeric(given))
  expect_identical(sum(is.na(expected)), 3L)
  one <- function(e) {
    data <- data.frame(text = given)
    dpsosp:::row_wise_evaluate(e, data, dpsosp:::row_wise_schema(list(e), data, NULL), "data", NULL)
  }
  expect_identical(one(quote(as.numeric(text))), expected)
  expect_identical(one(quote(as.integer(text))), suppressWarnings(as.integer(given)))
})

test_that("a factor's code without a level is missing, wherever the factor is used", {
  coded <- function(code, at) {
    d$f <- structure(replace(as.integer(d$f), at, code), levels = levels(d$f), class = "factor")
    d
  }
  uses <- list(y ~ f, y ~ f * b, y ~ I(f %in% c("u", "v")), y ~ I(f == "u"), y ~ as.integer(f), y ~ is.na(f),
               y ~ factor(f, levels = c("v", "u")), y ~ f:b, y ~ ifelse(f == "u", b, 0), y ~ f:l)
  bounds <- list(b = c(-1, 1), "as.integer(f)" = c(1, 3), "ifelse(f == \"u\", b, 0)" = c(-1, 1))
  for (formula in uses) {
    entries$use <- function(d) {
      kept <- bounds[names(bounds) %in% c(all.names(formula), deparse1(formula[[3]]))]
      dp_sosp(formula, d, eps = 2, delta = 1e-6, bounds = kept, method = "2opt-ls", noise = "reproducible",
              contrasts = if (is.name(formula[[3]])) list(f = "contr.sum"))
    }
    expected <- heard(entries$use, coded(NA, 7))
    expect_false(expected$failed, label = deparse1(formula))
    for (code in long_values(c(0L, -1L, 4L, .Machine$integer.max), nchar(deparse1(formula)))) {
      expect_identical(heard(entries$use, coded(code, 7)), expected, label = paste(deparse1(formula), code))
    }
  }
  # also in new data, in the response, and in a vector
  expect_identical(predict(fit, coded(0L, 3)), predict(fit, coded(NA, 3)))
  swapped <- function(code) {
    d$y <- structure(replace(as.integer(d$y), 5, code), levels = levels(d$y), class = "factor")
    d
  }
  for (code in long_values(c(0L, -7L, 3L))) {
    expect_neighbours(swapped(code), swapped(NA), c("formula", "evaluate"))
    for (loss in c("logistic", "multinomial")) {
      of_matrix <- function(d) {
        dp_sosp(cbind(d$b), d$y, eps = 2, delta = 1e-6, radius = 2, loss = loss, method = "gd", noise = "reproducible")
      }
      expect_identical(heard(of_matrix, swapped(code)), heard(of_matrix, swapped(NA)))
    }
  }
})

# Values that a record may hold in each column, some of them nonsense.
odd_values <- list(
  a = list(NA, NaN, Inf, -1e308, 1e-320, 15), b = list(NA, Inf, 0, -0.5), l = list(NA, TRUE, FALSE),
  f = list(NA, 0L, -1L, 7L, 2L), y = list(NA, 0L, -1L, 3L, 1L), text = c(no_numbers, list(NA, "12", "0x1A", "1e999")),
  w = c(no_numbers, list(NA, "-1", "0.5", "Inf"))
)
uses <- list(
  y ~ a + f, y ~ log(a) + as.numeric(text), y ~ ns(a, knots = 20, Boundary.knots = c(10, 30)) * l, y ~ a:b + f:l,
  y ~ I(f %in% "u") + I(text %in% c("12", "u")), y ~ offset(b) + cut(a, c(10, 20, 30)),
  l ~ a + I(b^2) + I(as.integer(text) > 20)
)

test_that("whatever a record holds, the conditions of a fit are those of its neighbour", {
  set.seed(as.integer(Sys.getenv("DPSOSP_FUZZ_SEED", "7")))
  held <- function(column, at, value) {
    x <- d[[column]]
    d[[column]] <- if (is.factor(x)) {
      structure(replace(as.integer(x), at, value), levels = levels(x), class = "factor")
    } else {
      replace(x, at, value)
    }
    d
  }
  bounds <- list(a = c(10, 30), b = c(-1, 1), "as.numeric(text)" = c(0, 30), "log(a)" = log(c(10, 30)))
  for (i in seq_len(long_size(4, 1) * as.integer(Sys.getenv("DPSOSP_FUZZ", "40")))) {
    formula <- sample(uses, 1)[[1]]
    kept <- bounds[names(bounds) %in% c(all.vars(formula), attr(stats::terms(formula), "term.labels"))]
    weighted <- sample(2, 1) == 1
    method <- sample(c("2opt-ls", "newton-ridge", "gd"), 1)
    entry <- function(d) {
      if (weighted) {
        dp_sosp(formula, d, eps = 2, delta = 1e-6, bounds = kept, weights = as.numeric(w), subset = is.na(a) | a < 29,
                method = method, noise = "reproducible")
      } else {
        dp_sosp(formula, d, eps = 2, delta = 1e-6, bounds = kept, method = method, noise = "reproducible")
      }
    }
    column <- sample(names(odd_values), 1)
    at <- sample(nrow(d), 1)
    value <- sample(odd_values[[column]], 1)[[1]]
    data <- held(column, at, value)
    before <- heard(entry, d)
    after <- heard(entry, data)
    label <- paste(deparse1(formula), method, column, substr(encodeString(as.character(value)), 1, 20))
    expect_false(before$failed, label = label)
    expect_identical(after[c("told", "failed")], before[c("told", "failed")], label = label)
  }
})

test_that("attributes of a column, which could change how all rows are read, are left out", {
  e <- quote(pmin(a, b))
  plain <- data.frame(a = c(1, NA, 3), b = c(2, 2, 2))
  schema <- dpsosp:::row_wise_schema(list(e), plain, NULL)
  odd <- plain
  odd$a <- I(structure(odd$a, names = c("x", "y", "z"), tsp = c(1, 3, 1)))
  expect_identical(dpsosp:::row_wise_evaluate(e, odd, schema, "data", NULL), c(1, NA, 2))
})

test_that("an error in an expression has a message without values", {
  schema <- list(a = list(kind = "numeric"))
  expect_error(dpsosp:::row_wise_evaluate(quote(stop(a)), data.frame(a = 12345.678), schema, "data", NULL),
               "`stop\\(a\\)` in `formula` cannot be computed\\.$", class = "dpsosp_error_argument")
})

test_that("a function that refuses a type refuses it before there are rows", {
  refused <- function(formula) {
    expect_error(dp_sosp(formula, d, eps = 1), "cannot be computed: ", class = "dpsosp_error_argument")
  }
  refused(y ~ !text)
  refused(y ~ I(text & l))
})
