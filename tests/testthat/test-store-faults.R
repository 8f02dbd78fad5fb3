# What a store does when something goes wrong, or someone changes it. Long forms are in dev/store-faults.R.

claim <- list(asked = list(), call = quote(f()), neighbours = "replace-one")
charge <- function(b, rho = 1e-3) dpsosp:::reserve(b, c(rho = rho, eps = 0, delta = 0), claim, "f")
total <- function(b) sum(dp_ledger(b)$rho)

test_that("a store only grows", {
  path <- local_stores()
  b <- new_store(path)
  for (i in 1:3) charge(b)
  for (statement in c("DELETE FROM reservation", "UPDATE reservation SET rho = '0x0p+0'", "DELETE FROM study",
                      "UPDATE study SET capacity = '0x1p+9'")) {
    expect_error(store_sql(path, statement), "only grows")
  }
  # Two rows cannot follow the same row.
  again <- paste("INSERT INTO reservation SELECT 9,", paste(setdiff(c(dpsosp:::row_fields, "hash"), "number"),
                                                            collapse = ", "), "FROM reservation WHERE number = 2")
  expect_error(store_sql(path, again), "UNIQUE")
  expect_equal(nrow(dp_ledger(b)), 3L)
})

test_that("every changed field is found, of a row and of the study", {
  path <- local_stores()
  b <- new_store(path, other = c(eps = 0.1, delta = 1e-9))
  for (i in 1:3) charge(b)
  pristine <- readBin(path, "raw", 1e6)
  found <- function(...) {
    writeBin(pristine, path)
    store_edit(path, ...)
    expect_error(charge(b), class = store_error)
    expect_error(dp_budget(store = path), class = store_error)
  }
  # The edit alone keeps all triggers, so it is found by the chain.
  for (field in long_values(setdiff(c(dpsosp:::row_fields, "hash"), "number"))) {
    found(sprintf("UPDATE reservation SET \"%s\" = \"%s\" || '0' WHERE number = 2", field, field))
  }
  for (field in long_values(setdiff(c(dpsosp:::study_fields, "hash"), "format"))) {
    found(sprintf("UPDATE study SET \"%s\" = \"%s\" || '0'", field, field))
  }
  found("UPDATE reservation SET number = 7 WHERE number = 3")
  found("DELETE FROM reservation WHERE number = 2")
  found("DELETE FROM reservation WHERE number = 1")
  found("DELETE FROM study")
  writeBin(pristine, path)
  store_sql(path, "DROP TRIGGER no_delete_reservation")
  expect_error(charge(b), "tables", class = store_error)
  writeBin(pristine, path)
  charge(b)
  expect_equal(nrow(dp_ledger(b)), 4L)
})

test_that("a row cannot be changed with its hash, as the next one follows from it", {
  path <- local_stores()
  b <- new_store(path)
  for (i in 1:2) charge(b)
  row <- as.list(dpsosp:::stored_state(b)$rows[1, ])
  row$n <- "1000"
  hash <- dpsosp:::row_hash(row)
  store_edit(path, sprintf("UPDATE reservation SET n = '%s', hash = '%s' WHERE number = 1", row$n, hash),
             sprintf("UPDATE reservation SET previous = '%s' WHERE number = 2", hash))
  expect_error(charge(b), "follow from each other", class = store_error)
})

