# Calls every .Call entry with a failure of R's memory at one place where the glue allocates, one place per call. The
# call must then end in a condition, or in its result if the failure came while a pass was being closed. It must not
# have charged more than a complete call, and its arguments must be unchanged. A call that the glue refuses as
# malformed, with or without a failure, fails: it tests nothing, or the glue took a failure for a mistake of the
# caller. The address sanitizer reports memory leaks at the end: see dev/inject.sh, which builds the package for this.
#   Rscript dev/inject.R LIBRARY
# Ends with "N passed, N failed".

source("dev/gctorture.R") # the calls

most_places <- 1000
fills_its_argument <- c("ffi_design_numeric", "ffi_design_indicator")

# The ledger of a call, or NULL.
ledger <- NULL
make_ledger <- new_ledger
new_ledger <- function(...) ledger <<- make_ledger(...)
spent <- function() if (is.null(ledger)) 0 else .Call(entries$ffi_ledger_state, ledger)[[3]]

compare <- function(name, make) {
  called <<- union(called, name)
  whole <- call_once(name, make, 0)
  count(!malformed(whole$value), name, " is called wrongly")
  for (place in seq_len(most_places)) {
    broken <- call_once(name, make, place)
    if (!broken$failed) break
    ended <- inherits(broken$value, "condition") || identical(strip(broken$value), strip(whole$value))
    good <- ended && !malformed(broken$value) && broken$spent <= whole$spent &&
      (name %in% fills_its_argument || identical(broken$arguments, whole$before))
    count(good, name, " at place ", place)
  }
  gc()
}

count <- function(good, ...) {
  if (good) passed <<- passed + 1 else failed <<- failed + 1
  if (!good) cat("inject: ", ..., "\n", sep = "")
}

malformed <- function(value) inherits(value, "error") && startsWith(conditionMessage(value), "internal: ")

# place 0: nothing fails
call_once <- function(name, make, place) {
  set.seed(1)
  ledger <<- NULL
  arguments <- make()
  before <- lapply(arguments, strip)
  if (place > 0) Sys.setenv(INJECT_AT = place)
  value <- tryCatch(do.call(.Call, c(list(entries[[name]]), arguments)), condition = identity)
  failed <- place > 0 && Sys.getenv("INJECT_AT") == ""
  Sys.unsetenv("INJECT_AT")
  list(value = value, failed = failed, before = before, arguments = lapply(arguments, strip), spent = spent())
}

main()
