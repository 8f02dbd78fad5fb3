# Counts the lines that tests reach; run by dev/coverage.sh.
#   Rscript dev/coverage.R FOLDER [FILTER of R test files]
arguments <- commandArgs(TRUE)
work <- arguments[1]
filter <- arguments[-1]
goal <- 0.95

# R CMD BATCH runs this text in the instrumented package; quit() would hide the counts of a run with a failed test.
run <- sprintf(
  'setwd("%s"); commandArgs <- function(...) c("%s", %s); quit <- function(...) NULL; source("dev/rtests.R")',
  getwd(), file.path(work, "lib"), if (length(filter) > 0) deparse(filter) else "NULL"
)
options(covr.flags = c(CFLAGS = "-O1 -g --coverage -fprofile-update=atomic", LDFLAGS = "--coverage"))
reached <- covr::package_coverage(
  file.path(work, "source", "dpsosp"), type = "none", code = run, install_path = file.path(work, "lib"),
  clean = FALSE, quiet = FALSE
)

# file, line, value of a text that gcov -t wrote. A line may be there more than once, for clones of a function.
read_gcov <- function(path) {
  text <- readLines(path, warn = FALSE)
  source <- grepl(":Source:", text)
  file <- sub(".*:Source:", "", text[source])[cumsum(source)]
  row <- "^ *([0-9#=]+)[*]?: *([0-9]+):.*"
  counted <- grepl(row, text) & file != ""
  count <- sub(row, "\\1", text[counted])
  data.frame(file = sub("^.*/src/", "src/", file[counted]), line = as.integer(sub(row, "\\2", text[counted])),
             value = ifelse(grepl("[#=]", count), 0, 1))
}

lines <- covr::tally_coverage(reached, by = "line")
lines <- data.frame(file = sub("^.*/(R|src)/", "\\1/", lines$filename), line = lines$line, value = lines$value)
of_c <- read_gcov(file.path(work, "ctest.gcov"))
of_c <- of_c[grepl("^src/[a-z]+/[a-z_]+[.][ch]$", of_c$file), ]
lines <- rbind(lines[grepl("^(R|src)/", lines$file), ], of_c)
lines <- aggregate(value ~ line + file, lines, max)
lines$language <- ifelse(startsWith(lines$file, "R/"), "R", "C")
lines$part <- ifelse(lines$language == "R", sub("^R/([a-z]+)-.*", "\\1", lines$file),
                     ifelse(grepl("^src/[^/]+$", lines$file), "glue", basename(dirname(lines$file))))

missed <- lines[lines$value == 0, ]
text_of <- function(file, line) vapply(seq_along(file), function(i) trimws(readLines(file[i])[line[i]]), "")
writeLines(paste0(missed$file, ":", missed$line, ": ", text_of(missed$file, missed$line)), file.path(work, "lines.txt"))

percent <- function(reached, all) sprintf("%.1f", floor(1000 * reached / all) / 10)
rows_of <- function(rows, names) {
  all <- tapply(rows$value, names, length)
  reached <- tapply(rows$value > 0, names, sum)
  paste0("| ", names(all), " | ", all, " | ", all - reached, " | ", percent(reached, all), " |")
}
share <- tapply(lines$value > 0, lines$language, mean)
table <- c(
  "# Lines that the tests reach", "",
  "Made by `make coverage`: the R tests in their shorter form and the C tests in their quick one, together.", "",
  "| language | lines | not reached | reached, % |", "| --- | ---: | ---: | ---: |", rows_of(lines, lines$language), "",
  unlist(lapply(c("R", "C"), function(language) {
    some <- lines[lines$language == language, ]
    c(paste0("| ", c(R = "layer of R", C = "room of C")[[language]], " | lines | not reached | reached, % |"),
      "| --- | ---: | ---: | ---: |", rows_of(some, some$part), "")
  })),
  "Files with most lines that are not reached (`build/coverage/lines.txt` has them all):", "",
  "| file | lines | not reached | reached, % |", "| --- | ---: | ---: | ---: |",
  {
    worst <- names(utils::head(sort(table(missed$file), decreasing = TRUE), 15))
    some <- lines[lines$file %in% worst, ]
    rows_of(some, factor(some$file, worst))
  }
)
cat(table, sep = "\n")
if (length(filter) == 0) writeLines(table, "dev/coverage.md")
cat(sum(share >= goal), " passed, ", sum(share < goal), " failed\n", sep = "")
quit("no", status = min(1, sum(share < goal)))
