# Should the classes have different weights in the loss of "newton-ridge" (proofs: tilt), and how different? SYNTHETIC
# data frames with public ranges, independent numeric columns and factors with rare levels (plan_population() of
# synthetic.R), replace-one, delta = 1/n^2: the rule of R/job-geometry.R compared with others.
#   Rscript tilt-rule.R RESULTS.csv [SEEDS]      3 by default
# Then: Rscript tilt-rule.R --summary RESULTS.csv
# excess: mean loss in the population minus its minimum; mean over the seeds. Settings are paired: with the same seed
# they have the same data, and noise from the same state of the generator.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

# Number of numeric columns, and of levels of the factors, of which the k-th has a frequency in proportion to 1 / k.
shapes <- list(numeric = list(8, integer()), mixed = list(6, c(5, 5, 10)), levels = list(4, c(30, 30)),
               factors = list(0, c(5, 8, 16, 7, 14, 6, 5, 2)))
problems <- rbind(
  expand.grid(eps = c(0.5, 1, 3), n = c(1500, 5000, 20000), rare = c(0.03, 0.1, 0.25, 0.45), effect = c(0.5, 1.5),
              shape = names(shapes), stringsAsFactors = FALSE),
  expand.grid(eps = c(0.1, 0.3, 1), n = 1e5, rare = c(0.03, 0.25), effect = 1, shape = names(shapes),
              stringsAsFactors = FALSE)
)

rule <- utils::getFromNamespace("class_tilt", "dpsosp")
settings <- list(
  "no tilt" = list(takes_tilt = function(job) FALSE),
  "as it is" = list(),
  "half the tilt" = list(class_tilt = function(...) rule(...) / 2),
  "shortest .7" = list(geometry_shortest = 0.7), "shortest .85" = list(geometry_shortest = 0.85),
  "shortest .98" = list(geometry_shortest = 0.98)
)

one <- function(p, seed, setting) {
  set.seed(seed)
  shape <- shapes[[p$shape]]
  shares <- lapply(shape[[2]], function(k) 1 / seq_len(k) / sum(1 / seq_len(k)))
  population <- plan_population(shape[[1]], shares, 0.1, p$effect, p$rare)
  data <- population$draw(p$n)
  fit <- with_constants(settings[[setting]], suppressWarnings(suppressMessages(dp_sosp(
    y ~ ., data, eps = p$eps, method = "newton-ridge", bounds = plan_bounds(shape[[1]]), noise = "reproducible",
    progress = FALSE
  ))))
  c(tilt = fit$geometry$tilt, excess = population$excess(stats::predict(fit, population$judges, type = "link")))
}

simulate <- function(path, seeds) {
  out <- results_file(path, c("setting", "n", "shape", "rare", "effect", "eps"))
  for (i in seq_len(nrow(problems))) for (setting in names(settings)) {
    p <- problems[i, ]
    row <- c(list(setting = setting), as.list(p[c("n", "shape", "rare", "effect", "eps")]))
    if (out$has(row)) next
    runs <- rowMeans(vapply(seq_len(seeds), function(seed) one(p, seed, setting), numeric(2)))
    out$add(c(row, list(tilt = signif(runs[["tilt"]], 2), excess = signif(runs[["excess"]], 3))))
  }
}

# Geometric means of the excess, over that without a tilt.
summarise <- function(path) {
  x <- utils::read.csv(path)
  x$setting <- factor(x$setting, names(settings))
  problem <- interaction(x[c("n", "shape", "rare", "effect", "eps")], drop = TRUE)
  base <- x[x$setting == "no tilt", ]
  x$ratio <- log(x$excess / base$excess[match(problem, problem[x$setting == "no tilt"])])
  for (by in c("rare", "shape", "n", "eps", "effect")) {
    cat("\nexcess over that without a tilt, by ", by, "\n", sep = "")
    print(round(exp(tapply(x$ratio, list(x$setting, x[[by]]), mean)), 3))
  }
  cat("\nall:\n")
  print(round(exp(tapply(x$ratio, x$setting, mean)), 3))
  cat("\ntilt of the rule\n")
  rows <- x[x$setting == "as it is", ]
  print(round(tapply(rows$tilt, rows[c("shape", "rare")], mean), 2))
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], if (length(arguments) > 1) as.integer(arguments[2]) else 3L)
}
