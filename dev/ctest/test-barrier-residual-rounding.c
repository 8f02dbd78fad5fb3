/* The slope of counts is a difference of numbers up to one, so that its rounding does not shrink with the clip (proofs:
 * sensitivity-residual). */
#include "fixture.h"

enum { P = 4 };

void test_barrier_residual_rounding(void) {
  double sensitivity[2];
  const double one[P] = {1, 1, 1, 1}, none[P + 1] = {0};
  for (int i = 0; i < 2; i++) {
    const struct coordinates_spec spec = {.p = P, .intercept = 1, .weighted = 1, .radius = 1, .constant = 0.5,
                                          .cap = 1.2, .bound = 1, .scale = one, .prior = one, .spread = one,
                                          .centre = none};
    struct fixture f;
    struct coordinates *c;
    fixture_open(&f, i == 0 ? "squared" : "poisson", 20, P, 1, ORACLE_REPLACE_ONE, 1);
    CHECK(coordinates_create(&spec, &c) == BASE_OK);
    CHECK(oracle_move(f.oracle, c) == BASE_OK);
    const struct ask what = {.at = none, .clip = 1e-14};
    sensitivity[i] = query_residual_gradient.sensitivity(oracle_all(f.oracle), &what, 0);
    fixture_close(&f);
    coordinates_free(c);
  }
  CHECK(sensitivity[1] - sensitivity[0] > 32 * 0x1p-53);
}
