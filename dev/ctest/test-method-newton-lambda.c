/* Newton runs: the regularisation lambda0 follows noise and signal, noisy matrices are repaired. */
#include "run.h"

enum { DIM = 4 };

static void lambda0_follows_the_trace(void);
static void matrix_is_repaired(void);
static void horizon_is_kept(void);
static void lambda0_falls_with_the_signal(void);

void test_method_newton_lambda(void) {
  lambda0_follows_the_trace();
  matrix_is_repaired();
  horizon_is_kept();
  lambda0_falls_with_the_signal();
}

/* lambda0 = (scale tr (b / n)^2 / rho)^(1/3), at least what descent needs and 1 / n, from the trace as released: seen
 * in the direction's noise. A ridge penalty on all coordinates adds to it. */
static void lambda0_follows_the_trace(void) {
  static const struct penalty all = {PENALTY_RIDGE, 0.05, 0, 0};
  int by_descent = 0, by_scale = 0;
  for (int k = 0; k < 3; k++) {
    struct newton_options o = run_options_newton(NEWTON_HESSIAN);
    struct fixture f;
    struct opt_result r;
    double w[DIM] = {0}, rho = k == 1 ? 1e-3 : 1, n = 200, c = 0.25 / n;
    if (k == 1) o.lambda0 = 0.07;
    o.lambda_scale = k == 2 ? 1e4 : 1;
    fixture_open(&f, "logistic", (size_t)n, DIM, 0, ORACLE_REPLACE_ONE, rho);
    CHECK(newton_run(f.oracle, k == 2 ? &all : &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    CHECK(run_spent_on(&r, "trace") > 0 || k == 1);
    for (size_t i = 0; i < r.trace.length; i++) {
      const struct trace_row *row = &r.trace.rows[i], *gradient = row - (k == 1 ? 1 : 2);
      if (strcmp(row->query, "direction") != 0) continue;
      double trace = fmax(row[-1].estimate, 0), descent = sqrt(c * trace / sqrt(0.5 * row->rho));
      double lambda0 = k == 1 ? 0.07 : fmax(fmax(cbrt(o.lambda_scale * trace * c * c / row->rho), descent), 1 / n);
      by_descent += lambda0 == descent;
      by_scale += lambda0 > descent && lambda0 > 1 / n && k != 1;
      double m = lambda0 + (k == 2 ? 0.05 : 0);
      double sd = gradient->estimate * c / (m * (m + c)) / sqrt(2 * row->rho);
      CHECK_NEAR(row->sd, sd, 1e-6 * sd);
    }
    opt_result_free(&r);
    fixture_close(&f);
  }
  CHECK(by_descent > 0 && by_scale > 0);
}

/* Noise far larger than the matrix: its negative eigenvalues are raised, steps stay bounded by |g| / lambda0. */
static void matrix_is_repaired(void) {
  for (int modify = MODIFY_ADD; modify <= MODIFY_CLIP; modify++) {
    for (int curvature = NEWTON_LAZY; curvature <= NEWTON_DIRECT; curvature++) {
      struct newton_options o = run_options_newton((enum newton_curvature)curvature);
      struct fixture f;
      struct opt_result r;
      double w[DIM] = {0}, rho = 1e-4, lambda0 = 0, least = 0;
      o.modify = modify;
      fixture_open(&f, "logistic", 30, DIM, 0, ORACLE_REPLACE_ONE, rho);
      CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
      for (size_t i = 0; i + 1 < r.trace.length; i++) {
        const struct trace_row *row = &r.trace.rows[i];
        int gradient = strcmp(row->query, "gradient") == 0;
        if (!gradient) lambda0 = sqrt(2 * DIM) * row->sd;
        if (!gradient) least = fmin(least, row->estimate);
        const struct trace_row *last = curvature == NEWTON_LAZY ? row : row - 1;
        if (gradient == (curvature == NEWTON_LAZY)) CHECK(row->step <= last->estimate / lambda0 * (1 + 1e-12));
      }
      CHECK(least < 0);
      opt_result_free(&r);
      fixture_close(&f);
    }
  }
}

/* Lazy: T steps along a direction without curvature go as far as T / lambda0 = 1 / (scale s sqrt(d)), whatever T. */
static void horizon_is_kept(void) {
  for (int iterations = 10; iterations <= 80; iterations *= 2) {
    struct newton_options o = run_options_newton(NEWTON_LAZY);
    struct fixture f;
    struct opt_result r;
    size_t n = 200;
    double *x = base_alloc(n * DIM, sizeof *x), *y = base_alloc(n, sizeof *y), w[DIM] = {0}, rho = 1;
    for (size_t i = 0; i < n; i++) y[i] = 1; /* rows of zeros: the gradient is all noise */
    o.iterations = iterations;
    o.lambda_scale = 0.3;
    fixture_open_rows(&f, "logistic", x, y, n, DIM, 0, ORACLE_REPLACE_ONE, rho);
    double lambda0 = 0.3 * iterations * sqrt(DIM) * oracle_sd_gradient(f.oracle, w, 0.6 * 0.9 * rho), most = 0;
    CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    for (size_t i = 1; i + 1 < r.trace.length; i++) {
      CHECK(r.trace.rows[i].step <= r.trace.rows[i].estimate / lambda0 * (1 + 1e-9));
      most = fmax(most, r.trace.rows[i].step / r.trace.rows[i].estimate * lambda0);
    }
    CHECK(most > 0.8); /* along the eigenvectors whose noise was negative it is one */
    opt_result_free(&r);
    fixture_close(&f);
  }
}

/* Of a step over its gradient: one over lambda0 or less, and near it somewhere. */
static double longest_step(const struct opt_result *r, size_t from, size_t to) {
  double longest = 0;
  for (size_t i = from; i < to; i++) longest = fmax(longest, r->trace.rows[i].step / r->trace.rows[i].estimate);
  return longest;
}

/* Twelve looks: on pure noise few of them see anything, on strong data the first ones do. */
static void lambda0_falls_with_the_signal(void) {
  double halved[2] = {0, 0};
  int runs = ctest_size(40, 4);
  for (int i = 0; i < runs; i++) {
    for (int signal = 0; signal <= 1; signal++) {
      struct newton_options o = run_options_newton(NEWTON_LAZY);
      struct fixture f;
      struct opt_result r;
      size_t n = 500;
      double *x = base_alloc(n * DIM, sizeof *x), *y = base_alloc(n, sizeof *y), w[DIM] = {0}, rho = 5;
      for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < DIM; j++) x[k + j * n] = signal ? 0.05 * ctest_normal() : 0;
        y[k] = x[k] > 0 ? 1 : -1;
      }
      o.iterations = 48;
      o.adaptive = 1;
      o.lambda_scale = 1;
      fixture_open_rows(&f, "logistic", x, y, n, DIM, 0, ORACLE_REPLACE_ONE, rho);
      CHECK(newton_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
      halved[signal] += log2(longest_step(&r, 40, 49) / longest_step(&r, 1, 5)) / runs;
      opt_result_free(&r);
      fixture_close(&f);
    }
  }
  CHECK(halved[0] < 2);
  CHECK(halved[1] > halved[0] + 1);
}
