# Polynomials, splines, contrasts and dates: the columns are those of glm().

bs <- splines::bs
ns <- splines::ns

basis_data <- function(n = 60) {
  set.seed(1)
  data.frame(
    y = rbinom(n, 1, 0.5) > 0, a = runif(n, -2, 3), b = runif(n, 1, 9),
    f = factor(sample(c("u", "v", "w"), n, TRUE), c("u", "v", "w")),
    o = factor(sample(c("lo", "mid", "hi", "top"), n, TRUE), c("lo", "mid", "hi", "top"), ordered = TRUE),
    day = as.Date("2024-01-01") + sample(0:365, n, TRUE)
  )
}
basis_bounds <- list(a = c(-2, 3), b = c(1, 9), day = as.Date(c("2024-01-01", "2024-12-31")))
bounds_of <- function(formula) basis_bounds[intersect(names(basis_bounds), all.vars(formula))]

# The columns before the map.
original <- function(design, data) {
  scale <- dpsosp:::design_scale(design)
  x <- sweep(sweep(design_matrix(design, data), 2, scale[, "half"], "*"), 2, scale[, "centre"], "+")
  if (design$intercept) cbind("(Intercept)" = 1, x) else x
}

basis_formulas <- list(
  y ~ poly(a, 3, raw = TRUE), y ~ poly((a - 0.5) / 2.5, degree = 2, raw = TRUE) * f, y ~ stats::poly(a, 1, raw = TRUE),
  y ~ bs(a, knots = c(0, 1), Boundary.knots = c(-2, 3)), y ~ 0 + f + bs(b, knots = 5, Boundary.knots = c(1, 9)),
  y ~ bs(a, knots = 1, degree = 1, Boundary.knots = c(-2, 3), intercept = TRUE) - 1,
  y ~ splines::ns(a, knots = c(0, 1, 2), Boundary.knots = c(-2, 3)),
  y ~ ns(a, knots = 0, Boundary.knots = c(-2, 3)) * f,
  y ~ ns(b, knots = c(3, 5), Boundary.knots = c(1, 9)) : bs(a, knots = 0, Boundary.knots = c(-2, 3)),
  y ~ bs(a, knots = 0, Boundary.knots = c(-2, 3)) * b, y ~ bs(log(b), knots = 1, Boundary.knots = c(0, log(9))),
  y ~ poly(a, 2, raw = TRUE) : ns(b, knots = 5, Boundary.knots = c(1, 9)),
  y ~ o, y ~ 0 + o, y ~ o * f, y ~ o * a, y ~ f:o, y ~ factor(f, levels = c("w", "u", "v"), ordered = TRUE),
  y ~ day + a, y ~ log(b) + I(a^2) + I(a * b), y ~ sqrt(b):f
)

test_that("columns of polynomials, splines, contrasts, dates and arithmetic are those of model.matrix()", {
  d <- basis_data()
  for (formula in basis_formulas) {
    design <- design_template(formula, d, bounds_of(formula))
    expected <- stats::model.matrix(formula, d)
    got <- original(design, d)
    expect_setequal(colnames(got), colnames(expected))
    expect_equal(got[, colnames(expected)], expected, ignore_attr = TRUE)
    expect_length(dpsosp:::design_counted_names(design), 0)
  }
})

