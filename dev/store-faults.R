# What becomes of a budget's store when something fails: processes that are killed, that charge at the same time, a full
# disk, an old copy, a read-only file, flipped bits, a clock that is set back. Prints a line for each fault.
#   Rscript dev/store-faults.R LIBRARY [KILLS]
# lost: charged, and nothing was released; regained: released, and not charged, which must be 0. A release is a line in
# another file, written after the charge. Ends with "N passed, N failed". The full disk needs root (a tmpfs).

library(dpsosp, lib.loc = commandArgs(TRUE)[1])
kills <- as.integer(c(commandArgs(TRUE), NA)[2])
if (is.na(kills)) kills <- 500L
package <- asNamespace("dpsosp")
folder <- tempfile("faults")
dir.create(folder)
Sys.setenv(R_USER_CONFIG_DIR = file.path(folder, "config"))
set.seed(1)
passed <- 0
failed <- 0
typical <- NA # seconds of a reservation on this machine

main <- function() {
  row("cost", cost())
  row("kill -9", killed())
  row("three processes", processes(3))
  row("last charge", last_charge())
  row("full disk", full_disk())
  row("file copied back", copied_back())
  row("read-only file, no file", not_writable())
  row("flipped bits, cut files", damaged())
  row("clock set back", clock())
  row("forked process", forked())
  cat(passed, " passed, ", failed, " failed\n", sep = "")
  quit(status = if (failed > 0) 1 else 0)
}

# result: text, and good: is it as it should be?
row <- function(name, result) {
  cat("| ", name, " | ", result$text, " |\n", sep = "")
  if (isTRUE(result$good)) passed <<- passed + 1 else failed <<- failed + 1
}

new_budget <- function(name, eps = 1, place = folder) {
  suppressMessages(dp_budget(eps = eps, delta = 1e-7, store = file.path(place, name)))
}

claim <- list(asked = list(), call = quote(f()), neighbours = "replace-one")
charge <- function(b, rho = 1e-3) package$reserve(b, c(rho = rho, eps = 0, delta = 0), claim, "f")
refused <- function(code, class) inherits(tryCatch(code, error = function(e) e), class)
rows <- function(b) nrow(dp_ledger(b))
lines_of <- function(file) if (file.exists(file)) as.integer(readLines(file, warn = FALSE)) else integer()

cost <- function() {
  b <- new_budget("cost", 100)
  each <- function(times) 1000 * system.time(for (i in seq_len(times)) charge(b))[["elapsed"]] / times
  first <- each(100)
  typical <<- first / 1000
  for (i in 1:800) charge(b)
  last <- each(100)
  list(text = sprintf("%.0f ms a reservation with few rows, %.0f ms with 1,000; %.0f KiB", first, last,
                      file.size(b$store$path) / 1024), good = rows(b) == 1000)
}

# Charges, and writes the number of each charge to a file.
work <- function(b, file) {
  parallel::mcparallel(repeat {
    receipt <- tryCatch(charge(b), dpsosp_budget_exhausted = function(e) NULL, dpsosp_error = function(e) e)
    if (is.null(receipt)) break
    if (!inherits(receipt, "error")) cat(receipt$number, "\n", sep = "", file = file, append = TRUE)
  }, silent = TRUE)
}

# A new store for each 25 kills, so that the chains are short and kills come at every point of a charge.
killed <- function() {
  lost <- regained <- unreadable <- charged <- 0
  for (k in seq_len(kills)) {
    if (k %% 25 == 1) {
      b <- new_budget(paste0("kill", k), 100)
      out <- file.path(folder, paste0("kill", k, ".out"))
    }
    job <- work(b, out)
    Sys.sleep(runif(1, 0.5, 6) * typical)
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
    if (k %% 25 == 0 || k == kills) {
      numbers <- tryCatch(dp_ledger(b)$number, error = function(e) NULL)
      unreadable <- unreadable + is.null(numbers)
      released <- lines_of(out)
      charged <- charged + length(numbers)
      lost <- lost + length(setdiff(numbers, released))
      regained <- regained + length(setdiff(released, numbers)) + sum(duplicated(released))
    }
  }
  list(text = sprintf("%d kills at random times, %d reservations: lost %d, regained %d, unreadable files %d", kills,
                      charged, lost, regained, unreadable),
       good = regained == 0 && unreadable == 0 && lost <= kills && charged > kills / 2)
}

processes <- function(number) {
  b <- new_budget("processes", 3)
  most <- floor(as.numeric(package$stored_state(b)$study$capacity) / 1e-3)
  out <- file.path(folder, paste0("process", seq_len(number)))
  parallel::mccollect(lapply(out, function(file) work(b, file)))
  released <- unlist(lapply(out, lines_of))
  list(text = sprintf("room for %d: %s accepted, regained %d", most, paste(lengths(lapply(out, lines_of)),
                                                                           collapse = " + "),
                      length(setdiff(released, dp_ledger(b)$number)) + sum(duplicated(released))),
       good = length(released) == most && setequal(released, seq_len(most)) && rows(b) == most)
}

last_charge <- function() {
  b <- new_budget("last", 2)
  capacity <- as.numeric(package$stored_state(b)$study$capacity)
  for (i in 1:100) charge(b, capacity / 100 * (1 - 1e-14))
  over <- refused(charge(b, capacity / 100), "dpsosp_budget_exhausted")
  list(text = sprintf("100 of a hundredth each, the next one is refused; total over capacity %.15f",
                      sum(dp_ledger(b)$rho) / capacity), good = over && sum(dp_ledger(b)$rho) <= capacity)
}

