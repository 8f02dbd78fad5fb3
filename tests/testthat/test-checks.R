# What released numbers tell about the records: thresholds against exact probabilities, data that are null for each
# cause, and honest data.

checks <- function(fraction, sd, part = FALSE) list(usable = list(fraction = fraction, sd = sd), part = part)
verdict <- function(...) dpsosp:::usable_verdict(checks(...))

honest <- function(n = 1500, seed = 1) {
  set.seed(seed)
  d <- data.frame(a = runif(n, 10, 30), b = rnorm(n), f = factor(sample(c("u", "v"), n, TRUE)))
  d$y <- factor(ifelse((d$a - 20) / 5 - d$b + rlogis(n) > 0, "yes", "no"))
  d
}
bounds <- list(a = c(10, 30), b = c(-4, 4))

# Warnings are heard. The noise follows from the seed of the data, as a verdict is wrong once in a thousand fits.
loud_fit <- function(..., method = "auto") {
  suppressMessages(dp_sosp(..., method = method, noise = "reproducible", progress = FALSE))
}

test_that("the verdicts have the error probabilities that they state", {
  sd <- c(1e-3, 0.02, 0.08, 0.081, 0.17, 1)
  for (s in sd) {
    threshold <- uniroot(function(u) (verdict(u, s) == "usable") - 0.5, c(-1, 10), tol = 1e-12)$root
    expect_equal(pnorm(threshold / s, lower.tail = FALSE), 1e-3, tolerance = 1e-6)
    silent <- verdict(0, s)
    expect_identical(silent, if (s <= 1 / 12.4) "null" else "unclear")
    # Half of the records usable, as where many have a missing value, and called null.
    if (silent == "null") expect_lte(pnorm((threshold - 0.5) / s), 1e-3)
  }
  expect_identical(verdict(0, 0.1, part = TRUE), "unclear")
  expect_identical(verdict(0, 0.01, part = TRUE), "null")
  expect_identical(dpsosp:::usable_verdict(list(usable = NULL)), NA_character_)
})

test_that("that records are missing is said where the bound is below nine in ten, but not of a subset", {
  partly <- function(...) any(grepl("^Only about", dpsosp:::null_text(checks(...), 100)))
  z <- qnorm(0.999)
  expect_true(partly(0.9 - 1.01 * z * 0.05, 0.05))
  expect_false(partly(0.9 - 0.99 * z * 0.05, 0.05))
  expect_false(partly(0.3, 0.01, part = TRUE))
  expect_false(partly(0, 0.01))
})

# Each names what makes all records null.
spoilt <- list(
  "levels of the response" = function(d) transform(d, y = factor(y, levels = c("No", "Yes"))),
  "levels of a predictor" = function(d) transform(d, f = factor(f, levels = c("U", "V"))),
  "a missing column" = function(d) transform(d, b = NA_real_),
  "an infinite column" = function(d) transform(d, b = Inf)
)

test_that("a fit of null records only is never certified, whatever made them null", {
  for (cause in names(spoilt)) {
    d <- spoilt[[cause]](honest())
    expect_warning(fit <- loud_fit(y ~ a + b + f, d, eps = 1, delta = 1e-6, bounds = bounds),
                   "all of the 1,500 records were null", class = "dpsosp_warning_checks")
    expect_identical(fit$status, "null", label = cause)
    expect_match(capture.output(print(fit))[1], "^<dp_sosp> Attention: The released numbers look as if")
    expect_false(any(grepl("ertified", capture.output(print(fit)))))
  }
})

test_that("every method sees that all records are null", {
  d <- spoilt[[1]](honest(4000))
  for (method in long_values(setdiff(dpsosp:::methods_without("nonconvex"), "newton-ridge"))) {
    suppressWarnings(fit <- loud_fit(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = bounds, method = method))
    expect_identical(fit$status, "null", label = method)
  }
})

test_that("other data, responses and losses are seen, too", {
  d <- honest(4000)
  none <- transform(d, a = NA_real_)
  null <- function(...) expect_identical(suppressWarnings(loud_fit(..., eps = 1, delta = 1e-6))$status, "null")
  null(y ~ a + b, dp_source(in_chunks(none, 700)), bounds = bounds)
  null(f ~ a + b, transform(none, f = factor(f, levels = c("u", "v", "w"))), bounds = bounds)
  null(b ~ a, none, bounds = bounds["a"], loss = loss_huber(c(-4, 4)))
  null(y ~ 0 + a + b, none, bounds = bounds)
  null(y ~ a + b, none, bounds = bounds, geometry = geometry_public(mean = c(20, 0), sd = c(5, 1)))
  null(y ~ a + b, none, bounds = bounds, radius = 1)
  null(cbind(none$a, none$b), d$y, radius = 2)
  null(y ~ a + b, d, bounds = bounds, weights = I(b + 100))
  null(y ~ a + b, none, bounds = bounds, model = model_mlp(hidden = 2))
})

