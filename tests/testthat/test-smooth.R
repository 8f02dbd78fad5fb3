# Smooth terms: knots and columns from masses, what is refused, what a fit releases, and rows of their own.

# ---- knots and columns ----

test_that("masses are the nearest nonnegative numbers with the sum one, of the records that are there", {
  masses <- function(counts, sd = 1, n = 1000) dpsosp:::cell_masses(counts, sd, n)
  expect_equal(masses(c(200, 300, 500)), c(0.2, 0.3, 0.5))
  expect_equal(sum(masses(c(-30, 400, 610))), 1)
  expect_true(all(masses(c(-30, 400, 610)) >= 0))
  expect_equal(masses(c(20, 30, 50)), c(0.2, 0.3, 0.5)) # 900 records have no value
  expect_equal(dpsosp:::on_simplex(c(0.5, 0.9)), c(0.3, 0.7))
  expect_equal(dpsosp:::on_simplex(c(2, -1, 0)), c(1, 0, 0))
})

test_that("knots have equal masses between them, and a heavy cell has both its ends", {
  even <- dpsosp:::pick_knots(cells_of(0:48, rep(1, 48)))
  expect_equal(even, seq(0, 48, 3))
  spike <- dpsosp:::pick_knots(cells_of(0:48, replace(rep(1, 48), 30, 60)))
  expect_true(all(c(29, 30) %in% spike))
  expect_lte(length(spike), 18)
  expect_equal(dpsosp:::pick_knots(cells_of(0:48, replace(rep(0, 48), 1, 1))), c(0, 1, 48))
  expect_equal(dpsosp:::pick_knots(cells_of(c(0, 1), 1)), c(0, 1))
  for (seed in 1:50) {
    set.seed(seed)
    knots <- dpsosp:::pick_knots(cells_of(sort(runif(49)), rexp(48)^3))
    expect_false(is.unsorted(knots, strictly = TRUE))
    expect_gte(length(knots), 2)
    expect_lte(length(knots), 35)
  }
})

test_that("columns are orthonormal in the masses, orthogonal to straight lines, and ordered from smooth to wiggly", {
  set.seed(3)
  for (mass in list(rep(1, 48), rexp(48)^2, replace(rep(0.01, 48), 5, 30), c(rep(0, 40), rep(1, 8)))) {
    cells <- cells_of(cumsum(c(-5, rexp(48))), mass)
    knots <- dpsosp:::pick_knots(cells)
    basis <- dpsosp:::smooth_basis(cells, knots, 15L)
    expect_identical(ncol(basis$values), min(15L, length(knots) - 2L))
    # by numerical integration over even cells
    part <- (1:200 - 0.5) / 200
    x <- as.vector(outer(part, diff(cells$breaks)) + rep(cells$breaks[-49], each = 200))
    weight <- rep((0.95 * cells$mass + 0.05 / 48) / 200, each = 200)
    w <- sapply(seq_len(ncol(basis$values)), function(j) dpsosp:::smooth_column(x, knots, basis$values[, j], j + 1))
    expect_equal(crossprod(w, weight * w), diag(ncol(w)), tolerance = 1e-2)
    expect_lt(max(abs(crossprod(w, weight))), 1e-2)
    expect_lt(max(abs(crossprod(w, weight * (x - basis$mean) / basis$sd))), 1e-2)
    turns <- apply(w, 2, function(column) sum(diff(sign(column)) != 0))
    expect_gt(cor(turns, seq_along(turns)), 0.9)
  }
})

test_that("a basis needs a knot within the range, and no more columns than asked for", {
  cells <- cells_of(0:48, rep(1, 48))
  size <- function(knots, most) ncol(dpsosp:::smooth_basis(cells, knots, most)$values)
  expect_identical(size(c(0, 48), 15L), 0L)
  expect_identical(size(c(0, 20, 48), 15L), 1L)
  expect_identical(size(c(0, 10, 20, 48), 1L), 1L)
  expect_identical(size(c(0, 10, 20, 48), 0L), 0L)
})

