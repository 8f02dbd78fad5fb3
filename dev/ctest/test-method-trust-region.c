/* Trust region and gradient descent: certificates that hold, budgets that are kept, a saddle that is left or not. */
#include "run.h"

enum { DIM = 4 };

static const struct penalty penalties[] = {
    {PENALTY_NONE, 0, 0, 0}, {PENALTY_RIDGE, 0.01, 1, 0}, {PENALTY_NONCONVEX, 0.1, 1, 0}};

static void certifies(int explicit_test);
static void certificates_hold(int explicit_test);
static void descends(void);
static void spends_all(int explicit_test);
static void budget_ends(int explicit_test);
static void keeps_the_rest(void);
static void leaves_saddle(int explicit_test);
static void published(int explicit_test);
static void default_target(void);
static void gap_is_paid(void);
static void descent_chooses(void);
static void descent_certifies(void);
static void descent_stays_at_saddle(void);

void test_method_trust_region(void) {
  for (int explicit_test = 0; explicit_test <= 1; explicit_test++) {
    certifies(explicit_test);
    certificates_hold(explicit_test);
    spends_all(explicit_test);
    budget_ends(explicit_test);
    leaves_saddle(explicit_test);
    published(explicit_test);
  }
  descends();
  keeps_the_rest();
  default_target();
  gap_is_paid();
  descent_chooses();
  descent_certifies();
  descent_stays_at_saddle();
}

static int count(const struct opt_result *r, const char *query) {
  int total = 0;
  for (size_t i = 0; i < r->trace.length; i++) total += strcmp(r->trace.rows[i].query, query) == 0;
  return total;
}

/* The bounds of a certificate, whether they meet the target or not, are true at the point returned. */
static int is_true(const struct fixture *f, const struct penalty *p, const double *w, const struct opt_result *r) {
  return run_exact_gradient(f, p, w) <= r->gradient_upper && run_exact_eigen(f, p, w) >= r->eigen_lower - 1e-12;
}

