# Records with gaps in their predictors (R/design-gaps.R).

test_that("a fit to records with gaps is that of the filled records, bit by bit", {
  d <- gap_frame()
  formulas <- list(y ~ a + b + f + l, y ~ log(a) * f + I(b^2) + b, y ~ a:b + poly(a, 3, raw = TRUE) + f:l,
                   y ~ ifelse(b > 0, a, -a) + pmax(a, b, 1) + b, z ~ sqrt(a) + b * f)
  losses <- list(z = loss_squared(c(-10, 10)))
  for (formula in long_values(formulas, 1)) {
    with <- gap_fit(formula, d, "fill", loss = losses[[all.vars(formula)[1]]])
    filled <- filled_frame(d, with$design$gaps$at)
    by_hand <- gap_fit(formula, filled, loss = losses[[all.vars(formula)[1]]])
    expect_identical(coef(with), coef(by_hand))
    expect_identical(dp_ledger(with), dp_ledger(by_hand))
    expect_identical(predict(with, d), predict(by_hand, filled))
    if ("l" %in% all.vars(formula)) next # logical in the fit
    expect_identical(predict(with, filled), predict(by_hand, filled)) # "(missing)" is read as a gap
  }
  # In a geometry an indicator is not centred where it may have no record, as a level's.
  indicated <- gap_fit(y ~ a + f + b, d, "indicate", method = "newton", geometry = "none")
  filled <- filled_frame(d)
  by_hand <- gap_fit(y ~ a + b + `a(missing)` + `b(missing)` + f, filled,
                     bounds = c(gap_bounds, list("a(missing)" = c(-1, 1), "b(missing)" = c(-1, 1))), method = "newton",
                     geometry = "none")
  expect_identical(coef(indicated)[names(coef(by_hand))], coef(by_hand))
  expect_setequal(names(coef(indicated)), names(coef(by_hand)))
  expect_false(anyNA(predict(indicated, d)))
  expect_true(all(is.na(predict(gap_fit(y ~ a, d), d)) == is.na(d$a)))
})

test_that("what is not filled stays missing: the response, weights, offsets, subsets, infinite numbers, other levels", {
  d <- gap_frame(60)
  rows <- function(d, formula = y ~ a + f, bounds = gap_bounds, ...) {
    design <- dpsosp:::design_template(formula, d, bounds, extras = list(missing = "fill", ...))
    design <- dpsosp:::settle_gaps(design)
    list(x = dpsosp:::design_matrix(design, d), y = dpsosp:::design_response(design, d))
  }
  used <- function(...) {
    made <- rows(...)
    is.finite(rowSums(made$x)) & !is.na(made$y)
  }
  expect_true(all(used(d)))
  expect_identical(used(transform(d, y = replace(y, 1:5, NA))), seq_len(60) > 5)
  expect_identical(used(transform(d, a = replace(a, 2:3, c(Inf, -Inf)))), !seq_len(60) %in% 2:3)
  expect_identical(used(d, I(a > 5) ~ b + a), !is.na(d$a))
  expect_identical(used(d, subset = quote(a > 3)), d$a > 3 & !is.na(d$a))
  expect_identical(used(d, weights = quote(a / 20)), !is.na(d$a))
  expect_identical(used(d, y ~ b + a + offset(a)), !is.na(d$a))
  codes <- d
  codes$f <- structure(replace(as.integer(d$f), 7, 9L), levels = levels(d$f), class = "factor")
  expect_identical(used(codes), seq_len(60) != 7)
  expect_identical(used(d, y ~ sqrt(a - 5), list("sqrt(a - 5)" = c(0, 4))), is.na(d$a) | d$a >= 5)
  new <- data.frame(a = c(1, NA, NaN, 3, 4), f = c("v", NA, "(missing)", "", "other"))
  fit <- gap_fit(y ~ a + f, d, "fill")
  expect_warning(p <- predict(fit, new), class = "dpsosp_warning_levels")
  expect_identical(is.na(p), c(FALSE, FALSE, FALSE, FALSE, TRUE))
  expect_identical(p[2], p[3])
  expect_identical(fit$design$gaps$at, c(a = 10.25))
})

