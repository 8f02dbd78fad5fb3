/* The oracle's answers: law of the noise, charges, refusals, and what is left when something fails after the charge. */
#include "fixture.h"
#include "statistics.h"

enum { DIM = 3, STEPS = 4, QUERIES = 6 };

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
static void charges(void);
static void refusals(void);
static void failures_after_the_charge(void);
static void late_interrupt(void);
static void bad_points(void);
static void bad_costs(void);
static void large_matrices(void);
static void public_facts(void);

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
  charges();
  refusals();
  failures_after_the_charge();
  late_interrupt();
  bad_points();
  bad_costs();
  large_matrices();
  public_facts();
}

static void open_small(struct fixture *f, const char *loss, double capacity) {
  fixture_open(f, loss, 5, DIM, 0, ORACLE_REPLACE_ONE, capacity);
}

static double norm3(const double *x) { return hypot(hypot(x[0], x[1]), x[2]); }

/* sd = sensitivity / sqrt(2 rho), from the formulas of privacy.md A and B, not a hair below. */
static void scales(const char *loss, enum oracle_neighbours neighbours) {
  struct fixture f;
  int sigmoid = strcmp(loss, "sigmoid") == 0, replaced = neighbours == ORACLE_REPLACE_ONE;
  double n = 7, rho = 0.37, norm = norm3(w0), b = sigmoid ? 1 / (6 * sqrt(3)) : 0.25, lip = sigmoid ? 0.25 : 1;
  double expected[3], got[3], answer[DIM * DIM], sd;
  fixture_open(&f, loss, (size_t)n, DIM, 0, neighbours, 100);
  expected[0] = sigmoid ? fmin(tanh(norm / 2), replaced ? 1 : norm / 4) : norm;
  expected[1] = (replaced ? 2 : 1) * lip;
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
  CHECK(sums_value(f.oracle, w0, &exact) == BASE_OK);
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
  CHECK(sums_gradient(f.oracle, w0, exact) == BASE_OK);
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
  CHECK(sums_hessian(f.oracle, w0, exact) == BASE_OK);
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
  CHECK(sums_decreases(f.oracle, w0, direction0, STEPS, steps0, exact) == BASE_OK);
  for (size_t i = 0; i < count; i++) {
    oracle_decreases(f.oracle, w0, direction0, STEPS, steps0, rho, decrease, sd);
    for (size_t j = 0; j < STEPS; j++) z[i + j * count] = (decrease[j] - exact[j]) / sd[j];
  }
  for (int j = 0; j < STEPS; j++) {
    double d = 2 * steps0[j] * norm3(direction0) / 5; /* 2 L step |d| / n */
    CHECK_NEAR(sd[j], d * sqrt(STEPS / (2 * rho)), 1e-9 * sd[j]);
    CHECK_NEAR(sd[j] / steps0[j], sd[0] / steps0[0], 1e-9 * sd[j] / steps0[j]);
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
  CHECK(sums_decreases(f.oracle, w0, direction0, k, steps0, exact) == BASE_OK);
  double sensitivity = 2 * length / 5 * (scale_free ? 1 : steps0[0]);
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
  double sensitivity = 2 * norm3(direction0) / 5;
  CHECK_NEAR(ledger_at(f.ledger, 0)->scale, 4 * sensitivity / sqrt(0.5 / 0.11), 1e-6 * sensitivity);
  CHECK_NEAR(ledger_at(f.ledger, 1)->scale, 4 * sensitivity, 1e-6 * sensitivity);
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
  CHECK(sums_decreases(f.oracle, w0, direction0, STEPS, steps0, exact) == BASE_OK);
  double range = 2 * 0.25 * norm3(direction0) * (steps0[0] - steps0[STEPS - 1]) / 5;
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

/* ---- charges ---- */

struct reply {
  double answer[DIM * DIM], sd[STEPS];
  size_t index;
};

static const char *const query_names[QUERIES] = {"value",       "gradient",    "hessian",
                                                 "line search", "line search", "line search"};

/* One of the six questions; what it leaves is in the reply. */
static int ask(struct oracle *o, int query, const double *w, const double *direction, double rho, struct reply *r) {
  static const double offset[STEPS];
  for (int i = 0; i < DIM * DIM; i++) r->answer[i] = 77;
  r->index = 0;
  switch (query) {
  case 0:
    return oracle_value(o, w, rho, r->answer, r->sd);
  case 1:
    return oracle_gradient(o, w, rho, r->answer, r->sd);
  case 2:
    return oracle_hessian(o, w, rho, r->answer, r->sd);
  case 3:
    return oracle_decreases(o, w, direction, STEPS, steps0, rho, r->answer, r->sd);
  case 4:
    return oracle_first_step(o, w, direction, STEPS, steps0, offset, 1, rho, &r->index);
  default:
    return oracle_best_step(o, w, direction, STEPS, steps0, offset, rho, &r->index);
  }
}

static size_t answer_length(int query) {
  static const size_t lengths[QUERIES] = {1, DIM, DIM * DIM, STEPS, 0, 0};
  return lengths[query];
}

/* Nothing was answered: zeros, or the index that says "none". */
static int is_blank(int query, const struct reply *r) {
  return fixture_all_zero(answer_length(query), r->answer) && (query < 4 || r->index == STEPS);
}

static void charges(void) {
  struct fixture f;
  struct reply r;
  double spent = 0;
  open_small(&f, "logistic", 100);
  CHECK(ledger_decide(f.ledger, LEDGER_ZCDP) == BASE_OK);
  for (int q = 0; q < QUERIES; q++) {
    double rho = 0.25 * (q + 1);
    CHECK(ask(f.oracle, q, w0, direction0, rho, &r) == BASE_OK);
    spent += rho;
    CHECK_NEAR(ledger_spent(f.ledger), spent, 1e-14);
    CHECK(ledger_length(f.ledger) == (size_t)q + 1);
    const struct ledger_entry *e = ledger_at(f.ledger, (size_t)q);
    CHECK(e->rho == rho && e->scale > 0 && e->sensitivity > 0 && strcmp(e->what, query_names[q]) == 0);
  }
  CHECK_NEAR(oracle_left(f.oracle), 100 - spent, 1e-13);
  fixture_close(&f);

  for (int q = 4; q < QUERIES; q++) { /* not under a Gaussian filter in use */
    open_small(&f, "logistic", 100);
    CHECK(ask(f.oracle, 1, w0, direction0, 1, &r) == BASE_OK);
    CHECK(ask(f.oracle, q, w0, direction0, 1, &r) == BASE_ERR_ACCOUNTANT);
    CHECK(is_blank(q, &r) && ledger_spent(f.ledger) == 1);
    fixture_close(&f);
  }
}

static void refusals(void) {
  for (int q = 0; q < QUERIES; q++) {
    struct fixture f;
    struct reply r;
    open_small(&f, "logistic", 1);
    CHECK(ask(f.oracle, q, w0, direction0, 0.75, &r) == BASE_OK);
    CHECK(ask(f.oracle, q, w0, direction0, 0.5, &r) == BASE_ERR_BUDGET);
    CHECK(is_blank(q, &r));
    CHECK(ledger_spent(f.ledger) == 0.75 && ledger_length(f.ledger) == 1);
    CHECK(ask(f.oracle, q, w0, direction0, 0.25, &r) == BASE_OK);
    fixture_close(&f);
  }
}

static int always(void) { return 1; }

/* An interrupt or a broken generator: charged, nothing answered, nothing refunded. */
static void failures_after_the_charge(void) {
  struct base_host host = {always, NULL};
  for (int q = 0; q < QUERIES; q++) {
    struct fixture f;
    struct reply r;
    open_small(&f, "sigmoid", 1);
    base_set_host(&host);
    CHECK(ask(f.oracle, q, w0, direction0, 0.5, &r) == BASE_ERR_STOPPED);
    base_set_host(NULL);
    CHECK(is_blank(q, &r));
    CHECK(ledger_spent(f.ledger) == 0.5 && ledger_length(f.ledger) == 1);

    f.oracle->entropy = &ctest_entropy_broken;
    CHECK(ask(f.oracle, q, w0, direction0, 0.25, &r) == BASE_ERR_ENTROPY);
    CHECK(is_blank(q, &r));
    CHECK(ledger_spent(f.ledger) == 0.75 && ledger_length(f.ledger) == 2);
    fixture_close(&f);
  }
}

static int polls_left;
static int after_one_poll(void) { return polls_left-- <= 0; }

/* An interrupt between blocks: the sum over the blocks before it is not left behind. */
static void late_interrupt(void) {
  struct base_host host = {after_one_poll, NULL};
  base_limit_threads(1); /* which asks at every sixteenth block; the first of several may be left without one */
  for (int q = 0; q < QUERIES; q++) {
    struct fixture f;
    struct reply r;
    fixture_open(&f, "logistic", 40 * DATA_BLOCK, DIM, 0, ORACLE_REPLACE_ONE, 1);
    base_set_host(&host);
    polls_left = 1;
    CHECK(ask(f.oracle, q, w0, direction0, 0.5, &r) == BASE_ERR_STOPPED);
    CHECK(polls_left == -1);
    base_set_host(NULL);
    CHECK(is_blank(q, &r) && ledger_spent(f.ledger) == 0.5);
    fixture_close(&f);
  }
  base_limit_threads(64);
}

/* Refused before the charge: not finite, or so large that a sum could overflow. */
static void bad_points(void) {
  static const double bad[][DIM] = {
      {NAN, 0, 0}, {0, INFINITY, 0}, {0, 0, -INFINITY}, {1e101, 0, 0}, {1e308, 1e308, 1e308}};
  struct fixture f;
  struct reply r;
  open_small(&f, "logistic", 1);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    for (int q = 0; q < QUERIES; q++) {
      CHECK(ask(f.oracle, q, bad[k], direction0, 0.1, &r) == BASE_ERR_ARGUMENT);
      if (q < 3) CHECK(is_blank(q, &r));
      if (q >= 3) CHECK(ask(f.oracle, q, w0, bad[k], 0.1, &r) == BASE_ERR_ARGUMENT);
    }
  }
  CHECK(ledger_length(f.ledger) == 0 && ledger_spent(f.ledger) == 0);

  static const double step[][2] = {{1, 0}, {-1, 1}, {NAN, 1}, {1, INFINITY}};
  double sd[2], decrease[2], offset[2] = {0, 0};
  size_t index;
  for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
    CHECK(oracle_decreases(f.oracle, w0, direction0, 2, step[k], 0.1, decrease, sd) == BASE_ERR_ARGUMENT);
    CHECK(oracle_first_step(f.oracle, w0, direction0, 2, step[k], offset, 1, 0.1, &index) == BASE_ERR_ARGUMENT);
    CHECK(oracle_best_step(f.oracle, w0, direction0, 2, step[k], offset, 0.1, &index) == BASE_ERR_ARGUMENT);
  }
  CHECK(oracle_decreases(f.oracle, w0, direction0, 0, step[0], 0.1, decrease, sd) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);

  /* the largest admissible point: every answer is finite */
  const double far[DIM] = {9e99, 0, -9e98};
  double rho = 0.01;
  for (int q = 0; q < 4; q++) {
    CHECK(ask(f.oracle, q, far, direction0, rho, &r) == BASE_OK);
    CHECK(fixture_all_finite(answer_length(q), r.answer));
  }
  fixture_close(&f);
}

