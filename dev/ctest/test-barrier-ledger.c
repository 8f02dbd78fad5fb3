/* The ledger as a filter: charge before release, refusal, rounding, accountant, relation, close, fork, history. */
#include "ctest.h"
#include "barrier/barrier.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

static void charges_and_refuses(void);
static void many_slices(void);
static void random_slices(void);
static void first_charge_decides(void);
static void decisions(void);
static void one_relation(void);
static void creation(void);
static void closing(void);
static void forked(void);
static void history(void);
static void renyi(void);

static int charge(struct ledger *l, int gaussian, double rho) {
  struct ledger_entry entry = {"gradient", "gaussian", rho, 1, 1, 1};
  return ledger_charge(l, ORACLE_REPLACE_ONE, gaussian, &entry);
}

static struct ledger *make(double gdp, double zcdp) {
  struct ledger *l;
  CHECK(ledger_create(gdp, zcdp, LEDGER_OPEN, &l) == BASE_OK);
  return l;
}

void test_barrier_ledger(void) {
  charges_and_refuses();
  many_slices();
  random_slices();
  first_charge_decides();
  decisions();
  one_relation();
  creation();
  closing();
  forked();
  history();
  renyi();
}

static void charges_and_refuses(void) {
  static const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
  struct ledger *l = make(1, 0.75);
  CHECK(ledger_left(l) == 1 && ledger_spent(l) == 0 && ledger_capacity(l) == 1);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) CHECK(charge(l, 1, bad[k]) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(l) == 0);
  CHECK(charge(l, 1, 0.75) == BASE_OK);
  CHECK(ledger_left(l) == 0.25);
  CHECK(charge(l, 1, 0.25 * (1 + 4 * DBL_EPSILON)) == BASE_ERR_BUDGET);
  CHECK(ledger_spent(l) == 0.75 && ledger_length(l) == 1); /* a refusal charges nothing */
  CHECK(charge(l, 1, 0.25) == BASE_OK);
  CHECK(ledger_left(l) == 0 && ledger_spent(l) == 1);
  CHECK(charge(l, 1, 1e-12) == BASE_ERR_BUDGET);
  CHECK(charge(l, 1, 1e300) == BASE_ERR_BUDGET);
  ledger_free(l);
}

/* A plain sum drifts by about 1e-12 over these; what is left at the end is a few ulps. */
static void many_slices(void) {
  static const double capacity[] = {1, 0.1, 3e-7, 1.0 / 3};
  int count = ctest_size(100000, 2000);
  for (size_t k = 0; k < sizeof capacity / sizeof *capacity; k++) {
    struct ledger *l = make(capacity[k], capacity[k]);
    double slice = capacity[k] / count;
    int refused = 0;
    for (int i = 0; i < count - 1; i++) refused += charge(l, 1, slice) != BASE_OK;
    CHECK(refused == 0);
    CHECK_NEAR(ledger_left(l), slice, 8 * DBL_EPSILON * capacity[k]);
    CHECK(charge(l, 1, slice - 8 * DBL_EPSILON * capacity[k]) == BASE_OK);
    CHECK(charge(l, 1, slice) == BASE_ERR_BUDGET);
    CHECK(ledger_spent(l) <= capacity[k]);
    ledger_free(l);
  }
}

/* The exact sum of what was granted exceeds the capacity by no more than one rounding, whatever the sizes. */
static void random_slices(void) {
  double drift = ctest_extended() ? 0 : 1e-13; /* of the reference itself */
  for (int k = 0; k < 20; k++) {
    struct ledger *l = make(1, 1);
    long double granted = 0;
    for (int i = 0; i < ctest_size(20000, 1000); i++) {
      double rho = exp(-14 * ctest_uniform()) / 50;
      if (charge(l, 1, rho) == BASE_OK) granted += rho;
    }
    CHECK(granted <= 1 + (long double)(DBL_EPSILON + drift));
    CHECK_NEAR((double)(granted - ledger_spent(l)), 0, 2 * DBL_EPSILON + drift);
    CHECK(ledger_left(l) < 1e-4); /* small ones are granted until the end */
    ledger_free(l);
  }
}

static void first_charge_decides(void) {
  struct ledger *l = make(1, 0.5);
  CHECK(ledger_accountant_of(l) == LEDGER_OPEN);
  CHECK(charge(l, 1, 0.7) == BASE_OK);
  CHECK(ledger_accountant_of(l) == LEDGER_GDP && ledger_capacity(l) == 1);
  CHECK(charge(l, 0, 0.01) == BASE_ERR_ACCOUNTANT);
  CHECK(ledger_spent(l) == 0.7 && ledger_length(l) == 1);
  ledger_free(l);

  l = make(1, 0.5);
  CHECK(charge(l, 0, 0.7) == BASE_ERR_BUDGET);   /* the smaller capacity rules */
  CHECK(ledger_accountant_of(l) == LEDGER_OPEN); /* and a refusal decides nothing */
  CHECK(charge(l, 0, 0.3) == BASE_OK);
  CHECK(ledger_accountant_of(l) == LEDGER_ZCDP && ledger_capacity(l) == 0.5);
  CHECK_NEAR(ledger_left(l), 0.2, 1e-15);
  CHECK(charge(l, 1, 0.25) == BASE_ERR_BUDGET);
  CHECK(charge(l, 1, 0.2) == BASE_OK); /* Gaussian releases fit zCDP */
  ledger_free(l);
}

