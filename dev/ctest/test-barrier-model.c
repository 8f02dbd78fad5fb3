/* The model's gradient: gradient + Hessian times v, its sensitivity against neighbours, charge, refusals. */
#include "fixture.h"
#include "la/la.h"

enum { DIM = 4, N = 7 };

static void is_the_sum_of_both(void) {
  static const char *const losses[] = {"logistic", "sigmoid"};
  for (int k = 0; k < 4; k++) {
    struct fixture f;
    double w[DIM + 1], v[DIM + 1], h[(DIM + 1) * (DIM + 1)], g[DIM + 1], expected[DIM + 1], sd;
    fixture_open(&f, losses[k % 2], DATA_BLOCK + 300, DIM, k / 2, ORACLE_REPLACE_ONE, 1e40);
    size_t dim = data_dim(f.data);
    for (size_t j = 0; j < dim; j++) {
      w[j] = ctest_normal();
      v[j] = 3 * ctest_normal();
    }
    CHECK(sums_hessian(oracle_all(f.oracle), w, h) == BASE_OK && sums_gradient(oracle_all(f.oracle), w, g) == BASE_OK);
    la_matvec(dim, dim, h, dim, v, expected);
    la_axpy(dim, 1, g, expected);
    CHECK(oracle_model_gradient(f.oracle, w, v, 1e26, g, &sd) == BASE_OK);
    for (size_t j = 0; j < dim; j++) CHECK_NEAR(g[j], expected[j], 1e-12);
    fixture_close(&f);
  }
}

static void exact(const double *x, const double *y, const char *loss, const double *w, const double *v, double *g) {
  double *rows = base_alloc(N * DIM, sizeof *rows), *labels = base_alloc(N, sizeof *labels);
  memcpy(rows, x, N * DIM * sizeof *rows);
  memcpy(labels, y, N * sizeof *labels);
  struct fixture f;
  fixture_open_rows(&f, loss, rows, labels, N, DIM, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(sums_model_gradient(oracle_all(f.oracle), w, v, g) == BASE_OK);
  fixture_close(&f);
}

/* Random and opposite neighbours never move it further; some move it much of the way. */
static void neighbours_are_bounded(const char *loss, enum oracle_neighbours relation) {
  struct fixture f;
  double closest = 0;
  fixture_open(&f, loss, N, DIM, 0, relation, 1);
  for (int k = 0; k < 400; k++) {
    double x[2][N * DIM], y[2][N], w[DIM], v[DIM], g[2][DIM], far = pow(10, k % 4 - 1);
    for (int j = 0; j < DIM; j++) {
      w[j] = 3 * ctest_normal();
      v[j] = far * ctest_normal();
    }
    for (int i = 0; i < N * DIM; i++) x[0][i] = x[1][i] = 3 * ctest_normal();
    for (int i = 0; i < N; i++) y[0][i] = y[1][i] = fixture_sign();
    for (int j = 0; j < DIM; j++) x[1][j * N] = (k % 3 ? -1 : 1) * x[0][j * N] + 0.3 * ctest_normal();
    if (k % 2) y[1][0] = -y[0][0];
    if (relation == ORACLE_ZERO_OUT) y[1][0] = NAN;
    for (int s = 0; s < 2; s++) exact(x[s], y[s], loss, w, v, g[s]);
    la_axpy(DIM, -1, g[0], g[1]);
    double bound = sensitivity_model_gradient(oracle_all(f.oracle), w, v);
    CHECK(la_norm(DIM, g[1]) <= bound);
    closest = fmax(closest, la_norm(DIM, g[1]) / bound);
  }
  CHECK(closest > 0.35);
  fixture_close(&f);
}

static void charge_and_refusals(void) {
  struct fixture f;
  double w[DIM] = {1, -2, 0, 0.5}, v[DIM] = {0, 3, 0, 4}, bad[DIM] = {0, NAN, 0, 0}, g[DIM], sd, rho = 0.2;
  for (int k = 0; k < 2; k++) {
    fixture_open(&f, "logistic", N, DIM, 0, k ? ORACLE_ZERO_OUT : ORACLE_REPLACE_ONE, 1);
    CHECK(oracle_model_gradient(f.oracle, w, v, rho, g, &sd) == BASE_OK);
    double change = fixture_logistic_change(sqrt(5.25), !k) + 0.25 * 5;
    CHECK_NEAR(sd, change / N / sqrt(2 * rho), 1e-8);
    CHECK(sd >= change / N / sqrt(2 * rho));
    CHECK(ledger_at(f.ledger, 0)->rho == rho && strcmp(ledger_at(f.ledger, 0)->what, "model gradient") == 0);
    CHECK(oracle_model_gradient(f.oracle, bad, v, rho, g, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(DIM, g));
    CHECK(oracle_model_gradient(f.oracle, w, bad, rho, g, &sd) == BASE_ERR_ARGUMENT);
    CHECK(oracle_model_gradient(f.oracle, w, v, 1, g, &sd) == BASE_ERR_BUDGET && ledger_length(f.ledger) == 1);
    fixture_close(&f);
  }
}

void test_barrier_model(void) {
  is_the_sum_of_both();
  neighbours_are_bounded("logistic", ORACLE_REPLACE_ONE);
  neighbours_are_bounded("logistic", ORACLE_ZERO_OUT);
  neighbours_are_bounded("sigmoid", ORACLE_REPLACE_ONE);
  neighbours_are_bounded("sigmoid", ORACLE_ZERO_OUT);
  charge_and_refusals();
}
