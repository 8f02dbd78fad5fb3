/* Symmetric noise: variances 1 on and 1/2 off the diagonal, no covariance, and the lower triangle alone is read. */
#include "ctest.h"
#include "statistics.h"

#include <math.h>

#include "mech/mech.h"

enum { DIM = 5, ENTRIES = DIM * (DIM + 1) / 2 };

static void covariance(int n, double sd);
static void corners(void);

void test_mech_symmetric(void) {
  covariance(ctest_size(40000, 2000), 1);
  covariance(ctest_size(40000, 2000), 3e-7);
  corners();
}

static void covariance(int n, double sd) {
  double mean[ENTRIES] = {0}, product[ENTRIES][ENTRIES] = {{0}};
  double *diagonal = base_alloc((size_t)n, sizeof *diagonal), *off = base_alloc((size_t)n, sizeof *off);
  int symmetric = 1, ok = 1, lattice = 1;
  const double at = 4.25 * sd, h = mech_lattice(sd), h_off = mech_lattice(sd * sqrt(0.5));
  for (int r = 0; r < n; r++) {
    double m[DIM * DIM], z[ENTRIES];
    int k = 0;
    for (int j = 0; j < DIM; j++)
      for (int i = 0; i < DIM; i++) m[i + j * DIM] = i < j ? NAN : at * (i - 2 * j);
    ok = ok && mech_symmetric(&ctest_entropy, DIM, sd, m) == BASE_OK;
    for (int j = 0; j < DIM; j++)
      for (int i = j; i < DIM; i++) {
        symmetric = symmetric && m[i + j * DIM] == m[j + i * DIM];
        lattice = lattice && fmod(m[i + j * DIM], i == j ? h : h_off) == 0;
        z[k++] = (m[i + j * DIM] - at * (i - 2 * j)) / (i == j ? sd : sd * sqrt(0.5));
      }
    for (int a = 0; a < ENTRIES; a++) {
      mean[a] += z[a];
      for (int b = 0; b <= a; b++) product[a][b] += z[a] * z[b];
    }
    diagonal[r] = z[ENTRIES - 1];
    off[r] = z[1];
  }
  CHECK(ok);
  CHECK(symmetric);
  CHECK(lattice);
  for (int a = 0; a < ENTRIES; a++) {
    CHECK_NEAR(mean[a] / n, 0, 5 / sqrt(n));
    for (int b = 0; b < a; b++) CHECK_NEAR(product[a][b] / n, 0, 5 / sqrt(n));
    CHECK_NEAR(product[a][a] / n, 1, 5 * sqrt(2.0 / n));
  }
  CHECK(ks_test((size_t)n, diagonal, base_pnorm) > STATISTICS_LEVEL);
  CHECK(ks_test((size_t)n, off, base_pnorm) > STATISTICS_LEVEL);
  base_free(off);
  base_free(diagonal);
}

static void corners(void) {
  double one = 3, bad[4] = {1, NAN, 1, 1};
  CHECK(mech_symmetric(&ctest_entropy, 0, 1, NULL) == BASE_OK);
  CHECK(mech_symmetric(&ctest_entropy, 1, 1, &one) == BASE_OK && one != 3 && fabs(one - 3) < 10);
  CHECK(mech_symmetric(&ctest_entropy, 2, 1, bad) == BASE_ERR_ARGUMENT);
  CHECK(bad[0] == 0 && bad[1] == 0 && bad[2] == 0 && bad[3] == 0);
}
