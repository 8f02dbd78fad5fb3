/* Weighted cross-products of every small shape against plain loops: the places of the result and no others change, and
 * the rounding error is that of sums of products. */
#include "ctest.h"

#include <float.h>
#include <math.h>

#include "la/la.h"

enum { MOST_ROWS = 300, MOST = 14, PAD = 3 };

static void product(size_t m, size_t n);
static void wide(size_t n);
static void extreme_weights(void);

void test_la_crossprod(void) {
  static const size_t rows[] = {0, 1, 2, 7, 8, 9, 31, 64, 257, MOST_ROWS};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (size_t n = 0; n <= MOST; n++) product(rows[k], n);
  for (size_t n = 382; n <= 388; n++) wide(n);
  wide(771);
  extreme_weights();
}

static void fill(size_t n, double *x) {
  for (size_t i = 0; i < n; i++) x[i] = ctest_normal();
}

static void product(size_t m, size_t n) {
  static double a[(MOST_ROWS + PAD) * MOST], scratch[4 * MOST_ROWS + 1], u[MOST_ROWS], v[MOST_ROWS];
  static double c[(MOST + PAD) * (MOST + 1)], before[(MOST + PAD) * (MOST + 1)];
  size_t lda = m + PAD, ldc = n + PAD;
  fill(lda * n, a);
  fill(m, u);
  fill(m, v);
  fill((MOST + PAD) * (MOST + 1), c);
  for (size_t i = 0; i < (MOST + PAD) * (MOST + 1); i++) before[i] = c[i];
  scratch[4 * m] = 17;
  la_crossprod_add(m, n, a, lda, u, v, scratch, c, ldc);
  CHECK(scratch[4 * m] == 17);
  int right = 1, untouched = 1;
  for (size_t j = 0; j < MOST + 1; j++) {
    for (size_t i = 0; i < ldc && i + j * ldc < (MOST + PAD) * (MOST + 1); i++) {
      if (j < n && i < n && i >= j) {
        long double sum = before[i + j * ldc], size = fabsl(sum);
        for (size_t r = 0; r < m; r++) {
          long double term = (long double)u[r] * v[r] * a[r + i * lda] * a[r + j * lda];
          sum += term;
          size += fabsl(term);
        }
        right = right && fabsl(c[i + j * ldc] - sum) <= (long double)(m + 4) * DBL_EPSILON / 2 * size;
      } else {
        untouched = untouched && c[i + j * ldc] == before[i + j * ldc];
      }
    }
  }
  CHECK(right);
  CHECK(untouched);
}

/* More columns than are taken at a time: every entry below the diagonal once, none above it. */
static void wide(size_t n) {
  double *a = base_alloc(2 * n, sizeof *a), *c = base_alloc(n * n, sizeof *c), scratch[8];
  const double u[2] = {1, 2}, v[2] = {3, -1};
  fill(2 * n, a);
  la_crossprod_add(2, n, a, 2, u, v, scratch, c, n);
  int right = 1;
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) {
      double want = 3 * a[2 * i] * a[2 * j] - 2 * a[2 * i + 1] * a[2 * j + 1];
      right = right && fabs(c[i + j * n] - (i >= j ? want : 0)) <= 1e-14;
    }
  }
  CHECK(right);
  base_free(a);
  base_free(c);
}

/* A row of norm 1e150 is scaled by 1e-150: the product of its weights is below the least double. */
static void extreme_weights(void) {
  const double a[2] = {0.6e150, 0.8e150}, u = 1e-20 * 1e-150, v = 1e-150;
  double c[4] = {0, 0, 0, 0}, scratch[4];
  la_crossprod_add(1, 2, a, 1, &u, &v, scratch, c, 2);
  CHECK_NEAR(c[0] / 0.36e-20, 1, 1e-15);
  CHECK_NEAR(c[1] / 0.48e-20, 1, 1e-15);
  CHECK_NEAR(c[3] / 0.64e-20, 1, 1e-15);
}
