/*
 * One minimiser of a perturbed objective together with Gaussian releases, mu^2 in total, of which the minimiser's own
 * is at least share * mu^2. Its privacy loss is at most the largest of up to four numbers, each a constant plus the
 * loss of a Gaussian release; with the tails of all four added,
 *
 *   delta(eps) <= sum of the delta of Gaussian DP at eps - shift_i with mu_i
 *
 * (proofs: objective-perturbation). Slopes of one sign: at both records' largest slope the shift is top and mu_i all of
 * mu; at one record's alone a quarter of the minimiser's mu^2 remains, and at neither nothing of it; the shift grows by
 * tilt where the first record's slope is zero. Slopes of two signs: two sums and two differences of the records, of
 * which one kind has at most half of the minimiser's mu^2.
 */
#include "acct/private.h"

#include <float.h>
#include <math.h>

/* delta at eps - shift, of all Gaussian releases but this part of the minimiser's; rounded up. */
static double part(double mu, double eps, const struct acct_perturbed *p, double without, double shift) {
  double at = eps - shift - 4 * DBL_EPSILON * (eps + shift);
  return acct_gdp_delta(mu * sqrt(1 - p->share * without) * (1 + 4 * DBL_EPSILON), at);
}

double acct_perturbed_delta(double mu, double eps, const struct acct_perturbed *p) {
  if (!(mu > 0)) return 0;
  if (!p->one_sign) return 2 * (part(mu, eps, p, 0, p->top) + part(mu, eps, p, 0.5, p->top));
  double flat = p->top + p->tilt;
  return part(mu, eps, p, 0, p->top) + part(mu, eps, p, 0.75, p->top) + part(mu, eps, p, 0.75, flat) +
         part(mu, eps, p, 1, flat);
}

static int meets(double mu, double eps, double delta, const struct acct_perturbed *p) {
  return acct_perturbed_delta(mu, eps, p) <= delta * (1 - 64 * DBL_EPSILON);
}

/* Bisects 200 times between good, which meets the target, and bad for the unknown, which is one of mu and eps. */
static double bisect(double *unknown, double good, double bad, const double *mu, const double *eps, double delta,
                     const struct acct_perturbed *p) {
  for (int i = 0; i < 200; i++) {
    *unknown = good + (bad - good) / 2;
    if (meets(*mu, *eps, delta, p)) {
      good = *unknown;
    } else {
      bad = *unknown;
    }
  }
  return good;
}

double acct_perturbed_mu(double eps, double delta, const struct acct_perturbed *p) {
  double mu, bad = 2 * acct_gdp_mu(fmax(eps - p->top, 0), delta);
  return bisect(&mu, 0, bad, &mu, &eps, delta, p);
}

/* No part has a larger mu or shift than the four of the first guess. */
double acct_perturbed_epsilon(double mu, double delta, const struct acct_perturbed *p) {
  double eps, good = (p->top + p->tilt + acct_gdp_epsilon(mu, delta / 5)) * (1 + 0x1p-40);
  return bisect(&eps, good, 0, &mu, &eps, delta, p);
}