full_disk <- function() {
  disk <- file.path(folder, "disk")
  dir.create(disk)
  if (system2("mount", c("-t", "tmpfs", "-o", "size=1m", "tmpfs", disk), stderr = FALSE) != 0) {
    return(list(text = "not tried: no right to mount", good = TRUE))
  }
  on.exit(system2("umount", disk))
  b <- new_budget("full", 100, disk)
  for (i in 1:5) charge(b)
  filler <- file.path(disk, "filler")
  suppressWarnings(try(writeBin(raw(2^20), filler), silent = TRUE))
  accepted <- 0
  errors <- 0
  for (i in 1:200) {
    if (refused({
      charge(b)
      accepted <- accepted + 1
    }, "dpsosp_error_store")) errors <- errors + 1
  }
  unlink(filler)
  charge(b)
  list(text = sprintf("%d of 200 reservations refused, %d accepted on the rest of a page; after room was made %d rows",
                      errors, accepted, rows(b)), good = errors > 0 && rows(b) == 6 + accepted)
}

copied_back <- function() {
  b <- new_budget("back", 100)
  for (i in 1:5) charge(b)
  file.copy(b$store$path, file.path(folder, "old"))
  receipts <- lapply(1:5, function(i) charge(b))
  file.copy(file.path(folder, "old"), b$store$path, overwrite = TRUE)
  anchored <- refused(charge(b), "dpsosp_error_store")
  unlink(package$anchor_file(b$id))
  for (i in 1:5) charge(b)
  shown <- vapply(receipts, function(r) !identical(package$store_row(b, r$number)$hash, r$hash), NA)
  list(text = sprintf("5 of 10 rows gone: %s by the anchor; without one it goes on, and %d of 5 receipts show it",
                      if (anchored) "refused" else "ACCEPTED", sum(shown)), good = anchored && all(shown))
}

not_writable <- function() {
  b <- new_budget("readonly", 100)
  charge(b)
  missing <- refused(dp_budget(store = file.path(folder, "mistyped")), "dpsosp_error_store")
  if (Sys.info()[["user"]] != "root") {
    Sys.chmod(b$store$path, "0444")
    locked <- refused(charge(b), "dpsosp_error_store")
    Sys.chmod(b$store$path, "0644")
  } else { # root may write to any file but one that is immutable
    locked <- system2("chattr", c("+i", b$store$path), stdout = FALSE, stderr = FALSE) == 0
    how <- if (locked) refused(charge(b), "dpsosp_error_store") else NA
    system2("chattr", c("-i", b$store$path), stdout = FALSE, stderr = FALSE)
    locked <- how
  }
  list(text = sprintf("%s; a name without a file: error, and no file is made",
                      if (is.na(locked)) "read-only not tried as root" else "error, nothing charged"),
       good = missing && !isFALSE(locked) && rows(b) == 1 && !file.exists(file.path(folder, "mistyped")))
}

damaged <- function() {
  b <- new_budget("damaged", 100)
  for (i in 1:10) charge(b)
  whole <- readBin(b$store$path, "raw", 1e7)
  total <- function(bytes) {
    writeBin(bytes, b$store$path)
    tryCatch(sum(dp_ledger(b)$rho), error = function(e) NA)
  }
  bits <- vapply(sample(length(whole), 300), function(i) {
    changed <- whole
    changed[i] <- xor(changed[i], as.raw(2^sample(0:7, 1)))
    total(changed)
  }, 0)
  cuts <- vapply(sample(length(whole) - 1, 100), function(size) total(head(whole, size)), 0)
  wrong <- sum(!is.na(c(bits, cuts)) & abs(c(bits, cuts) - 1e-2) > 1e-12)
  list(text = sprintf("bits: %d of 300 found, the others in unused bytes; cut files: %d of 100 found; wrong totals %d",
                      sum(is.na(bits)), sum(is.na(cuts)), wrong), good = wrong == 0 && all(is.na(cuts)))
}

clock <- function() {
  b <- new_budget("clock", 100)
  for (time in c("2031-01-01T00:00:00Z", "1981-01-01T00:00:00Z")) {
    row <- package$new_reservation(c(rho = 1e-3, eps = 0, delta = 0), NULL, quote(f()), 1, "replace-one",
                                   "record", "f", "gdp")
    row$time <- time
    package$charge_store(b, row)
  }
  charge(b)
  list(text = "the order is that of the numbers; times are labels", good = identical(dp_ledger(b)$number, 1:3))
}

forked <- function() {
  b <- new_budget("forked", 100)
  part <- dp_reserve(b, eps = 0.1)
  x <- matrix(runif(200, -1, 1))
  job <- parallel::mcparallel({
    charge(b)
    tryCatch(dp_gradient(dp_oracle(x, x[, 1] > 0, "logistic", part, radius = 2), c(0, 0), mu = 1e-3), error = class)
  }, silent = TRUE)
  found <- parallel::mccollect(job)[[1]]
  list(text = "charges by a connection of its own; a part that its parent reserved is refused",
       good = "dpsosp_error_fork" %in% found && rows(b) == 2)
}

main()
