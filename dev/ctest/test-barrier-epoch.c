/* The first leaf of an epoch, and sums of leaves in one pass each: what two passes give. */
#include "fixture.h"

enum { N = 2 * DATA_BLOCK + 131, P = 4, DIM = P + 1, COUNT = 700 };

static void both_are_each(const char *loss, int moved);
static void memory_has_numbers(void);
static double share(const char *loss, enum oracle_neighbours neighbours, const double *row, const double *y,
                    const double *w, const double *before);
static void worst_difference(double from, double to);
static void alone(enum oracle_neighbours neighbours);
static void parts(void);
static void no_difference_is_worse(const char *loss, enum oracle_neighbours neighbours);

void test_barrier_epoch(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int moved = 0; moved <= 1; moved++) {
      both_are_each("logistic", moved);
      both_are_each("sigmoid", moved);
    }
  }
  fixture_storage = FIXTURE_DENSE;
  memory_has_numbers();
  worst_difference(1.312, 1.322);
  worst_difference(0.2, 0.2001);
  worst_difference(0.2001, 0.2);
  alone(ORACLE_REPLACE_ONE);
  alone(ORACLE_ZERO_OUT);
  parts();
  for (int relation = ORACLE_REPLACE_ONE; relation <= ORACLE_ZERO_OUT; relation++) {
    no_difference_is_worse("logistic", (enum oracle_neighbours)relation);
    no_difference_is_worse("sigmoid", (enum oracle_neighbours)relation);
    no_difference_is_worse("huber_svm", (enum oracle_neighbours)relation);
  }
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
  CHECK(!e->kind->can(e, &sum_epoch_start, &task) && e->kind->can(e, &sum_epoch_start, &all));
  fixture_close(&f);
}

/* ---- sensitivity of a difference: two records of the same leaf, the others alike; p = 2 ---- */

static double share(const char *loss, enum oracle_neighbours neighbours, const double *row, const double *y,
                    const double *w, const double *before) {
  double answer[2][2], sensitivity = 0;
  for (int k = 0; k < 2; k++) {
    struct fixture f;
    double *x = base_alloc(6, sizeof *x), *labels = base_alloc(3, sizeof *labels);
    const double rows[6] = {row[2 * k], 0.3, -0.5, row[2 * k + 1], 0.4, 0.5}, responses[3] = {y[k], 1, -1};
    memcpy(x, rows, sizeof rows);
    memcpy(labels, responses, sizeof responses);
    fixture_open_rows(&f, loss, x, labels, 3, 2, 0, neighbours, 1);
    const struct batch batch = {.count = 3, .row = (size_t[]){0, 1, 2}, .size = 3};
    const struct scope s = {.oracle = f.oracle, .of = &batch, .exact = 1};
    CHECK(scope_mean(&s, &sum_difference, &(struct ask){.at = w, .along = before}, answer[k]) == BASE_OK);
    sensitivity = sensitivity_difference(&s, w, before);
    fixture_close(&f);
  }
  return hypot(answer[0][0] - answer[1][0], answer[0][1] - answer[1][1]) / sensitivity;
}

/* The same row with both responses, along the points, so that the curvatures are of opposite signs: the largest that
 * there are, and the largest that there are so near to zero. */
static void worst_difference(double from, double to) {
  const double row[4] = {1, 0, 1, 0}, y[2] = {1, -1}, w[2] = {to, 0}, before[2] = {from, 0};
  double found = share("sigmoid", ORACLE_REPLACE_ONE, row, y, w, before);
  CHECK(found > 0.999 && found <= 1);
}

