/* Runs with the constants of the loss: certificates that hold, budgets that are kept, saddles that are left. */
#include "method/private.h"
#include "run.h"

enum { DIM = 4 };

static const enum opt_line_search searches[] = {OPT_SHORT_STEP, OPT_GAUSSIAN, OPT_SVT, OPT_EXPONENTIAL};
enum { SEARCHES = sizeof searches / sizeof *searches };

static void certifies(enum opt_line_search search, int two_phase);
static void certificates_hold(void);
static void spends_all(void);
static void budget_ends(enum opt_line_search search, int two_phase);
static void keeps_the_rest(void);
static void gap_is_paid(void);
static void wrong_accountant(void);
static void leaves_saddle(enum opt_line_search search);
static void near_the_target(void);
static void pools(void);
static void pooled(void);
static void default_target(void);
static void same_seed_same_run(void);

void test_method_opt(void) {
  for (int k = 0; k < SEARCHES; k++) {
    for (int two_phase = ctest_size(0, k % 2); two_phase <= ctest_size(1, k % 2); two_phase++) {
      certifies(searches[k], two_phase);
      budget_ends(searches[k], two_phase);
    }
    leaves_saddle(searches[k]);
  }
  certificates_hold();
  spends_all();
  keeps_the_rest();
  gap_is_paid();
  wrong_accountant();
  near_the_target();
  pools();
  pooled();
  default_target();
  same_seed_same_run();
}

