/* Renyi curves and privacy loss distributions of plans of any shape: bounds on both sides, and in the right order. */
#include "fuzz.h"

#include "acct/acct.h"

enum { LEAVES = 2, ROUNDS = 2, ORDERS = 4 };
#define CLOSE 1e-6 /* relative error that a bound may have; the brackets are wider */

/* What event_*() let through: positive numbers, counts, rates in (0, 1], few repetitions for speed. */
static double positive(struct fuzz *f) {
  double x = fabs(fuzz_double(f));
  return x > 0 && isfinite(x) ? x : 1;
}

static struct acct_leaf read_leaf(struct fuzz *f) {
  struct acct_leaf leaf = {(enum acct_kind)fuzz_below(f, 6), positive(f), 1 + fuzz_below(f, 4), positive(f),
                           1 + fuzz_below(f, 4)};
  return leaf;
}

static struct acct_round read_round(struct fuzz *f, struct acct_leaf *leaf, int profile) {
  size_t leaves = 1 + fuzz_below(f, LEAVES);
  for (size_t i = 0; i < leaves; i++) leaf[i] = read_leaf(f);
  int plain = (int)fuzz_below(f, 2);
  enum acct_amplification sampled = profile ? ACCT_PROFILE : ACCT_MIXTURE;
  struct acct_round round = {leaf, leaves, plain ? ACCT_PLAIN : sampled, plain ? 1 : fuzz_share(f),
                             1 + fuzz_below(f, 1000)};
  return round;
}

/* Divergences grow with their order; upper bounds of them, found numerically, need not. */
static int closed_form(const struct acct_round *round, size_t rounds) {
  for (size_t i = 0; i < rounds; i++)
    for (size_t j = 0; j < round[i].leaves; j++)
      if (round[i].amplification != ACCT_PLAIN || round[i].leaf[j].kind > ACCT_LAPLACE) return 0;
  return 1;
}

static void renyi(struct fuzz *f, const struct acct_round *round, size_t rounds, double eps, double delta) {
  double order[ORDERS] = {1 + fuzz_share(f)}, rdp[ORDERS], found = 0, at = 0;
  for (int i = 1; i < ORDERS; i++) order[i] = order[i - 1] + 50 * fuzz_share(f);
  int status = acct_rdp_curve(round, rounds, ORDERS, order, rdp);
  REQUIRE(status >= 0 && status < BASE_STATUS_COUNT);
  for (int i = 0; i < ORDERS && status == BASE_OK; i++) REQUIRE(rdp[i] >= 0);
  for (int i = 1; i < ORDERS && status == BASE_OK && closed_form(round, rounds); i++)
    REQUIRE(rdp[i] >= rdp[i - 1] * (1 - CLOSE) - 1e-300);
  if (fuzz_below(f, 4) != 3) return; /* slow */
  status = acct_rdp_epsilon(round, rounds, delta, &found, &at);
  if (status == BASE_OK) REQUIRE(found >= 0);
  status = acct_rdp_log_delta(round, rounds, eps, &found, &at);
  if (status == BASE_OK) REQUIRE(found <= 0);
}

static void loss(const struct acct_round *round, size_t rounds, double eps, double delta) {
  double high = 0, low = 0;
  int status = acct_pld_epsilon(round, rounds, delta, ACCT_PESSIMISTIC, &high);
  if (status == BASE_OK) status = acct_pld_epsilon(round, rounds, delta, ACCT_OPTIMISTIC, &low);
  if (status == BASE_OK) REQUIRE(low >= 0 && low <= high * (1 + CLOSE) + 1e-12);
  status = acct_pld_log_delta(round, rounds, eps, ACCT_PESSIMISTIC, &high);
  if (status == BASE_OK) status = acct_pld_log_delta(round, rounds, eps, ACCT_OPTIMISTIC, &low);
  if (status == BASE_OK) REQUIRE(high <= 0 && low <= high + CLOSE);
}

/* One plain Gaussian has an exact answer, which both bounds contain. */
static void gaussian(double mu, double times, double delta) {
  struct acct_leaf leaf = {ACCT_GAUSSIAN, mu, 0, 0, 1};
  struct acct_round round = {&leaf, 1, ACCT_PLAIN, 1, times};
  double high = 0, low = 0, exact = acct_gdp_epsilon(mu * sqrt(times), delta);
  if (acct_pld_epsilon(&round, 1, delta, ACCT_PESSIMISTIC, &high) != BASE_OK) return;
  if (acct_pld_epsilon(&round, 1, delta, ACCT_OPTIMISTIC, &low) != BASE_OK) return;
  REQUIRE(low <= exact * (1 + CLOSE) + 1e-12 && exact <= high * (1 + CLOSE) + 1e-12);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz f = fuzz_begin(data, size);
  struct acct_leaf leaf[ROUNDS][LEAVES];
  struct acct_round round[ROUNDS];
  size_t rounds = 1 + fuzz_below(&f, ROUNDS);
  int profile = (int)fuzz_below(&f, 2);
  for (size_t i = 0; i < rounds; i++) round[i] = read_round(&f, leaf[i], profile);
  double eps = positive(&f), delta = fuzz_share(&f) * pow(10, -(double)fuzz_below(&f, 12));
  switch (fuzz_below(&f, 8)) { /* distributions take a hundred times as long as curves */
  case 7:
    loss(round, rounds, eps, delta);
    break;
  case 6:
    gaussian(positive(&f), round[0].times, delta);
    break;
  default:
    renyi(&f, round, rounds, eps, delta);
  }
  fuzz_end();
  return 0;
}
