# Tests of terms and hypotheses from the released covariance, and functions that would fit again.

set.seed(1)
n <- 3000
d <- data.frame(a = runif(n, -1, 1), c = runif(n, -1, 1), f = factor(sample(c("u", "v", "w"), n, TRUE)))
d$y <- factor(ifelse(rlogis(n) < d$a + 0.5 * (d$f == "w"), "yes", "no"))
range <- list(a = c(-1, 1), c = c(-1, 1))
fit_of <- function(formula, eps = 50, inference = "sandwich") {
  suppressMessages(dp_sosp(formula, d, eps = eps, delta = 1e-8, bounds = range, inference = inference,
                           noise = "reproducible", progress = FALSE))
}
set.seed(2)
fit <- fit_of(y ~ a + c + f)
charged <- function(code) {
  texts <- character()
  withCallingHandlers(code, dpsosp_message = function(m) texts <<- c(texts, class(m)[1]))
  texts
}
absent <- function(code) expect_error(code, class = "dpsosp_error_absent")

test_that("anova() has the Wald test of each term", {
  table <- anova(fit)
  expect_identical(rownames(table), c("a", "c", "f"))
  expect_identical(table$Df, c(1L, 1L, 2L))
  w <- coef(fit)
  v <- vcov(fit)
  expect_equal(table$Chisq[1], w[["a"]]^2 / v["a", "a"])
  of <- c("fv", "fw")
  expect_equal(table$Chisq[3], drop(w[of] %*% solve(v[of, of]) %*% w[of]))
  expect_equal(table[["Pr(>Chisq)"]], pchisq(table$Chisq, table$Df, lower.tail = FALSE))
  plain <- glm(y ~ a + c + f, binomial, d)
  expect_equal(table$Chisq[1], (coef(plain)[["a"]] / sqrt(vcov(plain)["a", "a"]))^2, tolerance = 0.3)
  expect_output(print(table), "Wald tests of terms")
})

test_that("p values of a column without effect are uniform", {
  set.seed(3)
  times <- long_size(100, 8)
  p <- replicate(times, {
    d$c <- runif(n, -1, 1)
    anova(suppressMessages(dp_sosp(y ~ a + c, d, eps = 5, delta = 1e-8, bounds = range, inference = TRUE,
                                   noise = "reproducible")))[["Pr(>Chisq)"]][2]
  })
  expect_gt(ks.test(p[!is.na(p)], "punif")$p.value, 1e-4)
})

test_that("coefficients that are not resolved are left out, and counted", {
  hidden <- fit
  hidden$inference$reason[["c"]] <- "noise"
  hidden$inference$reason[["fv"]] <- "noise"
  table <- anova(hidden)
  expect_identical(table$Df, c(1L, 0L, 1L))
  expect_identical(is.na(table$Chisq), c(FALSE, TRUE, FALSE))
  expect_equal(table$Chisq[3], coef(fit)[["fw"]]^2 / vcov(fit)["fw", "fw"])
  skip_if_not_installed("car")
  tested <- car::linearHypothesis(hidden, c("a = 0", "fw = 0.5"))
  expect_equal(tested$Chisq[2], car::linearHypothesis(fit, c("a = 0", "fw = 0.5"))$Chisq[2])
  expect_error(car::linearHypothesis(hidden, "a = fv"), "does not resolve `fv`", class = "dpsosp_error_absent")
})

test_that("lmtest and car test by the released covariance", {
  skip_if_not_installed("lmtest")
  skip_if_not_installed("car")
  table <- anova(fit)
  expect_length(charged(one <- lmtest::waldtest(fit, "f")), 0L)
  expect_equal(one$Chisq[2], table$Chisq[3])
  expect_equal(lmtest::waldtest(fit, . ~ . - f)$Chisq[2], table$Chisq[3])
  expect_equal(lmtest::waldtest(fit, 3)$Chisq[2], table$Chisq[3])
  smaller <- fit_of(y ~ a + c, inference = "none")
  expect_equal(lmtest::waldtest(fit, smaller)$Chisq[2], table$Chisq[3])
  expect_identical(lmtest::waldtest(fit)$Df[2], -4L)
  expect_no_match(attr(lmtest::waldtest(fit), "heading")[2], "Not tested")
  part <- fit
  part$inference$reason[2] <- "not resolved by this budget"
  expect_match(attr(lmtest::waldtest(part), "heading")[2], "Not tested, as they are not resolved: 1 of")
  expect_error(lmtest::waldtest(fit, "g"), "`a`, `c`, `f`", class = "dpsosp_error_argument")
  expect_error(lmtest::waldtest(smaller, fit), "intervals|larger", class = "dpsosp_error_argument")
  expect_equal(lmtest::coeftest(fit)[, 2], sqrt(diag(vcov(fit))))
  expect_equal(lmtest::coeftest(fit)[, 1], coef(fit))
  unseen <- fit
  unseen$inference$reason[["c"]] <- "no spread seen"
  expect_true(all(is.na(lmtest::coeftest(unseen)["c", ])))
  expect_equal(lmtest::coeftest(unseen)[-3, ], lmtest::coeftest(fit)[-3, ])
  expect_equal(car::linearHypothesis(fit, "a = 0")$Chisq[2], table$Chisq[1])
  expect_equal(car::linearHypothesis(fit, c(0, 1, 0, 0, 0))$Chisq[2], table$Chisq[1])
  expect_equal(car::Anova(fit)$Chisq, table$Chisq)
  absent(car::Anova(fit_of(y ~ a * c)))
})

test_that("nothing fits again silently", {
  skip_if_not_installed("lmtest")
  without <- fit_of(y ~ a + c, inference = "none")
  for (one in list(fit, without)) {
    expect_length(charged(absent(lmtest::lrtest(one))), 0L)
    expect_length(charged(absent(step(one))), 0L)
    expect_length(charged(absent(drop1(one))), 0L)
    expect_length(charged(absent(add1(one, ~ . + I(a^2)))), 0L)
    expect_length(charged(absent(anova(one, one))), 0L)
    expect_length(charged(absent(AIC(one))), 0L)
  }
  absent(anova(without))
  absent(lmtest::waldtest(without))
  # A function of a package that calls update(), as those of insight and MuMIn do.
  foreign <- function(object, ...) update(object, . ~ 1, ...)
  environment(foreign) <- asNamespace("tools")
  expect_length(charged(expect_error(foreign(fit), "package tools would fit again", class = "dpsosp_error_absent")), 0L)
  expect_error(foreign(fit, evaluate = FALSE), class = "dpsosp_error_absent")
  expect_true(is.call(foreign(without, eps = 1, evaluate = FALSE)))
  skip_if_not_installed("insight")
  expect_length(charged(try(insight::null_model(fit), silent = TRUE)), 0L)
})

test_that("covariances of records and clusters say where they come from", {
  skip_if_not_installed("sandwich")
  expect_error(sandwich::vcovCL(fit, ~f), "with `id`", class = "dpsosp_error_absent")
  expect_error(sandwich::vcovHC(fit), "with `id`", class = "dpsosp_error_absent")
  expect_error(sandwich::sandwich(fit), "with `id`", class = "dpsosp_error_absent")
})

test_that("parameters shows the same table as tidy()", {
  skip_if_not_installed("parameters")
  shown <- parameters::model_parameters(fit, ci = 0.9)
  expect_equal(shown$Coefficient, unname(coef(fit)))
  expect_equal(shown$CI_low, unname(confint(fit, level = 0.9)[, 1]))
  without <- parameters::model_parameters(fit_of(y ~ a, inference = "none"))
  expect_identical(names(without), c("Parameter", "Coefficient"))
})
