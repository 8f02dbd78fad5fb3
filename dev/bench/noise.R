# What exact noise costs, and what its time could tell. Rscript dev/bench/noise.R, with the package installed.
library(dpsosp)
rows <- 495141L # Covertype, two classes
columns <- 54L

seconds <- function(expr, times = 5) {
  expr <- substitute(expr)
  frame <- parent.frame()
  median(vapply(seq_len(times), function(i) system.time(eval(expr, frame), gcFirst = FALSE)[["elapsed"]], 0))
}

# ---- share of a pass ----

# The values do not matter for the time. One row: nothing but noise (and some microseconds of R).
set.seed(1)
budget <- dp_budget(rho = 1e9)
oracle <- function(n) {
  x <- matrix(runif(n * (columns - 1L), -1, 1), n)
  dp_oracle(x, rep_len(c(-1, 1), n), "logistic", budget, radius = sqrt(columns))
}
one <- oracle(1L)
all <- oracle(rows)
w <- numeric(columns)
noise <- seconds(for (i in 1:200) {
  dp_gradient(one, w, rho = 1)
  dp_hessian(one, w, rho = 1)
}) / 200
gradient <- seconds(dp_gradient(all, w, rho = 1))
hessian <- seconds(dp_hessian(all, w, rho = 1))
draws <- columns + columns * (columns + 1) / 2
cat(sprintf("noise of one gradient and one Hessian, d = %d: %.2f ms, %.0f draws\n", columns, 1e3 * noise, draws))
cat(sprintf("one pass over %d rows: gradient %.1f ms, Hessian %.1f ms\n", rows, 1e3 * gradient, 1e3 * hessian))
cat(sprintf("noise / gradient: %.2f %% (at most 5 %%); noise / both: %.2f %%\n", 100 * noise / gradient,
            100 * noise / (gradient + hessian)))

# ---- the sampler alone ----

sampler <- file.path(tempdir(), "sampler")
flags <- system2(file.path(R.home("bin"), "R"), c("CMD", "config", "--cppflags"), stdout = TRUE)
built <- system2("gcc", c("-std=gnu99 -O2 -Isrc -DMATHLIB_STANDALONE -DUSE_FC_LEN_T -DSTRICT_R_HEADERS", flags,
                          "dev/bench/sampler.c src/mech/*.c src/base/*.c -lRmath -lm -o", sampler))
stopifnot(built == 0)
lines <- strsplit(system2(sampler, stdout = TRUE), " ")
row <- function(kind) Filter(function(line) line[1] == kind, lines)
field <- function(line, name) as.numeric(line[match(name, line) + 1L])

cat(sprintf("1e6 samples: %.2f s (at most 1 s)\n", field(row("samples")[[1]], "seconds")))

# The integer part k of |noise| / sd is drawn before the un-noised value is looked at, so no time of the drawing
# depends on the data. But with k an observer of the released value knows more about the noise: a coordinate of cost mu
# tells two neighbours apart outright with probability at most 2 mu (phi(1) + phi(2) + ...) = 0.60 mu.
cat("time of one draw, by the integer part of |noise| / sd:\n")
for (line in row("integer")) {
  cat(sprintf("  %s: %.0f ns, sd %.0f\n", line[2], field(line, "ns"), field(line, "sd")))
}
cat("time of a call and the noise in it:\n")
for (line in row("call")) {
  r2 <- field(line, "rsquared")
  cat(sprintf("  %s draws: %.1f us, sd %.1f us; R^2 with sum of |noise| %.4f, that is %.3f bits\n", line[3],
              field(line, "ns") / 1e3, field(line, "sd") / 1e3, r2, -log2(1 - r2) / 2))
}
cat("time of a call of 54 draws by the un-noised value, in sd:\n")
for (line in row("value")) {
  cat(sprintf("  %s: %.2f us +- %.2f\n", line[2], field(line, "ns") / 1e3, field(line, "error") / 1e3))
}
