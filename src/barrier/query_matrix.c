/* Curvature matrices, (1/n) sum c_i z_i z_i', and their traces: the Hessian, c_i = l''_i in [-a, b], and the majorant,
 * with c_i in [0, b] the curvature of a quadratic upper bound. Also second moments of the records' gradients,
 * c_i = l'_i^2, or of persons' sums of these, and of rows, weighted or not. */
#include "barrier/private.h"
#include "la/la.h"

#include <float.h>
#include <math.h>
#include <string.h>

int curvature_may_be_negative(const struct scope *s, enum curvature curvature) {
  return curvature == CURVATURE_HESSIAN && model_bounds(&s->oracle->model)->curv_lower > 0;
}

/* Lipschitz constant of the c_i as functions of the predictor. */
double curvature_lipschitz(const struct scope *s, enum curvature curvature) {
  const struct model *m = &s->oracle->model;
  return curvature == CURVATURE_HESSIAN ? model_bounds(m)->third : loss_upper_lipschitz(m->loss);
}

/* ---- weights of the rows of a tile; t is overwritten ---- */

static void weights_hessian(const struct task *task, const struct data_block *b, double *t, double *weight) {
  const struct model *m = task->model;
  m->kind->predict(m, b, task->ask->at, t);
  model_eval(m, b, t, NULL, NULL, weight);
  model_damp_curvatures(m, b, weight);
}

static void weights_majorant(const struct task *task, const struct data_block *b, double *t, double *weight) {
  const struct model *m = task->model;
  m->kind->predict(m, b, task->ask->at, t);
  model_upper_curvature(m, b, t, weight);
}

static void slopes(const struct task *task, const struct data_block *b, double *t, double *weight) {
  const struct model *m = task->model;
  m->kind->predict(m, b, task->ask->at, t);
  model_eval(m, b, t, NULL, weight, NULL);
  model_damp_slopes(m, b, weight);
}

static void weights_lengths(const struct task *task, const struct data_block *b, double *t, double *weight) {
  (void)t;
  model_row_weights(task->model, b, weight);
}

static weights_of *const weights_curvature[] = {
    [CURVATURE_HESSIAN] = weights_hessian, [CURVATURE_MAJORANT] = weights_majorant};

/* ---- matrices ---- */

size_t matrix_width(const struct task *task) { return task->model->side * task->model->side; }

void matrix_add_weighted(const struct task *task, weights_of *weights, const struct data_block *b, double *const *work,
                         double *sum) {
  const struct model *m = task->model;
  for (size_t start = 0; start < b->rows; start += MATRIX_TILE) {
    struct data_block tile = data_tile(b, start, MATRIX_TILE, work[BUFFER]);
    weights(task, &tile, work[T], work[V]);
    m->kind->curve(m, &tile, work[V], work[WEIGHT], work[U], work[LEFT], m->side, sum);
  }
}

void matrix_add(const struct task *task, enum curvature curvature, const struct data_block *b, double *const *work,
                double *sum) {
  matrix_add_weighted(task, weights_curvature[curvature], b, work, sum);
}

int matrix_check(const struct scope *s, const struct ask *a) {
  (void)a;
  return s->oracle->model.side <= ORACLE_MOST_DIM ? BASE_OK : BASE_ERR_ARGUMENT;
}

static void add_hessian(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  matrix_add(task, CURVATURE_HESSIAN, b, work, sum);
}

double hessian_change(const struct scope *s, const double *w) {
  const struct model *m = &s->oracle->model;
  double lower = model_bounds(m)->curv_lower, upper = model_bounds(m)->curv_upper;
  if (!model_weighted(m)) model_curvature_within(m, bounds_reach(s, w), &lower, &upper);
  double largest = fmax(lower, upper);
  return scope_replaces(s) ? fmax(lower + upper, sqrt(2) * largest) : largest;
}

/* Rounded are second derivatives, which weights of damped rows make smaller. */
static double sensitivity_hessian(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = loss_bounds_of(m->loss);
  (void)i;
  if (!isfinite(model_bounds(m)->third)) return INFINITY;
  double largest = fmax(b->curv_lower, b->curv_upper), norm = bounds_norm(s, a->at);
  return bounds_sensitivity(s, hessian_change(s, a->at), bounds_matrix_rounding(s, b->third, norm, largest));
}

