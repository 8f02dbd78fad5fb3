/* The line search: candidates, choice by lower confidence bounds, and the two mechanisms that release only a choice. */
#include "fixture.h"
#include "method/private.h"

enum { DIM = 3 };

static void candidates(void);
static void gaussian_choice(void);
static void never_uphill(void);
static void finds_descent(enum opt_line_search kind);
static void refused(void);
static void left_out(void);
static void rarely_uphill(enum opt_line_search kind);

void test_method_search(void) {
  candidates();
  gaussian_choice();
  never_uphill();
  finds_descent(OPT_GAUSSIAN);
  finds_descent(OPT_SVT);
  finds_descent(OPT_EXPONENTIAL);
  refused();
  left_out();
  rarely_uphill(OPT_GAUSSIAN);
  rarely_uphill(OPT_SVT);
}

/* first ratio^i down to first / multiplier: the last one is the short step. */
static void candidates(void) {
  CHECK(search_candidates(1, 0.5) == 1);
  CHECK(search_candidates(64, 0.5) == 7);
  CHECK(search_candidates(63.99, 0.5) == 6);
  CHECK(search_candidates(20, 0.6) == 6); /* 0.6^5 > 1 / 20 > 0.6^6 */
  CHECK(search_candidates(1000, 0.1) == 4);
}

static const struct penalty ridge = {PENALTY_RIDGE, 0.05, 0, 0};

static struct line_search search_of(enum opt_line_search kind, double rho) {
  struct line_search s = {.kind = kind,
                          .first = 8,
                          .ratio = 0.5,
                          .k = 6,
                          .sufficient = 0.01,
                          .power = 1,
                          .rho = rho,
                          .error = 0.01,
                          .gap = 1e9,
                          .least = 1e9,
                          .reach = 1e9};
  return s;
}

/* Upper quantiles of the normal law for 0.2 / 6 and 0.01 / 6, by R's qnorm() to ten digits. */
static const double doubt = 1.833914636, sure = 2.935199469;

/* The noise can be drawn twice from one seed: the choice is the largest lower bound, and none where all are negative.
 */
static void gaussian_choice(void) {
  struct fixture f;
  struct objective objective;
  int none = 0, some = 0, wrong = 0;
  fixture_open(&f, "logistic", 200, DIM, 0, ORACLE_REPLACE_ONE, 1e6);
  objective_init(&objective, f.oracle, &ridge);
  for (int i = 0; i < 400; i++) {
    double w[DIM], d[DIM], noisy[6], noise[6], steps[6], moved[DIM], best = 0, expected[3] = {0};
    struct found found;
    struct line_search s = search_of(OPT_GAUSSIAN, exp(-10 * ctest_uniform()));
    for (int j = 0; j < DIM; j++) {
      w[j] = ctest_normal();
      d[j] = 0.3 * ctest_normal();
    }
    for (int k = 0; k < 6; k++) steps[k] = 8 * pow(0.5, k);
    ctest_seed(1000 + (uint64_t)i);
    CHECK(oracle_decreases(f.oracle, w, d, 6, steps, s.rho, noisy, noise) == BASE_OK);
    for (int k = 0; k < 6; k++) {
      for (int j = 0; j < DIM; j++) moved[j] = w[j] + steps[k] * d[j];
      double total = noisy[k] + penalty_value(&ridge, DIM, w) - penalty_value(&ridge, DIM, moved);
      double lower = total - 0.01 * steps[k] - doubt * noise[k];
      if (lower <= best) continue;
      best = lower;
      expected[0] = steps[k];
      expected[1] = total;
      expected[2] = noise[k];
    }
    ctest_seed(1000 + (uint64_t)i);
    CHECK(search_run(&objective, &s, w, d, &found) == BASE_OK);
    wrong += found.step != expected[0] || found.rho != s.rho;
    if (found.step > 0) {
      some++;
      wrong += !(fabs(found.decrease - expected[1]) <= 1e-12) || found.sd != expected[2];
      wrong += !(fabs(found.bound - (expected[1] - sure * expected[2])) <= 1e-8 * (1 + expected[2]));
    } else {
      none++;
      wrong += !isnan(found.decrease) || !isnan(found.bound) || !isnan(found.sd);
    }
  }
  CHECK(wrong == 0);
  CHECK(some > 20 && none > 20);
  fixture_close(&f);
}

/* Little noise, and every candidate goes up: no step. */
static void never_uphill(void) {
  static const enum opt_line_search kinds[] = {OPT_GAUSSIAN, OPT_SVT};
  for (int k = 0; k < 2; k++) {
    struct fixture f;
    struct objective objective;
    double w[DIM], g[DIM];
    struct found found;
    int accepted = 0;
    fixture_open(&f, "logistic", 200, DIM, 0, ORACLE_REPLACE_ONE, 1e9);
    objective_init(&objective, f.oracle, &ridge);
    for (int i = 0; i < 200; i++) {
      struct line_search s = search_of(kinds[k], 1e4);
      for (int j = 0; j < DIM; j++) w[j] = ctest_normal();
      CHECK(sums_gradient(oracle_all(f.oracle), w, g) == BASE_OK);
      penalty_add_gradient(&ridge, DIM, w, g); /* convex: nothing decreases along it */
      CHECK(search_run(&objective, &s, w, g, &found) == BASE_OK);
      accepted += found.step != 0;
    }
    CHECK(accepted == 0);
    fixture_close(&f);
  }
}

