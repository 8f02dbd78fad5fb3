# How much should be expected of the polynomials of higher degree of ordered factors? SYNTHETIC data frames with public
# ranges, six numeric columns and six ordered factors with 4 to 7 levels, replace-one, delta = 1/n^2: geometry_degree
# and geometry_hidden of R/job-geometry.R compared with others, for effects of four kinds.
#   Rscript ordered-rule.R RESULTS.csv [SEEDS]      6 by default
# Then: Rscript ordered-rule.R --summary RESULTS.csv
# excess: mean loss in the population minus its minimum. Settings are paired: with the same seed they have the same
# data, and noise from the same state of the generator.
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
levels_of <- c(4, 4, 5, 5, 6, 7)
numeric <- 6
problems <- expand.grid(eps = c(1, 3), n = c(1500, 5000, 20000), signal = c(0.7, 1.5), kind = names(kinds),
                        stringsAsFactors = FALSE)
problems <- rbind(problems, transform(problems[problems$n == 20000 & problems$eps == 1, ], n = 1e5))

settings <- list(
  "as it is" = list(), "degree 0" = list(geometry_degree = 0), "degree .5" = list(geometry_degree = 0.5),
  "degree 1" = list(geometry_degree = 1), "hidden 0" = list(geometry_hidden = 0),
  "hidden 100" = list(geometry_hidden = 100)
)

# signal: standard deviation of the log-odds, whose mean is -1.4; every variable has an effect of random size.
draw_population <- function(kind, signal) {
  shares <- lapply(levels_of, function(k) proportions(stats::rgamma(k, 2)))
  effects <- Map(function(k, share) stats::rnorm(1) * standardised(kinds[[kind]](k), share), levels_of, shares)
  slopes <- stats::rnorm(numeric) * 3
  frame <- function(n) {
    x <- lapply(seq_len(numeric), function(j) 2 * stats::rbeta(n, 4, 4) - 1)
    f <- Map(function(k, share) factor(sample.int(k, n, TRUE, share), seq_len(k), ordered = TRUE), levels_of, shares)
    as.data.frame(stats::setNames(c(x, f), c(names(plan_bounds(numeric)), sprintf("f%d", seq_along(f)))))
  }
  sum_of <- function(data) {
    of_levels <- Map(function(f, effect) effect[as.integer(f)], data[-seq_len(numeric)], effects)
    as.vector(as.matrix(data[seq_len(numeric)]) %*% slopes) + Reduce(`+`, of_levels)
  }
  judges <- frame(20000)
  seen <- sum_of(judges)
  link <- function(data) signal * (sum_of(data) - mean(seen)) / stats::sd(seen) - 1.4
  truth <- link(judges)
  p <- stats::plogis(truth)
  loss <- function(t) mean(p * logistic_loss(t) + (1 - p) * logistic_loss(-t))
  list(judges = judges, excess = function(t) loss(t) - loss(truth), draw = function(n) {
    data <- frame(n)
    data$y <- stats::runif(n) < stats::plogis(link(data))
    data
  })
}

standardised <- function(effect, share) {
  effect <- effect - sum(share * effect)
  effect / sqrt(sum(share * effect^2))
}

one <- function(p, seed, setting) {
  set.seed(seed)
  population <- draw_population(p$kind, p$signal)
  data <- population$draw(p$n)
  fit <- with_constants(settings[[setting]], suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., data, eps = p$eps, method = "newton-ridge", bounds = plan_bounds(numeric), noise = "reproducible",
    progress = FALSE
  ))))
  population$excess(stats::predict(fit, population$judges, type = "link"))
}

simulate <- function(path, seeds) {
  out <- results_file(path, c("setting", "n", "kind", "signal", "eps"))
  for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
    p <- problems[i, ]
    row <- c(list(setting = setting), as.list(p[c("n", "kind", "signal", "eps")]))
    if (out$has(row)) next
    excess <- vapply(seq_len(seeds), function(seed) one(p, 100 * i + seed, setting), 0)
    out$add(c(row, list(excess = signif(mean(excess), 3))))
  }
}

# Geometric means of the excess, over that with all degrees alike.
summarise <- function(path) {
  x <- utils::read.csv(path)
  x$setting <- factor(x$setting, names(settings))
  problem <- interaction(x[c("n", "kind", "signal", "eps")], drop = TRUE)
  base <- x[x$setting == "degree 0", ]
  x$ratio <- log(x$excess / base$excess[match(problem, problem[x$setting == "degree 0"])])
  for (by in c("kind", "n", "eps", "signal")) {
    cat("\nexcess over that with all degrees alike, by ", by, "\n", sep = "")
    print(round(exp(tapply(x$ratio, list(x$setting, x[[by]]), mean)), 3))
  }
  cat("\nall:\n")
  print(round(exp(tapply(x$ratio, x$setting, mean)), 3))
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 6L)
}