test_that("hashes are those of the fields with their lengths", {
  fields <- list(a = "1", b = "", c = "\u00e9")
  expect_identical(dpsosp:::hash_fields(fields), .Call(dpsosp:::ffi_sha256, "1:10:2:\u00e9"))
  expect_identical(.Call(dpsosp:::ffi_sha256, "abc"),
                   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  expect_false(identical(dpsosp:::hash_fields(list("ab", "c")), dpsosp:::hash_fields(list("a", "bc"))))
})

test_that("another format is refused, whatever else it holds", {
  path <- local_stores()
  new_store(path)
  study <- as.list(dpsosp:::sqlite_read(path)$study)
  study$format <- "2"
  hash <- dpsosp:::hash_fields(study[dpsosp:::study_fields])
  store_edit(path, sprintf("UPDATE study SET format = '2', hash = '%s'", hash))
  expect_error(dp_budget(store = path), "format 2", class = store_error)
  store_edit(path, "ALTER TABLE study ADD COLUMN more TEXT")
  expect_error(dp_budget(store = path), "format 2", class = store_error)
})

test_that("a file that was set back or replaced is refused, and receipts show it", {
  path <- local_stores()
  b <- new_store(path)
  for (i in 1:5) charge(b)
  file.copy(path, paste0(path, ".old"))
  last <- lapply(1:5, function(i) charge(b))[[5]]
  expect_identical(dpsosp:::store_row(b, 10L)$hash, last$hash)
  file.copy(paste0(path, ".old"), path, overwrite = TRUE)
  expect_error(charge(b), "lacks row 10", class = store_error)
  expect_error(dp_budget(store = path), "lacks row 10", class = store_error)
  # Without the anchor, as on another computer, it goes on; the receipt shows it.
  unlink(dpsosp:::anchor_file(b$id))
  for (i in 1:5) charge(b)
  expect_false(identical(dpsosp:::store_row(b, 10L)$hash, last$hash))
  # Another study in its place.
  unlink(path)
  expect_error(new_store(path), "another budget", class = store_error)
  expect_false(file.exists(path))
  new_store(paste0(path, ".new"))
  file.rename(paste0(path, ".new"), path)
  expect_error(charge(b), "another study", class = store_error)
})

test_that("an anchor is that of the last row that was committed", {
  path <- local_stores()
  b <- new_store(path, eps = 0.1)
  charge(b, 1e-6)
  anchor <- dpsosp:::read_anchor(b$id)
  expect_identical(anchor[c("number", "hash")], list(number = 1L, hash = dp_ledger(b)$hash))
  expect_error(charge(b, 1), class = exhausted)
  expect_identical(dpsosp:::read_anchor(b$id), anchor)
  writeLines("x", dpsosp:::anchor_file(b$id))
  expect_error(charge(b, 1e-6), "anchor", class = store_error)
  unlink(dpsosp:::anchor_folder(), recursive = TRUE)
  writeLines("no folder", dpsosp:::anchor_folder())
  expect_warning(charge(b, 1e-6), class = "dpsosp_warning_store")
  expect_equal(nrow(dp_ledger(b)), 2L)
})

test_that("a store of another relation is not charged", {
  path <- local_stores()
  b <- new_store(path, neighbours = "zero-out")
  expect_error(charge(b), class = "dpsosp_error_relation")
  expect_error(store_fit(b, eps = 0.1), class = "dpsosp_error_relation")
  store_fit(b, eps = 0.1, neighbours = "zero-out")
  expect_equal(nrow(dp_ledger(b)), 1L)
})

test_that("what is no store, or cannot be written, is an error, and nothing is released", {
  path <- local_stores()
  b <- new_store(path)
  charge(b)
  expect_error(dp_budget(store = paste0(path, "x")), class = store_error)
  expect_error(dpsosp:::sqlite_open(paste0(path, "x"), FALSE))
  expect_false(file.exists(paste0(path, "x")))
  writeLines("text", paste0(path, ".txt"))
  expect_error(dp_budget(store = paste0(path, ".txt")), class = store_error)
  file.create(paste0(path, ".empty"))
  expect_error(dp_budget(store = paste0(path, ".empty")), class = store_error)
  skip_on_os("windows")
  skip_if(Sys.info()[["user"]] == "root", "root writes to files that are read-only")
  Sys.chmod(path, "0444")
  expect_error(store_fit(b, eps = 0.1), class = store_error)
  Sys.chmod(path, "0644")
  expect_equal(nrow(dp_ledger(b)), 1L)
})

test_that("flipped bits are found, or do not matter", {
  path <- local_stores()
  b <- new_store(path)
  for (i in 1:5) charge(b)
  pristine <- readBin(path, "raw", 1e6)
  set.seed(1)
  at <- sample(length(pristine), 40)
  found <- vapply(at, function(i) {
    changed <- pristine
    changed[i] <- xor(changed[i], as.raw(2^(i %% 8)))
    writeBin(changed, path)
    sum <- tryCatch(total(b), error = function(e) NA)
    expect_true(is.na(sum) || sum == 5e-3)
    is.na(sum)
  }, NA)
  expect_gt(sum(found), 0)
  for (size in c(0, 100, 5000, length(pristine) - 4096)) {
    writeBin(utils::head(pristine, size), path)
    expect_error(total(b), class = store_error)
  }
})

test_that("no reservation is made twice, even if all that it says is the same", {
  local_stores()
  costs <- c(rho = 1e-3, eps = 0, delta = 0)
  made <- replicate(20, dpsosp:::new_reservation(costs, NULL, quote(f()), 1, "replace-one", "record", "f", "gdp")$nonce)
  expect_identical(anyDuplicated(made), 0L)
})

test_that("order is that of the rows, whatever the clock says", {
  path <- local_stores()
  b <- new_store(path)
  for (time in c("2030-01-01T00:00:00Z", "1980-01-01T00:00:00Z")) {
    row <- dpsosp:::new_reservation(c(rho = 1e-3, eps = 0, delta = 0), NULL, quote(f()), 1, "replace-one",
                                        "record", "f", "gdp")
    row$time <- time
    dpsosp:::charge_store(b, row)
  }
  charge(b)
  expect_identical(dp_ledger(b)$number, 1:3)
  expect_lt(dp_ledger(b)$time[2], dp_ledger(b)$time[1])
})

# A process that charges, and then makes a release that leaves it: a line in a file.
charging <- function(b, file, times = 1e4) {
  parallel::mcparallel({
    errors <- character()
    for (i in seq_len(times)) {
      receipt <- tryCatch(charge(b), dpsosp_error = function(e) e)
      if (inherits(receipt, "error")) {
        errors <- c(errors, class(receipt)[1])
        if (inherits(receipt, exhausted)) break
      } else {
        cat(receipt$number, "\n", sep = "", file = file, append = TRUE)
      }
    }
    errors
  }, silent = TRUE)
}

test_that("a process that is killed regains nothing", {
  skip_on_os("windows")
  skip_on_cran()
  path <- local_stores()
  b <- new_store(path, eps = 100)
  out <- paste0(path, ".out")
  file.create(out)
  set.seed(1)
  for (i in 1:8) {
    before <- length(readLines(out))
    job <- charging(b, out)
    for (wait in 1:1000) if (length(readLines(out)) == before) Sys.sleep(0.02)
    Sys.sleep(runif(1, 0, 0.1))
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
    charged <- nrow(dp_ledger(b))
    released <- as.integer(readLines(out))
    expect_true(all(released %in% seq_len(charged)))
    expect_false(anyDuplicated(released) > 0)
    expect_lte(charged - length(released), i) # at most one is lost for each kill
  }
  expect_gte(length(released), 8)
})

test_that("processes that charge at the same time do not exceed the capacity", {
  skip_on_os("windows")
  skip_on_cran()
  path <- local_stores()
  b <- new_store(path, eps = 1)
  times <- floor(as.numeric(dpsosp:::stored_state(b)$study$capacity) / 1e-3)
  out <- paste0(path, 1:3, ".out")
  jobs <- lapply(out, function(file) charging(b, file))
  errors <- parallel::mccollect(jobs)
  expect_identical(unique(unlist(errors)), exhausted)
  released <- unlist(lapply(out[file.exists(out)], readLines))
  expect_setequal(as.integer(released), seq_len(times))
  expect_length(released, times)
})