test_that("factors, truth values and expressions that give them have a level for gaps, beside any contrasts", {
  d <- gap_frame()
  design <- function(formula, ...) {
    made <- dpsosp:::design_template(formula, d, gap_bounds, extras = list(missing = "fill", ...))
    dpsosp:::settle_gaps(made)
  }
  x <- dpsosp:::design_matrix(design(y ~ f + l + cut(a, c(0, 5, 20)) + (b > 0)), d)
  expect_identical(colnames(x), c("fv", "fw", "f(missing)", "lTRUE", "l(missing)", "cut(a, c(0, 5, 20))(5,20]",
                                  "cut(a, c(0, 5, 20))(missing)", "b > 0TRUE", "b > 0(missing)"))
  expect_identical(x[, "f(missing)"], as.numeric(is.na(d$f)))
  expect_identical(x[, "b > 0(missing)"], as.numeric(is.na(d$b)))
  expect_identical(rowSums(x[is.na(d$f), c("fv", "fw")]), numeric(sum(is.na(d$f))))
  # is.na() sees the data, and has no gaps.
  x <- dpsosp:::design_matrix(design(y ~ is.na(a) + ifelse(is.na(a), 0.5, a) + a), d)
  expect_identical(colnames(x), c("is.na(a)TRUE", "ifelse(is.na(a), 0.5, a)", "a"))
  expect_identical(unname(x[, 1]), as.numeric(is.na(d$a)))
  expect_identical(unique(unname(x[is.na(d$a), ])), cbind(1, -1, 0))
  # Ordered factors and other contrasts: as glm() with an indicator more.
  polynomial <- dpsosp:::design_matrix(design(y ~ o), d)
  expect_identical(colnames(polynomial), c("o.L", "o.Q", "o(missing)"))
  there <- !is.na(d$o)
  expect_equal(unname(polynomial[there, 1:2]), unname(contr.poly(3)[as.integer(d$o[there]), ]), tolerance = 1e-12)
  expect_identical(polynomial[!there, ], cbind(o.L = numeric(sum(!there)), o.Q = 0, "o(missing)" = 1))
  sums <- dpsosp:::design_matrix(design(y ~ f, contrasts = list(f = "contr.sum")), d)
  expect_identical(colnames(sums), c("f1", "f2", "f(missing)"))
  expect_identical(unname(sums[which(d$f == "w")[1], ]), c(-1, -1, 0) / sqrt(2))
  # A declared level of this name takes the gaps; NA as a level leaves none.
  named <- transform(d, f = factor(ifelse(f == "w", "(missing)", as.character(f)), c("u", "v", "(missing)")))
  own <- dpsosp:::design_matrix(dpsosp:::design_template(y ~ f, named, extras = list(missing = "fill")), named)
  expect_identical(unname(own[, "f(missing)"]), as.numeric(is.na(d$f) | d$f %in% "w"))
  declared <- dpsosp:::design_template(y ~ f, transform(d, f = addNA(f)), extras = list(missing = "fill"))
  expect_identical(declared$levels$f, c("u", "v", "w", NA))
})

test_that("numbers that fill gaps are the medians of released counts, or follow from what is declared", {
  set.seed(2)
  n <- 20000
  d <- data.frame(a = rnorm(n, 50, 10), b = rexp(n, 1 / 1000), year = 1990 + sample(0:20, n, TRUE), y = runif(n) < 0.5)
  d$day <- as.Date("2020-01-01") + round(100 * rexp(n))
  for (name in setdiff(names(d), "y")) d[[name]][runif(n) < 0.3] <- NA
  at <- function(formula, ..., data = d) gap_fit(formula, data, "fill", eps = 1, ...)$design$gaps$at
  # Cells and octaves are narrower than these.
  found <- at(y ~ a + b + year + day, bounds = "private")
  expect_lt(abs(found[["a"]] - 50), 2)
  expect_lt(abs(found[["b"]] - 693), 150)
  expect_lt(abs(found[["year"]] - 2000), 2)
  expect_lt(abs(found[["day"]] - as.numeric(as.Date("2020-01-01") + 69)), 15)
  kept <- at(y ~ a + b, bounds = "private", inference = "sandwich")
  expect_lt(abs(kept[["a"]] - 50), 5)
  expect_lt(abs(kept[["b"]] - 693), 200)
  smooth <- at(y ~ s(a) + s(b), bounds = list(a = c(0, 200)))
  expect_lt(abs(smooth[["a"]] - 50), 5) # by the masses that were counted
  expect_lt(abs(at(y ~ log(b), bounds = "private")[["b"]] - 693), 250)
  declared <- list(b = c(1, 1e4))
  expect_equal(at(y ~ b, bounds = declared), c(b = 5000.5))
  expect_equal(at(y ~ log(b), bounds = declared), c(b = 100), tolerance = 1e-4) # the middle of log(b)
  expect_equal(at(y ~ log(b), bounds = list("log(b)" = c(0, 4))), c(b = exp(2)), tolerance = 1e-4)
  expect_identical(at(y ~ splines::ns(a, knots = 50, Boundary.knots = c(20, 90)), bounds = list()), c(a = 55))
  expect_length(at(y ~ cut(a, c(0, 50, 99))), 0)
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_error(dp_sosp(y ~ I(a / b) + year, d, budget = budget, missing = "fill"), "gaps of `a`.*bounds = list\\(a",
               class = "dpsosp_error_argument")
  expect_identical(nrow(dp_ledger(budget)), 0L)
  expect_length(at(y ~ I(a / b), bounds = list(a = c(0, 99), b = c(1, 1e4))), 2)
  # Nothing is found in pure noise: the middle of what is taken.
  expect_identical(at(y ~ a, data = transform(d[1:50, ], a = NA_real_), bounds = "private"), c(a = 0))
})

