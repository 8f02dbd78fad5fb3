#include <float.h>
#include <math.h>

#include "acct/acct.h"
#include "ctest.h"

/* rho, eps, log delta: the defining formula in 60 to 800 digits (mpmath). */
static const double known[][3] = {
    {1e-16, 1e-06, -2523.332803229387001},   {1e-15, 1e-06, -271.0311161630252243},
    {1e-06, 0.01, -34.52199983925281419},    {0.00125, 0.0, -3.495940598206079806},
    {0.005, 1, -55.1113669168409728},        {0.125, 0.5, -2.260627314514307178},
    {0.5, 0.001, -0.5824437303521685333},    {0.5, 5, -12.75213767778441359},
    {2, 1e-06, -0.1150999760515081389},      {4.5, 30, -38.33022247288458031},
    {12.5, 2, -0.00002752735628181494405},   {4.5, 100, -510.0886136616622495},
    {50, 100, -13.46072733931461699},        {40, 1, -1.154822417301578072e-17},
    {1e-300, 1e-300, -345.5411903588268799}, {1e-200, 1e-99, -257.877753611278402},
};

static double relative(double x, double y) { return fabs(x - y) / fabs(y); }

static void check_known(void);
static void check_inverses(void);
static void check_limits(void);
static void check_large(void);

void test_acct_zcdp(void) {
  check_known();
  check_inverses();
  check_limits();
  check_large();
}

static void check_known(void) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    double x = known[i][0], eps = known[i][1], log_delta = known[i][2];
    double value = acct_zcdp_log_delta(x, eps);
    CHECK_NEAR(value, log_delta, 4e-15 * fmax(1.0, -log_delta) * fmin(1.0, -1e3 * log_delta) + 1e-18);
    CHECK_NEAR(acct_zcdp_delta(x, eps), exp(log_delta), 2e-15 * (1.0 - log_delta) * exp(log_delta));
  }
}

/* Where eps has fewer digits than delta needs, the next larger one is given. */
static void check_large(void) {
  for (int i = 20; i < 60; i++) {
    double rho = pow(10.0, i), delta = 0.3;
    CHECK(acct_zcdp_delta(rho, acct_zcdp_epsilon(rho, delta)) <= delta);
  }
}

/* Over the whole range: never more delta than asked for, nearly all of it, and back again. */
static void check_inverses(void) {
  for (int i = 0; i < 400; i++) {
    double eps = pow(10.0, -6.0 + 8.0 * ctest_uniform());
    double delta = i % 2 ? pow(10.0, -300.0 * ctest_uniform()) / 2.0 : pow(10.0, -12.0 * ctest_uniform()) / 2.0;
    double x = acct_zcdp_rho(eps, delta);
    CHECK(acct_zcdp_delta(x, eps) <= delta);
    CHECK(acct_zcdp_delta(x * (1.0 + 2e-13), eps) > delta);
    double back = acct_zcdp_epsilon(x, delta);
    CHECK(acct_zcdp_delta(x, back) <= delta);
    CHECK(back <= eps * (1.0 + 1e-12));
    CHECK(back == 0.0 || acct_zcdp_delta(x, back * (1.0 - 1e-10)) > delta * (1.0 - 1e-12));
    /* eps is ill-determined where delta is nearly that of eps = 0. */
    if (delta < 0.5 * acct_zcdp_delta(x, 0.0)) CHECK(relative(back, eps) < 1e-11);
  }
}

static void check_limits(void) {
  CHECK(acct_zcdp_delta(0.0, 1.0) == 0.0 && acct_zcdp_delta(INFINITY, 1.0) == 1.0 &&
        acct_zcdp_delta(1.0, INFINITY) == 0.0);
  CHECK_NEAR(acct_zcdp_delta(0.0, -1.0), 1.0 - exp(-1.0), 1e-15);
  CHECK(acct_zcdp_delta(1.0, -INFINITY) == 1.0 && acct_zcdp_delta(-1.0, 1.0) == 1.0);
  CHECK(acct_zcdp_epsilon(1.0, 0.0) == INFINITY && acct_zcdp_epsilon(0.0, 0.0) == 0.0 &&
        acct_zcdp_epsilon(1.0, 1.0) == 0.0);
  CHECK(acct_zcdp_epsilon(INFINITY, 0.1) == INFINITY && acct_zcdp_epsilon(-1.0, 0.1) == INFINITY);
  CHECK(acct_zcdp_rho(1.0, 0.0) == 0.0 && acct_zcdp_rho(1.0, 1.0) == INFINITY &&
        acct_zcdp_rho(INFINITY, 0.1) == INFINITY);
  CHECK(acct_zcdp_rho(-1.0, 0.1) == 0.0);
  CHECK(isnan(acct_zcdp_delta(NAN, 1.0)) && isnan(acct_zcdp_epsilon(1.0, NAN)) && isnan(acct_zcdp_rho(NAN, 0.1)));
  /* Anything else gives a number. */
  static const double wild[] = {0.0,  5e-324, 1e-300, 1e-160, 1e-20, 1e-3,    1.0,
                                40.0, 1e5,    1e20,   1e160,  1e300, DBL_MAX, INFINITY};
  for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
    for (size_t j = 0; j < sizeof wild / sizeof wild[0]; j++) {
      double delta = acct_zcdp_delta(wild[i], wild[j]);
      CHECK(delta >= 0.0 && delta <= 1.0);
      delta = acct_zcdp_delta(wild[i], -wild[j]);
      CHECK(delta >= -expm1(-wild[j]) * (1.0 - 1e-13) && delta <= 1.0);
      CHECK(acct_zcdp_epsilon(wild[i], wild[j]) >= 0.0);
      CHECK(acct_zcdp_rho(wild[i], wild[j]) >= 0.0);
    }
  }
}