test_that("a function that is linear between knots has its values at them and is constant beyond", {
  knots <- c(-1, 0, 1e-12, 5)
  values <- c(2, -3, 4, 1)
  at <- function(x) dpsosp:::smooth_column(x, knots, values, 2)
  expect_equal(at(knots), values)
  expect_identical(at(c(-9, 7)), at(c(-1, 5)))
  expect_equal(at(c(-0.5, 2.5)), c(-0.5, 2.5), tolerance = 1e-9)
  expect_identical(at(c(NA, NaN, Inf, -Inf)), rep(NA_real_, 4))
  expect_identical(at(double()), double())
  expect_identical(at(3L), at(3))
})

test_that("breaks resolve years and amounts, and many zeros are a cell of their own", {
  breaks <- function(x, n = length(x), lower, upper) {
    counts <- tabulate(findInterval(x, dpsosp:::octave_breaks), length(dpsosp:::octave_breaks) - 1)
    dpsosp:::smooth_breaks(list(counts = counts, sd = 1, origin = 0, range = list(lower = lower, upper = upper)), n)
  }
  set.seed(1)
  years <- breaks(runif(1e4, 1950, 2020), lower = 1024, upper = 2048)
  expect_lte(max(diff(years)), 2 * 1024 / 48)
  amounts <- breaks(exp(rnorm(1e4, 5, 2)), lower = 0, upper = 2^17)
  expect_gt(sum(amounts < 1000), 15)
  zeros <- breaks(c(rep(0, 8e3), runif(2e3, 0, 60)), lower = 0, upper = 64)
  expect_lt(zeros[2], 1e-10)
  both <- breaks(c(rep(0, 8e3), runif(2e3, -60, 60)), lower = -64, upper = 64)
  expect_true(any(abs(both) < 1e-10 & both < 0) && any(abs(both) < 1e-10 & both > 0))
  for (b in list(years, amounts, zeros, both)) expect_false(is.unsorted(b, strictly = TRUE))
  expect_equal(range(zeros), c(0, 64))
})

# ---- formulas ----

test_that("what smooths do not take is refused with the reason, before anything is charged", {
  d <- smooth_problem(100)
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(formula, text, class = "dpsosp_error_argument", ...) {
    expect_error(dp_sosp(formula, d, budget = budget, ...), text, class = class)
  }
  refused(y ~ s(a, by = f), "there is no `by`")
  refused(y ~ s(a, bs = "cr"), "there is no `bs`")
  refused(y ~ s(a, sp = 2), "there is no `sp`")
  refused(y ~ s(a, b), "s\\(x\\) \\+ s\\(z\\) \\+ ti\\(x, z\\)")
  refused(y ~ te(a, b), "ti\\(\\)")
  refused(y ~ s(f), "numbers")
  refused(y ~ s(a, k = 0), "`k`")
  refused(y ~ s(a, k = 17), "`k`")
  refused(y ~ s(a, knots = 3), "`knots`")
  refused(y ~ s(a, knots = c(1, 1)), "`knots`")
  refused(y ~ s(a, knots = c(1, 1e200)), "`knots`")
  refused(y ~ s(a):f, "a term of its own")
  refused(y ~ s(a) * b, "a term of its own")
  refused(y ~ log(s(a)), "a term of its own")
  refused(y ~ s(a) + a, "leave out one")
  refused(y ~ s(a) + s(a, k = 3), "twice")
  refused(y ~ s(a) + s((a)), "twice")
  refused(y ~ a + s((a)), "leave out one")
  refused(y ~ s(a, knots = c(0, 1)), "`knots` in `formula` has another", bounds = list(a = c(0, 2)))
  refused(y ~ 0 + s(a), "intercept")
  refused(y ~ s(a) + ti(a, b), "without `s\\(b\\)`")
  refused(y ~ s(a) + ti(a), "two columns")
  refused(y ~ s(a) + ti(a, a), "differ")
  refused(y ~ f, "no term that is a numeric column", smooth = TRUE)
  for (method in c("newton", "gd", "2opt-ls", "sgd", "objpert", "spider")) {
    refused(y ~ s(a), "no prior", "dpsosp_error_smooth", method = method)
  }
  refused(y ~ s(a), "`start`", "dpsosp_error_smooth", start = c(0, 0))
  refused(y ~ s(a), "`geometry`", "dpsosp_error_smooth", geometry = geometry_public(5, 3))
  refused(y ~ s(a), "do not go with smooth terms", "dpsosp_error_inference", inference = "model")
  refused(y ~ s(a), "smooth", "dpsosp_error_smooth", model = model_mlp(3))
  expect_error(dp_plan(1000, formula = y ~ s(a), schema = d, eps = 1), "takes no smooth terms",
               class = "dpsosp_error_argument")
  expect_identical(nrow(dp_ledger(budget)), 0L)
})