test_that("the number at which an expression has a value is found for any function", {
  solve <- function(e, value) dpsosp:::solve_for(e, "x", value)
  expect_equal(solve(quote(log(x)), 3), exp(3), tolerance = 1e-5)
  expect_equal(solve(quote(1 / x), 0.01), 100, tolerance = 1e-5)
  expect_equal(solve(quote(x^2), 9), 3, tolerance = 1e-5)
  expect_equal(solve(quote(-sqrt(x) + 1), -3), 16, tolerance = 1e-5)
  expect_equal(solve(quote(exp(x)), 1e-6), log(1e-6), tolerance = 1e-4)
  expect_lt(abs(solve(quote(x^2), -1)), 1e-9)
  expect_identical(solve(quote(log(x) * NA), 3), 0)
})

test_that("medians of masses are where half of them lie", {
  median_of <- dpsosp:::median_of
  expect_identical(median_of(c(0, 1, 2), c(1, 2, 4), c(0.25, 0.25, 0.5)), 2)
  expect_equal(median_of(0:9, 1:10, rep(0.1, 10)), 5)
  expect_equal(median_of(c(0, 10), c(10, 20), c(0.75, 0.25)), 20 / 3, tolerance = 1e-3)
  counted <- list(list(range = list(lower = 0, upper = 1024), origin = 0, sd = 1, there = 1000,
                       counts = replace(numeric(257), c(201, 202, 230), c(500, 500, 3))))
  # 201: from 128 to 256, 202: up to 512
  expect_lt(abs(dpsosp:::counts_medians(counted) - 256), 2)
})

test_that("rows in chunks, on workers and in databases are filled as in memory", {
  d <- gap_frame(300)
  text <- transform(d, f = as.character(f), o = as.character(o), y = as.character(y))
  text$f[1:3] <- c("other", "", "(missing)")
  codes <- match(text$f, c("u", "v", "w"))
  codes[1] <- 9L
  d$f <- structure(codes, levels = c("u", "v", "w"), class = "factor")
  d$o <- factor(d$o, levels(d$o), ordered = FALSE)
  known <- levels_of(d)
  d$a[4:5] <- c(NaN, Inf)
  text$a <- d$a
  types <- c(a = "numeric", b = "numeric", l = "logical")
  for (missing in c("fill", "indicate")) {
    run <- function(data) gap_fit(y ~ log(a) + b * f + l + cut(b, c(-1, 0, 2)), data, missing)
    memory <- run(d)
    chunks <- run(dp_source(in_chunks(text, 70), levels = known, types = types))
    expect_identical(coef(chunks), coef(memory))
    beyond <- !is.na(d$b) & (d$b <= -1 | d$b > 2) # in no cell of cut()
    expect_identical(is.na(predict(memory, d)), seq_len(300) %in% c(1, 5) | beyond)
  }
  csv <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(text, csv, row.names = FALSE)
  in_file <- dp_source(csv, levels = known)
  expect_identical(coef(gap_fit(y ~ a + f, in_file, "fill")), coef(gap_fit(y ~ a + f, d, "fill")))
})
