/*
 * Products of a tall, narrow block with a vector, four columns at a time. Not
 * BLAS: a threaded dgemv wakes its threads for every block, which costs more
 * than the product, and a hundred times more when the other cores are busy.
 */
#include "base/simd.h"
#include "la/la.h"

#include <string.h>

/* The m rows behind: of a tile that is near already, while the memory has nothing to do. */
SIMD_INLINE void fetch_behind(size_t m, const double *column) { simd_fetch((uintptr_t)column + m * sizeof *column, m); }

/* A quarter of the next tile: la_matvec_t_add(), which takes longer, fetches the rest. */
SIMD_INLINE void matvec(size_t m, size_t n, const double *a, size_t lda, const double *x, double *restrict y, int tile) {
  memset(y, 0, m * sizeof *y);
  size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const double *a0 = a + j * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    if (tile) fetch_behind(m, a0);
    SIMD_LOOP
    for (size_t i = 0; i < m; i++) y[i] += (a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3);
  }
  for (; j < n; j++) {
    const double *column = a + j * lda, xj = x[j];
    SIMD_LOOP
    for (size_t i = 0; i < m; i++) y[i] += column[i] * xj;
  }
}

SIMD_CLONES void la_matvec(size_t m, size_t n, const double *a, size_t lda, const double *x, double *restrict y) {
  matvec(m, n, a, lda, x, y, 0);
}

SIMD_CLONES void la_matvec_tile(size_t m, size_t n, const double *a, size_t lda, const double *x,
                                double *restrict y) {
  matvec(m, n, a, lda, x, y, 1);
}

SIMD_CLONES void la_matvec_t_add(size_t m, size_t n, const double *a, size_t lda, const double *x, double *y) {
  size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const double *a0 = a + j * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    fetch_behind(m, a1), fetch_behind(m, a2), fetch_behind(m, a3);
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    SIMD_SUM(s0, s1, s2, s3)
    for (size_t i = 0; i < m; i++) {
      s0 += a0[i] * x[i];
      s1 += a1[i] * x[i];
      s2 += a2[i] * x[i];
      s3 += a3[i] * x[i];
    }
    y[j] += s0;
    y[j + 1] += s1;
    y[j + 2] += s2;
    y[j + 3] += s3;
  }
  for (; j < n; j++) {
    const double *column = a + j * lda;
    double s = 0;
    SIMD_SUM(s)
    for (size_t i = 0; i < m; i++) s += column[i] * x[i];
    y[j] += s;
  }
}
