# Events in the middle of a run: interrupts, errors, jumps, garbage collections, forks, files, other fits. Charges are
# never undone, the budget is never exceeded, and the result is a value or a constant condition.

p <- problem_matrix(300)
w0 <- c(0, 0, 0)
some_oracle <- function(budget, noise = "secure") dp_oracle(p$x, p$y, "logistic", budget, 2, noise = noise)
interrupted <- structure(class = c("interrupt", "condition"), list(message = "", call = NULL))

# Runs code with a function (done, total) in place of progress bars.
with_progress <- function(callback, code) {
  old <- dpsosp:::progress_bar
  on.exit(utils::assignInNamespace("progress_bar", old, "dpsosp"))
  utils::assignInNamespace("progress_bar", function(show, method) callback, "dpsosp")
  force(code)
}
at_call <- function(k, act) {
  calls <- 0
  function(done, total) {
    calls <<- calls + 1
    if (calls == k) act()
  }
}
# The same run each time, with about ten queries of three kinds.
run <- function(budget, seed = 1) {
  set.seed(seed)
  quiet_fit(p$x, p$y, radius = 2, budget = budget, loss = "sigmoid", method = "2opt-ls", noise = "reproducible",
            target = sosp(0.01, 0.02), control = control_opt(max_iterations = 8))
}
some_budget <- function() dp_budget(eps = 40, delta = 1e-6)
whole <- local({
  calls <- 0
  budget <- some_budget()
  fit <- with_progress(function(done, total) calls <<- calls + 1, run(budget))
  list(fit = fit, ledger = dp_ledger(budget), calls = calls)
})

# All queries on an oracle and a budget, with small costs.
questions <- list(
  value = function(o, b) dp_value(o, w0, rho = 1e-4),
  gradient = function(o, b) dp_gradient(o, w0, rho = 1e-4),
  hessian = function(o, b) dp_hessian(o, w0, rho = 1e-4),
  search = function(o, b) dp_line_search(o, w0, c(1, 0, 0), 2:1, rho = 1e-4),
  svt = function(o, b) dp_line_search(o, w0, c(1, 0, 0), 2:1, rho = 1e-4, mechanism = "svt"),
  exponential = function(o, b) dp_line_search(o, w0, c(1, 0, 0), 2:1, rho = 1e-4, mechanism = "exponential"),
  fit = function(o, b) quiet_fit(p$x, p$y, radius = 2, budget = b),
  ranges = function(o, b) quiet_fit(y ~ a, problem_frame(50), budget = b)
)

test_that("the run of these tests asks several questions", {
  expect_gt(whole$calls, 2)
  expect_true(all(c("gradient", "hessian", "line search") %in% whole$ledger$what))
})

# ---- interrupts, errors and jumps ----

test_that("a jump out of a progress callback ends the run as an interrupt, wherever it comes", {
  jumps <- list(
    interrupt = function() {
      signalCondition(interrupted)
      invokeRestart("abort")
    },
    error = function() stop("in the callback"),
    restart = function() invokeRestart("escape"),
    continuation = function() out(NULL)
  )
  out <- NULL
  for (jump in jumps) {
    rows <- integer()
    for (k in seq_len(whole$calls)) {
      budget <- some_budget()
      utils::capture.output(type = "message", {
        end <- withRestarts(escape = function() "escaped", callCC(function(leave) {
          out <<- leave
          with_progress(at_call(k, jump), tryCatch(run(budget), interrupt = identity, error = identity))
        }))
      })
      # A constant text: it contains nothing about the data, the noise, or the progress of the run.
      expect_identical(end, interrupted)
      ledger <- dp_ledger(budget)
      rows[k] <- nrow(ledger)
      # The ledger without the rows that the complete run adds later; one query was charged but returned nothing.
      expect_identical(ledger$rho, head(whole$ledger$rho, rows[k]))
      expect_identical(dp_ledger(budget), ledger)
      left <- dp_convert(eps = 40, delta = 1e-6, to = "mu")^2 / 2 - sum(ledger$rho)
      expect_error(dp_gradient(some_oracle(budget), w0, rho = left * (1 + 1e-6)), class = "dpsosp_budget_exhausted")
    }
    expect_gt(rows[1], 0)
    expect_true(all(diff(rows) >= 1))
  }
})

