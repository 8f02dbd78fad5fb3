/* SPIDER: it leaves a saddle, spends its budget once, certifies the population; what the certificate's bounds miss. */
#include "method/private.h"
#include "run.h"

enum { KINDS = 5, COLUMNS = 2 };

static const struct spider_options usual = {.leaves = 32,
                                            .eps_g = 0.05,
                                            .eps_h = 0.1,
                                            .confidence = 0.95,
                                            .hessian_share = 0.2,
                                            .certificate_share = 0.15,
                                            .value_share = 0.01,
                                            .gap = NAN};

static void leaves_saddle(enum factor noise);
static void convex(void);
static void few_records(void);
static void certificates_hold(void);
static void published_constants(void);
static void published_walk(void);
static void published_stays(void);
static void drift_leaves(enum factor noise);
static void drift_stays(void);
static void refused(void);

void test_method_spider(void) {
  for (enum factor noise = FACTOR_SQUARE_ROOT; noise <= FACTOR_INDEPENDENT; noise++) leaves_saddle(noise);
  convex();
  few_records();
  certificates_hold();
  published_constants();
  published_walk();
  published_stays();
  for (enum factor noise = FACTOR_SQUARE_ROOT; noise <= FACTOR_INDEPENDENT; noise++) drift_leaves(noise);
  drift_stays();
  refused();
}

static void leaves_saddle(enum factor noise) {
  struct fixture f;
  struct opt_result r;
  struct spider_options o = usual;
  double w[2] = {2, 0};
  o.noise = noise;
  run_open_saddle(&f, 2);
  size_t n = data_rows(f.data);
  CHECK(spider_run(f.oracle, &run_no_penalty, &o, 2, w, &r) == BASE_OK);
  CHECK(ledger_length(f.ledger) == 1 && ledger_spent(f.ledger) <= 2 && ledger_spent(f.ledger) > 2 * (1 - 1e-9));
  CHECK(run_spent_on(&r, "fresh records") == ledger_spent(f.ledger));
  CHECK(fresh_left(f.oracle) == 0);
  if (n == 20000) {
    CHECK(r.status == OPT_SOSP && fabs(w[1]) > 0.9);
    CHECK(run_exact_gradient(&f, &run_no_penalty, w) <= r.gradient_upper);
    CHECK(run_exact_eigen(&f, &run_no_penalty, w) >= r.eigen_lower);
    CHECK(r.gap > 0.4 && r.gap < 0.6);
  }
  opt_result_free(&r);
  fixture_close(&f);
}

/* Logistic loss with a ridge: no Hessian, and the minimiser's gradient is short. */
static void convex(void) {
  struct fixture f;
  struct opt_result r;
  const struct penalty ridge = {PENALTY_RIDGE, 0.05, 0, 0};
  double w[4] = {0};
  fixture_open(&f, "logistic", (size_t)ctest_size(40000, 4000), 4, 0, ORACLE_ZERO_OUT, 8);
  double before = run_exact_gradient(&f, &ridge, w);
  CHECK(spider_run(f.oracle, &ridge, &usual, 8, w, &r) == BASE_OK);
  CHECK(run_exact_gradient(&f, &ridge, w) < before / 2 || ctest_size(0, 1));
  CHECK(r.eigen_known && r.eigen_lower == 0 && isnan(r.eigen_min));
  for (size_t i = 0; i < r.trace.length; i++) CHECK(strcmp(r.trace.rows[i].query, "hessian") != 0);
  opt_result_free(&r);
  fixture_close(&f);
}

