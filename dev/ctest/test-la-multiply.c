/* Products of tiles with some columns, of every small shape, against plain loops. */
#include "ctest.h"

#include <float.h>
#include <math.h>

#include "la/la.h"

enum { MOST_ROWS = 131, MOST = 11, MOST_K = 7, PAD = 3 };

static void product(size_t m, size_t n, size_t k);

void test_la_multiply(void) {
  static const size_t rows[] = {1, 2, 7, 8, 64, MOST_ROWS};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    for (size_t n = 0; n <= MOST; n++)
      for (size_t k = 1; k <= MOST_K; k++) product(rows[r], n, k);
}

static void fill(size_t n, double *x) {
  for (size_t i = 0; i < n; i++) x[i] = ctest_normal();
}

static int near(double got, long double sum, long double size, size_t terms) {
  return fabsl(got - sum) <= (long double)(terms + 4) * DBL_EPSILON / 2 * size;
}

static void product(size_t m, size_t n, size_t k) {
  static double a[(MOST_ROWS + PAD) * MOST], x[(MOST + PAD) * MOST_K], v[MOST_ROWS * MOST_K];
  static double y[MOST_ROWS * MOST_K + 1], g[(MOST + PAD) * MOST_K], before[(MOST + PAD) * MOST_K];
  size_t lda = m + PAD, ld = n + PAD;
  int right = 1, added = 1, untouched = 1;
  fill(lda * n, a);
  fill(ld * k, x);
  fill(m * k, v);
  fill((MOST + PAD) * MOST_K, g);
  for (size_t i = 0; i < (MOST + PAD) * MOST_K; i++) before[i] = g[i];
  y[m * k] = 17;
  la_multiply(m, n, k, a, lda, x, ld, y);
  la_multiply_t_add(m, n, k, a, lda, v, g, ld);
  CHECK(y[m * k] == 17);
  for (size_t c = 0; c < k; c++) {
    for (size_t i = 0; i < m; i++) {
      long double sum = 0, size = 0;
      for (size_t j = 0; j < n; j++) {
        sum += (long double)a[i + j * lda] * x[j + c * ld];
        size += fabsl((long double)a[i + j * lda] * x[j + c * ld]);
      }
      right = right && near(y[i + c * m], sum, size, n);
    }
    for (size_t j = 0; j < ld; j++) {
      long double sum = before[j + c * ld], size = fabsl(sum);
      for (size_t i = 0; i < m && j < n; i++) {
        sum += (long double)a[i + j * lda] * v[i + c * m];
        size += fabsl((long double)a[i + j * lda] * v[i + c * m]);
      }
      if (j < n) added = added && near(g[j + c * ld], sum, size, m + 1);
      if (j >= n) untouched = untouched && g[j + c * ld] == before[j + c * ld];
    }
  }
  CHECK(right);
  CHECK(added);
  CHECK(untouched);
}
