# What does a fit from files cost over one from a data frame, with mapped rows in memory, in a file, and not kept?
#   Rscript dev/bench/cache.R [ROWS [LIBRARY]]       10 numbers and 2 factors; 1e6 rows by default
# The fits of one run are made in turn; ratios of their wall-clock times count, not the times.
args <- commandArgs(TRUE)
n <- if (length(args) > 0) as.numeric(args[1]) else 1e6
library(dpsosp, lib.loc = if (length(args) > 1) args[2])

set.seed(1)
x <- matrix(rnorm(n * 10), n, dimnames = list(NULL, paste0("x", 1:10)))
f <- sample(letters[1:5], n, TRUE)
g <- sample(letters[1:4], n, TRUE)
data <- data.frame(x, f = factor(f), g = factor(g), y = factor(ifelse(x[, 1] - x[, 2] + rlogis(n) > 0, "yes", "no")))
bounds <- stats::setNames(rep(list(c(-3, 3)), 10), colnames(x))
levels <- lapply(data[c("f", "g", "y")], levels)

folder <- tempfile()
dir.create(folder)
parts <- split(seq_len(n), (seq_len(n) - 1) %/% 1e5)
files <- file.path(folder, sprintf("part-%04d.parquet", seq_along(parts)))
for (i in seq_along(parts)) nanoparquet::write_parquet(data[parts[[i]], ], files[i])
text <- file.path(folder, "all.csv")
utils::write.csv(data, text, row.names = FALSE)

seconds <- function(data, iterations = NULL) {
  system.time(suppressMessages({
    dp_sosp(y ~ ., data, eps = 1, delta = 1e-8, bounds = bounds, method = "newton-ridge", noise = "reproducible",
            control = control_newton_ridge(iterations = iterations), progress = FALSE)
  }))[["elapsed"]]
}
source <- function(cache, from = files) dp_source(from, n = n, levels = levels, cache = cache)

ways <- list(frame = data, "Parquet, memory" = source("memory"), "Parquet, file" = source("file"),
             "CSV, memory" = source("memory", text), "CSV, file" = source("file", text))
best <- apply(replicate(2, vapply(ways, seconds, 0)), 1, min)
cat(sprintf("%.0f rows, load %s: data frame %.2f s\n", n, sub(" .*", "", readLines("/proc/loadavg")), best[["frame"]]))
for (way in names(ways)[-1]) {
  wanted <- if (way == "Parquet, memory") " (wanted: at most 2)" else ""
  cat(sprintf("%s: %.2f s, %.2f times the data frame%s\n", way, best[[way]], best[[way]] / best[["frame"]], wanted))
}
for (from in list(files, text)) {
  few <- c(seconds(source("none", from), 2), seconds(source("none", from), 4))
  pass <- diff(few) / 2
  cat(sprintf("%s without cache: a pass %.2f s, so a fit of 160 steps about %.0f s\n", tools::file_ext(from[1]), pass,
              few[1] + 158 * pass))
}
