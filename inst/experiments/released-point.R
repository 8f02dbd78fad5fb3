# What does noise that follows the released point change? Noise of gradients and excess empirical loss of methods whose
# rows are clipped, before and after the sensitivities at a point (proofs: sensitivity-gradient), on real data.
#   Rscript released-point.R DATA RESULTS.csv VERSION [SEEDS [METHOD ...]]    runs, 3 seeds by default
#   Rscript released-point.R --summary RESULTS.csv                            means over the seeds, by version
# DATA holds a9a.csv.xz (Adult in binary columns), ijcnn1.csv.xz and covertype.rds. VERSION is any word for the
# installed package. In results/released-point.csv (two seeds) "point" is the package, "everywhere" the same with
# `bounds_reach()` in src/barrier/bounds.c returning INFINITY, so that only the sensitivities differ. Replace-one,
# delta = 1 / n^2; all other settings are the package's defaults. All results are exact and NOT PRIVATE.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

methods <- c("newton", "gd", "agd", "blsgd", "objpert")
budgets <- c(0.2, 1)

# radius: of rows with the intercept, a public constant that clips hardly any.
problems <- list(
  adult = function(folder) {
    d <- utils::read.csv(file.path(folder, "a9a.csv.xz"))
    d <- d[d$split == "train", ]
    list(x = unname(as.matrix(d[, -(1:2)])), y = d$label, radius = sqrt(15))
  },
  ijcnn1 = function(folder) c(ijcnn1_matrix(folder, 49990), radius = 1.2),
  covertype = function(folder) {
    d <- covertype_matrix(folder)
    rows <- seq(1, nrow(d$x), by = 5) # a fifth: 99,029 records
    list(x = d$x[rows, ], y = d$y[rows], radius = 1.8)
  }
)

run <- function(folder, path, version, seeds, methods) {
  out <- results_file(path, c("version", "set", "method", "eps", "seed"))
  for (set in names(problems)) {
    d <- problems[[set]](folder)
    best <- synthetic_minimum(list(X = cbind(d$x, 1), y = d$y))$value
    for (eps in budgets) for (method in methods) for (seed in seq_len(seeds)) {
      row <- list(version = version, set = set, method = method, eps = eps, seed = seed)
      if (out$has(row)) next
      set.seed(seed)
      fit <- suppressWarnings(suppressMessages(dp_sosp(
        d$x, d$y, eps = eps, loss = "logistic", radius = d$radius, method = method, noise = "reproducible",
        progress = FALSE
      )))
      gradients <- dp_ledger(fit)
      gradients <- gradients[gradients$what %in% c("gradient", "batch gradient"), ]
      excess <- mean(logistic_loss(d$y * as.vector(predict(fit, d$x)))) - best
      out$add(c(row, list(excess = signif(excess, 4), gradients = nrow(gradients),
                          noise = signif(sqrt(mean(gradients$scale^2)), 4),
                          length = signif(sqrt(sum(stats::coef(fit)^2)), 4))))
    }
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  cells <- stats::aggregate(cbind(excess, noise, gradients) ~ eps + method + set + version, x, mean, na.action = NULL)
  pair <- lapply(c("everywhere", "point"), function(version) cells[cells$version == version, ])
  key <- c("set", "method", "eps")
  both <- merge(pair[[1]], pair[[2]], key, suffixes = c("_everywhere", "_point"))
  both$noise_ratio <- both$noise_point / both$noise_everywhere
  both$excess_ratio <- both$excess_point / both$excess_everywhere
  numbers <- setdiff(names(both), c(key, grep("version", names(both), value = TRUE)))
  both[numbers] <- signif(both[numbers], 3)
  options(width = 160)
  print(both[c(key, numbers)], row.names = FALSE)
  for (method in unique(both$method)) {
    own <- both[both$method == method, ]
    cat(sprintf("%-8s noise x %.2f, excess loss x %.2f (geometric means of %d cells)\n", method,
                exp(mean(log(own$noise_ratio))), exp(mean(log(own$excess_ratio))), nrow(own)))
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  run(arguments[1], arguments[2], arguments[3], if (length(arguments) > 3) as.integer(arguments[4]) else 3L,
      if (length(arguments) > 4) arguments[-(1:4)] else methods)
}
