#include <math.h>

#include "acct/acct.h"
#include "ctest.h"

static void check_against_exact(void);
static void check_limits(void);

void test_acct_selection(void) {
  check_against_exact();
  check_limits();
}

/* Generating functions of the numbers of runs. */
static double poisson(double m, double x) { return expm1(m * x) / expm1(m); }
static double geometric(double m, double x) { return x / (m - (m - 1) * x); }

/* The divergence itself, of the best of the runs of a Gaussian mechanism that releases cells of its answer: the law of
 * the largest cell on two neighbours, whichever end is the best. */
static double exact(const struct acct_selection *s, double order, int best_is_high) {
  enum { CELLS = 4000 };
  double sum = 0, p = 0, q = 0, last_p = 0, last_q = 0;
  for (int i = 1; i <= CELLS; i++) {
    double end = 9 - 14 * (double)i / CELLS; /* no further, where differences have no digits left */
    p = base_pnorm(best_is_high ? -end + s->mu : -end);
    q = base_pnorm(best_is_high ? -end : -end + s->mu);
    if (i == CELLS) p = q = 1;
    double a = s->law == ACCT_POISSON_RUNS ? poisson(s->mean, p) : geometric(s->mean, p);
    double b = s->law == ACCT_POISSON_RUNS ? poisson(s->mean, q) : geometric(s->mean, q);
    if (a > last_p && b > last_q) sum += exp(order * log(a - last_p) + (1 - order) * log(b - last_q));
    last_p = a;
    last_q = b;
  }
  return log(sum) / (order - 1);
}

/* Never below, and near where many runs make the best one tell. */
static void check_against_exact(void) {
  static const double means[] = {1, 5, 27}, orders[] = {1.5, 3, 8, 12}, mus[] = {0.05, 0.3, 1};
  for (int law = 0; law < 2; law++) {
    double nearest = INFINITY;
    for (int i = 0; i < 36; i++) {
      const struct acct_selection s = {(enum acct_runs)law, means[i % 3], mus[i / 12]};
      double order = orders[i / 3 % 4], bound = acct_selection_rdp(&s, order);
      double found = fmax(exact(&s, order, 0), exact(&s, order, 1));
      CHECK(bound >= found * (1 - 1e-9));
      if (s.mean > 1) nearest = fmin(nearest, bound / found);
    }
    CHECK(nearest < 2);
  }
}

/* One run in all costs what it costs; the published bounds are no smaller. */
static void check_limits(void) {
  const struct acct_selection one = {ACCT_GEOMETRIC_RUNS, 1, 0.4};
  CHECK_NEAR(acct_selection_rdp(&one, 5), 5 * 0.08, 1e-12);
  /* Papernot and Steinke (2022), theorem 2, at its best second order; theorem 6. */
  const struct acct_selection geometric_runs = {ACCT_GEOMETRIC_RUNS, 27, 0.2};
  double rho = 0.02, best = INFINITY;
  for (double m = 1; m < 200; m += 0.5) best = fmin(best, 2 * (1 - 1 / m) * m * rho + 2 * log(27) / m);
  double published = 10 * rho + best + log(27) / 9;
  CHECK(acct_selection_rdp(&geometric_runs, 10) < published);
  CHECK(acct_selection_rdp(&geometric_runs, 10) > 0.8 * published);
  const struct acct_selection poisson_runs = {ACCT_POISSON_RUNS, 12, 0.2};
  double delta = acct_gdp_delta(0.2, log1p(1 / 9.0)), truncated = 12 / (1 - exp(-12));
  CHECK_NEAR(acct_selection_rdp(&poisson_runs, 10), 10 * rho + 12 * delta + log(truncated) / 9, 1e-12);
}
