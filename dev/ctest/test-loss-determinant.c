/* What determinants add to the privacy loss of a perturbed minimiser: the bound for each tilt is attained, by a search
 * over predictors; and which losses have slopes of one sign. */
#include "ctest.h"
#include "loss/loss.h"

#include <math.h>

static double searched(const struct loss *loss, double strong, double tilt) {
  double most = -INFINITY, lipschitz = loss_bounds_of(loss)->lipschitz;
  for (int k = 0; k < 20000; k++) {
    double t = 40 * (k / 10000.0 - 1), y = 1, d1, d2;
    loss_eval(loss, 1, &y, &t, NULL, &d1, &d2);
    most = fmax(most, log1p(d2 / strong) - tilt * (1 - fabs(d1) / lipschitz));
  }
  return most;
}

static void bounds(void) {
  static const double strong[] = {0.01, 0.3, 5, 400}, tilt[] = {0, 0.01, 0.5, 3};
  for (const struct loss *const *loss = losses_all; *loss; loss++) {
    if (loss_outputs(*loss) > 1) continue;
    for (int k = 0; k < 16; k++) {
      double most = searched(*loss, strong[k % 4], tilt[k / 4]);
      double bound = loss_determinant(*loss, strong[k % 4], tilt[k / 4]);
      CHECK(most <= bound + 1e-15);
      if (*loss == loss_find("logistic")) CHECK_NEAR(most, bound, 1e-5 * (1 + 1 / strong[k % 4]));
    }
  }
  /* at this tilt nothing is left */
  CHECK(loss_determinant(loss_find("logistic"), 2, 0.5) == 0 && loss_determinant(loss_find("logistic"), 2, 0.49) > 0);
}

static void signs(void) {
  for (const struct loss *const *loss = losses_all; *loss; loss++) {
    if (!loss_has_one_sign(*loss)) continue;
    for (int k = 0; k < 400; k++) {
      double t = k / 5.0 - 40, y = k % 2 ? 1 : -1, d1;
      loss_eval(*loss, 1, &y, &t, NULL, &d1, NULL);
      CHECK(y * d1 <= 0);
    }
  }
  CHECK(loss_has_one_sign(loss_find("logistic")) && loss_has_one_sign(loss_find("huber_svm")));
  CHECK(loss_has_one_sign(loss_find("bounded_logistic")));
  CHECK(!loss_has_one_sign(loss_find("huber")) && !loss_has_one_sign(loss_find("poisson")));
}

void test_loss_determinant(void) {
  bounds();
  signs();
}
