# How much doubt should the length of rows with rare values have in intervals of fits by residuals? The constants
# longer_doubt and longer_error of R/job-intervals-residual.R compared with others on SYNTHETIC problems: a level or a
# 0/1 column that 3 percent of the records have, with the effect 0 or 1 standard deviation of the residuals, beside two
# normal columns and a factor of four levels; normal or log-normal residuals, n = 15,000, eps = 1, private or declared
# ranges.
#   Rscript longer-rule.R RESULTS.csv [SEEDS]
# gain: what = "covered": is lm()'s coefficient of the rare value in the 95 % interval? "width": of the interval, over
# that of lm() (means of SEEDS, 20; unresolved ones are wide). Noise is reproducible: no result is for release.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

settings <- c(list(current = list()),
              lapply(c("doubt 0" = 0, "doubt 2" = 2), function(x) list(longer_doubt = x)),
              lapply(c("error 0" = 0, "error 0.5" = 0.5, "error 2" = 2), function(x) list(longer_error = x)))
problems <- expand.grid(rare = 0.03, kind = c("level", "column"), effect = c(0, 1),
                        errors = c("normal", "skewed"), bounds = c("private", "declared"),
                        what = c("covered", "width"), stringsAsFactors = FALSE)

problem <- function(row, seed) {
  set.seed(seed)
  n <- 15000
  d <- data.frame(a = rnorm(n), b = rnorm(n, 50, 8), f = factor(sample(letters[1:4], n, TRUE)))
  has <- runif(n) < row$rare
  if (row$kind == "level") d$r <- factor(ifelse(has, "yes", "no")) else d$r <- as.numeric(has)
  e <- if (row$errors == "normal") rnorm(n) else exp(rnorm(n))
  d$y <- 5 + 0.5 * d$a + row$effect * has + (e - mean(e)) / sd(e)
  d
}

answer <- function(row, seed) {
  d <- problem(row, seed)
  bounds <- if (row$bounds == "private") "private" else
    c(list(a = c(-4, 4), b = c(20, 80)), if (row$kind == "column") list(r = c(0, 1)))
  set.seed(seed + 1000)
  fit <- suppressWarnings(suppressMessages(dp_sosp(y ~ ., d, eps = 1, delta = 1e-9, loss = "squared", bounds = bounds,
                                                   inference = TRUE, noise = "reproducible", progress = FALSE)))
  exact <- stats::lm(y ~ ., d)
  at <- grep("^r", names(coef(exact)))
  ends <- confint(fit, unresolved = "wide")[grep("^r", names(coef(fit))), ]
  if (row$what == "width") return(diff(as.vector(ends)) / diff(as.vector(stats::confint(exact)[at, ])))
  as.numeric(ends[1] <= coef(exact)[at] && coef(exact)[at] <= ends[2])
}

table <- compare_gains(arguments, 20L, settings, problems, function(row, setting, seed) answer(row, seed))
print(round(tapply(table$gain, table[c("setting", "what", "errors", "bounds")], mean, na.rm = TRUE), 3))
