example_data <- function(n = 200) {
  set.seed(1)
  data.frame(
    y = rbinom(n, 1, 0.5), a = rnorm(n, 3, 2), b = sample(1000:3000, n, TRUE),
    f = factor(sample(c("u", "v", "w"), n, TRUE), levels = c("u", "v", "w", "never")),
    l = sample(c(TRUE, FALSE), n, TRUE),
    o = factor(sample(c("lo", "hi"), n, TRUE), levels = c("lo", "hi"))
  )
}
example_bounds <- list(a = c(-5, 11), b = c(0, 4000))

test_that("the template sees names, classes and levels only", {
  d <- example_data()
  full <- design_template(y ~ ., d, example_bounds)
  expect_identical(design_template(y ~ ., d[0, ], example_bounds), full)
  expect_identical(design_template(y ~ ., d[rev(seq_len(nrow(d))), ], example_bounds), full)
  expect_equal(full$columns$name, c("a", "b", "fv", "fw", "fnever", "lTRUE", "ohi"))
  expect_equal(full$columns$kind, rep(c("numeric", "indicator"), c(2, 5)))
  expect_equal(full$levels, list(f = c("u", "v", "w", "never"), l = c("FALSE", "TRUE"), o = c("lo", "hi")))
  expect_equal(full$radius, sqrt(2 + 3 + 1))
  expect_true(full$intercept)
  expect_equal(full$response, "y")
})

test_that("nothing in a template refers to an environment or to data", {
  secret <- 123456789
  d <- data.frame(y = c(0, 1), x = c(secret, secret), f = factor(c("a", "b")))
  local({
    hidden <- d
    f <- y ~ x + f + log(x)
    design <- design_template(f, hidden)
    text <- rawToChar(serialize(design, NULL, ascii = TRUE))
    expect_false(grepl("123456789", text, fixed = TRUE))
    environments <- rapply(list(unclass(design)), function(x) inherits(x, "environment"), how = "unlist")
    expect_false(any(environments))
    expect_null(attr(design$terms, ".Environment"))
    expect_identical(unserialize(serialize(design, NULL)), design)
  })
})

test_that("numeric columns are clipped and mapped to [-1, 1]", {
  d <- data.frame(y = 0, x = c(-10, 0, 5, 10, 99, NA, NaN, Inf))
  design <- design_template(y ~ x, d, list(x = c(0, 10)))
  expect_equal(unname(design_matrix(design, d)[, 1]), c(-1, -1, 0, 1, 1, NA, NA, NA))
  none <- design_template(y ~ x + 0, d, list(x = c(-20, 10)))
  expect_false(none$intercept)
  expect_equal(none$radius, 1)
  expect_equal(unname(design_matrix(none, d)[, 1]), c(-0.5, 0, 0.25, 0.5, 0.5, NA, NA, NA))
})

test_that("factors become treatment indicators of their declared levels", {
  d <- example_data(50)
  x <- design_matrix(design_template(y ~ f + l + o, d), d)
  expect_equal(unname(x[, 1]), as.numeric(d$f == "v"))
  expect_equal(unname(x[, "fnever"]), rep(0, 50))
  expect_equal(unname(x[, "lTRUE"]), as.numeric(d$l))
  expect_equal(unname(x[, "ohi"]), as.numeric(d$o == "hi"))
  expect_equal(unname(x), unname(stats::model.matrix(~ f + l + as.character(o != "lo"), d)[, -1]))
})

test_that("an indicator with the name of a numeric column takes another", {
  d <- data.frame(y = 0:1, f = factor(c("a", "b", "b", "a")), fb = c(0, 1, 2, 4))
  for (formula in c(y ~ f + fb, y ~ fb + f)) {
    design <- design_template(formula, d, list(fb = c(0, 4)))
    expect_setequal(design$columns$name, c("fb", "fb.1"))
    x <- design_matrix(design, d)
    expect_equal(x[, "fb"], c(-1, -0.5, 0, 1))
    expect_equal(x[, "fb.1"], c(0, 1, 1, 0))
    expect_equal(design_counted_names(design_template(formula, d)), "fb")
    expect_setequal(names(coef(quiet_fit(formula, d, eps = 1))), c("(Intercept)", "fb", "fb.1"))
  }
  names(d)[3] <- "log(y)"
  expect_error(design_template(y ~ log(y) + `log(y)`, d), "rename the column", class = "dpsosp_error_argument")
})

