/* What a cost buys of a pure mechanism on a batch. */
#include "acct/acct.h"
#include "ctest.h"

#include <math.h>

static void closed_form(void);
static void at_least_exact(void);
static void worst_laws(void);

void test_acct_sampled(void) {
  closed_form();
  at_least_exact();
  worst_laws();
}

static struct acct_sampled batch_of(double rate, double order, enum acct_amplification amplification) {
  return (struct acct_sampled){1000, 1000 * rate, order, amplification};
}

/* The cost is min(eps'^2 / 2, eps' / order), exp(eps') - 1 = rate (exp(eps) - 1), and never less. */
static void closed_form(void) {
  static const double orders[] = {1.5, 8, 300};
  for (double rate = 0.001; rate < 1; rate *= 3) {
    for (int i = 0; i < 3; i++) {
      for (double cost = 1e-9; cost < 10; cost *= 7) {
        const struct acct_sampled s = batch_of(rate, orders[i], ACCT_PROFILE);
        double eps = acct_sampled_eps(&s, cost), amplified = log1p(rate * expm1(eps));
        double charged = fmin(amplified * amplified / 2, amplified / orders[i]);
        if (eps < 700) CHECK(charged <= cost && charged > cost * (1 - 1e-11));
      }
    }
  }
}

/* The exact divergence of the worst pure mechanism on such a batch is no more. */
static void at_least_exact(void) {
  for (int relation = 0; relation < 2; relation++) {
    for (double rate = 0.01; rate < 1; rate *= 4) {
      for (double cost = 1e-7; cost < 0.1; cost *= 30) {
        const struct acct_sampled s = batch_of(rate, 20, relation ? ACCT_PROFILE : ACCT_MIXTURE);
        const struct acct_leaf leaf = {ACCT_PURE, acct_sampled_eps(&s, cost), 0, 0, 1};
        const struct acct_round round = {&leaf, 1, s.amplification, rate, 1};
        double order = s.order, divergence;
        CHECK(acct_rdp_curve(&round, 1, 1, &order, &divergence) == BASE_OK);
        CHECK(divergence <= order * cost * (1 + 1e-9));
        if (cost < 1e-3)
          CHECK(divergence > 0.2 * order * cost); /* the law of a record that is there or not is lopsided */
      }
    }
  }
}

/* (1 - q) a + q b against (1 - q) a + q c for laws a, b, c within exp(eps) of each other, the three mass by mass. */
static void worst_laws(void) {
  double largest = 0, x = exp(0.7), q = 0.3, bound = 1 + q * (x - 1);
  for (int trial = 0; trial < 100000; trial++) {
    double top = ctest_uniform(), law[3];
    for (int k = 0; k < 3; k++)
      law[k] = trial % 2 ? top * pow(x, -floor(2 * ctest_uniform())) : top * pow(x, -ctest_uniform());
    double ratio = ((1 - q) * law[0] + q * law[1]) / ((1 - q) * law[0] + q * law[2]);
    if (ratio > largest) largest = ratio;
  }
  CHECK(largest <= bound * (1 + 1e-12));
  CHECK(largest > bound * (1 - 1e-12)); /* attained */
}
