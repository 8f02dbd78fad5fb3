/* Answers in other coordinates of the rows: of clipped rows those about rows that were mapped by hand, of weighted ones
 * those of a plain loop; what is refused, and what is forgotten. */
#include "fixture.h"

enum { ROWS = 2500, P = 5, MOST = P + 1, STEPS = 3 };
static const double steps[STEPS] = {2, 1, 0.25};

static void clipped_rows(const char *loss, int intercept, int zero_out);
static void weighted_rows(const char *loss, int intercept, double tilt);
static void refused(void);
static void refused_moved(const char *loss);
static void refused_still(void);
static void forgotten(void);
static void batches(void);
static void tilts(void);

void test_barrier_coordinates(void) {
  static const char *const losses[] = {"logistic", "sigmoid", "bounded_logistic", "huber_svm"};
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int k = 0; k < 4; k++) {
      clipped_rows(losses[k], k % 2, k > 1);
      clipped_rows(losses[k], !(k % 2), k <= 1);
      if (k != 1) weighted_rows(losses[k], k % 2, 0);
      if (k != 1) weighted_rows(losses[k], !(k % 2), 0);
    }
  }
  fixture_storage = FIXTURE_DENSE;
  refused();
  forgotten();
  batches();
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    weighted_rows("logistic", 1, 0.4);
    weighted_rows("logistic", 0, -0.3);
    for (int intercept = 0; intercept <= 1; intercept++) weighted_rows("sigmoid", intercept, 0);
  }
  fixture_storage = FIXTURE_DENSE;
  tilts();
}

/* Some of the records are null. */
static void open_moved(struct fixture *f, struct fixture_coordinates *c, const char *loss, int intercept, int weighted,
                       double tilt, enum oracle_neighbours neighbours) {
  double *x = base_alloc(ROWS * P, sizeof *x), *y = base_alloc(ROWS, sizeof *y);
  for (size_t i = 0; i < ROWS; i++) {
    double size = exp(3 * ctest_uniform() - 2.5);
    for (size_t j = 0; j < P; j++) x[i + j * ROWS] = i % 391 == 5 ? NAN : size * ctest_normal();
    y[i] = i % 401 == 6 ? NAN : fixture_sign();
  }
  fixture_open_rows(f, loss, x, y, ROWS, P, intercept, neighbours, 100);
  CHECK(fixture_coordinates(f->data, 1, weighted, weighted ? 1.3 : 1, 0.6, c) == BASE_OK);
  if (tilt != 0) CHECK(fixture_tilt(f->data, tilt, 0.9, c) == BASE_OK);
  CHECK(oracle_move(f->oracle, c->made) == BASE_OK);
}

static void close_moved(struct fixture *f, struct fixture_coordinates *c) {
  fixture_close(f);
  coordinates_free(c->made);
}

/* ---- clipped rows ---- */

struct answers {
  double value, gradient[MOST], both[1 + MOST], model[MOST], decrease[STEPS], hessian[MOST * MOST];
  double majorant[MOST * MOST], minimiser[MOST];
};

static void ask(struct oracle *o, const char *loss, const double *w, const double *along, struct answers *a) {
  struct scope *s = oracle_all(o);
  double quadratic[MOST], zero[MOST] = {0};
  struct strong problem;
  for (size_t j = 0; j < MOST; j++) quadratic[j] = 0.3;
  memset(a, 0, sizeof *a);
  CHECK(sums_value(s, w, &a->value) == BASE_OK);
  CHECK(sums_gradient(s, w, a->gradient) == BASE_OK);
  CHECK(sums_value_gradient(s, w, a->both) == BASE_OK);
  CHECK(sums_decreases(s, w, along, STEPS, steps, a->decrease) == BASE_OK);
  CHECK(sums_majorant(s, w, a->majorant) == BASE_OK);
  if (strcmp(loss, "huber_svm") == 0) return; /* l'' jumps */
  CHECK(sums_model_gradient(s, w, along, a->model) == BASE_OK);
  CHECK(sums_hessian(s, w, a->hessian) == BASE_OK);
  if (strcmp(loss, "sigmoid") == 0) return; /* not convex */
  CHECK(strong_init(s, quadratic, zero, 0, &problem) == BASE_OK);
  CHECK(strong_minimise(s, &problem, a->minimiser) == BASE_OK);
}

