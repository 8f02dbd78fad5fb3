/* Steps on batches: what they cost, their noise and sums, and refusals. */
#include "acct/acct.h"
#include "shorthand.h"
#include "fixture.h"
#include "la/la.h"

static void costs(enum oracle_neighbours neighbours, enum scheme scheme, double size);
static void answers(enum oracle_neighbours neighbours, enum scheme scheme);
static void newton_costs(enum oracle_neighbours neighbours, enum scheme scheme, double size);
static void newton_answers(void);
static void one_batch_a_step(void);
static void nothing_between(void);
static void records(void);
static void refused(void);
static void newton_refused(void);
static void failures(void);

enum { N = 2000, P = 2, DIM = P + 1 };
#define ORDER 12.0

static void open_renyi(struct fixture *f, enum oracle_neighbours neighbours, double capacity) {
  fixture_open(f, "logistic", N, P, 1, neighbours, 1);
  oracle_free(f->oracle);
  ledger_free(f->ledger);
  CHECK(ledger_create_renyi(ORDER, capacity, &f->ledger) == BASE_OK);
  CHECK(open_oracle(f->data, loss_find("logistic"), f->ledger, &ctest_entropy, neighbours, &f->oracle) == BASE_OK);
}

void test_barrier_batch(void) {
  costs(ORACLE_REPLACE_ONE, SCHEME_FIXED, 40);
  costs(ORACLE_REPLACE_ONE, SCHEME_POISSON, 12.5);
  costs(ORACLE_ZERO_OUT, SCHEME_POISSON, 400);
  answers(ORACLE_REPLACE_ONE, SCHEME_FIXED);
  answers(ORACLE_REPLACE_ONE, SCHEME_POISSON);
  answers(ORACLE_ZERO_OUT, SCHEME_POISSON);
  newton_costs(ORACLE_REPLACE_ONE, SCHEME_FIXED, 40);
  newton_costs(ORACLE_REPLACE_ONE, SCHEME_POISSON, 12.5);
  newton_costs(ORACLE_ZERO_OUT, SCHEME_POISSON, 400);
  newton_answers();
  one_batch_a_step();
  nothing_between();
  records();
  refused();
  newton_refused();
  failures();
}

/* Divergence over order of one release with this parameter on a batch of this rate. */
static double cost_of(double mu, double rate, enum oracle_neighbours neighbours) {
  const struct acct_leaf leaf = {ACCT_GAUSSIAN, mu, 0, 0, 1};
  const struct acct_round round = {&leaf, 1, neighbours == ORACLE_REPLACE_ONE ? ACCT_PROFILE : ACCT_MIXTURE, rate, 1};
  double order = ORDER, divergence;
  CHECK(acct_rdp_curve(&round, 1, 1, &order, &divergence) == BASE_OK);
  return divergence / ORDER;
}

