/* What the oracle charges for, what it refuses, and what is left when something fails after the charge. */
#include "fixture.h"

enum { DIM = 3, STEPS = 4, QUERIES = 6 };

static const double w0[DIM] = {0.5, -1, 2}, direction0[DIM] = {1, 0.5, -0.25};
static const double steps0[STEPS] = {8, 2, 0.5, 0.125};

static void charges(void);
static void refusals(void);
static void failures_after_the_charge(void);
static void late_interrupt(void);
static void bad_points(void);
static void bad_costs(void);
static void large_matrices(void);
static void public_facts(void);

void test_barrier_charges(void) {
  charges();
  refusals();
  failures_after_the_charge();
  late_interrupt();
  bad_points();
  bad_costs();
  large_matrices();
  public_facts();
}

static void open_small(struct fixture *f, const char *loss, double capacity) {
  fixture_open(f, loss, 5, DIM, 0, ORACLE_REPLACE_ONE, capacity);
}

struct reply {
  double answer[DIM * DIM], sd[STEPS];
  size_t index;
};

static const char *const query_names[QUERIES] = {"value",       "gradient",    "hessian",
                                                 "line search", "line search", "line search"};

/* One of the six questions; what it leaves is in the reply. */
static int ask(struct oracle *o, int query, const double *w, const double *direction, double rho, struct reply *r) {
  static const double offset[STEPS];
  for (int i = 0; i < DIM * DIM; i++) r->answer[i] = 77;
  r->index = 0;
  switch (query) {
  case 0:
    return oracle_value(o, w, rho, r->answer, r->sd);
  case 1:
    return oracle_gradient(o, w, rho, r->answer, r->sd);
  case 2:
    return oracle_hessian(o, w, rho, r->answer, r->sd);
  case 3:
    return oracle_decreases(o, w, direction, STEPS, steps0, rho, r->answer, r->sd);
  case 4:
    return oracle_first_step(o, w, direction, STEPS, steps0, offset, 1, rho, &r->index);
  default:
    return oracle_best_step(o, w, direction, STEPS, steps0, offset, rho, &r->index);
  }
}

static size_t answer_length(int query) {
  static const size_t lengths[QUERIES] = {1, DIM, DIM * DIM, STEPS, 0, 0};
  return lengths[query];
}

/* Nothing was answered: zeros, or the index that says "none". */
static int is_blank(int query, const struct reply *r) {
  return fixture_all_zero(answer_length(query), r->answer) && (query < 4 || r->index == STEPS);
}

/* What a row says that it costs (proofs: ledger-rows). */
static double cost_of_row(const struct ledger_entry *e) {
  double q = e->sensitivity / e->scale;
  if (strcmp(e->mechanism, "sparse vector") == 0) return (e->values <= 20 ? 0.11 : 0.5) * 16 * q * q;
  if (strcmp(e->mechanism, "exponential") == 0) return (q + 0x1p-30) * (q + 0x1p-30) / 8;
  return e->values * q * q / 2;
}

static void charges(void) {
  struct fixture f;
  struct reply r;
  double spent = 0;
  open_small(&f, "logistic", 100);
  CHECK(ledger_decide(f.ledger, LEDGER_ZCDP) == BASE_OK);
  for (int q = 0; q < QUERIES; q++) {
    double rho = 0.25 * (q + 1);
    CHECK(ask(f.oracle, q, w0, direction0, rho, &r) == BASE_OK);
    spent += rho;
    CHECK_NEAR(ledger_spent(f.ledger), spent, 1e-14);
    CHECK(ledger_length(f.ledger) == (size_t)q + 1);
    const struct ledger_entry *e = ledger_at(f.ledger, (size_t)q);
    CHECK(e->rho == rho && e->scale > 0 && e->sensitivity > 0 && strcmp(e->what, query_names[q]) == 0);
    CHECK_NEAR(cost_of_row(e) / rho, 1, 1e-11);
  }
  CHECK_NEAR(oracle_left(f.oracle), 100 - spent, 1e-13);
  fixture_close(&f);

  for (int q = 4; q < QUERIES; q++) { /* not under a Gaussian filter in use */
    open_small(&f, "logistic", 100);
    CHECK(ask(f.oracle, 1, w0, direction0, 1, &r) == BASE_OK);
    CHECK(ask(f.oracle, q, w0, direction0, 1, &r) == BASE_ERR_ACCOUNTANT);
    CHECK(is_blank(q, &r) && ledger_spent(f.ledger) == 1);
    fixture_close(&f);
  }
}

