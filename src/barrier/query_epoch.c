/* What the leaves of an epoch sum (fresh.c): of each record the gradient and the Hessian at the epoch's start, and then
 * differences of gradients. One pass each, as a record that is read on is read once. */
#include "barrier/private.h"

/* ---- gradient and Hessian ---- */

static size_t width_start(const struct task *task) { return task->model->dim * (1 + task->model->dim); }

static void add_start(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  double *t = work[T], *weight = work[V], *scaled = work[WEIGHT];
  for (size_t start = 0; start < b->rows; start += MATRIX_TILE) {
    struct data_block tile = data_tile(b, start, MATRIX_TILE, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, t);
    loss_eval(m->loss, tile.rows, tile.y, t, NULL, weight, NULL);
    m->kind->pull(m, &tile, weight, scaled, sum);
    loss_eval(m->loss, tile.rows, tile.y, t, NULL, NULL, weight);
    m->kind->curve(m, &tile, weight, scaled, work[U], work[LEFT], sum + m->dim);
  }
}

const struct sum sum_epoch_start = {SUM_BOTH, width_start, add_start, NULL};

/* ---- differences of gradients ---- */

static void add_difference(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  double *weight = work[V], *before = work[U];
  size_t most = tile_gradient(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, work[T]);
    loss_eval(m->loss, tile.rows, tile.y, work[T], NULL, weight, NULL);
    m->kind->predict(m, &tile, task->ask->along, work[T]);
    loss_eval(m->loss, tile.rows, tile.y, work[T], NULL, before, NULL);
    for (size_t i = 0; i < tile.rows; i++) weight[i] -= before[i];
    m->kind->pull(m, &tile, weight, work[WEIGHT], sum);
  }
}

const struct sum sum_difference = {SUM_GRADIENT, scope_width_dim, add_difference, NULL};