/* What is charged is what the noise of all that a step may answer costs together, amplified once. */
static void costs(enum oracle_neighbours neighbours, enum scheme scheme, double size) {
  const struct sampling how = {scheme, size};
  const struct loss_bounds *b = loss_bounds_of(loss_find("logistic"));
  int replaced = neighbours == ORACLE_REPLACE_ONE;
  double most_g = fixture_logistic_change(sqrt(6), replaced) / size; /* at w */
  double most_h = (replaced ? sqrt(2) : 1) * b->curv_upper / size;
  static const double share[] = {0, 0.3, 1}, cost[] = {1e-6, 1e-4, 2e-2};
  double w[DIM] = {1, -1, 2}, g[DIM], h[DIM * DIM], sd_g, sd_h;
  struct fixture f;
  open_renyi(&f, neighbours, 1);
  for (int i = 0; i < 9; i++) {
    double asked = cost[i / 3], before = ledger_spent(f.ledger), mu2 = 0;
    CHECK(oracle_step_open(f.oracle, &how, w, asked, share[i % 3]) == BASE_OK);
    double charged = ledger_spent(f.ledger) - before;
    CHECK(fabs(charged / asked - 1) < 1e-9);
    if (share[i % 3] < 1) {
      CHECK(oracle_step_gradient(f.oracle, w, g, &sd_g) == BASE_OK);
      mu2 += pow(most_g / sd_g, 2);
    }
    if (share[i % 3] > 0) {
      CHECK(oracle_step_hessian(f.oracle, w, h, &sd_h) == BASE_OK);
      mu2 += pow(most_h / sd_h, 2);
    }
    CHECK_NEAR(cost_of(sqrt(mu2), size / N, neighbours) / charged, 1, 1e-6);
    CHECK_NEAR(ledger_spent(f.ledger) - before, charged, 0);
    const struct ledger_entry *e = ledger_at(f.ledger, ledger_length(f.ledger) - 1);
    CHECK(strncmp(e->what, "batch ", 6) == 0 && e->scale == (share[i % 3] < 1 ? sd_g : sd_h));
    /* The row of the first query shows the cost of the step before amplification. */
    CHECK_NEAR(e->values * pow(e->sensitivity / e->scale, 2) / mu2, 1, 1e-3); /* rounding is in the sensitivity */
    CHECK_NEAR(cost_of(e->sensitivity / e->scale * sqrt(e->values), size / N, neighbours) / charged, 1, 1e-6);
    if (share[i % 3] == 0) CHECK_NEAR(oracle_sd_step_gradient(f.oracle, &how, w, asked), sd_g, 0);
    if (share[i % 3] == 1) CHECK_NEAR(oracle_sd_step_hessian(f.oracle, &how, w, asked), sd_h, 0);
  }
  fixture_close(&f);
}

/* Their mean over batches and noise is the gradient of all rows, and their variance that of noise and sampling. */
static void answers(enum oracle_neighbours neighbours, enum scheme scheme) {
  const struct sampling how = {scheme, 100};
  int runs = ctest_size(3000, 20);
  double w[DIM] = {0.5, -1, 0.2}, exact[DIM], g[DIM], mean = 0, square = 0, sd = 0;
  double h[DIM * DIM], sd_h, exact_h[DIM * DIM], mean_h = 0, square_h = 0;
  struct fixture f;
  open_renyi(&f, neighbours, 1e9);
  CHECK(sums_gradient(oracle_all(f.oracle), w, exact) == BASE_OK);
  CHECK(sums_hessian(oracle_all(f.oracle), w, exact_h) == BASE_OK);
  for (int i = 0; i < runs; i++) {
    CHECK(oracle_step_open(f.oracle, &how, w, 1, 0.5) == BASE_OK);
    CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_OK);
    CHECK(oracle_step_hessian(f.oracle, w, h, &sd_h) == BASE_OK);
    CHECK(h[1] == h[DIM]);
    mean += g[1] / runs;
    square += pow(g[1] - exact[1], 2) / runs;
    mean_h += h[DIM + 1] / runs;
    square_h += pow(h[DIM + 1] - exact_h[DIM + 1], 2) / runs;
  }
  CHECK_NEAR(mean, exact[1], 5 * sqrt(square / runs));
  CHECK_NEAR(mean_h, exact_h[DIM + 1], 5 * sqrt(square_h / runs));
  if (runs >= 1000) {
    double sampling = square - sd * sd; /* a record's entry is at most one */
    CHECK(sampling > 0 && sampling < 1 / how.size);
    CHECK(square_h > sd_h * sd_h * 0.9);
  }
  fixture_close(&f);
}

/* A gradient, a trace and a direction share what the step was charged, with the noise for the batch's public size
 * (proofs: sensitivity-trace, sensitivity-direction). */
