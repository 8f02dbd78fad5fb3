/* Newton's method with a ridge of its own: with a large budget the minimiser of the weighted loss, without a signal
 * about the start; what it spends, what it refuses. */
#include "run.h"

enum { DIM = 4, COLUMNS = DIM - 1 };

static void finds_the_minimiser(const char *loss, int intercept);
static void stays_near_the_start(void);
static void shrinks_what_noise_may_be(void);
static void moves_on_from_the_iterates(int ridge);
static void certificates_hold(void);
static void goes_on_from_a_matrix(const char *loss, enum penalty_kind kind);
static void noise_of_a_given_matrix(void);
static void no_certificate(void);
static void refused(void);

void test_method_ridge(void) {
  for (int intercept = 0; intercept <= 1; intercept++) {
    finds_the_minimiser("logistic", intercept);
    finds_the_minimiser("huber_svm", intercept);
  }
  stays_near_the_start();
  shrinks_what_noise_may_be();
  for (int ridge = 0; ridge <= 1; ridge++) moves_on_from_the_iterates(ridge);
  certificates_hold();
  goes_on_from_a_matrix("logistic", PENALTY_NONE);
  goes_on_from_a_matrix("logistic", PENALTY_RIDGE);
  goes_on_from_a_matrix("logistic", PENALTY_NONCONVEX);
  goes_on_from_a_matrix("sigmoid", PENALTY_NONE);
  noise_of_a_given_matrix();
  no_certificate();
  refused();
}

/* Labels of a logistic model with this factor; rows in coordinates, which some of them are long in. */
static void open_ridge(struct fixture *f, struct fixture_coordinates *c, const char *loss, size_t n, int intercept,
                       double factor, double capacity) {
  double *x = base_alloc(n * COLUMNS, sizeof *x), *y = base_alloc(n, sizeof *y);
  for (size_t i = 0; i < n * COLUMNS; i++) x[i] = 0.3 * ctest_normal();
  for (size_t i = 0; i < n; i++) {
    double t = factor * (x[i] - 0.5 * x[i + n]);
    y[i] = ctest_uniform() < 1 / (1 + exp(-t)) ? 1 : -1;
  }
  fixture_storage = FIXTURE_DENSE;
  fixture_open_rows(f, loss, x, y, n, COLUMNS, intercept, ORACLE_REPLACE_ONE, capacity);
  ctest_seed(11);
  CHECK(fixture_coordinates(f->data, 1.5, 1, 1, 0.5, c) == BASE_OK);
  CHECK(oracle_move(f->oracle, c->made) == BASE_OK);
}

static void close_ridge(struct fixture *f, struct fixture_coordinates *c) {
  fixture_close(f);
  coordinates_free(c->made);
}

static void finds_the_minimiser(const char *loss, int intercept) {
  struct ridge_options o = run_options_ridge();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1e8;
  open_ridge(&f, &c, loss, 2000, intercept, 3, 2 * rho);
  double at_start = run_exact_gradient(&f, &run_no_penalty, w);
  CHECK(ridge_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK(at_start > 0.05);
  CHECK(run_exact_gradient(&f, &run_no_penalty, w) < 1e-3);
  CHECK(r.status == OPT_SOSP && r.gradient_upper <= o.eps_g && r.ridge > 0);
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9 * rho);
  CHECK(ledger_accountant_of(f.ledger) == LEDGER_GDP);
  CHECK_NEAR(run_spent_on(&r, "weighted matrix"), 0.95 * 0.06 * rho, 1e-6 * rho);
  opt_result_free(&r);
  close_ridge(&f, &c);
}

/* Little budget and labels by a coin: the mean of the losses is hardly above that of the start, which is the best. */
static void stays_near_the_start(void) {
  double excess = 0, runs = ctest_size(30, 4);
  for (int i = 0; i < runs; i++) {
    struct ridge_options o = run_options_ridge();
    struct fixture f;
    struct fixture_coordinates c;
    struct opt_result r;
    double w[DIM] = {0}, rho = 0.05, before, after;
    ctest_seed(40 + (uint64_t)i);
    open_ridge(&f, &c, "logistic", 1000, 1, 0, rho);
    ctest_seed(140 + (uint64_t)i);
    CHECK(sums_value(oracle_all(f.oracle), w, &before) == BASE_OK);
    CHECK(ridge_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9 * rho);
    CHECK(sums_value(oracle_all(f.oracle), w, &after) == BASE_OK);
    excess += (after - before) / runs;
    opt_result_free(&r);
    close_ridge(&f, &c);
  }
  CHECK(excess < 0.05);
}