test_that("contrasts are as glm() takes them", {
  d <- basis_data()
  own <- matrix(c(1, -1, 0, 0.5, 0.5, -1), 3, dimnames = list(NULL, c("A", "B")))
  cases <- list(list(f = "contr.sum"), list(f = stats::contr.sum), list(f = "contr.helmert", o = "contr.treatment"),
                list(o = "contr.SAS"), list(f = own), list(o = "contr.sum", f = "contr.poly"))
  for (contrasts in cases) {
    for (formula in list(y ~ f + o, y ~ f * o, y ~ f * a)) {
      used <- contrasts[intersect(names(contrasts), all.vars(formula))]
      design <- design_template(formula, d, bounds_of(formula), extras = list(contrasts = used))
      expected <- stats::model.matrix(formula, d, contrasts.arg = used)
      got <- original(design, d)
      expect_equal(got[, colnames(expected)], expected, ignore_attr = TRUE)
      expect_lte(max(rowSums(design_matrix(design, d)^2)) + 1, design$radius^2 + 1e-12)
    }
  }
  stats::contrasts(d$f) <- own
  design <- design_template(y ~ f, d)
  expect_equal(original(design, d), stats::model.matrix(y ~ f, d), ignore_attr = TRUE)
  expect_equal(design_matrix(design, data.frame(f = c("v", "other"))),
               design_matrix(design, d[match(c("v", NA), d$f), ]), ignore_attr = TRUE)
})

test_that("the polynomials of ordered factors have degrees, other columns have degree one", {
  schema <- data.frame(o = factor(character(), letters[1:4], ordered = TRUE), u = factor(character(), letters[1:5]),
                       big = factor(character(), 1:96), x = double(), y = logical())
  degrees <- function(formula, contrasts = NULL) {
    design <- design_template(formula, schema, list(x = c(0, 1)), extras = list(contrasts = contrasts))
    stats::setNames(dpsosp:::column_degrees(design), design$columns$name)
  }
  expect_equal(degrees(y ~ u + o + x), c(ub = 1, uc = 1, ud = 1, ue = 1, o.L = 1, o.Q = 2, o.C = 3, x = 1))
  expect_equal(degrees(y ~ o:x + I(x^2)), c("I(x^2)" = 1, "oa:x" = 1, "ob:x" = 1, "oc:x" = 1, "od:x" = 1))
  expect_equal(degrees(y ~ x * o)[5:7], c("x:o.L" = 1, "x:o.Q" = 2, "x:o.C" = 3))
  expect_equal(unname(degrees(y ~ o * u, list(u = "contr.poly"))[8:19]), as.vector(outer(1:3, 1:4)))
  for (other in c("contr.sum", "contr.helmert", "contr.SAS")) expect_true(all(degrees(y ~ o, list(o = other)) == 1))
  expect_equal(unname(degrees(y ~ u, list(u = stats::contr.poly(5)[, 4:3]))), c(4, 3))
  expect_true(all(degrees(y ~ big, list(big = "contr.sum")) == 1))
})

test_that("no row within the ranges is longer than the default radius, nor of main effects one beyond them", {
  set.seed(2)
  n <- 4000
  d <- basis_data(n)
  anywhere <- function(range, beyond) {
    sample(c(range, range + c(-beyond, beyond), seq(range[1], range[2], length.out = 50)), n, TRUE)
  }
  longest <- function(beyond) {
    d[c("a", "b")] <- list(anywhere(c(-2, 3), beyond), anywhere(c(1, 9), beyond))
    vapply(basis_formulas, function(formula) {
      design <- design_template(formula, d, bounds_of(formula))
      max(rowSums(design_matrix(design, d)^2, na.rm = TRUE) + design$intercept) / design$radius^2
    }, 0)
  }
  within <- longest(0)
  expect_lte(max(within), 1 + 1e-12)
  expect_equal(within[c(1, 4)], c(1, 1)) # the bound is attained
  mains <- !vapply(basis_formulas, function(formula) any(c("*", ":") %in% all.names(formula)), NA)
  expect_lte(max(longest(9)[mains]), 1 + 1e-12)
})

test_that("the parts of a basis count once", {
  d <- basis_data()
  radius <- function(formula) design_template(formula, d, bounds_of(formula))$radius^2
  expect_equal(radius(y ~ bs(a, knots = c(0, 1), Boundary.knots = c(-2, 3))), 2)
  expect_equal(radius(y ~ bs(a, knots = c(0, 1), Boundary.knots = c(-2, 3)) * f), 4)
  expect_equal(radius(y ~ ns(a, knots = 0, Boundary.knots = c(-2, 3)) * b), 4)
  expect_equal(radius(y ~ o), 2)
  expect_equal(radius(y ~ poly(a, 3, raw = TRUE)), 4)
})