static void newton_costs(enum oracle_neighbours neighbours, enum scheme scheme, double size) {
  static const double penalty[DIM] = {0.02, 0.02, 0.02};
  const struct sampling how = {scheme, size};
  double w[DIM] = {1, -1, 2}, g[DIM], direction[DIM], trace, sd_g, sd_t, sd_d, c = 0.25 / size, m = 0.07;
  double two = neighbours == ORACLE_REPLACE_ONE ? 2 : 1;
  struct fixture f;
  open_renyi(&f, neighbours, 1);
  for (int i = 0; i < 4; i++) {
    const struct oracle_newton newton = {i % 2 ? CURVATURE_MAJORANT : CURVATURE_HESSIAN,
                                         i < 2 ? MODIFY_ADD : MODIFY_CLIP, i < 2 ? m - penalty[0] : m, penalty};
    double before = ledger_spent(f.ledger), kappa = i < 2 ? c / (m * (m + c)) : 0.47 * sqrt(two) * c / (m * m);
    CHECK(oracle_step_open(f.oracle, &how, w, 1e-4, 0.6) == BASE_OK);
    double charged = ledger_spent(f.ledger) - before, left = oracle_step_left(f.oracle);
    CHECK(oracle_step_gradient(f.oracle, w, g, &sd_g) == BASE_OK);
    CHECK(oracle_step_trace(f.oracle, w, newton.curvature, left / 4, &trace, &sd_t) == BASE_OK);
    CHECK_NEAR(oracle_step_left(f.oracle), 0.75 * left, 1e-12 * left);
    left = oracle_step_left(f.oracle);
    CHECK(oracle_step_direction(f.oracle, w, g, &newton, left, direction, &sd_d) == BASE_OK);
    double mu2 = pow(fixture_logistic_change(sqrt(6), two > 1) / size / sd_g, 2) + pow(c / sd_t, 2) +
                 pow(kappa * la_norm(DIM, g) / sd_d, 2);
    CHECK_NEAR(cost_of(sqrt(mu2), size / N, neighbours) / charged, 1, 1e-6);
    CHECK_NEAR(ledger_spent(f.ledger) - before, charged, 0);
    CHECK(oracle_step_left(f.oracle) == 0 && ledger_length(f.ledger) == (size_t)i + 1);
  }
  fixture_close(&f);
}

/* Of the rows of the step's batch, whatever the others are, with noise of the standard deviation that is said. */
static void newton_answers(void) {
  static const double no_penalty[DIM] = {0};
  const struct sampling how = {SCHEME_POISSON, 100};
  const struct oracle_newton newton = {CURVATURE_HESSIAN, MODIFY_ADD, 0.2, no_penalty};
  int runs = ctest_size(1000, 10);
  double w[DIM] = {0.5, -1, 0.2}, g[DIM] = {0.1, -0.2, 0.3}, direction[DIM], exact[DIM], h[DIM * DIM];
  double trace, sd_t, sd_d, square_t = 0, square_d = 0;
  struct fixture f;
  open_renyi(&f, ORACLE_REPLACE_ONE, 1e9);
  for (int i = 0; i < runs; i++) {
    CHECK(oracle_step_open(f.oracle, &how, w, 30, 0.9) == BASE_OK);
    CHECK(oracle_step_trace(f.oracle, w, CURVATURE_HESSIAN, oracle_step_left(f.oracle) / 2, &trace, &sd_t) == BASE_OK);
    double left = oracle_step_left(f.oracle);
    CHECK(oracle_step_direction(f.oracle, w, g, &newton, left, direction, &sd_d) == BASE_OK);
    CHECK(sums_hessian(oracle_step(f.oracle), w, h) == BASE_OK);
    double expected = 0;
    for (int j = 0; j < DIM; j++) {
      expected += h[j + j * DIM];
      h[j + j * DIM] += newton.lambda0;
    }
    memcpy(exact, g, sizeof exact);
    CHECK(la_solve_definite(DIM, h, exact) == BASE_OK);
    square_t += pow((trace - expected) / sd_t, 2) / runs;
    for (int j = 0; j < DIM; j++) square_d += pow((direction[j] - exact[j]) / sd_d, 2) / runs / DIM;
  }
  CHECK_NEAR(square_t, 1, 5 * sqrt(2.0 / runs));
  CHECK_NEAR(square_d, 1, 5 * sqrt(2.0 / runs / DIM));
  fixture_close(&f);
}