static void refusals(void) {
  for (int q = 0; q < QUERIES; q++) {
    struct fixture f;
    struct reply r;
    open_small(&f, "logistic", 1);
    CHECK(ask(f.oracle, q, w0, direction0, 0.75, &r) == BASE_OK);
    CHECK(ask(f.oracle, q, w0, direction0, 0.5, &r) == BASE_ERR_BUDGET);
    CHECK(is_blank(q, &r));
    CHECK(ledger_spent(f.ledger) == 0.75 && ledger_length(f.ledger) == 1);
    CHECK(ask(f.oracle, q, w0, direction0, 0.25, &r) == BASE_OK);
    fixture_close(&f);
  }
}

static int always(void) { return 1; }

/* An interrupt or a broken generator: charged, nothing answered, nothing refunded. */
static void failures_after_the_charge(void) {
  struct base_host host = {always, NULL};
  for (int q = 0; q < QUERIES; q++) {
    struct fixture f;
    struct reply r;
    open_small(&f, "sigmoid", 1);
    base_set_host(&host);
    CHECK(ask(f.oracle, q, w0, direction0, 0.5, &r) == BASE_ERR_STOPPED);
    base_set_host(NULL);
    CHECK(is_blank(q, &r));
    CHECK(ledger_spent(f.ledger) == 0.5 && ledger_length(f.ledger) == 1);

    f.oracle->entropy = &ctest_entropy_broken;
    CHECK(ask(f.oracle, q, w0, direction0, 0.25, &r) == BASE_ERR_ENTROPY);
    CHECK(is_blank(q, &r));
    CHECK(ledger_spent(f.ledger) == 0.75 && ledger_length(f.ledger) == 2);
    fixture_close(&f);
  }
}

static int polls_left;
static int after_one_poll(void) { return polls_left-- <= 0; }

/* An interrupt between blocks: the sum over the blocks before it is not left behind. */
static void late_interrupt(void) {
  struct base_host host = {after_one_poll, NULL};
  base_limit_threads(1); /* which asks at every sixteenth block; the first of several may be left without one */
  for (int q = 0; q < QUERIES; q++) {
    struct fixture f;
    struct reply r;
    fixture_open(&f, "logistic", 40 * DATA_BLOCK, DIM, 0, ORACLE_REPLACE_ONE, 1);
    base_set_host(&host);
    polls_left = 1;
    CHECK(ask(f.oracle, q, w0, direction0, 0.5, &r) == BASE_ERR_STOPPED);
    CHECK(polls_left == -1);
    base_set_host(NULL);
    CHECK(is_blank(q, &r) && ledger_spent(f.ledger) == 0.5);
    fixture_close(&f);
  }
  base_limit_threads(64);
}