const struct query query_hessian = {.name = "hessian",
                                    .sum = {SUM_MATRIX, matrix_width, add_hessian, NULL, "hessian"},
                                    .mechanism = &mechanism_symmetric,
                                    .keep = KEEP_MATRIX,
                                    .part = PART_CURVATURE,
                                    .in_coordinates = COORDINATES_DAMPED,
                                    .check = matrix_check,
                                    .sensitivity = sensitivity_hessian};

static void add_majorant(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  matrix_add(task, CURVATURE_MAJORANT, b, work, sum);
}

/* sqrt(2) b / n, zero-out b / n (proofs: sensitivity-majorant) */
static double sensitivity_majorant(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  double upper = model_bounds(m)->curv_upper, lip = curvature_lipschitz(s, CURVATURE_MAJORANT);
  (void)i;
  return bounds_sensitivity(s, sqrt(bounds_terms(s)) * upper,
                            bounds_matrix_rounding(s, lip, la_norm(m->dim, a->at), upper));
}

const struct query query_majorant = {.name = "majorant",
                                     .sum = {SUM_MATRIX, matrix_width, add_majorant, NULL, "majorant"},
                                     .mechanism = &mechanism_symmetric,
                                     .keep = KEEP_MATRIX,
                                     .part = PART_NONE,
                                     .check = matrix_check,
                                     .sensitivity = sensitivity_majorant};

/* ---- second moments of the gradients of records or, where rows come person by person, of persons ---- */

/* lower triangle of h <- h + g g' */
static void add_square(size_t side, const double *g, double *h) {
  for (size_t j = 0; j < side; j++) {
    for (size_t i = j; i < side; i++) h[i + j * side] += g[i] * g[j];
  }
}

/* Of a block with whole persons. */
static void add_persons(const struct task *task, weights_of *slopes_of, const struct data_block *b, double *const *work,
                        double *sum) {
  const struct model *m = task->model;
  slopes_of(task, b, work[T], work[V]);
  for (size_t start = 0, end; start < b->rows; start = end) {
    for (end = start + 1; end < b->rows && b->person[end] == b->person[start];) end++;
    const struct data_block own = data_tile(b, start, end - start, work[BUFFER]);
    memset(work[PERSON], 0, m->side * sizeof(double));
    m->kind->pull(m, &own, work[V] + start, work[WEIGHT], work[PERSON]);
    add_square(m->side, work[PERSON], sum);
  }
}

void matrix_add_products(const struct task *task, weights_of *slopes_of, const struct data_block *b,
                         double *const *work, double *sum) {
  const struct model *m = task->model;
  if (b->person) {
    add_persons(task, slopes_of, b, work, sum);
    return;
  }
  for (size_t start = 0; start < b->rows; start += MATRIX_TILE) {
    struct data_block tile = data_tile(b, start, MATRIX_TILE, work[BUFFER]);
    slopes_of(task, &tile, work[T], work[V]);
    for (size_t i = 0; i < tile.rows; i++) work[V][i] *= work[V][i];
    m->kind->curve(m, &tile, work[V], work[WEIGHT], work[U], work[LEFT], m->side, sum);
  }
}

static void add_products(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  matrix_add_products(task, slopes, b, work, sum);
}

/* sqrt(2) L^2 / n, zero-out L^2 / n, in the Frobenius norm, with L the largest slope at w. A square has twice the
 * relative error of l', so twice its bound is used (proofs: sensitivity-products, persons). */
static double sensitivity_products(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = loss_bounds_of(m->loss);
  double most = model_weighted(m) ? model_bounds(m)->lipschitz : model_slope_within(m, bounds_reach(s, a->at));
  double largest = b->lipschitz * b->lipschitz;
  double lip = 2 * b->lipschitz * fmax(b->curv_lower, b->curv_upper);
  (void)i;
  return bounds_sensitivity(s, sqrt(bounds_terms(s)) * most * most,
                            bounds_products_rounding(s, lip, la_norm(m->dim, a->at), 2 * largest));
}