/* A solution that is made for weak and strong signals, and one that is made for strong ones alone: without a signal the
 * former is nearer to the start; with a strong signal and little noise they are equal. */
static void shrinks_what_noise_may_be(void) {
  int runs = ctest_size(20, 4), nearer = 0;
  for (int i = 0; i < 2 * runs; i++) {
    double w[2][DIM] = {{0}}, signal = i < runs ? 0 : 3, rho = i < runs ? 0.05 : 1e4;
    for (int k = 0; k < 2; k++) {
      struct ridge_options o = run_options_ridge();
      struct fixture f;
      struct fixture_coordinates c;
      struct opt_result r;
      if (k) {
        o.signal = 3;
        o.signals = 1;
      }
      o.iterations = 40;
      ctest_seed(900 + (uint64_t)i);
      open_ridge(&f, &c, "logistic", 500, 1, signal, rho);
      ctest_seed(950 + (uint64_t)i);
      CHECK(ridge_run(f.oracle, &run_no_penalty, &o, rho, w[k], &r) == BASE_OK);
      opt_result_free(&r);
      close_ridge(&f, &c);
    }
    double norm = la_norm(COLUMNS, w[1] + 1);
    if (signal == 0) nearer += la_norm(COLUMNS, w[0] + 1) < 0.7 * norm;
    if (signal > 0) CHECK(fabs(w[0][1] - w[1][1]) < 1e-3 * norm);
  }
  CHECK(nearer >= 0.7 * runs);
}

/* Norm of the gradient of loss and ridge, which starts at zero, by the formula of the ridge. */
static double penalised(struct fixture *f, const struct fixture_coordinates *c, const struct ridge_options *o,
                        double ridge, const double *w) {
  double g[DIM], norm = 0;
  size_t skip = (size_t)f->data->intercept;
  CHECK(sums_gradient(oracle_all(f->oracle), w, g) == BASE_OK);
  if (skip) norm = g[0] + ridge * o->intercept * w[0];
  for (size_t j = 0; j < COLUMNS; j++) {
    norm = hypot(norm, g[skip + j] + ridge / (c->prior[j] * c->prior[j]) * w[skip + j]);
  }
  return norm;
}