static void bad_costs(void) {
  static const double bad[] = {0, -0.1, NAN, INFINITY, 1e-40};
  struct fixture f;
  struct reply r;
  open_small(&f, "logistic", 1);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    for (int q = 0; q < QUERIES; q++) {
      if (q == 4 && bad[k] > 0 && isfinite(bad[k])) continue; /* the sparse vector has no least cost */
      CHECK(ask(f.oracle, q, w0, direction0, bad[k], &r) == BASE_ERR_ARGUMENT);
    }
  }
  CHECK(ledger_length(f.ledger) == 0);
  fixture_close(&f);
}

/* Refused before the charge, and before anything is written. */
static void large_matrices(void) {
  enum { P = ORACLE_MOST_DIM, DIM = P + 1 };
  int *start = base_alloc(P + 1, sizeof *start);
  double *w = base_alloc(4 * DIM, sizeof *w), y = 1, sd;
  const struct data_compressed none = {start, NULL, NULL, P + 1, 0, 0};
  struct fixture f;
  memset(&f, 0, sizeof f);
  CHECK(data_create_sparse(&none, 1, P, 1, 1, &y, &f.data) == BASE_OK);
  CHECK(ledger_create(1, 1, LEDGER_OPEN, &f.ledger) == BASE_OK);
  CHECK(oracle_create(f.data, loss_find("logistic"), f.ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &f.oracle) ==
        BASE_OK);
  const struct oracle_newton how = {ORACLE_HESSIAN, ORACLE_ADD, 1, w + DIM};
  CHECK(oracle_hessian(f.oracle, w, 0.1, NULL, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_majorant(f.oracle, w, 0.1, NULL, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_newton_direction(f.oracle, w, w + 2 * DIM, &how, 0.1, w + 3 * DIM, &sd) == BASE_ERR_ARGUMENT);
  const struct oracle_sampling half = {ORACLE_POISSON, 0.5};
  CHECK(oracle_step_open(f.oracle, &half, w, 0.1, 0.5) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);
  CHECK(oracle_gradient(f.oracle, w, 0.1, w + DIM, &sd) == BASE_OK);
  fixture_close(&f);
  base_free(start);
  base_free(w);
}

static void public_facts(void) {
  struct fixture f;
  fixture_open(&f, "sigmoid", 9, 4, 1, ORACLE_ZERO_OUT, 2);
  double b = 1 / (6 * sqrt(3));
  CHECK(oracle_dim(f.oracle) == 5 && oracle_rows(f.oracle) == 9 && oracle_left(f.oracle) == 2);
  CHECK_NEAR(oracle_smoothness(f.oracle), b, 1e-15);
  CHECK_NEAR(oracle_curv_lower(f.oracle), b, 1e-15);
  CHECK(oracle_third(f.oracle) == 0.125 && oracle_floor(f.oracle) == 0 && oracle_at_zero(f.oracle) == 0.5);
  fixture_close(&f);
}