test_that("an expression without rows is tried on its own columns alone: wide formulas take no quadratic time", {
  schema <- list(a = list(kind = "numeric"), other = list(kind = stop))
  expect_identical(row_wise_empty(quote(a + 1), schema, NULL), double())
})

test_that("a declared level NA is a level", {
  f <- addNA(factor(c("a", NA, "b", NA), levels = c("a", "b")))
  d <- data.frame(y = 0:1, f = f)
  design <- design_template(y ~ f, d)
  expect_equal(design$columns$name, c("fb", "fNA"))
  x <- design_matrix(design, d)
  expect_equal(unname(x), cbind(c(0, 0, 1, 0), c(0, 1, 0, 1)))
  expect_equal(design_matrix(design, data.frame(f = c("a", NA, "b", NA))), x)
  expect_equal(as.vector(design_rows(design, d, "double")$codes), c(0, 2, 1, 2))
})

test_that("a level that was not declared, or a missing one, gives NA", {
  d <- example_data(4)
  design <- design_template(y ~ f, d)
  new <- data.frame(f = factor(c("v", "other", NA, "u"), levels = c("other", "v", "u")))
  expected <- cbind(fv = c(1, NA, NA, 0), fw = c(0, NA, NA, 0), fnever = c(0, NA, NA, 0))
  expect_equal(design_matrix(design, new, "newdata"), expected)
  new$f <- as.character(new$f)
  expect_equal(design_matrix(design, new, "newdata"), expected)
})

test_that("without intercept the first factor has all its levels", {
  d <- example_data(50)
  design <- design_template(y ~ f + o - 1, d)
  expect_equal(design$columns$name, c("fu", "fv", "fw", "fnever", "ohi"))
  expect_equal(unname(rowSums(design_matrix(design, d)[, 1:4])), rep(1, 50))
  expect_equal(design$radius, sqrt(2))
})

test_that("coefficients give the linear predictor of the mapped problem", {
  d <- example_data()
  for (formula in list(y ~ ., y ~ . - 1, y ~ log(b) + f, y ~ a + b + 0)) {
    bounds <- if ("log" %in% all.names(formula)) list("log(b)" = c(6, 9)) else example_bounds
    design <- design_template(formula, d, bounds)
    x <- design_matrix(design, d)
    z <- if (design$intercept) cbind(1, x) else x
    expect_lte(max(sqrt(rowSums(z^2))), design$radius + 1e-12)
    w <- rnorm(ncol(z), sd = 10)
    beta <- design_coef(design, w)
    raw <- vapply(seq_len(nrow(design$columns)), function(j) {
      column <- design$columns[j, ]
      value <- eval(design$predictors[[column$variable]], d)
      as.numeric(if (column$kind == "numeric") value else as.character(value) == column$level)
    }, numeric(nrow(d)))
    if (design$intercept) raw <- cbind(1, raw)
    expect_equal(drop(raw %*% beta), drop(z %*% w) / design$radius)
    expect_named(beta, c(if (design$intercept) "(Intercept)", design$columns$name))
  }
})

test_that("the identity holds far from zero, at small and at large scales", {
  set.seed(2)
  d <- data.frame(y = 0:1, year = sample(2000:2020, 100, TRUE), small = runif(100) * 1e-9, large = runif(100) * 1e12)
  design <- design_template(y ~ ., d, list(year = c(2000, 2020), small = c(0, 1e-9), large = c(0, 1e12)))
  w <- rnorm(4)
  expect_equal(drop(as.matrix(cbind(1, d[-1])) %*% design_coef(design, w)),
               drop(cbind(1, design_matrix(design, d)) %*% w) / 2)
})

test_that("a range without width maps to zero and has coefficient zero", {
  d <- data.frame(y = 0:1, x = c(3, 4))
  design <- design_fill_ranges(design_template(y ~ x, d), rbind(x = c(lower = 3, upper = 3)))
  expect_equal(unname(design_matrix(design, d)[, 1]), c(0, 0))
  expect_equal(design_coef(design, c(2, 5)), c("(Intercept)" = sqrt(2), x = 0))
})

