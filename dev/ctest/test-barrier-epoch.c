/* Sums of an epoch's leaves, in one pass each: what two passes give. */
#include "fixture.h"

enum { N = 2 * DATA_BLOCK + 131, P = 4, DIM = P + 1, COUNT = 700 };

static void both_are_each(const char *loss, int moved);
static void memory_has_numbers(void);

void test_barrier_epoch(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int moved = 0; moved <= 1; moved++) {
      both_are_each("logistic", moved);
      both_are_each("sigmoid", moved);
    }
  }
  fixture_storage = FIXTURE_DENSE;
  memory_has_numbers();
}

static void compare(const struct scope *s, const double *w, const double *before) {
  double both[DIM + DIM * DIM], g[DIM], h[DIM * DIM], at_before[DIM], difference[DIM];
  const struct ask ask = {.at = w, .along = before};
  CHECK(scope_mean(s, &sum_epoch_start, &ask, both) == BASE_OK);
  CHECK(scope_mean(s, &sum_difference, &ask, difference) == BASE_OK);
  CHECK(sums_gradient(s, w, g) == BASE_OK);
  CHECK(sums_gradient(s, before, at_before) == BASE_OK);
  CHECK(sums_hessian(s, w, h) == BASE_OK);
  for (size_t j = 0; j < DIM; j++) {
    CHECK_NEAR(both[j], g[j], 1e-13);
    CHECK_NEAR(difference[j], g[j] - at_before[j], 1e-13);
  }
  for (size_t k = 0; k < DIM * DIM; k++) CHECK_NEAR(both[DIM + k], h[k], 1e-13);
}

static void both_are_each(const char *loss, int moved) {
  struct fixture f;
  struct fixture_coordinates c = {.made = NULL};
  double w[DIM], before[DIM];
  size_t row[COUNT];
  for (size_t k = 0; k < COUNT; k++) row[k] = 3 * k;
  for (size_t j = 0; j < DIM; j++) w[j] = ctest_normal(), before[j] = w[j] + 0.3 * ctest_normal();
  fixture_open(&f, loss, N, P, 1, ORACLE_REPLACE_ONE, 1);
  if (moved) {
    CHECK(fixture_coordinates(f.data, 1, 0, 1, 1, &c) == BASE_OK);
    CHECK(oracle_move(f.oracle, c.made) == BASE_OK);
  }
  const struct batch batch = {.count = COUNT, .row = row, .size = COUNT};
  compare(oracle_all(f.oracle), w, before);
  compare(&(struct scope){.oracle = f.oracle, .of = &batch}, w, before);
  fixture_close(&f);
  coordinates_free(c.made);
}

/* Rows in memory are no stream. */
static void memory_has_numbers(void) {
  struct fixture f;
  double w[DIM] = {0};
  fixture_open(&f, "logistic", N, P, 1, ORACLE_REPLACE_ONE, 1);
  const struct engine *e = &f.oracle->engine;
  const struct batch following = {.count = COUNT, .size = COUNT, .next = 1};
  const struct ask ask = {.at = w, .along = w};
  const struct task task = {&f.oracle->model, &ask, &following}, all = {&f.oracle->model, &ask, NULL};
  CHECK(!e->kind->begin && !e->kind->end);
  CHECK(!e->kind->can(&sum_epoch_start, &task) && e->kind->can(&sum_epoch_start, &all));
  fixture_close(&f);
}
