/* Exact sums against naive ones in extended precision: the error stays below the bound that the sensitivities add. */
#include "fixture.h"
#include "la/la.h"

#include <float.h>

static void problems(const char *loss);
static void problem(const char *loss, size_t n, size_t p, int intercept, int broken, double w_norm);
static void compare(const struct fixture *f, const double *w, const double *direction);
static double claimed(struct oracle *o, double lip, double w_norm, double size);
static double claimed_products(struct oracle *o, const struct loss_bounds *b, double w_norm, double curvature);
static void bound_is_added(void);
static void same_for_any_threads(const char *loss, int intercept);
static void scratch_is_wiped(void);
static void batch_is_its_rows(const char *loss);
static void stopped(void);
static void single_is_rounded_dense(void);

enum { STEPS = 3 };
static const double steps[STEPS] = {1e-3, 1, 30};

void test_barrier_sums(void) {
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    problems("logistic");
    problems("sigmoid");
    same_for_any_threads("logistic", 1);
    same_for_any_threads("sigmoid", 0);
    bound_is_added();
    batch_is_its_rows("logistic");
    batch_is_its_rows("sigmoid");
    scratch_is_wiped();
    stopped();
  }
  single_is_rounded_dense();
}

static void problems(const char *loss) {
  for (int intercept = 0; intercept <= 1; intercept++) {
    for (int broken = 0; broken <= 1; broken++) {
      problem(loss, 1, 1, intercept, 0, 1);
      problem(loss, 40, 3, intercept, broken, 0);
      problem(loss, DATA_BLOCK, 5, intercept, broken, 1e-6);
      problem(loss, (size_t)ctest_size(3 * DATA_BLOCK + 17, DATA_BLOCK + 17), 7, intercept, broken, 4);
      problem(loss, (size_t)ctest_size(300, 70), 60, intercept, broken, 40);
      problem(loss, 300, 4, intercept, broken, 1e80);
    }
  }
  problem(loss, 100, 0, 1, 1, 2);
  if (ctest_size(1, 0)) problem(loss, 131 * DATA_BLOCK + 17, 2, 1, 1, 3); /* groups of two and three blocks */
}

static void problem(const char *loss, size_t n, size_t p, int intercept, int broken, double w_norm) {
  struct fixture f;
  size_t dim = p + (size_t)intercept;
  double *x = base_alloc(n * p, sizeof *x), *y = base_alloc(n, sizeof *y);
  double *w = base_alloc(2 * dim, sizeof *w), *direction = w + dim, norm = 0;
  for (size_t i = 0; i < n * p; i++) x[i] = ctest_normal() * exp(ctest_normal());
  for (size_t i = 0; i < n; i++) y[i] = fixture_sign();
  for (size_t i = 2; broken && p > 0 && i < n; i += 97) x[i + (i % p) * n] = i % 2 ? NAN : INFINITY;
  if (broken) y[1] = NAN;
  for (size_t j = 0; j < dim; j++) norm = hypot(norm, w[j] = ctest_normal());
  for (size_t j = 0; j < dim; j++) {
    w[j] *= w_norm / norm;
    direction[j] = ctest_normal();
  }
  fixture_open_rows(&f, loss, x, y, n, p, intercept, ORACLE_REPLACE_ONE, 1);
  compare(&f, w, direction);
  fixture_close(&f);
  base_free(w);
}

/* ---- the reference ---- */

static int is_sigmoid(struct oracle *o) { return loss_bounds_of(o->model.loss)->curv_lower > 0; }

static void reference_loss(int sigmoid, double y, long double t, long double *value, long double *d1, long double *d2) {
  long double margin = y * t, s = 1 / (1 + expl(margin)), rest = 1 / (1 + expl(-margin));
  *value = sigmoid ? s : margin > 0 ? log1pl(expl(-margin)) : log1pl(expl(margin)) - margin;
  *d1 = sigmoid ? -y * s * rest : -y * s;
  *d2 = sigmoid ? s * rest * (rest - s) : s * rest;
}

static void reference_row(const struct fixture *f, size_t i, long double *z) {
  const struct data *d = f->data;
  size_t skip = (size_t)d->intercept;
  if (skip) z[0] = d->clip[i];
  for (size_t j = 0; j < d->p; j++) z[skip + j] = d->clip[i] > 0 ? (long double)d->clip[i] * f->x[i + j * d->n] : 0;
}

