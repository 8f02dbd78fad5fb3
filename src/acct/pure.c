/* Renyi divergences of Laplace noise and of the worst eps-DP mechanism, randomised response (Mironov 2017). */
#include "acct/private.h"

#include <math.h>

/* log of p e^x + q e^y, p + q = 1, accurately: for small exponents all terms but those of second order cancel. */
static double log_mean_exp(double p, double x, double q, double y) {
  if (fmax(x, y) < 1.0) return log1p(p * expm1(x) + q * expm1(y));
  double top = fmax(x, y);
  return top + log(p * exp(x - top) + q * exp(y - top));
}

double acct_laplace_rdp(double a, double alpha) {
  double second = 0.5 * alpha * a * a; /* the limit of small (alpha - 1/2) a, and always an upper bound */
  if ((alpha + 1.0) * a < 1e-5) return second;
  double x = alpha - 1.0, weights = 2.0 * alpha - 1.0;
  return log_mean_exp(alpha / weights, x * a, x / weights, -alpha * a) / x;
}

double acct_pure_rdp(double eps, double alpha) {
  double second = 0.5 * alpha * eps * eps; /* eps-DP is eps^2/2-zCDP */
  if ((alpha + 1.0) * eps < 1e-5) return second;
  if (alpha * eps > 700.0) return eps; /* the divergence of order infinity */
  double x = (alpha - 1.0) * eps, p = 1.0 / (1.0 + exp(-eps)), q = 1.0 / (1.0 + exp(eps));
  return fmin(log_mean_exp(p, x, q, -x) / (alpha - 1.0), fmin(eps, second));
}
