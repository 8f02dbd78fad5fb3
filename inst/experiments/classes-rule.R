# Several classes: with how much noise is "newton-ridge" in a private geometry better than "newton" in the rows' own
# coordinates? Log-loss of both on other records, over that of the fractions of the classes in the data, in percent, on
# SYNTHETIC problems with few records, by d / (n mu) and the standard deviation of the predictors (0, 0.5, 1.5).
#   Rscript classes-rule.R [SEEDS]
# With 2 seeds newton has 15 to 6 percent without a signal, newton-ridge 2 to 10. With the standard deviation 1.5 newton
# is better by up to 4 where d / (n mu) exceeds .2. When classes_precise (R/method-ridge.R), the n mu of the fractions
# of the classes, was 0, so that they had 3 percent of the budget, the excess without a signal and with d / (n mu) from
# .5 on was 5.1, 11.5, 7.6 and 22; with 20 it is 4.6, 5.2, 5.6 and 9.6, with 30 3.5, 3.7, 5.6 and 9.6, with 45 not less.

library(dpsosp)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "columns.R"))

held_out <- 4000
sizes <- expand.grid(n = c(500, 1000, 2000, 4000), p = c(4, 14, 29), classes = c(3, 7), eps = c(0.1, 0.3, 1))
signals <- c(0, 0.5, 1.5)
limits <- c(0, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, Inf)

problem <- function(size, signal, seed) {
  set.seed(seed)
  rows <- size$n + held_out
  columns <- mixed_columns(rows, size$p)
  data <- columns$data
  x <- vapply(data, as.numeric, numeric(rows))
  at <- scale(x) %*% matrix(rnorm(size$p * size$classes), size$p) * signal / sqrt(size$p)
  at <- at + rep(seq(0, 1.5, length.out = size$classes), each = rows)
  data$y <- factor(max.col(at - log(-log(matrix(runif(length(at)), rows)))), levels = seq_len(size$classes))
  data
}

# Of one method, in percent.
excess <- function(method, data, size) {
  train <- seq_len(size$n)
  numeric <- vapply(data, is.numeric, NA)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., data[train, ], eps = size$eps, delta = 1e-6, method = method, noise = "reproducible", progress = FALSE,
    bounds = lapply(data[numeric], function(x) c(-5, 5))
  )))
  y <- data$y[-train]
  loss <- function(p) -mean(log(pmax(p, 1e-9)))
  known <- loss((table(data$y[train]) / size$n)[y])
  100 * (loss(predict(fit, data[-train, ], type = "response")[cbind(seq_along(y), as.integer(y))]) / known - 1)
}

main <- function(seeds) {
  rows <- lapply(seq_len(nrow(sizes)), function(i) {
    size <- sizes[i, ]
    mu <- .Call(dpsosp:::ffi_gdp_mu, size$eps, 1e-6)
    do.call(rbind, lapply(signals, function(signal) {
      both <- rowMeans(vapply(seq_len(seeds), function(seed) {
        data <- problem(size, signal, seed)
        c(excess("newton", data, size), excess("newton-ridge", data, size))
      }, c(0, 0)))
      data.frame(noise = (size$p + 1) / (size$n * mu), signal, newton = both[1], ridge = both[2])
    }))
  })
  table <- do.call(rbind, rows)
  table$noise <- cut(table$noise, limits)
  mean_of <- aggregate(cbind(newton, ridge) ~ noise + signal, table, function(x) round(mean(x), 1))
  print(stats::reshape(mean_of, idvar = "noise", timevar = "signal", direction = "wide"), row.names = FALSE)
}
main(if (length(commandArgs(TRUE)) > 0) as.integer(commandArgs(TRUE)[1]) else 4L)
