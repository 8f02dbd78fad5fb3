/*
 * Residuals r at a released point, of weighted rows z and a loss whose slope is a mean minus the response: r = t - y,
 * or min(e^t / max, 1) - y for counts. c is the clip, R the cap, that of the coordinates or of the query, v in [0, 1] a
 * record's weight (proofs: sensitivity-residual, residual-counts, row-lengths, recalibration, residual-products,
 * residual-hessian).
 *
 *   gradient       v z clip(r, c min(1, R / |z|)), of norm at most c R whatever z and y are: 2 c R / n, zero-out half
 *   recalibration  v (1, f / 2) clip(r, c), |f| <= 2, of norm at most sqrt(2) c: twice that / n, zero-out half;
 *                  without f sqrt(2) less
 *   products       the second moments of the gradient's terms: sqrt(2) (c R)^2 / n, zero-out (c R)^2 / n
 *   hessian        v m z z' min(1, (1.3 R / |z|)^2), m at most c: sqrt(2) c (1.3 R)^2 / n, zero-out c (1.3 R)^2 / n
 *   counts         v times the weights of |r| on a grid, or of |clip(r, c)| min(1, |z| / R), which are not negative and
 *                  sum to one: sqrt(2) / n, zero-out 1 / n, as a null record counts nowhere
 *   lengths        the same of |z|, without a point
 *
 * A null record has z = 0 and counts nowhere.
 *
 * Counts in cells would jump where a predictor is rounded across the end of a cell, which a null record may do to all
 * records of its block at once (bounds.c). The weights are continuous instead: a residual between two ends counts at
 * both, by linear interpolation.
 */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>

static double clipped(double x, double limit) { return x > -limit ? (x < limit ? x : limit) : -limit; }

static const struct loss_bounds *bounds_of(const struct scope *s) { return loss_bounds_of(s->oracle->model.loss); }

/* What the rounding errors of residuals up to this size are relative to: to themselves for squared error, else to the
 * bound of the slope. */
static double rounded_size(const struct scope *s, double size) {
  double bound = bounds_of(s)->lipschitz;
  return isfinite(bound) ? fmax(bound, size) : size;
}

static double cap_of(const struct model *m, const struct ask *a) { return a->cap > 0 ? a->cap : model_cap(m); }

/* A database adds terms as large as the bound, for which bounds.c knows the cap of the coordinates alone. */
static double longer(const struct model *m, const struct ask *a) { return fmax(1, cap_of(m, a) / model_cap(m)); }

static int zero_or_usable(double x) { return x == 0 || (x >= 1e-50 && x <= 1e50); }

static int check_cap(const struct scope *s, const struct ask *a) {
  return model_clips(&s->oracle->model) && zero_or_usable(a->cap) ? BASE_OK : BASE_ERR_ARGUMENT;
}

static int check(const struct scope *s, const struct ask *a) {
  int status = check_cap(s, a);
  return status == BASE_OK ? check_clip(s, a) : status;
}

static void residuals(const struct task *task, const struct data_block *b, double *t, double *r) {
  const struct model *m = task->model;
  m->kind->predict(m, b, task->ask->at, t);
  model_residuals(m, b, t, r);
}

/* ---- the gradient ---- */

static void add_gradient(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  size_t most = tile_gradient(b);
  double *limit = work[U], *r = work[V];
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    residuals(task, &tile, work[T], r);
    model_limits(&tile, task->ask->clip, cap_of(m, task->ask), limit);
    for (size_t i = 0; i < tile.rows; i++) r[i] = data_weight(&tile, i) * clipped(r[i], limit[i]);
    m->kind->pull(m, &tile, r, work[WEIGHT], sum);
  }
}

static double sensitivity_gradient(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  (void)i;
  double change = bounds_terms(s) * model_limit_bound(a->clip, cap_of(m, a));
  double error = bounds_rounding(s, bounds_of(s)->curv_upper, la_norm(m->dim, a->at), rounded_size(s, a->clip));
  return bounds_sensitivity(s, change, longer(m, a) * error);
}