struct sums {
  long double value, decrease[STEPS];
  long double gradient[64], hessian[64 * 64], products[64 * 64];
};

static void reference(const struct fixture *f, const double *w, const double *direction, struct sums *s) {
  const struct data *d = f->data;
  size_t dim = data_dim(d);
  long double z[64], value, moved, d1, d2, unused1, unused2;
  memset(s, 0, sizeof *s);
  for (size_t i = 0; i < d->n; i++) {
    long double t = 0, u = 0;
    reference_row(f, i, z);
    for (size_t j = 0; j < dim; j++) {
      t += z[j] * w[j];
      u += z[j] * direction[j];
    }
    reference_loss(is_sigmoid(f->oracle), d->y[i], t, &value, &d1, &d2);
    s->value += value / d->n;
    for (int k = 0; k < STEPS; k++) {
      reference_loss(is_sigmoid(f->oracle), d->y[i], t + steps[k] * u, &moved, &unused1, &unused2);
      s->decrease[k] += (value - moved) / d->n;
    }
    for (size_t j = 0; j < dim; j++) {
      s->gradient[j] += d1 * z[j] / d->n;
      for (size_t l = 0; l < dim; l++) {
        s->hessian[j + l * dim] += d2 * z[j] * z[l] / d->n;
        s->products[j + l * dim] += d1 * d1 * z[j] * z[l] / d->n;
      }
    }
  }
}

static double distance(size_t n, const double *got, const long double *exact) {
  long double square = 0;
  for (size_t i = 0; i < n; i++) square += (got[i] - exact[i]) * (got[i] - exact[i]);
  return (double)sqrtl(square);
}

static double norm_of(size_t n, const double *x) {
  double norm = 0;
  for (size_t i = 0; i < n; i++) norm = hypot(norm, x[i]);
  return norm;
}

static void compare(const struct fixture *f, const double *w, const double *direction) {
  static struct sums exact;
  struct oracle *o = f->oracle;
  const struct loss_bounds *b = loss_bounds_of(o->model.loss);
  size_t dim = data_dim(f->data);
  double value, gradient[64], both[65], hessian[64 * 64], products[64 * 64], decrease[STEPS];
  double norm = norm_of(dim, w), length = norm_of(dim, direction), curvature = fmax(b->curv_lower, b->curv_upper);
  reference(f, w, direction, &exact);

  CHECK(sums_value(oracle_all(o), w, &value) == BASE_OK);
  CHECK_NEAR((double)(value - exact.value), 0, claimed(o, b->lipschitz, norm, b->at_zero + b->lipschitz * norm));
  CHECK(sums_gradient(oracle_all(o), w, gradient) == BASE_OK);
  CHECK_NEAR(distance(dim, gradient, exact.gradient), 0, claimed(o, curvature, norm, b->lipschitz));
  CHECK(sums_value_gradient(oracle_all(o), w, both) == BASE_OK);
  CHECK_NEAR((double)(both[0] - exact.value), 0, claimed(o, b->lipschitz, norm, b->at_zero + b->lipschitz * norm));
  CHECK(memcmp(both + 1, gradient, dim * sizeof(double)) == 0);
  CHECK(sums_hessian(oracle_all(o), w, hessian) == BASE_OK);
  CHECK_NEAR(distance(dim * dim, hessian, exact.hessian), 0, claimed(o, b->third, norm, curvature));
  CHECK(sums_products(oracle_all(o), w, products) == BASE_OK);
  CHECK_NEAR(distance(dim * dim, products, exact.products), 0, claimed_products(o, b, norm, curvature));
  CHECK(sums_decreases(oracle_all(o), w, direction, STEPS, steps, decrease) == BASE_OK);
  for (int k = 0; k < STEPS; k++) {
    double reach = norm + steps[k] * length;
    double bound = claimed(o, b->lipschitz, norm + reach, b->at_zero + b->lipschitz * reach);
    CHECK_NEAR((double)(decrease[k] - exact.decrease[k]), 0, bound);
  }
  for (size_t j = 0; j < dim; j++)
    for (size_t l = 0; l < j; l++) CHECK(hessian[j + l * dim] == hessian[l + j * dim]);
}

