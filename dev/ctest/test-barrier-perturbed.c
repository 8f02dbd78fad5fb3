/*
 * Perturbed minimisers: the solver's bound, what neighbours may do to the determinant and to the noise, the laws of
 * what is released, charges and refusals.
 */
#include "acct/acct.h"
#include "fixture.h"
#include "la/la.h"
#include "mech/mech.h"
#include "statistics.h"

enum { DIM = 3 };

static void solver_keeps_its_bound(void);
static void descent_alone_keeps_it(void);
static void capacity_of_the_ledger(void);
static void determinants_of_neighbours(void);
static void laws(enum oracle_neighbours neighbours);
static void charges(enum oracle_neighbours neighbours);
static void refusals(void);
static void failures_leave_nothing(void);

void test_barrier_perturbed(void) {
  solver_keeps_its_bound();
  descent_alone_keeps_it();
  capacity_of_the_ledger();
  determinants_of_neighbours();
  laws(ORACLE_REPLACE_ONE);
  laws(ORACLE_ZERO_OUT);
  charges(ORACLE_REPLACE_ONE);
  charges(ORACLE_ZERO_OUT);
  refusals();
  failures_leave_nothing();
}

/* A ledger for determinants within e^kappa wherever slopes are, without a least share of the minimiser's. */
static struct acct_perturbed flat(double kappa) { return (struct acct_perturbed){1, kappa, 0, 1e-9}; }

/* A fixture whose ledger takes a perturbed minimiser. */
static void open_perturbed(struct fixture *f, size_t n, size_t p, enum oracle_neighbours neighbours, double eps,
                           double delta, double kappa) {
  const struct acct_perturbed how = flat(kappa);
  fixture_open(f, "logistic", n, p, 0, neighbours, 1);
  oracle_free(f->oracle);
  ledger_free(f->ledger);
  CHECK(ledger_create_perturbed(eps, delta, &how, &f->ledger) == BASE_OK);
  CHECK(open_oracle(f->data, loss_find("logistic"), f->ledger, &ctest_entropy, neighbours, &f->oracle) == BASE_OK);
}

/* ---- the solver ---- */

/* The length of F's gradient, summed in extended precision record by record. */
static double true_gradient(const struct fixture *f, const struct strong *p, const double *w) {
  size_t dim = data_dim(f->data), n = f->data->n;
  long double sum = 0;
  for (size_t j = 0; j < dim; j++) {
    long double g = 0;
    for (size_t i = 0; i < n; i++) {
      long double t = 0;
      for (size_t k = 0; k < dim; k++) t += (long double)f->data->clip[i] * f->x[i + k * n] * w[k];
      g -= f->y[i] * f->data->clip[i] * f->x[i + j * n] / (1 + expl(f->y[i] * t));
    }
    g = g / n + (long double)p->quadratic[j] * w[j] + p->linear[j];
    sum += g * g;
  }
  return (double)sqrtl(sum);
}

/* F is `least`-strongly convex: the distance is at most the gradient's length over that. */
static void solver_keeps_its_bound(void) {
  for (int k = 0; k < 12; k++) {
    double least = pow(10, -1 - k % 6), quadratic[DIM] = {least, 2 * least, least}, linear[DIM], w[DIM];
    for (int j = 0; j < DIM; j++) linear[j] = (k < 6 ? 0.01 : 10) * ctest_normal();
    struct fixture f;
    struct strong p;
    fixture_open(&f, "logistic", 200, DIM, 0, ORACLE_REPLACE_ONE, 1);
    CHECK(strong_init(oracle_all(f.oracle), quadratic, linear, la_norm(DIM, linear) * (k % 2 ? 1 : 10), &p) == BASE_OK);
    CHECK(strong_minimise(oracle_all(f.oracle), &p, w) == BASE_OK);
    CHECK(la_norm(DIM, w) <= p.ball);
    if (ctest_extended()) CHECK(true_gradient(&f, &p, w) / p.least <= strong_distance(&p));
    CHECK(strong_distance(&p) < 1e-7 * p.ball); /* and it is no idle bound */
    fixture_close(&f);
  }
}

