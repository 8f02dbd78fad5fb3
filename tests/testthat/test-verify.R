# Guarantees follow from their ledgers, and a statement that was edited does not.

d <- problem_frame(1200)
frame_fit <- function(method, ..., formula = y ~ a + b, eps = 1, data = d) {
  quiet_fit(formula, data, method = method, eps = eps, delta = 1e-6, ...)
}
checks_that_fail <- function(x, ...) {
  checks <- dp_verify(x, ...)$checks
  checks$check[!checks$agrees]
}
edited <- function(fit, name, value) {
  fit$privacy[[name]] <- value
  fit
}
edited_row <- function(fit, row, name, factor = 2) {
  fit$privacy$ledger[[name]][row] <- factor * fit$privacy$ledger[[name]][row]
  fit
}

# A fit for each accountant and each mechanism.
fits <- list(
  gdp = frame_fit("newton-ridge"), several = frame_fit("2opt-ls"), zcdp = frame_fit("agd"), svt = frame_fit("blgd"),
  renyi = frame_fit("tr-b"), batch = frame_fit("blsgd"), perturbed = frame_fit("objpert"), fresh = frame_fit("spider"),
  network = frame_fit("sgd", model = model_mlp(hidden = 2)), minimiser = frame_fit("outpert")
)

test_that("the guarantee of every method follows from its ledger, under both relations", {
  for (method in long_values(dpsosp:::method_names(), 1)) {
    for (neighbours in c("replace-one", "zero-out")) {
      loss <- if (method %in% dpsosp:::methods_with("nonconvex")) "sigmoid" else "logistic"
      expect_identical(checks_that_fail(frame_fit(method, neighbours = neighbours, loss = loss)), character(),
                       label = paste(method, neighbours))
    }
  }
  for (method in long_values(dpsosp:::method_names(TRUE), 2)) {
    expect_true(dp_verify(frame_fit(method, model = model_mlp(hidden = 2)))$agrees, label = method)
  }
  for (fit in fits) expect_true(dp_verify(fit)$agrees)
})

test_that("all mechanisms of the core are among the fits", {
  seen <- unique(unlist(lapply(fits, function(fit) fit$privacy$ledger$mechanism)))
  expect_setequal(c(setdiff(seen, "none"), "random runs"), names(dpsosp:::row_costs)) # the last is dp_tune()'s, below
  expect_gt(max(dp_ledger(fits$several)$values), 1)
})

test_that("losses, forms of data and small and large budgets have it, too", {
  numbers <- quiet_fit(a ~ b, d, method = "auto", eps = 1, delta = 1e-6, loss = loss_huber(c(0, 25)))
  expect_true(dp_verify(numbers)$agrees)
  expect_true(dp_verify(quiet_fit(f ~ a + b, d, method = "gd", eps = 1, delta = 1e-6))$agrees)
  expect_true(dp_verify(frame_fit("newton-ridge", data = dp_source(in_chunks(d, 500)), bounds = frame_bounds))$agrees)
  pushed <- push_pair(sqlite_connection(), d)$push
  expect_true(dp_verify(frame_fit("newton-ridge", data = pushed, bounds = frame_bounds))$agrees)
  for (eps in c(0.01, 50)) {
    expect_true(dp_verify(frame_fit("newton-ridge", eps = eps))$agrees)
    expect_true(dp_verify(frame_fit("agd", eps = eps))$agrees)
  }
})

test_that("an edited number is found, whichever it is", {
  for (name in long_values(names(fits))) {
    fit <- fits[[name]]
    for (eps in c(0.1, 1 - 1e-6, 1 + 1e-6, 3)) expect_true("eps" %in% checks_that_fail(edited(fit, "eps", eps)))
    expect_true("eps" %in% checks_that_fail(edited(fit, "delta", 1e-5)), label = name)
    expect_identical(checks_that_fail(edited(fit, "rho", fit$privacy$rho / 2))[1], "total")
    other <- setdiff(c("replace-one", "zero-out"), fit$privacy$neighbours)
    expect_true("relation" %in% checks_that_fail(edited(fit, "neighbours", other)))
    for (row in unique(c(1, nrow(fit$privacy$ledger) - 1))) {
      removed <- edited(fit, "ledger", fit$privacy$ledger[-row, ])
      expect_true(all(c("eps", "total") %in% checks_that_fail(removed)), label = name)
      expect_identical(checks_that_fail(edited_row(fit, row, "scale")), "rows", label = name)
      expect_identical(checks_that_fail(edited_row(fit, row, "sensitivity", 1 + 1e-6)), "rows", label = name)
      expect_true(all(c("eps", "total", "rows") %in% checks_that_fail(edited_row(fit, row, "rho"))), label = name)
      fit$privacy$ledger$neighbours[row] <- other
      expect_identical(checks_that_fail(fit), "relation")
      fit <- fits[[name]]
    }
    accountants <- setdiff(names(dpsosp:::accountant_texts), fit$privacy$accountant)
    for (accountant in accountants) {
      expect_true("eps" %in% checks_that_fail(edited(fit, "accountant", accountant)), label = paste(name, accountant))
    }
  }
  expect_identical(checks_that_fail(edited_row(fits$several, which.max(fits$several$privacy$ledger$values), "values")),
                   "rows")
  expect_identical(checks_that_fail(edited_row(fits$renyi, 1, "values")), "rows")
  svt <- fits$svt
  line <- which(svt$privacy$ledger$mechanism == "sparse vector")[1]
  expect_identical(checks_that_fail(edited_row(svt, line, "values", 10)), "rows")
  expect_identical(checks_that_fail(edited(fits$renyi, "order", 2 * fits$renyi$privacy$order))[1], "eps")
})

