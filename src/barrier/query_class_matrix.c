/*
 * Matrices of several outputs, for damped rows z: with p the probabilities of a record's classes, g = p - e_y its
 * slopes and v in [0, 1] its weight, in blocks, one for each pair of outputs (proofs: sensitivity-class-matrices),
 *
 *   Hessian    v (diag(p) - pp') (x) zz' min(1, (R / |z|)^2), of Frobenius norm at most R^2 / 2: R^2 / (sqrt(2) n)
 *   products   (g (x) z)(g (x) z)', with v g clipped to v B / |z|, of Frobenius norm at most B^2: sqrt(2) B^2 / n;
 *              where rows belong to persons, of the sum of a person's shares of g (x) z
 *
 * zero-out less by sqrt(2). A null record has z = 0.
 */
#include "barrier/private.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

static size_t width(const struct task *task) { return task->model->dim * task->model->dim; }

static int check(const struct scope *s, const struct ask *a) {
  const struct model *m = &s->oracle->model;
  (void)a;
  return m->outputs > 1 && model_damped(m) && m->dim <= ORACLE_MOST_DIM ? BASE_OK : BASE_ERR_ARGUMENT;
}

/* ---- blocks ---- */

static double *block_of(const struct model *m, size_t k, size_t l, double *sum) {
  return sum + k * m->side + l * m->side * m->dim;
}

/* Weights of a tile for the block of outputs k and l. */
typedef void pair_weights(const struct data_block *b, size_t k, size_t l, const double *slope, const double *part,
                          double *weight);

/* Adds the lower triangles of the blocks on and below the diagonal. */
static void add_blocks(const struct model *m, const struct data_block *b, pair_weights *of, const double *slope,
                       double *const *work, double *sum) {
  double *weight = work[U] + b->rows, *scaled = work[WEIGHT], *again = work[WEIGHT] + b->rows;
  for (size_t l = 0; l < m->outputs; l++) {
    for (size_t k = l; k < m->outputs; k++) {
      of(b, k, l, slope, work[U], weight);
      m->kind->curve(m, b, weight, scaled, again, work[LEFT], m->dim, block_of(m, k, l, sum));
    }
  }
}

/* A block below the diagonal is symmetric by itself, and its upper triangle is a copy in every sum. */
static void complete_blocks(const struct model *m, double *sum) {
  for (size_t l = 0; l < m->outputs; l++) {
    for (size_t k = l + 1; k < m->outputs; k++) {
      double *block = block_of(m, k, l, sum);
      for (size_t j = 0; j < m->side; j++) {
        for (size_t i = 0; i < j; i++) block[i + j * m->dim] = block[j + i * m->dim];
      }
    }
  }
}

/* ---- the Hessian ---- */

/* Slopes less the response's part are probabilities. */
static void probabilities(const struct task *task, const struct data_block *b, double *t, double *p) {
  const struct model *m = task->model;
  m->kind->predict(m, b, task->ask->at, t);
  model_residuals(m, b, t, p);
  for (size_t i = 0; i < b->rows; i++) p[i + loss_class((double)m->outputs, b->y[i]) * b->rows] += 1;
}

static void weights_hessian(const struct data_block *b, size_t k, size_t l, const double *p, const double *part,
                            double *weight) {
  const double *one = p + k * b->rows, *other = p + l * b->rows;
  for (size_t i = 0; i < b->rows; i++) weight[i] = part[i] * one[i] * ((k == l) - other[i]);
}

static void add_hessian(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  for (size_t start = 0; start < b->rows; start += MATRIX_TILE) {
    struct data_block tile = data_tile(b, start, MATRIX_TILE, work[BUFFER]);
    probabilities(task, &tile, work[T], work[V]);
    for (size_t i = 0; i < tile.rows; i++) work[U][i] = data_weight(&tile, i);
    model_damp_curvatures(m, &tile, work[U]);
    add_blocks(m, &tile, weights_hessian, work[V], work, sum);
  }
  complete_blocks(m, sum);
}

/* As a function of the predictors the block of second derivatives has the Lipschitz constant 3/2, and an error e of the
 * probabilities moves it by at most 3 |e|: twice four times its bound covers 2 K + 12 roundings of them and its own. */