/* Refused before the charge: not finite, or so large that a sum could overflow. */
static void bad_points(void) {
  static const double bad[][DIM] = {
      {NAN, 0, 0}, {0, INFINITY, 0}, {0, 0, -INFINITY}, {1e101, 0, 0}, {1e308, 1e308, 1e308}};
  struct fixture f;
  struct reply r;
  open_small(&f, "logistic", 1);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    for (int q = 0; q < QUERIES; q++) {
      CHECK(ask(f.oracle, q, bad[k], direction0, 0.1, &r) == BASE_ERR_ARGUMENT);
      if (q < 3) CHECK(is_blank(q, &r));
      if (q >= 3) CHECK(ask(f.oracle, q, w0, bad[k], 0.1, &r) == BASE_ERR_ARGUMENT);
    }
  }
  CHECK(ledger_length(f.ledger) == 0 && ledger_spent(f.ledger) == 0);

  static const double step[][2] = {{1, 0}, {-1, 1}, {NAN, 1}, {1, INFINITY}};
  double sd[2], decrease[2], offset[2] = {0, 0};
  size_t index;
  for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
    CHECK(oracle_decreases(f.oracle, w0, direction0, 2, step[k], 0.1, decrease, sd) == BASE_ERR_ARGUMENT);
    CHECK(oracle_first_step(f.oracle, w0, direction0, 2, step[k], offset, 1, 0.1, &index) == BASE_ERR_ARGUMENT);
    if (k == 0) continue; /* of an exponential mechanism one may be zero */
    CHECK(oracle_best_step(f.oracle, w0, direction0, 2, step[k], offset, 0.1, &index) == BASE_ERR_ARGUMENT);
  }
  CHECK(oracle_decreases(f.oracle, w0, direction0, 0, step[0], 0.1, decrease, sd) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);

  /* the largest admissible point: every answer is finite */
  const double far[DIM] = {9e99, 0, -9e98};
  double rho = 0.01;
  for (int q = 0; q < 4; q++) {
    CHECK(ask(f.oracle, q, far, direction0, rho, &r) == BASE_OK);
    CHECK(fixture_all_finite(answer_length(q), r.answer));
  }
  fixture_close(&f);
}

static void bad_costs(void) {
  static const double bad[] = {0, -0.1, NAN, INFINITY, 1e-40};
  struct fixture f;
  struct reply r;
  open_small(&f, "logistic", 1);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    for (int q = 0; q < QUERIES; q++) {
      if (q == 4 && bad[k] > 0 && isfinite(bad[k])) continue; /* the sparse vector has no least cost */
      CHECK(ask(f.oracle, q, w0, direction0, bad[k], &r) == BASE_ERR_ARGUMENT);
    }
  }
  CHECK(ledger_length(f.ledger) == 0);
  fixture_close(&f);
}

/* Refused before the charge, and before anything is written. */
static void large_matrices(void) {
  enum { P = ORACLE_MOST_DIM, DIM = P + 1 };
  int *start = base_alloc(P + 1, sizeof *start);
  double *w = base_alloc(4 * DIM, sizeof *w), y = 1, sd;
  const struct data_compressed none = {start, NULL, NULL, P + 1, 0, 0};
  struct fixture f;
  memset(&f, 0, sizeof f);
  CHECK(data_create_sparse(&none, 1, P, 1, 1, &y, &f.data) == BASE_OK);
  CHECK(ledger_create(1, 1, LEDGER_OPEN, &f.ledger) == BASE_OK);
  CHECK(open_oracle(f.data, loss_find("logistic"), f.ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &f.oracle) == BASE_OK);
  const struct oracle_newton how = {CURVATURE_HESSIAN, MODIFY_ADD, 1, w + DIM};
  CHECK(oracle_hessian(f.oracle, w, 0.1, NULL, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_majorant(f.oracle, w, 0.1, NULL, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_newton_direction(f.oracle, w, w + 2 * DIM, &how, 0.1, w + 3 * DIM, &sd) == BASE_ERR_ARGUMENT);
  const struct sampling half = {SCHEME_POISSON, 0.5};
  CHECK(oracle_step_open(f.oracle, &half, w, 0.1, 0.5) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);
  CHECK(oracle_gradient(f.oracle, w, 0.1, w + DIM, &sd) == BASE_OK);
  fixture_close(&f);
  base_free(start);
  base_free(w);
}

static void public_facts(void) {
  struct fixture f;
  fixture_open(&f, "sigmoid", 9, 4, 1, ORACLE_ZERO_OUT, 2);
  double b = 1 / (6 * sqrt(3));
  CHECK(oracle_dim(f.oracle) == 5 && oracle_rows(f.oracle) == 9 && oracle_left(f.oracle) == 2);
  CHECK_NEAR(oracle_smoothness(f.oracle), b, 1e-15);
  CHECK_NEAR(oracle_curv_lower(f.oracle), b, 1e-15);
  CHECK(oracle_third(f.oracle) == 0.125 && oracle_floor(f.oracle) == 0 && oracle_at_zero(f.oracle) == 0.5);
  fixture_close(&f);
}
