# Methods on batches of a source whose rows a fit keeps.

d <- problem_frame(2000)
d$a[5] <- NA
d$f[7] <- NA
d$w <- rep(c(1, 0.5, NA, 0.2), 500)

fit <- function(data, method, ...) {
  force(data)
  set.seed(4)
  quiet_fit(y ~ a + b + f, data, method = method, eps = 5, delta = 1e-6, bounds = frame_bounds,
            noise = "reproducible", ...)
}
controls <- list(sgd = control_gd(batch = 200, max_iterations = 30), "opt-b" = NULL, "2opt-b" = NULL, "tr-b" = NULL,
                 "newton-b" = NULL, blsgd = NULL)

test_that("they are those of the same rows in memory, in at most two passes", {
  for (method in long_values(names(controls))) {
    passes <- 0
    open <- in_chunks(d, 700)
    source <- dp_source(function() {
      passes <<- passes + 1
      open()
    }, n = 2000, levels = levels_of(d))
    passes <- 0
    fits <- lapply(list(source, d), fit, method, control = controls[[method]])
    expect_identical(coef(fits[[1]]), coef(fits[[2]]), info = method)
    expect_identical(dp_ledger(fits[[1]]), dp_ledger(fits[[2]]), info = method)
    expect_lte(passes, 2)
  }
  weighed <- lapply(list(dp_source(in_chunks(d, 300)), d), function(data) fit(data, "sgd", weights = w))
  expect_identical(coef(weighed[[1]]), coef(weighed[[2]]))
})

test_that("they are refused before a charge where rows have no numbers", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(source) {
    expect_error(quiet_fit(y ~ a + b, source, method = "sgd", budget = budget, bounds = frame_bounds[c("a", "b")]),
                 "draws batches", class = "dpsosp_error_argument")
  }
  refused(dp_source(in_chunks(d, 700), cache = "none"))
  withr::local_options(dpsosp.cache = 2000 * 8 * 7 - 1)
  refused(dp_source(in_chunks(d, 700)))
  expect_equal(nrow(dp_ledger(budget)), 0L)
})

test_that("a pass that gives too many or too few rows, or fails, releases nothing of a batch", {
  for (rows in list(d[c(1:2000, 1), ], d[1:1999, ])) {
    source <- dp_source(in_chunks(d, 700), n = 2000, levels = levels_of(d))
    source$open <- dp_source(in_chunks(rows, 700))$open
    expect_error(fit(source, "sgd", control = controls$sgd), class = "dpsosp_error_source")
  }
  failing <- FALSE
  source <- dp_source(in_chunks(d, 700, function(at) if (failing) stop("secret")), n = 2000, levels = levels_of(d))
  failing <- TRUE
  error <- expect_error(fit(source, "sgd", control = controls$sgd), class = "dpsosp_error_source")
  expect_no_match(conditionMessage(error), "secret")
  failing <- FALSE
  expect_identical(coef(fit(source, "sgd", control = controls$sgd)), coef(fit(d, "sgd", control = controls$sgd)))
})