test_that("`smooth = TRUE` makes smooths of the terms that are numeric columns", {
  d <- smooth_problem(4000)[c("y", "a", "z", "f")]
  fit <- smooth_fit(y ~ ., d, smooth = TRUE)
  expect_setequal(attr(terms(formula(fit)), "term.labels"), c("f", "s(a)", "s(z)"))
  expect_identical(coef(fit), coef(smooth_fit(y ~ f + s(a) + s(z), d)))
})

# ---- fits ----

test_that("a smooth finds a shape that a straight line has not, at the same cost", {
  d <- smooth_problem(20000)
  held <- smooth_problem(5000, seed = 2)
  loss <- function(fit) {
    p <- predict(fit, held, type = "response")
    -mean(held$truth * log(p) + (1 - held$truth) * log(1 - p))
  }
  line <- smooth_fit(y ~ a + b + z + f, d)
  smooth <- smooth_fit(y ~ s(a) + s(b) + s(z) + f, d)
  expect_lt(loss(smooth), loss(line) - 0.1)
  expect_equal(sum(dp_ledger(smooth)$rho), sum(dp_ledger(line)$rho))
  spent <- function(fit) sum(dp_ledger(fit)$rho[dp_ledger(fit)$what == "ranges"]) / fit$privacy$rho
  expect_equal(spent(smooth), 0.05)
  expect_identical(names(coef(smooth))[2:4], c("s(a)", "s(a).2", "s(a).3"))
})

test_that("with little data a smooth is the straight line, to the bit", {
  d <- smooth_problem(2000)
  bounds <- list(a = c(0, 10), b = c(0, 5000), z = c(0, 300))
  line <- smooth_fit(y ~ a + b + z + f, d, eps = 0.1, bounds = bounds)
  smooth <- smooth_fit(y ~ s(a) + s(b) + s(z) + f, d, eps = 0.1, bounds = bounds)
  expect_identical(unname(coef(smooth)), unname(coef(line)))
  expect_identical(names(coef(smooth))[2:4], c("s(a)", "s(b)", "s(z)"))
  expect_identical(dp_ledger(smooth), dp_ledger(line))
  found <- lapply(c(y ~ s(a) + f, y ~ a + f), function(formula) coef(smooth_fit(formula, d, eps = 0.1)))
  expect_identical(unname(found[[1]]), unname(found[[2]]))
})

test_that("`k` is the largest number of columns, and the number follows from public facts otherwise", {
  d <- smooth_problem(8000)
  size <- function(fit, label) sum(startsWith(names(coef(fit)), label))
  fit <- smooth_fit(y ~ s(a, k = 5) + s(b), d, bounds = list(a = c(0, 10)))
  expect_identical(size(fit, "s(a)"), 5L)
  columns <- function(records, formula = y ~ s(a) + s(b)) {
    design <- dpsosp:::size_smooths(design_template(formula, d), records)
    vapply(design$smooth$terms, function(term) term$columns, 0L)
  }
  expect_equal(unname(columns(40)), c(1, 1))
  expect_equal(unname(columns(5 / 0.06 + 1)), c(2, 2)) # two columns more, of d = 3
  expect_equal(unname(columns(5 / 0.06 - 1)), c(1, 1))
  expect_equal(unname(columns(1e6)), c(16, 16))
  expect_equal(unname(columns(40, y ~ s(a, k = 9) + s(b))), c(9, 1))
})

