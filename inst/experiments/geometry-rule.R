# When does it help to centre and scale columns if a method is named, and when is the noise too large for it? SYNTHETIC
# problems (synthetic.R), replace-one, delta = 1/n^2: each method with and without a private geometry. The results
# determine the defaults in R/method-table.R and R/method-geometry.R.
#   Rscript geometry-rule.R RESULTS.csv [--methods METHOD,...] [N ...]      all methods when left out
# Then: Rscript geometry-rule.R --summary RESULTS.csv
# excess: mean logistic loss minus the smallest one ("logistic"); wrong: error rate minus that of the model with the
# smallest logistic loss ("logistic", "sigmoid").
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

problems <- expand.grid(eps = c(0.5, 2), rare = c(0.4, 0.1), signal = c(1, 3), shape = names(synthetic_shapes),
                        stringsAsFactors = FALSE)
runs <- rbind(
  expand.grid(loss = "logistic",
              method = c("2opt-ls", "2opt", "opt-ls", "tr", "spider", "newton", "damped-newton", "cubic",
                         "gd", "objpert", "outpert", "blgd", "agd", "blsgd", "newton-b", "opt-b", "2opt-b", "tr-b",
                         "sgd"), stringsAsFactors = FALSE),
  expand.grid(loss = "sigmoid", method = c("2opt-ls", "2opt", "opt-ls", "tr", "spider", "gd", "2opt-b", "tr-b", "sgd"),
              stringsAsFactors = FALSE)
)

scaled <- names(Filter(function(method) method$scaled, dpsosp:::methods()))

simulate <- function(path, sizes, runs) {
  out <- results_file(path, c("loss", "method", "geometry", "n", "shape", "signal", "rare", "eps"))
  for (n in sizes) for (i in seq_len(nrow(problems))) {
    p <- problems[i, ]
    set.seed(n + i)
    problem <- do.call(synthetic_problem, c(list(n), synthetic_shapes[[p$shape]], signal = p$signal, rare = p$rare))
    margin <- function(w) problem$y * as.vector(problem$X %*% w)
    least <- synthetic_minimum(problem)$w
    for (j in seq_len(nrow(runs))) for (geometry in c("none", "private")) {
      row <- c(as.list(runs[j, ]), list(geometry = geometry, n = n), as.list(p[c("shape", "signal", "rare", "eps")]))
      if (out$has(row)) next
      set.seed(n + i)
      w <- synthetic_fit(problem, p$eps, method = runs$method[j], loss = runs$loss[j], geometry = geometry)
      there <- margin(w)
      out$add(c(row, list(excess = signif(mean(logistic_loss(there)) - mean(logistic_loss(margin(least))), 4),
                          wrong = signif(mean(there <= 0) - mean(margin(least) <= 0), 4))))
    }
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  x$noise <- synthetic_noise(x$n, x$shape, x$eps)
  wide <- stats::reshape(x, direction = "wide", timevar = "geometry",
                         idvar = setdiff(names(x), c("geometry", "excess", "wrong")))
  for (loss in unique(wide$loss)) {
    of <- wide[wide$loss == loss, ]
    if (loss == "logistic") {
      print(aggregate(cbind(excess.none, excess.private, wrong.none, wrong.private) ~ method + n, of, mean), digits = 3)
      by_noise(of[of$method %in% scaled, ])
    } else {
      print(aggregate(cbind(wrong.none, wrong.private) ~ method + n, of, mean), digits = 3)
    }
  }
}

# The number of coefficients over n mu.
synthetic_noise <- function(n, shape, eps) {
  dim <- vapply(synthetic_shapes, function(s) s$numeric + sum(s$levels) + 1, 0)
  unname(dim[shape]) / (n * mapply(function(n, eps) dp_convert(eps = eps, delta = 1 / n^2, to = "mu"), n, eps))
}

# For all methods with a default geometry together: excess losses with and without it, and how often it helps.
by_noise <- function(of) {
  of$noise <- cut(of$noise, c(0, 0.003, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5, Inf))
  of$helps <- of$excess.private < of$excess.none
  print(aggregate(cbind(excess.none, excess.private, helps) ~ noise, of, mean), digits = 3)
}

if (arguments[1] == "--summary") {
  summarise(arguments[2])
} else {
  chosen <- option("methods")
  sizes <- as.numeric(if (is.null(chosen)) arguments[-1] else arguments[-(1:3)])
  simulate(arguments[1], if (length(sizes) > 0) sizes else c(2000, 20000),
           if (is.null(chosen)) runs else runs[runs$method %in% strsplit(chosen, ",")[[1]], ])
}
