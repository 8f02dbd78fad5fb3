# What does it help to centre and scale columns where a method is named? SYNTHETIC problems (synthetic.R), replace-one,
# delta = 1/n^2: each method with and without a private geometry.
#   Rscript geometry-rule.R RESULTS.csv [N ...]
# Then: Rscript geometry-rule.R --summary RESULTS.csv
# excess: of the mean logistic loss over the least one ("logistic"); wrong: fraction of wrong classes minus that of the
# model with the least logistic loss ("logistic", "sigmoid").
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

simulate <- function(path, sizes) {
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
  wide <- stats::reshape(x, direction = "wide", timevar = "geometry",
                         idvar = setdiff(names(x), c("geometry", "excess", "wrong")))
  for (loss in unique(wide$loss)) {
    of <- wide[wide$loss == loss, ]
    if (loss == "logistic") {
      print(aggregate(cbind(excess.none, excess.private, wrong.none, wrong.private) ~ method + n, of, mean), digits = 3)
    } else {
      print(aggregate(cbind(wrong.none, wrong.private) ~ method + n, of, mean), digits = 3)
    }
  }
}

if (arguments[1] == "--summary") {
  summarise(arguments[2])
} else {
  sizes <- as.numeric(arguments[-1])
  simulate(arguments[1], if (length(sizes) > 0) sizes else c(2000, 20000))
}
