# What the accounting of objective perturbation (proofs: objective-perturbation) gains over the classical one, and which
# kappa_share of control_perturbation() goes with it. Excess losses on SYNTHETIC problems (synthetic.R), replace-one,
# delta = 1/n^2.
#
# "classical": delta <= 4 delta_mu(eps - kappa), kappa = log(1 + b / (n lambda)), lambda by the rule with kappa_share
# 0.3. For the same lambda such a fit is one with another eps, at which today's accounting allows the same mu.
#   Rscript perturbation-rule.R RESULTS.csv [N ...]
# Then: Rscript perturbation-rule.R --summary RESULTS.csv
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (file in c("common.R", "synthetic.R")) source(file.path(dirname(this_file), file))

shares <- c(0.1, 0.2, 0.3, 0.5)

# What the package knows of a fit before its first release.
job_of <- function(problem, share) {
  n <- nrow(problem$X)
  list(n = n, dim = ncol(problem$X), delta = 1 / n^2, neighbours = "replace-one", loss = loss_logistic(),
       method = list(output = FALSE), control = control_perturbation(kappa_share = share))
}

mu_now <- function(job, lambda, eps) {
  how <- dpsosp:::perturbed_accounting(job, lambda, eps)
  if (is.null(how)) 0 else .Call(dpsosp:::ffi_perturbed_mu, eps, job$delta, how)
}

classical <- function(job, eps) {
  lambda <- dpsosp:::perturbation_lambda(job, eps)
  kappa <- log1p(0.25 / (job$n * lambda))
  mu <- dp_convert(eps = eps - kappa, delta = job$delta / 4, to = "mu")
  same <- stats::uniroot(function(e) mu_now(job, lambda, e) - mu, c(eps / 4, eps), tol = 1e-9 * eps)$root
  list(eps = same, lambda = lambda, mu = mu)
}

today <- function(job, eps) {
  lambda <- dpsosp:::perturbation_lambda(job, eps)
  list(eps = eps, lambda = lambda, mu = mu_now(job, lambda, eps))
}

simulate <- function(path, sizes) {
  out <- results_file(path, c("shape", "n", "signal", "eps", "setting", "seed"))
  for (n in sizes) for (shape in names(synthetic_shapes)) for (signal in c(1, 3)) {
    set.seed(n + signal)
    problem <- do.call(synthetic_problem, c(list(n), synthetic_shapes[[shape]], signal = signal, rare = 0.4))
    best <- synthetic_minimum(problem)
    for (eps in c(0.2, 1, 3)) for (setting in c("classical", shares)) {
      job <- job_of(problem, if (setting == "classical") 0.3 else as.numeric(setting))
      run <- if (setting == "classical") classical(job, eps) else today(job, eps)
      for (seed in 1:4) {
        row <- list(shape = shape, n = n, d = job$dim, signal = signal, eps = eps, setting = setting, seed = seed)
        if (out$has(row)) next
        set.seed(seed)
        w <- synthetic_fit(problem, run$eps, method = "objpert", delta = job$delta,
                           control = control_perturbation(lambda = run$lambda))
        out$add(c(row, list(lambda = signif(run$lambda, 5), mu = signif(run$mu, 5),
                            excess = signif(best$excess(w), 5))))
      }
    }
  }
}

# Geometric means, over problems, of the ratio of the mean excess loss to that of the classical accounting.
summarise <- function(path) {
  x <- utils::read.csv(path)
  means <- stats::aggregate(cbind(excess, mu, lambda) ~ shape + n + signal + eps + setting, x, mean)
  base <- means[means$setting == "classical", ]
  key <- function(x) paste(x$shape, x$n, x$signal, x$eps)
  for (name in c("excess", "mu")) {
    means$ratio <- means[[name]] / base[[name]][match(key(means), key(base))]
    for (by in c("eps", "n", "signal")) {
      cat("\n", name, ", by ", by, "\n", sep = "")
      print(round(exp(tapply(log(means$ratio), list(means$setting, means[[by]]), mean)), 3))
    }
  }
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2])
} else {
  simulate(arguments[1], as.numeric(arguments[-1]))
}
