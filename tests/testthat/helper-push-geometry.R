# Sums of a database in the coordinates of a geometry.

# Coordinates of a design's columns, in the order of the core. Ends lie on the side that src/data/coordinates.c allows.
some_geometry <- function(design, weighted, tilt = 0, cap = 1, longer = 1, damped = FALSE) {
  p <- nrow(design$columns)
  low <- max(-1, -1 / design$radius)
  list(scale = longer * (1 + cos(seq_len(p)) / 2), centre = design$intercept * low * (0.1 + 0.3 / seq_len(p)),
       prior = rep(1, p), spread = rep(1, p), constant = 0.6, radius = design$radius, intercept = design$intercept,
       weighted = weighted, damped = damped, cap = cap, bound = if (damped) 0.8 * cap else if (weighted) cap / 2 else 1,
       tilt = tilt, shortest = 0.75,
       end = ifelse(seq_len(p) %% 2 == 0 | !design$intercept, NaN, low))
}

moved_pair <- function(connection, rows, formula, radius = NULL, loss = "logistic", bounds = frame_bounds, ...,
                       extras = NULL, id = NULL) {
  force(connection) # loads its methods
  DBI::dbWriteTable(connection, "people", rows, overwrite = TRUE)
  levels <- list(f = c("u", "v", "w"), y = c("no", "yes"))
  source <- dpsosp:::limit_persons(dp_source(connection, "people", levels = levels, push = TRUE, id = id), 1000, NULL)
  problem <- suppressMessages(dpsosp:::problem_source(formula, source, loss, bounds, radius, extras, NULL))
  design <- problem$design
  geometry <- some_geometry(design, ...)
  plan <- dpsosp:::push_plan(source$push, design, problem$response, source$n, problem$loss, design$intercept,
                             design$radius)
  shard <- memory_shard(source, design, problem$response, problem$loss)
  list(plan = plan, moved = dpsosp:::in_geometry(plan, geometry), shard = shard, geometry = geometry,
       connection = connection, dim = nrow(design$columns) + design$intercept, loss = problem$loss)
}

# The source's rows in memory, or those of its persons that are used.
memory_shard <- function(source, design, response, loss) {
  data <- read_rows(source)
  of <- source$persons
  persons <- if (!is.null(of)) dpsosp:::new_persons(data[[of$name]], of$most, NULL)
  records <- dpsosp:::map_records(list(design = design, response = response, bare = FALSE),
                                  if (is.null(persons)) data else data[persons$rows, ])
  shard <- .Call(dpsosp:::ffi_shard_create, records$rows, design$intercept, design$radius, records$y, loss$name,
                 loss$parameter)
  weighing <- records$weighing
  if (!is.null(weighing)) {
    .Call(dpsosp:::ffi_shard_set_weights, shard, weighing$weight, weighing$offset, weighing$most)
  }
  if (!is.null(persons)) .Call(dpsosp:::ffi_shard_set_persons, shard, dpsosp:::persons_core(persons))
  shard
}

moved_ask <- function(word, at = numeric(), ...) {
  what <- list(word = word, curvature = "hessian", at = at, along = numeric(), steps = numeric(), clip = 0,
               most = numeric(), scale = numeric(), cap = 0, within = 0)
  utils::modifyList(what, list(...))
}

ask_database <- function(connection, plan, what) {
  query <- dpsosp:::sql_sum(plan, what)
  query$read(DBI::dbGetQuery(connection, query$sql))
}

# What the core makes of a sum over rows: of a gradient, and of a matrix.
to_coordinates <- function(g, v) {
  if (!g$intercept) return(g$scale * v)
  first <- g$radius * v[1]
  c(g$constant * first, g$scale * (v[-1] - g$centre * first))
}
matrix_to_coordinates <- function(g, h, dim) {
  h <- apply(matrix(h, dim), 2, function(column) to_coordinates(g, column))
  t(apply(t(h), 2, function(column) to_coordinates(g, column)))
}

