/* Runs on batches: what they find is certified by answers about all rows, within the budget; saddles are left. */
#include "method/newton.h"
#include "run.h"

enum { DIM = 3, WAYS = 6, NEWTON_WAYS = 4 };
#define ORDER 24.0

static int run_newton(const struct fixture *f, enum newton_curvature curvature, double rho, double *w,
                      struct opt_result *r) {
  const struct newton_options o = {.curvature = curvature,
                                   .adaptive = 1,
                                   .iterations = curvature == NEWTON_LAZY ? ctest_size(60, 30) : 12,
                                   .eps_g = 0.1,
                                   .confidence = 0.9999,
                                   .curvature_share = curvature == NEWTON_LAZY ? 0.1 : 0.5,
                                   .trace_share = 0.2,
                                   .certificate_share = 0.05,
                                   .lambda0 = NAN,
                                   .lambda_scale = curvature == NEWTON_LAZY ? 0.1 : 1,
                                   .batch = {SCHEME_FIXED, floor((double)data_rows(f->data) / 10)}};
  return newton_run(f->oracle, &run_no_penalty, &o, rho, w, r);
}

/* OPT-B, 2OPT-B, OPT-B with published constants, TR-B, the same with the explicit test, SGD; Newton's method. */
static int run_way(const struct fixture *f, int way, const struct penalty *penalty, double eps_h, double rho, double *w,
                   struct opt_result *r) {
  if (way >= WAYS) return run_newton(f, (enum newton_curvature)(way - WAYS), rho, w, r);
  const struct batch_options batch = {{SCHEME_FIXED, floor((double)data_rows(f->data) / 10)}, 0.5};
  struct opt_options o = way == 2 ? run_options_published(OPT_SHORT_STEP, 0) : run_options(OPT_SHORT_STEP, way == 1);
  struct tr_options t = run_options_tr(way == 4, 0);
  struct gd_options g = run_options_gd();
  o.batch = t.batch = g.batch = batch;
  o.max_iterations = t.max_iterations = g.max_iterations = ctest_size(60, 20);
  o.eps_g = t.eps_g = g.eps_g = ctest_size(1, 0) ? 0.06 : 0.1;
  o.eps_h = t.eps_h = g.eps_h = eps_h;
  if (way < 3) return opt_run(f->oracle, penalty, &o, rho, w, r);
  return way < 5 ? tr_run(f->oracle, penalty, &t, rho, w, r) : gd_run(f->oracle, penalty, &g, rho, w, r);
}

static void to_renyi(struct fixture *f, double capacity) {
  const struct loss *loss = f->oracle->model.loss;
  oracle_free(f->oracle);
  ledger_free(f->ledger);
  CHECK(ledger_create_renyi(ORDER, capacity, &f->ledger) == BASE_OK);
  CHECK(open_oracle(f->data, loss, f->ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &f->oracle) == BASE_OK);
}

static void open_problem(struct fixture *f, const char *loss, size_t n, double capacity) {
  fixture_open(f, loss, n, DIM - 1, 1, ORACLE_REPLACE_ONE, 1);
  to_renyi(f, capacity);
}

static int is_on_batch(const struct trace_row *row) { return strncmp(row->query, "batch", 5) == 0; }

/* The trace is the ledger but for second-order answers that their step has paid; batches come first and keep to their
 * share. */
