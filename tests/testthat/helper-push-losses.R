# Sums of the losses of numbers, counts and classes in a database.

loss_levels <- list(f = c("u", "v", "w"), z = c("no", "yes"))
loss_types <- c(y = "numeric", k = "numeric", w = "numeric", o = "numeric", a = "numeric", b = "numeric")
loss_bounds_of <- list(a = c(10, 30), b = c(-5, 5), o = c(0, 4))

loss_frame <- function(n) {
  set.seed(1)
  d <- data.frame(id = seq_len(n), a = runif(n, 10, 30), b = rnorm(n), f = sample(c("u", "v", "w"), n, TRUE),
                  o = runif(n, 0, 4))
  d$y <- 50 + d$a - 3 * d$b + c(u = 0, v = 4, w = -2)[d$f] + 4 * rnorm(n)
  d$w <- runif(n) * d$a / 30
  d$k <- rpois(n, exp(d$a / 20 - 0.3 * d$b + d$o / 4))
  d$z <- c("no", "yes")[1 + (d$a / 30 > runif(n))]
  d$b[5:6] <- c(NA, -1e300)
  d$y[7:8] <- c(NA, Inf)
  d$w[9:12] <- c(0, 2, NA, 1)
  d$o[13:14] <- c(NA, 1e9)
  d$k[15:16] <- c(NA, -1)
  d
}

# Each column takes each hostile value, and the others usual ones.
hostile_losses <- function() {
  usual <- loss_frame(40)[17:40, ]
  values <- c(hostile, 5e300, 1e4, 20.5, -3)
  rows <- do.call(rbind, lapply(c("a", "b", "y", "k", "w", "o"), function(name) {
    rows <- usual[rep_len(seq_len(24), length(values)), ]
    rows[[name]] <- values
    rows
  }))
  odd <- usual[1:6, ]
  odd$f <- c(NA, "zz", "", "U", "u\u00e4", "w")
  odd$z <- c("yes", NA, "maybe", "no", "1", "yes")
  rows <- rbind(rows, odd)
  rows$id <- seq_len(nrow(rows))
  rows
}

loss_source <- function(connection, rows, ...) {
  force(connection) # loads its methods
  DBI::dbWriteTable(connection, "people", rows, overwrite = TRUE)
  dp_source(connection, "people", levels = loss_levels, types = loss_types, push = TRUE, ...)
}

# A plan in a database and a shard in memory with the same rows, and coordinates in which rows are longer than the cap.
loss_pair <- function(source, formula, loss, extras = NULL, cap = 1.7, response = identity) {
  problem <- suppressMessages(dpsosp:::problem_source(formula, source, loss, loss_bounds_of, NULL, extras, NULL))
  design <- problem$design
  coded <- response(problem$response)
  geometry <- some_geometry(design, TRUE, 0, cap, longer = 3)
  slope <- dpsosp:::loss_bounds(problem$loss)[["lipschitz"]]
  geometry$bound <- cap * if (is.finite(slope)) slope else 1
  plan <- dpsosp:::push_plan(source$push, design, coded, source$n, problem$loss, design$intercept, design$radius)
  shard <- memory_shard(source, design, coded, problem$loss)
  list(connection = source$push$connection, plan = plan, moved = dpsosp:::in_geometry(plan, geometry), shard = shard,
       geometry = geometry, side = nrow(design$columns) + design$intercept, loss = problem$loss,
       outputs = dpsosp:::loss_outputs(problem$loss))
}

loss_ask <- function(pair, word, size, moved) {
  at <- size * cos(seq_len(pair$side * pair$outputs))
  most <- rep(0, pair$side - pair$plan$intercept)
  most[seq_along(pair$plan$v)] <- 0.25
  along <- if (word == "improvement") sin(seq_along(at))
           else if (word %in% c("recalibration", "decreases")) sin(seq_len(pair$side)) else numeric()
  steps <- switch(word, "residual counts" = 2^seq(-6, 2, by = 0.5), decreases = c(2, 0.5), improvement = c(0.1, 0.2),
                  numeric())
  moved_ask(word, at, most = most, clip = 0.3, along = along, steps = steps,
            cap = if (word == "class gradient" && size > 0.5) 1.1 else 0)
}

