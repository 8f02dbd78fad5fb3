/* Counts with clipped residuals: with a large budget the maximum likelihood; the least clip; the level alone; and
 * whether the signal that a run measures is that of noise. */
#include "residual.h"

static void finds_counts(double slope);
static void clips_no_event(void);
static void only_the_level(void);
static double effective(double slope);

void test_method_counts(void) {
  finds_counts(0.5);
  finds_counts(1);
  clips_no_event();
  only_the_level();
  double none = effective(0);
  CHECK(effective(0.5) > none + 1);
  CHECK(none < 1.2);
}

/* Skewed y of mean e^t, t = slope (2 x_1 - x_2) - 3, about 1/20 of the largest count. Returns their mean. */
static double open_counts(struct fixture *f, struct fixture_coordinates *c, size_t n, double slope, double cap,
                          double capacity) {
  double *x = normal_rows(n), *y = base_alloc(n, sizeof *y), sum = 0;
  for (size_t i = 0; i < n; i++) {
    y[i] = fmin(1, -log(ctest_uniform()) * exp(slope * (2 * x[i] - x[i + n]) - 3));
    sum += y[i];
  }
  open_rows(f, c, "poisson", x, y, n, 1.2, cap, capacity);
  return sum / (double)n;
}

static struct residual_options options_of_counts(double mean) {
  struct residual_options o = run_options_residual();
  o.curvature = mean;
  o.most = o.spread = 1;
  o.exponential = 1;
  o.iterate_sd = 0.3;
  return o;
}

/* The level is known well, and the intercept is below it. */
static void finds_counts(double slope) {
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1e8, mean = open_counts(&f, &c, 20000, slope, 20, 2 * rho);
  struct residual_options o = options_of_counts(mean);
  o.level = 1e-3;
  w[0] = log(mean) / c.spec.constant;
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  CHECK_NEAR(exact_gradient(&f, &c, w) / mean, 0, 0.03 * slope); /* at the start it is about 0.3 slope */
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9 * rho);
  CHECK(r.status == OPT_ITERATIONS && r.effective > DIM - 1.5 && r.effective <= DIM);
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* A clip smaller than one event becomes one event: sd and cost agree with 2 c R / n. */
static void clips_no_event(void) {
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0}, rho = 1e4, mean = open_counts(&f, &c, 2000, 0.5, 20, 2 * rho);
  struct residual_options o = options_of_counts(mean);
  o.event = 0.7;
  w[0] = log(mean) / c.spec.constant;
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  for (size_t i = 0; i < r.trace.length; i++) {
    const struct trace_row *row = &r.trace.rows[i];
    if (strcmp(row->query, "residual gradient") == 0) {
      CHECK_NEAR(row->sd * sqrt(2 * row->rho) * 2000 / (2 * 20 * 0.7), 1, 1e-6);
    }
  }
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* Without iterations nothing is released, and no gain is claimed. */
static void only_the_level(void) {
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {-2}, mean = open_counts(&f, &c, 100, 0.5, 20, 1);
  struct residual_options o = options_of_counts(mean);
  o.iterations = 0;
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_OK);
  CHECK(ledger_length(f.ledger) == 0 && w[0] == -2 && fixture_all_zero(DIM - 1, w + 1));
  CHECK(r.effective == 0 && r.trace.length == 0);
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* The mean number of coefficients that follow the records: most with a signal, hardly any without. */
static double effective(double slope) {
  int runs = ctest_size(20, 4);
  double mean = 0;
  for (int i = 0; i < runs; i++) {
    struct fixture f;
    struct fixture_coordinates c;
    struct opt_result r;
    ctest_seed(70 + (uint64_t)i);
    double w[DIM] = {0}, rho = 1, level = open_counts(&f, &c, 2000, slope, 1.5, 2 * rho);
    struct residual_options o = options_of_counts(level);
    w[0] = log(level) / c.spec.constant;
    CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    mean += r.effective / runs;
    opt_result_free(&r);
    close_numbers(&f, &c);
  }
  return mean;
}