static void check_run(const struct fixture *f, const struct opt_result *r, const double *w, double rho, int way) {
  double on_batches = 0, total = 0, share = way < WAYS ? 0.5 : 0.95;
  size_t entry = 0;
  int same = 1, ordered = 1, seen = 0;
  for (size_t i = 0; i < r->trace.length; i++) {
    const struct trace_row *row = &r->trace.rows[i];
    total += row->rho;
    if (is_on_batch(row)) on_batches += row->rho;
    ordered = ordered && !(seen && is_on_batch(row));
    /* The first answer about all rows is no average with what batches said. */
    if (!seen && strcmp(row->query, "gradient") == 0) {
      seen = 1;
      same = same && fabs(row->sd / ledger_at(f->ledger, entry)->scale - 1) < 1e-9;
    }
    if (row->rho > 0) same = same && ledger_at(f->ledger, entry++)->rho == row->rho;
  }
  CHECK(same && entry == ledger_length(f->ledger));
  CHECK(ordered);
  CHECK(on_batches > 0 && on_batches <= share * rho * (1 + 1e-12));
  CHECK(total <= rho * (1 + 1e-12));
  CHECK(fixture_all_finite(data_dim(f->data), w));
}

/* Of these bounds, each of which holds in 95 of 100 runs. */
static int missed;

static void certifies(int way) {
  int penalised = way < WAYS;
  static const struct penalty penalties[] = {{PENALTY_NONE, 0, 0, 0}, {PENALTY_NONCONVEX, 0.1, 1, 0}};
  for (int k = ctest_size(0, penalised); k <= penalised; k++) {
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0}, rho = 1;
    open_problem(&f, "logistic", (size_t)ctest_size(8000, penalised ? 1000 : 4000), 2 * rho);
    CHECK(run_way(&f, way, &penalties[k], 0.06, rho, w, &r) == BASE_OK);
    check_run(&f, &r, w, rho, way);
    CHECK(r.status == OPT_SOSP);
    missed += run_exact_gradient(&f, &penalties[k], w) > r.gradient_upper;
    CHECK(r.gradient_upper <= 0.1);
    CHECK(run_exact_eigen(&f, &penalties[k], w) >= r.eigen_lower - 1e-12 && r.eigen_lower >= -0.06);
    CHECK(strcmp(r.trace.rows[r.trace.length - 1].query, "gradient") == 0 ||
          strcmp(r.trace.rows[r.trace.length - 1].query, "hessian") == 0);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* Where answers about all rows show nothing, nothing is certified, whatever the batches say. */
static void batches_do_not_certify(int way) {
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1e-7;
  open_problem(&f, "logistic", 1000, rho);
  CHECK(run_way(&f, way, &run_no_penalty, 0.06, rho, w, &r) == BASE_OK);
  CHECK(r.status != OPT_SOSP && !(r.gradient_upper <= 0.1));
  check_run(&f, &r, w, rho, way);
  opt_result_free(&r);
  fixture_close(&f);
}

/* Each step is one charge for one batch, whatever it asks; all are taken; the last gradient, of all rows, certifies. */
static void newton_asks(enum newton_curvature curvature) {
  static const char *const asked[][4] = {{"batch gradient", "batch trace", "batch direction"},
                                         {"batch gradient", "batch trace", "batch direction"},
                                         {"batch gradient"},
                                         {"batch gradient", "batch hessian"}};
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1;
  open_problem(&f, "logistic", 1000, 2 * rho);
  CHECK(run_newton(&f, curvature, rho, w, &r) == BASE_OK);
  size_t first = curvature == NEWTON_LAZY, row = first, charges = first + (size_t)r.planned + 1;
  if (first) CHECK(strcmp(r.trace.rows[0].query, "majorant") == 0);
  for (int step = 1; step <= r.planned; step++) {
    for (int k = 0; k < 4 && asked[curvature][k]; k++, row++) {
      CHECK(strcmp(r.trace.rows[row].query, asked[curvature][k]) == 0 && r.trace.rows[row].iteration == step);
      CHECK((r.trace.rows[row].rho > 0) == (k == 0));
    }
    CHECK(r.trace.rows[row - 1].step > 0);
  }
  CHECK(row + 1 == r.trace.length && strcmp(r.trace.rows[row].query, "gradient") == 0);
  CHECK(ledger_length(f.ledger) == charges);
  CHECK(strcmp(ledger_at(f.ledger, first)->what, first ? "batch gradient" : "batch step") == 0);
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-6 * rho);
  CHECK(r.gradient_upper == r.trace.rows[row].bound && f.oracle->batch.row == NULL);
  opt_result_free(&r);
  fixture_close(&f);
}

