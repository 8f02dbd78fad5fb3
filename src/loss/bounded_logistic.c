/*
 * Logistic loss whose slope is at most c, 0.51 <= c < 1; y in {-1, 1}. With h = c - 1/2, k = 1 / (4 h),
 * q = h / (1 + k) and m = y t:
 *
 *   l = c e^-m - q e^(-(1 + k) m) for m >= 0,   c - q - c m - (h / k) (1 - e^(k m)) for m < 0.
 *
 * l' = -y s(m) with s(m) = (c - h e^(-k |m|)) e^-max(m, 0), 0 < s < c. As s(m) = e^-m s(-m), no other t has a smaller
 * expected loss than the true log-odds: probabilities are those of the logistic loss.
 *
 *   l'' = c e^-m - (c - 1/4) e^(-(1 + k) m) for m >= 0,   e^(k m) / 4 for m < 0,
 *
 * is at most c k / (1 + k) (c / (c + k / 4))^(1 / k), where its derivative is zero; |l'''| <= k / 4, at m = 0, where
 * both sides agree as h k = 1/4 (proofs: bounded-slope).
 *
 * Errors: e^-a has a relative error of u (1 + 2.8 (e^a - 1)) for a <= 0.34 and of 3 u beyond (loss/exp.h), k m is
 * rounded twice, and errors of the two parts of a difference add. In total the error of l is less than
 * 7 u (c - q + c |m|), that of l' 4 u c and that of l'' 10 u times its bound.
 */
#include "base/simd.h"
#include "loss/exp.h"
#include "loss/private.h"

#include <math.h>

/* The largest parameter is below 1; 1 means the logistic loss itself. */
#define MOST 0x1.fffffffffffffp-1

#define POWER(c) (1 / (4 * ((c)-0.5)))
#define TAIL(c) (((c)-0.5) / (1 + POWER(c)))

static struct loss_bounds bounds_at(double c) {
  double k = POWER(c);
  return (struct loss_bounds){.lipschitz = c,
                              .curv_upper = c * k / (1 + k) * pow(c / (c + k / 4), 1 / k),
                              .third = k / 4,
                              .at_zero = c - TAIL(c)};
}

/* Without a branch, so that loops over it are vectorised. */
static inline double value_at(double c, double h, double k, double q, double m) {
  double above = (fabs(m) + m) / 2, below = (fabs(m) - m) / 2;
  return exp_minus(above) * (c - q * exp_minus(k * above)) + c * below - h / k * (1 - exp_minus(k * below));
}

/* From m = t_max to m = -t_max. */
static double range(double c, double t_max) {
  double h = c - 0.5, k = POWER(c), q = TAIL(c);
  return value_at(c, h, k, q, -t_max) - value_at(c, h, k, q, t_max);
}

SIMD_CLONES static double sum(double c, size_t n, const double *y, const double *t) {
  double h = c - 0.5, k = POWER(c), q = TAIL(c), total = 0;
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) total += value_at(c, h, k, q, y[i] * t[i]);
  return total;
}

SIMD_CLONES static void values(double c, size_t n, const double *y, const double *t, double *value) {
  double h = c - 0.5, k = POWER(c), q = TAIL(c);
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) value[i] = value_at(c, h, k, q, y[i] * t[i]);
}

SIMD_CLONES static void slopes(double c, size_t n, const double *y, const double *t, double *d1) {
  double h = c - 0.5, k = POWER(c);
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double m = y[i] * t[i], size = fabs(m);
    d1[i] = -y[i] * (m < 0 ? 1 : exp_minus(size)) * (c - h * exp_minus(k * size));
  }
}

SIMD_CLONES void loss_row_slopes(size_t n, const double *y, const double *t, const double *c, double *d1) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double m = y[i] * t[i], size = fabs(m), e = exp_minus(size);
    double bounded = c[i] - (c[i] - 0.5) * exp_minus(POWER(c[i]) * size), logistic = 1 / (1 + e);
    d1[i] = -y[i] * (m < 0 ? 1 : e) * (c[i] < 1 ? bounded : logistic);
  }
}

SIMD_CLONES static void curvatures(double c, size_t n, const double *y, const double *t, double *d2) {
  double k = POWER(c);
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double m = y[i] * t[i], p = exp_minus(k * fabs(m));
    d2[i] = m < 0 ? p / 4 : exp_minus(fabs(m)) * (c - (c - 0.25) * p);
  }
}

/* c = 3/4: h = 1/4 and k = 1. */
const struct loss loss_bounded_logistic = {
    .name = "bounded_logistic",
    .one_sign = 1,
    .parameter = 0.75,
    .least = 0.51,
    .most = MOST,
    .bounds_at = bounds_at,
    .bounds = {.lipschitz = 0.75, .curv_upper = 0.28125, .third = 0.25, .at_zero = 0.625},
    .range = range,
    .sum = sum,
    .values = values,
    .slopes = slopes,
    .curvatures = curvatures,
};
