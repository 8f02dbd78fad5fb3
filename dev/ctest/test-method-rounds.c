/* Rounds at the posterior mean: where there is little noise they find the minimum, the first one is a Newton step with
 * the mean curvature where it leads to, no longer than it may be; a run spends what it may, and where the data have
 * nothing to tell it stays near its start. */
#include "run.h"

#include "method/private.h"

enum { P = 3, K = 4, SIDE = P + 1, DIM = SIDE * K, N = 4000 };

static void finds_the_minimum(void);
static void first_round(double reach);
static void weighs_long_rows(void);
static void spends(double rho);
static void stays(void);

void test_method_rounds(void) {
  finds_the_minimum();
  first_round(INFINITY);
  first_round(0.2);
  weighs_long_rows();
  spends(0.5);
  spends(1e-3);
  stays();
}

static struct rounds_options options(void) {
  return (struct rounds_options){.iterations = 20,
                                 .present = 1,
                                 .eps_g = 2e-3,
                                 .confidence = 0.95,
                                 .certificate_share = 0.05,
                                 .matrix_share = 0.1,
                                 .clip = 2,
                                 .cap = 20,
                                 .growth = 1.2,
                                 .kept = 0.1,
                                 .reach = 1,
                                 .signal = 1.0 / 8,
                                 .signals = 8,
                                 .usual = 2};
}

struct classes {
  struct fixture f;
  struct fixture_coordinates c;
  struct loss *loss;
};

/* Classes by the largest of so many noisy linear functions, which do not depend on the rows where signal is zero. */
static void open_classes(struct classes *s, size_t classes, double signal, double capacity) {
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y);
  for (size_t i = 0; i < N * P; i++) x[i] = 0.3 * ctest_normal();
  for (size_t i = 0; i < N; i++) {
    double best = -INFINITY;
    for (size_t k = 0; k < classes; k++) {
      double at = (k < P ? signal * x[i + k * N] : -0.5) + ctest_normal();
      if (at > best) y[i] = (double)(k + 1) / (double)classes;
      best = fmax(best, at);
    }
  }
  CHECK(loss_create("multinomial", (double)classes, &s->loss) == BASE_OK);
  fixture_open_rows(&s->f, "logistic", x, y, N, P, 1, ORACLE_ZERO_OUT, capacity);
  oracle_free(s->f.oracle);
  CHECK(open_oracle(s->f.data, s->loss, s->f.ledger, &ctest_entropy, ORACLE_ZERO_OUT, &s->f.oracle) == BASE_OK);
  for (size_t j = 0; j < P; j++) {
    s->c.scale[j] = 2 + 0.1 * (double)j;
    s->c.prior[j] = s->c.spread[j] = 0.5;
    s->c.centre[j] = 0.02 * (double)j;
  }
  s->c.spec = (struct coordinates_spec){.p = P,
                                        .intercept = 1,
                                        .weighted = 1,
                                        .radius = 1,
                                        .constant = 0.5,
                                        .cap = 20,
                                        .bound = 20 * sqrt(2),
                                        .scale = s->c.scale,
                                        .prior = s->c.prior,
                                        .spread = s->c.spread,
                                        .centre = s->c.centre,
                                        .outputs = classes};
  CHECK(coordinates_create(&s->c.spec, &s->c.made) == BASE_OK);
  CHECK(oracle_move(s->f.oracle, s->c.made) == BASE_OK);
}

static void close_classes(struct classes *s) {
  fixture_close(&s->f);
  coordinates_free(s->c.made);
  loss_free(s->loss);
}

static int run(struct classes *s, const struct rounds_options *o, double rho, double *w, struct opt_result *r) {
  memset(w, 0, DIM * sizeof(double));
  return rounds_run(s->f.oracle, &run_no_penalty, o, rho, w, r);
}

static void finds_the_minimum(void) {
  struct classes s;
  struct opt_result r;
  struct rounds_options o = options();
  double w[DIM], g[DIM], rho = 1e10;
  open_classes(&s, K, 3, 2 * rho);
  CHECK(run(&s, &o, rho, w, &r) == BASE_OK);
  CHECK(mean_of(oracle_all(s.f.oracle), &query_gradient, &(struct ask){.at = w}, g) == BASE_OK);
  CHECK_NEAR(la_norm(DIM, g), 0, 1e-3); /* of the sample it is about 0.015 at the true coefficients */
  CHECK(r.status == OPT_SOSP && r.gradient_upper <= 2e-3);
  CHECK_NEAR(r.gradient_norm, la_norm(DIM, g), 1e-5);
  for (size_t j = 0; j < SIDE; j++) CHECK_NEAR(w[j] + w[j + SIDE] + w[j + 2 * SIDE] + w[j + 3 * SIDE], 0, 1e-9);
  opt_result_free(&r);
  close_classes(&s);
}

/* The mean of p (1 - p), p the probability at a normal predictor with this mean and variance. */
static double mean_curvature(double mean, double variance) {
  double sum = 0, total = 0;
  for (double u = -8; u <= 8; u += 1e-2) {
    double weight = exp(-u * u / 2), p = 1 / (1 + exp(-mean - u * sqrt(variance)));
    total += weight;
    sum += weight * p * (1 - p);
  }
  return sum / total;
}

