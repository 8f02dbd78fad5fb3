# Counts the lines that tests reach; run by dev/coverage.sh. `report` can be run again at any time: it takes what counts
# there are.
#   Rscript dev/coverage.R install FOLDER            installs an instrumented copy in FOLDER/lib
#   Rscript dev/coverage.R report FOLDER [PATTERN]   makes the report from the counts; with a pattern only shows it
arguments <- commandArgs(TRUE)
work <- arguments[2]
filter <- arguments[-(1:2)]
goal <- 0.95

# As covr::package_coverage(), which reads counts of C again for each file, and loses those of R with a failed process.
if (arguments[1] == "install") {
  makevars <- file.path(work, "Makevars")
  writeLines(c("CFLAGS = -O1 -g --coverage -fprofile-update=atomic", "LDFLAGS = --coverage"), makevars)
  Sys.setenv(R_MAKEVARS_USER = makevars)
  utils::install.packages(
    file.path(work, "source", "dpsosp"), file.path(work, "lib"), repos = NULL, type = "source",
    INSTALL_opts = c("--with-keep.source", "--with-keep.parse.data", "--no-staged-install", "--no-docs")
  )
  covr:::add_hooks("dpsosp", file.path(work, "lib"))
  # covr counts in the functions of the namespace, not in their copies in lists: tables of rules, checks and steps.
  script <- file.path(work, "lib", "dpsosp", "R", "dpsosp")
  hook <- c("setHook(packageEvent(pkg, 'onLoad'), function(...) {",
            "  traced <- function(f) if ('covr' %in% all.names(body(f))) f else covr:::trace_calls(f)",
            "  own <- lapply(Filter(is.function, as.list(ns)), environment)",
            "  own <- Filter(function(env) is.environment(env) && identical(parent.env(env), ns), own)",
            "  for (env in unique(c(ns, own))) for (name in ls(env)) if (is.list(env[[name]])) {",
            "    value <- rapply(env[[name]], traced, classes = 'function', how = 'replace')",
            "    if (bindingIsLocked(name, env)) get('unlockBinding', baseenv())(name, env)",
            "    assign(name, value, env)",
            "  }",
            "})")
  text <- readLines(script)
  writeLines(append(text, hook, length(text) - 1L), script)
  quit("no", status = !requireNamespace("dpsosp", lib.loc = file.path(work, "lib")))
}

# file, line, value of a text that gcov -t wrote. A line may be there more than once, for clones of a function.
read_gcov <- function(path) {
  text <- readLines(path, warn = FALSE)
  source <- grepl(":Source:", text)
  file <- sub(".*:Source:", "", text[source])[cumsum(source)]
  row <- "^ *([0-9#=]+)[*]?: *([0-9]+):.*"
  counted <- grepl(row, text) & file != ""
  count <- sub(row, "\\1", text[counted])
  # the package is compiled in src/, so names there begin below it
  file <- ifelse(grepl("/src/", file), sub("^.*/src/", "src/", file), paste0("src/", file))
  data.frame(file = file[counted], line = as.integer(sub(row, "\\2", text[counted])),
             value = ifelse(grepl("[#=]", count), 0, 1))
}

# A worker that is ended while it writes its counts leaves a part of a file.
places <- list()
counts <- numeric()
for (file in list.files(file.path(work, "lib"), "^covr_trace_", full.names = TRUE)) {
  trace <- tryCatch(as.list(readRDS(file)), error = function(e) list())
  new <- setdiff(names(trace), names(places))
  places[new] <- trace[new]
  counts[new] <- 0
  counts[names(trace)] <- counts[names(trace)] + vapply(trace, `[[`, 0, "value")
}
of_r <- Map(function(place, count) replace(place, "value", count), places, counts)
lines <- covr::tally_coverage(structure(of_r, class = "coverage"), by = "line")
lines <- data.frame(file = sub("^.*/R/", "R/", lines$filename), line = lines$line, value = lines$value)
of_c <- do.call(rbind, lapply(file.path(work, c("c.gcov", "r.gcov")), read_gcov))
of_c <- of_c[of_c$file %in% list.files("src", recursive = TRUE, full.names = TRUE), ]
lines <- rbind(lines[startsWith(lines$file, "R/"), ], of_c)
lines <- aggregate(value ~ line + file, lines, max)
lines$language <- ifelse(startsWith(lines$file, "R/"), "R", "C")
lines$part <- ifelse(lines$language == "R", sub("^R/([a-z]+)-.*", "\\1", lines$file),
                     ifelse(grepl("^src/[^/]+$", lines$file), "glue", basename(dirname(lines$file))))

