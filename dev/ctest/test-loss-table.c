/* Every loss of the table: its values, slopes and curvatures belong together, and none exceeds the public bounds. */
#include "ctest.h"
#include "loss/private.h"

#include <math.h>
#include <string.h>

static void agrees(const struct loss *loss, double y);
static void within_bounds(const struct loss *loss, double y);

static void check(const struct loss *loss) {
  static const double responses[] = {-1, 0, 1};
  for (size_t k = 0; k < 3; k++) {
    agrees(loss, responses[k]);
    within_bounds(loss, responses[k]);
  }
}

void test_loss_table(void) {
  CHECK(losses_all[0] != NULL);
  for (const struct loss *const *l = losses_all; *l; l++) {
    CHECK(loss_find((*l)->name) == *l);
    if (loss_outputs(*l) > 1) continue; /* loss_multinomial */
    check(*l);
    for (int k = 0; (*l)->bounds_at && k < 5; k++) {
      struct loss *loss;
      double parameter = k == 4 ? (*l)->parameter : (*l)->least + k / 3.0 * ((*l)->most - (*l)->least);
      CHECK(loss_create((*l)->name, parameter, &loss) == BASE_OK);
      if (!loss) continue;
      check(loss);
      if (k == 4) CHECK(memcmp(&loss->bounds, &(*l)->bounds, sizeof loss->bounds) == 0);
      loss_free(loss);
    }
  }
}

struct at {
  double value, d1, d2;
};

static struct at eval(const struct loss *loss, double y, double t) {
  struct at a;
  loss_eval(loss, 1, &y, &t, &a.value, &a.d1, &a.d2);
  return a;
}

/* Central differences. Those of a slope with corners are off near these. A null record's response, 0, has predictor 0
 * only. */
static void agrees(const struct loss *loss, double y) {
  const double h = 1e-5;
  const struct loss_bounds *b = &loss->bounds;
  double worst1 = 0, worst2 = 0;
  for (double t = y == 0 ? 0 : -12; t <= (y == 0 ? 0 : 12); t += 0.0137) {
    struct at low = eval(loss, y, t - h), at = eval(loss, y, t), high = eval(loss, y, t + h);
    worst1 = fmax(worst1, fabs((high.value - low.value) / (2 * h) - at.d1));
    if (isfinite(b->third)) worst2 = fmax(worst2, fabs((high.d1 - low.d1) / (2 * h) - at.d2));
    CHECK_NEAR(loss_sum(loss, 1, &y, &t), at.value, 1e-14 * (1 + fabs(at.value)));
  }
  /* Half of a corner's jump, the rounding of values up to 13 */
  CHECK_NEAR(worst1, 0, h * fmax(b->curv_upper, b->curv_lower) + 1e-9);
  if (y != 0) CHECK_NEAR(worst2, 0, h * b->third + 1e-9);
}

static void within_bounds(const struct loss *loss, double y) {
  const struct loss_bounds *b = &loss->bounds;
  const double slack = 1e-14, h = 1e-5; /* relative to values of up to 41 */
  CHECK(eval(loss, y, 0).value <= b->at_zero + slack);
  CHECK(fabs(eval(loss, y, 0).value - eval(loss, 0, 0).value) <= b->zero_spread + slack);
  double least = eval(loss, 0, 0).value, most = least, excess = -INFINITY;
  for (double t = 0; y != 0 && t <= 40; t += 0.0171) {
    for (int side = -1; side <= 1; side += 2) {
      struct at at = eval(loss, y, side * t), next = eval(loss, y, side * t + h);
      excess = fmax(excess, fabs(at.d1) - b->lipschitz);
      excess = fmax(excess, fmax(at.d2 - b->curv_upper, -b->curv_lower - at.d2));
      excess = fmax(excess, b->floor - at.value);
      if (isfinite(b->third)) excess = fmax(excess, (fabs(next.d2 - at.d2) - 1e-13) / h - b->third);
      least = fmin(least, at.value);
      most = fmax(most, at.value);
    }
    excess = fmax(excess, most - least - loss_range(loss, t));
  }
  CHECK(excess <= 41 * slack);
}