test_that("a range follows from those of its columns", {
  d <- basis_data()
  range <- function(formula, name, bounds = bounds_of(formula)) {
    unname(design_template(formula, d, bounds)$ranges[name, ])
  }
  expect_equal(range(y ~ log(b), "log(b)"), log(c(1, 9)))
  expect_equal(range(y ~ I(a^2), "I(a^2)"), c(0, 9))
  expect_equal(range(y ~ I(a^3), "I(a^3)"), c(-8, 27))
  expect_equal(range(y ~ I(-a / b), "I(-a/b)"), c(-3, 2))
  expect_equal(range(y ~ I(a - b), "I(a - b)"), c(-11, 2))
  expect_equal(range(y ~ pmin(a, 1), "pmin(a, 1)"), c(-2, 1))
  expect_equal(range(y ~ abs(a), "abs(a)"), c(0, 3))
  expect_equal(range(y ~ I(a * (f == "u")), "I(a * (f == \"u\"))"), c(-2, 3))
  expect_equal(range(y ~ ifelse(f == "u", a, b), "ifelse(f == \"u\", a, b)"), c(-2, 9))
  expect_equal(range(y ~ ifelse(a > 1, 5, -a), "ifelse(a > 1, 5, -a)"), c(-3, 5))
  expect_equal(range(y ~ poly(a, 2, raw = TRUE), "poly(a, 2, raw = TRUE)2"), c(0, 9))
  expect_equal(range(y ~ day, "day"), as.numeric(basis_bounds$day))
  # A declared range has precedence; if no range follows, it must be declared or is found.
  expect_equal(range(y ~ a + I(a^2), "I(a^2)", list(a = c(-2, 3), "I(a^2)" = c(0, 4))), c(0, 4))
  expect_error(design_template(y ~ log(a), d, list(a = c(-2, 3))), "none follows for `log\\(a\\)`")
  # Boundary knots have precedence over the range of their column.
  spline <- y ~ bs(a, knots = 0, Boundary.knots = c(-2, 3))
  expect_identical(design_matrix(design_template(spline, d, list(a = c(0, 1))), d),
                   design_matrix(design_template(spline, d), d))
  expect_error(design_template(spline, d, list("bs(a, knots = 0, Boundary.knots = c(-2, 3))1" = c(0, 1))),
               class = "dpsosp_error_argument")
  private <- function(formula) dpsosp:::design_counted_names(design_template(formula, d))
  expect_equal(private(y ~ a + I(a^2) + log(b)), c("a", "log(b)"))
  expect_equal(private(y ~ I(a^2) + log(b)), c("I(a^2)", "log(b)"))
  expect_equal(private(y ~ poly(a, 3, raw = TRUE) * b), c("poly(a, 3, raw = TRUE)1", "b"))
  found <- dpsosp:::design_fill_ranges(design_template(y ~ poly((a - 1) / 2, 2, raw = TRUE), d),
                                       rbind("poly((a - 1)/2, 2, raw = TRUE)1" = c(lower = -1, upper = 3)))
  expect_equal(unname(found$ranges[2, ]), c(0, 9))
})

test_that("no value of an expression lies beyond the range that follows", {
  set.seed(3)
  expressions <- expression(a + b, a - b, a * b, a / b, -a, a^2, a^3, b^-1, b^0.5, abs(a), sqrt(b), exp(a), log(b),
                            log1p(b), sin(a), pmin(a, b), pmax(a, b), floor(a), (a - 2) * (b + 1)^2, tanh(a) / b)
  compared <- 0
  for (i in 1:20) {
    known <- list2env(list(a = sort(rnorm(2, sd = 3)), b = sort(rexp(2))))
    at <- list(a = runif(50, known$a[1], known$a[2]), b = runif(50, known$b[1], known$b[2]))
    for (e in expressions) {
      range <- dpsosp:::interval(e, known)
      value <- eval(e, at)
      compared <- compared + length(value)
      slack <- 1e-12 * max(abs(range))
      if (!all(value >= range[1] - slack & value <= range[2] + slack)) fail(deparse(e))
    }
  }
  expect_equal(compared, 20 * 50 * length(expressions))
})

