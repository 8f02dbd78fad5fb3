test_that("a store is created once, and opened by its name or by the same arguments", {
  path <- local_stores()
  expect_error(dp_budget(store = path), class = store_error)
  expect_false(file.exists(path))
  expect_message(b <- dp_budget(eps = 2, delta = 1e-7, store = path, other = c(eps = 0.2, delta = 1e-8)),
                 class = "dpsosp_message_store")
  opened <- dp_budget(store = path)
  expect_equal(opened, b)
  expect_equal(new_store(path, other = c(delta = 1e-8, eps = 0.2)), b)
  expect_equal(dp_budget(store = path, delta = 1e-7, accountant = "gdp", neighbours = "replace-one"), b)
  expect_error(new_store(path), "other", class = "dpsosp_error_argument")
  expect_error(new_store(path, eps = 3, other = b$other), "eps", class = "dpsosp_error_argument")
  expect_error(dp_budget(store = path, delta = 1e-6), "delta", class = "dpsosp_error_argument")
  expect_error(dp_budget(store = path, accountant = "zcdp"), "accountant", class = "dpsosp_error_argument")
  expect_error(dp_budget(store = path, neighbours = "zero-out"), "neighbours", class = "dpsosp_error_argument")
  expect_error(dp_budget(store = path, other = c(eps = 0.1, delta = 1e-8)), "other", class = "dpsosp_error_argument")
})

test_that("arguments of a store are refused", {
  path <- local_stores()
  refused <- function(...) expect_error(dp_budget(..., store = path), class = "dpsosp_error_argument")
  refused(rho = 1)
  refused(mu = 1)
  refused(eps = 1)
  refused(eps = 1, delta = 1e-7, accountant = "renyi")
  refused(eps = 1, delta = 1e-7, other = c(0.1, 1e-8))
  refused(eps = 1, delta = 1e-7, other = c(eps = 1, delta = 1e-8))
  refused(eps = 1, delta = 1e-7, other = c(eps = 0.1, delta = 1e-7))
  refused(eps = 1, delta = 1e-7, study = "s")
  refused(eps = 1, delta = 1e-7, neighbours = "add-remove")
  plan <- event_gaussian(0.3)
  expect_error(dp_budget(eps = 1, delta = 1e-7, plan = plan, accountant = "gdp", store = path),
               "implies `accountant = \"renyi\"`", fixed = TRUE, class = "dpsosp_error_argument")
  expect_error(dp_budget(eps = 1, delta = 1e-7, plan = plan, neighbours = "zero-out", store = path),
               "and its own `neighbours`", class = "dpsosp_error_argument")
  expect_error(dp_budget(eps = 1, delta = 1e-7, plan = plan, other = c(eps = 0.9, delta = 5e-8), store = path),
               "leaves nothing for other fits", class = "dpsosp_error_argument")
  expect_false(file.exists(path))
  expect_error(dp_budget(eps = 1, delta = 1e-7, store = 1), class = "dpsosp_error_argument")
  expect_error(dp_budget(eps = 1, delta = 1e-7, store = file.path(path, "x")), class = store_error)
  for (extra in list(list(study = "s"), list(other = c(eps = 0.1, delta = 1e-8)), list(neighbours = "zero-out"))) {
    expect_error(do.call(dp_budget, c(list(eps = 1, delta = 1e-7), extra)), names(extra),
                 class = "dpsosp_error_argument")
  }
  expect_error(dpsosp:::need_packages(c("DBI", "noSuchPackage")), "install.packages", class = store_error)
})

test_that("a fit reserves what it names, spends that, and keeps a receipt", {
  path <- local_stores()
  b <- new_store(path)
  fit <- store_fit(b, eps = 0.5, label = "main model")
  rho <- dp_convert(eps = 0.5, delta = 1e-7, to = "mu")^2 / 2
  ledger <- dp_ledger(b)
  expect_equal(nrow(ledger), 1L)
  expect_identical(ledger$rho, rho)
  expect_equal(sum(dp_ledger(fit)$rho) / rho, 1, tolerance = 1e-9)
  expect_identical(fit$privacy$eps, 0.5)
  expect_identical(fit$privacy$delta, 1e-7)
  expect_identical(fit$privacy$label, "main model")
  expect_identical(fit$privacy$receipt, list(study = b$id, number = 1L, hash = ledger$hash))
  expect_identical(ledger$label, "main model")
  expect_identical(ledger$n, 300)
  expect_identical(ledger$method, fit$method)
  expect_identical(ledger$accountant, "gdp")
  expect_match(ledger$call, "y ~ x", fixed = TRUE)
  row <- dpsosp:::store_row(b, 1L)
  expect_identical(row[c("study", "number", "hash")], fit$privacy$receipt)
  expect_identical(row$rho, rho)
  expect_null(dpsosp:::store_row(b, 2L))
  expect_null(store_fit(NULL, eps = 0.5)$privacy$receipt)
  expect_output(print(fit), "study.dpledger", fixed = TRUE)
  expect_output(print(b), "in 1 reservation by 1 person", fixed = TRUE)
})