/* Three short steps, or a large ridge, with little noise: the iterates stay near the start, the solution does not. */
static void moves_on_from_the_iterates(int ridge) {
  struct ridge_options o = run_options_ridge();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1e8;
  if (ridge) {
    o.size = 1e-6;
  } else {
    o.iterations = 3;
    o.least = 1e7;
  }
  open_ridge(&f, &c, "logistic", 2000, 1, 1, rho);
  double at_start = run_exact_gradient(&f, &run_no_penalty, w);
  CHECK(ridge_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  CHECK(r.trace.rows[3].estimate > 0.7 * at_start);
  CHECK_NEAR(r.gradient_norm, penalised(&f, &c, &o, r.ridge, w), 1e-3 * at_start);
  CHECK(run_exact_gradient(&f, &run_no_penalty, w) < 0.2 * at_start);
  opt_result_free(&r);
  close_ridge(&f, &c);
}

/* Of loss and ridge. */
static void certificates_hold(void) {
  int runs = ctest_size(100, 4), wrong = 0;
  for (int i = 0; i < runs; i++) {
    struct ridge_options o = run_options_ridge();
    struct fixture f;
    struct fixture_coordinates c;
    struct opt_result r;
    double w[DIM] = {0}, rho = 0.5;
    ctest_seed(500 + (uint64_t)i);
    open_ridge(&f, &c, "logistic", 500, 0, i % 2 ? 3 : 0, rho);
    ctest_seed(700 + (uint64_t)i);
    CHECK(ridge_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    wrong += penalised(&f, &c, &o, r.ridge, w) > r.gradient_upper;
    CHECK((r.status == OPT_SOSP) == (r.gradient_upper <= o.eps_g));
    opt_result_free(&r);
    close_ridge(&f, &c);
  }
  CHECK(wrong <= 0.05 * runs + 3 * sqrt(0.05 * 0.95 * runs));
}

/* With little noise the minimum of loss and penalty; of a loss that is not convex a point with a small gradient, which
 * no status certifies. A matrix that was released before is not released again. */
static void goes_on_from_a_matrix(const char *loss, enum penalty_kind kind) {
  const struct penalty penalty = {kind, 0.02, 1, 0};
  struct ridge_options o = run_options_ridge();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0}, matrix[DIM * DIM], rho = 1e8, convex = kind != PENALTY_NONCONVEX;
  open_ridge(&f, &c, loss, 2000, 1, 3, 2 * rho);
  double at_start = run_exact_gradient(&f, &penalty, w);
  CHECK(oracle_weighted(f.oracle, w, rho, matrix, &o.matrix_sd) == BASE_OK);
  o.matrix = matrix;
  if (loss_bounds_of(loss_find(loss))->curv_lower > 0) {
    convex = 0;
    o.curvature = 0.1;
    o.start_curvature = 0.02;
  }
  CHECK(ridge_run(f.oracle, &penalty, &o, rho, w, &r) == BASE_OK);
  CHECK(at_start > 0.02);
  CHECK(run_exact_gradient(&f, &penalty, w) < 0.1 * at_start);
  CHECK((r.status == OPT_SOSP) == convex && r.eigen_known == convex && isnan(r.eigen_lower) == !convex);
  CHECK(run_spent_on(&r, "weighted matrix") == 0);
  CHECK_NEAR(ledger_spent(f.ledger), 2 * rho, 1e-9 * rho);
  opt_result_free(&r);
  close_ridge(&f, &c);
}

/* With more noise more is added to it, and steps are shorter. */
static void noise_of_a_given_matrix(void) {
  double step[2];
  for (int k = 0; k < 2; k++) {
    struct ridge_options o = run_options_ridge();
    struct fixture f;
    struct fixture_coordinates c;
    struct opt_result r;
    double w[DIM] = {0}, matrix[DIM * DIM], rho = 1e3;
    ctest_seed(11);
    open_ridge(&f, &c, "logistic", 500, 1, 1, 2 * rho);
    CHECK(oracle_weighted(f.oracle, w, rho, matrix, &o.matrix_sd) == BASE_OK);
    o.matrix = matrix;
    if (k == 1) o.matrix_sd = 1;
    CHECK(ridge_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    step[k] = r.trace.rows[0].step;
    opt_result_free(&r);
    close_ridge(&f, &c);
  }
  CHECK(step[1] > 0 && step[1] < step[0] / 2);
}

/* A run without a certificate spends all on its steps. */
static void no_certificate(void) {
  struct ridge_options o = run_options_ridge();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1;
  open_ridge(&f, &c, "logistic", 500, 1, 1, rho);
  o.certificate_share = 0;
  CHECK(ridge_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  CHECK(r.status == OPT_ITERATIONS && isnan(r.gradient_upper) && r.trace.length == 1 + (size_t)o.iterations);
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9 * rho);
  opt_result_free(&r);
  close_ridge(&f, &c);
}

/* Rows without weights; nothing is charged. */
static void refused(void) {
  for (int k = 0; k < 2; k++) {
    struct ridge_options o = run_options_ridge();
    struct fixture f;
    struct fixture_coordinates c = {.made = NULL};
    struct opt_result r;
    double w[DIM] = {0};
    fixture_open(&f, "logistic", 50, COLUMNS, 1, ORACLE_REPLACE_ONE, 1);
    CHECK(fixture_coordinates(f.data, 1, 0, 1, 1, &c) == BASE_OK);
    if (k > 0) CHECK(oracle_move(f.oracle, c.made) == BASE_OK); /* clipped rows */
    CHECK(ridge_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ARGUMENT);
    CHECK(ledger_length(f.ledger) == 0 && fixture_all_zero(DIM, w));
    opt_result_free(&r);
    close_ridge(&f, &c);
  }
}
