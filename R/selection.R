# The best of a random number of runs: distributions of this number, and the privacy cost of a run.
#
# k candidates are drawn with replacement. The mean number is such that each candidate is run with probability at least
# 0.9 (Poisson) or about 0.9 (geometric).

selection_laws <- c("poisson", "geometric")

selection_mean <- function(law, k) {
  switch(law, poisson = as.integer(ceiling(k * log(10))), geometric = 9L * (k - 1L))
}

# The largest mu of each run for which releasing the best one is (eps, delta)-private, and the Renyi order that allows
# it. All arguments are public.
selection_plan <- function(law, k, eps, delta) {
  mean <- selection_mean(law, k)
  mu_at <- function(x) selection_mu(law, mean, 1 + exp(x), eps, delta)
  grid <- seq(log(0.02), log(3000), length.out = 60)
  found <- vapply(grid, mu_at, 0)
  near <- grid[pmin(pmax(which.max(found) + c(-1, 1), 1), length(grid))]
  order <- 1 + exp(stats::optimize(mu_at, near, maximum = TRUE, tol = 1e-6)$maximum)
  list(law = law, mean = mean, candidates = k, order = order, mu = selection_mu(law, mean, order, eps, delta))
}

# The largest mu that this order allows, approximated from below; zero if there is none.
selection_mu <- function(law, mean, order, eps, delta) {
  allowed <- .Call(ffi_rdp_budget, order, eps, delta) / order
  fits <- function(x) .Call(ffi_selection_cost, law, mean, exp(x), order) <= allowed
  low <- log(1e-6)
  if (!fits(low)) return(0)
  high <- log(1e3)
  for (i in 1:60) {
    middle <- (low + high) / 2
    if (fits(middle)) low <- middle else high <- middle
  }
  exp(low)
}

# A budget for one such release and nothing else.
selection_budget <- function(plan, eps, delta) {
  capacity <- .Call(ffi_rdp_budget, plan$order, eps, delta) / plan$order
  structure(class = "dp_budget", list(pointer = .Call(ffi_ledger_create_renyi, plan$order, capacity), eps = eps,
                                      delta = delta, rho = NULL, mu = NULL, order = plan$order))
}

# The candidate of each run. The candidates and the number of runs are secret.
selection_draw <- function(plan, budget, neighbours, reproducible) {
  .Call(ffi_selection_draw, budget$pointer, plan$law, plan$mean, plan$candidates, plan$mu, neighbours, reproducible)
}
