/* The accounting of a perturbed minimiser with Gaussian releases: its parts in closed form, inverses, monotonicity. */
#include "acct/acct.h"
#include "ctest.h"

#include <math.h>

static void parts(void) {
  /* all of mu is the minimiser's: the last part vanishes below eps, and the others have half of mu */
  const struct acct_perturbed own = {1, 0.2, 0.3, 1};
  CHECK_NEAR(acct_perturbed_delta(0.4, 1, &own),
             acct_gdp_delta(0.4, 0.8) + acct_gdp_delta(0.2, 0.8) + acct_gdp_delta(0.2, 0.5), 1e-15);
  const struct acct_perturbed most = {1, 0.2, 0.3, 0.8};
  CHECK_NEAR(acct_perturbed_delta(0.4, 1, &most),
             acct_gdp_delta(0.4, 0.8) + acct_gdp_delta(0.4 * sqrt(0.4), 0.8) + acct_gdp_delta(0.4 * sqrt(0.4), 0.5) +
                 acct_gdp_delta(0.4 * sqrt(0.2), 0.5),
             1e-15);
  const struct acct_perturbed both = {0, 0.2, 0, 0.8};
  CHECK_NEAR(acct_perturbed_delta(0.4, 1, &both),
             2 * acct_gdp_delta(0.4, 0.8) + 2 * acct_gdp_delta(0.4 * sqrt(0.6), 0.8), 1e-15);
  CHECK(acct_perturbed_delta(0, 1, &own) == 0);
}

static void inverses(void) {
  static const double eps[] = {0.05, 0.6, 4}, delta[] = {1e-12, 1e-6, 1e-3};
  for (int k = 0; k < 18; k++) {
    double e = eps[k % 3], d = delta[k / 3 % 3];
    const struct acct_perturbed p = {k / 9, 0.05 * e, k / 9 * 0.3 * e, 0.9};
    double mu = acct_perturbed_mu(e, d, &p);
    CHECK(acct_perturbed_delta(mu, e, &p) <= d && acct_perturbed_delta(mu * (1 + 1e-10), e, &p) > d * (1 - 1e-12));
    double back = acct_perturbed_epsilon(mu, d, &p);
    CHECK(acct_perturbed_delta(mu, back, &p) <= d);
    CHECK_NEAR(back / e, 1, 1e-10);
    CHECK(acct_perturbed_mu(1.01 * e, d, &p) > mu && acct_perturbed_mu(e, 1.01 * d, &p) > mu);
    /* less than a Gaussian release has, more than four times its tails leave */
    CHECK(mu < acct_gdp_mu(e - p.top, d) && mu > acct_gdp_mu(e - p.top - p.tilt, d / 4));
  }
}

void test_acct_perturbed(void) {
  parts();
  inverses();
}
