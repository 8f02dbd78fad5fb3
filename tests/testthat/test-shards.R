# Shards with workers: fits equal those with all rows in memory.

n <- 400
d <- problem_frame(n)

test_that("fits of shards are those in memory, with the same ledger, however the rows are split", {
  shard_workers(c("one", "two"))
  for (parts in long_size(c(1, 3), 3)) {
    shards <- dp_shards(frame_shards(n, parts), c("one", "two"))
    expect_equal(shards$n, n)
    for (method in long_values(c("newton", "2opt-ls", "tr", "newton-ridge", "agd", "objpert"), parts)) {
      budget <- if (method == "agd") list(rho = 1) else if (method != "objpert") list(eps = 100, delta = 1e-6)
      fits <- lapply(list(shards, d), function(data) {
        if (is.null(budget)) {
          set.seed(4)
          return(quiet_fit(y ~ a + b + f, data, method = method, eps = 100, delta = 1e-6, noise = "reproducible"))
        }
        shard_fit(data, method = method, budget = do.call(dp_budget, budget))
      })
      expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-8)
      same <- if (method == "objpert") setdiff(names(dp_ledger(fits[[1]])), c("sensitivity", "scale")) else TRUE
      ledgers <- lapply(fits, function(fit) as.data.frame(dp_ledger(fit))[same])
      expect_equal(ledgers[[1]], ledgers[[2]], tolerance = 1e-9)
    }
  }
})

test_that("several classes have the same fits", {
  shard_workers(c("one", "two"))
  shards <- dp_shards(frame_shards(n, 3), c("one", "two"))
  for (method in long_values(c("newton", "newton-ridge"))) {
    fits <- lapply(list(shards, d), function(data) {
      set.seed(4)
      quiet_fit(f ~ a + b, data, method = method, eps = 100, delta = 1e-6, bounds = frame_bounds,
                noise = "reproducible")
    })
    expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-8)
    expect_equal(as.data.frame(dp_ledger(fits[[1]])), as.data.frame(dp_ledger(fits[[2]])), tolerance = 1e-9)
  }
})

test_that("bits do not depend on which worker has a shard, nor on how it is reached", {
  shard_workers(c("one", "two"))
  shard_workers("three", url = function() mirai::local_url(tcp = TRUE))
  parts <- frame_shards(n, 3)
  fits <- lapply(list("one", c("two", "one"), c("three", "one")), function(compute) {
    shard_fit(dp_shards(parts, compute), method = "2opt-ls")
  })
  for (fit in fits[-1]) {
    fit$call <- fits[[1]]$call
    expect_identical(coef(fit), coef(fits[[1]]))
    expect_identical(dp_ledger(fit), dp_ledger(fits[[1]]))
  }
})

test_that("ranges, a start, moments and intervals come from the shards, too", {
  shard_workers("one")
  shards <- dp_shards(frame_shards(n, 2), "one")
  fits <- lapply(list(shards, d), function(data) {
    set.seed(2)
    quiet_fit(y ~ I(a^2) + b, data, eps = 50, delta = 1e-6, method = "newton-ridge",
              inference = "sandwich", noise = "reproducible")
  })
  expect_equal(coef(fits[[1]]), coef(fits[[2]]), tolerance = 1e-8)
  expect_equal(confint(fits[[1]]), confint(fits[[2]]), tolerance = 1e-8)
})

test_that("files are read by the workers, a missing value or a word makes a null record", {
  shard_workers("one")
  folder <- withr::local_tempdir()
  files <- file.path(folder, c("1.csv", "2.csv"))
  d$a[c(3, 390)] <- NA
  write.csv(d[1:150, ], files[1], row.names = FALSE)
  write.csv(transform(d[151:n, ], b = replace(as.character(b), 7, "a word")), files[2], row.names = FALSE)
  d$b[157] <- NA
  shards <- dp_shards(files, "one", levels = levels_of(d))
  expect_equal(coef(shard_fit(shards)), coef(shard_fit(d)), tolerance = 1e-8)
})