/* Gradient and Hessian of a step are of the same rows, those of two steps are not. */
static void one_batch_a_step(void) {
  const struct sampling how = {SCHEME_FIXED, 50};
  double w[DIM] = {0, 0, 0};
  size_t first[50];
  struct fixture f;
  open_renyi(&f, ORACLE_REPLACE_ONE, 1e9);
  CHECK(oracle_step_open(f.oracle, &how, w, 1, 0.5) == BASE_OK);
  CHECK(f.oracle->batch.count == 50);
  memcpy(first, f.oracle->batch.row, sizeof first);
  CHECK(oracle_step_open(f.oracle, &how, w, 1, 0.5) == BASE_OK);
  CHECK(memcmp(first, f.oracle->batch.row, sizeof first) != 0);
  CHECK(ledger_length(f.ledger) == 2);
  oracle_step_close(f.oracle);
  CHECK(f.oracle->batch.row == NULL && f.oracle->batch.count == 0);
  ctest_unwiped();
  CHECK(oracle_step_open(f.oracle, &how, w, 1, 0.5) == BASE_OK);
  oracle_step_close(f.oracle);
  CHECK(ctest_unwiped() == 0);
  fixture_close(&f);
}

/* While a step is open nothing else is answered or charged, by its oracle or another one of the same ledger; its own
 * answers are as they would be, and after it is closed the ledger takes charges again, also when no batch was drawn. */
static void nothing_between(void) {
  const struct sampling how = {SCHEME_FIXED, 50};
  const double breaks[] = {-1, 0, 1}, step = 1, none[DIM] = {0}, ones[DIM] = {1, 1, 1};
  const struct oracle_newton newton = {CURVATURE_MAJORANT, MODIFY_ADD, 0.1, none};
  double w[DIM] = {0}, v[DIM] = {1, 0, 0}, g[DIM], h[DIM * DIM], sd;
  size_t index;
  struct oracle *other;
  struct fixture f;
  open_renyi(&f, ORACLE_REPLACE_ONE, 100);
  const struct ranges_column column = {f.x, breaks, 2};
  CHECK(open_oracle(f.data, loss_find("logistic"), f.ledger, &ctest_entropy, ORACLE_REPLACE_ONE, &other) == BASE_OK);
  for (int k = 0; k < 2; k++) {
    struct oracle *o = k ? other : f.oracle;
    CHECK(oracle_step_open(f.oracle, &how, w, 1e-4, 0.5) == BASE_OK);
    size_t length = ledger_length(f.ledger);
    CHECK(oracle_value(o, w, 1, g, &sd) == BASE_ERR_STEP && g[0] == 0);
    CHECK(oracle_gradient(o, w, 1, g, &sd) == BASE_ERR_STEP && fixture_all_zero(DIM, g));
    CHECK(oracle_hessian(o, w, 1, h, &sd) == BASE_ERR_STEP && fixture_all_zero(DIM * DIM, h));
    CHECK(oracle_majorant(o, w, 1, h, &sd) == BASE_ERR_STEP && fixture_all_zero(DIM * DIM, h));
    CHECK(oracle_trace(o, w, CURVATURE_MAJORANT, 1, g, &sd) == BASE_ERR_STEP && g[0] == 0);
    CHECK(oracle_model_gradient(o, w, v, 1, g, &sd) == BASE_ERR_STEP && fixture_all_zero(DIM, g));
    CHECK(oracle_newton_direction(o, w, v, &newton, 1, g, &sd) == BASE_ERR_STEP && fixture_all_zero(DIM, g));
    CHECK(oracle_minimiser(o, ones, 1, g, &sd) == BASE_ERR_STEP && fixture_all_zero(DIM, g));
    CHECK(oracle_decreases(o, w, v, 1, &step, 1, g, &sd) == BASE_ERR_STEP && g[0] == 0);
    CHECK(oracle_first_step(o, w, v, 1, &step, none, 1, 1, &index) == BASE_ERR_STEP && index == 1);
    CHECK(oracle_best_step(o, w, v, 1, &step, none, 1, &index) == BASE_ERR_STEP && index == 1);
    CHECK(ranges_release(f.ledger, &ctest_entropy, ORACLE_REPLACE_ONE, N, 1, &column, 1, g, &sd) == BASE_ERR_STEP);
    CHECK(oracle_step_open(other, &how, w, 1e-4, 0) == BASE_ERR_STEP);
    CHECK(ledger_length(f.ledger) == length);
    CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_OK);
    CHECK(oracle_step_hessian(f.oracle, w, h, &sd) == BASE_OK);
    CHECK(oracle_gradient(o, w, 1, g, &sd) == BASE_ERR_STEP); /* until it is closed, whatever was asked */
    oracle_step_close(f.oracle);
    CHECK(oracle_gradient(o, w, 1, g, &sd) == BASE_OK && ledger_length(f.ledger) == length + 1);
  }
  f.oracle->entropy = &ctest_entropy_broken;
  CHECK(oracle_step_open(f.oracle, &how, w, 1e-4, 0) == BASE_ERR_ENTROPY);
  CHECK(oracle_gradient(other, w, 1, g, &sd) == BASE_OK);
  oracle_free(other);
  fixture_close(&f);
}

