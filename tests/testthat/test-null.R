# A fit of null records stops: what is spent, what is left, and what can be asked of a fit without coefficients.

n <- 4000
set.seed(1)
d <- data.frame(a = runif(n), w = runif(n, 100, 5000), b = NA_real_, k = rpois(n, 2))
d$z <- d$a + rnorm(n)
d$y <- factor(ifelse(runif(n) < d$a, "yes", "no"))
d$g <- factor(sample(c("p", "q", "r"), n, TRUE))
null_fit <- function(..., budget = NULL) {
  if (is.null(budget)) budget <- dp_budget(eps = 4, delta = 1e-8)
  fit <- suppressWarnings(suppressMessages(dp_sosp(..., budget = budget, noise = "reproducible", progress = FALSE)))
  state <- dpsosp:::budget_state(budget)
  list(fit = fit, left = state$left / state$capacity, what = state$what)
}
unit <- list(a = I(c(0, 1)), b = I(c(0, 1)))

test_that("nothing is spent once the released fraction says that no record is used", {
  set.seed(2)
  usable <- function(...) {
    found <- null_fit(...)
    expect_identical(found$fit$status, "null")
    expect_true(all(is.na(unlist(coef(found$fit)))))
    expect_identical(found$fit$trace$query, character())
    found
  }
  # By the level of the response, by moments, by a release of its own.
  expect_gt(usable(z ~ a + b, d, loss = "squared", bounds = unit)$left, 0.8)
  expect_gt(usable(k ~ a + b, d, loss = "poisson", bounds = unit)$left, 0.4) # the level of counts costs more
  expect_gt(usable(y ~ a + b, d, bounds = unit)$left, 0.85)
  weighted <- usable(z ~ a, d, loss = "squared", weights = w, bounds = unit["a"], inference = "sandwich")
  expect_gt(weighted$left, 0.85)
  expect_identical(utils::tail(weighted$what, 1), "usable records")
  expect_gt(usable(g ~ a + b, d, bounds = unit)$left, 0.8)
  expect_gt(usable(y ~ 0 + a, d, bounds = unit["a"], weights = w)$left, 0.9)
  for (method in long_values(c("newton", "gd", "2opt-ls", "outpert"))) {
    expect_gt(usable(y ~ a + b, d, bounds = unit, method = method, geometry = "none")$left, 0.85)
  }
  expect_gt(usable(y ~ a + b, d, bounds = unit, model = model_mlp(2), method = "blgd")$left, 0.9)
  source <- in_chunks(d, 1000)
  expect_gt(usable(y ~ a + b, dp_source(source), bounds = unit)$left, 0.85)
  d$who <- rep_len(seq_len(n / 2), n)
  expect_gt(usable(y ~ a + b, d, bounds = unit, id = who)$left, 0.8)
})

test_that("a budget of its own has the rest as unused, and one with a store keeps what was reserved", {
  fit <- suppressWarnings(suppressMessages(dp_sosp(y ~ b, d, eps = 4, delta = 1e-8, bounds = unit["b"],
                                                   method = "newton", inference = "sandwich")))
  ledger <- dp_ledger(fit)
  expect_identical(ledger$what[nrow(ledger) - 1:0], c("usable records", "unused"))
  expect_gt(ledger$rho[nrow(ledger)] / sum(ledger$rho), 0.9)
  expect_true(dp_verify(fit)$agrees)
  skip_if_not_installed("RSQLite")
  withr::local_envvar(R_USER_CONFIG_DIR = withr::local_tempdir())
  store <- dp_budget(eps = 9, delta = 1e-9, store = withr::local_tempfile(fileext = ".dpledger"))
  text <- NULL
  fit <- withCallingHandlers(
    suppressWarnings(dp_sosp(y ~ b, d, eps = 4, bounds = unit["b"], method = "newton", budget = store)),
    dpsosp_message = function(m) {
      if (inherits(m, "dpsosp_message_null")) text <<- conditionMessage(m)
      invokeRestart("muffleMessage")
    })
  expect_match(text, "is not spent, and stays reserved")
  expect_true(dp_verify(fit, store)$agrees)
})

