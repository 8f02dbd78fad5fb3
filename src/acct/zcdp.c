/*
 * Zero-concentrated differential privacy to (eps, delta) (Canonne, Kamath &
 * Steinke 2020, corollary 13). With x = alpha - 1 > 0,
 *
 *   log delta <= h(x) = x ((x + 1) rho - eps) - x log(1 + 1/x) - log(1 + x),
 *   h'(x) = (2 x + 1) rho - eps - log(1 + 1/x),
 *
 * and h' increases: the minimum is where h' is zero. Any x gives a valid bound,
 * so that an inexact minimum errs on the safe side.
 */
#include "acct/private.h"

#include <math.h>

static double log_delta_limit(double rho, double eps);
static double best_order(double rho, double eps);
static double log_delta_at(double x, double rho, double eps);
static double log_delta_swapped(double eps, double rho);

double acct_zcdp_delta(double rho, double eps) { return exp(acct_zcdp_log_delta(rho, eps)); }

double acct_zcdp_log_delta(double rho, double eps) {
  if (isnan(rho) || isnan(eps)) return rho + eps;
  if (!(rho > 0.0 && rho < INFINITY && fabs(eps) < INFINITY)) return log_delta_limit(rho, eps);
  return fmin(log_delta_at(best_order(rho, eps), rho, eps), 0.0);
}

double acct_zcdp_epsilon(double rho, double delta) {
  if (isnan(rho) || isnan(delta)) return rho + delta;
  if (rho == 0.0 || delta >= 1.0) return 0.0;
  if (!(delta > 0.0 && rho > 0.0 && rho < INFINITY)) return INFINITY;
  struct acct_target target = {log_delta_swapped, rho, acct_target_log(delta)};
  if (acct_meets(&target, 0.0)) return 0.0;
  /* Never smaller than the result: Bun & Steinke 2016, proposition 1.3. */
  double good = rho + 2.0 * sqrt(-rho * target.log_delta_max);
  return acct_smallest(&target, good);
}

double acct_zcdp_rho(double eps, double delta) {
  if (isnan(eps) || isnan(delta)) return eps + delta;
  if (delta >= 1.0 || eps == INFINITY) return INFINITY;
  if (!(delta > 0.0 && eps >= 0.0)) return 0.0;
  struct acct_target target = {acct_zcdp_log_delta, eps, acct_target_log(delta)};
  double log_inverse = -target.log_delta_max;
  double root = eps / (sqrt(eps + log_inverse) + sqrt(log_inverse)); /* the same bound, solved for rho */
  return acct_largest(&target, fmax(root * root, delta * delta));
}

static double log_delta_swapped(double eps, double rho) { return acct_zcdp_log_delta(rho, eps); }

static double log_delta_limit(double rho, double eps) {
  if (rho < 0.0 || rho == INFINITY || eps == -INFINITY) return 0.0;
  if (eps == INFINITY) return -INFINITY;
  return eps < 0.0 ? log(-expm1(eps)) : -INFINITY; /* rho = 0: the two distributions are equal */
}

static double log_delta_at(double x, double rho, double eps) {
  return x * ((x + 1.0) * rho - eps) - x * log1p(1.0 / x) - log1p(x);
}

/*
 * The root of h', by Newton's method in log x inside a bracket. As
 * log(1 + 1/x) <= 1/x, the root has 2 x rho <= eps + 1/x: it is at most eps / rho
 * or at most 1 / sqrt(rho), and it is never much smaller than the larger one,
 * from where log x would fall by one in an iteration.
 */
static double best_order(double rho, double eps) {
  /* exp(-700) already gives delta = 1, exp(700) is near the largest double. */
  double low = fmax(-700.0, fmin(0.0, eps - 3.0 * rho));
  double high = fmin(700.0, fmax(fmax(0.0, -0.5 * log(rho)), eps > 0.0 ? log(eps) - log(rho) : 0.0));
  double u = high;
  for (int i = 0; i < 100 && high - low > 1e-12 * (1.0 + fabs(u)); i++) {
    double x = exp(u);
    double slope = (2.0 * x + 1.0) * rho - eps - log1p(1.0 / x);
    if (slope > 0.0) {
      high = u;
    } else {
      low = u;
    }
    double next = u - slope / (2.0 * x * rho + 1.0 / (1.0 + x));
    if (fabs(next - u) <= 1e-10 * (1.0 + fabs(u))) return exp(next);
    u = next > low && next < high ? next : 0.5 * (low + high);
  }
  return exp(u);
}
