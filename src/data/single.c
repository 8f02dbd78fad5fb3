/*
 * Dense columns in single precision. Tiles are widened to doubles, which is
 * exact, and all arithmetic is done on these: the answers are, to the last
 * bit, those of the rounded numbers kept in double precision. Rounding changes
 * a record by itself alone and before it is clipped, so it costs no privacy.
 */
#include "base/simd.h"
#include "data/private.h"

static void widen(size_t n, const float *from, double *restrict to);
static void add_squares(size_t n, const float *x, double *restrict sum);

/* to: rows x dense */
void data_single_widen(const struct data_block *b, double *to) {
  for (size_t j = 0; j < b->data->columns.dense; j++) widen(b->rows, b->single + j * b->ld, to + j * b->rows);
}

void data_single_squares_add(const struct data_block *b, double *sum) {
  for (size_t j = 0; j < b->data->columns.dense; j++) add_squares(b->rows, b->single + j * b->ld, sum);
}

SIMD_CLONES static void widen(size_t n, const float *from, double *restrict to) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) to[i] = (double)from[i];
}

SIMD_CLONES static void add_squares(size_t n, const float *x, double *restrict sum) {
  SIMD_LOOP
  for (size_t i = 0; i < n; i++) sum[i] += (double)x[i] * (double)x[i];
}
