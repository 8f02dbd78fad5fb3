# What the time of work on un-noised matrices tells of them: Rscript dev/bench/timing.R, with the package installed.
library(dpsosp)

# ---- Newton directions: solvers alone, on matrices of all kinds ----

Sys.setenv(OPENBLAS_NUM_THREADS = 1)
program <- file.path(tempdir(), "timing")
flags <- system2(file.path(R.home("bin"), "R"), c("CMD", "config", "--cppflags"), stdout = TRUE)
built <- system2("gcc", c("-std=gnu99 -O2 -Isrc -fopenmp -DMATHLIB_STANDALONE -DUSE_FC_LEN_T -DSTRICT_R_HEADERS", flags,
                          "dev/bench/timing.c src/la/*.c src/base/*.c -lRmath -llapack -lblas -lm -o", program))
stopifnot(built == 0)
cat(system2(program, stdout = TRUE), sep = "\n")

# ---- minimisers: neighbours, of which one has a record that nothing else is like ----

n <- 400L
d <- 50L
set.seed(1)
rows <- matrix(rnorm(n * d), n)
rows <- rows / sqrt(rowSums(rows^2))
rows[-1L, d] <- 0
rows[1L, ] <- c(rep(0, d - 1L), 1)
nobody <- rows
nobody[1L, ] <- 0
seconds <- function(x, method) {
  call <- function() {
    suppressMessages(suppressWarnings(
      dp_sosp(x, rep_len(c(FALSE, TRUE), n), 1, 1e-6, method = method, radius = 1, intercept = FALSE, progress = FALSE)
    ))
  }
  median(vapply(1:7, function(i) system.time(call(), gcFirst = FALSE)[["user.self"]], 0))
}
for (method in c("objpert", "outpert")) {
  time <- c(seconds(rows, method), seconds(nobody, method))
  cat(sprintf("%s: %.1f and %.1f ms, ratio %.2f\n", method, 1e3 * time[1], 1e3 * time[2], max(time) / min(time)))
}
