interactions_data <- function(n = 60) {
  set.seed(1)
  data.frame(
    y = rbinom(n, 1, 0.5) > 0, a = rnorm(n), b = runif(n),
    f = factor(sample(c("u", "v", "w"), n, TRUE), c("u", "v", "w")),
    g = factor(sample(c("p", "q"), n, TRUE), c("p", "q")), l = sample(c(TRUE, FALSE), n, TRUE)
  )
}
interactions_bounds <- list(a = c(-4, 4), b = c(0, 1))

# The columns before the map.
unmapped <- function(design, data) {
  scale <- dpsosp:::design_scale(design)
  x <- sweep(sweep(design_matrix(design, data), 2, scale[, "half"], "*"), 2, scale[, "centre"], "+")
  if (design$intercept) cbind("(Intercept)" = 1, x) else x
}

test_that("columns of interactions are those of model.matrix()", {
  d <- interactions_data()
  formulas <- list(y ~ a * b, y ~ a * f, y ~ f * g, y ~ f * l, y ~ a * f * g, y ~ f:a, y ~ a:b, y ~ f:g,
                   y ~ 0 + f + f:a, y ~ (a + b + f)^2, y ~ a + I(a^2) * f, y ~ a * cut(b, c(0, 0.3, 0.7, 1)),
                   y ~ b * factor(f, levels = c("w", "v", "u")), y ~ cut(b, seq(0, 1, 0.25)))
  for (formula in formulas) {
    used <- intersect(c("a", "b"), all.vars(formula))
    bounds <- interactions_bounds[used]
    if (any(grepl("cut", deparse(formula)))) bounds <- bounds[intersect("a", used)]
    if ("I(a^2)" %in% attr(terms(formula), "term.labels")) bounds[["I(a^2)"]] <- c(0, 16)
    design <- design_template(formula, d, bounds)
    expected <- stats::model.matrix(formula, d)
    got <- unmapped(design, d)
    expect_setequal(colnames(got), colnames(expected))
    expect_equal(got[, colnames(expected)], expected, ignore_attr = TRUE)
  }
})

test_that("a product has the range of products, and asks for none of its own", {
  d <- interactions_data()
  both <- design_template(y ~ a * b + a:f, d, list(a = c(-2, 3), b = c(-1, 5)))
  expect_equal(both$ranges["a:b", ], c(lower = -10, upper = 15))
  expect_equal(both$ranges["a:fv", ], c(lower = -2, upper = 3))
  expect_length(dpsosp:::design_counted_names(both), 0)
  positive <- design_template(y ~ a * f, d, list(a = c(1, 3)))
  expect_equal(positive$ranges["a:fv", ], c(lower = 0, upper = 3)) # other levels are zero
  huge <- design_template(y ~ a * b, d, list(a = c(0, 1e300), b = c(0, 1e300)))
  expect_equal(huge$ranges[["a:b", "upper"]], .Machine$double.xmax)
  private <- design_template(y ~ a * b, d)
  expect_equal(dpsosp:::design_counted_names(private), c("a", "b"))
  found <- dpsosp:::design_fill_ranges(private, rbind(a = c(lower = 0, upper = 2), b = c(lower = -1, upper = 1)))
  expect_equal(found$ranges["a:b", ], c(lower = -2, upper = 2))
  expect_equal(dpsosp:::design_counted_names(design_template(y ~ a:b, d)), "a:b")
  declared <- design_template(y ~ a * b, d, c(interactions_bounds, list("a:b" = c(-1, 1))))
  expect_equal(declared$ranges["a:b", ], c(lower = -1, upper = 1))
})

test_that("what is missing in one of its columns is missing in an interaction", {
  d <- data.frame(y = 0, a = c(1, NA, 1, Inf), f = factor(c("u", "u", NA, "v"), c("u", "v")),
                  g = factor("p", c("p", "q")))
  x <- design_matrix(design_template(y ~ f:a, d, list(a = c(-2, 2))), d)
  expect_equal(is.na(x[, "fu:a"]), c(FALSE, TRUE, TRUE, TRUE))
  pairs <- design_matrix(design_template(y ~ f:g, d), d)
  expect_equal(is.na(pairs[, "fv:gq"]), c(FALSE, FALSE, TRUE, FALSE))
})

test_that("no row is longer than the default radius", {
  d <- interactions_data(500)
  for (formula in list(y ~ a * b * f, y ~ f * g * l, y ~ a * f + f * g)) {
    design <- design_template(formula, d, interactions_bounds[intersect(c("a", "b"), all.vars(formula))])
    expect_lte(max(rowSums(design_matrix(design, d)^2)) + 1, design$radius^2 + 1e-12)
  }
})

test_that("fits with interactions predict, and agree with glm() where noise is small", {
  d <- interactions_data(2000)
  fit <- quiet_fit(y ~ a * f + f:g, d, eps = 1e4, delta = 1e-5, bounds = interactions_bounds["a"], method = "newton")
  exact <- stats::glm(y ~ a * f + f:g, stats::binomial, d)
  expect_equal(predict(fit, d, type = "response"), unname(stats::fitted(exact)), tolerance = 1e-2)
  source <- dp_source(in_chunks(d, 500))
  ours <- function(data) {
    set.seed(2)
    coef(quiet_fit(y ~ a * f, data, eps = 1, bounds = interactions_bounds["a"], method = "newton",
                   noise = "reproducible"))
  }
  expect_equal(ours(source), ours(d))
})

test_that("breaks and levels that are written down make a factor of a column, and text is one then", {
  d <- data.frame(y = 0:1, a = c(1, 5, 12, NaN), s = c("p", "q", "r", NA))
  cuts <- c(0, 2, 10)
  design <- design_template(y ~ cut(a, breaks = cuts) + factor(s, levels = c("p", "q")), d)
  expect_equal(design$columns$name, c("cut(a, breaks = c(0, 2, 10))(2,10]", "factor(s, levels = c(\"p\", \"q\"))q"))
  expect_equal(unname(design_matrix(design, d)), cbind(c(0, 1, NA, NA), c(0, 1, NA, NA)))
  numbers <- design_template(y ~ factor(a, levels = c(1, 5, 12), labels = c("x", "y", "z")), d)
  expect_equal(unname(design_matrix(numbers, d)[, 2]), c(0, 0, 1, NA))
})
