/* Clipped solves: against the spectrum, for spectra of all kinds and floors from far below to far above them. */
#include "ctest.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "la/la.h"

enum { MOST = 70, SPECTRA = 7 };

static double eigenvalue(int kind, size_t j, size_t d);
static void solves(size_t d, int kind, double least);
static void nearly_maximum(void);
static void refusals(void);

void test_la_clip(void) {
  static const size_t dims[] = {1, 2, 3, 4, 17, MOST};
  static const double least[] = {1e-6, 0.01, 0.25, 100};
  for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
    for (int kind = 0; kind < SPECTRA; kind++) {
      for (size_t i = 0; i < sizeof least / sizeof *least; i++) solves(dims[k], kind, least[i]);
    }
    solves(dims[k], 3, 0);
  }
  nearly_maximum();
  refusals();
}

/* Zero, one of rank one, graded, definite, in two clusters, the identity, and one below underflow. */
static double eigenvalue(int kind, size_t j, size_t d) {
  double part = (double)(j + 1) / (double)d;
  switch (kind) {
  case 0:
    return 0;
  case 1:
    return j == 0;
  case 2:
    return pow(10, -300 * part);
  case 3:
    return 0.1 + part;
  case 4:
    return j % 2 ? 0.25 : 1e-9 * part;
  case 5:
    return 1;
  default:
    return 1e-310 * part;
  }
}

/* e^j m^(6-j) over e^j m^(7-j), summed. */
static double inverse(double e, double m) {
  double large = fmax(e, m), ratio = fmin(e, m) / large, sum = 0;
  for (int j = 0; j < 7; j++) sum += pow(ratio, j);
  return sum / (sum + pow(ratio, 7)) / large;
}

/* H' diag(e) H for a product H of reflections. */
static void solves(size_t d, int kind, double least) {
  static double a[MOST * MOST], v[MOST * MOST], b[MOST], x[MOST], expected[MOST];
  double size = least, lowest = INFINITY;
  memset(v, 0, sizeof v);
  for (size_t j = 0; j < d; j++) v[j + j * d] = 1;
  for (int times = 0; times < 3; times++) {
    double h[MOST];
    for (size_t j = 0; j < d; j++) h[j] = ctest_normal();
    double squares = la_dot(d, h, h);
    for (size_t j = 0; j < d; j++) {
      double along = la_dot(d, h, v + j * d);
      for (size_t i = 0; i < d; i++) v[i + j * d] -= 2 * along / squares * h[i];
    }
  }
  memset(a, 0, sizeof a);
  memset(expected, 0, sizeof expected);
  for (size_t j = 0; j < d; j++) b[j] = x[j] = ctest_normal();
  for (size_t j = 0; j < d; j++) {
    double e = eigenvalue(kind, j, d);
    lowest = fmin(lowest, e);
    size += e;
    la_axpy(d, inverse(e, least) * la_dot(d, v + j * d, b), v + j * d, expected);
    for (size_t k = 0; k < d; k++) la_axpy(d, e * v[k + j * d], v + j * d, a + k * d);
  }
  for (size_t j = 0; j < d; j++)
    for (size_t i = 0; i < j; i++) a[i + j * d] = NAN; /* never to be read */
  CHECK(la_solve_clipped(d, a, least, x) == BASE_OK);
  double m = fmax(least, lowest), worst = 0;
  for (size_t j = 0; j < d; j++) worst = hypot(worst, x[j] - expected[j]);
  /* A fraction of what the sensitivity assumes. */
  CHECK(worst <= 16 * (double)d * DBL_EPSILON * size / (m * m) * la_norm(d, b));
}

/* One dimension: h itself. */
static void nearly_maximum(void) {
  double before = 0;
  for (int i = -60; i <= 60; i++) {
    double e = pow(10, i / 20.0), a = e, x = 1;
    CHECK(la_solve_clipped(1, &a, 1, &x) == BASE_OK);
    CHECK(1 / x >= fmax(e, 1) * (1 - 1e-14) && 1 / x <= fmax(e, 1) * (1 + 1 / 7.0 + 1e-14));
    CHECK(1 / x >= before * (1 - 1e-14));
    before = 1 / x;
  }
}

static void refusals(void) {
  double a = 1, x = 1;
  CHECK(la_solve_clipped(0, &a, 1, &x) == BASE_ERR_ARGUMENT);
  ctest_fail_allocation(1);
  CHECK(la_solve_clipped(1, &a, 1, &x) == BASE_ERR_MEMORY);
  ctest_fail_allocation(0);
}
