/* Clipped residuals: with a large budget the least squares, or the maximum likelihood of counts; what skewed residuals,
 * null records and badly scaled coordinates do to it; the scale of residuals and the posterior mean; the signal; what it
 * spends and refuses. */
#include "run.h"

#include "method/private.h"

enum { DIM = 4, COLUMNS = DIM - 1, ENDS = 25 };

static void finds_least_squares(double scale, int missing);
static void corrects_skewed_residuals(int slopes);
static void clips_by_the_scale(void);
static void moves_on_from_the_iterates(void);
static void wanders_little(void);
static void keeps_its_level(void);
static void finds_counts(double slope);
static void clips_no_event(void);
static void only_the_level(void);
static void measures_the_signal(double slope);
static void finds_the_scale(void);
static void posterior_of_known_level(void);
static void posterior_as_without_a_level(void);
static void refused(void);

void test_method_residual(void) {
  static const double scales[] = {1.2, 0.4, 2};
  for (int k = 0; k < 3; k++) finds_least_squares(scales[k], 0);
  finds_least_squares(1.2, 1);
  for (int slopes = 0; slopes <= 1; slopes++) corrects_skewed_residuals(slopes);
  clips_by_the_scale();
  moves_on_from_the_iterates();
  wanders_little();
  keeps_its_level();
  finds_counts(0.5);
  finds_counts(1);
  clips_no_event();
  only_the_level();
  measures_the_signal(0);
  measures_the_signal(0.5);
  finds_the_scale();
  posterior_of_known_level();
  posterior_as_without_a_level();
  refused();
}

static struct residual_options run_options_residual(void) {
  return (struct residual_options){.iterations = 75,
                                   .matrix_share = 0.07,
                                   .counts_share = 0.02,
                                   .recalibration_share = 0.06,
                                   .slopes = 1,
                                   .present = 1,
                                   .curvature = 1,
                                   .most = 2,
                                   .level = 0.01,
                                   .spread = 0.5,
                                   .centre = 0.001,
                                   .clip = 4,
                                   .first = 1.5,
                                   .reach = 8,
                                   .least = 1.2,
                                   .wander = 0.7,
                                   .tail = 0.85,
                                   .signal = 1 / 64.0,
                                   .signals = 8};
}

static double *normal_rows(size_t n) {
  double *x = base_alloc(n * COLUMNS, sizeof *x);
  for (size_t i = 0; i < n * COLUMNS; i++) x[i] = 0.3 * ctest_normal();
  return x;
}

static void open_rows(struct fixture *f, struct fixture_coordinates *c, const char *loss, double *x, double *y,
                      size_t n, double scale, double cap, double capacity) {
  fixture_storage = FIXTURE_DENSE;
  fixture_open_rows(f, loss, x, y, n, COLUMNS, 1, ORACLE_REPLACE_ONE, capacity);
  for (size_t j = 0; j < COLUMNS; j++) {
    c->scale[j] = scale * (1 + 0.3 * (double)j);
    c->prior[j] = c->spread[j] = 0.5;
    c->centre[j] = 0.02 * (double)j;
  }
  c->spec = (struct coordinates_spec){.p = COLUMNS,
                                      .intercept = 1,
                                      .weighted = 1,
                                      .radius = 1,
                                      .constant = 0.4,
                                      .cap = cap,
                                      .bound = 1,
                                      .scale = c->scale,
                                      .prior = c->prior,
                                      .spread = c->spread,
                                      .centre = c->centre};
  CHECK(coordinates_create(&c->spec, &c->made) == BASE_OK);
  CHECK(oracle_move(f->oracle, c->made) == BASE_OK);
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
  o.wander = 0.3;
  return o;
}

static void close_numbers(struct fixture *f, struct fixture_coordinates *c) {
  fixture_close(f);
  coordinates_free(c->made);
}

static double uniform_noise(void) { return 0.2 * (ctest_uniform() - 0.5); }
static double skewed_noise(void) { return -0.05 * (log(ctest_uniform()) + 1); }

/* Norm of the gradient of squared error, which no residual is clipped in. The coefficients are of coordinates that the
 * run rescaled. */
