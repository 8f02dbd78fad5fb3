/* The cubic model's global minimum: its conditions, closed forms, the hard case. */
#include <math.h>
#include <string.h>

#include "ctest.h"
#include "la/la.h"

enum { D = 6 };

static double model(const double *h, const double *g, double third, const double *s) {
  double hs[D];
  la_matvec(D, D, h, D, s, hs);
  return la_dot(D, g, s) + la_dot(D, s, hs) / 2 + third / 6 * pow(la_norm(D, s), 3);
}

/* (H + dual I) s = -g, dual = M |s| / 2, H + dual I semidefinite: exactly the global minima. No random point is lower.
 */
static void random_models(void) {
  for (int k = 0; k < 40; k++) {
    double h[D * D], g[D], s[D], dual, lowest, third = pow(10, 2 - k % 6), residual[D], near[D];
    for (int j = 0; j < D; j++) {
      g[j] = (k % 3 ? 1 : 1e-3) * ctest_normal();
      for (int i = 0; i <= j; i++) h[i + j * D] = h[j + i * D] = ctest_normal();
      h[j + j * D] += k % 4;
    }
    CHECK(la_cubic(D, h, g, third, s, &dual, &lowest) == BASE_OK);
    double norm = la_norm(D, s), scale = la_norm(D, g) + norm * (dual + 5);
    CHECK_NEAR(dual, third * norm / 2, 1e-10 * scale);
    CHECK(dual >= -lowest - 1e-12);
    la_matvec(D, D, h, D, s, residual);
    la_axpy(D, dual, s, residual);
    la_axpy(D, 1, g, residual);
    CHECK(la_norm(D, residual) <= 1e-11 * scale);
    for (int t = 0; t < 20; t++) {
      for (int j = 0; j < D; j++) near[j] = s[j] + pow(10, -t % 4) * (norm + 1) * ctest_normal();
      CHECK(model(h, g, third, near) >= model(h, g, third, s) - 1e-12 * scale * (norm + 1));
    }
  }
}

/* One dimension: g + h s + M s |s| / 2 = 0. And a hard case: g = 0 at a saddle, |s| = -2 lowest / M. */
static void closed_forms(void) {
  double h = 2, g = -3, s, dual, lowest, third = 0.5;
  CHECK(la_cubic(1, &h, &g, third, &s, &dual, &lowest) == BASE_OK);
  CHECK_NEAR(s, (-2 + sqrt(4 + 2 * third * 3)) / third, 1e-12);
  double saddle[4] = {1, 0, 0, -1}, none[2] = {0, 0}, across[2] = {0.3, 0}, step[2];
  CHECK(la_cubic(2, saddle, none, third, step, &dual, &lowest) == BASE_OK);
  CHECK_NEAR(fabs(step[1]), 2 / third, 1e-12);
  CHECK(lowest == -1 && fabs(dual - 1) < 1e-12);
  CHECK(la_cubic(2, saddle, across, third, step, &dual, &lowest) == BASE_OK);
  CHECK_NEAR(step[0], -0.15, 1e-12);
  CHECK_NEAR(la_norm(2, step), 2 / third, 1e-12);
  saddle[3] = 0.5;
  CHECK(la_cubic(2, saddle, none, third, step, &dual, &lowest) == BASE_OK);
  CHECK(step[0] == 0 && step[1] == 0 && dual < 1e-12);
  CHECK(la_cubic(2, saddle, none, 0, step, &dual, &lowest) == BASE_ERR_ARGUMENT);
  saddle[3] = NAN;
  CHECK(la_cubic(2, saddle, none, third, step, &dual, &lowest) == BASE_ERR_NUMERIC);
}

void test_la_cubic(void) {
  random_models();
  closed_forms();
}