/* E of barrier/bounds.c, written anew from its text; with these few columns a matrix has 64 groups too. */
static double claimed(struct oracle *o, double lip, double w_norm, double size) {
  double u = DBL_EPSILON / 2, m = ceil((double)o->engine.rows->n / DATA_BLOCK), groups = fmin(m, 64);
  int scattered = fixture_storage == FIXTURE_SPARSE || (fixture_storage == FIXTURE_CODES && o->engine.rows->p > 1);
  double dealt = fmin(ceil(m / 64), 8), longest = dealt * ceil(ceil(m / dealt) / 64);
  double additions = scattered ? DATA_BLOCK * longest + groups : DATA_BLOCK + 2 * m;
  return 2 * u * (lip * ((double)o->engine.rows->p + 3) * w_norm + (additions + 32) * size);
}

/* A square has the slope 2 L of what is squared, and twice its relative error. */
static double claimed_products(struct oracle *o, const struct loss_bounds *b, double w_norm, double curvature) {
  return claimed(o, 2 * b->lipschitz * curvature, w_norm, 2 * b->lipschitz * b->lipschitz);
}

/* What the sensitivities have beyond the exact formulas is twice this bound. */
static void bound_is_added(void) {
  struct fixture f;
  size_t n = (size_t)ctest_size(100000, 5000); /* small formulas: the bound keeps some digits of the difference */
  fixture_open(&f, "logistic", n, 2, 1, ORACLE_REPLACE_ONE, 1);
  struct oracle *o = f.oracle;
  double w[3] = {300, -400, 1200}, direction[3] = {3, 0, -4}, norm = 1300;
  double value = 2 * claimed(o, 1, norm, log(2) + norm);
  double gradient = 2 * claimed(o, 0.25, norm, 1);
  double hessian = 2 * claimed(o, 1 / (6 * sqrt(3)), norm, 0.25);
  double products = 2 * claimed_products(o, loss_bounds_of(o->model.loss), norm, 0.25);
  double decrease = 2 * claimed(o, 1, 2 * norm + 10, log(2) + norm + 10);
  double reps = 1e-17;
  CHECK_NEAR(sensitivity_value(oracle_all(o), w) - norm / (double)n, value, 1e-3 * value + reps);
  double change = model_gradient_change(&o->model, norm, 1) / (double)n;
  CHECK_NEAR(sensitivity_gradient(oracle_all(o), w) - change, gradient, 1e-3 * gradient + reps);
  CHECK_NEAR(sensitivity_hessian(oracle_all(o), w) - sqrt(2) / 4 / (double)n, hessian, 1e-3 * hessian + reps);
  CHECK_NEAR(sensitivity_products(oracle_all(o), w) - sqrt(2) / (double)n, products, 1e-3 * products + reps);
  CHECK_NEAR(sensitivity_decrease(oracle_all(o), w, direction, 2) - 20.0 / (double)n, decrease, 1e-3 * decrease + reps);
  fixture_close(&f);
}

/* Bit for bit, with blocks enough for several a group, some of them broken. */
static void same_for_any_threads(const char *loss, int intercept) {
  enum { P = 5, MOST = P + 1 };
  struct fixture f;
  size_t n = (size_t)ctest_size(150 * DATA_BLOCK + 77, 3 * DATA_BLOCK + 77);
  double w[MOST], direction[MOST];
  struct {
    double value, gradient[MOST], both[1 + MOST], hessian[MOST * MOST], decreases[STEPS];
  } answers[2];
  for (size_t j = 0; j < MOST; j++) {
    w[j] = ctest_normal();
    direction[j] = ctest_normal();
  }
  double *x = base_alloc(n * P, sizeof *x), *y = base_alloc(n, sizeof *y);
  for (size_t i = 0; i < n * P; i++) x[i] = i % 20011 == 0 ? NAN : ctest_normal();
  for (size_t i = 0; i < n; i++) y[i] = fixture_sign();
  memset(&answers, 0, sizeof answers);
  for (int k = 0; k < 2; k++) {
    base_limit_threads(1 + k);
    if (k == 0) fixture_open_rows(&f, loss, x, y, n, P, intercept, ORACLE_REPLACE_ONE, 1);
    CHECK(sums_value(oracle_all(f.oracle), w, &answers[k].value) == BASE_OK);
    CHECK(sums_gradient(oracle_all(f.oracle), w, answers[k].gradient) == BASE_OK);
    CHECK(sums_value_gradient(oracle_all(f.oracle), w, answers[k].both) == BASE_OK);
    CHECK(sums_hessian(oracle_all(f.oracle), w, answers[k].hessian) == BASE_OK);
    CHECK(sums_decreases(oracle_all(f.oracle), w, direction, STEPS, steps, answers[k].decreases) == BASE_OK);
  }
  CHECK(memcmp(&answers[0], &answers[1], sizeof answers[0]) == 0);
  base_limit_threads(64);
  fixture_close(&f);
}

