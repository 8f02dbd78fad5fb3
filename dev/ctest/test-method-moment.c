/* Newton's method with second moments, for several outputs: where there is little noise it finds the minimum, it spends
 * what it may, and its trace is the ledger. */
#include "run.h"

enum { P = 3, K = 4, SIDE = P + 1, DIM = SIDE * K, N = 4000 };

static void finds_the_minimum(double lambda);
static void spends(double rho, double clip);
static void flat(void);
static void target(void);

void test_method_moment(void) {
  finds_the_minimum(0);
  finds_the_minimum(0.01);
  spends(0.5, 0.5);
  spends(1e-3, 10);
  flat();
  target();
}

static struct moment_options options(double clip) {
  return (struct moment_options){.iterations = 60,
                                 .eps_g = 1e-3,
                                 .confidence = 0.95,
                                 .curvature_share = 0.1,
                                 .certificate_share = 0.05,
                                 .clip = clip};
}

/* Classes by the largest of K noisy linear functions; zero: all rows are alike. */
static struct loss *open_classes(struct fixture *f, double scale, double capacity) {
  struct loss *loss;
  double *x = base_alloc(N * P, sizeof *x), *y = base_alloc(N, sizeof *y);
  for (size_t i = 0; i < N * P; i++) x[i] = scale * ctest_normal();
  for (size_t i = 0; i < N; i++) {
    double best = -INFINITY;
    for (size_t k = 0; k < K; k++) {
      double at = (k < P ? 2 * x[i + k * N] : 0) + ctest_normal();
      if (at > best) y[i] = (double)(k + 1) / K;
      best = fmax(best, at);
    }
  }
  CHECK(loss_create("multinomial", K, &loss) == BASE_OK);
  fixture_open_rows(f, "logistic", x, y, N, P, 1, ORACLE_ZERO_OUT, capacity);
  oracle_free(f->oracle);
  CHECK(open_oracle(f->data, loss, f->ledger, &ctest_entropy, ORACLE_ZERO_OUT, &f->oracle) == BASE_OK);
  return loss;
}

static int run(struct fixture *f, const struct penalty *penalty, const struct moment_options *o, double rho, double *w,
               struct opt_result *r) {
  memset(w, 0, DIM * sizeof(double));
  return method_named("moment")->run(f->oracle, penalty, o, rho, w, r);
}

static double exact_gradient(const struct fixture *f, const struct penalty *p, const double *w) {
  double g[DIM];
  CHECK(sums_gradient(oracle_all(f->oracle), w, g) == BASE_OK);
  penalty_add_gradient(p, DIM, w, g);
  return la_norm(DIM, g);
}

/* Without clips; with a penalty that leaves out each output's intercept. */
static void finds_the_minimum(double lambda) {
  struct fixture f;
  struct opt_result r;
  struct moment_options o = options(2);
  const struct penalty penalty = {lambda > 0 ? PENALTY_RIDGE : PENALTY_NONE, lambda, 1, SIDE};
  double w[DIM], rho = 1e9;
  struct loss *loss = open_classes(&f, 0.4, rho);
  CHECK(run(&f, &penalty, &o, rho, w, &r) == BASE_OK);
  CHECK(r.status == OPT_SOSP && r.gradient_upper <= 1e-3 && r.eigen_known && r.eigen_lower == 0);
  CHECK(exact_gradient(&f, &penalty, w) < 1e-4);
  CHECK_NEAR(r.gradient_norm, exact_gradient(&f, &penalty, w), 1e-5);
  opt_result_free(&r);
  fixture_close(&f);
  loss_free(loss);
}

static void spends(double rho, double clip) {
  struct fixture f;
  struct opt_result r;
  struct moment_options o = options(clip);
  double w[DIM], capacity = 2 * rho, total = 0;
  struct loss *loss = open_classes(&f, 1, capacity);
  CHECK(run(&f, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  CHECK(r.trace.length == 62 && ledger_length(f.ledger) == 62);
  for (size_t i = 0; i < r.trace.length && i < ledger_length(f.ledger); i++) {
    const struct ledger_entry *entry = ledger_at(f.ledger, i);
    total += r.trace.rows[i].rho;
    CHECK(r.trace.rows[i].rho == entry->rho && strcmp(r.trace.rows[i].query, entry->what) == 0);
    CHECK(r.trace.rows[i].sd == entry->scale);
  }
  CHECK_NEAR(run_spent_on(&r, "second moments"), 0.1 * 0.95 * rho, 1e-9 * rho);
  CHECK_NEAR(run_spent_on(&r, "clipped gradient"), 0.9 * 0.95 * rho, 1e-9 * rho);
  CHECK(total <= rho && total > (1 - 1e-9) * rho);
  CHECK(fixture_all_finite(DIM, w) && la_norm(DIM, w) < 1e6);
  opt_result_free(&r);
  fixture_close(&f);
  loss_free(loss);
}

/* Steps stay within what the noise of a predictor is to be, where the data have nothing to tell. */
static void flat(void) {
  struct fixture f;
  struct opt_result r;
  struct moment_options o = options(0.5);
  double w[DIM], t[K];
  struct loss *loss = open_classes(&f, 0, 1);
  CHECK(run(&f, &run_no_penalty, &o, 1e-4, w, &r) == BASE_OK);
  for (size_t k = 0; k < K; k++) t[k] = w[k * SIDE];
  CHECK(la_norm(K, t) < 4 * 2 * sqrt(K));
  opt_result_free(&r);
  fixture_close(&f);
  loss_free(loss);
}

/* What the last gradient certifies at half of it. */
static void target(void) {
  struct fixture f;
  struct moment_options o = options(0.5);
  double w[DIM] = {0}, rho = 0.5;
  struct loss *loss = open_classes(&f, 1, 1);
  const struct ask ask = {.at = w};
  double alpha = method_named("moment")->alpha(f.oracle, &run_no_penalty, &o, rho, w);
  double sd = release_sd(oracle_all(f.oracle), &query_gradient, &ask, 0.05 * rho);
  CHECK_NEAR(sd, sqrt(1 - 1.0 / K) / N / sqrt(2 * 0.05 * rho), 1e-8 * sd); /* w = 0 */
  CHECK(alpha > 2 * sd * sqrt(DIM) / 2 && alpha < 8 * sd * sqrt(DIM));
  fixture_close(&f);
  loss_free(loss);
}
