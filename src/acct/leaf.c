/*
 * Renyi divergences of single releases, for the worst neighbours of each.
 * Gaussian: Mironov 2017. Exponential mechanism: by its bounded range (Dong
 * et al. 2020); the worst distribution of a likelihood ratio in [R e^-a, R] has two
 * points, and R is optimised here.
 */
#include "acct/private.h"

#include <float.h>
#include <math.h>

static double exponential_rdp(double range, double alpha);
static double svt_zcdp(const struct acct_leaf *leaf);

double acct_leaf_rdp(const struct acct_leaf *leaf, double alpha) {
  double one = 0.0;
  switch (leaf->kind) {
  case ACCT_GAUSSIAN:
    one = 0.5 * alpha * leaf->a * leaf->a;
    break;
  case ACCT_LAPLACE:
    one = acct_laplace_rdp(leaf->a, alpha);
    break;
  case ACCT_PURE:
    one = acct_pure_rdp(leaf->a, alpha);
    break;
  case ACCT_EXPONENTIAL:
    one = exponential_rdp(leaf->a, alpha);
    break;
  case ACCT_SVT_LAPLACE:
  case ACCT_SVT_GAUSSIAN:
    one = acct_svt_rdp(leaf, alpha);
    break;
  }
  return leaf->times * one;
}

double acct_leaves_rdp(const struct acct_leaf *leaf, size_t leaves, double alpha) {
  double sum = 0.0;
  for (size_t j = 0; j < leaves; j++) sum += acct_leaf_rdp(&leaf[j], alpha);
  return sum;
}

double acct_leaf_zcdp(const struct acct_leaf *leaf) {
  double a = leaf->a, one = 0.0;
  switch (leaf->kind) {
  case ACCT_GAUSSIAN:
    one = 0.5 * a * a;
    break;
  /* a + exp(-a) - 1 is the divergence of order one, where D_alpha / alpha is largest. */
  case ACCT_LAPLACE:
    one = a < 1e-4 ? 0.5 * a * a : a + expm1(-a);
    break;
  case ACCT_PURE:
    one = a * tanh(0.5 * a);
    break;
  case ACCT_EXPONENTIAL:
    one = fmin(a * a / 8.0, a * tanh(0.5 * a));
    break;
  case ACCT_SVT_LAPLACE:
  case ACCT_SVT_GAUSSIAN:
    one = svt_zcdp(leaf);
    break;
  }
  return leaf->times * one;
}

static double exponential_rdp(double range, double alpha) {
  double zcdp = alpha * range * range / 8.0;
  if (alpha * range < 1e-4) return zcdp;
  /* The moment is R^(alpha - 1) (A - B R) / (1 - e^-range). */
  double a = -expm1(-range * alpha), b = exp(-range) * -expm1(-range * (alpha - 1.0));
  double log_r = fmin(fmax(log((alpha - 1.0) * a / (alpha * b)), 0.0), range);
  double power = (alpha - 1.0) * log_r, first = log(a - b * exp(log_r)), second = log(-expm1(-range));
  double rounding = 4.0 * DBL_EPSILON * (2.0 + alpha + power + fabs(first) + fabs(second));
  double log_moment = power + first - second + rounding; /* rounding matters where the moment is nearly one */
  return fmin(fmin(log_moment / (alpha - 1.0), zcdp), acct_pure_rdp(range, alpha));
}

/* sup over alpha of D_alpha / alpha. D_alpha increases, so D / alpha on
 * [low, high] is at most D_high / low; beyond the last order D <= eps. */
static double svt_zcdp(const struct acct_leaf *leaf) {
  struct acct_leaf once = *leaf;
  once.times = 1.0;
  double worst = 0.0, low = 1.0;
  if (leaf->kind == ACCT_SVT_GAUSSIAN) return INFINITY; /* a divergence at one order bounds no larger order */
  double last = 1.0 + 60.0 / leaf->a;
  for (double high = 1.02; low < last; high *= 1.02) {
    worst = fmax(worst, acct_svt_rdp(&once, high) / low);
    low = high;
  }
  return fmin(fmax(worst, leaf->a / low), leaf->a * tanh(0.5 * leaf->a));
}
