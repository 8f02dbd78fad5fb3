/* Where a run that took steps ends: it moves by the posterior mean given its last gradients, and what is certified
 * there allows for the way. Each run is compared with one that has the same noise and stays. */
#include "method/private.h"
#include "run.h"

enum { DIM = 4, RUNS = 20 };

struct pair {
  double rho;
  struct opt_result stays, moves;
  double w[DIM], way[DIM]; /* the end of the first, and from there to that of the second */
  double smooth, third, lower, gradient; /* gradient: the true norm at the end */
};

static void run_pair(const char *loss, struct opt_options o, double h, uint64_t seed, struct pair *p);
static void free_pair(struct pair *p);
static void stays_certified(const char *loss);
static void goes_as_far_as_allowed(void);
static void uncertified_end(void);

void test_method_end(void) {
  stays_certified("logistic");
  stays_certified("sigmoid");
  goes_as_far_as_allowed();
  uncertified_end();
}

/* And the second run moves at its end. */
static int took_steps(const struct pair *p) {
  double most = 0;
  for (size_t i = 0; i < p->stays.trace.length; i++) most = fmax(most, p->stays.trace.rows[i].step);
  return most > 0 && p->moves.trace.rows[p->moves.trace.length - 1].step > 0;
}

/* The bounds are those of the point that was measured plus what the way can add, and they hold. */
static void stays_certified(const char *loss) {
  int moved = 0;
  for (uint64_t i = 0; i < RUNS; i++) {
    struct pair p = {.rho = 300};
    struct opt_options o = run_options(OPT_SHORT_STEP, 0);
    o.eps_g = 0.04;
    o.eps_h = i % 2 ? 0.012 : 0.2;
    run_pair(loss, o, 0.25, 9000 + i, &p);
    if (p.stays.status == OPT_SOSP && took_steps(&p)) {
      double length = la_norm(DIM, p.way);
      moved += length > 0;
      CHECK(p.moves.status == OPT_SOSP && p.way[0] == 0);
      CHECK(isnan(p.moves.gradient_norm) && isnan(p.moves.eigen_min));
      CHECK_NEAR(p.moves.trace.rows[p.moves.trace.length - 1].step, length, 1e-9);
      CHECK_NEAR(p.moves.gradient_upper, p.stays.gradient_upper + p.smooth * length, 1e-12);
      CHECK_NEAR(p.moves.eigen_lower, fmax(p.stays.eigen_lower - p.third * length, -p.lower), 1e-12);
      CHECK(p.moves.gradient_upper <= o.eps_g * (1 + 1e-12) && p.moves.eigen_lower >= -o.eps_h * (1 + 1e-12));
      CHECK(p.gradient <= p.moves.gradient_upper);
    }
    free_pair(&p);
  }
  CHECK(moved > RUNS / 4);
}

/* With next to no curvature the mean is far away: the target limits the way, by the gradient or by the eigenvalue. */
static void goes_as_far_as_allowed(void) {
  int by_gradient = 0, by_eigenvalue = 0;
  for (uint64_t i = 0; i < RUNS; i++) {
    struct pair p = {.rho = 300};
    struct opt_options o = run_options(OPT_SHORT_STEP, 0);
    o.eps_g = i % 2 ? 0.15 : 0.04;
    o.eps_h = i % 2 ? 0.03 : 0.1; /* the largest negative curvature is 0.096 */
    run_pair("sigmoid", o, 1e-6, 9000 + i, &p);
    if (p.stays.status == OPT_SOSP && took_steps(&p)) {
      int gradient = p.moves.gradient_upper > o.eps_g * (1 - 1e-9);
      int eigenvalue = p.moves.eigen_lower < -o.eps_h * (1 - 1e-9);
      CHECK(gradient || eigenvalue);
      CHECK(p.moves.gradient_upper <= o.eps_g * (1 + 1e-9) && p.moves.eigen_lower >= -o.eps_h * (1 + 1e-9));
      by_gradient += gradient;
      by_eigenvalue += eigenvalue;
    }
    free_pair(&p);
  }
  CHECK(by_gradient > 0 && by_eigenvalue > 0);
}

/* Without a certificate the end is where the model of the last gradients has its minimum; nothing is known there. */
static void uncertified_end(void) {
  int moved = 0;
  for (uint64_t i = 0; i < RUNS; i++) {
    struct pair p = {.rho = 3};
    struct opt_options o = run_options(OPT_SHORT_STEP, 0);
    double h = 0.2;
    o.eps_g = 1e-6;
    run_pair("logistic", o, h, 9500 + i, &p);
    if (took_steps(&p) && la_norm(DIM, p.way) > 0) {
      moved++;
      CHECK(p.moves.status == OPT_BUDGET && isnan(p.moves.gradient_upper) && isnan(p.moves.eigen_lower));
      CHECK(p.way[0] == 0);
      CHECK(la_norm(DIM, p.way) <= p.moves.trace.rows[p.moves.trace.length - 1].estimate / h * (1 + 1e-9));
    }
    free_pair(&p);
  }
  CHECK(moved > RUNS / 4);
}

/* From a start one unit away, with a distribution of the solution so wide that nothing is shrunk. */
static void run_pair(const char *loss, struct opt_options o, double h, uint64_t seed, struct pair *p) {
  o.spend_all = 1;
  o.signal = 1e6;
  o.signals = 1;
  for (int k = 0; k < 2; k++) {
    struct fixture f;
    struct objective objective;
    struct opt_result *r = k ? &p->moves : &p->stays;
    double w[DIM] = {0, 1}, g[DIM];
    o.start_curvature = k * h;
    ctest_seed(seed);
    fixture_open(&f, loss, 400, DIM - 1, 1, ORACLE_REPLACE_ONE, p->rho);
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, p->rho, w, r) == BASE_OK);
    CHECK(sums_gradient(oracle_all(f.oracle), w, g) == BASE_OK);
    objective_init(&objective, f.oracle, &run_no_penalty);
    p->smooth = objective.smooth;
    p->third = objective.third;
    p->lower = objective.lower;
    p->gradient = la_norm(DIM, g);
    for (int j = 0; j < DIM; j++) {
      if (k == 0) p->w[j] = w[j];
      p->way[j] = w[j] - p->w[j];
    }
    fixture_close(&f);
  }
}

static void free_pair(struct pair *p) {
  opt_result_free(&p->stays);
  opt_result_free(&p->moves);
}
