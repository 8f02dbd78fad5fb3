# Rows of a source that a fit keeps after its first pass.

d <- problem_frame(3000)
d$a[5] <- NA
d$f[7] <- NA

# A source of chunks that counts its passes.
counted_source <- function(data, ..., chunk = 700) {
  passes <- 0
  open <- in_chunks(data, chunk)
  source <- dp_source(function() {
    passes <<- passes + 1
    open()
  }, levels = levels_of(data), n = nrow(data), ...)
  passes <- 0
  list(source = source, passes = function() passes)
}

fit <- function(data, method = "newton-ridge", ..., formula = y ~ a + b + f) {
  set.seed(4)
  quiet_fit(formula, data, method = method, eps = 5, delta = 1e-6, noise = "reproducible", ...)
}

test_that("a fit reads a source a few times, and has the bits of one that reads it in each pass", {
  for (method in long_values(c("gd", "objpert", "newton-ridge"))) {
    kept <- counted_source(d)
    read <- counted_source(d, cache = "none")
    fits <- lapply(list(kept$source, read$source, d), fit, method, bounds = frame_bounds)
    expect_lte(kept$passes(), 3)
    expect_gt(read$passes(), 5)
    expect_identical(coef(fits[[1]]), coef(fits[[2]]))
    expect_equal(coef(fits[[1]]), coef(fits[[3]]), tolerance = 1e-12)
    expect_identical(dp_ledger(fits[[1]]), dp_ledger(fits[[2]]))
  }
  found <- counted_source(d)
  fit(found$source, bounds = "private")
  expect_lte(found$passes(), 5)
})

test_that("the public size of the rows decides, and an option changes the limit", {
  few <- control_newton_ridge(iterations = 5)
  passes <- function(cache, limit) {
    withr::local_options(dpsosp.cache = limit)
    counter <- counted_source(d, cache = cache)
    fit(counter$source, bounds = frame_bounds, control = few)
    counter$passes()
  }
  bytes <- 3000 * (8 * 7 + 4)
  expect_lte(passes("auto", bytes), 3)
  expect_gt(passes("auto", bytes - 1), 5)
  expect_lte(passes("memory", 0), 3)
  expect_gt(passes("none", Inf), 5)
  withr::local_options(dpsosp.cache = "much")
  expect_error(fit(d_source <- counted_source(d)$source, bounds = frame_bounds), "dpsosp.cache",
               class = "dpsosp_error_argument")
  expect_error(dp_source(in_chunks(d, 10), cache = "disk"), "cache", class = "dpsosp_error_argument")
})

test_that("rows that change between fits, or come too many, are an error, and nothing of a failed pass is used", {
  changing <- d
  source <- dp_source(function() in_chunks(changing, 700)(), levels = levels_of(d))
  expected <- coef(fit(source, bounds = frame_bounds))
  changing$b <- rev(changing$b)
  expect_error(fit(source, bounds = frame_bounds), "other rows", class = "dpsosp_error_source")
  changing <- rbind(d, d[1, ])
  expect_error(fit(source, bounds = frame_bounds), class = "dpsosp_error_source")
  changing <- d
  expect_identical(coef(fit(source, bounds = frame_bounds)), expected)
})

test_that("weights, offsets and a later certificate or interval are those of rows that are read again", {
  skip_unless_long()
  d <- weighed_frame(2500)
  run <- function(cache) {
    source <- counted_source(d, cache = cache)$source
    first <- fit(source, "newton", formula = y ~ a + b + f + offset(o), bounds = weighed_bounds, weights = w)
    set.seed(5)
    again <- function(what) suppressMessages(what(first, source, eps = 5, delta = 1e-6, noise = "reproducible"))
    list(coef(first), vcov(again(dp_inference)), again(dp_certify)$gradient)
  }
  expect_identical(run("memory"), run("none"))
})

test_that("rows of a database are fetched once where it does not compute a sum", {
  connection <- sqlite_connection()
  source <- push_pair(connection, d)$push
  statements <- watched(fit(source, "objpert", bounds = frame_bounds))
  expect_length(grep("^SELECT.*FROM `people`", statements), 1)
})

# Mappings of files that the core made, and their names that can still be seen.
mapped_files <- function() {
  skip_if_not(file.exists("/proc/self/maps"))
  grep("/dpsosp-[A-Za-z0-9]{6}", readLines("/proc/self/maps"), value = TRUE)
}
named_files <- function() list.files(tempdir(), "^dpsosp-")

