# rOpenSci's standards for statistical software, https://stats-devguide.ropensci.org/standards.html (March 2026): each
# general standard and each one for regression must have exactly one tag in a roxygen block of R/ or tests/testthat/,
#   #' @srrstats {G1.0} where and how it is met
#   #' @srrstatsNA {G2.14a} why it is not
# as the package srr reads them, which CRAN has; this check needs nothing. dev/docs.sh leaves the tags out of the help.
#   Rscript dev/srr.R
# Ends with "N passed, N failed", counted in standards.
standards <- scan(text = "
  G1.0 G1.1 G1.2 G1.3 G1.4 G1.4a G1.5 G1.6
  G2.0 G2.0a G2.1 G2.1a G2.2 G2.3 G2.3a G2.3b G2.4 G2.4a G2.4b G2.4c G2.4d G2.4e G2.5 G2.6 G2.7 G2.8 G2.9 G2.10 G2.11
  G2.12 G2.13 G2.14 G2.14a G2.14b G2.14c G2.15 G2.16
  G3.0 G3.1 G3.1a G4.0
  G5.0 G5.1 G5.2 G5.2a G5.2b G5.3 G5.4 G5.4a G5.4b G5.4c G5.5 G5.6 G5.6a G5.6b G5.7 G5.8 G5.8a G5.8b G5.8c G5.8d G5.9
  G5.9a G5.9b G5.10 G5.11 G5.11a G5.12
  RE1.0 RE1.1 RE1.2 RE1.3 RE1.3a RE1.4 RE2.0 RE2.1 RE2.2 RE2.3 RE2.4 RE2.4a RE2.4b RE3.0 RE3.1 RE3.2 RE3.3
  RE4.0 RE4.1 RE4.2 RE4.3 RE4.4 RE4.5 RE4.6 RE4.7 RE4.8 RE4.9 RE4.10 RE4.11 RE4.12 RE4.13 RE4.14 RE4.15 RE4.16 RE4.17
  RE4.18 RE5.0 RE6.0 RE6.1 RE6.2 RE6.3 RE7.0 RE7.0a RE7.1 RE7.1a RE7.2 RE7.3 RE7.4
", what = "", quiet = TRUE)

files <- list.files(c("R", "tests/testthat"), "[.]R$", full.names = TRUE)
lines <- unlist(lapply(files, readLines))
tag <- "^#' @srrstats(NA)? +[{]([^}]*)[}] *(.*)$"
tags <- grep("^#' @srrstats", lines, value = TRUE)
malformed <- c(grep(tag, tags, value = TRUE, invert = TRUE), tags[sub(tag, "\\3", tags) == ""])
found <- strsplit(sub(tag, "\\2", setdiff(tags, malformed)), ", *")
counts <- table(factor(unlist(found), union(standards, unlist(found))))
wrong <- counts[counts != 1 | !names(counts) %in% standards]

for (text in malformed) cat("srr: a tag needs {standards} and a text: ", text, "\n", sep = "")
for (name in names(wrong)) {
  what <- if (name %in% standards) paste("has", wrong[[name]], "tags") else "is no standard"
  cat("srr:", name, what, "\n")
}
na <- sum(lengths(found[grepl("srrstatsNA", setdiff(tags, malformed))]))
cat(sum(lengths(found)) - na, "are met,", na, "are not, with the reason\n")
failed <- length(wrong) + length(malformed)
cat(length(standards) - sum(names(wrong) %in% standards), " passed, ", failed, " failed\n", sep = "")
quit("no", status = min(failed, 1))