/* A stop that Newton's method never reaches: descent has to do it. */
static void descent_alone_keeps_it(void) {
  double quadratic[DIM] = {0.05, 0.1, 0.05}, linear[DIM] = {0.03, -0.2, 0.1}, w[DIM], by_descent[DIM];
  struct fixture f;
  struct strong p, never;
  fixture_open(&f, "logistic", 50, DIM, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(strong_init(oracle_all(f.oracle), quadratic, linear, 1, &p) == BASE_OK);
  never = p;
  never.error = 1e-100;
  CHECK(strong_minimise(oracle_all(f.oracle), &p, w) == BASE_OK &&
        strong_minimise(oracle_all(f.oracle), &never, by_descent) == BASE_OK);
  la_axpy(DIM, -1, w, by_descent);
  CHECK(la_norm(DIM, by_descent) <= 2 * strong_distance(&p));
  CHECK(!fixture_all_zero(DIM, w));
  fixture_close(&f);
}

/* ---- the proof, in numbers ---- */

static void capacity_of_the_ledger(void) {
  static const double eps[] = {0.05, 0.6, 4}, delta[] = {1e-12, 1e-6, 1e-3};
  for (int i = 0; i < 9; i++) {
    struct ledger *ledger;
    double e = eps[i % 3], d = delta[i / 3];
    const struct acct_perturbed how = {i % 2, 0.1 * e, i % 2 ? 0.4 * e : 0, 0.9};
    CHECK(ledger_create_perturbed(e, d, &how, &ledger) == BASE_OK);
    double mu = sqrt(2 * ledger_capacity(ledger));
    CHECK(acct_perturbed_delta(mu * (1 - 1e-15), e, &how) <= d);
    CHECK(acct_perturbed_delta(mu * (1 + 1e-9), e, &how) > d * (1 - 1e-12));
    CHECK(memcmp(ledger_perturbed(ledger), &how, sizeof how) == 0);
    ledger_free(ledger);
  }
}

static double log_determinant(const struct fixture *f, const double *w, double curvature) {
  double h[DIM * DIM], values[DIM], total = 0, n = (double)f->data->n;
  CHECK(sums_hessian(oracle_all(f->oracle), w, h) == BASE_OK);
  for (int j = 0; j < DIM; j++) h[j + j * DIM] += curvature;
  CHECK(la_eigen_all(DIM, h, values) == BASE_OK);
  for (int j = 0; j < DIM; j++) total += log(n * values[j]);
  return total;
}

/* One record replaced: random ones, and a unit record at w = 0 among null ones, replaced by a null one, which attains
 * the bound. The gradient's sum moves by at most 2 L. */
static void determinants_of_neighbours(void) {
  enum { N = 6 };
  for (int k = 0; k < 60; k++) {
    double w[DIM], lambda = pow(10, -2 * ctest_uniform()), kappa = log1p(0.25 / (N * lambda)), g[2][DIM], det[2];
    int extreme = k == 0;
    double *x[2], *y[2];
    for (int j = 0; j < DIM; j++) w[j] = extreme ? 0 : 2 * ctest_normal();
    for (int s = 0; s < 2; s++) {
      x[s] = base_alloc(N * DIM, sizeof(double));
      y[s] = base_alloc(N, sizeof(double));
    }
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < DIM; j++) x[0][i + j * N] = x[1][i + j * N] = extreme ? j == 0 : ctest_normal();
      y[0][i] = y[1][i] = extreme && i > 0 ? NAN : fixture_sign();
    }
    for (int j = 0; j < DIM; j++) x[1][j * N] = -x[0][j * N] * (k % 2 ? 1 : ctest_uniform());
    if (extreme) y[1][0] = NAN;
    for (int s = 0; s < 2; s++) {
      struct fixture f;
      fixture_open_rows(&f, "logistic", x[s], y[s], N, DIM, 0, ORACLE_REPLACE_ONE, 1);
      det[s] = log_determinant(&f, w, lambda);
      CHECK(sums_gradient(oracle_all(f.oracle), w, g[s]) == BASE_OK);
      fixture_close(&f);
    }
    CHECK(fabs(det[0] - det[1]) <= kappa * (1 + 1e-12));
    if (extreme) CHECK_NEAR(det[0] - det[1], kappa, 1e-9);
    la_axpy(DIM, -1, g[0], g[1]);
    CHECK(N * la_norm(DIM, g[1]) <= 2 * (1 + 1e-12));
  }
}

/* ---- what is released ---- */

