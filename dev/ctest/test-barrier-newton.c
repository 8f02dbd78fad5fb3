/*
 * Newton directions, traces and majorants: what is computed, with how much noise, at what charge, and what is left
 * when something fails.
 */
#include "fixture.h"
#include "la/la.h"
#include "statistics.h"

enum { DIM = 3, QUERIES = 4 };

static const double w0[DIM] = {0.5, -1, 2}, gradient0[DIM] = {0.3, -0.2, 0.1}, no_penalty[DIM] = {0};

static void right_directions(void);
static void majorant_and_trace(void);
static void scales(enum oracle_neighbours neighbours);
static void rounding_is_allowed_for(void);
static void laws(void);
static void refusals(void);
static void failures_after_the_charge(void);
static void without_memory(void);

void test_barrier_newton(void) {
  right_directions();
  majorant_and_trace();
  scales(ORACLE_REPLACE_ONE);
  scales(ORACLE_ZERO_OUT);
  rounding_is_allowed_for();
  laws();
  refusals();
  failures_after_the_charge();
  without_memory();
}

/* ---- what is computed ---- */

/* So large that noise is far below rounding. */
static const double no_noise = 1e26, endless = 1e40;

/* (e^7 + ... + m^7) / (e^6 + ... + m^6) with e or m taken out. */
static double clipped(double e, double m) {
  double large = fmax(e, m), ratio = fmin(e, m) / large, sum = 0;
  for (int j = 0; j < 7; j++) sum += pow(ratio, j);
  return large * (1 + pow(ratio, 7) / sum);
}

/* The modified matrix times the direction is the gradient. */
static void check_direction(const struct fixture *f, const struct oracle_newton *how) {
  double h[DIM * DIM], values[DIM], vectors[DIM * DIM], direction[DIM], sd, back[DIM] = {0};
  CHECK(oracle_newton_direction(f->oracle, w0, gradient0, how, no_noise, direction, &sd) == BASE_OK);
  CHECK((how->curvature == CURVATURE_HESSIAN ? sums_hessian : sums_majorant)(oracle_all(f->oracle), w0, h) == BASE_OK);
  for (int j = 0; j < DIM; j++) h[j + j * DIM] += how->penalty[j];
  memcpy(vectors, h, sizeof h);
  CHECK(la_eigen_all(DIM, vectors, values) == BASE_OK);
  for (int j = 0; j < DIM; j++) {
    double e = how->modify == MODIFY_ADD ? values[j] + how->lambda0 : clipped(values[j], how->lambda0);
    la_axpy(DIM, e * la_dot(DIM, vectors + j * DIM, direction), vectors + j * DIM, back);
  }
  for (int j = 0; j < DIM; j++) CHECK_NEAR(back[j], gradient0[j], 1e-10);
}

static void right_directions(void) {
  static const double penalty[DIM] = {0, 0.02, 0.01};
  struct fixture f;
  fixture_open(&f, "logistic", 50, DIM, 0, ORACLE_REPLACE_ONE, endless);
  for (int k = 0; k < 8; k++) {
    struct oracle_newton how = {.curvature = k % 2 ? CURVATURE_MAJORANT : CURVATURE_HESSIAN,
                                .modify = k % 4 < 2 ? MODIFY_ADD : MODIFY_CLIP,
                                .lambda0 = 0.02,
                                .penalty = k < 4 ? penalty : no_penalty};
    check_direction(&f, &how);
  }
  fixture_close(&f);
}

/* tanh(t / 2) / (2 t) between the Hessian and the bound; the trace is the matrix's; at zero majorant and Hessian agree.
 */
