/*
 * Huber's loss (Huber 1964) of a numeric response y in [-1, 1], with u = t - y:
 *
 *   l = u^2 / 2 for |u| <= c,   c |u| - c^2 / 2 beyond.
 *
 * l' = min(max(u, -c), c), |l'| <= c; l'' is 1 inside and 0 outside, and does
 * not exist at |u| = c: no Lipschitz constant of l'', third is infinite. The
 * values at t = 0 depend on y: they lie between 0, at y = 0 as for a null
 * record, and l(1, 0).
 *
 * Errors: the difference u has one relative rounding error; with m =
 * min(|u|, c), l = m (|u| - m / 2) has relative condition 2 in |u| and three
 * more roundings, together 5 u; l' has one rounding.
 */
#include "base/simd.h"
#include "loss/private.h"

#include <math.h>

/* l at a residual of this size; used below for bounds. */
#define AT(c, size) ((size) <= (c) ? (size) * (size) / 2 : (c) * ((size) - (c) / 2))

#define BOUNDS(c)                                                                                                      \
  {                                                                                                                    \
    .lipschitz = (c), .curv_lower = 0, .curv_upper = 1, .third = INFINITY, .at_zero = AT(c, 1.0),                      \
    .zero_spread = AT(c, 1.0), .floor = 0                                                                              \
  }

static struct loss_bounds bounds_at(double c) { return (struct loss_bounds)BOUNDS(c); }

/* From 0 at t = y to l(-1, T). */
static double range(double c, double t_max) { return AT(c, 1 + t_max); }

SIMD_CLONES static double sum(double c, size_t n, const double *y, const double *t) {
  double total = 0;
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) {
    double size = fabs(t[i] - y[i]), m = size < c ? size : c;
    total += m * (size - m / 2);
  }
  return total;
}

SIMD_CLONES static void values(double c, size_t n, const double *y, const double *t, double *value) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double size = fabs(t[i] - y[i]), m = size < c ? size : c;
    value[i] = m * (size - m / 2);
  }
}

SIMD_CLONES static void slopes(double c, size_t n, const double *y, const double *t, double *d1) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) {
    double u = t[i] - y[i], least = u > -c ? u : -c;
    d1[i] = least < c ? least : c;
  }
}

SIMD_CLONES static void curvatures(double c, size_t n, const double *y, const double *t, double *d2) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) d2[i] = fabs(t[i] - y[i]) <= c ? 1 : 0;
}

const struct loss loss_huber = {
    .name = "huber",
    .parameter = 0.2,
    .least = 0.001,
    .most = 2,
    .bounds_at = bounds_at,
    .bounds = BOUNDS(0.2),
    .range = range,
    .sum = sum,
    .values = values,
    .slopes = slopes,
    .curvatures = curvatures,
};