static void no_difference_is_worse(const char *loss, enum oracle_neighbours neighbours) {
  double worst = 0;
  for (int i = 0; i < ctest_size(3000, 100); i++) {
    double row[4], w[2], before[2], y[2] = {fixture_sign(), fixture_sign()}, step = exp(4 * ctest_uniform() - 4);
    for (int j = 0; j < 4; j++) row[j] = 2 * ctest_normal();
    for (int j = 0; j < 2; j++) before[j] = 2 * ctest_normal(), w[j] = before[j] + step * ctest_normal();
    if (neighbours == ORACLE_ZERO_OUT) y[1] = NAN;
    double found = share(loss, neighbours, row, y, w, before);
    worst = isnan(found) ? INFINITY : fmax(worst, found);
  }
  CHECK(worst <= 1);
  CHECK(worst > 0.7);
}

/* ---- the first leaf ---- */

/* The gradient of an epoch of one leaf, and how sensitive it is. */
static double leaf_of(double *x, double *y, double length, enum oracle_neighbours neighbours, double *gradient) {
  enum { RECORDS = 8 };
  struct fixture f;
  double *rows = base_alloc(RECORDS * 2, sizeof *rows), *labels = base_alloc(RECORDS, sizeof *labels), released[2];
  struct epoch_sd both;
  memcpy(rows, x, RECORDS * 2 * sizeof *rows);
  memcpy(labels, y, RECORDS * sizeof *labels);
  fixture_open_rows(&f, "logistic", rows, labels, RECORDS, 2, 0, neighbours, 1);
  const struct epoch how = {.records = RECORDS, .leaves = 1};
  CHECK(fresh_open(f.oracle, 0.5) == BASE_OK);
  CHECK(epoch_open(f.oracle, &how, (double[]){length, 0}, released, NULL, &both) == BASE_OK);
  memcpy(gradient, f.oracle->fresh->epoch.leaves, 2 * sizeof *gradient);
  double leaf = f.oracle->fresh->epoch.leaf;
  CHECK_NEAR(both.gradient, leaf, 1e-9); /* mu = 1 */
  fixture_close(&f);
  return RECORDS * leaf;
}

/* Alone a leaf is as sensitive as a gradient at its point: two records at equal angles with it, or one along it. */
static void alone(enum oracle_neighbours neighbours) {
  int replaced = neighbours == ORACLE_REPLACE_ONE;
  const double lengths[] = {0, 1, 3, 8};
  for (int i = 0; i < 4; i++) {
    double x[16] = {0}, y[8] = {1, 1, 1, 1, 1, 1, 1, 1}, a[2], b[2], bound = 0, worst = 0;
    for (int k = 0; k <= 500; k++) {
      double cosine = replaced ? k / 500.0 : 1;
      x[0] = -cosine, x[8] = sqrt(1 - cosine * cosine);
      y[0] = 1;
      leaf_of(x, y, lengths[i], neighbours, a);
      if (replaced)
        x[8] *= -1;
      else
        y[0] = NAN;
      bound = leaf_of(x, y, lengths[i], neighbours, b);
      worst = fmax(worst, 8 * hypot(a[0] - b[0], a[1] - b[1]));
    }
    CHECK(worst <= bound && worst > 0.999 * bound);
    CHECK_NEAR(bound, fixture_logistic_change(lengths[i], replaced), 1e-6);
  }
}

/* A Hessian of zero leaves the cost to the gradient; anywhere else each has its part. */
static void parts(void) {
  struct fixture f;
  const struct epoch simple = {.records = 50, .leaves = 8, .factor = FACTOR_SQUARE_ROOT, .curvature_share = 0.2};
  fixture_open(&f, "sigmoid", N, P, 0, ORACLE_REPLACE_ONE, 1);
  const struct epoch without = {.records = 50, .leaves = 8, .factor = FACTOR_SQUARE_ROOT};
  for (int away = 0; away <= 1; away++) {
    double w[P] = {1e-6 * away};
    struct epoch_sd both = epoch_noise(f.oracle, 1, &simple, w), one = epoch_noise(f.oracle, 1, &without, w);
    CHECK_NEAR(both.gradient / one.gradient, away ? 1 / sqrt(0.8) : 1, 1e-4);
    CHECK(both.hessian > 0 && (away || both.hessian < 1e-10));
  }
  fixture_close(&f);
}
