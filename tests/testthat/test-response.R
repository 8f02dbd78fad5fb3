template_of <- function(y, name = "y") suppressMessages(response_template(y, name), "dpsosp_message_response")

test_that("two values become -1 and 1", {
  code <- function(y) response_code(template_of(y), y)
  f <- factor(c("no", "yes", NA, "no"), levels = c("yes", "no"))
  expect_equal(code(f), c(1, -1, NA, 1))
  expect_equal(code(c(TRUE, NA, FALSE)), c(1, NA, -1))
  expect_equal(code(c(0, 1, NA, NaN)), c(-1, 1, NA, NA))
  expect_equal(code(c(0L, 1L)), c(-1, 1))
  expect_equal(code(c(-1, 1, 1)), c(-1, 1, 1))
  expect_equal(code(c(1, 1)), c(1, 1))
  expect_equal(code(c(-1, -1)), c(-1, -1))
  expect_equal(code(NA_real_), NA_real_)
  expect_equal(code(factor(c("b", "a"), levels = c("a", "b"), ordered = TRUE)), c(1, -1))
})

test_that("the template holds no value of the response", {
  f <- factor(c("a", "b", "a"))
  expect_identical(response_template(f, "y"), response_template(rev(f)[0], "y"))
  expect_identical(response_template(c(TRUE, NA), "y"), response_template(FALSE, "y"))
  for (y in list(c(0, 0, NA), c(1, -1), 2, -0.5, Inf, double(), 7L)) {
    expect_identical(template_of(y), template_of(c(0, 1)))
  }
})

test_that("numbers outside their coding are missing, whatever the others are", {
  code <- function(y) response_code(template_of(y), y)
  expect_equal(code(c(0, 1, 2)), c(-1, 1, NA))
  expect_equal(code(c(0, 1, -1)), c(-1, 1, -1))
  expect_equal(code(c(-1L, 1L, 2L, NA)), c(-1, 1, NA, NA))
  expect_equal(code(c(0.5, -Inf, Inf, 1 + 1e-15, 1e300, NaN)), rep(NA_real_, 6))
})

test_that("the coding of a numeric response is said, in words that no value decides", {
  said <- function(y) conditionMessage(expect_message(response_template(y, "y"), class = "dpsosp_message_response"))
  expect_match(said(c(0, 1)), "`y` is numeric: 1 is one class, 0 and -1 are the other", fixed = TRUE)
  expect_match(said(c(0, 1)), "for a regression `loss_squared()`, `loss_huber()` or `loss_poisson()`", fixed = TRUE)
  for (y in list(c(0, 2), -1, NA_real_, 5L)) expect_identical(said(y), said(c(0, 1)))
  expect_silent(response_template(c(TRUE, NA), "y"))
  expect_silent(response_template(factor(c("a", "b")), "y"))
  expect_silent(response_template(c(0.5, 7), "y", loss = scale_loss(loss_huber(c(0, 1)), TRUE)))
})

# All entry points, with the neighbour whose record 7 has another response, and with this response missing.
test_that("a response outside its coding is a null record in memory, in a matrix, in a source and in an oracle", {
  p <- problem_matrix(40)
  gradient <- function(x, y) {
    set.seed(1)
    oracle <- dp_oracle(x, y, "logistic", dp_budget(mu = 1), 2, noise = "reproducible")
    as.vector(dp_gradient(oracle, c(0.1, 0, 1), mu = 0.5))
  }
  run <- function(x, ...) {
    set.seed(1)
    coef(quiet_fit(x, ..., eps = 5, delta = 1e-6, noise = "reproducible", method = "opt"))
  }
  ways <- list(
    formula = function(d) run(y ~ x1 + x2, d, bounds = list(x1 = c(-1, 1))),
    source = function(d) run(y ~ x1 + x2, dp_source(in_chunks(d, 9)), bounds = list(x1 = c(-1, 1))),
    matrix = function(d) run(as.matrix(d[1:2]), d$y, radius = 2),
    oracle = function(d) gradient(as.matrix(d[1:2]), d$y),
    "oracle of a source" = function(d) gradient(dp_source(in_chunks(d, 9)), "y")
  )
  for (coded in long_values(list(p$y, (p$y + 1) / 2, as.integer(p$y)))) {
    with_response <- function(at, value) data.frame(p$x, y = replace(coded, at, value))
    for (name in names(ways)) {
      for (at in c(1, 30)) {
        missing <- suppressMessages(ways[[name]](with_response(at, NA)))
        for (value in list(2, 0.5, -3, Inf)) {
          # the label of the entry point that failed
          expect_identical(suppressMessages(ways[[name]](with_response(at, value))), missing, label = name)
        }
      }
      expect_identical(suppressMessages(ways[[name]](with_response(1:2, c(-1, 0)))),
                       suppressMessages(ways[[name]](with_response(1:2, c(0, -1)))), label = name)
    }
  }
})

test_that("a fit to a numeric response predicts 0 and 1, whatever codes came", {
  p <- problem_matrix(40)
  for (y in list(p$y, (p$y + 1) / 2, replace(p$y, 3, 9))) {
    fit <- quiet_fit(p$x, y, eps = 20, delta = 1e-6, radius = 2, loss = "logistic", method = "newton")
    far <- 100 * rbind(coef(fit)[-1], -coef(fit)[-1])
    expect_equal(predict(fit, unname(far), type = "class"), c(1, 0))
  }
})

test_that("a response that R's own functions refuse is missing", {
  odd <- structure(c(1L, 2L, 9L, NA), levels = c("no", "yes"), class = "factor")
  expect_equal(response_code(template_of(odd), odd), c(-1, 1, NA, NA))
  bytes <- "\xff"
  Encoding(bytes) <- "bytes"
  expect_equal(response_code(template_of(factor(c("no", "yes"))), c("yes", bytes, "\xe9")), c(1, NA, NA))
  expect_error(response_template(structure(1:2, levels = c("no", bytes), class = "factor"), "y"), "no text",
               class = "dpsosp_error_argument")
})

test_that("codes go by label, and decode undoes them", {
  template <- response_template(factor(c("no", "yes")), "y")
  expect_equal(response_code(template, factor(c("yes", "no", "other"))), c(1, -1, NA))
  expect_equal(response_code(template, c("yes", NA)), c(1, NA))
  for (y in list(factor(c("u", "v", NA)), c(TRUE, NA, FALSE), c(0, 1, NA))) {
    template <- template_of(y)
    expect_equal(response_decode(template, response_code(template, y)), y)
  }
  expect_equal(response_decode(template_of(c(-1, 1)), c(-1, 1)), c(0, 1))
})

test_that("other responses are errors without values", {
  refused <- list(
    factor(c("a", "b", "c")), factor(c("a", "a")), c("a", "271828"), Sys.Date(), matrix(c(0, 271828)), list(0, 1),
    271828i
  )
  messages <- vapply(refused, function(y) {
    conditionMessage(expect_error(response_template(y, "income"), class = "dpsosp_error_argument"))
  }, "")
  expect_false(any(grepl("271828", messages)))
  expect_snapshot_output(writeLines(messages))
})

test_that("losses without arguments refuse any", {
  expect_error(loss_multinomial(3), "There are no arguments", class = "dpsosp_error_argument")
  expect_error(loss_sigmoid(scale = 2), "`scale`. There are no arguments", class = "dpsosp_error_argument")
})
