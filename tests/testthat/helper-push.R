# Tables whose database takes sums, and oracles on them.

# The same table as a source that pushes sums down and as one in chunks.
push_pair <- function(connection, data, name = "people", levels = levels_of(data), ...) {
  force(connection) # which loads its methods
  DBI::dbWriteTable(connection, name, data, overwrite = TRUE)
  list(push = dp_source(connection, name, levels = levels, push = TRUE, ...),
       chunks = dp_source(connection, name, levels = levels, ...))
}

# All that a fit would ask, with next to no noise.
push_oracle <- function(source, formula, loss = "logistic", bounds = frame_bounds, radius = NULL, mu = 1e9,
                        neighbours = "replace-one") {
  problem <- suppressMessages(dpsosp:::problem_source(formula, source, loss, bounds, radius, NULL, NULL))
  dpsosp:::new_oracle(problem$records(problem), problem$loss, dp_budget(mu = mu), problem$design$radius,
                      problem$design$intercept, neighbours, "reproducible")
}

# What the oracle answers at w, from the same draws.
push_answers <- function(oracle, w, curved = TRUE) {
  set.seed(1)
  list(value = dp_value(oracle, w, mu = 1e6), gradient = dp_gradient(oracle, w, mu = 1e6),
       hessian = if (curved) dp_hessian(oracle, w, mu = 1e6),
       decreases = dp_line_search(oracle, w, -w, c(2, 1, 0.5), mu = 1e6))
}

# Numbers of rows are rounded to multiples of 2^-20, weights likewise: answers differ by a few millionths of |w|. All
# sensitivities are the same.
expect_pushed <- function(pair, formula, ..., curved = TRUE, size = 1) {
  oracles <- lapply(pair, push_oracle, formula, ...)
  w <- size * cos(seq_len(dpsosp:::oracle_facts(oracles$push)$dim))
  answers <- lapply(oracles, push_answers, w, curved)
  testthat::expect_equal(answers$push, answers$chunks, tolerance = 4e-6 * (1 + sqrt(sum(w^2))))
  testthat::expect_identical(lapply(answers$push, attr, "sd"), lapply(answers$chunks, attr, "sd"))
  testthat::expect_false(identical(answers$push, answers$chunks))
}

# The integers of one SELECT.
push_sum <- function(source, formula, what, loss = dpsosp:::loss_logistic(), bounds = frame_bounds, radius = NULL,
                     plan = identity) {
  problem <- suppressMessages(dpsosp:::problem_source(formula, source, loss, bounds, radius, NULL, NULL))
  made <- plan(dpsosp:::push_plan(source$push, problem$design, problem$response, source$n, problem$loss,
                                  problem$design$intercept, problem$design$radius))
  query <- dpsosp:::sql_sum(made, what)
  query$read(DBI::dbGetQuery(source$push$connection, query$sql))
}

# ---- fits ----

# What is asked is the same, and the first charge to the last bit; later ones follow released answers in their last
# digits.
expect_same_ledger <- function(x, y) {
  ledgers <- list(dp_ledger(x), dp_ledger(y))
  testthat::expect_identical(ledgers[[1]]$what, ledgers[[2]]$what)
  testthat::expect_identical(ledgers[[1]][1, ], ledgers[[2]][1, ])
  testthat::expect_equal(ledgers[[1]], ledgers[[2]], tolerance = 1e-4)
}

# Fits from the table are those in memory, up to the rounding of rows, with the same ledger.
expect_same_fits <- function(source, memory) {
  for (method in c("newton", "2opt-ls", "tr")) {
    fits <- lapply(list(source, memory), function(data) {
      set.seed(4)
      quiet_fit(y ~ a + b + f, data, method = method, eps = 100, delta = 1e-6, bounds = frame_bounds,
                noise = "reproducible")
    })
    testthat::expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-4)
    expect_same_ledger(fits[[1]], fits[[2]])
  }
}

# ---- faults ----

push_frame <- problem_frame(100)
push_fit <- function(source, budget, ..., method = "gd") {
  quiet_fit(y ~ a + b, source, budget = budget, method = method, bounds = frame_bounds, noise = "reproducible", ...)
}
charged <- function(budget) nrow(dp_ledger(budget))

# Calls code(k) before the k-th statement that a fit sends from now on; the one that it measures has no curvature.
before_statement <- function(code, frame = parent.frame()) {
  at <- 0
  original <- dpsosp:::sql_sum
  put <- function(value) utils::assignInNamespace("sql_sum", value, "dpsosp")
  put(function(plan, what) {
    at <<- at + !is.null(what$curvature)
    if (!is.null(what$curvature)) code(at)
    original(plan, what)
  })
  withr::defer(put(original), frame)
}

expect_source_error <- function(code) {
  error <- testthat::expect_error(code, class = "dpsosp_error_source")
  testthat::expect_false(grepl("people|SELECT|no such|relation|socket|dbname|postgres", conditionMessage(error)))
  testthat::expect_match(conditionMessage(error), "charged stays charged")
}

# Another connection changes the table in the middle of a fit.
expect_snapshot_kept <- function(one, other) {
  source <- push_pair(one, push_frame)$push
  run <- function() {
    set.seed(4)
    push_fit(source, dp_budget(eps = 1, delta = 1e-6))
  }
  expected <- run()
  before_statement(function(at) if (at == 2) DBI::dbExecute(other, "UPDATE people SET y = 'yes', b = -b"))
  testthat::expect_identical(coef(run()), coef(expected))
  testthat::expect_equal(as.double(DBI::dbGetQuery(one, "SELECT COUNT(*) FROM people WHERE y = 'yes'")[[1]]), 100)
}

