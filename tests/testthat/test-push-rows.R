# Where a database should compute the sums, a fit says when its rows are fetched.

d <- problem_frame(200)
d$w <- rep(c(1, 0.5, NA, 2), 50)
d$o <- rep(c(0.5, -0.5, NA, 0, 1), 40)
wide <- cbind(d["y"], matrix(cos(1:3200), 200, dimnames = list(NULL, paste0("x", 1:16))))
wide_bounds <- stats::setNames(rep(list(c(-1, 1)), 16), names(wide)[-1])

# A source that counts passes over its rows.
counted <- function(data, frame = parent.frame()) {
  source <- push_pair(sqlite_connection(frame), data)$push
  open <- source$open
  passes <- 0
  source$open <- function(columns) {
    passes <<- passes + 1
    open(columns)
  }
  list(source = source, passes = function() passes)
}

# The messages about rows, each with the number of charges and of passes when it came.
told <- function(data, ..., formula = y ~ a + b + f, bounds = frame_bounds, budget = dp_budget(eps = 5, delta = 1e-6)) {
  counter <- counted(data)
  found <- data.frame(text = character(), charges = integer(), passes = integer())
  set.seed(4)
  fit <- withCallingHandlers(
    suppressWarnings(dp_sosp(formula, counter$source, bounds = bounds, budget = budget, noise = "reproducible", ...)),
    message = function(m) {
      if (inherits(m, "dpsosp_message_rows")) {
        found[nrow(found) + 1L, ] <<- list(conditionMessage(m), nrow(dp_ledger(budget)), counter$passes())
      }
      invokeRestart("muffleMessage")
    }
  )
  list(found = found, passes = counter$passes(), fit = fit)
}

test_that("with and without a geometry no rows are fetched and nothing is said, also where a start is released", {
  for (method in c("newton", "2opt-ls", "opt", "tr", "gd", "cubic")) {
    control <- if (method == "newton") control_newton(iterations = 2)
    for (geometry in long_values(c("none", "private"), nchar(method))) {
      seen <- told(d, method = method, geometry = geometry, control = control)
      expect_equal(c(nrow(seen$found), seen$passes), c(0, 0), info = method)
    }
  }
  for (method in c("auto", "newton-ridge")) {
    seen <- told(d, method = method)
    expect_equal(c(nrow(seen$found), seen$passes), c(0, 0), info = method)
  }
})

test_that("the database finds the same constant prediction, of the records that are used, as in memory", {
  fits <- lapply(list(d, push_pair(sqlite_connection(), d)$push), function(data) {
    set.seed(4)
    quiet_fit(y ~ a + offset(o), data, method = "newton", weights = w, subset = b < 0.5, eps = hardly_any, delta = 1e-6,
              control = control_newton(iterations = 2), bounds = c(frame_bounds, list(o = c(-0.3, 0.3))),
              noise = "reproducible")
  })
  class <- lapply(fits, function(fit) fit$checks$class$fraction)
  expect_equal(class[[2]], class[[1]], tolerance = 1e-5)
  expect_equal(coef(fits[[2]]), coef(fits[[1]]), tolerance = 1e-4)
})

test_that("other reasons are told before the fit, too", {
  expect_equal(nrow(told(d, method = "gd", geometry = "none", bounds = "private")$found), 0L)
  for (method in c("agd", "spider")) {
    seen <- told(d, method = method)
    expect_match(seen$found$text, paste0("method \"", method, "\" asks"), info = method)
    expect_equal(seen$found$passes, 0, info = method)
  }
})

test_that("what no public fact has told is told at the end", {
  seen <- told(wide, method = "damped-newton", formula = y ~ ., bounds = wide_bounds)
  expect_equal(nrow(seen$found), 1L)
  expect_match(seen$found$text, "Sums in the database")
  expect_gt(seen$found$passes, 0)
})

test_that("an oracle says it, as all of its sums need the rows", {
  source <- counted(d[c("a", "b", "y")])$source
  expect_message(dp_oracle(source, "y", budget = dp_budget(mu = 1), radius = 40), "an oracle",
                 class = "dpsosp_message_rows")
})

test_that("rows that no clip shortens have no bias", {
  pair <- loss_pair(loss_source(sqlite_connection(), loss_frame(2000)), z ~ a + b + f, dpsosp:::loss_logistic())
  asked <- loss_ask(pair, "moments", 1)
  memory <- loss_memory(pair, asked, FALSE)
  large <- memory > 100 # of 2000: rounding adds little to these
  expect_gt(sum(large), 3)
  expect_lt(max(abs(ask_database(pair$connection, pair$plan, asked)[-1][large] / memory[large] - 1)), 2e-7)
})
