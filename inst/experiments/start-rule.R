# Should a run start at zero or at the constant prediction, and which part of the budget should that use? Newton's
# method with one curvature matrix and 2OPT-LS, on SYNTHETIC problems (synthetic.R), replace-one, delta = 1/n^2. The
# results determine the constants of R/method-family.R. Newton's method corrects its intercept by steps that it takes
# anyway; 2OPT-LS may end at its start, which should then be a good prediction.
#   Rscript start-rule.R RESULTS.csv
# Then: Rscript start-rule.R --summary RESULTS.csv
# excess: mean loss minus the smallest mean loss; over: mean loss minus that of the constant prediction, positive if a
# fit is worse than no fit.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

shapes <- c(synthetic_shapes, list(wide = list(numeric = 80, levels = integer()), few = list(numeric = 3, levels = 2)))
problems <- expand.grid(eps = c(0.5, 2), rare = c(0.4, 0.06), signal = c(0.3, 1, 3), shape = names(shapes),
                        stringsAsFactors = FALSE)

# The standard deviation for the second class's fraction and the largest fraction of the budget for it; none: the start
# is zero. noisy: the fraction of the budget if there is much noise (is_noisy() in R/method-geometry.R) and it
# differs. rough:
# a standard deviation that the fraction should have at least, for the fraction of the budget in most.
settings <- list(
  zero = NULL, "sd .01, at most 5 %" = c(sd = 0.01, share = 0.05), "sd .01, at most 10 %" = c(sd = 0.01, share = 0.1),
  "sd .01, at most 20 %" = c(sd = 0.01, share = 0.2), "sd .005, at most 10 %" = c(sd = 0.005, share = 0.1),
  "sd .002, at most 5 %" = c(sd = 0.002, share = 0.05), "sd .002, at most 10 %" = c(sd = 0.002, share = 0.1),
  "sd .002, at most 20 %" = c(sd = 0.002, share = 0.2), "sd .001, at most 10 %" = c(sd = 0.001, share = 0.1),
  "10 %, noisy 20 %" = c(sd = 0.002, share = 0.1, noisy = 0.2),
  "10 %, noisy 50 %" = c(sd = 0.002, share = 0.1, noisy = 0.5),
  "10 %, noisy 80 %" = c(sd = 0.002, share = 0.1, noisy = 0.8),
  "10 %, sd .03 80 %, noisy 80 %" = c(sd = 0.002, share = 0.1, noisy = 0.8, rough = 0.03, most = 0.8),
  "10 %, sd .02 80 %, noisy 80 %" = c(sd = 0.002, share = 0.1, noisy = 0.8, rough = 0.02, most = 0.8),
  "10 %, sd .02 30 %, noisy 80 %" = c(sd = 0.002, share = 0.1, noisy = 0.8, rough = 0.02, most = 0.3),
  "10 %, sd .01 80 %, noisy 80 %" = c(sd = 0.002, share = 0.1, noisy = 0.8, rough = 0.01, most = 0.8)
)
# All but the first five are for 2OPT-LS only.
runs <- rbind(data.frame(method = "newton", setting = names(settings)[1:5]),
              data.frame(method = "2opt-ls", setting = names(settings)))

constants_of <- function(known) {
  if (is.null(known)) return(NULL)
  wish <- known[c("sd", "share")]
  noisy <- if ("noisy" %in% names(known)) replace(wish, "share", known[["noisy"]]) else wish
  rough <- if ("rough" %in% names(known)) list(c(sd = known[["rough"]], share = known[["most"]]))
  list(start_coarse = list(wish), start_fine = c(list(wish), rough), start_alone = list(noisy))
}

fit <- function(problem, eps, method, setting) {
  start <- if (setting == "zero") numeric(ncol(problem$X))
  with_constants(constants_of(settings[[setting]]), synthetic_fit(problem, eps, method = method, start = start))
}

simulate <- function(path, sizes, problems) {
  out <- results_file(path, c("method", "setting", "n", "shape", "signal", "rare", "eps"))
  for (n in sizes) for (i in seq_len(nrow(problems))) {
    p <- problems[i, ]
    set.seed(n + i)
    problem <- do.call(synthetic_problem, c(list(n), shapes[[p$shape]], signal = p$signal, rare = p$rare))
    least <- synthetic_minimum(problem)$value
    share <- mean(problem$y > 0)
    constant <- constant_loss(share)
    for (j in seq_len(nrow(runs))) {
      row <- c(as.list(runs[j, ]), list(n = n, shape = p$shape, signal = p$signal, rare = p$rare, eps = p$eps))
      if (out$has(row)) next
      set.seed(n + i)
      w <- fit(problem, p$eps, runs$method[j], runs$setting[j])
      loss <- mean(logistic_loss(problem$y * as.vector(problem$X %*% w)))
      out$add(c(row, list(excess = signif(loss - least, 4), over = signif(loss - constant, 4))))
    }
  }
}

summarise <- function(path) {
  x <- utils::read.csv(path)
  for (method in unique(x$method)) {
    cat("\n==== ", method, "\n", sep = "")
    summarise_method(x[x$method == method, ])
  }
}

summarise_method <- function(x) {
  x$setting <- factor(x$setting, intersect(names(settings), x$setting))
  show <- function(title, value, by) {
    cat("\n", title, "\n", sep = "")
    print(round(tapply(value, list(x$setting, by), mean), 4))
  }
  print(round(rbind("mean excess" = tapply(x$excess, x$setting, mean), "mean over" = tapply(x$over, x$setting, mean),
                    "share worse than the constant by .002" = tapply(x$over > 0.002, x$setting, mean)), 4))
  for (by in c("n", "eps", "shape", "signal", "rare")) show(paste("mean excess by", by), x$excess, x[[by]])
  show("mean of what is over the constant, by n", pmax(x$over, 0), x$n)
  dim <- vapply(shapes, function(s) s$numeric + sum(s$levels) + 1, 0)[x$shape]
  noise <- dim / (x$n * mapply(function(n, eps) dp_convert(eps = eps, delta = 1 / n^2, to = "mu"), x$n, x$eps))
  show("mean over, by coefficients over n mu", x$over, cut(noise, c(0, 0.03, 0.1, 0.3, Inf)))
  size <- cut(ifelse(noise <= 0.1, dim / noise, NA), c(0, 120, 250, 1000, Inf))
  show("mean over, by n mu, of at least ten times the coefficients", x$over, size)
  show("mean of what is over the constant, by the same n mu", pmax(x$over, 0), size)
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], c(500, 2000, 6000), problems)
  simulate(arguments[1], seq(600, 1600, 100), problems[problems$shape == "few", ])
}