/* A generous budget: certified, and the certificate is true. */
static void certifies(enum opt_line_search search, int two_phase) {
  static const struct penalty penalties[] = {
      {PENALTY_NONE, 0, 0, 0}, {PENALTY_RIDGE, 0.01, 1, 0}, {PENALTY_NONCONVEX, 0.1, 1, 0}};
  for (int k = 0; k < 3; k++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options(search, two_phase);
    double w[DIM] = {0}, rho = 4;
    fixture_open(&f, "logistic", (size_t)ctest_size(8000, 800), DIM - 1, 1, ORACLE_REPLACE_ONE, 2 * rho);
    run_decide(&f, search);
    o.eps_g = ctest_size(1, 0) ? 0.02 : 0.08;
    o.eps_h = 0.04;
    CHECK(opt_run(f.oracle, &penalties[k], &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK(r.status == OPT_SOSP);
    CHECK(r.gradient_upper <= o.eps_g && run_exact_gradient(&f, &penalties[k], w) <= r.gradient_upper);
    CHECK(r.eigen_lower >= -o.eps_h && run_exact_eigen(&f, &penalties[k], w) >= r.eigen_lower - 1e-12);
    CHECK(r.eigen_known == (k < 2)); /* convex: no Hessian is asked for */
    int hessians = 0;
    for (size_t i = 0; i < r.trace.length; i++) hessians += strcmp(r.trace.rows[i].query, "hessian") == 0;
    CHECK((hessians > 0) == (k == 2));
    CHECK_NEAR(r.gap, log(2), 1e-15); /* public at w = 0 */
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* Little budget, so that noise matters: of the certified runs at most 5 % may be wrong. */
static void certificates_hold(void) {
  int runs = ctest_size(100, 4), certified = 0, wrong = 0;
  for (int i = 0; i < runs; i++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options(i % 2 ? OPT_GAUSSIAN : OPT_SHORT_STEP, i % 4 > 1);
    double w[DIM] = {0}, rho = 0.02;
    ctest_seed(500 + (uint64_t)i);
    fixture_open(&f, "sigmoid", 600, DIM, 0, ORACLE_REPLACE_ONE, rho);
    o.eps_g = opt_default_alpha(f.oracle, &run_no_penalty, &o, rho, w);
    o.eps_h = sqrt(0.125 * o.eps_g);
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    if (r.status == OPT_SOSP) {
      certified++;
      CHECK(r.gradient_upper <= o.eps_g && r.eigen_lower >= -o.eps_h);
      wrong +=
          run_exact_gradient(&f, &run_no_penalty, w) > o.eps_g || run_exact_eigen(&f, &run_no_penalty, w) < -o.eps_h;
    }
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(certified >= runs / 4);
  CHECK(wrong <= 0.05 * certified + 3 * sqrt(0.05 * 0.95 * certified));
}

/* With spend_all nothing is left, and the point returned has a certificate that is true. */
static void spends_all(void) {
  for (int two_phase = 0; two_phase <= 1; two_phase++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options(OPT_GAUSSIAN, two_phase);
    double w[DIM] = {0}, rho = 1;
    fixture_open(&f, "logistic", 3000, DIM, 0, ORACLE_REPLACE_ONE, 3 * rho);
    o.spend_all = 1;
    o.max_iterations = 60;
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK(r.status == OPT_SOSP && r.gradient_upper <= o.eps_g);
    CHECK(run_exact_gradient(&f, &run_no_penalty, w) <= r.gradient_upper);
    CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-6 * rho);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

static double phase_cost(const struct opt_result *r, int phase) {
  double total = 0;
  for (size_t i = 0; i < r->trace.length; i++) total += r->trace.rows[i].phase == phase ? r->trace.rows[i].rho : 0;
  return total;
}

/* A target that cannot be certified: the last phase gets everything, and the run ends by its budget. */
static void budget_ends(enum opt_line_search search, int two_phase) {
  struct fixture f;
  struct opt_result r;
  struct opt_options o = run_options(search, two_phase);
  double w[DIM] = {0}, rho = 1e-3;
  fixture_open(&f, "logistic", 100, DIM, 0, ORACLE_REPLACE_ONE, rho);
  run_decide(&f, search);
  o.eps_g = 1e-6;
  o.max_iterations = 30;
  CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK(r.status == OPT_BUDGET);
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-6 * rho);
  if (two_phase) {
    CHECK(phase_cost(&r, 1) <= 0.75 * rho * (1 + 1e-12));
    CHECK_NEAR(phase_cost(&r, 1) + phase_cost(&r, 2), rho, 1e-6 * rho);
    CHECK(r.planned == 30);
    int last = 0;
    for (size_t i = 0; i < r.trace.length; i++)
      if (r.trace.rows[i].phase == 1) last = r.trace.rows[i].iteration;
    CHECK(last <= 6); /* sqrt(30), rounded up */
  }
  opt_result_free(&r);
  fixture_close(&f);
}

/* A run takes no more than its part of a budget that others share, however often one runs. */
static void keeps_the_rest(void) {
  struct fixture f;
  double part = 0.3;
  fixture_open(&f, "logistic", 100, DIM, 0, ORACLE_REPLACE_ONE, 1);
  for (int i = 1; i <= 4; i++) {
    struct opt_options o = run_options(OPT_GAUSSIAN, i % 2);
    struct opt_result r;
    double w[DIM] = {0.5, 0, 0, 0};
    o.eps_g = o.eps_h = 1e-6;
    o.max_iterations = 20;
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, part, w, &r) == BASE_OK);
    CHECK(r.status == OPT_BUDGET);
    CHECK_NEAR(ledger_spent(f.ledger), fmin(i * part, 1), 1e-6);
    CHECK(ledger_spent(f.ledger) <= fmin(i * part, 1) + 1e-12);
    opt_result_free(&r);
  }
  fixture_close(&f);
}

/* f(w0) away from zero is asked for and paid for, and its noise keeps its sign. */
static void gap_is_paid(void) {
  struct fixture f;
  struct opt_options o = run_options(OPT_SHORT_STEP, 0);
  struct opt_result r;
  double start[DIM] = {1, -1, 0, 0}, w[DIM], exact, rho = 1;
  int below = 0, runs = ctest_size(300, 20);
  struct penalty ridge = {PENALTY_RIDGE, 0.1, 0, 0};
  o.max_iterations = 1;
  for (int i = 0; i < runs; i++) {
    fixture_open(&f, "logistic", 20, DIM, 0, ORACLE_REPLACE_ONE, rho);
    memcpy(w, start, sizeof w);
    CHECK(sums_value(oracle_all(f.oracle), w, &exact) == BASE_OK);
    CHECK(opt_run(f.oracle, &ridge, &o, rho, w, &r) == BASE_OK);
    CHECK(strcmp(r.trace.rows[0].query, "value") == 0 && r.trace.rows[0].rho == 0.02);
    run_check(&f, &r, w, rho);
    below += r.gap < exact + 0.1; /* ridge: 0.1 / 2 |w|^2 = 0.1 */
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(below <= 0.05 * runs + 4 * sqrt(0.05 * runs));
  CHECK(below > 0 || runs < 100); /* a half-normal noise never falls below */

  fixture_open(&f, "logistic", 20, DIM, 0, ORACLE_REPLACE_ONE, rho);
  memcpy(w, start, sizeof w);
  o.gap = 0.25;
  CHECK(opt_run(f.oracle, &ridge, &o, rho, w, &r) == BASE_OK);
  CHECK(r.gap == 0.25 && strcmp(r.trace.rows[0].query, "gradient") == 0);
  opt_result_free(&r);
  fixture_close(&f);
}

/* A search that is not Gaussian cannot follow a Gaussian charge under a Gaussian filter. */
static void wrong_accountant(void) {
  struct fixture f;
  struct opt_options o = run_options(OPT_SVT, 0);
  struct opt_result r;
  double w[DIM] = {0};
  fixture_open(&f, "logistic", 5000, DIM, 0, ORACLE_REPLACE_ONE, 1);
  o.eps_g = 0.01;
  CHECK(opt_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ACCOUNTANT);
  CHECK(ledger_accountant_of(f.ledger) == LEDGER_GDP);
  for (size_t i = 0; i < ledger_length(f.ledger); i++)
    CHECK(strcmp(ledger_at(f.ledger, i)->mechanism, "gaussian") == 0);
  opt_result_free(&r);
  fixture_close(&f);
}

static void leaves_saddle(enum opt_line_search search) {
  struct fixture f;
  struct opt_result r;
  struct opt_options o = run_options(search, 0);
  struct penalty ridge = {PENALTY_RIDGE, 1e-4, 0, 0};
  double w[2] = {2, 0}, rho = 50, before, after;
  run_open_saddle(&f, rho);
  run_decide(&f, search);
  o.eps_g = 0.01;
  o.eps_h = 0.03;
  o.gap = 1;
  CHECK(run_exact_gradient(&f, &ridge, w) < o.eps_g / 2);
  CHECK(run_exact_eigen(&f, &ridge, w) < -o.eps_h);
  CHECK(sums_value(oracle_all(f.oracle), w, &before) == BASE_OK);
  CHECK(opt_run(f.oracle, &ridge, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK(sums_value(oracle_all(f.oracle), w, &after) == BASE_OK);
  int curvature_steps = 0;
  for (size_t i = 0; i < r.trace.length; i++) {
    const struct trace_row *row = &r.trace.rows[i], *last = i > 0 ? row - 1 : row;
    int after_hessian = strcmp(row->query, "hessian") == 0 ||
                        (strcmp(row->query, "line search") == 0 && strcmp(last->query, "hessian") == 0);
    curvature_steps += after_hessian && row->step > 0;
  }
  CHECK(curvature_steps > 0);
  CHECK(r.status == OPT_SOSP);
  CHECK(fabs(w[1]) > 0.1 && after < before - 1e-3);
  CHECK(run_exact_eigen(&f, &ridge, w) >= -o.eps_h && run_exact_gradient(&f, &ridge, w) <= o.eps_g);
  opt_result_free(&r);
  fixture_close(&f);
}

/* The smallest eigenvalue is above -eps_h, but by less than the width of a first bound: that alone certifies nothing.
 */
static void near_the_target(void) {
  for (int k = 0; k < ctest_size(6, 2); k++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options(OPT_SHORT_STEP, 0);
    double w[2] = {2, 0}, rho = k % 2 ? 50 : 1e-3;
    run_open_saddle(&f, rho);
    o.eps_g = 0.1;
    o.eps_h = 0.042;
    o.gap = 1;
    CHECK(run_exact_eigen(&f, &run_no_penalty, w) < -0.8 * o.eps_h);
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK(r.status == OPT_SOSP || k % 2 == 0);
    if (r.status == OPT_SOSP) CHECK(r.eigen_lower >= -o.eps_h && r.gradient_upper <= o.eps_g);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* Where the gradient is zero a run stays and measures again, until noise looks like a gradient by chance: the average's
 * norm shrinks with its own noise level. */
static void pools(void) {
  struct opt_options o = run_options(OPT_SHORT_STEP, 0);
  size_t n = 100, stays = 0;
  double *x = base_alloc(n * DIM, sizeof *x), *y = base_alloc(n, sizeof *y), worst = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < DIM; j++) x[i + j * n] = 0.1 * (double)((i / 2 + j) % 7) - 0.3;
    y[i] = i % 2 ? 1 : -1; /* each row with both labels */
  }
  o.eps_g = 1e-6;
  o.max_iterations = 50;
  for (int k = 0; k < 20; k++) {
    struct fixture f;
    struct opt_result r;
    double *rows = base_alloc(n * DIM, sizeof *rows), *labels = base_alloc(n, sizeof *labels), w[DIM] = {0};
    memcpy(rows, x, n * DIM * sizeof *x);
    memcpy(labels, y, n * sizeof *y);
    fixture_open_rows(&f, "logistic", rows, labels, n, DIM, 0, ORACLE_REPLACE_ONE, 1); /* takes them */
    CHECK_NEAR(run_exact_gradient(&f, &run_no_penalty, w), 0, 1e-15);
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_OK);
    run_check(&f, &r, w, 1);
    for (size_t i = 0; i < r.trace.length && r.trace.rows[i].step == 0; i++, stays++) {
      worst = fmax(worst, r.trace.rows[i].estimate / r.trace.rows[i].sd);
    }
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(stays > 50);
  CHECK(1 - base_pnchisq(worst * worst, DIM, 0) > 1e-6);
  base_free(x);
  base_free(y);
}

/* Weights 1 and 1/4: a mean with four fifths of the first, and its own variance of 4/5. */
static void pooled(void) {
  double mean[2], first[2] = {1, -2}, second[2] = {6, 3};
  struct pool p = {.mean = mean, .length = 2};
  pool_reset(&p);
  pool_add(&p, first, 1, 0.1);
  CHECK(mean[0] == 1 && mean[1] == -2);
  pool_add(&p, second, 2, 0.2);
  CHECK_NEAR(mean[0], 2, 1e-15);
  CHECK_NEAR(mean[1], -1, 1e-15);
  CHECK_NEAR(pool_sd(&p), sqrt(0.8), 1e-15);
  CHECK_NEAR(p.rho, 0.3, 1e-15);
  CHECK(p.count == 2);
}

/* A larger budget or more data certify more; and the target is one that runs do reach. */
static void default_target(void) {
  double last = 2;
  struct opt_options o = run_options(OPT_GAUSSIAN, 0);
  const double w[DIM] = {0};
  for (int k = 0; k < 4; k++) {
    struct fixture f;
    fixture_open(&f, "logistic", (size_t)(100 * pow(4, k)), DIM, 0, ORACLE_REPLACE_ONE, 1);
    double alpha = opt_default_alpha(f.oracle, &run_no_penalty, &o, 0.1, w);
    CHECK(alpha > 0 && alpha < last);
    CHECK(opt_default_alpha(f.oracle, &run_no_penalty, &o, 0.4, w) < alpha);
    CHECK(ledger_length(f.ledger) == 0); /* public: no charge */
    last = alpha;
    fixture_close(&f);
  }
}

static void one_run(uint64_t seed, double *w, struct opt_result *r) {
  struct fixture f;
  struct opt_options o = run_options(OPT_GAUSSIAN, 1);
  o.eps_g = 1e-4;
  memset(w, 0, DIM * sizeof *w);
  ctest_seed(7);
  fixture_open(&f, "sigmoid", 400, DIM, 0, ORACLE_REPLACE_ONE, 10);
  ctest_seed(seed);
  CHECK(opt_run(f.oracle, &run_no_penalty, &o, 10, w, r) == BASE_OK);
  fixture_close(&f);
}

static void same_seed_same_run(void) {
  double w[3][DIM];
  struct opt_result r[3];
  one_run(11, w[0], &r[0]);
  one_run(11, w[1], &r[1]);
  one_run(12, w[2], &r[2]);
  CHECK(memcmp(w[0], w[1], sizeof w[0]) == 0);
  CHECK(memcmp(w[0], w[2], sizeof w[0]) != 0);
  CHECK(r[0].trace.length == r[1].trace.length);
  int same = 1;
  for (size_t i = 0; i < r[0].trace.length && i < r[1].trace.length; i++) {
    double one = r[0].trace.rows[i].estimate, other = r[1].trace.rows[i].estimate; /* NaN of a search without a step */
    same = same && (one == other || (isnan(one) && isnan(other))) && r[0].trace.rows[i].rho == r[1].trace.rows[i].rho;
  }
  CHECK(same);
  for (int k = 0; k < 3; k++) opt_result_free(&r[k]);
}