static void majorant_and_trace(void) {
  for (int intercept = 0; intercept <= 1; intercept++) {
    struct fixture f;
    double h[16], m[16], difference[16], trace, sd, value, vector[4], zero[4] = {0}, w[4] = {1, -2, 0.5, 3};
    fixture_open(&f, "logistic", 2 * DATA_BLOCK + 5, DIM, intercept, ORACLE_REPLACE_ONE, endless);
    size_t dim = data_dim(f.data);
    CHECK(sums_hessian(oracle_all(f.oracle), w, h) == BASE_OK && sums_majorant(oracle_all(f.oracle), w, m) == BASE_OK);
    for (size_t i = 0; i < dim * dim; i++) difference[i] = m[i] - h[i];
    CHECK(la_eigen_min(dim, difference, &value, vector) == BASE_OK && value >= 0);
    for (int curvature = CURVATURE_HESSIAN; curvature <= CURVATURE_MAJORANT; curvature++) {
      const double *matrix = curvature == CURVATURE_HESSIAN ? h : m;
      double expected = 0;
      for (size_t j = 0; j < dim; j++) expected += matrix[j + j * dim];
      CHECK(oracle_trace(f.oracle, w, curvature, no_noise, &trace, &sd) == BASE_OK);
      CHECK_NEAR(trace, expected, 1e-12);
    }
    CHECK(oracle_majorant(f.oracle, w, no_noise, h, &sd) == BASE_OK);
    for (size_t i = 0; i < dim * dim; i++) CHECK_NEAR(h[i], m[i], 1e-12);
    CHECK(sums_hessian(oracle_all(f.oracle), zero, h) == BASE_OK &&
          sums_majorant(oracle_all(f.oracle), zero, m) == BASE_OK);
    for (size_t i = 0; i < dim * dim; i++) CHECK_NEAR(h[i], m[i], 1e-15);
    fixture_close(&f);
  }
}

/* ---- noise and charges ---- */

/* sd = sensitivity / sqrt(2 rho) (proofs: sensitivity-majorant, sensitivity-trace, sensitivity-direction). */
static void scales(enum oracle_neighbours neighbours) {
  static const double penalty[DIM] = {0.3, 0.03, 0.2};
  struct fixture f;
  double n = 9, c = 0.25 / n, rho = 0.37, root = sqrt(2 * rho), direction[DIM], matrix[DIM * DIM], trace, sd;
  double two = neighbours == ORACLE_REPLACE_ONE ? sqrt(2) : 1, length = la_norm(DIM, gradient0);
  fixture_open(&f, "logistic", (size_t)n, DIM, 0, neighbours, 100);
  for (int k = 0; k < 8; k++) {
    struct oracle_newton how = {.curvature = k % 2 ? CURVATURE_MAJORANT : CURVATURE_HESSIAN,
                                .modify = k % 4 < 2 ? MODIFY_ADD : MODIFY_CLIP,
                                .lambda0 = 0.05,
                                .penalty = k < 4 ? penalty : no_penalty};
    double m = k >= 4 ? 0.05 : how.modify == MODIFY_ADD ? 0.08 : 0.05;
    double kappa = how.modify == MODIFY_ADD ? c / (m * (m + c)) : 0.47 * two * c / (m * m);
    CHECK(oracle_newton_direction(f.oracle, w0, gradient0, &how, rho, direction, &sd) == BASE_OK);
    CHECK_NEAR(sd, length * kappa / root, 1e-8 * sd);
    CHECK(sd >= length * kappa / root);
    const struct ledger_entry *e = ledger_at(f.ledger, (size_t)k);
    CHECK(e->rho == rho && e->scale == sd && strcmp(e->what, "direction") == 0);
    CHECK(strcmp(e->mechanism, "gaussian") == 0);
  }
  struct oracle_newton by_penalty = {CURVATURE_HESSIAN, MODIFY_CLIP, 0.01, penalty};
  CHECK(oracle_newton_direction(f.oracle, w0, gradient0, &by_penalty, rho, direction, &sd) == BASE_OK);
  CHECK_NEAR(sd, length * two * c / (0.03 * 0.03) / root, 1e-8 * sd);
  CHECK(oracle_trace(f.oracle, w0, CURVATURE_HESSIAN, rho, &trace, &sd) == BASE_OK);
  CHECK_NEAR(sd, c / root, 1e-8 * sd);
  CHECK(oracle_majorant(f.oracle, w0, rho, matrix, &sd) == BASE_OK);
  CHECK_NEAR(sd, two * c / root, 1e-8 * sd);
  CHECK(sd == oracle_sd_majorant(f.oracle, w0, rho));
  CHECK(strcmp(ledger_at(f.ledger, 9)->what, "trace") == 0 && strcmp(ledger_at(f.ledger, 10)->what, "majorant") == 0);
  CHECK_NEAR(ledger_spent(f.ledger), 11 * rho, 1e-12);
  fixture_close(&f);
}

/* The solve's rounding is part of the sensitivity, in proportion to 1 / m^2, and refused where it could be too large.
 */
