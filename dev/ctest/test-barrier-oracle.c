/* The oracle's answers: size and law of their noise. */
#include "fixture.h"
#include "statistics.h"

enum { DIM = 3, STEPS = 4 };

static const double w0[DIM] = {0.5, -1, 2}, direction0[DIM] = {1, 0.5, -0.25};
static const double steps0[STEPS] = {8, 2, 0.5, 0.125};

static void scales(const char *loss, enum oracle_neighbours neighbours);
static void value_law(void);
static void gradient_law(void);
static void hessian_law(void);
static void decreases_law(void);
static void first_step_law(int scale_free, size_t k);
static void best_step_law(void);
static void first_step_of_many(void);

void test_barrier_oracle(void) {
  for (int neighbours = ORACLE_REPLACE_ONE; neighbours <= ORACLE_ZERO_OUT; neighbours++) {
    scales("logistic", neighbours);
    scales("sigmoid", neighbours);
  }
  value_law();
  gradient_law();
  hessian_law();
  decreases_law();
  first_step_law(0, 3);
  first_step_law(1, 3);
  first_step_of_many();
  best_step_law();
}

static void open_small(struct fixture *f, const char *loss, double capacity) {
  fixture_open(f, loss, 5, DIM, 0, ORACLE_REPLACE_ONE, capacity);
}

static double norm3(const double *x) { return hypot(hypot(x[0], x[1]), x[2]); }

/* sd = sensitivity / sqrt(2 rho), not a hair below: (proofs: sensitivity-value, sensitivity-gradient,
 * sensitivity-hessian). */
static void scales(const char *loss, enum oracle_neighbours neighbours) {
  struct fixture f;
  int sigmoid = strcmp(loss, "sigmoid") == 0, replaced = neighbours == ORACLE_REPLACE_ONE;
  double n = 7, rho = 0.37, norm = norm3(w0), b = sigmoid ? 1 / (6 * sqrt(3)) : 0.25;
  double expected[3], got[3], answer[DIM * DIM], sd;
  fixture_open(&f, loss, (size_t)n, DIM, 0, neighbours, 100);
  expected[0] = sigmoid ? fmin(tanh(norm / 2), replaced ? 1 : norm / 4) : norm;
  expected[1] = sigmoid ? (replaced ? 2 : 1) * 0.25 : fixture_logistic_change(norm, replaced);
  expected[2] = !replaced ? b : sigmoid ? 2 * b : sqrt(2) * b;
  CHECK(oracle_value(f.oracle, w0, rho, answer, &got[0]) == BASE_OK);
  CHECK(oracle_gradient(f.oracle, w0, rho, answer, &got[1]) == BASE_OK);
  CHECK(oracle_hessian(f.oracle, w0, rho, answer, &got[2]) == BASE_OK);
  for (int k = 0; k < 3; k++) {
    double sd_k = expected[k] / n / sqrt(2 * rho);
    CHECK_NEAR(got[k], sd_k, 1e-9 * sd_k);
    CHECK(got[k] >= sd_k);
    const struct ledger_entry *e = ledger_at(f.ledger, (size_t)k);
    CHECK(e->scale == got[k] && e->rho == rho);
    /* what is charged covers what is drawn, and what the sampler rounds before it draws */
    CHECK(e->scale >= e->sensitivity / sqrt(2 * rho) * (1 + 0x1p-41));
  }
  CHECK(oracle_sd_value(f.oracle, w0, rho) == got[0]);
  CHECK(oracle_sd_gradient(f.oracle, w0, rho) == got[1]);
  CHECK(oracle_sd_hessian(f.oracle, w0, rho) == got[2]);
  CHECK(oracle_gradient(f.oracle, w0, 4 * rho, answer, &sd) == BASE_OK);
  CHECK_NEAR(sd, got[1] / 2, 1e-9 * sd);
  fixture_close(&f);
}

/* ---- laws ---- */

static void value_law(void) {
  struct fixture f;
  size_t count = (size_t)ctest_size(4000, 200);
  double *z = base_alloc(count, sizeof *z), exact, value, sd;
  open_small(&f, "logistic", 1e6);
  CHECK(sums_value(oracle_all(f.oracle), w0, &exact) == BASE_OK);
  for (size_t i = 0; i < count; i++) {
    oracle_value(f.oracle, w0, 0.5, &value, &sd);
    z[i] = (value - exact) / sd;
  }
  CHECK(ks_test(count, z, base_pnorm) > STATISTICS_LEVEL);
  base_free(z);
  fixture_close(&f);
}

static double correlation(size_t n, const double *x, const double *y) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum / (double)n;
}

/* Columns of z are standard normal and independent: as they are, and their squares (a common factor would show there).
 */