/* Lengths of steps are not searched for on batches. */
static void newton_refuses(void) {
  const struct newton_options o = {
      .curvature = NEWTON_DIRECT, .damped = 1, .iterations = 2, .batch = {SCHEME_FIXED, 50}};
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0};
  open_problem(&f, "logistic", 500, 1);
  CHECK(newton_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ARGUMENT && ledger_length(f.ledger) == 0);
  fixture_close(&f);
}

static void leaves_saddle(int way) {
  struct fixture f;
  struct opt_result r;
  double w[2] = {2, 0}, rho = 60;
  run_open_saddle(&f, 1);
  to_renyi(&f, rho);
  CHECK(run_way(&f, way, &run_no_penalty, 0.01, rho, w, &r) == BASE_OK);
  check_run(&f, &r, w, rho, way);
  CHECK(fabs(w[1]) > 0.3);
  int hessians = 0;
  for (size_t i = 0; i < r.trace.length; i++) hessians += strcmp(r.trace.rows[i].query, "batch hessian") == 0;
  CHECK(hessians > 0);
  opt_result_free(&r);
  fixture_close(&f);
}

static void wrong_accountant(int way) {
  struct fixture f;
  struct opt_result r;
  double w[DIM] = {0};
  fixture_open(&f, "logistic", 500, DIM - 1, 1, ORACLE_REPLACE_ONE, 1);
  CHECK(run_way(&f, way, &run_no_penalty, 0.06, 1, w, &r) == BASE_ERR_ACCOUNTANT);
  CHECK(ledger_length(f.ledger) == (way == WAYS + NEWTON_LAZY)); /* whose matrix is not on a batch */
  opt_result_free(&r);
  fixture_close(&f);
}

static int polls_left;
static int stop_after_polls(void) { return polls_left-- <= 0; }

/* An interrupt, a failed allocation or a broken generator ends the run, and leaves no batch behind. */
static void fails(int way) {
  struct base_host host = {stop_after_polls, NULL};
  long live = ctest_live_allocations();
  for (int k = 0; k < ctest_size(6, 3); k++) {
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0};
    open_problem(&f, way < WAYS ? "sigmoid" : "logistic", 400, 1);
    polls_left = k / 3;
    if (k % 3 == 0) base_set_host(&host);
    if (k % 3 == 1) ctest_fail_allocation(1 + (way == WAYS + NEWTON_LAZY ? 200 : 60) * k); /* later than its plan */
    if (k % 3 == 2) f.oracle->entropy = &ctest_entropy_broken;
    int status = run_way(&f, way, &run_no_penalty, 0.03, 1, w, &r);
    base_set_host(NULL);
    ctest_fail_allocation(0);
    CHECK(status == BASE_OK || status == (k % 3 == 0   ? BASE_ERR_STOPPED
                                          : k % 3 == 1 ? BASE_ERR_MEMORY
                                                       : BASE_ERR_ENTROPY));
    CHECK(k % 3 == 0 || k > 1 || status != BASE_OK);
    CHECK(fixture_all_finite(DIM, w));
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(ctest_live_allocations() == live);
}

void test_method_batch(void) {
  base_limit_threads(1); /* batches are small */
  for (int way = 0; way < WAYS + NEWTON_WAYS; way++) {
    certifies(way);
    batches_do_not_certify(way);
    wrong_accountant(way);
    fails(way);
    if (way < ctest_size(5, 1)) leaves_saddle(way);
  }
  CHECK(missed <= 1);
  for (int curvature = 0; curvature < NEWTON_WAYS; curvature++) newton_asks((enum newton_curvature)curvature);
  newton_refuses();
  base_limit_threads(64);
}
