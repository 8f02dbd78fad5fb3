# Tables whose database computes sums, and oracles on them.

# Some values are missing or very large.
frame_with_odd_values <- function(n = 200) {
  d <- problem_frame(n)
  d$a[5] <- NA
  d$y[9] <- NA
  d$b[c(11, 12)] <- c(1e308, -1e308)
  d$f[13] <- NA
  d
}

# The same table as a source with push-down and as one in chunks.
push_pair <- function(connection, data, name = "people", levels = levels_of(data), ...) {
  force(connection) # loads its methods
  DBI::dbWriteTable(connection, name, data, overwrite = TRUE)
  list(push = dp_source(connection, name, levels = levels, push = TRUE, ...),
       chunks = dp_source(connection, name, levels = levels, ...))
}

# All queries of a fit, with almost no noise.
push_oracle <- function(source, formula, loss = "logistic", bounds = frame_bounds, radius = NULL, mu = 1e9,
                        neighbours = "replace-one", subset = NULL, weights = NULL) {
  extras <- list(subset = subset, weights = weights)
  problem <- suppressMessages(dpsosp:::problem_source(formula, source, loss, bounds, radius, extras, NULL))
  dpsosp:::new_oracle(problem$records(problem), problem$loss, dp_budget(mu = mu), problem$design$radius,
                      problem$design$intercept, neighbours, "reproducible")
}

# The oracle's releases at w, with the same noise.
push_answers <- function(oracle, w, curved = TRUE) {
  set.seed(1)
  list(value = dp_value(oracle, w, mu = 1e6), gradient = dp_gradient(oracle, w, mu = 1e6),
       hessian = if (curved) dp_hessian(oracle, w, mu = 1e6),
       decreases = dp_line_search(oracle, w, -w, c(2, 1, 0.5), mu = 1e6))
}

# Entries of rows, and weights, are rounded to multiples of 2^-20: releases differ by a few millionths of |w|. A
# database has the sensitivities of points far away, which are never smaller (proofs: sensitivity-gradient), so fits
# without a geometry are compared where there is hardly any noise.
hardly_any <- 1e9
expect_no_less_noise <- function(push, chunks) testthat::expect_true(all(push >= chunks * (1 - 1e-3)))

expect_pushed <- function(pair, formula, ..., curved = TRUE, size = 1) {
  oracles <- lapply(pair, push_oracle, formula, ...)
  w <- size * cos(seq_len(dpsosp:::oracle_facts(oracles$push)$dim))
  answers <- lapply(oracles, push_answers, w, curved)
  testthat::expect_equal(answers$push, answers$chunks, tolerance = 4e-6 * (1 + sqrt(sum(w^2))))
  sd <- lapply(answers, lapply, attr, "sd")
  testthat::expect_identical(sd$push$value, sd$chunks$value)
  expect_no_less_noise(unlist(sd$push), unlist(sd$chunks))
  testthat::expect_false(identical(answers$push, answers$chunks))
}

# The integers of one SELECT.
push_sum <- function(source, formula, what, loss = dpsosp:::loss_logistic(), bounds = frame_bounds, radius = NULL,
                     plan = identity, subset = NULL, weights = NULL) {
  extras <- list(subset = subset, weights = weights)
  problem <- suppressMessages(dpsosp:::problem_source(formula, source, loss, bounds, radius, extras, NULL))
  made <- plan(dpsosp:::push_plan(source$push, problem$design, problem$response, source$n, problem$loss,
                                  problem$design$intercept, problem$design$radius))
  query <- dpsosp:::sql_sum(made, what)
  query$read(DBI::dbGetQuery(source$push$connection, query$sql))
}

# ---- expressions ----

# The rows of a small table, in their order, as mapped by the database and by R: numbers, codes and the response.
mapped_rows <- function(source, formula, bounds, subset = NULL, loss = "logistic", missing = "drop") {
  extras <- list(subset = subset, missing = missing)
  problem <- suppressMessages(dpsosp:::problem_source(formula, source, loss, bounds, NULL, extras, NULL))
  problem$design <- design <- dpsosp:::settle_gaps(problem$design)
  plan <- dpsosp:::push_plan(source$push, design, problem$response, source$n, problem$loss, design$intercept,
                             design$radius)
  items <- c(plan$v, plan$k, plan$y)
  names <- c(sprintf("v%d", seq_along(plan$v)), sprintf("k%d", seq_along(plan$k)), "y")
  defined <- sprintf("%s AS (%s)", names(plan$before), plan$before)
  sql <- paste(if (length(defined) > 0L) paste("WITH", toString(defined)), "SELECT",
               toString(paste(items, "AS", names)), "FROM", plan$from)
  sql_rows <- as.matrix(DBI::dbGetQuery(source$push$connection, sql))
  storage.mode(sql_rows) <- "double"
  data <- read_rows(source)
  numbers <- as.matrix(data[vapply(data, is.numeric, NA)])
  list(sql = unname(sql_rows), r = unname(mapped_in_r(data, problem)), numbers = numbers)
}

