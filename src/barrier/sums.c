/*
 * The exact sums over the data, block by block.
 *
 * With z_i the clipped row of record i and t_i = z_i'w:
 *   f = (1/n) sum l(y_i, t_i),  g = (1/n) sum l'_i z_i,  H = (1/n) sum l''_i z_i z_i'.
 * The majorant is H with c_i (loss_majorant) for l''_i; a trace is the sum of weights times |z_i|^2.
 * Blocks are summed in a fixed order, so the rounding bounds of sensitivity.c
 * hold whatever BLAS does inside a block.
 */
#include "barrier/private.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

/* An interrupt is looked for every so many blocks: milliseconds apart. */
#define STOP_EVERY 16

static int stop_at(size_t block);
static void predictor(const struct oracle *o, const struct data_block *b, const double *w, double *t);
static double weighted_squares(const struct oracle *o, const struct data_block *b, const double *weight);
static void add_weighted_rows(const struct oracle *o, const struct data_block *b, const double *weight, double *g);
static void add_crossprod(const struct oracle *o, const struct data_block *b, const double *weight, double sign,
                          double *h);

int sums_value(const struct oracle *o, const double *w, double *value) {
  double total = 0;
  for (size_t j = 0; j < data_blocks(o->data); j++) {
    if (stop_at(j)) return BASE_ERR_STOPPED;
    struct data_block b = data_block_at(o->data, j, o->buffer);
    predictor(o, &b, w, o->t);
    total += loss_sum(o->loss, b.rows, b.y, o->t);
  }
  *value = total / (double)o->data->n;
  return BASE_OK;
}

int sums_gradient(const struct oracle *o, const double *w, double *gradient) {
  size_t dim = data_dim(o->data);
  memset(gradient, 0, dim * sizeof(double));
  for (size_t j = 0; j < data_blocks(o->data); j++) {
    if (stop_at(j)) return BASE_ERR_STOPPED;
    struct data_block b = data_block_at(o->data, j, o->buffer);
    predictor(o, &b, w, o->t);
    loss_eval(o->loss, b.rows, b.y, o->t, NULL, o->v1, NULL);
    add_weighted_rows(o, &b, o->v1, gradient);
  }
  la_scale(dim, 1 / (double)o->data->n, gradient);
  return BASE_OK;
}

int sums_hessian(const struct oracle *o, const double *w, double *hessian) {
  size_t dim = data_dim(o->data);
  memset(hessian, 0, dim * dim * sizeof(double));
  for (size_t j = 0; j < data_blocks(o->data); j++) {
    if (stop_at(j)) return BASE_ERR_STOPPED;
    struct data_block b = data_block_at(o->data, j, o->buffer);
    predictor(o, &b, w, o->t);
    loss_eval(o->loss, b.rows, b.y, o->t, NULL, NULL, o->v1);
    add_crossprod(o, &b, o->v1, 1, hessian);
    if (loss_bounds_of(o->loss)->curv_lower > 0) add_crossprod(o, &b, o->v1, -1, hessian);
  }
  la_scale(dim * dim, 1 / (double)o->data->n, hessian);
  la_symmetrise(dim, hessian);
  return BASE_OK;
}

int sums_majorant(const struct oracle *o, const double *w, double *matrix) {
  size_t dim = data_dim(o->data);
  memset(matrix, 0, dim * dim * sizeof(double));
  for (size_t j = 0; j < data_blocks(o->data); j++) {
    if (stop_at(j)) return BASE_ERR_STOPPED;
    struct data_block b = data_block_at(o->data, j, o->buffer);
    predictor(o, &b, w, o->t);
    loss_majorant(o->loss, b.rows, o->t, o->v1);
    add_crossprod(o, &b, o->v1, 1, matrix);
  }
  la_scale(dim * dim, 1 / (double)o->data->n, matrix);
  la_symmetrise(dim, matrix);
  return BASE_OK;
}

