# Problems with shapes, and fits of smooth terms.

smooth_problem <- function(n, seed = 1) {
  set.seed(seed)
  d <- data.frame(a = runif(n, 0, 10), b = rexp(n, 1 / 1000), z = ifelse(runif(n) < 0.7, 0, rexp(n, 1 / 50)),
                  f = factor(sample(c("u", "v", "w"), n, TRUE), c("u", "v", "w")))
  eta <- 2 * sin(d$a) + (d$z > 0) - 0.5 * log(d$b / 700) + (d$f == "w") - 0.5
  d$y <- runif(n) < plogis(eta)
  d$truth <- plogis(eta)
  d
}

smooth_fit <- function(formula, data, eps = 2, seed = 1, ...) {
  set.seed(seed)
  suppressWarnings(suppressMessages(dp_sosp(formula, data, eps = eps, delta = 1e-6, noise = "reproducible", ...)))
}

cells_of <- function(breaks, mass) list(breaks = breaks, mass = mass / sum(mass))