test_that("a rare class leaves a smooth fewer columns, and a fit with little noise converges", {
  set.seed(5)
  d <- data.frame(a = pmax(rnorm(8000, 835, 480), 0), b = rnorm(8000, 33000, 13000))
  eta <- -10.8 + 0.0056 * d$a
  d$y <- runif(8000) < plogis(eta)
  bounds <- list(a = c(0, 2048), b = c(0, 65536))
  rare <- smooth_fit(y ~ s(a), d, eps = 0.5, bounds = bounds)
  even <- smooth_fit(y ~ s(a), transform(d, y = a > 835), eps = 0.5, bounds = bounds)
  expect_lt(length(coef(rare)), length(coef(even)) - 3)
  fit <- smooth_fit(y ~ s(a) + s(b), d, eps = 30, bounds = bounds)
  expect_gt(length(coef(fit)), 20)
  loss <- function(t) mean(plogis(eta) * log1p(exp(-t)) + plogis(-eta) * log1p(exp(t)))
  expect_lt(loss(predict(fit, d)) - loss(eta), 0.004)
})

test_that("the curved part of each smooth has a size of its own, which is small where the truth is a straight line", {
  d <- smooth_problem(8000)
  d$y <- runif(8000) < plogis(2 * sin(d$a) + 0.1 * (d$c <- rnorm(8000)))
  d$value <- 2 * sin(d$a) + 0.1 * d$c + rnorm(8000)
  bounds <- list(a = c(0, 10), b = c(0, 5000), c = c(-4, 4))
  fit <- smooth_fit(y ~ f + s(c) + b + s(a) + ti(a, c), d, bounds = bounds)
  number <- dpsosp:::curved_parts(fit$design)
  names <- names(coef(fit))[dpsosp:::design_order(fit$design)]
  expect_identical(unique(number[startsWith(names, "s(c).")]), 1)
  expect_identical(unique(number[startsWith(names, "s(a).")]), 2)
  expect_identical(unique(number[startsWith(names, "ti(")]), 3)
  expect_setequal(names[number == 0], c("(Intercept)", "fv", "fw", "s(c)", "b", "s(a)"))
  expect_null(dpsosp:::curved_parts(smooth_fit(y ~ a + f, d, bounds = bounds["a"])$design))
  for (response in c("y", "value")) {
    one <- function() {
      smooth_fit(stats::reformulate(c("s(a)", "s(c)"), response), d, eps = 1,
                 bounds = list(a = c(0, 10), c = c(-4, 4), value = c(-6, 6)),
                 loss = if (response == "y") "logistic" else "squared")
    }
    fit <- one()
    curved <- function(fit, label) sum(coef(fit)[startsWith(names(coef(fit)), paste0(label, "."))]^2)
    local({
      local_value("curved_parts", function(design) NULL)
      without <- one()
      expect_lt(curved(fit, "s(c)"), 0.75 * curved(without, "s(c)"))
      expect_gt(curved(fit, "s(a)"), 0.95 * curved(without, "s(a)"))
    })
  }
})

test_that("fits with curves have a ridge for larger solutions where there is little noise, and no fewer steps", {
  job <- function(...) {
    utils::modifyList(list(design = list(smooth = list(added = "s(a).2")), side = 100, n = 1e4, rho = 1 / 2,
                           neighbours = "replace-one", control = list(iterations = NA, matrix_share = NA)), list(...))
  }
  norm <- function(...) dpsosp:::ridge_norm(job(...)) / dpsosp:::ridge_size
  expect_equal(norm(), 0.16 / sqrt(10 / 1e4))
  expect_equal(norm(side = 400), 0.16 / sqrt(20 / 1e4))
  expect_equal(norm(class_fraction = 0.1), 0.16 / sqrt(10 / (0.36 * 1e4)))
  expect_equal(norm(neighbours = "zero-out"), 0.16 / sqrt(10 / 2e4))
  expect_equal(norm(n = 100), 1)
  lines <- list(smooth = list(added = character()))
  expect_equal(norm(design = lines), 1)
  steps <- function(...) dpsosp:::ridge_control(job(...))$iterations
  expect_identical(c(steps(), steps(design = lines), steps(n = 10001, design = lines)), c(160L, 70L, 160L))
  expect_identical(steps(control = list(iterations = 7, matrix_share = NA)), 7)
})

