/* Newton's method for several outputs in coordinates of their own: where there is little noise it finds the minimum, it
 * spends what it may, and where the data have nothing to tell it stays near its start. The mean of attenuated numbers
 * by its definition. */
#include "run.h"

#include "method/private.h"

enum { P = 3, K = 4, SIDE = P + 1, DIM = SIDE * K, N = 4000 };

static void finds_the_minimum(void);
static void corrects_the_mean(void);
static void spends(double rho);
static void stays(void);
static void attenuated(void);

void test_method_classes(void) {
  finds_the_minimum();
  corrects_the_mean();
  spends(0.5);
  spends(1e-3);
  stays();
  attenuated();
}

static struct classes_options options(void) {
  return (struct classes_options){.iterations = 60,
                                  .eps_g = 2e-3,
                                  .confidence = 0.95,
                                  .certificate_share = 0.05,
                                  .matrix_share = 0.1,
                                  .clip = 2,
                                  .reach = 8,
                                  .least = 0.6,
                                  .iterate_variance = 0.5,
                                  .iterate_loss = 0.03,
                                  .tail = 0.85,
                                  .trust = 0.5,
                                  .signal = 1.0 / 32,
                                  .signals = 9};
}

struct classes {
  struct fixture f;
  struct fixture_coordinates c;
  struct loss *loss;
};

/* Classes by the largest of K noisy linear functions, which do not depend on the rows where signal is zero. */
static void open_classes(struct classes *s, double signal, double capacity) {
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y);
  for (size_t i = 0; i < N * P; i++) x[i] = 0.3 * ctest_normal();
  for (size_t i = 0; i < N; i++) {
    double best = -INFINITY;
    for (size_t k = 0; k < K; k++) {
      double at = (k < P ? signal * x[i + k * N] : -0.5) + ctest_normal();
      if (at > best) y[i] = (double)(k + 1) / K;
      best = fmax(best, at);
    }
  }
  CHECK(loss_create("multinomial", K, &s->loss) == BASE_OK);
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
                                        .outputs = K};
  CHECK(coordinates_create(&s->c.spec, &s->c.made) == BASE_OK);
  CHECK(oracle_move(s->f.oracle, s->c.made) == BASE_OK);
}

static void close_classes(struct classes *s) {
  fixture_close(&s->f);
  coordinates_free(s->c.made);
  loss_free(s->loss);
}

static int run(struct classes *s, const struct classes_options *o, double rho, double *w, struct opt_result *r) {
  memset(w, 0, DIM * sizeof(double));
  return classes_run(s->f.oracle, &run_no_penalty, o, rho, w, r);
}

static void finds_the_minimum(void) {
  struct classes s;
  struct opt_result r;
  struct classes_options o = options();
  double w[DIM], g[DIM], rho = 1e10;
  open_classes(&s, 3, 2 * rho);
  CHECK(run(&s, &o, rho, w, &r) == BASE_OK);
  CHECK(mean_of(oracle_all(s.f.oracle), &query_gradient, &(struct ask){.at = w}, g) == BASE_OK);
  CHECK_NEAR(la_norm(DIM, g), 0, 1e-3); /* of the sample it is about 0.015 at the true coefficients */
  CHECK(r.status == OPT_SOSP && r.gradient_upper <= 2e-3);
  CHECK_NEAR(r.gradient_norm, la_norm(DIM, g), 1e-5);
  for (size_t j = 0; j < SIDE; j++) CHECK_NEAR(w[j] + w[j + SIDE] + w[j + 2 * SIDE] + w[j + 3 * SIDE], 0, 1e-9);
  opt_result_free(&r);
  close_classes(&s);
}

/* After two steps the mean of the last one is the second iterate. Its distance from the start, over the part of the way
 * that this step goes, is a Newton step, however short the step was. */
static void corrects_the_mean(void) {
  struct classes s;
  struct opt_result r;
  struct classes_options o = options();
  double w[2][DIM], far = 0, rho = 1e10;
  o.iterations = 2;
  o.tail = 0.5;
  o.trust = 0;
  o.signals = 14;
  open_classes(&s, 3, 9 * rho);
  for (int k = 0; k < 2; k++) {
    o.reach = k == 0 ? 1e3 : 1e-7;
    CHECK(run(&s, &o, rho, w[k], &r) == BASE_OK);
    opt_result_free(&r);
  }
  for (size_t j = 0; j < DIM; j++) {
    far = fmax(far, fabs(w[0][j]));
    CHECK_NEAR(w[0][j], w[1][j], 0.02);
  }
  CHECK(far > 0.5);
  close_classes(&s);
}

static void spends(double rho) {
  struct classes s;
  struct opt_result r;
  struct classes_options o = options();
  double w[DIM], total = 0;
  open_classes(&s, 1, 2 * rho);
  CHECK(run(&s, &o, rho, w, &r) == BASE_OK);
  CHECK(r.trace.length == 62 && ledger_length(s.f.ledger) == 62);
  for (size_t i = 0; i < r.trace.length && i < ledger_length(s.f.ledger); i++) {
    const struct ledger_entry *entry = ledger_at(s.f.ledger, i);
    total += r.trace.rows[i].rho;
    CHECK(r.trace.rows[i].rho == entry->rho && strcmp(r.trace.rows[i].query, entry->what) == 0);
    CHECK(r.trace.rows[i].sd == entry->scale);
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
  struct classes_options o = options();
  double w[DIM], sum = 0, runs = 20;
  open_classes(&s, 0, 1);
  o.clip = 1;
  for (int k = 0; k < runs; k++) {
    struct opt_result r;
    CHECK(run(&s, &o, 5e-3, w, &r) == BASE_OK);
    for (size_t j = 0; j < DIM; j++) sum += j % SIDE == 0 ? 0 : w[j] * w[j] / runs;
    opt_result_free(&r);
  }
  CHECK(sum < 0.5);
  close_classes(&s);
}

/* By quadrature over t, x and the law of y. */
static void attenuated(void) {
  const double factor[2] = {0.5, 0.9}, noise[2] = {0.04, 0.01}, known[2] = {0.2, 0}, prior[2] = {1, 0.5};
  const double y[2] = {0.3, -0.4};
  const struct attenuated a = {2, factor, noise, known, prior, 0.25, 4};
  double x[2], want[2] = {0}, total = 0;
  attenuated_mean(&a, y, x);
  for (int i = -1; i < 4; i++) {
    double t = i < 0 ? 0 : 0.25 * exp2(i), weight = 1, mean[2];
    for (int j = 0; j < 2; j++) {
      double v = known[j] + t * t * prior[j], first = 0, all = 0;
      for (double u = -8; v > 0 && u <= 8; u += 1e-3) {
        double at = u * sqrt(v), e = y[j] - factor[j] * at, p = exp(-u * u / 2 - e * e / (2 * noise[j]));
        all += p;
        first += p * at;
      }
      mean[j] = v > 0 ? first / all : 0;
      weight *= v > 0 ? all * 1e-3 / sqrt(2 * 3.14159265358979323846) : exp(-y[j] * y[j] / (2 * noise[j]));
    }
    total += weight;
    for (int j = 0; j < 2; j++) want[j] += weight * mean[j];
  }
  for (int j = 0; j < 2; j++) CHECK_NEAR(x[j], want[j] / total, 1e-6);
}