is_tame <- function(numbers) {
  rowSums((abs(numbers) > 1e100 & is.finite(numbers)) | (abs(numbers) < 1e-100 & numbers != 0), na.rm = TRUE) == 0
}

read_rows <- function(source) {
  reader <- source$open(names(source$schema))
  on.exit(reader$close())
  dpsosp:::next_chunk(source, reader, names(source$schema))
}

mapped_in_r <- function(data, problem) {
  design <- problem$design
  x <- suppressWarnings(dpsosp:::design_matrix(design, data))
  factors <- unique(design$columns$variable[design$columns$kind == "indicator"])
  codes <- lapply(factors, function(variable) {
    ones <- x[, design$columns$variable == variable, drop = FALSE]
    drop(ones %*% seq_len(ncol(ones)))
  })
  y <- dpsosp:::response_code(problem$response, dpsosp:::design_response(design, data))
  cbind(x[, design$columns$kind == "numeric", drop = FALSE], do.call(cbind, c(list(NULL), codes)), y)
}

# If no number is very large or very near zero, but not infinite or zero, both agree; otherwise the database may have a
# null record.
expect_mapped <- function(source, formula, bounds = list(), subset = NULL, loss = "logistic", missing = "drop") {
  rows <- mapped_rows(source, formula, bounds, subset, loss, missing)
  tame <- is_tame(rows$numbers)
  testthat::expect_equal(is.na(rows$sql)[tame, ], is.na(rows$r)[tame, ], info = deparse1(formula))
  testthat::expect_equal(rows$sql[tame, ], rows$r[tame, ], tolerance = 1e-9, info = deparse1(formula))
  testthat::expect_true(all(colMeans(is.na(rows$sql)) < 0.7))
}

# ---- fits ----

# The queries are the same, and the first charge is identical. Later charges depend on releases, which differ in their
# last digits.
expect_same_ledger <- function(x, y, geometry = FALSE) {
  ledgers <- list(dp_ledger(x), dp_ledger(y))
  testthat::expect_identical(ledgers[[1]]$what, ledgers[[2]]$what)
  testthat::expect_equal(ledgers[[1]]$mu, ledgers[[2]]$mu, tolerance = 1e-4)
  if (geometry) testthat::expect_equal(ledgers[[1]], ledgers[[2]], tolerance = 1e-4)
}

# Fits from the table equal those in memory, up to the rounding of rows, with the same ledger.
expect_same_fits <- function(source, memory) {
  for (method in c("newton", "newton-ridge")) {
    fits <- lapply(list(source, memory), function(data) {
      set.seed(4)
      quiet_fit(y ~ a + b + f, data, method = method, delta = 1e-6, bounds = frame_bounds,
                eps = if (method == "newton-ridge") 100 else hardly_any,
                noise = "reproducible")
    })
    testthat::expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-4)
    expect_same_ledger(fits[[1]], fits[[2]], method == "newton-ridge")
  }
}

# ---- faults ----

push_frame <- problem_frame(100)
push_fit <- function(source, budget, ..., method = "gd") {
  quiet_fit(y ~ a + b, source, budget = budget, method = method, bounds = frame_bounds, noise = "reproducible", ...)
}
charged <- function(budget) nrow(dp_ledger(budget))

# Calls code(k) before the k-th statement of a fit. Statements without a curvature entry are not counted.
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

# A fit cannot write to the database, either.
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

# A transaction of the user is neither used nor ended.
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

# Names and levels that are code, or look like code, are taken as text.
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

# Values that could make an expression fail, or a row longer than allowed.
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

# The largest contribution of one record, by the bounds of the loss; shift: bound of the offset.
allowed <- function(word, what, bounds, loss, shift) {
  norm <- sqrt(sum(what$at^2))
  switch(word, gradient = bounds[["lipschitz"]], hessian = max(bounds[c("curv_lower", "curv_upper")]),
         trace = bounds[["curv_upper"]], products = bounds[["lipschitz"]]^2, squares = 1,
         value = max(abs(dpsosp:::sql_losses[[loss$name]]$range(loss$parameter, norm + shift))),
         decreases = bounds[["lipschitz"]] * what$steps * norm)
}

