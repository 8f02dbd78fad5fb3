# The layers of the R files: the first word of a file's name is its layer. A file may use definitions in files of its
# own layer and of lower ones, and files may not use each other in a cycle (ARCHITECTURE.md, "Layers of R"). No file may
# distinguish methods or losses by their names, but for the tables that hold them.
#   Rscript dev/layers.R [R directory]
# codetools finds what a function uses, so names in strings are not found. Ends with "N passed, N failed"; the last
# checks test the check itself on small examples.

# From the lowest to the highest.
layers <- c("check", "privacy", "loss", "design", "sql", "source", "model", "oracle", "method", "job", "fit", "tool",
            "show", "dpsosp")

main <- function() {
  folder <- if (length(commandArgs(TRUE)) > 0L) commandArgs(TRUE)[1] else "R"
  files <- list.files(folder, "\\.R$", full.names = TRUE)
  found <- faults(stats::setNames(lapply(files, parse, keep.source = FALSE), sub("\\.R$", "", basename(files))), layers)
  rule("every file has a layer", found$layer)
  rule("a name is defined once", found$twice)
  rule("nothing is used of a higher layer", found$upwards)
  rule("no circle of files", found$circle)
  rule("no method and no loss is told by its name", found$named)
  rule("no entry of a job or a claim is replaced", found$replaced)
  check_the_check()
  cat(passed, " passed, ", failed, " failed\n", sep = "")
  quit(status = if (failed > 0) 1 else 0)
}

passed <- 0
failed <- 0

# found: one line per violation
rule <- function(text, found) {
  if (length(found) == 0L) {
    passed <<- passed + 1
  } else {
    failed <<- failed + 1
    cat("layers: ", text, ":\n", paste0("  ", found, "\n"), sep = "")
  }
}

# code: parsed files by name. Returns the violations of each rule.
# names: of methods and losses.
faults <- function(code, layers, names = names_in_tables(code)) {
  code <- code[vapply(code, function(file) length(definitions(file)) > 0L, NA)]
  layer <- stats::setNames(match(sub("-.*", "", names(code)), layers), names(code))
  defined <- lapply(code, definitions)
  file_of <- stats::setNames(rep(names(defined), lengths(defined)), unlist(defined))
  uses <- do.call(rbind, lapply(names(code), function(file) uses_of(file, code[[file]], file_of)))
  upwards <- uses[which(layer[uses$from] < layer[uses$to]), ]
  list(
    layer = names(code)[is.na(layer)],
    twice = unique(names(file_of)[duplicated(names(file_of))]),
    upwards = sprintf("%s uses %s of %s", upwards$from, upwards$name, upwards$to),
    circle = circles(unique(uses[c("from", "to")]), names(code)),
    replaced = unlist(lapply(names(code), function(file) replaced_entries(file, code[[file]]))),
    named = unlist(lapply(names(code), function(file) named_methods(file, code[[file]], names)))
  )
}

definitions <- function(file) {
  assigns <- Filter(function(line) is.call(line) && identical(line[[1]], quote(`<-`)) && is.name(line[[2]]), file)
  vapply(assigns, function(line) as.character(line[[2]]), "")
}

# The objects of other files that a file uses.
uses_of <- function(file, code, file_of) {
  names <- unique(unlist(lapply(code, globals)))
  names <- names[names %in% names(file_of)]
  uses <- data.frame(from = rep(file, length(names)), to = unname(file_of[names]), name = names)
  uses[uses$to != file, ]
}

globals <- function(line) {
  if (!is.call(line)) return(character())
  codetools::findGlobals(as.function(list(line)))
}

# Cycles of files: one line per set of files that use each other, directly or through others.
circles <- function(edges, files) {
  reach <- matrix(FALSE, length(files), length(files), dimnames = list(files, files))
  reach[as.matrix(edges)] <- TRUE
  for (through in files) reach <- reach | outer(reach[, through], reach[through, ])
  sets <- unique(lapply(files[diag(reach)], function(file) files[reach[file, ] & reach[, file]]))
  vapply(sets, paste, "", collapse = ", ")
}

# The properties of a method belong in its row and its family (R/method-table.R, R/method-family.R), those of a loss in
# R/loss-losses.R. A comparison with a name, or a test of how it ends, would be another place that must know them all.
# names: of the methods and losses that the code's tables have.
named_methods <- function(file, code, names) {
  if (file %in% tables) return(character())
  tells <- Filter(function(call) tells_methods(call, names), calls_in(code))
  sprintf("%s: %s", file, vapply(tells, function(call) substr(deparse1(call), 1, 60), ""))
}

