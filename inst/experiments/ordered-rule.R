# How much should be expected of the polynomials of higher degree of ordered factors? SYNTHETIC data frames with public
# ranges, six numeric columns and ordered factors, replace-one, delta = 1/n^2: geometry_degree and geometry_hidden of
# R/job-geometry.R compared with others, for effects of four kinds. There are six factors with 4 to 7 levels, or nine
# with 10 levels, few records and much noise; with common = 0.7 they have correlations of about one half.
#   Rscript ordered-rule.R RESULTS.csv [SEEDS]      6 by default
# Then: Rscript ordered-rule.R --summary RESULTS.csv
# excess: mean loss in the population minus its minimum. constant: the same for the best constant prediction. Settings
# are paired: with the same seed they have the same data, and noise from the same state of the generator.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

# Effects of k levels: in proportion to the number of the level, increasing, a random walk, or independent.
kinds <- list(
  line = function(k) seq_len(k),
  increasing = function(k) cumsum(stats::rexp(k)),
  walk = function(k) cumsum(stats::rnorm(k)),
  independent = function(k) stats::rnorm(k)
)
levels_of <- list("4 to 7" = c(4, 4, 5, 5, 6, 7), "10" = rep(10, 9))
numeric <- 6
usual <- expand.grid(eps = c(1, 3), n = c(1500, 5000, 20000), signal = c(0.7, 1.5), kind = names(kinds), common = 0,
                     levels = "4 to 7", stringsAsFactors = FALSE)
usual <- rbind(usual, transform(usual[usual$n == 20000 & usual$eps == 1, ], n = 1e5))
noisy <- expand.grid(eps = c(0.5, 1), n = c(500, 2000), signal = c(1.5, 4), kind = c("increasing", "walk"),
                     common = c(0, 0.7), levels = "10", stringsAsFactors = FALSE)

settings <- list(
  "as it is" = list(), "degree 0" = list(geometry_degree = 0), "degree .5" = list(geometry_degree = 0.5),
  "degree 1" = list(geometry_degree = 1), "hidden 0" = list(geometry_hidden = 0),
  "hidden 100" = list(geometry_hidden = 100)
)

# signal: standard deviation of the log-odds, whose mean is -1.4; every variable has an effect of random size.
draw_population <- function(p) {
  counts <- levels_of[[p$levels]]
  shares <- lapply(counts, function(k) proportions(stats::rgamma(k, 2)))
  effects <- Map(function(k, share) stats::rnorm(1) * standardised(kinds[[p$kind]](k), share), counts, shares)
  if (p$common > 0) effects <- lapply(effects, function(e) e * sign(e[length(e)] - e[1]))
  slopes <- stats::rnorm(numeric) * 3
  frame <- function(n) {
    x <- lapply(seq_len(numeric), function(j) 2 * stats::rbeta(n, 4, 4) - 1)
    u <- sqrt(p$common) * stats::rnorm(n)
    f <- Map(function(k, share) {
      at <- stats::pnorm(u + sqrt(1 - p$common) * stats::rnorm(n))
      factor(1L + findInterval(at, cumsum(share)[-k]), seq_len(k), ordered = TRUE)
    }, counts, shares)
    as.data.frame(stats::setNames(c(x, f), c(names(plan_bounds(numeric)), sprintf("f%d", seq_along(f)))))
  }
  sum_of <- function(data) {
    of_levels <- Map(function(f, effect) effect[as.integer(f)], data[-seq_len(numeric)], effects)
    as.vector(as.matrix(data[seq_len(numeric)]) %*% slopes) + Reduce(`+`, of_levels)
  }
  judges <- frame(20000)
  seen <- sum_of(judges)
  link <- function(data) p$signal * (sum_of(data) - mean(seen)) / stats::sd(seen) - 1.4
  truth <- link(judges)
  second <- stats::plogis(truth)
  loss <- function(t) mean(second * logistic_loss(t) + (1 - second) * logistic_loss(-t))
  list(judges = judges, excess = function(t) loss(t) - loss(truth),
       constant = loss(stats::qlogis(mean(second))) - loss(truth), draw = function(n) {
    data <- frame(n)
    data$y <- stats::runif(n) < stats::plogis(link(data))
    data
  })
}

standardised <- function(effect, share) {
  effect <- effect - sum(share * effect)
  effect / sqrt(sum(share * effect^2))
}

one <- function(p, seed, constants) {
  set.seed(seed)
  population <- draw_population(p)
  data <- population$draw(p$n)
  fit <- with_constants(constants, suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., data, eps = p$eps, method = "newton-ridge", bounds = plan_bounds(numeric), noise = "reproducible",
    progress = FALSE
  ))))
  c(excess = population$excess(stats::predict(fit, population$judges, type = "link")), constant = population$constant)
}

key <- c("levels", "common", "n", "kind", "signal", "eps")

simulate <- function(path, seeds, problems) {
  out <- results_file(path, c("setting", key))
  for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
    p <- problems[i, ]
    row <- c(list(setting = setting), as.list(p[key]))
    if (out$has(row)) next
    seen <- vapply(seq_len(seeds), function(seed) one(p, 100 * i + seed, settings[[setting]]), numeric(2))
    out$add(c(row, lapply(rowMeans(seen), signif, 3)))
  }
}

# Geometric means of the excess, over that with all degrees alike.
summarise <- function(x, by, base = "degree 0") {
  x$setting <- factor(x$setting, names(settings))
  problem <- interaction(x[key], drop = TRUE)
  x$ratio <- log(x$excess / x$excess[x$setting == base][match(problem, problem[x$setting == base])])
  for (what in by) {
    cat("\nexcess over that with all degrees alike, by ", what, "\n", sep = "")
    print(round(exp(tapply(x$ratio, list(x$setting, x[[what]]), mean)), 3))
  }
  cat("\nall:\n")
  print(round(exp(tapply(x$ratio, x$setting, mean)), 3))
}

if (identical(arguments[1], "--summary")) {
  x <- utils::read.csv(arguments[2])
  cat("Usual problems\n")
  summarise(x[x$levels == "4 to 7", ], c("kind", "n", "eps", "signal"))
  cat("\nNoisy problems\n")
  summarise(x[x$levels == "10", ], c("kind", "n", "eps", "signal", "common"))
} else {
  seeds <- if (length(arguments) > 1) as.integer(arguments[2]) else 6L
  simulate(arguments[1], seeds, rbind(usual, noisy))
}