test_that("one record changes no other row of a basis, and missing values make theirs missing", {
  d <- basis_data(30)
  formula <- y ~ ns(a, knots = c(0, 1), Boundary.knots = c(-2, 3)) + bs(b, knots = 5, Boundary.knots = c(1, 9)) * o +
    poly(a, 2, raw = TRUE) + day
  design <- design_template(formula, d, bounds_of(formula))
  x <- design_matrix(design, d)
  for (i in c(1, 17, 30)) {
    changed <- d
    changed[i, c("a", "b")] <- c(1e9, -Inf)
    changed$o[i] <- NA
    changed$day[i] <- NA
    expect_identical(design_matrix(design, changed)[-i, ], x[-i, ])
    expect_true(anyNA(design_matrix(design, changed)[i, ]))
    expect_equal(design_matrix(design, d[i, ]), x[i, , drop = FALSE], tolerance = 1e-14)
  }
  none <- transform(d, a = NA_real_, b = NaN)
  expect_true(all(is.na(design_matrix(design, none)[, "ns(a, knots = c(0, 1), Boundary.knots = c(-2, 3))1"])))
})

test_that("a constant of the formula's environment may be a date", {
  d <- basis_data()
  from <- as.Date("2024-07-01")
  design <- design_template(y ~ I(day > from), d)
  expect_equal(unname(design_matrix(design, d)[, 1]), as.numeric(d$day > from))
})

test_that("what would be read from the data is refused with the form to write", {
  d <- basis_data()
  refused <- function(formula, text) {
    expect_error(design_template(formula, d), text, class = "dpsosp_error_argument")
  }
  refused(y ~ poly(a, 2), "poly\\(\\(x - centre\\) / scale, degree, raw = TRUE\\)")
  refused(y ~ poly(a, 2, raw = FALSE), "raw = TRUE")
  refused(y ~ poly(a, 2, coefs = 1, raw = TRUE), "raw = TRUE")
  refused(y ~ poly(a, b, raw = TRUE), "one column only")
  refused(y ~ poly(a, b, degree = 2, raw = TRUE), "x \\* z")
  refused(y ~ poly(a, degree = b, raw = TRUE), "constants")
  refused(y ~ poly(a, 0, raw = TRUE), "`degree`")
  refused(y ~ poly(f, 2, raw = TRUE), "numbers")
  refused(y ~ ns(a, df = 4), "ns\\(x, knots = c\\(...\\), Boundary.knots = c\\(lower, upper\\)\\)")
  refused(y ~ ns(a, df = 4, knots = 0.5, Boundary.knots = c(0, 1)), "and no `df`")
  refused(y ~ bs(a), "no `df`")
  refused(y ~ splines::bs(a, knots = 0), "Boundary.knots")
  refused(y ~ bs(a, knots = b, Boundary.knots = c(0, 1)), "constants")
  refused(y ~ bs(a, knots = 4, Boundary.knots = c(0, 1)), "between them")
  refused(y ~ bs(a, knots = 0.5, Boundary.knots = c(0, 1), degree = 1:2), "`degree`")
  # cut() would take a single number as the number of breaks in the range of the data.
  for (one in expression(3, c(3), 1 + 2, c(c(3)))) {
    refused(eval(call("~", quote(y), call("cut", quote(a), breaks = one))), "breaks would be read from the data")
  }
  refused(y ~ as.factor(b), "factor\\(b, levels = c\\(...\\)\\)\\.")
  refused(y ~ ordered(b, levels = 1:9), "factor\\(b, levels = c\\(...\\), ordered = TRUE\\)")
  refused(y ~ relevel(f, "v"), "factor\\(f, levels = c\\(...\\)\\), the reference level first")
  refused(y ~ C(f, contr.sum), "f itself, and its contrasts in the argument `contrasts`")
  refused(y ~ scale(log(b)), "I\\(\\(log\\(b\\) - centre\\) / scale\\)")
  refused(y ~ te(a, b), "Write s\\(a\\), s\\(\\) of the other column, and ti")
  refused(y ~ a + (1 | f), "no random effects")
  refused(y ~ findInterval(b, 3), "cut\\(b, breaks = c\\(...\\)\\)")
  refused(y ~ weekdays(day), "computed from its own row")
  refused(y ~ I(day > as.Date("2024-03-01")), 'before, as in `k <- as.Date\\("2024-03-01"\\)`, and write `k`')
  refused(y ~ log(poly(a, 2, raw = TRUE)), "a term of its own")
  wrong <- function(code, text) expect_error(code, text, class = "dpsosp_error_argument")
  wrong(design_template(y ~ f, d, extras = list(contrasts = list(g = "contr.sum"))), "no factor")
  wrong(design_template(y ~ f, d, extras = list(contrasts = list(f = "contr.summ"))), "Did you mean")
  wrong(design_template(y ~ f, d, extras = list(contrasts = list(f = diag(2)))), "3 rows")
  wrong(design_template(y ~ f, d, extras = list(contrasts = list(f = function(n) stop("of no use")))),
        "fails on the declared levels")
  d$when <- as.POSIXct(d$day)
  wrong(design_template(y ~ when, d, list(when = basis_bounds$day)), "class Date")
  wrong(quiet_fit(day ~ a, d, eps = 1), "a response must be")
  design <- design_template(y ~ day, d, basis_bounds["day"])
  expect_error(design_matrix(design, data.frame(day = 19000)), "must be Date", class = "dpsosp_error_argument")
})