static void decisions(void) {
  struct ledger *l = make(1, 0.5);
  CHECK(ledger_decide(l, LEDGER_ZCDP) == BASE_OK && ledger_capacity(l) == 0.5);
  CHECK(ledger_decide(l, LEDGER_GDP) == BASE_OK && ledger_capacity(l) == 1); /* nothing charged yet */
  CHECK(ledger_decide(l, LEDGER_OPEN) == BASE_OK && ledger_accountant_of(l) == LEDGER_GDP);
  CHECK(charge(l, 1, 0.1) == BASE_OK);
  CHECK(ledger_decide(l, LEDGER_ZCDP) == BASE_ERR_ACCOUNTANT && ledger_accountant_of(l) == LEDGER_GDP);
  CHECK(ledger_decide(l, LEDGER_GDP) == BASE_OK);
  ledger_free(l);

  l = make(1, 0.5);
  CHECK(ledger_decide(l, LEDGER_ZCDP) == BASE_OK);
  CHECK(charge(l, 1, 0.4) == BASE_OK && ledger_accountant_of(l) == LEDGER_ZCDP);
  CHECK(ledger_decide(l, LEDGER_GDP) == BASE_ERR_ACCOUNTANT);
  CHECK(charge(l, 1, 0.2) == BASE_ERR_BUDGET);
  ledger_free(l);
}

/* The first charge fixes it, a refused one does not; what is unused is charged under it, too. */
static void one_relation(void) {
  static const enum oracle_neighbours all[] = {ORACLE_REPLACE_ONE, ORACLE_ZERO_OUT};
  struct ledger_entry most = {"gradient", "gaussian", 2, 1, 1, 1}, some = {"gradient", "gaussian", 0.25, 1, 1, 1};
  for (int k = 0; k < 2; k++) {
    enum oracle_neighbours one = all[k], other = all[1 - k];
    struct ledger *l = make(1, 1);
    CHECK(ledger_charge(l, other, 1, &most) == BASE_ERR_BUDGET);
    CHECK(ledger_charge(l, one, 1, &some) == BASE_OK && ledger_neighbours(l) == one);
    CHECK(ledger_charge(l, other, 1, &some) == BASE_ERR_RELATION);
    CHECK(ledger_close(l, other, 0) == BASE_ERR_RELATION);
    CHECK(ledger_length(l) == 1 && ledger_spent(l) == 0.25 && ledger_neighbours(l) == one);
    CHECK(ledger_charge(l, one, 1, &some) == BASE_OK);
    CHECK(ledger_close(l, one, 0) == BASE_OK && ledger_length(l) == 3);
    ledger_free(l);
  }
}

static void creation(void) {
  struct ledger *l;
  CHECK(ledger_create(-1, 1, LEDGER_OPEN, &l) == BASE_ERR_ARGUMENT && l == NULL);
  CHECK(ledger_create(1, NAN, LEDGER_OPEN, &l) == BASE_ERR_ARGUMENT && l == NULL);
  CHECK(ledger_create(0, 0, LEDGER_OPEN, &l) != BASE_OK && l == NULL);
  CHECK(ledger_create(0, 1, LEDGER_GDP, &l) == BASE_ERR_ACCOUNTANT && l == NULL);
  CHECK(ledger_create(1, 0, LEDGER_ZCDP, &l) == BASE_ERR_ACCOUNTANT && l == NULL);

  l = make(0, 1);
  CHECK(ledger_accountant_of(l) == LEDGER_ZCDP && ledger_left(l) == 1);
  CHECK(charge(l, 1, 0.5) == BASE_OK);
  ledger_free(l);
  l = make(1, 0);
  CHECK(ledger_accountant_of(l) == LEDGER_GDP);
  CHECK(charge(l, 0, 0.5) == BASE_ERR_ACCOUNTANT);
  CHECK(charge(l, 1, 0.5) == BASE_OK);
  ledger_free(l);
  ledger_free(NULL);
}

/* The close leaves out a share of 1e-11, so that rounding does not make it fail. */
#define ROUNDED 2e-11

