# How certain must a line search or a gradient step be? Compares values of the constants DOUBT
# (src/method/line_search.c: the probability with which a step may increase the objective) and NOISE_ALONE
# (src/method/opt_tight.c: a gradient is ignored if noise alone is as large with this probability), on SYNTHETIC
# problems (synthetic.R), replace-one, delta = 1/n^2.
#   Rscript doubt-rule.R RESULTS.csv SOURCES [N ...]    SOURCES: folder of the package's sources, built once a setting
# Then: Rscript doubt-rule.R --summary RESULTS.csv
# excess: mean loss minus the smallest mean loss; start: the same at the start, which is zero.
arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

constants <- c(DOUBT = "line_search.c", NOISE_ALONE = "opt_tight.c")
chosen <- c(DOUBT = 0.2, NOISE_ALONE = 0.05)
settings <- list(chosen, c(DOUBT = 0.02), c(DOUBT = 0.1), c(DOUBT = 0.4), c(NOISE_ALONE = 0.001), c(NOISE_ALONE = 0.2),
                 c(NOISE_ALONE = 0.5))
label <- function(setting) paste(names(setting), setting, collapse = ", ")
searches <- c("gaussian", "svt", "exponential")
problems <- expand.grid(eps = c(0.5, 4), rare = c(0.4, 0.1), signal = c(0.3, 2), shape = names(synthetic_shapes),
                        stringsAsFactors = FALSE)

# The package with these constants, in a separate library.
build <- function(sources, setting) {
  folder <- tempfile("build")
  library <- tempfile("library")
  for (path in c(folder, library)) dir.create(path)
  file.copy(file.path(sources, c("DESCRIPTION", "LICENSE", "NAMESPACE", "R", "data", "src")), folder, recursive = TRUE)
  unlink(list.files(file.path(folder, "src"), "[.]o$", recursive = TRUE, full.names = TRUE))
  for (name in names(setting)) {
    path <- file.path(folder, "src", "method", constants[[name]])
    define <- paste0("^#define ", name, " .*")
    text <- readLines(path)
    stopifnot(sum(grepl(define, text)) == 1L)
    writeLines(sub(define, paste("#define", name, setting[[name]]), text), path)
  }
  status <- system2(file.path(R.home("bin"), "R"), c("CMD", "INSTALL", "--no-docs", "--no-test-load",
                    paste0("--library=", library), folder), stdout = FALSE, stderr = FALSE)
  stopifnot(status == 0L)
  library
}

# Runs in a separate process, as a package is loaded only once per process.
simulate <- function(path, library, label, sizes) {
  library("dpsosp", lib.loc = library, character.only = TRUE)
  out <- results_file(path, c("setting", "n", "shape", "signal", "rare", "eps", "search"))
  for (n in sizes) for (i in seq_len(nrow(problems))) {
    p <- problems[i, ]
    set.seed(n + i)
    problem <- do.call(synthetic_problem, c(list(n), synthetic_shapes[[p$shape]], signal = p$signal, rare = p$rare))
    least <- synthetic_minimum(problem)
    for (search in searches) {
      row <- list(setting = label, n = n, shape = p$shape, signal = p$signal, rare = p$rare, eps = p$eps,
                  search = search)
      if (out$has(row)) next
      set.seed(n + i)
      fit <- suppressWarnings(suppressMessages(dp_sosp(
        problem$X, problem$y, eps = p$eps, radius = 1, intercept = FALSE, method = "2opt-ls", geometry = "none",
        control = control_opt(line_search = search), noise = "reproducible", progress = FALSE
      )))
      out$add(c(row, list(excess = signif(least$excess(coef(fit)), 4), start = signif(least$excess(0 * least$w), 4))))
    }
  }
}

# Geometric mean of the remaining fraction of the start's excess loss, and fraction of runs that end worse than their
# start.
summarise <- function(path) {
  x <- utils::read.csv(path)
  x$setting <- factor(x$setting, unique(x$setting))
  show <- function(title, value, by, f = mean) {
    cat("\n", title, "\n", sep = "")
    print(round(tapply(value, list(x$setting, by), f), 4))
  }
  left <- log(x$excess / x$start)
  for (by in c("search", "n", "eps", "signal")) {
    show(paste("excess over start's, by", by), left, x[[by]], function(v) exp(mean(v)))
  }
  show("worse than the start, by search", x$excess > x$start + 1e-9, x$search)
  show("worse than the start, by n", x$excess > x$start + 1e-9, x$n)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else if (identical(arguments[1], "--run")) {
  simulate(arguments[2], arguments[3], arguments[4], as.numeric(arguments[-(1:4)]))
} else {
  sizes <- if (length(arguments) > 2) arguments[-(1:2)] else c("1000", "5000")
  for (setting in settings) {
    system2(file.path(R.home("bin"), "Rscript"), shQuote(c(this_file, "--run", arguments[1],
            build(arguments[2], setting), label(setting), sizes)))
  }
}