test_that("databases, smooths, counts and every method for networks see it, too", {
  d <- honest(4000)
  none <- transform(d, a = NA_real_)
  none$count <- rpois(4000, 2)
  null <- function(...) expect_identical(suppressWarnings(loud_fit(..., eps = 1, delta = 1e-6))$status, "null")
  pushed <- push_pair(sqlite_connection(), none)
  for (source in pushed) for (method in long_values(c("newton-ridge", "newton", "gd"))) {
    null(y ~ a + b, source, bounds = bounds, method = method)
  }
  null(b ~ a, pushed$push, bounds = bounds["a"], loss = loss_huber(c(-4, 4)))
  null(b ~ a, none, bounds = bounds["a"], loss = loss_squared(c(-4, 4)))
  null(count ~ a + b, none, bounds = bounds, loss = loss_poisson(10))
  null(y ~ s(a) + b, none, bounds = bounds)
  for (method in long_values(dpsosp:::methods_with("nonconvex"))) {
    null(y ~ a + b, none, bounds = bounds, method = method, loss = "sigmoid")
  }
  for (method in long_values(dpsosp:::method_names(TRUE))) {
    null(y ~ a + b, none, bounds = bounds, method = method, model = model_mlp(hidden = 2))
  }
})

test_that("that nothing was measured is said", {
  fit <- loud_fit(y ~ a, honest(), eps = 1, bounds = bounds["a"], method = "opt", loss = "sigmoid",
                  target = sosp(0.3, 0.3), control = control_opt("published"))
  expect_match(paste(capture.output(print(fit)), collapse = " "), "How many of them are used was not measured")
})

test_that("honest fits raise no alarm, and show how many records are used", {
  d <- honest(3000)
  for (method in c("auto", "newton", "2opt-ls", "gd", "objpert", "sgd")) {
    expect_warning(fit <- loud_fit(y ~ a + b + f, d, eps = 1, delta = 1e-6, bounds = bounds, method = method), NA)
    usable <- fit$checks$usable
    expect_lt(abs(usable$fraction - 1) / usable$sd, 4.5)
    expect_match(paste(capture.output(print(fit)), collapse = " "), "Records: n = 3000. Usable: (9|100)")
  }
  d$b[1:1200] <- NA
  expect_warning(fit <- loud_fit(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = bounds), "% \\(.* records are used")
  expect_lt(abs(fit$checks$usable$fraction - 0.6) / fit$checks$usable$sd, 4.5)
  d <- honest(3000)
  expect_warning(loud_fit(y ~ a, d, eps = 1, delta = 1e-6, bounds = bounds["a"], subset = b > 0), NA)
})

test_that("the count is free with released moments, and one release otherwise", {
  d <- honest()
  free <- loud_fit(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = bounds)
  expect_identical(sum(free$privacy$ledger$what == "usable records"), 1L) # for the rules
  moments <- free$privacy$ledger$scale[free$privacy$ledger$what == "moments"]
  expect_equal(free$checks$usable$sd, sqrt(3) * moments)
  paid <- loud_fit(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = bounds, method = "newton")
  row <- paid$privacy$ledger[paid$privacy$ledger$what == "usable records", ]
  expect_equal(row$rho / paid$privacy$rho, 0.002)
  expect_equal(row$scale, paid$checks$usable$sd)
  expect_equal(row$sensitivity, 1 / nrow(d), tolerance = 1e-6)
  clipped <- loud_fit(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = bounds, radius = 0.2)
  expect_true("usable records" %in% clipped$privacy$ledger$what)
  expect_lt(abs(clipped$checks$usable$fraction - 1) / clipped$checks$usable$sd, 4.5)
  published <- loud_fit(y ~ a, d, eps = 1, bounds = bounds["a"], method = "opt", loss = "sigmoid",
                         target = sosp(0.3, 0.3), control = control_opt("published"))
  expect_null(published$checks$usable)
})

test_that("a unit that is wrong is said where the noise allows", {
  d <- honest(40000)
  expect_warning(fit <- loud_fit(y ~ a + b, d, eps = 3, delta = 1e-9, bounds = list(a = I(c(0, 1e5)), b = c(-4, 4))),
                 "Nearly all values of `a` are at the lower end of c\\(.*\\)", class = "dpsosp_warning_checks")
  expect_identical(fit$checks$ends, c(a = "lower"))
  expect_true(fit$status %in% c("ranges", "iterations")) # the second where the target is missed
  expect_match(capture.output(print(fit))[1], "Attention: Nearly all values of `a`")
  expect_warning(fit <- loud_fit(y ~ a + b, d, eps = 3, delta = 1e-9, bounds = list(a = I(c(-1e5, 30)), b = c(-4, 4))),
                 "Nearly all values of `a` are at the upper end")
  expect_warning(fit <- loud_fit(y ~ a + b + I(a^2), d, eps = 3, delta = 1e-9, bounds = bounds), NA)
  expect_length(fit$checks$ends, 0)
  # With many null records, too.
  d$b[1:8000] <- NA
  d$a <- 7
  fit <- suppressWarnings(loud_fit(y ~ a + b, d, eps = 3, delta = 1e-9, bounds = list(a = I(c(0, 1e5)), b = c(-4, 4))))
  expect_identical(fit$checks$ends, c(a = "lower"))
})

