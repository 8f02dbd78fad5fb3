/* What a run says of the decrease since its start: a lower bound that holds, that is of some use where there is budget,
 * and the start itself where nothing was found. */
#include "run.h"

enum { DIM = 4 };

static void bounds_hold(enum opt_line_search search, double rho, double slack);
static void start_is_returned(enum opt_line_search search);
static void only_paid_for(void);

void test_method_decrease(void) {
  bounds_hold(OPT_GAUSSIAN, 1e3, 0.02);
  bounds_hold(OPT_EXPONENTIAL, 1e3, 0.02);
  bounds_hold(OPT_SVT, 1e3, 0.02);
  bounds_hold(OPT_GAUSSIAN, 0.05, 1e9);
  start_is_returned(OPT_SHORT_STEP);
  start_is_returned(OPT_GAUSSIAN);
  only_paid_for();
}

/* Of the bounds at most 5 % are wrong (3 sd on top); a large budget leaves little between them and the exact
 * decrease. A run that is surely worse than its start returns it. */
static void bounds_hold(enum opt_line_search search, double rho, double slack) {
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
    run_decide(&f, search);
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    CHECK(sums_value(oracle_all(f.oracle), start, &before) == BASE_OK &&
          sums_value(oracle_all(f.oracle), w, &after) == BASE_OK);
    CHECK(isfinite(r.decrease) || r.status == OPT_START);
    run_check(&f, &r, w, rho);
    wrong += r.decrease > before - after + 1e-12;
    CHECK(r.decrease >= before - after - slack || r.status == OPT_START);
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
  CHECK(r.status == OPT_START && isnan(r.decrease));
  for (int j = 0; j < DIM; j++) CHECK(w[j] == 0);
  opt_result_free(&r);
  fixture_close(&f);
}

/* Short steps ask for no values, nor does a run that stops at its target. */
static void only_paid_for(void) {
  for (int spend_all = 0; spend_all < 2; spend_all++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options(spend_all ? OPT_SHORT_STEP : OPT_GAUSSIAN, 1);
    double w[DIM] = {0}, rho = 1e3;
    o.spend_all = spend_all;
    fixture_open(&f, "logistic", 400, DIM, 0, ORACLE_REPLACE_ONE, rho);
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    CHECK(r.status == OPT_SOSP && isnan(r.decrease));
    opt_result_free(&r);
    fixture_close(&f);
  }
}
