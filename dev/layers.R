# The layers of the R files: a file may use definitions in files of its own layer and of lower ones, and files may not
# use each other in a cycle (ARCHITECTURE.md, "Layers of R"). No file may distinguish methods by their names.
#   Rscript dev/layers.R [R directory]
# codetools finds what a function uses, so names in strings are not found. Ends with "N passed, N failed"; the last
# checks test the check itself on small examples.

# From the lowest to the highest.
layers <- list(
  base = c("check", "given", "suggest", "condition", "call", "threads", "progress", "status"),
  privacy = c("convert", "event", "account", "neighbours", "budget"),
  problem = c("loss", "penalty", "sosp", "response", "bounds", "row-wise", "design", "design-basis",
              "design-interactions", "design-ranges", "design-records", "matrix-records", "design-terms", "rows",
              "dialect", "loss-sql", "sql", "push-columns", "sql-expression", "push",
              "source", "source-dbi", "source-files", "stream", "worker", "shards", "problem", "features-constants",
              "features", "model", "network-problem"),
  oracle = c("oracle", "ranges"),
  method = c("target", "papers", "batch", "family", "method-opt", "method-tr", "method-gd", "method-newton",
             "method-ridge", "method-residual", "geometry", "method-cubic", "method-line-search",
             "method-perturbation", "method-spider",
             "methods", "method-network", "auto", "trust-region"),
  fit = c("job", "job-check", "job-open", "job-ranges", "job-response", "job-constant", "job-geometry", "job-usable",
          "dp-sosp", "network", "classes", "coefficient-lines", "checks", "fit", "print", "evaluate", "evaluation",
          "selection", "tune", "one-step", "job-inference", "intervals", "inference", "update", "certify", "absent",
          "plot", "autoplot", "tidy", "audit", "audit-plot", "saddle", "sample-size", "plan-setting",
          "plan-formulas", "plan", "curve",
          "curve-plot", "parsnip", "ecosystem", "load")
)

main <- function() {
  folder <- if (length(commandArgs(TRUE)) > 0L) commandArgs(TRUE)[1] else "R"
  files <- list.files(folder, "\\.R$", full.names = TRUE)
  found <- faults(stats::setNames(lapply(files, parse, keep.source = FALSE), sub("\\.R$", "", basename(files))), layers)
  rule("every file has a layer", found$layer)
  rule("every layer's file is there", found$file)
  rule("a name is defined once", found$twice)
  rule("nothing is used of a higher layer", found$upwards)
  rule("no circle of files", found$circle)
  rule("no method is told by its name", found$named)
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
faults <- function(code, layers) {
  code <- code[vapply(code, function(file) length(definitions(file)) > 0L, NA)]
  layer <- stats::setNames(rep(seq_along(layers), lengths(layers)), unlist(layers))
  defined <- lapply(code, definitions)
  file_of <- stats::setNames(rep(names(defined), lengths(defined)), unlist(defined))
  uses <- do.call(rbind, lapply(names(code), function(file) uses_of(file, code[[file]], file_of)))
  upwards <- uses[which(layer[uses$from] < layer[uses$to]), ]
  list(
    layer = setdiff(names(code), names(layer)),
    file = setdiff(names(layer), names(code)),
    twice = unique(names(file_of)[duplicated(names(file_of))]),
    upwards = sprintf("%s uses %s of %s", upwards$from, upwards$name, upwards$to),
    circle = circles(unique(uses[c("from", "to")]), names(code)),
    named = unlist(lapply(names(code), function(file) named_methods(file, code[[file]])))
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

# The properties of a method belong in its row and its family (R/methods.R, R/family.R). A switch on its name, or a test
# of how it ends, would be another place that must know all methods.
named_methods <- function(file, code) {
  tells <- Filter(tells_methods, calls_in(code))
  sprintf("%s: %s", file, vapply(tells, function(call) substr(deparse1(call), 1, 60), ""))
}

tells_methods <- function(call) {
  name <- all.names(call[[1]])
  if ("endsWith" %in% name) return(TRUE)
  "switch" %in% name && length(call) > 1L && "method" %in% all.names(call[[2]])
}

calls_in <- function(x) {
  if (!is.call(x) && !is.pairlist(x) && !is.expression(x)) return(list())
  parts <- Filter(function(part) !identical(part, quote(expr = )), as.list(x))
  c(if (is.call(x)) list(x), unlist(lapply(parts, calls_in), recursive = FALSE))
}

# Each example has one violation. The check must find it and no other.
check_the_check <- function() {
  found <- function(low, high, other = "z <- 0") {
    code <- lapply(list(low = low, high = high, other = other), function(text) parse(text = text, keep.source = FALSE))
    names(Filter(length, faults(code, list(bottom = "low", top = c("high", "other")))))
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
                 "switch(job$method$name, a = 1)")) {
    wanted(body, found(paste("f <- function(m, x = g(", body, ")) x"), "g <- 2", "h <- 3"), c("upwards", "named"))
    wanted(body, found(paste("f <- function(m, ...)", body), "g <- 2", "h <- 3"), "named")
  }
  wanted("another switch", found("f <- function(method, kind) switch(kind, method = 1)", "g <- 2"), character())
  wanted("a name twice", found("f <- 1", "f <- 2"), "twice")
}

main()
