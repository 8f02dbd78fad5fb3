# Rows that are not a matrix of doubles: the same results, less memory, and errors for corrupt objects.

exactly <- function() dp_budget(mu = 1e12)
same_noise <- function(ask) {
  set.seed(1)
  as.vector(ask)
}

# Releases of two oracles with the same noise, which differ by rounding only.
expect_same_answers <- function(one, two, dim) {
  w <- (-1)^seq_len(dim) * seq_len(dim) / dim
  questions <- list(function(o) dp_value(o, w, mu = 1e9), function(o) dp_gradient(o, w, mu = 1e9),
                    function(o) dp_hessian(o, w, mu = 1e9),
                    function(o) dp_line_search(o, w, -w, 2:1, mu = 1e9)$decrease)
  for (ask in questions) expect_equal(same_noise(ask(one)), same_noise(ask(two)), tolerance = 1e-12)
}

test_that("answers do not depend on how rows are kept", {
  p <- problem_matrix(3000, 6)
  p$x[, 2:4] <- round(p$x[, 2:4])
  p$x[7, 3] <- NA
  for (storage in storages) {
    for (intercept in c(TRUE, FALSE)) {
      open <- function(storage, x) {
        stored_oracle(storage, x, p$y, "sigmoid", exactly(), 1.5, intercept, noise = "reproducible")
      }
      expect_same_answers(open(storage, p$x), open("dense", rounded(storage, p$x)), 6 + intercept)
    }
  }
})

test_that("a fit to a sparse matrix is the one to the dense matrix, names and prediction included", {
  skip_if_not_installed("Matrix")
  p <- problem_matrix(400, 4)
  p$x[, 2:3] <- round(p$x[, 2:3])
  p$x[5, 1] <- NA
  sparse <- as_sparse(p$x)
  run <- function(x) {
    set.seed(2)
    quiet_fit(x, p$y, eps = 20, radius = 1.2, noise = "reproducible")
  }
  one <- run(sparse)
  two <- run(p$x)
  expect_equal(coef(one), coef(two), tolerance = 1e-10)
  expect_equal(one$privacy, two$privacy, tolerance = 1e-8) # costs depend on releases, which differ in their last bits
  for (type in c("link", "response", "class")) expect_equal(predict(one, sparse, type), predict(one, p$x, type))
  expect_error(predict(one, sparse[, 1:2]), "4 columns", class = "dpsosp_error_argument")
  empty <- as_sparse(matrix(0, 3, 4))
  expect_equal(predict(one, empty), predict(one, matrix(0, 3, 4)))
})

test_that("broken slots are refused before anything is charged", {
  skip_if_not_installed("Matrix")
  budget <- dp_budget(rho = 1)
  good <- as_sparse(matrix(c(1, 0, 2, 0, 3, 0, 4, 5), 4))
  broken <- function(slot, value) {
    attr(good, slot) <- value
    good
  }
  slots <- list(
    i = list(c(-1L, 2L, 0L, 2L, 3L), c(0L, 4L, 0L, 2L, 3L), c(NA, 2L, 0L, 2L, 3L), c(2L, 0L, 0L, 2L, 3L),
             c(2L, 2L, 0L, 2L, 3L), 0L, integer(), c(0, 2, 0, 2, 3), "a"),
    p = list(c(0L, 6L, 5L), c(0L, -1L, 5L), c(1L, 2L, 5L), c(0L, 2L, 4L), c(0L, 2L, NA), c(0L, 2L), 0L, integer(),
             c(0, 2, 5), .Machine$integer.max),
    x = list(1, numeric(), rep(1, 6), 1:5, letters[1:5]),
    Dim = list(c(4L, 3L), c(4L, 1L), c(2L, 2L), c(-4L, 2L), c(NA, 2L), 4L, c(4, 2), c(0L, 2L))
  )
  for (slot in names(slots)) {
    for (value in slots[[slot]]) {
      x <- broken(slot, value)
      for (call in expression(dp_sosp(x, c(0, 1, 0, 1), radius = 1, budget = budget),
                              dp_oracle(x, c(0, 1, 0, 1), "logistic", budget, 1))) {
        expect_error(eval(call), "`x` (is not a sound dgCMatrix|has no rows)", class = "dpsosp_error_argument")
      }
    }
  }
  expect_error(dp_oracle(good, c(0, 1, 0, 1), "logistic", budget, 1, storage = "single"), "storage",
               class = "dpsosp_error_argument")
  odd <- broken("Dimnames", "none")
  expect_named(coef(quiet_fit(odd, c(0, 1, 0, 1), eps = 1, radius = 1)), c("(Intercept)", "x1", "x2"))
  expect_equal(nrow(dp_ledger(budget)), 0)
})

