/* What holds for a conversion between one parameter (mu, rho) and (eps, delta), whatever the notion of privacy. */
#ifndef DPSOSP_CONVERSION_H
#define DPSOSP_CONVERSION_H

#include <float.h>
#include <math.h>

#include "ctest.h"

struct conversion {
  double (*delta)(double parameter, double eps), (*log_delta)(double parameter, double eps);
  double (*epsilon)(double parameter, double delta), (*parameter)(double eps, double delta);
  const double (*known)[3]; /* parameter, eps, log delta */
  size_t points;
  int large; /* from 10^large on eps has fewer digits than delta needs */
};

static inline void conversion_known(const struct conversion *c) {
  for (size_t i = 0; i < c->points; i++) {
    double x = c->known[i][0], eps = c->known[i][1], log_delta = c->known[i][2];
    double value = c->log_delta(x, eps);
    CHECK_NEAR(value, log_delta, 4e-15 * fmax(1.0, -log_delta) * fmin(1.0, -1e3 * log_delta) + 1e-18);
    CHECK_NEAR(c->delta(x, eps), exp(log_delta), 2e-15 * (1.0 - log_delta) * exp(log_delta));
  }
}

/* Over the whole range: never more delta than asked for, nearly all of it, and back again. */
static inline void conversion_inverses(const struct conversion *c) {
  for (int i = 0; i < 400; i++) {
    double eps = pow(10.0, -6.0 + 8.0 * ctest_uniform());
    double delta = i % 2 ? pow(10.0, -300.0 * ctest_uniform()) / 2.0 : pow(10.0, -12.0 * ctest_uniform()) / 2.0;
    double x = c->parameter(eps, delta);
    CHECK(c->delta(x, eps) <= delta);
    CHECK(c->delta(x * (1.0 + 2e-13), eps) > delta);
    double back = c->epsilon(x, delta);
    CHECK(c->delta(x, back) <= delta);
    CHECK(back <= eps * (1.0 + 1e-12));
    CHECK(back == 0.0 || c->delta(x, back * (1.0 - 1e-10)) > delta * (1.0 - 1e-12));
    /* eps is ill-determined where delta is nearly that of eps = 0. */
    if (delta < 0.5 * c->delta(x, 0.0)) CHECK(fabs(back / eps - 1) < 1e-11);
  }
}

static inline void conversion_limits(const struct conversion *c) {
  CHECK(c->delta(0.0, 1.0) == 0.0 && c->delta(INFINITY, 1.0) == 1.0 && c->delta(1.0, INFINITY) == 0.0);
  CHECK_NEAR(c->delta(0.0, -1.0), 1.0 - exp(-1.0), 1e-15);
  CHECK(c->delta(1.0, -INFINITY) == 1.0 && c->delta(-1.0, 1.0) == 1.0);
  CHECK(c->epsilon(1.0, 0.0) == INFINITY && c->epsilon(0.0, 0.0) == 0.0 && c->epsilon(1.0, 1.0) == 0.0);
  CHECK(c->epsilon(INFINITY, 0.1) == INFINITY && c->epsilon(-1.0, 0.1) == INFINITY);
  CHECK(c->parameter(1.0, 0.0) == 0.0 && c->parameter(1.0, 1.0) == INFINITY && c->parameter(INFINITY, 0.1) == INFINITY);
  CHECK(c->parameter(-1.0, 0.1) == 0.0);
  CHECK(isnan(c->delta(NAN, 1.0)) && isnan(c->epsilon(1.0, NAN)) && isnan(c->parameter(NAN, 0.1)));
  /* Anything else gives a number. */
  static const double wild[] = {0.0,  5e-324, 1e-300, 1e-160, 1e-20, 1e-3,    1.0,
                                40.0, 1e5,    1e20,   1e160,  1e300, DBL_MAX, INFINITY};
  for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
    for (size_t j = 0; j < sizeof wild / sizeof wild[0]; j++) {
      double delta = c->delta(wild[i], wild[j]);
      CHECK(delta >= 0.0 && delta <= 1.0);
      delta = c->delta(wild[i], -wild[j]);
      CHECK(delta >= -expm1(-wild[j]) * (1.0 - 1e-13) && delta <= 1.0);
      CHECK(c->epsilon(wild[i], wild[j]) >= 0.0);
      CHECK(c->parameter(wild[i], wild[j]) >= 0.0);
    }
  }
}

/* Where eps has fewer digits than delta needs, the next larger one is given. */
static inline void conversion_large(const struct conversion *c) {
  for (int i = c->large; i < 60; i++) {
    double x = pow(10.0, i), delta = 0.3;
    CHECK(c->delta(x, c->epsilon(x, delta)) <= delta);
  }
}

static inline void conversion_check(const struct conversion *c) {
  conversion_known(c);
  conversion_inverses(c);
  conversion_limits(c);
  conversion_large(c);
}

#endif
