# Stale proofs. Each paragraph of vignettes/proofs.Rmd names the code that it speaks of: functions, queries and files in
# backquotes. dev/proofs.csv has a digest of each, without comments and spaces, as it was when the paragraph was last
# read beside it. Code that is another now fails here until someone has read the paragraph again, and has said so:
#   Rscript dev/proofs.R                        compares; ends with "N passed, N failed", counted in paragraphs
#   Rscript dev/proofs.R --confirm ANCHOR ...   takes the code of these paragraphs as it is; of all without an anchor
# The last checks test the check itself.

vignette <- "vignettes/proofs.Rmd"
kept <- "dev/proofs.csv"

main <- function() {
  paragraphs <- read_paragraphs(readLines(vignette))
  now <- digests(paragraphs, read_code())
  given <- commandArgs(TRUE)
  if (identical(given[1], "--confirm")) return(confirm(now, given[-1]))
  before <- utils::read.csv(kept, colClasses = "character")
  faults <- compare(now, before)
  if (nrow(faults) > 0L) cat(sprintf("stale: %s: %s %s\n", faults$anchor, faults$code, faults$fault), sep = "")
  failed <- length(unique(faults$anchor)) + !checks_itself()
  cat(length(unique(now$anchor)) - length(unique(faults$anchor)), " passed, ", failed, " failed\n", sep = "")
  quit(status = if (failed > 0) 1 else 0)
}

# The text of each paragraph, from its anchor to the next one, by its anchor.
read_paragraphs <- function(lines) {
  at <- grep("^\\[\\]\\{#[a-z0-9-]+\\}$", lines)
  ends <- c(at[-1] - 1L, length(lines))
  texts <- mapply(function(from, to) paste(lines[from:to], collapse = "\n"), at, ends)
  stats::setNames(texts, gsub("[^a-z0-9-]", "", lines[at]))
}

# The names of code in a paragraph: name() or name, a path or a file's name.
names_in <- function(text) {
  text <- gsub("```.*?```", "", text)
  found <- unlist(regmatches(text, gregexpr("`[A-Za-z_][A-Za-z0-9_./-]*(\\(\\))?`", text)))
  unique(gsub("[`()]", "", found))
}

# ---- code ----

# The text of each file, function and query, without comments: a list by name. Of several with one name all texts.
read_code <- function() {
  c_files <- list.files("src", "\\.[ch]$", recursive = TRUE, full.names = TRUE)
  r_files <- list.files("R", "\\.R$", full.names = TRUE)
  files <- c(lapply(stats::setNames(c_files, c_files), function(file) plain_c(readLines(file))),
             lapply(stats::setNames(r_files, r_files), function(file) deparse(parse(file, keep.source = FALSE))))
  parts <- c(unlist(lapply(files[c_files], parts_of_c), recursive = FALSE, use.names = FALSE),
             unlist(lapply(r_files, parts_of_r), recursive = FALSE, use.names = FALSE))
  named <- split(vapply(parts, `[[`, "", "text"), vapply(parts, `[[`, "", "name"))
  c(named, files, stats::setNames(files, basename(names(files))))
}

plain_c <- function(lines) {
  text <- gsub("/\\*.*?\\*/", "", paste(lines, collapse = "\n"), perl = TRUE)
  text <- gsub("(?s)/\\*.*?\\*/", "", text, perl = TRUE)
  lines <- gsub("[ \t]+", " ", strsplit(text, "\n")[[1]])
  lines[nzchar(trimws(lines))]
}

# A definition ends where all braces are closed and a line ends in a brace or a semicolon.
parts_of_c <- function(lines) {
  lines <- lines[!grepl("^#", lines) & !grepl("\\\\$", lines)]
  bare <- gsub("\"[^\"]*\"|'.'", "", lines)
  count <- function(brace) lengths(regmatches(bare, gregexpr(brace, bare, fixed = TRUE)))
  closed <- cumsum(count("{") - count("}")) == 0L & grepl("[};]$", bare)
  part <- cumsum(c(FALSE, closed[-length(closed)]))
  texts <- tapply(lines, part, paste, collapse = " ")
  texts <- texts[grepl("[{=]", texts)]
  names <- sub("^[^({=]*?([A-Za-z_0-9]+)(\\[[^]]*\\])* *(\\(|=|\\{).*$", "\\1", texts, perl = TRUE)
  unname(Map(function(name, text) list(name = name, text = gsub(" ", "", text, fixed = TRUE)), names, texts))
}

parts_of_r <- function(file) {
  expressions <- parse(file, keep.source = FALSE)
  is_assigned <- function(e) is.call(e) && identical(e[[1]], quote(`<-`)) && is.symbol(e[[2]])
  assigned <- Filter(is_assigned, as.list(expressions))
  lapply(assigned, function(e) list(name = as.character(e[[2]]), text = paste(deparse(e[[3]]), collapse = "\n")))
}

# ---- comparison ----

digests <- function(paragraphs, code) {
  named <- lapply(paragraphs, names_in)
  rows <- lapply(names(named), function(anchor) {
    names <- sort(intersect(named[[anchor]], names(code)))
    if (length(names) == 0L) return(NULL)
    data.frame(anchor = anchor, code = names, digest = vapply(code[names], digest, ""), row.names = NULL)
  })
  do.call(rbind, rows)
}

digest <- function(text) {
  file <- tempfile()
  on.exit(unlink(file))
  writeLines(text, file)
  unname(tools::md5sum(file))
}

compare <- function(now, before) {
  key <- function(x) paste(x$anchor, x$code)
  at <- match(key(now), key(before))
  fault <- ifelse(is.na(at), "is named there for the first time", "is another than when the paragraph was last read")
  other <- is.na(at) | now$digest != before$digest[at]
  gone <- before[!key(before) %in% key(now), , drop = FALSE]
  rbind(cbind(now[other, c("anchor", "code")], fault = fault[other]),
        cbind(gone[c("anchor", "code")], fault = rep("is no longer named there", nrow(gone))))
}

confirm <- function(now, anchors) {
  before <- if (file.exists(kept)) utils::read.csv(kept, colClasses = "character")
  if (length(anchors) > 0L) {
    unknown <- setdiff(anchors, c(now$anchor, before$anchor))
    if (length(unknown) > 0L) stop("no paragraph has the anchor ", toString(unknown))
    now <- rbind(now[now$anchor %in% anchors, ], before[!before$anchor %in% anchors, ])
  }
  now <- now[order(now$anchor, now$code), ]
  utils::write.csv(now, kept, row.names = FALSE, quote = FALSE)
}

# A changed function is found, a comment is none, and a name that is gone is told.
checks_itself <- function() {
  source <- c("/* why */", "static int f(int x) {", "  return x; /* x */", "}",
              "const struct query q = {.a = 1,",
              "  .b = 2};", "int g(void) {", "}")
  parts <- function(lines) {
    found <- parts_of_c(plain_c(lines))
    stats::setNames(lapply(found, `[[`, "text"), vapply(found, `[[`, "", "name"))
  }
  paragraph <- c(one = "**F** (`f()`, `q`): `nothing`.")
  now <- digests(paragraph, parts(source))
  changed <- digests(paragraph, parts(sub("return x", "return -x", source, fixed = TRUE)))
  same <- digests(paragraph, parts(sub("why", "because", source, fixed = TRUE)))
  identical(now$code, c("f", "q")) && nrow(compare(same, now)) == 0L && identical(compare(changed, now)$code, "f") &&
    identical(compare(now[1, ], now)$code, "q")
}

main()