# Nor can a fit write there.
expect_read_only <- function(connection) {
  source <- push_pair(connection, push_frame)$push
  refused <- 0
  before_statement(function(at) {
    refused <<- refused + inherits(try(DBI::dbExecute(connection, "DELETE FROM people"), silent = TRUE), "try-error")
  })
  try(push_fit(source, dp_budget(eps = 1, delta = 1e-6)), silent = TRUE)
  testthat::expect_gt(refused, 0)
  testthat::expect_equal(as.double(DBI::dbGetQuery(connection, "SELECT COUNT(*) FROM people")[[1]]), 100)
}

# A transaction of the user's is neither used nor ended.
expect_transaction_kept <- function(connection) {
  source <- push_pair(connection, push_frame)$push
  budget <- dp_budget(eps = 1, delta = 1e-6)
  DBI::dbExecute(connection, "BEGIN")
  DBI::dbExecute(connection, "UPDATE people SET a = 0")
  testthat::expect_error(push_fit(source, budget), "no read-only snapshot", class = "dpsosp_error_source")
  testthat::expect_equal(nrow(dp_ledger(budget)), 0L)
  DBI::dbExecute(connection, "COMMIT")
  testthat::expect_identical(DBI::dbGetQuery(connection, "SELECT MAX(a) FROM people")[[1]], 0)
}

# Names and levels that are code, or look like it, are names and levels.
expect_quoted <- function(connection) {
  names <- c("x\"); DROP TABLE people; --", "select", "x.y", "\u00e4\u4e2d", "a b", "it's", "\\", "x`[y]")
  levels <- c("'; DROP TABLE people; --", "\\' OR 1 = 1", "\u00fc", "")
  set.seed(1)
  data <- as.data.frame(matrix(runif(60 * length(names), -1, 1), 60, dimnames = list(NULL, names)), optional = TRUE)
  data$f <- factor(sample(levels, 60, TRUE), levels)
  data[["group"]] <- factor(rep(c("no", "yes"), 30))
  table <- "order; DROP TABLE people; --"
  pair <- push_pair(connection, data, table)
  expect_pushed(pair, group ~ ., bounds = stats::setNames(rep(list(c(-1, 1)), length(names)), names))
  testthat::expect_true(table %in% DBI::dbListTables(connection))
}

# ---- what a record adds ----

# Values that could break an expression, or make a row longer than it is allowed to be.
hostile <- c(NA, NaN, Inf, -Inf, 1e308, -1e308, 1e-320, -1e-320, 0, 1, -1, 0.999999, 1e150, -1e155, 2^53, 2^63)
asks <- function(dim, size = 1) {
  at <- size * cos(seq_len(dim))
  list(
    gradient = list(word = "gradient", curvature = "hessian", at = at, along = numeric(), steps = numeric()),
    value = list(word = "value", curvature = "hessian", at = at, along = numeric(), steps = numeric()),
    hessian = list(word = "hessian", curvature = "hessian", at = at, along = numeric(), steps = numeric()),
    decreases = list(word = "decreases", curvature = "hessian", at = at, along = -at, steps = c(2, 0.5)),
    trace = list(word = "trace", curvature = "majorant", at = at, along = numeric(), steps = numeric()),
    products = list(word = "products", curvature = "hessian", at = at, along = numeric(), steps = numeric()),
    squares = list(word = "squares", curvature = "hessian", at = at, along = numeric(), steps = numeric())
  )
}

# The most that one record may add, by the bounds of the loss.
allowed <- function(word, what, bounds, loss) {
  norm <- sqrt(sum(what$at^2))
  switch(word, gradient = bounds[["lipschitz"]], hessian = max(bounds[c("curv_lower", "curv_upper")]),
         trace = bounds[["curv_upper"]], products = bounds[["lipschitz"]]^2, squares = 1,
         value = max(abs(dpsosp:::sql_losses[[loss$name]]$range(loss$parameter, norm))),
         decreases = bounds[["lipschitz"]] * what$steps * norm)
}

# Each record by itself: a table of one row, in a SELECT with its number.
expect_bounded <- function(source, losses, sizes = c(0, 1, 40, 1e30), bounds = frame_bounds, plan = identity,
                           radius = 1.3) {
  for (loss in losses) {
    limits <- dpsosp:::loss_bounds(loss)
    for (size in sizes) {
      all <- asks(5, size)
      for (word in names(all)) {
        most <- allowed(word, all[[word]], limits, loss)
        for (id in seq_len(source$n)) {
          one <- function(made) {
            made$from <- sub(" AS t", sprintf(" AS t WHERE id = %d) AS t", id), paste("(SELECT * FROM", made$from),
                             fixed = TRUE)
            made$n <- 1
            plan(made)
          }
          sum <- push_sum(source, y ~ a + b + f, all[[word]], loss, bounds, radius, one)
          testthat::expect_identical(sum[1], 1)
          part <- sum[-1]
          if (word == "value") part <- part - dpsosp:::sql_losses[[loss$name]]$zero(loss$parameter)
          size_of <- if (word == "decreases") abs(part) else sqrt(sum(part^2))
          if (!all(size_of <= most * (1 + 1e-12))) testthat::fail(paste(loss$name, word, size, id))
        }
      }
    }
  }
}

hostile_rows <- function(n, seed = 3) {
  set.seed(seed)
  data.frame(id = seq_len(n), a = sample(c(hostile, 10, 20, 30), n, TRUE), b = sample(c(hostile, -0.5, 0.7), n, TRUE),
             f = factor(sample(c("u", "v", "w", NA), n, TRUE)), y = factor(sample(c("no", "yes", NA), n, TRUE)))
}