/* No predictor, weight or partial sum of the records stays in memory behind an answer. */
static void scratch_is_wiped(void) {
  struct fixture f;
  double w[5] = {1, 2, 3, 4, 5}, out[25];
  fixture_open(&f, "logistic", 2 * DATA_BLOCK + 5, 4, 1, ORACLE_REPLACE_ONE, 1);
  ctest_unwiped();
  CHECK(sums_value(oracle_all(f.oracle), w, out) == BASE_OK);
  CHECK(sums_gradient(oracle_all(f.oracle), w, out) == BASE_OK);
  CHECK(sums_hessian(oracle_all(f.oracle), w, out) == BASE_OK);
  CHECK(sums_decreases(oracle_all(f.oracle), w, w, STEPS, steps, out) == BASE_OK);
  CHECK(ctest_unwiped() == 0);
  fixture_close(&f);
  CHECK(ctest_unwiped() > 0); /* it sees what is not */
}

/* A batch's sums are those of a data set of its rows, but for the divisor; of no rows, zero. */
static void batch_is_its_rows(const char *loss) {
  enum { P = 3, N = 4 * DATA_BLOCK + 5, EVERY = 3, COUNT = (N + EVERY - 1) / EVERY };
  struct fixture all, part;
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y);
  double *some = base_alloc(COUNT * P, sizeof *some), *sign = base_alloc(COUNT, sizeof *sign);
  size_t *row = base_alloc(COUNT, sizeof *row);
  double w[P + 1] = {0.5, -1, 2, 3}, direction[P + 1] = {1, 1, -2, 0};
  for (size_t i = 0; i < N * P; i++) x[i] = i % 301 == 0 ? NAN : ctest_normal();
  for (size_t i = 0; i < N; i++) y[i] = fixture_sign();
  for (size_t k = 0; k < COUNT; k++) {
    row[k] = EVERY * k;
    sign[k] = y[row[k]];
    for (size_t j = 0; j < P; j++) some[k + j * COUNT] = x[row[k] + j * N];
  }
  fixture_open_rows(&all, loss, x, y, N, P, 1, ORACLE_REPLACE_ONE, 1);
  fixture_open_rows(&part, loss, some, sign, COUNT, P, 1, ORACLE_REPLACE_ONE, 1);
  struct batch batch = {.count = COUNT, .row = row, .size = 2.5 * COUNT};
  struct {
    double value, gradient[P + 1], hessian[(P + 1) * (P + 1)], decreases[STEPS];
  } got, want;
  const double *a = &got.value, *b = &want.value;
  for (int empty = 0; empty <= 1; empty++) {
    const struct scope on_batch = {.oracle = all.oracle, .of = &batch};
    if (empty) batch.count = 0;
    CHECK(sums_value(&on_batch, w, &got.value) == BASE_OK);
    CHECK(sums_gradient(&on_batch, w, got.gradient) == BASE_OK);
    CHECK(sums_hessian(&on_batch, w, got.hessian) == BASE_OK);
    CHECK(sums_decreases(&on_batch, w, direction, STEPS, steps, got.decreases) == BASE_OK);
    if (empty) break;
    CHECK(sums_value(oracle_all(part.oracle), w, &want.value) == BASE_OK);
    CHECK(sums_gradient(oracle_all(part.oracle), w, want.gradient) == BASE_OK);
    CHECK(sums_hessian(oracle_all(part.oracle), w, want.hessian) == BASE_OK);
    CHECK(sums_decreases(oracle_all(part.oracle), w, direction, STEPS, steps, want.decreases) == BASE_OK);
    for (size_t k = 0; k < sizeof got / sizeof(double); k++) CHECK_NEAR(a[k], b[k] / 2.5, 1e-13);
    double more = N / batch.size, full = sensitivity_gradient(oracle_all(all.oracle), w);
    CHECK_NEAR(sensitivity_gradient(&on_batch, w), more * full, 1e-12 * more * full);
    /* Of a trace its rounding alone. */
    double b = loss_bounds_of(loss_find(loss))->curv_upper,
           error = sensitivity_trace(oracle_all(all.oracle), w, CURVATURE_HESSIAN) - b / N;
    CHECK_NEAR((sensitivity_trace(&on_batch, w, CURVATURE_HESSIAN) - b / batch.size) / (more * error), 1, 1e-4);
    double change = model_gradient_change(&all.oracle->model, la_norm(P + 1, w), 1);
    CHECK(sensitivity_gradient(&on_batch, w) > change / batch.size);
  }
  CHECK(fixture_all_zero(sizeof got / sizeof(double), a));
  fixture_close(&part);
  fixture_close(&all);
  base_free(row);
}