int sums_trace(const struct oracle *o, const double *w, enum oracle_curvature curvature, double *trace) {
  double total = 0;
  for (size_t j = 0; j < data_blocks(o->data); j++) {
    if (stop_at(j)) return BASE_ERR_STOPPED;
    struct data_block b = data_block_at(o->data, j, o->buffer);
    predictor(o, &b, w, o->t);
    if (curvature == ORACLE_HESSIAN) loss_eval(o->loss, b.rows, b.y, o->t, NULL, NULL, o->v1);
    if (curvature == ORACLE_MAJORANT) loss_majorant(o->loss, b.rows, o->t, o->v1);
    total += weighted_squares(o, &b, o->v1);
  }
  *trace = total / (double)o->data->n;
  return BASE_OK;
}

int sums_decreases(const struct oracle *o, const double *w, const double *direction, size_t k, const double *step,
                   double *decrease) {
  memset(decrease, 0, k * sizeof(double));
  for (size_t j = 0; j < data_blocks(o->data); j++) {
    if (stop_at(j)) return BASE_ERR_STOPPED;
    struct data_block b = data_block_at(o->data, j, o->buffer);
    predictor(o, &b, w, o->t);
    predictor(o, &b, direction, o->u);
    double here = loss_sum(o->loss, b.rows, b.y, o->t);
    for (size_t c = 0; c < k; c++) {
      for (size_t i = 0; i < b.rows; i++) o->v1[i] = o->t[i] + step[c] * o->u[i];
      decrease[c] += here - loss_sum(o->loss, b.rows, b.y, o->v1);
    }
  }
  la_scale(k, 1 / (double)o->data->n, decrease);
  return BASE_OK;
}

static int stop_at(size_t block) { return block % STOP_EVERY == 0 && base_stop_requested(); }

/* t <- Z w */
static void predictor(const struct oracle *o, const struct data_block *b, const double *w, double *t) {
  double constant = o->data->intercept ? w[0] : 0;
  la_matvec(b->rows, o->data->p, b->x, b->ld, w + o->data->intercept, t);
  for (size_t i = 0; i < b->rows; i++) t[i] = b->scale[i] * (t[i] + constant);
}

/* g <- g + Z' weight */
static void add_weighted_rows(const struct oracle *o, const struct data_block *b, const double *weight, double *g) {
  double total = 0;
  for (size_t i = 0; i < b->rows; i++) {
    o->v2[i] = b->scale[i] * weight[i];
    total += o->v2[i];
  }
  if (o->data->intercept) g[0] += total;
  la_matvec_t_add(b->rows, o->data->p, b->x, b->ld, o->v2, g + o->data->intercept);
}

/* sum of weight_i |z_i|^2 */
static double weighted_squares(const struct oracle *o, const struct data_block *b, const double *weight) {
  double total = 0;
  for (size_t i = 0; i < b->rows; i++) o->v2[i] = o->data->intercept ? 1 : 0;
  for (size_t j = 0; j < o->data->p; j++) {
    const double *column = b->x + j * b->ld;
    for (size_t i = 0; i < b->rows; i++) o->v2[i] += column[i] * column[i];
  }
  /* Scaled twice: the square of a scale may underflow, and that of a long row overflow. */
  for (size_t i = 0; i < b->rows; i++) total += weight[i] * (b->scale[i] * (b->scale[i] * o->v2[i]));
  return total;
}

/* lower triangle of h <- h + sign * Z' diag(max(sign * weight, 0)) Z */
static void add_crossprod(const struct oracle *o, const struct data_block *b, const double *weight, double sign,
                          double *h) {
  size_t dim = data_dim(o->data), rows = b->rows;
  double *root = o->v2, *copy = o->buffer + DATA_BLOCK * o->data->p;
  for (size_t i = 0; i < rows; i++) {
    double positive = sign * weight[i];
    root[i] = positive > 0 ? b->scale[i] * sqrt(positive) : 0;
  }
  if (o->data->intercept) memcpy(copy, root, rows * sizeof(double));
  for (size_t j = 0; j < o->data->p; j++) {
    const double *from = b->x + j * b->ld;
    double *to = copy + (j + (size_t)o->data->intercept) * rows;
    for (size_t i = 0; i < rows; i++) to[i] = root[i] * from[i];
  }
  la_crossprod_add(rows, dim, copy, rows, sign, h);
}