test_that("public knots are taken as they are, and no values are counted for them", {
  d <- smooth_problem(4000)
  knots <- c(0, 1, 3, 5, 8, 10)
  fit <- smooth_fit(y ~ s(a, knots = c(3, 0, 1, 5, 8, 10)), d)
  expect_false("ranges" %in% dp_ledger(fit)$what)
  expect_equal(fit$design$smooth$terms[["s(a)"]]$knots, knots)
  expect_length(coef(fit), 1 + 5)
  knots <- c(0, 2, 10)
  expect_identical(coef(smooth_fit(y ~ s(a, knots = knots), d)), coef(smooth_fit(y ~ s(a, knots = c(0, 2, 10)), d)))
})

test_that("predictions are functions that are linear between knots", {
  fit <- smooth_fit(y ~ s(a) + f, smooth_problem(8000))
  term <- fit$design$smooth$terms[["s(a)"]]
  at <- function(a) predict(fit, data.frame(a = a, f = "u"))
  middle <- term$knots[-1] / 2 + term$knots[-length(term$knots)] / 2
  value <- at(term$knots)
  expect_equal(at(middle), value[-1] / 2 + value[-length(value)] / 2)
  own <- coef(fit)[grep("^s\\(a\\)", names(coef(fit)))]
  expect_equal(value, unname(coef(fit)[[1]] + drop(cbind(term$knots, term$values) %*% own)))
  expect_identical(at(c(-100, 1e9, NA)), at(c(range(term$knots), NA)))
})

test_that("a product of smooths finds an interaction", {
  set.seed(4)
  n <- 20000
  d <- data.frame(a = runif(n), b = runif(n))
  d$y <- runif(n) < plogis(6 * (d$a - 0.5) * (d$b - 0.5) * 4)
  grid <- expand.grid(a = c(0.1, 0.9), b = c(0.1, 0.9))
  bounds <- list(a = c(0, 1), b = c(0, 1))
  fit <- smooth_fit(y ~ s(a) + s(b) + ti(a, b), d, bounds = bounds)
  expect_identical(predict(fit, grid, type = "class"), c("TRUE", "FALSE", "FALSE", "TRUE")[c(1, 2, 3, 4)] == "TRUE")
  expect_true(all(paste0("ti(a, b).", rep(1:3, 3), ".", rep(1:3, each = 3)) %in% names(coef(fit))))
  degree <- stats::setNames(dpsosp:::column_degrees(fit$design), fit$design$columns$name)
  expect_equal(degree[c("s(a)", "s(a).2", "s(b).5", "ti(a, b).1.1", "ti(a, b).3.2")],
               c(1, 2^1.5, 5^1.5, 2, 3^1.5 + 2^1.5),
               ignore_attr = TRUE)
  one <- smooth_fit(y ~ s(a) + s(b) + ti(a, b, k = 1), d, bounds = bounds)
  expect_identical(tail(names(coef(one)), 1), "ti(a, b)")
})

# ---- privacy ----

# Two records may differ by one cell each, whatever the breaks are: neighbours at a knot and with other odd values.
test_that("one record changes its own row, and two counts of each column by one", {
  d <- smooth_problem(300)
  design <- dpsosp:::size_smooths(design_template(y ~ s(a) + s(b) + s(log(b + 1)) + f + ti(a, b), d,
                                                  list(a = c(0, 10), b = c(0, 5000))), 1e6)
  cells <- lapply(stats::setNames(nm = dpsosp:::counted_smooths(design)), function(name) {
    cells_of(dpsosp:::equal_cells(design$ranges[name, ], dpsosp:::smooth_cells), rexp(48))
  })
  full <- dpsosp:::complete_smooths(design, cells)
  knots <- full$smooth$terms[["s(a)"]]$knots
  x <- design_matrix(full, d)
  expect_lte(max(abs(x)), 1)
  expect_lte(max(rowSums(x^2)) + 1, full$radius^2 + 1e-12)
  counts <- function(data) {
    Map(function(column, cell) tabulate(findInterval(column, cell$breaks, rightmost.closed = TRUE), 48),
        dpsosp:::design_private_columns(design, data), cells)
  }
  before <- counts(d)
  for (value in c(knots, knots * (1 + 1e-15), -5, 1e300, NA, NaN, Inf, -Inf)) {
    other <- d
    other$a[7] <- other$b[7] <- value
    expect_identical(design_matrix(full, other)[-7, ], x[-7, ])
    after <- counts(other)
    for (name in names(before)) expect_lte(sum(abs(after[[name]] - before[[name]])), 2)
  }
})

