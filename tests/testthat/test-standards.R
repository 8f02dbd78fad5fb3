# What rOpenSci's standards ask of any regression software (dev/srr.R); other files test what is special to this one.

standard_bounds <- list(a = c(-1, 1), b = c(-1, 1), same = c(-1, 1), opposite = c(-1, 1))
standard_frame <- function(n = 3000, noise = 0.1) {
  set.seed(7)
  data <- data.frame(a = runif(n, -1, 1), b = runif(n, -1, 1))
  data$y <- 1 + 2 * data$a - data$b + noise * rnorm(n)
  data$class <- factor(data$y + rlogis(n) > 1, labels = c("low", "high"))
  data$same <- data$a
  data$opposite <- -data$a
  data
}
standard_fit <- function(formula, data, ..., eps = 20, seed = 1, method = "newton-ridge") {
  set.seed(seed)
  quiet_fit(formula, data, eps = eps, delta = 1e-6, bounds = standard_bounds, noise = "reproducible", method = method,
            ...)
}

#' @srrstats {RE7.1} A response that is an exact linear function of the columns: the fit finds it, with as many steps as
#'   with noise.
#' @srrstatsNA {RE7.1a} How long a fit takes must not tell what the data are: the number of steps follows from public
#'   numbers, so an exact relationship is not faster.
test_that("a response without noise is fitted as one with noise is", {
  exact <- standard_fit(y ~ a + b, standard_frame(noise = 0), loss = "squared")
  noisy <- standard_fit(y ~ a + b, standard_frame(noise = 0.5), loss = "squared")
  expect_lt(max(abs(coef(exact) - c(1, 2, -1))), 0.01)
  expect_lt(max(abs(coef(noisy) - c(1, 2, -1))), 0.1)
  expect_identical(exact$trace$what, noisy$trace$what)
})

#' @srrstats {RE7.0} Columns that are exact functions of each other: predictions are those without them, and no number
#'   is missing.
#' @srrstatsNA {RE7.0a} A fit that refused collinear columns would tell that they are, which is a fact about records.
#' @srrstatsNA {RE2.4, RE2.4a, RE2.4b} Whether columns are collinear in the data is private: a message about it would
#'   be a release. The ridge makes fits with such columns unique; what is public is refused: a column that is constant
#'   by its bounds beside the intercept, and terms given twice count once.
#' @srrstats {G5.8c} Columns that are identical, or wholly missing (also in test-checks.R).
test_that("identical and opposite columns give the predictions of one column", {
  data <- standard_frame()
  for (added in c("same", "opposite")) {
    more <- standard_fit(reformulate(c("a", "b", added), "class"), data, eps = 1000)
    less <- standard_fit(class ~ a + b, data, eps = 1000)
    expect_true(all(is.finite(coef(more))))
    expect_lt(max(abs(predict(more, data, type = "response") - predict(less, data, type = "response"))), 0.02)
  }
})

test_that("a column without a value leaves null records, and the fit says so", {
  data <- standard_frame()
  data$a <- NA_real_
  expect_identical(standard_fit(class ~ a + b, data)$status, "null")
})

#' @srrstats {G5.8, G5.8d} Extreme data (test-extremes.R), and more columns than records.
test_that("more columns than records are fitted", {
  set.seed(2)
  x <- matrix(runif(20 * 50, -1, 1), 20)
  fit <- quiet_fit(x, rep(c(TRUE, FALSE), 10), eps = 1, delta = 1e-6, radius = 5, noise = "reproducible",
                   method = "auto")
  expect_length(coef(fit), 51)
  expect_true(all(is.finite(coef(fit))))
})

