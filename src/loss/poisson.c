/*
 * Poisson loss of counts, divided by their largest value: the response is y = count / max in [0, 1], the parameter max,
 *
 *   l = e^t / max - y t   for t <= log(max),   1 + t - log(max) - y t   beyond,
 *
 * The expected count is e^t at the minimiser of the expected loss: no count is above max, so the linear part changes no
 * minimiser. A response below 0, which no record has, counts as 0.
 *
 * l' = min(e^t / max, 1) - y, |l'| <= 1; l'' is e^t / max below log(max), at most 1, and 0 beyond, and does not exist
 * between: no Lipschitz constant of l'', third is infinite. l(y, 0) = 1 / max. l is linear in y, so its least and
 * largest values are at y = 0, where it rises, and y = 1, where it falls to 1 - log(max) and stays there.
 *
 * Errors: with a = max(log(max) - t, 0), whose rounding changes e^-a by less than u, e^-a has an error of at most 4 u
 * (loss/exp.h); e^-a + max(t - log(max), 0) is at most 1 / max + |t|, and y t, the difference and the sums have one
 * rounding each.
 */
#include "base/simd.h"
#include "loss/exp.h"
#include "loss/private.h"

#include <math.h>

#define MOST_COUNT 1e6

static struct loss_bounds bounds_at(double max) {
  return (struct loss_bounds){.lipschitz = 1,
                              .curv_lower = 0,
                              .curv_upper = 1,
                              .third = INFINITY,
                              .at_zero = exp(-log(max)),
                              .zero_spread = 0,
                              .floor = fmin(0, 1 - log(max))};
}

/* max(x, 0); without a branch, so that loops over it are vectorised. */
SIMD_INLINE double positive(double x) { return (x + fabs(x)) / 2; }

/* top: log(max) */
SIMD_INLINE double value_at(double top, double y, double t) {
  return exp_minus(positive(top - t)) + positive(t - top) - positive(y) * t;
}

static double range(double max, double t_max) {
  double top = log(max), largest = fmax(value_at(top, 0, t_max), value_at(top, 1, -t_max));
  return largest - fmin(value_at(top, 0, -t_max), value_at(top, 1, fmin(t_max, top)));
}

SIMD_CLONES static double sum(double max, size_t n, const double *y, const double *t) {
  double total = 0, top = log(max);
  SIMD_SUM(total)
  for (size_t i = 0; i < n; i++) total += value_at(top, y[i], t[i]);
  return total;
}

SIMD_CLONES static void values(double max, size_t n, const double *y, const double *t, double *value) {
  double top = log(max);
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) value[i] = value_at(top, y[i], t[i]);
}

SIMD_CLONES static void slopes(double max, size_t n, const double *y, const double *t, double *d1) {
  double top = log(max);
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) d1[i] = exp_minus(positive(top - t[i])) - positive(y[i]);
}

SIMD_CLONES static void curvatures(double max, size_t n, const double *y, const double *t, double *d2) {
  double top = log(max);
  (void)y;
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) d2[i] = t[i] <= top ? exp_minus(positive(top - t[i])) : 0;
}

const struct loss loss_poisson = {
    .name = "poisson",
    .residual = 1,
    .parameter = 1,
    .least = 1,
    .most = MOST_COUNT,
    .bounds_at = bounds_at,
    .bounds = {.lipschitz = 1, .curv_upper = 1, .third = INFINITY, .at_zero = 1},
    .range = range,
    .sum = sum,
    .values = values,
    .slopes = slopes,
    .curvatures = curvatures,
};
