/*
 * Products in which the numbers of a vector register belong to different rows, so that each row goes through the same
 * operations, in the same order, whatever the number and the values of the other rows. BLAS does not guarantee this.
 */
#include "base/simd.h"
#include "la/la.h"

/* Columns that are computed together, and terms of a sum: the packed part of y fits the first-level cache. */
#define COLUMNS 4
#define DEPTH 256
#define ROWS (2 * SIMD_LANES)

static size_t smaller(size_t x, size_t y) { return x < y ? x : y; }

/* Absent columns are filled with zeros. */
static void pack(size_t columns, size_t depth, const double *y, size_t step_k, size_t step_n, double *packed) {
  for (size_t k = 0; k < depth; k++) {
    for (size_t j = 0; j < COLUMNS; j++) packed[k * COLUMNS + j] = j < columns ? y[k * step_k + j * step_n] : 0;
  }
}

SIMD_INLINE void multiply(size_t depth, const double *x, size_t ldx, const double *y, double sums[COLUMNS][ROWS]) {
  simd_vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
  for (size_t k = 0; k < depth; k++, x += ldx, y += COLUMNS) {
    const simd_vector x0 = SIMD_AT(x), x1 = SIMD_AT(x + SIMD_LANES);
    s0 += x0 * y[0], t0 += x1 * y[0];
    s1 += x0 * y[1], t1 += x1 * y[1];
    s2 += x0 * y[2], t2 += x1 * y[2];
    s3 += x0 * y[3], t3 += x1 * y[3];
  }
  SIMD_AT(sums[0]) = s0, SIMD_AT(sums[0] + SIMD_LANES) = t0;
  SIMD_AT(sums[1]) = s1, SIMD_AT(sums[1] + SIMD_LANES) = t1;
  SIMD_AT(sums[2]) = s2, SIMD_AT(sums[2] + SIMD_LANES) = t2;
  SIMD_AT(sums[3]) = s3, SIMD_AT(sums[3] + SIMD_LANES) = t3;
}

SIMD_CLONES static void add_columns(size_t m, size_t columns, size_t depth, const double *x, size_t ldx,
                                    const double *packed, double *c, size_t ldc) {
  double sums[COLUMNS][ROWS];
  for (size_t i = 0; i < m; i += ROWS) {
    multiply(depth, x + i, ldx, packed, sums);
    size_t rows = smaller(ROWS, m - i);
    for (size_t j = 0; j < columns; j++) {
      for (size_t r = 0; r < rows; r++) c[i + r + j * ldc] += sums[j][r];
    }
  }
}

void la_lanes_add(size_t m, size_t n, size_t depth, const double *x, size_t ldx, const double *y, size_t step_k,
                  size_t step_n, double *c, size_t ldc) {
  double packed[DEPTH * COLUMNS];
  for (size_t j = 0; j < n; j += COLUMNS) {
    size_t columns = smaller(COLUMNS, n - j);
    for (size_t k = 0; k < depth; k += DEPTH) {
      size_t some = smaller(DEPTH, depth - k);
      pack(columns, some, y + k * step_k + j * step_n, step_k, step_n, packed);
      add_columns(m, columns, some, x + k * ldx, ldx, packed, c + j * ldc, ldc);
    }
  }
}