static void finds_descent(enum opt_line_search kind) {
  struct fixture f;
  struct objective objective;
  int decreased = 0, candidate = 0;
  fixture_open(&f, "sigmoid", 400, DIM, 0, ORACLE_REPLACE_ONE, 1e9);
  objective_init(&objective, f.oracle, &ridge);
  for (int i = 0; i < 100; i++) {
    double w[DIM], d[DIM], moved[DIM], here, there;
    struct found found;
    struct line_search s = search_of(kind, 1e4);
    for (int j = 0; j < DIM; j++) w[j] = ctest_normal();
    CHECK(sums_gradient(oracle_all(f.oracle), w, d) == BASE_OK);
    penalty_add_gradient(&ridge, DIM, w, d);
    s.sufficient = 0.1 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (int j = 0; j < DIM; j++) d[j] = -d[j];
    CHECK(search_run(&objective, &s, w, d, &found) == BASE_OK);
    for (int j = 0; j < DIM; j++) moved[j] = w[j] + found.step * d[j];
    CHECK(sums_value(oracle_all(f.oracle), w, &here) == BASE_OK &&
          sums_value(oracle_all(f.oracle), moved, &there) == BASE_OK);
    there += penalty_value(&ridge, DIM, moved) - penalty_value(&ridge, DIM, w);
    decreased += there < here;
    candidate += found.step == 0 || fabs(log2(found.step / 8) - round(log2(found.step / 8))) < 1e-12;
    if (kind != OPT_GAUSSIAN) CHECK(isnan(found.decrease) && isnan(found.bound) && isnan(found.sd));
  }
  CHECK(decreased >= 95);
  CHECK(candidate == 100);
  CHECK_NEAR(ledger_spent(f.ledger), 100 * 1e4, 1e-6); /* each search is paid for */
  fixture_close(&f);
}

static void refused(void) {
  static const enum opt_line_search kinds[] = {OPT_GAUSSIAN, OPT_SVT, OPT_EXPONENTIAL};
  for (int k = 0; k < 3; k++) {
    struct fixture f;
    struct objective objective;
    const double w[DIM] = {1, 0, 0};
    struct found found = {.step = 5};
    fixture_open(&f, "logistic", 50, DIM, 0, ORACLE_REPLACE_ONE, 1);
    objective_init(&objective, f.oracle, &ridge);
    struct line_search s = search_of(kinds[k], 2);
    CHECK(search_run(&objective, &s, w, w, &found) == BASE_ERR_BUDGET);
    CHECK(found.step == 0 && ledger_spent(f.ledger) == 0);
    fixture_close(&f);
  }
}

/* Candidates 8, 4, ..., 1/4 along a unit vector: one is left out where its noise, what is promised for it or the point
 * that it leads to is beyond what is public, and nothing is asked or paid where none is left. */
static void left_out(void) {
  static const enum opt_line_search kinds[] = {OPT_GAUSSIAN, OPT_SVT, OPT_EXPONENTIAL};
  const double w[DIM] = {0, 0, 0}, d[DIM] = {1, 0, 0};
  for (int kind = 0; kind < 3; kind++) {
    struct fixture f;
    struct objective objective;
    struct found found;
    fixture_open(&f, "logistic", 200, DIM, 0, ORACLE_REPLACE_ONE, 1e12);
    objective_init(&objective, f.oracle, &ridge);
    struct line_search s = search_of(kinds[kind], 1e8);
    int least = kinds[kind] == OPT_EXPONENTIAL ? -1 : -2; /* nothing is chosen from one */
    for (int most = -3; most <= 3; most++) {
      double spent = ledger_spent(f.ledger), limit = pow(2, most);
      for (int by_promise = 0; by_promise < 2; by_promise++) {
        s.reach = by_promise ? 1e9 : limit * 1.1;
        s.promise = by_promise;
        s.gap = by_promise ? limit * 1.1 : 1e9;
        CHECK(search_run(&objective, &s, w, d, &found) == BASE_OK);
        CHECK(found.step <= limit);
        CHECK(found.rho == (most < least ? 0 : s.rho));
      }
      CHECK_NEAR(ledger_spent(f.ledger) - spent, most < least ? 0 : 2e8, 1e-3);
    }
    /* A step's noise is at least L / n / sqrt(2 rho) of it, or several times that. */
    s = search_of(kinds[kind], 1e-4);
    s.gap = s.least = 0.25 / 200.0 / sqrt(2e-4) / 2;
    CHECK(search_run(&objective, &s, w, d, &found) == BASE_OK && found.step == 0 && found.rho == 0);
    fixture_close(&f);
  }
}

/* Along noise, with as much noise in the answers as there is to gain: most steps that are taken decrease f, where one
 * by the largest noisy decrease would not. 400 searches with at most 0.2 wrong ones expected: 105 is 3 sd above 80. */
static void rarely_uphill(enum opt_line_search kind) {
  struct fixture f;
  struct objective objective;
  int uphill = 0;
  fixture_open(&f, "logistic", 200, DIM, 0, ORACLE_REPLACE_ONE, 1e9);
  objective_init(&objective, f.oracle, &ridge);
  for (int i = 0; i < 400; i++) {
    double w[DIM] = {0, 0, 0}, d[DIM], moved[DIM], here, there;
    struct found found;
    struct line_search s = search_of(kind, exp(-4 + 6 * ctest_uniform()));
    for (int j = 0; j < DIM; j++) d[j] = ctest_normal();
    s.gap = log(2);
    s.least = 0;
    CHECK(search_run(&objective, &s, w, d, &found) == BASE_OK);
    for (int j = 0; j < DIM; j++) moved[j] = w[j] + found.step * d[j];
    CHECK(sums_value(oracle_all(f.oracle), w, &here) == BASE_OK &&
          sums_value(oracle_all(f.oracle), moved, &there) == BASE_OK);
    uphill += there + penalty_value(&ridge, DIM, moved) > here + 1e-12;
  }
  CHECK(uphill <= 105);
  fixture_close(&f);
}
