/* Inverses of delta. Every x that is returned has been tested, so rounding never leads to more delta than allowed. */
#include "acct/private.h"

#include <float.h>
#include <math.h>

static double bisect(const struct acct_target *target, double good, double bad);

double acct_smallest(const struct acct_target *target, double good) {
  for (double step = 0x1p-50; isfinite(good) && !acct_meets(target, good); step *= 2.0) good *= 1.0 + step;
  return isinf(good) ? good : bisect(target, good, 0.0);
}

double acct_largest(const struct acct_target *target, double guess) {
  double good = fmin(fmax(guess, DBL_MIN), DBL_MAX);
  while (!acct_meets(target, good)) {
    good *= 0.25;
    if (good == 0.0) return 0.0;
  }
  double bad = 2.0 * good;
  while (acct_meets(target, bad)) {
    if (isinf(bad)) return bad;
    good = bad;
    bad *= 2.0;
  }
  return bisect(target, good, bad);
}

/* Bisects between good, which meets the target, and bad, which does not, down to neighbouring doubles; returns good. */
static double bisect(const struct acct_target *target, double good, double bad) {
  for (;;) {
    double mid = good + 0.5 * (bad - good);
    if (mid == good || mid == bad) return good;
    if (acct_meets(target, mid)) {
      good = mid;
    } else {
      bad = mid;
    }
  }
}

int acct_meets(const struct acct_target *target, double x) {
  return target->log_delta(x, target->other) <= target->log_delta_max;
}

double acct_target_log(double delta) {
  double log_delta = log(delta);
  return log_delta - 8.0 * DBL_EPSILON * (1.0 + fabs(log_delta));
}
