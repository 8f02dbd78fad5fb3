/*
 * Squared error of a numeric response y in [-1, 1]: l = (t - y)^2 / 2, l' = t - y, l'' = 1.
 *
 * The slope has no bound: lipschitz is infinite, so that every query whose sensitivity needs one is refused. Queries
 * about residuals clip the slope themselves (barrier/query_residual.c). The values at t = 0 lie between 0, at y = 0 as
 * for a null record, and 1/2.
 *
 * Errors: the difference t - y has one relative rounding error, so its square has two, and the product one more.
 */
#include "base/simd.h"
#include "loss/private.h"

#include <math.h>

/* From 0 at t = y to l(-1, T). */
static double range(double none, double t_max) {
  (void)none;
  return (1 + t_max) * (1 + t_max) / 2;
}

SIMD_CLONES static double sum(double none, size_t n, const double *y, const double *t) {
  (void)none;
  double total = 0;
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) total += (t[i] - y[i]) * (t[i] - y[i]) / 2;
  return total;
}

SIMD_CLONES static void values(double none, size_t n, const double *y, const double *t, double *value) {
  (void)none;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) value[i] = (t[i] - y[i]) * (t[i] - y[i]) / 2;
}

SIMD_CLONES static void slopes(double none, size_t n, const double *y, const double *t, double *d1) {
  (void)none;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) d1[i] = t[i] - y[i];
}

static void curvatures(double none, size_t n, const double *y, const double *t, double *d2) {
  (void)none;
  (void)y;
  (void)t;
  for (size_t i = 0; i < n; i++) d2[i] = 1;
}

const struct loss loss_squared = {
    .name = "squared",
    .residual = 1,
    .bounds = {.lipschitz = INFINITY,
               .curv_lower = 0,
               .curv_upper = 1,
               .third = 0,
               .at_zero = 0.5,
               .zero_spread = 0.5,
               .floor = 0},
    .range = range,
    .sum = sum,
    .values = values,
    .slopes = slopes,
    .curvatures = curvatures,
};