static void closing(void) {
  struct ledger *l = make(1, 1);
  CHECK(charge(l, 1, 0.3) == BASE_OK);
  CHECK(ledger_close(l, ORACLE_REPLACE_ONE, 0.2) == BASE_OK);
  CHECK_NEAR(ledger_left(l), 0.2, ROUNDED);
  CHECK(ledger_length(l) == 2 && strcmp(ledger_at(l, 1)->what, "unused") == 0);
  CHECK_NEAR(ledger_at(l, 1)->rho, 0.5, ROUNDED);
  CHECK(ledger_close(l, ORACLE_REPLACE_ONE, -5) == BASE_OK); /* nothing to keep */
  CHECK_NEAR(ledger_left(l), 0, ROUNDED);
  CHECK(ledger_spent(l) <= 1);
  CHECK(ledger_close(l, ORACLE_REPLACE_ONE, 0) == BASE_OK);
  CHECK(charge(l, 1, ROUNDED) == BASE_ERR_BUDGET);
  ledger_free(l);

  for (int k = 0; k < 200; k++) { /* rounding makes it neither fail nor exceed */
    l = make(ctest_uniform(), 0);
    for (int i = 0; i < 7; i++) charge(l, 1, 0.13 * ctest_uniform() * ledger_capacity(l));
    int ended = ledger_close(l, ORACLE_REPLACE_ONE, 0);
    CHECK(ended == BASE_OK && ledger_spent(l) <= ledger_capacity(l));
    CHECK_NEAR(ledger_left(l), 0, ROUNDED);
    ledger_free(l);
  }
  l = make(1, 0.5); /* of the accountant that was decided */
  CHECK(charge(l, 0, 0.1) == BASE_OK);
  CHECK(ledger_close(l, ORACLE_REPLACE_ONE, 0) == BASE_OK);
  CHECK(ledger_accountant_of(l) == LEDGER_ZCDP);
  CHECK_NEAR(ledger_spent(l), 0.5, ROUNDED);
  ledger_free(l);
}

/* A child would spend the same budget a second time. */
static void forked(void) {
#ifndef _WIN32
  struct ledger *l = make(1, 1);
  CHECK(charge(l, 1, 0.25) == BASE_OK);
  pid_t child = fork();
  if (child == 0) {
    int refused = charge(l, 1, 0.25) == BASE_ERR_FORK && ledger_spent(l) == 0.25;
    ledger_free(l);
    _exit(refused ? 7 : 1);
  }
  int code = 0;
  CHECK(child > 0 && waitpid(child, &code, 0) == child);
  CHECK(WIFEXITED(code) && WEXITSTATUS(code) == 7);
  CHECK(charge(l, 1, 0.25) == BASE_OK); /* the parent goes on */
  ledger_free(l);
#endif
}

static void history(void) {
  struct ledger *l = make(1000, 1000);
  for (int i = 0; i < 300; i++) { /* more than the first allocation holds */
    struct ledger_entry entry = {i % 2 ? "value" : "hessian", i % 2 ? "sparse vector" : "gaussian", i + 1, 2 * i,
                                 3 * i, 4 * i};
    int expected = i < 44 ? BASE_OK : BASE_ERR_BUDGET; /* 44 45 / 2 = 990 */
    CHECK(ledger_charge(l, ORACLE_REPLACE_ONE, 0, &entry) == expected);
  }
  CHECK(ledger_length(l) == 44);
  int same = 1;
  for (int i = 0; i < 44; i++) {
    const struct ledger_entry *e = ledger_at(l, (size_t)i);
    same = same && e->rho == i + 1 && e->sensitivity == 2 * i && e->scale == 3 * i && e->values == 4 * i;
    same = same && strcmp(e->what, i % 2 ? "value" : "hessian") == 0;
    same = same && strcmp(e->mechanism, i % 2 ? "sparse vector" : "gaussian") == 0;
  }
  CHECK(same);
  ledger_free(l);

  l = make(1e6, 0);
  for (int i = 0; i < 300; i++) CHECK(charge(l, 1, i + 1) == BASE_OK);
  same = 1;
  for (int i = 0; i < 300; i++) same = same && ledger_at(l, (size_t)i)->rho == i + 1;
  CHECK(same && ledger_length(l) == 300);
  ledger_free(l);
}

/* One order fixed in advance: any release is charged against the one capacity, and no other accountant takes over. */
static void renyi(void) {
  static const double bad[] = {0, -1, NAN};
  struct ledger *l = NULL;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    CHECK(ledger_create_renyi(2, bad[k], &l) == BASE_ERR_ARGUMENT && l == NULL);
  }
  CHECK(ledger_create_renyi(8, 0.5, &l) == BASE_OK);
  CHECK(ledger_accountant_of(l) == LEDGER_RENYI && ledger_capacity(l) == 0.5);
  CHECK(ledger_decide(l, LEDGER_GDP) == BASE_OK && ledger_decide(l, LEDGER_ZCDP) == BASE_OK);
  CHECK(ledger_accountant_of(l) == LEDGER_RENYI);
  CHECK(charge(l, 1, 0.25) == BASE_OK);
  CHECK(charge(l, 0, 0.125) == BASE_OK); /* Gaussian or not */
  CHECK(ledger_accountant_of(l) == LEDGER_RENYI && ledger_left(l) == 0.125);
  CHECK(charge(l, 1, 0.126) == BASE_ERR_BUDGET && ledger_spent(l) == 0.375);
  CHECK(ledger_close(l, ORACLE_REPLACE_ONE, 0) == BASE_OK && ledger_spent(l) <= 0.5);
  CHECK_NEAR(ledger_left(l), 0, ROUNDED);
  CHECK(charge(l, 0, ROUNDED) == BASE_ERR_BUDGET);
  ledger_free(l);
}