test_that("rows in a file give the bits of rows in memory; the file has no name, and ends with the fit", {
  seen <- character()
  look <- function(at) {
    seen <<- c(seen, mapped_files())
    expect_length(named_files(), 0)
  }
  source <- function(cache) {
    dp_source(in_chunks(d, 700, each = if (cache == "file") look else function(at) NULL), levels = levels_of(d),
              n = nrow(d), cache = cache)
  }
  for (method in c("newton-ridge", "gd", "2opt-b")) {
    seen <- character()
    fits <- lapply(list(source("file"), source("memory")), fit, method, bounds = frame_bounds)
    expect_match(seen, "rw-s .*\\(deleted\\)$")
    expect_length(mapped_files(), 0)
    expect_identical(coef(fits[[1]]), coef(fits[[2]]))
    expect_identical(dp_ledger(fits[[1]]), dp_ledger(fits[[2]]))
  }
  again <- source("file")
  inference <- suppressMessages(dp_inference(fit(d, "newton", bounds = frame_bounds), again, eps = 1, delta = 1e-6))
  expect_s3_class(inference, "dp_sosp")
  expect_length(mapped_files(), 0)
})

test_that("no file outlives a reader that fails or an interrupt, and the next fit has no stale rows", {
  expected <- coef(fit(counted_source(d, cache = "memory")$source, bounds = frame_bounds))
  for (condition in list(simpleError("no"), structure(class = c("interrupt", "condition"), list(message = "")))) {
    stops <- TRUE
    there <- 0
    each <- function(at) {
      if (!stops || at < 2000 || length(mapped_files()) == 0L) return(NULL) # the pass over the responses is the first
      there <<- there + 1
      signalCondition(condition)
    }
    source <- dp_source(in_chunks(d, 700, each), levels = levels_of(d), n = nrow(d), cache = "file")
    ended <- tryCatch(fit(source, bounds = frame_bounds), dpsosp_error_source = function(e) "error",
                      interrupt = function(e) "interrupt")
    expect_identical(ended, if (inherits(condition, "error")) "error" else "interrupt")
    expect_identical(there, 1)
    expect_length(mapped_files(), 0)
    expect_length(named_files(), 0)
    stops <- FALSE
    expect_identical(coef(fit(source, bounds = frame_bounds)), expected)
  }
})

test_that("a file that cannot be made is an error that says so; it is never chosen by \"auto\"", {
  local_value("cache_folder", function(cache) "/no such folder")
  expect_error(fit(counted_source(d, cache = "file")$source, bounds = frame_bounds), "TMPDIR",
               class = "dpsosp_error_file")
  expect_s3_class(fit(counted_source(d, cache = "none")$source, bounds = frame_bounds), "dp_sosp")
})

test_that("only \"file\" has a file, and not on Windows", {
  expect_identical(dpsosp:::cache_folder("file"), tempdir())
  for (cache in c("auto", "memory", "none")) expect_null(dpsosp:::cache_folder(cache))
  expect_null(dpsosp:::cache_folder(NULL))
  local_value("has_unnamed_files", function() FALSE)
  expect_error(counted_source(d, cache = "file"), "Windows", class = "dpsosp_error_argument")
})

test_that("a fit keeps nothing of the rows", {
  first <- fit(counted_source(d)$source, bounds = frame_bounds)
  expect_lt(length(serialize(first, NULL)), 2e5)
})

test_that("the time of a long run is told, from the seconds of a pass and public numbers, where nothing is kept", {
  expect_identical(dpsosp:::passes_text(0.85, 160, 88e6), paste0(
    "One pass over the source takes 0.85 s, about 160 are planned: about 2 min. `cache = \"memory\"` needs 88 MB"
  ))
  expect_match(dpsosp:::passes_text(0.1234, 500, 2.34e9), "takes 0.12 s, about 500 are planned: about 62 s.* 2.3 GB$")
  expect_match(dpsosp:::passes_text(900, 160, 5e11), "about 40 h")
  told <- function(seconds, again = list(clock = list(seconds = seconds), bytes = 1e6)) {
    dpsosp:::tell_passes(list(oracle = list(again = again), options = list(iterations = 100L)))
  }
  expect_message(told(0.31), "about 31 s", class = "dpsosp_message_passes")
  expect_silent(told(0.3))
  expect_silent(told(NULL))
  expect_silent(told(1, NULL))
  local_value("passes_long", -1)
  messages <- function(cache, source = counted_source(d, cache = cache)$source) {
    seen <- capture_messages(dp_sosp(y ~ a + b + f, source, eps = 5, delta = 1e-6, bounds = frame_bounds,
                                     method = "newton-ridge", control = control_newton_ridge(iterations = 3)))
    grep("One pass over", seen, value = TRUE)
  }
  expect_length(messages("none"), 1)
  expect_match(messages("none"), "about 3 are planned: .* needs 0.18 MB")
  expect_length(messages("memory"), 0)
  whose <- transform(d, who = seq_len(nrow(d)) %/% 2L)
  expect_length(messages(source = dp_source(in_chunks(whose, 1300), cache = "none", id = "who")), 0) # rows are private
})
