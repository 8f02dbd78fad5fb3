# Extreme settings give an argument error with an unchanged ledger, or a result. Also: missing arguments.

set.seed(3)
x <- matrix(runif(80, -1, 1), 40)
y <- rep(c(FALSE, TRUE), 20)

# The error of a fit with a shared budget, which must be unchanged, or of the functions that make its arguments; NULL if
# there is a result. A cost too small to be charged is an error of the budget.
refusal <- function(method, ...) {
  budget <- dp_budget(rho = 1)
  error <- tryCatch({
    quiet(dp_sosp(x, y, radius = 2, method = method, budget = budget, ...))
    NULL
  }, dpsosp_error_argument = identity, dpsosp_budget_exhausted = identity)
  if (!is.null(error)) expect_equal(nrow(dp_ledger(budget)), 0)
  error
}
quiet <- function(expr) suppressMessages(suppressWarnings(expr))
extremes <- c(1e-300, 1e300, .Machine$integer.max)

controls <- list(
  list("2opt-ls", control_opt), list("tr", control_tr), list("gd", control_gd), list("newton", control_newton),
  list("newton", function(...) control_newton("hessian", "clip", ...)),
  list("newton", function(...) control_newton("qu", ...)),
  list("damped-newton", function(...) control_newton("direct", ...)),
  list("cubic", control_cubic), list("outpert", control_perturbation),
  list("spider", control_spider), list("blgd", control_line_search)
)
chosen <- c("constants", "line_search", "stop", "curvature", "modify", "adaptive", "solver", "sampling", "batch",
            "noise")

test_that("every numeric setting of every control is refused before charges, or leads to a result", {
  skip_on_cran() # it takes long
  of_newton <- names(formals(control_newton))
  turn <- 0
  for (pair in controls) {
    settings <- names(formals(pair[[2]]))
    for (setting in setdiff(if (identical(settings, "...")) of_newton else settings, chosen)) {
      turn <- turn + 1
      for (value in long_values(extremes, turn)) {
        control <- function() do.call(pair[[2]], stats::setNames(list(value), setting))
        expect_no_error(refusal(pair[[1]], control = control()), message = paste(pair[[1]], setting, value))
      }
    }
  }
})

test_that("so are budgets, radii, targets and penalties", {
  methods <- c("2opt-ls", "tr", "gd", "newton", "cubic", "outpert", "blgd", "agd")
  for (turn in seq_along(methods)) {
    method <- methods[turn]
    for (value in long_values(extremes, turn)) {
      expect_no_error(refusal(method, eps = value, delta = 1e-6))
      expect_no_error(refusal(method, eps = 1, delta = value))
      expect_no_error(refusal(method, target = sosp(alpha = value)))
      expect_no_error(refusal(method, target = sosp(value, 0.1)))
      expect_no_error(refusal(method, target = sosp(0.1, value)))
      expect_no_error(refusal(method, penalty = penalty_ridge(value)))
    }
  }
  expect_s3_class(refusal("gd", penalty = penalty_ridge(1e300)), "dpsosp_error_argument")
})

test_that("the least settings that are taken lead to a result", {
  expect_null(refusal("newton", control = control_newton("hessian", "clip", lambda0 = 1e-6, iterations = 2)))
  expect_null(refusal("newton", control = control_newton("hessian", curvature_share = 1e-6, iterations = 2)))
  expect_null(refusal("damped-newton", control = control_newton("direct", lambda_scale = 1e-6)))
  expect_null(refusal("cubic", control = control_cubic(hessian_share = 1e-6)))
  expect_error(control_newton(lambda0 = 9e-7), class = "dpsosp_error_argument")
  expect_error(control_newton(trace_share = 9e-7), "1e-6 away", class = "dpsosp_error_argument")
})

test_that("noise that throws a run far away ends in a result, too", {
  x <- matrix(seq(-0.7, 0.7, length.out = 80), 40)
  y <- rep(c(FALSE, TRUE), 20)
  for (seed in 1:60) {
    set.seed(seed)
    fit <- quiet_fit(x, y, eps = 1, delta = 1e-3, radius = 1, method = "newton", noise = "reproducible",
                   control = control_newton("hessian", "clip", lambda0 = 1e-6, iterations = 3))
    expect_true(all(is.finite(coef(fit))))
  }
})

test_that("more coefficients than rounding allows for a lambda0 are refused before charges", {
  wide <- matrix(0, 2, 3000)
  expect_error(dp_sosp(wide, c(FALSE, TRUE), budget = dp_budget(rho = 1), radius = 1, method = "newton",
                       control = control_newton("qu", lambda0 = 2e-6)),
               "at least 2.25e-06", class = "dpsosp_error_argument")
})

