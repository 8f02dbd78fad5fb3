budgets <- list(
  eps = function() dp_budget(eps = 1, delta = 1e-6),
  zcdp = function() dp_budget(eps = 1, delta = 1e-6, accountant = "zcdp"),
  rho = function() dp_budget(rho = 0.02),
  mu = function() dp_budget(mu = 0.3)
)
capacity <- c(
  eps = dp_convert(eps = 1, delta = 1e-6, to = "mu")^2 / 2, zcdp = dp_convert(eps = 1, delta = 1e-6, to = "rho"),
  rho = 0.02, mu = 0.3^2 / 2
)
p <- problem_matrix(100)
some_oracle <- function(budget) dp_oracle(p$x, p$y, "logistic", budget, radius = 2)
w0 <- c(0, 0, 0)

test_that("every kind of budget buys what it says, and no more", {
  for (kind in names(budgets)) {
    budget <- budgets[[kind]]()
    o <- some_oracle(budget)
    half <- capacity[[kind]] / 2
    dp_gradient(o, w0, rho = half)
    expect_error(dp_gradient(o, w0, rho = half * (1 + 1e-6)), class = "dpsosp_budget_exhausted")
    dp_gradient(o, w0, rho = half * (1 - 1e-9))
    expect_error(dp_gradient(o, w0, rho = half * 1e-6), class = "dpsosp_budget_exhausted")
    expect_equal(nrow(dp_ledger(budget)), 2)
    expect_equal(sum(dp_ledger(budget)$rho), capacity[[kind]], tolerance = 1e-8)
  }
})

test_that("a fit that is given a budget spends all of it, in the budget's currency", {
  for (kind in names(budgets)) {
    for (method in c("opt", "opt-ls", "2opt", "2opt-ls")) {
      budget <- budgets[[kind]]()
      fit <- quiet_fit(p$x, p$y, radius = 2, method = method, budget = budget)
      spent <- sum(dp_ledger(budget)$rho)
      expect_lte(spent, capacity[[kind]] * (1 + 1e-12))
      expect_equal(fit$privacy$rho, capacity[[kind]], tolerance = 1e-9)
    }
  }
})

test_that("the ledger of a fit that owns its budget adds up to the budget to 1e-9", {
  for (method in c("opt", "opt-ls", "2opt", "2opt-ls")) {
    for (search in c("gaussian", "svt", "exponential")) {
      for (target in c(0.5, 5)) { # out of reach, and met at the start
        fit <- quiet_fit(p$x, p$y, radius = 2, method = method, eps = 1, delta = 1e-6,
                         control = control_opt(line_search = search), target = sosp(target, target))
        zcdp <- search != "gaussian" && endsWith(method, "-ls")
        ledger <- dp_ledger(fit)
        rho <- sum(ledger$rho)
        expect_equal(fit$privacy$accountant, if (zcdp) "zcdp" else "gdp")
        expect_equal(rho / capacity[[if (zcdp) "zcdp" else "eps"]], 1, tolerance = 1e-9)
        eps <- if (zcdp) dp_convert(rho = rho, delta = 1e-6, to = "eps") else {
          dp_convert(mu = sqrt(2 * rho), delta = 1e-6, to = "eps")
        }
        expect_equal(eps, 1, tolerance = 1e-9)
        # A run of two phases that stops in its first one has a part left.
        if (target == 5 && startsWith(method, "2")) expect_equal(ledger$what[nrow(ledger)], "unused")
      }
    }
  }
})

test_that("a second fit on a spent budget is refused and charges nothing", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  d <- problem_frame(100)
  quiet_fit(y ~ a, d, bounds = frame_bounds["a"], budget = budget, method = "opt")
  before <- dp_ledger(budget)
  for (bounds in list(frame_bounds["a"], "private")) {
    expect_error(quiet_fit(y ~ a, d, bounds = bounds, budget = budget), class = "dpsosp_budget_exhausted")
  }
  expect_error(quiet_fit(p$x, p$y, radius = 2, budget = budget), class = "dpsosp_budget_exhausted")
  expect_error(quiet_fit(p$x, p$y, radius = 2, budget = budget, eps = 0.1), class = "dpsosp_error_budget")
  expect_identical(dp_ledger(budget), before)
})

