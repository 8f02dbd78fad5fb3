/* Cholesky solves and whole spectra: residuals within the bounds that the sensitivities assume, and refusals. */
#include "ctest.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "la/la.h"

enum { MOST = 60, LARGE = 140 }; /* LARGE is beyond what la_eigen_released() leaves to la_eigen_all() */

typedef int eigen_of(size_t d, double *a, double *values);

static void solves(size_t d, double shift);
static void spectrum(size_t d, double shift, eigen_of *eigen);
static void refusals(void);

void test_la_definite(void) {
  static const size_t dims[] = {1, 2, 5, 17, MOST};
  for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
    for (int e = 0; e <= 10; e += 5) {
      solves(dims[k], pow(10, -e));
      spectrum(dims[k], pow(10, -e), la_eigen_all);
    }
  }
  spectrum(LARGE, 1e-5, la_eigen_released);
  refusals();
}

/* A A' / d + shift, of which the upper triangle is never to be read. */
static void make(size_t d, double shift, double *full, double *lower) {
  static double a[LARGE * LARGE];
  for (size_t i = 0; i < d * d; i++) a[i] = ctest_normal();
  for (size_t i = 0; i < d; i++) {
    for (size_t j = 0; j < d; j++) {
      double sum = i == j ? shift : 0;
      for (size_t k = 0; k + d / 3 < d; k++) sum += a[i + k * d] * a[j + k * d] / (double)d; /* of deficient rank */
      full[i + j * d] = sum;
      lower[i + j * d] = i < j ? NAN : sum;
    }
  }
}

/* Largest entry of A x - b over the norms of A and x. */
static double residual(size_t d, const double *a, const double *x, const double *b) {
  double worst = 0, size = 0;
  for (size_t i = 0; i < d; i++) {
    double sum = -b[i];
    for (size_t j = 0; j < d; j++) sum += a[i + j * d] * x[j];
    worst = hypot(worst, sum);
    size += a[i + i * d];
  }
  return worst / (size * la_norm(d, x));
}

static void solves(size_t d, double shift) {
  static double full[MOST * MOST], lower[MOST * MOST], x[MOST], b[MOST];
  make(d, shift, full, lower);
  for (size_t i = 0; i < d; i++) x[i] = b[i] = ctest_normal();
  CHECK(la_solve_definite(d, lower, x) == BASE_OK);
  CHECK(residual(d, full, x, b) <= 4 * (double)d * (3 * (double)d + 1) * DBL_EPSILON);
}

static void spectrum(size_t d, double shift, eigen_of *eigen) {
  static double full[LARGE * LARGE], vectors[LARGE * LARGE], values[LARGE], image[LARGE];
  double off = 0, trace = 0;
  make(d, shift, full, vectors);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++) vectors[j + i * d] = 0; /* finite, but not read either */
  CHECK(eigen(d, vectors, values) == BASE_OK);
  for (size_t j = 0; j < d; j++) {
    const double *v = vectors + j * d;
    trace += full[j + j * d] - values[j];
    if (j > 0) CHECK(values[j] >= values[j - 1]);
    la_matvec(d, d, full, d, v, image);
    la_axpy(d, -values[j], v, image);
    off = fmax(off, la_norm(d, image));
    for (size_t k = 0; k < d; k++) off = fmax(off, fabs(la_dot(d, v, vectors + k * d) - (k == j)));
  }
  CHECK_NEAR(trace, 0, 1e-12);
  CHECK(off <= 256 * (double)d * DBL_EPSILON);
}

static void refusals(void) {
  double indefinite[4] = {1, 2, 2, 1}, x[2] = {1, 1}, values[2], broken[4] = {1, NAN, NAN, 1};
  CHECK(la_solve_definite(2, indefinite, x) == BASE_ERR_NUMERIC);
  CHECK(la_eigen_all(2, broken, values) == BASE_ERR_NUMERIC);
  CHECK(la_eigen_released(2, broken, values) == BASE_ERR_NUMERIC);
  CHECK(la_solve_definite(0, indefinite, x) == BASE_ERR_ARGUMENT &&
        la_eigen_all(0, broken, values) == BASE_ERR_ARGUMENT);
}
