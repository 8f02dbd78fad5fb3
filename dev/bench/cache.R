# What does a fit from files cost over one from a data frame, and what would it cost without the cache of mapped rows?
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

seconds <- function(data, iterations = NULL) {
  system.time(suppressMessages({
    dp_sosp(y ~ ., data, eps = 1, delta = 1e-8, bounds = bounds, method = "newton-ridge", noise = "reproducible",
            control = control_newton_ridge(iterations = iterations), progress = FALSE)
  }))[["elapsed"]]
}
source <- function(cache) dp_source(files, levels = levels, cache = cache)

time <- replicate(3, c(frame = seconds(data), parquet = seconds(source("auto"))))
best <- apply(time, 1, min)
cat(sprintf("%.0f rows: data frame %.2f s, Parquet with cache %.2f s: %.2f times (wanted: at most 2)\n", n,
            best[["frame"]], best[["parquet"]], best[["parquet"]] / best[["frame"]]))
few <- c(seconds(source("none"), 2), seconds(source("none"), 6))
pass <- diff(few) / 4
cat(sprintf("a pass without cache %.2f s, so a fit of 160 steps about %.0f s\n", pass, few[1] + 158 * pass))