const struct query query_residual_gradient = {
    .name = "residual gradient",
    .sum = {SUM_GRADIENT, scope_width_dim, add_gradient, NULL, "residual gradient"},
    .mechanism = &mechanism_gaussian,
    .keep = KEEP_NOT,
    .part = PART_NONE,
    .in_coordinates = COORDINATES_WEIGHTED,
    .check = check,
    .sensitivity = sensitivity_gradient};

/* ---- second moments of the gradients ---- */

static void slopes(const struct task *task, const struct data_block *b, double *t, double *slope) {
  residuals(task, b, t, slope);
  model_limits(b, task->ask->clip, cap_of(task->model, task->ask), t);
  for (size_t i = 0; i < b->rows; i++) slope[i] = data_weight(b, i) * clipped(slope[i], t[i]);
}

static void add_products(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  matrix_add_products(task, slopes, b, work, sum);
}

static int check_matrix(const struct scope *s, const struct ask *a) {
  int status = check(s, a);
  return status == BASE_OK ? matrix_check(s, a) : status;
}

/* A square has twice the relative error of the residual. */
static double sensitivity_products(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  double most = model_limit_bound(a->clip, cap_of(m, a)), twice = 2 * a->clip, more = longer(m, a);
  (void)i;
  double error = bounds_products_rounding(s, twice * bounds_of(s)->curv_upper, la_norm(m->dim, a->at),
                                          twice * rounded_size(s, a->clip));
  return bounds_sensitivity(s, sqrt(bounds_terms(s)) * most * most, more * more * error);
}

const struct query query_residual_products = {.name = "residual products",
                                              .sum = {SUM_PRODUCTS, matrix_width, add_products, NULL,
                                                      "residual products"},
                                              .mechanism = &mechanism_symmetric,
                                              .keep = KEEP_NOT,
                                              .part = PART_NONE,
                                              .in_coordinates = COORDINATES_WEIGHTED,
                                              .check = check_matrix,
                                              .sensitivity = sensitivity_products};

/* ---- the Hessian ---- */

#define LONGER 1.3 /* smaller weights are a bias of the Hessian, so rows may be longer than for gradients */
#define RAMP 0.25   /* half of the width of the ramp of Huber's loss, over its c */

/* l'' is 1 for squared error; for counts it is the mean r + y, up to the largest one, where the mean does not jump.
 * That of Huber's loss jumps where |r| is `within`: it is taken to fall from one to zero over a ramp around it. */
static double ramp(double size, double within) {
  return fmax(0, fmin(1, ((1 + RAMP) * within - size) / (2 * RAMP * within)));
}

static void curvatures(const struct task *task, const struct data_block *b, double *t, double *c) {
  int jumps = !isfinite(loss_bounds_of(task->model->loss)->third);
  double within = task->ask->within;
  residuals(task, b, t, c);
  for (size_t i = 0; i < b->rows; i++) {
    c[i] = jumps ? c[i] + fmax(b->y[i], 0) : within > 0 ? ramp(fabs(c[i]), within) : 1;
  }
}

static void weights_hessian(const struct task *task, const struct data_block *b, double *t, double *weight) {
  curvatures(task, b, t, weight);
  model_limits(b, 1, cap_of(task->model, task->ask), t);
  for (size_t i = 0; i < b->rows; i++) {
    double part = fmin(1, LONGER * t[i]);
    weight[i] = data_weight(b, i) * clipped(weight[i], task->ask->clip) * part * part;
  }
}

static void add_hessian(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  matrix_add_weighted(task, weights_hessian, b, work, sum);
}

static int check_hessian(const struct scope *s, const struct ask *a) {
  return zero_or_usable(a->within) ? check_matrix(s, a) : BASE_ERR_ARGUMENT;
}

/* As functions of the predictor the m are as steep as they are large; r + y has one more rounding than r. On a ramp r
 * is at most (1 + RAMP) within, so that its relative rounding is less than a few of the weight's bound, one. */
