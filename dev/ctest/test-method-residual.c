/* Squared error with clipped residuals: with a large budget the least squares; what skewed residuals, null records and
 * badly scaled coordinates do to it; the scale of residuals and the posterior mean; what it spends and refuses. */
#include "residual.h"

static void finds_least_squares(double scale, int missing);
static void corrects_skewed_residuals(int slopes);
static void passes_through_the_origin(int slopes);
static void clips_by_the_scale(void);
static void moves_on_from_the_iterates(void);
static void iterates_vary_little(void);
static void keeps_its_level(void);
static void finds_the_scale(void);
static void posterior_of_known_level(void);
static void posterior_of_usual_signals(void);
static void posterior_as_without_a_level(void);
static void refused(void);

void test_method_residual(void) {
  static const double scales[] = {1.2, 0.4, 2};
  for (int k = 0; k < 3; k++) finds_least_squares(scales[k], 0);
  finds_least_squares(1.2, 1);
  for (int slopes = 0; slopes <= 1; slopes++) corrects_skewed_residuals(slopes);
  for (int slopes = 0; slopes <= 1; slopes++) passes_through_the_origin(slopes);
  clips_by_the_scale();
  moves_on_from_the_iterates();
  iterates_vary_little();
  keeps_its_level();
  finds_the_scale();
  posterior_of_known_level();
  posterior_of_usual_signals();
  posterior_as_without_a_level();
  refused();
}

/* y = 0.2 + 0.3 x_1 - 0.2 x_2 + noise; every third record is null if some are missing. */
static void open_numbers(struct fixture *f, struct fixture_coordinates *c, size_t n, double scale, int missing,
                         double (*noise)(void), double capacity) {
  double *x = normal_rows(n), *y = base_alloc(n, sizeof *y);
  for (size_t i = 0; i < n; i++) {
    y[i] = 0.2 + 0.3 * x[i] - 0.2 * x[i + n] + noise();
    if (missing && i % 3 == 0) y[i] = NAN;
  }
  open_rows(f, c, "squared", x, y, n, scale, 20, capacity);
}

static double uniform_noise(void) { return 0.2 * (ctest_uniform() - 0.5); }
static double skewed_noise(void) { return -0.05 * (log(ctest_uniform()) + 1); }