# The core's answer, in the coordinates.
loss_memory <- function(pair, asked, moved) {
  if (!moved) return(.Call(dpsosp:::ffi_shard_sum, pair$shard, asked))
  from <- function(w) as.vector(apply(matrix(w, pair$side), 2, dpsosp:::from_geometry, geometry = pair$geometry))
  for (name in c("at", "along")) if (length(asked[[name]]) > 0L) asked[[name]] <- from(asked[[name]])
  sum <- .Call(dpsosp:::ffi_shard_sum, pair$shard, asked)
  if (asked$word %in% c("gradient", "class gradient", "residual gradient")) {
    return(as.vector(apply(matrix(sum, pair$side), 2, to_coordinates, g = pair$geometry)))
  }
  if (length(sum) == pair$side^2) as.vector(matrix_to_coordinates(pair$geometry, sum, pair$side)) else sum
}

residual_words <- c("weighted", "residual gradient", "residual products", "residual hessian", "residual counts",
                    "recalibration", "improvement")

# own: words of sums in the rows' own coordinates; words: in others.
expect_loss_sums <- function(pair, own, words, sizes = c(0.5, 20), tolerance = 1e-6) {
  compare <- function(word, size, plan, moved) {
    asked <- loss_ask(pair, word, size)
    database <- ask_database(pair$connection, plan, asked)
    memory <- loss_memory(pair, asked, moved)
    testthat::expect_identical(database[1], as.double(pair$plan$n))
    info <- paste(pair$loss$name, word, size)
    unit <- if (length(memory) == pair$side^2) pair$geometry$cap^2 else 1 # of a matrix
    if (!max(abs(database[-1] - memory)) / pair$plan$n <= tolerance * unit * (1 + size)) testthat::fail(info)
    testthat::expect_gt(max(abs(memory)), 0)
  }
  for (word in own) for (size in sizes) compare(word, size, pair$plan, FALSE)
  .Call(dpsosp:::ffi_shard_move, pair$shard, pair$geometry)
  for (word in words) for (size in sizes) compare(word, size, pair$moved, TRUE)
}

# The longest sum of one record, and the largest change by a record: the sensitivities without rounding.
loss_limits <- function(pair, asked) {
  slope <- dpsosp:::loss_bounds(pair$loss)[["lipschitz"]]
  cap <- if (asked$cap > 0) asked$cap else pair$geometry$cap
  clip <- asked$clip
  limit <- function(one, two) c(one, two)
  switch(asked$word,
    weighted = limit(cap^2, sqrt(2) * cap^2),
    "residual gradient" = limit(clip * cap, 2 * clip * cap),
    "residual products" = limit((clip * cap)^2, sqrt(2) * (clip * cap)^2),
    "residual hessian" = limit(clip * (1.3 * cap)^2, sqrt(2) * clip * (1.3 * cap)^2),
    "residual counts" = limit(1, sqrt(2)),
    recalibration = limit(sqrt(2) * clip, 2 * sqrt(2) * clip),
    improvement = limit(0.2, 0.3),
    response = limit(1.5, 2),
    "weighted moments" = limit(sqrt(1.25), 2),
    gradient = limit(slope, 2 * slope),
    "clipped gradient" = limit(clip, 2 * clip),
    "class gradient" = limit(clip * cap, 2 * clip * cap),
    "class counts" = limit(1, sqrt(2))
  )
}

# What each record adds, or each person whose number is in a column of this name: a statement for each.
record_sums <- function(pair, plan, asked, ids, by = "id") {
  only <- function(id, text) {
    gsub("[`\"]?\\bpeople\\b[`\"]?", sprintf("(SELECT * FROM people WHERE %s = %d)", by, id), text)
  }
  sums <- lapply(ids, function(id) {
    plan[c("before", "from")] <- list(if (!is.null(plan$before)) only(id, plan$before), only(id, plan$from))
    ask_database(pair$connection, plan, asked)[-1]
  })
  do.call(rbind, sums)
}

expect_losses_bounded <- function(pair, own, words, ids, sizes = c(1, 1e30), by = "id") {
  for (word in c(own, words)) {
    plan <- if (word %in% words) pair$moved else pair$plan
    for (size in sizes) {
      asked <- loss_ask(pair, word, size)
      sums <- record_sums(pair, plan, asked, ids, by)
      limits <- loss_limits(pair, asked) * (1 + 1e-12)
      info <- paste(pair$loss$name, word, size)
      if (max(sqrt(rowSums(sums^2))) > limits[1]) testthat::fail(paste(info, "one"))
      if (max(0, stats::dist(unique(sums))) > limits[2]) testthat::fail(paste(info, "two"))
      testthat::expect_true(all(is.finite(sums)))
    }
  }
}