static void check_independent_normals(size_t count, size_t columns, double *z) {
  double *square = base_alloc(count * columns, sizeof *square), limit = 5 / sqrt((double)count);
  for (size_t i = 0; i < count * columns; i++) square[i] = (z[i] * z[i] - 1) / sqrt(2);
  for (size_t a = 0; a < columns; a++) {
    for (size_t b = 0; b < a; b++) {
      CHECK_NEAR(correlation(count, z + a * count, z + b * count), 0, limit);
      CHECK_NEAR(correlation(count, square + a * count, square + b * count), 0, 2 * limit);
    }
  }
  for (size_t a = 0; a < columns; a++) CHECK(ks_test(count, z + a * count, base_pnorm) > STATISTICS_LEVEL);
  base_free(square);
}

static void gradient_law(void) {
  struct fixture f;
  size_t count = (size_t)ctest_size(4000, 200);
  double *z = base_alloc(count * DIM, sizeof *z), exact[DIM], gradient[DIM], sd;
  open_small(&f, "sigmoid", 1e6);
  CHECK(sums_gradient(oracle_all(f.oracle), w0, exact) == BASE_OK);
  for (size_t i = 0; i < count; i++) {
    oracle_gradient(f.oracle, w0, 2, gradient, &sd);
    for (int j = 0; j < DIM; j++) z[i + (size_t)j * count] = (gradient[j] - exact[j]) / sd;
  }
  check_independent_normals(count, DIM, z);
  base_free(z);
  fixture_close(&f);
}

/* GOE: variance one on the diagonal and a half off it, symmetric, entries independent. */
static void hessian_law(void) {
  enum { ENTRIES = DIM * (DIM + 1) / 2 };
  struct fixture f;
  size_t count = (size_t)ctest_size(4000, 200);
  double *z = base_alloc(count * ENTRIES, sizeof *z), exact[DIM * DIM], h[DIM * DIM], sd;
  int symmetric = 1;
  open_small(&f, "sigmoid", 1e6);
  CHECK(sums_hessian(oracle_all(f.oracle), w0, exact) == BASE_OK);
  for (size_t i = 0; i < count; i++) {
    size_t entry = 0;
    oracle_hessian(f.oracle, w0, 0.1, h, &sd);
    for (size_t a = 0; a < DIM; a++) {
      for (size_t b = a; b < DIM; b++) {
        size_t at = b + a * DIM;
        symmetric = symmetric && h[at] == h[a + b * DIM];
        z[i + count * entry++] = (h[at] - exact[at]) / sd * (a == b ? 1 : sqrt(2));
      }
    }
  }
  CHECK(symmetric);
  check_independent_normals(count, ENTRIES, z);
  base_free(z);
  fixture_close(&f);
}

/* Noise in proportion to each candidate's own sensitivity, and to sqrt(k): sum D_i^2 / (2 sd_i^2) = rho. */
static void decreases_law(void) {
  struct fixture f;
  size_t count = (size_t)ctest_size(4000, 200);
  double *z = base_alloc(count * STEPS, sizeof *z), exact[STEPS], decrease[STEPS], sd[STEPS], rho = 0.7, cost = 0;
  open_small(&f, "logistic", 1e6);
  CHECK(sums_decreases(oracle_all(f.oracle), w0, direction0, STEPS, steps0, exact) == BASE_OK);
  for (size_t i = 0; i < count; i++) {
    oracle_decreases(f.oracle, w0, direction0, STEPS, steps0, rho, decrease, sd);
    for (size_t j = 0; j < STEPS; j++) z[i + j * count] = (decrease[j] - exact[j]) / sd[j];
  }
  for (int j = 0; j < STEPS; j++) {
    double d = fixture_logistic_decrease(norm3(w0), steps0[j] * norm3(direction0), 1) / 5;
    CHECK_NEAR(sd[j], d * sqrt(STEPS / (2 * rho)), 1e-9 * sd[j]);
    cost += d * d / (2 * sd[j] * sd[j]);
  }
  CHECK_NEAR(cost, rho, 1e-8);
  CHECK(cost <= rho);
  CHECK(ledger_length(f.ledger) == count);
  const struct ledger_entry *e = ledger_length(f.ledger) ? ledger_at(f.ledger, 0) : NULL;
  CHECK(e && e->rho == rho && e->scale == sd[0] && strcmp(e->mechanism, "gaussian") == 0);
  check_independent_normals(count, STEPS, z);
  base_free(z);
  fixture_close(&f);
}

static double laplace_cdf(double x) { return x < 0 ? exp(x) / 2 : 1 - exp(-x) / 2; }

/* P(index = i) of AboveThreshold, over a fine grid of the threshold's noise; the last is "none". */
static void first_step_probabilities(size_t k, const double *query, double threshold_scale, double query_scale,
                                     double *p) {
  enum { GRID = 40000 };
  for (size_t i = 0; i <= k; i++) p[i] = 0;
  for (int g = 0; g < GRID; g++) {
    double u = (g + 0.5) / GRID, t = u < 0.5 ? log(2 * u) : -log(2 * (1 - u)), none = 1;
    for (size_t i = 0; i < k; i++) {
      double below = laplace_cdf((t * threshold_scale - query[i]) / query_scale);
      p[i] += none * (1 - below) / GRID;
      none *= below;
    }
    p[k] += none / GRID;
  }
}