test_that("what leaves a worker does not grow with its rows, and a fit keeps nothing of it", {
  shard_workers("one")
  sizes <- c()
  original <- dpsosp:::check_answer
  put <- function(value) utils::assignInNamespace("check_answer", value, "dpsosp")
  put(function(answer, ...) {
    sizes <<- c(sizes, length(serialize(answer, NULL)))
    original(answer, ...)
  })
  withr::defer(put(original))
  kept <- function() mirai::call_mirai(mirai::mirai(ls(dpsosp:::opened), .compute = "one"))$data
  before <- kept()
  fits <- lapply(c(100, 10000), function(n) shard_fit(dp_shards(frame_shards(n, 1), "one"), method = "newton"))
  expect_lt(max(sizes), 5000)
  expect_lt(length(serialize(fits[[2]], NULL)), 1e5)
  expect_identical(kept(), before)
})

test_that("what shards cannot do is refused before anything is charged", {
  shard_workers("one")
  shards <- dp_shards(frame_shards(n, 2), "one")
  budget <- dp_budget(eps = 1, delta = 1e-6)
  refused <- function(code, text) expect_error(code, text, class = "dpsosp_error_argument")
  refused(shard_fit(shards, storage = "single", budget = budget), "storage")
  refused(dp_oracle(shards, "y", budget = budget, radius = 1), "Shards are for")
  expect_error(shards$open(NULL), "stay with their workers", class = "dpsosp_error_source")
  expect_equal(charged(budget), 0)
})

test_that("wrong arguments and shards that do not fit together are errors", {
  shard_workers("one")
  wrong <- function(code, text, what = "argument") expect_error(code, text, class = paste0("dpsosp_error_", what))
  parts <- frame_shards(n, 2)
  wrong(dp_shards(list(), "one"), "functions or of paths")
  wrong(dp_shards(list(1), "one"), "functions or of paths")
  wrong(dp_shards(parts, 3), "names of mirai")
  wrong(dp_shards(parts, "nobody"), "no worker of the compute profile")
  wrong(dp_shards(parts, "one", timeout = -1), "timeout")
  wrong(dp_shards(c(parts, function() data.frame(a = 1)), "one"), "Shard 3 has no column `b`", "source")
  wrong(dp_shards(function() 1, "one"), "data frame", "source")
  wrong(dp_shards("nowhere.csv", "one"), "shard 1", "source")
})

test_that("a worker's sums of a margin loss are no larger than its rows allow", {
  most <- max_of_sum(loss_logistic(), 2, TRUE, 0)
  at <- c(0, 0, 0)
  along <- c(0, 3, 4)
  expect_equal(most(list(word = "clipped gradient", at = at, clip = 0.3)), list(length = 3, size = 0.3))
  expect_equal(most(list(word = "model gradient", at = at, along = along)), list(length = 3, size = 1 + 5 / 4))
  # A record of norm one, at which the curvature is largest, gives as much as is allowed.
  shard <- .Call(ffi_shard_create, matrix(c(0.6, 0), 1), TRUE, 1, 1, "logistic", 0)
  sum_of <- function(word) .Call(ffi_shard_sum, shard, moved_ask(word, at))
  expect_equal(most(list(word = "trace", at = at)), list(length = 1, size = sum_of("trace")))
  expect_equal(most(list(word = "squares", at = at))$size, sqrt(sum(sum_of("squares")^2)))
  expect_identical(most(list(word = "squares", at = at))$length, 9)
})

test_that("a shard with other columns than the source's ends the fit", {
  source <- list(schema = problem_frame(0), shards = list(where = list(1, 2)))
  digest <- schema_digest(source$schema["a"])
  answers <- list(list(schema = digest), list(schema = schema_digest(source$schema["b"])))
  expect_error(check_opened(answers, source, "a"), "Shard 2 of 2 gave no sum: other columns, types or levels",
               class = "dpsosp_error_source")
  expect_null(check_opened(answers[1], source, "a"))
})