/* The same of both but for rounding: answers, and sensitivities. */
static void clipped_rows(const char *loss, int intercept, int zero_out) {
  struct fixture f, plain;
  struct fixture_coordinates c;
  struct answers moved, by_hand;
  double w[MOST], along[MOST], worst = 0;
  open_moved(&f, &c, loss, intercept, 0, 0, zero_out ? ORACLE_ZERO_OUT : ORACLE_REPLACE_ONE);
  size_t dim = data_dim(f.data);
  double *z = base_alloc(ROWS * dim, sizeof *z), *y = base_alloc(ROWS, sizeof *y);
  for (size_t i = 0; i < ROWS; i++) {
    long double row[MOST];
    fixture_moved(f.data, f.x, &c.spec, i, row);
    for (size_t j = 0; j < dim; j++) z[i + j * ROWS] = (double)row[j];
    y[i] = f.data->clip[i] > 0 ? f.y[i] : NAN;
  }
  enum fixture_storage storage = fixture_storage;
  fixture_storage = FIXTURE_DENSE;
  fixture_open_rows(&plain, loss, z, y, ROWS, dim, 0, f.oracle->neighbours, 100);
  fixture_storage = storage;
  for (size_t j = 0; j < dim; j++) {
    w[j] = ctest_normal();
    along[j] = ctest_normal();
  }
  ask(f.oracle, loss, w, along, &moved);
  ask(plain.oracle, loss, w, along, &by_hand);
  const double *a = (const double *)&moved, *b = (const double *)&by_hand;
  for (size_t i = 0; i < sizeof moved / sizeof *a; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  CHECK(worst <= 1e-9);
  CHECK(!fixture_all_zero(dim, moved.gradient));
  struct scope *s = oracle_all(f.oracle), *t = oracle_all(plain.oracle);
  CHECK_NEAR(sensitivity_value(s, w) / sensitivity_value(t, w), 1, 1e-6);
  CHECK_NEAR(sensitivity_gradient(s, w) / sensitivity_gradient(t, w), 1, 1e-6);
  CHECK(sensitivity_gradient(s, w) > sensitivity_gradient(t, w)); /* more rounding */
  if (strcmp(loss, "huber_svm") != 0) {
    CHECK_NEAR(sensitivity_hessian(s, w) / sensitivity_hessian(t, w), 1, 1e-6);
    CHECK_NEAR(sensitivity_model_gradient(s, w, along) / sensitivity_model_gradient(t, w, along), 1, 1e-6);
  }
  fixture_close(&plain);
  close_moved(&f, &c);
}

/* ---- weighted rows ---- */

/* s(m) of a logistic loss whose slope is at most c (proofs: bounded-slope). */
static double bounded_slope(double c, double m) {
  double h = c - 0.5, k = 1 / (4 * h);
  if (c >= 1) return 1 / (1 + exp(m));
  return (c - h * exp(-k * fabs(m))) * exp(-fmax(m, 0));
}

static double slope_of(const char *loss, double norm, double bound, double y, double t) {
  double d1 = 0, least = loss_bounds_of(loss_find(loss))->lipschitz;
  if (strcmp(loss, "logistic") == 0) {
    least = 0.51;
    d1 = -y * bounded_slope(fmin(1, fmax(0.51, bound / norm)), y * t);
  } else {
    loss_eval(loss_find(loss), 1, &y, &t, NULL, &d1, NULL);
  }
  return fmin(1, bound / (least * norm)) * d1;
}

/* Its expectation is zero where t is the true log-odds. */
static double tilted_slope(const char *loss, double length, const struct coordinates_spec *s, double y, double t) {
  double tilt = y > 0 ? s->tilt : -s->tilt;
  return (1 + tilt) * slope_of(loss, length, s->bound, y, t + log((1 + s->tilt) / (1 - s->tilt)));
}

static double weight_of(const char *loss, double norm, const struct coordinates_spec *s) {
  double least = strcmp(loss, "logistic") == 0 ? 0.51 : loss_bounds_of(loss_find(loss))->lipschitz;
  return fmin(fmin(1, s->bound / (least * norm)), pow(s->cap / norm, 2));
}

static void weighted_rows(const char *loss, int intercept, double tilt) {
  struct fixture f;
  struct fixture_coordinates c;
  double w[MOST], g[MOST], h[MOST * MOST], worst = 0, longest = 0;
  long double want_g[MOST] = {0}, want_h[MOST * MOST] = {0};
  open_moved(&f, &c, loss, intercept, 1, tilt, ORACLE_REPLACE_ONE);
  size_t dim = data_dim(f.data);
  for (size_t j = 0; j < dim; j++) w[j] = ctest_normal();
  for (size_t i = 0; i < ROWS; i++) {
    long double z[MOST], t = 0;
    double norm = (double)fixture_moved(f.data, f.x, &c.spec, i, z);
    if (f.data->clip[i] == 0) continue;
    if (tilt != 0) norm = f.data->length[i];
    for (size_t j = 0; j < dim; j++) t += z[j] * w[j];
    double slope = tilted_slope(loss, norm, &c.spec, f.y[i], (double)t), weight = weight_of(loss, norm, &c.spec);
    double other = tilted_slope(loss, norm, &c.spec, -f.y[i], (double)t), odds = exp(-f.y[i] * (double)t);
    if (strcmp(loss, "logistic") == 0) CHECK_NEAR(slope + odds * other, 0, 1e-12 * (1 + odds));
    longest = fmax(longest, fabs(slope) * norm);
    for (size_t j = 0; j < dim; j++) {
      want_g[j] += slope * z[j] / ROWS;
      for (size_t k = 0; k < dim; k++) want_h[j + k * dim] += weight * z[j] * z[k] / ROWS;
    }
  }
  CHECK(sums_gradient(oracle_all(f.oracle), w, g) == BASE_OK);
  CHECK(sums_weighted(oracle_all(f.oracle), h) == BASE_OK);
  for (size_t j = 0; j < dim; j++) worst = fmax(worst, (double)fabsl(g[j] - want_g[j]));
  for (size_t j = 0; j < dim * dim; j++) worst = fmax(worst, (double)fabsl(h[j] - want_h[j]));
  CHECK(worst <= 1e-10);
  CHECK(longest <= (1 + fabs(tilt)) * c.spec.bound * (1 + 1e-12));
  CHECK(longest > 0.5 * c.spec.bound);
  close_moved(&f, &c);
}

/* ---- refusals: before a charge, and public ---- */

static void refused(void) {
  refused_moved("logistic");
  refused_moved("sigmoid");
  refused_still();
}

static void refused_moved(const char *loss) {
  double w[MOST] = {0.1, 1, -1}, most[P] = {1, 0, 0.5, 0, 1}, answer[MOST * MOST], sd[STEPS];
  double quadratic[MOST] = {1, 1, 1, 1, 1, 1}, offset[STEPS] = {0}, none[MOST] = {0};
  const struct oracle_newton how = {CURVATURE_MAJORANT, MODIFY_ADD, 1, none};
  for (int weighted = 0; weighted <= 1; weighted++) {
    struct fixture f;
    struct fixture_coordinates c;
    size_t index;
    open_moved(&f, &c, loss, 1, weighted, 0, ORACLE_REPLACE_ONE);
    struct oracle *o = f.oracle;
    int expected = weighted ? BASE_ERR_ARGUMENT : BASE_OK, convex = loss_bounds_of(loss_find(loss))->curv_lower == 0;
    int curved = convex ? expected : BASE_ERR_ARGUMENT;
    CHECK(isinf(oracle_curv_lower(o)) == (weighted && !convex));
    CHECK(oracle_moments(o, most, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
    CHECK(oracle_trace(o, w, CURVATURE_HESSIAN, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
    CHECK(oracle_move(o, c.made) == BASE_ERR_ARGUMENT);
    CHECK(oracle_weighted(o, w, 0.1, answer, sd) == (weighted ? BASE_OK : BASE_ERR_ARGUMENT));
    CHECK(oracle_gradient(o, w, 0.1, answer, sd) == BASE_OK);
    CHECK(ledger_length(f.ledger) == 1 + (size_t)weighted);
    CHECK(oracle_value(o, w, 0.1, answer, sd) == expected);
    CHECK(oracle_hessian(o, w, 0.1, answer, sd) == expected);
    CHECK(oracle_majorant(o, w, 0.1, answer, sd) == expected);
    CHECK(oracle_model_gradient(o, w, w, 0.1, answer, sd) == expected);
    CHECK(oracle_newton_direction(o, w, w, &how, 0.1, answer, sd) == expected);
    CHECK(oracle_decreases(o, w, w, STEPS, steps, 0.1, answer, sd) == expected);
    CHECK(oracle_minimiser(o, quadratic, 0.1, answer, sd) == curved);
    CHECK(ledger_length(f.ledger) == (weighted ? 2 : convex ? 8 : 7));
    CHECK(ledger_create(10, 10, LEDGER_ZCDP, &o->ledger) == BASE_OK);
    CHECK(oracle_first_step(o, w, w, STEPS, steps, offset, 1, 0.1, &index) == expected);
    CHECK(oracle_best_step(o, w, w, STEPS, steps, offset, 0.1, &index) == expected);
    CHECK(ledger_length(o->ledger) == (weighted ? 0 : 2));
    ledger_free(o->ledger);
    close_moved(&f, &c);
  }
}

static void refused_still(void) {
  double w[MOST] = {0.1, 1, -1}, most[P] = {1, 0, 0.5, 0, 1}, answer[MOST * MOST], sd[STEPS];
  struct fixture f;
  fixture_open(&f, "logistic", 50, P, 1, ORACLE_REPLACE_ONE, 10);
  CHECK(oracle_weighted(f.oracle, w, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  CHECK(isinf(sensitivity_weighted(oracle_all(f.oracle))));
  for (int k = 0; k < 3; k++) {
    most[1] = (double[]){-0.1, 1.1, NAN}[k];
    CHECK(oracle_moments(f.oracle, most, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  }
  CHECK(ledger_length(f.ledger) == 0);
  fixture_close(&f);
}

/* The sign of a slope is not that of the response for all losses, and a logistic loss has one. */
static void tilts(void) {
  static const char *const losses[] = {"huber", "huber_svm", "bounded_logistic", "poisson", "logistic"};
  for (int k = 0; k < 5; k++) {
    struct fixture f;
    struct fixture_coordinates c;
    fixture_open(&f, losses[k], 50, P, 1, ORACLE_REPLACE_ONE, 10);
    CHECK(fixture_coordinates(f.data, 1, 1, 1, 1, &c) == BASE_OK);
    CHECK(fixture_tilt(f.data, 0.1, 1, &c) == BASE_OK);
    CHECK(oracle_move(f.oracle, c.made) == (k < 4 ? BASE_ERR_ARGUMENT : BASE_OK));
    close_moved(&f, &c);
  }
}

/* What was kept is in coordinates that are no more. */
static void forgotten(void) {
  struct fixture f;
  struct fixture_coordinates c;
  double w[MOST] = {1}, answer[MOST * MOST], sd;
  fixture_open(&f, "logistic", 50, P, 1, ORACLE_REPLACE_ONE, 10);
  CHECK(oracle_gradient(f.oracle, w, 0.1, answer, &sd) == BASE_OK);
  CHECK(oracle_hessian(f.oracle, w, 0.1, answer, &sd) == BASE_OK);
  CHECK(oracle_kept(f.oracle, KEEP_GRADIENT) && oracle_kept(f.oracle, KEEP_MATRIX));
  CHECK(fixture_coordinates(f.data, 1, 1, 1, 1, &c) == BASE_OK);
  CHECK(oracle_move(f.oracle, c.made) == BASE_OK);
  CHECK(!oracle_kept(f.oracle, KEEP_GRADIENT) && !oracle_kept(f.oracle, KEEP_MATRIX));
  close_moved(&f, &c);
}

/* Of clipped rows like those of other rows, also when a copy by rows was made before; of weighted ones none. */
static void batches(void) {
  const struct sampling how = {SCHEME_FIXED, 400};
  double w[MOST] = {0.3, 2, -1}, g[MOST], sd;
  for (int weighted = 0; weighted <= 1; weighted++) {
    struct fixture f;
    struct fixture_coordinates c;
    struct ledger *ledger;
    fixture_open(&f, "logistic", 600, P, 1, ORACLE_REPLACE_ONE, 10);
    CHECK(ledger_create_renyi(8, 10, &ledger) == BASE_OK);
    f.oracle->ledger = ledger;
    CHECK(oracle_step_open(f.oracle, &how, w, 0.1, 0) == BASE_OK);
    CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_OK);
    CHECK(f.oracle->records);
    CHECK(fixture_coordinates(f.data, 4, weighted, 1, 1, &c) == BASE_OK);
    CHECK(oracle_move(f.oracle, c.made) == BASE_OK);
    CHECK(!f.oracle->records && oracle_step_left(f.oracle) == 0);
    size_t charges = ledger_length(ledger);
    CHECK(oracle_step_open(f.oracle, &how, w, 0.1, 0) == (weighted ? BASE_ERR_ARGUMENT : BASE_OK));
    CHECK(ledger_length(ledger) == charges + !weighted);
    CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == (weighted ? BASE_ERR_ARGUMENT : BASE_OK));
    if (!weighted) {
      double want[MOST] = {0}, exact[MOST];
      for (size_t i = 0; i < f.oracle->batch.count; i++) {
        long double z[MOST], t = 0;
        size_t row = f.oracle->batch.row[i];
        CHECK(fixture_moved(f.data, f.x, &c.spec, row, z) <= 1);
        for (size_t j = 0; j < MOST; j++) t += z[j] * w[j];
        double slope = -f.y[row] / (1 + exp(f.y[row] * (double)t));
        for (size_t j = 0; j < MOST; j++) want[j] += slope * (double)z[j] / 400;
      }
      CHECK(sums_gradient(oracle_step(f.oracle), w, exact) == BASE_OK);
      for (size_t j = 0; j < MOST; j++) CHECK_NEAR(exact[j], want[j], 1e-12);
    }
    oracle_step_close(f.oracle);
    close_moved(&f, &c);
    ledger_free(ledger);
  }
}