static double exact_gradient(const struct fixture *f, const struct fixture_coordinates *c, const double *w) {
  double g[DIM], here[DIM];
  here[0] = w[0];
  for (size_t j = 0; j < COLUMNS; j++) here[j + 1] = w[j + 1] * c->scale[j] / oracle_scale(f->oracle)[j];
  const struct ask ask = {.at = here, .clip = 100};
  CHECK(mean_of(oracle_all(f->oracle), &query_residual_gradient, &ask, g) == BASE_OK);
  return la_norm(DIM, g);
}

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
static void wanders_little(void) {
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

/* ---- counts ---- */

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
  CHECK(r.status == OPT_ITERATIONS && r.signal > 5);
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

/* Without iterations nothing is released, and no signal is claimed. */
static void only_the_level(void) {
  struct fixture f;
  struct fixture_coordinates c;
  struct opt_result r;
  double w[DIM] = {-2}, mean = open_counts(&f, &c, 100, 0.5, 20, 1);
  struct residual_options o = options_of_counts(mean);
  o.iterations = 0;
  CHECK(residual_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_OK);
  CHECK(ledger_length(f.ledger) == 0 && w[0] == -2 && fixture_all_zero(DIM - 1, w + 1));
  CHECK(r.signal == 0 && r.trace.length == 0);
  opt_result_free(&r);
  close_numbers(&f, &c);
}

/* The square of the signal has about a chi-square distribution with three degrees of freedom where there is none: a mean
 * of 20 above 6 has probability 1e-7, and more than five beyond the 95 % quantile 3e-4. */
static void measures_the_signal(double slope) {
  int runs = ctest_size(20, 4);
  double sum = 0, beyond = 0;
  for (int i = 0; i < runs; i++) {
    struct fixture f;
    struct fixture_coordinates c;
    struct opt_result r;
    ctest_seed(70 + (uint64_t)i);
    double w[DIM] = {0}, rho = 1, mean = open_counts(&f, &c, 2000, slope, 1.5, 2 * rho);
    struct residual_options o = options_of_counts(mean);
    w[0] = log(mean) / c.spec.constant;
    CHECK(residual_run(f.oracle, &run_no_penalty, &o, rho, w, &r) == BASE_OK);
    sum += r.signal * r.signal / runs;
    beyond += (r.signal * r.signal > 7.815) / (double)runs; /* the 95 % quantile */
    opt_result_free(&r);
    close_numbers(&f, &c);
  }
  CHECK(slope > 0 ? beyond > 0.9 : sum < 6 && sum > 1 && beyond <= 0.25);
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
  struct residual_counts c = {ENDS, end, count, 1e-3, 1};
  const struct residual_scale s = residual_scale(&c);
  CHECK_NEAR(s.scale / scale, 1, 0.03);
  CHECK_NEAR(within(s.sd / s.scale), 0.68, 1e-3);
  CHECK_NEAR(residual_within(&s, 0.05), within(0.05 / s.scale), 1e-6);
  CHECK(within(s.far / scale) > 0.98 && within(s.far / scale) < 0.999);
  for (int j = 0; j < ENDS; j++) count[j] *= 0.25;
  c.present = 0.25;
  CHECK_NEAR(residual_scale(&c).scale / s.scale, 1, 0.004);
  c.sd = 10; /* nothing is known: the middle of the scales, and all residuals may be large */
  CHECK_NEAR(log2(residual_scale(&c).scale), 1 - 6, 0.1);
  CHECK_NEAR(residual_scale(&c).far, (end[0] + end[1]) / 2, 1e-12);
}

/* ---- posterior ---- */

/* Without slopes, the posterior of a normal mean; the first coordinate has the variance given, whatever t is. */
static void posterior_of_known_level(void) {
  double product[4] = {3, 0, 0, 5}, weighted[2] = {6, 0}, variance[2] = {0.25, 1}, scratch[4], a[2], first;
  const struct posterior_known p = {2, product, weighted, variance, scratch, 1e-9, 3};
  CHECK(posterior_known_mean(&p, a, &first) == BASE_OK);
  CHECK_NEAR(a[0], 6 / (3 + 4.0), 1e-12);
  CHECK_NEAR(first, 1 / (3 + 4.0), 1e-12);
  CHECK_NEAR(a[1], 0, 1e-12);
  weighted[1] = 500; /* a strong signal in the second */
  const struct posterior_known strong = {2, product, weighted, variance, scratch, 1000, 1};
  CHECK(posterior_known_mean(&strong, a, &first) == BASE_OK);
  CHECK_NEAR(a[0], 6 / 7.0, 1e-12);
  CHECK_NEAR(a[1], 100, 1e-3);
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
  const struct posterior without = {DIM, h, variance, s, t, 1};
  CHECK(posterior_mean(&without, v, a[0]) == BASE_OK);
  for (size_t j = 0; j < DIM; j++) {
    for (size_t i = 0; i < DIM; i++) product[i + j * DIM] = la_dot(DIM, h + i * DIM, h + j * DIM) / (s * s);
    weighted[j] = la_dot(DIM, h + j * DIM, v) / (s * s);
  }
  variance[0] *= t * t;
  const struct posterior_known known = {DIM, product, weighted, variance, scratch, t, 1};
  CHECK(posterior_known_mean(&known, a[1], &first) == BASE_OK);
  for (size_t j = 0; j < DIM; j++) CHECK_NEAR(a[1][j], a[0][j], 1e-10);
}

/* ---- refusals ---- */

/* A loss of bounded slope, rows without an intercept, and rows that are not weighted; nothing is charged. */
static void refused(void) {
  for (int k = 0; k < 3; k++) {
    struct residual_options o = run_options_residual();
    struct fixture f;
    struct fixture_coordinates c = {.made = NULL};
    struct opt_result r;
    double w[DIM] = {0};
    fixture_open(&f, k == 0 ? "huber" : "squared", 50, COLUMNS, k != 1, ORACLE_REPLACE_ONE, 1);
    CHECK(fixture_coordinates(f.data, 1, k != 2, 1, 1, &c) == BASE_OK);
    CHECK(oracle_move(f.oracle, c.made) == BASE_OK);
    CHECK(residual_run(f.oracle, &run_no_penalty, &o, 1, w, &r) == BASE_ERR_ARGUMENT);
    CHECK(ledger_length(f.ledger) == 0 && fixture_all_zero(DIM, w));
    opt_result_free(&r);
    close_numbers(&f, &c);
  }
}
