/* The sums of an epoch's leaves (fresh.c): for each record the gradient and the Hessian at the epoch's start, and then
 * differences of gradients. Each is one pass, because records of a stream are read once. */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>

/* More than a distance loses when its squares underflow. */
#define LEAST_DISTANCE 1e-150

static double spread(const struct scope *s, double norm);
static double distance(size_t dim, const double *w, const double *before);

/* ---- gradient and Hessian ---- */

static size_t width_start(const struct task *task) { return task->model->dim * (1 + task->model->dim); }

static void add_start(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  double *t = work[T], *weight = work[V], *scaled = work[WEIGHT];
  for (size_t start = 0; start < b->rows; start += MATRIX_TILE) {
    struct data_block tile = data_tile(b, start, MATRIX_TILE, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, t);
    model_eval(m, &tile, t, NULL, weight, NULL);
    m->kind->pull(m, &tile, weight, scaled, sum);
    model_eval(m, &tile, t, NULL, NULL, weight);
    m->kind->curve(m, &tile, weight, scaled, work[U], work[LEFT], m->side, sum + m->dim);
  }
}

const struct sum sum_epoch_start = {SUM_BOTH, width_start, add_start, NULL, "gradient and hessian"};

/* Rounding error of a gradient at w, alone or with a matrix. */
static double gradient_error(const struct scope *s, const double *w) {
  double size, lipschitz, norm = la_norm(s->oracle->model.dim, w);
  model_slope_bounds(&s->oracle->model, &size, &lipschitz);
  return bounds_both_rounding(s, lipschitz, norm, size);
}

/* Alone that of a gradient at w; with later leaves, which may move by as much, 2 L / b, zero-out L / b (proofs:
 * sensitivity-gradient, prefix-sums) */
double sensitivity_start_gradient(const struct scope *s, const double *w, size_t leaves) {
  double reach = leaves == 1 ? bounds_reach(s, w) : INFINITY;
  return bounds_sensitivity(s, model_gradient_change(&s->oracle->model, reach, scope_replaces(s)),
                            gradient_error(s, w));
}

/* ---- differences of gradients ---- */

static void add_difference(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  double *weight = work[V], *before = work[U];
  size_t most = tile_gradient(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, work[T]);
    model_eval(m, &tile, work[T], NULL, weight, NULL);
    m->kind->predict(m, &tile, task->ask->along, work[T]);
    model_eval(m, &tile, work[T], NULL, before, NULL);
    for (size_t i = 0; i < tile.rows; i++) weight[i] -= before[i];
    m->kind->pull(m, &tile, weight, work[WEIGHT], sum);
  }
}

const struct sum sum_difference = {SUM_GRADIENT, scope_width_dim, add_difference, NULL, "gradient difference"};

double sensitivity_start_hessian(const struct scope *s, const double *w) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = model_bounds(m);
  if (!isfinite(b->third)) return INFINITY;
  double error = bounds_both_rounding(s, b->third, la_norm(m->dim, w), fmax(b->curv_lower, b->curv_upper));
  return bounds_sensitivity(s, hessian_change(s, w), model_stretch(m) * error);
}

/* (a + b) |w - before| / m on m records, zero-out max(a, b) |w - before| / m, with the bounds a and b between the two
 * points (proofs: sensitivity-difference) */
double sensitivity_difference(const struct scope *s, const double *w, const double *before) {
  double norm = fmax(bounds_reach(s, w), bounds_reach(s, before));
  return bounds_sensitivity(s, spread(s, norm) * distance(s->oracle->model.dim, w, before),
                            gradient_error(s, w) + gradient_error(s, before));
}

/* (a + b) |v| / m, zero-out max(a, b) |v| / m, with the bounds a and b at a w of this norm (proofs:
 * sensitivity-product). The product's own rounding: dim roundings of a sum of at most |H|_F |v|. */
double sensitivity_product(const struct scope *s, double norm, const double *v) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = model_bounds(m);
  if (!isfinite(b->third)) return INFINITY;
  double largest = fmax(b->curv_lower, b->curv_upper), length = distance(m->dim, v, NULL);
  double error = model_stretch(m) * bounds_both_rounding(s, b->third, norm, largest);
  double reach = s->oracle->engine.kind->inside ? INFINITY : norm;
  return bounds_sensitivity(s, spread(s, reach) * length,
                            (error + (double)(m->dim + 8) * DBL_EPSILON * largest) * length);
}

/* Bound on the difference of two records' curvatures, or of one's and zero, at points of at most this norm. */
static double spread(const struct scope *s, double norm) {
  double lower, upper;
  model_curvature_within(&s->oracle->model, norm, &lower, &upper);
  return scope_replaces(s) ? lower + upper : fmax(lower, upper);
}

/* Distance from before, or from zero. Rounded up: n + 2 roundings of relative size u. */
static double distance(size_t dim, const double *w, const double *before) {
  double square = 0;
  for (size_t j = 0; j < dim; j++) {
    double x = before ? w[j] - before[j] : w[j];
    square += x * x;
  }
  return sqrt(square) * (1 + (double)(dim + 8) * DBL_EPSILON) + LEAST_DISTANCE;
}
