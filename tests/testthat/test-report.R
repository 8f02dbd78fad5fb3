# Statements of privacy: known answers, what is in them, and the files.

shown <- function(...) capture.output(dp_report(...))
fit <- quiet_fit(y ~ a + b + f, problem_frame(2000), eps = 1, delta = 1e-6, method = "newton-ridge")
gaussian <- function(eps) {
  list(eps = eps, delta = 1e-6, rho = dp_convert(eps = eps, delta = 1e-6, to = "mu")^2 / 2, accountant = "gdp")
}

test_that("power, odds and guesses have the known values", {
  known <- data.frame(eps = c(0.3, 1, 2, 4), power = c(0.058, 0.080, 0.116, 0.210), any = c(0.067, 0.136, 0.369, 0.983),
                      right = c(0.515, 0.547, 0.589, 0.662), right_any = c(0.574, 0.731, 0.881, 0.982),
                      odds = c("1.35", "2.72", "7.39", "54.6"))
  for (i in seq_len(nrow(known))) {
    one <- gaussian(known$eps[i])
    other <- replace(one, "accountant", "renyi")
    expect_equal(round(attack_power(one)(0.05), 3), known$power[i])
    expect_equal(round(any_power(one)(0.05), 3), known$any[i])
    expect_equal(attack_power(other)(0.05), any_power(one)(0.05))
    expect_equal(round(right_guesses(one), 3), known$right[i])
    expect_equal(round(right_guesses(other), 3), known$right_any[i])
    expect_identical(odds_text(known$eps[i]), known$odds[i])
  }
})

test_that("no mechanism with eps and delta has more power than is said", {
  level <- seq(0.001, 0.999, by = 0.001)
  for (eps in c(0.1, 1, 4)) {
    one <- gaussian(eps)
    # The best test of the Gaussian pair, as one of many mechanisms.
    expect_true(all(attack_power(one)(level) <= any_power(one)(level) + 1e-12))
    # Guesses at even odds: the best level.
    for (privacy in list(one, replace(one, "accountant", "zcdp"))) {
      best <- max((attack_power(privacy)(level) + 1 - level) / 2)
      expect_lte(best, right_guesses(privacy) + 1e-12)
      expect_gt(best, right_guesses(privacy) - 1e-3)
    }
  }
})

test_that("groups of records have the known eps", {
  expect_equal(vapply(c(2, 5, 10, 20), function(k) group_guarantee(gaussian(1), k)$eps, 0), c(2.12, 5.93, 13.5, 33.0),
               tolerance = 0.005)
  mu <- dp_convert(eps = 1, delta = 1e-6, to = "mu")
  expect_equal(group_guarantee(gaussian(1), 5)$eps, dp_convert(mu = 5 * mu, delta = 1e-6, to = "eps"))
  z <- list(eps = 1, delta = 1e-6, rho = 0.02, accountant = "zcdp")
  expect_equal(group_guarantee(z, 3)$eps, dp_convert(rho = 0.18, delta = 1e-6, to = "eps"))
  pure <- list(eps = 0.5, delta = 1e-6, rho = 1, accountant = "renyi")
  expect_equal(group_guarantee(pure, 3), list(eps = 1.5, delta = 1e-6 * (1 + exp(0.5) + exp(1))))
})

test_that("a fit's statement has its guarantee, what was spent and what it means", {
  text <- paste(shown(fit), collapse = "\n")
  expect_match(text, "(eps, delta) = (1, 1e-06)", fixed = TRUE)
  expect_match(text, "one record is replaced by any other; n = 2,000 records")
  expect_match(text, "the formula `y ~ a + b + f`", fixed = TRUE)
  expect_match(text, "probability \\*\\*8.0 %\\*\\* at most")
  expect_match(text, "\\| 5.0 % \\| 8.0 % \\| 13.6 % \\|")
  expect_match(text, "\\| 10 \\| 13.5 \\| 1e-06 \\|")
  expect_match(text, "| gradient |", fixed = TRUE)
  rows <- grep("^\\| [a-z ]+ \\| [0-9]+ \\|", shown(fit), value = TRUE)
  shares <- as.numeric(sub(".*\\| ([0-9.]+) % \\|$", "\\1", rows))
  expect_equal(sum(shares), 100, tolerance = 0.002)
  expect_no_match(text, "not for release|does not follow")
  zero <- quiet_fit(y ~ a, problem_frame(500), eps = 1, delta = 1e-6, neighbours = "zero-out", noise = "reproducible")
  expect_match(paste(shown(zero), collapse = " "), "replaced by a record that adds nothing.*Not for release")
})

