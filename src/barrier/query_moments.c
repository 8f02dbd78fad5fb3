/*
 * Column moments of the clipped rows r, |r| <= 1: the means of r_j and, for columns with a bound u_j > 0, those of
 * f_j^2 / (2 u_j), f_j = min(|r_j|, u_j); with an intercept also the mean of r_0, from which the fraction of usable
 * records follows, as r_0 is 1 / radius where a row is not clipped, and zero for a null record.
 *
 * Neither second moments nor r_0 add to the sensitivity. With a = r - r', b = r + r': |f_j - f'_j| <= |b_j| and
 * f_j + f'_j <= 2 u_j, so that (f_j^2 - f'_j^2)^2 / (4 u_j^2) <= b_j^2, and the change by a replaced record has the
 * squared norm |a|^2 + |b|^2 = 2 |r|^2 + 2 |r'|^2 <= 4. For a null record r' = 0, and f_j^4 / (4 u_j^2) <= r_j^2 / 4:
 * at most 5/4 (proofs: sensitivity-moments).
 *
 * The weighted moments are means of v times these, v in [0, 1] the record's weight. Their change is a convex function
 * of the two weights, so that it is largest where they are zero or one.
 */
#include "barrier/private.h"

#include <math.h>

static size_t width(const struct task *task) { return task->model->columns + task->model->side; }

static void add_tile(const struct task *task, const struct data_block *tile, const double *weight, double *part,
                     double *factor, double *sum) {
  size_t p = tile->data->p;
  for (size_t i = 0; i < tile->rows; i++) {
    factor[i] = data_share(tile, i) * (weight ? weight[i] : 1);
    part[i] = factor[i] * tile->clip[i];
  }
  data_matvec_t_add(tile, part, sum);
  data_moments_add(tile, factor, task->ask->most, sum + p);
  for (size_t i = 0; tile->data->intercept && i < tile->rows; i++) sum[2 * p] += part[i];
}

static void add(const struct task *task, const struct data_block *b, int weighted, double *const *work, double *sum) {
  size_t most = tile_gradient(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    add_tile(task, &tile, weighted ? tile.weight : NULL, work[U], work[V], sum);
  }
}

static void add_moments(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  add(task, b, 0, work, sum);
}

static void add_weighted(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  add(task, b, 1, work, sum);
}

static int check(const struct scope *s, const struct ask *a) {
  size_t p = s->oracle->engine.rows->p;
  if (p == 0) return BASE_ERR_ARGUMENT;
  for (size_t j = 0; j < p; j++) {
    if (!(a->most[j] >= 0) || !(a->most[j] <= 1)) return BASE_ERR_ARGUMENT;
  }
  return BASE_OK;
}

static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  (void)a;
  (void)i;
  return bounds_sensitivity(s, scope_replaces(s) ? 2 : sqrt(1.25), bounds_rounding(s, 0, 0, sqrt(1.25)));
}

#define MOMENTS(add, word)                                                                                             \
  {                                                                                                                    \
    .name = "moments", .sum = {SUM_VECTOR, width, add, NULL, word}, .mechanism = &mechanism_gaussian,                  \
    .keep = KEEP_NOT, .multi_output = 1, .part = PART_NONE, .in_coordinates = COORDINATES_NONE, .check = check,        \
    .sensitivity = sensitivity                                                                                         \
  }

const struct query query_moments = MOMENTS(add_moments, "moments");
const struct query query_weighted_moments = MOMENTS(add_weighted, "weighted moments");
