# Batches of a database's prepared rows, and of shards.

batch_frame <- function(n = 600) {
  d <- problem_frame(n)
  d$a[5] <- NA
  d$y[9] <- NA
  d$f[13] <- NA
  d$b[c(20, 21)] <- c(1e308, -1e308)
  d$w <- rep_len(c(1, 0.5, NA, 0.2), n)
  d
}

batch_methods <- list(sgd = control_gd(batch = 60, max_iterations = 10), "opt-b" = control_opt(max_iterations = 20),
                      "2opt-b" = control_opt(max_iterations = 20), "tr-b" = NULL,
                      "newton-b" = control_newton(iterations = 10), blsgd = control_line_search(attempts = 10))

batch_fit <- function(data, method, ...) {
  force(data)
  set.seed(4)
  quiet_fit(y ~ a + b + f, data, method = method, eps = 5, delta = 1e-6, bounds = frame_bounds,
            noise = "reproducible", ...)
}

# A database has other noise for the same sums, which expect_batch_sums() compares: only what is asked is the same.
expect_batch_fits <- function(data, memory, tolerance, methods = batch_methods, turn = 0, database = FALSE) {
  for (method in long_values(names(methods), turn)) {
    fits <- lapply(list(data, memory), batch_fit, method, control = methods[[method]])
    what <- lapply(fits, function(fit) dp_ledger(fit)$what)
    if (database) {
      testthat::expect_identical(what[[1]][1:3], what[[2]][1:3], info = method)
    } else {
      testthat::expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = tolerance, info = method)
      testthat::expect_identical(what[[1]], what[[2]], info = method)
    }
    testthat::expect_gt(sum(grepl("batch", dp_ledger(fits[[1]])$what)), 2)
  }
}

# A pair of moved_pair() whose rows have numbers until the frame ends, and sum(plan, what).
numbered_pair <- function(connection, rows, ..., frame = parent.frame()) {
  pair <- moved_pair(connection, rows, y ~ a + b + f, weighted = FALSE, ...)
  pair$push <- dp_source(connection, "people", levels = list(f = c("u", "v", "w"), y = c("no", "yes")),
                         push = TRUE)$push
  columns <- data.frame(kind = rep(c("numeric", "indicator"), 2:1), variable = c("a", "b", "f"))
  end <- dpsosp:::hold_snapshot(pair$push, list(columns = columns), list(matrices = TRUE, candidates = 5))
  withr::defer(end(), frame, priority = "first")
  pair$sum <- function(plan, what) dpsosp:::push_sum(pair$push, plan, what)
  pair
}

batch_words <- c("gradient", "clipped gradient", "decreases", "trace", "majorant", "curvature", "hessian")
batch_ask <- function(dim, word, rows, size = 1) {
  what <- moved_ask(word, size * cos(seq_len(dim)), clip = 0.3)
  if (word == "decreases") what <- utils::modifyList(what, list(along = sin(seq_len(dim)), steps = c(2, 0.5)))
  c(what, list(rows = rows))
}

# Sums over the same records are those in memory, whatever was summed before.
expect_batch_sums <- function(connection) {
  rows <- batch_frame(300)
  pair <- numbered_pair(connection, rows)
  set.seed(1)
  batches <- list(sort(sample(300L, 40)), integer(), 5L, c(1L, 300L), seq_len(300))
  for (i in seq_along(batches)) {
    rows <- batches[[i]]
    for (word in long_values(batch_words, i)) {
      what <- batch_ask(pair$dim, word, rows)
      sum <- pair$sum(pair$plan, what)
      memory <- .Call(dpsosp:::ffi_shard_sum, pair$shard, what)
      testthat::expect_identical(sum[1], as.double(length(rows)))
      if (!all(abs(sum[-1] - memory) <= 5e-6 * length(rows))) testthat::fail(paste(word, length(rows)))
    }
  }
  pair
}

# No record adds more than its bound, each by itself as a batch: every seventh of the extreme ones, or fewer, as all of
# them are summed together in other tests of the same integers.
expect_batch_bounded <- function(connection, moved) {
  rows <- extreme_rows()
  pair <- numbered_pair(connection, rows[seq(1, nrow(rows), by = long_size(7, 35)), ], longer = if (moved) 3 else 1)
  plan <- if (moved) pair$moved else pair$plan
  limits <- dpsosp:::loss_bounds(pair$loss)
  parts <- list()
  for (id in seq_len(pair$plan$n)) {
    for (word in c("gradient", "hessian", "clipped gradient"[!moved])) {
      sum <- pair$sum(plan, batch_ask(pair$dim, word, id, size = 40))
      testthat::expect_identical(sum[1], 1)
      most <- c(gradient = limits[["lipschitz"]], hessian = limits[["curv_upper"]], "clipped gradient" = 0.3)[[word]]
      if (!(sqrt(sum(sum[-1]^2)) <= most * (1 + 1e-12))) testthat::fail(paste(word, id))
      if (word == "gradient") parts <- c(parts, sqrt(sum(sum[-1]^2)))
    }
  }
  testthat::expect_gt(max(unlist(parts)), 0.5 * limits[["lipschitz"]])
}