# ---- designs ----

# Numeric columns between and after factors, levels that do not occur, missing codes.
mixed <- function(n = 600) {
  d <- problem_frame(n)
  d$g <- factor(rep_len(c(1:5, NA), n), levels = 0:9)
  d$l <- rep_len(c(TRUE, FALSE, FALSE), n)
  d$one <- factor(rep("only", n))
  d
}

test_that("codes are the indicators of the dense design", {
  design_rows <- dpsosp:::design_rows
  order <- dpsosp:::design_order
  for (formula in list(y ~ f + a + g + b + l + one, y ~ g + a + f - 1, y ~ f, y ~ a + l)) {
    design <- dpsosp:::design_template(formula, mixed(), frame_bounds[intersect(all.vars(formula), c("a", "b"))])
    dense <- dpsosp:::design_matrix(design, mixed())
    for (storage in c("double", "single")) {
      rows <- design_rows(design, mixed(), storage)
      budget <- exactly()
      open <- function(rows, y) {
        dpsosp:::new_oracle(list(rows = rows, y = y), loss_sigmoid(), budget, design$radius, design$intercept,
                            "replace-one", "reproducible")
      }
      y <- rep_len(c(1, -1, -1), 600)
      at <- if (design$intercept) order(design)[-1] - 1L else order(design)
      expect_same_answers(open(rows, y), open(rounded(storage, dense[, at, drop = FALSE]), y), length(order(design)))
    }
  }
})

test_that("a fit with factors among its columns reports each coefficient under its name", {
  d <- mixed(3000)
  fit <- quiet_fit(y ~ f + a + l, d, eps = 1e5, bounds = frame_bounds["a"], method = "newton")
  single <- quiet_fit(y ~ f + a + l, d, eps = 1e5, bounds = frame_bounds["a"], method = "newton", storage = "single")
  exact <- coef(stats::glm(y ~ f + a + l, stats::binomial(), d))
  expect_equal(names(coef(fit)), names(exact))
  expect_equal(unname(coef(fit)), unname(exact), tolerance = 0.02)
  expect_equal(coef(single), coef(fit), tolerance = 0.02)
  start <- coef(fit)
  again <- quiet_fit(y ~ f + a + l, d, eps = 1e5, bounds = frame_bounds["a"], method = "gd", start = start,
                     control = control_gd(max_iterations = 1))
  expect_equal(coef(again), coef(fit), tolerance = 0.1)
})

test_that("a matrix of second derivatives that is too large is refused before anything is charged", {
  skip_if_not_installed("Matrix")
  n <- 40
  x <- as_sparse(matrix(0, n, 8192))
  y <- rep(0:1, n / 2)
  budget <- dp_budget(rho = 1)
  o <- dp_oracle(x, y, "logistic", budget, 1)
  expect_error(dp_hessian(o, numeric(8193), rho = 0.1), "8193 x 8193 numbers, 512 MiB", class = "dpsosp_error_size")
  fit <- function(...) dp_sosp(x, y > 0, radius = 1, budget = budget, progress = FALSE, ...)
  for (method in c("tr", "newton", "damped-newton")) expect_error(fit(method = method), class = "dpsosp_error_size")
  expect_error(fit(method = "opt", control = control_opt("published")), class = "dpsosp_error_size")
  expect_error(fit(loss = "sigmoid", target = sosp(0.1, 0.01)), "not convex", class = "dpsosp_error_size")
  expect_error(fit(penalty = penalty_nonconvex(1), target = sosp(0.1, 0.01)), class = "dpsosp_error_size")
  expect_equal(nrow(dp_ledger(budget)), 0)
  expect_length(dp_gradient(o, numeric(8193), rho = 0.1), 8193)
  expect_s3_class(suppressWarnings(fit(method = "gd")), "dp_sosp")
})