test_that("without eps a fit says what is left, and wrong arguments reserve nothing", {
  path <- local_stores()
  b <- new_store(path, eps = 1)
  expect_error(store_fit(b), "eps = 1 for one more fit", class = "dpsosp_error_argument")
  expect_error(dp_reserve(b), "eps = 1 for one more fit", class = "dpsosp_error_argument")
  argument <- "dpsosp_error_argument"
  expect_error(store_fit(b, eps = 0.5, method = "newton", penalty = penalty_nonconvex(0.1)), class = argument)
  expect_error(store_fit(b, eps = 0.5, label = "two\nlines"), class = argument)
  expect_error(store_fit(b, eps = 0.5, label = strrep("x", 201)), class = argument)
  expect_error(store_fit(b, eps = 0.5, neighbours = "zero-out"), class = "dpsosp_error_relation")
  expect_error(store_fit(b, eps = 0.5, method = "objpert"), class = "dpsosp_error_accountant")
  expect_error(store_fit(b, eps = 0.5, method = "sgd"), class = "dpsosp_error_accountant")
  expect_error(dp_oracle(as.matrix(store_data()$x), store_data()$y, "logistic", b, radius = 2), "dp_reserve",
               class = argument)
  expect_error(dp_reserve(dp_budget(mu = 1), eps = 1), class = argument)
  for (wrong in list(NA, "a", -1, 0, c(0.1, 0.2), NULL, list(), NaN)) {
    expect_error(dp_reserve(b, eps = wrong), class = argument)
    if (!is.null(wrong)) expect_error(dp_reserve(b, eps = 0.1, delta = wrong), class = argument)
    if (!is.null(wrong) && !identical(wrong, "a")) expect_error(dp_reserve(b, 0.1, label = wrong), class = argument)
  }
  expect_error(dp_reserve(b, eps = 0.1, labels = "x"), class = argument)
  expect_error(dp_reserve(b, eps = Inf), class = "dpsosp_error")
  expect_error(store_fit(b, eps = 1.01), class = exhausted)
  expect_equal(nrow(dp_ledger(b)), 0L)
  fit <- store_fit(b, eps = 1)
  expect_error(store_fit(b, eps = 1e-3), class = exhausted)
  expect_equal(nrow(dp_ledger(b)), 1L)
})

test_that("the row is there before the data are read", {
  path <- local_stores()
  b <- new_store(path)
  d <- store_data()
  rows <- integer()
  source <- dp_source(function() {
    done <- FALSE
    function() {
      if (done) return(NULL)
      rows <<- c(rows, nrow(dp_ledger(b)))
      done <<- TRUE
      d
    }
  }, n = nrow(d))
  before <- length(rows)
  store_fit(b, data = source, eps = 0.5)
  expect_gt(length(rows), before)
  expect_true(all(rows[-seq_len(before)] == 1L))
})

test_that("what is written does not depend on the data", {
  path <- local_stores()
  b <- new_store(path)
  for (seed in 1:2) {
    d <- store_data(seed = seed)
    store_fit(b, eps = 0.2, data = d)
  }
  rows <- dpsosp:::stored_state(b)$rows
  chained <- c("number", "time", "nonce", "previous", "hash")
  expect_identical(as.list(rows[1, setdiff(names(rows), chained)]), as.list(rows[2, setdiff(names(rows), chained)]))
  given <- do.call(store_fit, list(b, data = store_data(), eps = 0.1))
  expect_lt(nchar(dp_ledger(b)$call[3]), 200)
})

