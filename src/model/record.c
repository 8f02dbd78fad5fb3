/*
 * The loss of a record with offset o and weight v in [0, 1], both of this record alone: v l(y, t + o) + (1 - v) l(0,
 * 0). So a record's contribution to a sum lies between its contribution without weight and that of a null record, and
 * a weight changes no sensitivity; an offset changes predictors by at most a public bound (proofs: weights-offsets).
 * For a network the weight multiplies what is clipped (network.c, query_search.c), and there are no offsets.
 *
 * A record that is one of several of a person has a share v of it: slopes and curvatures are multiplied by it where
 * they are summed (linear.c), and values are here v times the difference from l(0, 0), as the sum of l(0, 0) (1 - v)
 * over a person's records has no bound (proofs: persons).
 */
#include "model/model.h"

static const double *shifted(const struct data_block *b, const double *t, double *room);
static void apply_weights(const struct model *m, const struct data_block *b, double *d);

int model_set_weights(struct model *m, double most) {
  int shifts = !m->network && m->outputs == 1;
  if (m->coordinates || (!shifts && most > 0) || !(most >= 0 && most <= 1e100)) return BASE_ERR_ARGUMENT;
  if (m->network) return BASE_OK;
  m->offset = most;
  m->own = *loss_bounds_of(m->loss);
  m->own.at_zero += m->own.lipschitz * most;
  m->own.zero_spread += m->own.lipschitz * most;
  return BASE_OK;
}

double model_range(const struct model *m, double t_max) { return loss_range(m->loss, t_max + m->offset); }

double model_slope_within(const struct model *m, double t_max) { return loss_slope_within(m->loss, t_max + m->offset); }

void model_curvature_within(const struct model *m, double t_max, double *lower, double *upper) {
  loss_curvature_within(m->loss, t_max + m->offset, lower, upper);
}

double model_fall(const struct model *m, double t_max, double step) {
  return loss_fall(m->loss, t_max + m->offset, step);
}

double model_rise(const struct model *m, double t_max, double step) {
  return loss_rise(m->loss, t_max + m->offset, step);
}

void model_eval(const struct model *m, const struct data_block *b, const double *t, double *value, double *d1,
                double *d2) {
  double room[DATA_BLOCK];
  loss_eval(m->loss, b->rows, b->y, shifted(b, t, room), value, d1, d2);
  if (!b->weight) return;
  if (d1) apply_weights(m, b, d1);
  for (size_t i = 0; d2 && i < b->rows; i++) d2[i] *= b->weight[i];
  if (!value) return;
  const double null = model_null(m);
  for (size_t i = 0; i < b->rows; i++) value[i] = null + b->weight[i] * (value[i] - null);
}

/* With several outputs l(y, 0) is the same for all responses. */
double model_null(const struct model *m) {
  const double zero = 0;
  double value = loss_bounds_of(m->loss)->at_zero;
  if (m->outputs == 1) loss_eval(m->loss, 1, &zero, &zero, &value, NULL, NULL);
  return value;
}

double model_sum(const struct model *m, const struct data_block *b, const double *t) {
  double value[DATA_BLOCK], sum = 0;
  if (!b->weight && !b->share) return loss_sum(m->loss, b->rows, b->y, shifted(b, t, value));
  model_eval(m, b, t, value, NULL, NULL);
  const double null = b->share ? model_null(m) : 0;
  for (size_t i = 0; i < b->rows; i++) sum += data_share(b, i) * (value[i] - null);
  return sum;
}

void model_own_slopes(const struct model *m, const struct data_block *b, const double *t, const double *c, double *d1) {
  double room[DATA_BLOCK];
  loss_own_slopes(m->loss, b->rows, b->y, shifted(b, t, room), c, d1);
  if (b->weight) apply_weights(m, b, d1);
}

void model_values(const struct model *m, const struct data_block *b, const double *t, double *value) {
  double room[DATA_BLOCK];
  loss_eval(m->loss, b->rows, b->y, shifted(b, t, room), value, NULL, NULL);
}

void model_residuals(const struct model *m, const struct data_block *b, const double *t, double *d1) {
  double room[DATA_BLOCK];
  loss_eval(m->loss, b->rows, b->y, shifted(b, t, room), NULL, d1, NULL);
}

void model_upper_curvature(const struct model *m, const struct data_block *b, const double *t, double *c) {
  double room[DATA_BLOCK];
  loss_upper_curvature(m->loss, b->rows, shifted(b, t, room), c);
  for (size_t i = 0; b->weight && i < b->rows; i++) c[i] *= b->weight[i];
}

static const double *shifted(const struct data_block *b, const double *t, double *room) {
  if (!b->offset) return t;
  for (size_t i = 0; i < b->rows; i++) room[i] = t[i] + b->offset[i];
  return room;
}

/* Slopes, one column for each output. */
static void apply_weights(const struct model *m, const struct data_block *b, double *d) {
  for (size_t k = 0; k < m->outputs; k++) {
    for (size_t i = 0; i < b->rows; i++) d[i + k * b->rows] *= b->weight[i];
  }
}
