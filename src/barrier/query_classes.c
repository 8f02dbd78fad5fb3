/*
 * Classes. c is the clip, R the cap, or the query's own, which is no larger, v in [0, 1] a record's weight, and of
 * several outputs with weighted rows z, g = p - e_y the slopes of a record's predictors (proofs: sensitivity-classes).
 *
 *   gradient  v z (x) g min(1, c / |g|) min(1, R / |z|), of norm at most c R whatever z and y are: 2 c R / n, zero-out
 *             half
 *   counts    v e_y, for a record that is not null: sqrt(2) / n, zero-out 1 / n
 *
 * A null record has z = 0, and counts nowhere.
 */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>

/* ---- the gradient ---- */

static double clip_of(const struct model *m, const struct ask *a) {
  return fmin(a->clip, loss_bounds_of(m->loss)->lipschitz);
}

static double cap_of(const struct model *m, const struct ask *a) { return a->cap > 0 ? a->cap : model_cap(m); }

/* limit: min(1, R / |z_i|). A record without slopes is unchanged. */
static void clip_slopes(const struct model *m, const struct data_block *b, double clip, const double *limit,
                        double *slope) {
  size_t n = b->rows;
  for (size_t i = 0; i < n; i++) {
    double square = 0;
    for (size_t k = 0; k < m->outputs; k++) square += slope[i + k * n] * slope[i + k * n];
    double factor = data_weight(b, i) * limit[i] * fmin(1, clip / sqrt(square));
    for (size_t k = 0; k < m->outputs; k++) slope[i + k * n] *= factor;
  }
}

static void add_gradient(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  size_t most = tile_gradient(b);
  double *limit = work[U], *slope = work[V];
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    m->kind->predict(m, &tile, task->ask->at, work[T]);
    model_residuals(m, &tile, work[T], slope);
    model_limits(&tile, 1, cap_of(m, task->ask), limit);
    clip_slopes(m, &tile, clip_of(m, task->ask), limit, slope);
    m->kind->pull(m, &tile, slope, work[WEIGHT], sum);
  }
}

static int check_gradient(const struct scope *s, const struct ask *a) {
  const struct model *m = &s->oracle->model;
  if (m->outputs < 2 || !model_weighted(m)) return BASE_ERR_ARGUMENT;
  return a->cap == 0 || (a->cap >= 1e-50 && a->cap <= model_cap(m)) ? check_clip(s, a) : BASE_ERR_ARGUMENT;
}

/* Clipped slopes have the Lipschitz constant of slopes, and the computed factors an error of at most (K + 8) u. */
static double sensitivity_gradient(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  double clip = clip_of(m, a), error = bounds_gradient_error(s, la_norm(m->dim, a->at));
  (void)i;
  error += model_stretch(m) * ((double)m->outputs + 8) * DBL_EPSILON * clip * bounds_max_rows(s);
  return bounds_sensitivity(s, bounds_terms(s) * model_limit_bound(clip, cap_of(m, a)), error);
}

const struct query query_class_gradient = {.name = "class gradient",
                                           .sum = {SUM_GRADIENT, scope_width_dim, add_gradient, NULL, "class gradient"},
                                           .mechanism = &mechanism_gaussian,
                                           .keep = KEEP_NOT,
                                           .part = PART_NONE,
                                           .in_coordinates = COORDINATES_WEIGHTED,
                                           .multi_output = 1,
                                           .check = check_gradient,
                                           .sensitivity = sensitivity_gradient};

/* ---- counts ---- */

/* With one output there are two classes, told apart by the sign of the response. */
static size_t classes_of(const struct model *m) { return m->outputs > 1 ? m->outputs : 2; }

static size_t width_counts(const struct task *task) { return classes_of(task->model); }

static size_t class_of(const struct model *m, double y) {
  return m->outputs > 1 ? loss_class((double)m->outputs, y) : (size_t)(y > 0);
}

static void add_counts(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  (void)work;
  for (size_t i = 0; i < b->rows; i++) {
    sum[class_of(task->model, b->y[i])] += data_share(b, i) * data_weight(b, i);
  }
}

static double sensitivity_counts(const struct scope *s, const struct ask *a, size_t i) {
  (void)a;
  (void)i;
  return bounds_sensitivity(s, sqrt(bounds_terms(s)), bounds_rounding(s, 0, 0, 1));
}

const struct query query_class_counts = {.name = "class counts",
                                         .sum = {SUM_VECTOR, width_counts, add_counts, NULL, "class counts"},
                                         .mechanism = &mechanism_gaussian,
                                         .keep = KEEP_NOT,
                                         .part = PART_NONE,
                                         .in_coordinates = COORDINATES_WEIGHTED,
                                         .multi_output = 1,
                                         .sensitivity = sensitivity_counts};