static double sensitivity_hessian(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  double longest = model_limit_bound(LONGER, cap_of(m, a)), more = longer(m, a);
  double lip = a->within > 0 ? fmax(a->clip, 1 / (2 * RAMP * a->within)) : a->clip;
  double size = 2 * rounded_size(s, a->clip) + (a->within > 0 ? 8 : 0);
  (void)i;
  double error = bounds_matrix_rounding(s, lip, la_norm(m->dim, a->at), size);
  return bounds_sensitivity(s, sqrt(bounds_terms(s)) * a->clip * longest * longest, more * more * error);
}

const struct query query_residual_hessian = {.name = "residual hessian",
                                             .sum = {SUM_MATRIX, matrix_width, add_hessian, NULL, "residual hessian"},
                                             .mechanism = &mechanism_symmetric,
                                             .keep = KEEP_NOT,
                                             .part = PART_NONE,
                                             .in_coordinates = COORDINATES_WEIGHTED,
                                             .check = check_hessian,
                                             .sensitivity = sensitivity_hessian};

/* ---- recalibration ---- */

static size_t width_means(const struct task *task) { return task->ask->along ? 2 : 1; }

static void add_means(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct ask *ask = task->ask;
  size_t most = tile_gradient(b);
  double *f = work[U], *r = work[V];
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    residuals(task, &tile, work[T], r);
    if (ask->along) task->model->kind->predict(task->model, &tile, ask->along, f);
    for (size_t i = 0; i < tile.rows; i++) {
      double part = data_share(&tile, i) * data_weight(&tile, i) * clipped(r[i], ask->clip);
      sum[0] += part;
      if (ask->along) sum[1] += part * clipped(f[i], 2) / 2;
    }
  }
}

/* The part f / 2 has the Lipschitz constant c / 2 in the second predictor. */
static double sensitivity_means(const struct scope *s, const struct ask *a, size_t i) {
  size_t dim = s->oracle->model.dim;
  double most = (a->along ? sqrt(2) : 1) * a->clip, size = sqrt(2) * rounded_size(s, a->clip);
  (void)i;
  double error = bounds_rounding(s, sqrt(2) * bounds_of(s)->curv_upper, la_norm(dim, a->at), size);
  if (a->along) error += bounds_rounding(s, a->clip / 2, la_norm(dim, a->along), 0);
  return bounds_sensitivity(s, bounds_terms(s) * most, error);
}

const struct query query_recalibration = {.name = "recalibration",
                                          .sum = {SUM_VECTOR, width_means, add_means, NULL, "recalibration"},
                                          .mechanism = &mechanism_gaussian,
                                          .keep = KEEP_NOT,
                                          .part = PART_NONE,
                                          .in_coordinates = COORDINATES_WEIGHTED,
                                          .check = check,
                                          .sensitivity = sensitivity_means};

/* ---- counts ---- */

static size_t width_counts(const struct task *task) { return task->ask->k; }

/* Adds the weights of a residual of this size. */
static void count(const struct ask *a, double size, double weight, double *sum) {
  size_t low = 0, high = a->k - 1;
  if (!(size > a->step[low])) size = a->step[low];
  if (size > a->step[high]) size = a->step[high];
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (size < a->step[middle]) {
      high = middle;
    } else {
      low = middle;
    }
  }
  double part = (size - a->step[low]) / (a->step[high] - a->step[low]);
  sum[low] += weight * (1 - part);
  sum[high] += weight * part;
}

/* |r|, clipped if there is a clip, and with a cap times the length of the row over the cap, up to one. */
static double size_of(const struct ask *a, double r, double length) {
  double size = a->clip > 0 ? fmin(fabs(r), a->clip) : fabs(r);
  return a->cap > 0 ? size * fmin(1, length / a->cap) : size;
}