test_that("knots and degrees may come from the formula's environment", {
  d <- basis_data()
  k <- c(0, 1)
  ends <- c(-2, 3)
  a <- design_template(y ~ ns(a, knots = k, Boundary.knots = ends), d)
  expect_equal(a$columns$name[1], "ns(a, knots = c(0, 1), Boundary.knots = c(-2, 3))1")
})

test_that("fits agree with glm() where noise is small, predict, and are the same of a stream", {
  d <- basis_data(900)
  d$y <- rbinom(900, 1, plogis(sin(d$a) + 0.3 * as.integer(d$o))) > 0
  formula <- y ~ ns(a, knots = 0.5, Boundary.knots = c(-2, 3)) + o + poly((b - 5) / 4, 2, raw = TRUE)
  fit <- quiet_fit(formula, d, eps = 1e4, delta = 1e-5, bounds = bounds_of(formula)["b"], method = "newton")
  exact <- stats::glm(formula, stats::binomial, d)
  expect_equal(coef(fit)[names(coef(exact))], coef(exact), tolerance = 0.02)
  expect_equal(predict(fit, d, type = "response"), unname(stats::fitted(exact)), tolerance = 0.01)
  source <- dp_source(in_chunks(d, 300))
  ours <- function(data) {
    set.seed(2)
    coef(quiet_fit(update(formula, . ~ . + day), data, eps = 1, bounds = basis_bounds[c("b", "day")], method = "newton",
                   noise = "reproducible"))
  }
  expect_equal(ours(source), ours(d))
  small <- suppressMessages(dp_sosp(y ~ a, d, eps = 1, bounds = basis_bounds["a"], progress = FALSE))
  expect_named(coef(suppressMessages(update(small, . ~ . + poly(a, 2, raw = TRUE) + o))),
               c("(Intercept)", "a", "poly(a, 2, raw = TRUE)1", "poly(a, 2, raw = TRUE)2", "o.L", "o.Q", "o.C"))
})