test_that("one list of ranges serves several models of the same data", {
  d <- data.frame(y = 0, a = 1, b = 2, g = factor("u"))
  ranges <- function(bounds, formula = y ~ a) design_template(formula, d, bounds)$ranges
  expect_identical(ranges(list(b = c(0, 3), a = c(0, 1), y = c(0, 1))), ranges(list(a = c(0, 1))))
  coded <- y ~ factor(b, levels = 1:3)
  expect_identical(ranges(list(b = c(0, 3)), coded), ranges("private", coded))
  wrong <- function(bounds, text) expect_error(ranges(bounds), text, class = "dpsosp_error_argument")
  wrong(list(b = c(3, 0)), "bounds\\$b")
  wrong(list(b = as.Date(c("2024-01-01", "2024-02-01"))), "class Date")
  wrong(list(c = c(0, 3)), "no numeric column of the model")
  wrong(list(g = c(0, 3)), "no numeric column of the model")
})

test_that("private columns are listed and their ranges filled in", {
  d <- example_data(10)
  design <- design_template(y ~ a + b + f, d, list(a = c(0, 1)))
  expect_equal(design$ranges, cbind(lower = c(a = 0, b = NA), upper = c(1, NA)))
  expect_equal(design_private_columns(design, d), list(b = as.double(d$b)))
  filled <- design_fill_ranges(design, rbind(b = c(lower = 5, upper = 6)))
  expect_equal(filled$ranges, cbind(lower = c(a = 0, b = 5), upper = c(1, 6)))
})

test_that("small designs work: one row, one column, none, constant columns", {
  d <- data.frame(y = 1, x = 5, k = factor("only"))
  expect_equal(dim(design_matrix(design_template(y ~ x, d, list(x = c(0, 10))), d)), c(1L, 1L))
  expect_equal(dim(design_matrix(design_template(y ~ k, d), d)), c(1L, 0L))
  null <- design_template(y ~ 1, d)
  expect_equal(dim(design_matrix(null, d)), c(1L, 0L))
  expect_equal(null$radius, 1)
  expect_equal(design_coef(null, 0.25), c("(Intercept)" = 0.25))
  expect_error(design_template(y ~ 0, d), class = "dpsosp_error_argument")
})

test_that("formulas select columns as in lm()", {
  d <- data.frame(y = 0:1, a = 1, b = 2, `odd name` = 3, check.names = FALSE)
  expect_equal(design_template(y ~ . - b, d)$columns$name, c("a", "odd name"))
  expect_equal(design_template(I(y == 1) ~ ., d)$columns$name, c("a", "b", "odd name"))
  expect_equal(rownames(design_template(y ~ `odd name` + I(a^2), d)$ranges), c("odd name", "I(a^2)"))
  expect_equal(design_response(design_template(I(y == 1) ~ a, d), d), c(FALSE, TRUE))
})

test_that("row-wise expressions are those of base R", {
  set.seed(3)
  d <- data.frame(y = 0:1, a = rexp(20), b = rnorm(20), s = sample(c("p", "q"), 20, TRUE))
  value <- function(e) {
    design <- design_template(stats::as.formula(call("~", quote(y), e)), d)
    row_wise_evaluate(design$predictors[[1]], d, design$schema, "data", NULL)
  }
  for (e in expression(log(a), log(a, base = 3), I(sqrt(a) / (1 + abs(b))), I(a^2 - 2 * b), a > b, pmin(a, 1),
                       ifelse(b > 0, a, -1), I(a * pi), !is.na(b), round(a, 1), s == "p", as.numeric(b > 0 & a > 1))) {
    expect_equal(value(e), unclass(eval(e, d)), info = deparse(e))
  }
  expect_equal(value(quote(I(s %in% c("p", "z")))), d$s == "p")
  expect_equal(value(quote(I(round(a) %in% 1))), round(d$a) == 1)
})