# Each record by itself: a table of one row, in a SELECT with its number.
expect_bounded <- function(source, losses, sizes = c(0, 1, 40, 1e30), bounds = frame_bounds, plan = identity,
                           radius = 1.3, formula = y ~ a + b + f, dim = 5, subset = NULL, weights = NULL, shift = 0) {
  turn <- 0
  for (loss in losses) {
    limits <- dpsosp:::loss_bounds(loss)
    for (size in sizes) {
      all <- asks(dim, size)
      for (word in names(all)) {
        most <- allowed(word, all[[word]], limits, loss, shift)
        turn <- turn + 1
        for (id in long_values(seq_len(source$n), turn)) {
          sum <- push_sum(only_row(source, id), formula, all[[word]], loss, bounds, radius, plan, subset,
                          weights)
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

only_row <- function(source, id) {
  source$push$from <- sprintf("(SELECT * FROM %s AS t WHERE id = %d)", source$push$from, id)
  source$n <- 1L
  source
}

hostile_rows <- function(n, seed = 3) {
  set.seed(seed)
  data.frame(id = seq_len(n), a = sample(c(hostile, 10, 20, 30), n, TRUE), b = sample(c(hostile, -0.5, 0.7), n, TRUE),
             f = factor(sample(c("u", "v", "w", NA), n, TRUE)), y = factor(sample(c("no", "yes", NA), n, TRUE)))
}

# ---- formulas ----

# All combinations of values of several kinds in numeric columns, with few values of the other columns.
expression_rows <- function() {
  values <- c(hostile, -2, 3, 0.5, 7, 12.25, 1e-7, 720, -720)
  rows <- expand.grid(a = values, b = values)
  rows <- data.frame(id = seq_len(nrow(rows)), rows)
  rows$c <- rep(c(1, 2, NA, 3, 0), length.out = nrow(rows))
  rows$f <- factor(rep(c("u", "v", NA, "w"), length.out = nrow(rows)))
  rows$g <- factor(rep(c("p", "q", "p", NA, "q"), length.out = nrow(rows)))
  rows$y <- factor(rep(c("no", "yes", "yes"), length.out = nrow(rows)))
  rows
}

expression_formulas <- list(
  y ~ log(a) + log(b, 2) + log2(a) + log10(b) + log1p(a) + exp(b) + sqrt(a) + abs(b) + sign(a),
  y ~ I(a + b) + I(a - b) + I(-a) + I(a / b) + I(2 * a / 3 + 1) + I(1 / (a - b)) + I(pi * a),
  y ~ I(a^2) + I(b^3) + I(a^-1) + I(b^-2) + I(a^0.5) + poly(a / 10, 3, raw = TRUE) + I(b^20),
  y ~ exp(log(a + 9) - log(b)) + sqrt(abs(a)) + log(abs(a) + 1) + I(exp(a) / (1 + exp(a))) + exp(-a^2),
  y ~ (a > 1) + (b <= 0.5) + (a == b) + (c != 2) + (a > 0 & b > 0) + (a > 0 | b > 0) + xor(a > 0, b < 7) + !(a > 1),
  y ~ is.na(a) + is.na(f) + I(c %in% c(1, 3)) + I(f %in% c("u", "w")) + (f == "v") +
    (f != "w") + (f == "u" & a > 0),
  y ~ ifelse(a > 1, b, 0) + pmin(a, 5) + pmax(a, b, 1) + as.numeric(a > 1) + as.numeric(f) + ifelse(c == 1, a, -b),
  y ~ a:b + a:f + c:a:f - 1, y ~ a * b, y ~ f * g, y ~ f * a + g, y ~ f:g - 1, y ~ f * (a > 0) + b,
  y ~ cut(a, c(-2, 0, 1, 7)) + cut(b, c(-Inf, 0, 1, Inf), right = FALSE, labels = c("l", "m", "h")),
  y ~ cut(a, c(0, 1, 7), include.lowest = TRUE, labels = FALSE) + factor(c, levels = c(1, 3)) + b,
  y ~ factor(f, levels = c("w", "u")) + factor(c, c(0, 1, 2), c("n", "o", "n")) + a,
  y ~ I(a + TRUE) + !c + (c & a > 1) + b, y ~ factor(c, levels = 0:3, ordered = TRUE) + b,
  y ~ splines::bs(a, knots = c(0, 1), Boundary.knots = c(-2, 12)) + splines::ns(b, knots = 2, Boundary.knots = c(0, 7)),
  (a > 1) ~ b, factor(c, levels = c(1, 2)) ~ a + b
)

# Ranges of all columns that may have one.
expression_bounds <- function(formula, source) {
  design <- dpsosp:::design_template(formula, source$schema, frame = NULL)
  open <- grep("^(splines|factor)", design$columns$name[design$columns$kind == "numeric"], value = TRUE, invert = TRUE)
  stats::setNames(rep(list(c(-5, 12)), length(open)), open)
}

expect_expressions <- function(connection) {
  rows <- expression_rows()
  source <- push_pair(connection, rows)$push
  for (formula in expression_formulas) expect_mapped(source, formula, expression_bounds(formula, source))
}

# Columns of PostgreSQL's own types, with values for which its casts and functions fail.
expect_expression_types <- function(connection) {
  rows <- expression_rows()[1:200, ]
  DBI::dbWriteTable(connection, "people", rows, overwrite = TRUE)
  run <- function(...) DBI::dbExecute(connection, sprintf(...))
  run("ALTER TABLE people ALTER COLUMN a TYPE numeric, ALTER COLUMN c TYPE int8")
  run("ALTER TABLE people ADD COLUMN truth bool, ADD COLUMN day date, ADD COLUMN time timestamptz")
  run("UPDATE people SET truth = b > 0, day = DATE '2020-01-01' + CAST(id AS int)")
  run("UPDATE people SET time = TIMESTAMPTZ '2026-05-31 12:00:00Z' - id * interval '1 hour'")
  odd <- "CASE id WHEN 1 THEN '1e4000' WHEN 2 THEN '1e-4000' WHEN 3 THEN 'NaN' ELSE '-Infinity' END"
  run("UPDATE people SET a = CAST(%s AS numeric) WHERE id < 5", odd)
  run("UPDATE people SET c = 9223372036854775807 WHERE id = 6")
  run("UPDATE people SET day = 'infinity', time = '-infinity' WHERE id = 7")
  run("UPDATE people SET day = '5874897-12-31', time = '294276-12-31 23:59:59' WHERE id = 8")
  source <- dp_source(connection, "people", levels = levels_of(rows), types = c(c = "numeric"), push = TRUE)
  for (formula in list(y ~ log(a) + I(c^2) + c:truth, y ~ I(day / 365) + I(time / 3600) + (day > 18300),
                       truth ~ day + I(a * 2), y ~ (truth == TRUE) + xor(truth, a > 0) + f:truth)) {
    rows <- mapped_rows(source, formula, expression_bounds(formula, source), quote(a > 0 | !truth))
    usual <- which(rows$numbers[, "id"] > 8 & is_tame(rows$numbers))
    testthat::expect_equal(rows$sql[usual, ], rows$r[usual, ], tolerance = 1e-9, info = deparse1(formula))
    testthat::expect_true(all(abs(rows$sql) < 20, na.rm = TRUE))
  }
}

# Random calls of the functions that have rules, with columns and constants; the values are numbers.
random_expression <- function(depth) {
  if (depth == 0) return(sample(list(quote(a), quote(b), quote(c), 2, 0.5, -3), 1)[[1]])
  part <- function() random_expression(sample(0:(depth - 1), 1))
  f <- sample(c("+", "-", "*", "/", "^", "log", "exp", "sqrt", "abs", "log1p", "sign", "pmin", "ifelse"), 1)
  switch(f,
    "+" = , "-" = , "*" = , "/" = , pmin = call(f, part(), part()),
    "^" = call("^", part(), sample(c(-2, 2, 3, 0.5), 1)),
    ifelse = call("ifelse", call(sample(c("<", ">=", "=="), 1), part(), part()), part(), part()),
    call(f, part())
  )
}

# If R's intermediate values are within the limits, too, both agree up to rounding.
expect_random_expressions <- function(connection, seeds) {
  rows <- expression_rows()
  rows$y <- NULL
  source <- push_pair(connection, rows)$push
  data <- read_rows(source)
  computed <- 0
  for (seed in seeds) {
    set.seed(seed)
    e <- call("+", quote(a), random_expression(4))
    made <- tryCatch(
      dpsosp:::define_expressions(source$push, dpsosp:::row_wise_schema(list(e), source$schema, NULL), list(e)),
      dpsosp_untranslated = function(e) NULL
    )
    if (is.null(made)) next # a constant such as sqrt(-3)
    computed <- computed + 1
    got <- DBI::dbGetQuery(connection, paste("WITH", toString(sprintf("%s AS (%s)", names(made$layers), made$layers)),
                                             "SELECT", made$nodes[[1]]$sql, "FROM", utils::tail(names(made$layers), 1)))
    wanted <- suppressWarnings(eval(e, data, dpsosp:::row_wise))
    tame <- !is.na(got[[1]]) & tame_on_the_way(e, data)
    testthat::expect_false(anyNA(wanted[tame]), info = deparse1(e))
    testthat::expect_equal(got[[1]][tame], wanted[tame], tolerance = 1e-6, info = deparse1(e))
  }
  testthat::expect_gt(computed, 0.8 * length(seeds))
}

tame_on_the_way <- function(e, data) {
  if (is.numeric(e)) return(rep(TRUE, nrow(data)))
  value <- suppressWarnings(as.double(eval(e, data, dpsosp:::row_wise)))
  tame <- is.finite(value) & (value == 0 | (abs(value) > 1e-60 & abs(value) < 1e60))
  parts <- if (is.call(e)) lapply(as.list(e)[-1], tame_on_the_way, data)
  Reduce(`&`, parts, rep_len(tame, nrow(data)))
}