# The table of ?"budget-stores".
test_that("each accountant counts what it can, the other part the rest", {
  path <- local_stores()
  other <- c(eps = 1, delta = 5e-8)
  plan <- event_repeat(event_subsample(event_gaussian(4), rate = 0.1), times = 100)
  stores <- list(
    gdp = new_store(paste0(path, "1"), eps = 8, other = other),
    zcdp = new_store(paste0(path, "2"), eps = 8, other = other, accountant = "zcdp"),
    renyi = new_store(paste0(path, "3"), eps = 8, other = other, plan = plan)
  )
  # At one Renyi order a small eps has no cost.
  paid <- function(b, method, eps = if (b$accountant == "renyi" && method != "objpert") 2 else 0.3) {
    fit <- store_fit(b, eps = eps, delta = 1e-8, method = method)
    expect_equal(fit$privacy$eps, eps)
    utils::tail(dp_ledger(b), 1)$accountant
  }
  expect_error(paid(stores$renyi, "newton", 1e-4), "too small", class = "dpsosp_error_argument")
  # The same share of both parts: 0.3 of eps = 1 is 0.3 of delta = 5e-8.
  expect_error(store_fit(stores$gdp, eps = 0.3, method = "objpert"), "give a `delta` of this part, such as 1.5e-08",
               class = "dpsosp_error_accountant")
  expect_equal(nrow(dp_ledger(stores$gdp)), 0)
  expected <- list(newton = names(stores), spider = names(stores), blgd = c("other", "zcdp", "renyi"),
                   sgd = c("other", "other", "renyi"), objpert = rep("other", 3))
  for (method in names(expected)) {
    expect_identical(unname(vapply(stores, paid, "", method = method)), expected[[method]])
  }
})

test_that("sums of the other part are exact up to a billionth, which the capacity pays for", {
  path <- local_stores()
  b <- new_store(path, other = c(eps = 0.3, delta = 3e-8))
  expect_error(store_fit(b, eps = 0.1, delta = 3.001e-8, method = "objpert"), class = exhausted)
  expect_error(store_fit(b, eps = 0.3001, delta = 1e-8, method = "objpert"), class = exhausted)
  for (i in 1:3) store_fit(b, eps = 0.1, delta = 1e-8, method = "objpert")
  expect_gt(0.1 + 0.1 + 0.1, 0.3)
  expect_error(store_fit(b, eps = 1e-6, delta = 1e-12, method = "objpert"), class = exhausted)
  capacity <- as.numeric(dpsosp:::stored_state(b)$study$capacity)
  slack <- 1 + 1e-9
  expect_identical(capacity, dp_convert(eps = 2 - 0.3 * slack, delta = 1e-7 - 3e-8 * slack, to = "mu")^2 / 2)
  expect_lt(capacity, dp_convert(eps = 1.7, delta = 7e-8, to = "mu")^2 / 2)
  expect_output(print(b), "eps 0 of 0.3, delta 0 of 3e-08", fixed = TRUE)
})

test_that("equal reservations use the capacity up, and no more", {
  path <- local_stores()
  b <- new_store(path, eps = 1, accountant = "zcdp")
  capacity <- dp_convert(eps = 1, delta = 1e-7, to = "rho")
  claim <- list(asked = list(), call = quote(f()), neighbours = "replace-one")
  # A third of the capacity is rounded down; three of them may come to an ulp less than it, and never to more.
  third <- capacity / 3 * (1 - 1e-15)
  for (i in 1:3) dpsosp:::reserve(b, c(rho = third, eps = 0, delta = 0), claim, "f")
  expect_error(dpsosp:::reserve(b, c(rho = third, eps = 0, delta = 0), claim, "f"), class = exhausted)
  expect_error(dpsosp:::reserve(b, c(rho = capacity * 1e-12, eps = 0, delta = 0), claim, "f"), class = exhausted)
  for (wrong in c(-1e-3, 0, NaN, Inf)) {
    expect_error(dpsosp:::reserve(b, c(rho = wrong, eps = 0, delta = 0), claim, "f"), class = "dpsosp_error")
  }
  for (edit in list(list(eps = 3), list(accountant = "gdp"), list(order = 3), list(neighbours = "zero-out"))) {
    expect_error(dp_reserve(utils::modifyList(b, edit), eps = 0.001), "changed", class = store_error)
  }
  expect_equal(nrow(dp_ledger(b)), 3L)
})

test_that("sums are rounded up", {
  above <- dpsosp:::add_above
  expect_gt(above(1, 2^-60), 1)
  expect_identical(above(1, 2), 3)
  expect_identical(above(0, 0.1), 0.1)
  set.seed(1)
  a <- runif(1000, 0, 1)
  b <- 10^runif(1000, -20, 0)
  # The exact sum of two doubles, as that of their integer parts in units of 2^-52 of the larger one.
  error <- mapply(function(a, b) above(a, b) - a - b, a, b)
  expect_true(all(error >= -1e-30))
})