# The database's sums are those that the core computes from the same rows.
expect_moved <- function(pair, sizes = c(0, 1, 20, 1e3), words = c("gradient", "weighted", "usable")) {
  n <- pair$plan$n
  most <- rep(0, pair$dim - pair$plan$intercept)
  most[seq_along(pair$plan$v)] <- 0.4 * min(1, 1 / pair$plan$radius) # some numbers exceed it
  asked <- moved_ask("moments", most = most)
  moments <- .Call(dpsosp:::ffi_shard_sum, pair$shard, asked)
  testthat::expect_lt(max(abs(ask_database(pair$connection, pair$plan, asked) - c(n, moments))) / n, 2e-6)
  .Call(dpsosp:::ffi_shard_move, pair$shard, pair$geometry)
  both <- function(asked, point = asked) {
    list(database = ask_database(pair$connection, pair$moved, asked)[-1],
         memory = .Call(dpsosp:::ffi_shard_sum, pair$shard, point))
  }
  if ("usable" %in% words) {
    usable <- both(moved_ask("usable"))
    testthat::expect_identical(round(usable$database, 6), usable$memory)
  }
  if ("residual counts" %in% words) {
    asked <- moved_ask("residual counts", cos(seq_len(pair$dim)), steps = 2^seq(-4, 0), clip = 0.8, cap = 2)
    counts <- both(asked, utils::modifyList(asked, list(at = dpsosp:::from_geometry(pair$geometry, asked$at))))
    # Lengths are enlarged by room().
    testthat::expect_lt(max(abs(counts$database - counts$memory)) / n, 2 * (dpsosp:::room(pair$moved) - 1))
    testthat::expect_gt(sum(counts$memory > 0), 2)
  }
  for (word in intersect(c("weighted", "hessian", "products"), words)) {
    at <- if (word != "weighted") cos(seq_len(pair$dim)) else numeric()
    point <- if (length(at) > 0L) dpsosp:::from_geometry(pair$geometry, at) else at
    sum <- both(moved_ask(word, at), moved_ask(word, point))
    memory <- matrix_to_coordinates(pair$geometry, sum$memory, pair$dim)
    testthat::expect_lt(max(abs(sum$database - memory)) / max(abs(memory)), 3e-5)
  }
  for (size in sizes) {
    at <- size * cos(seq_len(pair$dim))
    asked <- moved_ask("gradient", at)
    sum <- both(asked, moved_ask("gradient", dpsosp:::from_geometry(pair$geometry, at)))
    memory <- to_coordinates(pair$geometry, sum$memory)
    testthat::expect_lt(max(abs(sum$database - memory)) / n, 1e-6 * (1 + sqrt(size)))
    testthat::expect_gt(max(abs(memory)), 0)
  }
}

# What each record adds to a gradient, from the integers that the database sums.
moved_parts <- function(pair, at) {
  plan <- pair$moved
  what <- moved_ask("gradient", at)
  weights <- dpsosp:::sql_weights(plan, what)
  layers <- dpsosp:::named_layers(plan, dpsosp:::sum_layers(plan, what, weights, dpsosp:::row_layers(plan)))
  rows <- DBI::dbGetQuery(pair$connection, paste(dpsosp:::with_layers(layers), "SELECT * FROM",
                                                 names(layers)[length(layers)]))
  rows[] <- lapply(rows, as.double)
  of_u <- dpsosp:::cell_ones(plan, as.matrix(rows[sprintf("k%d", seq_along(plan$k))]))
  numbers <- as.matrix(rows[sprintf("z%d", seq_along(plan$v))])
  parts <- cbind(of_u * rows$u, numbers) / plan$unit * rows$g * weights$worth
  parts[is.na(rows$g), ] <- 0
  unname(parts)
}