/* Where there are too few for a plan the start is what is certified, as far as it goes. */
static void few_records(void) {
  for (size_t n = 1; n <= 64; n *= 2) {
    struct fixture f;
    struct opt_result r;
    double w[2] = {1, 0}, lipschitz = 0.25;
    fixture_open(&f, "sigmoid", n, 2, 0, ORACLE_REPLACE_ONE, 1);
    CHECK(spider_run(f.oracle, &run_no_penalty, &usual, 1, w, &r) == BASE_OK);
    CHECK(r.status == OPT_RECORDS && fixture_all_finite(2, w));
    CHECK(!(r.gradient_upper < lipschitz / 2)); /* not measured, or hardly */
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* ---- a population of five kinds of records: expectations are finite sums ---- */

static const double kind_row[KINDS][COLUMNS] = {{0.9, 0}, {0.3, 0.85}, {0.3, -0.85}, {-0.5, 0.5}, {0.1, 0.9}};
static const double kind_label[KINDS] = {1, -1, -1, 1, 1};
static const double kind_share[KINDS] = {0.3, 0.2, 0.2, 0.2, 0.1};

static void open_kinds(struct fixture *f, size_t n, double rho) {
  double *x = base_alloc(n * COLUMNS, sizeof *x), *y = base_alloc(n, sizeof *y);
  for (size_t i = 0; i < n; i++) {
    int kind = 0;
    for (double u = ctest_uniform(); kind < KINDS - 1 && u > kind_share[kind]; kind++) u -= kind_share[kind];
    for (size_t j = 0; j < COLUMNS; j++) x[i + j * n] = kind_row[kind][j];
    y[i] = kind_label[kind];
  }
  fixture_open_rows(f, "sigmoid", x, y, n, COLUMNS, 0, ORACLE_REPLACE_ONE, rho);
}

static void expectations(const double *w, double *gradient, double *eigen) {
  double g[COLUMNS] = {0}, h[COLUMNS * COLUMNS] = {0}, vector[COLUMNS];
  for (int k = 0; k < KINDS; k++) {
    const double *z = kind_row[k];
    double t = la_dot(COLUMNS, z, w), d1, d2;
    loss_eval(loss_find("sigmoid"), 1, &kind_label[k], &t, NULL, &d1, &d2);
    for (size_t i = 0; i < COLUMNS; i++) {
      g[i] += kind_share[k] * d1 * z[i];
      for (size_t j = 0; j < COLUMNS; j++) h[i + j * COLUMNS] += kind_share[k] * d2 * z[i] * z[j];
    }
  }
  *gradient = la_norm(COLUMNS, g);
  CHECK(la_eigen_min(COLUMNS, h, eigen, vector) == BASE_OK);
}

/* Hardly any noise, so that the error is that of sampling: without it the bounds would be wrong half the time. */
static void certificates_hold(void) {
  int runs = ctest_size(400, 40), wrong_g = 0, wrong_h = 0;
  double w[COLUMNS] = {0.7, 0.4}, gradient, eigen, slack = 0;
  expectations(w, &gradient, &eigen);
  for (int i = 0; i < runs; i++) {
    struct fixture f;
    struct objective o;
    struct opt_result r;
    open_kinds(&f, 300, 1e9);
    objective_init(&o, f.oracle, &run_no_penalty);
    result_init(&r);
    CHECK(fresh_open(f.oracle, 1e9) == BASE_OK);
    CHECK(population_certify(&o, w, 0.2, 0.05, &r) == BASE_OK);
    wrong_g += r.gradient_upper < gradient;
    wrong_h += r.eigen_lower > eigen;
    slack += (r.gradient_upper - gradient) / runs;
    CHECK(fresh_left(f.oracle) == 0);
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(wrong_g + wrong_h <= 0.05 * runs);
  CHECK(slack < 0.1);
}

/* ---- published constants ---- */

/* By hand: with all bounds one, and d / mu^2 = 4, the theorem's terms are powers of n. */
static void published_constants(void) {
  const struct objective one = {.dim = 4, .smooth = 1, .third = 1, .steepest = 1};
  const struct spider_published p = spider_published(&one, 1, 1, 3, 1e6);
  double alpha = 2 * sqrt(2e-6) + 2e-2 + 4e-3 + 2e-6;
  CHECK_NEAR(p.alpha, alpha, 1e-15);
  CHECK(p.drift == 1);
  CHECK_NEAR(p.records, 6 / alpha + 1 / (alpha * alpha) + 2 + 1 / alpha, 1e-9);
  CHECK_NEAR(p.batch, 1 / (alpha * alpha), 1e-9);
  CHECK(p.products == ceil(1 / sqrt(alpha)));
  CHECK_NEAR(p.length, sqrt(alpha), 1e-15);
}

static size_t count_rows(const struct opt_result *r, const char *query) {
  size_t count = 0;
  for (size_t i = 0; i < r->trace.length; i++) count += strcmp(r->trace.rows[i].query, query) == 0;
  return count;
}

/* Noise leads away from the saddle, by products; the budget is paid once. */
static void published_walk(void) {
  struct fixture f;
  struct opt_result r;
  struct spider_options o = usual;
  double w[2] = {2, 0};
  o.published = 1;
  o.noise = FACTOR_TREE;
  run_open_saddle(&f, 2);
  CHECK(spider_run(f.oracle, &run_no_penalty, &o, 2, w, &r) == BASE_OK);
  CHECK(ledger_length(f.ledger) == 1 && ledger_spent(f.ledger) <= 2 && fresh_left(f.oracle) == 0);
  CHECK(count_rows(&r, "hessian product") > 0 && count_rows(&r, "hessian") == 1); /* that of the certificate */
  CHECK(run_exact_gradient(&f, &run_no_penalty, w) <= r.gradient_upper);
  CHECK(run_exact_eigen(&f, &run_no_penalty, w) >= r.eigen_lower);
  opt_result_free(&r);
  fixture_close(&f);
}

/* Records that are all alike; with the ridge that is returned w = 3 is the minimiser. */
static struct penalty open_alike(struct fixture *f) {
  enum { ROWS = 2000 };
  double p = 1 / (1 + exp(-2.7)), *x = base_alloc(ROWS, sizeof *x), *y = base_alloc(ROWS, sizeof *y);
  for (size_t i = 0; i < ROWS; i++) x[i] = 0.9, y[i] = 1;
  fixture_open_rows(f, "sigmoid", x, y, ROWS, 1, 0, ORACLE_REPLACE_ONE, 1e9);
  return (struct penalty){PENALTY_RIDGE, 0.9 * p * (1 - p) / 3, 0, 0};
}

/* Records that are all alike, at the minimiser: all products are asked for, and the point is kept as it is. */
static void published_stays(void) {
  struct fixture f;
  struct opt_result r;
  struct spider_options o = usual;
  double w[1] = {3};
  o.published = 1;
  const struct penalty ridge = open_alike(&f);
  CHECK(spider_run(f.oracle, &ridge, &o, 1e9, w, &r) == BASE_OK);
  CHECK(w[0] == 3 && count_rows(&r, "gradient") == 2);
  CHECK(count_rows(&r, "hessian product") > 0);
  opt_result_free(&r);
  fixture_close(&f);
}

/* ---- escape by drift ---- */

/* Gradients alone lead away; the only Hessian is the certificate's, and the budget is paid once. */
static void drift_leaves(enum factor noise) {
  struct fixture f;
  struct opt_result r;
  struct spider_options o = usual;
  double w[2] = {2, 0};
  o.escape = ESCAPE_DRIFT;
  o.noise = noise;
  run_open_saddle(&f, 2);
  size_t n = data_rows(f.data);
  CHECK(spider_run(f.oracle, &run_no_penalty, &o, 2, w, &r) == BASE_OK);
  CHECK(ledger_length(f.ledger) == 1 && ledger_spent(f.ledger) <= 2 && fresh_left(f.oracle) == 0);
  CHECK(count_rows(&r, "hessian") == 1 && count_rows(&r, "hessian product") == 0);
  if (n == 20000) {
    CHECK(r.status == OPT_SOSP && fabs(w[1]) > 0.9);
    CHECK(run_exact_gradient(&f, &run_no_penalty, w) <= r.gradient_upper);
    CHECK(run_exact_eigen(&f, &run_no_penalty, w) >= r.eigen_lower);
  }
  opt_result_free(&r);
  fixture_close(&f);
}

/* Records that are all alike, at the minimiser, and hardly any noise: the first trial has as many steps as the formula
 * says (proofs: drift), and then the point is kept as it is. */
static void drift_stays(void) {
  struct fixture f;
  struct opt_result r;
  struct spider_options o = usual;
  double w[1] = {3};
  struct objective objective;
  o.escape = ESCAPE_DRIFT;
  o.leaves = 64;
  o.gap = 0.5;
  const struct penalty ridge = open_alike(&f);
  objective_init(&objective, f.oracle, &ridge);
  double alpha = spider_default_alpha(f.oracle, &ridge, &o, 1e9, w);
  CHECK(spider_run(f.oracle, &ridge, &o, 1e9, w, &r) == BASE_OK);
  CHECK(w[0] == 3 && count_rows(&r, "hessian") == 1);
  size_t steps = 1;
  while (strcmp(r.trace.rows[steps + 1].query, "gradient difference") == 0) steps++;
  double G = objective.smooth, M = objective.third, sd = r.trace.rows[1].sd, chance = 0.05;
  double wanted = G * sqrt(alpha / M) / (chance * sqrt(acos(-1) / 2) * sd); /* of the growth since the first step */
  double grows = 1 + sqrt(M * alpha) / G;
  CHECK(pow(grows, (double)steps - 1) >= wanted * (1 - 1e-6) && pow(grows, (double)steps - 2) < wanted);
  opt_result_free(&r);
  fixture_close(&f);
}

static void refused(void) {
  struct fixture f;
  struct opt_result r;
  double w[2] = {0};
  fixture_open(&f, "huber_svm", 100, 2, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(spider_run(f.oracle, &run_no_penalty, &usual, 1, w, &r) == BASE_OK); /* convex: no Hessian is asked for */
  opt_result_free(&r);
  fixture_close(&f);
  fixture_open(&f, "sigmoid", 100, 2, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(spider_run(f.oracle, &run_no_penalty, &usual, 2, w, &r) == BASE_ERR_BUDGET);
  CHECK(w[0] == 0 && w[1] == 0 && ledger_length(f.ledger) == 0);
  opt_result_free(&r);
  fixture_close(&f);
}