test_that("evaluations, intervals, certificates, choices, curves and parts reserve once each", {
  path <- local_stores()
  b <- new_store(path, eps = 4, delta = 1e-6, other = c(eps = 1, delta = 5e-7))
  d <- store_data(600)
  quiet <- function(x) suppressWarnings(suppressMessages(x))
  fit <- store_fit(b, data = d[1:300, ], eps = 0.5, label = "fit")
  e <- quiet(dp_evaluate(fit, d[301:600, ], eps = 0.3, budget = b, label = "evaluation"))
  i <- quiet(dp_inference(fit, d[1:300, ], eps = 0.3, budget = b, label = "intervals"))
  p <- quiet(dp_certify(fit, d[301:600, ], eps = 0.3, budget = b, label = "certificate"))
  tuned <- quiet(dp_tune(list(a = list(), b = list(method = "newton")), y ~ x, d, eps = 0.5, delta = 1e-7, budget = b,
                         label = "choice"))
  quiet(dp_curve(y ~ x, d, eps = c(0.1, 0.2), bounds = list(x = c(-1, 1)), budget = b, label = "curve",
                 progress = FALSE))
  part <- dp_reserve(b, eps = 0.2, label = "part")
  shared <- store_fit(part, data = d, eps = 0.1)
  ledger <- dp_ledger(b)
  expect_identical(ledger$label, c("fit", "evaluation", "intervals", "certificate", "choice", "curve", "part"))
  expect_identical(ledger$accountant, rep(c("gdp", "other", "gdp"), c(4, 1, 2)))
  receipts <- list(fit$privacy, e$privacy, i$inference$privacy, p$privacy, tuned$privacy, NULL, shared$privacy)
  for (k in setdiff(1:7, 6)) expect_identical(receipts[[k]]$receipt$hash, ledger$hash[k])
  expect_identical(ledger$other_eps, c(0, 0, 0, 0, 0.5, 0, 0))
  curve <- sum(dp_convert(eps = c(0.1, 0.2), delta = 1e-6, to = "mu")^2) / 2
  expect_equal(ledger$rho[6] / curve, 1, tolerance = 1e-11)
  expect_error(dp_tune(list(a = list(), b = list()), y ~ x, d, eps = 0.1, budget = dp_budget(mu = 1)),
               class = "dpsosp_error_argument")
  expect_error(quiet(dp_curve(y ~ x, d, eps = c(1, 3), bounds = list(x = c(-1, 1)), budget = b)),
               class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(b)), 7L)
})

test_that("a store is found again from another folder, session and process", {
  path <- local_stores()
  b <- withr::with_dir(dirname(path), new_store("study.dpledger"))
  expect_identical(basename(b$store$path), "study.dpledger")
  store_fit(b, eps = 0.1)
  saved <- unserialize(serialize(b, NULL))
  store_fit(saved, eps = 0.1)
  expect_equal(nrow(dp_ledger(b)), 2L)
  skip_on_os("windows")
  job <- parallel::mcparallel(store_fit(b, eps = 0.1)$privacy$receipt$number, silent = TRUE)
  expect_identical(unname(unlist(parallel::mccollect(job))), 3L)
  expect_equal(nrow(dp_ledger(b)), 3L)
  part <- dp_reserve(b, eps = 0.1)
  job <- parallel::mcparallel(tryCatch(store_fit(part, eps = 0.05), error = class), silent = TRUE)
  expect_true("dpsosp_error_fork" %in% unlist(parallel::mccollect(job)))
})

test_that("a row tells whether records or persons are protected, and so do print() and the statement", {
  path <- local_stores()
  b <- new_store(path, eps = 4)
  d <- transform(store_data(), who = rep(1:150, 2))
  person <- store_fit(b, data = d, eps = 0.3, id = who)
  text <- function(x) paste(capture.output(x), collapse = " ")
  expect_match(text(print(b)), "Each reservation so far protects persons")
  expect_match(text(dp_report(b)), "**Persons**: each reservation so far protects persons", fixed = TRUE)
  store_fit(b, data = d[c("x", "y")], eps = 0.3)
  store_fit(b, data = d, eps = 0.3, id = who, neighbours = "replace-one")
  suppressWarnings(dp_evaluate(person, d, eps = 0.3, budget = b))
  relations <- c("replace-one of persons", "replace-one", "replace-one of persons", "replace-one of persons")
  expect_identical(dp_ledger(b)$relation, relations)
  expect_identical(dp_ledger(b)$n, c(150, 300, 150, 150))
  expect_match(text(print(b)), "3 of 4 reservations protect persons.*single records only")
  expect_match(text(dp_report(b)), "3 of 4 reservations protect persons.*single records only")
  expect_match(text(dp_report(b)), "| 300 | replace-one | newton-ridge |", fixed = TRUE)
  expect_error(store_fit(b, data = d, eps = 0.3, id = who, neighbours = "zero-out"), class = "dpsosp_error_relation")
  expect_true(dp_verify(person, b)$agrees)
  records <- new_store(paste0(path, "2"))
  store_fit(records, eps = 0.3)
  expect_no_match(paste(text(print(records)), text(dp_report(records))), "persons,")
})

