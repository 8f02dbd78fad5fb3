# How does the time of whole fits grow with the records n and the columns d? Synthetic logistic data, one thread. The
# table is in the package's help page, section Time.
library(dpsosp)
options(dpsosp.threads = 1)

problem <- function(n, d) {
  set.seed(1)
  x <- matrix(runif(n * d, -1, 1), n)
  list(x = x, y = stats::runif(n) < stats::plogis(x[, 1] - x[, d]))
}

seconds <- function(n, d, method) {
  p <- problem(n, d)
  time <- function() {
    before <- proc.time()
    suppressMessages(suppressWarnings(dp_sosp(p$x, p$y, eps = 1, delta = 1e-6, method = method, bounds = c(-1, 1),
                                              radius = sqrt(d / 3 + 1), noise = "reproducible")))
    sum((proc.time() - before)[1:2])
  }
  min(replicate(3, time()))
}

sizes <- rbind(expand.grid(n = c(25, 50, 100, 200) * 1000, d = 20), expand.grid(n = 50000, d = c(10, 40, 80)))
methods <- c("newton-ridge", "newton", "2opt-ls", "gd")
sizes[methods] <- lapply(methods, function(method) mapply(seconds, sizes$n, sizes$d, method))
print(sizes, digits = 2, row.names = FALSE)
slope <- function(rows, by) {
  sapply(sizes[rows, -(1:2)], function(time) unname(coef(lm(log(time) ~ log(sizes[rows, by])))[2]))
}
cat("exponent of n:\n")
print(slope(sizes$d == 20, "n"), digits = 2)
cat("exponent of d:\n")
print(slope(sizes$n == 50000, "d"), digits = 2)