static void finds_least_squares(double scale, int missing) {
  struct residual_options o = run_options_residual();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0.5}, rho = 1e8;
  open_numbers(&f, &c, 2000, scale, missing, uniform_noise, 2 * rho);
  if (missing) o.present = 2 / 3.0;
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK_NEAR(exact_gradient(&f, &c, w), 0, 3e-4); /* of the sample it is 0.0013 at the true coefficients */
  CHECK(r.status == OPT_ITERATIONS && isnan(r.gradient_norm));
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9 * rho);
  CHECK(ledger_accountant_of(f.ledger) == LEDGER_GDP);
  CHECK_NEAR(run_spent_on(&r, "weighted matrix"), 0.07 * rho, 1e-6 * rho);
  CHECK_NEAR(run_spent_on(&r, "residual counts"), 0.08 * rho, 1e-6 * rho);
  CHECK_NEAR(run_spent_on(&r, "recalibration"), 0.06 * rho, 1e-6 * rho);
  /* Rows then have a norm of about one. */
  double trace = 0, h[DIM * DIM];
  CHECK(sums_weighted(oracle_all(f.oracle), h) == BASE_OK);
  for (size_t j = 0; j < DIM; j++) trace += h[j + j * DIM];
  CHECK_NEAR(trace, o.present, 0.1);
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* A clip at half of the scale estimates nearly medians, which lie below means; the recalibration restores the level. */
static void corrects_skewed_residuals(int slopes) {
  struct residual_options o = run_options_residual();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0.5}, rho = 1e6, mean;
  o.clip = o.first = 0.5;
  o.slopes = slopes;
  open_numbers(&f, &c, 20000, 1.2, 0, skewed_noise, 2 * rho);
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  for (size_t j = 0; j < COLUMNS; j++) w[j + 1] *= c.scale[j] / oracle_scale(f.oracle)[j];
  const struct ask ask = {.at = w, .clip = 100};
  CHECK(mean_of(oracle_all(f.oracle), &query_recalibration, &ask, &mean) == BASE_OK);
  CHECK_NEAR(mean, 0, slopes ? 0.005 : 0.02); /* the median is 0.015 below the mean */
  CHECK(slopes || fabs(mean) > 0.005);
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* Without an intercept, and with columns whose means are far from zero: the least squares through zero. */
static void passes_through_the_origin(int slopes) {
  struct residual_options o = run_options_residual();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  const size_t n = 2000;
  double *x = normal_rows(n), *y = base_alloc(n, sizeof *y), w[COLUMNS] = {0}, g[COLUMNS], rho = 1e8, first;
  fixture_storage = FIXTURE_DENSE;
  for (size_t i = 0; i < n; i++) {
    x[i] = 0.5 + 0.3 * x[i];
    y[i] = 0.1 + 0.8 * x[i] - 0.2 * x[i + n] + uniform_noise();
  }
  o.slopes = slopes;
  if (!slopes) o.recalibration_share = 0;
  fixture_open_rows(&f, "squared", x, y, n, COLUMNS, 0, ORACLE_REPLACE_ONE, 2 * rho);
  CHECK(fixture_coordinates(f.data, 1.2, 1, 20, 1, &c) == BASE_OK);
  CHECK(oracle_move(f.oracle, c.made) == BASE_OK);
  const struct ask ask = {.at = w, .clip = 100};
  CHECK(mean_of(oracle_all(f.oracle), &query_residual_gradient, &ask, g) == BASE_OK);
  first = la_norm(COLUMNS, g);
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  run_check(&f, &r, w, rho);
  CHECK_NEAR(ledger_spent(f.ledger), rho, 1e-9 * rho);
  for (size_t j = 0; j < COLUMNS; j++) w[j] *= c.scale[j] / oracle_scale(f.oracle)[j];
  CHECK(mean_of(oracle_all(f.oracle), &query_residual_gradient, &ask, g) == BASE_OK);
  CHECK(la_norm(COLUMNS, g) < 0.003 * first);
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* The clip of a phase, and so its noise, follow from the residuals: sd and cost of its gradients agree with 2 c R / n.
 */
static void clips_by_the_scale(void) {
  struct residual_options o = run_options_residual();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0.5}, rho = 1e4, scale = 0, factor = 0;
  open_numbers(&f, &c, 2000, 1.2, 0, uniform_noise, 2 * rho);
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  for (size_t i = 0; i < r.trace.length; i++) {
    const struct trace_row *row = &r.trace.rows[i];
    if (strcmp(row->query, "residual counts") == 0) scale = row->estimate;
    if (strcmp(row->query, "residual gradient") != 0) continue;
    factor = row->sd * sqrt(2 * row->rho) * 2000 / (2 * 20 * fmin(4 * scale, 2));
    CHECK_NEAR(factor, 1, 1e-6);
  }
  CHECK(factor > 0);
  CHECK_NEAR(scale, 0.068, 0.02); /* 68 % of |uniform noise| */
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* Few and short steps with little noise: the iterates stay near the start, the solution does not. */
static void moves_on_from_the_iterates(void) {
  struct residual_options o = run_options_residual();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0.5}, rho = 1e8, first = 0;
  o.iterations = 8;
  o.least = 1e7;
  open_numbers(&f, &c, 2000, 1.2, 0, uniform_noise, 2 * rho);
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  for (size_t i = 0; i < r.trace.length; i++) {
    if (first == 0 && strcmp(r.trace.rows[i].query, "residual gradient") == 0) first = r.trace.rows[i].estimate;
  }
  /* Up to the error of p, which the fit of a t distribution to uniform residuals has. */
  CHECK_NEAR(exact_gradient(&f, &c, w), 0, 0.05 * first);
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* Much noise, and nothing else that keeps steps short: iterates stay within the scale of the residuals. */
static void iterates_vary_little(void) {
  struct residual_options o = run_options_residual();
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {0.5}, rho = 0.02, longest = 0, scale = 0;
  o.reach = 1e9;
  o.least = 1e-9;
  open_numbers(&f, &c, 1000, 1.2, 0, uniform_noise, 2 * rho);
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
  for (size_t i = 0; i < r.trace.length; i++) {
    const struct trace_row *row = &r.trace.rows[i];
    if (strcmp(row->query, "residual counts") == 0) scale = row->estimate;
    longest = fmax(longest, row->step / scale);
  }
  CHECK(longest > 0.01);
  CHECK(longest < 3);
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* Little budget, and a level that is known well: the slopes may be lost, the level is not. */
static void keeps_its_level(void) {
  int runs = ctest_size(30, 4);
  double worst = 0;
  for (int i = 0; i < runs; i++) {
    struct residual_options o = run_options_residual();
    struct fixture f;
    struct fixture_coordinates c;
    struct opt_result r;
    double w[DIM] = {0.5}, rho = 1e-4;
    ctest_seed(30 + (uint64_t)i);
    o.slopes = 0;
    o.level = 1e-3;
    open_numbers(&f, &c, 1000, 1.2, 0, uniform_noise, 2 * rho);
    CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    worst = fmax(worst, fabs(w[0] - 0.5));
    opt_result_free(&r);
    close_numbers(&f, &c);
  }
  CHECK(worst < 0.02);
}

/* ---- scale ---- */

/* P(|T| < x), T of the t distribution with 5 degrees of freedom, by the midpoint rule. */
static double within(double x) {
  double sum = 0, density = 0.3796066898224944;
  for (int i = 0; i < 20000; i++) {
    double t = x * (i + 0.5) / 20000;
    sum += density * pow(1 + t * t / 5, -3) * x / 20000;
  }
  return 2 * sum;
}

/* Counts of a sample from this distribution. */
static void finds_the_scale(void) {
  double end[ENDS], count[ENDS] = {0}, scale = 0.03;
  for (int j = 0; j < ENDS; j++) end[j] = 2 * exp2((j - ENDS + 1) / 2.0);
  for (int i = 0; i < 40000; i++) {
    double chi = 0;
    for (int k = 0; k < 5; k++) chi += pow(ctest_normal(), 2);
    double size = fabs(scale * ctest_normal() / sqrt(chi / 5));
    int j = 0;
    while (j < ENDS - 2 && size > end[j + 1]) j++;
    double part = fmin(1, fmax(0, (size - end[j]) / (end[j + 1] - end[j])));
    count[j] += (1 - part) / 40000;
    count[j + 1] += part / 40000;
  }
  struct residual_counts c = {ENDS, end, count, 1e-3, 1, 0, 0};
  const struct residual_scale s = residual_scale(&c);
  CHECK_NEAR(s.scale / scale, 1, 0.03);
  CHECK_NEAR(within(s.sd / s.scale), 0.68, 1e-3);
  CHECK_NEAR(residual_within(&s, 0.05), within(0.05 / s.scale), 1e-6);
  CHECK(within(s.far / scale) > 0.98 && within(s.far / scale) < 0.999);
  for (int j = 0; j < ENDS; j++) count[j] *= 0.25;
  c.present = 0.25;
  CHECK_NEAR(residual_scale(&c).scale / s.scale, 1, 0.004);
  c.sd = 0.01;
  CHECK(residual_scale(&c).error > 2 * s.error && s.error > 0);
  count[ENDS - 1] += 0.02; /* noise may be this large */
  CHECK(residual_scale(&c).far < 5 * s.sd);
  count[ENDS - 1] += 0.015;
  CHECK_NEAR(residual_scale(&c).far, end[ENDS - 1], 1e-12);
  count[ENDS - 1] -= 0.035;
  count[ENDS - 8] += 0.06; /* as this, but for sizes that are likely */
  CHECK_NEAR(residual_scale(&c).far, (end[ENDS - 8] + end[ENDS - 7]) / 2, 1e-12);
  count[ENDS - 8] -= 0.06;
  c.expected = 8 * s.scale; /* between the counts and this, and nearer to it with more noise */
  c.doubt = 0.5;
  const double near = residual_scale(&c).scale / s.scale;
  CHECK(near > 1 && near < 2);
  c.sd = 0.05;
  CHECK(residual_scale(&c).scale / s.scale > 2 && residual_scale(&c).scale < c.expected);
  c.sd = 10;
  CHECK_NEAR(log2(residual_scale(&c).scale / c.expected), 0, 0.05);
  CHECK_NEAR(residual_scale(&c).error, 0.5 * M_LN2, 0.01);
  c.expected = 0; /* a spread of zero says nothing */
  CHECK_NEAR(log2(residual_scale(&c).scale), 1 - 6, 0.1);
  c.doubt = 0; /* nothing is known: the middle of the scales, and all residuals may be large */
  CHECK_NEAR(log2(residual_scale(&c).scale), 1 - 6, 0.1);
  CHECK_NEAR(residual_scale(&c).far, (end[0] + end[1]) / 2, 1e-12);
}

/* ---- posterior ---- */

/* Without slopes, the posterior of a normal mean; the first coordinate has the variance given, whatever t is. */
static void posterior_of_known_level(void) {
  double product[4] = {3, 0, 0, 5}, weighted[2] = {6, 0}, variance[2] = {0.25, 1}, scratch[4], a[2], first;
  const struct posterior_known p = {2, product, weighted, variance, scratch, 1e-9, 3, INFINITY, 0, NULL};
  CHECK(posterior_known_mean(&p, a, &first) == BASE_OK);
  CHECK_NEAR(a[0], 6 / (3 + 4.0), 1e-12);
  CHECK_NEAR(first, 1 / (3 + 4.0), 1e-12);
  CHECK_NEAR(a[1], 0, 1e-12);
  weighted[1] = 500; /* a strong signal in the second */
  const struct posterior_known strong = {2, product, weighted, variance, scratch, 1000, 1, INFINITY, 0, NULL};
  CHECK(posterior_known_mean(&strong, a, &first) == BASE_OK);
  CHECK_NEAR(a[0], 6 / 7.0, 1e-12);
  CHECK_NEAR(a[1], 100, 1e-3);
  const struct posterior_known origin = {2, product, weighted, variance, scratch, 1000, 1, INFINITY, 1, NULL};
  CHECK(posterior_known_mean(&origin, a, &first) == BASE_OK);
  CHECK_NEAR(a[0], 2, 1e-3); /* no coordinate has a variance of its own */
}

/* t is zero or 2, which is unlikely. */
static void posterior_of_usual_signals(void) {
  double product[4] = {3, 0, 0, 5}, weighted[2] = {6, 2}, variance[2] = {0.25, 1}, scratch[4], a[2], first;
  const struct posterior_known p = {2, product, weighted, variance, scratch, 2, 1, 1, 0, NULL};
  CHECK(posterior_known_mean(&p, a, &first) == BASE_OK);
  const double large = exp(2 * 2 * 4 / (1 + 4 * 5.0) / 2) / sqrt(1 + 4 * 5.0) / (1 + pow(2, 4));
  CHECK_NEAR(a[1], large / (1 + large) * 4 * 2 / (1 + 4 * 5.0), 1e-12);
}

/* One t, independent noise, and a signal that excludes t = 0: as posterior_mean(). */
static void posterior_as_without_a_level(void) {
  double h[DIM * DIM], product[DIM * DIM] = {0}, weighted[DIM] = {0}, variance[DIM], v[DIM], a[2][DIM], first, s = 0.1;
  double scratch[DIM * DIM], t = 2;
  for (size_t i = 0; i < DIM * DIM; i++) h[i] = i % (DIM + 1) == 0 ? 1 + 0.1 * (double)i : 0.1;
  for (size_t j = 0; j < DIM; j++) {
    variance[j] = 0.5 + 0.1 * (double)j;
    v[j] = 3 - (double)j;
  }
  const struct posterior without = {DIM, h, variance, s, t, 1, INFINITY, NULL};
  CHECK(posterior_mean(&without, v, a[0]) == BASE_OK);
  for (size_t j = 0; j < DIM; j++) {
    for (size_t i = 0; i < DIM; i++) product[i + j * DIM] = la_dot(DIM, h + i * DIM, h + j * DIM) / (s * s);
    weighted[j] = la_dot(DIM, h + j * DIM, v) / (s * s);
  }
  variance[0] *= t * t;
  const struct posterior_known known = {DIM, product, weighted, variance, scratch, t, 1, INFINITY, 0, NULL};
  CHECK(posterior_known_mean(&known, a[1], &first) == BASE_OK);
  for (size_t j = 0; j < DIM; j++) CHECK_NEAR(a[1][j], a[0][j], 1e-10);
}

/* ---- refusals ---- */

/* A loss of bounded slope, counts without an intercept, and rows that are not weighted; nothing is charged. */
static void refused(void) {
  for (int k = 0; k < 3; k++) {
    struct residual_options o = run_options_residual();
    struct fixture f;
    struct fixture_coordinates c = {.made = NULL};
    struct opt_result r;
    double w[DIM] = {0};
    o.exponential = k == 1;
    fixture_open(&f, k == 0 ? "huber" : k == 1 ? "poisson" : "squared", 50, COLUMNS, k != 1, ORACLE_REPLACE_ONE, 1);
    CHECK(fixture_coordinates(f.data, 1, k != 2, 1, 1, &c) == BASE_OK);
    CHECK(oracle_move(f.oracle, c.made) == BASE_OK);
    CHECK(residual_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ARGUMENT);
    CHECK(ledger_length(f.ledger) == 0 && fixture_all_zero(DIM, w));
    opt_result_free(&r);
    close_numbers(&f, &c);
  }
}