/* Without data (all records null) the minimiser is -v / (n lambda), and output perturbation is its noise alone. */
static void laws(enum oracle_neighbours neighbours) {
  enum { N = 8 };
  size_t count = (size_t)ctest_size(1500, 100);
  double change = neighbours == ORACLE_REPLACE_ONE ? 2 : 1, lambda = 1, rho = 0.4, quadratic[1] = {lambda}, w[1], sd;
  double *z = base_alloc(2 * count, sizeof *z),
         furthest = fixture_minimiser_change(lambda, N, neighbours == ORACLE_REPLACE_ONE);
  for (size_t i = 0; i < count; i++) {
    double *x = base_alloc(N, sizeof *x), *y = base_alloc(N, sizeof *y);
    for (int j = 0; j < N; j++) y[j] = NAN;
    struct fixture f;
    struct ledger *ledger;
    struct oracle *oracle;
    struct oracle_perturbation how;
    fixture_open_rows(&f, "logistic", x, y, N, 1, 0, neighbours, 100);
    const struct acct_perturbed how_accounted = flat(0.05);
    CHECK(ledger_create_perturbed(6, 0.1, &how_accounted, &ledger) == BASE_OK);
    CHECK(open_oracle(f.data, loss_find("logistic"), ledger, &ctest_entropy, neighbours, &oracle) == BASE_OK);
    CHECK(oracle_perturbed_minimiser(oracle, quadratic, rho, 1e-3, w, &how) == BASE_OK);
    z[i] = w[0] * N * lambda / (change / sqrt(2 * rho));
    CHECK(oracle_minimiser(f.oracle, quadratic, rho, w, &sd) == BASE_OK);
    z[count + i] = w[0] / furthest * sqrt(2 * rho);
    oracle_free(oracle);
    ledger_free(ledger);
    fixture_close(&f);
  }
  CHECK(ks_test(count, z, base_pnorm) > STATISTICS_LEVEL && ks_test(count, z + count, base_pnorm) > STATISTICS_LEVEL);
  base_free(z);
}

static void charges(enum oracle_neighbours neighbours) {
  enum { N = 40 };
  struct fixture f;
  double change = neighbours == ORACLE_REPLACE_ONE ? 2 : 1, quadratic[DIM] = {0.2, 0.3, 0.2}, w[DIM], sd;
  double zero[DIM] = {0};
  struct oracle_perturbation how;
  struct strong p;
  open_perturbed(&f, N, DIM, neighbours, 6, 1e-6, 0.04);
  CHECK(oracle_perturbed_minimiser(f.oracle, quadratic, 0.1, 0.01, w, &how) == BASE_OK);
  CHECK_NEAR(how.sd_objective, change / sqrt(0.2), 1e-8);
  CHECK(how.sd_objective >= change / sqrt(0.2));
  CHECK(strong_init(oracle_all(f.oracle), quadratic, zero, how.sd_objective * (sqrt(DIM) + 40) / N, &p) == BASE_OK);
  /* in both data sets the solver's error, and v's rounding to its lattice over the strong convexity n least */
  double tau = strong_distance(&p) + sqrt(DIM) * mech_lattice(how.sd_objective) / 2 / (N * 0.2);
  CHECK_NEAR(how.sd_output * sqrt(0.02) / (2 * tau), 1, 1e-8);
  CHECK(strong_distance(&p) > 1e-5 * tau);
  CHECK(ledger_length(f.ledger) == 2 && ledger_at(f.ledger, 0)->rho == 0.1 && ledger_at(f.ledger, 1)->rho == 0.01);
  CHECK(strcmp(ledger_at(f.ledger, 0)->what, "perturbed minimiser") == 0);
  CHECK(strcmp(ledger_at(f.ledger, 0)->mechanism, "objective perturbation") == 0);
  CHECK(ledger_at(f.ledger, 0)->scale == how.sd_objective && ledger_at(f.ledger, 1)->scale == how.sd_output);
  CHECK(oracle_minimiser(f.oracle, quadratic, 0.1, w, &sd) == BASE_OK); /* is Gaussian, so it may follow */
  change = fixture_minimiser_change(0.2, N, neighbours == ORACLE_REPLACE_ONE);
  CHECK_NEAR(sd * sqrt(0.2), change, 1e-8);
  CHECK(sd * sqrt(0.2) >= change + 2 * strong_distance(&p) / 1e6);
  CHECK(strcmp(ledger_at(f.ledger, 2)->what, "minimiser") == 0);
  fixture_close(&f);
}

/* ---- refusals and failures ---- */

