/*
 * Sparse columns, turned into compressed rows once: a pass reads whole rows,
 * for the predictor and again for the gradient or the Hessian, and the rows of a batch
 * may be anywhere. Time and memory are proportional to the number of entries.
 */
#include "data/private.h"

#include <string.h>

/* Compressed rows: the entries of row i are start[i], ..., start[i + 1] - 1. A null record has none. */
struct sparse {
  size_t *start;
  int *column;
  double *value;
};

static void free_rows(void *own);
static size_t width(const struct data *data);
static void matvec(const struct data_block *b, const double *w, double *t);
static void matvec_t_add(const struct data_block *b, const double *v, double *g);
static void crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                          size_t ldc);
static void squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum);
static void outside_add(const struct data_block *b, const double *low, const double *high, double *count);
static void moments_add(const struct data_block *b, const double *weight, const double *most, double *g);
static double additions(const struct data *data, double blocks, double groups);
static int compress_rows(struct data *data, const struct data_compressed *x);

/* Rows are read in place, also those of a batch. */
static const struct rows_kind sparse = {
    .free = free_rows,
    .width = width,
    .matvec = matvec,
    .matvec_t_add = matvec_t_add,
    .crossprod_add = crossprod_add,
    .squares_add = squares_add,
    .outside_add = outside_add,
    .moments_add = moments_add,
    .additions = additions,
};

enum data_fault data_check_compressed(const struct data_compressed *x, size_t n, size_t p) {
  if (x->starts != p + 1 || x->rows != x->values) return DATA_LENGTHS;
  if (x->start[0] != 0 || x->start[p] < 0 || (size_t)x->start[p] != x->rows) return DATA_STARTS;
  for (size_t j = 0; j < p; j++) {
    if (x->start[j] > x->start[j + 1]) return DATA_STARTS;
  }
  for (size_t k = 0; k < x->rows; k++) {
    if (x->row[k] < 0 || (size_t)x->row[k] >= n) return DATA_RANGE;
  }
  for (size_t j = 0; j < p; j++) {
    for (int k = x->start[j] + 1; k < x->start[j + 1]; k++) {
      if (x->row[k - 1] >= x->row[k]) return DATA_ORDER;
    }
  }
  return DATA_SOUND;
}

int data_create_sparse(const struct data_compressed *x, size_t n, size_t p, int intercept, double radius,
                       const double *y, struct data **out) {
  *out = NULL;
  if (data_check_compressed(x, n, p) != DATA_SOUND) return BASE_ERR_ARGUMENT;
  struct data *data;
  int status = data_open(&sparse, n, p, intercept, radius, y, &data);
  if (status != BASE_OK) return status;
  for (size_t i = 0; i < n; i++) data->clip[i] = data->intercept;
  for (size_t k = 0; k < x->values; k++) data->clip[x->row[k]] += x->value[k] * x->value[k];
  for (size_t j = 0; j < data_blocks(data, NULL); j++) data_finish_clips(data, j);
  status = compress_rows(data, x);
  if (status != BASE_OK) {
    data_free(data);
    return status;
  }
  *out = data;
  return BASE_OK;
}

/* start[i + 2] first counts the entries of row i; then start[i + 1] is the place of its next entry, and in the end the
 * beginning of row i + 1. Columns are processed in order, so the columns in a row ascend. */
static int compress_rows(struct data *data, const struct data_compressed *x) {
  struct sparse *rows = data->own = base_alloc(1, sizeof *rows);
  if (!rows) return BASE_ERR_MEMORY;
  rows->start = base_alloc(data->n + 2, sizeof *rows->start);
  if (!rows->start) return BASE_ERR_MEMORY;
  for (size_t k = 0; k < x->rows; k++) {
    if (data->clip[x->row[k]] > 0) rows->start[x->row[k] + 2]++;
  }
  for (size_t i = 0; i < data->n; i++) rows->start[i + 2] += rows->start[i + 1];
  rows->column = base_alloc(rows->start[data->n + 1], sizeof *rows->column);
  rows->value = base_alloc(rows->start[data->n + 1], sizeof *rows->value);
  if (!rows->column || !rows->value) return BASE_ERR_MEMORY;
  for (size_t j = 0; j < data->p; j++) {
    for (int k = x->start[j]; k < x->start[j + 1]; k++) {
      if (!(data->clip[x->row[k]] > 0)) continue;
      size_t to = rows->start[x->row[k] + 1]++;
      rows->column[to] = (int)j;
      rows->value[to] = x->value[k];
    }
  }
  return BASE_OK;
}

static void free_rows(void *own) {
  struct sparse *rows = own;
  if (!rows) return;
  base_free(rows->start);
  base_free(rows->column);
  base_free(rows->value);
  base_free(rows);
}

static size_t width(const struct data *data) {
  (void)data;
  return 0;
}

/* A row's term is added directly to its group's sum. */
static double additions(const struct data *data, double blocks, double groups) {
  (void)data;
  return DATA_BLOCK * blocks + groups;
}

/* ---- products ---- */

static void matvec(const struct data_block *b, const double *w, double *t) {
  const struct sparse *rows = b->data->own;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = data_row(b, i);
    double sum = 0;
    for (size_t k = rows->start[row]; k < rows->start[row + 1]; k++) sum += rows->value[k] * w[rows->column[k]];
    t[i] = sum;
  }
}

static void matvec_t_add(const struct data_block *b, const double *v, double *g) {
  const struct sparse *rows = b->data->own;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = data_row(b, i);
    for (size_t k = rows->start[row]; k < rows->start[row + 1]; k++) g[rows->column[k]] += rows->value[k] * v[i];
  }
}

/* Without scratch memory. */
static void crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                          size_t ldc) {
  (void)scratch;
  const struct sparse *rows = b->data->own;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = data_row(b, i), end = rows->start[row + 1];
    for (size_t k = rows->start[row]; k < end; k++) {
      double left = u[i] * (v[i] * rows->value[k]);
      double *to = c + (size_t)rows->column[k] * ldc;
      for (size_t l = k; l < end; l++) to[rows->column[l]] += left * rows->value[l];
    }
  }
}

static void squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum) {
  const struct sparse *rows = b->data->own;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = data_row(b, i);
    for (size_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
      int j = rows->column[k];
      double x = rows->value[k];
      sum[i] += (weight ? weight[j] * x - linear[j] : x) * x;
    }
  }
}

/* The zeros are never outside. */
static void outside_add(const struct data_block *b, const double *low, const double *high, double *count) {
  const struct sparse *rows = b->data->own;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = data_row(b, i);
    for (size_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
      int j = rows->column[k];
      count[i] += rows->value[k] < low[j] || rows->value[k] > high[j];
    }
  }
}

static void moments_add(const struct data_block *b, const double *weight, const double *most, double *g) {
  const struct sparse *rows = b->data->own;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = data_row(b, i);
    for (size_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
      int j = rows->column[k];
      double v = weight ? weight[i] : 1;
      if (most[j] > 0) g[j] += v * data_moment(b->clip[i] * rows->value[k], most[j]);
    }
  }
}