test_that("the budget of an interrupted run can be used for what is left", {
  budget <- some_budget()
  utils::capture.output(type = "message", {
    end <- with_progress(at_call(2, function() stop("now")), tryCatch(run(budget), interrupt = identity))
  })
  expect_identical(end, interrupted)
  before <- dp_ledger(budget)
  set.seed(2)
  fit <- quiet_fit(p$x, p$y, radius = 2, budget = budget)
  expect_equal(fit$privacy$rho + sum(before$rho), dp_convert(eps = 40, delta = 1e-6, to = "mu")^2 / 2)
  expect_identical(head(dp_ledger(budget), nrow(before)), before)
})

test_that("real interrupts between and in questions end a run at each of its iterations", {
  skip_on_cran()
  skip_on_os("windows")
  # If an interrupt is pending when the callback ends, the next query finds it; otherwise it interrupts the callback.
  out <- child(c(
    "set.seed(1)",
    "x <- matrix(runif(600, -1, 1), 300)",
    "y <- ifelse(x[, 1] > 0, 1, -1)",
    "send <- function() { tools::pskill(Sys.getpid(), tools::SIGINT); Sys.sleep(0.2) }",
    "send_later <- function() suspendInterrupts({ tools::pskill(Sys.getpid(), tools::SIGINT); Sys.sleep(0.05) })",
    "for (send in list(send, send_later)) for (k in 1:4) {",
    "  calls <- 0",
    "  assignInNamespace('progress_bar', function(show, method) function(done, total) {",
    "    calls <<- calls + 1",
    "    if (calls == k) send()",
    "  }, 'dpsosp')",
    "  budget <- dp_budget(eps = 40, delta = 1e-6)",
    "  end <- tryCatch({",
    "    dp_sosp(x, y, radius = 2, budget = budget, method = 'opt', target = sosp(1e-9, 1), start = numeric(3))",
    "    'finished'",
    "  }, interrupt = function(e) 'interrupt')",
    "  cat('run', end, calls == k, sum(dp_ledger(budget)$what != 'usable records') == k, '\\n')",
    "}"
  ))
  expect_identical(trimws(grep("^run", out, value = TRUE)), rep("run interrupt TRUE TRUE", 8))
})

test_that("an error in showing progress does not end a run", {
  bar <- dpsosp:::progress_bar(TRUE, "test")
  expect_silent(expect_null(bar(stop("shown wrongly"), 3)))
  expect_s3_class(with_progress(bar, run(some_budget())), "dp_sosp")
  expect_null(dpsosp:::progress_bar(FALSE, "test"))
  expect_error(bar(invokeRestart("none of this name"), 3), NA)
})

# ---- garbage collection and R's generator ----

test_that("garbage collections in the middle of a run change nothing", {
  skip_unless_long()
  collect <- function(done, total) {
    dp_oracle(p$x, p$y, "logistic", dp_budget(mu = 1), 2)
    gc(full = TRUE)
  }
  expect_identical(with_progress(collect, run(some_budget())), whole$fit)
})

test_that("random numbers drawn by a callback are no noise of the run", {
  # A callback that restores the generator's state is not detected, as that is the state of the run.
  polite <- function(done, total) {
    seed <- .Random.seed
    runif(5)
    assign(".Random.seed", seed, globalenv())
  }
  expect_identical(with_progress(polite, run(some_budget())), whole$fit)
  # A callback that draws advances the generator, so both never use the same numbers.
  drawn <- NULL
  after <- with_progress(function(done, total) drawn <<- c(drawn, runif(1)), run(some_budget()))
  expect_false(identical(after$coefficients, whole$fit$coefficients))
  # The second call draws after the first query's noise, not in its place.
  set.seed(1)
  expect_false(drawn[2] == runif(2)[2])
})

# ---- two fits on one budget ----

test_that("a fit within a fit draws on the same budget, and both keep to it", {
  capacity <- dp_convert(eps = 40, delta = 1e-6, to = "mu")^2 / 2
  for (share in list(0.5, 5, NULL)) {
    for (k in c(1, 3)) {
      budget <- some_budget()
      inner <- NULL
      nested <- function() {
        inner <<- suppressMessages(dp_sosp(p$x, p$y > 0, radius = 2, budget = budget, eps = share, progress = FALSE))
      }
      outer <- with_progress(at_call(k, nested), run(budget))
      expect_s3_class(inner, "dp_sosp")
      expect_s3_class(outer, "dp_sosp")
      ledger <- dp_ledger(budget)
      expect_lte(sum(ledger$rho), capacity * (1 + 1e-12))
      # Each row belongs to one of the two fits; values, improvements and the inner fit's moments are in no trace.
      other <- sum(ledger$what %in% c("unused", "usable records", "class counts", "value", "improvement"))
      expect_equal(nrow(ledger), nrow(outer$trace) + 1 + nrow(inner$trace) + other)
      if (is.null(share)) expect_equal(outer$status, "budget")
    }
  }
})

