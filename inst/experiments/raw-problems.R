# SYNTHETIC problems with columns of 16 shapes, years, incomes, counts and others (`raw`), or of a scale near one
# (`standard`), whose effects are linear between the 1 % and the 99 % quantile, and what a fit gains on them.

shapes <- list(
  uniform = function(n) runif(n, 0, 100), shifted = function(n) rnorm(n, 100, 15),
  positive = function(n) rnorm(n, 180, 54),
  lognormal = function(n) rlnorm(n, 3), income = function(n) rlnorm(n, 10.5, 0.8), small = function(n) 1e-3 * rexp(n),
  negative = function(n) -exp(rnorm(n, 3, 0.5)), year = function(n) sample(2000:2020, n, TRUE),
  binary = function(n) rbinom(n, 1, 0.3), five = function(n) sample(5, n, TRUE, c(1, 2, 4, 6, 7)),
  ten = function(n) sample(0:9, n, TRUE), counts = function(n) rpois(n, 1.5),
  inflated = function(n) ifelse(runif(n) < 0.7, 0, 1000 * rexp(n)), standard = function(n) rnorm(n),
  unit = function(n) runif(n), score = function(n) rnorm(n, 0, 2)
)

problem <- function(row, seed) {
  set.seed(seed)
  n <- row$n + 5000
  of <- if (row$scale == "raw") sample(names(shapes), row$p, TRUE) else
    rep(c("standard", "unit", "score"), length.out = row$p)
  x <- as.data.frame(lapply(shapes[of], function(shape) as.double(shape(n))), col.names = paste0("x", seq_len(row$p)))
  z <- vapply(x, function(v) {
    ends <- stats::quantile(v, c(0.01, 0.99), names = FALSE)
    v <- pmin(pmax(v, ends[1]), ends[2])
    (v - mean(v)) / max(stats::sd(v), 1e-9)
  }, numeric(n))
  eta <- as.vector(z %*% (stats::rnorm(row$p) * stats::rgamma(row$p, 0.5)))
  eta <- 1.5 * (eta - mean(eta)) / stats::sd(eta)
  x$y <- if (row$loss == "logistic") stats::runif(n) < stats::plogis(eta) else 50 + 10 * eta + stats::rnorm(n, 0, 10)
  test <- seq_len(n) > row$n
  list(train = x[!test, ], test = x[test, ], eta = eta[test])
}

# Of the loss that the truth has below the constant prediction's, the fraction that a fit has on other records.
gain <- function(p, row, seed, bounds = "private") {
  set.seed(seed + 1000)
  fit <- suppressWarnings(suppressMessages(dp_sosp(y ~ ., p$train, eps = row$eps, delta = 1e-6, loss = row$loss,
                                                   bounds = bounds, noise = "reproducible", progress = FALSE)))
  y <- p$test$y
  if (row$loss == "squared") return((stats::var(y) - mean((y - predict(fit, p$test))^2)) / (stats::var(y) - 100))
  of <- function(link) mean(logistic_loss(ifelse(y, link, -link)))
  constant <- constant_loss(mean(y))
  (constant - of(predict(fit, p$test, type = "link"))) / (constant - of(p$eta))
}