/* A quarter of the rows are gathered from their columns, later ones from a copy, which is wiped. */
static void records(void) {
  const struct sampling how = {SCHEME_FIXED, 100};
  double w[DIM] = {0, 0, 0}, g[DIM], sd;
  struct fixture f;
  open_renyi(&f, ORACLE_REPLACE_ONE, 1);
  for (int drawn = 100; drawn <= N; drawn += 100) {
    CHECK(oracle_step_open(f.oracle, &how, w, 1e-4, 0) == BASE_OK);
    CHECK((f.oracle->records != NULL) == (drawn > N / 4) && f.oracle->batch.records == f.oracle->records);
    CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_OK);
  }
  ctest_unwiped();
  oracle_batches_end(f.oracle);
  CHECK(ctest_unwiped() == 0 && !f.oracle->records);
  fixture_close(&f);
}

static void refused(void) {
  double w[DIM] = {0, 0, 0}, far[DIM] = {1e101, 0, 0}, g[DIM], h[DIM * DIM], sd;
  const struct sampling good = {SCHEME_FIXED, 50}, poisson = {SCHEME_POISSON, 50};
  const struct sampling bad[] = {{SCHEME_FIXED, 0},   {SCHEME_FIXED, -1},  {SCHEME_FIXED, 2.5}, {SCHEME_FIXED, N},
                                 {SCHEME_FIXED, NAN}, {SCHEME_POISSON, 0}, {SCHEME_POISSON, N}, {SCHEME_POISSON, NAN}};
  static const double shares[] = {-0.1, 1.1, NAN}, costs[] = {0, -1, NAN, INFINITY};
  struct fixture f;
  open_renyi(&f, ORACLE_REPLACE_ONE, 1e-3);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK(oracle_step_open(f.oracle, &bad[i], w, 1e-4, 0) == BASE_ERR_ARGUMENT);
    CHECK(oracle_sd_step_gradient(f.oracle, &bad[i], w, 1e-4) == INFINITY);
  }
  for (int i = 0; i < 3; i++) CHECK(oracle_step_open(f.oracle, &good, w, 1e-4, shares[i]) == BASE_ERR_ARGUMENT);
  for (int i = 0; i < 4; i++) CHECK(oracle_step_open(f.oracle, &good, w, costs[i], 0) == BASE_ERR_ARGUMENT);
  CHECK(oracle_step_open(f.oracle, &good, far, 1e-4, 0) == BASE_ERR_ARGUMENT);
  CHECK(oracle_step_open(f.oracle, &good, w, 2e-3, 0) == BASE_ERR_BUDGET);
  CHECK(ledger_length(f.ledger) == 0);
  /* Nothing is open; then a gradient only, and once. */
  CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_step_open(f.oracle, &good, w, 1e-4, 0) == BASE_OK);
  CHECK(oracle_step_hessian(f.oracle, w, h, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(DIM * DIM, h));
  CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_OK);
  CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(DIM, g));
  CHECK(ledger_length(f.ledger) == 1);
  fixture_close(&f);
  /* Batches of fixed size are not accounted for under zero-out, and no batch by a sum of rho. */
  open_renyi(&f, ORACLE_ZERO_OUT, 1e-3);
  CHECK(oracle_step_open(f.oracle, &good, w, 1e-4, 0) == BASE_ERR_ARGUMENT);
  CHECK(oracle_step_open(f.oracle, &poisson, w, 1e-4, 0) == BASE_OK);
  fixture_close(&f);
  fixture_open(&f, "logistic", N, P, 1, ORACLE_REPLACE_ONE, 1);
  CHECK(oracle_step_open(f.oracle, &good, w, 1e-4, 0) == BASE_ERR_ACCOUNTANT);
  CHECK(ledger_length(f.ledger) == 0);
  fixture_close(&f);
}

