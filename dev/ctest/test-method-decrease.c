/* What a run says of the decrease since its start: a lower bound that holds, that is of some use where there is budget,
 * and the start itself where nothing was found. */
#include "run.h"

enum { DIM = 4 };

static void bounds_hold(enum opt_line_search search, double rho, double share);
static void start_is_returned(enum opt_line_search search);
static void choices_have_no_bound(void);

void test_method_decrease(void) {
  bounds_hold(OPT_SHORT_STEP, 1e3, 0.2);
  bounds_hold(OPT_GAUSSIAN, 1e3, -1e9);
  bounds_hold(OPT_SHORT_STEP, 0.05, -1e9);
  bounds_hold(OPT_GAUSSIAN, 0.05, -1e9);
  start_is_returned(OPT_SHORT_STEP);
  start_is_returned(OPT_GAUSSIAN);
  choices_have_no_bound();
}

/* Of the bounds at most 5 % are wrong (3 sd on top); with a large budget those of short steps show this share of the
 * exact decrease. */
static void bounds_hold(enum opt_line_search search, double rho, double share) {
  int runs = ctest_size(100, 4), wrong = 0;
  for (int i = 0; i < runs; i++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options(search, 1);
    double start[DIM] = {0}, w[DIM] = {0}, before, after;
    o.spend_all = 1;
    ctest_seed(4000 + (uint64_t)i);
    fixture_open(&f, "logistic", 400, DIM, 0, ORACLE_REPLACE_ONE, rho);
    for (int j = 0; j < DIM && i % 2; j++) start[j] = w[j] = ctest_normal();
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    CHECK(sums_value(f.oracle, start, &before) == BASE_OK && sums_value(f.oracle, w, &after) == BASE_OK);
    CHECK(isfinite(r.decrease));
    wrong += r.decrease > before - after + 1e-12;
    CHECK(r.decrease >= share * (before - after));
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(wrong <= 0.05 * runs + 3 * sqrt(0.05 * 0.95 * runs));
}

/* More noise than any gradient is long: no step, and the start comes back with the status that says so. */
static void start_is_returned(enum opt_line_search search) {
  struct fixture f;
  struct opt_result r;
  struct opt_options o = run_options(search, 1);
  double w[DIM] = {0};
  o.spend_all = 1;
  fixture_open(&f, "logistic", 50, DIM, 0, ORACLE_REPLACE_ONE, 1e-4);
  CHECK(opt_run(f.oracle, &run_no_penalty, &o, 1e-4, w, &r) == BASE_OK);
  CHECK(r.status == OPT_START && r.decrease == 0);
  for (int j = 0; j < DIM; j++) CHECK(w[j] == 0);
  opt_result_free(&r);
  fixture_close(&f);
}

/* A sparse vector releases no value: once it chose a step, nothing is known of the decrease. */
static void choices_have_no_bound(void) {
  struct fixture f;
  struct opt_result r;
  struct opt_options o = run_options(OPT_SVT, 1);
  double w[DIM] = {0}, rho = 1e4;
  o.spend_all = 1;
  fixture_open(&f, "logistic", 400, DIM, 0, ORACLE_REPLACE_ONE, rho);
  run_decide(&f, OPT_SVT);
  CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  CHECK(r.status == OPT_SOSP && isnan(r.decrease));
  opt_result_free(&r);
  fixture_close(&f);
}
