# How far logistic intervals follow second derivatives on the way of a step (R/job-intervals-bent.R): the part of the
# way as a function of q = g' V^-1 g, whose mean is p for a step of noise alone. SYNTHETIC data with a rare class, a
# strong column or neither; NON-PRIVATE comparison with glm().
#   Rscript bent-rule.R RESULTS.csv [RUNS]
# makes RUNS (30) runs of every design, eps and rule. A row:
#   covered  fraction of the shown intervals that cover the coefficients of glm() on the same records
#   shown    fraction of the coefficients that are shown
#   ratio    median width over that of glm()
suppressMessages(library(dpsosp))

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

designs <- list(
  "rare, strong" = list(n = 6000, truth = c(-6.5, 2.7, 0.5)), "rare, weak" = list(n = 6000, truth = c(-3.5, 0.3, 0.2)),
  "balanced, strong" = list(n = 3000, truth = c(0, 2.5, -1)),
  "balanced, weak" = list(n = 1500, truth = c(0.3, 0.4, -0.2))
)
rules <- list(newton = function(q, p) 0, "1 - p / q" = function(q, p) max(0, 1 - p / q),
              "q / (q + p)" = function(q, p) q / (q + p), whole = function(q, p) 1)

frame_of <- function(design) {
  set.seed(1)
  d <- data.frame(a = stats::rnorm(design$n), b = stats::rnorm(design$n))
  d$y <- stats::runif(design$n) < stats::plogis(drop(cbind(1, d$a, d$b) %*% design$truth))
  d
}

one <- function(data, exact, eps, seed) {
  set.seed(seed)
  fit <- suppressWarnings(suppressMessages(
    dp_sosp(y ~ a + b, data, eps = eps, delta = 1 / nrow(data)^2, bounds = list(a = c(-5, 5), b = c(-5, 5)),
            inference = "sandwich", noise = "reproducible", progress = FALSE)
  ))
  ends <- confint(fit)
  cbind(covered = ends[, 1] <= exact[, 1] & exact[, 1] <= ends[, 2],
        ratio = (ends[, 2] - ends[, 1]) / (2 * 1.96 * exact[, 2]))
}

out <- results_file(arguments[1], c("design", "eps", "rule"))
runs <- if (length(arguments) > 1L) as.integer(arguments[2]) else 30L
for (name in names(designs)) {
  data <- frame_of(designs[[name]])
  exact <- summary(stats::glm(y ~ a + b, stats::binomial(), data))$coefficients
  for (eps in c(1, 3)) for (rule in names(rules)) {
    if (out$has(list(design = name, eps = eps, rule = rule))) next
    utils::assignInNamespace("bent_part", rules[[rule]], "dpsosp")
    seen <- simplify2array(lapply(seq_len(runs), function(seed) one(data, exact, eps, seed)))
    out$add(list(design = name, eps = eps, rule = rule, runs = runs,
                 covered = round(mean(seen[, "covered", ], na.rm = TRUE), 3),
                 shown = round(mean(!is.na(seen[, "covered", ])), 3),
                 ratio = round(stats::median(seen[, "ratio", ], na.rm = TRUE), 2)))
  }
}