static double sensitivity_hessian(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  double upper = model_bounds(m)->curv_upper, bound = loss_bounds_of(m->loss)->curv_upper;
  (void)i;
  return bounds_sensitivity(s, sqrt(bounds_terms(s)) * upper,
                            bounds_outputs_rounding(s, 3 * bound, bounds_norm(s, a->at), 8 * bound));
}

const struct query query_class_hessian = {.name = "class hessian",
                                          .sum = {SUM_MATRIX, width, add_hessian, NULL, "class hessian"},
                                          .mechanism = &mechanism_symmetric,
                                          .keep = KEEP_NOT,
                                          .part = PART_NONE,
                                          .in_coordinates = COORDINATES_DAMPED,
                                          .multi_output = 1,
                                          .check = check,
                                          .sensitivity = sensitivity_hessian};

/* ---- second moments of the gradients ---- */

static void slopes(const struct task *task, const struct data_block *b, double *t, double *slope) {
  const struct model *m = task->model;
  m->kind->predict(m, b, task->ask->at, t);
  model_slopes(m, b, t, NULL, slope);
}

static void weights_products(const struct data_block *b, size_t k, size_t l, const double *slope, const double *part,
                             double *weight) {
  (void)part;
  for (size_t i = 0; i < b->rows; i++) weight[i] = slope[i + k * b->rows] * slope[i + l * b->rows];
}

/* lower triangle of h <- h + g g' */
static void add_square(size_t side, const double *g, double *h) {
  for (size_t j = 0; j < side; j++) la_axpy(side - j, g[j], g + j, h + j + j * side);
}

/* Of a block with whole persons. */
static void add_persons(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  slopes(task, b, work[T], work[V]);
  for (size_t start = 0, end; start < b->rows; start = end) {
    for (end = start + 1; end < b->rows && b->person[end] == b->person[start];) end++;
    const struct data_block own = data_tile(b, start, end - start, work[BUFFER]);
    for (size_t k = 0; k < m->outputs; k++) {
      memcpy(work[U] + k * own.rows, work[V] + start + k * b->rows, own.rows * sizeof(double));
    }
    memset(work[PERSON], 0, m->dim * sizeof(double));
    m->kind->pull(m, &own, work[U], work[WEIGHT], work[PERSON]);
    add_square(m->dim, work[PERSON], sum);
  }
}

static void add_products(const struct task *task, const struct data_block *b, double *const *work, double *sum) {
  const struct model *m = task->model;
  if (b->person) {
    add_persons(task, b, work, sum);
    return;
  }
  for (size_t start = 0; start < b->rows; start += MATRIX_TILE) {
    struct data_block tile = data_tile(b, start, MATRIX_TILE, work[BUFFER]);
    slopes(task, &tile, work[T], work[V]);
    add_blocks(m, &tile, weights_products, work[V], work, sum);
  }
  complete_blocks(m, sum);
}

/* Clipped slopes have the Lipschitz constant of slopes, and the factor by which they are clipped an error of at most
 * (K + 8) u, which a product has twice. */
static double sensitivity_products(const struct scope *s, const struct ask *a, size_t i) {
  const struct model *m = &s->oracle->model;
  const struct loss_bounds *b = loss_bounds_of(m->loss);
  double most = model_bounds(m)->lipschitz, largest = b->lipschitz * b->lipschitz;
  (void)i;
  return bounds_sensitivity(s, sqrt(bounds_terms(s)) * most * most,
                            bounds_outputs_rounding(s, 2 * b->lipschitz * b->curv_upper, bounds_norm(s, a->at),
                                                    4 * largest));
}

const struct query query_class_products = {.name = "class products",
                                           .sum = {SUM_PRODUCTS, width, add_products, NULL, "class products"},
                                           .mechanism = &mechanism_symmetric,
                                           .keep = KEEP_NOT,
                                           .part = PART_NONE,
                                           .in_coordinates = COORDINATES_DAMPED,
                                           .multi_output = 1,
                                           .check = check,
                                           .sensitivity = sensitivity_products};
