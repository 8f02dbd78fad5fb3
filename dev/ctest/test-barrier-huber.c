/* Losses with corners at the barrier: what is refused, responses out of their range, minimisers and their law. */
#include "acct/acct.h"
#include "fixture.h"
#include "la/la.h"

enum { DIM = 3 };
static const char *const losses[] = {"huber_svm", "huber"};

static void refusals(const char *loss);
static void majorants(const char *loss);
static void signs(void);
static void responses_are_clipped(void);
static void solver_keeps_its_bound(const char *name, double parameter);
static void profile_by_quadrature(double h);

void test_barrier_huber(void) {
  for (int k = 0; k < 2; k++) {
    refusals(losses[k]);
    majorants(losses[k]);
  }
  responses_are_clipped();
  solver_keeps_its_bound("huber_svm", 0.5);
  solver_keeps_its_bound("huber_svm", 0.01);
  solver_keeps_its_bound("huber", 0.2);
  solver_keeps_its_bound("huber", 0.001);
  profile_by_quadrature(0.5);
  profile_by_quadrature(0.05);
  signs();
}

/* Sums of second derivatives: refused before they are charged, and answered with zeros. */
static void refusals(const char *loss) {
  static const double w[DIM] = {0, 0, 0}, penalty[DIM] = {0};
  struct fixture f;
  fixture_open(&f, loss, 50, DIM, 0, ORACLE_REPLACE_ONE, 1);
  double answer[DIM * DIM], sd;
  struct oracle_newton how = {CURVATURE_HESSIAN, MODIFY_ADD, 0.1, penalty};
  CHECK(oracle_hessian(f.oracle, w, 0.1, answer, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(DIM * DIM, answer));
  CHECK(oracle_model_gradient(f.oracle, w, w, 0.1, answer, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(DIM, answer));
  CHECK(oracle_trace(f.oracle, w, CURVATURE_HESSIAN, 0.1, answer, &sd) == BASE_ERR_ARGUMENT && answer[0] == 0);
  CHECK(oracle_newton_direction(f.oracle, w, w, &how, 0.1, answer, &sd) == BASE_ERR_ARGUMENT);
  CHECK(fixture_all_zero(DIM, answer) && ledger_length(f.ledger) == 0);
  how.curvature = CURVATURE_MAJORANT;
  CHECK(oracle_trace(f.oracle, w, CURVATURE_MAJORANT, 0.1, answer, &sd) == BASE_OK && isfinite(sd));
  CHECK(oracle_newton_direction(f.oracle, w, w, &how, 0.1, answer, &sd) == BASE_ERR_ARGUMENT); /* a zero gradient */
  CHECK(ledger_length(f.ledger) == 1);
  fixture_close(&f);
}

/* Slopes of Huber's loss have two signs: refused where the ledger's capacity supposes one. */
static void signs(void) {
  for (int one_sign = 0; one_sign <= 1; one_sign++) {
    const struct acct_perturbed how = {one_sign, 1, 0, 1e-9};
    static const double quadratic[DIM] = {1, 1, 1};
    double w[DIM];
    struct fixture f;
    struct ledger *ledger;
    struct oracle *oracle;
    struct oracle_perturbation noise;
    fixture_open(&f, "huber", 50, DIM, 0, ORACLE_REPLACE_ONE, 1);
    CHECK(ledger_create_perturbed(3, 1e-6, &how, &ledger) == BASE_OK);
    CHECK(open_oracle(f.data, loss_find("huber"), ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &oracle) == BASE_OK);
    CHECK(oracle_perturbed_minimiser(oracle, quadratic, 0.01, 0.001, w, &noise) ==
          (one_sign ? BASE_ERR_ARGUMENT : BASE_OK));
    CHECK(ledger_length(ledger) == (one_sign ? 0 : 2));
    oracle_free(oracle);
    ledger_free(ledger);
    fixture_close(&f);
  }
}

/* b X'X / n at any w, with the noise of sqrt(2) b / n and hardly any for rounding. */
static void majorants(const char *loss) {
  static const double w[DIM] = {1e3, -2, 0.1};
  enum { N = 40 };
  struct fixture f;
  fixture_open(&f, loss, N, DIM, 0, ORACLE_REPLACE_ONE, 1e30);
  double matrix[DIM * DIM], sd, b = loss_bounds_of(loss_find(loss))->curv_upper, worst = 0;
  CHECK(oracle_majorant(f.oracle, w, 1e26, matrix, &sd) == BASE_OK);
  for (int j = 0; j < DIM; j++) {
    for (int k = 0; k < DIM; k++) {
      double sum = 0;
      for (int i = 0; i < N; i++) sum += f.x[i + j * N] * f.x[i + k * N] * f.data->clip[i] * f.data->clip[i];
      worst = fmax(worst, fabs(matrix[j + k * DIM] - b * sum / N));
    }
  }
  CHECK_NEAR(worst, 0, 1e-11);
  CHECK_NEAR(oracle_sd_majorant(f.oracle, w, 0.5), sqrt(2) * b / N, 1e-9);
  fixture_close(&f);
}

/* A response far outside counts as the nearer end. */
static void responses_are_clipped(void) {
  enum { N = 30 };
  double g[2][DIM], v[2], w[DIM] = {0.3, -0.2, 0.9};
  double row[N * DIM], label[N];
  for (int i = 0; i < N * DIM; i++) row[i] = ctest_normal();
  for (int i = 0; i < N; i++) label[i] = i % 3 ? 2 * ctest_uniform() - 1 : (i % 2 ? -7 : 1e300);
  for (int s = 0; s < 2; s++) {
    struct fixture f;
    double *x = base_alloc(N * DIM, sizeof *x), *y = base_alloc(N, sizeof *y);
    memcpy(x, row, sizeof row);
    for (int i = 0; i < N; i++) y[i] = s ? fmax(-1, fmin(label[i], 1)) : label[i];
    fixture_open_rows(&f, "huber", x, y, N, DIM, 0, ORACLE_REPLACE_ONE, 1);
    CHECK(sums_gradient(oracle_all(f.oracle), w, g[s]) == BASE_OK &&
          sums_value(oracle_all(f.oracle), w, &v[s]) == BASE_OK);
    fixture_close(&f);
  }
  CHECK(memcmp(g[0], g[1], sizeof g[0]) == 0 && v[0] == v[1]);
}

/* Of F at w, in extended precision. */
static double true_gradient(const struct fixture *f, const struct loss *loss, const struct strong *p, const double *w) {
  long double sum = 0;
  size_t n = f->data->n;
  for (size_t j = 0; j < DIM; j++) {
    long double g = 0;
    for (size_t i = 0; i < n; i++) {
      long double t = 0;
      double d1;
      for (size_t k = 0; k < DIM; k++) t += (long double)(f->data->clip[i] * f->x[i + k * n]) * w[k];
      double rounded = (double)t;
      loss_eval(loss, 1, &f->data->y[i], &rounded, NULL, &d1, NULL);
      g += (long double)d1 * (f->data->clip[i] * f->x[i + j * n]);
    }
    g = g / n + (long double)p->quadratic[j] * w[j] + p->linear[j];
    sum += g * g;
  }
  return (double)sqrtl(sum);
}

static void solver_keeps_its_bound(const char *name, double parameter) {
  struct loss *loss;
  CHECK(loss_create(name, parameter, &loss) == BASE_OK);
  double lipschitz = loss_bounds_of(loss)->lipschitz;
  for (int k = 0; k < ctest_size(12, 3); k++) {
    double least = pow(10, -1 - k % 4), quadratic[DIM] = {least, 2 * least, least}, linear[DIM], w[DIM];
    for (int j = 0; j < DIM; j++) linear[j] = (k < 6 ? 0.01 : 1) * lipschitz * ctest_normal();
    struct fixture f;
    struct oracle *oracle;
    struct strong p;
    fixture_open(&f, name, 200, DIM, 0, ORACLE_REPLACE_ONE, 1);
    if (strcmp(name, "huber") == 0) {
      for (size_t i = 0; i < 200; i++) f.data->y[i] = tanh(f.x[i] + 0.1 * ctest_normal());
    }
    CHECK(open_oracle(f.data, loss, f.ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &oracle) == BASE_OK);
    CHECK(strong_init(oracle_all(oracle), quadratic, linear, la_norm(DIM, linear), &p) == BASE_OK);
    CHECK(strong_minimise(oracle_all(oracle), &p, w) == BASE_OK);
    CHECK(la_norm(DIM, w) <= p.ball);
    if (ctest_extended()) CHECK(true_gradient(&f, loss, &p, w) / p.least <= strong_distance(&p));
    CHECK(strong_distance(&p) < 1e-6 * p.ball);
    oracle_free(oracle);
    fixture_close(&f);
  }
  loss_free(loss);
}

/* ---- the law of a perturbed minimiser in one dimension, as in test-barrier-profile.c ---- */

struct line {
  double x, y; /* the record that changes */
  double pull; /* gradient of the others, where they are linear */
  double n_lambda, s, h;
};

static double log_density(const struct line *l, double w) {
  double v = 1 - l->y * l->x * w, p = fmin(fmax((v + l->h) / (2 * l->h), 0), 1);
  double slope = l->n_lambda * w - l->y * l->x * p - l->pull;
  double curve = l->n_lambda + (fabs(v) < l->h ? l->x * l->x / (2 * l->h) : 0);
  return log(curve / l->s) - slope * slope / (2 * l->s * l->s);
}

static double hockey_stick(const struct line *p, const struct line *q, double eps) {
  double centre = p->pull / p->n_lambda, reach = 14 * (p->s + 3) / p->n_lambda, total = 0;
  int steps = ctest_size(40000, 4000);
  for (int i = 0; i < steps; i++) {
    double w = centre + reach * (2 * (i + 0.5) / steps - 1), lp = log_density(p, w), lq = log_density(q, w);
    if (lp > lq + eps) total += exp(lp) - exp(lq + eps);
  }
  return total * 2 * reach / steps / sqrt(2 * M_PI);
}

/* The density is that of the area formula: its integral is one, and the true delta is not above the budget's. */
static void profile_by_quadrature(double h) {
  static const double eps[] = {0.2, 1, 4}, delta[] = {1e-8, 1e-3};
  static const double share[] = {0.02, 0.1, 0.4}, at[] = {-3, 0, 0.5, 1, 1.5};
  double closest = 0;
  for (int k = 0; k < 90; k++) {
    double e = eps[k % 3], d = delta[k / 3 % 2], kappa = e * share[k / 6 % 3];
    struct ledger *ledger;
    const struct acct_perturbed how = {1, kappa, 0, 1};
    CHECK(ledger_create_perturbed(e, d, &how, &ledger) == BASE_OK);
    double mu = sqrt(2 * ledger_capacity(ledger)), n_lambda = 0.5 / h / expm1(kappa);
    struct line a = {1, 1, at[k / 18] * n_lambda, n_lambda, 2 / mu, h}, b = a, none = a;
    b.y = -1;
    none.x = 0;
    CHECK_NEAR(hockey_stick(&a, &none, -INFINITY), 1, ctest_size(1, 0) ? 5e-3 : 5e-2);
    CHECK(hockey_stick(&a, &b, e) <= d && hockey_stick(&b, &a, e) <= d);
    a.s = none.s = 1 / mu;
    double forth = hockey_stick(&a, &none, e), back = hockey_stick(&none, &a, e);
    CHECK(forth <= d && back <= d);
    closest = fmax(closest, fmax(forth, back) / d);
    ledger_free(ledger);
  }
  CHECK(closest > 0.1);
}
