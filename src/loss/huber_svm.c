/*
 * Huberised hinge loss (Chaudhuri, Monteleoni & Sarwate 2011), y in {-1, 1},
 * 0 < h <= 1. With v = 1 - y t:
 *
 *   l = 0 for v <= -h,   (h + v)^2 / (4 h) for |v| < h,   v for v >= h,
 *
 * that is, with s = min(max((v + h) / (2 h), 0), 1), l = h s^2 + max(v - h, 0).
 * l' = -y s, |l'| <= 1; l'' is 1 / (2 h) inside and 0 outside, and does not exist
 * at |v| = h: no Lipschitz constant of l'', third is infinite. As h <= 1,
 * l(y, 0) = 1; so is the loss of a null record, whose y is 0.
 *
 * Errors: v is rounded once, by at most h u where |v| <= h, v + h by at most 2 h u
 * and the quotient by u: s has an error below 3 u, which gives 8 u h in h s^2. Where
 * v > h, s = 1, and l has four roundings of at most u (1 + |t|) each.
 */
#include "base/simd.h"
#include "loss/private.h"

#include <math.h>

#define BOUNDS(h)                                                                                                      \
  {                                                                                                                    \
    .lipschitz = 1, .curv_lower = 0, .curv_upper = 0.5 / (h), .third = INFINITY, .at_zero = 1, .zero_spread = 0,       \
    .floor = 0                                                                                                         \
  }

static struct loss_bounds bounds_at(double h) { return (struct loss_bounds)BOUNDS(h); }

/* s; exactly 0 and 1 outside. */
static inline double slope(double h, double v) {
  double least = v > -h ? v : -h, inside = least < h ? least : h;
  return (inside + h) / (2 * h);
}

/* Without a branch, so that loops over it are vectorised. */
static inline double value_at(double h, double v) {
  double s = slope(h, v), beyond = v - h;
  return h * s * s + (beyond + fabs(beyond)) / 2;
}

static double range(double h, double t_max) { return value_at(h, 1 + t_max) - value_at(h, 1 - t_max); }

SIMD_CLONES static double sum(double h, size_t n, const double *y, const double *t) {
  double total = 0;
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) total += value_at(h, 1 - y[i] * t[i]);
  return total;
}

SIMD_CLONES static void values(double h, size_t n, const double *y, const double *t, double *value) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) value[i] = value_at(h, 1 - y[i] * t[i]);
}

SIMD_CLONES static void slopes(double h, size_t n, const double *y, const double *t, double *d1) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) d1[i] = -y[i] * slope(h, 1 - y[i] * t[i]);
}

SIMD_CLONES static void curvatures(double h, size_t n, const double *y, const double *t, double *d2) {
  double inverse = 0.5 / h;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) d2[i] = fabs(1 - y[i] * t[i]) < h ? inverse : 0;
}

const struct loss loss_huber_svm = {
    .name = "huber_svm",
    .one_sign = 1,
    .parameter = 0.5,
    .least = 0.01,
    .most = 1,
    .bounds_at = bounds_at,
    .bounds = BOUNDS(0.5),
    .range = range,
    .sum = sum,
    .values = values,
    .slopes = slopes,
    .curvatures = curvatures,
};