# What a line is known by, however it moves: "file function: code". The function is that of the last line before it that
# begins with a name.
known_by <- function(file, line) {
  text <- readLines(file.path(work, "source", "dpsosp", file))
  begins <- grep("^[A-Za-z_].*[(]", text)
  head <- c("", text[begins])[findInterval(line, begins) + 1]
  name <- sub("^([A-Za-z0-9_.]+) (<-|=) .*|^[^(]*?([A-Za-z0-9_.]+)[(].*", "\\1\\3", head, perl = TRUE)
  paste0(file, " ", name, ": ", trimws(text[line]))
}
lines <- lines[order(lines$file, lines$line), ]
lines$code <- unsplit(Map(known_by, unique(lines$file), split(lines$line, lines$file)), lines$file)

# Declarations, (void) and heads of loops, for which the compiler (-O1) may leave no code. Control passes them on the
# way to the next line that is counted.
plain <- paste0(": ([(]void[)]|for [(]|do [{]|((static|const) )*(struct [a-z_]+|enum [a-z_]+|double|float|int|size_t|",
                "uint32_t|simd_vector|unsigned char) .*;( /[*].*)?$)")
passed <- lines$language == "C" & lines$value == 0 & grepl(plain, lines$code)
for (i in rev(which(passed))) {
  passed[i] <- i < nrow(lines) && lines$file[i] == lines$file[i + 1] && (lines$value[i + 1] > 0 || passed[i + 1])
}

missed <- lines[lines$value == 0, ]
# The first row of coverage-why.csv whose expression the line matches has its reason.
why <- utils::read.csv("dev/coverage-why.csv")
matches <- vapply(why$lines, grepl, logical(nrow(missed)), missed$code, perl = TRUE)
dim(matches) <- c(nrow(missed), nrow(why))
missed$reason <- why$reason[apply(matches, 1, function(row) which(row)[1])]
missed$reason[passed[lines$value == 0]] <- "on the way to a line that is reached; the compiler left no code to count"
unknown <- is.na(missed$reason)
writeLines(paste0(ifelse(unknown, "?", " "), " ", missed$file, ":", missed$line, ":", sub("^[^ ]+", "", missed$code)),
           file.path(work, "lines.txt"))
unused <- why$lines[!apply(matches, 2, any)]
if (length(filter) == 0 && length(unused) > 0) message("Rows of dev/coverage-why.csv that no line matches: ",
                                                       paste(unused, collapse = "  "))

# "1, 3-5" of numbers in ascending order.
ranges_of <- function(line) {
  run <- cumsum(c(1, diff(line) > 1))
  paste(tapply(line, run, function(one) paste(unique(range(one)), collapse = "-")), collapse = ", ")
}
places_of <- function(rows) {
  files <- split(rows$line, rows$file)
  paste(names(files), vapply(files, ranges_of, ""), collapse = "; ")
}
explained <- vapply(unique(missed$reason[!unknown]), function(reason) {
  rows <- missed[missed$reason %in% reason, ]
  text <- paste0("* ", reason, " (", nrow(rows), "): ", places_of(rows), ".")
  paste(strwrap(text, 120, exdent = 2), collapse = "\n")
}, "")

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
  },
  "", "## Lines that are not reached, and why", "",
  paste0("Reasons are those of `dev/coverage-why.csv`. Without a reason: ", sum(unknown), " of ", nrow(missed),
         " lines."), "",
  explained, if (any(unknown)) c("", "Without a reason:", "", paste0("    ", missed$code[unknown]))
)
cat(table, sep = "\n")
if (length(filter) == 0) writeLines(table, "dev/coverage.md")
failed <- sum(share < goal) + any(unknown)
cat(3 - failed, " passed, ", failed, " failed\n", sep = "")
quit("no", status = min(1, failed))
