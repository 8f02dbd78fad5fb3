/*
 * Sigmoid loss l(y, t) = 1 / (1 + exp(y t)), y in {-1, 1}: a smooth, bounded
 * and non-convex surrogate of the 0-1 loss.
 *
 * With s = l: l' = -y s (1 - s), |l'| <= 1/4; l'' = s (1 - s) (1 - 2 s), in
 * absolute value at most 1 / (6 sqrt(3)) and of both signs; |l'''| <= 1/8.
 */
#include "base/simd.h"
#include "loss/exp.h"
#include "loss/private.h"

#include <math.h>

static double range(double none, double t_max) {
  (void)none;
  return tanh(t_max / 2);
}

/* |l''| rises with |t| up to log(2 + sqrt(3)), and is odd. */
static double bend(double t_max) {
  double e = exp_minus(fmin(t_max, log(2 + sqrt(3)))), q = 1 / (1 + e);
  return e * q * q * q * (1 - e) * SLACK;
}

/* l as a function of y t is steepest at 0 and symmetric about it: the largest change is over the interval of this
 * length that is centred there or, where |t| <= t_max does not reach its beginning, comes nearest. */
static double change(double t_max, double step) {
  double from = fmin(t_max, step / 2);
  return (tanh(from / 2) + tanh((step - from) / 2)) / 2 * SLACK;
}

SIMD_CLONES static double sum(double none, size_t n, const double *y, const double *t) {
  (void)none;
  double total = 0;
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) {
    double margin = y[i] * t[i], e = exp_minus(fabs(margin));
    total += (margin < 0 ? 1 : e) / (1 + e);
  }
  return total;
}

SIMD_CLONES static void values(double none, size_t n, const double *y, const double *t, double *value) {
  (void)none;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double margin = y[i] * t[i], e = exp_minus(fabs(margin));
    value[i] = (margin < 0 ? 1 : e) / (1 + e);
  }
}

SIMD_CLONES static void slopes(double none, size_t n, const double *y, const double *t, double *d1) {
  (void)none;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double e = exp_minus(fabs(y[i] * t[i])), q = 1 / (1 + e);
    d1[i] = -y[i] * e * q * q;
  }
}

SIMD_CLONES static void curvatures(double none, size_t n, const double *y, const double *t, double *d2) {
  (void)none;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double margin = y[i] * t[i], e = exp_minus(fabs(margin)), q = 1 / (1 + e);
    d2[i] = (margin < 0 ? -1 : 1) * e * q * q * q * (1 - e);
  }
}

const struct loss loss_sigmoid = {
  .name = "sigmoid",
  .bounds = {.lipschitz = 0.25,
             .curv_lower = 0.09622504486493763, /* 1 / (6 sqrt(3)) */
             .curv_upper = 0.09622504486493763,
             .third = 0.125,
             .at_zero = 0.5,
             .zero_spread = 0,
             .floor = 0},
  .range = range,
  .fall = change,
  .rise = change,
  .bend = bend,
  .sum = sum,
  .values = values,
  .slopes = slopes,
  .curvatures = curvatures,
};
