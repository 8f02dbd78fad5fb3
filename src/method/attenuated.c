/*
 * The means of independent numbers x_j given noisy and attenuated ones,
 *
 *   y_j = f_j x_j + N(0, v_j),    x_j ~ N(0, q_j + t^2 p_j).
 *
 * t is unknown: it is zero or one of several values, each twice the one before, with equal probabilities. The mean for
 * one t is f_j (q_j + t^2 p_j) / s_j y_j, s_j = f_j^2 (q_j + t^2 p_j) + v_j, and the logarithm of its likelihood
 * -sum_j (y_j^2 / s_j + log s_j) / 2, without a constant. The result is the mean of these means, with the likelihoods
 * as weights.
 */
#include "method/private.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

static double variance(const struct attenuated *a, double t, size_t j) { return a->known[j] + t * t * a->prior[j]; }

static double total(const struct attenuated *a, double t, size_t j) {
  return a->factor[j] * a->factor[j] * variance(a, t, j) + a->noise[j];
}

static double likelihood(const struct attenuated *a, double t, const double *y) {
  double sum = 0;
  for (size_t j = 0; j < a->dim; j++) sum += y[j] * (y[j] / total(a, t, j)) + log(total(a, t, j));
  return -sum / 2;
}

static double level(const struct attenuated *a, int i) { return i < 0 ? 0 : ldexp(a->least, i); }

void attenuated_mean(const struct attenuated *a, const double *y, double *x) {
  double most = -INFINITY, weights = 0;
  memset(x, 0, a->dim * sizeof(double));
  for (int i = -1; i < a->levels; i++) most = fmax(most, likelihood(a, level(a, i), y));
  for (int i = -1; i < a->levels; i++) {
    double t = level(a, i), weight = exp(likelihood(a, t, y) - most);
    weights += weight;
    for (size_t j = 0; j < a->dim; j++) x[j] += weight * a->factor[j] * variance(a, t, j) / total(a, t, j) * y[j];
  }
  la_scale(a->dim, 1 / weights, x);
}
