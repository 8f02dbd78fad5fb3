/*
 * Weights and offsets of records (proofs: weights-offsets): sums against naive ones in extended precision on all
 * storages and on batches, what a record moves a sum by against the sensitivity, weights of zero against null records,
 * and what is refused.
 */
#include "fixture.h"
#include "la/la.h"

enum { N = 60, P = 3, DIM = P + 1 };
#define MOST 2.5

static void sums(const char *loss, int batch);
static void neighbours_move(const char *loss, enum oracle_neighbours neighbours);
static void zero_is_null(const char *loss);
static void same_curvatures(const struct scope *s, const struct scope *other, const double *w);
static void refused(void);

void test_barrier_records(void) {
  static const char *const losses[] = {"logistic", "sigmoid", "poisson"};
  for (size_t k = 0; k < 3; k++) {
    for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
      for (int batch = 0; batch <= 1; batch++) sums(losses[k], batch);
    }
    fixture_storage = FIXTURE_DENSE;
    for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
      neighbours_move(losses[k], neighbours);
    }
    zero_is_null(losses[k]);
  }
  refused();
}

static void random_records(double *weight, double *offset) {
  for (size_t i = 0; i < N; i++) {
    weight[i] = i % 5 == 0 ? (double)(i % 2) : ctest_uniform();
    offset[i] = i % 7 == 0 ? (i % 2 ? 9 : -9) : MOST * (2 * ctest_uniform() - 1);
  }
}

static double eval(const struct fixture *f, double y, double t, double *d1) {
  double value;
  loss_eval(f->oracle->model.loss, 1, &y, &t, &value, d1, NULL);
  return value;
}

/* The mean of v l(y, t + o) + (1 - v) l(0, 0), and of its gradient, of these rows. */
static double reference(const struct fixture *f, const double *weight, const double *offset, const double *w,
                        size_t count, const size_t *row, double *g) {
  long double value = 0, gradient[DIM] = {0};
  for (size_t k = 0; k < count; k++) {
    size_t i = row ? row[k] : k;
    const struct data *d = f->data;
    int null = !(d->clip[i] > 0);
    double z[DIM] = {d->clip[i]}, t = 0, d1, v = null ? 1 : weight[i];
    for (size_t j = 0; j < P; j++) z[j + 1] = null ? 0 : d->clip[i] * f->x[i + j * d->n];
    for (size_t j = 0; j < DIM; j++) t += z[j] * w[j];
    if (!null) t += fmax(-MOST, fmin(offset[i], MOST));
    value += v * eval(f, d->y[i], t, &d1) + (1 - v) * eval(f, 0, 0, NULL);
    for (size_t j = 0; j < DIM; j++) gradient[j] += v * d1 * z[j];
  }
  for (size_t j = 0; j < DIM; j++) g[j] = (double)(gradient[j] / count);
  return (double)(value / count);
}

static void sums(const char *loss, int batch) {
  struct fixture f;
  double weight[N], offset[N], w[DIM] = {0.4, -1, 2, 0.3}, g[DIM], got[DIM], value;
  size_t row[] = {1, 5, 6, 20, 21, 40, 59}, count = batch ? 7 : N;
  fixture_open(&f, loss, N, P, 1, ORACLE_REPLACE_ONE, 1);
  random_records(weight, offset);
  CHECK(oracle_set_weights(f.oracle, weight, offset, MOST) == BASE_OK);
  const struct batch of = {.count = count, .row = row, .size = (double)count};
  const struct scope s = {.oracle = f.oracle, .of = batch ? &of : NULL};
  double want = reference(&f, weight, offset, w, count, batch ? row : NULL, g);
  CHECK(sums_value(&s, w, &value) == BASE_OK && sums_gradient(&s, w, got) == BASE_OK);
  CHECK_NEAR(value, want, 1e-13);
  for (size_t j = 0; j < DIM; j++) CHECK_NEAR(got[j], g[j], 1e-13);
  fixture_close(&f);
}

