/* Damped rows, also with records' weights: their sums are those of a plain loop, and what is refused of them (proofs:
 * damped-rows). How sensitive they are: test-barrier-weighted.c. */
#include "fixture.h"

enum { ROWS = 2500, P = 5, MOST = P + 1, STEPS = 3 };

static void damped_rows(const char *loss, int intercept);
static void refused_damped(void);

void test_barrier_damped(void) {
  static const char *const losses[] = {"logistic", "sigmoid", "bounded_logistic"};
  for (fixture_storage = 0; fixture_storage < FIXTURE_STORAGES; fixture_storage++) {
    for (int k = 0; k < 6; k++) damped_rows(losses[k / 2], k % 2);
  }
  fixture_storage = FIXTURE_DENSE;
  refused_damped();
}

static void damp(const struct fixture *f, struct fixture_coordinates *c, double bound) {
  coordinates_free(c->made);
  c->spec.damped = 1;
  c->spec.bound = bound;
  CHECK(coordinates_create(&c->spec, &c->made) == BASE_OK);
  CHECK(oracle_move(f->oracle, c->made) == BASE_OK);
}

/* weight: of each record, or NULL. */
static void open_damped(struct fixture *f, struct fixture_coordinates *c, const char *loss, int intercept,
                        const double *weight) {
  double *x = base_alloc(ROWS * P, sizeof *x), *y = base_alloc(ROWS, sizeof *y);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < P; j++) x[i + j * ROWS] = i % 391 == 5 ? NAN : ctest_normal();
    y[i] = i % 401 == 6 ? NAN : fixture_sign();
  }
  fixture_open_rows(f, loss, x, y, ROWS, P, intercept, ORACLE_REPLACE_ONE, 100);
  CHECK(fixture_coordinates(f->data, 4, 1, 1.3, 1, c) == BASE_OK);
  if (weight) CHECK(oracle_set_weights(f->oracle, weight, NULL, 0) == BASE_OK);
  damp(f, c, 1.1 * loss_bounds_of(loss_find(loss))->lipschitz);
}

/* Gradient, Hessian and products of a plain loop. Some slopes are clipped, before they are weighted, and some rows
 * weigh less than others. */
static void damped_rows(const char *loss, int intercept) {
  double own[ROWS];
  size_t clipped = 0;
  struct fixture f;
  struct fixture_coordinates c;
  double w[MOST], g[MOST], h[MOST * MOST], j[MOST * MOST], worst = 0, longest = 0;
  long double want_g[MOST] = {0}, want_h[MOST * MOST] = {0}, want_j[MOST * MOST] = {0};
  for (size_t i = 0; i < ROWS; i++) own[i] = ctest_uniform();
  open_damped(&f, &c, loss, intercept, intercept ? own : NULL);
  size_t dim = data_dim(f.data);
  for (size_t k = 0; k < dim; k++) w[k] = ctest_normal();
  for (size_t i = 0; i < ROWS; i++) {
    long double z[MOST], t = 0;
    double norm = (double)fixture_moved(f.data, f.x, &c.spec, i, z), d1, d2, predictor;
    if (f.data->clip[i] == 0) continue;
    for (size_t k = 0; k < dim; k++) t += z[k] * w[k];
    predictor = (double)t;
    loss_eval(loss_find(loss), 1, &f.y[i], &predictor, NULL, &d1, &d2);
    double weight = fmin(1, pow(c.spec.cap / norm, 2)), most = c.spec.bound / norm;
    clipped += fabs(d1) > most;
    d1 = fmax(-most, fmin(d1, most));
    if (intercept) {
      d1 *= own[i];
      weight *= own[i];
    }
    longest = fmax(longest, norm);
    for (size_t a = 0; a < dim; a++) {
      want_g[a] += d1 * z[a] / ROWS;
      for (size_t b = 0; b < dim; b++) {
        want_h[a + b * dim] += weight * d2 * z[a] * z[b] / ROWS;
        want_j[a + b * dim] += d1 * d1 * z[a] * z[b] / ROWS;
      }
    }
  }
  CHECK(sums_gradient(oracle_all(f.oracle), w, g) == BASE_OK);
  CHECK(sums_hessian(oracle_all(f.oracle), w, h) == BASE_OK);
  CHECK(sums_products(oracle_all(f.oracle), w, j) == BASE_OK);
  for (size_t a = 0; a < dim; a++) worst = fmax(worst, (double)fabsl(g[a] - want_g[a]));
  for (size_t a = 0; a < dim * dim; a++) {
    worst = fmax(worst, (double)fmaxl(fabsl(h[a] - want_h[a]), fabsl(j[a] - want_j[a])));
  }
  CHECK(worst <= 1e-10);
  CHECK(longest > 2 && clipped > 20);
  fixture_close(&f);
  coordinates_free(c.made);
}

/* Only gradients, Hessians and products, without a tilt; not values, nor minimisers. */
static void refused_damped(void) {
  double w[MOST] = {0.1, 1, -1}, answer[MOST * MOST], sd[STEPS], quadratic[MOST] = {1, 1, 1, 1, 1, 1}, none[MOST] = {0};
  static const double steps[STEPS] = {2, 1, 0.25};
  const struct oracle_newton how = {CURVATURE_MAJORANT, MODIFY_ADD, 1, none};
  struct coordinates *made = NULL;
  struct fixture f;
  struct fixture_coordinates c;
  open_damped(&f, &c, "logistic", 1, NULL);
  struct oracle *o = f.oracle;
  CHECK(oracle_value(o, w, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_majorant(o, w, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_trace(o, w, CURVATURE_HESSIAN, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_model_gradient(o, w, w, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_newton_direction(o, w, w, &how, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_decreases(o, w, w, STEPS, steps, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_minimiser(o, quadratic, 0.1, answer, sd) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);
  CHECK(oracle_hessian(o, w, 0.1, answer, sd) == BASE_OK);
  CHECK(oracle_products(o, w, 0.1, answer, sd) == BASE_OK);
  CHECK(ledger_length(f.ledger) == 2);
  for (size_t j = 0; j < P; j++) c.end[j] = fixture_end(c.centre[j], 1);
  for (int k = 0; k < 2; k++) {
    struct coordinates_spec spec = c.spec;
    spec.weighted = k != 0;
    spec.cap = k == 0 ? 1 : spec.cap;
    spec.tilt = k == 1 ? 0.1 : 0;
    spec.shortest = 1;
    spec.end = c.end;
    CHECK(coordinates_create(&spec, &made) == BASE_ERR_ARGUMENT);
  }
  fixture_close(&f);
  coordinates_free(c.made);
}
