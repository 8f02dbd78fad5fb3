/*
 * Products of a tall, narrow block with one or several vectors, four columns at a time. Not by
 * BLAS: a threaded dgemv wakes its threads for every block, which costs more
 * than the product, and a hundred times more when the other cores are busy.
 *
 * The products of a tile, which is in a near cache, prefetch the rows after it while
 * the memory is idle: one line for every line that is read, because the
 * processor stalls when it requests many at once. The transposed product takes
 * longer and prefetches three quarters.
 */
#include "base/simd.h"
#include "la/la.h"

#include <string.h>

/* y <- y + A x, from column j on */
SIMD_INLINE void add_columns(size_t m, size_t n, const double *a, size_t lda, const double *x, double *restrict y,
                             size_t j) {
  for (; j < n; j++) {
    const double *column = a + j * lda, xj = x[j];
    SIMD_LOOP
    for (size_t i = 0; i < m; i++) y[i] += column[i] * xj;
  }
}

SIMD_CLONES void la_matvec(size_t m, size_t n, const double *a, size_t lda, const double *x, double *restrict y) {
  memset(y, 0, m * sizeof *y);
  size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const double *a0 = a + j * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    SIMD_LOOP
    for (size_t i = 0; i < m; i++) y[i] += (a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3);
  }
  add_columns(m, n, a, lda, x, y, j);
}

SIMD_CLONES void la_matvec_tile(size_t m, size_t n, const double *a, size_t lda, const double *x, double *restrict y) {
  memset(y, 0, m * sizeof *y);
  size_t j = 0;
#ifdef SIMD_VECTOR
  for (; j + 4 <= n; j += 4) {
    const double *a0 = a + j * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const simd_vector x0 = SIMD_ALL(x[j]), x1 = SIMD_ALL(x[j + 1]), x2 = SIMD_ALL(x[j + 2]), x3 = SIMD_ALL(x[j + 3]);
    size_t i = 0;
    for (; i + SIMD_LINE <= m; i += SIMD_LINE) {
      const size_t k = i + SIMD_LINE / 2;
      SIMD_FETCH((uintptr_t)a0 + (m + i) * sizeof *a);
      SIMD_AT(y + i) += (SIMD_AT(a0 + i) * x0 + SIMD_AT(a1 + i) * x1) + (SIMD_AT(a2 + i) * x2 + SIMD_AT(a3 + i) * x3);
      SIMD_AT(y + k) += (SIMD_AT(a0 + k) * x0 + SIMD_AT(a1 + k) * x1) + (SIMD_AT(a2 + k) * x2 + SIMD_AT(a3 + k) * x3);
    }
    for (; i < m; i++) y[i] += (a0[i] * x[j] + a1[i] * x[j + 1]) + (a2[i] * x[j + 2] + a3[i] * x[j + 3]);
  }
#endif
  add_columns(m, n, a, lda, x, y, j);
}

/* Two columns of Y at a time, so that A is read once for both and constants stay in registers. */
SIMD_INLINE void add_to_two(size_t m, size_t n, const double *a, size_t lda, const double *x, size_t ldx,
                            double *restrict y0, double *restrict y1, size_t j) {
  const double *z = x + ldx;
  if (j + 4 <= n) {
    const double *a0 = a + j * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    const double z0 = z[j], z1 = z[j + 1], z2 = z[j + 2], z3 = z[j + 3];
    SIMD_LOOP
    for (size_t i = 0; i < m; i++) {
      y0[i] += (a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3);
      y1[i] += (a0[i] * z0 + a1[i] * z1) + (a2[i] * z2 + a3[i] * z3);
    }
    return;
  }
  add_columns(m, n, a, lda, x, y0, j);
  add_columns(m, n, a, lda, z, y1, j);
}

SIMD_INLINE void add_to_one(size_t m, size_t n, const double *a, size_t lda, const double *x, double *restrict y,
                            size_t j) {
  size_t end = j + 4 < n ? j + 4 : n;
  add_columns(m, end, a, lda, x, y, j);
}

/* Four columns of A at a time, which stay in the first-level cache for all columns of Y. */
SIMD_CLONES void la_multiply(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *x, size_t ldx,
                             double *restrict y) {
  memset(y, 0, m * k * sizeof *y);
  for (size_t j = 0; j < n; j += 4) {
    size_t c = 0;
    for (; c + 2 <= k; c += 2) add_to_two(m, n, a, lda, x + c * ldx, ldx, y + c * m, y + (c + 1) * m, j);
    if (c < k) add_to_one(m, n, a, lda, x + c * ldx, y + c * m, j);
  }
}

SIMD_CLONES void la_matvec_t_add(size_t m, size_t n, const double *a, size_t lda, const double *x, double *y) {
  size_t j = 0;
#ifdef SIMD_VECTOR
  for (; j + 4 <= n; j += 4) {
    const double *a0 = a + j * lda, *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    simd_vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
    size_t i = 0;
    for (; i + SIMD_LINE <= m; i += SIMD_LINE) {
      const size_t k = i + SIMD_LINE / 2;
      const simd_vector xi = SIMD_AT(x + i), xk = SIMD_AT(x + k);
      SIMD_FETCH((uintptr_t)a1 + (m + i) * sizeof *a);
      SIMD_FETCH((uintptr_t)a2 + (m + i) * sizeof *a);
      SIMD_FETCH((uintptr_t)a3 + (m + i) * sizeof *a);
      s0 += SIMD_AT(a0 + i) * xi, t0 += SIMD_AT(a0 + k) * xk;
      s1 += SIMD_AT(a1 + i) * xi, t1 += SIMD_AT(a1 + k) * xk;
      s2 += SIMD_AT(a2 + i) * xi, t2 += SIMD_AT(a2 + k) * xk;
      s3 += SIMD_AT(a3 + i) * xi, t3 += SIMD_AT(a3 + k) * xk;
    }
    for (; i < m; i++) {
      s0[0] += a0[i] * x[i];
      s1[0] += a1[i] * x[i];
      s2[0] += a2[i] * x[i];
      s3[0] += a3[i] * x[i];
    }
    s0 += t0, s1 += t1, s2 += t2, s3 += t3;
    y[j] += (s0[0] + s0[1]) + (s0[2] + s0[3]);
    y[j + 1] += (s1[0] + s1[1]) + (s1[2] + s1[3]);
    y[j + 2] += (s2[0] + s2[1]) + (s2[2] + s2[3]);
    y[j + 3] += (s3[0] + s3[1]) + (s3[2] + s3[3]);
  }
#endif
  for (; j < n; j++) {
    const double *column = a + j * lda;
    double s = 0;
    SIMD_SUM(s)
    for (size_t i = 0; i < m; i++) s += column[i] * x[i];
    y[j] += s;
  }
}