static void first_step_law(int scale_free, size_t k) {
  struct fixture f;
  int count = ctest_size(20000, 400), answered = 0;
  double exact[STEPS], offset[STEPS] = {0.3, -0.2, 0.1, 0.05}, query[STEPS], p[STEPS + 1], seen[STEPS + 1] = {0};
  double rho = 0.5, eps = sqrt(rho / 0.11), length = norm3(direction0);
  size_t index;
  open_small(&f, "logistic", 1e6);
  CHECK(sums_decreases(oracle_all(f.oracle), w0, direction0, k, steps0, exact) == BASE_OK);
  double sensitivity = 0;
  for (size_t i = 0; i < k; i++) {
    double one = fixture_logistic_decrease(norm3(w0), steps0[i] * length, 1) / 5;
    sensitivity = fmax(sensitivity, one / (scale_free ? steps0[i] : 1));
  }
  for (size_t i = 0; i < k; i++) query[i] = (exact[i] + offset[i]) / (scale_free ? steps0[i] : 1);
  first_step_probabilities(k, query, 2 * sensitivity / eps, 4 * sensitivity / eps, p);
  for (int i = 0; i < count; i++) {
    int status = oracle_first_step(f.oracle, w0, direction0, k, steps0, offset, scale_free, rho, &index);
    if (status == BASE_OK && index <= k) seen[index]++, answered++;
  }
  CHECK(answered == count);
  CHECK(chi_square_test(k + 1, seen, p) > STATISTICS_LEVEL);
  const struct ledger_entry *e = ledger_at(f.ledger, 0);
  CHECK(e->rho == rho && strcmp(e->mechanism, "sparse vector") == 0);
  CHECK_NEAR(e->sensitivity, sensitivity, 1e-6 * sensitivity);
  CHECK(e->sensitivity >= sensitivity);
  CHECK_NEAR(e->scale, 4 * sensitivity / eps, 1e-6 * e->scale);
  fixture_close(&f);
}

/* More than 20 queries are outside the range of the certificate of 0.11 eps^2: eps^2 / 2 then. */
static void first_step_of_many(void) {
  struct fixture f;
  double step[21], offset[21] = {0};
  size_t index;
  for (int i = 0; i < 21; i++) step[i] = pow(0.9, i);
  open_small(&f, "logistic", 1e6);
  CHECK(oracle_first_step(f.oracle, w0, direction0, 20, step, offset, 1, 0.5, &index) == BASE_OK);
  CHECK(oracle_first_step(f.oracle, w0, direction0, 21, step, offset, 1, 0.5, &index) == BASE_OK);
  double sensitivity[2]; /* of the shortest step, divided by it */
  for (int i = 0; i < 2; i++) {
    double one = step[19 + i] * norm3(direction0);
    sensitivity[i] = fixture_logistic_decrease(norm3(w0), one, 1) / 5 / step[19 + i];
  }
  CHECK_NEAR(ledger_at(f.ledger, 0)->scale, 4 * sensitivity[0] / sqrt(0.5 / 0.11), 1e-6 * sensitivity[0]);
  CHECK_NEAR(ledger_at(f.ledger, 1)->scale, 4 * sensitivity[1], 1e-6 * sensitivity[1]);
  fixture_close(&f);
}

/* Probabilities in proportion to exp(score / t), t = range / sqrt(8 rho): bounded range, one sensitivity and not two.
 */
static void best_step_law(void) {
  struct fixture f;
  int count = ctest_size(20000, 400), answered = 0;
  double exact[STEPS], offset[STEPS] = {-1, 0.5, -0.25, 1}, p[STEPS], seen[STEPS] = {0}, total = 0, rho = 0.3;
  size_t index;
  open_small(&f, "sigmoid", 1e6);
  CHECK(sums_decreases(oracle_all(f.oracle), w0, direction0, STEPS, steps0, exact) == BASE_OK);
  /* from the shortest step to the longest one, centred at zero if it can be (proofs: sensitivity-spread) */
  double length = norm3(direction0) * (steps0[0] - steps0[STEPS - 1]);
  double from = fmin(norm3(w0) + norm3(direction0) * steps0[STEPS - 1], length / 2);
  double range = (tanh(from / 2) + tanh((length - from) / 2)) / 5;
  for (int i = 0; i < STEPS; i++) total += p[i] = exp((exact[i] + offset[i]) * sqrt(8 * rho) / range);
  for (int i = 0; i < STEPS; i++) p[i] /= total;
  for (int i = 0; i < count; i++) {
    int status = oracle_best_step(f.oracle, w0, direction0, STEPS, steps0, offset, rho, &index);
    if (status == BASE_OK && index < STEPS) seen[index]++, answered++;
  }
  CHECK(answered == count);
  CHECK(chi_square_test(STEPS, seen, p) > STATISTICS_LEVEL);
  const struct ledger_entry *e = ledger_at(f.ledger, 0);
  CHECK(e->rho == rho && strcmp(e->mechanism, "exponential") == 0);
  CHECK_NEAR(e->sensitivity, range, 1e-9 * range);
  CHECK(e->sensitivity >= range && e->scale * sqrt(8 * rho) >= range);
  fixture_close(&f);
}