test_that("columns that other records lack are found before anything is reserved", {
  path <- local_stores()
  b <- new_store(path, eps = 4)
  d <- transform(store_data(), w = 0.5, who = rep(1:150, 2))
  fits <- list(plain = store_fit(NULL, data = d, eps = 0.5, delta = 1e-7, weights = w),
               persons = store_fit(NULL, data = d, eps = 0.5, delta = 1e-7, weights = w, id = who))
  again <- list(dp_inference, dp_certify, dp_evaluate)
  for (lacks in list(d[names(d) != "x"], transform(d, x = as.character(x)), d[names(d) != "y"])) {
    for (f in again) {
      for (fit in fits) expect_error(f(fit, lacks, eps = 0.1, budget = b), class = "dpsosp_error_argument")
    }
    chunks <- dp_source(in_chunks(lacks, 100))
    expect_error(dp_certify(fits$plain, chunks, eps = 0.1, budget = b), class = "dpsosp_error")
  }
  for (f in again[1:2]) {
    expect_error(f(fits$plain, d[names(d) != "w"], eps = 0.1, budget = b), class = "dpsosp_error_argument")
  }
  expect_equal(nrow(dp_ledger(b)), 0L)
})

test_that("a fit inside a call is not written, as it may hold records", {
  path <- local_stores()
  b <- new_store(path)
  d <- store_data()
  fit <- store_fit(NULL, data = d, eps = 0.5, delta = 1e-7)
  quiet <- function(x) suppressWarnings(suppressMessages(x))
  quiet(dp_evaluate({
    secret <- c(0.123456, 0.654321)
    fit
  }, d, eps = 0.1, budget = b))
  quiet(do.call(dp_inference, list(fit, d, eps = 0.1, budget = b)))
  quiet(dp_certify(fit, d, eps = 0.1, budget = b))
  expect_identical(dp_ledger(b)$call, c(
    "dp_evaluate(fit = fit, newdata = d, eps = 0.1, budget = b)",
    "dp_inference(fit = fit, data = data, eps = 0.1, budget = budget)",
    "dp_certify(fit = fit, data = d, eps = 0.1, budget = b)"
  ))
})

test_that("dp_verify() finds the reservation, and a store that lacks it", {
  path <- local_stores()
  other <- c(eps = 0.5, delta = 5e-8)
  b <- new_store(path, other = other)
  first <- store_fit(b, eps = 0.3)
  file.copy(path, paste0(path, ".old"))
  fits <- list(main = store_fit(b, eps = 0.3), other = store_fit(b, eps = 0.3, delta = 1e-8, method = "sgd"),
               part = store_fit(dp_reserve(b, 0.2), eps = 0.1))
  for (fit in c(list(first), fits)) expect_true(dp_verify(fit, b)$agrees)
  receipt <- function(fit, budget = b) {
    checks <- dp_verify(fit, budget)$checks
    expect_identical(checks$check[!checks$agrees], "receipt")
    checks$says[checks$check == "receipt"]
  }
  expect_match(receipt(store_fit(NULL, eps = 0.3, delta = 1e-7)), "has none")
  for (number in list(1L, 9L, NA, "x", 1:2, NULL)) {
    fit <- fits$main
    fit$privacy$receipt$number <- number
    receipt(fit)
  }
  second <- new_store(paste0(path, "2"))
  store_fit(second, eps = 0.3)
  expect_match(receipt(first, second), "is another one")
  # A file that was set back, on a computer without the anchor.
  file.copy(paste0(path, ".old"), path, overwrite = TRUE)
  expect_true(dp_verify(first, b)$agrees)
  for (fit in fits) expect_match(receipt(fit), "has no reservation")
  unlink(Sys.getenv("R_USER_CONFIG_DIR"), recursive = TRUE)
  store_fit(b, eps = 0.3)
  expect_match(receipt(fits$main), "is another one")
})

test_that("a file of something else holds no budget", {
  path <- local_stores()
  file.create(path)
  expect_error(dp_budget(store = path), "holds no budget", class = store_error)
  other <- DBI::dbConnect(RSQLite::SQLite(), path)
  withr::defer(DBI::dbDisconnect(other))
  DBI::dbWriteTable(other, "cars", cars)
  expect_error(dp_budget(eps = 1, delta = 1e-7, store = path), "holds no budget", class = store_error)
})