/* One record becomes any other, with another weight and offset, or a null record: no sum moves by more. */
static void neighbours_move(const char *loss, enum oracle_neighbours neighbours) {
  struct fixture f;
  double weight[N], offset[N], w[DIM], before[DIM], after[DIM], value[2], worst = 0;
  fixture_open(&f, loss, N, P, 1, neighbours, 1);
  random_records(weight, offset);
  CHECK(oracle_set_weights(f.oracle, weight, offset, MOST) == BASE_OK);
  struct data *d = f.data;
  for (int k = 0; k < 200; k++) {
    for (size_t j = 0; j < DIM; j++) w[j] = ctest_normal() * (k % 3);
    const struct scope s = {.oracle = f.oracle};
    const struct ask ask = {.at = w};
    size_t i = (size_t)k % N;
    CHECK(sums_value(&s, w, &value[0]) == BASE_OK && sums_gradient(&s, w, before) == BASE_OK);
    double old[] = {d->clip[i], d->y[i], d->weight[i], d->offset[i]};
    if (neighbours == ORACLE_ZERO_OUT) {
      d->clip[i] = d->y[i] = d->offset[i] = 0;
      d->weight[i] = 1;
    } else {
      d->y[i] = -d->y[i];
      d->weight[i] = k % 2;
      d->offset[i] = k % 4 < 2 ? MOST : -MOST;
    }
    CHECK(sums_value(&s, w, &value[1]) == BASE_OK && sums_gradient(&s, w, after) == BASE_OK);
    double square = 0, moved = fabs(value[1] - value[0]);
    for (size_t j = 0; j < DIM; j++) square += pow(after[j] - before[j], 2);
    CHECK(moved <= query_value.sensitivity(&s, &ask, 0));
    CHECK(sqrt(square) <= query_gradient.sensitivity(&s, &ask, 0));
    worst = fmax(worst, moved / query_value.sensitivity(&s, &ask, 0));
    d->clip[i] = old[0], d->y[i] = old[1], d->weight[i] = old[2], d->offset[i] = old[3];
  }
  CHECK(worst > 0.2); /* and the bound is one that is of use */
  fixture_close(&f);
}

static void zero_is_null(const char *loss) {
  struct fixture f, null;
  double weight[N], w[DIM] = {1, 2, -1, 0.5}, g[DIM], want[DIM], value[2];
  fixture_open(&f, loss, N, P, 1, ORACLE_REPLACE_ONE, 1);
  double *x = base_alloc(N * P, sizeof(double)), *y = base_alloc(N, sizeof(double));
  memcpy(x, f.x, N * P * sizeof(double));
  for (size_t i = 0; i < N; i++) {
    weight[i] = i % 3 > 0;
    y[i] = weight[i] > 0 ? f.y[i] : NAN;
  }
  fixture_open_rows(&null, loss, x, y, N, P, 1, ORACLE_REPLACE_ONE, 1);
  CHECK(oracle_set_weights(f.oracle, weight, NULL, 0) == BASE_OK);
  const struct scope s = {.oracle = f.oracle}, other = {.oracle = null.oracle};
  CHECK(sums_value(&s, w, &value[0]) == BASE_OK && sums_value(&other, w, &value[1]) == BASE_OK);
  CHECK(sums_gradient(&s, w, g) == BASE_OK && sums_gradient(&other, w, want) == BASE_OK);
  CHECK_NEAR(value[0], value[1], 1e-14);
  for (size_t j = 0; j < DIM; j++) CHECK_NEAR(g[j], want[j], 1e-14);
  same_curvatures(&s, &other, w);
  fixture_close(&f);
  fixture_close(&null);
}

/* Hessians, and majorants where the loss is convex. */
static void same_curvatures(const struct scope *s, const struct scope *other, const double *w) {
  const struct query *const queries[] = {&query_hessian, &query_majorant};
  const struct ask ask = {.at = w};
  double h[DIM * DIM], want[DIM * DIM];
  for (size_t k = 0; k <= (loss_bounds_of(s->oracle->model.loss)->curv_lower == 0); k++) {
    CHECK(scope_mean(s, &queries[k]->sum, &ask, h) == BASE_OK);
    CHECK(scope_mean(other, &queries[k]->sum, &ask, want) == BASE_OK);
    for (size_t j = 0; j < DIM * DIM; j++) CHECK_NEAR(h[j], want[j], 1e-13);
  }
}

/* Weights outside of [0, 1] are moved into it; once only, and of a loss of several predictors no offsets. */
static void refused(void) {
  struct fixture f;
  double weight[N], offset[N] = {0};
  for (size_t i = 0; i < N; i++) weight[i] = i % 2 ? 7 : -7;
  weight[0] = offset[0] = NAN;
  fixture_open(&f, "logistic", N, P, 1, ORACLE_REPLACE_ONE, 1);
  CHECK(oracle_set_weights(f.oracle, weight, offset, INFINITY) == BASE_ERR_ARGUMENT);
  CHECK(oracle_set_weights(f.oracle, weight, offset, 1) == BASE_OK);
  for (size_t i = 0; i < N; i++) CHECK(f.data->weight[i] >= 0 && f.data->weight[i] <= 1 && f.data->offset[i] == 0);
  CHECK(oracle_set_weights(f.oracle, weight, NULL, 0) == BASE_ERR_ARGUMENT);
  fixture_close(&f);
}
