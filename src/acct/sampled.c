/* The releases on a batch that a cost allows, before amplification. */
#include "acct/acct.h"

#include <float.h>
#include <math.h>

#define MOST_TRIALS 60
#define ACCURACY 1e-9 /* relative to the cost */

/* Rounded up. */
static double rate_of(const struct acct_sampled *s) { return s->size / s->n * (1 + 0x1p-50); }

static int amplify(const struct acct_sampled *s, double rho, double *cost) {
  const struct acct_leaf leaf = {.kind = ACCT_GAUSSIAN, .a = sqrt(2 * rho), .times = 1};
  const struct acct_round round = {
      .leaf = &leaf,
      .leaves = 1,
      .amplification = s->amplification,
      .rate = rate_of(s),
      .times = 1,
  };
  double divergence = 0;
  int status = acct_rdp_curve(&round, 1, 1, &s->order, &divergence);
  *cost = divergence / s->order;
  return status;
}

/* log of the cost of releases with rho divided by the allowed cost. */
static int excess(const struct acct_sampled *s, double log_rho, double cost, double *value) {
  double there;
  int status = amplify(s, exp(log_rho), &there);
  *value = log(there / cost);
  return status;
}

/* rho is at least the cost (without amplification), and less than the cost over the square of the rate (to first order
 * in rho). Secants of the logarithms; the value of an end that stays is halved (the Illinois method), with occasional
 * bisections. The lower end has been tested to cost no more than allowed. */
int acct_sampled_rho(const struct acct_sampled *s, double cost, double *rho) {
  double low = log(cost) - 1e-14, high = log(cost) + 2 * log(s->n / s->size) + log(2.0), below, above;
  int status = excess(s, low, cost, &below);
  if (status == BASE_OK) status = excess(s, high, cost, &above);
  for (int i = 0, side = 0; i < MOST_TRIALS && status == BASE_OK && below < -ACCURACY; i++) {
    double next = isfinite(above) && i % 4 < 3 ? (low * above - high * below) / (above - below) : (low + high) / 2;
    double there;
    status = excess(s, next, cost, &there);
    if (there <= 0) {
      low = next;
      below = there;
      if (side < 0) above /= 2;
      side = -1;
    } else {
      high = next;
      above = there;
      if (side > 0) below /= 2;
      side = 1;
    }
  }
  *rho = exp(low);
  return status;
}

/* With rate q an eps-DP release is eps'-DP, exp(eps') - 1 = q (exp(eps) - 1), under both relations, and its divergence
 * is min(alpha eps'^2 / 2, eps') (proofs: pure-batches). Rounded down. */
double acct_sampled_eps(const struct acct_sampled *s, double cost) {
  double amplified = fmax(sqrt(2 * cost), s->order * cost) * (1 - 8 * DBL_EPSILON);
  return log1p(expm1(amplified) / rate_of(s)) * (1 - 8 * DBL_EPSILON);
}