/* Of several slopes their norm takes the place of the first. */
static void norms(size_t outputs, size_t n, double *slope) {
  for (size_t i = 0; outputs > 1 && i < n; i++) {
    double square = 0;
    for (size_t k = 0; k < outputs; k++) square += slope[i + k * n] * slope[i + k * n];
    slope[i] = sqrt(square);
  }
}

static void add_counts(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct ask *a = task->ask;
  size_t most = tile_gradient(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    residuals(task, &tile, work[T], work[V]);
    norms(task->model->outputs, tile.rows, work[V]);
    for (size_t i = 0; i < tile.rows; i++) {
      count(a, size_of(a, work[V][i], tile.length[i]), data_share(&tile, i) * data_weight(&tile, i), sum);
    }
  }
}

/* The smallest distance of two ends. */
static double narrowest(const struct ask *a) {
  double least = INFINITY;
  for (size_t j = 1; j < a->k; j++) least = fmin(least, a->step[j] - a->step[j - 1]);
  return least;
}

/* Counts are the only ones that suit damped rows, too, with slopes of another loss for residuals. */
static int check_counts(const struct scope *s, const struct ask *a) {
  const struct model *m = &s->oracle->model;
  if (!(model_clips(m) || model_damped(m)) || !zero_or_usable(a->cap)) return BASE_ERR_ARGUMENT;
  if (!zero_or_usable(a->clip) || a->k < 2) return BASE_ERR_ARGUMENT;
  return a->step[0] > 0 && a->step[a->k - 1] <= 1e50 && narrowest(a) > 1e-50 ? BASE_OK : BASE_ERR_ARGUMENT;
}

/* The two weights of a residual change by the change of r over the distance of its ends, of a part of r by no more; r
 * itself has one more rounding, of at most the last end, or a few of the bound of the slope, and its part four; the
 * norm of K slopes has K + 3. */
static double sensitivity_counts(const struct scope *s, const struct ask *a, size_t i) {
  double slope = sqrt(2) / narrowest(a);
  (void)i;
  double steep = fmax(bounds_of(s)->curv_lower, bounds_of(s)->curv_upper);
  double error = bounds_rounding(s, slope * steep, la_norm(s->oracle->model.dim, a->at), 1);
  double roundings = a->cap > 0 ? 16 : 12, outputs = (double)s->oracle->model.outputs;
  if (outputs > 1) roundings += 2 * outputs + 6;
  error += slope * roundings * DBL_EPSILON * rounded_size(s, a->step[a->k - 1]) * bounds_max_rows(s);
  return bounds_sensitivity(s, sqrt(bounds_terms(s)), error);
}

const struct query query_residual_counts = {.name = "residual counts",
                                            .sum = {SUM_VECTOR, width_counts, add_counts, NULL, "residual counts"},
                                            .mechanism = &mechanism_gaussian,
                                            .keep = KEEP_NOT,
                                            .part = PART_NONE,
                                            .in_coordinates = COORDINATES_WEIGHTED,
                                            .multi_output = 1,
                                            .check = check_counts,
                                            .sensitivity = sensitivity_counts};

/* ---- lengths of rows ---- */

static void add_lengths(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  (void)work;
  for (size_t i = 0; i < b->rows; i++) count(task->ask, b->length[i], data_share(b, i) * data_weight(b, i), sum);
}

/* A length is its record's, to the last bit, so that only the sums are rounded. */
static double sensitivity_lengths(const struct scope *s, const struct ask *a, size_t i) {
  (void)a;
  (void)i;
  return bounds_sensitivity(s, sqrt(bounds_terms(s)), bounds_rounding(s, 0, 0, 1));
}

const struct query query_row_lengths = {.name = "row lengths",
                                        .sum = {SUM_VECTOR, width_counts, add_lengths, NULL, "row lengths"},
                                        .mechanism = &mechanism_gaussian,
                                        .keep = KEEP_NOT,
                                        .part = PART_NONE,
                                        .in_coordinates = COORDINATES_WEIGHTED,
                                        .check = check_counts,
                                        .sensitivity = sensitivity_lengths};
