# Gaps by storage, persons and tools: all of them read records by the design of a fit (R/design-gaps.R).

test_that("databases read gaps in expressions as R does", {
  expect_gap_expressions(sqlite_connection(), 1)
})

test_that("PostgreSQL reads gaps as R does", {
  skip_unless_long()
  expect_gap_expressions(postgres_connection())
})

test_that("fits in a database, on workers and of persons are those of the filled records", {
  d <- gap_frame(300)
  connection <- sqlite_connection()
  d$o <- NULL
  d$l <- factor(d$l, c(FALSE, TRUE))
  d$person <- (7 * seq_len(300)^2) %% 120
  pushed <- push_pair(connection, d)$push
  of_id <- dp_source(connection, "people", levels = levels_of(d), push = TRUE, id = "person")
  filled <- filled_frame(d)
  DBI::dbWriteTable(connection, "filled", filled)
  filled_of_id <- dp_source(connection, "filled", levels = levels_of(filled), push = TRUE, id = "person")
  formula <- y ~ a + b + f + l
  for (missing in c("fill", "indicate")) {
    memory <- gap_fit(formula, d, missing)
    expect_equal(coef(gap_fit(formula, pushed, missing)), coef(memory), tolerance = 1e-4)
    by_hand <- if (missing == "fill") formula else y ~ a + b + f + l + `a(missing)` + `b(missing)`
    bounds <- c(gap_bounds, if (missing == "indicate") list("a(missing)" = c(-1, 1), "b(missing)" = c(-1, 1)))
    fit <- function(...) coef(gap_fit(..., method = "newton", geometry = "none"))
    expect_identical(fit(by_hand, filled, id = "person", bounds = bounds), fit(formula, d, missing, id = "person"))
    expect_identical(fit(by_hand, filled_of_id, bounds = bounds), fit(formula, of_id, missing))
  }
  found <- gap_fit(formula, pushed, "fill", bounds = "private")
  expect_identical(found$design$gaps$at, gap_fit(formula, d, "fill", bounds = "private")$design$gaps$at)
  shard_workers(c("one", "two"))
  parts <- lapply(list(1:130, 131:300), function(rows) {
    eval(bquote(function() {
      RNGkind("Mersenne-Twister")
      d <- .(`environment<-`(gap_frame, globalenv()))(300)[.(rows), ]
      d$f <- as.character(d$f)
      d$f[2] <- "other"
      d
    }), globalenv())
  })
  shards <- dp_shards(parts, compute = c("one", "two"), levels = list(f = c("u", "v", "w")))
  d <- gap_frame(300)
  d$f <- structure(replace(as.integer(d$f), c(2, 132), 9L), levels = c("u", "v", "w"), class = "factor")
  expect_equal(coef(gap_fit(y ~ a + b + f, shards, "fill", bounds = "private")),
               coef(gap_fit(y ~ a + b + f, d, "fill", bounds = "private")), tolerance = 1e-8)
})