test_that("two fits of a share each draw on one budget", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  share <- dp_convert(eps = 0.5, delta = 1e-6, to = "mu")^2 / 2
  first <- quiet_fit(p$x, p$y, radius = 2, budget = budget, eps = 0.5, delta = 1e-6, method = "opt")
  expect_equal(sum(dp_ledger(budget)$rho), share, tolerance = 1e-9)
  second <- quiet_fit(p$x, p$y, radius = 2, budget = budget, eps = 0.5, method = "opt")
  expect_equal(second$privacy$delta, 1e-6)
  expect_equal(sum(dp_ledger(budget)$rho), 2 * share, tolerance = 1e-9)
  expect_equal(rbind(dp_ledger(first), dp_ledger(second)), dp_ledger(budget))
  expect_match(first$privacy$shared, "eps = 1", fixed = TRUE)
  # Two fits at eps / 2 cost less than half each, so a part is left.
  third <- quiet_fit(p$x, p$y, radius = 2, budget = budget, method = "opt")
  expect_equal(sum(dp_ledger(budget)$rho) / capacity[["eps"]], 1, tolerance = 1e-9)
  expect_equal(third$privacy$rho, capacity[["eps"]] - 2 * share, tolerance = 1e-9)
})

test_that("what a run that found no better point than its start did not need is left in a shared budget", {
  budget <- dp_budget(eps = 0.03, delta = 1e-6)
  d <- problem_frame(100)
  fit <- quiet_fit(y ~ a, d, bounds = frame_bounds["a"], budget = budget, geometry = "none")
  expect_equal(fit$status, "start")
  expect_equal(coef(fit)[["a"]], 0)
  # The fraction for the decrease is taken of what the fraction for the class, which is uninformative here, left.
  ledger <- dp_ledger(budget)
  had <- (1 - 0.03) * fit$privacy$rho # the rest is for the improvement
  before <- sum(ledger$rho[ledger$what %in% c("class counts", "usable records")])
  expect_equal(sum(ledger$rho), had - fit$control$gap_share * (had - before), tolerance = 1e-6)
})

test_that("a fit that asks for more than is left takes what is left, and says so", {
  budget <- dp_budget(eps = 0.5, delta = 1e-6)
  fit <- quiet_fit(p$x, p$y, radius = 2, budget = budget, eps = 3, delta = 1e-6)
  expect_equal(fit$privacy$eps, 0.5, tolerance = 1e-6)
  expect_lte(sum(dp_ledger(budget)$rho), dp_convert(eps = 0.5, delta = 1e-6, to = "mu")^2 / 2)
})

test_that("the ledger tells what was charged", {
  budget <- dp_budget(rho = 1)
  expect_equal(nrow(dp_ledger(budget)), 0)
  o <- some_oracle(budget)
  dp_value(o, c(1, 0, 0), rho = 0.01)
  dp_gradient(o, w0, mu = 0.1)
  dp_hessian(o, w0, mu = 0.2)
  dp_line_search(o, w0, c(0, 1, 0), c(2, 1), rho = 0.02)
  dp_line_search(o, w0, c(0, 1, 0), c(2, 1), rho = 0.03, mechanism = "svt")
  dp_line_search(o, w0, c(0, 1, 0), c(2, 1), rho = 0.04, mechanism = "exponential")
  ledger <- dp_ledger(o)
  expect_identical(ledger, dp_ledger(budget))
  expect_equal(ledger$what, c("value", "gradient", "hessian", "line search", "line search", "line search"))
  expect_equal(ledger$mechanism, rep(c("gaussian", "sparse vector", "exponential"), c(4, 1, 1)))
  expect_equal(ledger$rho, c(0.01, 0.005, 0.02, 0.02, 0.03, 0.04))
  expect_equal(ledger$mu, c(sqrt(2 * c(0.01, 0.005, 0.02, 0.02)), NA, NA))
  one <- ledger[1:3, ]
  expect_equal(one$sensitivity^2 / (2 * one$scale^2), one$rho, tolerance = 1e-9)
  # Two decreases at once: each uses half of the cost.
  expect_equal(ledger$sensitivity[4]^2 / (2 * ledger$scale[4]^2), 0.01, tolerance = 1e-9)
})

test_that("a budget is one thing, whatever it is called and wherever it is put", {
  budget <- dp_budget(mu = 0.5)
  copy <- budget
  held <- list(inside = budget)
  changed <- budget
  attr(changed, "note") <- "a new list around the same budget"
  dp_gradient(some_oracle(copy), w0, mu = 0.3)
  for (b in list(budget, copy, held$inside, changed)) {
    expect_equal(nrow(dp_ledger(b)), 1)
    expect_error(dp_gradient(some_oracle(b), w0, mu = 0.41), class = "dpsosp_budget_exhausted")
  }
})