static int always(void) { return 1; }

static void stopped(void) {
  struct base_host host = {always, NULL};
  struct fixture f;
  double w[2] = {0, 0}, out[4], step = 1;
  fixture_open(&f, "logistic", 10, 2, 0, ORACLE_REPLACE_ONE, 1);
  base_set_host(&host);
  CHECK(sums_value(oracle_all(f.oracle), w, out) == BASE_ERR_STOPPED);
  CHECK(sums_gradient(oracle_all(f.oracle), w, out) == BASE_ERR_STOPPED);
  CHECK(sums_value_gradient(oracle_all(f.oracle), w, out) == BASE_ERR_STOPPED);
  CHECK(sums_hessian(oracle_all(f.oracle), w, out) == BASE_ERR_STOPPED);
  CHECK(sums_decreases(oracle_all(f.oracle), w, w, 1, &step, out) == BASE_ERR_STOPPED);
  base_set_host(NULL);
  fixture_close(&f);
}

/* To the last bit: widened tiles go through the same arithmetic. */
static void single_is_rounded_dense(void) {
  enum { N = 2 * DATA_BLOCK + 77, P = 9, DIM = P + 1 };
  struct fixture f[2];
  double w[DIM], *rounded = base_alloc(N * P, sizeof *rounded);
  struct {
    double value, gradient[DIM], hessian[DIM * DIM], decreases[STEPS];
  } answers[2];
  double trace[2];
  memset(&answers, 0, sizeof answers);
  for (size_t j = 0; j < DIM; j++) w[j] = ctest_normal();
  for (int k = 0; k < 2; k++) {
    double *x = k ? rounded : base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y);
    for (size_t i = 0; k == 0 && i < N * P; i++) x[i] = i % 2500 == 0 ? NAN : ctest_normal();
    for (size_t i = 0; i < N; i++) y[i] = i % 3 ? 1 : -1;
    fixture_storage = k ? FIXTURE_DENSE : FIXTURE_SINGLE;
    fixture_open_rows(&f[k], "sigmoid", x, y, N, P, 1, ORACLE_REPLACE_ONE, 1);
    if (k == 0) memcpy(rounded, f[0].x, N * P * sizeof *rounded);
    CHECK(sums_value(oracle_all(f[k].oracle), w, &answers[k].value) == BASE_OK);
    CHECK(sums_gradient(oracle_all(f[k].oracle), w, answers[k].gradient) == BASE_OK);
    CHECK(sums_hessian(oracle_all(f[k].oracle), w, answers[k].hessian) == BASE_OK);
    CHECK(sums_trace(oracle_all(f[k].oracle), w, CURVATURE_MAJORANT, &trace[k]) == BASE_OK);
    CHECK(sums_decreases(oracle_all(f[k].oracle), w, w, STEPS, steps, answers[k].decreases) == BASE_OK);
  }
  CHECK(f[0].x[1] == (float)f[0].x[1] && memcmp(f[0].data->clip, f[1].data->clip, N * sizeof(double)) == 0);
  CHECK(memcmp(&answers[0], &answers[1], sizeof answers[0]) == 0);
  CHECK_NEAR(trace[0], trace[1], 1e-14 * trace[1]);
  for (int k = 0; k < 2; k++) fixture_close(&f[k]);
}