test_that("gaps of matrices, dense and sparse, are filled by public numbers", {
  skip_if_not_installed("Matrix")
  set.seed(1)
  n <- 400
  x <- matrix(rnorm(3 * n), n, dimnames = list(NULL, c("a", "b", "c")))
  x[, 3] <- x[, 3] * (runif(n) < 0.3)
  y <- runif(n) < plogis(2 * x[, 1])
  x[runif(3 * n) < 0.1] <- NaN
  x[5, 2] <- Inf
  box <- cbind(c(-4, 5), c(0, Inf), c(2, Inf))
  fit <- function(x, ...) {
    set.seed(2)
    quiet_fit(x, y, eps = 5, delta = 1e-6, radius = 3, noise = "reproducible", method = "newton",
              geometry = "none", ...)
  }
  values <- c(0.5, 0, 2)
  filled <- x
  filled[is.nan(x)] <- values[col(x)[is.nan(x)]]
  indicated <- cbind(filled, is.nan(x))
  colnames(indicated) <- c(colnames(x), "a(missing)", "b(missing)", "c(missing)")
  for (as in list(identity, as_sparse)) {
    one <- fit(as(x), missing = "fill", bounds = box)
    by_hand <- fit(as(filled), bounds = box)
    expect_identical(coef(one), coef(by_hand))
    expect_identical(predict(one, as(x)), predict(by_hand, as(filled)))
    expect_identical(which(is.na(predict(one, as(x)))), 5L)
    two <- fit(as(x), missing = "indicate", bounds = box)
    by_hand <- fit(as(indicated), bounds = cbind(box, rbind(rep(0, 3), 1)))
    expect_identical(coef(two), coef(by_hand))
    expect_identical(predict(two, as(x)), predict(by_hand, as(indicated)))
    expect_identical(coef(fit(as(x), missing = "fill")), coef(fit(as(replace(x, is.nan(x), 0)))))
  }
  expect_error(predict(two, indicated), "must have 3 columns", class = "dpsosp_error_argument")
  scores <- dp_evaluate(two, x, eps = 1e3, delta = 1e-6, y = y, metrics = "accuracy")
  expect_gt(scores$estimates$estimate, 0.6)
  population <- quiet_fit(x, y, eps = 50, delta = 1e-6, radius = 3, missing = "indicate", certificate = "population")
  expect_s3_class(population$population, "dp_certificate")
  expect_error(dp_sosp(x, y, eps = 1, delta = 1e-6, model = model_mlp(3), bounds = c(-4, 4), missing = "fill"),
               "for a formula only", class = "dpsosp_error_argument")
})

test_that("what reads records by a fit fills their gaps", {
  d <- gap_frame(1200)
  held <- gap_frame(600, 2)
  fit <- gap_fit(y ~ a + b + f + l, d, "indicate", eps = 100)
  by_hand <- gap_fit(y ~ a + b + f + l, filled_frame(d)[names(d)], eps = 100)
  score <- function(fit, data) {
    set.seed(5)
    dp_evaluate(fit, data, eps = 1e3, delta = 1e-6, metrics = "accuracy", noise = "reproducible")$estimates$estimate
  }
  expect_gt(score(fit, held), 0.68)
  expect_lt(score(gap_fit(y ~ a + b + f + l, d, eps = 100), held), score(fit, held)) # gaps count one half there
  later <- suppressMessages(dp_inference(fit, held, eps = 50, delta = 1e-6))
  expect_true(all(is.finite(later$inference$vcov)))
  expect_match(paste(capture.output(print(summary(later))), collapse = " "), "of records with their gaps filled in")
  set.seed(6)
  tuned <- suppressMessages(dp_tune(list(drop = list(), fill = list(missing = "fill", bounds = gap_bounds)),
                                    y ~ a + b + f + l, d, eps = 50, delta = 1e-6, noise = "reproducible"))
  expect_identical(tuned$chosen, "fill")
  certified <- suppressMessages(dp_certify(fit, held, eps = 50, delta = 1e-6))
  expect_true(is.finite(certified$gradient[["upper"]]))
  first <- suppressMessages(dp_sosp(y ~ a + l, d, eps = 5, delta = 1e-5, bounds = gap_bounds, missing = "indicate"))
  again <- suppressMessages(update(first, . ~ . - l))
  expect_identical(names(coef(again)), c("(Intercept)", "a", "a(missing)"))
  expect_identical(again$design$gaps$missing, "indicate")
  network <- quiet_fit(y ~ a + b + f, d, eps = 5, delta = 1e-5, model = model_mlp(3), missing = "fill",
                       bounds = gap_bounds, method = "auto")
  expect_false(anyNA(predict(network, held)))
  plans <- lapply(c("drop", "fill", "indicate"), function(missing) {
    dp_plan(y ~ a + b + f + l, d, eps = 1, missing = missing)$d
  })
  expect_identical(as.integer(plans), c(6L, 8L, 10L))
  expect_identical(dp_plan(100, numeric = 2, levels = 3, eps = 1, missing = "indicate")$d, 8L)
  panels <- dpsosp:::effect_panels(fit, NULL)
  expect_setequal(vapply(panels, `[[`, "", "name"), c("a", "b", "f", "l"))
  f <- Find(function(panel) panel$name == "f", panels)
  expect_identical(f$levels, c("u", "v", "w", "(missing)"))
  terms <- predict(fit, held, type = "terms")
  expect_equal(rowSums(terms) + attr(terms, "constant"), predict(fit, held))
})

