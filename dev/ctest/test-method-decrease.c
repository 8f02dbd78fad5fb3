/* What a run says of the decrease since its start: a lower bound that holds, that is of some use where there is budget,
 * and the start itself where nothing was found. */
#include "run.h"

#include <string.h>

enum { DIM = 4 };

static void bounds_hold(enum opt_line_search search, double rho, double slack);
static void start_is_returned(enum opt_line_search search);
static void start_is_left(int two_phase);
static void only_paid_for(void);

void test_method_decrease(void) {
  bounds_hold(OPT_GAUSSIAN, 1e3, 0.02);
  bounds_hold(OPT_EXPONENTIAL, 1e3, 0.02);
  bounds_hold(OPT_SVT, 1e3, 0.02);
  bounds_hold(OPT_GAUSSIAN, 0.05, 1e9);
  start_is_returned(OPT_SHORT_STEP);
  start_is_returned(OPT_GAUSSIAN);
  start_is_left(0);
  start_is_left(1);
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

/* The same where the run knows the curvature, with so wide a distribution of the solution that nothing is shrunk: the
 * solution is minus the mean of all gradients over the curvature, and the intercept stays. That the start was
 * certified, which changes the costs of what follows, does not matter: the noise dominates, and the mean square shows
 * the precision of all gradients together. */
static void start_is_left(int two_phase) {
  int runs = ctest_size(200, 50);
  double h = 0.1, squares = 0, count = (double)runs * (DIM - 1);
  for (int i = 0; i < runs; i++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options(OPT_SHORT_STEP, two_phase);
    double w[DIM] = {0}, precision = 0;
    o.spend_all = 1;
    o.eps_g = two_phase ? 1e3 : 0.05;
    o.start_curvature = h;
    o.signal = 1e6;
    o.signals = 1;
    w[0] = 0.5;
    ctest_seed(7000 + (uint64_t)i);
    fixture_open(&f, "logistic", 50, DIM - 1, 1, ORACLE_REPLACE_ONE, 1e-4);
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, 1e-4, w, &r) == BASE_OK);
    run_check(&f, &r, w, 1e-4);
    CHECK(r.status == OPT_BUDGET && w[0] == 0.5);
    CHECK(isnan(r.gradient_norm) && isnan(r.gradient_upper));
    CHECK(two_phase ? r.eigen_known && r.eigen_lower == 0 : isnan(r.eigen_lower));
    const struct trace_row *last = &r.trace.rows[r.trace.length - 1];
    CHECK_NEAR(last->step, la_norm(DIM - 1, w + 1), 1e-12);
    /* The first gradient's noise, and that of all. */
    const struct trace_row *first = &r.trace.rows[0];
    while (strcmp(first->query, "gradient") != 0) first++;
    precision = run_spent_on(&r, "gradient") / first->rho / (first->sd * first->sd);
    for (int j = 1; j < DIM; j++) squares += h * h * w[j] * w[j] * precision / count;
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(fabs(squares - 1) < 4 * sqrt(2 / count));
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
