/*
 * Gaussian differential privacy, exactly (Balle & Wang 2018, theorem 8; Dong,
 * Roth & Su 2022, corollary 1):
 *
 *   delta = Phi(-a) - exp(eps) Phi(-b),  a = eps/mu - mu/2,  b = eps/mu + mu/2.
 *
 * As b^2 - a^2 = 2 eps, phi(b) = exp(-eps) phi(a), so that with Mills ratio R
 *
 *   delta = phi(a) (R(a) - R(b)) = phi(a) int_a^b -R'(x) dx.
 *
 * The integral of a positive function has no cancellation where b - a = mu is
 * small; elsewhere the difference has none.
 */
#include "acct/private.h"

#include <math.h>

static const double log_sqrt_2pi = 0.91893853320467274178;

static double log_delta_limit(double mu, double eps);
static double log_delta_negative_eps(double mu, double eps);
static double slope_integral(double a, double width);
static double log_delta_difference(double a, double b);
static double log_delta_swapped(double eps, double mu);

double acct_gdp_delta(double mu, double eps) { return exp(acct_gdp_log_delta(mu, eps)); }

double acct_gdp_log_delta(double mu, double eps) {
  if (isnan(mu) || isnan(eps)) return mu + eps;
  if (!(mu > 0.0 && mu < INFINITY && fabs(eps) < INFINITY)) return log_delta_limit(mu, eps);
  if (eps < 0.0) return log_delta_negative_eps(mu, eps);
  double a = eps / mu - 0.5 * mu;
  if (mu > 0.5 * fmax(1.0, a)) return log_delta_difference(a, a + mu);
  return log(slope_integral(a, mu)) - 0.5 * a * a - log_sqrt_2pi;
}

double acct_gdp_epsilon(double mu, double delta) {
  if (isnan(mu) || isnan(delta)) return mu + delta;
  if (mu == 0.0 || delta >= 1.0) return 0.0;
  if (!(delta > 0.0 && mu > 0.0 && mu < INFINITY)) return INFINITY;
  struct acct_target target = {log_delta_swapped, mu, acct_target_log(delta)};
  if (acct_meets(&target, 0.0)) return 0.0;
  /* from Phi(-a) <= exp(-a^2 / 2) / 2 */
  double good = 0.5 * mu * mu + mu * sqrt(-2.0 * target.log_delta_max);
  return acct_smallest(&target, good);
}

double acct_gdp_mu(double eps, double delta) {
  if (isnan(eps) || isnan(delta)) return eps + delta;
  if (delta >= 1.0 || eps == INFINITY) return INFINITY;
  if (!(delta > 0.0 && eps >= 0.0)) return 0.0;
  struct acct_target target = {acct_gdp_log_delta, eps, acct_target_log(delta)};
  /* The bound above, solved for mu; and delta(0) <= mu / sqrt(2 pi). */
  double a = sqrt(-2.0 * target.log_delta_max);
  double guess = 2.0 * eps / (a + sqrt(a * a + 2.0 * eps));
  return acct_largest(&target, fmax(guess, 2.5 * delta));
}

static double log_delta_swapped(double eps, double mu) { return acct_gdp_log_delta(mu, eps); }

/* A negative mu stands for no guarantee. */
static double log_delta_limit(double mu, double eps) {
  if (mu < 0.0 || mu == INFINITY || eps == -INFINITY) return 0.0;
  if (eps == INFINITY) return -INFINITY;
  return eps < 0.0 ? log(-expm1(eps)) : -INFINITY; /* mu = 0: the two distributions are equal */
}

/* The pair is symmetric: delta(eps) = 1 - exp(eps) (1 - delta(-eps)). */
static double log_delta_negative_eps(double mu, double eps) {
  return log(-expm1(eps) + exp(eps + acct_gdp_log_delta(mu, -eps)));
}

/* int_a^(a + width) -R'(x) dx by ten Gauss-Legendre points: the relative error
 * is below 1e-17 for width <= max(1, a) / 2. */
static double slope_integral(double a, double width) {
  static const double node[5] = {0.1488743389816312109, 0.4333953941292471908, 0.6794095682990244062,
                                 0.8650633666889845107, 0.9739065285171717201};
  static const double weight[5] = {0.2955242247147528702, 0.2692667193099963551, 0.2190863625159820440,
                                   0.1494513491505805931, 0.0666713443086881376};
  double half = 0.5 * width, middle = a + half, sum = 0.0;
  for (int i = 0; i < 5; i++) {
    double at = half * node[i];
    sum += weight[i] * (acct_mills_slope(middle - at) + acct_mills_slope(middle + at));
  }
  return half * sum;
}

static double log_delta_difference(double a, double b) {
  double log_phi = -0.5 * a * a - log_sqrt_2pi;
  if (a > 0.0) return log_phi + log(acct_mills(a) - acct_mills(b));
  /* Here delta may be near one: log1p of its complement. */
  return log1p(-(base_pnorm(a) + exp(log_phi) * acct_mills(b)));
}