/* Mean second moments of the rows in the coordinates. */
static void second_moments(struct classes *s, double *m) {
  struct oracle *o = s->f.oracle;
  const double zero[DIM] = {0};
  CHECK(mean_of(oracle_all(o), &query_weighted, &(struct ask){.at = zero}, m) == BASE_OK);
}

/* Between the first two of the classes, without noise: the others have no records. With g the gradient of the first
 * one's coefficients, whose negative is the second's, and M the rows' second moments, u = M^-1 g is the step over c for
 * the curvature c, and the distance between the two predictors changes by twice that. c is first that of the start,
 * then that of where this leads. */
static void first_round(double reach) {
  struct classes s;
  struct opt_result r;
  struct rounds_options o = options();
  double w[2 * SIDE] = {0}, g[2 * SIDE], u[SIDE], m[SIDE * SIDE], whole[SIDE * SIDE], rho = 1e10, quadratic = 0;
  open_classes(&s, 2, 1.5, 2 * rho);
  o.iterations = 1;
  o.reach = reach;
  CHECK(mean_of(oracle_all(s.f.oracle), &query_gradient, &(struct ask){.at = w}, g) == BASE_OK);
  second_moments(&s, m);
  memcpy(whole, m, sizeof whole);
  memcpy(u, g, sizeof u);
  CHECK(la_solve_definite(SIDE, m, u) == BASE_OK);
  for (size_t j = 0; j < SIDE; j++) quadratic += u[j] * la_dot(SIDE, whole + j * SIDE, u);
  double c = 0.25;
  for (int i = 0; i < 2; i++) c = i == 0 ? mean_curvature(-s.c.spec.constant * u[0] / c, quadratic / (c * c)) : c;
  CHECK(rounds_run(s.f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  double part = fmin(1, reach / (sqrt(quadratic) / (2 * c)));
  CHECK((part < 1) == (reach < 1));
  for (size_t j = 0; j < SIDE; j++) {
    CHECK_NEAR(w[j], -part * u[j] / (2 * c), 0.03 * fabs(u[j]) + 1e-3);
    CHECK_NEAR(w[j + SIDE], -w[j], 1e-9);
  }
  opt_result_free(&r);
  close_classes(&s);
}

/* Where all rows are longer than the cap, gradients are in proportion to it: a step does not depend on it, but for how
 * far predictors are taken to vary. */
static void weighs_long_rows(void) {
  double w[2][DIM] = {{0}}, rho = 1e10;
  for (int k = 0; k < 2; k++) {
    struct classes s;
    struct opt_result r;
    struct rounds_options o = options();
    o.iterations = 1;
    o.cap = k ? 0.4 : 0.2;
    ctest_seed(1);
    open_classes(&s, K, 3, 2 * rho);
    CHECK(run(&s, &o, rho, w[k], &r) == BASE_OK);
    opt_result_free(&r);
    close_classes(&s);
  }
  CHECK(la_norm(DIM, w[0]) > 0.5);
  for (size_t j = 0; j < DIM; j++) CHECK_NEAR(w[0][j], w[1][j], 0.1);
}

static void spends(double rho) {
  struct classes s;
  struct opt_result r;
  struct rounds_options o = options();
  double w[DIM], total = 0;
  open_classes(&s, K, 1, 2 * rho);
  CHECK(run(&s, &o, rho, w, &r) == BASE_OK);
  CHECK(r.trace.length == 22 && ledger_length(s.f.ledger) == 22);
  for (size_t i = 0; i < r.trace.length && i < ledger_length(s.f.ledger); i++) {
    const struct ledger_entry *entry = ledger_at(s.f.ledger, i);
    total += r.trace.rows[i].rho;
    CHECK(r.trace.rows[i].rho == entry->rho && strcmp(r.trace.rows[i].query, entry->what) == 0);
    CHECK(r.trace.rows[i].sd == entry->scale);
    if (i > 1 && i < 21) CHECK_NEAR(entry->rho / ledger_at(s.f.ledger, i - 1)->rho, 1.2, 1e-9);
  }
  CHECK_NEAR(run_spent_on(&r, "weighted matrix"), 0.1 * 0.95 * rho, 1e-9 * rho);
  CHECK_NEAR(run_spent_on(&r, "class gradient"), 0.9 * 0.95 * rho, 1e-9 * rho);
  CHECK(total <= rho && total > (1 - 1e-9) * rho);
  CHECK(fixture_all_finite(DIM, w));
  opt_result_free(&r);
  close_classes(&s);
}

/* The mean square of the predictors that differ between classes, for rows without a signal and much noise. */
static void stays(void) {
  struct classes s;
  struct rounds_options o = options();
  double w[DIM], sum = 0, runs = 20;
  open_classes(&s, K, 0, 1);
  o.clip = 1;
  for (int k = 0; k < runs; k++) {
    struct opt_result r;
    CHECK(run(&s, &o, 5e-3, w, &r) == BASE_OK);
    for (size_t j = 0; j < DIM; j++) sum += j % SIDE == 0 ? 0 : w[j] * w[j] / runs;
    opt_result_free(&r);
  }
  CHECK(sum < 3);
  close_classes(&s);
}