static void rounding_is_allowed_for(void) {
  enum { MANY = 60 };
  static const double at[MANY], free[MANY];
  struct fixture f;
  fixture_open(&f, "logistic", 50, MANY, 0, ORACLE_REPLACE_ONE, 1);
  double c = 0.25 / 50, gradient[MANY] = {1}, direction[MANY], sd, m = 1e-8;
  struct oracle_newton how = {CURVATURE_HESSIAN, MODIFY_ADD, m, free};
  double extra = sensitivity_newton(oracle_all(f.oracle), at, &how, 1) - c / (m * (m + c));
  double unit = 0x1p-53 * 0.25 / (m * m);
  CHECK(extra >= 2 * 4 * MANY * (3 * MANY + 1) * unit); /* Higham's bound, twice */
  CHECK(extra <= 1e7 * unit);
  CHECK(sensitivity_newton(oracle_all(f.oracle), at, &how, 4) ==
        4 * sensitivity_newton(oracle_all(f.oracle), at, &how, 1));
  for (int modify = MODIFY_ADD; modify <= MODIFY_CLIP; modify++) {
    how.modify = modify;
    how.lambda0 = 1e-14;
    CHECK(sensitivity_newton(oracle_all(f.oracle), at, &how, 1) == INFINITY);
    CHECK(oracle_newton_direction(f.oracle, at, gradient, &how, 0.1, direction, &sd) == BASE_ERR_ARGUMENT);
  }
  CHECK(ledger_length(f.ledger) == 0);
  fixture_close(&f);
}

static void laws(void) {
  struct fixture f;
  struct oracle_newton how = {CURVATURE_HESSIAN, MODIFY_ADD, 0.05, no_penalty};
  size_t count = (size_t)ctest_size(4000, 200);
  double *z = base_alloc(count * (DIM + 1), sizeof *z), exact[DIM], exact_trace, direction[DIM], trace, sd;
  fixture_open(&f, "logistic", 20, DIM, 0, ORACLE_REPLACE_ONE, endless);
  CHECK(oracle_newton_direction(f.oracle, w0, gradient0, &how, no_noise, exact, &sd) == BASE_OK);
  CHECK(sums_trace(oracle_all(f.oracle), w0, CURVATURE_HESSIAN, &exact_trace) == BASE_OK);
  for (size_t i = 0; i < count; i++) {
    oracle_newton_direction(f.oracle, w0, gradient0, &how, 0.5, direction, &sd);
    for (size_t j = 0; j < DIM; j++) z[i + j * count] = (direction[j] - exact[j]) / sd;
    oracle_trace(f.oracle, w0, CURVATURE_HESSIAN, 0.5, &trace, &sd);
    z[i + DIM * count] = (trace - exact_trace) / sd;
  }
  for (size_t a = 0; a <= DIM; a++) {
    for (size_t b = 0; b < a; b++) {
      CHECK_NEAR(la_dot(count, z + a * count, z + b * count) / (double)count, 0, 5 / sqrt((double)count));
    }
  }
  for (size_t a = 0; a <= DIM; a++) CHECK(ks_test(count, z + a * count, base_pnorm) > STATISTICS_LEVEL);
  base_free(z);
  fixture_close(&f);
}

/* Trace, majorant and the two directions; what the answer does not fill is zero. */
static int ask(struct oracle *o, int query, double rho, double *answer) {
  struct oracle_newton how = {CURVATURE_HESSIAN, query == 3 ? MODIFY_CLIP : MODIFY_ADD, 0.05, no_penalty};
  double sd;
  int length = query == 0 ? 1 : query == 1 ? DIM * DIM : DIM;
  for (int i = 0; i < DIM * DIM; i++) answer[i] = i < length ? 77 : 0;
  if (query == 0) return oracle_trace(o, w0, CURVATURE_HESSIAN, rho, answer, &sd);
  if (query == 1) return oracle_majorant(o, w0, rho, answer, &sd);
  return oracle_newton_direction(o, w0, gradient0, &how, rho, answer, &sd);
}

