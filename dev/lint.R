# Style of R code (lintr, by .lintr) and spelling of help pages, vignettes and README (spelling, with inst/WORDLIST).
#   Rscript dev/lint.R [--words]
# --words writes the words that are not known into inst/WORDLIST instead: read them before you commit.
# Ends with "N passed, N failed", counted in files and in unknown words.
words <- "--words" %in% commandArgs(TRUE)
missing <- Filter(function(package) !requireNamespace(package, quietly = TRUE), c("lintr", "spelling"))
if (length(missing) > 0) {
  cat("skipped: style and spelling, without ", paste(missing, collapse = " and "), "\n0 passed, 0 failed\n", sep = "")
  quit("no")
}
if (words) {
  spelling::update_wordlist(".", vignettes = TRUE, confirm = FALSE)
  quit("no")
}

files <- list.files(c("R", "tests/testthat"), "[.]R$", full.names = TRUE)
bad <- Filter(function(file) {
  found <- lintr::lint(file)
  if (length(found) > 0) print(found)
  length(found) > 0
}, files)
unknown <- spelling::spell_check_package(".", vignettes = TRUE)
if (nrow(unknown) > 0) print(unknown)
failed <- length(bad) + nrow(unknown)
cat(length(files) + 1 - length(bad) - (nrow(unknown) > 0), " passed, ", failed, " failed\n", sep = "")
quit("no", status = min(failed, 1))