test_that("a mechanism that the accountant cannot count is found", {
  fit <- fits$zcdp
  fit$privacy$accountant <- "gdp"
  fit$privacy$eps <- dp_convert(mu = sqrt(2 * fit$privacy$rho), delta = 1e-6, to = "eps")
  expect_identical(checks_that_fail(fit), "accountant")
})

test_that("what a perturbed minimiser supposes is compared with the fit", {
  fit <- fits$perturbed
  expect_true("minimiser" %in% checks_that_fail(edited(fit, "lambda", fit$privacy$lambda / 2)))
  how <- fit$privacy$perturbed
  for (name in names(how)) {
    less <- how
    less[name] <- if (name == "one_sign") 0 else how[name] / 2
    expect_gt(length(checks_that_fail(edited(fit, "perturbed", less))), 0)
  }
  # Without its determinant the same releases would have a smaller eps.
  gaussian <- dp_convert(mu = sqrt(2 * fit$privacy$rho), delta = 1e-6, to = "eps")
  expect_lt(gaussian, 0.95)
  expect_identical(checks_that_fail(edited(fit, "eps", gaussian)), "eps")
})

test_that("eps is that of the closed forms", {
  p <- fits$gdp$privacy
  mu <- sqrt(sum(p$ledger$mu^2))
  eps <- p$eps
  expect_equal(pnorm(mu / 2 - eps / mu) - exp(eps) * pnorm(-mu / 2 - eps / mu), 1e-6, tolerance = 1e-8)
  expect_equal(p$mu, mu, tolerance = 1e-9)
  expect_identical(is.na(fits$zcdp$privacy$mu), TRUE)
  p <- fits$renyi$privacy
  r <- p$order * sum(p$ledger$rho)
  expect_equal(p$eps, r + log1p(-1 / p$order) - log(p$delta * p$order) / (p$order - 1), tolerance = 1e-9)
})

test_that("evaluations, certificates, intervals and tuned fits are verified", {
  more <- problem_frame(2000)
  expect_true(dp_verify(suppressMessages(dp_evaluate(fits$gdp, more, eps = 1, delta = 1e-6)))$agrees)
  fit <- fits$several
  expect_true(dp_verify(suppressMessages(dp_certify(fit, more, eps = 1, delta = 1e-6)))$agrees)
  fit <- suppressMessages(dp_inference(fits$gdp, d, eps = 1, delta = 1e-6))
  expect_true(dp_verify(fit)$agrees)
  expect_setequal(dp_verify(fit)$checks$part, c("result", "intervals"))
  fit$inference$privacy$eps <- 0.5
  expect_identical(checks_that_fail(fit), "eps")
  expect_match(paste(capture.output(print(fit)), collapse = " "), "stated eps = 0.5 does not follow from its ledger")
  split <- quiet_fit(y ~ a + b, more, eps = 1, delta = 1e-6, certificate = "population")
  expect_true(dp_verify(split)$agrees)
  split$population$privacy$delta <- 1e-9
  expect_identical(checks_that_fail(split), "eps")
})

test_that("a tuned fit is verified, by its own account", {
  for (strategy in long_values(c("split", "poisson", "geometric"))) {
    tuned <- suppressMessages(dp_tune(list(one = list(method = "gd"), two = list(method = "newton")), y ~ a + b, d,
                                      eps = 2, delta = 1e-6, strategy = strategy))
    expect_true(dp_verify(tuned)$agrees)
    expect_true(dp_verify(tuned$fit)$agrees)
    expect_true("eps" %in% checks_that_fail(edited(tuned, "eps", 1)))
    expect_true("rows" %in% checks_that_fail(edited_row(tuned, 1, "rho", 1.1)))
    if (strategy == "split") {
      tuned$privacy$tuning$choice$rho <- 4 * tuned$privacy$tuning$choice$rho
      expect_identical(checks_that_fail(tuned), c("eps", "rows"))
    }
  }
  tuned$privacy$tuning$mu <- tuned$privacy$tuning$mu / 2
  expect_identical(checks_that_fail(tuned), "rows")
})

