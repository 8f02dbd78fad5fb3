/* Gradients: of the mean loss, with records' parts clipped, and of its quadratic model at another point. */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>

/* ---- the gradient ---- */

static void add(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  size_t most = tile_gradient(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, work[T] + start);
    model_slopes(m, &tile, work[T] + start, work[U], work[V]);
    m->kind->pull(m, &tile, work[V], work[WEIGHT], sum);
  }
}

/* The factor that shortens slopes of several outputs has an error of at most (K + 8) u. */
double bounds_gradient_error(const struct scope *s, double norm) {
  double size, lipschitz;
  const struct model *m = &s->oracle->model;
  model_slope_bounds(m, &size, &lipschitz);
  if (m->outputs > 1 && model_damped(m)) size *= 2;
  return bounds_rounding(s, lipschitz, norm, size);
}

/* At most 2 L / n, zero-out L / n, and less near w = 0 (proofs: sensitivity-gradient); for weighted rows L is their
 * bound (proofs: row-slopes, tilt) */
static double sensitivity(const struct scope *s, const struct ask *a, size_t i) {
  double change = model_gradient_change(&s->oracle->model, bounds_reach(s, a->at), scope_replaces(s));
  (void)i;
  return bounds_sensitivity(s, change, bounds_gradient_error(s, bounds_norm(s, a->at)));
}

const struct query query_gradient = {.name = "gradient",
                                     .sum = {SUM_GRADIENT, scope_width_dim, add, NULL, "gradient"},
                                     .mechanism = &mechanism_gaussian,
                                     .keep = KEEP_GRADIENT,
                                     .part = PART_SLOPE,
                                     .in_coordinates = COORDINATES_WEIGHTED,
                                     .multi_output = 1,
                                     .sensitivity = sensitivity};

/* ---- the gradient with each record's part clipped ---- */

/* With several outputs slopes have a column for each. A record whose slope or row is zero is unchanged. */
static void clip_slopes(const struct model *m, const struct data_block *b, double clip, double *square, double *slope) {
  size_t n = b->rows;
  model_squares(b, square);
  for (size_t i = 0; i < n; i++) {
    double size = 0;
    for (size_t k = 0; k < m->outputs; k++) size += slope[i + k * n] * slope[i + k * n];
    double factor = clip / sqrt(size * square[i]);
    for (size_t k = 0; k < m->outputs && factor < 1; k++) slope[i + k * n] *= factor;
  }
}

static void add_clipped(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  size_t most = tile_gradient(b);
  if (m->network) {
    m->kind->clipped(m, b, task->ask->at, task->ask->clip, work[TAPE], sum);
    return;
  }
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, work[T]);
    model_eval(m, &tile, work[T], NULL, work[V], NULL);
    clip_slopes(m, &tile, task->ask->clip, work[U], work[V]);
    m->kind->pull(m, &tile, work[V], work[WEIGHT], sum);
  }
}

/* 2 C / n, zero-out C / n, or as without the clip (proofs: sensitivity-clipped). Clipped slopes have the Lipschitz
 * constant of slopes, and the computed norms by which they are clipped have an error of at most (p + K + 8) u. */
static double sensitivity_clipped(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  double most = fmin(a->clip, model_bounds(m)->lipschitz), numbers = (double)(m->columns + m->outputs);
  (void)i;
  if (m->network) return bounds_sensitivity(s, bounds_terms(s) * a->clip, bounds_sum_rounding(s, a->clip));
  double change = fmin(bounds_terms(s) * most, model_gradient_change(m, bounds_reach(s, a->at), scope_replaces(s)));
  double error = bounds_gradient_error(s, bounds_norm(s, a->at));
  error += (numbers + 8) * DBL_EPSILON * most * bounds_max_rows(s);
  return bounds_sensitivity(s, change, error);
}

const struct query query_clipped_gradient = {
    .name = "clipped gradient",
    .sum = {SUM_GRADIENT, scope_width_dim, add_clipped, NULL, "clipped gradient"},
    .mechanism = &mechanism_gaussian,
    .keep = KEEP_NOT,
    .in_coordinates = COORDINATES_NONE,
    .multi_output = 1,
    .networks = 1,
    .part = PART_SLOPE,
    .check = check_clip,
    .sensitivity = sensitivity_clipped};

/* ---- value and gradient in one pass, which the minimisers use ---- */

static size_t width_both(const struct task *task) { return 1 + task->model->dim; }

/* Uses the predictors of the block that the gradient has just computed. */
static void add_both(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  add(task, b, work, sum + 1);
  *sum += model_sum(task->model, b, work[T]);
}

const struct sum sum_value_gradient = {SUM_GRADIENT, width_both, add_both, NULL, "value and gradient"};

/* ---- gradient + Hessian times along: the gradient at (at + along) of the quadratic model around at ---- */

/* Weights l' + l'' z'along. */
static void add_model(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  double *t = work[T], *along = work[U], *weight = work[V];
  size_t most = tile_gradient(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, t);
    m->kind->predict(m, &tile, task->ask->along, along);
    model_eval(m, &tile, t, NULL, weight, NULL);
    model_eval(m, &tile, t, NULL, NULL, work[WEIGHT]);
    for (size_t i = 0; i < tile.rows; i++) weight[i] += work[WEIGHT][i] * along[i];
    m->kind->pull(m, &tile, weight, work[WEIGHT], sum);
  }
}

/* (g + h |v|) / n, h = a + b; zero-out (g + max(a, b) |v|) / n, with the gradient's change g (proofs:
 * sensitivity-model): z z' s - z_2 z_2' s_2 has eigenvalues in [-a - b, a + b]. */
static double sensitivity_model(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = model_bounds(m);
  (void)i;
  if (!isfinite(b->third)) return INFINITY;
  double norm = bounds_norm(s, a->at), length = la_norm(m->dim, a->along),
         largest = fmax(b->curv_lower, b->curv_upper);
  double spread = scope_replaces(s) ? b->curv_lower + b->curv_upper : largest;
  double change = model_gradient_change(m, bounds_reach(s, a->at), scope_replaces(s)) + spread * length;
  double error = bounds_rounding(s, largest + b->third * length, norm, b->lipschitz + largest * length);
  error += bounds_rounding(s, largest, length, largest * length);
  return bounds_sensitivity(s, change, error);
}

const struct query query_model_gradient = {.name = "model gradient",
                                           .sum = {SUM_GRADIENT, scope_width_dim, add_model, NULL, "model gradient"},
                                           .mechanism = &mechanism_gaussian,
                                           .keep = KEEP_NOT,
                                           .part = PART_NONE,
                                           .sensitivity = sensitivity_model};