test_that("print() and messages tell whether gaps are filled", {
  d <- gap_frame(2000)
  expect_warning(dropped <- suppressMessages(gap_fit_said(y ~ a + b + f, d, "drop")), "missing = \"fill\"",
                 class = "dpsosp_warning_checks")
  expect_output(print(dropped), "complete records")
  filled <- suppressMessages(gap_fit_said(y ~ a + b + f, d, "fill"))
  expect_output(print(filled), "Usable: .*gaps filled")
  expect_output(print(summary(filled)), "Gaps filled with: a 10.25, b 0. Gaps of factors: a level of their own,")
  none <- transform(d, f = factor(NA, levels = character()))
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(dp_sosp(y ~ a + f, none, budget = budget, missing = "fill"), "`f` has no declared level",
               class = "dpsosp_error_argument")
  expect_error(dp_sosp(y ~ a, d, budget = budget, missing = "mean"), "must be", class = "dpsosp_error_argument")
  expect_error(dp_sosp(y ~ a, d, budget = budget, na.action = na.omit), "`missing = \"fill\"` fills its gaps")
  expect_identical(nrow(dp_ledger(budget)), 0L)
})

test_that("nothing that is public hangs on the gaps: not on how many there are, nor where", {
  d <- gap_frame(300)
  columns <- c("a", "b", "f", "l")
  others <- list(none = gap_frame(300, rate = 0), column = replace(d, "a", NA_real_), factor = d, all = d)
  others$factor$f[] <- NA
  others$all[columns] <- lapply(d[columns], function(x) replace(x, TRUE, NA))
  coefficients <- function(data) names(coef(gap_fit(y ~ a + b + f + l, data, "indicate")))
  said <- function(data) said_by(dp_sosp(y ~ a + b + f + l, data, eps = 20, delta = 1e-5, missing = "indicate"))
  for (other in others) {
    expect_identical(coefficients(other), coefficients(d))
    expect_identical(said(other), said(d))
  }
  fit <- gap_fit(y ~ a + b + f + l, others$all, "indicate")
  expect_true(all(is.finite(coef(fit))))
  expect_false(anyNA(predict(fit, others$none)))
})

test_that("intervals are about lm() and glm() of the filled records", {
  formulas <- list(logistic = y ~ a + b + f, squared = z ~ a + b + f)
  indicated <- quote(. ~ . + `a(missing)` + `b(missing)`)
  large <- filled_frame(gap_frame(2e5, 99, 0.3))
  exact <- list(logistic = coef(glm(update(formulas$logistic, indicated), binomial, large)),
                squared = coef(lm(update(formulas$squared, indicated), large)))
  runs <- long_size(60, 6)
  covered <- unlist(lapply(names(formulas), function(loss) {
    lapply(seq_len(runs), function(seed) {
      d <- gap_frame(4000, seed, 0.3)
      fit <- gap_fit(formulas[[loss]], d, "indicate", eps = 5, inference = "sandwich",
                     loss = if (loss == "squared") loss_squared(c(-10, 10)))
      interval <- confint(fit)
      there <- rowSums(is.na(interval)) == 0
      target <- stats::setNames(exact[[loss]], gsub("`", "", names(exact[[loss]])))
      inside <- interval[, 1] <= target[rownames(interval)] & target[rownames(interval)] <= interval[, 2]
      inside[there]
    })
  }))
  # Of 5 percent of errors, independent, fewer are this many with probability 0.999; those of one fit are not.
  expect_gt(length(covered), runs * 10)
  expect_lte(sum(!covered), qbinom(0.9999, length(covered), 0.05))
})
