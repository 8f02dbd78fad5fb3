# Runs the examples of the help pages in man/ with the installed package.
#   Rscript dev/examples.R LIBRARY
# Ends with "N passed, N failed", counted in pages.
lib <- normalizePath(commandArgs(TRUE)[1])
Sys.setenv(R_LIBS = lib) # for workers
library(dpsosp, lib.loc = lib)
grDevices::pdf(NULL)

run_page <- function(page) {
  code <- tempfile()
  tools::Rd2ex(page, code)
  if (!file.exists(code)) return(NA)
  tryCatch({
    utils::capture.output(suppressMessages(source(code, new.env(parent = globalenv()), print.eval = TRUE)))
    TRUE
  }, error = function(e) {
    cat(basename(page), ": ", conditionMessage(e), "\n", sep = "")
    FALSE
  })
}

ran <- vapply(list.files("man", "[.]Rd$", full.names = TRUE), run_page, NA)
passed <- sum(ran, na.rm = TRUE)
failed <- sum(!ran, na.rm = TRUE) + (passed == 0)
cat(passed, " passed, ", failed, " failed\n", sep = "")
quit(status = min(failed, 1))