test_that("a problem too large for Hessians is refused before its ranges are charged, and runs where none are needed", {
  skip_on_cran() # it takes long
  many <- data.frame(y = c(FALSE, TRUE, FALSE, TRUE), a = 0, f = factor(1:4, levels = 1:8192))
  budget <- dp_budget(rho = 1)
  fit <- function(...) {
    quiet(dp_sosp(y ~ a + f, many, budget = budget, neighbours = "replace-one", progress = FALSE, ...))
  }
  expect_error(fit(loss = "sigmoid", method = "gd"), class = "dpsosp_error_size")
  expect_error(fit(loss = "sigmoid", method = "gd", target = sosp(0.1, 0.01)), class = "dpsosp_error_size")
  expect_equal(nrow(dp_ledger(budget)), 0)
  flat <- matrix(0, 4, 8193)
  on_matrix <- function(...) {
    quiet(dp_sosp(flat, many$y, radius = 1, eps = 1, delta = 1e-6, intercept = FALSE, progress = FALSE, ...))
  }
  expect_error(on_matrix(method = "cubic"), class = "dpsosp_error_size")
  inner <- on_matrix(method = "cubic", penalty = penalty_ridge(1),
                     control = control_cubic("inner", iterations = 1, inner_steps = 3))
  expect_s3_class(inner, "dp_sosp")
  expect_s3_class(on_matrix(loss = "sigmoid", method = "gd", target = sosp(0.1, 1),
                            control = control_gd(max_iterations = 2)), "dp_sosp")
})

test_that("a missing argument is named by an error of the package, in every function", {
  needed <- function(f) {
    empty <- vapply(formals(f), function(default) is.name(default) && !nzchar(as.character(default)), NA)
    setdiff(names(formals(f))[empty], "...")
  }
  for (name in getNamespaceExports("dpsosp")) {
    f <- getExportedValue("dpsosp", name)
    if (!is.function(f) || length(needed(f)) == 0L) next
    expect_error(f(), "is missing|needed|needs|Nothing to fit", class = "dpsosp_error_argument", info = name)
  }
  oracle <- dp_oracle(x, y, "logistic", dp_budget(rho = 1), 2)
  expect_error(dp_value(oracle), "`w` is missing: give one number per coefficient", class = "dpsosp_error_argument")
  expect_error(dp_calibrate(event_gaussian, 1), "`delta` is missing", class = "dpsosp_error_argument")
})

test_that("what is empty, or beyond every limit, has the value of its limit", {
  expect_identical(spline_column(numeric(), 1L, "bs", 20, c(10, 30), 3L, FALSE), numeric())
  expect_null(level_codes(1:3, NULL))
  expect_identical(longest_part(matrix(0, 3, 0)), 0)
  design <- design_template(y ~ a, problem_frame(10))
  expect_identical(size_smooths(design, 100), design)
  expect_identical(log_crossing(1:3, c(0.1, 0.05, 0.01), 0.5, 9), 1L) # below from the start
  expect_identical(smallest(function(x) -1, 2, 200), 2)
  expect_identical(smallest(function(x) 1, 2, 200), NA_real_)
  expect_false(has_row_numbers(list(cache = NULL)))
  # Without counts all octaves weigh the same.
  seen <- list(counts = numeric(length(octave_breaks) - 1L), sd = 1, origin = 0, range = list(lower = -1, upper = 3))
  breaks <- smooth_breaks(seen, 100)
  expect_equal(range(breaks), c(-1, 3))
  expect_gt(min(diff(breaks)), 0)
  curves <- profile_curves(dp_account(event_gaussian(1)), c(1, Inf))
  expect_identical(is.na(curves$pld), c(FALSE, TRUE)) # an infinite eps leaves no delta
  expect_null(alarm_item(list(checks = NULL)))
  group <- group_block(list(accountant = "perturbed", eps = 8, delta = 1e-3), "records")
  expect_identical(group$rows[3, ], c("10", "no guarantee", ""))
})

test_that("combinations of levels and contrasts have their values in each row", {
  f <- factor(c("u", "v", NA, "w", "v"), levels = c("u", "v", "w"))
  g <- c("p", "q", "p", "q", "p")
  labels <- c("v:p", "w:p", "v:q", "w:q")
  value <- crossed(labels, f, c("v", "w"), g, c("p", "q"))
  expect_identical(value, factor(c("", "v:q", NA, "w:q", "v:p"), levels = c("", labels)))
  expect_identical(contrast_column(f, levels(f), c(-1, 0, 1), 1), c(-1, 0, NA, 1, 0))
})
