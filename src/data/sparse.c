/*
 * Sparse columns, turned into compressed rows once: a pass reads whole rows,
 * for the predictor and again for the gradient or the Hessian, and a batch's
 * rows lie anywhere. Time and memory are in proportion to the entries.
 */
#include "data/private.h"

#include <string.h>

static int compress_rows(struct data *data, const struct data_compressed *x);

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
  int status = data_open(n, p, intercept, radius, y, &data);
  if (status != BASE_OK) return status;
  data->sparse = 1;
  for (size_t i = 0; i < n; i++) data->scale[i] = data->intercept;
  for (size_t k = 0; k < x->values; k++) data->scale[x->row[k]] += x->value[k] * x->value[k];
  for (size_t j = 0; j < data_blocks(data, NULL); j++) data_finish_scales(data, j);
  status = compress_rows(data, x);
  if (status != BASE_OK) {
    data_free(data);
    return status;
  }
  *out = data;
  return BASE_OK;
}

/* start[i + 2] counts the entries of row i, then start[i + 1] is where its next one goes and ends as where row i + 1
 * begins. Columns are taken in order, so a row's columns rise. */
static int compress_rows(struct data *data, const struct data_compressed *x) {
  data->start = base_alloc(data->n + 2, sizeof *data->start);
  if (!data->start) return BASE_ERR_MEMORY;
  for (size_t k = 0; k < x->rows; k++) {
    if (data->scale[x->row[k]] > 0) data->start[x->row[k] + 2]++;
  }
  for (size_t i = 0; i < data->n; i++) data->start[i + 2] += data->start[i + 1];
  data->column = base_alloc(data->start[data->n + 1], sizeof *data->column);
  data->value = base_alloc(data->start[data->n + 1], sizeof *data->value);
  if (!data->column || !data->value) return BASE_ERR_MEMORY;
  for (size_t j = 0; j < data->p; j++) {
    for (int k = x->start[j]; k < x->start[j + 1]; k++) {
      if (!(data->scale[x->row[k]] > 0)) continue;
      size_t to = data->start[x->row[k] + 1]++;
      data->column[to] = (int)j;
      data->value[to] = x->value[k];
    }
  }
  return BASE_OK;
}

/* ---- products ---- */

static size_t row_at(const struct data_block *b, size_t i) { return b->row ? b->row[i] : b->start + i; }

void data_sparse_matvec(const struct data_block *b, const double *w, double *t) {
  const struct data *d = b->data;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = row_at(b, i);
    double sum = 0;
    for (size_t k = d->start[row]; k < d->start[row + 1]; k++) sum += d->value[k] * w[d->column[k]];
    t[i] = sum;
  }
}

void data_sparse_matvec_t_add(const struct data_block *b, const double *v, double *g) {
  const struct data *d = b->data;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = row_at(b, i);
    for (size_t k = d->start[row]; k < d->start[row + 1]; k++) g[d->column[k]] += d->value[k] * v[i];
  }
}

void data_sparse_crossprod_add(const struct data_block *b, const double *u, const double *v, double *c, size_t ldc) {
  const struct data *d = b->data;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = row_at(b, i), end = d->start[row + 1];
    for (size_t k = d->start[row]; k < end; k++) {
      double left = u[i] * (v[i] * d->value[k]);
      double *to = c + (size_t)d->column[k] * ldc;
      for (size_t l = k; l < end; l++) to[d->column[l]] += left * d->value[l];
    }
  }
}

void data_sparse_squares_add(const struct data_block *b, double *sum) {
  const struct data *d = b->data;
  for (size_t i = 0; i < b->rows; i++) {
    size_t row = row_at(b, i);
    for (size_t k = d->start[row]; k < d->start[row + 1]; k++) sum[i] += d->value[k] * d->value[k];
  }
}