test_that("no more columns are counted than are charged for", {
  d <- smooth_problem(3000)
  counted <- function(formula, bounds = list()) {
    design <- dpsosp:::size_smooths(design_template(formula, d, bounds), 1e6)
    dpsosp:::design_counted_names(design)
  }
  expect_setequal(counted(y ~ s(a) + s(b) + z), c("s(a)", "s(b)", "z"))
  expect_setequal(counted(y ~ s(a) + z, list(a = c(0, 10), z = c(0, 9))), "s(a)")
  expect_identical(counted(y ~ s(a, knots = 1:4)), character())
  expect_identical(counted(y ~ s(a, k = 1), list(a = c(0, 10))), character())
  budget <- dp_budget(rho = 1)
  columns <- list(p = d$a, q = d$b)
  known <- rbind(p = c(lower = 0, upper = 10), q = c(0, 1000))
  found <- dpsosp:::private_ranges(columns, budget, 1e-3, "replace-one", TRUE, known = known)
  expect_equal(sum(dp_ledger(budget)$rho), 1e-3)
  expect_equal(nrow(dp_ledger(budget)), 1)
  expect_identical(names(attr(found, "cells")), c("p", "q"))
})

test_that("masses have the noise that is paid for: sqrt(2 m / (2 rho)) per count of m columns", {
  columns <- as.list(smooth_problem(3000)[c("a", "b")])
  known <- rbind(a = c(lower = 0, upper = 10), b = c(0, 1000))
  counts <- function(seed) {
    set.seed(seed)
    found <- dpsosp:::private_ranges(columns, dp_budget(rho = 1), 0.08, "replace-one", TRUE, known = known)
    3000 * attr(found, "cells")$a$mass
  }
  expect_equal(sd(counts(1) - counts(2)) / sqrt(2), sqrt(2 * 2 / (2 * 0.08)), tolerance = 0.25)
})

test_that("what double precision cannot tell apart, names of parts and repeated products are refused before a charge", {
  set.seed(1)
  d <- data.frame(x = stats::runif(300), z = stats::runif(300), y = factor(rep(c("a", "b"), 150)))
  d[["s(x).2"]] <- d$z
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(formula, pattern, ...) {
    expect_error(dp_sosp(formula, d, budget = budget, ...), pattern, class = "dpsosp_error_argument")
  }
  for (ends in list(c(1e10, 1e10 + 1e-5), c(1, 1 + 1e-15), c(0, 5e-324))) {
    refused(y ~ s(x) + z, "must have a width", bounds = list(x = ends))
  }
  refused(y ~ s(x, knots = c(1e10, 1e10 + 2e-6, 1e10 + 4e-6)), "not nearer")
  refused(y ~ s(x) + `s(x).2`, "has the name of a smooth")
  refused(y ~ s(x) + s(z) + ti(x, z) + ti(z, x), "two products")
  refused(y ~ s(x) + s(z) + ti(x, z, k = 2) + ti(x, z, k = 3), "two products|twice")
  expect_equal(nrow(dp_ledger(budget)), 0)
  fit <- quiet_fit(y ~ s(x) + z, d, eps = 1, delta = 1e-6, method = "auto")
  expect_equal(dim(predict(fit, d[0, ], type = "terms")), c(0L, 2L))
})
