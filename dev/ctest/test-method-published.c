/* Runs with the published constants: the tests, costs and noise levels of Gao & Wright, replayed from the trace. */
#include "run.h"

enum { DIM = 4 };

static void replay(const char *loss, enum opt_line_search search, int two_phase, double eps_g, double eps_h);
static void noise_level(void);
static void planned(void);

void test_method_published(void) {
  for (int two_phase = 0; two_phase <= 1; two_phase++) {
    replay("logistic", OPT_SHORT_STEP, two_phase, 0.1, 0.2);
    replay("logistic", OPT_SVT, two_phase, 0.1, 0.2);
    replay("sigmoid", OPT_SHORT_STEP, two_phase, 0.05, 0.05);
    replay("sigmoid", OPT_GAUSSIAN, two_phase, 0.05, 0.05);
    replay("logistic", OPT_SVT, two_phase, 1e-4, 0.2);
  }
  noise_level();
  planned();
}

/*
 * Row by row: a gradient above eps_g / 1.1 is followed by a step and the next
 * gradient; one below it by a Hessian; an eigenvalue below -eps_h / 1.1 by a
 * step; any other by the end. Nothing else ends a run but its iterations.
 */
static void replay(const char *loss, enum opt_line_search search, int two_phase, double eps_g, double eps_h) {
  for (int seed = 1; seed <= ctest_size(6, 1); seed++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options_published(search, two_phase);
    double w[DIM] = {0}, rho = 0.2;
    ctest_seed((uint64_t)seed);
    fixture_open(&f, loss, 2000, DIM, 0, ORACLE_REPLACE_ONE, rho);
    run_decide(&f, search);
    o.eps_g = eps_g;
    o.eps_h = eps_h;
    o.max_iterations = 40;
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    run_check(&f, &r, w, rho);
    int stopped = 0, lawful = 1, gradients = 0;
    for (size_t i = 0; i < r.trace.length; i++) {
      const struct trace_row *row = &r.trace.rows[i], *next = i + 1 < r.trace.length ? row + 1 : NULL;
      int large = strcmp(row->query, "gradient") == 0 ? row->estimate > eps_g / 1.1 : row->estimate < -eps_h / 1.1;
      lawful = lawful && !stopped;
      gradients += strcmp(row->query, "gradient") == 0;
      if (strcmp(row->query, "line search") == 0) {
        lawful = lawful && row->step > 0 && (!next || strcmp(next->query, "gradient") == 0);
      } else if (large) {
        const char *then = search == OPT_SHORT_STEP ? "gradient" : "line search";
        lawful = lawful && (!next || strcmp(next->query, then) == 0);
        lawful = lawful && (row->step > 0) == (search == OPT_SHORT_STEP);
      } else if (strcmp(row->query, "gradient") == 0) {
        lawful = lawful && next && strcmp(next->query, "hessian") == 0 && row->step == 0;
      } else {
        lawful = lawful && row->step == 0;
        stopped = 1;
      }
    }
    CHECK(lawful);
    CHECK((r.status == OPT_SOSP) == stopped);
    if (!stopped)
      CHECK(r.status == OPT_ITERATIONS && gradients == r.planned + (two_phase ? (int)ceil(sqrt(r.planned)) : 0));
    if (eps_g < 1e-3) CHECK(!stopped);
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* sigma^2 = T / rho, so a gradient may cost rho / (2 T) and has sd 2 sigma / n, which a quarter pays for at w = 0; a
 * third less with a line search. */
static void noise_level(void) {
  for (int search = 0; search <= 1; search++) {
    struct fixture f;
    struct opt_result r;
    struct opt_options o = run_options_published(search ? OPT_SVT : OPT_SHORT_STEP, 0);
    double w[DIM] = {0}, rho = 0.5, n = 500, t = 25;
    fixture_open(&f, "logistic", (size_t)n, DIM, 0, ORACLE_REPLACE_ONE, rho);
    run_decide(&f, o.search);
    o.eps_g = 1e-3;
    o.max_iterations = (int)t;
    CHECK(opt_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    double sigma2 = (search ? 1.5 : 1) * t / rho;
    CHECK_NEAR(r.trace.rows[0].rho, 1 / (8 * sigma2), 1e-6 / sigma2);
    CHECK_NEAR(r.trace.rows[0].sd, 2 * sqrt(sigma2) / n, 1e-6 * r.trace.rows[0].sd);
    if (search) CHECK_NEAR(r.trace.rows[1].rho, 0.11 / sigma2, 1e-9 / sigma2); /* eps = 1 / sigma, at most 20 queries */
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* T = gap / MIN_DEC: Gao & Wright (10) with c = c1 = c2 = 0.1 and G = M = 1, targets divided by 1.1. */
static void planned(void) {
  struct fixture f;
  struct opt_result r;
  struct opt_options o = run_options_published(OPT_SHORT_STEP, 0);
  double w[DIM] = {0};
  fixture_open(&f, "logistic", 200, DIM, 0, ORACLE_REPLACE_ONE, 1);
  o.eps_g = 0.11;
  o.eps_h = 0.33;
  o.max_iterations = 100000;
  CHECK(opt_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_OK);
  CHECK(r.planned == 125); /* 0.5 / (0.8 / 2 0.1^2), and 2 (1/3 - 0.2) 0.3^3 is the larger decrease */
  CHECK(r.gap == 0.5);
  opt_result_free(&r);
  fixture_close(&f);
}
