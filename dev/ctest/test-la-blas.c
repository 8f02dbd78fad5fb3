/* The wrappers against plain loops, with a leading dimension larger than the rows, and with no rows or no columns. */
#include "ctest.h"

#include <math.h>

#include "la/la.h"

enum { ROWS = 21, COLUMNS = 9, STRIDE = 23 };

static void vectors(void);
static void matrices(size_t m, size_t n);
static void untouched(void);
static void extreme_norms(void);
static void fill(size_t n, double *x);

void test_la_blas(void) {
  vectors();
  matrices(ROWS, COLUMNS);
  matrices(COLUMNS, ROWS);
  matrices(1, 1);
  matrices(1, COLUMNS);
  matrices(ROWS, 1);
  matrices(ROWS, 0);
  matrices(0, COLUMNS);
  matrices(0, 0);
  untouched();
  extreme_norms();
}

static void vectors(void) {
  const double x[3] = {1, -2, 3};
  double y[3] = {4, 5, 6};
  CHECK(la_dot(3, x, y) == 12);
  CHECK(la_dot(0, x, y) == 0);
  CHECK_NEAR(la_norm(3, x), sqrt(14), 1e-15);
  CHECK(la_norm(0, x) == 0);
  la_axpy(3, 2, x, y);
  CHECK(y[0] == 6 && y[1] == 1 && y[2] == 12);
  la_axpy(2, -1, x, y);
  CHECK(y[0] == 5 && y[1] == 3 && y[2] == 12);
  la_scale(2, -3, y);
  CHECK(y[0] == -15 && y[1] == -9 && y[2] == 12);
  la_scale(0, 7, y);
  la_axpy(0, 7, x, y);
  CHECK(y[0] == -15 && y[1] == -9 && y[2] == 12);
}

/* y and z have guard places that must stay as they are. */
static void matrices(size_t m, size_t n) {
  double a[STRIDE * ROWS], x[ROWS], t[ROWS], y[ROWS + 1], z[ROWS + 1], c[ROWS * ROWS];
  fill(STRIDE * ROWS, a);
  fill(ROWS, x);
  fill(ROWS, t);
  fill(ROWS + 1, y);
  fill(ROWS + 1, z);
  fill(ROWS * ROWS, c);
  const double guard_y = y[m], guard_z = z[n];

  double expected[ROWS] = {0};
  for (size_t j = 0; j < n; j++) expected[j] = z[j];
  for (int tile = 0; tile <= 1; tile++) {
    (tile ? la_matvec_tile : la_matvec)(m, n, a, STRIDE, x, y);
    for (size_t i = 0; i < m; i++) {
      double sum = 0;
      for (size_t j = 0; j < n; j++) sum += a[i + j * STRIDE] * x[j];
      CHECK_NEAR(y[i], sum, 1e-14);
      y[i] = NAN;
    }
    CHECK(y[m] == guard_y);
  }

  la_matvec_t_add(m, n, a, STRIDE, t, z);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < m; i++) expected[j] += a[i + j * STRIDE] * t[i];
    CHECK_NEAR(z[j], expected[j], 1e-14);
  }
  CHECK(z[n] == guard_z);

  la_symmetrise(n, c);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < j; i++) CHECK(c[i + j * n] == c[j + i * n]);
}

/* The product with no columns is zero, whatever was there, not a number included. */
static void untouched(void) {
  const double a = 1;
  double y[2] = {NAN, 3};
  la_matvec(2, 0, &a, 2, &a, y);
  CHECK(y[0] == 0 && y[1] == 0);
}

/* Norms of huge and tiny vectors neither overflow nor vanish. */
static void extreme_norms(void) {
  const double huge[2] = {3e300, 4e300}, tiny[2] = {3e-300, 4e-300};
  CHECK_NEAR(la_norm(2, huge) / 5e300, 1, 1e-14);
  CHECK_NEAR(la_norm(2, tiny) / 5e-300, 1, 1e-14);
}

static void fill(size_t n, double *x) {
  for (size_t i = 0; i < n; i++) x[i] = ctest_normal();
}