static void certifies(int explicit_test) {
  for (int k = 0; k < 3; k++) {
    struct fixture f;
    struct opt_result r;
    struct tr_options o = run_options_tr(explicit_test, 0);
    double w[DIM] = {0}, rho = 4;
    fixture_open(&f, "logistic", (size_t)ctest_size(8000, 800), DIM - 1, 1, ORACLE_REPLACE_ONE, 2 * rho);
    o.eps_g = ctest_size(1, 0) ? 0.02 : 0.08;
    o.eps_h = 0.04;
    CHECK(tr_run(f.oracle, &penalties[k], &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK(r.status == OPT_SOSP);
    CHECK(r.gradient_upper <= o.eps_g && r.eigen_lower >= -o.eps_h);
    CHECK(is_true(&f, &penalties[k], w, &r));
    CHECK(r.eigen_known == (k < 2));
    CHECK(count(&r, "gradient") == count(&r, "hessian"));
    CHECK(count(&r, "gradient") < r.planned);
    CHECK_NEAR(r.gap, log(2), 1e-15);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* Little budget, so that noise matters: of all certificates at most 5 % may be wrong. */
static void certificates_hold(int explicit_test) {
  int runs = ctest_size(150, 4), certified = 0, stated = 0, wrong = 0;
  for (int i = 0; i < runs; i++) {
    struct fixture f;
    struct opt_result r;
    struct tr_options o = run_options_tr(explicit_test, 0);
    double w[DIM] = {0}, rho = i % 2 ? 0.02 : 0.3;
    ctest_seed(900 + (uint64_t)i);
    fixture_open(&f, "sigmoid", 600, DIM, 0, ORACLE_REPLACE_ONE, rho);
    o.eps_g = 0.7 * tr_default_alpha(f.oracle, &run_no_penalty, &o, rho, w); /* some fail */
    o.eps_h = sqrt(0.125 * o.eps_g);
    o.spend_all = i % 3 == 0;
    CHECK(tr_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    certified += r.status == OPT_SOSP;
    if (r.status == OPT_SOSP) CHECK(r.gradient_upper <= o.eps_g && r.eigen_lower >= -o.eps_h);
    if (!isnan(r.gradient_upper)) {
      stated++;
      wrong += !is_true(&f, &run_no_penalty, w, &r);
    }
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(certified >= runs / 4 && stated >= runs / 2);
  CHECK(wrong <= 0.05 * stated + 3 * sqrt(0.05 * 0.95 * stated));
}

/* Hardly any noise: every step on the boundary gains what the theory says, and steps are no longer than the radius. */
static void descends(void) {
  struct fixture f;
  double last = log(2);
  for (int most = 1; most <= 12; most++) {
    struct opt_result r;
    struct tr_options o = run_options_tr(0, 0);
    double w[DIM] = {0}, rho = 1e6, value, radius = sqrt(2.0 / 3 * o.eps_g * pow(2, -1.0 / 8) / (1 / (6 * sqrt(3))));
    ctest_seed(4);
    fixture_open(&f, "logistic", 2000, DIM, 0, ORACLE_REPLACE_ONE, rho);
    o.max_iterations = most;
    CHECK(tr_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    CHECK(sums_value(oracle_all(f.oracle), w, &value) == BASE_OK);
    for (size_t i = 0; i < r.trace.length; i++) CHECK(r.trace.rows[i].step <= radius * (1 + 1e-3));
    CHECK(value < last || (value <= last + 1e-9 && r.status == OPT_SOSP));
    last = value;
    opt_result_free(&r);
    fixture_close(&f);
  }
}

static void spends_all(int explicit_test) {
  struct fixture f;
  struct opt_result once, all;
  struct tr_options o = run_options_tr(explicit_test, 0);
  double first[DIM] = {0}, w[DIM] = {0}, rho = 1;
  fixture_open(&f, "logistic", 3000, DIM, 0, ORACLE_REPLACE_ONE, 3 * rho);
  CHECK(tr_run(f.oracle, &run_no_penalty, &o, rho, first, &once) == BASE_OK);
  CHECK(once.status == OPT_SOSP && ledger_spent(f.ledger) < rho);
  double before = ledger_spent(f.ledger);
  o.spend_all = 1;
  CHECK(tr_run(f.oracle, &run_no_penalty, &o, rho, w, &all) == BASE_OK);
  CHECK(all.status == OPT_SOSP && all.gradient_upper <= o.eps_g);
  CHECK(is_true(&f, &run_no_penalty, w, &all));
  CHECK_NEAR(ledger_spent(f.ledger) - before, rho, 1e-6 * rho);
  CHECK(all.gradient_upper < once.gradient_upper);
  CHECK(run_exact_gradient(&f, &run_no_penalty, w) < run_exact_gradient(&f, &run_no_penalty, first));
  CHECK(all.trace.rows[all.trace.length - 1].phase == 3);
  CHECK(count(&all, "gradient") <= o.max_iterations);
  opt_result_free(&once);
  opt_result_free(&all);
  fixture_close(&f);
}

/* A target out of reach: the run ends by its budget, having stayed where nothing exceeded the noise level. */
static void budget_ends(int explicit_test) {
  struct fixture f;
  struct opt_result r;
  struct tr_options o = run_options_tr(explicit_test, 0);
  double w[DIM] = {0}, rho = 6e-5;
  fixture_open(&f, "logistic", 100, DIM, 0, ORACLE_REPLACE_ONE, rho);
  o.eps_g = 1e-6;
  o.max_iterations = 30;
  CHECK(tr_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK(r.status == OPT_BUDGET && r.planned == 30);
  CHECK(count(&r, "gradient") == 30);
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-6 * rho);
  CHECK(fixture_all_zero(DIM, w)); /* the mean's noise is longer than any gradient */
  CHECK(!isnan(r.gradient_upper));
  opt_result_free(&r);
  fixture_close(&f);
}

/* A run takes no more than its part of a budget that others share, however often one runs. */
static void keeps_the_rest(void) {
  struct fixture f;
  double part = 0.3;
  fixture_open(&f, "logistic", 100, DIM, 0, ORACLE_REPLACE_ONE, 1);
  for (int i = 1; i <= 4; i++) {
    struct tr_options t = run_options_tr(i == 2, 0);
    struct gd_options g = run_options_gd();
    struct opt_result r;
    double w[DIM] = {0.5, 0, 0, 0};
    t.eps_g = t.eps_h = g.eps_g = g.eps_h = 1e-6;
    t.max_iterations = g.max_iterations = 20;
    int status = i == 3 ? gd_run(f.oracle, &run_no_penalty, &g, part, w, &r)
                        : tr_run(f.oracle, &run_no_penalty, &t, part, w, &r);
    CHECK(status == BASE_OK && r.status == OPT_BUDGET);
    CHECK_NEAR(ledger_spent(f.ledger), fmin(i * part, 1), 1e-6);
    CHECK(ledger_spent(f.ledger) <= fmin(i * part, 1) + 1e-12);
    opt_result_free(&r);
  }
  fixture_close(&f);
}

static void leaves_saddle(int explicit_test) {
  struct fixture f;
  struct opt_result r;
  struct tr_options o = run_options_tr(explicit_test, 0);
  struct penalty ridge = {PENALTY_RIDGE, 1e-4, 0, 0};
  double w[2] = {2, 0}, rho = 50, before, after;
  run_open_saddle(&f, rho);
  o.eps_g = 0.05;
  o.eps_h = 0.03;
  o.gap = 1;
  CHECK(run_exact_gradient(&f, &ridge, w) < o.eps_g / 2 && run_exact_eigen(&f, &ridge, w) < -o.eps_h);
  CHECK(sums_value(oracle_all(f.oracle), w, &before) == BASE_OK);
  CHECK(tr_run(f.oracle, &ridge, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK(sums_value(oracle_all(f.oracle), w, &after) == BASE_OK);
  CHECK(fabs(w[1]) > 0.1 && after < before - 1e-3);
  CHECK(r.trace.rows[1].step > 0); /* although the gradient was small */
  CHECK(r.status == OPT_SOSP && is_true(&f, &ridge, w, &r));
  CHECK(run_exact_eigen(&f, &ridge, w) >= -o.eps_h && run_exact_gradient(&f, &ridge, w) <= o.eps_g);
  opt_result_free(&r);
  fixture_close(&f);
}

/* T = 6 gap / alpha^1.5, radius sqrt(alpha), half of a T-th for each answer, and the paper's tests. */
static void published(int explicit_test) {
  for (int k = 0; k < 2; k++) {
    struct fixture f;
    struct opt_result r;
    struct tr_options o = run_options_tr(explicit_test, 1);
    double w[DIM] = {0}, rho = 0.2;
    fixture_open(&f, k ? "sigmoid" : "logistic", 2000, DIM, 0, ORACLE_REPLACE_ONE, rho);
    o.eps_g = 0.1;
    o.eps_h = 0.3;
    CHECK(tr_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK(r.planned == 95); /* 6 * 0.5 / 0.1^1.5 = 94.87 */
    for (size_t i = 0; i < r.trace.length; i++) {
      const struct trace_row *row = &r.trace.rows[i];
      double sigma = sqrt(r.planned / rho);
      if (i % 2 == 0) CHECK_NEAR(row->rho, rho / r.planned / 2, 1e-9 * rho / r.planned);
      if (i % 2 == 1) CHECK(row->rho <= rho / r.planned / 2);
      /* upper triangle with sd 2 sigma sqrt(d) / n: spectral norm 2 sqrt(d) times that; here sqrt(2 d) times sd */
      double wanted = 4 * sigma * sqrt(DIM) / 2000;
      if (i % 2 == 1 && k == 0) CHECK_NEAR(row->sd * sqrt(2), wanted, 1e-6 * wanted);
      if (i % 2 == 1 && k == 1) CHECK(row->sd * sqrt(2) <= wanted * (1 + 1e-6)); /* a small curvature needs less */
      CHECK(row->step <= sqrt(0.1) * (1 + 1e-12));
      if (i % 2 == 1 && i + 1 < r.trace.length) CHECK(row->step > 0);
    }
    CHECK(r.status == OPT_SOSP || count(&r, "gradient") == 95);
    if (r.status == OPT_SOSP && explicit_test) CHECK(r.gradient_norm <= 0.1 / 1.1 && r.eigen_min >= -0.3 / 1.1);
    if (r.status == OPT_SOSP && !explicit_test) CHECK(r.gradient_norm <= 0.1); /* dual |s| <= sqrt(alpha) r */
    opt_result_free(&r);

    double again[DIM] = {0};
    o.eps_g = 1e-3;
    o.max_iterations = 7;
    ledger_free(f.ledger);
    CHECK(ledger_create(rho, rho, LEDGER_OPEN, &f.ledger) == BASE_OK);
    f.oracle->ledger = f.ledger;
    CHECK(tr_run(f.oracle, &run_no_penalty, &o, rho, again, &r) == BASE_OK);
    CHECK(r.status == OPT_SOSP || (r.status == OPT_ITERATIONS && count(&r, "gradient") == 7));
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* A larger budget or more data certify more, and the plan keeps its word: such runs are certified. */
static void default_target(void) {
  for (int which = 0; which <= 2; which++) {
    double last = 2;
    for (int k = 0; k < 3; k++) {
      struct fixture f;
      struct tr_options t = run_options_tr(which, 0);
      struct gd_options g = run_options_gd();
      double w[DIM] = {0}, alpha[2];
      struct opt_result r;
      t.max_iterations = g.max_iterations = 1000;
      fixture_open(&f, "logistic", (size_t)(400 * pow(4, k)), DIM, 0, ORACLE_REPLACE_ONE, 1);
      for (int i = 0; i < 2; i++) {
        double rho = i ? 0.4 : 0.1;
        alpha[i] = which < 2 ? tr_default_alpha(f.oracle, &run_no_penalty, &t, rho, w)
                             : gd_default_alpha(f.oracle, &run_no_penalty, &g, rho, w);
      }
      CHECK(alpha[0] > 0 && alpha[0] < last && alpha[1] < alpha[0]);
      CHECK(ledger_length(f.ledger) == 0); /* public: no charge */
      last = alpha[0];
      t.eps_g = g.eps_g = alpha[0];
      t.eps_h = g.eps_h = 0.1;
      if (which < 2 && k > 0 && ctest_size(1, 0)) {
        CHECK(tr_run(f.oracle, &run_no_penalty, &t, 0.1, w, &r) == BASE_OK);
        CHECK(r.status == OPT_SOSP);
        opt_result_free(&r);
      }
      fixture_close(&f);
    }
  }
}

/* f(w0) away from zero is asked for and paid for. */
static void gap_is_paid(void) {
  for (int descent = 0; descent <= 1; descent++) {
    struct fixture f;
    struct tr_options t = run_options_tr(0, 0);
    struct gd_options g = run_options_gd();
    struct opt_result r;
    double w[DIM] = {1, -1, 0, 0}, exact, rho = 1;
    fixture_open(&f, "logistic", 200, DIM, 0, ORACLE_REPLACE_ONE, rho);
    CHECK(sums_value(oracle_all(f.oracle), w, &exact) == BASE_OK);
    t.eps_g = g.eps_g = 1e-6;
    t.max_iterations = g.max_iterations = 5;
    CHECK((descent ? gd_run(f.oracle, &run_no_penalty, &g, rho, w, &r)
                   : tr_run(f.oracle, &run_no_penalty, &t, rho, w, &r)) == BASE_OK);
    CHECK(strcmp(r.trace.rows[0].query, "value") == 0 && r.trace.rows[0].rho == 0.02);
    CHECK_NEAR(r.gap, exact, 0.5);
    run_check(&f, &r, w, rho);
    CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* The point returned is the one with the shortest released gradient: replayed from the trace. */
static void descent_chooses(void) {
  for (int seed = 1; seed <= ctest_size(20, 3); seed++) {
    struct fixture f;
    struct opt_result r;
    struct gd_options o = run_options_gd();
    double w[DIM] = {0}, rho = seed % 2 ? 0.1 : 5;
    ctest_seed((uint64_t)seed);
    fixture_open(&f, "sigmoid", 500, DIM, 0, ORACLE_REPLACE_ONE, rho);
    o.eps_h = 0.05;
    o.max_iterations = 25;
    CHECK(gd_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-6 * rho);
    CHECK(count(&r, "gradient") == r.planned && count(&r, "hessian") == 1);
    double least = INFINITY, walked = 0;
    for (size_t i = 0; i + 1 < r.trace.length; i++) {
      const struct trace_row *row = &r.trace.rows[i];
      CHECK_NEAR(row->rho, 0.75 * rho / r.planned, 1e-9 * rho);
      if (row->estimate < least) {
        least = row->estimate;
        CHECK(r.gradient_norm <= least);
      }
      if (i + 2 < r.trace.length) CHECK_NEAR(row->step, row->estimate * 6 * sqrt(3), 1e-12); /* 1 / G */
      walked += row->step;
    }
    CHECK(r.gradient_norm == least);
    CHECK(la_norm(DIM, w) <= walked);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

static void descent_certifies(void) {
  int runs = ctest_size(100, 4), certified = 0, wrong = 0;
  for (int i = 0; i < runs; i++) {
    struct fixture f;
    struct opt_result r;
    struct gd_options o = run_options_gd();
    double w[DIM] = {0}, rho = 0.5;
    ctest_seed(300 + (uint64_t)i);
    fixture_open(&f, i % 2 ? "sigmoid" : "logistic", 600, DIM, 0, ORACLE_REPLACE_ONE, rho);
    o.eps_g = gd_default_alpha(f.oracle, &run_no_penalty, &o, rho, w);
    o.eps_h = 0.06;
    CHECK(gd_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    CHECK((r.status == OPT_SOSP) == (r.gradient_upper <= o.eps_g && r.eigen_lower >= -o.eps_h));
    CHECK(r.eigen_known == (i % 2 == 0));
    certified += r.status == OPT_SOSP;
    wrong += !is_true(&f, &run_no_penalty, w, &r);
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(certified >= runs / 4);
  CHECK(wrong <= 0.05 * runs + 3 * sqrt(0.05 * 0.95 * runs));
}

/* Its Hessian says what the gradients do not: no second-order point. */
static void descent_stays_at_saddle(void) {
  struct fixture f;
  struct opt_result r;
  struct gd_options o = run_options_gd();
  double w[2] = {2, 0}, rho = 50;
  run_open_saddle(&f, rho);
  o.eps_g = 0.1;
  o.eps_h = 0.02;
  o.gap = 0.5;
  CHECK(gd_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  CHECK(r.status == OPT_BUDGET && r.gradient_upper <= o.eps_g && r.eigen_min < -0.03);
  CHECK(hypot(w[0] - 2, w[1]) < 0.2);
  opt_result_free(&r);
  fixture_close(&f);
}
