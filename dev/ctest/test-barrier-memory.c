/* Each allocation of the rooms data and barrier fails once: an error, no leak, and no answer without its charge. */
#include "fixture.h"

static void fail_each(int (*ask)(struct fixture *f, struct coordinates **c));
static int create_all(struct fixture *f);
static int ask_all(struct fixture *f, struct coordinates **c);
static int ask_moved(struct fixture *f, struct coordinates **c);
static int ask_fresh(struct fixture *f, struct coordinates **c);

void test_barrier_memory(void) {
  fail_each(ask_all);
  fail_each(ask_moved);
  fail_each(ask_fresh);
}

static void fail_each(int (*ask)(struct fixture *f, struct coordinates **c)) {
  long before = ctest_live_allocations();
  int status = BASE_ERR_MEMORY, failures = 0;
  for (int which = 1; status == BASE_ERR_MEMORY && which < 1000; which++, failures++) {
    struct fixture f = {0};
    struct coordinates *c = NULL;
    ctest_fail_allocation(which);
    status = create_all(&f);
    if (status == BASE_OK) status = ask(&f, &c);
    ctest_fail_allocation(0);
    CHECK(status == BASE_OK || status == BASE_ERR_MEMORY);
    oracle_free(f.oracle);
    ledger_free(f.ledger);
    data_free(f.data);
    coordinates_free(c);
    CHECK(ctest_live_allocations() == before);
  }
  CHECK(status == BASE_OK);
  CHECK(failures > 12); /* the loop saw them */
}

static int create_all(struct fixture *f) {
  static const double x[8] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}, y[4] = {1, -1, 1, -1};
  int status = data_create(x, 4, 2, 1, 1, y, &f->data);
  CHECK((status == BASE_OK) == (f->data != NULL));
  if (status != BASE_OK) return status;
  status = ledger_create(10, 10, LEDGER_ZCDP, &f->ledger);
  CHECK((status == BASE_OK) == (f->ledger != NULL));
  if (status != BASE_OK) return status;
  status = open_oracle(f->data, loss_find("logistic"), f->ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &f->oracle);
  CHECK((status == BASE_OK) == (f->oracle != NULL));
  return status;
}

/* Charged, if at all, as often as the history says. */
static int ask_all(struct fixture *f, struct coordinates **c) {
  (void)c;
  const double w[3] = {0, 1, -1}, step[3] = {4, 2, 1}, offset[3] = {0, 0, 0};
  double answer[9], sd[3];
  size_t index;
  int status = oracle_hessian(f->oracle, w, 1, answer, sd);
  if (status != BASE_OK) CHECK(fixture_all_zero(9, answer));
  if (status == BASE_OK) status = oracle_gradient(f->oracle, w, 1, answer, sd);
  if (status == BASE_OK) status = oracle_value(f->oracle, w, 1, answer, sd);
  if (status == BASE_OK) status = oracle_decreases(f->oracle, w, w, 3, step, 1, answer, sd);
  if (status == BASE_OK) {
    status = oracle_first_step(f->oracle, w, w, 3, step, offset, 1, 1, &index);
    if (status != BASE_OK) CHECK(index == 3);
  }
  if (status == BASE_OK) {
    status = oracle_best_step(f->oracle, w, w, 3, step, offset, 1, &index);
    if (status != BASE_OK) CHECK(index == 3);
  }
  CHECK(ledger_spent(f->ledger) == (double)ledger_length(f->ledger));
  if (status == BASE_OK) CHECK(ledger_length(f->ledger) == 6);
  return status;
}

/* In other coordinates; where these fail, the rows stay as they were. */
static int ask_moved(struct fixture *f, struct coordinates **c) {
  static const double scale[2] = {2, 3}, centre[2] = {0.1, -0.1}, most[2] = {1, 0.5}, w[3] = {0, 1, -1};
  const struct coordinates_spec spec = {2, 1, 1, 0, 1, 1, 2, 0.5, scale, centre, scale, scale, 0, 0, NULL, 1};
  double answer[9], sd;
  int status = oracle_moments(f->oracle, most, 1, answer, &sd);
  if (status == BASE_OK) status = oracle_gradient(f->oracle, w, 1, answer, &sd);
  if (status == BASE_OK) status = coordinates_create(&spec, c);
  CHECK((status == BASE_OK) == (*c != NULL));
  if (status == BASE_OK) {
    status = oracle_move(f->oracle, *c);
    CHECK((status == BASE_OK) == (f->data->coordinates != NULL));
    CHECK((status == BASE_OK) == model_weighted(&f->oracle->model));
  }
  if (status == BASE_OK) status = oracle_weighted(f->oracle, w, 1, answer, &sd);
  if (status == BASE_OK) status = oracle_gradient(f->oracle, w, 1, answer, &sd);
  if (status != BASE_OK) CHECK(ledger_length(f->ledger) < 4 || fixture_all_zero(3, answer));
  CHECK(ledger_spent(f->ledger) == (double)ledger_length(f->ledger));
  if (status == BASE_OK) CHECK(ledger_length(f->ledger) == 4);
  return status;
}

/* Fresh records: a leaf that fails has no answer, and ends its epoch. The first Hessian is released, the second not. */
static int ask_fresh(struct fixture *f, struct coordinates **c) {
  (void)c;
  const double w[3] = {0, 1, -1}, v[3] = {1, 0, 0};
  double g[3], h[9], sd;
  struct epoch_sd both;
  struct epoch how = {.records = 1, .leaves = 2, .curvature_share = 0.4};
  int status = fresh_open(f->oracle, 1);
  CHECK((status == BASE_OK) == (fresh_left(f->oracle) == 4));
  for (int kept = 0; kept <= 1 && status == BASE_OK; kept++) {
    how.products = kept ? 1 : 0;
    status = epoch_open(f->oracle, &how, w, g, kept ? NULL : h, &both);
    if (status == BASE_OK) {
      status = epoch_leaf(f->oracle, w, 1, g, &sd);
    } else if (!kept) {
      CHECK(fixture_all_zero(9, h));
    }
    if (status == BASE_OK && kept) status = epoch_product(f->oracle, v, h, &sd);
    if (status == BASE_OK) continue;
    CHECK(fixture_all_zero(3, g));
    CHECK(epoch_leaf(f->oracle, w, 1, g, &sd) == BASE_ERR_ARGUMENT);
  }
  CHECK(ledger_spent(f->ledger) == (double)ledger_length(f->ledger));
  if (status == BASE_OK) CHECK(ledger_length(f->ledger) == 1 && fresh_left(f->oracle) == 0);
  return status;
}
