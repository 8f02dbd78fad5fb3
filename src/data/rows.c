/* What the sums need of a tile, put together from its dense columns and its factors, or from its sparse rows. */
#include "base/simd.h"
#include "data/private.h"
#include "la/la.h"

static void add_squares(size_t n, const double *x, double *restrict sum);

void data_matvec(const struct data_block *b, const double *w, double *t) {
  if (b->data->sparse) {
    data_sparse_matvec(b, w, t);
    return;
  }
  (b->tile ? la_matvec_tile : la_matvec)(b->rows, b->data->columns.dense, b->x, b->ld, w, t);
  data_codes_matvec_add(b, w, t);
}

void data_matvec_t_add(const struct data_block *b, const double *v, double *g) {
  if (b->data->sparse) {
    data_sparse_matvec_t_add(b, v, g);
    return;
  }
  la_matvec_t_add(b->rows, b->data->columns.dense, b->x, b->ld, v, g);
  data_codes_matvec_t_add(b, v, g);
}

void data_fetch_behind(const struct data_block *b, size_t part, size_t parts) {
  size_t columns = b->tile && b->x ? b->data->columns.dense : 0;
  for (size_t j = part * columns / parts; j < (part + 1) * columns / parts; j++) {
    simd_fetch((uintptr_t)(b->x + j * b->ld) + b->rows * sizeof(double), b->rows);
  }
}

void data_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                        size_t ldc) {
  if (b->data->sparse) {
    data_sparse_crossprod_add(b, u, v, c, ldc);
    return;
  }
  la_crossprod_add(b->rows, b->data->columns.dense, b->x, b->ld, u, v, scratch, c, ldc);
  data_codes_crossprod_add(b, u, v, scratch, c, ldc);
}

void data_squares_add(const struct data_block *b, double *sum) {
  if (b->data->sparse) {
    data_sparse_squares_add(b, sum);
    return;
  }
  if (b->single) data_single_squares_add(b, sum);
  for (size_t j = 0; b->x && j < b->data->columns.dense; j++) add_squares(b->rows, b->x + j * b->ld, sum);
  data_codes_squares_add(b, sum);
}

SIMD_CLONES static void add_squares(size_t n, const double *x, double *restrict sum) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) sum[i] += x[i] * x[i];
}