static void refusals(void) {
  struct fixture f, sigmoid;
  struct ledger *ledger;
  struct oracle_perturbation how;
  double quadratic[DIM] = {0.2, 0.3, 0.2}, flat[DIM] = {0.2, 0, 0.2}, w[DIM], sd;
  static const double bad[][5] = {{1, 1e-6, -1, 0, 1},    {1, 1e-6, 0.6, 0.4, 1}, {1, 1e-6, NAN, 0, 1},
                                  {1, 1e-6, 0.1, -1, 1},  {1, 1e-6, 0.1, NAN, 1}, {1, 1e-6, 0.1, 0, 0},
                                  {1, 1e-6, 0.1, 0, 1.1}, {1, 0, 0.1, 0, 1},      {NAN, 1e-6, 0.1, 0, 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const struct acct_perturbed p = {1, bad[i][2], bad[i][3], bad[i][4]};
    CHECK(ledger_create_perturbed(bad[i][0], bad[i][1], &p, &ledger) == BASE_ERR_ARGUMENT && !ledger);
  }
  const struct acct_perturbed two_signs = {0, 0.1, 0.1, 1};
  CHECK(ledger_create_perturbed(1, 1e-6, &two_signs, &ledger) == BASE_ERR_ARGUMENT && !ledger);
  /* kappa = log(1 + 0.25 / (40 * 0.2)) = 0.03077 */
  open_perturbed(&f, 40, DIM, ORACLE_REPLACE_ONE, 3, 1e-6, 0.0307);
  CHECK(oracle_perturbed_minimiser(f.oracle, quadratic, 0.1, 0.01, w, &how) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0 && fixture_all_zero(DIM, w));
  fixture_close(&f);
  open_perturbed(&f, 40, DIM, ORACLE_REPLACE_ONE, 3, 1e-6, 0.0308);
  CHECK(oracle_perturbed_minimiser(f.oracle, flat, 0.1, 0.01, w, &how) == BASE_ERR_ARGUMENT);
  CHECK(oracle_perturbed_minimiser(f.oracle, quadratic, 0.1, 0.01, w, &how) == BASE_OK);
  CHECK(oracle_perturbed_minimiser(f.oracle, quadratic, 0.02, 0.002, w, &how) != BASE_OK); /* once */
  CHECK(oracle_minimiser(f.oracle, flat, 0.1, w, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_minimiser(f.oracle, quadratic, 100, w, &sd) == BASE_ERR_BUDGET && fixture_all_zero(DIM, w));
  CHECK(ledger_length(f.ledger) == 2);
  fixture_close(&f);
  open_perturbed(&f, 40, DIM, ORACLE_REPLACE_ONE, 3, 1e-6, 0.0308);
  ledger_free(f.ledger); /* a least share that the cost does not have */
  const struct acct_perturbed most = {1, 0.0308, 0, 0.5};
  CHECK(ledger_create_perturbed(3, 1e-6, &most, &f.ledger) == BASE_OK);
  f.oracle->ledger = f.ledger;
  double half = ledger_capacity(f.ledger) / 2;
  CHECK(oracle_perturbed_minimiser(f.oracle, quadratic, half * (1 - 1e-9), 0.01, w, &how) == BASE_ERR_ARGUMENT);
  CHECK(oracle_perturbed_minimiser(f.oracle, quadratic, half, 0.01, w, &how) == BASE_OK);
  fixture_close(&f);
  fixture_open(&f, "logistic", 40, DIM, 0, ORACLE_REPLACE_ONE, 1); /* a ledger for Gaussian releases */
  quadratic[0] = quadratic[1] = quadratic[2] = 1e6;
  CHECK(oracle_perturbed_minimiser(f.oracle, quadratic, 0.1, 0.01, w, &how) != BASE_OK);
  CHECK(ledger_length(f.ledger) == 0);
  fixture_close(&f);
  fixture_open(&sigmoid, "sigmoid", 40, DIM, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(oracle_minimiser(sigmoid.oracle, quadratic, 0.1, w, &sd) == BASE_ERR_ARGUMENT);
  fixture_close(&sigmoid);
}

/* Whatever fails: an answer of zeros, and nothing that is not wiped. */
static void failures_leave_nothing(void) {
  double quadratic[DIM] = {0.2, 0.3, 0.2}, w[DIM], sd;
  for (int objective = 0; objective <= 1; objective++) {
    int status = BASE_ERR_MEMORY, failures = 0;
    for (; status != BASE_OK && failures < 60; failures++) {
      struct fixture f;
      struct oracle_perturbation how;
      open_perturbed(&f, 40, DIM, ORACLE_REPLACE_ONE, 3, 1e-6, 0.04);
      if (failures == 0) f.oracle->entropy = &ctest_entropy_broken;
      (void)ctest_unwiped();
      ctest_fail_allocation(failures);
      status = objective ? oracle_perturbed_minimiser(f.oracle, quadratic, 0.1, 0.01, w, &how)
                         : oracle_minimiser(f.oracle, quadratic, 0.1, w, &sd);
      ctest_fail_allocation(0);
      CHECK(status == BASE_OK || fixture_all_zero(DIM, w));
      CHECK(status == BASE_OK || status == (failures ? BASE_ERR_MEMORY : BASE_ERR_ENTROPY));
      CHECK(ctest_unwiped() == 0);
      fixture_close(&f);
    }
    CHECK(status == BASE_OK && failures > 5);
  }
}