const struct query query_products = {.name = "gradient products",
                                     .sum = {SUM_PRODUCTS, matrix_width, add_products, NULL, "products"},
                                     .mechanism = &mechanism_symmetric,
                                     .keep = KEEP_NOT,
                                     .part = PART_NONE,
                                     .in_coordinates = COORDINATES_DAMPED,
                                     .check = matrix_check,
                                     .sensitivity = sensitivity_products};

/* ---- second moments of weighted rows, without the response ---- */

static void add_weighted(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  matrix_add_weighted(task, weights_lengths, b, work, sum);
}

/* sqrt(2) cap^2 / n, zero-out cap^2 / n (proofs: sensitivity-weighted) */
static double sensitivity_weighted(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  (void)a;
  (void)i;
  if (!model_weighted(m)) return INFINITY;
  double cap = m->coordinates->spec.cap;
  return bounds_sensitivity(s, sqrt(bounds_terms(s)) * cap * cap, bounds_matrix_rounding(s, 0, 0, 1));
}

const struct query query_weighted = {.name = "weighted matrix",
                                     .sum = {SUM_MATRIX, matrix_width, add_weighted, NULL, "weighted"},
                                     .mechanism = &mechanism_symmetric,
                                     .keep = KEEP_MATRIX,
                                     .multi_output = 1,
                                     .part = PART_NONE,
                                     .in_coordinates = COORDINATES_WEIGHTED,
                                     .check = matrix_check,
                                     .sensitivity = sensitivity_weighted};

/* ---- second moments of rows, for any loss ---- */

static void weights_one(const struct task *task, const struct data_block *b, double *t, double *weight) {
  (void)task;
  (void)t;
  for (size_t i = 0; i < b->rows; i++) weight[i] = 1;
}

static void add_second_moments(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  matrix_add_weighted(task, weights_one, b, work, sum);
}

/* sqrt(2) / n, zero-out 1 / n, in the Frobenius norm (proofs: sensitivity-second-moments) */
static double sensitivity_second_moments(const struct scope *s, const struct ask *a, size_t i) {
  (void)a;
  (void)i;
  return bounds_sensitivity(s, sqrt(bounds_terms(s)), bounds_matrix_rounding(s, 0, 0, 1));
}

const struct query query_second_moments = {.name = "second moments",
                                           .sum = {SUM_MATRIX, matrix_width, add_second_moments, NULL, "squares"},
                                           .mechanism = &mechanism_symmetric,
                                           .keep = KEEP_NOT,
                                           .in_coordinates = COORDINATES_NONE,
                                           .multi_output = 1,
                                           .part = PART_NONE,
                                           .check = matrix_check,
                                           .sensitivity = sensitivity_second_moments};

/* ---- traces ---- */

static void add_trace(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  double total = 0;
  size_t most = tile_value(b);
  for (size_t start = 0; start < b->rows; start += most) {
    struct data_block tile = data_tile(b, start, most, work[BUFFER]);
    weights_curvature[task->ask->curvature](task, &tile, work[T], work[V]);
    m->kind->trace(m, &tile, work[V], work[U], &total);
  }
  *sum += total;
}

static int check_trace(const struct scope *s, const struct ask *a) {
  return curvature_may_be_negative(s, a->curvature) ? BASE_ERR_ARGUMENT : BASE_OK;
}

/* b / n, as each record adds a number in [0, b] / n (proofs: sensitivity-trace). The squared norm of a row adds
 * (p + 4) u to its term. */
static double sensitivity_trace(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  double upper = model_bounds(m)->curv_upper, lip = curvature_lipschitz(s, a->curvature);
  (void)i;
  if (!isfinite(lip)) return INFINITY;
  double error = bounds_rounding(s, lip, la_norm(m->dim, a->at), upper) +
                 (double)(s->oracle->engine.rows->p + 4) * DBL_EPSILON * upper * bounds_max_rows(s);
  return bounds_sensitivity(s, upper, error);
}

const struct query query_trace = {.name = "trace",
                                  .sum = {SUM_VECTOR, scope_width_one, add_trace, NULL, "trace"},
                                  .mechanism = &mechanism_gaussian,
                                  .keep = KEEP_NOT,
                                  .part = PART_CURVATURE,
                                  .in_coordinates = COORDINATES_NONE,
                                  .check = check_trace,
                                  .sensitivity = sensitivity_trace};
