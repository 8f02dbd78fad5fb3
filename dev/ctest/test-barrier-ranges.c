#include <float.h>
#include <math.h>
#include <string.h>

#include "shorthand.h"
#include "ctest.h"

static const double breaks_a[] = {-1, 0, 1, 10};
static const double breaks_b[] = {0, 5, 10};
#define CELLS 5

static void check_counts(void);
static void check_charge(void);
static void check_sensitivity(void);
static void check_refusals(void);

void test_barrier_ranges(void) {
  check_counts();
  check_charge();
  check_sensitivity();
  check_refusals();
}

static struct ledger *make_ledger(double rho) {
  struct ledger *ledger = NULL;
  CHECK(ledger_create(rho, 0, LEDGER_GDP, &ledger) == BASE_OK);
  return ledger;
}

/* counts of two columns with next to no noise, rounded */
static void count(size_t n, const double *a, const double *b, enum oracle_neighbours neighbours, double *counts) {
  struct ranges_column columns[] = {{a, breaks_a, 3}, {b, breaks_b, 2}};
  struct ledger *ledger = make_ledger(1e8);
  double sd;
  CHECK(ranges_release(ledger, &ctest_entropy, neighbours, n, 2, columns, 1e6, counts, &sd) == BASE_OK);
  for (size_t i = 0; i < CELLS; i++) counts[i] = nearbyint(counts[i]);
  ledger_free(ledger);
}

/* Every value is in one cell or, when missing, infinite or outside, in none. */
static void check_counts(void) {
  const double a[] = {-1, -0.5, -DBL_MIN / 4, 0, 0.5, 1, 10, 10.5, -1.5, NAN, INFINITY, -INFINITY};
  const double b[] = {0, 5, 5, 9, 10, 4.999, NAN, -1, 11, DBL_MAX, -DBL_MAX, -0.0};
  const double expected[CELLS] = {3, 2, 2, 3, 4};
  double counts[CELLS];
  count(12, a, b, ORACLE_REPLACE_ONE, counts);
  for (size_t i = 0; i < CELLS; i++) CHECK_NEAR(counts[i], expected[i], 0);
}

static void check_charge(void) {
  const double a[] = {0.5, 2}, b[] = {1, 2};
  struct ranges_column columns[] = {{a, breaks_a, 3}, {b, breaks_b, 2}};
  double counts[CELLS], sd;
  struct ledger *ledger = make_ledger(1);
  CHECK(ranges_release(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, 2, 2, columns, 0.125, counts, &sd) == BASE_OK);
  CHECK(ledger_length(ledger) == 1);
  const struct ledger_entry *entry = ledger_at(ledger, 0);
  CHECK(strcmp(entry->what, "ranges") == 0 && strcmp(entry->mechanism, "gaussian") == 0);
  CHECK_NEAR(entry->rho, 0.125, 0);
  CHECK_NEAR(entry->sensitivity, 2, 1e-15);
  CHECK_NEAR(sd, 4, 1e-10);
  CHECK(sd > 4);
  CHECK_NEAR(entry->scale, sd, 0);
  CHECK(ranges_release(ledger, &ctest_entropy, ORACLE_ZERO_OUT, 2, 2, columns, 0.125, counts, &sd) ==
        BASE_ERR_RELATION);
  CHECK(counts[0] == 0 && ledger_length(ledger) == 1);
  ledger_free(ledger);
  ledger = make_ledger(1);
  CHECK(ranges_release(ledger, &ctest_entropy, ORACLE_ZERO_OUT, 2, 2, columns, 0.125, counts, &sd) == BASE_OK);
  CHECK_NEAR(ledger_at(ledger, 0)->sensitivity, sqrt(2), 1e-15);
  CHECK(ledger_neighbours(ledger) == ORACLE_ZERO_OUT);
  ledger_free(ledger);
}

static double distance(const double *x, const double *y) {
  double sum = 0;
  for (size_t i = 0; i < CELLS; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

/* All pairs of records from a list: no two data sets of one record are further
 * apart than the sensitivity, and some are as far (2 columns: 2 and sqrt(2)). */
static void check_sensitivity(void) {
  const double values[] = {NAN, INFINITY, -0.5, 0.5, 3, 7, 99};
  enum { K = 7 };
  static double counts[K * K][CELLS];
  const double none[CELLS] = {0};
  for (size_t i = 0; i < K * K; i++) count(1, &values[i / K], &values[i % K], ORACLE_REPLACE_ONE, counts[i]);
  double replace = 0, zero = 0;
  for (size_t i = 0; i < K * K; i++) {
    zero = fmax(zero, distance(counts[i], none));
    for (size_t j = 0; j < K * K; j++) replace = fmax(replace, distance(counts[i], counts[j]));
  }
  CHECK_NEAR(replace, 2, 1e-15);
  CHECK_NEAR(zero, sqrt(2), 1e-15);
}

/* Nothing is released that is not paid for, and no count without noise. */
static void check_refusals(void) {
  const double a[] = {0.5, 2}, b[] = {1, 2};
  struct ranges_column columns[] = {{a, breaks_a, 3}, {b, breaks_b, 2}};
  double counts[CELLS], sd;
  struct ledger *ledger = make_ledger(1);
  const double bad[] = {0, -1, NAN, INFINITY, 1e-300};
  for (size_t i = 0; i < 5; i++) {
    CHECK(ranges_release(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, 2, 2, columns, bad[i], counts, &sd) ==
          BASE_ERR_ARGUMENT);
  }
  CHECK(ranges_release(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, 2, 0, columns, 0.1, counts, &sd) ==
        BASE_ERR_ARGUMENT);
  CHECK(ledger_length(ledger) == 0);
  CHECK(ranges_release(ledger, &ctest_entropy, ORACLE_REPLACE_ONE, 2, 2, columns, 2, counts, &sd) == BASE_ERR_BUDGET);
  CHECK(ledger_length(ledger) == 0);
  for (size_t i = 0; i < CELLS; i++) counts[i] = 1;
  CHECK(ranges_release(ledger, &ctest_entropy_broken, ORACLE_REPLACE_ONE, 2, 2, columns, 0.5, counts, &sd) ==
        BASE_ERR_ENTROPY);
  for (size_t i = 0; i < CELLS; i++) CHECK_NEAR(counts[i], 0, 0);
  CHECK_NEAR(ledger_spent(ledger), 0.5, 0); /* the charge stands */
  ledger_free(ledger);
}