static void refusals(void) {
  struct fixture f;
  double answer[DIM * DIM], direction[DIM], trace, sd, bad[DIM] = {0, NAN, 0}, negative[DIM] = {0, -1e-9, 0};
  fixture_open(&f, "logistic", 10, DIM, 0, ORACLE_REPLACE_ONE, 1);
  struct oracle_newton how[] = {
      {CURVATURE_HESSIAN, MODIFY_ADD, 0, no_penalty},    {CURVATURE_HESSIAN, MODIFY_ADD, -1, no_penalty},
      {CURVATURE_HESSIAN, MODIFY_CLIP, NAN, no_penalty}, {CURVATURE_HESSIAN, MODIFY_CLIP, INFINITY, no_penalty},
      {CURVATURE_HESSIAN, MODIFY_ADD, 0.1, negative},    {CURVATURE_HESSIAN, MODIFY_ADD, 0.1, bad}};
  for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
    CHECK(oracle_newton_direction(f.oracle, w0, gradient0, &how[k], 0.1, direction, &sd) == BASE_ERR_ARGUMENT);
    CHECK(fixture_all_zero(DIM, direction));
  }
  how[0].lambda0 = 0.1;
  CHECK(oracle_newton_direction(f.oracle, bad, gradient0, how, 0.1, direction, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_newton_direction(f.oracle, w0, bad, how, 0.1, direction, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_newton_direction(f.oracle, w0, no_penalty, how, 0.1, direction, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_trace(f.oracle, bad, CURVATURE_HESSIAN, 0.1, &trace, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_majorant(f.oracle, bad, 0.1, answer, &sd) == BASE_ERR_ARGUMENT);
  for (int q = 0; q < QUERIES; q++) {
    CHECK(ask(f.oracle, q, 2, answer) == BASE_ERR_BUDGET && fixture_all_zero(DIM * DIM, answer));
    CHECK(ask(f.oracle, q, 0, answer) == BASE_ERR_ARGUMENT && fixture_all_zero(DIM * DIM, answer));
  }
  CHECK(ledger_length(f.ledger) == 0);
  fixture_close(&f);

  /* curvature of either sign: no trace or direction of the Hessian; of the majorant, which is positive, yes */
  fixture_open(&f, "sigmoid", 10, DIM, 0, ORACLE_REPLACE_ONE, 1);
  CHECK(oracle_newton_direction(f.oracle, w0, gradient0, how, 0.1, direction, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_trace(f.oracle, w0, CURVATURE_HESSIAN, 0.1, &trace, &sd) == BASE_ERR_ARGUMENT);
  CHECK(ledger_length(f.ledger) == 0);
  how[0].curvature = CURVATURE_MAJORANT;
  CHECK(oracle_newton_direction(f.oracle, w0, gradient0, how, 0.1, direction, &sd) == BASE_OK);
  CHECK(oracle_trace(f.oracle, w0, CURVATURE_MAJORANT, 0.1, &trace, &sd) == BASE_OK);
  fixture_close(&f);
}

static int polls_left;
static int after_some_polls(void) { return polls_left-- <= 0; }

/* An interrupt, early or late, or a broken generator: charged, nothing answered, nothing refunded. */
static void failures_after_the_charge(void) {
  struct base_host host = {after_some_polls, NULL};
  base_limit_threads(1); /* which asks at every sixteenth block, or at each for a matrix */
  for (int q = 0; q < QUERIES; q++) {
    struct fixture f;
    double answer[DIM * DIM];
    fixture_open(&f, "logistic", 40 * DATA_BLOCK, DIM, 0, ORACLE_REPLACE_ONE, 1);
    base_set_host(&host);
    for (int polls = 0; polls < 2; polls++) {
      polls_left = polls;
      CHECK(ask(f.oracle, q, 0.125, answer) == BASE_ERR_STOPPED && polls_left == -1);
      CHECK(fixture_all_zero(DIM * DIM, answer));
    }
    base_set_host(NULL);
    f.oracle->entropy = &ctest_entropy_broken;
    CHECK(ask(f.oracle, q, 0.125, answer) == BASE_ERR_ENTROPY && fixture_all_zero(DIM * DIM, answer));
    CHECK(ledger_spent(f.ledger) == 0.375 && ledger_length(f.ledger) == 3);
    fixture_close(&f);
  }
}

static void without_memory(void) {
  for (int q = 0; q < QUERIES; q++) {
    struct fixture f;
    double answer[DIM * DIM];
    fixture_open(&f, "logistic", 10, DIM, 0, ORACLE_REPLACE_ONE, endless);
    long before = ctest_live_allocations();
    int status = BASE_ERR_MEMORY, failures = 0;
    for (; status == BASE_ERR_MEMORY && failures < 100; failures++) {
      ctest_fail_allocation(failures + 1);
      status = ask(f.oracle, q, 1, answer);
      ctest_fail_allocation(0);
      CHECK(status == BASE_OK || (status == BASE_ERR_MEMORY && fixture_all_zero(DIM * DIM, answer)));
    }
    CHECK(status == BASE_OK && failures > (q < 2 ? 0 : q == 2 ? 1 : 2));
    CHECK(ctest_live_allocations() <= before + 3); /* history of the ledger, and the journal */
    fixture_close(&f);
  }
}