test_that("Gaussian numbers are for Gaussian accounts only", {
  for (method in c("agd", "sgd", "objpert")) {
    other <- quiet_fit(y ~ a, problem_frame(800), eps = 1, delta = 1e-6, method = method)
    text <- paste(shown(other), collapse = " ")
    expect_match(text, "probability \\*\\*13.6 %\\*\\* at most.*any releases")
    expect_match(text, "\\*\\*73.1 %\\*\\*")
    expect_no_match(text, "8.0 % at most|by eps and delta alone")
  }
})

test_that("a statement of edited numbers says so", {
  fit$privacy$eps <- 0.1
  text <- paste(shown(fit), collapse = " ")
  expect_match(text, "stated eps = 0.1 does not follow from its ledger")
  expect_match(text, "(eps, delta) = (1, 1e-06)", fixed = TRUE)
})

test_that("intervals are part of the statement of their fit", {
  both <- suppressMessages(dp_inference(fit, problem_frame(2000), eps = 1, delta = 1e-6))
  eps <- dp_convert(mu = sqrt(2) * fit$privacy$mu, delta = 1e-6, to = "eps")
  expect_match(paste(shown(both), collapse = " "), paste0("(eps, delta) = (", format(eps, digits = 4)), fixed = TRUE)
  expect_match(paste(shown(both), collapse = " "), "| gradient products |", fixed = TRUE)
})

test_that("budgets have statements before and after their first use", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_match(paste(shown(budget), collapse = " "), "in a way that the first use of the budget decides.*13.6 %")
  quiet_fit(y ~ a, problem_frame(500), eps = 0.3, budget = budget, method = "newton-ridge")
  text <- paste(shown(budget), collapse = " ")
  expect_match(text, "Reserved or spent\\*\\*: 10.6 %.*\\*\\*8.0 %")
  mu <- paste(shown(dp_budget(mu = 0.5)), collapse = " ")
  expect_match(mu, "mu = 0.5 \\(Gaussian DP\\), which is .eps, delta. = .2.254, 1e-06")
  expect_match(paste(shown(dp_budget(rho = 0.1)), collapse = " "), "rho = 0.1 .zCDP., which is")
})

test_that("a durable budget lists its reservations", {
  ledger <- data.frame(number = 1:2, time = c("2026-01-05", "2026-02-01"), user = "ann", host = "h1",
                       label = c("main", NA), call = "dp_sosp()", n = 500, relation = "replace-one",
                       method = c("gd", "objpert"), accountant = c("gdp", "other"), rho = c(0.01, 0),
                       other_eps = c(0, 0.25), other_delta = c(0, 1e-10), hash = "x")
  block <- reservation_block(ledger, 0.1)
  share <- c("10.0 %", "eps = 0.25, delta = 1e-10 of the other part")
  expect_identical(unname(block$rows[, c(1, 3, 8)]), unname(cbind(c("1", "2"), "ann on h1", share)))
  expect_no_error(page_markdown(list(block)))
  ledger$label[1] <- "<script>|"
  expect_match(page_markdown(list(reservation_block(ledger, 0.1)))[3], "| \\<script>\\| |", fixed = TRUE)
  expect_match(paste(page_html(list(heading_block("x"), block)), collapse = ""), "<td>main</td>")
})

test_that("a budget with another part has no Gaussian numbers", {
  budget <- structure(class = "dp_budget", list(eps = 1, delta = 1e-6, other = c(eps = 0.25, delta = 1e-7)))
  state <- list(capacity = 0.02, accountant = "gdp", neighbours = "replace-one")
  expect_identical(budget_privacy(budget, state)$accountant, "added")
  budget$other[] <- 0
  expect_identical(budget_privacy(budget, state)$accountant, "gdp")
})