/* More than the step has left, and what it was not opened for. */
static void newton_refused(void) {
  static const double no_penalty[DIM] = {0};
  const struct sampling how = {SCHEME_FIXED, 50};
  const struct oracle_newton newton = {CURVATURE_HESSIAN, MODIFY_ADD, 0.1, no_penalty}, tiny = {.penalty = no_penalty};
  double w[DIM] = {0}, g[DIM] = {1, 0, 0}, direction[DIM], h[DIM * DIM], trace, sd;
  struct fixture f;
  open_renyi(&f, ORACLE_REPLACE_ONE, 1);
  CHECK(oracle_step_left(f.oracle) == 0);
  for (int k = 0; k < 3; k++) {
    /* Nothing is open; a gradient only; all was taken by a Hessian. */
    if (k > 0) CHECK(oracle_step_open(f.oracle, &how, w, 1e-4, k - 1) == BASE_OK);
    if (k == 2) CHECK(oracle_step_hessian(f.oracle, w, h, &sd) == BASE_OK);
    CHECK(oracle_step_trace(f.oracle, w, CURVATURE_HESSIAN, 1e-9, &trace, &sd) == BASE_ERR_ARGUMENT && trace == 0);
    CHECK(oracle_step_direction(f.oracle, w, g, &newton, 1e-9, direction, &sd) == BASE_ERR_ARGUMENT);
    CHECK(fixture_all_zero(DIM, direction));
  }
  CHECK(oracle_step_open(f.oracle, &how, w, 1e-4, 0.5) == BASE_OK);
  double left = oracle_step_left(f.oracle);
  static const double parts[] = {1.0000001, 0, -1, NAN, INFINITY};
  for (int k = 0; k < 5; k++) {
    CHECK(oracle_step_trace(f.oracle, w, CURVATURE_HESSIAN, parts[k] * left, &trace, &sd) == BASE_ERR_ARGUMENT);
    CHECK(oracle_step_direction(f.oracle, w, g, &newton, parts[k] * left, direction, &sd) == BASE_ERR_ARGUMENT);
  }
  CHECK(oracle_step_direction(f.oracle, w, g, &tiny, left, direction, &sd) == BASE_ERR_ARGUMENT);
  CHECK(oracle_step_left(f.oracle) == left);
  f.oracle->entropy = &ctest_entropy_broken;
  CHECK(oracle_step_direction(f.oracle, w, g, &newton, left, direction, &sd) == BASE_ERR_ENTROPY);
  CHECK(fixture_all_zero(DIM, direction) && oracle_step_left(f.oracle) == 0 && ledger_length(f.ledger) == 3);
  fixture_close(&f);
}

/* What fails after the charge is not given back, and releases nothing. */
static void failures(void) {
  static const enum scheme schemes[] = {SCHEME_FIXED, SCHEME_POISSON};
  double w[DIM] = {0, 0, 0}, g[DIM], sd;
  for (int k = 0; k < 2; k++) {
    const struct sampling how = {schemes[k], 50};
    struct fixture f;
    open_renyi(&f, ORACLE_REPLACE_ONE, 1);
    f.oracle->entropy = &ctest_entropy_broken;
    CHECK(oracle_step_open(f.oracle, &how, w, 1e-4, 0) == BASE_ERR_ENTROPY);
    CHECK(ledger_length(f.ledger) == 1);
    CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_ERR_ARGUMENT && fixture_all_zero(DIM, g));
    f.oracle->entropy = &ctest_entropy;
    CHECK(oracle_step_open(f.oracle, &how, w, 1e-4, 0) == BASE_OK);
    f.oracle->entropy = &ctest_entropy_broken;
    CHECK(oracle_step_gradient(f.oracle, w, g, &sd) == BASE_ERR_ENTROPY && fixture_all_zero(DIM, g));
    fixture_close(&f);
  }
}
