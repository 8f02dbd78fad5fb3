/* The mean loss. */
#include "barrier/private.h"
#include "la/la.h"

#include <math.h>

/* With one output the predictors of a block are processed together, which is faster. */
static void add(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  size_t most = tile_value(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, m->outputs == 1 ? work[T] + start : work[T]);
    if (m->outputs > 1) *sum += model_sum(m, &tile, work[T]);
  }
  if (m->outputs == 1) *sum += model_sum(m, b, work[T]);
}

/* Replace-one: the range of l over |t| <= |w|, over n. Zero-out: at most (L |w| + s) / n, where the null record's loss
 * is l(0, 0) and |l(y, 0) - l(0, 0)| <= s (proofs: sensitivity-value). */
static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = model_bounds(m);
  double norm = la_norm(m->dim, a->at), range = model_range(m, norm);
  double change = scope_replaces(s) ? range : fmin(range, b->lipschitz * norm + b->zero_spread);
  (void)i;
  return bounds_sensitivity(s, change, bounds_rounding(s, b->lipschitz, norm, b->at_zero + b->lipschitz * norm));
}

/* The null record's value, once for each person: model_sum() leaves it out. */
static int finish(const struct scope *s, const struct ask *a, double *mean, double *answer) {
  const struct engine *e = &s->oracle->engine;
  (void)a;
  *answer = e->rows->share ? *mean + model_null(&s->oracle->model) : *mean;
  return BASE_OK;
}

const struct query query_value = {.name = "value",
                                  .sum = {SUM_VECTOR, scope_width_one, add, NULL, "value"},
                                  .mechanism = &mechanism_gaussian,
                                  .keep = KEEP_NOT,
                                  .multi_output = 1,
                                  .part = PART_NONE,
                                  .sensitivity = sensitivity,
                                  .finish = finish};