test_that("files are HTML or Markdown by their names", {
  page <- withr::local_tempfile(fileext = ".html")
  plain <- withr::local_tempfile(fileext = ".md")
  expect_silent(dp_report(fit, page))
  expect_silent(dp_report(fit, plain))
  expect_identical(readLines(plain), shown(fit))
  expect_identical(withVisible(dp_report(fit, plain)), list(value = readLines(plain), visible = FALSE))
  html <- readLines(page)
  expect_identical(html[1], "<!DOCTYPE html>")
  expect_true(any(grepl("<svg", html)) && any(grepl("stroke-dasharray", html)))
  expect_false(any(grepl("src=|href=|url\\(", html)))
  expect_false(any(grepl("\\*\\*|`", html)))
  skip_if_not_installed("xml2")
  expect_no_error(xml2::read_xml(paste(sub(".*DOCTYPE.*", "", sub("(<meta[^>]*)>", "\\1/>", html)), collapse = "\n")))
})

test_that("names and formulas are escaped", {
  d <- problem_frame(500)
  names(d)[names(d) == "a"] <- "a<b>&"
  odd <- quiet_fit(y ~ `a<b>&`, d, eps = 1, delta = 1e-6, method = "newton-ridge")
  page <- withr::local_tempfile(fileext = ".html")
  dp_report(odd, page)
  expect_true(any(grepl("a&lt;b&gt;&amp;", readLines(page), fixed = TRUE)))
})

# What of a value does not fit its schema: the parts of JSON Schema that the package's own one uses.
misfits <- function(value, schema, at = "") {
  if (!is.null(schema$const)) return(if (!identical(value, schema$const)) at)
  if (!is.null(schema$enum)) return(if (!list(value) %in% schema$enum) at)
  kind <- if (is.null(value)) "null" else if (is.logical(value)) "boolean" else if (is.numeric(value)) "number"
    else if (is.character(value)) "string" else if (is.null(names(value))) "array" else "object"
  if (!kind %in% unlist(schema$type)) return(at)
  inner <- function(name, of) misfits(value[[name]], of, paste0(at, "/", name))
  if (kind == "array") return(unlist(lapply(seq_along(value), inner, schema$items)))
  if (kind != "object") return(NULL)
  c(setdiff(unlist(schema$required), names(value)), setdiff(names(value), names(schema$properties)),
    unlist(Map(inner, names(value), schema$properties[names(value)])))
}

test_that("a report as JSON fits its schema and says what the page says", {
  skip_if_not_installed("jsonlite")
  read <- function(text) jsonlite::fromJSON(text, simplifyVector = FALSE)
  schema <- read(system.file("extdata", "report-schema.json", package = "dpsosp"))
  budget <- dp_budget(eps = 1, delta = 1e-6)
  empty <- dp_budget(rho = 0.1)
  quiet_fit(y ~ a, problem_frame(200), eps = 0.5, budget = budget, bounds = frame_bounds)
  pure <- quiet_fit(y ~ a, problem_frame(200), eps = 1, delta = 1e-4, method = "objpert", bounds = frame_bounds)
  evaluation <- dp_evaluate(fit, problem_frame(300), eps = 1, delta = 1e-6)
  for (x in list(fit, pure, persons_fit(), empty, budget, evaluation)) {
    text <- capture.output(shown <- dp_report(x, format = "json"))
    expect_identical(text, shown)
    expect_length(misfits(read(text), schema), 0L)
    if (inherits(x, "dp_sosp")) {
      expect_equal(read(text)$deployment$privacy_loss$privacy_parameters$epsilon, x$privacy$eps)
      expect_identical(as.integer(read(text)$deployment$privacy_loss$number_of_privacy_units), x$n)
    }
  }
  wrong <- replace(read(text), "version", 2L)
  expect_identical(unname(misfits(wrong, schema)), "/version")
  page <- withr::local_tempfile(fileext = ".json")
  expect_silent(dp_report(fit, page))
  expect_identical(read(page)$deployment$privacy_loss$privacy_unit, "record")
})

test_that("wrong arguments are errors", {
  expect_error(dp_report(fit, format = "xml"), "must be one of", class = "dpsosp_error_argument")
  expect_error(dp_report(3), "must be a fit", class = "dpsosp_error_argument")
  expect_error(dp_report(fit, "x.pdf"), "ends in", class = "dpsosp_error_argument")
  nowhere <- file.path(tempdir(), "none", "page.html")
  expect_error(dp_report(fit, nowhere), "cannot be written", class = "dpsosp_error_argument")
})
