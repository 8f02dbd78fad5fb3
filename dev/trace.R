# The way of a fit through R: how many functions of the package are called, in how many files, and how often a call is
# in another file than the call before.
#   Rscript dev/trace.R [library] [R directory]
# Three fits on two columns: "newton-ridge", "2opt-ls" and a network. A column says how often the method table was made.

arguments <- commandArgs(TRUE)
library(dpsosp, lib.loc = if (length(arguments) > 0L) arguments[1] else "build/lib")
folder <- if (length(arguments) > 1L) arguments[2] else "R"
space <- asNamespace("dpsosp")

# The file of each function.
files <- list()
for (file in list.files(folder, "\\.R$", full.names = TRUE)) {
  for (line in parse(file, keep.source = FALSE)) {
    if (is.call(line) && identical(line[[1]], quote(`<-`)) && is.name(line[[2]])) {
      files[[as.character(line[[2]])]] <- basename(file)
    }
  }
}

seen <- character()
note <- function(name) seen[[length(seen) + 1L]] <<- name
for (name in intersect(names(files), ls(space, all.names = TRUE))) {
  f <- get(name, space)
  if (!is.function(f) || is.primitive(f)) next
  body(f) <- as.call(list(quote(`{`), as.call(list(note, name)), body(f)))
  unlockBinding(name, space)
  assign(name, f, space)
}

trace_fit <- function(label, ...) {
  seen <<- character()
  suppressMessages(suppressWarnings(
    dpsosp::dp_sosp(cover ~ elevation + slope, covertype[1:2000, ], eps = 1, delta = 1e-6, progress = FALSE, ...)
  ))
  where <- unlist(files[seen])
  data.frame(fit = label, calls = length(seen), functions = length(unique(seen)), files = length(unique(where)),
             changes = sum(where[-1] != where[-length(where)]), table = sum(seen %in% c("method_rows")))
}

print(rbind(trace_fit("newton-ridge"), trace_fit("2opt-ls", method = "2opt-ls"),
            trace_fit("network", model = dpsosp::model_mlp(4))), row.names = FALSE)