#' @srrstats {G5.8a, G5.8b} No rows, one row; types that no column of a regression has.
#' @srrstats {G2.11, G2.12} Columns with classes of other packages, lists and matrices are refused, with the way to
#'   convert them: what a class means for arithmetic is not known here.
test_that("data that no regression can use are refused by type", {
  data <- standard_frame(100)
  refused <- function(column, what) {
    data$a <- column
    expect_error(standard_fit(class ~ a, data), what, class = "dpsosp_error_argument")
  }
  refused(as.list(data$a), "is a list")
  refused(cbind(data$a, data$b), "numeric matrix")
  refused(complex(real = data$a), "complex vector")
  refused(structure(data$a, class = "units", units = "m"), "units")
  refused(as.raw(seq_along(data$a)), "raw vector")
  expect_error(standard_fit(class ~ a, data[0, ]), "has no rows", class = "dpsosp_error_argument")
  expect_length(coef(standard_fit(class ~ a, data[1, ])), 2)
})

#' @srrstats {G5.9, G5.9a} Noise of the size of rounding in the data changes coefficients by no more than rounding.
#' @srrstats {G5.9b, G5.6, G5.6a, G5.6b, G5.7} Fits with several seeds recover the coefficients of simulated data within
#'   the stated noise, and the errors fall as n grows.
test_that("rounding errors in the data do not matter", {
  data <- standard_frame()
  moved <- data
  moved$a <- moved$a * (1 + .Machine$double.eps)
  fits <- lapply(list(data, moved), function(d) coef(standard_fit(class ~ a + b, d)))
  expect_lt(max(abs(fits[[1]] - fits[[2]])), 1e-6)
})

test_that("errors are small with every seed and fall with n", {
  error <- function(n) {
    data <- standard_frame(n)
    sapply(1:4, function(seed) {
      fit <- standard_fit(y ~ a + b, data, loss = "squared", eps = 1, seed = seed)
      max(abs(coef(fit) - c(1, 2, -1)))
    })
  }
  few <- error(1000)
  many <- error(30000)
  expect_lt(max(many), 0.05)
  expect_lt(max(many), min(few))
})

#' @srrstats {G2.7, G2.10} Tibbles and tables of data.table are fitted as data frames are, to the bit.
test_that("extensions of data frames give the same fit", {
  data <- standard_frame(500)
  fit <- coef(standard_fit(class ~ a + b, data))
  for (convert in list(c("tibble", "as_tibble"), c("data.table", "as.data.table"))) {
    if (!requireNamespace(convert[1], quietly = TRUE)) next
    expect_identical(coef(standard_fit(class ~ a + b, getExportedValue(convert[1], convert[2])(data))), fit)
  }
  class(data) <- c("strange", "data.frame")
  expect_identical(coef(standard_fit(class ~ a + b, data)), fit)
})

#' @srrstats {RE7.2, RE1.3} Coefficients have the names that glm() gives them; rows are not kept.
#' @srrstats {RE7.3} coef(), confint(), formula(), nobs(), vcov() and the certificate of one fit.
#' @srrstats {RE7.4, RE4.14, RE4.15} Standard errors of predictions grow with the distance from the centre of the data;
#'   values beyond a column's range are moved to its end, so nothing is extrapolated.
test_that("accessors fit together, and standard errors grow with the distance from the data's centre", {
  data <- standard_frame()
  fit <- standard_fit(y ~ a + b, data, loss = "squared", inference = "sandwich")
  expect_named(coef(fit), names(coef(stats::lm(y ~ a + b, data))))
  expect_identical(nobs(fit), nrow(data))
  expect_identical(deparse(formula(fit)), "y ~ a + b")
  expect_equal(dimnames(vcov(fit)), list(names(coef(fit)), names(coef(fit))))
  half <- stats::qnorm(0.975) * sqrt(diag(vcov(fit)))
  expect_equal(unname(confint(fit)), unname(cbind(coef(fit) - half, coef(fit) + half)), tolerance = 1e-6)
  shown <- predict(fit, data.frame(a = c(0, 0.5, 1, 2), b = 0), se.fit = TRUE)
  expect_true(all(diff(shown$se.fit[1:3]) > 0))
  expect_identical(c(shown$fit[4], shown$se.fit[4]), c(shown$fit[3], shown$se.fit[3]))
})
