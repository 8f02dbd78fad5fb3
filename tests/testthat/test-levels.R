# Levels that nobody declared, in a call and in new data.

levels_frame <- function(n = 120) {
  set.seed(5)
  d <- data.frame(a = runif(n, -1, 1), sex = factor(sample(c("f", "m"), n, TRUE), c("f", "m")),
                  size = factor(sample(1:3, n, TRUE), 1:3, c("low", "mid", "high"), ordered = TRUE),
                  code = factor(sample(1:2, n, TRUE)), text = sample(c("p", "q"), n, TRUE))
  d$y <- d$a + rlogis(n) > 0
  d
}
of_levels <- function(...) {
  quiet_fit(..., eps = 1, delta = 1e-6, bounds = list(a = c(-1, 1)), method = "auto", noise = "reproducible")
}

test_that("a comparison with an undeclared level is refused before anything is charged, wherever it stands", {
  d <- levels_frame()
  budget <- dp_budget(rho = 1)
  refused <- function(...) {
    conditionMessage(expect_error(quiet_fit(..., budget = budget), "no declared level",
                                  class = "dpsosp_error_argument"))
  }
  expect_match(refused(y ~ a, d, subset = sex == "F"), "`sex == \"F\"` compares with \"F\".*Did you mean \"f\"")
  refused(y ~ a, d, subset = a > 0 & !("F" != sex))
  refused(y ~ a, d, weights = ifelse(sex == "F", 1, 0.5))
  refused(y ~ a + I(sex == "F"), d)
  refused(y ~ a + ifelse(sex %in% c("f", "male"), a, 0), d)
  refused(I(sex == "F") ~ a, d)
  refused(y ~ a + offset(a * (sex == "F")), d)
  refused(y ~ a, d, subset = size >= "hi")
  refused(y ~ a, d, subset = code == 3)
  refused(y ~ a + factor(sex, levels = c("F", "M")), d)
  refused(factor(sex, c("F", "M")) ~ a, d)
  refused(y ~ a, d, subset = cut(a, c(-1, 0, 1), c("neg", "pos")) == "plus")
  who <- "F"
  refused(y ~ a, d, subset = sex == who)
  source <- dp_source(in_chunks(transform(d, sex = as.character(sex)), 50), n = 120, levels = levels_of(d))
  refused(y ~ a, source, subset = sex == "F")
  expect_equal(nrow(dp_ledger(budget)), 0)
  many <- transform(d, sex = factor("l1", paste0("l", 1:300)))
  expect_match(refused(y ~ a, many, subset = sex == "z"), "\"l10\" and others.", fixed = TRUE)
})

test_that("declared levels, missing values and columns without levels may be compared", {
  d <- levels_frame()
  for (subset in expression(sex == "f", "m" != sex, sex %in% c("f", NA), size >= "mid", code == 1, text == "z",
                            sex == sex, a == 7)) {
    fit <- eval(bquote(of_levels(y ~ a, d, subset = .(subset))))
    expect_s3_class(fit, "dp_sosp")
  }
})

test_that("predict() names the columns of levels that were not declared, and they have no prediction", {
  d <- levels_frame()
  fit <- of_levels(y ~ a + sex + code, d, subset = size == "low")
  new <- data.frame(a = 0, sex = c("f", "x", NA), code = c(1, 1, 2), size = "none")
  condition <- expect_warning(link <- predict(fit, transform(new, code = as.character(code))),
                              class = "dpsosp_warning_levels")
  expect_match(conditionMessage(condition), "levels of `sex` that", fixed = TRUE)
  expect_identical(is.na(link), c(FALSE, TRUE, TRUE))
  expect_no_warning(predict(fit, d))
  expect_no_warning(predict(fit, transform(d, sex = NA)))
  network <- quiet_fit(y ~ a + sex, d, eps = 1, delta = 1e-6, model = model_mlp(2), bounds = list(a = c(-1, 1)),
                       method = "sgd")
  expect_warning(predict(network, new), "`sex`", class = "dpsosp_warning_levels")
})

test_that("protected records with such levels raise no condition", {
  d <- levels_frame()
  fit <- of_levels(y ~ a + sex, d)
  with_level <- transform(d, sex = replace(as.character(sex), 1, "x"))
  expect_no_warning(suppressMessages(dp_evaluate(fit, with_level, eps = 1, delta = 1e-6)))
  expect_no_warning(suppressMessages(dp_certify(fit, with_level, eps = 1, delta = 1e-6)))
  expect_no_warning(suppressMessages(dp_inference(fit, with_level, eps = 1, delta = 1e-6)),
                    class = "dpsosp_warning_levels")
})