test_that("of a shared budget a fit may spend less than it states", {
  budget <- dp_budget(eps = 2, delta = 1e-6)
  fit <- quiet_fit(y ~ a + b, d, method = "newton-ridge", eps = 0.5, budget = budget)
  expect_true(dp_verify(fit)$agrees)
  expect_true(dp_verify(edited(fit, "ledger", fit$privacy$ledger[-1, ]))$agrees)
  expect_true("total" %in% checks_that_fail(edited_row(fit, 1, "rho", 100)))
  expect_true("eps" %in% checks_that_fail(edited(fit, "eps", 0.4)))
})

test_that("a receipt is that of the reservation", {
  check <- function(receipt, row) dpsosp:::receipt_check(c(fits$gdp$privacy, list(receipt = receipt)), row)
  receipt <- list(study = "s", number = 3, hash = "ab")
  rho <- fits$gdp$privacy$rho
  row <- list(number = 3, hash = "ab", relation = "replace-one", rho = rho)
  expect_true(check(receipt, row)$agrees)
  other <- c(row[c("number", "hash", "relation")], other_eps = 1, other_delta = 1e-6)
  expect_true(check(receipt, other)$agrees)
  expect_false(check(receipt, replace(other, "other_eps", 0.9))$agrees)
  expect_false(check(receipt, replace(other, "other_delta", 1e-7))$agrees)
  expect_match(check(NULL, row)$says, "has none")
  expect_match(check(receipt, NULL)$says, "no reservation 3")
  expect_false(check(receipt, replace(row, "hash", "ac"))$agrees)
  expect_false(check(receipt, c(row, study = "t"))$agrees)
  expect_match(check(receipt, replace(row, "rho", rho / 2))$says, "is for less")
  expect_match(check(receipt, replace(row, "relation", "zero-out"))$says, "is for zero-out")
  store <- structure(class = "dp_budget", list(store = "no file", pointer = NULL))
  expect_identical(checks_that_fail(fits$gdp, store), "receipt")
  expect_error(dp_verify(fits$gdp, dp_budget(mu = 1)), "keeps no reservations", class = "dpsosp_error_argument")
})

test_that("print() shows the eps of the ledger where another one is stated", {
  text <- function(x) paste(capture.output(print(x)), collapse = " ")
  for (fit in fits) {
    expect_no_match(text(fit), "does not follow")
    expect_match(text(edited(fit, "eps", 0.1)), "eps = 1, .*the stated eps = 0.1 does not follow from its ledger")
  }
  expect_match(text(edited(fits$renyi, "order", NULL)), "and no other +does")
  expect_match(text(dp_verify(fits$gdp)), "the guarantee follows from its ledger")
  expect_match(text(dp_verify(edited(fits$gdp, "eps", 0.1))), "FAILS  eps .*1 by the ledger, 0.1 stated")
  evaluation <- suppressMessages(dp_evaluate(fits$gdp, d, eps = 1, delta = 1e-6))
  expect_match(text(edited(evaluation, "eps", 0.1)), "does not follow")
})

test_that("the ledger of several fits says whose rows they are", {
  second <- fits$zcdp
  receipt <- list(study = "s", number = 4, hash = "")
  second$privacy[c("label", "receipt")] <- list("wave 2", receipt)
  ledger <- dp_ledger(list(main = fits$gdp, second))
  rows <- c(nrow(dp_ledger(fits$gdp)), nrow(dp_ledger(second)))
  expect_identical(names(ledger), c("fit", "label", "receipt", names(dp_ledger(second))))
  expect_identical(ledger$fit, rep(c("main", "2"), rows))
  expect_identical(ledger$label, rep(c(NA, "wave 2"), rows))
  expect_equal(ledger$receipt, rep(c(NA, 4), rows))
  expect_equal(ledger$rho, c(dp_ledger(fits$gdp)$rho, dp_ledger(second)$rho))
  expect_error(dp_ledger(list()), "empty list", class = "dpsosp_error_argument")
  expect_error(dp_ledger(list(1)), "must be a fit", class = "dpsosp_error_argument")
  expect_error(dp_verify(3), "must be a fit", class = "dpsosp_error_argument")
})