# No record adds more than its bound, and no two records differ by more than the sensitivity (proofs: row-slopes, tilt).
expect_moved_bounded <- function(pair, sizes = c(1, 1e3)) {
  g <- pair$geometry
  # Rows that are clipped are not regular.
  most <- g$bound * (1 + if (dpsosp:::is_clipped(pair$plan)) -abs(g$tilt) else abs(g$tilt))
  for (size in sizes) {
    for (sign in c(-1, 1)) {
      parts <- moved_parts(pair, sign * size * cos(seq_len(pair$dim)))
      length <- sqrt(rowSums(parts^2))
      testthat::expect_lte(max(length), most)
      longest <- parts[order(-length)[seq_len(min(400, nrow(parts)))], ]
      testthat::expect_lte(max(stats::dist(longest)), 2 * g$bound)
      if (size == 1e3) testthat::expect_gt(max(length), 0.9 * most)
    }
  }
}

# All corners of the ranges with all levels, and hostile values.
extreme_rows <- function() {
  values <- list(a = c(10, 30, 9, 31, 20, NA, Inf, 1e308, 1e-320, 10.0000001), b = c(-1, 1, 0, -1e308, NaN, 0.3))
  rows <- expand.grid(c(values, list(f = c("u", "v", "w", "zz", NA), y = c("no", "yes", "maybe"))))
  rows[c("f", "y")] <- lapply(rows[c("f", "y")], as.character)
  rows
}

# A role that may only read has no table for prepared rows, and gets the same fit.
expect_prepared_or_not <- function(connection, other, data) {
  run <- function(source) {
    set.seed(4)
    quiet_fit(y ~ a + b + f, source, eps = 5, delta = 1e-6, bounds = frame_bounds, method = "newton-ridge",
              control = control_newton_ridge(iterations = 5), noise = "reproducible")
  }
  source <- push_pair(connection, data)$push
  expected <- run(source)
  for (sql in c("CREATE ROLE reader", "GRANT SELECT ON people TO reader",
                "REVOKE TEMP ON DATABASE postgres FROM PUBLIC")) {
    DBI::dbExecute(other, sql)
  }
  DBI::dbExecute(connection, "SET ROLE reader")
  statements <- watched(fit <- run(source))
  testthat::expect_length(grep("^INSERT|^DROP", statements), 0)
  testthat::expect_equal(coef(fit), coef(expected), tolerance = 1e-12)
  DBI::dbExecute(connection, "RESET ROLE")
}

# A role that may read nothing but a view of the model's columns, and make temporary tables.
expect_least_rights <- function(connection, other, data) {
  force(connection) # loads its methods
  DBI::dbWriteTable(connection, "secrets", transform(data, name = "someone"))
  for (sql in c("CREATE VIEW people_only AS SELECT a, b, f, y FROM secrets", "CREATE ROLE viewer",
                "GRANT SELECT ON people_only TO viewer", "GRANT TEMP ON DATABASE postgres TO viewer")) {
    DBI::dbExecute(other, sql)
  }
  run <- function(data) {
    set.seed(4)
    quiet_fit(y ~ a + b + f, data, eps = 1e4, delta = 1e-6, bounds = frame_bounds, method = "newton-ridge",
              control = control_newton_ridge(iterations = 5), noise = "reproducible")
  }
  DBI::dbExecute(connection, "SET ROLE viewer")
  testthat::expect_error(DBI::dbGetQuery(connection, "SELECT * FROM secrets"), "permission denied")
  source <- dp_source(connection, "people_only", levels = levels_of(data), push = TRUE)
  statements <- watched(fit <- run(source))
  testthat::expect_length(grep("^INSERT INTO pg_temp", statements), 1)
  testthat::expect_equal(coef(fit), coef(run(data)), tolerance = 2e-5)
  DBI::dbExecute(connection, "RESET ROLE")
}

# The statements that databases are sent while code runs.
watched <- function(code) {
  seen <- character()
  note <- function(text) seen <<- c(seen, as.character(text))
  suppressMessages(trace("dbSendQuery", bquote(.(note)(statement)), print = FALSE, where = asNamespace("DBI")))
  on.exit(suppressMessages(untrace("dbSendQuery", where = asNamespace("DBI"))))
  force(code)
  seen
}