test_that("one record changes no other row", {
  d <- example_data(30)
  d$s <- rep(c("p", "q", "r"), 10)
  formula <- y ~ a + log(b) + f + l + o + ifelse(l, a, b) + I(s %in% c("p", "q")) + I(a * b) + ifelse(TRUE, a, 0)
  design <- design_template(formula, d)
  numeric <- rownames(design$ranges)
  design <- design_fill_ranges(design, matrix(
    rep(c(-10, 5000), each = length(numeric)), ncol = 2, dimnames = list(numeric, c("lower", "upper"))
  ))
  x <- design_matrix(design, d)
  for (i in c(1, 17, 30)) {
    changed <- d
    changed[i, c("a", "b", "f", "l", "o", "s")] <- list(-7, 1, "never", !d$l[i], "hi", "zzz")
    expect_identical(design_matrix(design, changed)[-i, ], x[-i, ])
    expect_false(isTRUE(all.equal(design_matrix(design, changed)[i, ], x[i, ])))
  }
})

test_that("values that a function cannot take raise no condition", {
  d <- data.frame(y = 0:1, x = c(-1, 1))
  design <- design_template(y ~ log(x), d, list("log(x)" = c(-1, 1)))
  expect_silent(x <- design_matrix(design, d))
  expect_equal(unname(x[, 1]), c(NA, 0))
})

test_that("refused formulas say why", {
  d <- data.frame(y = 0:1, a = 1:2, b = 2:3, s = c("p", "q"), when = as.difftime(1:2, units = "days"))
  d$m <- matrix(1:4, 2)
  d$li <- list(1, 2)
  refused <- list(
    ~ a, y ~ a + offset(b), y ~ scale(a), y ~ poly(a, 2), y ~ cut(a, 3), y ~ cut(a, b),
    y ~ cut(s, c(1, 2)), y ~ factor(s), y ~ stats::poly(a, 2),
    y ~ a + missing_column, y ~ s, y ~ when, y ~ m, y ~ li, y ~ y + a, y ~ I(a %in% b), y ~ I(`%in%`(table = a, x = 2)),
    y ~ pmin(a, 1, na.rm = b), y ~ I(2), y ~ c(a, b), y ~ log(s), y ~ log(a, ), y ~ I(a[1]), y ~ mean(a),
    cbind(a, b) ~ x, survival::Surv(a, b) ~ x
  )
  messages <- vapply(refused, function(f) {
    condition <- expect_error(design_template(f, d), class = "dpsosp_error_argument")
    paste0(deparse(f), "\n  ", conditionMessage(condition))
  }, "")
  expect_snapshot_output(writeLines(messages))
  vector <- c(1, 2)
  expect_error(design_template(eval(bquote(y ~ I(a + .(vector)))), d), class = "dpsosp_error_argument")
  expect_error(design_template(y ~ a, list(y = 1)), class = "dpsosp_error_argument")
  expect_error(design_template(y ~ a, cbind(d["a"], d["y"], d["a"])), "more than one column")
})

test_that("new data are checked against what the fit knew", {
  d <- example_data(10)
  design <- design_template(y ~ a + f + l, d, list(a = c(0, 6)))
  expect_error(design_matrix(design, d["a"], "newdata"), "`newdata` has no column `f`", class = "dpsosp_error_argument")
  expect_error(design_matrix(design, transform(d, a = f), "newdata"), class = "dpsosp_error_argument")
  expect_error(design_matrix(design, transform(d, l = 1), "newdata"), class = "dpsosp_error_argument")
  all_missing <- data.frame(a = NA, f = NA, l = NA)
  expect_equal(unname(design_matrix(design, all_missing)), matrix(NA_real_, 1, 5))
  expect_equal(dim(design_matrix(design, d[0, ])), c(0L, 5L))
})

test_that("a response that cannot be computed is refused before the data are looked at", {
  d <- problem_frame(20)
  refused <- expect_error(quiet_fit(log(y) ~ a, d, eps = 1), class = "dpsosp_error_argument")
  expect_match(conditionMessage(refused), "`log(y)` in `formula` cannot be computed", fixed = TRUE)
  expect_s3_class(quiet_fit(as.integer(a > 20) ~ b, d, eps = 1, delta = 1e-6), "dp_sosp")
})

test_that("a name beside `.` that is no column gives one error, and no warning of terms()", {
  expect_no_warning(expect_error(dp_sosp(y ~ . + nothing, problem_frame(20), eps = 1), "`nothing` in `formula`",
                                 class = "dpsosp_error_argument"))
})