test_that("a budget restored from a file refuses", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  o <- some_oracle(budget)
  file <- withr::local_tempfile()
  saveRDS(list(budget, o), file)
  restored <- readRDS(file)
  expect_error(some_oracle(restored[[1]]), class = "dpsosp_error_restored")
  expect_error(dp_ledger(restored[[1]]), class = "dpsosp_error_restored")
  expect_error(quiet_fit(p$x, p$y, radius = 2, budget = restored[[1]]), class = "dpsosp_error_restored")
  expect_error(dp_gradient(restored[[2]], w0, mu = 0.1), class = "dpsosp_error_restored")
  expect_output(print(restored[[1]]), "cannot be used")
  expect_output(print(restored[[2]]), "cannot be used")
  dp_gradient(o, w0, mu = 0.01)
  expect_equal(nrow(dp_ledger(budget)), 1)
})

test_that("a budget refuses in a forked process", {
  skip_on_os("windows")
  budget <- dp_budget(eps = 1, delta = 1e-6)
  o <- some_oracle(budget)
  in_fork <- function(expr) {
    job <- parallel::mcparallel(tryCatch(expr, error = function(e) class(e)), silent = TRUE)
    parallel::mccollect(job)[[1]]
  }
  expect_true("dpsosp_error_fork" %in% in_fork(dp_gradient(o, w0, mu = 0.01)))
  expect_true("dpsosp_error_fork" %in% in_fork(quiet_fit(p$x, p$y, radius = 2, budget = budget)))
  expect_true("dpsosp_error_fork" %in% in_fork(quiet_fit(y ~ a, problem_frame(50), budget = budget)))
  each <- suppressWarnings(parallel::mclapply(1:2, function(i) try(dp_gradient(o, w0, mu = 0.01), silent = TRUE),
                                              mc.cores = 2))
  expect_true(all(vapply(each, inherits, NA, "try-error")))
  expect_s3_class(in_fork(quiet_fit(p$x, p$y, radius = 2, eps = 1)), "dp_sosp")
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("the accountant does not change once something was charged", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  dp_gradient(some_oracle(budget), w0, mu = 0.01)
  by_svt <- control_opt(line_search = "svt")
  expect_error(quiet_fit(p$x, p$y, radius = 2, budget = budget, control = by_svt), class = "dpsosp_error_accountant")
  expect_error(quiet_fit(p$x, p$y, radius = 2, budget = dp_budget(mu = 1), control = by_svt),
               class = "dpsosp_error_accountant")
  expect_error(dp_line_search(some_oracle(budget), w0, w0, 1, mu = 0.01, mechanism = "svt"),
               class = "dpsosp_error_accountant")
  expect_equal(nrow(dp_ledger(budget)), 1)
  # Without a line search all queries are Gaussian.
  expect_s3_class(quiet_fit(p$x, p$y, radius = 2, method = "opt", budget = budget, control = by_svt), "dp_sosp")
  # Before the first charge both relations are possible, and the first charge decides.
  open <- dp_budget(eps = 1, delta = 1e-6)
  dp_line_search(some_oracle(open), w0, c(1, 0, 0), 1, rho = 0.001, mechanism = "svt")
  expect_error(dp_gradient(some_oracle(open), w0, rho = capacity[["zcdp"]]), class = "dpsosp_budget_exhausted")
})

test_that("an interrupt stops within a second and refunds nothing", {
  skip_on_cran()
  skip_on_os("windows")
  out <- child(c(
    "n <- 500000L",
    "x <- matrix(runif(n * 30, -1, 1), n)",
    "y <- rep(c(-1, 1), n / 2)",
    "budget <- dp_budget(eps = 1, delta = 1e-6)",
    "sent <- tempfile()",
    "system(paste0('(sleep 2; date +%s.%N > ', sent, '; kill -INT ', Sys.getpid(), ') &'))",
    "fit <- function() dp_sosp(x, y, radius = 4, budget = budget, method = 'opt', target = sosp(1e-9, 1),",
    "  control = control_opt(max_iterations = 1e5))", # a run of minutes
    "said <- character()",
    "hear <- function(m) said <<- c(said, conditionMessage(m))",
    "end <- withCallingHandlers(tryCatch(fit(), interrupt = function(e) as.numeric(Sys.time())),",
    "  dpsosp_message_interrupt = hear)",
    "stopifnot(is.numeric(end), any(grepl('stays charged', said)))",
    "ledger <- dp_ledger(budget)",
    "left <- capture.output(budget)[3]",
    "oracle <- dp_oracle(x, y, 'logistic', budget, 4)",
    "refused <- tryCatch(dp_gradient(oracle, numeric(31), rho = dp_convert(eps = 1, delta = 1e-6, to = 'mu')^2 / 2),",
    "  dpsosp_budget_exhausted = function(e) 'refused')",
    "cat('seconds', end - as.numeric(readLines(sent)), 'rows', nrow(ledger), 'again', identical(ledger,",
    "  dp_ledger(budget)), refused, '\\n')"
  ))
  line <- grep("^seconds", out, value = TRUE)
  expect_length(line, 1)
  expect_match(line, "again TRUE refused")
  expect_lt(as.numeric(sub("^seconds ([-0-9.e]+) .*", "\\1", line)), 1)
  expect_gt(as.numeric(sub(".*rows ([0-9]+) .*", "\\1", line)), 0)
})

test_that("one budget holds under one relation, that of its first charge", {
  d <- data.frame(y = p$y, a = p$x[, 1])
  refused <- function(expr) expect_error(expr, class = "dpsosp_error_relation")
  for (first in neighbour_relations) {
    other <- setdiff(neighbour_relations, first)
    budget <- dp_budget(eps = 1, delta = 1e-6)
    ask <- function(neighbours) dp_oracle(p$x, p$y, "sigmoid", budget, radius = 2, neighbours = neighbours)
    late <- ask(other) # nothing was charged before, so the error comes with the query
    dp_value(ask(first), w0, rho = 1e-4)
    refused(dp_value(late, w0, rho = 1e-4))
    refused(dp_line_search(late, w0, w0 + 1, 1, rho = 1e-4))
    refused(ask(other))
    refused(quiet_fit(p$x, p$y, radius = 2, budget = budget, neighbours = other))
    refused(quiet_fit(y ~ a, d, budget = budget, neighbours = other)) # before its ranges are found
    expect_equal(dp_ledger(budget)$neighbours, first)
    expect_output(print(budget), paste("Neighbours:", first))
    expect_s3_class(quiet_fit(y ~ a, d, budget = budget, neighbours = first), "dp_sosp")
    expect_setequal(dp_ledger(budget)$neighbours, first)
  }
  # The first charge of a budget may be for ranges, and another fit must use the same relation.
  budget <- dp_budget(eps = 1, delta = 1e-6)
  private_ranges(list(a = p$x[, 1]), budget, 0.001, "zero-out", FALSE)
  refused(private_ranges(list(a = p$x[, 1]), budget, 0.001, "replace-one", FALSE))
  expect_setequal(dp_ledger(budget)$neighbours, "zero-out")
  # A fit with its own budget charges the unused rest under its own relation, too.
  for (relation in neighbour_relations) {
    fit <- quiet_fit(y ~ a, d, eps = 1, delta = 1e-6, neighbours = relation, target = sosp(5, 5))
    expect_true("unused" %in% dp_ledger(fit)$what)
    expect_setequal(dp_ledger(fit)$neighbours, relation)
  }
})

test_that("wrong budgets are refused", {
  expect_errors(
    dp_budget(),
    dp_budget(eps = 1),
    dp_budget(eps = 1, rho = 1),
    dp_budget(rho = 1, delta = 1e-6),
    dp_budget(rho = 1, accountant = "gdp"),
    dp_budget(eps = -1, delta = 1e-6),
    dp_budget(eps = 1, delta = 1),
    dp_budget(eps = 1, delta = 1e-6, accountant = "rdp"),
    dp_ledger(3)
  )
})

test_that("what only looks like a budget or an oracle is refused", {
  budget <- dp_budget(mu = 1)
  o <- some_oracle(budget)
  fake <- list(
    structure(list(), class = "dp_budget"), structure(list(pointer = o$pointer), class = "dp_budget"),
    structure("x", class = "dp_budget"), structure(list(pointer = globalenv()), class = "dp_budget")
  )
  for (f in fake) {
    expect_error(quiet_fit(p$x, p$y, radius = 2, budget = f), class = "dpsosp_error_argument")
    expect_error(some_oracle(f), class = "dpsosp_error_argument")
  }
  for (pointer in list(NULL, budget$pointer, 1)) {
    f <- structure(list(pointer = pointer, budget = budget, noise = "secure"), class = "dp_oracle")
    expect_error(dp_gradient(f, w0, mu = 0.1), class = "dpsosp_error_argument")
  }
  expect_error(dp_ledger(structure("x", class = "dp_oracle")), class = "dpsosp_error_argument")
  expect_equal(nrow(dp_ledger(budget)), 0)
})

test_that("what is printed is short and says what is guaranteed", {
  budget <- dp_budget(eps = 1, delta = 1e-6)
  expect_snapshot(print(budget))
  dp_gradient(some_oracle(budget), w0, rho = capacity[["eps"]] / 4)
  expect_snapshot(print(budget))
  expect_snapshot(print(dp_budget(rho = 0.1)))
  expect_snapshot(print(dp_budget(mu = 0.1)))
})
