#include <math.h>
#include <string.h>

#include "shorthand.h"
#include "ctest.h"

enum { MOST = 4 };

static void check_sums(void);
static void check_charge(void);
static void check_sensitivity(void);
static void check_best(void);
static void check_refusals(void);
static void check_table(void);

void test_barrier_scores(void) {
  check_sums();
  check_charge();
  check_sensitivity();
  check_best();
  check_refusals();
  check_table();
}

static struct ledger *make_ledger(double gdp, double zcdp) {
  struct ledger *ledger = NULL;
  CHECK(ledger_create(gdp, zcdp, LEDGER_OPEN, &ledger) == BASE_OK);
  return ledger;
}

/* values: k columns of n numbers, one after the other. */
static int ask_scores(struct ledger *ledger, const struct base_entropy *entropy, enum oracle_neighbours neighbours,
                      size_t n, size_t k, const double *values, const struct query *query, double rho,
                      struct answer out) {
  const double *columns[MOST];
  for (size_t j = 0; j < k; j++) columns[j] = values + j * n;
  const struct raw raw = {.n = n, .columns = k, .values = columns};
  const struct engine engine = engine_raw(&raw);
  const struct ask ask = {.k = k};
  struct oracle *o;
  int status = oracle_create(&engine, NULL, ledger, entropy, neighbours, &o);
  if (status == BASE_OK) status = release(oracle_all(o), query, &ask, rho, out);
  oracle_free(o);
  return status;
}

/* With next to no noise, as multiples of the grid. */
static void sums_of(size_t n, size_t k, const double *values, double *sums) {
  struct ledger *ledger = make_ledger(1e20, 0);
  CHECK(ask_scores(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, n, k, values, &query_scores, 1e19,
                   (struct answer){.value = sums}) == BASE_OK);
  for (size_t j = 0; j < k; j++) sums[j] = nearbyint(ldexp(sums[j], 20)) / 0x1p20;
  ledger_free(ledger);
}

/* Scores are clamped; what is not finite adds nothing. */
static void check_sums(void) {
  const double values[] = {0, 1, 0.5, 0.25, NAN, INFINITY, -3, 7, 0.1, 0, 0, 0};
  double sums[2];
  sums_of(6, 2, values, sums);
  CHECK_NEAR(sums[0], 1.75, 0);
  CHECK_NEAR(sums[1], 1.1, 0x1p-21);
}

static void check_charge(void) {
  const double values[] = {0.5, 1, 0, 0.2, 0.3, 0.4};
  double sums[3], sd;
  struct ledger *ledger = make_ledger(1, 0);
  CHECK(ask_scores(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, 2, 3, values, &query_scores, 0.125,
                   (struct answer){.value = sums, .sd = &sd}) == BASE_OK);
  CHECK(ledger_length(ledger) == 1);
  const struct ledger_entry *entry = ledger_at(ledger, 0);
  CHECK(strcmp(entry->what, "scores") == 0 && strcmp(entry->mechanism, "gaussian") == 0);
  CHECK_NEAR(entry->rho, 0.125, 0);
  CHECK_NEAR(entry->sensitivity, sqrt(3), 1e-15);
  CHECK_NEAR(sd, 2 * sqrt(3), 1e-10);
  CHECK(sd > 2 * sqrt(3));
  ledger_free(ledger);
}

/* Records of adversarial scores, each as the one record of a data set: no two are further apart than the sensitivity,
 * and the range of their differences is at most the spread, which some attain. */
static void check_sensitivity(void) {
  static const double scores[] = {0, 1, 0.5, -1e300, 1e300, NAN, INFINITY, -INFINITY, 0x1p-1074, 1 - 0x1p-53};
  enum { S = 10, K = 3, ALL = S * S * S };
  static double sums[ALL][K];
  for (size_t i = 0; i < ALL; i++) {
    const double record[K] = {scores[i % S], scores[i / S % S], scores[i / S / S]};
    sums_of(1, K, record, sums[i]);
  }
  double distance = 0, spread = 0, of_null = 0;
  for (size_t i = 0; i < ALL; i++) {
    of_null =
        fmax(of_null, fmax(fmax(sums[i][0], sums[i][1]), sums[i][2]) - fmin(fmin(sums[i][0], sums[i][1]), sums[i][2]));
    for (size_t j = 0; j < i; j++) {
      double square = 0, high = -INFINITY, low = INFINITY;
      for (size_t l = 0; l < K; l++) {
        double change = sums[i][l] - sums[j][l];
        square += change * change;
        high = fmax(high, change);
        low = fmin(low, change);
      }
      distance = fmax(distance, sqrt(square));
      spread = fmax(spread, high - low);
    }
  }
  CHECK_NEAR(distance, sqrt(3), 1e-15);
  CHECK_NEAR(spread, 2, 0);
  CHECK_NEAR(of_null, 1, 0);
}

