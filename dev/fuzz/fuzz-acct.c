/* Conversions between privacy parameters, for any doubles. */
#include "fuzz.h"

#include "acct/acct.h"

#define CLOSE 1e-9 /* relative error that a delta may have */

static void gdp(double mu, double eps, double delta);
static void zcdp(double rho, double eps, double delta);
static void order(double mu, double eps, double more);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz f = fuzz_begin(data, size);
  double x = fuzz_double(&f), eps = fuzz_double(&f), delta = fuzz_double(&f), more = fuzz_double(&f);
  gdp(x, eps, delta);
  zcdp(x, eps, delta);
  order(fabs(x), fabs(eps), fabs(more));
  return 0;
}

static int is_probability(double x) { return x >= 0 && x <= 1; }

/* What is found never leads to more delta than was asked for. */
static void gdp(double mu, double eps, double delta) {
  int known = !isnan(mu) && !isnan(eps);
  double d = acct_gdp_delta(mu, eps), e = acct_gdp_epsilon(mu, delta), m = acct_gdp_mu(eps, delta);
  REQUIRE(known ? is_probability(d) : isnan(d));
  REQUIRE(isnan(e) == (isnan(mu) || isnan(delta)) && !(e < 0));
  REQUIRE(isnan(m) == (isnan(eps) || isnan(delta)) && !(m < 0));
  if (mu >= 0 && delta >= 0 && e < INFINITY) REQUIRE(acct_gdp_delta(mu, e) <= fmin(delta, 1));
  if (eps >= 0 && delta >= 0 && m < INFINITY) REQUIRE(acct_gdp_delta(m, eps) <= fmin(delta, 1));
}

static void zcdp(double rho, double eps, double delta) {
  int known = !isnan(rho) && !isnan(eps);
  double d = acct_zcdp_delta(rho, eps), e = acct_zcdp_epsilon(rho, delta), r = acct_zcdp_rho(eps, delta);
  REQUIRE(known ? is_probability(d) : isnan(d));
  REQUIRE(isnan(e) == (isnan(rho) || isnan(delta)) && !(e < 0));
  REQUIRE(isnan(r) == (isnan(eps) || isnan(delta)) && !(r < 0));
  if (rho >= 0 && delta >= 0 && e < INFINITY) REQUIRE(acct_zcdp_delta(rho, e) <= fmin(delta, 1));
  if (eps >= 0 && delta >= 0 && r < INFINITY) REQUIRE(acct_zcdp_delta(r, eps) <= fmin(delta, 1));
}

/* More eps, less delta; more noise, less delta; and mu-GDP is (mu^2 / 2)-zCDP, whose delta is an upper bound. */
static void order(double mu, double eps, double more) {
  if (!isfinite(mu) || !isfinite(eps) || !isfinite(more)) return;
  REQUIRE(acct_gdp_delta(mu, eps + more) <= acct_gdp_delta(mu, eps) * (1 + CLOSE));
  REQUIRE(acct_gdp_delta(mu, eps) <= acct_gdp_delta(mu + more, eps) * (1 + CLOSE));
  REQUIRE(acct_zcdp_delta(mu, eps + more) <= acct_zcdp_delta(mu, eps) * (1 + CLOSE));
  REQUIRE(acct_zcdp_delta(mu, eps) <= acct_zcdp_delta(mu + more, eps) * (1 + CLOSE));
  /* mu^2 is not to underflow */
  if (mu > 1e-150) REQUIRE(acct_gdp_delta(mu, eps) <= acct_zcdp_delta(mu * mu / 2, eps) * (1 + CLOSE));
}
