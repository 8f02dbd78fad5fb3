#include <float.h>
#include <math.h>

#include "acct/acct.h"
#include "ctest.h"

/* mu, eps, log delta: the defining formula in 60 to 100 digits (mpmath). */
static const double known[][3] = {
    {1e-08, 1e-06, -5028.550259044201496}, {3.5e-08, 1e-06, -432.9585949186432219},
    {0.001, 1e-06, -7.827946953470732983}, {0.01, 0.3, -462.1798364190219798},
    {0.05, 0.0, -3.914774969085138688},    {0.1, 1, -57.35693372483395189},
    {0.5, 0.5, -2.948079455199659569},     {0.5, 1, -4.986489906848133428},
    {0.75, 20, -353.403319675750747},      {1, 0.001, -0.9607223404861411625},
    {1, 5, -14.3613207866068158},          {2, 0.1, -0.4055058356442502546},
    {3, 30, -40.55823702805258434},        {5, 2, -0.03216273984709293392},
    {10, 100, -15.48697441627081254},      {3, 100, -513.5146747720914391},
    {20, 100, -3.853315177933760157e-7},   {16, 100, -0.04717999653406239241},
};

static double relative(double x, double y) { return fabs(x - y) / fabs(y); }

static void check_known(void);
static void check_inverses(void);
static void check_limits(void);
static void check_large(void);

void test_acct_gdp(void) {
  check_known();
  check_inverses();
  check_limits();
  check_large();
}

static void check_known(void) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    double x = known[i][0], eps = known[i][1], log_delta = known[i][2];
    double value = acct_gdp_log_delta(x, eps);
    CHECK_NEAR(value, log_delta, 4e-15 * fmax(1.0, -log_delta) * fmin(1.0, -1e3 * log_delta) + 1e-18);
    CHECK_NEAR(acct_gdp_delta(x, eps), exp(log_delta), 2e-15 * (1.0 - log_delta) * exp(log_delta));
  }
}

/* Over the whole range: never more delta than asked for, nearly all of it, and back again. */
static void check_inverses(void) {
  for (int i = 0; i < 400; i++) {
    double eps = pow(10.0, -6.0 + 8.0 * ctest_uniform());
    double delta = i % 2 ? pow(10.0, -300.0 * ctest_uniform()) / 2.0 : pow(10.0, -12.0 * ctest_uniform()) / 2.0;
    double x = acct_gdp_mu(eps, delta);
    CHECK(acct_gdp_delta(x, eps) <= delta);
    CHECK(acct_gdp_delta(x * (1.0 + 2e-13), eps) > delta);
    double back = acct_gdp_epsilon(x, delta);
    CHECK(acct_gdp_delta(x, back) <= delta);
    CHECK(back <= eps * (1.0 + 1e-12));
    CHECK(back == 0.0 || acct_gdp_delta(x, back * (1.0 - 1e-10)) > delta * (1.0 - 1e-12));
    /* eps is ill-determined where delta is nearly that of eps = 0. */
    if (delta < 0.5 * acct_gdp_delta(x, 0.0)) CHECK(relative(back, eps) < 1e-11);
  }
}

static void check_limits(void) {
  CHECK(acct_gdp_delta(0.0, 1.0) == 0.0 && acct_gdp_delta(INFINITY, 1.0) == 1.0 &&
        acct_gdp_delta(1.0, INFINITY) == 0.0);
  CHECK_NEAR(acct_gdp_delta(0.0, -1.0), 1.0 - exp(-1.0), 1e-15);
  CHECK(acct_gdp_delta(1.0, -INFINITY) == 1.0 && acct_gdp_delta(-1.0, 1.0) == 1.0);
  CHECK(acct_gdp_epsilon(1.0, 0.0) == INFINITY && acct_gdp_epsilon(0.0, 0.0) == 0.0 &&
        acct_gdp_epsilon(1.0, 1.0) == 0.0);
  CHECK(acct_gdp_epsilon(INFINITY, 0.1) == INFINITY && acct_gdp_epsilon(-1.0, 0.1) == INFINITY);
  CHECK(acct_gdp_mu(1.0, 0.0) == 0.0 && acct_gdp_mu(1.0, 1.0) == INFINITY && acct_gdp_mu(INFINITY, 0.1) == INFINITY);
  CHECK(acct_gdp_mu(-1.0, 0.1) == 0.0);
  CHECK(isnan(acct_gdp_delta(NAN, 1.0)) && isnan(acct_gdp_epsilon(1.0, NAN)) && isnan(acct_gdp_mu(NAN, 0.1)));
  /* Anything else gives a number. */
  static const double wild[] = {0.0,  5e-324, 1e-300, 1e-160, 1e-20, 1e-3,    1.0,
                                40.0, 1e5,    1e20,   1e160,  1e300, DBL_MAX, INFINITY};
  for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
    for (size_t j = 0; j < sizeof wild / sizeof wild[0]; j++) {
      double delta = acct_gdp_delta(wild[i], wild[j]);
      CHECK(delta >= 0.0 && delta <= 1.0);
      delta = acct_gdp_delta(wild[i], -wild[j]);
      CHECK(delta >= -expm1(-wild[j]) * (1.0 - 1e-13) && delta <= 1.0);
      CHECK(acct_gdp_epsilon(wild[i], wild[j]) >= 0.0);
      CHECK(acct_gdp_mu(wild[i], wild[j]) >= 0.0);
    }
  }
}

/* Where eps has fewer digits than delta needs, the next larger one is given. */
static void check_large(void) {
  for (int i = 10; i < 60; i++) {
    double mu = pow(10.0, i), delta = 0.3;
    CHECK(acct_gdp_delta(mu, acct_gdp_epsilon(mu, delta)) <= delta);
  }
}