/* The choice has odds exp((difference of sums) / temperature), and costs eta^2 / 8 with eta = spread / temperature. */
static void check_best(void) {
  const double values[] = {1, 1, 0.5, 0, 1, 0};
  enum { DRAWS = 20000 };
  struct ledger *ledger = make_ledger(0, 1e9);
  double sd;
  size_t index, first = 0;
  for (size_t i = 0; i < DRAWS; i++) {
    CHECK(ask_scores(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, 3, 2, values, &query_best_score, 0.5,
                     (struct answer){.sd = &sd, .index = &index}) == BASE_OK);
    first += index == 0;
  }
  const struct ledger_entry *entry = ledger_at(ledger, 0);
  CHECK(strcmp(entry->what, "best score") == 0 && strcmp(entry->mechanism, "exponential") == 0);
  CHECK_NEAR(entry->sensitivity, 2, 0);
  CHECK_NEAR(sd, 1, 1e-8); /* 2 / sqrt(8 / 2) */
  double p = 1 / (1 + exp(-1.5));
  CHECK_NEAR((double)first / DRAWS, p, 5 * sqrt(p * (1 - p) / DRAWS)); /* false alarm: 6e-7 */
  ledger_free(ledger);
  ledger = make_ledger(0, 1);
  CHECK(ask_scores(ledger, &ctest_entropy, ORACLE_ZERO_OUT, 3, 2, values, &query_best_score, 0.5,
                   (struct answer){.sd = &sd, .index = &index}) == BASE_OK);
  CHECK_NEAR(sd, 0.5, 1e-8);
  ledger_free(ledger);
}

static void check_refusals(void) {
  const double values[] = {0.5, 1};
  double sum = 1;
  const struct answer to = {.value = &sum};
  struct ledger *ledger = make_ledger(1, 0);
  CHECK(ask_scores(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, 2, 0, values, &query_scores, 0.1, to) ==
        BASE_ERR_ARGUMENT);
  CHECK(ask_scores(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, 2, 1, values, &query_scores, 2, to) == BASE_ERR_BUDGET);
  CHECK(ledger_length(ledger) == 0);
  sum = 1;
  CHECK(ask_scores(ledger, &ctest_entropy_broken, ORACLE_REPLACE_ONE, 2, 1, values, &query_scores, 0.5, to) ==
        BASE_ERR_ENTROPY);
  CHECK_NEAR(sum, 0, 0);
  CHECK_NEAR(ledger_spent(ledger), 0.5, 0); /* the charge stands */
  ledger_free(ledger);
}

/* A replaced record leaves one cell and enters another. */
static void check_table(void) {
  const double values[] = {1, 2, 2, 3, NAN}, breaks[] = {0.5, 1.5, 2.5}, *column = values;
  const struct raw raw = {.n = 5, .columns = 1, .values = &column};
  const struct engine engine = engine_raw(&raw);
  const struct histogram histogram = {breaks, 2};
  const struct ask ask = {.k = 1, .histogram = &histogram};
  double counts[2], sd;
  for (int zero = 0; zero < 2; zero++) {
    struct ledger *ledger = make_ledger(1e9, 0);
    struct oracle *o;
    CHECK(oracle_create(&engine, NULL, ledger, &ctest_entropy, zero ? ORACLE_ZERO_OUT : ORACLE_REPLACE_ONE, &o) ==
          BASE_OK);
    CHECK(release(oracle_all(o), &query_table, &ask, 1e8, (struct answer){counts, &sd, NULL}) == BASE_OK);
    CHECK(strcmp(ledger_at(ledger, 0)->what, "table") == 0);
    CHECK_NEAR(ledger_at(ledger, 0)->sensitivity, zero ? 1 : sqrt(2), 1e-15);
    CHECK_NEAR(counts[0], 1, 1e-2);
    CHECK_NEAR(counts[1], 2, 1e-2);
    oracle_free(o);
    ledger_free(ledger);
  }
}
