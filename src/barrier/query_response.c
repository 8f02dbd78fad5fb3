/*
 * Moments of a numeric response: the sums of v (1, t, t^2 / 2) over the records that are not null, t the response
 * clipped to [-1, 1], v in [0, 1] the record's weight.
 *
 * The change is a convex function of the two weights, so that it is largest where they are zero or one. With a = t -
 * t', b = t + t' and both one, its square is a^2 + (ab)^2 / 4 <= a^2 + b^2 = 2 t^2 + 2 t'^2 <= 4, because |a| <= 2;
 * with one of them it is 1 + t^2 + t^4 / 4 <= 9/4. So 2 / n, attained at t = 1, t' = -1, and zero-out 3/2 / n (proofs:
 * sensitivity-response).
 */
#include "barrier/private.h"

#include <math.h>

static size_t width(const struct task *task) {
  (void)task;
  return 3;
}

static void add(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  (void)task;
  (void)work;
  for (size_t i = 0; i < b->rows; i++) {
    double v = data_share(b, i) * data_weight(b, i), t = fmax(fmin(b->y[i], 1), -1);
    sum[0] += v;
    sum[1] += v * t;
    sum[2] += v * t * t / 2;
  }
}

static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  (void)a;
  (void)i;
  return bounds_sensitivity(s, scope_replaces(s) ? 2 : 1.5, bounds_rounding(s, 0, 0, 1.5));
}

const struct query query_response = {.name = "response",
                                     .sum = {SUM_VECTOR, width, add, NULL, "response"},
                                     .mechanism = &mechanism_gaussian,
                                     .keep = KEEP_NOT,
                                     .part = PART_NONE,
                                     .in_coordinates = COORDINATES_NONE,
                                     .sensitivity = sensitivity};
