/* What the sums need of a block's rows x_i, as they are before clipping and without the intercept. */
#include "base/simd.h"
#include "data/private.h"
#include "la/la.h"

static void add_squares(size_t n, const double *x, double *restrict sum);

void data_matvec(const struct data_block *b, const double *w, double *t) {
  la_matvec(b->rows, b->data->p, b->x, b->ld, w, t);
}

void data_matvec_t_add(const struct data_block *b, const double *v, double *g) {
  la_matvec_t_add(b->rows, b->data->p, b->x, b->ld, v, g);
}

void data_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                        size_t ldc) {
  la_crossprod_add(b->rows, b->data->p, b->x, b->ld, u, v, scratch, c, ldc);
}

void data_squares_add(const struct data_block *b, double *sum) {
  for (size_t j = 0; j < b->data->p; j++) add_squares(b->rows, b->x + j * b->ld, sum);
}

SIMD_CLONES static void add_squares(size_t n, const double *x, double *restrict sum) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) sum[i] += x[i] * x[i];
}