test_that("records that are not used put no mean at an end", {
  d <- honest(20000)
  for (share in c(0, 0.05, 0.3)) {
    d$b <- rep_len(seq(0, 1, length.out = 1000), nrow(d))
    d$a <- 10 + 20 * rbeta(nrow(d), 2, 6)
    for (eps in c(0.1, 0.5, 2)) {
      fit <- suppressWarnings(loud_fit(y ~ a, d, eps = eps, delta = 1e-6, bounds = bounds["a"], subset = b < share))
      expect_length(fit$checks$ends, 0)
    }
  }
})

test_that("missing predictors do not change the fraction of a class", {
  d <- honest(8000)
  d$a[seq_len(nrow(d)) %% 10 < 7] <- NA
  fit <- suppressWarnings(loud_fit(y ~ a + b, d, eps = 1, delta = 1e-6, bounds = bounds))
  expect_lt(abs(fit$checks$class$fraction - mean(d$y == "yes")) / fit$checks$class$sd, 4.5)
})

test_that("one class only is said", {
  d <- honest(8000)
  d$y[] <- "no"
  fit <- loud_fit(y ~ a + b, d, eps = 1, delta = 1e-8, bounds = bounds)
  expect_match(paste(capture.output(print(fit)), collapse = " "), "may be of one class only")
  expect_lt(abs(fit$checks$class$fraction) / fit$checks$class$sd, 4.5)
  expect_false(any(grepl("one class", capture.output(print(loud_fit(y ~ a + b, honest(8000), eps = 1, delta = 1e-8,
                                                                     bounds = bounds))))))
})

test_that("losses whose fits may be worse than a constant say so where it is not measured", {
  said <- function(explained) {
    dpsosp:::inform_unmeasured(loss_poisson(10), list(explained = explained))
  }
  expect_message(said(NULL), "can be worse", class = "dpsosp_message_constant")
  expect_no_message(said(list(fraction = 0.1)))
  expect_no_message(dpsosp:::inform_unmeasured(loss_logistic(), list()))
})

test_that("nothing certified is not called certified", {
  status <- function(better, ...) {
    explained <- if (!is.null(better)) list(better = better)
    dpsosp:::checked_status("sosp", c(checks(1, 0.01), list(explained = explained)), ...)
  }
  trivial <- list(trivial = TRUE)
  expect_identical(status(NULL, target = trivial, decrease = NA), "noise")
  expect_identical(status(TRUE, target = trivial, decrease = NA), "budget")
  expect_identical(status(NULL, target = list(), decrease = 0), "noise")
  expect_identical(status(TRUE, target = list(), decrease = 0), "sosp") # "noise" only where the number says so
  expect_identical(status(FALSE, target = list(), decrease = 0.1), "noise")
  expect_identical(status(NULL, target = list(), decrease = NA), "sosp")
  expect_identical(status(TRUE, target = list(), moved = FALSE), "start")
  ends <- c(checks(1, 0.01), list(ends = c(a = "lower")))
  expect_identical(dpsosp:::checked_status("sosp", ends, list(), NA), "ranges")
  expect_identical(dpsosp:::checked_status("budget", ends, list(), NA), "budget")
})

test_that("a network to a subset does not miss the records that were left out", {
  d <- honest(4000)
  expect_warning(fit <- loud_fit(y ~ a + b, d, eps = 3, delta = 1e-6, bounds = bounds, model = model_mlp(hidden = 2),
                                 subset = b > 0), NA)
  expect_true(fit$checks$part)
  expect_lt(abs(fit$checks$usable$fraction - mean(d$b > 0)) / fit$checks$usable$sd, 4.5)
})

test_that("print() says which ranges were not found, and claims nothing for a response without one", {
  d <- transform(honest(500), far = 50 + b)
  fit <- function(...) suppressWarnings(loud_fit(..., data = d, eps = 0.02, delta = 1e-6))
  printed <- function(fit) gsub(" +", " ", paste(capture.output(print(fit)), collapse = " "))
  column <- fit(y ~ a + b, bounds = bounds["b"])
  expect_identical(column$checks$missed, "a")
  expect_match(printed(column), "^<dp_sosp> Attention: No range was found for `a`, and \\[-1, 1\\] was taken")
  response <- fit(far ~ b, bounds = bounds["b"], loss = "squared")
  expect_match(printed(response), "Attention: No range was found for `far`, and")
  expect_match(printed(response), "How good: it says nothing of the level of the response")
  # With so much noise a fit is its level, and no range of a column is asked for.
  expect_match(printed(fit(far ~ a, loss = "huber")), "No range was found for `far`, and")
  declared <- fit(far ~ b, bounds = bounds["b"], loss = loss_squared(c(40, 60)))
  expect_no_match(printed(declared), "Attention")
})
