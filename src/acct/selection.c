/*
 * The best of a random number of runs of a mu-GDP mechanism (Papernot & Steinke 2022), as a Renyi divergence. Their
 * theorems 2 and 6 bound it by the mechanism's divergence at a second order and by a pair (eps, delta); for Gaussian DP
 * the bounded quantities are known exactly (proofs: best-of-runs, best-of-poisson, best-of-geometric).
 */
#include "acct/acct.h"

#include <math.h>

static double poisson(double mean, double mu, double order) {
  double a = order - 1, delta = acct_gdp_delta(mu, log1p(1 / a));
  return mean * delta + (log(mean) - log1p(-exp(-mean))) / a;
}

static double geometric(double mean, double mu, double order) {
  double log_more = log(mean) + base_pnorm_log(base_qnorm(1 / mean) + mu);
  return log(mean) / (order - 1) + 2 * log_more;
}

double acct_selection_rdp(const struct acct_selection *s, double order) {
  double more = s->law == ACCT_POISSON_RUNS ? poisson(s->mean, s->mu, order) : geometric(s->mean, s->mu, order);
  return order * s->mu * s->mu / 2 + more;
}
