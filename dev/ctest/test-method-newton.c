/* Newton runs: where they go, what they spend and on what, certificates that hold. */
#include "run.h"

enum { DIM = 4 };

static void converges(enum newton_curvature curvature, enum modify modify, int damped);
static void certificates_hold(void);
static void stops_at_the_target(void);
static void keeps_the_rest(void);
static void shares_are_kept(void);
static void tail_is_quieter(void);
static void damping_helps(void);
static void refuses_nonconvex(void);
static void default_target(void);

static const struct penalty ridge = {PENALTY_RIDGE, 0.02, 1, 0};

void test_method_newton(void) {
  for (int curvature = NEWTON_HESSIAN; curvature <= NEWTON_DIRECT; curvature++) {
    converges(curvature, MODIFY_ADD, 0);
    converges(curvature, MODIFY_CLIP, 0);
  }
  converges(NEWTON_DIRECT, MODIFY_ADD, 1);
  certificates_hold();
  stops_at_the_target();
  keeps_the_rest();
  shares_are_kept();
  tail_is_quieter();
  damping_helps();
  refuses_nonconvex();
  default_target();
}

/* A generous budget: near the minimum, certified, everything spent. */
static void converges(enum newton_curvature curvature, enum modify modify, int damped) {
  for (int k = 0; k < 2; k++) {
    const struct penalty *penalty = k ? &ridge : &run_no_penalty;
    struct newton_options o = run_options_newton(curvature);
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0}, rho = 1e4;
    o.modify = modify;
    o.damped = damped;
    o.confidence = 0.9999;
    fixture_open(&f, "logistic", (size_t)ctest_size(4000, 800), DIM - 1, 1, ORACLE_REPLACE_ONE, 2 * rho);
    CHECK(newton_run(f.oracle, penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK(run_exact_gradient(&f, penalty, w) < 2e-3);
    CHECK(r.status == OPT_SOSP && r.gradient_upper <= o.eps_g);
    CHECK(run_exact_gradient(&f, penalty, w) <= r.gradient_upper);
    CHECK(r.eigen_known && r.eigen_lower == 0 && r.planned == o.iterations);
    CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9 * rho);
    CHECK(ledger_accountant_of(f.ledger) == LEDGER_GDP);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* Little budget, so that noise matters: of the certified runs at most 5 % may be wrong. */
static void certificates_hold(void) {
  int runs = ctest_size(200, 4), wrong = 0, certified = 0;
  for (int i = 0; i < runs; i++) {
    struct newton_options o = run_options_newton((enum newton_curvature)(i % 4));
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0}, rho = 0.02;
    ctest_seed(900 + (uint64_t)i);
    fixture_open(&f, "logistic", 400, DIM, 0, ORACLE_REPLACE_ONE, rho);
    o.spend_all = i % 8 < 4;
    o.eps_g = newton_default_alpha(f.oracle, &run_no_penalty, &o, rho, w);
    CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK((r.status == OPT_SOSP) == (r.gradient_upper <= o.eps_g));
    certified += r.status == OPT_SOSP;
    wrong += run_exact_gradient(&f, &run_no_penalty, w) > r.gradient_upper;
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(certified >= runs / 4);
  CHECK(wrong <= 0.05 * runs + 3 * sqrt(0.05 * 0.95 * runs));
}

/* Without spend_all the first certified gradient ends the run; what is left is unused. */
static void stops_at_the_target(void) {
  struct newton_options o = run_options_newton(NEWTON_HESSIAN);
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1e4;
  fixture_open(&f, "logistic", 2000, DIM, 0, ORACLE_REPLACE_ONE, rho);
  o.spend_all = 0;
  CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK(r.status == OPT_SOSP && r.trace.length < 13 &&
        strcmp((&r.trace.rows[r.trace.length - 1])->query, "gradient") == 0);
  CHECK(run_exact_gradient(&f, &run_no_penalty, w) <= r.gradient_upper && r.gradient_upper <= o.eps_g);
  CHECK(oracle_left(f.oracle) > rho / 2);
  for (size_t i = 0; i + 1 < r.trace.length; i++) {
    if (strcmp(r.trace.rows[i].query, "gradient") == 0) CHECK(r.trace.rows[i].bound > o.eps_g);
  }
  opt_result_free(&r);

  o.eps_g = 1e-9; /* out of reach */
  fixture_close(&f);
  fixture_open(&f, "logistic", 50, DIM, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(newton_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_OK);
  CHECK(r.status == OPT_ITERATIONS && r.gradient_upper > o.eps_g);
  CHECK_NEAR(ledger_spent(f.ledger), 1, 1e-9);
  opt_result_free(&r);
  fixture_close(&f);
}

/* A run takes no more than its part of a budget that others share. */
static void keeps_the_rest(void) {
  struct fixture f;
  double part = 0.3;
  fixture_open(&f, "logistic", 100, DIM, 0, ORACLE_REPLACE_ONE, 1);
  for (int i = 1; i <= 3; i++) {
    struct newton_options o = run_options_newton((enum newton_curvature)i);
    struct opt_result r;
    double w[DIM] = {0.5, 0, 0, 0};
    CHECK(newton_run(f.oracle, &run_no_penalty, &o, part, w, &r) == BASE_OK);
    CHECK_NEAR(ledger_spent(f.ledger), i * part, 1e-9);
    CHECK(ledger_spent(f.ledger) <= i * part + 1e-12);
    opt_result_free(&r);
  }
  fixture_close(&f);
}

static void shares_are_kept(void) {
  for (int curvature = NEWTON_HESSIAN; curvature <= NEWTON_DIRECT; curvature++) {
    for (int damped = 0; damped <= (curvature == NEWTON_DIRECT); damped++) {
      struct newton_options o = run_options_newton((enum newton_curvature)curvature);
      struct fixture f;
      struct opt_result r;
      double w[DIM] = {0}, rho = 2, steps = 0.9 * rho, walk = steps * (damped ? 0.7 : 1);
      o.damped = damped;
      fixture_open(&f, "logistic", 100, DIM, 0, ORACLE_REPLACE_ONE, rho);
      CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
      const struct trace_row *end = (&r.trace.rows[r.trace.length - 1]);
      CHECK(strcmp(end->query, "gradient") == 0);
      CHECK_NEAR(end->rho, 0.1 * rho, 1e-9);
      CHECK_NEAR(run_spent_on(&r, "gradient"), 0.1 * rho + 0.6 * walk, 1e-9);
      CHECK_NEAR(run_spent_on(&r, "trace"), curvature <= NEWTON_QU ? 0.4 * 0.2 * walk : 0, 1e-9);
      CHECK_NEAR(run_spent_on(&r, "direction"), curvature <= NEWTON_QU ? 0.4 * 0.8 * walk : 0, 1e-9);
      CHECK_NEAR(run_spent_on(&r, "majorant"), curvature == NEWTON_LAZY ? 0.4 * steps : 0, 1e-9);
      CHECK_NEAR(run_spent_on(&r, "hessian"), curvature == NEWTON_DIRECT ? 0.4 * walk : 0, 1e-9);
      CHECK_NEAR(run_spent_on(&r, "line search"), damped ? 0.3 * steps : 0, 1e-9);
      opt_result_free(&r);
      fixture_close(&f);
    }
  }
}

/* The mean of the last iterates is nearer to the minimum than the last of them. */
static void tail_is_quieter(void) {
  double squares[2] = {0, 0};
  int runs = ctest_size(60, 4);
  for (int i = 0; i < runs; i++) {
    for (int k = 0; k < 2; k++) {
      struct newton_options o = run_options_newton(NEWTON_LAZY);
      struct fixture f;
      struct opt_result r;
      double w[DIM] = {0}, g, rho = 0.5;
      o.tail = k ? 0.5 : 0;
      ctest_seed((uint64_t)i);
      fixture_open(&f, "logistic", 300, DIM, 0, ORACLE_REPLACE_ONE, rho);
      CHECK(newton_run(f.oracle, &ridge, &o, rho, w, &r) == BASE_OK);
      run_check(&f, &r, w, rho);
      g = run_exact_gradient(&f, &ridge, w);
      squares[k] += g * g / runs;
      opt_result_free(&r);
      fixture_close(&f);
    }
  }
  CHECK(squares[1] < 0.5 * squares[0]);

  double w[3][DIM] = {{0}}; /* of one iterate the mean is itself; of all of two it is halfway */
  for (int k = 0; k < 3; k++) {
    struct newton_options o = run_options_newton(NEWTON_LAZY);
    struct fixture f;
    struct opt_result r;
    o.iterations = 2;
    o.tail = 0.5 * k;
    ctest_seed(5);
    fixture_open(&f, "logistic", 300, DIM, 0, ORACLE_REPLACE_ONE, 1);
    CHECK(newton_run(f.oracle, &ridge, &o, 1, w[k], &r) == BASE_OK);
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(memcmp(w[0], w[1], sizeof w[0]) == 0 && memcmp(w[0], w[2], sizeof w[0]) != 0);
}

/* From far away, where the loss has next to no curvature, full steps overshoot. */
static void damping_helps(void) {
  double after[2] = {0, 0}, before = 0;
  for (int damped = 0; damped <= 1; damped++) {
    struct newton_options o = run_options_newton(NEWTON_DIRECT);
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {-9, 9, 9, 0}, rho = 1e4;
    int searches = 0, shorter = 0;
    o.damped = damped;
    o.iterations = 4;
    ctest_seed(8);
    fixture_open(&f, "logistic", 500, DIM, 0, ORACLE_REPLACE_ONE, rho);
    CHECK(sums_value(oracle_all(f.oracle), w, &before) == BASE_OK);
    CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    CHECK(sums_value(oracle_all(f.oracle), w, &after[damped]) == BASE_OK);
    for (size_t i = 0; i < r.trace.length; i++) {
      const struct trace_row *row = &r.trace.rows[i];
      if (strcmp(row->query, "line search") != 0) continue;
      searches++;
      shorter += !isnan(row->estimate);
      CHECK(row->step > 0);
    }
    CHECK(searches == (damped ? 4 : 0) && (shorter > 0 || !damped));
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(after[0] > before && after[1] < before / 2);
}

/* Before anything is charged. */
static void refuses_nonconvex(void) {
  static const struct penalty nonconvex = {PENALTY_NONCONVEX, 0.1, 0, 0};
  for (int k = 0; k < 2; k++) {
    struct newton_options o = run_options_newton(NEWTON_LAZY);
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0};
    fixture_open(&f, k ? "logistic" : "sigmoid", 50, DIM, 0, ORACLE_REPLACE_ONE, 1);
    CHECK(newton_run(f.oracle, k ? &nonconvex : &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ARGUMENT);
    CHECK(ledger_length(f.ledger) == 0 && r.trace.length == 0 && fixture_all_zero(DIM, w));
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* More data or more budget certify more, and runs reach the target. */
static void default_target(void) {
  double last = 2;
  struct newton_options o = run_options_newton(NEWTON_QU);
  const double w[DIM] = {0};
  for (int k = 0; k < 4; k++) {
    struct fixture f;
    fixture_open(&f, "logistic", (size_t)(400 * pow(4, k)), DIM, 0, ORACLE_REPLACE_ONE, 1);
    double alpha = newton_default_alpha(f.oracle, &run_no_penalty, &o, 0.1, w);
    CHECK(alpha > 0 && alpha < last);
    CHECK(newton_default_alpha(f.oracle, &run_no_penalty, &o, 0.4, w) < alpha);
    CHECK(ledger_length(f.ledger) == 0);
    last = alpha;
    fixture_close(&f);
  }
}