test_that("questions of two oracles and two fits, in turns, add up to one budget", {
  budget <- dp_budget(mu = 1)
  one <- some_oracle(budget)
  two <- dp_oracle(p$x, p$y, "sigmoid", budget, 2)
  for (i in 1:10) for (o in list(one, two)) dp_gradient(o, w0, rho = 0.01)
  quiet_fit(p$x, p$y, radius = 2, budget = budget, eps = 0.5, delta = 1e-6)
  dp_gradient(two, w0, rho = 0.01)
  quiet_fit(p$x, p$y, radius = 2, budget = budget)
  expect_equal(sum(dp_ledger(budget)$rho), 0.5, tolerance = 1e-9)
  for (o in list(one, two)) expect_error(dp_gradient(o, w0, rho = 1e-6), class = "dpsosp_budget_exhausted")
})

test_that("a fit within a fit on a budget of its own does not disturb it", {
  alone <- NULL
  nested <- function() {
    seed <- .Random.seed
    alone <<- run(some_budget(), seed = 5)
    assign(".Random.seed", seed, globalenv())
  }
  expect_identical(with_progress(at_call(2, nested), run(some_budget())), whole$fit)
  expect_identical(run(some_budget(), seed = 5), alone)
})

# ---- forks and files ----

test_that("no question is answered in a forked process", {
  skip_on_os("windows")
  budget <- dp_budget(rho = 1)
  o <- some_oracle(budget)
  classes <- suppressWarnings(parallel::mclapply(questions, function(ask) {
    tryCatch({
      ask(o, budget)
      "answered"
    }, error = class)
  }, mc.cores = 2))
  for (seen in classes) expect_true("dpsosp_error_fork" %in% seen)
  # The same holds in a child of the child, and for an oracle that the child makes on this budget.
  in_fork <- function(expr) unlist(parallel::mccollect(parallel::mcparallel(tryCatch(expr, error = class))))
  expect_true("dpsosp_error_fork" %in% in_fork(in_fork(dp_gradient(o, w0, rho = 1e-4))))
  expect_true("dpsosp_error_fork" %in% in_fork(dp_gradient(some_oracle(budget), w0, rho = 1e-4)))
  expect_equal(nrow(dp_ledger(budget)), 0)
  dp_gradient(o, w0, rho = 1e-4)
  expect_equal(nrow(dp_ledger(budget)), 1)
})

test_that("forked processes with budgets of their own draw noise of their own", {
  skip_on_os("windows")
  gradients <- parallel::mclapply(1:4, function(i) dp_gradient(some_oracle(dp_budget(mu = 1)), w0, mu = 0.5),
                                  mc.cores = 2)
  expect_length(unique(gradients), 4)
})

test_that("nothing restored from a file answers", {
  budget <- dp_budget(rho = 1)
  o <- some_oracle(budget)
  file <- withr::local_tempfile()
  save(budget, o, file = file)
  saved <- new.env()
  load(file, saved)
  copies <- list(
    as.list(saved), unserialize(serialize(list(budget = budget, o = o), NULL)),
    list(budget = budget, o = unserialize(serialize(o, NULL)))
  )
  for (copy in copies) {
    for (name in names(questions)) {
      # With the live budget a fit runs no query on the restored object.
      if (identical(copy$budget, budget) && name %in% c("fit", "ranges")) next
      expect_error(questions[[name]](copy$o, copy$budget), class = "dpsosp_error_restored")
    }
    expect_output(print(copy$o))
    expect_output(print(copy$budget))
  }
  for (copy in copies[1:2]) {
    expect_error(dp_ledger(copy$budget), class = "dpsosp_error_restored")
    expect_error(dp_ledger(copy$o), class = "dpsosp_error_restored")
    expect_error(some_oracle(copy$budget), class = "dpsosp_error_restored")
  }
  expect_equal(nrow(dp_ledger(budget)), 0)
  for (ask in questions[1:6]) ask(o, budget)
  expect_equal(nrow(dp_ledger(budget)), 6)
})

test_that("a pointer in the place of another is refused", {
  budget <- dp_budget(rho = 1)
  o <- some_oracle(budget)
  swapped <- o
  swapped$pointer <- budget$pointer
  expect_error(dp_gradient(swapped, w0, rho = 0.1), class = "dpsosp_error_argument")
  other <- budget
  other$pointer <- o$pointer
  expect_error(dp_ledger(other), class = "dpsosp_error_argument")
  other$pointer <- NULL
  expect_error(dp_ledger(other), class = "dpsosp_error_argument")
})
