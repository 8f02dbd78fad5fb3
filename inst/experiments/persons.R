# Several records of a person: how accurate is `id`, and do its intervals cover? SYNTHETIC problems: 5,000 persons with
# 1 to 20 records, six columns, logistic loss, random intercepts of the persons, eps = 1, delta = 1/n^2 for persons.
#   Rscript persons.R RESULTS.csv [RUNS [COVERAGE_RUNS]]
# A row is one arm of one problem:
#   size      of a person's records: "uniform" on 1, ..., 20, or "skewed", proportional to m^-1.5
#   effect    standard deviation of the random intercepts
#   arm       "id": all records, weights 1/m; "one record": one random record of each person, without `id`; "records":
#             all records without `id`, which protects records only; "weights without noise",
#             "one record without noise": glm()
#   rmse      root mean squared error of the coefficients, over RUNS (30), and its standard error
#   covered   of 95 % intervals by `id`, over COVERAGE_RUNS (150) and all coefficients, also unresolved ones
#   wide      median width over that of the non-private interval by sums of persons
# The truth is the minimiser of the expected loss of a person, the mean over the person's records. For "one record" and
# "weights" it is the same, as records are alike given m.
library(dpsosp)

arguments <- commandArgs(TRUE)
persons <- 5000
columns <- 6
beta <- c(-0.5, 1, -1, 0.7, 0, 0.4, -0.3)
bounds <- stats::setNames(rep(list(c(-1, 1)), columns), paste0("x", seq_len(columns)))

draw <- function(n, size, effect) {
  m <- sample(20, n, TRUE, prob = if (size == "uniform") rep(1, 20) else (1:20)^-1.5)
  id <- rep(seq_len(n), m)
  own <- matrix(stats::rnorm(n * columns), n)[id, ]
  x <- 0.5 * sqrt(0.5) * (own + matrix(stats::rnorm(length(id) * columns), length(id)))
  x <- pmin(pmax(x, -1), 1)
  y <- stats::rbinom(length(id), 1, stats::plogis(drop(cbind(1, x) %*% beta) + effect * stats::rnorm(n)[id]))
  colnames(x) <- names(bounds)
  data.frame(x, y = factor(y), id = id, m = m[id])
}

exact <- function(d, weights) {
  stats::coef(suppressWarnings(stats::glm.fit(cbind(1, as.matrix(d[names(bounds)])), as.integer(d$y) - 1L,
                                              weights = weights, family = stats::binomial())))
}

fit <- function(...) {
  suppressWarnings(suppressMessages(dp_sosp(y ~ x1 + x2 + x3 + x4 + x5 + x6, ..., eps = 1, delta = 1 / persons^2,
                                            bounds = bounds, progress = FALSE)))
}

one_of_each <- function(d) {
  shuffled <- d[sample(nrow(d)), ]
  shuffled[!duplicated(shuffled$id), ]
}

accuracy <- function(size, effect, runs, truth) {
  squares <- replicate(runs, {
    d <- draw(persons, size, effect)
    one <- one_of_each(d)
    found <- list(id = stats::coef(fit(d, id = id)), "one record" = stats::coef(fit(one)),
                  records = stats::coef(fit(d)), "weights without noise" = exact(d, 1 / d$m),
                  "one record without noise" = exact(one, rep(1, nrow(one))))
    vapply(found, function(w) mean((w - truth)^2), 0)
  })
  data.frame(size = size, effect = effect, arm = rownames(squares), rmse = sqrt(rowMeans(squares)),
             se = apply(squares, 1L, stats::sd) / sqrt(runs) / (2 * sqrt(rowMeans(squares))), covered = NA, wide = NA,
             row.names = NULL)
}

# Standard errors of the weighted fit from sums of persons, without noise.
clustered <- function(d, w) {
  z <- cbind(1, as.matrix(d[names(bounds)]))
  p <- stats::plogis(drop(z %*% w))
  bread <- solve(crossprod(z, z * (p * (1 - p) / d$m)))
  sums <- rowsum(z * ((p - (as.integer(d$y) - 1)) / d$m), d$id)
  sqrt(diag(bread %*% crossprod(sums) %*% bread))
}

coverage <- function(size, effect, runs, truth) {
  runs <- replicate(runs, {
    d <- draw(persons, size, effect)
    private <- fit(d, id = id, inference = "sandwich")
    error <- sqrt(diag(private$inference$vcov))
    list(covered = mean(abs(private$coefficients - truth) <= stats::qnorm(0.975) * error),
         wide = error / clustered(d, exact(d, 1 / d$m)))
  }, simplify = FALSE)
  data.frame(size = size, effect = effect, arm = "intervals of id", rmse = NA, se = NA,
             covered = mean(vapply(runs, `[[`, 0, "covered")), wide = stats::median(unlist(lapply(runs, `[[`, "wide"))))
}

if (length(arguments) > 0L) {
  runs <- if (length(arguments) > 1L) as.integer(arguments[2]) else 30L
  coverage_runs <- if (length(arguments) > 2L) as.integer(arguments[3]) else 150L
  set.seed(11)
  results <- NULL
  for (size in c("uniform", "skewed")) {
    for (effect in c(0, 1.5)) {
      big <- draw(3e5, size, effect)
      truth <- exact(big, 1 / big$m)
      results <- rbind(results, accuracy(size, effect, runs, truth), coverage(size, effect, coverage_runs, truth))
      utils::write.csv(format(results, digits = 3), arguments[1], row.names = FALSE, quote = FALSE)
    }
  }
}
