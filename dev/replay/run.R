# What dev/replay.sh runs, which says how. LIBRARY has the test build.
#   Rscript dev/replay/run.R LIBRARY [--floors] [pattern]
#   Rscript dev/replay/run.R LIBRARY --call FILE

arguments <- commandArgs(TRUE)
.libPaths(c(normalizePath(arguments[1]), .libPaths()))
suppressMessages(library(dpsosp))
long <- Sys.getenv("DPSOSP_LONG") == "1"
form <- if (long) "long" else "short"
folder <- "dev/replay"
floors_file <- file.path(folder, "floors.csv")
options <- arguments[-1]

main <- function() {
  if ("--call" %in% options) return(audit_file(options[2]))
  patterns <- setdiff(options, "--floors")
  until_end <<- environment() # for what ends with this function, such as a server
  for (file in c("calls.R", "sources.R", "cells.R")) source(file.path(folder, file))
  for (name in grep(c(patterns, ".")[1], names(calls), value = TRUE)) {
    report(name, note_audit(do.call(audit, calls[[name]])))
  }
  if (!length(patterns) || patterns == "cells") audit_cells()
  if (!length(patterns)) {
    check_hook()
    if (long) check_queries()
  }
  if ("--floors" %in% options && length(measured) > 0) write_floors() # a pattern of no call changes nothing
}

passed <- failed <- 0
audited_so_far <- c(calls = 0, runs = 0, pairs = 0)
note_audit <- function(seen) {
  audited_so_far <<- audited_so_far + c(1, seen$runs, seen$pairs)
  seen
}
check <- function(name, found) {
  if (!length(found)) {
    passed <<- passed + 1
    return(invisible())
  }
  failed <<- failed + 1
  cat("FAILED ", name, ":", paste0("\n  ", utils::head(found, 5)), "\n", sep = "")
}

# ---- floors.csv: the tightness of each query of each call, in the short form and in the long one ----

floors <- utils::read.csv(floors_file, colClasses = c("character", "character", "numeric", "numeric"))
measured <- list()

report <- function(name, seen) {
  measured[[name]] <<- seen$tight
  check(name, c(seen$found, if (!"--floors" %in% options && !length(seen$found)) moved(name, seen$tight)))
  cat(sprintf("%s: %d runs, %.1f s: %s\n", name, seen$runs, seen$seconds,
              paste(names(seen$tight), sprintf("%.3f", seen$tight), collapse = ", ")))
}

# Less than before: the neighbours have become too weak to find a mistake. More: there is less noise than before for the
# same change, which needs a proof.
moved <- function(name, tight) {
  mine <- floors[floors$call == name & !is.na(floors[[form]]), ]
  now <- tight[mine$query]
  change <- ifelse(now < 0.95 * mine[[form]], "weak neighbours", ifelse(now > 1.05 * mine[[form]], "less noise", NA))
  c(sprintf("no longer asked: %s", mine$query[is.na(now)]),
    sprintf("not in floors.csv: %s", setdiff(names(tight), mine$query)),
    sprintf("%s: a pair moved %s by %.3f of what is paid, and now by %.3f", change, mine$query, mine[[form]],
            now)[!is.na(change)])
}

write_floors <- function() {
  rows <- do.call(rbind, lapply(names(measured), function(name) {
    data.frame(call = name, query = names(measured[[name]]), now = round(as.numeric(measured[[name]]), 3))
  }))
  rows <- merge(floors, rows, all = TRUE)
  rows[[form]][rows$call %in% names(measured)] <- rows$now[rows$call %in% names(measured)]
  rows <- rows[!is.na(rows$short) | !is.na(rows$long), names(floors)]
  utils::write.csv(rows[order(rows$call, rows$query), ], floors_file, row.names = FALSE, quote = FALSE, na = "")
}

# Every query is nearly as sensitive as it is paid for, in one call at least.
check_queries <- function() {
  all <- unlist(unname(measured))
  best <- tapply(all, names(all), max)
  cat("at most, of what is paid:", paste(names(best), sprintf("%.3f", best), collapse = ", "), "\n")
  for (query in names(best)) {
    check(paste("tightness of", query), if (best[[query]] < 0.9) sprintf("%.3f of what is paid at most", best[[query]]))
  }
}

# ---- is the hook blind? ----

check_hook <- function() {
  text <- lapply(c("src/mech/mech.h", file.path(folder, "replay.c")), readLines)
  drawn <- unique(unlist(regmatches(text[[1]], gregexpr("\\bmech_[a-z_]+(?=\\()", text[[1]], perl = TRUE))))
  for (name in setdiff(drawn, "mech_lattice")) {
    check(paste(name, "is wrapped"), if (!any(grepl(sprintf("(__wrap_|PUBLIC\\()%s\\b", name), text[[2]]))) "no")
  }
  two_records <- list(two = put(put(put(d, audited, opposite), 1, opposite), 300, opposite))
  call <- calls[["newton-ridge"]]$call
  logs <- list(observe(call, d, RECORD)$log, observe(call, two_records$two, REPLAY)$log)
  check("two records are more than one", if (max(tightness(logs, cbind(1:2))) < 1.2) "within what one may move")
  finds("other data cannot hide", audit(call, d, list(list(short = d[-1, ]))), "^short: event")
  finds("a call without a release", audit(function(data) stop("no data"), d, list()), "^no release: no data")
  finds("a result that holds data", audit(function(data) list(call(data), sum = data$a[audited]), d, list(two_records)),
        "^two: another result: ")
}
opposite <- list(a = 1, b = -1, f = "u", y = "no")
finds <- function(name, seen, wanted) {
  check(name, if (!any(grepl(wanted, seen$found))) c("nothing like this was found:", wanted, seen$found))
}

# ---- --call FILE ----

audit_file <- function(file) {
  mine <- list2env(list(row = 1))
  sys.source(file, mine)
  name <- basename(file)
  seen <- audit(mine$call, mine$data, list(replaced(mine$data, mine$row, mine$candidates)))
  check(name, seen$found)
  cat(sprintf("%s: %d runs: %s\n", name, seen$runs,
              paste(names(seen$tight), sprintf("%.3f", seen$tight), collapse = ", ")))
}

# dev/matrix.R without its last two lines, which run it
cells <- new.env()
expressions <- parse("dev/matrix.R", keep.source = FALSE)
for (one in utils::head(expressions, -2L)) eval(one, cells)
cells$remember_plans()
make_records <- cells$make_records

for (file in c("replay.R", "neighbours.R")) source(file.path(folder, file))
stop_clock()
main()
cat(do.call(sprintf, unname(c("%.0f calls and cells, %.0f runs, %.0f pairs of neighbours\n", as.list(audited_so_far)))))
cat(passed, " passed, ", failed, " failed\n", sep = "")
quit("no", status = failed > 0 || passed == 0)
