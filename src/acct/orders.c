/*
 * From a curve of Renyi divergences to eps and delta, by the conversion of
 * Canonne, Kamath & Steinke 2020, proposition 12:
 *
 *   eps = R(alpha) + log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1).
 *
 * Every order gives a valid bound, so the search (a grid, geometric in
 * alpha - 1, and finer grids around the best order) may stop anywhere.
 */
#include "acct/private.h"

#include <math.h>

enum { GRID = 61, REFINEMENTS = 4, FINE = 9 };
static const double first_order = 1e-7, last_order = 1e8; /* alpha - 1 */

enum wanted { WANT_EPSILON, WANT_LOG_DELTA };

static int search(const struct acct_curve *curve, enum wanted want, double given, double *value, double *order);
static double convert(enum wanted want, double given, double order, double rdp);

int acct_curve_epsilon(const struct acct_curve *curve, double delta, double *eps, double *order) {
  int status = search(curve, WANT_EPSILON, log(delta), eps, order);
  *eps = fmax(*eps, 0.0);
  return status;
}

int acct_curve_log_delta(const struct acct_curve *curve, double eps, double *log_delta, double *order) {
  int status = search(curve, WANT_LOG_DELTA, eps, log_delta, order);
  *log_delta = fmin(*log_delta, 0.0);
  return status;
}

double acct_rdp_budget(double order, double eps, double delta) {
  double x = order - 1.0;
  return fmax(eps + log1p(1.0 / x) + (log(delta) + log1p(x)) / x, 0.0);
}

static int search(const struct acct_curve *curve, enum wanted want, double given, double *value, double *order) {
  double at[GRID], rdp[GRID], low = log(first_order), high = log(last_order);
  *value = INFINITY;
  *order = 1.0 + last_order;
  size_t n = GRID;
  for (int round = 0; round <= REFINEMENTS; round++, n = FINE) {
    double width = (high - low) / (double)(n - 1), best = low;
    for (size_t i = 0; i < n; i++) at[i] = 1.0 + exp(low + width * (double)i);
    int status = curve->at(curve->context, n, at, rdp);
    if (status) return status;
    for (size_t i = 0; i < n; i++) {
      double found = convert(want, given, at[i], rdp[i]);
      if (!(found < *value)) continue;
      *value = found;
      *order = at[i];
    }
    best = log(*order - 1.0);
    low = best - width;
    high = best + width;
  }
  return BASE_OK;
}

static double convert(enum wanted want, double given, double order, double rdp) {
  double x = order - 1.0;
  if (want == WANT_EPSILON) return rdp - log1p(1.0 / x) - (given + log1p(x)) / x;
  return acct_order_log_delta(order, rdp, given);
}

double acct_order_log_delta(double order, double rdp, double eps) {
  double x = order - 1.0;
  return x * (rdp - eps - log1p(1.0 / x)) - log1p(x);
}