tables <- c("method-table", "loss-losses")
names_in_tables <- function(code) unlist(lapply(code[tables], table_names))

# The first arguments of method("x", ...) and new_loss("x", ...).
table_names <- function(code) {
  rows <- Filter(function(call) deparse1(call[[1]]) %in% c("method", "new_loss") && length(call) > 1L, calls_in(code))
  first <- lapply(rows, function(call) call[[2]])
  unlist(Filter(is.character, first))
}

tells_methods <- function(call, names) {
  name <- all.names(call[[1]])
  if ("endsWith" %in% name) return(TRUE)
  if (any(c("==", "!=", "%in%", "identical", "setdiff") %in% name)) return(any(texts_in(call[-1]) %in% names))
  "switch" %in% name && length(call) > 1L && "method" %in% all.names(call[[2]])
}

# Assignments such as job$method <- x; add_entries() and complete() are the ways to extend a job or a claim.
replaced_entries <- function(file, code) {
  replaces <- Filter(function(call) {
    name <- all.names(call[[1]])
    assigns <- identical(name, "<-") && is.call(call[[2]])
    assigns && file != "model-problem" && all.names(call[[2]])[2] %in% c("job", "claim")
  }, calls_in(code))
  sprintf("%s: %s", file, vapply(replaces, function(call) substr(deparse1(call), 1, 60), ""))
}

texts_in <- function(x) unlist(lapply(as.list(x), function(part) {
  if (is.character(part)) part else if (is.call(part) && identical(part[[1]], quote(c))) texts_in(part[-1])
}))

calls_in <- function(x) {
  if (!is.call(x) && !is.pairlist(x) && !is.expression(x)) return(list())
  parts <- Filter(function(part) !identical(part, quote(expr = )), as.list(x))
  c(if (is.call(x)) list(x), unlist(lapply(parts, calls_in), recursive = FALSE))
}

# Each example has one violation. The check must find it and no other.
check_the_check <- function() {
  found <- function(low, high, other = "z <- 0") {
    files <- list("low-a" = low, "high-a" = high, "high-b" = other)
    code <- lapply(files, function(text) parse(text = text, keep.source = FALSE))
    names(Filter(length, faults(code, c("low", "high"), names = c("newton", "huber"))))
  }
  good <- c("f <- function(x) x", "g <- function(y) f(y) + h", "h <- z")
  wanted <- function(text, got, fault) rule(paste("of the check:", text), if (!identical(got, fault)) c("found", got))
  wanted("nothing", found(good[1], good[2:3]), character())
  wanted("a call", found("f <- function(x) sapply(x, function(y) g(y))", "g <- function(y) y"), "upwards")
  wanted("a constant", found("f <- c(1, g)", "g <- 2"), "upwards")
  wanted("a default", found("f <- function(x = g) x", "g <- 2"), "upwards")
  wanted("an argument of the same name", found("f <- function(g) g", "g <- 2"), character())
  wanted("a circle", found("f <- 1", "g <- function() z()", "z <- function() g()"), "circle")
  for (body in c("endsWith(m, \"-b\")", "base::endsWith(m, \"-b\")", "if (x) switch(method, a = 1)",
                 "switch(job$method$name, a = 1)", "m$name == \"newton\"", "identical(m, \"huber\")",
                 "m %in% c(\"a\", \"newton\")")) {
    wanted(body, found(paste("f <- function(m, x = g(", body, ")) x"), "g <- 2", "h <- 3"), c("upwards", "named"))
    wanted(body, found(paste("f <- function(m, ...)", body), "g <- 2", "h <- 3"), "named")
  }
  wanted("an entry replaced", found("f <- function(job) job$a <- 1", "g <- 2"), "replaced")
  wanted("an entry of another list", found("f <- function(x) x$job <- 1", "g <- 2"), character())
  wanted("another name", found("f <- function(m) m == \"auto\"", "g <- 2"), character())
  wanted("another switch", found("f <- function(method, kind) switch(kind, method = 1)", "g <- 2"), character())
  wanted("a name twice", found("f <- 1", "f <- 2"), "twice")
}

main()