test_that("records that are used are never stopped, and few of them with weights are told", {
  set.seed(3)
  d$v <- ifelse(seq_len(n) %% 10 < 2, 0.5, 7)
  expect_message(expect_warning(
    fit <- dp_sosp(y ~ a, d, eps = 1, delta = 1e-8, bounds = unit["a"], weights = v, noise = "reproducible"),
    "Only about .* of the records are used. A record whose weight", class = "dpsosp_warning_checks"
  ), "whose weight is not above 0 and at most 1", class = "dpsosp_message_weights")
  expect_false(anyNA(coef(fit)))
})

test_that("what weights drop is told before anything is charged", {
  order <- character()
  budget <- dp_budget(eps = 1, delta = 1e-8)
  withCallingHandlers(suppressWarnings(dp_sosp(z ~ a, d, loss = "squared", weights = w, budget = budget)),
                      dpsosp_message_weights = function(m) {
                        order <<- c(order, length(dpsosp:::budget_state(budget)$what))
                      }, message = function(m) invokeRestart("muffleMessage"))
  expect_identical(order, "0")
})

test_that("a fit without coefficients answers with NA, or says why", {
  fits <- list(null_fit(y ~ a + b, d, bounds = unit)$fit, null_fit(z ~ a + b, d, bounds = unit, loss = "squared")$fit,
               null_fit(g ~ a + b, d, bounds = unit)$fit, null_fit(y ~ s(a) + b, d, bounds = unit)$fit,
               null_fit(y ~ a + b, d, bounds = unit, model = model_mlp(2), method = "blgd")$fit,
               null_fit(cbind(d$a, d$b), d$y, radius = 2, method = "newton")$fit)
  for (fit in fits) {
    new <- if (is.null(fit$design) || dpsosp:::is_matrix_design(fit$design)) cbind(d$a, d$a)[1:3, ] else
      transform(d[1:3, ], b = 0.5)
    for (type in c("link", "response", if (fit$response$kind != "bounded") "class")) {
      expect_true(all(is.na(predict(fit, new, type = type))), info = type)
    }
    for (shown in list(print, summary)) {
      text <- paste(capture.output(print(shown(fit))), collapse = " ")
      expect_match(text, "records were *null|look as if")
      expect_false(grepl("NA +NA|\\bNaN\\b", text))
    }
    expect_s3_class(generics::glance(fit), "data.frame")
    added <- generics::augment(fit, new)
    expect_true(all(is.na(added[grep("fitted", names(added))])))
    expect_true(dp_verify(fit)$agrees)
    expect_output(print(dp_report(fit)))
    if (inherits(fit, "dp_network")) next
    expect_true(all(is.na(generics::tidy(fit)$estimate)))
    absent <- function(code) expect_error(code, "no coefficients", class = "dpsosp_error_absent")
    absent(vcov(fit))
    absent(confint(fit))
    absent(sigma(fit))
    spend <- dp_budget(eps = 1, delta = 1e-8)
    if (dpsosp:::is_matrix_design(fit$design)) next
    absent(dp_inference(fit, d, budget = spend))
    absent(dp_evaluate(fit, d, budget = spend))
    absent(dp_certify(fit, d, budget = spend))
    absent(plot(fit))
    expect_identical(dpsosp:::budget_state(spend)$what, character())
  }
})

test_that("candidates without records do not end a choice", {
  set.seed(4)
  quiet <- function(code) suppressWarnings(suppressMessages(code))
  tuned <- quiet(dp_tune(list(a = list(bounds = unit["a"]), b = list(formula = y ~ b, bounds = unit["b"])), y ~ a,
                         d, eps = 20, delta = 1e-6, strategy = "split", noise = "reproducible"))
  expect_identical(tuned$chosen, "a")
})
