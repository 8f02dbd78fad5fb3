#include <math.h>
#include <string.h>

#include "barrier/barrier.h"
#include "ctest.h"

static void check_charge(void);
static void check_runs(void);
static void check_refusals(void);

void test_barrier_selection(void) {
  check_charge();
  check_runs();
  check_refusals();
}

static const struct selection few = {SELECTION_POISSON, 2, 3, 0.3};

static void check_charge(void) {
  struct ledger *ledger = NULL;
  double cost = selection_cost(&few, 9);
  size_t runs;
  /* log EK / (order - 1), EK = 2 / (1 - exp(-2)), is a part of it */
  CHECK(cost * 9 > 9 * 0.045 + log(2 / (1 - exp(-2.0))) / 8);
  CHECK(ledger_create_renyi(9, 1.5 * cost, &ledger) == BASE_OK);
  CHECK(selection_open(&few, ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &runs) == BASE_OK && runs > 0);
  CHECK(ledger_length(ledger) == 1);
  CHECK_NEAR(ledger_spent(ledger), cost, 1e-15);
  CHECK(strcmp(ledger_at(ledger, 0)->what, "best of runs") == 0);
  CHECK(strcmp(ledger_at(ledger, 0)->mechanism, "random runs") == 0);
  /* Not twice, and then nothing is drawn. */
  CHECK(selection_open(&few, ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &runs) == BASE_ERR_BUDGET && runs == 0);
  ledger_free(ledger);
}

/* Poisson's law but for zero; every candidate is as likely. */
static void check_runs(void) {
  const size_t times = (size_t)ctest_size(40000, 4000);
  double ones = 0, candidates[3] = {0}, share = 2 * exp(-2.0) / (1 - exp(-2.0));
  for (size_t i = 0; i < times; i++) {
    struct ledger *ledger = NULL;
    size_t runs, index;
    CHECK(ledger_create_renyi(9, 10, &ledger) == BASE_OK);
    CHECK(selection_open(&few, ledger, &ctest_entropy, ORACLE_ZERO_OUT, &runs) == BASE_OK && runs > 0);
    CHECK(selection_candidate(&few, &ctest_entropy, &index) == BASE_OK && index < 3);
    ones += runs == 1;
    candidates[index]++;
    ledger_free(ledger);
  }
  double n = (double)times;
  CHECK_NEAR(ones, n * share, 5.2 * sqrt(n * share * (1 - share)));
  for (int i = 0; i < 3; i++) CHECK_NEAR(candidates[i], n / 3, 5.2 * sqrt(n * 2 / 9));
}

static void check_refusals(void) {
  struct ledger *gdp = NULL, *renyi = NULL;
  size_t runs;
  CHECK(ledger_create(10, 10, LEDGER_OPEN, &gdp) == BASE_OK);
  CHECK(ledger_create_renyi(9, 10, &renyi) == BASE_OK);
  CHECK(selection_open(&few, gdp, &ctest_entropy, ORACLE_REPLACE_ONE, &runs) == BASE_ERR_ACCOUNTANT);
  const struct selection bad[] = {
      {SELECTION_POISSON, 0, 3, 0.3}, {SELECTION_GEOMETRIC, 2, 0, 0.3}, {SELECTION_GEOMETRIC, 2, 3, 0}};
  for (int i = 0; i < 3; i++) {
    CHECK(selection_open(&bad[i], renyi, &ctest_entropy, ORACLE_REPLACE_ONE, &runs) == BASE_ERR_ARGUMENT);
  }
  CHECK(ledger_length(gdp) == 0 && ledger_length(renyi) == 0);
  CHECK(selection_open(&few, renyi, &ctest_entropy_broken, ORACLE_REPLACE_ONE, &runs) == BASE_ERR_ENTROPY);
  CHECK(ledger_length(renyi) == 1); /* the charge stands */
  ledger_free(gdp);
  ledger_free(renyi);
}
